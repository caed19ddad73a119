/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-safetensors-header-private.h"

#include <string.h>

#include "mtl-element-type-private.h"
#include "mtl-error-private.h"
#include "mtl-json-reader-private.h"
#include "mtl-layout-private.h"
#include "mtl-message-text-private.h"

#define METADATA_KEY "__metadata__"

/* The prefix holds the first bytes of a file; fewer than 8 only if it has no more. */
gboolean
mtl_safetensors_header_get_size (const guint8  *prefix,
                                 gsize          n_available,
                                 guint64        file_size,
                                 gsize         *header_size,
                                 GError       **error)
{
  guint64 size;

  if (n_available < MTL_SAFETENSORS_PREFIX_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "%" G_GSIZE_FORMAT " byte%s too few for a safetensors file, which begins "
                   "with %d bytes for the size of its header",
                   n_available, n_available == 1 ? " is" : "s are", MTL_SAFETENSORS_PREFIX_SIZE);
      return FALSE;
    }

  memcpy (&size, prefix, sizeof size);
  size = GUINT64_FROM_LE (size);
  if (size > MTL_SAFETENSORS_MAX_HEADER_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A header of %" G_GUINT64_FORMAT " bytes is larger than the format's limit "
                   "of %d", size, MTL_SAFETENSORS_MAX_HEADER_SIZE);
      return FALSE;
    }
  if (size > file_size - MTL_SAFETENSORS_PREFIX_SIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A header of %" G_GUINT64_FORMAT " byte%s is larger than the rest of the file, "
                   "%" G_GUINT64_FORMAT " byte%s: it is truncated, or not a safetensors file",
                   size, MTL_S (size), file_size - MTL_SAFETENSORS_PREFIX_SIZE,
                   MTL_S (file_size - MTL_SAFETENSORS_PREFIX_SIZE));
      return FALSE;
    }

  *header_size = size;
  return TRUE;
}

/* The fields of a tensor. The format allows more types and shapes than can be loaded. */
typedef struct
{
  MtlDType dtype;
  char *type_name; /* if it has no dtype */
  gint64 *shape;   /* at most MTL_LAYOUT_MAX_DIMS extents */
  gsize n_dims;    /* may be more than that */
  guint64 largest; /* extent */
  guint64 volume;  /* the product of the extents that are not 0 */
  gboolean is_empty;
  gboolean overflows; /* the volume */
  guint64 begin;
  guint64 end;
} Fields;

static void
fields_clear (Fields *self)
{
  g_clear_pointer (&self->type_name, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fields, fields_clear)

/* Later versions of the format may have more types. */
static gboolean
read_dtype (MtlJsonReader *reader,
            Fields        *fields)
{
  MtlJsonString name;

  if (!mtl_json_reader_read_string (reader, &name))
    return FALSE;

  fields->dtype = mtl_dtype_from_safetensors_name (name.text, name.size);
  if (fields->dtype == MTL_DTYPE_OTHER)
    fields->type_name = mtl_shorten_text (name.text, name.size);
  return TRUE;
}

static gboolean
read_shape (MtlJsonReader *reader,
            Fields        *fields)
{
  if (!mtl_json_reader_enter_array (reader))
    return FALSE;

  for (; mtl_json_reader_next_item (reader); fields->n_dims++)
    {
      guint64 extent;

      if (!mtl_json_reader_read_unsigned (reader, &extent))
        return FALSE;

      if (fields->n_dims < MTL_LAYOUT_MAX_DIMS)
        fields->shape[fields->n_dims] = extent;
      fields->largest = MAX (fields->largest, extent);
      if (extent == 0)
        fields->is_empty = TRUE;
      else if (__builtin_mul_overflow (fields->volume, extent, &fields->volume))
        fields->overflows = TRUE;
    }

  return reader->error == NULL;
}

static gboolean
read_offsets (MtlJsonReader *reader,
              guint64       *begin,
              guint64       *end)
{
  gint64 offsets[2];
  gsize n = 0;

  if (!mtl_json_reader_enter_array (reader))
    return FALSE;

  for (; mtl_json_reader_next_item (reader); n++)
    {
      if (n == G_N_ELEMENTS (offsets))
        return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA,
                                     "There are more than two numbers");
      if (!mtl_json_reader_read_integer (reader, &offsets[n]))
        return FALSE;
    }

  if (n < G_N_ELEMENTS (offsets))
    return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA,
                                 "There are %" G_GSIZE_FORMAT " numbers instead of two", n);

  *begin = offsets[0];
  *end = offsets[1];
  return TRUE;
}

