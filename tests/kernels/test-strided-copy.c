/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "drawn-layouts.h"
#include "forced-kernels.h"
#include "test-utils.h"

#include "mtl-copy-plan-private.h"

/* The engine that copies, on values, with the kernels that MTL_KERNELS names:
 * against an odometer that moves one byte after the other. */

#define MAX_DIMS 12
#define MAX_BYTES 400000
#define MAX_REPEATED_BYTES 40000000
#define N_CASES 10000

/* A layout in bytes, and the memory that it lies in. */
typedef struct
{
  gint64 strides[MAX_DIMS];
  gsize start; /* the element at all zeros */
  gsize size;
} Layout;

typedef struct
{
  gsize n_dims;
  gint64 shape[MAX_DIMS];
  gsize item_size;
  Layout dest;
  Layout source;
} Case;

static const DrawnAxes dense_axes = { .backwards = 12 };
static const DrawnAxes loose_axes = {
  .stepped = 40, .max_step = 5, .apart = 40, .max_gap = 9, .backwards = 12,
};

static void
draw_layout (const Case *self,
             Layout     *layout,
             gboolean    may_repeat)
{
  DrawnAxes axes = happens (40) ? dense_axes : loose_axes;
  gsize offset = happens (50) ? pick (0, 80) : happens (50) ? 64 : 0;
  gint64 low, high;

  axes.repeated = may_repeat ? 8 : 0;
  draw_strides (&axes, self->n_dims, self->shape, layout->strides);
  get_offset_bounds (self->n_dims, self->shape, layout->strides, &low, &high);
  layout->start = offset + -low * self->item_size;
  layout->size = offset + (high - low + 1) * self->item_size + (happens (50) ? pick (1, 80) : 0);
}

static void
draw_shape (Case *self)
{
  int kind = pick (0, 99);

  self->n_dims = 2;
  if (kind < 25)
    for (int i = 0; i < 2; i++)
      self->shape[i] = pick (1, 300);
  else if (kind < 35)
    {
      int many = pick (0, 1);

      self->shape[many] = pick (1, 2500);
      self->shape[1 - many] = pick (1, 5);
    }
  else if (kind < 45)
    {
      self->n_dims = 3;
      self->shape[0] = pick (1, 40);
      self->shape[1] = pick (1, 60);
      self->shape[2] = pick (1, 5);
    }
  else if (kind < 50)
    {
      self->n_dims = pick (9, MAX_DIMS);
      for (gsize i = 0; i < self->n_dims; i++)
        self->shape[i] = pick (1, 3);
    }
  else
    {
      int limits[] = { 3, 5, 9, 20 };
      int limit = limits[pick (0, 3)];

      self->n_dims = pick (0, 6);
      for (gsize i = 0; i < self->n_dims; i++)
        self->shape[i] = pick (1, limit);
    }
}

static gint64
get_volume (const Case *self)
{
  gint64 volume = 1;

  for (gsize i = 0; i < self->n_dims; i++)
    volume *= self->shape[i];

  return volume;
}

static gsize
draw_item_size (void)
{
  static const gsize usual[] = { 1, 2, 4, 8, 16, 1, 2, 4, 8, 3, 6, 12 };
  static const gsize large[] = { 20, 24, 32, 48, 64, 100, 256, 300 };

  if (happens (60))
    return usual[pick (0, G_N_ELEMENTS (usual) - 1)];

  return happens (80) ? (gsize) pick (1, 17) : large[pick (0, G_N_ELEMENTS (large) - 1)];
}

static void
draw_case_of_sizes (Case  *self,
                    gsize  dest_item_size,
                    gsize  source_item_size)
{
  do
    {
      draw_shape (self);
      self->item_size = source_item_size;
      draw_layout (self, &self->source, TRUE);
      self->item_size = dest_item_size;
      draw_layout (self, &self->dest, FALSE);
    }
  while (self->dest.size > MAX_BYTES || self->source.size > MAX_BYTES);
}

static void
draw_case (Case *self)
{
  gsize item_size = draw_item_size ();

  draw_case_of_sizes (self, item_size, item_size);
}

