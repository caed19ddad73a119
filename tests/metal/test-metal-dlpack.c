/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Exports of memory of each storage mode, as either device's, with and without a copy. */

#include "metal-tests.h"
#include "dlpack-structs.h"

typedef enum
{
  BUFFER,     /* in place: the MTLBuffer, with the byte offset */
  ADDRESS,    /* in place: the host's address, and no byte offset */
  OWN_COPY,   /* on the same device in the same storage mode */
  HOST_COPY,  /* on the host */
  OTHER_COPY, /* on the other Metal device, Shared */
  NEEDS_COPY,
  NOT_SUPPORTED,
  NOT_HOST_ACCESSIBLE,
} Outcome;

typedef enum
{
  AS_ANY,   /* no particular device */
  AS_OWN,   /* the device that the memory is of */
  AS_HOST,  /* (1, 0) */
  AS_OTHER, /* another Metal device */
  AS_CUDA,  /* (2, 0) */
} Target;

enum
{
  AS_NEEDED,
  ALWAYS,
  NEVER,
  N_COPY,
};

typedef struct
{
  const char *path;
  MtlStorageMode mode;
  Target target;
  Outcome outcomes[N_COPY]; /* copied as needed, always, never */
} Row;

#define ROW(mode, as, ...) \
  { "/MetalDlpack/matrix/" #mode "-as-" #as, MTL_STORAGE_MODE_##mode, AS_##as, { __VA_ARGS__ } }

static const Row matrix[] = {
  ROW (HOST, ANY, ADDRESS, HOST_COPY, ADDRESS),
  ROW (HOST, OWN, ADDRESS, HOST_COPY, ADDRESS),
  ROW (HOST, HOST, ADDRESS, HOST_COPY, ADDRESS),
  ROW (HOST, OTHER, OTHER_COPY, OTHER_COPY, NEEDS_COPY),
  ROW (HOST, CUDA, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),

  ROW (SHARED, ANY, BUFFER, OWN_COPY, BUFFER),
  ROW (SHARED, OWN, BUFFER, OWN_COPY, BUFFER),
  ROW (SHARED, HOST, ADDRESS, HOST_COPY, ADDRESS),
  ROW (SHARED, OTHER, OTHER_COPY, OTHER_COPY, NEEDS_COPY),
  ROW (SHARED, CUDA, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),

  ROW (MANAGED, ANY, BUFFER, OWN_COPY, BUFFER),
  ROW (MANAGED, OWN, BUFFER, OWN_COPY, BUFFER),
  ROW (MANAGED, HOST, ADDRESS, HOST_COPY, ADDRESS),
  ROW (MANAGED, OTHER, OTHER_COPY, OTHER_COPY, NEEDS_COPY),
  ROW (MANAGED, CUDA, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),

  ROW (PRIVATE, ANY, BUFFER, OWN_COPY, BUFFER),
  ROW (PRIVATE, OWN, BUFFER, OWN_COPY, BUFFER),
  ROW (PRIVATE, HOST, HOST_COPY, HOST_COPY, NEEDS_COPY),
  ROW (PRIVATE, OTHER, OTHER_COPY, OTHER_COPY, NEEDS_COPY),
  ROW (PRIVATE, CUDA, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),

  /* Memory of the CUDA device (2, 1). */
  ROW (FOREIGN, ANY, ADDRESS, NOT_HOST_ACCESSIBLE, ADDRESS),
  ROW (FOREIGN, OWN, ADDRESS, NOT_SUPPORTED, ADDRESS),
  ROW (FOREIGN, HOST, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),
  ROW (FOREIGN, OTHER, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),
  ROW (FOREIGN, CUDA, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED),
};

#define FOREIGN_ADDRESS ((guint8 *) 0x7000000)
#define BYTE_OFFSET 6

static const gint16 values[] = { 10, 11, 12, 13, 14, 15, 16, 17 };

static void
delete_nothing (DLManagedTensorVersioned *managed)
{
}

static MtlStridedView *
new_foreign_view (void)
{
  static int64_t dims[] = { 8, 1 };
  static DLManagedTensorVersioned managed = {
    .version = { 1, 0 },
    .deleter = delete_nothing,
    .dl_tensor = { FOREIGN_ADDRESS, { 2, 1 }, 1, { 0, 16, 1 }, &dims[0], &dims[1], BYTE_OFFSET },
  };
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_take_dlpack (&managed, &error);

  g_assert_no_error (error);
  return view;
}

/* Eight int16 at byte 6 of a buffer; the GPU alone has written them. */
static MtlStridedView *
new_view (MtlDevice      *device,
          MtlStorageMode  mode)
{
  gboolean is_host = mode == MTL_STORAGE_MODE_HOST;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  if (mode == MTL_STORAGE_MODE_FOREIGN)
    return new_foreign_view ();

  buffer = new_buffer (is_host ? NULL : device, 30, mode);
  if (is_host)
    memcpy ((guint8 *) mtl_buffer_get_contents (buffer) + BYTE_OFFSET, values, sizeof values);
  else
    write_as_gpu (buffer, BYTE_OFFSET, values, sizeof values);

  layout = mtl_strided_layout_new (DIMS (8), DIMS (1), 16, &error);
  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT16, BYTE_OFFSET, &error);
  g_assert_no_error (error);
  return view;
}

