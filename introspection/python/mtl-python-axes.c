/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The most common methods and attributes of views and layouts alike, without PyGObject's
 * marshalling. */

#include "mtl-python-private.h"

static gboolean
is_layout (PyObject *self)
{
  return !is_view (self) && PyObject_TypeCheck (self, classes.layout);
}

static PyObject *
get_shape (PyObject *self,
           void     *closure)
{
  gsize n_dims;
  const gint64 *shape = is_layout (self)
                          ? mtl_strided_layout_get_shape (get_layout (self), &n_dims)
                          : mtl_strided_view_get_shape (get_view (self), &n_dims);

  return tuple_from_ints (shape, n_dims);
}

static PyObject *
get_strides (PyObject *self,
             void     *closure)
{
  gsize n_dims;
  const gint64 *strides = is_layout (self)
                            ? mtl_strided_layout_get_strides (get_layout (self), &n_dims)
                            : mtl_strided_view_get_strides (get_view (self), &n_dims);

  return tuple_from_ints (strides, n_dims);
}

static PyObject *
get_ndim (PyObject *self,
          void     *closure)
{
  return PyLong_FromUnsignedLong (is_layout (self)
                                    ? mtl_strided_layout_get_n_dims (get_layout (self))
                                    : mtl_strided_view_get_n_dims (get_view (self)));
}

static PyObject *
get_size (PyObject *self,
          void     *closure)
{
  return PyLong_FromLongLong (is_layout (self)
                                ? mtl_strided_layout_get_volume (get_layout (self))
                                : mtl_strided_view_get_volume (get_view (self)));
}

/* Rounded up: in Python an element of 4 bits takes a whole byte. */
static PyObject *
get_itemsize (PyObject *self,
              void     *closure)
{
  guint bits = is_layout (self) ? mtl_strided_layout_get_item_bits (get_layout (self))
                                : item_bits_of (get_view (self));

  return PyLong_FromUnsignedLong ((bits + 7) / 8);
}

static PyObject *
get_transposed (PyObject *self,
                void     *closure)
{
  return is_layout (self)
           ? wrap_layout (mtl_strided_layout_transpose (get_layout (self)), NULL)
           : wrap_view (mtl_strided_view_transpose (get_view (self)), NULL, CALLER);
}

/* NumPy's arrays allow this, and change in place. */
int
refuse_to_set (PyObject *self,
               PyObject *value,
               void     *advice)
{
  PyErr_Format (PyExc_AttributeError, "Views and layouts do not change: %s", (const char *) advice);
  return -1;
}

static PyGetSetDef axes_getters[] = {
  { "shape", get_shape, refuse_to_set, "The extents, a tuple.",
    "reshape() returns another one of the same elements" },
  { "strides", get_strides, refuse_to_set, "The strides in elements, a tuple.",
    "Mtl.StridedView.new() and Mtl.StridedLayout.new() take any strides" },
  { "ndim", get_ndim, NULL, "The number of dimensions.", NULL },
  { "size", get_size, NULL, "The number of elements.", NULL },
  { "itemsize", get_itemsize, NULL, "The size of one element in bytes.", NULL },
  { "T", get_transposed, NULL, "The same with the axes reversed.", NULL },
  { NULL }
};

typedef MtlStridedView *(* ViewAxesFunc) (MtlStridedView  *self,
                                          const int       *axes,
                                          gsize            n_axes,
                                          GError         **error);

typedef MtlStridedLayout *(* LayoutAxesFunc) (MtlStridedLayout  *self,
                                              const int         *axes,
                                              gsize              n_axes,
                                              GError           **error);

static PyObject *
call_with_axes (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args,
                ViewAxesFunc     of_view,
                LayoutAxesFunc   of_layout)
{
  GError *error = NULL;
  int axes[MAX_DIMS];
  Py_ssize_t n = axes_from_args (args, n_args, axes);

  if (n < 0)
    return NULL;

  return is_layout (self) ? wrap_layout (of_layout (get_layout (self), axes, n, &error), &error)
                          : wrap_view (of_view (get_view (self), axes, n, &error), &error, CALLER);
}

static PyObject *
permute (PyObject        *self,
         PyObject *const *args,
         Py_ssize_t       n_args)
{
  return call_with_axes (self, args, n_args, mtl_strided_view_permute, mtl_strided_layout_permute);
}

