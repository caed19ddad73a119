/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-cuda-driver-private.h"
#include "mtl-fork-private.h"

G_BEGIN_DECLS

/* A device of CUDA with its primary context, which other libraries in the process use, too, and
 * this library's stream, in which all of its work runs. Others order their work into the stream,
 * or let theirs wait for it, so that the host does not have to wait. */
typedef struct
{
  const MtlCudaDriver *cu;
  CuDevice device;
  int ordinal;
  char *name;
  gboolean is_integrated;
  gboolean has_managed_memory; /* the host can use it while the device works */
  gboolean registers_read_only;
  gboolean has_stream_values;

  MtlForkLock opening;
  gboolean is_open; /* atomic; the fields below are set */
  CuContext context;
  CuStream stream;
  CuStream releases; /* waits for other streams before memory is freed */
  CuPool pool;

  struct _MtlCudaStaging *staging; /* atomic; for copies, or NULL */
  struct _MtlCudaKernels *kernels; /* atomic; those that were needed, or NULL */
  gboolean lacks_compiler;         /* atomic; the driver cannot compile kernels */

  MtlForkLock events_lock;
  CuEvent events[32]; /* that nobody uses */
  guint n_events;
} MtlCudaContext;

/* Handles of streams are numbers outside of the device. */
static inline CuStream
mtl_cuda_to_stream (guint64 handle)
{
  return (CuStream) (guintptr) handle;
}

/* Returns NULL if the device cannot be used. */
MtlCudaContext *mtl_cuda_context_new (const MtlCudaDriver *cu,
                                      int                  ordinal);

/* Calls of the driver are made in a scope: in the context, and in a mode in which they do not spoil
 * the capture of a graph by another library. Scopes may be nested. */
typedef struct
{
  MtlCudaContext *context; /* NULL outside of it */
  CuEnum capture_mode;
} MtlCudaScope;

gboolean mtl_cuda_scope_enter (MtlCudaScope    *self,
                               MtlCudaContext  *context,
                               GError         **error);
void     mtl_cuda_scope_leave (MtlCudaScope    *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlCudaScope, mtl_cuda_scope_leave)

/* Work is queued in this library's stream, or in the one that the calling thread has pushed. Then
 * each stream waits for the other one, so that the memory can be used in both. */
typedef struct
{
  MtlCudaScope scope;
  MtlCudaContext *context;
  CuStream stream;
  gboolean is_capturing;
} MtlCudaWork;

gboolean mtl_cuda_work_begin (MtlCudaWork     *self,
                              MtlCudaContext  *context,
                              GError         **error);
void     mtl_cuda_work_end   (MtlCudaWork     *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlCudaWork, mtl_cuda_work_end)

/* Fails if the stream captures a graph, which runs later: WHAT is not possible then. */
gboolean mtl_cuda_work_check_runs (const MtlCudaWork  *self,
                                   const char         *what,
                                   GError            **error);

/* The functions below are called in a scope. */

/* Returns whether a call succeeded, and describes a failure: “NAME” cannot WHAT. */
gboolean mtl_cuda_context_check (MtlCudaContext  *self,
                                 CuResult         result,
                                 const char      *what,
                                 GError         **error);

/* Checks if a stream, of any library, is capturing a graph. */
gboolean mtl_cuda_context_is_capturing (MtlCudaContext *self,
                                        CuStream        stream);

/* Lets one stream wait for the work that another one has now. Work that is captured is not ordered,
 * as it runs later; if the second stream captures, the host waits for the first one. */
gboolean mtl_cuda_context_order (MtlCudaContext  *self,
                                 CuStream         before,
                                 CuStream         after,
                                 GError         **error);

/* Does the same with streams of two devices, which may be one. Can be called in any scope. */
gboolean mtl_cuda_context_order_devices (MtlCudaContext  *self,
                                         CuStream         before,
                                         MtlCudaContext  *other,
                                         CuStream         after,
                                         GError         **error);

/* The same, where nobody can be told of an error: then the host waits. A stream that was destroyed
 * cannot be waited for. */
void mtl_cuda_context_order_always (MtlCudaContext *self,
                                    CuStream        before,
                                    MtlCudaContext *other,
                                    CuStream        after);

/* Gets the stream that the calling thread has pushed for the device. */
gboolean mtl_cuda_context_find_pushed (MtlCudaContext *context,
                                       CuStream       *stream);

/* Records an event in the stream. It is given back once nobody waits for it. */
CuEvent mtl_cuda_context_record (MtlCudaContext  *self,
                                 CuStream         stream,
                                 GError         **error);
void    mtl_cuda_context_give_back_event (MtlCudaContext *self,
                                          CuEvent         event);

/* Lets the host wait for a stream. */
gboolean mtl_cuda_context_wait (MtlCudaContext  *self,
                                CuStream         stream,
                                GCancellable    *cancellable,
                                GError         **error);

G_END_DECLS
