/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* What is in a view: comparisons, bytes, text. */

#include "mtl-strided-view-private.h"

#include "mtl-error.h"
#include "mtl-host-elements-private.h"
#include "mtl-number-private.h"
#include "mtl-strided-format-private.h"

typedef struct
{
  MtlElementType a;
  MtlElementType b;
  double rtol;
  double atol;
} Tolerance;

static gboolean
rows_are_close (const MtlStridedRow *a,
                const MtlStridedRow *b,
                gint64               n,
                gpointer             user_data)
{
  Tolerance *tolerance = user_data;

  for (gint64 i = 0; i < n; i++)
    {
      guint a_bit, b_bit;
      const guint8 *a_data = mtl_strided_row_locate (a, i, &a_bit);
      const guint8 *b_data = mtl_strided_row_locate (b, i, &b_bit);

      if (!mtl_number_is_close (mtl_number_load (tolerance->a, a_data, a_bit),
                                mtl_number_load (tolerance->b, b_data, b_bit),
                                tolerance->rtol, tolerance->atol))
        return FALSE;
    }

  return TRUE;
}

static gboolean
compare (MtlStridedView  *self,
         MtlStridedView  *other,
         double           rtol,
         double           atol,
         GError         **error)
{
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

  return mtl_layout_same_shape (a.strided.layout, b.strided.layout)
         && mtl_strided_for_each_row (&a.strided, &b.strided, rows_are_close,
                                      &(Tolerance) { self->type, other->type, rtol, atol });
}

/**
 * mtl_strided_view_equal:
 * @self: a view
 * @other: another one
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets whether both have the same shape and elements of the same values,
 * compared as numbers whatever their types. NaN is not equal to itself. The
 * lanes of elements of several are one more axis, the last.
 *
 * Fails with %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing here can read the
 * elements, with %MTL_ERROR_NOT_SUPPORTED where they are no numbers, with
 * %MTL_ERROR_OVERFLOW where the number of all lanes or their offsets do not fit
 * 63 bits, with %MTL_ERROR_NO_MEMORY where elements that the host does not reach
 * cannot be fetched for want of memory, and with %MTL_ERROR_DEVICE where a device
 * failed.
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

  return compare (self, other, 0, 0, error);
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

  return compare (self, other, rtol, atol, error);
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
 * order or, being of part of a byte, begin or end within one, and with
 * %MTL_ERROR_NOT_HOST_ACCESSIBLE.
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

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (!mtl_memory_check_host_accessible (self->memory, error))
    return NULL;

  if (!mtl_layout_get_packed_bytes (&self->layout, &start, &size))
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
 * Copies the elements, in C order whatever the layout. Bits that are left in
 * the last byte, after elements of part of a byte, are 0.
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
  MtlBuffer *memory;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  copy = mtl_strided_view_copy_to (self, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, self->type,
                                   NULL, error);
  if (copy == NULL)
    return NULL;

  memory = mtl_strided_view_get_buffer (copy);
  return mtl_buffer_get_bytes (memory, 0, mtl_buffer_get_size (memory), error);
}

/* Few enough to fetch, where they are not in reach. */
static gboolean
is_worth_showing (MtlStridedView *self,
                  gsize           max_items)
{
  return mtl_element_type_is_numeric (self->type)
         && (mtl_memory_is_host_accessible (self->memory)
             || (guint64) mtl_layout_get_volume (&self->layout) <= max_items);
}

/**
 * mtl_strided_view_format:
 * @self: a view
 * @max_items: how many elements to show, 100,000 at most; of more, only the
 *   first and the last three of each axis are
 *
 * Writes the elements as NumPy prints an array, the lanes of elements of
 * several as one more axis. Elements that cannot be read are described, and so
 * are more than @max_items that the host does not reach.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_strided_view_format (MtlStridedView *self,
                         gsize           max_items)
{
  g_auto (MtlHostElements) elements = { .layout = NULL };
  g_autofree char *shape = NULL;
  g_autofree char *type = NULL;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  if (is_worth_showing (self, max_items) && mtl_host_elements_init_read (&elements, self, NULL)
      && mtl_host_elements_spread_lanes (&elements, NULL))
    return mtl_strided_format (&elements.strided, max_items);

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
