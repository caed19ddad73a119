/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Threads that know nothing of Metal, and have no autorelease pool, do all at
 * once what the library offers. */

#include "metal-tests.h"
#include "dlpack-structs.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define N_THREADS 4
#define N_ROUNDS 40

typedef struct _Crew Crew;

typedef struct
{
  Crew *crew;
  guint number;
  MtlDevice *device;
  pthread_t thread;
} Worker;

struct _Crew
{
  MtlStridedView *view; /* Shared: an int32 for each worker */
  MtlStridedView *grid; /* Private: a column for each worker */
  MtlEvent *event;
  void (* work) (Worker *worker, guint round);
  int n_waiting;
  Worker workers[N_THREADS];
};

static void *
run_worker (void *data)
{
  Worker *self = data;

  /* All at the same time. */
  g_atomic_int_inc (&self->crew->n_waiting);
  while (g_atomic_int_get (&self->crew->n_waiting) < N_THREADS)
    sched_yield ();

  for (guint round = 0; round < N_ROUNDS; round++)
    self->crew->work (self, round);
  return NULL;
}

static MtlStridedView *
new_grid (MtlDevice *device)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) zeros =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_UINT8, DIMS (8, N_THREADS),
                                MTL_STORAGE_MODE_DEFAULT, &error);
  MtlStridedView *grid = mtl_strided_view_to_device (zeros, device, MTL_STORAGE_MODE_PRIVATE, NULL,
                                                     &error);

  g_assert_no_error (error);
  return grid;
}

