/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of elements of all pairs of types become what single elements do, which
 * other code converts. Memory is allocated to the byte, for sanitizers to see what
 * lies outside. */

#include "forced-kernels.h"
#include "test-utils.h"

#include <math.h>

#include "mtl-convert-private.h"
#include "mtl-number-private.h"

static const MtlDType dtypes[] = {
  MTL_DTYPE_BOOL, MTL_DTYPE_INT8, MTL_DTYPE_INT16, MTL_DTYPE_INT32, MTL_DTYPE_INT64,
  MTL_DTYPE_UINT8, MTL_DTYPE_UINT16, MTL_DTYPE_UINT32, MTL_DTYPE_UINT64, MTL_DTYPE_FLOAT16,
  MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT64, MTL_DTYPE_BFLOAT16, MTL_DTYPE_COMPLEX32,
  MTL_DTYPE_COMPLEX64, MTL_DTYPE_COMPLEX128, MTL_DTYPE_FLOAT8_E3M4, MTL_DTYPE_FLOAT8_E4M3,
  MTL_DTYPE_FLOAT8_E4M3B11FNUZ, MTL_DTYPE_FLOAT8_E4M3FN, MTL_DTYPE_FLOAT8_E4M3FNUZ,
  MTL_DTYPE_FLOAT8_E5M2, MTL_DTYPE_FLOAT8_E5M2FNUZ, MTL_DTYPE_FLOAT8_E8M0FNU,
  MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_FLOAT6_E3M2FN, MTL_DTYPE_FLOAT4_E2M1FN, MTL_DTYPE_INT2,
  MTL_DTYPE_INT4, MTL_DTYPE_UINT2, MTL_DTYPE_UINT4,
};

/* Each type that is smaller than a byte is there twice: packed and padded. */
#define N_PACKED 7
#define N_TYPES (G_N_ELEMENTS (dtypes) + N_PACKED)

static MtlElementType
get_type (guint i)
{
  gboolean padded = i >= G_N_ELEMENTS (dtypes);
  MtlElementType type = mtl_element_type_new (dtypes[padded ? i - N_PACKED : i]);

  type.padded = padded;
  return type;
}

/* A row in memory that it fills from the first to the last element, `extra` bytes
 * or bits behind an address that is aligned. */
typedef struct
{
  MtlElementType type;
  guint8 *memory;
  gsize size;
  guint bits;
  gint64 first; /* in bits */
  gint64 step;
} Row;

static void
row_init (Row            *self,
          MtlElementType  type,
          gsize           n,
          gint64          step,
          guint           extra)
{
  guint bits = mtl_element_type_get_lane_bits (type);
  gint64 begin = bits % 8 == 0 ? 8 * extra : extra;

  self->type = type;
  self->bits = bits;
  self->step = step * bits;
  self->first = begin + (step < 0 ? -(gint64) (n - 1) * self->step : 0);
  self->size = (begin + (gint64) (n - 1) * ABS (self->step) + bits + 7) / 8;
  self->memory = g_malloc (self->size);
  for (gsize i = 0; i < self->size; i++)
    self->memory[i] = g_test_rand_int ();
}

static void
row_clear (Row *self)
{
  g_free (self->memory);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Row, row_clear)

static guint8 *
row_locate (const Row *self,
            gsize      i,
            guint     *bit)
{
  gint64 position = self->first + (gint64) i * self->step;

  *bit = position % 8;
  return self->memory + position / 8;
}

/* Random patterns have all exponents alike: most integers that they hold are
 * large. Some are numbers that every type is near to. In some rows, all are below a
 * power of two, many of them near it. */
static void
row_fill (Row   *self,
          gsize  n)
{
  static const guint8 powers[] = { 0, 7, 8, 15, 16, 24, 31, 32, 51, 52, 53, 63, 64 };
  gint which = g_test_rand_int_range (-(gint) G_N_ELEMENTS (powers), G_N_ELEMENTS (powers));
  double limit = which >= 0 ? ldexp (1, powers[which]) : 0;
  static const double edges[] = {
    0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2, -2.5, -3, 3.5, 4, 6, 7, 7.5, 8, -8.5, -9, 15.5, 16,
    28, 127, 128, 128.5, -128, -129, 255, 255.5, 256, 448, 464, 32767.5, 32768, -32769, 65504, 65519, 65520, 65535, 65536, 57344, 61440, 2147483647,
    2147483647.5, 2147483648., -2147483647.5, -2147483648., -2147483649., 4294967295., 4294967296.,
    9223372036854775808., -9223372036854775808., 18446744073709551616., 1e39, -1e39, 1e300,
    0x1p-127, 0x1.8p-127, 0x1p-133, 0x1.8p-133, 0x1p-149, 1e-300, INFINITY, -INFINITY, NAN, -NAN,
  };

  for (gsize i = 0; i < n; i++)
    {
      guint bit;
      guint8 *data = row_locate (self, i, &bit);

      if (limit > 0)
        mtl_number_store (mtl_number_from_double (g_test_rand_bit ()
                                                    ? g_test_rand_double_range (-limit, limit)
                                                    : limit - g_test_rand_int_range (1, 5) / 2.),
                          self->type, data, bit);
      else if (g_test_rand_bit ())
        mtl_number_store (mtl_number_from_double (edges[g_test_rand_int_range (
                            0, G_N_ELEMENTS (edges))]), self->type, data, bit);
    }
}

