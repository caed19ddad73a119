/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Texts for messages. The bridges and the command have a copy of this code. */

typedef enum
{
  MTL_ESCAPE_FLAGS_NONE = 0,
  MTL_ESCAPE_FLAGS_NON_ASCII = 1 << 0,
  MTL_ESCAPE_FLAGS_KEEP_BACKSLASHES = 1 << 1, /* the result is ambiguous */
} MtlEscapeFlags;

/* Unicode line breaks, and marks that change the direction of writing, could make a
 * name look like another one. */
gboolean mtl_is_printed         (gunichar        character);

/* Makes untrusted text safe for a message or a terminal: characters that cannot be
 * printed are escaped. All but the first shorten long text, and the last is for
 * messages. */
char    *mtl_escape_text        (const char     *text,
                                 gsize           size,
                                 MtlEscapeFlags  flags);
char    *mtl_shorten_text       (const char     *text,
                                 gsize           size);
char    *mtl_quote_text         (const char     *text,
                                 gsize           size);

/* A shape or strides, like (2, 3), or like [2,3] in JSON. */
char    *mtl_dims_to_string     (const gint64   *dims,
                                 gsize           n_dims);
char    *mtl_dims_to_json       (const gint64   *dims,
                                 gsize           n_dims);

/* Prefixes an error with the name of its tensor. Always returns FALSE. */
gboolean mtl_prefix_tensor_name (GError        **error,
                                 const char     *name);

G_END_DECLS
