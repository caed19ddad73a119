/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The checksum of archives, against its definition, bit by bit. */

#include "bitwise-crc.h"

#include "mtl-crc-private.h"

#define SIZE 40000

static guint8 *
draw_bytes (gsize size)
{
  guint8 *bytes = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    bytes[i] = g_test_rand_int ();
  return bytes;
}

static void
test_known (void)
{
  g_assert_cmphex (mtl_crc_add (0, "123456789", 9), ==, 0xcbf43926);
  g_assert_cmphex (mtl_crc_add (0, "", 0), ==, 0);
}

static void
test_sizes (void)
{
  g_autofree guint8 *bytes = draw_bytes (SIZE);

  for (gsize size = 0; size < SIZE; size += size < 40 || size % 4096 > 4086 ? 1 : 61)
    g_assert_cmphex (mtl_crc_add (0, bytes + size % 7, size - size % 7), ==,
                     get_crc (bytes + size % 7, size - size % 7));
}

/* Added one after the other, and each moved to its place. */
static void
test_pieces (void)
{
  g_autofree guint8 *bytes = draw_bytes (SIZE);
  guint32 whole = get_crc (bytes, SIZE);

  for (int i = 0; i < 1000; i++)
    {
      gsize first = g_test_rand_int_range (0, SIZE + 1);
      gsize second = g_test_rand_int_range (first, SIZE + 1);
      guint32 added = mtl_crc_add (0, bytes, first), moved = 0;

      added = mtl_crc_add (added, bytes + first, second - first);
      g_assert_cmphex (mtl_crc_add (added, bytes + second, SIZE - second), ==, whole);

      moved ^= mtl_crc_add (0, bytes + second, SIZE - second);
      moved ^= mtl_crc_move (mtl_crc_add (0, bytes, first), SIZE - first);
      moved ^= mtl_crc_move (mtl_crc_add (0, bytes + first, second - first), SIZE - second);
      g_assert_cmphex (moved, ==, whole);
    }
}

/* Far too many bytes to add them. */
static void
test_far (void)
{
  guint32 crc = mtl_crc_add (0, "123456789", 9);

  for (int i = 0; i < 1000; i++)
    {
      guint64 near = (guint64) (guint32) g_test_rand_int () << g_test_rand_int_range (0, 31);
      guint64 far = (guint64) (guint32) g_test_rand_int () << g_test_rand_int_range (0, 31);

      g_assert_cmphex (mtl_crc_move (mtl_crc_move (crc, near), far), ==,
                       mtl_crc_move (crc, near + far));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/Crc/known", test_known);
  g_test_add_func ("/Crc/sizes", test_sizes);
  g_test_add_func ("/Crc/pieces", test_pieces);
  g_test_add_func ("/Crc/far", test_far);

  return g_test_run ();
}
