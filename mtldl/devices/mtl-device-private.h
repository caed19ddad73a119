/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-device.h"
#include "mtl-number-private.h"
#include "mtl-strided-copy-private.h"
#include "mtl-tally-private.h"

G_BEGIN_DECLS

struct _MtlDevice
{
  GObject parent_instance;
};

typedef struct _MtlStreamUse MtlStreamUse;

struct _MtlStreamUse
{
  gpointer context; /* the device's own, that the stream belongs to */
  guint64 stream;
  MtlStreamUse *next;
};

/* The work that may be using some memory. All zeros is no work. */
typedef struct
{
  int is_queued;         /* atomic; in the device's own stream */
  MtlStreamUse *streams; /* atomic; in streams of others that the memory was exported for */
} MtlDeviceUses;

/* The operations of a kind of device. It does not support the operations that it leaves
 * unimplemented. All functions can be called from any thread, and a handle is the
 * device's own. */
typedef struct _MtlDeviceClass MtlDeviceClass;

struct _MtlDeviceClass
{
  GObjectClass parent_class;

  /* Returns the mode that MTL_STORAGE_MODE_DEFAULT stands for: itself if nothing can be
   * allocated. */
  MtlStorageMode (* get_default_storage_mode) (MtlDevice *self);

  /* Checks whether memory with a storage mode can be allocated. No function is called with
   * MTL_STORAGE_MODE_DEFAULT. */
  gboolean (* supports_storage_mode) (MtlDevice       *self,
                                      MtlStorageMode   mode);

  /* Allocates size bytes, which is never 0, aligned to at least 64 bytes and cleared if zeroed
   * is TRUE; returns the device's handle for the allocation. */
  gpointer (* allocate)              (MtlDevice       *self,
                                      gsize            size,
                                      MtlStorageMode   mode,
                                      gboolean         zeroed,
                                      GError         **error);

  /* Makes host memory available to the device without a copy; returns the handle. On success it
   * takes owner, and calls destroy with it once the memory is no longer used. Fails with
   * MTL_ERROR_NOT_SUPPORTED if the device cannot use the memory. If is_file is set, it is a
   * mapping of a file, read-only and shared. */
  gpointer (* wrap_memory)           (MtlDevice       *self,
                                      gpointer         data,
                                      gsize            size,
                                      gboolean         is_file,
                                      gpointer         owner,
                                      GDestroyNotify   destroy,
                                      GError         **error);

  /* Set if wrap_memory() loads all pages of a file into memory. */
  gboolean loads_wrapped_pages;

  /* Takes a reference to an existing allocation of at least size bytes and sets mode to its
   * storage mode; returns the handle to keep. Fails with MTL_ERROR_NOT_SUPPORTED if the device
   * cannot use the allocation. */
  gpointer (* wrap_handle)           (MtlDevice       *self,
                                      gpointer         handle,
                                      gsize            size,
                                      MtlStorageMode  *mode,
                                      GError         **error);

  /* Releases a handle that allocate() or wrap_memory() returned, after the work that uses it. */
  void     (* free)                  (MtlDevice           *self,
                                      gpointer             handle,
                                      MtlStorageMode       mode,
                                      const MtlDeviceUses *uses);

  /* Releases a handle that wrap_handle() returned; NULL if there is nothing to release. */
  void     (* unwrap_handle)         (MtlDevice       *self,
                                      gpointer         handle);

  /* Calls destroy with the owner of memory that the device did not allocate, after the work that
   * uses it, and maybe in another thread. */
  void     (* end_owner)             (MtlDevice           *self,
                                      const MtlDeviceUses *uses,
                                      gpointer             owner,
                                      GDestroyNotify       destroy);

  /* Returns the host address of an allocation, or NULL if it has none. */
  gpointer (* contents)              (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode);

  /* Checks whether an allocation may be passed to another library. */
  gboolean (* check_export)          (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      GError         **error);

  /* Lets the work of another library wait for that of this one: in the stream of the consumer's
   * device that the thread has pushed, or by letting the host wait, unless is_ordered says that the
   * other library waits for the library's stream of that device. Until the memory is freed, it notes
   * in uses where it may be in use. NULL if the library's work is never just queued. */
  gboolean (* begin_export)          (MtlDevice       *self,
                                      MtlDevice       *consumer,
                                      MtlDeviceUses   *uses,
                                      gboolean         is_ordered,
                                      GError         **error);

