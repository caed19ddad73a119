/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an exchange of Shared memory costs beside one of host memory, over the
 * double. What may come on top is what the double itself takes to retain and
 * to release. */

#include "bench.h"

#include "metal-fixture.h"

static void
retain_and_release (gpointer buffer)
{
  metal_fixture_retain (buffer);
  metal_fixture_release (buffer);
}

static void
compare (const char *what,
         double      metal,
         double      host,
         double      references)
{
  g_print ("%-32s %8.2f of the host's %s\n", what, (metal - references) / host,
           "(at most 1.3)");
}

int
main (void)
{
  const gint64 shape[] = { 2, 3, 4 };
  gint64 strides[] = { 12, 4, 1 };
  float data[24] = { 0 };
  g_autoptr (MtlDevice) metal = mtl_device_get (MTL_DEVICE_TYPE_METAL, 0, NULL);
  g_autoptr (MtlStridedView) host_view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT32, shape, 3, NULL);
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned tensor = {
    .version = { 1, 1 },
    .dl_tensor = { data, { 1, 0 }, 3, { 2, 32, 1 }, (gint64 *) shape, strides, 0 },
  };
  double references, host_export, host_import, metal_export, metal_import;
  gpointer handle;

  if (metal == NULL)
    {
      g_printerr ("There is no device of Metal: set METAL_DOUBLE=unified\n");
      return 1;
    }

  view = mtl_strided_view_new_zeros (metal, MTL_DTYPE_FLOAT32, shape, 3, NULL);
  handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
  references = report ("retain + release of the double", retain_and_release, handle);
  host_export = report ("host: export + deleter", export_and_delete, host_view);
  metal_export = report ("Shared: export + deleter", export_and_delete, view);
  host_import = report ("host: import + unref", import_and_unref, &tensor);

  tensor.dl_tensor.data = handle;
  tensor.dl_tensor.device.device_type = MTL_DEVICE_TYPE_METAL;
  metal_import = report ("Shared: import + unref", import_and_unref, &tensor);

  compare ("export", metal_export, host_export, references);
  compare ("import", metal_import, host_import, references);
  return 0;
}
