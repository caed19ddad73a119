/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each system call and each allocation of the reader fails, one after another: that is an
 * error that tells which file and why, or the same as without. */

#include "faults.h"

#include <errno.h>

#include "test-tensor-files.h"

static const Fault read_faults[] = {
  { FAULT_LIST, EACCES },
  { FAULT_LIST, EIO },
  { FAULT_STAT, EACCES },
  { FAULT_STAT, ENOMEM },
  { FAULT_OPEN, EACCES },
  { FAULT_OPEN, EMFILE },
  { FAULT_OPEN, EINTR, TRUE },
  { FAULT_FSTAT, EIO },
  { FAULT_FSTATFS, EIO, TRUE },
  { FAULT_READ, EIO },
  { FAULT_READ, EINTR, TRUE },
  { FAULT_READ, 0, TRUE },
  { FAULT_MAP, ENOMEM },
  { FAULT_MAP, EACCES },
  { FAULT_UNMAP, ENOMEM, TRUE },
  { FAULT_ADVISE, EIO },
  { FAULT_ADVISE, EINTR, TRUE },
  { FAULT_CLOSE, EIO, TRUE },
  { FAULT_CLOSE, EINTR, TRUE },
  { FAULT_ALLOCATE, ENOMEM },
};

typedef struct
{
  GFile *file;
  MtlTensorFileMode mode;
  char *expected; /* all names and bytes, as read without failures */
} ReadCase;

static void
add_view (GChecksum      *sum,
          MtlStridedView *view)
{
  g_checksum_update (sum, GSIZE_TO_POINTER (mtl_strided_view_get_address (view)),
                     mtl_strided_view_get_volume (view)
                     * mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)) / 8);
}

static gboolean
get_each (MtlTensorFile  *tensors,
          GChecksum      *sum,
          GError        **error)
{
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);

  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autoptr (MtlStridedView) view = mtl_tensor_file_load_view (tensors, names[i], NULL, error);

      if (view == NULL)
        return FALSE;

      g_checksum_update (sum, (const guchar *) names[i], strlen (names[i]) + 1);
      add_view (sum, view);
    }

  return TRUE;
}

static gboolean
get_all (MtlTensorFile  *tensors,
         GChecksum      *sum,
         GError        **error)
{
  gsize n_views;
  MtlStridedView **views = mtl_tensor_file_load_views (tensors, "*", NULL, NULL, NULL, &n_views,
                                                       error);
  gboolean done;

  if (views == NULL)
    return FALSE;

  done = mtl_tensor_file_prefetch (tensors, views, n_views, error);
  for (gsize i = 0; i < n_views; i++)
    add_view (sum, views[i]);
  free_views (views, n_views);
  return done;
}

/* Opens it, lists it, gets all that is in it twice, and reads all of it. */
static gboolean
run_read (gpointer   data,
          GError   **error)
{
  ReadCase *self = data;
  g_autoptr (MtlTensorFile) tensors = mtl_tensor_file_open (self->file, NULL, self->mode, NULL,
                                                            error);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  if (tensors == NULL || !get_each (tensors, sum, error) || !get_all (tensors, sum, error)
      || !mtl_tensor_file_check (tensors, MTL_TENSOR_FILE_CHECKS_BOOL, NULL, NULL, NULL, error))
    return FALSE;

  if (self->expected == NULL)
    self->expected = g_strdup (g_checksum_get_string (sum));
  g_assert_cmpstr (g_checksum_get_string (sum), ==, self->expected);
  return TRUE;
}

static void
try_reads (TestFolder *folder,
           GFile      *file)
{
  /* It is mapped where nothing else is said, by one call more. */
  static const MtlTensorFileMode modes[] = { MTL_TENSOR_FILE_MODE_AUTO, MTL_TENSOR_FILE_MODE_READ };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      ReadCase data = { file, modes[i], NULL };
      FaultCase self = { folder, run_read, NULL, &data };
      g_autoptr (GError) error = NULL;
      guint n_failed;

      g_assert_true (run_read (&data, &error));
      g_assert_no_error (error);
      n_failed = faults_try_each (&self, read_faults, G_N_ELEMENTS (read_faults));
      g_test_message ("%u calls failed", n_failed);
      g_assert_cmpuint (n_failed, >, 20);
      g_free (data.expected);
    }
}

