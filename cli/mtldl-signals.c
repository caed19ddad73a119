/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signals that would end the program while a file is incomplete, which is removed first. */

#include "mtldl-cp.h"

#include <signal.h>

/* SIGXFSZ is ignored everywhere, so that a file that gets too large is an error. */
static const int signals[] = {
  SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2
};

static struct sigaction before[G_N_ELEMENTS (signals)];
static volatile sig_atomic_t caught_signal;

static void
on_signal (int number)
{
  caught_signal = number;
}

/* A second signal ends the program at once. Ignored signals stay ignored, as under nohup. */
void
tool_catch_signals (void)
{
  const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    if (sigaction (signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
      sigaction (signals[i], &action, NULL);
}

int
tool_get_caught_signal (void)
{
  return caught_signal;
}

void
tool_release_signals (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &before[i], NULL);
}
