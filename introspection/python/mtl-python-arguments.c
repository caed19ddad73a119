/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments: integers and sequences of them, positional or by keyword. */

#include "mtl-python-private.h"

/* The digits of an integer, or of a pair, for a message. Python limits how many it prints. */
char *
dup_digits (PyObject *number)
{
  PyObject *text = PyObject_Str (number);
  const char *digits = text != NULL ? PyUnicode_AsUTF8 (text) : NULL;
  char *copy = g_strdup (digits != NULL ? digits : "of thousands of digits");

  if (digits == NULL)
    PyErr_Clear ();
  Py_XDECREF (text);
  return copy;
}

static int
refuse_integer (PyObject *integer,
                PyObject *exception)
{
  g_autofree char *digits = dup_digits (integer);

  PyErr_Format (exception, "The integer %s does not fit 64 bits", digits);
  return -1;
}

/* Returns an exact int. */
static PyObject *
integer_from_object (PyObject *object)
{
  if (PyIndex_Check (object))
    return PyNumber_Index (object);

  PyErr_Format (PyExc_TypeError, "%.100s is not an integer", Py_TYPE (object)->tp_name);
  return NULL;
}

int
int64_from_object (PyObject *object,
                   gint64   *value,
                   PyObject *exception)
{
  PyObject *integer;
  int overflow;

  if (G_LIKELY (PyLong_CheckExact (object)))
    {
      *value = PyLong_AsLongLongAndOverflow (object, &overflow);
      return overflow == 0 ? 0 : refuse_integer (object, exception);
    }

  integer = integer_from_object (object);
  if (integer == NULL)
    return -1;

  *value = PyLong_AsLongLongAndOverflow (integer, &overflow);
  if (overflow != 0)
    refuse_integer (integer, exception);
  Py_DECREF (integer);
  return overflow == 0 ? 0 : -1;
}

static int
int64_within (PyObject *object,
              gint64    min,
              gint64    max,
              gint64   *value)
{
  if (int64_from_object (object, value, PyExc_ValueError) < 0)
    return -1;
  if (*value >= min && *value <= max)
    return 0;

  PyErr_Format (PyExc_ValueError, "%lld is not in the range of %lld to %lld", (long long) *value,
                (long long) min, (long long) max);
  return -1;
}

int
uint_from_object (PyObject     *object,
                  unsigned int *value)
{
  gint64 number;

  if (int64_within (object, 0, G_MAXUINT, &number) < 0)
    return -1;

  *value = number;
  return 0;
}

int
int_from_object (PyObject *object,
                 int      *value)
{
  gint64 number;

  if (int64_within (object, G_MININT, G_MAXINT, &number) < 0)
    return -1;

  *value = number;
  return 0;
}

int
uint64_from_object (PyObject *object,
                    guint64  *value)
{
  PyObject *integer = integer_from_object (object);

  if (integer == NULL)
    return -1;

  *value = PyLong_AsUnsignedLongLong (integer);
  if (*value == G_MAXUINT64 && PyErr_Occurred () != NULL)
    {
      g_autofree char *digits = NULL;

      PyErr_Clear ();
      digits = dup_digits (integer);
      PyErr_Format (PyExc_ValueError, "%s is not in the range of 0 to %llu", digits,
                    (unsigned long long) G_MAXUINT64);
      Py_DECREF (integer);
      return -1;
    }

  Py_DECREF (integer);
  return 0;
}

static gboolean
fits_int (gint64 number)
{
  return number >= G_MININT && number <= G_MAXINT;
}

static int
axis_from_int64 (gint64  number,
                 int    *axis)
{
  if (fits_int (number))
    {
      *axis = number;
      return 0;
    }

  return raise_error_int (g_error_new (MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                                       "Axis %" G_GINT64_FORMAT " is out of bounds: at most %d"
                                       " dimensions are allowed", number, MAX_DIMS),
                          CALLER);
}

int
axis_from_object (PyObject *object,
                  int      *axis)
{
  gint64 number;

  if (int64_from_object (object, &number, PyExc_IndexError) < 0)
    return -1;

  return axis_from_int64 (number, axis);
}

/* Accepts (2, 3), [2, 3] or 2, 3. */
Py_ssize_t
ints_from_args (PyObject *const *args,
                Py_ssize_t       n_args,
                gint64          *values,
                const char      *what,
                PyObject        *exception)
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
    if (int64_from_object (args[i], &values[i], exception) < 0)
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
  Py_ssize_t n = ints_from_args (args, n_args, values, "axes", PyExc_IndexError);

  for (Py_ssize_t i = 0; i < n; i++)
    if (axis_from_int64 (values[i], &axes[i]) < 0)
      return -1;

  return n;
}

/* Parses (type, ordinal) or (major, minor). Anything but a pair of integers is a
 * TypeError. An integer beyond 64 bits becomes the nearest of 64 bits. */
static int
parse_pair (PyObject   *object,
            const char *what,
            gint64     *values)
{
  if (!PyTuple_Check (object) || PyTuple_GET_SIZE (object) != 2
      || !PyIndex_Check (PyTuple_GET_ITEM (object, 0))
      || !PyIndex_Check (PyTuple_GET_ITEM (object, 1)))
    {
      PyErr_Format (PyExc_TypeError, "%s must be a tuple of two integers, not %R", what, object);
      return -1;
    }

  for (int i = 0; i < 2; i++)
    {
      int overflow;

      values[i] = PyLong_AsLongLongAndOverflow (PyTuple_GET_ITEM (object, i), &overflow);
      if (overflow != 0)
        values[i] = overflow > 0 ? G_MAXINT64 : G_MININT64;
      else if (values[i] == -1 && PyErr_Occurred () != NULL)
        return -1;
    }

  return 0;
}

int
device_from_object (PyObject   *object,
              const char *what,
              int        *type,
              int        *ordinal)
{
  gint64 values[2];

  if (parse_pair (object, what, values) < 0)
    return -1;

  if (values[0] == MTL_DEVICE_TYPE_UNKNOWN || !fits_int (values[0]) || !fits_int (values[1]))
    {
      g_autofree char *digits = dup_digits (object);

      PyErr_Format (PyExc_BufferError, "%s %s is not a valid DLPack device", what, digits);
      return -1;
    }

  *type = values[0];
  *ordinal = values[1];
  return 0;
}

/* Every version later than those known here is the same to the caller. */
int
version_from_object (PyObject *object,
                   int      *major,
                   int      *minor)
{
  gint64 values[2];

  if (parse_pair (object, "max_version", values) < 0)
    return -1;

  if (values[0] < 0 || values[1] < 0)
    {
      g_autofree char *digits = dup_digits (object);

      PyErr_Format (PyExc_ValueError, "max_version %s is not a version: a number is negative",
                    digits);
      return -1;
    }

  *major = MIN (values[0], G_MAXINT);
  *minor = MIN (values[1], G_MAXINT);
  return 0;
}

/* Returns an item of a list or a tuple, a new reference, or NULL without an exception if there is
 * none: another thread may have made the list shorter. */
PyObject *
ref_item (PyObject   *sequence,
          Py_ssize_t  i)
{
  PyObject *item;

#if PY_VERSION_HEX >= 0x030d0000
  if (PyList_Check (sequence))
    {
      item = PyList_GetItemRef (sequence, i);
      if (item == NULL)
        PyErr_Clear ();
      return item;
    }
#endif

  if (i >= PySequence_Fast_GET_SIZE (sequence))
    return NULL;

  item = PySequence_Fast_GET_ITEM (sequence, i);
  Py_INCREF (item);
  return item;
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
