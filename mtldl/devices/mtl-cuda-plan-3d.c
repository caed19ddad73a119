/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies without kernels, by the driver's copies of cuboids */

#include <string.h>

#include "mtl-cuda-plan-layout-private.h"

/* A rectangle of rows, and a stack of them */
typedef struct
{
  int rows; /* axes, or -1 */
  int layers;
} Cuboid;

/* Rows are apart on both sides, and the distance is one that drivers take. */
static gboolean
can_be_rows (const MtlAxis *axis,
             guint64        width)
{
  for (guint operand = 0; operand < 2; operand++)
    if (axis->steps[operand] <= 0 || (guint64) axis->steps[operand] < width
        || axis->steps[operand] > G_MAXINT32)
      return FALSE;

  return TRUE;
}

static gboolean
can_be_layers (const MtlAxis *axis,
               const MtlAxis *rows)
{
  for (guint operand = 0; operand < 2; operand++)
    if (axis->steps[operand] <= 0 || axis->steps[operand] % rows->steps[operand] != 0
        || (guint64) (axis->steps[operand] / rows->steps[operand]) < rows->extent)
      return FALSE;

  return TRUE;
}

/* Finds the pair of axes that leaves the fewest pieces. Axis 0 is the row. */
static guint64
find_cuboid (const MtlCudaLayout *layout,
             Cuboid              *cuboid)
{
  guint64 most = 1;

  *cuboid = (Cuboid) { -1, -1 };
  for (guint i = 1; i < layout->n_axes; i++)
    {
      const MtlAxis *rows = &layout->axes[i];

      if (!can_be_rows (rows, layout->axes[0].extent))
        continue;
      if (rows->extent > most)
        {
          *cuboid = (Cuboid) { i, -1 };
          most = rows->extent;
        }
      for (guint k = 1; k < layout->n_axes; k++)
        if (k != i && can_be_layers (&layout->axes[k], rows)
            && rows->extent * layout->axes[k].extent > most)
          {
            *cuboid = (Cuboid) { i, k };
            most = rows->extent * layout->axes[k].extent;
          }
    }

  return most;
}

static void
init_copy (CuCopy3D            *copy,
           const MtlCudaLayout *layout,
           Cuboid               cuboid)
{
  *copy = (CuCopy3D) {
    .src_type = CU_MEMORY_UNIFIED,
    .dst_type = CU_MEMORY_UNIFIED,
    .width = layout->axes[0].extent,
    .height = 1,
    .depth = 1,
  };
  if (cuboid.rows >= 0)
    {
      const MtlAxis *rows = &layout->axes[cuboid.rows];

      copy->height = rows->extent;
      copy->dst_pitch = rows->dest_step;
      copy->src_pitch = rows->source_step;
      copy->dst_height = copy->src_height = rows->extent;
    }
  if (cuboid.layers >= 0)
    {
      const MtlAxis *layers = &layout->axes[cuboid.layers];

      copy->depth = layers->extent;
      copy->dst_height = layers->dest_step / copy->dst_pitch;
      copy->src_height = layers->source_step / copy->src_pitch;
    }
}

gboolean
mtl_cuda_plan_copy_3d (const MtlStrided   *dest,
                       const MtlStrided   *source,
                       guint64             most,
                       MtlCudaCopy3DFunc   func,
                       gpointer            data,
                       GError            **error)
{
  guint64 position[MTL_AXES_MAX] = { 0 };
  gint64 offsets[2] = { 0, 0 };
  MtlAxis others[MTL_AXES_MAX];
  MtlCudaLayout layout;
  guint n_others = 0;
  Cuboid cuboid;
  CuCopy3D copy;

  if (mtl_layout_is_empty (dest->layout))
    return TRUE;
  if (dest->layout->item_bits % 8 != 0
      || !mtl_element_type_equal (dest->type, source->type)
      || !mtl_cuda_layout_take (&layout, dest, source, 1, NULL))
    return FALSE;

  mtl_cuda_layout_take_bytes (&layout, dest->layout->item_bits / 8, 1);
  if (layout.n_axes == 0 || layout.axes[0].dest_step != 1 || layout.axes[0].source_step != 1)
    {
      /* Bytes that are rows of one */
      memmove (layout.axes + 1, layout.axes, layout.n_axes * sizeof *layout.axes);
      layout.axes[0] = mtl_axis (1, 1, 1);
      layout.n_axes++;
    }
  if (mtl_cuda_layout_count (&layout) / layout.axes[0].extent / find_cuboid (&layout, &cuboid)
      > most)
    return FALSE;

  for (guint i = layout.n_axes; i-- > 1;)
    if ((int) i != cuboid.rows && (int) i != cuboid.layers)
      others[n_others++] = layout.axes[i];

  init_copy (&copy, &layout, cuboid);
  do
    {
      copy.dst_device = layout.dest + (guint64) offsets[0];
      copy.src_device = layout.source + (guint64) offsets[1];
      if (!func (&copy, data, error))
        return FALSE;
    }
  while (mtl_axes_go_on (others, n_others, position, offsets));

  return TRUE;
}
