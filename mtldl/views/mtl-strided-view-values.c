/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Numbers of the caller: tensors of them, all elements at once, and fills. */

#include "mtl-strided-view-private.h"

#include <math.h>
#include <string.h>

#include "mtl-error-private.h"
#include "mtl-placed-elements-private.h"
#include "mtl-number-private.h"

/* Tensors of values */

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
  self = mtl_strided_view_new_zeros (mtl_device_get_host (), dtype, shape, n_dims,
                                     MTL_STORAGE_MODE_DEFAULT, error);
  if (self == NULL || !mtl_element_type_check_numeric (self->type, error))
    return NULL;

  reader = (VariantReader) { .view = self, .volume = mtl_strided_view_get_volume (self) };
  if (!read_variant (&reader, sunk, error)
      || !check_n_values (shape, n_dims, reader.volume, reader.n_seen, error))
    return NULL;

  return g_steal_pointer (&self);
}

/* The numbers start, start + step and so on: integers, or doubles. */
typedef struct
{
  MtlNumber start;
  MtlNumber step;
  gint64 n;
} Range;

/* A multiple of 8, so that each piece of the elements begins with a byte. */
#define PIECE 2048

static void
range_get_integers (const Range *self,
                    gint64       first,
                    int          n,
                    gint64      *integers)
{
  guint64 integer = self->start.u + (guint64) first * self->step.u;

  for (int i = 0; i < n; i++, integer += self->step.u)
    integers[i] = integer;
}

/* Computes the same numbers as NumPy, whose first two do not always follow the formula for
 * the others. */
static void
range_get_doubles (const Range *self,
                   gint64       first,
                   int          n,
                   double      *doubles)
{
  double start = self->start.re, second = start + self->step.re, distance = second - start;
  double index = first;

  for (int i = 0; i < n; i++)
    {
      double product = (index + i) * distance; /* rounded, even where one instruction does both */

      doubles[i] = start + product;
    }

  if (first == 0)
    doubles[0] = start;
  if (first <= 1 && first + n > 1)
    doubles[1 - first] = second;
}

static MtlNumber
range_get_number (const Range *self,
                  gint64       i)
{
  gint64 integer;
  double real;

  if (self->start.kind == MTL_NUMBER_INT)
    {
      range_get_integers (self, i, 1, &integer);
      return mtl_number_from_int64 (integer);
    }

  range_get_doubles (self, i, 1, &real);
  return mtl_number_from_double (real);
}

/* All other numbers are between these two. */
static gboolean
range_check_fits (const Range  *self,
                  MtlDType      dtype,
                  GError      **error)
{
  return self->n == 0
         || (mtl_number_check_fits (range_get_number (self, 0), dtype, error)
             && mtl_number_check_fits (range_get_number (self, self->n - 1), dtype, error));
}

static gboolean
convert_piece (const MtlStrided  *source,
               const MtlStrided  *dest,
               gint64             n,
               GError           **error)
{
  g_auto (MtlLayout) from = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) to = MTL_LAYOUT_INIT;

  return mtl_layout_new_dense (&n, 1, MTL_ORDER_C, source->type.bits, &from, error)
         && mtl_layout_new_dense (&n, 1, MTL_ORDER_C, dest->type.bits, &to, error)
         && mtl_strided_copy (&(MtlStrided) { dest->type, &to, dest->data },
                              &(MtlStrided) { source->type, &from, source->data }, NULL, error);
}

/* The elements must be in C order. */
static gboolean
range_write (const Range       *self,
             const MtlStrided  *elements,
             GError           **error)
{
  gboolean is_integer = self->start.kind == MTL_NUMBER_INT;
  guint64 numbers[PIECE];
  MtlStrided source = {
    .type = mtl_element_type_new (is_integer ? MTL_DTYPE_INT64 : MTL_DTYPE_FLOAT64),
    .data = (guint8 *) numbers,
  };
  gboolean is_same = mtl_element_type_equal (elements->type, source.type);

  for (gint64 first = 0; first < self->n; first += PIECE)
    {
      gint64 n = MIN (PIECE, self->n - first);
      MtlStrided dest = {
        .type = elements->type,
        .data = elements->data + first / 8 * elements->type.bits,
      };
      gpointer target = is_same ? dest.data : source.data;

      if (is_integer)
        range_get_integers (self, first, n, target);
      else
        range_get_doubles (self, first, n, target);

      if (!is_same && !convert_piece (&source, &dest, n, error))
        return FALSE;
    }

  return TRUE;
}

