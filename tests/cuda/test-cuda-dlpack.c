/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors of other libraries, and exports for them: whose memory it is, and as what it goes out. */

#include "cuda-fixture.h"

#define SIZE 4096

static gpointer
get_handle (MtlStridedView *view)
{
  return mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
}

static MtlStorageMode
get_mode (MtlStridedView *view)
{
  return mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (view));
}

/* Imports */

typedef struct
{
  gpointer private;
  gpointer elsewhere; /* the last device's */
  gpointer pinned;
  gpointer pinned_elsewhere;
  gpointer managed;
  gpointer host;
} Memories;

static void
memories_init (Memories *self)
{
  *self = (Memories) {
    .private = peer_memory (0, SIZE),
    .elsewhere = peer_memory (n_gpus - 1, SIZE),
    .pinned = peer_pinned (SIZE),
    .managed = peer_managed (SIZE),
    .host = g_malloc (SIZE),
  };
  peer_enter (n_gpus - 1);
  MUST (cu.cuMemHostAlloc (&self->pinned_elsewhere, SIZE, CU_HOST_ALLOC_PORTABLE));
  peer_leave ();
}

static void
memories_clear (Memories *self)
{
  peer_free (self->private);
  peer_free (self->elsewhere);
  peer_free (self->managed);
  peer_free_pinned (self->pinned);
  peer_free_pinned (self->pinned_elsewhere);
  g_free (self->host);
}

/* The driver says where the memory is, whatever the tensor says. */
static void
check_import (gpointer       data,
              DLDevice       said,
              MtlStorageMode mode,
              int            ordinal)
{
  PeerTensor tensor;
  g_autoptr (MtlStridedView) view = NULL;
  DLManagedTensorVersioned *back;

  peer_tensor_init (&tensor, (guint8 *) data + 8, SIZE - 8, said.device_type, said.device_id);
  view = import (&tensor);
  g_assert_cmpint (get_mode (view), ==, mode);
  g_assert_true (mtl_strided_view_get_device (view) == get_cuda (ordinal));
  g_assert_cmpuint (mtl_strided_view_get_address (view), ==, ADDRESS (data) + 8);
  g_assert_cmpint (mtl_strided_view_is_host_accessible (view), ==,
                   mode != MTL_STORAGE_MODE_PRIVATE);

  /* It goes out as it is, not as it came. */
  back = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NEVER_COPY, NULL, NULL);
  g_assert_nonnull (back);
  g_assert_true (back->dl_tensor.data == (guint8 *) data + 8);
  g_assert_cmpint (back->dl_tensor.device.device_type, ==,
                   mode == MTL_STORAGE_MODE_PRIVATE  ? MTL_DEVICE_TYPE_CUDA
                   : mode == MTL_STORAGE_MODE_SHARED ? MTL_DEVICE_TYPE_CUDA_HOST
                                                     : MTL_DEVICE_TYPE_CUDA_MANAGED);
  g_assert_cmpint (back->dl_tensor.device.device_id, ==,
                   mode == MTL_STORAGE_MODE_PRIVATE ? ordinal : 0);

  g_assert_cmpint (tensor.n_deleted, ==, 0);
  g_clear_object (&view);
  g_assert_cmpint (tensor.n_deleted, ==, 0);
  back->deleter (back);
  await_count (&tensor.n_deleted, 1);
}

static void
test_import (void)
{
  static const DLDevice said[] = { { 2, 0 }, { 2, 1 }, { 2, 9 }, { 3, 0 }, { 3, 1 }, { 13, 0 },
                                   { 13, 1 }, { 2, -1 } };
  Memories memories;

  memories_init (&memories);
  for (gsize i = 0; i < G_N_ELEMENTS (said); i++)
    {
      check_import (memories.private, said[i], MTL_STORAGE_MODE_PRIVATE, 0);
      check_import (memories.elsewhere, said[i], MTL_STORAGE_MODE_PRIVATE, n_gpus - 1);
      check_import (memories.pinned, said[i], MTL_STORAGE_MODE_SHARED, 0);
      check_import (memories.pinned_elsewhere, said[i], MTL_STORAGE_MODE_SHARED, n_gpus - 1);
      check_import (memories.managed, said[i], MTL_STORAGE_MODE_MANAGED, 0);
    }
  memories_clear (&memories);
}

