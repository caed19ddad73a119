/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The driver fails at each call at which it can, one after the other: each time there is an error
 * with the driver's name of it, or the result is right all the same, and all else is as before. */

#include "cuda-fixture.h"

#include "test-files.h"

#define SIZE 24
#define MIB ((gsize) 1 << 20)
#define LARGE (3 * MIB)
#define MOST_CALLS 100

typedef enum
{
  DEST,    /* private */
  PRIVATE, /* the others are only read, unless a scenario says so */
  SHARED,
  MANAGED,
  HOST,
  ELSEWHERE, /* private, of another device */
  N_BUFFERS,
} BufferName;

/* The objects of a scenario, made anew for each failure */
typedef struct
{
  MtlBuffer *buffers[N_BUFFERS];
  guint8 before[N_BUFFERS][SIZE];

  /* The bytes that the scenario writes, from begin to end of one of them */
  BufferName written;
  gsize begin;
  gsize end;
  guint8 after[SIZE];

  /* The objects that it makes, which end after the failure */
  GPtrArray *objects;
  DLManagedTensorVersioned *tensor;
  MtlStream *pushed;
  CuStream stream; /* the other library's */
  PeerTensor peer;
  int n_owners;
  int n_ended;
} Stage;

static void
stage_init (Stage *self)
{
  static const MtlStorageMode modes[N_BUFFERS] = {
    [DEST] = MTL_STORAGE_MODE_PRIVATE,   [PRIVATE] = MTL_STORAGE_MODE_PRIVATE,
    [SHARED] = MTL_STORAGE_MODE_SHARED,  [MANAGED] = MTL_STORAGE_MODE_MANAGED,
    [HOST] = MTL_STORAGE_MODE_HOST,      [ELSEWHERE] = MTL_STORAGE_MODE_PRIVATE,
  };

  *self = (Stage) { .objects = g_ptr_array_new_with_free_func (g_object_unref),
                    .stream = peer_stream (0) };
  for (int i = 0; i < N_BUFFERS; i++)
    {
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      for (int j = 0; j < SIZE; j++)
        self->before[i][j] = 40 * i + j;
      bytes = g_bytes_new_static (self->before[i], SIZE);
      self->buffers[i] = new_buffer (i == HOST        ? NULL
                                     : i == ELSEWHERE ? get_cuda (1)
                                                      : get_cuda (0),
                                     SIZE, modes[i]);
      g_assert_true (mtl_buffer_set_bytes (self->buffers[i], 0, bytes, NULL, &error));
      g_assert_no_error (error);
    }
}

/* Work of the other library, on the memory that it has been given, goes on. */
static void
stage_end (Stage *self)
{
  g_clear_pointer (&self->objects, g_ptr_array_unref);
  if (self->tensor != NULL)
    self->tensor->deleter (self->tensor);
  for (int i = 0; i < N_BUFFERS; i++)
    g_assert_finalize_object (self->buffers[i]);
}

static void
stage_pop (Stage *self)
{
  if (self->pushed != NULL)
    mtl_stream_pop_thread_default (self->pushed);
  g_clear_object (&self->pushed);
}

static void
stage_clear (Stage *self)
{
  await_count (&self->n_ended, self->n_owners);
  if (self->peer.managed.deleter != NULL)
    await_count (&self->peer.n_deleted, 1);
  MUST (cu.cuStreamSynchronize (self->stream));
  MUST (cu.cuStreamDestroy_v2 (self->stream));
}

/* Keeps an object until the end; NULL if there is none. */
static gpointer
stage_keep (Stage    *self,
            gpointer  object)
{
  if (object != NULL)
    g_ptr_array_add (self->objects, object);
  return object;
}

static void
stage_expect (Stage         *self,
              BufferName     written,
              gsize          offset,
              gconstpointer  bytes,
              gsize          size)
{
  self->written = written;
  self->begin = offset;
  self->end = offset + size;
  memcpy (self->after, self->before[written], SIZE);
  memmove (self->after + offset, bytes, size);
}

