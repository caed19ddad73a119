/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-arena-private.h"

G_BEGIN_DECLS

/* The directory of an .npz, which is a zip archive. It is located from the last bytes
 * of the file, and checked against the size of the file. Nothing else in the file is
 * trusted. */

/* The last bytes of the file that may contain the location of the directory. */
#define MTL_ZIP_MAX_TAIL_SIZE (65535 + 22 + 20 + 56)

#define MTL_ZIP_LOCAL_HEADER_SIZE 30
#define MTL_ZIP_MAX_DIRECTORY_SIZE 100000000

typedef struct
{
  guint64 begin;
  guint64 size;
  guint64 n_members;
} MtlZipEnd;

typedef struct
{
  const char *name;
  gsize name_size;
  guint64 local_begin; /* the beginning of the local header */
  guint64 stored_size;
  guint64 size;
  guint32 crc;
  guint16 method;
  gboolean is_encrypted;
  gboolean is_deflated;
} MtlZipMember;

typedef struct
{
  MtlArena arena;
  MtlZipMember *members; /* sorted as in the directory */
  gsize n_members;
} MtlZipDirectory;

gboolean         mtl_zip_end_parse       (const guint8     *tail,
                                          gsize             tail_size,
                                          guint64           file_size,
                                          MtlZipEnd        *end,
                                          GError          **error);
MtlZipDirectory *mtl_zip_directory_parse (const guint8     *bytes,
                                          const MtlZipEnd  *end,
                                          GError          **error);
void             mtl_zip_directory_free  (MtlZipDirectory  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlZipDirectory, mtl_zip_directory_free)

/* Checks for faults of one member, which are not those of the archive. */
gboolean mtl_zip_member_check      (const MtlZipMember  *self,
                                    GError             **error);
gboolean mtl_zip_member_check_name (const MtlZipMember  *self,
                                    GError             **error);

/* Finds the beginning of a member's bytes from its local header and the name after
 * it, which have MTL_ZIP_LOCAL_HEADER_SIZE + name_size bytes. */
gboolean mtl_zip_member_find_begin (const MtlZipMember  *self,
                                    const guint8        *local_header,
                                    const MtlZipEnd     *end,
                                    guint64             *begin,
                                    GError             **error);

G_END_DECLS
