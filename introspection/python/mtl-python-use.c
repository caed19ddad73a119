/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PyGObject releases the GIL while it calls a function, and holds no references to the
 * arguments: another thread could close a view that the function reads. This wraps such
 * a function so that it holds the views among its arguments, and those in lists. */

#include "mtl-python-private.h"

#include <structmember.h>

typedef struct
{
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *function;
} Using;

/* Most functions have fewer views. */
#define FEW 8

typedef struct
{
  MtlStridedView *few[FEW];
  MtlStridedView **views;
  gsize n;
  gsize n_allocated;
} Held;

static int
hold (Held     *self,
      PyObject *object)
{
  if (!is_view (object))
    return 0;

  if (self->n == self->n_allocated)
    {
      gsize n = 2 * self->n_allocated;
      MtlStridedView **views = PyMem_New (MtlStridedView *, n);

      if (views == NULL)
        {
          PyErr_NoMemory ();
          return -1;
        }

      for (gsize i = 0; i < self->n; i++)
        views[i] = self->views[i];
      if (self->views != self->few)
        PyMem_Free (self->views);
      self->views = views;
      self->n_allocated = n;
    }

  self->views[self->n++] = g_object_ref (get_view (object));
  return 0;
}

static int
hold_all (Held     *self,
          PyObject *object)
{
  PyObject *item;
  int status = 0;

  if (!PyList_Check (object) && !PyTuple_Check (object))
    return hold (self, object);

  for (Py_ssize_t i = 0; status == 0 && (item = ref_item (object, i)) != NULL; i++)
    {
      status = hold (self, item);
      Py_DECREF (item);
    }

  return status;
}

/* Only that of a list may have been the last reference. */
static void
let_go (Held *self)
{
  for (gsize i = 0; i < self->n; i++)
    if (g_atomic_int_get (&G_OBJECT (self->views[i])->ref_count) > 1)
      g_object_unref (self->views[i]);
    else
      unref_view (self->views[i]);

  if (self->views != self->few)
    PyMem_Free (self->views);
}

static PyObject *
using_call (PyObject        *callable,
            PyObject *const *args,
            size_t           n_args,
            PyObject        *names)
{
  Using *self = (Using *) callable;
  Py_ssize_t n = PyVectorcall_NARGS (n_args);
  Held held = { .views = held.few, .n_allocated = FEW };
  PyObject *result = NULL;
  Py_ssize_t i = 0;

  n += names != NULL ? PyTuple_GET_SIZE (names) : 0;
  while (i < n && hold_all (&held, args[i]) == 0)
    i++;
  if (i == n)
    result = PyObject_Vectorcall (self->function, args, n_args, names);

  let_go (&held);
  return result;
}

static PyObject *
using_get (PyObject *self,
           PyObject *object,
           PyObject *type)
{
  if (object != NULL && object != Py_None)
    return PyMethod_New (self, object);

  Py_INCREF (self);
  return self;
}

/* The name, the documentation and the arguments are those of the function. */
static PyObject *
using_getattro (PyObject *self,
                PyObject *name)
{
  return PyObject_GetAttr (((Using *) self)->function, name);
}

static PyObject *
using_repr (PyObject *self)
{
  return PyObject_Repr (((Using *) self)->function);
}

static int
using_traverse (PyObject  *self,
                visitproc  visit,
                void      *arg)
{
  Py_VISIT (Py_TYPE (self));
  Py_VISIT (((Using *) self)->function);
  return 0;
}

static int
using_clear (PyObject *self)
{
  Py_CLEAR (((Using *) self)->function);
  return 0;
}

static void
using_dealloc (PyObject *self)
{
  PyTypeObject *type = Py_TYPE (self);

  PyObject_GC_UnTrack (self);
  using_clear (self);
  type->tp_free (self);
  Py_DECREF (type);
}

static PyMemberDef using_members[] = {
  { "__vectorcalloffset__", T_PYSSIZET, offsetof (Using, vectorcall), READONLY, NULL },
  { NULL }
};

static PyType_Slot using_slots[] = {
  { Py_tp_call, PyVectorcall_Call },
  { Py_tp_descr_get, using_get },
  { Py_tp_getattro, using_getattro },
  { Py_tp_repr, using_repr },
  { Py_tp_traverse, using_traverse },
  { Py_tp_clear, using_clear },
  { Py_tp_dealloc, using_dealloc },
  { Py_tp_members, using_members },
  { 0 }
};

static PyType_Spec using_spec = {
  .name = "_mtl.Using",
  .basicsize = sizeof (Using),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
           | Py_TPFLAGS_METHOD_DESCRIPTOR,
  .slots = using_slots,
};

static PyTypeObject *using_type;

int
prepare_use (void)
{
  using_type = (PyTypeObject *) PyType_FromSpec (&using_spec);
  return using_type != NULL ? 0 : -1;
}

PyObject *
module_using (PyObject *module,
              PyObject *function)
{
  Using *self = (Using *) using_type->tp_alloc (using_type, 0);

  if (self == NULL)
    return NULL;

  Py_INCREF (function);
  self->function = function;
  self->vectorcall = using_call;
  return (PyObject *) self;
}
