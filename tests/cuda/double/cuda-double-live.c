/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The objects that are alive. */

#include "cuda-double-private.h"

#include <stdio.h>
#include <string.h>

size_t cd_live[CD_N_LIVE];

static const char *const names[CD_N_LIVE] = {
  [CD_LIVE_STREAM] = "stream",
  [CD_LIVE_EVENT] = "event",
  [CD_LIVE_MODULE] = "module",
  [CD_LIVE_POOL] = "pool",
  [CD_LIVE_GRAPH] = "graph",
};

static bool
is_asked_for (const char *kind,
              const char *name)
{
  return kind == NULL || strcmp (kind, name) == 0;
}

size_t
cuda_double_live (const char *kind)
{
  size_t n = 0;

  pthread_mutex_lock (&cd_lock);
  for (unsigned i = 0; i < CD_N_MEMORY_KINDS; i++)
    if (is_asked_for (kind, cd_memory_kind_names[i]))
      n += cd_live_memory[i];
  for (unsigned i = 0; i < CD_N_LIVE; i++)
    if (is_asked_for (kind, names[i]))
      n += cd_live[i];
  pthread_mutex_unlock (&cd_lock);

  return n;
}

uint64_t
cuda_double_live_bytes (const char *kind)
{
  uint64_t n = 0;

  pthread_mutex_lock (&cd_lock);
  for (unsigned i = 0; i < CD_N_MEMORY_KINDS; i++)
    if (is_asked_for (kind, cd_memory_kind_names[i]))
      n += cd_live_memory_bytes[i];
  pthread_mutex_unlock (&cd_lock);

  return n;
}

void
cuda_double_list_live (void)
{
  pthread_mutex_lock (&cd_lock);
  cd_memory_list ();
  for (unsigned i = 0; i < CD_N_LIVE; i++)
    if (cd_live[i] > 0)
      fprintf (stderr, "cuda-double: alive: %s, %zu times\n", names[i], cd_live[i]);
  pthread_mutex_unlock (&cd_lock);
}
