/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-cuda-context-private.h"

#include "mtl-device-private.h"
#include "mtl-error.h"

/* A wait that can be cancelled asks after the stream in intervals that grow, in microseconds. */
#define SHORTEST_INTERVAL 10
#define LONGEST_INTERVAL 1000

static int
get_attribute (const MtlCudaDriver *cu,
               CuDevice             device,
               CuEnum               attribute)
{
  int value = 0;

  return cu->cuDeviceGetAttribute (&value, attribute, device) == CU_SUCCESS ? value : 0;
}

MtlCudaContext *
mtl_cuda_context_new (const MtlCudaDriver *cu,
                      int                  ordinal)
{
  MtlCudaContext *self;
  char name[256] = "";
  CuDevice device;

  if (cu->cuDeviceGet (&device, ordinal) != CU_SUCCESS
      || !get_attribute (cu, device, CU_DEVICE_UNIFIED_ADDRESSING)
      || !get_attribute (cu, device, CU_DEVICE_MEMORY_POOLS))
    return NULL;

  if (cu->cuDeviceGetName (name, sizeof name, device) != CU_SUCCESS)
    name[0] = '\0';

  self = g_new0 (MtlCudaContext, 1);
  self->cu = cu;
  self->device = device;
  self->ordinal = ordinal;
  self->name = g_utf8_make_valid (name, -1);
  self->is_integrated = get_attribute (cu, device, CU_DEVICE_INTEGRATED) != 0;
  self->has_managed_memory = get_attribute (cu, device, CU_DEVICE_MANAGED_MEMORY)
                             && get_attribute (cu, device, CU_DEVICE_CONCURRENT_MANAGED_ACCESS);
  self->registers_read_only = get_attribute (cu, device, CU_DEVICE_REGISTER_READ_ONLY)
                              && get_attribute (cu, device, CU_DEVICE_REGISTERED_SAME_ADDRESS);
  self->has_stream_values = cu->cuStreamWriteValue64_v2 != NULL
                            && cu->cuStreamWaitValue64_v2 != NULL
                            && get_attribute (cu, device, CU_DEVICE_STREAM_VALUES_64);
  return self;
}

gboolean
mtl_cuda_context_check (MtlCudaContext  *self,
                        CuResult         result,
                        const char      *what,
                        GError         **error)
{
  return result == CU_SUCCESS
         || mtl_cuda_driver_set_error (self->cu, result, self->name, what, error);
}

/* Memory that is freed stays in the pool. */
static gboolean
open_pool (MtlCudaContext  *self,
           GError         **error)
{
  const CuPoolProps props = {
    .alloc_type = CU_ALLOCATION_PINNED,
    .location_type = CU_LOCATION_DEVICE,
    .location_id = self->device,
  };
  guint64 threshold = G_MAXUINT64;

  return mtl_cuda_context_check (self, self->cu->cuMemPoolCreate (&self->pool, &props),
                                 "create a pool of memory", error)
         && mtl_cuda_context_check (self,
                                    self->cu->cuMemPoolSetAttribute (self->pool,
                                                                     CU_POOL_RELEASE_THRESHOLD,
                                                                     &threshold),
                                    "set the threshold of its pool", error);
}

/* Called in the context. */
static gboolean
open_resources (MtlCudaContext  *self,
                GError         **error)
{
  const MtlCudaDriver *cu = self->cu;

  return (self->stream != NULL
          || mtl_cuda_context_check (self, cu->cuStreamCreate (&self->stream, CU_STREAM_NONBLOCKING),
                                     "create a stream", error))
         && (self->releases != NULL
             || mtl_cuda_context_check (self,
                                        cu->cuStreamCreate (&self->releases, CU_STREAM_NONBLOCKING),
                                        "create a stream", error))
         && (self->pool != NULL || open_pool (self, error));
}

/* The next attempt uses what a failed one has created. */
static gboolean
open_context (MtlCudaContext  *self,
              GError         **error)
{
  const MtlCudaDriver *cu = self->cu;
  gboolean succeeded;

  if (self->context == NULL
      && !mtl_cuda_context_check (self, cu->cuDevicePrimaryCtxRetain (&self->context, self->device),
                                  "create a context", error))
    return FALSE;

  if (!mtl_cuda_context_check (self, cu->cuCtxPushCurrent_v2 (self->context), "enter its context",
                               error))
    return FALSE;

  succeeded = open_resources (self, error);
  cu->cuCtxPopCurrent_v2 (NULL);
  return succeeded;
}

static gboolean
ensure_open (MtlCudaContext  *self,
             GError         **error)
{
  if (G_LIKELY (g_atomic_int_get (&self->is_open)))
    return TRUE;

  mtl_fork_lock (&self->opening);
  if (!self->is_open && open_context (self, error))
    g_atomic_int_set (&self->is_open, TRUE);
  mtl_fork_unlock (&self->opening);
  return g_atomic_int_get (&self->is_open);
}

