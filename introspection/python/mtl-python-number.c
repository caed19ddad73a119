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

/* Waits for queued work that may still write to the elements. Other threads run meanwhile, as the
 * work may call them. */
int
await_work (MtlStridedView *view)
{
  GError *error = NULL;

  if (G_LIKELY (!mtl_strided_view_has_work (view)))
    return 0;

  /* With another reference, no thread can close the view until the caller has used it. */
  g_object_ref (view);
  Py_BEGIN_ALLOW_THREADS
  mtl_strided_view_await_work (view, &error);
  Py_END_ALLOW_THREADS
  g_object_unref (view);
  return error == NULL ? 0 : raise_error_int (error, CALLER);
}

PyObject *
number_get (MtlStridedView *view,
            const gint64   *indices,
            gsize           n_indices)
{
  GError *error = NULL;
  PyObject *result;

  if (await_work (view) < 0)
    return NULL;

  if (mtl_strided_view_get_lanes (view) != 1
      && n_indices == mtl_strided_view_get_n_dims (view))
    return list_lanes (view, indices, n_indices);

  switch (mtl_dtype_get_kind (mtl_strided_view_get_dtype (view)))
    {
    case MTL_DTYPE_KIND_BOOL:
      result = PyBool_FromLong (mtl_strided_view_get_int64 (view, indices, n_indices, &error));
      break;
    case MTL_DTYPE_KIND_INT:
      result = PyLong_FromLongLong (mtl_strided_view_get_int64 (view, indices, n_indices,
                                                                &error));
      break;
    case MTL_DTYPE_KIND_UINT:
      result = PyLong_FromUnsignedLongLong (mtl_strided_view_get_uint64 (view, indices, n_indices,
                                                                         &error));
      break;
    case MTL_DTYPE_KIND_COMPLEX:
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

/* The abstract classes of Python's module numbers, and names of methods. */
static struct
{
  PyObject *number;
  PyObject *complex;
  PyObject *real;
  PyObject *complex_method;
  PyObject *len_method;
} names;

int
prepare_numbers (void)
{
  PyObject *module = PyImport_ImportModule ("numbers");

  if (module == NULL)
    return -1;

  names.number = PyObject_GetAttrString (module, "Number");
  names.complex = PyObject_GetAttrString (module, "Complex");
  names.real = PyObject_GetAttrString (module, "Real");
  names.complex_method = PyUnicode_InternFromString ("__complex__");
  names.len_method = PyUnicode_InternFromString ("__len__");
  Py_DECREF (module);
  return PyErr_Occurred () != NULL ? -1 : 0;
}

/* NumPy's scalars are neither int nor float. Its arrays have all methods of numbers,
 * but also a length. */
gboolean
is_number (PyObject *object)
{
  if (PyLong_Check (object) || PyFloat_Check (object) || PyComplex_Check (object))
    return TRUE;

  return (PyNumber_Check (object) || type_has (object, names.complex_method))
         && !type_has (object, names.len_method);
}

/* NumPy's bool is not an int, and NumPy may not be installed. */
gboolean
is_truth_value (PyObject *object)
{
  const char *name = Py_TYPE (object)->tp_name;

  return PyBool_Check (object) || g_str_equal (name, "numpy.bool_")
         || g_str_equal (name, "numpy.bool");
}

/* The classes of ml_dtypes are not registered with numbers. Returns -1 on error. */
static int
is_of_ml_dtypes (PyObject *object)
{
  PyObject *module = PyObject_GetAttrString ((PyObject *) Py_TYPE (object), "__module__");
  int status;

  if (module == NULL && PyErr_ExceptionMatches (PyExc_AttributeError))
    {
      PyErr_Clear ();
      return FALSE;
    }
  if (module == NULL)
    return -1;

  status = PyUnicode_Check (module)
           && PyUnicode_CompareWithASCIIString (module, "ml_dtypes") == 0
           && is_number (object);
  Py_DECREF (module);
  return status;
}

/* NumPy's complex numbers would become real ones with no more than a warning. Returns
 * FALSE for a real number, and -1 on error. */
static int
is_complex (PyObject *object)
{
  int is_complex, is_real;

  if (PyComplex_Check (object))
    return TRUE;
  if (!type_has (object, names.complex_method))
    return FALSE;

  is_complex = PyObject_IsInstance (object, names.complex);
  if (is_complex < 0)
    return -1;
  if (!is_complex)
    return is_of_ml_dtypes (object);

  is_real = PyObject_IsInstance (object, names.real);
  return is_real < 0 ? -1 : !is_real;
}

int
refuse_item (PyObject *object)
{
  PyErr_Format (PyExc_TypeError, "nested sequences must hold numbers, not %.100s",
                Py_TYPE (object)->tp_name);
  return -1;
}

/* The integers of ml_dtypes have no __index__(). */
static gboolean
is_integer (PyObject *object)
{
  const char *name = Py_TYPE (object)->tp_name;
  const char *dot = strrchr (name, '.');

  name = dot != NULL ? dot + 1 : name;
  return PyIndex_Check (object) || g_str_has_prefix (name, "int")
         || g_str_has_prefix (name, "uint");
}

/* Unlike for is_number(), an object has to be known as a number. */
int
number_rank (PyObject   *object,
             NumberRank *rank)
{
  int status;

  if (is_truth_value (object))
    *rank = NUMBER_RANK_BOOL;
  else if (PyLong_Check (object))
    *rank = NUMBER_RANK_INTEGER;
  else if (PyFloat_Check (object))
    *rank = NUMBER_RANK_REAL;
  else
    {
      status = PyObject_IsInstance (object, names.number);
      if (status == 0)
        status = is_of_ml_dtypes (object);
      if (status <= 0)
        return status < 0 ? -1 : refuse_item (object);

      status = is_complex (object);
      if (status < 0)
        return -1;

      *rank = status > 0           ? NUMBER_RANK_COMPLEX
              : is_integer (object) ? NUMBER_RANK_INTEGER
                                    : NUMBER_RANK_REAL;
    }

  return 0;
}

static gboolean
has_code (MtlStridedView *view,
          guint           code)
{
  DLTensor tensor;

  mtl_strided_view_describe (view, &tensor);
  return tensor.dtype.code == code;
}

static gboolean
has_integers (MtlStridedView *view)
{
  return has_code (view, kDLInt) || has_code (view, kDLUInt);
}

static int
refuse_number (MtlStridedView *view,
               PyObject       *value)
{
  g_autofree char *digits = dup_digits (value);
  g_autofree char *name = mtl_dtype_to_string (mtl_strided_view_get_dtype (view));

  return raise_error_int (g_error_new (MTL_ERROR, MTL_ERROR_OVERFLOW,
                                       "The value %s does not fit %s", digits, name),
                          CALLER);
}

/* Python's own conversions raise an OverflowError. */
static int
refuse_if_overflow (MtlStridedView *view,
                    PyObject       *value)
{
  if (!PyErr_ExceptionMatches (PyExc_OverflowError))
    return -1;

  PyErr_Clear ();
  return refuse_number (view, value);
}

static int
set_float (MtlStridedView  *view,
           const gint64    *indices,
           gsize            n_indices,
           PyObject        *value,
           GError         **error)
{
  double number = PyFloat_AsDouble (value);

  if (number == -1.0 && PyErr_Occurred () != NULL)
    return refuse_if_overflow (view, value);

  mtl_strided_view_set_double (view, indices, n_indices, number, error);
  return 0;
}

/* Takes an exact int. */
static int
set_long (MtlStridedView  *view,
          const gint64    *indices,
          gsize            n_indices,
          PyObject        *integer,
          GError         **error)
{
  int overflow;
  gint64 narrow = PyLong_AsLongLongAndOverflow (integer, &overflow);
  guint64 wide;

  if (overflow == 0)
    {
      mtl_strided_view_set_int64 (view, indices, n_indices, narrow, error);
      return 0;
    }

  wide = PyLong_AsUnsignedLongLong (integer);
  if (PyErr_Occurred () == NULL)
    {
      mtl_strided_view_set_uint64 (view, indices, n_indices, wide, error);
      return 0;
    }

  PyErr_Clear ();
  return has_integers (view) ? refuse_number (view, integer)
                             : set_float (view, indices, n_indices, integer, error);
}

/* Takes the integer, NULL for a pending exception. */
static int
set_integer (MtlStridedView  *view,
             const gint64    *indices,
             gsize            n_indices,
             PyObject        *integer,
             GError         **error)
{
  int status;

  if (integer == NULL)
    return -1;

  status = set_long (view, indices, n_indices, integer, error);
  Py_DECREF (integer);
  return status;
}

/* A class may have the name of NumPy's bool, and fail. */
static int
set_truth_value (MtlStridedView  *view,
                 const gint64    *indices,
                 gsize            n_indices,
                 PyObject        *value,
                 GError         **error)
{
  int truth = PyObject_IsTrue (value);

  if (truth < 0)
    return -1;

  mtl_strided_view_set_int64 (view, indices, n_indices, truth, error);
  return 0;
}

static int
set_complex (MtlStridedView  *view,
             const gint64    *indices,
             gsize            n_indices,
             PyObject        *value,
             GError         **error)
{
  Py_complex number = PyComplex_AsCComplex (value);

  if (number.real == -1.0 && PyErr_Occurred () != NULL)
    return refuse_if_overflow (view, value);

  mtl_strided_view_set_complex (view, indices, n_indices, number.real, number.imag, error);
  return 0;
}

/* Converts a number of neither of Python's types: a Fraction, a Decimal, NumPy's. A
 * double may not be able to hold its integer part. */
static int
set_other (MtlStridedView  *view,
           const gint64    *indices,
           gsize            n_indices,
           PyObject        *value,
           GError         **error)
{
  PyNumberMethods *methods = Py_TYPE (value)->tp_as_number;
  PyObject *integer;
  int status = is_complex (value);

  if (status > 0)
    PyErr_Format (PyExc_TypeError, "must be real number, not %.100s", Py_TYPE (value)->tp_name);
  if (status != 0)
    return -1;

  if (!has_integers (view) || methods == NULL || methods->nb_int == NULL)
    return set_float (view, indices, n_indices, value, error);

  integer = PyNumber_Long (value);
  return integer != NULL ? set_integer (view, indices, n_indices, integer, error)
                         : refuse_if_overflow (view, value);
}

int
number_set (MtlStridedView *view,
            const gint64   *indices,
            gsize           n_indices,
            PyObject       *value)
{
  GError *error = NULL;
  int status;

  if (await_work (view) < 0)
    return -1;

  if (PyLong_CheckExact (value))
    status = set_long (view, indices, n_indices, value, &error);
  else if (is_truth_value (value))
    status = set_truth_value (view, indices, n_indices, value, &error);
  else if (PyIndex_Check (value))
    status = set_integer (view, indices, n_indices, PyNumber_Index (value), &error);
  else if (has_code (view, kDLComplex))
    status = set_complex (view, indices, n_indices, value, &error);
  else if (PyFloat_Check (value))
    status = set_float (view, indices, n_indices, value, &error);
  else
    status = set_other (view, indices, n_indices, value, &error);

  if (error != NULL)
    return raise_error_int (error, CALLER);

  return status;
}
