/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-buffer-private.h"

/* Takes the mapping. The pages before its range are the device's too. */
MtlMemory *
mtl_memory_new_for_mapping (MtlFileMapping  *mapping,
                            MtlDevice       *device,
                            GError         **error)
{
  MtlMemory *self = mtl_memory_new_wrapped (device, mapping->pages,
                                            mapping->begin + mapping->size,
                                            MTL_BUFFER_FLAGS_READ_ONLY
                                            | MTL_BUFFER_FLAGS_NEVER_COPY,
                                            (GDestroyNotify) mtl_file_mapping_free, mapping,
                                            error);

  if (self == NULL)
    return NULL;

  /* Also where the device's memory is what frees it. */
  self->is_mapped_file = TRUE;
  self->owner = mapping;
  return self;
}

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
 * @file: a file of a disk
 * @device: (nullable): a device, %NULL for the host
 * @offset: where the range begins in the file, in bytes; any number
 * @size: the size of the range in bytes; may be 0
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Makes a read-only buffer of a range of a file, without reading it: the system
 * reads a page when its bytes are first used, and takes it back when memory is
 * short. On Metal the GPU uses the same pages.
 *
 * The file is closed at once, and what it is called afterwards does not
 * matter: it may be removed, and another one may take its place, as
 * [method@Gio.File.replace_contents] and a rename do.
 *
 * **Nobody may cut the file or write to it** as long as the buffer, or
 * anything made of it, is there. What is written is seen in the buffer. To
 * read what was cut off ends the process with `SIGBUS`, and the library cannot
 * prevent it. Where others may do that, and on network file systems, which
 * answer each page fault late or never, read the file instead of mapping it.
 *
 * Fails with the codes of [error@Gio.IOErrorEnum] where @file cannot be opened
 * or mapped, among them %G_IO_ERROR_IS_DIRECTORY, and
 * %G_IO_ERROR_NOT_REGULAR_FILE for pipes, sockets, devices, and what has no
 * size, as files in `/proc`, and %G_IO_ERROR_NOT_SUPPORTED where it has no path
 * on this machine; with %MTL_ERROR_OUT_OF_BOUNDS where the range is not within
 * it; with %MTL_ERROR_OVERFLOW where @size is more than there are addresses;
 * with %MTL_ERROR_INVALID_DATA where it changes meanwhile; and with
 * %MTL_ERROR_NEEDS_COPY where @device cannot use the pages in place, or not so
 * many: see [method@Mtl.Device.get_max_buffer_size].
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
MtlBuffer *
mtl_buffer_new_mapped (GFile      *file,
                       MtlDevice  *device,
                       guint64     offset,
                       gsize       size,
                       GError    **error)
{
  g_autoptr (MtlFileSource) source = NULL;
  g_autoptr (MtlBuffer) all = NULL;
  MtlFileMapping *mapping;
  gsize begin;

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);

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