/* Copies by definition. */
static void
copy_by_odometer (const Case   *self,
                  guint8       *dest,
                  const guint8 *source)
{
  for (gint64 index = 0; index < get_volume (self); index++)
    {
      gint64 rest = index, to = 0, from = 0;

      for (gsize axis = self->n_dims; axis-- > 0;)
        {
          to += rest % self->shape[axis] * self->dest.strides[axis];
          from += rest % self->shape[axis] * self->source.strides[axis];
          rest /= self->shape[axis];
        }
      memcpy (dest + to * (gint64) self->item_size, source + from * (gint64) self->item_size,
              self->item_size);
    }
}

static void
append_dims (GString      *text,
             const gint64 *dims,
             gsize         n_dims)
{
  for (gsize i = 0; i < n_dims; i++)
    g_string_append_printf (text, " %" G_GINT64_FORMAT, dims[i]);
}

static char *
describe (const Case *self)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "elements of %" G_GSIZE_FORMAT " bytes, kernels %s, way %s, streamed"
                          " from %" G_GSIZE_FORMAT " bytes, slices of %" G_GSIZE_FORMAT "; shape",
                          self->item_size, mtl_copy_machine_get ()->kernels->name,
                          mtl_copy_forced_way != NULL ? mtl_copy_forced_way : "chosen",
                          mtl_copy_streaming_threshold, mtl_copy_slice_size);
  append_dims (text, self->shape, self->n_dims);
  g_string_append_printf (text, "; dest at %" G_GSIZE_FORMAT ":", self->dest.start);
  append_dims (text, self->dest.strides, self->n_dims);
  g_string_append_printf (text, "; source at %" G_GSIZE_FORMAT ":", self->source.start);
  append_dims (text, self->source.strides, self->n_dims);

  return g_string_free (text, FALSE);
}

/* The kernels that plans chose, as a set of their names. */
static GHashTable *ways;

/* Runs the slices in two parts or one by one, in another order if that is allowed. */
static void
run_request (const MtlCopyRequest *request)
{
  MtlCopyPlan plan;
  gsize n;

  mtl_copy_plan_init (&plan, request);
  n = mtl_copy_plan_get_n_slices (&plan);
  if (n > 0)
    g_hash_table_add (ways, (gpointer) mtl_copy_way_get_name (plan.way));
  if (plan.in_order)
    {
      gsize middle = pick (0, n);

      mtl_copy_plan_run (&plan, 0, middle);
      mtl_copy_plan_run (&plan, middle, n);
    }
  else if (happens (50))
    {
      gsize middle = pick (0, n);

      mtl_copy_plan_run (&plan, middle, n);
      mtl_copy_plan_run (&plan, 0, middle);
    }
  else
    for (gsize i = n; i-- > 0;)
      mtl_copy_plan_run (&plan, i, i + 1);
}

static guint8 *
new_random_bytes (gsize n)
{
  guint8 *bytes = g_malloc (n); /* exactly n bytes, so that a sanitizer sees more */

  fill_at_random (bytes, n);
  return bytes;
}

static void
check_case (const Case *self)
{
  g_autofree guint8 *source = new_random_bytes (self->source.size);
  g_autofree guint8 *dest = new_random_bytes (self->dest.size);
  g_autofree guint8 *expected = g_memdup2 (dest, self->dest.size);

  copy_by_odometer (self, expected + self->dest.start, source + self->source.start);
  run_request (&(MtlCopyRequest) {
    .n_dims = self->n_dims, .shape = self->shape,
    .dest = dest + self->dest.start,
    .dest_strides = self->dest.strides,
    .dest_size = self->item_size,
    .source = source + self->source.start,
    .source_strides = self->source.strides,
    .source_size = self->item_size,
  });

  /* Compares all memory: the bytes between and around the elements stay. */
  if (memcmp (dest, expected, self->dest.size) != 0)
    {
      g_autofree char *text = describe (self);

      g_error ("%s", text);
    }
}

