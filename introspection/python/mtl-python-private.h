/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifndef MTL_PYTHON_PYGOBJECT
#define NO_IMPORT_PYGOBJECT
#endif
#include <pygobject.h>

#include <mtldl/mtldl-dlpack.h>
#include <mtldl/mtldl.h>

#include "mtl-bindings-private.h"

G_BEGIN_DECLS

#define MAX_DIMS 64

/* The receiver of an exception: an ordinary caller, or another library that
 * uses DLPack or the buffer protocol and expects a BufferError. */
typedef enum
{
  CALLER,
  PEER,
} Audience;

/* mtl-python-pygobject.c */
int       import_pygobject (void);

/* Errors: mtl-python-errors.c. All but the first return NULL or -1, for the
 * caller to return. */
PyObject *exception_for_code (int       code,
                              Audience  audience);
PyObject *raise_error     (GError     *error,
                           Audience    audience);
int       raise_error_int (GError     *error,
                           Audience    audience);

/* Adds advice for Python's users if the error, which may be NULL, has that code. */
void      add_advice      (GError    **error,
                           MtlError    code,
                           const char *advice);

/* Arguments: mtl-python-arguments.c */
char     *dup_digits        (PyObject     *number);
int       int64_from_object (PyObject     *object,
                             gint64       *value,
                             PyObject     *exception);
int       uint64_from_object (PyObject    *object,
                             guint64      *value);
int       uint_from_object  (PyObject     *object,
                             unsigned int *value);
int       int_from_object   (PyObject     *object,
                             int          *value);
int       axis_from_object  (PyObject     *object,
                             int          *axis);
Py_ssize_t ints_from_args   (PyObject *const *args,
                             Py_ssize_t       n_args,
                             gint64          *values,
                             const char      *what,
                             PyObject        *exception);
Py_ssize_t axes_from_args   (PyObject *const *args,
                             Py_ssize_t       n_args,
                             int             *axes);
int       device_from_object (PyObject    *object,
                              const char  *what,
                              int         *type,
                              int         *ordinal);
int       version_from_object (PyObject   *object,
                               int        *major,
                               int        *minor);

#define MAX_NAMES 3

typedef struct
{
  const char *function;
  const char *names[MAX_NAMES];
  int n_names;
  int n_needed;
} Signature;

/* Positional or keyword arguments. The values are borrowed, NULL if not
 * given. */
int       parse_arguments   (const Signature  *signature,
                             PyObject *const  *args,
                             Py_ssize_t        n_args,
                             PyObject         *names,
                             PyObject        **values);
int       parse_tuple_and_dict (const Signature  *signature,
                             PyObject         *args,
                             PyObject         *keywords,
                             PyObject        **values);
PyObject *ref_item          (PyObject         *sequence,
                             Py_ssize_t        i);

/* An order, or its letter, and copies: mtl-python-copy.c */
int       order_from_object (PyObject     *object,
                             MtlOrder     *order);
MtlStridedView *copy_away_from_python (MtlStridedView  *view,
                                       MtlOrder         order,
                                       const MtlDType  *dtype,
                                       GCancellable    *cancellable,
                                       GError         **error);

/* Element types: mtl-python-dtype.c */
int       dtype_from_object (PyObject     *object,
                             MtlDType     *dtype);
PyObject *module_dtype_from (PyObject     *module,
                             PyObject     *object);
PyObject *module_install_dtype (PyObject  *module,
                             PyObject     *object);

/* Arguments of PyGObject's functions: mtl-python-integers.c */
PyObject *module_check_arguments (PyObject        *module,
                                  PyObject *const *args,
                                  Py_ssize_t       n_args);

/* Results: mtl-python-results.c */
int       install_bounds    (void);
PyObject *tuple_from_ints   (const gint64 *values,
                             gsize         n);
PyObject *bounds_from_ints  (gint64        min,
                             gint64        max);

/* Functions that use views: mtl-python-use.c */
int       prepare_use       (void);
PyObject *module_using      (PyObject     *module,
                             PyObject     *function);

/* NumPy, if it is imported after this module: mtl-python-numpy.c */
extern PyObject *numpy_hook; /* a function to call then, NULL once it was called */
void      meet_numpy_if_imported        (void);
PyObject *module_when_numpy_is_imported (PyObject *module,
                                         PyObject *function);

/* Functions that exchange memory call this. */
static inline void
meet_numpy (void)
{
  if (numpy_hook != NULL)
    meet_numpy_if_imported ();
}

