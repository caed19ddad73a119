/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Launches that the planner emits, run by the host on memory that has the bytes that copies, fills
 * and conversions of the host leave. Memory is allocated to the byte, and all of it is compared. */

#include "cuda-double-kernels.h"
#include "drawn-layouts.h"
#include "test-utils.h"

#include <math.h>

#include "cuda-kernels/mtl-cuda-parameters.h"
#include "mtl-cuda-plan-private.h"
#include "mtl-number-private.h"
#include "mtl-strided-copy-private.h"

#define MAX_BYTES 200000
#define MAX_DIMS 8

/* The GPU's memory: two blocks, at addresses that are not the host's. */
typedef struct
{
  guint8 *host;
  gsize size;
  guint64 address;
} Block;

typedef struct
{
  Block dest;
  Block source;
  guint64 source_begin; /* the bytes that may be read, from the lowest to the highest element */
  guint64 source_end;
  gsize n_launches;
} Gpu;

static GHashTable *all_kernels;

static void *
reach (void               *context,
       unsigned long long  address,
       size_t              size,
       int                 is_write)
{
  const Gpu *gpu = context;
  const Block *blocks[] = { &gpu->dest, &gpu->source };

  for (guint i = 0; i < 2; i++)
    if (address - blocks[i]->address <= blocks[i]->size - size && blocks[i]->size >= size
        && address >= blocks[i]->address)
      {
        if (i == 1
            && (is_write || address < gpu->source_begin || address + size > gpu->source_end))
          g_error ("a kernel %s byte %" G_GUINT64_FORMAT " of the source",
                   is_write ? "writes to" : "reads", (guint64) address - blocks[i]->address);
        return blocks[i]->host + (address - blocks[i]->address);
      }

  g_error ("a kernel %s %" G_GSIZE_FORMAT " bytes at 0x%llx; the destination is %" G_GSIZE_FORMAT
           " bytes at 0x%" G_GINT64_MODIFIER "x, the source %" G_GSIZE_FORMAT " at 0x%"
           G_GINT64_MODIFIER "x", is_write ? "writes" : "reads", size, address, gpu->dest.size,
           gpu->dest.address, gpu->source.size, gpu->source.address);
}

static gboolean
run_launch (const MtlCudaLaunch  *launch,
            gpointer              data,
            GError              **error)
{
  Gpu *gpu = data;
  const CudaDoubleKernel *kernel = cuda_double_find_kernel (launch->kernel);
  guint64 dest = launch->dest, source = launch->source;
  void *params[] = { &dest, &source, (gpointer) launch->params };

  if (kernel == NULL)
    g_error ("there is no kernel %s", launch->kernel);
  g_assert_cmpuint (kernel->n_params, ==, G_N_ELEMENTS (params));
  g_assert_cmpuint (kernel->param_sizes[0], ==, sizeof dest);
  g_assert_cmpuint (kernel->param_sizes[1], ==, sizeof source);
  g_assert_cmpuint (kernel->param_sizes[2], ==, launch->params_size);
  g_assert_cmpuint (launch->shared_bytes, <=, 48 * 1024);
  g_hash_table_add (all_kernels, g_strdup (launch->kernel));
  gpu->n_launches++;
  kernel->run (launch->grid, 1, 1, launch->block, launch->shared_bytes, params, reach, gpu);
  return TRUE;
}

/* A view of elements in a block */
typedef struct
{
  MtlElementType type;
  gint64 strides[MAX_DIMS]; /* in elements */
  gint64 start; /* bits from the block's first byte to the element at all zeros */
  gsize size;   /* the block's, in bytes */
} Side;

typedef struct
{
  gsize n_dims;
  gint64 shape[MAX_DIMS];
  Side dest;
  Side source;
} Case;

static guint
get_bits (const Side *side)
{
  return mtl_element_type_get_item_bits (side->type);
}

static void
get_layout (const Case *self,
            const Side *side,
            MtlLayout  *layout)
{
  mtl_layout_init (layout, self->n_dims, get_bits (side), 0);
  memcpy (mtl_layout_shape (layout), self->shape, self->n_dims * sizeof (gint64));
  memcpy (mtl_layout_strides (layout), side->strides, self->n_dims * sizeof (gint64));
}