static void
stage_push (Stage *self)
{
  self->pushed = mtl_stream_new_for_handle ((guintptr) self->stream, get_cuda (0), NULL);
  if (self->pushed != NULL)
    mtl_stream_push_thread_default (self->pushed);
}

typedef struct
{
  const char *path;
  gboolean (* run) (Stage   *stage,
                    GError **error);
  gboolean frees; /* memory of its own */
} Scenario;

/* Memory */

static gboolean
allocate (Stage           *stage,
          gsize            size,
          MtlStorageMode   mode,
          GError         **error)
{
  return stage_keep (stage, mtl_buffer_new (get_cuda (0), size, mode, error)) != NULL;
}

static gboolean
allocate_private (Stage   *stage,
                  GError **error)
{
  return allocate (stage, 100, MTL_STORAGE_MODE_PRIVATE, error);
}

static gboolean
allocate_shared (Stage   *stage,
                 GError **error)
{
  return allocate (stage, 100, MTL_STORAGE_MODE_SHARED, error);
}

static gboolean
allocate_managed (Stage   *stage,
                  GError **error)
{
  return allocate (stage, 100, MTL_STORAGE_MODE_MANAGED, error);
}

static gboolean
wrap (Stage       *stage,
      BufferName   name,
      GError     **error)
{
  stage->n_owners = 1;
  return stage_keep (stage,
                     mtl_buffer_new_for_handle (mtl_buffer_get_handle (stage->buffers[name]), SIZE,
                                                get_cuda (0), count_call, &stage->n_ended, error))
         != NULL;
}

static gboolean
wrap_private (Stage   *stage,
              GError **error)
{
  return wrap (stage, PRIVATE, error);
}

static gboolean
wrap_shared (Stage   *stage,
             GError **error)
{
  return wrap (stage, SHARED, error);
}

static gboolean
map_file (Stage   *stage,
          GError **error)
{
  TestFolder folder;
  g_autoptr (GFile) file = NULL;
  gpointer buffer;

  set_up_folder (&folder, NULL);
  file = write_pattern (&folder, "data", 5000);
  buffer = stage_keep (stage, mtl_buffer_new_mapped (file, get_cuda (0), 100, 4000, NULL, error));
  tear_down_folder (&folder, NULL);
  return buffer != NULL;
}

/* Copies */

static gboolean
upload (Stage   *stage,
        GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdefghijkl", 12);

  stage_expect (stage, DEST, 3, "abcdefghijkl", 12);
  return mtl_buffer_set_bytes (stage->buffers[DEST], 3, bytes, NULL, error);
}

static gboolean
download (Stage   *stage,
          GError **error)
{
  g_autoptr (GBytes) bytes = mtl_buffer_dup_bytes (stage->buffers[PRIVATE], 5, 7, NULL, error);

  if (bytes == NULL)
    return FALSE;
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), 7, stage->before[PRIVATE] + 5, 7);
  return TRUE;
}

/* Through pinned memory */
static gboolean
copy_large (Stage   *stage,
            GError **error)
{
  MtlBuffer *private = stage_keep (stage,
                                   mtl_buffer_new_uninitialized (get_cuda (0), LARGE,
                                                                 MTL_STORAGE_MODE_PRIVATE, error));
  g_autofree guint8 *data = g_malloc (LARGE);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) read = NULL;

  for (gsize i = 0; i < LARGE; i++)
    data[i] = get_pattern_byte (i);
  bytes = g_bytes_new_static (data, LARGE);
  if (private == NULL || !mtl_buffer_set_bytes (private, 0, bytes, NULL, error))
    return FALSE;

  read = mtl_buffer_dup_bytes (private, 0, LARGE, NULL, error);
  if (read == NULL)
    return FALSE;

  g_assert_true (g_bytes_equal (read, bytes));
  return TRUE;
}

