/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-buffer.h"

#include "mtl-gst-allocator-private.h"
#include "mtl-gst-audio-private.h"
#include "mtl-gst-check-private.h"
#include "mtl-message-text-private.h"

/* The bytes from the first one in memory to the last one. */
typedef struct
{
  MtlBuffer *buffer;
  guint8 *data;
  gsize size;
  gboolean read_only;
} Range;

/* A plane begins where its range does. */
typedef struct
{
  Range range;
  int stride;
} Plane;

static gsize
get_element_size (MtlStridedView *view)
{
  return mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)) / 8;
}

/* The view has elements of whole bytes, and at least one of them. */
static void
range_init (Range          *range,
            MtlStridedView *view)
{
  const gsize element_size = get_element_size (view);
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  gint64 min, max;

  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  range->buffer = mtl_strided_view_get_buffer (view);
  range->data = (guint8 *) mtl_strided_view_get_data (view)
                - (mtl_strided_layout_get_offset (layout) - min) * element_size;
  range->size = (max - min + 1) * element_size;
  range->read_only = mtl_strided_view_is_read_only (view);
}

static gboolean
append_range (GstBuffer    *buffer,
              const Range  *range,
              GError      **error)
{
  GstMemory *memory =
    mtl_gst_memory_new (range->buffer, range->data, range->size, range->read_only, error);

  if (memory == NULL)
    return FALSE;

  gst_buffer_append_memory (buffer, memory);
  return TRUE;
}

static GstBuffer *
buffer_new (const Range  *range,
            GError      **error)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  return append_range (buffer, range, error) ? g_steal_pointer (&buffer) : NULL;
}

static void
set_needs_copy (GError         **error,
                MtlStridedView  *view,
                const char      *remedy,
                const char      *obstacle)
{
  const gint64 *strides;
  g_autofree char *string = NULL;
  gsize n_dims;

  strides = mtl_strided_view_get_strides (view, &n_dims);
  string = mtl_dims_to_string (strides, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "%s (strides %s): %s first", obstacle, string, remedy);
}

/* Elements of GStreamer read samples as numbers of their size. */
static gboolean
is_aligned (MtlStridedView *view)
{
  return mtl_strided_view_get_address (view) % get_element_size (view) == 0;
}

/* The reason why the rows cannot be a plane of the same memory, or NULL. The strides are in
 * elements; that of an axis of extent 1 is never used. */
static char *
find_obstacle (MtlStridedView    *view,
               const MtlGstPlane *expected,
               gint64             row_stride)
{
  const gint64 *shape = expected->shape;
  const gint64 n_channels = expected->n_dims == 3 ? shape[2] : 1;
  const gint64 row_size = shape[1] * n_channels;
  const gint64 *strides;

  strides = mtl_strided_view_get_strides (view, NULL);
  if (n_channels > 1 && strides[2] != 1)
    return g_strdup ("the channels of a pixel are not contiguous");

  if (shape[1] > 1 && strides[1] != n_channels)
    return g_strdup_printf ("the pixels of a row have to be %" G_GINT64_FORMAT " elements apart,"
                            " not %" G_GINT64_FORMAT,
                            n_channels, strides[1]);

  /* GStreamer maps such a frame, but some of its elements crash then, others show wrong pixels. */
  if (row_stride < 0)
    return g_strdup ("the rows are in reverse order");

  if (row_stride < row_size)
    return g_strdup_printf ("the rows overlap: they have %" G_GINT64_FORMAT " elements and are %"
                            G_GINT64_FORMAT " apart", row_size, row_stride);

  if (row_stride > G_MAXINT / (int) expected->element_size)
    return g_strdup_printf ("the rows are %" G_GINT64_FORMAT " elements of %u bytes apart; the"
                            " limit is %d bytes", row_stride, expected->element_size, G_MAXINT);

  if (!is_aligned (view))
    return g_strdup_printf ("the address 0x%" G_GINT64_MODIFIER "x is not a multiple of the %u"
                            " bytes of an element", mtl_strided_view_get_address (view),
                            expected->element_size);

  return NULL;
}

