/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Layouts become launches of kernels.
 *
 * 1. Axes are taken, flipped, sorted and merged as for copies on the host.
 * 2. Copies are of bytes first, whatever the elements are. Then the widest item is found that all
 *    addresses and lengths allow.
 * 3. More items than kernels count are split in halves of the outermost axis.
 * 4. A family of kernels is chosen. */

#include "mtl-cuda-plan-private.h"

#include "mtl-cuda-plan-layout-private.h"
#include "mtl-number-private.h"

gboolean
mtl_cuda_plan_copy (const MtlStrided   *dest,
                    const MtlStrided   *source,
                    const double       *factors,
                    MtlCudaLaunchFunc   func,
                    gpointer            data,
                    GError            **error)
{
  MtlCudaJob job = { .func = func, .data = data, .error = error };
  MtlCudaLayout layout;
  gboolean converts;

  if (mtl_layout_is_empty (dest->layout))
    return TRUE;

  converts = factors != NULL || !mtl_element_type_equal (dest->type, source->type);
  if (converts && (!mtl_element_type_check_numeric (dest->type, error)
                   || !mtl_element_type_check_numeric (source->type, error)))
    return FALSE;
  if (dest->layout->item_bits % 8 != 0 || source->layout->item_bits % 8 != 0)
    return mtl_cuda_plan_packed (&job, dest, source, NULL, factors);

  if (!mtl_cuda_layout_take (&layout, dest, source, 1, error))
    return FALSE;
  if (converts)
    return mtl_cuda_job_convert (&job, &layout, dest->type, source->type, factors);

  return mtl_cuda_job_copy_bytes (&job, &layout, source->layout->item_bits / 8);
}

gboolean
mtl_cuda_plan_fill (const MtlStrided   *dest,
                    gconstpointer       item,
                    MtlCudaLaunchFunc   func,
                    gpointer            data,
                    GError            **error)
{
  const MtlCudaJob job = { .func = func, .data = data, .error = error };
  MtlCudaLayout layout;

  if (mtl_layout_is_empty (dest->layout))
    return TRUE;
  if (dest->layout->item_bits % 8 != 0)
    return mtl_cuda_plan_packed (&job, dest, NULL, item, NULL);

  return mtl_cuda_layout_take (&layout, dest, NULL, 1, error)
         && mtl_cuda_job_fill_bytes (&job, &layout, item, dest->layout->item_bits / 8);
}
