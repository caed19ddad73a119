/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "mtl-enums.h"
#include "mtl-owners-private.h"
#include "mtl-metal-tensor-private.h"

G_BEGIN_DECLS

/* Larger copies and fills are cut: on some systems a copy of 4 GiB or more, and a fill of more
 * than 4 GiB, leave bytes unwritten. PyTorch cuts its own at 4 and 2 GiB. */
#define MTL_METAL_MAX_COMMAND_SIZE ((gsize) 1 << 30)

/* Metal as plain C. The objects are id<MTL…>. The caller owns the result of a
 * function with new in its name. All functions may be called from any thread,
 * with or without an autorelease pool. */

typedef struct
{
  char *name; /* owned by the caller */
  guint64 max_buffer_size;
  gboolean unified_memory;
  gboolean blits_bytes; /* blits begin at any byte, otherwise at words of 4 bytes */
} MtlMetalDeviceInfo;

typedef struct
{
  gpointer device; /* owned by the buffer */
  gsize size;
  gpointer contents;
  MtlStorageMode storage_mode;
  gboolean purgeable;
} MtlMetalBufferInfo;

typedef struct
{
  MtlMetalTensor description;
  gpointer buffer; /* owned by the tensor, or NULL */
  gboolean has_strides;
  gsize n_planes; /* auxiliary ones */
} MtlMetalTensorInfo;

typedef enum
{
  MTL_METAL_COPY,
  MTL_METAL_FILL,        /* dest, dest_offset, size, value */
  MTL_METAL_SYNCHRONIZE, /* dest */
} MtlMetalCommandKind;

typedef struct
{
  MtlMetalCommandKind kind;
  gpointer dest;
  gsize dest_offset;
  gpointer source;
  gsize source_offset;
  gsize size;
  guint8 value;
} MtlMetalCommand;

gpointer   mtl_metal_bridge_retain             (gpointer                 object);
void       mtl_metal_bridge_release            (gpointer                 object);

GPtrArray *mtl_metal_bridge_new_devices        (void);
gpointer   mtl_metal_bridge_new_default_device (void);
void       mtl_metal_bridge_describe_device    (gpointer                 device,
                                                MtlMetalDeviceInfo      *info);
guint64    mtl_metal_bridge_get_registry_id    (gpointer                 device);
gsize      mtl_metal_bridge_get_page_size      (void);
gboolean   mtl_metal_bridge_has_managed_mode   (void);

gpointer   mtl_metal_bridge_new_buffer         (gpointer                 device,
                                                gsize                    size,
                                                MtlStorageMode           mode);
gpointer   mtl_metal_bridge_new_buffer_no_copy (gpointer                 device,
                                                gpointer                 data,
                                                gsize                    size,
                                                MtlOwner                *owner);
gboolean   mtl_metal_bridge_may_be_object      (gpointer                 pointer);
gboolean   mtl_metal_bridge_inspect_buffer     (gpointer                 object,
                                                MtlMetalBufferInfo      *info);
gboolean   mtl_metal_bridge_is_purgeable       (gpointer                 buffer);
gsize      mtl_metal_bridge_get_size           (gpointer                 buffer);
gpointer   mtl_metal_bridge_get_contents       (gpointer                 buffer);
void       mtl_metal_bridge_did_modify         (gpointer                 buffer,
                                                gsize                    offset,
                                                gsize                    size);

gpointer   mtl_metal_bridge_new_queue          (gpointer                 device);
/* Checks if an object is a command queue of the device. */
gboolean   mtl_metal_bridge_is_queue           (gpointer                 object,
                                                gpointer                 device);
gboolean   mtl_metal_bridge_run                (gpointer                 queue,
                                                const MtlMetalCommand   *commands,
                                                gsize                    n_commands,
                                                GError                 **error);

/* Queues a signal of an event's value, or a wait for it. */
gboolean   mtl_metal_bridge_queue_event        (gpointer                 queue,
                                                gpointer                 event,
                                                guint64                  value,
                                                gboolean                 signals,
                                                GError                 **error);

gpointer   mtl_metal_bridge_new_event          (gpointer                 device);
gboolean   mtl_metal_bridge_is_event           (gpointer                 object);
guint64    mtl_metal_bridge_get_event_value    (gpointer                 event);
void       mtl_metal_bridge_set_event_value    (gpointer                 event,
                                                guint64                  value);
gboolean   mtl_metal_bridge_wait_event         (gpointer                 event,
                                                guint64                  value,
                                                guint64                  milliseconds);

guint      mtl_metal_bridge_get_tensor_system  (void);
gpointer   mtl_metal_bridge_new_tensor         (gpointer                 buffer,
                                                const MtlMetalTensor    *description,
                                                MtlMetalTensorUsage           usage,
                                                GError                 **error);
gboolean   mtl_metal_bridge_inspect_tensor     (gpointer                 object,
                                                MtlMetalTensorInfo      *info);

G_END_DECLS
