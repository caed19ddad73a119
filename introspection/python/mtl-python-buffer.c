/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Exports and imports with Python's buffer protocol. */

#include "mtl-python-exchange-private.h"

#include <pthread.h>
#include <string.h>

/* An error shows this much of a foreign format. */
#define MAX_FORMAT_SHOWN 100

/* The struct module's codes, by DLPack's type codes and the number of bytes.
 * Other element types have no code. */
static const char *const formats[][17] = {
  [kDLInt] = { [1] = "b", [2] = "h", [4] = "i", [8] = sizeof (long) == 8 ? "l" : "q" },
  [kDLUInt] = { [1] = "B", [2] = "H", [4] = "I", [8] = sizeof (long) == 8 ? "L" : "Q" },
  [kDLFloat] = { [2] = "e", [4] = "f", [8] = "d" },
  [kDLComplex] = { [8] = "Zf", [16] = "Zd" },
  [kDLBool] = { [1] = "?" },
};

static const char *
format_for_dtype (DLDataType dtype)
{
  if (dtype.code >= G_N_ELEMENTS (formats) || dtype.bits % 8 != 0 || dtype.bits > 128
      || dtype.lanes != 1)
    return NULL;

  return formats[dtype.code][dtype.bits / 8];
}

/* Only elements smaller than a byte may be padded. */
static guint
get_item_bits (MtlStridedView *view,
               const DLTensor *tensor)
{
  return tensor->dtype.bits % 8 == 0 ? (guint) tensor->dtype.bits * tensor->dtype.lanes
                                     : item_bits_of (view);
}

/* The data of an exported buffer. Its view cannot be closed. */
typedef struct
{
  MtlStridedView *view;
  Py_ssize_t dims[]; /* the shape, then the strides */
} Export;

/* Returns why a view does not satisfy PyBUF_… flags, or NULL. */
static const char *
find_obstacle (MtlStridedView *view,
               const DLTensor *tensor,
               gboolean        read_only,
               const char     *format,
               int             flags)
{
  if (!mtl_strided_view_is_host_accessible (view))
    return "The host cannot access the memory: copy the view to the host";
  if ((flags & PyBUF_WRITABLE) && read_only)
    return "The view is read-only";
  if ((flags & PyBUF_FORMAT) && format == NULL)
    return "The buffer protocol has no format for this element type";
  if (get_item_bits (view, tensor) % 8 != 0)
    return "The buffer protocol only has elements of whole bytes";
  if (((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS
       || (flags & PyBUF_STRIDES) != PyBUF_STRIDES)
      && !mtl_strided_view_is_contiguous (view, MTL_ORDER_C))
    return "The view is not contiguous in C order";
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS
      && !mtl_strided_view_is_contiguous (view, MTL_ORDER_F))
    return "The view is not contiguous in F order";
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS
      && !mtl_strided_view_is_contiguous (view, MTL_ORDER_ANY))
    return "The view is not contiguous";

  return NULL;
}

/* The size of all elements in bytes. A broadcast view may be larger than the memory. */
static gboolean
measure_elements (MtlStridedView *view,
                  const DLTensor *tensor,
                  Py_ssize_t      itemsize,
                  Py_ssize_t     *length)
{
  gboolean fits = TRUE;

  *length = itemsize;
  for (int i = 0; i < tensor->ndim; i++)
    fits &= !__builtin_mul_overflow (*length, tensor->shape[i], length);

  /* The product may be 0 even if a part of it overflows. */
  return fits || !__builtin_mul_overflow (mtl_strided_view_get_volume (view), itemsize, length);
}

/* Some consumers expect the strides of a contiguous buffer to follow from its
 * shape. Those of axes of extent 1 may differ here. */
static void
complete_strides (MtlStridedView *view,
                  int             flags,
                  Py_buffer      *buffer,
                  Py_ssize_t     *strides)
{
  gboolean in_c_order = mtl_strided_view_is_contiguous (view, MTL_ORDER_C);
  gboolean in_f_order = mtl_strided_view_is_contiguous (view, MTL_ORDER_F);
  gboolean asks_for_f = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  gsize next = buffer->itemsize;

  if (in_c_order && !(asks_for_f && in_f_order))
    for (int i = buffer->ndim - 1; i >= 0; next *= buffer->shape[i--])
      strides[i] = next;
  else if (in_f_order)
    for (int i = 0; i < buffer->ndim; next *= buffer->shape[i++])
      strides[i] = next;
}

