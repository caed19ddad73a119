/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Exports with Python's DLPack protocol: __dlpack__() and
 * __dlpack_device__(). */

#include "mtl-python-exchange-private.h"

/* A deleter may wait for a thread that needs the GIL, so the GIL is released. It may also
 * run Python code, so a pending exception is saved. */
static void
delete_legacy (DLManagedTensor *managed)
{
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  Py_BEGIN_ALLOW_THREADS
  managed->deleter (managed);
  Py_END_ALLOW_THREADS
  PyErr_Restore (type, value, traceback);
}

/* The same, for a tensor of a peer, which may have no deleter. */
void
delete_managed (DLManagedTensorVersioned *managed)
{
  PyObject *type, *value, *traceback;

  if (managed->deleter == NULL)
    return;

  PyErr_Fetch (&type, &value, &traceback);
  Py_BEGIN_ALLOW_THREADS
  managed->deleter (managed);
  Py_END_ALLOW_THREADS
  PyErr_Restore (type, value, traceback);
}

/* A consumer renames the capsule, so if it still has its name, the tensor was not taken. */
static void
delete_legacy_capsule (PyObject *capsule)
{
  if (PyCapsule_IsValid (capsule, LEGACY_NAME))
    delete_legacy (PyCapsule_GetPointer (capsule, LEGACY_NAME));
}

static void
delete_versioned_capsule (PyObject *capsule)
{
  if (PyCapsule_IsValid (capsule, VERSIONED_NAME))
    delete_managed (PyCapsule_GetPointer (capsule, VERSIONED_NAME));
}

static PyObject *
capsule_for_legacy (DLManagedTensor *managed)
{
  PyObject *capsule = PyCapsule_New (managed, LEGACY_NAME, delete_legacy_capsule);

  if (capsule == NULL)
    managed->deleter (managed);

  return capsule;
}

static PyObject *
capsule_for_versioned (DLManagedTensorVersioned *managed)
{
  PyObject *capsule = PyCapsule_New (managed, VERSIONED_NAME, delete_versioned_capsule);

  if (capsule == NULL)
    managed->deleter (managed);

  return capsule;
}

/* The keywords of an export, and the most common device. */
static struct
{
  PyObject *max_version;
  PyObject *copy;
  PyObject *stream;
  PyObject *dl_device;
  PyObject *host;
} names;

int
prepare_export (void)
{
  names.max_version = PyUnicode_InternFromString ("max_version");
  names.copy = PyUnicode_InternFromString ("copy");
  names.stream = PyUnicode_InternFromString ("stream");
  names.dl_device = PyUnicode_InternFromString ("dl_device");
  names.host = Py_BuildValue ("(ii)", MTL_DEVICE_TYPE_CPU, 0);
  return PyErr_Occurred () != NULL ? -1 : 0;
}

typedef struct
{
  gboolean versioned;
  gboolean knows_packed;
  MtlDlpackFlags flags;
  int device_type;
  int device_ordinal;
  PyObject *stream; /* borrowed, or NULL */
  guint64 stream_handle; /* CUDA's, or 0 */
} Request;

/* The device decides which streams are valid. */
static int
parse_stream (PyObject *value,
              Request  *request)
{
  if (!PyLong_Check (value))
    {
      PyErr_Format (PyExc_TypeError, "stream must be None or an integer, not %R", value);
      return -1;
    }

  request->stream = value;
  return 0;
}

static int
parse_max_version (PyObject *value,
                   Request  *request)
{
  int major, minor;

  if (version_from_object (value, &major, &minor) < 0)
    return -1;

  request->versioned = major >= 1;
  request->knows_packed = major > 1 || (major == 1 && minor >= 1);
  return 0;
}

static int
parse_copy (PyObject *value,
            Request  *request)
{
  int copy = PyObject_IsTrue (value);

  if (copy < 0)
    return -1;

  request->flags |= copy ? MTL_DLPACK_FLAGS_COPY : MTL_DLPACK_FLAGS_NEVER_COPY;
  return 0;
}

static int
parse_dl_device (PyObject *value,
                 Request  *request)
{
  return device_from_object (value, "dl_device", &request->device_type, &request->device_ordinal);
}

typedef int (* ParseFunc) (PyObject *value,
                           Request  *request);

/* Names in calls are interned, so comparing addresses is usually enough. */
static ParseFunc
find_parser (PyObject *name)
{
  if (name == names.dl_device)
    return parse_dl_device;
  if (name == names.copy)
    return parse_copy;
  if (name == names.max_version)
    return parse_max_version;
  if (name == names.stream)
    return parse_stream;

  return NULL;
}

static ParseFunc
find_parser_by_value (PyObject *name)
{
  PyObject *interned = name;

  Py_INCREF (interned);
  PyUnicode_InternInPlace (&interned);
  Py_DECREF (interned); /* the names that matter are kept */
  return find_parser (interned);
}

