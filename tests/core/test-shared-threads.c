/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Random operations by several threads on the same files, views and events. Each knows
 * what must come of its own. */

#include "test-tensor-files.h"

#define N_THREADS 4
#define N_PLANES 3
#define N_ROWS 20
#define N_COLUMNS 50
#define N_ELEMENTS (N_PLANES * N_ROWS * N_COLUMNS)

typedef struct
{
  MtlTensorFile *mapped;
  MtlTensorFile *read;
  MtlTensorFile *archive;
  gint32 values[N_ELEMENTS];
  MtlStridedView *view;   /* the values, which no thread writes */
  MtlStridedView *target; /* a row for each thread */
  MtlEvent *event;
  gpointer mailbox;       /* atomic: a tensor that one exports and another imports */
  gint64 end;
} Shared;

typedef struct
{
  Shared *shared;
  int number;
  GRand *rand;
  guint64 n_operations;
} User;

static gsize
draw (User  *self,
      gsize  n)
{
  return g_rand_int_range (self->rand, 0, n);
}

static MtlTensorFile *
draw_file (User *self)
{
  return draw (self, 2) == 0 ? self->shared->mapped : self->shared->read;
}

static void
assert_values (MtlStridedView *view,
               const gint32   *values)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), values,
                   N_ELEMENTS * sizeof *values);
}

static void
load (User *self)
{
  switch (draw (self, 4))
    {
    case 0:
      assert_tensor (draw_file (self), "a", 1, 2, 3);
      break;
    case 1:
      assert_tensor (draw_file (self), "b", 4, 5, 6, -1);
      break;
    case 2:
      assert_tensor (self->shared->archive, "stored", 1, 2);
      break;
    default:
      assert_tensor (self->shared->archive, "big", 258, 3);
    }
}

static void
load_all (User *self)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *tensors = draw_file (self);
  gsize n_views;
  MtlStridedView **views = mtl_tensor_file_load_views (tensors, NULL, NULL, NULL, NULL, &n_views,
                                                       &error);

  g_assert_no_error (error);
  g_assert_cmpuint (n_views, ==, 3);
  g_assert_true (mtl_tensor_file_prefetch (tensors, views, n_views, &error));
  assert_elements (views[0], 1, 2, 3);
  assert_elements (views[1], 4, 5, 6, -1);
  for (gsize i = 0; i < n_views; i++)
    g_object_unref (views[i]);
  g_free (views);
}

static void
check_file (User *self)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *tensors = draw (self, 2) == 0 ? self->shared->archive : draw_file (self);

  g_assert_true (
      mtl_tensor_file_check (tensors, MTL_TENSOR_FILE_CHECKS_NAN, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
list (User *self)
{
  MtlTensorFile *tensors = draw_file (self);
  guint i = draw (self, 3);
  g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (tensors), i);
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);

  g_assert_cmpstr (names[i], ==, ((const char *[]) { "a", "b", "none" })[i]);
  g_assert_cmpstr (mtl_tensor_file_entry_get_name (entry), ==, names[i]);
  g_assert_cmpuint (mtl_tensor_file_entry_get_n_bytes (entry), ==, ((int[]) { 3, 8, 0 })[i]);
  g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "who"), ==, "me");
}

static void
slice_and_turn (User *self)
{
  gint32 plane = draw (self, N_PLANES), row = draw (self, N_ROWS), column = draw (self, N_COLUMNS);
  g_autofree char *slices = g_strdup_printf ("%d, ::-1, %d:", plane, column);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) part = slice (self->shared->view, slices);
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (part);
  gint32 value = self->shared->values[(plane * N_ROWS + N_ROWS - 1 - row) * N_COLUMNS + column];

  g_assert_cmpint (mtl_strided_view_get_int64 (turned, DIMS (0, row), &error), ==, value);
  g_assert_no_error (error);
}

