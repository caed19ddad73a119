/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Views in messages of MPI, for programs in C and C++. There is no library for it: the program is
 * compiled with the MPI of its choice, whose <mpi.h> this header needs. Not part of
 * <mtldl/mtldl.h>. */

#include <limits.h>
#include <string.h>

#include <mpi.h>

#include "mtldl.h"

#if MPI_VERSION < 3
#error "<mtldl/mtl-mpi.h> needs MPI 3 or later."
#endif

G_BEGIN_DECLS

/**
 * MTL_MPI_ERROR:
 *
 * The domain of MPI's own errors. Their codes are MPI's error classes, such as
 * `MPI_ERR_TRUNCATE`.
 *
 * MPI ends the program at an error, unless the error handler of the
 * communicator is `MPI_ERRORS_RETURN`. Errors in the construction of a type go
 * to the handler of `MPI_COMM_WORLD`, or of `MPI_COMM_SELF` in MPI 4.
 *
 * Since: 1.0
 */
#define MTL_MPI_ERROR (mtl_mpi_error_quark ())

static inline GQuark
mtl_mpi_error_quark (void)
{
  return g_quark_from_string ("mtl-mpi-error-quark");
}

/* The rest of the names with an underscore are private. */

/* The largest count that all versions of MPI take. Tests have a smaller one. */
#ifndef _MTL_MPI_MAX_COUNT
#define _MTL_MPI_MAX_COUNT INT_MAX
#endif

/* Shorter runs of bytes side by side are faster to copy than for MPI to gather: measured with Open
 * MPI 4.1 and 5.0 and MPICH 4.0, with and without single copies between processes, and by TCP. See
 * bench-mpi.c. */
#define _MTL_MPI_MIN_RUN 256

#define _MTL_MPI_MAX_AXES 65 /* including that of the parts of an element */

/* Elements as MPI has them: numbers, or else bytes, along the fewest axes that visit them in C
 * order. The innermost axis is the first. */
typedef struct
{
  gboolean is_whole; /* or else rows of packed elements do not fill bytes, and the rest is unset */
  MPI_Datatype number;
  gint64 size;       /* the bytes of a number */
  gint64 volume;     /* in numbers */
  int n_axes;
  gint64 extents[_MTL_MPI_MAX_AXES];
  gint64 strides[_MTL_MPI_MAX_AXES]; /* in bytes */
} _MtlMpiElements;

/* The arguments of a message. */
typedef struct
{
  MtlStridedView *view;   /* the memory that MPI reads or writes */
  MtlStridedView *target; /* or %NULL: gets a copy of what is received */
  gpointer data;
  int count;
  MPI_Datatype datatype;
  gboolean is_derived;    /* has to be freed */
  MPI_Datatype number;
  gint64 size;
  gint64 volume;
  gint64 n_bytes;
} _MtlMpiMessage;

static inline gboolean
_mtl_mpi_check (int          code,
                const char  *action,
                gint64       n_bytes,
                GError     **error)
{
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int error_class = code, length = 0;

  if (code == MPI_SUCCESS)
    return TRUE;

  MPI_Error_class (code, &error_class);
  MPI_Error_string (code, text, &length);
  g_set_error (error, MTL_MPI_ERROR, error_class,
               "%s for %" G_GINT64_FORMAT " bytes failed with error class %d: %s", action, n_bytes,
               error_class, text);
  return FALSE;
}

/* Types without a name in MPI are sent as bytes. */
static inline MPI_Datatype
_mtl_mpi_get_number (MtlDType dtype)
{
  switch (dtype)
    {
    case MTL_DTYPE_BOOL:
      return MPI_C_BOOL;
    case MTL_DTYPE_INT8:
      return MPI_INT8_T;
    case MTL_DTYPE_INT16:
      return MPI_INT16_T;
    case MTL_DTYPE_INT32:
      return MPI_INT32_T;
    case MTL_DTYPE_INT64:
      return MPI_INT64_T;
    case MTL_DTYPE_UINT8:
      return MPI_UINT8_T;
    case MTL_DTYPE_UINT16:
      return MPI_UINT16_T;
    case MTL_DTYPE_UINT32:
      return MPI_UINT32_T;
    case MTL_DTYPE_UINT64:
      return MPI_UINT64_T;
    case MTL_DTYPE_FLOAT32:
      return MPI_FLOAT;
    case MTL_DTYPE_FLOAT64:
      return MPI_DOUBLE;
    case MTL_DTYPE_COMPLEX64:
      return MPI_C_FLOAT_COMPLEX;
    case MTL_DTYPE_COMPLEX128:
      return MPI_C_DOUBLE_COMPLEX;
    default:
      return MPI_BYTE;
    }
}

