/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-enums.h"

G_BEGIN_DECLS

/* Which patterns of bits a number is not to have, once the other bits are masked out.
 * Without a size there are none. */
typedef struct
{
  guint size; /* in bytes; two of them make a complex number */
  guint64 mask;
  guint64 first;
  guint64 last;
  gboolean swapped;
} MtlWrongValues;

void     mtl_wrong_values_init (MtlWrongValues       *self,
                                MtlDType              dtype,
                                gboolean              is_big_endian,
                                MtlTensorChecks       checks);

/* Where the first one begins. */
gboolean mtl_wrong_values_find (const MtlWrongValues *self,
                                const guint8         *bytes,
                                gsize                 size,
                                gsize                *offset);

/* Of numbers that are in the other order than this machine's; 1 where it is the same,
 * or means nothing. */
guint    mtl_get_swapped_size  (MtlElementType        type,
                                gboolean              is_big_endian);
void     mtl_swap_bytes        (guint8               *bytes,
                                gsize                 size,
                                guint                 number_size);

G_END_DECLS
