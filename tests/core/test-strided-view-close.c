/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Closing views while operations use them: from callbacks, from devices, from threads. */

#include "test-device.h"

#define N_ROUNDS 300
#define SIZE 65536

/* Memory that its owner makes unreadable once it gets it back. */
typedef struct
{
  guint8 *data;
  int n_ended; /* atomic */
} Owned;

static void
end_owned (gpointer data)
{
  Owned *self = data;

  memset (self->data, 0xff, SIZE);
  g_free (g_steal_pointer (&self->data));
  g_atomic_int_inc (&self->n_ended);
}

static MtlStridedView *
new_owned (Owned *owned)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (SIZE / 256, 64), MTL_ORDER_C, 32, &error);
  g_autoptr (MtlBuffer) buffer = NULL;
  MtlStridedView *view;

  *owned = (Owned) { .data = g_malloc0 (SIZE) };
  buffer = mtl_buffer_new_for_data (owned->data, SIZE, mtl_device_get_host (),
                                    MTL_BUFFER_FLAGS_NONE, end_owned, owned, &error);
  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 0, &error);
  g_assert_no_error (error);
  return view;
}

/* The operations. Each has to give what it gives for all elements, or for none. */

typedef void (* Operation) (MtlStridedView *view);

static void
assert_whole_or_empty (MtlStridedView *result,
                       GError         *error)
{
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_volume (result) == 0
                 || mtl_strided_view_get_volume (result) == SIZE / 4);
  g_object_unref (result);
}

static void
copy (MtlStridedView *view)
{
  GError *error = NULL;

  assert_whole_or_empty (mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error), error);
}

static void
convert (MtlStridedView *view)
{
  GError *error = NULL;

  assert_whole_or_empty (mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C,
                                                    NULL, &error), error);
}

static void
move (MtlStridedView *view)
{
  GError *error = NULL;

  assert_whole_or_empty (mtl_strided_view_to_device (view, mtl_device_get_host (),
                                                     MTL_STORAGE_MODE_HOST, NULL, &error), error);
}

static void
fill (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;

  mtl_strided_view_fill_double (view, 0, NULL, &error);
  g_assert_no_error (error);
}

static void
copy_from_itself (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;

  mtl_strided_view_copy_from (view, view, NULL, &error);
  g_assert_no_error (error);
}

static void
copy_scaled_from_itself (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;

  mtl_strided_view_copy_scaled_from (view, view, 2, 0, NULL, &error);
  g_assert_no_error (error);
}

static void
compare (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_array_equal (view, view, MTL_COMPARE_FLAGS_NONE, NULL, &error));
  g_assert_no_error (error);
}

static void
summarize (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStatistics) statistics = mtl_strided_view_compute_statistics (view, NULL, NULL,
                                                                              NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (mtl_statistics_get_n_zeros (statistics), ==,
                    mtl_statistics_get_count (statistics));
}

static void
format (MtlStridedView *view)
{
  g_autofree char *text = mtl_strided_view_format (view, 100);

  g_assert_true (text[0] == '[');
  g_assert_null (strpbrk (text, "123456789"));
}

static void
get_bytes (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (g_bytes_get_size (bytes) == 0 || g_bytes_get_size (bytes) == SIZE);
}

static void
export (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlDlpackTensor) tensor =
    mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_COPY, mtl_device_get_host (), &error);

  g_assert_no_error (error);
}

static const struct
{
  const char *name;
  Operation run;
} operations[] = {
  { "copy", copy },
  { "convert", convert },
  { "move", move },
  { "fill", fill },
  { "copy-from", copy_from_itself },
  { "copy-scaled-from", copy_scaled_from_itself },
  { "compare", compare },
  { "statistics", summarize },
  { "format", format },
  { "bytes", get_bytes },
  { "export", export },
};

/* Closes a view from the operation's own thread. */

