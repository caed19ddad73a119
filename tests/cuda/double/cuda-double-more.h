/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Functions of CUDA's driver that the library does not use, but its users do: what the tests need
 * to play them. */

#pragma once

#include "mtl-cuda-abi-private.h"

typedef struct CUgraph_st *CuGraph;
typedef struct CUgraphExec_st *CuGraphExec;

#define CU_CAPTURE_MERGE 902
#define CU_CAPTURE_UNMATCHED 903

#define CU_MORE_FUNCTIONS(X) \
  X (cuMemAlloc_v2, (CuAddress *, size_t)) \
  X (cuMemAllocAsync, (CuAddress *, size_t, CuStream)) \
  X (cuDeviceGetDefaultMemPool, (CuPool *, CuDevice)) \
  X (cuMemPoolDestroy, (CuPool)) \
  X (cuModuleUnload, (CuModule)) \
  X (cuCtxGetCurrent, (CuContext *)) \
  X (cuCtxSynchronize, (void)) \
  X (cuStreamBeginCapture_v2, (CuStream, CuEnum)) \
  X (cuStreamEndCapture, (CuStream, CuGraph *)) \
  X (cuGraphDestroy, (CuGraph)) \
  X (cuGraphInstantiateWithFlags, (CuGraphExec *, CuGraph, unsigned long long)) \
  X (cuGraphLaunch, (CuGraphExec, CuStream)) \
  X (cuGraphExecDestroy, (CuGraphExec))
