/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The most common methods and attributes of views, without PyGObject's
 * marshalling. */

#include "mtl-python-private.h"

#include <string.h>

/* The size of a broadcast view may be larger than any memory. */
static PyObject *
multiply_size (PyObject *self)
{
  PyObject *size = PyObject_GetAttrString (self, "size");
  PyObject *itemsize = PyObject_GetAttrString (self, "itemsize");
  PyObject *product = size != NULL && itemsize != NULL ? PyNumber_Multiply (size, itemsize) : NULL;

  Py_XDECREF (size);
  Py_XDECREF (itemsize);
  return product;
}

static PyObject *
view_get_nbytes (PyObject *self,
                 void     *closure)
{
  MtlStridedView *view = get_view (self);
  unsigned __int128 bits = (unsigned __int128) mtl_strided_view_get_volume (view)
                           * item_bits_of (view);

  if (bits / 8 >= G_MAXUINT64)
    return multiply_size (self);

  return PyLong_FromUnsignedLongLong ((bits + 7) / 8);
}

/* The members of the enumeration, so that the getter need not look them up. */
#define N_CODES 32
static PyObject *dtypes[N_CODES][129];
static PyObject *other_dtype;

static int
keep_dtypes (void)
{
  GEnumClass *klass = g_type_class_ref (MTL_TYPE_DTYPE);

  for (guint i = 0; i < klass->n_values; i++)
    {
      int value = klass->values[i].value;
      PyObject *member = pyg_enum_from_gtype (MTL_TYPE_DTYPE, value);

      if (member == NULL)
        return -1;
      if (value == MTL_DTYPE_OTHER)
        other_dtype = member;
      else
        dtypes[value >> 8][value & 0xff] = member;
    }

  g_type_class_unref (klass);
  return 0;
}

static PyObject *
view_get_dtype (PyObject *self,
                void     *closure)
{
  MtlDType dtype = mtl_strided_view_get_dtype (get_view (self));
  PyObject *member = dtype == MTL_DTYPE_OTHER ? other_dtype : dtypes[dtype >> 8][dtype & 0xff];

  Py_INCREF (member);
  return member;
}

static PyObject *
view_get_layout (PyObject *self,
                 void     *closure)
{
  return wrap_shared_layout (mtl_strided_view_get_layout (get_view (self)));
}

static PyGetSetDef view_getters[] = {
  { "nbytes", view_get_nbytes, NULL, "The size of all elements in bytes.", NULL },
  { "dtype", view_get_dtype, refuse_to_set, "The element type, a Mtl.DType.",
    "view.reinterpret() returns the same bytes as another type, and view.astype() a conversion" },
  { "layout", view_get_layout, NULL, "How the elements lie in memory, a Mtl.StridedLayout.", NULL },
  { NULL }
};

static PyObject *
view_reinterpret (PyObject *self,
                  PyObject *dtype)
{
  GError *error = NULL;
  MtlDType type;

  if (dtype_from_object (dtype, &type) < 0)
    return NULL;

  return wrap_view (mtl_strided_view_reinterpret (get_view (self), type, &error), &error, CALLER);
}

/* The reversed axes take the reversed shape in Fortran order. */
static MtlStridedView *
reshape_reversed (MtlStridedView  *view,
                  gint64          *shape,
                  gsize            n_dims,
                  GError         **error)
{
  g_autoptr (MtlStridedView) reversed = mtl_strided_view_transpose (view);
  g_autoptr (MtlStridedView) reshaped = NULL;

  for (gsize i = 0; i < n_dims / 2; i++)
    {
      gint64 extent = shape[i];

      shape[i] = shape[n_dims - 1 - i];
      shape[n_dims - 1 - i] = extent;
    }

  reshaped = mtl_strided_view_reshape (reversed, shape, n_dims, error);
  return reshaped != NULL ? mtl_strided_view_transpose (reshaped) : NULL;
}

static MtlStridedView *
reshape_in_order (MtlStridedView  *view,
                  MtlOrder         order,
                  gint64          *shape,
                  gsize            n_dims,
                  GError         **error)
{
  if (order == MTL_ORDER_F
      || (order == MTL_ORDER_ANY && mtl_strided_view_is_contiguous (view, MTL_ORDER_F)
          && !mtl_strided_view_is_contiguous (view, MTL_ORDER_C)))
    return reshape_reversed (view, shape, n_dims, error);

  return mtl_strided_view_reshape (view, shape, n_dims, error);
}

