/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The compiled half of the override for PyGObject. Mtl.py calls install() with
 * the classes that PyGObject created. */

#include "mtl-python-private.h"

static PyObject *
module_install (PyObject *module,
                PyObject *args)
{
  PyTypeObject *view, *buffer, *device, *layout;

  if (!PyArg_ParseTuple (args, "O!O!O!O!:install", &PyType_Type, &view, &PyType_Type, &buffer,
                         &PyType_Type, &device, &PyType_Type, &layout))
    return NULL;

  if (install_classes (view, buffer, device, layout) < 0
      || install_bounds () < 0
      || prepare_export () < 0
      || prepare_producer () < 0
      || prepare_import () < 0
      || prepare_numbers () < 0
      || install_export (view) < 0
      || install_export (buffer) < 0
      || install_view (view) < 0
      || install_copy (view) < 0
      || install_exchange (view) < 0
      || install_buffer (view) < 0
      || install_buffer (buffer) < 0
      || install_index (view) < 0
      || install_dealloc (view) < 0
      || install_layout (layout) < 0
      || install_layout_index (layout) < 0
      || install_dealloc (layout) < 0)
    return NULL;

  Py_RETURN_NONE;
}

/* The class of the exception for a code of MTL_ERROR. */
static PyObject *
module_exception_for_code (PyObject *module,
                           PyObject *number)
{
  PyObject *exception;
  int code;

  if (int_from_object (number, &code) < 0)
    return NULL;

  exception = exception_for_code (code, CALLER);
  Py_INCREF (exception);
  return exception;
}

/* DLPack's code and bits of a view's element type, also of one without a name. */
static PyObject *
module_element_type (PyObject *module,
                     PyObject *object)
{
  DLTensor tensor;

  if (!is_view (object))
    return PyErr_Format (PyExc_TypeError, "a view is needed, not %R", object);

  mtl_strided_view_describe (get_view (object), &tensor);
  return Py_BuildValue ("(ii)", tensor.dtype.code, tensor.dtype.bits);
}

static PyMethodDef module_methods[] = {
  { "install", module_install, METH_VARARGS, NULL },
  { "exception_for_code", module_exception_for_code, METH_O, NULL },
  { "from_dlpack", WITH_NAMES (module_from_dlpack),
    "from_dlpack($module, x, /, *, device=None, copy=None)\n--\n\n"
    "A view of the memory that x exports with DLPack, without a copy unless copy=True.\n\n"
    "Memory of CUDA comes in after the work in its producer's stream, and the host does not\n"
    "wait. A producer of ROCm memory is asked to order its work into the default stream of the\n"
    "device. Memory that must not be written comes in read-only." },
  { "from_cuda", module_from_cuda, METH_VARARGS,
    "from_cuda($module, owner, address, element, shape, strides, is_read_only, stream, /)\n--\n\n"
    "A view of CUDA's memory at an address, which is ready in a stream unless that is 0." },
  { "lend_cuda", module_lend_cuda, METH_O, NULL },
  { "await_work", module_await_work, METH_O, NULL },
  { "resolve_lazy", module_resolve_lazy, METH_O, NULL },
  { "is_masked", module_is_masked, METH_O, NULL },
  { "from_buffer", module_from_buffer, METH_O,
    "from_buffer($module, x, /)\n--\n\n"
    "A view of the memory that x exports as a buffer, None if it is no buffer." },
  { "from_memory", module_from_memory, METH_VARARGS,
    "from_memory($module, x, element, shape, strides, start, /)\n--\n\n"
    "A view of parts of the bytes that x exports as a buffer." },
  { "from_numbers", FAST (module_from_numbers),
    "from_numbers($module, x, dtype=..., /)\n--\n\n"
    "A view of a copy of a number, or of nested lists and tuples of numbers." },
  { "element_type", module_element_type, METH_O, NULL },
  { "dtype_from", module_dtype_from, METH_O, NULL },
  { "install_dtype", module_install_dtype, METH_O, NULL },
  { "check_arguments", FAST (module_check_arguments), NULL },
  { "using", module_using, METH_O, NULL },
  { "prepare_end", module_prepare_end, METH_NOARGS, NULL },
  { "when_numpy_is_imported", module_when_numpy_is_imported, METH_O, NULL },
  { NULL }
};

static PyModuleDef module_definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "_mtl",
  .m_size = -1,
  .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__mtl (void);

/* PyGObject, whose objects are made and freed here, needs the GIL: without it, one thread could
 * find the Python object of a view while another frees it. */
static int
say_that_gil_is_used (PyObject *module)
{
#ifdef Py_GIL_DISABLED
  return PyUnstable_Module_SetGIL (module, Py_MOD_GIL_USED);
#else
  return 0;
#endif
}

PyMODINIT_FUNC
PyInit__mtl (void)
{
  PyObject *module;

  if (prepare_forks () < 0 || prepare_use () < 0 || import_pygobject () < 0)
    return NULL;

  module = PyModule_Create (&module_definition);
  if (module != NULL && say_that_gil_is_used (module) < 0)
    Py_CLEAR (module);

  return module;
}
