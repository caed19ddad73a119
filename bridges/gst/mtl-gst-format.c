/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-format-private.h"

/* GStreamer has this flag since 1.30, and may run programs that were compiled for an
 * earlier version. */
#define FORMAT_FLAG_FLOAT (1 << 10)

/* Later flags change the meaning of a format in ways that are not known here. */
#define FORMAT_FLAGS_KNOWN ((FORMAT_FLAG_FLOAT << 1) - 1)

static gboolean
has_flag (const GstVideoFormatInfo *format,
          guint                     flag)
{
  return (format->flags & flag) != 0;
}

static guint
get_element_size (const GstVideoFormatInfo *format,
                  guint                     component)
{
  return (format->depth[component] + format->shift[component] + 7) / 8;
}

/* GStreamer's table counts some offsets in elements, and has none or wrong ones for some packed
 * formats, since its own functions that unpack them do not use it. */
static guint
get_offset (const GstVideoFormatInfo *format,
            guint                     component)
{
  static const guint8 vyuy[] = { 1, 2, 0, 0 };
  static const guint8 y210[] = { 0, 2, 6, 0 };
  static const guint8 y412[] = { 2, 0, 4, 6 };

  switch (format->format)
    {
    case GST_VIDEO_FORMAT_P010_10BE:
    case GST_VIDEO_FORMAT_P010_10LE:
    case GST_VIDEO_FORMAT_P012_BE:
    case GST_VIDEO_FORMAT_P012_LE:
    case GST_VIDEO_FORMAT_P016_BE:
    case GST_VIDEO_FORMAT_P016_LE:
      return component == 2 ? 2 : 0;

    case GST_VIDEO_FORMAT_VYUY:
      return vyuy[component];

    case GST_VIDEO_FORMAT_Y210:
    case GST_VIDEO_FORMAT_Y212_BE:
    case GST_VIDEO_FORMAT_Y212_LE:
#if GST_CHECK_VERSION (1, 26, 0)
    case GST_VIDEO_FORMAT_Y216_BE:
    case GST_VIDEO_FORMAT_Y216_LE:
#endif
      return y210[component];

    case GST_VIDEO_FORMAT_Y412_BE:
    case GST_VIDEO_FORMAT_Y412_LE:
#if GST_CHECK_VERSION (1, 26, 0)
    case GST_VIDEO_FORMAT_Y416_BE:
    case GST_VIDEO_FORMAT_Y416_LE:
#endif
      return y412[component];

    default:
      return format->poffset[component];
    }
}

/* The table does not say so about two formats that GStreamer reads as little-endian everywhere. */
static gboolean
is_little_endian (const GstVideoFormatInfo *format)
{
  return has_flag (format, GST_VIDEO_FORMAT_FLAG_LE)
         || format->format == GST_VIDEO_FORMAT_Y210 || format->format == GST_VIDEO_FORMAT_v216;
}

static MtlDType
get_dtype (const GstVideoFormatInfo *format,
           guint                     element_size)
{
  const gboolean is_float = has_flag (format, FORMAT_FLAG_FLOAT);

  switch (element_size)
    {
    case 1:
      return is_float ? MTL_DTYPE_OTHER : MTL_DTYPE_UINT8;
    case 2:
      return is_float ? MTL_DTYPE_FLOAT16 : MTL_DTYPE_UINT16;
    case 4:
      return is_float ? MTL_DTYPE_FLOAT32 : MTL_DTYPE_UINT32;
    default:
      return MTL_DTYPE_OTHER;
    }
}

/* TRUE if components of a plane have bytes in common, so that they have no elements of their own:
 * RGB16, r210. */
static gboolean
shares_bytes (const GstVideoFormatInfo *format,
              guint                     plane)
{
  guint64 used = 0;

  for (guint component = 0; component < format->n_components; component++)
    {
      const guint64 bytes = (G_GUINT64_CONSTANT (1) << get_element_size (format, component)) - 1;
      const guint64 taken = bytes << get_offset (format, component);

      if (format->plane[component] != plane)
        continue;
      if ((used & taken) != 0)
        return TRUE;
      used |= taken;
    }

  return FALSE;
}

/* The reason why a component is not elements at equal distances, or NULL. */
static const char *
find_obstacle (const GstVideoFormatInfo *format,
               guint                     component)
{
  const guint size = get_element_size (format, component);

  if (has_flag (format, ~FORMAT_FLAGS_KNOWN))
    return "it is newer than this library";

  if (has_flag (format, GST_VIDEO_FORMAT_FLAG_TILED))
    return "its pixels are in tiles";

  if (has_flag (format, GST_VIDEO_FORMAT_FLAG_PALETTE))
    return "its pixels are indices into a palette";

  if (has_flag (format, GST_VIDEO_FORMAT_FLAG_COMPLEX)
      || get_dtype (format, size) == MTL_DTYPE_OTHER
      || format->pixel_stride[component] < (int) size
      || (format->pixel_stride[component] & (size - 1)) != 0
      || shares_bytes (format, format->plane[component]))
    return "its samples share bytes";

  if (size > 1 && is_little_endian (format) != (G_BYTE_ORDER == G_LITTLE_ENDIAN))
    return "its byte order is not this machine's";

  return NULL;
}

static gboolean
check_component (const GstVideoFormatInfo  *format,
                 guint                      component,
                 GError                   **error)
{
  const char *obstacle = find_obstacle (format, component);

  if (obstacle == NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The video format %s is not supported, since %s: convert it first, for example with"
               " videoconvert", format->name, obstacle);
  return FALSE;
}