/* A tensor that is the host's by its own account is the host's. */
static void
test_import_as_host (void)
{
  g_autoptr (MtlStridedView) view = NULL;
  gpointer pinned = peer_pinned (SIZE);
  PeerTensor tensor;

  peer_tensor_init (&tensor, pinned, SIZE, 1, 0);
  view = import (&tensor);
  g_assert_cmpint (get_mode (view), ==, MTL_STORAGE_MODE_HOST);
  g_clear_object (&view);
  g_assert_cmpint (tensor.n_deleted, ==, 1);
  peer_free_pinned (pinned);
}

static void
test_import_read_only (void)
{
  g_autoptr (MtlStridedView) view = NULL;
  gpointer memory = peer_memory (0, 4);
  PeerTensor tensor;

  peer_tensor_init (&tensor, memory, 4, 2, 0);
  tensor.managed.flags = DL_READ_ONLY;
  view = import (&tensor);
  g_assert_true (mtl_strided_view_is_read_only (view));
  assert_refuses (mtl_strided_view_fill_double (view, 1, NULL, &error), MTL_ERROR_READ_ONLY, "");
  g_clear_object (&view);
  g_assert_cmpint (tensor.n_deleted, ==, 1);
  peer_free (memory);
}

static void
test_import_legacy (void)
{
  guint8 *memory = peer_memory (0, 8);
  PeerTensor tensor;
  DLManagedTensor *legacy;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) back = NULL;
  g_autoptr (GError) error = NULL;

  peer_tensor_init (&tensor, memory, 8, 2, 0);
  view = import (&tensor);
  legacy = mtl_strided_view_to_dlpack_legacy (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (legacy->dl_tensor.data == memory);
  back = mtl_strided_view_new_take_dlpack_legacy (legacy, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mtl_strided_view_get_address (back), ==, ADDRESS (memory));
  g_assert_cmpint (get_mode (back), ==, MTL_STORAGE_MODE_PRIVATE);
  g_clear_object (&view);
  g_clear_object (&back);
  await_count (&tensor.n_deleted, 1);
  peer_free (memory);
}

/* Tensors without elements are at any address. CuPy's managed ones have the number of a GPU. */
static void
test_import_empty (void)
{
  static const DLDevice said[] = { { 2, 0 }, { 3, 0 }, { 13, 0 }, { 3, 1 }, { 13, 1 } };
  guint8 host;
  gpointer addresses[] = { NULL, POINTER (1), &host };

  for (gsize i = 0; i < G_N_ELEMENTS (said); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (addresses); j++)
      {
        g_autoptr (MtlStridedView) view = NULL;
        PeerTensor tensor;

        peer_tensor_init (&tensor, addresses[j], 0, said[i].device_type, said[i].device_id);
        view = import (&tensor);
        g_assert_true (mtl_strided_view_is_empty (view));
        g_assert_cmpint (mtl_device_get_device_type (mtl_strided_view_get_device (view)), ==,
                         said[i].device_type);
        assert_elements (view);
        g_clear_object (&view);
        g_assert_cmpint (tensor.n_deleted, ==, 1);
      }
}

static void
test_import_strides (void)
{
  guint8 *memory = peer_memory (0, 64), bytes[64];
  PeerTensor tensor;
  g_autoptr (MtlStridedView) view = NULL;

  for (int i = 0; i < 64; i++)
    bytes[i] = i;
  write_gpu (0, memory, bytes, 64);

  /* The last row first, every second byte of it backwards, and a byte offset */
  peer_tensor_init (&tensor, memory + 50, 2, 2, 0);
  tensor.managed.dl_tensor.byte_offset = 3;
  tensor.managed.dl_tensor.ndim = 2;
  tensor.shape[1] = 3;
  tensor.strides[0] = -10;
  tensor.strides[1] = -2;
  view = import (&tensor);
  assert_elements (view, 53, 51, 49, 43, 41, 39);
  g_assert_cmpuint (mtl_strided_view_get_address (view), ==, ADDRESS (memory) + 53);
  g_assert_cmpuint (mtl_buffer_get_size (mtl_strided_view_get_buffer (view)), ==, 53 - 39 + 1);
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  peer_free (memory);
}

