/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-failures.h"

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

static gboolean
export (Stage           *stage,
        BufferName       name,
        MtlDlpackFlags   flags,
        MtlDeviceType    device_type,
        GError         **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, name);

  stage->tensor = mtl_strided_view_to_dlpack (view, flags, mtl_device_get (device_type, 0, NULL),
                                              error);
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
                                                    MTL_STORAGE_MODE_HOST, NULL, error),
                        get_elements (stage, PRIVATE, elements), 6);
}

static gboolean
view_to_private (Stage   *stage,
                 GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, HOST);
  guint8 elements[6];

  return stage_made (stage, mtl_strided_view_to_device (view, stage->device,
                                                        MTL_STORAGE_MODE_PRIVATE, NULL, error),
                     get_elements (stage, HOST, elements), 6);
}

static gboolean
view_across_devices (Stage   *stage,
                     GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, ELSEWHERE);
  guint8 elements[6];

  return stage_made (stage, mtl_strided_view_to_device (view, stage->device,
                                                        MTL_STORAGE_MODE_MANAGED, NULL, error),
                     get_elements (stage, ELSEWHERE, elements), 6);
}

static gboolean
view_copy (Stage   *stage,
           GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, PRIVATE);
  guint8 elements[6];

  return stage_made (stage, mtl_strided_view_copy (view, MTL_ORDER_C, NULL, error),
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
  return stage_made (stage, mtl_strided_view_to_dtype (view, MTL_DTYPE_INT32, MTL_ORDER_C,
                                                       NULL, error),
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
  return mtl_strided_view_copy_from (view, source, NULL, error);
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
  return mtl_strided_view_fill_double (view, 257, NULL, error);
}

static gboolean
view_equal (Stage   *stage,
            GError **error)
{
  g_autoptr (MtlStridedView) view = view_buffer (stage, PRIVATE);
  g_autoptr (MtlStridedView) same = view_buffer (stage, PRIVATE);

  return mtl_strided_view_array_equal (view, same, MTL_COMPARE_FLAGS_NONE, NULL, error);
}

static gboolean
view_zeros (Stage   *stage,
            GError **error)
{
  return stage_made (stage, mtl_strided_view_new_zeros (stage->device, MTL_DTYPE_INT16, DIMS (3),
                                                        MTL_STORAGE_MODE_DEFAULT, error),
                     ((const guint8[6]) { 0 }), 6);
}

static const Scenario scenarios[] = {
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

/* The text of a view says that it cannot be read. */
static void
test_format (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) zeros_on_host = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autofree char *text = NULL;

  zeros_on_host = mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_INT16, DIMS (3),
                                              MTL_STORAGE_MODE_DEFAULT, &error);
  view = mtl_strided_view_to_device (zeros_on_host, get_metal (UNIFIED), MTL_STORAGE_MODE_PRIVATE,
                                     NULL, &error);
  g_assert_no_error (error);
  metal_double_fail_at (1);
  text = mtl_strided_view_format (view, 100);
  metal_double_fail_at (0);
  g_assert_cmpstr (text, ==, "<int16 (3,) on device (8, 0)>");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_scenarios ("/MetalFailures/views", scenarios, G_N_ELEMENTS (scenarios));
  add_metal_test ("/MetalFailures/views/format", test_format);

  return g_test_run ();
}
