/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Reading and writing all elements at once. */

#include "mtl-strided-view-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-number-private.h"

/* The values have 8 bytes each. Lanes count as one more axis. */
static gboolean
count_values (MtlStridedView  *self,
              gsize           *n_values,
              GError         **error)
{
  gint64 volume = mtl_layout_get_volume (&self->layout), n, size;

  if (!mtl_element_type_check_numeric (self->type, error)
      || !mtl_memory_check_host_accessible (self->memory, error))
    return FALSE;

  if (__builtin_mul_overflow (volume, self->type.lanes, &n)
      || __builtin_mul_overflow (n, sizeof (gint64), &size))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GINT64_FORMAT " elements of %u lanes take more than the limit of 2^63 − 1"
                   " bytes", volume, self->type.lanes);
      return FALSE;
    }

  *n_values = n;
  return TRUE;
}

static gboolean
check_real (MtlStridedView  *self,
            GError         **error)
{
  if (self->type.code != kDLComplex)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Elements of type %s are not real numbers",
               mtl_dtype_get_name (mtl_element_type_get_dtype (self->type)));
  return FALSE;
}

/* A view of the values as elements of self, in C order. They must outlive it. */
static MtlStridedView *
view_values (MtlStridedView  *self,
             gpointer         values,
             gsize            n_values,
             MtlDType         dtype,
             GError         **error)
{
  gint64 shape[MTL_LAYOUT_MAX_DIMS + 1];
  gsize n_dims = self->layout.n_dims;

  for (gsize i = 0; i < n_dims; i++)
    shape[i] = mtl_layout_shape (&self->layout)[i];
  if (self->type.lanes != 1)
    shape[n_dims++] = self->type.lanes;

  return mtl_strided_view_new_for_data (values, n_values * sizeof (gint64), dtype, shape, n_dims,
                                        NULL, 0, 0, MTL_BUFFER_FLAGS_NONE, NULL, NULL, error);
}

/* Returns n_values converted numbers, at least one. */
static gpointer
read_values (MtlStridedView  *self,
             MtlDType         dtype,
             gsize           *n_values,
             GError         **error)
{
  MTL_USE_VIEW (self);
  g_autofree gpointer values = NULL;
  g_autoptr (MtlStridedView) view = NULL;

  if (!check_real (self, error) || !count_values (self, n_values, error))
    return NULL;

  values = g_try_malloc_n (MAX (*n_values, 1), sizeof (gint64));
  if (values == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
                   "Cannot allocate memory for %" G_GSIZE_FORMAT " numbers", *n_values);
      return NULL;
    }

  if (*n_values == 0)
    return g_steal_pointer (&values);

  view = view_values (self, values, *n_values, dtype, error);
  if (view == NULL || !mtl_strided_view_copy_from (view, self, NULL, error))
    return NULL;

  return g_steal_pointer (&values);
}

/**
 * mtl_strided_view_get_doubles:
 * @self: a view
 * @n_values: (out): return location for the number of values
 * @error: return location for a [error@Mtl.Error]
 *
 * Reads all elements as doubles, in C order and by the rules of
 * [method@Mtl.StridedView.get_double]. The lanes of vectors count as one more
 * axis, the last.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the elements
 * - %MTL_ERROR_INVALID_ARGUMENT: the lanes would become a 65th axis
 * - %MTL_ERROR_OVERFLOW: the size of the values does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 *
 * Returns: (array length=n_values) (transfer full): the values
 *
 * Since: 1.0
 */
double *
mtl_strided_view_get_doubles (MtlStridedView  *self,
                              gsize           *n_values,
                              GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (n_values != NULL, NULL);

  return read_values (self, MTL_DTYPE_FLOAT64, n_values, error);
}

/* Converts in place. The elements were of uint64 if they are not floats. */
static gboolean
check_integers (gpointer   values,
                gsize      n_values,
                gboolean   are_doubles,
                GError   **error)
{
  gint64 *integers = values;

  for (gsize i = 0; i < n_values; i++)
    {
      MtlNumber number;

      memcpy (are_doubles ? (gpointer) &number.re : (gpointer) &number.u, &integers[i],
              sizeof (gint64));
      number.kind = are_doubles ? MTL_NUMBER_REAL : MTL_NUMBER_UINT;
      if (!mtl_number_to_int64 (number, &integers[i], error))
        return FALSE;
    }

  return TRUE;
}