  /* Lets the work of this library wait for that in the stream that the thread has pushed; sets
   * stream to 0 if there is none. NULL, too, without queued work. */
  gboolean (* begin_import)          (MtlDevice       *self,
                                      guint64         *stream,
                                      GError         **error);

  /* Copies size bytes between two allocations, at least one of which belongs to this device.
   * Memory of the host or of another device is passed by its host address, with
   * MTL_STORAGE_MODE_HOST. The ranges are within the allocations, not empty, and may overlap. If
   * the host writes to managed memory of this device on the way, this function makes that
   * visible to the device. */
  gboolean (* copy)                  (MtlDevice       *self,
                                      gpointer         dest,
                                      MtlStorageMode   dest_mode,
                                      gsize            dest_offset,
                                      gpointer         source,
                                      MtlStorageMode   source_mode,
                                      gsize            source_offset,
                                      gsize            size,
                                      GCancellable    *cancellable,
                                      GError         **error);

  /* Copies size bytes from another device of the same class to this one; NULL if they have to go
   * through the host. */
  gboolean (* copy_from_peer)        (MtlDevice       *self,
                                      gpointer         dest,
                                      MtlDevice       *source_device,
                                      gpointer         source,
                                      gsize            size,
                                      GError         **error);

  /* Fills a range of an allocation with a repeated pattern; the range is within the allocation
   * and not empty, and its size is a multiple of pattern_size. */
  gboolean (* fill)                  (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      gsize            offset,
                                      gsize            size,
                                      gconstpointer    pattern,
                                      gsize            pattern_size,
                                      GError         **error);

  /* Copies elements with the rules of mtl_strided_copy() or, if there are factors, of
   * mtl_strided_copy_scaled(); sets all elements to an item. The data are addresses that the device
   * reaches. If the device cannot do it, is_done is FALSE and there is no error. NULL on a device
   * whose elements the host copies. */
  gboolean (* copy_elements)         (MtlDevice         *self,
                                      const MtlStrided  *dest,
                                      const MtlStrided  *source,
                                      const double      *factors,
                                      gboolean          *is_done,
                                      GError           **error);
  gboolean (* fill_elements)         (MtlDevice         *self,
                                      const MtlStrided  *dest,
                                      gconstpointer      item,
                                      gboolean          *is_done,
                                      GError           **error);

  /* Compares elements as mtl_number_is_close() does. They have one lane, and both have the same
   * shape. The rest is as for copies. */
  gboolean (* compare_elements)      (MtlDevice           *self,
                                      const MtlStrided    *a,
                                      const MtlStrided    *b,
                                      const MtlTolerance  *tolerance,
                                      gboolean            *are_close,
                                      gboolean            *is_done,
                                      GCancellable        *cancellable,
                                      GError             **error);

  /* Computes the tallies of n tiles of elements of a type, as mtl_tally_of_tiles() does. */
  gboolean (* tally_tiles)           (MtlDevice           *self,
                                      const MtlTiles      *tiles,
                                      gint64               first,
                                      gint64               n,
                                      MtlElementType       type,
                                      MtlTally            *tallies,
                                      gboolean            *is_done,
                                      GCancellable        *cancellable,
                                      GError             **error);

  /* Checks that work that is queued now runs by itself, so that it may use memory that is freed
   * after the call. NULL if it always does. */
  gboolean (* check_runs)            (MtlDevice         *self,
                                      const char        *what,
                                      GError           **error);

  /* Checks if the device reaches memory of another device of its class, with a storage mode. */
  gboolean (* reaches_memory_of)     (MtlDevice         *self,
                                      MtlDevice         *other,
                                      MtlStorageMode     mode);

  /* Waits until all work submitted through this library is finished. */
  gboolean (* synchronize)           (MtlDevice       *self,
                                      GCancellable    *cancellable,
                                      GError         **error);

  /* Makes the device's writes to an allocation visible to the host. */
  gboolean (* synchronize_memory)    (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      GError         **error);

  /* Makes the host's writes to an allocation visible to the device. */
  void     (* did_modify)            (MtlDevice       *self,
                                      gpointer         handle,
                                      MtlStorageMode   mode,
                                      gsize            offset,
                                      gsize            size);

  /* Creates a stream, in which work is done in the order in which it is queued. Returns its
   * handle. A device without this function has no streams. */
  gboolean (* new_stream)            (MtlDevice       *self,
                                      guint64         *stream,
                                      GError         **error);

