/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of tensors come to their places, or do not. */

#include "test-tensor-file-builders.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define N_KILLS 50
#define N_ELEMENTS (5 << 20) /* elements, of more pieces than one */

static MtlStridedView *
new_full (double value,
          gint64 n_elements)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_filled (NULL, MTL_DTYPE_FLOAT32,
                                                      DIMS (2, n_elements / 2), value,
                                                      MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  return view;
}

/* All elements of its tensors have one value. */
static MtlTensorFileBuilder *
new_of_value (double value,
              gint64 n_elements)
{
  MtlTensorFileBuilder *builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) view = new_full (value, n_elements);
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (view);

  add (builder, "straight", view);
  add (builder, "turned", turned);
  return builder;
}

static double
read_value (GFile *file)
{
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  g_autoptr (MtlStridedView) straight = get_view (tensors, "straight");
  g_autoptr (MtlStridedView) turned = get_view (tensors, "turned");
  const float *data[] = { mtl_strided_view_get_data (straight),
                          mtl_strided_view_get_data (turned) };

  for (guint i = 0; i < 2; i++)
    for (gint64 j = 0; j < mtl_strided_view_get_volume (straight); j++)
      if (data[i][j] != data[0][0])
        g_error ("Element %" G_GINT64_FORMAT " is %g beside %g", j, data[i][j], data[0][0]);
  return data[0][0];
}

/* Each time there is more. */
static void
on_progress (goffset  done,
             goffset  total,
             gpointer data)
{
  g_assert_cmpint (done, >, ((Outcome *) data)->done);
  outcome_on_progress (done, total, data);
}

static goffset
get_size (GFile *file)
{
  GStatBuf info;

  g_assert_cmpint (g_stat (g_file_peek_path (file), &info), ==, 0);
  return info.st_size;
}

static void
test_progress (TestFolder    *folder,
               gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = new_of_value (1, N_ELEMENTS);
  g_autoptr (GError) error = NULL;
  Outcome outcome = outcome_new (NULL);

  g_assert_true (mtl_tensor_file_builder_write (builder, file, NULL, on_progress, &outcome,
                                                &error));
  g_assert_no_error (error);
  g_assert_cmpint (outcome.done, ==, get_size (file));
  g_assert_cmpint (outcome.total, ==, get_size (file));
  g_assert_cmpuint (outcome.n_calls, >=, get_size (file) / (4 << 20));
}

