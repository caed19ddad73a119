/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks a producer for facts that its DLPack tensor does not have: whether the elements
 * still have to be computed, whether they may be written, and which device they are on
 * before they are exported. */

#include "mtl-python-exchange-private.h"

/* PyTorch negates and conjugates some tensors only when it reads them. DLPack gives the
 * elements in memory. */
static struct
{
  PyObject *is_conj;
  PyObject *is_neg;
  PyObject *resolve_conj;
  PyObject *resolve_neg;
  PyObject *dlpack_device;
  PyObject *jax;
  PyObject *array;
  PyObject *mask;
  PyObject *filled;
} names;

int
prepare_producer (void)
{
  names.is_conj = PyUnicode_InternFromString ("is_conj");
  names.is_neg = PyUnicode_InternFromString ("is_neg");
  names.resolve_conj = PyUnicode_InternFromString ("resolve_conj");
  names.resolve_neg = PyUnicode_InternFromString ("resolve_neg");
  names.dlpack_device = PyUnicode_InternFromString ("__dlpack_device__");
  names.jax = PyUnicode_InternFromString ("jax");
  names.array = PyUnicode_InternFromString ("Array");
  names.mask = PyUnicode_InternFromString ("mask");
  names.filled = PyUnicode_InternFromString ("filled");
  return PyErr_Occurred () != NULL ? -1 : 0;
}

static gboolean
may_be_lazy (PyObject *object)
{
  return type_has (object, names.resolve_neg);
}

/* Calls the method as the type has it, which for PyTorch's own saves a lookup on the object. */
static PyObject *
call_method (PyObject *object,
             PyObject *name)
{
  PyObject *method = look_up_on_type (object, name);
  PyObject *result;

  if (method != NULL && Py_IS_TYPE (method, &PyMethodDescr_Type))
    result = PyObject_Vectorcall (method, &object, 1, NULL);
  else
    result = PyObject_VectorcallMethod (name, &object, 1, NULL);

  Py_XDECREF (method);
  return result;
}

static int
is_true_of (PyObject *object,
            PyObject *question)
{
  PyObject *answer = call_method (object, question);
  int is_true;

  if (answer == NULL)
    return -1;

  is_true = PyObject_IsTrue (answer);
  Py_DECREF (answer);
  return is_true;
}

static int
refuse (PyObject   *object,
        const char *what,
        const char *method)
{
  PyErr_Format (PyExc_BufferError,
                "The %.100s is %s only when it is read, and its memory has other values: import"
                " x.%s(), or use Mtl.from_dlpack(x, copy=True)", Py_TYPE (object)->tp_name, what,
                method);
  return -1;
}

/* Refuses numbers that are not complex. */
int
refuse_lazy_real (PyObject *object)
{
  int is_neg = may_be_lazy (object) ? is_true_of (object, names.is_neg) : FALSE;

  return is_neg > 0 ? refuse (object, "negated", "resolve_neg") : is_neg;
}

int
refuse_lazy (PyObject *object)
{
  int is_conj = may_be_lazy (object) ? is_true_of (object, names.is_conj) : FALSE;

  if (is_conj != 0)
    return is_conj > 0 ? refuse (object, "conjugated", "resolve_conj") : -1;

  return refuse_lazy_real (object);
}

/* Takes the reference. */
static PyObject *
resolve (PyObject *object,
         PyObject *question,
         PyObject *method)
{
  int is_lazy = is_true_of (object, question);
  PyObject *resolved;

  if (is_lazy == 0)
    return object;

  resolved = is_lazy > 0 ? call_method (object, method) : NULL;
  Py_DECREF (object);
  return resolved;
}

/* Returns the object itself if its elements are in memory, otherwise a copy. */
PyObject *
resolve_lazy (PyObject *object)
{
  Py_INCREF (object);
  if (!may_be_lazy (object))
    return object;

  object = resolve (object, names.is_conj, names.resolve_conj);
  return object != NULL ? resolve (object, names.is_neg, names.resolve_neg) : NULL;
}

