/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Conversions of whole bytes: between common types by a module for each pair, and all others by one
 * module that looks at the types. */

#include <math.h>
#include <string.h>

#include "mtl-cuda-plan-layout-private.h"
#include "mtl-float-private.h"
#include "mtl-number-private.h"

/* Types that have conversions among each other, in modules of their own */
typedef enum
{
  NUMBER_bool,
  NUMBER_u8,
  NUMBER_u16,
  NUMBER_u32,
  NUMBER_u64,
  NUMBER_i8,
  NUMBER_i16,
  NUMBER_i32,
  NUMBER_i64,
  NUMBER_f16,
  NUMBER_f32,
  NUMBER_f64,
  NUMBER_bf16,
  N_NUMBERS,
  NUMBER_OTHER = N_NUMBERS,
} Number;

#define MODULE_PREFIX "convert"
#define PAIR(from, to) [NUMBER_##from][NUMBER_##to] = MODULE_PREFIX "_" #from "_" #to,

static const char *const pair_modules[N_NUMBERS][N_NUMBERS] = { MTL_CUDA_PAIRS (PAIR) };

static Number
get_number (MtlElementType type)
{
  guint log = type.bits >= 8 ? __builtin_ctz (type.bits / 8) : 0;

  if (type.bits < 8)
    return NUMBER_OTHER;

  switch (type.code)
    {
    case kDLBool:
      return NUMBER_bool;
    case kDLUInt:
      return NUMBER_u8 + log;
    case kDLInt:
      return NUMBER_i8 + log;
    case kDLFloat:
      return NUMBER_f16 + log - 1;
    case kDLBfloat:
      return NUMBER_bf16;
    default:
      return NUMBER_OTHER;
    }
}

static gboolean
is_integer (Number number)
{
  return number >= NUMBER_u8 && number <= NUMBER_i64;
}

static Number
get_unsigned (Number number)
{
  return number >= NUMBER_i8 && number <= NUMBER_i64 ? number - NUMBER_i8 + NUMBER_u8 : number;
}

/* The module for a pair, or NULL */
static const char *
find_module (Number dest,
             Number source)
{
  if (dest == NUMBER_OTHER || source == NUMBER_OTHER)
    return NULL;

  if (dest == NUMBER_bool)
    source = get_unsigned (source);
  else if (is_integer (dest) && (is_integer (source) || source == NUMBER_bool))
    {
      dest = get_unsigned (dest);
      if (source >= NUMBER_i8 && source <= NUMBER_i64)
        dest += NUMBER_i8 - NUMBER_u8;
    }
  return pair_modules[source][dest];
}

/* The type of a complex number's parts */
static MtlElementType
get_part (MtlElementType type)
{
  if (type.code == kDLComplex)
    return (MtlElementType) { kDLFloat, type.bits / 2, 1, FALSE };

  return type;
}

/* Checks if numbers are the low bytes of others, or the same bytes. */
static gboolean
takes_low_bytes (MtlElementType dest,
                 MtlElementType source)
{
  Number to = get_number (dest), from = get_number (source);

  if (dest.code == kDLComplex || source.code == kDLComplex)
    return FALSE;
  if (is_integer (to) && is_integer (from))
    return dest.bits <= source.bits;

  /* Numbers in padded bytes are copied as they are. */
  return dest.bits == source.bits
         && (dest.code == source.code
             || (dest.bits < 8 && dest.code <= kDLUInt && source.code <= kDLUInt));
}

MtlCudaNumber
mtl_cuda_number_describe (MtlElementType type)
{
  const MtlFloatKind *kind;
  MtlCudaNumber number = {
    .kind = MTL_CUDA_NUMBER_SMALL,
    .bits = type.bits,
    .size = MAX (type.bits / 8, 1),
  };

  switch (type.code)
    {
    case kDLBool:
      number.kind = MTL_CUDA_NUMBER_BOOL;
      return number;
    case kDLInt:
      number.kind = MTL_CUDA_NUMBER_INT;
      return number;
    case kDLUInt:
      number.kind = MTL_CUDA_NUMBER_UINT;
      return number;
    case kDLFloat:
      number.kind = MTL_CUDA_NUMBER_FLOAT16 + (type.bits == 16 ? 0 : type.bits == 32 ? 2 : 3);
      return number;
    case kDLBfloat:
      number.kind = MTL_CUDA_NUMBER_BFLOAT16;
      return number;
    default:
      break;
    }

  kind = &mtl_float_kinds[type.code];
  if (kind->sign == MTL_FLOAT_WITHOUT_SIGN)
    number.kind = MTL_CUDA_NUMBER_POWER;
  number.format = (MtlCudaFloat) {
    .exponent_bits = kind->exponent_bits,
    .mantissa_bits = kind->mantissa_bits,
    .bias = kind->bias,
    .has_no_negative_zero = kind->sign == MTL_FLOAT_WITHOUT_NEGATIVE_ZERO,
    .largest = kind->largest,
    .too_large = kind->too_large,
    .nan = kind->nan,
  };
  return number;
}

/* The result of an operation that has none, which depends on the processor */
static guint64
get_own_nan (void)
{
  volatile double infinity = INFINITY;
  double nan = infinity - infinity;
  guint64 bits;

  memcpy (&bits, &nan, sizeof bits);
  return bits;
}

