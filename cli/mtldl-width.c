/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fits text into the columns of a terminal. */

#include "mtldl-tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Gets the width of standard output or error; without limit if it is no terminal. */
guint
tool_get_columns (int descriptor)
{
  const char *told = g_getenv ("COLUMNS");
  struct winsize size;

  if (!isatty (descriptor))
    return G_MAXUINT;
  if (ioctl (descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;

  return told != NULL && atoi (told) > 0 ? atoi (told) : 80;
}

/* Colours take no columns. */
static gsize
measure_colour (const char *at)
{
  gsize size;

  if (!g_str_has_prefix (at, "\033["))
    return 0;

  size = 2 + strspn (at + 2, "0123456789;");
  return at[size] == 'm' ? size + 1 : 0;
}

static guint
measure_character (gunichar character)
{
  return g_unichar_iszerowidth (character) ? 0 : g_unichar_iswide (character) ? 2 : 1;
}

guint
tool_get_width (const char *text)
{
  guint width = 0;

  while (*text != '\0')
    {
      gsize colour = measure_colour (text);

      if (colour > 0)
        {
          text += colour;
          continue;
        }
      width += measure_character (g_utf8_get_char (text));
      text = g_utf8_next_char (text);
    }

  return width;
}

static const char *
skip_characters (const char *text,
                 gsize       n)
{
  for (; n > 0; n--)
    text += tool_measure_character (text);
  return text;
}

static gsize
count_characters (const char *text)
{
  gsize n = 0;

  for (; *text != '\0'; text += tool_measure_character (text))
    n++;
  return n;
}

/* Shortens a name from a file, for a message that escapes it. */
char *
tool_shorten_name (const char *name)
{
  const char *mark = tool_knows_unicode () ? "…" : "..";
  const gsize n = count_characters (name), kept = TOOL_MESSAGE_NAME - count_characters (mark);
  const char *head_end, *tail_begin;

  if (n <= TOOL_MESSAGE_NAME)
    return g_strdup (name);

  head_end = skip_characters (name, kept / 2);
  tail_begin = skip_characters (head_end, n - kept);
  return g_strdup_printf ("%.*s%s%s", (int) (head_end - name), name, mark, tail_begin);
}

/* Leaves out the middle, as names differ at their beginnings and ends. Keeps colours. */
char *
tool_shorten (const char *text,
              guint       width)
{
  const char *mark = tool_knows_unicode () ? "…" : "..";
  const guint whole = tool_get_width (text), mark_width = g_utf8_strlen (mark, -1);
  const guint kept = width > mark_width ? width - mark_width : 0;
  const guint head = kept / 2, tail = kept - head;
  GString *string;
  gboolean is_marked = FALSE;
  guint at = 0;

  if (whole <= width)
    return g_strdup (text);

  string = g_string_new (NULL);
  while (*text != '\0')
    {
      gsize colour = measure_colour (text);
      const char *next = colour > 0 ? text + colour : g_utf8_next_char (text);
      guint n = colour > 0 ? 0 : measure_character (g_utf8_get_char (text));

      if (colour > 0 || at + n <= head || (is_marked && at + tail >= whole))
        g_string_append_len (string, text, next - text);
      else if (!is_marked)
        {
          g_string_append (string, width >= mark_width ? mark : "");
          is_marked = TRUE;
          if (at + tail >= whole)
            g_string_append_len (string, text, next - text);
        }
      at += n;
      text = next;
    }

  return g_string_free (string, FALSE);
}
