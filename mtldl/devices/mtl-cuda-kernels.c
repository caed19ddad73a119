/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-cuda-kernels-private.h"

#include "mtl-cuda-copy-private.h"
#include "mtl-cuda-memory-private.h"
#include "mtl-cuda-plan-private.h"
#include "mtl-error-private.h"

#define RESOURCE_PATH "/org/mtldl/cuda-kernels/"

/* The driver copies elements in at most as many parts if it has no compiler. More would take longer
 * than the way through the host. */
#define MOST_COPIES 1024

struct _MtlCudaKernels
{
  MtlForkLock lock;      /* protects the fields below */
  GHashTable *modules;   /* name → CuModule */
  GHashTable *functions; /* name → CuFunction */
};

typedef struct _MtlCudaKernels Kernels;

static Kernels *
get_kernels (MtlCudaContext *context)
{
  Kernels *kernels = g_atomic_pointer_get (&context->kernels);

  if (kernels != NULL)
    return kernels;

  kernels = g_new0 (Kernels, 1);
  kernels->modules = g_hash_table_new (g_str_hash, g_str_equal);
  kernels->functions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (g_atomic_pointer_compare_and_exchange (&context->kernels, NULL, kernels))
    return kernels;

  g_hash_table_unref (kernels->modules);
  g_hash_table_unref (kernels->functions);
  g_free (kernels);
  return g_atomic_pointer_get (&context->kernels);
}

/* The driver has no compiler, none for this version of PTX, or must not use it. */
static gboolean
lacks_compiler (CuResult result)
{
  return result == CU_JIT_COMPILER_NOT_FOUND || result == CU_JIT_COMPILATION_DISABLED
         || result == CU_UNSUPPORTED_PTX_VERSION || result == CU_NO_BINARY_FOR_GPU;
}

/* Returns NULL without an error if the driver cannot compile the module. */
static CuModule
load_module (MtlCudaContext  *context,
             Kernels         *kernels,
             const char      *name,
             GError         **error)
{
  CuModule module = g_hash_table_lookup (kernels->modules, name);
  g_autofree char *path = NULL;
  g_autoptr (GBytes) text = NULL;
  CuResult result;

  if (module != NULL)
    return module;

  path = g_strconcat (RESOURCE_PATH, name, ".ptx", NULL);
  text = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, error);
  if (text == NULL)
    return NULL;

  /* Told to ./run bench cuda, as the driver's compiler takes its time for each byte. */
  g_debug ("%s: %" G_GSIZE_FORMAT " bytes of PTX", path, g_bytes_get_size (text));
  result = context->cu->cuModuleLoadData (&module, g_bytes_get_data (text, NULL));
  if (lacks_compiler (result))
    {
      g_atomic_int_set (&context->lacks_compiler, TRUE);
      return NULL;
    }
  if (!mtl_cuda_context_check (context, result, "compile a kernel", error))
    return NULL;

  g_hash_table_insert (kernels->modules, (gpointer) name, module);
  return module;
}

static CuFunction
load_function (MtlCudaContext  *context,
               Kernels         *kernels,
               const char      *module_name,
               const char      *name,
               GError         **error)
{
  CuFunction function = g_hash_table_lookup (kernels->functions, name);
  CuModule module;

  if (function != NULL)
    return function;

  module = load_module (context, kernels, module_name, error);
  if (module == NULL
      || !mtl_cuda_context_check (context,
                                  context->cu->cuModuleGetFunction (&function, module, name),
                                  "find a kernel", error))
    return NULL;

  g_hash_table_insert (kernels->functions, g_strdup (name), function);
  return function;
}

static CuFunction
get_function (MtlCudaContext  *context,
              const char      *module_name,
              const char      *name,
              GError         **error)
{
  Kernels *kernels = get_kernels (context);
  CuFunction function;

  mtl_fork_lock (&kernels->lock);
  function = load_function (context, kernels, module_name, name, error);
  mtl_fork_unlock (&kernels->lock);
  return function;
}

/* If the driver has no compiler, the first launch ends the plan. */
static gboolean
launch (const MtlCudaLaunch  *launch,
        gpointer              data,
        GError              **error)
{
  MtlCudaWork *work = data;
  MtlCudaContext *context = work->context;
  guint64 dest = launch->dest, source = launch->source;
  gpointer arguments[] = { &dest, &source, (gpointer) launch->params };
  CuFunction function = get_function (context, launch->module, launch->kernel, error);

  return function != NULL
         && mtl_cuda_context_check (context,
                                    context->cu->cuLaunchKernel (function, launch->grid, 1, 1,
                                                                 launch->block, 1, 1,
                                                                 launch->shared_bytes,
                                                                 work->stream, arguments, NULL),
                                    "run a kernel", error);
}

