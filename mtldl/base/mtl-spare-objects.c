/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-spare-objects-private.h"

gpointer
mtl_spare_objects_take (MtlSpareObjects *self,
                        GType            type)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->objects); i++)
    if (g_atomic_pointer_get (&self->objects[i]) != NULL)
      {
        gpointer object = g_atomic_pointer_exchange (&self->objects[i], NULL);

        if (object != NULL)
          return object;
      }

  return g_object_new (type, NULL);
}

void
mtl_spare_objects_give (MtlSpareObjects *self,
                        gpointer         object)
{
  g_signal_handlers_destroy (object); /* finalizing does this, too */
  for (guint i = 0; i < G_N_ELEMENTS (self->objects); i++)
    if (g_atomic_pointer_get (&self->objects[i]) == NULL
        && g_atomic_pointer_compare_and_exchange (&self->objects[i], NULL, object))
      return;

  g_object_unref (object);
}

/* Checks whether the caller has the only reference. Weak references, and anything that a
 * language binding attaches, are in qdata. */
gboolean
mtl_object_is_unattached (gpointer object)
{
  GObject *self = object;

  return g_atomic_int_get ((int *) &self->ref_count) == 1
         && g_atomic_pointer_get (&self->qdata) == NULL;
}