static MtlStridedView *
view_new_of_range (MtlDevice       *device,
                   MtlDType         dtype,
                   const Range     *range,
                   MtlStorageMode   storage_mode,
                   GError         **error)
{
  g_autoptr (MtlStridedView) self = NULL;
  g_auto (MtlPlacedElements) elements = { .layout = NULL };

  if (!mtl_dtype_check (dtype, error)
      || !mtl_element_type_check_numeric (mtl_element_type_new (dtype), error)
      || !range_check_fits (range, dtype, error))
    return NULL;

  self = mtl_strided_view_new_uninitialized (device, dtype, &range->n, 1, storage_mode, error);
  if (self == NULL || !mtl_placed_elements_init_write (&elements, self, error)
      || !range_write (range, &elements.strided, error)
      || !mtl_placed_elements_write_back (&elements, error))
    return NULL;

  return g_steal_pointer (&self);
}

static gboolean
set_step_is_zero (GError **error)
{
  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "A step of 0 never reaches the stop");
  return FALSE;
}

static gboolean
set_too_many_numbers (double    n,
                      GError  **error)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "%s numbers exceed the limit of %" G_GINT64_FORMAT " elements",
               g_ascii_formatd (text, sizeof text, "%.6g", n), G_MAXINT64);
  return FALSE;
}

static gboolean
check_finite (const char  *name,
              double       value,
              GError     **error)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "A %s of %s is not a finite number",
               name, g_ascii_dtostr (text, sizeof text, value));
  return FALSE;
}

static gboolean
count_doubles (double    start,
               double    stop,
               double    step,
               gint64   *n,
               GError  **error)
{
  double quotient, count;

  if (!check_finite ("start", start, error) || !check_finite ("stop", stop, error)
      || !check_finite ("step", step, error))
    return FALSE;
  if (step == 0)
    return set_step_is_zero (error);

  quotient = (stop - start) / step;
  count = ceil (quotient);
  /* A quotient that is too small for a double is rounded up, too. */
  if (quotient == 0 && stop != start && !signbit (quotient))
    count = 1;
  if (count >= 0x1p63)
    return set_too_many_numbers (count, error);

  *n = MAX (count, 0);
  return TRUE;
}

/* The differences fit 64 bits without a sign. */
static gboolean
count_integers (gint64    start,
                gint64    stop,
                gint64    step,
                gint64   *n,
                GError  **error)
{
  guint64 distance = step > 0 ? (guint64) stop - start : (guint64) start - stop;
  guint64 stride = step > 0 ? (guint64) step : -(guint64) step;
  guint64 count;

  if (step == 0)
    return set_step_is_zero (error);

  count = (step > 0 ? start < stop : start > stop) ? (distance - 1) / stride + 1 : 0;
  if (count > G_MAXINT64)
    return set_too_many_numbers (count, error);

  *n = count;
  return TRUE;
}

/**
 * mtl_strided_view_new_arange: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @dtype: the element type
 * @start: the first number
 * @stop: the limit, which the numbers do not reach
 * @step: the distance between two numbers, may be negative
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor of one dimension with the numbers @start, @start + @step and
 * so on, before @stop.
 *
 * The numbers and their count are those of `numpy.arange()` for doubles: there
 * are (@stop − @start) / @step, rounded up, or none if that is negative. Each is
 * rounded to @dtype by the rules of [method@Mtl.StridedView.set_double]. Doubles
 * are rounded, too, so there may be one number more than expected if @step is
 * not an integer.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @step is 0, or an argument is infinite or NaN
 * - %MTL_ERROR_OVERFLOW: there are too many numbers, or @dtype is a type of
 *   integers that cannot hold one of them
 * - %MTL_ERROR_NOT_SUPPORTED: elements of type @dtype are not numbers
 * - the errors of [ctor@Mtl.StridedView.new_zeros]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_arange (MtlDevice       *device,
                             MtlDType         dtype,
                             double           start,
                             double           stop,
                             double           step,
                             MtlStorageMode   storage_mode,
                             GError         **error)
{
  Range range = { mtl_number_from_double (start), mtl_number_from_double (step), 0 };

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  if (!count_doubles (start, stop, step, &range.n, error))
    return NULL;

  return view_new_of_range (device, dtype, &range, storage_mode, error);
}

/**
 * mtl_strided_view_new_arange_int64: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @dtype: the element type
 * @start: the first number
 * @stop: the limit, which the numbers do not reach
 * @step: the distance between two numbers, may be negative
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor of one dimension with the integers @start, @start + @step and
 * so on, before @stop.
 *
 * The integers are exact, and are rounded to @dtype by the rules of
 * [method@Mtl.StridedView.set_int64].
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @step is 0
 * - %MTL_ERROR_OVERFLOW: there are too many numbers, or @dtype is a type of
 *   integers that cannot hold one of them
 * - %MTL_ERROR_NOT_SUPPORTED: elements of type @dtype are not numbers
 * - the errors of [ctor@Mtl.StridedView.new_zeros]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_arange_int64 (MtlDevice       *device,
                                   MtlDType         dtype,
                                   gint64           start,
                                   gint64           stop,
                                   gint64           step,
                                   MtlStorageMode   storage_mode,
                                   GError         **error)
{
  Range range = { mtl_number_from_int64 (start), mtl_number_from_int64 (step), 0 };

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

  if (!count_integers (start, stop, step, &range.n, error))
    return NULL;

  return view_new_of_range (device, dtype, &range, storage_mode, error);
}

/* All elements at once */