static void
fill_dims (MtlStridedView *view,
           const DLTensor *tensor,
           int             flags,
           Py_buffer      *buffer,
           Py_ssize_t     *dims)
{
  gboolean has_loose_strides = FALSE;

  buffer->shape = dims;
  for (int i = 0; i < buffer->ndim; i++)
    {
      dims[i] = tensor->shape[i];
      has_loose_strides |= dims[i] <= 1;
      if (__builtin_mul_overflow (tensor->strides[i], buffer->itemsize, &dims[buffer->ndim + i]))
        dims[buffer->ndim + i] = buffer->itemsize; /* an axis of extent 1: never used */
    }

  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
    return;

  buffer->strides = dims + buffer->ndim;
  if (has_loose_strides)
    complete_strides (view, flags, buffer, buffer->strides);
}

static int
fill_buffer (PyObject       *self,
             MtlStridedView *view,
             Py_buffer      *buffer,
             int             flags)
{
  static char nothing;
  const char *format, *obstacle;
  Py_ssize_t itemsize, length;
  DLTensor tensor;
  Export *export;
  gboolean read_only = (mtl_strided_view_describe (view, &tensor)
                        & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;

  format = format_for_dtype (tensor.dtype);
  obstacle = find_obstacle (view, &tensor, read_only, format, flags);
  itemsize = get_item_bits (view, &tensor) / 8;
  if (!measure_elements (view, &tensor, itemsize, &length) && obstacle == NULL)
    obstacle = "The size of the elements does not fit in Py_ssize_t";

  buffer->obj = NULL;
  if (obstacle != NULL)
    {
      PyErr_SetString (PyExc_BufferError, obstacle);
      return -1;
    }

  if (await_work (view) < 0)
    return -1;

  tensor.data = mtl_strided_view_get_data (view);
  *buffer = (Py_buffer) {
    .buf = tensor.data,
    .len = length,
    .itemsize = itemsize,
    .readonly = read_only,
    .ndim = (flags & PyBUF_ND) ? tensor.ndim : 0,
    .format = (flags & PyBUF_FORMAT) ? (char *) format : NULL,
  };
  if (buffer->buf == NULL) /* some consumers do not accept NULL */
    buffer->buf = &nothing;

  export = PyMem_Malloc (sizeof (Export) + 2 * buffer->ndim * sizeof (Py_ssize_t));
  if (export == NULL)
    {
      PyErr_NoMemory ();
      return -1;
    }

  export->view = g_object_ref (view);
  if (buffer->ndim > 0)
    fill_dims (view, &tensor, flags, buffer, export->dims);
  buffer->internal = export;

  Py_INCREF (self);
  buffer->obj = self;
  return 0;
}

static int
exporter_get_buffer (PyObject  *self,
                     Py_buffer *buffer,
                     int        flags)
{
  MtlStridedView *view;
  int status;

  meet_numpy ();
  if (is_view (self))
    return fill_buffer (self, get_view (self), buffer, flags);

  view = view_for_exporter (self);
  if (view == NULL)
    {
      buffer->obj = NULL;
      return -1;
    }

  status = fill_buffer (self, view, buffer, flags);
  g_object_unref (view);
  return status;
}

static void
exporter_release_buffer (PyObject  *self,
                         Py_buffer *buffer)
{
  Export *export = buffer->internal;

  if (is_view (self)) /* a view has a reference of its own */
    g_object_unref (export->view);
  else
    unref_view (export->view);
  PyMem_Free (export);
}

static PyObject *
copy_bytes (MtlStridedView *view,
            GBytes         *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  PyObject *result = PyBytes_FromStringAndSize (NULL, size);
  Absence absence;

  if (result == NULL || size == 0)
    return result;

  absence = leave_python (view, NULL);
  memcpy (PyBytes_AS_STRING (result), data, size);
  enter_python (absence);
  return result;
}

/* Also works for element types without a format in the buffer protocol, and for
 * memory that the host cannot access. */
static PyObject *
exporter_bytes (PyObject *self,
                PyObject *unused)
{
  MtlStridedView *view = view_for_exporter (self);
  PyObject *result = NULL;
  Absence absence;
  GError *error = NULL;
  GBytes *bytes;

  if (view == NULL)
    return NULL;

  absence = leave_python (view, NULL);
  if (mtl_strided_view_is_host_accessible (view)
      && has_whole_bytes (view)
      && mtl_strided_view_is_contiguous (view, MTL_ORDER_C))
    bytes = mtl_strided_view_get_bytes (view, &error);
  else
    bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  enter_python (absence);

  if (bytes == NULL)
    raise_error (error, CALLER);
  else
    result = copy_bytes (view, bytes);

  g_clear_pointer (&bytes, g_bytes_unref);
  g_object_unref (view);
  return result;
}

static PyMethodDef bytes_methods[] = {
  { "__bytes__", exporter_bytes, METH_NOARGS,
    "__bytes__($self, /)\n--\n\nThe elements in C order." },
  { NULL }
};

int
install_buffer (PyTypeObject *type)
{
  /* collections.abc.Buffer recognizes types by these since Python 3.12. */
  if (install_methods (type, bytes_methods) < 0
      || install_slot (type, &PyByteArray_Type, "__buffer__", exporter_get_buffer) < 0
      || install_slot (type, &PyByteArray_Type, "__release_buffer__", exporter_release_buffer) < 0)
    return -1;

  type->tp_as_buffer->bf_getbuffer = exporter_get_buffer;
  type->tp_as_buffer->bf_releasebuffer = exporter_release_buffer;
  PyType_Modified (type);
  return 0;
}

/* A Python buffer that was imported, until it is released, on any thread. */
typedef struct Released Released;
struct Released
{
  Py_buffer buffer;
  Released *next;
};

static Released *released; /* atomic */

static GMutex interpreter_mutex;
static gboolean interpreter_ends; /* guarded by the mutex */

/* Another thread may have held it at the fork. The flag is right either way. */
static void
renew_mutex (void)
{
  g_mutex_init (&interpreter_mutex);
}

int
prepare_forks (void)
{
  int code = pthread_atfork (NULL, NULL, renew_mutex);

  if (code == 0)
    return 0;

  errno = code;
  PyErr_SetFromErrno (PyExc_OSError);
  return -1;
}

static int
end_released (void *unused)
{
  Released *list = g_atomic_pointer_exchange (&released, NULL);

  while (list != NULL)
    {
      Released *next = list->next;

      PyBuffer_Release (&list->buffer);
      g_free (list);
      list = next;
    }

  return 0;
}

/* The interpreter may exit at any time after this, so no thread may queue calls for it. */
PyObject *
module_prepare_end (PyObject *module,
                    PyObject *unused)
{
  g_mutex_lock (&interpreter_mutex);
  interpreter_ends = TRUE;
  g_mutex_unlock (&interpreter_mutex);

  end_released (NULL);
  Py_RETURN_NONE;
}

static void
release_now (Released *self)
{
  PyGILState_STATE state = PyGILState_Ensure ();
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  PyBuffer_Release (&self->buffer);
  PyErr_Restore (type, value, traceback);
  g_free (self);
  PyGILState_Release (state);
}

/* A Python thread takes the GIL, which it needs in any case. Other threads must not, as
 * the holder of the GIL may be waiting for them. For these the main thread releases the
 * buffer when it next takes the GIL. After the end of the interpreter the buffer is
 * never released. */
void
release_anywhere (gpointer data)
{
  Released *self = data;
  gpointer head;

  if (PyGILState_GetThisThreadState () != NULL)
    {
      release_now (self);
      return;
    }

  do
    {
      head = g_atomic_pointer_get (&released);
      self->next = head;
    }
  while (!g_atomic_pointer_compare_and_exchange (&released, head, self));

  g_mutex_lock (&interpreter_mutex);
  if (!interpreter_ends)
    Py_AddPendingCall (end_released, NULL); /* if the queue is full, the next import releases it */
  g_mutex_unlock (&interpreter_mutex);
}

/* Keeps an object until release_anywhere() is called. */
gpointer
keep_object (PyObject *object)
{
  PyObject *holder = PyTuple_Pack (1, object); /* whose release has no effect of its own */
  Released *self;

  if (holder == NULL)
    return NULL;

  self = g_new0 (Released, 1);
  self->buffer.obj = holder;
  return self;
}

/* The struct module's codes for one number. The standard size is that after one
 * of =<>!, and 0 for a code that only exists in native size. */
static const struct
{
  const char *code;
  guint8 kind;
  guint8 native_size;
  guint8 standard_size;
} number_codes[] = {
  { "?", kDLBool, 1, 1 },
  { "b", kDLInt, 1, 1 },
  { "h", kDLInt, sizeof (short), 2 },
  { "i", kDLInt, sizeof (int), 4 },
  { "l", kDLInt, sizeof (long), 4 },
  { "q", kDLInt, sizeof (long long), 8 },
  { "n", kDLInt, sizeof (size_t), 0 },
  { "c", kDLUInt, 1, 1 },
  { "B", kDLUInt, 1, 1 },
  { "H", kDLUInt, sizeof (short), 2 },
  { "I", kDLUInt, sizeof (int), 4 },
  { "L", kDLUInt, sizeof (long), 4 },
  { "Q", kDLUInt, sizeof (long long), 8 },
  { "N", kDLUInt, sizeof (size_t), 0 },
  { "e", kDLFloat, 2, 2 },
  { "f", kDLFloat, 4, 4 },
  { "d", kDLFloat, 8, 8 },
  { "Zf", kDLComplex, 8, 8 },
  { "Zd", kDLComplex, 16, 16 },
};

static const char *
get_format (const Py_buffer *buffer)
{
  return buffer->format != NULL ? buffer->format : "B";
}

static MtlDType
refuse_format (const Py_buffer  *buffer,
               const char       *reason,
               const char       *advice,
               GError          **error)
{
  const char *format = get_format (buffer);
  g_autofree char *readable = g_utf8_make_valid (format, strnlen (format, MAX_FORMAT_SHOWN));

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A buffer of format “%s” in items of %zd bytes cannot be viewed: %s. %s", readable,
               buffer->itemsize, reason, advice);
  return MTL_DTYPE_OTHER;
}

