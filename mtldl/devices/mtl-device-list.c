/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Looks up devices. */

#include "mtl-device.h"

#include <string.h>

#include "mtl-cuda-device-private.h"
#include "mtl-enum-types.h"
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

static MtlDevice *
find_metal (int ordinal)
{
  GPtrArray *devices = mtl_metal_device_get_all ();

  return devices != NULL && ordinal >= 0 && (guint) ordinal < devices->len
           ? g_ptr_array_index (devices, ordinal) : NULL;
}

static MtlDevice *
choose_default (void)
{
  const char *name = g_getenv ("MTL_DEVICE");
  g_autoptr (GError) error = NULL;
  MtlDevice *metal = mtl_metal_device_get_default ();
  MtlDevice *device = NULL;

  if (name != NULL && name[0] != '\0')
    device = mtl_device_get_by_name (name, &error);
  if (error != NULL)
    g_warning ("MTL_DEVICE is ignored: %s", error->message);
  if (device != NULL)
    return device;

  return metal != NULL ? metal : mtl_device_get_host ();
}

/**
 * mtl_device_get_default:
 *
 * Gets the device that is used if none is specified.
 *
 * This is Metal's default device if there is one, otherwise the host. The
 * environment variable `MTL_DEVICE` can have the name of another one, see
 * [func@Mtl.Device.get_by_name]. The default device exists as long as the process.
 *
 * Returns: (transfer none): the default device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_device_get_default (void)
{
  static MtlForkOnce once;
  static MtlDevice *device;

  if (mtl_fork_once_enter (&once))
    {
      device = choose_default ();
      mtl_fork_once_leave (&once);
    }

  return device;
}

/**
 * mtl_device_list:
 *
 * Lists the devices that buffers can be allocated on.
 *
 * These are the host, Metal's devices, and CUDA's devices if CUDA is in use:
 * once [func@Mtl.Device.get] was called for one of them, if `MTL_DEVICE` makes
 * one the default device, or if a tensor of another library is on one. Children
 * of a process that uses CUDA cannot use it, so the library initializes CUDA
 * only on request. The library looks up devices once, when it first needs one
 * of their kind.
 *
 * Returns: (transfer container) (element-type MtlDevice): the devices
 *
 * Since: 1.0
 */
GList *
mtl_device_list (void)
{
  GPtrArray *kinds[2];
  GList *devices = NULL;

  /* This is the first use of CUDA if the environment asks for one of its devices. */
  mtl_device_get_default ();
  kinds[0] = mtl_cuda_device_peek_all ();
  kinds[1] = mtl_metal_device_get_all ();

  for (gsize k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint i = kinds[k] != NULL ? kinds[k]->len : 0; i > 0; i--)
      if (g_ptr_array_index (kinds[k], i - 1) != NULL)
        devices = g_list_prepend (devices, g_ptr_array_index (kinds[k], i - 1));

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
 * It exists as long as the process. Devices of CUDA need nothing but NVIDIA's
 * driver, which is opened and initialized by the first call that asks for one.
 * Beside the GPUs there are %MTL_DEVICE_TYPE_CUDA_HOST and
 * %MTL_DEVICE_TYPE_CUDA_MANAGED with the ordinal 0, for pinned and managed
 * memory that all GPUs and the host can use.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @device_type is %MTL_DEVICE_TYPE_UNKNOWN
 * - %MTL_ERROR_NOT_SUPPORTED: there is no such device, or CUDA was initialized
 *   before this process was forked
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
  MtlDevice *device = NULL;

  switch (device_type)
    {
    case MTL_DEVICE_TYPE_UNKNOWN:
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Device (%d, %d) has an unknown type: choose a device type",
                   device_type, ordinal);
      return NULL;

    case MTL_DEVICE_TYPE_CPU:
      device = ordinal == 0 ? mtl_device_get_host () : NULL;
      break;

    case MTL_DEVICE_TYPE_CUDA:
    case MTL_DEVICE_TYPE_CUDA_HOST:
    case MTL_DEVICE_TYPE_CUDA_MANAGED:
      device = mtl_cuda_device_get (device_type, ordinal);
      if (device == NULL)
        mtl_cuda_device_set_missing_error (device_type, ordinal, error);
      return device;

    case MTL_DEVICE_TYPE_METAL:
      device = find_metal (ordinal);
      break;

    default:
      break;
    }

  if (device == NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "There is no device (%d, %d) here%s",
                 device_type, ordinal,
                 device_type == MTL_DEVICE_TYPE_METAL && mtl_metal_device_get_all () == NULL
                   ? ": this library was built without Metal" : "");
  return device;
}

static gboolean
is_word (const char *text,
         gsize       length,
         const char *word)
{
  return length == strlen (word) && memcmp (text, word, length) == 0;
}

/* MTL_DEVICE_TYPE_UNKNOWN if there is none */
static MtlDeviceType
find_type (const char *name,
           gsize       length)
{
  g_autoptr (GEnumClass) types = g_type_class_ref (MTL_TYPE_DEVICE_TYPE);

  if (is_word (name, length, "host"))
    return MTL_DEVICE_TYPE_CPU;

  for (guint i = 0; i < types->n_values; i++)
    if (is_word (name, length, types->values[i].value_nick))
      return types->values[i].value;

  return MTL_DEVICE_TYPE_UNKNOWN;
}

/**
 * mtl_device_get_by_name:
 * @name: the name: a kind of device and an ordinal, as in `cuda:1`
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a device by its name: `cpu` or `host`, `cuda:N`, `cuda-host`,
 * `cuda-managed` or `metal:N`. Without an ordinal it is 0.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @name is not the name of a device
 * - the errors of [func@Mtl.Device.get]
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_device_get_by_name (const char  *name,
                        GError     **error)
{
  MtlDeviceType type;
  guint64 ordinal = 0;
  gsize length;

  g_return_val_if_fail (name != NULL, NULL);

  length = strcspn (name, ":");
  type = find_type (name, length);
  if (type != MTL_DEVICE_TYPE_UNKNOWN
      && (name[length] == '\0'
          || g_ascii_string_to_unsigned (name + length + 1, 10, 0, G_MAXINT, &ordinal, NULL)))
    return mtl_device_get (type, ordinal, error);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "“%s” is not a device: use cpu, cuda:N, cuda-host, cuda-managed or metal:N", name);
  return NULL;
}
