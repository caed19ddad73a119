/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Comparisons of the elements of two views, and of the bytes that they are in. */

#include "mtl-strided-view-private.h"

#include "mtl-device-private.h"
#include "mtl-error-private.h"
#include "mtl-number-private.h"
#include "mtl-placed-elements-private.h"

typedef struct
{
  MtlElementType a;
  MtlElementType b;
  MtlTolerance tolerance;
  GCancellable *cancellable; /* or NULL */
} Comparison;

/* A long row is cancelled within a few milliseconds. */
#define N_BETWEEN_CHECKS 65536

static gboolean
rows_are_close (const MtlStridedRow *a,
                const MtlStridedRow *b,
                gint64               n,
                gpointer             user_data)
{
  const Comparison *self = user_data;

  for (gint64 i = 0; i < n; i++)
    {
      guint a_bit, b_bit;
      const guint8 *a_data = mtl_strided_row_locate (a, i, &a_bit);
      const guint8 *b_data = mtl_strided_row_locate (b, i, &b_bit);

      if (self->cancellable != NULL && i % N_BETWEEN_CHECKS == 0
          && g_cancellable_is_cancelled (self->cancellable))
        return FALSE;

      if (!mtl_number_is_close (mtl_number_load (self->a, a_data, a_bit),
                                mtl_number_load (self->b, b_data, b_bit), &self->tolerance))
        return FALSE;
    }

  return TRUE;
}

/* Lanes are an axis. Returns FALSE without an error if the shapes differ. */
static gboolean
match_shapes (MtlPlacedElements  *a,
              MtlPlacedElements  *b,
              GError            **error)
{
  return mtl_placed_elements_spread_lanes (a, error)
         && mtl_placed_elements_spread_lanes (b, error)
         && mtl_layout_same_shape (a->strided.layout, b->strided.layout);
}

/* The device that both views can be compared on, or NULL */
static MtlDevice *
get_common_engine (MtlStridedView *a,
                   MtlStridedView *b)
{
  MtlDevice *engine = mtl_memory_get_engine (a->memory);

  if (engine == NULL)
    engine = mtl_memory_get_engine (b->memory);

  return engine != NULL && MTL_DEVICE_GET_CLASS (engine)->compare_elements != NULL
         && !mtl_layout_is_empty (&a->layout)
         && mtl_placed_elements_are_reached_by (a, engine)
         && mtl_placed_elements_are_reached_by (b, engine) ? engine : NULL;
}

/* Returns FALSE without an error if the device cannot do it. */
static gboolean
compare_on_device (const Comparison  *self,
                   MtlDevice         *engine,
                   MtlStridedView    *a_view,
                   MtlStridedView    *b_view,
                   gboolean          *are_close,
                   GError           **error)
{
  g_auto (MtlPlacedElements) a = { .layout = NULL };
  g_auto (MtlPlacedElements) b = { .layout = NULL };
  gboolean is_done = FALSE;

  *are_close = FALSE;
  mtl_placed_elements_init_on_device (&a, a_view);
  mtl_placed_elements_init_on_device (&b, b_view);
  if (!match_shapes (&a, &b, error)
      || !mtl_memory_begin_access_by (a_view->memory, engine, error)
      || !mtl_memory_begin_access_by (b_view->memory, engine, error)
      || g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return TRUE;

  return !MTL_DEVICE_GET_CLASS (engine)->compare_elements (engine, &a.strided, &b.strided,
                                                           &self->tolerance, are_close, &is_done,
                                                           self->cancellable, error)
         || is_done;
}

static gboolean
compare_on_host (const Comparison  *self,
                 MtlStridedView    *a_view,
                 MtlStridedView    *b_view,
                 GError           **error)
{
  g_auto (MtlPlacedElements) a = { .layout = NULL };
  g_auto (MtlPlacedElements) b = { .layout = NULL };

  if (!mtl_placed_elements_init_read (&a, a_view, error)
      || !mtl_placed_elements_init_read (&b, b_view, error)
      || !match_shapes (&a, &b, error))
    return FALSE;

  if (mtl_strided_for_each_row (&a.strided, &b.strided, rows_are_close, (gpointer) self))
    return TRUE;

  g_cancellable_set_error_if_cancelled (self->cancellable, error);
  return FALSE;
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
  const Comparison comparison = {
    .a = self->type,
    .b = other->type,
    .tolerance = { rtol, atol, (flags & MTL_COMPARE_FLAGS_EQUAL_NAN) != 0 },
    .cancellable = cancellable,
  };
  MTL_USE_VIEW (self);
  MTL_USE_VIEW (other);
  MtlDevice *engine;
  gboolean are_close;

  if (!mtl_element_type_check_numeric (self->type, error)
      || !mtl_element_type_check_numeric (other->type, error))
    return FALSE;

  if (self->type.lanes == other->type.lanes
      && !mtl_layout_same_shape (&self->layout, &other->layout))
    return FALSE;

  engine = get_common_engine (self, other);
  if (engine != NULL
      && compare_on_device (&comparison, engine, self, other, &are_close, error))
    return are_close;

  return compare_on_host (&comparison, self, other, error);
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
 * - %MTL_ERROR_NO_MEMORY: memory for a copy of a device's elements cannot
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