/* Only a format for one number has an element type, and only if the number takes the
 * whole item: ctypes describes a packed structure or a union as a byte. */
static MtlDType
dtype_for_format (const Py_buffer  *buffer,
                  GError          **error)
{
  const char *format = get_format (buffer);
  char order = strchr ("@^=<>!", *format) != NULL ? *format : '\0';
  const char *code = order != '\0' ? format + 1 : format;
  gboolean is_standard = strchr ("=<>!", order) != NULL && order != '\0';
  const char *advice = "memoryview(x).cast('B') gives its bytes";
  gboolean is_swapped = order == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<')
                        || (order == '!' && G_BYTE_ORDER == G_LITTLE_ENDIAN);

  for (gsize i = 0; i < G_N_ELEMENTS (number_codes); i++)
    {
      guint size = is_standard ? number_codes[i].standard_size : number_codes[i].native_size;

      if (*code != *number_codes[i].code || !g_str_equal (code, number_codes[i].code) || size == 0)
        continue;
      if (buffer->itemsize != (Py_ssize_t) size)
        return refuse_format (buffer, "the format describes a different number of bytes", advice,
                              error);
      if (is_swapped && size > 1)
        return refuse_format (buffer, "its byte order is not this machine's",
                              "Mtl.array(x) copies the numbers", error);

      return (MtlDType) (number_codes[i].kind << 8 | size * 8);
    }

  return refuse_format (buffer, "the format does not describe a single number", advice, error);
}