static gboolean
copy (Stage       *stage,
      BufferName   to,
      gsize        dest_offset,
      BufferName   from,
      gsize        source_offset,
      gsize        size,
      GError     **error)
{
  stage_expect (stage, to, dest_offset, stage->before[from] + source_offset, size);
  return mtl_buffer_copy_from (stage->buffers[to], dest_offset, stage->buffers[from], source_offset,
                               size, NULL, error);
}

#define DEFINE_COPY(name, ...) \
  static gboolean \
  copy_ ## name (Stage   *stage, \
                 GError **error) \
  { \
    return copy (stage, __VA_ARGS__, error); \
  }

DEFINE_COPY (private, DEST, 4, PRIVATE, 8, 12)
DEFINE_COPY (overlapping, DEST, 5, DEST, 2, 9)
DEFINE_COPY (from_host, DEST, 5, HOST, 2, 9)
DEFINE_COPY (to_host, HOST, 5, PRIVATE, 2, 9)
DEFINE_COPY (from_shared, DEST, 5, SHARED, 2, 9)
DEFINE_COPY (to_shared, SHARED, 5, PRIVATE, 2, 9)
DEFINE_COPY (from_managed, DEST, 5, MANAGED, 2, 9)
DEFINE_COPY (to_managed, MANAGED, 5, PRIVATE, 2, 9)
DEFINE_COPY (from_device, DEST, 5, ELSEWHERE, 2, 9)
DEFINE_COPY (to_device, ELSEWHERE, 5, PRIVATE, 2, 9)

static gboolean
fill (Stage       *stage,
      gsize        offset,
      const char  *pattern,
      const char  *filled,
      GError     **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, strlen (pattern));

  stage_expect (stage, DEST, offset, filled, strlen (filled));
  return mtl_buffer_fill (stage->buffers[DEST], offset, strlen (filled), bytes, NULL, error);
}

static gboolean
fill_bytes (Stage   *stage,
            GError **error)
{
  return fill (stage, 3, "a", "aaaaaaa", error);
}

static gboolean
fill_pattern (Stage   *stage,
              GError **error)
{
  return fill (stage, 3, "abcdefgh", "abcdefghabcdefgh", error);
}

/* Each in a stream that the program has pushed */

static gboolean
push_and_fill (Stage   *stage,
               GError **error)
{
  stage_push (stage);
  return fill_bytes (stage, error);
}

static gboolean
push_and_upload (Stage   *stage,
                 GError **error)
{
  stage_push (stage);
  return upload (stage, error);
}

static gboolean
push_and_copy (Stage   *stage,
               GError **error)
{
  stage_push (stage);
  return copy_private (stage, error);
}

static gboolean
push_and_copy_from_device (Stage   *stage,
                           GError **error)
{
  stage_push (stage);
  return copy_from_device (stage, error);
}

/* Elements */

static MtlStridedView *
view_of (Stage      *stage,
         BufferName  name,
         gint64      n,
         gint64      step,
         gsize       offset)
{
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (&n, 1, &step, 1, 8, NULL);

  return mtl_strided_view_new (stage->buffers[name], layout, MTL_DTYPE_UINT8, offset, NULL);
}

/* Every second byte stays as it is. */
static gboolean
fill_elements (Stage   *stage,
               GError **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, DEST, 3, 2, 1);
  guint8 *before = stage->before[DEST];

  stage_expect (stage, DEST, 1, ((guint8[]) { 9, before[2], 9, before[4], 9 }), 5);
  return mtl_strided_view_fill_double (view, 9, NULL, error);
}

static gboolean
copy_elements (Stage   *stage,
               GError **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, DEST, 3, -2, 5);
  g_autoptr (MtlStridedView) source = view_of (stage, PRIVATE, 3, 3, 0);
  guint8 *before = stage->before[DEST], *from = stage->before[PRIVATE];

  stage_expect (stage, DEST, 1, ((guint8[]) { from[6], before[2], from[3], before[4], from[0] }),
                5);
  return mtl_strided_view_copy_from (view, source, NULL, error);
}

