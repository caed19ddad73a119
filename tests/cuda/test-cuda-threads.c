/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Threads that have no context do all at once what the library offers, each in its own stream. */

#include "cuda-fixture.h"

#include <sched.h>

#define N_THREADS 4
#define N_ROUNDS 30
#define SIZE 1000
#define MIB ((gsize) 1 << 20)

typedef struct _Crew Crew;

typedef struct
{
  Crew *crew;
  guint number;
  MtlStream *stream;
  GThread *thread;
} Worker;

struct _Crew
{
  MtlStridedView *grid;   /* private: a column for each worker */
  MtlStridedView *shared; /* an int32 for each worker */
  MtlEvent *event;
  void (* work) (Worker *worker, guint round);
  int n_waiting;
  Worker workers[N_THREADS];
};

static gpointer
run_worker (gpointer data)
{
  Worker *self = data;

  /* All at the same time */
  g_atomic_int_inc (&self->crew->n_waiting);
  while (g_atomic_int_get (&self->crew->n_waiting) < N_THREADS)
    sched_yield ();

  for (guint round = 0; round < N_ROUNDS; round++)
    self->crew->work (self, round);
  if (over_double)
    {
      g_assert_cmpuint (dbl.context_depth (), ==, 0);
      g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
    }
  return NULL;
}

