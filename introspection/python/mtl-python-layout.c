/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The most common methods and attributes of layouts, without PyGObject's
 * marshalling. */

#include "mtl-python-private.h"

#include <string.h>

static Py_ssize_t
ints_from_argument (PyObject   *argument,
                    gint64     *values,
                    const char *what)
{
  if (PyLong_Check (argument))
    {
      PyErr_Format (PyExc_TypeError, "The %s must be a sequence of integers, not a single integer",
                    what);
      return -1;
    }

  return ints_from_args (&argument, 1, values, what, PyExc_ValueError);
}

static PyObject *
layout_from_objects (PyObject *shape_object,
                     PyObject *strides_object,
                     guint     item_bits)
{
  gboolean has_strides = strides_object != NULL && strides_object != Py_None;
  gint64 shape[MAX_DIMS], strides[MAX_DIMS];
  Py_ssize_t n_dims = 0, n_strides = 0;
  GError *error = NULL;

  if (shape_object != NULL)
    n_dims = ints_from_argument (shape_object, shape, "dimensions");
  if (n_dims >= 0 && has_strides)
    n_strides = ints_from_argument (strides_object, strides, "strides");
  if (n_dims < 0 || n_strides < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_new (shape, n_dims, has_strides ? strides : NULL,
                                              n_strides, item_bits, &error),
                      &error);
}

static PyObject *
layout_new (PyTypeObject *type,
            PyObject     *args,
            PyObject     *keywords)
{
  static const Signature signature = { "StridedLayout", { "shape", "strides", "itemsize" }, 3 };
  PyObject *values[MAX_NAMES];
  gint64 itemsize = 1;

  if (parse_tuple_and_dict (&signature, args, keywords, values) < 0
      || (values[2] != NULL && int64_from_object (values[2], &itemsize, PyExc_ValueError) < 0))
    return NULL;

  if (itemsize < 0 || itemsize > G_MAXUINT / 8)
    {
      PyErr_Format (PyExc_ValueError, "An itemsize of %lld bytes is not in the range of 1 to %u",
                    (long long) itemsize, G_MAXUINT / 8);
      return NULL;
    }

  return layout_from_objects (values[0], values[1], itemsize * 8);
}

/* Calls mtl_strided_layout_new(). */
static PyObject *
layout_new_for_bits (PyObject        *type,
                     PyObject *const *args,
                     Py_ssize_t       n_args,
                     PyObject        *names)
{
  static const Signature signature = { "new", { "shape", "strides", "item_bits" }, 3, 1 };
  PyObject *values[MAX_NAMES];
  unsigned int item_bits = 8;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || (values[2] != NULL && uint_from_object (values[2], &item_bits) < 0))
    return NULL;

  return layout_from_objects (values[0], values[1], item_bits);
}

static PyObject *
layout_new_dense (PyObject        *type,
                  PyObject *const *args,
                  Py_ssize_t       n_args,
                  PyObject        *names)
{
  static const Signature signature = { "new_dense", { "shape", "order", "item_bits" }, 3, 1 };
  PyObject *values[MAX_NAMES];
  gint64 shape[MAX_DIMS];
  unsigned int item_bits = 8;
  GError *error = NULL;
  Py_ssize_t n_dims;
  MtlOrder order = MTL_ORDER_C;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || (values[1] != NULL && order_from_object (values[1], &order) < 0)
      || (values[2] != NULL && uint_from_object (values[2], &item_bits) < 0))
    return NULL;

  n_dims = ints_from_argument (values[0], shape, "dimensions");
  if (n_dims < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_new_dense (shape, n_dims, order, item_bits, &error),
                      &error);
}

/* layout_new() has already done everything. */
static int
layout_init (PyObject *self,
             PyObject *args,
             PyObject *keywords)
{
  return 0;
}

static PyObject *
layout_get_shape (PyObject *self,
                  void     *closure)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_layout_get_shape (get_layout (self), &n_dims);

  return tuple_from_ints (shape, n_dims);
}

static PyObject *
layout_get_strides (PyObject *self,
                    void     *closure)
{
  gsize n_dims;
  const gint64 *strides = mtl_strided_layout_get_strides (get_layout (self), &n_dims);

  return tuple_from_ints (strides, n_dims);
}