static gboolean
copy_elements_from_host (Stage   *stage,
                         GError **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, DEST, 3, 2, 1);
  g_autoptr (MtlStridedView) source = view_of (stage, HOST, 3, 1, 0);
  guint8 *before = stage->before[DEST], *from = stage->before[HOST];

  stage_expect (stage, DEST, 1, ((guint8[]) { from[0], before[2], from[1], before[4], from[2] }),
                5);
  return mtl_strided_view_copy_from (view, source, NULL, error);
}

static gboolean
convert (Stage   *stage,
         GError **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, PRIVATE, 3, 2, 0);
  MtlStridedView *doubles = stage_keep (stage,
                                        mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64,
                                                                   MTL_ORDER_C, NULL, error));
  g_autoptr (GBytes) bytes = NULL;
  guint8 *from = stage->before[PRIVATE];

  if (doubles != NULL)
    bytes = mtl_strided_view_dup_bytes (doubles, NULL, error);
  if (bytes == NULL)
    return FALSE;

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                   ((double[]) { from[0], from[2], from[4] }), 24);
  return TRUE;
}

static gboolean
move (Stage      *stage,
      BufferName  from,
      MtlDevice  *device,
      GError    **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, from, SIZE, 1, 0);
  MtlStridedView *moved = stage_keep (stage,
                                      mtl_strided_view_to_device (view, device,
                                                                  MTL_STORAGE_MODE_DEFAULT, NULL,
                                                                  error));
  g_autoptr (GBytes) bytes = NULL;

  if (moved != NULL)
    bytes = mtl_strided_view_dup_bytes (moved, NULL, error);
  if (bytes == NULL)
    return FALSE;

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), SIZE, stage->before[from], SIZE);
  return TRUE;
}

static gboolean
move_to_device (Stage   *stage,
                GError **error)
{
  return move (stage, HOST, get_cuda (0), error);
}

static gboolean
move_to_other_device (Stage   *stage,
                      GError **error)
{
  return move (stage, PRIVATE, get_cuda (1), error);
}

static gboolean
move_to_host (Stage   *stage,
              GError **error)
{
  return move (stage, PRIVATE, mtl_device_get_host (), error);
}

/* Other libraries */

static gboolean
take (Stage      *stage,
      BufferName  name,
      int         device_type,
      gboolean    is_hot,
      GError    **error)
{
  g_autoptr (GBytes) bytes = NULL;
  MtlStridedView *view;

  peer_tensor_init (&stage->peer, mtl_buffer_get_handle (stage->buffers[name]), SIZE, device_type,
                    0);
  if (is_hot)
    stage_push (stage);
  view = stage_keep (stage, mtl_strided_view_new_take_dlpack (&stage->peer.managed, error));
  if (view != NULL)
    bytes = mtl_strided_view_dup_bytes (view, NULL, error);
  if (bytes == NULL)
    return FALSE;

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), SIZE, stage->before[name], SIZE);
  return TRUE;
}

static gboolean
import_private (Stage   *stage,
                GError **error)
{
  return take (stage, PRIVATE, 2, FALSE, error);
}

static gboolean
import_hot_private (Stage   *stage,
                    GError **error)
{
  return take (stage, PRIVATE, 2, TRUE, error);
}

static gboolean
import_pinned (Stage   *stage,
               GError **error)
{
  return take (stage, SHARED, 3, FALSE, error);
}

static gboolean
import_hot_managed (Stage   *stage,
                    GError **error)
{
  return take (stage, MANAGED, 13, TRUE, error);
}

static gboolean
give (Stage           *stage,
      BufferName       name,
      MtlDlpackFlags   flags,
      MtlDevice       *device,
      GError         **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, name, SIZE, 1, 0);

  stage->tensor = mtl_strided_view_to_dlpack (view, flags, device, error);
  return stage->tensor != NULL;
}

static gboolean
export_private (Stage   *stage,
                GError **error)
{
  return give (stage, PRIVATE, MTL_DLPACK_FLAGS_NONE, NULL, error);
}

