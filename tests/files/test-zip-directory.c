/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Archives by hand, each wrong in one place; tests/files/corpus has those that NumPy and
 * Python's zipfile write. */

#include "test-utils.h"
#include "zip-writer.h"

#include "mtl-zip-directory-private.h"

/* A member, as its two headers tell it. */
typedef struct
{
  const char *name;
  guint name_size;      /* 0: that of the name */
  guint flags;
  guint method;
  guint64 stored_size;
  guint64 size;
  guint64 moved_by;     /* its place in the directory, from the right one */
  gboolean is_zip64;
  gboolean has_cut_extra;
  gboolean has_short_extra;
  guint n_missing; /* bytes of the comment */
} Member;

/* The end's fields, relative to the right ones. */
typedef struct
{
  gint64 n_members;
  gint64 begin;
  gint64 size;
  gboolean is_zip64;
  gint64 end64_begin;
  gsize gap; /* after the zip64 end */
  const char *comment;
} End;

static guint
get_name_size (const Member *member)
{
  return member->name_size > 0 ? member->name_size : strlen (member->name);
}

static void
append_local (GByteArray   *bytes,
              const Member *member)
{
  append_text (bytes, "PK\3\4", 4);
  append_le (bytes, 0, 22);
  append_le (bytes, get_name_size (member), 2);
  append_le (bytes, 5, 2); /* extra: of another size than the directory's */
  append_text (bytes, member->name, get_name_size (member));
  append_text (bytes, "extra", 5);
  for (guint64 i = 0; i < member->stored_size && i < 1000; i++)
    append_le (bytes, i, 1);
}

static void
append_entry (GByteArray   *bytes,
              const Member *member,
              guint64       local_begin)
{
  append_text (bytes, "PK\1\2", 4);
  append_le (bytes, 0, 4);
  append_le (bytes, member->flags, 2);
  append_le (bytes, member->method, 2);
  append_le (bytes, 0, 4);
  append_le (bytes, 0xcafe, 4);
  append_le (bytes, member->is_zip64 ? G_MAXUINT32 : member->stored_size, 4);
  append_le (bytes, member->is_zip64 ? G_MAXUINT32 : member->size, 4);
  append_le (bytes, get_name_size (member), 2);
  append_le (bytes, member->is_zip64 || member->has_cut_extra ? 6 + 4 + 24 : 0, 2);
  append_le (bytes, 2 + member->n_missing, 2); /* comment */
  append_le (bytes, 0, 8);
  append_le (bytes, member->is_zip64 ? G_MAXUINT32 : local_begin, 4);
  append_text (bytes, member->name, get_name_size (member));
  if (member->is_zip64 || member->has_cut_extra)
    {
      append_le (bytes, 0x7777, 2); /* another program's */
      append_le (bytes, 2, 2);
      append_text (bytes, "xx", 2);
      append_le (bytes, 1, 2);
      append_le (bytes, member->has_cut_extra ? 25 : member->has_short_extra ? 23 : 24, 2);
      append_le (bytes, member->size, 8);
      append_le (bytes, member->stored_size, 8);
      append_le (bytes, local_begin, 8);
    }
  append_text (bytes, "ab", 2);
}

static void
append_end64 (GByteArray *bytes,
              const End  *end,
              guint64     n_members,
              guint64     begin,
              guint64     size)
{
  guint64 end64_begin = bytes->len;

  append_text (bytes, "PK\6\6", 4);
  append_le (bytes, 44, 8);
  append_le (bytes, 0, 12);
  append_le (bytes, n_members, 8);
  append_le (bytes, n_members, 8);
  append_le (bytes, size, 8);
  append_le (bytes, begin, 8);
  append_le (bytes, 0, end->gap);
  append_text (bytes, "PK\6\7", 4);
  append_le (bytes, 0, 4);
  append_le (bytes, end64_begin + end->end64_begin, 8);
  append_le (bytes, 1, 4);
}

static void
append_end (GByteArray *bytes,
            const End  *end,
            guint64     n_members,
            guint64     begin,
            guint64     size)
{
  const char *comment = end->comment != NULL ? end->comment : "";

  n_members += end->n_members;
  begin += end->begin;
  size += end->size;
  if (end->is_zip64)
    append_end64 (bytes, end, n_members, begin, size);
  append_text (bytes, "PK\5\6", 4);
  append_le (bytes, 0, 6);
  append_le (bytes, end->is_zip64 ? G_MAXUINT16 : n_members, 2);
  append_le (bytes, end->is_zip64 ? G_MAXUINT32 : size, 4);
  append_le (bytes, end->is_zip64 ? G_MAXUINT32 : begin, 4);
  append_le (bytes, strlen (comment), 2);
  append_text (bytes, comment, strlen (comment));
}

