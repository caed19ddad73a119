/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Views as tensors of Metal, and back. */

#include "mtl-strided-view-private.h"

#include "mtl-error.h"
#include "mtl-metal-device-private.h"

/* Each usage has its own tensor. An unknown usage has none. */
static GQuark
get_quark (MtlMetalTensorUsage usage)
{
  static const char *const names[] = {
    NULL,
    "mtl-tensor-1",
    "mtl-tensor-2",
    "mtl-tensor-3",
    "mtl-tensor-4",
    "mtl-tensor-5",
    "mtl-tensor-6",
    "mtl-tensor-7",
  };

  return g_quark_from_static_string (usage < G_N_ELEMENTS (names) ? names[usage] : NULL);
}

/* Takes the tensor. Another thread may have been faster. */
static gpointer
keep_tensor (MtlStridedView *self,
             GQuark          quark,
             gpointer        tensor)
{
  if (g_object_replace_qdata (G_OBJECT (self), quark, NULL, tensor,
                              mtl_metal_device_release_tensor, NULL))
    return tensor;

  mtl_metal_device_release_tensor (tensor);
  return g_object_get_qdata (G_OBJECT (self), quark);
}

/**
 * mtl_strided_view_to_metal_tensor:
 * @self: a view
 * @usage: what the tensor is for, at least one usage
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets a tensor of Metal, an `id<MTLTensor>`, over the memory of a view, without
 * a copy.
 *
 * The view owns the tensor, and returns the same one each time that it is asked
 * for that @usage. Take a reference of your own if you keep the tensor for
 * longer than the view; the tensor then keeps the `MTLBuffer`, but not the owner
 * of memory that was wrapped. To bindings the tensor is a number, its address.
 *
 * The tensor's dimensions are the axes in the order in which they lie in memory,
 * as [method@Mtl.StridedLayout.dup_stride_order] lists them: dimension 0, Metal's
 * innermost, is the last axis of that list. A transposed view therefore gives a
 * tensor with the same dimensions and strides as the view that it was transposed
 * from.
 *
 * The smallest stride has to be 1, and each other stride at least the extent
 * times the stride of the axis within. Views that were broadcast, reversed or
 * sliced with steps need a copy. More is asked for machine learning, for floats
 * of 8 bits and for elements of 4 or 2 bits: see
 * [MTLTensor](metal.html#mtltensor).
 * [method@Mtl.StridedLayout.fit_metal_tensor] gives the layout that a copy needs.
 *
 * A tensor does not know whether a view is read-only.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @usage is none or unknown
 * - %MTL_ERROR_NEEDS_COPY: the elements do not lie in memory as Metal needs
 *   them; the message has the strides of a copy that fits
 * - %MTL_ERROR_NOT_SUPPORTED: no tensor has this element type, this many
 *   dimensions, no elements, or such extents; the memory is not an `MTLBuffer`
 *   that this library can use, or is purgeable; or the system is older than
 *   macOS 26
 * - %MTL_ERROR_OVERFLOW: the strides of a copy do not fit in 63 bits
 * - %MTL_ERROR_DEVICE: Metal refused to create the tensor
 *
 * Returns: (type gsize): the `id<MTLTensor>`, owned by @self
 *
 * Since: 1.0
 */
gpointer
mtl_strided_view_to_metal_tensor (MtlStridedView       *self,
                                  MtlMetalTensorUsage   usage,
                                  GError              **error)
{
  MtlMetalTensor description;
  gpointer tensor;
  MtlMemory *memory;
  MtlDevice *device;
  GQuark quark;
  guint macos;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  memory = self->memory;
  device = mtl_memory_get_device (memory);
  macos = mtl_metal_device_get_tensor_system (device, memory->storage_mode, error);
  if (macos == 0
      || !MTL_DEVICE_GET_CLASS (device)->check_export (device, memory->handle,
                                                       memory->storage_mode, error))
    return NULL;

  quark = get_quark (usage);
  tensor = quark != 0 ? g_object_get_qdata (G_OBJECT (self), quark) : NULL;
  if (tensor != NULL)
    return tensor;

  if (!mtl_metal_tensor_describe (&self->layout, self->type, self->byte_offset, memory->size,
                                  usage, macos, &description, error))
    return NULL;

  tensor = mtl_metal_device_new_tensor (device, memory->handle, &description, usage, error);
  return tensor != NULL ? keep_tensor (self, quark, tensor) : NULL;
}

/* The tensor holds the buffer. */
static MtlMemory *
new_memory (gpointer               tensor,
            gpointer               buffer,
            const MtlMetalTensor  *description,
            const MtlLayout       *layout,
            GError               **error)
{
  gint64 first, end;
  gsize needed;
  MtlMemory *memory;

  if (!mtl_layout_get_byte_bounds (layout, &first, &end, error))
    return NULL;

  if (__builtin_add_overflow (description->byte_offset, end, &needed))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GINT64_FORMAT " bytes from byte %" G_GSIZE_FORMAT " of an MTLBuffer on are"
                   " not within the address space", end, description->byte_offset);
      return NULL;
    }

  memory = mtl_memory_new_imported_metal (buffer, needed, FALSE, tensor,
                                          mtl_metal_device_release_tensor, error);
  if (memory != NULL)
    mtl_metal_device_retain_tensor (tensor);

  return memory;
}

/**
 * mtl_strided_view_new_from_metal_tensor: (constructor)
 * @tensor: (type gsize): an `id<MTLTensor>` that was created from an `MTLBuffer`
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a tensor of Metal, without a copy.
 *
 * The view has the tensor's dimensions in reverse order: its last axis is
 * Metal's innermost dimension. The tensor is retained until nothing uses its
 * memory any more. The `MTLBuffer` determines the device and the storage mode.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @tensor is not an `id<MTLTensor>`
 * - %MTL_ERROR_NOT_SUPPORTED: the tensor has no buffer or has auxiliary planes,
 *   its element type is not known, the memory is purgeable, or this library was
 *   built without Metal
 * - %MTL_ERROR_INVALID_DATA: the tensor extends beyond its buffer, or is
 *   malformed
 * - %MTL_ERROR_OVERFLOW: the positions of the elements do not fit in 63 bits
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_metal_tensor (gpointer   tensor,
                                        GError   **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlMetalTensor description;
  MtlElementType type;
  MtlStridedView *self;
  MtlMemory *memory;
  gpointer buffer;

  if (!mtl_metal_device_inspect_tensor (tensor, &description, &buffer, error)
      || !mtl_metal_tensor_get_layout (&description, &type, &layout, error))
    return NULL;

  memory = new_memory (tensor, buffer, &description, &layout, error);
  if (memory == NULL)
    return NULL;

  self = mtl_strided_view_new_take (memory, description.byte_offset, type, &layout);
  layout.n_dims = 0;
  return self;
}