static gboolean
export_for_stream (Stage   *stage,
                   GError **error)
{
  stage_push (stage);
  return give (stage, PRIVATE, MTL_DLPACK_FLAGS_NONE, NULL, error);
}

static gboolean
export_shared_as_host (Stage   *stage,
                       GError **error)
{
  return give (stage, SHARED, MTL_DLPACK_FLAGS_NEVER_COPY, mtl_device_get_host (), error);
}

static gboolean
export_copy (Stage   *stage,
             GError **error)
{
  stage_push (stage);
  return give (stage, PRIVATE, MTL_DLPACK_FLAGS_COPY, NULL, error);
}

static gboolean
export_copy_as_pinned (Stage   *stage,
                       GError **error)
{
  return give (stage, PRIVATE, MTL_DLPACK_FLAGS_NONE,
               mtl_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0, NULL), error);
}

/* Streams and events */

static gboolean
use_stream (Stage   *stage,
            GError **error)
{
  MtlStream *stream = stage_keep (stage, mtl_stream_new (get_cuda (0), error));

  return stream != NULL && mtl_stream_synchronize (stream, NULL, error);
}

static gboolean
use_stream_of_others (Stage   *stage,
                      GError **error)
{
  g_autoptr (MtlStream) stream = mtl_stream_new_for_handle ((guintptr) stage->stream, get_cuda (0),
                                                            error);
  g_autoptr (MtlStream) own = stream != NULL ? mtl_stream_new_for_device (get_cuda (0), error)
                                             : NULL;

  return own != NULL && mtl_stream_wait_stream (own, stream, error)
         && mtl_stream_wait_stream (stream, own, error);
}

static gboolean
use_event (Stage   *stage,
           GError **error)
{
  MtlEvent *event = stage_keep (stage, mtl_event_new (get_cuda (0), error));
  MtlStream *stream = event != NULL ? stage_keep (stage, mtl_stream_new (get_cuda (0), error))
                                    : NULL;

  return stream != NULL && mtl_stream_signal_event (stream, event, 1, error)
         && mtl_stream_wait_event (stream, event, 1, error)
         && mtl_stream_synchronize (stream, NULL, error);
}

static gboolean
use_event_of_others (Stage   *stage,
                     GError **error)
{
  return stage_keep (stage,
                     mtl_event_new_for_handle (mtl_buffer_get_handle (stage->buffers[SHARED]),
                                               get_cuda (0), error))
         != NULL;
}

static gboolean
synchronize_device (Stage   *stage,
                    GError **error)
{
  return mtl_device_synchronize (get_cuda (0), NULL, error);
}

static gboolean
synchronize_with_cancellable (Stage   *stage,
                              GError **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  return mtl_device_synchronize (get_cuda (0), cancellable, error);
}

static gboolean
compare_elements (Stage   *stage,
                  GError **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, PRIVATE, 3, 2, 1);

  return mtl_strided_view_array_equal (view, view, 0, NULL, error);
}

static gboolean
summarize_elements (Stage   *stage,
                    GError **error)
{
  g_autoptr (MtlStridedView) view = view_of (stage, PRIVATE, 3, 2, 1);
  g_autoptr (MtlStatistics) statistics =
    mtl_strided_view_compute_statistics (view, NULL, NULL, NULL, error);

  return statistics != NULL;
}

