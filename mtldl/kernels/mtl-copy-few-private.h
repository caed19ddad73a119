/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include <string.h>

/* Copies up to 64 bytes with a few moves, which may overlap. For a memcpy() of so few, compilers
 * choose an instruction for strings, which takes longer to start. */
static inline __attribute__ ((always_inline, unused)) void
mtl_copy_few (guint8       *dest,
              const guint8 *source,
              gsize         n)
{
#define MTL_MOVE_TWICE(size) \
  G_STMT_START \
    { \
      guint8 low_[size], high_[size]; \
      memcpy (low_, source, size); \
      memcpy (high_, source + n - size, size); \
      memcpy (dest, low_, size); \
      memcpy (dest + n - size, high_, size); \
    } \
  G_STMT_END

  if (n >= 32)
    MTL_MOVE_TWICE (32);
  else if (n >= 16)
    MTL_MOVE_TWICE (16);
  else if (n >= 8)
    MTL_MOVE_TWICE (8);
  else if (n >= 4)
    MTL_MOVE_TWICE (4);
  else
    for (gsize i = 0; i < n; i++)
      dest[i] = source[i];

#undef MTL_MOVE_TWICE
}

/* Copies elements of a constant size with any steps, four at a time, since compilers do not do
 * that. */
static inline __attribute__ ((always_inline, unused)) void
mtl_copy_elements (guint8       *dest,
                   const guint8 *source,
                   gsize         n,
                   gssize        dest_step,
                   gssize        source_step,
                   gsize         size)
{
  for (; n >= 4; n -= 4, dest += 4 * dest_step, source += 4 * source_step)
    {
      memcpy (dest, source, size);
      memcpy (dest + dest_step, source + source_step, size);
      memcpy (dest + 2 * dest_step, source + 2 * source_step, size);
      memcpy (dest + 3 * dest_step, source + 3 * source_step, size);
    }
  for (; n > 0; n--, dest += dest_step, source += source_step)
    memcpy (dest, source, size);
}
