/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Defines PyGObject's table of functions, for all files. */

#define MTL_PYTHON_PYGOBJECT
#include "mtl-python-private.h"

int
import_pygobject (void)
{
  PyObject *gobject = pygobject_init (3, 42, 0);

  if (gobject == NULL)
    return -1;

  Py_DECREF (gobject);
  return 0;
}
