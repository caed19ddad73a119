/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-metal-device-private.h"

#include <string.h>

#include "mtl-error.h"
#include "mtl-fork-private.h"
#include "mtl-metal-bridge-private.h"
#include "mtl-metal-copy-private.h"
#include "mtl-owners-private.h"

struct _MtlMetalDevice
{
  MtlDevice parent_instance;

  gpointer handle; /* id<MTLDevice> */
  gpointer queue;  /* id<MTLCommandQueue>, created on demand */
  gboolean blits_bytes;
  gint n_buffers;  /* atomic */
};

G_DEFINE_FINAL_TYPE (MtlMetalDevice, mtl_metal_device, MTL_TYPE_DEVICE)

/* Metal's limit is about 500,000 buffers, and it reports it like a lack of memory. With at least
 * this many, the limit is the likely reason. */
#define MANY_BUFFERS 400000

static void
mtl_metal_device_finalize (GObject *object)
{
  MtlMetalDevice *self = MTL_METAL_DEVICE (object);

  g_clear_pointer (&self->queue, mtl_metal_bridge_release);
  g_clear_pointer (&self->handle, mtl_metal_bridge_release);

  G_OBJECT_CLASS (mtl_metal_device_parent_class)->finalize (object);
}

static gboolean
mtl_metal_device_supports_storage_mode (MtlDevice      *device,
                                        MtlStorageMode  mode)
{
  return mode == MTL_STORAGE_MODE_SHARED || mode == MTL_STORAGE_MODE_PRIVATE
         || (mode == MTL_STORAGE_MODE_MANAGED && mtl_metal_bridge_has_managed_mode ());
}

static MtlStorageMode
mtl_metal_device_get_default_storage_mode (MtlDevice *device)
{
  return MTL_STORAGE_MODE_SHARED;
}

static gboolean
has_two_copies (MtlDevice      *device,
                MtlStorageMode  mode)
{
  return mode == MTL_STORAGE_MODE_MANAGED && !mtl_device_has_unified_memory (device);
}

/* The queue for this library's work. */
static gpointer
get_own_queue (MtlMetalDevice  *self,
               GError         **error)
{
  gpointer queue = g_atomic_pointer_get (&self->queue);

  if (queue != NULL)
    return queue;

  queue = mtl_metal_bridge_new_queue (self->handle);
  if (queue == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE, "“%s” cannot create a command queue",
                   mtl_device_get_name (MTL_DEVICE (self)));
      return NULL;
    }

  if (g_atomic_pointer_compare_and_exchange (&self->queue, NULL, queue))
    return queue;

  mtl_metal_bridge_release (queue);
  return g_atomic_pointer_get (&self->queue);
}

/* The queue that the thread has pushed, or else the library's own. */
static gpointer
get_queue (MtlMetalDevice  *self,
           GError         **error)
{
  guint64 pushed;

  return mtl_pushed_stream_find (MTL_DEVICE_TYPE_METAL,
                                 mtl_device_get_ordinal (MTL_DEVICE (self)), &pushed)
           ? (gpointer) (guintptr) pushed : get_own_queue (self, error);
}

static gboolean
clear_buffer (MtlMetalDevice  *self,
              gpointer         buffer,
              gsize            size,
              MtlStorageMode   mode,
              GError         **error)
{
  const MtlMetalCommand fill = { MTL_METAL_FILL, .dest = buffer, .size = size };
  gpointer queue;

  if (mode != MTL_STORAGE_MODE_PRIVATE)
    {
      memset (mtl_metal_bridge_get_contents (buffer), 0, size);
      MTL_DEVICE_GET_CLASS (self)->did_modify (MTL_DEVICE (self), buffer, mode, 0, size);
      return TRUE;
    }

  queue = get_queue (self, error);
  return queue != NULL && mtl_metal_bridge_run (queue, &fill, 1, error);
}

/* Fails if Metal, which made no buffer, may have reached its limit of them. */
static gboolean
check_few_buffers (MtlMetalDevice  *self,
                   gsize            size,
                   GError         **error)
{
  int n_buffers = g_atomic_int_get (&self->n_buffers);

  if (n_buffers < MANY_BUFFERS)
    return TRUE;

  g_set_error (
      error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
      "“%s” has no buffer of %" G_GSIZE_FORMAT " bytes beside the %d of this library: Metal"
      " has no more memory, or has reached its limit of about 500000 buffers. Free some, or"
      " use slices of larger ones",
      mtl_device_get_name (MTL_DEVICE (self)), size, n_buffers);
  return FALSE;
}

