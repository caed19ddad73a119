/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Adds methods and attributes to the classes that PyGObject created. */

#include "mtl-python-private.h"

/* Takes the descriptor, NULL for a pending exception. */
static int
add_to_type (PyTypeObject *type,
             const char   *name,
             PyObject     *descriptor)
{
  int status;

  if (descriptor == NULL)
    return -1;

  status = PyObject_SetAttrString ((PyObject *) type, name, descriptor);
  Py_DECREF (descriptor);
  return status;
}

int
install_methods (PyTypeObject *type,
                 PyMethodDef  *methods)
{
  for (PyMethodDef *def = methods; def->ml_name != NULL; def++)
    if (add_to_type (type, def->ml_name, PyDescr_NewMethod (type, def)) < 0)
      return -1;

  return 0;
}

int
install_getters (PyTypeObject *type,
                 PyGetSetDef  *getters)
{
  for (PyGetSetDef *def = getters; def->name != NULL; def++)
    if (add_to_type (type, def->name, PyDescr_NewGetSet (type, def)) < 0)
      return -1;

  return 0;
}

/* The function of a slot, which Python finds by the name of a method, as in its own types. The
 * wrapper of another type's takes any function. If that has none, as bytearray has none for the
 * buffer protocol before Python 3.12, there is no method. */
int
install_slot (PyTypeObject *type,
              PyTypeObject *other,
              const char   *name,
              void         *function)
{
  PyObject *known = PyObject_GetAttrString ((PyObject *) other, name);
  int status;

  if (known == NULL)
    {
      PyErr_Clear ();
      return 0;
    }

  status = add_to_type (type, name,
                        PyDescr_NewWrapper (type, ((PyWrapperDescrObject *) known)->d_base,
                                            function));
  Py_DECREF (known);
  return status;
}
