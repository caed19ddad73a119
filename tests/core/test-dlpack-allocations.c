/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-producer.h"

#include <stdlib.h>

/* An export costs one allocation, which its deleter frees. These take the
 * place of the C library's functions for the whole process. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_COUNT 1

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n,
                            size_t size);
extern void *__libc_realloc (void   *block,
                             size_t  size);
extern void __libc_free (void *block);

static gboolean counting;
static guint n_allocated;
static guint n_freed;

void *
malloc (size_t size)
{
  n_allocated += counting;
  return __libc_malloc (size);
}

void *
calloc (size_t n,
        size_t size)
{
  n_allocated += counting;
  return __libc_calloc (n, size);
}

void *
realloc (void   *block,
         size_t  size)
{
  n_allocated += counting;
  return __libc_realloc (block, size);
}

void
free (void *block)
{
  n_freed += counting && block != NULL;
  __libc_free (block);
}

static void
start_counting (void)
{
  n_allocated = n_freed = 0;
  counting = TRUE;
}

static void
assert_counted (guint expected_allocated,
                guint expected_freed)
{
  counting = FALSE;
  g_assert_cmpuint (n_allocated, ==, expected_allocated);
  g_assert_cmpuint (n_freed, ==, expected_freed);
}
#endif

static gboolean
can_count (void)
{
#ifdef CAN_COUNT
  gpointer block;

  start_counting ();
  block = g_malloc (1);
  g_free (block);
  counting = FALSE;
  if (n_allocated == 1 && n_freed == 1)
    return TRUE;
#endif

  g_test_skip ("something else has taken the place of malloc()");
  return FALSE;
}

#ifdef CAN_COUNT
static MtlStridedView *
new_view (gsize n_dims)
{
  g_autoptr (GError) error = NULL;
  gint64 shape[64];
  MtlStridedView *view;

  for (gsize i = 0; i < n_dims; i++)
    shape[i] = 1;
  view = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, shape, n_dims,
                                     MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  return view;
}
#endif

static void
test_export (void)
{
  if (!can_count ())
    return;

#ifdef CAN_COUNT
  const gsize n_dims[] = { 0, 1, 8, 9, 64 };

  for (gsize i = 0; i < G_N_ELEMENTS (n_dims); i++)
    {
      g_autoptr (MtlStridedView) view = new_view (n_dims[i]);
      DLManagedTensorVersioned *managed;
      DLManagedTensor *legacy;

      start_counting ();
      managed = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, NULL);
      assert_counted (1, 0);
      start_counting ();
      managed->deleter (managed);
      assert_counted (0, 1);

      start_counting ();
      legacy = mtl_strided_view_to_dlpack_legacy (view, MTL_DLPACK_FLAGS_NONE, NULL, NULL);
      assert_counted (1, 0);
      start_counting ();
      legacy->deleter (legacy);
      assert_counted (0, 1);
    }
#endif
}

/* All that an import takes goes back with it. */
static void
test_import (void)
{
  if (!can_count ())
    return;

#ifdef CAN_COUNT
  for (int round = 0; round < 3; round++)
    {
      Producer producer;
      MtlStridedView *view;

      producer_init (&producer);
      start_counting ();
      view = mtl_strided_view_new_take_dlpack (&producer.versioned, NULL);
      g_object_unref (view);
      counting = FALSE;
      g_assert_cmpint (producer.n_deleted, ==, 1);
      if (round > 0) /* the first one registers types */
        {
          g_test_message ("%u allocations for an import", n_allocated);
          g_assert_cmpuint (n_allocated, ==, n_freed);
          g_assert_cmpuint (n_allocated, <=, 4);
        }
    }
#endif
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Dlpack/allocations/export", test_export);
  g_test_add_func ("/Dlpack/allocations/import", test_import);

  return g_test_run ();
}
