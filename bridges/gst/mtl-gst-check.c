/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gst-check-private.h"

#include "mtl-message-text-private.h"

gboolean
mtl_gst_check_elements (MtlStridedView  *view,
                        MtlDType         dtype,
                        GError         **error)
{
  const MtlDType actual = mtl_strided_view_get_dtype (view);
  const guint lanes = mtl_strided_view_get_lanes (view);
  g_autofree char *actual_name = NULL;
  g_autofree char *name = NULL;

  if (actual == dtype && lanes == 1)
    return TRUE;

  actual_name = mtl_dtype_to_string (actual);
  name = mtl_dtype_to_string (dtype);
  if (lanes != 1)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "the elements have to be %s with 1 lane, not %u", name, lanes);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "the elements have to be %s, not %s: convert them, or choose another format",
                 name, actual_name);
  return FALSE;
}

gboolean
mtl_gst_check_shape (MtlStridedView  *view,
                     const gint64    *shape,
                     gsize            n_dims,
                     GError         **error)
{
  g_autofree char *actual_string = NULL;
  g_autofree char *string = NULL;
  const gint64 *actual;
  gsize n_actual;

  actual = mtl_strided_view_get_shape (view, &n_actual);
  if (n_actual == n_dims && memcmp (actual, shape, n_dims * sizeof *shape) == 0)
    return TRUE;

  string = mtl_dims_to_string (shape, n_dims);
  actual_string = mtl_dims_to_string (actual, n_actual);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "the shape has to be %s, not %s", string, actual_string);
  return FALSE;
}

gboolean
mtl_gst_check_not_empty (MtlStridedView  *view,
                         GError         **error)
{
  g_autofree char *string = NULL;
  const gint64 *shape;
  gsize n_dims;

  if (!mtl_strided_view_is_empty (view))
    return TRUE;

  shape = mtl_strided_view_get_shape (view, &n_dims);
  string = mtl_dims_to_string (shape, n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "the shape %s has no elements; a buffer needs at least 1", string);
  return FALSE;
}

gboolean
mtl_gst_check_reachable (MtlStridedView  *view,
                         GError         **error)
{
  if (mtl_strided_view_is_host_accessible (view))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
               "the host cannot access memory of “%s”: copy it to the host",
               mtl_device_get_name (mtl_strided_view_get_device (view)));
  return FALSE;
}
