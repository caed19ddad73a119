/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device-private.h"
#include "mtl-dlpack-abi-private.h"
#include "mtl-file-mapping-private.h"
#include "mtl-shared-pages-private.h"

G_BEGIN_DECLS

/* A block of memory with an atomic reference count. Buffers, views and DLPack
 * exports each hold a reference. It is not a GObject, so that an import needs
 * no GObject except its view.
 *
 * All fields except the device of imported memory, and what says who uses the
 * memory, are constant. */
typedef struct
{
  int ref_count; /* atomic */
  gint32 device_type;    /* DLPack's number, even without a name here */
  gint32 device_ordinal;
  MtlDevice *device;     /* looked up on demand for imported memory */
  MtlStorageMode storage_mode;
  guint read_only : 1;
  guint size_known : 1;  /* otherwise size is the part that is known to exist */
  guint allocated : 1;   /* the device allocated it, and has to free it */
  guint is_wrapped_handle : 1; /* the device has to unwrap the handle */
  guint counted : 1;     /* the size is part of the allocated size */
  guint is_static : 1;   /* it has no reference count */
  guint has_immortal_device : 1; /* no reference to the device is held */
  guint is_mapped_file : 1;
  guint is_shared : 1;   /* other processes can map it: the owner is an MtlSharedUse */
  int n_works;           /* atomic: how often queued work got to write to memory that the host reaches */
  int n_awaited;         /* atomic: those that the host has waited for */
  MtlDeviceUses uses;
  guint64 home_stream;   /* used by the library that the memory came from, or 0 */
  gsize size;
  gpointer handle;       /* the device's handle */
  guint8 *contents;      /* the host address, or NULL */
  GDestroyNotify destroy;
  gpointer owner;
} MtlMemory;

MtlMemory *mtl_memory_get_empty   (void);
MtlMemory *mtl_memory_new         (MtlDevice       *device,
                                   guint64          size,
                                   MtlStorageMode   mode,
                                   gboolean         zeroed,
                                   GError         **error);
MtlMemory *mtl_memory_new_wrapped (MtlDevice       *device,
                                   gpointer         data,
                                   gsize            size,
                                   MtlBufferFlags   flags,
                                   gpointer         owner,
                                   GDestroyNotify   destroy,
                                   GError         **error);
MtlMemory *mtl_memory_new_for_handle (MtlDevice       *device,
                                      gpointer         handle,
                                      gsize            size,
                                      gpointer         owner,
                                      GDestroyNotify   destroy,
                                      GError         **error);
MtlMemory *mtl_memory_new_for_mapping (MtlFileMapping  *mapping,
                                       MtlDevice       *device,
                                       GError         **error);
/* A range of a file that other processes share, within the mapping. Once the memory is no longer
 * used, the release is closed, which may be -1, and the callback is called, which may be NULL. */
MtlMemory *mtl_memory_new_for_pages   (MtlSharedPages  *pages,
                                       guint64          offset,
                                       gsize            size,
                                       gboolean         read_only,
                                       int              release,
                                       GDestroyNotify   ended,
                                       gpointer         data);
MtlMemory *mtl_memory_new_imported (gint32           device_type,
                                    gint32           device_ordinal,
                                    gpointer         handle,
                                    gsize            size,
                                    gboolean         size_known,
                                    gboolean         read_only,
                                    gpointer         owner,
                                    GDestroyNotify   destroy);
MtlMemory *mtl_memory_new_for_host (gpointer         data,
                                    gsize            size,
                                    gboolean         read_only,
                                    gpointer         owner,
                                    GDestroyNotify   destroy,
                                    GError         **error);
gboolean   mtl_memory_imports_metal      (void);
MtlMemory *mtl_memory_new_imported_metal (gpointer         handle,
                                          gsize            needed_size,
                                          gboolean         read_only,
                                          gpointer         owner,
                                          GDestroyNotify   destroy,
                                          GError         **error);
/* Memory of CUDA, by the address of its first byte. The owner is only taken on success. */
gboolean   mtl_memory_imports_cuda      (gint32           device_type);
MtlMemory *mtl_memory_new_imported_cuda (gint32           device_type,
                                         gint32           device_ordinal,
                                         gpointer         address,
                                         gsize            size,
                                         gboolean         read_only,
                                         gpointer         owner,
                                         GDestroyNotify   destroy,
                                         GError         **error);
/* Makes the size a part of the allocated size. */
void       mtl_memory_count       (MtlMemory       *self);
void       mtl_memory_free        (MtlMemory       *self);
MtlDevice *mtl_memory_get_device  (MtlMemory       *self);
/* The device and the mode of a copy: the same as here, or the host if nothing
 * can be allocated there. */
MtlDevice *mtl_memory_get_copy_device (MtlMemory       *self,
                                       MtlStorageMode  *mode);
/* Prepares for an access by the host. */
gboolean   mtl_memory_check_host_accessible (MtlMemory  *self,
                                             GError    **error);
gboolean   mtl_memory_synchronize  (MtlMemory       *self,
                                    GError         **error);

