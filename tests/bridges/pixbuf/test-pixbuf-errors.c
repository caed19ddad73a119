/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include <mtldl/mtldl-dlpack.h>
#include "test-pixbuf-utils.h"

static void
assert_refused (MtlStridedView *view,
                MtlError        code,
                const char     *values)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (mtl_pixbuf_pixbuf_from_view (view, &error));
  g_assert_error (error, MTL_ERROR, (int) code);
  g_test_message ("%s", error->message);
  assert_says (error->message, values);
  g_assert_cmpuint (G_OBJECT (view)->ref_count, ==, 1);
}

static void
test_new_from_view_needs_copy (void)
{
  static const struct
  {
    const char *slice;
    const char *values;
  } cases[] = {
    { "::-1", "(-28, 4, 1)" },
    { ":, ::-1", "(28, -4, 1)" },
    { "::-1, ::-1", "(-28, -4, 1)" },
    { ":, ::2", "(28, 8, 1) & 4 & 8" },
    { "..., ::-1", "(28, 4, -1)" },
    { "..., :3", "(28, 4, 1) & 3 & 4" },
    { ":, 0:1, ::-1", "(28, 4, -1)" },
  };
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7, 4));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) part = slice (view, cases[i].slice);
      g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (part, MTL_ORDER_C, NULL, &error);
      g_autoptr (GdkPixbuf) pixbuf = NULL;

      assert_refused (part, MTL_ERROR_NEEDS_COPY, cases[i].values);
      g_assert_no_error (error);
      pixbuf = get_picture (copy);
      assert_same_samples (pixbuf, part);
    }
}

static void
test_new_from_view_overlapping_rows (void)
{
  static const gint64 shape[] = { 6, 7, 4 };
  static const gint64 strides[][3] = { { 27, 4, 1 }, { 0, 4, 1 }, { 28, 0, 1 }, { 28, 4, 0 },
                                       { 4, 24, 1 }, { 28, 3, 1 } };
  static const char *const reasons[] = {
    "28 & 27",
    "28 & 0",
    "4 & 0",
    "0",
    "4 & 24", /* another orientation */
    "4 & 3",
  };
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (6 * 7 * 4), 6 * 7 * 4);

  for (guint i = 0; i < G_N_ELEMENTS (strides); i++)
    {
      g_autofree char *string = g_strdup_printf ("(%d, %d, %d)", (int) strides[i][0],
                                                 (int) strides[i][1], (int) strides[i][2]);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, shape, 3,
                                                           strides[i], 3, &error);

      g_assert_no_error (error);
      assert_refused (view, MTL_ERROR_NEEDS_COPY, string);
      assert_refused (view, MTL_ERROR_NEEDS_COPY, reasons[i]);
    }
}

/* Planes of one channel each, and rows that lie too far apart. */
static void
test_new_from_view_planes (void)
{
  static const int axes[] = { 1, 2, 0 };
  g_autoptr (MtlStridedView) planes = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 6, 7));
  g_autoptr (MtlStridedView) view = NULL, copy = NULL;
  g_autoptr (GdkPixbuf) pixbuf = NULL;
  g_autoptr (GError) error = NULL;

  view = mtl_strided_view_permute (planes, axes, 3, &error);
  g_assert_no_error (error);
  assert_refused (view, MTL_ERROR_NEEDS_COPY, "42");
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  pixbuf = get_picture (copy);
  assert_same_samples (pixbuf, view);
}

static void
test_new_from_view_distant_rows (void)
{
  static const gint64 shape[] = { 2, 1, 3 };
  static const gint64 strides[] = { (gint64) G_MAXINT + 1, 3, 1 };
  const gsize size = (gsize) G_MAXINT + 4;
  gpointer memory = mmap (NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (memory == MAP_FAILED)
    {
      g_test_skip ("2 & GiB");
      return;
    }

  bytes = g_bytes_new_static (memory, size);
  {
    g_autoptr (MtlStridedView) view =
      mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, shape, 3, strides,
                                                         3, &error);

    g_assert_no_error (error);
    assert_refused (view, MTL_ERROR_NEEDS_COPY, "2147483648");
  }
  munmap (memory, size);
}

