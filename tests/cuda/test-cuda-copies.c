/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of bytes between all kinds of memory, and fills, compared with those of the C library. */

#include "cuda-fixture.h"

#include "drawn-views.h"

#include <sys/mman.h>

#define MIB ((gsize) 1 << 20)

typedef enum
{
  PAGEABLE,
  REGISTERED, /* the host's, and another library has registered it */
  SHARED,
  MANAGED,
  PRIVATE,
  ELSEWHERE, /* private, of the second device */
  N_PLACES,
} Place;

static const char *const place_names[N_PLACES] = {
  "pageable", "registered", "shared", "managed", "private", "elsewhere",
};

static void
free_registered (gpointer data)
{
  GBytes *bytes = data;
  gsize size = g_bytes_get_size (bytes);
  gpointer address = (gpointer) g_bytes_get_data (bytes, NULL);

  peer_enter (0);
  MUST (cu.cuMemHostUnregister (address));
  peer_leave ();
  g_assert_cmpint (munmap (address, size), ==, 0);
  g_bytes_unref (bytes);
}

static MtlBuffer *
new_registered (gsize size)
{
  gpointer address = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer;

  g_assert_true (address != MAP_FAILED);
  peer_enter (0);
  MUST (cu.cuMemHostRegister_v2 (address, size, CU_REGISTER_PORTABLE));
  peer_leave ();
  buffer = mtl_buffer_new_for_data (address, size, NULL, MTL_BUFFER_FLAGS_NEVER_COPY,
                                    free_registered, g_bytes_new_static (address, size), &error);
  g_assert_no_error (error);
  return buffer;
}

static MtlBuffer *
new_at (Place place,
        gsize size)
{
  static const MtlStorageMode modes[N_PLACES] = {
    [PAGEABLE] = MTL_STORAGE_MODE_HOST,     [SHARED] = MTL_STORAGE_MODE_SHARED,
    [MANAGED] = MTL_STORAGE_MODE_MANAGED,   [PRIVATE] = MTL_STORAGE_MODE_PRIVATE,
    [ELSEWHERE] = MTL_STORAGE_MODE_PRIVATE,
  };
  g_autoptr (GError) error = NULL;
  MtlDevice *device = place == PAGEABLE ? mtl_device_get_host ()
                                        : get_cuda (place == ELSEWHERE ? n_gpus - 1 : 0);
  MtlBuffer *buffer;

  if (place == REGISTERED)
    return new_registered (size);

  buffer = mtl_buffer_new_uninitialized (device, size, modes[place], &error);
  g_assert_no_error (error);
  return buffer;
}

/* Writes and reads memory without the library. */
static void
write_to (MtlBuffer    *buffer,
          gconstpointer bytes,
          gsize         size)
{
  if (mtl_buffer_get_contents (buffer) != NULL)
    memcpy (mtl_buffer_get_contents (buffer), bytes, size);
  else
    write_gpu (mtl_device_get_ordinal (mtl_buffer_get_device (buffer)),
               mtl_buffer_get_handle (buffer), bytes, size);
}

static void
read_from (MtlBuffer *buffer,
           gpointer   bytes,
           gsize      size)
{
  if (mtl_buffer_get_contents (buffer) != NULL)
    memcpy (bytes, mtl_buffer_get_contents (buffer), size);
  else
    read_gpu (mtl_device_get_ordinal (mtl_buffer_get_device (buffer)),
              mtl_buffer_get_handle (buffer), bytes, size);
}

/* A buffer, and the bytes that it should have */
typedef struct
{
  MtlBuffer *buffer;
  guint8 *bytes;
  gsize size;
} Pair;

static void
pair_init (Pair *self,
           Place place,
           gsize size)
{
  *self = (Pair) { new_at (place, size), g_malloc (size), size };
  fill_at_random (self->bytes, size);
  write_to (self->buffer, self->bytes, size);
}

static void
pair_check (const Pair *self)
{
  g_autofree guint8 *bytes = g_malloc (self->size);

  read_from (self->buffer, bytes, self->size);
  g_assert_true (memcmp (bytes, self->bytes, self->size) == 0);
}

