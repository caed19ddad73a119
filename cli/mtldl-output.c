/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Output to standard output and standard error. */

#include "mtldl-tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
tool_print_text (const char *text)
{
  fputs (text, stdout);
}

void
tool_print (const char *format,
            ...)
{
  va_list arguments;

  va_start (arguments, format);
  vfprintf (stdout, format, arguments);
  va_end (arguments);
}

gboolean
tool_finish_output (void)
{
  gboolean failed_before = ferror (stdout);

  errno = 0;
  if (fclose (stdout) == 0 && !failed_before)
    return TRUE;

  /* A reader that has closed the pipe needs no message. */
  if (errno != EPIPE)
    tool_complain (_("standard output: %s"), errno != 0 ? g_strerror (errno) : _("writing failed"));
  return FALSE;
}

static gboolean
is_coloured (void)
{
  static int answer = -1;
  const char *off = g_getenv ("NO_COLOR");
  const char *terminal = g_getenv ("TERM");

  if (answer < 0)
    answer = isatty (STDOUT_FILENO) && (off == NULL || *off == '\0')
             && terminal != NULL && !g_str_equal (terminal, "dumb");
  return answer;
}

const char *
tool_strong (void)
{
  return is_coloured () ? "\033[1m" : "";
}

const char *
tool_accent (void)
{
  return is_coloured () ? "\033[36m" : "";
}

const char *
tool_dim (void)
{
  return is_coloured () ? "\033[2m" : "";
}

const char *
tool_plain (void)
{
  return is_coloured () ? "\033[0m" : "";
}

gboolean
tool_knows_unicode (void)
{
  static int answer = -1;

  if (answer < 0)
    answer = !isatty (STDOUT_FILENO) || g_get_charset (NULL);
  return answer;
}

static MtlEscapeFlags
get_escape_flags (void)
{
  return tool_knows_unicode () ? MTL_ESCAPE_FLAGS_NONE : MTL_ESCAPE_FLAGS_NON_ASCII;
}

char *
tool_escape (const char *text)
{
  return mtl_escape_text (text, strlen (text), get_escape_flags ());
}

/* The user has typed this text, and recognizes its backslashes. */
char *
tool_escape_typed (const char *text)
{
  return mtl_escape_text (text, strlen (text),
                          get_escape_flags () | MTL_ESCAPE_FLAGS_KEEP_BACKSLASHES);
}

/* Newer versions of GLib no longer convert the text of g_printerr(). */
void
tool_print_error (const char *text)
{
  g_autofree char *converted = NULL;
  const char *charset;

  if (!g_get_charset (&charset))
    converted = g_convert_with_fallback (text, -1, charset, "UTF-8", "?", NULL, NULL, NULL);
  fputs (converted != NULL ? converted : text, stderr);
}

void
tool_complain (const char *format,
               ...)
{
  g_autofree char *text = NULL;
  g_autofree char *escaped = NULL;
  g_autofree char *line = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  /* Messages of GLib and of the system may quote text that is not escaped. */
  escaped = mtl_escape_text (text, strlen (text), MTL_ESCAPE_FLAGS_KEEP_BACKSLASHES);
  line = g_strdup_printf ("mtldl: %s\n", escaped);
  tool_print_error (line);
}

void
tool_complain_of (const char   *path,
                  const GError *error)
{
  g_autofree char *escaped = tool_escape (path);
  g_autofree char *full = g_canonicalize_filename (path, NULL);
  g_autofree char *escaped_full = tool_escape (full);

  /* Most errors of files name them. */
  if (strstr (error->message, escaped_full) != NULL)
    tool_complain ("%s", error->message);
  else
    tool_complain ("%s: %s", escaped, error->message);
}

/* Reads n hexadecimal digits; -1 on error. */
static gint64
read_digits (const char *text,
             guint       n)
{
  gint64 value = 0;

  for (guint i = 0; i < n; i++)
    {
      if (!g_ascii_isxdigit (text[i]))
        return -1;
      value = value * 16 + g_ascii_xdigit_value (text[i]);
    }

  return value;
}

/* Appends the character for an escape, whose text begins after the backslash. Returns
 * the length of that text, or 0 if it is not an escape. */
static gsize
append_unescaped (GString    *string,
                  const char *text)
{
  guint n_digits = *text == 'x' ? 2 : *text == 'u' ? 4 : *text == 'U' ? 8 : 0;
  gint64 value;

  if (n_digits == 0)
    {
      if (*text != '\\' && *text != 'n' && *text != 't')
        return 0;
      g_string_append_c (string, *text == 'n' ? '\n' : *text == 't' ? '\t' : '\\');
      return 1;
    }

  value = read_digits (text + 1, n_digits);
  if (value <= 0 || value >= 0x110000)
    return 0;
  if (n_digits == 2)
    g_string_append_c (string, value);
  else
    g_string_append_unichar (string, value);
  return 1 + n_digits;
}

/* Returns NULL if tool_escape() cannot have returned the text. */
char *
tool_unescape (const char *text)
{
  g_autoptr (GString) string = g_string_new (NULL);

  while (*text != '\0')
    {
      gsize length;

      if (*text != '\\')
        {
          g_string_append_c (string, *text++);
          continue;
        }
      length = append_unescaped (string, text + 1);
      if (length == 0)
        return NULL;
      text += 1 + length;
    }

  return g_string_free (g_steal_pointer (&string), FALSE);
}

/* Formats sizes like 13.5 GiB. */
char *
tool_format_bytes (guint64 n_bytes)
{
  static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  double value = n_bytes;
  gsize unit = 0;

  if (n_bytes == 1)
    return g_strdup ("1 byte");

  for (; value >= 1023.95 && unit + 1 < G_N_ELEMENTS (units); unit++)
    value /= 1024;
  return g_strdup_printf (unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}