static inline void
_mtl_mpi_add_axis (_MtlMpiElements *self,
                   gint64           extent,
                   gint64           stride)
{
  int inner = self->n_axes - 1;

  if (extent == 1)
    return;

  if (inner >= 0 && stride % self->extents[inner] == 0
      && stride / self->extents[inner] == self->strides[inner])
    {
      self->extents[inner] *= extent;
      return;
    }

  self->extents[self->n_axes] = extent;
  self->strides[self->n_axes] = stride;
  self->n_axes++;
}

/* Packed elements are bytes if they fill them, row by row. Strides are in bits before. */
static inline void
_mtl_mpi_turn_into_bytes (_MtlMpiElements *self,
                          MtlStridedView  *view,
                          gint64           item_bits)
{
  self->is_whole = self->n_axes > 0 && self->strides[0] == item_bits
                   && self->extents[0] * item_bits % 8 == 0
                   && mtl_strided_view_get_data (view) != NULL;
  for (int i = 1; i < self->n_axes; i++)
    self->is_whole = self->is_whole && self->strides[i] % 8 == 0;
  if (!self->is_whole)
    return;

  self->volume = self->volume * item_bits / 8;
  self->extents[0] = self->extents[0] * item_bits / 8;
  self->strides[0] = 1;
  for (int i = 1; i < self->n_axes; i++)
    self->strides[i] /= 8;
}

static inline gboolean
_mtl_mpi_describe (MtlStridedView   *view,
                   _MtlMpiElements  *elements,
                   GError          **error)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  MtlDType dtype = mtl_strided_view_get_dtype (view);
  const gint64 item_bits = mtl_strided_layout_get_item_bits (layout);
  const gboolean is_packed = item_bits % 8 != 0;
  const gint64 item_size = is_packed ? item_bits : item_bits / 8;
  const gint64 n_items = mtl_strided_layout_get_volume (layout);
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  const gint64 *strides = mtl_strided_view_get_strides (view, &n_dims);

  if (n_items > G_MAXINT64 / item_size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GINT64_FORMAT " elements of %" G_GINT64_FORMAT " bits have more than %"
                   G_GINT64_FORMAT " %s; send fewer", n_items, item_bits, G_MAXINT64,
                   is_packed ? "bits" : "bytes");
      return FALSE;
    }

  elements->is_whole = TRUE;
  elements->number = _mtl_mpi_get_number (dtype);
  elements->size = elements->number == MPI_BYTE ? 1 : mtl_dtype_get_bits (dtype) / 8;
  elements->volume = is_packed ? n_items : item_size / elements->size * n_items;
  elements->n_axes = 0;
  if (n_items == 0)
    return TRUE;

  /* The lanes of a vector, or the bytes of an element. */
  if (!is_packed)
    _mtl_mpi_add_axis (elements, item_size / elements->size, elements->size);
  for (gsize i = n_dims; i-- > 0;)
    _mtl_mpi_add_axis (elements, shape[i], shape[i] > 1 ? strides[i] * item_size : 0);

  if (is_packed)
    _mtl_mpi_turn_into_bytes (elements, view, item_bits);
  return TRUE;
}

static inline gboolean
_mtl_mpi_is_dense (const _MtlMpiElements *elements)
{
  return elements->n_axes == 0
         || (elements->n_axes == 1 && elements->strides[0] == elements->size);
}

static inline gboolean
_mtl_mpi_needs_copy (const _MtlMpiElements *elements)
{
  gint64 run = elements->size;

  if (!elements->is_whole)
    return TRUE;

  if (_mtl_mpi_is_dense (elements))
    return FALSE;

  if (elements->strides[0] == elements->size)
    run *= elements->extents[0];
  return run < _MTL_MPI_MIN_RUN;
}

