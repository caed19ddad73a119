/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* What a file says of its tensors, and of itself. */

#include "mtl-tensor-file-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-quoted-text-private.h"

/**
 * mtl_tensor_file_get_names:
 * @self: a file of tensors
 *
 * Gets the names of all tensors, in the order of the list. They are a
 * stranger's: any text, and no paths.
 *
 * Returns: (array zero-terminated=1) (transfer container): the names, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_get_names (MtlTensorFile *self)
{
  const char **names;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  names = g_new0 (const char *, self->table->n_entries + 1);
  for (gsize i = 0; i < self->table->n_entries; i++)
    names[i] = self->table->entries[i].name;
  return names;
}

/**
 * mtl_tensor_file_match_names:
 * @self: a file of tensors
 * @pattern: (nullable): what the names are to be like, %NULL for any
 *
 * Gets the names that match a pattern of [struct@GLib.PatternSpec], in the order
 * of the list. In it a `*` stands for any text, also none, and a `?` for any one
 * character; all else stands for itself.
 *
 * Returns: (array zero-terminated=1) (transfer container): the names, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_match_names (MtlTensorFile *self,
                             const char    *pattern)
{
  g_autoptr (GPatternSpec) spec = NULL;
  const char **names;
  gsize n_names = 0;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  spec = g_pattern_spec_new (pattern != NULL ? pattern : "*");
  names = mtl_tensor_file_get_names (self);
  for (gsize i = 0; i < self->table->n_entries; i++)
    if (g_pattern_spec_match_string (spec, names[i]))
      names[n_names++] = names[i];
  names[n_names] = NULL;
  return names;
}

/* Of several files the first one's. */
static const MtlTensorTable *
get_metadata_table (MtlTensorFile *self)
{
  return self->n_parts > 0 ? self->parts[0].table : self->table;
}

/**
 * mtl_tensor_file_get_metadata_keys:
 * @self: a file of tensors
 *
 * Gets the keys of the file's metadata, in its order; see
 * [method@Mtl.TensorFile.get_metadata].
 *
 * Returns: (array zero-terminated=1) (transfer container): the keys, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_get_metadata_keys (MtlTensorFile *self)
{
  const MtlTensorTable *table;
  const char **keys;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  table = get_metadata_table (self);
  keys = g_new0 (const char *, table->n_metadata + 1);
  for (gsize i = 0; i < table->n_metadata; i++)
    keys[i] = table->metadata[i].key;
  return keys;
}

/**
 * mtl_tensor_file_get_metadata:
 * @self: a file of tensors
 * @key: a key
 *
 * Gets what the file's metadata have by that key. Only safetensors has
 * metadata; of several files that an index names they are the first one's.
 *
 * Returns: (transfer none) (nullable): the text, owned by @self, %NULL where
 *   there is no such key
 *
 * Since: 1.0
 */
const char *
mtl_tensor_file_get_metadata (MtlTensorFile *self,
                              const char    *key)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (key != NULL, NULL);

  return mtl_tensor_table_lookup_metadata (get_metadata_table (self), key);
}

const MtlTensorEntry *
mtl_tensor_file_find_entry (MtlTensorFile  *self,
                            const char     *name,
                            GError        **error)
{
  const MtlTensorEntry *entry = mtl_tensor_table_lookup (self->table, name);
  g_autofree char *quoted = NULL;

  if (entry != NULL)
    return entry;

  quoted = mtl_quote_text (name, strlen (name));
  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "There is no tensor %s among the %" G_GSIZE_FORMAT " of the file", quoted,
               self->table->n_entries);
  return NULL;
}

/**
 * mtl_tensor_file_get_entry:
 * @self: a file of tensors
 * @name: a tensor's name
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets what the file says of one tensor, without reading its bytes.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is none of that name.
 *
 * Returns: (transfer full): the entry
 *
 * Since: 1.0
 */
MtlTensorFileEntry *
mtl_tensor_file_get_entry (MtlTensorFile  *self,
                           const char     *name,
                           GError        **error)
{
  const MtlTensorEntry *entry;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  entry = mtl_tensor_file_find_entry (self, name, error);
  return entry != NULL ? mtl_tensor_file_give_entry (self, entry) : NULL;
}
