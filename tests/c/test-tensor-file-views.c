/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of several tensors at once: what is mapped, what is read by several threads, and
 * what is inflated; how it is watched and cancelled. */

#include "test-tensor-files.h"

#include <sys/mman.h>

#define MODES(mode) \
  MtlFileMode mode = MTL_FILE_MODE_MAP; mode <= MTL_FILE_MODE_READ; mode++

static MtlStridedView **
get_views (MtlTensorFile *tensors,
           const char    *pattern,
           gsize          n_expected)
{
  g_autoptr (GError) error = NULL;
  gsize n_views = 77;
  MtlStridedView **views = mtl_tensor_file_get_views (tensors, pattern, NULL, NULL, NULL, &n_views,
                                                      &error);

  g_assert_no_error (error);
  g_assert_nonnull (views);
  g_assert_cmpuint (n_views, ==, n_expected);
  return views;
}

static void
test_order (TestFolder    *folder,
            gconstpointer  data)
{
  for (MODES (mode))
    {
      g_autoptr (GFile) file = write_three (folder, "file");
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      MtlStridedView **all = get_views (tensors, NULL, 3);
      MtlStridedView **some = get_views (tensors, "?", 2);

      g_assert_cmpint (mtl_strided_view_is_read_only (all[0]), ==, mode == MTL_FILE_MODE_MAP);
      assert_elements (all[0], 1, 2, 3);
      assert_elements (all[1], 4, 5, 6, -1);
      assert_elements (all[2]);
      g_assert_cmpint (mtl_strided_view_is_identical (all[1], some[1]), ==,
                       mode == MTL_FILE_MODE_MAP);
      free_views (get_views (tensors, "x*", 0), 0);
      free_views (all, 3);
      free_views (some, 2);
    }
}

/* Tensors of sizes that have nothing to do with those of pieces. */
#define N_LARGE 5
static const gsize large_sizes[N_LARGE] = { 3, 9999999, 20000001, 16, 1234567 };

static GFile *
write_large (TestFolder *folder,
             const char *name)
{
  g_autoptr (GString) header = g_string_new ("{");
  g_autofree guint8 *bytes = NULL;
  gsize size = 0;

  for (gsize i = 0; i < N_LARGE; size += large_sizes[i++])
    g_string_append_printf (header, "%s\"%zu\":{\"dtype\":\"U8\",\"shape\":[%zu],"
                            "\"data_offsets\":[%zu,%zu]}", i > 0 ? "," : "", i, large_sizes[i],
                            size, size + large_sizes[i]);
  g_string_append_c (header, '}');

  bytes = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    bytes[i] = get_pattern_byte (i);
  return write_safetensors (folder, name, header->str, bytes, size);
}

static gsize
get_large_size (void)
{
  gsize size = 0;

  for (gsize i = 0; i < N_LARGE; i++)
    size += large_sizes[i];
  return size;
}

static void
assert_large (MtlStridedView **views)
{
  gsize begin = 0;

  for (gsize i = 0; i < N_LARGE; begin += large_sizes[i++])
    assert_pattern (mtl_strided_view_get_data (views[i]), begin, large_sizes[i]);
}

static void
test_large (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");

  for (MODES (mode))
    for (guint n_threads = 1; n_threads <= 4; n_threads++)
      {
        g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
        MtlStridedView **views;

        mtl_set_max_threads (n_threads);
        views = get_views (tensors, NULL, N_LARGE);
        assert_large (views);
        free_views (views, N_LARGE);
      }

  mtl_set_max_threads (0);
}

/* What a callback is told. */
typedef struct
{
  goffset done;
  goffset total;
  guint n_calls;
  GThread *thread;
  GCancellable *cancelled; /* at the first call */
} Told;

static void
tell (goffset  done,
      goffset  total,
      gpointer data)
{
  Told *told = data;

  g_assert_cmpint (done, >=, told->done);
  g_assert_cmpint (done, <=, total);
  g_assert_true (g_thread_self () == told->thread);
  told->done = done;
  told->total = total;
  told->n_calls++;
  if (told->cancelled != NULL)
    g_cancellable_cancel (told->cancelled);
}

static void
test_progress (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");

  /* More of them might have done all before the first call. */
  mtl_set_max_threads (1);
  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GError) error = NULL;
      Told told = { .thread = g_thread_self () };
      gsize n_views;
      MtlStridedView **views = mtl_tensor_file_get_views (tensors, NULL, NULL, tell, &told,
                                                          &n_views, &error);

      g_assert_no_error (error);
      assert_large (views);
      free_views (views, n_views);
      if (mode == MTL_FILE_MODE_MAP)
        {
          g_assert_cmpuint (told.n_calls, ==, 0);
          continue;
        }
      g_assert_cmpuint (told.n_calls, >, 1);
      g_assert_cmpint (told.done, ==, get_large_size ());
      g_assert_cmpint (told.total, ==, get_large_size ());
    }

  mtl_set_max_threads (0);
}