static PyObject *
layout_get_ndim (PyObject *self,
                 void     *closure)
{
  return PyLong_FromUnsignedLong (mtl_strided_layout_get_n_dims (get_layout (self)));
}

static PyObject *
layout_get_size (PyObject *self,
                 void     *closure)
{
  return PyLong_FromLongLong (mtl_strided_layout_get_volume (get_layout (self)));
}

static PyObject *
layout_get_itemsize (PyObject *self,
                     void     *closure)
{
  return PyLong_FromUnsignedLong ((mtl_strided_layout_get_item_bits (get_layout (self)) + 7) / 8);
}

static PyObject *
layout_get_transposed (PyObject *self,
                       void     *closure)
{
  return wrap_layout (mtl_strided_layout_transpose (get_layout (self)), NULL);
}

static PyGetSetDef layout_getters[] = {
  { "shape", layout_get_shape, NULL, "The extents, a tuple.", NULL },
  { "strides", layout_get_strides, NULL, "The strides in elements, a tuple.", NULL },
  { "ndim", layout_get_ndim, NULL, "The number of dimensions.", NULL },
  { "size", layout_get_size, NULL, "The number of elements.", NULL },
  { "itemsize", layout_get_itemsize, NULL, "The size of one element in bytes.", NULL },
  { "T", layout_get_transposed, NULL, "The layout with its axes reversed.", NULL },
  { NULL }
};

static PyObject *
ask (PyObject *self,
     gboolean (* query) (MtlStridedLayout *layout))
{
  return PyBool_FromLong (query (get_layout (self)));
}

static PyObject *
layout_is_unique (PyObject *self,
                  PyObject *unused)
{
  return ask (self, mtl_strided_layout_is_unique);
}

static PyObject *
layout_is_dense (PyObject *self,
                 PyObject *unused)
{
  return ask (self, mtl_strided_layout_is_dense);
}

static PyObject *
layout_is_empty (PyObject *self,
                 PyObject *unused)
{
  return ask (self, mtl_strided_layout_is_empty);
}

static PyObject *
layout_is_contiguous (PyObject        *self,
                      PyObject *const *args,
                      Py_ssize_t       n_args,
                      PyObject        *names)
{
  static const Signature signature = { "is_contiguous", { "order" }, 1, 0 };
  PyObject *values[MAX_NAMES];
  MtlOrder order = MTL_ORDER_C;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || (values[0] != NULL && order_from_object (values[0], &order) < 0))
    return NULL;

  return PyBool_FromLong (mtl_strided_layout_is_contiguous (get_layout (self), order));
}

static PyObject *
layout_get_offset (PyObject *self,
                   PyObject *unused)
{
  return PyLong_FromLongLong (mtl_strided_layout_get_offset (get_layout (self)));
}

static PyObject *
layout_get_offset_bounds (PyObject *self,
                          PyObject *unused)
{
  gint64 min, max;

  mtl_strided_layout_get_offset_bounds (get_layout (self), &min, &max);
  return bounds_from_ints (min, max);
}

static PyObject *
layout_get_required_size (PyObject *self,
                          PyObject *unused)
{
  GError *error = NULL;
  gint64 size = mtl_strided_layout_get_required_size (get_layout (self), &error);

  return error == NULL ? PyLong_FromLongLong (size) : raise_error (error, CALLER);
}

static PyObject *
layout_dup_stride_order (PyObject *self,
                         PyObject *unused)
{
  gsize n;
  g_autofree int *axes = mtl_strided_layout_dup_stride_order (get_layout (self), &n);
  PyObject *list = PyList_New (n);

  for (gsize i = 0; list != NULL && i < n; i++)
    PyList_SET_ITEM (list, i, PyLong_FromLong (axes[i])); /* small integers always exist */

  return list;
}

