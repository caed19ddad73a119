/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include <math.h>

/* float16 and bfloat16 against a table of all their values: of a float whose
 * sign bit is clear, a larger pattern is a larger value, so that rounding is a
 * search for the two neighbours. */
typedef struct
{
  MtlDType dtype;
  int exponent_bits;
  int mantissa_bits;
  guint n_finite;  /* patterns without a sign, and that of infinity */
  double *values;  /* their values, where infinity is what a next float would be */
} Kind;

static void
kind_init (Kind     *self,
           MtlDType  dtype,
           int       exponent_bits,
           int       mantissa_bits)
{
  int bias = (1 << (exponent_bits - 1)) - 1;

  self->dtype = dtype;
  self->exponent_bits = exponent_bits;
  self->mantissa_bits = mantissa_bits;
  self->n_finite = ((1u << exponent_bits) - 1) << mantissa_bits;
  self->values = g_new (double, self->n_finite + 1);

  for (guint i = 0; i <= self->n_finite; i++)
    {
      int exponent = i >> mantissa_bits;
      double fraction = (i & ((1u << mantissa_bits) - 1)) / pow (2, mantissa_bits);

      self->values[i] = exponent == 0 ? fraction * pow (2, 1 - bias)
                                      : (1 + fraction) * pow (2, exponent - bias);
    }
}

static void
kind_clear (Kind *self)
{
  g_free (self->values);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Kind, kind_clear)

/* The pattern of the nearest value, and of two equally near ones the even. */
static guint16
kind_round (const Kind *self,
            double      value)
{
  guint16 sign = signbit (value) ? 0x8000 : 0;
  double magnitude = fabs (value);
  guint low = 0, high = self->n_finite;
  double below, above;

  if (magnitude >= self->values[high])
    return sign | high;

  while (high - low > 1)
    {
      guint middle = (low + high) / 2;

      if (self->values[middle] <= magnitude)
        low = middle;
      else
        high = middle;
    }

  below = magnitude - self->values[low];
  above = self->values[high] - magnitude;
  if (below == above)
    return sign | ((low & 1) == 0 ? low : high);

  return sign | (below < above ? low : high);
}

static MtlStridedView *
new_view (MtlDType  dtype,
          gpointer  data,
          gsize     n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, n * mtl_dtype_get_bits (dtype) / 8);
  MtlStridedView *view = mtl_strided_view_new_from_bytes (bytes, dtype, DIMS (n), &error);

  g_assert_no_error (error);
  return view;
}

/* The elements after a conversion; valid as long as the holder. */
static gconstpointer
convert (MtlStridedView  *view,
         MtlDType         dtype,
         MtlStridedView **holder)
{
  g_autoptr (GError) error = NULL;

  *holder = mtl_strided_view_to_dtype (view, dtype, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  return mtl_strided_view_get_data (*holder);
}

/* All 65536 patterns have the value of the table, and come back as they were. */
static void
check_patterns (const Kind *kind)
{
  g_autofree guint16 *patterns = g_new (guint16, 65536);
  g_autoptr (MtlStridedView) view = new_view (kind->dtype, patterns, 65536);
  g_autoptr (MtlStridedView) double_view = NULL, float_view = NULL, back_view = NULL;
  const double *doubles;
  const float *floats;
  const guint16 *back;

  for (guint i = 0; i < 65536; i++)
    patterns[i] = i;

  doubles = convert (view, MTL_DTYPE_FLOAT64, &double_view);
  floats = convert (view, MTL_DTYPE_FLOAT32, &float_view);
  back = convert (float_view, kind->dtype, &back_view);

  for (guint i = 0; i < 65536; i++)
    {
      guint magnitude = i & 0x7fff;

      g_assert_true (!signbit (doubles[i]) == (i < 0x8000) || isnan (doubles[i]));
      if (magnitude > kind->n_finite)
        {
          g_assert_true (isnan (doubles[i]) && isnan (floats[i]));
          g_assert_cmphex (back[i] & 0x7fff, >, kind->n_finite);
          continue;
        }

      if (magnitude == kind->n_finite)
        g_assert_true (isinf (doubles[i]));
      else
        g_assert_true (fabs (doubles[i]) == kind->values[magnitude]);
      g_assert_true (doubles[i] == floats[i]);
      g_assert_cmphex (back[i], ==, i);
    }
}

static void
check_rounding (const Kind   *kind,
                const double *values,
                gsize         n)
{
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_FLOAT64, (gpointer) values, n);
  g_autoptr (MtlStridedView) holder = NULL;
  const guint16 *rounded = convert (view, kind->dtype, &holder);

  for (gsize i = 0; i < n; i++)
    if (rounded[i] != kind_round (kind, values[i]))
      g_error ("%.17g became 0x%04x, not 0x%04x", values[i], rounded[i],
               kind_round (kind, values[i]));
}

