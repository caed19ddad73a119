/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-caps.h"

#include "mtl-gst-audio-private.h"
#include "mtl-gst-check-private.h"
#include "mtl-message-text-private.h"

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define NATIVE_GRAY16 GST_VIDEO_FORMAT_GRAY16_LE
#define NATIVE_RGBA64 GST_VIDEO_FORMAT_RGBA64_LE
#else
#define NATIVE_GRAY16 GST_VIDEO_FORMAT_GRAY16_BE
#define NATIVE_RGBA64 GST_VIDEO_FORMAT_RGBA64_BE
#endif

static gboolean
check_is_picture (MtlStridedView  *view,
                  GError         **error)
{
  g_autofree char *string = NULL;
  const gint64 *shape;
  gsize n_dims;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  string = mtl_dims_to_string (shape, n_dims);
  if ((n_dims != 2 && n_dims != 3) || shape[0] == 0 || shape[1] == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs the shape (height, width) or (height, width, channels) and at"
                   " least 1 pixel, not %s", string);
      return FALSE;
    }

  if (shape[0] > G_MAXINT || shape[1] > G_MAXINT)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "The view has the shape %s; the limit for rows and columns is %d", string,
                   G_MAXINT);
      return FALSE;
    }

  return TRUE;
}

/* The number of channels is 1 if there is no axis for them. */
static GstVideoFormat
pick_format (MtlDType dtype,
             gint64   n_channels)
{
  if (dtype == MTL_DTYPE_UINT8 && n_channels == 1)
    return GST_VIDEO_FORMAT_GRAY8;
  if (dtype == MTL_DTYPE_UINT8 && n_channels == 3)
    return GST_VIDEO_FORMAT_RGB;
  if (dtype == MTL_DTYPE_UINT8 && n_channels == 4)
    return GST_VIDEO_FORMAT_RGBA;
  if (dtype == MTL_DTYPE_UINT16 && n_channels == 1)
    return NATIVE_GRAY16;
  if (dtype == MTL_DTYPE_UINT16 && n_channels == 4)
    return NATIVE_RGBA64;
  return GST_VIDEO_FORMAT_UNKNOWN;
}

static GstVideoFormat
find_format (MtlStridedView  *view,
             GError         **error)
{
  const MtlDType dtype = mtl_strided_view_get_dtype (view);
  g_autofree char *name = NULL;
  g_autofree char *string = NULL;
  GstVideoFormat format;
  const gint64 *shape;
  gsize n_dims;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  format = pick_format (dtype, n_dims == 2 ? 1 : shape[2]);
  if (format != GST_VIDEO_FORMAT_UNKNOWN && (n_dims == 2 || shape[2] > 1))
    return format;

  name = mtl_dtype_to_string (dtype);
  string = mtl_dims_to_string (shape, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The view has the shape %s and elements of type %s; only (height, width) and"
               " (height, width, 4) of uint8 or uint16, and (height, width, 3) of uint8, have a"
               " default format: name the format", string, name);
  return GST_VIDEO_FORMAT_UNKNOWN;
}

/* Fits the view to the format's first plane. */
static gboolean
check_fits (MtlStridedView      *view,
            const GstVideoInfo  *info,
            GError             **error)
{
  MtlGstPlane plane;

  if (!mtl_gst_format_describe_plane (info, 0, &plane, error))
    return FALSE;

  if (mtl_gst_check_elements (view, plane.dtype, error)
      && mtl_gst_check_shape (view, plane.shape, plane.n_dims, error))
    return TRUE;

  g_prefix_error (error, "Plane 0 of the video format %s: ", info->finfo->name);
  return FALSE;
}

