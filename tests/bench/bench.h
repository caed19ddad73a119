/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Measures calls: nanoseconds, the best of several rounds taken in turn, so that a slow moment of
 * the machine slows all of them; and the number of allocations. For one file of a program. */

#pragma once

#include <mtldl/mtldl.h>

#include <stdlib.h>

#include "dlpack-structs.h"

#define ROUNDS 300
#define CALLS 2000

static guint64 n_allocations;

#ifdef __GLIBC__
/* Counts what the library and GLib ask for; the rest is glibc's. */
extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);

void *
malloc (size_t size)
{
  n_allocations++;
  return __libc_malloc (size);
}

void *
calloc (size_t n,
        size_t size)
{
  n_allocations++;
  return __libc_calloc (n, size);
}
#endif

typedef void (* Call) (gpointer data);

typedef struct
{
  const char *what;
  Call call;
  gpointer data;
  double cost; /* in nanoseconds */
} Case;

static void
measure_round (Case *self)
{
  gint64 start = g_get_monotonic_time ();

  for (int i = 0; i < CALLS; i++)
    self->call (self->data);
  self->cost = MIN (self->cost, (g_get_monotonic_time () - start) * 1000.0 / CALLS);
}

static guint64
count_allocations (Case *self)
{
  guint64 before;

  self->call (self->data); /* makes what is made only once */
  before = n_allocations;
  self->call (self->data);
  return n_allocations - before;
}

static void
measure (Case  *cases,
         gsize  n_cases)
{
  for (gsize i = 0; i < n_cases; i++)
    cases[i].cost = G_MAXDOUBLE;

  for (int round = 0; round < ROUNDS; round++)
    for (gsize i = 0; i < n_cases; i++)
      measure_round (&cases[i]);

  for (gsize i = 0; i < n_cases; i++)
    g_print ("%-32s %8.1f ns %4" G_GUINT64_FORMAT " allocations\n", cases[i].what, cases[i].cost,
             count_allocations (&cases[i]));
}

static inline void
export_and_delete (gpointer data)
{
  DLManagedTensorVersioned *managed =
    mtl_strided_view_to_dlpack (data, MTL_DLPACK_FLAGS_NONE, NULL, NULL);

  managed->deleter (managed);
}

static inline void
import_and_unref (gpointer data)
{
  g_object_unref (mtl_strided_view_new_take_dlpack (data, NULL));
}