/* Checks the tie between each pair of neighbours, and the numbers right beside it. */
static void
check_ties (const Kind *kind)
{
  g_autofree double *values = g_new (double, kind->n_finite * 8);
  gsize n = 0;

  for (guint i = 0; i < kind->n_finite; i++)
    {
      double tie = (kind->values[i] + kind->values[i + 1]) / 2;
      double near[] = { tie, nextafter (tie, 0), nextafter (tie, INFINITY), kind->values[i] };

      for (gsize j = 0; j < G_N_ELEMENTS (near); j++)
        {
          values[n++] = near[j];
          values[n++] = -near[j];
        }
    }

  check_rounding (kind, values, n);
}

/* Doubles of all magnitudes, also far beyond both ends. */
static void
check_random (const Kind *kind)
{
  const gsize n = 200000;
  g_autofree double *values = g_new (double, n);

  for (gsize i = 0; i < n; i++)
    {
      int exponent = i % 4 == 0 ? g_test_rand_int_range (-1074, 1024)
                                : g_test_rand_int_range (-30, 20);

      values[i] = ldexp (g_test_rand_double_range (-2, 2), exponent);
    }
  values[0] = 0.0;
  values[1] = -0.0;
  values[2] = INFINITY;
  values[3] = -INFINITY;
  values[4] = 5e-324;
  values[5] = G_MAXDOUBLE;

  check_rounding (kind, values, n);
}

static void
check_nan (const Kind *kind)
{
  double nan = NAN;
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_FLOAT64, &nan, 1);
  g_autoptr (MtlStridedView) holder = NULL;
  const guint16 *rounded = convert (view, kind->dtype, &holder);

  g_assert_cmphex (rounded[0] & 0x7fff, >, kind->n_finite);
}

static void
check_kind (const Kind *kind)
{
  check_patterns (kind);
  check_ties (kind);
  check_random (kind);
  check_nan (kind);
}

static void
test_float16 (void)
{
  g_auto (Kind) kind;

  kind_init (&kind, MTL_DTYPE_FLOAT16, 5, 10);
  g_assert_true (kind.values[kind.n_finite - 1] == 65504);
  g_assert_true (kind.values[0x3c00] == 1);
  check_kind (&kind);
}

static void
test_bfloat16 (void)
{
  g_auto (Kind) kind;

  kind_init (&kind, MTL_DTYPE_BFLOAT16, 8, 7);
  g_assert_true (kind.values[0x3f80] == 1);
  check_kind (&kind);
}

#ifdef __FLT16_MANT_DIG__
/* The compiler has a float16 of its own. */
static void
test_float16_compiler (void)
{
  const gsize n = 100000;
  g_autofree float *values = g_new (float, n);
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_FLOAT32, values, n);
  g_autoptr (MtlStridedView) holder = NULL;
  const _Float16 *rounded;

  for (gsize i = 0; i < n; i++)
    values[i] = ldexp (g_test_rand_double_range (-2, 2), g_test_rand_int_range (-28, 18));

  rounded = convert (view, MTL_DTYPE_FLOAT16, &holder);
  for (gsize i = 0; i < n; i++)
    {
      _Float16 expected = values[i];

      g_assert_cmpmem (&rounded[i], 2, &expected, 2);
    }
}
#endif

