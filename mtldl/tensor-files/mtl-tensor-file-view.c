/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* How long a file is open, and views of its tensors. */

#include "mtl-tensor-file-private.h"

#include <stdlib.h>

#include "mtl-error.h"
#include "mtl-progress-private.h"
#include "mtl-strided-view-private.h"

void
mtl_tensor_file_part_clear (MtlTensorFilePart *self)
{
  g_clear_pointer (&self->memory, mtl_memory_unref);
  g_clear_pointer (&self->table, mtl_tensor_table_free);
  g_clear_pointer (&self->source, mtl_file_source_free);
  g_clear_object (&self->file);
}

/* Always FALSE. */
gboolean
mtl_tensor_file_refuse_closed (MtlTensorFile  *self,
                               GError        **error)
{
  g_autofree char *name = self->file != NULL ? mtl_quote_file_name (self->file) : g_strdup ("“”");

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "%s was closed", name);
  return FALSE;
}

gboolean
mtl_tensor_file_check_open (MtlTensorFile  *self,
                            GError        **error)
{
  gboolean closed;

  g_mutex_lock (&self->mutex);
  closed = self->closed;
  g_mutex_unlock (&self->mutex);
  return !closed || mtl_tensor_file_refuse_closed (self, error);
}

/* With the mutex. */
void
mtl_tensor_file_close_unless_needed (MtlTensorFile     *self,
                                     MtlTensorFilePart *part)
{
  if (part->n_readers == 0 && (self->closed || (part->memory != NULL && !part->is_read_too)))
    mtl_file_source_close (part->source);
}

/* That of a file which stands alone is open from the beginning: another one may have
 * taken its place since. */
gboolean
mtl_part_reader_init (MtlPartReader      *self,
                      MtlTensorFile      *file,
                      MtlTensorFilePart  *part,
                      GError            **error)
{
  gboolean closed;

  g_mutex_lock (&file->mutex);
  closed = file->closed;
  if (!closed && part->source->fd >= 0)
    {
      part->n_readers++;
      *self = (MtlPartReader) { file, part, NULL, part->source };
    }
  g_mutex_unlock (&file->mutex);

  if (closed)
    return mtl_tensor_file_refuse_closed (file, error);
  if (self->source == NULL)
    self->source = self->opened = mtl_file_source_open_again (part->source, error);
  return self->source != NULL;
}

void
mtl_part_reader_clear (MtlPartReader *self)
{
  g_clear_pointer (&self->opened, mtl_file_source_free);
  if (self->file == NULL)
    return;

  g_mutex_lock (&self->file->mutex);
  self->part->n_readers--;
  mtl_tensor_file_close_unless_needed (self->file, self->part);
  g_mutex_unlock (&self->file->mutex);
}