static void
pair_clear (Pair *self)
{
  pair_check (self);
  g_assert_finalize_object (self->buffer);
  g_free (self->bytes);
}

static void
copy (const Pair *dest,
      gsize       offset,
      const Pair *source,
      gsize       source_offset,
      gsize       size)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_copy_from (dest->buffer, offset, source->buffer, source_offset, size,
                                       NULL, &error));
  g_assert_no_error (error);
  memmove (dest->bytes + offset, source->bytes + source_offset, size);
}

static void
check_copy (Place from,
            Place to,
            gsize size,
            gsize source_offset,
            gsize offset)
{
  Pair source, dest;

  pair_init (&source, from, source_offset + size + 9);
  pair_init (&dest, to, offset + size + 13);
  copy (&dest, offset, &source, source_offset, size);
  pair_clear (&dest);
  pair_clear (&source);
}

static gboolean
is_missing (Place from,
            Place to)
{
  return n_gpus < 2 && (from == ELSEWHERE || to == ELSEWHERE);
}

/* Every pair of places */
typedef void (* PairFunc) (Place from,
                           Place to);

static void
for_all_pairs (PairFunc func)
{
  for (int from = 0; from < N_PLACES; from++)
    for (int to = 0; to < N_PLACES; to++)
      if (!is_missing (from, to))
        {
          g_test_message ("%s → %s", place_names[from], place_names[to]);
          func (from, to);
        }
}

static void
check_small (Place from,
             Place to)
{
  static const gsize sizes[] = { 1, 2, 3, 64, 255, 256, 257, 4095, 4097, 100003 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      check_copy (from, to, sizes[i], 0, 0);
      check_copy (from, to, sizes[i], pick (0, 70), pick (0, 70));
    }
}

static void
test_small (void)
{
  for_all_pairs (check_small);
}

/* At this size the way changes. */
static void
check_limit (Place from,
             Place to)
{
  for (int i = -1; i <= 1; i++)
    check_copy (from, to, MIB + i, 5, 3);
}

static void
test_limit (void)
{
  for_all_pairs (check_limit);
}

/* These go through pinned memory in pieces of up to 16 MiB. */
static void
test_pieces (void)
{
  static const gsize sizes[] = { 4 * MIB + 1, 16 * MIB, 33 * MIB + 5 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      check_copy (PAGEABLE, PRIVATE, sizes[i], 1, 2);
      check_copy (PRIVATE, PAGEABLE, sizes[i], 3, 0);
    }
}

static void
test_large (void)
{
  static const Place pairs[][2] = {
    { REGISTERED, PRIVATE }, { PRIVATE, REGISTERED }, { SHARED, PRIVATE }, { PRIVATE, MANAGED },
    { PRIVATE, PRIVATE },    { PRIVATE, ELSEWHERE },  { ELSEWHERE, SHARED },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (!is_missing (pairs[i][0], pairs[i][1]))
      check_copy (pairs[i][0], pairs[i][1], 17 * MIB + 1, 7, 4);
}

/* The pinned memory of pieces grows, stays, and is used by copies in either direction in turn. */
static void
test_pieces_in_turn (void)
{
  for (int i = 0; i < 6; i++)
    {
      Place from = happens (50) ? PAGEABLE : PRIVATE;

      check_copy (from, from == PAGEABLE ? PRIVATE : PAGEABLE, pick (MIB, 20 * MIB), pick (0, 9),
                  pick (0, 9));
    }
}

static void
test_pieces_are_kept (void)
{
  unsigned n_calls;

  check_copy (PAGEABLE, PRIVATE, 8 * MIB, 0, 0);
  n_calls = dbl.calls ("cuMemHostAlloc");
  check_copy (PRIVATE, PAGEABLE, 8 * MIB, 0, 0);
  check_copy (PAGEABLE, PRIVATE, 3 * MIB, 0, 0);
  g_assert_cmpuint (dbl.calls ("cuMemHostAlloc"), ==, n_calls);
}

/* If there is no room for the second piece, the first one is not lost. */
static void
test_pieces_without_memory (void)
{
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (GBytes) bytes = NULL;

  run_alone ();
  buffer = new_buffer (get_cuda (0), 3 * MIB, MTL_STORAGE_MODE_PRIVATE);
  bytes = g_bytes_new_take (g_malloc0 (3 * MIB), 3 * MIB);
  synchronize (get_cuda (0)); /* pieces that are freed are kept at once */
  dbl.fail_function ("cuMemHostAlloc", 2, CU_OUT_OF_MEMORY);
  assert_refuses (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, &error), MTL_ERROR_NO_MEMORY,
                  "CUDA_ERROR_OUT_OF_MEMORY");
  g_assert_true (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, NULL));
  g_assert_cmpuint (dbl.live ("pinned"), ==, 2);
}