static gint64
get_row_stride (MtlStridedView    *view,
                const MtlGstPlane *expected)
{
  const gint64 row_size = expected->shape[1] * (expected->n_dims == 3 ? expected->shape[2] : 1);

  if (expected->shape[0] > 1)
    return mtl_strided_view_get_strides (view, NULL)[0];

  return MAX (expected->byte_strides[0] / (gint64) expected->element_size, row_size);
}

static gboolean
plane_init (Plane              *plane,
            MtlStridedView     *view,
            const MtlGstPlane  *expected,
            GError            **error)
{
  g_autofree char *obstacle = NULL;
  gint64 row_stride;

  if (!mtl_gst_check_elements (view, expected->dtype, error)
      || !mtl_gst_check_shape (view, expected->shape, expected->n_dims, error)
      || !mtl_gst_check_not_empty (view, error)
      || !mtl_gst_check_reachable (view, error))
    return FALSE;

  row_stride = get_row_stride (view, expected);
  obstacle = find_obstacle (view, expected, row_stride);
  if (obstacle != NULL)
    {
      set_needs_copy (error, view, "copy the view", obstacle);
      return FALSE;
    }

  range_init (&plane->range, view);
  plane->stride = row_stride * expected->element_size;
  return TRUE;
}

static gboolean
plane_init_for_format (Plane               *plane,
                       MtlStridedView      *view,
                       const GstVideoInfo  *info,
                       guint                index,
                       GError             **error)
{
  MtlGstPlane expected;

  if (!mtl_gst_format_describe_plane (info, index, &expected, error))
    return FALSE;

  if (plane_init (plane, view, &expected, error))
    return TRUE;

  g_prefix_error (error, "Plane %u of the video format %s: ", index, info->finfo->name);
  return FALSE;
}

/* Finds a range that has all planes, if they are in one buffer. */
static gboolean
find_common_range (const Plane *planes,
                   guint        n_planes,
                   Range       *common)
{
  const guint8 *end = planes[0].range.data + planes[0].range.size;
  gsize sum = planes[0].range.size;

  *common = planes[0].range;
  for (guint i = 1; i < n_planes; i++)
    {
      const Range *range = &planes[i].range;

      if (!mtl_buffer_equal (range->buffer, common->buffer))
        return FALSE;

      common->data = MIN (common->data, range->data);
      end = MAX (end, range->data + range->size);
      common->read_only = common->read_only || range->read_only;
      sum += range->size;
    }

  /* Planes far apart would have many other bytes between them, which a copy of the memory
   * copies. */
  common->size = end - common->data;
  return common->size / 2 <= sum;
}

static void
add_video_meta (GstBuffer          *buffer,
                const GstVideoInfo *info,
                const gsize        *offsets,
                const int          *strides)
{
  const guint n_planes = GST_VIDEO_INFO_N_PLANES (info);

  if (n_planes == 1 && offsets[0] == info->offset[0] && strides[0] == info->stride[0]
      && gst_buffer_get_size (buffer) >= info->size)
    return;

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                                  n_planes, (gsize *) offsets, (int *) strides);
}

static GstBuffer *
buffer_new_for_planes (const Plane         *planes,
                       const GstVideoInfo  *info,
                       GError             **error)
{
  const guint n_planes = GST_VIDEO_INFO_N_PLANES (info);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  int strides[GST_VIDEO_MAX_PLANES] = { 0 };
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  gsize size = 0;
  Range common;

  if (find_common_range (planes, n_planes, &common))
    {
      if (!append_range (buffer, &common, error))
        return NULL;

      for (guint i = 0; i < n_planes; i++)
        offsets[i] = planes[i].range.data - common.data;
    }
  else
    {
      for (guint i = 0; i < n_planes; i++)
        {
          if (!append_range (buffer, &planes[i].range, error))
            return NULL;

          offsets[i] = size;
          size += planes[i].range.size;
        }
    }

  for (guint i = 0; i < n_planes; i++)
    strides[i] = planes[i].stride;
  add_video_meta (buffer, info, offsets, strides);
  return g_steal_pointer (&buffer);
}

