/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Writes planned files and moves them into place. */

#include "mtl-tensor-file-builder-private.h"

#include <string.h>

#include "mtl-async-call-private.h"
#include "mtl-error-private.h"
#include "mtl-file-source-private.h"
#include "mtl-message-text-private.h"
#include "mtl-progress-private.h"

/* Chooses the format in which a file is written. */

#define FORMAT_ENDING ".safetensors"
#define INDEX_ENDING ".index.json"
#define MAX_ENDING 16 /* bytes; longer ones are parts of a name */

/* Finds the ending that names the format, beginning with a dot, or NULL. The ends of
 * model-v1.5, of qwen2.5-0.5b and of a hidden file’s name are none. */
static const char *
find_ending (const char *name)
{
  const char *dot = strrchr (name, '.');
  gsize length = dot != NULL ? strlen (dot) : 0;

  if (dot == NULL || dot == name || length > MAX_ENDING || !g_ascii_isalpha (dot[1]))
    return NULL;

  for (const char *at = dot + 1; *at != '\0'; at++)
    if (!g_ascii_isalnum (*at))
      return NULL;

  return dot;
}

static void
refuse_name (GFile       *file,
             const char  *ending,
             GError     **error)
{
  g_autofree char *quoted = mtl_quote_file_name (file);

  if (mtl_file_name_ends_in (ending, ".npz"))
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "%s cannot be written: .npz files can only be read. Write a .safetensors file, or"
                 " one .npy file for each tensor", quoted);
  else if (mtl_file_name_ends_in (ending, INDEX_ENDING))
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "%s is the name of an index of several files, which write_shards() writes; a "
                 "single file has a name that ends in .safetensors or .npy", quoted);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "%s would not be a %s file: files are written as .safetensors or .npy. End the "
                 "name in one of these, or set the format", quoted, ending);
}

/* The format in which the file is written; AUTO if its name ends in something else. */
static MtlTensorFileFormat
find_format (MtlTensorFileBuilder  *self,
             GFile                 *file,
             GError               **error)
{
  g_autofree char *name = NULL;
  const char *ending;

  if (self->format != MTL_TENSOR_FILE_FORMAT_AUTO)
    return self->format;

  name = g_file_get_basename (file);
  if (name != NULL && mtl_file_name_ends_in (name, ".npy"))
    return MTL_TENSOR_FILE_FORMAT_NPY;

  ending = name != NULL ? find_ending (name) : NULL;
  if (ending == NULL || mtl_file_name_ends_in (ending, ".safetensors"))
    return MTL_TENSOR_FILE_FORMAT_SAFETENSORS;

  refuse_name (file, mtl_file_name_ends_in (name, INDEX_ENDING) ? INDEX_ENDING : ending, error);
  return MTL_TENSOR_FILE_FORMAT_AUTO;
}

/* Writes planned files and moves them into place. */

static gboolean
write_tensors (MtlTensorStream       *stream,
               const MtlPlannedFile  *planned,
               GError               **error)
{
  GError *local_error = NULL;

  for (gsize i = 0; i < planned->n_tensors; i++)
    {
      const MtlPlannedTensor *tensor = &planned->tensors[i];

      if (!mtl_tensor_stream_write_tensor (stream, tensor, &local_error))
        {
          /* Other errors are about the file, or come from the caller. */
          if (local_error->domain == MTL_ERROR)
            mtl_prefix_tensor_name (&local_error, tensor->name);
          g_propagate_error (error, local_error);
          return FALSE;
        }
    }

  return mtl_tensor_stream_flush (stream, error);
}

/* Writes all of the file, but does not move it into place. */
static MtlFileReplacement *
write_beside (MtlTensorStream       *stream,
              const MtlPlannedFile  *planned,
              GFile                 *file,
              gboolean               sync,
              GError               **error)
{
  g_autoptr (MtlFileReplacement) replacement = NULL;

  if (!mtl_monitor_check (stream->monitor, error))
    return NULL;

  replacement = mtl_file_replacement_new (file, sync, error);
  if (replacement == NULL || !mtl_file_replacement_reserve (replacement, planned->n_bytes, error))
    return NULL;

  stream->file = replacement;
  return mtl_tensor_stream_write_bytes (stream, planned->header.str, planned->header.len, error)
         && write_tensors (stream, planned, error)
         && mtl_file_replacement_flush (replacement, error)
         && mtl_monitor_check (stream->monitor, error) ? g_steal_pointer (&replacement) : NULL;
}

