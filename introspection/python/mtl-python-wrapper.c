/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a view's Python object: PyGObject's own way of making and ending
 * one takes several times what an operation computes. */

#include "mtl-python-private.h"

/* PyGObject finds the wrapper of an object by it. */
static GQuark wrapper_key;

/* How PyGObject ends its objects, which leaves their class to who called it. */
static destructor dealloc_by_pygobject;

/* A new object has no wrapper yet, so that PyGObject need not look for one, nor
 * for the class. The wrapper takes the reference. */
PyObject *
wrap_new (PyTypeObject *type,
          gpointer      object,
          GError      **error,
          Audience      audience)
{
  PyGObject *wrapper;

  if (object == NULL)
    return raise_error (*error, audience);

  wrapper = (PyGObject *) type->tp_alloc (type, 0);
  if (wrapper == NULL)
    {
      g_object_unref (object);
      return NULL;
    }

  wrapper->obj = object;
  pygobject_register_wrapper ((PyObject *) wrapper);
  return (PyObject *) wrapper;
}

PyObject *
wrap_view (MtlStridedView *view,
           GError        **error,
           Audience        audience)
{
  return wrap_new (classes.view, view, error, audience);
}

/* Whether there is nothing to it but the view that it holds. */
static gboolean
is_bare (PyGObject *wrapper)
{
  return wrapper->obj != NULL
         && wrapper->inst_dict == NULL
         && wrapper->weakreflist == NULL
         && wrapper->private_flags.flags == 0;
}

/* What the memory's owner does at its end may be anything: it may wait for a
 * thread that waits for Python's lock, or run Python code, to which a pending
 * exception does not belong. */
static void
end_view (MtlStridedView *view)
{
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  Py_BEGIN_ALLOW_THREADS
  mtl_strided_view_release (view, TRUE);
  Py_END_ALLOW_THREADS
  PyErr_Restore (type, value, traceback);
}

void
unref_view (MtlStridedView *view)
{
  if (!mtl_strided_view_release (view, FALSE))
    end_view (view);
}

static void
view_dealloc (PyObject *self)
{
  PyGObject *wrapper = (PyGObject *) self;
  MtlStridedView *view = (MtlStridedView *) wrapper->obj;
  PyTypeObject *type = Py_TYPE (self);
  PyObject *error, *value, *traceback;

  if (type == classes.view && type->tp_finalize != NULL
      && PyObject_CallFinalizerFromDealloc (self) < 0)
    return;

  if (!is_bare (wrapper))
    {
      PyErr_Fetch (&error, &value, &traceback);
      dealloc_by_pygobject (self);
      PyErr_Restore (error, value, traceback);
      Py_DECREF (type);
      return;
    }

  PyObject_GC_UnTrack (self);
  Py_TRASHCAN_BEGIN (self, view_dealloc)
  wrapper->obj = NULL;
  g_object_set_qdata (G_OBJECT (view), wrapper_key, NULL);
  unref_view (view);
  type->tp_free (self);
  Py_DECREF (type);
  Py_TRASHCAN_END
}

/* Should another PyGObject keep its wrappers in another way, they end in its
 * own. */
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
  if (type->tp_dealloc == view_dealloc || !knows_wrapper_key ())
    return PyErr_Occurred () != NULL ? -1 : 0;

  while (base->tp_dealloc == type->tp_dealloc && base->tp_base != NULL)
    base = base->tp_base;
  dealloc_by_pygobject = base->tp_dealloc;
  type->tp_dealloc = view_dealloc;
  return 0;
}