static PyObject *
transpose (PyObject        *self,
           PyObject *const *args,
           Py_ssize_t       n_args)
{
  if (n_args > 0 && !(n_args == 1 && args[0] == Py_None))
    return permute (self, args, n_args);

  return get_transposed (self, NULL);
}

static PyObject *
broadcast_to (PyObject        *self,
              PyObject *const *args,
              Py_ssize_t       n_args)
{
  GError *error = NULL;
  gint64 shape[MAX_DIMS];
  Py_ssize_t n = ints_from_args (args, n_args, shape, "dimensions", PyExc_ValueError);

  if (n < 0)
    return NULL;
  if (is_layout (self))
    return wrap_layout (mtl_strided_layout_broadcast_to (get_layout (self), shape, n, &error),
                        &error);

  return wrap_view (mtl_strided_view_broadcast_to (get_view (self), shape, n, &error), &error,
                    CALLER);
}

static PyObject *
unsqueeze (PyObject        *self,
           PyObject *const *args,
           Py_ssize_t       n_args)
{
  return call_with_axes (self, args, n_args, mtl_strided_view_unsqueeze,
                         mtl_strided_layout_unsqueeze);
}

static PyObject *
squeeze (PyObject        *self,
         PyObject *const *args,
         Py_ssize_t       n_args,
         PyObject        *names)
{
  static const Signature signature = { "squeeze", { "axis" }, 1, 0 };
  PyObject *values[MAX_NAMES];

  if (names != NULL)
    {
      if (parse_arguments (&signature, args, n_args, names, values) < 0)
        return NULL;
      args = values;
      n_args = values[0] != NULL && values[0] != Py_None;
    }

  if (n_args > 0)
    return call_with_axes (self, args, n_args, mtl_strided_view_squeeze_axes,
                           mtl_strided_layout_squeeze_axes);

  return is_layout (self) ? wrap_layout (mtl_strided_layout_squeeze (get_layout (self)), NULL)
                          : wrap_view (mtl_strided_view_squeeze (get_view (self)), NULL, CALLER);
}

static PyObject *
flip (PyObject        *self,
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

  return is_layout (self)
           ? wrap_layout (mtl_strided_layout_flip (get_layout (self), axis, &error), &error)
           : wrap_view (mtl_strided_view_flip (get_view (self), axis, &error), &error, CALLER);
}

static PyObject *
select_index (PyObject        *self,
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
  if (is_layout (self))
    return wrap_layout (mtl_strided_layout_select (get_layout (self), axis, index, &error), &error);

  return wrap_view (mtl_strided_view_select (get_view (self), axis, index, &error), &error, CALLER);
}

static PyObject *
is_contiguous (PyObject        *self,
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

  return PyBool_FromLong (is_layout (self)
                            ? mtl_strided_layout_is_contiguous (get_layout (self), order)
                            : mtl_strided_view_is_contiguous (get_view (self), order));
}

static PyMethodDef axes_methods[] = {
  { "permute", FAST (permute),
    "permute($self, /, *axes)\n--\n\nThe same with the axes in another order." },
  { "transpose", FAST (transpose),
    "transpose($self, /, *axes)\n--\n\nThe same with the axes reversed, or in the order given." },
  { "broadcast_to", FAST (broadcast_to),
    "broadcast_to($self, /, *shape)\n--\n\nThe same with axes of extent 1 repeated." },
  { "unsqueeze", FAST (unsqueeze),
    "unsqueeze($self, /, *axes)\n--\n\nThe same with new axes of extent 1." },
  { "squeeze", WITH_NAMES (squeeze),
    "squeeze($self, /, *axes, axis=None)\n--\n\n"
    "The same without the axes of extent 1, or without those given." },
  { "flip", WITH_NAMES (flip),
    "flip($self, /, axis)\n--\n\nThe same with an axis reversed." },
  { "select", WITH_NAMES (select_index),
    "select($self, /, axis, index)\n--\n\nThe part at an index of an axis, without that axis." },
  { "is_contiguous", WITH_NAMES (is_contiguous),
    "is_contiguous($self, /, order='C')\n--\n\n"
    "Returns True if the elements lie side by side in that order." },
  { NULL }
};

int
install_axes (PyTypeObject *type)
{
  return install_methods (type, axes_methods) < 0 ? -1 : install_getters (type, axes_getters);
}
