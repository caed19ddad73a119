/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Text of a stranger's, as it may stand in a message or on a terminal: what does not
 * print is escaped. The last is for messages, and cuts what is long. */
char    *mtl_escape_text        (const char  *text,
                                 gsize        size);
char    *mtl_quote_text         (const char  *text,
                                 gsize        size);

/* Says which tensor an error is of. Always FALSE. */
gboolean mtl_prefix_tensor_name (GError     **error,
                                 const char  *name);

G_END_DECLS