static PyObject *
layout_get_max_compatible_item_bits (PyObject        *self,
                                     PyObject *const *args,
                                     Py_ssize_t       n_args,
                                     PyObject        *names)
{
  static const Signature signature = {
    "get_max_compatible_item_bits", { "max_item_bits", "address", "axis" }, 3, 1,
  };
  PyObject *values[MAX_NAMES];
  unsigned int max_item_bits, item_bits;
  guint64 address = 0;
  int axis = -1;
  GError *error = NULL;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || uint_from_object (values[0], &max_item_bits) < 0
      || (values[1] != NULL && uint64_from_object (values[1], &address) < 0)
      || (values[2] != NULL && axis_from_object (values[2], &axis) < 0))
    return NULL;

  item_bits = mtl_strided_layout_get_max_compatible_item_bits (get_layout (self), max_item_bits,
                                                               address, axis, &error);
  return error == NULL ? PyLong_FromUnsignedLong (item_bits) : raise_error (error, CALLER);
}

static PyObject *
layout_compare (PyObject *self,
                PyObject *other,
                int       operation)
{
  gboolean equal;

  if ((operation != Py_EQ && operation != Py_NE)
      || !PyObject_TypeCheck (other, classes.layout))
    Py_RETURN_NOTIMPLEMENTED;

  equal = mtl_strided_layout_equal (get_layout (self), get_layout (other));
  return PyBool_FromLong (equal == (operation == Py_EQ));
}

static PyObject *
layout_eq (PyObject *self,
           PyObject *other)
{
  return layout_compare (self, other, Py_EQ);
}

static Py_hash_t
layout_hash (PyObject *self)
{
  Py_hash_t hash = mtl_strided_layout_hash (get_layout (self));

  return hash != -1 ? hash : -2; /* -1 is an error */
}

static PyObject *
layout_get_hash (PyObject *self,
                 PyObject *unused)
{
  return PyLong_FromSsize_t (layout_hash (self));
}

typedef MtlStridedLayout *(* AxesFunc) (MtlStridedLayout  *self,
                                        const int         *axes,
                                        gsize              n_axes,
                                        GError           **error);

typedef MtlStridedLayout *(* ShapeFunc) (MtlStridedLayout  *self,
                                         const gint64      *shape,
                                         gsize              n_dims,
                                         GError           **error);

static PyObject *
call_with_axes (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args,
                AxesFunc         func)
{
  GError *error = NULL;
  int axes[MAX_DIMS];
  Py_ssize_t n = axes_from_args (args, n_args, axes);

  if (n < 0)
    return NULL;

  return wrap_layout (func (get_layout (self), axes, n, &error), &error);
}

static PyObject *
call_with_shape (PyObject        *self,
                 PyObject *const *args,
                 Py_ssize_t       n_args,
                 ShapeFunc        func)
{
  GError *error = NULL;
  gint64 shape[MAX_DIMS];
  Py_ssize_t n = ints_from_args (args, n_args, shape, "dimensions", PyExc_ValueError);

  if (n < 0)
    return NULL;

  return wrap_layout (func (get_layout (self), shape, n, &error), &error);
}

static PyObject *
layout_permute (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args)
{
  return call_with_axes (self, args, n_args, mtl_strided_layout_permute);
}

static PyObject *
layout_transpose (PyObject        *self,
                  PyObject *const *args,
                  Py_ssize_t       n_args)
{
  if (n_args > 0)
    return layout_permute (self, args, n_args);

  return layout_get_transposed (self, NULL);
}

static PyObject *
layout_reshape (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args)
{
  return call_with_shape (self, args, n_args, mtl_strided_layout_reshape);
}

static PyObject *
layout_broadcast_to (PyObject        *self,
                     PyObject *const *args,
                     Py_ssize_t       n_args)
{
  return call_with_shape (self, args, n_args, mtl_strided_layout_broadcast_to);
}

static PyObject *
layout_unsqueeze (PyObject        *self,
                  PyObject *const *args,
                  Py_ssize_t       n_args)
{
  return call_with_axes (self, args, n_args, mtl_strided_layout_unsqueeze);
}

static PyObject *
layout_squeeze (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args)
{
  if (n_args > 0)
    return call_with_axes (self, args, n_args, mtl_strided_layout_squeeze_axes);

  return wrap_layout (mtl_strided_layout_squeeze (get_layout (self)), NULL);
}

