/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Faults of tensors that a file describes well. */

#include "test-tensor-files.h"

static gboolean
check (MtlTensorFile        *tensors,
       MtlTensorFileChecks   checks,
       GError              **error)
{
  return mtl_tensor_file_check (tensors, checks, NULL, NULL, NULL, error);
}

static gboolean
check_one (MtlTensorFile        *tensors,
           const char           *name,
           MtlTensorFileChecks   checks,
           GError              **error)
{
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, name);

  g_assert_nonnull (entry);
  return mtl_tensor_file_entry_check (entry, checks, NULL, error);
}

#define ALL                                                                                        \
  (MTL_TENSOR_FILE_CHECKS_NAN | MTL_TENSOR_FILE_CHECKS_BOOL | MTL_TENSOR_FILE_CHECKS_ALIGNMENT)

#define assert_right(call) \
  G_STMT_START \
    { \
      g_autoptr (GError) error = NULL; \
      g_assert_true (call); \
      g_assert_no_error (error); \
    } \
  G_STMT_END

/* A float NaN in a column, bytes that are no bools, numbers at odd places. */
static GFile *
write_odd (TestFolder *folder)
{
  static const char header[] =
    "{\"bools\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]},"
    "\"nan\":{\"dtype\":\"F16\",\"shape\":[2,1,2],\"data_offsets\":[3,11]},"
    "\"bytes\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[11,13]}} ";
  static const guint8 data[] = { 1, 0, 7, 0, 0, 0, 0x7c, 1, 0xfc, 0, 0, 0xff, 0xff };

  return write_safetensors (folder, "file", header, data, sizeof data);
}

static void
test_requests (TestFolder    *folder,
               gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_odd (folder);
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);

      assert_right (check (tensors, MTL_TENSOR_FILE_CHECKS_NONE, &error));
      assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_BOOL, &error), MTL_ERROR_INVALID_DATA,
                      "“bools” & (2,) & 7");
      assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_NAN, &error), MTL_ERROR_INVALID_DATA,
                      "“nan” & (1, 0, 0) & NaN");
      assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_ALIGNMENT, &error),
                      MTL_ERROR_INVALID_DATA, "“nan”");
      assert_refuses (check (tensors, ALL, &error), MTL_ERROR_INVALID_DATA, "2");
      assert_right (check_one (tensors, "bytes", ALL, &error));
      assert_right (check_one (tensors, "nan", MTL_TENSOR_FILE_CHECKS_BOOL, &error));
      assert_refuses (check_one (tensors, "nan", MTL_TENSOR_FILE_CHECKS_NAN, &error),
                      MTL_ERROR_INVALID_DATA, "“nan” & (1, 0, 0) & NaN");
    }
}

/* The first of several faults is reported, whichever thread finds which. */
static void
test_first_fault (TestFolder    *folder,
                  gconstpointer  data)
{
  const gsize size = 40000000;
  g_autofree char *header =
    g_strdup_printf ("{\"a\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[0,%zu]},"
                     "\"b\":{\"dtype\":\"F64\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}}",
                     size / 8, size / 2, size / 16, size / 2, size);
  g_autofree guint8 *bytes = g_malloc0 (size);
  g_autoptr (GFile) file = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;

  memset (bytes + 4 * 4700001, 0xff, 4);
  memset (bytes + 4 * 4700003, 0xff, 4);
  memset (bytes + size - 8, 0xff, 8);
  file = write_safetensors (folder, "file", header, bytes, size);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  for (guint n_threads = 1; n_threads <= 4; n_threads++)
    for (int i = 0; i < 5; i++)
      {
        mtl_set_max_threads (n_threads);
        assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_NAN, &error), MTL_ERROR_INVALID_DATA,
                        "“a” & (4700001,) & NaN");
      }

  mtl_set_max_threads (0);
  assert_refuses (check_one (tensors, "b", MTL_TENSOR_FILE_CHECKS_NAN, &error),
                  MTL_ERROR_INVALID_DATA, "(2499999,) & NaN");
}

/* A change that makes a mapping raise a signal is an error, also if the file is mapped already. */
static void
test_changed (TestFolder    *folder,
              gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_odd (folder);
      g_autoptr (GFile) other = NULL;
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (MtlTensorFile) used = open_file (file, mode);
      g_autoptr (MtlStridedView) view G_GNUC_UNUSED = get_view (used, "bytes");

      assert_right (check (used, MTL_TENSOR_FILE_CHECKS_NONE, &error));
      g_assert_cmpint (truncate (g_file_peek_path (file), 20), ==, 0);
      assert_refuses (check (tensors, 0, &error), MTL_ERROR_INVALID_DATA, "file”");
      assert_refuses (check (used, 0, &error), MTL_ERROR_INVALID_DATA, "file”");
      other = write_three (folder, "file");
      if (mode == MTL_TENSOR_FILE_MODE_MAP && MAPS_NUMBERS)
        assert_refuses (check (used, 0, &error), MTL_ERROR_INVALID_DATA, "file”");
      mtl_tensor_file_close (used);
      assert_closed (check (used, 0, &error));
      assert_closed (check_one (used, "nan", 0, &error));
    }
}