static gint64 *
read_int64s (MtlStridedView  *self,
             gsize           *n_values,
             GError         **error)
{
  MTL_USE_VIEW (self);
  MtlDTypeKind kind = mtl_dtype_get_kind (mtl_element_type_get_dtype (self->type));
  gboolean is_float = kind == MTL_DTYPE_KIND_FLOAT;
  gboolean is_large = kind == MTL_DTYPE_KIND_UINT && self->type.bits == 64;
  g_autofree gpointer values = read_values (self, is_float ? MTL_DTYPE_FLOAT64 : MTL_DTYPE_INT64,
                                            n_values, error);

  if (values == NULL
      || ((is_float || is_large) && !check_integers (values, *n_values, is_float, error)))
    return NULL;

  return g_steal_pointer (&values);
}

/**
 * mtl_strided_view_get_int64s:
 * @self: a view
 * @n_values: (out): return location for the number of values
 * @error: return location for a [error@Mtl.Error]
 *
 * Reads all elements as 64-bit integers, in C order and by the rules of
 * [method@Mtl.StridedView.get_int64]. The lanes of vectors count as one more
 * axis, the last.
 *
 * Errors:
 *
 * - %MTL_ERROR_OVERFLOW: a value does not fit in an int64, or the size of the
 *   values does not fit in 63 bits
 * - the other errors of [method@Mtl.StridedView.get_doubles]
 *
 * Returns: (array length=n_values) (transfer full): the values
 *
 * Since: 1.0
 */
gint64 *
mtl_strided_view_get_int64s (MtlStridedView  *self,
                             gsize           *n_values,
                             GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (n_values != NULL, NULL);

  return read_int64s (self, n_values, error);
}

static gboolean
write_values (MtlStridedView  *self,
              gconstpointer    values,
              gsize            n_values,
              MtlDType         dtype,
              GError         **error)
{
  MTL_USE_VIEW (self);
  MtlDType own_dtype = mtl_element_type_get_dtype (self->type);
  g_autoptr (MtlStridedView) source = NULL;
  gsize n_needed;

  if (!mtl_strided_view_check_writable (self, error) || !count_values (self, &n_needed, error))
    return FALSE;

  if (n_values != n_needed)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " value%s given for %" G_GSIZE_FORMAT " element%s", n_values,
                   MTL_S (n_values), n_needed, MTL_S (n_needed));
      return FALSE;
    }

  for (gsize i = 0; i < n_values; i++)
    {
      MtlNumber number = dtype == MTL_DTYPE_INT64
                           ? mtl_number_from_int64 (((const gint64 *) values)[i])
                           : mtl_number_from_double (((const double *) values)[i]);

      if (!mtl_number_check_fits (number, own_dtype, error))
        return FALSE;
    }

  if (n_values == 0)
    return TRUE;

  source = view_values (self, (gpointer) values, n_values, dtype, error);
  return source != NULL && mtl_strided_view_copy_from (self, source, NULL, error);
}

/**
 * mtl_strided_view_set_doubles:
 * @self: a view
 * @values: (array length=n_values): the elements in C order
 * @n_values: the number of @values, which is the number of elements
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes all elements by the rules of [method@Mtl.StridedView.set_double]. The
 * lanes of vectors count as one more axis, the last.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_values is not the number of elements
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the elements
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold its value
 *
 * After an error nothing was written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_set_doubles (MtlStridedView  *self,
                              const double    *values,
                              gsize            n_values,
                              GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (values != NULL || n_values == 0, FALSE);

  return write_values (self, values, n_values, MTL_DTYPE_FLOAT64, error);
}

/**
 * mtl_strided_view_set_int64s:
 * @self: a view
 * @values: (array length=n_values): the elements in C order
 * @n_values: the number of @values, which is the number of elements
 * @error: return location for a [error@Mtl.Error]
 *
 * Writes all elements by the rules of [method@Mtl.StridedView.set_int64]. The
 * lanes of vectors count as one more axis, the last.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.StridedView.set_doubles]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_set_int64s (MtlStridedView  *self,
                             const gint64    *values,
                             gsize            n_values,
                             GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (values != NULL || n_values == 0, FALSE);

  return write_values (self, values, n_values, MTL_DTYPE_INT64, error);
}
