/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-view.h"

#include "mtl-gst-audio-private.h"
#include "mtl-gst-map-private.h"

/* The places of the samples in a buffer. The offsets are those of the meta, or NULL if channels
 * follow each other without a gap. */
typedef struct
{
  const GstAudioInfo *info;
  MtlDType dtype;
  guint sample_size;
  gsize n_frames;
  const gsize *offsets;
} Samples;

/* Relies on GStreamer's description of the format, as one of a later version may have
 * any size. */
static MtlDType
find_dtype (const GstAudioFormatInfo *format)
{
  static const MtlDType floats[] = {
    MTL_DTYPE_OTHER, MTL_DTYPE_FLOAT16, MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64,
  };
  static const MtlDType signed_integers[] = {
    MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  };
  static const MtlDType unsigned_integers[] = {
    MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64,
  };
  const MtlDType *dtypes;

  if (GST_AUDIO_FORMAT_INFO_IS_FLOAT (format))
    dtypes = floats;
  else if (!GST_AUDIO_FORMAT_INFO_IS_INTEGER (format))
    return MTL_DTYPE_OTHER;
  else
    dtypes = GST_AUDIO_FORMAT_INFO_IS_SIGNED (format) ? signed_integers : unsigned_integers;

  for (guint i = 0; i < G_N_ELEMENTS (floats); i++)
    if (format->width == 8 << i)
      return dtypes[i];

  return MTL_DTYPE_OTHER;
}

/* The table of GStreamer 1.28 says that samples of S20_32 and U20_32 have 4 bytes, but its own
 * functions read and write 3. */
static gboolean
is_read_as_described (const GstAudioFormatInfo *format)
{
  const gint32 samples[] = { 1, 1 };
  gint32 unpacked[G_N_ELEMENTS (samples)] = { 0 };

  if (format->width != 32 || format->depth == format->width
      || format->unpack_format != GST_AUDIO_FORMAT_S32)
    return TRUE;

  format->unpack_func (format, GST_AUDIO_PACK_FLAG_TRUNCATE_RANGE, unpacked, samples,
                       G_N_ELEMENTS (samples));
  return unpacked[0] == unpacked[1];
}

/* Gets the element type. Fails if the format has none. */
static gboolean
get_dtype (const GstAudioInfo  *info,
           MtlDType            *dtype,
           GError             **error)
{
  const GstAudioFormatInfo *format = info->finfo;
  const char *reason;

  if (format == NULL || format->format == GST_AUDIO_FORMAT_UNKNOWN)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The audio info has no format: set it first, for example with"
                           " gst_audio_info_set_format()");
      return FALSE;
    }

  *dtype = find_dtype (format);
  if (format->width == 0)
    reason = "it does not describe samples";
  else if (*dtype == MTL_DTYPE_OTHER)
    reason = "its samples have no element type";
  else if (format->width > 8 && format->endianness != G_BYTE_ORDER)
    reason = "its byte order is not this machine's";
  else if (!is_read_as_described (format))
    reason = "this GStreamer converts samples of a different size than it declares";
  else
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The audio format %s is not supported, since %s: convert it first, for example with"
               " audioconvert", format->name, reason);
  return FALSE;
}

/* The frames follow each other, and so do their samples. */
gboolean
mtl_gst_audio_is_interleaved (const gint64 *shape,
                              const gint64 *strides)
{
  return (shape[1] <= 1 || strides[1] == 1) && (shape[0] <= 1 || strides[0] == shape[1]);
}

/* The samples of a channel follow each other, and no channels have one in common. */
gboolean
mtl_gst_audio_is_planar (const gint64 *shape,
                         const gint64 *strides)
{
  return (shape[0] <= 1 || strides[0] == 1) && (shape[1] <= 1 || ABS (strides[1]) >= shape[0]);
}

static gboolean
check_meta (GstAudioMeta        *meta,
            const GstAudioInfo  *info,
            GError             **error)
{
  if (info == NULL
      || (meta->info.finfo != NULL
          && GST_AUDIO_INFO_FORMAT (info) == GST_AUDIO_INFO_FORMAT (&meta->info)
          && info->layout == meta->info.layout && info->channels == meta->info.channels))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The info has the audio format %s with %d %sinterleaved channels; the buffer's"
               " GstAudioMeta has %s with %d %sinterleaved channels",
               info->finfo->name, info->channels,
               info->layout == GST_AUDIO_LAYOUT_INTERLEAVED ? "" : "non-",
               meta->info.finfo != NULL ? meta->info.finfo->name : "no format",
               meta->info.channels,
               meta->info.layout == GST_AUDIO_LAYOUT_INTERLEAVED ? "" : "non-");
  return FALSE;
}