/**
 * mtl_gst_video_caps_from_view:
 * @view: a view of shape [height, width] or [height, width, channels]
 * @format: a video format, or %GST_VIDEO_FORMAT_UNKNOWN to find one for the
 *   elements and the channels
 * @framerate_numerator: the numerator of the frames per second, 0 if the rate
 *   varies
 * @framerate_denominator: the denominator of the frames per second
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates the caps of a video whose frames are like a view.
 *
 * The formats found are GRAY8, RGB and RGBA for `uint8`, and for `uint16`
 * GRAY16 and RGBA64 of the machine's byte order. For a format with several
 * planes @view is the first one, which has the size of the frame.
 *
 * Caps say nothing about strides; see [func@MtlGst.video_buffer_from_view].
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the shape or the elements do not fit @format,
 *   no format fits them, @format is none of GStreamer's, there are no pixels, or
 *   the framerate is negative or has a denominator below 1
 * - %MTL_ERROR_NOT_SUPPORTED: the pixels of @format are not elements of a view
 * - %MTL_ERROR_OVERFLOW: the picture is larger than GStreamer's largest
 *
 * Returns: (transfer full): the caps
 *
 * Since: 1.0
 */
GstCaps *
mtl_gst_video_caps_from_view (MtlStridedView  *view,
                              GstVideoFormat   format,
                              int              framerate_numerator,
                              int              framerate_denominator,
                              GError         **error)
{
  const gint64 *shape;
  GstVideoInfo info;
  gsize n_dims;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (framerate_numerator < 0 || framerate_denominator < 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The framerate has to be 0/1 or positive, not %d/%d", framerate_numerator,
                   framerate_denominator);
      return NULL;
    }

  if (!check_is_picture (view, error))
    return NULL;

  if (format == GST_VIDEO_FORMAT_UNKNOWN)
    format = find_format (view, error);
  if (format == GST_VIDEO_FORMAT_UNKNOWN)
    return NULL;

  if (!mtl_gst_format_is_known (format))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "This GStreamer has no video format %d", format);
      return NULL;
    }

  shape = mtl_strided_view_get_shape (view, &n_dims);
  if (!gst_video_info_set_format (&info, format, shape[1], shape[0]))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "A frame of %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT " pixels of the"
                   " video format %s exceeds GStreamer's limit of %u bytes", shape[0], shape[1],
                   gst_video_format_to_string (format), G_MAXUINT);
      return NULL;
    }

  if (!mtl_gst_format_check_size (&info, error) || !check_fits (view, &info, error))
    return NULL;

  info.fps_n = framerate_numerator;
  info.fps_d = framerate_denominator;
  return gst_video_info_to_caps (&info);
}

static GstAudioFormat
pick_audio_format (MtlDType dtype)
{
  switch ((int) dtype)
    {
    case MTL_DTYPE_INT8:
      return GST_AUDIO_FORMAT_S8;
    case MTL_DTYPE_UINT8:
      return GST_AUDIO_FORMAT_U8;
    case MTL_DTYPE_INT16:
      return GST_AUDIO_FORMAT_S16;
    case MTL_DTYPE_UINT16:
      return GST_AUDIO_FORMAT_U16;
    case MTL_DTYPE_INT32:
      return GST_AUDIO_FORMAT_S32;
    case MTL_DTYPE_UINT32:
      return GST_AUDIO_FORMAT_U32;
    case MTL_DTYPE_FLOAT32:
      return GST_AUDIO_FORMAT_F32;
    case MTL_DTYPE_FLOAT64:
      return GST_AUDIO_FORMAT_F64;
    default:
      return GST_AUDIO_FORMAT_UNKNOWN;
    }
}

static GstAudioFormat
find_audio_format (MtlStridedView  *view,
                   GError         **error)
{
  const guint lanes = mtl_strided_view_get_lanes (view);
  const MtlDType dtype = mtl_strided_view_get_dtype (view);
  const GstAudioFormat format = pick_audio_format (dtype);
  g_autofree char *name = NULL;

  if (format != GST_AUDIO_FORMAT_UNKNOWN && lanes == 1)
    return format;

  name = mtl_dtype_to_string (dtype);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Samples have to be integers of 8, 16 or 32 bits, float32 or float64, with 1 lane;"
               " the elements are %s with %u", name, lanes);
  return GST_AUDIO_FORMAT_UNKNOWN;
}