static void
test_cancelled (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (GFile) index = get_file (folder, "m.index.json");
  g_autoptr (MtlTensorFileBuilder) old = new_of_value (1, 100);
  g_autoptr (MtlTensorFileBuilder) builder = new_of_value (2, N_ELEMENTS);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  Outcome outcome = outcome_new (cancellable);

  outcome.cancelled_at = 0.5;
  write_tensors (old, file);
  g_assert_false (mtl_tensor_file_builder_write (builder, file, cancellable, on_progress,
                                                 &outcome, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");
  g_assert_cmpint (outcome.done, <, outcome.total);

  /* The call is cancelled before it begins. */
  g_assert_false (mtl_tensor_file_builder_write (builder, file, cancellable, NULL, NULL, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");

  outcome.done = 0;
  g_cancellable_reset (cancellable);
  g_assert_false (mtl_tensor_file_builder_write_shards (builder, index, 1, cancellable,
                                                        on_progress, &outcome, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");

  outcome = outcome_new (NULL);
  mtl_tensor_file_builder_write_shards_async (builder, index, 1, G_PRIORITY_DEFAULT, cancellable,
                                              on_progress, &outcome, outcome_on_freed,
                                              outcome_on_ready, &outcome);
  result = outcome_wait (&outcome);
  g_assert_false (mtl_tensor_file_builder_write_shards_finish (builder, result, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");
  g_assert_cmpuint (outcome.n_calls, ==, 0);

  g_assert_cmpfloat (read_value (file), ==, 1);
  g_assert_cmpuint (count_names (folder), ==, 1);
}

static void
test_async (TestFolder    *folder,
            gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  MtlTensorFileBuilder *builder = new_of_value (1, N_ELEMENTS);
  g_autoptr (MtlStridedView) later = new_bytes (3);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  Outcome outcome = outcome_new (NULL);

  set_metadata (builder, "format", "pt");
  mtl_tensor_file_builder_write_async (builder, file, G_PRIORITY_DEFAULT, NULL, on_progress,
                                       &outcome, outcome_on_freed, outcome_on_ready, &outcome);
  /* It is written as it was. */
  add (builder, "later", later);
  result = outcome_wait (&outcome);
  g_assert_true (mtl_tensor_file_builder_write_finish (builder, result, &error));
  g_assert_no_error (error);
  g_assert_cmpint (outcome.done, ==, get_size (file));
  g_assert_cmpfloat (read_value (file), ==, 1);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 2);
  g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "format"), ==, "pt");

  g_cancellable_cancel (cancellable);
  g_clear_object (&result);
  outcome = outcome_new (NULL);
  mtl_tensor_file_builder_write_async (builder, file, G_PRIORITY_DEFAULT, cancellable, on_progress,
                                       &outcome, outcome_on_freed, outcome_on_ready, &outcome);
  result = outcome_wait (&outcome);
  g_assert_false (mtl_tensor_file_builder_write_finish (builder, result, &error));
  assert_system_failed (error, G_IO_ERROR_CANCELLED, "");
  g_assert_cmpfloat (read_value (file), ==, 1);

  g_clear_object (&result);
  g_assert_finalize_object (builder);
}

static MtlTensorFileBuilder *
new_series (guint n)
{
  MtlTensorFileBuilder *builder = mtl_tensor_file_builder_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("tensor %u", i);
      g_autoptr (MtlStridedView) view = new_bytes (i);

      add (builder, name, view);
    }
  set_metadata (builder, "format", "pt");
  return builder;
}

static void
assert_series (GFile *index,
               guint  n)
{
  g_autoptr (MtlTensorFile) tensors = open_file (index, MTL_TENSOR_FILE_MODE_READ);

  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, n);
  g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "format"), ==, "pt");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("tensor %u", i);
      g_autoptr (MtlStridedView) view = get_view (tensors, name);
      const guint8 *data = mtl_strided_view_get_data (view);

      g_assert_cmpint (mtl_strided_view_get_volume (view), ==, i);
      for (guint j = 0; j < i; j++)
        g_assert_cmpuint (data[j], ==, j);
    }
}

/* Tensors of 0 to 9 bytes in files of up to 12: 5 files with 0 to 4, 2, 1, 1, and 1. */
static void
test_shards (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) index = get_file (folder, "mödel.safetensors.index.json");
  g_autoptr (GFile) other = get_file (folder, "x.index.json");
  g_autoptr (GFile) last = get_file (folder, "mödel-00005-of-00005.safetensors");
  g_autoptr (GFile) single = get_file (folder, "x-00001-of-00001.safetensors");
  g_autoptr (MtlTensorFileBuilder) builder = new_series (10);
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  Outcome outcome = outcome_new (NULL);
  static const char *const expected[] = { "tensor 9", NULL };
  g_autofree const char **names = NULL;

  g_assert_true (mtl_tensor_file_builder_write_shards (builder, index, 12, NULL, on_progress,
                                                       &outcome, &error));
  g_assert_no_error (error);
  g_assert_cmpint (outcome.done, ==, outcome.total);
  g_assert_cmpuint (count_names (folder), ==, 6);
  assert_series (index, 10);
  tensors = open_file (last, MTL_TENSOR_FILE_MODE_READ);
  names = mtl_tensor_file_list_names (tensors);
  g_assert_cmpstrv ((char **) names, (char **) expected);

  outcome = outcome_new (NULL);
  mtl_tensor_file_builder_write_shards_async (builder, other, G_MAXUINT64, G_PRIORITY_DEFAULT, NULL,
                                              on_progress, &outcome, outcome_on_freed,
                                              outcome_on_ready, &outcome);
  result = outcome_wait (&outcome);
  g_assert_true (mtl_tensor_file_builder_write_shards_finish (builder, result, &error));
  g_assert_no_error (error);
  assert_series (other, 10);
  assert_series (single, 10);
}

static GFile *
get_shard (TestFolder *folder,
           guint       i,
           guint       n)
{
  g_autofree char *name = g_strdup_printf ("x-%05u-of-%05u.safetensors", i + 1, n);

  return get_file (folder, name);
}

