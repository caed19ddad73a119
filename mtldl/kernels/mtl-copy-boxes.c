/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-block-private.h"

/* Elements of any layout, in boxes: some of the axes next to each other in the
 * destination, and of that along which the source moves least as much as a line. The
 * units of a box are found by a table of their offsets, which is the same for all
 * boxes, so that it makes no difference over how many axes they spread. They are
 * gathered and converted within the L1 cache. */

/* Offsets of the rows of a box, of one unit each if there are no rows along the last axis. The
 * extents are those of the inner axes. */
typedef struct
{
  gsize extents[MTL_COPY_BOX_AXES];
  gint32 source[MTL_COPY_BOX_UNITS];
  gint32 dest[MTL_COPY_BOX_UNITS]; /* unless they are dense */
} Table;

/* The memory that boxes need. Buffers that are not needed are NULL. */
typedef struct
{
  const MtlCopyPlan *plan;
  const Table *whole;
  Table *edge; /* the table of smaller boxes */
  guint8 *gathered;
  guint8 *converted;
  Sink *sink;
} Workspace;

/* --- Tables */

static void
fill_table (Table             *self,
            const MtlCopyPlan *plan,
            const gsize       *extents)
{
  gssize source_steps[MTL_COPY_BOX_AXES], dest_steps[MTL_COPY_BOX_AXES];
  guint first = plan->has_rows ? 1 : 0, n = plan->n_inner - first;

  for (guint i = 0; i < plan->n_inner; i++)
    {
      self->extents[i] = extents[i];
      source_steps[i] = plan->axes[plan->inner[i]].source_step;
      dest_steps[i] = plan->axes[plan->inner[i]].dest_step;
    }
  mtl_fill_offsets (self->source, extents + first, source_steps + first, n);
  if (!plan->is_dense)
    mtl_fill_offsets (self->dest, extents + first, dest_steps + first, n);
}

/* --- Units */

/* Rows of units that are equally far apart, four at a time, since compilers do not do
 * that. */
#define COPY_ROWS(copy) \
  { \
    for (gsize row = 0; row < rows->n_rows; row++) \
      { \
        guint8 *dest = rows->dest + get_row_place (rows, rows->dest_offsets, row); \
        const guint8 *source = rows->source + get_row_place (rows, rows->source_offsets, row); \
        gsize n = rows->n; \
\
        for (; n >= 4; n -= 4) \
          { \
            copy (dest, source); \
            copy (dest + dest_step, source + source_step); \
            copy (dest + 2 * dest_step, source + 2 * source_step); \
            copy (dest + three_dest_steps, source + three_source_steps); \
            dest += 4 * dest_step; \
            source += 4 * source_step; \
          } \
        for (; n > 0; n--, dest += dest_step, source += source_step) \
          copy (dest, source); \
      } \
    return; \
  }

#define COPY_1(to, from) memcpy (to, from, 1)
#define COPY_2(to, from) memcpy (to, from, 2)
#define COPY_4(to, from) memcpy (to, from, 4)
#define COPY_8(to, from) memcpy (to, from, 8)
#define COPY_16(to, from) memcpy (to, from, 16)
#define COPY_SIZE(to, from) memcpy (to, from, size)

/* The second half may overlap the first. */
#define COPY_HALVES(to, from, half) \
  { \
    guint8 low_[half], high_[half]; \
\
    memcpy (low_, from, half); \
    memcpy (high_, (from) + size - (half), half); \
    memcpy (to, low_, half); \
    memcpy ((to) + size - (half), high_, half); \
  }
#define COPY_UP_TO_4(to, from) COPY_HALVES (to, from, 2)
#define COPY_UP_TO_8(to, from) COPY_HALVES (to, from, 4)
#define COPY_UP_TO_16(to, from) COPY_HALVES (to, from, 8)
#define COPY_UP_TO_32(to, from) COPY_HALVES (to, from, 16)
#define COPY_UP_TO_64(to, from) COPY_HALVES (to, from, 32)
#define COPY_UP_TO_128(to, from) COPY_HALVES (to, from, 64)

/* Calls a loop for units of a size. */
#define FOR_SIZE(LOOP) \
  switch (size) \
    { \
    case 1: LOOP (COPY_1) \
    case 2: LOOP (COPY_2) \
    case 4: LOOP (COPY_4) \
    case 8: LOOP (COPY_8) \
    case 16: LOOP (COPY_16) \
    default: break; \
    } \