static void
copy (User *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) made = mtl_strided_view_copy (self->shared->view, MTL_ORDER_C, NULL,
                                                           &error);

  g_assert_no_error (error);
  assert_values (made, self->shared->values);
  g_assert_true (mtl_strided_view_array_equal (made, self->shared->view, MTL_COMPARE_FLAGS_NONE,
                                               NULL, &error));
  g_assert_no_error (error);

  mtl_strided_view_set_int64 (made, DIMS (0, 0, draw (self, N_COLUMNS)), -77, &error);
  g_assert_no_error (error);
  g_assert_false (mtl_strided_view_array_equal (made, self->shared->view, MTL_COMPARE_FLAGS_NONE,
                                                NULL, &error));
  g_assert_no_error (error);
}

static void
convert (User *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) doubles = mtl_strided_view_to_dtype (self->shared->view,
                                                                  MTL_DTYPE_FLOAT64, MTL_ORDER_C,
                                                                  NULL, &error);
  const double *data;

  g_assert_no_error (error);
  data = mtl_strided_view_get_data (doubles);
  for (gsize i = 0; i < N_ELEMENTS; i++)
    g_assert_cmpfloat (data[i], ==, self->shared->values[i]);
}

/* Its own part of a view that all write to. */
static void
write_row (User *self)
{
  gsize begin = draw (self, N_ELEMENTS), value = draw (self, 1000);
  g_autofree char *row_slices = g_strdup_printf ("%d", self->number);
  g_autofree char *tail_slices = g_strdup_printf ("%" G_GSIZE_FORMAT ":", begin);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) row = slice (self->shared->target, row_slices);
  g_autoptr (MtlStridedView) tail = slice (row, tail_slices);
  g_autoptr (MtlStridedView) flat = NULL;
  const guint16 *data = mtl_strided_view_get_data (row);

  flat = mtl_strided_view_reshape (self->shared->view, DIMS (N_ELEMENTS), &error);
  g_assert_no_error (error);

  mtl_strided_view_copy_from (row, flat, NULL, &error);
  g_assert_no_error (error);
  mtl_strided_view_fill_double (tail, value, NULL, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < N_ELEMENTS; i++)
    g_assert_cmpuint (data[i], ==, i < begin ? (gsize) self->shared->values[i] : value);
}

static void
describe (User *self)
{
  g_autoptr (MtlStridedView) first = slice (self->shared->view, "1, 2, :3");
  g_autofree char *text = mtl_strided_view_format (first, 10);
  const gint32 *values = self->shared->values + (N_ROWS + 2) * N_COLUMNS;
  g_autofree char *expected = g_strdup_printf ("[%d %d %d]", values[0], values[1], values[2]);
  g_autoptr (MtlBuffer) buffer = NULL;
  gboolean read_only;

  g_assert_cmpstr (text, ==, expected);

  g_object_get (self->shared->view, "buffer", &buffer, "read-only", &read_only, NULL);
  g_assert_true (buffer == mtl_strided_view_get_buffer (self->shared->view));
  g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, sizeof self->shared->values);
  g_assert_false (read_only);
}

static void
exchange (User *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlDlpackTensor) given = mtl_strided_view_export_dlpack (self->shared->view,
                                                                      MTL_DLPACK_FLAGS_NONE, NULL,
                                                                      &error);
  g_autoptr (MtlDlpackTensor) taken = NULL;

  g_assert_no_error (error);
  taken = g_atomic_pointer_exchange (&self->shared->mailbox, g_steal_pointer (&given));
  if (taken != NULL)
    {
      g_autoptr (MtlStridedView) view = mtl_strided_view_new_from_dlpack (taken, &error);

      g_assert_no_error (error);
      assert_values (view, self->shared->values);
    }
}