/* An operation may use a view several times. */
static void
assert_busy (MtlStridedView *view,
             gboolean        has_operations,
             guint           n_references)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
  g_autoptr (GError) error = NULL;
  guint64 numbers[4] = { 0 };
  const char *rest;

  g_assert_false (mtl_strided_view_close (view, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_BUSY);
  rest = error->message;
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      rest = strpbrk (rest, "0123456789");
      g_assert_nonnull (rest);
      numbers[i] = g_ascii_strtoull (rest, (char **) &rest, 10);
    }
  g_assert_cmpint (numbers[0] > 0, ==, has_operations);
  g_assert_cmpuint (numbers[1], ==, 0);
  g_assert_cmpuint (numbers[2], ==, n_references);
  g_assert_cmpuint (numbers[3], ==, 1);

  /* Everything is as it was. */
  g_assert_false (mtl_strided_view_close (view, NULL));
  g_assert_true (mtl_strided_view_get_layout (view) == layout);
  g_assert_true (mtl_strided_view_get_buffer (view) == buffer);
}

static void
assert_closes (MtlStridedView *view,
               gboolean        expected)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (mtl_strided_view_close (view, &error), ==, expected);
  g_assert_no_error (error);
  assert_view_shape (view, 0);
}

typedef struct
{
  MtlStridedView *view;
  guint n_refused;
} Closer;

static void
try_to_close (gpointer data)
{
  Closer *self = data;

  assert_busy (self->view, TRUE, 1);
  self->n_refused++;
}

static void
close_in_progress (goffset  done,
                   goffset  total,
                   gpointer data)
{
  try_to_close (data);
}

static void
test_progress (void)
{
  Owned owned;
  Closer closer = { .view = new_owned (&owned) };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStatistics) statistics =
    mtl_strided_view_compute_statistics (closer.view, NULL, close_in_progress, &closer, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (mtl_statistics_get_count (statistics), ==, SIZE / 4);
  g_assert_cmpuint (closer.n_refused, >, 0);
  g_assert_cmpint (owned.n_ended, ==, 0);

  assert_closes (closer.view, TRUE);
  g_assert_cmpint (owned.n_ended, ==, 1);
  assert_closes (closer.view, TRUE);
  g_object_unref (closer.view);
}

static void
test_device (gconstpointer data)
{
  Operation run = *(const Operation *) data;
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (DIMS (8, 8), MTL_ORDER_C, 32, &error);
  MtlBuffer *buffer =
    mtl_buffer_new (MTL_DEVICE (device), 256, MTL_STORAGE_MODE_PRIVATE, &error);
  Closer closer = {
    .view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 0, &error),
  };

  g_assert_no_error (error);
  g_object_unref (buffer);
  device->meanwhile = try_to_close;
  device->meanwhile_data = &closer;
  run (closer.view);
  g_assert_cmpuint (closer.n_refused, >, 0);
  assert_view_shape (closer.view, 8, 8);

  device->meanwhile = NULL;
  assert_closes (closer.view, TRUE);
  g_object_unref (closer.view);
}

static void
copy_some (MtlStridedView *view)
{
  g_object_unref (mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL));
}

static void
convert_some (MtlStridedView *view)
{
  g_object_unref (mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, NULL));
}

static void
move_some (MtlStridedView *view)
{
  g_object_unref (mtl_strided_view_to_device (view, mtl_device_get_host (), MTL_STORAGE_MODE_HOST,
                                              NULL, NULL));
}

static void
get_some_bytes (MtlStridedView *view)
{
  g_bytes_unref (mtl_strided_view_dup_bytes (view, NULL, NULL));
}

static const struct
{
  const char *name;
  Operation run;
} device_operations[] = {
  { "copy", copy_some },
  { "convert", convert_some },
  { "move", move_some },
  { "fill", fill },
  { "copy-scaled-from", copy_scaled_from_itself },
  { "compare", compare },
  { "statistics", summarize },
  { "format", format },
  { "bytes", get_some_bytes },
  { "export", export },
};

/* Closes views that others have references to. */

