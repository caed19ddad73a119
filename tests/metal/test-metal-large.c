/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"

#define GIB ((gsize) 1 << 30)
#define MAX_BUFFERS 100

static void
set_up_large (void)
{
  const MetalDoubleDevice device = {
    .name = "Test Large",
    .registry_id = REGISTRY_ID (0),
    .unified = true,
    .max_buffer_length = 16 * GIB,
    .max_buffers = MAX_BUFFERS,
  };

  metal_double_setup (&device, 1, 0);
}

static void
poke_byte (MtlBuffer *buffer,
           gsize      offset,
           guint8     value)
{
  metal_fixture_poke (mtl_buffer_get_handle (buffer), offset, &value, 1);
}

static guint8
peek_byte (MtlBuffer *buffer,
           gsize      offset)
{
  guint8 value;

  metal_fixture_peek (mtl_buffer_get_handle (buffer), offset, &value, 1);
  return value;
}

/* The GPU drops all but the first byte of each command, which takes no memory for the rest:
 * where the bytes are shows where the pieces begin. */
static void
check_pieces (MtlBuffer *buffer,
              gsize      offset,
              gsize      size,
              guint8     value)
{
  gsize n_pieces = (size + GIB - 1) / GIB;

  for (gsize i = 0; i < n_pieces; i++)
    {
      g_assert_cmphex (peek_byte (buffer, offset + i * GIB), ==, value + i);
      g_assert_cmphex (peek_byte (buffer, offset + i * GIB + 1), !=, value + i);
    }
  g_assert_cmpuint (metal_double_largest_blit (), ==, MIN (size, GIB));
}

static void
check_fill (MtlBuffer *buffer,
            gsize      size)
{
  guint64 n_before = metal_double_blit_bytes ();
  g_autoptr (GBytes) pattern = g_bytes_new_static ("\x5a", 1);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_fill (buffer, 0, size, pattern, NULL, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < size; i += GIB)
    {
      g_assert_cmphex (peek_byte (buffer, i), ==, 0x5a);
      poke_byte (buffer, i, i / GIB);
    }
  check_pieces (buffer, 0, size, 0);
  g_assert_cmpuint (metal_double_blit_bytes (), ==, n_before + size);
}

static void
check_copy (MtlBuffer *buffer,
            gsize      size)
{
  guint64 n_before = metal_double_blit_bytes ();
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < size; i += GIB)
    poke_byte (buffer, i, 0x80 + i / GIB);
  g_assert_true (mtl_buffer_copy_from (buffer, size, buffer, 0, size, NULL, &error));
  g_assert_no_error (error);
  check_pieces (buffer, size, size, 0x80);
  g_assert_cmpuint (metal_double_blit_bytes (), ==, n_before + size);
}

static void
test_pieces (void)
{
  static const gsize sizes[] = {
    64, GIB - 4, GIB, GIB + 4, 2 * GIB, 3 * GIB + 64, 4 * GIB - 4, 4 * GIB, 5 * GIB + 12,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) buffer = NULL;

      metal_double_set_blit_limit (1);
      metal_double_largest_blit ();
      buffer = mtl_buffer_new_uninitialized (get_metal (0), 2 * sizes[i],
                                             MTL_STORAGE_MODE_PRIVATE, &error);
      g_assert_no_error (error);
      check_fill (buffer, sizes[i]);
      check_copy (buffer, sizes[i]);
      metal_double_set_blit_limit (0);
    }
}

/* Wraps a buffer of another library. */
static void
test_wrapped (void)
{
  gpointer handle = metal_fixture_buffer_new (0, 4 * GIB + 64, OPTIONS_PRIVATE);
  g_autoptr (MtlBuffer) buffer = wrap_buffer (0, handle, 4 * GIB + 64);

  metal_fixture_release (handle);
  metal_fixture_poke (handle, 4 * GIB + 60, "last", 4);
  assert_buffer_bytes (buffer, 4 * GIB + 60, "last", 4);
}

/* Metal has a limit, and gives no reason. */
static void
test_too_many_buffers (void)
{
  MtlBuffer *buffers[MAX_BUFFERS];

  for (int i = 0; i < MAX_BUFFERS; i++)
    buffers[i] = new_buffer (get_metal (0), 4, metal_modes[i % 3]);
  assert_fails (mtl_buffer_new (get_metal (0), 4, MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NO_MEMORY, "4 & “Test Large”");

  g_clear_object (&buffers[0]);
  buffers[0] = new_buffer (get_metal (0), 4, MTL_STORAGE_MODE_PRIVATE);
  assert_fails (mtl_buffer_new (get_metal (0), 4, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "4 & “Test Large”");
  for (int i = 0; i < MAX_BUFFERS; i++)
    g_object_unref (buffers[i]);
}

/* The number is so large that it may be the reason: all are one here. */
#define MANY 400000

static void
check_in_place (MtlError    code,
                const char *values)
{
  const gsize page_size = metal_fixture_page_size ();
  int n_ended = 0;
  gpointer memory = NULL;

  g_assert_cmpint (posix_memalign (&memory, page_size, page_size), ==, 0);
  for (int flags = 0; flags < 2; flags++)
    {
      metal_double_fail_at (1);
      assert_fails (mtl_buffer_new_for_data (memory, 100, get_metal (0),
                                             flags == 0 && code == MTL_ERROR_NO_MEMORY
                                               ? MTL_BUFFER_FLAGS_NONE
                                               : MTL_BUFFER_FLAGS_NEVER_COPY,
                                             count_call, &n_ended, &error),
                    code, values);
    }
  g_assert_cmpint (n_ended, ==, 2);
  free (memory);
}

/* Buffers in place count as well. */
static void
test_many_buffers (void)
{
  const gsize page_size = metal_fixture_page_size ();
  g_autoptr (GError) local_error = NULL;
  gpointer memory = NULL;
  g_autofree MtlBuffer **buffers = g_new (MtlBuffer *, MANY);
  gpointer handle = metal_fixture_buffer_new (0, 4, OPTIONS_SHARED);

  for (int i = 0; i < MANY - 1; i++)
    buffers[i] = wrap_buffer (0, handle, 4);
  check_in_place (MTL_ERROR_NEEDS_COPY, "16384");
  metal_double_fail_at (1);
  assert_fails (mtl_buffer_new (get_metal (0), 4, MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NO_MEMORY, "4 & “Test Large”");

  g_assert_cmpint (posix_memalign (&memory, page_size, page_size), ==, 0);
  buffers[MANY - 1] = mtl_buffer_new_for_data (memory, 4, get_metal (0),
                                               MTL_BUFFER_FLAGS_NEVER_COPY, free, memory,
                                               &local_error);
  g_assert_no_error (local_error);
  check_in_place (MTL_ERROR_NO_MEMORY, "16384 & 400000");
  metal_double_fail_at (1);
  assert_fails (mtl_buffer_new (get_metal (0), 4, MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NO_MEMORY, "500000");

  for (int i = 0; i < MANY; i++)
    g_object_unref (buffers[i]);
  metal_fixture_release (handle);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_large ();

  add_metal_test ("/MetalLarge/pieces", test_pieces);
  add_metal_test ("/MetalLarge/wrapped", test_wrapped);
  add_metal_test ("/MetalLarge/too-many-buffers", test_too_many_buffers);
  add_metal_test ("/MetalLarge/many-buffers", test_many_buffers);

  return g_test_run ();
}
