/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether a text, which is UTF-8, is what a pattern stands for: * for any text, ? for any
 * one character, all else for itself; NULL for any. However the text was chosen, it takes
 * no longer than both their lengths multiplied. */
gboolean mtl_text_matches (const char *text,
                           const char *pattern);

G_END_DECLS
