/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Metal fails at each point at which it can, one after the other: each time
 * there is an error, and nothing else is different. */

#include "metal-tests.h"
#include "../c/dlpack-structs.h"

#include <stdlib.h>

#define SIZE 24
#define MOST_POINTS 100

typedef enum
{
  DEST,    /* Private */
  PRIVATE, /* the others are only read, unless a scenario says so */
  MANAGED,
  SHARED,
  HOST,
  ELSEWHERE, /* Private, of another device */
  N_BUFFERS,
} BufferName;

/* What a scenario works with, made anew for each failure. */
typedef struct
{
  MtlDevice *device;
  MtlBuffer *buffers[N_BUFFERS];
  guint8 before[N_BUFFERS][SIZE];

  /* What the scenario writes: bytes from begin to end of one of them. */
  BufferName written;
  gsize begin;
  gsize end;
  guint8 after[SIZE];

  /* What it makes: an object with these elements or bytes. */
  gpointer object;
  DLManagedTensorVersioned *tensor;
  GBytes *bytes;
  guint8 content[SIZE];
  gsize content_size;

  guint8 *memory;
  int n_ended;
  int n_owners;
} Stage;

static void
stage_init (Stage *self,
            int    ordinal)
{
  static const MtlStorageMode modes[N_BUFFERS] = {
    [DEST] = MTL_STORAGE_MODE_PRIVATE,
    [PRIVATE] = MTL_STORAGE_MODE_PRIVATE,
    [MANAGED] = MTL_STORAGE_MODE_MANAGED,
    [SHARED] = MTL_STORAGE_MODE_SHARED,
    [HOST] = MTL_STORAGE_MODE_HOST,
    [ELSEWHERE] = MTL_STORAGE_MODE_PRIVATE,
  };

  *self = (Stage) { .device = get_metal (ordinal) };
  for (int i = 0; i < N_BUFFERS; i++)
    {
      MtlDevice *device = i == ELSEWHERE ? get_metal (1 - ordinal) : self->device;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      for (int j = 0; j < SIZE; j++)
        self->before[i][j] = 40 * i + j;
      bytes = g_bytes_new_static (self->before[i], SIZE);
      self->buffers[i] = new_buffer (i == HOST ? NULL : device, SIZE, modes[i]);
      g_assert_true (mtl_buffer_set_bytes (self->buffers[i], 0, bytes, &error));
      g_assert_no_error (error);
    }
}

static void
stage_clear (Stage *self)
{
  g_clear_object (&self->object);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  if (self->tensor != NULL)
    self->tensor->deleter (self->tensor);
  for (int i = 0; i < N_BUFFERS; i++)
    g_assert_finalize_object (self->buffers[i]);
  g_assert_cmpint (self->n_ended, ==, self->n_owners);
  g_free (self->memory);
}

/* The bytes at an offset of a buffer become these. */
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

static gboolean
stage_made (Stage         *self,
            gpointer       object,
            gconstpointer  content,
            gsize          size)
{
  self->object = object;
  memcpy (self->content, content, size);
  self->content_size = size;
  return object != NULL;
}

/* Three int16 of a buffer: from byte 2 on, each second one. */
static MtlStridedView *
view_buffer (Stage      *self,
             BufferName  name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (3), DIMS (2), 16, &error);
  MtlStridedView *view = mtl_strided_view_new (self->buffers[name], layout, MTL_DTYPE_INT16, 2,
                                               &error);

  g_assert_no_error (error);
  return view;
}

/* The six bytes of these elements. */
static const guint8 *
get_elements (Stage      *self,
              BufferName  name,
              guint8     *bytes)
{
  for (int i = 0; i < 3; i++)
    memcpy (bytes + 2 * i, self->before[name] + 2 + 4 * i, 2);
  return bytes;
}

static const guint8 zeros[SIZE];

static gboolean
allocate (Stage           *stage,
          MtlStorageMode   mode,
          GError         **error)
{
  return stage_made (stage, mtl_buffer_new (stage->device, 5, mode, error), zeros, 5);
}

static gboolean
allocate_shared (Stage   *stage,
                 GError **error)
{
  return allocate (stage, MTL_STORAGE_MODE_SHARED, error);
}

static gboolean
allocate_managed (Stage   *stage,
                  GError **error)
{
  return allocate (stage, MTL_STORAGE_MODE_MANAGED, error);
}

static gboolean
allocate_private (Stage   *stage,
                  GError **error)
{
  return allocate (stage, MTL_STORAGE_MODE_PRIVATE, error);
}

