/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl cp: copies tensors to another file, with other names, types or layouts. */

#include "mtldl-cp.h"

#include <signal.h>
#include <string.h>

/* Compressed arrays were checked when they were unpacked. The others of an archive are used in
 * place, and a new file would have no checksum by which damage could be found later. */
static gboolean
check_checksum (MtlTensorFile       *source,
                MtlTensorFileEntry  *entry,
                MtlStridedView      *view,
                GError             **error)
{
  return mtl_tensor_file_get_format (source) != MTL_TENSOR_FILE_FORMAT_NPZ
         || !mtl_strided_view_is_read_only (view)
         || mtl_tensor_file_entry_check (entry, MTL_TENSOR_FILE_CHECKS_NONE, NULL, error);
}

static gboolean
add_tensor (ToolCopyItem          *item,
            MtlTensorFileBuilder  *builder,
            GError               **error)
{
  /* A .npy file has no name for its array, so any will do. */
  g_autofree char *name =
    mtl_tensor_file_builder_get_format (builder) == MTL_TENSOR_FILE_FORMAT_NPY
      ? g_utf8_make_valid (item->new_name, -1) : g_strdup (item->new_name);

  item->view = mtl_tensor_file_entry_load_view (item->entry, NULL, error);
  if (item->view == NULL || !check_checksum (item->source, item->entry, item->view, error))
    return FALSE;

  return item->dtype == mtl_tensor_file_entry_get_dtype (item->entry)
         ? mtl_tensor_file_builder_add (builder, name, item->view, error)
         : mtl_tensor_file_builder_add_converted (builder, name, item->view, item->dtype, error);
}

/* The first of several sources that has the key. */
static MtlTensorFile *
find_with_key (GPtrArray  *sources,
               const char *key)
{
  for (guint i = 0; i < sources->len; i++)
    if (mtl_tensor_file_lookup_metadata (sources->pdata[i], key) != NULL)
      return sources->pdata[i];

  return NULL;
}

static void
warn_of_other_value (const char *path,
                     const char *key)
{
  g_autofree char *escaped_path = tool_escape (path);
  g_autofree char *escaped = tool_escape (key);

  tool_complain (_("%s: the value of “%s” in the metadata is left out, as an earlier file has "
                   "another one"), escaped_path, escaped);
}

static gboolean
copy_metadata (GPtrArray             *sources,
               guint                  n,
               const char            *path,
               MtlTensorFileBuilder  *builder,
               GError               **error)
{
  MtlTensorFile *source = sources->pdata[n];
  g_autofree const char **keys = mtl_tensor_file_list_metadata_keys (source);

  for (gsize i = 0; keys[i] != NULL; i++)
    {
      const char *value = mtl_tensor_file_lookup_metadata (source, keys[i]);
      MtlTensorFile *first = find_with_key (sources, keys[i]);

      if (first == source)
        {
          if (!mtl_tensor_file_builder_set_metadata (builder, keys[i], value, error))
            return FALSE;
        }
      else if (!g_str_equal (value, mtl_tensor_file_lookup_metadata (first, keys[i])))
        warn_of_other_value (path, keys[i]);
    }

  return TRUE;
}

/* No key can be removed if it does not exist. */
static gboolean
check_removed (const ToolCopyOptions *options,
               GPtrArray             *sources)
{
  for (gsize i = 0; options->metadata != NULL && options->metadata[i] != NULL; i++)
    {
      const char *rule = options->metadata[i], *equals = strchr (rule, '=');
      g_autofree char *key = g_strndup (rule, equals - rule);
      g_autofree char *escaped = tool_escape_typed (key);
      gboolean is_known = equals[1] != '\0' || find_with_key (sources, key) != NULL;

      for (gsize j = 0; j < i && !is_known; j++)
        is_known = strncmp (options->metadata[j], rule, equals - rule + 1) == 0;
      if (is_known)
        continue;

      tool_complain (_("there is no “%s” in the metadata to remove"), escaped);
      return FALSE;
    }

  return TRUE;
}

static gboolean
add_metadata (const ToolCopyOptions  *options,
              MtlTensorFileBuilder   *builder,
              GError                **error)
{
  for (gsize i = 0; options->metadata != NULL && options->metadata[i] != NULL; i++)
    {
      const char *equals = strchr (options->metadata[i], '=');
      g_autofree char *key = g_strndup (options->metadata[i], equals - options->metadata[i]);
      const char *value = equals[1] != '\0' ? equals + 1 : NULL;

      if (!mtl_tensor_file_builder_set_metadata (builder, key, value, error))
        return FALSE;
    }

  return TRUE;
}