static int
parse_keyword (PyObject *name,
               PyObject *value,
               Request  *request)
{
  ParseFunc parse = find_parser (name);

  if (parse == NULL)
    parse = find_parser_by_value (name);

  if (parse == NULL)
    {
      PyErr_Format (PyExc_TypeError, "__dlpack__() got an unexpected keyword argument '%U'", name);
      return -1;
    }

  return value == Py_None ? 0 : parse (value, request);
}

/* Returns whether the memory is exported for its own device. */
static gboolean
is_for_own_device (MtlStridedView *view,
                   const Request  *request)
{
  DLDevice device;

  if (request->device_type == MTL_DEVICE_TYPE_UNKNOWN)
    return TRUE;

  device = view_device (view);
  return request->device_type == device.device_type
         && request->device_ordinal == device.device_id;
}

static gpointer
export_managed (MtlStridedView  *view,
                const Request   *request,
                MtlDlpackFlags   flags,
                GError         **error)
{
  MtlDevice *device = NULL;
  gboolean is_in_stream;
  gpointer managed;

  if (!is_for_own_device (view, request))
    {
      device = mtl_device_get (request->device_type, request->device_ordinal, error);
      if (device == NULL)
        return NULL;
    }

  is_in_stream = request->stream_handle != 0
                 && mtl_dlpack_begin_stream (MTL_DEVICE_TYPE_CUDA, request->stream_handle);
  managed = request->versioned
              ? (gpointer) mtl_strided_view_to_dlpack (view, flags, device, error)
              : (gpointer) mtl_strided_view_to_dlpack_legacy (view, flags, device, error);
  if (is_in_stream)
    mtl_dlpack_end_stream (request->stream_handle);
  return managed;
}

/* Host memory is usually exported in place, with the GIL held. To copy it, or to wait for a
 * device, the GIL is released. */
static gpointer
export_either_way (MtlStridedView  *view,
                   const Request   *request,
                   GError         **error)
{
  Absence absence;
  gpointer managed;

  if (!(request->flags & MTL_DLPACK_FLAGS_COPY) && is_on_host (view))
    {
      GError *local_error = NULL;

      managed = export_managed (view, request, request->flags | MTL_DLPACK_FLAGS_NEVER_COPY,
                                &local_error);
      if (managed != NULL)
        return managed;

      if ((request->flags & MTL_DLPACK_FLAGS_NEVER_COPY)
          || !g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NEEDS_COPY))
        {
          g_propagate_error (error, local_error);
          return NULL;
        }

      g_error_free (local_error);
    }

  absence = leave_python (view, NULL);
  managed = export_managed (view, request, request->flags, error);
  enter_python (absence);
  return managed;
}

DLManagedTensorVersioned *
export_versioned (MtlStridedView  *view,
                  GError         **error)
{
  /* The consumer asks for the stream that it has to wait for. */
  const Request request = { .versioned = TRUE, .knows_packed = TRUE,
                            .flags = MTL_DLPACK_FLAGS_NO_SYNC };

  return export_either_way (view, &request, error);
}

/* DLPack 1.1 introduced elements smaller than a byte. A consumer of an older
 * version takes each for a byte, and reads past the end of the memory. */
static gboolean
check_packed (MtlStridedView *view,
              const Request  *request)
{
  if (request->knows_packed || has_whole_bytes (view))
    return TRUE;

  PyErr_Format (PyExc_BufferError,
                "Elements of %u bits need version 1.1 of DLPack: pass max_version=(1, 1) or later",
                item_bits_of (view));
  return FALSE;
}

/* Gets the integer if it can be the address of a stream, or is one of those with a
 * meaning of its own. */
static gboolean
number_of_stream (PyObject *stream,
                  gint64   *number)
{
  guint64 address;
  int overflow;

  *number = PyLong_AsLongLongAndOverflow (stream, &overflow);
  if (overflow == 0)
    return *number >= -1;
  if (overflow < 0)
    return FALSE;

  *number = G_MAXINT64; /* any larger integer may be an address */
  address = PyLong_AsUnsignedLongLong (stream);
  if (PyErr_Occurred () == NULL)
    return address <= UINTPTR_MAX;

  PyErr_Clear ();
  return FALSE;
}

/* Returns NULL if the array API allows the stream. -1 asks for no order. */
static const char *
find_reason_against_stream (Streams   streams,
                            PyObject *stream)
{
  gint64 number;
  gboolean is_number = number_of_stream (stream, &number);

  if (is_number && number == -1)
    return NULL;

  switch (streams)
    {
    case STREAMS_CUDA:
      if (is_number && number == 0)
        return "it may mean either default stream: use 1 for the legacy one, 2 for the thread's";
      return is_number ? NULL : "use None, -1, 1, 2 or the address of a stream";

    case STREAMS_ROCM:
      return is_number && number != 1 && number != 2
               ? NULL : "use None, -1, 0 or the address of a stream";

    case STREAMS_NONE:
    default:
      return "use None or -1";
    }
}

