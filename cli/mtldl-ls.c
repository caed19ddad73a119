/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl ls: lists the contents of files. */

#include "mtldl-bus.h"
#include "mtldl-ls.h"
#include "mtldl-table.h"

#include <string.h>
#include <unistd.h>

/* The columns before the name. */
enum
{
  COLUMN_DTYPE,
  COLUMN_SHAPE,
  COLUMN_BYTES,
  COLUMN_OFFSET,
  COLUMN_ALIGNMENT,
  COLUMN_FILE,
  N_COLUMNS
};

static const ToolColumn table_columns[N_COLUMNS] = {
  { "DTYPE", FALSE, 4 }, { "SHAPE", FALSE, 5 }, { "BYTES", TRUE, 3 },
  { "OFFSET", TRUE, 2 }, { "ALIGNMENT", TRUE, 1 }, { "FILE", FALSE, 0 }
};

#define N_SHORT (COLUMN_BYTES + 1)

typedef struct
{
  gboolean all;      /* do not fold */
  gboolean is_long;
  gboolean is_human;
  gboolean names;    /* only the names */
  gboolean json;
  gboolean metadata;
  char **select;
  char *sort_text;
  ToolSort sort;
} Options;

static void
options_clear (Options *self)
{
  g_strfreev (self->select);
  g_free (self->sort_text);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* One of the files. */
typedef struct
{
  char *path;
  char *error;       /* the reason if it cannot be opened, or NULL */
  MtlTensorFile *file;
  char **names;      /* names of all tensors, in the order of the file */
  gboolean *matches; /* TRUE for each tensor that is listed */
} Listed;

static void
listed_free (Listed *self)
{
  g_free (self->path);
  g_free (self->error);
  g_clear_object (&self->file);
  g_strfreev (self->names);
  g_free (self->matches);
  g_free (self);
}

/* The command line, sorted out. */
typedef struct
{
  GPtrArray *files;    /* Listed */
  GPtrArray *patterns; /* ends with NULL */
  gboolean has_headings;
  gboolean has_failed;
} Request;

static void
request_clear (Request *self)
{
  g_ptr_array_unref (self->files);
  g_ptr_array_unref (self->patterns);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Request, request_clear)

/* The offset of the elements should be a multiple of their size. */
static gboolean
is_misaligned (MtlTensorFileEntry *entry)
{
  MtlDType dtype = mtl_tensor_file_entry_get_dtype (entry);

  return mtl_tensor_file_entry_get_byte_offset (entry) % tool_dtype_get_number_size (dtype) != 0;
}

static char *
count_to_string (const Options *options,
                 guint64        n_bytes)
{
  if (options->is_human)
    return tool_format_bytes (n_bytes);

  return g_strdup_printf ("%" G_GUINT64_FORMAT, n_bytes);
}

static char *
bytes_to_string (const Options *options,
                 const ToolRow *row)
{
  g_autofree char *each =
    count_to_string (options, mtl_tensor_file_entry_get_n_bytes (row->entry));

  if (row->n_tensors == 1)
    return g_steal_pointer (&each);

  return g_strdup_printf ("%" G_GSIZE_FORMAT "×%s", row->n_tensors, each);
}

static char *
cell_to_string (const Options *options,
                const ToolRow *row,
                guint          column)
{
  guint64 offset = mtl_tensor_file_entry_get_byte_offset (row->entry);
  g_autofree char *base = NULL;
  char *shape;

  switch (column)
    {
    case COLUMN_DTYPE:
      return tool_escape (mtl_tensor_file_entry_get_type_name (row->entry));
    case COLUMN_SHAPE:
      shape = tool_dup_shape (row->entry);
      return shape != NULL ? shape : g_strdup ("-");
    case COLUMN_BYTES:
      return bytes_to_string (options, row);
    case COLUMN_OFFSET:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, offset);
    case COLUMN_ALIGNMENT:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, tool_get_alignment (offset));
    default:
      base = g_file_get_basename (mtl_tensor_file_entry_get_file (row->entry));
      return tool_escape (base);
    }
}

