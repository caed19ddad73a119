/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"
#include "watched.h"

/* Large enough for several threads, and for work that is cancelled in its midst. */
#define N_ROWS 1500
#define N_COLUMNS 1000

static MtlStridedView *
new_numbers (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *values = g_new (double, N_ROWS * N_COLUMNS);
  MtlStridedView *view;

  for (int i = 0; i < N_ROWS * N_COLUMNS; i++)
    values[i] = i % 65521;
  view = mtl_strided_view_new_from_doubles (values, N_ROWS * N_COLUMNS, MTL_DTYPE_FLOAT32,
                                            DIMS (N_ROWS, N_COLUMNS), &error);
  g_assert_no_error (error);
  return view;
}

static gboolean
is_transposed (MtlStridedView *view)
{
  const float *data = mtl_strided_view_get_data (view);

  for (int column = 0; column < N_COLUMNS; column++)
    for (int row = 0; row < N_ROWS; row++)
      if (*data++ != (row * N_COLUMNS + column) % 65521)
        return FALSE;

  return TRUE;
}

static void
test_max_threads (void)
{
  guint n_default = mtl_get_max_threads ();

  g_assert_cmpuint (n_default, >=, 1);
  mtl_set_max_threads (3);
  g_assert_cmpuint (mtl_get_max_threads (), ==, 3);
  mtl_set_max_threads (0);
  g_assert_cmpuint (mtl_get_max_threads (), ==, n_default);
}

static void
test_environment (void)
{
  const char *const values[][2] = {
    { "5", "5" }, { "1", "1" }, { "0", NULL }, { "-2", NULL }, { "many", NULL }, { "", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_setenv ("MTL_MAX_THREADS", values[i][0], TRUE);
      mtl_set_max_threads (0);
      g_assert_cmpuint (mtl_get_max_threads (), ==,
                        values[i][1] != NULL ? (guint) atoi (values[i][1])
                                             : g_get_num_processors ());
    }

  g_unsetenv ("MTL_MAX_THREADS");
  mtl_set_max_threads (0);
}

static void
test_same_with_any_number (void)
{
  g_autoptr (MtlStridedView) numbers = new_numbers ();
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (numbers);

  for (guint n_threads = 1; n_threads <= 5; n_threads++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) copy = NULL;

      mtl_set_max_threads (n_threads);
      copy = mtl_strided_view_copy (turned, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (is_transposed (copy));
    }

  mtl_set_max_threads (0);
}

static gpointer
copy_often (gpointer turned)
{
  for (int i = 0; i < 8; i++)
    {
      g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (turned, MTL_ORDER_C, NULL, NULL);

      g_assert_true (is_transposed (copy));
    }

  return NULL;
}

static void
test_many_callers (void)
{
  g_autoptr (MtlStridedView) numbers = new_numbers ();
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (numbers);
  GThread *threads[6];

  mtl_set_max_threads (3);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("copies", copy_often, turned);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  mtl_set_max_threads (0);
}

/* The outcome of an asynchronous call. */
typedef struct
{
  GMainLoop *loop;
  GMainContext *context;
  GThread *thread;
  GAsyncResult *result;
  goffset done;
  goffset total;
  int n_progress;
  int n_freed;
  GCancellable *cancelled_by_progress;
  gboolean progress_waits; /* for the result */
} Outcome;

static void
outcome_init (Outcome *self)
{
  *self = (Outcome) { .context = g_main_context_new (), .thread = g_thread_self () };
  g_main_context_push_thread_default (self->context);
  self->loop = g_main_loop_new (self->context, FALSE);
}

static void
outcome_clear (Outcome *self)
{
  g_clear_object (&self->result);
  g_main_loop_unref (self->loop);
  g_main_context_pop_thread_default (self->context);
  g_main_context_unref (self->context);
}

static void
on_progress (goffset  done,
             goffset  total,
             gpointer data)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  g_assert_null (self->result);
  g_assert_cmpint (self->n_freed, ==, 0);
  g_assert_cmpint (done, >, self->n_progress > 0 ? self->done : -1);
  g_assert_cmpint (done, <=, total);
  self->done = done;
  self->total = total;
  self->n_progress++;
  if (self->cancelled_by_progress != NULL)
    g_cancellable_cancel (self->cancelled_by_progress);
  if (self->progress_waits)
    {
      self->progress_waits = FALSE;
      while (self->result == NULL)
        g_main_context_iteration (self->context, TRUE);
      g_assert_cmpint (self->n_freed, ==, 0);
    }
}

