/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-memory-private.h"

#include <string.h>

#include "mtl-dlpack-abi-private.h"
#include "mtl-error.h"
#include "mtl-foreign-device-private.h"

static MtlMemory *
memory_alloc (MtlDevice *device)
{
  MtlMemory *self = g_new0 (MtlMemory, 1);

  self->ref_count = 1;
  self->size_known = TRUE;
  self->device = g_object_ref (device);
  self->device_type = mtl_device_get_device_type (device);
  self->device_ordinal = mtl_device_get_device_ordinal (device);
  return self;
}

/* What an object has that nobody gave memory to, as from a bare
 * g_object_new(). */
MtlMemory *
mtl_memory_get_empty (void)
{
  static MtlMemory *empty;

  if (g_once_init_enter (&empty))
    {
      MtlMemory *memory = memory_alloc (mtl_device_get_host ());

      memory->is_static = TRUE;
      g_once_init_leave (&empty, memory);
    }

  return empty;
}

static gboolean
check_size (MtlDevice  *device,
            gsize       size,
            GError    **error)
{
  guint64 limit = mtl_device_get_max_buffer_size (device);

  if (size <= limit)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
               "%" G_GSIZE_FORMAT " bytes are more than the limit of %" G_GUINT64_FORMAT
               " of “%s”", size, limit, mtl_device_get_name (device));
  return FALSE;
}

MtlMemory *
mtl_memory_new (MtlDevice       *device,
                gsize            size,
                MtlStorageMode   mode,
                gboolean         zeroed,
                GError         **error)
{
  MtlMemory *self;
  gpointer handle;

  if (!mtl_device_supports_storage_mode (device, mode))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” has no memory of storage mode %d", mtl_device_get_name (device), mode);
      return NULL;
    }

  if (!check_size (device, size, error))
    return NULL;

  handle = MTL_DEVICE_GET_CLASS (device)->allocate (device, MAX (size, 1), mode, zeroed, error);
  if (handle == NULL)
    return NULL;

  self = memory_alloc (device);
  self->storage_mode = mode;
  self->allocated = TRUE;
  self->size = size;
  self->handle = handle;
  self->contents = MTL_DEVICE_GET_CLASS (device)->contents (device, handle, mode);
  return self;
}

/* The mode that the host reaches. */
MtlStorageMode
mtl_device_get_host_mode (MtlDevice *device)
{
  return mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_HOST)
           ? MTL_STORAGE_MODE_HOST
           : MTL_STORAGE_MODE_SHARED;
}

static MtlMemory *
memory_new_for_owner (MtlDevice      *device,
                      gpointer        handle,
                      gsize           size,
                      GDestroyNotify  destroy,
                      gpointer        owner)
{
  MtlMemory *self = memory_alloc (device);

  self->storage_mode = mtl_device_get_host_mode (device);
  self->size = size;
  self->handle = handle;
  self->contents = MTL_DEVICE_GET_CLASS (device)->contents (device, handle, self->storage_mode);
  self->destroy = destroy;
  self->owner = owner;
  return self;
}

/* No object in memory is larger, and no address behind one can be told. */
static gboolean
check_address_range (gsize    size,
                     GError **error)
{
  if (size <= G_MAXSSIZE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "%" G_GSIZE_FORMAT " bytes are beyond the limit of %" G_GSSIZE_FORMAT,
               size, G_MAXSSIZE);
  return FALSE;
}

/* Gives a device that takes no memory of the host's a copy of it. */
static MtlMemory *
memory_new_for_copy (MtlDevice      *device,
                     gconstpointer   data,
                     gsize           size,
                     GError        **error)
{
  MtlMemory *self = mtl_memory_new (device, size, mtl_device_get_host_mode (device), FALSE, error);

  if (self == NULL || size == 0)
    return self;

  if (self->contents == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” can neither use host memory nor be written to by the host",
                   mtl_device_get_name (device));
      mtl_memory_unref (self);
      return NULL;
    }

  memcpy (self->contents, data, size);
  return self;
}

/* The device's handle of host memory that it uses in place; NULL without an
 * error where it cannot. */
static gpointer
wrap_in_place (MtlDevice  *device,
               gpointer    data,
               gsize       size,
               GError    **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);
  g_autoptr (GError) local_error = NULL;
  gpointer handle;

  if (klass->wrap_memory == NULL)
    return mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_HOST) ? data : NULL;

  handle = klass->wrap_memory (device, data, size, &local_error);
  if (handle == NULL && !g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED))
    g_propagate_error (error, g_steal_pointer (&local_error));

  return handle;
}

