/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

typedef struct
{
  char *from;
  char *to;
} ToolRename;

gboolean tool_rename_init  (ToolRename       *self,
                            const char       *rule);
void     tool_rename_clear (ToolRename       *self);
char    *tool_rename_apply (const ToolRename *self,
                            const char       *name);

G_END_DECLS
