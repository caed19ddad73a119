/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-gtk-utils.h"

#include "test-device.h"

static const gint64 sizes[][2] = { { 1, 1 }, { 3, 5 }, { 4, 7 }, { 1, 9 }, { 9, 1 } };

/* Reads names like R16G16B16A16_FLOAT_PREMULTIPLIED. FALSE if the pixels are not side by side. */
static gboolean
read_format_name (GdkMemoryFormat  format,
                  MtlDType        *dtype,
                  MtlGtkChannels  *channels,
                  gboolean        *premultiplied)
{
  g_autoptr (GEnumClass) formats = g_type_class_ref (GDK_TYPE_MEMORY_FORMAT);
  const char *name = g_enum_get_value (formats, format)->value_name + strlen ("GDK_MEMORY_");
  const char *rest = strchr (name, '_');
  char letters[8] = "";
  int n_letters = 0, bits = 0;

  for (const char *c = name; *c != '\0' && *c != '_'; c++)
    if (g_ascii_isalpha (*c))
      {
        letters[n_letters++] = *c;
        bits = atoi (c + 1);
      }
  if (strcmp (letters, "G") == 0 || strcmp (letters, "GA") == 0)
    letters[0] = 'Y';

  *premultiplied = g_str_has_suffix (name, "_PREMULTIPLIED");
  if (rest != NULL && g_str_has_prefix (rest, "_FLOAT"))
    *dtype = bits == 16 ? MTL_DTYPE_FLOAT16 : MTL_DTYPE_FLOAT32;
  else
    *dtype = bits == 16 ? MTL_DTYPE_UINT16 : MTL_DTYPE_UINT8;

  *channels = MTL_GTK_CHANNELS_AUTO;
  for (gsize i = 1; i < G_N_ELEMENTS (orders); i++)
    if (strcmp (orders[i], letters) == 0)
      *channels = i;
  return *channels != MTL_GTK_CHANNELS_AUTO && (bits == 8 || bits == 16 || bits == 32)
         && (rest == NULL || strcmp (rest, "_FLOAT") == 0 || strcmp (rest, "_PREMULTIPLIED") == 0
             || strcmp (rest, "_FLOAT_PREMULTIPLIED") == 0);
}

static MtlGtkTextureFlags
flags_of (gboolean premultiplied)
{
  return premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED : MTL_GTK_TEXTURE_FLAGS_NONE;
}

static void
test_formats (void)
{
  int n_found = 0;

  for (GdkMemoryFormat format = 0; format < GDK_MEMORY_N_FORMATS; format++)
    {
      g_autoptr (GError) failure = NULL;
      MtlDType dtype, expected_dtype;
      MtlGtkChannels channels, expected_channels;
      MtlGtkTextureFlags flags;
      gboolean expected_premultiplied;
      GdkMemoryFormat same;

      if (!read_format_name (format, &expected_dtype, &expected_channels,
                             &expected_premultiplied))
        {
          assert_refuses (mtl_gtk_pixel_from_memory_format (format, &dtype, &channels,
                                                            &flags, &error),
                          MTL_ERROR_NOT_SUPPORTED, "GDK_MEMORY_");
          continue;
        }

      g_assert_true (mtl_gtk_pixel_from_memory_format (format, &dtype, &channels, &flags,
                                                       &failure));
      g_assert_no_error (failure);
      g_assert_cmpint (dtype, ==, expected_dtype);
      g_assert_cmpint (channels, ==, expected_channels);
      g_assert_cmpint (flags, ==, flags_of (expected_premultiplied));

      g_assert_true (mtl_gtk_memory_format_from_pixel (dtype, channels, flags, &same, &failure));
      g_assert_no_error (failure);
      g_assert_cmpint (same, ==, format);
      n_found++;
    }

  g_assert_cmpint (n_found, >=, 18);
}

