/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/video/video.h>

#include "test-device.h"
#include "test-gst-buffer-utils.h"

static void
test_managed (void)
{
  g_autoptr (TestDevice) device = test_device_new (MTL_STORAGE_MODE_MANAGED);
  g_autoptr (GError) error = NULL;
  MtlGstAllocator *allocator =
    mtl_gst_allocator_new (MTL_DEVICE (device), MTL_STORAGE_MODE_DEFAULT, &error);
  GstMemory *memory, *part;
  GstMapInfo map;

  g_assert_no_error (error);
  memory = gst_allocator_alloc (GST_ALLOCATOR (allocator), 100, NULL);
  g_assert_null (gst_allocator_alloc (GST_ALLOCATOR (allocator), 5000, NULL));
  gst_object_unref (allocator);

  g_assert_true (gst_memory_map (memory, &map, GST_MAP_READ));
  g_assert_cmpint (device->n_synchronized, ==, 1);
  gst_memory_unmap (memory, &map);
  g_assert_cmpuint (device->modified_size, ==, 0);

  gst_memory_resize (memory, 10, 50);
  g_assert_true (gst_memory_map (memory, &map, GST_MAP_WRITE));
  gst_memory_unmap (memory, &map);
  g_assert_cmpuint (device->modified_offset, ==, 10);
  g_assert_cmpuint (device->modified_size, ==, 50);

  part = gst_memory_share (memory, 0, 5);
  device->is_broken = TRUE;
  g_assert_false (gst_memory_map (part, &map, GST_MAP_READ));
  gst_memory_unref (part);
  gst_memory_unref (memory);
}

static GstAllocator *
allocator_new (void)
{
  g_autoptr (GError) error = NULL;
  MtlGstAllocator *allocator = mtl_gst_allocator_new (NULL, MTL_STORAGE_MODE_HOST, &error);

  g_assert_no_error (error);
  g_assert_false (g_object_is_floating (allocator));
  return GST_ALLOCATOR (allocator);
}

static void
assert_zeros (const guint8 *bytes,
              gsize         n)
{
  for (gsize i = 0; i < n; i++)
    g_assert_cmpint (bytes[i], ==, 0);
}

static void
check_params (GstAllocator *allocator,
              gsize         size,
              gsize         align,
              gsize         prefix,
              gsize         padding)
{
  GstAllocationParams params = {
    .flags = GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED,
    .align = align, .prefix = prefix, .padding = padding,
  };
  GstMemory *memory = gst_allocator_alloc (allocator, size, &params);
  gsize offset, max_size, byte_offset;
  MtlBuffer *buffer;
  GstMapInfo map;

  g_assert_nonnull (memory);
  g_assert_cmpuint (gst_memory_get_sizes (memory, &offset, &max_size), ==, size);
  g_assert_cmpuint (offset, ==, prefix);
  g_assert_cmpuint (max_size, >=, prefix + size + padding);
  g_assert_true (gst_memory_is_type (memory, "MtlMemory"));

  g_assert_true (gst_memory_map (memory, &map, GST_MAP_READWRITE));
  g_assert_cmpuint (map.size, ==, size);
  g_assert_cmpuint ((guintptr) (map.data - prefix) & align, ==, 0);
  assert_zeros (map.data - prefix, prefix);
  assert_zeros (map.data + size, padding);
  memset (map.data, 7, size);

  buffer = mtl_gst_memory_get_buffer (memory, &byte_offset);
  g_assert_true ((guint8 *) mtl_buffer_get_contents (buffer) + byte_offset == map.data);
  g_assert_cmpuint (byte_offset + size + padding, <=, mtl_buffer_get_size (buffer));
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
}

static void
test_params (void)
{
  static const gsize aligns[] = { 0, 7, 63, 127, 4095, 65535 };
  g_autoptr (GstAllocator) allocator = allocator_new ();

  for (guint i = 0; i < G_N_ELEMENTS (aligns); i++)
    {
      check_params (allocator, 1000, aligns[i], 0, 0);
      check_params (allocator, 1000, aligns[i], 16, 0);
      check_params (allocator, 1000, aligns[i], 5, 100);
      check_params (allocator, 0, aligns[i], 0, 0);
    }

  g_assert_cmpint (G_OBJECT (allocator)->ref_count, ==, 1);
}

