/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* To make and end a GObject takes several times what an operation computes. Of
 * each class whose objects come and go, a few wait here for the next that is
 * made: one variable for a class, of zeros at first, for all threads. */
typedef struct
{
  gpointer objects[4]; /* atomic */
} MtlSpareObjects;

/* A new object of the type, or one that was given. */
gpointer mtl_spare_objects_take      (MtlSpareObjects *self,
                                      GType            type);

/* Takes an unattached object that is as a new one would be. */
void     mtl_spare_objects_give      (MtlSpareObjects *self,
                                      gpointer         object);

gboolean mtl_object_is_unattached    (gpointer         object);

G_END_DECLS
