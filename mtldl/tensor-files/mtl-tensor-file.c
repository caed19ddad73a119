/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-enum-types.h"
#include "mtl-error-private.h"
#include "mtl-message-text-private.h"
#include "mtl-progress-private.h"
#include "mtl-strided-view-private.h"

/**
 * MtlTensorFile:
 *
 * A file of tensors, open for reading: a list of its contents, and views of its
 * tensors.
 *
 * The formats are safetensors, the index of a model in several safetensors
 * files, which is opened as one file, and NumPy's `.npy` and `.npz`. The format
 * is detected from the contents, whatever the file is called. The tensor of a
 * `.npy` file has the name `""`.
 *
 * Opening a file reads and checks the description of its tensors. The tensors
 * themselves are not read until a view is requested. The description never
 * changes. Several threads may use it at the same time, even while one of them
 * closes the file.
 *
 * The object is a [iface@Gio.ListModel] of [class@Mtl.TensorFileEntry]. The
 * entries are in the order of the tensors' bytes, of the index, or of the
 * archive's directory.
 *
 * A file can contain tensors that cannot be loaded: text, Python objects, unknown
 * types, members of an archive that are damaged or not arrays. Only these
 * are refused: each is an entry, too, with its name and the reason, see
 * [method@Mtl.TensorFileEntry.get_error]. Functions for several tensors leave
 * them out, and [method@Mtl.TensorFile.match_refused_names] lists them.
 *
 * Views keep what they need alive, and outlive the object. Views of a mapped
 * file are read-only, and are subject to the contract of
 * [ctor@Mtl.Buffer.new_mapped]: the file must not be truncated or written to while
 * a view exists. Replacing the file by another one is harmless, with one
 * exception: if a file that an index names is replaced before the first view of
 * it is created, views of it fail.
 *
 * A tensor has separate memory if the file is read rather than mapped, if the
 * tensor is compressed, or if its byte order is not that of this machine. Its
 * views can be written to, and each call creates a new one with new memory.
 *
 * The checksum of an archive's member is checked whenever its tensor is read
 * into separate memory. A tensor that is used in place in the mapping is not
 * checked, see [method@Mtl.TensorFile.check].
 *
 * ```c
 * g_autoptr (GFile) file = g_file_new_for_path ("model.safetensors");
 * g_autoptr (MtlTensorFile) tensors =
 *   mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, error);
 * g_autoptr (MtlStridedView) weights = NULL;
 * g_autofree char *text = NULL;
 *
 * if (tensors == NULL)
 *   return FALSE;
 *
 * // Mapped: nothing is read before the elements are used.
 * weights = mtl_tensor_file_load_view (tensors, "weights", NULL, error);
 * if (weights == NULL)
 *   return FALSE;
 *
 * text = mtl_strided_view_to_string (weights);
 * g_print ("%s\n", text);
 * ```
 *
 * Since: 1.0
 */

