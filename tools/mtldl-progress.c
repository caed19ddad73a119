/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows the progress of a long operation on standard error. */

#include "mtldl-tool.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_WIDTH 30
#define NARROW 70       /* columns: below this, there is no room for the bar */
#define BAR_PERIOD 100  /* milliseconds */
#define LINE_PERIOD 1000
#define LINE_PERCENT 10 /* the least between two lines */

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

static guint
get_columns (void)
{
  struct winsize size;

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void
show_bar (ToolProgress *self,
          guint         percent,
          const char   *text)
{
  static const char full[BAR_WIDTH + 1] = "##############################";
  int n = percent * BAR_WIDTH / 100;

  if (get_columns () < NARROW)
    fprintf (stderr, "\r%3u %%\033[K", percent);
  else
    fprintf (stderr, "\r[%.*s%*s] %3u %%  %s\033[K", n, full, BAR_WIDTH - n, "", percent, text);
  fflush (stderr);
  self->is_bar_shown = TRUE;
}

static gboolean
is_due (const ToolProgress *self,
        gint64              now,
        goffset             percent)
{
  gint64 period = self->is_terminal ? BAR_PERIOD : LINE_PERIOD;

  return now - self->last_time >= period * 1000
         && (self->is_terminal || percent >= self->last_percent + LINE_PERCENT);
}

/* A #GFileProgressCallback. */
void
tool_progress_update (goffset  current,
                      goffset  total,
                      gpointer user_data)
{
  ToolProgress *self = user_data;
  gint64 now = g_get_monotonic_time ();
  goffset percent = total > 0 ? (goffset) ((double) current / total * 100) : 100;
  g_autofree char *done = NULL;
  g_autofree char *all = NULL;
  g_autofree char *text = NULL;

  if (self->what == NULL || !is_due (self, now, percent))
    return;

  done = tool_format_bytes (current);
  all = tool_format_bytes (total);
  text = g_strdup_printf ("%s: %s of %s", self->what, done, all);
  if (self->is_terminal)
    show_bar (self, percent, text);
  else
    tool_complain ("%s, %u %%", text, (guint) percent);
  self->last_time = now;
  self->last_percent = percent;
}

void
tool_progress_clear (ToolProgress *self)
{
  if (self->is_bar_shown)
    fputs ("\r\033[K", stderr);
  self->is_bar_shown = FALSE;
}