static DLDevice
get_target (MtlStridedView *view,
            Target          target,
            int             other)
{
  switch (target)
    {
    case AS_OWN:
      return (DLDevice) { mtl_device_get_device_type (mtl_strided_view_get_device (view)),
                          mtl_device_get_ordinal (mtl_strided_view_get_device (view)) };
    case AS_HOST:
      return (DLDevice) { 1, 0 };
    case AS_OTHER:
      return (DLDevice) { 8, other };
    case AS_CUDA:
      return (DLDevice) { 2, 0 };
    default:
      return (DLDevice) { 0, 0 };
    }
}

#define assert_device(device, type, id) \
  G_STMT_START \
    { \
      g_assert_cmpint ((device).device_type, ==, (type)); \
      g_assert_cmpint ((device).device_id, ==, (id)); \
    } \
  G_STMT_END

/* The view is elements 2, 4 and 6. */
static void
check_in_place (MtlStridedView *view,
                const DLTensor *tensor,
                Outcome         outcome)
{
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  guint8 *contents = mtl_buffer_get_contents (buffer);
  gsize offset = BYTE_OFFSET + 2 * sizeof (gint16);

  assert_dims (tensor->strides, tensor->ndim, 2);
  if (outcome == BUFFER)
    {
      assert_device (tensor->device, 8,
                     mtl_device_get_ordinal (mtl_strided_view_get_device (view)));
      g_assert_true (tensor->data == mtl_buffer_get_handle (buffer));
      g_assert_cmpuint (tensor->byte_offset, ==, offset);
    }
  else if (mtl_buffer_get_storage_mode (buffer) == MTL_STORAGE_MODE_FOREIGN)
    {
      assert_device (tensor->device, 2, 1);
      g_assert_true (tensor->data == FOREIGN_ADDRESS + offset);
      g_assert_cmpuint (tensor->byte_offset, ==, 0);
    }
  else
    {
      assert_device (tensor->device, 1, 0);
      g_assert_true (tensor->data == contents + offset);
      g_assert_cmpuint (tensor->byte_offset, ==, 0);
      g_assert_cmpint (((gint16 *) tensor->data)[4], ==, 16);
    }
}

static void
check_copy (MtlStridedView *view,
            const DLTensor *tensor,
            Outcome         outcome,
            int             other)
{
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  const gint16 expected[] = { 12, 14, 16 };
  gint16 actual[3];

  assert_dims (tensor->strides, tensor->ndim, 1);
  g_assert_cmpuint (tensor->byte_offset, ==, 0);
  g_assert_true (tensor->data != mtl_buffer_get_handle (buffer));
  if (outcome == HOST_COPY)
    {
      assert_device (tensor->device, 1, 0);
      g_assert_cmpmem (tensor->data, sizeof expected, expected, sizeof expected);
      return;
    }

  assert_device (
      tensor->device, 8,
      outcome == OTHER_COPY ? other : mtl_device_get_ordinal (mtl_strided_view_get_device (view)));
  metal_fixture_peek (tensor->data, 0, actual, sizeof actual);
  if (outcome == OTHER_COPY || mtl_buffer_get_storage_mode (buffer) != MTL_STORAGE_MODE_MANAGED)
    g_assert_cmpmem (actual, sizeof actual, expected, sizeof expected);
}

