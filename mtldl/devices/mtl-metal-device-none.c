/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Replaces the Metal device in builds without Metal. */

#include "mtl-metal-device-private.h"

#include "mtl-error.h"

GPtrArray *
mtl_metal_device_get_all (void)
{
  return NULL;
}

MtlDevice *
mtl_metal_device_get_default (void)
{
  return NULL;
}

static gboolean
set_not_built (GError **error)
{
  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "This library was built without Metal");
  return FALSE;
}

gboolean
mtl_metal_device_inspect_buffer (gpointer          handle,
                                 MtlError          wrong_object,
                                 MtlMetalBuffer   *buffer,
                                 GError          **error)
{
  return set_not_built (error);
}

guint
mtl_metal_device_get_tensor_system (MtlDevice       *device,
                                    MtlStorageMode   mode,
                                    GError         **error)
{
  return set_not_built (error);
}

gboolean
mtl_metal_device_inspect_tensor (gpointer          tensor,
                                 MtlMetalTensor   *description,
                                 gpointer         *buffer,
                                 GError          **error)
{
  return set_not_built (error);
}

/* No tensor can be created or held here. */

gpointer
mtl_metal_device_new_tensor (MtlDevice             *device,
                             gpointer               handle,
                             const MtlMetalTensor  *description,
                             MtlMetalTensorUsage    usage,
                             GError               **error)
{
  g_return_val_if_reached (NULL);
}

void
mtl_metal_device_retain_tensor (gpointer tensor)
{
  g_return_if_reached ();
}

void
mtl_metal_device_release_tensor (gpointer tensor)
{
  g_return_if_reached ();
}
