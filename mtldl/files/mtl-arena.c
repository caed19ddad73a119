/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-arena-private.h"

#include <string.h>

#include "mtl-error-private.h"

#define FIRST_CHUNK_SIZE 4096
#define MAX_CHUNK_SIZE (1 << 20)
#define FIRST_CAPACITY 16

struct _MtlArenaChunk
{
  MtlArenaChunk *before;
  gsize used;
  gsize size;
  guint64 bytes[];
};

static gboolean
add_chunk (MtlArena  *self,
           gsize      size,
           GError   **error)
{
  gsize doubled = self->last != NULL ? MIN (2 * self->last->size, MAX_CHUNK_SIZE)
                                     : FIRST_CHUNK_SIZE;
  MtlArenaChunk *chunk;

  size = MAX (size, doubled);
  chunk = g_try_malloc (sizeof *chunk + size);
  if (chunk == NULL)
    return mtl_set_no_memory (size, error);

  *chunk = (MtlArenaChunk) { .before = self->last, .size = size };
  self->last = chunk;
  return TRUE;
}

/* The alignment is at most 8. */
gpointer
mtl_arena_alloc (MtlArena  *self,
                 gsize      size,
                 gsize      alignment,
                 GError   **error)
{
  gsize begin = 0;

  if (self->last != NULL)
    begin = (self->last->used + alignment - 1) & ~(alignment - 1);
  if (self->last == NULL || begin > self->last->size || size > self->last->size - begin)
    {
      if (!add_chunk (self, size, error))
        return NULL;
      begin = 0;
    }

  self->last->used = begin + size;
  return (char *) self->last->bytes + begin;
}

char *
mtl_arena_dup_text (MtlArena    *self,
                    const char  *text,
                    gsize        size,
                    GError     **error)
{
  char *copy = mtl_arena_alloc (self, size + 1, 1, error);

  if (copy == NULL)
    return NULL;

  memcpy (copy, text, size);
  copy[size] = '\0';
  return copy;
}

void
mtl_arena_clear (MtlArena *self)
{
  MtlArenaChunk *before;

  for (MtlArenaChunk *chunk = self->last; chunk != NULL; chunk = before)
    {
      before = chunk->before;
      g_free (chunk);
    }
  self->last = NULL;
}

gboolean
mtl_array_reserve (gpointer  *items,
                   gsize      n_items,
                   gsize     *capacity,
                   gsize      item_size,
                   GError   **error)
{
  gsize wanted = MAX (2 * *capacity, FIRST_CAPACITY);
  gpointer grown;

  if (n_items < *capacity)
    return TRUE;

  grown = g_try_realloc_n (*items, wanted, item_size);
  if (grown == NULL)
    return mtl_set_no_memory (wanted * item_size, error);

  *items = grown;
  *capacity = wanted;
  return TRUE;
}
