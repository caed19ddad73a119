/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

#define TOOL_MAX_DIMS 64

/* The difference between the elements of two tensors of the same shape. A NaN equals a
 * NaN. */
typedef struct
{
  guint64 n_elements;
  guint64 n_different;  /* elements that differ by more than the tolerance */
  guint64 n_nan;        /* those with NaN in one tensor only */
  gboolean is_known;    /* there are numbers in both, so the following is known */
  double greatest;      /* difference of all numbers */
  gint64 index[TOOL_MAX_DIMS]; /* its place */
} ToolDifference;

/* The part of the first file that is compared. */
typedef struct
{
  ToolProgress progress;
  guint64 n_done; /* bytes */
  guint64 n_all;
} ToolSteps;

gboolean tool_compare_views (MtlStridedView  *a,
                             MtlStridedView  *b,
                             double           rtol,
                             double           atol,
                             ToolSteps       *steps,
                             ToolDifference  *difference,
                             GError         **error);

/* Tensors of the same name. */
typedef struct
{
  char *name;
  MtlTensorFileEntry *a;
  MtlTensorFileEntry *b;
} ToolPair;

void     tool_pair_free     (ToolPair        *self);

/* The names in either file alone, and the tensors in both, in their natural order. */
typedef struct
{
  GPtrArray *only_a; /* char * */
  GPtrArray *only_b;
  GPtrArray *pairs;  /* ToolPair */
} ToolPairs;

gboolean tool_pairs_init    (ToolPairs       *self,
                             MtlTensorFile   *a,
                             MtlTensorFile   *b,
                             char           **patterns);
void     tool_pairs_clear   (ToolPairs       *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ToolPairs, tool_pairs_clear)

/* One pair of tensors. */
typedef struct
{
  const ToolPair *pair;
  gboolean dtype_differs;
  gboolean shape_differs;
  gboolean is_compared; /* the values are in the difference */
  MtlStridedView *a;
  MtlStridedView *b;
  ToolDifference difference;
} ToolComparison;

void     tool_comparison_clear      (ToolComparison       *self);
void     tool_comparison_print      (const ToolComparison *self);
void     tool_comparison_print_json (const ToolComparison *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ToolComparison, tool_comparison_clear)

G_END_DECLS