static void
test_references (void)
{
  Owned owned;
  MtlStridedView *view = new_owned (&owned);
  g_autoptr (MtlStridedView) closed = mtl_strided_view_transpose (view);

  for (guint n = 2; n < 5; n++)
    assert_busy (g_object_ref (view), FALSE, n);
  for (guint n = 4; n > 1; n--)
    {
      assert_busy (view, FALSE, n);
      assert_view_shape (view, SIZE / 256, 64);
      g_object_unref (view);
    }

  /* A closed view has nothing left to close, whoever has it. */
  assert_closes (closed, FALSE);
  g_object_ref (closed);
  assert_closes (closed, TRUE);
  g_object_unref (closed);

  g_assert_cmpint (owned.n_ended, ==, 0);
  assert_closes (view, TRUE);
  g_assert_cmpint (owned.n_ended, ==, 1);
  g_object_unref (view);
}

/* An asynchronous operation has a reference until its result is gone. */
static void
test_asynchronous (void)
{
  Owned owned;
  g_autoptr (MtlStridedView) view = new_owned (&owned);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (MtlStatistics) statistics = NULL;
  g_autoptr (GError) error = NULL;

  mtl_strided_view_compute_statistics_async (view, NULL, NULL, NULL, NULL, keep_result, &result);
  g_assert_false (mtl_strided_view_close (view, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_BUSY);
  g_clear_error (&error);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  statistics = mtl_strided_view_compute_statistics_finish (view, result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_statistics_get_count (statistics), ==, SIZE / 4);

  assert_busy (view, FALSE, 2);
  g_clear_object (&result);
  assert_closes (view, TRUE);
  g_assert_cmpint (owned.n_ended, ==, 1);
}

/* Closes views from another thread. */

typedef struct
{
  Operation run;
  MtlStridedView *view;
  int begun; /* atomic */
} Work;

static gpointer
work (gpointer data)
{
  Work *self = data;

  g_atomic_int_set (&self->begun, TRUE);
  self->run (self->view);
  return NULL;
}

static void
test_threads (gconstpointer data)
{
  guint n_refused = 0;

  for (int i = 0; i < N_ROUNDS; i++)
    {
      Owned owned;
      Work shared = { .run = *(const Operation *) data, .view = new_owned (&owned) };
      GThread *thread = g_thread_new ("work", work, &shared);

      while (!g_atomic_int_get (&shared.begun))
        g_thread_yield ();
      for (volatile int wait = 0; wait < i * 64; wait++)
        ;
      for (g_autoptr (GError) error = NULL; !mtl_strided_view_close (shared.view, &error);
           g_clear_error (&error))
        {
          g_assert_error (error, MTL_ERROR, MTL_ERROR_BUSY);
          n_refused++;
        }
      assert_view_shape (shared.view, 0);
      g_assert_cmpint (owned.n_ended, ==, 1);

      g_thread_join (thread);
      g_object_unref (shared.view);
    }

  g_test_message ("%u closes refused", n_refused);
}

static gpointer
close_alone (gpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_close (data, &error));
  g_assert_no_error (error);
  return NULL;
}

/* Each of the closers finds the view as it was, or closed. */
static void
test_closers (void)
{
  for (int i = 0; i < N_ROUNDS; i++)
    {
      Owned owned;
      g_autoptr (MtlStridedView) view = new_owned (&owned);
      GThread *threads[3];

      for (gsize j = 0; j < G_N_ELEMENTS (threads); j++)
        threads[j] = g_thread_new ("close", close_alone, view);
      for (gsize j = 0; j < G_N_ELEMENTS (threads); j++)
        g_thread_join (threads[j]);
      assert_view_shape (view, 0);
      g_assert_cmpint (owned.n_ended, ==, 1);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/strided-view-close/progress", test_progress);
  g_test_add_func ("/strided-view-close/references", test_references);
  g_test_add_func ("/strided-view-close/asynchronous", test_asynchronous);
  g_test_add_func ("/strided-view-close/closers", test_closers);
  for (gsize i = 0; i < G_N_ELEMENTS (device_operations); i++)
    {
      g_autofree char *path = g_strconcat ("/strided-view-close/device/",
                                           device_operations[i].name, NULL);

      g_test_add_data_func (path, &device_operations[i].run, test_device);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (operations); i++)
    {
      g_autofree char *path = g_strconcat ("/strided-view-close/threads/", operations[i].name,
                                           NULL);

      g_test_add_data_func (path, &operations[i].run, test_threads);
    }

  return g_test_run ();
}