static void
test_formats_of_channels (void)
{
  int n_found = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (pixel_dtypes); i++)
    for (MtlGtkChannels channels = 1; channels < G_N_ELEMENTS (orders); channels++)
      for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
        {
          GError *error = NULL;
          GdkMemoryFormat format;
          MtlDType dtype;
          MtlGtkChannels same_channels;
          gboolean same_premultiplied;

          if (!mtl_gtk_memory_format_from_pixel (pixel_dtypes[i], channels,
                                                 flags_of (premultiplied), &format, &error))
            {
              assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "");
              continue;
            }

          g_assert_true (read_format_name (format, &dtype, &same_channels, &same_premultiplied));
          g_assert_cmpint (dtype, ==, pixel_dtypes[i]);
          g_assert_cmpint (same_channels, ==, channels);
          if (strlen (orders[channels]) > 1 && strchr (orders[channels], 'A') != NULL)
            g_assert_cmpint (same_premultiplied, ==, premultiplied);
          else
            g_assert_false (same_premultiplied);
          n_found++;
        }

  /* Formats of RGB are found with either. */
  g_assert_cmpint (n_found, >=, 18 + 5);
}

static void
test_formats_auto (void)
{
  g_autoptr (GError) error = NULL;
  GdkMemoryFormat format;

  g_assert_true (mtl_gtk_memory_format_from_pixel (MTL_DTYPE_UINT8, MTL_GTK_CHANNELS_AUTO, 0,
                                                   &format, &error));
  g_assert_cmpint (format, ==, GDK_MEMORY_R8G8B8A8);
}

static void
test_formats_refused (void)
{
  GdkMemoryFormat format;
  MtlDType dtype;
  MtlGtkChannels channels;
  MtlGtkTextureFlags flags;

  assert_refuses (mtl_gtk_memory_format_from_pixel (MTL_DTYPE_FLOAT64, MTL_GTK_CHANNELS_RGB,
                                                    0, &format, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "float64");
  assert_refuses (mtl_gtk_memory_format_from_pixel (MTL_DTYPE_UINT8, 99, 0, &format, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "99");
  assert_refuses (mtl_gtk_pixel_from_memory_format (9999, &dtype, &channels, &flags, &error),
                  MTL_ERROR_NOT_SUPPORTED, "9999");
}

/* A texture of the same pixels whose rows GTK has in its own memory. */
static GdkTexture *
new_dense_texture (MtlStridedView  *view,
                   GdkMemoryFormat  format)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gsize item_size = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)) / 8;
  g_autoptr (GByteArray) array = g_byte_array_new ();
  g_autoptr (GBytes) bytes = NULL;

  for (gint64 row = 0; row < shape[0]; row++)
    for (gint64 column = 0; column < shape[1]; column++)
      for (gint64 channel = 0; channel < shape[2]; channel++)
        {
          g_autoptr (MtlStridedView) element = NULL;
          g_autofree char *place = g_strdup_printf ("%d, %d, %d", (int) row, (int) column,
                                                    (int) channel);

          element = slice (view, place);
          g_byte_array_append (array, mtl_strided_view_get_data (element), item_size);
        }

  bytes = g_byte_array_free_to_bytes (g_steal_pointer (&array));
  return gdk_memory_texture_new (shape[1], shape[0], format, bytes,
                                 shape[1] * shape[2] * item_size);
}

typedef enum { DENSE, PADDED, CROPPED, N_PLACES } Place;

/* Rows that lie in memory in each of the ways that GTK accepts. */
static MtlStridedView *
new_rows (Place    place,
          MtlDType dtype,
          gint64   height,
          gint64   width,
          gint64   n_channels)
{
  g_autoptr (MtlStridedView) memory = NULL;
  g_autofree char *part = NULL;

  if (place == DENSE)
    return host_zeros (dtype, DIMS (height, width, n_channels));

  if (place == PADDED)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) pixels = NULL;

      memory = host_zeros (dtype, DIMS (height, width * n_channels + 3));
      part = g_strdup_printf (":, :%d", (int) (width * n_channels));
      pixels = slice (memory, part);
      return mtl_strided_view_reshape (pixels, DIMS (height, width, n_channels), &error);
    }

  memory = host_zeros (dtype, DIMS (height + 2, width + 5, n_channels));
  part = g_strdup_printf ("1:%d, 2:%d", (int) height + 1, (int) width + 2);
  return slice (memory, part);
}

