/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A forked child can use the library, whatever the parent's other threads were doing. */

#include "test-tensor-files.h"

#include <signal.h>
#include <sys/wait.h>

#define N_FORKS 500
#define N_AT_ONCE 8 /* children */
#define N_LOADING 8 /* threads */
#define N_HELPERS 8
#define HANGS_AFTER 15 /* seconds */
/* Enough for two threads, and for what takes a few hundred microseconds. */
#define SIZE (2 * 1024 * 1024)

typedef struct
{
  MtlTensorFile *read;
  MtlTensorFile *mapped;
  MtlStridedView *bytes;
  MtlStridedView *copy; /* that all loads write, always the same */
  MtlEvent *event;
  gint is_over; /* atomic */
} World;

static void
world_init (World      *self,
            TestFolder *folder)
{
  g_autofree guint8 *bytes = g_malloc0 (2 * SIZE);
  g_autofree char *header =
    g_strdup_printf ("{\"x\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]},"
                     "\"zeros\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%d,%d]}}",
                     SIZE, SIZE, SIZE / 4, SIZE, 2 * SIZE);
  g_autoptr (GFile) file = NULL;

  mtl_set_max_threads (N_HELPERS);
  for (gsize i = 0; i < SIZE; i++)
    bytes[i] = get_pattern_byte (i);
  file = write_safetensors (folder, "file", header, bytes, 2 * SIZE);

  *self = (World) {
    .read = open_file (file, MTL_TENSOR_FILE_MODE_READ),
    .mapped = open_file (file, MTL_TENSOR_FILE_MODE_MAP),
    .bytes = host_zeros (MTL_DTYPE_UINT8, DIMS (SIZE)),
    .copy = host_zeros (MTL_DTYPE_UINT8, DIMS (SIZE)),
    .event = mtl_event_new (mtl_device_get_host (), NULL),
  };
  memcpy (mtl_strided_view_get_data (self->bytes), bytes, SIZE);
}

static void
world_clear (World *self)
{
  g_assert_finalize_object (self->event);
  g_assert_finalize_object (self->bytes);
  g_assert_finalize_object (self->copy);
  g_assert_finalize_object (self->mapped);
  g_assert_finalize_object (self->read);
  mtl_set_max_threads (0);
}

/* In a child the checks abort, as everywhere. */
static void
assert_loads (MtlTensorFile *file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_tensor_file_load_view (file, "x", NULL, &error);

  g_assert_no_error (error);
  assert_pattern ((guint8 *) mtl_strided_view_get_data (view) + SIZE / 2, SIZE / 2, 5000);
}

static void
assert_copies (MtlStridedView *source)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (source, MTL_ORDER_C, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (mtl_strided_view_get_data (copy), SIZE,
                   mtl_strided_view_get_data (source), SIZE);
}

static void
assert_converts (MtlStridedView *source)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) wide = mtl_strided_view_to_dtype (source, MTL_DTYPE_INT16, MTL_ORDER_C,
                                                               NULL, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < SIZE; i += 4099)
    g_assert_cmpint (((gint16 *) mtl_strided_view_get_data (wide))[i], ==, get_pattern_byte (i));
}

static gpointer
signal_in_thread (gpointer event)
{
  mtl_event_signal (event, mtl_event_get_signaled_value (event) + 1);
  return NULL;
}

static void
assert_signals (MtlEvent *event)
{
  guint64 next = mtl_event_get_signaled_value (event) + 1;
  GThread *thread = g_thread_new ("signal", signal_in_thread, event);

  g_assert_true (mtl_event_wait (event, next, -1, NULL, NULL));
  g_thread_join (thread);
}

static void
count_report (goffset  done,
              goffset  total,
              gpointer n_calls)
{
  (*(guint *) n_calls)++;
}

