/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MtlArenaChunk MtlArenaChunk;

/* Memory that is given back all at once. What a file makes the library ask for may
 * not be there: an error, not the end of the program. */
typedef struct
{
  MtlArenaChunk *last;
} MtlArena;

gpointer mtl_arena_alloc    (MtlArena    *self,
                             gsize        size,
                             gsize        alignment,
                             GError     **error);
char    *mtl_arena_dup_text (MtlArena    *self,
                             const char  *text,
                             gsize        size,
                             GError     **error);
void     mtl_arena_clear    (MtlArena    *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlArena, mtl_arena_clear)

/* Room for one more item after n_items, which grows by doubling. */
gboolean mtl_array_reserve  (gpointer    *items,
                             gsize        n_items,
                             gsize       *capacity,
                             gsize        item_size,
                             GError     **error);

gboolean mtl_set_no_memory  (gsize        size,
                             GError     **error);

G_END_DECLS
