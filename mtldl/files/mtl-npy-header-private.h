/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-layout-private.h"
#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* NumPy's .npy: a magic string, a version, the size of the header, a Python dict with
 * three keys, and the elements. Versions 2 and 3 have the longest prefix. */
#define MTL_NPY_MAX_PREFIX_SIZE 12
#define MTL_NPY_MAX_HEADER_SIZE (1 << 20)

/* The size of the prefix and the header together. The elements follow. */
gboolean mtl_npy_header_get_size (const guint8    *prefix,
                                  gsize            n_available,
                                  guint64          file_size,
                                  gsize           *size,
                                  GError         **error);

/* Sets everything but the name. The shape is written to the array. Byte offsets count
 * from the prefix. After an error, the fields that are known are set all the same; type_name
 * is that of a type without a dtype, or NULL, and must be freed. */
gboolean mtl_npy_header_parse    (const guint8    *header,
                                  gsize            size,
                                  guint64          file_size,
                                  gint64           shape[MTL_LAYOUT_MAX_DIMS],
                                  MtlTensorEntry  *entry,
                                  char           **type_name,
                                  GError         **error);

/* NumPy's letter for the kind of the elements, 0 if NumPy does not have it. */
char     mtl_npy_dtype_get_kind  (MtlDType         dtype);

G_END_DECLS
