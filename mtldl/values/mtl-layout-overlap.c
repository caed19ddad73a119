/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Checks whether elements of one layout, or of two, share memory.
 *
 * Both questions ask whether a number is a sum Σ step · x with 0 <= x <= last for
 * each step. There is no known fast algorithm for all such sums, so the work is
 * limited, and beyond the limit the answer is the safe one. Layouts that result from
 * slicing arrays stay far below the limit. */

#include "mtl-layout-private.h"

/* The limit: visits of the search, about a millisecond in total. Preparing
 * TERMS_PER_WORK terms costs as much as a visit. */
#define MAX_WORK 16384
#define TERMS_PER_WORK 4

/* One for each axis of two layouts, and one for the bytes within the items. */
#define MAX_TERMS (2 * MTL_LAYOUT_MAX_DIMS + 1)

typedef struct
{
  guint64 step;
  guint64 last;
} Term;

/* All sums of the terms, which are sorted by step. All values that can be reached
 * fit. */
typedef struct
{
  guint n;
  Term terms[MAX_TERMS];
  guint64 reach[MAX_TERMS + 1];   /* the greatest sum of the first n terms */
  guint64 divisor[MAX_TERMS + 1]; /* common divisor of all sums of the first n terms */
  guint64 inverse[MAX_TERMS];     /* inverse of the step, modulo the divisor of the terms before */
} Sums;

typedef enum
{
  NO,
  YES,
  UNKNOWN,
} Answer;

/* Returns factor · other modulo a modulus below 2^63. Both are below the modulus.
 * Processes as many bits at a time as keep the product below 2^64. */
static guint64
multiply_modulo (guint64 factor,
                 guint64 other,
                 guint64 modulus)
{
  const int n_bits = __builtin_clzll (modulus);
  const guint64 low_bits = ((guint64) 1 << n_bits) - 1;
  guint64 product;

  if (!__builtin_mul_overflow (factor, other, &product))
    return product % modulus;

  product = 0;
  for (; other > 0; other >>= n_bits)
    {
      product = (product + factor * (other & low_bits) % modulus) % modulus;
      factor = (factor << n_bits) % modulus;
    }

  return product;
}

/* The inverse of a value that is coprime to the modulus, by Euclid's algorithm. */
static guint64
invert_modulo (guint64 value,
               guint64 modulus)
{
  guint64 rest = modulus, next_rest = value % modulus;
  gint64 factor = 0, next_factor = 1;

  while (next_rest != 0)
    {
      guint64 quotient = rest / next_rest;
      guint64 last_rest = rest;
      gint64 last_factor = factor;

      rest = next_rest;
      next_rest = last_rest - quotient * next_rest;
      factor = next_factor;
      next_factor = last_factor - (gint64) quotient * next_factor;
    }

  return factor < 0 ? modulus + factor : (guint64) factor % modulus;
}

static void
sums_add (Sums    *self,
          guint64  step,
          guint64  last)
{
  guint place = self->n;

  if (step == 0 || last == 0)
    return;

  for (; place > 0 && self->terms[place - 1].step > step; place--)
    self->terms[place] = self->terms[place - 1];
  self->terms[place] = (Term) { step, last };
  self->n++;
}

/* Merges terms: if a step begins at most one step after the end of the term below, it
 * only extends that term. Rows of two arrays then become one term, for example. */
static void
sums_merge (Sums *self)
{
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    {
      Term *below = n > 0 ? &self->terms[n - 1] : NULL;
      Term term = self->terms[i];

      if (below != NULL && term.step % below->step == 0
          && term.step / below->step - 1 <= below->last)
        below->last += term.step / below->step * term.last;
      else
        self->terms[n++] = term;
    }

  self->n = n;
}

static void
sums_prepare (Sums *self)
{
  sums_merge (self);

  self->reach[0] = self->divisor[0] = 0;
  for (guint i = 0; i < self->n; i++)
    {
      guint64 before = self->divisor[i], divisor;

      divisor = self->divisor[i + 1] = mtl_gcd (self->terms[i].step, before);
      self->reach[i + 1] = self->reach[i] + self->terms[i].step * self->terms[i].last;
      if (i > 0)
        self->inverse[i] = invert_modulo (self->terms[i].step / divisor, before / divisor);
    }
}

/* Finds out if the first n terms can add up to the target, which is not greater than
 * their reach. Only tries multiples of the last step whose remainder the other terms
 * can reach: not too large, not too small, and a multiple of their divisor. */
