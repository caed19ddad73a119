/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-zip-directory-private.h"

G_BEGIN_DECLS

/* Names the kind of a file that does not hold tensors, and says what to do, as a
 * sentence without its full stop; NULL if the kind is unknown. Only for files that
 * could not be read: the first bytes of a file of tensors may look like those of any
 * other file. */
char *mtl_file_kind_explain     (const guint8           *head,
                                 gsize                   size,
                                 guint64                 file_size);
char *mtl_file_kind_explain_zip (const MtlZipDirectory  *directory);

G_END_DECLS