static void
on_freed (gpointer data)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  self->n_freed++;
}

static void
on_ready (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  self->result = g_object_ref (result);
  g_main_loop_quit (self->loop);
}

/* Each asynchronous call, and the bytes that it writes. */
typedef enum
{
  FILL,
  FILL_DOUBLE,
  COPY_FROM,
  COPY,
  TO_CONTIGUOUS,
  TO_DTYPE,
  TO_DEVICE,
  DUP_BYTES,
  N_CALLS,
} CallKind;

static void
begin (CallKind        kind,
       MtlStridedView *view,
       MtlStridedView *source,
       GCancellable   *cancellable,
       Outcome        *outcome)
{
  const float seven = 7;
  g_autoptr (GBytes) element = g_bytes_new (&seven, sizeof seven);

  switch (kind)
    {
    case FILL:
      mtl_strided_view_fill_async (view, element, cancellable, on_progress, outcome, on_freed,
                                   on_ready, outcome);
      break;
    case FILL_DOUBLE:
      mtl_strided_view_fill_double_async (view, 7, cancellable, on_progress, outcome, on_freed,
                                          on_ready, outcome);
      break;
    case COPY_FROM:
      mtl_strided_view_copy_from_async (view, source, cancellable, on_progress, outcome, on_freed,
                                        on_ready, outcome);
      break;
    case COPY:
      mtl_strided_view_copy_async (source, MTL_ORDER_C, cancellable, on_progress, outcome, on_freed,
                                   on_ready, outcome);
      break;
    case DUP_BYTES:
      mtl_strided_view_dup_bytes_async (source, cancellable, on_progress, outcome, on_freed,
                                        on_ready, outcome);
      break;
    case TO_CONTIGUOUS:
      mtl_strided_view_to_contiguous_async (source, cancellable, on_progress, outcome, on_freed,
                                            on_ready, outcome);
      break;
    case TO_DTYPE:
      mtl_strided_view_to_dtype_async (source, MTL_DTYPE_FLOAT64, MTL_ORDER_C,
                                       cancellable, on_progress,
                                       outcome, on_freed, on_ready, outcome);
      break;
    case TO_DEVICE:
      mtl_strided_view_to_device_async (source, mtl_device_get_host (), MTL_STORAGE_MODE_HOST,
                                        cancellable, on_progress, outcome, on_freed, on_ready,
                                        outcome);
      break;
    default:
      g_assert_not_reached ();
    }
}

static MtlStridedView *
view_of_bytes (GBytes *taken)
{
  g_autoptr (GBytes) bytes = taken;

  return bytes != NULL ? mtl_strided_view_new_from_bytes (bytes, MTL_DTYPE_FLOAT32,
                                                          DIMS (N_COLUMNS, N_ROWS), NULL)
                       : NULL;
}

