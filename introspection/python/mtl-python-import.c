/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Imports with Python's DLPack protocol: from_dlpack(). */

#include "mtl-python-exchange-private.h"

/* More versions of the exchange API than a producer has. */
#define MAX_EXCHANGE_APIS 64

/* Names and values that each import passes. */
static struct
{
  PyObject *dlpack;
  PyObject *exchange_apis[2]; /* the attribute and its older spelling */
  PyObject *device;
  PyObject *copy;
  PyObject *our_version;
  PyObject *cuda_interface;
  PyObject *stream;
  PyObject *no_order;
  PyObject *cuda_stream; /* the legacy default streams */
  PyObject *rocm_stream;
  PyObject *keywords[8]; /* max_version, with or without those of Keywords */
  PyObject *stream_alone;
} names;

/* Bits of an index. */
typedef enum
{
  WITH_DEVICE = 1 << 0,
  WITH_COPY = 1 << 1,
  WITH_STREAM = 1 << 2,
} Keywords;

/* The arguments with which a producer is asked for its tensor. All are borrowed; None is
 * not passed. */
typedef struct
{
  PyObject *object; /* the producer, or a capsule */
  PyObject *device; /* a pair */
  PyObject *copy;   /* True or False */
  PyObject *stream;
  guint64 address;  /* where the producer's own memory is, or 0 if that is not known */
} Question;

/* The facts that a capsule tells beside its view. */
typedef struct
{
  gboolean is_copied;
  DLDevice device;
} Answer;

static const DLDevice unknown_device = { MTL_DEVICE_TYPE_UNKNOWN, 0 };