/* The first element is at the data, or its bit is the offset of packed elements. */
static MtlStrided
get_strided (const Side *side,
             MtlLayout  *layout,
             guint64     address)
{
  guint bits = get_bits (side);
  gint64 start = side->start;

  layout->offset = 0;
  if (bits % 8 != 0)
    {
      layout->offset = start / bits;
      start = 0;
    }
  return (MtlStrided) { side->type, layout, (guint8 *) (guintptr) (address + start / 8) };
}

static void
describe_side (GString    *text,
               const Case *self,
               const Side *side)
{
  g_autofree char *name = mtl_element_type_to_string (side->type);

  g_string_append_printf (text, "%s%s at bit %" G_GINT64_FORMAT " of %" G_GSIZE_FORMAT " bytes,",
                          name, side->type.padded ? " (padded)" : "", side->start, side->size);
  for (gsize i = 0; i < self->n_dims; i++)
    g_string_append_printf (text, " %" G_GINT64_FORMAT, side->strides[i]);
}

static char *
describe (const Case *self)
{
  GString *text = g_string_new ("shape");

  for (gsize i = 0; i < self->n_dims; i++)
    g_string_append_printf (text, " %" G_GINT64_FORMAT, self->shape[i]);
  g_string_append (text, "; dest ");
  describe_side (text, self, &self->dest);
  g_string_append (text, "; source ");
  describe_side (text, self, &self->source);
  g_string_append_printf (text, "; family %d, at most %" G_GUINT64_FORMAT " items, boxes of %u",
                          (int) mtl_cuda_plan_forced, mtl_cuda_plan_most,
                          mtl_cuda_plan_box_elements);
  return g_string_free (text, FALSE);
}

/* Cases */

static const DrawnAxes dense_axes = { .backwards = 12 };
static const DrawnAxes loose_axes = {
  .stepped = 40, .max_step = 5, .apart = 40, .max_gap = 9, .backwards = 12,
};
static const DrawnAxes apart_axes = { .apart = 60, .max_gap = 40 };

static void
draw_side (const Case *self,
           Side       *side,
           gboolean    may_repeat)
{
  DrawnAxes axes = happens (40) ? dense_axes : happens (50) ? loose_axes : apart_axes;
  guint bits = get_bits (side);
  gint64 low, high, offset = happens (50) ? pick (0, 40) : 0;

  axes.repeated = may_repeat ? 8 : 0;
  draw_strides (&axes, self->n_dims, self->shape, side->strides);
  get_offset_bounds (self->n_dims, self->shape, side->strides, &low, &high);
  side->start = (offset - low) * bits;
  if (bits % 8 == 0 && happens (5))
    side->start += 8 * pick (0, 7); /* an address that the type may not have */
  side->size = (side->start + (high + 1) * bits + 7) / 8 + (happens (50) ? pick (0, 40) : 0);
  if (bits % 8 != 0)
    side->size = (side->size + 3) / 4 * 4; /* that atomic operations reach */
}

static void
draw_shape (Case *self)
{
  static const int extents[] = { 3, 5, 9, 20 };
  int kind = pick (0, 99), limit = extents[pick (0, 3)];

  self->n_dims = 2;
  if (kind < 25)
    for (int i = 0; i < 2; i++)
      self->shape[i] = pick (1, 250);
  else if (kind < 40)
    {
      int many = pick (0, 1);

      self->shape[many] = pick (1, 2500);
      self->shape[1 - many] = pick (1, 17);
    }
  else if (kind < 50)
    {
      self->n_dims = 3;
      self->shape[0] = pick (1, 40);
      self->shape[1] = pick (1, 90);
      self->shape[2] = pick (1, 5);
    }
  else if (kind < 55)
    {
      self->n_dims = pick (7, MAX_DIMS);
      for (gsize i = 0; i < self->n_dims; i++)
        self->shape[i] = pick (1, 3);
    }
  else
    {
      self->n_dims = pick (0, 5);
      for (gsize i = 0; i < self->n_dims; i++)
        self->shape[i] = pick (1, limit);
    }
}

/* Elements of any number of bytes: vectors of bytes */
static MtlElementType
draw_opaque_type (void)
{
  static const guint16 sizes[] = { 1, 2, 4, 8, 16, 1, 2, 4, 8, 3, 6, 12, 5, 24, 32, 7 };

  return (MtlElementType) { kDLUInt, 8, sizes[pick (0, G_N_ELEMENTS (sizes) - 1)], FALSE };
}

