/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-table-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-element-type-private.h"
#include "mtl-error.h"
#include "mtl-layout-private.h"
#include "mtl-message-text-private.h"

MtlTensorTable *
mtl_tensor_table_new (MtlTensorFileFormat format)
{
  MtlTensorTable *self = g_new0 (MtlTensorTable, 1);

  self->format = format;
  return self;
}

void
mtl_tensor_table_free (MtlTensorTable *self)
{
  mtl_arena_clear (&self->arena);
  mtl_name_index_clear (&self->by_name);
  mtl_name_index_clear (&self->by_key);
  g_free (self->entries);
  g_free (self->metadata);
  g_free (self->files);
  g_free (self);
}

/* Copies the shape. */
gboolean
mtl_tensor_table_add (MtlTensorTable        *self,
                      const MtlTensorEntry  *entry,
                      GError               **error)
{
  gsize size = entry->n_dims * sizeof (gint64);
  gint64 *shape = NULL;

  if (entry->shape != NULL)
    {
      shape = mtl_arena_alloc (&self->arena, size, sizeof (gint64), error);
      if (shape == NULL)
        return FALSE;
      memcpy (shape, entry->shape, size);
    }
  if (!mtl_array_reserve ((gpointer *) &self->entries, self->n_entries, &self->entries_capacity,
                          sizeof (MtlTensorEntry), error))
    return FALSE;

  self->entries[self->n_entries] = *entry;
  self->entries[self->n_entries++].shape = shape;
  return TRUE;
}

/* The error is in the arena, too: its domain is not one of those with more than the three
 * fields. */
gboolean
mtl_tensor_table_refuse (MtlTensorTable  *self,
                         MtlTensorEntry  *entry,
                         const char      *type_name,
                         const GError    *why,
                         GError         **error)
{
  MtlArena *arena = &self->arena;
  MtlRefusal *refusal = mtl_arena_alloc (arena, sizeof *refusal, sizeof (gpointer), error);

  if (refusal == NULL)
    return FALSE;

  refusal->error = *why;
  refusal->error.message = mtl_arena_dup_text (arena, why->message, strlen (why->message), error);
  if (refusal->error.message == NULL)
    return FALSE;
  if (type_name == NULL)
    type_name = mtl_dtype_get_name (entry->dtype);
  if (type_name == NULL)
    type_name = MTL_TYPE_NAME_UNKNOWN;
  refusal->type_name = mtl_arena_dup_text (arena, type_name, strlen (type_name), error);
  if (refusal->type_name == NULL)
    return FALSE;

  entry->refusal = refusal;
  entry->is_refused = TRUE;
  entry->dtype = MTL_DTYPE_OTHER;
  return TRUE;
}

gboolean
mtl_tensor_table_add_metadata (MtlTensorTable  *self,
                               const char      *key,
                               const char      *value,
                               GError         **error)
{
  if (!mtl_array_reserve ((gpointer *) &self->metadata, self->n_metadata, &self->metadata_capacity,
                          sizeof (MtlTextPair), error))
    return FALSE;

  self->metadata[self->n_metadata++] = (MtlTextPair) { key, value };
  return TRUE;
}

gboolean
mtl_tensor_table_add_file (MtlTensorTable  *self,
                           const char      *file,
                           GError         **error)
{
  if (!mtl_array_reserve ((gpointer *) &self->files, self->n_files, &self->files_capacity,
                          sizeof (const char *), error))
    return FALSE;

  self->files[self->n_files++] = file;
  return TRUE;
}

/* Empty tensors at the same place are sorted by name, to get a stable order. */
static int
compare_places (gconstpointer a,
                gconstpointer b)
{
  const MtlTensorEntry *x = a, *y = b;

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end)
    return x->end < y->end ? -1 : 1;

  return strcmp (x->name, y->name);
}

/* Sorts the tensors by the order of their bytes. */
void
mtl_tensor_table_sort (MtlTensorTable *self)
{
  for (gsize i = 1; i < self->n_entries; i++)
    if (compare_places (&self->entries[i - 1], &self->entries[i]) > 0)
      {
        qsort (self->entries, self->n_entries, sizeof (MtlTensorEntry), compare_places);
        return;
      }
}

static gboolean
index_entries (MtlTensorTable  *self,
               GError         **error)
{
  if (!mtl_name_index_init (&self->by_name, self->entries, self->n_entries,
                            sizeof (MtlTensorEntry), error))
    return FALSE;

  for (gsize i = 0; i < self->n_entries; i++)
    if (mtl_name_index_add (&self->by_name, i) != i)
      {
        const char *name = self->entries[i].name;
        g_autofree char *quoted = mtl_quote_text (name, strlen (name));

        g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA, "Tensor %s is described twice",
                     quoted);
        return FALSE;
      }

  return TRUE;
}

