/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-enums.h"

G_BEGIN_DECLS

/* Bit patterns that a number must not have, after masking out the other bits. If size
 * is 0, there are none. */
typedef struct
{
  guint size; /* bytes; the size of each part of a complex number */
  guint64 mask;
  guint64 first;
  guint64 last;
  guint64 infinity; /* 0 if that is not among them */
  gboolean swapped;
} MtlWrongValues;

void     mtl_wrong_values_init (MtlWrongValues      *self,
                                MtlDType             dtype,
                                gboolean             is_big_endian,
                                MtlTensorFileChecks  checks);

/* Finds the first wrong value. */
gboolean mtl_wrong_values_find (const MtlWrongValues *self,
                                const guint8         *bytes,
                                gsize                 size,
                                gsize                *offset);

/* Checks if the wrong value there is infinite. */
gboolean mtl_wrong_values_is_infinite (const MtlWrongValues *self,
                                       const guint8         *bytes);

/* The size in bytes of numbers whose byte order is not that of this machine; 1 if
 * nothing has to be swapped. */
guint    mtl_get_swapped_size  (MtlElementType        type,
                                gboolean              is_big_endian);
void     mtl_swap_bytes        (guint8               *bytes,
                                gsize                 size,
                                guint                 number_size);

G_END_DECLS