static void
draw_sides (Case *self)
{
  do
    {
      draw_shape (self);
      draw_side (self, &self->source, TRUE);
      draw_side (self, &self->dest, FALSE);
    }
  while (self->dest.size > MAX_BYTES || self->source.size > MAX_BYTES);
}

static void
draw_limits (void)
{
  mtl_cuda_plan_forced = happens (60) ? pick (0, MTL_CUDA_N_FAMILIES - 1) : MTL_CUDA_CHOSEN;
  mtl_cuda_plan_most = happens (15) ? (guint64) pick (1, 4000) : (guint64) 1 << 30;
  mtl_cuda_plan_box_elements = happens (50) ? 16u << pick (0, 9) : 0;
}

/* Memory of the host and of the GPU with the same bytes */
typedef struct
{
  guint8 *expected;
  Gpu gpu;
} Memory;

static void
memory_init (Memory     *self,
             const Case *layouts)
{
  const Side *source = &layouts->source;
  Gpu *gpu = &self->gpu;
  gint64 low, high;

  *self = (Memory) { NULL };
  gpu->dest.size = layouts->dest.size;
  gpu->source.size = layouts->source.size;
  gpu->dest.host = g_malloc (gpu->dest.size);
  gpu->source.host = g_malloc (gpu->source.size);
  fill_at_random (gpu->dest.host, gpu->dest.size);
  fill_at_random (gpu->source.host, gpu->source.size);
  self->expected = g_memdup2 (gpu->dest.host, gpu->dest.size);

  /* Multiples of 256, as allocations of a GPU are. */
  gpu->dest.address = G_GUINT64_CONSTANT (0x7f0000000000) + 256 * (guint64) pick (0, 1 << 20);
  gpu->source.address = gpu->dest.address + ((guint64) 1 << 40);
  get_offset_bounds (layouts->n_dims, layouts->shape, source->strides, &low, &high);
  gpu->source_begin = gpu->source.address + (source->start + low * get_bits (source)) / 8;
  gpu->source_end = gpu->source.address
                    + (source->start + (high + 1) * get_bits (source) + 7) / 8;
}

static void
memory_clear (Memory *self)
{
  g_free (self->expected);
  g_free (self->gpu.dest.host);
  g_free (self->gpu.source.host);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Memory, memory_clear)

static void
memory_check (const Memory *self,
              const Case   *layouts)
{
  const Gpu *gpu = &self->gpu;

  for (gsize i = 0; i < gpu->dest.size; i++)
    if (gpu->dest.host[i] != self->expected[i])
      {
        g_autofree char *text = describe (layouts);

        g_error ("byte %" G_GSIZE_FORMAT " is 0x%02x instead of 0x%02x; %s", i, gpu->dest.host[i],
                 self->expected[i], text);
      }
}

static void
check_copy (const Case   *self,
            Memory       *memory,
            const double *factors)
{
  g_auto (MtlLayout) dest_layout = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) source_layout = MTL_LAYOUT_INIT;
  g_autoptr (GError) error = NULL;
  MtlStrided dest, source;

  get_layout (self, &self->dest, &dest_layout);
  get_layout (self, &self->source, &source_layout);

  dest = get_strided (&self->dest, &dest_layout, (guintptr) memory->expected);
  source = get_strided (&self->source, &source_layout, (guintptr) memory->gpu.source.host);
  if (factors != NULL)
    mtl_strided_copy_scaled (&dest, &source, factors, NULL, &error);
  else
    mtl_strided_copy (&dest, &source, NULL, &error);
  g_assert_no_error (error);

  dest = get_strided (&self->dest, &dest_layout, memory->gpu.dest.address);
  source = get_strided (&self->source, &source_layout, memory->gpu.source.address);
  mtl_cuda_plan_copy (&dest, &source, factors, run_launch, &memory->gpu, &error);
  g_assert_no_error (error);
  memory_check (memory, self);
}

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

/* Two axes, each contiguous on one side, with any distances between rows: large enough for tiles. The
 * first ones have aligned rows, in which the last tiles are not aligned. */
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

#define N_COMMON 13
#define N_PACKED 7
#define N_TYPES (G_N_ELEMENTS (dtypes) + N_PACKED)

