/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"

/* Offsets and sizes on both sides of the words that a discrete GPU moves, in
 * buffers with room around them. */
#define N_POSITIONS 10
#define SIZE 24

/* Draws a sample of the cases that differ in their places alone, which --seed repeats; all of them
 * if each test may take a minute. */
static gboolean
is_drawn (void)
{
  const char *seconds = g_getenv ("MTL_TEST_SECONDS");

  return (seconds != NULL && g_ascii_strtod (seconds, NULL) >= 60)
         || g_test_rand_int_range (0, 8) == 0;
}

/* The GPU's copy of it and the host's. */
static void
write_everywhere (MtlBuffer    *buffer,
                  const guint8 *bytes,
                  gsize         size)
{
  if (mtl_buffer_get_contents (buffer) != NULL)
    memcpy (mtl_buffer_get_contents (buffer), bytes, size);
  if (mtl_buffer_get_storage_mode (buffer) != MTL_STORAGE_MODE_HOST)
    metal_fixture_poke (mtl_buffer_get_handle (buffer), 0, bytes, size);
}

static void
assert_everywhere (MtlBuffer    *buffer,
                   const guint8 *expected,
                   gsize         size)
{
  if (mtl_buffer_get_contents (buffer) != NULL)
    g_assert_cmpmem (mtl_buffer_get_contents (buffer), size, expected, size);
  if (mtl_buffer_get_storage_mode (buffer) != MTL_STORAGE_MODE_HOST
      && mtl_buffer_get_storage_mode (buffer) != MTL_STORAGE_MODE_SHARED)
    assert_gpu_reads (buffer, 0, expected, size);
}

static void
count_bytes (guint8 *bytes,
             gsize   size,
             guint8  first)
{
  for (gsize i = 0; i < size; i++)
    bytes[i] = first + i;
}

static MtlBuffer *
new_buffer_on (int            ordinal,
               gsize          size,
               MtlStorageMode mode)
{
  return new_buffer (mode == MTL_STORAGE_MODE_HOST ? NULL : get_metal (ordinal), size, mode);
}

typedef struct
{
  int dest_ordinal;
  MtlStorageMode dest_mode;
  int source_ordinal;
  MtlStorageMode source_mode;
  gsize position_step;
} Pair;

static void
check_copy (MtlBuffer *dest,
            gsize      dest_offset,
            MtlBuffer *source,
            gsize      source_offset,
            gsize      size)
{
  g_autoptr (GError) error = NULL;
  guint8 expected[SIZE], given[SIZE];

  count_bytes (expected, SIZE, 1);
  count_bytes (given, SIZE, 101);
  write_everywhere (dest, expected, SIZE);
  write_everywhere (source, given, SIZE);
  memcpy (expected + dest_offset, given + source_offset, size);

  g_assert_true (mtl_buffer_copy_from (dest, dest_offset, source, source_offset, size, NULL,
                                       &error));
  g_assert_no_error (error);
  assert_everywhere (dest, expected, SIZE);
}

static void
test_pair (Living        *living,
           gconstpointer  data)
{
  const Pair *pair = data;
  g_autoptr (MtlBuffer) dest = new_buffer_on (pair->dest_ordinal, SIZE, pair->dest_mode);
  g_autoptr (MtlBuffer) source = new_buffer_on (pair->source_ordinal, SIZE, pair->source_mode);

  for (gsize to = 0; to < N_POSITIONS; to += pair->position_step)
    for (gsize from = 0; from < N_POSITIONS; from += pair->position_step)
      for (gsize size = 0; size < N_POSITIONS; size++)
        if (is_drawn ())
          check_copy (dest, to, source, from, size);
}

/* Ranges of one buffer: the result is that of a copy through a temporary. */
static void
check_overlap (MtlBuffer *buffer,
               gsize      to,
               gsize      from,
               gsize      size)
{
  g_autoptr (GError) error = NULL;
  guint8 expected[SIZE];

  count_bytes (expected, SIZE, 1);
  write_everywhere (buffer, expected, SIZE);
  memmove (expected + to, expected + from, size);

  g_assert_true (mtl_buffer_copy_from (buffer, to, buffer, from, size, NULL, &error));
  g_assert_no_error (error);
  assert_everywhere (buffer, expected, SIZE);
}

static void
test_overlap (void)
{
  for (int i = UNIFIED; i <= DISCRETE; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      {
        g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (i), SIZE, metal_modes[j]);

        for (gsize to = 0; to < N_POSITIONS; to++)
          for (gsize from = 0; from < N_POSITIONS; from++)
            for (gsize size = 1; size < N_POSITIONS; size += 2)
              if (is_drawn ())
                check_overlap (buffer, to, from, size);
      }
}

