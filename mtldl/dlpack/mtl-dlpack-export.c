/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-dlpack-private.h"

#include "mtl-cuda-device-private.h"
#include "mtl-device-private.h"
#include "mtl-error-private.h"
#include "mtl-strided-view-private.h"

/* Shape and strides follow the struct, so that an export is one allocation.
 * Exports do not share them, as some consumers write to them. */
typedef struct
{
  DLManagedTensorVersioned managed;
  gint64 dims[];
} VersionedExport;

typedef struct
{
  DLManagedTensor managed;
  gint64 dims[];
} LegacyExport;

/* Deleters may run on any thread, and only touch C and GObject state. */
static void
delete_versioned (DLManagedTensorVersioned *managed)
{
  mtl_memory_unref (managed->manager_ctx);
  g_free (managed);
}

static void
delete_legacy (DLManagedTensor *managed)
{
  mtl_memory_unref (managed->manager_ctx);
  g_free (managed);
}

static gboolean
is_host (MtlDevice *device)
{
  return device != NULL && mtl_device_get_device_type (device) == MTL_DEVICE_TYPE_CPU;
}

/* Leaves out memory without a backend for Metal, which can only be exported in place. */
static gboolean
is_for_metal (MtlStridedView *self,
              MtlDevice      *device)
{
  return self->memory->device_type == MTL_DEVICE_TYPE_METAL
         && self->memory->storage_mode != MTL_STORAGE_MODE_FOREIGN && !is_host (device);
}

/* Metal's kernels access elements at multiples of their size only, with all of their lanes. PyTorch
 * raises, MLX does not check. */
static gboolean
is_misaligned (MtlStridedView *self,
               gint64          first_byte)
{
  guint bits = mtl_element_type_get_item_bits (self->type);

  return bits % 8 == 0 && !mtl_layout_is_empty (&self->layout)
         && (self->byte_offset + first_byte) % (bits / 8) != 0;
}

/* Returns why a layout cannot be exported as it is, or NULL. */
static const char *
find_obstacle (MtlStridedView *self,
               MtlDlpackFlags  flags,
               MtlDevice      *device)
{
  gint64 byte;
  guint bit;

  if (!(flags & MTL_DLPACK_FLAGS_NEGATIVE_STRIDES)
      && mtl_layout_has_negative_strides (&self->layout))
    return "has negative strides, which few consumers accept";

  mtl_layout_get_first_byte (&self->layout, &byte, &bit);
  if (bit != 0)
    return "begins within a byte, which DLPack cannot express";

  return is_for_metal (self, device) && is_misaligned (self, byte)
           ? "does not begin at a multiple of the itemsize, as Metal requires" : NULL;
}

/* Imported memory may be of a device that was never looked up. */
static gboolean
is_own_device (MtlStridedView *self,
               MtlDevice      *device)
{
  return device == NULL
         || ((gint32) mtl_device_get_device_type (device) == self->memory->device_type
             && mtl_device_get_ordinal (device) == self->memory->device_ordinal);
}

static gboolean
is_gpu_of_cuda (MtlDevice *device)
{
  return device != NULL && mtl_device_get_device_type (device) == MTL_DEVICE_TYPE_CUDA;
}

/* All GPUs of CUDA reach its pinned and managed memory. */
static gboolean
is_for_all_gpus (MtlStridedView *self)
{
  return (self->memory->device_type == MTL_DEVICE_TYPE_CUDA_HOST
          || self->memory->device_type == MTL_DEVICE_TYPE_CUDA_MANAGED)
         && self->memory->storage_mode != MTL_STORAGE_MODE_FOREIGN;
}

/* Memory that a device shares with the host can be exported as either's. */
static gboolean
goes_out_in_place (MtlStridedView *self,
                   MtlDevice      *device)
{
  return is_own_device (self, device)
         || (is_host (device) && mtl_strided_view_is_host_accessible (self))
         || (is_gpu_of_cuda (device) && is_for_all_gpus (self));
}

