/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-cuda-device-private.h"

#include "mtl-cuda-copy-private.h"
#include "mtl-cuda-kernels-private.h"
#include "mtl-cuda-memory-private.h"
#include "mtl-error.h"

/* A wait for an event asks after it in intervals that grow, in microseconds. */
#define LONGEST_EVENT_INTERVAL 100

/* Beside the GPUs, which have numbers of their own, DLPack names two devices for memory that the
 * host and all GPUs reach: (3, 0) for pinned memory and (13, 0) for managed memory. They allocate
 * memory of this kind alone, in the context of the first GPU. */
struct _MtlCudaDevice
{
  MtlDevice parent_instance;

  MtlCudaContext *context;
};

G_DEFINE_FINAL_TYPE (MtlCudaDevice, mtl_cuda_device, MTL_TYPE_DEVICE)

static MtlCudaContext *
get_context (MtlDevice *device)
{
  return MTL_CUDA_DEVICE (device)->context;
}

static gboolean
mtl_cuda_device_supports_storage_mode (MtlDevice      *device,
                                       MtlStorageMode  mode)
{
  MtlDeviceType type = mtl_device_get_device_type (device);

  switch (mode)
    {
    case MTL_STORAGE_MODE_PRIVATE:
      return type == MTL_DEVICE_TYPE_CUDA;
    case MTL_STORAGE_MODE_SHARED:
      return type != MTL_DEVICE_TYPE_CUDA_MANAGED;
    case MTL_STORAGE_MODE_MANAGED:
      return type != MTL_DEVICE_TYPE_CUDA_HOST && get_context (device)->has_managed_memory;
    default:
      return FALSE;
    }
}

static MtlStorageMode
mtl_cuda_device_get_default_storage_mode (MtlDevice *device)
{
  switch (mtl_device_get_device_type (device))
    {
    case MTL_DEVICE_TYPE_CUDA_HOST:
      return MTL_STORAGE_MODE_SHARED;
    case MTL_DEVICE_TYPE_CUDA_MANAGED:
      return MTL_STORAGE_MODE_MANAGED;
    default:
      return MTL_STORAGE_MODE_PRIVATE;
    }
}

static gpointer
mtl_cuda_device_allocate (MtlDevice       *device,
                          gsize            size,
                          MtlStorageMode   mode,
                          gboolean         zeroed,
                          GError         **error)
{
  return mtl_cuda_memory_allocate (get_context (device), size, mode, zeroed, error);
}

/* The driver must not be given private mappings of files: it may never return. Other memory of
 * a caller may be one. */
static gpointer
mtl_cuda_device_wrap_memory (MtlDevice       *device,
                             gpointer         data,
                             gsize            size,
                             gboolean         is_file,
                             gpointer         owner,
                             GDestroyNotify   destroy,
                             GError         **error)
{
  if (!mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_SHARED))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” does not use mapped files in place: use (%d, 0)",
                   mtl_device_get_name (device), MTL_DEVICE_TYPE_CUDA_HOST);
      return NULL;
    }

  if (!is_file)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "“%s” uses mapped files in place, but not the %" G_GSIZE_FORMAT " bytes at %p",
                   mtl_device_get_name (device), size, data);
      return NULL;
    }

  return mtl_cuda_memory_register (get_context (device), data, size, owner, destroy, error)
           ? data : NULL;
}

static gboolean
check_range (const MtlCudaPlace  *place,
             gpointer             address,
             gsize                size,
             MtlError             code,
             GError             **error)
{
  guint64 offset = (guintptr) address - place->start;

  if (place->size == 0 || (offset <= place->size && size <= place->size - offset))
    return TRUE;

  g_set_error (error, MTL_ERROR, code,
               "%" G_GSIZE_FORMAT " bytes at %p exceed the allocation of %" G_GUINT64_FORMAT
               " bytes at 0x%" G_GINT64_MODIFIER "x", size, address, place->size, place->start);
  return FALSE;
}

static gboolean
find_place (const MtlCudaDriver  *cu,
            gpointer              address,
            MtlCudaPlace         *place,
            GError              **error)
{
  CuResult result = mtl_cuda_memory_find (cu, address, place);

  return result == CU_SUCCESS
         || mtl_cuda_driver_set_error (cu, result, "CUDA", "find memory by its address", error);
}

