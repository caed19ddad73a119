/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl-gst/mtldl-gst.h>

#include "test-utils.h"

/* A buffer with one memory of its own, and random bytes in it. */
static inline GstBuffer *
random_buffer_new (gsize size)
{
  guint8 *bytes = g_malloc (MAX (size, 1));

  for (gsize i = 0; i < size; i++)
    bytes[i] = g_test_rand_int_range (0, 256);

  return gst_buffer_new_wrapped (bytes, size);
}

static inline void
set_info (GstVideoInfo   *info,
          GstVideoFormat  format,
          guint           width,
          guint           height)
{
  g_assert_true (gst_video_info_set_format (info, format, width, height));
}

static inline GstBuffer *
random_frame_new (const GstVideoInfo *info)
{
  return random_buffer_new (GST_VIDEO_INFO_SIZE (info));
}

/* Only the test has mapped and referenced the memory, and it is the same object. */
static inline void
assert_untouched (GstBuffer *buffer,
                  guint      memory,
                  GstMemory *expected)
{
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer), ==, 1);
  g_assert_true (gst_buffer_peek_memory (buffer, memory) == expected);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (expected), ==, 1);

  /* An exclusive lock by the buffer, and no others. */
  g_assert_cmpint (expected->mini_object.lockstate, ==, 1 << 16);
}

static inline MtlStridedView *
assert_view (MtlStridedView *view,
             GError         *error)
{
  g_assert_no_error (error);
  g_assert_true (MTL_IS_STRIDED_VIEW (view));
  return view;
}

/* Returns the address of the element by the view's own shape and strides. */
static inline const guint8 *
get_element (MtlStridedView *view,
             gint64          row,
             gint64          column,
             gint64          channel)
{
  const gint64 indices[] = { row, column, channel };
  const gint64 *shape, *strides;
  const guint8 *data = mtl_strided_view_get_data (view);
  gsize n_dims;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  strides = mtl_strided_view_get_strides (view, &n_dims);
  for (gsize axis = 0; axis < n_dims; axis++)
    {
      g_assert_cmpint (indices[axis], <, shape[axis]);
      data += indices[axis] * strides[axis]
              * (gint64) mtl_dtype_get_bits (mtl_strided_view_get_dtype (view)) / 8;
    }

  return data;
}

static inline GstBufferPool *
pool_new (guint size,
          guint n)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, size, n, n);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  g_assert_true (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

static inline GstFlowReturn
acquire (GstBufferPool  *pool,
         GstBuffer     **buffer,
         gboolean        wait)
{
  GstBufferPoolAcquireParams params = {
    .flags = wait ? 0 : GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT,
  };

  return gst_buffer_pool_acquire_buffer (pool, buffer, &params);
}
