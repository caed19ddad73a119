/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Copies, conversions and fills as launches of the kernels in cuda-kernels/. The planner only looks
 * at layouts and addresses; it needs neither a GPU nor the driver. */

#include "cuda-kernels/mtl-cuda-parameters.h"
#include "mtl-cuda-abi-private.h"
#include "mtl-strided-copy-private.h"
#include "mtl-tally-private.h"
#include "mtl-tiles-private.h"

G_BEGIN_DECLS

/* A kernel's arguments are the two addresses and the parameters, which are passed by value. */
typedef struct
{
  const char *module; /* the name of the PTX file, without its ending */
  char kernel[64];
  guint32 grid;  /* blocks */
  guint32 block; /* threads of a block */
  guint32 shared_bytes;
  guint64 dest;
  guint64 source;
  gconstpointer params; /* valid during the call */
  gsize params_size;
} MtlCudaLaunch;

typedef gboolean (* MtlCudaLaunchFunc) (const MtlCudaLaunch  *launch,
                                        gpointer              data,
                                        GError              **error);

/* Copies and fills by the rules of mtl_strided_copy(), mtl_strided_copy_scaled() and
 * mtl_strided_fill(). The data of both sides are addresses of the GPU, which are not followed. Both
 * have the same shape and do not overlap. The launches are to run in their order, mostly there is
 * one. They read no byte outside the lowest and the highest element of the source. */
gboolean mtl_cuda_plan_copy    (const MtlStrided   *dest,
                                const MtlStrided   *source,
                                const double       *factors,
                                MtlCudaLaunchFunc   func,
                                gpointer            data,
                                GError            **error);
gboolean mtl_cuda_plan_fill    (const MtlStrided   *dest,
                                gconstpointer       item,
                                MtlCudaLaunchFunc   func,
                                gpointer            data,
                                GError            **error);

/* Compares the numbers of two layouts of the same shape as mtl_number_is_close() does, or with
 * tolerances of 0 as mtl_number_equal(). The launches set the word of 32 bits at the address
 * `result` to 1 if any two differ; it is 0 before. NOT_SUPPORTED if complex numbers have a
 * tolerance. */
gboolean mtl_cuda_plan_compare (const MtlStrided    *a,
                                const MtlStrided    *b,
                                const MtlTolerance  *tolerance,
                                guint64              result,
                                MtlCudaLaunchFunc    func,
                                gpointer             data,
                                GError             **error);

/* Computes the statistics of n tiles, whose data are an address of the GPU. Writes an MtlCudaTally
 * for each to the address `results`, in the order of the tiles. `type` is that of the elements, and
 * the tiles are of the type that mtl_tally_get_number_type() returns for it. The n tallies of
 * imaginary parts, if there are any, are behind those of the real ones. */
gboolean mtl_cuda_plan_tally   (const MtlTiles     *tiles,
                                gint64              first,
                                guint32             n,
                                MtlElementType      type,
                                guint64             results,
                                MtlCudaLaunchFunc   func,
                                gpointer            data,
                                GError            **error);

/* The imaginary parts are NULL if there are none. */
static inline void
mtl_cuda_tally_get (const MtlCudaTally *self,
                    const MtlCudaTally *imaginary,
                    MtlTally           *tally)
{
  *tally = (MtlTally) MTL_TALLY_NONE;
  tally->n_zeros = self->n_zeros;
  tally->n_nans = self->n_nans;
  tally->n_infinities = self->n_infinities;
  tally->parts[0] = (MtlMoments) { self->n, self->mean, self->rest, self->squares };
  if (imaginary != NULL)
    {
      tally->parts[1] = (MtlMoments) {
        imaginary->n, imaginary->mean, imaginary->rest, imaginary->squares,
      };
      return;
    }

  tally->least = self->least;
  tally->most = self->most;
}

typedef gboolean (* MtlCudaCopy3DFunc) (const CuCopy3D  *copy,
                                        gpointer         data,
                                        GError         **error);

/* Copies without kernels, of elements of the same type in whole bytes. Returns FALSE without an
 * error if they would take more than `most` copies. */
gboolean mtl_cuda_plan_copy_3d (const MtlStrided   *dest,
                                const MtlStrided   *source,
                                guint64             most,
                                MtlCudaCopy3DFunc   func,
                                gpointer            data,
                                GError            **error);

typedef enum
{
  MTL_CUDA_CHOSEN,
  MTL_CUDA_ROWS,
  MTL_CUDA_REVERSE,
  MTL_CUDA_REPEAT,
  MTL_CUDA_GATHER,
  MTL_CUDA_DENSE,
  MTL_CUDA_PIXELS,
  MTL_CUDA_TILE,
  MTL_CUDA_BOX,
  MTL_CUDA_N_FAMILIES,
} MtlCudaFamily;

/* Set by tests: the family that is taken wherever it can be, the most items of a launch, and a
 * limit for the elements of a box. */
extern MtlCudaFamily mtl_cuda_plan_forced;
extern guint64 mtl_cuda_plan_most;
extern guint32 mtl_cuda_plan_box_elements;

G_END_DECLS
