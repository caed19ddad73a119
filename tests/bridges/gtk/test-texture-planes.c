/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views of the planes of textures, against the bytes that these were made of, and against what
 * GTK downloads. */

#include "test-gtk-utils.h"

#define MAX_PLANES 3

/* The meaning of the name of a format, such as X6G10_X6B10_X6R10_420. */
typedef struct
{
  gboolean is_pixels; /* side by side */
  gboolean is_float;
  int n_planes;
  int item_size;
  int used_bits;
  int shift; /* the used bits' */
  int block_width;
  int block_height;
  gboolean is_packed; /* all channels in one element */
  struct
  {
    char channels[5]; /* in the order of memory, G for luma */
    int block_width;
    int block_height;
  } planes[MAX_PLANES];
} Named;

static gboolean
read_subsampling (const char *word,
                  Named      *named)
{
  static const struct { const char *name; int width, height; } kinds[] = {
    { "410", 4, 4 }, { "411", 4, 1 }, { "420", 2, 2 }, { "422", 2, 1 }, { "444", 1, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (word, kinds[i].name))
      {
        named->block_width = kinds[i].width;
        named->block_height = kinds[i].height;
        return TRUE;
      }

  return FALSE;
}

static void
read_plane (const char *word,
            Named      *named)
{
  const int plane = named->n_planes++;
  int n_channels = 0, bits = 0, unused = 0;

  g_assert_cmpint (plane, <, MAX_PLANES);
  for (const char *c = word; *c != '\0'; c++)
    if (*c == 'X' && atoi (c + 1) != 8)
      {
        unused = atoi (c + 1);
        named->shift = c > word ? unused : named->shift;
      }
    else if (g_ascii_isalpha (*c))
      {
        named->planes[plane].channels[n_channels++] = *c;
        bits = atoi (c + 1);
      }

  named->used_bits = bits;
  named->item_size = (bits + unused) / 8;
}

static Named
read_name (GdkMemoryFormat format)
{
  g_autofree char *name = g_enum_to_string (GDK_TYPE_MEMORY_FORMAT, format);
  g_auto (GStrv) words = g_strsplit (name + strlen ("GDK_MEMORY_"), "_", -1);
  Named named = { .block_width = 1, .block_height = 1 };
  guint n_planes = g_strv_length (words) - 1;

  if (strstr (name, "2101010") != NULL)
    return (Named) {
      .n_planes = 1, .item_size = 4, .is_packed = TRUE, .planes = { { "", 1, 1 } }
    };

  if (!read_subsampling (words[n_planes], &named))
    {
      named.is_pixels = TRUE;
      named.is_float = strstr (name, "_FLOAT") != NULL;
      n_planes = 1;
    }

  for (guint i = 0; i < n_planes; i++)
    read_plane (words[i], &named);
  for (int i = 0; i < named.n_planes; i++)
    {
      const gboolean is_luma = named.n_planes > 1 && i == 0;

      named.planes[i].block_width = is_luma ? 1 : named.block_width;
      named.planes[i].block_height = is_luma ? 1 : named.block_height;
    }
  return named;
}

/* No format is refused without its name, nor one taken that is newer than the build: the running
 * GTK may have more. */
static void
test_all_formats (void)
{
  g_autoptr (GEnumClass) formats = g_type_class_ref (GDK_TYPE_MEMORY_FORMAT);

  for (guint i = 0; i < formats->n_values; i++)
    {
      const GdkMemoryFormat format = formats->values[i].value;
      g_autoptr (GError) error = NULL;
      MtlGtkTextureFlags flags;
      MtlGtkChannels channels;
      MtlDType dtype;

      if (mtl_gtk_pixel_from_memory_format (format, &dtype, &channels, &flags, &error))
        {
          g_assert_no_error (error);
          g_assert_cmpint (format, <, GDK_MEMORY_N_FORMATS);
          g_assert_true (read_name (format).is_pixels);
          continue;
        }

      g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
      assert_says (error->message, formats->values[i].value_name);
      g_test_message ("%s", error->message);
    }
}

static void
test_own_textures (void)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (3, 5, 3));
  g_autoptr (GdkTexture) texture = get_texture (view, MTL_GTK_CHANNELS_RGB, 0);
  g_autoptr (MtlStridedView) plane = NULL;
  g_autoptr (GError) failure = NULL;

  plane = mtl_gtk_view_from_texture_plane (texture, 0, &failure);
  g_assert_no_error (failure);
  g_assert_true (mtl_strided_view_is_read_only (plane));
  g_assert_true (mtl_strided_view_get_address (plane) == mtl_strided_view_get_address (view));
  assert_view_shape (plane, 3, 5, 3);
  assert_fails (mtl_gtk_view_from_texture_plane (texture, 1, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "GDK_MEMORY_R8G8B8 & 1");
  assert_fails (mtl_gtk_view_from_texture_plane (texture, G_MAXUINT, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "4294967295");
}

static void
test_pixels (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (60), 60);
  g_autoptr (GdkTexture) texture = gdk_memory_texture_new (5, 3, GDK_MEMORY_R8G8B8A8, bytes, 20);

#if GTK_CHECK_VERSION (4, 10, 0)
  g_autoptr (GError) failure = NULL;
  g_autoptr (MtlStridedView) plane = mtl_gtk_view_from_texture_plane (texture, 0, &failure);

  g_assert_no_error (failure);
  g_assert_true (mtl_strided_view_get_data (plane) == g_bytes_get_data (bytes, NULL));
  assert_view_shape (plane, 3, 5, 4);
  assert_fails (mtl_gtk_view_from_texture_plane (texture, 1, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "GDK_MEMORY_R8G8B8A8 & 1");
#else
  assert_fails (mtl_gtk_view_from_texture_plane (texture, 0, &error), MTL_ERROR_NEEDS_COPY,
                "GdkMemoryTexture & mtl_gtk_download_texture()");
#endif
}

#if GTK_CHECK_VERSION (4, 20, 0)

/* A texture and where its planes are. */
typedef struct
{
  Named named;
  GdkTexture *texture;
  GBytes *bytes;
  gsize offsets[MAX_PLANES];
  gsize row_strides[MAX_PLANES];
} Sample;

/* Bits that are not used are 0, and floats from 0 to 2. */
static void
set_random_samples (const Named *named,
                    guint8      *data,
                    gsize        size)
{
  const guint16 mask = ((1 << named->used_bits) - 1) << named->shift;

  for (gsize i = 0; i < size; i++)
    data[i] = g_test_rand_int ();

  for (gsize i = 0; named->is_float && named->item_size == 4 && i + 3 < size; i += 4)
    {
      const float number = g_test_rand_double_range (0, 2);

      memcpy (data + i, &number, 4);
    }

  for (gsize i = 0; named->item_size == 2 && i + 1 < size; i += 2)
    {
      guint16 sample;

      memcpy (&sample, data + i, 2);
      sample = named->is_float ? sample & 0x3fff : sample & mask;
      memcpy (data + i, &sample, 2);
    }
}

static GdkColorState *
new_color_state (void)
{
  static const guint primaries[] = { 1, 5, 6, 9 }, transfers[] = { 1, 13, 16, 8 };
  static const guint matrices[] = { 0, 1, 5, 6, 9 };
  g_autoptr (GdkCicpParams) params = gdk_cicp_params_new ();
  g_autoptr (GError) error = NULL;
  GdkColorState *state;

  if (g_test_rand_bit ())
    return gdk_color_state_ref (gdk_color_state_get_srgb ());

  gdk_cicp_params_set_color_primaries (params, primaries[g_test_rand_int_range (0, 4)]);
  gdk_cicp_params_set_transfer_function (params, transfers[g_test_rand_int_range (0, 4)]);
  gdk_cicp_params_set_matrix_coefficients (params, matrices[g_test_rand_int_range (0, 5)]);
  gdk_cicp_params_set_range (params, g_test_rand_bit () ? GDK_CICP_RANGE_FULL
                                                        : GDK_CICP_RANGE_NARROW);
  state = gdk_cicp_params_build_color_state (params, &error);
  g_assert_no_error (error);
  return state;
}

/* Planes one after the other, with gaps between them and after rows. */
static void
sample_init (Sample          *sample,
             GdkMemoryFormat  format)
{
  const int height = 4 * g_test_rand_int_range (1, 5), width = 4 * g_test_rand_int_range (1, 7);
  g_autoptr (GdkMemoryTextureBuilder) builder = gdk_memory_texture_builder_new ();
  GdkColorState *state = new_color_state ();
  const Named *named = &sample->named;
  gsize size = 0;
  guint8 *data;

  for (int i = 0; i < named->n_planes; i++)
    {
      const int n_channels = MAX (strlen (named->planes[i].channels), 1);

      size += 4 * g_test_rand_int_range (0, 5);
      sample->offsets[i] = size;
      sample->row_strides[i] = width / named->planes[i].block_width * n_channels * named->item_size
                               + 4 * g_test_rand_int_range (0, 4);
      sample->row_strides[i] = (sample->row_strides[i] + 3) / 4 * 4;
      size += sample->row_strides[i] * (height / named->planes[i].block_height);
    }

  data = g_malloc (size);
  set_random_samples (named, data, size);
  sample->bytes = g_bytes_new_take (data, size);

  gdk_memory_texture_builder_set_bytes (builder, sample->bytes);
  gdk_memory_texture_builder_set_width (builder, width);
  gdk_memory_texture_builder_set_height (builder, height);
  gdk_memory_texture_builder_set_format (builder, format);
  gdk_memory_texture_builder_set_color_state (builder, state);
  for (int i = 0; i < named->n_planes; i++)
    {
      gdk_memory_texture_builder_set_offset (builder, i, sample->offsets[i]);
      gdk_memory_texture_builder_set_stride_for_plane (builder, i, sample->row_strides[i]);
    }
  sample->texture = gdk_memory_texture_builder_build (builder);
  gdk_color_state_unref (state);
}

static void
sample_clear (Sample *sample)
{
  g_object_unref (sample->texture);
  g_bytes_unref (sample->bytes);
}

static MtlStridedView *
check_plane (const Sample *sample,
             guint         plane)
{
  static const MtlDType dtypes[][5] = {
    { 0, MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, 0, MTL_DTYPE_UINT32 },
    { 0, 0, MTL_DTYPE_FLOAT16, 0, MTL_DTYPE_FLOAT32 },
  };
  const Named *named = &sample->named;
  const gint64 n_channels = strlen (named->planes[plane].channels);
  const guint8 *data = g_bytes_get_data (sample->bytes, NULL);
  const gint64 height = gdk_texture_get_height (sample->texture);
  const gint64 width = gdk_texture_get_width (sample->texture);
  g_autoptr (GError) error = NULL;
  g_autofree gint64 *strides = NULL;
  const gint64 *shape;
  MtlStridedView *view;
  gsize n_dims;

  view = mtl_gtk_view_from_texture_plane (sample->texture, plane, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_get_data (view) == data + sample->offsets[plane]);
  g_assert_true (mtl_strided_view_is_read_only (view));
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==,
                   dtypes[named->is_float][named->item_size]);

  shape = mtl_strided_view_get_shape (view, &n_dims);
  g_assert_cmpuint (n_dims, ==, n_channels > 1 || named->is_pixels ? 3 : 2);
  g_assert_cmpint (shape[0], ==, height / named->planes[plane].block_height);
  g_assert_cmpint (shape[1], ==, width / named->planes[plane].block_width);
  if (n_dims == 3)
    g_assert_cmpint (shape[2], ==, n_channels);

  strides =
    mtl_strided_layout_dup_byte_strides (mtl_strided_view_get_layout (view), &n_dims, &error);
  g_assert_no_error (error);
  g_assert_cmpint (strides[0], ==, sample->row_strides[plane]);
  g_assert_cmpint (strides[1], ==, MAX (n_channels, 1) * named->item_size);
  return view;
}