\
  if (size < 4) \
    LOOP (COPY_UP_TO_4) \
  else if (size < 8) \
    LOOP (COPY_UP_TO_8) \
  else if (size < 16) \
    LOOP (COPY_UP_TO_16) \
  else if (size <= 32) \
    LOOP (COPY_UP_TO_32) \
  else if (size <= 64) \
    LOOP (COPY_UP_TO_64) \
  else if (size <= 128) \
    LOOP (COPY_UP_TO_128) \
  else \
    LOOP (COPY_SIZE)

/* The rows of a box, of n units each. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  const gint32 *dest_offsets; /* NULL: one after the other */
  const gint32 *source_offsets;
  gsize n_rows;
  gsize n;
  gssize dest_step;
  gssize source_step;
  gsize size; /* that of a row in a buffer */
} Rows;

MTL_INLINE gssize
get_row_place (const Rows   *rows,
               const gint32 *offsets,
               gsize         row)
{
  return offsets != NULL ? offsets[row] : (gssize) (row * rows->size);
}

static void
copy_rows (const Rows *rows,
           gsize       size)
{
  gssize dest_step = rows->dest_step, three_dest_steps = 3 * dest_step;
  gssize source_step = rows->source_step, three_source_steps = 3 * source_step;

  FOR_SIZE (COPY_ROWS)
}

#if MTL_COPY_WIDTH > 0

/* Rows of at least as many bytes, of which the kernel for every nth unit is worth a call. */
#define LEAST_NTH_ROW 512

static void
pack_every_nth (const Rows *rows,
                int         n,
                gsize       size)
{
  gssize ahead = mtl_choose_ahead_within (rows->n * (gsize) rows->source_step);

  for (gsize i = 0; i < rows->n_rows; i++)
    MTL_KERNEL (gather) (rows->dest + get_row_place (rows, rows->dest_offsets, i),
                         rows->source + rows->source_offsets[i], rows->n, n, size, ahead, FALSE);
}

#endif

#define UNROLL_4 _Pragma ("GCC unroll 4")

#define GATHER(copy) \
  { \
    UNROLL_4 \
    for (gsize i = 0; i < n; i++) \
      copy (dest + i * size, source + offsets[i]); \
    return; \
  }

/* Units that are contiguous in the destination. Out of line, this takes half as long again. */
MTL_INLINE void
gather (guint8       *restrict dest,
        const guint8 *restrict source,
        const gint32 *restrict offsets,
        gsize                  n,
        gsize                  size)
{
  FOR_SIZE (GATHER)
}

#define SCATTER(copy) \
  { \
    UNROLL_4 \
    for (gsize i = 0; i < n; i++) \
      copy (dest + offsets[i * run], source + i * size); \
    return; \
  }

/* The reverse: n runs of `run` units. */
static void
scatter (guint8       *restrict dest,
         const gint32 *restrict offsets,
         const guint8 *restrict source,
         gsize                  n,
         gsize                  run,
         gsize                  size)
{
  FOR_SIZE (SCATTER)
}

#define MOVE(copy) \
  { \
    UNROLL_4 \
    for (gsize i = 0; i < n; i++) \
      copy (dest + dest_offsets[i], source + source_offsets[i]); \
    return; \
  }

/* Units from anywhere to anywhere. */
static void
move_units (guint8       *restrict dest,
            const gint32 *restrict dest_offsets,
            const guint8 *restrict source,
            const gint32 *restrict source_offsets,
            gsize                  n,
            gsize                  size)
{
  FOR_SIZE (MOVE)
}

/* --- Boxes */

/* Finds the offsets of the rows of a box, and how many there are. Along the last of its
 * axes, a smaller box has the first ones of a larger. */
static const Table *
find_table (const Workspace *self,
            const Place     *place,
            gsize           *n_rows)
{
  const MtlCopyPlan *plan = place->plan;
  gsize extents[MTL_COPY_BOX_AXES], n = 1;
  gboolean is_whole = TRUE, is_edge = TRUE;

  for (guint i = 0; i < plan->n_inner; i++)
    {
      gboolean is_last = i == plan->n_inner - 1;

      extents[i] = mtl_place_get_extent (place, plan->inner[i]);
      if (i == 0 && plan->has_rows)
        continue; /* does not matter */

      n *= extents[i];
      is_whole = is_whole && (is_last || extents[i] == plan->parts[plan->inner[i]]);
      is_edge = is_edge && (is_last ? extents[i] <= self->edge->extents[i]
                                    : extents[i] == self->edge->extents[i]);
    }
  *n_rows = n;
  if (is_whole)
    return self->whole;

  if (!is_edge)
    fill_table (self->edge, plan, extents);
  return self->edge;
}

