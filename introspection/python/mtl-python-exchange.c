/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DLPack's C exchange API, which C++ consumers call instead of __dlpack__(). */

#include "mtl-python-exchange-private.h"

/* Only the element type, the shape and the device of the prototype count. */
static gboolean
check_prototype (const DLTensor  *prototype,
                 GError         **error)
{
  static char nothing;
  DLTensor shape_alone = {
    .data = &nothing,
    .device = { MTL_DEVICE_TYPE_CPU, 0 },
    .ndim = prototype->ndim,
    .dtype = prototype->dtype,
    .shape = prototype->shape,
  };

  if (!mtl_dlpack_validate (&shape_alone, error))
    return FALSE;

  if (prototype->dtype.lanes != 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Vectors of %u lanes cannot be allocated: only elements of 1 lane can",
                   prototype->dtype.lanes);
      return FALSE;
    }

  return TRUE;
}

static DLManagedTensorVersioned *
allocate_like (const DLTensor  *prototype,
               GError         **error)
{
  g_autoptr (MtlStridedView) view = NULL;
  MtlDevice *device;

  if (!check_prototype (prototype, error))
    return NULL;

  device = mtl_device_get (prototype->device.device_type, prototype->device.device_id, error);
  if (device != NULL)
    view = mtl_strided_view_new_uninitialized (device,
                                               prototype->dtype.code << 8 | prototype->dtype.bits,
                                               prototype->shape, prototype->ndim,
                                               MTL_STORAGE_MODE_DEFAULT, error);

  return view != NULL ? mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, error)
                      : NULL;
}

/* Called without the GIL. */
static int
allocate_tensor (DLTensor                  *prototype,
                 DLManagedTensorVersioned **out,
                 void                      *error_ctx,
                 SetErrorFunc               set_error)
{
  g_autoptr (GError) error = NULL;

  if (out != NULL)
    *out = NULL;

  if (prototype == NULL || out == NULL)
    g_set_error (&error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "The %s must not be NULL",
                 prototype == NULL ? "prototype" : "place of the result");
  else
    *out = allocate_like (prototype, &error);

  if (error == NULL)
    return 0;

  if (set_error != NULL)
    set_error (error_ctx, error->code == MTL_ERROR_NO_MEMORY ? "MemoryError" : "BufferError",
               error->message);
  return -1;
}

static gboolean
begins_within_byte (MtlStridedView *view)
{
  guint bits = item_bits_of (view);

  return bits % 8 != 0 &&
         mtl_strided_layout_get_offset (mtl_strided_view_get_layout (view)) % 8 * bits % 8 != 0;
}

/* Borrowers see the view's strides, including those that are never used. */
static gboolean
has_any_negative_stride (MtlStridedView *view)
{
  gsize n_dims;
  const gint64 *strides = mtl_strided_view_get_strides (view, &n_dims);

  for (gsize i = 0; i < n_dims; i++)
    if (strides[i] < 0)
      return TRUE;

  return FALSE;
}

/* A peer in C may pass NULL for anything. */
static int
raise_null (const void  *input,
            void       **out)
{
  if (out != NULL)
    *out = NULL;

  PyErr_Format (PyExc_BufferError, "The %s must not be NULL",
                input == NULL ? "object" : "place of the result");
  return -1;
}

static int
managed_from_object (void                      *py_object,
                     DLManagedTensorVersioned **out)
{
  MtlStridedView *view;
  GError *error = NULL;

  if (G_UNLIKELY (py_object == NULL || out == NULL))
    return raise_null (py_object, (void **) out);

  view = view_for_exporter (py_object);
  if (view == NULL)
    {
      *out = NULL;
      return -1;
    }

  *out = export_versioned (view, &error);
  g_object_unref (view);
  return *out != NULL ? 0 : raise_error_int (error, PEER);
}

/* Imports a tensor that is ready in a stream, unless that is 0. Takes it, even on failure. */
MtlStridedView *
take_in_stream (DLManagedTensorVersioned  *managed,
                int                        device_type,
                guint64                    stream,
                GError                   **error)
{
  gboolean is_used = stream != 0 && mtl_dlpack_begin_stream (device_type, stream);
  MtlStridedView *view = mtl_strided_view_new_take_dlpack (managed, error);

  if (is_used)
    mtl_dlpack_end_stream (stream);
  return view;
}

static int
object_from_managed (DLManagedTensorVersioned  *tensor,
                     void                     **out_py_object)
{
  GError *error = NULL;
  MtlStridedView *view;
  DLDevice device;
  guint64 stream = 0;

  if (G_UNLIKELY (tensor == NULL || out_py_object == NULL))
    {
      if (tensor != NULL)
        delete_managed (tensor);
      return raise_null (tensor, out_py_object);
    }

  /* It may be written in the stream that the producer was told. */
  device = tensor->dl_tensor.device;
  if (tensor->version.major == DLPACK_MAJOR_VERSION)
    mtl_dlpack_get_work_stream (device.device_type, device.device_id, &stream);
  view = take_in_stream (tensor, device.device_type, stream, &error);
  *out_py_object = wrap_view (view, &error, PEER);
  return *out_py_object != NULL ? 0 : -1;
}

