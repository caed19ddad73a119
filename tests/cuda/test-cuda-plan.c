/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Launches that the planner emits, run by the host on memory that has the bytes that copies, fills
 * and conversions of the host leave. Memory is allocated to the byte, and all of it is compared. */

#include "cuda-plan-cases.h"

static void
test_copies (void)
{
  gsize n_cases = get_number ("MTL_TEST_CASES", 10000);
  gint64 deadline = g_get_monotonic_time () + get_number ("MTL_TEST_SECONDS", 1) * G_USEC_PER_SEC;
  gsize n = 0;

  for (; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      Case layouts;

      layouts.dest.type = layouts.source.type = draw_opaque_type ();
      draw_sides (&layouts);
      draw_limits ();
      {
        g_auto (Memory) memory = { NULL };

        memory_init (&memory, &layouts);
        check_copy (&layouts, &memory, NULL);
      }
    }
  g_test_message ("%" G_GSIZE_FORMAT " random copies", n);
}

/* Two axes, each contiguous on one side, with any distances between rows: large enough for tiles.
 * The first ones have aligned rows, in which the last tiles are not aligned. */
static void
test_transposes (void)
{
  gsize n_cases = get_number ("MTL_TEST_CASES", 10000);
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 1) * G_USEC_PER_SEC / 2;
  gsize n = 0;

  for (; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      Case layouts = { .n_dims = 3 };
      guint16 size = 1 << n % 5;
      int most = size == 1 ? 400 : 800 / size + 60;
      gint64 gaps[2];

      layouts.dest.type = layouts.source.type = (MtlElementType) { kDLUInt, 8, size, FALSE };
      layouts.shape[0] = pick (1, 2);
      for (guint i = 1; i <= 2; i++)
        layouts.shape[i] = n < 5 ? 151 : happens (50) ? pick (1, most) : 64 * pick (1, most / 64);
      for (guint i = 0; i < 2; i++)
        {
          Side *side = i == 0 ? &layouts.dest : &layouts.source;
          guint inner = i == 0 ? 2 : 1, outer = i == 0 ? 1 : 2;

          gaps[i] = n < 5 ? 1 : happens (50) ? 0 : pick (0, 40);
          side->strides[inner] = 1;
          side->strides[outer] = layouts.shape[inner] + gaps[i];
          side->strides[0] = side->strides[outer] * layouts.shape[outer] + gaps[i];
          side->start = n < 5 || happens (50) ? 0 : 8 * size * pick (0, 40);
          side->size = side->start / 8 + side->strides[0] * layouts.shape[0] * size;
        }
      draw_limits ();
      if (n < 5 || happens (50))
        mtl_cuda_plan_forced = MTL_CUDA_TILE;
      if (n < 5)
        mtl_cuda_plan_most = 1 << 20;
      {
        g_auto (Memory) memory = { NULL };

        memory_init (&memory, &layouts);
        check_copy (&layouts, &memory, NULL);
      }
    }
  g_test_message ("%" G_GSIZE_FORMAT " transposes", n);
}

/* Pixels of up to 17 channels, from planes or to planes */
static void
test_channels (void)
{
  gsize n_cases = get_number ("MTL_TEST_CASES", 10000);
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 1) * G_USEC_PER_SEC / 2;
  gsize n = 0;

  for (; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      Case layouts = { .n_dims = 2 };
      guint16 size = 1 << n % 4;
      gboolean to_planes = happens (50);

      layouts.dest.type = layouts.source.type = (MtlElementType) { kDLUInt, 8, size, FALSE };
      layouts.shape[0] = n < 4 ? 100 : pick (1, 3000); /* pixels */
      layouts.shape[1] = n < 4 ? 3 : pick (2, 17);
      for (guint i = 0; i < 2; i++)
        {
          Side *side = i == 0 ? &layouts.dest : &layouts.source;
          gboolean is_planes = to_planes == (i == 0);

          side->strides[0] = is_planes ? 1 : layouts.shape[1];
          side->strides[1] = is_planes ? layouts.shape[0] + pick (0, 3) : 1;
          side->start = happens (50) ? 0 : 8 * size * pick (0, 40);
          side->size = side->start / 8 + layouts.shape[1] * (layouts.shape[0] + 3) * size;
        }
      draw_limits ();
      if (n < 4 || happens (50))
        mtl_cuda_plan_forced = MTL_CUDA_PIXELS;
      if (n < 4)
        mtl_cuda_plan_most = 1 << 20;
      {
        g_auto (Memory) memory = { NULL };

        memory_init (&memory, &layouts);
        check_copy (&layouts, &memory, NULL);
      }
    }
  g_test_message ("%" G_GSIZE_FORMAT " pixels", n);
}