static void
test_safetensors (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");

  try_reads (folder, file);
}

static void
test_shards (TestFolder    *folder,
             gconstpointer  data)
{
  static const char index[] =
    "{\"weight_map\":{\"a\":\"1\",\"b\":\"1\",\"none\":\"1\",\"c\":\"2\"}}";
  g_autoptr (GFile) first = write_three (folder, "1");
  g_autoptr (GFile) second = write_safetensors (folder, "2", "{\"c\":{\"dtype\":\"I8\",\"shape\":"
                                                "[1],\"data_offsets\":[0,1]}}", "c", 1);
  g_autoptr (GFile) file = write_file (folder, "index", index, strlen (index));

  try_reads (folder, file);
}

/* Numbers in the other order than this machine's come as a copy. */
#define NPY "\x93NUMPY\1\0\x46\0{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }" \
  "             \n" "abcdefghijkl"
#define NPY_SIZE (sizeof NPY - 1)

static void
test_npy (TestFolder    *folder,
          gconstpointer  data)
{
  g_autoptr (GFile) file = write_file (folder, "file", NPY, NPY_SIZE);

  try_reads (folder, file);
}

static void
test_npz (TestFolder    *folder,
          gconstpointer  data)
{
  const TestMember members[] = {
    { "a.npy", "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n",
      "abcdefghijkl", 12, GPOINTER_TO_INT (data) },
    { "b.npy", "{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }\n", "abcd", 4,
      GPOINTER_TO_INT (data) },
  };
  g_autoptr (GFile) file = write_npz (folder, "file", members, G_N_ELEMENTS (members));

  try_reads (folder, file);
}

/* A folder stands for the only file in it. */
static void
test_folder (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) parent = g_file_new_build_filename (folder->path, "model", NULL);
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;

  g_file_make_directory (parent, NULL, &error);
  g_assert_no_error (error);
  file = write_three (folder, "model/file.safetensors");

  try_reads (folder, parent);

  g_file_delete (file, NULL, &error);
  g_assert_no_error (error);
  g_file_delete (parent, NULL, &error);
  g_assert_no_error (error);
}

/* Files that others may change while they are mapped are read, unless mapping is asked for. */
static void
test_network (TestFolder    *folder,
              gconstpointer  data)
{
  static const guint32 nfs = 0x6969;
  g_autoptr (GFile) file = write_three (folder, "file");

  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_AUTO; mode <= MTL_TENSOR_FILE_MODE_READ;
       mode++)
    {
      MtlTensorFileMode expected =
          mode == MTL_TENSOR_FILE_MODE_MAP ? MTL_TENSOR_FILE_MODE_MAP : MTL_TENSOR_FILE_MODE_READ;
      g_autoptr (MtlTensorFile) tensors = NULL;
      g_autoptr (MtlStridedView) view = NULL;

      faults_set_file_system (nfs);
      tensors = open_file (file, mode);
      faults_set_file_system (0);

      g_assert_cmpint (mtl_tensor_file_get_mode (tensors), ==, expected);
      view = get_view (tensors, "b");
      g_assert_cmpint (mtl_strided_view_is_read_only (view), ==, mode == MTL_TENSOR_FILE_MODE_MAP);
      assert_elements (view, 4, 5, 6, -1);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/ReadFaults/safetensors", test_safetensors);
  add_folder_test ("/ReadFaults/shards", test_shards);
  add_folder_test ("/ReadFaults/folder", test_folder);
  add_folder_test ("/ReadFaults/network", test_network);
  add_folder_test ("/ReadFaults/npy", test_npy);
  add_folder_test ("/ReadFaults/npz/stored", test_npz);
  g_test_add ("/ReadFaults/npz/deflated", TestFolder, GINT_TO_POINTER (TRUE), set_up_folder,
              test_npz, tear_down_folder);

  return g_test_run ();
}
