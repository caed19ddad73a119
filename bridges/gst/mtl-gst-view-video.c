/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-view.h"

#include "mtl-gst-map-private.h"

typedef gboolean (* DescribeFunc) (const GstVideoInfo  *info,
                                   guint                index,
                                   MtlGstPlane         *description,
                                   GError             **error);

/* The function that maps the planes of nearly all buffers; GStreamer has no name for it. */
static gpointer
get_default_map (void)
{
  static gpointer default_map;

  if (g_once_init_enter (&default_map))
    {
      GstBuffer *buffer = gst_buffer_new ();
      GstVideoMeta *meta = gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                                      GST_VIDEO_FORMAT_GRAY8, 1, 1);

      g_once_init_leave (&default_map, (gpointer) meta->map);
      gst_buffer_unref (buffer);
    }

  return default_map;
}

static gboolean
check_meta (GstVideoMeta        *meta,
            const GstVideoInfo  *info,
            GError             **error)
{
  if (info != NULL && GST_VIDEO_INFO_FORMAT (info) != meta->format)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The info has the video format %s (%d), the buffer's GstVideoMeta has %d",
                   GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_FORMAT (info), meta->format);
      return FALSE;
    }

  if (meta->width > G_MAXINT || meta->height > G_MAXINT)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The buffer's GstVideoMeta has %ux%u pixels; the limit is %d",
                   meta->width, meta->height, G_MAXINT);
      return FALSE;
    }

  if (info != NULL && ((guint) GST_VIDEO_INFO_WIDTH (info) > meta->width
                       || (guint) GST_VIDEO_INFO_HEIGHT (info) > meta->height))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The info has %dx%d pixels, more than the %ux%u of the buffer's GstVideoMeta",
                   GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                   meta->width, meta->height);
      return FALSE;
    }

  if (meta->map != NULL && (gpointer) meta->map != get_default_map ())
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "The buffer's GstVideoMeta has a map function of its own, as for memory"
                           " of a device: bring the frame into system memory first, for example"
                           " with a download element of the device, or map it, and use"
                           " mtl_gst_view_from_video_frame()");
      return FALSE;
    }

  return TRUE;
}

static const GstVideoFormatInfo *
find_format (GstVideoMeta  *meta,
             GError       **error)
{
  const int format = meta->format;

  if (mtl_gst_format_is_known (format))
    return gst_video_format_get_info (format);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The buffer's GstVideoMeta has the unknown video format %d", format);
  return NULL;
}

static gboolean
check_is_set (const GstVideoInfo  *info,
              GError             **error)
{
  if (info->finfo != NULL && info->finfo->format != GST_VIDEO_FORMAT_UNKNOWN)
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The video info has no format: set it first, for example with"
                       " gst_video_info_set_format()");
  return FALSE;
}

static gboolean
check_n_planes (const GstVideoFormatInfo  *format,
                GstVideoMeta              *meta,
                GError                   **error)
{
  if (meta->n_planes >= format->n_planes && meta->n_planes <= GST_VIDEO_MAX_PLANES)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The buffer's GstVideoMeta has %u planes; the video format %s needs %u, and the"
               " limit is %d", meta->n_planes, format->name, format->n_planes,
               GST_VIDEO_MAX_PLANES);
  return FALSE;
}

/* Describes the frame in the buffer: its meta comes first, as it does for
 * gst_video_frame_map(). The description may have to be written to the frame. */
static const GstVideoInfo *
get_frame_info (GstBuffer           *buffer,
                const GstVideoInfo  *info,
                GstVideoInfo        *frame,
                GError             **error)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (meta == NULL && info == NULL)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "A buffer without a GstVideoMeta needs a GstVideoInfo");
      return NULL;
    }

  if (info != NULL && !check_is_set (info, error))
    return NULL;

  if (meta == NULL)
    return info;

  if (!check_meta (meta, info, error))
    return NULL;

  if (info != NULL)
    *frame = *info;
  else
    *frame = (GstVideoInfo) { .finfo = find_format (meta, error) };
  if (frame->finfo == NULL || !check_n_planes (frame->finfo, meta, error))
    return NULL;

  frame->width = meta->width;
  frame->height = meta->height;
  for (guint plane = 0; plane < meta->n_planes; plane++)
    {
      frame->offset[plane] = meta->offset[plane];
      frame->stride[plane] = meta->stride[plane];
    }

  return frame;
}

static MtlStridedView *
view_frame (GstBuffer           *buffer,
            const GstVideoInfo  *info,
            DescribeFunc         describe,
            guint                index,
            GstMapFlags          flags,
            GError             **error)
{
  GstVideoInfo frame;
  MtlGstPlane description;

  info = get_frame_info (buffer, info, &frame, error);
  if (info == NULL || !describe (info, index, &description, error))
    return NULL;

  return mtl_gst_view_new (buffer, &description, flags, error);
}

