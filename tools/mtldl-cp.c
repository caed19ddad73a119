/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl cp: copies tensors to another file, with other names, types or layouts. */

#include "mtldl-cp.h"

#include <signal.h>
#include <string.h>

/* PATTERN=TYPE, or just TYPE, which applies to floats. */
typedef struct
{
  GPatternSpec *pattern; /* or NULL */
  MtlDType dtype;
} DtypeRule;

/* The options as given, and as parsed. */
typedef struct
{
  char **select;
  char **renames;
  char **dtypes;
  char **metadata;
  char *shard_size;
  int alignment;
  char *format_text;
  gboolean keep_order;
  gboolean no_sync;
  gboolean quiet;

  GArray *rename_rules; /* of ToolRename */
  GArray *dtype_rules;  /* of DtypeRule */
  guint64 max_shard;
  MtlTensorFileFormat format;
} Options;

static volatile sig_atomic_t caught_signal;

static void
options_clear (Options *self)
{
  g_strfreev (self->select);
  g_strfreev (self->renames);
  g_strfreev (self->dtypes);
  g_strfreev (self->metadata);
  g_free (self->shard_size);
  g_free (self->format_text);
  g_array_unref (self->rename_rules);
  g_array_unref (self->dtype_rules);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
dtype_rule_init (DtypeRule  *self,
                 const char *text)
{
  const char *equals = strrchr (text, '=');
  g_autofree char *pattern = equals != NULL ? g_strndup (text, equals - text) : NULL;

  *self = (DtypeRule) {
    .pattern = pattern != NULL ? g_pattern_spec_new (pattern) : NULL,
    .dtype = mtl_dtype_from_string (equals != NULL ? equals + 1 : text, NULL),
  };
  return self->dtype != MTL_DTYPE_OTHER;
}

static void
dtype_rule_clear (DtypeRule *self)
{
  g_clear_pointer (&self->pattern, g_pattern_spec_free);
}

/* As GNU's commands read sizes: 5G and 5GiB are powers of 1024, 5GB is one of 1000. */
static gboolean
parse_size (const char *text,
            guint64    *size)
{
  static const char units[] = "KMGT";
  char *end;
  guint64 value = g_ascii_strtoull (text, &end, 10), factor = 1;
  const char *unit = *end != '\0' ? strchr (units, g_ascii_toupper (*end)) : NULL;
  guint64 base = unit != NULL && g_ascii_strcasecmp (end + 1, "B") == 0 ? 1000 : 1024;

  for (gssize i = 0; unit != NULL && i <= unit - units; i++)
    factor *= base;
  if (unit != NULL && (end[1] == '\0' || g_ascii_strcasecmp (end + 1, "B") == 0
                       || g_ascii_strcasecmp (end + 1, "iB") == 0))
    end = (char *) "";

  if (!g_ascii_isdigit (*text) || value == 0 || *end != '\0' || value > G_MAXINT64 / factor)
    return FALSE;

  *size = value * factor;
  return TRUE;
}

/* What element type was meant, from all there are. */
static char *
guess_dtype (const char *text)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (MTL_TYPE_DTYPE);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *equals = strrchr (text, '=');

  for (guint i = 0; i < klass->n_values; i++)
    if (klass->values[i].value != MTL_DTYPE_OTHER)
      g_ptr_array_add (names, (char *) klass->values[i].value_nick);
  g_ptr_array_add (names, NULL);
  return tool_guess (equals != NULL ? equals + 1 : text, (const char *const *) names->pdata);
}