/* The other fields have to agree, as reading depends on them. */
static gboolean
check_dims (const Py_buffer  *buffer,
            GError          **error)
{
  Py_ssize_t length = buffer->itemsize;
  gboolean fits = TRUE;

  if (buffer->ndim < 0 || buffer->ndim > MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A buffer of %d dimensions cannot be viewed: 0 to %d are allowed", buffer->ndim,
                   MAX_DIMS);
      return FALSE;
    }

  if (buffer->suboffsets != NULL || (buffer->shape == NULL && buffer->ndim > 1))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "A buffer %s cannot be viewed",
                   buffer->suboffsets != NULL ? "behind pointers" : "without a shape");
      return FALSE;
    }

  if (buffer->len < 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "A buffer of %zd bytes cannot be viewed: the minimum is 0", buffer->len);
      return FALSE;
    }

  for (int i = 0; buffer->shape != NULL && i < buffer->ndim; i++)
    fits &= !__builtin_mul_overflow (length, buffer->shape[i], &length);
  if (buffer->shape == NULL && buffer->ndim == 1)
    length = buffer->len - buffer->len % buffer->itemsize;
  if (!fits || length == buffer->len)
    return TRUE; /* the layout refuses sizes that do not fit */

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "The buffer has %zd bytes, but its items have %zd", buffer->len, length);
  return FALSE;
}