static void
draw_limits (void)
{
  mtl_copy_streaming_threshold = happens (50) ? 1 : happens (30) ? (gsize) pick (1, 40000)
                                                  : G_MAXSIZE;
  mtl_copy_slice_size = happens (50) ? 512 * 1024 : pick (1, 20000);
  mtl_copy_reads_while_streaming = happens (50);
  mtl_copy_forced_way = happens (70) ? mtl_copy_way_get_name (pick (0, MTL_COPY_N_WAYS - 1))
                                     : NULL;
}

static void
test_random (void)
{
  gsize n_cases = get_number ("MTL_TEST_CASES", N_CASES);
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 20) * G_USEC_PER_SEC;
  gsize n = 0;

  for (; n < n_cases && g_get_monotonic_time () < deadline; n++)
    {
      Case layouts;

      draw_case (&layouts);
      draw_limits ();
      check_case (&layouts);
    }
  g_test_message ("%" G_GSIZE_FORMAT " random copies", n);
}

/* The source is repeated along some axis, which may be anywhere in the destination. */
static void
test_repeats (void)
{
  for (int n = 0; n < 400; n++)
    {
      gsize size = happens (30) ? (gsize) pick (60, 140) : draw_item_size ();
      Case layouts = { .n_dims = pick (3, 5), .item_size = size };
      gsize repeated = pick (0, layouts.n_dims - 1);

      do
        {
          for (gsize i = 0; i < layouts.n_dims; i++)
            layouts.shape[i] = pick (1, i == repeated || happens (40) ? 20 : 4);
          draw_layout (&layouts, &layouts.dest, FALSE);
          draw_layout (&layouts, &layouts.source, TRUE);
        }
      while (layouts.dest.size > MAX_REPEATED_BYTES || layouts.source.size > MAX_REPEATED_BYTES);
      layouts.source.strides[repeated] = 0;
      draw_limits ();
      check_case (&layouts);
    }
}

/* Two axes of every pair of extents up to a little more than two tiles, each of
 * them dense in one of the two. */
static void
test_transposes (void)
{
  static const gint64 extents[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100,
                                    127, 129, 200 };

  for (gsize size = 1; size <= 17; size++)
    for (gsize i = 0; i < G_N_ELEMENTS (extents); i++)
      for (gsize k = 0; k < G_N_ELEMENTS (extents); k++)
        {
          gint64 n_rows = extents[i], n_items = extents[k];
          gsize n_bytes = n_rows * n_items * size;
          gsize to = pick (0, 64), from = pick (0, 64);

          draw_limits ();
          check_case (&(Case) {
            .n_dims = 2,
            .shape = { n_rows, n_items },
            .item_size = size,
            .dest = { { n_items, 1 }, to, to + n_bytes + 64 },
            .source = { { 1, n_rows }, from, from + n_bytes },
          });
        }
}

/* Short rows that go on along another axis, which are streamed as one, and cut. */
static void
test_runs (void)
{
  for (gsize size = 1; size <= 16; size *= 2)
    for (gint64 n_items = 9; n_items < 300; n_items += 14)
      {
        gint64 n_rows = 16, n_runs = 3, item_step = 17 * n_runs;
        gsize n_dest = n_rows * (n_items * n_runs + 2) * size;
        gsize n_source = (n_items * item_step + n_rows) * size;

        mtl_copy_streaming_threshold = 1;
        mtl_copy_slice_size = pick (1, n_dest);
        check_case (&(Case) {
          .n_dims = 3,
          .shape = { n_rows, n_items, n_runs },
          .item_size = size,
          .dest = { { n_items * n_runs + 2, 1, n_items }, 64, 64 + n_dest + 64 },
          .source = { { 1, item_step, 17 }, 31, 31 + n_source },
        });
      }
}

