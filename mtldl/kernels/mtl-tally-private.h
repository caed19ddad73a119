/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-copy-private.h"
#include "mtl-tally-kernels-private.h"

G_BEGIN_DECLS

/* Adds the numbers of another tally. */
void     mtl_tally_add         (MtlTally          *self,
                                const MtlTally    *other);

/* Adds the elements, which are numbers with one lane. Several threads may work. */
gboolean mtl_tally_add_strided (MtlTally          *self,
                                const MtlStrided  *strided,
                                const MtlMonitor  *monitor,
                                GError           **error);

G_END_DECLS
