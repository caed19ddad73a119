/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-text-private.h"

#include <string.h>

#include "mtl-error-private.h"

#define FIRST_SIZE 256
/* Most texts of a printf() are shorter, so that it runs once. */
#define EXPECTED_SIZE 80

void
mtl_text_clear (MtlText *self)
{
  g_free (self->str);
  *self = (MtlText) { NULL };
}

/* Makes room for n more bytes and the NUL. */
static gboolean
reserve (MtlText *self,
         gsize    n)
{
  gsize size;
  char *str;

  if (self->missing > 0)
    return FALSE;
  if (n < self->size - self->len)
    return TRUE;

  size = n < G_MAXSSIZE - self->len ? MAX (self->len + n + 1, MAX (2 * self->size, FIRST_SIZE))
                                    : G_MAXSIZE;
  str = g_try_realloc (self->str, size);
  if (str == NULL)
    {
      self->missing = size;
      return FALSE;
    }

  self->str = str;
  self->size = size;
  return TRUE;
}

static void
set_len (MtlText *self,
         gsize    len)
{
  self->len = len;
  self->str[len] = '\0';
}

void
mtl_text_append_len (MtlText    *self,
                     const char *bytes,
                     gsize       n)
{
  if (n == 0 || !reserve (self, n))
    return;

  memcpy (self->str + self->len, bytes, n);
  set_len (self, self->len + n);
}

void
mtl_text_append (MtlText    *self,
                 const char *text)
{
  mtl_text_append_len (self, text, strlen (text));
}

void
mtl_text_append_c (MtlText *self,
                   char     character)
{
  mtl_text_append_len (self, &character, 1);
}

void
mtl_text_append_fill (MtlText *self,
                      char     character,
                      gsize    n)
{
  if (n == 0 || !reserve (self, n))
    return;

  memset (self->str + self->len, character, n);
  set_len (self, self->len + n);
}

void
mtl_text_append_printf (MtlText    *self,
                        const char *format,
                        ...)
{
  va_list arguments;
  gsize room;
  int n;

  if (!reserve (self, EXPECTED_SIZE))
    return;

  room = self->size - self->len;
  va_start (arguments, format);
  n = g_vsnprintf (self->str + self->len, room, format, arguments);
  va_end (arguments);
  if ((gsize) n >= room)
    {
      self->str[self->len] = '\0';
      if (!reserve (self, n))
        return;

      va_start (arguments, format);
      g_vsnprintf (self->str + self->len, n + 1, format, arguments);
      va_end (arguments);
    }
  self->len += n;
}

void
mtl_text_truncate (MtlText *self,
                   gsize    len)
{
  if (len < self->len)
    set_len (self, len);
}

gboolean
mtl_text_check (const MtlText  *self,
                GError        **error)
{
  return self->missing == 0 || mtl_set_no_memory (self->missing, error);
}

/* Takes the text, which may be empty. */
char *
mtl_text_steal (MtlText  *self,
                GError  **error)
{
  char *str;

  if (!reserve (self, 0))
    {
      mtl_set_no_memory (self->missing, error);
      return NULL;
    }

  str = self->str;
  str[self->len] = '\0';
  *self = (MtlText) { NULL };
  return str;
}