/* Channels that come together, go apart, are left out, repeated or turned round. */
static void
test_channels (void)
{
  for (gsize size = 1; size <= 17; size++)
    for (gint64 n_channels = 1; n_channels <= 5; n_channels++)
      for (gint64 n_kept = 1; n_kept <= n_channels; n_kept++)
        for (gint64 n_pixels = 1; n_pixels < 400; n_pixels += 1 + n_pixels / 2)
          {
            gsize n_bytes = n_channels * n_pixels * size;
            gsize to = pick (0, 64), from = pick (0, 64);
            Layout pixels = { { n_channels, 1 }, from, from + n_bytes };
            Layout planes = { { 1, n_pixels }, from, from + n_bytes };
            Layout backwards = { { n_channels, -1 }, from + (n_kept - 1) * size, from + n_bytes };
            Layout sources[] = { pixels, planes, backwards };
            Layout dests[] = {
              { { n_channels, 1 }, to, to + n_bytes + 64 },
              { { n_kept, 1 }, to, to + n_bytes + 64 },
              { { 1, n_pixels }, to, to + n_bytes + 64 },
              { { 1, n_pixels + 3 }, to, to + n_bytes + 64 + 3 * n_channels * size },
            };

            for (gsize i = 0; i < G_N_ELEMENTS (sources); i++)
              for (gsize k = 0; k < G_N_ELEMENTS (dests); k++)
                {
                  draw_limits ();
                  check_case (&(Case) {
                    .n_dims = 2,
                    .shape = { n_pixels, n_kept },
                    .item_size = size,
                    .dest = dests[k],
                    .source = sources[i],
                  });
                }
          }
}

/* A few pixels of a few channels, from planes and backwards, in pieces of a few bytes. */
static void
test_pieces_of_pixels (void)
{
  for (gsize size = 1; size <= 8; size *= 2)
    for (gint64 n_channels = 1; n_channels <= 4; n_channels++)
      for (gint64 n_pixels = 1; n_pixels <= 6; n_pixels++)
        for (gsize to = 0; to < 64; to++)
          {
            gsize n_bytes = n_channels * n_pixels * size;
            Layout sources[] = {
              { { 1, n_pixels }, 0, n_bytes },
              { { n_channels, -1 }, (n_channels - 1) * size, n_bytes },
            };

            for (gsize i = 0; i < G_N_ELEMENTS (sources); i++)
              {
                draw_limits ();
                mtl_copy_slice_size = pick (1, 16);
                check_case (&(Case) {
                  .n_dims = 2,
                  .shape = { n_pixels, n_channels },
                  .item_size = size,
                  .dest = { { n_channels, 1 }, to, to + n_bytes + 64 },
                  .source = sources[i],
                });
              }
          }
}

static void
test_fills (void)
{
  for (int n = 0; n < 3000; n++)
    {
      Case layouts = { .n_dims = 0 };
      g_autofree guint8 *dest = NULL;
      g_autofree guint8 *expected = NULL;
      guint8 item[300];

      draw_case (&layouts);
      draw_limits ();
      for (gsize i = 0; i < sizeof item; i++)
        item[i] = pick (0, 255);
      memset (layouts.source.strides, 0, sizeof layouts.source.strides);
      dest = new_random_bytes (layouts.dest.size);
      expected = g_memdup2 (dest, layouts.dest.size);
      copy_by_odometer (&layouts, expected + layouts.dest.start, item);
      run_request (&(MtlCopyRequest) {
        .n_dims = layouts.n_dims, .shape = layouts.shape,
        .dest = dest + layouts.dest.start,
        .dest_strides = layouts.dest.strides,
        .dest_size = layouts.item_size,
        .source = item,
        .source_size = layouts.item_size,
      });
      g_assert_cmpmem (dest, layouts.dest.size, expected, layouts.dest.size);
    }
}

/* Elements that lie on each other: the last in C order stays. */
static void
test_repeated_destination (void)
{
  for (int n = 0; n < 2000; n++)
    {
      Case layouts = { .n_dims = pick (1, 3), .item_size = pick (1, 9) };
      gsize reach = 0;

      draw_limits ();
      for (gsize i = 0; i < layouts.n_dims; i++)
        {
          layouts.shape[i] = pick (1, 12);
          layouts.dest.strides[i] = pick (-3, 3);
          layouts.source.strides[i] = pick (-20, 20);
          reach += 20 * 12 * layouts.item_size;
        }
      layouts.dest.start = layouts.source.start = reach;
      layouts.dest.size = layouts.source.size = 2 * reach + layouts.item_size;
      check_case (&layouts);
    }
}

