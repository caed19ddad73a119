/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of a file that are read to know its tensors: no byte is believed and read twice, as it
 * may have changed then, and little of each member of an archive is read. */

#include "test-tensor-files.h"

#ifdef __linux__

#include <sys/syscall.h>

#include "mtl-tensor-table-read-private.h"

static guint n_reads;
static guint n_reads_before_change = G_MAXUINT;
static gsize changed_begin; /* the place of the bytes that differ from then on */
static const char *changed_to;
static GCancellable *cancellable;
static guint n_reads_before_cancel;

/* Replaces the system's function in everything that is linked into this program. */
ssize_t
pread (int     fd,
       void   *buffer,
       size_t  size,
       off_t   offset)
{
  ssize_t n = syscall (SYS_pread64, fd, buffer, size, offset);

  if (cancellable != NULL && n_reads == n_reads_before_cancel)
    g_cancellable_cancel (cancellable);
  if (n_reads++ >= n_reads_before_change)
    for (gsize i = 0; changed_to[i] != '\0'; i++)
      if ((gsize) offset <= changed_begin + i && changed_begin + i < (gsize) (offset + n))
        ((char *) buffer)[changed_begin + i - offset] = changed_to[i];
  return n;
}

static MtlTensorTable *
read_table (GFile   *file,
            GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlFileSource) source = mtl_file_source_open (file, &local_error);

  g_assert_no_error (local_error);
  n_reads = 0;
  return mtl_tensor_table_read (source, cancellable, error);
}

static void
assert_reads (GFile *file,
              guint  n_expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorTable) table = read_table (file, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (n_reads, ==, n_expected);
}

/* Checks that nothing changes if the file becomes another one after @n_before reads. */
static void
assert_unchanged (GFile      *file,
                  guint       n_before,
                  gsize       begin,
                  const char *to)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorTable) table = NULL;

  n_reads_before_change = n_before;
  changed_begin = begin;
  changed_to = to;
  table = read_table (file, &error);
  n_reads_before_change = G_MAXUINT;
  g_assert_no_error (error);
}

static GFile *
write_npy (TestFolder *folder,
           gsize       n_spaces)
{
  g_autofree char *spaces = g_strnfill (n_spaces, ' ');
  g_autofree char *dict =
    g_strdup_printf ("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }%s", spaces);
  const TestMember member = { NULL, dict, "abcd", 4, FALSE };
  g_autoptr (GByteArray) npy = make_npy (&member);

  return write_file (folder, "file", npy->data, npy->len);
}

static void
test_npy (TestFolder    *folder,
          gconstpointer  data)
{
  g_autoptr (GFile) small = write_npy (folder, 10);
  g_autoptr (GFile) large = NULL;

  assert_reads (small, 1);
  large = write_npy (folder, 5000);
  assert_reads (large, 2);
  /* The version, by which it is told where the dict begins. */
  assert_unchanged (large, 1, 6, "\2");
}

static void
test_safetensors (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autofree char *spaces = g_strnfill (2000, ' ');
  g_autofree char *header =
    g_strdup_printf ("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}%s",
                     spaces);
  g_autoptr (GFile) small = write_three (folder, "small");
  g_autoptr (GFile) large = write_safetensors (folder, "large", header, "x", 1);

  assert_reads (small, 1);
  assert_reads (large, 2);
  assert_unchanged (large, 1, 0, "\1\1\1\1{{{{");
}

#define N_MEMBERS 100

static GFile *
write_many_members (TestFolder *folder,
                    gboolean    deflated)
{
  TestMember members[N_MEMBERS];
  char names[N_MEMBERS][20];

  for (int i = 0; i < N_MEMBERS; i++)
    {
      g_snprintf (names[i], sizeof names[i], "array_%d.npy", i);
      members[i] = (TestMember) {
        names[i], "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "abc", 3, deflated
      };
    }
  return write_npz (folder, "file", members, N_MEMBERS);
}

static void
test_archive (TestFolder    *folder,
              gconstpointer  data)
{
  for (int deflated = 0; deflated <= 1; deflated++)
    {
      g_autoptr (GFile) file = write_many_members (folder, deflated);

      /* The mark, the end, the directory. */
      assert_reads (file, 3 + N_MEMBERS);
    }
}

/* Reading can be cancelled between one member and the next. */
static void
test_cancelled (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_many_members (folder, TRUE);
  g_autoptr (GError) error = NULL;

  cancellable = g_cancellable_new ();
  n_reads_before_cancel = 50;
  g_assert_null (read_table (file, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");
  g_assert_cmpuint (n_reads, ==, 51);
  g_clear_object (&cancellable);
}

/* A name, and a dict, longer than one read. */
static void
test_long_member (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autofree char *name = g_strnfill (3000, 'n');
  g_autofree char *spaces = g_strnfill (5000, ' ');
  g_autofree char *dict =
    g_strdup_printf ("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }%s", spaces);

  for (int deflated = 0; deflated <= 1; deflated++)
    {
      const TestMember member = { name, dict, "\1\2\3\4", 4, deflated };
      g_autoptr (GFile) file = write_npz (folder, "file", &member, 1);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlTensorTable) table = read_table (file, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (table->entries[0].name, ==, name);
      g_assert_cmpuint (table->entries[0].member->header_size, ==, 10 + strlen (dict));
      g_assert_cmpuint (table->entries[0].end - table->entries[0].begin, ==, 4);
      g_assert_cmpint (table->entries[0].begin - table->entries[0].member->begin, ==,
                       deflated ? 0 : 10 + strlen (dict));
    }
}

#endif

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#ifdef __linux__
  add_folder_test ("/TensorTableRead/npy", test_npy);
  add_folder_test ("/TensorTableRead/safetensors", test_safetensors);
  add_folder_test ("/TensorTableRead/archive", test_archive);
  add_folder_test ("/TensorTableRead/cancelled", test_cancelled);
  add_folder_test ("/TensorTableRead/long-member", test_long_member);
#endif

  return g_test_run ();
}