int
prepare_import (void)
{
  PyObject *max_version = PyUnicode_InternFromString ("max_version");
  PyObject *dl_device = PyUnicode_InternFromString ("dl_device");
  PyObject *stream = PyUnicode_InternFromString ("stream");

  names.dlpack = PyUnicode_InternFromString ("__dlpack__");
  names.exchange_apis[0] = PyUnicode_InternFromString (EXCHANGE_ATTRIBUTE);
  names.exchange_apis[1] = PyUnicode_InternFromString (OLDER_EXCHANGE_ATTRIBUTE);
  names.device = PyUnicode_InternFromString ("device");
  names.copy = PyUnicode_InternFromString ("copy");
  names.our_version = Py_BuildValue ("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  names.cuda_interface = PyUnicode_InternFromString ("__cuda_array_interface__");
  names.stream = PyUnicode_InternFromString ("stream");
  names.no_order = PyLong_FromLong (-1);
  names.cuda_stream = PyLong_FromLong (1);
  names.rocm_stream = PyLong_FromLong (0);
  names.keywords[0] = PyTuple_Pack (1, max_version);
  names.keywords[WITH_DEVICE] = PyTuple_Pack (2, max_version, dl_device);
  names.keywords[WITH_COPY] = PyTuple_Pack (2, max_version, names.copy);
  names.keywords[WITH_DEVICE | WITH_COPY] = PyTuple_Pack (3, max_version, dl_device, names.copy);
  names.keywords[WITH_STREAM] = PyTuple_Pack (2, max_version, stream);
  names.keywords[WITH_STREAM | WITH_DEVICE] = PyTuple_Pack (3, max_version, dl_device, stream);
  names.keywords[WITH_STREAM | WITH_COPY] = PyTuple_Pack (3, max_version, names.copy, stream);
  names.keywords[WITH_STREAM | WITH_DEVICE | WITH_COPY] =
    PyTuple_Pack (4, max_version, dl_device, names.copy, stream);
  names.stream_alone = PyTuple_Pack (1, stream);
  return PyErr_Occurred () != NULL ? -1 : 0;
}

/* Takes the tensor out of the capsule. The new name marks it as consumed, so
 * the producer's destructor has nothing to do and need not be called. */
static gpointer
take_from_capsule (PyObject   *capsule,
                   const char *name,
                   const char *used_name)
{
  gpointer managed = PyCapsule_GetPointer (capsule, name);

  if (PyCapsule_SetName (capsule, used_name) < 0
      || PyCapsule_SetDestructor (capsule, NULL) < 0)
    return NULL;

  return managed;
}

static void
delete_constant (DLManagedTensorVersioned *managed)
{
  DLManagedTensor *legacy = managed->manager_ctx;

  if (legacy->deleter != NULL)
    legacy->deleter (legacy);
  g_free (managed);
}

/* The legacy form has no flag for read-only memory. */
static DLManagedTensorVersioned *
version_of_constant (DLManagedTensor *legacy)
{
  DLManagedTensorVersioned *managed = g_new (DLManagedTensorVersioned, 1);

  *managed = (DLManagedTensorVersioned) {
    .version = { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION },
    .manager_ctx = legacy,
    .deleter = delete_constant,
    .flags = DLPACK_FLAG_BITMASK_READ_ONLY,
    .dl_tensor = legacy->dl_tensor,
  };
  return managed;
}

/* A bare capsule cannot be asked whether its memory is constant. */
static PyObject *
view_from_legacy_capsule (PyObject *object,
                          PyObject *capsule,
                          Answer   *answer)
{
  int constant = object != capsule ? is_constant (object) : FALSE;
  DLManagedTensor *managed;
  MtlStridedView *view;
  GError *error = NULL;

  if (constant < 0)
    return NULL;

  managed = take_from_capsule (capsule, LEGACY_NAME, LEGACY_USED_NAME);
  if (managed == NULL)
    return NULL;

  answer->device = managed->dl_tensor.device;
  view = constant ? mtl_strided_view_new_take_dlpack (version_of_constant (managed), &error)
                  : mtl_strided_view_new_take_dlpack_legacy (managed, &error);
  return wrap_view (view, &error, PEER);
}

static PyObject *
view_from_versioned_capsule (PyObject *capsule,
                             Answer   *answer)
{
  DLManagedTensorVersioned *managed = take_from_capsule (capsule, VERSIONED_NAME,
                                                         VERSIONED_USED_NAME);
  MtlStridedView *view;
  GError *error = NULL;

  if (managed == NULL)
    return NULL;

  /* The fields of other major versions are not known. */
  if (managed->version.major == DLPACK_MAJOR_VERSION)
    {
      answer->is_copied = (managed->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0;
      answer->device = managed->dl_tensor.device;
    }

  view = mtl_strided_view_new_take_dlpack (managed, &error);
  return wrap_view (view, &error, PEER);
}

static PyObject *
view_from_capsule (PyObject *object,
                   PyObject *capsule,
                   Answer   *answer)
{
  const char *name = PyCapsule_GetName (capsule);

  *answer = (Answer) { FALSE, unknown_device };
  if (name != NULL && g_str_equal (name, VERSIONED_NAME))
    return view_from_versioned_capsule (capsule, answer);
  if (name != NULL && g_str_equal (name, LEGACY_NAME))
    return view_from_legacy_capsule (object, capsule, answer);

  PyErr_Format (PyExc_BufferError,
                "The capsule is named %.100s, not " LEGACY_NAME " or " VERSIONED_NAME
                ": a capsule can be consumed only once", name != NULL ? name : "NULL");
  return NULL;
}

/* Asks for a versioned capsule first. An older producer does not know the
 * keywords, and is then asked without them; all but the stream, which the
 * first version of the protocol had. */
static PyObject *
ask_for_capsule (const Question *self)
{
  /* The callee may use the slot before the first argument. */
  PyObject *slots[6] = { NULL, self->object, names.our_version };
  PyObject **args = slots + 1;
  const gsize flags = 1 | PY_VECTORCALL_ARGUMENTS_OFFSET;
  Keywords keywords = 0;
  gsize n = 2;
  PyObject *capsule;

  if (self->device != Py_None)
    {
      args[n++] = self->device;
      keywords |= WITH_DEVICE;
    }
  if (self->copy != Py_None)
    {
      args[n++] = self->copy;
      keywords |= WITH_COPY;
    }
  if (self->stream != Py_None)
    {
      args[n++] = self->stream;
      keywords |= WITH_STREAM;
    }

  capsule = PyObject_VectorcallMethod (names.dlpack, args, flags, names.keywords[keywords]);
  if (capsule != NULL || !PyErr_ExceptionMatches (PyExc_TypeError))
    return capsule;

  if (self->stream != Py_None)
    {
      PyErr_Clear ();
      args[1] = self->stream;
      capsule = PyObject_VectorcallMethod (names.dlpack, args, flags, names.stream_alone);
      if (capsule != NULL || !PyErr_ExceptionMatches (PyExc_TypeError))
        return capsule;
    }

  PyErr_Clear ();
  return PyObject_VectorcallMethod (names.dlpack, args, flags, NULL);
}

/* Dropping a reference may run Python code, so a pending exception is saved. */
static void
decref_keeping_exception (PyObject *object)
{
  PyObject *type, *value, *traceback;

  if (object == NULL)
    return;

  PyErr_Fetch (&type, &value, &traceback);
  Py_DECREF (object);
  PyErr_Restore (type, value, traceback);
}

static PyObject *
device_of_name (PyObject *name)
{
  PyObject *module = PyImport_ImportModule ("gi.overrides._mtl_defaults");
  PyObject *device = NULL;

  if (module != NULL)
    device = PyObject_CallMethod (module, "device_of", "O", name);

  Py_XDECREF (module);
  return device;
}

/* Returns (type, ordinal), also for a Mtl.Device or the name of one. */
static PyObject *
device_pair (PyObject *device)
{
  int type, ordinal;

  if (PyUnicode_Check (device))
    {
      PyObject *named = device_of_name (device);
      PyObject *pair = named != NULL ? device_pair (named) : NULL;

      Py_XDECREF (named);
      return pair;
    }

  if (PyObject_TypeCheck (device, classes.device))
    {
      MtlDevice *gdevice = (MtlDevice *) pygobject_get (device);

      if (gdevice == NULL)
        {
          PyErr_SetString (PyExc_TypeError, "device is an object that holds no device");
          return NULL;
        }

      return Py_BuildValue ("(ii)", mtl_device_get_device_type (gdevice),
                            mtl_device_get_ordinal (gdevice));
    }

  if (device != Py_None && device_from_object (device, "device", &type, &ordinal) < 0)
    return NULL;

  Py_INCREF (device);
  return device;
}

/* Pinned and managed memory of CUDA comes in as what it is. It may go out as memory of a GPU. */
static PyObject *
check_device (PyObject     *wrapper,
              PyObject     *device,
              const Answer *answer)
{
  const DLDevice own = view_device (get_view (wrapper));
  DLDevice said = own;
  int type, ordinal;

  if (device == Py_None)
    return wrapper;

  if (own.device_type == MTL_DEVICE_TYPE_CUDA_HOST || own.device_type == MTL_DEVICE_TYPE_CUDA_MANAGED)
    said = answer->device;
  if (device_from_object (device, "device", &type, &ordinal) == 0)
    {
      if ((type == own.device_type && ordinal == own.device_id)
          || (type == said.device_type && ordinal == said.device_id))
        return wrapper;

      PyErr_Format (PyExc_BufferError,
                    "The producer returned memory of device (%d, %d), not (%d, %d)",
                    own.device_type, own.device_id, type, ordinal);
    }

  decref_keeping_exception (wrapper);
  return NULL;
}

static PyObject *
replace_by_copy (PyObject *wrapper)
{
  Absence absence = leave_python (get_view (wrapper), NULL);
  GError *error = NULL;
  MtlStridedView *copy = mtl_strided_view_copy (get_view (wrapper), MTL_ORDER_C, NULL, &error);

  enter_python (absence);
  Py_DECREF (wrapper);
  return wrap_view (copy, &error, PEER);
}

/* A bare capsule is used as it is, like the result of a producer without
 * keywords. */
static PyObject *
get_capsule (const Question *self)
{
  PyObject *capsule = self->object;

  if (PyCapsule_CheckExact (self->object))
    Py_INCREF (capsule);
  else
    capsule = ask_for_capsule (self);

  if (capsule == NULL || PyCapsule_CheckExact (capsule))
    return capsule;

  PyErr_Format (PyExc_BufferError, "__dlpack__() of %.100s returned %.100s, not a capsule",
                Py_TYPE (self->object)->tp_name, Py_TYPE (capsule)->tp_name);
  decref_keeping_exception (capsule);
  return NULL;
}

static PyObject *
get_view_once (const Question *self,
               Answer         *answer)
{
  PyObject *capsule = get_capsule (self);
  PyObject *wrapper;

  if (capsule == NULL && self->copy == Py_True && PyErr_ExceptionMatches (PyExc_BufferError))
    {
      Question without_copy = *self;

      PyErr_Clear (); /* it makes no copy, but may export memory to copy here */
      without_copy.copy = Py_None;
      capsule = get_capsule (&without_copy);
    }
  if (capsule == NULL)
    return NULL;

  wrapper = view_from_capsule (self->object, capsule, answer);
  decref_keeping_exception (capsule);
  return wrapper;
}

/* Finds the newest struct that this module can use. A broken list may go round in a
 * circle. */
static const ExchangeApi *
find_usable_api (PyObject *capsule)
{
  const ExchangeHeader *header;

  if (!PyCapsule_CheckExact (capsule))
    return NULL;

  header = PyCapsule_GetPointer (capsule, EXCHANGE_API_NAME);
  if (header == NULL)
    PyErr_Clear (); /* it has another name */

  for (int i = 0; header != NULL && i < MAX_EXCHANGE_APIS; i++, header = header->prev_api)
    if (header->version.major == DLPACK_MAJOR_VERSION
        && ((const ExchangeApi *) header)->managed_tensor_from_py_object_no_sync != NULL)
      return (const ExchangeApi *) header;

  return NULL;
}

/* The structs live as long as the type. */
static const ExchangeApi *
find_exchange_api (PyObject *object)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names.exchange_apis); i++)
    {
      PyObject *capsule = look_up_on_type (object, names.exchange_apis[i]);
      const ExchangeApi *api = capsule != NULL ? find_usable_api (capsule) : NULL;

      Py_XDECREF (capsule);
      if (api != NULL)
        return api;
    }

  return NULL;
}