static void
test_cancelled (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");

  mtl_set_max_threads (1);
  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      Told told = { .thread = g_thread_self (), .cancelled = cancellable };
      gsize n_views = 77;

      if (mode == MTL_FILE_MODE_MAP)
        g_cancellable_cancel (cancellable);
      g_assert_null (mtl_tensor_file_get_views (tensors, NULL, cancellable, tell, &told, &n_views,
                                                &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (n_views, ==, 0);
      if (mode == MTL_FILE_MODE_READ)
        g_assert_cmpuint (told.n_calls, ==, 1);
    }

  mtl_set_max_threads (0);
}

static void
test_changed (TestFolder    *folder,
              gconstpointer  data)
{
  for (MODES (mode))
    {
      g_autoptr (GFile) file = write_large (folder, "file");
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      gsize n_views = 77;

      g_assert_cmpint (truncate (g_file_peek_path (file), 10000000), ==, 0);
      assert_fails (mtl_tensor_file_get_views (tensors, NULL, NULL, NULL, NULL, &n_views, &error),
                    MTL_ERROR_INVALID_DATA, "file” was changed");
      g_assert_cmpuint (n_views, ==, 0);
      mtl_tensor_file_close (tensors);
      assert_closed (mtl_tensor_file_get_views (tensors, "x", NULL, NULL, NULL, &n_views, &error));
    }
}

/* By threads, and while it is being read; whoever comes first, the message is the same. */
static void
cut (goffset  done,
     goffset  total,
     gpointer file)
{
  g_assert_cmpint (truncate (g_file_peek_path (file), 11000000), ==, 0);
}

static void
test_cut_meanwhile (TestFolder    *folder,
                    gconstpointer  data)
{
  for (guint n_threads = 1; n_threads <= 3; n_threads += 2)
    {
      g_autoptr (GFile) file = write_large (folder, "file");
      g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_FILE_MODE_READ);
      g_autoptr (GError) error = NULL;
      gsize n_views;

      mtl_set_max_threads (n_threads);
      g_assert_null (mtl_tensor_file_get_views (tensors, NULL, NULL, cut, file, &n_views, &error));
      g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
    }

  mtl_set_max_threads (0);
}

/* Two that are deflated, one of them in the other order of bytes; one that is stored. */
static GFile *
write_archive (TestFolder *folder,
               gsize       n_zeros)
{
  static const guint8 stored[] = { 1, 0, 2, 0 }, big_endian[] = { 0, 0, 1, 2, 0, 0, 0, 3 };
  g_autofree guint8 *zeros = g_malloc0 (n_zeros);
  g_autofree char *dict =
    g_strdup_printf ("{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }\n", n_zeros);
  const TestMember members[] = {
    { "zeros.npy", dict, zeros, n_zeros, TRUE },
    { "stored.npy", "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", stored, 4, FALSE },
    { "big", "{'descr': '>i4', 'fortran_order': True, 'shape': (1,2,), }", big_endian, 8, TRUE },
    { "none.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3,0), }", NULL, 0, TRUE },
  };

  zeros[n_zeros - 1] = 9;
  return write_npz (folder, "file", members, G_N_ELEMENTS (members));
}

static void
test_archive (TestFolder    *folder,
              gconstpointer  data)
{
  static const char *const expected[] = { "zeros", "stored", "big", "none", NULL };

  for (MODES (mode))
    {
      g_autoptr (GFile) file = write_archive (folder, 3000000);
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autofree const char **names = mtl_tensor_file_get_names (tensors);
      MtlStridedView **views = get_views (tensors, NULL, 4);
      const guint8 *zeros = mtl_strided_view_get_data (views[0]);

      g_assert_cmpstrv ((char **) names, (char **) expected);
      g_assert_cmpint (mtl_tensor_file_get_format (tensors), ==, MTL_TENSOR_FILE_FORMAT_NPZ);
      for (gsize i = 0; i < 2999999; i++)
        g_assert_cmpuint (zeros[i], ==, 0);
      g_assert_cmpuint (zeros[2999999], ==, 9);
      assert_elements (views[1], 1, 2);
      assert_elements (views[2], 258, 3);
      assert_view_shape (views[3], 3, 0);
      g_assert_cmpint (mtl_strided_view_is_read_only (views[1]), ==, mode == MTL_FILE_MODE_MAP);
      g_assert_false (mtl_strided_view_is_read_only (views[0]));
      assert_tensor (tensors, "big", 258, 3);
      free_views (views, 4);
    }
}

