/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames and samples that travel to another process, by unixfdsink and unixfdsrc of GStreamer. The
 * program is its own receiver: it writes the elements of what arrives to its output. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gio/gio.h>

#include "test-gst-buffer-utils.h"

#define N_FRAMES 3
#define N_POOLED_FRAMES 1000

static const char *program;

static void
append_elements (GByteArray     *bytes,
                 MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);

  g_assert_no_error (error);
  g_byte_array_append (bytes, mtl_strided_view_get_data (copy),
                       mtl_strided_layout_get_required_size (mtl_strided_view_get_layout (copy),
                                                             NULL));
}

/* Appends all planes; audio has one. */
static void
append_buffer (GByteArray *bytes,
               GstBuffer  *buffer,
               GstCaps    *caps)
{
  GstVideoInfo info;
  guint n_planes = 1;

  if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    {
      g_assert_true (gst_video_info_from_caps (&info, caps));
      n_planes = GST_VIDEO_INFO_N_PLANES (&info);
    }

  for (guint plane = 0; plane < n_planes; plane++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_gst_view_from_buffer_with_caps (buffer, caps, plane, GST_MAP_READ, &error);

      g_assert_no_error (error);
      append_elements (bytes, view);
    }
}

/* The file that the memory is in, and where. */
typedef struct
{
  guint64 inode;
  guint64 offset;
} Place;

/* Gets the place of memory that a further process could map, but not write to. */
static Place
find_place (GstMemory *memory,
            gboolean   read_only)
{
  g_autoptr (GError) error = NULL;
  gsize byte_offset;
  MtlBuffer *buffer = mtl_gst_memory_get_buffer (memory, &byte_offset);
  struct stat info;
  guint64 offset;
  int fd;

  g_assert_nonnull (buffer);
  g_assert_true (mtl_buffer_is_interprocess (buffer));
  g_assert_cmpint (mtl_buffer_is_read_only (buffer), ==, read_only);
  fd = mtl_buffer_dup_fd (buffer, &offset, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fstat (fd, &info), ==, 0);
  close (fd);
  return (Place) { info.st_ino, offset + byte_offset };
}

static void
append_places (GByteArray *bytes,
               GstBuffer  *buffer,
               gboolean    read_only)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    {
      const Place place = find_place (gst_buffer_peek_memory (buffer, i), read_only);

      g_byte_array_append (bytes, (const guint8 *) &place, sizeof place);
    }
}

