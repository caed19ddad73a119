/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-set-private.h"

/* Two to four channels of 1, 2, 4 or 8 bytes, interleaved on one side and in planes
 * on the other: pictures, complex numbers, arrays with few columns; and every second,
 * third or fourth element. Shuffles of 16 bytes are as fast as the memory. Baseline
 * x86, without SSE4, has none for bytes, and takes 8 times as long for three
 * channels. */

#if MTL_COPY_WIDTH > 0

typedef guint8 Items1 __attribute__ ((vector_size (16)));
typedef guint16 Items2 __attribute__ ((vector_size (16)));
typedef guint32 Items4 __attribute__ ((vector_size (16)));
typedef guint64 Items8 __attribute__ ((vector_size (16)));

/* Which elements to take from two vectors of n elements each: i counts those of the result. */
#define EVEN(i, n) (2 * (i))
#define ODD(i, n) (2 * (i) + 1)
#define LOW(i, n) ((i) / 2 + (i) % 2 * (n))
#define HIGH(i, n) ((n) / 2 + LOW (i, n))

/* Takes one of three channels: from the first two vectors, then from the third. */
#define SPLIT_IS_A(i, n, channel) (3 * (i) + (channel) < 2 * (n))
#define SPLIT_A(i, n, channel) (SPLIT_IS_A (i, n, channel) ? 3 * (i) + (channel) : 0)
#define SPLIT_B(i, n, channel) (SPLIT_IS_A (i, n, channel) ? (i) : 3 * (i) + (channel) - (n))

/* Joins three channels to one of three vectors: the first two channels, then the third. */
#define JOIN_CHANNEL(i, n, vector) (((vector) * (n) + (i)) % 3)
#define JOIN_PIXEL(i, n, vector) (((vector) * (n) + (i)) / 3)
#define JOIN_A(i, n, vector) \
  (JOIN_CHANNEL (i, n, vector) < 2 \
     ? JOIN_CHANNEL (i, n, vector) * (n) + JOIN_PIXEL (i, n, vector) : 0)
#define JOIN_B(i, n, vector) \
  (JOIN_CHANNEL (i, n, vector) < 2 ? (i) : (n) + JOIN_PIXEL (i, n, vector))

/* Lists for the elements of a vector by their size. */
#define LIST_1(...) MTL_16 (__VA_ARGS__)
#define LIST_2(...) MTL_8 (__VA_ARGS__)
#define LIST_4(...) MTL_4 (__VA_ARGS__)
#define LIST_8(...) MTL_2 (__VA_ARGS__)

