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

gboolean
mtl_metal_device_inspect_buffer (gpointer          handle,
                                 MtlError          wrong_object,
                                 MtlMetalBuffer   *buffer,
                                 GError          **error)
{
  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "This library was built without Metal");
  return FALSE;
}
