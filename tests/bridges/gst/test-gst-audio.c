/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "test-gst-view-utils.h"

static void
set_audio_info (GstAudioInfo   *info,
                GstAudioFormat  format,
                int             channels,
                GstAudioLayout  layout)
{
  gst_audio_info_init (info);
  gst_audio_info_set_format (info, format, 48000, channels, NULL);
  info->layout = layout;
}

static MtlStridedView *
view_audio (GstBuffer          *buffer,
            const GstAudioInfo *info)
{
  GError *error = NULL;
  MtlStridedView *view = mtl_gst_view_from_audio_buffer (buffer, info, GST_MAP_READ, &error);

  return assert_view (view, error);
}

static MtlStridedView *
view_channel (GstBuffer          *buffer,
              const GstAudioInfo *info,
              guint               channel)
{
  GError *error = NULL;
  MtlStridedView *view =
    mtl_gst_view_from_audio_buffer_channel (buffer, info, channel, GST_MAP_READ, &error);

  return assert_view (view, error);
}

/* The type that the name of a format says, such as S24_32LE: a sign, bits, those of the element,
 * and a byte order. Returns NULL if there is none. */
static char *
get_dtype_name (const GstAudioFormatInfo *format)
{
  static const char kinds[] = "SUF";
  static const char *const names[] = { "int", "uint", "float" };
  const char *native = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "LE" : "BE";
  const char *kind = strchr (kinds, format->name[0]);
  char *end;
  guint64 n_bits;

  if (kind == NULL || !g_ascii_isdigit (format->name[1]))
    return NULL;

  n_bits = g_ascii_strtoull (format->name + 1, &end, 10);
  if (*end == '_')
    n_bits = g_ascii_strtoull (end + 1, &end, 10);
  if ((n_bits & (n_bits - 1)) != 0 || (n_bits > 8 && !g_str_equal (end, native)))
    return NULL;

  return g_strdup_printf ("%s%" G_GUINT64_FORMAT, names[kind - kinds], n_bits);
}

/* Two equal samples lie the width of one apart, except those of GStreamer 1.28 with 20 bits in
 * 32. */
static gboolean
is_packed_by_width (const GstAudioFormatInfo *format)
{
  static const gint32 integers[] = { 0x12345678, 0x12345678 };
  static const double floats[] = { 0.3, 0.3 };
  const gsize size = format->width / 8;
  guint8 packed[64] = { 0 };

  format->pack_func (format, GST_AUDIO_PACK_FLAG_NONE,
                     GST_AUDIO_FORMAT_INFO_IS_FLOAT (format) ? (gpointer) floats
                                                             : (gpointer) integers, packed, 2);
  return memcmp (packed, packed + size, size) == 0;
}

static void
check_refused (GstBuffer                *buffer,
               const GstAudioInfo       *info,
               const GstAudioFormatInfo *format)
{
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, info, GST_MAP_READ, &error),
                MTL_ERROR_NOT_SUPPORTED, format->name);
  assert_fails (mtl_gst_view_from_audio_buffer_channel (buffer, info, 0, GST_MAP_READ, &error),
                MTL_ERROR_NOT_SUPPORTED, format->name);
}

static void
assert_same_number (double actual,
                    double expected)
{
  g_assert_true (actual == expected || (isnan (actual) && isnan (expected)));
}

/* The numbers are those that GStreamer's own converter begins with: of 32 bits, the upper ones of
 * which are the sample, or of 64-bit floats. */
static void
check_numbers (const GstAudioFormatInfo *format,
               MtlStridedView           *view,
               gconstpointer             samples,
               gsize                     n_samples)
{
  g_autofree gint64 *unpacked = g_new (gint64, n_samples);
  const gint64 n_columns = mtl_strided_view_get_shape (view, NULL)[1];
  const gint64 mask = (G_GINT64_CONSTANT (1) << (format->depth & 63)) - 1; /* for integers */
  const gint64 middle = GST_AUDIO_FORMAT_INFO_IS_SIGNED (format) ? 0 : (mask >> 1) + 1;
  g_autoptr (GError) error = NULL;

  format->unpack_func (format, GST_AUDIO_PACK_FLAG_TRUNCATE_RANGE, unpacked, samples, n_samples);
  for (gsize i = 0; i < n_samples; i++)
    {
      const gint64 indices[] = { i / n_columns, i % n_columns };

      if (GST_AUDIO_FORMAT_INFO_IS_FLOAT (format))
        assert_same_number (mtl_strided_view_get_double (view, indices, 2, &error),
                            ((double *) unpacked)[i]);
      else
        g_assert_cmpint (((gint32 *) unpacked)[i] >> (32 - format->depth) & mask, ==,
                         (mtl_strided_view_get_int64 (view, indices, 2, &error) - middle) & mask);
      g_assert_no_error (error);
    }
}

