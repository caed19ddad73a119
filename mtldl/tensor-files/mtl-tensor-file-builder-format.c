/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Chooses the format in which a file is written. */

#include "mtl-tensor-file-builder-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-file-source-private.h"

#define INDEX_ENDING ".index.json"
#define MAX_ENDING 16 /* bytes; longer ones are parts of a name */

static gboolean
ends_in (const char *name,
         const char *ending)
{
  gsize length = strlen (name), ending_length = strlen (ending);

  return length >= ending_length
         && g_ascii_strcasecmp (name + length - ending_length, ending) == 0;
}

/* Finds the ending that names the format, beginning with a dot, or NULL. The ends of
 * model-v1.5, of qwen2.5-0.5b and of a hidden file’s name are none. */
static const char *
find_ending (const char *name)
{
  const char *dot = strrchr (name, '.');
  gsize length = dot != NULL ? strlen (dot) : 0;

  if (dot == NULL || dot == name || length > MAX_ENDING || !g_ascii_isalpha (dot[1]))
    return NULL;

  for (const char *at = dot + 1; *at != '\0'; at++)
    if (!g_ascii_isalnum (*at))
      return NULL;

  return dot;
}

static void
refuse_name (GFile       *file,
             const char  *ending,
             GError     **error)
{
  g_autofree char *quoted = mtl_quote_file_name (file);

  if (ends_in (ending, ".npz"))
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "%s cannot be written: .npz files can only be read. Write a .safetensors file, or"
                 " one .npy file for each tensor", quoted);
  else if (ends_in (ending, INDEX_ENDING))
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "%s is the name of an index of several files, which write_shards() writes; a "
                 "single file has a name that ends in .safetensors or .npy", quoted);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "%s would not be a %s file: files are written as .safetensors or .npy. End the "
                 "name in one of these, or set the format", quoted, ending);
}

MtlTensorFileFormat
mtl_tensor_file_builder_find_format (MtlTensorFileBuilder  *self,
                                     GFile                 *file,
                                     GError               **error)
{
  g_autofree char *name = NULL;
  const char *ending;

  if (self->format != MTL_TENSOR_FILE_FORMAT_AUTO)
    return self->format;

  name = g_file_get_basename (file);
  if (name != NULL && ends_in (name, ".npy"))
    return MTL_TENSOR_FILE_FORMAT_NPY;

  ending = name != NULL ? find_ending (name) : NULL;
  if (ending == NULL || ends_in (ending, ".safetensors"))
    return MTL_TENSOR_FILE_FORMAT_SAFETENSORS;

  refuse_name (file, ends_in (name, INDEX_ENDING) ? INDEX_ENDING : ending, error);
  return MTL_TENSOR_FILE_FORMAT_AUTO;
}