gboolean
mtl_tensor_file_builder_write_monitored (MtlTensorFileBuilder  *self,
                                         GFile                 *file,
                                         const MtlMonitor      *monitor,
                                         GError               **error)
{
  g_autoptr (MtlTensorFilePlan) plan = NULL;
  g_auto (MtlTensorStream) stream = { .memory = NULL };
  g_autoptr (MtlFileReplacement) replacement = NULL;
  MtlTensorFileFormat format;

  format = find_format (self, file, error);
  if (format == MTL_TENSOR_FILE_FORMAT_AUTO)
    return FALSE;

  plan = mtl_tensor_file_plan_new (self, format, G_MAXUINT64, error);
  if (plan == NULL || !mtl_tensor_stream_init (&stream, plan->n_bytes, monitor, error))
    return FALSE;

  replacement = write_beside (&stream, &plan->files[0], file, self->sync, error);
  return replacement != NULL && mtl_file_replacement_commit (replacement, error);
}

/* The name of the index without its suffixes. */
static char *
get_model_name (GFile   *index,
                GError **error)
{
  g_autofree char *base = g_file_get_basename (index);
  g_autofree char *quoted = NULL;

  if (base != NULL && g_utf8_validate (base, -1, NULL) && strchr (base, '\\') == NULL
      && g_str_has_suffix (base, INDEX_ENDING) && strlen (base) > strlen (INDEX_ENDING))
    {
      base[strlen (base) - strlen (INDEX_ENDING)] = '\0';
      if (g_str_has_suffix (base, FORMAT_ENDING) && strlen (base) > strlen (FORMAT_ENDING))
        base[strlen (base) - strlen (FORMAT_ENDING)] = '\0';
      return g_steal_pointer (&base);
    }

  quoted = mtl_quote_text (base != NULL ? base : "", base != NULL ? strlen (base) : 0);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "%s is not a name for an index, such as model" FORMAT_ENDING INDEX_ENDING, quoted);
  return NULL;
}

/* The files of one model. The index is the last of them. */
typedef struct
{
  MtlFileReplacement **items;
  char **names; /* the names of all files but the index */
  gsize n_files;
} Shards;

static void
shards_clear (Shards *self)
{
  for (gsize i = 0; self->items != NULL && i <= self->n_files; i++)
    g_clear_pointer (&self->items[i], mtl_file_replacement_free);
  g_clear_pointer (&self->items, g_free);
  g_clear_pointer (&self->names, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Shards, shards_clear)

static gboolean
shards_init (Shards      *self,
             const char  *model,
             gsize        n_files,
             GError     **error)
{
  *self = (Shards) {
    .items = g_try_new0 (MtlFileReplacement *, n_files + 1),
    .names = g_try_new0 (char *, n_files + 1),
    .n_files = n_files,
  };
  if (self->items == NULL || self->names == NULL)
    return mtl_set_no_memory ((n_files + 1) * sizeof (gpointer), error);

  for (gsize i = 0; i < n_files; i++)
    self->names[i] = g_strdup_printf ("%s-%05" G_GSIZE_FORMAT "-of-%05" G_GSIZE_FORMAT
                                      FORMAT_ENDING, model, i + 1, n_files);
  return TRUE;
}

static MtlFileReplacement *
write_index (const MtlTensorFilePlan  *plan,
             GFile                    *file,
             const char *const        *names,
             gboolean                  sync,
             const MtlMonitor         *monitor,
             GError                  **error)
{
  g_auto (MtlText) text = { NULL };
  g_autoptr (MtlFileReplacement) index = NULL;

  if (!mtl_tensor_file_plan_write_index (plan, names, &text, error))
    return NULL;

  index = mtl_file_replacement_new (file, sync, error);
  return index != NULL
         && mtl_file_replacement_write (index, text.str, text.len, error)
         && mtl_file_replacement_flush (index, error)
         && mtl_monitor_check (monitor, error) ? g_steal_pointer (&index) : NULL;
}

static gboolean
write_all_beside (Shards                   *shards,
                  const MtlTensorFilePlan  *plan,
                  GFile                    *index,
                  gboolean                  sync,
                  const MtlMonitor         *monitor,
                  GError                  **error)
{
  g_auto (MtlTensorStream) stream = { .memory = NULL };
  g_autoptr (GFile) folder = g_file_get_parent (index);

  if (!mtl_tensor_stream_init (&stream, plan->n_bytes, monitor, error))
    return FALSE;

  for (gsize i = 0; i < plan->n_files; i++)
    {
      g_autoptr (GFile) file = g_file_get_child (folder, shards->names[i]);

      shards->items[i] = write_beside (&stream, &plan->files[i], file, sync, error);
      if (shards->items[i] == NULL)
        return FALSE;
    }

  shards->items[plan->n_files] = write_index (plan, index, (const char *const *) shards->names,
                                              sync, monitor, error);
  return shards->items[plan->n_files] != NULL;
}

static gboolean
check_has_index (MtlTensorFileBuilder  *self,
                 GError               **error)
{
  if (self->format == MTL_TENSOR_FILE_FORMAT_SAFETENSORS
      || self->format == MTL_TENSOR_FILE_FORMAT_AUTO)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Only safetensors files have an index, %s files do not",
               self->format == MTL_TENSOR_FILE_FORMAT_NPY ? ".npy" : ".npz");
  return FALSE;
}