/* Makes calls that GTask's own threads would run in the parent. */
static void
assert_fills_async (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GAsyncResult) filled = NULL, waited = NULL, synchronized = NULL;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (SIZE));
  g_autoptr (MtlEvent) event = mtl_event_new (mtl_device_get_host (), NULL);
  guint n_calls = 0;

  g_main_context_push_thread_default (context);
  mtl_event_wait_async (event, 1, -1, NULL, keep_result, &waited);
  mtl_device_synchronize_async (mtl_device_get_host (), NULL, keep_result, &synchronized);
  mtl_strided_view_fill_double_async (view, 7, NULL, count_report, &n_calls, NULL, keep_result,
                                      &filled);
  mtl_event_signal (event, 1);
  wait_for_kept (&filled);
  wait_for_kept (&waited);
  wait_for_kept (&synchronized);
  g_main_context_pop_thread_default (context);

  g_assert_true (mtl_strided_view_fill_double_finish (view, filled, NULL));
  g_assert_true (mtl_event_wait_finish (event, waited, NULL));
  g_assert_true (mtl_device_synchronize_finish (mtl_device_get_host (), synchronized, NULL));
  g_assert_cmpint (((guint8 *) mtl_strided_view_get_data (view))[SIZE - 1], ==, 7);
  g_assert_cmpuint (n_calls, >, 0);
}

/* Helpers stay for a while when they have nothing to do. */
static void
assert_has_helpers (void)
{
#ifdef __linux__
  g_autoptr (GDir) threads = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (threads) != NULL)
    n++;
  g_assert_cmpuint (n, >, 1);
#endif
}

static void
use_memory (World *self)
{
  assert_copies (self->bytes);
  assert_has_helpers ();
  assert_converts (self->bytes);
}

static void
use_rest (World *self)
{
  assert_loads (self->read);
  assert_loads (self->mapped);
  assert_signals (self->event);
  assert_fills_async ();
  mtl_tensor_file_close (self->read);
  world_clear (self);
}

static void
use_world (World *self)
{
  use_memory (self);
  use_rest (self);
}

typedef void (* ChildFunc) (World *self);

static pid_t
start_child (World     *self,
             ChildFunc  func)
{
  pid_t child = fork ();

  g_assert_cmpint (child, >=, 0);
  if (child > 0)
    return child;

  alarm (HANGS_AFTER);
  func (self);
  _exit (0);
}

/* Returns whether the child hung. */
static gboolean
end_child (pid_t child)
{
  int status;

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGALRM)
    return TRUE;

  g_assert_cmpint (status, ==, 0);
  return FALSE;
}

static void
assert_child_ends (World     *self,
                   ChildFunc  func)
{
  g_assert_false (end_child (start_child (self, func)));
}

static gboolean
goes_on (World *self)
{
  return !g_atomic_int_get (&self->is_over);
}

/* The loads hold locks of the library often, and GLib's never: those stay locked in the
 * children, also the ones that are held while an object is finalized. */
static gpointer
load_by_copying (gpointer data)
{
  World *self = data;

  while (goes_on (self))
    g_assert_true (mtl_strided_view_copy_from (self->copy, self->bytes, NULL, NULL));
  return NULL;
}

static gpointer
load_by_reading (gpointer data)
{
  World *self = data;

  while (goes_on (self))
    g_assert_true (mtl_tensor_file_check (self->read, MTL_TENSOR_FILE_CHECKS_NAN, NULL, NULL, NULL,
                                          NULL));
  return NULL;
}

static gpointer
load_by_signaling (gpointer data)
{
  World *self = data;

  while (goes_on (self))
    for (int i = 0; i < 1000; i++)
      {
        mtl_event_signal (self->event, mtl_event_get_signaled_value (self->event) + 1);
        mtl_event_wait (self->event, 1, 0, NULL, NULL);
      }
  return NULL;
}

