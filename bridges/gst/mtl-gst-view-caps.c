/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-view.h"

#include "mtl-gst-audio-private.h"
#include "mtl-gst-map-private.h"
#include "mtl-gst-tensor-private.h"

typedef enum
{
  KIND_VIDEO,
  KIND_AUDIO,
  KIND_TENSOR,
} Kind;

/* The description in caps, for their kind. */
typedef struct
{
  Kind kind;
  GstVideoInfo video;
  GstAudioInfo audio;
  const GstStructure *tensor;
} Media;

static gboolean
check_fields (const GstStructure  *structure,
              const char *const   *fields,
              GError             **error)
{
  for (guint i = 0; fields[i] != NULL; i++)
    {
      const GType type = i == 0 ? G_TYPE_STRING : G_TYPE_INT;

      if (gst_structure_has_field_typed (structure, fields[i], type))
        continue;

      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Caps of %s need the field “%s” of type %s",
                   gst_structure_get_name (structure), fields[i], g_type_name (type));
      return FALSE;
    }

  return TRUE;
}

/* GStreamer logs a critical warning for other caps, and a choice of orders is no order. */
static gboolean
check_is_fixed (GstCaps  *caps,
                GError  **error)
{
  g_autofree char *string = NULL;

  if (gst_caps_is_fixed (caps))
    return TRUE;

  string = gst_caps_to_string (caps);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The caps “%s” have a field with several values: use gst_caps_fixate()",
               string);
  return FALSE;
}

/* GStreamer would copy a negative number of channel positions, read those that the mask does not
 * have, or warn of those that do not exist. */
static gboolean
check_channels (const GstStructure  *structure,
                GError             **error)
{
  GstAudioChannelPosition positions[64];
  int n_channels = 0, n_positions;
  guint64 mask = 0;

  gst_structure_get_int (structure, "channels", &n_channels);
  if (n_channels < 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Audio caps need at least 1 channel, not %d", n_channels);
      return FALSE;
    }

  gst_structure_get (structure, "channel-mask", GST_TYPE_BITMASK, &mask, NULL);
  n_positions = __builtin_popcountll (mask);
  if (mask == 0
      || (n_positions == n_channels
          && gst_audio_channel_positions_from_mask (n_channels, mask, positions)
          && gst_audio_check_valid_channel_positions (positions, n_channels, TRUE)))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The channel-mask 0x%" G_GINT64_MODIFIER "x of the caps has %d bits for %d"
               " channels; it needs a known position for each channel, or has to be 0",
               mask, n_positions, n_channels);
  return FALSE;
}

/* GStreamer may take the positions of such channels from memory that was never written. */
static gboolean
check_has_samples (const GstStructure  *structure,
                   GError             **error)
{
  const char *format = gst_structure_get_string (structure, "format");

  if (gst_audio_format_from_string (format) != GST_AUDIO_FORMAT_ENCODED)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The audio format %s is not supported, since it does not describe samples: decode it"
               " first", format);
  return FALSE;
}

static gboolean
find_kind (const GstStructure  *structure,
           Kind                *kind,
           GError             **error)
{
  static const char *const names[] = { "video/x-raw", "audio/x-raw", "tensor/strided" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (gst_structure_has_name (structure, names[i]))
      {
        *kind = (Kind) i;
        return TRUE;
      }

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Only caps of video/x-raw, audio/x-raw and tensor/strided are supported, not %s:"
               " decode it first", gst_structure_get_name (structure));
  return FALSE;
}

static gboolean
read_caps (GstCaps  *caps,
           Media    *media,
           GError  **error)
{
  static const char *const video_fields[] = { "format", "width", "height", NULL };
  static const char *const audio_fields[] = { "format", "rate", "channels", NULL };
  g_autofree char *string = NULL;
  const GstStructure *structure;

  if (gst_caps_get_size (caps) != 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A buffer needs caps with 1 structure, not %u",
                   gst_caps_get_size (caps));
      return FALSE;
    }

  structure = gst_caps_get_structure (caps, 0);
  if (!find_kind (structure, &media->kind, error) || !check_is_fixed (caps, error))
    return FALSE;

  if (media->kind == KIND_TENSOR)
    {
      media->tensor = structure;
      return TRUE;
    }

  if (!check_fields (structure, media->kind == KIND_VIDEO ? video_fields : audio_fields, error)
      || (media->kind == KIND_AUDIO
          && (!check_has_samples (structure, error) || !check_channels (structure, error))))
    return FALSE;

  if (media->kind == KIND_VIDEO && gst_video_info_from_caps (&media->video, caps))
    return mtl_gst_format_check_size (&media->video, error);
  if (media->kind == KIND_AUDIO && gst_audio_info_from_caps (&media->audio, caps))
    return TRUE;

  string = gst_caps_to_string (caps);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "GStreamer cannot read the caps “%s”", string);
  return FALSE;
}

/* Video may have several. */
static gboolean
check_is_only_plane (Kind     kind,
                     guint    plane,
                     GError **error)
{
  if (plane == 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               kind == KIND_AUDIO
               ? "There is no plane %u: audio only has plane 0; view channels with"
                 " mtl_gst_view_from_audio_buffer_channel()"
               : "There is no plane %u: a tensor only has plane 0", plane);
  return FALSE;
}