static PyObject *
layout_flip (PyObject        *self,
             PyObject *const *args,
             Py_ssize_t       n_args,
             PyObject        *names)
{
  static const Signature signature = { "flip", { "axis" }, 1, 1 };
  PyObject *values[MAX_NAMES];
  GError *error = NULL;
  int axis;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || axis_from_object (values[0], &axis) < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_flip (get_layout (self), axis, &error), &error);
}

static PyObject *
layout_select (PyObject        *self,
               PyObject *const *args,
               Py_ssize_t       n_args,
               PyObject        *names)
{
  static const Signature signature = { "select", { "axis", "index" }, 2, 2 };
  PyObject *values[MAX_NAMES];
  GError *error = NULL;
  gint64 index;
  int axis;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || axis_from_object (values[0], &axis) < 0
      || int64_from_object (values[1], &index, PyExc_IndexError) < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_select (get_layout (self), axis, index, &error), &error);
}

static PyObject *
layout_repack (PyObject        *self,
               PyObject *const *args,
               Py_ssize_t       n_args,
               PyObject        *names)
{
  static const Signature signature = { "repack", { "item_bits", "axis" }, 2, 1 };
  PyObject *values[MAX_NAMES];
  int axis = -1;
  GError *error = NULL;
  unsigned int item_bits;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || uint_from_object (values[0], &item_bits) < 0
      || (values[1] != NULL && axis_from_object (values[1], &axis) < 0))
    return NULL;

  return wrap_layout (mtl_strided_layout_repack (get_layout (self), item_bits, axis, &error),
                      &error);
}

static PyObject *
layout_flatten (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args,
                PyObject        *names)
{
  static const Signature signature = { "flatten", { "first", "last" }, 2, 0 };
  PyObject *values[MAX_NAMES];
  GError *error = NULL;
  int first = 0, last = -1;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || (values[0] != NULL && axis_from_object (values[0], &first) < 0)
      || (values[1] != NULL && axis_from_object (values[1], &last) < 0))
    return NULL;

  return wrap_layout (mtl_strided_layout_flatten (get_layout (self), first, last, &error), &error);
}

static PyObject *
layout_to_dense (PyObject        *self,
                 PyObject *const *args,
                 Py_ssize_t       n_args,
                 PyObject        *names)
{
  static const Signature signature = { "to_dense", { "order" }, 1, 0 };
  PyObject *values[MAX_NAMES];
  GError *error = NULL;
  MtlOrder order = MTL_ORDER_C;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || (values[0] != NULL && order_from_object (values[0], &order) < 0))
    return NULL;

  return wrap_layout (mtl_strided_layout_to_dense (get_layout (self), order, &error), &error);
}

static const char *
string_from_object (PyObject *object)
{
  const char *string;
  Py_ssize_t length;

  if (!PyUnicode_Check (object))
    {
      PyErr_Format (PyExc_TypeError, "%.100s is not a string", Py_TYPE (object)->tp_name);
      return NULL;
    }

  string = PyUnicode_AsUTF8AndSize (object, &length);
  if (string == NULL || strlen (string) == (gsize) length)
    return string;

  PyErr_SetString (PyExc_ValueError, "The string contains a null character");
  return NULL;
}

static PyObject *
layout_slice (PyObject        *self,
              PyObject *const *args,
              Py_ssize_t       n_args,
              PyObject        *names)
{
  static const Signature signature = { "slice", { "string" }, 1, 1 };
  PyObject *values[MAX_NAMES];
  GError *error = NULL;
  const char *string;

  if (parse_arguments (&signature, args, n_args, names, values) < 0)
    return NULL;

  string = string_from_object (values[0]);
  if (string == NULL)
    return NULL;

  return wrap_layout (mtl_strided_layout_slice_string (get_layout (self), string, &error), &error);
}

#define FAST(function) (PyCFunction) (void *) function, METH_FASTCALL
#define WITH_NAMES(function) FAST (function) | METH_KEYWORDS

