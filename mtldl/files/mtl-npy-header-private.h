/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-layout-private.h"
#include "mtl-tensor-table-private.h"

G_BEGIN_DECLS

/* NumPy's .npy: a mark, a version, the header's size, a dict of three keys in Python's
 * writing, and the elements. The longest prefix is that of versions 2 and 3. */
#define MTL_NPY_MAX_PREFIX_SIZE 12
#define MTL_NPY_MAX_HEADER_SIZE (1 << 20)

/* The prefix and the header together, which lie before the elements. */
gboolean mtl_npy_header_get_size (const guint8    *prefix,
                                  gsize            n_available,
                                  guint64          file_size,
                                  gsize           *size,
                                  GError         **error);

/* Sets all but the name. The shape is written to the array, and bytes count from the
 * prefix. */
gboolean mtl_npy_header_parse    (const guint8    *header,
                                  gsize            size,
                                  guint64          file_size,
                                  gint64           shape[MTL_LAYOUT_MAX_DIMS],
                                  MtlTensorEntry  *entry,
                                  GError         **error);

/* The letter that NumPy has for elements of such a kind, 0 where it has none. */
char     mtl_npy_dtype_get_kind  (MtlDType         dtype);

G_END_DECLS