gboolean
mtl_cuda_scope_enter (MtlCudaScope    *self,
                      MtlCudaContext  *context,
                      GError         **error)
{
  const MtlCudaDriver *cu = context->cu;
  CuEnum mode = CU_CAPTURE_MODE_RELAXED;

  self->context = NULL;
  if (!mtl_cuda_driver_check_process (error)
      || !mtl_cuda_context_check (context, cu->cuThreadExchangeStreamCaptureMode (&mode),
                                  "be used", error))
    return FALSE;

  self->capture_mode = mode;
  if (ensure_open (context, error)
      && mtl_cuda_context_check (context, cu->cuCtxPushCurrent_v2 (context->context),
                                 "enter its context", error))
    {
      self->context = context;
      return TRUE;
    }

  cu->cuThreadExchangeStreamCaptureMode (&mode);
  return FALSE;
}

void
mtl_cuda_scope_leave (MtlCudaScope *self)
{
  MtlCudaContext *context = g_steal_pointer (&self->context);

  if (context == NULL)
    return;

  context->cu->cuCtxPopCurrent_v2 (NULL);
  context->cu->cuThreadExchangeStreamCaptureMode (&self->capture_mode);
}

/* The legacy stream cannot be asked while a blocking stream captures. */
gboolean
mtl_cuda_context_is_capturing (MtlCudaContext *self,
                               CuStream        stream)
{
  CuEnum status = CU_CAPTURE_NONE;
  CuResult result = self->cu->cuStreamIsCapturing (stream, &status);

  return result == CU_CAPTURE_IMPLICIT || status != CU_CAPTURE_NONE;
}

static CuEvent
take_event (MtlCudaContext  *self,
            GError         **error)
{
  CuEvent event = NULL;

  mtl_fork_lock (&self->events_lock);
  if (self->n_events > 0)
    event = self->events[--self->n_events];
  mtl_fork_unlock (&self->events_lock);

  if (event == NULL)
    mtl_cuda_context_check (self,
                            self->cu->cuEventCreate (&event,
                                                     CU_EVENT_BLOCKING | CU_EVENT_NO_TIMING),
                            "create an event", error);
  return event;
}

void
mtl_cuda_context_give_back_event (MtlCudaContext *self,
                                  CuEvent         event)
{
  gboolean is_kept;

  mtl_fork_lock (&self->events_lock);
  is_kept = self->n_events < G_N_ELEMENTS (self->events);
  if (is_kept)
    self->events[self->n_events++] = event;
  mtl_fork_unlock (&self->events_lock);

  if (!is_kept)
    self->cu->cuEventDestroy_v2 (event);
}

CuEvent
mtl_cuda_context_record (MtlCudaContext  *self,
                         CuStream         stream,
                         GError         **error)
{
  CuEvent event = take_event (self, error);

  if (event == NULL
      || mtl_cuda_context_check (self, self->cu->cuEventRecord (event, stream),
                                 "record an event", error))
    return event;

  mtl_cuda_context_give_back_event (self, event);
  return NULL;
}

/* Streams for memory that all GPUs reach may be of any of them. */
static CuContext
find_other_context (MtlCudaContext *self,
                    CuStream        stream)
{
  gboolean is_default = stream == CU_LEGACY_STREAM || stream == CU_PER_THREAD_STREAM;
  CuContext context = NULL;

  if (stream == self->stream || stream == self->releases || is_default
      || self->cu->cuStreamGetCtx (stream, &context) != CU_SUCCESS)
    return NULL;

  return context != self->context ? context : NULL;
}

/* An event can only be recorded in streams of its context. */
static gboolean
order_from_other_context (MtlCudaContext  *self,
                          CuContext        context,
                          CuStream         before,
                          CuStream         after,
                          GError         **error)
{
  const MtlCudaDriver *cu = self->cu;
  CuEvent event = NULL;
  CuResult result = cu->cuCtxPushCurrent_v2 (context);

  if (result == CU_SUCCESS)
    {
      result = cu->cuEventCreate (&event, CU_EVENT_BLOCKING | CU_EVENT_NO_TIMING);
      cu->cuCtxPopCurrent_v2 (NULL);
    }
  if (result == CU_SUCCESS)
    result = cu->cuEventRecord (event, before);
  if (result == CU_SUCCESS)
    result = cu->cuStreamWaitEvent (after, event, 0);
  if (event != NULL)
    cu->cuEventDestroy_v2 (event);

  return mtl_cuda_context_check (self, result, "let a stream wait for one of another device",
                                 error);
}

/* A stream that was told to wait for an event waits for its record, even if it is recorded again
 * before that is reached. */
gboolean
mtl_cuda_context_order (MtlCudaContext  *self,
                        CuStream         before,
                        CuStream         after,
                        GError         **error)
{
  CuContext other;
  gboolean succeeded;
  CuEvent event;

  if (before == after
      || (before != self->stream && mtl_cuda_context_is_capturing (self, before)))
    return TRUE;

  if (after != self->stream && mtl_cuda_context_is_capturing (self, after))
    return mtl_cuda_context_wait (self, before, NULL, error);

  other = find_other_context (self, before);
  if (other != NULL)
    return order_from_other_context (self, other, before, after, error);

  event = mtl_cuda_context_record (self, before, error);
  if (event == NULL)
    return FALSE;

  succeeded = mtl_cuda_context_check (self, self->cu->cuStreamWaitEvent (after, event, 0),
                                      "let a stream wait", error);
  mtl_cuda_context_give_back_event (self, event);
  return succeeded;
}

