/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-file-header-writer-private.h"

#include <string.h>

#include "mtl-element-type-private.h"
#include "mtl-error.h"
#include "mtl-npy-header-private.h"
#include "mtl-safetensors-header-private.h"

#define NPY_PREFIX "\x93NUMPY\x01\x00"
#define NPY_PREFIX_SIZE 8

static void
append_text (GString    *string,
             const char *text)
{
  g_string_append_c (string, '"');
  for (; *text != '\0'; text++)
    if (*text == '"' || *text == '\\')
      g_string_append_printf (string, "\\%c", *text);
    else if ((guchar) *text < 0x20)
      g_string_append_printf (string, "\\u%04x", *text);
    else
      g_string_append_c (string, *text);
  g_string_append_c (string, '"');
}

static void
append_member (GString    *string,
               const char *key,
               const char *value)
{
  append_text (string, key);
  g_string_append_c (string, ':');
  append_text (string, value);
}

static void
append_metadata (GString              *string,
                 const MtlTensorTable *table)
{
  g_string_append (string, "\"__metadata__\":{");
  for (gsize i = 0; i < table->n_metadata; i++)
    {
      if (i > 0)
        g_string_append_c (string, ',');
      append_member (string, table->metadata[i].key, table->metadata[i].value);
    }
  g_string_append_c (string, '}');
}

static void
append_extents (GString              *string,
                const MtlTensorEntry *entry)
{
  for (guint32 i = 0; i < entry->n_dims; i++)
    g_string_append_printf (string, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", entry->shape[i]);
}

static void
append_tensor (GString              *string,
               const MtlTensorEntry *entry)
{
  append_text (string, entry->name);
  g_string_append_printf (string, ":{\"dtype\":\"%s\",\"shape\":[",
                          mtl_safetensors_dtype_get_name (entry->dtype));
  append_extents (string, entry);
  g_string_append_printf (string, "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                          "]}", entry->begin, entry->end);
}

static void
pad (GString *string,
     gsize    n_more,
     gsize    alignment)
{
  gsize rest = (string->len + n_more) % alignment;
  gsize begin = string->len;

  if (rest == 0)
    return;

  g_string_set_size (string, begin + alignment - rest);
  memset (string->str + begin, ' ', alignment - rest);
}

/* Spaces are allowed after the header. There can be no other gaps. */
GString *
mtl_safetensors_header_write (const MtlTensorTable  *table,
                              gsize                  alignment,
                              GError               **error)
{
  g_autoptr (GString) string = g_string_sized_new (96 * table->n_entries + alignment);
  guint64 size;

  g_string_append_len (string, "\0\0\0\0\0\0\0\0{", MTL_SAFETENSORS_PREFIX_SIZE + 1);
  if (table->n_metadata > 0)
    append_metadata (string, table);
  for (gsize i = 0; i < table->n_entries; i++)
    {
      if (i > 0 || table->n_metadata > 0)
        g_string_append_c (string, ',');
      append_tensor (string, &table->entries[i]);
    }
  g_string_append_c (string, '}');
  pad (string, 0, alignment);

  size = string->len - MTL_SAFETENSORS_PREFIX_SIZE;
  if (size > MTL_SAFETENSORS_MAX_HEADER_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The header of %" G_GSIZE_FORMAT " tensors would have %" G_GUINT64_FORMAT
                   " bytes, but the format's limit is %d", table->n_entries, size,
                   MTL_SAFETENSORS_MAX_HEADER_SIZE);
      return NULL;
    }

  size = GUINT64_TO_LE (size);
  memcpy (string->str, &size, sizeof size);
  return g_steal_pointer (&string);
}

static void
append_descr (GString  *string,
              MtlDType  dtype)
{
  MtlElementType type = mtl_element_type_new (dtype);
  char kind = mtl_npy_dtype_get_kind (dtype);
  char order = type.bits == 8 || kind == 'V' ? '|' : '<';

  g_string_append_printf (string, "%c%c%u", order, kind, type.bits / 8);
}

/* Version 1.0, with two bytes for the size of the header, which all readers support. */
GString *
mtl_npy_header_write (const MtlTensorEntry  *entry,
                      gsize                  alignment,
                      GError               **error)
{
  g_autoptr (GString) string = g_string_sized_new (128);
  gsize size;

  g_string_append_len (string, NPY_PREFIX "..", NPY_PREFIX_SIZE + 2);
  g_string_append (string, "{'descr': '");
  append_descr (string, entry->dtype);
  g_string_append_printf (string, "', 'fortran_order': %s, 'shape': (",
                          entry->order == MTL_ORDER_F ? "True" : "False");
  append_extents (string, entry);
  g_string_append (string, entry->n_dims == 1 ? ",), }" : "), }");
  pad (string, 1, alignment);
  g_string_append_c (string, '\n');

  size = string->len - NPY_PREFIX_SIZE - 2;
  if (size > G_MAXUINT16)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A .npy header of %" G_GSIZE_FORMAT " bytes, for an alignment of %"
                   G_GSIZE_FORMAT ", is larger than the limit of %d", size, alignment,
                   G_MAXUINT16);
      return NULL;
    }

  string->str[NPY_PREFIX_SIZE] = size & 0xff;
  string->str[NPY_PREFIX_SIZE + 1] = size >> 8;
  return g_steal_pointer (&string);
}

GString *
mtl_safetensors_index_write (const MtlTensorTable *table,
                             guint64               total_size)
{
  GString *string = g_string_sized_new (96 * table->n_entries);

  g_string_append_printf (string, "{\n  \"metadata\":{\"total_size\":%" G_GUINT64_FORMAT
                          "},\n  \"weight_map\":{", total_size);
  for (gsize i = 0; i < table->n_entries; i++)
    {
      g_string_append (string, i > 0 ? ",\n    " : "\n    ");
      append_member (string, table->entries[i].name, table->files[table->entries[i].file]);
    }
  g_string_append (string, "\n  }\n}\n");
  return string;
}