static void
signal_and_wait (User *self)
{
  MtlEvent *event = self->shared->event;
  guint64 value = mtl_event_get_signaled_value (event) + draw (self, 3);
  g_autoptr (GError) error = NULL;

  mtl_event_signal (event, value);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), >=, value);
  g_assert_true (mtl_event_wait (event, value, G_USEC_PER_SEC, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (mtl_event_wait (event, G_MAXUINT64, draw (self, 50), NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

static void
wait_async (User *self)
{
  MtlEvent *event = self->shared->event;
  guint64 value = mtl_event_get_signaled_value (event) + 1;
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  g_main_context_push_thread_default (context);
  mtl_event_wait_async (event, value, -1, NULL, keep_result, &result);
  mtl_event_signal (event, value);
  wait_for_kept (&result);
  g_main_context_pop_thread_default (context);

  g_assert_true (mtl_event_wait_finish (event, result, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), >=, value);
}

static gpointer
use (gpointer user)
{
  User *self = user;
  void (* const uses[]) (User *) = {
    load, load_all, check_file, list, slice_and_turn, copy, convert, write_row, describe, exchange,
    signal_and_wait, wait_async,
  };

  while (g_get_monotonic_time () < self->shared->end)
    {
      uses[draw (self, G_N_ELEMENTS (uses))] (self);
      self->n_operations++;
    }

  return NULL;
}

static void
test_random (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) plain = write_three (folder, "plain");
  g_autoptr (GFile) archive = write_archive (folder, 1000);
  g_autofree Shared *shared = g_new0 (Shared, 1);
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  GThread *threads[N_THREADS];
  User users[N_THREADS];
  guint64 n_operations = 0;
  GWeakRef weak;

  for (gsize i = 0; i < N_ELEMENTS; i++)
    shared->values[i] = g_test_rand_int_range (10000, 65536); /* all have 5 digits */
  buffer = mtl_buffer_new_for_data (shared->values, sizeof shared->values, mtl_device_get_host (),
                                    MTL_BUFFER_FLAGS_NONE, NULL, NULL, &error);
  g_assert_no_error (error);
  layout = mtl_strided_layout_new_dense (DIMS (N_PLANES, N_ROWS, N_COLUMNS), MTL_ORDER_C, 32,
                                         &error);
  g_assert_no_error (error);
  shared->view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT32, 0, &error);
  g_assert_no_error (error);
  shared->target = mtl_strided_view_new_zeros (mtl_device_get_host (), MTL_DTYPE_UINT16,
                                               DIMS (N_THREADS, N_ELEMENTS),
                                               MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  shared->mapped = open_file (plain, MTL_TENSOR_FILE_MODE_MAP);
  shared->read = open_file (plain, MTL_TENSOR_FILE_MODE_READ);
  shared->archive = open_file (archive, MTL_TENSOR_FILE_MODE_MAP);
  shared->event = mtl_event_new (mtl_device_get_host (), &error);
  g_assert_no_error (error);
  shared->end = g_get_monotonic_time ()
                + get_number ("MTL_TEST_SECONDS", 5) * G_TIME_SPAN_SECOND;

  for (int i = 0; i < N_THREADS; i++)
    {
      users[i] = (User) { shared, i, g_rand_new_with_seed (g_test_rand_int ()), 0 };
      threads[i] = g_thread_new ("user", use, &users[i]);
    }
  for (int i = 0; i < N_THREADS; i++)
    {
      g_thread_join (threads[i]);
      g_rand_free (users[i].rand);
      n_operations += users[i].n_operations;
    }
  g_test_message ("%" G_GUINT64_FORMAT " random operations", n_operations);

  g_clear_object ((MtlDlpackTensor **) &shared->mailbox);
  g_assert_finalize_object (shared->mapped);
  g_assert_finalize_object (shared->read);
  g_assert_finalize_object (shared->archive);
  g_weak_ref_init (&weak, shared->event);
  g_object_unref (shared->event);
  await_end (&weak);
  g_assert_finalize_object (shared->target);
  g_assert_finalize_object (shared->view);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/SharedThreads/random", test_random);

  return g_test_run ();
}