/* Checks the storage mode of a copy, and that its elements are those of the view. */
static void
check_copied_view (MtlStridedView *view,
                   MtlStridedView *copy,
                   Outcome         outcome)
{
  MtlStorageMode mode = mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (view));
  MtlBuffer *buffer = mtl_strided_view_get_buffer (copy);

  if (outcome == OTHER_COPY)
    mode = MTL_STORAGE_MODE_SHARED;
  else if (outcome == HOST_COPY)
    mode = MTL_STORAGE_MODE_HOST;

  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, mode);
  if (outcome != HOST_COPY)
    assert_gpu_reads (buffer, 0, ((const gint16[]) { 12, 14, 16 }), 6);
  assert_elements (copy, 12, 14, 16);
}

static void
check_tensor (MtlStridedView *view,
              const DLTensor *tensor,
              Outcome         outcome,
              int             other)
{
  assert_dims (tensor->shape, tensor->ndim, 3);
  if (outcome == BUFFER || outcome == ADDRESS)
    check_in_place (view, tensor, outcome);
  else
    check_copy (view, tensor, outcome, other);
}

static void
check_error (const GError *error,
             Outcome       outcome)
{
  static const MtlError codes[] = {
    [NEEDS_COPY] = MTL_ERROR_NEEDS_COPY,
    [NOT_SUPPORTED] = MTL_ERROR_NOT_SUPPORTED,
    [NOT_HOST_ACCESSIBLE] = MTL_ERROR_NOT_HOST_ACCESSIBLE,
  };

  g_assert_error (error, MTL_ERROR, (int) codes[outcome]);
}

static const MtlDlpackFlags copy_flags[N_COPY] = {
  MTL_DLPACK_FLAGS_NONE,
  MTL_DLPACK_FLAGS_COPY,
  MTL_DLPACK_FLAGS_NEVER_COPY,
};

/* Returns FALSE if there is no such device to export for. */
static gboolean
find_target (MtlStridedView *view,
             DLDevice        target,
             Outcome         outcome,
             MtlDevice     **device)
{
  g_autoptr (GError) error = NULL;

  *device = NULL;
  if (target.device_type == 0)
    return TRUE;

  *device = mtl_strided_view_get_device (view);
  if ((int) mtl_device_get_device_type (*device) == target.device_type
      && mtl_device_get_ordinal (*device) == target.device_id)
    return TRUE;

  *device = mtl_device_get (target.device_type, target.device_id, &error);
  if (*device != NULL)
    return TRUE;

  check_error (error, outcome);
  return FALSE;
}

static void
check_versioned (MtlStridedView *view,
                 DLDevice        target,
                 int             copy,
                 Outcome         outcome,
                 int             other)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) back = NULL;
  DLManagedTensorVersioned *managed;
  MtlDevice *device;

  if (!find_target (view, target, outcome, &device))
    return;

  managed = mtl_strided_view_to_dlpack (view, copy_flags[copy], device, &error);
  if (outcome >= NEEDS_COPY)
    {
      g_assert_null (managed);
      check_error (error, outcome);
      return;
    }

  g_assert_no_error (error);
  g_assert_cmphex (managed->flags, ==, outcome >= OWN_COPY ? DL_IS_COPIED : 0);
  check_tensor (view, &managed->dl_tensor, outcome, other);

  back = mtl_strided_view_new_take_dlpack (managed, &error);
  g_assert_no_error (error);
  if (outcome >= OWN_COPY)
    check_copied_view (view, back, outcome);
}

static void
check_legacy (MtlStridedView *view,
              DLDevice        target,
              int             copy,
              Outcome         outcome,
              int             other)
{
  g_autoptr (GError) error = NULL;
  DLManagedTensor *managed;
  MtlDevice *device;

  if (!find_target (view, target, outcome, &device))
    return;

  managed = mtl_strided_view_to_dlpack_legacy (view, copy_flags[copy], device, &error);
  if (outcome >= NEEDS_COPY)
    {
      g_assert_null (managed);
      check_error (error, outcome);
      return;
    }

  g_assert_no_error (error);
  check_tensor (view, &managed->dl_tensor, outcome, other);
  managed->deleter (managed);
}

static void
test_row (Living        *living,
          gconstpointer  data)
{
  const Row *row = data;

  for (int i = UNIFIED; i <= DISCRETE; i++)
    for (int copy = 0; copy < N_COPY; copy++)
      for (int legacy = FALSE; legacy <= TRUE; legacy++)
        {
          /* Each anew, as an export may bring it up to date. */
          g_autoptr (MtlStridedView) all = new_view (get_metal (i), row->mode);
          g_autoptr (MtlStridedView) view = slice (all, "2:7:2");
          DLDevice target = get_target (view, row->target, TWIN);

          (legacy ? check_legacy : check_versioned) (view, target, copy, row->outcomes[copy],
                                                     TWIN);
        }
}