static void
print_rows (const Options *options,
            GPtrArray     *rows)
{
  g_auto (ToolTable) table = { NULL };

  tool_table_init (&table, table_columns, options->is_long ? N_COLUMNS : N_SHORT);
  for (guint i = 0; i < rows->len; i++)
    {
      const ToolRow *row = rows->pdata[i];
      ToolTableRow *line = tool_table_add (&table, row->name);

      line->is_dimmed = tool_is_refused (row->entry);
      for (guint column = 0; column < table.n_columns; column++)
        line->cells[column] = cell_to_string (options, row, column);
    }
  tool_table_print (&table);
}

/* A line that fits, from the longest. */
static void
print_line (const char *full,
            const char *brief)
{
  const guint columns = tool_get_columns (STDOUT_FILENO);
  g_autofree char *shortened =
    tool_get_width (full) > columns ? tool_shorten (brief, columns) : NULL;

  tool_print ("%s\n", shortened != NULL ? shortened : full);
}

static void
print_total (const char *name,
             gsize       n_tensors,
             guint64     n_bytes)
{
  g_autofree char *human = tool_format_bytes (n_bytes);
  g_autofree char *full = NULL;
  g_autofree char *brief = NULL;

  full = g_strdup_printf ("%-16s %8" G_GSIZE_FORMAT " %s %16" G_GUINT64_FORMAT " %s%s%s%s", name,
                          n_tensors, n_tensors == 1 ? "tensor, " : "tensors,", n_bytes,
                          n_bytes == 1 ? "byte" : "bytes", n_bytes >= 1024 ? " (" : "",
                          n_bytes >= 1024 ? human : "", n_bytes >= 1024 ? ")" : "");
  brief = g_strdup_printf ("%s: %" G_GSIZE_FORMAT " tensor%s, %s", name, n_tensors,
                           n_tensors == 1 ? "" : "s", human);
  print_line (full, brief);
}

static void
print_alignment (GPtrArray *entries)
{
  g_autoptr (GString) full = g_string_new (NULL);
  g_autoptr (GString) brief = g_string_new (NULL);
  guint64 least = 0;
  gsize n_misaligned = 0;

  for (guint i = 0; i < entries->len; i++)
    {
      MtlTensorFileEntry *entry = entries->pdata[i];
      guint64 alignment = tool_get_alignment (mtl_tensor_file_entry_get_byte_offset (entry));

      if (mtl_tensor_file_entry_get_n_bytes (entry) == 0 || tool_is_refused (entry))
        continue;
      least = least == 0 ? alignment : MIN (least, alignment);
      n_misaligned += is_misaligned (entry);
    }

  if (least == 0)
    return;

  g_string_printf (full, "aligned to       %8" G_GUINT64_FORMAT " byte%s", least,
                   least == 1 ? "" : "s");
  g_string_printf (brief, "aligned to %" G_GUINT64_FORMAT, least);
  if (n_misaligned > 0)
    {
      g_string_append_printf (full, ", %" G_GSIZE_FORMAT " of them not aligned to their elements",
                              n_misaligned);
      g_string_append_printf (brief, ", %" G_GSIZE_FORMAT " misaligned", n_misaligned);
    }
  print_line (full->str, brief->str);
}

static void
print_totals (MtlTensorFile *file,
              GPtrArray     *entries)
{
  ToolTotal refused;
  g_autoptr (GArray) totals = tool_count_totals (entries, &refused);
  guint64 n_bytes = refused.n_bytes;

  for (guint i = 0; i < totals->len; i++)
    {
      const ToolTotal *total = &g_array_index (totals, ToolTotal, i);
      g_autofree char *name = mtl_dtype_to_string (total->dtype);

      print_total (name, total->n_tensors, total->n_bytes);
      n_bytes += total->n_bytes;
    }

  if (refused.n_tensors > 0)
    print_total ("not loadable", refused.n_tensors, refused.n_bytes);
  if (totals->len + (refused.n_tensors > 0) != 1)
    print_total ("total", entries->len, n_bytes);
  /* Arrays of an archive may be compressed, so their elements have no offset. */
  if (mtl_tensor_file_get_format (file) != MTL_TENSOR_FILE_FORMAT_NPZ)
    print_alignment (entries);
}

