/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-zip-directory-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-error-private.h"
#include "mtl-message-text-private.h"

#define END_SIZE 22
#define LOCATOR_SIZE 20
#define END64_SIZE 56
#define ENTRY_SIZE 46

#define FLAG_ENCRYPTED 0x0001
#define METHOD_STORED 0
#define METHOD_DEFLATED 8
#define EXTRA_ZIP64 1

/* The largest size that deflate can compress to one byte. */
#define MAX_EXPANSION 1032

static guint64
load_le (const guint8 *bytes,
         gsize         n)
{
  guint64 value = 0;

  while (n-- > 0)
    value = value << 8 | bytes[n];

  return value;
}

static gboolean
has_mark (const guint8 *bytes,
          const char   *mark)
{
  return memcmp (bytes, mark, 4) == 0;
}

/* Always returns FALSE. */
static gboolean
refuse (GError     **error,
        const char  *why)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA, "The zip archive is damaged: %s", why);
  return FALSE;
}

/* The record and its comment end at the end of the file. */
static const guint8 *
find_end (const guint8 *tail,
          gsize         tail_size)
{
  for (gsize size = END_SIZE; size <= tail_size && size <= END_SIZE + 65535; size++)
    {
      const guint8 *end = tail + tail_size - size;

      if (has_mark (end, "PK\5\6") && load_le (end + 20, 2) == size - END_SIZE)
        return end;
    }

  return NULL;
}

/* Some readers take the last record in the file, even if it is in the comment of
 * another. The place is that of the end in the file. */
static gboolean
has_end_in_comment (const guint8 *end,
                    const guint8 *tail_end,
                    guint64       place)
{
  for (const guint8 *at = end + 1; tail_end - at >= END_SIZE; at++)
    if (has_mark (at, "PK\5\6")
        && (load_le (at + 12, 4) <= place + (at - end)
            || (at - end >= LOCATOR_SIZE && has_mark (at - LOCATOR_SIZE, "PK\6\7"))))
      return TRUE;

  return FALSE;
}

/* The record is before the locator, which is right before the end record, in large
 * archives. Some readers follow the locator, others look right before it, so the record
 * has to be there. */
static gboolean
read_end64 (const guint8  *tail,
            const guint8  *locator,
            guint64        tail_begin,
            MtlZipEnd     *end,
            guint64       *end_begin,
            GError       **error)
{
  guint64 begin = load_le (locator + 8, 8);
  gsize n_before = locator - tail;
  const guint8 *end64;

  if (n_before < END64_SIZE || begin != tail_begin + n_before - END64_SIZE
      || !has_mark (locator - END64_SIZE, "PK\6\6"))
    return refuse (error, "the zip64 end of the directory is not where it should be");

  end64 = locator - END64_SIZE;
  *end_begin = begin;
  *end = (MtlZipEnd) {
    .begin = load_le (end64 + 48, 8),
    .size = load_le (end64 + 40, 8),
    .n_members = load_le (end64 + 32, 8),
  };
  return TRUE;
}

/* The tail holds the last bytes of a file; fewer than MTL_ZIP_MAX_TAIL_SIZE only if it
 * has no more. */
gboolean
mtl_zip_end_parse (const guint8  *tail,
                   gsize          tail_size,
                   guint64        file_size,
                   MtlZipEnd     *end,
                   GError       **error)
{
  const guint8 *record = find_end (tail, tail_size);
  guint64 tail_begin = file_size - tail_size, end_begin;

  if (record == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "This is not a zip archive, or it is truncated: the end of the directory is "
                   "missing");
      return FALSE;
    }

  end_begin = tail_begin + (record - tail);
  if (has_end_in_comment (record, tail + tail_size, end_begin))
    return refuse (error, "its comment has another end of the directory");

  *end = (MtlZipEnd) {
    .begin = load_le (record + 16, 4),
    .size = load_le (record + 12, 4),
    .n_members = load_le (record + 10, 2),
  };
  if (record - tail >= LOCATOR_SIZE && has_mark (record - LOCATOR_SIZE, "PK\6\7")
      && !read_end64 (tail, record - LOCATOR_SIZE, tail_begin, end, &end_begin, error))
    return FALSE;

  /* Some readers count back from the end, and would find another directory after a gap. */
  if (end->begin > end_begin || end->size != end_begin - end->begin
      || end->n_members > end->size / ENTRY_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The zip archive is damaged: its directory of %" G_GUINT64_FORMAT " members in %"
                   G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT " does not lie right "
                   "before its end at byte %" G_GUINT64_FORMAT,
                   end->n_members, end->size, end->begin, end_begin);
      return FALSE;
    }
  if (end->size > MTL_ZIP_MAX_DIRECTORY_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A directory of %" G_GUINT64_FORMAT " bytes is larger than the limit of %d",
                   end->size, MTL_ZIP_MAX_DIRECTORY_SIZE);
      return FALSE;
    }

  return TRUE;
}