static void
check_texture (GdkMemoryFormat format,
               Place           place,
               gint64          height,
               gint64          width)
{
  g_autoptr (MtlStridedView) view = NULL, same = NULL;
  g_autoptr (GdkTexture) texture = NULL, expected = NULL;
  g_autofree guint8 *pixels = NULL, *expected_pixels = NULL;
  MtlDType dtype;
  MtlGtkChannels channels;
  gboolean premultiplied;

  if (!read_format_name (format, &dtype, &channels, &premultiplied))
    return;

  view = new_rows (place, dtype, height, width, strlen (orders[channels]));
  set_random_pixels (view, orders[channels], premultiplied);
  texture = get_texture (view, channels,
                         premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED
                                       : MTL_GTK_TEXTURE_FLAGS_NONE);
  g_assert_cmpint (gdk_texture_get_width (texture), ==, width);
  g_assert_cmpint (gdk_texture_get_height (texture), ==, height);

  same = get_texture_view (texture);
  g_assert_true (mtl_strided_view_get_address (same) == mtl_strided_view_get_address (view));
  g_assert_true (mtl_strided_view_equal (same, view)
                 || mtl_strided_view_array_equal (same, view, MTL_COMPARE_FLAGS_NONE, NULL, NULL));

  expected = new_dense_texture (view, format);
  pixels = get_gtk_pixels (texture);
  expected_pixels = get_gtk_pixels (expected);
  g_assert_cmpmem (pixels, 4 * width * height, expected_pixels, 4 * width * height);

  /* GTK reads this very memory. */
  set_number_at (view, height - 1, width - 1, 0,
                 get_number_at (view, height - 1, width - 1, 0) > 0 ? 0 : get_full (dtype));
  g_clear_pointer (&pixels, g_free);
  g_clear_pointer (&expected_pixels, g_free);
  g_clear_object (&expected);
  expected = new_dense_texture (view, format);
  pixels = get_gtk_pixels (texture);
  expected_pixels = get_gtk_pixels (expected);
  g_assert_cmpmem (pixels, 4 * width * height, expected_pixels, 4 * width * height);
}

static void
test_in_place (void)
{
  for (GdkMemoryFormat format = 0; format < GDK_MEMORY_N_FORMATS; format++)
    for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (Place place = 0; place < N_PLACES; place++)
        check_texture (format, place, sizes[i][0], sizes[i][1]);
}

/* The last row may end with its last pixel, whatever the stride. */
static void
test_last_row (void)
{
  g_autoptr (GError) error = NULL;
  const gsize size = 2 * 16 + 15;
  guint8 *data = g_malloc (size);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (MtlStridedView) view = NULL, same = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autofree guint8 *pixels = NULL;

  for (gsize i = 0; i < size; i++)
    data[i] = i;
  bytes = g_bytes_new_take (data, size);
  view = mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, DIMS (3, 5, 3),
                                                            DIMS (16, 3, 1), &error);
  g_assert_no_error (error);
  texture = get_texture (view, MTL_GTK_CHANNELS_AUTO, MTL_GTK_TEXTURE_FLAGS_NONE);
  same = get_texture_view (texture);
  g_assert_true (mtl_strided_view_get_data (same) == data);
  pixels = get_gtk_pixels (texture);
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    g_assert_cmpint (pixels[4 * 14 + 2], ==, 2 * 16 + 12);
}

/* The stride of a single row is never used. */
static void
test_one_row (void)
{
  static const gint64 strides[] = { -7, 0, 1, 1000 };
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (15), 15);

  for (gsize i = 0; i < G_N_ELEMENTS (strides); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, DIMS (1, 5, 3),
                                                           DIMS (strides[i], 3, 1), &error);
      g_autoptr (GdkTexture) texture = NULL;
      g_autofree guint8 *pixels = NULL;

      g_assert_no_error (error);
      texture = get_texture (view, MTL_GTK_CHANNELS_RGB, MTL_GTK_TEXTURE_FLAGS_NONE);
      pixels = get_gtk_pixels (texture);
      g_assert_cmpint (pixels[G_BYTE_ORDER == G_BIG_ENDIAN ? 16 : 19], ==, 255);
    }
}

