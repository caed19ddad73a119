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
  PyObject *keywords[4]; /* with max_version: nothing else, device, copy, both */
} names;

int
prepare_import (void)
{
  PyObject *max_version = PyUnicode_InternFromString ("max_version");
  PyObject *dl_device = PyUnicode_InternFromString ("dl_device");

  names.dlpack = PyUnicode_InternFromString ("__dlpack__");
  names.exchange_apis[0] = PyUnicode_InternFromString (EXCHANGE_ATTRIBUTE);
  names.exchange_apis[1] = PyUnicode_InternFromString (OLDER_EXCHANGE_ATTRIBUTE);
  names.device = PyUnicode_InternFromString ("device");
  names.copy = PyUnicode_InternFromString ("copy");
  names.our_version = Py_BuildValue ("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  names.keywords[0] = PyTuple_Pack (1, max_version);
  names.keywords[1] = PyTuple_Pack (2, max_version, dl_device);
  names.keywords[2] = PyTuple_Pack (2, max_version, names.copy);
  names.keywords[3] = PyTuple_Pack (3, max_version, dl_device, names.copy);
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

/* The flags of other major versions are not known. */
static gboolean
is_flagged_as_copied (const DLManagedTensorVersioned *managed)
{
  return managed->version.major == DLPACK_MAJOR_VERSION
         && (managed->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0;
}

static PyObject *
view_from_capsule (PyObject *capsule,
                   gboolean *is_copied)
{
  MtlStridedView *view = NULL;
  GError *error = NULL;
  const char *name;
  gpointer managed;

  *is_copied = FALSE;
  name = PyCapsule_GetName (capsule);
  if (name != NULL && g_str_equal (name, VERSIONED_NAME))
    {
      managed = take_from_capsule (capsule, name, VERSIONED_USED_NAME);
      *is_copied = managed != NULL && is_flagged_as_copied (managed);
      if (managed != NULL)
        view = mtl_strided_view_new_take_dlpack (managed, &error);
    }
  else if (name != NULL && g_str_equal (name, LEGACY_NAME))
    {
      managed = take_from_capsule (capsule, name, LEGACY_USED_NAME);
      if (managed != NULL)
        view = mtl_strided_view_new_take_dlpack_legacy (managed, &error);
    }
  else
    PyErr_Format (PyExc_BufferError,
                  "The capsule is named %.100s, not " LEGACY_NAME " or " VERSIONED_NAME
                  ": a capsule can be consumed only once", name != NULL ? name : "NULL");

  return PyErr_Occurred () != NULL ? NULL : wrap_view (view, &error, PEER);
}

/* Asks for a versioned capsule first. An older producer does not know the
 * keywords, and is then asked without them. */
static PyObject *
ask_for_capsule (PyObject *object,
                 PyObject *device,
                 PyObject *copy)
{
  /* The callee may use the slot before the first argument. */
  PyObject *slots[5] = { NULL, object, names.our_version };
  PyObject **args = slots + 1;
  gsize n = 2;
  PyObject *capsule;

  if (device != Py_None)
    args[n++] = device;
  if (copy != Py_None)
    args[n++] = copy;

  capsule = PyObject_VectorcallMethod (names.dlpack, args,
                                       1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                       names.keywords[(device != Py_None)
                                                          + 2 * (copy != Py_None)]);
  if (capsule != NULL || !PyErr_ExceptionMatches (PyExc_TypeError))
    return capsule;

  PyErr_Clear ();
  return PyObject_VectorcallMethod (names.dlpack, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                    NULL);
}

/* Dropping a reference may run Python code, so a pending exception is saved. */
static void
decref_keeping_exception (PyObject *object)
{
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  Py_XDECREF (object);
  PyErr_Restore (type, value, traceback);
}

/* Returns (type, ordinal), also for a Mtl.Device. */
static PyObject *
device_pair (PyObject *device)
{
  int type, ordinal;

  if (PyObject_TypeCheck (device, classes.device))
    {
      MtlDevice *gdevice = (MtlDevice *) pygobject_get (device);

      if (gdevice == NULL)
        {
          PyErr_SetString (PyExc_TypeError, "device is an object that holds no device");
          return NULL;
        }

      return Py_BuildValue ("(ii)", mtl_device_get_device_type (gdevice),
                            mtl_device_get_device_ordinal (gdevice));
    }

  if (device != Py_None && device_from_object (device, "device", &type, &ordinal) < 0)
    return NULL;

  Py_INCREF (device);
  return device;
}

static PyObject *
check_device (PyObject *wrapper,
              PyObject *device)
{
  MtlStridedView *view = get_view (wrapper);
  int type, ordinal;

  if (device == Py_None)
    return wrapper;

  if (device_from_object (device, "device", &type, &ordinal) == 0)
    {
      if (type == mtl_strided_view_get_device_type_code (view)
          && ordinal == mtl_strided_view_get_device_ordinal (view))
        return wrapper;

      PyErr_Format (PyExc_BufferError,
                    "The producer returned memory of device (%d, %d), not (%d, %d)",
                    mtl_strided_view_get_device_type_code (view),
                    mtl_strided_view_get_device_ordinal (view), type, ordinal);
    }

  decref_keeping_exception (wrapper);
  return NULL;
}

static PyObject *
replace_by_copy (PyObject *wrapper)
{
  PyThreadState *state = leave_python (get_view (wrapper));
  GError *error = NULL;
  MtlStridedView *copy = mtl_strided_view_copy (get_view (wrapper), &error);

  enter_python (state);
  Py_DECREF (wrapper);
  return wrap_view (copy, &error, PEER);
}

/* A bare capsule is used as it is, like the result of a producer without
 * keywords. */
static PyObject *
get_capsule (PyObject *object,
             PyObject *device,
             PyObject *copy)
{
  PyObject *capsule = object;

  if (PyCapsule_CheckExact (object))
    Py_INCREF (capsule);
  else
    capsule = ask_for_capsule (object, device, copy);

  if (capsule == NULL || PyCapsule_CheckExact (capsule))
    return capsule;

  PyErr_Format (PyExc_BufferError, "__dlpack__() of %.100s returned %.100s, not a capsule",
                Py_TYPE (object)->tp_name, Py_TYPE (capsule)->tp_name);
  decref_keeping_exception (capsule);
  return NULL;
}

/* Finds the newest struct that is ours to use. A broken list may go round in a circle. */
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

/* Looks up the attribute on the type, like an operator. The interpreter caches
 * the result until the type changes. */
static const ExchangeApi *
find_exchange_api (PyTypeObject *type)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names.exchange_apis); i++)
    {
      PyObject *capsule = _PyType_Lookup (type, names.exchange_apis[i]);
      const ExchangeApi *api = capsule != NULL ? find_usable_api (capsule) : NULL;

      if (api != NULL)
        return api;
    }

  return NULL;
}