static void
check_fill (MtlElementType type)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  g_auto (Memory) memory = { NULL };
  g_autofree guint8 *item = NULL;
  g_autoptr (GError) error = NULL;
  gsize size = (mtl_element_type_get_item_bits (type) + 7) / 8;
  Case layouts;
  MtlStrided dest;

  layouts.dest.type = layouts.source.type = type;
  draw_sides (&layouts);
  draw_limits ();
  memory_init (&memory, &layouts);
  item = g_malloc (size);
  fill_at_random (item, size);
  if (mtl_element_type_get_item_bits (type) < 8)
    item[0] &= (1u << mtl_element_type_get_item_bits (type)) - 1;

  get_layout (&layouts, &layouts.dest, &layout);
  dest = get_strided (&layouts.dest, &layout, (guintptr) memory.expected);
  mtl_strided_fill (&dest, item, NULL, &error);
  g_assert_no_error (error);
  dest = get_strided (&layouts.dest, &layout, memory.gpu.dest.address);
  mtl_cuda_plan_fill (&dest, item, run_launch, &memory.gpu, &error);
  g_assert_no_error (error);
  memory_check (&memory, &layouts);
}

static void
test_fills (void)
{
  gsize n_cases = get_number ("MTL_TEST_CASES", 3000);
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 1) * G_USEC_PER_SEC / 2;
  gsize n = 0;

  for (; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      MtlElementType type = draw_opaque_type ();

      if (happens (3))
        type.lanes = pick (1000, 3000);
      check_fill (type);
    }
  g_test_message ("%" G_GSIZE_FORMAT " random fills", n);
}

/* Conversions */

/* If an element and a factor are both NaN, the host's compiler decides which of them the result
 * is. */
static double
draw_factor (void)
{
  double factor = draw_double ();

  return isnan (factor) ? 1 : factor;
}

static void
check_conversion (guint         dest,
                  guint         source,
                  const double *factors)
{
  g_auto (Memory) memory = { NULL };
  Case layouts;

  draw_conversion (&layouts, dest, source);
  draw_limits ();
  memory_init (&memory, &layouts);
  draw_numbers (&memory, &layouts);
  check_copy (&layouts, &memory, factors);
}

/* All pairs, each as often as there is time for */
static void
check_pairs (guint    n_types,
             gboolean scales,
             guint64  seconds)
{
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", seconds) * G_USEC_PER_SEC;
  gsize n = 0;

  do
    for (guint i = 0; i < n_types * n_types; i++, n++)
      {
        const double factors[] = { draw_factor (), draw_factor () };
        const double usual[] = { 1 / 255.0, -0.5 };

        check_conversion (i / n_types, i % n_types,
                          !scales ? NULL : happens (50) ? usual : factors);
      }
  while (g_get_monotonic_time () < deadline);
  g_test_message ("%" G_GSIZE_FORMAT " conversions of %u types", n, n_types);
}

static void
test_common_types (void)
{
  for (int i = 0; i < 3; i++)
    check_pairs (N_COMMON, FALSE, 0);
}