static void
print_metadata (MtlTensorFile *file)
{
  g_autofree const char **keys = mtl_tensor_file_list_metadata_keys (file);

  tool_print ("\n%smetadata%s\n", tool_strong (), tool_plain ());
  for (gsize i = 0; keys[i] != NULL; i++)
    {
      g_autofree char *key = tool_escape (keys[i]);
      g_autofree char *value = tool_escape (mtl_tensor_file_lookup_metadata (file, keys[i]));

      tool_print ("  %s: %s\n", key, value);
    }
}

static GPtrArray *
make_rows (const Options *options,
           MtlTensorFile *file,
           GPtrArray     *entries)
{
  GPtrArray *rows;

  if (!options->all && !options->is_long)
    return tool_fold (file, entries);

  rows = g_ptr_array_new_with_free_func ((GDestroyNotify) tool_row_free);
  for (guint i = 0; i < entries->len; i++)
    {
      ToolRow *row = g_new (ToolRow, 1);
      g_autofree char *name = tool_dup_name (file, entries->pdata[i]);

      *row = (ToolRow) { entries->pdata[i], tool_escape (name), 1 };
      g_ptr_array_add (rows, row);
    }
  return rows;
}

static void
print_list (const Options *options,
            MtlTensorFile *file,
            GPtrArray     *entries)
{
  g_autoptr (GPtrArray) rows = make_rows (options, file, entries);

  print_rows (options, rows);
  if (rows->len > 0)
    tool_print_text ("\n");
  print_totals (file, entries);
  if (options->metadata)
    print_metadata (file);
}

static int
compare_by_name (gconstpointer a,
                 gconstpointer b)
{
  return tool_compare_names (*(const char *const *) a, *(const char *const *) b);
}

/* Prints names without creating objects, as shell completion calls it each time that
 * TAB is pressed. */
static void
print_names (const Options *options,
             const Listed  *listed)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (gsize i = 0; listed->names[i] != NULL; i++)
    if (listed->matches[i])
      g_ptr_array_add (names, listed->names[i]);
  if (options->sort == TOOL_SORT_NAME)
    g_ptr_array_sort (names, compare_by_name);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *escaped = tool_escape (names->pdata[i]);

      tool_print ("%s\n", escaped);
    }
}

static int
compare_entries (gconstpointer a,
                 gconstpointer b)
{
  MtlTensorFileEntry *first = *(MtlTensorFileEntry *const *) a;
  MtlTensorFileEntry *second = *(MtlTensorFileEntry *const *) b;

  return tool_compare_names (mtl_tensor_file_entry_get_name (first),
                             mtl_tensor_file_entry_get_name (second));
}

/* Largest first. */
static int
compare_sizes (gconstpointer a,
               gconstpointer b)
{
  guint64 first = mtl_tensor_file_entry_get_n_bytes (*(MtlTensorFileEntry *const *) a);
  guint64 second = mtl_tensor_file_entry_get_n_bytes (*(MtlTensorFileEntry *const *) b);

  return first > second ? -1 : first < second ? 1 : compare_entries (a, b);
}

static GPtrArray *
list_entries (const Options *options,
              const Listed  *listed)
{
  GPtrArray *entries = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; listed->names[i] != NULL; i++)
    if (listed->matches[i])
      g_ptr_array_add (entries, g_list_model_get_item (G_LIST_MODEL (listed->file), i));
  if (options->sort != TOOL_SORT_FILE)
    g_ptr_array_sort (entries, options->sort == TOOL_SORT_NAME ? compare_entries : compare_sizes);
  return entries;
}

static void
print_heading (const Listed *listed,
               gboolean      is_first)
{
  g_autofree char *escaped = tool_escape (listed->path);
  g_autofree char *shown = tool_shorten (escaped, tool_get_columns (STDOUT_FILENO) - 1);

  tool_print ("%s%s%s%s:\n", is_first ? "" : "\n", tool_strong (), shown, tool_plain ());
}

/* Prints names alone, sorted by a size that only the entries have. */
static void
print_entry_names (const Listed *listed,
                   GPtrArray    *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      g_autofree char *name = tool_dup_name (listed->file, entries->pdata[i]);
      g_autofree char *escaped = tool_escape (name);

      tool_print ("%s\n", escaped);
    }
}

