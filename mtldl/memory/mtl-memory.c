/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-memory-private.h"

#include <string.h>

#include "mtl-allocated-size-private.h"
#include "mtl-cuda-device-private.h"
#include "mtl-dlpack-abi-private.h"
#include "mtl-enum-types.h"
#include "mtl-error.h"
#include "mtl-foreign-device-private.h"
#include "mtl-fork-private.h"
#include "mtl-metal-device-private.h"

/* calloc() would bypass the blocks that glibc keeps for each thread. */
static MtlMemory *
memory_alloc (void)
{
  MtlMemory *self = g_new (MtlMemory, 1);

  *self = (MtlMemory) { .ref_count = 1 };
  return self;
}

/* CUDA's pinned and managed memory has a device of its own in DLPack. */
static void
set_device (MtlMemory      *self,
            MtlDevice      *device,
            MtlStorageMode  mode)
{
  self->device = device;
  self->device_type = mtl_device_get_device_type (device);
  self->device_ordinal = mtl_device_get_ordinal (device);
  self->storage_mode = mode;
  if (self->device_type == MTL_DEVICE_TYPE_CUDA && mode != MTL_STORAGE_MODE_PRIVATE)
    {
      self->device_type = mode == MTL_STORAGE_MODE_MANAGED ? MTL_DEVICE_TYPE_CUDA_MANAGED
                                                           : MTL_DEVICE_TYPE_CUDA_HOST;
      self->device_ordinal = 0;
    }
}

static MtlMemory *
memory_alloc_for_device (MtlDevice      *device,
                         MtlStorageMode  mode)
{
  MtlMemory *self = memory_alloc ();

  self->size_known = TRUE;
  set_device (self, g_object_ref (device), mode);
  return self;
}

/* The memory of an object that was created without any, as by a bare
 * g_object_new(). */
MtlMemory *
mtl_memory_get_empty (void)
{
  static MtlForkOnce once;
  static MtlMemory *empty;

  if (mtl_fork_once_enter (&once))
    {
      empty = memory_alloc_for_device (mtl_device_get_host (), MTL_STORAGE_MODE_HOST);
      empty->is_static = TRUE;
      mtl_fork_once_leave (&once);
    }

  return empty;
}

static gboolean
check_size (MtlDevice  *device,
            guint64     size,
            GError    **error)
{
  guint64 limit = MIN (mtl_device_get_max_buffer_size (device), G_MAXSSIZE);

  if (size <= limit)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
               "%" G_GUINT64_FORMAT " bytes exceed the limit of %" G_GUINT64_FORMAT " of “%s”",
               size, limit, mtl_device_get_name (device));
  return FALSE;
}

static gboolean
check_mode (MtlDevice       *device,
            MtlStorageMode   mode,
            GError         **error)
{
  g_autoptr (GEnumClass) modes = NULL;
  const GEnumValue *value;

  if (mtl_device_supports_storage_mode (device, mode))
    return TRUE;

  modes = g_type_class_ref (MTL_TYPE_STORAGE_MODE);
  value = g_enum_get_value (modes, mode);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "“%s” does not support the storage mode “%s” (%d)", mtl_device_get_name (device),
               value != NULL ? value->value_nick : "?", mode);
  return FALSE;
}

void
mtl_memory_count (MtlMemory *self)
{
  self->counted = TRUE;
  mtl_allocated_size_add (self->size);
}

static void
shared_use_free (gpointer data)
{
  MtlSharedUse *self = data;

  mtl_shared_pages_unref (self->pages);
  mtl_clear_fd (&self->release);
  if (self->ended != NULL)
    self->ended (self->data);
  g_free (self);
}

MtlMemory *
mtl_memory_new_for_pages (MtlSharedPages *pages,
                          guint64         offset,
                          gsize           size,
                          gboolean        read_only,
                          int             release,
                          GDestroyNotify  ended,
                          gpointer        data)
{
  MtlMemory *self = memory_alloc_for_device (mtl_device_get_host (), MTL_STORAGE_MODE_HOST);
  MtlSharedUse *use = g_new (MtlSharedUse, 1);

  *use = (MtlSharedUse) { mtl_shared_pages_ref (pages), release, ended, data };
  self->is_shared = TRUE;
  self->read_only = read_only;
  self->size = size;
  self->contents = pages->pages + (offset - pages->offset);
  self->handle = self->contents;
  self->owner = use;
  self->destroy = shared_use_free;
  return self;
}