/* Two slices are one MTLBuffer all the same. */
static void
test_overlap_of_slices (void)
{
  for (int i = UNIFIED; i <= DISCRETE; i++)
    {
      g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (i), SIZE, MTL_STORAGE_MODE_PRIVATE);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) first = mtl_buffer_slice (buffer, 1, 12, &error);
      g_autoptr (MtlBuffer) second = mtl_buffer_slice (buffer, 5, 12, &error);
      guint8 expected[SIZE];

      count_bytes (expected, SIZE, 1);
      write_everywhere (buffer, expected, SIZE);
      g_assert_true (mtl_buffer_copy_from (second, 0, first, 0, 12, NULL, &error));
      memmove (expected + 5, expected + 1, 12);
      assert_everywhere (buffer, expected, SIZE);

      g_assert_true (mtl_buffer_copy_from (first, 2, second, 3, 9, NULL, &error));
      g_assert_no_error (error);
      memmove (expected + 3, expected + 8, 9);
      assert_everywhere (buffer, expected, SIZE);
    }
}

static void
check_fill (MtlBuffer    *buffer,
            gsize         offset,
            const guint8 *pattern,
            gsize         pattern_size,
            gsize         n)
{
  g_autoptr (GBytes) bytes = g_bytes_new (pattern, pattern_size);
  g_autoptr (GError) error = NULL;
  guint8 expected[64];

  count_bytes (expected, sizeof expected, 1);
  write_everywhere (buffer, expected, sizeof expected);
  for (gsize i = 0; i < n; i++)
    memcpy (expected + offset + i * pattern_size, pattern, pattern_size);

  g_assert_true (mtl_buffer_fill (buffer, offset, n * pattern_size, bytes, NULL, &error));
  g_assert_no_error (error);
  assert_everywhere (buffer, expected, sizeof expected);
}

static void
test_fill (void)
{
  static const guint8 patterns[][16] = {
    { 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216 },
    { 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77 },
    { 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 77, 78 },
  };

  for (int i = UNIFIED; i <= DISCRETE; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (metal_modes); j++)
      {
        g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (i), 64, metal_modes[j]);

        for (gsize k = 0; k < G_N_ELEMENTS (patterns); k++)
          for (gsize size = 1; size <= 16; size *= 2)
            for (gsize offset = 0; offset < N_POSITIONS; offset++)
              for (gsize n = 0; n <= 3; n++)
                if (is_drawn ())
                  check_fill (buffer, offset, patterns[k], size, n);
      }
}