static gpointer
mtl_metal_device_allocate (MtlDevice       *device,
                           gsize            size,
                           MtlStorageMode   mode,
                           gboolean         zeroed,
                           GError         **error)
{
  MtlMetalDevice *self = MTL_METAL_DEVICE (device);
  /* A blit of whole words can then reach the end. */
  gsize padded = (size + MTL_METAL_WORD_SIZE - 1) / MTL_METAL_WORD_SIZE * MTL_METAL_WORD_SIZE;
  gpointer buffer = mtl_metal_bridge_new_buffer (self->handle, padded, mode);

  if (buffer == NULL)
    {
      if (check_few_buffers (self, size, error))
        g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
                     "%" G_GSIZE_FORMAT " bytes cannot be allocated on “%s”: Metal has no more"
                     " memory", size, mtl_device_get_name (device));
      return NULL;
    }

  if (zeroed && !clear_buffer (self, buffer, padded, mode, error))
    {
      mtl_metal_bridge_release (buffer);
      return NULL;
    }

  g_atomic_int_inc (&self->n_buffers);
  return buffer;
}

/* Metal shares whole pages. The size may be rounded up, as memory is mapped in
 * whole pages too. */
static gpointer
mtl_metal_device_wrap_memory (MtlDevice       *device,
                              gpointer         data,
                              gsize            size,
                              gboolean         is_file,
                              gpointer         owner_data,
                              GDestroyNotify   destroy,
                              GError         **error)
{
  MtlMetalDevice *self = MTL_METAL_DEVICE (device);
  gsize page_size = mtl_metal_bridge_get_page_size ();
  MtlOwner *owner = NULL;
  gpointer buffer;

  if ((guintptr) data % page_size != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Memory at %p cannot be shared: Metal shares whole pages of %" G_GSIZE_FORMAT
                   " bytes", data, page_size);
      return NULL;
    }

  size += (page_size - size % page_size) % page_size;
  if (size > mtl_device_get_max_buffer_size (device))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” cannot use the %" G_GSIZE_FORMAT " bytes at %p in place: its limit is %"
                   G_GUINT64_FORMAT, mtl_device_get_name (device), size, data,
                   mtl_device_get_max_buffer_size (device));
      return NULL;
    }

  if (destroy != NULL)
    {
      owner = mtl_owner_new (owner_data, destroy, error);
      if (owner == NULL)
        return NULL;
    }

  buffer = mtl_metal_bridge_new_buffer_no_copy (self->handle, data, size, owner);
  if (buffer == NULL)
    {
      mtl_owner_free (owner);
      if (check_few_buffers (self, size, error))
        g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                     "“%s” cannot use the %" G_GSIZE_FORMAT " bytes at %p in place",
                     mtl_device_get_name (device), size, data);
      return NULL;
    }

  g_atomic_int_inc (&self->n_buffers);
  return buffer;
}

static void
set_wrong_object (gpointer     handle,
                  const char  *wanted,
                  MtlError     code,
                  GError     **error)
{
  if (mtl_metal_bridge_may_be_object (handle))
    g_set_error (error, MTL_ERROR, code, "The object %p is not an %s", handle, wanted);
  else
    g_set_error (error, MTL_ERROR, code,
                 "The pointer %p is not an %s: objects begin at multiples of 16 bytes. PyTorch"
                 " before 2.10 exports slices like this: export a clone", handle,
                 wanted);
}

static gpointer
mtl_metal_device_wrap_handle (MtlDevice       *device,
                              gpointer         handle,
                              gsize            size,
                              MtlStorageMode  *mode,
                              GError         **error)
{
  MtlMetalDevice *self = MTL_METAL_DEVICE (device);
  MtlMetalBuffer buffer;

  if (!mtl_metal_device_inspect_buffer (handle, MTL_ERROR_INVALID_ARGUMENT, &buffer, error))
    return NULL;

  if (buffer.device != device)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The MTLBuffer belongs to device “%s” (%d), not to “%s” (%d)",
                   mtl_device_get_name (buffer.device), buffer.ordinal,
                   mtl_device_get_name (device), mtl_device_get_ordinal (device));
      return NULL;
    }

  if (buffer.size < size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "%" G_GSIZE_FORMAT " bytes are more than the %" G_GSIZE_FORMAT
                   " of the MTLBuffer", size, buffer.size);
      return NULL;
    }

  *mode = buffer.storage_mode;
  g_atomic_int_inc (&self->n_buffers);
  return mtl_metal_bridge_retain (handle);
}