static MtlMemory *
memory_new_interprocess (gsize    size,
                         GError **error)
{
  g_autoptr (MtlSharedPages) pages = mtl_shared_pages_new (size, error);
  MtlMemory *self;

  if (pages == NULL)
    return NULL;

  self = mtl_memory_new_for_pages (pages, 0, size, FALSE, -1, NULL, NULL);
  mtl_memory_count (self);
  return self;
}

/* NULL is the default device, but host memory is always on the host. */
MtlMemory *
mtl_memory_new (MtlDevice       *device,
                guint64          size,
                MtlStorageMode   mode,
                gboolean         zeroed,
                GError         **error)
{
  MtlMemory *self;
  gpointer handle;

  if (device == NULL)
    device = mode == MTL_STORAGE_MODE_HOST || mode == MTL_STORAGE_MODE_INTERPROCESS
               ? mtl_device_get_host () : mtl_device_get_default ();

  mode = mtl_device_resolve_storage_mode (device, mode);
  if (!check_mode (device, mode, error) || !check_size (device, size, error))
    return NULL;

  if (mode == MTL_STORAGE_MODE_INTERPROCESS)
    return memory_new_interprocess (size, error);

  handle = MTL_DEVICE_GET_CLASS (device)->allocate (device, MAX (size, 1), mode, zeroed, error);
  if (handle == NULL)
    return NULL;

  self = memory_alloc_for_device (device, mode);
  self->allocated = TRUE;
  self->size = size;
  self->handle = handle;
  self->contents = MTL_DEVICE_GET_CLASS (device)->contents (device, handle, mode);
  mtl_memory_count (self);
  return self;
}

static MtlMemory *
memory_new_for_owner (MtlDevice      *device,
                      gpointer        handle,
                      gsize           size,
                      MtlStorageMode  mode,
                      gpointer        owner,
                      GDestroyNotify  destroy)
{
  MtlMemory *self = memory_alloc_for_device (device, mode);

  self->size = size;
  self->handle = handle;
  self->contents = MTL_DEVICE_GET_CLASS (device)->contents (device, handle, self->storage_mode);
  self->destroy = destroy;
  self->owner = owner;
  return self;
}

/* No object in memory can be larger, or lie around the end of the address space, as at the
 * address that mmap() returns on failure. The address is NULL if it is none. */
static gboolean
check_address_range (gconstpointer   address,
                     gsize           size,
                     GError        **error)
{
  guintptr end;

  if (size > G_MAXSSIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GSIZE_FORMAT " bytes exceed the limit of %" G_GSSIZE_FORMAT,
                   size, G_MAXSSIZE);
      return FALSE;
    }

  if (size > 0 && __builtin_add_overflow ((guintptr) address, size, &end))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                   "%" G_GSIZE_FORMAT " bytes at address %p exceed the address space, which ends"
                   " at %p", size, address, (gpointer) G_MAXSIZE);
      return FALSE;
    }

  return TRUE;
}

/* Copies host memory for a device that cannot use it in place. */
static MtlMemory *
memory_new_for_copy (MtlDevice      *device,
                     gconstpointer   data,
                     gsize           size,
                     GError        **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);
  g_autoptr (MtlMemory) self = mtl_memory_new (device, size, MTL_STORAGE_MODE_DEFAULT, FALSE,
                                               error);

  if (self == NULL || size == 0)
    return g_steal_pointer (&self);

  if (self->contents != NULL)
    {
      memcpy (self->contents, data, size);
      mtl_memory_did_modify (self, 0, size);
      return g_steal_pointer (&self);
    }

  if (klass->copy == NULL)
    {
      mtl_memory_check_host_accessible (self, error);
      return NULL;
    }

  if (!klass->copy (device, self->handle, self->storage_mode, 0, (gpointer) data,
                    MTL_STORAGE_MODE_HOST, 0, size, NULL, error))
    return NULL;

  return g_steal_pointer (&self);
}

/* Host memory that the device uses in place. Fails with NOT_SUPPORTED if it
 * cannot. Takes the owner only on success. */
