/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Adds methods and attributes to the classes that PyGObject created. */

#include "mtl-python-private.h"

static PyObject *
new_static_method (PyTypeObject *type,
                   PyMethodDef  *def)
{
  PyObject *function = PyCFunction_New (def, (PyObject *) type);
  PyObject *method;

  if (function == NULL)
    return NULL;

  method = PyStaticMethod_New (function);
  Py_DECREF (function);
  return method;
}

int
install_methods (PyTypeObject *type,
                 PyMethodDef  *methods)
{
  for (PyMethodDef *def = methods; def->ml_name != NULL; def++)
    {
      PyObject *descriptor = def->ml_flags & METH_STATIC ? new_static_method (type, def)
                                                         : PyDescr_NewMethod (type, def);
      int status;

      if (descriptor == NULL)
        return -1;

      status = PyObject_SetAttrString ((PyObject *) type, def->ml_name, descriptor);
      Py_DECREF (descriptor);
      if (status < 0)
        return -1;
    }

  return 0;
}

int
install_getters (PyTypeObject *type,
                 PyGetSetDef  *getters)
{
  for (PyGetSetDef *def = getters; def->name != NULL; def++)
    {
      PyObject *descriptor = PyDescr_NewGetSet (type, def);
      int status;

      if (descriptor == NULL)
        return -1;

      status = PyObject_SetAttrString ((PyObject *) type, def->name, descriptor);
      Py_DECREF (descriptor);
      if (status < 0)
        return -1;
    }

  return 0;
}