/* Also what the index does not name. */
static void
test_sharded (TestFolder    *folder,
              gconstpointer  data)
{
  static const char index_text[] = "{\"weight_map\":{\"bytes\":\"file\"}}";
  g_autoptr (GFile) shard G_GNUC_UNUSED = write_odd (folder);
  g_autoptr (GFile) file = write_file (folder, "index", index_text, strlen (index_text));
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  assert_right (check (tensors, MTL_TENSOR_FILE_CHECKS_NONE, &error));
  assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_BOOL, &error), MTL_ERROR_INVALID_DATA,
                  "“bools” & (2,)");
  assert_right (check_one (tensors, "bytes", ALL, &error));
}

static const TestMember members[] = {
  { "first.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }", "abcde", 5, FALSE },
  { "second.npy", "{'descr': '>f4', 'fortran_order': True, 'shape': (2,2), }",
    "\0\0\0\0" "\0\0\0\0" "\x7f\xc0\0\0" "\0\0\0\0", 16, TRUE },
  { "third.npy", "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), } ",
    "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\xc0\xff", 16, FALSE },
};

/* Values of either order of bytes and axes, and both parts of complex numbers. */
static void
test_archive (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_npz (folder, "file", members, G_N_ELEMENTS (members));
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

  assert_right (check (tensors, MTL_TENSOR_FILE_CHECKS_NONE, &error));
  assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_NAN, &error), MTL_ERROR_INVALID_DATA,
                  "“second” & (0, 1) & NaN");
  assert_refuses (check_one (tensors, "third", MTL_TENSOR_FILE_CHECKS_NAN, &error),
                  MTL_ERROR_INVALID_DATA, "“third” & (1,) & NaN");
  assert_refuses (check (tensors, MTL_TENSOR_FILE_CHECKS_ALIGNMENT, &error), MTL_ERROR_INVALID_DATA,
                  "“third”");
}

static void
assert_undamaged (MtlTensorFile *tensors)
{
  g_autoptr (MtlStridedView) first = get_view (tensors, "first");
  g_autoptr (MtlStridedView) second = get_view (tensors, "second");
  const guint32 *numbers = mtl_strided_view_get_data (second);

  g_assert_cmpmem (mtl_strided_view_get_data (first), 5, "abcde", 5);
  g_assert_cmphex (numbers[0] | numbers[1] | numbers[3], ==, 0);
  g_assert_cmphex (numbers[2], ==, 0x7fc00000);
}

/* Infinities of each type that has them, next to its largest number. */
static void
test_infinities (TestFolder    *folder,
                 gconstpointer  data)
{
  static const struct
  {
    const char *dtype;
    guint size;
    guint64 largest;
    gboolean has_infinity;
  } cases[] = {
    { "F64", 8, G_GUINT64_CONSTANT (0x7fefffffffffffff), TRUE },
    { "F32", 4, 0x7f7fffff, TRUE },
    { "F16", 2, 0x7bff, TRUE },
    { "BF16", 2, 0x7f7f, TRUE },
    { "F8_E5M2", 1, 0x7b, TRUE },
    { "F8_E4M3", 1, 0x7e, FALSE }, /* then comes NaN */
    { "F8_E5M2FNUZ", 1, 0x7f, FALSE },
    { "F8_E8M0", 1, 0xfe, FALSE },
    { "I32", 4, 0x7f7fffff, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint more = 0; more < 3; more++)
      for (guint is_negative = 0; is_negative < 2; is_negative++)
        {
          const guint size = cases[i].size;
          const guint64 sign = (guint64) is_negative << (8 * size - 1);
          guint64 number = GUINT64_TO_LE ((cases[i].largest + more) | sign);
          g_autofree char *header =
            g_strdup_printf ("{\"x\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,%u]}}",
                             cases[i].dtype, size);
          g_autoptr (GFile) file = write_safetensors (folder, "file", header, &number, size);
          g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

          if (cases[i].has_infinity && more == 1)
            assert_refuses (
                check (tensors, MTL_TENSOR_FILE_CHECKS_INF | MTL_TENSOR_FILE_CHECKS_NAN, &error),
                MTL_ERROR_INVALID_DATA, "(0,)");
          g_assert_true (check (tensors, MTL_TENSOR_FILE_CHECKS_INF, NULL)
                         == !(cases[i].has_infinity && more == 1));
          if (cases[i].has_infinity)
            g_assert_true (check (tensors, MTL_TENSOR_FILE_CHECKS_NAN, NULL) == (more < 2));
        }
}

/* A bit of each byte that the archive's members are, one after the other: there is no
 * archive any more, or its checksum is wrong, or the bit is one that deflate leaves. */
static void
test_archive_damaged (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_npz (folder, "file", members, 2);
  int fd = g_open (g_file_peek_path (file), O_WRONLY, 0);
  g_autofree char *bytes = NULL;
  guint n_by_checksum = 0, n_unused = 0;
  gsize size;

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  for (gsize i = 30 + strlen ("first.npy"); memcmp (bytes + i, "PK\1\2", 4) != 0; i++)
    {
      g_autoptr (MtlTensorFile) tensors = NULL;
      g_autoptr (GError) error = NULL;

      /* Only the place in the second one's own header is believed. */
      if (memcmp (bytes + i, "PK\3\4", 4) == 0)
        i += 30 + strlen ("second.npy");

      g_assert_cmpint (pwrite (fd, &(char) { bytes[i] ^ 1 << i % 8 }, 1, i), ==, 1);
      tensors = mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_MAP, NULL, &error);
      if (tensors != NULL && check (tensors, MTL_TENSOR_FILE_CHECKS_LOADABLE, &error))
        {
          assert_undamaged (tensors);
          n_unused++;
        }
      else
        {
          g_assert_error (error, MTL_ERROR, error->code);
          n_by_checksum += strstr (error->message, "CRC") != NULL;
        }
      g_assert_cmpint (pwrite (fd, bytes + i, 1, i), ==, 1);
    }

  close (fd);
  g_assert_cmpuint (n_by_checksum, >, 5);
  g_assert_cmpuint (n_unused, <=, 1);
}