static guint
count_descriptors (void)
{
  g_autoptr (GDir) folder = g_dir_open ("/dev/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (folder) != NULL)
    n++;
  return n;
}

/* More than those that a few frames need would be a leak. */
#define MAX_DESCRIPTORS 40

static int
receive (const char *path,
         guint       n_frames,
         gboolean    with_places)
{
  g_autofree char *text =
    g_strdup_printf ("unixfdsrc socket-path=%s ! appsink name=sink sync=false"
                     " enable-last-sample=false", path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint n_descriptors = 0;

  g_assert_no_error (error);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < n_frames; i++)
    {
      GstSample *sample = NULL;

      g_signal_emit_by_name (sink, "pull-sample", &sample);
      g_assert_nonnull (sample);
      append_buffer (bytes, gst_sample_get_buffer (sample), gst_sample_get_caps (sample));
      if (with_places)
        append_places (bytes, gst_sample_get_buffer (sample), TRUE);
      gst_sample_unref (sample);

      if (i == 0)
        n_descriptors = count_descriptors ();
      g_assert_cmpuint (count_descriptors (), <=, n_descriptors + MAX_DESCRIPTORS);
    }

  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpuint (fwrite (bytes->data, 1, bytes->len, stdout), ==, bytes->len);
  return fflush (stdout);
}

typedef struct
{
  GstElement *pipeline;
  GstElement *sink;
  GstPad *pad;
  char *folder;
  char *path;
} Sender;

/* Skips the test without the elements. */
static gboolean
has_elements (void)
{
  g_autoptr (GstElement) sink = gst_element_factory_make ("unixfdsink", NULL);

  if (sink != NULL
      && g_object_class_find_property (G_OBJECT_GET_CLASS (sink), "wait-for-connection") != NULL)
    return TRUE;

  g_test_skip ("needs unixfdsink and unixfdsrc of gst-plugins-bad 1.26 or later");
  return FALSE;
}

/* Begins to listen, with the caps that the receiver gets first. */
static void
sender_init (Sender  *self,
             GstCaps *caps)
{
  g_autoptr (GstPad) sink_pad = NULL;
  GstSegment segment;

  self->sink = gst_element_factory_make ("unixfdsink", NULL);
  self->folder = g_dir_make_tmp ("mtl-XXXXXX", NULL);
  self->path = g_build_filename (self->folder, "socket", NULL);
  g_object_set (self->sink, "socket-path", self->path, "wait-for-connection", TRUE,
                "sync", FALSE, "async", FALSE, NULL);
  self->pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (self->pipeline), self->sink);
  g_assert_cmpint (gst_element_set_state (self->pipeline, GST_STATE_PLAYING), !=,
                   GST_STATE_CHANGE_FAILURE);

  self->pad = gst_pad_new ("source", GST_PAD_SRC);
  sink_pad = gst_element_get_static_pad (self->sink, "sink");
  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_cmpint (gst_pad_link (self->pad, sink_pad), ==, GST_PAD_LINK_OK);
  g_assert_true (gst_pad_set_active (self->pad, TRUE));
  g_assert_true (gst_pad_push_event (self->pad, gst_event_new_stream_start ("test")));
  g_assert_true (gst_pad_push_event (self->pad, gst_event_new_caps (caps)));
  g_assert_true (gst_pad_push_event (self->pad, gst_event_new_segment (&segment)));
}

/* Connects, and gets the caps. The thread of an element that ends before that may never end. */
static void
wait_until_connected (Sender *self)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const int socket_fd = socket (AF_UNIX, SOCK_STREAM, 0);
  char byte;

  g_assert_cmpint (socket_fd, >=, 0);
  g_assert_cmpuint (g_strlcpy (address.sun_path, self->path, sizeof address.sun_path), <,
                    sizeof address.sun_path);
  g_assert_cmpint (connect (socket_fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (read (socket_fd, &byte, 1), ==, 1);
  close (socket_fd);
}

static void
sender_clear (Sender *self)
{
  wait_until_connected (self);
  gst_pad_set_active (self->pad, FALSE);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->pad);
  gst_object_unref (self->pipeline);
  g_assert_cmpint (rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->path);
}

static GSubprocess *
start_receiver (Sender   *self,
                guint     n_frames,
                gboolean  with_places)
{
  g_autofree char *n = g_strdup_printf ("%u", n_frames);
  g_autoptr (GError) error = NULL;
  GSubprocess *receiver =
    g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, "--receive", self->path, n,
                      with_places ? "places" : NULL, NULL);

  g_assert_no_error (error);
  return receiver;
}

/* Takes the receiver. Returns its output. */
static GBytes *
finish_receiver (GSubprocess *receiver)
{
  g_autoptr (GSubprocess) own = receiver;
  g_autoptr (GError) error = NULL;
  GBytes *received = NULL;

  g_subprocess_communicate (own, NULL, NULL, &received, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_status (own), ==, 0);
  return received;
}

static void
push (Sender    *self,
      GstBuffer *buffer)
{
  g_assert_cmpint (gst_pad_push (self->pad, buffer), ==, GST_FLOW_OK);
}

/* Takes the buffers. Returns what the other process has of them. */
static GBytes *
send_buffers (Sender     *self,
              GstBuffer **buffers,
              gboolean    with_places)
{
  GSubprocess *receiver = start_receiver (self, N_FRAMES, with_places);

  for (guint i = 0; i < N_FRAMES; i++)
    push (self, buffers[i]);
  return finish_receiver (receiver);
}

