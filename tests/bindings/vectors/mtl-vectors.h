/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

G_BEGIN_DECLS

MtlStridedView *mtl_vectors_import (MtlDType   dtype,
                                    guint      lanes,
                                    gint64     n_vectors,
                                    GError   **error);

G_END_DECLS