static gboolean
check_is_audio (MtlStridedView  *view,
                GError         **error)
{
  g_autofree char *string = NULL;
  const gint64 *shape;
  gsize n_dims;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  string = mtl_dims_to_string (shape, n_dims);
  if (n_dims != 2 || shape[1] == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Audio needs the shape (frames, channels) with at least 1 channel, not %s%s",
                   string, n_dims == 1 ? ": add an axis for the channel" : "");
      return FALSE;
    }

  /* A frame has at most 8 bytes for each channel, and its size is an int. */
  if (shape[1] > G_MAXINT / 8)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "The view has the shape %s; the limit for channels is %d", string,
                   G_MAXINT / 8);
      return FALSE;
    }

  return TRUE;
}

static gboolean
find_audio_layout (MtlStridedView  *view,
                   GstAudioLayout  *layout,
                   GError         **error)
{
  const gint64 *shape, *strides;
  g_autofree char *string = NULL;
  gsize n_dims;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  strides = mtl_strided_view_get_strides (view, &n_dims);
  if (mtl_gst_audio_is_interleaved (shape, strides))
    {
      *layout = GST_AUDIO_LAYOUT_INTERLEAVED;
      return TRUE;
    }

  if (mtl_gst_audio_is_planar (shape, strides))
    {
      *layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
      return TRUE;
    }

  string = mtl_dims_to_string (strides, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "With strides %s, neither the frames nor the samples of a channel are contiguous, or"
               " channels overlap: copy the view first", string);
  return FALSE;
}

/* More than 8 channels have no usual places. */
static void
set_audio_format (GstAudioInfo   *info,
                  GstAudioFormat  format,
                  int             rate,
                  int             n_channels)
{
  GstAudioChannelPosition positions[64];
  const guint64 mask = n_channels <= 8 ? gst_audio_channel_get_fallback_mask (n_channels) : 0;
  const gboolean placed = mask != 0 || n_channels == 1;

  if (placed)
    gst_audio_channel_positions_from_mask (n_channels, mask, positions);
  if (n_channels == 1)
    positions[0] = GST_AUDIO_CHANNEL_POSITION_MONO;
  gst_audio_info_set_format (info, format, rate, n_channels, placed ? positions : NULL);
}

/**
 * mtl_gst_audio_caps_from_view:
 * @view: a view of shape [frames, channels]
 * @rate: the frames per second
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates the caps of audio whose samples lie like those of a view.
 *
 * If the strides say that the samples of a frame are adjacent, the layout is
 * interleaved; if those of a channel are, it is non-interleaved. The channels
 * are where GStreamer expects them for their number; more than 8 have no
 * places.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: there are not 2 dimensions, there are no
 *   channels, @rate is below 1, or no audio format has such elements
 * - %MTL_ERROR_NEEDS_COPY: neither the samples of a frame nor those of a
 *   channel are adjacent, or the channels overlap
 * - %MTL_ERROR_OVERFLOW: there are more channels than GStreamer's limit
 *
 * Returns: (transfer full): the caps
 *
 * Since: 1.0
 */
GstCaps *
mtl_gst_audio_caps_from_view (MtlStridedView  *view,
                              int              rate,
                              GError         **error)
{
  GstAudioFormat format;
  GstAudioLayout layout;
  const gint64 *shape;
  GstAudioInfo info;
  gsize n_dims;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (rate < 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The rate has to be at least 1 frame per second, not %d", rate);
      return NULL;
    }

  if (!check_is_audio (view, error))
    return NULL;

  format = find_audio_format (view, error);
  if (format == GST_AUDIO_FORMAT_UNKNOWN || !find_audio_layout (view, &layout, error))
    return NULL;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  set_audio_format (&info, format, rate, shape[1]);
  info.layout = layout;
  return gst_audio_info_to_caps (&info);
}
