/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Which tensor comes where, and all of them into a file. */

#include "mtl-tensor-file-builder-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-error.h"
#include "mtl-file-header-writer-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-safetensors-header-private.h"

#define SMALL_ALIGNMENT 64
#define LARGE_ALIGNMENT 16384 /* the largest page that there is */
#define LARGE_DATA (1 << 20)

/* One tensor as it is to be in the file. */
typedef struct
{
  const char *name;
  MtlStridedView *view; /* of one lane */
  MtlDType dtype;
  guint64 n_bytes;
  guint weight;   /* those that weigh more come first */
  guint position; /* among those that were added */
} Planned;

static void
planned_clear (gpointer item)
{
  Planned *planned = item;

  g_clear_object (&planned->view);
}

static gboolean
fail_for (const char  *name,
          GError     **error)
{
  g_autofree char *quoted = mtl_quote_text (name, strlen (name));

  g_prefix_error (error, "Tensor %s: ", quoted);
  return FALSE;
}

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
                   "With an axis for %u lanes there are more than %d dimensions",
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
check_dtype (MtlDType         dtype,
             MtlElementType   type,
             GError         **error)
{
  g_autofree char *name = NULL;

  if (mtl_safetensors_dtype_get_name (dtype) != NULL)
    return TRUE;

  name = mtl_element_type_to_string (type);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The format has no elements of type %s", name);
  return FALSE;
}

static guint
get_weight (guint64 n_bytes)
{
  guint weight = 0;

  while (weight < 14 && (n_bytes >> weight & 1) == 0)
    weight++;
  return weight;
}

static gboolean
plan_tensor (Planned               *planned,
             const MtlAddedTensor  *tensor,
             GError               **error)
{
  MtlElementType type = tensor->view->type;

  planned->name = tensor->name;
  planned->dtype = tensor->dtype;
  if (tensor->dtype == MTL_DTYPE_OTHER)
    planned->dtype = mtl_element_type_get_dtype (type);
  else
    type = mtl_element_type_new (tensor->dtype);

  if (!check_dtype (planned->dtype, type, error))
    return FALSE;

  planned->view = spread_lanes (tensor->view, error);
  if (planned->view == NULL
      || !mtl_dtype_count_bytes (planned->dtype, mtl_layout_shape (&planned->view->layout),
                                 planned->view->layout.n_dims, &planned->n_bytes, error))
    return FALSE;

  planned->weight = get_weight (planned->n_bytes);
  return TRUE;
}

static int
compare_weights (gconstpointer a,
                 gconstpointer b)
{
  const Planned *x = a, *y = b;

  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;

  return x->position < y->position ? -1 : 1;
}

/* In the file's order. */
static GArray *
make_plan (MtlTensorFileBuilder  *self,
           GError               **error)
{
  g_autoptr (GArray) plan = g_array_sized_new (FALSE, TRUE, sizeof (Planned), self->tensors->len);

  g_array_set_clear_func (plan, planned_clear);
  g_array_set_size (plan, self->tensors->len);
  for (guint i = 0; i < plan->len; i++)
    {
      Planned *planned = &g_array_index (plan, Planned, i);
      const MtlAddedTensor *tensor = &g_array_index (self->tensors, MtlAddedTensor, i);

      planned->position = i;
      if (!plan_tensor (planned, tensor, error))
        {
          fail_for (tensor->name, error);
          return NULL;
        }
    }

  if (self->order == MTL_TENSOR_FILE_ORDER_ALIGNED && plan->len > 1)
    g_array_sort (plan, compare_weights);
  return g_steal_pointer (&plan);
}

static gboolean
add_metadata (gpointer key,
              gpointer value,
              gpointer table)
{
  return !mtl_tensor_table_add_metadata (table, key, value, NULL);
}

/* What the header says of them. */
static MtlTensorTable *
describe (MtlTensorFileBuilder  *self,
          const GArray          *plan,
          GError               **error)
{
  g_autoptr (MtlTensorTable) table = mtl_tensor_table_new ();
  guint64 end = 0;

  g_tree_foreach (self->metadata, add_metadata, table);
  for (guint i = 0; i < plan->len; i++)
    {
      const Planned *planned = &g_array_index (plan, Planned, i);
      MtlTensorEntry entry = {
        .name = planned->name,
        .shape = mtl_layout_shape (&planned->view->layout),
        .n_dims = planned->view->layout.n_dims,
        .dtype = planned->dtype,
        .order = MTL_ORDER_C,
        .begin = end,
      };

      if (__builtin_add_overflow (end, planned->n_bytes, &end) || end > G_MAXINT64 / 2)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "With its %" G_GUINT64_FORMAT " bytes there are more than %" G_GINT64_FORMAT,
                       planned->n_bytes, G_MAXINT64 / 2);
          fail_for (planned->name, error);
          return NULL;
        }
      entry.end = end;
      if (!mtl_tensor_table_add (table, &entry, error))
        return NULL;
    }

  return g_steal_pointer (&table);
}

