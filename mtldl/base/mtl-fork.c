/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-fork-private.h"

#include <pthread.h>

guint mtl_fork_count;

/* Held while a lock is created anew. */
static GMutex renewal;

static void
begin_child (void)
{
  mtl_fork_count++;
  g_mutex_init (&renewal);
}

__attribute__ ((constructor)) static void
watch_forks (void)
{
  pthread_atfork (NULL, NULL, begin_child);
}

/* The mutex is locked before other threads see that it is valid, so that they wait
 * until the caller has created anew what it protects. */
gboolean
mtl_fork_lock_in_child (MtlForkLock *self)
{
  gboolean is_stale;

  g_mutex_lock (&renewal);
  is_stale = (guint) g_atomic_int_get (&self->n_forks) != mtl_n_forks ();
  if (is_stale)
    {
      g_mutex_init (&self->mutex);
      g_mutex_lock (&self->mutex);
      g_atomic_int_set (&self->n_forks, mtl_n_forks ());
    }
  g_mutex_unlock (&renewal);

  return is_stale;
}

void
mtl_fork_lock_clear (MtlForkLock *self)
{
  /* GLib refuses to clear a mutex that is locked. */
  mtl_fork_lock (self);
  mtl_fork_unlock (self);
  g_mutex_clear (&self->mutex);
}

gboolean
mtl_fork_once_enter_slowly (MtlForkOnce *self)
{
  mtl_fork_lock (&self->lock);
  if (!g_atomic_int_get (&self->is_done))
    return TRUE;

  mtl_fork_unlock (&self->lock);
  return FALSE;
}

void
mtl_fork_once_leave (MtlForkOnce *self)
{
  g_atomic_int_set (&self->is_done, TRUE);
  mtl_fork_unlock (&self->lock);
}
