/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-buffer-private.h"
#include "mtl-element-type-private.h"
#include "mtl-layout-private.h"
#include "mtl-strided-copy-private.h"
#include "mtl-strided-view.h"

G_BEGIN_DECLS

struct _MtlStridedView
{
  GObject parent_instance;

  MtlMemory *memory;
  MtlBuffer *buffer;   /* given by the caller, or created on demand */
  MtlStridedLayout *layout_object; /* the object of the layout below, created on demand */
  gsize byte_offset;   /* the byte offset of element offset 0 in the memory */
  MtlElementType type;
  gboolean read_only;
  int n_users; /* atomic; see MtlViewUse */
  MtlLayout layout;
};

/* A view in use is not closed, and is not used while it is being closed. Code that may
 * take long, or run callbacks, uses its views from beginning to end. */
typedef MtlStridedView MtlViewUse;

#define MTL_VIEW_CLOSING (1 << 30)

void mtl_strided_view_wait_for_close (MtlStridedView *self);

static inline MtlViewUse *
mtl_view_use_begin (MtlStridedView *self)
{
  if (G_UNLIKELY (g_atomic_int_add (&self->n_users, 1) & MTL_VIEW_CLOSING))
    mtl_strided_view_wait_for_close (self);

  return self;
}

static inline void
mtl_view_use_end (MtlViewUse *self)
{
  g_atomic_int_add (&self->n_users, -1);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlViewUse, mtl_view_use_end)

/* Uses the view until the end of the block. */
#define MTL_USE_VIEW(view) \
  g_autoptr (MtlViewUse) G_PASTE (use_of_, view) G_GNUC_UNUSED = mtl_view_use_begin (view)

/* All of these take the layout, the last one on failure too; the first one also
 * takes the memory. The second one shares everything else with self, the third one all
 * but the type and the place of element offset 0. */
MtlStridedView *mtl_strided_view_new_take (MtlMemory      *memory,
                                           gsize           byte_offset,
                                           MtlElementType  type,
                                           MtlLayout      *layout);
MtlStridedView *mtl_strided_view_derive   (MtlStridedView *self,
                                           MtlLayout      *layout);
MtlStridedView *mtl_strided_view_derive_as (MtlStridedView *self,
                                            gsize           byte_offset,
                                            MtlElementType  type,
                                            MtlLayout      *layout);
MtlStridedView *mtl_strided_view_new_dense (MtlDevice       *device,
                                            MtlStorageMode   mode,
                                            MtlElementType   type,
                                            MtlLayout       *layout,
                                            gboolean         zeroed,
                                            GError         **error);

MtlStridedView *mtl_strided_view_copy_monitored (MtlStridedView    *self,
                                                 MtlOrder           order,
                                                 const MtlMonitor  *monitor,
                                                 GError           **error);
GBytes         *mtl_strided_view_dup_bytes_monitored (MtlStridedView    *self,
                                                      const MtlMonitor  *monitor,
                                                      GError           **error);
MtlStridedView *mtl_strided_view_copy_to (MtlStridedView    *self,
                                          MtlDevice         *device,
                                          MtlStorageMode     mode,
                                          MtlElementType     type,
                                          MtlOrder           order,
                                          const MtlMonitor  *monitor,
                                          GError           **error);

/* The public functions of these names, with a monitor for cancellation and
 * progress. */
gboolean mtl_strided_view_fill_monitored        (MtlStridedView    *self,
                                                 GBytes            *element,
                                                 const MtlMonitor  *monitor,
                                                 GError           **error);
gboolean mtl_strided_view_fill_double_monitored (MtlStridedView    *self,
                                                 double             value,
                                                 const MtlMonitor  *monitor,
                                                 GError           **error);
gboolean mtl_strided_view_copy_from_monitored   (MtlStridedView    *self,
                                                 MtlStridedView    *source,
                                                 const MtlMonitor  *monitor,
                                                 GError           **error);
gboolean mtl_strided_view_copy_scaled_from_monitored (MtlStridedView    *self,
                                                      MtlStridedView    *source,
                                                      double             scale,
                                                      double             offset,
                                                      const MtlMonitor  *monitor,
                                                      GError           **error);
MtlStridedView *mtl_strided_view_to_contiguous_monitored (MtlStridedView    *self,
                                                          const MtlMonitor  *monitor,
                                                          GError           **error);
MtlStridedView *mtl_strided_view_to_dtype_monitored      (MtlStridedView    *self,
                                                          MtlDType           dtype,
                                                          MtlOrder           order,
                                                          const MtlMonitor  *monitor,
                                                          GError           **error);
MtlStridedView *mtl_strided_view_to_device_monitored     (MtlStridedView    *self,
                                                          MtlDevice         *device,
                                                          MtlStorageMode     storage_mode,
                                                          const MtlMonitor  *monitor,
                                                          GError           **error);

/* Shared by getters and properties. */
MtlBuffer        *mtl_strided_view_ensure_buffer        (MtlStridedView *self);
gsize             mtl_strided_view_get_offset_in_buffer (MtlStridedView *self);
MtlStridedLayout *mtl_strided_view_ensure_layout        (MtlStridedView *self);

gboolean mtl_strided_view_check_writable (MtlStridedView  *self,
                                          GError         **error);

/* The data is NULL if the host cannot access the memory. */
static inline MtlStrided
mtl_strided_view_get_strided (MtlStridedView *self)
{
  guint8 *contents = self->memory->contents;

  return (MtlStrided) {
    .type = self->type,
    .layout = &self->layout,
    .data = contents != NULL ? contents + self->byte_offset : NULL,
  };
}

G_END_DECLS
