/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

MtlStatistics *tool_find_statistics  (MtlStridedView  *view,
                                      GError         **error);
gboolean       tool_print_stats      (MtlStridedView  *view,
                                      GError         **error);
void           tool_print_stats_json (MtlStatistics   *statistics,
                                      MtlStridedView  *view,
                                      const char      *name);
gboolean       tool_print_all_stats  (MtlTensorFile   *file,
                                      const char      *path,
                                      const char      *pattern,
                                      gboolean         json);
gboolean       tool_print_view_json  (MtlStridedView  *view,
                                      const char      *name,
                                      GError         **error);

/* The parts of the JSON text. */
void           tool_print_json_head    (MtlStridedView  *view,
                                        const char      *name);
void           tool_print_json_float   (double           value,
                                        gboolean         is_short);
gboolean       tool_print_json_element (MtlStridedView  *view,
                                        const gint64    *indices,
                                        gsize            n_dims,
                                        GError         **error);

G_END_DECLS