static gboolean
allocate_uninitialized (Stage   *stage,
                        GError **error)
{
  return stage_made (stage, mtl_buffer_new_uninitialized (stage->device, 5,
                                                          MTL_STORAGE_MODE_PRIVATE, error),
                     NULL, 0);
}

static gboolean
upload (Stage   *stage,
        gsize    offset,
        gsize    size,
        GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdefghijkl", size);

  stage_expect (stage, DEST, offset, "abcdefghijkl", size);
  return mtl_buffer_set_bytes (stage->buffers[DEST], offset, bytes, error);
}

static gboolean
upload_words (Stage   *stage,
              GError **error)
{
  return upload (stage, 4, 12, error);
}

static gboolean
upload_odd (Stage   *stage,
            GError **error)
{
  return upload (stage, 3, 11, error);
}

static gboolean
download (Stage   *stage,
          gsize    offset,
          gsize    size,
          GError **error)
{
  stage->bytes = mtl_buffer_dup_bytes (stage->buffers[PRIVATE], offset, size, error);
  stage_made (stage, NULL, stage->before[PRIVATE] + offset, size);
  return stage->bytes != NULL;
}

static gboolean
download_words (Stage   *stage,
                GError **error)
{
  return download (stage, 8, 8, error);
}

static gboolean
download_odd (Stage   *stage,
              GError **error)
{
  return download (stage, 5, 7, error);
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
  return mtl_buffer_copy (stage->buffers[to], dest_offset, stage->buffers[from], source_offset,
                          size, NULL, error);
}

static gboolean
copy_words (Stage   *stage,
            GError **error)
{
  return copy (stage, DEST, 4, PRIVATE, 8, 12, error);
}

static gboolean
copy_odd (Stage   *stage,
          GError **error)
{
  return copy (stage, DEST, 5, PRIVATE, 2, 9, error);
}

static gboolean
copy_to_managed (Stage   *stage,
                 GError **error)
{
  return copy (stage, MANAGED, 4, PRIVATE, 8, 12, error);
}

static gboolean
copy_odd_from_managed (Stage   *stage,
                       GError **error)
{
  return copy (stage, DEST, 3, MANAGED, 2, 9, error);
}

static gboolean
copy_from_shared (Stage   *stage,
                  GError **error)
{
  return copy (stage, DEST, 4, SHARED, 0, 8, error);
}

static gboolean
copy_overlapping (Stage   *stage,
                  GError **error)
{
  return copy (stage, DEST, 5, DEST, 2, 9, error);
}

static gboolean
copy_across_devices (Stage   *stage,
                     GError **error)
{
  return copy (stage, DEST, 1, ELSEWHERE, 2, 9, error);
}

static gboolean
fill (Stage       *stage,
      gsize        offset,
      const char  *pattern,
      const char  *filled,
      GError     **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (pattern, strlen (pattern));

  stage_expect (stage, DEST, offset, filled, strlen (filled));
  return mtl_buffer_fill (stage->buffers[DEST], offset, strlen (filled), bytes, error);
}

static gboolean
fill_words (Stage   *stage,
            GError **error)
{
  return fill (stage, 4, "a", "aaaaaaaa", error);
}

static gboolean
fill_odd (Stage   *stage,
          GError **error)
{
  return fill (stage, 3, "a", "aaaaaaa", error);
}

static gboolean
fill_pattern (Stage   *stage,
              GError **error)
{
  return fill (stage, 3, "abcd", "abcdabcd", error);
}

static gboolean
wrap (Stage           *stage,
      gsize            offset,
      MtlBufferFlags   flags,
      GError         **error)
{
  gsize page_size = metal_fixture_page_size ();
  gpointer memory = NULL;

  g_assert_cmpint (posix_memalign (&memory, page_size, page_size), ==, 0);
  stage->memory = memory;
  memcpy (stage->memory + offset, "abcdef", 6);
  stage->n_owners = 1;
  return stage_made (stage,
                     mtl_buffer_new_for_data (stage->device, stage->memory + offset, 6, flags,
                                              count_call, &stage->n_ended, error),
                     "abcdef", 6);
}

static gboolean
wrap_pages (Stage   *stage,
            GError **error)
{
  return wrap (stage, 0, MTL_BUFFER_FLAGS_NONE, error);
}

static gboolean
wrap_pages_never_copied (Stage   *stage,
                         GError **error)
{
  return wrap (stage, 0, MTL_BUFFER_FLAGS_NEVER_COPY, error);
}

static gboolean
wrap_misaligned (Stage   *stage,
                 GError **error)
{
  return wrap (stage, 100, MTL_BUFFER_FLAGS_NONE, error);
}

