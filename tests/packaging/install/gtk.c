/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <mtldl-gtk/mtldl-gtk.h>

int
main (void)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 5, 2);
  g_autoptr (MtlStridedView) view = mtl_gtk_view_from_surface (surface, NULL);

  mtl_strided_view_fill_double (view, 7, NULL, NULL);
  g_print ("%d\n", cairo_image_surface_get_data (surface)[14]);
  cairo_surface_destroy (surface);
  return 0;
}