/* The view that there is afterwards, or NULL. */
static MtlStridedView *
end (CallKind         kind,
     MtlStridedView  *view,
     MtlStridedView  *source,
     Outcome         *outcome,
     GError         **error)
{
  switch (kind)
    {
    case FILL:
      return mtl_strided_view_fill_finish (view, outcome->result, error)
               ? g_object_ref (view) : NULL;
    case FILL_DOUBLE:
      return mtl_strided_view_fill_double_finish (view, outcome->result, error)
               ? g_object_ref (view) : NULL;
    case COPY_FROM:
      return mtl_strided_view_copy_from_finish (view, outcome->result, error)
               ? g_object_ref (view) : NULL;
    case COPY:
      return mtl_strided_view_copy_finish (source, outcome->result, error);
    case DUP_BYTES:
      return view_of_bytes (mtl_strided_view_dup_bytes_finish (source, outcome->result, error));
    case TO_CONTIGUOUS:
      return mtl_strided_view_to_contiguous_finish (source, outcome->result, error);
    case TO_DTYPE:
      return mtl_strided_view_to_dtype_finish (source, outcome->result, error);
    case TO_DEVICE:
      return mtl_strided_view_to_device_finish (source, outcome->result, error);
    default:
      g_assert_not_reached ();
    }
}

static void
check_result (CallKind        kind,
              MtlStridedView *view)
{
  const float *data = mtl_strided_view_get_data (view);

  switch (kind)
    {
    case FILL:
    case FILL_DOUBLE:
      for (gint64 i = 0; i < mtl_strided_view_get_volume (view); i++)
        g_assert_cmpfloat (data[i], ==, 7);
      break;
    case COPY_FROM:
    case COPY:
    case DUP_BYTES:
    case TO_CONTIGUOUS:
      g_assert_true (is_transposed (view));
      break;
    case TO_DTYPE:
      g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, MTL_DTYPE_FLOAT64);
      g_assert_cmpfloat (mtl_strided_view_get_double (view, DIMS (2, 3), NULL), ==,
                         3 * N_COLUMNS + 2);
      break;
    case TO_DEVICE:
      g_assert_cmpfloat (mtl_strided_view_get_double (view, DIMS (2, 3), NULL), ==,
                         3 * N_COLUMNS + 2);
      break;
    default:
      g_assert_not_reached ();
    }
}

static void
test_comparisons (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) numbers = new_numbers ();
  g_autoptr (MtlStridedView) zeros = new_zeros (MTL_DTYPE_FLOAT32, DIMS (N_ROWS, N_COLUMNS));
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  MtlStridedView *others[] = { numbers, zeros };
  Outcome cancelled;

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      Outcome outcome;

      outcome_init (&outcome);
      mtl_strided_view_array_equal_async (numbers, others[i], MTL_COMPARE_FLAGS_NONE, NULL,
                                          on_ready, &outcome);
      g_main_loop_run (outcome.loop);
      g_assert_cmpint (mtl_strided_view_array_equal_finish (numbers, outcome.result, &error), ==,
                       i == 0);
      g_assert_no_error (error);
      outcome_clear (&outcome);

      outcome_init (&outcome);
      mtl_strided_view_all_close_async (numbers, others[i], 0, 0.5, MTL_COMPARE_FLAGS_NONE, NULL,
                                        on_ready, &outcome);
      g_main_loop_run (outcome.loop);
      g_assert_cmpint (mtl_strided_view_all_close_finish (numbers, outcome.result, &error), ==,
                       i == 0);
      g_assert_no_error (error);
      outcome_clear (&outcome);
    }

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_strided_view_array_equal (numbers, numbers, MTL_COMPARE_FLAGS_NONE,
                                                cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  outcome_init (&cancelled);
  mtl_strided_view_all_close_async (numbers, numbers, 0, 0.5, MTL_COMPARE_FLAGS_NONE, cancellable,
                                    on_ready, &cancelled);
  g_main_loop_run (cancelled.loop);
  g_assert_false (mtl_strided_view_all_close_finish (numbers, cancelled.result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  outcome_clear (&cancelled);
}

static void
test_statistic (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) numbers = new_numbers ();
  g_autoptr (MtlStridedView) least = NULL;
  Outcome outcome;

  outcome_init (&outcome);
  mtl_strided_view_reduce_async (numbers, MTL_REDUCTION_MINIMUM, AXES (0), NULL,
                                            on_ready, &outcome);
  g_main_loop_run (outcome.loop);
  least = mtl_strided_view_reduce_finish (numbers, outcome.result, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_volume (least), ==, N_COLUMNS);
  outcome_clear (&outcome);
}

static void
test_results (void)
{
  for (CallKind kind = 0; kind < N_CALLS; kind++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) numbers = new_numbers ();
      g_autoptr (MtlStridedView) source = mtl_strided_view_transpose (numbers);
      g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_FLOAT32, DIMS (N_COLUMNS, N_ROWS));
      g_autoptr (MtlStridedView) result = NULL;
      Outcome outcome;

      outcome_init (&outcome);
      begin (kind, view, source, NULL, &outcome);
      g_assert_null (outcome.result);
      g_main_loop_run (outcome.loop);
      result = end (kind, view, source, &outcome, &error);
      g_assert_no_error (error);
      check_result (kind, result);
      g_assert_cmpint (outcome.n_freed, ==, 1);
      g_assert_cmpint (outcome.done, ==, outcome.total);
      if (kind != TO_DEVICE) /* where it is already */
        g_assert_cmpint (outcome.total, ==,
                         mtl_strided_view_get_volume (result)
                         * mtl_dtype_get_bits (mtl_strided_view_get_dtype (result)) / 8);
      outcome_clear (&outcome);
    }
}