static void
test_all_types (void)
{
  check_pairs (G_N_ELEMENTS (dtypes), FALSE, 0);
}

static void
test_scaled (void)
{
  check_pairs (G_N_ELEMENTS (dtypes), TRUE, 0);
}

static void
test_packed_conversions (void)
{
  check_pairs (N_TYPES, FALSE, 0);
}

static void
test_packed_scaled (void)
{
  check_pairs (N_TYPES, TRUE, 0);
}

/* Elements of any number of bits */
static MtlElementType
draw_packed_type (void)
{
  guint bits = pick (1, 7);
  guint16 lanes = happens (70) ? 1 : happens (95) ? pick (1, 9) : pick (100, 1000);

  return (MtlElementType) { kDLUInt, bits, lanes, FALSE };
}

static void
test_packed_copies (void)
{
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 1) * G_USEC_PER_SEC / 4;
  gsize n = 0;

  for (; n < 300 || g_get_monotonic_time () < deadline; n++)
    {
      g_auto (Memory) memory = { NULL };
      Case layouts;

      layouts.dest.type = layouts.source.type = draw_packed_type ();
      draw_sides (&layouts);
      draw_limits ();
      memory_init (&memory, &layouts);
      check_copy (&layouts, &memory, NULL);
      check_fill (draw_packed_type ());
    }
  g_test_message ("%" G_GSIZE_FORMAT " random copies and fills of packed elements", n);
}

/* Copies without kernels */

/* Does by definition what the driver does. */
static gboolean
run_copy_3d (const CuCopy3D  *copy,
             gpointer         data,
             GError         **error)
{
  Gpu *gpu = data;

  gpu->n_launches++;
  g_assert_true (copy->height <= 1 || copy->src_pitch >= copy->width);
  g_assert_true (copy->height <= 1 || copy->dst_pitch >= copy->width);
  g_assert_true (copy->depth <= 1 || copy->src_height >= copy->height);
  g_assert_true (copy->depth <= 1 || copy->dst_height >= copy->height);
  for (gsize z = 0; z < copy->depth; z++)
    for (gsize y = 0; y < copy->height; y++)
      {
        guint64 from = copy->src_device + (z * copy->src_height + y) * copy->src_pitch;
        guint64 to = copy->dst_device + (z * copy->dst_height + y) * copy->dst_pitch;

        memcpy (reach (gpu, to, copy->width, TRUE), reach (gpu, from, copy->width, FALSE),
                copy->width);
      }
  return TRUE;
}

static void
test_copies_3d (void)
{
  gsize n_done = 0, n_pieces = 0;

  for (gsize n = 0; n < 2000; n++)
    {
      g_auto (Memory) memory = { NULL };
      g_auto (MtlLayout) dest_layout = MTL_LAYOUT_INIT;
      g_auto (MtlLayout) source_layout = MTL_LAYOUT_INIT;
      g_autoptr (GError) error = NULL;
      MtlStrided dest, source;
      guint64 most = pick (0, 2) == 0 ? 1 : pick (1, 500);
      Case layouts;

      layouts.dest.type = layouts.source.type = draw_opaque_type ();
      draw_sides (&layouts);
      memory_init (&memory, &layouts);
      get_layout (&layouts, &layouts.dest, &dest_layout);
      get_layout (&layouts, &layouts.source, &source_layout);
      dest = get_strided (&layouts.dest, &dest_layout, memory.gpu.dest.address);
      source = get_strided (&layouts.source, &source_layout, memory.gpu.source.address);
      if (mtl_cuda_plan_copy_3d (&dest, &source, most, run_copy_3d, &memory.gpu, &error))
        {
          n_done++;
          n_pieces += memory.gpu.n_launches;
          g_assert_cmpuint (memory.gpu.n_launches, <=, most);
          dest = get_strided (&layouts.dest, &dest_layout, (guintptr) memory.expected);
          source = get_strided (&layouts.source, &source_layout,
                                (guintptr) memory.gpu.source.host);
          mtl_strided_copy (&dest, &source, NULL, &error);
        }
      g_assert_no_error (error);
      memory_check (&memory, &layouts);
    }
  g_test_message ("%" G_GSIZE_FORMAT " of 2000 layouts, %" G_GSIZE_FORMAT " copies", n_done,
                  n_pieces);
  g_assert_cmpuint (n_done, >, 200);
}

