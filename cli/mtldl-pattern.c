/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Patterns of names, with * and ?. Neither they nor the names of files need be UTF-8, which
 * GPatternSpec requires. */

#include "mtldl-tool.h"

#include <string.h>

/* Counts bytes. A byte that is not part of a valid character counts as one. */
gsize
tool_measure_character (const char *at)
{
  return g_utf8_get_char_validated (at, -1) < 0x110000 ? g_utf8_next_char (at) - at : 1;
}

gboolean
tool_is_pattern (const char *text)
{
  return strpbrk (text, "*?") != NULL;
}

gboolean
tool_pattern_matches (const char *pattern,
                      const char *name)
{
  const char *after_star = NULL, *begin = NULL; /* the text after the match of the last * */

  while (*name != '\0')
    {
      if (*pattern == '*')
        {
          after_star = ++pattern;
          begin = name;
        }
      else if (*pattern == '?')
        {
          pattern++;
          name += tool_measure_character (name);
        }
      else if (*pattern == *name)
        {
          pattern++;
          name++;
        }
      else if (after_star != NULL)
        {
          begin += tool_measure_character (begin);
          pattern = after_star;
          name = begin;
        }
      else
        return FALSE;
    }

  while (*pattern == '*')
    pattern++;
  return *pattern == '\0';
}
