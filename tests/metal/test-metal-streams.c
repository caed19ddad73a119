/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams on Metal, which are its command queues. */

#include "metal-tests.h"

static MtlDevice *
get_place (gconstpointer data)
{
  return get_metal (GPOINTER_TO_INT (data));
}

static MtlStream *
new_stream (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  MtlStream *stream = mtl_stream_new (get_place (data), &error);

  g_assert_no_error (error);
  return stream;
}

static void
test_new (Living        *living,
          gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStream) stream = new_stream (data);
  g_autoptr (MtlStream) own = mtl_stream_new_for_device (get_place (data), &error);
  g_autoptr (MtlStream) same = NULL;
  g_autoptr (MtlDevice) device = NULL;
  guint64 handle;

  g_assert_no_error (error);
  g_object_get (stream, "device", &device, "handle", &handle, NULL);
  g_assert_true (device == get_place (data) && mtl_stream_get_device (stream) == device);
  g_assert_cmpuint (handle, ==, mtl_stream_get_handle (stream));
  g_assert_cmpuint (handle, !=, mtl_stream_get_handle (own));

  same = mtl_stream_new_for_handle (handle, device, &error);
  g_assert_no_error (error);
  g_clear_object (&stream);
  g_assert_true (mtl_stream_synchronize (same, NULL, &error));
}

static void
test_refused (Living        *living,
              gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  MtlDevice *device = get_place (data);
  g_autoptr (MtlEvent) event = mtl_event_new (device, &error);
  g_autoptr (MtlEvent) on_host = mtl_event_new (mtl_device_get_host (), &error);
  g_autoptr (MtlStream) stream = new_stream (data);
  const guint64 wrong[] = { 0, 8, (guintptr) mtl_event_get_handle (event) };

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_assert_null (mtl_stream_new_for_handle (wrong[i], device, &error));
      g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT);
      g_clear_error (&error);
    }

  g_assert_null (mtl_stream_new (mtl_device_get_host (), &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  g_clear_error (&error);
  g_assert_false (mtl_stream_wait_event (stream, on_host, 1, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
}

/* A queue of another device is none of this one. */
static void
test_other_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStream) stream = new_stream (GINT_TO_POINTER (UNIFIED));

  g_assert_null (mtl_stream_new_for_handle (mtl_stream_get_handle (stream), get_metal (DISCRETE),
                                            &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT);
}

/* The reader's queue waits for the writer's, which signals after a copy. */
static void
test_events (Living        *living,
             gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStream) writer = new_stream (data);
  g_autoptr (MtlStream) reader = new_stream (data);
  g_autoptr (MtlEvent) event = mtl_event_new (get_place (data), &error);

  g_assert_no_error (error);
  g_assert_true (mtl_stream_wait_event (reader, event, 2, &error));
  g_assert_true (mtl_stream_signal_event (writer, event, 1, &error));
  g_assert_true (mtl_stream_synchronize (writer, NULL, &error));
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 1);
  g_assert_true (mtl_stream_signal_event (writer, event, 2, &error));
  g_assert_true (mtl_stream_synchronize (reader, NULL, &error));
  g_assert_true (mtl_stream_wait_stream (reader, writer, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_event_get_signaled_value (event), ==, 2);
}

/* Work in a stream that was pushed is done there, after what the stream waits for. */
static void
test_pushed (Living        *living,
             gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  MtlDevice *device = get_place (data);
  g_autoptr (MtlStream) stream = new_stream (data);
  g_autoptr (MtlEvent) event = mtl_event_new (device, &error);
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new (device, 64, MTL_STORAGE_MODE_PRIVATE, &error);
  g_autoptr (GBytes) seven = g_bytes_new_static ("\007", 1);
  g_autoptr (GBytes) bytes = NULL;

  g_assert_no_error (error);
  mtl_stream_push_thread_default (stream);
  g_assert_true (mtl_buffer_fill (buffer, 0, 64, seven, NULL, &error));
  g_assert_true (mtl_stream_signal_event (stream, event, 1, &error));
  mtl_stream_pop_thread_default (stream);
  g_assert_true (mtl_event_wait (event, 1, G_USEC_PER_SEC, NULL, &error));

  bytes = mtl_buffer_dup_bytes (buffer, 0, 64, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (((const guint8 *) g_bytes_get_data (bytes, NULL))[63], ==, 7);
}

static void
add_on_each (const char *name,
             void     (* func) (Living *, gconstpointer))
{
  static const char *const places[] = { "unified", "discrete" };

  for (int ordinal = UNIFIED; ordinal <= DISCRETE; ordinal++)
    {
      g_autofree char *path = g_strdup_printf ("/MetalStream/%s/%s", name, places[ordinal]);

      add_metal_data_test (path, GINT_TO_POINTER (ordinal), func);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_on_each ("new", test_new);
  add_on_each ("refused", test_refused);
  add_double_test ("/MetalStream/other-device", test_other_device);
  add_on_each ("events", test_events);
  add_on_each ("pushed", test_pushed);

  return g_test_run ();
}
