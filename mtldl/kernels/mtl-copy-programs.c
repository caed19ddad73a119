/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-program-private.h"

#if MTL_COPY_PROGRAM_WIDTH > 0

/* Programs that gather the units of a box: each vector of the destination has bytes of
 * some windows of the source, which are loaded, permuted and merged. Faster than one
 * load for each unit if the units are small and near each other. */

#define WIDTH MTL_COPY_PROGRAM_WIDTH

/* The windows of a vector that is repeated, at most. */
#define MOST_REPEATED 8

typedef struct
{
  gint32 low, high; /* offsets of the bytes in the source: from low to before high */
} Window;

/* The offset in the source of each byte of one vector. */
static void
list_bytes (gint32       *bytes,
            const gint32 *offsets,
            gsize         first,
            gsize         n,
            gsize         size)
{
  gsize unit = first / size, byte = first % size;

  for (gsize i = 0; i < n; i++)
    {
      bytes[i] = offsets[unit] + (gint32) byte;
      if (++byte == size)
        {
          byte = 0;
          unit++;
        }
    }
}

static gboolean
fits (const Window *window,
      gint32        byte)
{
  return MAX (window->high, byte + 1) - MIN (window->low, byte) <= WIDTH;
}

/* Finds the windows that a vector takes, and which one each byte is in. Stops if there
 * are more than `most`. */
static guint
find_windows (Window       *windows,
              guint8       *owner,
              const gint32 *bytes,
              gsize         n,
              guint         most)
{
  guint n_windows = 0, last = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint k = last;

      if (n_windows == 0 || !fits (&windows[k], bytes[i]))
        for (k = 0; k < n_windows && !fits (&windows[k], bytes[i]); k++);
      if (k == n_windows)
        {
          if (n_windows == most)
            return most + 1;
          windows[n_windows++] = (Window) { bytes[i], bytes[i] + 1 };
        }
      windows[k].low = MIN (windows[k].low, bytes[i]);
      windows[k].high = MAX (windows[k].high, bytes[i] + 1);
      owner[i] = last = k;
    }

  return n_windows;
}

/* Returns the number of patterns if there is no room for another. */
static guint
find_pattern (Program      *self,
              const guint8 *indices)
{
  for (guint i = self->n_patterns; i-- > 0;)
    if (memcmp (self->patterns[i].indices, indices, WIDTH) == 0)
      return i;

  if (self->n_patterns == MTL_COPY_PROGRAM_PATTERNS)
    return MTL_COPY_PROGRAM_PATTERNS;

  mtl_copy_pattern_set (&self->patterns[self->n_patterns], indices);
  return self->n_patterns++;
}

/* Returns FALSE if there are too many steps or patterns. */
static gboolean
add_vector (Program      *self,
            const gint32 *bytes,
            gsize         n,
            guint         most)
{
  Window windows[WIDTH];
  guint8 owner[WIDTH];
  guint n_windows = find_windows (windows, owner, bytes, n, most);

  if (n_windows > most || self->n_steps + n_windows > MTL_COPY_PROGRAM_STEPS)
    return FALSE;

  for (guint k = 0; k < n_windows; k++)
    {
      guint8 indices[WIDTH];
      guint pattern;

      memset (indices, MTL_COPY_NO_BYTE, WIDTH);
      for (gsize i = 0; i < n; i++)
        if (owner[i] == k)
          indices[i] = bytes[i] - windows[k].low;
      pattern = find_pattern (self, indices);
      if (pattern == MTL_COPY_PROGRAM_PATTERNS)
        return FALSE;

      self->steps[self->n_steps++] = (Step) { windows[k].low, pattern };
      self->reach = MAX (self->reach, windows[k].low + WIDTH);
    }
  self->n_windows[self->n_vectors++] = n_windows;
  if (n == WIDTH)
    self->same = self->n_whole++ == 0 || self->same == n_windows ? n_windows : 0;
  return TRUE;
}

/* Returns FALSE if a vector took more than `most` windows. */
gboolean
MTL_KERNEL (compile) (Program      *self,
                      const gint32 *offsets,
                      gsize         n_units,
                      gsize         size,
                      guint         most)
{
  gsize n_bytes = n_units * size;

  self->n_vectors = self->n_whole = self->n_steps = self->n_patterns = 0;
  self->n_rest = n_bytes % WIDTH;
  self->reach = 0;
  self->same = 0;
  if (n_bytes > MTL_COPY_PROGRAM_BYTES)
    return FALSE;

  for (gsize i = 0; i < n_bytes; i += WIDTH)
    {
      gint32 bytes[WIDTH];
      gsize n = MIN (n_bytes - i, WIDTH);

      list_bytes (bytes, offsets, i, n, size);
      if (!add_vector (self, bytes, n, most))
        return FALSE;
    }

  return TRUE;
}

/* A program of one vector, whose units are `step` bytes apart. Returns whether it is
 * worth it. */
