/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Strings of JSON. */

#include "mtldl-tool.h"

/* Characters that a terminal does not print are written as \u, so that they do no
 * harm there. */
static void
append_character (GString  *string,
                  gunichar  character)
{
  if (character == '"' || character == '\\')
    g_string_append_printf (string, "\\%c", (char) character);
  else if (mtl_is_printed (character))
    g_string_append_unichar (string, character);
  else if (character <= 0xffff)
    g_string_append_printf (string, "\\u%04x", character);
  else
    g_string_append_printf (string, "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
                            0xdc00 + (character & 0x3ff));
}

void
tool_print_json_text (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autoptr (GString) string = g_string_new ("\"");

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    append_character (string, g_utf8_get_char (at));
  tool_print ("%s\"", string->str);
}
