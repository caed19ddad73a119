/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each system call and each allocation of the writer fails, one after another: that is an
 * error that tells which file and why, and leaves all as it was, or the same as without. */

#include "faults.h"

#include <errno.h>

#include "test-tensor-files.h"

static const Fault write_faults[] = {
  { FAULT_STAT, EACCES },
  { FAULT_STAT, EIO },
  { FAULT_RESOLVE, ENOMEM, TRUE },
  { FAULT_RESOLVE, EIO, TRUE },
  { FAULT_READ_LINK, EIO },
  { FAULT_OPEN, EACCES },
  { FAULT_OPEN, EMFILE },
  { FAULT_OPEN, ENOSPC },
  { FAULT_OPEN, EINTR, TRUE },
  { FAULT_OPEN, EEXIST, TRUE },
  { FAULT_FSTAT, EIO },
  { FAULT_OWNER, EPERM, TRUE },
  { FAULT_MODE, EPERM },
  { FAULT_RESERVE, ENOSPC },
  { FAULT_RESERVE, EDQUOT },
  { FAULT_RESERVE, EFBIG },
  { FAULT_RESERVE, EINTR, TRUE },
  { FAULT_RESERVE, EOPNOTSUPP, TRUE },
  { FAULT_WRITE, ENOMEM },
  { FAULT_WRITE, EIO },
  { FAULT_WRITE, ENOSPC },
  { FAULT_WRITE, EINTR, TRUE },
  { FAULT_WRITE, 0, TRUE },
  { FAULT_FLUSH, EIO },
  { FAULT_FLUSH, ENOSPC },
  { FAULT_FLUSH, EINTR, TRUE },
  { FAULT_CLOSE, EIO },
  { FAULT_CLOSE, EINTR, TRUE },
  { FAULT_RENAME, EIO },
  { FAULT_RENAME, EACCES },
  { FAULT_FOLDER, EIO, TRUE },
  { FAULT_FOLDER, EMFILE, TRUE },
  { FAULT_ADVISE, EINTR, TRUE },
  { FAULT_ADVISE, EINVAL, TRUE },
  { FAULT_ALLOCATE, ENOMEM },
};

static const Fault send_fault = { FAULT_SEND, EIO, TRUE };
static const Fault unlink_fault = { FAULT_UNLINK, EACCES };

#define INDEX_NAME "model.safetensors.index.json"

typedef struct
{
  TestFolder *folder;
  MtlTensorFileBuilder *builder;
  GFile *file;
  const char *const *old_names; /* names of files that are there before */
  const char *link;             /* nullable: one that leads to the first of them */
  gboolean is_sharded;
  char *old_state;
  char *new_state;
} WriteCase;

static void
empty_folder (TestFolder *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);

  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    {
      g_autofree char *path = g_build_filename (folder->path, name, NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
}

/* Gives the files another owner where the user may do so. */
static void
put_old_files (const WriteCase *self)
{
  empty_folder (self->folder);
  for (gsize i = 0; self->old_names[i] != NULL; i++)
    {
      g_autoptr (GFile) file = write_file (self->folder, self->old_names[i], "the old one", 11);
      const char *path = g_file_peek_path (file);

      g_assert_true (chown (path, 65534, 65534) == 0 || errno == EPERM);
      g_assert_cmpint (chmod (path, 0604), ==, 0);
    }

  if (self->link != NULL)
    {
      g_autoptr (GFile) file = get_file (self->folder, self->link);

      g_assert_cmpint (symlink (self->old_names[0], g_file_peek_path (file)), ==, 0);
    }
}

static char *
describe_file (TestFolder *folder,
               const char *name)
{
  g_autofree char *path = g_build_filename (folder->path, name, NULL);
  g_autofree char *target = g_file_read_link (path, NULL);
  g_autofree char *content = NULL;
  g_autofree char *sum = NULL;
  g_autoptr (GError) error = NULL;
  struct stat info;
  gsize size;

  if (target != NULL)
    return g_strdup_printf ("%s -> %s", name, target);

  g_file_get_contents (path, &content, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpint (stat (path, &info), ==, 0);
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) content, size);
  return g_strdup_printf ("%s %s\t%o %u:%u", name, sum, info.st_mode, info.st_uid, info.st_gid);
}

