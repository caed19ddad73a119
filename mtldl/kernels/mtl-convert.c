/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-convert-private.h"

#include <string.h>

#include "mtl-copy-few-private.h"
#include "mtl-copy-kernels-private.h"
#include "mtl-number-private.h"

/* The results between two steps stay within the L1 cache. */
#define BLOCK_SIZE 4096

/* The kernels for the set that copies use. Which vectors they use is up to the
 * compiler. */
static const MtlConvertKernels *
get_kernels (void)
{
#ifdef MTL_COPY_HAS_X86_SETS
  const MtlCopyKernels *set = mtl_copy_machine_get ()->kernels;

  if (set == &mtl_copy_kernels_avx512)
    return &mtl_convert_kernels_avx512;
  if (set == &mtl_copy_kernels_avx2)
    return &mtl_convert_kernels_avx2;
#endif

  return &mtl_convert_kernels_plain;
}

/* The type of the one or two numbers in an element. */
MtlConvertType
mtl_convert_type_of (MtlElementType type)
{
  switch (type.code)
    {
    case kDLBool:
      return MTL_CONVERT_BOOL;
    case kDLInt:
      return MTL_CONVERT_INT2 + __builtin_ctz (type.bits / 2);
    case kDLUInt:
      return MTL_CONVERT_UINT2 + __builtin_ctz (type.bits / 2);
    case kDLComplex:
      return mtl_convert_type_of ((MtlElementType) { kDLFloat, type.bits / 2, 1, FALSE });
    case kDLFloat:
      return type.bits == 16   ? MTL_CONVERT_FLOAT16
             : type.bits == 32 ? MTL_CONVERT_FLOAT32
                               : MTL_CONVERT_FLOAT64;
    case kDLBfloat:
      return MTL_CONVERT_BFLOAT16;
    default:
      /* DLPack's codes for small floats are consecutive. */
      return MTL_CONVERT_E3M4 + type.code - 7;
    }
}

static gboolean
is_integer (MtlConvertType type)
{
  return type >= MTL_CONVERT_UINT2 && type <= MTL_CONVERT_INT64;
}

static gboolean
is_integer_or_bool (MtlConvertType type)
{
  return is_integer (type) || type == MTL_CONVERT_BOOL;
}

static MtlConvertType
get_unsigned (MtlConvertType type)
{
  return type >= MTL_CONVERT_INT2 && type <= MTL_CONVERT_INT64
           ? type - MTL_CONVERT_INT2 + MTL_CONVERT_UINT2 : type;
}

static MtlConvertFunc
find_direct (const MtlConvertKernels *kernels,
             MtlConvertType           dest,
             MtlConvertType           source)
{
  if (is_integer_or_bool (source) && is_integer (dest))
    {
      dest = get_unsigned (dest);
      if (get_unsigned (source) > dest)
        source = get_unsigned (source);
    }
  else if (dest == MTL_CONVERT_BOOL)
    source = get_unsigned (source);

  return kernels->direct[dest][source];
}

/* The index of the tables of complex numbers, by the type of their parts, or -1. */
static int
find_parts (MtlConvertType type)
{
  return type == MTL_CONVERT_FLOAT32 ? 0 : type == MTL_CONVERT_FLOAT64 ? 1 : -1;
}

static MtlConvertScatteredFunc
find_scattered (const MtlConvertKernels *kernels,
                MtlConvertType           dest,
                MtlConvertType           source,
                gboolean                 to_complex,
                gboolean                 takes_both)
{
  int parts = find_parts (dest);

  if (takes_both)
    return to_complex && parts >= 0 && find_parts (source) == 1 - parts
             ? kernels->scattered_complex[parts] : NULL;
  if (to_complex)
    return parts >= 0 ? kernels->scattered_to_complex[parts][source] : NULL;
  if (is_integer_or_bool (source) && is_integer (dest))
    dest = get_unsigned (dest);
  else if (dest == MTL_CONVERT_BOOL)
    source = get_unsigned (source);

  return kernels->scattered[dest][source];
}