#define SHUFFLE_TO(size, a, b, name, ...) \
  ((MtlBytes16) __builtin_shufflevector ((Items##size) (a), (Items##size) (b), \
                                         LIST_##size (name, 0, __VA_ARGS__)))
#define SHUFFLE(size, a, b, name) SHUFFLE_TO (size, a, b, name, 16 / size)
#define SHUFFLE3(size, name, k, v) \
  SHUFFLE_TO (size, SHUFFLE_TO (size, v[0], v[1], name##_A, 16 / size, k), v[2], name##_B, \
              16 / size, k)

/* As many vectors as channels, in and out. */
#define DEFINE_SHUFFLES(size) \
MTL_INLINE void \
split_##size (MtlBytes16       *out, \
              const MtlBytes16 *in, \
              int               n) \
{ \
  if (n == 2) \
    { \
      out[0] = SHUFFLE (size, in[0], in[1], EVEN); \
      out[1] = SHUFFLE (size, in[0], in[1], ODD); \
    } \
  else if (n == 3) \
    { \
      out[0] = SHUFFLE3 (size, SPLIT, 0, in); \
      out[1] = SHUFFLE3 (size, SPLIT, 1, in); \
      out[2] = SHUFFLE3 (size, SPLIT, 2, in); \
    } \
  else \
    { \
      MtlBytes16 even_low = SHUFFLE (size, in[0], in[1], EVEN); \
      MtlBytes16 even_high = SHUFFLE (size, in[2], in[3], EVEN); \
      MtlBytes16 odd_low = SHUFFLE (size, in[0], in[1], ODD); \
      MtlBytes16 odd_high = SHUFFLE (size, in[2], in[3], ODD); \
      out[0] = SHUFFLE (size, even_low, even_high, EVEN); \
      out[1] = SHUFFLE (size, odd_low, odd_high, EVEN); \
      out[2] = SHUFFLE (size, even_low, even_high, ODD); \
      out[3] = SHUFFLE (size, odd_low, odd_high, ODD); \
    } \
} \
\
MTL_INLINE void \
join_##size (MtlBytes16       *out, \
             const MtlBytes16 *in, \
             int               n) \
{ \
  if (n == 2) \
    { \
      out[0] = SHUFFLE (size, in[0], in[1], LOW); \
      out[1] = SHUFFLE (size, in[0], in[1], HIGH); \
    } \
  else if (n == 3) \
    { \
      out[0] = SHUFFLE3 (size, JOIN, 0, in); \
      out[1] = SHUFFLE3 (size, JOIN, 1, in); \
      out[2] = SHUFFLE3 (size, JOIN, 2, in); \
    } \
  else \
    { \
      MtlBytes16 even_low = SHUFFLE (size, in[0], in[2], LOW); \
      MtlBytes16 even_high = SHUFFLE (size, in[0], in[2], HIGH); \
      MtlBytes16 odd_low = SHUFFLE (size, in[1], in[3], LOW); \
      MtlBytes16 odd_high = SHUFFLE (size, in[1], in[3], HIGH); \
      out[0] = SHUFFLE (size, even_low, odd_low, LOW); \
      out[1] = SHUFFLE (size, even_low, odd_low, HIGH); \
      out[2] = SHUFFLE (size, even_high, odd_high, LOW); \
      out[3] = SHUFFLE (size, even_high, odd_high, HIGH); \
    } \
}

DEFINE_SHUFFLES (1)
DEFINE_SHUFFLES (2)
DEFINE_SHUFFLES (4)
DEFINE_SHUFFLES (8)

MTL_INLINE void
split (MtlBytes16       *out,
       const MtlBytes16 *in,
       int               n,
       gsize             size)
{
  switch (size)
    {
    case 1: split_1 (out, in, n); break;
    case 2: split_2 (out, in, n); break;
    case 4: split_4 (out, in, n); break;
    default: split_8 (out, in, n); break;
    }
}

MTL_INLINE void
join (MtlBytes16       *out,
      const MtlBytes16 *in,
      int               n,
      gsize             size)
{
  switch (size)
    {
    case 1: join_1 (out, in, n); break;
    case 2: join_2 (out, in, n); break;
    case 4: join_4 (out, in, n); break;
    default: join_8 (out, in, n); break;
    }
}

/* Consecutive pixels. */
typedef struct
{
  guint8 *dest;
  const guint8 *source;
  gsize n_pixels;
  gssize plane;      /* bytes from one channel to the next, in planes */
  gssize ahead;      /* the distance at which to prefetch */
  gboolean streams;  /* whole lines bypass the caches */
} Pixels;

MTL_INLINE void
put (guint8     *to,
     MtlBytes16  value,
     gboolean    streams)
{
  if (streams)
    mtl_stream16 (to, value);
  else
    mtl_store16 (to, value);
}

/* 16 bytes of each channel. */
MTL_INLINE void
split_vector (MtlBytes16   *out,
              const guint8 *source,
              int           n,
              gsize         size)
{
  MtlBytes16 in[4];

  for (int i = 0; i < n; i++)
    in[i] = mtl_load16 (source + i * 16);
  split (out, in, n, size);
}

/* Writes a line of each channel that is kept. */
MTL_INLINE void
split_line (guint8       *dest,
            const guint8 *source,
            gssize        plane,
            gssize        ahead,
            int           n,
            int           n_kept,
            gsize         size,
            gboolean      streams)
{
  MtlBytes16 out[4][4];

  for (int i = 0; i < n; i++)
    __builtin_prefetch ((gpointer) ((guintptr) source + (gsize) ahead + i * MTL_LINE));
  for (int i = 0; i < 4; i++)
    split_vector (out[i], source + 16 * i * n, n, size);
  for (int k = 0; k < n_kept; k++)
    for (int i = 0; i < 4; i++)
      put (dest + k * plane + 16 * i, out[i][k], streams);
}

MTL_INLINE void
split_pixels_of (const Pixels *self,
                 int           n,
                 int           n_kept,
                 gsize         size,
                 gboolean      streams)
{
  /* The compiler cannot know that the destination is not the pixels themselves. */
  const Pixels pixels = *self;
  /* The last pixel may lack the channels that are not kept. */
  gsize n_whole = self->n_pixels - (n_kept < n);
  gsize n_bytes = n_whole * size / 16 * 16; /* per plane */
  gsize i = 0;

  for (; i + MTL_LINE <= n_bytes; i += MTL_LINE)
    split_line (pixels.dest + i, pixels.source + i * n, pixels.plane, pixels.ahead, n, n_kept,
                size, streams);
  for (; i < n_bytes; i += 16)
    {
      MtlBytes16 out[4];

      split_vector (out, self->source + i * n, n, size);
      for (int k = 0; k < n_kept; k++)
        mtl_store16 (self->dest + i + k * self->plane, out[k]);
    }
  for (; i < self->n_pixels * size; i += size)
    for (int k = 0; k < n_kept; k++)
      memcpy (self->dest + i + k * self->plane, self->source + i * n + k * size, size);
}

MTL_INLINE void
split_pixels_of_size (const Pixels *self,
                      int           n,
                      int           n_kept,
                      gsize         size,
                      gboolean      streams)
{
  switch (10 * n + n_kept)
    {
    case 21: split_pixels_of (self, 2, 1, size, streams); break;
    case 22: split_pixels_of (self, 2, 2, size, streams); break;
    case 31: split_pixels_of (self, 3, 1, size, streams); break;
    case 32: split_pixels_of (self, 3, 2, size, streams); break;
    case 33: split_pixels_of (self, 3, 3, size, streams); break;
    case 41: split_pixels_of (self, 4, 1, size, streams); break;
    case 42: split_pixels_of (self, 4, 2, size, streams); break;
    case 43: split_pixels_of (self, 4, 3, size, streams); break;
    default: split_pixels_of (self, 4, 4, size, streams); break;
    }
}

/* The vectors that begin at byte i of each plane. */
MTL_INLINE void
join_vectors (const Pixels *self,
              gsize         i,
              int           n,
              gsize         size,
              gboolean      streams)
{
  MtlBytes16 in[4], out[4];

  for (int k = 0; k < n; k++)
    {
      const guint8 *from = self->source + k * self->plane + i;

      __builtin_prefetch ((gpointer) ((guintptr) from + (gsize) self->ahead));
      in[k] = mtl_load16 (from);
    }
  join (out, in, n, size);
  for (int k = 0; k < n; k++)
    put (self->dest + i * n + k * 16, out[k], streams);
}

MTL_INLINE void
join_pixels_of (const Pixels *self,
                int           n,
                gsize         size,
                gboolean      streams)
{
  gsize n_bytes = self->n_pixels * size; /* per plane */
  gsize i = 0;

  for (; i + 16 <= n_bytes; i += 16)
    join_vectors (self, i, n, size, streams);
  for (; i < n_bytes; i += size)
    for (int k = 0; k < n; k++)
      memcpy (self->dest + i * n + k * size, self->source + k * self->plane + i, size);
}

MTL_INLINE void
join_pixels_of_size (const Pixels *self,
                     int           n,
                     gsize         size,
                     gboolean      streams)
{
  switch (n)
    {
    case 2: join_pixels_of (self, 2, size, streams); break;
    case 3: join_pixels_of (self, 3, size, streams); break;
    default: join_pixels_of (self, 4, size, streams); break;
    }
}

/* Makes the last two arguments, the size and `streams`, constants. */
#define CALL_FOR_SIZE(size, streams, function, ...) \
  switch (2 * (size) + ((streams) ? 1 : 0)) \
    { \
    case 2: function (__VA_ARGS__, 1, FALSE); break; \
    case 3: function (__VA_ARGS__, 1, TRUE); break; \
    case 4: function (__VA_ARGS__, 2, FALSE); break; \
    case 5: function (__VA_ARGS__, 2, TRUE); break; \
    case 8: function (__VA_ARGS__, 4, FALSE); break; \
    case 9: function (__VA_ARGS__, 4, TRUE); break; \
    case 16: function (__VA_ARGS__, 8, FALSE); break; \
    default: function (__VA_ARGS__, 8, TRUE); break; \
    }

static void
split_pixels (const Pixels *self,
              int           n,
              int           n_kept,
              gsize         size)
{
  CALL_FOR_SIZE (size, self->streams, split_pixels_of_size, self, n, n_kept);
}

static void
join_pixels (const Pixels *self,
             int           n,
             gsize         size)
{
  CALL_FOR_SIZE (size, self->streams, join_pixels_of_size, self, n);
}

void
MTL_KERNEL (gather) (guint8       *dest,
                     const guint8 *source,
                     gsize         n_items,
                     int           n,
                     gsize         size,
                     gssize        ahead,
                     gboolean      streams)
{
  const Pixels pixels = { dest, source, n_items, 0, ahead, streams };

  split_pixels (&pixels, n, 1, size);
}

/* [rows, every nth element] */
void
MTL_KERNEL (nth) (const MtlCopyGrid *grid)
{
  const MtlAxis rows = grid->rows, items = grid->items;
  gsize size = grid->plan->item_size;
  gssize ahead = mtl_choose_ahead (items.extent, items.source_step, rows.source_step);

  for (gsize i = 0; i < rows.extent; i++)
    MTL_KERNEL (gather) (grid->dest + (gssize) i * rows.dest_step,
                         grid->source + (gssize) i * rows.source_step, items.extent,
                         (int) (items.source_step / (gssize) size), size, ahead, grid->streams);
}

/* Streamed pixels are pieces of longer rows. */
static gssize
choose_ahead (const MtlCopyPlan *plan,
              gsize              n_pixels)
{
  return plan->streams ? MTL_AHEAD : mtl_choose_ahead_within (n_pixels * plan->item_size);
}

/* [channels, pixels], from interleaved channels to planes. */
void
MTL_KERNEL (deinterleave) (const MtlCopyGrid *grid)
{
  gsize size = grid->plan->item_size;
  const Pixels pixels = { grid->dest, grid->source, grid->items.extent, grid->rows.dest_step,
                          choose_ahead (grid->plan, grid->items.extent), grid->streams };

  split_pixels (&pixels, (int) (grid->items.source_step / (gssize) size),
                (int) grid->rows.extent, size);
}

/* [pixels, channels], the reverse. */
void
MTL_KERNEL (interleave) (const MtlCopyGrid *grid)
{
  gsize size = grid->plan->item_size;
  const Pixels pixels = { grid->dest, grid->source, grid->rows.extent, grid->items.source_step,
                          choose_ahead (grid->plan, grid->rows.extent), grid->streams };

  join_pixels (&pixels, (int) grid->items.extent, size);
}

#endif