static const Scenario scenarios[] = {
  { "allocate/private", allocate_private },
  { "allocate/shared", allocate_shared },
  { "allocate/managed", allocate_managed },
  { "wrap/private", wrap_private },
  { "wrap/shared", wrap_shared },
  { "map-file", map_file },
  { "upload", upload },
  { "download", download },
  { "copy/large", copy_large },
  { "copy/private", copy_private },
  { "copy/overlapping", copy_overlapping },
  { "copy/from-host", copy_from_host },
  { "copy/to-host", copy_to_host },
  { "copy/from-shared", copy_from_shared },
  { "copy/to-shared", copy_to_shared },
  { "copy/from-managed", copy_from_managed },
  { "copy/to-managed", copy_to_managed },
  { "copy/from-device", copy_from_device },
  { "copy/to-device", copy_to_device },
  { "fill/bytes", fill_bytes },
  { "fill/pattern", fill_pattern },
  { "push/fill", push_and_fill },
  { "push/upload", push_and_upload },
  { "push/copy", push_and_copy },
  { "push/copy-from-device", push_and_copy_from_device },
  { "elements/fill", fill_elements },
  { "elements/copy", copy_elements },
  { "elements/copy-from-host", copy_elements_from_host, TRUE },
  { "elements/compare", compare_elements, TRUE },
  { "elements/statistics", summarize_elements, TRUE },
  { "elements/convert", convert },
  { "move/to-device", move_to_device },
  { "move/to-other-device", move_to_other_device },
  { "move/to-host", move_to_host },
  { "import/private", import_private },
  { "import/hot-private", import_hot_private },
  { "import/pinned", import_pinned },
  { "import/hot-managed", import_hot_managed },
  { "export/private", export_private },
  { "export/for-stream", export_for_stream },
  { "export/shared-as-host", export_shared_as_host },
  { "export/copy", export_copy },
  { "export/copy-as-pinned", export_copy_as_pinned },
  { "stream/new", use_stream },
  { "stream/of-others", use_stream_of_others },
  { "event/new", use_event },
  { "event/of-others", use_event_of_others },
  { "synchronize/device", synchronize_device },
  { "synchronize/with-cancellable", synchronize_with_cancellable },
};

static const CuResult codes[] = { CU_OUT_OF_MEMORY, CU_INVALID_VALUE, CU_ILLEGAL_ADDRESS,
                                  CU_UNKNOWN };

static const char *const all_kinds[] = {
  "device-memory", "pool-memory", "pinned", "managed", "registered", "stream", "event", "pool",
  "graph",
};

typedef struct
{
  gsize n_alive[G_N_ELEMENTS (all_kinds)];
} Count;

static Count
count_all (void)
{
  Count self;

  await_all_work ();
  for (gsize i = 0; i < G_N_ELEMENTS (all_kinds); i++)
    self.n_alive[i] = dbl.live (all_kinds[i]);
  return self;
}

/* Threads that free what was in use may be about to. */
static Count
settle (void)
{
  Count last = count_all ();

  for (int n_same = 0; n_same < 3; n_same++)
    {
      Count now;

      g_usleep (300);
      now = count_all ();
      if (memcmp (&now, &last, sizeof now) != 0)
        n_same = 0;
      last = now;
    }

  return last;
}

/* One call of a function, which is the kth of a scenario, fails with a code. */
typedef struct
{
  const Scenario *scenario;
  const char *function;
  unsigned kth;
  CuResult code;
} Failure;

static char *
describe (const Failure *failure)
{
  return g_strdup_printf ("%s, call %u of %s returns %u", failure->scenario->path, failure->kth,
                          failure->function, failure->code);
}

/* Fewer are alive if a thread that frees was late before. */
static gboolean
find_leak (const Count *before,
           Count       *now,
           gsize       *kind)
{
  *now = count_all ();
  for (gsize i = 0; i < G_N_ELEMENTS (all_kinds); i++)
    if (now->n_alive[i] > before->n_alive[i])
      {
        *kind = i;
        return TRUE;
      }
  return FALSE;
}

static void
assert_count (const Count   *before,
              const Failure *failure)
{
  g_autofree char *what = describe (failure);
  Count now;
  gsize i;

  for (int n = 0; n < 2000; n++)
    {
      if (!find_leak (before, &now, &i))
        return;
      g_usleep (1000);
    }

  g_error ("%s: %zu objects “%s” are alive, %zu were", what, now.n_alive[i], all_kinds[i],
           before->n_alive[i]);
}