static gboolean
check_rules (Options  *self,
             char    **wrong)
{
  for (gsize i = 0; self->renames != NULL && self->renames[i] != NULL; i++)
    {
      ToolRename rule = { NULL };
      gboolean is_right = tool_rename_init (&rule, self->renames[i]);

      g_array_append_val (self->rename_rules, rule);
      if (!is_right)
        {
          *wrong = g_strdup_printf (_("--rename=%s is not FROM=TO with at most one * in FROM, and "
                                      "one in TO only if FROM has one"), self->renames[i]);
          return FALSE;
        }
    }

  for (gsize i = 0; self->dtypes != NULL && self->dtypes[i] != NULL; i++)
    {
      DtypeRule rule;
      gboolean is_right = dtype_rule_init (&rule, self->dtypes[i]);

      g_array_append_val (self->dtype_rules, rule);
      if (!is_right)
        {
          g_autofree char *guess = guess_dtype (self->dtypes[i]);

          *wrong = g_strdup_printf (_("--dtype=%s has no element type%s"), self->dtypes[i],
                                    *guess != '\0' ? guess
                                    : _(": they are called float32, bfloat16, float8_e4m3fn, int8 "
                                        "and so on"));
          return FALSE;
        }
    }

  for (gsize i = 0; self->metadata != NULL && self->metadata[i] != NULL; i++)
    if (strchr (self->metadata[i], '=') == NULL)
      {
        *wrong = g_strdup_printf (_("--metadata=%s is not KEY=VALUE"), self->metadata[i]);
        return FALSE;
      }

  return TRUE;
}

static int
get_most_alignment (void)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (MTL_TYPE_TENSOR_FILE_BUILDER);
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_CLASS (klass), "alignment");

  return G_PARAM_SPEC_UINT (spec)->maximum;
}

static gboolean
parse_format (Options *self)
{
  if (self->format_text == NULL)
    self->format = MTL_TENSOR_FILE_FORMAT_AUTO;
  else if (g_ascii_strcasecmp (self->format_text, "safetensors") == 0)
    self->format = MTL_TENSOR_FILE_FORMAT_SAFETENSORS;
  else if (g_ascii_strcasecmp (self->format_text, "npy") == 0)
    self->format = MTL_TENSOR_FILE_FORMAT_NPY;
  else
    return FALSE;

  return TRUE;
}

/* Sets the format to that in which the destination is written. */
static gboolean
choose_format (Options     *self,
               const char  *destination,
               char       **wrong)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (GFile) file = g_file_new_for_path (destination);
  g_autoptr (GError) error = NULL;

  if (self->max_shard > 0)
    {
      self->format = MTL_TENSOR_FILE_FORMAT_SAFETENSORS;
      return TRUE;
    }

  mtl_tensor_file_builder_set_format (builder, self->format);
  self->format = mtl_tensor_file_builder_find_format (builder, file, &error);
  if (error != NULL)
    *wrong = g_strdup_printf ("%s", error->message);
  return error == NULL;
}

static gboolean
check_options (Options     *self,
               const char  *destination,
               char       **wrong)
{
  const int most_alignment = get_most_alignment ();

  if (self->alignment < 0 || self->alignment > most_alignment
      || (self->alignment & (self->alignment - 1)) != 0)
    *wrong = g_strdup_printf (_("--align=%d is not a power of two up to %d"), self->alignment,
                              most_alignment);
  else if (self->shard_size != NULL && !parse_size (self->shard_size, &self->max_shard))
    *wrong = g_strdup_printf (_("--shard-size=%s is not a size such as 500M or 5G"),
                              self->shard_size);
  else if (self->shard_size != NULL && !g_str_has_suffix (destination, ".safetensors.index.json"))
    *wrong = g_strdup_printf (_("with --shard-size the destination is the index, named "
                                "NAME.safetensors.index.json, not %s; did you mean “%s%s”?"),
                              destination, destination,
                              g_str_has_suffix (destination, ".safetensors")
                              ? ".index.json" : ".safetensors.index.json");
  else if (self->shard_size == NULL && g_str_has_suffix (destination, ".index.json"))
    *wrong = g_strdup_printf (_("%s would be the index of several files, which needs "
                                "--shard-size=SIZE"), destination);
  else if (!parse_format (self))
    *wrong = g_strdup_printf (_("--format=%s is not safetensors or npy"), self->format_text);
  else if (self->shard_size != NULL && self->format == MTL_TENSOR_FILE_FORMAT_NPY)
    *wrong = g_strdup (_("--shard-size writes safetensors files, not --format=npy"));

  return *wrong == NULL && choose_format (self, destination, wrong) && check_rules (self, wrong);
}