typedef enum
{
  FIELD_DTYPE,
  FIELD_SHAPE,
  FIELD_OFFSETS,
  N_FIELDS,
} Field;

static const char *const field_names[] = { "dtype", "shape", "data_offsets" };

static inline Field
find_field (MtlJsonString key)
{
  if (mtl_json_string_equal (key, "dtype"))
    return FIELD_DTYPE;
  if (mtl_json_string_equal (key, "shape"))
    return FIELD_SHAPE;
  if (mtl_json_string_equal (key, "data_offsets"))
    return FIELD_OFFSETS;

  return N_FIELDS;
}

static gboolean
read_field (MtlJsonReader *reader,
            Field          field,
            Fields        *fields)
{
  gboolean succeeded;

  switch (field)
    {
    case FIELD_DTYPE:
      succeeded = read_dtype (reader, fields);
      break;
    case FIELD_SHAPE:
      succeeded = read_shape (reader, fields);
      break;
    case FIELD_OFFSETS:
      succeeded = read_offsets (reader, &fields->begin, &fields->end);
      break;
    default:
      return mtl_json_reader_skip_value (reader);
    }

  if (!succeeded)
    g_prefix_error (&reader->error, "%s: ", field_names[field]);
  return succeeded;
}

static gboolean
read_fields (MtlJsonReader *reader,
             Fields        *fields)
{
  MtlJsonString key;
  guint seen = 0;

  if (!mtl_json_reader_enter_object (reader))
    return FALSE;

  while (mtl_json_reader_next_member (reader, &key))
    {
      Field field = find_field (key);

      if (field < N_FIELDS && seen >> field & 1)
        return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA, "%s is given twice",
                                     field_names[field]);
      if (!read_field (reader, field, fields))
        return FALSE;

      seen |= 1u << field;
    }

  for (Field field = 0; field < N_FIELDS && reader->error == NULL; field++)
    if (!(seen >> field & 1))
      return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA, "%s is missing",
                                   field_names[field]);

  return reader->error == NULL;
}

static gboolean
has_supported_shape (const Fields *fields)
{
  return fields->n_dims <= MTL_LAYOUT_MAX_DIMS && fields->largest <= G_MAXINT64;
}

/* The reason for which the tensor cannot be loaded, though it may be valid. */
static GError *
find_refusal (const Fields *fields)
{
  if (fields->dtype == MTL_DTYPE_OTHER)
    return g_error_new (MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "The element type “%s” is not known",
                        fields->type_name);
  if (fields->n_dims > MTL_LAYOUT_MAX_DIMS)
    return g_error_new (MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                        "It has %" G_GSIZE_FORMAT " dimensions, and the limit is %d",
                        fields->n_dims, MTL_LAYOUT_MAX_DIMS);
  if (fields->largest > G_MAXINT64)
    return g_error_new (MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                        "The extent %" G_GUINT64_FORMAT " is larger than the limit of %"
                        G_GINT64_FORMAT, fields->largest, G_MAXINT64);

  return NULL;
}