static GByteArray *
new_archive (const Member *members,
             gsize         n_members,
             const End    *end)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autofree guint64 *places = g_new (guint64, n_members + 1);
  guint64 begin;

  for (gsize i = 0; i < n_members; i++)
    {
      places[i] = bytes->len;
      append_local (bytes, &members[i]);
    }
  begin = bytes->len;
  for (gsize i = 0; i < n_members; i++)
    append_entry (bytes, &members[i], places[i] + members[i].moved_by);
  append_end (bytes, end, n_members, begin, bytes->len - begin);
  return bytes;
}

static MtlZipDirectory *
parse (const GByteArray  *bytes,
       MtlZipEnd         *end,
       GError           **error)
{
  gsize tail_size = MIN (bytes->len, MTL_ZIP_MAX_TAIL_SIZE);

  if (!mtl_zip_end_parse (bytes->data + bytes->len - tail_size, tail_size, bytes->len, end, error))
    return NULL;

  return mtl_zip_directory_parse (bytes->data + end->begin, end, error);
}

static void
check_members (const Member *members,
               gsize         n_members,
               const End    *how)
{
  g_autoptr (GByteArray) bytes = new_archive (members, n_members, how);
  g_autoptr (GError) error = NULL;
  MtlZipEnd end;
  g_autoptr (MtlZipDirectory) directory = parse (bytes, &end, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (directory->n_members, ==, n_members);
  for (gsize i = 0; i < n_members; i++)
    {
      const MtlZipMember *member = &directory->members[i];
      guint64 begin;

      g_assert_cmpstr (member->name, ==, members[i].name);
      g_assert_cmpuint (member->size, ==, members[i].size);
      g_assert_cmpuint (member->stored_size, ==, members[i].stored_size);
      g_assert_cmpuint (member->crc, ==, 0xcafe);
      g_assert_true (member->is_deflated == (members[i].method == 8));
      mtl_zip_member_find_begin (member, bytes->data + member->local_begin, &end, &begin, &error);
      g_assert_no_error (error);
      g_assert_cmpmem (bytes->data + begin - 5, 5, "extra", 5);
    }
}

static void
test_members (void)
{
  static const Member members[] = {
    { .name = "a.npy", .stored_size = 100, .size = 100 },
    { .name = "\303\251.npy", .method = 8, .stored_size = 10, .size = 10320 },
    { .name = "empty" },
    { .name = "large", .stored_size = 7, .size = 7, .is_zip64 = TRUE },
    { .name = "deflated and large", .method = 8, .stored_size = 7, .size = 9, .is_zip64 = TRUE },
  };
  g_autofree char *comment = g_strnfill (65535, 'c');
  const End ends[] = {
    { 0 },
    { .is_zip64 = TRUE },
    { .comment = "PK\5\6 is what the end begins with" },
    { .comment = comment, .is_zip64 = TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      check_members (members, G_N_ELEMENTS (members), &ends[i]);
      check_members (NULL, 0, &ends[i]);
    }
}

/* A fault of one member is no fault of the directory. */
static void
test_members_with_faults (void)
{
  static const struct
  {
    Member member;
    MtlError code;
    const char *values;
    gboolean has_wrong_name;
  } cases[] = {
    { { "a", .method = 12 }, MTL_ERROR_NOT_SUPPORTED, "12 & bzip2" },
    { { "a", .method = 14 }, MTL_ERROR_NOT_SUPPORTED, "14 & lzma" },
    { { "a", .method = 93 }, MTL_ERROR_NOT_SUPPORTED, "93 & zstd" },
    { { "a", .method = 65535 }, MTL_ERROR_NOT_SUPPORTED, "65535 & 0" },
    { { "a", .flags = 1 }, MTL_ERROR_NOT_SUPPORTED, "" },
    { { "a", .stored_size = 5, .size = 6 }, MTL_ERROR_INVALID_DATA, "6 & 5" },
    { { "a", .method = 8, .stored_size = 10, .size = 11352 }, MTL_ERROR_INVALID_DATA,
      "11352 & 10" },
    { { "a", .method = 8, .stored_size = 10, .size = G_MAXUINT64, .is_zip64 = TRUE },
      MTL_ERROR_INVALID_DATA, "18446744073709551615" },
    { { "\377" }, MTL_ERROR_NOT_SUPPORTED, "UTF-8", TRUE },
    { { "a\0b", .name_size = 3 }, MTL_ERROR_NOT_SUPPORTED, "U+0000", TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) bytes = new_archive (&cases[i].member, 1, &(End) { 0 });
      g_autoptr (GError) no_error = NULL;
      MtlZipEnd end;
      g_autoptr (MtlZipDirectory) directory = parse (bytes, &end, &no_error);
      const MtlZipMember *member;

      g_assert_no_error (no_error);
      member = &directory->members[0];
      g_assert_true (mtl_zip_member_check (member, NULL) == cases[i].has_wrong_name);
      g_assert_true (mtl_zip_member_check_name (member, NULL) != cases[i].has_wrong_name);
      assert_refuses (cases[i].has_wrong_name ? mtl_zip_member_check_name (member, &error)
                                              : mtl_zip_member_check (member, &error),
                      cases[i].code, cases[i].values);
    }
}

static void
test_refused_members (void)
{
  static const struct
  {
    Member member;
    const char *values;
  } cases[] = {
    { { "a", .stored_size = G_MAXUINT64, .size = G_MAXUINT64, .is_zip64 = TRUE },
      "18446744073709551615 & 0" },
    { { "a", .stored_size = 5000, .size = 5000 }, "“a” & 5000 & 0" },
    { { "a", .moved_by = 1000 }, "“a” & 0 & 1000" },
    { { "a", .moved_by = 30 }, "30" },
    { { "a", .has_cut_extra = TRUE }, "“a”" },
    { { "a", .is_zip64 = TRUE, .has_short_extra = TRUE }, "“a”" },
    { { "a", .n_missing = 1 }, "" },
    { { "\377", .method = 12, .moved_by = 30 }, "“\\xff” & 0" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) bytes = new_archive (&cases[i].member, 1, &(End) { 0 });
      MtlZipEnd end;

      assert_fails (parse (bytes, &end, &error), MTL_ERROR_INVALID_DATA, cases[i].values);
    }
}

static void
test_refused_pairs (void)
{
  static const Member within[] = {
    { "a", .stored_size = 100, .size = 100 }, { .name = "b", .moved_by = -10 },
  };
  static const Member same[] = { { "a" }, { .name = "b", .moved_by = -36 } };
  g_autoptr (GByteArray) with_within = new_archive (within, 2, &(End) { 0 });
  g_autoptr (GByteArray) with_same = new_archive (same, 2, &(End) { 0 });
  MtlZipEnd end;

  assert_fails (parse (with_within, &end, &error), MTL_ERROR_INVALID_DATA, "“b” & “a”");
  assert_fails (parse (with_same, &end, &error), MTL_ERROR_INVALID_DATA, "“b” & “a”");
}

static void
test_refused_ends (void)
{
  static const Member member = { "a", .stored_size = 10, .size = 10 };
  static const struct
  {
    End end;
    const char *values;
  } cases[] = {
    { { .n_members = -1 }, "" },
    { { .n_members = 1 }, "2 & 49 & 46" },
    { { .size = -1 }, "48 & 46 & 95" },
    { { .size = 1 }, "50 & 46 & 95" },
    { { .begin = -1 }, "45 & 95" },
    { { .begin = -1, .size = 1 }, "" },
    { { .begin = 1, .size = -1 }, "" },
    { { .begin = 1 }, "47 & 95" },
    { { .begin = -47, .is_zip64 = TRUE }, "18446744073709551615" },
    { { .n_members = -2, .is_zip64 = TRUE }, "18446744073709551615 & 49" },
    { { .is_zip64 = TRUE, .end64_begin = 1 }, "zip64" },
    { { .is_zip64 = TRUE, .end64_begin = -1 }, "zip64" },
    { { .is_zip64 = TRUE, .end64_begin = -96 }, "zip64" },
    { { .is_zip64 = TRUE, .end64_begin = 10000 }, "zip64" },
    { { .is_zip64 = TRUE, .gap = 1 }, "zip64" },
    { { .is_zip64 = TRUE, .gap = 105 }, "zip64" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) bytes = new_archive (&member, 1, &cases[i].end);
      MtlZipEnd end;

      assert_fails (parse (bytes, &end, &error), MTL_ERROR_INVALID_DATA, cases[i].values);
    }
}

/* NumPy would read the archive that this comment is the end of. */
static void
test_end_in_comment (void)
{
  static const Member member = { "a", .stored_size = 10, .size = 10 };
  static const struct
  {
    const char *before;
    guint32 size;
    gboolean is_refused;
  } cases[] = {
    { "", 0x01010101, FALSE },
    { "", 49, TRUE },
    { "", 117, TRUE },  /* all that is before it */
    { "", 118, FALSE },
    { "PK\6\7" "0123456789abcdef", 0x01010101, TRUE },
    { "PK\6\7" "0123456789abcde", 0x01010101, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) bytes = new_archive (&member, 1, &(End) { 0 });
      g_autoptr (GError) error = NULL;
      gsize n_before = strlen (cases[i].before);
      MtlZipEnd end;

      bytes->data[bytes->len - 2] = n_before + 22 + 1;
      append_text (bytes, cases[i].before, n_before);
      append_text (bytes, "PK\5\6", 4);
      append_le (bytes, 0, 8);
      append_le (bytes, cases[i].size, 4);
      append_le (bytes, 0, 7);

      g_assert_true (mtl_zip_end_parse (bytes->data, bytes->len, bytes->len, &end, &error)
                     != cases[i].is_refused);
      if (cases[i].is_refused)
        g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
    }
}

/* A sparse file could have such an end. */
static void
test_large_directory (void)
{
  g_autoptr (GByteArray) bytes = new_archive (NULL, 0, &(End) { .size = 100000001 });
  MtlZipEnd end;

  assert_refuses (mtl_zip_end_parse (bytes->data, bytes->len, bytes->len + 100000001, &end,
                                     &error), MTL_ERROR_NOT_SUPPORTED, "100000001");
}

/* Cut anywhere it is none, as its end is gone. */
static void
test_cut (void)
{
  static const Member member = { "a", .stored_size = 10, .size = 10 };
  g_autoptr (GByteArray) bytes = new_archive (&member, 1, &(End) { .comment = "abc" });
  MtlZipEnd end;

  while (bytes->len > 0)
    {
      g_byte_array_set_size (bytes, bytes->len - 1);
      assert_fails (parse (bytes, &end, &error), MTL_ERROR_INVALID_DATA, "");
    }
}

static void
test_local_headers (void)
{
  static const Member members[] = { { "first", .stored_size = 10, .size = 10 }, { "other" } };
  static const struct
  {
    gsize at;
    guint8 byte;
    const char *values;
  } cases[] = {
    { 0, 'Q', "0" },
    { 26, 6, "0" },
    { 30, 'x', "0" },
    { 28, 255, "10 & 290" },
    { 28, 46, "10 & 81" },
  };
  g_autoptr (GByteArray) bytes = new_archive (members, 2, &(End) { 0 });
  g_autoptr (GError) no_error = NULL;
  MtlZipEnd end;
  g_autoptr (MtlZipDirectory) directory = parse (bytes, &end, &no_error);
  guint64 begin;

  g_assert_no_error (no_error);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 before = bytes->data[cases[i].at];

      bytes->data[cases[i].at] = cases[i].byte;
      assert_refuses (mtl_zip_member_find_begin (&directory->members[0], bytes->data, &end, &begin,
                                                 &error),
                      MTL_ERROR_INVALID_DATA, cases[i].values);
      bytes->data[cases[i].at] = before;
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ZipDirectory/members", test_members);
  g_test_add_func ("/ZipDirectory/members-with-faults", test_members_with_faults);
  g_test_add_func ("/ZipDirectory/refused-members", test_refused_members);
  g_test_add_func ("/ZipDirectory/refused-pairs", test_refused_pairs);
  g_test_add_func ("/ZipDirectory/refused-ends", test_refused_ends);
  g_test_add_func ("/ZipDirectory/end-in-comment", test_end_in_comment);
  g_test_add_func ("/ZipDirectory/large-directory", test_large_directory);
  g_test_add_func ("/ZipDirectory/cut", test_cut);
  g_test_add_func ("/ZipDirectory/local-headers", test_local_headers);

  return g_test_run ();
}
