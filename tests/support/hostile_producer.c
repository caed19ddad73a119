/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Peers that say and do whatever a test tells them to. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "hostile-producer.h"

typedef struct
{
  PyObject_HEAD
  HostileProducer peer;
  gboolean is_misaligned; /* the shape and the strides */
  PyObject *shape; /* a tuple or None */
  PyObject *strides;

  /* The answer of the exchange API. */
  int status;
  char gives;
  PyObject *exception; /* or NULL */

  int n_exported;
  GSList *kept; /* exports without a deleter */
} Producer;

/* Returns the numbers of a tuple, which the caller frees, or none. */
static HostileDims
get_dims (PyObject *tuple,
          gboolean  is_misaligned)
{
  HostileDims dims = { .shift = is_misaligned };
  gint64 *numbers;

  if (tuple == Py_None)
    return dims;

  dims.n = PyTuple_GET_SIZE (tuple);
  dims.numbers = numbers = g_new (gint64, dims.n + 1);
  for (gsize i = 0; i < dims.n; i++)
    numbers[i] = PyLong_AsLongLong (PyTuple_GET_ITEM (tuple, i));

  return dims;
}

static gpointer
new_managed (Producer *self)
{
  HostileDims shape = get_dims (self->shape, self->is_misaligned);
  HostileDims strides = get_dims (self->strides, self->is_misaligned);
  HostileExport *export = hostile_export_new (&self->peer, shape, strides);

  g_free ((gpointer) shape.numbers);
  g_free ((gpointer) strides.numbers);
  self->n_exported++;
  if (!self->peer.has_deleter)
    self->kept = g_slist_prepend (self->kept, export);
  return export->managed;
}


/* Producer(legacy, (major, minor), flags, address, (device, id), ndim, (code, bits, lanes),
 * shape, strides, byte_offset, has_deleter, misaligned) */
static PyObject *
producer_new (PyTypeObject *type,
              PyObject     *args,
              PyObject     *keywords)
{
  Producer *self = (Producer *) type->tp_alloc (type, 0);
  HostileProducer *peer = &self->peer;
  DLTensor *tensor = &peer->tensor;
  unsigned long long flags, address, byte_offset;

  if (!PyArg_ParseTuple (args, "p(II)KK(ii)i(BBH)OOKpp", &peer->is_legacy, &peer->version.major,
                         &peer->version.minor, &flags, &address, &tensor->device.device_type,
                         &tensor->device.device_id, &tensor->ndim, &tensor->dtype.code,
                         &tensor->dtype.bits, &tensor->dtype.lanes, &self->shape, &self->strides,
                         &byte_offset, &peer->has_deleter, &self->is_misaligned))
    {
      self->shape = self->strides = NULL;
      Py_DECREF (self);
      return NULL;
    }

  Py_INCREF (self->shape);
  Py_INCREF (self->strides);
  peer->flags = flags;
  tensor->data = (gpointer) (guintptr) address;
  tensor->byte_offset = byte_offset;
  self->gives = TRUE;
  return (PyObject *) self;
}

static void
producer_dealloc (PyObject *object)
{
  Producer *self = (Producer *) object;
  PyTypeObject *type = Py_TYPE (object);

  g_slist_free_full (self->kept, (GDestroyNotify) hostile_export_free);
  Py_XDECREF (self->shape);
  Py_XDECREF (self->strides);
  Py_XDECREF (self->exception);
  type->tp_free (object);
  Py_DECREF (type);
}

/* Deletes the tensor if no consumer took it, as producers do. */
static void
delete_capsule (PyObject *capsule)
{
  const char *name = PyCapsule_GetName (capsule);
  DLManagedTensorVersioned *versioned;
  DLManagedTensor *legacy;

  if (name != NULL && strcmp (name, "dltensor") == 0)
    {
      legacy = PyCapsule_GetPointer (capsule, name);
      if (legacy->deleter != NULL)
        legacy->deleter (legacy);
    }
  else if (name != NULL && strcmp (name, "dltensor_versioned") == 0)
    {
      versioned = PyCapsule_GetPointer (capsule, name);
      if (versioned->deleter != NULL)
        versioned->deleter (versioned);
    }
}

static PyObject *
producer_capsule (PyObject *object,
                  PyObject *unused)
{
  Producer *self = (Producer *) object;

  return PyCapsule_New (new_managed (self), self->peer.is_legacy ? "dltensor" : "dltensor_versioned",
                        delete_capsule);
}

