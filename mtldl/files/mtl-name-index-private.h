/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MtlNameSlot MtlNameSlot;

/* Positions by name, for names that a stranger chose: which of them meet in a slot
 * depends on a key of the process. The names belong to others, and have to stay. */
typedef struct
{
  MtlNameSlot *slots;
  gsize mask;
} MtlNameIndex;

gboolean mtl_name_index_init   (MtlNameIndex        *self,
                                gsize                n_names,
                                GError             **error);
void     mtl_name_index_clear  (MtlNameIndex        *self);
gboolean mtl_name_index_add    (MtlNameIndex        *self,
                                const char          *name,
                                guint32              position,
                                guint32             *present);
gboolean mtl_name_index_lookup (const MtlNameIndex  *self,
                                const char          *name,
                                guint32             *position);

G_END_DECLS
