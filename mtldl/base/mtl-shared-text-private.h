/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A text like GRefString, whose allocation may fail because a caller decides its size. */
char *mtl_shared_text_new   (const char  *text,
                             GError     **error);
char *mtl_shared_text_ref   (char        *text);
void  mtl_shared_text_unref (char        *text);

G_END_DECLS