/* The rows of a box, and where they are. */
typedef struct
{
  const Place *place;
  guint8 *dest; /* that of the place, until it goes on to a repetition */
  const Table *table;
  gsize n_rows;
  gsize n_units;
  gsize row; /* units of one */
  gssize dest_step; /* bytes from one unit of a row to the next */
  gssize source_step;
} Box;

MTL_INLINE void
find_box (Box             *self,
          const Workspace *work,
          const Place     *place)
{
  const MtlCopyPlan *plan = place->plan;

  self->place = place;
  self->dest = place->dest;
  self->table = find_table (work, place, &self->n_rows);
  self->row = 1;
  self->dest_step = self->source_step = 0;
  if (plan->has_rows)
    {
      guint last = plan->n_axes - 1;

      self->row = mtl_place_get_extent (place, last);
      self->dest_step = plan->axes[last].dest_step;
      self->source_step = plan->axes[last].source_step;
    }
  self->n_units = self->n_rows * self->row;
}

/* Rows that are contiguous in what they are written to, at these offsets, or one after
 * the other if there are none. */
static void
pack_rows (const Box    *box,
           guint8       *to,
           const gint32 *offsets,
           gsize         size)
{
  const Rows rows = { to, box->place->source, offsets, box->table->source, box->n_rows, box->row,
                      size, box->source_step, box->row * size };

#if MTL_COPY_WIDTH > 0
  int n = mtl_copy_get_nth (size, rows.source_step);

  if (n > 0 && rows.n * (gsize) rows.source_step >= LEAST_NTH_ROW)
    {
      pack_every_nth (&rows, n, size);
      return;
    }
#endif
  copy_rows (&rows, size);
}

/* Gathers to a buffer, or to a destination that is one run. */
static void
gather_box (const Box *self,
            guint8    *to,
            gsize      size)
{
  if (self->row == 1)
    gather (to, self->place->source, self->table->source, self->n_rows, size);
  else
    pack_rows (self, to, NULL, size);
}

static void
scatter_box (const Box    *self,
             const guint8 *from,
             gsize         size)
{
  if (self->row == 1)
    scatter (self->dest, self->table->dest, from, self->n_rows, 1, size);
  else
    copy_rows (&(const Rows) { self->dest, from, self->table->dest, NULL, self->n_rows, self->row,
                               self->dest_step, size, self->row * size }, size);
}

/* Without a buffer between. */
static void
move_rows (const Box *self,
           gsize      size)
{
  const guint8 *source = self->place->source;
  const Table *table = self->table;

  if (self->row == 1)
    move_units (self->dest, table->dest, source, table->source, self->n_rows, size);
  else if (self->dest_step == (gssize) size)
    pack_rows (self, self->dest, table->dest, size);
  else
    copy_rows (&(const Rows) { self->dest, source, table->dest, table->source, self->n_rows,
                               self->row, self->dest_step, self->source_step, 0 }, size);
}

/* Units in a run of the destination. */
static gsize
get_run (const MtlCopyPlan *plan,
         const Place       *place)
{
  gsize run = 1;

  for (guint i = 0; i < plan->n_run; i++)
    run *= mtl_place_get_extent (place, plan->run[i]);

  return run;
}

/* Writes units that are contiguous in the buffer. */
static void
put_box (const Box    *self,
         const guint8 *from)
{
  const MtlCopyPlan *plan = self->place->plan;
  gsize unit_size = plan->unit * plan->item_size;
  gsize run = get_run (plan, self->place);
  gsize n_rows = MAX (run / self->row, 1); /* in a run, if it has any */
  guint8 *dest = self->dest;

  if (plan->is_dense && plan->streams)
    mtl_stream_row (dest, from, self->n_units * unit_size);
  else if (plan->is_dense)
    MTL_KERNEL (copy_bytes) (dest, from, self->n_units * unit_size);
  else if (run == 1)
    scatter_box (self, from, unit_size);
  else if (plan->streams && run * unit_size >= MTL_COPY_STREAMED_RUN)
    for (gsize i = 0; i < self->n_units / run; i++)
      mtl_stream_row (dest + self->table->dest[i * n_rows], from + i * run * unit_size,
                      run * unit_size);
  else
    scatter (dest, self->table->dest, from, self->n_units / run, n_rows, run * unit_size);
}

static void
copy_box (const Box       *self,
          const Workspace *work,
          guint8          *dest)
{
  const MtlCopyPlan *plan = self->place->plan;
  gsize size = plan->unit_source_size;
  guint8 *to = dest != NULL ? dest : work->gathered;

  if (dest == NULL && !plan->streams)
    {
      move_rows (self, size);
      return;
    }

  gather_box (self, to, size);
  if (dest == NULL)
    put_box (self, to);
}