/* Each is a file as one alone would be. */
static void
test_shards_alone (TestFolder    *folder,
                   gconstpointer  data)
{
  static const char *const names[2][2][3] = {
    [MTL_TENSOR_FILE_ORDER_ALIGNED] = { { "16", "8", "3" }, { "24", "5", "1" } },
    [MTL_TENSOR_FILE_ORDER_ADDED] = { { "3", "16", "8" }, { "5", "24", "1" } },
  };
  g_autoptr (GFile) index = get_file (folder, "x.index.json");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 6; i++)
    {
      const char *name = names[MTL_TENSOR_FILE_ORDER_ADDED][i / 3][i % 3];
      g_autoptr (MtlStridedView) view = new_bytes (g_ascii_strtoll (name, NULL, 10));

      add (builder, name, view);
    }
  set_metadata (builder, "format", "pt");
  mtl_tensor_file_builder_set_alignment (builder, 4096);

  for (guint order = 0; order < 2; order++)
    {
      mtl_tensor_file_builder_set_order (builder, order);
      g_assert_true (mtl_tensor_file_builder_write_shards (builder, index, 30, NULL, NULL, NULL,
                                                           &error));
      g_assert_no_error (error);
      g_assert_cmpuint (count_names (folder), ==, 3);
      for (guint i = 0; i < 2; i++)
        {
          g_autoptr (GFile) file = get_shard (folder, i, 2);
          g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
          guint64 place = get_place (tensors, names[order][i][0]);

          g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "format"), ==, "pt");
          g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 3);
          g_assert_cmpuint (place % 4096, ==, 0);
          for (guint j = 0; j < 3; j++)
            {
              const char *name = names[order][i][j];

              g_assert_cmpuint (get_place (tensors, name), ==, place);
              place += g_ascii_strtoull (name, NULL, 10);
            }
        }
    }
}

/* Files that only the index before named are none of the next one's. */
static void
test_fewer_shards (TestFolder    *folder,
                   gconstpointer  data)
{
  g_autoptr (GFile) index = get_file (folder, "x.index.json");
  g_autoptr (MtlTensorFileBuilder) builder = new_series (10);
  g_autoptr (GError) error = NULL;
  GStatBuf before[5];

  g_assert_true (mtl_tensor_file_builder_write_shards (builder, index, 12, NULL, NULL, NULL,
                                                       &error));
  g_assert_no_error (error);
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (GFile) file = get_shard (folder, i, 5);

      g_assert_cmpint (g_stat (g_file_peek_path (file), &before[i]), ==, 0);
    }

  g_assert_true (mtl_tensor_file_builder_write_shards (builder, index, 24, NULL, NULL, NULL,
                                                       &error));
  g_assert_no_error (error);
  assert_series (index, 10);
  g_assert_cmpuint (count_names (folder), ==, 5 + 2 + 1);
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (GFile) file = get_shard (folder, i, 5);
      g_autoptr (MtlTensorFile) tensors G_GNUC_UNUSED = open_file (file, MTL_TENSOR_FILE_MODE_READ);
      GStatBuf after;

      g_assert_cmpint (g_stat (g_file_peek_path (file), &after), ==, 0);
      g_assert_cmpuint (after.st_ino, ==, before[i].st_ino);
      g_assert_cmpint (after.st_size, ==, before[i].st_size);
    }
}

#define assert_no_shards(builder, index, code, value) \
  assert_refuses (mtl_tensor_file_builder_write_shards ((builder), (index), 5, NULL, NULL, NULL, \
                                                        &error), (code), (value))

static void
test_shards_refused (TestFolder    *folder,
                     gconstpointer  data)
{
  static const char *const wrong[] = { "model.json", ".index.json", "a\\b.index.json",
                                       "\xff.index.json", "x.safetensors" };
  g_autoptr (GFile) index = get_file (folder, "x.index.json");
  g_autoptr (MtlTensorFileBuilder) builder = new_series (4);

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GFile) file = get_file (folder, wrong[i]);

      assert_no_shards (builder, file, MTL_ERROR_INVALID_ARGUMENT, "model.safetensors.index.json");
    }
  mtl_tensor_file_builder_set_format (builder, MTL_TENSOR_FILE_FORMAT_NPY);
  assert_no_shards (builder, index, MTL_ERROR_NOT_SUPPORTED, "safetensors");
  g_assert_cmpuint (count_names (folder), ==, 0);
}

