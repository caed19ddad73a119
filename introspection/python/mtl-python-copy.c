/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* copy() and astype(), as NumPy's arrays have them. The GIL is released if
 * there is much to copy. */

#include "mtl-python-private.h"

int
order_from_object (PyObject *object,
                   MtlOrder *order)
{
  static const char letters[] = { 'C', 'F', 'K', 'A' };
  Py_UCS4 letter;
  unsigned int number;

  if (!PyUnicode_Check (object))
    {
      if (uint_from_object (object, &number) < 0)
        return -1;
      if (number < G_N_ELEMENTS (letters))
        {
          *order = number;
          return 0;
        }
      PyErr_Format (PyExc_ValueError,
                    "%u is not an order: use 'C', 'F', 'K', 'A' or Mtl.Order", number);
      return -1;
    }

  letter = PyUnicode_GET_LENGTH (object) == 1 ? PyUnicode_READ_CHAR (object, 0) : 0;
  for (number = 0; number < G_N_ELEMENTS (letters); number++)
    if (letter == (Py_UCS4) letters[number]
        || letter == (Py_UCS4) g_ascii_tolower (letters[number]))
      {
        *order = number;
        return 0;
      }

  PyErr_Format (PyExc_ValueError, "%R is not an order: use 'C', 'F', 'K', 'A' or Mtl.Order",
                object);
  return -1;
}

/* Keeps the element type if dtype is NULL. Releases the GIL meanwhile if there is much to copy. */
MtlStridedView *
copy_away_from_python (MtlStridedView  *view,
                       MtlOrder         order,
                       const MtlDType  *dtype,
                       GCancellable    *cancellable,
                       GError         **error)
{
  Absence absence = leave_python (view, NULL);
  MtlStridedView *copy = dtype != NULL
                           ? mtl_strided_view_to_dtype (view, *dtype, order, cancellable, error)
                           : mtl_strided_view_copy (view, order, cancellable, error);

  enter_python (absence);
  return copy;
}

static PyObject *
copy_for_python (MtlStridedView *view,
                 MtlOrder        order,
                 const MtlDType *dtype,
                 GCancellable   *cancellable)
{
  GError *error = NULL;

  return wrap_view (copy_away_from_python (view, order, dtype, cancellable, &error), &error,
                    CALLER);
}

/* NULL and None are no cancellable. */
static int
cancellable_from_object (PyObject      *object,
                         GCancellable **cancellable)
{
  *cancellable = NULL;
  if (object == NULL || object == Py_None)
    return 0;

  if (PyObject_TypeCheck (object, pygobject_lookup_class (G_TYPE_CANCELLABLE)))
    *cancellable = G_CANCELLABLE (pygobject_get (object));
  if (*cancellable != NULL)
    return 0;

  PyErr_Format (PyExc_TypeError, "%.100s is not a Gio.Cancellable", Py_TYPE (object)->tp_name);
  return -1;
}

static PyObject *
view_copy (PyObject        *self,
           PyObject *const *args,
           Py_ssize_t       n_args,
           PyObject        *names)
{
  static const Signature signature = { "copy", { "order", "cancellable" }, 2, 0 };
  PyObject *values[MAX_NAMES];
  MtlOrder order = MTL_ORDER_C;
  GCancellable *cancellable;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || (values[0] != NULL && order_from_object (values[0], &order) < 0)
      || cancellable_from_object (values[1], &cancellable) < 0)
    return NULL;

  return copy_for_python (get_view (self), order, NULL, cancellable);
}

static gboolean
has_dtype (MtlStridedView *view,
           MtlDType        dtype)
{
  return mtl_strided_view_get_dtype (view) == dtype
         && mtl_strided_view_get_lanes (view) == 1
         && !mtl_strided_view_is_padded (view);
}

static PyObject *
view_astype (PyObject        *self,
             PyObject *const *args,
             Py_ssize_t       n_args,
             PyObject        *names)
{
  static const Signature signature = { "astype", { "dtype", "order", "copy" }, 3, 1 };
  PyObject *values[MAX_NAMES];
  MtlStridedView *view = get_view (self);
  MtlOrder order = MTL_ORDER_K;
  int copies = TRUE;
  MtlDType dtype;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || dtype_from_object (values[0], &dtype) < 0
      || (values[1] != NULL && order_from_object (values[1], &order) < 0)
      || (values[2] != NULL && (copies = PyObject_IsTrue (values[2])) < 0))
    return NULL;

  if (!has_dtype (view, dtype))
    return copy_for_python (view, order, &dtype, NULL);

  if (!copies && (order == MTL_ORDER_K || mtl_strided_view_is_contiguous (view, order)))
    {
      Py_INCREF (self);
      return self;
    }

  return copy_for_python (view, order, NULL, NULL);
}

/* Replaces the method that the bindings make, which takes longer than a small copy. The
 * source may be anything that can be assigned. */
static PyObject *
view_copy_from (PyObject        *self,
                PyObject *const *args,
                Py_ssize_t       n_args,
                PyObject        *names)
{
  static const Signature signature = { "copy_from", { "source", "cancellable" }, 2, 1 };
  MtlStridedView *view = get_view (self), *source;
  PyObject *values[MAX_NAMES];
  GCancellable *cancellable;
  Absence absence;
  GError *error = NULL;
  gboolean is_made, copied;

  if (parse_arguments (&signature, args, n_args, names, values) < 0
      || cancellable_from_object (values[1], &cancellable) < 0)
    return NULL;

  is_made = !is_view (values[0]);
  source = is_made ? view_for_value (view, values[0]) : get_view (values[0]);
  if (source == NULL)
    return NULL;

  absence = leave_python (view, source);
  copied = mtl_strided_view_copy_from (view, source, cancellable, &error);
  enter_python (absence);
  if (is_made)
    unref_view (source);
  if (!copied)
    return raise_error (error, CALLER);

  Py_RETURN_TRUE;
}

static PyMethodDef copy_methods[] = {
  { "copy", WITH_NAMES (view_copy),
    "copy($self, /, order='C', cancellable=None)\n--\n\n"
    "A copy of the elements in C order, in Fortran order ('F'), in their order in\n"
    "memory ('K'), or in Fortran order if they have it, otherwise in C order ('A')." },
  { "copy_from", WITH_NAMES (view_copy_from),
    "copy_from($self, /, source, cancellable=None)\n--\n\n"
    "Copies the elements of another view, or of anything else that Mtl.asview() takes,\n"
    "broadcast to this one's shape and converted to its element type." },
  { "astype", WITH_NAMES (view_astype),
    "astype($self, /, dtype, order='K', copy=True)\n--\n\n"
    "A copy with the elements converted as by to_dtype(). The type may be a name or\n"
    "NumPy's. With copy=False it is the view itself if nothing has to change." },
  { NULL }
};

int
install_copy (PyTypeObject *type)
{
  return install_methods (type, copy_methods);
}