static void
test_too_large (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstAllocationParams params = { .prefix = 16, .padding = 16 };

  g_assert_null (gst_allocator_alloc (allocator, G_MAXSIZE, NULL));
  g_assert_null (gst_allocator_alloc (allocator, G_MAXSIZE - 15, &params));
  params.align = G_MAXSIZE >> 1;
  g_assert_null (gst_allocator_alloc (allocator, G_MAXSIZE >> 1, &params));
}

static void
test_share (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstMemory *memory = gst_allocator_alloc (allocator, 1000, NULL);
  GstMemory *part = gst_memory_share (memory, 100, 500);
  GstMemory *smaller = gst_memory_share (part, 50, -1);
  GstMemory *next = gst_memory_share (memory, 600, 400);
  gsize byte_offset, offset;
  MtlBuffer *buffer = mtl_gst_memory_get_buffer (memory, NULL);
  GstMapInfo map;

  g_assert_true (mtl_gst_memory_get_buffer (smaller, &byte_offset) == buffer);
  g_assert_cmpuint (byte_offset, ==, 150);
  g_assert_cmpuint (smaller->size, ==, 450);
  g_assert_true (smaller->parent == memory);
  g_assert_true (GST_MEMORY_IS_READONLY (smaller));
  g_assert_true (gst_memory_is_span (part, next, &offset));
  g_assert_cmpuint (offset, ==, 100);
  g_assert_false (gst_memory_is_span (part, smaller, NULL));

  g_assert_false (gst_memory_map (smaller, &map, GST_MAP_WRITE));
  gst_memory_unref (memory);
  gst_memory_unref (part);
  gst_memory_unref (next);
  g_assert_true (gst_memory_map (smaller, &map, GST_MAP_READ));
  g_assert_true (map.data == (guint8 *) mtl_buffer_get_contents (buffer) + 150);
  gst_memory_unmap (smaller, &map);
  gst_memory_unref (smaller);
  g_assert_cmpint (G_OBJECT (allocator)->ref_count, ==, 1);
}

/* Two parts side by side become one without a copy. */
static void
test_merge (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstMemory *memory = gst_allocator_alloc (allocator, 100, NULL);
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstMapInfo map;

  gst_buffer_append_memory (buffer, gst_memory_share (memory, 0, 40));
  gst_buffer_append_memory (buffer, gst_memory_share (memory, 40, 60));
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_true (map.data == mtl_buffer_get_contents (mtl_gst_memory_get_buffer (memory, NULL)));
  g_assert_cmpuint (map.size, ==, 100);
  gst_buffer_unmap (buffer, &map);
  gst_memory_unref (memory);
}

/* A copy is the allocator's memory, too, and others' memory is not. */
static void
test_copy (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  GstMemory *memory = gst_allocator_alloc (allocator, 100, NULL);
  GstMemory *system = gst_allocator_alloc (NULL, 100, NULL);
  GstMemory *copy;
  gsize byte_offset = 1;

  gst_memory_resize (memory, 10, 50);
  copy = gst_memory_copy (memory, 0, -1);
  g_assert_cmpuint (copy->size, ==, 50);
  g_assert_nonnull (mtl_gst_memory_get_buffer (copy, NULL));
  g_assert_true (mtl_gst_memory_get_buffer (copy, NULL)
                 != mtl_gst_memory_get_buffer (memory, NULL));
  g_assert_null (mtl_gst_memory_get_buffer (system, &byte_offset));
  g_assert_cmpuint (byte_offset, ==, 0);
  gst_memory_unref (copy);
  gst_memory_unref (memory);
  gst_memory_unref (system);
}

