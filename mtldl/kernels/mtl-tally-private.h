/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-number-private.h"
#include "mtl-strided-copy-private.h"
#include "mtl-tally-kernels-private.h"
#include "mtl-tiles-private.h"

G_BEGIN_DECLS

/* Adds the numbers of another tally. */
void     mtl_tally_add         (MtlTally          *self,
                                const MtlTally    *other);

/* Adds the elements, which are numbers with one lane. Several threads may work. */
gboolean mtl_tally_add_strided (MtlTally          *self,
                                const MtlStrided  *strided,
                                const MtlMonitor  *monitor,
                                GError           **error);

/* Computes the tallies of n tiles. FALSE without an error if it cannot do that. */
typedef gboolean (* MtlTallyTilesFunc) (const MtlTiles  *tiles,
                                        gint64           first,
                                        gint64           n,
                                        MtlTally        *tallies,
                                        gpointer         data,
                                        GError         **error);

/* The same with the tallies of somebody else, who reaches the elements; there is at least one.
 * On failure nothing was added. */
gboolean mtl_tally_add_strided_by (MtlTally           *self,
                                   const MtlStrided   *strided,
                                   MtlTallyTilesFunc   func,
                                   gpointer            data,
                                   const MtlMonitor   *monitor,
                                   GError            **error);

/* The limits, of numbers of a kernel. */
MtlNumber mtl_tally_key_to_number (gint64            key,
                                   MtlElementType    number_type);

/* The kernels for the set that copies use. */
const MtlTallyKernels *mtl_tally_get_kernels     (void);

/* The numbers of a kernel: as they are, or in a wider type. */
MtlElementType         mtl_tally_get_number_type (MtlElementType  type);

/* Sets the tally to that of tiles of such numbers, in this thread. */
void                   mtl_tally_of_tiles        (MtlTally       *self,
                                                  const MtlTiles *tiles,
                                                  MtlElementType  number_type);

G_END_DECLS