static MtlMemory *
memory_new_in_place (MtlDevice       *device,
                     gpointer         data,
                     gsize            size,
                     gboolean         is_file,
                     gpointer         owner,
                     GDestroyNotify   destroy,
                     GError         **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);
  MtlStorageMode mode = mtl_device_resolve_storage_mode (device, MTL_STORAGE_MODE_DEFAULT);
  gpointer handle;
  MtlMemory *self;

  if (klass->wrap_memory == NULL && mode == MTL_STORAGE_MODE_HOST)
    return memory_new_for_owner (device, data, size, mode, owner, destroy);

  if (klass->wrap_memory == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” cannot use host memory in place", mtl_device_get_name (device));
      return NULL;
    }

  handle = klass->wrap_memory (device, data, size, is_file, owner, destroy, error);
  if (handle == NULL)
    return NULL;

  self = memory_new_for_owner (device, handle, size, MTL_STORAGE_MODE_SHARED, NULL, NULL);
  self->allocated = TRUE;
  return self;
}

/* Uses the memory in place, or copies it if that is allowed. Then taken is
 * FALSE. */
static MtlMemory *
memory_new_for_data (MtlDevice       *device,
                     gpointer         data,
                     gsize            size,
                     MtlBufferFlags   flags,
                     gboolean         is_file,
                     gpointer         owner,
                     GDestroyNotify   destroy,
                     gboolean        *taken,
                     GError         **error)
{
  g_autoptr (GError) local_error = NULL;
  MtlMemory *self;

  *taken = FALSE;
  if (!check_address_range (data, size, error))
    return NULL;

  if (size > 0)
    {
      self = memory_new_in_place (device, data, size, is_file, owner, destroy, &local_error);
      *taken = self != NULL;
      if (self != NULL)
        return self;

      if (!g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED))
        {
          g_propagate_error (error, g_steal_pointer (&local_error));
          return NULL;
        }

      if (flags & MTL_BUFFER_FLAGS_NEVER_COPY)
        {
          g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY, local_error->message);
          return NULL;
        }
    }

  return memory_new_for_copy (device, data, size, error);
}

static MtlMemory *
memory_new_wrapped (MtlDevice       *device,
                    gpointer         data,
                    gsize            size,
                    MtlBufferFlags   flags,
                    gboolean         is_file,
                    gpointer         owner,
                    GDestroyNotify   destroy,
                    GError         **error)
{
  gboolean taken;
  MtlMemory *self = memory_new_for_data (device, data, size, flags, is_file, owner, destroy,
                                         &taken, error);

  if (self != NULL)
    self->read_only = (flags & MTL_BUFFER_FLAGS_READ_ONLY) != 0;
  if (!taken && destroy != NULL)
    destroy (owner);

  return self;
}

/* Takes the owner, even on failure. If the device cannot use the memory in
 * place, it is copied, and the owner ends at once. */
MtlMemory *
mtl_memory_new_wrapped (MtlDevice       *device,
                        gpointer         data,
                        gsize            size,
                        MtlBufferFlags   flags,
                        gpointer         owner,
                        GDestroyNotify   destroy,
                        GError         **error)
{
  return memory_new_wrapped (device, data, size, flags, FALSE, owner, destroy, error);
}

/* Takes the owner, even on failure. */
MtlMemory *
mtl_memory_new_for_handle (MtlDevice       *device,
                           gpointer         handle,
                           gsize            size,
                           gpointer         owner,
                           GDestroyNotify   destroy,
                           GError         **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);
  MtlStorageMode mode = mtl_device_resolve_storage_mode (device, MTL_STORAGE_MODE_DEFAULT);
  gboolean is_address = mtl_dl_device_has_addresses (mtl_device_get_device_type (device));
  gpointer kept = NULL;
  MtlMemory *self;

  if (check_address_range (is_address ? handle : NULL, size, error))
    {
      if (klass->wrap_handle != NULL)
        kept = klass->wrap_handle (device, handle, size, &mode, error);
      else if (mode == MTL_STORAGE_MODE_HOST)
        kept = handle;
      else
        g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                     "“%s” cannot use existing allocations",
                     mtl_device_get_name (device));
    }

  if (kept == NULL)
    {
      if (destroy != NULL)
        destroy (owner);
      return NULL;
    }

  self = memory_new_for_owner (device, kept, size, mode, owner, destroy);
  self->is_wrapped_handle = klass->unwrap_handle != NULL;
  return self;
}

