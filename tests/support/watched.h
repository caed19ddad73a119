/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib-object.h>

/* Counts, for g_object_weak_ref(), the objects that are finalized, and notes if another thread does
 * it. */
typedef struct
{
  GThread *thread;
  guint n_finalized; /* atomic */
  gboolean elsewhere; /* atomic */
} Watched;

static void
on_finalized (gpointer  data,
              GObject  *object)
{
  Watched *self = data;

  if (g_thread_self () != self->thread)
    g_atomic_int_set (&self->elsewhere, TRUE);
  g_atomic_int_inc (&self->n_finalized);
}
