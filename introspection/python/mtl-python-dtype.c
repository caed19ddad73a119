/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Element types, as Python has them: members of Mtl.DType, names, NumPy's types and Python's. */

#include "mtl-python-private.h"

#include <string.h>

/* Python's number types, as in Mtl.asview(). */
static gboolean
dtype_from_python_type (PyObject *object,
                        MtlDType *dtype)
{
  const struct { PyTypeObject *type; MtlDType dtype; } known[] = {
    { &PyBool_Type, MTL_DTYPE_BOOL },
    { &PyLong_Type, MTL_DTYPE_INT64 },
    { &PyFloat_Type, MTL_DTYPE_FLOAT64 },
    { &PyComplex_Type, MTL_DTYPE_COMPLEX128 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (object == (PyObject *) known[i].type)
      {
        *dtype = known[i].dtype;
        return TRUE;
      }

  return FALSE;
}

/* PyTorch's and MLX's types have no name but their printed form, with the name of their
 * module. */
static PyObject *
name_from_text (PyObject *object)
{
  static const char mlx[] = "mlx.core.";
  PyObject *text = PyObject_Str (object);
  const char *name = text != NULL ? PyUnicode_AsUTF8 (text) : NULL;
  PyObject *result = NULL;

  if (name != NULL && g_str_has_prefix (name, "torch."))
    {
      Py_INCREF (text);
      result = text;
    }
  else if (name != NULL && g_str_has_prefix (name, mlx))
    result = PyUnicode_FromString (name + strlen (mlx));
  else if (name != NULL)
    PyErr_Format (PyExc_TypeError, "%.100s is not an element type or the name of one",
                  Py_TYPE (object)->tp_name);

  Py_XDECREF (text);
  return result;
}

/* Returns NULL without an exception if there is no such attribute, or if it is no text. */
static PyObject *
get_text (PyObject   *object,
          const char *name)
{
  PyObject *text = PyObject_GetAttrString (object, name);

  if (text == NULL && PyErr_ExceptionMatches (PyExc_AttributeError))
    PyErr_Clear ();
  if (text != NULL && !PyUnicode_Check (text))
    Py_CLEAR (text);

  return text;
}

/* Checks for a type of NumPy's whose bytes are in the order of other machines, as its name does
 * not say so. */
static gboolean
is_foreign (PyObject *object)
{
  PyObject *is_native = PyObject_GetAttrString (object, "isnative");
  gboolean foreign = is_native == Py_False;

  PyErr_Clear ();
  Py_XDECREF (is_native);
  return foreign;
}

static PyObject *
name_of_dtype (PyObject *object)
{
  PyObject *name;

  if (PyUnicode_Check (object))
    {
      Py_INCREF (object);
      return object;
    }

  if (PyType_Check (object))
    return PyObject_GetAttrString (object, "__name__");

  name = get_text (object, is_foreign (object) ? "str" : "name");
  return name != NULL || PyErr_Occurred () != NULL ? name : name_from_text (object);
}

int
dtype_from_object (PyObject *object,
                   MtlDType *dtype)
{
  GError *error = NULL;
  PyObject *name;
  const char *text;
  Py_ssize_t size;
  unsigned int number;

  if (PyIndex_Check (object))
    {
      if (uint_from_object (object, &number) < 0)
        return -1;
      *dtype = number;
      return 0;
    }

  if (dtype_from_python_type (object, dtype))
    return 0;

  name = name_of_dtype (object);
  text = name != NULL ? PyUnicode_AsUTF8AndSize (name, &size) : NULL;
  if (text != NULL && strlen (text) != (gsize) size)
    {
      PyErr_Format (PyExc_ValueError, "%R is not the name of an element type", name);
      text = NULL;
    }
  if (text != NULL)
    *dtype = mtl_dtype_from_string (text, &error);
  Py_XDECREF (name);
  if (error != NULL)
    return raise_error_int (error, CALLER);
  return text != NULL ? 0 : -1;
}

/* The number of the type. */
PyObject *
module_dtype_from (PyObject *module,
                   PyObject *object)
{
  MtlDType dtype;

  return dtype_from_object (object, &dtype) == 0 ? PyLong_FromUnsignedLong (dtype) : NULL;
}

/* Numbers are compared as such. An object that is not a type may know more about the
 * comparison itself. */
static PyObject *
dtype_compare (PyObject *self,
               PyObject *other,
               int       op)
{
  unsigned long number;
  MtlDType dtype;

  if (PyLong_Check (other) || !PyLong_Check (self) || (op != Py_EQ && op != Py_NE))
    return PyLong_Type.tp_richcompare (self, other, op);
  if (other == Py_None)
    Py_RETURN_NOTIMPLEMENTED;

  if (dtype_from_object (other, &dtype) < 0)
    {
      if (!PyErr_ExceptionMatches (PyExc_TypeError) && !PyErr_ExceptionMatches (PyExc_ValueError)
          && !PyErr_ExceptionMatches (PyExc_NotImplementedError))
        return NULL;
      PyErr_Clear ();
      Py_RETURN_NOTIMPLEMENTED;
    }

  number = PyLong_AsUnsignedLong (self);
  if (PyErr_Occurred () != NULL)
    return NULL;

  return PyBool_FromLong ((number == (unsigned long) dtype) == (op == Py_EQ));
}

PyObject *
module_install_dtype (PyObject *module,
                      PyObject *object)
{
  PyTypeObject *type = (PyTypeObject *) object;

  if (!PyType_Check (object) || !PyType_IsSubtype (type, &PyLong_Type))
    {
      PyErr_SetString (PyExc_TypeError, "install_dtype() takes the class of element types");
      return NULL;
    }

  if (install_slot (type, &PyByteArray_Type, "__eq__", dtype_compare) < 0
      || install_slot (type, &PyByteArray_Type, "__ne__", dtype_compare) < 0)
    return NULL;

  type->tp_richcompare = dtype_compare; /* skips the slot that looks up the methods */
  PyType_Modified (type);
  Py_RETURN_NONE;
}
