/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-axes-private.h"

static guint64
get_distance (const MtlAxis *axis,
              guint          operand)
{
  return mtl_magnitude (axis->steps[operand]);
}

void
mtl_axes_sort (MtlAxis *axes,
               guint    n_axes,
               guint    operand)
{
  for (guint i = 1; i < n_axes; i++)
    {
      guint place = i;
      guint64 distance = get_distance (&axes[i], operand);

      while (place > 0 && get_distance (&axes[place - 1], operand) < distance)
        place--;

      /* Most axes are in order, and loading what was just stored in parts is slow. */
      if (place < i)
        mtl_axes_move (axes, i, place);
    }
}

void
mtl_axes_move (MtlAxis *axes,
               guint    from,
               guint    to)
{
  MtlAxis axis = axes[from];

  for (; from < to; from++)
    axes[from] = axes[from + 1];
  for (; from > to; from--)
    axes[from] = axes[from - 1];
  axes[to] = axis;
}

void
mtl_axes_flip (MtlAxis *axes,
               guint    n_axes,
               gint64  *offsets)
{
  for (guint i = 0; i < n_axes; i++)
    {
      if (axes[i].steps[0] >= 0)
        continue;

      for (guint operand = 0; operand < 2; operand++)
        {
          offsets[operand] += mtl_axis_get_reach (&axes[i], operand);
          axes[i].steps[operand] = -axes[i].steps[operand];
        }
    }
}

guint
mtl_axes_merge (MtlAxis *axes,
                guint    n_axes)
{
  guint last = 0;

  for (guint i = 1; i < n_axes; i++)
    {
      MtlAxis *outer = &axes[last];
      const MtlAxis *inner = &axes[i];
      guint64 n = inner->extent;

      if ((guint64) outer->steps[0] == (guint64) inner->steps[0] * n
          && (guint64) outer->steps[1] == (guint64) inner->steps[1] * n)
        *outer = mtl_axis (outer->extent * n, inner->steps[0], inner->steps[1]);
      else
        axes[++last] = *inner;
    }

  return MIN (n_axes, last + 1);
}

int
mtl_axes_find_nearest (const MtlAxis *axes,
                       guint          n_axes,
                       guint          operand)
{
  guint64 least = G_MAXUINT64;
  int found = -1;

  for (int i = (int) n_axes - 1; i >= 0; i--)
    {
      guint64 distance = get_distance (&axes[i], operand);

      if (distance != 0 && distance < least)
        {
          found = i;
          least = distance;
        }
    }

  return found;
}

gboolean
mtl_axes_are_nested (const MtlAxis *axes,
                     guint          n_axes,
                     guint64        size)
{
  guint64 span = size;

  for (guint i = n_axes; i-- > 0;)
    {
      guint64 distance = get_distance (&axes[i], 0);

      if (distance < span)
        return FALSE;
      span += distance * (axes[i].extent - 1);
    }

  return TRUE;
}

static guint64
count_parts (const MtlAxis *axis,
             guint64        part)
{
  return (axis->extent - 1) / part + 1;
}

guint64
mtl_axes_divide (const MtlAxis *axes,
                 guint          n_axes,
                 guint64        most,
                 gboolean       of_rows,
                 guint64       *parts)
{
  for (guint i = n_axes; i-- > 0;)
    {
      parts[i] = (axes[i].extent - 1) / count_parts (&axes[i], most) + 1;
      most = of_rows ? 1 : MAX (most / parts[i], 1);
    }

  return mtl_axes_count_blocks (axes, n_axes, parts);
}

guint64
mtl_axes_count_blocks (const MtlAxis *axes,
                       guint          n_axes,
                       const guint64 *parts)
{
  guint64 n = 1;

  for (guint i = 0; i < n_axes; i++)
    n *= count_parts (&axes[i], parts[i]);

  return n;
}

void
mtl_axes_get_block (const MtlAxis *axes,
                    guint          n_axes,
                    const guint64 *parts,
                    guint64        index,
                    MtlAxesBlock  *block)
{
  block->n_axes = n_axes;
  block->n = 1;
  block->offsets[0] = block->offsets[1] = 0;
  for (guint i = n_axes; i-- > 0;)
    {
      const MtlAxis *axis = &axes[i];
      guint64 n_parts = count_parts (axis, parts[i]);
      guint64 first = index % n_parts * parts[i];
      guint64 extent = MIN (parts[i], axis->extent - first);

      index /= n_parts;
      block->axes[i] = mtl_axis (extent, axis->steps[0], axis->steps[1]);
      block->n *= extent;
      block->offsets[0] += (gint64) first * axis->steps[0];
      block->offsets[1] += (gint64) first * axis->steps[1];
    }
}
