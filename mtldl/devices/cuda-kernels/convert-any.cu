/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Conversions between any two types of whole bytes, and scaled copies */

#include "any-numbers.h"
#include "gather.h"

/* Complex numbers are two. A complex number is true if either part is. */
DEVICE void
convert_element (const MtlCudaConversion &p,
                 u64                      dest,
                 u64                      source)
{
  u64 first = 0, second = 0;

  ROLLED
  for (u32 part = 0; part < p.n_converted; part++)
    {
      u64 pattern = load_pattern (source + part * p.source.size, p.source.size, p.is_unaligned);

      second = convert_number (p, pattern, part == 0);
      first = part == 0 ? second : first;
    }
  if (p.n_converted == 1)
    second = 0;
  else if (p.n_dest == 1)
    first |= second;

  store_pattern (dest, first, p.dest.size, p.is_unaligned);
  if (p.n_dest > 1)
    store_pattern (dest + p.dest.size, second, p.dest.size, p.is_unaligned);
}

DEVICE void
convert_items (const MtlCudaAnyGather &p,
               u64                     dest,
               u64                     source,
               u32                     block,
               u32                     tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;

  ROLLED
  for (u32 i = first, j = 0; j < N_EACH && i < p.n; i += N_THREADS, j++)
    {
      s64 to, from;

      locate<ANY> (p.axes, p.n_axes, i, &to, &from);
      convert_element (p.conversion, dest + to, source + from);
    }
}

KERNEL (gather_any, MtlCudaAnyGather, 4,
        EACH_THREAD (tid)
          convert_items (p, dest, source, block, tid))