static void
test_cancelled_before (void)
{
  for (CallKind kind = 0; kind < N_CALLS; kind++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (MtlStridedView) numbers = new_numbers ();
      g_autoptr (MtlStridedView) source = mtl_strided_view_transpose (numbers);
      g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_FLOAT32, DIMS (N_COLUMNS, N_ROWS));
      Outcome outcome;

      outcome_init (&outcome);
      g_cancellable_cancel (cancellable);
      begin (kind, view, source, cancellable, &outcome);
      g_main_loop_run (outcome.loop);
      g_assert_null (end (kind, view, source, &outcome, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (outcome.n_freed, ==, 1);
      g_assert_cmpfloat (mtl_strided_view_get_double (view, DIMS (-1, -1), NULL), ==, 0);
      outcome_clear (&outcome);
    }
}

/* Each element is what it was or what it was to be. */
static void
test_cancelled_within (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_FLOAT32, DIMS (6000, 6000));
  const float *data = mtl_strided_view_get_data (view);
  gint64 n_filled = 0;
  Outcome outcome;

  outcome_init (&outcome);
  outcome.cancelled_by_progress = cancellable;
  mtl_strided_view_fill_double_async (view, 7, cancellable, on_progress, &outcome, on_freed,
                                      on_ready, &outcome);
  g_main_loop_run (outcome.loop);
  g_assert_false (mtl_strided_view_fill_double_finish (view, outcome.result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (outcome.n_progress, >=, 1);
  for (gint64 i = 0; i < 6000 * 6000; i++)
    {
      g_assert_true (data[i] == 0 || data[i] == 7);
      n_filled += data[i] == 7;
    }
  g_assert_cmpint (n_filled, >, 0);
  outcome_clear (&outcome);
}

/* No element is whole within another, though some may lie on one another: bytes, or half bytes. */
static MtlStridedView *
new_unordered (MtlDType dtype,
               gint64   n,
               gint64   row_stride,
               gint64   column_stride)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) memory = new_zeros (dtype,
                                                 DIMS (1, n * row_stride + column_stride + 1));
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (DIMS (n, 2), DIMS (row_stride, column_stride),
                            mtl_dtype_get_bits (dtype), &error);

  return mtl_strided_view_new (mtl_strided_view_get_buffer (memory), layout, dtype, 0, &error);
}

static guint
get_value (MtlStridedView *view,
           gint64          i)
{
  const guint8 *data = mtl_strided_view_get_data (view);
  guint bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));

  return bits == 8 ? data[i] : data[i / 2] >> 4 * (i % 2) & 0xf;
}

