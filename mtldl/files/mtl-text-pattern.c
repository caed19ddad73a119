/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-text-pattern-private.h"

/* What a * stands for is made longer only for the last one seen: whatever those before
 * it stand for, they leave no more to the rest than their shortest. */
gboolean
mtl_text_matches (const char *text,
                  const char *pattern)
{
  const char *after_star = NULL, *star_end = NULL;

  if (pattern == NULL)
    return TRUE;

  while (*text != '\0' || *pattern != '\0')
    if (*pattern == '*')
      {
        after_star = ++pattern;
        star_end = text;
      }
    else if (*text != '\0' && *pattern == '?')
      {
        text = g_utf8_next_char (text);
        pattern++;
      }
    else if (*text != '\0' && *pattern == *text)
      {
        text++;
        pattern++;
      }
    else if (star_end != NULL && *star_end != '\0')
      {
        text = star_end = g_utf8_next_char (star_end);
        pattern = after_star;
      }
    else
      return FALSE;

  return TRUE;
}