/* Checks the volume of shapes that do not fit an entry. */
static gboolean
check_volume (const Fields  *fields,
              GError       **error)
{
  guint64 size = fields->end - fields->begin, n_bits;

  if (fields->dtype == MTL_DTYPE_OTHER)
    return TRUE;
  if (fields->is_empty ? size == 0
                       : !fields->overflows && !__builtin_mul_overflow (size, 8, &n_bits)
                           && n_bits % mtl_dtype_get_bits (fields->dtype) == 0
                           && n_bits / mtl_dtype_get_bits (fields->dtype) == fields->volume)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Its shape of %" G_GSIZE_FORMAT " dimension%s in %s does not take the bytes of the "
               "data_offsets [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT "]", fields->n_dims,
               MTL_S (fields->n_dims), mtl_dtype_get_safetensors_name (fields->dtype), fields->begin,
               fields->end);
  return FALSE;
}

static gboolean
add_tensor (const char      *name,
            const Fields    *fields,
            MtlTensorTable  *table,
            GError         **error)
{
  g_autoptr (GError) why = find_refusal (fields);
  const gboolean has_shape = has_supported_shape (fields);
  MtlTensorEntry entry = {
    .name = name,
    .dtype = fields->dtype,
    .shape = has_shape ? fields->shape : NULL,
    .n_dims = has_shape ? fields->n_dims : 0,
    .begin = fields->begin,
    .end = fields->end,
    .order = MTL_ORDER_C,
  };

  if (!has_shape && !check_volume (fields, error))
    return mtl_prefix_tensor_name (error, name);
  if (why != NULL && !mtl_tensor_table_refuse (table, &entry, fields->type_name, why, error))
    return FALSE;

  return mtl_tensor_table_add (table, &entry, error);
}

static gboolean
read_tensor (MtlJsonReader  *reader,
             MtlJsonString   name,
             MtlTensorTable *table)
{
  const char *kept = mtl_arena_dup_text (&table->arena, name.text, name.size, &reader->error);
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  g_auto (Fields) fields = { .shape = shape, .volume = 1 };

  if (kept == NULL)
    return FALSE;
  if (!read_fields (reader, &fields))
    return mtl_prefix_tensor_name (&reader->error, kept);

  return add_tensor (kept, &fields, table, &reader->error);
}

/* A null means no metadata, as in the format's own reader. */
static gboolean
read_metadata (MtlJsonReader  *reader,
               MtlTensorTable *table)
{
  MtlJsonString string;

  if (mtl_json_reader_read_null (reader))
    return TRUE;
  if (!mtl_json_reader_enter_object (reader))
    return FALSE;

  while (mtl_json_reader_next_member (reader, &string))
    {
      const char *key = mtl_arena_dup_text (&table->arena, string.text, string.size,
                                            &reader->error);
      const char *value;

      if (key == NULL || !mtl_json_reader_read_string (reader, &string))
        return FALSE;

      value = mtl_arena_dup_text (&table->arena, string.text, string.size, &reader->error);
      if (value == NULL || !mtl_tensor_table_add_metadata (table, key, value, &reader->error))
        return FALSE;
    }

  return reader->error == NULL;
}

static gboolean
read_header (MtlJsonReader  *reader,
             MtlTensorTable *table)
{
  gboolean has_metadata = FALSE;
  MtlJsonString name;

  if (reader->at < reader->end && *reader->at != '{')
    return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA,
                                 "The header does not begin with “{”");
  if (!mtl_json_reader_enter_object (reader))
    return FALSE;

  while (mtl_json_reader_next_member (reader, &name))
    if (!mtl_json_string_equal (name, METADATA_KEY))
      {
        if (!read_tensor (reader, name, table))
          return FALSE;
      }
    else if (has_metadata)
      return mtl_json_reader_fail (reader, MTL_ERROR_INVALID_DATA, METADATA_KEY " is given twice");
    else
      {
        has_metadata = TRUE;
        if (!read_metadata (reader, table))
          {
            g_prefix_error (&reader->error, METADATA_KEY ": ");
            return FALSE;
          }
      }

  return mtl_json_reader_check_end (reader);
}

