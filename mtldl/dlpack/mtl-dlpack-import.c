/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-dlpack-private.h"

#include "mtl-error.h"
#include "mtl-strided-view-private.h"

/* The device and the size are those of the MTLBuffer, as other libraries number
 * devices in different ways. */
static MtlStridedView *
import_metal (const DLTensor        *tensor,
              MtlTensorDescription  *description,
              gboolean               read_only,
              gpointer               owner,
              GDestroyNotify         destroy,
              GError               **error)
{
  gsize end = tensor->byte_offset + description->end;
  MtlMemory *memory = mtl_memory_new_imported_metal (tensor->data, end, read_only, owner, destroy,
                                                     error);

  if (memory == NULL)
    {
      mtl_layout_clear (&description->layout);
      return NULL;
    }

  return mtl_strided_view_new_take (memory, tensor->byte_offset, description->type,
                                    &description->layout);
}

/* The driver says where the memory is, as libraries name its device in different ways. */
static MtlStridedView *
import_cuda (const DLTensor        *tensor,
             MtlTensorDescription  *description,
             gboolean               read_only,
             gpointer               owner,
             GDestroyNotify         destroy,
             GError               **error)
{
  gsize size = description->end - description->first;
  guint8 *address = NULL;
  MtlMemory *memory;

  if (size > 0)
    address = (guint8 *) tensor->data + tensor->byte_offset + description->first;
  memory = mtl_memory_new_imported_cuda (tensor->device.device_type, tensor->device.device_id,
                                         address, size, read_only, owner, destroy, error);
  if (memory == NULL)
    {
      mtl_layout_clear (&description->layout);
      return NULL;
    }

  return mtl_strided_view_new_take (memory, -(guint64) description->first, description->type,
                                    &description->layout);
}