static void
check_buffers (Stage    *stage,
               gboolean  worked)
{
  for (int i = 0; i < N_BUFFERS; i++)
    {
      gboolean is_written = stage->end > 0 && stage->written == (BufferName) i;
      const guint8 *expected = is_written ? stage->after : stage->before[i];
      gsize begin = is_written && !worked ? stage->begin : SIZE;
      gsize end = is_written && !worked ? stage->end : SIZE;

      assert_buffer_bytes (stage->buffers[i], 0, expected, begin);
      assert_buffer_bytes (stage->buffers[i], end, expected + end, SIZE - end);
    }
}

static void
check_error (const Failure *failure,
             const GError  *error)
{
  g_autofree char *what = describe (failure);
  g_autofree char *number = g_strdup_printf ("%u", failure->code);
  gboolean is_memory = failure->code == CU_OUT_OF_MEMORY;
  const char *name;

  MUST (cu.cuGetErrorName (failure->code, &name));
  if (error->domain != MTL_ERROR || !says_value (error->message, name)
      || !says_value (error->message, number)
      || error->code == (is_memory ? MTL_ERROR_DEVICE : MTL_ERROR_NO_MEMORY))
    g_error ("%s: code %d, “%s”", what, error->code, error->message);
}

#define EXCHANGE "cuThreadExchangeStreamCaptureMode"

/* Without these, nothing can be freed. */
static gboolean
is_entering (const char *function)
{
  return strcmp (function, EXCHANGE) == 0 || strcmp (function, "cuCtxPushCurrent_v2") == 0;
}

/* The mode is the thread's again, unless the call failed that restores it. */
static void
check_capture_mode (const Failure *failure)
{
  CuEnum mode = CU_CAPTURE_MODE_GLOBAL;

  if (strcmp (failure->function, EXCHANGE) == 0)
    MUST (cu.cuThreadExchangeStreamCaptureMode (&mode));
  g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
}

/* Returns FALSE if there was no such call. */
static gboolean
fail (const Failure *failure,
      guint         *n_errors)
{
  Count before = settle ();
  g_autoptr (GError) error = NULL;
  gboolean worked, failed;
  unsigned n_calls;
  Stage stage;

  stage_init (&stage);
  n_calls = dbl.calls (failure->function);
  dbl.fail_function (failure->function, failure->kth, failure->code);
  worked = failure->scenario->run (&stage, &error);
  dbl.fail_function (failure->function, 0, 0);
  failed = dbl.calls (failure->function) >= n_calls + failure->kth;

  g_assert_true (worked == (error == NULL));
  g_assert_true (worked || failed);
  if (error != NULL)
    {
      check_error (failure, error);
      (*n_errors)++;
    }
  g_assert_cmpuint (dbl.context_depth (), ==, 0);
  check_capture_mode (failure);
  stage_pop (&stage);
  check_buffers (&stage, worked);
  stage_end (&stage);
  stage_clear (&stage);
  if (!failure->scenario->frees || !is_entering (failure->function))
    assert_count (&before, failure);
  return failed;
}

#define NAME(name, parameters) #name,
static const char *const functions[] = {
  CU_FUNCTIONS (NAME)
  CU_STRUCT_FUNCTIONS (NAME)
  CU_OPTIONAL_FUNCTIONS (NAME)
};

/* Notes which functions a scenario calls. */
static void
find_calls (const Scenario *scenario,
            gboolean       *is_called)
{
  unsigned n_calls[G_N_ELEMENTS (functions)];
  g_autoptr (GError) error = NULL;
  Stage stage;

  settle ();
  stage_init (&stage);
  for (gsize i = 0; i < G_N_ELEMENTS (functions); i++)
    n_calls[i] = dbl.calls (functions[i]);
  g_assert_true (scenario->run (&stage, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (functions); i++)
    is_called[i] = dbl.calls (functions[i]) > n_calls[i];
  stage_pop (&stage);
  stage_end (&stage);
  stage_clear (&stage);
}

static void
test_scenario (Living        *living,
               gconstpointer  data)
{
  gboolean is_called[G_N_ELEMENTS (functions)];
  guint n_failures = 0, n_errors = 0;

  find_calls (data, is_called);
  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (functions); j++)
      {
        Failure failure = { data, functions[j], 1, codes[i] };

        if (!is_called[j])
          continue;

        while (fail (&failure, &n_errors))
          {
            n_failures++;
            failure.kth++;
            g_assert_cmpuint (failure.kth, <, MOST_CALLS);
          }
      }
  g_test_message ("%u errors after %u failures", n_errors, n_failures);
  g_assert_cmpuint (n_errors, >, 0);
}

