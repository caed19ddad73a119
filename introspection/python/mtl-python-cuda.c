/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of CUDA at an address, for __cuda_array_interface__. */

#include "mtl-python-exchange-private.h"

typedef struct
{
  DLManagedTensorVersioned managed;
  gpointer kept; /* the owner */
  gint64 dims[];
} Lent;

static void
delete_lent (DLManagedTensorVersioned *managed)
{
  Lent *self = (Lent *) managed;

  release_anywhere (self->kept);
  g_free (self);
}

static int
ints_from_tuple (PyObject *tuple,
                 gint64   *values)
{
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (tuple); i++)
    if (int64_from_object (PyTuple_GET_ITEM (tuple, i), &values[i], PyExc_OverflowError) < 0)
      return -1;

  return 0;
}

static Lent *
lent_new (PyObject *owner,
          PyObject *shape,
          PyObject *strides)
{
  Py_ssize_t n_dims = PyTuple_GET_SIZE (shape);
  Lent *self = PyTuple_GET_SIZE (strides) == n_dims
                 ? g_try_malloc0 (sizeof *self + 2 * n_dims * sizeof (gint64)) : NULL;

  if (self == NULL)
    {
      PyErr_NoMemory ();
      return NULL;
    }

  self->kept = keep_object (owner);
  if (self->kept == NULL || ints_from_tuple (shape, self->dims) < 0
      || ints_from_tuple (strides, self->dims + n_dims) < 0)
    {
      if (self->kept != NULL)
        release_anywhere (self->kept);
      g_free (self);
      return NULL;
    }

  self->managed.dl_tensor.ndim = n_dims;
  self->managed.dl_tensor.shape = self->dims;
  self->managed.dl_tensor.strides = self->dims + n_dims;
  return self;
}

PyObject *
module_from_cuda (PyObject *module,
                  PyObject *args)
{
  PyObject *owner, *shape, *strides;
  unsigned long long address, stream;
  int code, bits, read_only;
  GError *error = NULL;
  MtlStridedView *view;
  Lent *lent;

  if (!PyArg_ParseTuple (args, "OK(ii)O!O!pK", &owner, &address, &code, &bits, &PyTuple_Type,
                         &shape, &PyTuple_Type, &strides, &read_only, &stream))
    return NULL;

  lent = lent_new (owner, shape, strides);
  if (lent == NULL)
    return NULL;

  lent->managed.version = (DLPackVersion) { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION };
  lent->managed.flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  lent->managed.deleter = delete_lent;
  lent->managed.dl_tensor.data = (void *) (guintptr) address;
  lent->managed.dl_tensor.device = (DLDevice) { MTL_DEVICE_TYPE_CUDA, 0 };
  lent->managed.dl_tensor.dtype = (DLDataType) { code, bits, 1 };

  view = take_in_stream (&lent->managed, MTL_DEVICE_TYPE_CUDA, stream, &error);
  return wrap_view (view, &error, PEER);
}

PyObject *
module_await_work (PyObject *module,
                   PyObject *object)
{
  if (!is_view (object))
    return PyErr_Format (PyExc_TypeError, "a view is needed, not %R", object);

  if (await_work (get_view (object)) < 0)
    return NULL;

  Py_RETURN_NONE;
}

/* Returns the address of the first element and the stream that the consumer has to wait for, or
 * None if the view's memory is not of CUDA. */
PyObject *
module_lend_cuda (PyObject *module,
                  PyObject *object)
{
  DLManagedTensorVersioned *managed;
  MtlStridedView *view;
  GError *error = NULL;
  guint64 stream = 0;
  MtlDevice *own;
  DLDevice device;

  if (!is_view (object))
    return PyErr_Format (PyExc_TypeError, "a view is needed, not %R", object);

  view = get_view (object);
  own = mtl_strided_view_get_device (view);
  device = view_device (view);
  if ((device.device_type != MTL_DEVICE_TYPE_CUDA_HOST
       && streams_of_device (device.device_type) != STREAMS_CUDA)
      || !mtl_dlpack_get_work_stream (mtl_device_get_device_type (own),
                                      mtl_device_get_ordinal (own), &stream))
    Py_RETURN_NONE;

  managed = mtl_strided_view_to_dlpack (view,
                                        MTL_DLPACK_FLAGS_NEVER_COPY | MTL_DLPACK_FLAGS_NO_SYNC
                                        | MTL_DLPACK_FLAGS_NEGATIVE_STRIDES, own, &error);
  if (managed == NULL)
    return raise_error (error, PEER);

  managed->deleter (managed);
  return Py_BuildValue ("(KK)", (unsigned long long) mtl_strided_view_get_address (view),
                        (unsigned long long) stream);
}
