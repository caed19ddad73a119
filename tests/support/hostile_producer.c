/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Peers that say and do whatever a test tells them to. What they give away lies in blocks of
 * its own, of no more than its size, so that the sanitizer sees any other access. Deleters
 * touch C only. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <mtldl/mtldl-dlpack.h>

typedef struct
{
  PyObject_HEAD
  gboolean is_legacy;
  gboolean has_deleter;
  gboolean is_misaligned; /* the shape and the strides */
  DLPackVersion version;
  guint64 flags;
  DLTensor tensor; /* but for the shape and the strides */
  PyObject *shape; /* a tuple or None */
  PyObject *strides;

  /* How the exchange API answers. */
  int status;
  char gives;
  PyObject *exception; /* or NULL */

  int n_exported;
  int n_deleted; /* atomic */
  GSList *kept;  /* what has no deleter */
} Producer;

/* What a tensor consists of. */
typedef struct
{
  Producer *producer;
  gpointer managed;
  gpointer shape;
  gpointer strides;
} Export;

static void
free_export (Export *self)
{
  free (self->managed);
  free (self->shape);
  free (self->strides);
  free (self);
}

static void
delete_export (Export *self)
{
  g_atomic_int_inc (&self->producer->n_deleted);
  free_export (self);
}

static void
delete_versioned (DLManagedTensorVersioned *managed)
{
  delete_export (managed->manager_ctx);
}

static void
delete_legacy (DLManagedTensor *managed)
{
  delete_export (managed->manager_ctx);
}

/* Returns the block, and the numbers in it. */
static gpointer
new_dims (PyObject  *tuple,
          gboolean   is_misaligned,
          gint64   **dims)
{
  Py_ssize_t n = tuple != Py_None ? PyTuple_GET_SIZE (tuple) : 0;
  char *block;

  *dims = NULL;
  if (tuple == Py_None)
    return NULL;

  block = malloc (n * sizeof (gint64) + is_misaligned);
  *dims = (gpointer) (block + is_misaligned);
  for (Py_ssize_t i = 0; i < n; i++)
    {
      gint64 number = PyLong_AsLongLong (PyTuple_GET_ITEM (tuple, i));

      memcpy (block + is_misaligned + i * sizeof number, &number, sizeof number);
    }

  return block;
}

static gpointer
new_managed (Producer *self)
{
  Export *export = malloc (sizeof *export);
  DLTensor tensor = self->tensor;

  *export = (Export) { .producer = self };
  export->shape = new_dims (self->shape, self->is_misaligned, &tensor.shape);
  export->strides = new_dims (self->strides, self->is_misaligned, &tensor.strides);
  if (self->is_legacy)
    {
      DLManagedTensor *managed = export->managed = malloc (sizeof *managed);

      *managed = (DLManagedTensor) { tensor, export, self->has_deleter ? delete_legacy : NULL };
    }
  else
    {
      DLManagedTensorVersioned *managed = export->managed = malloc (sizeof *managed);

      *managed = (DLManagedTensorVersioned) {
        self->version, export, self->has_deleter ? delete_versioned : NULL, self->flags, tensor,
      };
    }

  self->n_exported++;
  if (!self->has_deleter)
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
  DLTensor *tensor = &self->tensor;
  unsigned long long flags, address, byte_offset;

  if (!PyArg_ParseTuple (args, "p(II)KK(ii)i(BBH)OOKpp", &self->is_legacy, &self->version.major,
                         &self->version.minor, &flags, &address, &tensor->device.device_type,
                         &tensor->device.device_id, &tensor->ndim, &tensor->dtype.code,
                         &tensor->dtype.bits, &tensor->dtype.lanes, &self->shape, &self->strides,
                         &byte_offset, &self->has_deleter, &self->is_misaligned))
    {
      self->shape = self->strides = NULL;
      Py_DECREF (self);
      return NULL;
    }

  Py_INCREF (self->shape);
  Py_INCREF (self->strides);
  self->flags = flags;
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

  g_slist_free_full (self->kept, (GDestroyNotify) free_export);
  Py_XDECREF (self->shape);
  Py_XDECREF (self->strides);
  Py_XDECREF (self->exception);
  type->tp_free (object);
  Py_DECREF (type);
}

/* As a producer does: what nobody took is deleted. */
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

  return PyCapsule_New (new_managed (self), self->is_legacy ? "dltensor" : "dltensor_versioned",
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
  { "n_deleted", T_INT, G_STRUCT_OFFSET (Producer, n_deleted), READONLY, NULL },
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

/* As in DLPack 1.3. */
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

static int
exporter_get_buffer (PyObject  *object,
                     Py_buffer *buffer,
                     int        flags)
{
  Exporter *self = (Exporter *) object;

  *buffer = self->buffer;
  new_dims (self->shape, FALSE, (gint64 **) &buffer->shape);
  new_dims (self->strides, FALSE, (gint64 **) &buffer->strides);
  new_dims (self->suboffsets, FALSE, (gint64 **) &buffer->suboffsets);
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

static PyMethodDef methods[] = {
  { "exchange_api", hostile_exchange_api, METH_VARARGS, NULL },
  { "delete_on_thread", hostile_delete_on_thread, METH_O, NULL },
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