/* Limits */

static gboolean
fail_to_launch (const MtlCudaLaunch  *launch,
                gpointer              data,
                GError              **error)
{
  ++*(guint *) data;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "as asked");
  return FALSE;
}

/* A layout as nothing but its members; the strides are in elements. */
static MtlLayout
make_layout (gsize         n_dims,
             const gint64 *shape,
             const gint64 *strides)
{
  MtlLayout layout;

  mtl_layout_init (&layout, n_dims, 64, 0);
  memcpy (mtl_layout_shape (&layout), shape, n_dims * sizeof *shape);
  memcpy (mtl_layout_strides (&layout), strides, n_dims * sizeof *strides);
  return layout;
}

static void
test_errors (void)
{
  const MtlElementType type = mtl_element_type_new (MTL_DTYPE_INT64);
  const gint64 shape[] = { 3, 4 }, dense[] = { 4, 1 }, far[] = { POW2 (61), 1 };
  const gint64 overlapping[] = { 1, 1 }, empty[] = { 0, 4 };
  MtlLayout plain = make_layout (2, shape, dense), distant = make_layout (2, shape, far);
  MtlLayout overlaps = make_layout (2, shape, overlapping), none = make_layout (2, empty, far);
  MtlStrided a = { type, &plain, (guint8 *) 4096 }, b = { type, &plain, (guint8 *) 65536 };
  MtlStrided wrong = { type, &distant, (guint8 *) 65536 };
  MtlStrided wrong_dest = { type, &overlaps, (guint8 *) 65536 };
  MtlStrided nothing = { type, &none, (guint8 *) 65536 };
  MtlStrided opaque = { mtl_element_type_new (MTL_DTYPE_OPAQUE_HANDLE64), &plain, b.data };
  const guint8 item[8] = { 0 };
  GError *error = NULL;
  guint n_launches = 0;

  mtl_cuda_plan_forced = MTL_CUDA_CHOSEN;
  mtl_cuda_plan_most = (guint64) 1 << 30;
  g_assert_false (mtl_cuda_plan_copy (&a, &wrong, NULL, fail_to_launch, &n_launches, &error));
  assert_failed (error, MTL_ERROR_OVERFLOW, "63");
  g_assert_false (mtl_cuda_plan_copy (&wrong_dest, &a, NULL, fail_to_launch, &n_launches, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "");
  g_assert_false (mtl_cuda_plan_fill (&wrong_dest, item, fail_to_launch, &n_launches, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "");
  g_assert_false (mtl_cuda_plan_copy (&a, &opaque, NULL, fail_to_launch, &n_launches, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "opaque_handle64");
  g_assert_true (mtl_cuda_plan_copy (&nothing, &nothing, NULL, fail_to_launch, &n_launches,
                                     &error));
  g_assert_true (mtl_cuda_plan_fill (&nothing, item, fail_to_launch, &n_launches, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n_launches, ==, 0);

  g_assert_false (mtl_cuda_plan_copy (&a, &b, NULL, fail_to_launch, &n_launches, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_cmpuint (n_launches, ==, 1);
}

/* Launches of many elements whose memory nobody has: each is checked without being run. */
typedef struct
{
  guint n_launches;
  guint64 n_bytes; /* that rows fill */
  guint64 next;    /* the address at which the next launch begins */
} Many;

static gboolean
count_launch (const MtlCudaLaunch  *launch,
              gpointer              data,
              GError              **error)
{
  Many *many = data;
  const MtlCudaRows *rows = launch->params;

  g_assert_cmpstr (launch->kernel, ==, "fill");
  g_assert_cmpuint (launch->dest, ==, many->next);
  g_assert_cmpuint (rows->n, <, POW2 (31));
  g_assert_cmpuint ((guint64) launch->grid * 1024, >=, rows->n);
  g_assert_cmpuint ((guint64) rows->slots * 16, >=, rows->row_bytes);
  many->n_launches++;
  many->n_bytes += rows->row_bytes * (rows->n / rows->slots);
  many->next += rows->row_bytes;
  return TRUE;
}

static void
test_many_elements (void)
{
  const gint64 n = POW2 (36) + 12345, one = 1, address = POW2 (44);
  const guint8 item[8] = { 0 };
  g_autoptr (GError) error = NULL;
  Many many = { .next = address };
  MtlLayout layout = make_layout (1, &n, &one);
  MtlStrided dest = { mtl_element_type_new (MTL_DTYPE_INT64), &layout, GSIZE_TO_POINTER (address) };

  mtl_cuda_plan_fill (&dest, item, count_launch, &many, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (many.n_bytes, ==, 8 * (guint64) n);
  g_assert_cmpuint (many.n_launches, >, 1);
}

/* A few elements that are farther apart than 32 bits reach: each is in a block of its own. */
static void *
reach_far (void               *context,
           unsigned long long  address,
           size_t              size,
           int                 is_write)
{
  guint8 (*blocks)[64] = context;
  guint64 first = is_write ? POW2 (44) : POW2 (46), distance = address - first;
  guint i = distance >> 36;

  g_assert_cmpuint (i, <, 6);
  g_assert_cmpuint ((distance & (POW2 (36) - 1)) + size, <=, 64);
  return blocks[(is_write ? 0 : 6) + i] + (distance & (POW2 (36) - 1));
}

static gboolean
run_far (const MtlCudaLaunch  *launch,
         gpointer              data,
         GError              **error)
{
  const CudaDoubleKernel *kernel = cuda_double_find_kernel (launch->kernel);
  guint64 dest = launch->dest, source = launch->source;
  void *params[] = { &dest, &source, (gpointer) launch->params };

  kernel->run (launch->grid, 1, 1, launch->block, launch->shared_bytes, params, reach_far, data);
  return TRUE;
}

static void
test_far_elements (void)
{
  const gint64 shape[] = { 6, 8 }, dest_strides[] = { POW2 (33), 1 };
  const gint64 source_strides[] = { -POW2 (33), 1 };
  MtlLayout to = make_layout (2, shape, dest_strides);
  MtlLayout from = make_layout (2, shape, source_strides);
  const MtlElementType type = mtl_element_type_new (MTL_DTYPE_INT64);
  const MtlElementType real = mtl_element_type_new (MTL_DTYPE_FLOAT64);
  MtlStrided dest = { type, &to, GSIZE_TO_POINTER (POW2 (44)) };
  MtlStrided source = { type, &from, GSIZE_TO_POINTER (POW2 (46) + 5 * POW2 (36)) };

  for (int family = 0; family < MTL_CUDA_N_FAMILIES; family++)
    for (int converts = 0; converts < 2; converts++)
      {
        g_autoptr (GError) error = NULL;
        guint8 blocks[12][64] = { { 0 } };

        for (gint64 i = 0; i < 48; i++)
          memcpy (blocks[6 + i / 8] + i % 8 * 8, &i, sizeof i);
        mtl_cuda_plan_forced = family;
        mtl_cuda_plan_most = (guint64) 1 << 30;
        dest.type = converts ? real : type;
        mtl_cuda_plan_copy (&dest, &source, NULL, run_far, blocks, &error);
        g_assert_no_error (error);
        for (gint64 i = 0; i < 48; i++)
          {
            gint64 integer = (5 - i / 8) * 8 + i % 8;
            double number = integer;

            g_assert_cmpmem (blocks[i / 8] + i % 8 * 8, 8,
                             converts ? (gpointer) &number : (gpointer) &integer, 8);
          }
      }
}

/* Each kernel has run. */
static void
test_all_kernels (void)
{
  static const char *const names[] = {
    "rows_4", "rows_8", "rows_16", "reverse", "repeat", "fill", "fill_pattern",
    "gather_any", "packed", "packed_rows",
    "gather_1", "gather_2", "gather_4", "gather_8", "gather_16",
    "box_1", "box_2", "box_4", "box_8", "box_16",
    "tile_1", "tile_2", "tile_4", "tile_8", "pixels_1", "pixels_2", "pixels_4", "pixels_8",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (!g_hash_table_contains (all_kernels, names[i]))
      g_error ("no case took the kernel %s", names[i]);
}

static gboolean
count_copies_3d (const CuCopy3D  *copy,
                 gpointer         data,
                 GError         **error)
{
  ++*(guint *) data;
  return TRUE;
}

/* Drivers take distances between rows from the length of a row up to 2 GiB. */
static void
test_rows_3d (void)
{
  static const struct
  {
    gint64 dest, source; /* distances between two rows of 8 elements */
    guint n_copies;
  } cases[] = {
    { 9, 10, 1 },
    { 9, 7, 2 },
    { G_MAXINT32 / 8, 10, 1 },
    { 10, G_MAXINT32 / 8, 1 },
    { G_MAXINT32 / 8 + 1, 10, 2 },
    { 10, G_MAXINT32 / 8 + 1, 2 },
  };
  const gint64 shape[] = { 2, 8 };
  const MtlElementType type = mtl_element_type_new (MTL_DTYPE_INT64);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const gint64 strides[2][2] = { { cases[i].dest, 1 }, { cases[i].source, 1 } };
      MtlLayout to = make_layout (2, shape, strides[0]), from = make_layout (2, shape, strides[1]);
      MtlStrided dest = { type, &to, GSIZE_TO_POINTER (POW2 (44)) };
      MtlStrided source = { type, &from, GSIZE_TO_POINTER (POW2 (46)) };
      g_autoptr (GError) error = NULL;
      guint n_copies = 0;

      g_assert_true (mtl_cuda_plan_copy_3d (&dest, &source, 2, count_copies_3d, &n_copies, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (n_copies, ==, cases[i].n_copies);
    }
}

int
main (int    argc,
      char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  all_kernels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_test_add_func ("/cuda/plan/copies", test_copies);
  g_test_add_func ("/cuda/plan/transposes", test_transposes);
  g_test_add_func ("/cuda/plan/channels", test_channels);
  g_test_add_func ("/cuda/plan/fills", test_fills);
  g_test_add_func ("/cuda/plan/common-types", test_common_types);
  g_test_add_func ("/cuda/plan/all-types", test_all_types);
  g_test_add_func ("/cuda/plan/scaled", test_scaled);
  g_test_add_func ("/cuda/plan/packed-copies", test_packed_copies);
  g_test_add_func ("/cuda/plan/packed-conversions", test_packed_conversions);
  g_test_add_func ("/cuda/plan/packed-scaled", test_packed_scaled);
  g_test_add_func ("/cuda/plan/copies-3d", test_copies_3d);
  g_test_add_func ("/cuda/plan/rows-3d", test_rows_3d);
  g_test_add_func ("/cuda/plan/errors", test_errors);
  g_test_add_func ("/cuda/plan/many-elements", test_many_elements);
  g_test_add_func ("/cuda/plan/far-elements", test_far_elements);
  g_test_add_func ("/cuda/plan/all-kernels", test_all_kernels);
  status = g_test_run ();
  g_hash_table_unref (all_kernels);
  return status;
}
