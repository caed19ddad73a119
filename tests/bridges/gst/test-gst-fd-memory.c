/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory with a descriptor, for other processes. Each test maps the descriptor itself, as they do. */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gst/allocators/allocators.h>
#include <gst/video/video.h>

#include "test-device.h"
#include "test-gst-buffer-utils.h"

/* Not in the headers of all systems that have it. */
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

static GstAllocator *
allocator_new (void)
{
  g_autoptr (GError) error = NULL;
  MtlGstAllocator *allocator =
    mtl_gst_allocator_new (NULL, MTL_STORAGE_MODE_INTERPROCESS, &error);

  g_assert_no_error (error);
  return GST_ALLOCATOR (allocator);
}

static guint64
get_inode (int fd)
{
  struct stat info;

  g_assert_cmpint (fstat (fd, &info), ==, 0);
  return info.st_ino;
}

static guint64
get_memory_inode (GstMemory *memory)
{
  g_assert_true (gst_is_fd_memory (memory));
  return get_inode (gst_fd_memory_get_fd (memory));
}

typedef struct
{
  guint8 *file;
  gsize size;
  const guint8 *bytes; /* those of the memory */
} Peer;

/* Maps the memory as another process does. */
static Peer
peer_map (GstMemory *memory)
{
  Peer self;
  gsize offset;
  const gsize size = gst_memory_get_sizes (memory, &offset, NULL);

  g_assert_true (gst_is_fd_memory (memory));
  self.size = offset + size;
  self.file = mmap (NULL, MAX (self.size, 1), PROT_READ, MAP_SHARED, gst_fd_memory_get_fd (memory),
                    0);
  g_assert_true (self.file != MAP_FAILED);
  self.bytes = self.file + offset;
  return self;
}

static void
peer_clear (Peer *self)
{
  g_assert_cmpint (munmap (self->file, MAX (self->size, 1)), ==, 0);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Peer, peer_clear)

static void
fill_memory (GstMemory *memory,
             guint8     value)
{
  GstMapInfo map;

  g_assert_true (gst_memory_map (memory, &map, GST_MAP_WRITE));
  memset (map.data, value, map.size);
  gst_memory_unmap (memory, &map);
}

static void
assert_bytes (const guint8 *bytes,
              gsize         n,
              guint8        value)
{
  for (gsize i = 0; i < n; i++)
    g_assert_cmpint (bytes[i], ==, value);
}

