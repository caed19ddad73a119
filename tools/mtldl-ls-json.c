/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl ls --json. */

#include "mtldl-ls.h"

/* Characters that a terminal does not print are written as \u, so that they do no
 * harm there. */
static void
append_character (GString  *string,
                  gunichar  character)
{
  if (character == '"' || character == '\\')
    g_string_append_printf (string, "\\%c", (char) character);
  else if (tool_is_printed (character))
    g_string_append_unichar (string, character);
  else if (character <= 0xffff)
    g_string_append_printf (string, "\\u%04x", character);
  else
    g_string_append_printf (string, "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
                            0xdc00 + (character & 0x3ff));
}

static void
print_string (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autoptr (GString) string = g_string_new ("\"");

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    append_character (string, g_utf8_get_char (at));
  tool_print ("%s\"", string->str);
}

static void
print_format (MtlTensorFile *file)
{
  static const char *const names[] = {
    [MTL_TENSOR_FILE_FORMAT_SAFETENSORS] = "safetensors",
    [MTL_TENSOR_FILE_FORMAT_NPY] = "npy",
    [MTL_TENSOR_FILE_FORMAT_NPZ] = "npz",
  };

  tool_print ("  \"format\": \"%s\",\n", names[mtl_tensor_file_get_format (file)]);
}

static void
print_metadata (MtlTensorFile *file)
{
  g_autofree const char **keys = mtl_tensor_file_list_metadata_keys (file);

  tool_print_text ("  \"metadata\": {");
  for (gsize i = 0; keys[i] != NULL; i++)
    {
      tool_print_text (i > 0 ? ",\n    " : "\n    ");
      print_string (keys[i]);
      tool_print_text (": ");
      print_string (mtl_tensor_file_get_metadata (file, keys[i]));
    }
  tool_print_text (keys[0] != NULL ? "\n  },\n" : "},\n");
}

static void
print_entry (MtlTensorFileEntry *entry)
{
  guint64 offset = mtl_tensor_file_entry_get_byte_offset (entry);
  gsize n_dims;
  const gint64 *shape = mtl_tensor_file_entry_get_shape (entry, &n_dims);
  g_autofree char *shape_text = tool_shape_to_string (shape, n_dims);
  g_autofree char *dtype = mtl_dtype_to_string (mtl_tensor_file_entry_get_dtype (entry));
  g_autofree char *file = g_file_get_basename (mtl_tensor_file_entry_get_file (entry));

  tool_print_text ("    {\"name\": ");
  print_string (mtl_tensor_file_entry_get_name (entry));
  tool_print (", \"dtype\": \"%s\", \"shape\": %s, \"bytes\": %" G_GUINT64_FORMAT
              ", \"offset\": %" G_GUINT64_FORMAT ", \"alignment\": %" G_GUINT64_FORMAT
              ", \"file\": ", dtype, shape_text, mtl_tensor_file_entry_get_n_bytes (entry), offset,
              tool_get_alignment (offset));
  print_string (file);
  tool_print_text ("}");
}

static void
print_totals (GPtrArray *entries)
{
  g_autoptr (GArray) totals = tool_count_totals (entries);

  tool_print_text ("  \"totals\": {");
  for (guint i = 0; i < totals->len; i++)
    {
      const ToolTotal *total = &g_array_index (totals, ToolTotal, i);
      g_autofree char *name = mtl_dtype_to_string (total->dtype);

      tool_print ("%s\n    \"%s\": {\"tensors\": %" G_GSIZE_FORMAT ", \"bytes\": %"
                  G_GUINT64_FORMAT "}", i > 0 ? "," : "", name, total->n_tensors, total->n_bytes);
    }
  tool_print_text (totals->len > 0 ? "\n  }\n" : "}\n");
}

void
tool_print_json (MtlTensorFile *file,
                 GPtrArray     *entries)
{
  tool_print_text ("{\n");
  print_format (file);
  print_metadata (file);
  tool_print_text ("  \"tensors\": [");
  for (guint i = 0; i < entries->len; i++)
    {
      tool_print_text (i > 0 ? ",\n" : "\n");
      print_entry (entries->pdata[i]);
    }
  tool_print_text (entries->len > 0 ? "\n  ],\n" : "],\n");
  print_totals (entries);
  tool_print_text ("}\n");
}
