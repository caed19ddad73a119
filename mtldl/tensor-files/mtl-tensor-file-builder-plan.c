/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Decides which tensor goes where. */

#include "mtl-tensor-file-builder-private.h"

#include <stdlib.h>

#include "mtl-arena-private.h"
#include "mtl-error-private.h"
#include "mtl-file-header-writer-private.h"
#include "mtl-npy-header-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-safetensors-header-private.h"

#define SMALL_ALIGNMENT 64
#define LARGE_ALIGNMENT 16384 /* the largest page size, 2 to the 14 */
#define LARGE_ALIGNMENT_BITS 14
#define LARGE_DATA (1 << 20)

static MtlStridedView *
spread_lanes (MtlStridedView  *view,
              GError         **error)
{
  MtlStridedView *spread;
  MtlLayout layout;

  if (view->type.lanes == 1)
    return g_object_ref (view);

  if (view->layout.n_dims == MTL_LAYOUT_MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "An axis for the %u lanes exceeds the limit of %d dimensions",
                   view->type.lanes, MTL_LAYOUT_MAX_DIMS);
      return NULL;
    }
  if (!mtl_layout_spread_lanes (&view->layout, view->type.lanes, &layout, error))
    return NULL;

  spread = mtl_strided_view_derive (view, &layout);
  spread->type.lanes = 1;
  return spread;
}

static gboolean
check_dtype (MtlTensorFileFormat   format,
             MtlDType              dtype,
             MtlElementType        type,
             GError              **error)
{
  gboolean is_npy = format == MTL_TENSOR_FILE_FORMAT_NPY;
  g_autofree char *name = NULL;

  if (is_npy ? mtl_npy_dtype_get_kind (dtype) != 0 : mtl_dtype_get_safetensors_name (dtype) != NULL)
    return TRUE;

  name = mtl_element_type_to_string (type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "%s has no elements of type %s",
               is_npy ? ".npy" : "safetensors", name);
  return FALSE;
}

/* Keeps the order in memory, if the format supports it. */
static MtlOrder
choose_order (MtlTensorFileFormat  format,
              const MtlLayout     *layout)
{
  return format == MTL_TENSOR_FILE_FORMAT_NPY && mtl_layout_is_contiguous (layout, MTL_ORDER_F)
         && !mtl_layout_is_contiguous (layout, MTL_ORDER_C) ? MTL_ORDER_F : MTL_ORDER_C;
}

static guint
find_alignment (guint64 n_bytes)
{
  guint bits = 0;

  while (bits < LARGE_ALIGNMENT_BITS && (n_bytes >> bits & 1) == 0)
    bits++;
  return bits;
}

static gboolean
plan_tensor (MtlPlannedTensor      *planned,
             const MtlAddedTensor  *tensor,
             MtlTensorFileFormat    format,
             GError               **error)
{
  MtlElementType type = tensor->view->type;
  const MtlLayout *layout;

  planned->name = tensor->name;
  planned->dtype = tensor->dtype;
  if (tensor->dtype == MTL_DTYPE_OTHER)
    planned->dtype = mtl_element_type_get_dtype (type);
  else
    type = mtl_element_type_new (tensor->dtype);
  if (!check_dtype (format, planned->dtype, type, error))
    return FALSE;

  planned->view = spread_lanes (tensor->view, error);
  if (planned->view == NULL)
    return FALSE;

  layout = &planned->view->layout;
  if (!mtl_dtype_count_bytes (planned->dtype, mtl_layout_shape (layout), layout->n_dims,
                              &planned->n_bytes, error))
    return FALSE;

  planned->order = choose_order (format, layout);
  planned->alignment = find_alignment (planned->n_bytes);
  return TRUE;
}

/* All files together, with their headers, fit into a 64-bit offset. */
static gboolean
add_size (MtlTensorFilePlan       *self,
          const MtlPlannedTensor  *tensor,
          GError                 **error)
{
  const guint64 max = G_MAXINT64 / 2;

  if (tensor->n_bytes <= max - self->n_tensor_bytes)
    {
      self->n_tensor_bytes += tensor->n_bytes;
      return TRUE;
    }

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "Its %" G_GUINT64_FORMAT " bytes bring the total above the limit of %"
               G_GUINT64_FORMAT, tensor->n_bytes, max);
  return FALSE;
}

