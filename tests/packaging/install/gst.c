/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <mtldl-gst/mtldl-gst.h>

int
main (int    argc,
      char **argv)
{
  const gint64 shape[] = { 2, 5 };
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  guint8 last = 0;

  gst_init (&argc, &argv);
  buffer = gst_buffer_new_allocate (NULL, 10, NULL);
  view = mtl_gst_view_from_buffer (buffer, MTL_DTYPE_UINT8, shape, 2, GST_MAP_READWRITE, NULL);
  mtl_strided_view_fill_double (view, 7, NULL, NULL);
  g_clear_object (&view);

  gst_buffer_extract (buffer, 9, &last, 1);
  g_print ("%d\n", last);
  return 0;
}