/* Returns whether the producer says in which stream it works on the tensor. */
static gboolean
find_work_stream (const ExchangeApi *api,
                  DLDevice           device,
                  guint64           *stream)
{
  void *address = NULL;

  if (streams_of_device (device.device_type) != STREAMS_CUDA || api->current_work_stream == NULL)
    return FALSE;

  if (api->current_work_stream (device.device_type, device.device_id, &address) != 0)
    {
      PyErr_Clear ();
      return FALSE;
    }

  *stream = address != NULL ? (guintptr) address : LEGACY_STREAM;
  return TRUE;
}

/* If the stream of a producer is not known, only __dlpack__() makes sure that a device has
 * finished its work. It also makes sure that complex numbers are not waiting to be conjugated, as
 * they may be in PyTorch. The fields of other major versions may not be used. */
static gboolean
needs_dlpack_method (const DLManagedTensorVersioned *managed,
                     const ExchangeApi              *api,
                     DLDevice                       *device,
                     guint64                        *stream)
{
  if (managed->version.major != DLPACK_MAJOR_VERSION)
    return FALSE;

  *device = managed->dl_tensor.device;
  return managed->dl_tensor.dtype.code == kDLComplex
         || (device->device_type != MTL_DEVICE_TYPE_CPU
             && !find_work_stream (api, *device, stream));
}