static gboolean
is_of_cuda (MtlStridedView *view)
{
  MtlStorageMode mode = mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (view));

  return streams_of_device (view_device (view).device_type) == STREAMS_CUDA
         && mode != MTL_STORAGE_MODE_FOREIGN;
}

/* Returns why a DLTensor cannot describe the view, or why a consumer would take
 * it for host memory, or NULL. */
static const char *
find_reason_against_lending (MtlStridedView *view)
{
  if (has_any_negative_stride (view))
    return "A view with negative strides cannot be lent";
  if (mtl_strided_view_is_read_only (view))
    return "A read-only view cannot be lent";
  if (view_device (view).device_type != MTL_DEVICE_TYPE_METAL && !is_of_cuda (view)
      && !mtl_strided_view_is_host_accessible (view))
    return "A view of another device's memory cannot be lent";
  if (begins_within_byte (view))
    return "A view whose first element lies within a byte cannot be lent";

  return NULL;
}

/* The device may refuse to lend Metal memory, just as it may refuse an export. Memory of CUDA must
 * not be used again before the borrower's work is over. */
static gboolean
check_lending (MtlStridedView *view)
{
  DLManagedTensorVersioned *managed;
  GError *error = NULL;

  if (view_device (view).device_type != MTL_DEVICE_TYPE_METAL && !is_of_cuda (view))
    return TRUE;

  managed = mtl_strided_view_to_dlpack (view,
                                        MTL_DLPACK_FLAGS_NEVER_COPY | MTL_DLPACK_FLAGS_NO_SYNC,
                                        NULL, &error);
  if (managed == NULL)
    {
      raise_error (error, PEER);
      return FALSE;
    }

  managed->deleter (managed);
  return TRUE;
}

/* Metal memory is described by its handle and an offset, not by a host
 * address. */
static void
describe_metal (MtlStridedView *view,
                DLTensor       *tensor)
{
  MtlBuffer *buffer = mtl_strided_view_get_buffer (view);

  tensor->data = mtl_buffer_get_handle (buffer);
  if (!mtl_strided_view_is_empty (view))
    tensor->byte_offset = mtl_buffer_get_byte_offset (buffer)
                          + mtl_strided_view_get_byte_offset (view)
                          + mtl_strided_layout_get_offset (mtl_strided_view_get_layout (view))
                              * item_bits_of (view) / 8;
}

/* Lends the view's own shape and strides. */
static int
borrow_tensor (void     *py_object,
               DLTensor *out)
{
  const char *reason;
  MtlStridedView *view;

  if (G_UNLIKELY (py_object == NULL || out == NULL))
    return raise_null (py_object, NULL);

  if (!is_view (py_object))
    {
      PyErr_SetString (PyExc_BufferError, "Only a view can be lent");
      return -1;
    }

  view = get_view (py_object);
  reason = find_reason_against_lending (view);
  if (reason != NULL)
    {
      PyErr_SetString (PyExc_BufferError, reason);
      return -1;
    }
  if (!check_lending (view))
    return -1;

  mtl_strided_view_describe (view, out);
  if (out->device.device_type == MTL_DEVICE_TYPE_METAL)
    describe_metal (view, out);
  return 0;
}

/* NULL is also the stream into which imported memory of ROCm is ordered, and of CUDA if the library
 * does not use CUDA. */
static int
get_work_stream (gint32   device_type,
                 gint32   device_id,
                 void   **out_stream)
{
  guint64 stream;

  if (out_stream == NULL)
    {
      PyErr_SetString (PyExc_BufferError, "The place of the stream must not be NULL");
      return -1;
    }

  *out_stream = NULL;
  if (mtl_dlpack_get_work_stream (device_type, device_id, &stream))
    *out_stream = (void *) (guintptr) stream;
  if (device_type > 0 && device_id >= 0)
    return 0;

  PyErr_Format (PyExc_BufferError, "(%d, %d) is not a valid device", device_type, device_id);
  return -1;
}

static ExchangeApi api = {
  .header = { .version = { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION } },
  .managed_tensor_allocator = allocate_tensor,
  .managed_tensor_from_py_object_no_sync = managed_from_object,
  .managed_tensor_to_py_object_no_sync = object_from_managed,
  .dltensor_from_py_object_no_sync = borrow_tensor,
  .current_work_stream = get_work_stream,
};

int
install_exchange (PyTypeObject *type)
{
  PyObject *capsule = PyCapsule_New (&api, EXCHANGE_API_NAME, NULL);
  int status;

  if (capsule == NULL)
    return -1;

  status = PyObject_SetAttrString ((PyObject *) type, EXCHANGE_ATTRIBUTE, capsule);
  if (status == 0)
    status = PyObject_SetAttrString ((PyObject *) type, OLDER_EXCHANGE_ATTRIBUTE, capsule);
  Py_DECREF (capsule);
  return status;
}
