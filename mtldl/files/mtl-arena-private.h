/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MtlArenaChunk MtlArenaChunk;

/* Memory that is freed all at once. Sizes come from files, so a failed allocation is
 * an error and does not abort the program. */
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

/* Makes room for one more item after n_items. The capacity doubles each time. */
gboolean mtl_array_reserve  (gpointer    *items,
                             gsize        n_items,
                             gsize       *capacity,
                             gsize        item_size,
                             GError     **error);

G_END_DECLS