gboolean
MTL_KERNEL (compile_row) (Program *self,
                          gssize   step,
                          gsize    size)
{
  gsize n_units = WIDTH / size, distance = step < 0 ? -step : step, n;

  if (distance > WIDTH - size)
    return FALSE;

  n = distance > 0 ? (WIDTH - size) / distance + 1 : n_units; /* in a window */
  if ((n_units - 1) / n + 1 > MIN (n_units / (WIDTH == 64 ? 3 : 2), MOST_REPEATED))
    return FALSE;

  self->n_steps = 0;
  self->reach = 0;
  for (gsize first = 0; first < n_units; first += n)
    {
      gsize n_now = MIN (n, n_units - first);
      gint32 low = (gint32) ((gssize) (step < 0 ? first + n_now - 1 : first) * step);
      guint8 indices[WIDTH];

      memset (indices, MTL_COPY_NO_BYTE, WIDTH);
      for (gsize i = first; i < first + n_now; i++)
        for (gsize byte = 0; byte < size; byte++)
          indices[i * size + byte] = (gssize) i * step - low + byte;
      mtl_copy_pattern_set (&self->patterns[self->n_steps], indices);
      self->steps[self->n_steps] = (Step) { low, self->n_steps };
      self->reach = MAX (self->reach, low + WIDTH);
      self->n_steps++;
    }
  return TRUE;
}

MTL_INLINE LoadedPattern
load_pattern (const Program *self,
              const Step    *step)
{
  return mtl_copy_pattern_load (&self->patterns[step->pattern]);
}

MTL_INLINE PermutedBytes
make_vector (const Program *self,
             const Step    *step,
             const guint8  *source,
             guint          n_windows)
{
  PermutedBytes bytes = mtl_copy_permute (source + step->offset, load_pattern (self, step));

  for (guint k = 1; k < n_windows; k++)
    {
      step++;
      bytes = mtl_copy_merge (bytes, source + step->offset, load_pattern (self, step));
    }

  return bytes;
}

MTL_INLINE void
run_same (const Program *self,
          guint8        *dest,
          const guint8  *source,
          guint          n_windows)
{
  const Step *step = self->steps;

  for (guint i = 0; i < self->n_whole; i++, dest += WIDTH, step += n_windows)
    {
      PermutedBytes bytes = make_vector (self, step, source, n_windows);

      memcpy (dest, &bytes, WIDTH);
    }
}

static void
run_any (const Program *self,
         guint8        *dest,
         const guint8  *source)
{
  const Step *step = self->steps;

  for (guint i = 0; i < self->n_whole; i++, dest += WIDTH)
    {
      PermutedBytes bytes = make_vector (self, step, source, self->n_windows[i]);

      memcpy (dest, &bytes, WIDTH);
      step += self->n_windows[i];
    }
}

/* Reads up to self->reach bytes from source. */
void
MTL_KERNEL (run_program) (const Program *self,
                          guint8        *dest,
                          const guint8  *source)
{
  switch (self->same)
    {
    case 1: run_same (self, dest, source, 1); break;
    case 2: run_same (self, dest, source, 2); break;
    case 3: run_same (self, dest, source, 3); break;
    case 4: run_same (self, dest, source, 4); break;
    default: run_any (self, dest, source);
    }

  if (self->n_rest > 0)
    {
      guint n_windows = self->n_windows[self->n_whole];
      PermutedBytes bytes = make_vector (self, self->steps + self->n_steps - n_windows, source,
                                         n_windows);

      memcpy (dest + self->n_whole * WIDTH, &bytes, self->n_rest);
    }
}

/* Rows of n units each, at least a vector, with the patterns in registers. The last
 * vector of a row may overlap the one before. */
MTL_INLINE void
repeat_of (const Program  *self,
           const UnitRows *rows,
           gsize           size,
           guint           n_windows)
{
  gsize n_units = WIDTH / size;
  gssize step = (gssize) n_units * rows->source_step;
  LoadedPattern patterns[MOST_REPEATED];
  gssize offsets[MOST_REPEATED];

#pragma GCC unroll 8
  for (guint k = 0; k < n_windows; k++)
    {
      patterns[k] = load_pattern (self, &self->steps[k]);
      offsets[k] = self->steps[k].offset;
    }

  for (gsize row = 0; row < rows->n_rows; row++)
    {
      guint8 *dest = rows->dest
                     + (rows->dest_offsets != NULL ? (gssize) rows->dest_offsets[row]
                                                   : (gssize) (row * rows->n * size));
      const guint8 *source = rows->source + rows->source_offsets[row];

      for (gsize n = rows->n;; n -= n_units)
        {
          PermutedBytes bytes;

          if (n < n_units)
            {
              dest -= (n_units - n) * size;
              source -= (gssize) (n_units - n) * rows->source_step;
            }
          bytes = mtl_copy_permute (source + offsets[0], patterns[0]);

#pragma GCC unroll 8
          for (guint k = 1; k < n_windows; k++)
            bytes = mtl_copy_merge (bytes, source + offsets[k], patterns[k]);
          memcpy (dest, &bytes, WIDTH);
          if (n <= n_units)
            break;

          dest += WIDTH;
          source += step;
        }
    }
}

void
MTL_KERNEL (repeat_program) (const Program  *self,
                             const UnitRows *rows,
                             gsize           size)
{
  switch (self->n_steps)
    {
    case 1: repeat_of (self, rows, size, 1); break;
    case 2: repeat_of (self, rows, size, 2); break;
    case 3: repeat_of (self, rows, size, 3); break;
    case 4: repeat_of (self, rows, size, 4); break;
    case 5: repeat_of (self, rows, size, 5); break;
    case 6: repeat_of (self, rows, size, 6); break;
    case 7: repeat_of (self, rows, size, 7); break;
    default: repeat_of (self, rows, size, MOST_REPEATED);
    }
}

#endif