/* The samples are those that GStreamer's own map has. */
static void
check_format (const GstAudioFormatInfo *format,
              GstAudioLayout            layout,
              int                       channels)
{
  const gsize n_frames = 13;
  const gsize sample_size = format->width / 8;
  g_autoptr (GstBuffer) buffer = random_buffer_new (n_frames * channels * sample_size);
  g_autoptr (MtlStridedView) view = NULL;
  g_autofree char *dtype = NULL;
  g_autofree char *expected_dtype = get_dtype_name (format);
  GstAudioBuffer audio;
  GstAudioInfo info;

  set_audio_info (&info, format->format, channels, layout);
  if (layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    gst_buffer_add_audio_meta (buffer, &info, n_frames, NULL);

  if (expected_dtype == NULL || !is_packed_by_width (format))
    {
      check_refused (buffer, &info, format);
      return;
    }

  view = view_audio (buffer, &info);
  assert_view_shape (view, 13, channels);
  dtype = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));
  g_assert_cmpstr (dtype, ==, expected_dtype);

  g_assert_true (gst_audio_buffer_map (&audio, &info, buffer, GST_MAP_READ));
  for (int channel = 0; channel < channels; channel++)
    {
      g_autoptr (MtlStridedView) part = view_channel (buffer, &info, channel);

      assert_view_shape (part, 13);
      for (gsize frame = 0; frame < n_frames; frame++)
        {
          const guint8 *expected =
            layout == GST_AUDIO_LAYOUT_INTERLEAVED
            ? (guint8 *) audio.planes[0] + (frame * channels + channel) * sample_size
            : (guint8 *) audio.planes[channel] + frame * sample_size;

          g_assert_true (get_element (view, frame, channel, 0) == expected);
          g_assert_true (get_element (part, frame, 0, 0) == expected);
        }
    }
  if (layout == GST_AUDIO_LAYOUT_INTERLEAVED)
    check_numbers (format, view, audio.planes[0], n_frames * channels);
  gst_audio_buffer_unmap (&audio);
}

static void
test_formats (void)
{
  GEnumClass *formats = g_type_class_ref (GST_TYPE_AUDIO_FORMAT);
  guint64 viewed = 0; /* S16 and S16LE are one */

  for (guint i = 0; i < formats->n_values; i++)
    {
      const GstAudioFormatInfo *format = gst_audio_format_get_info (formats->values[i].value);
      g_autofree char *dtype = get_dtype_name (format);

      if (format->format <= GST_AUDIO_FORMAT_ENCODED) /* no samples */
        continue;

      if (dtype != NULL && is_packed_by_width (format))
        viewed |= G_GUINT64_CONSTANT (1) << format->format;
      for (int channels = 1; channels <= 11; channels += 5)
        {
          check_format (format, GST_AUDIO_LAYOUT_INTERLEAVED, channels);
          check_format (format, GST_AUDIO_LAYOUT_NON_INTERLEAVED, channels);
        }
    }

  g_assert_cmpint (__builtin_popcountll (viewed), >=, 10);
  g_type_class_unref (formats);
}

