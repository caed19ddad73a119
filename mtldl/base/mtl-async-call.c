/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-async-call-private.h"

#include "mtl-fork-private.h"

typedef struct
{
  GTask *task;
  GTaskThreadFunc func;
} TaskThread;

static gpointer
run_task (gpointer data)
{
  g_autofree TaskThread *self = data;

  self->func (self->task, g_task_get_source_object (self->task),
              g_task_get_task_data (self->task), g_task_get_cancellable (self->task));
  g_object_unref (self->task);
  return NULL;
}

gboolean
mtl_task_run_alone (GTask           *task,
                    GTaskThreadFunc  func)
{
  TaskThread *self = g_new (TaskThread, 1);
  GError *error = NULL;
  GThread *thread;

  *self = (TaskThread) { g_object_ref (task), func };
  thread = g_thread_try_new ("mtl-task", run_task, self, &error);
  if (thread != NULL)
    {
      g_thread_unref (thread);
      return TRUE;
    }

  g_object_unref (self->task);
  g_free (self);
  g_task_return_error (task, error);
  return FALSE;
}

/* A child does not have the threads of GTask's pool, but GLib still counts on them. */
gboolean
mtl_task_run (GTask           *task,
              GTaskThreadFunc  func)
{
  if (mtl_n_forks () > 0)
    return mtl_task_run_alone (task, func);

  g_task_run_in_thread (task, func);
  return TRUE;
}

static void
call_free (MtlAsyncCall *self)
{
  if (self->clear != NULL)
    self->clear (self);
  g_free (self);
}

/* A thread may drop its task after the callback, and then finalizes it. The task holds
 * objects that some languages may only finalize in their own thread. So the thread has
 * a task of its own, which holds that one until its callback. */
static void
run_thread (GTask        *thread_task,
            gpointer      source_object,
            gpointer      task_data,
            GCancellable *cancellable)
{
  GTask *task = task_data;
  MtlAsyncCall *self = g_task_get_task_data (task);
  const MtlMonitor monitor = {
    .cancellable = cancellable,
    .report = self->progress != NULL ? mtl_progress_report : NULL,
    .data = self->progress,
  };
  GError *error = NULL;
  gpointer result = self->run (g_task_get_source_object (task), self, &monitor, &error);

  if (self->progress != NULL)
    mtl_progress_end (self->progress);

  if (result == NULL)
    g_task_return_error (thread_task, error);
  else
    g_task_return_pointer (thread_task, result, self->free_result);
}

static void
end_thread (GObject      *source_object,
            GAsyncResult *async_result,
            gpointer      user_data)
{
  GTask *thread_task = G_TASK (async_result);
  g_autoptr (GTask) task = g_object_ref (g_task_get_task_data (thread_task));
  MtlAsyncCall *self = g_task_get_task_data (task);
  GError *error = NULL;
  gpointer result = g_task_propagate_pointer (thread_task, &error);

  g_task_set_task_data (thread_task, NULL, NULL);
  if (result == NULL)
    g_task_return_error (task, error);
  else if (self->free_result != NULL)
    g_task_return_pointer (task, result, self->free_result);
  else
    g_task_return_boolean (task, TRUE);
}

gpointer
mtl_async_call_new (gsize          size,
                    MtlAsyncFunc   run,
                    GDestroyNotify free_result,
                    GDestroyNotify clear,
                    int            io_priority)
{
  MtlAsyncCall *self = g_malloc0 (size);

  self->run = run;
  self->free_result = free_result;
  self->clear = clear;
  self->io_priority = io_priority;
  return self;
}

void
mtl_async_call_set_progress (gpointer              call,
                             GFileProgressCallback progress,
                             gpointer              progress_data,
                             GDestroyNotify        progress_destroy)
{
  MtlAsyncCall *self = call;

  self->progress = mtl_progress_new (progress, progress_data, progress_destroy, self->io_priority);
}

void
mtl_async_call_start (gpointer             call,
                      gpointer             self,
                      gpointer             source_tag,
                      GCancellable        *cancellable,
                      GAsyncReadyCallback  callback,
                      gpointer             user_data)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr (GTask) thread_task = g_task_new (NULL, cancellable, end_thread, NULL);
  gboolean runs;

  g_task_set_check_cancellable (task, !((MtlAsyncCall *) call)->is_lasting);
  g_task_set_source_tag (task, source_tag);
  g_task_set_priority (task, ((MtlAsyncCall *) call)->io_priority);
  g_task_set_task_data (task, call, (GDestroyNotify) call_free);
  g_task_set_check_cancellable (thread_task, FALSE);
  g_task_set_priority (thread_task, ((MtlAsyncCall *) call)->io_priority);
  g_task_set_task_data (thread_task, task, g_object_unref);

  runs = ((MtlAsyncCall *) call)->is_alone ? mtl_task_run_alone (thread_task, run_thread)
                                           : mtl_task_run (thread_task, run_thread);
  if (!runs && ((MtlAsyncCall *) call)->progress != NULL)
    mtl_progress_end (((MtlAsyncCall *) call)->progress);
}

gboolean
mtl_async_call_finish (gpointer       self,
                       GAsyncResult  *result,
                       gpointer       source_tag,
                       GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, source_tag), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

gpointer
mtl_async_call_take_result (gpointer       self,
                            GAsyncResult  *result,
                            gpointer       source_tag,
                            GError       **error)
{
  g_return_val_if_fail (self != NULL ? g_task_is_valid (result, self) : G_IS_TASK (result), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, source_tag), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