static void
run_crew (void (* work) (Worker *worker, guint round),
          int     ordinal)
{
  g_autoptr (GError) error = NULL;
  Crew crew = {
    .view = mtl_strided_view_new_zeros (get_metal (ordinal), MTL_DTYPE_INT32, DIMS (N_THREADS),
                                        MTL_STORAGE_MODE_DEFAULT, &error),
    .grid = new_grid (get_metal (ordinal)),
    .event = mtl_event_new (get_metal (ordinal), &error),
    .work = work,
  };

  g_assert_no_error (error);
  for (guint i = 0; i < N_THREADS; i++)
    {
      crew.workers[i] = (Worker) { &crew, i, get_metal (ordinal) };
      g_assert_cmpint (pthread_create (&crew.workers[i].thread, NULL, run_worker,
                                       &crew.workers[i]), ==, 0);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_assert_cmpint (pthread_join (crew.workers[i].thread, NULL), ==, 0);

  g_assert_finalize_object (crew.view);
  g_assert_finalize_object (crew.grid);
  g_assert_finalize_object (crew.event);
}

static void
allocate (Worker *self,
          guint   round)
{
  MtlStorageMode mode = metal_modes[(self->number + round) % G_N_ELEMENTS (metal_modes)];
  g_autoptr (MtlBuffer) buffer = new_buffer (self->device, 10, mode);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("xy", 2);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_fill (buffer, 3, 4, pattern, NULL, &error));
  g_assert_true (mtl_buffer_synchronize (buffer, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (buffer, 0, "\0\0\0xyxy\0\0\0", 10);
}

/* Tensors go from hand to hand, and in and out of the host's. */
static void
exchange (Worker *self,
          guint   round)
{
  MtlDevice *device = round % 2 ? mtl_device_get_host () : NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  DLManagedTensorVersioned *tensor = mtl_strided_view_to_dlpack (self->crew->view,
                                                                 MTL_DLPACK_FLAGS_NONE, device,
                                                                 &error);

  g_assert_no_error (error);
  view = mtl_strided_view_new_take_dlpack (tensor, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_set_int64 (view, DIMS (self->number), round, &error));
  g_assert_cmpint (mtl_strided_view_get_int64 (self->crew->view, DIMS (self->number), &error), ==,
                   round);

  copy = mtl_strided_view_select (view, 0, self->number, &error);
  g_clear_object (&view);
  view = mtl_strided_view_to_device (copy, self->device, MTL_STORAGE_MODE_PRIVATE, NULL, &error);
  g_assert_no_error (error);
  assert_elements (view, round);
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

static void
copy (Worker *self,
      guint   round)
{
  g_autoptr (MtlBuffer) first = new_buffer (self->device, 16, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlBuffer) second = new_buffer (get_metal (DISCRETE), 16, MTL_STORAGE_MODE_PRIVATE);
  g_autofree char *text = g_strdup_printf ("%08u", self->number * 1000 + round);
  g_autoptr (GBytes) bytes = g_bytes_new (text, 8);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_set_bytes (first, 1, bytes, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (second, 3, first, 1, 8, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (second, 5, second, 3, 8, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (second, 5, text, 8);
}

static void
wrap (Worker *self,
      guint   round)
{
  gsize page_size = metal_fixture_page_size ();
  gpointer memory = NULL;
  int n_ended = 0;
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer;

  g_assert_cmpint (posix_memalign (&memory, page_size, page_size), ==, 0);
  memset (memory, self->number, 8);
  buffer = mtl_buffer_new_for_data (memory, 8, self->device, MTL_BUFFER_FLAGS_NEVER_COPY,
                                    count_call, &n_ended, &error);
  g_assert_no_error (error);
  run_on_gpu (METAL_FIXTURE_FILL, buffer, 4, 4, 200 + self->number);
  g_assert_cmpint (((guint8 *) memory)[3], ==, self->number);
  g_assert_cmpint (((guint8 *) memory)[7], ==, 200 + self->number);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (g_atomic_int_get (&n_ended), ==, 1);
  free (memory);
}

static void
synchronize (Worker *self,
             guint   round)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_device_synchronize (self->device, NULL, &error));
  g_assert_true (mtl_buffer_synchronize (mtl_strided_view_get_buffer (self->crew->view), NULL,
                                         &error));
  g_assert_no_error (error);
}

/* Each waits for the one before it, round after round. */
static void
take_turns (Worker *self,
            guint   round)
{
  guint64 turn = round * N_THREADS + self->number;
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_event_wait (self->crew->event, turn, -1, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_event_get_signaled_value (self->crew->event), ==, turn);
  mtl_event_signal (self->crew->event, turn + 1);
}

static void
do_all (Worker *self,
        guint   round)
{
  static void (* const all[]) (Worker *, guint) = { allocate, exchange, copy, wrap, synchronize };

  all[(self->number + round) % G_N_ELEMENTS (all)] (self, round);
}

static const struct { const char *name; void (* work) (Worker *worker, guint round); } works[] = {
  { "allocate", allocate },
  { "exchange", exchange },
  { "copy", copy },
  { "wrap", wrap },
  { "synchronize", synchronize },
  { "write-column", write_column },
  { "take-turns", take_turns },
  { "all", do_all },
};

static void
test_unified (Living        *living,
              gconstpointer  data)
{
  run_crew (works[GPOINTER_TO_SIZE (data)].work, UNIFIED);
}

static void
test_discrete (Living        *living,
               gconstpointer  data)
{
  run_crew (works[GPOINTER_TO_SIZE (data)].work, DISCRETE);
}

static gpointer
synchronize_once (gpointer device)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_device_synchronize (device, NULL, &error));
  g_assert_no_error (error);
  return NULL;
}

/* All need the device's queue at once, and get the same. */
static void
test_first_queue (void)
{
  size_t n_queues = metal_double_live ("queue");
  GThread *threads[N_THREADS];

  metal_double_meet ("newCommandQueue", N_THREADS, 10000);
  for (gsize i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("first", synchronize_once, get_metal (INTEGRATED));
  for (gsize i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (metal_double_live ("queue"), ==, n_queues + 1);
}

typedef struct
{
  MtlEvent *event;
  guint64 value;
} Signal;

static gpointer
signal_once (gpointer data)
{
  Signal *self = data;

  mtl_event_signal (self->event, self->value);
  return NULL;
}

/* Both threads would have read the old value if a lock did not keep them apart. The one that comes
 * to the meeting last leaves it first, so the higher value is signaled last but set first. */
static void
test_signal_race (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlEvent) event = mtl_event_new (get_metal (UNIFIED), &error);
  g_autoptr (MtlEvent) same = mtl_event_new_for_handle (mtl_event_get_handle (event),
                                                        get_metal (UNIFIED), &error);

  g_assert_no_error (error);
  for (guint64 i = 1; i <= 20; i++)
    {
      Signal higher = { event, 2 * i }, lower = { same, 2 * i - 1 };
      GThread *threads[2];

      metal_double_meet ("signaledValue", 2, 20);
      threads[0] = g_thread_new ("lower", signal_once, &lower);
      threads[1] = g_thread_new ("higher", signal_once, &higher);
      g_thread_join (threads[0]);
      g_thread_join (threads[1]);
      g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 2 * i);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_double_test ("/MetalThreads/first-queue", test_first_queue);
  add_double_test ("/MetalThreads/signal-race", test_signal_race);
  for (gsize i = 0; i < G_N_ELEMENTS (works); i++)
    {
      g_autofree char *unified = g_strdup_printf ("/MetalThreads/unified/%s", works[i].name);
      g_autofree char *discrete = g_strdup_printf ("/MetalThreads/discrete/%s", works[i].name);

      add_metal_data_test (unified, GSIZE_TO_POINTER (i), test_unified);
      add_metal_data_test (discrete, GSIZE_TO_POINTER (i), test_discrete);
    }

  return g_test_run ();
}
