/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-message-text-private.h"

#include <string.h>

#define MAX_QUOTED 80 /* bytes */

gboolean
mtl_is_printed (gunichar character)
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
escape (const char     *text,
        gsize           size,
        gsize           max_size,
        MtlEscapeFlags  flags)
{
  const gunichar last = flags & MTL_ESCAPE_FLAGS_NON_ASCII ? 0x7f : 0x10ffff;
  const gboolean keeps_backslashes = flags & MTL_ESCAPE_FLAGS_KEEP_BACKSLASHES;
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
      else if ((character != '\\' || keeps_backslashes) && mtl_is_printed (character)
               && character <= last)
        g_string_append_len (string, at, next - at);
      else
        append_escaped (string, character);
    }

  return g_string_free (string, FALSE);
}

char *
mtl_escape_text (const char     *text,
                 gsize           size,
                 MtlEscapeFlags  flags)
{
  return escape (text, size, G_MAXSIZE, flags);
}

char *
mtl_shorten_text (const char *text,
                  gsize       size)
{
  return escape (text, size, MAX_QUOTED, MTL_ESCAPE_FLAGS_NONE);
}

char *
mtl_quote_text (const char *text,
                gsize       size)
{
  g_autofree char *escaped = mtl_shorten_text (text, size);

  return g_strconcat ("“", escaped, "”", NULL);
}

static char *
join_dims (const gint64 *dims,
           gsize         n_dims,
           const char   *begin,
           const char   *between,
           const char   *end)
{
  GString *string = g_string_new (begin);

  for (gsize i = 0; i < n_dims; i++)
    g_string_append_printf (string, "%s%" G_GINT64_FORMAT, i > 0 ? between : "", dims[i]);

  g_string_append (string, end);
  return g_string_free (string, FALSE);
}

char *
mtl_dims_to_string (const gint64 *dims,
                    gsize         n_dims)
{
  return join_dims (dims, n_dims, "(", ", ", n_dims == 1 ? ",)" : ")");
}

char *
mtl_dims_to_json (const gint64 *dims,
                  gsize         n_dims)
{
  return join_dims (dims, n_dims, "[", ",", "]");
}

gboolean
mtl_prefix_tensor_name (GError     **error,
                        const char  *name)
{
  g_autofree char *quoted = mtl_quote_text (name, strlen (name));

  g_prefix_error (error, "Tensor %s: ", quoted);
  return FALSE;
}