/* Finds by brute force which element each channel of the copy must have. */
static void
assert_copied (MtlStridedView *copy,
               MtlStridedView *view,
               MtlGtkChannels  channels,
               gboolean        premultiplied)
{
  const MtlDType dtype = mtl_strided_view_get_dtype (view);
  const gint64 *shape = mtl_strided_view_get_shape (copy, NULL);
  const char *letters = orders[channels], *copy_letters;
  const gint64 n_channels = strlen (letters);
  GdkMemoryFormat format;

  if (mtl_gtk_memory_format_from_pixel (dtype, channels, flags_of (premultiplied), &format,
                                        NULL))
    copy_letters = letters;
  else
    copy_letters = strchr (letters, 'A') != NULL ? "RGBA" : "RGB";

  g_assert_cmpint (mtl_strided_view_get_dtype (copy), ==, dtype);
  g_assert_true (mtl_strided_view_is_contiguous (copy, MTL_ORDER_C));
  g_assert_cmpint (shape[2], ==, strlen (copy_letters));
  for (gint64 row = 0; row < shape[0]; row++)
    for (gint64 column = 0; column < shape[1]; column++)
      {
        double values[4], light[4];

        for (gint64 channel = 0; channel < n_channels; channel++)
          values[channel] = get_number_at (view, row, column, channel);
        get_light (values, letters, dtype, light);
        for (gint64 channel = 0; channel < shape[2]; channel++)
          if (copy_letters[channel] != 'X')
            g_assert_cmpfloat_with_epsilon (get_number_at (copy, row, column, channel),
                                            get_channel (light, copy_letters[channel])
                                            * get_full (dtype), 1e-4);
      }
}

static MtlStridedView *
new_misaligned (MtlDType dtype,
                gint64   n_channels)
{
  g_autoptr (GError) error = NULL;
  const gint64 shape[] = { 3, 5, n_channels };
  g_autoptr (MtlStridedView) memory = host_zeros (MTL_DTYPE_UINT8, DIMS (3 * 5 * 4 * 4 + 1));
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new_dense (shape, 3, MTL_ORDER_C, mtl_dtype_get_bits (dtype), &error);
  MtlStridedView *view = mtl_strided_view_new (mtl_strided_view_get_buffer (memory), layout, dtype,
                                               1, &error);

  g_assert_no_error (error);
  return view;
}

static void
test_copies (void)
{
  static const char *const parts[] = { "...", "::-1", ":, ::-1", "..., ::-1", "::2, ::2" };

  for (gsize i = 0; i < G_N_ELEMENTS (pixel_dtypes); i++)
    for (MtlGtkChannels channels = 1; channels < G_N_ELEMENTS (orders); channels++)
      for (gsize j = 0; j < G_N_ELEMENTS (parts) + 1; j++)
        for (int premultiplied = 0; premultiplied <= 1; premultiplied++)
          {
            const gint64 n_channels = strlen (orders[channels]);
            const MtlGtkTextureFlags flags =
              premultiplied ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED : MTL_GTK_TEXTURE_FLAGS_NONE;
            const gboolean misaligned = j == G_N_ELEMENTS (parts);
            g_autoptr (MtlStridedView) memory = NULL, view = NULL, copy = NULL;
            g_autoptr (GdkTexture) texture = NULL;
            g_autoptr (GError) error = NULL;
            g_autofree guint8 *pixels = NULL;
            gboolean shared;

            memory = misaligned ? new_misaligned (pixel_dtypes[i], n_channels)
                                : host_zeros (pixel_dtypes[i], DIMS (6, 8, n_channels));
            view = misaligned ? g_object_ref (memory) : slice (memory, parts[j]);
            set_random_pixels (view, orders[channels], premultiplied);

            texture = mtl_gtk_texture_from_view (view, channels, flags, &error);
            shared = texture != NULL;
            if (!shared)
              g_assert_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY);
            g_clear_error (&error);
            g_clear_object (&texture);

            texture = get_texture (view, channels, flags | MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY);
            copy = get_texture_view (texture);
            g_assert_true (shared == (mtl_strided_view_get_address (copy)
                                      == mtl_strided_view_get_address (view)));
            if (misaligned && i > 0)
              g_assert_false (shared);
            if (j > 0 && !misaligned && (j != 3 || n_channels > 1))
              g_assert_false (shared);
            if (!shared)
              {
                assert_copied (copy, view, channels, premultiplied);
                pixels = get_gtk_pixels (texture);
              }
          }
}

