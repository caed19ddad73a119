/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-error.h"
#include "mtl-number-private.h"
#include "mtl-strided-format-private.h"

/**
 * mtl_strided_view_fill_double:
 * @self: a view
 * @value: what each element is to be
 * @error: return location for a [error@Mtl.Error]
 *
 * Gives all elements the same value, rounded as
 * [method@Mtl.StridedView.set_double] does.
 *
 * Fails with %MTL_ERROR_READ_ONLY, with %MTL_ERROR_NOT_HOST_ACCESSIBLE, with
 * %MTL_ERROR_NOT_SUPPORTED where the elements are no numbers, and with
 * %MTL_ERROR_OVERFLOW where an integer element cannot hold the value.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_fill_double (MtlStridedView  *self,
                              double           value,
                              GError         **error)
{
  MtlNumber number = mtl_number_from_double (value);
  MtlStrided strided;
  MtlDType dtype;
  guint8 item[16];

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  dtype = mtl_element_type_get_dtype (self->type);
  if (!mtl_strided_view_check_writable (self, error)
      || !mtl_memory_check_host_accessible (self->memory, error)
      || !mtl_element_type_check_numeric (self->type, error)
      || !mtl_number_check_fits (number, dtype, error))
    return FALSE;

  mtl_number_store (number, dtype, item);
  strided = mtl_strided_view_get_strided (self);
  mtl_strided_fill (&strided, item);
  return TRUE;
}

/* A copy on the host in C order, of another element type if asked. */
static MtlStridedView *
copy_to_type (MtlStridedView  *self,
              MtlElementType   type,
              GError         **error)
{
  g_autoptr (MtlStridedView) copy = NULL;
  MtlStrided dest, source;
  MtlLayout layout;

  if (!mtl_memory_check_host_accessible (self->memory, error)
      || !mtl_layout_new_dense (mtl_layout_shape (&self->layout), self->layout.n_dims,
                                MTL_ORDER_C, mtl_element_type_get_item_bits (type),
                                &layout, error))
    return NULL;

  copy = mtl_strided_view_new_dense (mtl_device_get_host (), MTL_STORAGE_MODE_HOST, type, &layout,
                                     FALSE, error);
  if (copy == NULL)
    return NULL;

  dest = mtl_strided_view_get_strided (copy);
  source = mtl_strided_view_get_strided (self);
  if (!mtl_strided_copy (&dest, &source, error))
    return NULL;

  return g_steal_pointer (&copy);
}

