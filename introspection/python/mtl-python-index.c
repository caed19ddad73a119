/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Indexing and iteration of views, and indexing of layouts. */

#include "mtl-python-private.h"

/* An index may have a part and a new axis for each dimension, and one ellipsis. */
#define MAX_PARTS (2 * MAX_DIMS + 1)

typedef struct
{
  MtlSlice parts[MAX_PARTS];
  gsize n_parts;
  gboolean only_integers;
  int n_ellipses;
} Index;

/* The kind of an index; -1 is an error. */
enum
{
  BASIC,
  OF_ARRAYS, /* lists, arrays and truth values, which select elements one by one */
};

static int
parse_bound (PyObject *object,
             gint64   *value,
             gboolean *given)
{
  Py_ssize_t bound;

  *given = object != Py_None;
  if (!*given)
    return 0;

  if (!PyIndex_Check (object))
    {
      PyErr_Format (PyExc_TypeError, "A slice consists of integers and None, not %.100s",
                    Py_TYPE (object)->tp_name);
      return -1;
    }

  bound = PyNumber_AsSsize_t (object, NULL); /* clamps, as slices do */
  if (bound == -1 && PyErr_Occurred () != NULL)
    return -1;

  *value = bound;
  return 0;
}

static gboolean
has_length (PyObject *object)
{
  PyTypeObject *type = Py_TYPE (object);

  return (type->tp_as_sequence != NULL && type->tp_as_sequence->sq_length != NULL)
         || (type->tp_as_mapping != NULL && type->tp_as_mapping->mp_length != NULL);
}

/* Arrays of integers have the method of integers too, and some libraries' accept it with one
 * element: only one without dimensions is an integer. */
static gboolean
is_integer_object (PyObject *object)
{
  PyObject *ndim;
  gboolean is_scalar;

  if (PyLong_CheckExact (object))
    return TRUE;
  if (!PyIndex_Check (object) || is_truth_value (object))
    return FALSE;
  if (!has_length (object))
    return TRUE;
  if (is_masked (object) != 0)
    return FALSE;

  ndim = PyObject_GetAttrString (object, "ndim");
  is_scalar = ndim != NULL && PyLong_Check (ndim) && PyObject_IsTrue (ndim) == 0;
  Py_XDECREF (ndim);
  PyErr_Clear ();
  return is_scalar;
}

static gboolean
is_array_like (PyObject *object)
{
  if (is_truth_value (object))
    return TRUE;
  if (is_number (object) || PyUnicode_Check (object) || PyBytes_Check (object))
    return FALSE;

  return PySequence_Check (object)
         || PyObject_HasAttrString ((PyObject *) Py_TYPE (object), "__array__")
         || PyObject_HasAttrString ((PyObject *) Py_TYPE (object), "__dlpack__")
         || PyObject_HasAttrString (object, "__array_interface__");
}

static int
parse_integer (PyObject *object,
               gint64   *value)
{
  PyObject *type, *error, *traceback;

  if (int64_from_object (object, value, PyExc_IndexError) == 0)
    return BASIC;

  if (!PyErr_ExceptionMatches (PyExc_TypeError))
    return -1;

  /* A truth value without dimensions. */
  PyErr_Fetch (&type, &error, &traceback);
  if (!is_array_like (object))
    {
      PyErr_Restore (type, error, traceback);
      return -1;
    }

  Py_DECREF (type);
  Py_XDECREF (error);
  Py_XDECREF (traceback);
  return OF_ARRAYS;
}