static Answer
sums_reach (const Sums *self,
            guint       n,
            guint64     target,
            guint      *work)
{
  guint64 step, low, high, period, residue, skipped, x;

  if (target == 0)
    return YES;
  if (target % self->divisor[n] != 0)
    return NO;
  if (n == 1)
    return YES;
  if (*work == 0)
    return UNKNOWN;
  (*work)--;

  step = self->terms[n - 1].step;
  low = target > self->reach[n - 1] ? (target - self->reach[n - 1] - 1) / step + 1 : 0;
  high = MIN (self->terms[n - 1].last, target / step);

  period = self->divisor[n - 1] / self->divisor[n];
  residue = multiply_modulo (target / self->divisor[n] % period, self->inverse[n - 1], period);
  skipped = (residue + (period - low % period)) % period;
  if (low > high || skipped > high - low)
    return NO;

  for (x = low + skipped;; x += period)
    {
      Answer answer = sums_reach (self, n - 1, target - step * x, work);

      if (answer != NO || high - x < period)
        return answer;
    }
}

static void
charge_terms (guint *work,
              guint  n_terms)
{
  *work -= MIN (*work, 1 + n_terms / TERMS_PER_WORK);
}

/* Finds out if two elements share memory that differ in the index of this axis, and
 * otherwise only in those of axes with smaller strides. One is at a distance of stride
 * · (1 + x) from the other, and the inner axes must compensate, each with -last to last
 * steps. */
static gboolean
repeats (const MtlLayout *self,
         const int       *axes,
         guint32          place,
         guint64          inner_reach,
         guint           *work)
{
  const gint64 *shape = mtl_layout_shape (self);
  const gint64 *strides = mtl_layout_strides (self);
  guint64 stride = mtl_magnitude (strides[axes[place]]);
  Sums sums;

  if (stride == 0)
    return TRUE;

  charge_terms (work, self->n_dims - place);
  sums.n = 0;
  sums_add (&sums, stride, shape[axes[place]] - 2);
  for (guint32 i = place + 1; i < self->n_dims; i++)
    sums_add (&sums, mtl_magnitude (strides[axes[i]]), 2 * (guint64) (shape[axes[i]] - 1));

  sums_prepare (&sums);
  return sums_reach (&sums, sums.n, inner_reach - stride, work) != NO;
}

/* Visits the innermost axis first: if a stride is longer than the reach of the inner
 * axes, the axis repeats nothing. */
gboolean
mtl_layout_is_unique (const MtlLayout *self)
{
  const gint64 *shape = mtl_layout_shape (self);
  const gint64 *strides = mtl_layout_strides (self);
  int axes[MTL_LAYOUT_MAX_DIMS];
  guint64 reach = 0;
  guint work = MAX_WORK;

  if (mtl_layout_is_empty (self))
    return TRUE;

  mtl_layout_get_stride_order (self, axes);
  for (guint32 i = self->n_dims; i > 0; i--)
    {
      int axis = axes[i - 1];
      guint64 stride = mtl_magnitude (strides[axis]);

      if (shape[axis] == 1)
        continue;
      if (stride <= reach && repeats (self, axes, i - 1, reach, &work))
        return FALSE;
      reach += stride * (guint64) (shape[axis] - 1);
    }

  return TRUE;
}

/* Stretches of memory of equal size, in bytes or in bits. */
typedef struct
{
  guint n;
  gint64 first;
  gint64 size;
  gint64 steps[MTL_LAYOUT_MAX_DIMS];
  gint64 lasts[MTL_LAYOUT_MAX_DIMS];
} Stretches;

/* Axes without gaps are merged into longer stretches. Returns FALSE on overflow. */
static gboolean
stretches_init (Stretches       *self,
                const MtlLayout *layout,
                gint64           item_size,
                gint64           start)
{
  const gint64 *shape = mtl_layout_shape (layout);
  const gint64 *strides = mtl_layout_strides (layout);
  int axes[MTL_LAYOUT_MAX_DIMS];
  gint64 min, max, first, end, span;

  mtl_layout_get_offset_bounds (layout, &min, &max);
  if (__builtin_mul_overflow (min, item_size, &first)
      || __builtin_mul_overflow (max, item_size, &end)
      || __builtin_add_overflow (end, item_size + 7, &end)
      || __builtin_sub_overflow (end, first, &span)
      || __builtin_add_overflow (first, start, &first)
      || __builtin_add_overflow (end, start, &end))
    return FALSE;

  self->n = 0;
  self->first = first;
  self->size = item_size;

  mtl_layout_get_stride_order (layout, axes);
  for (guint32 i = layout->n_dims; i > 0; i--)
    {
      int axis = axes[i - 1];
      gint64 step;

      if (shape[axis] == 1)
        continue;

      step = mtl_magnitude (strides[axis]) * item_size;
      if (step <= self->size)
        self->size += step * (shape[axis] - 1);
      else
        {
          self->steps[self->n] = step;
          self->lasts[self->n++] = shape[axis] - 1;
        }
    }

  return TRUE;
}

