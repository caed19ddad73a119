/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Comparisons and statistics by the kernels for CUDA, which the host runs, against its own. */

#include "cuda-plan-cases.h"

/* Comparisons */

/* Where an element is: the byte, and its bit */
static const guint8 *
find_element (const Case   *self,
              const Side   *side,
              const guint8 *data,
              gint64        index,
              guint        *bit)
{
  gint64 position = side->start;

  for (gsize axis = self->n_dims; axis-- > 0; index /= self->shape[axis])
    position += index % self->shape[axis] * side->strides[axis] * get_bits (side);
  *bit = position & 7;
  return data + (position >> 3);
}

static gboolean
are_close_on_host (const Case         *self,
                   const Memory       *memory,
                   const MtlTolerance *tolerance)
{
  const MtlTolerance of_numbers = { tolerance->rtol, tolerance->atol, FALSE };
  gint64 volume = 1;

  for (gsize i = 0; i < self->n_dims; i++)
    volume *= self->shape[i];
  for (gint64 i = 0; i < volume; i++)
    {
      guint a_bit, b_bit;
      const guint8 *a_data = find_element (self, &self->dest, memory->gpu.dest.host, i, &a_bit);
      const guint8 *b_data = find_element (self, &self->source, memory->gpu.source.host, i,
                                           &b_bit);
      MtlNumber a = mtl_number_load (self->dest.type, a_data, a_bit);
      MtlNumber b = mtl_number_load (self->source.type, b_data, b_bit);

      if (!mtl_number_is_close (a, b, &of_numbers)
          && !(tolerance->nans_are_equal && mtl_number_is_nan (a) && mtl_number_is_nan (b)))
        return FALSE;
    }

  return TRUE;
}

/* The memory of the GPU, and the word of the result */
typedef struct
{
  Gpu *gpu;
  guint32 result;
} Comparison;

#define RESULT_ADDRESS 0x1000

static void *
reach_comparison (void               *context,
                  unsigned long long  address,
                  size_t              size,
                  int                 is_write)
{
  Comparison *comparison = context;

  if (address == RESULT_ADDRESS && size == sizeof comparison->result)
    return &comparison->result;

  g_assert_false (is_write);
  return reach (comparison->gpu, address, size, is_write);
}

static gboolean
run_comparison (const MtlCudaLaunch  *launch,
                gpointer              data,
                GError              **error)
{
  const CudaDoubleKernel *kernel = cuda_double_find_kernel (launch->kernel);
  guint64 dest = launch->dest, source = launch->source;
  void *params[] = { &dest, &source, (gpointer) launch->params };

  g_assert_cmpuint (kernel->param_sizes[2], ==, launch->params_size);
  g_hash_table_add (all_kernels, g_strdup (launch->kernel));
  kernel->run (launch->grid, 1, 1, launch->block, launch->shared_bytes, params, reach_comparison,
               data);
  return TRUE;
}

/* The first operand is mostly a converted copy of the second, of which at most a few elements are
 * changed. */