/* Counts the rows of it that are written, in C order: the second column's element of one row may
 * come before the first one's of another, which is written after it. */
static gint64
count_rows (MtlStridedView *view,
            MtlStridedView *source)
{
  gint64 row_stride = mtl_strided_view_get_strides (view, NULL)[0];
  gint64 n = mtl_strided_view_get_volume (view) / 2, n_done = 0;

  while (n_done < n && get_value (view, n_done * row_stride) == get_value (source, 2 * n_done))
    n_done++;
  for (gint64 row = n_done + 2; row < n; row++)
    g_assert_cmpuint (get_value (view, row * row_stride), ==, 0);
  return n_done;
}

static gboolean
copy_and_wait (MtlStridedView  *view,
               MtlStridedView  *source,
               gboolean         cancels,
               GError         **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Outcome outcome;
  gboolean copied;

  outcome_init (&outcome);
  outcome.cancelled_by_progress = cancels ? cancellable : NULL;
  begin (COPY_FROM, view, source, cancellable, &outcome);
  g_main_loop_run (outcome.loop);
  copied = mtl_strided_view_copy_from_finish (view, outcome.result, error);
  outcome_clear (&outcome);
  return copied;
}

static void
test_unordered (void)
{
  const struct { MtlDType dtype; gint64 row_stride; gint64 column_stride; } cases[] = {
    { MTL_DTYPE_UINT8, 2, 3 }, { MTL_DTYPE_UINT8, 1, 1 },
    { MTL_DTYPE_FLOAT4_E2M1FN, 2, 3 }, { MTL_DTYPE_FLOAT4_E2M1FN, 1, 1 },
  };
  const gint64 n = 3000000;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedView) source = new_zeros (cases[i].dtype, DIMS (n, 2));
      guint8 *bytes = mtl_strided_view_get_data (source);
      gboolean was_stopped = FALSE;

      for (gint64 j = 0; j < 2 * n * mtl_dtype_get_bits (cases[i].dtype) / 8; j++)
        bytes[j] = 0x11 * (1 + j % 7);

      /* It may end before this thread has its turn. */
      for (int attempt = 0; attempt < 50 && !was_stopped; attempt++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (MtlStridedView) view =
            new_unordered (cases[i].dtype, n, cases[i].row_stride, cases[i].column_stride);
          gboolean copied = copy_and_wait (view, source, attempt > 0, &error);
          gint64 n_done = count_rows (view, source);

          if (copied)
            g_assert_cmpint (n_done, ==, n);
          else
            g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_assert_cmpint (n_done, >, 0);
          was_stopped = n_done < n;
        }
      g_assert_true (was_stopped);
    }
}

static void
test_errors (void)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_FLOAT32, DIMS (2, 3));
  g_autoptr (MtlStridedView) other = new_zeros (MTL_DTYPE_FLOAT32, DIMS (4, 5));
  g_autoptr (MtlStridedView) read_only = mtl_strided_view_as_read_only (view);
  Outcome outcome;

  outcome_init (&outcome);
  begin (COPY_FROM, view, other, NULL, &outcome);
  g_main_loop_run (outcome.loop);
  g_assert_null (end (COPY_FROM, view, other, &outcome, &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "(4, 5)");
  outcome_clear (&outcome);

  outcome_init (&outcome);
  begin (FILL, read_only, NULL, NULL, &outcome);
  g_main_loop_run (outcome.loop);
  g_assert_null (end (FILL, read_only, NULL, &outcome, &error));
  assert_failed (error, MTL_ERROR_READ_ONLY, "(2, 3)");
  outcome_clear (&outcome);
}

