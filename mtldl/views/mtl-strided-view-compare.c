/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Comparisons of two views. */

#include "mtl-strided-view-private.h"

#include "mtl-error.h"
#include "mtl-host-elements-private.h"
#include "mtl-number-private.h"

typedef struct
{
  MtlElementType a;
  MtlElementType b;
  double rtol;
  double atol;
  MtlCompareFlags flags;
  GCancellable *cancellable; /* or NULL */
} Tolerance;

/* A long row is cancelled within a few milliseconds. */
#define N_BETWEEN_CHECKS 65536

static gboolean
are_close (MtlNumber        a,
           MtlNumber        b,
           const Tolerance *tolerance)
{
  return mtl_number_is_close (a, b, tolerance->rtol, tolerance->atol)
         || (tolerance->flags & MTL_COMPARE_FLAGS_EQUAL_NAN
             && mtl_number_is_nan (a) && mtl_number_is_nan (b));
}

static gboolean
rows_are_close (const MtlStridedRow *a,
                const MtlStridedRow *b,
                gint64               n,
                gpointer             user_data)
{
  const Tolerance *tolerance = user_data;

  for (gint64 i = 0; i < n; i++)
    {
      guint a_bit, b_bit;
      const guint8 *a_data = mtl_strided_row_locate (a, i, &a_bit);
      const guint8 *b_data = mtl_strided_row_locate (b, i, &b_bit);

      if (tolerance->cancellable != NULL && i % N_BETWEEN_CHECKS == 0
          && g_cancellable_is_cancelled (tolerance->cancellable))
        return FALSE;

      if (!are_close (mtl_number_load (tolerance->a, a_data, a_bit),
                      mtl_number_load (tolerance->b, b_data, b_bit), tolerance))
        return FALSE;
    }

  return TRUE;
}

static gboolean
compare (MtlStridedView  *self,
         MtlStridedView  *other,
         double           rtol,
         double           atol,
         MtlCompareFlags  flags,
         GCancellable    *cancellable,
         GError         **error)
{
  const Tolerance tolerance = { self->type, other->type, rtol, atol, flags, cancellable };
  MTL_USE_VIEW (self);
  MTL_USE_VIEW (other);
  g_auto (MtlHostElements) a = { .layout = NULL };
  g_auto (MtlHostElements) b = { .layout = NULL };

  if (!mtl_element_type_check_numeric (self->type, error)
      || !mtl_element_type_check_numeric (other->type, error))
    return FALSE;

  if (self->type.lanes == other->type.lanes
      && !mtl_layout_same_shape (&self->layout, &other->layout))
    return FALSE;

  if (!mtl_host_elements_init_read (&a, self, error)
      || !mtl_host_elements_init_read (&b, other, error)
      || !mtl_host_elements_spread_lanes (&a, error)
      || !mtl_host_elements_spread_lanes (&b, error))
    return FALSE;

  if (!mtl_layout_same_shape (a.strided.layout, b.strided.layout))
    return FALSE;

  if (mtl_strided_for_each_row (&a.strided, &b.strided, rows_are_close, (gpointer) &tolerance))
    return TRUE;

  g_cancellable_set_error_if_cancelled (cancellable, error);
  return FALSE;
}

/**
 * mtl_strided_view_array_equal:
 * @self: a view
 * @other: another view
 * @flags: how to compare the elements
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Checks whether both views have the same shape and equal elements. Elements
 * are compared as numbers, whatever their types, and NaN is not equal to
 * itself. The lanes of vectors count as one more axis, the last.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot read the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_OVERFLOW: the number of all lanes or one of their offsets does
 *   not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: host memory for a copy of a device's elements cannot
 *   be allocated
 * - %MTL_ERROR_DEVICE: the device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: whether the views are equal; if they are not, %FALSE without an
 *   error
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_array_equal (MtlStridedView  *self,
                              MtlStridedView  *other,
                              MtlCompareFlags  flags,
                              GCancellable    *cancellable,
                              GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), FALSE);

  return compare (self, other, 0, 0, flags, cancellable, error);
}

/**
 * mtl_strided_view_all_close:
 * @self: a view
 * @other: another view
 * @rtol: the tolerance relative to the element of @other
 * @atol: the absolute tolerance, which is added to the relative one
 * @flags: how to compare the elements
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Checks whether both views have the same shape and close elements: |a - b| <=
 * @atol + @rtol * |b|, like NumPy's `allclose`.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.array_equal]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: whether the views are close; if they are not, %FALSE without an
 *   error
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_all_close (MtlStridedView  *self,
                            MtlStridedView  *other,
                            double           rtol,
                            double           atol,
                            MtlCompareFlags  flags,
                            GCancellable    *cancellable,
                            GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), FALSE);

  return compare (self, other, rtol, atol, flags, cancellable, error);
}

/* Gets the distance between the element offsets 0, in bytes, if both views are
 * in the same address space. */
static gboolean
share_addresses (MtlStridedView *self,
                 MtlStridedView *other,
                 gint64         *distance)
{
  MtlMemory *a = self->memory, *b = other->memory;
  gboolean on_host = a->contents != NULL && b->contents != NULL;
  gboolean on_one_device = a->device_type == b->device_type
                           && a->device_ordinal == b->device_ordinal;

  if (!on_host && !on_one_device)
    return FALSE;

  *distance = (mtl_memory_get_address (b) + other->byte_offset)
              - (mtl_memory_get_address (a) + self->byte_offset);
  return on_host || mtl_dl_device_has_addresses (a->device_type) || a->handle == b->handle;
}

/**
 * mtl_strided_view_overlaps:
 * @self: a view
 * @other: another view
 *
 * Checks whether both views have elements in the same bytes. For memory that
 * the host or the same device can access, a result of %FALSE is always correct.
 * If axes are interleaved in such a way that an exact answer would take longer
 * than about a millisecond, the result is %TRUE. It is also %TRUE if elements
 * are smaller than a byte and the memory has 2^60 bytes or more.
 *
 * Bytes between the elements do not count: the even columns of a matrix do not
 * overlap the odd ones. Elements smaller than a byte overlap if they share one.
 *
 * On a device without addresses, memory is identified by its handle, so an
 * overlap between two allocations in the same heap is not detected.
 *
 * Returns: whether the views overlap
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_overlaps (MtlStridedView *self,
                           MtlStridedView *other)
{
  gint64 distance;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), FALSE);

  return share_addresses (self, other, &distance)
         && mtl_layout_overlaps (&self->layout, &other->layout, distance);
}