/* Since GStreamer 1.28 the element copies memory without a file descriptor, such as that of a view.
 * Before, it refuses it. */
static gboolean
can_copy (Sender *self)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (self->sink), "min-memory-size") != NULL;
}

static void
sender_init_without_copies (Sender  *self,
                            GstCaps *caps)
{
  sender_init (self, caps);
  if (can_copy (self))
    g_object_set (self->sink, "min-memory-size", (gint64) -1, NULL); /* never */
}

/* Takes the buffer. */
static void
assert_refused (Sender    *self,
                GstBuffer *buffer)
{
  g_assert_cmpint (gst_pad_push (self->pad, buffer), ==, GST_FLOW_ERROR);
}

static void
assert_received (GBytes     *received,
                 GByteArray *expected)
{
  g_assert_cmpmem (g_bytes_get_data (received, NULL), g_bytes_get_size (received), expected->data,
                   expected->len);
}

/* Takes the buffers and checks them. */
static void
check_sent (GstCaps    *caps,
            GstBuffer **buffers,
            GByteArray *elements)
{
  g_autoptr (GBytes) expected = g_byte_array_free_to_bytes (elements);
  g_autoptr (GBytes) received = NULL;
  Sender sender;

  sender_init (&sender, caps);
  if (can_copy (&sender))
    {
      received = send_buffers (&sender, buffers, FALSE);
      g_assert_cmpmem (g_bytes_get_data (received, NULL), g_bytes_get_size (received),
                       g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
    }
  else
    {
      for (guint i = 0; i < N_FRAMES; i++)
        assert_refused (&sender, buffers[i]);
    }

  sender_clear (&sender);
}

/* A frame of GStreamer's own, with rows twice as far apart as they would be without the meta. */
static GstBuffer *
foreign_frame_new (const GstVideoInfo *info,
                   GByteArray         *elements)
{
  g_autoptr (GstAllocator) allocator = gst_allocator_find ("shm");
  const int stride = 2 * info->stride[0];
  GstBuffer *buffer = gst_buffer_new_allocate (allocator, 2 * info->size, NULL);
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = g_test_rand_int_range (0, 256);
  for (int row = 0; row < info->height; row++)
    g_byte_array_append (elements, map.data + row * stride, info->width);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  info->width, info->height, 1, (gsize[4]) { 0 },
                                  (int[4]) { stride });
  return buffer;
}

/* The unixfdsrc of 1.28.8 loses them: it adds each to a buffer that has no memory yet, and they are
 * refused there. */
static gboolean
video_metas_arrive (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_GRAY8, 16, 8);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (GByteArray) elements = g_byte_array_new ();
  g_autoptr (GBytes) received = NULL;
  GstBuffer *buffers[N_FRAMES];
  Sender sender;

  for (guint i = 0; i < N_FRAMES; i++)
    buffers[i] = foreign_frame_new (&info, elements);
  sender_init (&sender, caps);
  received = send_buffers (&sender, buffers, FALSE);
  sender_clear (&sender);

  g_assert_cmpuint (g_bytes_get_size (received), ==, elements->len);
  if (memcmp (g_bytes_get_data (received, NULL), elements->data, elements->len) == 0)
    return TRUE;

  g_test_skip ("this GStreamer loses the GstVideoMeta of any frame");
  return FALSE;
}

static void
fill (MtlStridedView *view)
{
  guint8 *bytes = mtl_strided_view_get_data (view);

  for (gint64 i = 0;
       i < mtl_strided_layout_get_required_size (mtl_strided_view_get_layout (view), NULL); i++)
    bytes[i] = g_test_rand_int_range (0, 256);
}