  /* Takes a reference to the stream of somebody else, if the device counts them. */
  gboolean (* wrap_stream)           (MtlDevice       *self,
                                      guint64          stream,
                                      GError         **error);

  /* Releases a stream; is_own says whether new_stream() created it. Its work is still done. */
  void     (* free_stream)           (MtlDevice       *self,
                                      guint64          stream,
                                      gboolean         is_own);

  /* Gets the stream of the library's work. */
  gboolean (* get_stream)            (MtlDevice       *self,
                                      guint64         *stream,
                                      GError         **error);

  /* Lets the work that is queued later in a stream of another device of the class, or of this one,
   * wait for what a stream of this device has now. */
  gboolean (* order_streams)         (MtlDevice       *self,
                                      guint64          before,
                                      MtlDevice       *other,
                                      guint64          after,
                                      GError         **error);

  /* Waits until the work that a stream has now is finished. */
  gboolean (* synchronize_stream)    (MtlDevice       *self,
                                      guint64          stream,
                                      GCancellable    *cancellable,
                                      GError         **error);

  /* Queues a wait for, or a signal of, a value of an event of the device. */
  gboolean (* queue_wait)            (MtlDevice       *self,
                                      guint64          stream,
                                      gpointer         event,
                                      guint64          value,
                                      GError         **error);
  gboolean (* queue_signal)          (MtlDevice       *self,
                                      guint64          stream,
                                      gpointer         event,
                                      guint64          value,
                                      GError         **error);

  /* Creates an event that starts at 0; returns the device's handle for the event. A device
   * without this function uses host events. */
  gpointer (* new_event)             (MtlDevice       *self,
                                      GError         **error);

  /* Takes a reference to an existing event; returns the handle to keep. */
  gpointer (* wrap_event)            (MtlDevice       *self,
                                      gpointer         handle,
                                      GError         **error);

  /* Releases a handle that new_event(), if is_own is set, or wrap_event() returned. */
  void     (* free_event)            (MtlDevice       *self,
                                      gpointer         event,
                                      gboolean         is_own);

  /* Returns the value that an event has reached. */
  guint64  (* get_event_value)       (MtlDevice       *self,
                                      gpointer         event);

  /* Sets the value of an event. */
  void     (* set_event_value)       (MtlDevice       *self,
                                      gpointer         event,
                                      guint64          value);

  /* Waits until an event reaches value, for at most timeout microseconds; returns whether it
   * did, and may return early. */
  gboolean (* wait_event)            (MtlDevice       *self,
                                      gpointer         event,
                                      guint64          value,
                                      gint64           timeout);
};

#define MTL_DEVICE_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), MTL_TYPE_DEVICE, MtlDeviceClass))
#define MTL_DEVICE_GET_CLASS(self) \
  (G_TYPE_INSTANCE_GET_CLASS ((self), MTL_TYPE_DEVICE, MtlDeviceClass))

MtlDeviceType mtl_device_type_from_number (gint32 number);

#define MTL_PUSHED_ANY_ORDINAL -1

/* The streams that the calling thread uses instead of the devices' own. The last one that was
 * pushed for a device counts. Popping removes the last one that was pushed, if it is the same. */
void     mtl_pushed_stream_push (MtlDeviceType  device_type,
                                 int            ordinal,
                                 guint64        stream);
gboolean mtl_pushed_stream_pop  (MtlDeviceType  device_type,
                                 int            ordinal,
                                 guint64        stream);
gboolean mtl_pushed_stream_find (MtlDeviceType  device_type,
                                 int            ordinal,
                                 guint64       *stream);

/* The mode that a requested one stands for: MTL_STORAGE_MODE_DEFAULT only if
 * nothing can be allocated on the device. */
MtlStorageMode mtl_device_resolve_storage_mode (MtlDevice      *self,
                                                MtlStorageMode  mode);

void          mtl_device_uses_add         (MtlDeviceUses *self,
                                           gpointer       context,
                                           guint64        stream);
void          mtl_device_uses_clear       (MtlDeviceUses *self);

/* Every read-modify-write of a device's memory goes between these two. The
 * calls may be nested. */
void          mtl_device_begin_update     (MtlDevice *self);
void          mtl_device_end_update       (MtlDevice *self);

G_END_DECLS