/* Read-only memory goes out as a copy, which may be written to, unless that is forbidden:
 * consumers on Metal may write to what they alone hold. The host's identity of it stays. */
static void
test_read_only (void)
{
  static const struct
  {
    MtlDlpackFlags flags;
    MtlDeviceType device_type;
    guint64 expected;
  } requests[] = {
    { MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_UNKNOWN, DL_IS_COPIED },
    { MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_METAL, DL_IS_COPIED },
    { MTL_DLPACK_FLAGS_COPY, MTL_DEVICE_TYPE_UNKNOWN, DL_IS_COPIED },
    { MTL_DLPACK_FLAGS_NEVER_COPY, MTL_DEVICE_TYPE_UNKNOWN, DL_READ_ONLY },
    { MTL_DLPACK_FLAGS_NEVER_COPY, MTL_DEVICE_TYPE_METAL, DL_READ_ONLY },
  };

  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlStridedView) view = new_view (get_metal (DISCRETE), metal_modes[j]);
      g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (view);
      DLManagedTensorVersioned *managed;
      DLManagedTensor *legacy;
      g_autoptr (GError) local_error = NULL;

      for (gsize k = 0; k < G_N_ELEMENTS (requests); k++)
        {
          managed = mtl_strided_view_to_dlpack (read_only, requests[k].flags,
                                                mtl_device_get (requests[k].device_type, DISCRETE,
                                                                NULL), &local_error);
          g_assert_no_error (local_error);
          g_assert_cmphex (managed->flags, ==, requests[k].expected);
          managed->deleter (managed);
        }

      if (metal_modes[j] != MTL_STORAGE_MODE_PRIVATE)
        {
          managed = mtl_strided_view_to_dlpack (read_only, MTL_DLPACK_FLAGS_NONE,
                                                mtl_device_get_host (), &local_error);
          g_assert_no_error (local_error);
          g_assert_cmphex (managed->flags, ==, DL_READ_ONLY);
          managed->deleter (managed);
        }

      assert_fails (mtl_strided_view_to_dlpack_legacy (read_only, MTL_DLPACK_FLAGS_NONE,
                                                       NULL, &error), MTL_ERROR_READ_ONLY, "");
      legacy = mtl_strided_view_to_dlpack_legacy (read_only, MTL_DLPACK_FLAGS_COPY,
                                                  NULL, &local_error);
      g_assert_no_error (local_error);
      legacy->deleter (legacy);
    }
}

static void
check_purgeable (MtlStridedView *view,
                 MtlDlpackFlags  flags,
                 int             device_type,
                 int             ordinal)
{
  assert_fails (mtl_strided_view_to_dlpack (view, flags,
                                            mtl_device_get (device_type, ordinal, NULL), &error),
                MTL_ERROR_NOT_SUPPORTED, "purgeable");
  assert_fails (mtl_strided_view_to_dlpack_legacy (view, flags,
                                                   mtl_device_get (device_type, ordinal, NULL),
                                                   &error),
                MTL_ERROR_NOT_SUPPORTED, "purgeable");
}

/* A buffer that was not purgeable when it was wrapped may be when it goes out. */
static void
test_purgeable (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
    {
      g_autoptr (MtlStridedView) view = new_view (get_metal (UNIFIED), metal_modes[j]);
      gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));

      metal_fixture_set_purgeable_state (handle, PURGEABLE_VOLATILE);
      check_purgeable (view, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_UNKNOWN, 0);
      check_purgeable (view, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_METAL, UNIFIED);
      check_purgeable (view, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_CPU, 0);
      check_purgeable (view, MTL_DLPACK_FLAGS_COPY, MTL_DEVICE_TYPE_UNKNOWN, 0);
      check_purgeable (view, MTL_DLPACK_FLAGS_COPY, MTL_DEVICE_TYPE_CPU, 0);
      check_purgeable (view, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_METAL, TWIN);

      metal_fixture_set_purgeable_state (handle, PURGEABLE_NON_VOLATILE);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  for (gsize i = 0; i < G_N_ELEMENTS (matrix); i++)
    (matrix[i].target == AS_OTHER ? add_double_data_test : add_metal_data_test)
      (matrix[i].path, &matrix[i], test_row);
  add_double_test ("/MetalDlpack/read-only", test_read_only);
  add_double_test ("/MetalDlpack/purgeable", test_purgeable);

  return g_test_run ();
}