/* Types that are smaller than a byte are there padded, and then packed. */
static MtlElementType
get_type (guint i)
{
  gboolean is_packed = i >= G_N_ELEMENTS (dtypes);
  MtlElementType type = mtl_element_type_new (dtypes[is_packed ? i - N_PACKED : i]);

  type.padded = type.bits < 8 && !is_packed;
  return type;
}

static double
draw_double (void)
{
  double x = g_test_rand_double_range (-2, 2);

  switch (pick (0, 9))
    {
    case 0:
      return pick (-300, 300) / 2.0;
    case 1:
      return (double[]) { NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0 }[pick (0, 5)];
    case 2:
      return ldexp (pick (-3, 3), pick (-160, 160)); /* near the limits of float32 */
    case 3:
      return ldexp (1, pick (0, 70)) * (happens (50) ? 1 : -1) + pick (-1, 1);
    case 4:
      return (float) x + (happens (50) ? 0x1p-40 : 0); /* next to a number of fewer digits */
    case 5:
      return ldexp (pick (-4096, 4096), -pick (0, 30));
    default:
      return ldexp (x, pick (-30, 30));
    }
}

/* If an element and a factor are both NaN, the host's compiler decides which of them the result
 * is. */
static double
draw_factor (void)
{
  double factor = draw_double ();

  return isnan (factor) ? 1 : factor;
}

static gint64
draw_integer (void)
{
  guint64 bits = (guint64) g_test_rand_int () << 32 | (guint32) g_test_rand_int ();
  gint64 x = (gint64) bits >> pick (0, 63);

  if (happens (30))
    x = (gint64) ((guint64) x << pick (0, 40)) + pick (-1, 1);
  return x;
}

/* Half of the elements are random bits, which are often NaN or infinite; the others have usual
 * values. */
static void
draw_numbers (Memory     *memory,
              const Case *layouts)
{
  MtlElementType type = layouts->source.type;
  guint size = type.code == kDLComplex ? type.bits / 16 : MAX (type.bits / 8, 1);
  guint8 *data = memory->gpu.source.host + layouts->source.start / 8 % size;
  gsize n = (memory->gpu.source.size - layouts->source.start / 8 % size) / size;
  MtlElementType part = type;

  if (type.bits < 8)
    return;

  if (type.code == kDLComplex)
    part = (MtlElementType) { kDLFloat, type.bits / 2, 1, FALSE };
  for (gsize i = 0; i < n; i++)
    if (happens (50))
      {
        MtlNumber number = type.code == kDLInt || type.code == kDLUInt
                             ? mtl_number_from_int64 (draw_integer ())
                             : mtl_number_from_double (draw_double ());

        mtl_number_store (number, part, data + i * size, 0);
      }
}

