/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dbus-callers-private.h"
#include "mtl-exported-tensor.h"
#include "mtl-fork-private.h"

G_BEGIN_DECLS

/* A place on a connection. */
typedef struct
{
  int ref_count; /* atomic */
  MtlExportedTensor *tensor;
  GDBusConnection *connection;
  char *object_path;
  guint registration;
  gulong closed_handler;
  GCancellable *ended;
  MtlDBusCallers *callers;
} MtlTensorExport;

struct _MtlExportedTensor
{
  GObject parent_instance;

  MtlTensorPeerFlags flags;
  int n_calls; /* atomic: those that are not answered yet */

  MtlForkLock lock; /* protects the fields below */
  MtlStridedView *view;
  gboolean writable;
  MtlStridedView *copy; /* a copy of the view for messages, or NULL */
  guint64 serial;       /* grows with each change, after which there is no copy */
  GPtrArray *exports;
  MtlDBusCalls calls;   /* those that are answered one after another */
  gboolean is_answering;
};

MtlTensorExport *mtl_tensor_export_new   (MtlExportedTensor  *tensor,
                                          GDBusConnection    *connection,
                                          const char         *object_path);
void             mtl_tensor_export_unref (gpointer            self);

static inline MtlTensorExport *
mtl_tensor_export_ref (MtlTensorExport *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorExport, mtl_tensor_export_unref)

/* Makes other processes' calls come in. */
gboolean mtl_tensor_export_register             (MtlTensorExport    *self,
                                                 GError            **error);

/* Called with the lock of the tensor. */
gboolean mtl_exported_tensor_check_region       (MtlExportedTensor  *self,
                                                 const char         *region,
                                                 GError            **error);
void     mtl_exported_tensor_note_change        (MtlExportedTensor  *self,
                                                 const char         *region);
void     mtl_exported_tensor_note_properties    (MtlExportedTensor  *self);

G_END_DECLS
