/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-foreign-device-private.h"

#include "mtl-device-private.h"
#include "mtl-dlpack-abi-private.h"
#include "mtl-error.h"

/* The device of imported memory that this library has no backend for. It
 * allocates nothing, and only uses memory that the host can access. */
struct _MtlForeignDevice
{
  MtlDevice parent_instance;
};

G_DEFINE_FINAL_TYPE (MtlForeignDevice, mtl_foreign_device, MTL_TYPE_DEVICE)

static gpointer
mtl_foreign_device_contents (MtlDevice      *device,
                             gpointer        handle,
                             MtlStorageMode  mode)
{
  return mtl_device_is_host_accessible (device) ? handle : NULL;
}

static gboolean
mtl_foreign_device_synchronize (MtlDevice     *device,
                                GCancellable  *cancellable,
                                GError       **error)
{
  if (mtl_device_is_host_accessible (device))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "“%s” has no backend in this library: its work cannot be waited for",
               mtl_device_get_name (device));
  return FALSE;
}

static void
mtl_foreign_device_class_init (MtlForeignDeviceClass *klass)
{
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  device_class->contents = mtl_foreign_device_contents;
  device_class->synchronize = mtl_foreign_device_synchronize;
}

static void
mtl_foreign_device_init (MtlForeignDevice *self)
{
}

MtlDevice *
mtl_foreign_device_new (gint32 device_type,
                        gint32 device_ordinal)
{
  g_autofree char *name = g_strdup_printf ("Foreign device (%d, %d)", device_type, device_ordinal);

  return g_object_new (MTL_TYPE_FOREIGN_DEVICE,
                       "device-type", mtl_device_type_from_number (device_type),
                       "ordinal", device_ordinal,
                       "name", name,
                       "host-accessible", mtl_dl_device_is_host_accessible (device_type),
                       NULL);
}
