/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-private.h"

#include <stdlib.h>
#include <string.h>

#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-progress-private.h"
#include "mtl-quoted-text-private.h"
#include "mtl-strided-view-private.h"
#include "mtl-tensor-table-read-private.h"

/**
 * MtlTensorFile:
 *
 * A file of tensors, open for reading: what is in it, and views of it.
 *
 * It is safetensors, or the index of a model in several such files, which is
 * then opened as one, or NumPy's `.npy` and `.npz`. Which of them is told by
 * the content, whatever the name. The tensor of a `.npy` has the name `""`.
 *
 * Opening reads what the file says of its tensors, and checks all of it;
 * the tensors themselves are left alone until a view of one is asked for. What
 * it says does not change, and may be used from any threads at once, also while
 * one of them closes it. It is a [iface@Gio.ListModel] of
 * [class@Mtl.TensorFileEntry], in the order of the tensors' bytes, or in that of
 * the index or of the archive's directory.
 *
 * Views keep what they need, and outlive the object. Those of mapped files are
 * read-only, and come with the contract of [ctor@Mtl.Buffer.new_mapped]: nobody
 * may cut or write to the file as long as they are there. To put another file
 * in its place is harmless; only one of those that an index names is missed then,
 * with an error, where no view of it was made before.
 * Where memory of its own holds a tensor, because the file is read instead, or
 * the tensor is compressed, or its elements had to be put into this machine's
 * order of bytes, the view may be written to, and each call makes a new one.
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

  /* That of a single part is the part's. */
  if (self->n_parts == 0 || self->table != self->parts[0].table)
    mtl_tensor_table_free (self->table);
  for (gsize i = 0; i < self->n_parts; i++)
    mtl_tensor_file_part_clear (&self->parts[i]);
  g_free (self->parts);
  g_clear_object (&self->file);
  g_clear_object (&self->device);
  g_mutex_clear (&self->mutex);

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
   * How the tensors come into memory.
   *
   * Since: 1.0
   */
  props[PROP_MODE] = g_param_spec_enum ("mode", NULL, NULL, MTL_TYPE_FILE_MODE,
                                        MTL_FILE_MODE_AUTO, flags);

  /**
   * MtlTensorFile:format: (getter get_format)
   *
   * How the tensors are written to the file.
   *
   * Since: 1.0
   */
  props[PROP_FORMAT] = g_param_spec_enum ("format", NULL, NULL, MTL_TYPE_TENSOR_FILE_FORMAT,
                                          MTL_TENSOR_FILE_FORMAT_SAFETENSORS, flags);

  /**
   * MtlTensorFile:device: (getter get_device)
   *
   * The device whose memory the views are of.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_tensor_file_init (MtlTensorFile *self)
{
  g_mutex_init (&self->mutex);
  self->table = mtl_tensor_table_new ();
  self->device = g_object_ref (mtl_device_get_host ());
}

static gboolean
open_part (MtlTensorFilePart  *part,
           GFile              *file,
           GCancellable       *cancellable,
           GError            **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  part->source = mtl_file_source_open (file, error);
  if (part->source == NULL)
    return FALSE;

  part->file = g_object_ref (file);
  part->table = mtl_tensor_table_read (part->source, cancellable, error);
  return part->table != NULL;
}

/* One of several, of which there may be more than descriptors. */
static gboolean
open_member (MtlTensorFilePart  *part,
             GFile              *folder,
             const char         *name,
             GCancellable       *cancellable,
             GError            **error)
{
  g_autoptr (GFile) file = g_file_get_child (folder, name);

  if (!open_part (part, file, cancellable, error))
    return FALSE;

  if (part->table->n_files > 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "%s is an index itself, not a file of tensors", part->source->name);
      return FALSE;
    }

  if (part->table->format != MTL_TENSOR_FILE_FORMAT_SAFETENSORS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "%s is a NumPy file, but an index can only name safetensors files",
                   part->source->name);
      return FALSE;
    }

  mtl_file_source_close (part->source);
  return TRUE;
}