/* MLX writes results into the memory of arrays without other references, even if it is read-only.
 * A caller that forbids copies accepts that. */
static gboolean
is_at_risk (MtlStridedView *self,
            MtlDlpackFlags  flags,
            MtlDevice      *device)
{
  return self->read_only && !(flags & MTL_DLPACK_FLAGS_NEVER_COPY)
         && is_for_metal (self, device);
}

static gboolean
check_can_copy_to (MtlStridedView  *self,
                   MtlDevice       *device,
                   GError         **error)
{
  MtlDevice *own = mtl_strided_view_get_device (self);

  if ((mtl_strided_view_is_host_accessible (self) || MTL_DEVICE_GET_CLASS (own)->copy != NULL)
      && mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_DEFAULT))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Memory of device (%d, %d) cannot be exported as memory of device (%d, %d)",
               self->memory->device_type, self->memory->device_ordinal,
               mtl_device_get_device_type (device), mtl_device_get_ordinal (device));
  return FALSE;
}

static gboolean
check_legacy (MtlStridedView  *self,
              GError         **error)
{
  if (self->read_only)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                   "A read-only view cannot be exported in the legacy form, which has no"
                   " read-only flag: ask for version 1.0 or for a copy");
      return FALSE;
    }

  if (self->type.padded)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Padded elements of %u bits cannot be exported in the legacy form, which has no"
                   " flag for them", self->type.bits);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_copy_allowed (MtlStridedView  *self,
                    MtlDlpackFlags   flags,
                    const char      *obstacle,
                    MtlDevice       *device,
                    GError         **error)
{
  g_autofree char *string = NULL;

  if (!(flags & MTL_DLPACK_FLAGS_NEVER_COPY))
    return TRUE;

  string = mtl_layout_to_string (&self->layout);
  if (obstacle != NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                 "A layout of %s %s: it can only be exported as a copy", string, obstacle);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                 "Memory of device (%d, %d) can only be exported as memory of device (%d, %d) by"
                 " copying it",
                 self->memory->device_type, self->memory->device_ordinal,
                 mtl_device_get_device_type (device), mtl_device_get_ordinal (device));

  return FALSE;
}

/* Lets the device refuse to export its memory as it is. Managed memory is synchronized
 * if the host will read it. */
static gboolean
prepare_memory (MtlStridedView  *self,
                MtlDevice       *device,
                GError         **error)
{
  MtlMemory *memory = self->memory;

  if (memory->storage_mode == MTL_STORAGE_MODE_HOST
      || memory->storage_mode == MTL_STORAGE_MODE_FOREIGN)
    return TRUE;

  if (!MTL_DEVICE_GET_CLASS (memory->device)->check_export (memory->device, memory->handle,
                                                            memory->storage_mode, error))
    return FALSE;

  return memory->storage_mode != MTL_STORAGE_MODE_MANAGED
         || !is_host (device)
         || mtl_memory_synchronize (memory, error);
}

/* The device in whose streams the consumer works. It may be any GPU for memory that all of them
 * reach, and asks after the stream of the first one. */
static MtlDevice *
find_consumer (MtlStridedView *self,
               MtlDlpackFlags  flags,
               MtlDevice      *device)
{
  if (!is_for_all_gpus (self))
    return self->memory->device;
  if (is_gpu_of_cuda (device))
    return device;

  return flags & MTL_DLPACK_FLAGS_NO_SYNC ? mtl_cuda_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0)
                                          : self->memory->device;
}

/* Orders the consumer's work after the library's. The host is not told to wait for others. */
static gboolean
order_consumer (MtlStridedView  *self,
                MtlDlpackFlags   flags,
                MtlDevice       *device,
                GError         **error)
{
  MtlMemory *memory = self->memory;
  MtlDevice *own = memory->device;

  if (memory->storage_mode == MTL_STORAGE_MODE_HOST
      || memory->storage_mode == MTL_STORAGE_MODE_FOREIGN
      || MTL_DEVICE_GET_CLASS (own)->begin_export == NULL
      || mtl_layout_is_empty (&self->layout))
    return TRUE;

  if (is_host (device))
    return mtl_memory_synchronize (memory, error);

  return MTL_DEVICE_GET_CLASS (own)->begin_export (own, find_consumer (self, flags, device),
                                                   &memory->uses,
                                                   (flags & MTL_DLPACK_FLAGS_NO_SYNC) != 0, error);
}

