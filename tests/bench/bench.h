/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a call costs: nanoseconds, the best of several rounds, and the number
 * of allocations. For one file of a program. */

#pragma once

#include <mtldl/mtldl.h>

#include <stdlib.h>

#include "dlpack-structs.h"

#define ROUNDS 20
#define CALLS 50000

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

static double
measure (Call     call,
         gpointer data)
{
  double best = G_MAXDOUBLE;

  for (int round = 0; round < ROUNDS; round++)
    {
      gint64 start = g_get_monotonic_time ();

      for (int i = 0; i < CALLS; i++)
        call (data);
      best = MIN (best, (g_get_monotonic_time () - start) * 1000.0 / CALLS);
    }

  return best;
}

static double
report (const char *what,
        Call        call,
        gpointer    data)
{
  guint64 before;
  double cost;

  call (data); /* what is made only once */
  before = n_allocations;
  call (data);
  before = n_allocations - before;
  cost = measure (call, data);
  g_print ("%-32s %8.1f ns %4" G_GUINT64_FORMAT " allocations\n", what, cost, before);
  return cost;
}

static void
export_and_delete (gpointer data)
{
  DLManagedTensorVersioned *managed =
    mtl_strided_view_to_dlpack (data, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_UNKNOWN, 0, NULL);

  managed->deleter (managed);
}

static void
import_and_unref (gpointer data)
{
  g_object_unref (mtl_strided_view_new_take_dlpack (data, NULL));
}
