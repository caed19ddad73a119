/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-foreign-device-private.h"

#include <string.h>

#include "mtl-buffer.h"
#include "mtl-device-private.h"
#include "mtl-dlpack-abi-private.h"
#include "mtl-error.h"

/* The device of imported memory that this library has no backend for: it
 * allocates nothing, and touches memory only where the host can. */
struct _MtlForeignDevice
{
  MtlDevice parent_instance;
};

G_DEFINE_FINAL_TYPE (MtlForeignDevice, mtl_foreign_device, MTL_TYPE_DEVICE)

static gboolean
mtl_foreign_device_supports_storage_mode (MtlDevice      *device,
                                          MtlStorageMode  mode)
{
  return FALSE;
}

static gpointer
mtl_foreign_device_allocate (MtlDevice       *device,
                             gsize            size,
                             MtlStorageMode   mode,
                             gboolean         zeroed,
                             GError         **error)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "“%s” has no backend here: it cannot allocate %" G_GSIZE_FORMAT " bytes",
               mtl_device_get_name (device), size);
  return NULL;
}

static void
mtl_foreign_device_free (MtlDevice      *device,
                         gpointer        handle,
                         MtlStorageMode  mode)
{
}

static gpointer
mtl_foreign_device_contents (MtlDevice      *device,
                             gpointer        handle,
                             MtlStorageMode  mode)
{
  return mtl_device_is_host_accessible (device) ? handle : NULL;
}

static void
mtl_foreign_device_class_init (MtlForeignDeviceClass *klass)
{
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  device_class->supports_storage_mode = mtl_foreign_device_supports_storage_mode;
  device_class->allocate = mtl_foreign_device_allocate;
  device_class->free = mtl_foreign_device_free;
  device_class->contents = mtl_foreign_device_contents;
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
                       "device-ordinal", device_ordinal,
                       "name", name,
                       "host-accessible", mtl_dl_device_is_host_accessible (device_type),
                       NULL);
}
