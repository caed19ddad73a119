/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The processes that call an object: those of this user may, and others may not. Used in one main
 * context. */
typedef struct _MtlDBusCallers MtlDBusCallers;

/* A structure for a call that is waiting begins with this one. */
typedef struct _MtlDBusCall MtlDBusCall;

struct _MtlDBusCall
{
  MtlDBusCall *next;
  GDBusMethodInvocation *invocation;
};

/* Without an error, the caller may call. Takes the error. */
typedef void (* MtlDBusCheckedFunc) (MtlDBusCall *call,
                                     GError      *error);

/* Calls in their order; all zeros is none. */
typedef struct
{
  MtlDBusCall *first;
  MtlDBusCall *last;
} MtlDBusCalls;

static inline void
mtl_dbus_calls_append (MtlDBusCalls *self,
                       MtlDBusCall  *call)
{
  if (self->first == NULL)
    self->first = call;
  else
    self->last->next = call;
  self->last = call;
}

static inline MtlDBusCall *
mtl_dbus_calls_take_first (MtlDBusCalls *self)
{
  MtlDBusCall *call = self->first;

  if (call != NULL)
    self->first = g_steal_pointer (&call->next);
  return call;
}

MtlDBusCallers *mtl_dbus_callers_new   (GDBusConnection     *connection,
                                        GCancellable        *cancellable,
                                        MtlDBusCheckedFunc   checked);
void            mtl_dbus_callers_unref (MtlDBusCallers      *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlDBusCallers, mtl_dbus_callers_unref)

/* The function is called at once, or after the bus was asked. The calls of one caller stay in their
 * order. Somebody else has to hold a reference until then. */
void            mtl_dbus_callers_check (MtlDBusCallers      *self,
                                        MtlDBusCall         *call);

G_END_DECLS