/**
 * mtl_gst_buffer_from_view:
 * @view: a contiguous view
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer with the bytes of a view, without a copy.
 *
 * The buffer keeps the memory alive; it and @view can be released in any order
 * and on any thread. If @view is read-only, so is the buffer's memory, and
 * elements that write copy it first. If @view is writable, elements may write in
 * place, and @view then has what they wrote. GStreamer does not know of other
 * users of the memory: to push the same bytes twice, pass a view made by
 * [method@Mtl.StridedView.as_read_only], and write to them only when the buffer
 * is gone.
 *
 * If other processes can map the memory (%MTL_STORAGE_MODE_INTERPROCESS), the
 * buffer has its descriptor, by which unixfdsink passes it on without a copy.
 * **The descriptor gives access to all of the memory**, also if @view is a
 * slice.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @view is empty
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - %MTL_ERROR_NEEDS_COPY: @view is not contiguous; use a
 *   [method@Mtl.StridedView.copy] then
 * - a [error@Gio.IOErrorEnum]: other processes can map the memory, and this one
 *   has no descriptor left for the buffer
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
GstBuffer *
mtl_gst_buffer_from_view (MtlStridedView  *view,
                          GError         **error)
{
  g_autoptr (GBytes) bytes = NULL;
  Range range;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  if (mtl_gst_check_not_empty (view, error) && mtl_gst_check_reachable (view, error))
    bytes = mtl_strided_view_get_bytes (view, error);
  if (bytes == NULL)
    {
      g_prefix_error (error, "Buffer of bytes: ");
      return NULL;
    }

  range.buffer = mtl_strided_view_get_buffer (view);
  range.data = (guint8 *) g_bytes_get_data (bytes, &range.size);
  range.read_only = mtl_strided_view_is_read_only (view);
  return buffer_new (&range, error);
}

/**
 * mtl_gst_video_buffer_from_view:
 * @view: a view of shape [height, width] or [height, width, channels]
 * @info: the video format, which has one plane
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer of a video frame that shares the memory of a view, without a
 * copy.
 *
 * The rules of [func@MtlGst.buffer_from_view] for memory and writing apply.
 *
 * The rows may be any distance apart, so a part of a larger picture needs no
 * copy: a [struct@GstVideo.VideoMeta] gives their distance, unless it is the one
 * that GStreamer expects. Elements that use [func@GstVideo.VideoFrame.map]
 * follow it. Elements that pass on the bytes, such as filesink, do not; for
 * them, pass a [method@Mtl.StridedView.copy] to [func@MtlGst.buffer_from_view].
 *
 * ```c
 * g_autoptr (GstCaps) caps =
 *   mtl_gst_video_caps_from_view (view, GST_VIDEO_FORMAT_RGB, 30, 1, error);
 * GstVideoInfo info;
 * GstBuffer *buffer;
 *
 * if (caps == NULL || !gst_video_info_from_caps (&info, caps))
 *   return FALSE;
 *
 * buffer = mtl_gst_video_buffer_from_view (view, &info, error);
 * if (buffer == NULL)
 *   return FALSE;
 *
 * GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 30;
 * gst_app_src_push_buffer (source, buffer);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the shape or the elements do not fit @info,
 *   the format has several planes, or @view is empty
 * - %MTL_ERROR_NOT_SUPPORTED: the pixels of the format are not elements of a
 *   view
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - %MTL_ERROR_NEEDS_COPY: the pixels of a row are not adjacent, rows overlap,
 *   run from bottom to top or are further apart than GStreamer's limit, or
 *   samples are not aligned; use a [method@Mtl.StridedView.copy] then
 * - a [error@Gio.IOErrorEnum]: see [func@MtlGst.buffer_from_view]
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
GstBuffer *
mtl_gst_video_buffer_from_view (MtlStridedView      *view,
                                const GstVideoInfo  *info,
                                GError             **error)
{
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);

  return mtl_gst_video_buffer_from_views (&view, 1, info, error);
}

/**
 * mtl_gst_video_buffer_from_views:
 * @views: (array length=n_views): a view for each plane of the format
 * @n_views: the number of views
 * @info: the video format
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer of a video frame that shares the memory of several views,
 * without a copy.
 *
 * For I420 the views are Y, U and V, for NV12 they are Y and, of shape
 * [height, width, 2], UV. Each follows the rules of
 * [func@MtlGst.video_buffer_from_view], and a [struct@GstVideo.VideoMeta] says
 * where the planes are.
 *
 * The planes may be anywhere. Those that are close to each other in one buffer
 * become one memory, others one each; mapping all of such a buffer at once,
 * rather than its planes, makes GStreamer join the memories in a copy.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the number of views is not that of the planes
 * - the errors of [func@MtlGst.video_buffer_from_view]
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
GstBuffer *
mtl_gst_video_buffer_from_views (MtlStridedView     **views,
                                 gsize                n_views,
                                 const GstVideoInfo  *info,
                                 GError             **error)
{
  Plane planes[GST_VIDEO_MAX_PLANES];

  g_return_val_if_fail (views != NULL || n_views == 0, NULL);
  g_return_val_if_fail (info != NULL && info->finfo != NULL, NULL);

  /* A format without planes is refused with the first one. */
  if (n_views != MAX (GST_VIDEO_INFO_N_PLANES (info), 1))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The video format %s needs %u views, one for each plane, not %" G_GSIZE_FORMAT,
                   info->finfo->name, GST_VIDEO_INFO_N_PLANES (info), n_views);
      return NULL;
    }

  for (guint i = 0; i < n_views; i++)
    {
      g_return_val_if_fail (MTL_IS_STRIDED_VIEW (views[i]), NULL);

      if (!plane_init_for_format (&planes[i], views[i], info, i, error))
        return NULL;
    }

  return buffer_new_for_planes (planes, info, error);
}