/* Of one file, whatever has its name now: some tensors of it are read, after others were
 * mapped. */
static void
test_archive_replaced (TestFolder    *folder,
                       gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 1000);
  guint n_open = count_descriptors ();
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_FILE_MODE_MAP);

  assert_tensor (tensors, "stored", 1, 2);
  g_assert_cmpint (g_unlink (g_file_peek_path (file)), ==, 0);
  assert_tensor (tensors, "big", 258, 3);
  mtl_tensor_file_close (tensors);
  g_assert_cmpuint (count_descriptors (), ==, n_open);
}

static void
test_archive_cancelled (TestFolder    *folder,
                        gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 10000000);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_FILE_MODE_READ);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Told told = { .thread = g_thread_self (), .cancelled = cancellable };
  gsize n_views;

  /* What is stored comes first, and is reported. */
  g_assert_null (mtl_tensor_file_get_views (tensors, NULL, cancellable, tell, &told, &n_views,
                                            &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (told.done, ==, 4);
  g_assert_cmpint (told.total, ==, 10000000 + 4 + 8);
}

/* Each byte of a small archive, one after the other: it opens and gives views, or there
 * is an error that names the file. */
static void
test_archive_damaged (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 100);
  int fd = g_open (g_file_peek_path (file), O_WRONLY, 0);
  g_autofree char *bytes = NULL;
  guint n_refused = 0;
  gsize size;

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  for (gsize i = 0; i < size; i++)
    {
      g_autoptr (MtlTensorFile) tensors = NULL;
      g_autoptr (GError) error = NULL;
      MtlStridedView **views = NULL;
      gsize n_views = 0;

      g_assert_cmpint (pwrite (fd, &(char) { bytes[i] ^ 0x55 }, 1, i), ==, 1);
      tensors = mtl_tensor_file_open (file, MTL_FILE_MODE_MAP, NULL, NULL, &error);
      if (tensors != NULL)
        views = mtl_tensor_file_get_views (tensors, NULL, NULL, NULL, NULL, &n_views, &error);
      if (views == NULL)
        {
          g_assert_nonnull (strstr (error->message, "file”"));
          n_refused++;
        }
      free_views (views, n_views);
      g_assert_cmpint (pwrite (fd, bytes + i, 1, i), ==, 1);
    }

  close (fd);
  g_assert_cmpuint (n_refused, >, 100);
}

/* That what is deflated is not as it should be is seen when it is inflated. */
static void
test_archive_wrong (TestFolder    *folder,
                    gconstpointer  data)
{
  const char dict[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (100000,), }";
  g_autofree guint8 *pattern = g_malloc (100000);
  TestMember member = { "a\n.npy", dict, pattern, 99000, TRUE, 1000 };
  g_autoptr (GFile) file = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autofree char *bytes = NULL;
  gsize size;

  for (gsize i = 0; i < 100000; i++)
    pattern[i] = get_pattern_byte (i) ^ i >> 11;
  file = write_npz (folder, "file", &member, 1);
  tensors = open_file (file, MTL_FILE_MODE_MAP);
  assert_fails (mtl_tensor_file_get_view (tensors, "a\n", &error), MTL_ERROR_INVALID_DATA,
                "Tensor “a\\n”: What is deflated before byte");
  assert_fails (mtl_tensor_file_get_view (tensors, "a\n", &error), MTL_ERROR_INVALID_DATA,
                "file” ends 1000 bytes too early");

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  memset (bytes + size / 2, 0xff, 64);
  g_object_unref (tensors);
  g_object_unref (file);
  file = write_file (folder, "file", bytes, size);
  tensors = open_file (file, MTL_FILE_MODE_READ);
  assert_fails (mtl_tensor_file_get_view (tensors, "a\n", &error), MTL_ERROR_INVALID_DATA,
                "Tensor “a\\n”: ");
}

/* The one that the directory has is another one. */
static void
test_archive_crc (TestFolder    *folder,
                  gconstpointer  data)
{
  const TestMember member = {
    "a", "{'descr': '|u1', 'fortran_order': False, 'shape': (16,), }", "abcdefghijklmnop", 16, TRUE
  };
  g_autoptr (GFile) file = write_npz (folder, "file", &member, 1);
  g_autofree char *bytes = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (g_file_peek_path (file), &bytes, &size, NULL));
  bytes[size - 22 - 46 - 1 + 16] ^= 1;
  g_object_unref (file);
  file = write_file (folder, "file", bytes, size);
  tensors = open_file (file, MTL_FILE_MODE_MAP);
  assert_fails (mtl_tensor_file_get_view (tensors, "a", &error), MTL_ERROR_INVALID_DATA,
                "file” are damaged: their CRC is ");
}

