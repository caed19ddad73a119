/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Modules, and kernels, which are played on the host by their names. */

#include "cuda-double-private.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KERNELS 256
#define MAX_SHARED 49152
#define MAX_THREADS 1024

static const CudaDoubleKernel *added[MAX_KERNELS];
static size_t n_added;

void
cuda_double_add_kernel (const CudaDoubleKernel *kernel)
{
  pthread_mutex_lock (&cd_lock);
  if (n_added == MAX_KERNELS)
    abort ();
  added[n_added++] = kernel;
  pthread_mutex_unlock (&cd_lock);
}

/* The library's kernels take its place, where they are linked in. */
__attribute__ ((weak)) const CudaDoubleKernel *
cuda_double_find_kernel (const char *name)
{
  return NULL;
}

const CudaDoubleKernel *
cd_find_kernel (const char *name)
{
  for (size_t i = n_added; i > 0; i--)
    if (strcmp (added[i - 1]->name, name) == 0)
      return added[i - 1];

  return cuda_double_find_kernel (name);
}

/* Modules */

static void
clear_module (CdModule *module)
{
  for (size_t i = 0; i < module->n_kernels; i++)
    {
      free (module->kernels[i].name);
      free (module->kernels[i].param_sizes);
    }
  free (module->kernels);
  module->kernels = NULL;
  module->n_kernels = 0;
}

static CuResult
load (CuModule   *handle,
      const char *image)
{
  CdContext *context = cd_current_context ();
  CdModule *module;
  CuResult result;

  result = cd_await_context (context);
  if (result != CU_SUCCESS)
    return result;
  module = cd_allocate (sizeof *module);
  module->context = context;
  result = cd_read_ptx (module, image, (unsigned) cd_devices[context->device].capability);
  if (result != CU_SUCCESS)
    {
      clear_module (module);
      free (module);
      return result;
    }
  module->handle = cd_new_handle (CD_HANDLE_MODULE, module);
  cd_live[CD_LIVE_MODULE]++;
  *handle = module->handle;

  return CU_SUCCESS;
}

CuResult
cuModuleLoadData (CuModule   *module,
                  const void *image)
{
  CuResult result;

  if (!cd_enter (CD_cuModuleLoadData, CD_CONTEXT | CD_UNSAFE, &result))
    return result;

  cd_count_wait ();

  return cd_leave (load (module, image));
}

static CdModule *
find_module (CuModule  handle,
             CuResult *result)
{
  CdModule *module = cd_find_handle (CD_HANDLE_MODULE, handle);

  if (module != NULL && !module->dead)
    return module;
  *result = cd_violation (CU_INVALID_HANDLE, "%p is no module, or an unloaded one",
                          (void *) handle);

  return NULL;
}

CuResult
cuModuleUnload (CuModule handle)
{
  CdModule *module;
  CuResult result;

  if (!cd_enter (CD_cuModuleUnload, CD_CONTEXT | CD_RELEASES | CD_UNSAFE, &result))
    return result;

  cd_count_wait ();
  module = find_module (handle, &result);
  if (module == NULL)
    return cd_leave (result);
  result = cd_await_context (module->context);
  module->dead = true;
  cd_live[CD_LIVE_MODULE]--;

  return cd_leave (result);
}

static CuResult
check_params (const struct CdKernel *kernel)
{
  const CudaDoubleKernel *played = cd_find_kernel (kernel->name);
  bool same;

  if (played == NULL)
    return CU_SUCCESS;
  same = played->n_params == kernel->n_params;
  for (unsigned i = 0; same && i < kernel->n_params; i++)
    same = played->param_sizes[i] == kernel->param_sizes[i];

  return same ? CU_SUCCESS
              : cd_violation (CU_INVALID_PTX, "%s has other parameters in PTX than on the host",
                              kernel->name);
}

static CuResult
get_function (CuFunction *function,
              CdModule   *module,
              const char *name)
{
  for (size_t i = 0; i < module->n_kernels; i++)
    {
      struct CdKernel *kernel = &module->kernels[i];
      CuResult result;

      if (strcmp (kernel->name, name) != 0)
        continue;
      result = check_params (kernel);
      if (result != CU_SUCCESS)
        return result;
      kernel->module = module;
      kernel->context = module->context;
      if (kernel->handle == NULL)
        kernel->handle = cd_new_handle (CD_HANDLE_FUNCTION, kernel);
      *function = kernel->handle;
      return CU_SUCCESS;
    }

  return CU_NOT_FOUND;
}

CuResult
cuModuleGetFunction (CuFunction *function,
                     CuModule    handle,
                     const char *name)
{
  CdModule *module;
  CuResult result;

  if (!cd_enter (CD_cuModuleGetFunction, CD_CONTEXT, &result))
    return result;
  module = find_module (handle, &result);
  if (module == NULL)
    return cd_leave (result);

  return cd_leave (get_function (function, module, name));
}

/* Launches */