/* The index says only in which of them each is. */
static gboolean
complete_entries (MtlTensorFile  *self,
                  GError        **error)
{
  for (gsize i = 0; i < self->table->n_entries; i++)
    {
      MtlTensorEntry *entry = &self->table->entries[i];
      const MtlTensorFilePart *part = &self->parts[entry->file];
      const MtlTensorEntry *found = mtl_tensor_table_lookup (part->table, entry->name);
      guint32 file = entry->file;

      if (found == NULL)
        {
          g_autofree char *name = mtl_quote_text (entry->name, strlen (entry->name));

          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                       "Tensor %s is not in %s, where the index places it", name,
                       part->source->name);
          return FALSE;
        }

      *entry = *found;
      entry->file = file;
    }

  return TRUE;
}

static gboolean
open_members (MtlTensorFile  *self,
              GCancellable   *cancellable,
              GError        **error)
{
  g_autoptr (GFile) folder = g_file_get_parent (self->file);

  self->parts = g_try_new0 (MtlTensorFilePart, self->table->n_files);
  if (self->parts == NULL)
    return mtl_set_no_memory (self->table->n_files * sizeof (MtlTensorFilePart), error);

  for (; self->n_parts < self->table->n_files; self->n_parts++)
    {
      MtlTensorFilePart *part = &self->parts[self->n_parts];

      if (!open_member (part, folder, self->table->files[self->n_parts], cancellable, error))
        {
          mtl_tensor_file_part_clear (part);
          return FALSE;
        }
    }

  return complete_entries (self, error);
}

static MtlFileMode
choose_mode (MtlFileMode          mode,
             const MtlFileSource *source)
{
  if (mode != MTL_FILE_MODE_AUTO)
    return mode;

  return mtl_file_source_is_remote (source) ? MTL_FILE_MODE_READ : MTL_FILE_MODE_MAP;
}

/**
 * mtl_tensor_file_open_full: (constructor)
 * @file: a file of tensors on a disk
 * @device: (nullable): the device whose memory the views are to be of, %NULL for
 *   the host
 * @mode: how the tensors come into memory
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Opens a file and reads what it says of its tensors.
 *
 * Fails with %MTL_ERROR_INVALID_DATA where the file, or one that its index
 * names, is not as its format wants it, and with %MTL_ERROR_NOT_SUPPORTED where
 * it is, and has what is not offered here: arrays of text, of dates, of records
 * and of objects, and archives compressed by other means than deflate; with
 * %MTL_ERROR_OVERFLOW where a size does not fit; with %MTL_ERROR_NO_MEMORY; and
 * with the codes of [error@Gio.IOErrorEnum], as [ctor@Mtl.Buffer.new_mapped] does, and with
 * %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): the file
 *
 * Since: 1.0
 */
MtlTensorFile *
mtl_tensor_file_open_full (GFile         *file,
                           MtlDevice     *device,
                           MtlFileMode    mode,
                           GCancellable  *cancellable,
                           GError       **error)
{
  g_autoptr (MtlTensorFile) self = NULL;
  MtlTensorFilePart first = { 0 };

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if (!open_part (&first, file, cancellable, error))
    {
      mtl_tensor_file_part_clear (&first);
      return NULL;
    }

  self = g_object_new (MTL_TYPE_TENSOR_FILE, NULL);
  self->file = g_object_ref (file);
  self->mode = choose_mode (mode, first.source);
  if (device != NULL)
    g_set_object (&self->device, device);
  mtl_tensor_table_free (self->table);
  self->table = first.table;

  if (first.table->n_files == 0)
    {
      self->parts = g_memdup2 (&first, sizeof first);
      self->n_parts = 1;
      return g_steal_pointer (&self);
    }

  first.table = NULL;
  mtl_tensor_file_part_clear (&first);
  return open_members (self, cancellable, error) ? g_steal_pointer (&self) : NULL;
}

/**
 * mtl_tensor_file_open: (constructor)
 * @file: a file of tensors on a disk
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Opens a file for the host, mapped if it is on a disk of this machine. This is
 * [ctor@Mtl.TensorFile.open_full] without a device and with
 * %MTL_FILE_MODE_AUTO, and fails as that does.
 *
 * Returns: (transfer full): the file
 *
 * Since: 1.0
 */
MtlTensorFile *
mtl_tensor_file_open (GFile         *file,
                      GCancellable  *cancellable,
                      GError       **error)
{
  return mtl_tensor_file_open_full (file, NULL, MTL_FILE_MODE_AUTO, cancellable, error);
}

