/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The classes, and creating and freeing the Python objects of views and
 * layouts. PyGObject takes several times as long for this as an operation
 * itself: v[0] takes 130 ns, but 480 ns if PyGObject frees the objects, and
 * 270 ns if the library does not keep them for the next ones. */

#include "mtl-python-private.h"

Classes classes;

/* PyGObject finds the wrapper of an object with this key. */
static GQuark wrapper_key;

/* PyGObject's deallocator, whose caller has to drop the reference to the class. */
static destructor dealloc_by_pygobject;

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

int
install_classes (PyTypeObject *view,
                 PyTypeObject *buffer,
                 PyTypeObject *device,
                 PyTypeObject *layout)
{
  if (!is_class_of (view, MTL_TYPE_STRIDED_VIEW) || !is_class_of (buffer, MTL_TYPE_BUFFER)
      || !is_class_of (device, MTL_TYPE_DEVICE) || !is_class_of (layout, MTL_TYPE_STRIDED_LAYOUT))
    return -1;

  /* The classes live as long as the process, like the additions to them. */
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
  return 0;
}

/* A new object has no wrapper yet, so PyGObject need not look for one, or for
 * the class. The wrapper takes the reference. */
static PyObject *
wrap_new (PyTypeObject *type,
          gpointer      object,
          GError      **error,
          Audience      audience)
{
  PyObject *wrapper;

  if (object == NULL)
    return raise_error (*error, audience);

  wrapper = type->tp_alloc (type, 0);
  if (wrapper == NULL)
    {
      g_object_unref (object);
      return NULL;
    }

  pygobject_get (wrapper) = object;
  pygobject_register_wrapper (wrapper);
  return wrapper;
}

PyObject *
wrap_view (MtlStridedView *view,
           GError        **error,
           Audience        audience)
{
  return wrap_new (classes.view, view, error, audience);
}

PyObject *
wrap_layout (MtlStridedLayout *layout,
             GError          **error)
{
  return wrap_new (classes.layout, layout, error, CALLER);
}

/* PyGObject keeps a reference to the class for each wrapper that it makes. */
PyObject *
wrap_shared_layout (MtlStridedLayout *layout)
{
#ifndef Py_GIL_DISABLED
  if (g_object_get_qdata (G_OBJECT (layout), wrapper_key) == NULL)
    return wrap_new (classes.layout, g_object_ref (layout), NULL, CALLER);
#endif

  return pygobject_new (G_OBJECT (layout));
}

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

static gboolean
try_to_unref (GObject  *object,
              gboolean  may_run_others)
{
  if (G_OBJECT_TYPE (object) == classes.layout_gtype)
    return mtl_strided_layout_release ((MtlStridedLayout *) object, may_run_others);

  return mtl_strided_view_release ((MtlStridedView *) object, may_run_others);
}

/* The owner of the memory may run any code when it ends. It may wait for a
 * thread that needs the GIL, or run Python code, so the GIL is released and
 * a pending exception is saved. The same is true of data attached to the
 * object. */
static void
unref_outside_python (GObject *object)
{
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  Py_BEGIN_ALLOW_THREADS
  try_to_unref (object, TRUE);
  Py_END_ALLOW_THREADS
  PyErr_Restore (type, value, traceback);
}

static void
unref_object (GObject *object)
{
  if (!try_to_unref (object, FALSE))
    unref_outside_python (object);
}

void
unref_view (MtlStridedView *view)
{
  unref_object (G_OBJECT (view));
}

/* Takes the object from its wrapper, unless PyGObject has to end more that is attached to it, such
 * as signal handlers, or the reference that keeps the attributes of the wrapper. */
static GObject *
take_object (PyObject *wrapper)
{
  GObject *object = pygobject_get (wrapper);

  if (object == NULL)
    return NULL;

  g_object_set_qdata (object, wrapper_key, NULL);
  if (g_atomic_pointer_get (&object->qdata) == NULL)
    {
      pygobject_get (wrapper) = NULL;
      return object;
    }

  g_object_set_qdata (object, wrapper_key, wrapper);
  return NULL;
}

static void
dealloc_saving_error (PyObject *self)
{
  PyObject *error, *value, *traceback;

  PyErr_Fetch (&error, &value, &traceback);
  dealloc_by_pygobject (self);
  PyErr_Restore (error, value, traceback);
}

/* PyGObject only frees the wrapper if it has no object. The object ends after that, when no
 * other code can find the wrapper. */
static void
wrapper_dealloc (PyObject *self)
{
  PyTypeObject *type = Py_TYPE (self);
  GObject *object;

  if ((type == classes.view || type == classes.layout) && type->tp_finalize != NULL
      && PyObject_CallFinalizerFromDealloc (self) < 0)
    return;

  PyObject_GC_UnTrack (self);
  Py_TRASHCAN_BEGIN (self, wrapper_dealloc)
  object = take_object (self);
  if (object != NULL && PyErr_Occurred () == NULL)
    dealloc_by_pygobject (self);
  else
    dealloc_saving_error (self);
  Py_DECREF (type);
  if (object != NULL)
    unref_object (object);
  Py_TRASHCAN_END
}

/* If another version of PyGObject finds wrappers differently, its deallocator
 * is used. */
static gboolean
knows_wrapper_key (void)
{
  GObject *object = G_OBJECT (classes.empty_view);
  PyObject *wrapper = pygobject_new (object);
  gboolean knows = wrapper != NULL && g_object_get_qdata (object, wrapper_key) == wrapper;

  Py_XDECREF (wrapper);
  return knows;
}

int
install_dealloc (PyTypeObject *type)
{
  PyTypeObject *base = type;

  wrapper_key = g_quark_from_static_string ("PyGObject::wrapper");
  if (type->tp_dealloc == wrapper_dealloc || !knows_wrapper_key ())
    return PyErr_Occurred () != NULL ? -1 : 0;

  while (base->tp_dealloc == type->tp_dealloc && base->tp_base != NULL)
    base = base->tp_base;
  dealloc_by_pygobject = base->tp_dealloc;
  type->tp_dealloc = wrapper_dealloc;
  return 0;
}