/* Creates a copy if the view itself cannot or must not be exported. */
static gboolean
prepare (MtlStridedView   *self,
         MtlDlpackFlags    flags,
         MtlDevice        *device,
         gboolean          is_legacy,
         MtlStridedView  **copy,
         GError          **error)
{
  gboolean is_in_place = goes_out_in_place (self, device);
  const char *obstacle = is_in_place ? find_obstacle (self, flags, device) : NULL;

  if ((flags & MTL_DLPACK_FLAGS_COPY) && (flags & MTL_DLPACK_FLAGS_NEVER_COPY))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The flags 0x%x both ask for a copy and forbid it", flags);
      return FALSE;
    }

  if (is_in_place && !(flags & MTL_DLPACK_FLAGS_COPY) && obstacle == NULL
      && !is_at_risk (self, flags, device))
    return prepare_memory (self, device, error);

  /* If no device is requested, the copy stays on the view's device, in the same
   * storage mode. */
  if (device != NULL && !check_can_copy_to (self, device, error))
    return FALSE;

  if (!check_copy_allowed (self, flags, obstacle, device, error))
    return FALSE;

  /* A copy would be writable, but the caller did not ask for one. */
  if (is_legacy && !(flags & MTL_DLPACK_FLAGS_COPY) && !check_legacy (self, error))
    return FALSE;

  /* The copy is made through the host. Memory whose contents may be discarded
   * is refused, as the copy could contain anything. */
  if (!prepare_memory (self, mtl_device_get_host (), error))
    return FALSE;

  *copy = is_own_device (self, device)
            ? mtl_strided_view_copy (self, MTL_ORDER_C, NULL, error)
            : mtl_strided_view_copy_to (self, device, MTL_STORAGE_MODE_DEFAULT, self->type,
                                        MTL_ORDER_C, NULL, error);
  return *copy != NULL;
}

/* Strides that are never used must not be negative, and those of an empty
 * tensor are dense. */
static void
write_dims (const MtlLayout *layout,
            gboolean         is_empty,
            gint64          *dims)
{
  const gint64 *shape = mtl_layout_shape (layout);
  const gint64 *strides = mtl_layout_strides (layout);
  guint32 n_dims = layout->n_dims;

  for (guint32 i = 0; i < n_dims; i++)
    {
      dims[i] = shape[i];
      dims[n_dims + i] = strides[i];
      if (strides[i] < 0 && shape[i] == 1)
        dims[n_dims + i] = strides[i] == G_MININT64 ? 1 : -strides[i];
    }

  if (is_empty)
    {
      g_auto (MtlLayout) dense = MTL_LAYOUT_INIT;

      if (mtl_layout_new_dense (shape, n_dims, MTL_ORDER_C, 8, &dense, NULL))
        memcpy (dims + n_dims, mtl_layout_strides (&dense), n_dims * sizeof (gint64));
    }
}

/* Memory that is exported as host memory is described by its host address, if it has one. */
static gpointer
get_base (MtlMemory *memory,
          DLDevice   device)
{
  return mtl_dl_device_is_host_accessible (device.device_type) && memory->contents != NULL
           ? memory->contents : memory->handle;
}

