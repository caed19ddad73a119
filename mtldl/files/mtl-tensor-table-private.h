/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-arena-private.h"
#include "mtl-dtype.h"
#include "mtl-enums.h"
#include "mtl-name-index-private.h"

G_BEGIN_DECLS

/* What of an archive an array is in. The bytes are counted from the file's beginning. */
typedef struct
{
  guint64 begin;
  guint64 stored_size;
  guint64 size;
  gsize header_size; /* before the elements */
  guint32 crc;
  gboolean is_deflated;
} MtlArchiveMember;

/* What a file says of one tensor. The bytes are counted from the file's beginning;
 * those of one that is deflated as if it were not, from where the member begins. There
 * may be one for each few bytes of a file. */
typedef struct
{
  const char *name;
  const MtlArchiveMember *member; /* or NULL */
  const gint64 *shape;
  guint64 begin;
  guint64 end;
  guint32 file; /* of several */
  MtlDType dtype : 16;
  guint n_dims : 8;
  MtlOrder order : 4;
  guint is_big_endian : 1;
} MtlTensorEntry;

static inline gboolean
mtl_tensor_entry_is_deflated (const MtlTensorEntry *self)
{
  return self->member != NULL && self->member->is_deflated;
}

typedef struct
{
  const char *key;
  const char *value;
} MtlTextPair;

/* The tensors that files describe, before anything is read of them. All that it gives
 * out lives as long as itself. */
typedef struct
{
  MtlArena arena;
  MtlTensorFileFormat format;
  MtlTensorEntry *entries;
  gsize n_entries;
  gsize entries_capacity;
  MtlTextPair *metadata;
  gsize n_metadata;
  gsize metadata_capacity;
  const char **files; /* by number, where there are several */
  gsize n_files;
  gsize files_capacity;
  MtlNameIndex by_name;
  MtlNameIndex by_key;
} MtlTensorTable;

MtlTensorTable       *mtl_tensor_table_new             (void);
void                  mtl_tensor_table_free            (MtlTensorTable        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorTable, mtl_tensor_table_free)

/* The texts are kept as they are: mtl_arena_dup_text() makes them the table's. */
gboolean              mtl_tensor_table_add             (MtlTensorTable        *self,
                                                        const MtlTensorEntry  *entry,
                                                        GError               **error);
gboolean              mtl_tensor_table_add_metadata    (MtlTensorTable        *self,
                                                        const char            *key,
                                                        const char            *value,
                                                        GError               **error);
gboolean              mtl_tensor_table_add_file        (MtlTensorTable        *self,
                                                        const char            *file,
                                                        GError               **error);
void                  mtl_tensor_table_sort            (MtlTensorTable        *self);

/* When all are there and in order: before this nothing can be looked up. */
gboolean              mtl_tensor_table_index_names     (MtlTensorTable        *self,
                                                        GError               **error);
const MtlTensorEntry *mtl_tensor_table_lookup          (const MtlTensorTable  *self,
                                                        const char            *name);
const char           *mtl_tensor_table_lookup_metadata (const MtlTensorTable  *self,
                                                        const char            *key);

gboolean              mtl_dtype_count_bytes            (MtlDType               self,
                                                        const gint64          *shape,
                                                        gsize                  n_dims,
                                                        guint64               *n_bytes,
                                                        GError               **error);

G_END_DECLS