static gboolean
is_of_host (int type)
{
  return type == MTL_DEVICE_TYPE_CPU || type == MTL_DEVICE_TYPE_CUDA_HOST;
}

static gboolean
check_stream (MtlStridedView *view,
              Request        *request)
{
  const DLDevice own = view_device (view);
  gboolean is_requested = request->device_type != MTL_DEVICE_TYPE_UNKNOWN;
  int type = is_requested ? request->device_type : (int) own.device_type;
  Streams streams = streams_of_device (type);
  g_autofree char *digits = NULL;
  const char *reason;
  gint64 number = LEGACY_STREAM;

  if (request->stream == NULL)
    {
      request->stream_handle = type == MTL_DEVICE_TYPE_CUDA ? LEGACY_STREAM : 0;
      return TRUE;
    }

  reason = find_reason_against_stream (is_of_host (type) ? STREAMS_CUDA : streams,
                                       request->stream);
  if (reason == NULL)
    {
      number_of_stream (request->stream, &number);
      if (number == -1)
        request->flags |= MTL_DLPACK_FLAGS_NO_SYNC;
      else if (streams == STREAMS_CUDA || type == MTL_DEVICE_TYPE_CUDA_HOST)
        request->stream_handle = PyLong_AsUnsignedLongLongMask (request->stream);
      return TRUE;
    }

  digits = dup_digits (request->stream);
  PyErr_Format (PyExc_BufferError, "stream %s is not supported for device (%d, %d): %s", digits,
                type, is_requested ? request->device_ordinal : own.device_id, reason);
  return FALSE;
}

static PyObject *
capsule_for_managed (gpointer       managed,
                     const Request *request)
{
  return request->versioned ? capsule_for_versioned (managed) : capsule_for_legacy (managed);
}

/* The library's advice is for the author of the consumer. */
static PyObject *
raise_export_error (GError        *error,
                    const Request *request)
{
  if (!request->versioned)
    add_advice (&error, MTL_ERROR_READ_ONLY,
                "in JAX, use jax.numpy.asarray(view), or pass a view that can be written, such as"
                " view.copy() or one of a file that is opened with Mtl.load(path, mode='read')");
  return raise_error (error, PEER);
}

static PyObject *
export_view (MtlStridedView *view,
             Request        *request)
{
  GError *error = NULL;
  gpointer managed;

  if (!check_packed (view, request) || !check_stream (view, request))
    return NULL;

  managed = export_either_way (view, request, &error);
  return managed != NULL ? capsule_for_managed (managed, request)
                         : raise_export_error (error, request);
}

static PyObject *
exporter_dlpack (PyObject        *self,
                 PyObject *const *args,
                 Py_ssize_t       n_args,
                 PyObject        *keywords)
{
  Request request = { 0 };
  MtlStridedView *view;
  PyObject *capsule;

  meet_numpy ();
  if (n_args > 0)
    {
      PyErr_Format (PyExc_TypeError, "__dlpack__() takes only keyword arguments (%zd given)",
                    n_args);
      return NULL;
    }

  for (Py_ssize_t i = 0; keywords != NULL && i < PyTuple_GET_SIZE (keywords); i++)
    if (parse_keyword (PyTuple_GET_ITEM (keywords, i), args[i], &request) < 0)
      return NULL;

  if (is_view (self))
    return export_view (get_view (self), &request);

  view = view_for_exporter (self);
  if (view == NULL)
    return NULL;

  capsule = export_view (view, &request);
  g_object_unref (view);
  return capsule;
}

static PyObject *
exporter_dlpack_device (PyObject *self,
                        PyObject *unused)
{
  MtlStridedView *view = is_view (self) ? get_view (self) : view_for_exporter (self);
  DLDevice device;
  gint64 pair[2];

  if (view == NULL)
    return NULL;

  device = view_device (view);
  pair[0] = device.device_type;
  pair[1] = device.device_id;
  if (!is_view (self))
    g_object_unref (view);
  if (pair[0] != MTL_DEVICE_TYPE_CPU)
    return tuple_from_ints (pair, 2);

  Py_INCREF (names.host);
  return names.host;
}

static PyMethodDef exporter_methods[] = {
  { "__dlpack__", WITH_NAMES (exporter_dlpack),
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
    "The memory as a DLPack capsule, without a copy unless one is requested or needed.\n\n"
    "For CUDA and ROCm memory, stream is the consumer's stream: None, -1, 1, 2 or an address\n"
    "for CUDA, None, -1, 0 or an address for ROCm. A stream of CUDA waits for the work on the\n"
    "memory, and the host does not. Nothing is done for a stream of ROCm: imported memory is\n"
    "ordered into the default stream. Other memory takes None and -1." },
  { "__dlpack_device__", exporter_dlpack_device, METH_NOARGS,
    "__dlpack_device__($self, /)\n--\n\nThe DLPack device: its type and its number." },
  { NULL }
};

int
install_export (PyTypeObject *type)
{
  return install_methods (type, exporter_methods);
}