static void
write_tensor (MtlStridedView *self,
              MtlDevice      *wanted,
              gint64         *dims,
              DLTensor       *tensor)
{
  MtlMemory *memory = self->memory;
  DLDevice device = { memory->device_type, memory->device_ordinal };
  gboolean is_empty = mtl_layout_is_empty (&self->layout);
  gint64 offset;
  guint bit;

  mtl_layout_get_first_byte (&self->layout, &offset, &bit);
  if (is_host (wanted))
    device = (DLDevice) { MTL_DEVICE_TYPE_CPU, 0 };
  else if (is_gpu_of_cuda (wanted) && is_for_all_gpus (self))
    device = (DLDevice) { MTL_DEVICE_TYPE_CUDA, mtl_device_get_ordinal (wanted) };

  write_dims (&self->layout, is_empty, dims);
  *tensor = (DLTensor) {
    .data = get_base (memory, device),
    .device = device,
    .ndim = self->layout.n_dims,
    .dtype = { self->type.code, self->type.bits, self->type.lanes },
    .shape = dims,
    .strides = dims + self->layout.n_dims,
  };

  /* Several importers ignore byte_offset, and one refuses it. */
  offset += self->byte_offset;
  if (!mtl_dl_device_has_addresses (device.device_type))
    tensor->byte_offset = is_empty ? 0 : offset;
  else if (is_empty)
    tensor->data = NULL;
  else
    tensor->data = (gpointer) ((guintptr) tensor->data + offset);
}

/* The shape and the strides follow the struct. */
static gpointer
allocate_export (gsize            struct_size,
                 MtlStridedView  *view,
                 GError         **error)
{
  gsize size = struct_size + 2 * view->layout.n_dims * sizeof (gint64);
  gpointer export = g_try_malloc (size);

  if (export == NULL)
    mtl_set_no_memory (size, error);
  return export;
}

/**
 * mtl_strided_view_to_dlpack: (skip)
 * @self: a view
 * @flags: how to export the view
 * @device: (nullable): the device that the consumer wants, or %NULL for that of
 *   the memory
 * @error: return location for a [error@Mtl.Error]
 *
 * Exports the view to another library, as a tensor of DLPack 1.0 or later.
 *
 * The tensor keeps the memory alive until its deleter is called, on any thread.
 * [method@Mtl.StridedView.export_dlpack] says when the view is copied.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.export_dlpack]
 *
 * Returns: (transfer full): the managed tensor
 *
 * Since: 1.0
 */
struct DLManagedTensorVersioned *
mtl_strided_view_to_dlpack (MtlStridedView  *self,
                            MtlDlpackFlags   flags,
                            MtlDevice       *device,
                            GError         **error)
{
  g_autoptr (MtlViewUse) use G_GNUC_UNUSED = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  g_autofree VersionedExport *export = NULL;
  MtlStridedView *view;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  use = mtl_view_use_begin (self);
  if (!prepare (self, flags, device, FALSE, &copy, error))
    return NULL;

  view = copy != NULL ? copy : self;
  export = allocate_export (sizeof *export, view, error);
  if (export == NULL || !order_consumer (view, flags, device, error))
    return NULL;

  write_tensor (view, device, export->dims, &export->managed.dl_tensor);
  export->managed.version = (DLPackVersion) { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION };
  export->managed.flags = (view->read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0)
                          | (copy != NULL ? DLPACK_FLAG_BITMASK_IS_COPIED : 0)
                          | (view->type.padded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0);
  export->managed.manager_ctx = mtl_memory_ref (view->memory);
  export->managed.deleter = delete_versioned;
  return &g_steal_pointer (&export)->managed;
}

/**
 * mtl_strided_view_to_dlpack_legacy: (skip)
 * @self: a view
 * @flags: how to export the view
 * @device: (nullable): the device that the consumer wants, or %NULL for that of
 *   the memory
 * @error: return location for a [error@Mtl.Error]
 *
 * Exports the view to another library, in the form from before DLPack 1.0.
 *
 * This form cannot describe read-only memory or padded elements.
 *
 * Errors:
 *
 * - %MTL_ERROR_READ_ONLY: @self is read-only, and @flags do not contain
 *   %MTL_DLPACK_FLAGS_COPY
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are padded
 * - the errors of [method@Mtl.StridedView.export_dlpack]
 *
 * Returns: (transfer full): the managed tensor
 *
 * Since: 1.0
 */