static void
test_under_load (TestFolder    *folder,
                 gconstpointer  data)
{
  static const GThreadFunc loads[N_LOADING] = {
    load_by_copying, load_by_copying, load_by_copying, load_by_copying, load_by_copying,
    load_by_reading, load_by_signaling, load_by_signaling,
  };
  World world;
  GThread *threads[N_LOADING];
  pid_t children[N_AT_ONCE];
  guint n_hung = 0;

  world_init (&world, folder);
  assert_fills_async ();
  g_usleep (200000); /* until GTask's threads, which stay, are done with GLib's locks */
  for (gsize i = 0; i < N_LOADING; i++)
    threads[i] = g_thread_new ("load", loads[i], &world);

  for (gsize i = 0; i < N_FORKS + N_AT_ONCE; i++)
    {
      if (i >= N_AT_ONCE)
        n_hung += end_child (children[i % N_AT_ONCE]);
      if (i < N_FORKS)
        children[i % N_AT_ONCE] = start_child (&world, i % 3 == 0 ? use_memory : use_rest);
    }

  g_atomic_int_set (&world.is_over, TRUE);
  for (gsize i = 0; i < N_LOADING; i++)
    g_thread_join (threads[i]);
  world_clear (&world);

  g_test_message ("%u of %d children hung", n_hung, N_FORKS);
  g_assert_cmpuint (n_hung, ==, 0);
}

static void
fork_again (World *self)
{
  assert_copies (self->bytes);
  assert_child_ends (self, use_world);
  use_world (self);
}

/* The children have helpers, and so have theirs. */
static void
test_children_of_children (TestFolder    *folder,
                           gconstpointer  data)
{
  World world;

  world_init (&world, folder);
  assert_copies (world.bytes);
  assert_child_ends (&world, fork_again);
  world_clear (&world);
}

static gpointer
wait_in_thread (gpointer event)
{
  g_assert_true (mtl_event_wait (event, 1, -1, NULL, NULL));
  return NULL;
}

static void
signal_and_drop (World *self)
{
  mtl_event_signal (self->event, 1);
  g_assert_true (mtl_event_wait (self->event, 1, -1, NULL, NULL));
  g_object_unref (self->event);
}

/* Signals of the child do not reach the parent. */
static void
test_event (TestFolder    *folder,
            gconstpointer  data)
{
  World world;
  GThread *thread;

  world_init (&world, folder);
  thread = g_thread_new ("wait", wait_in_thread, world.event);
  g_usleep (10000);
  assert_child_ends (&world, signal_and_drop);
  g_assert_cmpuint (mtl_event_get_signaled_value (world.event), ==, 0);
  mtl_event_signal (world.event, 1);
  g_thread_join (thread);
  world_clear (&world);
}

typedef struct
{
  pid_t child; /* 0 in the child, -1 before */
} Forking;

static void
fork_once (goffset  done,
           goffset  total,
           gpointer data)
{
  Forking *self = data;

  if (self->child != -1)
    return;

  self->child = fork ();
  g_assert_cmpint (self->child, >=, 0);
  if (self->child == 0)
    alarm (HANGS_AFTER);
}

/* The child either gets what was read, or an error: the parent's helpers were reading,
 * and are not there. */
static void
test_from_progress (TestFolder    *folder,
                    gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "large");

  mtl_set_max_threads (N_HELPERS);
  for (int round = 0; round < 4; round++)
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
      g_autoptr (GError) error = NULL;
      Forking forking = { -1 };
      gsize n;
      MtlStridedView **views = mtl_tensor_file_load_views (tensors, NULL, NULL, fork_once,
                                                           &forking, &n, &error);

      if (forking.child == 0 && views == NULL)
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
          assert_says (error->message, "forked");
        }
      else
        {
          g_assert_no_error (error);
          assert_large (views);
        }
      if (forking.child == 0)
        _exit (0);

      g_assert_false (end_child (forking.child));
      free_views (views, n);
    }

  mtl_set_max_threads (0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/Fork/under-load", test_under_load);
  add_folder_test ("/Fork/children-of-children", test_children_of_children);
  add_folder_test ("/Fork/event", test_event);
  add_folder_test ("/Fork/from-progress", test_from_progress);

  return g_test_run ();
}