/* Elements write where other processes read, and only here. */
static void
test_allocator (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstMemory *memory = gst_allocator_alloc (allocator, 10000, NULL);
  g_auto (Peer) peer = peer_map (memory);
  const int fd = gst_fd_memory_get_fd (memory);
  MtlBuffer *buffer = mtl_gst_memory_get_buffer (memory, NULL);
  GstMapInfo map;

  g_assert_true (gst_memory_is_type (memory, "MtlMemory"));
  g_assert_true (mtl_buffer_is_interprocess (buffer));
  g_assert_false (mtl_buffer_is_read_only (buffer));
  for (int i = 1; i < 4; i++)
    {
      g_assert_true (gst_memory_map (memory, &map, GST_MAP_READWRITE));
      g_assert_true (map.data == mtl_buffer_get_contents (buffer));
      memset (map.data, i, map.size);
      assert_bytes (peer.bytes, 10000, i);
      gst_memory_unmap (memory, &map);
    }

  g_assert_cmpint (fcntl (fd, F_GET_SEALS) & SEALS, ==, SEALS);
  g_assert_true (mmap (NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  g_assert_cmpint (errno, ==, EPERM);
  g_assert_cmpint (mprotect (peer.file, peer.size, PROT_READ | PROT_WRITE), ==, -1);
  g_assert_cmpint (ftruncate (fd, 0), ==, -1);
  g_assert_cmpint (pwrite (fd, "x", 1, 0), ==, -1);
  gst_memory_unref (memory);
  g_assert_cmpint (peer.bytes[9999], ==, 3);
}

static void
check_params (GstAllocator *allocator,
              gsize         size,
              gsize         align,
              gsize         prefix,
              gsize         padding)
{
  GstAllocationParams params = {
    .flags = GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED,
    .align = align, .prefix = prefix, .padding = padding,
  };
  GstMemory *memory = gst_allocator_alloc (allocator, size, &params);
  gsize offset, max_size, byte_offset;
  GstMapInfo map;

  g_assert_nonnull (memory);
  g_assert_true (GST_MEMORY_IS_ZERO_PREFIXED (memory) && GST_MEMORY_IS_ZERO_PADDED (memory));
  g_assert_cmpuint (gst_memory_get_sizes (memory, &offset, &max_size), ==, size);
  g_assert_cmpuint (offset, >=, prefix);
  g_assert_cmpuint (max_size, >=, offset + size + padding);

  fill_memory (memory, 7);
  mtl_gst_memory_get_buffer (memory, &byte_offset);
  g_assert_cmpuint (byte_offset, ==, offset);
  gst_memory_resize (memory, -(gssize) prefix, prefix + size + padding);
  g_assert_true (gst_memory_map (memory, &map, GST_MAP_READ));
  g_assert_cmpuint ((guintptr) map.data & align, ==, 0);
  assert_bytes (map.data, prefix, 0);
  assert_bytes (map.data + prefix, size, 7);
  assert_bytes (map.data + prefix + size, padding, 0);
  {
    g_auto (Peer) peer = peer_map (memory);

    g_assert_cmpmem (peer.bytes, map.size, map.data, map.size);
  }
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
}

static void
test_params (void)
{
  static const gsize aligns[] = { 0, 7, 63, 4095, 65535 };
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstAllocationParams params = { .prefix = 16, .padding = 16 };

  for (guint i = 0; i < G_N_ELEMENTS (aligns); i++)
    {
      check_params (allocator, 1000, aligns[i], 0, 0);
      check_params (allocator, 5000, aligns[i], 16, 0);
      check_params (allocator, 4096, aligns[i], 5, 100);
      check_params (allocator, 0, aligns[i], 0, 0);
    }

  g_assert_null (gst_allocator_alloc (allocator, G_MAXSIZE - 15, &params));
  g_assert_null (gst_allocator_alloc (allocator, G_MAXSIZE / 2, NULL));
}

/* A device without such memory refuses it, whichever way the allocator is made. */
static void
test_modes (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_SHARED);
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstAllocator *refusing =
    g_object_new (MTL_GST_TYPE_ALLOCATOR, "device", device, "storage-mode",
                  MTL_STORAGE_MODE_INTERPROCESS, NULL);
  MtlStorageMode mode;

  g_object_get (allocator, "storage-mode", &mode, NULL);
  g_assert_cmpint (mode, ==, MTL_STORAGE_MODE_INTERPROCESS);
  assert_fails (mtl_gst_allocator_new (MTL_DEVICE (device), MTL_STORAGE_MODE_INTERPROCESS, &error),
                MTL_ERROR_NOT_SUPPORTED, "interprocess");

  gst_object_ref_sink (refusing);
  g_assert_null (gst_allocator_alloc (refusing, 100, NULL));
  gst_object_unref (refusing);
}

/* Parts have the descriptor of the whole, and become one again without a copy. */
static void
test_parts (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstAllocationParams params = { .prefix = 50 };
  GstMemory *memory = gst_allocator_alloc (allocator, 1000, &params);
  GstMemory *part, *smaller;
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstMapInfo map;
  gsize byte_offset;

  fill_memory (memory, 5);
  part = gst_memory_share (memory, 100, 500);
  smaller = gst_memory_share (part, 40, -1);
  g_assert_cmpuint (smaller->size, ==, 460);
  g_assert_cmpuint (get_memory_inode (smaller), ==, get_memory_inode (memory));
  g_assert_true (mtl_gst_memory_get_buffer (smaller, &byte_offset)
                 == mtl_gst_memory_get_buffer (memory, NULL));
  g_assert_cmpuint (byte_offset, ==, 190);
  g_assert_false (gst_memory_map (smaller, &map, GST_MAP_WRITE));
  {
    g_auto (Peer) peer = peer_map (smaller);

    assert_bytes (peer.bytes, 460, 5);
  }

  gst_buffer_append_memory (buffer, part);
  gst_buffer_append_memory (buffer, gst_memory_share (memory, 600, 400));
  gst_memory_unref (memory);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, 900);
  g_assert_true (map.data == (guint8 *) mtl_buffer_get_contents (
                               mtl_gst_memory_get_buffer (smaller, NULL)) + 150);
  gst_buffer_unmap (buffer, &map);
  gst_memory_unref (smaller);
}

