/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The owner of memory that Metal uses in place, until it ends. */
typedef struct _MtlMetalOwner MtlMetalOwner;

struct _MtlMetalOwner
{
  GDestroyNotify destroy;
  gpointer data;
  MtlMetalOwner *next; /* the next owner that waits to be ended */
};

MtlMetalOwner *mtl_metal_owner_new       (gpointer         data,
                                          GDestroyNotify   destroy,
                                          GError         **error);
void           mtl_metal_owner_free      (MtlMetalOwner   *self);
void           mtl_metal_owner_end       (MtlMetalOwner   *self);
void           mtl_metal_owner_end_later (MtlMetalOwner   *self);

G_END_DECLS