static gboolean
check_channels (const GstAudioInfo  *info,
                GError             **error)
{
  if (info->channels > 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Audio needs at least 1 channel, not %d", info->channels);
  return FALSE;
}

static void
set_no_frames_error (GstBuffer      *buffer,
                     const Samples  *samples,
                     GstAudioMeta   *meta,
                     GError        **error)
{
  if (meta != NULL)
    g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                         "The buffer's GstAudioMeta has 0 frames; a view needs at least 1");
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "The buffer has %" G_GSIZE_FORMAT " bytes; a view needs at least 1 audio frame, of"
                 " %d channels of %u bytes", gst_buffer_get_size (buffer), samples->info->channels,
                 samples->sample_size);
}

static gboolean
get_samples (GstBuffer           *buffer,
             const GstAudioInfo  *info,
             Samples             *samples,
             GError             **error)
{
  GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);

  if (meta == NULL && info == NULL)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "A buffer without a GstAudioMeta needs a GstAudioInfo");
      return FALSE;
    }

  /* The meta comes first, as it does for gst_audio_buffer_map(). */
  samples->info = meta != NULL ? &meta->info : info;
  samples->offsets = NULL;
  if ((info != NULL && !get_dtype (info, &samples->dtype, error))
      || (meta != NULL && !check_meta (meta, info, error))
      || !get_dtype (samples->info, &samples->dtype, error)
      || !check_channels (samples->info, error))
    return FALSE;

  samples->sample_size = samples->info->finfo->width / 8;
  if (meta != NULL)
    samples->n_frames = meta->samples;
  else
    samples->n_frames =
      gst_buffer_get_size (buffer) / samples->sample_size / samples->info->channels;
  if (samples->n_frames == 0)
    {
      set_no_frames_error (buffer, samples, meta, error);
      return FALSE;
    }

  if (samples->n_frames > G_MAXINT64)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The buffer's GstAudioMeta has %" G_GSIZE_FORMAT " frames; the buffer has %"
                   G_GSIZE_FORMAT " bytes", samples->n_frames, gst_buffer_get_size (buffer));
      return FALSE;
    }

  if (meta != NULL && samples->info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    samples->offsets = meta->offsets;

  return TRUE;
}

static gsize
get_offset (const Samples *samples,
            guint          channel)
{
  if (samples->info->layout == GST_AUDIO_LAYOUT_INTERLEAVED)
    return (gsize) channel * samples->sample_size;

  if (samples->offsets != NULL)
    return samples->offsets[channel];

  /* All channels fit in the buffer if there is no meta. */
  return channel * samples->n_frames * samples->sample_size;
}

static void
describe_channel (const Samples *samples,
                  guint          channel,
                  MtlGstPlane   *description)
{
  const gboolean interleaved = samples->info->layout == GST_AUDIO_LAYOUT_INTERLEAVED;

  description->dtype = samples->dtype;
  description->element_size = samples->sample_size;
  description->n_dims = 1;
  description->shape[0] = samples->n_frames;
  description->byte_strides[0] =
    (gint64) samples->sample_size * (interleaved ? samples->info->channels : 1);
  description->byte_offset = get_offset (samples, channel);
}

/* Only a meta can place channels anywhere. */
static gboolean
check_even_spacing (const Samples  *samples,
                    GError        **error)
{
  const int n_offsets = samples->offsets != NULL ? samples->info->channels : 0;

  /* Differences wrap around alike, whatever the offsets are. */
  for (int channel = 2; channel < n_offsets; channel++)
    if (samples->offsets[channel] - samples->offsets[channel - 1]
        != samples->offsets[1] - samples->offsets[0])
      {
        g_set_error (
            error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
            "The channels are not evenly spaced: channel %d is %" G_GSSIZE_FORMAT " bytes"
            " after channel %d, channel 1 %" G_GSSIZE_FORMAT " bytes after channel 0; view"
            " each one with mtl_gst_view_from_audio_buffer_channel(), or convert the audio, for"
            " example with audioconvert",
            channel, (gssize) (samples->offsets[channel] - samples->offsets[channel - 1]),
            channel - 1, (gssize) (samples->offsets[1] - samples->offsets[0]));
        return FALSE;
      }

  return TRUE;
}

static gboolean
describe_frames (const Samples  *samples,
                 MtlGstPlane    *description,
                 GError        **error)
{
  if (!check_even_spacing (samples, error))
    return FALSE;

  describe_channel (samples, 0, description);
  description->n_dims = 2;
  description->shape[1] = samples->info->channels;
  description->byte_strides[1] =
    samples->info->channels > 1
    ? (gint64) (get_offset (samples, 1) - get_offset (samples, 0)) : samples->sample_size;
  return TRUE;
}

