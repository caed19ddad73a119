/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-plan-private.h"

G_BEGIN_DECLS

/* Shared by the files that make plans. */

#define MTL_COPY_LINE 64

static inline gsize
mtl_copy_multiply_up_to_max (gsize a,
                             gsize b)
{
  gsize product;

  return __builtin_mul_overflow (a, b, &product) ? G_MAXSIZE : product;
}

static inline gsize
mtl_copy_divide_up (gsize a,
                    gsize b)
{
  return (a - 1) / b + 1;
}

static inline gboolean
mtl_copy_is_power_up_to (gsize size,
                         gsize most)
{
  return size <= most && (size & (size - 1)) == 0;
}

static inline const MtlAxis *
mtl_copy_get_last (const MtlCopyPlan *plan)
{
  return &plan->axes[plan->n_axes - 1];
}

static inline gsize
mtl_copy_get_source_distance (const MtlAxis *axis)
{
  return mtl_magnitude (axis->source_step);
}

/* The processor knows where so few pages are, that each takes as much room as several lines. */
#define MTL_COPY_PAGE 4096
#define MTL_COPY_LINES_OF_PAGE 8

/* The lines of the source that are visited along an axis. */
static inline gsize
mtl_copy_count_lines (const MtlAxis *axis)
{
  gsize step = mtl_copy_get_source_distance (axis);

  if (step >= MTL_COPY_PAGE)
    return axis->extent * MTL_COPY_LINES_OF_PAGE;

  return step >= MTL_COPY_LINE ? axis->extent : 1 + (axis->extent - 1) * step / MTL_COPY_LINE;
}

/* A conversion to fewer bytes reads more than it writes. */
static inline gboolean
mtl_copy_narrows (const MtlCopyPlan *plan)
{
  return plan->source_size >= 2 * plan->item_size;
}

/* Picoseconds of an element of 1, 2, 4 or 8 bytes in vectors, and of one that is converted. */
static inline guint64
mtl_copy_get_vector_cost (gsize size)
{
  static const guint16 costs[] = { 40, 60, 100, 200 };

  return costs[__builtin_ctz (size)];
}

static inline guint64
mtl_copy_get_converted_cost (const MtlCopyPlan *plan)
{
  return plan->converts_at_once ? 60 : 150;
}

/* The least costs of boxes and of tiles, in picoseconds. */
#define MTL_COPY_BOXES_COST 80000
#define MTL_COPY_TILES_COST 30000

/* In mtl-copy-plan-boxes.c: costs in picoseconds of all elements, or G_MAXUINT64 if the
 * layout is not for boxes or tiles; and the plan for them. */
guint64 mtl_copy_get_boxes_cost (const MtlCopyPlan *plan);
guint64 mtl_copy_get_tiles_cost (const MtlCopyPlan *plan);
void    mtl_copy_arrange_boxes  (MtlCopyPlan       *plan);
void    mtl_copy_arrange_tiles  (MtlCopyPlan       *plan);

/* In mtl-copy-ways.c: chooses the cheapest way, and arranges the plan for it. */
void    mtl_copy_choose_way     (MtlCopyPlan          *plan,
                                 const MtlCopyMachine *machine);

/* All ways with their costs, one a line. */
void    mtl_copy_describe_ways  (const MtlCopyPlan    *plan,
                                 GString              *text);

G_END_DECLS
