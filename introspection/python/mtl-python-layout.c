/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The most common methods and attributes of layouts, without PyGObject's
 * marshalling. */

#include "mtl-python-private.h"

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
layout_new (PyTypeObject *type,
            PyObject     *args,
            PyObject     *keywords)
{
  static const Signature signature = { "StridedLayout", { "shape", "strides", "itemsize" }, 3 };
  PyObject *values[MAX_NAMES];
  gint64 shape[MAX_DIMS], strides[MAX_DIMS], itemsize = 1;
  Py_ssize_t n_dims = 0, n_strides = 0;
  gboolean has_strides;
  GError *error = NULL;

  if (parse_tuple_and_dict (&signature, args, keywords, values) < 0
      || (values[2] != NULL && int64_from_object (values[2], &itemsize, PyExc_ValueError) < 0))
    return NULL;

  if (itemsize < 0 || itemsize > G_MAXUINT / 8)
    {
      PyErr_Format (PyExc_ValueError, "An itemsize of %lld bytes is not in the range of 1 to %u",
                    (long long) itemsize, G_MAXUINT / 8);
      return NULL;
    }

  if (values[0] != NULL)
    n_dims = ints_from_argument (values[0], shape, "dimensions");
  has_strides = values[1] != NULL && values[1] != Py_None;
  if (n_dims >= 0 && has_strides)
    n_strides = ints_from_argument (values[1], strides, "strides");
  if (n_dims < 0 || n_strides < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_new (shape, n_dims, has_strides ? strides : NULL,
                                              n_strides, itemsize * 8, &error),
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
layout_is_unique (PyObject *self,
                  PyObject *unused)
{
  return PyBool_FromLong (mtl_strided_layout_is_unique (get_layout (self)));
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

static Py_hash_t
layout_hash (PyObject *self)
{
  Py_hash_t hash = mtl_strided_layout_hash (get_layout (self));

  return hash != -1 ? hash : -2; /* -1 is an error */
}

static PyObject *
layout_reshape (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args)
{
  GError *error = NULL;
  gint64 shape[MAX_DIMS];
  Py_ssize_t n = ints_from_args (args, n_args, shape, "dimensions", PyExc_ValueError);

  if (n < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_reshape (get_layout (self), shape, n, &error), &error);
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

static PyMethodDef layout_methods[] = {
  { "reshape", FAST (layout_reshape),
    "reshape($self, /, *shape)\n--\n\nThe same elements in another shape, without a copy." },
  { "repack", WITH_NAMES (layout_repack),
    "repack($self, /, item_bits, axis=-1)\n--\n\n"
    "The same memory in smaller or larger elements." },
  { "flatten", WITH_NAMES (layout_flatten),
    "flatten($self, /, first=0, last=-1)\n--\n\nThe layout with adjacent axes merged." },
  { "to_dense", WITH_NAMES (layout_to_dense),
    "to_dense($self, /, order='C')\n--\n\nThe layout of a copy with adjacent elements." },
  { "is_unique", layout_is_unique, METH_NOARGS,
    "is_unique($self, /)\n--\n\nChecks that no two indices refer to the same element." },
  { "get_offset_bounds", layout_get_offset_bounds, METH_NOARGS,
    "get_offset_bounds($self, /)\n--\n\nThe smallest and the largest offset of the elements." },
  { NULL }
};

int
install_layout (PyTypeObject *type)
{
  if (install_axes (type) < 0
      || install_methods (type, layout_methods) < 0
      || install_slot (type, &PyTuple_Type, "__eq__", layout_compare) < 0
      || install_slot (type, &PyTuple_Type, "__hash__", layout_hash) < 0)
    return -1;

  type->tp_richcompare = layout_compare; /* skips the slot that looks up the methods */
  /* PyGObject's would create an object from properties. */
  type->tp_new = layout_new;
  type->tp_init = layout_init;
  PyType_Modified (type);
  return 0;
}
