/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A consumer in C++ of DLPack's C exchange API, but in C: it takes the API from the type once, and
 * calls its functions with Python's objects and without Python's attributes. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <mtldl/mtldl-dlpack.h>

typedef void (* SetErrorFunc) (void       *context,
                               const char *kind,
                               const char *message);

/* The struct of DLPack 1.3. */
typedef struct
{
  DLPackVersion version;
  void *prev_api;
  int (* allocate)    (DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                       SetErrorFunc set_error);
  int (* export)      (void *object, DLManagedTensorVersioned **out);
  int (* import)      (DLManagedTensorVersioned *tensor, void **out);
  int (* borrow)      (void *object, DLTensor *out);
  int (* work_stream) (gint32 device_type, gint32 device_id, void **out);
} Api;

G_STATIC_ASSERT (sizeof (Api) == 16 + 5 * sizeof (void *));

/* A new reference is of no use to a consumer: the API is there for good. */
static const Api *
find_api (PyObject *type)
{
  PyObject *capsule = PyObject_GetAttrString (type, "__dlpack_c_exchange_api__");
  const Api *api;

  if (capsule == NULL)
    return NULL;

  api = PyCapsule_GetPointer (capsule, "dlpack_exchange_api");
  Py_DECREF (capsule);
  return api;
}

static PyObject *
consumer_version (PyObject *module,
                  PyObject *type)
{
  const Api *api = find_api (type);

  if (api == NULL)
    return NULL;

  return Py_BuildValue ("(IIi)", api->version.major, api->version.minor, api->prev_api != NULL);
}

static PyObject *
dims_to_tuple (const gint64 *dims,
               int           n)
{
  PyObject *tuple = PyTuple_New (n);

  for (int i = 0; i < n; i++)
    PyTuple_SET_ITEM (tuple, i, PyLong_FromLongLong (dims[i]));

  return tuple;
}

static PyObject *
tensor_to_dict (const DLTensor *tensor)
{
  return Py_BuildValue ("{s(ii)s(iii)sNsNsKsK}",
                        "device", tensor->device.device_type, tensor->device.device_id,
                        "dtype", tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes,
                        "shape", dims_to_tuple (tensor->shape, tensor->ndim),
                        "strides", dims_to_tuple (tensor->strides, tensor->ndim),
                        "data", (unsigned long long) (guintptr) tensor->data,
                        "byte_offset", (unsigned long long) tensor->byte_offset);
}

/* describe(object): the tensor that is exported, and the one that is lent. */
static PyObject *
consumer_describe (PyObject *module,
                   PyObject *object)
{
  const Api *api = find_api ((PyObject *) Py_TYPE (object));
  DLManagedTensorVersioned *managed = NULL;
  DLTensor lent;
  PyObject *result;

  if (api == NULL || api->borrow (object, &lent) != 0 || api->export (object, &managed) != 0)
    return NULL;

  result = Py_BuildValue ("(NNK)", tensor_to_dict (&managed->dl_tensor), tensor_to_dict (&lent),
                          (unsigned long long) managed->flags);
  managed->deleter (managed);
  return result;
}

/* export(object): and nothing more, to see it refused. */
static PyObject *
consumer_export (PyObject *module,
                 PyObject *args)
{
  PyObject *type, *object;
  DLManagedTensorVersioned *managed = NULL;
  const Api *api;

  if (!PyArg_ParseTuple (args, "OO", &type, &object))
    return NULL;

  api = find_api (type);
  if (api == NULL || api->export (object, &managed) != 0)
    return NULL;

  managed->deleter (managed);
  Py_RETURN_NONE;
}

static PyObject *
consumer_borrow (PyObject *module,
                 PyObject *args)
{
  PyObject *type, *object;
  const Api *api;
  DLTensor lent;

  if (!PyArg_ParseTuple (args, "OO", &type, &object))
    return NULL;

  api = find_api (type);
  if (api == NULL || api->borrow (object, &lent) != 0)
    return NULL;

  Py_RETURN_NONE;
}

/* round_trip(object, n): out and in again, n times over. */
static PyObject *
consumer_round_trip (PyObject *module,
                     PyObject *args)
{
  PyObject *object;
  const Api *api;
  int n;

  if (!PyArg_ParseTuple (args, "Oi", &object, &n))
    return NULL;

  api = find_api ((PyObject *) Py_TYPE (object));
  if (api == NULL)
    return NULL;

  Py_INCREF (object);
  for (int i = 0; i < n; i++)
    {
      DLManagedTensorVersioned *managed = NULL;
      void *result = NULL;
      int status = api->export (object, &managed);

      Py_DECREF (object);
      if (status != 0 || api->import (managed, &result) != 0)
        return NULL;
      object = result;
    }

  return object;
}

static void
delete_and_count (DLManagedTensorVersioned *managed)
{
  ++*(int *) managed->manager_ctx;
}

/* import_version(type, major): how often the deleter of a tensor of that version,
 * whose other fields make no sense, was called; the exception is given too. */
