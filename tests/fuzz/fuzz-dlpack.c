/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors of a peer's that may say anything, as long as what they point to is
 * there: imported, looked at, sliced, passed on, and given back, once. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "dlpack-structs.h"

#define MAX_DIMS 64
#define MEMORY_SIZE 1024
#define MAX_OPERATIONS 6

/* The producer that the struct is given back to; it frees the struct as producers do. */
typedef struct
{
  DLManagedTensorVersioned *versioned;
  DLManagedTensor *legacy;
  gint64 *shape;
  gint64 *strides;
  guint8 *memory;
  int n_deleted;
} Peer;

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  g_type_ensure (MTL_TYPE_STRIDED_VIEW);
  g_type_ensure (MTL_TYPE_DLPACK_TENSOR);
  g_type_ensure (MTL_TYPE_BUFFER);
  mtl_device_get_default ();
  return 0;
}

static void
delete_versioned (DLManagedTensorVersioned *managed)
{
  Peer *peer = managed->manager_ctx;

  peer->n_deleted++;
  g_free (managed);
}

static void
delete_legacy (DLManagedTensor *managed)
{
  Peer *peer = managed->manager_ctx;

  peer->n_deleted++;
  g_free (managed);
}

static gint32
read_device_type (Input *input)
{
  guint8 kind = input_byte (input);

  return kind < 160 ? 1 : kind < 250 ? kind % 24 : (gint32) input_word (input);
}

static void
read_tensor (Peer     *self,
             Input    *input,
             DLTensor *tensor)
{
  static const DLDataType types[] = {
    { 1, 8, 1 }, { 2, 32, 1 }, { 0, 16, 1 }, { 5, 64, 1 }, { 17, 4, 1 }, { 17, 4, 2 },
    { 15, 6, 1 }, { 16, 6, 3 }, { 10, 8, 1 }, { 14, 8, 1 }, { 4, 16, 1 }, { 6, 8, 1 },
    { 0, 4, 1 }, { 3, 64, 1 }, { 2, 16, 2 },
  };
  guint8 kind = input_byte (input);
  guint8 pointers = input_byte (input);
  gint32 n_dims = input_byte (input) % 8;
  gsize n_there;

  if (n_dims == 7)
    n_dims = (gint32) input_int64 (input);
  n_there = CLAMP (n_dims, 0, MAX_DIMS);
  self->shape = g_new (gint64, n_there);
  self->strides = g_new (gint64, n_there);
  for (gsize i = 0; i < n_there; i++)
    {
      self->shape[i] = input_extent (input);
      self->strides[i] = input_int64 (input);
    }

  *tensor = (DLTensor) {
    .data = pointers & 1 && pointers & 2 ? NULL : self->memory + MEMORY_SIZE / 2,
    .device = { read_device_type (input), (gint8) input_byte (input) / 64 },
    .ndim = n_dims,
    .shape = pointers & 4 && pointers & 8 ? NULL : self->shape,
    .strides = pointers & 16 ? NULL : self->strides,
    .byte_offset = pointers & 32 ? (guint64) input_int64 (input) : 0,
  };
  if (kind < 240)
    tensor->dtype = types[kind % G_N_ELEMENTS (types)];
  else
    tensor->dtype = (DLDataType) { input_byte (input), input_byte (input),
                                   input_byte (input) << 8 | input_byte (input) };
}

/* TRUE if a tensor that was believed keeps to the memory that is there, which no importer can
 * know. */
static gboolean
stays_within (const DLTensor *tensor,
              guint64         flags)
{
  guint64 lane_bits = (flags & DL_PADDED) && tensor->dtype.bits < 8 ? 8 : tensor->dtype.bits;
  __int128 item_bits = (__int128) lane_bits * tensor->dtype.lanes;
  __int128 start = (__int128) (MEMORY_SIZE / 2 + (__int128) tensor->byte_offset) * 8;
  __int128 low = 0, high = 0, dense = 1;

  if (tensor->device.device_type != 1 || tensor->byte_offset > MEMORY_SIZE)
    return FALSE;

  for (int i = 0; i < tensor->ndim; i++)
    if (tensor->shape[i] == 0)
      return TRUE;

  for (int i = tensor->ndim - 1; i >= 0; i--)
    {
      __int128 stride = tensor->strides != NULL ? tensor->strides[i] : dense;

      *(stride < 0 ? &low : &high) += stride * (tensor->shape[i] - 1);
      if (tensor->strides == NULL)
        dense *= tensor->shape[i]; /* no further than the memory */
      if (low < -MEMORY_SIZE * 8 || high > MEMORY_SIZE * 8)
        return FALSE;
    }

  return start + low * item_bits >= 0 && start + (high + 1) * item_bits <= MEMORY_SIZE * 8;
}

