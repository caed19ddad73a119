/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What Python code asks a layout for most often, without PyGObject's
 * marshalling. */

#include "mtl-python-private.h"

static Py_ssize_t
ints_from_argument (PyObject   *argument,
                    gint64     *values,
                    const char *what)
{
  if (PyLong_Check (argument))
    {
      PyErr_Format (PyExc_TypeError, "The %s are a sequence of integers, not a single one", what);
      return -1;
    }

  return ints_from_args (&argument, 1, values, what);
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

  if (parse_arguments (&signature, args, keywords, values) < 0
      || (values[2] != NULL && int64_from_object (values[2], &itemsize, PyExc_ValueError) < 0))
    return NULL;

  if (itemsize < 0 || itemsize > G_MAXUINT / 8)
    {
      PyErr_Format (PyExc_ValueError, "An item of %lld bytes: there can be 1 to %u",
                    (long long) itemsize, G_MAXUINT / 8);
      return NULL;
    }

  return layout_from_objects (values[0], values[1], itemsize * 8);
}

/* mtl_strided_layout_new() itself. */
static PyObject *
layout_new_for_bits (PyObject *type,
                     PyObject *args,
                     PyObject *keywords)
{
  static const Signature signature = { "new", { "shape", "strides", "item_bits" }, 3, 3 };
  PyObject *values[MAX_NAMES];
  unsigned int item_bits;

  if (parse_arguments (&signature, args, keywords, values) < 0
      || uint_from_object (values[2], &item_bits) < 0)
    return NULL;

  return layout_from_objects (values[0], values[1], item_bits);
}

/* All is done in layout_new(). */
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

PyGetSetDef layout_getters[] = {
  { "shape", layout_get_shape, NULL, "The extents, a tuple.", NULL },
  { "strides", layout_get_strides, NULL, "The strides in elements, a tuple.", NULL },
  { "ndim", layout_get_ndim, NULL, "The number of dimensions.", NULL },
  { "size", layout_get_size, NULL, "The number of elements.", NULL },
  { "itemsize", layout_get_itemsize, NULL, "What one element takes, in bytes.", NULL },
  { "T", layout_get_transposed, NULL, "The layout with its axes reversed.", NULL },
  { NULL }
};

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
  Py_ssize_t n = ints_from_args (args, n_args, shape, "dimensions");

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
layout_repack (PyObject *self,
               PyObject *args,
               PyObject *keywords)
{
  static const Signature signature = { "repack", { "item_bits", "axis", "keep_dim" }, 3, 1 };
  PyObject *values[MAX_NAMES];
  int axis = -1, keep_dim = TRUE;
  GError *error = NULL;
  unsigned int item_bits;

  if (parse_arguments (&signature, args, keywords, values) < 0
      || uint_from_object (values[0], &item_bits) < 0
      || (values[1] != NULL && axis_from_object (values[1], &axis) < 0))
    return NULL;

  if (values[2] != NULL)
    keep_dim = PyObject_IsTrue (values[2]);
  if (keep_dim < 0)
    return NULL;

  return wrap_layout (mtl_strided_layout_repack (get_layout (self), item_bits, axis, keep_dim,
                                                 &error),
                      &error);
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

#define FAST(function) (PyCFunction) (void *) function, METH_FASTCALL

PyMethodDef layout_methods[] = {
  { "new", (PyCFunction) (void *) layout_new_for_bits, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
    "new(shape, strides, item_bits)\n--\n\nMakes a layout." },
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
  { "repack", (PyCFunction) (void *) layout_repack, METH_VARARGS | METH_KEYWORDS,
    "repack($self, /, item_bits, axis=-1, keep_dim=True)\n--\n\n"
    "The same memory in smaller or larger elements." },
  { "is_unique", layout_is_unique, METH_NOARGS,
    "is_unique($self, /)\n--\n\nWhether no two indices lead to one element." },
  { "get_offset_bounds", layout_get_offset_bounds, METH_NOARGS,
    "get_offset_bounds($self, /)\n--\n\nBetween which offsets the elements lie." },
  { NULL }
};

/* The slots themselves: PyGObject's make an object by its properties. */
int
install_layout_constructor (PyTypeObject *type)
{
  type->tp_new = layout_new;
  type->tp_init = layout_init;
  PyType_Modified (type);
  return 0;
}
