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

static gboolean
is_plain (char character)
{
  return character != '"' && character != '\\' && (guchar) character >= 0x20;
}

static void
append_quoted (MtlText    *text,
               const char *value)
{
  mtl_text_append_c (text, '"');
  for (const char *at = value; *at != '\0';)
    {
      const char *begin = at;

      while (is_plain (*at))
        at++;
      mtl_text_append_len (text, begin, at - begin);
      if (*at == '"' || *at == '\\')
        mtl_text_append_printf (text, "\\%c", *at++);
      else if (*at != '\0')
        mtl_text_append_printf (text, "\\u%04x", *at++);
    }
  mtl_text_append_c (text, '"');
}

static void
append_member (MtlText    *text,
               const char *key,
               const char *value)
{
  append_quoted (text, key);
  mtl_text_append_c (text, ':');
  append_quoted (text, value);
}

static void
append_metadata (MtlText              *text,
                 const MtlTensorTable *table)
{
  mtl_text_append (text, "\"__metadata__\":{");
  for (gsize i = 0; i < table->n_metadata; i++)
    {
      if (i > 0)
        mtl_text_append_c (text, ',');
      append_member (text, table->metadata[i].key, table->metadata[i].value);
    }
  mtl_text_append_c (text, '}');
}

static void
append_extents (MtlText              *text,
                const MtlTensorEntry *entry)
{
  for (guint32 i = 0; i < entry->n_dims; i++)
    mtl_text_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", entry->shape[i]);
}

static void
append_tensor (MtlText              *text,
               const MtlTensorEntry *entry)
{
  append_quoted (text, entry->name);
  mtl_text_append_printf (text, ":{\"dtype\":\"%s\",\"shape\":[",
                          mtl_dtype_get_safetensors_name (entry->dtype));
  append_extents (text, entry);
  mtl_text_append_printf (text, "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                          "]}", entry->begin, entry->end);
}

static void
pad (MtlText *text,
     gsize    n_more,
     gsize    alignment)
{
  gsize rest = (text->len + n_more) % alignment;

  if (rest > 0)
    mtl_text_append_fill (text, ' ', alignment - rest);
}

/* Spaces are allowed after the header. There can be no other gaps. */
gboolean
mtl_safetensors_header_write (const MtlTensorTable  *table,
                              gsize                  alignment,
                              MtlText               *text,
                              GError               **error)
{
  guint64 size;

  mtl_text_append_len (text, "\0\0\0\0\0\0\0\0{", MTL_SAFETENSORS_PREFIX_SIZE + 1);
  if (table->n_metadata > 0)
    append_metadata (text, table);
  for (gsize i = 0; i < table->n_entries; i++)
    {
      if (i > 0 || table->n_metadata > 0)
        mtl_text_append_c (text, ',');
      append_tensor (text, &table->entries[i]);
    }
  mtl_text_append_c (text, '}');
  pad (text, 0, alignment);
  if (!mtl_text_check (text, error))
    return FALSE;

  size = text->len - MTL_SAFETENSORS_PREFIX_SIZE;
  if (size > MTL_SAFETENSORS_MAX_HEADER_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The header of %" G_GSIZE_FORMAT " tensors would have %" G_GUINT64_FORMAT
                   " bytes, but the format's limit is %d", table->n_entries, size,
                   MTL_SAFETENSORS_MAX_HEADER_SIZE);
      return FALSE;
    }

  size = GUINT64_TO_LE (size);
  memcpy (text->str, &size, sizeof size);
  return TRUE;
}

static void
append_descr (MtlText  *text,
              MtlDType  dtype)
{
  MtlElementType type = mtl_element_type_new (dtype);
  char kind = mtl_npy_dtype_get_kind (dtype);
  char order = type.bits == 8 || kind == 'V' ? '|' : '<';

  mtl_text_append_printf (text, "%c%c%u", order, kind, type.bits / 8);
}

/* Version 1.0, with two bytes for the size of the header, which all readers support. */
gboolean
mtl_npy_header_write (const MtlTensorEntry  *entry,
                      gsize                  alignment,
                      MtlText               *text,
                      GError               **error)
{
  gsize size;

  mtl_text_append_len (text, NPY_PREFIX "..", NPY_PREFIX_SIZE + 2);
  mtl_text_append (text, "{'descr': '");
  append_descr (text, entry->dtype);
  mtl_text_append_printf (text, "', 'fortran_order': %s, 'shape': (",
                          entry->order == MTL_ORDER_F ? "True" : "False");
  append_extents (text, entry);
  mtl_text_append (text, entry->n_dims == 1 ? ",), }" : "), }");
  pad (text, 1, alignment);
  mtl_text_append_c (text, '\n');
  if (!mtl_text_check (text, error))
    return FALSE;

  size = text->len - NPY_PREFIX_SIZE - 2;
  if (size > G_MAXUINT16)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A .npy header of %" G_GSIZE_FORMAT " bytes, for an alignment of %"
                   G_GSIZE_FORMAT ", is larger than the limit of %d", size, alignment,
                   G_MAXUINT16);
      return FALSE;
    }

  text->str[NPY_PREFIX_SIZE] = size & 0xff;
  text->str[NPY_PREFIX_SIZE + 1] = size >> 8;
  return TRUE;
}

gboolean
mtl_safetensors_index_write (const MtlTensorTable  *table,
                             guint64                total_size,
                             MtlText               *text,
                             GError               **error)
{
  mtl_text_append_printf (text, "{\n  \"metadata\":{\"total_size\":%" G_GUINT64_FORMAT
                          "},\n  \"weight_map\":{", total_size);
  for (gsize i = 0; i < table->n_entries; i++)
    {
      mtl_text_append (text, i > 0 ? ",\n    " : "\n    ");
      append_member (text, table->entries[i].name, table->files[table->entries[i].file]);
    }
  mtl_text_append (text, "\n  }\n}\n");
  return mtl_text_check (text, error);
}
