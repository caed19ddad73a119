/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Violations, and the lock. */

#include "cuda-double-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t cd_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cd_changed = PTHREAD_COND_INITIALIZER;
__thread const char *cd_function = "?";

/* Violations are told from anywhere, so they have a lock of their own. */
static pthread_mutex_t violation_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_violation[256];
static unsigned n_violations;
static bool aborting = true;

CuResult
cd_violation (CuResult    code,
              const char *format,
              ...)
{
  va_list args;
  size_t n;

  pthread_mutex_lock (&violation_lock);
  n = (size_t) snprintf (last_violation, sizeof last_violation, "%s: ", cd_function);
  if (n >= sizeof last_violation)
    n = sizeof last_violation - 1;
  va_start (args, format);
  vsnprintf (last_violation + n, sizeof last_violation - n, format, args);
  va_end (args);
  n_violations++;
  fprintf (stderr, "cuda-double: VIOLATION: %s\n", last_violation);
  if (aborting)
    abort ();
  pthread_mutex_unlock (&violation_lock);

  return code;
}

unsigned
cuda_double_violations (void)
{
  unsigned n;

  pthread_mutex_lock (&violation_lock);
  n = n_violations;
  pthread_mutex_unlock (&violation_lock);

  return n;
}

const char *
cuda_double_last_violation (void)
{
  static __thread char copy[sizeof last_violation];

  pthread_mutex_lock (&violation_lock);
  memcpy (copy, last_violation, sizeof copy);
  pthread_mutex_unlock (&violation_lock);

  return copy;
}

void
cuda_double_set_abort (bool abort_on_violation)
{
  pthread_mutex_lock (&violation_lock);
  aborting = abort_on_violation;
  pthread_mutex_unlock (&violation_lock);
}

void *
cd_allocate (size_t size)
{
  void *memory = calloc (1, size);

  if (memory == NULL)
    abort ();

  return memory;
}

static void
lock_all (void)
{
  pthread_mutex_lock (&cd_lock);
  pthread_mutex_lock (&violation_lock);
}

static void
unlock_all (void)
{
  pthread_mutex_unlock (&violation_lock);
  pthread_mutex_unlock (&cd_lock);
}

/* A child must find no lock held by a thread that it does not have. */
void
cd_violation_atfork (void)
{
  pthread_atfork (lock_all, unlock_all, unlock_all);
}