static MtlStridedView *
interprocess_view_new (MtlDType      dtype,
                       const gint64 *shape,
                       gsize         n_dims)
{
  g_autoptr (MtlStridedView) values = view_new (dtype, shape, n_dims);
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_uninitialized (NULL, dtype, shape, n_dims, MTL_STORAGE_MODE_INTERPROCESS,
                                        &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_copy_from (view, values, NULL, &error));
  return view;
}

/* Checks that the memory has bytes of a view's memory from an address on, for other processes, too,
 * and that elements reach no bytes before it. */
static void
check_memory (GstMemory      *memory,
              MtlStridedView *view,
              const guint8   *data)
{
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  g_auto (Peer) peer = peer_map (memory);
  gsize byte_offset, offset;
  GstMapInfo map;

  g_assert_true (gst_memory_map (memory, &map, GST_MAP_READ));
  g_assert_true (map.data == data);
  g_assert_cmpmem (peer.bytes, map.size, data, map.size);
  gst_memory_unmap (memory, &map);
  g_assert_true (mtl_buffer_equal (mtl_gst_memory_get_buffer (memory, &byte_offset), buffer));
  g_assert_true ((guint8 *) mtl_buffer_get_contents (buffer) + byte_offset == data);

  gst_memory_get_sizes (memory, &offset, NULL);
  if (offset == 0 || GST_MEMORY_IS_READONLY (memory))
    return;

  gst_memory_resize (memory, -1, 1);
  g_assert_false (gst_memory_map (memory, &map, GST_MAP_READ));
  gst_memory_resize (memory, 1, peer.size - offset);
}

static void
test_views (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGB, 30, 20);
  g_autoptr (MtlStridedView) view = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (50, 70, 3));
  g_autoptr (MtlStridedView) rows = slice (view, "5:");
  g_autoptr (MtlStridedView) crop = slice (view, "10:30, 20:50");
  MtlStridedView *views[] = { view, rows, crop };
  gint64 first[] = { 0, 0, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    {
      GstBuffer *buffer = get_buffer (views[i], views[i] == crop ? &info : NULL);
      guint8 *data = mtl_strided_view_get_data (views[i]);

      check_memory (gst_buffer_peek_memory (buffer, 0), view, data);
      gst_buffer_memset (buffer, 0, 10 + i, 1);
      g_assert_cmpint (data[0], ==, 10 + i);
      g_assert_cmpfloat (mtl_strided_view_get_double (views[i], first, 3, NULL), ==, 10 + i);
      assert_last_user (buffer);
    }
}

static void
test_planes (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_NV12, 20, 10);
  g_autoptr (MtlStridedView) luma = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (10, 20));
  g_autoptr (MtlStridedView) chroma = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (5, 10, 2));
  MtlStridedView *views[] = { luma, chroma };
  g_autoptr (GError) error = NULL;
  GstBuffer *buffer = mtl_gst_video_buffer_from_views (views, 2, &info, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 2);
  for (guint i = 0; i < 2; i++)
    check_memory (gst_buffer_peek_memory (buffer, i), views[i], mtl_strided_view_get_data (views[i]));
  assert_last_user (buffer);
}