/* Takes the owner, on failure too. A device that cannot use the memory in
 * place gets a copy, and the owner ends at once. */
MtlMemory *
mtl_memory_new_wrapped (MtlDevice       *device,
                        gpointer         data,
                        gsize            size,
                        gboolean         read_only,
                        GDestroyNotify   destroy,
                        gpointer         owner,
                        GError         **error)
{
  g_autoptr (GError) local_error = NULL;
  MtlMemory *self = NULL;
  gpointer handle = NULL;

  if (check_address_range (size, &local_error) && size > 0)
    handle = wrap_in_place (device, data, size, &local_error);

  if (handle != NULL)
    {
      self = memory_new_for_owner (device, handle, size, destroy, owner);
      self->allocated = MTL_DEVICE_GET_CLASS (device)->wrap_memory != NULL;
      self->read_only = read_only;
      return self;
    }

  if (local_error == NULL)
    self = memory_new_for_copy (device, data, size, &local_error);
  if (self != NULL)
    self->read_only = read_only;
  if (local_error != NULL)
    g_propagate_error (error, g_steal_pointer (&local_error));
  if (destroy != NULL)
    destroy (owner);

  return self;
}

/* Takes the owner, on failure too. */
MtlMemory *
mtl_memory_new_for_handle (MtlDevice       *device,
                           gpointer         handle,
                           gsize            size,
                           GDestroyNotify   destroy,
                           gpointer         owner,
                           GError         **error)
{
  MtlDeviceClass *klass = MTL_DEVICE_GET_CLASS (device);
  gpointer kept = handle;
  MtlMemory *self;

  if (!check_address_range (size, error))
    kept = NULL;
  else if (klass->wrap_handle != NULL)
    kept = klass->wrap_handle (device, handle, size, error);
  else if (!mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_HOST))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” cannot take part in an existing allocation",
                   mtl_device_get_name (device));
      kept = NULL;
    }

  if (kept == NULL)
    {
      if (destroy != NULL)
        destroy (owner);
      return NULL;
    }

  self = memory_new_for_owner (device, kept, size, destroy, owner);
  self->allocated = klass->wrap_handle != NULL;
  return self;
}

MtlMemory *
mtl_memory_new_imported (gint32           device_type,
                         gint32           device_ordinal,
                         gpointer         handle,
                         gsize            size,
                         gboolean         size_known,
                         gboolean         read_only,
                         GDestroyNotify   destroy,
                         gpointer         owner)
{
  gboolean is_host = device_type == MTL_DEVICE_TYPE_CPU;
  MtlMemory *self = g_new0 (MtlMemory, 1);

  self->ref_count = 1;
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

void
mtl_memory_free (MtlMemory *self)
{
  if (self->allocated)
    MTL_DEVICE_GET_CLASS (self->device)->free (self->device, self->handle, self->storage_mode);
  if (self->destroy != NULL)
    self->destroy (self->owner);
  g_clear_object (&self->device);
  g_free (self);
}

gboolean
mtl_memory_is_host_accessible (MtlMemory *self)
{
  /* Memory of no bytes need not have an address. */
  return self->contents != NULL || mtl_dl_device_is_host_accessible (self->device_type);
}

gboolean
mtl_memory_check_host_accessible (MtlMemory  *self,
                                  GError    **error)
{
  if (mtl_memory_is_host_accessible (self))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_HOST_ACCESSIBLE,
               "Memory of device (%d, %d) cannot be reached by the host",
               self->device_type, self->device_ordinal);
  return FALSE;
}

MtlDevice *
mtl_memory_get_device (MtlMemory *self)
{
  MtlDevice *device = g_atomic_pointer_get (&self->device);
  MtlDevice *made;

  if (device != NULL)
    return device;

  made = self->storage_mode == MTL_STORAGE_MODE_HOST
           ? g_object_ref (mtl_device_get_host ())
           : mtl_foreign_device_new (self->device_type, self->device_ordinal);
  if (g_atomic_pointer_compare_and_exchange (&self->device, NULL, made))
    return made;

  g_object_unref (made);
  return g_atomic_pointer_get (&self->device);
}
