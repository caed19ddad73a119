/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-copy-private.h"

#include "mtl-convert-private.h"
#include "mtl-copy-plan-private.h"
#include "mtl-error.h"
#include "mtl-number-private.h"

/* Of one axis; that of extent 1 may be anything, and is not walked. */
static gint64
get_step (const MtlStrided *self,
          int               axis)
{
  return mtl_layout_shape (self->layout)[axis] > 1
           ? mtl_layout_strides (self->layout)[axis] * self->layout->item_bits : 0;
}

/* Both of one shape; `b` may be `a`. */
gboolean
mtl_strided_for_each_row (const MtlStrided   *a,
                          const MtlStrided   *b,
                          MtlStridedRowFunc   func,
                          gpointer            user_data)
{
  const gint64 *shape = mtl_layout_shape (a->layout);
  gint64 position[MTL_LAYOUT_MAX_AXES] = { 0 };
  int last = (int) a->layout->n_dims - 1;
  MtlStridedRow a_row, b_row;

  if (mtl_layout_is_empty (a->layout))
    return TRUE;

  a_row = (MtlStridedRow) { a->data, a->layout->offset * a->layout->item_bits, 0 };
  b_row = (MtlStridedRow) { b->data, b->layout->offset * b->layout->item_bits, 0 };
  if (last < 0)
    return func (&a_row, &b_row, 1, user_data);

  a_row.stride = get_step (a, last);
  b_row.stride = get_step (b, last);
  while (TRUE)
    {
      int axis = last - 1;

      if (!func (&a_row, &b_row, shape[last], user_data))
        return FALSE;

      /* On to the next row, as an odometer does. */
      for (; axis >= 0 && ++position[axis] == shape[axis]; axis--)
        {
          position[axis] = 0;
          a_row.bit -= (shape[axis] - 1) * get_step (a, axis);
          b_row.bit -= (shape[axis] - 1) * get_step (b, axis);
        }
      if (axis < 0)
        return TRUE;
      a_row.bit += get_step (a, axis);
      b_row.bit += get_step (b, axis);
    }
}

static guint8 *
get_first_element (const MtlStrided *self)
{
  return self->data + self->layout->offset * (self->layout->item_bits / 8);
}

/* For elements of whole bytes, of which there are some; without a source, for
 * `item` everywhere. */
static MtlCopyRequest
get_request (const MtlStrided *dest,
             const MtlStrided *source,
             gconstpointer     item)
{
  MtlCopyRequest request = {
    .n_dims = dest->layout->n_dims,
    .shape = mtl_layout_shape (dest->layout),
    .dest = get_first_element (dest),
    .dest_strides = mtl_layout_strides (dest->layout),
    .dest_size = dest->layout->item_bits / 8,
    .source = item,
    .source_size = dest->layout->item_bits / 8,
  };

  if (source != NULL)
    {
      request.source = get_first_element (source);
      request.source_strides = mtl_layout_strides (source->layout);
      request.source_size = source->layout->item_bits / 8;
    }

  return request;
}

static void
run_slices (gpointer plan,
            gsize    begin,
            gsize    end)
{
  mtl_copy_plan_run (plan, begin, end);
}

static gboolean
run_request (const MtlCopyRequest  *request,
             const MtlMonitor      *monitor,
             GError               **error)
{
  MtlCopyPlan plan;
  MtlThreadsWork work;

  mtl_copy_plan_init (&plan, request);
  work = (MtlThreadsWork) {
    .func = run_slices,
    .data = &plan,
    .n_items = mtl_copy_plan_get_n_slices (&plan),
    .n_bytes = mtl_copy_plan_get_n_bytes (&plan),
  };
  return mtl_threads_run (&work, monitor, error);
}

static gboolean
copy_bytes (guint8            *dest,
            const guint8      *source,
            gint64             size,
            const MtlMonitor  *monitor,
            GError           **error)
{
  const gint64 stride = 1;

  return run_request (&(MtlCopyRequest) {
                        .n_dims = 1,
                        .shape = &size,
                        .dest = dest,
                        .dest_strides = &stride,
                        .dest_size = 1,
                        .source = source,
                        .source_strides = &stride,
                        .source_size = 1,
                      },
                      monitor, error);
}

/* Elements that share bytes with their neighbours, so that one thread writes them
 * all. */
typedef struct
{
  MtlStridedRowFunc func;
  gpointer data;
  gint64 n_elements;
  gint64 n_bytes;
  gint64 n_done;
  gint64 n_since; /* the last look at the monitor */
  const MtlMonitor *monitor;
  GError **error;
} Rows;

#define N_BETWEEN_LOOKS 65536

static gboolean
look (Rows *self)
{
  self->n_since = 0;
  mtl_monitor_report (self->monitor, self->n_done, self->n_elements, self->n_bytes);
  return mtl_monitor_check (self->monitor, self->error);
}

static gboolean
run_watched_row (const MtlStridedRow *dest,
                 const MtlStridedRow *source,
                 gint64               n,
                 gpointer             user_data)
{
  Rows *rows = user_data;

  for (gint64 i = 0; i < n; i += N_BETWEEN_LOOKS)
    {
      MtlStridedRow to = { dest->data, dest->bit + i * dest->stride, dest->stride };
      MtlStridedRow from = { source->data, source->bit + i * source->stride, source->stride };
      gint64 n_now = MIN (n - i, N_BETWEEN_LOOKS);

      rows->func (&to, &from, n_now, rows->data);
      rows->n_done += n_now;
      rows->n_since += n_now;
      if ((rows->n_since >= N_BETWEEN_LOOKS || rows->n_done == rows->n_elements) && !look (rows))
        return FALSE;
    }

  return TRUE;
}