static void
test_gray (void)
{
  for (int n_dims = 2; n_dims <= 3; n_dims++)
    {
      g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, (gint64[]) { 3, 5, 1 },
                                                    n_dims);
      g_autoptr (GdkTexture) texture = NULL;
      g_autoptr (GdkTexture) named = NULL;
      g_autofree guint8 *pixels = NULL, *named_pixels = NULL;

      for (int i = 0; i < 15; i++)
        set_number_at (view, i / 5, i % 5, 0, 17 * i);
      texture = get_texture (view, MTL_GTK_CHANNELS_AUTO, MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY);
      named = get_texture (view, MTL_GTK_CHANNELS_GRAY, MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY);
      pixels = get_gtk_pixels (texture);
      named_pixels = get_gtk_pixels (named);
      for (int i = 0; i < 15; i++)
        for (int channel = 0; channel < 3; channel++)
          {
            const int place = 4 * i + channel + (G_BYTE_ORDER == G_BIG_ENDIAN);

            g_assert_cmpint (pixels[place], ==, 17 * i);
            g_assert_cmpint (named_pixels[place], ==, 17 * i);
          }
    }
}

static void
test_channels_by_number (void)
{
  static const MtlGtkChannels expected[] = {
    MTL_GTK_CHANNELS_GRAY, MTL_GTK_CHANNELS_GRAY_ALPHA, MTL_GTK_CHANNELS_RGB, MTL_GTK_CHANNELS_RGBA
  };

  for (gint64 n = 1; n <= 4; n++)
    {
      g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, n));
      g_autoptr (GdkTexture) texture = NULL, named = NULL;
      g_autofree guint8 *pixels = NULL, *named_pixels = NULL;

      set_random_pixels (view, orders[expected[n - 1]], FALSE);
      texture = get_texture (view, MTL_GTK_CHANNELS_AUTO, MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY);
      named = get_texture (view, expected[n - 1], MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY);
      pixels = get_gtk_pixels (texture);
      named_pixels = get_gtk_pixels (named);
      g_assert_cmpmem (pixels, 60, named_pixels, 60);
    }
}

static void
test_lifetimes (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 3));
  g_autoptr (MtlStridedView) same = NULL;
  g_autoptr (GdkTexture) texture = get_texture (view, MTL_GTK_CHANNELS_RGB, 0);
  g_autofree guint8 *pixels = NULL;
  g_autoptr (GError) error = NULL;
  GWeakRef weak;

  set_number_at (view, 2, 4, 1, 200);
  g_weak_ref_init (&weak, view);

  /* The texture uses the view, which cannot be closed. */
  g_assert_false (mtl_strided_view_close (view, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_BUSY);
  assert_view_shape (view, 3, 5, 3);

  /* The texture is the only one who has the view. */
  g_clear_object (&view);
  pixels = get_gtk_pixels (texture);
  g_assert_cmpint (pixels[4 * 14 + (G_BYTE_ORDER == G_BIG_ENDIAN ? 2 : 1)], ==, 200);
  same = get_texture_view (texture);
  g_clear_object (&texture);
  g_assert_cmpfloat (get_number_at (same, 2, 4, 1), ==, 200);
  g_clear_object (&same);
  g_assert_null (g_weak_ref_get (&weak));
  g_weak_ref_clear (&weak);

  /* A texture gives no reference back too often. */
  view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 3));
  texture = get_texture (view, MTL_GTK_CHANNELS_RGB, 0);
  g_clear_object (&texture);
  g_assert_cmpint (G_OBJECT (view)->ref_count, ==, 1);
}

static void
assert_refused (MtlStridedView *view,
                MtlGtkChannels  channels,
                MtlError        code,
                const char     *values)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (mtl_gtk_texture_from_view (view, channels, MTL_GTK_TEXTURE_FLAGS_NONE, &error));
  g_assert_error (error, MTL_ERROR, (int) code);
  g_test_message ("%s", error->message);
  assert_says (error->message, values);
  g_assert_cmpuint (G_OBJECT (view)->ref_count, ==, 1);
}

static void
test_reasons_to_copy (void)
{
  static const struct { const char *part; const char *values; } cases[] = {
    { "::-1", "" },
    { ":, ::-1", "" },
    { ":, ::2", "4 & 8" },
    { "..., ::-1", "" },
    { "..., :3", "3 & 4" },
  };
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7, 4));
  g_autoptr (MtlStridedView) planes = NULL, misaligned = NULL, row = NULL, rows = NULL;
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (MtlStridedView) part = slice (view, cases[i].part);

      assert_refused (part, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_NEEDS_COPY, cases[i].values);
      assert_refused (part, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_NEEDS_COPY, "ALLOW_COPY");
    }

  planes = mtl_strided_view_permute (view, AXES (0, 2, 1), &error);
  g_assert_no_error (error);
  g_clear_object (&planes);
  view = (g_object_unref (view), host_zeros (MTL_DTYPE_UINT8, DIMS (3, 6, 7)));
  planes = mtl_strided_view_permute (view, AXES (1, 2, 0), &error);
  assert_refused (planes, MTL_GTK_CHANNELS_RGB, MTL_ERROR_NEEDS_COPY, "42");

  row = host_zeros (MTL_DTYPE_UINT8, DIMS (1, 7, 3));
  rows = mtl_strided_view_broadcast_to (row, DIMS (6, 7, 3), &error);
  g_assert_no_error (error);
  assert_refused (rows, MTL_GTK_CHANNELS_RGB, MTL_ERROR_NEEDS_COPY, "21 & 0");

  misaligned = new_misaligned (MTL_DTYPE_FLOAT32, 4);
  assert_refused (misaligned, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_NEEDS_COPY, "4");