/* A bfloat16 is the upper half of a float32. */
static void
test_bfloat16_halves (void)
{
  g_autofree guint16 *patterns = g_new (guint16, 65536);
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_BFLOAT16, patterns, 65536);
  g_autoptr (MtlStridedView) holder = NULL;
  const float *floats;

  for (guint i = 0; i < 65536; i++)
    patterns[i] = i;

  floats = convert (view, MTL_DTYPE_FLOAT32, &holder);
  for (guint i = 0; i < 65536; i++)
    {
      guint32 bits = i << 16;
      float expected;

      memcpy (&expected, &bits, sizeof expected);
      g_assert_true (floats[i] == expected || (isnan (floats[i]) && isnan (expected)));
    }
}

/* TRUE if the processor rounds once, as all do; valgrind does not when it plays one. */
static gboolean
processor_rounds_once (void)
{
  volatile gint64 value = POW2 (60) + POW2 (36) + 1;

  if ((float) value == 0x1.000002p60f)
    return TRUE;

  g_test_skip ("what plays the processor rounds integers of 64 bits twice");
  return FALSE;
}

/* One rounding, not one to double and another one to float. */
static void
test_int64_to_float32 (void)
{
  gint64 values[] = { POW2 (60) + POW2 (36) + 1, -(POW2 (60) + POW2 (36) + 1), POW2 (24) + 1,
                      POW2 (24) + 3, G_MAXINT64, G_MININT64 };
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_INT64, values, G_N_ELEMENTS (values));
  g_autoptr (MtlStridedView) holder = NULL;
  const float *floats = convert (view, MTL_DTYPE_FLOAT32, &holder);
  const float expected[] = { 0x1.000002p60f, -0x1.000002p60f, 0x1p24f, 0x1.000004p24f, 0x1p63f,
                             -0x1p63f };

  if (!processor_rounds_once ())
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    g_assert_cmpfloat (floats[i], ==, expected[i]);
}

static void
test_uint64_to_float32 (void)
{
  guint64 values[] = { POW2 (60) + POW2 (36) + 1, POW2 (60) + POW2 (36), POW2 (24) + 3,
                       G_MAXUINT64 - POW2 (39), G_MAXUINT64 - POW2 (39) + 1, G_MAXUINT64 };
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_UINT64, values, G_N_ELEMENTS (values));
  g_autoptr (MtlStridedView) holder = NULL;
  const float *floats = convert (view, MTL_DTYPE_FLOAT32, &holder);
  const float expected[] = { 0x1.000002p60f, 0x1p60f, 0x1.000004p24f, 0x1.fffffep63f, 0x1p64f,
                             0x1p64f };

  if (!processor_rounds_once ())
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    g_assert_cmpfloat (floats[i], ==, expected[i]);
}

/* Narrower floats are rounded once, too: rounding to double first would make a tie of a number
 * right above one. */
static void
test_int64_to_half (void)
{
  gint64 bfloat_values[] = { POW2 (62) + POW2 (54) + 1, POW2 (62) + POW2 (54),
                             POW2 (62) + POW2 (54) - 1, -(POW2 (62) + POW2 (54) + 1) };
  g_autoptr (MtlStridedView) view = new_view (MTL_DTYPE_INT64, bfloat_values, 4);
  g_autoptr (MtlStridedView) holder = NULL;
  const guint16 *patterns = convert (view, MTL_DTYPE_BFLOAT16, &holder);

  g_assert_cmphex (patterns[0], ==, 0x5e81);
  g_assert_cmphex (patterns[1], ==, 0x5e80);
  g_assert_cmphex (patterns[2], ==, 0x5e80);
  g_assert_cmphex (patterns[3], ==, 0xde81);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/floats/float16", test_float16);
  g_test_add_func ("/StridedView/floats/bfloat16", test_bfloat16);
#ifdef __FLT16_MANT_DIG__
  g_test_add_func ("/StridedView/floats/float16/compiler", test_float16_compiler);
#endif
  g_test_add_func ("/StridedView/floats/bfloat16/halves", test_bfloat16_halves);
  g_test_add_func ("/StridedView/floats/int64-to-float32", test_int64_to_float32);
  g_test_add_func ("/StridedView/floats/uint64-to-float32", test_uint64_to_float32);
  g_test_add_func ("/StridedView/floats/int64-to-bfloat16", test_int64_to_half);

  return g_test_run ();
}