/* What an asynchronous call came to. */
typedef struct
{
  GAsyncResult *result;
  Told told;
  guint n_freed;
} Outcome;

static void
keep_result (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  Outcome *outcome = data;

  g_assert_true (g_thread_self () == outcome->told.thread);
  outcome->result = g_object_ref (result);
}

static void
tell_outcome (goffset  done,
              goffset  total,
              gpointer data)
{
  Outcome *outcome = data;

  g_assert_null (outcome->result);
  tell (done, total, &outcome->told);
}

static void
count_freed (gpointer data)
{
  ((Outcome *) data)->n_freed++;
}

static MtlStridedView **
get_views_in_background (MtlTensorFile  *tensors,
                         GCancellable   *cancellable,
                         Outcome        *outcome,
                         gsize          *n_views,
                         GError        **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_tensor_file_get_views_async (tensors, NULL, cancellable, tell_outcome, outcome, count_freed,
                                   keep_result, outcome);
  while (outcome->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (outcome->n_freed, ==, 1);
  result = g_steal_pointer (&outcome->result);
  return mtl_tensor_file_get_views_finish (tensors, result, n_views, error);
}

static void
test_async (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      Outcome outcome = { .told.thread = g_thread_self () };
      gsize n_views = 77;
      MtlStridedView **views = get_views_in_background (tensors, cancellable, &outcome, &n_views,
                                                        &error);

      g_assert_no_error (error);
      assert_large (views);
      free_views (views, n_views);
      if (mode == MTL_FILE_MODE_READ)
        g_assert_cmpint (outcome.told.done, ==, get_large_size ());

      g_cancellable_cancel (cancellable);
      outcome.n_freed = 0;
      outcome.told = (Told) { .thread = g_thread_self () };
      g_assert_null (get_views_in_background (tensors, cancellable, &outcome, &n_views, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (n_views, ==, 0);
    }
}

static void
test_prefetch (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (GError) error = NULL;
      MtlStridedView **views = get_views (tensors, NULL, N_LARGE);
      MtlStridedView *turned[3];

      g_assert_true (mtl_tensor_file_prefetch (tensors, views, N_LARGE, &error));
      g_assert_no_error (error);
      assert_large (views);
      g_assert_true (mtl_tensor_file_prefetch (tensors, NULL, 0, &error));

      /* Any views, also of nothing, and of what a closed file had. */
      mtl_tensor_file_close (tensors);
      turned[0] = mtl_strided_view_flip (views[1], 0, &error);
      turned[1] = mtl_strided_view_narrow (views[0], 0, 1, 0, 1, &error);
      turned[2] = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT8, DIMS (5), &error);
      g_assert_no_error (error);
      g_assert_true (mtl_tensor_file_prefetch (tensors, turned, 3, &error));
      g_assert_no_error (error);
      free_views (views, N_LARGE);
      for (gsize i = 0; i < G_N_ELEMENTS (turned); i++)
        g_object_unref (turned[i]);
    }
}

#ifdef __linux__

static gsize
count_resident_pages (gconstpointer bytes,
                      gsize         size)
{
  gsize page_size = sysconf (_SC_PAGESIZE), n_pages = size / page_size, n = 0;
  g_autofree guint8 *resident = g_malloc (n_pages);
  guintptr begin = ((guintptr) bytes + page_size - 1) / page_size * page_size;

  g_assert_cmpint (mincore ((gpointer) begin, (n_pages - 1) * page_size, resident), ==, 0);
  for (gsize i = 0; i < n_pages - 1; i++)
    n += resident[i] & 1;
  return n;
}

/* A file that the system has not in memory comes there, without being touched. */
static void
test_prefetch_reads (TestFolder    *folder,
                     gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_FILE_MODE_MAP);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  int fd = g_open (g_file_peek_path (file), O_RDONLY, 0);
  gconstpointer bytes;
  gsize n_before;

  g_assert_cmpint (fsync (fd), ==, 0);
  g_assert_cmpint (posix_fadvise (fd, 0, 0, POSIX_FADV_DONTNEED), ==, 0);
  close (fd);
  view = get_view (tensors, "2");
  bytes = mtl_strided_view_get_data (view);
  n_before = count_resident_pages (bytes, large_sizes[2]);
  if (n_before > 1000)
    {
      g_test_skip ("This file system keeps files in memory");
      return;
    }

  g_assert_true (mtl_tensor_file_prefetch (tensors, &view, 1, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 1000 && count_resident_pages (bytes, large_sizes[2]) <= n_before; i++)
    g_usleep (1000);
  g_assert_cmpuint (count_resident_pages (bytes, large_sizes[2]), >, n_before);
}

