/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that several threads use at once, with and without knowing of each other. */

#include "test-tensor-files.h"

static gpointer
get_in_thread (gpointer tensors)
{
  for (int i = 0; i < 200; i++)
    {
      assert_tensor (tensors, "a", 1, 2, 3);
      assert_tensor (tensors, "b", 4, 5, 6, -1);
    }
  return NULL;
}

static void
test_threads (TestFolder    *folder,
              gconstpointer  data)
{
  for (MtlTensorFileMode mode = MTL_TENSOR_FILE_MODE_MAP; mode <= MTL_TENSOR_FILE_MODE_READ; mode++)
    {
      g_autoptr (GFile) file = write_three (folder, "file");
      g_autoptr (MtlTensorFile) tensors = open_file (file, mode);
      GThread *threads[4];

      for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new ("views", get_in_thread, tensors);
      for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
        g_thread_join (threads[i]);
    }
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
      MtlStridedView **views = mtl_tensor_file_load_views (self->tensors, NULL, NULL, NULL, NULL,
                                                           &n_views, &error);

      assert_only_closed (views, error);
      free_views (views, n_views);
      for (gsize j = 0; j < G_N_ELEMENTS (self->names) && self->names[j] != NULL; j++)
        {
          g_autoptr (MtlStridedView) view = NULL;

          error = NULL;
          view = mtl_tensor_file_load_view (self->tensors, self->names[j], NULL, &error);
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
test_close (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (GFile) plain = write_three (folder, "plain");
  g_autoptr (GFile) archive = write_archive (folder, 1000);

  race_with_close (plain, &(const Race) { .names = { "a", "b", "none" } });
  race_with_close (archive, &(const Race) { .names = { "zeros", "stored", "big" } });
}

static gpointer
check_in_thread (gpointer tensors)
{
  for (int i = 0; i < 20; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (mtl_tensor_file_check (tensors, MTL_TENSOR_FILE_CHECKS_NAN, NULL, NULL, NULL,
                                            &error));
      g_assert_no_error (error);
    }
  return NULL;
}

static void
test_check (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = write_archive (folder, 1000);
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  GThread *threads[4];

  /* While it is mapped, and its descriptor would be closed. */
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("check", check_in_thread, tensors);
  assert_tensor (tensors, "stored", 1, 2);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

/* One lets go of an entry while another one gets it. */
static gpointer
get_entries_in_thread (gpointer tensors)
{
  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (tensors, i % 3);
      g_autoptr (MtlTensorFileEntry) same = g_list_model_get_item (tensors, i % 3);
      const char *name = mtl_tensor_file_entry_get_name (entry);

      if (g_strcmp0 (name, (const char *[]) { "a", "b", "none" }[i % 3]) != 0)
        g_error ("Entry %u is %s", i % 3, name);
      g_assert_cmpstr (mtl_tensor_file_entry_get_name (same), ==, name);
    }
  return NULL;
}

static void
test_entries (TestFolder    *folder,
              gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  MtlTensorFile *tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  GThread *threads[3];

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("entries", get_entries_in_thread, tensors);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  g_assert_finalize_object (tensors);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFile/threads/views", test_threads);
  add_folder_test ("/TensorFile/threads/pieces", test_large);
  add_folder_test ("/TensorFile/threads/check", test_check);
  add_folder_test ("/TensorFile/threads/close", test_close);
  add_folder_test ("/TensorFile/threads/entries", test_entries);

  return g_test_run ();
}
