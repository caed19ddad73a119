/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtl-dlpack-abi-private.h"
#include "mtl-strided-view-private.h"
#include "mtl-tensor-variant.h"

G_BEGIN_DECLS

/* Elements that are passed inside the description have at most so many bytes. */
#define MTL_TENSOR_VARIANT_MAX_INLINE 65536

/* Descriptions in messages, and extras, have at most so many bytes. */
#define MTL_TENSOR_VARIANT_MAX_SIZE (128 * 1024)

/* A tensor as a peer described it. Everything is checked but the memory. */
typedef struct
{
  MtlTensorDescription description;
  guint64 begin;      /* the first byte in the memory that an element touches */
  gsize size;         /* the bytes that elements touch */
  GBytes *elements;   /* the memory; NULL if it has a descriptor */
  int handle;         /* the index of the descriptor, or -1 */
  int release;        /* the index of a descriptor to close with the memory, or -1 */
} MtlSentTensor;

gboolean        mtl_sent_tensor_read  (GVariant       *variant,
                                       MtlSentTensor  *result,
                                       GError        **error);
void            mtl_sent_tensor_clear (MtlSentTensor  *self);

/* Takes the shape, the strides, the element type and the byte offset of a tensor. */
gboolean        mtl_sent_tensor_describe (MtlSentTensor  *self,
                                          DLTensor       *tensor,
                                          gsize           n_dims,
                                          gsize           n_strides,
                                          gboolean        is_padded,
                                          GError        **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MtlSentTensor, mtl_sent_tensor_clear)

/* The entries that a program added to a description. */
GVariant       *mtl_tensor_variant_dup_extras (GVariant *variant);

/* Takes the description, and memory of exactly its bytes. NULL is that of the elements in the
 * description, or none if there are no elements. */
MtlStridedView *mtl_sent_tensor_to_view (MtlSentTensor   *self,
                                         MtlMemory       *memory,
                                         GError         **error);

/* Errors about a peer's data say so. */
void            mtl_error_blame_peer    (GError         **error);

/* Checks if the descriptor of the memory leads to the elements. */
gboolean        mtl_tensor_is_sent_in_place (MtlStridedView *view);

/* Checks if the elements are few enough to be passed inside a description. */
gboolean        mtl_tensor_fits_inline  (MtlStridedView  *view);

/* A view without repetition, of the elements that are stored. */
MtlStridedView *mtl_tensor_drop_repeated (MtlStridedView  *view);

/* Repeats the elements of a dense view, which it takes, where the other view does. */
MtlStridedView *mtl_tensor_repeat_like   (MtlStridedView  *dense,
                                          MtlStridedView  *view);

/* Copies the elements to memory of the host that a message can have: that of other processes if they
 * are not few. */
MtlStridedView *mtl_tensor_copy_for_message (MtlStridedView    *view,
                                             const MtlMonitor  *monitor,
                                             GError           **error);

/* Checks the entries that a program adds, which may be NULL. */
gboolean        mtl_tensor_check_extras (GVariant         *extras,
                                         GError          **error);

/* Both return floating references. The second one is for views that are sent in place, and its
 * release may be -1. */
GVariant       *mtl_tensor_variant_new_inline (MtlStridedView   *view,
                                               GVariant         *extras,
                                               GError          **error);
GVariant       *mtl_tensor_variant_new_shared (MtlStridedView   *view,
                                               int               handle,
                                               int               release,
                                               GVariant         *extras);

G_END_DECLS