static MtlTensorFileBuilder *
make_builder (const ToolCopyOptions *options)
{
  MtlTensorFileBuilder *builder = mtl_tensor_file_builder_new ();

  mtl_tensor_file_builder_set_format (builder, options->format);
  mtl_tensor_file_builder_set_sync (builder, !options->no_sync);
  mtl_tensor_file_builder_set_alignment (builder, options->alignment);
  mtl_tensor_file_builder_set_order (builder, options->keep_order ? MTL_TENSOR_FILE_ORDER_ADDED
                                                                  : MTL_TENSOR_FILE_ORDER_ALIGNED);
  return builder;
}

typedef struct
{
  ToolProgress progress;
  GCancellable *cancellable;
} Copy;

static void
on_progress (goffset  current,
             goffset  total,
             gpointer user_data)
{
  Copy *self = user_data;

  if (tool_get_caught_signal () != 0)
    g_cancellable_cancel (self->cancellable);
  tool_progress_update (current, total, &self->progress);
}

static gboolean
write_file (const ToolCopyOptions  *options,
            MtlTensorFileBuilder   *builder,
            GFile                  *destination,
            GError                **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Copy copy = { .cancellable = cancellable };
  gboolean done;

  tool_catch_signals ();
  tool_progress_init (&copy.progress, options->quiet ? NULL : "cp");
  copy.progress.at_end = options->no_sync ? NULL : _("waiting for the disk…");
  if (options->max_shard > 0)
    done = mtl_tensor_file_builder_write_shards (builder, destination, options->max_shard,
                                                 cancellable, on_progress, &copy, error);
  else
    done = mtl_tensor_file_builder_write (builder, destination, cancellable, on_progress, &copy,
                                          error);
  tool_progress_clear (&copy.progress);
  tool_release_signals ();
  if (!done && tool_get_caught_signal () != 0)
    raise (tool_get_caught_signal ());
  return done;
}

/* The system's own message does not name the folder. */
static gboolean
check_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *escaped = tool_escape (path);
  g_autofree char *escaped_folder = tool_escape (folder);

  if (strstr (path, "://") != NULL || g_file_test (folder, G_FILE_TEST_EXISTS))
    return TRUE;

  tool_complain (_("“%s” cannot be written: there is no folder “%s”"), escaped, escaped_folder);
  return FALSE;
}

/* Prints an error for each that cannot be opened. */
static GPtrArray *
open_sources (char **paths,
              guint  n)
{
  g_autoptr (GPtrArray) sources = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < n; i++)
    {
      MtlTensorFile *source = tool_open (paths[i]);

      if (source != NULL)
        g_ptr_array_add (sources, source);
    }

  return sources->len == n ? g_steal_pointer (&sources) : NULL;
}