/* A part of a larger picture, with rows that are further apart than GStreamer's. */
static MtlStridedView *
draw_picture (MtlDType dtype,
              gint64   height,
              gint64   width,
              gint64   n_channels)
{
  const gint64 shape[] = { height + 3, width + 4, n_channels };
  g_autoptr (MtlStridedView) whole = view_new (dtype, shape, n_channels > 1 ? 3 : 2);
  g_autofree char *range =
    g_strdup_printf ("2:%" G_GINT64_FORMAT ", 1:%" G_GINT64_FORMAT, height + 2, width + 1);

  fill (whole);
  return slice (whole, range);
}

typedef struct
{
  GstVideoFormat format;
  MtlDType dtype;
  gint64 n_channels;
} Picture;

static const Picture pictures[] = {
  { GST_VIDEO_FORMAT_GRAY8, MTL_DTYPE_UINT8, 1 },
  { GST_VIDEO_FORMAT_RGB, MTL_DTYPE_UINT8, 3 },
  { GST_VIDEO_FORMAT_BGRA, MTL_DTYPE_UINT8, 4 },
  { GST_VIDEO_FORMAT_ARGB64, MTL_DTYPE_UINT16, 4 },
};

static void
check_pictures (const Picture *picture,
                gint64         height,
                gint64         width,
                gboolean       has_meta)
{
  const GstVideoInfo info = video_info (picture->format, width, height);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  GByteArray *elements = g_byte_array_new ();
  GstBuffer *buffers[N_FRAMES];

  for (guint i = 0; i < N_FRAMES; i++)
    {
      g_autoptr (MtlStridedView) part =
        draw_picture (picture->dtype, height, width, picture->n_channels);
      g_autoptr (MtlStridedView) view =
        has_meta ? g_object_ref (part) : mtl_strided_view_copy (part, MTL_ORDER_C, NULL, NULL);

      append_elements (elements, view);
      buffers[i] = get_buffer (view, &info);
      g_assert_true ((gst_buffer_get_video_meta (buffers[i]) != NULL) == has_meta);
    }

  check_sent (caps, buffers, elements);
}

/* Pictures of the layout that GStreamer expects, with rows of a multiple of 4 bytes. */
static void
test_frames (void)
{
  if (!has_elements ())
    return;

  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++)
    check_pictures (&pictures[i], g_test_rand_int_range (1, 60),
                    4 * g_test_rand_int_range (1, 20), FALSE);
}

/* Pictures of any other layout. */
static void
test_parts_of_frames (void)
{
  if (!has_elements () || !video_metas_arrive ())
    return;

  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++)
    check_pictures (&pictures[i], g_test_rand_int_range (2, 60) /* one row needs no meta */,
                    g_test_rand_int_range (1, 60), TRUE);
}

/* Each plane is in a memory of its own, and arrives with a meta that says where it is. */
static void
test_planes (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_NV12, 18, 12);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  GByteArray *elements;
  GstBuffer *buffers[N_FRAMES];

  if (!has_elements () || !video_metas_arrive ())
    return;

  elements = g_byte_array_new ();
  for (guint i = 0; i < N_FRAMES; i++)
    {
      g_autoptr (MtlStridedView) luma = draw_picture (MTL_DTYPE_UINT8, 12, 18, 1);
      g_autoptr (MtlStridedView) chroma = draw_picture (MTL_DTYPE_UINT8, 6, 9, 2);
      MtlStridedView *views[] = { luma, chroma };

      append_elements (elements, luma);
      append_elements (elements, chroma);
      buffers[i] = mtl_gst_video_buffer_from_views (views, 2, &info, NULL);
      g_assert_cmpuint (gst_buffer_n_memory (buffers[i]), ==, 2);
    }

  check_sent (caps, buffers, elements);
}

