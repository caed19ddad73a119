/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-shared-text-private.h"

#include <string.h>

#include "mtl-error-private.h"

typedef struct
{
  gatomicrefcount n_refs;
  char text[];
} SharedText;

static SharedText *
get_shared (char *text)
{
  return (gpointer) (text - G_STRUCT_OFFSET (SharedText, text));
}

char *
mtl_shared_text_new (const char  *text,
                     GError     **error)
{
  gsize size = strlen (text) + 1;
  SharedText *self = g_try_malloc (sizeof *self + size);

  if (self == NULL)
    {
      mtl_set_no_memory (sizeof *self + size, error);
      return NULL;
    }

  g_atomic_ref_count_init (&self->n_refs);
  memcpy (self->text, text, size);
  return self->text;
}

char *
mtl_shared_text_ref (char *text)
{
  g_atomic_ref_count_inc (&get_shared (text)->n_refs);
  return text;
}

void
mtl_shared_text_unref (char *text)
{
  if (g_atomic_ref_count_dec (&get_shared (text)->n_refs))
    g_free (get_shared (text));
}
