/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rules FROM=TO, where * matches the same text on both sides. */

#include "mtldl-cp.h"

#include <string.h>

static gsize
count_stars (const char *text)
{
  gsize n = 0;

  for (; *text != '\0'; text++)
    n += *text == '*';
  return n;
}

gboolean
tool_rename_init (ToolRename *self,
                  const char *rule)
{
  const char *equals = strchr (rule, '=');
  gsize n_from, n_to;

  if (equals == NULL)
    return FALSE;

  self->from = g_strndup (rule, equals - rule);
  self->to = g_strdup (equals + 1);
  n_from = count_stars (self->from);
  n_to = count_stars (self->to);
  return n_from <= 1 && n_to <= n_from;
}

void
tool_rename_clear (ToolRename *self)
{
  g_free (self->from);
  g_free (self->to);
}

/* Returns NULL if the rule does not match the name. */
char *
tool_rename_apply (const ToolRename *self,
                   const char       *name)
{
  const char *from_star = strchr (self->from, '*');
  const char *to_star = strchr (self->to, '*');
  gsize head, tail, length = strlen (name);

  if (from_star == NULL)
    return g_str_equal (name, self->from) ? g_strdup (self->to) : NULL;

  head = from_star - self->from;
  tail = strlen (from_star + 1);
  if (length < head + tail || strncmp (name, self->from, head) != 0
      || strcmp (name + length - tail, from_star + 1) != 0)
    return NULL;

  if (to_star == NULL)
    return g_strdup (self->to);

  return g_strdup_printf ("%.*s%.*s%s", (int) (to_star - self->to), self->to,
                          (int) (length - head - tail), name + head, to_star + 1);
}
