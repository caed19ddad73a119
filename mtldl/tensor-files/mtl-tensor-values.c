/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-values-private.h"

#include <string.h>

#include "mtl-float-private.h"

/* Compilers vectorize loops without an early exit. */
#define N_AT_ONCE 2048

static void
init_nan_of_kind (MtlWrongValues     *self,
                  const MtlFloatKind *kind,
                  guint               bits)
{
  const guint64 all = (1u << bits) - 1;

  self->size = bits / 8;
  self->mask = kind->sign == MTL_FLOAT_SIGNED ? all >> 1 : all;
  self->first = kind->too_large == kind->nan ? kind->nan : kind->too_large + 1u;
  self->last = kind->sign == MTL_FLOAT_SIGNED ? self->mask : kind->nan;
}

/* Also used for the parts of complex numbers. Floats of fewer than 8 bits have no
 * NaN. */
static void
init_nan (MtlWrongValues *self,
          guint           code,
          guint           bits)
{
  if (bits == 64)
    *self = (MtlWrongValues) { 8, G_MAXINT64, G_GUINT64_CONSTANT (0x7ff0000000000001), G_MAXINT64,
                               FALSE };
  else if (bits == 32)
    *self = (MtlWrongValues) { 4, G_MAXINT32, 0x7f800001, G_MAXINT32, FALSE };
  else if (bits >= 8 && mtl_float_has_kind (code, bits))
    init_nan_of_kind (self, &mtl_float_kinds[code], bits);
}

void
mtl_wrong_values_init (MtlWrongValues  *self,
                       MtlDType         dtype,
                       gboolean         is_big_endian,
                       MtlTensorChecks  checks)
{
  MtlElementType type = mtl_element_type_new (dtype);

  *self = (MtlWrongValues) { 0 };
  if (type.code == MTL_TYPE_CODE_BOOL && (checks & MTL_TENSOR_CHECKS_BOOL))
    *self = (MtlWrongValues) { 1, 0xff, 2, 0xff, FALSE };
  else if (type.code == MTL_TYPE_CODE_COMPLEX && (checks & MTL_TENSOR_CHECKS_NAN))
    init_nan (self, MTL_TYPE_CODE_FLOAT, type.bits / 2);
  else if ((type.code == MTL_TYPE_CODE_FLOAT || mtl_float_has_kind (type.code, type.bits))
           && (checks & MTL_TENSOR_CHECKS_NAN))
    init_nan (self, type.code, type.bits);

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

guint
mtl_get_swapped_size (MtlElementType type,
                      gboolean       is_big_endian)
{
  if (is_big_endian == (G_BYTE_ORDER == G_BIG_ENDIAN) || type.code == MTL_TYPE_CODE_OPAQUE_HANDLE)
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
