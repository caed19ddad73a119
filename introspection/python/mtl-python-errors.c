/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mtl-python-private.h"

PyObject *
exception_for_code (int      code,
                    Audience audience)
{
  if (code == MTL_ERROR_NO_MEMORY)
    return PyExc_MemoryError;
  if (audience == PEER)
    return PyExc_BufferError;

  switch (code)
    {
    case MTL_ERROR_OUT_OF_BOUNDS:
      return PyExc_IndexError;
    case MTL_ERROR_NOT_FOUND:
      return PyExc_KeyError;
    case MTL_ERROR_NOT_SUPPORTED:
      return PyExc_NotImplementedError;
    case MTL_ERROR_NOT_HOST_ACCESSIBLE:
    case MTL_ERROR_BUSY: /* memoryview.release() raises it, too */
      return PyExc_BufferError;
    case MTL_ERROR_DEVICE:
      return PyExc_RuntimeError;
    default:
      return PyExc_ValueError;
    }
}

/* Takes the error. Raises a built-in exception with the GLib.Error as its
 * cause. */
PyObject *
raise_error (GError   *error,
             Audience  audience)
{
  PyObject *exception, *type, *cause, *traceback;

  if (error->domain != MTL_ERROR)
    {
      pyg_error_check (&error);
      return NULL;
    }

  exception = PyObject_CallFunction (exception_for_code (error->code, audience), "s",
                                     error->message);
  if (exception == NULL)
    {
      g_error_free (error);
      return NULL;
    }

  pyg_error_check (&error);
  PyErr_Fetch (&type, &cause, &traceback);
  PyErr_NormalizeException (&type, &cause, &traceback);
  Py_XDECREF (type);
  Py_XDECREF (traceback);
  PyException_SetCause (exception, cause);
  PyErr_SetObject ((PyObject *) Py_TYPE (exception), exception);
  Py_DECREF (exception);
  return NULL;
}

int
raise_error_int (GError   *error,
                 Audience  audience)
{
  raise_error (error, audience);
  return -1;
}

void
add_advice (GError     **error,
            MtlError     code,
            const char  *advice)
{
  GError *with_advice;

  if (!g_error_matches (*error, MTL_ERROR, code))
    return;

  with_advice = g_error_new (MTL_ERROR, code, "%s: %s", (*error)->message, advice);
  g_error_free (*error);
  *error = with_advice;
}