static void
print_file (const Options *options,
            const Listed  *listed)
{
  g_autoptr (GPtrArray) entries = NULL;

  if (options->names && options->sort != TOOL_SORT_SIZE)
    {
      print_names (options, listed);
      return;
    }

  entries = list_entries (options, listed);
  if (options->names)
    print_entry_names (listed, entries);
  else
    print_list (options, listed->file, entries);
}

static void
print_as_json (const Options *options,
               const Request *request)
{
  tool_print_text ("[");
  for (guint i = 0; i < request->files->len; i++)
    {
      const Listed *listed = request->files->pdata[i];
      g_autoptr (GPtrArray) entries = list_entries (options, listed);

      tool_print_text (i > 0 ? ",\n" : "");
      if (listed->file == NULL)
        tool_print_json_error (listed->path, listed->error);
      else
        tool_print_json (listed->file, entries, listed->path);
    }
  tool_print_text ("]\n");
}

static void
print_request (const Options *options,
               const Request *request)
{
  gboolean is_first = TRUE;

  for (guint i = 0; i < request->files->len; i++)
    {
      const Listed *listed = request->files->pdata[i];

      if (listed->file == NULL)
        continue;
      if (request->has_headings && !options->names)
        print_heading (listed, is_first);
      print_file (options, listed);
      is_first = FALSE;
    }
}

static void
add_file (Request    *self,
          const char *path)
{
  g_autoptr (GError) error = NULL;
  MtlTensorFile *file = tool_open_file (path, &error);
  Listed *listed = g_new0 (Listed, 1);

  listed->path = g_strdup (path);
  listed->file = file;
  listed->names = file != NULL ? tool_list_names (file) : g_new0 (char *, 1);
  g_ptr_array_add (self->files, listed);
  if (file != NULL)
    return;

  listed->error = g_strdup (error->message);
  tool_complain ("%s", error->message);
  self->has_failed = TRUE;
}

/* The file, or those in the folder. */
static void
add_path (Request    *self,
          const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) paths = tool_find_files (path, &error);

  if (paths == NULL)
    {
      tool_complain ("%s", error->message);
      self->has_failed = TRUE;
      return;
    }

  self->has_headings |= g_file_test (path, G_FILE_TEST_IS_DIR);
  for (guint i = 0; i < paths->len; i++)
    add_file (self, paths->pdata[i]);
}

/* An argument after the first file is a pattern if a tensor of that file matches. */
static gboolean
is_pattern (const Request *self,
            const char    *argument)
{
  for (guint i = 0; i < self->files->len; i++)
    {
      const Listed *listed = self->files->pdata[i];

      for (gsize j = 0; listed->names[j] != NULL; j++)
        if (tool_pattern_matches (argument, listed->names[j]))
          return TRUE;
    }

  return !g_file_test (argument, G_FILE_TEST_EXISTS) && !tool_is_file_name (argument)
         && !g_str_has_suffix (argument, G_DIR_SEPARATOR_S);
}

static void
request_init (Request       *self,
              const Options *options,
              char         **arguments)
{
  const char *first = arguments[0] != NULL ? arguments[0] : ".";
  guint n_paths = 1;

  *self = (Request) {
    .files = g_ptr_array_new_with_free_func ((GDestroyNotify) listed_free),
    .patterns = g_ptr_array_new (),
  };
  add_path (self, first);
  for (gsize i = 1; arguments[0] != NULL && arguments[i] != NULL; i++)
    if (is_pattern (self, arguments[i]))
      g_ptr_array_add (self->patterns, arguments[i]);
    else
      {
        add_path (self, arguments[i]);
        n_paths++;
      }

  for (gsize i = 0; options->select != NULL && options->select[i] != NULL; i++)
    g_ptr_array_add (self->patterns, options->select[i]);
  g_ptr_array_add (self->patterns, NULL);
  self->has_headings |= n_paths > 1;
}

/* A pattern has to match a tensor of any of the files. Files without such tensors are
 * left out. */
