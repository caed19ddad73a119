/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Buffers of ranges of files. */

#include "mtl-buffer-private.h"

#include "mtl-error.h"
#include "mtl-file-source-private.h"

static MtlBuffer *
new_empty (MtlDevice  *device,
           GError    **error)
{
  return mtl_buffer_new_for_memory (mtl_memory_new_wrapped (device, NULL, 0,
                                                            MTL_BUFFER_FLAGS_READ_ONLY, NULL,
                                                            NULL, error));
}

/**
 * mtl_buffer_new_mapped: (constructor)
 * @file: a file on a disk
 * @device: (nullable): a device, or %NULL for the host
 * @offset: the offset of the range in the file, in bytes; any number is allowed
 * @size: the size of the range in bytes, may be 0
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Creates a read-only buffer for a range of a file, without reading it.
 *
 * The file is mapped: the system reads a page when its bytes are first used,
 * and drops it when memory is short. On Metal the GPU uses the same pages.
 *
 * The file is closed at once. It may then be renamed, removed, or replaced by
 * another file, for example with [method@Gio.File.replace_contents].
 *
 * **The file must not be truncated or written to** while the buffer, or anything
 * created from it, exists. Writes to the file become visible in the buffer.
 * Reading a part that was cut off ends the process with `SIGBUS`, and the
 * library cannot prevent this. If other programs may change the file, read it
 * instead of mapping it. Do the same on network file systems, which may answer
 * a page fault late or never.
 *
 * Errors:
 *
 * - %G_IO_ERROR_IS_DIRECTORY: @file is a directory
 * - %G_IO_ERROR_NOT_REGULAR_FILE: @file is a pipe, a socket or a device, or has
 *   no size, like the files in `/proc`
 * - %G_IO_ERROR_NOT_SUPPORTED: @file has no path on this machine
 * - another [error@Gio.IOErrorEnum]: @file cannot be opened or mapped
 * - %G_IO_ERROR_CANCELLED: the operation was cancelled
 * - %MTL_ERROR_OUT_OF_BOUNDS: the range is not within the file
 * - %MTL_ERROR_OVERFLOW: @size is larger than the address space
 * - %MTL_ERROR_NO_MEMORY: there is no memory or no room among the addresses
 * - %MTL_ERROR_INVALID_DATA: the file changes during the call
 * - %MTL_ERROR_NEEDS_COPY: @device cannot use the pages in place, or not as
 *   many, see [method@Mtl.Device.get_max_buffer_size]
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_mapped (GFile         *file,
                       MtlDevice     *device,
                       guint64        offset,
                       gsize          size,
                       GCancellable  *cancellable,
                       GError       **error)
{
  g_autoptr (MtlFileSource) source = NULL;
  g_autoptr (MtlBuffer) all = NULL;
  MtlFileMapping *mapping;
  gsize begin;

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  if (device == NULL)
    device = mtl_device_get_host ();

  source = mtl_file_source_open (file, error);
  if (source == NULL || !mtl_file_source_check_range (source, offset, size, error))
    return NULL;

  if (size == 0)
    return new_empty (device, error);

  mapping = mtl_file_mapping_new (source, offset, size, error);
  if (mapping == NULL)
    return NULL;

  begin = mapping->begin;
  all = mtl_buffer_new_for_memory (mtl_memory_new_for_mapping (mapping, device, error));
  return all != NULL ? mtl_buffer_slice (all, begin, size, error) : NULL;
}

static GFileInfo *
new_file_info (const MtlFileMapping *mapping)
{
  GFileInfo *info = g_file_info_new ();

  g_file_info_set_size (info, mapping->file_size);
  g_file_info_set_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED, mapping->modified_s);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
                                    mapping->modified_ns / 1000);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_NSEC,
                                    mapping->modified_ns);
  return info;
}

/**
 * mtl_buffer_dup_mapped_file:
 * @self: a buffer
 * @file_offset: (out) (optional): return location for the offset of the first
 *   byte of @self in the file, in bytes
 * @info: (out) (optional) (nullable) (transfer full): return location for the
 *   size of the file and the time at which it was last modified, as they were
 *   when it was mapped
 *
 * Gets the file that the memory maps.
 *
 * Memory is a mapping if it comes from [ctor@Mtl.Buffer.new_mapped], with at
 * least 1 byte, or is that of tensors that a [class@Mtl.TensorFile] maps, see
 * [enum@Mtl.TensorFileMode].
 *
 * Another process can map the same bytes with [ctor@Mtl.Buffer.new_mapped]. A
 * file that was changed or replaced since has another size or time: compare
 * @info with what this function returns for the other buffer. It has
 * %G_FILE_ATTRIBUTE_STANDARD_SIZE, %G_FILE_ATTRIBUTE_TIME_MODIFIED,
 * %G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC and %G_FILE_ATTRIBUTE_TIME_MODIFIED_NSEC.
 *
 * Returns: (transfer full) (nullable): the file, or %NULL if the memory is no
 *   mapping of a file; then the offset is 0, and @info %NULL
 *
 * Since: 1.0
 */
GFile *
mtl_buffer_dup_mapped_file (MtlBuffer  *self,
                            guint64    *file_offset,
                            GFileInfo **info)
{
  const MtlFileMapping *mapping;

  g_return_val_if_fail (MTL_IS_BUFFER (self), NULL);

  mapping = self->memory->is_mapped_file ? self->memory->owner : NULL;
  if (file_offset != NULL)
    *file_offset = mapping != NULL ? mapping->pages_offset + self->offset : 0;
  if (info != NULL)
    *info = mapping != NULL ? new_file_info (mapping) : NULL;
  return mapping != NULL ? g_file_new_for_path (mapping->path) : NULL;
}