/* Solves first_a + Σ steps_a · x + p = last_b - Σ steps_b · y - q, where p and q are
 * bytes within the items. */
static gboolean
whole_bytes_meet (const Stretches *a,
                  const Stretches *b,
                  guint            shift,
                  guint           *work)
{
  const gint64 round_up = (1 << shift) - 1;
  const Stretches *both[] = { a, b };
  gint64 first[2], last[2];
  guint64 free_bytes = 0;
  Sums sums;

  sums.n = 0;
  for (gsize i = 0; i < 2; i++)
    {
      const Stretches *self = both[i];

      first[i] = self->first >> shift; /* rounds towards -∞ */
      last[i] = ((self->first + self->size + round_up) >> shift) - 1;
      free_bytes += last[i] - first[i];
      for (guint axis = 0; axis < self->n; axis++)
        {
          gint64 step = self->steps[axis] >> shift;

          sums_add (&sums, step, self->lasts[axis]);
          last[i] += step * self->lasts[axis];
        }
    }

  if (last[0] < first[1] || last[1] < first[0])
    return FALSE;

  sums_add (&sums, 1, free_bytes);
  sums_prepare (&sums);
  return sums_reach (&sums, sums.n, (guint64) last[1] - (guint64) first[0], work) != NO;
}

/* If a step is not in whole bytes, some multiple of it is, at the latest the eighth. */
static gboolean
stretches_meet (Stretches *a,
                Stretches *b,
                guint      shift,
                guint     *work)
{
  Stretches *both[] = { a, b };

  for (gsize i = 0; i < 2; i++)
    for (guint axis = 0; axis < both[i]->n; axis++)
      {
        Stretches *self = both[i];
        gint64 first = self->first, step = self->steps[axis], last = self->lasts[axis];
        gint64 period = (1 << shift) / mtl_gcd (step, 1 << shift);
        gboolean meet = FALSE;

        if (period == 1)
          continue;

        for (gint64 start = 0; start < period && start <= last && !meet; start++)
          {
            self->first = first + start * step;
            self->lasts[axis] = (last - start) / period;
            self->steps[axis] = self->lasts[axis] > 0 ? step * period : 0;
            meet = stretches_meet (a, b, shift, work);
          }

        self->first = first;
        self->steps[axis] = step;
        self->lasts[axis] = last;
        return meet;
      }

  if (*work == 0)
    return TRUE;
  charge_terms (work, a->n + b->n);
  return whole_bytes_meet (a, b, shift, work);
}

/* Checks whether one layout ends before the other begins. */
static gboolean
lie_apart (const MtlLayout *a,
           const MtlLayout *b,
           gint64           distance)
{
  gint64 a_first, a_end, b_first, b_end, limit;

  return mtl_layout_get_byte_bounds (a, &a_first, &a_end, NULL)
         && mtl_layout_get_byte_bounds (b, &b_first, &b_end, NULL)
         && ((!__builtin_sub_overflow (a_end, b_first, &limit) && distance >= limit)
             || (!__builtin_sub_overflow (a_first, b_end, &limit) && distance <= limit));
}

/* Checks whether any byte belongs to elements of both layouts. The distance is the one
 * from element offset 0 of a to that of b, in bytes. */
gboolean
mtl_layout_overlaps (const MtlLayout *a,
                     const MtlLayout *b,
                     gint64           distance)
{
  gboolean in_bits = a->item_bits % 8 != 0 || b->item_bits % 8 != 0;
  Stretches a_stretches, b_stretches;
  guint work = MAX_WORK;
  gint64 start;

  if (lie_apart (a, b, distance) || mtl_layout_is_empty (a) || mtl_layout_is_empty (b))
    return FALSE;

  if (__builtin_mul_overflow (distance, in_bits ? 8 : 1, &start)
      || !stretches_init (&a_stretches, a, in_bits ? a->item_bits : a->item_bits / 8, 0)
      || !stretches_init (&b_stretches, b, in_bits ? b->item_bits : b->item_bits / 8, start))
    return TRUE;

  return stretches_meet (&a_stretches, &b_stretches, in_bits ? 3 : 0, &work);
}