/* Always returns FALSE. */
static gboolean
refuse_member (const MtlZipMember  *member,
               GError             **error,
               const char          *why)
{
  g_autofree char *name = mtl_quote_text (member->name, member->name_size);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA, "Member %s of the zip archive %s", name,
               why);
  return FALSE;
}

/* The extra field has the numbers that did not fit their fields, in this order. */
static gboolean
read_zip64 (MtlZipMember *member,
            const guint8 *extra,
            gsize         extra_size)
{
  guint64 *numbers[] = { &member->size, &member->stored_size, &member->local_begin };
  const guint8 *value = NULL;
  gsize value_size = 0;

  while (extra_size >= 4 && value == NULL)
    {
      gsize size = load_le (extra + 2, 2);

      if (size > extra_size - 4)
        return FALSE;
      if (load_le (extra, 2) == EXTRA_ZIP64)
        {
          value = extra + 4;
          value_size = size;
        }
      extra += 4 + size;
      extra_size -= 4 + size;
    }

  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (*numbers[i] == G_MAXUINT32 && value != NULL)
      {
        if (value_size < 8)
          return FALSE;
        *numbers[i] = load_le (value, 8);
        value += 8;
        value_size -= 8;
      }

  return TRUE;
}

static const char *
describe_method (guint method)
{
  switch (method)
    {
    case 9:
      return " (deflate64)";
    case 12:
      return " (bzip2)";
    case 14:
      return " (lzma)";
    case 93:
      return " (zstd)";
    case 95:
      return " (xz)";
    default:
      return "";
    }
}

static gboolean
check_place (const MtlZipMember  *member,
             guint64              directory_begin,
             GError             **error)
{
  guint64 least_size = MTL_ZIP_LOCAL_HEADER_SIZE + member->name_size;
  g_autofree char *why = NULL;

  if (member->local_begin <= directory_begin
      && least_size <= directory_begin - member->local_begin
      && member->stored_size <= directory_begin - member->local_begin - least_size)
    return TRUE;

  why = g_strdup_printf ("of %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT
                         " does not lie before the directory at byte %" G_GUINT64_FORMAT,
                         member->stored_size, member->local_begin, directory_begin);
  return refuse_member (member, error, why);
}

/* Reports a fault of one member alone. Always returns FALSE. */
static gboolean G_GNUC_PRINTF (3, 4)
set_why (GError     **error,
         MtlError     code,
         const char  *format,
         ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error != NULL)
    *error = g_error_new_valist (MTL_ERROR, code, format, arguments);
  va_end (arguments);
  return FALSE;
}

gboolean
mtl_zip_member_check_name (const MtlZipMember  *self,
                           GError             **error)
{
  return g_utf8_validate_len (self->name, self->name_size, NULL)
         || set_why (error, MTL_ERROR_NOT_SUPPORTED,
                     "Its name in the archive is not UTF-8, or has the character U+0000");
}

gboolean
mtl_zip_member_check (const MtlZipMember  *self,
                      GError             **error)
{
  if (self->is_encrypted)
    return set_why (error, MTL_ERROR_NOT_SUPPORTED, "It is encrypted in the archive");
  if (self->method != METHOD_STORED && self->method != METHOD_DEFLATED)
    return set_why (error, MTL_ERROR_NOT_SUPPORTED,
                    "It is compressed by method %u%s: only 0 (none) and 8 (deflate) are supported",
                    self->method, describe_method (self->method));
  if (!self->is_deflated && self->size != self->stored_size)
    return set_why (error, MTL_ERROR_INVALID_DATA,
                    "It is not compressed in the archive, but has %" G_GUINT64_FORMAT " bytes in %"
                    G_GUINT64_FORMAT, self->size, self->stored_size);
  if (self->is_deflated && self->size / MAX_EXPANSION > self->stored_size)
    return set_why (error, MTL_ERROR_INVALID_DATA,
                    "It cannot have %" G_GUINT64_FORMAT " bytes if deflated to %" G_GUINT64_FORMAT,
                    self->size, self->stored_size);

  return TRUE;
}

