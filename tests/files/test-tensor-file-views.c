/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of several tensors at once, some mapped and others read by several threads; how it is
 * watched and cancelled. */

#include "test-tensor-files.h"

#include <sys/mman.h>

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

      g_assert_cmpint (mtl_strided_view_is_read_only (all[0]), ==,
                       mode == MTL_TENSOR_FILE_MODE_MAP);
      assert_elements (all[0], 1, 2, 3);
      assert_elements (all[1], 4, 5, 6, -1);
      assert_elements (all[2]);
      g_assert_cmpint (mtl_strided_view_equal (all[1], some[1]), ==,
                       mode == MTL_TENSOR_FILE_MODE_MAP && MAPS_NUMBERS);
      free_views (get_views (tensors, "x*", 0), 0);
      free_views (all, 3);
      free_views (some, 2);
    }
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
      Outcome outcome = outcome_new (NULL);
      gsize n_views;
      MtlStridedView **views = mtl_tensor_file_load_views (tensors, NULL, NULL,
                                                           outcome_on_progress, &outcome,
                                                           &n_views, &error);

      g_assert_no_error (error);
      assert_large (views);
      free_views (views, n_views);
      if (mode == MTL_TENSOR_FILE_MODE_MAP)
        {
          g_assert_cmpuint (outcome.n_calls, ==, 0);
          continue;
        }
      g_assert_cmpuint (outcome.n_calls, >, 1);
      g_assert_cmpint (outcome.done, ==, get_large_size ());
      g_assert_cmpint (outcome.total, ==, get_large_size ());
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
      Outcome outcome = outcome_new (cancellable);
      gsize n_views = 77;

      if (mode == MTL_TENSOR_FILE_MODE_MAP)
        g_cancellable_cancel (cancellable);
      g_assert_null (mtl_tensor_file_load_views (tensors, NULL, cancellable, outcome_on_progress,
                                                 &outcome, &n_views, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (n_views, ==, 0);
      if (mode == MTL_TENSOR_FILE_MODE_READ)
        g_assert_cmpuint (outcome.n_calls, ==, 1);
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
      assert_fails (mtl_tensor_file_load_views (tensors, NULL, NULL, NULL, NULL, &n_views, &error),
                    MTL_ERROR_INVALID_DATA, "file”");
      g_assert_cmpuint (n_views, ==, 0);
      mtl_tensor_file_close (tensors);
      assert_closed (mtl_tensor_file_load_views (tensors, "x", NULL, NULL, NULL, &n_views, &error));
    }
}

/* Cuts the file while threads read it; the message is the same, whichever comes first. */
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
      g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
      g_autoptr (GError) error = NULL;
      gsize n_views;

      mtl_set_max_threads (n_threads);
      g_assert_null (mtl_tensor_file_load_views (tensors, NULL, NULL, cut, file, &n_views, &error));
      g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
    }

  mtl_set_max_threads (0);
}

static MtlStridedView **
get_views_in_background (MtlTensorFile  *tensors,
                         GCancellable   *cancellable,
                         Outcome        *outcome,
                         gsize          *n_views,
                         GError        **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_tensor_file_load_views_async (tensors, NULL, G_PRIORITY_DEFAULT, cancellable,
                                    outcome_on_progress, outcome, outcome_on_freed,
                                    outcome_on_ready, outcome);
  result = outcome_wait (outcome);
  return mtl_tensor_file_load_views_finish (tensors, result, n_views, error);
}

static void
test_one_async (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = write_large (folder, "file");

  for (MODES (mode))
    {
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (tensors), 0);
      const char *name = mtl_tensor_file_entry_get_name (entry);
      g_autoptr (MtlStridedView) expected = get_view (tensors, name);
      g_autoptr (MtlStridedView) by_name = NULL, by_entry = NULL;
      g_autoptr (GAsyncResult) named = NULL, of_entry = NULL, checked = NULL;
      g_autoptr (GError) error = NULL;
      Outcome outcome = outcome_new_without_progress ();

      mtl_tensor_file_load_view_async (tensors, name, G_PRIORITY_DEFAULT, NULL, outcome_on_ready,
                                       &outcome);
      named = outcome_wait (&outcome);
      by_name = mtl_tensor_file_load_view_finish (tensors, named, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_strided_view_array_equal (by_name, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));

      outcome = outcome_new_without_progress ();
      mtl_tensor_file_entry_load_view_async (entry, G_PRIORITY_DEFAULT, NULL, outcome_on_ready,
                                             &outcome);
      of_entry = outcome_wait (&outcome);
      by_entry = mtl_tensor_file_entry_load_view_finish (entry, of_entry, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_strided_view_array_equal (by_entry, expected, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));

      outcome = outcome_new_without_progress ();
      mtl_tensor_file_entry_check_async (entry, MTL_TENSOR_FILE_CHECKS_NONE, G_PRIORITY_DEFAULT,
                                         NULL, outcome_on_ready, &outcome);
      checked = outcome_wait (&outcome);
      g_assert_true (mtl_tensor_file_entry_check_finish (entry, checked, &error));
      g_assert_no_error (error);
    }
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
      Outcome outcome = outcome_new (NULL);
      gsize n_views = 77;
      MtlStridedView **views = get_views_in_background (tensors, cancellable, &outcome, &n_views,
                                                        &error);

      g_assert_no_error (error);
      assert_large (views);
      free_views (views, n_views);
      if (mode == MTL_TENSOR_FILE_MODE_READ)
        g_assert_cmpint (outcome.done, ==, get_large_size ());

      g_cancellable_cancel (cancellable);
      outcome = outcome_new (NULL);
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
      turned[2] = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT8, DIMS (5),
                                              MTL_STORAGE_MODE_DEFAULT, &error);
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
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  int fd = g_open (g_file_peek_path (file), O_RDONLY, 0);
  gconstpointer bytes;
  gsize n_before;

  g_assert_cmpint (fsync (fd), ==, 0);
  g_assert_cmpint (posix_fadvise (fd, 0, 0, POSIX_FADV_DONTNEED), ==, 0);
  close (fd);
  if (skip_where_advice_is_ignored ())
    return;

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

/* The caller asks neither for the result, nor how far it is. */
static void
test_async_forgotten (TestFolder    *folder,
                      gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  MtlTensorFile *tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  Outcome outcome = outcome_new (NULL);
  g_autoptr (GAsyncResult) result = NULL;
  GWeakRef weak;

  mtl_tensor_file_load_views_async (tensors, NULL, G_PRIORITY_DEFAULT, NULL, NULL, &outcome,
                                    outcome_on_freed, outcome_on_ready, &outcome);
  result = outcome_wait (&outcome);
  g_weak_ref_init (&weak, tensors);
  g_clear_object (&result);
  g_object_unref (tensors);
  await_end (&weak);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/views/order", test_order);
  add_folder_test ("/TensorFile/views/progress", test_progress);
  add_folder_test ("/TensorFile/views/cancelled", test_cancelled);
  add_folder_test ("/TensorFile/views/changed", test_changed);
  add_folder_test ("/TensorFile/views/cut-meanwhile", test_cut_meanwhile);
  add_folder_test ("/TensorFile/views/async", test_async);
  add_folder_test ("/TensorFile/views/async/one", test_one_async);
  add_folder_test ("/TensorFile/views/async/forgotten", test_async_forgotten);
  add_folder_test ("/TensorFile/views/prefetch", test_prefetch);
#ifdef __linux__
  add_folder_test ("/TensorFile/views/prefetch/reads", test_prefetch_reads);
#endif

  return g_test_run ();
}
