/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Handles: numbers for which nothing is mapped, so that no program can look behind them. */

#include "cuda-double-private.h"

#include <stdlib.h>

#define FIRST ((uintptr_t) 0x6d0000000000)
#define FOR_EACH_KIND ((uintptr_t) 1 << 34)
#define STEP 256

static struct
{
  void **objects;
  size_t n, allocated;
} tables[CD_N_HANDLES];

void *
cd_new_handle (CdHandleKind kind,
               void        *object)
{
  if (tables[kind].n == tables[kind].allocated)
    {
      tables[kind].allocated = 2 * tables[kind].allocated + 16;
      tables[kind].objects = realloc (tables[kind].objects,
                                      tables[kind].allocated * sizeof (void *));
      if (tables[kind].objects == NULL)
        abort ();
    }
  tables[kind].objects[tables[kind].n++] = object;

  return (void *) (FIRST + kind * FOR_EACH_KIND + tables[kind].n * STEP);
}

void *
cd_find_handle (CdHandleKind kind,
                const void  *handle)
{
  uintptr_t first = FIRST + kind * FOR_EACH_KIND + STEP;
  uintptr_t at = (uintptr_t) handle;

  if (at < first || (at - first) % STEP != 0 || (at - first) / STEP >= tables[kind].n)
    return NULL;

  return tables[kind].objects[(at - first) / STEP];
}

size_t
cd_n_handles (CdHandleKind kind)
{
  return tables[kind].n;
}

void *
cd_handle_at (CdHandleKind kind,
              size_t       i)
{
  return tables[kind].objects[i];
}
