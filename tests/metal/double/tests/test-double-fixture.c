/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests in C use the fixture of Metal: no Objective-C here. */

#include <glib.h>
#include <string.h>

#include "metal-double.h"
#include "metal-fixture.h"

#define SHARED 0
#define MANAGED 16
#define PRIVATE 32
#define MEMORYLESS 48

#define KEEP_CURRENT 1
#define NON_VOLATILE 2
#define VOLATILE 3
#define EMPTY 4

static void
begin (void)
{
  const MetalDoubleDevice machine[] = {
    { .name = "unified", .registry_id = 1, .unified = true },
    { .name = "discrete", .registry_id = 2 },
  };

  metal_double_setup (machine, G_N_ELEMENTS (machine), 0);
}

static void
end (void)
{
  g_assert_cmpuint (metal_double_violations (), ==, 0);
  g_assert_cmpuint (metal_double_shutdown (), ==, 0);
}

static void
test_buffers (void)
{
  begin ();
  g_assert_cmpuint (metal_fixture_page_size (), ==, 16384);
  g_assert_nonnull (metal_fixture_device (1));
  g_assert_null (metal_fixture_device (2));

  for (unsigned options = SHARED; options <= MEMORYLESS; options += 16)
    {
      void *buffer = metal_fixture_buffer_new (1, 64, options);
      guint8 bytes[] = { 1, 2, 3, 4 };
      guint8 seen[4] = { 0 };

      g_assert_cmpuint (metal_fixture_retain_count (buffer), ==, 1);
      metal_fixture_retain (buffer);
      g_assert_cmpuint (metal_fixture_retain_count (buffer), ==, 2);
      metal_fixture_release (buffer);
      metal_fixture_poke (buffer, 60, bytes, 4);
      metal_fixture_peek (buffer, 60, seen, 4);
      g_assert_cmpmem (bytes, 4, seen, 4);
      metal_fixture_release (buffer);
    }
  g_assert_cmpuint (metal_double_live ("buffer"), ==, 0);
  end ();
}

static void
test_purgeable (void)
{
  void *buffer, *of_heap;

  begin ();
  buffer = metal_fixture_buffer_new (0, 64, SHARED);
  g_assert_cmpuint (metal_fixture_set_purgeable_state (buffer, VOLATILE), ==, NON_VOLATILE);
  g_assert_cmpuint (metal_fixture_set_purgeable_state (buffer, KEEP_CURRENT), ==, EMPTY);
  of_heap = metal_fixture_buffer_new_in_heap (0, 64, PRIVATE);
  g_assert_cmpuint (metal_double_live ("heap"), ==, 1);
  g_assert_cmpuint (metal_fixture_set_purgeable_state (of_heap, KEEP_CURRENT), ==, NON_VOLATILE);
  g_assert_cmpuint (metal_fixture_set_purgeable_state (of_heap, VOLATILE), ==, NON_VOLATILE);
  g_assert_cmpuint (metal_fixture_set_purgeable_state (of_heap, KEEP_CURRENT), ==, EMPTY);
  metal_fixture_release (of_heap);
  g_assert_cmpuint (metal_double_live ("heap"), ==, 0);
  metal_fixture_release (buffer);
  end ();
}

static void
test_kernels (void)
{
  void *buffer, *before, *after;
  MetalFixtureRun *fill, *add;
  guint8 seen[4];

  begin ();
  buffer = metal_fixture_buffer_new (0, 4, PRIVATE);
  before = metal_fixture_event_new (0);
  after = metal_fixture_event_new (0);
  fill = metal_fixture_submit (METAL_FIXTURE_FILL, buffer, 0, 4, 250, NULL, 0, before, 5);
  add = metal_fixture_submit (METAL_FIXTURE_ADD, buffer, 1, 2, 10, before, 5, after, 1);

  /* Nothing moves by itself. */
  metal_fixture_go (add);
  g_usleep (40000);
  g_assert_cmpuint (metal_fixture_event_value (after), ==, 0);
  g_assert_true (metal_fixture_finish (fill));
  g_assert_cmpuint (metal_fixture_event_value (before), ==, 5);
  g_assert_true (metal_fixture_finish (add));
  g_assert_cmpuint (metal_fixture_event_value (after), ==, 1);
  metal_fixture_peek (buffer, 0, seen, 4);
  g_assert_cmpmem (seen, 4, ((guint8[]) { 250, 4, 4, 250 }), 4);

  metal_double_fail_next_command_buffer (2);
  fill = metal_fixture_submit (METAL_FIXTURE_FILL, buffer, 0, 4, 1, NULL, 0, NULL, 0);
  g_assert_false (metal_fixture_finish (fill));

  metal_fixture_event_signal (after, 3);
  g_assert_cmpuint (metal_fixture_event_value (after), ==, 3);
  metal_fixture_release (buffer);
  metal_fixture_release (before);
  metal_fixture_release (after);
  end ();
}

/* A kernel of another library reads and writes a managed buffer. */
static void
test_managed (void)
{
  void *buffer;
  guint8 seen[4];

  begin ();
  buffer = metal_fixture_buffer_new (1, 4, MANAGED);
  metal_fixture_poke (buffer, 0, (guint8[]) { 1, 2, 3, 4 }, 4);
  g_assert_true (metal_fixture_finish (
    metal_fixture_submit (METAL_FIXTURE_ADD, buffer, 0, 4, 1, NULL, 0, NULL, 0)));
  metal_fixture_peek (buffer, 0, seen, 4);
  g_assert_cmpmem (seen, 4, ((guint8[]) { 2, 3, 4, 5 }), 4);
  metal_fixture_release (buffer);
  end ();
}

static void
test_no_points (void)
{
  void *buffer, *event;

  begin ();
  metal_double_fail_at (1);
  buffer = metal_fixture_buffer_new (0, 4, SHARED);
  event = metal_fixture_event_new (0);
  g_assert_true (metal_fixture_finish (
    metal_fixture_submit (METAL_FIXTURE_FILL, buffer, 0, 4, 1, NULL, 0, event, 1)));
  g_assert_cmpuint (metal_double_points (), ==, 0);
  metal_fixture_release (buffer);
  metal_fixture_release (event);
  end ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/MetalFixture/buffers", test_buffers);
  g_test_add_func ("/MetalFixture/purgeable", test_purgeable);
  g_test_add_func ("/MetalFixture/kernels", test_kernels);
  g_test_add_func ("/MetalFixture/managed", test_managed);
  g_test_add_func ("/MetalFixture/no-points", test_no_points);
  return g_test_run ();
}