static void
mtl_metal_device_unwrap_handle (MtlDevice *device,
                                gpointer   handle)
{
  g_atomic_int_add (&MTL_METAL_DEVICE (device)->n_buffers, -1);
  mtl_metal_bridge_release (handle);
}

static void
mtl_metal_device_free (MtlDevice           *device,
                       gpointer             handle,
                       MtlStorageMode       mode,
                       const MtlDeviceUses *uses)
{
  mtl_metal_device_unwrap_handle (device, handle);
}

static gpointer
mtl_metal_device_contents (MtlDevice      *device,
                           gpointer        handle,
                           MtlStorageMode  mode)
{
  return mode != MTL_STORAGE_MODE_PRIVATE ? mtl_metal_bridge_get_contents (handle) : NULL;
}

static gboolean
check_not_purgeable (gboolean   purgeable,
                     GError   **error)
{
  if (!purgeable)
    return TRUE;

  g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                       "The MTLBuffer is purgeable: its contents may be discarded at any time");
  return FALSE;
}

static gboolean
mtl_metal_device_check_export (MtlDevice       *device,
                               gpointer         handle,
                               MtlStorageMode   mode,
                               GError         **error)
{
  return check_not_purgeable (mtl_metal_bridge_is_purgeable (handle), error);
}

static gboolean
blitter_init (MtlMetalBlitter  *blitter,
              MtlDevice        *device,
              GError          **error)
{
  MtlMetalDevice *self = MTL_METAL_DEVICE (device);

  *blitter = (MtlMetalBlitter) {
    .device = device,
    .queue = get_queue (self, error),
    .word_size = self->blits_bytes ? 1 : MTL_METAL_WORD_SIZE,
  };
  return blitter->queue != NULL;
}

static gboolean
mtl_metal_device_copy (MtlDevice       *device,
                       gpointer         dest,
                       MtlStorageMode   dest_mode,
                       gsize            dest_offset,
                       gpointer         source,
                       MtlStorageMode   source_mode,
                       gsize            source_offset,
                       gsize            size,
                       GCancellable    *cancellable,
                       GError         **error)
{
  MtlMetalBlitter blitter;

  return blitter_init (&blitter, device, error)
         && mtl_metal_blitter_copy (&blitter, dest, dest_mode, dest_offset, source, source_mode,
                                    source_offset, size, cancellable, error);
}

static gboolean
mtl_metal_device_fill (MtlDevice       *device,
                       gpointer         handle,
                       MtlStorageMode   mode,
                       gsize            offset,
                       gsize            size,
                       gconstpointer    pattern,
                       gsize            pattern_size,
                       GError         **error)
{
  MtlMetalBlitter blitter;

  return blitter_init (&blitter, device, error)
         && mtl_metal_blitter_fill (&blitter, handle, mode, offset, size, pattern, pattern_size,
                                    error);
}

static gboolean
mtl_metal_device_synchronize (MtlDevice     *device,
                              GCancellable  *cancellable,
                              GError       **error)
{
  gpointer queue = get_queue (MTL_METAL_DEVICE (device), error);

  return queue != NULL && mtl_metal_bridge_run (queue, NULL, 0, error);
}

static gboolean
mtl_metal_device_new_stream (MtlDevice  *device,
                             guint64    *stream,
                             GError    **error)
{
  gpointer queue = mtl_metal_bridge_new_queue (MTL_METAL_DEVICE (device)->handle);

  if (queue == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE, "“%s” cannot create a command queue",
                   mtl_device_get_name (device));
      return FALSE;
    }

  *stream = (guintptr) queue;
  return TRUE;
}

static gboolean
mtl_metal_device_wrap_stream (MtlDevice  *device,
                              guint64     stream,
                              GError    **error)
{
  gpointer queue = (gpointer) (guintptr) stream;

  if (stream <= G_MAXSIZE
      && mtl_metal_bridge_is_queue (queue, MTL_METAL_DEVICE (device)->handle))
    {
      mtl_metal_bridge_retain (queue);
      return TRUE;
    }

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The handle 0x%" G_GINT64_MODIFIER "x is not an MTLCommandQueue of “%s”", stream,
               mtl_device_get_name (device));
  return FALSE;
}