static MtlStridedView *
import_tensor (const DLTensor  *tensor,
               guint64          flags,
               gpointer         owner,
               GDestroyNotify   destroy,
               GError         **error)
{
  const DLDevice *device = &tensor->device;
  gboolean read_only = (flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  MtlTensorDescription description;
  guint8 *data = tensor->data;
  MtlMemory *memory;
  gint64 first, end;
  gsize byte_offset;

  if (!mtl_dl_tensor_describe (tensor, flags, &description, error))
    return NULL;

  first = description.first;
  end = description.end;
  if (mtl_memory_imports_cuda (device->device_type))
    return import_cuda (tensor, &description, read_only, owner, destroy, error);
  if (first < end && device->device_type == MTL_DEVICE_TYPE_METAL && mtl_memory_imports_metal ())
    return import_metal (tensor, &description, read_only, owner, destroy, error);

  /* DLPack does not contain the size of the memory. On the host it is the range
   * of the elements. The handle of a device is kept unless elements lie below
   * it. */
  if (mtl_dl_device_is_host_accessible (device->device_type))
    {
      data = first < end ? data + tensor->byte_offset + first : NULL;
      byte_offset = -(guint64) first;
      memory = mtl_memory_new_imported (device->device_type, device->device_id, data, end - first,
                                        TRUE, read_only, owner, destroy);
    }
  else
    {
      byte_offset = first < end ? tensor->byte_offset : 0;
      if (first < -(gint64) byte_offset) /* below an address: the memory begins there */
        {
          data -= -(guint64) first - byte_offset;
          byte_offset = -(guint64) first;
        }
      memory = mtl_memory_new_imported (device->device_type, device->device_id, data,
                                        byte_offset + end, FALSE, read_only, owner, destroy);
    }

  return mtl_strided_view_new_take (memory, byte_offset, description.type, &description.layout);
}

/* Does not free the tensor on failure. If the major version differs, only the deleter may be
 * used. */
static MtlStridedView *
import_versioned (DLManagedTensorVersioned  *managed,
                  GError                   **error)
{
  if (managed->version.major == DLPACK_MAJOR_VERSION)
    return import_tensor (&managed->dl_tensor, managed->flags, managed,
                          (GDestroyNotify) mtl_dl_managed_tensor_versioned_free, error);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A DLPack tensor of version %u.%u is not supported: only version %u is",
               managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
  return NULL;
}

/**
 * mtl_strided_view_new_from_dlpack: (constructor)
 * @tensor: a tensor in transit
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a tensor from another library, without a copy.
 *
 * The view keeps the memory alive.
 *
 * Errors:
 *
 * - %MTL_ERROR_CONSUMED: @tensor has already been consumed
 * - %MTL_ERROR_NOT_SUPPORTED: the memory has become purgeable; @tensor can be
 *   used again
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_dlpack (MtlDlpackTensor  *tensor,
                                  GError          **error)
{
  DLManagedTensorVersioned *managed;
  MtlStridedView *self;

  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (tensor), NULL);

  managed = mtl_dlpack_tensor_take (tensor, error);
  if (managed == NULL)
    return NULL;

  self = import_versioned (managed, error);
  if (self == NULL)
    mtl_dlpack_tensor_give_back (tensor, managed);

  return self;
}

/**
 * mtl_strided_view_new_take_dlpack: (skip)
 * @managed: (transfer full): a managed tensor, taken even on failure
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a tensor from another library, without a copy.
 *
 * A Metal tensor is wrapped with its `id<MTLBuffer>`, which determines the
 * device and the storage mode. If the host is to read the memory, the GPU work
 * that the producer submitted must be finished.
 *
 * A CUDA tensor is in the memory that the driver finds at its address. The
 * library's stream waits for the stream that the thread has pushed,
 * [method@Mtl.Stream.push_thread_default]. Without one, the work that the producer
 * submitted must be finished.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_DATA: the tensor is malformed, or it is not within an
 *   allocation of CUDA
 * - %MTL_ERROR_OVERFLOW: the elements are not within the address space
 * - %MTL_ERROR_NOT_SUPPORTED: the major version of DLPack is not 1, the memory is
 *   purgeable, or the device cannot be used in this process
 * - %MTL_ERROR_DEVICE: the device failed
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_take_dlpack (struct DLManagedTensorVersioned  *managed,
                                  GError                          **error)
{
  MtlStridedView *self;

  g_return_val_if_fail (managed != NULL, NULL);

  self = import_versioned (managed, error);
  if (self == NULL)
    mtl_dl_managed_tensor_versioned_free (managed);

  return self;
}

/**
 * mtl_strided_view_new_take_dlpack_legacy: (skip)
 * @managed: (transfer full): a managed tensor, taken even on failure
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a tensor from another library, without a copy.
 *
 * A legacy tensor has no read-only flag, so the view can be written to. If the
 * memory must not be written, see [method@Mtl.StridedView.as_read_only].
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.StridedView.new_take_dlpack]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_take_dlpack_legacy (struct DLManagedTensor  *managed,
                                         GError                 **error)
{
  MtlStridedView *self;

  g_return_val_if_fail (managed != NULL, NULL);

  self = import_tensor (&managed->dl_tensor, 0, managed,
                        (GDestroyNotify) mtl_dl_managed_tensor_free, error);
  if (self == NULL)
    mtl_dl_managed_tensor_free (managed);

  return self;
}

/**
 * mtl_dlpack_validate: (skip)
 * @dl_tensor: (type gpointer): a DLPack `DLTensor`
 * @error: return location for a [error@Mtl.Error]
 *
 * Checks whether a tensor from another library is valid.
 *
 * This checks the number of dimensions, the extents, the element type, that
 * there is data if there are elements, and that no product or sum overflows.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_DATA: the tensor is malformed
 * - %MTL_ERROR_OVERFLOW: a product or a sum overflows
 *
 * Returns: whether the tensor is valid
 *
 * Since: 1.0
 */
gboolean
mtl_dlpack_validate (gconstpointer   dl_tensor,
                     GError        **error)
{
  MtlTensorDescription description;

  g_return_val_if_fail (dl_tensor != NULL, FALSE);

  if (!mtl_dl_tensor_describe (dl_tensor, 0, &description, error))
    return FALSE;

  mtl_layout_clear (&description.layout);
  return TRUE;
}