/* One that cannot be written leaves all that was there. */
static void
test_shards_fail (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GFile) index = get_file (folder, "x.index.json");
  g_autoptr (GFile) second = get_file (folder, "x-00002-of-00002.safetensors");
  g_autoptr (GFile) third = get_file (folder, "x-00003-of-00003.safetensors");
  g_autoptr (MtlTensorFileBuilder) builder = new_series (4);
  g_autoptr (MtlTensorFileBuilder) others = new_series (6);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_tensor_file_builder_write_shards (builder, index, 3, NULL, NULL, NULL,
                                                       &error));
  g_assert_no_error (error);
  g_assert_true (g_file_query_exists (second, NULL));
  g_assert_cmpint (g_mkdir (g_file_peek_path (third), 0700), ==, 0);
  g_assert_false (mtl_tensor_file_builder_write_shards (others, index, 6, NULL, NULL, NULL,
                                                        &error));
  assert_system_failed (error, G_IO_ERROR_IS_DIRECTORY, "x-00003-of-00003.safetensors");
  assert_series (index, 4);
  g_assert_cmpuint (count_names (folder), ==, 4);
}

/* The file that the views are mapped from, also turned and in another order. */
static void
test_over_itself (TestFolder    *folder,
                  gconstpointer  data)
{
  g_autoptr (GFile) file = write_three (folder, "file");
  g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_autoptr (MtlStridedView) a = get_view (tensors, "a");
  g_autoptr (MtlStridedView) b = get_view (tensors, "b");
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (b);
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFile) again = NULL;

  add (builder, "turned", turned);
  add (builder, "b", b);
  add (builder, "a", a);
  write_tensors (builder, file);
  assert_elements (b, 4, 5, 6, -1);

  again = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  assert_tensor (again, "a", 1, 2, 3);
  assert_tensor (again, "b", 4, 5, 6, -1);
  assert_tensor (again, "turned", 4, 6, 5, -1);
}

#ifdef __linux__

/* Adds a view as it lies in memory, transposed, to be converted, or as elements of which no piece
 * of whole rows ends with a byte. */
static void
add_in_way (MtlTensorFileBuilder *builder,
            MtlStridedView       *view,
            guint                 way)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (view);
  g_autoptr (MtlStridedView) packed =
    mtl_strided_view_reinterpret (view, MTL_DTYPE_FLOAT4_E2M1FN, &error);
  g_autoptr (MtlStridedView) rows =
    mtl_strided_view_reshape (packed, DIMS (N_ELEMENTS * 8 / 5, 5), &error);

  g_assert_no_error (error);
  if (way == 2)
    mtl_tensor_file_builder_add_converted (builder, "x", view, MTL_DTYPE_FLOAT16, &error);
  else
    add (builder, "x", way == 0 ? view : way == 1 ? turned : rows);
  g_assert_no_error (error);
}

/* If the system can report it, cutting a mapped file causes an error instead of a signal. */
static void
test_cut_source (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (GFile) source = get_file (folder, "source");
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = new_of_value (1, N_ELEMENTS);

  if (skip_where_advice_is_ignored ())
    return;

  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (MtlTensorFileBuilder) copy = mtl_tensor_file_builder_new ();
      g_autoptr (MtlTensorFile) tensors = NULL;
      g_autoptr (MtlStridedView) view = NULL;

      write_tensors (builder, source);
      tensors = open_file (source, MTL_TENSOR_FILE_MODE_MAP);
      view = get_view (tensors, "straight");
      add_in_way (copy, view, i);
      g_assert_cmpint (truncate (g_file_peek_path (source), 100000), ==, 0);
      assert_refuses (mtl_tensor_file_builder_write (copy, file, NULL, NULL, NULL, &error),
                      MTL_ERROR_INVALID_DATA, "“x”");
    }
  g_assert_cmpuint (count_names (folder), ==, 1);
}

#endif

