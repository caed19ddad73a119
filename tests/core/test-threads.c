/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

#include "mtl-bindings-private.h"

#define N_THREADS 4
#define N_ROUNDS 2000

/* All threads begin at once. */
typedef struct
{
  GMutex mutex;
  GCond cond;
  int n_waiting;

  MtlStridedView *view;
  gpointer results[N_THREADS];
  int next_result;
} Shared;

static void
wait_for_all (Shared *self)
{
  g_mutex_lock (&self->mutex);
  if (++self->n_waiting == N_THREADS)
    g_cond_broadcast (&self->cond);
  while (self->n_waiting < N_THREADS)
    g_cond_wait (&self->cond, &self->mutex);
  g_mutex_unlock (&self->mutex);
}

static void
run_threads (Shared      *self,
             GThreadFunc  func)
{
  GThread *threads[N_THREADS];

  g_mutex_init (&self->mutex);
  g_cond_init (&self->cond);
  for (int i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("test", func, self);
  for (int i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_mutex_clear (&self->mutex);
  g_cond_clear (&self->cond);
}

static void
add_result (Shared   *self,
            gpointer  result)
{
  self->results[g_atomic_int_add (&self->next_result, 1)] = result;
}

static MtlStridedView *
new_range (void)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_from_doubles (DOUBLES (0, 1, 2, 3, 4, 5), MTL_DTYPE_INT32, DIMS (2, 3),
                                       &error);

  g_assert_no_error (error);
  return view;
}

static gpointer
derive (gpointer data)
{
  Shared *self = data;

  wait_for_all (self);
  for (int i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (self->view);
      g_autoptr (MtlStridedView) row = mtl_strided_view_slice_string (turned, "1, ::-1", NULL);
      g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (row, MTL_ORDER_C, NULL, NULL);

      g_assert_cmpint (mtl_strided_view_get_int64 (copy, DIMS (0), NULL), ==, 4);
      g_assert_cmpint (mtl_strided_view_get_int64 (row, DIMS (1), NULL), ==, 1);
    }

  return NULL;
}

static void
test_derive (void)
{
  Shared shared = { .view = new_range () };

  run_threads (&shared, derive);
  g_assert_finalize_object (shared.view);
}

static gpointer
exchange (gpointer data)
{
  Shared *self = data;

  wait_for_all (self);
  for (int i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (MtlDlpackTensor) tensor =
        mtl_strided_view_export_dlpack (self->view, MTL_DLPACK_FLAGS_NONE, NULL, NULL);
      g_autoptr (MtlStridedView) view = mtl_strided_view_new_from_dlpack (tensor, NULL);

      g_assert_true (mtl_strided_view_get_data (view) == mtl_strided_view_get_data (self->view));
      g_assert_cmpint (mtl_strided_view_get_int64 (view, DIMS (-1, -1), NULL), ==, 5);
    }

  return NULL;
}

static void
test_exchange (void)
{
  Shared shared = { .view = new_range () };

  run_threads (&shared, exchange);
  g_assert_finalize_object (shared.view);
}

static gpointer
get_buffer (gpointer data)
{
  Shared *self = data;

  wait_for_all (self);
  add_result (self, mtl_strided_view_get_buffer (self->view));
  return NULL;
}

static gpointer
get_device (gpointer data)
{
  Shared *self = data;

  wait_for_all (self);
  add_result (self, mtl_strided_view_get_device (self->view));
  return NULL;
}

/* Objects that are made on demand are made once: all threads get the same one. */
static void
test_lazy_buffer (void)
{
  for (int round = 0; round < 200; round++)
    {
      Shared shared = { .view = new_range () };

      run_threads (&shared, get_buffer);
      g_assert_true (MTL_IS_BUFFER (shared.results[0]));
      for (int i = 1; i < N_THREADS; i++)
        g_assert_true (shared.results[i] == shared.results[0]);
      g_assert_finalize_object (shared.view);
    }
}

static void
test_lazy_device (void)
{
  for (int round = 0; round < 200; round++)
    {
      g_autoptr (GError) error = NULL;
      Shared shared = { .n_waiting = 0 };
      Producer producer;

      producer_init (&producer);
      producer.versioned.dl_tensor.device = (DLDevice) { 77, 1 };
      shared.view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
      g_assert_no_error (error);
      run_threads (&shared, get_device);
      g_assert_true (MTL_IS_DEVICE (shared.results[0]));
      for (int i = 1; i < N_THREADS; i++)
        g_assert_true (shared.results[i] == shared.results[0]);
      g_assert_finalize_object (shared.view);
      g_assert_cmpint (producer.n_deleted, ==, 1);
    }
}

static MtlDlpackTensor *contested;

static gpointer
consume (gpointer data)
{
  Shared *self = data;
  MtlStridedView *view;

  wait_for_all (self);
  view = mtl_strided_view_new_from_dlpack (contested, NULL);
  if (view != NULL)
    add_result (self, view);
  return NULL;
}

/* One of several consumers gets the tensor. */
static void
test_consume (void)
{
  for (int round = 0; round < 200; round++)
    {
      g_autoptr (GError) error = NULL;
      Shared shared = { .n_waiting = 0 };
      g_autoptr (MtlStridedView) view = NULL;
      Producer producer;

      producer_init (&producer);
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, &error);
      g_assert_no_error (error);
      contested = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
      g_assert_no_error (error);
      g_clear_object (&view);
      run_threads (&shared, consume);
      g_assert_cmpint (shared.next_result, ==, 1);
      g_assert_finalize_object (contested);
      g_assert_cmpint (producer.n_deleted, ==, 0);
      g_assert_finalize_object (shared.results[0]);
      g_assert_cmpint (producer.n_deleted, ==, 1);
    }
}

