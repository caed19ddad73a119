/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Text that grows like a GString, but may fail, because a caller or a file decides its
 * size. After a failed allocation it does not grow any more: mtl_text_check() at the end
 * is enough. */
typedef struct
{
  char *str;     /* NUL-terminated; NULL before the first character */
  gsize len;
  gsize size;    /* the allocated size */
  gsize missing; /* bytes that could not be allocated, 0 if there was no failure */
} MtlText;

void      mtl_text_clear         (MtlText     *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlText, mtl_text_clear)

void      mtl_text_append        (MtlText     *self,
                                  const char  *text);
void      mtl_text_append_len    (MtlText     *self,
                                  const char  *bytes,
                                  gsize        n);
void      mtl_text_append_c      (MtlText     *self,
                                  char         character);
void      mtl_text_append_fill   (MtlText     *self,
                                  char         character,
                                  gsize        n);
void      mtl_text_append_printf (MtlText     *self,
                                  const char  *format,
                                  ...) G_GNUC_PRINTF (2, 3);
void      mtl_text_truncate      (MtlText     *self,
                                  gsize        len);

gboolean  mtl_text_check         (const MtlText  *self,
                                  GError        **error);
char     *mtl_text_steal         (MtlText        *self,
                                  GError        **error);

G_END_DECLS