#endif

/* The thread that did the work may let go of it last. */
static void
await_end (GWeakRef *weak)
{
  GObject *object;

  while ((object = g_weak_ref_get (weak)) != NULL)
    {
      g_object_unref (object);
      g_thread_yield ();
    }
  g_weak_ref_clear (weak);
}

/* Nobody asks for the result. */
static void
test_async_forgotten (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  MtlTensorFile *tensors = open_file (file, MTL_FILE_MODE_READ);
  Outcome outcome = { .told.thread = g_thread_self () };
  GWeakRef weak;

  mtl_tensor_file_get_views_async (tensors, NULL, NULL, NULL, NULL, NULL, keep_result, &outcome);
  while (outcome.result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_weak_ref_init (&weak, tensors);
  g_object_unref (outcome.result);
  g_object_unref (tensors);
  await_end (&weak);
}

/* Each finds the file open or closed. */
typedef struct
{
  MtlTensorFile *tensors;
  const char *names[3];
} Race;

static void
assert_only_closed (gconstpointer  views,
                    GError        *error)
{
  if (views == NULL)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED);
  g_clear_error (&error);
}

static gpointer
race (gpointer data)
{
  const Race *self = data;

  for (int i = 0; i < 20; i++)
    {
      GError *error = NULL;
      gsize n_views = 0;
      MtlStridedView **views = mtl_tensor_file_get_views (self->tensors, NULL, NULL, NULL, NULL,
                                                          &n_views, &error);

      assert_only_closed (views, error);
      free_views (views, n_views);
      for (gsize j = 0; j < G_N_ELEMENTS (self->names) && self->names[j] != NULL; j++)
        {
          g_autoptr (MtlStridedView) view = NULL;

          error = NULL;
          view = mtl_tensor_file_get_view (self->tensors, self->names[j], &error);
          assert_only_closed (view, error);
        }
    }

  return NULL;
}

static void
race_with_close (GFile      *file,
                 const Race *template)
{
  guint n_open = count_descriptors ();

  for (MODES (mode))
    for (int round = 0; round < 10; round++)
      {
        g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
        Race self = *template;
        GThread *threads[3];

        self.tensors = tensors;
        for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
          threads[i] = g_thread_new ("race", race, &self);
        for (int i = 0; i < round; i++)
          race (&(Race) { .tensors = tensors });
        mtl_tensor_file_close (tensors);
        for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
          g_thread_join (threads[i]);
        g_assert_cmpuint (count_descriptors (), ==, n_open);
      }
}

static void
test_race (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (GFile) plain = write_three (folder, "plain");
  g_autoptr (GFile) archive = write_archive (folder, 1000);

  race_with_close (plain, &(const Race) { .names = { "a", "b", "none" } });
  race_with_close (archive, &(const Race) { .names = { "zeros", "stored", "big" } });
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/views/order", test_order);
  add_folder_test ("/TensorFile/views/large", test_large);
  add_folder_test ("/TensorFile/views/progress", test_progress);
  add_folder_test ("/TensorFile/views/cancelled", test_cancelled);
  add_folder_test ("/TensorFile/views/changed", test_changed);
  add_folder_test ("/TensorFile/views/cut-meanwhile", test_cut_meanwhile);
  add_folder_test ("/TensorFile/views/archive", test_archive);
  add_folder_test ("/TensorFile/views/archive/replaced", test_archive_replaced);
  add_folder_test ("/TensorFile/views/archive/cancelled", test_archive_cancelled);
  add_folder_test ("/TensorFile/views/archive/damaged", test_archive_damaged);
  add_folder_test ("/TensorFile/views/archive/wrong", test_archive_wrong);
  add_folder_test ("/TensorFile/views/archive/crc", test_archive_crc);
  add_folder_test ("/TensorFile/views/async", test_async);
  add_folder_test ("/TensorFile/views/async/forgotten", test_async_forgotten);
  add_folder_test ("/TensorFile/views/prefetch", test_prefetch);
#ifdef __linux__
  add_folder_test ("/TensorFile/views/prefetch/reads", test_prefetch_reads);
#endif
  add_folder_test ("/TensorFile/views/race", test_race);

  return g_test_run ();
}
