/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-python-private.h"

G_BEGIN_DECLS

/* Names that DLPack defines. */
#define LEGACY_NAME "dltensor"
#define LEGACY_USED_NAME "used_dltensor"
#define VERSIONED_NAME "dltensor_versioned"
#define VERSIONED_USED_NAME "used_dltensor_versioned"
#define EXCHANGE_API_NAME "dlpack_exchange_api"
#define EXCHANGE_ATTRIBUTE "__dlpack_c_exchange_api__"
#define OLDER_EXCHANGE_ATTRIBUTE "__c_dlpack_exchange_api__"

/* DLPack's C exchange API. */
typedef struct ExchangeHeader ExchangeHeader;
struct ExchangeHeader
{
  DLPackVersion version;
  ExchangeHeader *prev_api;
};

typedef void (* SetErrorFunc) (void       *error_ctx,
                               const char *kind,
                               const char *message);

typedef struct
{
  ExchangeHeader header;
  int (* managed_tensor_allocator)              (DLTensor                  *prototype,
                                                 DLManagedTensorVersioned **out,
                                                 void                      *error_ctx,
                                                 SetErrorFunc               set_error);
  int (* managed_tensor_from_py_object_no_sync) (void                      *py_object,
                                                 DLManagedTensorVersioned **out);
  int (* managed_tensor_to_py_object_no_sync)   (DLManagedTensorVersioned  *tensor,
                                                 void                     **out_py_object);
  int (* dltensor_from_py_object_no_sync)       (void                      *py_object,
                                                 DLTensor                  *out);
  int (* current_work_stream)                   (gint32                     device_type,
                                                 gint32                     device_id,
                                                 void                     **out_stream);
} ExchangeApi;

/* mtl-python-dlpack.c */
void      delete_managed (DLManagedTensorVersioned *managed);
DLManagedTensorVersioned *
          export_versioned (MtlStridedView  *view,
                            GError         **error);

/* mtl-python-buffer.c */
void      release_anywhere (gpointer  data);
gpointer  keep_object      (PyObject *object);

/* mtl-python-exchange.c */
MtlStridedView *take_in_stream (DLManagedTensorVersioned  *managed,
                                int                        device_type,
                                guint64                    stream,
                                GError                   **error);

/* mtl-python-producer.c */
int       refuse_lazy_real    (PyObject *object);
int       forget_exception    (void);
int       refuse_lazy         (PyObject *object);
PyObject *resolve_lazy        (PyObject *object);
int       is_jax_array        (PyObject *object);
int       is_constant         (PyObject *object);
int       ask_for_device      (PyObject *object,
                               DLDevice *device);

/* CUDA's number for the stream that waits for others. Its address is NULL. */
#define LEGACY_STREAM 1

/* The streams of devices that have them. */
typedef enum
{
  STREAMS_NONE,
  STREAMS_CUDA,
  STREAMS_ROCM,
} Streams;

static inline Streams
streams_of_device (int device_type)
{
  switch (device_type)
    {
    case MTL_DEVICE_TYPE_CUDA:
    case MTL_DEVICE_TYPE_CUDA_MANAGED:
      return STREAMS_CUDA;
    case MTL_DEVICE_TYPE_ROCM:
      return STREAMS_ROCM;
    default:
      return STREAMS_NONE;
    }
}

G_END_DECLS