/* Reads one entry of the directory and moves past it. */
static gboolean
read_member (const guint8     *bytes,
             gsize            *at,
             const MtlZipEnd  *end,
             MtlArena         *arena,
             MtlZipMember     *member,
             GError          **error)
{
  const guint8 *entry = bytes + *at;
  gsize rest = end->size - *at, extra_size, comment_size;

  if (rest < ENTRY_SIZE || !has_mark (entry, "PK\1\2"))
    return refuse (error, "an entry of its directory has no signature");

  extra_size = load_le (entry + 30, 2);
  comment_size = load_le (entry + 32, 2);
  *member = (MtlZipMember) {
    .name_size = load_le (entry + 28, 2),
    .local_begin = load_le (entry + 42, 4),
    .stored_size = load_le (entry + 20, 4),
    .size = load_le (entry + 24, 4),
    .crc = load_le (entry + 16, 4),
    .method = load_le (entry + 10, 2),
    .is_encrypted = (load_le (entry + 8, 2) & FLAG_ENCRYPTED) != 0,
  };
  member->is_deflated = member->method == METHOD_DEFLATED;
  if (member->name_size + extra_size + comment_size > rest - ENTRY_SIZE)
    return refuse (error, "an entry of its directory ends outside of it");

  member->name = mtl_arena_dup_text (arena, (const char *) entry + ENTRY_SIZE, member->name_size,
                                     error);
  if (member->name == NULL)
    return FALSE;
  if (!read_zip64 (member, entry + ENTRY_SIZE + member->name_size, extra_size))
    return refuse_member (member, error, "has a truncated extra field");

  *at += ENTRY_SIZE + member->name_size + extra_size + comment_size;
  return check_place (member, end->begin, error);
}

static int
compare_places (gconstpointer a,
                gconstpointer b)
{
  const MtlZipMember *x = *(const MtlZipMember *const *) a;
  const MtlZipMember *y = *(const MtlZipMember *const *) b;

  return (x->local_begin > y->local_begin) - (x->local_begin < y->local_begin);
}

/* Shared bytes would be inflated once for each member. */
static gboolean
check_overlaps (const MtlZipDirectory  *self,
                GError                **error)
{
  g_autofree const MtlZipMember **by_place = g_try_new (const MtlZipMember *, self->n_members + 1);

  if (by_place == NULL)
    return mtl_set_no_memory ((self->n_members + 1) * sizeof *by_place, error);

  for (gsize i = 0; i < self->n_members; i++)
    by_place[i] = &self->members[i];
  qsort (by_place, self->n_members, sizeof *by_place, compare_places);

  for (gsize i = 1; i < self->n_members; i++)
    {
      const MtlZipMember *before = by_place[i - 1];
      guint64 least_size = MTL_ZIP_LOCAL_HEADER_SIZE + before->name_size + before->stored_size;

      if (by_place[i]->local_begin - before->local_begin < least_size)
        {
          g_autofree char *name = mtl_quote_text (before->name, before->name_size);
          g_autofree char *why = g_strdup_printf ("begins within member %s", name);

          return refuse_member (by_place[i], error, why);
        }
    }

  return TRUE;
}

/* The bytes are those of the directory. */
MtlZipDirectory *
mtl_zip_directory_parse (const guint8     *bytes,
                         const MtlZipEnd  *end,
                         GError          **error)
{
  g_autoptr (MtlZipDirectory) self = g_new0 (MtlZipDirectory, 1);
  gsize at = 0;

  self->members = g_try_new (MtlZipMember, end->n_members + 1);
  if (self->members == NULL)
    {
      mtl_set_no_memory ((end->n_members + 1) * sizeof (MtlZipMember), error);
      return NULL;
    }

  for (; self->n_members < end->n_members; self->n_members++)
    if (!read_member (bytes, &at, end, &self->arena, &self->members[self->n_members], error))
      return NULL;

  if (at != end->size)
    {
      refuse (error, "its directory has more entries than its end counts");
      return NULL;
    }
  return check_overlaps (self, error) ? g_steal_pointer (&self) : NULL;
}

void
mtl_zip_directory_free (MtlZipDirectory *self)
{
  mtl_arena_clear (&self->arena);
  g_free (self->members);
  g_free (self);
}

gboolean
mtl_zip_member_find_begin (const MtlZipMember  *self,
                           const guint8        *local_header,
                           const MtlZipEnd     *end,
                           guint64             *begin,
                           GError             **error)
{
  guint64 header_size;

  if (!has_mark (local_header, "PK\3\4") || load_le (local_header + 26, 2) != self->name_size
      || memcmp (local_header + MTL_ZIP_LOCAL_HEADER_SIZE, self->name, self->name_size) != 0)
    return set_why (error, MTL_ERROR_INVALID_DATA,
                    "It is not at byte %" G_GUINT64_FORMAT ", where the archive's directory places "
                    "it", self->local_begin);

  /* The local header has its own extra fields, which differ from those of the
   * directory. */
  header_size = MTL_ZIP_LOCAL_HEADER_SIZE + self->name_size + load_le (local_header + 28, 2);
  if (header_size > end->begin - self->local_begin
      || self->stored_size > end->begin - self->local_begin - header_size)
    return set_why (error, MTL_ERROR_INVALID_DATA,
                    "Its %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT " do not lie "
                    "before the archive's directory at byte %" G_GUINT64_FORMAT,
                    self->stored_size, self->local_begin + header_size, end->begin);

  *begin = self->local_begin + header_size;
  return TRUE;
}
