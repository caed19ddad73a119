/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-values-private.h"

#include <string.h>

#include "mtl-float-private.h"

/* Compilers vectorize loops without an early exit. */
#define N_AT_ONCE 2048

/* The patterns of NaN begin at first_nan; infinity, if there is one, is right before. */
static void
init_floats (MtlWrongValues      *self,
             guint                size,
             guint64              mask,
             guint64              first_nan,
             guint64              last_nan,
             gboolean             has_infinity,
             MtlTensorFileChecks  checks)
{
  const gboolean finds_nan = (checks & MTL_TENSOR_FILE_CHECKS_NAN) != 0;
  const gboolean finds_infinity = has_infinity && (checks & MTL_TENSOR_FILE_CHECKS_INF) != 0;

  if (!finds_nan && !finds_infinity)
    return;

  *self = (MtlWrongValues) {
    .size = size,
    .mask = mask,
    .first = finds_infinity ? first_nan - 1 : first_nan,
    .last = finds_nan ? last_nan : first_nan - 1,
    .infinity = finds_infinity ? first_nan - 1 : 0,
  };
}

static void
init_floats_of_kind (MtlWrongValues      *self,
                     const MtlFloatKind  *kind,
                     guint                bits,
                     MtlTensorFileChecks  checks)
{
  const guint64 all = (1u << bits) - 1;
  const guint64 mask = kind->sign == MTL_FLOAT_SIGNED ? all >> 1 : all;

  if (kind->too_large == kind->nan)
    init_floats (self, bits / 8, mask, kind->nan,
                 kind->sign == MTL_FLOAT_SIGNED ? mask : kind->nan, FALSE, checks);
  else
    init_floats (self, bits / 8, mask, kind->too_large + 1u,
                 kind->sign == MTL_FLOAT_SIGNED ? mask : kind->nan,
                 kind->too_large != kind->largest, checks);
}

/* Also used for the parts of complex numbers. Floats of fewer than 8 bits have no
 * NaN and no infinity. */
static void
init_floats_of_type (MtlWrongValues      *self,
                     guint                code,
                     guint                bits,
                     MtlTensorFileChecks  checks)
{
  if (bits == 64)
    init_floats (self, 8, G_MAXINT64, G_GUINT64_CONSTANT (0x7ff0000000000001), G_MAXINT64, TRUE,
                 checks);
  else if (bits == 32)
    init_floats (self, 4, G_MAXINT32, 0x7f800001, G_MAXINT32, TRUE, checks);
  else if (bits >= 8 && mtl_float_has_kind (code, bits))
    init_floats_of_kind (self, &mtl_float_kinds[code], bits, checks);
}

void
mtl_wrong_values_init (MtlWrongValues      *self,
                       MtlDType             dtype,
                       gboolean             is_big_endian,
                       MtlTensorFileChecks  checks)
{
  MtlElementType type = mtl_element_type_new (dtype);

  *self = (MtlWrongValues) { 0 };
  if (type.code == kDLBool && (checks & MTL_TENSOR_FILE_CHECKS_BOOL))
    *self = (MtlWrongValues) { .size = 1, .mask = 0xff, .first = 2, .last = 0xff };
  else if (type.code == kDLComplex)
    init_floats_of_type (self, kDLFloat, type.bits / 2, checks);
  else if (type.code == kDLFloat || mtl_float_has_kind (type.code, type.bits))
    init_floats_of_type (self, type.code, type.bits, checks);

  self->swapped = is_big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN);
}

#define DEFINE_FIND(type, swap) \
  static gboolean \
  find_##type (const MtlWrongValues *self, \
               const guint8         *bytes, \
               gsize                 n, \
               gsize                *position) \
  { \
    const type mask = self->mask, first = self->first, span = self->last - self->first; \
    const gboolean swapped = self->swapped; \
    for (gsize begin = 0; begin < n; begin += N_AT_ONCE) \
      { \
        gsize end = MIN (n, begin + N_AT_ONCE); \
        type found = 0; \
        for (gsize i = begin; i < end; i++) \
          { \
            type number; \
            memcpy (&number, bytes + i * sizeof number, sizeof number); \
            number = swapped ? swap (number) : number; \
            found |= (type) ((number & mask) - first) <= span; \
          } \
        for (gsize i = begin; found && i < end; i++) \
          { \
            type number; \
            memcpy (&number, bytes + i * sizeof number, sizeof number); \
            number = swapped ? swap (number) : number; \
            if ((type) ((number & mask) - first) > span) \
              continue; \
            *position = i; \
            return TRUE; \
          } \
      } \
    return FALSE; \
  }

#define KEEP(number) (number)

DEFINE_FIND (guint8, KEEP)
DEFINE_FIND (guint16, GUINT16_SWAP_LE_BE)
DEFINE_FIND (guint32, GUINT32_SWAP_LE_BE)
DEFINE_FIND (guint64, GUINT64_SWAP_LE_BE)

gboolean
mtl_wrong_values_find (const MtlWrongValues *self,
                       const guint8         *bytes,
                       gsize                 size,
                       gsize                *offset)
{
  gsize position = 0;
  gboolean found = FALSE;

  switch (self->size)
    {
    case 1:
      found = find_guint8 (self, bytes, size, &position);
      break;
    case 2:
      found = find_guint16 (self, bytes, size / 2, &position);
      break;
    case 4:
      found = find_guint32 (self, bytes, size / 4, &position);
      break;
    case 8:
      found = find_guint64 (self, bytes, size / 8, &position);
      break;
    default:
      break;
    }

  *offset = position * self->size;
  return found;
}

gboolean
mtl_wrong_values_is_infinite (const MtlWrongValues *self,
                              const guint8         *bytes)
{
  guint64 number = 0;

  for (guint i = 0; i < self->size; i++)
    {
      gboolean is_little = self->swapped != (G_BYTE_ORDER == G_LITTLE_ENDIAN);

      number = number << 8 | bytes[is_little ? self->size - 1 - i : i];
    }

  return self->infinity != 0 && (number & self->mask) == self->infinity;
}

guint
mtl_get_swapped_size (MtlElementType type,
                      gboolean       is_big_endian)
{
  if (is_big_endian == (G_BYTE_ORDER == G_BIG_ENDIAN) || type.code == kDLOpaqueHandle)
    return 1;

  return mtl_element_type_get_number_size (type);
}

#define SWAP_ALL(type, swap) \
  for (gsize i = 0; i < size; i += sizeof (type)) \
    { \
      type number; \
      memcpy (&number, bytes + i, sizeof number); \
      number = swap (number); \
      memcpy (bytes + i, &number, sizeof number); \
    }

void
mtl_swap_bytes (guint8 *bytes,
                gsize   size,
                guint   number_size)
{
  switch (number_size)
    {
    case 2:
      SWAP_ALL (guint16, GUINT16_SWAP_LE_BE);
      break;
    case 4:
      SWAP_ALL (guint32, GUINT32_SWAP_LE_BE);
      break;
    case 8:
      SWAP_ALL (guint64, GUINT64_SWAP_LE_BE);
      break;
    default:
      break;
    }
}