/* Fills what the library keeps for the next use, so that all that is allocated later ends, and can
 * be counted: 256 MiB of pinned and of managed memory, 32 events for each device. */
static void
fill_caches (void)
{
  MtlBuffer *blocks[2];
  DLManagedTensorVersioned *tensors[2][40];
  CuStream streams[2];

  for (int i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      blocks[i] = mtl_buffer_new_uninitialized (get_cuda (0), 256 * MIB,
                                                i == 0 ? MTL_STORAGE_MODE_SHARED
                                                       : MTL_STORAGE_MODE_MANAGED, &error);
      g_assert_no_error (error);
      streams[i] = peer_stream (i);
      for (gsize j = 0; j < G_N_ELEMENTS (tensors[i]); j++)
        {
          g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (get_cuda (i),
                                                                        MTL_DTYPE_INT8, DIMS (8),
                                                                        MTL_STORAGE_MODE_SHARED,
                                                                        &error);
          MtlStream *pushed = push_stream (streams[i], i);

          tensors[i][j] = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
          g_assert_no_error (error);
          pop_stream (pushed);
        }
    }
  g_assert_finalize_object (blocks[0]);
  g_assert_finalize_object (blocks[1]);

  dbl.pause ();
  for (int i = 0; i < 2; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (tensors[i]); j++)
      {
        MUST (cu.cuMemsetD8Async (ADDRESS (tensors[i][j]->dl_tensor.data), 0, 8, streams[i]));
        tensors[i][j]->deleter (tensors[i][j]);
      }
  dbl.resume ();
  for (int i = 0; i < 2; i++)
    {
      MUST (cu.cuStreamSynchronize (streams[i]));
      MUST (cu.cuStreamDestroy_v2 (streams[i]));
    }
  for (int i = 0; i < 5000 && (dbl.live ("event") > 64 || dbl.live ("pinned") > 1); i++)
    g_usleep (1000);
  g_assert_cmpuint (dbl.live ("event"), ==, 64);
  g_assert_cmpuint (dbl.live ("pinned"), ==, 1);
  g_assert_cmpuint (dbl.live ("managed"), ==, 1);
}

/* The kernels are loaded, and the pinned memory for large copies is allocated, once. */
static void
warm_up (void)
{
  const gsize n_pinned = 3; /* the block that is kept, and two pieces */

  for (gsize i = 0; i < G_N_ELEMENTS (scenarios); i++)
    {
      g_autoptr (GError) error = NULL;
      Stage stage;

      stage_init (&stage);
      g_assert_true (scenarios[i].run (&stage, &error));
      g_assert_no_error (error);
      stage_pop (&stage);
      check_buffers (&stage, TRUE);
      stage_end (&stage);
      stage_clear (&stage);
    }

  for (int i = 0; i < 5000 && dbl.live ("pinned") > n_pinned; i++)
    g_usleep (1000);
  g_assert_cmpuint (dbl.live ("pinned"), ==, n_pinned);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_cuda ();
  if (over_double && !g_test_subprocess ())
    {
      fill_caches ();
      warm_up ();
    }

  for (gsize i = 0; i < G_N_ELEMENTS (scenarios); i++)
    {
      g_autofree char *path = g_strconcat ("/CudaFailures/", scenarios[i].path, NULL);

      if (!over_double)
        g_test_add_func (path, skip_without_double);
      else
        g_test_add_vtable (path, sizeof (Living), &scenarios[i], (GTestFixtureFunc) living_count,
                           (GTestFixtureFunc) test_scenario,
                           scenarios[i].frees ? NULL : (GTestFixtureFunc) living_check);
    }

  return g_test_run ();
}