/**
 * mtl_tensor_file_close:
 * @self: a file of tensors
 *
 * Lets the file go: its descriptors at once, and its memory as soon as no view
 * needs it. Views that were made before live on, and what the file says of its
 * tensors can still be asked. What would use the file from now on fails with
 * %G_IO_ERROR_CLOSED, and what uses it meanwhile in another thread goes on.
 *
 * The end of the object does the same. To close a file twice does nothing.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_close (MtlTensorFile *self)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE (self));

  g_mutex_lock (&self->mutex);
  self->closed = TRUE;
  for (gsize i = 0; i < self->n_parts; i++)
    {
      g_clear_pointer (&self->parts[i].memory, mtl_memory_unref);
      mtl_tensor_file_close_unless_needed (self, &self->parts[i]);
    }
  g_mutex_unlock (&self->mutex);
}

static MtlStridedView *
new_view (MtlPlacedTensor  *tensor,
          GError          **error)
{
  const MtlTensorEntry *entry = tensor->entry;
  MtlElementType type = mtl_element_type_new (entry->dtype);
  MtlLayout layout;

  if (!mtl_layout_new_dense (entry->shape, entry->n_dims, entry->order, type.bits, &layout, error))
    return NULL;

  return mtl_strided_view_new_take (g_steal_pointer (&tensor->memory), tensor->offset, type,
                                    &layout);
}

MtlStridedView *
mtl_tensor_file_view_of (MtlTensorFile         *self,
                         const MtlTensorEntry  *entry,
                         GError               **error)
{
  MtlPlacedTensor tensor = { .entry = entry }, *tensors = &tensor;
  MtlStridedView *view = NULL;

  if (mtl_tensor_file_place (self, &tensor, error)
      && (!mtl_tensor_file_is_read (self, entry)
          || mtl_tensor_file_read (self, &tensors, 1, NULL, error)))
    view = new_view (&tensor, error);

  g_clear_pointer (&tensor.memory, mtl_memory_unref);
  return view;
}

/**
 * mtl_tensor_file_get_view:
 * @self: a file of tensors
 * @name: a tensor's name
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets a view of one tensor, which keeps its memory.
 *
 * The file is mapped when the first view is asked for, as one buffer of the
 * device. Where the device takes none so large, each view has one of its own.
 * Compressed arrays, and those in another order of bytes, are read.
 *
 * Fails with %MTL_ERROR_OUT_OF_BOUNDS where there is none of that name, with
 * %MTL_ERROR_INVALID_DATA where the file was changed, cut or replaced after it
 * was opened, with %MTL_ERROR_NEEDS_COPY where it is mapped and the device
 * cannot use its pages, with %MTL_ERROR_NO_MEMORY, with %G_IO_ERROR_CLOSED, with
 * %MTL_ERROR_NOT_SUPPORTED where it is to be read and the device has no memory
 * that the host reaches, and with the codes of [error@Gio.IOErrorEnum].
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_file_get_view (MtlTensorFile  *self,
                          const char     *name,
                          GError        **error)
{
  const MtlTensorEntry *entry;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  entry = mtl_tensor_file_find_entry (self, name, error);
  return entry != NULL ? mtl_tensor_file_view_of (self, entry, error) : NULL;
}

void
mtl_tensor_file_free_views (MtlStridedView **views,
                            gsize            n_views)
{
  for (gsize i = 0; i < n_views; i++)
    g_clear_object (&views[i]);
  g_free (views);
}

static MtlPlacedTensor *
find_matches (MtlTensorFile *self,
              const char    *pattern,
              gsize         *n_matches)
{
  g_autoptr (GPatternSpec) spec = g_pattern_spec_new (pattern != NULL ? pattern : "*");
  MtlPlacedTensor *tensors = g_new0 (MtlPlacedTensor, self->table->n_entries + 1);
  gsize n = 0;

  for (gsize i = 0; i < self->table->n_entries; i++)
    if (g_pattern_spec_match_string (spec, self->table->entries[i].name))
      tensors[n++].entry = &self->table->entries[i];

  *n_matches = n;
  return tensors;
}

static gboolean
place_all (MtlTensorFile     *self,
           MtlPlacedTensor   *tensors,
           gsize              n_tensors,
           const MtlMonitor  *monitor,
           GError           **error)
{
  g_autofree MtlPlacedTensor **to_read = g_new (MtlPlacedTensor *, n_tensors + 1);
  gsize n_to_read = 0;

  for (gsize i = 0; i < n_tensors; i++)
    {
      if (!mtl_monitor_check (monitor, error)
          || !mtl_tensor_file_place (self, &tensors[i], error))
        return FALSE;
      if (mtl_tensor_file_is_read (self, tensors[i].entry))
        to_read[n_to_read++] = &tensors[i];
    }

  return mtl_tensor_file_read (self, to_read, n_to_read, monitor, error);
}

static MtlStridedView **
new_views (MtlPlacedTensor  *tensors,
           gsize             n_tensors,
           GError          **error)
{
  MtlStridedView **views = g_new0 (MtlStridedView *, n_tensors + 1);

  for (gsize i = 0; i < n_tensors; i++)
    {
      views[i] = new_view (&tensors[i], error);
      if (views[i] == NULL)
        {
          mtl_tensor_file_free_views (views, i);
          return NULL;
        }
    }

  return views;
}

MtlStridedView **
mtl_tensor_file_get_views_monitored (MtlTensorFile     *self,
                                     const char        *pattern,
                                     const MtlMonitor  *monitor,
                                     gsize             *n_views,
                                     GError           **error)
{
  g_autofree MtlPlacedTensor *tensors = find_matches (self, pattern, n_views);
  MtlStridedView **views = NULL;
  gsize n_tensors = *n_views;

  if (mtl_tensor_file_check_open (self, error)
      && place_all (self, tensors, n_tensors, monitor, error))
    views = new_views (tensors, n_tensors, error);

  for (gsize i = 0; i < n_tensors; i++)
    g_clear_pointer (&tensors[i].memory, mtl_memory_unref);
  if (views == NULL)
    *n_views = 0;
  return views;
}

/**
 * mtl_tensor_file_get_views:
 * @self: a file of tensors
 * @pattern: (nullable): which tensors, as [method@Mtl.TensorFile.match_names]
 *   takes it, %NULL for all
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): told how many bytes
 *   are read of how many
 * @progress_data: data for @progress
 * @n_views: (out): return location for the number of views
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets views of several tensors, in the order of
 * [method@Mtl.TensorFile.match_names].
 *
 * They are as those of [method@Mtl.TensorFile.get_view]. What has to be read is
 * read in the order of the file by several threads, as
 * [func@Mtl.get_max_threads] says, which takes less time than one after the
 * other. It can be cancelled between pieces of 8 MiB, or of 1 MiB of what is
 * compressed. Where nothing has to be read, @progress is not called.
 *
 * Fails as [method@Mtl.TensorFile.get_view] does, and where it is cancelled;
 * then there are no views at all. No match is no failure.
 *
 * Returns: (array length=n_views) (transfer full): the views
 *
 * Since: 1.0
 */
