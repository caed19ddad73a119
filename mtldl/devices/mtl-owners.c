/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-owners-private.h"

#include "mtl-error.h"
#include "mtl-fork-private.h"

/* Metal drops its last reference to memory on threads of its own. Ending the owner there may wait
 * for a lock, such as Python's, whose holder waits for Metal. CUDA's memory may end only after work
 * that nobody should wait for. So a thread of this library ends these owners, one after another, in
 * the order in which they are no longer used.
 *
 * The thread is created before there is anything to end, when a failure can still be reported, and
 * stays. */
static struct
{
  MtlForkLock lock; /* protects the fields below */
  GCond wanted;
  MtlOwner *first, *last;
  gboolean has_thread;
} pool;

static void
lock_pool (void)
{
  if (!mtl_fork_lock (&pool.lock))
    return;

  /* The thread is the parent's, and it ends the owners that waited there: files must be removed
   * only once. */
  g_cond_init (&pool.wanted);
  pool.first = pool.last = NULL;
  pool.has_thread = FALSE;
}

static void
unlock_pool (void)
{
  mtl_fork_unlock (&pool.lock);
}

static MtlOwner *
await_first (void)
{
  MtlOwner *first;

  lock_pool ();
  while (pool.first == NULL)
    g_cond_wait (&pool.wanted, &pool.lock.mutex);
  first = pool.first;
  pool.first = first->next;
  if (pool.first == NULL)
    pool.last = NULL;
  unlock_pool ();

  return first;
}

static gpointer
end_owners (gpointer unused)
{
  while (TRUE)
    mtl_owner_end (await_first ());

  return NULL;
}

/* Called with the pool locked. */
static gboolean
have_thread (GError **error)
{
  GThread *thread;

  if (pool.has_thread)
    return TRUE;

  thread = g_thread_try_new ("mtl-owners", end_owners, NULL, error);
  if (thread == NULL)
    return FALSE;

  g_thread_unref (thread);
  pool.has_thread = TRUE;
  return TRUE;
}

/* Fails if the thread that may have to end the owner cannot be created. */
MtlOwner *
mtl_owner_new (gpointer         data,
               GDestroyNotify   destroy,
               GError         **error)
{
  g_autoptr (GError) local_error = NULL;
  MtlOwner *self;
  gboolean has_thread;

  lock_pool ();
  has_thread = have_thread (&local_error);
  unlock_pool ();
  if (!has_thread)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
                   "The thread that ends the owners of memory cannot be created: %s",
                   local_error->message);
      return NULL;
    }

  self = g_new (MtlOwner, 1);
  *self = (MtlOwner) { destroy, data, NULL };
  return self;
}

/* Does not end it. */
void
mtl_owner_free (MtlOwner *self)
{
  g_free (self);
}

void
mtl_owner_end (MtlOwner *self)
{
  self->destroy (self->data);
  mtl_owner_free (self);
}

/* Neither waits nor fails. */
void
mtl_owner_end_later (MtlOwner *self)
{
  self->next = NULL;
  lock_pool ();
  if (pool.last != NULL)
    pool.last->next = self;
  else
    pool.first = self;
  pool.last = self;
  /* A child that has inherited the memory has no thread yet. If it cannot be created now, the next
   * owner tries again. */
  have_thread (NULL);
  g_cond_signal (&pool.wanted);
  unlock_pool ();
}