static gboolean
plan_tensors (MtlTensorFilePlan     *self,
              MtlTensorFileBuilder  *builder,
              MtlTensorFileFormat    format,
              GError               **error)
{
  for (gsize i = 0; i < builder->n_tensors; i++)
    {
      MtlPlannedTensor *planned = &self->tensors[i];
      const MtlAddedTensor *tensor = &builder->tensors[i];

      planned->position = i;
      if (!plan_tensor (planned, tensor, format, error)
          || !add_size (self, planned, error))
        return mtl_prefix_tensor_name (error, tensor->name);
    }

  return TRUE;
}

static gboolean
add_file (MtlTensorFilePlan     *self,
          const MtlPlannedFile  *file,
          GError               **error)
{
  if (!mtl_array_reserve ((gpointer *) &self->files, self->n_files, &self->files_capacity,
                          sizeof *file, error))
    return FALSE;

  self->files[self->n_files++] = *file;
  return TRUE;
}

/* Distributes the tensors in the order in which they were added. */
static gboolean
share_out (MtlTensorFilePlan  *self,
           guint64             max_size,
           GError            **error)
{
  MtlPlannedFile file = { .tensors = self->tensors };

  for (gsize i = 0; i < self->n_tensors; i++)
    {
      MtlPlannedTensor *tensor = &self->tensors[i];

      if (file.n_tensors > 0
          && (file.n_bytes > max_size || tensor->n_bytes > max_size - file.n_bytes))
        {
          if (!add_file (self, &file, error))
            return FALSE;
          file = (MtlPlannedFile) { .tensors = tensor };
        }
      file.n_tensors++;
      file.n_bytes += tensor->n_bytes;
    }

  return add_file (self, &file, error);
}

static int
compare_alignments (gconstpointer a,
                    gconstpointer b)
{
  const MtlPlannedTensor *x = a, *y = b;

  if (x->alignment != y->alignment)
    return x->alignment > y->alignment ? -1 : 1;

  return x->position < y->position ? -1 : 1;
}

typedef struct
{
  MtlTensorTable *table;
  GError *error;
} Metadata;

static gboolean
add_metadata (gpointer key,
              gpointer value,
              gpointer user_data)
{
  Metadata *metadata = user_data;

  return !mtl_tensor_table_add_metadata (metadata->table, key, value, &metadata->error);
}

static gboolean
describe_metadata (MtlTensorTable        *table,
                   MtlTensorFileBuilder  *builder,
                   GError               **error)
{
  Metadata metadata = { table, NULL };

  g_tree_foreach (builder->metadata, add_metadata, &metadata);
  if (metadata.error != NULL)
    g_propagate_error (error, metadata.error);
  return metadata.error == NULL;
}

/* Offsets count from the first tensor. */
static gboolean
describe_tensors (MtlTensorTable        *table,
                  const MtlPlannedFile  *file,
                  GError               **error)
{
  guint64 end = 0;

  for (gsize i = 0; i < file->n_tensors; i++)
    {
      const MtlPlannedTensor *tensor = &file->tensors[i];
      MtlTensorEntry entry = {
        .name = tensor->name,
        .shape = mtl_layout_shape (&tensor->view->layout),
        .n_dims = tensor->view->layout.n_dims,
        .dtype = tensor->dtype,
        .order = tensor->order,
        .begin = end,
      };

      entry.end = end += tensor->n_bytes;
      if (!mtl_tensor_table_add (table, &entry, error))
        return FALSE;
    }

  return TRUE;
}

static gsize
choose_alignment (MtlTensorFileBuilder *builder,
                  MtlTensorFileFormat   format,
                  guint64               n_bytes)
{
  if (builder->alignment > 0)
    return builder->alignment;

  /* NumPy refuses headers of more than 10,000 bytes by default. */
  return format == MTL_TENSOR_FILE_FORMAT_SAFETENSORS && n_bytes >= LARGE_DATA
           ? LARGE_ALIGNMENT : SMALL_ALIGNMENT;
}