static gboolean
is_same (MtlNumber a,
         MtlNumber b)
{
  gboolean a_is_nan = isnan (mtl_number_to_double (a)), b_is_nan = isnan (mtl_number_to_double (b));
  double a_im = a.kind == MTL_NUMBER_COMPLEX ? a.im : 0;
  double b_im = b.kind == MTL_NUMBER_COMPLEX ? b.im : 0;

  if (a_is_nan || b_is_nan || isnan (a_im) || isnan (b_im))
    return a_is_nan == b_is_nan && isnan (a_im) == isnan (b_im);

  return mtl_number_equal (a, b)
         && signbit (mtl_number_to_double (a)) == signbit (mtl_number_to_double (b))
         && signbit (a_im) == signbit (b_im);
}

static void
check (const Row *dest,
       const Row *source,
       gsize      n)
{
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *from = mtl_element_type_to_string (source->type);
      g_autofree char *to = mtl_element_type_to_string (dest->type);
      guint8 single[16] = { 0 };
      MtlNumber expected, found, number;
      guint bit;
      const guint8 *data = row_locate (source, i, &bit);

      number = mtl_number_load (source->type, data, bit);
      mtl_number_store (number, dest->type, single, 0);
      expected = mtl_number_load (dest->type, single, 0);
      data = row_locate (dest, i, &bit);
      found = mtl_number_load (dest->type, data, bit);
      if (!is_same (found, expected))
        g_error ("%s to %s: %.17g became %.17g, not %.17g", from, to, mtl_number_to_double (number),
                 mtl_number_to_double (found), mtl_number_to_double (expected));
    }
}

static MtlElementType
get_unpacked (const Row *row)
{
  MtlElementType type = row->type;

  type.padded = type.padded || row->bits < 8;
  return type;
}

/* Converts a row; packed elements take a byte each meanwhile. */
static void
convert_row (Row       *dest,
             const Row *source,
             gsize      n)
{
  g_autofree guint8 *unpacked = g_malloc (n), *converted = g_malloc (n);
  guint8 *to = dest->memory + dest->first / 8;
  const guint8 *from = source->memory + source->first / 8;
  gssize to_step = dest->step / 8, from_step = source->step / 8;
  MtlConversion conversion;

  mtl_conversion_init (&conversion, get_unpacked (dest), get_unpacked (source), NULL);
  if (source->bits < 8)
    {
      mtl_bits_unpack (unpacked, source->memory, source->first, source->step, n, source->bits);
      from = unpacked;
      from_step = 1;
    }
  if (dest->bits < 8)
    {
      to = converted;
      to_step = 1;
    }

  mtl_conversion_run (to, from, n, to_step, from_step, &conversion);
  if (dest->bits < 8)
    mtl_bits_pack (dest->memory, dest->first, dest->step, converted, n, dest->bits);
}

static void
convert (MtlElementType dest_type,
         MtlElementType source_type,
         gsize          n)
{
  static const gint64 steps[] = { 1, 1, -1, 2, -3 };
  g_auto (Row) dest = { 0 }, source = { 0 };
  g_autofree guint8 *before = NULL;

  row_init (&dest, dest_type, n, steps[g_test_rand_int_range (0, G_N_ELEMENTS (steps))],
            g_test_rand_int_range (0, 8));
  row_init (&source, source_type, n, steps[g_test_rand_int_range (0, G_N_ELEMENTS (steps))],
            g_test_rand_int_range (0, 8));
  row_fill (&source, n);
  before = g_memdup2 (dest.memory, dest.size);

  convert_row (&dest, &source, n);
  check (&dest, &source, n);

  /* Bits outside the elements are as they were. */
  for (gsize i = 0; i < n; i++)
    for (guint j = 0; j < dest.bits; j++)
      {
        gint64 position = dest.first + (gint64) i * dest.step + j;
        guint8 mask = 1u << position % 8;

        dest.memory[position / 8] = (dest.memory[position / 8] & ~mask)
                                    | (before[position / 8] & mask);
      }
  g_assert_cmpmem (dest.memory, dest.size, before, dest.size);
}

static void
test_pairs (void)
{
  for (guint i = 0; i < N_TYPES; i++)
    for (guint j = 0; j < N_TYPES; j++)
      {
        if (i == j)
          continue;

        for (gsize n = 1; n < 70; n += g_test_rand_int_range (1, 8))
          convert (get_type (i), get_type (j), n);
        convert (get_type (i), get_type (j), 3000);
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (lacks_forced_kernels ())
    return 0;

  g_test_add_func ("/convert/pairs", test_pairs);

  return g_test_run ();
}
