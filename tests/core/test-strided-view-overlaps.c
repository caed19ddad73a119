/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells if views share bytes: elements that begin and end within a byte, against lists of all
 * bytes, and views that are too far apart or have too many axes to tell. */

#include "dlpack-producer.h"

#define MAX_DIMS 64

/* All memory is a device's that is never read. */
typedef struct
{
  guint64 address;
  guint8 bits;
  gint32 n_dims;
  int64_t shape[MAX_DIMS];
  int64_t strides[MAX_DIMS];
} Stretch;

static MtlStridedView *
import (const Stretch *stretch,
        Producer      *producer)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  producer_init (producer);
  producer->versioned.dl_tensor = (DLTensor) {
    .data = (void *) (guintptr) stretch->address,
    .device = { 2, 0 },
    .ndim = stretch->n_dims,
    .dtype = { 1, stretch->bits, 1 },
    .shape = (int64_t *) stretch->shape,
    .strides = (int64_t *) stretch->strides,
  };
  view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);
  g_assert_no_error (error);
  return view;
}

static gboolean
overlaps (const Stretch *a,
          const Stretch *b)
{
  Producer a_producer, b_producer;
  g_autoptr (MtlStridedView) a_view = import (a, &a_producer);
  g_autoptr (MtlStridedView) b_view = import (b, &b_producer);

  return mtl_strided_view_overlaps (a_view, b_view);
}

static void
assert_overlap (const Stretch *a,
                const Stretch *b,
                gboolean       expected)
{
  g_assert_true (overlaps (a, b) == expected);
  g_assert_true (overlaps (b, a) == expected);
}

/* The addresses of all bytes with a bit of an element. */
static GHashTable *
list_bytes (const Stretch *self)
{
  GHashTable *bytes = g_hash_table_new (g_direct_hash, g_direct_equal);
  gint64 index[MAX_DIMS] = { 0 };
  gint32 axis;

  do
    {
      __int128 bit = (__int128) self->address * 8;

      for (axis = 0; axis < self->n_dims; axis++)
        bit += (__int128) index[axis] * self->strides[axis] * self->bits;
      for (guint64 byte = bit / 8; byte <= (bit + self->bits - 1) / 8; byte++)
        g_hash_table_add (bytes, GSIZE_TO_POINTER (byte));

      for (axis = 0; axis < self->n_dims && ++index[axis] == self->shape[axis]; axis++)
        index[axis] = 0;
    }
  while (axis < self->n_dims);

  return bytes;
}

static gboolean
have_common_byte (const Stretch *a,
                  const Stretch *b)
{
  g_autoptr (GHashTable) a_bytes = list_bytes (a);
  g_autoptr (GHashTable) b_bytes = list_bytes (b);
  GHashTableIter iter;
  gpointer byte;

  g_hash_table_iter_init (&iter, a_bytes);
  while (g_hash_table_iter_next (&iter, &byte, NULL))
    if (g_hash_table_contains (b_bytes, byte))
      return TRUE;

  return FALSE;
}

static void
draw (Stretch *self)
{
  static const guint8 bits[] = { 1, 2, 3, 4, 6, 7, 8, 12, 16 };

  self->address = g_test_rand_int_range (4096, 4120);
  self->bits = bits[g_test_rand_int_range (0, G_N_ELEMENTS (bits))];
  self->n_dims = g_test_rand_int_range (1, 4);
  for (gint32 i = 0; i < self->n_dims; i++)
    {
      self->shape[i] = g_test_rand_int_range (1, 5);
      self->strides[i] = g_test_rand_int_range (-40, 41);
    }
}

static void
test_brute_force (void)
{
  guint n_overlaps = 0;

  for (guint i = 0; i < 4000; i++)
    {
      Stretch a, b;
      gboolean expected;

      draw (&a);
      draw (&b);
      expected = have_common_byte (&a, &b);
      n_overlaps += expected;
      assert_overlap (&a, &b, expected);
    }

  g_assert_cmpuint (n_overlaps, >, 400);
  g_assert_cmpuint (n_overlaps, <, 3600);
}

/* Bits that lie 2^10, 2^14, … and 1 apart: all within the first 6 of each 128
 * bytes, so that none is in the 64th. With few axes that is found out; with more
 * there is more to try than is tried, and the answer is the cautious one. */
static void
test_too_many_bits (void)
{
  Stretch bits = { .address = 4096, .bits = 1, .n_dims = 6 };
  Stretch byte = { .address = 4096 + 64, .bits = 8, .n_dims = 1, .shape = { 2 },
                   .strides = { 128 } };

  for (gint32 i = 0; i < bits.n_dims; i++)
    {
      bits.shape[i] = 8;
      bits.strides[i] = POW2 (10 + 4 * i) + 1;
    }
  assert_overlap (&bits, &byte, TRUE);

  bits.n_dims = 3;
  g_assert_false (have_common_byte (&bits, &byte));
  assert_overlap (&bits, &byte, FALSE);
}