/* Takes the mapping. As device memory begins with a page, it includes the bytes
 * before the range. */
MtlMemory *
mtl_memory_new_for_mapping (MtlFileMapping  *mapping,
                            MtlDevice       *device,
                            GError         **error)
{
  MtlMemory *self = memory_new_wrapped (device, mapping->pages, mapping->begin + mapping->size,
                                        MTL_BUFFER_FLAGS_READ_ONLY | MTL_BUFFER_FLAGS_NEVER_COPY,
                                        TRUE, mapping, (GDestroyNotify) mtl_file_mapping_free,
                                        error);

  if (self == NULL)
    return NULL;

  /* Set even if the device frees the mapping. */
  self->is_mapped_file = TRUE;
  self->owner = mapping;
  return self;
}

MtlMemory *
mtl_memory_new_imported (gint32           device_type,
                         gint32           device_ordinal,
                         gpointer         handle,
                         gsize            size,
                         gboolean         size_known,
                         gboolean         read_only,
                         gpointer         owner,
                         GDestroyNotify   destroy)
{
  gboolean is_host = device_type == MTL_DEVICE_TYPE_CPU;
  MtlMemory *self = memory_alloc ();

  self->device_type = device_type;
  self->device_ordinal = is_host ? 0 : device_ordinal;
  self->storage_mode = is_host ? MTL_STORAGE_MODE_HOST : MTL_STORAGE_MODE_FOREIGN;
  self->read_only = read_only;
  self->size_known = size_known;
  self->size = size;
  self->handle = handle;
  self->contents = mtl_dl_device_is_host_accessible (device_type) ? handle : NULL;
  self->destroy = destroy;
  self->owner = owner;
  return self;
}

/* Host memory of the caller. Takes the owner only on success. */
MtlMemory *
mtl_memory_new_for_host (gpointer         data,
                         gsize            size,
                         gboolean         read_only,
                         gpointer         owner,
                         GDestroyNotify   destroy,
                         GError         **error)
{
  if (!check_address_range (data, size, error))
    return NULL;

  return mtl_memory_new_imported (MTL_DEVICE_TYPE_CPU, 0, data, size, TRUE, read_only, owner,
                                  destroy);
}

/* Metal's tensors are foreign like any others if there is no Metal device. */
gboolean
mtl_memory_imports_metal (void)
{
  GPtrArray *devices = mtl_metal_device_get_all ();

  return devices != NULL && devices->len > 0;
}

/* A whole id<MTLBuffer> of another library, which uses needed_size bytes of it.
 * The owner keeps it alive, and is only taken on success. */
MtlMemory *
mtl_memory_new_imported_metal (gpointer         handle,
                               gsize            needed_size,
                               gboolean         read_only,
                               gpointer         owner,
                               GDestroyNotify   destroy,
                               GError         **error)
{
  MtlMetalBuffer buffer;
  MtlMemory *self;

  if (!mtl_metal_device_inspect_buffer (handle, MTL_ERROR_INVALID_DATA, &buffer, error))
    return NULL;

  if (needed_size > buffer.size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The tensor reaches byte %" G_GSIZE_FORMAT " of an MTLBuffer of %"
                   G_GSIZE_FORMAT " bytes", needed_size, buffer.size);
      return NULL;
    }

  self = memory_alloc ();
  self->size_known = TRUE;
  self->device = buffer.device;
  self->has_immortal_device = TRUE;
  self->device_type = MTL_DEVICE_TYPE_METAL;
  self->device_ordinal = buffer.ordinal;
  self->storage_mode = buffer.storage_mode;
  self->read_only = read_only;
  self->size = buffer.size;
  self->handle = buffer.handle;
  self->contents = buffer.contents;
  self->destroy = destroy;
  self->owner = owner;
  return self;
}

/* Memory of CUDA: GPUs', pinned and managed. Without a device, it is foreign like any other. */
gboolean
mtl_memory_imports_cuda (gint32 device_type)
{
  switch (device_type)
    {
    case MTL_DEVICE_TYPE_CUDA:
    case MTL_DEVICE_TYPE_CUDA_HOST:
    case MTL_DEVICE_TYPE_CUDA_MANAGED:
      return mtl_cuda_device_takes_tensors ();
    default:
      return FALSE;
    }
}