static gboolean
check_audio_strides (MtlStridedView  *view,
                     gboolean         planar,
                     GError         **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gint64 *strides = mtl_strided_view_get_strides (view, NULL);

  if (!planar && !mtl_gst_audio_is_interleaved (shape, strides))
    set_needs_copy (error, view, "copy the view, or take the layout of"
                    " mtl_gst_audio_caps_from_view(),",
                    "interleaved samples have to be contiguous in C order");
  else if (planar && !mtl_gst_audio_is_planar (shape, strides))
    set_needs_copy (error, view, "copy the view in F order, or take the layout of"
                    " mtl_gst_audio_caps_from_view(),",
                    "the samples of a channel have to be contiguous, and channels must not"
                    " overlap");
  else if (!is_aligned (view))
    set_needs_copy (error, view, "copy the view",
                    "the address is not a multiple of the size of a sample");
  else
    return TRUE;

  return FALSE;
}

static gboolean
check_audio (MtlStridedView      *view,
             const GstAudioInfo  *info,
             MtlDType             dtype,
             GError             **error)
{
  const gboolean planar = GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  const gint64 n_channels = GST_AUDIO_INFO_CHANNELS (info);
  const gint64 *actual;
  gsize n_dims;

  actual = mtl_strided_view_get_shape (view, &n_dims);
  if (mtl_gst_check_elements (view, dtype, error)
      && mtl_gst_check_shape (view, (gint64[]) { n_dims > 0 ? actual[0] : 1, n_channels }, 2, error)
      && mtl_gst_check_not_empty (view, error)
      && mtl_gst_check_reachable (view, error)
      && check_audio_strides (view, planar, error))
    return TRUE;

  g_prefix_error (error, "Audio format %s: ", info->finfo->name);
  return FALSE;
}

/* More than 64 channels are rare, and have their offsets on the heap. */
static void
add_audio_meta (GstBuffer          *buffer,
                const GstAudioInfo *info,
                gsize               n_frames,
                gint64              first_offset,
                gint64              distance)
{
  const gsize n_channels = GST_AUDIO_INFO_CHANNELS (info);
  gsize few[64];
  g_autofree gsize *many = n_channels > G_N_ELEMENTS (few) ? g_new (gsize, n_channels) : NULL;
  gsize *offsets = many != NULL ? many : few;

  for (gsize i = 0; i < n_channels; i++)
    offsets[i] = first_offset + (gint64) i * distance;
  gst_buffer_add_audio_meta (buffer, info, n_frames, offsets);
}

