/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

/* An address begins so where a file could be. */
#define TOOL_BUS_PREFIX "dbus:"

/* The session bus; NULL after an error that it prints. */
GDBusConnection *tool_connect_to_bus (void);

/* Lists the tensors that the owner of a name exports. */
int              tool_ls_bus         (const char  *name,
                                      char       **patterns,
                                      gboolean     only_names);

G_END_DECLS
