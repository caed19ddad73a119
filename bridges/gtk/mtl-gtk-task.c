/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-task-private.h"

typedef struct
{
  GTask *task;
  MtlGtkTaskFunc func;
} ThreadData;

static void
thread_data_free (gpointer data)
{
  ThreadData *self = data;

  g_object_unref (self->task);
  g_free (self);
}

static void
run_thread (GTask        *thread_task,
            gpointer      source_object,
            gpointer      task_data,
            GCancellable *cancellable)
{
  ThreadData *self = task_data;
  GError *error = NULL;
  MtlStridedView *view = self->func (g_task_get_task_data (self->task), cancellable, &error);

  if (view != NULL)
    g_task_return_pointer (thread_task, view, g_object_unref);
  else
    g_task_return_error (thread_task, error);
}

static void
end_thread (GObject      *source_object,
            GAsyncResult *result,
            gpointer      user_data)
{
  GTask *thread_task = G_TASK (result);
  ThreadData *self = g_task_get_task_data (thread_task);
  g_autoptr (GTask) task = g_object_ref (self->task);
  GError *error = NULL;
  MtlStridedView *view = g_task_propagate_pointer (thread_task, &error);

  g_task_set_task_data (thread_task, NULL, NULL);
  if (view != NULL)
    g_task_return_pointer (task, view, g_object_unref);
  else
    g_task_return_error (task, error);
}

/* A thread may drop its task after the callback, and then finalizes it. The task holds
 * objects that some languages may only finalize in their own thread. So the thread has a
 * task of its own, which holds that one until its callback. */
void
mtl_gtk_task_run (GTask          *task,
                  MtlGtkTaskFunc  func)
{
  g_autoptr (GTask) thread_task = g_task_new (NULL, g_task_get_cancellable (task), end_thread,
                                              NULL);
  ThreadData *self = g_new (ThreadData, 1);

  *self = (ThreadData) { g_object_ref (task), func };
  g_task_set_check_cancellable (thread_task, FALSE);
  g_task_set_task_data (thread_task, self, thread_data_free);
  g_task_run_in_thread (thread_task, run_thread);
}

MtlStridedView *
mtl_gtk_task_finish (GAsyncResult  *result,
                     gpointer       source_tag,
                     GError       **error)
{
  g_return_val_if_fail (G_IS_TASK (result), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, source_tag), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
