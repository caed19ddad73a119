/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-convert-kernels-private.h"
#include "mtl-element-type-private.h"

G_BEGIN_DECLS

/* How elements of one type become those of another, by the rules that
 * mtl_strided_view_copy_from() documents; found once, for any number of rows.
 * Plain values, which several threads may use at once. */
typedef struct
{
  MtlConvertFunc func;
  guint8 numbers; /* of each element: two where it is complex */
  guint8 size;    /* of an element afterwards, in bytes */
} MtlConversionStep;

typedef struct
{
  MtlConversionStep steps[3]; /* one after the other */
  guint8 n_steps;             /* 0 where bytes are copied */
  guint8 source_size;         /* what is read of an element, in bytes: a real part, say */
  guint8 dest_size;
  guint16 piece;              /* so many elements at once, where there are several steps */
} MtlConversion;

/* Both of one lane and of whole bytes, padded where they are less, and such as
 * mtl_element_type_is_numeric() has. */
void mtl_conversion_init     (MtlConversion       *self,
                              MtlElementType       dest,
                              MtlElementType       source);

/* Rows of whole bytes: steps are in bytes, of either sign. They do not overlap,
 * and need no alignment. */
void mtl_conversion_run      (guint8              *dest,
                              const guint8        *source,
                              gsize                n,
                              gssize               dest_step,
                              gssize               source_step,
                              gconstpointer        conversion);

/* Elements of fewer than 8 bits, packed, and in a byte each: the first begins `bit`
 * bits after the address, each next one `step` bits further on. Bits beside those
 * that are written stay as they are. */
void mtl_bits_unpack         (guint8              *numbers,
                              const guint8        *source,
                              gint64               bit,
                              gint64               step,
                              gsize                n,
                              guint                n_bits);
void mtl_bits_pack           (guint8              *dest,
                              gint64               bit,
                              gint64               step,
                              const guint8        *numbers,
                              gsize                n,
                              guint                n_bits);

G_END_DECLS
