/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments: integers and sequences of them, positional or by keyword. */

#include "mtl-python-private.h"

int
int64_from_object (PyObject *object,
                   gint64   *value,
                   PyObject *exception)
{
  Py_ssize_t number;
  int overflow;

  if (G_LIKELY (PyLong_CheckExact (object)))
    {
      *value = PyLong_AsLongLongAndOverflow (object, &overflow);
      if (overflow == 0)
        return 0;
    }

  if (!PyIndex_Check (object))
    {
      PyErr_Format (PyExc_TypeError, "%.100s is not an integer", Py_TYPE (object)->tp_name);
      return -1;
    }

  number = PyNumber_AsSsize_t (object, exception);
  if (number == -1 && PyErr_Occurred () != NULL)
    return -1;

  *value = number;
  return 0;
}

int
uint_from_object (PyObject     *object,
                  unsigned int *value)
{
  gint64 number;

  if (int64_from_object (object, &number, PyExc_ValueError) < 0)
    return -1;

  if (number < 0 || number > G_MAXUINT)
    {
      PyErr_Format (PyExc_ValueError, "%lld is not in the range of 0 to %u", (long long) number,
                    G_MAXUINT);
      return -1;
    }

  *value = number;
  return 0;
}

/* A valid axis or order is never outside these limits. */
static int
clamp_to_int (gint64 number)
{
  return CLAMP (number, G_MININT, G_MAXINT);
}

int
int_from_object (PyObject *object,
                 int      *value)
{
  gint64 number;

  if (int64_from_object (object, &number, PyExc_ValueError) < 0)
    return -1;

  *value = clamp_to_int (number);
  return 0;
}

/* Accepts (2, 3), [2, 3] or 2, 3. */
Py_ssize_t
ints_from_args (PyObject *const *args,
                Py_ssize_t       n_args,
                gint64          *values,
                const char      *what)
{
  PyObject *sequence = NULL;

  if (n_args == 1 && !PyLong_Check (args[0])
      && (PySequence_Check (args[0]) || !PyIndex_Check (args[0])))
    {
      sequence = PySequence_Tuple (args[0]); /* a list may change while it is read */
      if (sequence == NULL)
        return -1;
      args = &PyTuple_GET_ITEM (sequence, 0);
      n_args = PyTuple_GET_SIZE (sequence);
    }

  if (n_args > MAX_DIMS)
    {
      raise_error (g_error_new (MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                                "%zd %s are too many: at most %d are allowed", n_args, what,
                                MAX_DIMS),
                   CALLER);
      n_args = -1;
    }

  for (Py_ssize_t i = 0; i < n_args; i++)
    if (int64_from_object (args[i], &values[i], PyExc_ValueError) < 0)
      n_args = -1;

  Py_XDECREF (sequence);
  return n_args;
}

Py_ssize_t
axes_from_args (PyObject *const *args,
                Py_ssize_t       n_args,
                int             *axes)
{
  gint64 values[MAX_DIMS];
  Py_ssize_t n = ints_from_args (args, n_args, values, "axes");

  for (Py_ssize_t i = 0; i < n; i++)
    axes[i] = clamp_to_int (values[i]);

  return n;
}

/* Parses (type, ordinal) or (major, minor). Anything but a pair is a
 * TypeError. */
int
parse_pair (PyObject   *object,
            const char *what,
            int        *first,
            int        *second)
{
  long a, b;

  if (!PyTuple_Check (object) || PyTuple_GET_SIZE (object) != 2)
    {
      PyErr_Format (PyExc_TypeError, "%s must be a tuple of two integers, not %R", what, object);
      return -1;
    }

  a = PyLong_AsLong (PyTuple_GET_ITEM (object, 0));
  if (a == -1 && PyErr_Occurred () != NULL)
    return -1;

  b = PyLong_AsLong (PyTuple_GET_ITEM (object, 1));
  if (b == -1 && PyErr_Occurred () != NULL)
    return -1;

  *first = CLAMP (a, G_MININT, G_MAXINT);
  *second = CLAMP (b, G_MININT, G_MAXINT);
  return 0;
}

static int
find_argument (const Signature *signature,
               PyObject        *name)
{
  for (int i = 0; i < signature->n_names; i++)
    if (PyUnicode_CompareWithASCIIString (name, signature->names[i]) == 0)
      return i;

  return -1;
}

static int
add_keyword (const Signature  *signature,
             PyObject         *name,
             PyObject         *value,
             PyObject        **values)
{
  int i = find_argument (signature, name);

  if (i < 0)
    {
      PyErr_Format (PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                    signature->function, name);
      return -1;
    }

  if (values[i] != NULL)
    {
      PyErr_Format (PyExc_TypeError, "%s() got multiple values for argument '%s'",
                    signature->function, signature->names[i]);
      return -1;
    }

  values[i] = value;
  return 0;
}

static int
add_places (const Signature  *signature,
            PyObject *const  *args,
            Py_ssize_t        n_args,
            PyObject        **values)
{
  if (n_args > signature->n_names)
    {
      PyErr_Format (PyExc_TypeError, "%s() takes at most %d arguments (%zd given)",
                    signature->function, signature->n_names, n_args);
      return -1;
    }

  for (int i = 0; i < signature->n_names; i++)
    values[i] = i < n_args ? args[i] : NULL;

  return 0;
}

static int
check_needed (const Signature  *signature,
              PyObject        **values)
{
  for (int i = 0; i < signature->n_needed; i++)
    if (values[i] == NULL)
      {
        PyErr_Format (PyExc_TypeError, "%s() missing required argument '%s'", signature->function,
                      signature->names[i]);
        return -1;
      }

  return 0;
}

/* Takes a fraction of the time of PyArg_ParseTupleAndKeywords(). */
int
parse_arguments (const Signature  *signature,
                 PyObject *const  *args,
                 Py_ssize_t        n_args,
                 PyObject         *names,
                 PyObject        **values)
{
  if (add_places (signature, args, n_args, values) < 0)
    return -1;

  for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE (names); i++)
    if (add_keyword (signature, PyTuple_GET_ITEM (names, i), args[n_args + i], values) < 0)
      return -1;

  return check_needed (signature, values);
}

/* The same for a constructor. */
int
parse_tuple_and_dict (const Signature  *signature,
                      PyObject         *args,
                      PyObject         *keywords,
                      PyObject        **values)
{
  PyObject *name, *value;
  Py_ssize_t place = 0;

  if (add_places (signature, &PyTuple_GET_ITEM (args, 0), PyTuple_GET_SIZE (args), values) < 0)
    return -1;

  while (keywords != NULL && PyDict_Next (keywords, &place, &name, &value))
    if (add_keyword (signature, name, value, values) < 0)
      return -1;

  return check_needed (signature, values);
}