static gboolean
find_cuda (gint32          device_type,
           gint32          device_ordinal,
           gpointer        address,
           gsize           size,
           MtlCudaMemory  *memory,
           GError        **error)
{
  if (size > 0)
    return mtl_cuda_device_inspect (address, size, memory, error);

  /* No elements are at any address. Some libraries number pinned and managed memory by the GPU. */
  if (device_type != MTL_DEVICE_TYPE_CUDA)
    device_ordinal = 0;
  memory->device = mtl_device_get (device_type, device_ordinal, error);
  if (memory->device == NULL)
    return FALSE;

  memory->storage_mode = mtl_device_resolve_storage_mode (memory->device,
                                                          MTL_STORAGE_MODE_DEFAULT);
  return TRUE;
}

MtlMemory *
mtl_memory_new_imported_cuda (gint32           device_type,
                              gint32           device_ordinal,
                              gpointer         address,
                              gsize            size,
                              gboolean         read_only,
                              gpointer         owner,
                              GDestroyNotify   destroy,
                              GError         **error)
{
  MtlCudaMemory memory = { NULL };
  guint64 stream;
  MtlMemory *self;

  if (!find_cuda (device_type, device_ordinal, address, size, &memory, error)
      || !MTL_DEVICE_GET_CLASS (memory.device)->begin_import (memory.device, &stream, error))
    return NULL;

  self = memory_alloc ();
  self->size_known = TRUE;
  self->has_immortal_device = TRUE;
  set_device (self, memory.device, memory.storage_mode);
  self->n_works = stream != 0 && memory.contents != NULL;
  self->home_stream = stream;
  self->read_only = read_only;
  self->size = size;
  self->handle = address;
  self->contents = memory.contents;
  self->destroy = destroy;
  self->owner = owner;
  return self;
}

static void
end_owner (MtlMemory *self)
{
  if (self->uses.is_queued || self->uses.streams != NULL)
    MTL_DEVICE_GET_CLASS (self->device)->end_owner (self->device, &self->uses, self->owner,
                                                    self->destroy);
  else
    self->destroy (self->owner);
}

void
mtl_memory_free (MtlMemory *self)
{
  MtlDevice *device = self->device;

  if (self->allocated)
    MTL_DEVICE_GET_CLASS (device)->free (device, self->handle, self->storage_mode, &self->uses);
  if (self->is_wrapped_handle)
    MTL_DEVICE_GET_CLASS (device)->unwrap_handle (device, self->handle);
  if (self->counted)
    mtl_allocated_size_subtract (self->size);
  if (self->destroy != NULL)
    end_owner (self);
  mtl_device_uses_clear (&self->uses);
  if (!self->has_immortal_device)
    g_clear_object (&self->device);
  g_free (self);
}

gboolean
mtl_memory_check_host_accessible (MtlMemory  *self,
                                  GError    **error)
{
  if (mtl_memory_is_host_accessible (self))
    return mtl_memory_begin_access (self, error);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
               "The host cannot access memory of device (%d, %d): copy it to the host",
               self->device_type, self->device_ordinal);
  return FALSE;
}

/* Makes the device's writes visible to the host. */
gboolean
mtl_memory_synchronize (MtlMemory  *self,
                        GError    **error)
{
  MtlDevice *device = mtl_memory_get_device (self);

  if (self->handle == NULL)
    return mtl_device_synchronize (device, NULL, error);

  return MTL_DEVICE_GET_CLASS (device)->synchronize_memory (device, self->handle,
                                                            self->storage_mode, error);
}

gboolean
mtl_memory_cool_down (MtlMemory  *self,
                      GError    **error)
{
  int n_awaited = g_atomic_int_get (&self->n_awaited);
  int n_works = g_atomic_int_get (&self->n_works);

  if (!mtl_memory_synchronize (self, error))
    return FALSE;

  /* Another thread may have waited for more. */
  g_atomic_int_compare_and_exchange (&self->n_awaited, n_awaited, n_works);
  return TRUE;
}

/* Lets the stream of the library that the memory came from, if any, wait for work on it, as that
 * library may write to the memory next. It may have destroyed the stream. */
static void
order_home_stream (MtlMemory *self)
{
  MtlDeviceClass *klass;
  guint64 own;

  if (self->home_stream == 0)
    return;

  klass = MTL_DEVICE_GET_CLASS (self->device);
  if (klass->get_stream (self->device, &own, NULL))
    klass->order_streams (self->device, own, self->device, self->home_stream, NULL);
}

