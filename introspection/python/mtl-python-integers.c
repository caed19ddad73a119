/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Integers and element types for functions that PyGObject calls. By itself it would
 * truncate floats, drop the exceptions of __index__(), and crash on an integer that is
 * too long to print. */

#include "mtl-python-private.h"

/* Kinds of arguments, as _mtl_errors.py names them. A list has the letter in
 * upper case. */
#define KIND_AXIS 'a'   /* a list, or one integer for a list of it */
#define KIND_INDEX 'x'
#define KIND_SHAPE 's'  /* a list, or one integer for a list of it */
#define KIND_DTYPE 'd'
#define KIND_MEMBER 'e' /* a member of an enumeration */
#define KIND_INT 'i'
#define KIND_UINT 'u'
#define KIND_INT64 'l'
#define KIND_UINT64 'm'

/* Returns -1 with an exception if the integer is out of range. */
static int
check_value (PyObject *integer,
             char      kind)
{
  unsigned int u;
  guint64 u64;
  gint64 i64;
  int i;

  switch (kind)
    {
    case KIND_AXIS:
      return axis_from_object (integer, &i);
    case KIND_INDEX:
      return int64_from_object (integer, &i64, PyExc_IndexError);
    case KIND_INT:
      return int_from_object (integer, &i);
    case KIND_UINT:
      return uint_from_object (integer, &u);
    case KIND_INT64:
    case KIND_SHAPE:
      return int64_from_object (integer, &i64, PyExc_ValueError);
    case KIND_UINT64:
      return uint64_from_object (integer, &u64);
    default:
      return 0;
    }
}

static PyObject *
checked_integer (PyObject *object,
                 char      kind)
{
  PyObject *integer;

  if (kind == KIND_DTYPE)
    return module_dtype_from (NULL, object);

  if (!PyIndex_Check (object))
    {
      PyErr_Format (PyExc_TypeError, "%.100s is not an integer", Py_TYPE (object)->tp_name);
      return NULL;
    }

  if (kind == KIND_MEMBER) /* PyGObject knows the members */
    {
      Py_INCREF (object);
      return object;
    }

  integer = PyNumber_Index (object);
  if (integer != NULL && check_value (integer, kind) < 0)
    Py_CLEAR (integer);

  return integer;
}

static PyObject *
checked_list (PyObject *sequence,
              char      kind)
{
  PyObject *list = PySequence_List (sequence);

  for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE (list); i++)
    {
      PyObject *integer = checked_integer (PyList_GET_ITEM (list, i), kind);

      if (integer == NULL)
        Py_CLEAR (list);
      else
        PyList_SetItem (list, i, integer);
    }

  return list;
}

static PyObject *
list_of_one (PyObject *object,
             char      kind)
{
  PyObject *integer = checked_integer (object, kind);
  PyObject *list = integer != NULL ? PyList_New (1) : NULL;

  if (list != NULL)
    PyList_SET_ITEM (list, 0, integer);
  else
    Py_XDECREF (integer);

  return list;
}

/* PyGObject reports what other objects lack. */
static PyObject *
checked_argument (PyObject *argument,
                  char      kind)
{
  if ((kind == g_ascii_toupper (KIND_SHAPE) || kind == g_ascii_toupper (KIND_AXIS))
      && PyIndex_Check (argument) && !PySequence_Check (argument))
    return list_of_one (argument, g_ascii_tolower (kind));
  if (g_ascii_islower (kind) && argument != Py_None)
    return checked_integer (argument, kind);
  if (g_ascii_isupper (kind) && PySequence_Check (argument))
    return checked_list (argument, g_ascii_tolower (kind));

  Py_INCREF (argument);
  return argument;
}

/* Says in the exception for a wrong type which argument has it. Subclasses are not the
 * library's, and may need other arguments. */
static void
name_argument (PyObject  *names,
               Py_ssize_t i)
{
  PyObject *type, *value, *traceback;

  if (PyErr_Occurred () != PyExc_TypeError || i >= PyTuple_GET_SIZE (names))
    return;

  PyErr_Fetch (&type, &value, &traceback);
  PyErr_NormalizeException (&type, &value, &traceback);
  PyErr_Format (type, "argument %U: %S", PyTuple_GET_ITEM (names, i), value);
  Py_XDECREF (type);
  Py_XDECREF (value);
  Py_XDECREF (traceback);
}

/* Returns the arguments with integers as exact ints, and element types as numbers. */
PyObject *
module_check_arguments (PyObject        *module,
                        PyObject *const *args,
                        Py_ssize_t       n_args)
{
  PyObject *checked;
  const char *kinds;
  Py_ssize_t n_kinds;

  if (n_args != 3 || !PyTuple_Check (args[0]) || !PyBytes_Check (args[1])
      || !PyTuple_Check (args[2]))
    {
      PyErr_SetString (PyExc_TypeError,
                       "check_arguments() takes the arguments, their kinds and their names");
      return NULL;
    }

  kinds = PyBytes_AS_STRING (args[1]);
  n_kinds = PyBytes_GET_SIZE (args[1]);
  checked = PyTuple_New (PyTuple_GET_SIZE (args[0]));
  for (Py_ssize_t i = 0; checked != NULL && i < PyTuple_GET_SIZE (args[0]); i++)
    {
      PyObject *argument = checked_argument (PyTuple_GET_ITEM (args[0], i),
                                             i < n_kinds ? kinds[i] : ' ');

      if (argument == NULL)
        {
          name_argument (args[2], i);
          Py_CLEAR (checked);
        }
      else
        PyTuple_SET_ITEM (checked, i, argument);
    }

  return checked;
}