/* Objects that one thread gives up serve another one. */
static gpointer
make_and_release (gpointer data)
{
  Shared *self = data;
  MtlStridedLayout *layout = mtl_strided_view_get_layout (self->view);
  MtlStridedView *held[6];
  MtlStridedLayout *layouts[6];

  wait_for_all (self);
  for (int i = 0; i < N_ROUNDS; i++)
    {
      for (gsize k = 0; k < G_N_ELEMENTS (held); k++)
        {
          held[k] = k % 2 == 0 ? mtl_strided_view_transpose (self->view)
                               : mtl_strided_view_as_read_only (self->view);
          layouts[k] = k % 2 == 0 ? mtl_strided_layout_transpose (layout)
                                  : mtl_strided_layout_squeeze (layout);
        }
      for (gsize k = 0; k < G_N_ELEMENTS (held); k++)
        {
          g_assert_cmpint (mtl_strided_view_get_shape (held[k], NULL)[0], ==, k % 2 == 0 ? 3 : 2);
          g_assert_cmpint (mtl_strided_view_is_read_only (held[k]), ==, k % 2);
          g_assert_true (mtl_strided_view_release (held[k], k > 2));
          g_assert_cmpint (mtl_strided_layout_get_extent (layouts[k], 0, NULL), ==,
                           k % 2 == 0 ? 3 : 2);
          g_assert_true (mtl_strided_layout_release (layouts[k], k > 2));
        }
    }

  return NULL;
}

static void
test_release (void)
{
  Shared shared = { .view = new_range () };

  run_threads (&shared, make_and_release);
  g_assert_finalize_object (shared.view);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Threads/derive", test_derive);
  g_test_add_func ("/Threads/exchange", test_exchange);
  g_test_add_func ("/Threads/lazy-buffer", test_lazy_buffer);
  g_test_add_func ("/Threads/lazy-device", test_lazy_device);
  g_test_add_func ("/Threads/consume", test_consume);
  g_test_add_func ("/Threads/release", test_release);

  return g_test_run ();
}