struct DLManagedTensor *
mtl_strided_view_to_dlpack_legacy (MtlStridedView  *self,
                                   MtlDlpackFlags   flags,
                                   MtlDevice       *device,
                                   GError         **error)
{
  g_autoptr (MtlViewUse) use G_GNUC_UNUSED = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  g_autofree LegacyExport *export = NULL;
  MtlStridedView *view;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  use = mtl_view_use_begin (self);
  if (!prepare (self, flags, device, TRUE, &copy, error))
    return NULL;

  view = copy != NULL ? copy : self;
  if (!check_legacy (view, error))
    return NULL;

  export = allocate_export (sizeof *export, view, error);
  if (export == NULL || !order_consumer (view, flags, device, error))
    return NULL;

  write_tensor (view, device, export->dims, &export->managed.dl_tensor);
  export->managed.manager_ctx = mtl_memory_ref (view->memory);
  export->managed.deleter = delete_legacy;
  return &g_steal_pointer (&export)->managed;
}

static MtlDevice *
find_exported_device (MtlStridedView *self,
                      MtlDevice      *wanted,
                      DLDevice        device)
{
  if (device.device_type == self->memory->device_type
      && device.device_id == self->memory->device_ordinal)
    return mtl_strided_view_get_device (self);

  return device.device_type == MTL_DEVICE_TYPE_CPU || wanted == NULL ? mtl_device_get_host ()
                                                                     : wanted;
}

/**
 * mtl_strided_view_export_dlpack:
 * @self: a view
 * @flags: how to export the view
 * @device: (nullable): the device that the consumer wants, or %NULL for that of
 *   the memory
 * @error: return location for a [error@Mtl.Error]
 *
 * Exports the view to another library.
 *
 * Work on the memory by the program's own command queues must be finished
 * before another library uses it: see [method@Mtl.Event.wait]. This library's
 * work is already finished. On CUDA it may only be queued if the thread has
 * pushed the stream of the consumer, [method@Mtl.Stream.push_thread_default]:
 * then that stream waits, rather than the host.
 *
 * Memory that a device shares with the host is exported as memory of that
 * device, or as host memory if @device is the host. Pinned and managed memory of
 * CUDA is exported as memory of a GPU if @device is one. For any other device
 * the view is copied.
 *
 * Host memory is exported with a byte offset of 0. Most consumers do not accept
 * negative strides, so a view with negative strides is copied unless @flags
 * contain %MTL_DLPACK_FLAGS_NEGATIVE_STRIDES. A view whose first element begins
 * within a byte is copied too.
 *
 * Memory of Metal is also copied if the first element does not begin at a
 * multiple of its size, which kernels require, or if the view is read-only,
 * as MLX reuses the memory of arrays. %MTL_DLPACK_FLAGS_NEVER_COPY exports
 * read-only views in place.
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: a copy is needed but forbidden
 * - %MTL_ERROR_NOT_SUPPORTED: the memory cannot be exported as memory of that
 *   device
 * - %MTL_ERROR_INVALID_ARGUMENT: the flags contradict each other
 * - the errors of [method@Mtl.StridedView.copy]
 *
 * Returns: (transfer full): the tensor in transit
 *
 * Since: 1.0
 */
MtlDlpackTensor *
mtl_strided_view_export_dlpack (MtlStridedView  *self,
                                MtlDlpackFlags   flags,
                                MtlDevice       *device,
                                GError         **error)
{
  g_autoptr (MtlViewUse) use G_GNUC_UNUSED = NULL;
  DLManagedTensorVersioned *managed;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  use = mtl_view_use_begin (self);
  managed = mtl_strided_view_to_dlpack (self, flags, device, error);
  if (managed == NULL)
    return NULL;

  return mtl_dlpack_tensor_new (managed,
                                find_exported_device (self, device, managed->dl_tensor.device));
}