static void
run_crew (void (* work) (Worker *worker, guint round))
{
  g_autoptr (GError) error = NULL;
  Crew crew = {
    .grid = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_UINT8, DIMS (8, N_THREADS),
                                        MTL_STORAGE_MODE_PRIVATE, &error),
    .shared = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_INT32, DIMS (N_THREADS),
                                          MTL_STORAGE_MODE_SHARED, &error),
    .event = mtl_event_new (get_cuda (0), &error),
    .work = work,
  };

  g_assert_no_error (error);
  for (guint i = 0; i < N_THREADS; i++)
    {
      crew.workers[i] = (Worker) { &crew, i, mtl_stream_new (get_cuda (0), &error) };
      g_assert_no_error (error);
      crew.workers[i].thread = g_thread_new ("worker", run_worker, &crew.workers[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    {
      g_thread_join (crew.workers[i].thread);
      g_assert_finalize_object (crew.workers[i].stream);
    }
  g_assert_finalize_object (crew.grid);
  g_assert_finalize_object (crew.shared);
  g_assert_finalize_object (crew.event);
}

static CuStream
get_stream (Worker *self)
{
  return POINTER (mtl_stream_get_handle (self->stream));
}

static void
allocate (Worker *self,
          guint   round)
{
  static const MtlStorageMode modes[] = { MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                          MTL_STORAGE_MODE_MANAGED };
  g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), 10,
                                             modes[(self->number + round) % G_N_ELEMENTS (modes)]);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("xy", 2);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_fill (buffer, 3, 4, pattern, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (buffer, 0, "\0\0\0xyxy\0\0\0", 10);
}

/* Through pinned memory, of which the context keeps one pair for the next copy */
static void
copy_large (Worker *self,
            guint   round)
{
  const gsize size = MIB + 100000 * self->number + 7;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autofree guint8 *data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  if (round % 4 != 0)
    return;
  data = g_malloc (size);
  memset (data, self->number * N_ROUNDS + round, size);
  bytes = g_bytes_new_static (data, size);
  buffer = new_buffer (get_cuda (0), size, MTL_STORAGE_MODE_PRIVATE);
  g_assert_true (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (buffer, 0, data, size);
}

static void
copy (Worker *self,
      guint   round)
{
  g_autoptr (MtlBuffer) first = new_buffer (get_cuda (0), SIZE, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlBuffer) second = new_buffer (get_cuda (n_gpus - 1), SIZE, MTL_STORAGE_MODE_PRIVATE);
  g_autofree char *text = g_strdup_printf ("%08u", self->number * 1000 + round);
  g_autoptr (GBytes) bytes = g_bytes_new (text, 8);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_set_bytes (first, 1, bytes, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (second, 3, first, 1, 8, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (second, 5, second, 3, 8, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (second, 5, text, 8);
}

/* Each works in a stream of its own, and the library's waits for all. */
static void
push (Worker *self,
      guint   round)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), SIZE, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlBuffer) copied = new_buffer (get_cuda (0), SIZE, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GBytes) pattern = g_bytes_new (&(guint8) { round + 1 }, 1);
  g_autofree guint8 *expected = g_malloc (SIZE);
  g_autoptr (GError) error = NULL;

  memset (expected, round + 1, SIZE);
  mtl_stream_push_thread_default (self->stream);
  g_assert_true (mtl_buffer_fill (buffer, 0, SIZE, pattern, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (copied, 0, buffer, 0, SIZE, NULL, &error));
  mtl_stream_pop_thread_default (self->stream);
  g_assert_no_error (error);
  assert_buffer_bytes (copied, 0, expected, SIZE);
}

/* Tensors come in and go out in streams, with work queued. */
static void
exchange (Worker *self,
          guint   round)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_UINT8,
                                                                DIMS (SIZE),
                                                                MTL_STORAGE_MODE_PRIVATE, &error);
  g_autoptr (MtlStridedView) back = NULL;
  g_autoptr (MtlStridedView) host = NULL;
  DLManagedTensorVersioned *tensor;

  g_assert_true (mtl_strided_view_fill_double (view, 1, NULL, &error));
  mtl_stream_push_thread_default (self->stream);
  tensor = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  MUST (cu.cuMemsetD8Async (ADDRESS (tensor->dl_tensor.data), 2, SIZE / 2, get_stream (self)));
  g_clear_object (&view);
  back = mtl_strided_view_new_take_dlpack (tensor, &error);
  mtl_stream_pop_thread_default (self->stream);
  g_assert_no_error (error);

  host = mtl_strided_view_to_device (back, mtl_device_get_host (), MTL_STORAGE_MODE_DEFAULT, NULL,
                                     &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_int64 (host, DIMS (0), &error), ==, 2);
  g_assert_cmpint (mtl_strided_view_get_int64 (host, DIMS (SIZE - 1), &error), ==, 1);
}

/* One view of memory that all use, exported for each of their streams, and as the host's */
static void
share (Worker *self,
       guint   round)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) own = NULL;
  DLManagedTensorVersioned *tensor;

  mtl_stream_push_thread_default (self->stream);
  tensor = mtl_strided_view_to_dlpack (self->crew->shared, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  MUST (cu.cuMemsetD32Async (ADDRESS (tensor->dl_tensor.data) + 4 * self->number, round, 1,
                             get_stream (self)));
  own = mtl_strided_view_new_take_dlpack (tensor, &error); /* hot */
  mtl_stream_pop_thread_default (self->stream);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_int64 (own, DIMS (self->number), &error), ==, round);
  tensor = mtl_strided_view_to_dlpack (own, MTL_DLPACK_FLAGS_NONE, mtl_device_get_host (), &error);
  g_assert_no_error (error);
  g_assert_cmpint (((gint32 *) tensor->dl_tensor.data)[self->number], ==, round);
  tensor->deleter (tensor);
}

/* Each writes between what the others write. */
static void
write_column (Worker *self,
              guint   round)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) column = mtl_strided_view_select (self->crew->grid, 1, self->number,
                                                               &error);

  g_assert_true (mtl_strided_view_fill_double (column, round + 1, NULL, &error));
  g_assert_no_error (error);
  assert_elements (column, round + 1, round + 1, round + 1, round + 1, round + 1, round + 1,
                   round + 1, round + 1);
}