/* Not as a vector: Open MPI, at least to 5.0, sends a vector of single bytes in reverse order as a
 * forward run, and MPICH 4.0 is several times slower with vectors. */
static inline int
_mtl_mpi_repeat_few (MPI_Datatype  datatype,
                     int           n,
                     gint64        stride,
                     MPI_Datatype *repeated)
{
  MPI_Datatype spaced;
  int code = MPI_Type_create_resized (datatype, 0, (MPI_Aint) stride, &spaced);

  if (code != MPI_SUCCESS)
    return code;

  code = MPI_Type_contiguous (n, spaced, repeated);
  MPI_Type_free (&spaced);
  return code;
}

/* If there are too many for a count, they go into blocks and a rest. */
static inline int
_mtl_mpi_repeat (MPI_Datatype  datatype,
                 gint64        n,
                 gint64        stride,
                 MPI_Datatype *repeated)
{
  const gint64 n_blocks = n / _MTL_MPI_MAX_COUNT;
  const int n_rest = (int) (n % _MTL_MPI_MAX_COUNT);
  int lengths[] = { 1, 1 };
  MPI_Aint displacements[] = { 0, 0 };
  MPI_Datatype block, parts[2];
  int code;

  if (n <= _MTL_MPI_MAX_COUNT)
    return _mtl_mpi_repeat_few (datatype, (int) n, stride, repeated);

  code = _mtl_mpi_repeat_few (datatype, _MTL_MPI_MAX_COUNT, stride, &block);
  if (code != MPI_SUCCESS)
    return code;

  code = _mtl_mpi_repeat (block, n_blocks, stride * _MTL_MPI_MAX_COUNT, &parts[0]);
  MPI_Type_free (&block);
  if (code != MPI_SUCCESS || n_rest == 0)
    {
      *repeated = parts[0];
      return code;
    }

  code = _mtl_mpi_repeat_few (datatype, n_rest, stride, &parts[1]);
  if (code == MPI_SUCCESS)
    {
      displacements[1] = (MPI_Aint) (stride * (n - n_rest));
      code = MPI_Type_create_struct (2, lengths, displacements, parts, repeated);
      MPI_Type_free (&parts[1]);
    }
  MPI_Type_free (&parts[0]);
  return code;
}

static inline int
_mtl_mpi_create (const _MtlMpiElements *elements,
                 MPI_Datatype          *datatype)
{
  MPI_Datatype made;
  int code;

  if (_mtl_mpi_is_dense (elements) && elements->volume <= _MTL_MPI_MAX_COUNT)
    code = MPI_Type_contiguous ((int) elements->volume, elements->number, &made);
  else
    code = _mtl_mpi_repeat (elements->number, elements->extents[0], elements->strides[0], &made);

  for (int i = 1; code == MPI_SUCCESS && i < elements->n_axes; i++)
    {
      MPI_Datatype inner = made;

      code = _mtl_mpi_repeat (inner, elements->extents[i], elements->strides[i], &made);
      MPI_Type_free (&inner);
    }

  if (code != MPI_SUCCESS)
    return code;

  code = MPI_Type_commit (&made);
  if (code != MPI_SUCCESS)
    MPI_Type_free (&made);
  else
    *datatype = made;
  return code;
}

static inline gboolean
_mtl_mpi_check_reachable (MtlStridedView  *view,
                          GError         **error)
{
  char *text;

  if (mtl_strided_view_is_host_accessible (view))
    return TRUE;

  text = mtl_strided_layout_to_string (mtl_strided_view_get_layout (view));
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
               "MPI needs memory of the host, which cannot access the elements of a layout of %s on"
               " the device “%s”; pass a copy on the host, of mtl_strided_view_to_device ()", text,
               mtl_device_get_name (mtl_strided_view_get_device (view)));
  g_free (text);
  return FALSE;
}

static inline gboolean
_mtl_mpi_check_whole (MtlStridedView         *view,
                      const _MtlMpiElements  *elements,
                      GError                **error)
{
  char *text;

  if (elements->is_whole)
    return TRUE;

  text = mtl_strided_layout_to_string (mtl_strided_view_get_layout (view));
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "MPI has whole bytes, and the elements of a layout of %s do not fill them; pass a"
               " contiguous copy of as many elements as fill 8 bits, or of a larger type", text);
  g_free (text);
  return FALSE;
}

