/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-copy-plan-private.h"

G_BEGIN_DECLS

/* Shared by the files that make plans. */

/* All costs, in picoseconds, of what is within a core's caches. */

/* A call of the kernel for a grid; a row of it, and one of more than 64 bytes or of vectors; each
 * line of that. */
#define MTL_COST_GRID 3000
#define MTL_COST_ROW 2000
#define MTL_COST_LONG_ROW 3500
#define MTL_COST_LINE 500

/* A call of a conversion, and of one of elements where they are. */
#define MTL_COST_CALL 8000
#define MTL_COST_SCATTERED_CALL 5000

/* An element: one of any size up to 16 bytes; one that remains after vectors; a pixel of three
 * bytes; eight bytes of one that is repeated, and a row of that which takes several steps. */
#define MTL_COST_ELEMENT 180
#define MTL_COST_REMAINING 400
#define MTL_COST_THREE_OF_FOUR 90
#define MTL_COST_REPEATED 30
#define MTL_COST_DOUBLED_ROW 25000

/* A conversion of an element in vectors: each byte of its larger side, and a further step; of one
 * where it is, cheaply or four at once; and what a buffer between takes in addition. */
#define MTL_COST_CONVERTED_BYTE 11
#define MTL_COST_STEP 40
#define MTL_COST_SCATTERED 250
#define MTL_COST_BY_4 380
#define MTL_COST_STAGED 30

/* A line that has left the first cache, or all of a core's own, before its next element is read;
 * and an element of a box that has a line of its own. */
#define MTL_COST_LEFT_NEAR 250
#define MTL_COST_LEFT_OWN 2500
#define MTL_COST_FAR_UNIT 90

/* A byte that is streamed, and one that is not, in large copies. */
#define MTL_COST_STREAMED_BYTE 60
#define MTL_COST_BYTE 100

/* Boxes: all of them, their buffers if they convert, a row in the table, and a box. */
#define MTL_COST_BOXES 100000
#define MTL_COST_BUFFERS 70000
#define MTL_COST_TABLE 200
#define MTL_COST_BOX 25000

/* A unit of a box: moved by the table, or in a row; one of more than 128 bytes, and each line of
 * one of more than 16. */
#define MTL_COST_UNIT 280
#define MTL_COST_ROW_UNIT 200
#define MTL_COST_LONG_UNIT 4000
#define MTL_COST_UNIT_LINE 1000

/* Tiles: all of them. */
#define MTL_COST_TILES 30000

/* An element that is apart in the source, in boxes or tiles, is not moved for less. */
#define MTL_COST_LEAST_ITEM 50

/* For the number of threads: an element that is moved by itself, and one in a row. */
#define MTL_COST_ALONE 300
#define MTL_COST_OF_ROW 60

/* An element in vectors, by the logarithm of its size, and a square of a tile, of 16 by 16
 * bytes. */
static const guint16 mtl_costs_in_vectors[] = { 40, 70, 90, 150 };
static const guint16 mtl_costs_of_squares[] = { 16000, 6000, 2200, 1100, 700 };

static inline guint64
mtl_copy_get_vector_cost (gsize size)
{
  return mtl_costs_in_vectors[__builtin_ctz (size)];
}

/* Every nth element. */
static inline guint64
mtl_copy_get_nth_cost (gsize size,
                       gsize n)
{
  return mtl_copy_get_vector_cost (size) * n / 2;
}

static inline guint64
mtl_copy_get_converted_cost (const MtlCopyPlan *plan)
{
  return MTL_COST_CONVERTED_BYTE * MAX (plan->item_size, plan->source_size)
         + (plan->converts_at_once ? 0 : MTL_COST_STEP);
}

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
#define MTL_LINES_OF_PAGE 8

/* The lines of the source that are visited along an axis. */
static inline gsize
mtl_copy_count_lines (const MtlAxis *axis)
{
  gsize step = mtl_copy_get_source_distance (axis);

  if (step >= MTL_PAGE)
    return axis->extent * MTL_LINES_OF_PAGE;

  return step >= MTL_LINE ? axis->extent : 1 + (axis->extent - 1) * step / MTL_LINE;
}

/* A conversion to fewer bytes reads more than it writes. */
static inline gboolean
mtl_copy_narrows (const MtlCopyPlan *plan)
{
  return plan->source_size >= 2 * plan->item_size;
}

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
