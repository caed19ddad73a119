/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Formatting elements as text. */

#include "mtl-strided-view-private.h"

#include "mtl-host-elements-private.h"
#include "mtl-number-private.h"
#include "mtl-strided-format-private.h"

/* Device memory is copied to the host only if there are few elements. */
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
 * @max_items: the number of elements to show, at most 100,000; if there are
 *   more, only the first and last three along each axis are shown
 *
 * Formats the elements like NumPy prints an array, with the lanes of vectors as
 * one more axis. Numbers have as many digits as tell them from others of their
 * type. Those of bfloat16 and of floats of 8 bits or fewer have up to six, like
 * ml_dtypes prints each of them: 0.875, not 0.9. The result is only a description if the elements cannot be
 * read, if there are more than @max_items and the host cannot access them, or if
 * there is not enough memory for the text.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_strided_view_format (MtlStridedView *self,
                         gsize           max_items)
{
  g_autoptr (MtlViewUse) use G_GNUC_UNUSED = NULL;
  g_auto (MtlHostElements) elements = { .layout = NULL };
  g_autofree char *text = NULL;
  g_autofree char *shape = NULL;
  g_autofree char *type = NULL;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  use = mtl_view_use_begin (self);
  if (is_worth_showing (self, max_items) && mtl_host_elements_init_read (&elements, self, NULL)
      && mtl_host_elements_spread_lanes (&elements, NULL))
    text = mtl_strided_format (&elements.strided, max_items);
  if (text != NULL)
    return g_steal_pointer (&text);

  shape = mtl_dims_to_string (mtl_layout_shape (&self->layout), self->layout.n_dims);
  type = mtl_element_type_to_string (self->type);
  return g_strdup_printf ("<%s %s on device (%d, %d)>", type, shape,
                          self->memory->device_type, self->memory->device_ordinal);
}

/**
 * mtl_strided_view_to_string:
 * @self: a view
 *
 * Formats the elements like [method@Mtl.StridedView.format], with at most 1000
 * of them.
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