static PyMethodDef layout_methods[] = {
  { "new", WITH_NAMES (layout_new_for_bits) | METH_STATIC,
    "new(shape, strides=None, item_bits=8)\n--\n\nCreates a layout." },
  { "new_dense", WITH_NAMES (layout_new_dense) | METH_STATIC,
    "new_dense(shape, order='C', item_bits=8)\n--\n\n"
    "Creates a layout of adjacent elements." },
  { "permute", FAST (layout_permute),
    "permute($self, /, *axes)\n--\n\nThe layout with its axes in another order." },
  { "transpose", FAST (layout_transpose),
    "transpose($self, /, *axes)\n--\n\nThe layout with its axes reversed, or in the order given." },
  { "reshape", FAST (layout_reshape),
    "reshape($self, /, *shape)\n--\n\nThe same elements in another shape, without a copy." },
  { "broadcast_to", FAST (layout_broadcast_to),
    "broadcast_to($self, /, *shape)\n--\n\nThe layout with axes of extent 1 repeated." },
  { "unsqueeze", FAST (layout_unsqueeze),
    "unsqueeze($self, /, *axes)\n--\n\nThe layout with new axes of extent 1." },
  { "squeeze", FAST (layout_squeeze),
    "squeeze($self, /, *axes)\n--\n\n"
    "The layout without its axes of extent 1, or without those given." },
  { "flip", WITH_NAMES (layout_flip),
    "flip($self, /, axis)\n--\n\nThe layout with an axis reversed." },
  { "select", WITH_NAMES (layout_select),
    "select($self, /, axis, index)\n--\n\nThe layout at an index of an axis, without that axis." },
  { "repack", WITH_NAMES (layout_repack),
    "repack($self, /, item_bits, axis=-1)\n--\n\n"
    "The same memory in smaller or larger elements." },
  { "flatten", WITH_NAMES (layout_flatten),
    "flatten($self, /, first=0, last=-1)\n--\n\nThe layout with adjacent axes merged." },
  { "to_dense", WITH_NAMES (layout_to_dense),
    "to_dense($self, /, order='C')\n--\n\nThe layout of a copy with adjacent elements." },
  { "slice", WITH_NAMES (layout_slice),
    "slice($self, /, string)\n--\n\nLike self[...], with the index as text." },
  { "is_unique", layout_is_unique, METH_NOARGS,
    "is_unique($self, /)\n--\n\nWhether no two indices refer to the same element." },
  { "is_dense", layout_is_dense, METH_NOARGS,
    "is_dense($self, /)\n--\n\nWhether the elements fill a range of memory without gaps." },
  { "is_empty", layout_is_empty, METH_NOARGS,
    "is_empty($self, /)\n--\n\nWhether there are no elements." },
  { "is_contiguous", WITH_NAMES (layout_is_contiguous),
    "is_contiguous($self, /, order='C')\n--\n\nWhether the elements are adjacent in that order." },
  { "get_offset", layout_get_offset, METH_NOARGS,
    "get_offset($self, /)\n--\n\nThe offset of the element whose indices are all 0." },
  { "get_offset_bounds", layout_get_offset_bounds, METH_NOARGS,
    "get_offset_bounds($self, /)\n--\n\nThe smallest and the largest offset of the elements." },
  { "get_required_size", layout_get_required_size, METH_NOARGS,
    "get_required_size($self, /)\n--\n\nThe size of the memory that the elements need, in bytes." },
  { "get_max_compatible_item_bits", WITH_NAMES (layout_get_max_compatible_item_bits),
    "get_max_compatible_item_bits($self, /, max_item_bits, address=0, axis=-1)\n--\n\n"
    "The largest item size in bits that the layout can be repacked to." },
  { "dup_stride_order", layout_dup_stride_order, METH_NOARGS,
    "dup_stride_order($self, /)\n--\n\nThe axes in their order in memory, outermost first." },
  { "__eq__", layout_eq, METH_O, "__eq__($self, value, /)\n--\n\nReturn self==value." },
  { "__hash__", layout_get_hash, METH_NOARGS, "__hash__($self, /)\n--\n\nReturn hash(self)." },
  { NULL }
};

int
install_layout (PyTypeObject *type)
{
  if (install_methods (type, layout_methods) < 0 || install_getters (type, layout_getters) < 0)
    return -1;

  /* The functions replace the slots that look them up, as for an index. */
  type->tp_richcompare = layout_compare;
  type->tp_hash = layout_hash;
  /* PyGObject's would create an object from properties. */
  type->tp_new = layout_new;
  type->tp_init = layout_init;
  PyType_Modified (type);
  return 0;
}