/* An empty copy walks no axis. */
static void
test_empty (void)
{
  const gint64 shape[] = { 3, 0, 1 }, strides[] = { G_MAXINT64, G_MININT64, 1 };
  MtlCopyPlan plan;

  mtl_copy_plan_init (&plan, &(MtlCopyRequest) {
    .n_dims = 3, .shape = shape, .dest_strides = strides, .dest_size = 4, .source_size = 4,
  });
  g_assert_cmpuint (mtl_copy_plan_get_n_slices (&plan), ==, 0);
  mtl_copy_plan_run (&plan, 0, 0);
}

/* Strides of an axis of one element lead nowhere. */
static void
test_unused_strides (void)
{
  const gint64 shape[] = { 1, 3, 1 };
  const gint64 strides[] = { G_MAXINT64, 1, G_MININT64 };
  const gint64 backwards[] = { G_MININT64, -1, G_MAXINT64 };
  guint32 dest[3] = { 0 }, source[3] = { 1, 2, 3 };

  mtl_copy_run (&(MtlCopyRequest) {
    .n_dims = 3, .shape = shape,
    .dest = (guint8 *) dest, .dest_strides = strides, .dest_size = 4,
    .source = (guint8 *) (source + 2), .source_strides = backwards, .source_size = 4,
  });
  g_assert_true (dest[0] == 3 && dest[1] == 2 && dest[2] == 1);
}

/* All slices together are the whole, in bytes, and not too few. */
static void
test_slices (void)
{
  const gint64 shape[] = { 1000, 1000 }, rows[] = { 1000, 1 }, columns[] = { 1, 1000 };
  g_autofree guint8 *dest = g_malloc0 (4000000);
  g_autofree guint8 *source = g_malloc0 (4000000);
  MtlCopyPlan plan;

  mtl_copy_slice_size = 512 * 1024;
  for (int i = 0; i < 3; i++)
    {
      mtl_copy_plan_init (&plan, &(MtlCopyRequest) {
        .n_dims = 2, .shape = shape,
        .dest = dest, .dest_strides = rows, .dest_size = 4,
        .source = source, .source_size = 4,
        .source_strides = i == 0 ? rows : i == 1 ? columns : NULL,
      });
      g_assert_cmpuint (plan.n_bytes, ==, 4000000);
      g_assert_cmpuint (mtl_copy_plan_get_n_slices (&plan), >=, 6);
      g_assert_cmpuint (mtl_copy_plan_get_n_slices (&plan), <=, 16);
    }
}

typedef struct
{
  gsize dest_size;
  gsize source_size;
  guint8 added;
} Conversion;

/* Cuts the elements or fills them up, and adds to each byte. */
static void
convert (guint8        *dest,
         const guint8  *source,
         gsize          n,
         gssize         dest_step,
         gssize         source_step,
         gconstpointer  data)
{
  const Conversion *self = data;

  for (gsize i = 0; i < n; i++, dest += dest_step, source += source_step)
    for (gsize byte = 0; byte < self->dest_size; byte++)
      dest[byte] = self->added + (byte < self->source_size ? source[byte] : 0);
}

/* All elements of the memory that may be in the layout, one after the other. Gets the one with all
 * indices 0, too. */
static guint8 *
convert_all (const Conversion *self,
             const Layout     *layout,
             const guint8     *source,
             const guint8    **first)
{
  gsize begin = layout->start % self->source_size;
  gsize n = (layout->size - begin) / self->source_size;
  guint8 *converted = g_malloc (n * self->dest_size);

  convert (converted, source + begin, n, self->dest_size, self->source_size, self);
  *first = converted + layout->start / self->source_size * self->dest_size;
  return converted;
}