static gsize
choose_alignment (MtlTensorFileBuilder *self,
                  guint64               n_bytes)
{
  if (self->alignment > 0)
    return self->alignment;

  return n_bytes >= LARGE_DATA ? LARGE_ALIGNMENT : SMALL_ALIGNMENT;
}

static gboolean
write_contents (MtlFileReplacement  *file,
                const GString       *header,
                const GArray        *plan,
                guint64              n_bytes,
                const MtlMonitor    *monitor,
                GError             **error)
{
  g_auto (MtlTensorStream) stream = { .memory = NULL };

  if (!mtl_file_replacement_reserve (file, header->len + n_bytes, error)
      || !mtl_tensor_stream_init (&stream, file, header->len + n_bytes, monitor, error)
      || !mtl_tensor_stream_write_bytes (&stream, header->str, header->len, error))
    return FALSE;

  for (guint i = 0; i < plan->len; i++)
    {
      const Planned *planned = &g_array_index (plan, Planned, i);

      if (!mtl_tensor_stream_write_tensor (&stream, planned->view, planned->dtype, error))
        return fail_for (planned->name, error);
    }

  return mtl_tensor_stream_flush (&stream, error)
         && mtl_file_replacement_flush (file, error)
         && mtl_monitor_check (monitor, error);
}

gboolean
mtl_tensor_file_builder_write_monitored (MtlTensorFileBuilder  *self,
                                         GFile                 *file,
                                         const MtlMonitor      *monitor,
                                         GError               **error)
{
  g_autoptr (GArray) plan = make_plan (self, error);
  g_autoptr (MtlTensorTable) table = NULL;
  g_autoptr (GString) header = NULL;
  g_autoptr (MtlFileReplacement) replacement = NULL;
  guint64 n_bytes;

  if (plan == NULL)
    return FALSE;

  table = describe (self, plan, error);
  if (table == NULL)
    return FALSE;

  n_bytes = table->n_entries > 0 ? table->entries[table->n_entries - 1].end : 0;
  header = mtl_safetensors_header_write (table, choose_alignment (self, n_bytes), error);
  if (header == NULL || !mtl_monitor_check (monitor, error))
    return FALSE;

  replacement = mtl_file_replacement_new (file, error);
  return replacement != NULL
         && write_contents (replacement, header, plan, n_bytes, monitor, error)
         && mtl_file_replacement_commit (replacement, error);
}

typedef struct
{
  GFileProgressCallback callback;
  gpointer data;
} Listener;

static void
report (guint64  done,
        guint64  total,
        gpointer data)
{
  const Listener *listener = data;

  listener->callback (done, total, listener->data);
}

/**
 * mtl_tensor_file_builder_write:
 * @self: a builder
 * @file: the file to write, which need not be there
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): told how many bytes
 *   are written of how many
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Writes all tensors into a file.
 *
 * The file is written beside its place, under a hidden name, and moved there
 * when all of it is on the disk. Until then, and wherever anything fails, the
 * old file is as it was; only a process that is killed leaves the hidden one.
 * Who has the old file open or mapped keeps it, so that views of a file may be
 * written over it. The new one has the permissions of the old one, or those that
 * the umask leaves; a symbolic link is followed, and another name of the old file
 * keeps that.
 *
 * @progress is called in this thread, after each 4 MiB or more often; as often
 * it is looked whether the work is cancelled.
 *
 * Fails with %MTL_ERROR_NOT_SUPPORTED where the format has no elements of a
 * tensor's type, or the names and shapes do not fit its header, with
 * %MTL_ERROR_INVALID_DATA where elements of part of a byte do not fill whole
 * bytes, with %MTL_ERROR_OVERFLOW where the size of all does not fit 62 bits;
 * with %MTL_ERROR_NOT_HOST_ACCESSIBLE where nothing here can reach the elements,
 * with %MTL_ERROR_NO_MEMORY, and with %MTL_ERROR_DEVICE where a device failed;
 * with %G_IO_ERROR_CANCELLED; and with the codes of [error@Gio.IOErrorEnum] where
 * the file cannot be written, among them %G_IO_ERROR_NO_SPACE,
 * %G_IO_ERROR_IS_DIRECTORY, %G_IO_ERROR_NOT_REGULAR_FILE where a pipe, a socket or
 * a device has that name, and %G_IO_ERROR_NOT_SUPPORTED where @file has no path on
 * this machine.
 *
 * Returns: whether it worked
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write (MtlTensorFileBuilder   *self,
                               GFile                  *file,
                               GCancellable           *cancellable,
                               GFileProgressCallback   progress,
                               gpointer                progress_data,
                               GError                **error)
{
  Listener listener = { progress, progress_data };
  MtlMonitor monitor = { cancellable, progress != NULL ? report : NULL, &listener };

  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  return mtl_tensor_file_builder_write_monitored (self, file, &monitor, error);
}