gboolean
mtl_memory_end_work (MtlMemory  *self,
                     MtlDevice  *device,
                     GError    **error)
{
  guint64 pushed;

  order_home_stream (self);
  if (self->contents == NULL)
    return TRUE;

  if (self->device != device
      || !mtl_pushed_stream_find (mtl_device_get_device_type (device),
                                  mtl_device_get_ordinal (device), &pushed))
    return mtl_device_synchronize (device, NULL, error);

  g_atomic_int_inc (&self->n_works);
  return TRUE;
}

MtlDevice *
mtl_memory_get_device (MtlMemory *self)
{
  MtlDevice *device = g_atomic_pointer_get (&self->device);
  MtlDevice *made;

  if (device != NULL)
    return device;

  device = self->storage_mode == MTL_STORAGE_MODE_HOST
             ? mtl_device_get_host ()
             : mtl_device_get (self->device_type, self->device_ordinal, NULL);
  made = device != NULL ? g_object_ref (device)
                        : mtl_foreign_device_new (self->device_type, self->device_ordinal);
  if (g_atomic_pointer_compare_and_exchange (&self->device, NULL, made))
    return made;

  g_object_unref (made);
  return g_atomic_pointer_get (&self->device);
}

MtlDevice *
mtl_memory_get_copy_device (MtlMemory      *self,
                            MtlStorageMode *mode)
{
  MtlDevice *device = mtl_memory_get_device (self);

  *mode = self->storage_mode;
  if (mtl_device_supports_storage_mode (device, *mode))
    return device;

  *mode = MTL_STORAGE_MODE_HOST;
  return mtl_device_get_host ();
}

MtlDevice *
mtl_memory_get_engine (MtlMemory *self)
{
  MtlDevice *device;

  if (mtl_memory_is_host_accessible (self))
    return NULL;

  device = mtl_memory_get_device (self);
  return MTL_DEVICE_GET_CLASS (device)->copy_elements != NULL ? device : NULL;
}

gboolean
mtl_memory_check_reachable (MtlMemory  *self,
                            GError    **error)
{
  return MTL_DEVICE_GET_CLASS (mtl_memory_get_device (self))->copy != NULL
         || mtl_memory_check_host_accessible (self, error);
}

static void
order_home_streams (MtlMemory *dest,
                    MtlMemory *source)
{
  order_home_stream (dest);
  if (source->home_stream != dest->home_stream || source->device != dest->device)
    order_home_stream (source);
}

/* Lets the device of one of them copy. Memory of another device is passed by
 * its host address. */
static gboolean
copy_by_device (MtlDevice     *device,
                MtlMemory     *dest,
                gsize          dest_offset,
                MtlMemory     *source,
                gsize          source_offset,
                gsize          size,
                GCancellable  *cancellable,
                GError       **error)
{
  gboolean is_dest = mtl_memory_get_device (dest) == device;
  gboolean is_source = mtl_memory_get_device (source) == device;

  if (!mtl_memory_begin_access_by (dest, device, error)
      || !mtl_memory_begin_access_by (source, device, error))
    return FALSE;

  mtl_memory_note_work (dest);
  mtl_memory_note_work (source);
  if (!MTL_DEVICE_GET_CLASS (device)->copy (device,
                                            is_dest ? dest->handle : dest->contents,
                                            is_dest ? dest->storage_mode : MTL_STORAGE_MODE_HOST,
                                            dest_offset,
                                            is_source ? source->handle : source->contents,
                                            is_source ? source->storage_mode
                                                      : MTL_STORAGE_MODE_HOST,
                                            source_offset, size, cancellable, error))
    return FALSE;

  order_home_streams (dest, source);
  return TRUE;
}