MtlStridedView **
mtl_tensor_file_get_views (MtlTensorFile          *self,
                           const char             *pattern,
                           GCancellable           *cancellable,
                           GFileProgressCallback   progress,
                           gpointer                progress_data,
                           gsize                  *n_views,
                           GError                **error)
{
  MtlProgressCallback callback = { progress, progress_data };
  MtlMonitor monitor = mtl_progress_callback_get_monitor (&callback, cancellable);

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (n_views != NULL, NULL);

  return mtl_tensor_file_get_views_monitored (self, pattern, &monitor, n_views, error);
}

/* Of a view, in the host's memory. */
typedef struct
{
  const guint8 *bytes;
  gsize size;
} ByteRange;

static int
compare_ranges (gconstpointer a,
                gconstpointer b)
{
  const ByteRange *x = a, *y = b;

  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static gboolean
get_mapped_range (MtlStridedView  *view,
                  ByteRange       *range,
                  GError         **error)
{
  gint64 first, end;

  *range = (ByteRange) { NULL, 0 };
  if (!view->memory->is_mapped_file || view->memory->contents == NULL
      || mtl_layout_is_empty (&view->layout))
    return TRUE;
  if (!mtl_layout_get_byte_bounds (&view->layout, &first, &end, error))
    return FALSE;

  range->bytes = view->memory->contents + view->byte_offset + first;
  range->size = end - first;
  return TRUE;
}

/**
 * mtl_tensor_file_prefetch:
 * @self: a file of tensors
 * @views: (array length=n_views): views of its tensors, or what was made of them
 * @n_views: their number
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Asks the system to read what mapped views will need, in the order in which it
 * lies in the file, and does not wait for it. That pays for tensors that will be
 * used in another order, and on macOS, where little is read ahead otherwise.
 *
 * Views whose memory is not a mapped file have all they need.
 *
 * Fails with the codes of [error@Gio.IOErrorEnum] where the system refuses, and
 * with %MTL_ERROR_OVERFLOW where a view has no bounds.
 *
 * Returns: whether it was asked
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_prefetch (MtlTensorFile   *self,
                          MtlStridedView **views,
                          gsize            n_views,
                          GError         **error)
{
  g_autofree ByteRange *ranges = NULL;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), FALSE);
  g_return_val_if_fail (views != NULL || n_views == 0, FALSE);

  ranges = g_new (ByteRange, n_views + 1);
  for (gsize i = 0; i < n_views; i++)
    if (!get_mapped_range (views[i], &ranges[i], error))
      return FALSE;

  qsort (ranges, n_views, sizeof *ranges, compare_ranges);
  for (gsize i = 0; i < n_views; i++)
    if (ranges[i].size > 0 && !mtl_mapped_bytes_prefetch (ranges[i].bytes, ranges[i].size, error))
      return FALSE;

  return TRUE;
}
