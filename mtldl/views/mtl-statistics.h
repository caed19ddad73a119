/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include <glib-object.h>

#include "mtl-dtype.h"
#include "mtl-version-macros.h"

G_BEGIN_DECLS

#define MTL_TYPE_STATISTICS (mtl_statistics_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlStatistics, mtl_statistics, MTL, STATISTICS, GObject)

MTL_AVAILABLE_IN_1_0
MtlDType mtl_statistics_get_dtype          (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
guint64  mtl_statistics_get_count          (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
guint64  mtl_statistics_get_n_nans         (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
guint64  mtl_statistics_get_n_infinities   (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
guint64  mtl_statistics_get_n_zeros        (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
double   mtl_statistics_get_minimum        (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
double   mtl_statistics_get_maximum        (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
gint64   mtl_statistics_get_minimum_int64  (MtlStatistics  *self,
                                            GError        **error);
MTL_AVAILABLE_IN_1_0
gint64   mtl_statistics_get_maximum_int64  (MtlStatistics  *self,
                                            GError        **error);
MTL_AVAILABLE_IN_1_0
guint64  mtl_statistics_get_minimum_uint64 (MtlStatistics  *self,
                                            GError        **error);
MTL_AVAILABLE_IN_1_0
guint64  mtl_statistics_get_maximum_uint64 (MtlStatistics  *self,
                                            GError        **error);
MTL_AVAILABLE_IN_1_0
char    *mtl_statistics_format_minimum     (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
char    *mtl_statistics_format_maximum     (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
double   mtl_statistics_get_mean           (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
void     mtl_statistics_get_complex_mean   (MtlStatistics *self,
                                            double        *re,
                                            double        *im);
MTL_AVAILABLE_IN_1_0
double   mtl_statistics_get_deviation      (MtlStatistics  *self);
MTL_AVAILABLE_IN_1_0
char    *mtl_statistics_to_string          (MtlStatistics  *self);

G_END_DECLS