/* Other devices may have work to do, or memory of their own to bring. */
static inline gboolean
_mtl_mpi_begin_access (MtlStridedView  *view,
                       GError         **error)
{
  return mtl_strided_view_get_device (view) == mtl_device_get_host ()
         || mtl_buffer_synchronize (mtl_strided_view_get_buffer (view), NULL, error);
}

static inline gboolean
_mtl_mpi_end_writing (MtlStridedView  *view,
                      GError         **error)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  gint64 item_bits = mtl_strided_layout_get_item_bits (layout);
  gint64 first, last;

  if (mtl_strided_view_get_device (view) == mtl_device_get_host ())
    return TRUE;

  mtl_strided_layout_get_offset_bounds (layout, &first, &last);
  return mtl_buffer_did_modify (mtl_strided_view_get_buffer (view),
                                mtl_strided_view_get_byte_offset (view)
                                  + (gsize) (first * item_bits / 8),
                                (gsize) ((last - first + 1) * item_bits / 8), error);
}

static inline void
_mtl_mpi_message_clear (_MtlMpiMessage *self)
{
  if (self->is_derived)
    MPI_Type_free (&self->datatype);
  g_clear_object (&self->view);
  g_clear_object (&self->target);
}

/* The message's memory is that of the view, which it takes. */
static inline gboolean
_mtl_mpi_message_take (_MtlMpiMessage  *self,
                       MtlStridedView  *view,
                       _MtlMpiElements *elements,
                       GError         **error)
{
  g_clear_object (&self->view);
  self->view = view;
  return view != NULL && _mtl_mpi_check_reachable (view, error)
         && _mtl_mpi_begin_access (view, error) && _mtl_mpi_describe (view, elements, error);
}

static inline gboolean
_mtl_mpi_message_set_arguments (_MtlMpiMessage         *self,
                                const _MtlMpiElements  *elements,
                                GError                **error)
{
  int code;

  if (!_mtl_mpi_check_whole (self->view, elements, error))
    return FALSE;

  self->data = mtl_strided_view_get_data (self->view);
  self->number = elements->number;
  self->size = elements->size;
  self->volume = elements->volume;
  self->n_bytes = elements->volume * elements->size;
  if (_mtl_mpi_is_dense (elements) && elements->volume <= _MTL_MPI_MAX_COUNT)
    {
      self->count = (int) elements->volume;
      self->datatype = elements->number;
      return TRUE;
    }

  self->count = 1;
  code = _mtl_mpi_create (elements, &self->datatype);
  self->is_derived = code == MPI_SUCCESS;
  return _mtl_mpi_check (code, "The datatype", self->n_bytes, error);
}

static inline gboolean
_mtl_mpi_message_init_send (_MtlMpiMessage  *self,
                            MtlStridedView  *view,
                            gboolean         copies,
                            GError         **error)
{
  _MtlMpiElements elements;

  memset (self, 0, sizeof *self);
  if (_mtl_mpi_message_take (self, MTL_STRIDED_VIEW (g_object_ref (view)), &elements, error)
      && ((!copies && !_mtl_mpi_needs_copy (&elements))
          || _mtl_mpi_message_take (self,
                                    mtl_strided_view_copy (self->view, MTL_ORDER_C, NULL, error),
                                    &elements, error))
      && _mtl_mpi_message_set_arguments (self, &elements, error))
    return TRUE;

  _mtl_mpi_message_clear (self);
  return FALSE;
}

static inline gboolean
_mtl_mpi_check_target (MtlStridedView  *view,
                       GError         **error)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  gboolean is_read_only = mtl_strided_view_is_read_only (view);
  char *text;

  if (!is_read_only && mtl_strided_layout_is_unique (layout))
    return TRUE;

  text = mtl_strided_layout_to_string (layout);
  if (is_read_only)
    g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
                 "The view of a layout of %s is read-only; receive into a writable one", text);
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "A layout of %s repeats elements, so they can be sent, but not received; receive"
                 " into a view in which no stride is 0 and no elements overlap", text);
  g_free (text);
  return FALSE;
}

/* Memory for the elements of the view, in C order. Vectors, padded elements and types of other
 * libraries can only be had by a copy. */