/* An element that writes to bytes of others gets a copy, which has a descriptor as well. */
static void
test_copy_on_write (void)
{
  g_autoptr (MtlStridedView) view = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (5000));
  g_autoptr (MtlStridedView) constant = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) before = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL);
  GstBuffer *buffer = get_buffer (constant, NULL);
  const guint64 inode = get_memory_inode (gst_buffer_peek_memory (buffer, 0));
  GstMapInfo map;

  g_assert_true (GST_MEMORY_IS_READONLY (gst_buffer_peek_memory (buffer, 0)));
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  g_assert_cmpmem (map.data, map.size, mtl_strided_view_get_data (before), 5000);
  map.data[0] ^= 1;
  {
    g_auto (Peer) peer = peer_map (map.memory);

    g_assert_cmpmem (peer.bytes, 5000, map.data, 5000);
  }
  gst_buffer_unmap (buffer, &map);
  g_assert_cmpuint (get_memory_inode (gst_buffer_peek_memory (buffer, 0)), !=, inode);
  g_assert_cmpmem (mtl_strided_view_get_data (view), 5000, mtl_strided_view_get_data (before),
                   5000);
  assert_last_user (buffer);
}

/* Lets the process open no more files. */
static void
limit_descriptors (struct rlimit *old)
{
  struct rlimit limit;
  int next = dup (0);

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, old), ==, 0);
  limit = *old;
  limit.rlim_cur = next;
  close (next);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
}

static void
test_no_descriptors (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_NV12, 20, 10);
  g_autoptr (GstAllocator) allocator = allocator_new ();
  g_autoptr (MtlStridedView) luma = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (10, 20));
  g_autoptr (MtlStridedView) chroma = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (5, 10, 2));
  g_autoptr (GError) error = NULL;
  GstMemory *memory = gst_allocator_alloc (allocator, 100, NULL), *copy;
  MtlStridedView *views[] = { luma, chroma };
  struct rlimit old;
  GstMapInfo map;

  fill_memory (memory, 9);
  limit_descriptors (&old);
  g_assert_null (gst_allocator_alloc (allocator, 100, NULL));
  g_assert_null (mtl_gst_buffer_from_view (luma, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_OPEN_FILES);
  g_clear_error (&error);
  g_assert_null (mtl_gst_video_buffer_from_views (views, 2, &info, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_OPEN_FILES);
  copy = gst_memory_copy (memory, 10, 80);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &old), ==, 0);

  /* This one is in GStreamer's own memory. */
  g_assert_false (gst_is_fd_memory (copy));
  g_assert_true (gst_memory_map (copy, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, 80);
  assert_bytes (map.data, 80, 9);
  gst_memory_unmap (copy, &map);
  gst_memory_unref (copy);
  gst_memory_unref (memory);
}

/* Memory as unixfdsrc makes it of a descriptor. */
static GstMemory *
foreign_memory_new (int   fd,
                    gsize offset,
                    gsize size)
{
  g_autoptr (GstAllocator) allocator = gst_fd_allocator_new ();
  GstMemory *memory =
    gst_fd_allocator_alloc (allocator, fd, offset + size, GST_FD_MEMORY_FLAG_KEEP_MAPPED);

  gst_memory_resize (memory, offset, size);
  GST_MINI_OBJECT_FLAG_SET (memory, GST_MEMORY_FLAG_READONLY);
  return memory;
}

static void
assert_forwarded (GstMemory *memory,
                  gsize      offset,
                  guint64    inode)
{
  gsize own;

  g_assert_cmpuint (get_memory_inode (memory), ==, inode);
  gst_memory_get_sizes (memory, &own, NULL);
  g_assert_cmpuint (own, ==, offset);
  g_assert_true (GST_MEMORY_IS_READONLY (memory));
}

