/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The structs of DLPack, for programs that access their fields. Not part of
 * <mtldl/mtldl.h>. */

#define MTLDL_INSIDE

#include "mtl-dlpack-abi.h"

#undef MTLDL_INSIDE
