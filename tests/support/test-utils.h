/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <string.h>

#include <mtldl/mtldl.h>

/* An array and its length, as arguments. */
#define DIMS(...) \
  ((const gint64[]) { __VA_ARGS__ }), G_N_ELEMENTS (((const gint64[]) { __VA_ARGS__ }))
#define AXES(...) \
  ((const int[]) { __VA_ARGS__ }), G_N_ELEMENTS (((const int[]) { __VA_ARGS__ }))
#define DOUBLES(...) \
  ((const double[]) { __VA_ARGS__ }), G_N_ELEMENTS (((const double[]) { __VA_ARGS__ }))
#define NO_DIMS NULL, 0

#define POW2(n) (G_GINT64_CONSTANT (1) << (n))

static inline gboolean
continues_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

/* Checks if a value stands there as a whole: neither 12 in 128, -12, 0.12 or 12.5, nor int8 in
 * uint8. */
static inline gboolean
stands_apart (const char *message,
              const char *at,
              gsize       length)
{
  const char *after = at + length;

  if (at > message && continues_word (at[0]) && continues_word (at[-1]))
    return FALSE;
  if (at > message && g_ascii_isdigit (at[0])
      && ((at[-1] == '-' && (at - 1 == message || !continues_word (at[-2])))
          || (at[-1] == '.' && at - 1 > message && g_ascii_isdigit (at[-2]))))
    return FALSE;
  if (continues_word (after[-1]) && continues_word (after[0]))
    return FALSE;
  return !(g_ascii_isdigit (after[-1]) && after[0] == '.' && g_ascii_isdigit (after[1]));
}

static inline gboolean
says_value (const char *message,
            const char *value)
{
  for (const char *at = strstr (message, value); at != NULL; at = strstr (at + 1, value))
    if (stands_apart (message, at, strlen (value)))
      return TRUE;
  return FALSE;
}

/* Checks that a message says all of the values and names, "65 & 64", in any order and words. */
#define assert_says(message, values) \
  G_STMT_START \
    { \
      g_auto (GStrv) each_ = g_strsplit ((values), " & ", -1); \
      for (gsize i_ = 0; each_[i_] != NULL; i_++) \
        if (!says_value ((message), each_[i_])) \
          g_error ("%s:%d: “%s” does not say %s", __FILE__, __LINE__, (message), each_[i_]); \
    } \
  G_STMT_END

/* The code, and the values that the message has to say; leaves no error behind. */
#define assert_failed_with(error, domain, error_code, values) \
  G_STMT_START \
    { \
      g_assert_error ((error), (domain), (int) (error_code)); \
      assert_says ((error)->message, (values)); \
      g_clear_error (&(error)); \
    } \
  G_STMT_END

#define assert_failed(error, error_code, values) \
  assert_failed_with (error, MTL_ERROR, error_code, values)

/* Checks that a getter returns the value of the read-only property of that name. */
#define assert_property(object, name, type, getter) \
  G_STMT_START \
    { \
      GParamSpec *spec_ = g_object_class_find_property (G_OBJECT_GET_CLASS (object), name); \
      type property_; \
      g_assert_nonnull (spec_); \
      g_assert_cmpint (spec_->flags & (G_PARAM_READWRITE | G_PARAM_CONSTRUCT), ==, \
                       G_PARAM_READABLE); \
      g_object_get (object, name, &property_, NULL); \
      g_assert_true (property_ == getter (object)); \
    } \
  G_STMT_END

/* Checks that a call returns no object, and why. */
#define assert_fails(call, error_code, values) \
  G_STMT_START \
    { \
      GError *error = NULL; \
      gpointer object_ = (call); \
      g_assert_null (object_); \
      assert_failed (error, error_code, values); \
    } \
  G_STMT_END

/* Checks that a call returns FALSE, and why. */
#define assert_refuses(call, error_code, values) \
  G_STMT_START \
    { \
      GError *error = NULL; \
      gboolean done_ = (call); \
      g_assert_false (done_); \
      assert_failed (error, error_code, values); \
    } \
  G_STMT_END

#define assert_dims(actual, n_actual, ...) \
  G_STMT_START \
    { \
      const gint64 expected_[] = { __VA_ARGS__ }; \
      g_assert_cmpmem ((actual), (n_actual) * sizeof (gint64), expected_, sizeof expected_); \
    } \
  G_STMT_END

#define assert_shape(layout, ...) \
  G_STMT_START \
    { \
      gsize n_; \
      const gint64 *dims_ = mtl_strided_layout_get_shape ((layout), &n_); \
      assert_dims (dims_, n_, __VA_ARGS__); \
    } \
  G_STMT_END

#define assert_strides(layout, ...) \
  G_STMT_START \
    { \
      gsize n_; \
      const gint64 *dims_ = mtl_strided_layout_get_strides ((layout), &n_); \
      assert_dims (dims_, n_, __VA_ARGS__); \
    } \
  G_STMT_END

#define assert_view_shape(view, ...) \
  G_STMT_START \
    { \
      gsize n_; \
      const gint64 *dims_ = mtl_strided_view_get_shape ((view), &n_); \
      assert_dims (dims_, n_, __VA_ARGS__); \
    } \
  G_STMT_END