/* Formats that later versions may have, as their tables would describe them. */
static void
test_later_formats (void)
{
  static const struct
  {
    const char *name;
    GstAudioFormatFlags flags;
    int width;
    const char *dtype;
  } cases[] = {
    { "F16", GST_AUDIO_FORMAT_FLAG_FLOAT, 16, "float16" },
    { "S64", GST_AUDIO_FORMAT_FLAG_INTEGER | GST_AUDIO_FORMAT_FLAG_SIGNED, 64, "int64" },
    { "U64", GST_AUDIO_FORMAT_FLAG_INTEGER, 64, "uint64" },
    { "F8", GST_AUDIO_FORMAT_FLAG_FLOAT, 8, NULL },
    { "F128", GST_AUDIO_FORMAT_FLAG_FLOAT, 128, NULL },
    { "S128", GST_AUDIO_FORMAT_FLAG_INTEGER | GST_AUDIO_FORMAT_FLAG_SIGNED, 128, NULL },
    { "S12", GST_AUDIO_FORMAT_FLAG_INTEGER | GST_AUDIO_FORMAT_FLAG_SIGNED, 12, NULL },
    { "MULAW", (GstAudioFormatFlags) 0, 8, NULL },
    { "NOTHING", GST_AUDIO_FORMAT_FLAG_INTEGER, 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const GstAudioFormatInfo format = {
        .format = (GstAudioFormat) 99, .name = cases[i].name, .flags = cases[i].flags,
        .endianness = G_BYTE_ORDER, .width = cases[i].width, .depth = cases[i].width,
      };
      g_autoptr (GstBuffer) buffer = random_buffer_new (192);
      g_autoptr (MtlStridedView) view = NULL;
      g_autofree char *dtype = NULL;
      GstAudioInfo info;

      set_audio_info (&info, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
      info.finfo = &format;
      if (cases[i].dtype == NULL)
        {
          check_refused (buffer, &info, &format);
          continue;
        }

      view = view_audio (buffer, &info);
      dtype = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));
      g_assert_cmpstr (dtype, ==, cases[i].dtype);
      assert_view_shape (view, 192 * 8 / 2 / cases[i].width, 2);
    }
}

/* Encoded audio. */
static void
test_no_format (void)
{
  const GstAudioFormatInfo *format = gst_audio_format_get_info (GST_AUDIO_FORMAT_ENCODED);
  g_autoptr (GstBuffer) buffer = random_buffer_new (64);
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  info.finfo = format;
  check_refused (buffer, &info, format);
}

/* A frame that is cut off is none. */
static void
test_strides (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (10 * 2 * 2 + 3);
  g_autoptr (MtlStridedView) interleaved = NULL;
  g_autoptr (MtlStridedView) planar = NULL;
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  interleaved = view_audio (buffer, &info);
  assert_view_shape (interleaved, 10, 2);
  assert_view_strides (interleaved, 2, 1);

  info.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  planar = view_audio (buffer, &info);
  assert_view_shape (planar, 10, 2);
  assert_view_strides (planar, 1, 10);
}

/* Channels in reverse order, and with a gap. */
static void
test_meta_offsets (void)
{
  gsize offsets[] = { 200, 100, 0 };
  g_autoptr (GstBuffer) buffer = random_buffer_new (300);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) last = NULL;
  GstAudioMeta *meta;
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 3, GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  meta = gst_buffer_add_audio_meta (buffer, &info, 7, offsets);
  view = view_audio (buffer, NULL);
  assert_view_shape (view, 7, 3);
  assert_view_strides (view, 1, -50);

  meta->offsets[1] = 102;
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, &error),
                MTL_ERROR_NEEDS_COPY, "mtl_gst_view_from_audio_buffer_channel()");
  last = view_channel (buffer, NULL, 1);
  g_assert_true (get_element (last, 0, 0, 0) == get_element (view, 0, 2, 0) + 102);

  assert_fails (mtl_gst_view_from_audio_buffer_channel (buffer, &info, 3, GST_MAP_READ, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "3");
}

static void
test_meta_memories (void)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_F32, 2, GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 40, NULL));
  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 40, NULL));
  gst_buffer_add_audio_meta (buffer, &info, 10, NULL);
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, &error),
                MTL_ERROR_NEEDS_COPY, "2");

  for (guint channel = 0; channel < 2; channel++)
    {
      GstMemory *memory = gst_buffer_peek_memory (buffer, channel);
      g_autoptr (MtlStridedView) view = view_channel (buffer, &info, channel);
      GstMapInfo map;

      g_assert_true (gst_memory_map (memory, &map, GST_MAP_READ));
      g_assert_true (mtl_strided_view_get_data (view) == map.data);
      gst_memory_unmap (memory, &map);
    }

  assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
  assert_untouched (buffer, 1, gst_buffer_peek_memory (buffer, 1));
}