static int
compare_lines (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* All that can be told of it: a line for each file. */
static char *
describe_folder (TestFolder *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    g_ptr_array_add (lines, describe_file (folder, name));
  g_ptr_array_sort (lines, compare_lines);
  g_ptr_array_add (lines, NULL);

  return g_strjoinv ("\n", (char **) lines->pdata);
}

static gboolean
run_write (gpointer   data,
           GError   **error)
{
  const WriteCase *self = data;

  return self->is_sharded
         ? mtl_tensor_file_builder_write_shards (self->builder, self->file, 16, NULL, NULL, NULL,
                                                 error)
         : mtl_tensor_file_builder_write (self->builder, self->file, NULL, NULL, NULL, error);
}

/* Several files that take their places are old or new, each of them; the index is the
 * last one. */
static void
check_between (const WriteCase *self,
               const char      *state)
{
  g_auto (GStrv) lines = g_strsplit (state, "\n", -1);
  g_auto (GStrv) old_lines = g_strsplit (self->old_state, "\n", -1);
  g_auto (GStrv) new_lines = g_strsplit (self->new_state, "\n", -1);

  g_assert_cmpuint (g_strv_length (lines), ==, g_strv_length (old_lines));
  for (gsize i = 0; lines[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) old_lines, lines[i]))
      {
        g_assert_true (g_strv_contains ((const char *const *) new_lines, lines[i]));
        g_assert_false (g_str_has_prefix (lines[i], INDEX_NAME));
      }
}

/* Whatever their owners and modes are. */
static void
assert_same_contents (const char *state,
                      const char *expected)
{
  g_auto (GStrv) lines = g_strsplit (state, "\n", -1);
  g_auto (GStrv) expected_lines = g_strsplit (expected, "\n", -1);

  g_assert_cmpuint (g_strv_length (lines), ==, g_strv_length (expected_lines));
  for (gsize i = 0; lines[i] != NULL; i++)
    g_assert_cmpmem (lines[i], strcspn (lines[i], "\t"), expected_lines[i],
                     strcspn (expected_lines[i], "\t"));
}

static void
check_write (gpointer     data,
             const Fault *fault,
             gboolean     is_done)
{
  const WriteCase *self = data;
  g_autofree char *state = describe_folder (self->folder);

  if (!is_done && self->is_sharded && fault->calls == FAULT_RENAME)
    check_between (self, state);
  else if (fault->calls == FAULT_OWNER)
    assert_same_contents (state, self->new_state);
  else
    g_assert_cmpstr (state, ==, is_done ? self->new_state : self->old_state);
  put_old_files (self);
}

static void
add (MtlTensorFileBuilder *builder,
     const char           *name,
     MtlDType              dtype,
     gint64                n_rows,
     gint64                n_columns,
     gboolean              is_transposed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_strided_view_new_zeros (NULL, dtype,
                                                                DIMS (n_rows, n_columns),
                                                                MTL_STORAGE_MODE_DEFAULT, &error);
  g_autoptr (MtlStridedView) transposed = NULL;

  g_assert_no_error (error);
  transposed = mtl_strided_view_transpose (view);
  mtl_tensor_file_builder_add (builder, name, is_transposed ? transposed : view, &error);
  g_assert_no_error (error);
}

/* Returns how many calls failed. */
static guint
try_some (WriteCase   *self,
          const Fault *faults,
          gsize        n_faults,
          guint        least)
{
  FaultCase fault_case = { self->folder, run_write, check_write, self };
  g_autoptr (GError) error = NULL;
  guint n_failed;

  put_old_files (self);
  self->old_state = describe_folder (self->folder);
  g_assert_true (run_write (self, &error));
  g_assert_no_error (error);
  self->new_state = describe_folder (self->folder);
  g_assert_cmpstr (self->new_state, !=, self->old_state);
  put_old_files (self);

  n_failed = faults_try_each (&fault_case, faults, n_faults);
  g_test_message ("%u calls failed", n_failed);
  g_assert_cmpuint (n_failed, >=, least);

  g_object_unref (self->builder);
  g_object_unref (self->file);
  g_free (self->old_state);
  g_free (self->new_state);
  return n_failed;
}

static void
try_writes (WriteCase *self,
            guint      least)
{
  try_some (self, write_faults, G_N_ELEMENTS (write_faults), least);
}

/* Writes tensors as they lie in memory, and in pieces. */
static void
test_new (TestFolder    *folder,
          gconstpointer  data)
{
  static const char *const old_names[] = { NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                     old_names };

  add (self.builder, "whole", MTL_DTYPE_UINT8, 1024, 1024, FALSE);
  add (self.builder, "transposed", MTL_DTYPE_FLOAT32, 1100, 1024, TRUE);
  mtl_tensor_file_builder_set_metadata (self.builder, "format", "pt", NULL);
  try_writes (&self, 30);
}

/* So large that the system is asked to begin with it before the end. */
static void
test_large (TestFolder    *folder,
            gconstpointer  data)
{
  static const char *const old_names[] = { NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                     old_names };

  add (self.builder, "large", MTL_DTYPE_UINT8, 1024, 40 * 1024, FALSE);
  try_some (&self, &send_fault, 1, 1);
}

