/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gst/video/video.h>
#include <mtldl-gst/mtldl-gst.h>

#include "test-utils.h"

/* Elements of any values, the same ones in each run. */
static inline MtlStridedView *
view_new (MtlDType      dtype,
          const gint64 *shape,
          gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view =
    mtl_strided_view_new_uninitialized (mtl_device_get_host (), dtype, shape, n_dims,
                                        MTL_STORAGE_MODE_DEFAULT, &error);
  guint8 *bytes;

  g_assert_no_error (error);
  bytes = mtl_strided_view_get_data (view);
  for (gint64 i = 0;
       i < mtl_strided_layout_get_required_size (mtl_strided_view_get_layout (view), NULL); i++)
    bytes[i] = (i * 2654435761u) >> 13;
  return view;
}

/* The part of its memory that it reaches, as others hand over theirs. */
static inline MtlStridedView *
trim (MtlStridedView *view)
{
  const guint item_bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gint64 *strides = mtl_strided_view_get_strides (view, NULL);
  const gsize size = ((shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1] + 1)
                     * item_bits / 8;
  g_autoptr (MtlBuffer) buffer =
    mtl_buffer_new_for_data (mtl_strided_view_get_data (view), size, NULL, MTL_BUFFER_FLAGS_NONE,
                             g_object_unref, g_object_ref (view), NULL);
  g_autoptr (MtlStridedLayout) layout =
    mtl_strided_layout_new (shape, 2, strides, 2, item_bits, NULL);

  return mtl_strided_view_new (buffer, layout, mtl_strided_view_get_dtype (view), 0, NULL);
}

static inline GstVideoInfo
video_info (GstVideoFormat format,
            int            width,
            int            height)
{
  GstVideoInfo info;

  g_assert_true (gst_video_info_set_format (&info, format, width, height));
  return info;
}

static inline GstBuffer *
get_buffer (MtlStridedView     *view,
            const GstVideoInfo *info)
{
  g_autoptr (GError) error = NULL;
  GstBuffer *buffer = info != NULL ? mtl_gst_video_buffer_from_view (view, info, &error)
                                  : mtl_gst_buffer_from_view (view, &error);

  g_assert_no_error (error);
  g_assert_true (GST_IS_BUFFER (buffer));
  return buffer;
}

/* Checks that a view has the same elements, at the same addresses. */
static inline void
assert_same_view (MtlStridedView *view,
                  MtlStridedView *expected)
{
  const gint64 *dims, *expected_dims;
  gsize n, n_expected;

  g_assert_true (mtl_strided_view_get_data (view) == mtl_strided_view_get_data (expected));
  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, mtl_strided_view_get_dtype (expected));
  dims = mtl_strided_view_get_shape (view, &n);
  expected_dims = mtl_strided_view_get_shape (expected, &n_expected);
  g_assert_cmpmem (dims, n * sizeof *dims, expected_dims, n_expected * sizeof *dims);
  dims = mtl_strided_view_get_strides (view, &n);
  expected_dims = mtl_strided_view_get_strides (expected, &n_expected);
  g_assert_cmpmem (dims, n * sizeof *dims, expected_dims, n_expected * sizeof *dims);
}

static inline void
assert_last_user (GstBuffer *buffer)
{
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer), ==, 1);
  gst_buffer_unref (buffer);
}

/* A probe that answers an element's query for memory as its peer. */
static inline GstPadProbeReturn
answer_with_allocator (GstPad          *pad,
                       GstPadProbeInfo *info,
                       gpointer         allocator)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;

  gst_query_add_allocation_param (query, allocator, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_PAD_PROBE_HANDLED;
}
