/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-fork-private.h"
#include "mtl-progress-private.h"

gboolean
mtl_monitor_check (const MtlMonitor  *self,
                   GError           **error)
{
  return self == NULL || self->cancellable == NULL
         || !g_cancellable_set_error_if_cancelled (self->cancellable, error);
}

/* Reports n_done of n_items, which have n_bytes in total. */
void
mtl_monitor_report (const MtlMonitor *self,
                    gsize             n_done,
                    gsize             n_items,
                    guint64           n_bytes)
{
  if (self != NULL && self->report != NULL)
    self->report (n_done == n_items ? n_bytes : (double) n_bytes * n_done / n_items, n_bytes,
                  self->data);
}

static void
report_to_callback (guint64  done,
                    guint64  total,
                    gpointer data)
{
  MtlProgressCallback *self = data;

  if (self->was_told && done <= self->told)
    return;

  self->was_told = TRUE;
  self->told = done;
  self->callback (done, total, self->data);
}

MtlMonitor
mtl_progress_callback_get_monitor (MtlProgressCallback *self,
                                   GCancellable        *cancellable)
{
  return (MtlMonitor) {
    .cancellable = cancellable,
    .report = self->callback != NULL ? report_to_callback : NULL,
    .data = self,
  };
}

struct _MtlProgress
{
  GMainContext *context;
  MtlProgressCallback callback; /* only used in the context's thread */
  GDestroyNotify destroy;
  int priority;

  MtlForkLock lock; /* protects the next three, each changed by one store */
  guint64 done;
  guint64 total;
  gboolean is_told; /* a source that will call the callback is pending */

  /* Only used in the context's thread. */
  guint n_calls; /* nested calls of the callback */
  gboolean ended;
};

MtlProgress *
mtl_progress_new (GFileProgressCallback callback,
                  gpointer              data,
                  GDestroyNotify        destroy,
                  int                   priority)
{
  MtlProgress *self;

  if (callback == NULL)
    {
      if (destroy != NULL)
        destroy (data);
      return NULL;
    }

  self = g_new0 (MtlProgress, 1);
  self->context = g_main_context_ref_thread_default ();
  self->callback = (MtlProgressCallback) { callback, data };
  self->destroy = destroy;
  self->priority = priority;
  return self;
}

static void
progress_free (MtlProgress *self)
{
  if (self->destroy != NULL)
    self->destroy (self->callback.data);

  g_main_context_unref (self->context);
  mtl_fork_lock_clear (&self->lock);
  g_free (self);
}

static gboolean
tell (gpointer data)
{
  MtlProgress *self = data;
  guint64 done, total;

  mtl_fork_lock (&self->lock);
  done = self->done;
  total = self->total;
  self->is_told = FALSE;
  mtl_fork_unlock (&self->lock);

  /* The callback may iterate the context, and so run end(). */
  self->n_calls++;
  report_to_callback (done, total, &self->callback);
  if (--self->n_calls == 0 && self->ended)
    progress_free (self);

  return G_SOURCE_REMOVE;
}

static gboolean
end (gpointer data)
{
  MtlProgress *self = data;

  self->ended = TRUE;
  if (self->n_calls == 0)
    progress_free (self);

  return G_SOURCE_REMOVE;
}

/* The source has the priority of the task's callback, so that they run in the order in
 * which they were added. */
static void
call_later (MtlProgress *self,
            GSourceFunc  func)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, self->priority);
  g_source_set_callback (source, func, self, NULL);
  g_source_set_static_name (source, "[mtldl] progress");
  g_source_attach (source, self->context);
}

void
mtl_progress_report (guint64  done,
                     guint64  total,
                     gpointer data)
{
  MtlProgress *self = data;
  gboolean was_told;

  mtl_fork_lock (&self->lock);
  self->done = done;
  self->total = total;
  was_told = self->is_told;
  self->is_told = TRUE;
  mtl_fork_unlock (&self->lock);

  if (!was_told)
    call_later (self, tell);
}

void
mtl_progress_end (MtlProgress *self)
{
  call_later (self, end);
}