#define assert_view_strides(view, ...) \
  G_STMT_START \
    { \
      gsize n_; \
      const gint64 *dims_ = mtl_strided_view_get_strides ((view), &n_); \
      assert_dims (dims_, n_, __VA_ARGS__); \
    } \
  G_STMT_END

/* All elements in C order, as doubles. */
#define assert_elements(view, ...) \
  G_STMT_START \
    { \
      const double expected_[] = { __VA_ARGS__ }; \
      GError *error_ = NULL; \
      MtlStridedView *doubles_ = mtl_strided_view_to_dtype ((view), MTL_DTYPE_FLOAT64, \
                                                            MTL_ORDER_C, NULL, &error_); \
      GBytes *bytes_; \
      g_assert_no_error (error_); \
      bytes_ = mtl_strided_view_dup_bytes (doubles_, NULL, &error_); \
      g_assert_no_error (error_); \
      g_assert_cmpmem (g_bytes_get_data (bytes_, NULL), g_bytes_get_size (bytes_), \
                       expected_, sizeof expected_); \
      g_bytes_unref (bytes_); \
      g_object_unref (doubles_); \
    } \
  G_STMT_END

/* Tests that are left out with device-memory.h. */
#ifndef TEST_DEVICE_MEMORY
#define add_host_test g_test_add_func
#define add_reachable_test g_test_add_func
#endif

static inline MtlBuffer *
new_buffer (MtlDevice      *device,
            gsize           size,
            MtlStorageMode  mode)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new (device, size, mode, &error);

  g_assert_no_error (error);
  return buffer;
}

static inline MtlStridedView *
zeros_on (MtlDevice    *device,
          MtlDType      dtype,
          const gint64 *shape,
          gsize         n_dims)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_zeros (device, dtype, shape, n_dims,
                                                     MTL_STORAGE_MODE_DEFAULT, &error);

  g_assert_no_error (error);
  return view;
}

/* Makes zeros in the default device's memory. */
static inline MtlStridedView *
new_zeros (MtlDType      dtype,
           const gint64 *shape,
           gsize         n_dims)
{
  return zeros_on (NULL, dtype, shape, n_dims);
}

static inline MtlStridedView *
host_zeros (MtlDType      dtype,
            const gint64 *shape,
            gsize         n_dims)
{
  return zeros_on (mtl_device_get_host (), dtype, shape, n_dims);
}

static inline MtlStridedView *
from_doubles (MtlDType      dtype,
              const gint64 *shape,
              gsize         n_dims,
              const double *values,
              gsize         n_values)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_from_doubles (values, n_values, dtype, shape, n_dims,
                                                            &error);

  g_assert_no_error (error);
  return view;
}

/* A picture. One without channels has no third axis. */
static inline double
get_number_at (MtlStridedView *view,
               gint64          row,
               gint64          column,
               gint64          channel)
{
  g_autoptr (GError) error = NULL;
  const gint64 indices[] = { row, column, channel };
  const double value = mtl_strided_view_get_double (view, indices,
                                                    mtl_strided_view_get_n_dims (view), &error);

  g_assert_no_error (error);
  return value;
}

static inline void
set_number_at (MtlStridedView *view,
               gint64          row,
               gint64          column,
               gint64          channel,
               double          value)
{
  g_autoptr (GError) error = NULL;
  const gint64 indices[] = { row, column, channel };

  mtl_strided_view_set_double (view, indices, mtl_strided_view_get_n_dims (view), value, &error);
  g_assert_no_error (error);
}

/* 0, 1, 2, … */
static inline MtlStridedView *
new_bytes (gint64 n)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *values = g_new (double, n);
  MtlStridedView *view;

  for (gint64 i = 0; i < n; i++)
    values[i] = i;
  view = mtl_strided_view_new_from_doubles (values, n, MTL_DTYPE_UINT8, &n, 1, &error);
  g_assert_no_error (error);
  return view;
}

static inline MtlStridedView *
slice (MtlStridedView *view,
       const char     *string)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *part = mtl_strided_view_slice_string (view, string, &error);

  g_assert_no_error (error);
  return part;
}

static inline MtlStridedView *
reinterpret (MtlStridedView *view,
             MtlDType        dtype)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *other = mtl_strided_view_reinterpret (view, dtype, &error);

  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_dtype (other), ==, dtype);
  return other;
}

/* Counts calls as a GDestroyNotify. */
static inline void
count_call (gpointer counter)
{
  g_atomic_int_inc ((int *) counter);
}

/* A thread that did the work for an object may let go of it last. */
static inline void
await_end (GWeakRef *weak)
{
  GObject *object;

  while ((object = g_weak_ref_get (weak)) != NULL)
    {
      g_object_unref (object);
      g_thread_yield ();
    }
  g_weak_ref_clear (weak);
}

/* Reads an environment variable, which sets how much a test does. */
static inline guint64
get_number (const char *variable,
            guint64     usual)
{
  const char *value = g_getenv (variable);

  return value != NULL ? g_ascii_strtoull (value, NULL, 10) : usual;
}

/* A callback whose data are the address of a result that is NULL until then. */
static inline void
keep_result (GObject      *source,
             GAsyncResult *result,
             gpointer      taken)
{
  *(GAsyncResult **) taken = g_object_ref (result);
}

static inline GAsyncResult *
wait_for_kept (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (g_main_context_get_thread_default (), TRUE);

  return *result;
}