static void
test_new_from_view_invalid (void)
{
  static const struct
  {
    MtlDType dtype;
    gsize n_dims;
    gint64 shape[4];
    const char *value;
  } cases[] = {
    { MTL_DTYPE_INT8, 3, { 2, 2, 3 }, "uint8 & int8" },
    { MTL_DTYPE_FLOAT32, 3, { 2, 2, 3 }, "uint8 & float32" },
    { MTL_DTYPE_UINT8, 2, { 2, 3 }, "3 & 2" },
    { MTL_DTYPE_UINT8, 2, { 2, 3 }, "3 & 2" },
    { MTL_DTYPE_UINT8, 3, { 2, 3, 1 }, "3 & 4 & 1" },
    { MTL_DTYPE_UINT8, 4, { 1, 2, 2, 3 }, "3 & 4" },
    { MTL_DTYPE_UINT8, 0, { 0 }, "3 & 0" },
    { MTL_DTYPE_UINT8, 3, { 2, 2, 1 }, "3 & 4 & 1" },
    { MTL_DTYPE_UINT8, 3, { 2, 2, 2 }, "3 & 4 & 2" },
    { MTL_DTYPE_UINT8, 3, { 2, 2, 5 }, "3 & 4 & 5" },
    { MTL_DTYPE_UINT8, 3, { 2, 2, 0 }, "3 & 4 & 0" },
    { MTL_DTYPE_UINT8, 3, { 0, 2, 3 }, "0 & 2" },
    { MTL_DTYPE_UINT8, 3, { 2, 0, 4 }, "2 & 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_zeros (NULL, cases[i].dtype, cases[i].shape, cases[i].n_dims,
                                    MTL_STORAGE_MODE_DEFAULT, &error);

      g_assert_no_error (error);
      assert_refused (view, MTL_ERROR_INVALID_ARGUMENT, cases[i].value);
    }
}

/* A tensor as another library hands it out. */
static MtlStridedView *
import_new (gpointer data,
            int      device_type,
            guint16  lanes)
{
  static gint64 shape[] = { 1, 2, 3 };
  static DLManagedTensor managed;
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  managed.dl_tensor.data = data;
  managed.dl_tensor.device = (DLDevice) { .device_type = device_type, .device_id = 5 };
  managed.dl_tensor.ndim = 3;
  managed.dl_tensor.dtype = (DLDataType) { .code = 1, .bits = 8, .lanes = lanes };
  managed.dl_tensor.shape = shape;
  view = mtl_strided_view_new_take_dlpack_legacy (&managed, &error);
  g_assert_no_error (error);
  return view;
}

static void
test_new_from_view_foreign (void)
{
  guint8 data[6] = { 0 };
  g_autoptr (MtlStridedView) view = import_new (data, MTL_DEVICE_TYPE_ROCM, 1);

  assert_refused (view, MTL_ERROR_NOT_HOST_ACCESSIBLE, "(10, 5)");
}

static void
test_new_from_view_lanes (void)
{
  guint8 data[24] = { 0 };
  g_autoptr (MtlStridedView) view = import_new (data, MTL_DEVICE_TYPE_CPU, 4);

  assert_refused (view, MTL_ERROR_INVALID_ARGUMENT, "1 & 4");
}

static void
test_new_from_view_huge (void)
{
  static const struct
  {
    gint64 shape[3];
    gint64 rowstride;
    int code;
    const char *value;
  } cases[] = {
    { { 30000, 30000, 3 }, 90000, MTL_ERROR_OVERFLOW, "2700000000" },
    { { 2, 3, 3 }, G_MAXINT, MTL_ERROR_OVERFLOW, "2147483656" },
    { { 2, 3, 3 }, G_MAXINT + (gint64) 1, MTL_ERROR_NEEDS_COPY, "2147483648" },
    { { 1, 1000000000, 4 }, 4000000000, MTL_ERROR_OVERFLOW, "1000000000" },
    { { 1, 536870911, 4 }, 4000000000, -1, NULL },
  };
  gpointer data = huge_new ();

  for (guint read_only = 0; read_only < 2; read_only++)
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      {
        const gint64 strides[] = { cases[i].rowstride, cases[i].shape[2], 1 };
        g_autoptr (GError) error = NULL;
        g_autoptr (MtlBuffer) buffer =
          mtl_buffer_new_for_data (data, HUGE_SIZE, mtl_device_get_host (),
                                   read_only ? MTL_BUFFER_FLAGS_READ_ONLY : MTL_BUFFER_FLAGS_NONE,
                                   NULL, NULL, &error);
        g_autoptr (MtlStridedLayout) layout =
          mtl_strided_layout_new (cases[i].shape, 3, strides, 3, 8, &error);
        g_autoptr (MtlStridedView) view =
          mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error);

        g_assert_no_error (error);
        if (cases[i].code >= 0)
          {
            assert_refused (view, cases[i].code, cases[i].value);
          }
        else
          {
            g_autoptr (GdkPixbuf) pixbuf = get_picture (view);

            g_assert_true (gdk_pixbuf_read_pixels (pixbuf) == data);
          }
      }

  munmap (data, HUGE_SIZE);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/pixbuf/new-from-view/needs-copy", test_new_from_view_needs_copy);
  g_test_add_func ("/pixbuf/new-from-view/overlapping-rows", test_new_from_view_overlapping_rows);
  g_test_add_func ("/pixbuf/new-from-view/planes", test_new_from_view_planes);
  g_test_add_func ("/pixbuf/new-from-view/distant-rows", test_new_from_view_distant_rows);
  g_test_add_func ("/pixbuf/new-from-view/invalid", test_new_from_view_invalid);
  g_test_add_func ("/pixbuf/new-from-view/foreign", test_new_from_view_foreign);
  g_test_add_func ("/pixbuf/new-from-view/lanes", test_new_from_view_lanes);
  g_test_add_func ("/pixbuf/new-from-view/huge", test_new_from_view_huge);

  return g_test_run ();
}
