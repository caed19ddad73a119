/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* A request to the engine, run by the threads that there are. */

#include "mtl-strided-request-private.h"

/* Of a plan that is not cut, what is more than this is cut here. */
#define MAX_SLICE (2 * 1024 * 1024)
/* The inner axes of a box are no more. */
#define BOX_SIZE (64 * 1024)

static void
run_slices (gpointer plan,
            gsize    begin,
            gsize    end)
{
  mtl_copy_plan_run (plan, begin, end);
}

/* A destination whose elements may lie on one another, in C order: box by box
 * along the outer axes up to one of them, of whose boxes some are run at once. */
typedef struct
{
  MtlCopyRequest request;
  gint64 shape[MTL_COPY_MAX_DIMS];
  gint64 dest_strides[MTL_COPY_MAX_DIMS];
  gint64 source_strides[MTL_COPY_MAX_DIMS];
  gsize axis;
  gsize n_boxes;
} Boxes;

/* Along an axis on which the destination stays where it is, the last one stays. */
static void
take_axes (Boxes *self)
{
  MtlCopyRequest *request = &self->request;
  const MtlCopyRequest whole = *request;

  request->n_dims = 0;
  for (gsize i = 0; i < whole.n_dims; i++)
    {
      gint64 source_stride = whole.source_strides != NULL ? whole.source_strides[i] : 0;

      if (whole.shape[i] == 1)
        continue;

      if (whole.dest_strides[i] == 0)
        {
          request->source += (whole.shape[i] - 1) * source_stride * (gint64) whole.source_size;
          continue;
        }

      self->shape[request->n_dims] = whole.shape[i];
      self->dest_strides[request->n_dims] = whole.dest_strides[i];
      self->source_strides[request->n_dims++] = source_stride;
    }
}

static void
boxes_init (Boxes                *self,
            const MtlCopyRequest *request)
{
  gsize size = request->dest_size;

  self->request = *request;
  take_axes (self);
  self->axis = self->request.n_dims - 1;
  for (; self->axis > 0 && size * self->shape[self->axis] <= BOX_SIZE; self->axis--)
    size *= self->shape[self->axis];

  self->n_boxes = 1;
  for (gsize i = 0; i <= self->axis; i++)
    self->n_boxes *= self->shape[i];
}

/* From one box on, as many as there are along the last of the outer axes. */
static void
run_row (const Boxes *self,
         gsize        begin,
         gsize        n)
{
  gint64 shape[MTL_COPY_MAX_DIMS];
  MtlCopyRequest request = self->request;
  gsize index = begin;

  for (gsize i = self->axis + 1; i-- > 0; index /= self->shape[i])
    {
      gint64 at = index % self->shape[i];

      request.dest += at * self->dest_strides[i] * (gint64) request.dest_size;
      request.source += at * self->source_strides[i] * (gint64) request.source_size;
    }

  request.n_dims -= self->axis;
  memcpy (shape, self->shape + self->axis, request.n_dims * sizeof (gint64));
  shape[0] = n;
  request.shape = shape;
  request.dest_strides = self->dest_strides + self->axis;
  request.source_strides = self->source_strides + self->axis;
  mtl_copy_run (&request);
}

static void
run_boxes (gpointer data,
           gsize    begin,
           gsize    end)
{
  const Boxes *self = data;

  while (begin < end)
    {
      gsize n = MIN (end - begin, self->shape[self->axis] - begin % self->shape[self->axis]);

      run_row (self, begin, n);
      begin += n;
    }
}

static gboolean
run_in_order (const MtlCopyRequest  *request,
              gsize                  n_bytes,
              const MtlMonitor      *monitor,
              GError               **error)
{
  Boxes boxes;

  boxes_init (&boxes, request);
  return mtl_threads_run (&(MtlThreadsWork) {
                            .func = run_boxes,
                            .data = &boxes,
                            .n_items = boxes.n_boxes,
                            .n_bytes = n_bytes,
                            .in_order = TRUE,
                          },
                          monitor, error);
}

gboolean
mtl_strided_request_run (const MtlCopyRequest  *self,
                         gsize                  n_bytes,
                         const MtlMonitor      *monitor,
                         GError               **error)
{
  MtlCopyPlan plan;
  MtlThreadsWork work;

  mtl_copy_plan_init (&plan, self);
  if (n_bytes == 0)
    n_bytes = mtl_copy_plan_get_n_bytes (&plan);

  work = (MtlThreadsWork) {
    .func = run_slices,
    .data = &plan,
    .n_items = mtl_copy_plan_get_n_slices (&plan),
    .n_bytes = n_bytes,
  };
  if (monitor != NULL && work.n_items == 1 && mtl_copy_plan_get_n_bytes (&plan) > MAX_SLICE)
    return run_in_order (self, n_bytes, monitor, error);

  return mtl_threads_run (&work, monitor, error);
}
