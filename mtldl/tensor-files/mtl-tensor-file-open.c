/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Opens a file of tensors, or several that an index names. */

#include "mtl-tensor-file-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-message-text-private.h"
#include "mtl-tensor-table-read-private.h"

#define INDEX_ENDING ".safetensors.index.json"

static gboolean
open_part (MtlTensorFilePart  *part,
           GFile              *file,
           GCancellable       *cancellable,
           GError            **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  part->file = g_object_ref (file);
  part->source = mtl_file_source_open (file, error);
  if (part->source == NULL)
    return FALSE;

  part->table = mtl_tensor_table_read (part->source, cancellable, error);
  return part->table != NULL;
}

/* There may be more members than file descriptors, so each is closed again. */
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

/* The tensors of a member that cannot be opened stay in the list, all with its error. Only
 * its file is kept. */
static gboolean
refuse_member (MtlTensorFile      *self,
               MtlTensorFilePart  *part,
               GError             *why,
               GError            **error)
{
  MtlTensorEntry any = { 0 };

  g_clear_pointer (&part->table, mtl_tensor_table_free);
  g_clear_pointer (&part->source, mtl_file_source_free);
  if (g_error_matches (why, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    g_prefix_error (&why, "A file that the index names is missing: ");
  if (g_error_matches (why, G_IO_ERROR, G_IO_ERROR_CANCELLED)
      || g_error_matches (why, MTL_ERROR, MTL_ERROR_NO_MEMORY))
    {
      g_propagate_error (error, g_error_copy (why));
      return FALSE;
    }
  if (!mtl_tensor_table_refuse (self->table, &any, NULL, why, error))
    return FALSE;

  part->refusal = any.refusal;
  return TRUE;
}

static gboolean
refuse_missing (MtlTensorFile            *self,
                const MtlTensorFilePart  *part,
                MtlTensorEntry           *entry,
                GError                  **error)
{
  g_autoptr (GError) why = g_error_new (MTL_ERROR, MTL_ERROR_INVALID_DATA,
                                        "It is not in %s, where the index places it",
                                        part->source->name);

  return mtl_tensor_table_refuse (self->table, entry, NULL, why, error);
}

/* The index only says which file each tensor is in. */
static gboolean
complete_entries (MtlTensorFile  *self,
                  GError        **error)
{
  for (gsize i = 0; i < self->table->n_entries; i++)
    {
      MtlTensorEntry *entry = &self->table->entries[i];
      const MtlTensorFilePart *part = &self->parts[entry->file];
      const MtlTensorEntry *found = NULL;
      guint32 file = entry->file;

      if (part->table == NULL)
        {
          entry->refusal = part->refusal;
          entry->is_refused = TRUE;
        }
      else
        {
          found = mtl_tensor_table_lookup (part->table, entry->name);
          if (found != NULL)
            *entry = *found;
          else if (!refuse_missing (self, part, entry, error))
            return FALSE;
        }
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
  const MtlRefusal *first = NULL;
  gsize n_opened = 0;

  self->parts = g_try_new0 (MtlTensorFilePart, self->table->n_files);
  if (self->parts == NULL)
    return mtl_set_no_memory (self->table->n_files * sizeof (MtlTensorFilePart), error);

  while (self->n_parts < self->table->n_files)
    {
      g_autoptr (GError) why = NULL;
      const char *name = self->table->files[self->n_parts];
      MtlTensorFilePart *part = &self->parts[self->n_parts++];

      if (open_member (part, folder, name, cancellable, &why))
        n_opened++;
      else if (!refuse_member (self, part, why, error))
        return FALSE;
      else if (first == NULL)
        first = part->refusal;
    }

  if (n_opened == 0)
    {
      g_propagate_error (error, g_error_copy (&first->error));
      return FALSE;
    }
  return complete_entries (self, error);
}

/* The files of one kind in a folder. */
typedef struct
{
  guint n;
  char *first; /* the first by name */
} FoundFiles;

static void
add_found (FoundFiles *self,
           const char *name)
{
  if (self->n++ > 0 && strcmp (name, self->first) > 0)
    return;

  g_free (self->first);
  self->first = g_strdup (name);
}

static gboolean
is_tensor_file_name (const char *name)
{
  return mtl_file_name_ends_in (name, ".safetensors") || mtl_file_name_ends_in (name, ".npy")
         || mtl_file_name_ends_in (name, ".npz");
}

/* Always returns NULL. */
static GFile *
refuse_folder (GFile             *folder,
               const FoundFiles  *files,
               gboolean           has_folders,
               GError           **error)
{
  g_autofree char *quoted = mtl_quote_file_name (folder);
  g_autofree char *first = NULL;
  const char *kind;

  if (files->n == 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                   "%s is a folder without .safetensors, .npy and .npz files%s", quoted,
                   has_folders ? "; the folders in it are not searched" : "");
      return NULL;
    }

  first = mtl_quote_text (files->first, strlen (files->first));
  kind = mtl_file_name_ends_in (files->first, INDEX_ENDING) ? "models" : "files of tensors";
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
               "%s is a folder with %u %s: open one of them, such as %s", quoted, files->n, kind,
               first);
  return NULL;
}

/* The files in a folder whose names say that they hold tensors. */
typedef struct
{
  FoundFiles indices;
  FoundFiles files;
  gboolean has_folders;
} FolderContents;

static void
folder_contents_clear (FolderContents *self)
{
  g_free (self->indices.first);
  g_free (self->files.first);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FolderContents, folder_contents_clear)

static gboolean
read_folder (FolderContents  *self,
             GFile           *folder,
             GCancellable    *cancellable,
             GError         **error)
{
  g_autoptr (GFileEnumerator) children =
    g_file_enumerate_children (folder,
                               G_FILE_ATTRIBUTE_STANDARD_NAME "," G_FILE_ATTRIBUTE_STANDARD_TYPE,
                               G_FILE_QUERY_INFO_NONE, cancellable, error);
  GFileInfo *info;

  if (children == NULL)
    return FALSE;

  while (g_file_enumerator_iterate (children, &info, NULL, cancellable, error))
    {
      const char *name;

      if (info == NULL)
        return TRUE;

      name = g_file_info_get_name (info);
      if (*name == '.')
        continue;
      if (g_file_info_get_file_type (info) == G_FILE_TYPE_DIRECTORY)
        self->has_folders = TRUE;
      else if (mtl_file_name_ends_in (name, INDEX_ENDING))
        add_found (&self->indices, name);
      else if (is_tensor_file_name (name))
        add_found (&self->files, name);
    }

  return FALSE;
}

/* The only index in a folder, or else the only file of tensors. */
static GFile *
find_in_folder (GFile         *folder,
                GCancellable  *cancellable,
                GError       **error)
{
  g_auto (FolderContents) contents = { 0 };
  const FoundFiles *found;

  if (!read_folder (&contents, folder, cancellable, error))
    return NULL;

  found = contents.indices.n > 0 ? &contents.indices : &contents.files;
  return found->n == 1 ? g_file_get_child (folder, found->first)
                       : refuse_folder (folder, found, contents.has_folders, error);
}

/* The path may be that of a folder, whose file then is that of the part. */
static gboolean
open_first (MtlTensorFilePart  *part,
            GFile              *file,
            GCancellable       *cancellable,
            GError            **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GFile) found = NULL;

  if (open_part (part, file, cancellable, &local_error))
    return TRUE;

  if (!g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY))
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  g_clear_object (&part->file);
  found = find_in_folder (file, cancellable, error);
  return found != NULL && open_part (part, found, cancellable, error);
}