static PyObject *
reshape_with_names (PyObject        *self,
                    PyObject *const *args,
                    Py_ssize_t       n_args,
                    PyObject        *names)
{
  static const Signature signature = { "reshape", { "order", "copy" }, 2, 0 };
  PyObject *values[MAX_NAMES];
  MtlStridedView *view, *reshaped;
  GError *error = NULL;
  MtlOrder order = MTL_ORDER_C;
  gint64 shape[MAX_DIMS];
  int copies = FALSE;
  Py_ssize_t n;

  if (parse_arguments (&signature, args + n_args, 0, names, values) < 0
      || (values[0] != NULL && order_from_object (values[0], &order) < 0)
      || (values[1] != NULL && (copies = PyObject_IsTrue (values[1])) < 0)
      || (n = ints_from_args (args, n_args, shape, "dimensions", PyExc_ValueError)) < 0)
    return NULL;

  if (order == MTL_ORDER_K)
    {
      PyErr_SetString (PyExc_ValueError, "reshape() takes the orders 'C', 'F' and 'A', not 'K'");
      return NULL;
    }

  view = get_view (self);
  view = copies ? copy_away_from_python (view, order, NULL, NULL, &error) : g_object_ref (view);
  reshaped = view != NULL ? reshape_in_order (view, order, shape, n, &error) : NULL;
  if (view != NULL)
    unref_view (view);
  add_advice (&error, MTL_ERROR_NEEDS_COPY,
              order == MTL_ORDER_C ? "pass copy=True" : "pass copy=True (order='F' reverses both)");
  return wrap_view (reshaped, &error, CALLER);
}

static PyObject *
view_reshape (PyObject        *self,
              PyObject *const *args,
              Py_ssize_t       n_args,
              PyObject        *names)
{
  MtlStridedView *reshaped;
  GError *error = NULL;
  gint64 shape[MAX_DIMS];
  Py_ssize_t n;

  if (names != NULL)
    return reshape_with_names (self, args, n_args, names);

  n = ints_from_args (args, n_args, shape, "dimensions", PyExc_ValueError);
  if (n < 0)
    return NULL;

  reshaped = mtl_strided_view_reshape (get_view (self), shape, n, &error);
  if (reshaped == NULL)
    add_advice (&error, MTL_ERROR_NEEDS_COPY, "pass copy=True");
  return wrap_view (reshaped, &error, CALLER);
}

/* The code here that reads a view expects it to change only where Python code may run, as with the
 * GIL. Without one, the other threads are stopped at such a place, as for a garbage collection. */
#ifdef Py_GIL_DISABLED
typedef struct
{
  MtlStridedView *view;
  GError **error;
} Closing;

static int
close_once (PyObject *first,
            void     *data)
{
  Closing *self = data;

  mtl_strided_view_close (self->view, self->error);
  return 0; /* no more objects */
}

static void
close_at_once (MtlStridedView  *view,
               GError         **error)
{
  PyUnstable_GC_VisitObjects (close_once, &(Closing) { view, error });
}
#else
#define close_at_once mtl_strided_view_close
#endif

/* The end of the memory may run other code, so another view has it until the GIL is released. */
static PyObject *
view_close (PyObject *self,
            PyObject *unused)
{
  MtlStridedView *view = get_view (self);
  MtlStridedView *last = mtl_strided_view_transpose (view);
  GError *error = NULL;
  gboolean closed;

  close_at_once (view, &error);
  Py_BEGIN_ALLOW_THREADS
  closed = error == NULL && mtl_strided_view_close (last, NULL);
  g_object_unref (last);
  Py_END_ALLOW_THREADS
  if (error == NULL)
    return PyBool_FromLong (closed);

  add_advice (&error, MTL_ERROR_BUSY, "each memoryview or NumPy array of it has a reference");
  return raise_error (error, CALLER);
}

/* Returns a list of the elements of the last axis, or of lists. */
static PyObject *
list_axis (MtlStridedView *view,
           const gint64   *shape,
           gsize           n_dims,
           gsize           axis,
           gint64         *indices)
{
  PyObject *list;

  if (axis == n_dims)
    return number_get (view, indices, n_dims);

  list = PyList_New (shape[axis]);
  for (gint64 i = 0; list != NULL && i < shape[axis]; i++)
    {
      PyObject *item;

      indices[axis] = i;
      item = list_axis (view, shape, n_dims, axis + 1, indices);
      if (item == NULL)
        Py_CLEAR (list);
      else
        PyList_SET_ITEM (list, i, item);
    }

  return list;
}

/* Returns the view itself if the host can access it, otherwise a copy. */
static MtlStridedView *
fetch_elements (MtlStridedView  *view,
                GError         **error)
{
  MtlStridedView *fetched;

  if (mtl_strided_view_is_host_accessible (view))
    return g_object_ref (view);

  Py_BEGIN_ALLOW_THREADS
  fetched = mtl_strided_view_to_device (view, mtl_device_get_host (), MTL_STORAGE_MODE_HOST, NULL,
                                        error);
  Py_END_ALLOW_THREADS
  return fetched;
}