/* Any sequence of copies, without a wait between those that do not need one */
static void
test_random (void)
{
  for (int round = 0; round < 30; round++)
    {
      const gsize size = 3000;
      Pair pairs[N_PLACES];
      int n_places = n_gpus > 1 ? N_PLACES : ELSEWHERE;

      for (int i = 0; i < n_places; i++)
        pair_init (&pairs[i], i, size);
      for (int i = 0; i < 60; i++)
        {
          int to = pick (0, n_places - 1), from = pick (0, n_places - 1);
          gsize n = pick (1, size);

          copy (&pairs[to], pick (0, size - n), &pairs[from], pick (0, size - n), n);
        }
      for (int i = 0; i < n_places; i++)
        pair_clear (&pairs[i]);
    }
}

static void
check_overlap (Place place,
               gsize size)
{
  Pair pair;

  pair_init (&pair, place, size);
  copy (&pair, 5, &pair, 2, size - 5);
  pair_check (&pair);
  copy (&pair, 1, &pair, 7, size - 7);
  pair_check (&pair);
  copy (&pair, 3, &pair, 3, size - 3);
  pair_check (&pair);
  copy (&pair, 0, &pair, size / 2, size / 2);
  copy (&pair, size / 2, &pair, 0, size / 2);
  pair_clear (&pair);
}

static void
test_overlap (void)
{
  for (int place = 0; place < N_PLACES; place++)
    if (!is_missing (place, place))
      {
        check_overlap (place, 20);
        check_overlap (place, 5000);
        check_overlap (place, 2 * MIB);
      }
}

/* Work within a device is queued, and the host goes on. */
static void
test_private_is_queued (void)
{
  Pair source, dest;

  pair_init (&source, PRIVATE, 1000);
  pair_init (&dest, PRIVATE, 1000);
  dbl.pause ();
  assert_does_not_wait (copy (&dest, 1, &source, 2, 900); copy (&dest, 3, &dest, 8, 500));
  g_assert_cmpuint (dbl.pending (own_stream (0)), >=, 2);
  dbl.resume ();
  pair_clear (&dest);
  pair_clear (&source);
}

/* Copies between devices, too: each stream waits for the other one. */
static void
test_devices_are_queued (void)
{
  Pair here, elsewhere;

  pair_init (&here, PRIVATE, 1000);
  pair_init (&elsewhere, ELSEWHERE, 1000);
  dbl.pause ();
  assert_does_not_wait (copy (&here, 1, &elsewhere, 2, 900);
                        copy (&elsewhere, 0, &here, 0, 1000);
                        copy (&here, 500, &elsewhere, 3, 500));
  dbl.resume ();
  pair_clear (&here);
  pair_clear (&elsewhere);
}

/* Small uploads are read at once, and queued. */
static void
test_upload_is_queued (void)
{
  Pair source, dest;

  pair_init (&source, PAGEABLE, 1000);
  pair_init (&dest, PRIVATE, 1000);
  dbl.pause ();
  assert_does_not_wait (copy (&dest, 0, &source, 0, 1000));
  memset (mtl_buffer_get_contents (source.buffer), 0, 1000);
  memset (source.bytes, 0, 1000);
  dbl.resume ();
  pair_clear (&dest);
  pair_clear (&source);
}

/* Copies from and to memory that the host reaches are over when the call returns: the driver reads
 * and writes pinned memory late. */
