/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <mtldl-pixbuf/mtldl-pixbuf.h>

int
main (void)
{
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 5, 2);
  g_autoptr (MtlStridedView) view = mtl_pixbuf_view_from_pixbuf (pixbuf, NULL);

  mtl_strided_view_fill_double (view, 7, NULL, NULL);
  g_print ("%d\n", gdk_pixbuf_get_pixels (pixbuf)[14]);
  return 0;
}
