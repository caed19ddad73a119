/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"

#include <time.h>

#define MS G_TIME_SPAN_MILLISECOND

static MtlDevice *
get_place (gconstpointer data)
{
  int ordinal = GPOINTER_TO_INT (data);

  return ordinal < 0 ? mtl_device_get_host () : get_metal (ordinal);
}

static MtlEvent *
new_event (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  MtlEvent *event = mtl_event_new (get_place (data), &error);

  g_assert_no_error (error);
  return event;
}

static void
assert_reached (MtlEvent *event,
                guint64   value,
                gint64    timeout)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_event_wait (event, value, timeout, NULL, &error));
  g_assert_no_error (error);
}

static void
assert_not_reached (MtlEvent *event,
                    guint64   value,
                    gint64    timeout)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (mtl_event_wait (event, value, timeout, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

static void
test_new (Living        *living,
          gconstpointer  data)
{
  MtlEvent *event = new_event (data);
  g_autoptr (MtlDevice) device = NULL;
  guint64 value = 7;

  g_object_get (event, "device", &device, "signaled-value", &value, NULL);
  g_assert_true (device == get_place (data));
  g_assert_true (mtl_event_get_device (event) == device);
  g_assert_cmpuint (value, ==, 0);
  g_assert_cmpint (mtl_event_get_handle (event) == NULL, ==, device == mtl_device_get_host ());
  g_assert_finalize_object (event);

  /* One that was never initialized is the host's. */
  event = g_object_new (MTL_TYPE_EVENT, "device", device, NULL);
  g_assert_true (mtl_event_get_device (event) == mtl_device_get_host ());
  mtl_event_signal (event, 2);
  assert_reached (event, 2, 0);
  g_assert_true (g_initable_init (G_INITABLE (event), NULL, NULL));
  g_assert_true (mtl_event_get_device (event) == device);
  g_assert_finalize_object (event);
}

static void
test_signal (Living        *living,
             gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);

  assert_reached (event, 0, 0);
  assert_not_reached (event, 1, 0);

  mtl_event_signal (event, 5);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 5);
  assert_reached (event, 1, 0);
  assert_reached (event, 5, 0);
  assert_reached (event, 5, -1);
  assert_not_reached (event, 6, 0);
  assert_not_reached (event, (G_GUINT64_CONSTANT (1) << 32) + 4, 0);

  mtl_event_signal (event, (G_GUINT64_CONSTANT (1) << 32) + 4);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, (G_GUINT64_CONSTANT (1) << 32) + 4);
  assert_reached (event, 6, 0);
  assert_not_reached (event, (G_GUINT64_CONSTANT (2) << 32) + 3, 0);

  mtl_event_signal (event, G_MAXUINT64);
  assert_reached (event, G_MAXUINT64, -1);
}

static void
test_never_goes_back (Living        *living,
                      gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);

  mtl_event_signal (event, 5);
  mtl_event_signal (event, 3);
  mtl_event_signal (event, 5);
  mtl_event_signal (event, 0);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 5);
}

static void
test_timeout (Living        *living,
              gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  gint64 begin = g_get_monotonic_time ();
  struct timespec worked_before, worked;
  g_autoptr (GError) error = NULL;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &worked_before);
  mtl_event_signal (event, 2);
  g_assert_false (mtl_event_wait (event, 3, 60 * MS, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  assert_says (error->message, "3 & 60000 & 2");
  g_assert_cmpint (g_get_monotonic_time () - begin, >=, 60 * MS);

  /* The processor is not kept busy meanwhile. */
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &worked);
  g_assert_cmpfloat ((worked.tv_sec - worked_before.tv_sec) * 1e3
                     + (worked.tv_nsec - worked_before.tv_nsec) / 1e6, <, 40);
}

typedef struct
{
  MtlEvent *event;
  GCancellable *cancellable;
  guint64 value;
  int *n_done;
} Work;

static gpointer
signal_later (gpointer data)
{
  Work *work = data;

  g_usleep (50 * MS);
  g_atomic_int_inc (work->n_done);
  mtl_event_signal (work->event, work->value);
  return NULL;
}