/* Only __dlpack__() makes sure that a device has finished its work, and that
 * complex numbers are not waiting to be conjugated, as they may be in PyTorch.
 * The fields of other major versions may not be used. */
static gboolean
needs_dlpack_method (const DLManagedTensorVersioned *managed)
{
  return managed->version.major == DLPACK_MAJOR_VERSION
         && (managed->dl_tensor.device.device_type != MTL_DEVICE_TYPE_CPU
             || managed->dl_tensor.dtype.code == MTL_TYPE_CODE_COMPLEX);
}

/* Gives back what came with an exception. __dlpack__() is called next, whose exceptions are
 * meant for Python. */
static void
forget_answer (DLManagedTensorVersioned *managed)
{
  if (managed != NULL)
    delete_managed (managed);
  if (PyErr_ExceptionMatches (PyExc_Exception))
    PyErr_Clear ();
}

/* Returns NULL without an exception if __dlpack__() has to be called instead. */
static PyObject *
view_from_exchange (PyObject *object)
{
  const ExchangeApi *api = find_exchange_api (Py_TYPE (object));
  DLManagedTensorVersioned *managed = NULL;
  GError *error = NULL;
  MtlStridedView *view;
  int status;

  if (api == NULL)
    return NULL;

  /* Success is a tensor and no exception. */
  status = api->managed_tensor_from_py_object_no_sync (object, &managed);
  if (G_UNLIKELY (status != 0 || managed == NULL || PyErr_Occurred () != NULL))
    {
      forget_answer (status == 0 ? managed : NULL);
      return NULL;
    }

  if (needs_dlpack_method (managed))
    {
      delete_managed (managed);
      return NULL;
    }

  view = mtl_strided_view_new_take_dlpack (managed, &error);
  return wrap_view (view, &error, PEER);
}

static PyObject *
view_from_dlpack (PyObject *object,
                  PyObject *device,
                  PyObject *copy)
{
  int wants_copy = copy != Py_None ? PyObject_IsTrue (copy) : FALSE;
  PyObject *pair, *capsule, *wrapper = NULL;
  gboolean is_copied;

  if (wants_copy < 0)
    return NULL;
  if (copy != Py_None)
    copy = wants_copy ? Py_True : Py_False;

  pair = device_pair (device);
  if (pair == NULL)
    return NULL;

  capsule = get_capsule (object, pair, copy);
  if (capsule == NULL && wants_copy && PyErr_ExceptionMatches (PyExc_BufferError))
    {
      PyErr_Clear (); /* it makes no copy, but may export memory to copy here */
      capsule = get_capsule (object, pair, Py_None);
    }
  if (capsule != NULL)
    wrapper = view_from_capsule (capsule, &is_copied);
  if (wrapper != NULL)
    wrapper = check_device (wrapper, pair);
  /* Some producers accept the keyword but ignore it. */
  if (wrapper != NULL && wants_copy && !is_copied)
    wrapper = replace_by_copy (wrapper);
  if (wrapper != NULL && copy == Py_False && is_copied)
    {
      PyErr_SetString (PyExc_BufferError, "The producer returned a copy, which copy=False forbids");
      decref_keeping_exception (wrapper);
      wrapper = NULL;
    }

  decref_keeping_exception (capsule);
  Py_DECREF (pair);
  return wrapper;
}

PyObject *
module_from_dlpack (PyObject         *module,
                    PyObject *const  *args,
                    Py_ssize_t        n_args,
                    PyObject         *keywords)
{
  PyObject *device = Py_None, *copy = Py_None;

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

  if (device == Py_None && copy == Py_None)
    {
      PyObject *wrapper = view_from_exchange (args[0]);

      if (wrapper != NULL || PyErr_Occurred () != NULL)
        return wrapper;
    }

  return view_from_dlpack (args[0], device, copy);
}