gboolean
mtl_tensor_file_builder_write_shards_monitored (MtlTensorFileBuilder  *self,
                                                GFile                 *index,
                                                guint64                max_size,
                                                const MtlMonitor      *monitor,
                                                GError               **error)
{
  g_autoptr (MtlTensorFilePlan) plan = NULL;
  g_autofree char *model = NULL;
  g_auto (Shards) shards = { NULL };

  if (!check_has_index (self, error))
    return FALSE;

  model = get_model_name (index, error);
  if (model == NULL)
    return FALSE;

  plan = mtl_tensor_file_plan_new (self, MTL_TENSOR_FILE_FORMAT_SAFETENSORS, max_size, error);
  if (plan == NULL || !shards_init (&shards, model, plan->n_files, error)
      || !write_all_beside (&shards, plan, index, self->sync, monitor, error))
    return FALSE;

  for (gsize i = 0; i <= shards.n_files; i++)
    if (!mtl_file_replacement_commit (shards.items[i], error))
      return FALSE;

  return TRUE;
}

/**
 * mtl_tensor_file_builder_write:
 * @self: a builder
 * @file: the file to write, which need not exist
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): called with the
 *   number of bytes that are written, and their total
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Writes all tensors into a file, in the format that the ending of its name
 * says, or that was set: see [method@Mtl.TensorFileBuilder.set_format].
 *
 * The file is written under a hidden name in the same folder, and moved into
 * place when all of it is on the disk. Until then, and after any error, the old
 * file is unchanged. Only a process that is killed leaves the hidden file
 * behind.
 *
 * Processes that have the old file open or mapped keep it, so views of a file
 * can be written over that file. The new file has the permissions of the old
 * one, or those that the umask leaves. A symbolic link is followed. A hard link
 * to the old file still refers to the old file.
 *
 * @progress is called in this thread at least once for each 4 MiB, and
 * cancellation is checked as often. A cancelled operation leaves nothing
 * behind. After the last call, with the total, the function may wait for the
 * disk for a while: see [method@Mtl.TensorFileBuilder.set_sync].
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the format does not support the element type of a
 *   tensor, does not support metadata, cannot be written, like `.npz`, or does
 *   not allow a header of that size
 * - %MTL_ERROR_INVALID_ARGUMENT: the format holds exactly one tensor, but
 *   a different number was added; or no format was set, and the name of @file
 *   has an ending other than `.safetensors` and `.npy`
 * - %MTL_ERROR_INVALID_DATA: elements of less than a byte do not fill whole
 *   bytes, or belong to a mapped file that was truncated
 * - %MTL_ERROR_OVERFLOW: the total size does not fit 62 bits
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the elements,
 *   directly or through their device
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_DEVICE: a device failed
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - %G_IO_ERROR_NO_SPACE: the disk is full
 * - %G_IO_ERROR_IS_DIRECTORY: @file is a folder
 * - %G_IO_ERROR_NOT_REGULAR_FILE: @file is a pipe, a socket or a device
 * - %G_IO_ERROR_NOT_SUPPORTED: @file has no path on this machine
 * - the other errors of [error@Gio.IOErrorEnum]: the file cannot be written
 *
 * Returns: %TRUE on success
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
  MtlProgressCallback callback = { progress, progress_data };
  MtlMonitor monitor = mtl_progress_callback_get_monitor (&callback, cancellable);

  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  return mtl_tensor_file_builder_write_monitored (self, file, &monitor, error);
}

/**
 * mtl_tensor_file_builder_write_shards:
 * @self: a builder
 * @index: the index to write, which need not exist; its name ends with
 *   `.index.json`, as in `model.safetensors.index.json`
 * @max_size: the largest number of bytes of tensors in one file; a larger
 *   tensor gets a file to itself
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope call) (closure progress_data): called with the
 *   number of bytes that are written to all files, and their total
 * @progress_data: data for @progress
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Writes all tensors into several safetensors files, and an index of them,
 * which [ctor@Mtl.TensorFile.open] opens as one file.
 *
 * The files are created in the folder of the index, with names such as
 * `model-00001-of-00003.safetensors`. They are filled in the order in which the
 * tensors were added. [property@Mtl.TensorFileBuilder:order] and
 * [property@Mtl.TensorFileBuilder:alignment] apply within each file, and each
 * file has the metadata.
 *
 * Each file is written as described for [method@Mtl.TensorFileBuilder.write].
 * When all of them are on the disk, they are moved into place, the index last.
 * If an error occurs before that, the old model is unchanged. While the files
 * are being moved, old and new ones lie side by side. Files that only an old
 * index names are not removed.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileBuilder.write]
 * - %MTL_ERROR_NOT_SUPPORTED: a format other than
 *   %MTL_TENSOR_FILE_FORMAT_SAFETENSORS was set
 * - %MTL_ERROR_INVALID_ARGUMENT: the name of @index does not end with
 *   `.index.json`, has a backslash, or is not UTF-8
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_shards (MtlTensorFileBuilder   *self,
                                      GFile                  *index,
                                      guint64                 max_size,
                                      GCancellable           *cancellable,
                                      GFileProgressCallback   progress,
                                      gpointer                progress_data,
                                      GError                **error)
{
  MtlProgressCallback callback = { progress, progress_data };
  MtlMonitor monitor = mtl_progress_callback_get_monitor (&callback, cancellable);

  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (index), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  return mtl_tensor_file_builder_write_shards_monitored (self, index, max_size, &monitor, error);
}

typedef struct
{
  MtlAsyncCall parent;

  MtlTensorFileBuilder *builder; /* a copy, made when the call started; NULL if that failed */
  GError *error;
  GFile *file;
  guint64 max_size; /* the maximum size of a shard */
} Call;