/* Adding to classes: mtl-python-install.c */
#define FAST(function) (PyCFunction) (void *) function, METH_FASTCALL
#define WITH_NAMES(function) FAST (function) | METH_KEYWORDS

int       install_methods   (PyTypeObject *type,
                             PyMethodDef  *methods);
int       install_getters   (PyTypeObject *type,
                             PyGetSetDef  *getters);
int       install_slot      (PyTypeObject *type,
                             PyTypeObject *other,
                             const char   *name,
                             void         *function);

/* PyGObject's classes for the library's types: mtl-python-wrapper.c */
typedef struct
{
  PyTypeObject *view;
  PyTypeObject *buffer;
  PyTypeObject *device;
  PyTypeObject *layout;
  GType view_gtype;
  GType buffer_gtype;
  GType layout_gtype;
  MtlStridedView *empty_view;
  MtlStridedLayout *empty_layout;
} Classes;

extern Classes classes;

int       install_classes (PyTypeObject *view,
                           PyTypeObject *buffer,
                           PyTypeObject *device,
                           PyTypeObject *layout);
int       install_dealloc (PyTypeObject *type);

/* Wrap a new object, or raise the error if the object is NULL. The error is
 * passed by address, as the call that sets both is itself an argument. */
PyObject *wrap_view       (MtlStridedView *view,
                           GError        **error,
                           Audience        audience);
PyObject *wrap_layout     (MtlStridedLayout *layout,
                           GError          **error);
PyObject *wrap_shared_layout (MtlStridedLayout *layout);

/* Drops a reference, and releases the GIL if this frees memory. */
void      unref_view      (MtlStridedView *view);

/* Returns the view of a Python object, or a view of a buffer's bytes. Both are
 * new references. */
MtlStridedView *view_for_exporter (PyObject *object);

static inline gboolean
holds (PyObject *object,
       GType     type)
{
  GObject *held = pygobject_get (object);

  return held != NULL && G_OBJECT_TYPE (held) == type;
}

/* If only __new__() was called, the object holds nothing. It then counts as an
 * empty view, like a bare object in C. */
static inline MtlStridedView *
get_view (PyObject *object)
{
  return G_LIKELY (holds (object, classes.view_gtype))
           ? (MtlStridedView *) pygobject_get (object)
           : classes.empty_view;
}

/* The device may be one that the library has no name for. */
static inline DLDevice
view_device (MtlStridedView *view)
{
  DLTensor tensor;

  mtl_strided_view_describe (view, &tensor);
  return tensor.device;
}

static inline MtlBuffer *
get_buffer (PyObject *object)
{
  return G_LIKELY (holds (object, classes.buffer_gtype))
           ? (MtlBuffer *) pygobject_get (object)
           : mtl_strided_view_get_buffer (classes.empty_view);
}

static inline MtlStridedLayout *
get_layout (PyObject *object)
{
  return G_LIKELY (holds (object, classes.layout_gtype))
           ? (MtlStridedLayout *) pygobject_get (object)
           : classes.empty_layout;
}

static inline gboolean
is_view (PyObject *object)
{
  return Py_IS_TYPE (object, classes.view);
}

/* Looks an attribute up on the type of an object, like an operator. The interpreter caches the
 * result until the type changes. Returns a new reference, or NULL without an exception. */
static inline PyObject *
look_up_on_type (PyObject *object,
                 PyObject *name)
{
#if PY_VERSION_HEX >= 0x030d0000
  return _PyType_LookupRef (Py_TYPE (object), name);
#else
  PyObject *attribute = _PyType_Lookup (Py_TYPE (object), name);

  Py_XINCREF (attribute);
  return attribute;
#endif
}

static inline gboolean
type_has (PyObject *object,
          PyObject *name)
{
  PyObject *attribute = look_up_on_type (object, name);

  Py_XDECREF (attribute);
  return attribute != NULL;
}

/* The layout would say it at once, but making an object for it takes longer. Only elements
 * smaller than a byte may be padded. */
static inline guint
item_bits_of (MtlStridedView *view)
{
  guint bits = mtl_dtype_get_bits (mtl_strided_view_get_dtype (view));

  if (bits == 0 || (bits < 8 && mtl_strided_view_is_padded (view)))
    return mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));

  return bits * mtl_strided_view_get_lanes (view);
}

static inline gboolean
has_whole_bytes (MtlStridedView *view)
{
  guint bits = mtl_dtype_get_bits (mtl_strided_view_get_dtype (view));

  return (bits != 0 && bits % 8 == 0) || item_bits_of (view) % 8 == 0;
}