static inline MtlStridedView *
_mtl_mpi_new_dense (MtlStridedView  *view,
                    GError         **error)
{
  MtlStridedView *dense = NULL;
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);

  if (mtl_strided_view_get_lanes (view) == 1 && !mtl_strided_view_is_padded (view))
    dense = mtl_strided_view_new_uninitialized (mtl_device_get_host (),
                                                mtl_strided_view_get_dtype (view), shape, n_dims,
                                                MTL_STORAGE_MODE_DEFAULT, NULL);
  return dense != NULL ? dense : mtl_strided_view_copy (view, MTL_ORDER_C, NULL, error);
}

static inline gboolean
_mtl_mpi_message_init_recv (_MtlMpiMessage  *self,
                            MtlStridedView  *view,
                            GError         **error)
{
  _MtlMpiElements elements;
  gboolean is_done;

  memset (self, 0, sizeof *self);
  is_done = _mtl_mpi_check_target (view, error)
            && _mtl_mpi_message_take (self, MTL_STRIDED_VIEW (g_object_ref (view)), &elements,
                                      error);
  if (is_done && _mtl_mpi_needs_copy (&elements))
    {
      self->target = MTL_STRIDED_VIEW (g_object_ref (self->view));
      is_done = _mtl_mpi_message_take (self, _mtl_mpi_new_dense (self->target, error), &elements,
                                       error);
    }

  if (is_done && _mtl_mpi_message_set_arguments (self, &elements, error))
    return TRUE;

  _mtl_mpi_message_clear (self);
  return FALSE;
}

/* Counts what has come. */
static inline gboolean
_mtl_mpi_message_end_recv (_MtlMpiMessage    *self,
                           const MPI_Status  *status,
                           GError           **error)
{
  MPI_Count n_received = 0;
  int code;

  if (status->MPI_SOURCE == MPI_PROC_NULL)
    return TRUE;

#if MPI_VERSION >= 4
  code = MPI_Get_elements_c (status, self->number, &n_received);
#else
  code = MPI_Get_elements_x (status, self->number, &n_received);
#endif
  if (!_mtl_mpi_check (code, "The count of elements", self->n_bytes, error))
    return FALSE;

  if (n_received != self->volume)
    {
      char text[32] = "no whole number of them";

      if (n_received != MPI_UNDEFINED)
        g_snprintf (text, sizeof text, "%" G_GINT64_FORMAT, (gint64) n_received);
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The view has %" G_GINT64_FORMAT " numbers of %" G_GINT64_FORMAT " bytes, but"
                   " the message of process %d with tag %d has %s; receive into a view of its size",
                   self->volume, self->size, status->MPI_SOURCE, status->MPI_TAG, text);
      return FALSE;
    }

  return self->target != NULL
           ? mtl_strided_view_copy_from (self->target, self->view, NULL, error)
           : _mtl_mpi_end_writing (self->view, error);
}

/**
 * mtl_mpi_create_datatype:
 * @view: a view of memory that the host can access
 * @datatype: (out): return location for the datatype
 * @error: return location for a [error@Mtl.Error] or %MTL_MPI_ERROR
 *
 * Creates an MPI datatype that describes the elements of @view in C order, so
 * that MPI sends or receives them in place.
 *
 * One item of the type is the whole view, and the type begins at the first
 * element. So it goes with the address that
 * [method@Mtl.StridedView.get_data] returns, and a count of 1:
 *
 * ```c
 * MPI_Datatype column;
 *
 * if (!mtl_mpi_create_datatype (view, &column, error))
 *   return FALSE;
 *
 * MPI_Send (mtl_strided_view_get_data (view), 1, column, dest, tag, comm);
 * MPI_Type_free (&column);
 * ```
 *
 * With negative strides this is not the lowest address. The type also goes with
 * the first element of any other view of the same layout and element type. An
 * empty view has no address: its type has a size of 0, and needs none.
 *
 * The type is committed. It is not bound to the memory, and does not keep it:
 * keep the view until MPI is done with it, which is when a request completes.
 * The type may be freed before, right after `MPI_Isend ()`.
 *
 * The elements are MPI's numbers of their type, such as `MPI_FLOAT`, and so
 * match those of programs that do not use this library. Vectors are as many
 * numbers as they have lanes. Types that MPI has no name for, such as
 * `bfloat16`, are `MPI_BYTE`, as are padded and packed elements smaller than a
 * byte. Do not use these in reductions: MPI would add up their bytes.
 *
 * This does not know of the direction: do not receive into a view that is
 * read-only, or in which elements overlap, see
 * [method@Mtl.StridedLayout.is_unique]. Before MPI reads the memory of a device
 * other than the host, wait for what writes to it, see
 * [method@Mtl.Buffer.synchronize]. mtl_mpi_send() and mtl_mpi_recv() see to all
 * that.
 *
 * If few bytes lie side by side, as in a column or a transposed matrix, MPI takes
 * longer than a copy does: mtl_mpi_send() makes one then.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot access the memory
 * - %MTL_ERROR_NOT_SUPPORTED: elements are smaller than a byte, and those side by
 *   side do not fill whole bytes
 * - %MTL_ERROR_OVERFLOW: the elements have more than 2^63 - 1 bytes, which can
 *   happen if they are repeated
 * - %MTL_MPI_ERROR: MPI cannot create the type
 *
 * Returns: %TRUE on success; otherwise @datatype is `MPI_DATATYPE_NULL`
 *
 * Since: 1.0
 */