static PyMethodDef producer_methods[] = {
  { "capsule", producer_capsule, METH_NOARGS, NULL },
  { NULL }
};

static PyMemberDef producer_members[] = {
  { "status", T_INT, G_STRUCT_OFFSET (Producer, status), 0, NULL },
  { "gives", T_BOOL, G_STRUCT_OFFSET (Producer, gives), 0, NULL },
  { "exception", T_OBJECT, G_STRUCT_OFFSET (Producer, exception), 0, NULL },
  { "n_exported", T_INT, G_STRUCT_OFFSET (Producer, n_exported), READONLY, NULL },
  { "n_deleted", T_INT, G_STRUCT_OFFSET (Producer, peer.n_deleted), READONLY, NULL },
  { NULL }
};

static PyType_Spec producer_spec = {
  .name = "hostile_producer.Producer",
  .basicsize = sizeof (Producer),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
  .slots = (PyType_Slot[]) {
    { Py_tp_new, producer_new },
    { Py_tp_dealloc, producer_dealloc },
    { Py_tp_methods, producer_methods },
    { Py_tp_members, producer_members },
    { 0 },
  },
};

/* The struct of DLPack 1.3. */
typedef struct Api Api;
struct Api
{
  DLPackVersion version;
  Api *prev_api;
  gpointer allocate;
  int (* export) (void *object, DLManagedTensorVersioned **out);
  gpointer import;
  gpointer borrow;
  gpointer work_stream;
};

static int
export_as_told (void                      *object,
                DLManagedTensorVersioned **out)
{
  Producer *self = object;

  if (self->exception != NULL && self->exception != Py_None)
    PyErr_SetString (self->exception, "as told");
  if (self->gives)
    *out = new_managed (self);
  return self->status;
}

static void
free_apis (PyObject *capsule)
{
  free (PyCapsule_GetContext (capsule));
}

/* exchange_api([(major, minor, has_function), …], next of the last or -1): a list of structs,
 * for as long as there is the capsule. */
static PyObject *
hostile_exchange_api (PyObject *module,
                      PyObject *args)
{
  PyObject *versions, *capsule;
  Py_ssize_t n;
  Api *apis;
  int next;

  if (!PyArg_ParseTuple (args, "O!i", &PyList_Type, &versions, &next))
    return NULL;

  n = PyList_GET_SIZE (versions);
  apis = calloc (n, sizeof *apis);
  for (Py_ssize_t i = 0; i < n; i++)
    {
      int has_function;

      if (!PyArg_ParseTuple (PyList_GET_ITEM (versions, i), "IIp", &apis[i].version.major,
                             &apis[i].version.minor, &has_function))
        {
          free (apis);
          return NULL;
        }
      apis[i].export = has_function ? export_as_told : NULL;
      apis[i].prev_api = i + 1 < n ? &apis[i + 1] : next >= 0 ? &apis[next] : NULL;
    }

  capsule = PyCapsule_New (apis, "dlpack_exchange_api", free_apis);
  PyCapsule_SetContext (capsule, apis);
  return capsule;
}

/* Another protocol: what is in the Py_buffer is as told. */
typedef struct
{
  PyObject_HEAD
  Py_buffer buffer; /* but for the object, the shape and the strides */
  PyObject *format; /* bytes or None */
  PyObject *shape;  /* a tuple or None */
  PyObject *strides;
  PyObject *suboffsets;
  int n_exported;
  int n_released;
} Exporter;

/* Exporter(address, length, itemsize, readonly, ndim, format, shape, strides, suboffsets) */
static PyObject *
exporter_new (PyTypeObject *type,
              PyObject     *args,
              PyObject     *keywords)
{
  Exporter *self = (Exporter *) type->tp_alloc (type, 0);
  Py_buffer *buffer = &self->buffer;
  unsigned long long address;

  if (!PyArg_ParseTuple (args, "KnniiOOOO", &address, &buffer->len, &buffer->itemsize,
                         &buffer->readonly, &buffer->ndim, &self->format, &self->shape,
                         &self->strides, &self->suboffsets))
    {
      self->format = self->shape = self->strides = self->suboffsets = NULL;
      Py_DECREF (self);
      return NULL;
    }

  buffer->buf = (gpointer) (guintptr) address;
  Py_INCREF (self->format);
  Py_INCREF (self->shape);
  Py_INCREF (self->strides);
  Py_INCREF (self->suboffsets);
  return (PyObject *) self;
}