static void
test_conversion (void)
{
  static const gsize sizes[] = { 1, 2, 4, 8, 16, 3 };

  for (int n = 0; n < 2500; n++)
    {
      Conversion conversion = { sizes[pick (0, 5)], sizes[pick (0, 5)], pick (0, 255) };
      Case layouts;
      g_autofree guint8 *source = NULL;
      g_autofree guint8 *dest = NULL;
      g_autofree guint8 *expected = NULL;
      g_autofree guint8 *converted = NULL;
      const guint8 *first;

      draw_case_of_sizes (&layouts, conversion.dest_size, conversion.source_size);
      draw_limits ();
      source = new_random_bytes (layouts.source.size);
      dest = new_random_bytes (layouts.dest.size);
      expected = g_memdup2 (dest, layouts.dest.size);

      converted = convert_all (&conversion, &layouts.source, source, &first);
      copy_by_odometer (&layouts, expected + layouts.dest.start, first);
      run_request (&(MtlCopyRequest) {
        .n_dims = layouts.n_dims, .shape = layouts.shape,
        .dest = dest + layouts.dest.start,
        .dest_strides = layouts.dest.strides,
        .dest_size = conversion.dest_size,
        .source = source + layouts.source.start,
        .source_strides = layouts.source.strides,
        .source_size = conversion.source_size,
        .convert = convert,
        .convert_data = &conversion,
        .converts_scattered = happens (50),
        .converts_cheaply = happens (50),
        .converts_at_once = happens (50),
      });
      g_assert_cmpmem (dest, layouts.dest.size, expected, layouts.dest.size);
    }
}

/* Small elements in many steps, forwards and backwards. */
static void
test_steps (void)
{
  for (gsize size = 1; size <= 8; size *= 2)
    for (gint64 step = -5; step <= 5; step++)
      for (gint64 n_inner = 1; n_inner <= 65; n_inner += 1 + n_inner / 2)
        {
          gint64 n_outer = 200000 / n_inner / size / 2, reach = ABS (step) * (n_inner - 1) + 1;
          gsize n_dest = n_inner * n_outer * size, n_source = reach * n_outer * size;
          gsize to = pick (0, 64), from = pick (0, 64);

          draw_limits ();
          check_case (&(Case) {
            .n_dims = 2,
            .shape = { n_outer, n_inner },
            .item_size = size,
            .dest = { { n_inner, 1 }, to, to + n_dest },
            .source = { { reach, step }, from + (step < 0 ? (reach - 1) * size : 0),
                        from + n_source },
          });
        }
}

/* This test comes after the others, which have taken all ways. */
static void
test_ways (void)
{
  const MtlCopyKernels *kernels = mtl_copy_machine_get ()->kernels;

  for (guint way = 0; way < MTL_COPY_N_WAYS; way++)
    {
      const char *name = mtl_copy_way_get_name (way);

      if (g_hash_table_contains (ways, name) != mtl_copy_kernels_have (kernels, way))
        g_error ("The way “%s” was not taken, or taken without its kernel", name);
    }
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  ways = names;
  g_test_init (&argc, &argv, NULL);
  if (lacks_forced_kernels ())
    return 0;

  g_test_add_func ("/strided-copy/random", test_random);
  g_test_add_func ("/strided-copy/repeats", test_repeats);
  g_test_add_func ("/strided-copy/transposes", test_transposes);
  g_test_add_func ("/strided-copy/runs", test_runs);
  g_test_add_func ("/strided-copy/channels", test_channels);
  g_test_add_func ("/strided-copy/pieces-of-pixels", test_pieces_of_pixels);
  g_test_add_func ("/strided-copy/fills", test_fills);
  g_test_add_func ("/strided-copy/repeated-destination", test_repeated_destination);
  g_test_add_func ("/strided-copy/empty", test_empty);
  g_test_add_func ("/strided-copy/unused-strides", test_unused_strides);
  g_test_add_func ("/strided-copy/slices", test_slices);
  g_test_add_func ("/strided-copy/conversion", test_conversion);
  g_test_add_func ("/strided-copy/steps", test_steps);
  g_test_add_func ("/strided-copy/ways", test_ways);

  return g_test_run ();
}