static MtlStridedView *
operate (MtlStridedView  *view,
         Input           *input,
         GError         **error)
{
  static const char *const slices[] = {
    "::-1", "1:", "..., 0", ":, ::2", "newaxis", "::-2, ...", "0:0", "-1", "..., 1:3", "2::3",
  };
  static const MtlDType dtypes[] = {
    MTL_DTYPE_UINT8, MTL_DTYPE_UINT32, MTL_DTYPE_COMPLEX64, MTL_DTYPE_FLOAT4_E2M1FN,
    MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_FLOAT16, MTL_DTYPE_INT4, MTL_DTYPE_UINT2,
  };
  gint64 dims[] = { -1, 1 + input_byte (input) % 4 };
  int axis = input_axis (input);

  switch (input_byte (input) % 9)
    {
    case 0:
      return mtl_strided_view_transpose (view);
    case 1:
      return mtl_strided_view_flip (view, axis, error);
    case 2:
      return mtl_strided_view_select (view, axis, input_int64 (input), error);
    case 3:
      return mtl_strided_view_reshape (view, dims, dims[1] == 1 ? 1 : 2, error);
    case 4:
      return mtl_strided_view_squeeze (view);
    case 5:
      return mtl_strided_view_as_read_only (view);
    case 6:
      return mtl_strided_view_unsqueeze (view, &axis, 1, error);
    case 7:
      return mtl_strided_view_reinterpret (view, dtypes[input_byte (input) % G_N_ELEMENTS (dtypes)],
                                           error);
    default:
      return mtl_strided_view_slice_string (view, slices[input_byte (input)
                                                         % G_N_ELEMENTS (slices)], error);
    }
}

/* Reads and writes all elements: few, and all there. */
static void
touch (MtlStridedView *view,
       Input          *input)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_autoptr (MtlStridedView) doubles = NULL;
  g_autoptr (GBytes) bytes = NULL, copied = NULL;
  g_autofree char *text = mtl_strided_view_format (view, 100);
  gint64 indices[MAX_DIMS + 1] = { 0 };

  g_assert_no_error (error);
  g_assert_nonnull (text);
  g_assert_true (mtl_strided_view_overlaps (view, view) == !mtl_strided_view_is_empty (view));
  g_assert_false (mtl_strided_view_overlaps (view, copy));
  bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  copied = mtl_strided_view_dup_bytes (copy, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, copied));

  doubles = mtl_strided_view_to_dtype (view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, &error);
  if (check_result (doubles != NULL, &error))
    {
      mtl_strided_view_array_equal (view, doubles, MTL_COMPARE_FLAGS_NONE, NULL, &error);
      g_assert_no_error (error);
      mtl_strided_view_all_close (doubles, view, 0.1, 0.1, MTL_COMPARE_FLAGS_NONE, NULL, &error);
      g_assert_no_error (error);
      mtl_strided_view_get_double (view, indices, mtl_strided_view_get_n_dims (view), &error);
      g_clear_error (&error);
      check_result (mtl_strided_view_copy_from (view, doubles, NULL, &error), &error);
    }

  check_result (mtl_strided_view_copy_from (view, copy, NULL, &error), &error);
  check_result (mtl_strided_view_fill_double (view, input_byte (input) - 128, NULL, &error),
                &error);
  check_result (mtl_strided_view_set_int64 (view, indices, mtl_strided_view_get_n_dims (view), -3,
                                            &error), &error);
}

