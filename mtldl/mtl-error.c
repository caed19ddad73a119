/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-error.h"

G_DEFINE_QUARK (mtl-error-quark, mtl_error)