static MtlStridedView *
view_tensor (GstBuffer           *buffer,
             const GstStructure  *structure,
             GstMapFlags          flags,
             GError             **error)
{
  g_autoptr (MtlStridedLayout) layout = NULL;
  MtlDType dtype;

  layout = mtl_gst_layout_from_tensor_structure (structure, &dtype, error);
  if (layout == NULL)
    return NULL;

  return mtl_gst_view_new_for_layout (buffer, layout, dtype, flags, error);
}

/**
 * mtl_gst_view_from_buffer_with_caps:
 * @buffer: a buffer with a video frame, audio samples, or a tensor
 * @caps: fixed caps, such as those of the pad or sample of @buffer
 * @plane: the number of a plane of a video frame, counted from 0; 0 for others
 * @flags: %GST_MAP_READ for a read-only view; with %GST_MAP_WRITE the view is
 *   writable
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a buffer as its caps describe it, without a copy.
 *
 * For `video/x-raw` the view is that of [func@MtlGst.view_from_video_buffer],
 * for `audio/x-raw` that of [func@MtlGst.view_from_audio_buffer], and for
 * `tensor/strided` the bytes of the buffer are the tensor's elements. If you
 * view many buffers of the same caps, those functions are faster, as they need
 * not read the caps each time.
 *
 * ```c
 * GstBuffer *buffer = gst_sample_get_buffer (sample);
 * g_autoptr (MtlStridedView) view =
 *   mtl_gst_view_from_buffer_with_caps (buffer, gst_sample_get_caps (sample), 0,
 *                                       GST_MAP_READ, error);
 *
 * if (view == NULL)
 *   return FALSE;
 *
 * g_assert_true (mtl_strided_view_is_read_only (view));
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: @caps are of something else, or of a tensor whose
 *   elements have no type here
 * - %MTL_ERROR_INVALID_ARGUMENT: @caps lack the format or the size, are not
 *   fixed, or have a channel mask that does not fit the channels
 * - %MTL_ERROR_OVERFLOW: a row of pixels is larger than GStreamer's largest, a
 *   tensor has more than 64 dimensions, or its size does not fit in 63 bits
 * - the errors of [func@MtlGst.view_from_video_buffer] and
 *   [func@MtlGst.view_from_audio_buffer]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gst_view_from_buffer_with_caps (GstBuffer    *buffer,
                                    GstCaps      *caps,
                                    guint         plane,
                                    GstMapFlags   flags,
                                    GError      **error)
{
  Media media;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (GST_IS_CAPS (caps), NULL);

  if (!read_caps (caps, &media, error))
    return NULL;

  if (media.kind == KIND_VIDEO)
    return mtl_gst_view_from_video_buffer (buffer, &media.video, plane, flags, error);

  if (!check_is_only_plane (media.kind, plane, error))
    return NULL;

  if (media.kind == KIND_AUDIO)
    return mtl_gst_view_from_audio_buffer (buffer, &media.audio, flags, error);

  return view_tensor (buffer, media.tensor, flags, error);
}

/**
 * mtl_gst_layout_from_caps:
 * @caps: fixed caps
 * @plane: the number of a plane of a video frame, counted from 0; 0 for others
 * @dtype: (out) (optional): return location for the element type
 * @error: return location for a [error@Mtl.Error]
 *
 * Gets the layout and the element type that views of buffers with these caps
 * have, without a buffer.
 *
 * A buffer with a [struct@GstVideo.VideoMeta] can have other strides. Caps of
 * audio do not say how many frames a buffer has; the layout is of one frame, of
 * the shape [1, channels].
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: @caps are of something else than raw video, raw
 *   audio or tensors, or elements of their format do not lie at equal distances
 * - %MTL_ERROR_INVALID_ARGUMENT: @caps lack the format or the size, are not
 *   fixed, or have a channel mask that does not fit the channels
 * - %MTL_ERROR_OUT_OF_BOUNDS: there is no such plane
 * - %MTL_ERROR_OVERFLOW: a row of pixels is larger than GStreamer's largest, a
 *   tensor has more than 64 dimensions, or its size does not fit in 63 bits
 *
 * Returns: (transfer full): the layout
 *
 * Since: 1.0
 */
MtlStridedLayout *
mtl_gst_layout_from_caps (GstCaps   *caps,
                          guint      plane,
                          MtlDType  *dtype,
                          GError   **error)
{
  MtlGstPlane description;
  Media media;

  g_return_val_if_fail (GST_IS_CAPS (caps), NULL);

  if (dtype != NULL)
    *dtype = MTL_DTYPE_OTHER;

  if (!read_caps (caps, &media, error))
    return NULL;

  if (media.kind == KIND_VIDEO)
    {
      if (!mtl_gst_format_describe_plane (&media.video, plane, &description, error))
        return NULL;
    }
  else if (!check_is_only_plane (media.kind, plane, error))
    return NULL;
  else if (media.kind == KIND_TENSOR)
    return mtl_gst_layout_from_tensor_structure (media.tensor, dtype, error);
  else if (!mtl_gst_audio_describe_frame (&media.audio, &description, error))
    return NULL;

  if (dtype != NULL)
    *dtype = description.dtype;

  return mtl_gst_layout_new (&description, error);
}
