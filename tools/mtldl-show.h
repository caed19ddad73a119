/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

gboolean tool_print_stats     (MtlStridedView  *view,
                               GError         **error);
gboolean tool_print_view_json (MtlStridedView  *view,
                               const char      *name,
                               GError         **error);

G_END_DECLS
