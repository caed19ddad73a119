/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE

#include "config.h"

#include "mtl-shared-pool-private.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>

#include "mtl-fork-private.h"

/* Enough to fill one block while the peer reads another. */
#define N_BLOCKS 4

typedef struct
{
  MtlSharedPages *pages; /* NULL if there is no block */
  int released;          /* hangs up when the peer no longer uses the block; -1 before it is sent */
  gboolean is_taken;
  gboolean is_lost;      /* sent twice, so that the pipe does not tell when the peer is done */
} Block;

struct _MtlSharedPool
{
  int ref_count; /* atomic */
  MtlForkLock lock;
  guint n_forks;
  Block blocks[N_BLOCKS];
};

/* The use of a block by memory of this process. */
typedef struct
{
  MtlSharedPool *pool;
  Block *block;
} Take;

static void
block_clear (Block *self)
{
  g_clear_pointer (&self->pages, mtl_shared_pages_unref);
  mtl_clear_fd (&self->released);
  self->is_taken = FALSE;
  self->is_lost = FALSE;
}

MtlSharedPool *
mtl_shared_pool_new (void)
{
  MtlSharedPool *self = g_new0 (MtlSharedPool, 1);

  self->ref_count = 1;
  self->n_forks = mtl_n_forks ();
  for (gsize i = 0; i < N_BLOCKS; i++)
    self->blocks[i].released = -1;
  return self;
}

void
mtl_shared_pool_unref (MtlSharedPool *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  for (gsize i = 0; i < N_BLOCKS; i++)
    block_clear (&self->blocks[i]);
  mtl_fork_lock_clear (&self->lock);
  g_free (self);
}

/* The peer may look at all of the block, so that one that it was not sent may not have the values
 * of this process any more. */
static gboolean
may_use_again (const Block *self)
{
  return self->released >= 0 && !self->is_lost && !g_atomic_int_get (&self->pages->was_given);
}

static void
end_take (gpointer data)
{
  g_autofree Take *self = data;

  mtl_fork_lock (&self->pool->lock);
  self->block->is_taken = FALSE;
  if (!may_use_again (self->block))
    block_clear (self->block);
  mtl_fork_unlock (&self->pool->lock);
  mtl_shared_pool_unref (self->pool);
}

static gboolean
is_idle (const Block *self)
{
  struct pollfd released = { .fd = self->released };

  return !self->is_taken
         && (self->pages == NULL
             || (poll (&released, 1, 0) == 1 && (released.revents & POLLHUP) != 0));
}

/* Wastes at most a quarter of the block. */
static gboolean
fits (const Block *self,
      gsize        size)
{
  return self->pages != NULL && size <= self->pages->size
         && self->pages->size - size <= self->pages->size / 4;
}

/* Returns an idle block, with pages if they fit, or NULL. */
static Block *
find_block (MtlSharedPool *self,
            gsize          size)
{
  Block *found = NULL;

  for (gsize i = 0; i < N_BLOCKS; i++)
    {
      Block *block = &self->blocks[i];

      if (!is_idle (block))
        continue;
      if (fits (block, size))
        {
          mtl_clear_fd (&block->released);
          return block;
        }
      if (found == NULL || found->pages != NULL)
        found = block;
    }

  if (found != NULL)
    block_clear (found);
  return found;
}

static MtlMemory *
take (MtlSharedPool  *self,
      gsize           size,
      GError        **error)
{
  Block *block = find_block (self, size);
  MtlMemory *memory;
  Take *use;

  if (block == NULL)
    return mtl_memory_new (NULL, size, MTL_STORAGE_MODE_INTERPROCESS, FALSE, error);

  if (block->pages == NULL)
    block->pages = mtl_shared_pages_new (size, error);
  if (block->pages == NULL)
    return NULL;

  use = g_new (Take, 1);
  use->pool = self;
  use->block = block;
  g_atomic_int_inc (&self->ref_count);
  block->is_taken = TRUE;
  memory = mtl_memory_new_for_pages (block->pages, 0, size, FALSE, -1, end_take, use);
  mtl_memory_count (memory);
  return memory;
}

MtlMemory *
mtl_shared_pool_take (MtlSharedPool  *self,
                      guint64         size,
                      GError        **error)
{
  MtlMemory *memory;

  /* A child and its parent must not both use a block again. The size may be an error. */
  if (self->n_forks != mtl_n_forks () || size > G_MAXSSIZE)
    return mtl_memory_new (NULL, size, MTL_STORAGE_MODE_INTERPROCESS, FALSE, error);

  mtl_fork_lock (&self->lock);
  memory = take (self, size, error);
  mtl_fork_unlock (&self->lock);
  return memory;
}

static int
open_pipe (Block *block)
{
  int ends[2];

  if (block->released >= 0 || block->is_lost || !g_unix_open_pipe (ends, FD_CLOEXEC, NULL))
    {
      block->is_lost = TRUE;
      return -1;
    }

  block->released = ends[0];
  return ends[1];
}

int
mtl_shared_pool_begin_send (MtlSharedPool *self,
                            MtlMemory     *memory)
{
  MtlSharedUse *use = memory->owner;
  Take *own;
  int end;

  if (!memory->is_shared || use->ended != end_take || self->n_forks != mtl_n_forks ())
    return -1;

  own = use->data;
  mtl_fork_lock (&own->pool->lock);
  if (own->pool == self)
    end = open_pipe (own->block);
  else
    {
      own->block->is_lost = TRUE; /* another peer has it, too */
      end = -1;
    }
  mtl_fork_unlock (&own->pool->lock);
  return end;
}

/* The peer does not know the values of the block, so it is as if it were never sent. */
void
mtl_shared_pool_undo_send (MtlMemory *memory)
{
  MtlSharedUse *use = memory->owner;
  Take *own = use->data;

  mtl_fork_lock (&own->pool->lock);
  mtl_clear_fd (&own->block->released);
  mtl_fork_unlock (&own->pool->lock);
}
