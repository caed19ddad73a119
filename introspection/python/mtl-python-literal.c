/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nested lists and tuples of numbers, and single numbers. */

#include "mtl-python-private.h"

typedef struct
{
  gint64 shape[MAX_DIMS];
  gsize n_dims;
  PyObject *items; /* a list of its own, as a conversion may run any code */
} Literal;

gboolean
is_nested (PyObject *object)
{
  return PyList_Check (object) || PyTuple_Check (object);
}

static int
measure_nested (PyObject *object,
                Literal  *literal)
{
  PyObject *part = object;

  Py_INCREF (part);
  while (part != NULL && is_nested (part) && literal->n_dims < MAX_DIMS)
    {
      PyObject *first = ref_item (part, 0);

      literal->shape[literal->n_dims++] = PySequence_Fast_GET_SIZE (part);
      Py_SETREF (part, first);
    }

  if (part != NULL && is_nested (part))
    {
      PyErr_Format (PyExc_ValueError, "sequences are nested more than %d deep", MAX_DIMS);
      Py_DECREF (part);
      return -1;
    }

  Py_XDECREF (part);
  return 0;
}

static int
refuse_shape (const Literal *literal,
              PyObject      *part,
              gsize          axis)
{
  if (axis == literal->n_dims)
    PyErr_Format (PyExc_ValueError, "nested sequences of different depth: %.100s at depth %zu",
                  Py_TYPE (part)->tp_name, axis);
  else if (is_nested (part))
    PyErr_Format (PyExc_ValueError,
                  "nested sequences of different lengths: %zd instead of %zd at depth %zu",
                  PySequence_Fast_GET_SIZE (part), (Py_ssize_t) literal->shape[axis], axis);
  else
    PyErr_Format (PyExc_ValueError,
                  "nested sequences of different depth: %.100s instead of %zd items at depth %zu",
                  Py_TYPE (part)->tp_name, (Py_ssize_t) literal->shape[axis], axis);

  return -1;
}

/* Appends the numbers in C order. Other threads may change the lists, but not the numbers that
 * were appended. */
static int
collect_items (PyObject *part,
               gsize     axis,
               Literal  *literal)
{
  if (axis == literal->n_dims)
    return is_nested (part) ? refuse_shape (literal, part, axis)
                            : PyList_Append (literal->items, part);

  if (!is_nested (part) || PySequence_Fast_GET_SIZE (part) != literal->shape[axis])
    return refuse_shape (literal, part, axis);

  for (gint64 i = 0; i < literal->shape[axis]; i++)
    {
      PyObject *item = ref_item (part, i);
      int status = item != NULL ? collect_items (item, axis + 1, literal)
                                : refuse_shape (literal, part, axis);

      Py_XDECREF (item);
      if (status < 0)
        return -1;
    }

  return 0;
}

/* Returns -1 on error. */
static int
has_large_integer (PyObject *items)
{
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (items); i++)
    {
      PyObject *item = PyList_GET_ITEM (items, i);
      int overflow = 0;

      if (!is_truth_value (item) && PyIndex_Check (item)
          && PyLong_AsLongLongAndOverflow (item, &overflow) == -1 && PyErr_Occurred () != NULL)
        return -1;
      if (overflow > 0)
        return TRUE;
    }

  return FALSE;
}

/* Unlike store_items(), refuses objects that only behave like a number. */
static int
rank_items (PyObject   *items,
            NumberRank *widest)
{
  *widest = NUMBER_RANK_BOOL;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (items); i++)
    {
      NumberRank rank;

      if (number_rank (PyList_GET_ITEM (items, i), &rank) < 0)
        return -1;
      *widest = MAX (*widest, rank);
    }

  return 0;
}

/* The narrowest usual type for all of the numbers. */
static int
find_dtype (PyObject *items,
            MtlDType *dtype)
{
  static const MtlDType dtypes[] = {
    [NUMBER_RANK_BOOL] = MTL_DTYPE_BOOL,
    [NUMBER_RANK_INTEGER] = MTL_DTYPE_INT64,
    [NUMBER_RANK_REAL] = MTL_DTYPE_FLOAT64,
    [NUMBER_RANK_COMPLEX] = MTL_DTYPE_COMPLEX128,
  };
  NumberRank widest;
  int is_large = FALSE;

  if (rank_items (items, &widest) < 0)
    return -1;

  if (PyList_GET_SIZE (items) == 0)
    widest = NUMBER_RANK_REAL;
  if (widest == NUMBER_RANK_INTEGER)
    is_large = has_large_integer (items);
  if (is_large < 0)
    return -1;

  *dtype = is_large ? MTL_DTYPE_UINT64 : dtypes[widest];
  return 0;
}

static int
store_items (MtlStridedView *row,
             PyObject       *items)
{
  for (gint64 i = 0; i < PyList_GET_SIZE (items); i++)
    {
      PyObject *item = PyList_GET_ITEM (items, i);

      if (!is_number (item))
        return refuse_item (item);
      if (number_set (row, &i, 1, item) < 0)
        return -1;
    }

  return 0;
}

static MtlStridedView *
view_of_literal (const Literal *literal,
                 MtlDType       dtype)
{
  gint64 n_items = PyList_GET_SIZE (literal->items);
  MtlStridedView *view = NULL;
  GError *error = NULL;
  MtlStridedView *row =
    mtl_strided_view_new_zeros (mtl_device_get_host (), dtype, &n_items, 1,
                                MTL_STORAGE_MODE_DEFAULT, &error);

  if (row != NULL && store_items (row, literal->items) < 0)
    {
      g_object_unref (row);
      return NULL;
    }

  if (row != NULL)
    view = mtl_strided_view_reshape (row, literal->shape, literal->n_dims, &error);
  g_clear_object (&row);
  if (view == NULL)
    raise_error (error, CALLER);

  return view;
}

static int
flatten_nested (PyObject *object,
                Literal  *literal)
{
  *literal = (Literal) { .items = PyList_New (0) };
  if (literal->items == NULL)
    return -1;

  if (measure_nested (object, literal) == 0 && collect_items (object, 0, literal) == 0)
    return 0;

  Py_DECREF (literal->items);
  return -1;
}

/* A new view in host memory. Each number has to fit the element type. */
MtlStridedView *
view_for_nested (PyObject *object,
                 MtlDType  dtype)
{
  MtlStridedView *view;
  Literal literal;

  if (flatten_nested (object, &literal) < 0)
    return NULL;

  view = view_of_literal (&literal, dtype);
  Py_DECREF (literal.items);
  return view;
}

PyObject *
module_from_numbers (PyObject        *module,
                     PyObject *const *args,
                     Py_ssize_t       n_args)
{
  MtlStridedView *view = NULL;
  Literal literal;
  NumberRank rank;
  MtlDType dtype;
  int status;

  if (n_args != 1 && n_args != 2)
    {
      PyErr_SetString (PyExc_TypeError, "from_numbers() takes the numbers and an element type");
      return NULL;
    }

  if (flatten_nested (args[0], &literal) < 0)
    return NULL;

  if (n_args == 1)
    status = find_dtype (literal.items, &dtype);
  else if (dtype_from_object (args[1], &dtype) < 0)
    status = -1;
  else
    status = rank_items (literal.items, &rank);
  if (status == 0)
    view = view_of_literal (&literal, dtype);
  Py_DECREF (literal.items);
  return view != NULL ? wrap_view (view, NULL, CALLER) : NULL;
}