static void
assert_refused (PeerTensor *tensor,
                MtlError    code,
                const char *values)
{
  assert_fails (mtl_strided_view_new_take_dlpack (&tensor->managed, &error), code, values);
  g_assert_cmpint (tensor->n_deleted, ==, 1);
}

static void
test_import_beyond (void)
{
  static const int types[] = { 2, 3, 13 };
  Memories memories;
  guint8 *starts[3];

  memories_init (&memories);
  starts[0] = memories.private;
  starts[1] = memories.pinned;
  starts[2] = memories.managed;
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      const gsize size = bytes_to_end (starts[i]);
      g_autofree char *whole = g_strdup_printf ("%" G_GSIZE_FORMAT, size);
      g_autofree char *too_large = g_strdup_printf ("%" G_GSIZE_FORMAT " & %s", size + 1, whole);
      PeerTensor tensor;

      peer_tensor_init (&tensor, starts[i], size + 1, types[i], 0);
      assert_refused (&tensor, MTL_ERROR_INVALID_DATA, too_large);
      peer_tensor_init (&tensor, starts[i] + 1, size, types[i], 0);
      assert_refused (&tensor, MTL_ERROR_INVALID_DATA, whole);
      peer_tensor_init (&tensor, starts[i] + size - 1, 2, types[i], 0);
      assert_refused (&tensor, MTL_ERROR_INVALID_DATA, whole);
      peer_tensor_init (&tensor, starts[i], 2, types[i], 0);
      tensor.strides[0] = size;
      assert_refused (&tensor, MTL_ERROR_INVALID_DATA, too_large);
      peer_tensor_init (&tensor, starts[i] + size - 1, 1, types[i], 0);
      tensor.strides[0] = G_MAXINT64;
      g_clear_object (&(MtlStridedView *) { import (&tensor) });
    }
  memories_clear (&memories);
}

/* Elements before the first byte of the allocation. */
static void
test_import_before (void)
{
  guint8 *memory = peer_memory (0, 100);
  PeerTensor tensor;

  peer_tensor_init (&tensor, memory + 8, 10, 2, 0);
  tensor.strides[0] = -1;
  assert_refused (&tensor, MTL_ERROR_INVALID_DATA, "10");
  peer_tensor_init (&tensor, memory + 8, 9, 2, 0);
  tensor.strides[0] = -1;
  g_clear_object (&(MtlStridedView *) { import (&tensor) });
  g_assert_cmpint (tensor.n_deleted, ==, 1);
  peer_free (memory);
}

static void
test_import_unknown (void)
{
  g_autofree guint8 *host = g_malloc (8);
  gpointer freed = peer_memory (0, 8);
  gpointer addresses[] = { host, POINTER (16), freed };
  static const int types[] = { 2, 3, 13 };
  PeerTensor tensor;

  peer_free (freed);
  for (gsize i = 0; i < G_N_ELEMENTS (addresses); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (types); k++)
      {
        peer_tensor_init (&tensor, addresses[i], 8, types[k], 0);
        assert_refused (&tensor, MTL_ERROR_INVALID_DATA, "8");
      }

  freed = peer_memory (0, 8);
  peer_tensor_init (&tensor, freed, 8, 2, 0);
  tensor.managed.dl_tensor.byte_offset = G_GUINT64_CONSTANT (1) << 62;
  assert_refused (&tensor, MTL_ERROR_INVALID_DATA, "8");
  peer_free (freed);
}