/* Drops the tensor that came with an exception. __dlpack__() is called next, whose
 * exceptions are meant for Python. */
static void
forget_answer (DLManagedTensorVersioned *managed)
{
  if (managed != NULL)
    delete_managed (managed);
  if (PyErr_ExceptionMatches (PyExc_Exception))
    PyErr_Clear ();
}

/* Returns whether the stream is there, or -1 with an exception that ends a program. JAX has none,
 * and its host would wait. */
static int
find_interface_stream (PyObject *object,
                       guint64  *stream)
{
  int is_without = type_has (object, names.cuda_interface) ? is_jax_array (object) : TRUE;
  PyObject *interface, *value = NULL;

  *stream = 0;
  if (is_without != FALSE)
    return is_without < 0 ? -1 : FALSE;

  interface = PyObject_GetAttr (object, names.cuda_interface);
  if (interface != NULL)
    value = PyObject_GetItem (interface, names.stream);
  if (value != NULL && PyLong_Check (value))
    *stream = PyLong_AsUnsignedLongLong (value);
  Py_XDECREF (value);
  Py_XDECREF (interface);
  if (PyErr_Occurred () == NULL)
    return *stream != 0;

  *stream = 0;
  return forget_exception ();
}

/* Returns whether the producer says in which stream it works, or -1 as above. Then that is ordered
 * here: a producer whose stream captures a graph would make the library's stream a part of it. */
