/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include "mtl-copy-plan-private.h"

/* Measures each way to copy against the plain loop, at sizes in and out of each cache. The way
 * that the table chooses may not lose to it. */

#define LARGEST (8 * 1024 * 1024)

/* A way that takes this many times as long as the loop loses, if it does again and again. */
#define LOSS 1.5
#define ATTEMPTS 5

#define LEAST_TIME 2000 /* microseconds */
#define ROUNDS 5

/* Layouts for each way: n stands for the extent that makes a copy as large as it should be, and
 * strides are multiples of n if they are marked. */
#define N 0
#define TIMES_N 1000

typedef struct
{
  const char *name;
  gsize item_size;
  gsize source_size; /* others are converted */
  gsize n_dims;
  gint64 shape[3];
  gint64 dest_strides[3];
  gint64 source_strides[3];
} Layout;

static const Layout layouts[] = {
  { "bytes", 4, 4, 1, { N }, { 1 }, { 1 } },
  { "long rows", 4, 4, 2, { N, 100 }, { 100, 1 }, { 110, 1 } },
  { "short rows", 4, 4, 2, { N, 6 }, { 6, 1 }, { 9, 1 } },
  { "repeated elements", 4, 4, 2, { N, 64 }, { 64, 1 }, { 1, 0 } },
  { "every second byte", 1, 1, 1, { N }, { 1 }, { 2 } },
  { "every third float", 4, 4, 1, { N }, { 1 }, { 3 } },
  { "every ninth float", 4, 4, 1, { N }, { 1 }, { 9 } },
  { "backwards", 2, 2, 1, { N }, { 1 }, { -1 } },
  { "three of four bytes", 1, 1, 2, { N, 3 }, { 3, 1 }, { 4, 1 } },
  { "planes to pixels", 1, 1, 2, { N, 3 }, { 3, 1 }, { 1, TIMES_N } },
  { "pixels to planes", 1, 1, 2, { 3, N }, { TIMES_N, 1 }, { 1, 3 } },
  { "transposed bytes", 1, 1, 2, { 128, N }, { TIMES_N, 1 }, { 1, 128 } },
  { "transposed floats", 4, 4, 2, { N, 96 }, { 96, 1 }, { 1, TIMES_N } },
  { "permuted", 4, 4, 3, { N, 12, 10 }, { 120, 10, 1 }, { 1, 10 * TIMES_N, TIMES_N } },
  { "into every second", 4, 4, 1, { N }, { 2 }, { 1 } },
  { "converted bytes", 4, 1, 1, { N }, { 1 }, { 1 } },
  { "converted short rows", 4, 1, 2, { N, 6 }, { 6, 1 }, { 9, 1 } },
  { "converted, transposed", 4, 1, 2, { N, 96 }, { 96, 1 }, { 1, TIMES_N } },
  { "converted, repeated", 4, 1, 2, { N, 64 }, { 64, 1 }, { 1, 0 } },
};

static guint8 *dest_memory, *source_memory;

/* Bytes to numbers of 32 bits. */
static void
convert (guint8        *dest,
         const guint8  *source,
         gsize          n,
         gssize         dest_step,
         gssize         source_step,
         gconstpointer  data)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 number = source[(gssize) i * source_step];

      memcpy (dest + (gssize) i * dest_step, &number, sizeof number);
    }
}

static gint64
resolve (gint64 stride,
         gint64 n)
{
  return stride % TIMES_N == 0 ? stride / TIMES_N * n : stride;
}

typedef struct
{
  gint64 shape[3];
  gint64 strides[2][3];
  MtlCopyRequest request;
} Case;