static void
test_audio (void)
{
  if (!has_elements ())
    return;

  for (guint planar = 0; planar < 2; planar++)
    {
      g_autoptr (GstCaps) caps = NULL;
      GByteArray *elements = g_byte_array_new ();
      GstBuffer *buffers[N_FRAMES];

      for (guint i = 0; i < N_FRAMES; i++)
        {
          const gint64 shape[] = { planar ? 3 : 50, planar ? 50 : 3 };
          g_autoptr (MtlStridedView) view = view_new (MTL_DTYPE_INT16, shape, 2);
          g_autoptr (MtlStridedView) samples =
            planar ? mtl_strided_view_transpose (view) : g_object_ref (view);
          GstAudioInfo info;

          fill (view);
          gst_clear_caps (&caps);
          caps = mtl_gst_audio_caps_from_view (samples, 48000, NULL);
          g_assert_true (gst_audio_info_from_caps (&info, caps));
          append_elements (elements, samples);
          buffers[i] = mtl_gst_audio_buffer_from_view (samples, &info, NULL);
          g_assert_nonnull (buffers[i]);
        }

      check_sent (caps, buffers, elements);
    }
}

/* Memory with a file descriptor, as the element offers it, into which a view copies a part of a
 * picture. */
static void
test_without_copy (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGB, 21, 10);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (GByteArray) elements = g_byte_array_new ();
  g_autoptr (GstAllocator) allocator = NULL;
  g_autoptr (GBytes) received = NULL;
  GstBuffer *buffers[N_FRAMES];
  Sender sender;

  if (!has_elements ())
    return;

  sender_init_without_copies (&sender, caps);
  allocator = gst_allocator_find ("shm");
  g_assert_nonnull (allocator);
  for (guint i = 0; i < N_FRAMES; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) part = draw_picture (MTL_DTYPE_UINT8, 10, 21, 3);
      g_autoptr (MtlStridedView) frame = NULL;

      buffers[i] = gst_buffer_new_allocate (allocator, info.size, NULL);
      frame = mtl_gst_view_from_video_buffer (buffers[i], &info, 0, GST_MAP_READWRITE, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_strided_view_copy_from (frame, part, NULL, &error));
      append_elements (elements, part);
      append_places (elements, buffers[i], TRUE);
    }

  received = send_buffers (&sender, buffers, TRUE);
  assert_received (received, elements);
  sender_clear (&sender);
}

static MtlStridedView *
interprocess_view_new (MtlDType      dtype,
                       const gint64 *shape,
                       gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_uninitialized (NULL, dtype, shape, n_dims, MTL_STORAGE_MODE_INTERPROCESS,
                                        &error);

  g_assert_no_error (error);
  fill (view);
  return view;
}

static gboolean
has_interprocess_memory (void)
{
  if (mtl_device_supports_storage_mode (mtl_device_get_host (), MTL_STORAGE_MODE_INTERPROCESS))
    return TRUE;

  g_test_skip ("needs Linux");
  return FALSE;
}

/* Memory that other processes can map arrives as the same file. The frames are some rows each of a
 * picture. */
static void
test_interprocess_views (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGBA, 20, 10);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (GByteArray) expected = g_byte_array_new ();
  g_autoptr (MtlStridedView) picture = NULL;
  g_autoptr (GBytes) received = NULL;
  GstBuffer *buffers[N_FRAMES];
  Sender sender;

  if (!has_elements () || !has_interprocess_memory ())
    return;

  picture = interprocess_view_new (MTL_DTYPE_UINT8, (gint64[]) { 10 * N_FRAMES, 20, 4 }, 3);
  for (guint i = 0; i < N_FRAMES; i++)
    {
      g_autofree char *rows = g_strdup_printf ("%u:%u", 10 * i, 10 * i + 10);
      g_autoptr (MtlStridedView) frame = slice (picture, rows);

      buffers[i] = get_buffer (frame, &info);
      append_elements (expected, frame);
      append_places (expected, buffers[i], FALSE);
    }

  sender_init_without_copies (&sender, caps);
  received = send_buffers (&sender, buffers, TRUE);
  assert_received (received, expected);
  sender_clear (&sender);
}

