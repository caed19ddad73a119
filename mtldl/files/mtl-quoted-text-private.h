/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Text of a stranger's, as it may stand in a message or on a terminal: what does not
 * print is escaped. Of more than max_size bytes the rest is cut off; G_MAXSIZE keeps
 * all. The second is for messages, and cuts names. */
char *mtl_escape_text (const char *text,
                       gsize       size,
                       gsize       max_size);
char *mtl_quote_text  (const char *text,
                       gsize       size);

G_END_DECLS
