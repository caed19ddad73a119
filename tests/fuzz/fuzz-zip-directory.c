/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Zip archives, as .npz files are. */

#include "fuzz.h"

#include <string.h>

#include "mtl-zip-directory-private.h"

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  return 0;
}

/* Reads a member in memory of its own: a sanitizer sees reads beyond it. */
static void
find_member (const MtlZipMember *member,
             const MtlZipEnd    *end,
             const guint8       *archive,
             guint64             archive_size)
{
  g_autoptr (GError) error = NULL;
  gsize header_size = MTL_ZIP_LOCAL_HEADER_SIZE + member->name_size;
  g_autofree guint8 *header = NULL;
  guint64 begin;

  g_assert_cmpuint (member->local_begin + header_size + member->stored_size, <=, archive_size);
  if (check_result (mtl_zip_member_check (member, &error), &error))
    g_assert_cmpuint (member->size / 1100, <=, member->stored_size);
  g_assert_true (mtl_zip_member_check_name (member, NULL)
                 == g_utf8_validate_len (member->name, member->name_size, NULL));
  header = g_memdup2 (archive + member->local_begin, header_size);
  if (check_result (mtl_zip_member_find_begin (member, header, end, &begin, &error), &error))
    g_assert_cmpuint (begin + member->stored_size, <=, archive_size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlZipDirectory) directory = NULL;
  g_autofree guint8 *bytes = NULL;
  MtlZipEnd end;

  if (!check_result (mtl_zip_end_parse (data, size, size, &end, &error), &error))
    return 0;

  bytes = g_memdup2 (data + end.begin, end.size);
  directory = mtl_zip_directory_parse (bytes, &end, &error);
  if (error != NULL)
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
  if (!check_result (directory != NULL, &error))
    return 0;

  for (gsize i = 0; i < directory->n_members; i++)
    find_member (&directory->members[i], &end, data, size);
  return 0;
}