/* Asking the device for its type takes longer. */
static inline gboolean
is_on_host (MtlStridedView *view)
{
  return mtl_strided_view_get_device (view) == mtl_device_get_host ();
}

/* Releasing the GIL costs 15 ns, plus a turn of every other thread that waits
 * for it. Work on fewer bytes than this is done sooner. */
#define BYTES_WORTH_A_TURN 16384

static inline gboolean
is_worth_a_turn (MtlStridedView *view)
{
  return !is_on_host (view)
         || mtl_strided_view_get_volume (view)
              >= BYTES_WORTH_A_TURN * 8 / item_bits_of (view);
}

/* Covers work on all elements of one or two views, which may take long and may wait for
 * a device. Other threads cannot close them meanwhile. */
typedef struct
{
  MtlStridedView *views[2];
  PyThreadState *state; /* NULL if the GIL was not released */
} Absence;

static inline Absence
leave_python (MtlStridedView *view,
              MtlStridedView *other)
{
  Absence self = { { view, other }, NULL };

  if (!is_worth_a_turn (view) && (other == NULL || !is_worth_a_turn (other)))
    return self;

  g_object_ref (view);
  if (other != NULL)
    g_object_ref (other);
  self.state = PyEval_SaveThread ();
  return self;
}

static inline void
enter_python (Absence self)
{
  if (self.state == NULL)
    return;

  PyEval_RestoreThread (self.state);
  g_object_unref (self.views[0]);
  if (self.views[1] != NULL)
    g_object_unref (self.views[1]);
}

/* Elements: mtl-python-number.c */
int       await_work      (MtlStridedView *view);
PyObject *number_get      (MtlStridedView *view,
                           const gint64   *indices,
                           gsize           n_indices);
int       number_set      (MtlStridedView *view,
                           const gint64   *indices,
                           gsize           n_indices,
                           PyObject       *value);
gboolean  is_number       (PyObject       *object);
gboolean  is_truth_value  (PyObject       *object);
int       prepare_numbers (void);

typedef enum
{
  NUMBER_RANK_BOOL,
  NUMBER_RANK_INTEGER,
  NUMBER_RANK_REAL,
  NUMBER_RANK_COMPLEX,
} NumberRank;

int       number_rank     (PyObject       *object,
                           NumberRank     *rank);
int       refuse_item     (PyObject       *object);

/* Nested lists and tuples of numbers: mtl-python-literal.c */
gboolean        is_nested       (PyObject *object);
MtlStridedView *view_for_nested (PyObject *object,
                                 MtlDType  dtype);
PyObject       *module_from_numbers (PyObject        *module,
                                     PyObject *const *args,
                                     Py_ssize_t       n_args);

/* Exports: mtl-python-dlpack.c, mtl-python-exchange.c, mtl-python-buffer.c */
int       prepare_export   (void);
int       install_export   (PyTypeObject *type);
int       install_exchange (PyTypeObject *type);
int       install_buffer   (PyTypeObject *type);

/* Imports: mtl-python-import.c, mtl-python-producer.c, mtl-python-buffer.c */
int       prepare_producer (void);
int       prepare_import   (void);
int       prepare_forks    (void);
PyObject *module_from_dlpack (PyObject         *module,
                              PyObject *const  *args,
                              Py_ssize_t        n_args,
                              PyObject         *keywords);
PyObject *module_resolve_lazy (PyObject *module,
                               PyObject *object);
int       is_masked        (PyObject *object);
int       refuse_masked    (PyObject *object);
PyObject *module_is_masked (PyObject *module,
                            PyObject *object);
PyObject *module_from_buffer (PyObject *module,
                              PyObject *object);
/* mtl-python-cuda.c */
PyObject *module_from_cuda   (PyObject *module,
                              PyObject *args);
PyObject *module_await_work  (PyObject *module,
                              PyObject *object);
PyObject *module_lend_cuda   (PyObject *module,
                              PyObject *object);

PyObject *module_from_memory (PyObject *module,
                              PyObject *args);
PyObject *module_prepare_end (PyObject *module,
                              PyObject *unused);

/* Other additions to the classes, each in the file of that name. */
int       install_axes     (PyTypeObject *type);
int       refuse_to_set    (PyObject     *self,
                            PyObject     *value,
                            void         *advice);
int       install_view     (PyTypeObject *type);
int       install_copy     (PyTypeObject *type);
int       install_index    (PyTypeObject *type);
MtlStridedView *view_for_value (MtlStridedView *view,
                                PyObject       *value);
int       install_layout   (PyTypeObject *type);
int       install_layout_index (PyTypeObject *type);

G_END_DECLS