/* The range of a buffer's items, counted from the first one. */
typedef struct
{
  gsize before;
  gsize size;
} Range;

/* Returns an empty range, which the view refuses, if there are too many bytes to count. */
static Range
range_of_items (const Py_buffer *buffer,
                const gint64    *shape)
{
  gint64 min = 0, max = 0, size;

  if (buffer->strides == NULL)
    return (Range) { 0, buffer->len };

  for (int i = 0; i < buffer->ndim; i++)
    {
      gint64 *bound = buffer->strides[i] < 0 ? &min : &max;
      gint64 reach;

      if (shape[i] <= 0) /* the layout refuses negative extents */
        return (Range) { 0, 0 };

      if (__builtin_mul_overflow (shape[i] - 1, buffer->strides[i], &reach)
          || __builtin_add_overflow (*bound, reach, bound))
        return (Range) { 0, 0 };
    }

  if (__builtin_add_overflow (max, buffer->itemsize, &size)
      || __builtin_sub_overflow (size, min, &size))
    return (Range) { 0, 0 };

  return (Range) { -(guint64) min, size };
}

static gboolean
check_address (const Py_buffer  *buffer,
               const Range      *range,
               GError          **error)
{
  if (range->size == 0 || (guintptr) buffer->buf > range->before)
    return TRUE;

  if (buffer->buf == NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                 "A buffer of %zd bytes has no data: its address is NULL", buffer->len);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                 "%" G_GSIZE_FORMAT " bytes before the address %p exceed the address space",
                 range->before, buffer->buf);
  return FALSE;
}

static MtlStridedView *
view_for_items (Released  *owner,
                MtlDType   dtype,
                GError   **error)
{
  const Py_buffer *buffer = &owner->buffer;
  gint64 shape[MAX_DIMS], strides[MAX_DIMS];
  gpointer start;
  Range range;

  for (int i = 0; i < buffer->ndim; i++)
    {
      shape[i] = buffer->shape != NULL ? buffer->shape[i] : buffer->len / buffer->itemsize;
      strides[i] = buffer->strides != NULL ? buffer->strides[i] : 0;
    }

  /* Some exporters leave out the strides, even if asked for them. */
  range = range_of_items (buffer, shape);
  if (!check_address (buffer, &range, error))
    {
      release_anywhere (owner);
      return NULL;
    }

  start = (gpointer) ((guintptr) buffer->buf - range.before);
  return mtl_strided_view_new_for_data (start, range.size, dtype, shape, buffer->ndim,
                                        buffer->strides != NULL ? strides : NULL,
                                        buffer->strides != NULL ? buffer->ndim : 0, range.before,
                                        buffer->readonly ? MTL_BUFFER_FLAGS_READ_ONLY
                                                         : MTL_BUFFER_FLAGS_NONE,
                                        release_anywhere, owner, error);
}

static MtlStridedView *
view_for_buffer (Released  *owner,
                 GError   **error)
{
  MtlDType dtype = dtype_for_format (&owner->buffer, error);

  if (dtype != MTL_DTYPE_OTHER && check_dims (&owner->buffer, error))
    return view_for_items (owner, dtype, error);

  release_anywhere (owner);
  return NULL;
}

PyObject *
module_from_buffer (PyObject *module,
                    PyObject *object)
{
  GError *error = NULL;
  Released *owner;

  end_released (NULL);
  if (!PyObject_CheckBuffer (object))
    Py_RETURN_NONE;
  if (refuse_masked (object) < 0)
    return NULL;

  owner = g_new0 (Released, 1);
  if (PyObject_GetBuffer (object, &owner->buffer, PyBUF_FULL_RO) < 0)
    {
      g_free (owner);
      return NULL;
    }

  return wrap_view (view_for_buffer (owner, &error), &error, PEER);
}