static void
test_meta_and_info (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (100);
  g_autoptr (GstBuffer) plain = random_buffer_new (100);
  GstAudioInfo info, other;
  GstAudioMeta *meta;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  meta = gst_buffer_add_audio_meta (buffer, &info, 10, NULL);
  set_audio_info (&other, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &other, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2");
  set_audio_info (&other, GST_AUDIO_FORMAT_U8, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &other, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "U8");

  meta->info.finfo = NULL;
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "S16LE & 2");
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, NULL, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "gst_audio_info_set_format()");

  assert_fails (mtl_gst_view_from_audio_buffer (plain, NULL, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "GstAudioInfo");
  gst_audio_info_init (&other);
  assert_fails (mtl_gst_view_from_audio_buffer (plain, &other, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "gst_audio_info_set_format()");
}

static void
test_no_samples (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (3);
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "3 & 1");
}

/* Channels that no meta has offsets of need not be looked at one by one. */
static void
test_many_channels (void)
{
  g_autoptr (GstBuffer) buffer = random_buffer_new (100);
  const gint64 start = g_get_monotonic_time ();
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  info.channels = G_MAXINT;
  assert_fails (mtl_gst_view_from_audio_buffer (buffer, &info, GST_MAP_READ, &error),
                MTL_ERROR_INVALID_ARGUMENT, "2147483647 & 2");
  g_assert_cmpint (g_get_monotonic_time () - start, <, G_USEC_PER_SEC / 4);
}

/* Whatever a meta claims, a channel is viewed if its samples are in the buffer. */
static void
test_random_metas (void)
{
  const gsize size = 400;
  guint n_views = 0;
  GstAudioInfo info;

  set_audio_info (&info, GST_AUDIO_FORMAT_S16, 3, GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (GstBuffer) buffer = random_buffer_new (size);
      GstAudioMeta *meta = gst_buffer_add_audio_meta (buffer, &info, 10, NULL);
      MtlStridedView *view;
      gboolean all_fit = TRUE;

      meta->samples = g_test_rand_bit () ? (gsize) g_test_rand_int_range (1, 220)
                                         : G_MAXSIZE / (guint32) g_test_rand_int_range (1, 9) - i;
      for (guint channel = 0; channel < 3; channel++)
        {
          const gsize step = g_test_rand_bit () ? (gsize) g_test_rand_int_range (0, 420)
                                                : G_MAXSIZE - g_test_rand_int_range (0, 30);

          meta->offsets[channel] = channel < 2 || g_test_rand_bit ()
                                   ? step : 2 * meta->offsets[1] - meta->offsets[0];
        }

      for (guint channel = 0; channel < 3; channel++)
        {
          const gboolean fits = meta->samples <= size / 2
                                && meta->offsets[channel] <= size - meta->samples * 2;

          view = mtl_gst_view_from_audio_buffer_channel (buffer, NULL, channel, GST_MAP_READ, NULL);
          g_assert_true ((view != NULL) == fits);
          g_clear_object (&view);
          all_fit = all_fit && fits;
        }

      view = mtl_gst_view_from_audio_buffer (buffer, NULL, GST_MAP_READ, NULL);
      g_assert_true (view == NULL || all_fit);
      n_views += view != NULL;
      g_clear_object (&view);
      assert_untouched (buffer, 0, gst_buffer_peek_memory (buffer, 0));
    }

  g_assert_cmpuint (n_views, >, 20);
}

int
main (int    argc,
      char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst/audio/formats", test_formats);
  g_test_add_func ("/gst/audio/later-formats", test_later_formats);
  g_test_add_func ("/gst/audio/no-format", test_no_format);
  g_test_add_func ("/gst/audio/strides", test_strides);
  g_test_add_func ("/gst/audio/meta-offsets", test_meta_offsets);
  g_test_add_func ("/gst/audio/meta-memories", test_meta_memories);
  g_test_add_func ("/gst/audio/meta-and-info", test_meta_and_info);
  g_test_add_func ("/gst/audio/no-samples", test_no_samples);
  g_test_add_func ("/gst/audio/many-channels", test_many_channels);
  g_test_add_func ("/gst/audio/random-metas", test_random_metas);

  return g_test_run ();
}
