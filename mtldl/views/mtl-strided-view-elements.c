/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Elements, one at a time. */

#include "mtl-strided-view-private.h"

#include "mtl-error-private.h"
#include "mtl-placed-elements-private.h"
#include "mtl-number-private.h"

/* The position of a number in host memory. */
typedef struct
{
  guint8 *data;
  guint bit;
} Place;

/* If elements have several lanes, the last index is that of the lane. */
static gboolean
locate_number (MtlStridedView  *self,
               const gint64    *indices,
               gsize            n_indices,
               Place           *place,
               GError         **error)
{
  gboolean has_lanes = self->type.lanes != 1;
  gint64 offset, lane = 0, position;

  if (!mtl_element_type_check_numeric (self->type, error)
      || !mtl_memory_check_host_accessible (self->memory, error))
    return FALSE;

  if (has_lanes && n_indices != self->layout.n_dims + 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " ind%s given for %u dimension%s and one of %u lanes:"
                   " the lane needs an index too", n_indices, MTL_ICES (n_indices),
                   self->layout.n_dims, MTL_S (self->layout.n_dims), self->type.lanes);
      return FALSE;
    }

  if (!mtl_layout_locate (&self->layout, indices, n_indices - has_lanes, &offset, error)
      || (has_lanes && !mtl_index_resolve (indices[n_indices - 1], self->type.lanes,
                                           self->layout.n_dims, &lane, error)))
    return FALSE;

  position = offset * self->layout.item_bits + lane * mtl_element_type_get_lane_bits (self->type);
  place->data = self->memory->contents + self->byte_offset + (position >> 3);
  place->bit = position & 7;
  return TRUE;
}

static gboolean
load (MtlStridedView  *self,
      const gint64    *indices,
      gsize            n_indices,
      MtlNumber       *number,
      GError         **error)
{
  Place place;

  if (!locate_number (self, indices, n_indices, &place, error))
    return FALSE;

  *number = mtl_number_load (self->type, place.data, place.bit);
  return TRUE;
}

/* Refuses complex numbers rather than drop their imaginary part. */
static gboolean
load_real (MtlStridedView  *self,
           const gint64    *indices,
           gsize            n_indices,
           MtlNumber       *number,
           GError         **error)
{
  if (!load (self, indices, n_indices, number, error))
    return FALSE;

  if (number->kind != MTL_NUMBER_COMPLEX)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s are not real numbers",
               mtl_dtype_get_name (mtl_element_type_get_dtype (self->type)));
  return FALSE;
}

static gboolean
store (MtlStridedView  *self,
       const gint64    *indices,
       gsize            n_indices,
       MtlNumber        number,
       GError         **error)
{
  guint lane_bits = mtl_element_type_get_lane_bits (self->type);
  Place place;

  if (!mtl_strided_view_check_writable (self, error)
      || !locate_number (self, indices, n_indices, &place, error)
      || !mtl_number_check_fits (number, mtl_element_type_get_dtype (self->type), error))
    return FALSE;

  mtl_number_store (number, self->type, place.data, place.bit);
  mtl_memory_did_modify (self->memory, place.data - self->memory->contents,
                         (place.bit + lane_bits + 7) / 8);
  return TRUE;
}

/**
 * mtl_strided_view_get_double:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @error: return location for a [error@Mtl.Error]
 *
 * Reads an element as a double. Integers beyond 2^53 are rounded to the nearest
 * double.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 *
 * Returns: the value, or 0 on error
 *
 * Since: 1.0
 */
double
mtl_strided_view_get_double (MtlStridedView  *self,
                             const gint64    *indices,
                             gsize            n_indices,
                             GError         **error)
{
  MtlNumber number;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);
  g_return_val_if_fail (indices != NULL || n_indices == 0, 0);

  if (!load_real (self, indices, n_indices, &number, error))
    return 0;

  return mtl_number_to_double (number);
}

/**
 * mtl_strided_view_get_int64:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @error: return location for a [error@Mtl.Error]
 *
 * Reads an element as a 64-bit integer. Integers are exact; floats are
 * truncated towards zero.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 * - %MTL_ERROR_OVERFLOW: the value does not fit in an int64
 *
 * Returns: the value, or 0 on error
 *
 * Since: 1.0
 */