/* Checks if the elements of a box are contiguous in the source, in their order. */
static gboolean
is_source_run (const Box *self)
{
  return self->n_rows == 1
         && self->source_step == (gssize) self->place->plan->unit_source_size;
}

static void
convert_box (const Box       *self,
             const Workspace *work,
             guint8          *dest)
{
  const MtlCopyPlan *plan = self->place->plan;
  gsize n = self->n_units * plan->unit;
  const guint8 *from = self->place->source;

  if (!is_source_run (self))
    {
      from = work->gathered;
      gather_box (self, work->gathered, plan->unit_source_size);
    }

  mtl_convert_items (plan, dest != NULL ? dest : work->converted, from, n);
  if (dest == NULL)
    put_box (self, work->converted);
}

/* Gathers and converts units once, and writes them as often as the source is repeated. */
static void __attribute__ ((noinline))
repeat_box (const Box       *self,
            const Workspace *work)
{
  const MtlCopyPlan *plan = work->plan;
  gsize n = self->n_units * plan->unit;
  gsize repeats = mtl_place_get_extent (self->place, plan->repeat_axis);
  const guint8 *from = work->gathered;
  Box box = *self;

  gather_box (self, work->gathered, plan->unit_source_size);
  if (plan->convert != NULL)
    {
      mtl_convert_items (plan, work->converted, work->gathered, n);
      from = work->converted;
    }

  for (gsize i = 0; i < repeats; i++)
    {
      put_box (&box, from);
      box.dest += plan->axes[plan->repeat_axis].dest_step;
    }
}

MTL_INLINE void
move_box (const Workspace *work,
          const Place     *place)
{
  const MtlCopyPlan *plan = work->plan;
  Sink *sink = work->sink;
  guint8 *dest = NULL; /* if the box is one run, and there is no need for a buffer */
  Box box;

  find_box (&box, work, place);
  if (plan->repeat_axis >= 0)
    {
      repeat_box (&box, work);
      return;
    }

  if (sink != NULL)
    {
      mtl_sink_go_to (sink, place->dest);
      dest = sink->buffer + sink->fill;
    }
  else if (plan->is_dense && !plan->streams)
    dest = place->dest;

  if (plan->convert != NULL)
    convert_box (&box, work, dest);
  else
    copy_box (&box, work, dest);

  if (sink != NULL)
    mtl_sink_take (sink, box.n_units * plan->unit * plan->item_size,
                   (gpointer) ((guintptr) place->source + MTL_SINK_AHEAD), plan->line_ahead);
}

static void
move_boxes (const Workspace *work,
            gsize            first,
            gsize            n)
{
  Place place;

  mtl_place_go_to (&place, work->plan, first);
  for (gsize i = 0; i < n; i++)
    {
      move_box (work, &place);
      mtl_place_go_on (&place, 1);
    }
}

/* The buffers have a frame of their own, since small copies are faster without. */
static void __attribute__ ((noinline))
move_through_buffers (Workspace *work,
                      gsize      first,
                      gsize      n)
{
  const MtlCopyPlan *plan = work->plan;
  guint8 gathered[MTL_COPY_BOX_BYTES + MTL_LINE] MTL_ALIGNED;
  guint8 converted[MTL_COPY_BOX_BYTES + MTL_LINE] MTL_ALIGNED;
  Sink sink;

  work->gathered = gathered;
  work->converted = converted;
  if (plan->streams && plan->is_dense && plan->repeat_axis < 0)
    {
      work->sink = &sink;
      mtl_sink_open (&sink, plan->dest);
    }
  move_boxes (work, first, n);
  if (work->sink != NULL)
    mtl_sink_close (&sink);
}

void
MTL_KERNEL (boxes) (const MtlCopyPlan *plan,
                    gsize              first,
                    gsize              n)
{
  gsize parts[MTL_COPY_BOX_AXES];
  Table whole, edge;
  Workspace work = { .plan = plan, .whole = &whole, .edge = &edge };

  for (guint i = 0; i < plan->n_inner; i++)
    parts[i] = plan->parts[plan->inner[i]];
  fill_table (&whole, plan, parts);
  memset (edge.extents, 0, sizeof edge.extents);
  if (plan->convert != NULL || plan->streams || plan->repeat_axis >= 0)
    move_through_buffers (&work, first, n);
  else
    move_boxes (&work, first, n);
}
