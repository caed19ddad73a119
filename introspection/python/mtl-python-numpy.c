/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mtl-python-private.h"

/* The override has work that is put off until NumPy is imported, often after this module. */

PyObject *numpy_hook;

void
meet_numpy_if_imported (void)
{
  PyObject *numpy = PyDict_GetItemString (PyImport_GetModuleDict (), "numpy");
  PyObject *function = numpy_hook, *result;

  if (numpy == NULL || numpy == Py_None)
    return;

  numpy_hook = NULL;
  result = PyObject_CallNoArgs (function);
  if (result == NULL)
    PyErr_Clear (); /* raised again where NumPy is needed */
  Py_XDECREF (result);
  Py_DECREF (function);
}

PyObject *
module_when_numpy_is_imported (PyObject *module,
                               PyObject *function)
{
  Py_INCREF (function);
  Py_XSETREF (numpy_hook, function);
  Py_RETURN_NONE;
}