static gpointer
mtl_cuda_device_wrap_handle (MtlDevice       *device,
                             gpointer         handle,
                             gsize            size,
                             MtlStorageMode  *mode,
                             GError         **error)
{
  MtlCudaContext *context = get_context (device);
  MtlCudaPlace place;

  if (!mtl_cuda_driver_check_process (error)
      || !find_place (context->cu, handle, &place, error))
    return NULL;

  if (!place.is_known)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The address %p is not in memory of CUDA", handle);
      return NULL;
    }

  if (place.mode == MTL_STORAGE_MODE_PRIVATE && place.ordinal != context->ordinal)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The memory at %p belongs to device (%d, %d), not to “%s” (%d, %d)", handle,
                   MTL_DEVICE_TYPE_CUDA, place.ordinal, mtl_device_get_name (device),
                   MTL_DEVICE_TYPE_CUDA, context->ordinal);
      return NULL;
    }

  if (place.mode != MTL_STORAGE_MODE_PRIVATE && place.contents != handle)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The host reaches the memory at %p at %p: use the same address for both",
                   handle, place.contents);
      return NULL;
    }

  if (!mtl_device_supports_storage_mode (device, place.mode))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The memory at %p is of another kind than that of “%s” (%d, %d)", handle,
                   mtl_device_get_name (device), mtl_device_get_device_type (device),
                   mtl_device_get_ordinal (device));
      return NULL;
    }

  *mode = place.mode;
  return check_range (&place, handle, size, MTL_ERROR_OUT_OF_BOUNDS, error) ? handle : NULL;
}

static void
mtl_cuda_device_free (MtlDevice           *device,
                      gpointer             handle,
                      MtlStorageMode       mode,
                      const MtlDeviceUses *uses)
{
  mtl_cuda_memory_free (get_context (device), handle, mode, uses);
}

static void
mtl_cuda_device_end_owner (MtlDevice           *device,
                           const MtlDeviceUses *uses,
                           gpointer             owner,
                           GDestroyNotify       destroy)
{
  mtl_cuda_memory_end_owner (get_context (device), uses, owner, destroy);
}

/* Pinned and managed memory has one address for all. */
static gpointer
mtl_cuda_device_contents (MtlDevice      *device,
                          gpointer        handle,
                          MtlStorageMode  mode)
{
  return mode != MTL_STORAGE_MODE_PRIVATE ? handle : NULL;
}

/* The legacy stream and those of threads wait for each other. */
static guint64
get_stream_for_all_threads (guint64 stream)
{
  return stream == (guintptr) CU_PER_THREAD_STREAM ? (guintptr) CU_LEGACY_STREAM : stream;
}

static gboolean
mtl_cuda_device_begin_export (MtlDevice      *device,
                              MtlDevice      *consumer,
                              MtlDeviceUses  *uses,
                              gboolean        is_ordered,
                              GError        **error)
{
  MtlCudaContext *own = get_context (device), *context = get_context (consumer);
  g_auto (MtlCudaScope) consumer_scope = { NULL };
  g_auto (MtlCudaScope) scope = { NULL };
  guint64 stream = (guintptr) CU_LEGACY_STREAM;
  gboolean is_known = mtl_pushed_stream_find (MTL_DEVICE_TYPE_CUDA, context->ordinal, &stream);

  /* Another GPU may not be open yet. */
  if ((own != context && !mtl_cuda_scope_enter (&consumer_scope, context, error))
      || !mtl_cuda_scope_enter (&scope, own, error))
    return FALSE;

  mtl_device_uses_add (uses, context, get_stream_for_all_threads (stream));
  if (is_ordered)
    return own == context
           || mtl_cuda_context_order_devices (own, own->stream, context, context->stream, error);
  if (!is_known)
    return mtl_cuda_context_wait (own, own->stream, NULL, error);

  return mtl_cuda_context_order_devices (own, own->stream, context, mtl_cuda_to_stream (stream),
                                         error);
}

static gboolean
mtl_cuda_device_begin_import (MtlDevice  *device,
                              guint64    *stream,
                              GError    **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };

  *stream = 0;
  if (!mtl_pushed_stream_find (MTL_DEVICE_TYPE_CUDA, context->ordinal, stream))
    return TRUE;

  if (!mtl_cuda_scope_enter (&scope, context, error)
      || !mtl_cuda_context_order (context, mtl_cuda_to_stream (*stream), context->stream, error))
    return FALSE;

  *stream = get_stream_for_all_threads (*stream);
  return TRUE;
}

