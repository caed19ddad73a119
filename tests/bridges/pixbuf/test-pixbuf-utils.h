/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl-pixbuf/mtldl-pixbuf.h>

#include <sys/mman.h>

#include "test-utils.h"

static inline MtlStridedView *
get_view (GdkPixbuf *pixbuf)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_pixbuf_view_from_pixbuf (pixbuf, &error);

  g_assert_no_error (error);
  g_assert_true (MTL_IS_STRIDED_VIEW (view));
  return view;
}

static inline GdkPixbuf *
get_picture (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  GdkPixbuf *pixbuf = mtl_pixbuf_pixbuf_from_view (view, &error);

  g_assert_no_error (error);
  g_assert_true (GDK_IS_PIXBUF (pixbuf));
  return pixbuf;
}

/* All of the picture, by GdkPixbuf's own rule for where a sample lies. */
static inline void
assert_same_samples (GdkPixbuf      *pixbuf,
                     MtlStridedView *view)
{
  const guint8 *pixels = gdk_pixbuf_read_pixels (pixbuf);
  int n_channels = gdk_pixbuf_get_n_channels (pixbuf);

  for (int row = 0; row < gdk_pixbuf_get_height (pixbuf); row++)
    for (int column = 0; column < gdk_pixbuf_get_width (pixbuf); column++)
      for (int channel = 0; channel < n_channels; channel++)
        g_assert_cmpint (get_number_at (view, row, column, channel), ==,
                         pixels[row * gdk_pixbuf_get_rowstride (pixbuf) + column * n_channels
                                + channel]);
}

#define HUGE_SIZE ((gsize) 5 << 30)

/* Addresses without memory behind them, until the first write there. */
static inline gpointer
huge_new (void)
{
  gpointer data = mmap (NULL, HUGE_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  g_assert_true (data != MAP_FAILED);
  return data;
}