static void
mtl_metal_device_free_stream (MtlDevice *device,
                              guint64    stream,
                              gboolean   is_own)
{
  mtl_metal_bridge_release ((gpointer) (guintptr) stream);
}

static gboolean
mtl_metal_device_get_stream (MtlDevice  *device,
                             guint64    *stream,
                             GError    **error)
{
  gpointer queue = get_own_queue (MTL_METAL_DEVICE (device), error);

  *stream = (guintptr) queue;
  return queue != NULL;
}

static gboolean
mtl_metal_device_synchronize_stream (MtlDevice     *device,
                                     guint64        stream,
                                     GCancellable  *cancellable,
                                     GError       **error)
{
  return mtl_metal_bridge_run ((gpointer) (guintptr) stream, NULL, 0, error);
}

/* The library's own work is never just queued, so that this is rare enough for the host to wait. */
static gboolean
mtl_metal_device_order_streams (MtlDevice  *device,
                                guint64     before,
                                MtlDevice  *other,
                                guint64     after,
                                GError    **error)
{
  return before == after || mtl_metal_device_synchronize_stream (device, before, NULL, error);
}

static gboolean
mtl_metal_device_queue_wait (MtlDevice  *device,
                             guint64     stream,
                             gpointer    event,
                             guint64     value,
                             GError    **error)
{
  return mtl_metal_bridge_queue_event ((gpointer) (guintptr) stream, event, value, FALSE, error);
}

static gboolean
mtl_metal_device_queue_signal (MtlDevice  *device,
                               guint64     stream,
                               gpointer    event,
                               guint64     value,
                               GError    **error)
{
  return mtl_metal_bridge_queue_event ((gpointer) (guintptr) stream, event, value, TRUE, error);
}

static gboolean
mtl_metal_device_synchronize_memory (MtlDevice       *device,
                                     gpointer         handle,
                                     MtlStorageMode   mode,
                                     GError         **error)
{
  const MtlMetalCommand command = { MTL_METAL_SYNCHRONIZE, .dest = handle };
  gpointer queue = get_queue (MTL_METAL_DEVICE (device), error);

  return queue != NULL
         && mtl_metal_bridge_run (queue, &command, has_two_copies (device, mode) ? 1 : 0, error);
}

static void
mtl_metal_device_did_modify (MtlDevice      *device,
                             gpointer        handle,
                             MtlStorageMode  mode,
                             gsize           offset,
                             gsize           size)
{
  if (has_two_copies (device, mode) && size > 0)
    mtl_metal_bridge_did_modify (handle, offset, size);
}

static gpointer
mtl_metal_device_new_event (MtlDevice  *device,
                            GError    **error)
{
  gpointer event = mtl_metal_bridge_new_event (MTL_METAL_DEVICE (device)->handle);

  if (event == NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE, "“%s” cannot create a shared event",
                 mtl_device_get_name (device));

  return event;
}

static gpointer
mtl_metal_device_wrap_event (MtlDevice  *device,
                             gpointer    handle,
                             GError    **error)
{
  if (mtl_metal_bridge_is_event (handle))
    return mtl_metal_bridge_retain (handle);

  set_wrong_object (handle, "MTLSharedEvent", MTL_ERROR_INVALID_ARGUMENT, error);
  return NULL;
}

static void
mtl_metal_device_free_event (MtlDevice *device,
                             gpointer   event,
                             gboolean   is_own)
{
  mtl_metal_bridge_release (event);
}

static guint64
mtl_metal_device_get_event_value (MtlDevice *device,
                                  gpointer   event)
{
  return mtl_metal_bridge_get_event_value (event);
}

static void
mtl_metal_device_set_event_value (MtlDevice *device,
                                  gpointer   event,
                                  guint64    value)
{
  mtl_metal_bridge_set_event_value (event, value);
}

static gboolean
mtl_metal_device_wait_event (MtlDevice *device,
                             gpointer   event,
                             guint64    value,
                             gint64     timeout)
{
  return mtl_metal_bridge_wait_event (event, value, (timeout + 999) / 1000);
}