/* Both streams may be defaults, which are those of the current context. */
gboolean
mtl_cuda_context_order_devices (MtlCudaContext  *self,
                                CuStream         before,
                                MtlCudaContext  *other,
                                CuStream         after,
                                GError         **error)
{
  g_auto (MtlCudaScope) scope = { NULL };
  g_auto (MtlCudaScope) other_scope = { NULL };
  gboolean captures, succeeded;
  CuEvent event;

  if (!mtl_cuda_scope_enter (&scope, self, error))
    return FALSE;

  if (self == other)
    return mtl_cuda_context_order (self, before, after, error);

  if (before != self->stream && mtl_cuda_context_is_capturing (self, before))
    return TRUE;

  if (!mtl_cuda_scope_enter (&other_scope, other, error))
    return FALSE;

  captures = after != other->stream && mtl_cuda_context_is_capturing (other, after);
  mtl_cuda_scope_leave (&other_scope);
  if (captures)
    return mtl_cuda_context_wait (self, before, NULL, error);

  event = mtl_cuda_context_record (self, before, error);
  if (event == NULL)
    return FALSE;

  succeeded = mtl_cuda_scope_enter (&other_scope, other, error)
              && mtl_cuda_context_check (other, other->cu->cuStreamWaitEvent (after, event, 0),
                                         "let a stream wait for one of another device", error);
  mtl_cuda_context_give_back_event (self, event);
  return succeeded;
}

void
mtl_cuda_context_order_always (MtlCudaContext *self,
                               CuStream        before,
                               MtlCudaContext *other,
                               CuStream        after)
{
  g_auto (MtlCudaScope) scope = { NULL };

  if (self == other && before == after)
    return;

  if (!mtl_cuda_context_order_devices (self, before, other, after, NULL)
      && mtl_cuda_scope_enter (&scope, self, NULL))
    mtl_cuda_context_wait (self, before, NULL, NULL);
}

static CuResult
poll_stream (MtlCudaContext *self,
             CuStream        stream,
             GCancellable   *cancellable)
{
  gulong interval = SHORTEST_INTERVAL;
  CuResult result;

  while ((result = self->cu->cuStreamQuery (stream)) == CU_NOT_READY
         && !g_cancellable_is_cancelled (cancellable))
    {
      g_usleep (interval);
      interval = MIN (interval * 2, LONGEST_INTERVAL);
    }

  return result;
}

gboolean
mtl_cuda_context_wait (MtlCudaContext  *self,
                       CuStream         stream,
                       GCancellable    *cancellable,
                       GError         **error)
{
  CuResult result = cancellable == NULL ? self->cu->cuStreamSynchronize (stream)
                                        : poll_stream (self, stream, cancellable);

  if (result == CU_NOT_READY)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                   "The wait for the work of “%s” was cancelled", self->name);
      return FALSE;
    }

  return mtl_cuda_context_check (self, result, "finish its work", error);
}

/* The stream of a consumer may be of another device, in whose streams this one cannot work. It waits
 * for the library's stream when the memory goes out. */
gboolean
mtl_cuda_context_find_pushed (MtlCudaContext *context,
                              CuStream       *stream)
{
  guint64 pushed;

  if (!mtl_pushed_stream_find (MTL_DEVICE_TYPE_CUDA, context->ordinal, &pushed))
    return FALSE;

  *stream = mtl_cuda_to_stream (pushed);
  return find_other_context (context, *stream) == NULL;
}

gboolean
mtl_cuda_work_begin (MtlCudaWork     *self,
                     MtlCudaContext  *context,
                     GError         **error)
{
  CuStream pushed;

  *self = (MtlCudaWork) { .context = context };
  if (!mtl_cuda_scope_enter (&self->scope, context, error))
    return FALSE;

  self->stream = context->stream;
  if (!mtl_cuda_context_find_pushed (context, &pushed))
    return TRUE;

  self->is_capturing = mtl_cuda_context_is_capturing (context, pushed);
  if (!mtl_cuda_context_order (context, context->stream, pushed, error))
    return FALSE;

  self->stream = pushed;
  return TRUE;
}

void
mtl_cuda_work_end (MtlCudaWork *self)
{
  if (self->scope.context != NULL)
    mtl_cuda_context_order_always (self->context, self->stream, self->context,
                                   self->context->stream);
  mtl_cuda_scope_leave (&self->scope);
}

gboolean
mtl_cuda_work_check_runs (const MtlCudaWork  *self,
                          const char         *what,
                          GError            **error)
{
  if (!self->is_capturing)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The stream %p captures a graph, in which “%s” cannot %s: do that before the capture",
               self->stream, self->context->name, what);
  return FALSE;
}