static int
find_producer_stream (PyObject *object,
                      DLDevice  device,
                      guint64  *stream)
{
  const ExchangeApi *api = find_exchange_api (object);

  return api != NULL ? find_work_stream (api, device, stream)
                     : find_interface_stream (object, stream);
}

/* Success is a tensor and no exception. Returns NULL if __dlpack__() has to be called
 * instead, with an exception if it ends a program. */
static DLManagedTensorVersioned *
export_by_exchange (const ExchangeApi *api,
                    PyObject          *object)
{
  DLManagedTensorVersioned *managed = NULL;
  int status = api->managed_tensor_from_py_object_no_sync (object, &managed);

  if (G_LIKELY (status == 0 && managed != NULL && PyErr_Occurred () == NULL))
    return managed;

  forget_answer (status == 0 ? managed : NULL);
  return NULL;
}

/* Imports a tensor that is ready in a stream, unless that is 0. Returns NULL without an exception
 * if the library cannot wait for it. */
static PyObject *
import_from_stream (DLManagedTensorVersioned *managed,
                    int                       device_type,
                    guint64                   stream)
{
  GError *error = NULL;
  MtlStridedView *view;

  if (stream != 0 && !mtl_dlpack_begin_stream (device_type, stream))
    {
      delete_managed (managed);
      return NULL;
    }

  view = mtl_strided_view_new_take_dlpack (managed, &error);
  if (stream != 0)
    mtl_dlpack_end_stream (stream);
  return wrap_view (view, &error, PEER);
}

/* Returns NULL without an exception if __dlpack__() has to be called instead. */
static PyObject *
view_from_exchange (PyObject *object,
                    DLDevice *device)
{
  const ExchangeApi *api = find_exchange_api (object);
  DLManagedTensorVersioned *managed = api != NULL ? export_by_exchange (api, object) : NULL;
  guint64 stream = 0;

  if (managed == NULL)
    return NULL;

  if (needs_dlpack_method (managed, api, device, &stream) || refuse_lazy_real (object) < 0)
    {
      delete_managed (managed);
      return NULL;
    }

  return import_from_stream (managed, device->device_type, stream);
}

/* The device whose stream has to wait: the requested one, unless the producer has no streams. One
 * of pinned memory may have them. */
static DLDevice
device_of_stream (const Question *self,
                  DLDevice        found)
{
  int type, ordinal;

  if (self->device == Py_None
      || (streams_of_device (found.device_type) == STREAMS_NONE
          && found.device_type != MTL_DEVICE_TYPE_CUDA_HOST)
      || device_from_object (self->device, "device", &type, &ordinal) < 0
      || streams_of_device (type) == STREAMS_NONE)
    return found;

  return (DLDevice) { type, ordinal };
}

/* The stream into which a producer orders its work: the library's, or without one, that of
 * other calls without a stream. Blocking streams wait for that one, no matter which one takes the
 * memory next. */
static PyObject *
new_stream_for_device (DLDevice device)
{
  guint64 stream;

  switch (streams_of_device (device.device_type))
    {
    case STREAMS_CUDA:
      if (mtl_dlpack_get_work_stream (device.device_type, device.device_id, &stream))
        return PyLong_FromUnsignedLongLong (stream);

      Py_INCREF (names.cuda_stream);
      return names.cuda_stream;
    case STREAMS_ROCM:
      Py_INCREF (names.rocm_stream);
      return names.rocm_stream;
    case STREAMS_NONE:
    default:
      Py_RETURN_NONE;
    }
}