static void
test_host_can_go_on (void)
{
  static const Place places[] = { REGISTERED, SHARED, MANAGED, PAGEABLE };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      Pair host, private;

      pair_init (&host, places[i], 1000);
      pair_init (&private, PRIVATE, 1000);
      copy (&private, 0, &host, 0, 1000);
      memset (mtl_buffer_get_contents (host.buffer), 1, 1000);
      copy (&host, 0, &private, 0, 1000);
      g_assert_cmpmem (mtl_buffer_get_contents (host.buffer), 1000, host.bytes, 1000);
      pair_clear (&host);
      pair_clear (&private);
    }
}

/* Cancellation */

static gpointer
cancel_in_thread (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

static void
assert_cancelled (const Pair   *dest,
                  const Pair   *source,
                  GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (mtl_buffer_copy_from (dest->buffer, 0, source->buffer, 0, dest->size, cancellable,
                                        &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_cancelled_before (void)
{
  for (int from = 0; from < N_PLACES; from++)
    for (int to = 0; to < N_PLACES; to++)
      {
        g_autoptr (GCancellable) cancellable = g_cancellable_new ();
        Pair source, dest;

        if (is_missing (from, to))
          continue;
        pair_init (&source, from, 100);
        pair_init (&dest, to, 100);
        g_cancellable_cancel (cancellable);
        assert_cancelled (&dest, &source, cancellable);
        pair_clear (&dest);
        pair_clear (&source);
      }
}

/* The copy waits for the work before it, and is not queued then. */
static void
test_cancelled_during_wait (void)
{
  static const Place places[] = { SHARED, MANAGED, REGISTERED };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GBytes) seven = g_bytes_new_static ("\7", 1);
      Pair private, host;
      GThread *thread;

      pair_init (&private, PRIVATE, 5000);
      pair_init (&host, places[i], 5000);
      dbl.pause ();
      g_assert_true (mtl_buffer_fill (private.buffer, 0, 5000, seven, NULL, NULL));
      memset (private.bytes, 7, 5000);
      thread = g_thread_new ("cancel", cancel_in_thread, cancellable);
      assert_cancelled (&host, &private, cancellable);
      g_thread_join (thread);
      dbl.resume ();
      synchronize (get_cuda (0));
      pair_clear (&host);
      pair_clear (&private);
    }
}

/* The rest of a cancelled copy does not come into the next one. */
static void
test_cancelled_pieces (void)
{
  for (int i = 0; i < 6; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      gboolean is_upload = i % 2 == 0;
      Pair source, dest;
      GThread *thread;

      pair_init (&source, is_upload ? PAGEABLE : PRIVATE, 20 * MIB);
      pair_init (&dest, is_upload ? PRIVATE : PAGEABLE, 20 * MIB);
      thread = g_thread_new ("cancel", cancel_in_thread, cancellable);
      while (mtl_buffer_copy_from (dest.buffer, 0, source.buffer, 0, 20 * MIB, cancellable, &error))
        ;
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_thread_join (thread);
      copy (&dest, 0, &source, 0, 20 * MIB);
      pair_clear (&dest);
      pair_clear (&source);
    }
}

static void
test_synchronize_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Pair source, dest;
  GThread *thread;

  pair_init (&source, PRIVATE, 100);
  pair_init (&dest, PRIVATE, 100);
  dbl.pause ();
  copy (&dest, 0, &source, 0, 100);
  thread = g_thread_new ("cancel", cancel_in_thread, cancellable);
  g_assert_false (mtl_device_synchronize (get_cuda (0), cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  dbl.resume ();
  pair_clear (&dest);
  pair_clear (&source);
}

/* Fills */

static void
check_fill (Place         place,
            gsize         offset,
            gsize         n,
            const guint8 *pattern,
            gsize         pattern_size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (pattern, pattern_size);
  g_autoptr (GError) error = NULL;
  gsize size = n * pattern_size;
  Pair pair;

  pair_init (&pair, place, offset + size + 17);
  g_assert_true (mtl_buffer_fill (pair.buffer, offset, size, bytes, NULL, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < size; i++)
    pair.bytes[offset + i] = pattern[i % pattern_size];
  pair_clear (&pair);
}

static void
test_fill (void)
{
  static const gsize counts[] = { 1, 2, 3, 7, 16, 1000 };

  for (int place = 0; place < N_PLACES; place++)
    for (gsize pattern_size = 1; pattern_size <= 16 && !is_missing (place, place); pattern_size *= 2)
      for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
        {
          guint8 pattern[16];

          fill_at_random (pattern, sizeof pattern);
          for (gsize offset = 0; offset < 5; offset++)
            check_fill (place, offset, counts[i], pattern, pattern_size);
        }
}

/* Patterns that repeat themselves, for which the driver has functions */
static void
test_fill_repeated (void)
{
  guint8 pattern[16];

  for (gsize period = 1; period <= 8; period *= 2)
    for (gsize size = period; size <= sizeof pattern; size *= 2)
      for (gsize offset = 0; offset < 5; offset++)
        {
          for (gsize i = 0; i < sizeof pattern; i++)
            pattern[i] = 11 * (i % period) + 1;
          check_fill (PRIVATE, offset, 40, pattern, size);
        }
}

static void
test_fill_large (void)
{
  const guint8 *pattern = (const guint8 *) "0123456789abcdef";

  check_fill (PRIVATE, 3, 3 * MIB, pattern, 1);
  check_fill (PRIVATE, 4, MIB, pattern, 4);
  check_fill (PRIVATE, 3, 100001, pattern, 16);
}

static void
test_fill_is_queued (void)
{
  g_autoptr (GBytes) pattern = g_bytes_new_static ("abcd", 4);
  Pair pair;

  pair_init (&pair, PRIVATE, 1000);
  dbl.pause ();
  assert_does_not_wait (g_assert_true (mtl_buffer_fill (pair.buffer, 4, 500, pattern, NULL, NULL));
                        g_assert_true (mtl_buffer_fill (pair.buffer, 0, 4, pattern, NULL, NULL)));
  dbl.resume ();
  for (int i = 0; i < 504; i++)
    pair.bytes[i] = "abcd"[i % 4];
  pair_clear (&pair);
}

/* Ranges are checked before the driver sees them. */
static void
test_ranges (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), 100, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlBuffer) host = new_buffer (NULL, 100, MTL_STORAGE_MODE_HOST);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);

  assert_refuses (mtl_buffer_copy_from (buffer, 60, host, 0, 41, NULL, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, "41 & 60 & 100");
  assert_refuses (mtl_buffer_copy_from (host, 0, buffer, G_MAXSIZE, 2, NULL, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, "100");
  assert_refuses (mtl_buffer_set_bytes (buffer, 97, bytes, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                  "4 & 97 & 100");
  assert_refuses (mtl_buffer_fill (buffer, 100, 4, bytes, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                  "4 & 100");
  assert_fails (mtl_buffer_dup_bytes (buffer, 0, 101, NULL, &error), MTL_ERROR_OUT_OF_BOUNDS,
                "101 & 100");
}

static void
test_nothing (void)
{
  g_autoptr (MtlBuffer) empty = new_buffer (get_cuda (0), 0, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), 4, MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("a", 1);
  g_autoptr (GBytes) none = g_bytes_new_static ("", 0);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_copy_from (empty, 0, buffer, 4, 0, NULL, &error));
  g_assert_true (mtl_buffer_copy_from (buffer, 4, empty, 0, 0, NULL, &error));
  g_assert_true (mtl_buffer_fill (empty, 0, 0, pattern, NULL, &error));
  g_assert_true (mtl_buffer_set_bytes (empty, 0, none, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (empty, 0, "", 0);
}

static MtlStridedView *
copy_transposed (MtlStridedView *view)
{
  g_autoptr (MtlStridedView) transposed = mtl_strided_view_transpose (view);
  g_autoptr (GError) error = NULL;
  MtlStridedView *copy = mtl_strided_view_copy (transposed, MTL_ORDER_C, NULL, &error);

  g_assert_no_error (error);
  return copy;
}

static void
fill_row (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) row = slice (view, "7");

  g_assert_true (mtl_strided_view_fill_double (row, 1, NULL, &error));
}

static void
assert_same_bytes (MtlStridedView *a,
                   MtlStridedView *b)
{
  g_autoptr (GBytes) of_a = mtl_strided_view_dup_bytes (a, NULL, NULL);
  g_autoptr (GBytes) of_b = mtl_strided_view_dup_bytes (b, NULL, NULL);

  g_assert_true (g_bytes_equal (of_a, of_b));
}

/* The GPU copies and fills elements by itself, also those that are smaller than a byte. */
static void
test_elements_on_gpu (void)
{
  static const MtlDType dtypes[] = { MTL_DTYPE_FLOAT32, MTL_DTYPE_UINT4, MTL_DTYPE_UINT2 };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (MtlStridedView) host = draw_view (dtypes[i], DIMS (37, 50));
      g_autoptr (MtlStridedView) view = to_gpu (host);
      g_autoptr (MtlStridedView) first = NULL;
      g_autoptr (MtlStridedView) copy = NULL;
      g_autoptr (MtlStridedView) expected = NULL;

      fill_row (view); /* loads the kernels, which waits */
      first = copy_transposed (view);
      assert_does_not_wait (fill_row (view); copy = copy_transposed (view));
      fill_row (host);
      expected = copy_transposed (host);
      assert_same_bytes (copy, expected);
      assert_same_bytes (view, host);
    }
}

/* Layouts that are large enough for tiles in shared memory: transposes, pixels and planes,
 * permutations, with odd extents and in the middle of memory */
static const struct
{
  gint64 shape[4];
  gsize n_dims;
  int axes[4];
  const char *part;
} large_layouts[] = {
  { { 461, 703 }, 2, { 1, 0 }, "..." },
  { { 512, 512 }, 2, { 1, 0 }, "..." },
  { { 460, 701 }, 2, { 1, 0 }, "3:, 5:" },
  { { 301, 403, 3 }, 3, { 2, 0, 1 }, "..." },
  { { 3, 301, 403 }, 3, { 1, 2, 0 }, "..." },
  { { 301, 403, 5 }, 3, { 2, 1, 0 }, "1:, :-1" },
  { { 23, 17, 31, 29 }, 4, { 3, 1, 0, 2 }, "..." },
  { { 23, 17, 31, 29 }, 4, { 2, 3, 1, 0 }, "::-1, ..., ::-1" },
};

static MtlStridedView *
permute (MtlStridedView *view,
         gsize           layout)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) part = slice (view, large_layouts[layout].part);
  MtlStridedView *permuted = mtl_strided_view_permute (part, large_layouts[layout].axes,
                                                       large_layouts[layout].n_dims, &error);

  g_assert_no_error (error);
  return permuted;
}

static void
check_large (MtlDType from,
             MtlDType to,
             gsize    layout)
{
  g_autoptr (MtlStridedView) host = draw_view (from, large_layouts[layout].shape,
                                               large_layouts[layout].n_dims);
  g_autoptr (MtlStridedView) view = to_gpu (host);
  g_autoptr (MtlStridedView) permuted = permute (view, layout);
  g_autoptr (MtlStridedView) permuted_on_host = permute (host, layout);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (MtlStridedView) expected = NULL;

  copy = from == to ? mtl_strided_view_copy (permuted, MTL_ORDER_C, NULL, &error)
                    : mtl_strided_view_to_dtype (permuted, to, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  expected = from == to ? mtl_strided_view_copy (permuted_on_host, MTL_ORDER_C, NULL, &error)
                        : mtl_strided_view_to_dtype (permuted_on_host, to, MTL_ORDER_C, NULL,
                                                     &error);
  g_assert_no_error (error);
  assert_same_bytes (copy, expected);
}

static void
test_large_layouts (void)
{
  static const MtlDType dtypes[] = { MTL_DTYPE_UINT8, MTL_DTYPE_INT16, MTL_DTYPE_FLOAT32,
                                     MTL_DTYPE_INT64, MTL_DTYPE_COMPLEX128 };

  for (gsize i = 0; i < G_N_ELEMENTS (large_layouts); i++)
    {
      for (gsize j = 0; j < G_N_ELEMENTS (dtypes); j++)
        check_large (dtypes[j], dtypes[j], i);
      check_large (MTL_DTYPE_UINT8, MTL_DTYPE_FLOAT32, i);
      check_large (MTL_DTYPE_INT32, MTL_DTYPE_UINT8, i);
    }
}

static void
test_large_layouts_without_compiler (void)
{
  run_alone ();
  dbl.set_jit_result (CU_JIT_COMPILER_NOT_FOUND);
  for (gsize i = 0; i < G_N_ELEMENTS (large_layouts); i++)
    check_large (MTL_DTYPE_FLOAT32, MTL_DTYPE_FLOAT32, i);
}

/* Nothing is taken for done. */
static void
test_large_layouts_fail (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (large_layouts); i++)
    {
      g_autoptr (MtlStridedView) host = draw_view (MTL_DTYPE_FLOAT32, large_layouts[i].shape,
                                                   large_layouts[i].n_dims);
      g_autoptr (MtlStridedView) view = to_gpu (host);
      g_autoptr (MtlStridedView) permuted = permute (view, i);

      dbl.fail_function ("cuLaunchKernel", 1, CU_INVALID_VALUE);
      assert_fails (mtl_strided_view_copy (permuted, MTL_ORDER_C, NULL, &error), MTL_ERROR_DEVICE,
                    "CUDA_ERROR_INVALID_VALUE");
    }
}

/* Rows forwards and backwards, columns, and a conversion */
static void
check_ways (MtlStridedView *view,
            MtlStridedView *host)
{
  static const char *const slices[] = { "::-1", "1:30, 3:40", ":, ::-1", ":, ::2" };

  for (gsize i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) part = slice (view, slices[i]);
      g_autoptr (MtlStridedView) expected = slice (host, slices[i]);
      g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (part, MTL_ORDER_C, NULL, &error);
      g_autoptr (MtlStridedView) transposed = copy_transposed (part);
      g_autoptr (MtlStridedView) expected_transposed = copy_transposed (expected);

      g_assert_no_error (error);
      assert_same_bytes (copy, expected);
      assert_same_bytes (transposed, expected_transposed);
    }
}

static void
copy_columns (MtlStridedView *view)
{
  g_autoptr (MtlStridedView) left = slice (view, ":, :20");
  g_autoptr (MtlStridedView) right = slice (view, ":, 30:");
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_strided_view_copy_from (left, right, NULL, &error));
}