#if !GTK_CHECK_VERSION (4, 12, 0)
  g_clear_object (&view);
  view = host_zeros (MTL_DTYPE_UINT8, DIMS (6, 7));
  assert_refused (view, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_NEEDS_COPY, "uint8");
#endif
}

static void
test_not_pictures (void)
{
  static const MtlDType other_dtypes[] = {
    MTL_DTYPE_FLOAT64, MTL_DTYPE_INT8, MTL_DTYPE_INT32, MTL_DTYPE_UINT64, MTL_DTYPE_BFLOAT16,
    MTL_DTYPE_COMPLEX64, MTL_DTYPE_BOOL, MTL_DTYPE_FLOAT4_E2M1FN
  };
  static const gint64 empty[][3] = { { 0, 5, 3 }, { 5, 0, 3 }, { 0, 0, 3 } };
  g_autoptr (MtlStridedView) line = host_zeros (MTL_DTYPE_UINT8, DIMS (5));
  g_autoptr (MtlStridedView) cube = host_zeros (MTL_DTYPE_UINT8, DIMS (2, 3, 4, 4));
  g_autoptr (MtlStridedView) none = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 4, 0));
  g_autoptr (MtlStridedView) five = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 4, 5));
  g_autoptr (MtlStridedView) rgb = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 4, 3));
  g_autoptr (MtlStridedView) gray = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 4));

  for (gsize i = 0; i < G_N_ELEMENTS (other_dtypes); i++)
    {
      g_autoptr (MtlStridedView) view = host_zeros (other_dtypes[i], DIMS (3, 4, 4));

      assert_refused (view, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT,
                      get_dtype_name (other_dtypes[i]));
      assert_refused (view, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT, "to_dtype()");
    }
  for (gsize i = 0; i < G_N_ELEMENTS (empty); i++)
    {
      g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, empty[i], 3);

      assert_refused (view, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT, "1");
    }

  assert_refused (line, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT, "1");
  assert_refused (cube, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT, "4");
  assert_refused (none, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_refused (five, MTL_GTK_CHANNELS_AUTO, MTL_ERROR_INVALID_ARGUMENT, "5");
  assert_refused (rgb, MTL_GTK_CHANNELS_BGRA, MTL_ERROR_INVALID_ARGUMENT, "BGRA & 4 & 3");
  assert_refused (gray, MTL_GTK_CHANNELS_RGB, MTL_ERROR_INVALID_ARGUMENT, "RGB & 3 & 1");
  assert_refused (rgb, 77, MTL_ERROR_INVALID_ARGUMENT, "77");
}

static void
test_many_pixels (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) pixel = host_zeros (MTL_DTYPE_UINT8, DIMS (1, 1, 3));
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_broadcast_to (pixel, DIMS ((gint64) G_MAXINT + 1, 1, 3), &error);

  g_assert_no_error (error);
  assert_refused (view, MTL_GTK_CHANNELS_RGB, MTL_ERROR_OVERFLOW, "2147483648");
}

static void
test_devices (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) view = new_view_elsewhere (MTL_DEVICE (device), 3, 4, 3);

  assert_refused (view, MTL_GTK_CHANNELS_RGB, MTL_ERROR_NOT_HOST_ACCESSIBLE, "“Test”");
  assert_fails (mtl_gtk_texture_from_view (view, MTL_GTK_CHANNELS_RGB,
                                           MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY, &error),
                MTL_ERROR_NOT_HOST_ACCESSIBLE, "“Test”");
}

#if GTK_CHECK_VERSION (4, 10, 0)

