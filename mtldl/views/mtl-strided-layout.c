/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-layout-private.h"

#include "mtl-bindings.h"
#include "mtl-error.h"
#include "mtl-spare-objects-private.h"

/**
 * MtlStridedLayout:
 *
 * A map from indices to places in memory: a shape, a stride for each axis, and
 * an offset.
 *
 * The element at indices (i, j, …) lies at `offset + i * strides[0] + j *
 * strides[1] + …`, in elements. A layout knows what an element takes, in bits,
 * but neither its type nor any memory: a [class@Mtl.StridedView] has those.
 *
 * Layouts do not change. Operations give a new layout that leads to some or
 * all of the same elements, and never move any.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (MtlStridedLayout, mtl_strided_layout, G_TYPE_OBJECT)

static void
mtl_strided_layout_finalize (GObject *object)
{
  MtlStridedLayout *self = MTL_STRIDED_LAYOUT (object);

  mtl_layout_clear (&self->layout);

  G_OBJECT_CLASS (mtl_strided_layout_parent_class)->finalize (object);
}

static void
mtl_strided_layout_class_init (MtlStridedLayoutClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = mtl_strided_layout_finalize;
}

static void
mtl_strided_layout_init (MtlStridedLayout *self)
{
  mtl_layout_init (&self->layout, 0, 8, 0);
}

static MtlSpareObjects spare_layouts;

/**
 * mtl_strided_layout_release: (skip)
 * @self: (transfer full): a layout
 * @may_run_others: whether to go on if that ends the object, which runs
 *   functions of whoever watches it
 *
 * Gives up a reference, as g_object_unref() does, but keeps the object for the
 * next layout that is made, unless somebody else still uses it. For loops that
 * make many short-lived layouts. Declared in `<mtldl/mtl-bindings.h>`.
 *
 * Returns: whether the reference was given up, which is always the case if
 *   @may_run_others is %TRUE
 *
 * Since: 1.0
 */
gboolean
mtl_strided_layout_release (MtlStridedLayout *self,
                            gboolean          may_run_others)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (self), FALSE);

  if (!mtl_object_is_unattached (self))
    {
      if (may_run_others)
        g_object_unref (self);
      return may_run_others;
    }

  mtl_layout_clear (&self->layout);
  mtl_spare_objects_give (&spare_layouts, self);
  return TRUE;
}

MtlStridedLayout *
mtl_strided_layout_new_take (MtlLayout *layout)
{
  MtlStridedLayout *self = mtl_spare_objects_take (&spare_layouts, MTL_TYPE_STRIDED_LAYOUT);

  self->layout = *layout;
  return self;
}

/**
 * mtl_strided_layout_new: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @strides: (array length=n_strides) (nullable): the strides in elements, %NULL
 *   for C order
 * @n_strides: the number of @strides
 * @item_bits: what one element takes, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a layout.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where an extent is negative, there are
 * too many dimensions, or another number of strides, or @item_bits is 0, and
 * with %MTL_ERROR_OVERFLOW where the number of elements or their offsets do not
 * fit 63 bits.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new (const gint64  *shape,
                        gsize          n_dims,
                        const gint64  *strides,
                        gsize          n_strides,
                        guint          item_bits,
                        GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_check_n_strides (strides, n_strides, n_dims, error)
      || !mtl_layout_new (shape, strides, n_dims, 0, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_for_bytes: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @byte_strides: (array length=n_strides) (nullable): the strides in bytes, %NULL
 *   for C order
 * @n_strides: the number of @byte_strides
 * @item_bits: what one element takes, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a layout of strides in bytes, which have to be multiples of an element
 * on axes of more than one index.
 *
 * Fails as [ctor@Mtl.StridedLayout.new] does, and with
 * %MTL_ERROR_INVALID_ARGUMENT where a stride is not a multiple.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_for_bytes (const gint64  *shape,
                                  gsize          n_dims,
                                  const gint64  *byte_strides,
                                  gsize          n_strides,
                                  guint          item_bits,
                                  GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_check_n_strides (byte_strides, n_strides, n_dims, error)
      || !mtl_layout_new_for_bytes (shape, byte_strides, n_dims, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_dense: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @order: C or F order
 * @item_bits: what one element takes, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a layout whose elements lie side by side.
 *
 * Fails as [ctor@Mtl.StridedLayout.new] does, and with
 * %MTL_ERROR_INVALID_ARGUMENT where @order is another one.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_dense (const gint64  *shape,
                              gsize          n_dims,
                              MtlOrder       order,
                              guint          item_bits,
                              GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  if (!mtl_layout_new_dense (shape, n_dims, order, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_dense_for_axes: (constructor)
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions, at most 64
 * @axes: (array length=n_axes): each axis once, outermost first; negative ones
 *   count from the end
 * @n_axes: the number of @axes
 * @item_bits: what one element takes, in bits
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a layout whose elements lie side by side, the last one of @axes being
 * the densest.
 *
 * Fails as [ctor@Mtl.StridedLayout.new] does, with %MTL_ERROR_OUT_OF_BOUNDS
 * where there is no such axis, and with %MTL_ERROR_INVALID_ARGUMENT where one
 * is missing or named twice.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_dense_for_axes (const gint64  *shape,
                                       gsize          n_dims,
                                       const int     *axes,
                                       gsize          n_axes,
                                       guint          item_bits,
                                       GError       **error)
{
  MtlLayout layout;

  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (axes != NULL || n_axes == 0, NULL);

  if (!mtl_layout_new_dense_for_axes (shape, n_dims, axes, n_axes, item_bits, &layout, error))
    return NULL;

  return mtl_strided_layout_new_take (&layout);
}

/**
 * mtl_strided_layout_new_dense_like: (constructor)
 * @other: a layout
 * @order: the order, where %MTL_ORDER_K keeps that of @other
 * @error: return location for a [error@Mtl.Error]
 *
 * Makes a layout of the shape of @other whose elements lie side by side.
 * Repeated elements get a place of their own each, and reversed axes run
 * forwards.
 *
 * Fails with %MTL_ERROR_INVALID_ARGUMENT where there is no such order.
 *
 * Returns: (transfer full): the new layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_strided_layout_new_dense_like (MtlStridedLayout  *other,
                                   MtlOrder           order,
                                   GError           **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (other), NULL);

  return mtl_strided_layout_to_dense (other, order, error);
}
