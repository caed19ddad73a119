/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an exchange costs in C: nanoseconds, the best of several rounds, and
 * the number of allocations. */

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

static void
report (const char *what,
        Call        call,
        gpointer    data)
{
  guint64 before;

  call (data); /* what is made only once */
  before = n_allocations;
  call (data);
  before = n_allocations - before;
  g_print ("%-32s %8.1f ns %4" G_GUINT64_FORMAT " allocations\n", what, measure (call, data),
           before);
}

static void
export_and_delete (gpointer data)
{
  DLManagedTensorVersioned *managed =
    mtl_strided_view_to_dlpack (data, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_UNKNOWN, 0, NULL);

  managed->deleter (managed);
}

static void
export_legacy_and_delete (gpointer data)
{
  DLManagedTensor *managed =
    mtl_strided_view_to_dlpack_legacy (data, MTL_DLPACK_FLAGS_NONE, MTL_DEVICE_TYPE_UNKNOWN, 0,
                                       NULL);

  managed->deleter (managed);
}

static void
import_and_unref (gpointer data)
{
  g_object_unref (mtl_strided_view_new_take_dlpack (data, NULL));
}

static void
permute_and_unref (gpointer data)
{
  const int axes[] = { 2, 0, 1 };

  g_object_unref (mtl_strided_view_permute (data, axes, 3, NULL));
}

static void
new_object (gpointer data)
{
  g_object_unref (g_object_new (G_TYPE_OBJECT, NULL));
}

int
main (void)
{
  const gint64 shape[] = { 2, 3, 4 };
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, shape, 3, NULL);
  float data[24] = { 0 };
  gint64 strides[] = { 12, 4, 1 };
  DLManagedTensorVersioned foreign = {
    .version = { 1, 1 },
    .dl_tensor = { data, { 1, 0 }, 3, { 2, 32, 1 }, (gint64 *) shape, strides, 0 },
  };

  report ("a bare GObject, new + unref", new_object, NULL);
  report ("export + deleter", export_and_delete, view);
  report ("export, legacy + deleter", export_legacy_and_delete, view);
  report ("import + unref", import_and_unref, &foreign);
  report ("permute + unref", permute_and_unref, view);
  return 0;
}