static gboolean
index_metadata (MtlTensorTable  *self,
                GError         **error)
{
  if (!mtl_name_index_init (&self->by_key, self->metadata, self->n_metadata,
                            sizeof (MtlTextPair), error))
    return FALSE;

  for (gsize i = 0; i < self->n_metadata; i++)
    if (mtl_name_index_add (&self->by_key, i) != i)
      {
        const char *key = self->metadata[i].key;
        g_autofree char *quoted = mtl_quote_text (key, strlen (key));

        g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                     "The key %s of the metadata is given twice", quoted);
        return FALSE;
      }

  return TRUE;
}

gboolean
mtl_tensor_table_index_names (MtlTensorTable  *self,
                              GError         **error)
{
  return index_entries (self, error) && index_metadata (self, error);
}

/* It keeps the first reason. */
static gboolean
refuse_namesake (MtlTensorTable  *self,
                 MtlTensorEntry  *entry,
                 GError         **error)
{
  g_autoptr (GError) why = NULL;
  g_autofree char *name = NULL;

  if (entry->is_refused)
    return TRUE;

  name = mtl_quote_text (entry->name, strlen (entry->name));
  why = g_error_new (MTL_ERROR, MTL_ERROR_INVALID_DATA, "Another array has the name %s, too", name);
  return mtl_tensor_table_refuse (self, entry, NULL, why, error);
}

/* No other tensor has a name with this number, unless it was made on purpose. */
static gboolean
add_renamed (MtlTensorTable  *self,
             gsize            position,
             GError         **error)
{
  MtlTensorEntry *entry = &self->entries[position];
  char number[40];

  g_snprintf (number, sizeof number, " (member %" G_GSIZE_FORMAT ")", position + 1);
  while (mtl_name_index_add (&self->by_name, position) != position)
    {
      const gsize size = strlen (entry->name);
      char *name = mtl_arena_alloc (&self->arena, size + sizeof number, 1, error);

      if (name == NULL)
        return FALSE;

      memcpy (name, entry->name, size);
      memcpy (name + size, number, sizeof number);
      entry->name = name;
    }

  return TRUE;
}

gboolean
mtl_tensor_table_index_members (MtlTensorTable  *self,
                                GError         **error)
{
  if (!mtl_name_index_init (&self->by_name, self->entries, self->n_entries,
                            sizeof (MtlTensorEntry), error))
    return FALSE;

  for (gsize i = 0; i < self->n_entries; i++)
    if (!self->entries[i].yields_name)
      {
        guint32 first = mtl_name_index_add (&self->by_name, i);

        if (first != i && (!refuse_namesake (self, &self->entries[first], error)
                           || !refuse_namesake (self, &self->entries[i], error)))
          return FALSE;
      }

  for (gsize i = 0; i < self->n_entries; i++)
    if (self->entries[i].yields_name && !add_renamed (self, i, error))
      return FALSE;

  return index_metadata (self, error);
}

const MtlTensorEntry *
mtl_tensor_table_lookup (const MtlTensorTable *self,
                         const char           *name)
{
  guint32 position;

  return mtl_name_index_lookup (&self->by_name, name, &position) ? &self->entries[position] : NULL;
}

const char *
mtl_tensor_table_lookup_metadata (const MtlTensorTable *self,
                                  const char           *key)
{
  guint32 position;

  return mtl_name_index_lookup (&self->by_key, key, &position) ? self->metadata[position].value
                                                                : NULL;
}

/* The size of packed elements of that type, in bytes. */
gboolean
mtl_dtype_count_bytes (MtlDType       self,
                       const gint64  *shape,
                       gsize          n_dims,
                       guint64       *n_bytes,
                       GError       **error)
{
  guint64 n_bits = mtl_dtype_get_bits (self);
  g_autofree char *dims = NULL;

  for (gsize i = 0; i < n_dims; i++)
    if (shape[i] == 0)
      {
        *n_bytes = 0;
        return TRUE;
      }

  for (gsize i = 0; i < n_dims; i++)
    if (__builtin_mul_overflow (n_bits, (guint64) shape[i], &n_bits))
      {
        dims = mtl_dims_to_string (shape, n_dims);
        g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                     "The size of shape %s in elements of %u bits does not fit 64 bits", dims,
                     mtl_dtype_get_bits (self));
        return FALSE;
      }

  if (n_bits % 8 != 0)
    {
      dims = mtl_dims_to_string (shape, n_dims);
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "Shape %s in elements of %u bits takes %" G_GUINT64_FORMAT
                   " bits, which is not a whole number of bytes",
                   dims, mtl_dtype_get_bits (self), n_bits);
      return FALSE;
    }

  *n_bytes = n_bits / 8;
  return TRUE;
}
