/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-copy-private.h"

G_BEGIN_DECLS

/* Equal bins from low to high, the last of which includes high. */
typedef struct
{
  double low;
  double high;
  gsize n_bins;
  double *edges;   /* one more than bins */
  guint64 *counts; /* numbers in each bin */
} MtlHistogram;

/* The range is finite and not empty, and there is at least one bin. Fails if there is not
 * enough memory. */
gboolean mtl_histogram_init        (MtlHistogram      *self,
                                    double             low,
                                    double             high,
                                    gsize              n_bins,
                                    GError           **error);
void     mtl_histogram_clear       (MtlHistogram      *self);

/* Adds the elements, which are real numbers with one lane. Several threads may work. */
gboolean mtl_histogram_add_strided (MtlHistogram      *self,
                                    const MtlStrided  *strided,
                                    const MtlMonitor  *monitor,
                                    GError           **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlHistogram, mtl_histogram_clear)

G_END_DECLS
