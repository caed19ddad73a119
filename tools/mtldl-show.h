/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

gboolean tool_print_stats      (MtlStridedView  *view,
                                GError         **error);
gboolean tool_print_stats_json (MtlStridedView  *view,
                                const char      *name,
                                GError         **error);
gboolean tool_print_view_json  (MtlStridedView  *view,
                                const char      *name,
                                GError         **error);

/* The parts of what is printed as JSON. */
void     tool_print_json_head  (MtlStridedView  *view,
                                const char      *name);
void     tool_print_json_float (double           value,
                                gboolean         is_short);

G_END_DECLS