static int
parse_part (PyObject *object,
            MtlSlice *part,
            gboolean *is_integer)
{
  *part = (MtlSlice) { .kind = MTL_SLICE_KIND_INDEX, .step = 1 };
  *is_integer = FALSE;

  if (is_integer_object (object))
    {
      *is_integer = TRUE;
      return parse_integer (object, &part->start);
    }

  if (PySlice_Check (object))
    {
      PySliceObject *slice = (PySliceObject *) object;
      gboolean has_step;

      part->kind = MTL_SLICE_KIND_RANGE;
      return parse_bound (slice->start, &part->start, &part->has_start) < 0
                 || parse_bound (slice->stop, &part->stop, &part->has_stop) < 0
                 || parse_bound (slice->step, &part->step, &has_step) < 0
               ? -1
               : BASIC;
    }

  if (object == Py_Ellipsis)
    part->kind = MTL_SLICE_KIND_ELLIPSIS;
  else if (object == Py_None)
    part->kind = MTL_SLICE_KIND_NEW_AXIS;
  else if (is_array_like (object))
    return OF_ARRAYS;
  else
    {
      PyErr_Format (PyExc_TypeError,
                    "An index consists of integers, slices, ..., None and arrays, not %.100s",
                    Py_TYPE (object)->tp_name);
      return -1;
    }

  return BASIC;
}

/* Returns OF_ARRAYS as soon as one part is. */
static int
parse_index (PyObject *key,
             Index    *index)
{
  PyObject **items = &key;
  Py_ssize_t n = 1;
  int kind;

  if (PyTuple_Check (key))
    {
      items = &PyTuple_GET_ITEM (key, 0);
      n = PyTuple_GET_SIZE (key);
    }

  if (n > MAX_PARTS)
    {
      PyErr_Format (PyExc_IndexError, "An index of %zd parts is too long: at most %d are allowed",
                    n, MAX_PARTS);
      return -1;
    }

  index->n_parts = n;
  index->only_integers = TRUE;
  index->n_ellipses = 0;
  for (Py_ssize_t i = 0; i < n; i++)
    {
      gboolean is_integer;

      kind = parse_part (items[i], &index->parts[i], &is_integer);
      if (kind != BASIC)
        return kind;
      index->only_integers &= is_integer;
      index->n_ellipses += index->parts[i].kind == MTL_SLICE_KIND_ELLIPSIS;
    }

  if (index->n_ellipses > 1)
    {
      PyErr_Format (PyExc_IndexError, "An index can have only one ..., not %d", index->n_ellipses);
      return -1;
    }

  return BASIC;
}

/* Calls a function of the module that asks NumPy. */
static PyObject *
ask_numpy (const char *name,
           PyObject   *self,
           PyObject   *key,
           PyObject   *values)
{
  PyObject *module = PyImport_ImportModule ("gi.overrides._mtl_index");
  PyObject *result = NULL;

  if (module != NULL)
    result = PyObject_CallMethod (module, name, values != NULL ? "OOO" : "OO", self, key, values);

  Py_XDECREF (module);
  return result;
}

static gsize
collect_indices (const Index *index,
                 gint64      *indices)
{
  for (gsize i = 0; i < index->n_parts; i++)
    indices[i] = index->parts[i].start;

  return index->n_parts;
}

/* The element may have several lanes. */
static gboolean
names_one_element (MtlStridedView *view,
                   const Index    *index)
{
  return index->only_integers && index->n_parts == mtl_strided_view_get_n_dims (view);
}

static PyObject *
view_subscript (PyObject *self,
                PyObject *key)
{
  MtlStridedView *view = get_view (self);
  GError *error = NULL;
  Index index;
  int kind = parse_index (key, &index);

  if (kind != BASIC)
    return kind == OF_ARRAYS ? ask_numpy ("elements_at", self, key, NULL) : NULL;

  if (names_one_element (view, &index))
    {
      gint64 indices[MAX_DIMS];

      return number_get (view, indices, collect_indices (&index, indices));
    }

  return wrap_view (mtl_strided_view_slice (view, index.parts, index.n_parts, &error), &error,
                    CALLER);
}

static PyObject *
layout_subscript (PyObject *self,
                  PyObject *key)
{
  GError *error = NULL;
  Index index;
  int kind = parse_index (key, &index);

  if (kind == OF_ARRAYS)
    PyErr_SetString (PyExc_TypeError,
                     "An index of a layout consists of integers, slices, ... and None, not of"
                     " lists, arrays or bool");
  if (kind != BASIC)
    return NULL;

  return wrap_layout (mtl_strided_layout_slice (get_layout (self), index.parts, index.n_parts,
                                                &error),
                      &error);
}

