/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include "mtl-bindings-private.h"

static MtlStridedView *
new_counted (int *n_ended)
{
  static float numbers[6] = { 0, 1, 2, 3, 4, 5 };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (2, 3), MTL_ORDER_C, 32, &error);
  g_autoptr (MtlBuffer) buffer =
    mtl_buffer_new_for_data (numbers, sizeof numbers, mtl_device_get_host (), MTL_BUFFER_FLAGS_NONE,
                             count_call, n_ended, &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 0, &error);

  g_assert_no_error (error);
  return view;
}

static void
test_release (void)
{
  int n_ended = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) dense =
    mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_INT16, DIMS (3, 4),
                                MTL_STORAGE_MODE_DEFAULT, &error);
  MtlStridedView *part = mtl_strided_view_transpose (dense);
  gpointer address = part;
  MtlStridedView *view;

  /* The memory has another user, and the object serves again, in full. */
  g_assert_true (mtl_strided_view_release (part, FALSE));
  part = mtl_strided_view_as_read_only (dense);
  g_assert_true (address == part);
  g_assert_true (mtl_strided_view_release (part, FALSE));
  part = mtl_strided_view_transpose (dense);
  g_assert_false (mtl_strided_view_is_read_only (part));
  g_assert_cmpint (mtl_strided_view_get_shape (part, NULL)[0], ==, 4);
  g_assert_true (mtl_strided_view_release (part, FALSE));

  /* The last user of the memory, which ends when that is allowed. */
  view = new_counted (&n_ended);
  g_assert_false (mtl_strided_view_release (view, FALSE));
  g_assert_cmpfloat (mtl_strided_view_get_double (view, DIMS (1, 2), NULL), ==, 5);
  g_assert_cmpint (n_ended, ==, 0);
  g_assert_true (mtl_strided_view_release (view, TRUE));
  g_assert_cmpint (n_ended, ==, 1);
}

static void
test_release_of_what_others_hold (void)
{
  int n_ended = 0;
  MtlStridedView *view = new_counted (&n_ended);
  gpointer pointer = view;
  GWeakRef weak;

  g_object_ref (view);
  g_assert_false (mtl_strided_view_release (view, FALSE));
  g_assert_true (mtl_strided_view_release (view, TRUE));
  g_assert_cmpint (n_ended, ==, 0);

  g_object_add_weak_pointer (G_OBJECT (view), &pointer);
  g_weak_ref_init (&weak, view);
  g_object_set_data (G_OBJECT (view), "name", (gpointer) "view");
  g_assert_true (mtl_strided_view_release (view, TRUE));
  g_assert_null (pointer);
  g_assert_null (g_weak_ref_get (&weak));
  g_assert_cmpint (n_ended, ==, 1);
  g_weak_ref_clear (&weak);
}

static void
assert_is_empty (MtlStridedView *view)
{
  gsize n_dims;

  g_assert_cmpint (mtl_strided_view_get_shape (view, &n_dims)[0], ==, 0);
  g_assert_cmpuint (n_dims, ==, 1);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 0);
}

static void
test_close (void)
{
  int n_ended = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_counted (&n_ended);
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) row = mtl_strided_view_select (view, 0, 1, &error);
  g_autoptr (MtlStridedView) derived = NULL;

  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_close (read_only, &error));
  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_is_read_only (read_only));
  g_assert_false (mtl_strided_view_close (view, &error));
  g_assert_no_error (error);
  assert_is_empty (read_only);
  assert_is_empty (view);

  /* Others still have the memory. */
  g_assert_cmpfloat (mtl_strided_view_get_double (row, DIMS (2), NULL), ==, 5);
  g_assert_cmpint (n_ended, ==, 0);
  g_assert_true (mtl_strided_view_close (row, &error));
  g_assert_no_error (error);
  g_assert_cmpint (n_ended, ==, 1);
  assert_is_empty (row);
  g_assert_true (mtl_strided_view_close (row, &error));
  g_assert_no_error (error);
  g_assert_cmpint (n_ended, ==, 1);

  /* An empty view like any other. */
  derived = mtl_strided_view_unsqueeze (row, (int[]) { 0 }, 1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_strided_view_get_n_dims (derived), ==, 2);
}

static void
test_close_what_others_hold (void)
{
  int n_ended = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_counted (&n_ended);
  g_autoptr (MtlBuffer) buffer = g_object_ref (mtl_strided_view_get_buffer (view));
  g_autoptr (GBytes) bytes = mtl_strided_view_get_bytes (view, &error);

  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_close (view, &error));
  g_assert_no_error (error);
  assert_is_empty (view);
  g_clear_object (&buffer);
  g_assert_cmpfloat (((const float *) g_bytes_get_data (bytes, NULL))[5], ==, 5);
  g_assert_cmpint (n_ended, ==, 0);
  g_clear_pointer (&bytes, g_bytes_unref);
  g_assert_cmpint (n_ended, ==, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/release", test_release);
  g_test_add_func ("/StridedView/release/held", test_release_of_what_others_hold);
  g_test_add_func ("/StridedView/close", test_close);
  g_test_add_func ("/StridedView/close/held", test_close_what_others_hold);

  return g_test_run ();
}
