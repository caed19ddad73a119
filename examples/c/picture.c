/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* picture IN OUT [--hops]
 *
 * Loads a picture, changes it in place, and saves it as PNG. The pixels stay
 * where GdkPixbuf put them when it loaded the file: the views, the second
 * GdkPixbuf and the GdkTexture all use that memory. */

#include <mtldl-gtk/mtldl-gtk.h>
#include <mtldl-pixbuf/mtldl-pixbuf.h>

static void print_hops (GdkPixbuf *pixbuf, MtlStridedView *view);

/* Exchanges red and blue in the lower half, below a white line. */
static gboolean
change (MtlStridedView  *view,
        GError         **error)
{
  gint64 height = mtl_strided_view_get_extent (view, 0, NULL);
  g_autoptr (MtlStridedView) lower = NULL;
  g_autoptr (MtlStridedView) colors = NULL;
  g_autoptr (MtlStridedView) reversed = NULL;
  g_autoptr (MtlStridedView) line = NULL;

  /* A slice is another view of the same memory: writing to it changes the
   * picture. */
  lower = mtl_strided_view_narrow (view, 0, height / 2, height, 1, error);
  if (lower == NULL)
    return FALSE;

  /* As in Python: the first three channels of all pixels. This leaves out a
   * fourth one, the opacity. */
  colors = mtl_strided_view_slice_string (lower, "..., :3", error);
  if (colors == NULL)
    return FALSE;

  /* The same memory backwards: source and destination of the copy overlap, but
   * the result is still right. */
  reversed = mtl_strided_view_flip (colors, -1, error);
  if (reversed == NULL || !mtl_strided_view_copy_from (colors, reversed, NULL, error))
    return FALSE;

  line = mtl_strided_view_narrow (lower, 0, 0, 4, 1, error);
  return line != NULL && mtl_strided_view_fill_double (line, 255, NULL, error);
}

static gboolean
run (const char  *in,
     const char  *out,
     gboolean     show_hops,
     GError     **error)
{
  g_autoptr (GdkPixbuf) pixbuf = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GdkPixbuf) result = NULL;
  g_autoptr (GdkTexture) texture = NULL;

  pixbuf = gdk_pixbuf_new_from_file (in, error);
  if (pixbuf == NULL)
    return FALSE;

  /* A view [height, width, channels] of the picture's own pixels, which keeps
   * the picture alive. */
  view = mtl_pixbuf_view_from_pixbuf (pixbuf, error);
  if (view == NULL || !change (view, error))
    return FALSE;

  /* And back: both of these also keep the memory alive. */
  result = mtl_pixbuf_pixbuf_from_view (view, error);
  if (result == NULL)
    return FALSE;

  /* GTK assumes that the pixels do not change: do not write to them while the
   * texture may be drawn. */
  texture = mtl_gtk_texture_from_view (view, MTL_GTK_CHANNELS_AUTO, MTL_GTK_TEXTURE_FLAGS_NONE,
                                       error);
  if (texture == NULL)
    return FALSE;

  if (show_hops)
    print_hops (pixbuf, view);

  return gdk_pixbuf_save (result, out, "png", error, NULL);
}

int
main (int   argc,
      char *argv[])
{
  gboolean show_hops = argc == 4 && g_str_equal (argv[3], "--hops");
  g_autoptr (GError) error = NULL;

  if (argc != 3 && !show_hops)
    {
      g_printerr ("usage: picture IN OUT [--hops]\n");
      return 2;
    }

  if (run (argv[1], argv[2], show_hops, &error))
    return 0;

  g_printerr ("picture: %s\n", error->message);
  return 1;
}

/* The rest of this file measures the addresses and times of each hop, and the
 * times of the same hop with a copy. Everything has worked once, so errors are
 * fatal. */

static gpointer
view_of_pixbuf (gpointer pixbuf)
{
  return mtl_pixbuf_view_from_pixbuf (pixbuf, NULL);
}

static gpointer
view_of_pixbuf_copied (gpointer pixbuf)
{
  g_autoptr (GBytes) bytes = gdk_pixbuf_read_pixel_bytes (pixbuf);
  const gint64 channels = gdk_pixbuf_get_n_channels (pixbuf);
  const gint64 shape[] = { gdk_pixbuf_get_height (pixbuf), gdk_pixbuf_get_width (pixbuf),
                           channels };
  const gint64 strides[] = { gdk_pixbuf_get_rowstride (pixbuf), channels, 1 };

  return mtl_strided_view_new_from_bytes_with_byte_strides (bytes, MTL_DTYPE_UINT8, shape, 3,
                                                            strides, 3, NULL);
}

static gpointer
pixbuf_of_view (gpointer view)
{
  return mtl_pixbuf_pixbuf_from_view (view, NULL);
}

static gpointer
pixbuf_of_view_copied (gpointer view)
{
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL);

  return mtl_pixbuf_pixbuf_from_view (copy, NULL);
}

static gpointer
texture_of_view (gpointer view)
{
  return mtl_gtk_texture_from_view (view, MTL_GTK_CHANNELS_AUTO, MTL_GTK_TEXTURE_FLAGS_NONE, NULL);
}

static gpointer
texture_of_view_copied (gpointer view)
{
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, NULL);

  return texture_of_view (copy);
}

/* Returns the best of several runs, in microseconds per call. If they take long
 * there are fewer, but at least two. */
static double
measure (gpointer (* make) (gpointer source),
         gpointer    source,
         guint       n_calls)
{
  gint64 deadline = g_get_monotonic_time () + G_USEC_PER_SEC / 5;
  gint64 best = G_MAXINT64;

  for (guint i_run = 0; i_run < 15; i_run++)
    {
      gint64 start = g_get_monotonic_time ();

      if (i_run >= 2 && start > deadline)
        break;

      for (guint i = 0; i < n_calls; i++)
        g_object_unref (make (source));
      best = MIN (best, g_get_monotonic_time () - start);
    }

  return (double) best / n_calls;
}

static void
print_hop (const char *name,
           guint64     before,
           guint64     after,
           gpointer (* make) (gpointer source),
           gpointer (* make_copied) (gpointer source),
           gpointer    source)
{
  g_print ("%s\t0x%" G_GINT64_MODIFIER "x\t0x%" G_GINT64_MODIFIER "x\t%.3f\t%.3f\n",
           name, before, after,
           measure (make, source, 100), measure (make_copied, source, 10));
}

static void
print_hops (GdkPixbuf      *pixbuf,
            MtlStridedView *view)
{
  g_autoptr (MtlStridedView) hop_view = view_of_pixbuf (pixbuf);
  g_autoptr (GdkPixbuf) hop_pixbuf = pixbuf_of_view (view);
  g_autoptr (GdkTexture) hop_texture = texture_of_view (view);
  g_autoptr (MtlStridedView) shown = mtl_gtk_view_from_texture (hop_texture, NULL);
  guint64 address = mtl_strided_view_get_address (view);

  print_hop ("GdkPixbuf -> view", (guintptr) gdk_pixbuf_read_pixels (pixbuf),
             mtl_strided_view_get_address (hop_view),
             view_of_pixbuf, view_of_pixbuf_copied, pixbuf);
  print_hop ("view -> GdkPixbuf", address, (guintptr) gdk_pixbuf_read_pixels (hop_pixbuf),
             pixbuf_of_view, pixbuf_of_view_copied, view);
  print_hop ("view -> Gdk.MemoryTexture", address,
             mtl_strided_view_get_address (shown),
             texture_of_view, texture_of_view_copied, view);
}
