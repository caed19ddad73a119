/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cost of an exchange in C. */

#include "bench.h"

static void
export_legacy_and_delete (gpointer data)
{
  DLManagedTensor *managed =
    mtl_strided_view_to_dlpack_legacy (data, MTL_DLPACK_FLAGS_NONE, NULL, NULL);

  managed->deleter (managed);
}

static void
permute_and_unref (gpointer data)
{
  const int axes[] = { 2, 0, 1 };

  g_object_unref (mtl_strided_view_permute (data, axes, 3, NULL));
}

static void
new_object (gpointer data)
{
  g_object_unref (g_object_new (G_TYPE_OBJECT, NULL));
}

int
main (void)
{
  const gint64 shape[] = { 2, 3, 4 };
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, shape, 3, MTL_STORAGE_MODE_DEFAULT, NULL);
  float data[24] = { 0 };
  gint64 strides[] = { 12, 4, 1 };
  DLManagedTensorVersioned foreign = {
    .version = { 1, 1 },
    .dl_tensor = { data, { 1, 0 }, 3, { 2, 32, 1 }, (int64_t *) shape, (int64_t *) strides, 0 },
  };
  Case cases[] = {
    { "a bare GObject, new + unref", new_object, NULL },
    { "export + deleter", export_and_delete, view },
    { "export, legacy + deleter", export_legacy_and_delete, view },
    { "import + unref", import_and_unref, &foreign },
    { "permute + unref", permute_and_unref, view },
  };

  measure (cases, G_N_ELEMENTS (cases));
  return 0;
}