enum
{
  PROP_0,
  PROP_FILE,
  PROP_MODE,
  PROP_FORMAT,
  PROP_DEVICE,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

/* The tensors of a file that was never opened. */
static MtlTensorTable no_tensors;

static GType
mtl_tensor_file_get_item_type (GListModel *model)
{
  return MTL_TYPE_TENSOR_FILE_ENTRY;
}

static guint
mtl_tensor_file_get_n_items (GListModel *model)
{
  return MTL_TENSOR_FILE (model)->table->n_entries;
}

static gpointer
mtl_tensor_file_get_item (GListModel *model,
                          guint       position)
{
  MtlTensorFile *self = MTL_TENSOR_FILE (model);

  if (position >= self->table->n_entries)
    return NULL;

  return mtl_tensor_file_give_entry (self, &self->table->entries[position]);
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = mtl_tensor_file_get_item_type;
  iface->get_n_items = mtl_tensor_file_get_n_items;
  iface->get_item = mtl_tensor_file_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (MtlTensorFile, mtl_tensor_file, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static void
mtl_tensor_file_finalize (GObject *object)
{
  MtlTensorFile *self = MTL_TENSOR_FILE (object);

  if (self->given != NULL)
    for (gsize i = 0; i < self->table->n_entries; i++)
      g_weak_ref_clear (&self->given[i]);
  g_free (self->given);

  /* A single part owns the table. */
  if (self->table != &no_tensors && (self->n_parts == 0 || self->table != self->parts[0].table))
    mtl_tensor_table_free (self->table);
  for (gsize i = 0; i < self->n_parts; i++)
    mtl_tensor_file_part_clear (&self->parts[i]);
  g_free (self->parts);
  g_clear_object (&self->file);
  g_clear_object (&self->device);
  mtl_fork_lock_clear (&self->lock);

  G_OBJECT_CLASS (mtl_tensor_file_parent_class)->finalize (object);
}

static void
mtl_tensor_file_get_property (GObject    *object,
                              guint       prop_id,
                              GValue     *value,
                              GParamSpec *pspec)
{
  MtlTensorFile *self = MTL_TENSOR_FILE (object);

  switch (prop_id)
    {
    case PROP_FILE:
      g_value_set_object (value, self->file);
      break;
    case PROP_MODE:
      g_value_set_enum (value, self->mode);
      break;
    case PROP_FORMAT:
      g_value_set_enum (value, self->table->format);
      break;
    case PROP_DEVICE:
      g_value_set_object (value, self->device);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_file_class_init (MtlTensorFileClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_tensor_file_finalize;
  object_class->get_property = mtl_tensor_file_get_property;

  /**
   * MtlTensorFile:file: (getter get_file)
   *
   * The file that was opened.
   *
   * Since: 1.0
   */
  props[PROP_FILE] = g_param_spec_object ("file", NULL, NULL, G_TYPE_FILE, flags);

  /**
   * MtlTensorFile:mode: (getter get_mode)
   *
   * How the tensors get into memory.
   *
   * Since: 1.0
   */
  props[PROP_MODE] = g_param_spec_enum ("mode", NULL, NULL, MTL_TYPE_TENSOR_FILE_MODE,
                                        MTL_TENSOR_FILE_MODE_AUTO, flags);

  /**
   * MtlTensorFile:format: (getter get_format)
   *
   * The format of the file.
   *
   * Since: 1.0
   */
  props[PROP_FORMAT] = g_param_spec_enum ("format", NULL, NULL, MTL_TYPE_TENSOR_FILE_FORMAT,
                                          MTL_TENSOR_FILE_FORMAT_SAFETENSORS, flags);

  /**
   * MtlTensorFile:device: (getter get_device)
   *
   * The device that the views' memory belongs to.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_tensor_file_init (MtlTensorFile *self)
{
  self->table = &no_tensors;
  self->device = g_object_ref (mtl_device_get_host ());
}

/**
 * mtl_tensor_file_get_file: (get-property file)
 * @self: a file of tensors
 *
 * Gets the file that was opened.
 *
 * Returns: (transfer none) (nullable): the file, %NULL if none was opened
 *
 * Since: 1.0
 */
GFile *
mtl_tensor_file_get_file (MtlTensorFile *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  return self->file;
}

/**
 * mtl_tensor_file_get_mode: (get-property mode)
 * @self: a file of tensors
 *
 * Gets how the tensors get into memory.
 *
 * Returns: %MTL_TENSOR_FILE_MODE_MAP or %MTL_TENSOR_FILE_MODE_READ, whichever was chosen
 *
 * Since: 1.0
 */
MtlTensorFileMode
mtl_tensor_file_get_mode (MtlTensorFile *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), MTL_TENSOR_FILE_MODE_AUTO);

  return self->mode;
}

/**
 * mtl_tensor_file_get_format: (get-property format)
 * @self: a file of tensors
 *
 * Gets the format of the file, which is detected from its contents.
 *
 * Returns: the format
 *
 * Since: 1.0
 */
MtlTensorFileFormat
mtl_tensor_file_get_format (MtlTensorFile *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), MTL_TENSOR_FILE_FORMAT_SAFETENSORS);

  return self->table->format;
}

/**
 * mtl_tensor_file_get_device: (get-property device)
 * @self: a file of tensors
 *
 * Gets the device that the views' memory belongs to.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_tensor_file_get_device (MtlTensorFile *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  return self->device;
}

/**
 * mtl_tensor_file_list_names:
 * @self: a file of tensors
 *
 * Gets the names of all tensors, in the order of the list, including those that
 * cannot be loaded. Do not trust them: a name can be any text, and is not a path.
 * Two arrays of an archive may have the same name; neither can be loaded then.
 *
 * Returns: (array zero-terminated=1) (transfer container): the names, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_list_names (MtlTensorFile *self)
{
  const char **names;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  names = g_new0 (const char *, self->table->n_entries + 1);
  for (gsize i = 0; i < self->table->n_entries; i++)
    names[i] = self->table->entries[i].name;
  return names;
}

static const char **
match_names (MtlTensorFile *self,
             const char    *pattern,
             gboolean       refused)
{
  g_autoptr (GPatternSpec) spec = mtl_name_pattern_new (pattern);
  const char **names = g_new0 (const char *, self->table->n_entries + 1);
  gsize n_names = 0;

  for (gsize i = 0; i < self->table->n_entries; i++)
    {
      const MtlTensorEntry *entry = &self->table->entries[i];

      if (entry->is_refused == refused && mtl_name_pattern_matches (spec, entry->name))
        names[n_names++] = entry->name;
    }

  return names;
}

/**
 * mtl_tensor_file_match_loadable_names:
 * @self: a file of tensors
 * @pattern: (nullable): the pattern, %NULL for all names
 *
 * Gets the names that match a pattern of [struct@GLib.PatternSpec], in the
 * order of the list. A `*` matches any text, including none, and a `?` matches
 * any one character. All other characters match themselves. A pattern that is
 * not UTF-8 matches nothing.
 *
 * These are the names of the tensors that [method@Mtl.TensorFile.load_views]
 * loads for the same pattern, one for each view. Those that cannot be loaded are
 * left out, see [method@Mtl.TensorFile.match_refused_names].
 *
 * Returns: (array zero-terminated=1) (transfer container): the names, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_match_loadable_names (MtlTensorFile *self,
                                      const char    *pattern)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  return match_names (self, pattern, FALSE);
}

/**
 * mtl_tensor_file_match_refused_names:
 * @self: a file of tensors
 * @pattern: (nullable): the pattern, as in
 *   [method@Mtl.TensorFile.match_loadable_names]; %NULL for all names
 *
 * Gets the names of the tensors that match a pattern, but cannot be loaded, in
 * the order of the list. [method@Mtl.TensorFile.load_views] leaves them out.
 * [method@Mtl.TensorFileEntry.get_error] returns the reason for each.
 *
 * Returns: (array zero-terminated=1) (transfer container): the names, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_match_refused_names (MtlTensorFile *self,
                                     const char    *pattern)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);

  return match_names (self, pattern, TRUE);
}

/* If there are several files, the metadata are those of the first that could be opened. */
static const MtlTensorTable *
get_metadata_table (MtlTensorFile *self)
{
  for (gsize i = 0; i < self->n_parts; i++)
    if (self->parts[i].table != NULL)
      return self->parts[i].table;

  return self->table;
}

/**
 * mtl_tensor_file_list_metadata_keys:
 * @self: a file of tensors
 *
 * Gets the keys of the file's metadata, in the order of the file; see
 * [method@Mtl.TensorFile.lookup_metadata].
 *
 * Returns: (array zero-terminated=1) (transfer container): the keys, owned by
 *   @self
 *
 * Since: 1.0
 */
const char **
mtl_tensor_file_list_metadata_keys (MtlTensorFile *self)
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
 * mtl_tensor_file_lookup_metadata:
 * @self: a file of tensors
 * @key: a key
 *
 * Gets the value of a key in the file's metadata. Only safetensors files have
 * metadata. If an index names several files, these are the metadata of the
 * first that could be opened.
 *
 * Returns: (transfer none) (nullable): the value, owned by @self, %NULL if
 *   there is no such key
 *
 * Since: 1.0
 */
const char *
mtl_tensor_file_lookup_metadata (MtlTensorFile *self,
                                 const char    *key)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (key != NULL, NULL);

  return mtl_tensor_table_lookup_metadata (get_metadata_table (self), key);
}

static const MtlTensorEntry *
find_entry (MtlTensorFile  *self,
            const char     *name,
            GError        **error)
{
  const MtlTensorEntry *entry = mtl_tensor_table_lookup (self->table, name);
  g_autofree char *quoted = NULL;

  if (entry != NULL)
    return entry;

  quoted = mtl_quote_text (name, strlen (name));
  if (self->table->format == MTL_TENSOR_FILE_FORMAT_NPY)
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_FOUND,
                 "There is no tensor %s: the only one of a .npy file has the name “”", quoted);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_FOUND,
                 "There is no tensor %s among the %" G_GSIZE_FORMAT " of the file", quoted,
                 self->table->n_entries);
  return NULL;
}