static void
exporter_dealloc (PyObject *object)
{
  Exporter *self = (Exporter *) object;
  PyTypeObject *type = Py_TYPE (object);

  Py_XDECREF (self->format);
  Py_XDECREF (self->shape);
  Py_XDECREF (self->strides);
  Py_XDECREF (self->suboffsets);
  type->tp_free (object);
  Py_DECREF (type);
}

static Py_ssize_t *
new_buffer_dims (PyObject *tuple)
{
  HostileDims dims = get_dims (tuple, FALSE);
  gpointer block;

  hostile_dims_new (dims, &block);
  g_free ((gpointer) dims.numbers);
  return block;
}

static int
exporter_get_buffer (PyObject  *object,
                     Py_buffer *buffer,
                     int        flags)
{
  Exporter *self = (Exporter *) object;

  *buffer = self->buffer;
  buffer->shape = new_buffer_dims (self->shape);
  buffer->strides = new_buffer_dims (self->strides);
  buffer->suboffsets = new_buffer_dims (self->suboffsets);
  buffer->format = self->format != Py_None ? strdup (PyBytes_AS_STRING (self->format)) : NULL;
  buffer->obj = object;
  Py_INCREF (object);
  self->n_exported++;
  return 0;
}

static void
exporter_release_buffer (PyObject  *object,
                         Py_buffer *buffer)
{
  free (buffer->shape);
  free (buffer->strides);
  free (buffer->suboffsets);
  free (buffer->format);
  ((Exporter *) object)->n_released++;
}

static PyMemberDef exporter_members[] = {
  { "n_exported", T_INT, G_STRUCT_OFFSET (Exporter, n_exported), READONLY, NULL },
  { "n_released", T_INT, G_STRUCT_OFFSET (Exporter, n_released), READONLY, NULL },
  { NULL }
};

static PyType_Spec exporter_spec = {
  .name = "hostile_producer.Exporter",
  .basicsize = sizeof (Exporter),
  .flags = Py_TPFLAGS_DEFAULT,
  .slots = (PyType_Slot[]) {
    { Py_tp_new, exporter_new },
    { Py_tp_dealloc, exporter_dealloc },
    { Py_tp_members, exporter_members },
    { Py_bf_getbuffer, exporter_get_buffer },
    { Py_bf_releasebuffer, exporter_release_buffer },
    { 0 },
  },
};

static gpointer
delete_elsewhere (gpointer managed)
{
  DLManagedTensorVersioned *versioned = managed;

  versioned->deleter (versioned);
  return NULL;
}

/* delete_on_thread(address): of a versioned tensor, on a thread that Python does not know,
 * while this one keeps Python's lock. */
static PyObject *
hostile_delete_on_thread (PyObject *module,
                          PyObject *address)
{
  gpointer managed = PyLong_AsVoidPtr (address);

  if (managed == NULL)
    return NULL;

  g_thread_join (g_thread_new ("deletes", delete_elsewhere, managed));
  Py_RETURN_NONE;
}

/* guarded_memory(size): the address of memory that ends at a page that traps. */
static PyObject *
hostile_guarded_memory (PyObject *module,
                        PyObject *size)
{
  gsize n = PyLong_AsSize_t (size);

  if (PyErr_Occurred ())
    return NULL;

  return PyLong_FromVoidPtr (hostile_guarded_new (n));
}

static PyMethodDef methods[] = {
  { "exchange_api", hostile_exchange_api, METH_VARARGS, NULL },
  { "delete_on_thread", hostile_delete_on_thread, METH_O, NULL },
  { "guarded_memory", hostile_guarded_memory, METH_O, NULL },
  { NULL }
};

static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "hostile_producer",
  .m_size = -1,
  .m_methods = methods,
};

PyMODINIT_FUNC PyInit_hostile_producer (void);

PyMODINIT_FUNC
PyInit_hostile_producer (void)
{
  PyObject *module = PyModule_Create (&definition);

  if (module == NULL
      || PyModule_AddObject (module, "Producer", PyType_FromSpec (&producer_spec)) < 0
      || PyModule_AddObject (module, "Exporter", PyType_FromSpec (&exporter_spec)) < 0)
    return NULL;

  return module;
}
