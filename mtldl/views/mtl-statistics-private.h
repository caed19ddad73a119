/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-element-type-private.h"
#include "mtl-statistics.h"
#include "mtl-tally-private.h"

G_BEGIN_DECLS

/* The type must have one lane. */
MtlStatistics *mtl_statistics_new (MtlElementType  type,
                                   guint64         n,
                                   const MtlTally *tally);

G_END_DECLS