static inline gboolean
mtl_mpi_create_datatype (MtlStridedView  *view,
                         MPI_Datatype    *datatype,
                         GError         **error)
{
  _MtlMpiElements elements;

  g_return_val_if_fail (datatype != NULL, FALSE);
  *datatype = MPI_DATATYPE_NULL;
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  return _mtl_mpi_check_reachable (view, error) && _mtl_mpi_describe (view, &elements, error)
         && _mtl_mpi_check_whole (view, &elements, error)
         && _mtl_mpi_check (_mtl_mpi_create (&elements, datatype), "The datatype",
                            elements.volume * elements.size, error);
}

/**
 * mtl_mpi_send:
 * @view: a view of memory that the host can access
 * @dest: the rank of the receiver
 * @tag: the tag of the message
 * @comm: the communicator
 * @error: return location for a [error@Mtl.Error] or %MTL_MPI_ERROR
 *
 * Sends the elements of @view in C order, as `MPI_Send ()` does.
 *
 * Elements are sent in place if they are contiguous, or lie in runs of at least
 * 256 bytes. Others are copied first, which is faster. The receiver cannot tell:
 * it may receive into any layout with mtl_mpi_recv(), or into an array, without
 * this library. Counts beyond an `int` work. MPI's numbers are those of
 * mtl_mpi_create_datatype().
 *
 * This waits for the work of the library on the memory of a device. To send
 * without waiting for the receiver, use `MPI_Isend ()` with
 * mtl_mpi_create_datatype().
 *
 * Errors:
 *
 * - those of mtl_mpi_create_datatype(); %MTL_ERROR_NOT_SUPPORTED only if all
 *   elements together do not fill whole bytes
 * - %MTL_ERROR_NO_MEMORY: there is no memory for a copy
 * - %MTL_ERROR_DEVICE: a device that works with the memory failed
 * - %MTL_MPI_ERROR: MPI failed. By default, it ends the program instead, see
 *   %MTL_MPI_ERROR.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
static inline gboolean
mtl_mpi_send (MtlStridedView  *view,
              int              dest,
              int              tag,
              MPI_Comm         comm,
              GError         **error)
{
  _MtlMpiMessage message;
  gboolean is_done;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  if (!_mtl_mpi_message_init_send (&message, view, FALSE, error))
    return FALSE;

  is_done = _mtl_mpi_check (MPI_Send (message.data, message.count, message.datatype, dest, tag,
                                      comm),
                            "MPI_Send ()", message.n_bytes, error);
  _mtl_mpi_message_clear (&message);
  return is_done;
}

/**
 * mtl_mpi_recv:
 * @view: a writable view of memory that the host can access
 * @source: the rank of the sender, or `MPI_ANY_SOURCE`
 * @tag: the tag of the message, or `MPI_ANY_TAG`
 * @comm: the communicator
 * @status: (out) (optional): return location for the status, or
 *   `MPI_STATUS_IGNORE`
 * @error: return location for a [error@Mtl.Error] or %MTL_MPI_ERROR
 *
 * Receives all elements of @view in C order, as `MPI_Recv ()` does, from any
 * sender of as many of the same numbers.
 *
 * They are received in place, or by way of a copy, as in mtl_mpi_send(). From
 * `MPI_PROC_NULL` nothing is received, and the elements keep their values.
 *
 * A message of another size is an error. Elements that are received in place may
 * have changed then. After all other errors they have their old values.
 *
 * Errors:
 *
 * - those of mtl_mpi_create_datatype(), before anything is received;
 *   %MTL_ERROR_NOT_SUPPORTED only if all elements together do not fill whole
 *   bytes
 * - %MTL_ERROR_READ_ONLY: @view is read-only
 * - %MTL_ERROR_INVALID_ARGUMENT: elements of @view overlap, as they do with a
 *   stride of 0
 * - %MTL_ERROR_NO_MEMORY: there is no memory for a copy
 * - %MTL_ERROR_INVALID_DATA: the message is shorter than @view
 * - %MTL_ERROR_DEVICE: a device that works with the memory failed
 * - %MTL_MPI_ERROR: MPI failed, with the code `MPI_ERR_TRUNCATE` if the message
 *   is longer than @view. By default, it ends the program instead, see
 *   %MTL_MPI_ERROR.
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
static inline gboolean
mtl_mpi_recv (MtlStridedView  *view,
              int              source,
              int              tag,
              MPI_Comm         comm,
              MPI_Status      *status,
              GError         **error)
{
  _MtlMpiMessage message;
  MPI_Status own_status;
  gboolean is_done;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  if (!_mtl_mpi_message_init_recv (&message, view, error))
    return FALSE;

  if (status == MPI_STATUS_IGNORE)
    status = &own_status;
  is_done = _mtl_mpi_check (MPI_Recv (message.data, message.count, message.datatype, source, tag,
                                      comm, status),
                            "MPI_Recv ()", message.n_bytes, error)
            && _mtl_mpi_message_end_recv (&message, status, error);
  _mtl_mpi_message_clear (&message);
  return is_done;
}

/**
 * mtl_mpi_sendrecv:
 * @sent: the view to send
 * @dest: the rank of the receiver
 * @send_tag: the tag of the message to send
 * @received: the view to receive into
 * @source: the rank of the sender, or `MPI_ANY_SOURCE`
 * @recv_tag: the tag of the message to receive, or `MPI_ANY_TAG`
 * @comm: the communicator
 * @status: (out) (optional): return location for the status, or
 *   `MPI_STATUS_IGNORE`
 * @error: return location for a [error@Mtl.Error] or %MTL_MPI_ERROR
 *
 * Sends one view and receives into another at the same time, as
 * `MPI_Sendrecv ()` does, so that processes can exchange edges without waiting
 * for each other in a circle.
 *
 * The views may share memory, and may even be the same one: elements that
 * overlap are copied before.
 *
 * Errors:
 *
 * - those of mtl_mpi_send() for @sent, and of mtl_mpi_recv() for @received;
 *   those of views are found before anything is sent
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
static inline gboolean
mtl_mpi_sendrecv (MtlStridedView  *sent,
                  int              dest,
                  int              send_tag,
                  MtlStridedView  *received,
                  int              source,
                  int              recv_tag,
                  MPI_Comm         comm,
                  MPI_Status      *status,
                  GError         **error)
{
  _MtlMpiMessage to, from;
  MPI_Status own_status;
  gboolean is_done = FALSE;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (sent), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (received), FALSE);

  if (!_mtl_mpi_message_init_recv (&from, received, error))
    return FALSE;

  if (status == MPI_STATUS_IGNORE)
    status = &own_status;
  if (_mtl_mpi_message_init_send (&to, sent, mtl_strided_view_overlaps (sent, received), error))
    {
      is_done = _mtl_mpi_check (MPI_Sendrecv (to.data, to.count, to.datatype, dest, send_tag,
                                              from.data, from.count, from.datatype, source,
                                              recv_tag, comm, status),
                                "MPI_Sendrecv ()", MAX (to.n_bytes, from.n_bytes), error)
                && _mtl_mpi_message_end_recv (&from, status, error);
      _mtl_mpi_message_clear (&to);
    }
  _mtl_mpi_message_clear (&from);
  return is_done;
}

G_END_DECLS