static gpointer
cancel_later (gpointer data)
{
  Work *work = data;

  g_usleep (50 * MS);
  g_cancellable_cancel (work->cancellable);
  return NULL;
}

/* Each way to wait for another thread; far longer than it takes. */
static void
test_wait (Living        *living,
           gconstpointer  data)
{
  static const struct { gint64 timeout; gboolean can_be_cancelled; } ways[] = {
    { -1, FALSE },
    { -1, TRUE },
    { G_MAXINT64, FALSE },
    { G_MAXINT64, TRUE },
    { 3600 * G_TIME_SPAN_SECOND, FALSE },
    { 3600 * G_TIME_SPAN_SECOND, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (MtlEvent) event = new_event (data);
      g_autoptr (GCancellable) cancellable = ways[i].can_be_cancelled ? g_cancellable_new () : NULL;
      g_autoptr (GError) error = NULL;
      int n_done = 0;
      Work work = { event, cancellable, 4, &n_done };
      GThread *thread = g_thread_new ("signal", signal_later, &work);

      g_assert_true (mtl_event_wait (event, 3, ways[i].timeout, cancellable, &error));
      g_assert_no_error (error);
      g_assert_cmpint (g_atomic_int_get (&n_done), ==, 1);
      g_thread_join (thread);
    }
}

static void
test_cancelled (Living        *living,
                gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Work work = { event, cancellable };
  GThread *thread = g_thread_new ("cancel", cancel_later, &work);
  gint64 begin = g_get_monotonic_time ();

  g_assert_false (mtl_event_wait (event, 1, 3600 * G_TIME_SPAN_SECOND, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 60 * G_TIME_SPAN_SECOND);
  g_thread_join (thread);
  g_clear_error (&error);

  /* Also where there is nothing to wait for. */
  g_assert_false (mtl_event_wait (event, 0, 0, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gpointer
wait_and_count (gpointer data)
{
  Work *work = data;

  assert_reached (work->event, work->value, -1);
  g_atomic_int_inc (work->n_done);
  return NULL;
}

static void
test_many_waiters (Living        *living,
                   gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  int n_done = 0;
  Work works[16];
  GThread *threads[16];

  for (gsize i = 0; i < G_N_ELEMENTS (works); i++)
    {
      works[i] = (Work) { event, NULL, i < 8 ? 1 : 2, &n_done };
      threads[i] = g_thread_new ("wait", wait_and_count, &works[i]);
    }
  g_usleep (20 * MS);
  g_assert_cmpint (g_atomic_int_get (&n_done), ==, 0);

  mtl_event_signal (event, 1);
  for (gsize i = 0; i < 8; i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (g_atomic_int_get (&n_done), ==, 8);

  mtl_event_signal (event, 2);
  for (gsize i = 8; i < G_N_ELEMENTS (works); i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (g_atomic_int_get (&n_done), ==, 16);
}

typedef struct
{
  guint n_left;
  GAsyncResult *result;
} Answers;

static void
take_answer (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  Answers *answers = data;

  answers->n_left--;
  g_set_object (&answers->result, result);
}

static void
wait_for_answers (Answers *answers)
{
  while (answers->n_left > 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_async (Living        *living,
            gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  g_autoptr (GError) error = NULL;
  Answers answers = { 1, NULL };

  mtl_event_wait_async (event, 3, -1, NULL, take_answer, &answers);
  g_usleep (20 * MS);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (answers.n_left, ==, 1);

  mtl_event_signal (event, 3);
  wait_for_answers (&answers);
  g_assert_true (mtl_event_wait_finish (event, answers.result, &error));
  g_assert_no_error (error);
  g_clear_object (&answers.result);

  answers.n_left = 1;
  mtl_event_wait_async (event, 4, 20 * MS, NULL, take_answer, &answers);
  wait_for_answers (&answers);
  g_assert_false (mtl_event_wait_finish (event, answers.result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_clear_object (&answers.result);
}

/* More of them than GLib has threads for its tasks, which would take most of a
 * minute to become more. */
static void
test_async_many (Living        *living,
                 gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  g_autoptr (GError) error = NULL;
  Answers answers = { 100, NULL };
  Answers others = { 1, NULL };

  for (guint i = answers.n_left; i > 0; i--)
    mtl_event_wait_async (event, i, -1, NULL, take_answer, &answers);
  mtl_device_synchronize_async (get_place (data), NULL, take_answer, &others);
  wait_for_answers (&others);
  g_assert_true (mtl_device_synchronize_finish (get_place (data), others.result, &error));
  g_clear_object (&others.result);
  g_assert_cmpuint (answers.n_left, ==, 100);

  mtl_event_signal (event, 100);
  wait_for_answers (&answers);
  g_assert_true (mtl_event_wait_finish (event, answers.result, &error));
  g_assert_no_error (error);
  g_clear_object (&answers.result);
}

static void
test_async_cancelled (Living        *living,
                      gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Answers answers = { 1, NULL };

  mtl_event_wait_async (event, 3, -1, cancellable, take_answer, &answers);
  g_usleep (20 * MS);
  g_cancellable_cancel (cancellable);
  wait_for_answers (&answers);
  g_assert_false (mtl_event_wait_finish (event, answers.result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&answers.result);
}

static void
test_handle (Living        *living,
             gconstpointer  data)
{
  gpointer handle = metal_fixture_event_new (DISCRETE);
  g_autoptr (GError) error = NULL;
  MtlEvent *event = mtl_event_new_for_handle (handle, get_place (data), &error);

  g_assert_no_error (error);
  g_assert_true (mtl_event_get_handle (event) == handle);
  assert_references (handle, 2);

  metal_fixture_event_signal (handle, 6);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 6);
  mtl_event_signal (event, 8);
  g_assert_cmpuint (metal_fixture_event_value (handle), ==, 8);

  g_assert_finalize_object (event);
  assert_references (handle, 1);
  metal_fixture_release (handle);
}

static void
test_handle_refused (void)
{
  gpointer handle = metal_fixture_event_new (UNIFIED);
  gpointer buffer = metal_fixture_buffer_new (UNIFIED, 4, OPTIONS_SHARED);

  assert_fails (mtl_event_new_for_handle (handle, mtl_device_get_host (), &error),
                MTL_ERROR_NOT_SUPPORTED, "“Host”");
  assert_fails (mtl_event_new_for_handle (buffer, get_metal (UNIFIED), &error),
                MTL_ERROR_INVALID_ARGUMENT, "MTLSharedEvent");
  assert_fails (mtl_event_new_for_handle ((guint8 *) handle + 8, get_metal (UNIFIED), &error),
                MTL_ERROR_INVALID_ARGUMENT, "16");
  assert_references (handle, 1);
  assert_references (buffer, 1);
  metal_fixture_release (handle);
  metal_fixture_release (buffer);
}

static void
test_default_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlEvent) event = mtl_event_new (NULL, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_event_get_device (event) == get_metal (UNIFIED));
}

/* The host waits for the GPU, which waits for the host. */
static void
test_order (Living        *living,
            gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  g_autoptr (MtlBuffer) buffer = new_buffer (get_place (data), 4, MTL_STORAGE_MODE_SHARED);
  guint8 *contents = mtl_buffer_get_contents (buffer);
  MetalFixtureRun *run;

  skip_unless (has_kernels (), "this Metal compiles no kernels");
  run = metal_fixture_submit (METAL_FIXTURE_ADD, mtl_buffer_get_handle (buffer), 0, 4, 10,
                              mtl_event_get_handle (event), 1, mtl_event_get_handle (event), 2);
  metal_fixture_go (run);
  assert_not_reached (event, 2, 30 * MS);
  memcpy (contents, "\1\2\3\4", 4);
  mtl_event_signal (event, 1);
  assert_reached (event, 2, -1);
  g_assert_cmpmem (contents, 4, "\13\14\15\16", 4);
  g_assert_true (metal_fixture_finish (run));
}

/* Two queues of other libraries, put in order by an event of this one. */
static void
test_order_of_queues (Living        *living,
                      gconstpointer  data)
{
  g_autoptr (MtlEvent) event = new_event (data);
  g_autoptr (MtlBuffer) buffer = new_buffer (get_place (data), 4, MTL_STORAGE_MODE_PRIVATE);
  gpointer handle = mtl_buffer_get_handle (buffer), order = mtl_event_get_handle (event);
  MetalFixtureRun *first, *second;

  skip_unless (has_kernels (), "this Metal compiles no kernels");
  second = metal_fixture_submit (METAL_FIXTURE_ADD, handle, 0, 4, 1, order, 1, order, 2);
  first = metal_fixture_submit (METAL_FIXTURE_FILL, handle, 0, 4, 40, NULL, 0, order, 1);
  metal_fixture_go (second);
  metal_fixture_go (first);
  assert_reached (event, 2, -1);
  assert_buffer_bytes (buffer, 0, "))))", 4);
  g_assert_true (metal_fixture_finish (first));
  g_assert_true (metal_fixture_finish (second));
}

static void
test_synchronize (Living        *living,
                  gconstpointer  data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Answers answers = { 1, NULL };

  g_assert_true (mtl_device_synchronize (get_place (data), cancellable, &error));
  g_assert_no_error (error);
  mtl_device_synchronize_async (get_place (data), NULL, take_answer, &answers);
  wait_for_answers (&answers);
  g_assert_true (mtl_device_synchronize_finish (get_place (data), answers.result, &error));
  g_assert_no_error (error);
  g_clear_object (&answers.result);

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_device_synchronize (get_place (data), cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* The caller goes on at once; the device goes on too. */
static void
test_synchronize_cancelled (Living        *living,
                            gconstpointer  data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Answers answers = { 1, NULL };
  unsigned n_commits = metal_double_calls ("commit");

  metal_double_pause ();
  mtl_device_synchronize_async (get_place (data), cancellable, take_answer, &answers);
  while (metal_double_calls ("commit") == n_commits)
    g_usleep (100);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (answers.n_left, ==, 1);

  g_cancellable_cancel (cancellable);
  wait_for_answers (&answers);
  g_assert_false (mtl_device_synchronize_finish (get_place (data), answers.result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&answers.result);
  metal_double_resume ();
}

static void
add_on_each (const char *name,
             gboolean    with_host,
             void     (* func) (Living *, gconstpointer))
{
  static const char *const places[] = { "host", "unified", "discrete" };

  for (int ordinal = with_host ? -1 : UNIFIED; ordinal <= DISCRETE; ordinal++)
    {
      g_autofree char *path = g_strdup_printf ("/MetalEvent/%s/%s", name, places[ordinal + 1]);

      add_metal_data_test (path, GINT_TO_POINTER (ordinal), func);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_on_each ("new", TRUE, test_new);
  add_on_each ("signal", TRUE, test_signal);
  add_on_each ("never-goes-back", TRUE, test_never_goes_back);
  add_on_each ("timeout", TRUE, test_timeout);
  add_on_each ("wait", TRUE, test_wait);
  add_on_each ("cancelled", TRUE, test_cancelled);
  add_on_each ("many-waiters", TRUE, test_many_waiters);
  add_on_each ("async", TRUE, test_async);
  add_on_each ("async-many", TRUE, test_async_many);
  add_on_each ("async-cancelled", TRUE, test_async_cancelled);
  add_on_each ("handle", FALSE, test_handle);
  add_metal_test ("/MetalEvent/handle-refused", test_handle_refused);
  add_metal_test ("/MetalEvent/default-device", test_default_device);
  add_on_each ("order", FALSE, test_order);
  add_on_each ("order-of-queues", FALSE, test_order_of_queues);
  add_on_each ("synchronize", TRUE, test_synchronize);
  add_on_each ("synchronize-cancelled", FALSE, over_double ? test_synchronize_cancelled
                                                          : skip_data_without_double);

  return g_test_run ();
}