static bool
is_grid_valid (unsigned x,
               unsigned y,
               unsigned z)
{
  return x > 0 && x <= 0x7fffffff && y > 0 && y <= 65535 && z > 0 && z <= 65535;
}

static bool
is_block_valid (unsigned x,
                unsigned y,
                unsigned z)
{
  return x > 0 && x <= MAX_THREADS && y > 0 && y <= MAX_THREADS && z > 0 && z <= 64
         && x * y * z <= MAX_THREADS;
}

static size_t
params_size (const struct CdKernel *kernel)
{
  size_t size = 0;

  for (unsigned i = 0; i < kernel->n_params; i++)
    size += (kernel->param_sizes[i] + 15) / 16 * 16;

  return size;
}

char *
cd_copy_params (const CdWork *work)
{
  size_t size = params_size (work->kernel);
  char *copy = cd_allocate (size + 1);

  memcpy (copy, work->params, size);

  return copy;
}

/* The driver reads them during the call. */
static char *
read_params (const struct CdKernel *kernel,
             void                 **params)
{
  char *copy = cd_allocate (params_size (kernel) + 1), *at = copy;

  for (unsigned i = 0; i < kernel->n_params; i++)
    {
      if (params == NULL || params[i] == NULL)
        {
          free (copy);
          return NULL;
        }
      memcpy (at, params[i], kernel->param_sizes[i]);
      at += (kernel->param_sizes[i] + 15) / 16 * 16;
    }

  return copy;
}

static struct CdKernel *
find_function (CuFunction handle,
               CuResult  *result)
{
  struct CdKernel *kernel = cd_find_handle (CD_HANDLE_FUNCTION, handle);

  if (kernel != NULL && !kernel->module->dead)
    return kernel;
  *result = cd_violation (CU_INVALID_HANDLE, "%p is no function, or of an unloaded module",
                          (void *) handle);

  return NULL;
}

static CuResult
submit_kernel (struct CdKernel *kernel,
               CdWork          *work,
               void           **params,
               CuStream         handle)
{
  CuResult result = CU_SUCCESS;
  CdStream *stream = cd_stream_to_submit (handle, &result);

  if (stream != NULL && stream->context != kernel->context)
    result = cd_violation (CU_INVALID_HANDLE, "%s was loaded in another context than the stream's",
                           kernel->name);
  else if (stream != NULL && cd_find_kernel (kernel->name) == NULL)
    result = cd_violation (CU_NOT_SUPPORTED, "the double cannot play %s", kernel->name);
  else if (stream != NULL && (work->params = read_params (kernel, params)) == NULL)
    result = cd_violation (CU_INVALID_VALUE, "%s lacks a parameter", kernel->name);
  if (stream == NULL || result != CU_SUCCESS)
    {
      cd_work_free (work);
      return result;
    }
  work->kernel = kernel;

  return cd_submit (stream, work);
}

CuResult
cuLaunchKernel (CuFunction   function,
                unsigned int grid_x,
                unsigned int grid_y,
                unsigned int grid_z,
                unsigned int block_x,
                unsigned int block_y,
                unsigned int block_z,
                unsigned int shared,
                CuStream     stream,
                void       **params,
                void       **extra)
{
  struct CdKernel *kernel;
  CdWork *work;
  CuResult result;

  if (!cd_enter (CD_cuLaunchKernel, 0, &result))
    return result;
  kernel = find_function (function, &result);
  if (kernel == NULL)
    return cd_leave (result);
  if (!is_grid_valid (grid_x, grid_y, grid_z) || !is_block_valid (block_x, block_y, block_z)
      || shared > MAX_SHARED)
    return cd_leave (CU_INVALID_VALUE);
  if (block_y != 1 || block_z != 1 || extra != NULL)
    return cd_leave (cd_violation (CU_NOT_SUPPORTED, "the double plays blocks of one dimension, "
                                   "and parameters that are an array"));

  work = cd_work_new (CD_KERNEL);
  work->grid[0] = grid_x;
  work->grid[1] = grid_y;
  work->grid[2] = grid_z;
  work->block = block_x;
  work->shared = shared;

  return cd_leave (submit_kernel (kernel, work, params, stream));
}

static void *
reach (void              *work,
       unsigned long long address,
       size_t             size,
       int                is_write)
{
  return cd_reach (work, (uintptr_t) address, size, is_write ? CD_WRITES : 0, -1);
}

void
cd_run_kernel (CdWork *work)
{
  const struct CdKernel *kernel = work->kernel;
  void **params = cd_allocate ((kernel->n_params + 1) * sizeof *params);
  char *at = work->params;

  for (unsigned i = 0; i < kernel->n_params; i++)
    {
      params[i] = at;
      at += (kernel->param_sizes[i] + 15) / 16 * 16;
    }
  work->reached = NULL;
  cd_find_kernel (kernel->name)->run (work->grid[0], work->grid[1], work->grid[2], work->block,
                                      work->shared, params, reach, work);
  free (params);
}
