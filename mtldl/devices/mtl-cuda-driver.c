/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-cuda-driver-private.h"

#include <dlfcn.h>

#include "mtl-error.h"
#include "mtl-fork-private.h"

static struct
{
  MtlForkOnce once;
  MtlCudaDriver driver;
  gboolean is_usable;
  guint n_forks; /* the process that initialized the driver */
} state;

/* MTL_CUDA_LIBRARY is another library with the driver's interface, or empty for none. */
static gpointer
open_library (void)
{
  static const char *const names[] = { "libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1" };
  const char *wanted = g_getenv ("MTL_CUDA_LIBRARY");
  gpointer library = NULL;

  if (wanted != NULL && wanted[0] == '\0')
    return NULL;
  if (wanted != NULL)
    return dlopen (wanted, RTLD_NOW | RTLD_LOCAL);

  for (gsize i = 0; library == NULL && i < G_N_ELEMENTS (names); i++)
    library = dlopen (names[i], RTLD_NOW | RTLD_LOCAL);
  return library;
}

static gboolean
find_functions (MtlCudaDriver *self,
                gpointer       library)
{
  gboolean has_all = TRUE;

#define FIND(name, parameters) self->name = (CuResult (*) parameters) dlsym (library, #name);
#define NEED(name, parameters) \
  FIND (name, parameters) \
  has_all = has_all && self->name != NULL;

  CU_FUNCTIONS (NEED)
  CU_STRUCT_FUNCTIONS (NEED)
  CU_OPTIONAL_FUNCTIONS (FIND)

#undef NEED
#undef FIND

  return has_all;
}

/* A machine without a driver or a GPU, and a driver that does not fit the kernel's module, are
 * nothing to warn about. */
static gboolean
initialize (MtlCudaDriver *self)
{
  gpointer library = open_library ();

  return library != NULL
         && find_functions (self, library)
         && self->cuInit (0) == CU_SUCCESS
         && self->cuDeviceGetCount (&self->n_devices) == CU_SUCCESS
         && self->n_devices > 0;
}

const MtlCudaDriver *
mtl_cuda_driver_get (void)
{
  if (mtl_fork_once_enter (&state.once))
    {
      state.n_forks = mtl_n_forks ();
      state.is_usable = initialize (&state.driver);
      mtl_fork_once_leave (&state.once);
    }

  return mtl_cuda_driver_peek ();
}

const MtlCudaDriver *
mtl_cuda_driver_peek (void)
{
  return g_atomic_int_get (&state.once.is_done) && state.is_usable
         && state.n_forks == mtl_n_forks () ? &state.driver : NULL;
}

gboolean
mtl_cuda_driver_check_process (GError **error)
{
  if (!state.is_usable || state.n_forks == mtl_n_forks ())
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "CUDA was initialized before this process was forked, and cannot be used in"
                       " it: start the process with exec, or fork before CUDA is used");
  return FALSE;
}

gboolean
mtl_cuda_driver_set_error (const MtlCudaDriver  *self,
                           CuResult              result,
                           const char           *device_name,
                           const char           *what,
                           GError              **error)
{
  MtlError code = result == CU_OUT_OF_MEMORY ? MTL_ERROR_NO_MEMORY : MTL_ERROR_DEVICE;
  const char *name = NULL;

  if (self->cuGetErrorName (result, &name) != CU_SUCCESS || name == NULL)
    name = "an error without a name";

  g_set_error (error, MTL_ERROR, code, "“%s” cannot %s: %s (%u)", device_name, what, name, result);
  return FALSE;
}