static gboolean
run_rows (const MtlStrided   *dest,
          const MtlStrided   *source,
          MtlStridedRowFunc   func,
          gpointer            data,
          const MtlMonitor   *monitor,
          GError            **error)
{
  gint64 n_elements = mtl_layout_get_volume (dest->layout);
  Rows rows = { func, data, n_elements, .monitor = monitor, .error = error };

  if (monitor == NULL)
    return mtl_strided_for_each_row (dest, source, func, data);

  rows.n_bytes = (double) n_elements * dest->layout->item_bits / 8;
  return mtl_monitor_check (monitor, error)
         && mtl_strided_for_each_row (dest, source, run_watched_row, &rows);
}

/* Elements that may begin and end within a byte. */
static gboolean
copy_row_of_bits (const MtlStridedRow *dest,
                  const MtlStridedRow *source,
                  gint64               n,
                  gpointer             user_data)
{
  guint item_bits = *(guint *) user_data;

  for (gint64 i = 0; i < n; i++)
    {
      guint to_bit, from_bit;
      guint8 *to = mtl_strided_row_locate (dest, i, &to_bit);
      const guint8 *from = mtl_strided_row_locate (source, i, &from_bit);

      for (guint done = 0; done < item_bits; done += 8)
        {
          guint n_bits = MIN (item_bits - done, 8);

          mtl_bits_store (to++, to_bit, n_bits, mtl_bits_load (from++, from_bit, n_bits));
        }
    }

  return TRUE;
}

/* Elements of fewer than 8 bits, on one side or both. */
static gboolean
convert_row_of_bits (const MtlStridedRow *dest,
                     const MtlStridedRow *source,
                     gint64               n,
                     gpointer             user_data)
{
  mtl_conversion_run_bits (user_data, dest->data, dest->bit, dest->stride, source->data,
                           source->bit, source->stride, n);
  return TRUE;
}

static gboolean
convert (const MtlStrided  *dest,
         const MtlStrided  *source,
         const MtlMonitor  *monitor,
         GError           **error)
{
  MtlConversion conversion;

  mtl_conversion_init (&conversion, dest->type, source->type);
  if (dest->layout->item_bits % 8 == 0 && source->layout->item_bits % 8 == 0)
    {
      MtlCopyRequest request = get_request (dest, source, NULL);

      request.convert = mtl_conversion_run;
      request.convert_data = &conversion;
      return run_request (&request, monitor, error);
    }

  return run_rows (dest, source, convert_row_of_bits, &conversion, monitor, error);
}

/* The one place that moves elements: both of one shape, and without overlap. */
gboolean
mtl_strided_copy (const MtlStrided  *dest,
                  const MtlStrided  *source,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  if (mtl_layout_is_empty (dest->layout))
    return TRUE;

  if (mtl_element_type_equal (dest->type, source->type))
    {
      guint item_bits = dest->layout->item_bits;
      gint64 to, from, size;

      if (item_bits % 8 == 0)
        {
          MtlCopyRequest request = get_request (dest, source, NULL);

          return run_request (&request, monitor, error);
        }

      if (mtl_layout_get_packed_bytes (dest->layout, &to, &size)
          && mtl_layout_get_packed_bytes (source->layout, &from, &size))
        return copy_bytes (dest->data + to, source->data + from, size, monitor, error);

      return run_rows (dest, source, copy_row_of_bits, &item_bits, monitor, error);
    }

  if (!mtl_element_type_check_numeric (dest->type, error)
      || !mtl_element_type_check_numeric (source->type, error))
    return FALSE;

  return convert (dest, source, monitor, error);
}

typedef struct
{
  const guint8 *item;
  guint bits;
} Filling;

/* Elements that may begin and end within a byte, one after the other. */
static gboolean
fill_row_of_bits (const MtlStridedRow *dest,
                  const MtlStridedRow *same,
                  gint64               n,
                  gpointer             user_data)
{
  Filling *filling = user_data;

  for (gint64 i = 0; i < n; i++)
    {
      guint bit;
      guint8 *to = mtl_strided_row_locate (dest, i, &bit);

      for (guint done = 0; done < filling->bits; done += 8)
        mtl_bits_store (to++, bit, MIN (filling->bits - done, 8), filling->item[done / 8]);
    }

  return TRUE;
}

/* An item is in the low bits of its bytes. */
gboolean
mtl_strided_fill (const MtlStrided  *dest,
                  gconstpointer      item,
                  const MtlMonitor  *monitor,
                  GError           **error)
{
  guint item_bits = dest->layout->item_bits;

  if (mtl_layout_is_empty (dest->layout))
    return TRUE;

  if (item_bits % 8 == 0)
    {
      MtlCopyRequest request = get_request (dest, NULL, item);

      return run_request (&request, monitor, error);
    }

  return run_rows (dest, dest, fill_row_of_bits, &(Filling) { item, item_bits }, monitor, error);
}

/* Whether any byte belongs to elements of both. Says so of a few that share
 * none but would take long to tell. */
gboolean
mtl_strided_may_overlap (const MtlStrided *a,
                         const MtlStrided *b)
{
  return mtl_layout_overlaps (a->layout, b->layout,
                              (gint64) ((guintptr) b->data - (guintptr) a->data));
}