static GstBufferPool *
pool_new (GstCaps *caps,
          guint    size,
          guint    n_buffers)
{
  g_autoptr (GError) error = NULL;
  MtlGstAllocator *allocator =
    mtl_gst_allocator_new (NULL, MTL_STORAGE_MODE_INTERPROCESS, &error);
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  g_assert_no_error (error);
  gst_buffer_pool_config_set_params (config, caps, size, 0, n_buffers);
  gst_buffer_pool_config_set_allocator (config, GST_ALLOCATOR (allocator), NULL);
  gst_object_unref (allocator);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  g_assert_true (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

/* A few frames are written, sent, read in the other process and used again. */
static void
test_interprocess_pool (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_GRAY8, 64, 64);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (GByteArray) expected = g_byte_array_new ();
  g_autoptr (GHashTable) inodes = g_hash_table_new (NULL, NULL);
  g_autoptr (GBytes) received = NULL;
  g_autoptr (GstBufferPool) pool = NULL;
  guint n_descriptors = 0;
  GSubprocess *receiver;
  Sender sender;

  if (!has_elements () || !has_interprocess_memory ())
    return;

  pool = pool_new (caps, info.size, 4);
  sender_init_without_copies (&sender, caps);
  receiver = start_receiver (&sender, N_POOLED_FRAMES, TRUE);
  for (guint i = 0; i < N_POOLED_FRAMES; i++)
    {
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GError) error = NULL;
      GstBuffer *buffer = NULL;
      Place place;

      g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
      view = mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READWRITE, &error);
      g_assert_no_error (error);
      fill (view);
      append_elements (expected, view);
      append_places (expected, buffer, FALSE);
      place = find_place (gst_buffer_peek_memory (buffer, 0), FALSE);
      g_hash_table_add (inodes, GSIZE_TO_POINTER (place.inode));
      g_clear_object (&view);
      push (&sender, buffer);

      if (i == 0)
        n_descriptors = count_descriptors ();
      g_assert_cmpuint (count_descriptors (), <=, n_descriptors + MAX_DESCRIPTORS);
    }

  received = finish_receiver (receiver);
  assert_received (received, expected);
  g_assert_cmpuint (g_hash_table_size (inodes), <=, 4);
  sender_clear (&sender);
  g_assert_true (gst_buffer_pool_set_active (pool, FALSE));
}

/* Memory that other processes cannot map has no file descriptor. */
static void
test_forbidden_copy (void)
{
  const GstVideoInfo info = video_info (GST_VIDEO_FORMAT_RGBA, 20, 10);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (MtlStridedView) view = draw_picture (MTL_DTYPE_UINT8, 10, 20, 4);
  Sender sender;

  if (!has_elements ())
    return;

  sender_init_without_copies (&sender, caps);
  assert_refused (&sender, get_buffer (view, &info));
  sender_clear (&sender);
}

int
main (int   argc,
      char *argv[])
{
  gst_init (&argc, &argv);
  if (argc >= 4 && g_str_equal (argv[1], "--receive"))
    return receive (argv[2], atoi (argv[3]), argc > 4);

  program = argv[0];
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/unixfd/frames", test_frames);
  g_test_add_func ("/gst/unixfd/parts-of-frames", test_parts_of_frames);
  g_test_add_func ("/gst/unixfd/planes", test_planes);
  g_test_add_func ("/gst/unixfd/audio", test_audio);
  g_test_add_func ("/gst/unixfd/without-copy", test_without_copy);
  g_test_add_func ("/gst/unixfd/interprocess-views", test_interprocess_views);
  g_test_add_func ("/gst/unixfd/interprocess-pool", test_interprocess_pool);
  g_test_add_func ("/gst/unixfd/forbidden-copy", test_forbidden_copy);

  return g_test_run ();
}
