/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Clocks, which tell if one work is ordered after another. They are shared, and copied if they
 * change; NULL knows nothing. */

#include "cuda-double-private.h"

#include <stdlib.h>
#include <string.h>

CdClock *
cd_clock_ref (CdClock *clock)
{
  if (clock != NULL)
    clock->references++;

  return clock;
}

void
cd_clock_unref (CdClock *clock)
{
  if (clock != NULL && --clock->references == 0)
    free (clock);
}

static CdClock *
new_clock (size_t n)
{
  CdClock *clock = cd_allocate (sizeof *clock + n * sizeof (CdPoint));

  clock->references = 1;

  return clock;
}

/* Points are sorted by their streams. */
static CdClock *
merged (const CdPoint *a,
        size_t         n_a,
        const CdPoint *b,
        size_t         n_b)
{
  CdClock *clock = new_clock (n_a + n_b);

  while (n_a > 0 || n_b > 0)
    {
      const CdPoint *next;

      if (n_a > 0 && n_b > 0 && a->stream == b->stream)
        {
          next = a->position > b->position ? a : b;
          a++, n_a--, b++, n_b--;
        }
      else if (n_b == 0 || (n_a > 0 && a->stream < b->stream))
        next = a++, n_a--;
      else
        next = b++, n_b--;
      clock->points[clock->n++] = *next;
    }

  return clock;
}

void
cd_clock_merge (CdClock      **clock,
                const CdClock *other)
{
  CdClock *old = *clock;

  if (other == NULL || other == old)
    return;

  *clock = merged (old != NULL ? old->points : NULL, old != NULL ? old->n : 0, other->points,
                   other->n);
  cd_clock_unref (old);
}

void
cd_clock_add (CdClock **clock,
              CdPoint   point)
{
  CdClock *old = *clock;

  *clock = merged (old != NULL ? old->points : NULL, old != NULL ? old->n : 0, &point, 1);
  cd_clock_unref (old);
}

static int
compare_streams (const void *a,
                 const void *b)
{
  unsigned x = ((const CdPoint *) a)->stream;
  unsigned y = ((const CdPoint *) b)->stream;

  return (x > y) - (x < y);
}

bool
cd_clock_knows (const CdClock *clock,
                CdPoint        point)
{
  const CdPoint *found;

  if (clock == NULL)
    return false;

  found = bsearch (&point, clock->points, clock->n, sizeof point, compare_streams);

  return found != NULL && found->position >= point.position;
}