static void
case_init (Case         *self,
           const Layout *layout,
           gsize         size)
{
  gint64 n_inner = 1, n, last = 0;

  for (gsize i = 0; i < layout->n_dims; i++)
    n_inner *= layout->shape[i] != N ? layout->shape[i] : 1;
  n = size / n_inner / layout->item_size;
  for (gsize i = 0; i < layout->n_dims; i++)
    {
      self->shape[i] = layout->shape[i] != N ? layout->shape[i] : n;
      self->strides[0][i] = resolve (layout->dest_strides[i], n);
      self->strides[1][i] = layout->source_strides[i] == 0 ? 0
                                                           : resolve (layout->source_strides[i], n);
      if (self->strides[1][i] < 0)
        last -= (self->shape[i] - 1) * self->strides[1][i];
    }

  self->request = (MtlCopyRequest) {
    .n_dims = layout->n_dims, .shape = self->shape,
    .dest = dest_memory, .dest_strides = self->strides[0], .dest_size = layout->item_size,
    .source = source_memory + last * layout->source_size,
    .source_strides = self->strides[1], .source_size = layout->source_size,
    .convert = layout->item_size != layout->source_size ? convert : NULL,
    .converts_scattered = TRUE,
    .converts_cheaply = TRUE,
    .converts_at_once = TRUE,
  };
}

/* Returns the way that was taken. */
static MtlCopyWay
find_way (const Case *self,
          const char *forced)
{
  MtlCopyPlan plan;

  mtl_copy_forced_way = forced;
  mtl_copy_plan_init (&plan, &self->request);
  return plan.way;
}

/* Microseconds for a copy. */
static double
measure_once (const Case *self,
              const char *forced)
{
  gint64 begin = g_get_monotonic_time (), now;
  guint n = 0;

  mtl_copy_forced_way = forced;
  do
    {
      mtl_copy_run (&self->request);
      n++;
      now = g_get_monotonic_time ();
    }
  while (now < begin + LEAST_TIME);

  return (now - begin) / (double) n;
}

/* The times of two ways in turns, the least of several each. */
static double
compare (const Case *self,
         const char *forced,
         const char *loop)
{
  double least[2] = { G_MAXDOUBLE, G_MAXDOUBLE };

  for (guint i = 0; i < ROUNDS; i++)
    {
      least[0] = MIN (least[0], measure_once (self, loop));
      least[1] = MIN (least[1], measure_once (self, forced));
    }

  return least[0] / least[1];
}

static const char *
get_loop (const Case *self)
{
  return mtl_copy_way_get_name (self->request.convert != NULL ? MTL_COPY_CONVERT
                                                              : MTL_COPY_ELEMENTS);
}

/* The ratios of all ways that a layout can take. */
static void
print_ratios (const Case *self,
              const char *name,
              gsize       size,
              MtlCopyWay  chosen)
{
  GString *text = g_string_new (NULL);

  for (guint way = 0; way < MTL_COPY_N_WAYS; way++)
    if (find_way (self, mtl_copy_way_get_name (way)) == way)
      g_string_append_printf (text, " %s%s %.2f", mtl_copy_way_get_name (way),
                              way == chosen ? "*" : "",
                              compare (self, mtl_copy_way_get_name (way), get_loop (self)));
  g_test_message ("%s, %" G_GSIZE_FORMAT " KiB:%s", name, size / 1024, text->str);
  g_string_free (text, TRUE);
}

static void
test_layout (gconstpointer data)
{
  const Layout *layout = data;

  for (gsize size = 16 * 1024; size <= LARGEST; size *= 8)
    {
      double ratio = 0;
      MtlCopyWay chosen;
      Case self;

      case_init (&self, layout, size);
      chosen = find_way (&self, NULL);
      print_ratios (&self, layout->name, size, chosen);
      for (guint i = 0; i < ATTEMPTS && ratio < 1 / LOSS; i++)
        ratio = compare (&self, NULL, get_loop (&self));
      if (ratio < 1 / LOSS)
        {
          g_test_message ("The way “%s” takes %.2f times as long as the plain loop",
                          mtl_copy_way_get_name (chosen), 1 / ratio);
          g_test_fail ();
        }
    }
  mtl_copy_forced_way = NULL;
}

int
main (int    argc,
      char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);

  dest_memory = g_malloc0 (4 * LARGEST);
  source_memory = g_malloc0 (10 * LARGEST);
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autofree char *path = g_strdup_printf ("/copy-ways/%s", layouts[i].name);

      g_test_add_data_func (path, &layouts[i], test_layout);
    }
  status = g_test_run ();

  g_free (dest_memory);
  g_free (source_memory);
  return status;
}