/* The tensor in transit can be used by somebody else. */
static void
test_import_gives_back (void)
{
  g_autoptr (MtlStridedView) view = zeros_on (get_cuda (0), MTL_DTYPE_UINT8, DIMS (8));
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlDlpackTensor) tensor = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE,
                                                                       NULL, &local_error);
  g_autoptr (MtlStridedView) back = NULL;

  g_assert_no_error (local_error);
  dbl.fail_function ("cuPointerGetAttributes", 1, CU_UNKNOWN);
  assert_fails (mtl_strided_view_new_from_dlpack (tensor, &error), MTL_ERROR_DEVICE,
                "CUDA_ERROR_UNKNOWN & 999");
  back = mtl_strided_view_new_from_dlpack (tensor, &local_error);
  g_assert_no_error (local_error);
  g_assert_cmpuint (mtl_strided_view_get_address (back), ==, mtl_strided_view_get_address (view));
}

/* A device that the library does not use has memory that it cannot use, either. */
static void
test_import_of_unusable_device (void)
{
  gpointer memory;
  PeerTensor tensor;

  run_alone ();
  dbl.set_devices (2);
  dbl.set_attribute (1, "memory-pools", 0);
  get_cuda (0);
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[1], 1));
  memory = peer_memory (1, 8);
  peer_tensor_init (&tensor, memory, 8, 2, 1);
  assert_refused (&tensor, MTL_ERROR_NOT_SUPPORTED, "(2, 1)");
  peer_free (memory);
}

/* Exports: mode × target × copy */

typedef enum
{
  IN_PLACE,
  COPIED,
  NEEDS_COPY,
} Way;

typedef enum
{
  NONE, /* no particular one */
  CPU,
  GPU,
  GPU_1,
  PINNED,
  ANY_GPU, /* managed */
} Identity;

static const DLDevice dl_devices[] = {
  [NONE] = { 0, 0 },  [CPU] = { 1, 0 },    [GPU] = { 2, 0 },
  [GPU_1] = { 2, 1 }, [PINNED] = { 3, 0 }, [ANY_GPU] = { 13, 0 },
};

typedef struct
{
  Way way;
  Identity identity;   /* the tensor's */
  MtlStorageMode mode; /* a copy's */
} Outcome;

enum
{
  AS_NEEDED,
  ALWAYS,
  NEVER,
  N_COPY,
};

typedef struct
{
  const char *path;
  MtlStorageMode mode;
  Identity from; /* the device that allocates it */
  Identity to;
  Outcome outcomes[N_COPY];
} Row;

#define PLACE(identity) { IN_PLACE, identity, 0 }
#define COPY(identity, mode) { COPIED, identity, MTL_STORAGE_MODE_ ## mode }
#define REFUSED { NEEDS_COPY, NONE, 0 }

/* In place unless a copy is asked for; always a copy */
#define SHARES(mode, from, to, identity, copy_mode) \
  { "/CudaDlpack/matrix/" #mode "-of-" #from "-as-" #to, MTL_STORAGE_MODE_ ## mode, from, to, \
    { PLACE (identity), COPY (identity, copy_mode), PLACE (identity) } }
#define COPIES(mode, from, to, copy_mode) \
  { "/CudaDlpack/matrix/" #mode "-of-" #from "-as-" #to, MTL_STORAGE_MODE_ ## mode, from, to, \
    { COPY (to, copy_mode), COPY (to, copy_mode), REFUSED } }

