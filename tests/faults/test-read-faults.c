/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each system call and each allocation of the reader fails, one after another: that is an
 * error that tells which file and why, or the same as without. */

#include "faults.h"

#include <errno.h>

#include "test-tensor-files.h"

static const Fault read_faults[] = {
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
  { FAULT_ADVISE, EIO, TRUE },
  { FAULT_CLOSE, EIO, TRUE },
  { FAULT_CLOSE, EINTR, TRUE },
  { FAULT_ALLOCATE, ENOMEM },
};

typedef struct
{
  GFile *file;
  MtlFileMode mode;
  char *expected; /* of all names and bytes, from when nothing fails */
} ReadCase;

static gboolean
add_view (MtlTensorFile  *tensors,
          const char     *name,
          GChecksum      *sum,
          GError        **error)
{
  g_autoptr (MtlStridedView) view = mtl_tensor_file_get_view (tensors, name, error);

  if (view == NULL)
    return FALSE;

  g_checksum_update (sum, (const guchar *) name, strlen (name) + 1);
  g_checksum_update (sum, GSIZE_TO_POINTER (mtl_strided_view_get_address (view)),
                     mtl_strided_view_get_volume (view)
                     * mtl_strided_view_get_item_bits (view) / 8);
  return TRUE;
}

/* Opens it, lists it, and gets all that is in it. */
static gboolean
run_read (gpointer   data,
          GError   **error)
{
  ReadCase *self = data;
  g_autoptr (MtlTensorFile) tensors = mtl_tensor_file_open (self->file, self->mode, NULL, NULL,
                                                            error);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree const char **names = NULL;

  if (tensors == NULL)
    return FALSE;

  names = mtl_tensor_file_get_names (tensors);
  for (gsize i = 0; names[i] != NULL; i++)
    if (!add_view (tensors, names[i], sum, error))
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
  for (MtlFileMode mode = MTL_FILE_MODE_AUTO; mode <= MTL_FILE_MODE_READ; mode++)
    {
      ReadCase data = { file, mode, NULL };
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
  static const char index[] = "{\"weight_map\":{\"a\":\"1\",\"b\":\"1\",\"none\":\"1\",\"c\":\"2\"}}";
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

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/ReadFaults/safetensors", test_safetensors);
  add_folder_test ("/ReadFaults/shards", test_shards);
  add_folder_test ("/ReadFaults/npy", test_npy);

  return g_test_run ();
}