/* Waits for work of others that may write to memory that the host reaches. */
gboolean   mtl_memory_cool_down    (MtlMemory       *self,
                                    GError         **error);

/* The device if it can work on the elements, and the host cannot; otherwise NULL. */
MtlDevice *mtl_memory_get_engine  (MtlMemory       *self);

/* Checks that the host or the memory's device can copy it. */
gboolean   mtl_memory_check_reachable (MtlMemory  *self,
                                       GError    **error);

/* The ranges are not empty, lie within the memory, and may overlap. */
gboolean   mtl_memory_copy (MtlMemory     *self,
                            gsize          offset,
                            MtlMemory     *source,
                            gsize          source_offset,
                            gsize          size,
                            GCancellable  *cancellable,
                            GError       **error);
gboolean   mtl_memory_fill (MtlMemory      *self,
                            gsize           offset,
                            gsize           size,
                            gconstpointer   pattern,
                            gsize           pattern_size,
                            GError        **error);

/* A use of pages that processes share. */
typedef struct
{
  MtlSharedPages *pages;
  int release; /* tells the owner of the pages when nobody has it any more; -1 if there is none */
  GDestroyNotify ended;
  gpointer data;
} MtlSharedUse;

/* Returns NULL if other processes cannot map the memory. */
static inline MtlSharedPages *
mtl_memory_get_shared_pages (MtlMemory *self)
{
  return self->is_shared ? ((MtlSharedUse *) self->owner)->pages : NULL;
}

static inline int
mtl_memory_get_release (MtlMemory *self)
{
  return self->is_shared ? ((MtlSharedUse *) self->owner)->release : -1;
}

/* Gets the offset of the memory in the file of its shared pages. */
static inline guint64
mtl_memory_get_offset_in_file (MtlMemory *self)
{
  MtlSharedPages *pages = mtl_memory_get_shared_pages (self);

  return pages->offset + (self->contents - pages->pages);
}

static inline MtlMemory *
mtl_memory_ref (MtlMemory *self)
{
  if (!self->is_static)
    g_atomic_int_inc (&self->ref_count);

  return self;
}

static inline void
mtl_memory_unref (MtlMemory *self)
{
  if (!self->is_static && g_atomic_int_dec_and_test (&self->ref_count))
    mtl_memory_free (self);
}

static inline gboolean
mtl_memory_is_host_accessible (MtlMemory *self)
{
  /* Empty memory may have no address. */
  return self->contents != NULL
         || (self->size == 0 && mtl_dl_device_is_host_accessible (self->device_type));
}

/* Remembers that work of the memory's device uses it. */
static inline void
mtl_memory_note_work (MtlMemory *self)
{
  g_atomic_int_set (&self->uses.is_queued, TRUE);
}

/* Called after a device has queued work on the memory. If the host reaches the memory, the work is
 * over then, unless it is in a stream that the caller has pushed. */
gboolean   mtl_memory_end_work (MtlMemory  *self,
                                MtlDevice  *device,
                                GError    **error);

/* Checks if queued work may still write to memory that the host reaches. */
static inline gboolean
mtl_memory_is_hot (MtlMemory *self)
{
  return g_atomic_int_get (&self->n_works) != g_atomic_int_get (&self->n_awaited);
}

/* Called before the host reads or writes the memory. */
static inline gboolean
mtl_memory_begin_access (MtlMemory  *self,
                         GError    **error)
{
  return G_LIKELY (!mtl_memory_is_hot (self)) || mtl_memory_cool_down (self, error);
}

/* Called before a device, whose work is in order with its own, reads or writes the memory. */
static inline gboolean
mtl_memory_begin_access_by (MtlMemory  *self,
                            MtlDevice  *device,
                            GError    **error)
{
  return self->device == device || mtl_memory_begin_access (self, error);
}

/* The address that the memory starts at, or 0 if it has only a handle. */
static inline guint64
mtl_memory_get_address (MtlMemory *self)
{
  if (self->contents != NULL)
    return (guintptr) self->contents;

  return mtl_dl_device_has_addresses (self->device_type) ? (guintptr) self->handle : 0;
}

/* Returns FALSE and does nothing if this is the last reference, as freeing the memory
 * may run an owner's code. */
static inline gboolean
mtl_memory_unref_unless_last (MtlMemory *self)
{
  int count = g_atomic_int_get (&self->ref_count);

  if (self->is_static)
    return TRUE;

  while (count > 1)
    if (g_atomic_int_compare_and_exchange_full (&self->ref_count, count, count - 1, &count))
      return TRUE;

  return FALSE;
}

/* Reports the host's writes to the device, if the device has a separate copy. */
static inline void
mtl_memory_did_modify (MtlMemory *self,
                       gsize      offset,
                       gsize      size)
{
  if (self->storage_mode == MTL_STORAGE_MODE_MANAGED)
    MTL_DEVICE_GET_CLASS (self->device)->did_modify (self->device, self->handle,
                                                     self->storage_mode, offset, size);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlMemory, mtl_memory_unref)

G_END_DECLS