static void
check_other_texture (GdkMemoryFormat format,
                     gsize           padding)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;
  MtlGtkChannels channels;
  gboolean premultiplied;
  gsize item_size, size;
  gpointer data;
  GWeakRef weak;
  MtlDType dtype;

  if (!read_format_name (format, &dtype, &channels, &premultiplied))
    return;

  item_size = mtl_dtype_get_bits (dtype) / 8;
  size = 3 * (5 * strlen (orders[channels]) + padding) * item_size;
  data = g_malloc0 (size);
  bytes = g_bytes_new_take (data, size);
  texture = gdk_memory_texture_new (5, 3, format, bytes, size / 3);
  g_weak_ref_init (&weak, texture);
  view = get_texture_view (texture);
  g_assert_true (mtl_strided_view_get_data (view) == data);
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, dtype);
  assert_view_shape (view, 3, 5, strlen (orders[channels]));
  assert_view_strides (view, size / 3 / item_size, strlen (orders[channels]), 1);

  /* The view keeps the memory, not the texture. */
  g_clear_pointer (&bytes, g_bytes_unref);
  g_clear_object (&texture);
  g_assert_null (g_weak_ref_get (&weak));
  g_weak_ref_clear (&weak);
  memset (data, 0x3c, size);
  g_assert_cmpfloat (get_number_at (view, 2, 4, 0), >, 0);
}

#endif

static void
test_other_textures (void)
{
#if GTK_CHECK_VERSION (4, 10, 0)
  for (GdkMemoryFormat format = 0; format < GDK_MEMORY_N_FORMATS; format++)
    for (gsize padding = 0; padding <= 3; padding += 3)
      check_other_texture (format, padding);
#else
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (60), 60);
  g_autoptr (GdkTexture) texture = gdk_memory_texture_new (5, 3, GDK_MEMORY_R8G8B8A8, bytes, 20);

  assert_fails (mtl_gtk_view_from_texture (texture, &error), MTL_ERROR_NEEDS_COPY,
                "GdkMemoryTexture & mtl_gtk_download_texture()");
#endif
}

#if GTK_CHECK_VERSION (4, 16, 0)

/* The numbers stay those in memory. */
static void
test_color_states (void)
{
  GdkColorState *const states[] = {
    gdk_color_state_get_srgb (), gdk_color_state_get_srgb_linear (),
    gdk_color_state_get_rec2100_pq (), gdk_color_state_get_rec2100_linear ()
  };
  g_autoptr (MtlStridedView) source = host_zeros (MTL_DTYPE_FLOAT32, DIMS (3, 5, 4));
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;

  set_random_pixels (source, "RGBA", FALSE);
  bytes = mtl_strided_view_dup_bytes (source, NULL, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (states); i++)
    {
      g_autoptr (GdkTexture) texture = new_texture_of_color_state (bytes, states[i]);
      g_autoptr (MtlStridedView) view = get_texture_view (texture);

      g_assert_true (mtl_strided_view_get_data (view) == g_bytes_get_data (bytes, NULL));
      g_assert_true (mtl_strided_view_array_equal (view, source, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   &error));
    }
}

#endif

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Format/all", test_formats);
  g_test_add_func ("/Format/of-channels", test_formats_of_channels);
  g_test_add_func ("/Format/auto", test_formats_auto);
  g_test_add_func ("/Format/refused", test_formats_refused);
  g_test_add_func ("/Texture/in-place", test_in_place);
  g_test_add_func ("/Texture/last-row", test_last_row);
  g_test_add_func ("/Texture/one-row", test_one_row);
  g_test_add_func ("/Texture/copies", test_copies);
  g_test_add_func ("/Texture/gray", test_gray);
  g_test_add_func ("/Texture/channels-by-number", test_channels_by_number);
  g_test_add_func ("/Texture/lifetimes", test_lifetimes);
  g_test_add_func ("/Texture/reasons-to-copy", test_reasons_to_copy);
  g_test_add_func ("/Texture/not-pictures", test_not_pictures);
  g_test_add_func ("/Texture/many-pixels", test_many_pixels);
  g_test_add_func ("/Texture/devices", test_devices);
  g_test_add_func ("/Texture/other-textures", test_other_textures);
#if GTK_CHECK_VERSION (4, 16, 0)
  g_test_add_func ("/Texture/color-states", test_color_states);
#endif

  return g_test_run ();
}
