/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

#define TOOL_MAX_COLUMNS 8

/* A column before that of the names. */
typedef struct
{
  const char *title;
  gboolean is_number; /* aligned to the right */
  guint rank;         /* a narrow terminal leaves out the lowest first */
} ToolColumn;

typedef struct
{
  char *cells[TOOL_MAX_COLUMNS];
  char *name;         /* escaped */
  gboolean is_dimmed;
} ToolTableRow;

typedef struct
{
  const ToolColumn *columns;
  guint n_columns;
  GPtrArray *rows;
} ToolTable;

void          tool_table_init  (ToolTable        *self,
                                const ToolColumn *columns,
                                guint             n_columns);
void          tool_table_clear (ToolTable        *self);
ToolTableRow *tool_table_add   (ToolTable        *self,
                                const char       *name);
void          tool_table_print (const ToolTable  *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ToolTable, tool_table_clear)

G_END_DECLS
