/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-view.h"

#include "mtl-gst-map-private.h"

typedef gboolean (* DescribeFunc) (const GstVideoInfo  *info,
                                   guint                index,
                                   MtlGstPlane         *description,
                                   GError             **error);

/* A frame that was never mapped has only zeros. */
static gboolean
check_is_mapped (const GstVideoFrame  *frame,
                 GError              **error)
{
  const GstVideoFormatInfo *format = frame->info.finfo;

  if (format != NULL && format->format != GST_VIDEO_FORMAT_UNKNOWN && frame->buffer != NULL)
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The frame is not mapped: call gst_video_frame_map() first");
  return FALSE;
}

/* Gets the mapping of a plane, if that is of plain bytes. Devices map handles, by flags of their
 * own. */
static const GstMapInfo *
find_map (const GstVideoFrame  *frame,
          guint                 plane,
          GError              **error)
{
  /* A single mapping has all planes if there is no meta. */
  const GstMapInfo *map = &frame->map[frame->meta != NULL ? plane : 0];
  const guint flags = map->flags & ~(guint) GST_VIDEO_FRAME_MAP_FLAG_NO_REF;

  if (map->memory != NULL && map->data != NULL && (flags & GST_MAP_READWRITE) != 0
      && flags < GST_MAP_FLAG_LAST)
    return map;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Plane %u of the frame is not mapped as plain bytes (flags 0x%x): bring the frame"
               " into system memory first, for example with a download element of the device",
               plane, (guint) map->flags);
  return NULL;
}

/* Lets the description begin at the byte of the memory that has the first element. */
static gboolean
find_offset (const GstVideoFrame  *frame,
             const GstMapInfo     *map,
             MtlGstPlane          *description,
             GError              **error)
{
  const gsize begin = (gsize) map->data;
  const gsize address = (gsize) frame->data[description->plane];

  if (address < begin || address - begin > map->size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "Plane %u of the frame is at address 0x%" G_GSIZE_MODIFIER "x; the mapped bytes"
                   " are from 0x%" G_GSIZE_MODIFIER "x to 0x%" G_GSIZE_MODIFIER "x",
                   description->plane, address, begin, begin + map->size);
      return FALSE;
    }

  description->byte_offset += address - begin;
  return TRUE;
}

static MtlStridedView *
view_frame (const GstVideoFrame  *frame,
            DescribeFunc          describe,
            guint                 index,
            GError              **error)
{
  MtlGstPlane description;
  const GstMapInfo *map;
  GstVideoInfo info;

  if (!check_is_mapped (frame, error))
    return NULL;

  /* Planes begin where they are mapped. */
  info = frame->info;
  memset (info.offset, 0, sizeof info.offset);
  if (!describe (&info, index, &description, error))
    return NULL;

  map = find_map (frame, description.plane, error);
  if (map == NULL || !find_offset (frame, map, &description, error))
    return NULL;

  return mtl_gst_view_new_mapped (frame->buffer, map, &description, error);
}

/**
 * mtl_gst_view_from_video_frame:
 * @frame: a frame that is mapped
 * @plane: the number of a plane, counted from 0
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a plane of a video frame that is already mapped, without a
 * copy: in `transform_frame()` of a [class@GstVideo.VideoFilter], for example.
 *
 * The shapes and element types are those of
 * [func@MtlGst.view_from_video_buffer]. The view is writable if the frame was
 * mapped with %GST_MAP_WRITE, also if only with that; the elements have
 * unspecified values then until they are written.
 *
 * ```c
 * static GstFlowReturn
 * invert_frame (GstVideoFilter *filter,
 *               GstVideoFrame  *frame)
 * {
 *   g_autoptr (GError) error = NULL;
 *   g_autoptr (MtlStridedView) pixels = mtl_gst_view_from_video_frame (frame, 0, &error);
 *
 *   if (pixels == NULL
 *       || !mtl_strided_view_copy_scaled_from (pixels, pixels, -1, 255, NULL, &error))
 *     {
 *       GST_ELEMENT_ERROR (filter, STREAM, FAILED, (NULL), ("%s", error->message));
 *       return GST_FLOW_ERROR;
 *     }
 *
 *   return GST_FLOW_OK;
 * }
 * ```
 *
 * @frame must stay mapped during the call only. A view maps the memory once
 * more, with the same flags, and keeps the memory and the frame's buffer until
 * the last user of the view's memory is gone: other views of it,
 * [struct@GLib.Bytes] and exported tensors included. So the memory stays valid
 * after whoever mapped the frame has unmapped it. But end all views before you
 * return from `transform_frame()`, because later elements
 *
 * - see everything that is written to a writable view,
 * - cannot map the memory if the frame was mapped with %GST_MAP_WRITE alone, as
 *   the output of `transform_frame()` is,
 * - have to copy a buffer that has another user before they write to it.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: elements of this format or plane do not lie at
 *   equal distances; the frame was mapped as memory of a device; or the memory
 *   is at another address if it is mapped twice
 * - %MTL_ERROR_INVALID_ARGUMENT: @frame was never mapped, there are no pixels,
 *   or a stride is not a multiple of the element size
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such plane, or elements are not
 *   within the memory that is mapped
 * - %MTL_ERROR_NO_MEMORY: there are 200 views of the memory, of the 255 that
 *   GStreamer counts to
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_video_frame (GstVideoFrame  *frame,
                               guint           plane,
                               GError        **error)
{
  g_return_val_if_fail (frame != NULL, NULL);

  return view_frame (frame, mtl_gst_format_describe_plane, plane, error);
}

/**
 * mtl_gst_view_from_video_frame_component:
 * @frame: a frame that is mapped
 * @component: 0 for R or Y, 1 for G or U, 2 for B or V, 3 for A
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of one component of a video frame that is already mapped,
 * without a copy.
 *
 * The view has the shape [rows, columns] of the component, as that of
 * [func@MtlGst.view_from_video_buffer_component]. See
 * [func@MtlGst.view_from_video_frame] for how long views may live.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such component, or elements are not
 *   within the memory that is mapped
 * - the other errors of [func@MtlGst.view_from_video_frame]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_video_frame_component (GstVideoFrame  *frame,
                                         guint           component,
                                         GError        **error)
{
  g_return_val_if_fail (frame != NULL, NULL);

  return view_frame (frame, mtl_gst_format_describe_component, component, error);
}
