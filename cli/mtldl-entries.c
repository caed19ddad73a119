/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Entries of files, some of which cannot be loaded. */

#include "mtldl-tool.h"

gboolean
tool_is_refused (MtlTensorFileEntry *entry)
{
  return mtl_tensor_file_entry_get_error (entry) != NULL;
}

/* NULL if it is not known. */
char *
tool_dup_shape (MtlTensorFileEntry *entry)
{
  gsize n_dims;
  const gint64 *shape = mtl_tensor_file_entry_get_shape (entry, &n_dims);

  return shape != NULL ? mtl_dims_to_json (shape, n_dims) : NULL;
}

/* A key and its value in JSON. */
void
tool_print_json_shape (MtlTensorFileEntry *entry)
{
  g_autofree char *shape = tool_dup_shape (entry);

  tool_print ("\"shape\": %s", shape != NULL ? shape : "null");
}

void
tool_print_json_type (MtlTensorFileEntry *entry)
{
  tool_print_text ("\"dtype\": ");
  tool_print_json_text (mtl_tensor_file_entry_get_type_name (entry));
}

void
tool_complain_of_entry (const char   *path,
                        const char   *name,
                        const GError *error)
{
  g_autofree char *shortened = tool_shorten_name (name);
  g_autofree char *escaped = tool_escape (shortened);
  g_autofree char *escaped_path = tool_escape (path);

  tool_complain (_("%s: “%s” cannot be loaded: %s"), escaped_path, escaped, error->message);
}