/**
 * mtl_tensor_file_has_tensor:
 * @self: a file of tensors
 * @name: a tensor's name
 *
 * Checks whether the file has a tensor with that name, including one that cannot
 * be loaded.
 *
 * Returns: %TRUE if there is such a tensor
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_has_tensor (MtlTensorFile *self,
                            const char    *name)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return mtl_tensor_table_lookup (self->table, name) != NULL;
}

/**
 * mtl_tensor_file_lookup_entry:
 * @self: a file of tensors
 * @name: a tensor's name
 *
 * Gets the description of one tensor, without reading its bytes.
 *
 * Returns: (transfer full) (nullable): the entry, or %NULL if there is no tensor
 *   with that name
 *
 * Since: 1.0
 */
MtlTensorFileEntry *
mtl_tensor_file_lookup_entry (MtlTensorFile *self,
                              const char    *name)
{
  const MtlTensorEntry *entry;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  entry = mtl_tensor_table_lookup (self->table, name);
  return entry != NULL ? mtl_tensor_file_give_entry (self, entry) : NULL;
}

/**
 * mtl_tensor_file_load_view:
 * @self: a file of tensors
 * @name: a tensor's name
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets a view of one tensor. The view keeps its memory alive.
 *
 * With %MTL_TENSOR_FILE_MODE_MAP, the whole file is mapped when the first view is
 * requested, as one buffer of the device. If the file is larger than the
 * device's largest buffer, each view has its own buffer. Compressed arrays, and
 * arrays in another byte order, are read.
 *
 * On CUDA each view has its own buffer, of shared memory: GPUs read the pages of
 * the file in place, or [method@Mtl.StridedView.to_device] copies them to private
 * memory at the speed of the bus. The tensor is loaded when its view is made.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_FOUND: there is no tensor with that name
 * - the error of [method@Mtl.TensorFileEntry.get_error], if it has one
 * - %MTL_ERROR_INVALID_DATA: the file was changed, truncated or replaced after
 *   it was opened, or the tensor is read and its checksum is wrong
 * - %MTL_ERROR_NEEDS_COPY: the file is mapped, and the device cannot use its
 *   pages
 * - %MTL_ERROR_NOT_SUPPORTED: the tensor has to be read, and the device has no
 *   memory that the host can access
 * - %MTL_ERROR_OVERFLOW: the tensor has more bytes than this machine can
 *   address
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %G_IO_ERROR_CLOSED: the file was closed
 * - the other errors of [error@Gio.IOErrorEnum]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_file_load_view (MtlTensorFile  *self,
                           const char     *name,
                           GCancellable   *cancellable,
                           GError        **error)
{
  const MtlMonitor monitor = { .cancellable = cancellable };
  const MtlTensorEntry *entry;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  entry = find_entry (self, name, error);
  return entry != NULL ? mtl_tensor_file_view_of (self, entry, &monitor, error) : NULL;
}

/**
 * mtl_tensor_file_load_views:
 * @self: a file of tensors
 * @pattern: (nullable): which tensors to load, as in
 *   [method@Mtl.TensorFile.match_loadable_names]; %NULL for all
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): called with the
 *   number of bytes that are read, and their total
 * @progress_data: data for @progress
 * @n_views: (out): return location for the number of views
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets views of several tensors, in the order of
 * [method@Mtl.TensorFile.match_loadable_names], which returns one name for each view.
 * An empty result is not an error. Tensors that cannot be loaded are left out,
 * see [method@Mtl.TensorFile.match_refused_names], but if all that match the
 * pattern are such, the function fails with the reason of the first.
 *
 * The views are like those of [method@Mtl.TensorFile.load_view]. Tensors that
 * have to be read are read in the order of the file by several threads, see
 * [func@Mtl.get_max_threads], which takes less time than reading one after the
 * other. The operation can be cancelled between pieces of 8 MiB, or of 1 MiB
 * for compressed data. If nothing has to be read, @progress is not called.
 *
 * If the function fails or is cancelled, it returns no views at all.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFile.load_view]
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 *
 * Returns: (array length=n_views) (transfer full): the views
 *
 * Since: 1.0
 */