/* A callback may iterate the main context: what it is given lasts as long as it. */
static void
test_progress_waits (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = new_zeros (MTL_DTYPE_FLOAT32, DIMS (2000, 2000));
  Outcome outcome;

  outcome_init (&outcome);
  outcome.progress_waits = TRUE;
  mtl_strided_view_fill_double_async (view, 7, NULL, on_progress, &outcome, on_freed, on_ready,
                                      &outcome);
  while (outcome.n_freed == 0)
    g_main_context_iteration (outcome.context, TRUE);
  g_assert_true (mtl_strided_view_fill_double_finish (view, outcome.result, &error));
  g_assert_no_error (error);
  g_assert_cmpint (outcome.n_freed, ==, 1);
  outcome_clear (&outcome);
}

/* Its last user may be any thread. */
static void
memory_end (gpointer ended)
{
  g_atomic_int_set ((int *) ended, TRUE);
  g_main_context_wakeup (NULL);
}

/* There are no reports, and nothing is left behind. */
static void
test_without_callbacks (void)
{
  g_autoptr (GError) error = NULL;
  float data[6] = { 0 };
  int ended = FALSE;
  MtlBuffer *buffer = mtl_buffer_new_for_data (data, sizeof data, NULL, MTL_BUFFER_FLAGS_NONE,
                                               memory_end, &ended, &error);
  MtlStridedLayout *layout = mtl_strided_layout_new_dense (DIMS (6), MTL_ORDER_C, 32, &error);
  MtlStridedView *view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_FLOAT32, 0, &error);

  g_assert_no_error (error);
  mtl_strided_view_fill_double_async (view, 1, NULL, NULL, NULL, NULL, NULL, NULL);
  g_object_unref (view);
  g_object_unref (layout);
  g_object_unref (buffer);

  while (!g_atomic_int_get (&ended))
    g_main_context_iteration (NULL, TRUE);
  for (int i = 0; i < 6; i++)
    g_assert_cmpfloat (data[i], ==, 1);
}

static void
on_filled (GObject      *source,
           GAsyncResult *result,
           gpointer      data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_fill_double_finish (MTL_STRIDED_VIEW (source), result, &error));
  g_assert_no_error (error);
  g_object_weak_ref (G_OBJECT (result), on_finalized, data);
}

/* Bindings of Perl and D crash otherwise. */
static void
test_finalized_here (void)
{
  const guint n_at_once = 16;
  Watched watched = { g_thread_self () };

  for (guint n = 2 * n_at_once; n <= 20000; n += 2 * n_at_once)
    {
      for (guint i = 0; i < n_at_once; i++)
        {
          MtlStridedView *view = new_zeros (MTL_DTYPE_FLOAT32, DIMS (1, 1));

          g_object_weak_ref (G_OBJECT (view), on_finalized, &watched);
          mtl_strided_view_fill_double_async (view, 1, NULL, NULL, NULL, NULL, on_filled,
                                              &watched);
          g_object_unref (view);
        }
      while ((guint) g_atomic_int_get (&watched.n_finalized) < n)
        g_main_context_iteration (NULL, FALSE);
    }

  g_assert_false (g_atomic_int_get (&watched.elsewhere));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Threads/max", test_max_threads);
  g_test_add_func ("/Threads/environment", test_environment);
  g_test_add_func ("/Threads/same-with-any-number", test_same_with_any_number);
  g_test_add_func ("/Threads/many-callers", test_many_callers);
  g_test_add_func ("/Async/results", test_results);
  g_test_add_func ("/Async/comparisons", test_comparisons);
  g_test_add_func ("/Async/statistic", test_statistic);
  g_test_add_func ("/Async/cancelled-before", test_cancelled_before);
  g_test_add_func ("/Async/cancelled-within", test_cancelled_within);
  g_test_add_func ("/Async/progress-waits", test_progress_waits);
  g_test_add_func ("/Async/unordered", test_unordered);
  g_test_add_func ("/Async/errors", test_errors);
  g_test_add_func ("/Async/without-callbacks", test_without_callbacks);
  g_test_add_func ("/Async/finalized-here", test_finalized_here);

  return g_test_run ();
}