static gboolean
plan_file (MtlPlannedFile        *file,
           MtlTensorFileBuilder  *builder,
           MtlTensorFileFormat    format,
           GError               **error)
{
  gsize alignment = choose_alignment (builder, format, file->n_bytes);
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();

  if (builder->order == MTL_TENSOR_FILE_ORDER_ALIGNED && file->n_tensors > 1)
    qsort (file->tensors, file->n_tensors, sizeof (MtlPlannedTensor), compare_alignments);

  if (!describe_metadata (table, builder, error) || !describe_tensors (table, file, error))
    return FALSE;

  if (!(format == MTL_TENSOR_FILE_FORMAT_NPY
          ? mtl_npy_header_write (&table->entries[0], alignment, &file->header, error)
          : mtl_safetensors_header_write (table, alignment, &file->header, error)))
    return FALSE;

  file->n_bytes += file->header.len;
  return TRUE;
}

static gboolean
check_format (MtlTensorFileBuilder  *builder,
              MtlTensorFileFormat    format,
              GError               **error)
{
  if (format == MTL_TENSOR_FILE_FORMAT_SAFETENSORS)
    return TRUE;

  if (format != MTL_TENSOR_FILE_FORMAT_NPY)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 ".npz files can be read, but not written");
  else if (builder->n_tensors != 1)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "A .npy file has one tensor, but %" G_GSIZE_FORMAT " were added: write them to a "
                 ".safetensors file",
                 builder->n_tensors);
  else if (g_tree_nnodes (builder->metadata) > 0)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                 "A .npy file has no metadata, but %d %s set: write a .safetensors file",
                 g_tree_nnodes (builder->metadata),
                 g_tree_nnodes (builder->metadata) == 1 ? "was" : "were");
  else
    return TRUE;

  return FALSE;
}

/* Zeroed, so that the plan can be freed at any time. */
static gboolean
allocate_tensors (MtlTensorFilePlan  *self,
                  gsize               n_tensors,
                  GError            **error)
{
  self->tensors = g_try_new0 (MtlPlannedTensor, MAX (n_tensors, 1));
  if (self->tensors == NULL)
    return mtl_set_no_memory (n_tensors * sizeof (MtlPlannedTensor), error);

  self->n_tensors = n_tensors;
  return TRUE;
}

MtlTensorFilePlan *
mtl_tensor_file_plan_new (MtlTensorFileBuilder  *builder,
                          MtlTensorFileFormat    format,
                          guint64                max_size,
                          GError               **error)
{
  g_autoptr (MtlTensorFilePlan) self = g_new0 (MtlTensorFilePlan, 1);

  if (!check_format (builder, format, error)
      || !allocate_tensors (self, builder->n_tensors, error)
      || !plan_tensors (self, builder, format, error) || !share_out (self, max_size, error))
    return NULL;

  for (gsize i = 0; i < self->n_files; i++)
    {
      if (!plan_file (&self->files[i], builder, format, error))
        return NULL;
      self->n_bytes += self->files[i].n_bytes;
    }

  return g_steal_pointer (&self);
}

void
mtl_tensor_file_plan_free (MtlTensorFilePlan *self)
{
  for (gsize i = 0; i < self->n_tensors; i++)
    g_clear_object (&self->tensors[i].view);
  for (gsize i = 0; i < self->n_files; i++)
    mtl_text_clear (&self->files[i].header);
  g_free (self->tensors);
  g_free (self->files);
  g_free (self);
}

gboolean
mtl_tensor_file_plan_write_index (const MtlTensorFilePlan  *self,
                                  const char *const        *names,
                                  MtlText                  *text,
                                  GError                  **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();

  for (gsize i = 0; i < self->n_files; i++)
    {
      const MtlPlannedFile *file = &self->files[i];

      if (!mtl_tensor_table_add_file (table, names[i], error))
        return FALSE;

      for (gsize j = 0; j < file->n_tensors; j++)
        {
          MtlTensorEntry entry = { .name = file->tensors[j].name, .file = i };

          if (!mtl_tensor_table_add (table, &entry, error))
            return FALSE;
        }
    }

  return mtl_safetensors_index_write (table, self->n_tensor_bytes, text, error);
}
