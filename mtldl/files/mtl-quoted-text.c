/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-quoted-text-private.h"

#include <string.h>

#define MAX_QUOTED 80 /* bytes */

/* Unicode line breaks, and marks that change the direction of writing, could make a
 * name look like another one. */
static gboolean
is_printed (gunichar character)
{
  GUnicodeType type = g_unichar_type (character);

  return g_unichar_isprint (character) && type != G_UNICODE_LINE_SEPARATOR
         && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

static void
append_escaped (GString  *string,
                gunichar  character)
{
  if (character == '\\')
    g_string_append (string, "\\\\");
  else if (character == '\n')
    g_string_append (string, "\\n");
  else if (character == '\t')
    g_string_append (string, "\\t");
  else
    g_string_append_printf (string, character > 0xffff ? "\\U%08x" : "\\u%04x", character);
}

static char *
escape (const char *text,
        gsize       size,
        gsize       max_size)
{
  GString *string = g_string_new (NULL);
  const char *end = text + size, *next;

  for (const char *at = text; at < end; at = next)
    {
      gunichar character = g_utf8_get_char_validated (at, end - at);
      gboolean is_valid = character < 0x110000;

      next = is_valid ? g_utf8_next_char (at) : at + 1;
      if ((gsize) (next - text) > max_size)
        {
          g_string_append (string, "…");
          break;
        }

      if (!is_valid)
        g_string_append_printf (string, "\\x%02x", (guchar) *at);
      else if (character != '\\' && is_printed (character))
        g_string_append_len (string, at, next - at);
      else
        append_escaped (string, character);
    }

  return g_string_free (string, FALSE);
}

char *
mtl_escape_text (const char *text,
                 gsize       size)
{
  return escape (text, size, G_MAXSIZE);
}

char *
mtl_shorten_text (const char *text,
                  gsize       size)
{
  return escape (text, size, MAX_QUOTED);
}

char *
mtl_quote_text (const char *text,
                gsize       size)
{
  g_autofree char *escaped = mtl_shorten_text (text, size);

  return g_strconcat ("“", escaped, "”", NULL);
}

gboolean
mtl_prefix_tensor_name (GError     **error,
                        const char  *name)
{
  g_autofree char *quoted = mtl_quote_text (name, strlen (name));

  g_prefix_error (error, "Tensor %s: ", quoted);
  return FALSE;
}
