/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Python's DLPack protocol: __dlpack__() and from_dlpack(). */

#include "mtl-python-private.h"

#include "mtl-dlpack-abi-private.h"

#define LEGACY_NAME "dltensor"
#define LEGACY_USED_NAME "used_dltensor"
#define VERSIONED_NAME "dltensor_versioned"
#define VERSIONED_USED_NAME "used_dltensor_versioned"

/* A consumer renames the capsule, so that a name that is left means that
 * nobody took the tensor. What ends with it may run Python code, to which an
 * exception that is pending here does not belong. */
static void
delete_legacy_capsule (PyObject *capsule)
{
  PyObject *type, *value, *traceback;
  DLManagedTensor *managed;

  if (!PyCapsule_IsValid (capsule, LEGACY_NAME))
    return;

  PyErr_Fetch (&type, &value, &traceback);
  managed = PyCapsule_GetPointer (capsule, LEGACY_NAME);
  managed->deleter (managed);
  PyErr_Restore (type, value, traceback);
}

static void
delete_versioned_capsule (PyObject *capsule)
{
  PyObject *type, *value, *traceback;
  DLManagedTensorVersioned *managed;

  if (!PyCapsule_IsValid (capsule, VERSIONED_NAME))
    return;

  PyErr_Fetch (&type, &value, &traceback);
  managed = PyCapsule_GetPointer (capsule, VERSIONED_NAME);
  managed->deleter (managed);
  PyErr_Restore (type, value, traceback);
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

/* Names and values that each exchange passes. */
static struct
{
  PyObject *max_version;
  PyObject *copy;
  PyObject *stream;
  PyObject *dl_device;
  PyObject *dlpack;
  PyObject *device;
  PyObject *our_version;
  PyObject *keywords[4]; /* by what else is passed: nothing, device, copy, both */
} names;

int
prepare_dlpack (void)
{
  names.max_version = PyUnicode_InternFromString ("max_version");
  names.copy = PyUnicode_InternFromString ("copy");
  names.stream = PyUnicode_InternFromString ("stream");
  names.dl_device = PyUnicode_InternFromString ("dl_device");
  names.dlpack = PyUnicode_InternFromString ("__dlpack__");
  names.device = PyUnicode_InternFromString ("device");
  names.our_version = Py_BuildValue ("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  names.keywords[0] = PyTuple_Pack (1, names.max_version);
  names.keywords[1] = PyTuple_Pack (2, names.max_version, names.dl_device);
  names.keywords[2] = PyTuple_Pack (2, names.max_version, names.copy);
  names.keywords[3] = PyTuple_Pack (3, names.max_version, names.dl_device, names.copy);
  return PyErr_Occurred () != NULL ? -1 : 0;
}

typedef struct
{
  gboolean versioned;
  MtlDlpackFlags flags;
  int device_type;
  int device_ordinal;
} Request;

/* (type, ordinal), (major, minor): what is not a pair is a TypeError. */
static int
parse_pair (PyObject   *object,
            const char *what,
            int        *first,
            int        *second)
{
  long a, b;

  if (!PyTuple_Check (object) || PyTuple_GET_SIZE (object) != 2)
    {
      PyErr_Format (PyExc_TypeError, "%s has to be a tuple of two integers, not %R", what, object);
      return -1;
    }

  a = PyLong_AsLong (PyTuple_GET_ITEM (object, 0));
  b = a == -1 && PyErr_Occurred () != NULL ? -1 : PyLong_AsLong (PyTuple_GET_ITEM (object, 1));
  if (PyErr_Occurred () != NULL)
    return -1;

  *first = CLAMP (a, G_MININT, G_MAXINT);
  *second = CLAMP (b, G_MININT, G_MAXINT);
  return 0;
}

static int
parse_stream (PyObject *value,
              Request  *request)
{
  long stream;

  if (!PyLong_Check (value))
    {
      PyErr_Format (PyExc_TypeError, "stream has to be None or an integer, not %R", value);
      return -1;
    }

  stream = PyLong_AsLong (value);
  if (stream == -1 && PyErr_Occurred () == NULL)
    return 0;

  PyErr_Clear ();
  PyErr_Format (PyExc_BufferError, "stream %R: there are no streams here, only None and -1",
                value);
  return -1;
}

static int
parse_max_version (PyObject *value,
                   Request  *request)
{
  int major, minor;

  if (parse_pair (value, "max_version", &major, &minor) < 0)
    return -1;

  request->versioned = major >= 1;
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
  return parse_pair (value, "dl_device", &request->device_type, &request->device_ordinal);
}

typedef int (* ParseFunc) (PyObject *value,
                           Request  *request);

/* Names in calls are interned, so that the address nearly always tells. */
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

static gpointer
export_managed (MtlStridedView  *view,
                const Request   *request,
                GError         **error)
{
  if (request->versioned)
    return mtl_strided_view_to_dlpack (view, request->flags, request->device_type,
                                       request->device_ordinal, error);

  return mtl_strided_view_to_dlpack_legacy (view, request->flags, request->device_type,
                                            request->device_ordinal, error);
}

/* Whether there is no more to it than to describe memory of the host. */
static gboolean
goes_out_at_once (MtlStridedView *view,
                  const Request  *request)
{
  return !(request->flags & MTL_DLPACK_FLAGS_COPY)
         && request->device_type <= MTL_DEVICE_TYPE_CPU
         && mtl_strided_view_get_device_type (view) == MTL_DEVICE_TYPE_CPU;
}

static PyObject *
export_view (MtlStridedView *view,
             const Request  *request)
{
  gpointer managed;
  GError *error = NULL;

  if (!goes_out_at_once (view, request))
    {
      Py_BEGIN_ALLOW_THREADS
      managed = export_managed (view, request, &error);
      Py_END_ALLOW_THREADS
    }
  else
    managed = export_managed (view, request, &error);

  if (managed == NULL)
    return raise_error (error, PEER);

  return request->versioned ? capsule_for_versioned (managed) : capsule_for_legacy (managed);
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
  MtlStridedView *view = view_for_exporter (self);
  PyObject *pair;

  if (view == NULL)
    return NULL;

  pair = Py_BuildValue ("(ii)", mtl_strided_view_get_device_type_code (view),
                        mtl_strided_view_get_device_ordinal (view));
  g_object_unref (view);
  return pair;
}

PyMethodDef exporter_methods[] = {
  { "__dlpack__", (PyCFunction) (void *) exporter_dlpack, METH_FASTCALL | METH_KEYWORDS,
    "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n\n"
    "The memory as a DLPack capsule, without a copy unless one is asked for or needed." },
  { "__dlpack_device__", exporter_dlpack_device, METH_NOARGS,
    "__dlpack_device__()\n\nThe DLPack device: its type and its number." },
  { NULL }
};

/* Takes the tensor out of the capsule: the name says so to the producer, whose
 * destructor then has nothing to do and need not be called. */
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

static PyObject *
view_from_capsule (PyObject *capsule)
{
  MtlStridedView *view = NULL;
  GError *error = NULL;
  const char *name;
  gpointer managed;

  name = PyCapsule_GetName (capsule);
  if (name != NULL && g_str_equal (name, VERSIONED_NAME))
    {
      managed = take_from_capsule (capsule, name, VERSIONED_USED_NAME);
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
                  "A capsule named %.100s: expected " LEGACY_NAME " or " VERSIONED_NAME
                  ", which can be consumed once", name != NULL ? name : "NULL");

  return PyErr_Occurred () != NULL ? NULL : wrap_view (view, &error, PEER);
}

/* Versioned first; a producer from before that knows no such keywords, and
 * gives what it has. */
static PyObject *
ask_for_capsule (PyObject *object,
                 PyObject *device,
                 PyObject *copy,
                 gboolean *plain)
{
  /* A callee may use the place before the first argument. */
  PyObject *slots[5] = { NULL, object, names.our_version };
  PyObject **args = slots + 1;
  gsize n = 2;
  PyObject *capsule;

  if (device != Py_None)
    args[n++] = device;
  if (copy != Py_None)
    args[n++] = copy;

  *plain = FALSE;
  capsule = PyObject_VectorcallMethod (names.dlpack, args,
                                       1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                       names.keywords[(device != Py_None)
                                                          + 2 * (copy != Py_None)]);
  if (capsule != NULL || !PyErr_ExceptionMatches (PyExc_TypeError))
    return capsule;

  PyErr_Clear ();
  *plain = TRUE;
  return PyObject_VectorcallMethod (names.dlpack, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                    NULL);
}

/* What ends here may run Python code, to which a pending exception does not
 * belong. */
static void
drop (PyObject *object)
{
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  Py_XDECREF (object);
  PyErr_Restore (type, value, traceback);
}

/* (type, ordinal) of a Mtl.Device too. */
static PyObject *
device_pair (PyObject *device)
{
  int type, ordinal;

  if (PyObject_TypeCheck (device, classes.device))
    {
      MtlDevice *gdevice = (MtlDevice *) pygobject_get (device);

      return Py_BuildValue ("(ii)", mtl_device_get_device_type (gdevice),
                            mtl_device_get_device_ordinal (gdevice));
    }

  if (device != Py_None && parse_pair (device, "device", &type, &ordinal) < 0)
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

  if (parse_pair (device, "device", &type, &ordinal) == 0)
    {
      if (type == mtl_strided_view_get_device_type_code (view)
          && ordinal == mtl_strided_view_get_device_ordinal (view))
        return wrapper;

      PyErr_Format (PyExc_BufferError, "The producer gave memory of device (%d, %d), not (%d, %d)",
                    mtl_strided_view_get_device_type_code (view),
                    mtl_strided_view_get_device_ordinal (view), type, ordinal);
    }

  drop (wrapper);
  return NULL;
}

static PyObject *
replace_by_copy (PyObject *wrapper)
{
  GError *error = NULL;
  MtlStridedView *copy;

  Py_BEGIN_ALLOW_THREADS
  copy = mtl_strided_view_copy (get_view (wrapper), &error);
  Py_END_ALLOW_THREADS
  Py_DECREF (wrapper);
  return wrap_view (copy, &error, PEER);
}

/* A bare capsule is taken as it is, like what a producer gives that knows no
 * keywords. */
static PyObject *
get_capsule (PyObject *object,
             PyObject *device,
             PyObject *copy,
             gboolean *plain)
{
  PyObject *capsule = object;

  *plain = TRUE;
  if (PyCapsule_CheckExact (object))
    Py_INCREF (capsule);
  else
    capsule = ask_for_capsule (object, device, copy, plain);

  if (capsule == NULL || PyCapsule_CheckExact (capsule))
    return capsule;

  PyErr_Format (PyExc_BufferError, "__dlpack__() of %.100s gave %.100s, not a capsule",
                Py_TYPE (object)->tp_name, Py_TYPE (capsule)->tp_name);
  drop (capsule);
  return NULL;
}

static PyObject *
view_from_dlpack (PyObject *object,
                  PyObject *device,
                  PyObject *copy)
{
  PyObject *pair, *capsule, *wrapper = NULL;
  gboolean plain;

  pair = device_pair (device);
  if (pair == NULL)
    return NULL;

  capsule = get_capsule (object, pair, copy, &plain);
  if (capsule != NULL)
    wrapper = view_from_capsule (capsule);
  if (wrapper != NULL)
    wrapper = check_device (wrapper, pair);
  if (wrapper != NULL && plain && copy != Py_None && PyObject_IsTrue (copy) == 1)
    wrapper = replace_by_copy (wrapper);

  drop (capsule);
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

  return view_from_dlpack (args[0], device, copy);
}