/* A view of one number, with the element type of the view but a single lane. */
static MtlStridedView *
view_for_number (MtlStridedView *view,
                 PyObject       *value)
{
  GError *error = NULL;
  MtlStridedView *number =
    mtl_strided_view_new_zeros (mtl_device_get_host (), mtl_strided_view_get_dtype (view), NULL, 0,
                                MTL_STORAGE_MODE_DEFAULT, &error);

  if (number == NULL)
    {
      raise_error (error, CALLER);
      return NULL;
    }

  if (number_set (number, NULL, 0, value) < 0)
    g_clear_object (&number);

  return number;
}

/* Calls a function of the module that makes views. */
static PyObject *
ask_asview (const char *name,
            PyObject   *value,
            MtlDType    dtype)
{
  PyObject *module = PyImport_ImportModule ("gi.overrides._mtl_asview");
  PyObject *result = NULL;

  if (module != NULL)
    result = PyObject_CallMethod (module, name, "OI", value, (unsigned int) dtype);

  Py_XDECREF (module);
  return result;
}

/* Takes the Python object. */
static MtlStridedView *
unwrap_view (PyObject *wrapper)
{
  MtlStridedView *view;

  if (wrapper == NULL)
    return NULL;

  view = g_object_ref (get_view (wrapper));
  Py_DECREF (wrapper);
  return view;
}

/* Lists that hold arrays, which are stacked. For others, the exception stays. */
static MtlStridedView *
view_for_parts (MtlDType  dtype,
                PyObject *value)
{
  PyObject *type, *error, *traceback, *wrapper;

  if (!PyErr_ExceptionMatches (PyExc_TypeError) && !PyErr_ExceptionMatches (PyExc_ValueError))
    return NULL;

  PyErr_Fetch (&type, &error, &traceback);
  wrapper = ask_asview ("view_of_nested_parts", value, dtype);
  if (wrapper == Py_None)
    {
      Py_DECREF (wrapper);
      PyErr_Restore (type, error, traceback);
      return NULL;
    }

  Py_XDECREF (type);
  Py_XDECREF (error);
  Py_XDECREF (traceback);
  return unwrap_view (wrapper);
}

/* Accepts anything that Mtl.asview() accepts, and elements that have to be computed
 * first. Numbers take the element type of the view, and have to fit it. */
MtlStridedView *
view_for_value (MtlStridedView *view,
                PyObject       *value)
{
  MtlDType dtype = mtl_strided_view_get_dtype (view);

  if (is_view (value))
    return g_object_ref (get_view (value));
  if (is_number (value))
    return view_for_number (view, value);
  if (is_nested (value))
    {
      MtlStridedView *source = view_for_nested (value, dtype);

      return source != NULL ? source : view_for_parts (dtype, value);
    }

  return unwrap_view (ask_asview ("view_of_assigned", value, dtype));
}

/* Takes the source. As in NumPy, it may have more leading axes of extent 1 than
 * the destination. */
static MtlStridedView *
drop_leading_axes (MtlStridedView *source,
                   MtlStridedView *dest)
{
  guint n_axes = mtl_strided_view_get_n_dims (source);
  guint n_more = n_axes - MIN (n_axes, mtl_strided_view_get_n_dims (dest));
  const gint64 *shape = mtl_strided_view_get_shape (source, NULL);
  MtlStridedView *squeezed;
  int axes[MAX_DIMS];
  guint n = 0;

  for (; n < n_more && shape[n] == 1; n++)
    axes[n] = n;
  if (n == 0)
    return source;

  squeezed = mtl_strided_view_squeeze_axes (source, axes, n, NULL);
  g_object_unref (source);
  return squeezed;
}

/* A number is repeated with a fill, which a device can do without a copy. If
 * there are several lanes, it is copied to each of them. */