static gboolean
wrap_handle (Stage   *stage,
             GError **error)
{
  gpointer handle = mtl_buffer_get_handle (stage->buffers[PRIVATE]);

  stage->n_owners = 1;
  return stage_made (stage,
                     mtl_buffer_new_for_handle (stage->device, handle, SIZE, &stage->n_ended,
                                                count_call, error),
                     stage->before[PRIVATE], SIZE);
}

static gboolean
new_event (Stage   *stage,
           GError **error)
{
  return stage_made (stage, mtl_event_new (stage->device, error), NULL, 0);
}

static gboolean
synchronize_managed (Stage   *stage,
                     GError **error)
{
  return mtl_buffer_synchronize (stage->buffers[MANAGED], error);
}

static gboolean
synchronize_device (Stage   *stage,
                    GError **error)
{
  return mtl_device_synchronize (stage->device, NULL, error);
}

static gboolean
export (Stage           *stage,
        BufferName       name,
        MtlDlpackFlags   flags,
        MtlDeviceType    device_type,
        GError         **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, name);

  stage->tensor = mtl_strided_view_to_dlpack (view, flags, device_type, 0, error);
  return stage->tensor != NULL;
}

static gboolean
export_private_to_host (Stage   *stage,
                        GError **error)
{
  return export (stage, PRIVATE, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_CPU, error);
}

static gboolean
export_managed_to_host (Stage   *stage,
                        GError **error)
{
  return export (stage, MANAGED, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_CPU, error);
}

static gboolean
export_copy (Stage   *stage,
             GError **error)
{
  return export (stage, PRIVATE, MTL_DLPACK_FLAGS_COPY, MTL_DEVICE_TYPE_UNKNOWN, error);
}

static gboolean
export_and_import (Stage   *stage,
                   GError **error)
{
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned *tensor;
  guint8 elements[6];

  if (!export (stage, PRIVATE, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_UNKNOWN, error))
    return FALSE;

  tensor = g_steal_pointer (&stage->tensor);
  view = mtl_strided_view_new_take_dlpack (tensor, error);
  return view != NULL
         && stage_made (stage,
                        mtl_strided_view_to_device (view, mtl_device_get_host (),
                                                    MTL_STORAGE_MODE_HOST, error),
                        get_elements (stage, PRIVATE, elements), 6);
}

static gboolean
view_to_private (Stage   *stage,
                 GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, HOST);
  guint8 elements[6];

  return stage_made (stage, mtl_strided_view_to_device (view, stage->device,
                                                        MTL_STORAGE_MODE_PRIVATE, error),
                     get_elements (stage, HOST, elements), 6);
}

static gboolean
view_across_devices (Stage   *stage,
                     GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, ELSEWHERE);
  guint8 elements[6];

  return stage_made (stage, mtl_strided_view_to_device (view, stage->device,
                                                        MTL_STORAGE_MODE_MANAGED, error),
                     get_elements (stage, ELSEWHERE, elements), 6);
}

static gboolean
view_copy (Stage   *stage,
           GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, PRIVATE);
  guint8 elements[6];

  return stage_made (stage, mtl_strided_view_copy (view, error),
                     get_elements (stage, PRIVATE, elements), 6);
}

static gboolean
view_to_dtype (Stage   *stage,
               GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, PRIVATE);
  guint8 elements[6];
  gint32 wide[3];

  get_elements (stage, PRIVATE, elements);
  for (int i = 0; i < 3; i++)
    wide[i] = elements[2 * i] | elements[2 * i + 1] << 8;
  return stage_made (stage, mtl_strided_view_to_dtype (view, MTL_DTYPE_INT32, error),
                     wide, sizeof wide);
}

static gboolean
view_copy_from (Stage   *stage,
                GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, DEST);
  g_autoptr (MtlStridedView) source = view_buffer (stage, PRIVATE);
  guint8 bytes[10];

  for (int i = 0; i < 10; i++)
    bytes[i] = stage->before[i % 4 < 2 ? PRIVATE : DEST][2 + i];
  stage_expect (stage, DEST, 2, bytes, 10);
  return mtl_strided_view_copy_from (view, source, error);
}

static gboolean
view_fill (Stage   *stage,
           GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, DEST);
  guint8 bytes[10];

  for (int i = 0; i < 10; i++)
    bytes[i] = i % 4 < 2 ? 1 : stage->before[DEST][2 + i];
  stage_expect (stage, DEST, 2, bytes, 10);
  return mtl_strided_view_fill_double (view, 257, error);
}

