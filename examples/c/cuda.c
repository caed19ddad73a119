/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cuda [OUT.png]: crops a picture in the memory of an NVIDIA GPU, converts it to bytes there, and
 * makes a texture of GTK from it. */

#include <mtldl-gtk/mtldl-gtk.h>

/* Fills the last axis of a part of the picture with numbers from 0 to 1. */
static gboolean
draw (MtlStridedView  *picture,
      const char      *slice,
      int              n,
      GError         **error)
{
  g_autoptr (MtlStridedView) part = mtl_strided_view_slice_string (picture, slice, error);
  g_autoptr (MtlStridedView) ramp = NULL;

  if (part == NULL)
    return FALSE;

  ramp = mtl_strided_view_new_arange (mtl_strided_view_get_device (picture), MTL_DTYPE_FLOAT32, 0,
                                      1, 1.0 / n, MTL_STORAGE_MODE_DEFAULT, error);
  return ramp != NULL && mtl_strided_view_copy_from (part, ramp, NULL, error);
}

static GdkTexture *
make_texture (GError **error)
{
  MtlDevice *gpu = mtl_device_get (MTL_DEVICE_TYPE_CUDA, 0, error);
  const gint64 shape[] = { 480, 640, 3 };
  const gint64 crop_shape[] = { 240, 320, 3 };
  g_autoptr (MtlStridedView) picture = NULL;
  g_autoptr (MtlStridedView) reversed = NULL;
  g_autoptr (MtlStridedView) crop = NULL;
  g_autoptr (MtlStridedView) pixels = NULL;

  if (gpu == NULL)
    return NULL;

  picture = mtl_strided_view_new_zeros (gpu, MTL_DTYPE_FLOAT32, shape, 3,
                                        MTL_STORAGE_MODE_DEFAULT, error);
  if (picture == NULL)
    return NULL;

  /* Red grows to the right and green downwards, which is the last axis of [3, width, height]. */
  reversed = mtl_strided_view_transpose (picture);
  if (!draw (picture, "..., 0", 640, error) || !draw (reversed, "1", 480, error))
    return NULL;

  /* By the GPU, into memory that the host reaches: GTK's texture is over that memory. */
  crop = mtl_strided_view_slice_string (picture, "120:360, 160:480", error);
  if (crop == NULL)
    return NULL;
  pixels = mtl_strided_view_new_uninitialized (gpu, MTL_DTYPE_UINT8, crop_shape, 3,
                                               MTL_STORAGE_MODE_SHARED, error);
  if (pixels == NULL || !mtl_strided_view_copy_scaled_from (pixels, crop, 255, 0, NULL, error))
    return NULL;

  return mtl_gtk_texture_from_view (pixels, MTL_GTK_CHANNELS_AUTO, MTL_GTK_TEXTURE_FLAGS_NONE,
                                    error);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GdkTexture) texture = make_texture (&error);

  if (texture == NULL)
    {
      g_printerr ("cuda: %s\n", error->message);
      return 1;
    }

  g_print ("%d x %d pixels\n", gdk_texture_get_width (texture), gdk_texture_get_height (texture));
  return argc < 2 || gdk_texture_save_to_png (texture, argv[1]) ? 0 : 1;
}