/* A copy should not be made twice, and memory that a producer brings to a device may come
 * from one without streams: then the device has to be known before the memory is asked
 * for. If they are asked without a stream, JAX makes the host wait, and CuPy the legacy stream.
 * Returns -1 with an exception that ends a program. */
static int
needs_device_first (const Question *self)
{
  int type, ordinal;

  if (PyCapsule_CheckExact (self->object))
    return FALSE;
  if (self->device == Py_None)
    return self->copy == Py_True || type_has (self->object, names.cuda_interface)
             ? TRUE : is_jax_array (self->object);

  return device_from_object (self->device, "device", &type, &ordinal) == 0
         && streams_of_device (type) != STREAMS_NONE;
}

/* The exchange API takes a tenth of the time of PyTorch's __dlpack_device__(). */
static int
find_device (Question *self,
             DLDevice *device)
{
  const ExchangeApi *api = find_exchange_api (self->object);
  DLManagedTensorVersioned *managed = NULL;

  if (api == NULL)
    return ask_for_device (self->object, device);

  managed = export_by_exchange (api, self->object);
  if (managed == NULL)
    return PyErr_Occurred () != NULL ? -1 : ask_for_device (self->object, device);

  *device = unknown_device;
  if (managed->version.major == DLPACK_MAJOR_VERSION
      && (int) managed->dl_tensor.device.device_type > 0)
    {
      *device = managed->dl_tensor.device;
      self->address = (guintptr) managed->dl_tensor.data + managed->dl_tensor.byte_offset;
    }
  delete_managed (managed);
  return 0;
}

/* Checks that the library itself works in streams of the device. */
static gboolean
is_used_here (DLDevice device)
{
  guint64 stream;

  return streams_of_device (device.device_type) == STREAMS_CUDA
         && mtl_dlpack_get_work_stream (device.device_type, device.device_id, &stream);
}

/* A producer that was given a stream has ordered its work into it. */
static PyObject *
get_view_in_stream (Question *self,
                    DLDevice  device,
                    Answer   *answer)
{
  PyObject *wrapper = NULL;
  gboolean is_used = FALSE;
  int is_known = FALSE;
  guint64 stream = 0;

  device = device_of_stream (self, device);
  if (is_used_here (device))
    is_known = find_producer_stream (self->object, device, &stream);
  if (is_known < 0)
    return NULL;

  if (is_known)
    {
      Py_INCREF (names.no_order);
      self->stream = names.no_order;
    }
  else
    self->stream = new_stream_for_device (device);
  if (self->stream != NULL && streams_of_device (device.device_type) == STREAMS_CUDA)
    {
      if (!is_known)
        stream = PyLong_AsUnsignedLongLong (self->stream);
      is_used = mtl_dlpack_begin_stream (device.device_type, stream);
    }

  if (self->stream != NULL)
    wrapper = get_view_once (self, answer);

  if (is_used)
    mtl_dlpack_end_stream (stream);
  decref_keeping_exception (self->stream);
  self->stream = Py_None;
  return wrapper;
}

/* The tensor itself says whether its device has streams, which is rare. Then the producer
 * is asked again, with a stream. */
static PyObject *
get_ordered_view (Question *self,
                  DLDevice  device,
                  Answer   *answer)
{
  int asks_first = device.device_type == MTL_DEVICE_TYPE_UNKNOWN ? needs_device_first (self)
                                                                 : FALSE;
  PyObject *wrapper;

  if (asks_first < 0 || (asks_first && find_device (self, &device) < 0))
    return NULL;

  /* A producer without a device, which the array API does not allow, is asked again, too. */
  if (device.device_type == MTL_DEVICE_TYPE_UNKNOWN)
    asks_first = FALSE;
  wrapper = get_view_in_stream (self, device, answer);
  if (wrapper == NULL || asks_first || streams_of_device (device.device_type) != STREAMS_NONE
      || PyCapsule_CheckExact (self->object)
      || streams_of_device (answer->device.device_type) == STREAMS_NONE)
    return wrapper;

  Py_DECREF (wrapper);
  return get_view_in_stream (self, answer->device, answer);
}

