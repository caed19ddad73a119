/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drawn-layouts.h"
#include "emulator.h"
#include "test-utils.h"

/* Not in the headers of all systems that have them. */
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static inline guint
count_fds (void)
{
  DIR *folder = opendir ("/proc/self/fd");
  guint n = 0;

  g_assert_nonnull (folder);
  while (readdir (folder) != NULL)
    n++;
  closedir (folder);
  return n;
}

static inline guint
count_mappings (void)
{
  g_autofree char *maps = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  for (const char *at = maps; (at = strstr (at, "memfd:")) != NULL; at++)
    n++;
  return n;
}

/* The time at which a test that draws cases ends. */
static inline gint64
get_end (void)
{
  const char *seconds = g_getenv ("MTL_TEST_SECONDS");

  return g_get_monotonic_time ()
         + g_ascii_strtoll (seconds != NULL ? seconds : "2", NULL, 10) * G_USEC_PER_SEC;
}

static inline int
make_memfd (gsize size,
            int   seals)
{
  int fd = memfd_create ("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (ftruncate (fd, size), ==, 0);
  for (gsize i = 0; i < MIN (size, 65536); i += 256)
    {
      guint8 bytes[256];

      for (gsize k = 0; k < sizeof bytes; k++)
        bytes[k] = (i + k) * 7 + 3;
      g_assert_cmpint (pwrite (fd, bytes, MIN (sizeof bytes, size - i), i), >, 0);
    }
  if (seals != 0)
    g_assert_cmpint (fcntl (fd, F_ADD_SEALS, seals), ==, 0);
  return fd;
}

/* The byte that make_memfd() puts there. */
static inline guint8
get_peer_byte (gsize at)
{
  return (guint8) (at * 7 + 3);
}

static inline MtlStridedView *
zeros_for_others (MtlDType      dtype,
                  const gint64 *shape,
                  gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (NULL, dtype, shape, n_dims,
                                                     MTL_STORAGE_MODE_INTERPROCESS, &error);

  g_assert_no_error (error);
  return view;
}

static inline void
assert_same_elements (MtlStridedView *a,
                      MtlStridedView *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) a_bytes = mtl_strided_view_dup_bytes (a, NULL, &error);
  g_autoptr (GBytes) b_bytes = mtl_strided_view_dup_bytes (b, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_dtype (a), ==, mtl_strided_view_get_dtype (b));
  g_assert_cmpuint (mtl_strided_view_get_lanes (a), ==, mtl_strided_view_get_lanes (b));
  g_assert_cmpint (mtl_strided_view_is_padded (a), ==, mtl_strided_view_is_padded (b));
  g_assert_cmpuint (mtl_strided_view_get_n_dims (a), ==, mtl_strided_view_get_n_dims (b));
  g_assert_cmpmem (mtl_strided_view_get_shape (a, NULL),
                   mtl_strided_view_get_n_dims (a) * sizeof (gint64),
                   mtl_strided_view_get_shape (b, NULL),
                   mtl_strided_view_get_n_dims (b) * sizeof (gint64));
  g_assert_true (g_bytes_equal (a_bytes, b_bytes));
}

/* A view of drawn layout within memory with a border, all bits at random. */
static inline MtlStridedView *
draw_view (MtlStorageMode mode)
{
  static const MtlDType dtypes[] = { MTL_DTYPE_UINT8, MTL_DTYPE_FLOAT32, MTL_DTYPE_COMPLEX128,
                                     MTL_DTYPE_BFLOAT16, MTL_DTYPE_FLOAT4_E2M1FN,
                                     MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_INT64, MTL_DTYPE_BOOL };
  const DrawnAxes axes = { .stepped = 40, .max_step = 3, .apart = 30, .max_gap = 3,
                           .backwards = 30, .repeated = 20 };
  MtlDType dtype = dtypes[pick (0, G_N_ELEMENTS (dtypes) - 1)];
  gsize n_dims = pick (0, 6);
  gint64 shape[MAX_DRAWN_DIMS], strides[MAX_DRAWN_DIMS], low, high;
  guint bits = mtl_dtype_get_bits (dtype);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  gint64 before, volume = 1;
  MtlStridedView *view;

  /* The largest elements have 16 bytes, and 65536 bytes are sent in a message. */
  for (gsize i = 0; i < n_dims; i++)
    {
      shape[i] = pick (happens (5) ? 0 : 1, MIN (5, 65536 / 16 / MAX (volume, 1)));
      volume *= shape[i];
    }
  draw_strides (&axes, n_dims, shape, strides);
  get_offset_bounds (n_dims, shape, strides, &low, &high);
  before = (-low * bits + 7) / 8 + pick (0, 40);
  buffer = new_buffer (NULL, before + (high + 1) * bits / 8 + 16, mode);
  fill_at_random (mtl_buffer_get_contents (buffer), mtl_buffer_get_size (buffer));
  layout = mtl_strided_layout_new (shape, n_dims, strides, n_dims, bits, &error);
  g_assert_no_error (error);
  view = mtl_strided_view_new (buffer, layout, dtype, before, &error);
  g_assert_no_error (error);
  return view;
}