gint64
mtl_strided_view_get_int64 (MtlStridedView  *self,
                            const gint64    *indices,
                            gsize            n_indices,
                            GError         **error)
{
  MtlNumber number;
  gint64 value;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);
  g_return_val_if_fail (indices != NULL || n_indices == 0, 0);

  if (!load_real (self, indices, n_indices, &number, error)
      || !mtl_number_to_int64 (number, &value, error))
    return 0;

  return value;
}

/**
 * mtl_strided_view_get_uint64:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @error: return location for a [error@Mtl.Error]
 *
 * Reads an element as an unsigned 64-bit integer. Integers are exact; floats
 * are truncated towards zero.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 * - %MTL_ERROR_OVERFLOW: the value does not fit in a uint64
 *
 * Returns: the value, or 0 on error
 *
 * Since: 1.0
 */
guint64
mtl_strided_view_get_uint64 (MtlStridedView  *self,
                             const gint64    *indices,
                             gsize            n_indices,
                             GError         **error)
{
  MtlNumber number;
  guint64 value;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), 0);
  g_return_val_if_fail (indices != NULL || n_indices == 0, 0);

  if (!load_real (self, indices, n_indices, &number, error)
      || !mtl_number_to_uint64 (number, &value, error))
    return 0;

  return value;
}

/**
 * mtl_strided_view_get_complex:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @re: (out) (optional): return location for the real part
 * @im: (out) (optional): return location for the imaginary part
 * @error: return location for a [error@Mtl.Error]
 *
 * Reads an element as a complex number. The imaginary part of a real element is
 * 0.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_get_complex (MtlStridedView  *self,
                              const gint64    *indices,
                              gsize            n_indices,
                              double          *re,
                              double          *im,
                              GError         **error)
{
  MtlNumber number;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (indices != NULL || n_indices == 0, FALSE);

  if (!load (self, indices, n_indices, &number, error))
    return FALSE;

  if (re != NULL)
    *re = mtl_number_to_double (number);
  if (im != NULL)
    *im = number.kind == MTL_NUMBER_COMPLEX ? number.im : 0;
  return TRUE;
}

/**
 * mtl_strided_view_set_double:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @value: the value
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes an element. A float element takes the nearest value, ties to even, by
 * the rules of [method@Mtl.StridedView.copy_from]. For an integer element the
 * value is truncated towards zero.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold the value
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_set_double (MtlStridedView  *self,
                             const gint64    *indices,
                             gsize            n_indices,
                             double           value,
                             GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (indices != NULL || n_indices == 0, FALSE);

  return store (self, indices, n_indices, mtl_number_from_double (value), error);
}

/**
 * mtl_strided_view_set_int64:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @value: the value
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes an element. The value is exact if the element is an integer.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold the value
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_set_int64 (MtlStridedView  *self,
                            const gint64    *indices,
                            gsize            n_indices,
                            gint64           value,
                            GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (indices != NULL || n_indices == 0, FALSE);

  return store (self, indices, n_indices, mtl_number_from_int64 (value), error);
}

/**
 * mtl_strided_view_set_uint64:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @value: the value
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes an element. The value is exact if the element is an integer.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold the value
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_set_uint64 (MtlStridedView  *self,
                             const gint64    *indices,
                             gsize            n_indices,
                             guint64          value,
                             GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (indices != NULL || n_indices == 0, FALSE);

  return store (self, indices, n_indices, mtl_number_from_uint64 (value), error);
}

/**
 * mtl_strided_view_set_complex:
 * @self: a view
 * @indices: (array length=n_indices): an index for each axis, and for vectors
 *   one more for the lane; negative values count from the end
 * @n_indices: the number of @indices
 * @re: the real part
 * @im: the imaginary part
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes a complex number to an element. A real element takes the real part.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such element
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_indices does not match the number of
 *   dimensions
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the element
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold the value
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_set_complex (MtlStridedView  *self,
                              const gint64    *indices,
                              gsize            n_indices,
                              double           re,
                              double           im,
                              GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (indices != NULL || n_indices == 0, FALSE);

  return store (self, indices, n_indices, mtl_number_from_complex (re, im), error);
}