/* The exported tensor describes the same elements as the view, and comes in again. */
static void
pass_on (MtlStridedView *view,
         Input          *input,
         gboolean        is_readable)
{
  g_autoptr (GError) error = NULL;
  MtlDlpackFlags flags = input_byte (input) & (MTL_DLPACK_FLAGS_COPY | MTL_DLPACK_FLAGS_NEVER_COPY
                                               | MTL_DLPACK_FLAGS_NEGATIVE_STRIDES);
  gint32 device = input_byte (input) % 4 == 0 ? MTL_DEVICE_TYPE_CPU : MTL_DEVICE_TYPE_UNKNOWN;
  g_autoptr (MtlStridedView) back = NULL;
  DLManagedTensorVersioned *managed;
  DLManagedTensor *legacy;
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);

  if (!is_readable)
    flags = (flags & ~MTL_DLPACK_FLAGS_COPY) | MTL_DLPACK_FLAGS_NEVER_COPY;

  managed = (gpointer) mtl_strided_view_to_dlpack (view, flags, mtl_device_get (device, 0, NULL),
                                                   &error);
  if (check_result (managed != NULL, &error))
    {
      const DLTensor *tensor = &managed->dl_tensor;

      g_assert_cmpint (tensor->ndim, ==, n_dims);
      g_assert_cmpmem (tensor->shape, n_dims * sizeof (gint64), shape, n_dims * sizeof (gint64));
      g_assert_cmpuint (tensor->dtype.lanes, ==, mtl_strided_view_get_lanes (view));
      g_assert_true (mtl_strided_view_is_padded (view) == ((managed->flags & DL_PADDED) != 0));
      if (is_readable && !(managed->flags & DL_IS_COPIED))
        g_assert_true (tensor->data == mtl_strided_view_get_data (view));

      back = mtl_strided_view_new_take_dlpack ((gpointer) managed, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (back)), ==,
                        mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)));
    }

  legacy = (gpointer) mtl_strided_view_to_dlpack_legacy (view, flags,
                                                         mtl_device_get (device, 0, NULL), &error);
  if (check_result (legacy != NULL, &error))
    legacy->deleter (legacy);
}

static void
use (MtlStridedView *imported,
     Input          *input,
     gboolean        is_readable)
{
  g_autoptr (MtlStridedView) view = g_object_ref (imported);

  for (int i = 0; i < MAX_OPERATIONS && input->size > 0; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) next = operate (view, input, &error);
      gboolean is_small;

      if (!check_result (next != NULL, &error))
        continue;

      g_set_object (&view, next);
      is_small = is_readable
                 && mtl_strided_view_get_volume (view) < 10000 / mtl_strided_view_get_lanes (view);
      if (is_small)
        touch (view, input);
      pass_on (view, input, is_small);
    }
}

static MtlStridedView *
take (Peer     *self,
      Input    *input,
      GError  **error)
{
  return self->legacy != NULL
           ? mtl_strided_view_new_take_dlpack_legacy ((gpointer) self->legacy, error)
           : mtl_strided_view_new_take_dlpack ((gpointer) self->versioned, error);
}

static void
run (Peer  *self,
     Input *input)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  gpointer owned;
  guint8 form = input_byte (input);
  gboolean has_deleter = form % 16 != 15, is_valid, is_readable;
  guint64 flags = 0;
  DLTensor tensor;

  read_tensor (self, input, &tensor);
  if (form & 16)
    {
      self->legacy = owned = g_new (DLManagedTensor, 1);
      *self->legacy = (DLManagedTensor) { tensor, self, has_deleter ? delete_legacy : NULL };
    }
  else
    {
      guint32 major = form & 32 && form & 64 ? (guint32) input_int64 (input) : 1;

      flags = form & 128 ? input_word (input) : input_byte (input) % 8;
      self->versioned = owned = g_new (DLManagedTensorVersioned, 1);
      *self->versioned = (DLManagedTensorVersioned) {
        { major, input_byte (input) }, self, has_deleter ? delete_versioned : NULL, flags, tensor,
      };
    }

  is_valid = check_result (mtl_dlpack_validate (&tensor, &error), &error);
  view = take (self, input, &error);
  if (view != NULL && !(flags & DL_PADDED))
    g_assert_true (is_valid);
  is_readable = view != NULL && stays_within (&tensor, flags);
  if (check_result (view != NULL, &error))
    {
      g_assert_cmpint (self->n_deleted, ==, 0);
      use (view, input, is_readable);
    }

  g_clear_object (&view);
  g_assert_cmpint (self->n_deleted, ==, has_deleter);
  if (!has_deleter)
    g_free (owned);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  Peer peer = { .memory = g_malloc (MEMORY_SIZE) };

  memset (peer.memory, 0x3c, MEMORY_SIZE);
  run (&peer, &(Input) { data, size });
  g_free (peer.shape);
  g_free (peer.strides);
  g_free (peer.memory);
  return 0;
}