static char *
get_name (const Options      *self,
          MtlTensorFile      *source,
          MtlTensorFileEntry *entry)
{
  g_autofree char *name = tool_dup_name (source, entry);

  for (guint i = 0; i < self->rename_rules->len; i++)
    {
      char *renamed = tool_rename_apply (&g_array_index (self->rename_rules, ToolRename, i), name);

      if (renamed != NULL)
        return renamed;
    }

  return g_steal_pointer (&name);
}

/* The last rule that matches the tensor determines the type. */
static MtlDType
choose_dtype (const Options      *self,
              MtlTensorFile      *source,
              MtlTensorFileEntry *entry)
{
  g_autofree char *name = tool_dup_name (source, entry);
  MtlDType dtype = mtl_tensor_file_entry_get_dtype (entry), chosen = dtype;

  for (guint i = 0; i < self->dtype_rules->len; i++)
    {
      const DtypeRule *rule = &g_array_index (self->dtype_rules, DtypeRule, i);

      if (rule->pattern != NULL ? g_pattern_spec_match_string (rule->pattern, name)
                                : tool_dtype_is_float (dtype))
        chosen = rule->dtype;
    }

  return chosen;
}

/* What is compressed was checked when it was unpacked. The rest of an archive is used in
 * place, and a new file would have no checksum by which damage could be found later. */
static gboolean
check_checksum (MtlTensorFile       *source,
                MtlTensorFileEntry  *entry,
                MtlStridedView      *view,
                GError             **error)
{
  return mtl_tensor_file_get_format (source) != MTL_TENSOR_FILE_FORMAT_NPZ
         || !mtl_strided_view_is_read_only (view)
         || mtl_tensor_file_entry_check (entry, MTL_TENSOR_CHECKS_NONE, NULL, error);
}

static gboolean
add_tensor (const Options         *self,
            MtlTensorFile         *source,
            MtlTensorFileEntry    *entry,
            MtlTensorFileBuilder  *builder,
            GError               **error)
{
  g_autofree char *name = get_name (self, source, entry);
  g_autoptr (MtlStridedView) view = mtl_tensor_file_entry_load_view (entry, NULL, error);
  MtlDType dtype = choose_dtype (self, source, entry);

  if (view == NULL || !check_checksum (source, entry, view, error))
    return FALSE;

  return dtype == mtl_tensor_file_entry_get_dtype (entry)
         ? mtl_tensor_file_builder_add (builder, name, view, error)
         : mtl_tensor_file_builder_add_converted (builder, name, view, dtype, error);
}

static gboolean
copy_metadata (MtlTensorFile         *source,
               MtlTensorFileBuilder  *builder,
               GError               **error)
{
  g_autofree const char **keys = mtl_tensor_file_list_metadata_keys (source);

  for (gsize i = 0; keys[i] != NULL; i++)
    if (!mtl_tensor_file_builder_set_metadata (builder, keys[i],
                                               mtl_tensor_file_get_metadata (source, keys[i]),
                                               error))
      return FALSE;

  return TRUE;
}

static gboolean
add_metadata (const Options         *self,
              MtlTensorFileBuilder  *builder,
              GError               **error)
{
  for (gsize i = 0; self->metadata != NULL && self->metadata[i] != NULL; i++)
    {
      const char *equals = strchr (self->metadata[i], '=');
      g_autofree char *key = g_strndup (self->metadata[i], equals - self->metadata[i]);
      const char *value = equals[1] != '\0' ? equals + 1 : NULL;

      if (!mtl_tensor_file_builder_set_metadata (builder, key, value, error))
        return FALSE;
    }

  return TRUE;
}