/**
 * mtl_strided_view_copy_from:
 * @self: the view to write to
 * @source: the view to read
 * @error: return location for a [error@Mtl.Error]
 *
 * Copies all elements of @source into @self, converted to its element type.
 * @source is broadcast to the shape of @self. Where the two share memory, the
 * result is that of a copy through a temporary.
 *
 * Integers that do not fit wrap around. Floats become integers by cutting
 * towards zero; what the integer cannot hold becomes the nearest that it can,
 * and NaN becomes 0. Of complex numbers real elements take the real part.
 *
 * Fails with %MTL_ERROR_READ_ONLY, with %MTL_ERROR_INVALID_ARGUMENT where the
 * shapes do not go together, with %MTL_ERROR_NOT_HOST_ACCESSIBLE, with
 * %MTL_ERROR_NOT_SUPPORTED where the element types cannot be converted, and
 * with %MTL_ERROR_NO_MEMORY where a temporary cannot be had. Nothing is
 * written then.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_copy_from (MtlStridedView  *self,
                            MtlStridedView  *source,
                            GError         **error)
{
  g_autoptr (MtlStridedView) temporary = NULL;
  g_auto (MtlLayout) broadcast = MTL_LAYOUT_INIT;
  MtlStrided dest, from;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (source), FALSE);

  if (!mtl_strided_view_check_writable (self, error)
      || !mtl_memory_check_host_accessible (self->memory, error)
      || !mtl_memory_check_host_accessible (source->memory, error)
      || !mtl_layout_broadcast_to (&source->layout, mtl_layout_shape (&self->layout),
                                   self->layout.n_dims, &broadcast, error))
    return FALSE;

  dest = mtl_strided_view_get_strided (self);
  from = mtl_strided_view_get_strided (source);
  if (mtl_strided_may_overlap (&dest, &from))
    {
      temporary = copy_to_type (source, source->type, error);
      if (temporary == NULL)
        return FALSE;

      mtl_layout_clear (&broadcast);
      if (!mtl_layout_broadcast_to (&temporary->layout, mtl_layout_shape (&self->layout),
                                    self->layout.n_dims, &broadcast, error))
        return FALSE;
      from = mtl_strided_view_get_strided (temporary);
    }

  from.layout = &broadcast;
  return mtl_strided_copy (&dest, &from, error);
}

/**
 * mtl_strided_view_copy:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Copies all elements into memory of their own, in C order.
 *
 * Fails with %MTL_ERROR_NO_MEMORY where it cannot be had, and with
 * %MTL_ERROR_NOT_HOST_ACCESSIBLE.
 *
 * Returns: (transfer full): a writable view of the copy
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_copy (MtlStridedView  *self,
                       GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  return copy_to_type (self, self->type, error);
}

/**
 * mtl_strided_view_to_contiguous:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gives @self where its elements lie side by side in C order, and a copy that
 * does where not.
 *
 * Fails as [method@Mtl.StridedView.copy] does.
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_contiguous (MtlStridedView  *self,
                                GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (mtl_layout_is_contiguous (&self->layout, MTL_ORDER_C))
    return g_object_ref (self);

  return mtl_strided_view_copy (self, error);
}

/**
 * mtl_strided_view_to_dtype:
 * @self: a view
 * @dtype: the element type
 * @error: return location for a [error@Mtl.Error]
 *
 * Gives @self where it has that element type, and else a copy whose elements
 * are converted as [method@Mtl.StridedView.copy_from] does.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where @dtype has no name, and as that
 * and [method@Mtl.StridedView.copy] do.
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_dtype (MtlStridedView  *self,
                           MtlDType         dtype,
                           GError         **error)
{
  MtlElementType type;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_dtype_check (dtype, error))
    return NULL;

  type = mtl_element_type_new (dtype);
  if (mtl_element_type_equal (self->type, type))
    return g_object_ref (self);

  if (!mtl_element_type_check_numeric (type, error)
      || !mtl_element_type_check_numeric (self->type, error))
    return NULL;

  return copy_to_type (self, type, error);
}

/**
 * mtl_strided_view_to_device:
 * @self: a view
 * @device: a device
 * @storage_mode: where the memory is to live
 * @error: return location for a [error@Mtl.Error]
 *
 * Gives @self where it is on that device in that storage mode, and else a copy
 * there, in C order.
 *
 * Fails with %MTL_ERROR_NOT_SUPPORTED where the device has no such storage
 * mode, and as [method@Mtl.StridedView.copy] does.
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_to_device (MtlStridedView  *self,
                            MtlDevice       *device,
                            MtlStorageMode   storage_mode,
                            GError         **error)
{
  g_autoptr (MtlStridedView) contiguous = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  MtlLayout layout;
  gint64 size, start;
  guint bit;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (MTL_IS_DEVICE (device), NULL);

  if (mtl_strided_view_get_device (self) == device && self->memory->storage_mode == storage_mode)
    return g_object_ref (self);

  contiguous = mtl_strided_view_to_contiguous (self, error);
  if (contiguous == NULL
      || !mtl_layout_new_dense_like (&contiguous->layout, MTL_ORDER_C, &layout, error))
    return NULL;

  view = mtl_strided_view_new_dense (device, storage_mode, self->type, &layout, FALSE, error);
  if (view == NULL || !mtl_layout_get_required_size (&view->layout, &size, error))
    return NULL;

  mtl_layout_get_first_byte (&contiguous->layout, &start, &bit);
  if (bit != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The first element lies %u bits into a byte: only whole bytes are copied"
                   " between devices", bit);
      return NULL;
    }

  start += mtl_strided_view_get_byte_offset (contiguous);
  if (!mtl_buffer_copy (mtl_strided_view_get_buffer (view), 0,
                        mtl_strided_view_get_buffer (contiguous), start, size, NULL, error))
    return NULL;

  return g_steal_pointer (&view);
}

typedef struct
{
  MtlDType a;
  MtlDType b;
  double rtol;
  double atol;
} Tolerance;

static gboolean
rows_are_equal (guint8       *a,
                gint64        a_stride,
                const guint8 *b,
                gint64        b_stride,
                gint64        n,
                gpointer      user_data)
{
  Tolerance *types = user_data;

  for (gint64 i = 0; i < n; i++)
    if (!mtl_number_equal (mtl_number_load (types->a, a + i * a_stride),
                           mtl_number_load (types->b, b + i * b_stride)))
      return FALSE;

  return TRUE;
}

static gboolean
rows_are_close (guint8       *a,
                gint64        a_stride,
                const guint8 *b,
                gint64        b_stride,
                gint64        n,
                gpointer      user_data)
{
  Tolerance *tolerance = user_data;

  for (gint64 i = 0; i < n; i++)
    if (!mtl_number_is_close (mtl_number_load (tolerance->a, a + i * a_stride),
                              mtl_number_load (tolerance->b, b + i * b_stride),
                              tolerance->rtol, tolerance->atol))
      return FALSE;

  return TRUE;
}

static gboolean
compare (MtlStridedView     *self,
         MtlStridedView     *other,
         double              rtol,
         double              atol,
         MtlStridedRowFunc   func,
         GError            **error)
{
  Tolerance tolerance;
  MtlStrided a, b;

  if (!mtl_memory_check_host_accessible (self->memory, error)
      || !mtl_memory_check_host_accessible (other->memory, error)
      || !mtl_element_type_check_numeric (self->type, error)
      || !mtl_element_type_check_numeric (other->type, error))
    return FALSE;

  if (!mtl_layout_same_shape (&self->layout, &other->layout))
    return FALSE;

  a = mtl_strided_view_get_strided (self);
  b = mtl_strided_view_get_strided (other);
  tolerance = (Tolerance) { mtl_element_type_get_dtype (self->type),
                            mtl_element_type_get_dtype (other->type), rtol, atol };
  return mtl_strided_for_each_row (&a, &b, func, &tolerance);
}

/**
 * mtl_strided_view_equal:
 * @self: a view
 * @other: another one
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets whether both have the same shape and elements of the same values,
 * compared as numbers whatever their types. NaN is not equal to itself.
 *
 * Fails with %MTL_ERROR_NOT_HOST_ACCESSIBLE, and with %MTL_ERROR_NOT_SUPPORTED
 * where the elements are no numbers.
 *
 * Returns: whether they are equal; %FALSE without an error if not
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_equal (MtlStridedView  *self,
                        MtlStridedView  *other,
                        GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), FALSE);

  return compare (self, other, 0, 0, rows_are_equal, error);
}

/**
 * mtl_strided_view_all_close:
 * @self: a view
 * @other: another one
 * @rtol: how far apart two elements may be, relative to that of @other
 * @atol: how far apart they may be besides
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets whether both have the same shape and elements of about the same values:
 * |a - b| <= @atol + @rtol * |b|, as NumPy's `allclose` has it.
 *
 * Fails as [method@Mtl.StridedView.equal] does.
 *
 * Returns: whether they are close; %FALSE without an error if not
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_all_close (MtlStridedView  *self,
                            MtlStridedView  *other,
                            double           rtol,
                            double           atol,
                            GError         **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), FALSE);

  return compare (self, other, rtol, atol, rows_are_close, error);
}

/**
 * mtl_strided_view_get_bytes:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the elements as [struct@GLib.Bytes], without a copy. The contract is
 * that of [method@Mtl.Buffer.get_bytes].
 *
 * Fails with %MTL_ERROR_NEEDS_COPY where they do not lie side by side in C
 * order, and with %MTL_ERROR_NOT_HOST_ACCESSIBLE.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_strided_view_get_bytes (MtlStridedView  *self,
                            GError         **error)
{
  gint64 start, size;
  guint bit;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_memory_check_host_accessible (self->memory, error))
    return NULL;

  mtl_layout_get_first_byte (&self->layout, &start, &bit);
  if (bit != 0 || !mtl_layout_get_packed_size (&self->layout, &size))
    {
      g_autofree char *string = mtl_layout_to_string (&self->layout);

      g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
                   "A layout of %s gives bytes only with a copy", string);
      return NULL;
    }

  if (size == 0)
    return g_bytes_new_static (NULL, 0);

  return g_bytes_new_with_free_func (mtl_strided_view_get_data (self), size,
                                     (GDestroyNotify) mtl_memory_unref,
                                     mtl_memory_ref (self->memory));
}

/**
 * mtl_strided_view_dup_bytes:
 * @self: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Copies the elements, in C order whatever the layout.
 *
 * Fails as [method@Mtl.StridedView.copy] does.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 1.0
 */