MtlStridedView **
mtl_tensor_file_load_views (MtlTensorFile          *self,
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

  return mtl_tensor_file_load_views_monitored (self, pattern, &monitor, n_views, error);
}

/* The bytes of a view in the host's memory. */
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
 * @views: (array length=n_views): views of its tensors, or views derived from
 *   them
 * @n_views: the number of views
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Asks the system to read the bytes that mapped views need, in the order of the
 * file, and does not wait for it. That helps if the tensors will be used in
 * another order, and on macOS, which otherwise reads little ahead.
 *
 * Views whose memory is not a mapped file are ignored.
 *
 * Errors:
 *
 * - %MTL_ERROR_OVERFLOW: the bounds of a view do not fit their type
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - [error@Gio.IOErrorEnum]: the system refuses
 *
 * Returns: %TRUE if the system was asked
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

  ranges = g_try_new (ByteRange, MAX (n_views, 1));
  if (ranges == NULL)
    return mtl_set_no_memory (n_views * sizeof (ByteRange), error);

  for (gsize i = 0; i < n_views; i++)
    if (!get_mapped_range (views[i], &ranges[i], error))
      return FALSE;

  qsort (ranges, n_views, sizeof *ranges, compare_ranges);
  for (gsize i = 0; i < n_views; i++)
    if (ranges[i].size > 0
        && !mtl_mapped_bytes_prefetch (ranges[i].bytes, ranges[i].size, error))
      return FALSE;

  return TRUE;
}