/* A limit of the process stands in for that of a disk. */
static void
test_too_large (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) old = new_of_value (1, 100);
  g_autoptr (MtlTensorFileBuilder) builder = new_of_value (2, N_ELEMENTS);
  g_autoptr (GError) error = NULL;
  struct rlimit before, limit;
  gboolean done;

  write_tensors (old, file);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  limit = before;
  limit.rlim_cur = 10 << 20;
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  done = mtl_tensor_file_builder_write (builder, file, NULL, NULL, NULL, &error);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);

  g_assert_false (done);
  assert_system_failed (error, G_IO_ERROR_FAILED, "file”");
  g_assert_cmpfloat (read_value (file), ==, 1);
  g_assert_cmpuint (count_names (folder), ==, 1);
}

/* The work of the process that is killed: no more than that, and not for long. */
static void
overwrite (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  alarm (60);
  for (guint i = 1; TRUE; i++)
    {
      g_autoptr (MtlTensorFileBuilder) builder = new_of_value (i, 1 << 18);

      write_tensors (builder, file);
    }
}

/* If this machine needs another program to run this one, Meson names it. */
static GPid
start_overwriting (const char *program,
                   GFile      *file)
{
  const char *wrapper = g_getenv ("MESON_EXE_WRAPPER");
  g_autofree char *itself = g_shell_quote (program);
  g_autofree char *path = g_shell_quote (g_file_peek_path (file));
  g_autofree char *line = g_strjoin (" ", wrapper != NULL ? wrapper : "", itself, "--overwrite",
                                     path, NULL);
  g_auto (GStrv) arguments = NULL;
  g_autoptr (GError) error = NULL;
  GPid pid;

  g_shell_parse_argv (line, NULL, &arguments, &error);
  g_assert_no_error (error);
  g_spawn_async (NULL, arguments, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH, NULL, NULL,
                 &pid, &error);
  g_assert_no_error (error);
  return pid;
}

/* Waits until the process wrote a file of its own. */
static void
wait_until_changed (GFile  *file,
                    ino_t   inode,
                    GPid    pid)
{
  GStatBuf info;

  do
    {
      g_assert_cmpint (waitpid (pid, NULL, WNOHANG), ==, 0);
      g_assert_cmpint (g_stat (g_file_peek_path (file), &info), ==, 0);
    }
  while (info.st_ino == inode);
}

static const char *program;

/* The process is killed 50 times, between some file and the next ones. */
static void
test_killed (TestFolder    *folder,
             gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) first = new_of_value (0, 100);

  write_tensors (first, file);
  for (guint i = 0; i < N_KILLS; i++)
    {
      GStatBuf info;
      GPid pid;
      int status;

      g_assert_cmpint (g_stat (g_file_peek_path (file), &info), ==, 0);
      pid = start_overwriting (program, file);
      wait_until_changed (file, info.st_ino, pid);
      g_usleep (g_test_rand_int_range (0, 20000));
      g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
      g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
      g_assert_true (WIFSIGNALED (status));
      g_assert_cmpint (WTERMSIG (status), ==, SIGKILL);
      g_spawn_close_pid (pid);

      g_assert_cmpfloat (read_value (file), >=, 1);
    }
  g_test_message ("%u of %u left a file behind", count_names (folder) - 1, N_KILLS);
}

int
main (int   argc,
      char *argv[])
{
  if (argc == 3 && strcmp (argv[1], "--overwrite") == 0)
    overwrite (argv[2]);

  program = argv[0];
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFileWriting/progress", test_progress);
  add_folder_test ("/TensorFileWriting/cancelled", test_cancelled);
  add_folder_test ("/TensorFileWriting/async", test_async);
  add_folder_test ("/TensorFileWriting/shards", test_shards);
  add_folder_test ("/TensorFileWriting/shards-alone", test_shards_alone);
  add_folder_test ("/TensorFileWriting/fewer-shards", test_fewer_shards);
  add_folder_test ("/TensorFileWriting/shards-refused", test_shards_refused);
  add_folder_test ("/TensorFileWriting/shards-fail", test_shards_fail);
  add_folder_test ("/TensorFileWriting/over-itself", test_over_itself);
#ifdef __linux__
  add_folder_test ("/TensorFileWriting/cut-source", test_cut_source);
#endif
  add_folder_test ("/TensorFileWriting/too-large", test_too_large);
  add_folder_test ("/TensorFileWriting/killed", test_killed);

  return g_test_run ();
}