static gboolean
assign_elements (MtlStridedView  *dest,
                 MtlStridedView  *source,
                 gboolean         is_element,
                 GError         **error)
{
  g_autoptr (GBytes) element = NULL;

  if (!is_element || mtl_strided_view_get_lanes (dest) != 1)
    return mtl_strided_view_copy_from (dest, source, NULL, error);

  element = mtl_strided_view_dup_bytes (source, NULL, error);
  return element != NULL && mtl_strided_view_fill (dest, element, NULL, error);
}

static int
assign_at_arrays (PyObject *self,
                  PyObject *key,
                  PyObject *value)
{
  MtlStridedView *source;
  PyObject *values, *result;

  if (is_view (value))
    {
      values = value;
      Py_INCREF (values);
    }
  else
    {
      source = view_for_value (get_view (self), value);
      values = source != NULL ? pygobject_new (G_OBJECT (source)) : NULL;
      g_clear_object (&source);
    }

  if (values == NULL)
    return -1;

  result = ask_numpy ("assign_at", self, key, values);
  Py_DECREF (values);
  Py_XDECREF (result);
  return result != NULL ? 0 : -1;
}

static int
view_assign (PyObject *self,
             PyObject *key,
             PyObject *value)
{
  MtlStridedView *view = get_view (self);
  MtlStridedView *dest, *source;
  Absence absence;
  GError *error = NULL;
  gboolean is_element, copied;
  Index index;
  int kind;

  if (value == NULL)
    {
      PyErr_SetString (PyExc_TypeError, "The elements of a view cannot be deleted");
      return -1;
    }

  kind = parse_index (key, &index);
  if (kind != BASIC)
    return kind == OF_ARRAYS ? assign_at_arrays (self, key, value) : -1;

  if (names_one_element (view, &index) && mtl_strided_view_get_lanes (view) == 1
      && is_number (value))
    {
      gint64 indices[MAX_DIMS];

      return number_set (view, indices, collect_indices (&index, indices), value);
    }

  dest = mtl_strided_view_slice (view, index.parts, index.n_parts, &error);
  if (dest == NULL)
    return raise_error_int (error, CALLER);

  source = view_for_value (dest, value);
  if (source == NULL)
    {
      g_object_unref (dest);
      return -1;
    }

  is_element = !is_view (value) && is_number (value);
  source = drop_leading_axes (source, dest);
  absence = leave_python (dest, source);
  copied = assign_elements (dest, source, is_element, &error);
  enter_python (absence);
  g_object_unref (dest);
  if (is_view (value))
    g_object_unref (source);
  else
    unref_view (source);
  return copied ? 0 : raise_error_int (error, CALLER);
}

static Py_ssize_t
view_length (PyObject *self)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (get_view (self), &n_dims);

  if (n_dims > 0)
    return shape[0];

  PyErr_SetString (PyExc_TypeError, "A view of 0 dimensions has no length");
  return -1;
}

static PyObject *
view_item (PyObject   *self,
           Py_ssize_t  i)
{
  MtlStridedView *view = get_view (self);
  GError *error = NULL;
  gint64 index = i;

  if (i < 0) /* the caller has already resolved indices from the end */
    {
      PyErr_SetString (PyExc_IndexError, "index out of range");
      return NULL;
    }

  if (mtl_strided_view_get_n_dims (view) == 1)
    return number_get (view, &index, 1);

  return wrap_view (mtl_strided_view_select (view, 0, index, &error), &error, CALLER);
}

int
install_index (PyTypeObject *type)
{
  if (install_slot (type, &PyByteArray_Type, "__getitem__", view_subscript) < 0
      || install_slot (type, &PyByteArray_Type, "__setitem__", view_assign) < 0
      || install_slot (type, &PyByteArray_Type, "__len__", view_length) < 0)
    return -1;

  /* This slot has the same method, and would otherwise look it up at each call. */
  type->tp_as_sequence->sq_item = view_item;
  PyType_Modified (type);
  return 0;
}

int
install_layout_index (PyTypeObject *type)
{
  return install_slot (type, &PyByteArray_Type, "__getitem__", layout_subscript);
}