static void
test_progress (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = write_npz (folder, "file", members, 3);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Outcome outcome = outcome_new (NULL);

  g_assert_true (mtl_tensor_file_check (tensors, 0, NULL, outcome_on_progress, &outcome, &error));
  g_assert_no_error (error);
  g_assert_cmpint (outcome.done, ==, 37);
  g_assert_cmpint (outcome.total, ==, 37);

  outcome = outcome_new (cancellable);
  g_assert_false (mtl_tensor_file_check (tensors, 0, cancellable, outcome_on_progress, &outcome,
                                         &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (outcome.done, ==, 5);
}

static gboolean
check_in_background (MtlTensorFile        *tensors,
                     MtlTensorFileChecks   checks,
                     GCancellable         *cancellable,
                     Outcome              *outcome,
                     GError              **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_tensor_file_check_async (tensors, checks, G_PRIORITY_DEFAULT, cancellable,
                               outcome_on_progress, outcome, outcome_on_freed, outcome_on_ready,
                               outcome);
  result = outcome_wait (outcome);
  return mtl_tensor_file_check_finish (tensors, result, error);
}

static void
test_async (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_odd (folder);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  Outcome outcome = outcome_new (NULL);

  assert_right (check_in_background (tensors, MTL_TENSOR_FILE_CHECKS_NONE, NULL, &outcome, &error));
  g_assert_cmpint (outcome.done, ==, 13);
  outcome = outcome_new (NULL);
  assert_refuses (
      check_in_background (tensors, MTL_TENSOR_FILE_CHECKS_BOOL, NULL, &outcome, &error),
      MTL_ERROR_INVALID_DATA, "“bools”");
}

static void
test_cancelled (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_odd (folder);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFileEntry) entry = mtl_tensor_file_lookup_entry (tensors, "bytes");
  Outcome outcome = outcome_new (NULL);

  g_assert_no_error (error);
  g_assert_true (mtl_tensor_file_entry_check (entry, ALL, cancellable, &error));
  g_assert_no_error (error);

  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_tensor_file_entry_check (entry, ALL, cancellable, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");
  g_assert_false (check_in_background (tensors, 0, cancellable, &outcome, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");
  g_assert_cmpuint (outcome.n_calls, ==, 0);
}

static void
test_nothing (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_safetensors (folder, "file", "{}", NULL, 0);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlTensorFile) bare = g_object_new (MTL_TYPE_TENSOR_FILE, NULL);

  assert_right (check (tensors, ALL, &error));
  assert_right (check (bare, ALL, &error));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/check/requests", test_requests);
  add_folder_test ("/TensorFile/check/first-fault", test_first_fault);
  add_folder_test ("/TensorFile/check/infinities", test_infinities);
  add_folder_test ("/TensorFile/check/changed", test_changed);
  add_folder_test ("/TensorFile/check/sharded", test_sharded);
  add_folder_test ("/TensorFile/check/archive", test_archive);
  add_folder_test ("/TensorFile/check/archive/damaged", test_archive_damaged);
  add_folder_test ("/TensorFile/check/progress", test_progress);
  add_folder_test ("/TensorFile/check/async", test_async);
  add_folder_test ("/TensorFile/check/cancelled", test_cancelled);
  add_folder_test ("/TensorFile/check/nothing", test_nothing);

  return g_test_run ();
}