static void
test_fill_refuses (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_metal (DISCRETE), 16, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GBytes) three = g_bytes_new_static ("abc", 3);
  g_autoptr (GBytes) four = g_bytes_new_static ("abcd", 4);

  assert_refuses (mtl_buffer_fill (buffer, 0, 15, three, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "3 & 15");
  assert_refuses (mtl_buffer_fill (buffer, 0, 6, four, NULL, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "4 & 6");
  assert_refuses (mtl_buffer_fill (buffer, 4, 16, four, NULL, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, "16 & 4");
  assert_buffer_bytes (buffer, 0, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

/* More than the memory that a copy goes through at once, and no whole words. */
#define LARGE (((gsize) 33 << 20) + 3)

static guint8 *
new_noise (gsize size)
{
  guint8 *noise = g_malloc (size);
  guint32 state = 2463534242;

  for (gsize i = 0; i < size; i++)
    {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      noise[i] = state;
    }

  return noise;
}

static MtlBuffer *
new_large_buffer (int           ordinal,
                  const guint8 *content,
                  gsize         size)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_uninitialized (get_metal (ordinal), size,
                                                    MTL_STORAGE_MODE_PRIVATE, &error);

  g_assert_no_error (error);
  metal_fixture_poke (mtl_buffer_get_handle (buffer), 0, content, size);
  return buffer;
}

static void
assert_large (MtlBuffer    *buffer,
              const guint8 *expected,
              gsize         size)
{
  g_autofree guint8 *actual = g_malloc (size);

  metal_fixture_peek (mtl_buffer_get_handle (buffer), 0, actual, size);
  g_assert_true (memcmp (actual, expected, size) == 0);
}

static void
test_large_up_and_down (void)
{
  g_autofree guint8 *noise = new_noise (LARGE);

  for (int i = UNIFIED; i <= DISCRETE; i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (noise, LARGE);
      g_autoptr (MtlBuffer) buffer = NULL;
      g_autoptr (GBytes) read = NULL;
      g_autoptr (GError) error = NULL;

      buffer = mtl_buffer_new_uninitialized (get_metal (i), LARGE + 5, MTL_STORAGE_MODE_PRIVATE,
                                             &error);
      g_assert_no_error (error);
      g_assert_true (mtl_buffer_set_bytes (buffer, 5, bytes, NULL, &error));
      read = mtl_buffer_dup_bytes (buffer, 5, LARGE, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (g_bytes_equal (read, bytes));
    }
}

/* Pieces in an order in which none is overwritten before it is read. */
static void
test_large_overlap (void)
{
  static const struct { gsize to, from; } moves[] = { { 5, 0 }, { 0, 7 }, { 4, 0 } };
  g_autofree guint8 *expected = g_malloc (LARGE + 8);

  for (int i = UNIFIED; i <= DISCRETE; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (moves); j++)
      {
        g_autofree guint8 *noise = new_noise (LARGE + 8);
        g_autoptr (MtlBuffer) buffer = new_large_buffer (i, noise, LARGE + 8);
        g_autoptr (GError) error = NULL;

        memcpy (expected, noise, LARGE + 8);
        memmove (expected + moves[j].to, expected + moves[j].from, LARGE);
        g_assert_true (mtl_buffer_copy_from (buffer, moves[j].to, buffer, moves[j].from, LARGE,
                                             NULL, &error));
        g_assert_no_error (error);
        assert_large (buffer, expected, LARGE + 8);
      }
}

static void
test_large_across_devices (void)
{
  g_autofree guint8 *noise = new_noise (LARGE);
  g_autoptr (MtlBuffer) source = new_large_buffer (DISCRETE, noise, LARGE);
  g_autoptr (MtlBuffer) dest = NULL;
  g_autoptr (GError) error = NULL;

  dest = mtl_buffer_new_uninitialized (get_metal (TWIN), LARGE, MTL_STORAGE_MODE_PRIVATE, &error);
  g_assert_no_error (error);
  g_assert_true (mtl_buffer_copy_from (dest, 0, source, 0, LARGE, NULL, &error));
  g_assert_no_error (error);
  assert_large (dest, noise, LARGE);
}

static void
test_large_pattern (void)
{
  const gsize size = ((gsize) 33 << 20) + 16;
  g_autofree guint8 *expected = new_noise (size + 3);
  g_autoptr (MtlBuffer) buffer = new_large_buffer (DISCRETE, expected, size + 3);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("0123456789abcdef", 16);
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < size; i++)
    expected[3 + i] = "0123456789abcdef"[i % 16];
  g_assert_true (mtl_buffer_fill (buffer, 3, size, pattern, NULL, &error));
  g_assert_no_error (error);
  assert_large (buffer, expected, size + 3);
}

static void
test_cancelled_before (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlBuffer) dest = new_buffer (get_metal (DISCRETE), 8, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlBuffer) source = new_buffer (NULL, 8, MTL_STORAGE_MODE_HOST);
  g_autoptr (GError) error = NULL;

  memset (mtl_buffer_get_contents (source), 1, 8);
  g_cancellable_cancel (cancellable);
  g_assert_false (mtl_buffer_copy_from (dest, 0, source, 0, 8, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_buffer_bytes (dest, 0, "\0\0\0\0\0\0\0\0", 8);
}

typedef struct
{
  GCancellable *cancellable;
  unsigned n_commits;
} Cancelling;

static gpointer
cancel_and_resume (gpointer data)
{
  Cancelling *self = data;

  while (metal_double_calls ("commit") == self->n_commits)
    g_usleep (100);
  g_cancellable_cancel (self->cancellable);
  metal_double_resume ();
  return NULL;
}

/* The copy is cancelled after the first piece, which the GPU was at. */
static void
test_cancelled_midway (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autofree guint8 *noise = new_noise (LARGE);
  g_autoptr (MtlBuffer) dest = new_buffer (get_metal (UNIFIED), LARGE, MTL_STORAGE_MODE_SHARED);
  g_autoptr (MtlBuffer) source = new_large_buffer (DISCRETE, noise, LARGE);
  const guint8 *contents = mtl_buffer_get_contents (dest);
  g_autoptr (GError) error = NULL;
  Cancelling cancelling = { cancellable, metal_double_calls ("commit") };
  GThread *thread;
  gsize n_written = (gsize) 16 << 20;

  metal_double_pause ();
  thread = g_thread_new ("cancel", cancel_and_resume, &cancelling);
  g_assert_false (mtl_buffer_copy_from (dest, 0, source, 0, LARGE, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  g_assert_true (memcmp (contents, noise, n_written) == 0);
  for (gsize i = n_written; i < LARGE; i++)
    g_assert_cmpint (contents[i], ==, 0);
}

/* A discrete GPU moves whole words, and cannot reach the end of what another
 * library allocated. */
static void
test_odd_length (void)
{
  g_autoptr (MtlBuffer) buffer = new_wrapped_buffer (DISCRETE, 7, OPTIONS_PRIVATE);
  g_autoptr (GBytes) all = g_bytes_new_static ("abcdefg", 7);
  g_autoptr (GBytes) four = g_bytes_new_static ("abcd", 4);
  g_autoptr (GBytes) one = g_bytes_new_static ("-", 1);
  g_autoptr (GError) local_error = NULL;
  guint8 last[3];

  metal_fixture_poke (mtl_buffer_get_handle (buffer), 4, "xyz", 3);
  assert_refuses (mtl_buffer_set_bytes (buffer, 0, all, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "3 & 7 & MTLBuffer");
  assert_refuses (mtl_buffer_fill (buffer, 4, 1, one, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "“Test Discrete” & 4");
  assert_fails (mtl_buffer_dup_bytes (buffer, 6, 1, NULL, &error),
                MTL_ERROR_NOT_SUPPORTED, "3 & 7");

  g_assert_true (mtl_buffer_set_bytes (buffer, 0, four, NULL, &local_error));
  g_assert_true (mtl_buffer_fill (buffer, 1, 2, one, NULL, &local_error));
  g_assert_no_error (local_error);
  assert_buffer_bytes (buffer, 0, "a--d", 4);
  metal_fixture_peek (mtl_buffer_get_handle (buffer), 4, last, 3);
  g_assert_cmpmem (last, 3, "xyz", 3);
}

/* The bytes that cannot be reached are at the end of a range of several pieces, or of a blit. */
static void
test_odd_length_of_many (void)
{
  gsize size = ((gsize) 17 << 20) + 3;
  g_autoptr (MtlBuffer) dest = new_wrapped_buffer (DISCRETE, size, OPTIONS_PRIVATE);
  g_autoptr (MtlBuffer) source = new_buffer (NULL, size, MTL_STORAGE_MODE_HOST);
  g_autoptr (MtlBuffer) beside = new_buffer (get_metal (DISCRETE), size, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("ab", 2);
  g_autofree guint8 *noise = new_noise (size);

  metal_fixture_poke (mtl_buffer_get_handle (dest), 0, noise, size);
  assert_refuses (mtl_buffer_copy_from (dest, 0, source, 0, size, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "3 & 17825795");
  assert_large (dest, noise, size);
  assert_refuses (mtl_buffer_copy_from (dest, 0, beside, 0, size, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "3 & 17825795");
  assert_large (dest, noise, size);
  assert_refuses (mtl_buffer_fill (dest, 1, size - 1, pattern, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "3 & 17825795");
  assert_large (dest, noise, size);
}

static void
test_odd_length_elsewhere (void)
{
  static const struct { int ordinal; unsigned options; } places[] = {
    { UNIFIED, OPTIONS_PRIVATE },
    { UNIFIED, OPTIONS_SHARED },
    { DISCRETE, OPTIONS_SHARED },
    { DISCRETE, OPTIONS_MANAGED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (MtlBuffer) buffer = new_wrapped_buffer (places[i].ordinal, 7, places[i].options);
      g_autoptr (GBytes) all = g_bytes_new_static ("abcdefg", 7);
      g_autoptr (GBytes) one = g_bytes_new_static ("-", 1);
      g_autoptr (GError) error = NULL;

      g_assert_true (mtl_buffer_set_bytes (buffer, 0, all, NULL, &error));
      g_assert_true (mtl_buffer_fill (buffer, 5, 2, one, NULL, &error));
      g_assert_no_error (error);
      assert_buffer_bytes (buffer, 0, "abcde--", 7);
      assert_gpu_reads (buffer, 0, "abcde--", 7);
    }
}

/* A copy that the GPU can do alone costs one command buffer, and no memory. */
static void
test_one_blit (void)
{
  for (int i = UNIFIED; i <= DISCRETE; i++)
    {
      g_autoptr (MtlBuffer) dest = new_buffer (get_metal (i), 64, MTL_STORAGE_MODE_PRIVATE);
      g_autoptr (MtlBuffer) source = new_buffer (get_metal (i), 64, MTL_STORAGE_MODE_SHARED);
      g_autoptr (GBytes) pattern = g_bytes_new_static ("aaaa", 4);
      unsigned n_commits = metal_double_calls ("commit");
      unsigned n_buffers = metal_double_calls ("newBufferWithLength:options:");
      g_autoptr (GError) error = NULL;

      g_assert_true (mtl_buffer_copy_from (dest, 4, source, 8, 12, NULL, &error));
      g_assert_cmpuint (metal_double_calls ("commit"), ==, n_commits + 1);
      g_assert_true (mtl_buffer_copy_from (dest, 32, dest, 0, 16, NULL, &error));
      g_assert_cmpuint (metal_double_calls ("commit"), ==, n_commits + 2);
      g_assert_true (mtl_buffer_fill (dest, 8, 40, pattern, NULL, &error));
      g_assert_cmpuint (metal_double_calls ("commit"), ==, n_commits + 3);
      g_assert_no_error (error);
      g_assert_cmpuint (metal_double_calls ("newBufferWithLength:options:"), ==, n_buffers);
    }
}

static const char *const device_names[N_METAL_DEVICES] = { "unified", "discrete", "twin",
                                                          "integrated" };
static const char *const mode_names[] = {
  [MTL_STORAGE_MODE_HOST] = "host",
  [MTL_STORAGE_MODE_SHARED] = "shared",
  [MTL_STORAGE_MODE_MANAGED] = "managed",
  [MTL_STORAGE_MODE_PRIVATE] = "private",
};

static void
add_pair (int            dest_ordinal,
          MtlStorageMode dest_mode,
          int            source_ordinal,
          MtlStorageMode source_mode)
{
  gboolean is_one_device = dest_ordinal == source_ordinal;
  g_autofree char *path = g_strdup_printf ("/MetalCopies/%s-%s-from-%s-%s",
                                           device_names[dest_ordinal], mode_names[dest_mode],
                                           device_names[source_ordinal], mode_names[source_mode]);
  static Pair pairs[N_METAL_DEVICES * N_METAL_DEVICES * 16];
  static gsize n_pairs;
  Pair *pair = &pairs[n_pairs++];

  *pair = (Pair) { dest_ordinal, dest_mode, source_ordinal, source_mode, is_one_device ? 1 : 3 };
  add_metal_data_test (path, pair, test_pair);
}

static void
add_pairs (void)
{
  for (int dest = UNIFIED; dest <= DISCRETE; dest++)
    for (int to = MTL_STORAGE_MODE_HOST; to <= MTL_STORAGE_MODE_PRIVATE; to++)
      for (int from = MTL_STORAGE_MODE_HOST; from <= MTL_STORAGE_MODE_PRIVATE; from++)
        {
          if (to == MTL_STORAGE_MODE_HOST && from == MTL_STORAGE_MODE_HOST)
            continue;

          add_pair (dest, to, dest, from);
          if (to != MTL_STORAGE_MODE_HOST && from != MTL_STORAGE_MODE_HOST)
            {
              add_pair (dest, to, TWIN, from);
              add_pair (TWIN, to, dest, from);
            }
        }

  for (int mode = MTL_STORAGE_MODE_HOST; mode <= MTL_STORAGE_MODE_PRIVATE; mode++)
    {
      if (mode != MTL_STORAGE_MODE_PRIVATE)
        add_pair (INTEGRATED, mode, INTEGRATED, MTL_STORAGE_MODE_PRIVATE);
      add_pair (INTEGRATED, MTL_STORAGE_MODE_PRIVATE, INTEGRATED, mode);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_pairs ();
  add_metal_test ("/MetalCopies/overlap", test_overlap);
  add_metal_test ("/MetalCopies/overlap/slices", test_overlap_of_slices);
  add_metal_test ("/MetalCopies/fill", test_fill);
  add_metal_test ("/MetalCopies/fill/refuses", test_fill_refuses);
  add_metal_test ("/MetalCopies/large/up-and-down", test_large_up_and_down);
  add_metal_test ("/MetalCopies/large/overlap", test_large_overlap);
  add_metal_test ("/MetalCopies/large/across-devices", test_large_across_devices);
  add_metal_test ("/MetalCopies/large/pattern", test_large_pattern);
  add_metal_test ("/MetalCopies/cancelled/before", test_cancelled_before);
  add_double_test ("/MetalCopies/cancelled/midway", test_cancelled_midway);
  add_double_test ("/MetalCopies/odd-length", test_odd_length);
  add_double_test ("/MetalCopies/odd-length/of-many", test_odd_length_of_many);
  add_metal_test ("/MetalCopies/odd-length/elsewhere", test_odd_length_elsewhere);
  add_double_test ("/MetalCopies/one-blit", test_one_blit);

  return g_test_run ();
}
