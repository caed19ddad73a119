/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-private.h"

#include <string.h>

#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-quoted-text-private.h"
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
                   "%s is an index itself, and no file of tensors", part->source->name);
      return FALSE;
    }

  if (part->table->format != MTL_TENSOR_FILE_FORMAT_SAFETENSORS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "%s is of NumPy's, and an index names safetensors files", part->source->name);
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
                       "Tensor %s is not in %s, where the index has it", name,
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
 * mtl_tensor_file_open: (constructor)
 * @file: a file of tensors on a disk
 * @mode: how the tensors come into memory
 * @device: (nullable): the device whose memory the views are to be of, %NULL for
 *   the host
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
mtl_tensor_file_open (GFile         *file,
                      MtlFileMode    mode,
                      MtlDevice     *device,
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
