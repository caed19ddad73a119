/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cost of an exchange of Shared memory beside one of host memory, over the double. The double
 * itself adds the time that it takes to retain and to release. */

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
         const Case *metal,
         const Case *host,
         const Case *references)
{
  g_print ("%-32s %8.2f of the host's (at most 1.3)\n", what,
           (metal->cost - references->cost) / host->cost);
}

static DLManagedTensorVersioned
describe (gpointer data,
          int      device_type)
{
  static gint64 shape[] = { 2, 3, 4 }, strides[] = { 12, 4, 1 };

  return (DLManagedTensorVersioned) {
    .version = { 1, 1 },
    .dl_tensor = { data, { device_type, 0 }, 3, { 2, 32, 1 }, shape, strides, 0 },
  };
}

enum
{
  REFERENCES,
  HOST_EXPORT,
  SHARED_EXPORT,
  HOST_IMPORT,
  SHARED_IMPORT,
};

int
main (void)
{
  const gint64 shape[] = { 2, 3, 4 };
  MtlDevice *metal = mtl_device_get (MTL_DEVICE_TYPE_METAL, 0, NULL);
  g_autoptr (MtlStridedView) host_view =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_FLOAT32, shape, 3,
                                MTL_STORAGE_MODE_DEFAULT, NULL);
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned host_tensor, tensor;
  gpointer handle;

  if (metal == NULL)
    {
      g_printerr ("There is no device of Metal: set METAL_DOUBLE=unified\n");
      return 1;
    }

  view = mtl_strided_view_new_zeros (metal, MTL_DTYPE_FLOAT32, shape, 3, MTL_STORAGE_MODE_DEFAULT,
                                     NULL);
  handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
  host_tensor = describe (mtl_strided_view_get_data (host_view), 1);
  tensor = describe (handle, 8);

  Case cases[] = {
    [REFERENCES] = { "retain + release of the double", retain_and_release, handle },
    [HOST_EXPORT] = { "host: export + deleter", export_and_delete, host_view },
    [SHARED_EXPORT] = { "Shared: export + deleter", export_and_delete, view },
    [HOST_IMPORT] = { "host: import + unref", import_and_unref, &host_tensor },
    [SHARED_IMPORT] = { "Shared: import + unref", import_and_unref, &tensor },
  };

  measure (cases, G_N_ELEMENTS (cases));
  compare ("export", &cases[SHARED_EXPORT], &cases[HOST_EXPORT], &cases[REFERENCES]);
  compare ("import", &cases[SHARED_IMPORT], &cases[HOST_IMPORT], &cases[REFERENCES]);
  return 0;
}
