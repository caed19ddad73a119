/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What bench_random.py measures of the machine, and counts in a layout, for the least time that a
 * copy can take: the bandwidths for a working set, and the lines of the caches that are touched. */

#include <string.h>
#include <time.h>

#include <glib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define EXPORTED __attribute__ ((visibility ("default")))
#define LINE 64

#if defined(__x86_64__) && defined(__GNUC__)
#define FOR_EACH_WIDTH __attribute__ ((target_clones ("avx512f", "avx2", "default")))
#else
#define FOR_EACH_WIDTH
#endif

typedef guint64 Line __attribute__ ((vector_size (LINE), may_alias));

/* What is done with each line. A stream goes around the caches. */
typedef enum
{
  WAY_READ,
  WAY_WRITE,
  WAY_STREAM,
  WAY_COPY,
  WAY_COPY_STREAM,
} Way;

double EXPORTED time_way (char       *dest,
                          const char *source,
                          gsize       size,
                          Way         way,
                          guint       n_rounds);
gint64 EXPORTED count_lines (gsize         address,
                             gsize         itemsize,
                             gsize         n_dims,
                             const gint64 *shape,
                             const gint64 *strides);

static FOR_EACH_WIDTH void
read_lines (const char *source,
            gsize       size)
{
  Line sum = { 0 };

  for (gsize i = 0; i < size; i += LINE)
    sum |= *(const Line *) (source + i);
  __asm__ volatile ("" : : "m"(sum));
}

static FOR_EACH_WIDTH void
write_lines (char *dest,
             gsize size)
{
  Line zeros = { 0 };

  for (gsize i = 0; i < size; i += LINE)
    {
      *(Line *) (dest + i) = zeros;
      __asm__ volatile ("" : : : "memory"); /* no memset() */
    }
}

static FOR_EACH_WIDTH void
copy_lines (char       *dest,
            const char *source,
            gsize       size)
{
  for (gsize i = 0; i < size; i += LINE)
    {
      *(Line *) (dest + i) = *(const Line *) (source + i);
      __asm__ volatile ("" : : : "memory");
    }
}

/* Without such stores, as the others do. */
static void
stream_lines (char       *dest,
              const char *source,
              gsize       size)
{
#ifdef __SSE2__
  __m128i part = _mm_setzero_si128 ();

  for (gsize i = 0; i < size; i += sizeof part)
    {
      if (source != NULL)
        part = _mm_load_si128 ((const __m128i *) (source + i));
      _mm_stream_si128 ((__m128i *) (dest + i), part);
    }
  _mm_sfence ();
#else
  if (source != NULL)
    copy_lines (dest, source, size);
  else
    write_lines (dest, size);
#endif
}

static void
go_through (char       *dest,
            const char *source,
            gsize       size,
            Way         way)
{
  switch (way)
    {
    case WAY_READ:
      read_lines (source, size);
      break;
    case WAY_WRITE:
      write_lines (dest, size);
      break;
    case WAY_STREAM:
      stream_lines (dest, NULL, size);
      break;
    case WAY_COPY:
      copy_lines (dest, source, size);
      break;
    case WAY_COPY_STREAM:
      stream_lines (dest, source, size);
      break;
    }
}

static double
get_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* The least seconds for so many bytes, of memory that begins with a line. */
double
time_way (char       *dest,
          const char *source,
          gsize       size,
          Way         way,
          guint       n_rounds)
{
  gsize n_times = (4 << 20) / size + 1;
  double least = G_MAXDOUBLE;

  for (guint round = 0; round < n_rounds; round++)
    {
      double start = get_seconds ();

      for (gsize i = 0; i < n_times; i++)
        go_through (dest, source, size, way);
      least = MIN (least, (get_seconds () - start) / n_times);
    }

  return least;
}

typedef struct
{
  gint64 extent;
  gint64 stride;
} Axis;

static int
compare_axes (gconstpointer a,
              gconstpointer b)
{
  gint64 left = ((const Axis *) a)->stride, right = ((const Axis *) b)->stride;

  return (left > right) - (left < right);
}

/* From the least stride to the greatest, all of them positive; what repeats is left out. Returns
 * the address of the lowest byte. */
static gsize
sort_axes (gsize         address,
           gsize         n_dims,
           const gint64 *shape,
           const gint64 *strides,
           Axis         *axes,
           gsize        *n_axes)
{
  *n_axes = 0;
  for (gsize i = 0; i < n_dims; i++)
    {
      if (shape[i] == 1 || strides[i] == 0)
        continue;
      if (strides[i] < 0)
        address += strides[i] * (shape[i] - 1);
      axes[(*n_axes)++] = (Axis) { shape[i], ABS (strides[i]) };
    }
  qsort (axes, *n_axes, sizeof *axes, compare_axes);

  return address;
}

static void
mark_bytes (guint8 *touched,
            gint64  first,
            gint64  last)
{
  memset (touched + first / LINE, 1, last / LINE - first / LINE + 1);
}

static void
mark_row (guint8     *touched,
          gint64      offset,
          const Axis *axis,
          gint64      itemsize)
{
  if (axis->stride <= LINE)
    {
      mark_bytes (touched, offset, offset + axis->stride * (axis->extent - 1) + itemsize - 1);
      return;
    }

  for (gint64 i = 0; i < axis->extent; i++, offset += axis->stride)
    mark_bytes (touched, offset, offset + itemsize - 1);
}

/* How many different lines the elements are in. The strides are in bytes. */
gint64
count_lines (gsize         address,
             gsize         itemsize,
             gsize         n_dims,
             const gint64 *shape,
             const gint64 *strides)
{
  Axis axes[64] = { { 1, 1 } };
  gint64 indices[64] = { 0 };
  gint64 offset, end = itemsize, n_lines = 0;
  gsize n_axes, axis;
  g_autofree guint8 *touched = NULL;

  offset = sort_axes (address, n_dims, shape, strides, axes, &n_axes) % LINE;
  n_axes = MAX (n_axes, 1);
  for (axis = 0; axis < n_axes; axis++)
    end += axes[axis].stride * (axes[axis].extent - 1);
  touched = g_malloc0 ((offset + end) / LINE + 1);

  do
    {
      mark_row (touched, offset, axes, itemsize);
      for (axis = 1; axis < n_axes; axis++)
        {
          offset += axes[axis].stride;
          if (++indices[axis] < axes[axis].extent)
            break;
          offset -= axes[axis].stride * axes[axis].extent;
          indices[axis] = 0;
        }
    }
  while (axis < n_axes);

  for (gint64 i = 0; i <= (offset + end) / LINE; i++)
    n_lines += touched[i];

  return n_lines;
}