static void
test_allocation_query (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline =
    gst_parse_launch ("videotestsrc num-buffers=20 pattern=white"
                      " ! video/x-raw,format=GRAY8,width=16,height=8"
                      " ! appsink name=sink sync=false enable-last-sample=false", &error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");

  g_assert_no_error (error);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer_with_allocator, allocator,
                     NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (int i = 0; i < 20; i++)
    {
      GstSample *sample = NULL;
      MtlBuffer *memory;
      GstBuffer *buffer;
      gsize byte_offset;

      g_signal_emit_by_name (sink, "pull-sample", &sample);
      g_assert_nonnull (sample);
      buffer = gst_sample_get_buffer (sample);
      memory = mtl_gst_memory_get_buffer (gst_buffer_peek_memory (buffer, 0), &byte_offset);
      g_assert_nonnull (memory);
      g_assert_cmpint (((guint8 *) mtl_buffer_get_contents (memory))[byte_offset], ==, 235);
      gst_sample_unref (sample);
    }

  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* A pool uses the same memory again. */
static void
test_pool (void)
{
  g_autoptr (GstAllocator) allocator = allocator_new ();
  g_autoptr (GstCaps) caps =
    gst_caps_from_string ("video/x-raw,format=I420,width=17,height=9,framerate=1/1");
  g_autoptr (GstBufferPool) pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstAllocationParams params = { .align = 255 };
  GstBuffer *buffer = NULL;
  MtlBuffer *memory;

  gst_buffer_pool_config_set_params (config, caps, 17 * 9 * 4, 1, 1);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  g_assert_true (gst_buffer_pool_set_active (pool, TRUE));

  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
  memory = mtl_gst_memory_get_buffer (gst_buffer_peek_memory (buffer, 0), NULL);
  g_assert_nonnull (memory);
  gst_buffer_unref (buffer);
  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
  g_assert_true (mtl_gst_memory_get_buffer (gst_buffer_peek_memory (buffer, 0), NULL) == memory);
  gst_buffer_unref (buffer);
  g_assert_true (gst_buffer_pool_set_active (pool, FALSE));
}

/* Bindings construct allocators like this. The host does not support one of the modes. */
static void
test_properties (void)
{
  MtlDevice *host = mtl_device_get_host (), *device;
  MtlStorageMode mode;

  for (int i = 0; i < 2; i++)
    {
      const MtlStorageMode expected = i == 0 ? MTL_STORAGE_MODE_HOST : MTL_STORAGE_MODE_PRIVATE;
      GstAllocator *allocator = g_object_new (MTL_GST_TYPE_ALLOCATOR, "device", host,
                                              "storage-mode", expected, NULL);
      GstMemory *memory;

      gst_object_ref_sink (allocator);
      g_object_get (allocator, "device", &device, "storage-mode", &mode, NULL);
      g_assert_true (device == host);
      g_assert_cmpint (mode, ==, expected);
      memory = gst_allocator_alloc (allocator, 100, NULL);
      g_assert_true ((memory != NULL) == (i == 0));
      if (memory != NULL)
        {
          g_assert_nonnull (mtl_gst_memory_get_buffer (memory, NULL));
          gst_memory_unref (memory);
        }

      g_object_unref (device);
      gst_object_unref (allocator);
    }
}

int
main (int    argc,
      char **argv)
{
  gsize before;
  int status;

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/gst-allocator/params", test_params);
  g_test_add_func ("/gst-allocator/managed", test_managed);
  g_test_add_func ("/gst-allocator/too-large", test_too_large);
  g_test_add_func ("/gst-allocator/share", test_share);
  g_test_add_func ("/gst-allocator/merge", test_merge);
  g_test_add_func ("/gst-allocator/copy", test_copy);
  g_test_add_func ("/gst-allocator/allocation-query", test_allocation_query);
  g_test_add_func ("/gst-allocator/pool", test_pool);
  g_test_add_func ("/gst-allocator/properties", test_properties);

  before = mtl_get_allocated_size ();
  status = g_test_run ();
  /* The thread in which a pipeline changes its state may hold the last reference to it. */
  for (int i = 0; i < 10000 && mtl_get_allocated_size () != before; i++)
    g_usleep (1000);
  g_assert_cmpuint (mtl_get_allocated_size (), ==, before);
  return status;
}
