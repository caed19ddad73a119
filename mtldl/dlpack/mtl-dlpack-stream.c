/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The streams of other libraries, by the numbers that DLPack has for them. */

#include "mtl-bindings-private.h"

#include "mtl-cuda-device-private.h"
#include "mtl-memory-private.h"

gboolean
mtl_dlpack_begin_stream (gint32  device_type,
                         guint64 stream)
{
  if (!mtl_memory_imports_cuda (device_type))
    return FALSE;

  mtl_pushed_stream_push (MTL_DEVICE_TYPE_CUDA, MTL_PUSHED_ANY_ORDINAL, stream);
  return TRUE;
}

void
mtl_dlpack_end_stream (guint64 stream)
{
  mtl_pushed_stream_pop (MTL_DEVICE_TYPE_CUDA, MTL_PUSHED_ANY_ORDINAL, stream);
}

gboolean
mtl_dlpack_get_work_stream (gint32   device_type,
                            gint32   device_ordinal,
                            guint64 *stream)
{
  MtlDevice *device = NULL;

  /* Other libraries number pinned and managed memory in different ways. */
  if (mtl_memory_imports_cuda (device_type))
    device = device_type == MTL_DEVICE_TYPE_CUDA
               ? mtl_cuda_device_get (device_type, device_ordinal)
               : mtl_cuda_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0);

  return device != NULL && MTL_DEVICE_GET_CLASS (device)->get_stream (device, stream, NULL);
}
