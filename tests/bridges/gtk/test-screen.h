/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gtk/gtk.h>

#include <glib-unix.h>
#include <stdio.h>
#include <unistd.h>

/* Ends with its last client. */
static inline gboolean
start_screen (void)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
    G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr (GSubprocess) server = NULL;
  g_autoptr (GError) error = NULL;
  char display[16] = ":";
  int ends[2];
  FILE *file;

  g_assert_true (g_unix_open_pipe (ends, FD_CLOEXEC, &error));
  g_subprocess_launcher_take_fd (launcher, ends[1], 3);
  server = g_subprocess_launcher_spawn (launcher, &error, "Xvfb", "-displayfd", "3", "-nolisten",
                                        "tcp", "-terminate", "-screen", "0", "400x300x24", NULL);
  if (server == NULL)
    {
      g_test_message ("%s", error->message);
      close (ends[0]);
      return FALSE;
    }

  g_subprocess_launcher_close (launcher);
  file = fdopen (ends[0], "r");
  g_assert_nonnull (fgets (display + 1, sizeof display - 1, file));
  fclose (file);
  g_setenv ("DISPLAY", g_strchomp (display), TRUE);
  g_setenv ("GDK_BACKEND", "x11", TRUE);
  g_setenv ("GTK_A11Y", "none", TRUE);
  g_setenv ("GSETTINGS_BACKEND", "memory", TRUE);
  g_setenv ("MESA_SHADER_CACHE_DISABLE", "true", TRUE);
  return gtk_init_check ();
}