static PyObject *
consumer_import_version (PyObject *module,
                         PyObject *args)
{
  DLManagedTensorVersioned managed = { .deleter = delete_and_count };
  PyObject *type, *kind, *value, *traceback;
  void *result = NULL;
  const Api *api;
  int n_deleted = 0;

  if (!PyArg_ParseTuple (args, "OI", &type, &managed.version.major))
    return NULL;

  managed.manager_ctx = &n_deleted;
  managed.dl_tensor.ndim = -1;
  api = find_api (type);
  if (api == NULL)
    return NULL;

  if (api->import (&managed, &result) == 0)
    {
      PyErr_SetString (PyExc_AssertionError, "taken, although it makes no sense");
      return NULL;
    }

  PyErr_Fetch (&kind, &value, &traceback);
  PyErr_NormalizeException (&kind, &value, &traceback);
  Py_XDECREF (kind);
  Py_XDECREF (traceback);
  return Py_BuildValue ("(iN)", n_deleted, value);
}

typedef struct
{
  const Api *api;
  DLTensor prototype;
  DLManagedTensorVersioned *managed;
  char *kind;
  char *message;
  int status;
} Allocation;

static void
keep_error (void       *context,
            const char *kind,
            const char *message)
{
  Allocation *self = context;

  self->kind = g_strdup (kind);
  self->message = g_strdup (message);
}

static gpointer
allocate (gpointer data)
{
  Allocation *self = data;

  self->status = self->api->allocate (&self->prototype, &self->managed, self, keep_error);
  return NULL;
}

/* allocate(type, shape, device, dtype): on a thread that Python does not know,
 * while this one keeps Python's lock. The object, or the error's kind and
 * message. */
static PyObject *
consumer_allocate (PyObject *module,
                   PyObject *args)
{
  Allocation self = { NULL };
  gint64 shape[8];
  PyObject *type, *dims, *object;
  DLTensor *prototype = &self.prototype;
  void *result = NULL;

  if (!PyArg_ParseTuple (args, "OO!(ii)(BBH)", &type, &PyTuple_Type, &dims,
                         &prototype->device.device_type, &prototype->device.device_id,
                         &prototype->dtype.code, &prototype->dtype.bits, &prototype->dtype.lanes))
    return NULL;

  self.api = find_api (type);
  if (self.api == NULL)
    return NULL;

  prototype->ndim = PyTuple_GET_SIZE (dims);
  prototype->shape = shape;
  for (int i = 0; i < prototype->ndim && i < 8; i++)
    shape[i] = PyLong_AsLongLong (PyTuple_GET_ITEM (dims, i));

  g_thread_join (g_thread_new ("allocates", allocate, &self));
  if (self.status != 0)
    {
      object = Py_BuildValue ("(ss)", self.kind, self.message);
      g_free (self.kind);
      g_free (self.message);
      return object;
    }

  return self.api->import (self.managed, &result) == 0 ? result : NULL;
}

static PyObject *
consumer_work_stream (PyObject *module,
                      PyObject *args)
{
  PyObject *type;
  int device_type, device_id;
  void *stream = &stream;
  const Api *api;

  if (!PyArg_ParseTuple (args, "Oii", &type, &device_type, &device_id))
    return NULL;

  api = find_api (type);
  if (api == NULL || api->work_stream (device_type, device_id, &stream) != 0)
    return NULL;

  return PyLong_FromVoidPtr (stream);
}

static PyObject *refusal;

static int
refuse (void                      *object,
        DLManagedTensorVersioned **out)
{
  PyErr_SetString (refusal, "refused");
  return -1;
}

/* refusing_api(exception): of a producer that exports nothing. */
static PyObject *
consumer_refusing_api (PyObject *module,
                       PyObject *exception)
{
  static Api api = { .version = { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION }, .export = refuse };

  Py_INCREF (exception);
  Py_XSETREF (refusal, exception);
  return PyCapsule_New (&api, "dlpack_exchange_api", NULL);
}

static PyMethodDef methods[] = {
  { "version", consumer_version, METH_O, NULL },
  { "describe", consumer_describe, METH_O, NULL },
  { "export", consumer_export, METH_VARARGS, NULL },
  { "borrow", consumer_borrow, METH_VARARGS, NULL },
  { "round_trip", consumer_round_trip, METH_VARARGS, NULL },
  { "import_version", consumer_import_version, METH_VARARGS, NULL },
  { "allocate", consumer_allocate, METH_VARARGS, NULL },
  { "work_stream", consumer_work_stream, METH_VARARGS, NULL },
  { "refusing_api", consumer_refusing_api, METH_O, NULL },
  { NULL }
};

static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "exchange_consumer",
  .m_size = -1,
  .m_methods = methods,
};

PyMODINIT_FUNC PyInit_exchange_consumer (void);

PyMODINIT_FUNC
PyInit_exchange_consumer (void)
{
  return PyModule_Create (&definition);
}
