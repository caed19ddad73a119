/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-strided-view.h"

G_BEGIN_DECLS

/* An object of another process. */
typedef struct
{
  GDBusConnection *connection; /* all may be NULL, or not valid */
  char *bus_name;
  char *object_path;
} MtlTensorAddress;

gboolean mtl_tensor_address_check (const MtlTensorAddress  *self,
                                   GError                 **error);

/* A call with its arguments. */
typedef struct
{
  const char *interface;
  const char *method;
  MtlStridedView *view; /* NULL if it has none */
  GVariant *extras;
  char *region;
} MtlTensorRequest;

MtlTensorRequest *mtl_tensor_request_new_get        (void);
MtlTensorRequest *mtl_tensor_request_new_properties (void);
MtlTensorRequest *mtl_tensor_request_new_put        (MtlStridedView *view,
                                                     GVariant       *extras);
MtlTensorRequest *mtl_tensor_request_new_copy       (MtlStridedView *view,
                                                     const char     *region);
void              mtl_tensor_request_free           (gpointer        self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorRequest, mtl_tensor_request_free)

/* Values of any type, as the other process is not trusted. */
typedef struct
{
  GVariant *value;
  GUnixFDList *fd_list;
} MtlTensorReply;

void              mtl_tensor_reply_clear            (MtlTensorReply *self);
void              mtl_tensor_reply_free             (gpointer        self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlTensorReply, mtl_tensor_reply_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (MtlTensorReply, mtl_tensor_reply_free)

gboolean          mtl_tensor_reply_check            (const MtlTensorReply    *self,
                                                     const char              *type,
                                                     GError                 **error);

gboolean          mtl_tensor_request_call           (const MtlTensorRequest  *self,
                                                     const MtlTensorAddress  *address,
                                                     MtlTensorReply          *reply,
                                                     GCancellable            *cancellable,
                                                     GError                 **error);

/* Takes the request. The owner holds the address. */
void              mtl_tensor_request_start          (MtlTensorRequest        *self,
                                                     const MtlTensorAddress  *address,
                                                     gpointer                 owner,
                                                     gpointer                 source_tag,
                                                     GCancellable            *cancellable,
                                                     GAsyncReadyCallback      callback,
                                                     gpointer                 user_data);
MtlTensorReply   *mtl_tensor_request_finish         (gpointer                 owner,
                                                     GAsyncResult            *result,
                                                     gpointer                 source_tag,
                                                     GError                 **error);

G_END_DECLS