/* A number from 0 to 1. */
static double
get_light_of_sample (const Named    *named,
                     MtlStridedView *view,
                     gint64          row,
                     gint64          column,
                     gint64          channel)
{
  const double number = get_number_at (view, row, column, channel);

  if (named->is_float)
    return number;

  return (double) ((guint64) number >> named->shift) / ((1 << named->used_bits) - 1);
}

/* ARGB2101010 has opacity in the upper bits, blue in the lower. */
static double
get_packed_channel (GdkMemoryFormat format,
                    guint32         number,
                    char            letter)
{
  g_autofree char *name = g_enum_to_string (GDK_TYPE_MEMORY_FORMAT, format);
  const char *letters = name + strlen ("GDK_MEMORY_");
  const int place = strchr (letters, letter) - letters;

  if (letter == 'A')
    return letters[0] == 'A' ? (number >> 30) / 3.0 : 1;

  return (number >> (10 * (3 - place)) & 1023) / 1023.0;
}

static double
get_expected (const Sample          *sample,
              MtlStridedView *const *views,
              gint64                 row,
              gint64                 column,
              char                   letter)
{
  const Named *named = &sample->named;
  const gboolean is_gray = named->is_pixels && strchr (named->planes[0].channels, 'R') == NULL;

  if (named->is_packed)
    return get_packed_channel (gdk_texture_get_format (sample->texture),
                               get_number_at (views[0], row, column, 0), letter);

  for (int i = 0; i < named->n_planes; i++)
    {
      const char *channels = named->planes[i].channels;
      const char *place = strchr (channels, is_gray && letter != 'A' ? 'G' : letter);

      if (place == NULL)
        continue;

      /* Luma of both pixels of a block. */
      if (letter == 'G' && strchr (place + 1, 'G') != NULL && column % 2 == 1)
        place = strchr (place + 1, 'G');
      return get_light_of_sample (named, views[i], row / named->planes[i].block_height,
                                  column / named->planes[i].block_width, place - channels);
    }

  return 1;
}

