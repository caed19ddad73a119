/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The compiled half of the override for PyGObject: Mtl.py calls install() with
 * the classes that PyGObject made. */

#define MTL_PYTHON_MODULE
#include "mtl-python-private.h"

Classes classes;

MtlStridedView *
view_for_exporter (PyObject *object)
{
  GError *error = NULL;
  MtlStridedLayout *layout;
  MtlStridedView *view;
  MtlBuffer *buffer;
  gint64 size;

  if (is_view (object))
    return g_object_ref (get_view (object));

  if (!Py_IS_TYPE (object, classes.buffer))
    {
      PyErr_Format (PyExc_TypeError, "%.100s is neither a view nor a buffer",
                    Py_TYPE (object)->tp_name);
      return NULL;
    }

  buffer = get_buffer (object);
  size = mtl_buffer_get_size (buffer);
  layout = mtl_strided_layout_new_dense (&size, 1, MTL_ORDER_C, 8, &error);
  view = layout != NULL ? mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error) : NULL;
  g_clear_object (&layout);
  if (view == NULL)
    raise_error (error, PEER);

  return view;
}

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

static int
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

static gboolean
is_class_of (PyTypeObject *type,
             GType         gtype)
{
  PyTypeObject *expected = pygobject_lookup_class (gtype);

  if (type == expected)
    return TRUE;

  PyErr_Format (PyExc_TypeError, "%.100s is not the class of %.100s", type->tp_name,
                g_type_name (gtype));
  return FALSE;
}

static PyObject *
module_install (PyObject *module,
                PyObject *args)
{
  PyTypeObject *view, *buffer, *device, *layout;

  if (!PyArg_ParseTuple (args, "O!O!O!O!:install", &PyType_Type, &view, &PyType_Type, &buffer,
                         &PyType_Type, &device, &PyType_Type, &layout))
    return NULL;

  if (!is_class_of (view, MTL_TYPE_STRIDED_VIEW) || !is_class_of (buffer, MTL_TYPE_BUFFER)
      || !is_class_of (device, MTL_TYPE_DEVICE) || !is_class_of (layout, MTL_TYPE_STRIDED_LAYOUT))
    return NULL;

  /* They live as long as the process, and so does what is installed on them. */
  Py_INCREF (view);
  Py_INCREF (buffer);
  Py_INCREF (device);
  Py_INCREF (layout);
  if (classes.empty_view == NULL)
    {
      classes.empty_view = g_object_new (MTL_TYPE_STRIDED_VIEW, NULL);
      classes.empty_layout = g_object_new (MTL_TYPE_STRIDED_LAYOUT, NULL);
    }
  classes = (Classes) {
    .view = view,
    .buffer = buffer,
    .device = device,
    .layout = layout,
    .view_gtype = MTL_TYPE_STRIDED_VIEW,
    .buffer_gtype = MTL_TYPE_BUFFER,
    .layout_gtype = MTL_TYPE_STRIDED_LAYOUT,
    .empty_view = classes.empty_view,
    .empty_layout = classes.empty_layout,
  };

  if (install_dtypes () < 0
      || install_bounds () < 0
      || prepare_export () < 0
      || prepare_import () < 0
      || install_methods (view, exporter_methods) < 0
      || install_methods (buffer, exporter_methods) < 0
      || install_methods (view, view_methods) < 0
      || install_methods (view, copy_methods) < 0
      || install_getters (view, view_getters) < 0
      || install_exchange (view) < 0
      || install_buffer (view) < 0
      || install_buffer (buffer) < 0
      || install_index (view) < 0
      || install_dealloc (view) < 0
      || install_methods (layout, layout_methods) < 0
      || install_methods (layout, layout_query_methods) < 0
      || install_layout_comparison (layout) < 0
      || install_getters (layout, layout_getters) < 0
      || install_layout_index (layout) < 0
      || install_dealloc (layout) < 0
      || install_layout_constructor (layout) < 0)
    return NULL;

  Py_RETURN_NONE;
}

/* The exception for a GLib.Error of MTL_ERROR with that code and message. */
static PyObject *
module_exception_for_error (PyObject *module,
                            PyObject *args)
{
  PyObject *type, *value, *traceback;
  const char *message;
  int code;

  if (!PyArg_ParseTuple (args, "is:exception_for_error", &code, &message))
    return NULL;

  PyErr_SetString (exception_for_code (code, CALLER), message);
  PyErr_Fetch (&type, &value, &traceback);
  PyErr_NormalizeException (&type, &value, &traceback);
  Py_XDECREF (type);
  Py_XDECREF (traceback);
  return value;
}

static PyMethodDef module_methods[] = {
  { "install", module_install, METH_VARARGS, NULL },
  { "exception_for_error", module_exception_for_error, METH_VARARGS, NULL },
  { "from_dlpack", (PyCFunction) (void *) module_from_dlpack, METH_FASTCALL | METH_KEYWORDS,
    "from_dlpack($module, x, /, *, device=None, copy=None)\n--\n\n"
    "A view of what x exports through DLPack, without a copy unless copy=True." },
  { "from_buffer", module_from_buffer, METH_O,
    "from_buffer($module, x, /)\n--\n\nA view of what x exports through the buffer protocol." },
  { "prepare_end", module_prepare_end, METH_NOARGS, NULL },
  { NULL }
};

static PyModuleDef module_definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "_mtl",
  .m_size = -1,
  .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__mtl (void);

PyMODINIT_FUNC
PyInit__mtl (void)
{
  PyObject *gobject = pygobject_init (3, 42, 0);

  if (gobject == NULL)
    return NULL;

  Py_DECREF (gobject);
  return PyModule_Create (&module_definition);
}