PyObject *
module_resolve_lazy (PyObject *module,
                     PyObject *object)
{
  return resolve_lazy (object);
}

/* An exception that ends a program stays. */
int
forget_exception (void)
{
  if (PyErr_Occurred () == NULL)
    return 0;
  if (!PyErr_ExceptionMatches (PyExc_Exception))
    return -1;

  PyErr_Clear ();
  return 0;
}

/* Checks if elements of an array are masked, as NumPy's and Astropy's can be. Its exports do
 * not say so. Returns -1 with an exception that ends a program. */
int
is_masked (PyObject *object)
{
  PyObject *mask, *any;
  int status = FALSE;

  if (G_LIKELY (!type_has (object, names.filled) || !type_has (object, names.mask)))
    return FALSE;

  mask = PyObject_GetAttr (object, names.mask);
  any = mask != NULL ? PyObject_CallMethod (mask, "any", NULL) : NULL;
  if (any != NULL)
    status = PyObject_IsTrue (any);
  Py_XDECREF (any);
  Py_XDECREF (mask);
  return forget_exception () < 0 ? -1 : status > 0;
}

int
refuse_masked (PyObject *object)
{
  int masked = is_masked (object);

  if (masked > 0)
    PyErr_Format (PyExc_BufferError,
                  "The %.100s has masked elements, and a view has no mask: use x.filled(value),"
                  " which puts a value in their place", Py_TYPE (object)->tp_name);
  return masked != 0 ? -1 : 0;
}

PyObject *
module_is_masked (PyObject *module,
                  PyObject *object)
{
  int masked = is_masked (object);

  return masked < 0 ? NULL : PyBool_FromLong (masked);
}

/* All of JAX's arrays are constant. Those of other devices, or of types like bfloat16,
 * are no buffers that could say so. */
int
is_jax_array (PyObject *object)
{
  PyObject *jax = PyImport_GetModule (names.jax);
  PyObject *type = jax != NULL ? PyObject_GetAttr (jax, names.array) : NULL;
  int is_instance = type != NULL ? PyObject_IsInstance (object, type) : 0;

  Py_XDECREF (type);
  Py_XDECREF (jax);
  return forget_exception () < 0 ? -1 : is_instance > 0;
}

/* Returns whether the memory must not be written, which a legacy tensor cannot say, and
 * -1 with an exception. NumPy and others have a buffer for more types without a format. */
int
is_constant (PyObject *object)
{
  Py_buffer buffer;
  int read_only;

  if (!PyObject_CheckBuffer (object) || PyObject_GetBuffer (object, &buffer, PyBUF_STRIDED_RO) < 0)
    return forget_exception () < 0 ? -1 : is_jax_array (object);

  read_only = buffer.readonly != 0;
  PyBuffer_Release (&buffer);
  return read_only;
}

static int
get_int (PyObject *number)
{
  long value = PyLong_Check (number) ? PyLong_AsLong (number) : -1;

  return value >= 0 && value <= G_MAXINT ? value : -1;
}

/* Sets the type to MTL_DEVICE_TYPE_UNKNOWN if the producer does not say. Returns -1 with an
 * exception that ends a program. __dlpack__() reports other errors. */
int
ask_for_device (PyObject *object,
                DLDevice *device)
{
  PyObject *pair = call_method (object, names.dlpack_device);

  *device = (DLDevice) { MTL_DEVICE_TYPE_UNKNOWN, 0 };
  if (pair != NULL && PyTuple_Check (pair) && PyTuple_GET_SIZE (pair) == 2)
    {
      int type = get_int (PyTuple_GET_ITEM (pair, 0));
      int ordinal = get_int (PyTuple_GET_ITEM (pair, 1));

      if (type >= 0)
        *device = (DLDevice) { type, ordinal };
    }

  Py_XDECREF (pair);
  return forget_exception ();
}
