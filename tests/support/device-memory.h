/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included before all else, this makes a test run on memory of the default
 * device, in the storage mode that MTL_TEST_STORAGE_MODE names: what the test
 * makes on the host is made there, and elements that the host does not reach
 * are read and written through a copy. */

#pragma once

#include <mtldl/mtldl.h>

#define TEST_DEVICE_MEMORY 1

static inline MtlStorageMode
test_storage_mode (void)
{
  g_autoptr (GEnumClass) modes = g_type_class_ref (MTL_TYPE_STORAGE_MODE);
  GEnumValue *mode = g_enum_get_value_by_nick (modes, g_getenv ("MTL_TEST_STORAGE_MODE"));

  g_assert_nonnull (mode);
  g_assert_true (mtl_device_get_default () != mtl_device_get_host ());
  return mode->value;
}

static inline MtlStridedView *
test_move (MtlStridedView  *view,
           GError         **error)
{
  g_autoptr (MtlStridedView) taken = view;

  if (taken == NULL || mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (taken))
                         == test_storage_mode ())
    return g_steal_pointer (&taken);

  return mtl_strided_view_to_device (taken, mtl_device_get_default (), test_storage_mode (), NULL,
                                     error);
}

static inline MtlStridedView *
test_host_copy (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *copy = mtl_strided_view_to_device (view, mtl_device_get_host (),
                                                     MTL_STORAGE_MODE_HOST, NULL, &error);

  g_assert_no_error (error);
  return copy;
}

static inline MtlBuffer *
test_buffer_new (MtlDevice       *device,
                 gsize            size,
                 MtlStorageMode   mode,
                 GError         **error)
{
  if (device == NULL && mode == MTL_STORAGE_MODE_HOST)
    mode = test_storage_mode ();

  return mtl_buffer_new (device, size, mode, error);
}

#define TEST_DEFINE_GET(type, name) \
  static inline type \
  test_get_ ## name (MtlStridedView  *view, \
                     const gint64    *indices, \
                     gsize            n_indices, \
                     GError         **error) \
  { \
    g_autoptr (MtlStridedView) host = test_host_copy (view); \
    return mtl_strided_view_get_ ## name (host, indices, n_indices, error); \
  }

#define TEST_DEFINE_SET(type, name) \
  static inline gboolean \
  test_set_ ## name (MtlStridedView  *view, \
                     const gint64    *indices, \
                     gsize            n_indices, \
                     type             value, \
                     GError         **error) \
  { \
    g_autoptr (MtlStridedView) host = NULL; \
    if (mtl_strided_view_is_host_accessible (view) || mtl_strided_view_is_read_only (view)) \
      return mtl_strided_view_set_ ## name (view, indices, n_indices, value, error); \
    host = test_host_copy (view); \
    return mtl_strided_view_set_ ## name (host, indices, n_indices, value, error) \
           && mtl_strided_view_copy_from (view, host, NULL, error); \
  }

TEST_DEFINE_GET (double, double)
TEST_DEFINE_GET (gint64, int64)
TEST_DEFINE_GET (guint64, uint64)
TEST_DEFINE_SET (double, double)
TEST_DEFINE_SET (gint64, int64)
TEST_DEFINE_SET (guint64, uint64)

static inline gboolean
test_get_complex (MtlStridedView  *view,
                  const gint64    *indices,
                  gsize            n_indices,
                  double          *re,
                  double          *im,
                  GError         **error)
{
  g_autoptr (MtlStridedView) host = test_host_copy (view);

  return mtl_strided_view_get_complex (host, indices, n_indices, re, im, error);
}

static inline gboolean
test_set_complex (MtlStridedView  *view,
                  const gint64    *indices,
                  gsize            n_indices,
                  double           re,
                  double           im,
                  GError         **error)
{
  g_autoptr (MtlStridedView) host = NULL;

  if (mtl_strided_view_is_host_accessible (view) || mtl_strided_view_is_read_only (view))
    return mtl_strided_view_set_complex (view, indices, n_indices, re, im, error);

  host = test_host_copy (view);
  return mtl_strided_view_set_complex (host, indices, n_indices, re, im, error)
         && mtl_strided_view_copy_from (view, host, NULL, error);
}

/* Tests of what only memory of the host does, or for which it does not matter
 * whose memory it is, and of what the host has to reach, are left out. */
#define add_host_test(path, func) ((void) (func))
#define add_host_folder_test(path, func) ((void) (func))
#define add_reachable_test(path, func) \
  G_STMT_START \
    { \
      if (test_storage_mode () != MTL_STORAGE_MODE_PRIVATE) \
        g_test_add_func ((path), (func)); \
    } \
  G_STMT_END

#define mtl_buffer_new test_buffer_new
#define mtl_strided_view_get_complex test_get_complex
#define mtl_strided_view_set_complex test_set_complex
#define mtl_strided_view_get_double test_get_double
#define mtl_strided_view_get_int64 test_get_int64
#define mtl_strided_view_get_uint64 test_get_uint64
#define mtl_strided_view_set_double test_set_double
#define mtl_strided_view_set_int64 test_set_int64
#define mtl_strided_view_set_uint64 test_set_uint64
#define mtl_strided_view_new_from_doubles(...) \
  test_move (mtl_strided_view_new_from_doubles (__VA_ARGS__), NULL)
#define mtl_strided_view_new_arange(...) test_move (mtl_strided_view_new_arange (__VA_ARGS__), NULL)
#define mtl_strided_view_new_arange_int64(...) \
  test_move (mtl_strided_view_new_arange_int64 (__VA_ARGS__), NULL)
#define mtl_strided_view_new_zeros(...) test_move (mtl_strided_view_new_zeros (__VA_ARGS__), NULL)
#define mtl_strided_view_new_uninitialized(...) \
  test_move (mtl_strided_view_new_uninitialized (__VA_ARGS__), NULL)
#define mtl_strided_view_new_filled(...) test_move (mtl_strided_view_new_filled (__VA_ARGS__), NULL)
#define mtl_strided_view_new_from_variant(...) \
  test_move (mtl_strided_view_new_from_variant (__VA_ARGS__), NULL)