/* A frame in the middle of a file goes on to a third process, as a tensor and as a buffer again. */
static void
test_forward (void)
{
  g_autoptr (MtlStridedView) view = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (100, 100));
  const guint8 *expected = (guint8 *) mtl_strided_view_get_data (view) + 5100;
  g_autoptr (GError) error = NULL;
  GstBuffer *received = gst_buffer_new (), *again;
  GstMemory *memory, *part;
  MtlBuffer *shared;
  g_autoptr (MtlBuffer) held = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlStridedView) frame = NULL, rows = NULL;
  gsize byte_offset;
  guint64 offset, inode;
  int fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (view), &offset, &error);

  g_assert_no_error (error);
  inode = get_inode (fd);
  memory = foreign_memory_new (fd, offset + 5100, 1000);
  part = gst_memory_share (memory, 300, 100);
  gst_buffer_append_memory (received, memory);
  rows = mtl_gst_view_from_buffer (received, MTL_DTYPE_UINT8, DIMS (10, 100), GST_MAP_READ, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (mtl_strided_view_get_data (rows), 1000, expected, 1000);

  shared = mtl_gst_memory_get_buffer (part, &byte_offset);
  g_assert_nonnull (shared);
  g_assert_cmpuint (byte_offset, ==, 5400);
  g_assert_true (mtl_gst_memory_get_buffer (memory, &byte_offset) == shared);
  g_assert_cmpuint (byte_offset, ==, 5100);
  g_assert_true (mtl_buffer_is_interprocess (shared) && mtl_buffer_is_read_only (shared));
  layout = mtl_strided_layout_new_dense (DIMS (10, 100), MTL_ORDER_C, 8, &error);
  frame = mtl_strided_view_new (shared, layout, MTL_DTYPE_UINT8, byte_offset, &error);
  g_assert_no_error (error);
  again = get_buffer (frame, NULL);
  assert_forwarded (gst_buffer_peek_memory (again, 0), 5100, inode);

  /* The buffer lasts as long as its users. */
  held = g_object_ref (shared);
  g_clear_object (&rows);
  gst_memory_unref (part);
  assert_last_user (received);
  check_memory (gst_buffer_peek_memory (again, 0), frame, mtl_strided_view_get_data (frame));
  g_assert_cmpmem (mtl_strided_view_get_data (frame), 1000, expected, 1000);
  assert_last_user (again);
}

/* A peer's memory at an offset that is not that of a page. */
static void
test_view_of_descriptor (void)
{
  g_autoptr (MtlStridedView) view = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (10000));
  const guint8 *bytes = mtl_strided_view_get_data (view);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) peer = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (900), MTL_ORDER_C, 8, NULL);
  g_autoptr (MtlStridedView) part = NULL;
  GstBuffer *buffer;
  guint64 inode;
  int fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (view), NULL, &error);

  g_assert_no_error (error);
  inode = get_inode (fd);
  peer = mtl_buffer_new_for_fd (fd, 8765, 1000, MTL_BUFFER_FLAGS_READ_ONLY, &error);
  g_assert_no_error (error);
  close (fd);
  part = mtl_strided_view_new (peer, layout, MTL_DTYPE_UINT8, 35, &error);
  buffer = get_buffer (part, NULL);
  assert_forwarded (gst_buffer_peek_memory (buffer, 0), 8800, inode);
  check_memory (gst_buffer_peek_memory (buffer, 0), part, mtl_strided_view_get_data (part));
  g_assert_cmpmem (mtl_strided_view_get_data (part), 900, bytes + 8800, 900);
  assert_last_user (buffer);
}

static void
assert_no_buffer (int   fd,
                  gsize size)
{
  GstMemory *memory = foreign_memory_new (fd, 0, size);
  gsize byte_offset = 1;

  g_assert_null (mtl_gst_memory_get_buffer (memory, &byte_offset));
  g_assert_cmpuint (byte_offset, ==, 0);
  gst_memory_unref (memory);
}