static void
mtl_metal_device_class_init (MtlMetalDeviceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  object_class->finalize = mtl_metal_device_finalize;

  device_class->supports_storage_mode = mtl_metal_device_supports_storage_mode;
  device_class->get_default_storage_mode = mtl_metal_device_get_default_storage_mode;
  device_class->allocate = mtl_metal_device_allocate;
  device_class->wrap_memory = mtl_metal_device_wrap_memory;
  device_class->wrap_handle = mtl_metal_device_wrap_handle;
  device_class->free = mtl_metal_device_free;
  device_class->unwrap_handle = mtl_metal_device_unwrap_handle;
  device_class->contents = mtl_metal_device_contents;
  device_class->check_export = mtl_metal_device_check_export;
  device_class->copy = mtl_metal_device_copy;
  device_class->fill = mtl_metal_device_fill;
  device_class->synchronize = mtl_metal_device_synchronize;
  device_class->new_stream = mtl_metal_device_new_stream;
  device_class->wrap_stream = mtl_metal_device_wrap_stream;
  device_class->free_stream = mtl_metal_device_free_stream;
  device_class->get_stream = mtl_metal_device_get_stream;
  device_class->order_streams = mtl_metal_device_order_streams;
  device_class->synchronize_stream = mtl_metal_device_synchronize_stream;
  device_class->queue_wait = mtl_metal_device_queue_wait;
  device_class->queue_signal = mtl_metal_device_queue_signal;
  device_class->synchronize_memory = mtl_metal_device_synchronize_memory;
  device_class->did_modify = mtl_metal_device_did_modify;
  device_class->new_event = mtl_metal_device_new_event;
  device_class->wrap_event = mtl_metal_device_wrap_event;
  device_class->free_event = mtl_metal_device_free_event;
  device_class->get_event_value = mtl_metal_device_get_event_value;
  device_class->set_event_value = mtl_metal_device_set_event_value;
  device_class->wait_event = mtl_metal_device_wait_event;
}

static void
mtl_metal_device_init (MtlMetalDevice *self)
{
}

static MtlDevice *
mtl_metal_device_new (gpointer handle,
                      int      ordinal)
{
  MtlMetalDeviceInfo info;
  MtlMetalDevice *self;

  mtl_metal_bridge_describe_device (handle, &info);
  self = g_object_new (MTL_TYPE_METAL_DEVICE,
                       "device-type", MTL_DEVICE_TYPE_METAL,
                       "ordinal", ordinal,
                       "name", info.name,
                       "unified-memory", info.unified_memory,
                       "max-buffer-size", info.max_buffer_size,
                       "page-size", (guint64) mtl_metal_bridge_get_page_size (),
                       NULL);
  self->handle = mtl_metal_bridge_retain (handle);
  self->blits_bytes = info.blits_bytes;
  g_free (info.name);
  return MTL_DEVICE (self);
}

/* The devices in Metal's order, which PyTorch, MLX and TVM also use, and the
 * default device, which Metal may refuse to return a second time. */
typedef struct
{
  GPtrArray *devices;
  GPtrArray *handles;
  MtlDevice *default_device;
} MtlMetalDevices;

/* Returns the index of the same device in the list, or -1. Metal usually returns the
 * same object for the same device, but only the registry ID is certain. */
static int
find_device (GPtrArray *handles,
             gpointer   handle)
{
  guint64 id = mtl_metal_bridge_get_registry_id (handle);

  for (guint i = 0; i < handles->len; i++)
    if (mtl_metal_bridge_get_registry_id (g_ptr_array_index (handles, i)) == id)
      return i;

  return -1;
}

/* The list may be empty in a sandbox even if there is a default device. */
static MtlMetalDevices *
enumerate (void)
{
  GPtrArray *handles = mtl_metal_bridge_new_devices ();
  gpointer default_handle = mtl_metal_bridge_new_default_device ();
  MtlMetalDevices *all = g_new0 (MtlMetalDevices, 1);
  int default_ordinal = 0;

  if (handles->len == 0 && default_handle != NULL)
    g_ptr_array_add (handles, mtl_metal_bridge_retain (default_handle));

  all->handles = handles;
  all->devices = g_ptr_array_new ();
  for (guint i = 0; i < handles->len; i++)
    g_ptr_array_add (all->devices, mtl_metal_device_new (g_ptr_array_index (handles, i), i));

  if (default_handle != NULL)
    default_ordinal = find_device (handles, default_handle);
  if (handles->len > 0)
    all->default_device = g_ptr_array_index (all->devices, MAX (default_ordinal, 0));

  g_clear_pointer (&default_handle, mtl_metal_bridge_release);
  return all;
}