/* A tensor of another library comes and goes, with work on it. */
static void
take (Worker *self,
      guint   round)
{
  gpointer memory = peer_memory (0, SIZE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  PeerTensor tensor;

  peer_tensor_init (&tensor, memory, SIZE, 2, 0);
  mtl_stream_push_thread_default (self->stream);
  MUST (cu.cuMemsetD8Async (ADDRESS (memory), 5, SIZE, get_stream (self)));
  view = import (&tensor);
  mtl_stream_pop_thread_default (self->stream);
  g_assert_true (mtl_strided_view_fill_double (view, round, NULL, &error));
  g_assert_no_error (error);
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  peer_free (memory);
}

/* Each waits for the one before it, round after round: on the host, and in its stream. */
static void
take_turns (Worker *self,
            guint   round)
{
  guint64 turn = round * N_THREADS + self->number;
  g_autoptr (GError) error = NULL;

  if (round % 2 == 0)
    {
      g_assert_true (mtl_event_wait (self->crew->event, turn, -1, NULL, &error));
      mtl_event_signal (self->crew->event, turn + 1);
    }
  else
    {
      g_assert_true (mtl_stream_wait_event (self->stream, self->crew->event, turn, &error));
      g_assert_true (mtl_stream_signal_event (self->stream, self->crew->event, turn + 1, &error));
      g_assert_true (mtl_stream_synchronize (self->stream, NULL, &error));
    }
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_event_get_signaled_value (self->crew->event), >, turn);
}

static void
synchronize_all (Worker *self,
                 guint   round)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStream) own = mtl_stream_new_for_device (get_cuda (0), &error);

  g_assert_true (mtl_stream_wait_stream (own, self->stream, &error));
  g_assert_true (mtl_stream_wait_stream (self->stream, own, &error));
  g_assert_true (mtl_device_synchronize (get_cuda (round % n_gpus), NULL, &error));
  g_assert_no_error (error);
}

static void
do_all (Worker *self,
        guint   round)
{
  static void (* const all[]) (Worker *, guint) = { allocate, copy, push, exchange, share, take,
                                                    write_column, copy_large, synchronize_all };

  all[(self->number + round) % G_N_ELEMENTS (all)] (self, round);
}

static const struct
{
  const char *path;
  void (* work) (Worker *worker, guint round);
} works[] = {
  { "/CudaThreads/allocate", allocate },
  { "/CudaThreads/copy", copy },
  { "/CudaThreads/copy-large", copy_large },
  { "/CudaThreads/push", push },
  { "/CudaThreads/exchange", exchange },
  { "/CudaThreads/share", share },
  { "/CudaThreads/take", take },
  { "/CudaThreads/write-column", write_column },
  { "/CudaThreads/take-turns", take_turns },
  { "/CudaThreads/synchronize", synchronize_all },
  { "/CudaThreads/all", do_all },
};

static void
test_work (Living        *living,
           gconstpointer  data)
{
  run_crew (works[GPOINTER_TO_SIZE (data)].work);
}

/* The same if devices run ahead by themselves, and if memory is used again. */
static void
test_work_eagerly (Living        *living,
                   gconstpointer  data)
{
  dbl.set_eager (TRUE);
  dbl.set_reuse (TRUE);
  run_crew (works[GPOINTER_TO_SIZE (data)].work);
  dbl.set_reuse (FALSE);
  dbl.set_eager (FALSE);
}

static gpointer
use_first (gpointer data)
{
  synchronize (get_cuda (0));
  return NULL;
}

/* All open the device at once, and create one context. */
static void
test_first_use (void)
{
  GThread *threads[N_THREADS];

  run_alone ();
  for (gsize i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("first", use_first, NULL);
  for (gsize i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (dbl.live ("pool"), ==, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (g_test_subprocess ())
    open_driver ();
  else
    set_up_cuda ();

  for (gsize i = 0; i < G_N_ELEMENTS (works); i++)
    {
      g_autofree char *path = g_strconcat (works[i].path, "/lazy", NULL);
      g_autofree char *eager_path = g_strconcat (works[i].path, "/eager", NULL);

      add_cuda_data_test (path, GSIZE_TO_POINTER (i), test_work);
      add_double_data_test (eager_path, GSIZE_TO_POINTER (i), test_work_eagerly);
    }
  g_test_add_func ("/CudaThreads/first-use", over_double ? test_first_use : skip_without_double);

  return g_test_run ();
}