static void
add_axis (Stretch *self,
          gint64   stride)
{
  self->shape[self->n_dims] = 2;
  self->strides[self->n_dims++] = stride;
}

/* In each three bytes, one view has nibbles in the first and, by its odd strides, in the second
 * one, the other view in the third. */
static void
test_too_many_nibbles (void)
{
  for (gint32 n_odd = 2; n_odd <= 60; n_odd += 2)
    {
      Stretch a = { .address = 3 << 20, .bits = 4 };
      Stretch b = { .address = (3 << 20) + 2, .bits = 4 };

      for (gint32 i = 0; i < 60; i++)
        {
          gint64 far = POW2 (48) / (2 * i + 3) * 6;

          add_axis (&a, i < n_odd ? far + 3 : far);
          add_axis (&b, far + 6);
        }

      /* Each odd stride doubles what there is to try. */
      if (n_odd <= 6)
        assert_overlap (&a, &b, FALSE);
      else if (n_odd >= 20)
        assert_overlap (&a, &b, TRUE);
    }
}

/* Single bytes at sums of r · 3^i mod m, where m = 3^33 + 2. Modulo m the way from
 * one to another is r · Σ d · 3^i, where d is 0 or 1 for what belongs to one view,
 * 0 or -1 for what belongs to the other. They start 2r apart, and 2 = 3 - 1 has a
 * -1 and a 1 in one of the two: they never meet. */
static void
test_too_many_bytes (void)
{
  const gint64 r = G_GINT64_CONSTANT (4000000000000001), m = G_GINT64_CONSTANT (5559060566555525);

  for (gint32 n = 2; n <= 16; n++)
    {
      Stretch a = { .address = POW2 (56) + 2 * r % m, .bits = 8 };
      Stretch b = { .address = POW2 (56), .bits = 8 };
      gint64 stride = r;

      for (gint32 i = 0; i < 2 * n; i++, stride = stride * 3 % m)
        add_axis (i < n ? &b : &a, stride);

      if (n <= 5)
        {
          g_assert_false (have_common_byte (&a, &b));
          assert_overlap (&a, &b, FALSE);
        }
      else if (n == 16)
        assert_overlap (&a, &b, TRUE);
    }
}

/* Rows that reach 3 · 2^61 bytes away from each other. */
static void
test_farther_apart_than_63_bits (void)
{
  const gint64 span = 3 * POW2 (61);

  for (gint64 beside = -1; beside <= 1; beside++)
    {
      Stretch up = { 16, 8, 1, { 2 }, { span } };
      Stretch down = { 16 + span + beside, 8, 1, { 2 }, { -span } };

      assert_overlap (&up, &down, beside == 0);
    }
}

/* Offsets beyond 63 bits if they are counted in bits, from the first view on. None has a byte in
 * common with the other, but the answer is the cautious one. */
static void
test_more_bits_than_63 (void)
{
  const guint64 base = POW2 (62);
  const gint64 most = G_MAXINT64 / 24; /* elements of 3 bytes */
  const gint64 far = POW2 (58) + POW2 (56);
  const gint64 nibbles_far = 2 * (far * 3 + POW2 (53));
  const struct { Stretch a, b; } cases[] = {
    /* the first element; the last one; where the last one ends */
    { { base, 24, 1, { 2 }, { -2 * far } }, { base - 64, 4, 1, { 2 }, { 2 } } },
    { { base, 24, 1, { 2 }, { 2 * far } }, { base + 64, 4, 1, { 2 }, { 2 } } },
    { { base, 24, 1, { 2 }, { most } }, { base + 64, 4, 1, { 2 }, { 2 } } },
    /* the distance from the first to the last */
    { { base, 24, 2, { 2, 2 }, { -far, far } }, { base + 64, 4, 1, { 2 }, { 2 } } },
    /* the first element, and the last, as seen from the other view */
    { { base, 4, 1, { 2 }, { -nibbles_far } },
      { base - far * 3 + 64, 24, 1, { 2 }, { -far } } },
    { { base, 4, 1, { 2 }, { nibbles_far } },
      { base + far * 3 - 64, 24, 1, { 2 }, { far } } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_false (have_common_byte (&cases[i].a, &cases[i].b));
      g_assert_true (overlaps (&cases[i].a, &cases[i].b));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/StridedView/overlaps/brute-force", test_brute_force);
  g_test_add_func ("/StridedView/overlaps/too-many-bits", test_too_many_bits);
  g_test_add_func ("/StridedView/overlaps/too-many-nibbles", test_too_many_nibbles);
  g_test_add_func ("/StridedView/overlaps/too-many-bytes", test_too_many_bytes);
  g_test_add_func ("/StridedView/overlaps/farther-apart-than-63-bits",
                   test_farther_apart_than_63_bits);
  g_test_add_func ("/StridedView/overlaps/more-bits-than-63", test_more_bits_than_63);

  return g_test_run ();
}