static const struct
{
  const char *path;
  guint error;
} without_compiler[] = {
  { "/CudaCopies/without-compiler/not-found", CU_JIT_COMPILER_NOT_FOUND },
  { "/CudaCopies/without-compiler/disabled", CU_JIT_COMPILATION_DISABLED },
  { "/CudaCopies/without-compiler/too-old", CU_UNSUPPORTED_PTX_VERSION },
  { "/CudaCopies/without-compiler/not-for-gpu", CU_NO_BINARY_FOR_GPU },
};

/* The driver has no compiler, none for such kernels, or must not use it: DATA is its error. It
 * copies without kernels then, or the host does it, and the driver is not asked again. */
static void
test_without_compiler (gconstpointer data)
{
  static const MtlDType dtypes[] = { MTL_DTYPE_UINT8, MTL_DTYPE_FLOAT32, MTL_DTYPE_UINT4 };

  run_alone ();
  dbl.set_jit_result (GPOINTER_TO_UINT (data));
  for (gsize n = 1; n < 8; n++)
    check_fill (PRIVATE, n, n, (const guint8 *) "0123456789abcdef", 16);
  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) host = draw_view (dtypes[i], DIMS (37, 50));
      g_autoptr (MtlStridedView) view = to_gpu (host);
      g_autoptr (MtlStridedView) converted = NULL;
      g_autoptr (MtlStridedView) expected = NULL;

      check_ways (view, host);
      if (dtypes[i] != MTL_DTYPE_UINT4)
        {
          assert_does_not_wait (copy_columns (view));
          copy_columns (host);
          assert_same_bytes (view, host);
        }
      fill_row (view);
      fill_row (host);
      assert_same_bytes (view, host);
      converted = mtl_strided_view_to_dtype (view, MTL_DTYPE_INT16, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      expected = mtl_strided_view_to_dtype (host, MTL_DTYPE_INT16, MTL_ORDER_C, NULL, &error);
      g_assert_no_error (error);
      assert_same_bytes (converted, expected);
    }
  g_assert_cmpuint (dbl.calls ("cuModuleLoadData"), ==, 1);
}