static gboolean
mtl_cuda_device_copy (MtlDevice       *device,
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
  return mtl_cuda_copy (get_context (device), (guint8 *) dest + dest_offset, dest_mode,
                        (guint8 *) source + source_offset, source_mode, size, cancellable, error);
}

static gboolean
mtl_cuda_device_copy_from_peer (MtlDevice  *device,
                                gpointer    dest,
                                MtlDevice  *source_device,
                                gpointer    source,
                                gsize       size,
                                GError    **error)
{
  return mtl_cuda_copy_from_peer (get_context (device), dest, get_context (source_device), source,
                                  size, error);
}

/* The pattern is an element of its size. */
static gboolean
fill_by_kernel (MtlCudaContext  *context,
                guint8          *dest,
                gsize            size,
                gconstpointer    pattern,
                gsize            pattern_size,
                gboolean        *is_done,
                GError         **error)
{
  const gint64 n = size / pattern_size;
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlStrided elements = { .layout = &layout, .data = dest };

  *is_done = FALSE;
  return mtl_layout_new_dense (&n, 1, MTL_ORDER_C, 8 * pattern_size, &layout, error)
         && mtl_cuda_fill_elements (context, &elements, pattern, is_done, error);
}

static gboolean
mtl_cuda_device_fill (MtlDevice       *device,
                      gpointer         handle,
                      MtlStorageMode   mode,
                      gsize            offset,
                      gsize            size,
                      gconstpointer    pattern,
                      gsize            pattern_size,
                      GError         **error)
{
  MtlCudaContext *context = get_context (device);
  guint8 *dest = (guint8 *) handle + offset;
  gboolean is_done;

  if (!mtl_cuda_set (context, dest, size, pattern, pattern_size, &is_done, error))
    return FALSE;
  if (!is_done && !fill_by_kernel (context, dest, size, pattern, pattern_size, &is_done, error))
    return FALSE;

  return is_done
         || mtl_cuda_fill_by_copies (context, dest, size, pattern, pattern_size, error);
}

static gboolean
mtl_cuda_device_copy_elements (MtlDevice         *device,
                               const MtlStrided  *dest,
                               const MtlStrided  *source,
                               const double      *factors,
                               gboolean          *is_done,
                               GError           **error)
{
  return mtl_cuda_copy_elements (get_context (device), dest, source, factors, is_done, error);
}

static gboolean
mtl_cuda_device_fill_elements (MtlDevice         *device,
                               const MtlStrided  *dest,
                               gconstpointer      item,
                               gboolean          *is_done,
                               GError           **error)
{
  return mtl_cuda_fill_elements (get_context (device), dest, item, is_done, error);
}

static gboolean
mtl_cuda_device_compare_elements (MtlDevice           *device,
                                  const MtlStrided    *a,
                                  const MtlStrided    *b,
                                  const MtlTolerance  *tolerance,
                                  gboolean            *are_close,
                                  gboolean            *is_done,
                                  GCancellable        *cancellable,
                                  GError             **error)
{
  return mtl_cuda_compare_elements (get_context (device), a, b, tolerance, are_close, is_done,
                                    cancellable, error);
}

static gboolean
mtl_cuda_device_tally_tiles (MtlDevice       *device,
                             const MtlTiles  *tiles,
                             gint64           first,
                             gint64           n,
                             MtlElementType   type,
                             MtlTally        *tallies,
                             gboolean        *is_done,
                             GCancellable    *cancellable,
                             GError         **error)
{
  return mtl_cuda_tally_tiles (get_context (device), tiles, first, n, type, tallies, is_done,
                               cancellable, error);
}

static gboolean
mtl_cuda_device_check_runs (MtlDevice   *device,
                            const char  *what,
                            GError     **error)
{
  g_auto (MtlCudaWork) work = { { NULL } };

  return mtl_cuda_work_begin (&work, get_context (device), error)
         && mtl_cuda_work_check_runs (&work, what, error);
}

static gboolean
mtl_cuda_device_reaches_memory_of (MtlDevice      *device,
                                   MtlDevice      *other,
                                   MtlStorageMode  mode)
{
  return mode != MTL_STORAGE_MODE_PRIVATE || get_context (device) == get_context (other);
}