static void
draw_conversion (Case *self,
                 guint dest,
                 guint source)
{
  self->dest.type = get_type (dest);
  self->source.type = get_type (source);
  do
    {
      draw_shape (self);
      draw_side (self, &self->source, TRUE);
      draw_side (self, &self->dest, FALSE);
    }
  while (self->dest.size > 30000 || self->source.size > 30000);
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
are_close_on_host (const Case   *self,
                   const Memory *memory,
                   double        rtol,
                   double        atol,
                   gboolean      nans_are_equal)
{
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

      if (!mtl_number_is_close (a, b, rtol, atol)
          && !(nans_are_equal && mtl_number_is_nan (a) && mtl_number_is_nan (b)))
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
  const double *tolerance = tolerances[pick (0, G_N_ELEMENTS (tolerances) - 1)];
  g_auto (Memory) memory = { NULL };
  g_auto (MtlLayout) a_layout = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) b_layout = MTL_LAYOUT_INIT;
  g_autoptr (GError) error = NULL;
  gboolean nans_are_equal = happens (50), expected;
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
  expected = are_close_on_host (&layouts, &memory, tolerance[0], tolerance[1], nans_are_equal);

  a = get_strided (&layouts.dest, &a_layout, memory.gpu.dest.address);
  b = get_strided (&layouts.source, &b_layout, memory.gpu.source.address);
  if (!mtl_cuda_plan_compare (&a, &b, tolerance[0], tolerance[1], nans_are_equal, RESULT_ADDRESS,
                              run_comparison, &comparison, &error))
    {
      g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
      g_assert_true (tolerance[0] != 0 || tolerance[1] != 0);
      g_assert_true (a.type.code == kDLComplex || b.type.code == kDLComplex);
      return FALSE;
    }

  if (comparison.result != (expected ? 0 : 1))
    {
      g_autofree char *text = describe (&layouts);

      g_error ("%s instead of %s; tolerances %g, %g; %s", expected ? "different" : "close",
               expected ? "close" : "different", tolerance[0], tolerance[1], text);
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

/* Makes most numbers finite: equal, usual or very large ones. */
static void
draw_sample (Memory     *memory,
             const Case *layouts)
{
  MtlElementType type = layouts->source.type;
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
      double x = kind == 1 ? 3 : g_test_rand_double_range (-100, 100);
      MtlNumber number = mtl_number_from_double (kind == 2 ? ldexp (x, 1016) : x);

      if (type.code == kDLInt || type.code == kDLUInt)
        number = mtl_number_from_int64 (kind == 1 ? 3 : draw_integer ());
      if (kind == 3 && happens (1))
        number = mtl_number_from_double (INFINITY);
      mtl_number_store (number, type, memory->gpu.source.host + first + i * size, 0);
    }
}

static void
check_tallies (MtlElementType type)
{
  const MtlElementType number_type = mtl_tally_get_number_type (type);
  const MtlTallyFunc func = mtl_tally_get_kernels ()->of[mtl_convert_type_of (number_type)];
  guint8 numbers[MTL_TILE_BYTES] __attribute__ ((aligned (64)));
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  g_auto (Memory) memory = { NULL };
  g_autofree MtlCudaTally *results = NULL;
  g_autoptr (GError) error = NULL;
  MtlTiles tiles, gpu_tiles;
  MtlStrided strided;
  Tallies tallies;
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

  results = g_new (MtlCudaTally, tiles.n_tiles);
  tallies = (Tallies) { &memory.gpu, results, tiles.n_tiles * sizeof *results };
  mtl_cuda_plan_tally (&gpu_tiles, type, TALLIES_ADDRESS, run_tallies, &tallies, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < tiles.n_tiles; i++)
    {
      MtlTally expected, tally;
      gsize n;
      const guint8 *data = mtl_tiles_get (&tiles, i, numbers, &n);

      func (&expected, data, n);
      mtl_cuda_tally_get (&results[i], &tally);
      g_assert_cmpint (tally.least, ==, expected.least);
      g_assert_cmpint (tally.most, ==, expected.most);
      g_assert_cmpuint (tally.n_zeros, ==, expected.n_zeros);
      g_assert_cmpuint (tally.n_nans, ==, expected.n_nans);
      g_assert_cmpuint (tally.n_infinities, ==, expected.n_infinities);
      g_assert_cmpmem (&tally.parts[0], sizeof tally.parts[0],
                       &expected.parts[0], sizeof expected.parts[0]);
    }
}

static void
test_tallies (void)
{
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 0) * G_USEC_PER_SEC;
  gsize n = 0;

  do
    for (guint i = 0; i < N_TYPES; i++)
      if (get_type (i).code != kDLComplex)
        {
          check_tallies (get_type (i));
          n++;
        }
  while (n < 200 || g_get_monotonic_time () < deadline);
  g_test_message ("the tiles of %" G_GSIZE_FORMAT " layouts", n);
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
    "gather_any", "packed", "packed_rows", "compare", "tally",
    "gather_1", "gather_2", "gather_4", "gather_8", "gather_16",
    "box_1", "box_2", "box_4", "box_8", "box_16",
    "tile_1", "tile_2", "tile_4", "tile_8", "pixels_1", "pixels_2", "pixels_4", "pixels_8",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (!g_hash_table_contains (all_kernels, names[i]))
      g_error ("no case took the kernel %s", names[i]);
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
  g_test_add_func ("/cuda/plan/comparisons", test_comparisons);
  g_test_add_func ("/cuda/plan/tallies", test_tallies);
  g_test_add_func ("/cuda/plan/copies-3d", test_copies_3d);
  g_test_add_func ("/cuda/plan/errors", test_errors);
  g_test_add_func ("/cuda/plan/many-elements", test_many_elements);
  g_test_add_func ("/cuda/plan/far-elements", test_far_elements);
  g_test_add_func ("/cuda/plan/all-kernels", test_all_kernels);
  status = g_test_run ();
  g_hash_table_unref (all_kernels);
  return status;
}