static PyObject *
view_tolist (PyObject *self,
             PyObject *unused)
{
  gint64 indices[MAX_DIMS];
  gsize n_dims;
  GError *error = NULL;
  MtlStridedView *view = fetch_elements (get_view (self), &error);
  const gint64 *shape;
  PyObject *list;

  if (view == NULL)
    return raise_error (error, CALLER);

  shape = mtl_strided_view_get_shape (view, &n_dims);
  list = list_axis (view, shape, n_dims, 0, indices);
  g_object_unref (view);
  return list;
}

/* A single index along one axis already is the index of the element. An element of
 * several lanes has their indices. */
static gboolean
counts_elements (MtlStridedView *view)
{
  gsize n_dims = mtl_strided_view_get_n_dims (view);

  return n_dims > 1 || (n_dims == 0 && mtl_strided_view_get_lanes (view) == 1);
}

/* One index counts all elements in C order, as NumPy's item() does. */
static int
unravel_index (MtlStridedView *view,
               gint64         *indices)
{
  gint64 volume = mtl_strided_view_get_volume (view);
  gint64 index = indices[0];
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);

  if (index < -volume || index >= volume)
    return raise_error_int (g_error_new (MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                                         "Index %" G_GINT64_FORMAT " is out of bounds for %"
                                         G_GINT64_FORMAT " element%s", index, volume,
                                         volume == 1 ? "" : "s"),
                            CALLER);

  if (index < 0)
    index += volume;
  for (gsize i = n_dims; i-- > 0; index /= shape[i])
    indices[i] = index % shape[i];
  return 0;
}

static PyObject *
view_item (PyObject        *self,
           PyObject *const *args,
           Py_ssize_t       n_args)
{
  MtlStridedView *view = get_view (self);
  gint64 indices[MAX_DIMS] = { 0 };
  Py_ssize_t n = mtl_strided_view_get_n_dims (view);

  if (n_args > 0)
    {
      gsize n_dims = n;

      n = ints_from_args (args, n_args, indices, "indices", PyExc_IndexError);
      if (n == 1 && counts_elements (view))
        n = unravel_index (view, indices) < 0 ? -1 : (Py_ssize_t) n_dims;
    }
  else if (mtl_strided_view_get_volume (view) != 1)
    {
      PyErr_Format (PyExc_ValueError, "A view of %lld elements is not a single number",
                    (long long) mtl_strided_view_get_volume (view));
      return NULL;
    }

  return n < 0 ? NULL : number_get (view, indices, n);
}

static PyObject *
convert_item (PyObject *self,
              PyObject *(* convert) (PyObject *number))
{
  PyObject *number, *result;

  if (mtl_strided_view_get_volume (get_view (self)) != 1)
    {
      PyErr_Format (PyExc_TypeError, "A view of %lld elements is not a single number",
                    (long long) mtl_strided_view_get_volume (get_view (self)));
      return NULL;
    }

  number = view_item (self, NULL, 0);
  if (number == NULL)
    return NULL;

  result = convert (number);
  Py_DECREF (number);
  return result;
}

/* Otherwise float() and int() would read the bytes as text. */
static PyObject *
view_float (PyObject *self,
            PyObject *unused)
{
  return convert_item (self, PyNumber_Float);
}

static PyObject *
view_int (PyObject *self,
          PyObject *unused)
{
  return convert_item (self, PyNumber_Long);
}

static PyMethodDef view_methods[] = {
  { "reshape", WITH_NAMES (view_reshape),
    "reshape($self, /, *shape, order='C', copy=None)\n--\n\n"
    "The same elements in another shape, without a copy unless copy=True." },
  { "reinterpret", view_reinterpret, METH_O,
    "reinterpret($self, dtype, /)\n--\n\n"
    "The same bytes as elements of another type, without a copy." },
  { "close", view_close, METH_NOARGS,
    "close($self, /)\n--\n\n"
    "Ends the use of the memory now: the view is empty from then on. Returns True if nothing\n"
    "uses the memory any longer, and False if other views or tensors keep it. Raises BufferError\n"
    "and leaves the view as it was if an operation, a memoryview or an array uses the view." },
  { "tolist", view_tolist, METH_NOARGS,
    "tolist($self, /)\n--\n\nThe elements as nested lists, with a list for several lanes." },
  { "__float__", view_float, METH_NOARGS,
    "__float__($self, /)\n--\n\nThe only element as a float." },
  { "__int__", view_int, METH_NOARGS,
    "__int__($self, /)\n--\n\nThe only element as an int." },
  { "item", FAST (view_item),
    "item($self, /, *indices)\n--\n\n"
    "One element as a number: the only one, or the one at the indices. A single index\n"
    "counts the elements in C order. The last of more may be that of a lane. Without\n"
    "it, several lanes are a list." },
  { NULL }
};

int
install_view (PyTypeObject *type)
{
  if (keep_dtypes () < 0 || install_axes (type) < 0 || install_methods (type, view_methods) < 0)
    return -1;

  return install_getters (type, view_getters);
}
