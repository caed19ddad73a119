/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* GLib is not built for ThreadSanitizer, which therefore misses what GLib's
 * locks and counts put in order, and reports races that are none. Linked into
 * a test program, these functions stand before GLib's and tell it. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include <gio/gio.h>

extern void __tsan_acquire (void *address);
extern void __tsan_release (void *address);

#define EXPORTED __attribute__ ((visibility ("default"), no_sanitize ("thread")))

/* The address of GLib's own function. */
#define NEXT(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))

EXPORTED void
g_mutex_lock (GMutex *mutex)
{
  NEXT (g_mutex_lock) (mutex);
  __tsan_acquire (mutex);
}

EXPORTED void
g_mutex_unlock (GMutex *mutex)
{
  __tsan_release (mutex);
  NEXT (g_mutex_unlock) (mutex);
}

EXPORTED void
g_cond_wait (GCond  *cond,
             GMutex *mutex)
{
  __tsan_release (mutex);
  NEXT (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

EXPORTED gboolean
g_cond_wait_until (GCond  *cond,
                   GMutex *mutex,
                   gint64  end_time)
{
  gboolean is_signaled;

  __tsan_release (mutex);
  is_signaled = NEXT (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return is_signaled;
}

EXPORTED gboolean
(g_once_init_enter) (volatile void *location)
{
  gboolean (* next) (volatile void *) = dlsym (RTLD_NEXT, "g_once_init_enter");
  gboolean is_first = next (location);

  __tsan_acquire ((void *) location);
  return is_first;
}

EXPORTED void
(g_once_init_leave) (volatile void *location,
                     gsize          value)
{
  void (* next) (volatile void *, gsize) = dlsym (RTLD_NEXT, "g_once_init_leave");

  __tsan_release ((void *) location);
  next (location, value);
}

/* The thread that takes the last reference away, or finds that it is the only one that is left,
 * comes after all that had one. */
EXPORTED void
(g_object_unref) (gpointer object)
{
  void (* next) (gpointer) = dlsym (RTLD_NEXT, "g_object_unref");
  gboolean may_be_last = ((GObject *) object)->ref_count == 1;

  __tsan_release (object);
  __tsan_release ((gpointer) &((GObject *) object)->ref_count);
  if (may_be_last)
    __tsan_acquire (object);
  next (object);
}

/* A function for another thread, which then sees what this one did before. */
typedef struct
{
  GFunc func;
  gpointer user_data;
} PoolFunc;

static void
run_in_pool (gpointer data,
             gpointer pool_func)
{
  PoolFunc *self = pool_func;

  __tsan_acquire (data);
  self->func (data, self->user_data);
}

EXPORTED GThreadPool *
g_thread_pool_new (GFunc      func,
                   gpointer   user_data,
                   gint       max_threads,
                   gboolean   exclusive,
                   GError   **error)
{
  PoolFunc *pool_func = g_new (PoolFunc, 1); /* as long as the pool, which stays */

  *pool_func = (PoolFunc) { func, user_data };
  return NEXT (g_thread_pool_new) (run_in_pool, pool_func, max_threads, exclusive, error);
}

EXPORTED gboolean
g_thread_pool_push (GThreadPool  *pool,
                    gpointer      data,
                    GError      **error)
{
  __tsan_release (data);
  return NEXT (g_thread_pool_push) (pool, data, error);
}

static void
run_task (GTask        *task,
          gpointer      source_object,
          gpointer      task_data,
          GCancellable *cancellable)
{
  GTaskThreadFunc func = (GTaskThreadFunc) g_object_get_data (G_OBJECT (task), "tsan-func");

  __tsan_acquire (task);
  func (task, source_object, task_data, cancellable);
}

EXPORTED void
g_task_run_in_thread (GTask           *task,
                      GTaskThreadFunc  func)
{
  g_object_set_data (G_OBJECT (task), "tsan-func", (gpointer) func);
  __tsan_release (task);
  NEXT (g_task_run_in_thread) (task, run_task);
}

EXPORTED void
g_task_return_pointer (GTask          *task,
                       gpointer        result,
                       GDestroyNotify  destroy)
{
  __tsan_release (task);
  NEXT (g_task_return_pointer) (task, result, destroy);
}

EXPORTED void
g_task_return_boolean (GTask    *task,
                       gboolean  result)
{
  __tsan_release (task);
  NEXT (g_task_return_boolean) (task, result);
}

EXPORTED void
g_task_return_error (GTask  *task,
                     GError *error)
{
  __tsan_release (task);
  NEXT (g_task_return_error) (task, error);
}

EXPORTED gpointer
g_task_propagate_pointer (GTask   *task,
                          GError **error)
{
  __tsan_acquire (task);
  return NEXT (g_task_propagate_pointer) (task, error);
}

EXPORTED gboolean
g_task_propagate_boolean (GTask   *task,
                          GError **error)
{
  __tsan_acquire (task);
  return NEXT (g_task_propagate_boolean) (task, error);
}