/* GTK's own picture of the very numbers, before they become colors of sRGB. Opacity alone has no
 * colors, which GTK makes up. */
static void
check_numbers (const Sample          *sample,
               MtlStridedView *const *views)
{
  const GdkMemoryFormat format = gdk_texture_get_format (sample->texture);
  g_autofree char *name = g_enum_to_string (GDK_TYPE_MEMORY_FORMAT, format);
  const gint64 height = gdk_texture_get_height (sample->texture);
  const gint64 width = gdk_texture_get_width (sample->texture);
  const gboolean has_colors = !g_str_equal (sample->named.planes[0].channels, "A");
  g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (sample->texture);
  g_autofree float *pixels = g_new (float, 4 * width * height);

  gdk_texture_downloader_set_format (downloader, g_str_has_suffix (name, "_PREMULTIPLIED")
                                                 ? GDK_MEMORY_R32G32B32A32_FLOAT_PREMULTIPLIED
                                                 : GDK_MEMORY_R32G32B32A32_FLOAT);
  gdk_texture_downloader_set_color_state (downloader,
                                          gdk_texture_get_color_state (sample->texture));
  gdk_texture_downloader_download_into (downloader, (guchar *) pixels, 16 * width);
  for (gint64 row = 0; row < height; row++)
    for (gint64 column = 0; column < width; column++)
      for (int channel = has_colors ? 0 : 3; channel < 4; channel++)
        g_assert_cmpfloat_with_epsilon (pixels[4 * (row * width + column) + channel],
                                        get_expected (sample, views, row, column,
                                                      "RGBA"[channel]), 2e-3);
}