static void
test_over (TestFolder    *folder,
           gconstpointer  data)
{
  static const char *const old_names[] = { "file", "other", NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                     old_names };

  add (self.builder, "one", MTL_DTYPE_INT16, 2, 3, TRUE);
  try_writes (&self, 30);
}

static void
test_link (TestFolder    *folder,
           gconstpointer  data)
{
  static const char *const old_names[] = { "file", NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "link"),
                     old_names, "link" };

  add (self.builder, "one", MTL_DTYPE_BFLOAT16, 2, 3, FALSE);
  try_writes (&self, 30);
}

/* Mapped tensors are read while they are written. */
static void
test_mapped (TestFolder    *folder,
             gconstpointer  data)
{
  static const char *const old_names[] = { "file", NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                     old_names };
  g_autoptr (GFile) source = write_three (folder, "source");
  g_autoptr (MtlTensorFile) tensors = open_file (source, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlStridedView) view = get_view (tensors, "b");
  g_autoptr (GError) error = NULL;

  mtl_tensor_file_builder_add (self.builder, "b", view, &error);
  g_assert_no_error (error);
  try_writes (&self, 30);
}

/* Nothing waits for the disk, and the rest of the faults are told as before. */
static void
test_without_sync (TestFolder    *folder,
                   gconstpointer  data)
{
  static const char *const old_names[] = { "file", NULL };
  static const Fault faults[] = {
    { FAULT_FLUSH, EIO }, { FAULT_FOLDER, EIO, TRUE }, { FAULT_SEND, EIO, TRUE },
  };

  for (guint i = 0; i < 3; i++)
    {
      WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                         old_names };

      add (self.builder, "one", MTL_DTYPE_FLOAT64, 2, 3, TRUE);
      mtl_tensor_file_builder_set_sync (self.builder, i == 0);
      if (i == 2)
        try_writes (&self, 25);
      else
        g_assert_cmpuint (try_some (&self, faults, G_N_ELEMENTS (faults), 0), ==, i == 0 ? 4 : 0);
    }
}

static void
test_npy (TestFolder    *folder,
          gconstpointer  data)
{
  static const char *const old_names[] = { "file", NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                     old_names };

  mtl_tensor_file_builder_set_format (self.builder, MTL_TENSOR_FILE_FORMAT_NPY);
  add (self.builder, "one", MTL_DTYPE_FLOAT64, 2, 3, TRUE);
  try_writes (&self, 30);
}

static void
test_shards (TestFolder    *folder,
             gconstpointer  data)
{
  static const char *const old_names[] = {
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    INDEX_NAME,
    NULL,
  };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, INDEX_NAME),
                     old_names, NULL, TRUE };

  add (self.builder, "one", MTL_DTYPE_INT8, 4, 4, FALSE);
  add (self.builder, "two", MTL_DTYPE_INT8, 3, 3, TRUE);
  try_writes (&self, 90);
}

static void
cancel (goffset  done,
        goffset  total,
        gpointer cancellable)
{
  g_cancellable_cancel (cancellable);
}

/* The hidden file stays where it cannot be removed; the old one is whole, and it is told
 * why the work ended. */
static void
test_not_removed (TestFolder    *folder,
                  gconstpointer  data)
{
  static const char *const old_names[] = { "file", NULL };
  WriteCase self = { folder, mtl_tensor_file_builder_new (), get_file (folder, "file"),
                     old_names };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *old = NULL;
  g_autofree char *state = NULL;
  g_auto (GStrv) lines = NULL;

  add (self.builder, "one", MTL_DTYPE_INT16, 2, 3, FALSE);
  put_old_files (&self);
  old = describe_file (folder, "file");

  faults_arm (&unlink_fault, 0);
  g_assert_false (mtl_tensor_file_builder_write (self.builder, self.file, cancellable, cancel,
                                                 cancellable, &error));
  g_assert_true (faults_disarm ());
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  state = describe_folder (folder);
  lines = g_strsplit (state, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 2);
  g_assert_true (g_str_has_prefix (lines[0], ".file."));
  g_assert_cmpstr (lines[1], ==, old);

  g_object_unref (self.builder);
  g_object_unref (self.file);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/WriteFaults/new", test_new);
  add_folder_test ("/WriteFaults/large", test_large);
  add_folder_test ("/WriteFaults/over", test_over);
  add_folder_test ("/WriteFaults/link", test_link);
  add_folder_test ("/WriteFaults/mapped", test_mapped);
  add_folder_test ("/WriteFaults/without-sync", test_without_sync);
  add_folder_test ("/WriteFaults/npy", test_npy);
  add_folder_test ("/WriteFaults/shards", test_shards);
  add_folder_test ("/WriteFaults/not-removed", test_not_removed);

  return g_test_run ();
}
