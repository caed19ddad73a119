/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl ls: lists the contents of a file. */

#include "mtldl-ls.h"

#include <string.h>

/* The text columns before the name. All but the shape are aligned to the right. */
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

static const char *const titles[N_COLUMNS] = {
  "DTYPE", "SHAPE", "BYTES", "OFFSET", "ALIGNMENT", "FILE"
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
} Options;

/* Whether the offset of the elements is not a multiple of their size. */
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
  gsize n_dims;
  const gint64 *shape = mtl_tensor_file_entry_get_shape (row->entry, &n_dims);
  g_autofree char *base = NULL;

  switch (column)
    {
    case COLUMN_DTYPE:
      return mtl_dtype_to_string (mtl_tensor_file_entry_get_dtype (row->entry));
    case COLUMN_SHAPE:
      return tool_shape_to_string (shape, n_dims);
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
pad (guint n)
{
  tool_print ("%*s", (int) n, "");
}

static void
print_cell (const char *text,
            guint       column,
            guint       width)
{
  guint n = width - g_utf8_strlen (text, -1);
  gboolean is_number = column >= COLUMN_BYTES && column <= COLUMN_ALIGNMENT;

  if (is_number)
    pad (n);
  tool_print_text (text);
  if (!is_number)
    pad (n);
  tool_print_text ("  ");
}

static void
print_titles (const guint *widths,
              guint        n_columns)
{
  tool_print_text (tool_strong ());
  for (guint column = 0; column < n_columns; column++)
    print_cell (titles[column], column, widths[column]);
  tool_print ("NAME%s\n", tool_plain ());
}

static void
print_rows (const Options *options,
            GPtrArray     *rows)
{
  guint n_columns = options->is_long ? N_COLUMNS : N_SHORT;
  g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);
  guint widths[N_COLUMNS];

  for (guint column = 0; column < n_columns; column++)
    widths[column] = strlen (titles[column]);

  for (guint i = 0; i < rows->len; i++)
    for (guint column = 0; column < n_columns; column++)
      {
        char *text = cell_to_string (options, rows->pdata[i], column);

        widths[column] = MAX (widths[column], g_utf8_strlen (text, -1));
        g_ptr_array_add (cells, text);
      }

  if (rows->len > 0)
    print_titles (widths, n_columns);
  for (guint i = 0; i < rows->len; i++)
    {
      for (guint column = 0; column < n_columns; column++)
        print_cell (cells->pdata[i * n_columns + column], column, widths[column]);
      tool_print ("%s\n", ((ToolRow *) rows->pdata[i])->name);
    }
}

static void
print_total (const char *name,
             gsize       n_tensors,
             guint64     n_bytes)
{
  g_autofree char *human = tool_format_bytes (n_bytes);

  tool_print ("%-16s %8" G_GSIZE_FORMAT " %s %16" G_GUINT64_FORMAT " bytes", name, n_tensors,
              n_tensors == 1 ? "tensor, " : "tensors,", n_bytes);
  if (n_bytes >= 1024)
    tool_print (" (%s)", human);
  tool_print_text ("\n");
}

static void
print_alignment (GPtrArray *entries)
{
  guint64 least = 0;
  gsize n_misaligned = 0;

  for (guint i = 0; i < entries->len; i++)
    {
      MtlTensorFileEntry *entry = entries->pdata[i];
      guint64 alignment = tool_get_alignment (mtl_tensor_file_entry_get_byte_offset (entry));

      if (mtl_tensor_file_entry_get_n_bytes (entry) == 0)
        continue;
      least = least == 0 ? alignment : MIN (least, alignment);
      n_misaligned += is_misaligned (entry);
    }

  if (least > 0)
    tool_print ("aligned to       %8" G_GUINT64_FORMAT " byte%s", least, least == 1 ? "" : "s");
  if (n_misaligned > 0)
    tool_print (", %" G_GSIZE_FORMAT " of them not aligned to their elements", n_misaligned);
  if (least > 0)
    tool_print_text ("\n");
}

static void
print_totals (MtlTensorFile *file,
              GPtrArray     *entries)
{
  g_autoptr (GArray) totals = tool_count_totals (entries);
  guint64 n_bytes = 0;

  for (guint i = 0; i < totals->len; i++)
    {
      const ToolTotal *total = &g_array_index (totals, ToolTotal, i);
      g_autofree char *name = mtl_dtype_to_string (total->dtype);

      print_total (name, total->n_tensors, total->n_bytes);
      n_bytes += total->n_bytes;
    }

  if (totals->len != 1)
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
      g_autofree char *value = tool_escape (mtl_tensor_file_get_metadata (file, keys[i]));

      tool_print ("  %s: %s\n", key, value);
    }
}

static GPtrArray *
make_rows (const Options *options,
           GPtrArray     *entries)
{
  GPtrArray *rows;

  if (!options->all && !options->is_long)
    return tool_fold (entries);

  rows = g_ptr_array_new_with_free_func ((GDestroyNotify) tool_row_free);
  for (guint i = 0; i < entries->len; i++)
    {
      ToolRow *row = g_new (ToolRow, 1);

      *row = (ToolRow) { entries->pdata[i],
                         tool_escape (mtl_tensor_file_entry_get_name (entries->pdata[i])), 1 };
      g_ptr_array_add (rows, row);
    }
  return rows;
}

static void
print_list (const Options *options,
            MtlTensorFile *file,
            GPtrArray     *entries)
{
  g_autoptr (GPtrArray) rows = make_rows (options, entries);

  print_rows (options, rows);
  if (rows->len > 0)
    tool_print_text ("\n");
  print_totals (file, entries);
  if (options->metadata)
    print_metadata (file);
}

/* Fast, because shell completion calls it each time somebody presses TAB. */
static int
list_names (MtlTensorFile  *file,
            char          **patterns)
{
  g_autofree const char **names = tool_select_names (file, patterns);

  if (names == NULL)
    return TOOL_FAILED;

  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autofree char *escaped = tool_escape (names[i]);

      tool_print ("%s\n", escaped);
    }
  return TOOL_DONE;
}

static int
list (const Options *options,
      char         **arguments)
{
  g_autoptr (MtlTensorFile) file = tool_open (arguments[0]);
  g_autoptr (GPtrArray) entries = NULL;

  if (file == NULL)
    return TOOL_FAILED;
  if (options->names && !options->json)
    return list_names (file, arguments + 1);

  entries = tool_select_entries (file, arguments + 1);
  if (entries == NULL)
    return TOOL_FAILED;

  if (options->json)
    tool_print_json (file, entries);
  else
    print_list (options, file, entries);
  return TOOL_DONE;
}

int
tool_ls (const ToolCommand *command,
         int                argc,
         char              *argv[])
{
  Options options = { FALSE };
  const GOptionEntry entries[] = {
    { "all", 'a', 0, G_OPTION_ARG_NONE, &options.all, "Print one line for each tensor", NULL },
    { "long", 'l', 0, G_OPTION_ARG_NONE, &options.is_long,
      "Like --all, with the offset, the alignment and the file", NULL },
    { "names", '1', 0, G_OPTION_ARG_NONE, &options.names,
      "Print only the names, one per line", NULL },
    { "human-readable", 'H', 0, G_OPTION_ARG_NONE, &options.is_human,
      "Print sizes as 13.5 GiB", NULL },
    { "metadata", 'm', 0, G_OPTION_ARG_NONE, &options.metadata,
      "Also print the file's metadata", NULL },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print everything as JSON", NULL },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = tool_parse (command, entries, argc, argv, &status);

  return arguments != NULL ? list (&options, arguments) : status;
}