/* PyTorch makes a copy and does not say so. */
static gboolean
is_elsewhere (const Question *self,
              PyObject       *wrapper)
{
  guint64 address = mtl_strided_view_get_address (get_view (wrapper));

  return self->address != 0 && address != 0 && address != self->address;
}

static PyObject *
check_copy (const Question *self,
            PyObject       *wrapper,
            gboolean        is_copied)
{
  /* Some producers accept the keyword but ignore it. */
  if (self->copy == Py_True && !is_copied && !is_elsewhere (self, wrapper))
    return replace_by_copy (wrapper);
  if (self->copy != Py_False || !is_copied)
    return wrapper;

  PyErr_SetString (PyExc_BufferError, "The producer returned a copy, which copy=False forbids");
  decref_keeping_exception (wrapper);
  return NULL;
}

static PyObject *
get_checked_view (Question *self,
                  DLDevice  device)
{
  PyObject *wrapper;
  Answer answer;

  wrapper = get_ordered_view (self, device, &answer);
  if (wrapper != NULL)
    wrapper = check_device (wrapper, self->device, &answer);
  if (wrapper != NULL)
    wrapper = check_copy (self, wrapper, answer.is_copied);

  return wrapper;
}

/* Elements that the producer only computes when it reads them are imported as a copy that
 * it makes. */
static PyObject *
view_of_copy (Question *self,
              DLDevice  device)
{
  PyObject *producer = self->object;
  PyObject *resolved = resolve_lazy (producer);
  PyObject *wrapper;

  if (resolved == NULL)
    return NULL;

  self->object = resolved;
  if (resolved != producer)
    self->copy = Py_None;
  wrapper = get_checked_view (self, device);
  decref_keeping_exception (resolved);
  return wrapper;
}

/* The type of the producer's device is MTL_DEVICE_TYPE_UNKNOWN if it is not known yet. */
static PyObject *
view_from_dlpack (PyObject *object,
                  PyObject *device,
                  PyObject *copy,
                  DLDevice  found)
{
  int wants_copy = copy != Py_None ? PyObject_IsTrue (copy) : FALSE;
  Question question = { .object = object, .copy = copy, .stream = Py_None };
  PyObject *wrapper = NULL;

  if (wants_copy < 0)
    return NULL;
  if (copy != Py_None)
    question.copy = wants_copy ? Py_True : Py_False;

  question.device = device_pair (device);
  if (question.device == NULL)
    return NULL;

  if (wants_copy)
    wrapper = view_of_copy (&question, found);
  else if (refuse_lazy (object) == 0)
    wrapper = get_checked_view (&question, found);

  Py_DECREF (question.device);
  return wrapper;
}

PyObject *
module_from_dlpack (PyObject         *module,
                    PyObject *const  *args,
                    Py_ssize_t        n_args,
                    PyObject         *keywords)
{
  PyObject *device = Py_None, *copy = Py_None;
  DLDevice found = unknown_device;

  meet_numpy ();
  if (n_args != 1)
    {
      PyErr_Format (PyExc_TypeError, "from_dlpack() takes one positional argument (%zd given)",
                    n_args);
      return NULL;
    }

  for (Py_ssize_t i = 0; keywords != NULL && i < PyTuple_GET_SIZE (keywords); i++)
    {
      PyObject *name = PyTuple_GET_ITEM (keywords, i);

      if (PyUnicode_Compare (name, names.device) == 0)
        device = args[1 + i];
      else if (PyUnicode_Compare (name, names.copy) == 0)
        copy = args[1 + i];
      else
        {
          PyErr_Format (PyExc_TypeError, "from_dlpack() got an unexpected keyword argument '%U'",
                        name);
          return NULL;
        }
    }

  if (refuse_masked (args[0]) < 0)
    return NULL;

  if (device == Py_None && copy == Py_None)
    {
      PyObject *wrapper = view_from_exchange (args[0], &found);

      if (wrapper != NULL || PyErr_Occurred () != NULL)
        return wrapper;
    }

  return view_from_dlpack (args[0], device, copy, found);
}