/* Extends a range to a multiple of a size, if its memory goes on. */
static gboolean
range_extend (Range *range,
              gsize  size)
{
  const gsize missing = (size - range->size % size) % size;
  const guint8 *begin = mtl_buffer_get_contents (range->buffer);
  const guint8 *end = begin + mtl_buffer_get_size (range->buffer);
  const gsize after = MIN (missing, (gsize) (end - (range->data + range->size)));

  if (missing - after > (gsize) (range->data - begin))
    return FALSE;

  range->data -= missing - after;
  range->size += missing;
  return TRUE;
}

static GstBuffer *
buffer_new_of_channels (const Range  *first,
                        gint64        distance,
                        gint64        n_channels,
                        GError      **error)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  for (gint64 i = 0; i < n_channels; i++)
    {
      Range channel = *first;

      channel.data += i * distance;
      if (!append_range (buffer, &channel, error))
        return NULL;
    }

  return g_steal_pointer (&buffer);
}

/* Elements expect a buffer of whole frames, whatever bytes lie between the channels. */
static GstBuffer *
buffer_new_for_channels (MtlStridedView      *view,
                         const GstAudioInfo  *info,
                         GError             **error)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gsize sample_size = get_element_size (view);
  const gint64 stride = shape[1] > 1 ? mtl_strided_view_get_strides (view, NULL)[1] : 0;
  const gint64 distance = stride * (gint64) sample_size;
  guint8 *first = mtl_strided_view_get_data (view);
  GstBuffer *buffer;
  Range range;

  range_init (&range, view);
  if (range_extend (&range, sample_size * shape[1]))
    {
      buffer = buffer_new (&range, error);
      if (buffer != NULL)
        add_audio_meta (buffer, info, shape[0], first - range.data, distance);
      return buffer;
    }

  if (shape[1] > gst_buffer_get_max_memory ())
    {
      set_needs_copy (error, view, "copy the view in F order",
                      "the memory ends before a whole frame does");
      return NULL;
    }

  range.data = first;
  range.size = shape[0] * sample_size;
  buffer = buffer_new_of_channels (&range, distance, shape[1], error);
  if (buffer != NULL)
    add_audio_meta (buffer, info, shape[0], 0, range.size);
  return buffer;
}

/**
 * mtl_gst_audio_buffer_from_view:
 * @view: a view of shape [frames, channels]
 * @info: the audio format, with the layout
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a buffer of samples that shares the memory of a view, without a copy.
 *
 * The rules of [func@MtlGst.buffer_from_view] for memory and writing apply.
 *
 * If the layout of @info is interleaved, @view has to be contiguous. If it is
 * non-interleaved, the samples of each channel have to be adjacent; a
 * [struct@GstAudio.AudioMeta] says where the channels are. What lies between
 * them is in the buffer, too, and a few bytes beside them, since elements expect
 * whole frames. If there are no such bytes, each channel becomes a memory, up to
 * [func@Gst.Buffer.get_max_memory] of them; mapping all of such a buffer at once
 * makes GStreamer join the memories in a copy.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: the shape or the elements do not fit @info, or
 *   @view is empty
 * - %MTL_ERROR_NOT_SUPPORTED: the samples of the format are not elements of a
 *   view
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - %MTL_ERROR_NEEDS_COPY: the strides are not those of the layout, samples
 *   are not aligned, or there are too many channels for a memory each
 * - a [error@Gio.IOErrorEnum]: see [func@MtlGst.buffer_from_view]
 *
 * Returns: (transfer full): the new buffer
 *
 * Since: 1.0
 */
GstBuffer *
mtl_gst_audio_buffer_from_view (MtlStridedView      *view,
                                const GstAudioInfo  *info,
                                GError             **error)
{
  MtlGstPlane frame;
  Range range;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), NULL);
  g_return_val_if_fail (info != NULL, NULL);

  if (!mtl_gst_audio_describe_frame (info, &frame, error)
      || !check_audio (view, info, frame.dtype, error))
    return NULL;

  if (GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    return buffer_new_for_channels (view, info, error);

  range_init (&range, view);
  return buffer_new (&range, error);
}