GBytes *
mtl_strided_view_dup_bytes (MtlStridedView  *self,
                            GError         **error)
{
  g_autoptr (MtlStridedView) copy = NULL;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  copy = mtl_strided_view_copy (self, error);
  if (copy == NULL)
    return NULL;

  return mtl_strided_view_get_bytes (copy, error);
}

/**
 * mtl_strided_view_format:
 * @self: a view
 * @max_items: how many elements to show, 100,000 at most; of more, only the
 *   first and the last three of each axis are
 *
 * Writes the elements as NumPy prints an array. Elements that cannot be read
 * are described.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_strided_view_format (MtlStridedView *self,
                         gsize           max_items)
{
  g_autofree char *shape = NULL;
  g_autofree char *type = NULL;
  MtlStrided strided;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (mtl_strided_view_is_host_accessible (self) && mtl_element_type_is_numeric (self->type))
    {
      strided = mtl_strided_view_get_strided (self);
      return mtl_strided_format (&strided, max_items);
    }

  shape = mtl_dims_to_string (mtl_layout_shape (&self->layout), self->layout.n_dims);
  type = mtl_element_type_to_string (self->type);
  return g_strdup_printf ("<%s %s on device (%d, %d)>", type, shape,
                          self->memory->device_type, self->memory->device_ordinal);
}

/**
 * mtl_strided_view_to_string:
 * @self: a view
 *
 * Writes the elements as [method@Mtl.StridedView.format] does, at most 1000.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_strided_view_to_string (MtlStridedView *self)
{
  return mtl_strided_view_format (self, 1000);
}