static gboolean
view_equal (Stage   *stage,
            GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, PRIVATE);
  g_autoptr (MtlStridedView) same = view_buffer (stage, PRIVATE);

  return mtl_strided_view_equal (view, same, error);
}

static gboolean
view_zeros (Stage   *stage,
            GError **error)
{
  return stage_made (stage, mtl_strided_view_new_zeros (stage->device, MTL_DTYPE_INT16, DIMS (3),
                                                        error),
                     zeros, 6);
}

typedef struct
{
  const char *path;
  gboolean (* run) (Stage   *stage,
                    GError **error);
  gboolean falls_back; /* a failure may be made good */
} Scenario;

static const Scenario scenarios[] = {
  { "allocate/shared", allocate_shared },
  { "allocate/managed", allocate_managed },
  { "allocate/private", allocate_private },
  { "allocate/uninitialized", allocate_uninitialized },
  { "upload/words", upload_words },
  { "upload/odd", upload_odd },
  { "download/words", download_words },
  { "download/odd", download_odd },
  { "copy/words", copy_words },
  { "copy/odd", copy_odd },
  { "copy/to-managed", copy_to_managed },
  { "copy/odd-from-managed", copy_odd_from_managed },
  { "copy/from-shared", copy_from_shared },
  { "copy/overlapping", copy_overlapping },
  { "copy/across-devices", copy_across_devices },
  { "fill/words", fill_words },
  { "fill/odd", fill_odd },
  { "fill/pattern", fill_pattern },
  { "wrap/pages", wrap_pages, TRUE },
  { "wrap/pages-never-copied", wrap_pages_never_copied },
  { "wrap/misaligned", wrap_misaligned },
  { "wrap/handle", wrap_handle },
  { "event", new_event },
  { "synchronize/managed", synchronize_managed },
  { "synchronize/device", synchronize_device },
  { "export/private-to-host", export_private_to_host },
  { "export/managed-to-host", export_managed_to_host },
  { "export/copy", export_copy },
  { "export/and-import", export_and_import },
  { "view/to-private", view_to_private },
  { "view/across-devices", view_across_devices },
  { "view/copy", view_copy },
  { "view/to-dtype", view_to_dtype },
  { "view/copy-from", view_copy_from },
  { "view/fill", view_fill },
  { "view/equal", view_equal },
  { "view/zeros", view_zeros },
};

/* Buffers that were only read are as they were; so is what is around the bytes
 * that were written, all of which are as they should be if it worked. */
static void
check_buffers (Stage    *stage,
               gboolean  worked)
{
  for (int i = 0; i < N_BUFFERS; i++)
    {
      gboolean is_written = stage->end > 0 && stage->written == (BufferName) i;
      const guint8 *expected = is_written ? stage->after : stage->before[i];
      gsize begin = is_written ? stage->begin : SIZE;
      gsize end = is_written ? stage->end : SIZE;

      if (worked)
        begin = end = SIZE;
      assert_buffer_bytes (stage->buffers[i], 0, expected, begin);
      assert_buffer_bytes (stage->buffers[i], end, expected + end, SIZE - end);
    }
}

static void
check_made (Stage *stage)
{
  g_autoptr (GError) error = NULL;

  if (stage->content_size == 0)
    return;

  if (stage->bytes == NULL && MTL_IS_STRIDED_VIEW (stage->object))
    stage->bytes = mtl_strided_view_dup_bytes (stage->object, &error);
  else if (stage->bytes == NULL)
    stage->bytes = mtl_buffer_dup_bytes (stage->object, 0, stage->content_size, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (stage->bytes, NULL), g_bytes_get_size (stage->bytes),
                   stage->content, stage->content_size);
}

static void
check_error (const Scenario *scenario,
             const GError   *error)
{
  if (error->domain != MTL_ERROR
      || (error->code != MTL_ERROR_NO_MEMORY && error->code != MTL_ERROR_DEVICE
          && error->code != MTL_ERROR_NEEDS_COPY))
    g_error ("%s: “%s”", scenario->path, error->message);
}

/* Whether there was a point to fail at. */
static gboolean
fail_at (const Scenario *scenario,
         int             ordinal,
         unsigned        nth)
{
  g_autoptr (GError) error = NULL;
  gboolean worked, failed;
  Living living;
  Stage stage;

  living_count (&living, NULL);
  stage_init (&stage, ordinal);
  metal_double_fail_at (nth);
  worked = scenario->run (&stage, &error);
  failed = metal_double_points () >= nth;
  metal_double_fail_at (0);

  g_assert_true (worked == (error == NULL));
  if (!failed || !scenario->falls_back)
    g_assert_true (worked == !failed);
  if (worked)
    check_made (&stage);
  else
    check_error (scenario, error);

  check_buffers (&stage, worked);
  stage_clear (&stage);
  living_check (&living, NULL);
  return failed;
}

