/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Only the thread that calls fork() exists in the child. Locks that other threads held
 * would stay locked, and work that they had begun would never be finished. */

/* The number of forks between the first process and this one. Read it with
 * mtl_n_forks(). */
extern G_GNUC_INTERNAL guint mtl_fork_count;

static inline guint
mtl_n_forks (void)
{
  return mtl_fork_count;
}

/* A mutex that a child creates anew. All zeros is the initial state, also of one in an
 * object. Another thread may have held it at the fork, so the data that it protects
 * must be valid after each single step of a change, or be created anew as well. */
typedef struct
{
  GMutex mutex;
  guint n_forks; /* atomic: in which process the mutex is valid */
} MtlForkLock;

gboolean mtl_fork_lock_in_child (MtlForkLock *self);
void     mtl_fork_lock_clear    (MtlForkLock *self);

/* Returns whether this created the lock anew. The condition that belongs to it must
 * then be created anew, as the threads that waited do not exist. */
static inline gboolean
mtl_fork_lock (MtlForkLock *self)
{
  if (G_UNLIKELY ((guint) g_atomic_int_get (&self->n_forks) != mtl_n_forks ())
      && mtl_fork_lock_in_child (self))
    return TRUE;

  g_mutex_lock (&self->mutex);
  return FALSE;
}

static inline void
mtl_fork_unlock (MtlForkLock *self)
{
  g_mutex_unlock (&self->mutex);
}

/* Guards the initialization of static variables. If another thread was busy with it at
 * the fork, the child does it again. */
typedef struct
{
  MtlForkLock lock;
  gint is_done; /* atomic */
} MtlForkOnce;

gboolean mtl_fork_once_enter_slowly (MtlForkOnce *self);
void     mtl_fork_once_leave        (MtlForkOnce *self);

/* If it returns TRUE, the caller initializes them, and then calls
 * mtl_fork_once_leave(). */
static inline gboolean
mtl_fork_once_enter (MtlForkOnce *self)
{
  return !g_atomic_int_get (&self->is_done) && mtl_fork_once_enter_slowly (self);
}

G_END_DECLS