static MtlTensorFileBuilder *
make_builder (const Options  *self,
              MtlTensorFile  *source,
              GPtrArray      *entries,
              GError        **error)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();

  mtl_tensor_file_builder_set_format (builder, self->format);
  mtl_tensor_file_builder_set_sync (builder, !self->no_sync);
  if (self->format != MTL_TENSOR_FILE_FORMAT_NPY /* which has no metadata */
      && !copy_metadata (source, builder, error))
    return NULL;
  mtl_tensor_file_builder_set_alignment (builder, self->alignment);
  mtl_tensor_file_builder_set_order (builder, self->keep_order ? MTL_TENSOR_FILE_ORDER_ADDED
                                                               : MTL_TENSOR_FILE_ORDER_ALIGNED);
  if (!add_metadata (self, builder, error))
    return NULL;

  for (guint i = 0; i < entries->len; i++)
    if (!add_tensor (self, source, entries->pdata[i], builder, error))
      return NULL;

  return g_steal_pointer (&builder);
}

static void
on_signal (int number)
{
  caught_signal = number;
}

/* Lets the program remove an incomplete file before it ends. Ignored signals stay
 * ignored, as under nohup. */
static void
catch_signal (int number)
{
  struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND }, old;

  if (sigaction (number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
    sigaction (number, &action, NULL);
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

  if (caught_signal != 0)
    g_cancellable_cancel (self->cancellable);
  tool_progress_update (current, total, &self->progress);
}

static gboolean
write_file (const Options         *self,
            MtlTensorFileBuilder  *builder,
            GFile                 *destination,
            GError               **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Copy copy = { .cancellable = cancellable };
  gboolean done;

  catch_signal (SIGINT);
  catch_signal (SIGTERM);
  catch_signal (SIGHUP);
  tool_progress_init (&copy.progress, self->quiet ? NULL : "cp");
  copy.progress.at_end = self->no_sync ? NULL : _("waiting for the disk…");
  if (self->max_shard > 0)
    done = mtl_tensor_file_builder_write_shards (builder, destination, self->max_shard,
                                                 cancellable, on_progress, &copy, error);
  else
    done = mtl_tensor_file_builder_write (builder, destination, cancellable, on_progress, &copy,
                                          error);
  tool_progress_clear (&copy.progress);
  return done;
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

/* The system would only say that there is no such file. */
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

static int
copy (const Options *self,
      const char    *source_path,
      const char    *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlTensorFile) source = tool_open (source_path);
  g_autoptr (GFile) destination = source != NULL ? tool_new_file (path, &error) : NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (MtlTensorFileBuilder) builder = NULL;

  if (source == NULL)
    return TOOL_FAILED;
  if (destination == NULL)
    {
      tool_complain ("%s", error->message);
      return TOOL_FAILED;
    }

  entries = check_folder (path) ? tool_select_entries (source, self->select) : NULL;
  if (entries == NULL)
    return TOOL_FAILED;

  builder = make_builder (self, source, entries, &error);
  if (builder != NULL && write_file (self, builder, destination, &error))
    return TOOL_DONE;

  if (caught_signal != 0)
    raise (caught_signal);
  tool_complain_of (builder != NULL ? path : source_path, error);
  return TOOL_FAILED;
}

int
tool_cp (const ToolCommand *command,
         int                argc,
         char              *argv[])
{
  g_auto (Options) options = { NULL };
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

  options.rename_rules = g_array_new (FALSE, FALSE, sizeof (ToolRename));
  g_array_set_clear_func (options.rename_rules, (GDestroyNotify) tool_rename_clear);
  options.dtype_rules = g_array_new (FALSE, FALSE, sizeof (DtypeRule));
  g_array_set_clear_func (options.dtype_rules, (GDestroyNotify) dtype_rule_clear);
  arguments = tool_parse (command, entries, argc, argv, &status);
  if (arguments == NULL)
    return status;

  if (g_str_equal (arguments[1], "-"))
    return tool_wrong_usage (command, _("files cannot be written to standard output; a file of "
                                        "that name is ./-"));

  destination = get_destination (arguments[0], arguments[1], options.shard_size != NULL);
  if (!check_options (&options, destination, &wrong))
    return tool_wrong_usage (command, "%s", wrong);

  return copy (&options, arguments[0], destination);
}
