/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows a tensor's shape, slices and values. */

#include <mtldl/mtldl.h>

static void
print_view (const char     *name,
            MtlStridedView *view)
{
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_print ("%s\n%s\n", name, text);
}

static gboolean
run (GError **error)
{
  const gint64 shape[] = { 2, 3 };
  const gint64 last[] = { -1, -1 };
  const double values[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) columns = NULL;
  g_autoptr (MtlStridedView) transposed = NULL;

  view = mtl_strided_view_new_from_doubles (values, 6, MTL_DTYPE_FLOAT32, shape, 2, error);
  if (view == NULL)
    return FALSE;
  print_view ("all:", view);

  /* As in Python: all rows, and the columns from the second one. A slice is
   * another view of the same memory, with its own shape and strides. */
  columns = mtl_strided_view_slice_string (view, ":, 1:", error);
  if (columns == NULL)
    return FALSE;
  print_view ("columns:", columns);

  /* So a change through one view is visible in all others. A negative index
   * counts from the end. */
  if (!mtl_strided_view_set_double (columns, last, 2, 60, error))
    return FALSE;
  transposed = mtl_strided_view_transpose (view);
  print_view ("transposed:", transposed);

  g_print ("contiguous: %s\n",
           mtl_strided_view_is_contiguous (transposed, MTL_ORDER_C) ? "yes" : "no");
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (run (&error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