/* Copies between two devices that cannot access each other's memory. */
static gboolean
copy_through_host (MtlMemory     *dest,
                   gsize          dest_offset,
                   MtlMemory     *source,
                   gsize          source_offset,
                   gsize          size,
                   GCancellable  *cancellable,
                   GError       **error)
{
  const gsize chunk_size = MIN (size, (gsize) 16 << 20);
  g_autoptr (MtlMemory) host = mtl_memory_new (mtl_device_get_host (), chunk_size,
                                               MTL_STORAGE_MODE_HOST, FALSE, error);

  if (host == NULL)
    return FALSE;

  for (gsize done = 0; done < size; done += chunk_size)
    {
      gsize chunk = MIN (chunk_size, size - done);

      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !copy_by_device (mtl_memory_get_device (source), host, 0, source,
                              source_offset + done, chunk, cancellable, error)
          || !copy_by_device (mtl_memory_get_device (dest), dest, dest_offset + done, host, 0,
                              chunk, cancellable, error))
        return FALSE;
    }

  return TRUE;
}

/* Copies between two devices. */
static gboolean
copy_between (MtlMemory     *dest,
              gsize          dest_offset,
              MtlMemory     *source,
              gsize          source_offset,
              gsize          size,
              GCancellable  *cancellable,
              GError       **error)
{
  MtlDevice *device = mtl_memory_get_device (dest);
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);

  if (klass->copy_from_peer == NULL || klass != MTL_DEVICE_GET_CLASS (source->device))
    return copy_through_host (dest, dest_offset, source, source_offset, size, cancellable, error);

  mtl_memory_note_work (dest);
  mtl_memory_note_work (source);
  if (!klass->copy_from_peer (device, (guint8 *) dest->handle + dest_offset, source->device,
                              (guint8 *) source->handle + source_offset, size, error))
    return FALSE;

  order_home_streams (dest, source);
  return TRUE;
}

gboolean
mtl_memory_copy (MtlMemory     *self,
                 gsize          offset,
                 MtlMemory     *source,
                 gsize          source_offset,
                 gsize          size,
                 GCancellable  *cancellable,
                 GError       **error)
{
  gboolean to_host = mtl_memory_is_host_accessible (self);
  gboolean from_host = mtl_memory_is_host_accessible (source);

  if (to_host && from_host)
    {
      if (!mtl_memory_begin_access (self, error) || !mtl_memory_begin_access (source, error))
        return FALSE;

      memmove (self->contents + offset, source->contents + source_offset, size);
      mtl_memory_did_modify (self, offset, size);
      return TRUE;
    }

  if ((!to_host && !mtl_memory_check_reachable (self, error))
      || (!from_host && !mtl_memory_check_reachable (source, error)))
    return FALSE;

  if (!to_host && !from_host && mtl_memory_get_device (self) != mtl_memory_get_device (source))
    return copy_between (self, offset, source, source_offset, size, cancellable, error);

  if (!to_host)
    return copy_by_device (mtl_memory_get_device (self), self, offset, source, source_offset, size,
                           cancellable, error);

  if (!copy_by_device (mtl_memory_get_device (source), self, offset, source, source_offset, size,
                       cancellable, error))
    return FALSE;

  /* The device knows of changes to its own memory. */
  if (mtl_memory_get_device (self) != mtl_memory_get_device (source))
    mtl_memory_did_modify (self, offset, size);
  return TRUE;
}

static void
fill_host (guint8        *data,
           gsize          size,
           gconstpointer  pattern,
           gsize          pattern_size)
{
  gsize filled = pattern_size;

  memmove (data, pattern, filled); /* the pattern may be part of the memory */
  while (filled < size)
    {
      gsize chunk = MIN (filled, size - filled);

      memcpy (data + filled, data, chunk);
      filled += chunk;
    }
}

gboolean
mtl_memory_fill (MtlMemory      *self,
                 gsize           offset,
                 gsize           size,
                 gconstpointer   pattern,
                 gsize           pattern_size,
                 GError        **error)
{
  MtlDevice *device;

  if (mtl_memory_is_host_accessible (self))
    {
      if (!mtl_memory_begin_access (self, error))
        return FALSE;

      fill_host (self->contents + offset, size, pattern, pattern_size);
      mtl_memory_did_modify (self, offset, size);
      return TRUE;
    }

  device = mtl_memory_get_device (self);
  if (MTL_DEVICE_GET_CLASS (device)->fill == NULL)
    return mtl_memory_check_host_accessible (self, error);

  mtl_memory_note_work (self);
  if (!MTL_DEVICE_GET_CLASS (device)->fill (device, self->handle, self->storage_mode, offset, size,
                                            pattern, pattern_size, error))
    return FALSE;

  order_home_stream (self);
  return TRUE;
}