static gboolean
select_tensors (Request *self)
{
  char **patterns = (char **) self->patterns->pdata;
  g_autofree gboolean *used = g_new0 (gboolean, self->patterns->len);
  g_autoptr (GPtrArray) all_names = g_ptr_array_new ();
  gboolean any_file = FALSE;

  for (guint i = 0; i < self->files->len; i++)
    {
      Listed *listed = self->files->pdata[i];

      any_file |= listed->file != NULL;
      listed->matches = tool_match_names (listed->names, patterns, used);
      for (gsize j = 0; listed->names[j] != NULL; j++)
        g_ptr_array_add (all_names, listed->names[j]);
    }
  g_ptr_array_add (all_names, NULL);
  if (any_file && !tool_check_patterns (patterns, used, (const char *const *) all_names->pdata))
    return FALSE;

  for (guint i = self->files->len; patterns[0] != NULL && i-- > 0;)
    {
      const Listed *listed = self->files->pdata[i];
      gboolean any = listed->file == NULL;

      for (gsize j = 0; listed->names[j] != NULL; j++)
        any |= listed->matches[j];
      if (!any)
        g_ptr_array_remove_index (self->files, i);
    }
  return TRUE;
}

static int
list (const Options *options,
      char         **arguments)
{
  g_auto (Request) request = { NULL };

  request_init (&request, options, arguments);
  if (!select_tensors (&request))
    return TOOL_FAILED;

  if (options->json)
    print_as_json (options, &request);
  else
    print_request (options, &request);
  return request.has_failed ? TOOL_FAILED : TOOL_DONE;
}

/* Lists what is on a bus, of which less is known than of files. */
static int
list_bus (const ToolCommand *command,
          const Options     *options,
          char             **arguments)
{
  g_autoptr (GPtrArray) patterns = g_ptr_array_new ();

  if (options->is_long || options->json || options->metadata || options->sort_text != NULL)
    return tool_wrong_usage (command, _("--long, --json, --metadata and --sort are for files"));

  for (gsize i = 1; arguments[i] != NULL; i++)
    g_ptr_array_add (patterns, arguments[i]);
  for (gsize i = 0; options->select != NULL && options->select[i] != NULL; i++)
    g_ptr_array_add (patterns, options->select[i]);
  g_ptr_array_add (patterns, NULL);
  return tool_ls_bus (arguments[0] + strlen (TOOL_BUS_PREFIX), (char **) patterns->pdata,
                      options->names);
}

int
tool_ls (const ToolCommand *command,
         int                argc,
         char              *argv[])
{
  g_auto (Options) options = { FALSE };
  const GOptionEntry entries[] = {
    { "all", 'a', 0, G_OPTION_ARG_NONE, &options.all, N_("Print one line for each tensor"), NULL },
    { "long", 'l', 0, G_OPTION_ARG_NONE, &options.is_long,
      N_("Like --all, with the offset, the alignment and the file"), NULL },
    { "names", '1', 0, G_OPTION_ARG_NONE, &options.names,
      N_("Print only the names, one per line"), NULL },
    { "human-readable", 'h', 0, G_OPTION_ARG_NONE, &options.is_human,
      N_("Print sizes as 13.5 GiB"), NULL },
    { "human", 'H', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.is_human, NULL, NULL },
    { "metadata", 'm', 0, G_OPTION_ARG_NONE, &options.metadata,
      N_("Also print the file's metadata"), NULL },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, N_("Print everything as JSON"), NULL },
    { "select", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.select,
      N_("List only the tensors that match; can be repeated"), N_("PATTERN") },
    { "sort", 0, 0, G_OPTION_ARG_STRING, &options.sort_text,
      N_("Sort by name, which is the default, by size, or as in the file"), "name|size|file" },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = NULL;

  /* -h stands for --human together with others, as in ls. */
  if (argc == 2 && g_str_equal (argv[1], "-h"))
    argv[1] = (char *) "--help";
  arguments = tool_parse (command, entries, argc, argv, &status);
  if (arguments == NULL)
    return status;
  if (!tool_parse_sort (options.sort_text, &options.sort))
    return tool_wrong_usage (command, _("--sort=%s is not name, size or file"), options.sort_text);

  return arguments[0] != NULL && g_str_has_prefix (arguments[0], TOOL_BUS_PREFIX)
         ? list_bus (command, &options, arguments) : list (&options, arguments);
}
