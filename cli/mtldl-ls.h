/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

/* A line of the list: one tensor, or several whose names differ only in numbers. */
typedef struct
{
  MtlTensorFileEntry *entry; /* the first of them, owned by the file's list */
  char *name;                /* escaped */
  gsize n_tensors;
} ToolRow;

void       tool_row_free           (ToolRow        *self);

GPtrArray *tool_fold               (MtlTensorFile  *file,
                                    GPtrArray      *entries);
guint64    tool_get_alignment      (guint64         offset);
void       tool_print_json         (MtlTensorFile  *file,
                                    GPtrArray      *entries,
                                    const char     *path);
void       tool_print_json_error   (const char     *path,
                                    const char     *error);

/* The tensors of one element type. */
typedef struct
{
  MtlDType dtype;
  gsize n_tensors;
  guint64 n_bytes;
} ToolTotal;

/* Sorted by size, largest first; those that cannot be loaded are counted apart. */
GArray    *tool_count_totals       (GPtrArray      *entries,
                                    ToolTotal      *refused);

G_END_DECLS