static gboolean
mtl_cuda_device_synchronize (MtlDevice     *device,
                             GCancellable  *cancellable,
                             GError       **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };

  return mtl_cuda_scope_enter (&scope, context, error)
         && mtl_cuda_context_wait (context, context->stream, cancellable, error);
}

/* A stream for pinned memory would be that of one GPU, in which the work of another is not. */
static gboolean
check_is_gpu (MtlDevice  *device,
              GError    **error)
{
  if (mtl_device_get_device_type (device) == MTL_DEVICE_TYPE_CUDA)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "“%s” has no streams: use one of a GPU (%d, N)", mtl_device_get_name (device),
               MTL_DEVICE_TYPE_CUDA);
  return FALSE;
}

static gboolean
mtl_cuda_device_new_stream (MtlDevice  *device,
                            guint64    *stream,
                            GError    **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };
  CuStream created = NULL;

  if (!check_is_gpu (device, error)
      || !mtl_cuda_scope_enter (&scope, context, error)
      || !mtl_cuda_context_check (context,
                                  context->cu->cuStreamCreate (&created, CU_STREAM_NONBLOCKING),
                                  "create a stream", error))
    return FALSE;

  *stream = (guintptr) created;
  return TRUE;
}

/* The handle 0 may mean either default stream, and both of these have handles of their own. */
static gboolean
mtl_cuda_device_wrap_stream (MtlDevice  *device,
                             guint64     stream,
                             GError    **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };
  CuContext of_stream = NULL;
  CuResult result;

  if (!check_is_gpu (device, error))
    return FALSE;

  if (stream == 0 || stream > G_MAXSIZE)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The handle %" G_GUINT64_FORMAT " is not a stream: use 1 for the legacy stream,"
                   " 2 for that of the thread", stream);
      return FALSE;
    }

  if (!mtl_cuda_scope_enter (&scope, context, error))
    return FALSE;

  result = context->cu->cuStreamGetCtx (mtl_cuda_to_stream (stream), &of_stream);
  if (result == CU_SUCCESS && of_stream == context->context)
    return TRUE;
  if (result != CU_SUCCESS && result != CU_INVALID_HANDLE)
    return mtl_cuda_context_check (context, result, "find a stream", error);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The handle 0x%" G_GINT64_MODIFIER "x is not a stream of “%s” (%d, %d)", stream,
               mtl_device_get_name (device), MTL_DEVICE_TYPE_CUDA, context->ordinal);
  return FALSE;
}

static void
mtl_cuda_device_free_stream (MtlDevice *device,
                             guint64    stream,
                             gboolean   is_own)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };

  if (is_own && mtl_cuda_scope_enter (&scope, context, NULL))
    context->cu->cuStreamDestroy_v2 (mtl_cuda_to_stream (stream));
}

static gboolean
mtl_cuda_device_get_stream (MtlDevice  *device,
                            guint64    *stream,
                            GError    **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };

  if (!mtl_cuda_scope_enter (&scope, context, error))
    return FALSE;

  *stream = (guintptr) context->stream;
  return TRUE;
}

static gboolean
mtl_cuda_device_order_streams (MtlDevice  *device,
                               guint64     before,
                               MtlDevice  *other,
                               guint64     after,
                               GError    **error)
{
  return mtl_cuda_context_order_devices (get_context (device), mtl_cuda_to_stream (before),
                                         get_context (other), mtl_cuda_to_stream (after), error);
}

static gboolean
mtl_cuda_device_synchronize_stream (MtlDevice     *device,
                                    guint64        stream,
                                    GCancellable  *cancellable,
                                    GError       **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };

  if (!mtl_cuda_scope_enter (&scope, context, error))
    return FALSE;

  if (!mtl_cuda_context_is_capturing (context, mtl_cuda_to_stream (stream)))
    return mtl_cuda_context_wait (context, mtl_cuda_to_stream (stream), cancellable, error);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The stream 0x%" G_GINT64_MODIFIER "x of “%s” captures a graph, whose work begins"
               " later: wait after the capture", stream, mtl_device_get_name (device));
  return FALSE;
}

/* An event is a number in pinned memory, which the host and the GPU read and write. */

static gpointer
mtl_cuda_device_new_event (MtlDevice  *device,
                           GError    **error)
{
  return mtl_cuda_memory_allocate (get_context (device), sizeof (guint64), MTL_STORAGE_MODE_SHARED,
                                   TRUE, error);
}

