/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The owner of memory that a device uses in place, until it ends. */
typedef struct _MtlOwner MtlOwner;

struct _MtlOwner
{
  GDestroyNotify destroy;
  gpointer data;
  MtlOwner *next; /* the next owner that waits to be ended */
};

MtlOwner *mtl_owner_new       (gpointer         data,
                               GDestroyNotify   destroy,
                               GError         **error);
void      mtl_owner_free      (MtlOwner        *self);
void      mtl_owner_end       (MtlOwner        *self);
void      mtl_owner_end_later (MtlOwner        *self);

G_END_DECLS
