/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The threads that asynchronous work is done in, and the ones that it ends in. */

#include "test-gtk-utils.h"

static GMutex mutex;
static GCond cond;
static GThread *worker; /* that allocated memory for a result */
static gboolean is_allowed;

/* Replaces the library's function, with which results begin. */
MtlStridedView *
mtl_strided_view_new_uninitialized (MtlDevice       *device,
                                    MtlDType         dtype,
                                    const gint64    *shape,
                                    gsize            n_dims,
                                    MtlStorageMode   storage_mode,
                                    GError         **error)
{
  g_mutex_lock (&mutex);
  worker = g_thread_self ();
  while (!is_allowed)
    g_cond_wait (&cond, &mutex);
  g_mutex_unlock (&mutex);

  return mtl_strided_view_new_zeros (device, dtype, shape, n_dims, storage_mode, error);
}

static void
set_allowed (gboolean allowed)
{
  g_mutex_lock (&mutex);
  is_allowed = allowed;
  g_cond_broadcast (&cond);
  g_mutex_unlock (&mutex);
}

typedef struct
{
  GThread *thread;
  GMainContext *context;
  guint n_calls;
  MtlStridedView *view;
  gboolean is_finalized;
} Outcome;

static void
on_finalized (gpointer  data,
              GObject  *object)
{
  Outcome *self = data;

  g_assert_true (g_thread_self () == self->thread);
  self->is_finalized = TRUE;
}

static void
on_done (Outcome        *self,
         MtlStridedView *view,
         const GError   *error)
{
  g_assert_no_error (error);
  g_assert_true (g_thread_self () == self->thread);
  g_assert_true (g_main_context_is_owner (self->context));
  self->view = view;
  self->n_calls++;
}

static void
on_downloaded (GObject      *source,
               GAsyncResult *result,
               gpointer      data)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_gtk_download_texture_finish (result, &error);

  on_done (data, view, error);
}

static void
on_colorized (GObject      *source,
              GAsyncResult *result,
              gpointer      data)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_gtk_colorize_finish (result, &error);

  on_done (data, view, error);
}

/* The caller goes on while another thread works, and is called back in its own context. */
static void
wait_for (Outcome  *self,
          gpointer  object)
{
  self->is_finalized = FALSE;
  g_object_weak_ref (object, on_finalized, self);
  g_object_unref (object);
  g_assert_false (self->is_finalized);

  while (g_main_context_iteration (self->context, FALSE))
    ;
  g_assert_cmpuint (self->n_calls, ==, 0);

  set_allowed (TRUE);
  while (self->n_calls == 0 || !self->is_finalized)
    g_main_context_iteration (self->context, TRUE);

  g_mutex_lock (&mutex);
  g_assert_nonnull (worker);
  g_assert_true (worker != self->thread);
  worker = NULL;
  g_mutex_unlock (&mutex);
  g_assert_cmpuint (self->n_calls, ==, 1);
}

static gpointer
call_both (gpointer data)
{
  Outcome outcome = { g_thread_self (), data, 0, NULL, FALSE };
  MtlStridedView *numbers = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 5));
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (60), 60);
  GdkTexture *texture = gdk_memory_texture_new (5, 3, GDK_MEMORY_R8G8B8A8, bytes, 20);

  g_main_context_push_thread_default (data);

  set_allowed (FALSE);
  mtl_gtk_download_texture_async (texture, MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_RGB, 0, NULL,
                                  on_downloaded, &outcome);
  wait_for (&outcome, texture);
  assert_view_shape (outcome.view, 3, 5, 3);
  g_clear_object (&outcome.view);

  set_allowed (FALSE);
  outcome.n_calls = 0;
  mtl_gtk_colorize_async (numbers, MTL_GTK_COLOR_MAP_HEAT, 0, 1, NULL, on_colorized, &outcome);
  wait_for (&outcome, numbers);
  assert_view_shape (outcome.view, 3, 5, 3);
  g_clear_object (&outcome.view);

  g_main_context_pop_thread_default (data);
  return NULL;
}

static void
test_main_context (void)
{
  call_both (g_main_context_default ());
}

static void
test_other_context (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();

  g_thread_join (g_thread_new ("caller", call_both, context));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Async/main-context", test_main_context);
  g_test_add_func ("/Async/other-context", test_other_context);

  return g_test_run ();
}