/**
 * mtl_gst_view_from_video_buffer:
 * @buffer: a buffer with a video frame
 * @info: (nullable): the format and size of the frame, or %NULL if @buffer has
 *   a [struct@GstVideo.VideoMeta]
 * @plane: the number of a plane, counted from 0
 * @flags: %GST_MAP_READ for a read-only view; with %GST_MAP_WRITE the view is
 *   writable
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a plane of a video frame, without a copy.
 *
 * | Plane of | Shape |
 * | --- | --- |
 * | RGB, BGRA, AYUV, … | [height, width, channels], in the order of memory |
 * | RGBx, xBGR, … | [height, width, 4] with the unused channel |
 * | GRAY8, GRAY16_LE | [height, width] |
 * | I420, Y444, GBR, … | [rows, columns] of that plane |
 * | NV12, P010_10LE, …, plane 1 | [rows, columns, 2] |
 *
 * A plane of which the components have different sizes, as in YUY2, has no
 * view; use [func@MtlGst.view_from_video_buffer_component].
 *
 * Elements are `uint8`, or `uint16` as they lie in memory: I420_10LE has values
 * up to 1023, P010_10LE has the same in the upper 10 bits. Formats in the other
 * byte order, in tiles, with a palette, or with samples that share bytes (v210,
 * RGB16) are not supported. An interlaced frame is viewed with both fields, and
 * a multiview frame with all its views, as they lie; of views that have a
 * [struct@GstVideo.VideoMeta] each, the first one is viewed.
 *
 * If @buffer has a [struct@GstVideo.VideoMeta], its size, strides and offsets
 * are those of the view. As for [func@GstVideo.VideoFrame.map], @info must have
 * the same format then, and may have a smaller size. Strides and offsets may be
 * anything, negative strides included, as long as all elements are within the
 * buffer. A plane that has a memory of its own maps only this.
 *
 * ```c
 * g_autoptr (MtlStridedView) pixels =
 *   mtl_gst_view_from_video_buffer (buffer, &info, 0, GST_MAP_READWRITE, error);
 *
 * if (pixels == NULL || !mtl_strided_view_fill_double (pixels, 0, NULL, error))
 *   return FALSE;
 *
 * // The buffer is unmapped when the last user of its memory is gone.
 * g_clear_object (&pixels);
 * gst_pad_push (pad, g_steal_pointer (&buffer));
 * ```
 *
 * A view keeps @buffer, and keeps its memory mapped, until the last user of the
 * view's memory is gone: other views of it, [struct@GLib.Bytes] and exported
 * tensors included. Until then:
 *
 * - A read-only view has the pixels as they are, since a buffer that
 *   has two users, or memory that is mapped for reading, cannot be written to. Elements
 *   that want to write copy it first.
 * - A writable view needs a buffer of which you are the only user, with memory
 *   that no other buffer shares. An `appsink` keeps its newest sample until the
 *   next one is pulled, or longer, unless its property `enable-last-sample` is
 *   %FALSE. There can be several writable views of one buffer, such as of its
 *   planes. End them all before you push the buffer, as others would see the
 *   writes.
 * - A buffer of a pool does not return to the pool. If the pool has a maximum,
 *   its user waits for your view, so end views early, and copy what you keep.
 *
 * It does not matter whether the view or the buffer ends first.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: elements of this format or plane do not lie at
 *   equal distances, or the meta maps planes in a way of its own
 * - %MTL_ERROR_INVALID_ARGUMENT: @info is %NULL or not set, and there is no
 *   meta; @info and the meta disagree; there are no pixels; or a stride is not
 *   a multiple of the element size
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such plane, or elements are not
 *   within the buffer
 * - %MTL_ERROR_NEEDS_COPY: the plane is spread over several memories, or is to
 *   be written to, and another buffer shares the memory or has it mapped
 * - %MTL_ERROR_READ_ONLY: the plane is to be written to, and the buffer has
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
mtl_gst_view_from_video_buffer (GstBuffer           *buffer,
                                const GstVideoInfo  *info,
                                guint                plane,
                                GstMapFlags          flags,
                                GError             **error)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return view_frame (buffer, info, mtl_gst_format_describe_plane, plane, flags, error);
}

/**
 * mtl_gst_view_from_video_buffer_component:
 * @buffer: a buffer with a video frame
 * @info: (nullable): the format and size of the frame, or %NULL if @buffer has
 *   a [struct@GstVideo.VideoMeta]
 * @component: 0 for R or Y, 1 for G or U, 2 for B or V, 3 for A
 * @flags: %GST_MAP_READ for a read-only view; with %GST_MAP_WRITE the view is
 *   writable
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of one component of a video frame, without a copy.
 *
 * The view has the shape [rows, columns] of the component, wherever it lies: the
 * blue of BGRA and the luma of YUY2 are strided views of their planes. See
 * [func@MtlGst.view_from_video_buffer] for what else holds.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such component, or elements are not
 *   within the buffer
 * - the other errors of [func@MtlGst.view_from_video_buffer]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_video_buffer_component (GstBuffer           *buffer,
                                          const GstVideoInfo  *info,
                                          guint                component,
                                          GstMapFlags          flags,
                                          GError             **error)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return view_frame (buffer, info, mtl_gst_format_describe_component, component, flags, error);
}
