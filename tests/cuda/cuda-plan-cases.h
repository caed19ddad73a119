/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Random layouts in the memory of a GPU that the host plays, and in memory of the host with the
 * same bytes. */

#pragma once

#include "cuda-double-kernels.h"
#include "drawn-layouts.h"
#include "test-utils.h"

#include <math.h>

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

static inline void *
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

static inline gboolean
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
  gsize size;   /* the size of the block, in bytes */
} Side;

typedef struct
{
  gsize n_dims;
  gint64 shape[MAX_DIMS];
  Side dest;
  Side source;
} Case;

static inline guint
get_bits (const Side *side)
{
  return mtl_element_type_get_item_bits (side->type);
}

static inline void
get_layout (const Case *self,
            const Side *side,
            MtlLayout  *layout)
{
  mtl_layout_init (layout, self->n_dims, get_bits (side), 0);
  memcpy (mtl_layout_shape (layout), self->shape, self->n_dims * sizeof (gint64));
  memcpy (mtl_layout_strides (layout), side->strides, self->n_dims * sizeof (gint64));
}

/* The first element is at the data, or its bit is the offset of packed elements. */
static inline MtlStrided
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

static inline void
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

static inline char *
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

static inline void
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

static inline void
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
static inline MtlElementType
draw_opaque_type (void)
{
  static const guint16 sizes[] = { 1, 2, 4, 8, 16, 1, 2, 4, 8, 3, 6, 12, 5, 24, 32, 7 };

  return (MtlElementType) { kDLUInt, 8, sizes[pick (0, G_N_ELEMENTS (sizes) - 1)], FALSE };
}

static inline void
draw_sides (Case *self)
{
  do
    {
      draw_shape (self);
      draw_side (self, &self->source, TRUE);
      draw_side (self, &self->dest, happens (20)); /* then the last element remains */
    }
  while (self->dest.size > MAX_BYTES || self->source.size > MAX_BYTES);
}

static inline void
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

static inline void
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

static inline void
memory_clear (Memory *self)
{
  g_free (self->expected);
  g_free (self->gpu.dest.host);
  g_free (self->gpu.source.host);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Memory, memory_clear)

static inline void
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

static inline void
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

/* Types and numbers */

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
static inline MtlElementType
get_type (guint i)
{
  gboolean is_packed = i >= G_N_ELEMENTS (dtypes);
  MtlElementType type = mtl_element_type_new (dtypes[is_packed ? i - N_PACKED : i]);

  type.padded = type.bits < 8 && !is_packed;
  return type;
}

static inline double
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

static inline gint64
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
static inline void
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

static inline void
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
      draw_side (self, &self->dest, happens (20)); /* then the last element remains */
    }
  while (self->dest.size > 30000 || self->source.size > 30000);
}