/* The values have 8 bytes each. Lanes count as one more axis. */
static gboolean
count_values (MtlStridedView  *self,
              gsize           *n_values,
              GError         **error)
{
  gint64 volume = mtl_layout_get_volume (&self->layout), n, size;

  if (!mtl_element_type_check_numeric (self->type, error))
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
 * axis, the last. Memory that the host cannot access is copied.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not real numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: this library cannot copy from the memory
 * - %MTL_ERROR_DEVICE: the device failed
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
 * lanes of vectors count as one more axis, the last. Memory that the host cannot
 * access is copied to.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @n_values is not the number of elements
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: this library cannot copy to the memory
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold its value
 * - %MTL_ERROR_DEVICE: the device failed
 *
 * After an error nothing was written, unless the device failed.
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

/* The same value for all elements */

/* Checks whether a device fills the view: the host cannot access the items, they
 * lie side by side, and their size is one that devices can repeat. */
static gboolean
is_filled_by_device (MtlStridedView *self,
                     guint           item_bits)
{
  return !mtl_memory_is_host_accessible (self->memory)
         && item_bits >= 8 && item_bits <= 128 && (item_bits & (item_bits - 1)) == 0
         && mtl_layout_is_contiguous (&self->layout, MTL_ORDER_ANY);
}

/* A device fills everything at once, so there is only one report. */
static gboolean
fill_by_device (MtlStridedView    *self,
                gconstpointer      item,
                gsize              item_size,
                const MtlMonitor  *monitor,
                GError           **error)
{
  gint64 first, end;

  if (!mtl_monitor_check (monitor, error)
      || !mtl_layout_get_byte_bounds (&self->layout, &first, &end, error)
      || (end > first
          && !mtl_memory_fill (self->memory, self->byte_offset + first, end - first, item,
                               item_size, error)))
    return FALSE;

  mtl_monitor_report (monitor, 1, 1, end - first);
  return TRUE;
}

/* If the device can do it, is_done is TRUE. */
static gboolean
fill_on_device (MtlStridedView    *self,
                gconstpointer      item,
                gboolean           is_lane,
                const MtlMonitor  *monitor,
                gboolean          *is_done,
                GError           **error)
{
  MtlDevice *engine = mtl_memory_get_engine (self->memory);
  g_auto (MtlPlacedElements) elements = { .layout = NULL };

  *is_done = FALSE;
  if (engine == NULL || mtl_layout_is_empty (&self->layout))
    return TRUE;

  mtl_placed_elements_init_on_device (&elements, self);
  mtl_memory_note_work (self->memory);
  if (!mtl_monitor_check (monitor, error)
      || (is_lane && !mtl_placed_elements_spread_lanes (&elements, error))
      || !MTL_DEVICE_GET_CLASS (engine)->fill_elements (engine, &elements.strided, item, is_done,
                                                        error))
    return FALSE;

  if (!mtl_memory_end_work (self->memory, engine, error))
    return FALSE;

  if (*is_done)
    mtl_monitor_report (monitor, 1, 1, mtl_layout_count_bytes (&self->layout));
  return TRUE;
}

/* The item is a whole element or one of its lanes. */
static gboolean
fill_items (MtlStridedView    *self,
            gconstpointer      item,
            gboolean           is_lane,
            const MtlMonitor  *monitor,
            GError           **error)
{
  guint item_bits = is_lane ? mtl_element_type_get_lane_bits (self->type)
                            : self->layout.item_bits;
  g_auto (MtlPlacedElements) elements = { .layout = NULL };
  gboolean is_done;

  if (is_filled_by_device (self, item_bits))
    return fill_by_device (self, item, item_bits / 8, monitor, error);

  if (!fill_on_device (self, item, is_lane, monitor, &is_done, error))
    return FALSE;
  if (is_done)
    return TRUE;

  if (!mtl_placed_elements_init_write (&elements, self, error)
      || (is_lane && !mtl_placed_elements_spread_lanes (&elements, error)))
    return FALSE;

  return mtl_strided_fill (&elements.strided, item, monitor, error)
         && mtl_placed_elements_write_back (&elements, error);
}

/**
 * mtl_strided_view_fill:
 * @self: a view
 * @element: the bytes of one element
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Sets all elements to the value that has the given bytes in memory. This works
 * for any element type. If the size of an element is not a whole number of
 * bytes, as with elements of 4 bits, the value is in the low bits. For vectors,
 * @element holds all lanes.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @element has the wrong size
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot access the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the device cannot copy the last bytes of its
 *   memory
 * - %MTL_ERROR_NO_MEMORY: host memory for a copy of a device's elements cannot
 *   be allocated
 * - %MTL_ERROR_DEVICE: the device failed; some of the elements may be written
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * After any other error nothing was written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill (MtlStridedView  *self,
                       GBytes          *element,
                       GCancellable    *cancellable,
                       GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (element != NULL, FALSE);

  return mtl_strided_view_fill_monitored (self, element, MTL_MONITOR (cancellable), error);
}

gboolean
mtl_strided_view_fill_monitored (MtlStridedView    *self,
                                 GBytes            *element,
                                 const MtlMonitor  *monitor,
                                 GError           **error)
{
  MTL_USE_VIEW (self);
  gsize needed = ((gsize) self->layout.item_bits + 7) / 8, size;
  gconstpointer data = g_bytes_get_data (element, &size);

  if (size != needed)
    {
      g_autofree char *name = mtl_element_type_to_string (self->type);

      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " byte%s given for an element of type %s, which takes %"
                   G_GSIZE_FORMAT, size, MTL_S (size), name, needed);
      return FALSE;
    }

  return mtl_strided_view_check_writable (self, error)
         && fill_items (self, data, FALSE, monitor, error);
}

/**
 * mtl_strided_view_fill_double:
 * @self: a view
 * @value: the value of each element
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or %G_IO_ERROR_CANCELLED
 *
 * Sets all elements to the same value, rounded by the rules of
 * [method@Mtl.StridedView.set_double].
 *
 * Errors:
 *
 * - %MTL_ERROR_READ_ONLY: the view is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the library cannot access the elements
 * - %MTL_ERROR_NOT_SUPPORTED: the elements are not numbers, or the device
 *   cannot copy the last bytes of its memory
 * - %MTL_ERROR_OVERFLOW: an integer element cannot hold the value, or the
 *   number of all lanes or one of their offsets does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: host memory for a copy of a device's elements cannot
 *   be allocated
 * - %MTL_ERROR_DEVICE: the device failed; some of the elements may be written
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * After any other error nothing was written.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill_double (MtlStridedView  *self,
                              double           value,
                              GCancellable    *cancellable,
                              GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  return mtl_strided_view_fill_double_monitored (self, value, MTL_MONITOR (cancellable), error);
}

gboolean
mtl_strided_view_fill_double_monitored (MtlStridedView    *self,
                                        double             value,
                                        const MtlMonitor  *monitor,
                                        GError           **error)
{
  MTL_USE_VIEW (self);
  MtlNumber number = mtl_number_from_double (value);
  guint8 item[16] = { 0 };

  if (!mtl_strided_view_check_writable (self, error)
      || !mtl_element_type_check_numeric (self->type, error)
      || !mtl_number_check_fits (number, mtl_element_type_get_dtype (self->type), error))
    return FALSE;

  mtl_number_store (number, self->type, item, 0);
  return fill_items (self, item, TRUE, monitor, error);
}

/**
 * mtl_strided_view_new_filled: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @value: the value of each element
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor whose elements all have the same value.
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.StridedView.new_zeros] and
 *   [method@Mtl.StridedView.fill_double]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_filled (MtlDevice       *device,
                             MtlDType         dtype,
                             const gint64    *shape,
                             gsize            n_dims,
                             double           value,
                             MtlStorageMode   storage_mode,
                             GError         **error)
{
  g_autoptr (MtlStridedView) self = NULL;

  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  self = mtl_strided_view_new_uninitialized (device, dtype, shape, n_dims, storage_mode, error);
  if (self == NULL || !mtl_strided_view_fill_double (self, value, NULL, error))
    return NULL;

  return g_steal_pointer (&self);
}
