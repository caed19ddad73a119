/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Results: tuples of integers, at most as many as dimensions. */

#include "mtl-python-private.h"

#include <string.h>

PyObject *
tuple_from_ints (const gint64 *values,
                 gsize         n)
{
  gint64 kept[MAX_DIMS]; /* a new tuple can run a finalizer that closes the view */
  PyObject *tuple;

  memcpy (kept, values, n * sizeof *values);
  tuple = PyTuple_New (n);
  for (gsize i = 0; tuple != NULL && i < n; i++)
    {
      PyObject *value = PyLong_FromLongLong (kept[i]);

      if (value == NULL)
        Py_CLEAR (tuple);
      else
        PyTuple_SET_ITEM (tuple, i, value);
    }

  return tuple;
}

static PyTypeObject *bounds_type;

int
install_bounds (void)
{
  PyStructSequence_Field fields[] = {
    { "min", "The smallest offset." },
    { "max", "The largest offset." },
    { NULL }
  };
  PyStructSequence_Desc bounds = {
    "Mtl.OffsetBounds", "The smallest and the largest offset of elements.", fields, 2,
  };

  bounds_type = PyStructSequence_NewType (&bounds);
  return bounds_type != NULL ? 0 : -1;
}

/* A tuple with names, like those of PyGObject for several results. */
PyObject *
bounds_from_ints (gint64 min,
                  gint64 max)
{
  PyObject *bounds = PyStructSequence_New (bounds_type);

  if (bounds == NULL)
    return NULL;

  PyStructSequence_SET_ITEM (bounds, 0, PyLong_FromLongLong (min));
  PyStructSequence_SET_ITEM (bounds, 1, PyLong_FromLongLong (max));
  if (PyErr_Occurred () != NULL)
    Py_CLEAR (bounds);

  return bounds;
}