static gboolean
check_comparison (guint    a_type,
                  guint    b_type,
                  gsize   *n_close)
{
  static const double tolerances[][2] = { { 0, 0 }, { 1e-5, 1e-8 }, { 0, 1 }, { 0.5, 0 } };
  const double *drawn = tolerances[pick (0, G_N_ELEMENTS (tolerances) - 1)];
  const MtlTolerance tolerance = { drawn[0], drawn[1], happens (50) };
  g_auto (Memory) memory = { NULL };
  g_auto (MtlLayout) a_layout = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) b_layout = MTL_LAYOUT_INIT;
  g_autoptr (GError) error = NULL;
  gboolean expected;
  Comparison comparison = { &memory.gpu, 0 };
  MtlStrided a, b;
  Case layouts;

  draw_conversion (&layouts, a_type, b_type);
  draw_limits ();
  memory_init (&memory, &layouts);
  draw_numbers (&memory, &layouts);
  get_layout (&layouts, &layouts.dest, &a_layout);
  get_layout (&layouts, &layouts.source, &b_layout);
  a = get_strided (&layouts.dest, &a_layout, (guintptr) memory.gpu.dest.host);
  b = get_strided (&layouts.source, &b_layout, (guintptr) memory.gpu.source.host);
  if (happens (90))
    mtl_strided_copy (&a, &b, NULL, &error);
  if (happens (30)) /* back, so that what the conversion lost is lost in both */
    mtl_strided_copy (&b, &a, NULL, NULL);
  g_assert_no_error (error);
  if (happens (20))
    memory.gpu.dest.host[pick (0, memory.gpu.dest.size - 1)] ^= 1 << pick (0, 7);
  expected = are_close_on_host (&layouts, &memory, &tolerance);

  a = get_strided (&layouts.dest, &a_layout, memory.gpu.dest.address);
  b = get_strided (&layouts.source, &b_layout, memory.gpu.source.address);
  if (!mtl_cuda_plan_compare (&a, &b, &tolerance, RESULT_ADDRESS, run_comparison, &comparison,
                              &error))
    {
      g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
      g_assert_true (tolerance.rtol != 0 || tolerance.atol != 0);
      g_assert_true (a.type.code == kDLComplex || b.type.code == kDLComplex);
      return FALSE;
    }

  if (comparison.result != (expected ? 0 : 1))
    {
      g_autofree char *text = describe (&layouts);

      g_error ("%s instead of %s; tolerances %g, %g; %s", expected ? "different" : "close",
               expected ? "close" : "different", tolerance.rtol, tolerance.atol, text);
    }
  *n_close += expected;
  return TRUE;
}

static void
test_comparisons (void)
{
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 0) * G_USEC_PER_SEC;
  gsize n = 0, n_close = 0;

  do
    for (guint i = 0; i < N_TYPES * N_TYPES; i++)
      n += check_comparison (i / N_TYPES, i % N_TYPES, &n_close);
  while (g_get_monotonic_time () < deadline);
  g_test_message ("%" G_GSIZE_FORMAT " comparisons, %" G_GSIZE_FORMAT " of close numbers", n,
                  n_close);
  g_assert_cmpuint (n_close, >, n / 10);
  g_assert_cmpuint (n_close, <, n - n / 10);
}

/* Statistics */

/* Tiles of the GPU, and the tallies of which there is room for one more */
typedef struct
{
  Gpu *gpu;
  MtlCudaTally *tallies;
  gsize size;
} Tallies;

#define TALLIES_ADDRESS POW2 (20)

static void *
reach_tallies (void               *context,
               unsigned long long  address,
               size_t              size,
               int                 is_write)
{
  Tallies *tallies = context;

  if (is_write)
    {
      g_assert_cmpuint (address - TALLIES_ADDRESS + size, <=, tallies->size);
      return (guint8 *) tallies->tallies + (address - TALLIES_ADDRESS);
    }

  return reach (tallies->gpu, address, size, is_write);
}

static gboolean
run_tallies (const MtlCudaLaunch  *launch,
             gpointer              data,
             GError              **error)
{
  const CudaDoubleKernel *kernel = cuda_double_find_kernel (launch->kernel);
  guint64 dest = launch->dest, source = launch->source;
  void *params[] = { &dest, &source, (gpointer) launch->params };

  g_assert_cmpuint (kernel->param_sizes[2], ==, launch->params_size);
  g_hash_table_add (all_kernels, g_strdup (launch->kernel));
  kernel->run (launch->grid, 1, 1, launch->block, launch->shared_bytes, params, reach_tallies,
               data);
  return TRUE;
}

