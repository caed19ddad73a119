/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Makes untrusted text safe for a message or a terminal: characters that cannot be
 * printed are escaped. All but the first shorten long text, and the last is for
 * messages. */
char    *mtl_escape_text        (const char  *text,
                                 gsize        size);
char    *mtl_shorten_text       (const char  *text,
                                 gsize        size);
char    *mtl_quote_text         (const char  *text,
                                 gsize        size);

/* Prefixes an error with the name of its tensor. Always returns FALSE. */
gboolean mtl_prefix_tensor_name (GError     **error,
                                 const char  *name);

G_END_DECLS
