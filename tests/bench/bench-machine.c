/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bandwidths of the machine, by the size of the memory: copy_limit.py computes the least time
 * of a copy from them. */

#include <time.h>

#include <glib.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define FOR_X86_64
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#define EXPORTED __attribute__ ((visibility ("default")))
#define LINE 64

#ifdef FOR_X86_64
#define FOR_EACH_WIDTH __attribute__ ((target_clones ("avx512f", "avx2", "default")))
#else
#define FOR_EACH_WIDTH
#endif

typedef guint64 Line __attribute__ ((vector_size (LINE), may_alias));

/* The ways to go through the lines of memory. A stream goes around the caches. */
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

/* Several sums, so that no load waits for another. */
static FOR_EACH_WIDTH void
read_lines (const char *source,
            gsize       size)
{
  Line a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

  for (gsize i = 0; i < size; i += 4 * LINE)
    {
      const Line *lines = (gconstpointer) (source + i);

      a |= lines[0];
      b |= lines[1];
      c |= lines[2];
      d |= lines[3];
    }
  a |= b | c | d;
  __asm__ volatile ("" : : "m"(a));
}

static FOR_EACH_WIDTH void
write_lines (char *dest,
             gsize size)
{
  Line zeros = { 0 };

  for (gsize i = 0; i < size; i += LINE)
    {
      *(Line *) (gpointer) (dest + i) = zeros;
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
      *(Line *) (gpointer) (dest + i) = *(const Line *) (gconstpointer) (source + i);
      __asm__ volatile ("" : : : "memory");
    }
}

/* Streams around the caches, or uses plain stores if the processor has no others. */
static void
stream_parts (char       *dest,
              const char *source,
              gsize       size)
{
#ifdef __SSE2__
  __m128i part = _mm_setzero_si128 ();

  for (gsize i = 0; i < size; i += sizeof part)
    {
      if (source != NULL)
        part = _mm_load_si128 ((const __m128i *) (gconstpointer) (source + i));
      _mm_stream_si128 ((__m128i *) (gpointer) (dest + i), part);
    }
  _mm_sfence ();
#else
  if (source != NULL)
    copy_lines (dest, source, size);
  else
    write_lines (dest, size);
#endif
}

#ifdef FOR_X86_64
/* A line by one store is written faster. */
static __attribute__ ((target ("avx512f"))) void
stream_whole_lines (char       *dest,
                    const char *source,
                    gsize       size)
{
  __m512i line = _mm512_setzero_si512 ();

  for (gsize i = 0; i < size; i += LINE)
    {
      if (source != NULL)
        line = _mm512_load_si512 (source + i);
      _mm512_stream_si512 ((__m512i *) (gpointer) (dest + i), line);
    }
  _mm_sfence ();
}
#endif

static void
stream_lines (char       *dest,
              const char *source,
              gsize       size)
{
#ifdef FOR_X86_64
  if (__builtin_cpu_supports ("avx512f"))
    {
      stream_whole_lines (dest, source, size);
      return;
    }
#endif

  stream_parts (dest, source, size);
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

/* Returns this thread's time on the processor, as others may run there too. */
static double
get_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* The least seconds for that many bytes, a multiple of 256, of memory that begins with a line. */
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
