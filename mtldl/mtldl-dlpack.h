/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The structs of DLPack, and the functions that exchange them, for programs in C. Not part of
 * <mtldl/mtldl.h>. */

#define MTLDL_INSIDE

#include "mtl-dlpack-abi.h"
#include "mtl-dlpack-managed.h"

#undef MTLDL_INSIDE