static const Row matrix[] = {
  SHARES (HOST, CPU, NONE, CPU, HOST),
  SHARES (HOST, CPU, CPU, CPU, HOST),
  COPIES (HOST, CPU, GPU, PRIVATE),
  COPIES (HOST, CPU, GPU_1, PRIVATE),
  COPIES (HOST, CPU, PINNED, SHARED),
  COPIES (HOST, CPU, ANY_GPU, MANAGED),

  SHARES (SHARED, GPU, NONE, PINNED, SHARED),
  SHARES (SHARED, GPU, CPU, CPU, HOST),
  SHARES (SHARED, GPU, GPU, GPU, PRIVATE),
  SHARES (SHARED, GPU, GPU_1, GPU_1, PRIVATE),
  SHARES (SHARED, GPU, PINNED, PINNED, SHARED),
  COPIES (SHARED, GPU, ANY_GPU, MANAGED),

  SHARES (SHARED, PINNED, NONE, PINNED, SHARED),
  SHARES (SHARED, PINNED, CPU, CPU, HOST),
  SHARES (SHARED, PINNED, GPU, GPU, PRIVATE),
  SHARES (SHARED, PINNED, GPU_1, GPU_1, PRIVATE),
  SHARES (SHARED, PINNED, PINNED, PINNED, SHARED),
  COPIES (SHARED, PINNED, ANY_GPU, MANAGED),

  SHARES (MANAGED, GPU, NONE, ANY_GPU, MANAGED),
  SHARES (MANAGED, GPU, CPU, CPU, HOST),
  SHARES (MANAGED, GPU, GPU, GPU, PRIVATE),
  SHARES (MANAGED, GPU, GPU_1, GPU_1, PRIVATE),
  COPIES (MANAGED, GPU, PINNED, SHARED),
  SHARES (MANAGED, GPU, ANY_GPU, ANY_GPU, MANAGED),

  SHARES (MANAGED, ANY_GPU, NONE, ANY_GPU, MANAGED),
  SHARES (MANAGED, ANY_GPU, CPU, CPU, HOST),
  SHARES (MANAGED, ANY_GPU, GPU, GPU, PRIVATE),
  SHARES (MANAGED, ANY_GPU, GPU_1, GPU_1, PRIVATE),
  COPIES (MANAGED, ANY_GPU, PINNED, SHARED),
  SHARES (MANAGED, ANY_GPU, ANY_GPU, ANY_GPU, MANAGED),

  SHARES (PRIVATE, GPU, NONE, GPU, PRIVATE),
  COPIES (PRIVATE, GPU, CPU, HOST),
  SHARES (PRIVATE, GPU, GPU, GPU, PRIVATE),
  COPIES (PRIVATE, GPU, GPU_1, PRIVATE),
  COPIES (PRIVATE, GPU, PINNED, SHARED),
  COPIES (PRIVATE, GPU, ANY_GPU, MANAGED),

  SHARES (PRIVATE, GPU_1, NONE, GPU_1, PRIVATE),
  COPIES (PRIVATE, GPU_1, CPU, HOST),
  COPIES (PRIVATE, GPU_1, GPU, PRIVATE),
  SHARES (PRIVATE, GPU_1, GPU_1, GPU_1, PRIVATE),
  COPIES (PRIVATE, GPU_1, PINNED, SHARED),
  COPIES (PRIVATE, GPU_1, ANY_GPU, MANAGED),
};

#define BYTE_OFFSET 6

static const gint16 values[] = { 10, 11, 12, 13, 14, 15, 16, 17 };

/* Eight int16 at byte 6 of a buffer, of which the view has elements 2, 4 and 6. */
static MtlStridedView *
new_view (MtlDevice      *device,
          MtlStorageMode  mode)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (device, 30, mode);
  g_autoptr (GBytes) bytes = g_bytes_new_static (values, sizeof values);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (3), DIMS (2), 16, &error);
  MtlStridedView *view;

  g_assert_true (mtl_buffer_set_bytes (buffer, BYTE_OFFSET, bytes, NULL, &error));
  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_INT16, BYTE_OFFSET + 4, &error);
  g_assert_no_error (error);
  return view;
}

static void
check_tensor (MtlStridedView *view,
              const DLTensor *tensor,
              const Outcome  *outcome)
{
  gint64 step = outcome->way == IN_PLACE ? 2 : 1;

  g_assert_cmpint (tensor->device.device_type, ==,
                   dl_devices[outcome->identity].device_type);
  g_assert_cmpint (tensor->device.device_id, ==, dl_devices[outcome->identity].device_id);
  g_assert_cmpuint (tensor->byte_offset, ==, 0);
  assert_dims (tensor->shape, tensor->ndim, 3);
  assert_dims (tensor->strides, tensor->ndim, step);
  if (outcome->way == IN_PLACE)
    g_assert_cmpuint (ADDRESS (tensor->data), ==, mtl_strided_view_get_address (view));
  else
    g_assert_true ((guint8 *) tensor->data < (guint8 *) get_handle (view)
                   || (guint8 *) tensor->data >= (guint8 *) get_handle (view) + 30);
}