/* Nothing else can be checked if the type is unknown. */
static gboolean
check_offsets (const MtlTensorEntry  *entry,
               GError               **error)
{
  if (entry->begin <= entry->end)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "data_offsets are [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
               "], which end before they begin", entry->begin, entry->end);
  return FALSE;
}

static gboolean
check_size (const MtlTensorEntry  *entry,
            GError               **error)
{
  guint64 n_bytes;
  g_autofree char *shape = NULL;

  if (entry->is_refused)
    return check_offsets (entry, error);
  if (!mtl_dtype_count_bytes (entry->dtype, entry->shape, entry->n_dims, &n_bytes, error))
    return FALSE;
  if (entry->begin <= entry->end && entry->end - entry->begin == n_bytes)
    return TRUE;

  shape = mtl_dims_to_string (entry->shape, entry->n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Shape %s of %s takes %" G_GUINT64_FORMAT " byte%s, but data_offsets are "
               "[%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT "]",
               shape, mtl_dtype_get_safetensors_name (entry->dtype), n_bytes, MTL_S (n_bytes),
               entry->begin, entry->end);
  return FALSE;
}

/* Always returns FALSE. Each tensor must begin where the one before it ends, and the
 * first at 0. */
static gboolean
refuse_place (const MtlTensorTable  *table,
              gsize                  position,
              guint64                expected,
              GError               **error)
{
  const MtlTensorEntry *entry = &table->entries[position];
  g_autofree char *name = mtl_quote_text (entry->name, strlen (entry->name));
  g_autofree char *before = NULL;

  if (position > 0)
    {
      g_autofree char *name_before = mtl_quote_text (entry[-1].name, strlen (entry[-1].name));

      before = g_strdup_printf (", but tensor %s ends at byte %" G_GUINT64_FORMAT, name_before,
                                expected);
    }
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Tensor %s begins at byte %" G_GUINT64_FORMAT " of the data%s: %s", name,
               entry->begin, before != NULL ? before : "",
               entry->begin < expected ? "they overlap"
                                       : "the bytes before it belong to no tensor");
  return FALSE;
}

/* Each byte of the data must belong to exactly one tensor. Makes offsets count from
 * the beginning of the file. */
static gboolean
check_places (MtlTensorTable  *table,
              guint64          data_begin,
              guint64          data_size,
              GError         **error)
{
  guint64 expected = 0;

  for (gsize i = 0; i < table->n_entries; i++)
    {
      MtlTensorEntry *entry = &table->entries[i];

      if (!check_size (entry, error))
        return mtl_prefix_tensor_name (error, entry->name);
      if (entry->begin != expected)
        return refuse_place (table, i, expected, error);

      expected = entry->end;
    }

  if (expected != data_size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The tensors take %" G_GUINT64_FORMAT " byte%s of data, but the file has %"
                   G_GUINT64_FORMAT ": %s", expected, MTL_S (expected), data_size,
                   expected > data_size ? "it is truncated" : "the last ones belong to no tensor");
      return FALSE;
    }

  for (gsize i = 0; i < table->n_entries; i++)
    {
      table->entries[i].begin += data_begin;
      table->entries[i].end += data_begin;
    }
  return TRUE;
}

/* The file has at least the prefix and the header. */
MtlTensorTable *
mtl_safetensors_header_parse (const char  *header,
                              gsize        header_size,
                              guint64      file_size,
                              GError     **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new (MTL_TENSOR_FILE_FORMAT_SAFETENSORS);
  g_auto (MtlJsonReader) reader;
  guint64 data_begin = MTL_SAFETENSORS_PREFIX_SIZE + (guint64) header_size;

  mtl_json_reader_init (&reader, "header", header, header_size);
  read_header (&reader, table);
  if (!mtl_json_reader_finish (&reader, error))
    return NULL;

  mtl_tensor_table_sort (table);
  if (!mtl_tensor_table_index_names (table, error)
      || !check_places (table, data_begin, file_size - data_begin, error))
    return NULL;

  return g_steal_pointer (&table);
}