/* Files that somebody could truncate, ranges that they do not have, and no files at all. */
static void
test_not_sealed (void)
{
  g_autofree char *path = NULL;
  int sealed = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  int open_file = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  int file = g_file_open_tmp (NULL, &path, NULL);
  int ends[2];

  g_assert_cmpint (ftruncate (open_file, 4096), ==, 0);
  g_assert_cmpint (ftruncate (sealed, 4096), ==, 0);
  g_assert_cmpint (fcntl (sealed, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
  g_assert_cmpint (ftruncate (file, 4096), ==, 0);
  g_assert_cmpint (unlink (path), ==, 0);
  g_assert_cmpint (pipe (ends), ==, 0);

  assert_no_buffer (open_file, 4096);
  assert_no_buffer (sealed, 4097);
  assert_no_buffer (file, 4096);
  assert_no_buffer (ends[0], 4096);
  assert_no_buffer (-1, 4096);
  close (ends[1]);
}

static gpointer
get_buffer_of_memory (gpointer memory)
{
  return mtl_gst_memory_get_buffer (memory, NULL);
}

/* The threads get the same buffer, whichever is the first. */
static void
test_threads (void)
{
  g_autoptr (MtlStridedView) view = interprocess_view_new (MTL_DTYPE_UINT8, DIMS (100));

  for (guint i = 0; i < 50; i++)
    {
      int fd = mtl_buffer_dup_fd (mtl_strided_view_get_buffer (view), NULL, NULL);
      GstMemory *memory = foreign_memory_new (fd, 0, 100);
      gpointer buffer = NULL;
      GThread *threads[4];

      for (guint k = 0; k < G_N_ELEMENTS (threads); k++)
        threads[k] = g_thread_new (NULL, get_buffer_of_memory, memory);
      for (guint k = 0; k < G_N_ELEMENTS (threads); k++)
        {
          gpointer found = g_thread_join (threads[k]);

          g_assert_nonnull (found);
          g_assert_true (buffer == NULL || found == buffer);
          buffer = found;
        }
      gst_memory_unref (memory);
    }
}

static guint
count_descriptors (void)
{
  g_autoptr (GDir) folder = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (folder) != NULL)
    n++;
  return n;
}

/* The element's pool uses a few descriptors over and over. */
static void
test_pool (void)
{
  const guint max_buffers = 8;
  g_autoptr (GstAllocator) allocator = allocator_new ();
  g_autoptr (GHashTable) inodes = g_hash_table_new (NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline =
    gst_parse_launch ("videotestsrc num-buffers=1000 pattern=white"
                      " ! video/x-raw,format=GRAY8,width=64,height=48"
                      " ! appsink name=sink sync=false enable-last-sample=false max-buffers=2",
                      &error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  guint first = 0;

  g_assert_no_error (error);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer_with_allocator, allocator,
                     NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (int i = 0; i < 1000; i++)
    {
      GstSample *sample = NULL;
      GstMemory *memory;

      g_signal_emit_by_name (sink, "pull-sample", &sample);
      g_assert_nonnull (sample);
      memory = gst_buffer_peek_memory (gst_sample_get_buffer (sample), 0);
      g_hash_table_add (inodes, GSIZE_TO_POINTER (get_memory_inode (memory)));
      {
        g_auto (Peer) peer = peer_map (memory);

        assert_bytes (peer.bytes, 64 * 48, 235);
      }
      gst_sample_unref (sample);

      if (i == 0)
        first = count_descriptors ();
      g_assert_cmpuint (count_descriptors (), <=, first + 2 * max_buffers);
    }

  g_assert_cmpuint (g_hash_table_size (inodes), <=, max_buffers);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static const struct
{
  const char *path;
  GTestFunc function;
} tests[] = {
  { "/gst-fd-memory/allocator", test_allocator },
  { "/gst-fd-memory/params", test_params },
  { "/gst-fd-memory/modes", test_modes },
  { "/gst-fd-memory/parts", test_parts },
  { "/gst-fd-memory/views", test_views },
  { "/gst-fd-memory/planes", test_planes },
  { "/gst-fd-memory/copy-on-write", test_copy_on_write },
  { "/gst-fd-memory/no-descriptors", test_no_descriptors },
  { "/gst-fd-memory/forward", test_forward },
  { "/gst-fd-memory/view-of-descriptor", test_view_of_descriptor },
  { "/gst-fd-memory/not-sealed", test_not_sealed },
  { "/gst-fd-memory/threads", test_threads },
};

static void
run_without_leak (gconstpointer index)
{
  const guint n = count_descriptors ();

  tests[GPOINTER_TO_UINT (index)].function ();
  g_assert_cmpuint (count_descriptors (), ==, n);
}

int
main (int   argc,
      char *argv[])
{
  gsize before;
  int status;

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_data_func (tests[i].path, GUINT_TO_POINTER (i), run_without_leak);
  g_test_add_func ("/gst-fd-memory/pool", test_pool);

  before = mtl_get_allocated_size ();
  status = g_test_run ();
  /* The thread in which a pipeline changes its state may hold the last reference to it. */
  for (int i = 0; i < 10000 && mtl_get_allocated_size () != before; i++)
    g_usleep (1000);
  g_assert_cmpuint (mtl_get_allocated_size (), ==, before);
  return status;
}