/* Describes one frame, as it is not known how many there are. */
gboolean
mtl_gst_audio_describe_frame (const GstAudioInfo  *info,
                              MtlGstPlane         *description,
                              GError             **error)
{
  Samples samples = { .info = info, .n_frames = 1 };

  if (!get_dtype (info, &samples.dtype, error) || !check_channels (info, error))
    return FALSE;

  samples.sample_size = info->finfo->width / 8;
  return describe_frames (&samples, description, error);
}

/**
 * mtl_gst_view_from_audio_buffer:
 * @buffer: a buffer with audio samples
 * @info: (nullable): the format of the samples, or %NULL if @buffer has a
 *   [struct@GstAudio.AudioMeta]
 * @flags: %GST_MAP_READ for a read-only view; with %GST_MAP_WRITE the view is
 *   writable
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of all samples of a buffer, without a copy.
 *
 * The view has the shape [frames, channels]. Interleaved samples are in C order;
 * otherwise each channel is contiguous. A [struct@GstAudio.AudioMeta] of @buffer
 * says how many frames there are and where each channel begins. @info must have
 * the same format, layout and number of channels then.
 *
 * Elements have the type of the samples. S24_32 and U24_32 are `int32` and
 * `uint32` with the value in the lower 24 bits; the upper 8 can be anything.
 * Samples of 3 bytes, or in the other byte order, are not supported, nor are
 * S20_32 and U20_32 of GStreamer 1.28, which converts them with 3 bytes and not
 * the 4 that they should have.
 *
 * [func@MtlGst.view_from_video_buffer] describes which uses of @buffer are
 * possible while there is a view.
 *
 * ```c
 * g_autoptr (MtlStridedView) samples =
 *   mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, error);
 *
 * if (samples == NULL)
 *   return FALSE;
 *
 * g_print ("%" G_GINT64_FORMAT " frames\n", mtl_strided_view_get_shape (samples, NULL)[0]);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: no element type is that of the format
 * - %MTL_ERROR_INVALID_ARGUMENT: @info is %NULL or not set, and there is no
 *   meta; @info and the meta disagree; or there are no samples
 * - %MTL_ERROR_OUT_OF_BOUNDS: samples are not within the buffer
 * - %MTL_ERROR_NEEDS_COPY: the channels are not evenly spaced, or are in several
 *   memories, use [func@MtlGst.view_from_audio_buffer_channel] then; or they are to be
 *   written to, and another buffer shares the memory or has it mapped
 * - %MTL_ERROR_READ_ONLY: the samples are to be written to, and the buffer has
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
mtl_gst_view_from_audio_buffer (GstBuffer           *buffer,
                                const GstAudioInfo  *info,
                                GstMapFlags          flags,
                                GError             **error)
{
  MtlGstPlane description;
  Samples samples;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  if (!get_samples (buffer, info, &samples, error)
      || !describe_frames (&samples, &description, error))
    return NULL;

  return mtl_gst_view_new (buffer, &description, flags, error);
}

/**
 * mtl_gst_view_from_audio_buffer_channel:
 * @buffer: a buffer with audio samples
 * @info: (nullable): the format of the samples, or %NULL if @buffer has a
 *   [struct@GstAudio.AudioMeta]
 * @channel: the number of a channel, counted from 0
 * @flags: %GST_MAP_READ for a read-only view; with %GST_MAP_WRITE the view is
 *   writable
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of the samples of one channel, without a copy.
 *
 * The view has the shape [frames]. Channels may lie anywhere, in memories of
 * their own as well. See [func@MtlGst.view_from_audio_buffer] for what else
 * holds.
 *
 * Errors:
 *
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such channel, or samples are not
 *   within the buffer
 * - the other errors of [func@MtlGst.view_from_audio_buffer]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_audio_buffer_channel (GstBuffer           *buffer,
                                        const GstAudioInfo  *info,
                                        guint                channel,
                                        GstMapFlags          flags,
                                        GError             **error)
{
  MtlGstPlane description;
  Samples samples;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  if (!get_samples (buffer, info, &samples, error))
    return NULL;

  if (channel >= (guint) samples.info->channels)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "There is no channel %u: the audio has %d, counted from 0", channel,
                   samples.info->channels);
      return NULL;
    }

  describe_channel (&samples, channel, &description);
  return mtl_gst_view_new (buffer, &description, flags, error);
}
