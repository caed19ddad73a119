/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Creating tensors from values. */

#include "mtl-strided-view-private.h"

#include "mtl-error-private.h"
#include "mtl-number-private.h"

static gboolean
check_n_values (const gint64  *shape,
                gsize          n_dims,
                gint64         volume,
                gsize          n_values,
                GError       **error)
{
  g_autofree char *string = NULL;

  if ((guint64) volume == n_values)
    return TRUE;

  string = mtl_dims_to_string (shape, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%" G_GSIZE_FORMAT " value%s given for the shape %s of %" G_GINT64_FORMAT
               " element%s", n_values, MTL_S (n_values), string, volume, MTL_S (volume));
  return FALSE;
}

/* Creates a host tensor that the caller fills with values. */
static MtlStridedView *
view_new_for_values (MtlDType       dtype,
                     const gint64  *shape,
                     gsize          n_dims,
                     gsize          n_values,
                     GError       **error)
{
  MtlElementType type = mtl_element_type_new (dtype);
  MtlLayout layout;

  if (!mtl_dtype_check (dtype, error) || !mtl_element_type_check_numeric (type, error)
      || !mtl_layout_new_dense (shape, n_dims, MTL_ORDER_C, type.bits, &layout, error))
    return NULL;

  if (!check_n_values (shape, n_dims, mtl_layout_get_volume (&layout), n_values, error))
    {
      mtl_layout_clear (&layout);
      return NULL;
    }

  /* Unused bits in the last byte must be 0. */
  return mtl_strided_view_new_dense (mtl_device_get_host (), MTL_STORAGE_MODE_HOST, type, &layout,
                                     type.bits % 8 != 0, error);
}

/* The tensor must be in C order. */
static void
store_nth (MtlStridedView *self,
           gsize           n,
           MtlNumber       number)
{
  gsize bit = n * self->type.bits;

  mtl_number_store (number, self->type, self->memory->contents + bit / 8, bit % 8);
}

/**
 * mtl_strided_view_new_from_doubles: (constructor)
 * @values: (array length=n_values): the elements in C order
 * @n_values: the number of @values
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor with the given values, in host memory.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the number of values is not the number of
 *   elements
 * - %MTL_ERROR_OVERFLOW: a value does not fit @dtype
 * - %MTL_ERROR_NOT_SUPPORTED: elements of type @dtype are not numbers
 * - the errors of [ctor@Mtl.StridedView.new_zeros]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_doubles (const double  *values,
                                   gsize          n_values,
                                   MtlDType       dtype,
                                   const gint64  *shape,
                                   gsize          n_dims,
                                   GError       **error)
{
  g_autoptr (MtlStridedView) self = NULL;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (values != NULL || n_values == 0, NULL);

  self = view_new_for_values (dtype, shape, n_dims, n_values, error);
  if (self == NULL)
    return NULL;

  for (gsize i = 0; i < n_values; i++)
    {
      MtlNumber number = mtl_number_from_double (values[i]);

      if (!mtl_number_check_fits (number, dtype, error))
        return NULL;
      store_nth (self, i, number);
    }

  return g_steal_pointer (&self);
}

typedef struct
{
  MtlStridedView *view;
  gsize volume;
  gsize n_seen;
} VariantReader;

static gboolean
variant_to_number (GVariant   *variant,
                   MtlNumber  *number,
                   GError    **error)
{
  switch (g_variant_classify (variant))
    {
    case G_VARIANT_CLASS_BOOLEAN:
      *number = mtl_number_from_uint64 (g_variant_get_boolean (variant));
      return TRUE;
    case G_VARIANT_CLASS_BYTE:
      *number = mtl_number_from_uint64 (g_variant_get_byte (variant));
      return TRUE;
    case G_VARIANT_CLASS_INT16:
      *number = mtl_number_from_int64 (g_variant_get_int16 (variant));
      return TRUE;
    case G_VARIANT_CLASS_UINT16:
      *number = mtl_number_from_uint64 (g_variant_get_uint16 (variant));
      return TRUE;
    case G_VARIANT_CLASS_INT32:
      *number = mtl_number_from_int64 (g_variant_get_int32 (variant));
      return TRUE;
    case G_VARIANT_CLASS_UINT32:
      *number = mtl_number_from_uint64 (g_variant_get_uint32 (variant));
      return TRUE;
    case G_VARIANT_CLASS_INT64:
      *number = mtl_number_from_int64 (g_variant_get_int64 (variant));
      return TRUE;
    case G_VARIANT_CLASS_UINT64:
      *number = mtl_number_from_uint64 (g_variant_get_uint64 (variant));
      return TRUE;
    case G_VARIANT_CLASS_DOUBLE:
      *number = mtl_number_from_double (g_variant_get_double (variant));
      return TRUE;
    default:
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A value of type “%s” is not a number", g_variant_get_type_string (variant));
      return FALSE;
    }
}

static gboolean
read_variant (VariantReader  *self,
              GVariant       *variant,
              GError        **error)
{
  MtlNumber number;

  if (g_variant_is_container (variant))
    {
      gsize n = g_variant_n_children (variant);

      for (gsize i = 0; i < n; i++)
        {
          g_autoptr (GVariant) child = g_variant_get_child_value (variant, i);

          if (!read_variant (self, child, error))
            return FALSE;
        }
      return TRUE;
    }

  if (!variant_to_number (variant, &number, error)
      || !mtl_number_check_fits (number, mtl_element_type_get_dtype (self->view->type), error))
    return FALSE;

  if (self->n_seen < self->volume)
    store_nth (self->view, self->n_seen, number);
  self->n_seen++;
  return TRUE;
}

/**
 * mtl_strided_view_new_from_variant: (constructor)
 * @values: numbers and booleans in C order, nested in arrays and tuples in any
 *   way
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor with the given values, in host memory. 64-bit integers are
 * exact.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the number of values is not the number of
 *   elements, or a value is not a number
 * - %MTL_ERROR_OVERFLOW: a value does not fit @dtype
 * - %MTL_ERROR_NOT_SUPPORTED: elements of type @dtype are not numbers
 * - the errors of [ctor@Mtl.StridedView.new_zeros]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_variant (GVariant      *values,
                                   MtlDType       dtype,
                                   const gint64  *shape,
                                   gsize          n_dims,
                                   GError       **error)
{
  g_autoptr (MtlStridedView) self = NULL;
  g_autoptr (GVariant) sunk = NULL;
  VariantReader reader;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (values != NULL, NULL);

  sunk = g_variant_ref_sink (values);
  self = mtl_strided_view_new_zeros (mtl_device_get_host (), dtype, shape, n_dims, error);
  if (self == NULL || !mtl_element_type_check_numeric (self->type, error))
    return NULL;

  reader = (VariantReader) { .view = self, .volume = mtl_strided_view_get_volume (self) };
  if (!read_variant (&reader, sunk, error)
      || !check_n_values (shape, n_dims, reader.volume, reader.n_seen, error))
    return NULL;

  return g_steal_pointer (&self);
}