static MtlTensorFileMode
choose_mode (MtlTensorFileMode    mode,
             const MtlFileSource *source)
{
  if (mode != MTL_TENSOR_FILE_MODE_AUTO)
    return mode;

  return mtl_file_source_is_remote (source) ? MTL_TENSOR_FILE_MODE_READ : MTL_TENSOR_FILE_MODE_MAP;
}

/**
 * mtl_tensor_file_open: (constructor)
 * @file: a file of tensors on a disk, or a folder
 * @device: (nullable): the device that the views' memory is to belong to, %NULL
 *   for the host
 * @mode: how the tensors get into memory
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Opens a file and reads the description of its tensors.
 *
 * If @file is a folder, this opens the only file in it whose name ends in
 * `.safetensors.index.json`, or, if there is none, the only one whose name ends
 * in `.safetensors`, `.npy` or `.npz`.
 *
 * A tensor that cannot be loaded is not an error here, if others may be: it is
 * in the list, and [method@Mtl.TensorFileEntry.get_error] returns the reason.
 * Examples are arrays of text, dates, records or Python objects in an archive,
 * members that are compressed by a method other than deflate, encrypted,
 * damaged or no arrays at all, element types that were added to safetensors
 * later, and tensors of a file that the index names and that cannot be opened.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_DATA: the file does not conform to its format
 * - %MTL_ERROR_NOT_SUPPORTED: the file conforms to its format, but its only
 *   array cannot be loaded, or its description is larger than the limit
 * - %MTL_ERROR_OVERFLOW: a size does not fit its type
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %G_IO_ERROR_IS_DIRECTORY: the folder has no such file, or several
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - the errors of [error@Gio.IOErrorEnum] that [ctor@Mtl.Buffer.new_mapped] has
 * - if none of the files that an index names can be opened, the error of the
 *   first
 *
 * Returns: (transfer full): the file
 *
 * Since: 1.0
 */
MtlTensorFile *
mtl_tensor_file_open (GFile              *file,
                      MtlDevice          *device,
                      MtlTensorFileMode   mode,
                      GCancellable       *cancellable,
                      GError            **error)
{
  g_autoptr (MtlTensorFile) self = NULL;
  MtlTensorFilePart first = { 0 };

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if (!open_first (&first, file, cancellable, error))
    {
      mtl_tensor_file_part_clear (&first);
      return NULL;
    }

  self = g_object_new (MTL_TYPE_TENSOR_FILE, NULL);
  self->file = g_object_ref (first.file);
  self->mode = choose_mode (mode, first.source);
  if (device != NULL)
    g_set_object (&self->device, device);
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