/* The arguments that describe a view of bytes. */
typedef struct
{
  DLDataType dtype;
  gboolean is_padded;
  gint64 shape[MAX_DIMS];
  gint64 strides[MAX_DIMS];
  Py_ssize_t n_dims;
  Py_ssize_t start;
} Description;

static int
parse_description (PyObject    *args,
                   PyObject   **object,
                   Description *description)
{
  unsigned int code, bits, lanes;
  PyObject *shape, *strides;
  Py_ssize_t n_strides;

  if (!PyArg_ParseTuple (args, "O(IIIp)OOn:from_memory", object, &code, &bits, &lanes,
                         &description->is_padded, &shape, &strides, &description->start))
    return -1;

  description->n_dims = ints_from_args (&shape, 1, description->shape, "dimensions",
                                        PyExc_ValueError);
  if (description->n_dims < 0)
    return -1;
  n_strides = ints_from_args (&strides, 1, description->strides, "strides", PyExc_ValueError);
  if (n_strides < 0)
    return -1;

  if (n_strides != description->n_dims)
    {
      PyErr_Format (PyExc_ValueError, "%zd strides for %zd dimensions", n_strides,
                    description->n_dims);
      return -1;
    }
  if (code > G_MAXUINT8 || bits == 0 || bits > G_MAXUINT8 || lanes == 0 || lanes > G_MAXUINT16)
    {
      PyErr_Format (PyExc_ValueError, "%u lanes of %u bits are not an element type of DLPack",
                    lanes, bits);
      return -1;
    }

  description->dtype = (DLDataType) { code, bits, lanes };
  return 0;
}

/* Returns whether all elements lie among the bytes. */
static gboolean
check_bounds (MtlStridedView   *view,
              const Py_buffer  *buffer,
              Py_ssize_t        start,
              GError          **error)
{
  __int128 item_bits = item_bits_of (view);
  gint64 min, max;

  if (mtl_strided_view_is_empty (view))
    return TRUE;

  mtl_strided_layout_get_offset_bounds (mtl_strided_view_get_layout (view), &min, &max);
  if (start >= 0 && start * (__int128) 8 + min * item_bits >= 0
      && start * (__int128) 8 + (max + (__int128) 1) * item_bits <= buffer->len * (__int128) 8)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
               "Elements of %u bits from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", counted"
               " from byte %zd, do not fit in %zd bytes", item_bits_of (view), min,
               max, start, buffer->len);
  return FALSE;
}

static void
release_memory (DLManagedTensorVersioned *managed)
{
  release_anywhere (managed->manager_ctx);
  g_free (managed);
}

/* Imported like a tensor of a peer, as its elements may have several lanes. */
static MtlStridedView *
view_of_memory (Released     *owner,
                Description  *description,
                GError      **error)
{
  g_autoptr (MtlStridedView) view = NULL;
  const Py_buffer *buffer = &owner->buffer;
  DLManagedTensorVersioned *managed = g_new (DLManagedTensorVersioned, 1);

  *managed = (DLManagedTensorVersioned) {
    .version = { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION },
    .manager_ctx = owner,
    .deleter = release_memory,
    .flags = (buffer->readonly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0)
             | (description->is_padded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0),
    .dl_tensor = {
      .data = (char *) buffer->buf + CLAMP (description->start, 0, buffer->len),
      .device = { MTL_DEVICE_TYPE_CPU, 0 },
      .ndim = description->n_dims,
      .dtype = description->dtype,
      .shape = description->shape,
      .strides = description->strides,
    },
  };

  /* Nothing is read yet. */
  view = mtl_strided_view_new_take_dlpack (managed, error);
  if (view == NULL || !check_bounds (view, buffer, description->start, error))
    return NULL;

  return g_steal_pointer (&view);
}

/* The strides are in elements, and the start in bytes. */
PyObject *
module_from_memory (PyObject *module,
                    PyObject *args)
{
  Description description;
  GError *error = NULL;
  PyObject *object;
  Released *owner;

  end_released (NULL);
  if (parse_description (args, &object, &description) < 0)
    return NULL;

  owner = g_new0 (Released, 1);
  if (PyObject_GetBuffer (object, &owner->buffer, PyBUF_SIMPLE) < 0)
    {
      g_free (owner);
      return NULL;
    }

  return wrap_view (view_of_memory (owner, &description, &error), &error, CALLER);
}