static gpointer
mtl_cuda_device_wrap_event (MtlDevice  *device,
                            gpointer    handle,
                            GError    **error)
{
  MtlCudaPlace place;

  if (!mtl_cuda_driver_check_process (error)
      || !find_place (get_context (device)->cu, handle, &place, error))
    return NULL;

  if ((guintptr) handle % sizeof (guint64) == 0
      && place.is_known && place.mode == MTL_STORAGE_MODE_SHARED
      && check_range (&place, handle, sizeof (guint64), MTL_ERROR_INVALID_ARGUMENT, NULL))
    return handle;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The address %p is not an integer of 8 bytes in pinned memory", handle);
  return NULL;
}

static void
mtl_cuda_device_free_event (MtlDevice *device,
                            gpointer   event,
                            gboolean   is_own)
{
  const MtlDeviceUses uses = { .is_queued = TRUE };

  if (is_own)
    mtl_cuda_memory_free (get_context (device), event, MTL_STORAGE_MODE_SHARED, &uses);
}

static guint64
mtl_cuda_device_get_event_value (MtlDevice *device,
                                 gpointer   event)
{
  return __atomic_load_n ((guint64 *) event, __ATOMIC_ACQUIRE);
}

static void
mtl_cuda_device_set_event_value (MtlDevice *device,
                                 gpointer   event,
                                 guint64    value)
{
  __atomic_store_n ((guint64 *) event, value, __ATOMIC_RELEASE);
}

/* The GPU wakes nobody when it writes the number. */
static gboolean
mtl_cuda_device_wait_event (MtlDevice *device,
                            gpointer   event,
                            guint64    value,
                            gint64     timeout)
{
  gint64 end = g_get_monotonic_time () + timeout;
  gint64 interval = 1;

  while (mtl_cuda_device_get_event_value (device, event) < value)
    {
      gint64 left = end - g_get_monotonic_time ();

      if (left <= 0)
        return FALSE;

      g_usleep (MIN (interval, left));
      interval = MIN (interval * 2, LONGEST_EVENT_INTERVAL);
    }

  return TRUE;
}

typedef CuResult (* ValueFunc) (CuStream     stream,
                                CuAddress    address,
                                uint64_t     value,
                                unsigned int flags);

static gboolean
queue_value (MtlDevice   *device,
             guint64      stream,
             gpointer     event,
             guint64      value,
             ValueFunc    func,
             const char  *what,
             GError     **error)
{
  MtlCudaContext *context = get_context (device);
  g_auto (MtlCudaScope) scope = { NULL };

  if (!context->has_stream_values)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "Streams of “%s” cannot wait for values of 64 bits", context->name);
      return FALSE;
    }

  return mtl_cuda_scope_enter (&scope, context, error)
         && mtl_cuda_context_check (context,
                                    func (mtl_cuda_to_stream (stream), (guintptr) event, value, 0),
                                    what, error);
}

static gboolean
mtl_cuda_device_queue_wait (MtlDevice  *device,
                            guint64     stream,
                            gpointer    event,
                            guint64     value,
                            GError    **error)
{
  G_STATIC_ASSERT (CU_WAIT_VALUE_REACHED == 0);

  return queue_value (device, stream, event, value,
                      get_context (device)->cu->cuStreamWaitValue64_v2, "wait for an event", error);
}

static gboolean
mtl_cuda_device_queue_signal (MtlDevice  *device,
                              guint64     stream,
                              gpointer    event,
                              guint64     value,
                              GError    **error)
{
  return queue_value (device, stream, event, value,
                      get_context (device)->cu->cuStreamWriteValue64_v2, "signal an event", error);
}