/* Sets *path to that of the file at fault, if there is an error. */
static gboolean
fill_builder (const ToolCopyOptions  *options,
              GPtrArray              *sources,
              char                  **paths,
              GPtrArray              *items,
              MtlTensorFileBuilder   *builder,
              const char            **path,
              GError                **error)
{
  *path = paths[0];
  for (guint i = 0; i < sources->len; i++)
    if (options->format != MTL_TENSOR_FILE_FORMAT_NPY /* it has no metadata */
        && !copy_metadata (sources, i, paths[i], builder, error))
      return FALSE;
  if (!add_metadata (options, builder, error))
    return FALSE;

  for (guint i = 0; i < items->len; i++)
    {
      ToolCopyItem *item = items->pdata[i];

      *path = item->path;
      if (!add_tensor (item, builder, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
count_losses (const ToolCopyOptions  *options,
              GPtrArray              *items,
              GError                **error)
{
  ToolProgress progress;
  gboolean done;

  tool_progress_init (&progress, options->quiet ? NULL : "losses");
  done = tool_report_losses (items, &progress, error);
  tool_progress_clear (&progress);
  return done;
}

static int
copy (const ToolCopyOptions *options,
      char                 **paths,
      guint                  n_paths,
      const char            *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sources = open_sources (paths, n_paths);
  g_autoptr (GFile) destination = sources != NULL ? tool_new_file (path, &error) : NULL;
  g_autoptr (GPtrArray) items =
    g_ptr_array_new_with_free_func ((GDestroyNotify) tool_copy_item_free);
  g_autoptr (MtlTensorFileBuilder) builder = make_builder (options);
  const char *at_fault;

  if (sources == NULL)
    return TOOL_FAILED;
  if (destination == NULL)
    {
      tool_complain ("%s", error->message);
      return TOOL_FAILED;
    }
  if (!check_folder (path) || !check_removed (options, sources)
      || !tool_list_copies (options, sources, paths, items))
    return TOOL_FAILED;

  if (!fill_builder (options, sources, paths, items, builder, &at_fault, &error))
    {
      tool_complain_of (at_fault, error);
      return TOOL_FAILED;
    }
  if (!write_file (options, builder, destination, &error)
      || !count_losses (options, items, &error))
    {
      tool_complain_of (path, error);
      return TOOL_FAILED;
    }

  return TOOL_DONE;
}

/* If the destination is a folder, the file keeps the name of the source; several files have
 * an index. */
static char *
get_destination (const char *source,
                 const char *destination,
                 gboolean    is_sharded)
{
  g_autofree char *name = NULL;
  g_autofree char *index = NULL;

  if (!g_file_test (destination, G_FILE_TEST_IS_DIR))
    return g_strdup (destination);

  name = g_path_get_basename (source);
  if (is_sharded && g_str_has_suffix (name, ".safetensors"))
    index = g_strconcat (name, ".index.json", NULL);
  return g_build_filename (destination, index != NULL ? index : name, NULL);
}

int
tool_cp (const ToolCommand *command,
         int                argc,
         char              *argv[])
{
  g_auto (ToolCopyOptions) options = { NULL };
  const GOptionEntry entries[] = {
    { "select", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.select,
      N_("Copy only the tensors that match; can be repeated"), N_("PATTERN") },
    { "rename", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.renames,
      N_("Rename tensors that match FROM to TO; the first match applies"), N_("FROM=TO") },
    { "dtype", 'd', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.dtypes,
      N_("Convert all floats, or the tensors that match"), N_("[PATTERN=]TYPE") },
    { "align", 'a', 0, G_OPTION_ARG_INT, &options.alignment,
      N_("Start the first tensor at a multiple of this many bytes"), N_("BYTES") },
    { "keep-order", 'k', 0, G_OPTION_ARG_NONE, &options.keep_order,
      N_("Keep the tensors in their order, aligned or not"), NULL },
    { "shard-size", 'S', 0, G_OPTION_ARG_STRING, &options.shard_size,
      N_("Write several files with at most this many bytes of tensors, such as 5G"), N_("SIZE") },
    { "metadata", 'm', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.metadata,
      N_("Add to the metadata; without a VALUE remove KEY"), N_("KEY=VALUE") },
    { "format", 'f', 0, G_OPTION_ARG_STRING, &options.format_text,
      N_("Write this format, whatever the name of the file ends in"), "safetensors|npy" },
    { "no-sync", 0, 0, G_OPTION_ARG_NONE, &options.no_sync,
      N_("Do not wait until the file is on the disk"), NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, N_("Do not report progress"), NULL },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = NULL;
  g_autofree char *wrong = NULL;
  g_autofree char *destination = NULL;
  const char *last;
  guint n_sources;

  tool_copy_options_init (&options);
  arguments = tool_parse (command, entries, argc, argv, &status);
  if (arguments == NULL)
    return status;

  n_sources = g_strv_length (arguments) - 1;
  last = arguments[n_sources];
  if (g_str_equal (last, "-"))
    return tool_wrong_usage (command, _("files cannot be written to standard output; for a file of "
                                        "that name, type ./-"));
  if (n_sources > 1 && g_file_test (last, G_FILE_TEST_IS_DIR))
    return tool_wrong_usage (command, _("the %u files are merged into one, which needs the name of "
                                        "a file, not of the folder %s"), n_sources, last);

  destination = get_destination (arguments[0], last, options.shard_size != NULL);
  if (!tool_copy_options_parse (&options, destination, &wrong))
    return tool_wrong_usage (command, "%s", wrong);

  return copy (&options, arguments, n_sources, destination);
}
