/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dtype.h"
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

G_END_DECLS
