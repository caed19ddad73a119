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
  char *obstacle; /* why it is not */
  guint n_forks; /* the process that initialized the driver */
} state;

/* MTL_CUDA_LIBRARY is another library with the driver's interface, or empty for none. */
static gpointer
open_library (char **obstacle)
{
  static const char *const names[] = { "libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1" };
  const char *wanted = g_getenv ("MTL_CUDA_LIBRARY");
  gpointer library = NULL;

  if (wanted != NULL && wanted[0] == '\0')
    {
      *obstacle = g_strdup ("MTL_CUDA_LIBRARY is empty");
      return NULL;
    }

  if (wanted != NULL)
    library = dlopen (wanted, RTLD_NOW | RTLD_LOCAL);
  for (gsize i = 0; wanted == NULL && library == NULL && i < G_N_ELEMENTS (names); i++)
    library = dlopen (names[i], RTLD_NOW | RTLD_LOCAL);

  if (library == NULL)
    *obstacle = g_strdup_printf ("“%s” of NVIDIA’s driver cannot be opened",
                                 wanted != NULL ? wanted : names[0]);
  return library;
}

/* Returns the first one that the library lacks, or NULL. */
static const char *
find_functions (MtlCudaDriver *self,
                gpointer       library)
{
  const char *missing = NULL;

#define FIND(name, parameters) self->name = (CuResult (*) parameters) dlsym (library, #name);
#define NEED(name, parameters) \
  FIND (name, parameters) \
  if (self->name == NULL && missing == NULL) \
    missing = #name;

  CU_FUNCTIONS (NEED)
  CU_STRUCT_FUNCTIONS (NEED)
  CU_OPTIONAL_FUNCTIONS (FIND)

#undef NEED
#undef FIND

  return missing;
}

static const char *
get_error_name (const MtlCudaDriver *self,
                CuResult             result)
{
  const char *name = NULL;

  return self->cuGetErrorName (result, &name) == CU_SUCCESS && name != NULL
           ? name : "an error without a name";
}

static gboolean
find_gpus (MtlCudaDriver  *self,
           char          **obstacle)
{
  CuResult result = self->cuInit (0);

  if (result == CU_SUCCESS)
    result = self->cuDeviceGetCount (&self->n_devices);
  if (result == CU_SUCCESS && self->n_devices > 0)
    return TRUE;

  *obstacle = result == CU_SUCCESS
                ? g_strdup ("NVIDIA’s driver has 0 GPUs")
                : g_strdup_printf ("NVIDIA’s driver finds no GPU that it can use: %s (%u)",
                                   get_error_name (self, result), result);
  return FALSE;
}

/* A machine without a driver or a GPU, and a driver that does not fit the kernel's module, are
 * nothing to warn about. */
static gboolean
initialize (MtlCudaDriver  *self,
            char          **obstacle)
{
  gpointer library = open_library (obstacle);
  const char *missing;

  if (library == NULL)
    return FALSE;

  missing = find_functions (self, library);
  if (missing == NULL)
    return find_gpus (self, obstacle);

  *obstacle = g_strdup_printf ("NVIDIA’s driver has no %s(): install a later one", missing);
  return FALSE;
}

const MtlCudaDriver *
mtl_cuda_driver_get (void)
{
  if (mtl_fork_once_enter (&state.once))
    {
      state.n_forks = mtl_n_forks ();
      state.is_usable = initialize (&state.driver, &state.obstacle);
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

const char *
mtl_cuda_driver_get_obstacle (void)
{
  return state.obstacle;
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

  g_set_error (error, MTL_ERROR, code, "“%s” cannot %s: %s (%u)", device_name, what,
               get_error_name (self, result), result);
  return FALSE;
}