static void
mtl_cuda_device_class_init (MtlCudaDeviceClass *klass)
{
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  device_class->supports_storage_mode = mtl_cuda_device_supports_storage_mode;
  device_class->get_default_storage_mode = mtl_cuda_device_get_default_storage_mode;
  device_class->allocate = mtl_cuda_device_allocate;
  device_class->wrap_memory = mtl_cuda_device_wrap_memory;
  device_class->loads_wrapped_pages = TRUE;
  device_class->wrap_handle = mtl_cuda_device_wrap_handle;
  device_class->free = mtl_cuda_device_free;
  device_class->end_owner = mtl_cuda_device_end_owner;
  device_class->contents = mtl_cuda_device_contents;
  device_class->begin_export = mtl_cuda_device_begin_export;
  device_class->begin_import = mtl_cuda_device_begin_import;
  device_class->copy = mtl_cuda_device_copy;
  device_class->copy_from_peer = mtl_cuda_device_copy_from_peer;
  device_class->fill = mtl_cuda_device_fill;
  device_class->copy_elements = mtl_cuda_device_copy_elements;
  device_class->fill_elements = mtl_cuda_device_fill_elements;
  device_class->compare_elements = mtl_cuda_device_compare_elements;
  device_class->tally_tiles = mtl_cuda_device_tally_tiles;
  device_class->check_runs = mtl_cuda_device_check_runs;
  device_class->reaches_memory_of = mtl_cuda_device_reaches_memory_of;
  device_class->synchronize = mtl_cuda_device_synchronize;
  device_class->new_stream = mtl_cuda_device_new_stream;
  device_class->wrap_stream = mtl_cuda_device_wrap_stream;
  device_class->free_stream = mtl_cuda_device_free_stream;
  device_class->get_stream = mtl_cuda_device_get_stream;
  device_class->order_streams = mtl_cuda_device_order_streams;
  device_class->synchronize_stream = mtl_cuda_device_synchronize_stream;
  device_class->queue_wait = mtl_cuda_device_queue_wait;
  device_class->queue_signal = mtl_cuda_device_queue_signal;
  device_class->new_event = mtl_cuda_device_new_event;
  device_class->wrap_event = mtl_cuda_device_wrap_event;
  device_class->free_event = mtl_cuda_device_free_event;
  device_class->get_event_value = mtl_cuda_device_get_event_value;
  device_class->set_event_value = mtl_cuda_device_set_event_value;
  device_class->wait_event = mtl_cuda_device_wait_event;
}

static void
mtl_cuda_device_init (MtlCudaDevice *self)
{
}