/* Makes most numbers finite: equal, usual or very large ones, or many zeros. */
static void
draw_sample (Memory     *memory,
             const Case *layouts)
{
  MtlElementType element = layouts->source.type;
  MtlElementType type = element.code == kDLComplex
                          ? (MtlElementType) { kDLFloat, element.bits / 2, 1, FALSE } : element;
  guint size = MAX (type.bits / 8, 1);
  gsize first = layouts->source.start / 8 % size;
  gsize n = (memory->gpu.source.size - first) / size;
  int kind = pick (0, 4);

  if (type.bits < 8 || kind == 0)
    {
      draw_numbers (memory, layouts);
      return;
    }
  for (gsize i = 0; i < n; i++)
    {
      double x = kind == 1   ? 3
                 : kind == 4 ? copysign (pick (0, 1), -happens (50))
                             : g_test_rand_double_range (-100, 100);
      MtlNumber number = mtl_number_from_double (kind == 2 ? ldexp (x, 1016) : x);

      if (type.code == kDLInt || type.code == kDLUInt)
        number = mtl_number_from_int64 (kind == 1 ? 3 : draw_integer ());
      if (kind == 3 && happens (1))
        number = mtl_number_from_double (happens (50) ? -INFINITY : NAN);
      mtl_number_store (number, type, memory->gpu.source.host + first + i * size, 0);
    }
}

static void
check_tallies (MtlElementType type)
{
  const MtlElementType number_type = mtl_tally_get_number_type (type);
  gboolean is_complex = type.code == kDLComplex;
  const MtlTallyKernels *kernels = mtl_tally_get_kernels ();
  const MtlTallyFunc func = is_complex ? kernels->of_complex128
                                       : kernels->of[mtl_convert_type_of (number_type)];
  guint8 numbers[MTL_TILE_BYTES] __attribute__ ((aligned (64)));
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  g_auto (Memory) memory = { NULL };
  g_autofree MtlCudaTally *results = NULL;
  g_autoptr (GError) error = NULL;
  MtlTiles tiles, gpu_tiles;
  MtlStrided strided;
  Tallies tallies;
  gint64 first, n_tiles;
  Case layouts;

  layouts.dest.type = layouts.source.type = type;
  draw_sides (&layouts);
  memory_init (&memory, &layouts);
  draw_sample (&memory, &layouts);
  get_layout (&layouts, &layouts.source, &layout);
  strided = get_strided (&layouts.source, &layout, (guintptr) memory.gpu.source.host);
  mtl_tiles_init (&tiles, &strided, number_type);
  strided = get_strided (&layouts.source, &layout, memory.gpu.source.address);
  mtl_tiles_init (&gpu_tiles, &strided, number_type);

  results = g_new (MtlCudaTally, 2 * tiles.n_tiles);
  tallies = (Tallies) { &memory.gpu, results, 0 };
  first = pick (0, tiles.n_tiles - 1) / 2;
  n_tiles = tiles.n_tiles - first;
  tallies.size = (is_complex ? 2 : 1) * n_tiles * sizeof *results;
  mtl_cuda_plan_tally (&gpu_tiles, first, n_tiles, type, TALLIES_ADDRESS, run_tallies, &tallies,
                       &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < n_tiles; i++)
    {
      MtlTally expected, tally;
      gsize n;
      const guint8 *data = mtl_tiles_get (&tiles, first + i, numbers, &n);

      func (&expected, data, n);
      mtl_cuda_tally_get (&results[i], is_complex ? &results[n_tiles + i] : NULL, &tally);
      g_assert_cmpint (tally.least, ==, expected.least);
      g_assert_cmpint (tally.most, ==, expected.most);
      g_assert_cmpuint (tally.n_zeros, ==, expected.n_zeros);
      g_assert_cmpuint (tally.n_nans, ==, expected.n_nans);
      g_assert_cmpuint (tally.n_infinities, ==, expected.n_infinities);
      g_assert_cmpmem (tally.parts, sizeof tally.parts, expected.parts, sizeof expected.parts);
    }
}

static void
test_tallies (void)
{
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 0) * G_USEC_PER_SEC;
  gsize n = 0;

  do
    for (guint i = 0; i < N_TYPES; i++, n++)
      check_tallies (get_type (i));
  while (n < 200 || g_get_monotonic_time () < deadline);
  g_test_message ("the tiles of %" G_GSIZE_FORMAT " layouts", n);
}

int
main (int    argc,
      char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  all_kernels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_test_add_func ("/cuda/plan/comparisons", test_comparisons);
  g_test_add_func ("/cuda/plan/tallies", test_tallies);
  status = g_test_run ();
  g_hash_table_unref (all_kernels);
  return status;
}