static unsigned n_failed_points;

static void
run_scenario (const Scenario *scenario,
              int             ordinal)
{
  g_autoptr (GError) error = NULL;
  unsigned nth = 1;

  /* The queue is there for good, once somebody has needed it. */
  g_assert_true (mtl_device_synchronize (get_metal (UNIFIED), NULL, &error));
  g_assert_true (mtl_device_synchronize (get_metal (DISCRETE), NULL, &error));
  g_assert_no_error (error);

  while (fail_at (scenario, ordinal, nth))
    {
      nth++;
      g_assert_cmpuint (nth, <, MOST_POINTS);
    }

  n_failed_points += nth - 1;
  g_test_message ("%s: failed at %u points", scenario->path, nth - 1);
}

static void
test_unified (Living        *living,
              gconstpointer  data)
{
  run_scenario (data, UNIFIED);
}

static void
test_discrete (Living        *living,
               gconstpointer  data)
{
  run_scenario (data, DISCRETE);
}

/* The first use of a device makes its queue, after a failure the second. */
static void
test_fresh_queue (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (TWIN), 8, MTL_STORAGE_MODE_SHARED);
  g_autoptr (GError) local_error = NULL;
  unsigned n_queues = metal_double_calls ("newCommandQueue");

  metal_double_fail_at (1);
  assert_refuses (mtl_device_synchronize (get_metal (TWIN), NULL, &error),
                  MTL_ERROR_DEVICE, "“Test Discrete” gives no command queue");
  metal_double_fail_at (1);
  assert_refuses (mtl_buffer_synchronize (buffer, &error),
                  MTL_ERROR_DEVICE, "“Test Discrete” gives no command queue");
  metal_double_fail_at (2);
  assert_fails (mtl_buffer_new (get_metal (TWIN), 8, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_DEVICE, "“Test Discrete” gives no command queue");
  metal_double_fail_at (0);

  g_assert_true (mtl_device_synchronize (get_metal (TWIN), NULL, &local_error));
  g_assert_true (mtl_device_synchronize (get_metal (TWIN), NULL, &local_error));
  g_assert_no_error (local_error);
  g_assert_cmpuint (metal_double_calls ("newCommandQueue"), ==, n_queues + 4);
}

/* What Metal says of a command buffer that it could not run is handed on. */
static void
test_reasons (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (UNIFIED), 8, MTL_STORAGE_MODE_PRIVATE);
  const int out_of_memory = 8;

  for (int code = 1; code <= 12; code++)
    {
      g_autofree char *message = g_strdup_printf ("(code %d)", code);

      metal_double_fail_next_command_buffer (code);
      assert_refuses (mtl_buffer_synchronize (buffer, &error),
                      code == out_of_memory ? MTL_ERROR_NO_MEMORY : MTL_ERROR_DEVICE, message);
    }
}

/* Who prints a view sees that it cannot be read. */
static void
test_format (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) zeros_on_host = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autofree char *text = NULL;

  zeros_on_host = mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_INT16, DIMS (3),
                                              &error);
  view = mtl_strided_view_to_device (zeros_on_host, get_metal (UNIFIED), MTL_STORAGE_MODE_PRIVATE,
                                     &error);
  g_assert_no_error (error);
  metal_double_fail_at (1);
  text = mtl_strided_view_format (view, 100);
  metal_double_fail_at (0);
  g_assert_cmpstr (text, ==, "<int16 (3,) on device (8, 0)>");
}

static void
test_enough (void)
{
  g_test_message ("failed at %u points in all", n_failed_points);
  g_assert_cmpuint (n_failed_points, >=, 2 * G_N_ELEMENTS (scenarios));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  for (gsize i = 0; i < G_N_ELEMENTS (scenarios); i++)
    {
      g_autofree char *unified = g_strdup_printf ("/MetalFailures/at-each-point/unified/%s",
                                                  scenarios[i].path);
      g_autofree char *discrete = g_strdup_printf ("/MetalFailures/at-each-point/discrete/%s",
                                                   scenarios[i].path);

      add_metal_data_test (unified, &scenarios[i], test_unified);
      add_metal_data_test (discrete, &scenarios[i], test_discrete);
    }
  add_metal_test ("/MetalFailures/fresh-queue", test_fresh_queue);
  add_metal_test ("/MetalFailures/reasons", test_reasons);
  add_metal_test ("/MetalFailures/format", test_format);

  return g_test_run ();
}
