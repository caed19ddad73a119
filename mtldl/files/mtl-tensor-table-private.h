/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-arena-private.h"
#include "mtl-dtype.h"
#include "mtl-enums.h"
#include "mtl-name-index-private.h"

G_BEGIN_DECLS

/* The archive member that an array is in. Offsets count from the beginning of the
 * file. */
typedef struct
{
  guint64 begin;
  guint64 stored_size;
  guint64 size;
  gsize header_size; /* bytes before the elements */
  guint32 crc;
  gboolean is_deflated;
} MtlArchiveMember;

/* The type name of a tensor whose type cannot be determined. */
#define MTL_TYPE_NAME_UNKNOWN "unknown"

/* The reason for which a tensor cannot be loaded, though others of its file can. */
typedef struct
{
  const char *type_name; /* the elements' type, as the file gives it, or the kind of the member */
  GError error;
} MtlRefusal;

/* The description of one tensor. Offsets count from the beginning of the file. Those
 * of a deflated tensor count from where its member begins, as if it were not
 * deflated. The structure is small, because a file may describe one tensor in a few
 * bytes. */
typedef struct
{
  const char *name;
  union
  {
    const MtlArchiveMember *member; /* or NULL */
    const MtlRefusal *refusal;      /* if the tensor cannot be loaded */
  };
  const gint64 *shape;              /* NULL if it is not known */
  guint64 begin;
  guint64 end;
  guint32 file; /* its number, if there are several */
  MtlDType dtype : 16;
  guint n_dims : 8;
  MtlOrder order : 4;
  guint is_big_endian : 1;
  guint is_refused : 1;
  guint yields_name : 1; /* it is refused, and renamed if another has its name */
} MtlTensorEntry;

static inline gboolean
mtl_tensor_entry_is_deflated (const MtlTensorEntry *self)
{
  return !self->is_refused && self->member != NULL && self->member->is_deflated;
}

typedef struct
{
  const char *key;
  const char *value;
} MtlTextPair;

/* The tensors that files describe. The bytes of the tensors have not been read.
 * Everything that the table returns lives as long as the table. */
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
  const char **files; /* indexed by their numbers, if there are several */
  gsize n_files;
  gsize files_capacity;
  MtlNameIndex by_name;
  MtlNameIndex by_key;
} MtlTensorTable;

MtlTensorTable       *mtl_tensor_table_new             (MtlTensorFileFormat    format);
void                  mtl_tensor_table_free            (MtlTensorTable        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorTable, mtl_tensor_table_free)

/* Texts are not copied: use mtl_arena_dup_text() to make the table own them. */
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

/* Makes the entry one that cannot be loaded. Copies the name of the type and the reason.
 * Without a name, it is that of the dtype. */
gboolean              mtl_tensor_table_refuse          (MtlTensorTable        *self,
                                                        MtlTensorEntry        *entry,
                                                        const char            *type_name,
                                                        const GError          *why,
                                                        GError               **error);

/* Call one of the two when all entries are added and sorted. Names cannot be looked up
 * before. If two tensors have the same name, that is an error, or neither can be
 * loaded. */
gboolean              mtl_tensor_table_index_names     (MtlTensorTable        *self,
                                                        GError               **error);
gboolean              mtl_tensor_table_index_members   (MtlTensorTable        *self,
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