static void
call_clear (gpointer data)
{
  Call *call = data;

  g_clear_object (&call->builder);
  g_clear_error (&call->error);
  g_clear_object (&call->file);
}

/* Once the file is in place, the call has succeeded, even if it was cancelled
 * meanwhile. */
static Call *
call_new (MtlTensorFileBuilder  *self,
          MtlAsyncFunc           run,
          GFile                 *file,
          int                    io_priority,
          GFileProgressCallback  progress,
          gpointer               progress_data,
          GDestroyNotify         progress_destroy)
{
  Call *call = mtl_async_call_new (sizeof *call, run, NULL, call_clear, io_priority);

  mtl_async_call_set_progress (call, progress, progress_data, progress_destroy);
  call->parent.is_lasting = TRUE;
  call->builder = mtl_tensor_file_builder_copy (self, &call->error);
  call->file = g_object_ref (file);
  return call;
}

static gboolean
check_copied (Call    *call,
              GError **error)
{
  if (call->error != NULL)
    g_propagate_error (error, g_steal_pointer (&call->error));
  return call->builder != NULL;
}

static gpointer
run_write (gpointer           self,
           gpointer           data,
           const MtlMonitor  *monitor,
           GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (check_copied (call, error)
                          && mtl_tensor_file_builder_write_monitored (call->builder, call->file,
                                                                      monitor, error));
}