static MtlMetalDevices *
get_devices (void)
{
  static MtlForkOnce once;
  static MtlMetalDevices *all;

  if (mtl_fork_once_enter (&once))
    {
      all = enumerate ();
      mtl_fork_once_leave (&once);
    }

  return all;
}

GPtrArray *
mtl_metal_device_get_all (void)
{
  return get_devices ()->devices;
}

MtlDevice *
mtl_metal_device_get_default (void)
{
  return get_devices ()->default_device;
}

static int
find_handle (MtlMetalDevices *all,
             gpointer         handle)
{
  for (guint i = 0; i < all->handles->len; i++)
    if (g_ptr_array_index (all->handles, i) == handle)
      return i;

  return find_device (all->handles, handle);
}

/* Describes an id<MTLBuffer> of another library if it can be used. If the
 * object is not a buffer, the error has the code wrong_object. */
gboolean
mtl_metal_device_inspect_buffer (gpointer          handle,
                                 MtlError          wrong_object,
                                 MtlMetalBuffer   *buffer,
                                 GError          **error)
{
  MtlMetalDevices *all = get_devices ();
  MtlMetalBufferInfo info;
  int ordinal;

  if (!mtl_metal_bridge_inspect_buffer (handle, &info))
    {
      set_wrong_object (handle, "MTLBuffer", wrong_object, error);
      return FALSE;
    }

  if (!check_not_purgeable (info.purgeable, error))
    return FALSE;

  ordinal = find_handle (all, info.device);
  if (ordinal < 0)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "The MTLBuffer belongs to a device that was not present when this"
                           " library looked up the devices");
      return FALSE;
    }

  *buffer = (MtlMetalBuffer) {
    .device = g_ptr_array_index (all->devices, ordinal),
    .ordinal = ordinal,
    .handle = handle,
    .size = info.size,
    .contents = info.contents,
    .storage_mode = info.storage_mode,
  };
  return TRUE;
}

guint
mtl_metal_device_get_tensor_system (MtlDevice       *device,
                                    MtlStorageMode   mode,
                                    GError         **error)
{
  guint macos;

  if (!MTL_IS_METAL_DEVICE (device) || mode == MTL_STORAGE_MODE_FOREIGN)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Memory of “%s” is not an MTLBuffer, which an MTLTensor needs: copy it to a"
                   " device of Metal", mtl_device_get_name (device));
      return 0;
    }

  macos = mtl_metal_bridge_get_tensor_system ();
  if (macos == 0)
    g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                         "This system has no MTLTensor, which needs macOS 26");
  return macos;
}

gpointer
mtl_metal_device_new_tensor (MtlDevice             *device,
                             gpointer               handle,
                             const MtlMetalTensor  *description,
                             MtlMetalTensorUsage    usage,
                             GError               **error)
{
  return mtl_metal_bridge_new_tensor (handle, description, usage, error);
}

gboolean
mtl_metal_device_inspect_tensor (gpointer          tensor,
                                 MtlMetalTensor   *description,
                                 gpointer         *buffer,
                                 GError          **error)
{
  MtlMetalTensorInfo info;

  if (!mtl_metal_bridge_inspect_tensor (tensor, &info))
    {
      set_wrong_object (tensor, "MTLTensor", MTL_ERROR_INVALID_ARGUMENT, error);
      return FALSE;
    }

  if (info.buffer == NULL || !info.has_strides)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                           "The MTLTensor was not created from an MTLBuffer, so that there is no"
                           " memory to share");
      return FALSE;
    }

  if (info.n_planes > 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "The MTLTensor has %" G_GSIZE_FORMAT " auxiliary planes, such as scales, without"
                   " which its elements have other values", info.n_planes);
      return FALSE;
    }

  *description = info.description;
  *buffer = info.buffer;
  return TRUE;
}

void
mtl_metal_device_retain_tensor (gpointer tensor)
{
  mtl_metal_bridge_retain (tensor);
}

void
mtl_metal_device_release_tensor (gpointer tensor)
{
  mtl_metal_bridge_release (tensor);
}