static char *
dup_uuid (const MtlCudaContext *context)
{
  const guint8 *b;
  CuUuid uuid;

  if (context->cu->cuDeviceGetUuid_v2 (&uuid, context->device) != CU_SUCCESS)
    return NULL;

  b = uuid.bytes;
  return g_strdup_printf ("GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                          b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                          b[12], b[13], b[14], b[15]);
}

static MtlDevice *
device_new (MtlCudaContext *context,
            MtlDeviceType   type,
            int             ordinal,
            const char     *name)
{
  g_autofree char *uuid = type == MTL_DEVICE_TYPE_CUDA ? dup_uuid (context) : NULL;
  gsize memory_size = 0;
  MtlCudaDevice *self;

  if (context->cu->cuDeviceTotalMem_v2 (&memory_size, context->device) != CU_SUCCESS)
    memory_size = 0;

  self = g_object_new (MTL_TYPE_CUDA_DEVICE,
                       "device-type", type,
                       "ordinal", ordinal,
                       "name", name,
                       "uuid", uuid,
                       "host-accessible", type != MTL_DEVICE_TYPE_CUDA,
                       "unified-memory", context->is_integrated,
                       "max-buffer-size", (guint64) G_MAXSSIZE,
                       "memory-size", type == MTL_DEVICE_TYPE_CUDA ? (guint64) memory_size : 0,
                       "page-size", (guint64) 4096,
                       NULL);
  self->context = context;
  return MTL_DEVICE (self);
}

typedef struct
{
  GPtrArray *devices; /* by ordinal, or NULL */
  MtlDevice *pinned;
  MtlDevice *managed;
} MtlCudaDevices;

static MtlCudaDevices *
enumerate (const MtlCudaDriver *cu)
{
  MtlCudaDevices *all = g_new0 (MtlCudaDevices, 1);

  all->devices = g_ptr_array_new ();
  for (int i = 0; i < cu->n_devices; i++)
    {
      MtlCudaContext *context = mtl_cuda_context_new (cu, i);
      MtlDevice *device = NULL;

      if (context != NULL)
        device = device_new (context, MTL_DEVICE_TYPE_CUDA, i, context->name);
      g_ptr_array_add (all->devices, device);

      if (context != NULL && all->pinned == NULL)
        all->pinned = device_new (context, MTL_DEVICE_TYPE_CUDA_HOST, 0, "CUDA’s pinned memory");
      if (context != NULL && all->managed == NULL && context->has_managed_memory)
        all->managed = device_new (context, MTL_DEVICE_TYPE_CUDA_MANAGED, 0,
                                   "CUDA’s managed memory");
    }

  return all;
}

/* They are looked up once. */
static MtlCudaDevices *
get_devices (const MtlCudaDriver *cu)
{
  static MtlForkOnce once;
  static MtlCudaDevices *all;

  if (cu == NULL)
    return NULL;

  if (mtl_fork_once_enter (&once))
    {
      all = enumerate (cu);
      mtl_fork_once_leave (&once);
    }

  return all;
}

GPtrArray *
mtl_cuda_device_peek_all (void)
{
  MtlCudaDevices *all = get_devices (mtl_cuda_driver_peek ());

  return all != NULL ? all->devices : NULL;
}

MtlDevice *
mtl_cuda_device_get (MtlDeviceType type,
                     int           ordinal)
{
  MtlCudaDevices *all = get_devices (mtl_cuda_driver_get ());

  if (all == NULL)
    return NULL;

  if (type == MTL_DEVICE_TYPE_CUDA)
    return ordinal >= 0 && (guint) ordinal < all->devices->len
             ? g_ptr_array_index (all->devices, ordinal) : NULL;
  if (ordinal != 0)
    return NULL;

  return type == MTL_DEVICE_TYPE_CUDA_HOST ? all->pinned : all->managed;
}

static char *
dup_reason_missing (const MtlCudaDriver *cu,
                    MtlDeviceType        type,
                    int                  ordinal)
{
  int n_devices;

  if (cu == NULL)
    return g_strdup (mtl_cuda_driver_get_obstacle ());

  n_devices = type == MTL_DEVICE_TYPE_CUDA ? cu->n_devices : 1;
  if (ordinal < 0 || ordinal >= n_devices)
    return g_strdup_printf ("the last one is (%d, %d)", type, n_devices - 1);
  if (type == MTL_DEVICE_TYPE_CUDA_MANAGED)
    return g_strdup ("the GPU or its driver lacks concurrent access to managed memory");

  return g_strdup ("the GPU or its driver lacks unified addresses or pools of memory");
}

void
mtl_cuda_device_set_missing_error (MtlDeviceType   type,
                                   int             ordinal,
                                   GError        **error)
{
  const MtlCudaDriver *cu = mtl_cuda_driver_get ();
  g_autofree char *reason = NULL;

  if (!mtl_cuda_driver_check_process (error))
    return;

  reason = dup_reason_missing (cu, type, ordinal);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED, "There is no device (%d, %d) here: %s",
               type, ordinal, reason);
}

gboolean
mtl_cuda_device_takes_tensors (void)
{
  return mtl_cuda_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0) != NULL
         || !mtl_cuda_driver_check_process (NULL);
}

/* Without concurrent access, the host would fault on managed memory while any work is queued. */
static gboolean
is_out_of_reach (MtlDevice          *device,
                 const MtlCudaPlace *place)
{
  return place->mode == MTL_STORAGE_MODE_MANAGED && device != NULL
         && !get_context (device)->has_managed_memory;
}

gboolean
mtl_cuda_device_inspect (gpointer        address,
                         gsize           size,
                         MtlCudaMemory  *memory,
                         GError        **error)
{
  const MtlCudaDriver *cu = mtl_cuda_driver_get ();
  MtlCudaPlace place;

  if (!mtl_cuda_driver_check_process (error)
      || (cu != NULL && !find_place (cu, address, &place, error)))
    return FALSE;

  if (cu == NULL || !place.is_known)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA,
                   "The tensor of %" G_GSIZE_FORMAT " bytes at %p is not in memory of CUDA", size,
                   address);
      return FALSE;
    }

  if (!check_range (&place, address, size, MTL_ERROR_INVALID_DATA, error))
    return FALSE;

  *memory = (MtlCudaMemory) {
    .device = mtl_cuda_device_get (MTL_DEVICE_TYPE_CUDA, place.ordinal),
    .storage_mode = place.mode,
    .contents = place.contents,
  };
  if (is_out_of_reach (memory->device, &place))
    memory->contents = NULL;
  if (memory->device != NULL)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The tensor at %p belongs to device (%d, %d), which lacks what this library needs",
               address, MTL_DEVICE_TYPE_CUDA, place.ordinal);
  return FALSE;
}