/* The driver wants pitches of at least a row, and at most 2 GiB, for a single row as well. */
static gboolean
queue_copy_3d (const CuCopy3D  *copy,
               gpointer         data,
               GError         **error)
{
  MtlCudaWork *work = data;
  const MtlCudaDriver *cu = work->context->cu;
  CuResult result;

  if (copy->height == 1 && copy->depth == 1)
    result = cu->cuMemcpyAsync (copy->dst_device, copy->src_device, copy->width, work->stream);
  else
    result = cu->cuMemcpy3DAsync_v2 (copy, work->stream);
  return mtl_cuda_context_check (work->context, result, "copy memory", error);
}

static gboolean
copy_without_kernels (MtlCudaWork       *work,
                      const MtlStrided  *dest,
                      const MtlStrided  *source,
                      gboolean          *is_done,
                      GError           **error)
{
  g_autoptr (GError) local_error = NULL;

  *is_done = mtl_element_type_equal (dest->type, source->type)
             && dest->layout->item_bits % 8 == 0
             && mtl_cuda_plan_copy_3d (dest, source, MOST_COPIES, queue_copy_3d, work,
                                       &local_error);
  if (local_error == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

/* Returns whether a plan was carried out. If the driver has no compiler, or there is no kernel for
 * such elements, that is no error. */
static gboolean
end_plan (MtlCudaContext *context,
          gboolean        succeeded,
          GError         *local_error,
          gboolean       *is_done,
          GError        **error)
{
  *is_done = succeeded;
  if (succeeded || (local_error == NULL && g_atomic_int_get (&context->lacks_compiler)))
    return TRUE;

  if (g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED))
    {
      g_error_free (local_error);
      return TRUE;
    }

  g_propagate_error (error, local_error);
  return FALSE;
}

/* Kernels that write parts of bytes change whole words around them. */
static gboolean
has_whole_words (MtlCudaContext   *context,
                 const MtlStrided *self)
{
  MtlCudaPlace place;
  gint64 first, end;
  guint64 low, high;

  if (self->layout->item_bits % 8 == 0)
    return TRUE;

  if (!mtl_layout_get_byte_bounds (self->layout, &first, &end, NULL)
      || mtl_cuda_memory_find (context->cu, self->data + first, &place) != CU_SUCCESS)
    return FALSE;

  low = ((guintptr) self->data + first) / sizeof (guint32) * sizeof (guint32);
  high = ((guintptr) self->data + end + sizeof (guint32) - 1) / sizeof (guint32)
         * sizeof (guint32);
  return place.size == 0 || (low >= place.start && high <= place.start + place.size);
}

gboolean
mtl_cuda_copy_elements (MtlCudaContext    *context,
                        const MtlStrided  *dest,
                        const MtlStrided  *source,
                        const double      *factors,
                        gboolean          *is_done,
                        GError           **error)
{
  g_auto (MtlCudaWork) work = { { NULL } };
  GError *local_error = NULL;

  *is_done = FALSE;
  if (!mtl_cuda_work_begin (&work, context, error))
    return FALSE;

  if (!g_atomic_int_get (&context->lacks_compiler) && has_whole_words (context, dest))
    {
      gboolean succeeded = mtl_cuda_plan_copy (dest, source, factors, launch, &work, &local_error);

      if (!end_plan (context, succeeded, local_error, is_done, error))
        return FALSE;
    }

  return *is_done || factors != NULL
         || copy_without_kernels (&work, dest, source, is_done, error);
}

gboolean
mtl_cuda_fill_elements (MtlCudaContext    *context,
                        const MtlStrided  *dest,
                        gconstpointer      item,
                        gboolean          *is_done,
                        GError           **error)
{
  g_auto (MtlCudaWork) work = { { NULL } };
  GError *local_error = NULL;
  gboolean succeeded;

  *is_done = FALSE;
  if (!mtl_cuda_work_begin (&work, context, error))
    return FALSE;

  if (g_atomic_int_get (&context->lacks_compiler) || !has_whole_words (context, dest))
    return TRUE;

  succeeded = mtl_cuda_plan_fill (dest, item, launch, &work, &local_error);
  return end_plan (context, succeeded, local_error, is_done, error);
}

/* Compares by a kernel, which sets the word of the GPU if elements differ. */
static gboolean
run_compare (MtlCudaWork         *work,
             gpointer             word,
             const MtlStrided    *a,
             const MtlStrided    *b,
             const MtlTolerance  *tolerance,
             gboolean            *is_done,
             GError             **error)
{
  static const guint8 zero = 0;
  GError *local_error = NULL;
  gboolean succeeded;

  if (!mtl_cuda_set (work->context, word, sizeof (guint32), &zero, sizeof zero, is_done, error))
    return FALSE;

  succeeded = mtl_cuda_plan_compare (a, b, tolerance, (guintptr) word, launch, work, &local_error);
  return end_plan (work->context, succeeded, local_error, is_done, error);
}

gboolean
mtl_cuda_compare_elements (MtlCudaContext      *context,
                           const MtlStrided    *a,
                           const MtlStrided    *b,
                           const MtlTolerance  *tolerance,
                           gboolean            *are_close,
                           gboolean            *is_done,
                           GCancellable        *cancellable,
                           GError             **error)
{
  g_auto (MtlCudaWork) work = { { NULL } };
  guint32 differ = 1;
  gboolean succeeded;
  gpointer word;

  *are_close = FALSE;
  *is_done = FALSE;
  if (g_atomic_int_get (&context->lacks_compiler))
    return TRUE;

  if (!mtl_cuda_work_begin (&work, context, error)
      || !mtl_cuda_work_check_runs (&work, "compare elements", error))
    return FALSE;

  word = mtl_cuda_work_allocate (&work, sizeof differ, error);
  if (word == NULL)
    return FALSE;

  succeeded = run_compare (&work, word, a, b, tolerance, is_done, error)
              && (!*is_done
                  || mtl_cuda_copy (context, &differ, MTL_STORAGE_MODE_HOST, word,
                                    MTL_STORAGE_MODE_PRIVATE, sizeof differ, cancellable, error));
  mtl_cuda_work_free (&work, word);
  *are_close = succeeded && differ == 0;
  return succeeded;
}

static gsize
count_results (gint64         n,
               MtlElementType type)
{
  return type.code == kDLComplex ? 2 * n : n;
}

/* The results are in the device's memory first. */
static gboolean
run_tallies (MtlCudaWork     *work,
             MtlCudaTally    *results,
             const MtlTiles  *tiles,
             gint64           first,
             gint64           n,
             MtlElementType   type,
             gboolean        *is_done,
             GCancellable    *cancellable,
             GError         **error)
{
  gsize size = count_results (n, type) * sizeof *results;
  gpointer memory = mtl_cuda_work_allocate (work, size, error);
  GError *local_error = NULL;
  gboolean succeeded;

  if (memory == NULL)
    return FALSE;

  succeeded = mtl_cuda_plan_tally (tiles, first, n, type, (guintptr) memory, launch, work,
                                   &local_error);
  succeeded = end_plan (work->context, succeeded, local_error, is_done, error)
              && (!*is_done
                  || mtl_cuda_copy (work->context, results, MTL_STORAGE_MODE_HOST, memory,
                                    MTL_STORAGE_MODE_PRIVATE, size, cancellable, error));
  mtl_cuda_work_free (work, memory);
  return succeeded;
}

gboolean
mtl_cuda_tally_tiles (MtlCudaContext  *context,
                      const MtlTiles  *tiles,
                      gint64           first,
                      gint64           n,
                      MtlElementType   type,
                      MtlTally        *tallies,
                      gboolean        *is_done,
                      GCancellable    *cancellable,
                      GError         **error)
{
  g_auto (MtlCudaWork) work = { { NULL } };
  g_autofree MtlCudaTally *results = NULL;

  *is_done = FALSE;
  if (g_atomic_int_get (&context->lacks_compiler))
    return TRUE;

  results = g_try_new (MtlCudaTally, count_results (n, type));
  if (results == NULL)
    return mtl_set_no_memory (count_results (n, type) * sizeof *results, error);

  if (!mtl_cuda_work_begin (&work, context, error)
      || !mtl_cuda_work_check_runs (&work, "compute statistics", error)
      || !run_tallies (&work, results, tiles, first, n, type, is_done, cancellable, error))
    return FALSE;

  if (*is_done)
    for (gint64 i = 0; i < n; i++)
      mtl_cuda_tally_get (&results[i], type.code == kDLComplex ? &results[n + i] : NULL,
                          &tallies[i]);
  return TRUE;
}