static gboolean
is_same_pattern (MtlConvertType dest,
                 MtlConvertType source)
{
  return dest == source
         || (is_integer (dest) && is_integer (source)
             && get_unsigned (dest) == get_unsigned (source));
}

static void
add_step (MtlConversion  *self,
          MtlConvertFunc  func,
          guint           numbers,
          guint           size)
{
  self->steps[self->n_steps++] = (MtlConversionStep) { func, NULL, numbers, size };
}

static void
add_scaling (MtlConversion *self,
             MtlScaleFunc   scale,
             guint          numbers,
             guint          size)
{
  self->steps[self->n_steps++] = (MtlConversionStep) { NULL, scale, numbers, size };
}

/* The type between two integers of which one has fewer than 8 bits: it holds the narrow
 * source, or the last bits of any other. */
static MtlConvertType
get_middle_integer (MtlConvertType source)
{
  return source == MTL_CONVERT_INT2 || source == MTL_CONVERT_INT4 ? MTL_CONVERT_INT8
                                                                 : MTL_CONVERT_UINT8;
}

/* Conversions without a direct function go through float32, which holds all narrower types.
 * Wider types are rounded to odd first, so that rounding twice does no harm; integers that
 * float32 rounds are infinite as float16 in any case. Integers go through others of 8 bits,
 * as they wrap around. */
static void
add_numbers (MtlConversion           *self,
             const MtlConvertKernels *kernels,
             MtlConvertType           dest,
             MtlConvertType           source,
             guint                    numbers,
             guint                    size)
{
  MtlConvertFunc direct = find_direct (kernels, dest, source);
  MtlConvertFunc first = kernels->to_odd_float32[source];

  if (is_same_pattern (dest, source))
    return;

  if (direct == NULL && is_integer_or_bool (dest) && is_integer_or_bool (source))
    {
      MtlConvertType middle = get_middle_integer (source);

      add_step (self, find_direct (kernels, middle, source), numbers, numbers);
      direct = find_direct (kernels, dest, middle);
    }
  else if (direct == NULL)
    {
      if (first == NULL || (dest == MTL_CONVERT_FLOAT16 && is_integer (source)))
        first = find_direct (kernels, MTL_CONVERT_FLOAT32, source);
      add_step (self, first, numbers, numbers * sizeof (float));
      direct = find_direct (kernels, dest, MTL_CONVERT_FLOAT32);
    }
  add_step (self, direct, numbers, size);
}

/* Numbers are scaled as doubles. Those that become integers are rounded before they are
 * cut. */
static void
add_scaled_numbers (MtlConversion           *self,
                    const MtlConvertKernels *kernels,
                    MtlConvertType           dest,
                    MtlConvertType           source,
                    guint                    numbers,
                    guint                    size)
{
  guint double_size = numbers * sizeof (double);
  MtlScaleFunc direct = numbers == 1 ? kernels->scaled[dest][source] : NULL;

  if (direct != NULL)
    {
      add_scaling (self, direct, 1, size);
      return;
    }

  add_numbers (self, kernels, MTL_CONVERT_FLOAT64, source, numbers, double_size);
  add_scaling (self, numbers == 1 ? kernels->scale_doubles : kernels->scale_complexes, 1,
               double_size);
  if (is_integer (dest))
    add_step (self, kernels->round_doubles, 1, double_size);
  add_numbers (self, kernels, dest, MTL_CONVERT_FLOAT64, numbers, size);
}