/* Kernels change whole words around parts of bytes, but none that reach beyond an allocation. */
static void
test_words_at_the_end (void)
{
  gpointer memory = peer_memory (0, 5);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) part = NULL;
  guint8 bytes[5] = { 0 };

  write_gpu (0, memory, bytes, sizeof bytes);
  buffer = mtl_buffer_new_for_handle (memory, 5, get_cuda (0), NULL, NULL, &error);
  g_assert_no_error (error);
  layout = mtl_strided_layout_new_dense (DIMS (10), MTL_ORDER_C, 4, &error);
  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT4, 0, &error);
  g_assert_no_error (error);
  part = slice (view, "1::2");
  g_assert_true (mtl_strided_view_fill_double (part, 7, NULL, &error));
  g_assert_no_error (error);
  read_gpu (0, memory, bytes, sizeof bytes);
  g_assert_cmpmem (bytes, sizeof bytes, "\x70\x70\x70\x70\x70", 5);

  g_clear_object (&part);
  g_clear_object (&view);
  g_clear_object (&buffer);
  peer_free (memory);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_cuda ();

  add_cuda_test ("/CudaCopies/small", test_small);
  add_cuda_test ("/CudaCopies/limit", test_limit);
  add_cuda_test ("/CudaCopies/large", test_large);
  add_cuda_test ("/CudaCopies/pieces/sizes", test_pieces);
  add_cuda_test ("/CudaCopies/pieces/in-turn", test_pieces_in_turn);
  add_double_test ("/CudaCopies/pieces/are-kept", test_pieces_are_kept);
  g_test_add_func ("/CudaCopies/pieces/without-memory",
                   over_double ? test_pieces_without_memory : skip_without_double);
  add_cuda_test ("/CudaCopies/random", test_random);
  add_cuda_test ("/CudaCopies/overlap", test_overlap);
  add_double_test ("/CudaCopies/queued/private", test_private_is_queued);
  add_double_test ("/CudaCopies/queued/devices", test_devices_are_queued);
  add_double_test ("/CudaCopies/queued/upload", test_upload_is_queued);
  add_cuda_test ("/CudaCopies/host-can-go-on", test_host_can_go_on);
  add_cuda_test ("/CudaCopies/cancelled/before", test_cancelled_before);
  add_double_test ("/CudaCopies/cancelled/during-wait", test_cancelled_during_wait);
  add_cuda_test ("/CudaCopies/cancelled/pieces", test_cancelled_pieces);
  add_double_test ("/CudaCopies/cancelled/synchronize", test_synchronize_cancelled);
  add_cuda_test ("/CudaCopies/fill/patterns", test_fill);
  add_cuda_test ("/CudaCopies/fill/repeated", test_fill_repeated);
  add_cuda_test ("/CudaCopies/fill/large", test_fill_large);
  add_double_test ("/CudaCopies/fill/queued", test_fill_is_queued);
  add_double_test ("/CudaCopies/elements", test_elements_on_gpu);
  add_cuda_test ("/CudaCopies/elements-at-the-end", test_words_at_the_end);
  if (over_double)
    for (gsize i = 0; i < G_N_ELEMENTS (without_compiler); i++)
      g_test_add_data_func (without_compiler[i].path, GUINT_TO_POINTER (without_compiler[i].error),
                            test_without_compiler);
  add_cuda_test ("/CudaCopies/large-layouts/as-on-host", test_large_layouts);
  add_double_test ("/CudaCopies/large-layouts/without-compiler", test_large_layouts_without_compiler);
  add_double_test ("/CudaCopies/large-layouts/fail", test_large_layouts_fail);
  add_cuda_test ("/CudaCopies/ranges", test_ranges);
  add_cuda_test ("/CudaCopies/nothing", test_nothing);

  return g_test_run ();
}
