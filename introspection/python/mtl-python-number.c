/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mtl-python-private.h"

#include <string.h>

/* Returns the lanes of a vector as a list. */
static PyObject *
list_lanes (MtlStridedView *view,
            const gint64   *indices,
            gsize           n_indices)
{
  PyObject *list = PyList_New (mtl_strided_view_get_lanes (view));
  gint64 with_lane[MAX_DIMS + 1];

  memcpy (with_lane, indices, n_indices * sizeof (gint64));
  for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE (list); i++)
    {
      PyObject *number;

      with_lane[n_indices] = i;
      number = number_get (view, with_lane, n_indices + 1);
      if (number == NULL)
        Py_CLEAR (list);
      else
        PyList_SET_ITEM (list, i, number);
    }

  return list;
}

PyObject *
number_get (MtlStridedView *view,
            const gint64   *indices,
            gsize           n_indices)
{
  GError *error = NULL;
  PyObject *result;

  if (mtl_strided_view_get_lanes (view) != 1
      && n_indices == mtl_strided_view_get_n_dims (view))
    return list_lanes (view, indices, n_indices);

  switch ((int) mtl_strided_view_get_dtype (view))
    {
    case MTL_DTYPE_BOOL:
      result = PyBool_FromLong (mtl_strided_view_get_int64 (view, indices, n_indices, &error));
      break;
    case MTL_DTYPE_INT8:
    case MTL_DTYPE_INT16:
    case MTL_DTYPE_INT32:
    case MTL_DTYPE_INT64:
    case MTL_DTYPE_UINT8:
    case MTL_DTYPE_UINT16:
    case MTL_DTYPE_UINT32:
      result = PyLong_FromLongLong (mtl_strided_view_get_int64 (view, indices, n_indices,
                                                                &error));
      break;
    case MTL_DTYPE_UINT64:
      result = PyLong_FromUnsignedLongLong (mtl_strided_view_get_uint64 (view, indices, n_indices,
                                                                         &error));
      break;
    case MTL_DTYPE_COMPLEX32:
    case MTL_DTYPE_COMPLEX64:
    case MTL_DTYPE_COMPLEX128:
      {
        Py_complex value = { 0, 0 };

        mtl_strided_view_get_complex (view, indices, n_indices, &value.real, &value.imag, &error);
        result = PyComplex_FromCComplex (value);
        break;
      }
    default:
      result = PyFloat_FromDouble (mtl_strided_view_get_double (view, indices, n_indices, &error));
    }

  if (error == NULL)
    return result;

  Py_XDECREF (result);
  return raise_error (error, CALLER);
}

/* NumPy's scalars are neither int nor float. Its arrays have all methods of
 * numbers, but also a length. */
gboolean
is_number (PyObject *object)
{
  if (PyLong_Check (object) || PyFloat_Check (object) || PyComplex_Check (object))
    return TRUE;

  return PyNumber_Check (object)
         && !PyObject_HasAttrString ((PyObject *) Py_TYPE (object), "__len__");
}

static int
set_integer (MtlStridedView  *view,
             const gint64    *indices,
             gsize            n_indices,
             PyObject        *value,
             GError         **error)
{
  PyObject *integer = PyNumber_Index (value);
  int overflow;
  gint64 narrow;
  guint64 wide = 0;

  if (integer == NULL)
    return -1;

  narrow = PyLong_AsLongLongAndOverflow (integer, &overflow);
  if (overflow > 0)
    wide = PyLong_AsUnsignedLongLong (integer);
  Py_DECREF (integer);

  if (overflow < 0 || (overflow > 0 && PyErr_Occurred () != NULL))
    {
      PyErr_Format (PyExc_ValueError, "The integer %R does not fit 64 bits", value);
      return -1;
    }

  if (overflow > 0)
    mtl_strided_view_set_uint64 (view, indices, n_indices, wide, error);
  else
    mtl_strided_view_set_int64 (view, indices, n_indices, narrow, error);

  return 0;
}

static gboolean
is_complex_dtype (MtlStridedView *view)
{
  return mtl_strided_view_get_dtype_code (view) == 5;
}

int
number_set (MtlStridedView *view,
            const gint64   *indices,
            gsize           n_indices,
            PyObject       *value)
{
  GError *error = NULL;

  if (PyIndex_Check (value))
    {
      if (set_integer (view, indices, n_indices, value, &error) < 0)
        return -1;
    }
  else if (is_complex_dtype (view))
    {
      Py_complex number = PyComplex_AsCComplex (value);

      if (number.real == -1.0 && PyErr_Occurred () != NULL)
        return -1;
      mtl_strided_view_set_complex (view, indices, n_indices, number.real, number.imag, &error);
    }
  else
    {
      double number = PyFloat_AsDouble (value);

      if (number == -1.0 && PyErr_Occurred () != NULL)
        return -1;
      mtl_strided_view_set_double (view, indices, n_indices, number, &error);
    }

  return error == NULL ? 0 : raise_error_int (error, CALLER);
}