void
mtl_conversion_init (MtlConversion  *self,
                     MtlElementType  dest,
                     MtlElementType  source,
                     const double   *factors)
{
  const MtlConvertKernels *kernels = get_kernels ();
  MtlConvertType dest_type = mtl_convert_type_of (dest);
  MtlConvertType source_type = mtl_convert_type_of (source);
  gboolean is_complex = source.code == kDLComplex;
  gboolean to_complex = dest.code == kDLComplex;
  gboolean takes_both = is_complex && (to_complex || dest.code == kDLBool);
  int parts = to_complex && !is_complex && factors == NULL ? find_parts (dest_type) : -1;
  MtlConvertFunc direct = parts >= 0 ? kernels->to_complex[parts][source_type] : NULL;
  guint numbers = takes_both ? 2 : 1;
  guint number_size, largest;

  self->n_steps = 0;
  self->scattered = NULL;
  if (factors == NULL)
    self->scattered = find_scattered (kernels, dest_type, source_type, to_complex, takes_both);
  self->is_cheap = self->scattered != NULL;
  if (factors == NULL && self->scattered == NULL && !takes_both && !to_complex)
    self->scattered = kernels->scattered_by_4[dest_type][source_type];
  self->dest_size = MAX (dest.bits / 8, 1);
  self->source_size = MAX (source.bits / 8, 1) / (is_complex && !takes_both ? 2 : 1);

  number_size = self->dest_size / (to_complex ? 2 : 1);
  if (direct != NULL)
    add_step (self, direct, 1, self->dest_size);
  else if (factors != NULL)
    {
      memcpy (self->factors, factors, sizeof self->factors);
      add_scaled_numbers (self, kernels, dest_type, source_type, numbers, numbers * number_size);
    }
  else
    add_numbers (self, kernels, dest_type, source_type, numbers, numbers * number_size);
  if (takes_both && !to_complex)
    add_step (self, kernels->any_of_two, 1, 1);
  if (to_complex && !is_complex && direct == NULL)
    add_step (self, kernels->append_zero[__builtin_ctz (number_size)], 1, self->dest_size);

  largest = MAX (self->source_size, self->dest_size);
  for (guint i = 0; i < self->n_steps; i++)
    largest = MAX (largest, self->steps[i].size);
  self->piece = BLOCK_SIZE / largest;
}

static gboolean
is_whole_integer (MtlElementType type)
{
  return (type.code == kDLInt || type.code == kDLUInt) && type.bits >= 8;
}

gboolean
mtl_conversion_truncates (MtlElementType dest,
                          MtlElementType source)
{
  return is_whole_integer (dest) && is_whole_integer (source) && dest.bits < source.bits;
}

/* Gathers a row with any step into a block, or scatters it. */
static void
move (guint8       *dest,
      const guint8 *source,
      gsize         n,
      gssize        dest_step,
      gssize        source_step,
      guint         size)
{
  switch (size)
    {
    case 1: mtl_copy_elements (dest, source, n, dest_step, source_step, 1); break;
    case 2: mtl_copy_elements (dest, source, n, dest_step, source_step, 2); break;
    case 4: mtl_copy_elements (dest, source, n, dest_step, source_step, 4); break;
    case 8: mtl_copy_elements (dest, source, n, dest_step, source_step, 8); break;
    default: mtl_copy_elements (dest, source, n, dest_step, source_step, 16); break;
    }
}

typedef struct
{
  guint8 bytes[2][BLOCK_SIZE];
} Blocks;

static void
take_step (const MtlConversion     *self,
           const MtlConversionStep *step,
           guint8                  *dest,
           const guint8            *source,
           gsize                    n)
{
  if (step->scale != NULL)
    step->scale (dest, source, n * step->numbers, self->factors);
  else
    step->func (dest, source, n * step->numbers);
}

/* Runs all steps of one piece. The last step writes to dest, unless that is NULL.
 * Returns where the elements are. */
static const guint8 *
take_steps (const MtlConversion *self,
            Blocks              *blocks,
            guint8              *dest,
            const guint8        *source,
            gsize                n)
{
  for (guint i = 0; i < self->n_steps; i++)
    {
      const MtlConversionStep *step = &self->steps[i];
      guint8 *to = blocks->bytes[source == blocks->bytes[0] ? 1 : 0];

      if (i == self->n_steps - 1u && dest != NULL)
        to = dest;
      take_step (self, step, to, source, n);
      source = to;
    }

  return source;
}

