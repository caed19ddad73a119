/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a layout tells of itself. */

#include "mtl-python-private.h"

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
  static const Signature signature = { "is_contiguous", { "order" }, 1, 1 };
  PyObject *values[MAX_NAMES];
  int order;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || int_from_object (values[0], &order) < 0)
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
layout_get_stride_order (PyObject *self,
                         PyObject *unused)
{
  gsize n;
  g_autofree int *axes = mtl_strided_layout_get_stride_order (get_layout (self), &n);
  PyObject *list = PyList_New (n);

  for (gsize i = 0; list != NULL && i < n; i++)
    PyList_SET_ITEM (list, i, PyLong_FromLong (axes[i])); /* a small one, which is there */

  return list;
}

static int
address_from_object (PyObject *object,
                     guint64  *address)
{
  PyObject *number = PyNumber_Index (object);

  if (number == NULL)
    return -1;

  *address = PyLong_AsUnsignedLongLong (number);
  Py_DECREF (number);
  return PyErr_Occurred () != NULL ? -1 : 0;
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
      || (values[1] != NULL && address_from_object (values[1], &address) < 0)
      || (values[2] != NULL && int_from_object (values[2], &axis) < 0))
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

#define WITH_NAMES(function) \
  (PyCFunction) (void *) function, METH_FASTCALL | METH_KEYWORDS

PyMethodDef layout_query_methods[] = {
  { "is_unique", layout_is_unique, METH_NOARGS,
    "is_unique($self, /)\n--\n\nWhether no two indices lead to one element." },
  { "is_dense", layout_is_dense, METH_NOARGS,
    "is_dense($self, /)\n--\n\nWhether the elements fill one stretch of memory." },
  { "is_empty", layout_is_empty, METH_NOARGS,
    "is_empty($self, /)\n--\n\nWhether there is no element at all." },
  { "is_contiguous", WITH_NAMES (layout_is_contiguous),
    "is_contiguous($self, /, order)\n--\n\nWhether the elements lie side by side in that order." },
  { "get_offset", layout_get_offset, METH_NOARGS,
    "get_offset($self, /)\n--\n\nWhere the element whose indices are all 0 lies." },
  { "get_offset_bounds", layout_get_offset_bounds, METH_NOARGS,
    "get_offset_bounds($self, /)\n--\n\nBetween which offsets the elements lie." },
  { "get_required_size", layout_get_required_size, METH_NOARGS,
    "get_required_size($self, /)\n--\n\nHow much memory the elements need, in bytes." },
  { "get_max_compatible_item_bits", WITH_NAMES (layout_get_max_compatible_item_bits),
    "get_max_compatible_item_bits($self, /, max_item_bits, address=0, axis=-1)\n--\n\n"
    "The largest items that the elements can be seen as without a copy." },
  { "get_stride_order", layout_get_stride_order, METH_NOARGS,
    "get_stride_order($self, /)\n--\n\nThe axes as they lie in memory, outermost first." },
  { "__eq__", layout_eq, METH_O, "__eq__($self, value, /)\n--\n\nReturn self==value." },
  { "__hash__", layout_get_hash, METH_NOARGS, "__hash__($self, /)\n--\n\nReturn hash(self)." },
  { NULL }
};

/* The functions in place of the slots that look them up, as with an index. */
int
install_layout_comparison (PyTypeObject *type)
{
  type->tp_richcompare = layout_compare;
  type->tp_hash = layout_hash;
  PyType_Modified (type);
  return 0;
}