/**
 * mtl_tensor_file_get_file: (get-property file)
 * @self: a file of tensors
 *
 * Gets the file that was opened.
 *
 * Returns: (transfer none) (nullable): the file, %NULL where none was
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
 * Gets how the tensors come into memory.
 *
 * Returns: %MTL_FILE_MODE_MAP or %MTL_FILE_MODE_READ, whichever was chosen
 *
 * Since: 1.0
 */
MtlFileMode
mtl_tensor_file_get_mode (MtlTensorFile *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), MTL_FILE_MODE_AUTO);

  return self->mode;
}

/**
 * mtl_tensor_file_get_format: (get-property format)
 * @self: a file of tensors
 *
 * Gets how the tensors are written to the file, which its content tells.
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
 * Gets the device whose memory the views are of.
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
 * Gets the names of all tensors, in the order of the list. They are a
 * stranger's: any text, and no paths.
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
  names = mtl_tensor_file_list_names (self);
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
 * mtl_tensor_file_list_metadata_keys:
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
  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "There is no tensor %s among the %" G_GSIZE_FORMAT " of the file", quoted,
               self->table->n_entries);
  return NULL;
}

/**
 * mtl_tensor_file_lookup_entry:
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
mtl_tensor_file_lookup_entry (MtlTensorFile  *self,
                              const char     *name,
                              GError        **error)
{
  const MtlTensorEntry *entry;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  entry = find_entry (self, name, error);
  return entry != NULL ? mtl_tensor_file_give_entry (self, entry) : NULL;
}

/**
 * mtl_tensor_file_load_view:
 * @self: a file of tensors
 * @name: a tensor's name
 * @cancellable: (nullable): a cancellable
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
 * They are as those of [method@Mtl.TensorFile.load_view]. What has to be read is
 * read in the order of the file by several threads, as
 * [func@Mtl.get_max_threads] says, which takes less time than one after the
 * other. It can be cancelled between pieces of 8 MiB, or of 1 MiB of what is
 * compressed. Where nothing has to be read, @progress is not called.
 *
 * Fails as [method@Mtl.TensorFile.load_view] does, and where it is cancelled;
 * then there are no views at all. No match is no failure.
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
 * @cancellable: (nullable): a cancellable
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
                          GCancellable    *cancellable,
                          GError         **error)
{
  g_autofree ByteRange *ranges = NULL;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE (self), FALSE);
  g_return_val_if_fail (views != NULL || n_views == 0, FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  ranges = g_new (ByteRange, n_views + 1);
  for (gsize i = 0; i < n_views; i++)
    if (!get_mapped_range (views[i], &ranges[i], error))
      return FALSE;

  qsort (ranges, n_views, sizeof *ranges, compare_ranges);
  for (gsize i = 0; i < n_views; i++)
    if (ranges[i].size > 0
        && (g_cancellable_set_error_if_cancelled (cancellable, error)
            || !mtl_mapped_bytes_prefetch (ranges[i].bytes, ranges[i].size, error)))
      return FALSE;

  return TRUE;
}

/**
 * mtl_tensor_file_check:
 * @self: a file of tensors
 * @checks: what else to look for
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): told how many bytes
 *   are checked of how many
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Checks what opening left alone: that all bytes of all tensors can be read,
 * that the checksums of an archive are theirs, and what @checks asks for. Where
 * an index names several files, all that is in them is checked, also what the
 * index does not name.
 *
 * It reads with several threads, as [func@Mtl.get_max_threads] says, whatever
 * the mode, so that a file that was cut is an error, and no signal.
 *
 * It ends with the first fault, and names the tensor: in each file the first
 * that is not aligned, where that was asked for, and then the first in the order
 * of the bytes. To know of all of them see
 * [method@Mtl.TensorFileEntry.check]. Fails with %MTL_ERROR_INVALID_DATA, or
 * with the codes of [error@Gio.IOErrorEnum], as where it cannot be read, or was
 * cancelled, or is closed.
 *
 * Returns: whether nothing is wrong
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_check (MtlTensorFile          *self,
                       MtlTensorChecks         checks,
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