/* A function of its own has the blocks, since short rows are faster without. */
static void __attribute__ ((noinline))
run_by_blocks (const MtlConversion *self,
               guint8              *dest,
               const guint8        *source,
               gsize                n,
               gssize               dest_step,
               gssize               source_step)
{
  gboolean dest_is_dense = dest_step == self->dest_size;
  gboolean source_is_dense = source_step == self->source_size;
  Blocks blocks;

  for (gsize i = 0; i < n; i += self->piece)
    {
      gsize part = MIN (n - i, self->piece);
      guint8 *to = dest + (gssize) i * dest_step;
      const guint8 *from = source + (gssize) i * source_step;

      if (!source_is_dense)
        {
          move (blocks.bytes[0], from, part, self->source_size, source_step, self->source_size);
          from = blocks.bytes[0];
        }
      from = take_steps (self, &blocks, dest_is_dense ? to : NULL, from, part);
      if (!dest_is_dense)
        move (to, from, part, dest_step, self->dest_size, self->dest_size);
    }
}

void
mtl_conversion_run (guint8        *dest,
                    const guint8  *source,
                    gsize          n,
                    gssize         dest_step,
                    gssize         source_step,
                    gconstpointer  conversion)
{
  const MtlConversion *self = conversion;
  gboolean dest_is_dense = n == 1 || dest_step == self->dest_size;
  gboolean source_is_dense = n == 1 || source_step == self->source_size;

  if (self->n_steps == 1 && dest_is_dense && source_is_dense)
    take_step (self, &self->steps[0], dest, source, n);
  else if (self->scattered != NULL && !(dest_is_dense && source_is_dense))
    self->scattered (dest, source, n, dest_step, source_step);
  else if (self->n_steps > 0)
    run_by_blocks (self, dest, source, n, dest_step, source_step);
  else if (dest_is_dense && source_is_dense)
    memcpy (dest, source, n * self->dest_size);
  else
    move (dest, source, n, dest_step, source_step, self->dest_size);
}

/* Unnamed types of other numbers of bits are moved one by one. */
static int
find_packing (guint n_bits)
{
  return n_bits % 2 == 0 && n_bits <= 6 ? (int) n_bits / 2 - 1 : -1;
}

void
mtl_bits_unpack (guint8       *numbers,
                 const guint8 *source,
                 gint64        bit,
                 gint64        step,
                 gsize         n,
                 guint         n_bits)
{
  const MtlConvertKernels *kernels = get_kernels ();
  int packing = find_packing (n_bits);
  gsize i = 0;

  for (; i < n && (packing < 0 || step != n_bits || bit % 8 != 0); i++, bit += step)
    numbers[i] = mtl_bits_load (source + (bit >> 3), bit & 7, n_bits);

  if (i < n)
    kernels->unpack[packing] (numbers + i, source + (bit >> 3), n - i);
}

void
mtl_bits_pack (guint8       *dest,
               gint64        bit,
               gint64        step,
               const guint8 *numbers,
               gsize         n,
               guint         n_bits)
{
  const MtlConvertKernels *kernels = get_kernels ();
  guint mask = (1u << n_bits) - 1;
  int packing = find_packing (n_bits);
  gsize i = 0, whole;

  for (; i < n && (packing < 0 || step != n_bits || bit % 8 != 0); i++, bit += step)
    mtl_bits_store (dest + (bit >> 3), bit & 7, n_bits, numbers[i] & mask);

  whole = (n - i) & ~(gsize) 3;
  if (whole > 0)
    kernels->pack[packing] (dest + (bit >> 3), numbers + i, whole);
  for (i += whole, bit += whole * n_bits; i < n; i++, bit += step)
    mtl_bits_store (dest + (bit >> 3), bit & 7, n_bits, numbers[i] & mask);
}