void
mtl_cuda_conversion_init (MtlCudaConversion *self,
                          MtlElementType     dest,
                          MtlElementType     source,
                          const double      *factors)
{
  gboolean takes_both = source.code == kDLComplex
                        && (dest.code == kDLComplex || dest.code == kDLBool);

  memset (self, 0, sizeof *self);
  self->dest = mtl_cuda_number_describe (get_part (dest));
  self->source = mtl_cuda_number_describe (get_part (source));
  self->n_dest = dest.code == kDLComplex ? 2 : 1;
  self->n_converted = takes_both ? 2 : 1;
  if (factors != NULL)
    {
      self->is_scaled = TRUE;
      memcpy (self->factors, factors, sizeof self->factors);
      self->own_nan = get_own_nan ();
    }
  else
    self->copies = takes_low_bytes (get_part (dest), get_part (source));
}

/* Four elements next to each other are converted together. */
static gboolean
suits_fours (const MtlCudaJob    *job,
             const MtlCudaLayout *layout)
{
  guint dest = job->dest_size == 8 ? 16 : 4 * job->dest_size;
  guint source = job->source_size == 8 ? 16 : 4 * job->source_size;
  const MtlAxis *run = &layout->axes[0];

  return mtl_cuda_job_has_runs (job, layout) && run->source_step == job->source_size
         && mtl_cuda_layout_aligned (layout, 1, 0, dest)
         && mtl_cuda_layout_aligned (layout, 1, 1, source)
         && (run->extent % 4 == 0 || (layout->n_axes == 1 && run->extent > 4));
}

/* The last elements of a single run that are not four go by themselves. */
static gboolean
plan_fours (const MtlCudaJob    *job,
            const MtlCudaLayout *layout)
{
  MtlCudaLayout fours = *layout, rest = *layout;
  MtlAxis *run = &fours.axes[0];

  run->extent /= 4;
  run->dest_step *= 4;
  run->source_step *= 4;
  if (!mtl_cuda_plan_items (job, &fours, "dense", MTL_CUDA_CONVERTED, FALSE))
    return FALSE;

  rest.axes[0].extent %= 4;
  if (rest.axes[0].extent == 0)
    return TRUE;

  rest.dest += run->extent * (guint64) run->dest_step;
  rest.source += run->extent * (guint64) run->source_step;
  return mtl_cuda_plan_gather (job, &rest, FALSE);
}

static gboolean
plan_converted (const MtlCudaJob    *job,
                const MtlCudaLayout *layout)
{
  guint size = MIN (job->dest_size, job->source_size);
  guint64 n = mtl_cuda_layout_count (layout);
  gboolean in_order = mtl_cuda_layout_is_in_order (layout);
  MtlCudaFamily family = mtl_cuda_plan_forced;

  if (!mtl_cuda_layout_aligned (layout, 0, 0, job->dest_size)
      || !mtl_cuda_layout_aligned (layout, 0, 1, job->source_size))
    return mtl_cuda_plan_gather (job, layout, TRUE);

  if (suits_fours (job, layout)
      && (family == MTL_CUDA_DENSE
          || (family == MTL_CUDA_CHOSEN
              && (in_order || layout->axes[0].extent * job->dest_size >= 128))))
    return plan_fours (job, layout);

  if (layout->n_axes == 0 || family == MTL_CUDA_GATHER
      || (family == MTL_CUDA_CHOSEN
          && ((in_order && size >= 4)
              || n * (job->dest_size + job->source_size) < 2 * MTL_CUDA_MIN_TILED_BYTES)))
    return mtl_cuda_plan_gather (job, layout, FALSE);

  return mtl_cuda_plan_tiled (job, layout, family);
}

typedef struct
{
  MtlCudaJob job;
  MtlCudaAnyGather params;
} AnyConversion;

static gboolean
plan_any (const MtlCudaJob    *job,
          const MtlCudaLayout *layout)
{
  MtlCudaAnyGather *params = &((AnyConversion *) job)->params;

  params->n = mtl_cuda_layout_count (layout);
  params->n_axes = layout->n_axes;
  params->conversion.is_unaligned
    = !mtl_cuda_layout_aligned (layout, 0, 0, params->conversion.dest.size)
      || !mtl_cuda_layout_aligned (layout, 0, 1, params->conversion.source.size);
  for (guint i = 0; i < layout->n_axes; i++)
    mtl_cuda_axis_init (&params->axes[i], &layout->axes[i], 1);
  return mtl_cuda_job_launch_named (job, layout, "convert_any", "gather_any",
                                    mtl_cuda_count_blocks (params->n), params, sizeof *params);
}

gboolean
mtl_cuda_job_convert (MtlCudaJob     *job,
                      MtlCudaLayout  *layout,
                      MtlElementType  dest,
                      MtlElementType  source,
                      const double   *factors)
{
  AnyConversion any;

  /* Real numbers are converted from real parts. */
  if (dest.code != kDLComplex && dest.code != kDLBool)
    source = get_part (source);
  job->dest_size = MAX (dest.bits / 8, 1);
  job->source_size = MAX (source.bits / 8, 1);
  if (factors == NULL && takes_low_bytes (dest, source))
    return mtl_cuda_job_copy_bytes (job, layout, job->dest_size);

  mtl_cuda_job_find_source_bytes (job, layout);
  mtl_cuda_layout_take_bytes (layout, 1, 0);
  if (factors == NULL)
    job->module = find_module (get_number (dest), get_number (source));
  if (job->module != NULL)
    {
      job->suffix = job->module + strlen (MODULE_PREFIX);
      return mtl_cuda_job_split (job, layout, plan_converted);
    }

  any.job = *job;
  mtl_cuda_conversion_init (&any.params.conversion, dest, source, factors);
  return mtl_cuda_job_split (&any.job, layout, plan_any);
}