/**
 * mtl_tensor_file_builder_write_async:
 * @self: a builder
 * @file: the file to write, which need not exist
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes that are written, and their total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Writes all tensors into a file without blocking the caller. This is the
 * asynchronous version of [method@Mtl.TensorFileBuilder.write].
 *
 * Later changes to @self do not affect the operation. Do not write to the
 * elements before it is done.
 *
 * Both callbacks run in the main context that is the thread's default.
 * @progress runs as often as that context has time for it, and never after
 * @callback.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_write_async (MtlTensorFileBuilder  *self,
                                     GFile                 *file,
                                     int                    io_priority,
                                     GCancellable          *cancellable,
                                     GFileProgressCallback  progress,
                                     gpointer               progress_data,
                                     GDestroyNotify         progress_destroy,
                                     GAsyncReadyCallback    callback,
                                     gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));
  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (self, run_write, file, io_priority, progress, progress_data,
                   progress_destroy);
  mtl_async_call_start (call, self, mtl_tensor_file_builder_write_async, cancellable, callback,
                        user_data);
}

/**
 * mtl_tensor_file_builder_write_finish:
 * @self: a builder
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFileBuilder.write_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileBuilder.write]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_finish (MtlTensorFileBuilder  *self,
                                      GAsyncResult          *result,
                                      GError               **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_file_builder_write_async, error);
}

static gpointer
run_write_shards (gpointer           self,
                  gpointer           data,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  Call *call = data;

  return GINT_TO_POINTER (
    check_copied (call, error)
    && mtl_tensor_file_builder_write_shards_monitored (call->builder, call->file, call->max_size,
                                                       monitor, error));
}

/**
 * mtl_tensor_file_builder_write_shards_async:
 * @self: a builder
 * @index: the index to write, which need not exist
 * @max_size: the largest number of bytes of tensors in one file
 * @io_priority: the I/O priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable
 * @progress: (nullable) (scope notified) (closure progress_data) (destroy progress_destroy):
 *   called with the number of bytes that are written to all files, and their
 *   total
 * @progress_data: data for @progress
 * @progress_destroy: frees @progress_data
 * @callback: (scope async): called when the operation is done
 * @user_data: data for @callback
 *
 * Writes all tensors into several files without blocking the caller. This is
 * the asynchronous version of [method@Mtl.TensorFileBuilder.write_shards]. For
 * the callbacks and later changes to @self, see
 * [method@Mtl.TensorFileBuilder.write_async].
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_write_shards_async (MtlTensorFileBuilder  *self,
                                            GFile                 *index,
                                            guint64                max_size,
                                            int                    io_priority,
                                            GCancellable          *cancellable,
                                            GFileProgressCallback  progress,
                                            gpointer               progress_data,
                                            GDestroyNotify         progress_destroy,
                                            GAsyncReadyCallback    callback,
                                            gpointer               user_data)
{
  Call *call;

  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));
  g_return_if_fail (G_IS_FILE (index));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = call_new (self, run_write_shards, index, io_priority, progress, progress_data,
                   progress_destroy);
  call->max_size = max_size;
  mtl_async_call_start (call, self, mtl_tensor_file_builder_write_shards_async, cancellable,
                        callback, user_data);
}

/**
 * mtl_tensor_file_builder_write_shards_finish:
 * @self: a builder
 * @result: the result that the callback received
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Finishes an operation that was started with
 * [method@Mtl.TensorFileBuilder.write_shards_async].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileBuilder.write_shards]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_write_shards_finish (MtlTensorFileBuilder  *self,
                                             GAsyncResult          *result,
                                             GError               **error)
{
  return mtl_async_call_finish (self, result, mtl_tensor_file_builder_write_shards_async, error);
}
