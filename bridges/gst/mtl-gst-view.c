/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-view.h"

#include "mtl-gst-map-private.h"

/**
 * mtl_gst_view_from_buffer:
 * @buffer: a buffer
 * @dtype: the type of the elements
 * @shape: (array length=n_dims): the extent of each axis
 * @n_dims: the number of axes
 * @flags: %GST_MAP_READ for a read-only view; with %GST_MAP_WRITE the view is
 *   writable
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of the first bytes of a buffer, in C order, without a copy.
 *
 * This is for buffers of data other than video and audio, such as tensors.
 * [func@MtlGst.view_from_video_buffer] describes which uses of @buffer are
 * possible while there is a view.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: an extent is negative, @dtype is unknown, or
 *   the view would have no elements
 * - %MTL_ERROR_OUT_OF_BOUNDS: the buffer is too small
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits
 * - %MTL_ERROR_NEEDS_COPY: the bytes are spread over several memories, or are
 *   to be written to, and another buffer shares them or has them mapped
 * - %MTL_ERROR_READ_ONLY: the bytes are to be written to, and the buffer has
 *   other users, or its memory is read-only
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory, or it
 *   is mapped elsewhere for writing
 * - %MTL_ERROR_NO_MEMORY: there are 200 views of the memory, of the 255 that
 *   GStreamer counts to
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_buffer (GstBuffer     *buffer,
                          MtlDType       dtype,
                          const gint64  *shape,
                          gsize          n_dims,
                          GstMapFlags    flags,
                          GError       **error)
{
  g_autoptr (MtlStridedLayout) layout = NULL;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  layout = mtl_strided_layout_new_dense (shape, n_dims, MTL_ORDER_C, mtl_dtype_get_bits (dtype),
                                         error);
  if (layout == NULL)
    return NULL;

  return mtl_gst_view_new_for_layout (buffer, layout, dtype, flags, error);
}
