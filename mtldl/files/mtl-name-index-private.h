/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MtlNameSlot MtlNameSlot;

/* Finds items of an array by name. The names come from a file, so the hash has a random
 * key for each process, and names cannot be chosen to collide. Each item begins with
 * the pointer to its name. The index does not own the array, which must not move. */
typedef struct
{
  const char *items;
  gsize item_size;
  MtlNameSlot *slots;
  gsize mask;
} MtlNameIndex;

gboolean mtl_name_index_init   (MtlNameIndex        *self,
                                gconstpointer        items,
                                gsize                n_items,
                                gsize                item_size,
                                GError             **error);
void     mtl_name_index_clear  (MtlNameIndex        *self);
guint32  mtl_name_index_add    (MtlNameIndex        *self,
                                guint32              position);
gboolean mtl_name_index_lookup (const MtlNameIndex  *self,
                                const char          *name,
                                guint32             *position);

G_END_DECLS