/* The driver's view of the memory, and the elements there */
static void
check_memory (const DLTensor *tensor,
              const Outcome  *outcome)
{
  MtlDevice *device = mtl_device_get (tensor->device.device_type, tensor->device.device_id, NULL);
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autoptr (GError) error = NULL;
  int gpu = tensor->device.device_type == MTL_DEVICE_TYPE_CUDA ? tensor->device.device_id : 0;
  const gint16 copied[] = { 12, 14, 16 };
  gint16 elements[5];

  if (outcome->mode == MTL_STORAGE_MODE_HOST || tensor->device.device_type == MTL_DEVICE_TYPE_CPU)
    memcpy (elements, tensor->data, sizeof copied);
  else
    read_gpu (gpu, tensor->data, elements, outcome->way == IN_PLACE ? 10 : 6);
  if (outcome->way == IN_PLACE && tensor->device.device_type != MTL_DEVICE_TYPE_CPU)
    g_assert_cmpmem (elements, 10, &values[2], 10);
  else if (outcome->way == COPIED)
    g_assert_cmpmem (elements, 6, copied, 6);

  if (outcome->way == IN_PLACE || outcome->mode == MTL_STORAGE_MODE_HOST)
    return;

  buffer = mtl_buffer_new_for_handle (tensor->data, 6, device, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, outcome->mode);
}

static void
check_export (MtlStridedView *view,
              MtlDevice      *target,
              int             copy,
              const Outcome  *outcome)
{
  static const MtlDlpackFlags flags[N_COPY] = { MTL_DLPACK_FLAGS_NONE, MTL_DLPACK_FLAGS_COPY,
                                                MTL_DLPACK_FLAGS_NEVER_COPY };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlDlpackTensor) transit = NULL;
  g_autoptr (MtlStridedView) back = NULL;
  DLManagedTensorVersioned *managed = mtl_strided_view_to_dlpack (view, flags[copy], target,
                                                                  &error);
  DLManagedTensor *legacy;

  if (outcome->way == NEEDS_COPY)
    {
      g_assert_null (managed);
      g_assert_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY);
      return;
    }

  g_assert_no_error (error);
  g_assert_cmphex (managed->flags, ==, outcome->way == COPIED ? DL_IS_COPIED : 0);
  check_tensor (view, &managed->dl_tensor, outcome);
  check_memory (&managed->dl_tensor, outcome);
  managed->deleter (managed);

  legacy = mtl_strided_view_to_dlpack_legacy (view, flags[copy], target, &error);
  g_assert_no_error (error);
  check_tensor (view, &legacy->dl_tensor, outcome);
  legacy->deleter (legacy);

  transit = mtl_strided_view_export_dlpack (view, flags[copy], target, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_dlpack_tensor_is_copied (transit), ==, outcome->way == COPIED);
  g_assert_true (target == NULL || mtl_dlpack_tensor_get_device (transit) == target
                 || mtl_dlpack_tensor_get_device (transit) == mtl_strided_view_get_device (view));
  back = mtl_strided_view_new_from_dlpack (transit, &error);
  g_assert_no_error (error);
  assert_elements (back, 12, 14, 16);
}

static void
test_row (Living        *living,
          gconstpointer  data)
{
  const Row *row = data;
  DLDevice from = dl_devices[row->from], to = dl_devices[row->to];
  MtlDevice *device = mtl_device_get (from.device_type, from.device_id, NULL);
  MtlDevice *target = NULL;
  g_autoptr (MtlStridedView) view = NULL;

  if (row->to != NONE)
    target = mtl_device_get (to.device_type, to.device_id, NULL);
  skip_unless (device != NULL && (target != NULL || row->to == NONE),
               "this needs two devices");

  view = new_view (device, row->mode);
  for (int copy = 0; copy < N_COPY; copy++)
    check_export (view, target, copy, &row->outcomes[copy]);
}

