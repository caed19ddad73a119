/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl ls --json. */

#include "mtldl-ls.h"

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
      tool_print_json_text (keys[i]);
      tool_print_text (": ");
      tool_print_json_text (mtl_tensor_file_lookup_metadata (file, keys[i]));
    }
  tool_print_text (keys[0] != NULL ? "\n  },\n" : "},\n");
}

static void
print_entry (MtlTensorFile      *tensors,
             MtlTensorFileEntry *entry)
{
  guint64 offset = mtl_tensor_file_entry_get_byte_offset (entry);
  const GError *error = mtl_tensor_file_entry_get_error (entry);
  g_autofree char *name = tool_dup_name (tensors, entry);
  g_autofree char *file = g_file_get_basename (mtl_tensor_file_entry_get_file (entry));

  tool_print_text ("    {\"name\": ");
  tool_print_json_text (name);
  tool_print_text (", ");
  tool_print_json_type (entry);
  tool_print_text (", ");
  tool_print_json_shape (entry);
  tool_print (", \"bytes\": %" G_GUINT64_FORMAT ", \"offset\": %" G_GUINT64_FORMAT
              ", \"alignment\": %" G_GUINT64_FORMAT ", \"file\": ",
              mtl_tensor_file_entry_get_n_bytes (entry), offset, tool_get_alignment (offset));
  tool_print_json_text (file);
  if (error != NULL)
    {
      tool_print_text (", \"error\": ");
      tool_print_json_text (error->message);
    }
  tool_print_text ("}");
}

static void
print_totals (GPtrArray *entries)
{
  ToolTotal refused;
  g_autoptr (GArray) totals = tool_count_totals (entries, &refused);

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
                 GPtrArray     *entries,
                 const char    *path)
{
  tool_print_text ("{\n  \"path\": ");
  tool_print_json_text (path);
  tool_print_text (",\n");
  print_format (file);
  print_metadata (file);
  tool_print_text ("  \"tensors\": [");
  for (guint i = 0; i < entries->len; i++)
    {
      tool_print_text (i > 0 ? ",\n" : "\n");
      print_entry (file, entries->pdata[i]);
    }
  tool_print_text (entries->len > 0 ? "\n  ],\n" : "],\n");
  print_totals (entries);
  tool_print_text ("}");
}

/* The object takes the place of a file that cannot be opened. */
void
tool_print_json_error (const char *path,
                       const char *error)
{
  tool_print_text ("{\n  \"path\": ");
  tool_print_json_text (path);
  tool_print_text (",\n  \"error\": ");
  tool_print_json_text (error);
  tool_print_text ("\n}");
}
