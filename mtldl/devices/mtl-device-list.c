/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Looks up devices. */

#include "mtl-device.h"

#include "mtl-error.h"
#include "mtl-fork-private.h"
#include "mtl-host-device-private.h"
#include "mtl-metal-device-private.h"

/**
 * mtl_device_get_host:
 *
 * Gets the host device.
 *
 * It exists as long as the process.
 *
 * Returns: (transfer none): the host device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_device_get_host (void)
{
  static MtlForkOnce once;
  static MtlDevice *host;

  if (mtl_fork_once_enter (&once))
    {
      host = mtl_host_device_new ();
      mtl_fork_once_leave (&once);
    }

  return host;
}

/**
 * mtl_device_get_default:
 *
 * Gets the device that is used if none is specified.
 *
 * This is Metal's default device if there is one, otherwise the host. It exists
 * as long as the process.
 *
 * Returns: (transfer none): the default device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_device_get_default (void)
{
  MtlDevice *metal = mtl_metal_device_get_default ();

  return metal != NULL ? metal : mtl_device_get_host ();
}

/**
 * mtl_device_list:
 *
 * Lists the devices that buffers can be allocated on.
 *
 * These are the host and Metal's devices. The library looks up Metal's devices
 * once, when it first needs one.
 *
 * Returns: (transfer container) (element-type MtlDevice): the devices
 *
 * Since: 1.0
 */
GList *
mtl_device_list (void)
{
  GPtrArray *metal = mtl_metal_device_get_all ();
  GList *devices = NULL;

  for (guint i = metal != NULL ? metal->len : 0; i > 0; i--)
    devices = g_list_prepend (devices, g_ptr_array_index (metal, i - 1));

  return g_list_prepend (devices, mtl_device_get_host ());
}

/**
 * mtl_device_get:
 * @device_type: the kind of device, which is not %MTL_DEVICE_TYPE_UNKNOWN
 * @ordinal: the number of the device among those of its kind
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a device that buffers can be allocated on.
 *
 * It exists as long as the process.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @device_type is %MTL_DEVICE_TYPE_UNKNOWN
 * - %MTL_ERROR_NOT_SUPPORTED: there is no such device
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_device_get (MtlDeviceType   device_type,
                int             ordinal,
                GError        **error)
{
  g_autoptr (GList) devices = NULL;

  if (device_type == MTL_DEVICE_TYPE_UNKNOWN)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Device (%d, %d) has an unknown type: choose a device type",
                   device_type, ordinal);
      return NULL;
    }

  devices = mtl_device_list ();
  for (GList *l = devices; l != NULL; l = l->next)
    if (mtl_device_get_device_type (l->data) == device_type
        && mtl_device_get_ordinal (l->data) == ordinal)
      return l->data;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "There is no device (%d, %d) here%s",
               device_type, ordinal,
               device_type == MTL_DEVICE_TYPE_METAL && mtl_metal_device_get_all () == NULL
                 ? ": this library was built without Metal" : "");
  return NULL;
}
