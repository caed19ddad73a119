/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows the progress of a long operation on standard error. */

#include "mtldl-tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 30
#define NARROW 75      /* columns: below this, there is no room for the bar */
#define BAR_PERIOD 100 /* milliseconds */
#define LARGE (64 << 20) /* bytes: the disk takes a while for more */

void
tool_progress_init (ToolProgress *self,
                    const char   *what)
{
  *self = (ToolProgress) {
    .what = what,
    .last_time = g_get_monotonic_time (),
    .is_terminal = isatty (STDERR_FILENO),
  };
}

static void
show_bar (ToolProgress *self,
          guint         percent,
          const char   *text)
{
  static const char full[BAR_WIDTH + 1] = "##############################";
  const guint columns = tool_get_columns (STDERR_FILENO);
  int n = percent * BAR_WIDTH / 100;

  if (columns < strlen (text) + 8)
    fprintf (stderr, "\r%3u %%\033[K", percent);
  else if (columns < NARROW)
    fprintf (stderr, "\r%3u %%  %s\033[K", percent, text);
  else
    fprintf (stderr, "\r[%.*s%*s] %3u %%  %s\033[K", n, full, BAR_WIDTH - n, "", percent, text);
  fflush (stderr);
  self->is_bar_shown = TRUE;
}

/* The end is shown at once, as nothing follows for a while. */
static gboolean
is_due (const ToolProgress *self,
        gboolean            is_end,
        goffset             total)
{
  gint64 passed = g_get_monotonic_time () - self->last_time;

  if (self->what == NULL || !self->is_terminal)
    return FALSE;
  if (is_end && self->at_end != NULL)
    return self->is_bar_shown || total >= LARGE;

  return passed >= BAR_PERIOD * 1000;
}

/* A #GFileProgressCallback. */
void
tool_progress_update (goffset  current,
                      goffset  total,
                      gpointer user_data)
{
  ToolProgress *self = user_data;
  gboolean is_end = current >= total;
  guint percent = total > 0 ? (guint) ((double) current / total * 100) : 100;
  g_autofree char *done = NULL;
  g_autofree char *all = NULL;
  g_autofree char *text = NULL;

  if (!is_due (self, is_end, total))
    return;

  done = tool_format_bytes (current);
  all = tool_format_bytes (total);
  text = is_end && self->at_end != NULL
           ? g_strdup_printf ("%s: %s", self->what, self->at_end)
           : g_strdup_printf (_("%s: %s of %s"), self->what, done, all);
  show_bar (self, percent, text);
  self->last_time = g_get_monotonic_time ();
}

void
tool_progress_clear (ToolProgress *self)
{
  if (self->is_bar_shown)
    fputs ("\r\033[K", stderr);
  self->is_bar_shown = FALSE;
}