/* A copy that the layout needs is on the device, in the same mode. */
static void
test_export_negative_strides (void)
{
  static const MtlStorageMode modes[] = { MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                          MTL_STORAGE_MODE_MANAGED };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (MtlStridedView) view = new_view (get_cuda (0), modes[i]);
      g_autoptr (GError) local_error = NULL;
      g_autoptr (MtlStridedView) flipped = mtl_strided_view_flip (view, 0, &local_error);
      DLManagedTensorVersioned *managed;
      g_autoptr (MtlStridedView) back = NULL;

      managed = mtl_strided_view_to_dlpack (flipped, MTL_DLPACK_FLAGS_NEGATIVE_STRIDES, NULL,
                                            &local_error);
      g_assert_no_error (local_error);
      assert_dims (managed->dl_tensor.strides, 1, -2);
      g_assert_cmpuint (ADDRESS (managed->dl_tensor.data), ==,
                        mtl_strided_view_get_address (view) + 8);
      managed->deleter (managed);

      assert_fails (mtl_strided_view_to_dlpack (flipped, MTL_DLPACK_FLAGS_NEVER_COPY, NULL, &error),
                    MTL_ERROR_NEEDS_COPY, "");
      managed = mtl_strided_view_to_dlpack (flipped, MTL_DLPACK_FLAGS_NONE, NULL, &local_error);
      g_assert_no_error (local_error);
      g_assert_cmphex (managed->flags, ==, DL_IS_COPIED);
      back = mtl_strided_view_new_take_dlpack (managed, &local_error);
      g_assert_no_error (local_error);
      g_assert_cmpint (get_mode (back), ==, modes[i]);
      assert_elements (back, 16, 14, 12);
    }
}

/* NULL is an address that all libraries take if there are no elements. */
static void
test_export_empty (void)
{
  static const DLDevice devices[] = { { 2, 0 }, { 3, 0 }, { 13, 0 } };

  for (gsize i = 0; i < G_N_ELEMENTS (devices); i++)
    {
      MtlDevice *device = mtl_device_get (devices[i].device_type, 0, NULL);
      g_autoptr (MtlStridedView) view = zeros_on (device, MTL_DTYPE_INT32, DIMS (0, 3));
      g_autoptr (GError) error = NULL;
      DLManagedTensorVersioned *managed = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE,
                                                                      NULL, &error);

      g_assert_no_error (error);
      g_assert_null (managed->dl_tensor.data);
      g_assert_cmpint (managed->dl_tensor.device.device_type, ==, devices[i].device_type);
      assert_dims (managed->dl_tensor.shape, 2, 0, 3);
      managed->deleter (managed);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (g_test_subprocess ())
    open_driver ();
  else
    set_up_cuda ();

  add_cuda_test ("/CudaDlpack/import/memories", test_import);
  add_cuda_test ("/CudaDlpack/import/as-host", test_import_as_host);
  add_cuda_test ("/CudaDlpack/import/read-only", test_import_read_only);
  add_cuda_test ("/CudaDlpack/import/legacy", test_import_legacy);
  add_cuda_test ("/CudaDlpack/import/empty", test_import_empty);
  add_cuda_test ("/CudaDlpack/import/strides", test_import_strides);
  add_cuda_test ("/CudaDlpack/import/beyond", test_import_beyond);
  add_cuda_test ("/CudaDlpack/import/before", test_import_before);
  add_cuda_test ("/CudaDlpack/import/unknown", test_import_unknown);
  add_double_test ("/CudaDlpack/import/gives-back", test_import_gives_back);
  g_test_add_func ("/CudaDlpack/import/of-unusable-device",
                   over_double ? test_import_of_unusable_device : skip_without_double);
  for (gsize i = 0; i < G_N_ELEMENTS (matrix); i++)
    add_cuda_data_test (matrix[i].path, &matrix[i], test_row);
  add_cuda_test ("/CudaDlpack/export/negative-strides", test_export_negative_strides);
  add_cuda_test ("/CudaDlpack/export/empty", test_export_empty);

  return g_test_run ();
}
