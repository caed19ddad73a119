/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-convert-kernels-private.h"
#include "mtl-element-type-private.h"

G_BEGIN_DECLS

/* A conversion between two types of elements, by the rules of
 * mtl_strided_view_copy_from(). Created once for any number of rows. Several threads
 * may use it at the same time. */
typedef struct
{
  MtlConvertFunc func; /* NULL if scale is set */
  MtlScaleFunc scale;
  guint8 numbers; /* per element: two if complex */
  guint8 size;    /* the size of a converted element, in bytes */
} MtlConversionStep;

typedef struct
{
  MtlConversionStep steps[6]; /* the first n_steps are run in order */
  double factors[2];          /* used by steps that scale */
  MtlConvertScatteredFunc scattered; /* instead of the steps, or NULL */
  gboolean is_cheap;                 /* even if only the source is scattered */
  guint8 n_steps;             /* 0 if bytes are copied */
  guint8 source_size;         /* bytes read of an element, such as its real part */
  guint8 dest_size;
  guint16 piece;              /* elements at once, if there are several steps */
} MtlConversion;

MtlConvertType mtl_convert_type_of (MtlElementType type);

/* Both types have one lane and whole bytes, padded if necessary, and satisfy
 * mtl_element_type_is_numeric(). If there are factors, the elements become
 * source * factors[0] + factors[1], by the rules of mtl_strided_view_copy_scaled_from(). */
void mtl_conversion_init (MtlConversion  *self,
                          MtlElementType  dest,
                          MtlElementType  source,
                          const double   *factors);

/* Checks whether an integer becomes a narrower one, which is its low bytes. */
gboolean mtl_conversion_truncates (MtlElementType dest,
                                   MtlElementType source);

/* Rows of whole bytes. Steps are in bytes and may be negative. The rows need no
 * alignment, and must not overlap. */
void mtl_conversion_run      (guint8              *dest,
                              const guint8        *source,
                              gsize                n,
                              gssize               dest_step,
                              gssize               source_step,
                              gconstpointer        conversion);

/* Converts packed elements of fewer than 8 bits from and to a byte each. The first
 * begins `bit` bits after the address, and each of the others `step` bits after the one
 * before. Other bits are not changed. */
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