static gboolean
check_has_components (const GstVideoFormatInfo  *format,
                      GError                   **error)
{
  if (format->n_components > 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The video format %s is not supported, since it does not describe pixels",
               format->name);
  return FALSE;
}

static gboolean
check_index (const GstVideoFormatInfo  *format,
             const char                *what,
             guint                      index,
             guint                      n,
             GError                   **error)
{
  if (index < n)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "There is no %s %u: the video format %s has %u, counted from 0", what, index,
               format->name, n);
  return FALSE;
}

/* One field of an interlaced video, if each has a buffer of its own, else all rows. GStreamer's
 * macro for that would overflow for the highest number of rows. */
static gint64
get_height (const GstVideoInfo *info)
{
  const gint64 height = GST_VIDEO_INFO_HEIGHT (info);

  return info->interlace_mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE ? (height + 1) / 2 : height;
}

/* The extent of a component whose samples each cover several pixels. GStreamer's macro for that
 * would overflow for the lowest number. */
static gint64
scale (gint64 n_pixels,
       guint  shift)
{
  return (n_pixels + (1 << shift) - 1) >> shift;
}

static void
describe (const GstVideoInfo *info,
          guint               component,
          MtlGstPlane        *description)
{
  const GstVideoFormatInfo *format = info->finfo;
  const guint plane = format->plane[component];

  description->element_size = get_element_size (format, component);
  description->dtype = get_dtype (format, description->element_size);
  description->n_dims = 2;
  description->shape[0] = scale (get_height (info), format->h_sub[component]);
  description->shape[1] = scale (GST_VIDEO_INFO_WIDTH (info), format->w_sub[component]);
  description->byte_strides[0] = info->stride[plane];
  description->byte_strides[1] = format->pixel_stride[component];
  description->byte_offset = info->offset[plane];
  description->plane = plane;
}

/* Describes a component of a video format by its number: R, G, B, A or Y, U, V, A. */
gboolean
mtl_gst_format_describe_component (const GstVideoInfo  *info,
                                   guint                component,
                                   MtlGstPlane         *description,
                                   GError             **error)
{
  const GstVideoFormatInfo *format = info->finfo;
  guint offset;

  if (!check_has_components (format, error)
      || !check_index (format, "component", component, format->n_components, error)
      || !check_component (format, component, error))
    return FALSE;

  describe (info, component, description);
  offset = get_offset (format, component);
  if (description->byte_offset > G_MAXSIZE - offset)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The offset of plane %u is %" G_GSIZE_FORMAT "; the limit is %" G_GSIZE_FORMAT,
                   format->plane[component], description->byte_offset, G_MAXSIZE - offset);
      return FALSE;
    }

  description->byte_offset += offset;
  return TRUE;
}

static gboolean
check_components_match (const GstVideoFormatInfo  *format,
                        guint                      plane,
                        guint                      first,
                        guint                      other,
                        GError                   **error)
{
  if (format->w_sub[first] == format->w_sub[other]
      && format->h_sub[first] == format->h_sub[other]
      && format->pixel_stride[first] == format->pixel_stride[other]
      && get_element_size (format, first) == get_element_size (format, other))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Plane %u of the video format %s has components of different sizes: view each one"
               " with mtl_gst_view_from_video_buffer_component()", plane, format->name);
  return FALSE;
}

/* Describes a plane, with all its components and the bytes between them as channels. */
gboolean
mtl_gst_format_describe_plane (const GstVideoInfo  *info,
                               guint                plane,
                               MtlGstPlane         *description,
                               GError             **error)
{
  const GstVideoFormatInfo *format = info->finfo;
  guint first = 0, n_channels;

  if (!check_has_components (format, error)
      || !check_index (format, "plane", plane, format->n_planes, error))
    return FALSE;

  while (first < format->n_components && format->plane[first] != plane)
    first++;
  if (first == format->n_components)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Plane %u of the video format %s has no component", plane, format->name);
      return FALSE;
    }

  if (!check_component (format, first, error))
    return FALSE;

  for (guint other = first + 1; other < format->n_components; other++)
    if (format->plane[other] == plane
        && !check_components_match (format, plane, first, other, error))
      return FALSE;

  describe (info, first, description);
  n_channels = format->pixel_stride[first] / description->element_size;
  if (n_channels > 1)
    {
      description->n_dims = 3;
      description->shape[2] = n_channels;
      description->byte_strides[2] = description->element_size;
    }

  return TRUE;
}

/* GStreamer counts the bytes of a row as an int, and does not say if there are more. */
gboolean
mtl_gst_format_check_size (const GstVideoInfo  *info,
                           GError             **error)
{
  const GstVideoFormatInfo *format = info->finfo;
  const gint64 width = GST_VIDEO_INFO_WIDTH (info);

  for (guint i = 0; i < format->n_components; i++)
    if (find_obstacle (format, i) == NULL
        && info->stride[format->plane[i]] < scale (width, format->w_sub[i])
                                            * format->pixel_stride[i])
      {
        g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                     "A row of %" G_GINT64_FORMAT " pixels of the video format %s exceeds"
                     " GStreamer's limit of %d bytes", width, format->name, G_MAXINT);
        return FALSE;
      }

  return TRUE;
}

static int
get_last_format (void)
{
  static gsize last;

  if (g_once_init_enter (&last))
    {
      GEnumClass *formats = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);

      g_once_init_leave (&last, formats->maximum);
      g_type_class_unref (formats);
    }

  return last;
}

/* GStreamer logs a critical warning if it is asked for a format that it does not have. */
gboolean
mtl_gst_format_is_known (int format)
{
  return format > GST_VIDEO_FORMAT_UNKNOWN && format <= get_last_format ();
}