/**
 * mtl_tensor_file_check:
 * @self: a file of tensors
 * @checks: additional checks
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): called with the
 *   number of bytes that are checked, and their total
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Checks everything that opening the file does not check: whether all bytes of
 * all tensors can be read, whether the checksums of an archive match, and the
 * conditions in @checks. If an index names several files, all of their tensors
 * are checked, including those that the index does not name. Tensors that cannot
 * be loaded are not checked, and are a fault only with
 * %MTL_TENSOR_FILE_CHECKS_LOADABLE.
 *
 * The bytes are read by several threads, see [func@Mtl.get_max_threads], and
 * never from a mapping, whatever the mode. A truncated file is therefore an
 * error and does not raise a signal.
 *
 * The function stops at the first fault, and the message names the tensor. That
 * is the first tensor that cannot be loaded, if @checks asks for that. In each
 * file, it is the first tensor that is not aligned, if @checks asks for that, and
 * otherwise the first fault in the order of the bytes. To find all faults, use
 * [method@Mtl.TensorFileEntry.check].
 *
 * Errors:
 *
 * - the error of [method@Mtl.TensorFileEntry.get_error] of a tensor that cannot
 *   be loaded
 * - %MTL_ERROR_INVALID_DATA: a tensor has a fault, or the file was changed
 *   after it was opened
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %G_IO_ERROR_CLOSED: the file was closed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - the other errors of [error@Gio.IOErrorEnum]: the file cannot be read
 *
 * Returns: %TRUE if no fault was found
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_check (MtlTensorFile          *self,
                       MtlTensorFileChecks     checks,
                       GCancellable           *cancellable,
                       GFileProgressCallback   progress,
                       gpointer                progress_data,
                       GError                **error)
{
  MtlProgressCallback callback = { progress, progress_data };
  MtlMonitor monitor = mtl_progress_callback_get_monitor (&callback, cancellable);

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  return mtl_tensor_file_check_monitored (self, checks, &monitor, error);
}

/**
 * mtl_tensor_file_close:
 * @self: a file of tensors
 *
 * Closes the file. Its descriptors are closed at once, and its memory is
 * released as soon as no view needs it. Existing views stay valid, and the
 * description of the tensors is still available. Later calls that need the file
 * fail with %G_IO_ERROR_CLOSED. Calls that are using it in other threads
 * continue.
 *
 * Finalizing the object closes the file, too. Closing a file twice has no
 * effect.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_close (MtlTensorFile *self)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE (self));

  mtl_fork_lock (&self->lock);
  self->closed = TRUE;
  for (gsize i = 0; i < self->n_parts; i++)
    {
      g_clear_pointer (&self->parts[i].memory, mtl_memory_unref);
      mtl_tensor_file_close_unless_needed (self, &self->parts[i]);
    }
  mtl_fork_unlock (&self->lock);
}
