/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-dlpack-abi-private.h"

#include "mtl-error-private.h"

#if GLIB_SIZEOF_VOID_P == 8
G_STATIC_ASSERT (sizeof (DLTensor) == 48);
G_STATIC_ASSERT (sizeof (DLManagedTensor) == 64);
G_STATIC_ASSERT (sizeof (DLManagedTensorVersioned) == 80);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLTensor, shape) == 24);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLTensor, byte_offset) == 40);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLManagedTensor, deleter) == 56);
G_STATIC_ASSERT (G_STRUCT_OFFSET (DLManagedTensorVersioned, dl_tensor) == 32);
#endif

gboolean
mtl_dl_device_is_host_accessible (gint32 device_type)
{
  switch (device_type)
    {
    case MTL_DEVICE_TYPE_CPU:
    case MTL_DEVICE_TYPE_CUDA_HOST:
    case MTL_DEVICE_TYPE_ROCM_HOST:
    case MTL_DEVICE_TYPE_CUDA_MANAGED:
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
mtl_dl_device_has_addresses (gint32 device_type)
{
  switch (device_type)
    {
    case MTL_DEVICE_TYPE_CUDA:
    case MTL_DEVICE_TYPE_ROCM:
    case MTL_DEVICE_TYPE_ONE_API:
      return TRUE;
    default:
      return mtl_dl_device_is_host_accessible (device_type);
    }
}

/* A tensor must not wrap around the end of the address space, nor lie at the address NULL. A
 * handle that is not an address stands for the first byte of the memory, and there is nothing
 * before it. */
static gboolean
check_memory (const DLTensor              *self,
              const MtlTensorDescription  *description,
              GError                     **error)
{
  gboolean has_addresses = mtl_dl_device_has_addresses (self->device.device_type);
  gint64 first = description->first, end = description->end;
  guint64 low, high;

  if (first == end)
    return TRUE;

  if (self->data == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A tensor of %" G_GINT64_FORMAT " element%s has no data: the address is NULL",
                   mtl_layout_get_volume (&description->layout),
                   MTL_S (mtl_layout_get_volume (&description->layout)));
      return FALSE;
    }

  low = has_addresses ? (guint64) (guintptr) self->data : 0;
  if (self->byte_offset > G_MAXINT64
      || __builtin_add_overflow (low, self->byte_offset, &low)
      || __builtin_add_overflow (low, end, &high)
      || (!has_addresses && high > G_MAXINT64)
      || (first < 0 && low < -(guint64) first + (has_addresses ? 1 : 0)))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "The byte offset %" G_GUINT64_FORMAT " and bytes %" G_GINT64_FORMAT " to"
                   " %" G_GINT64_FORMAT " exceed the address space",
                   self->byte_offset, first, end);
      return FALSE;
    }

  return TRUE;
}

static gboolean
is_aligned (const gint64 *dims)
{
  return (guintptr) dims % G_ALIGNOF (gint64) == 0;
}

static gboolean
check_dims (const DLTensor  *self,
            GError         **error)
{
  if (self->ndim < 0 || self->ndim > MTL_LAYOUT_MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A tensor cannot have %d dimensions: 0 to %d are allowed",
                   self->ndim, MTL_LAYOUT_MAX_DIMS);
      return FALSE;
    }

  if (self->ndim > 0 && self->shape == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A tensor of %d dimension%s has no shape", self->ndim, MTL_S (self->ndim));
      return FALSE;
    }

  if (self->ndim > 0 && (!is_aligned (self->shape) || !is_aligned (self->strides)))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The shape at %p or the strides at %p are not aligned to %" G_GSIZE_FORMAT
                   " bytes", self->shape, self->strides, (gsize) G_ALIGNOF (gint64));
      return FALSE;
    }

  for (gint32 i = 0; i < self->ndim; i++)
    if (self->shape[i] < 0)
      {
        g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                     "The extent %" G_GINT64_FORMAT " of axis %d is negative: the minimum is 0",
                     self->shape[i], i);
        return FALSE;
      }

  return TRUE;
}

/* All checks that an importer needs before it can trust a peer. */
gboolean
mtl_dl_tensor_describe (const DLTensor        *self,
                        guint64                flags,
                        MtlTensorDescription  *description,
                        GError               **error)
{
  MtlElementType *type = &description->type;
  MtlLayout *layout = &description->layout;
  gint64 min, max;

  if (!check_dims (self, error))
    return FALSE;

  if (self->dtype.bits == 0 || self->dtype.lanes == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "Elements cannot have %u bits in %u lanes: both have to be at least 1",
                   self->dtype.bits, self->dtype.lanes);
      return FALSE;
    }

  *type = (MtlElementType) {
    .code = self->dtype.code,
    .bits = self->dtype.bits,
    .lanes = self->dtype.lanes,
    .padded = self->dtype.bits < 8
              && (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0,
  };

  if (!mtl_layout_new_with_bounds (self->shape, self->strides, self->ndim, 0,
                                   mtl_element_type_get_item_bits (*type), layout, &min, &max,
                                   error))
    return FALSE;

  if (!mtl_layout_bounds_to_bytes (min, max, layout->item_bits, &description->first,
                                   &description->end, error)
      || !check_memory (self, description, error))
    {
      mtl_layout_clear (layout);
      return FALSE;
    }

  return TRUE;
}