static void
check_download (const Sample *sample)
{
  const gsize width = gdk_texture_get_width (sample->texture);
  const gsize size = 4 * sizeof (float) * width * gdk_texture_get_height (sample->texture);
  g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (sample->texture);
  g_autofree guchar *expected = g_malloc (size);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;

  view = mtl_gtk_download_texture (sample->texture, MTL_DTYPE_FLOAT32, MTL_GTK_CHANNELS_RGBA, 0,
                                   NULL, &error);
  g_assert_no_error (error);
  gdk_texture_downloader_set_format (downloader, GDK_MEMORY_R32G32B32A32_FLOAT);
  gdk_texture_downloader_download_into (downloader, expected, 16 * width);
  g_assert_cmpmem (mtl_strided_view_get_data (view), size, expected, size);
}

static void
assert_same_view (GdkTexture     *texture,
                  MtlStridedView *plane)
{
  g_autoptr (MtlStridedView) view = get_texture_view (texture);

  g_assert_true (mtl_strided_view_get_data (view) == mtl_strided_view_get_data (plane));
  g_assert_true (mtl_strided_view_array_equal (view, plane, MTL_COMPARE_FLAGS_NONE, NULL, NULL));
}

static void
check_sample (GdkMemoryFormat format)
{
  MtlStridedView *views[MAX_PLANES] = { NULL };
  Sample sample = { .named = read_name (format) };

  sample_init (&sample, format);
  for (int i = 0; i < sample.named.n_planes; i++)
    views[i] = check_plane (&sample, i);
  check_numbers (&sample, views);
  check_download (&sample);
  assert_fails (mtl_gtk_view_from_texture_plane (sample.texture, sample.named.n_planes, &error),
                MTL_ERROR_OUT_OF_BOUNDS, "");
  if (sample.named.is_pixels)
    assert_same_view (sample.texture, views[0]);
  else
    assert_fails (mtl_gtk_view_from_texture (sample.texture, &error), MTL_ERROR_NOT_SUPPORTED, "");

  /* The views keep the memory. */
  sample_clear (&sample);
  for (int i = 0; i < sample.named.n_planes; i++)
    {
      get_number_at (views[i], 0, 0, 0);
      g_object_unref (views[i]);
    }
}

static void
test_drawn (void)
{
  for (int i = 0; i < 20; i++)
    for (GdkMemoryFormat format = 0; format < GDK_MEMORY_N_FORMATS; format++)
      check_sample (format);
}

#endif

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/TexturePlanes/all-formats", test_all_formats);
  g_test_add_func ("/TexturePlanes/own-textures", test_own_textures);
  g_test_add_func ("/TexturePlanes/pixels", test_pixels);
#if GTK_CHECK_VERSION (4, 20, 0)
  g_test_add_func ("/TexturePlanes/drawn", test_drawn);
#endif

  return g_test_run ();
}
