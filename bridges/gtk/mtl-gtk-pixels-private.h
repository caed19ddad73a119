/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-gtk-memory-format-private.h"

G_BEGIN_DECLS

MtlStridedView *mtl_gtk_pixels_new     (const MtlGtkPixel  *pixel,
                                        gint64              height,
                                        gint64              width,
                                        GError            **error);
gboolean        mtl_gtk_pixels_convert (MtlStridedView     *pixels,
                                        const MtlGtkPixel  *pixel,
                                        MtlStridedView     *source,
                                        const MtlGtkPixel  *source_pixel,
                                        GCancellable       *cancellable,
                                        GError            **error);

/* Work is done in blocks of rows: the number of rows, at least one, and some rows of a
 * view. */
gint64          mtl_gtk_rows_per_block (gint64              width);
MtlStridedView *mtl_gtk_select_rows    (MtlStridedView     *view,
                                        gint64              start,
                                        gint64              stop,
                                        GError            **error);

G_END_DECLS
