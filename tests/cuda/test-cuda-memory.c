/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of each storage mode: allocated, freed, kept for the next use, and taken from others. */

#include "cuda-fixture.h"

#include "test-tensor-files.h"

#include <sys/mman.h>

#define PAGE 4096
#define MIB ((gsize) 1 << 20)

static const MtlStorageMode cuda_modes[] = {
  MTL_STORAGE_MODE_PRIVATE,
  MTL_STORAGE_MODE_SHARED,
  MTL_STORAGE_MODE_MANAGED,
};

static MtlBuffer *
new_uninitialized (gsize          size,
                   MtlStorageMode mode)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_uninitialized (get_cuda (0), size, mode, &error);

  g_assert_no_error (error);
  return buffer;
}

/* Allocation */

/* Fresh memory is poisoned, and memory that is used again has what was in it. */
static void
check_zeroed (int            ordinal,
              gsize          size,
              MtlStorageMode mode)
{
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (ordinal), size, mode);
      g_autofree guint8 *zeros = g_malloc0 (size + 1);
      g_autoptr (GBytes) pattern = g_bytes_new_static ("\xff", 1);

      g_assert_cmpuint (mtl_buffer_get_size (buffer), ==, size);
      assert_buffer_bytes (buffer, 0, zeros, size);
      if (mode != MTL_STORAGE_MODE_PRIVATE)
        g_assert_cmpmem (mtl_buffer_get_contents (buffer), size, zeros, size);
      if (size > 0)
        assert_gpu_has (ordinal, mtl_buffer_get_handle (buffer), zeros, size);
      g_assert_true (mtl_buffer_fill (buffer, 0, size, pattern, NULL, NULL));
    }
}

static void
test_zeroed (void)
{
  static const gsize sizes[] = { 0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 4096, 4097, 70001 };

  for (int i = 0; i < n_gpus; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
      for (gsize k = 0; k < G_N_ELEMENTS (sizes); k++)
        check_zeroed (i, sizes[k], cuda_modes[j]);
}

static void
test_zeroed_large (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
    check_zeroed (0, 17 * MIB + 5, cuda_modes[j]);
}

static void
test_uninitialized (void)
{
  unsigned n_fills = dbl.calls ("cuMemsetD8Async");

  for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
    {
      g_autoptr (MtlBuffer) buffer = new_uninitialized (77777, cuda_modes[j]);
      guint8 first;

      g_assert_true (dbl.peek (ADDRESS (mtl_buffer_get_handle (buffer)), &first, 1));
      g_assert_cmphex (first, ==, CUDA_DOUBLE_FRESH);
    }
  g_assert_cmpuint (dbl.calls ("cuMemsetD8Async"), ==, n_fills);
}

static void
test_description (void)
{
  for (int i = 0; i < n_gpus; i++)
    for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
      {
        g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (i), 5, cuda_modes[j]);
        gboolean is_private = cuda_modes[j] == MTL_STORAGE_MODE_PRIVATE;
        guint8 *handle = mtl_buffer_get_handle (buffer);

        g_assert_true (mtl_buffer_get_device (buffer) == get_cuda (i));
        g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, cuda_modes[j]);
        g_assert_cmpint (mtl_buffer_is_host_accessible (buffer), ==, !is_private);
        g_assert_true (mtl_buffer_is_device_accessible (buffer));
        g_assert_true (mtl_buffer_is_size_known (buffer));
        g_assert_false (mtl_buffer_is_read_only (buffer));
        g_assert_nonnull (handle);
        g_assert_cmpuint ((guintptr) handle % 64, ==, 0);
        g_assert_cmpuint (mtl_buffer_get_byte_offset (buffer), ==, 0);
        g_assert_true (mtl_buffer_get_contents (buffer) == (is_private ? NULL : handle));
      }
}

static void
test_private_has_no_bytes (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), 8, MTL_STORAGE_MODE_PRIVATE);

  assert_fails (mtl_buffer_get_bytes (buffer, 0, 8, &error), MTL_ERROR_NOT_HOST_ACCESSIBLE,
                "(2, 0)");
}

static void
test_slice (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
    {
      g_autoptr (MtlBuffer) buffer = new_buffer (get_cuda (0), 16, cuda_modes[j]);
      g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdefghijklmnop", 16);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlBuffer) part = NULL;
      g_autoptr (MtlBuffer) part_of_part = NULL;
      guint8 *handle = mtl_buffer_get_handle (buffer);

      g_assert_true (mtl_buffer_set_bytes (buffer, 0, bytes, NULL, &error));
      part = mtl_buffer_slice (buffer, 3, 9, &error);
      part_of_part = mtl_buffer_slice (part, 2, 5, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_buffer_get_handle (part_of_part) == handle);
      g_assert_cmpuint (mtl_buffer_get_byte_offset (part_of_part), ==, 5);

      /* The part alone keeps the memory. */
      g_clear_object (&buffer);
      g_clear_object (&part);
      assert_buffer_bytes (part_of_part, 0, "fghij", 5);
      assert_gpu_has (0, handle + 8, "ij", 2);
    }
}

static void
test_too_large (void)
{
  for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
    {
      assert_fails (mtl_buffer_new (get_cuda (0), (gsize) G_MAXSSIZE + 1, cuda_modes[j], &error),
                    MTL_ERROR_NO_MEMORY, "9223372036854775808 & 9223372036854775807");
      assert_fails (mtl_buffer_new (get_cuda (0), G_MAXSSIZE, cuda_modes[j], &error),
                    MTL_ERROR_NO_MEMORY, "9223372036854775807 & CUDA_ERROR_OUT_OF_MEMORY & 2");
      assert_fails (mtl_buffer_new_uninitialized (get_cuda (0), G_MAXSIZE, cuda_modes[j], &error),
                    MTL_ERROR_NO_MEMORY, "18446744073709551615");
      assert_fails (mtl_buffer_new (get_cuda (0), (gsize) 1 << 50, cuda_modes[j], &error),
                    MTL_ERROR_NO_MEMORY, "1125899906842624 & “CUDA double 0”");
    }
}

/* The device's memory, of which half is in use */
static MtlBuffer *
use_half (void)
{
  g_assert_true (dbl.set_attribute (-1, "memory", 64 * MIB));
  return new_uninitialized (32 * MIB, MTL_STORAGE_MODE_PRIVATE);
}

static void
test_out_of_memory (void)
{
  g_autoptr (MtlBuffer) half = NULL;
  g_autoptr (MtlBuffer) rest = NULL;

  run_alone ();
  half = use_half ();
  rest = new_uninitialized (32 * MIB, MTL_STORAGE_MODE_PRIVATE);
  assert_fails (mtl_buffer_new (get_cuda (0), 1, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "1 & CUDA_ERROR_OUT_OF_MEMORY");
  assert_fails (mtl_buffer_new (get_cuda (0), 32 * MIB, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NO_MEMORY, "33554432 & CUDA_ERROR_OUT_OF_MEMORY & “CUDA double 0”");

  /* The next one is in the memory that was freed, for which nobody has to wait. */
  assert_does_not_wait (g_clear_object (&rest);
                        rest = new_uninitialized (20 * MIB, MTL_STORAGE_MODE_PRIVATE));
}

/* Memory that another stream may still use is waited for if there is no other. */
static void
test_out_of_memory_until_freed (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) half = NULL;
  g_autoptr (MtlBuffer) other_half = NULL;
  MtlStridedView *view;
  DLManagedTensorVersioned *tensor;
  CuStream stream;
  MtlStream *pushed;

  run_alone ();
  half = use_half ();
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  stream = peer_stream (0);
  view = zeros_on (get_cuda (0), MTL_DTYPE_UINT8, DIMS (32 * MIB));
  pushed = push_stream (stream, 0);
  tensor = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, &error);
  g_assert_no_error (error);
  pop_stream (pushed);
  MUST (cu.cuMemsetD8Async (ADDRESS (tensor->dl_tensor.data), 3, 32 * MIB, stream));

  assert_does_not_wait (tensor->deleter (tensor); g_clear_object (&view));
  other_half = new_uninitialized (32 * MIB, MTL_STORAGE_MODE_PRIVATE);
  g_assert_cmpuint (dbl.waits ("cuStreamSynchronize"), >=, 1);
  g_assert_cmpuint (dbl.pending (stream), ==, 0);
}

/* The pool keeps memory, as the driver takes 40 times as long to fetch it anew. */
static void
test_pool_is_kept (void)
{
  unsigned n_trims = dbl.calls ("cuMemPoolTrimTo");
  guint64 n_cached;

  synchronize (get_cuda (0));
  n_cached = dbl.pool_cached ();
  g_clear_object (&(MtlBuffer *) { new_buffer (get_cuda (0), 5 * MIB, MTL_STORAGE_MODE_PRIVATE) });
  synchronize (get_cuda (0));
  g_assert_cmpuint (dbl.pool_cached (), >=, n_cached);
  g_assert_cmpuint (dbl.pool_cached (), >=, 5 * MIB);
  g_assert_cmpuint (dbl.calls ("cuMemPoolTrimTo"), ==, n_trims);
}

/* Blocks that are kept */

static const struct
{
  MtlStorageMode mode;
  const char *kind;
  const char *allocate;
  const char *free;
} kept_kinds[] = {
  { MTL_STORAGE_MODE_SHARED, "pinned", "cuMemHostAlloc", "cuMemFreeHost" },
  { MTL_STORAGE_MODE_MANAGED, "managed", "cuMemAllocManaged", "cuMemFree_v2" },
};

static void
test_blocks_are_kept (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kept_kinds); i++)
    {
      g_autoptr (MtlBuffer) first = new_uninitialized (50000, kept_kinds[i].mode);
      gpointer handle = mtl_buffer_get_handle (first);
      unsigned n_calls = dbl.calls (kept_kinds[i].allocate);
      unsigned n_frees = dbl.calls (kept_kinds[i].free);

      g_clear_object (&first);
      for (gsize size = 49153; size <= 53248; size += 4095)
        {
          g_autoptr (MtlBuffer) second = new_uninitialized (size, kept_kinds[i].mode);

          g_assert_true (mtl_buffer_get_handle (second) == handle);
        }
      g_assert_cmpuint (dbl.calls (kept_kinds[i].allocate), ==, n_calls);
      g_assert_cmpuint (dbl.calls (kept_kinds[i].free), ==, n_frees);
    }
}

/* A block is only for memory of about its size, of its device. */
static void
test_other_blocks_are_not_used (void)
{
  skip_unless (n_gpus > 1, "this needs two devices");
  for (gsize i = 0; i < G_N_ELEMENTS (kept_kinds); i++)
    {
      g_autoptr (MtlBuffer) first = new_uninitialized (90000, kept_kinds[i].mode);
      gpointer handle = mtl_buffer_get_handle (first);
      g_autoptr (MtlBuffer) larger = NULL;
      g_autoptr (MtlBuffer) elsewhere = NULL;

      g_clear_object (&first);
      larger = new_uninitialized (130000, kept_kinds[i].mode);
      elsewhere = new_buffer (get_cuda (1), 90000, kept_kinds[i].mode);
      g_assert_true (mtl_buffer_get_handle (larger) != handle);
      g_assert_true (mtl_buffer_get_handle (elsewhere) != handle);
    }
}

/* The driver waits for all work of the context before it frees a block: a thread does that. */
static void
test_large_blocks_are_freed (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kept_kinds); i++)
    {
      gsize n_alive = dbl.live (kept_kinds[i].kind);
      g_autoptr (MtlBuffer) buffer = new_uninitialized (257 * MIB, kept_kinds[i].mode);

      g_assert_cmpuint (dbl.live (kept_kinds[i].kind), ==, n_alive + 1);
      dbl.pause ();
      assert_does_not_wait (g_clear_object (&buffer));
      dbl.resume ();
      for (int j = 0; j < 5000 && dbl.live (kept_kinds[i].kind) != n_alive; j++)
        g_usleep (1000);
      g_assert_cmpuint (dbl.live (kept_kinds[i].kind), ==, n_alive);
    }
}

/* Frees */

static DLManagedTensorVersioned *
export_for (MtlStridedView *view,
            CuStream        stream,
            MtlDlpackFlags  flags)
{
  g_autoptr (GError) error = NULL;
  MtlStream *pushed = push_stream (stream, 0);
  DLManagedTensorVersioned *tensor = mtl_strided_view_to_dlpack (view, flags, NULL, &error);

  g_assert_no_error (error);
  pop_stream (pushed);
  return tensor;
}

/* No caller waits for work, whatever it frees. */
static void
test_free_with_work (void)
{
  g_autoptr (GBytes) pattern = g_bytes_new_static ("xy", 2);

  for (gsize j = 0; j < G_N_ELEMENTS (cuda_modes); j++)
    {
      MtlBuffer *buffer = new_buffer (get_cuda (0), 1000, cuda_modes[j]);
      MtlBuffer *unused = new_buffer (get_cuda (0), 2000, cuda_modes[j]);
      MtlBuffer *private = new_buffer (get_cuda (0), 1000, MTL_STORAGE_MODE_PRIVATE);

      dbl.pause ();
      assert_does_not_wait (g_assert_true (mtl_buffer_fill (private, 0, 1000, pattern, NULL, NULL));
                            g_assert_finalize_object (buffer);
                            g_assert_finalize_object (unused);
                            g_assert_finalize_object (private));
      g_assert_cmpuint (dbl.pending (own_stream (0)), >, 0);
      dbl.resume ();
      synchronize (get_cuda (0));
    }
}

/* A block that was kept, taken and freed many times is one block. */
static void
test_block_is_kept_again (void)
{
  const gsize size = (gsize) 60 << 20;
  unsigned n_calls = dbl.calls ("cuMemHostAlloc");

  for (int i = 0; i < 10; i++)
    {
      g_autoptr (MtlBuffer) buffer = new_uninitialized (size, MTL_STORAGE_MODE_SHARED);

      synchronize (get_cuda (0));
    }
  g_assert_cmpuint (dbl.calls ("cuMemHostAlloc"), ==, n_calls + 1);
}

/* Blocks of any size are found, in any order. */
static void
test_all_blocks_are_kept (void)
{
  const gsize sizes[] = { 200000, 300000, 400000 };
  unsigned n_calls = dbl.calls ("cuMemHostAlloc");

  for (int round = 0; round < 3; round++)
    {
      g_autoptr (MtlBuffer) first = new_uninitialized (sizes[round % 3], MTL_STORAGE_MODE_SHARED);
      g_autoptr (MtlBuffer) second = new_uninitialized (sizes[(round + 1) % 3],
                                                        MTL_STORAGE_MODE_SHARED);
      g_autoptr (MtlBuffer) third = new_uninitialized (sizes[(round + 2) % 3],
                                                       MTL_STORAGE_MODE_SHARED);

      synchronize (get_cuda (0));
    }
  g_assert_cmpuint (dbl.calls ("cuMemHostAlloc"), ==, n_calls + 3);
}

/* A block that a stream may still write to is not handed out again. */
static void
test_block_is_free_after_its_work (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kept_kinds); i++)
    {
      CuStream stream = peer_stream (0);
      g_autoptr (GError) error = NULL;
      MtlStridedView *view = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_UINT8,
                                                         DIMS (30000), kept_kinds[i].mode, &error);
      gpointer handle = mtl_buffer_get_handle (mtl_strided_view_get_buffer (view));
      DLManagedTensorVersioned *tensor = export_for (view, stream, MTL_DLPACK_FLAGS_NONE);
      g_autoptr (MtlBuffer) during = NULL;
      g_autoptr (GPtrArray) after = g_ptr_array_new_with_free_func (g_object_unref);
      gboolean found = FALSE;

      dbl.pause ();
      MUST (cu.cuMemsetD8Async (ADDRESS (handle), 0x55, 30000, stream));
      assert_does_not_wait (tensor->deleter (tensor); g_assert_finalize_object (view));
      during = new_buffer (get_cuda (0), 30000, kept_kinds[i].mode);
      g_assert_true (mtl_buffer_get_handle (during) != handle);
      dbl.resume ();
      MUST (cu.cuStreamSynchronize (stream));
      MUST (cu.cuStreamDestroy_v2 (stream));

      for (int j = 0; j < 1000 && !found; j++)
        {
          MtlBuffer *next;

          g_usleep (5000);
          next = new_buffer (get_cuda (0), 30000, kept_kinds[i].mode);
          g_ptr_array_add (after, next);
          found = mtl_buffer_get_handle (next) == handle;
        }
      g_assert_true (found);
    }
}

/* Memory of others */

typedef struct
{
  const char *path;
  MtlStorageMode mode;
  gpointer (* allocate) (gsize size);
  void (* free) (gpointer address);
} Foreign;

static gpointer
allocate_of_gpu (gsize size)
{
  return peer_memory (0, size);
}

static gpointer
allocate_of_pool (gsize size)
{
  CuAddress address;

  peer_enter (0);
  MUST (cu.cuMemAllocAsync (&address, size, CU_LEGACY_STREAM));
  MUST (cu.cuStreamSynchronize (CU_LEGACY_STREAM));
  peer_leave ();
  return POINTER (address);
}

static void
free_to_pool (gpointer address)
{
  synchronize (get_cuda (0));
  peer_enter (0);
  MUST (cu.cuMemFreeAsync (ADDRESS (address), CU_LEGACY_STREAM));
  peer_leave ();
}

static gpointer
allocate_elsewhere (gsize size)
{
  gpointer address;

  peer_enter (n_gpus - 1);
  MUST (cu.cuMemHostAlloc (&address, size, CU_HOST_ALLOC_PORTABLE));
  peer_leave ();
  return address;
}

static gpointer
allocate_registered (gsize size)
{
  gpointer address = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  g_assert_true (address != MAP_FAILED);
  peer_enter (0);
  MUST (cu.cuMemHostRegister_v2 (address, size, CU_REGISTER_PORTABLE));
  peer_leave ();
  return address;
}

static void
free_registered (gpointer address)
{
  peer_enter (0);
  MUST (cu.cuMemHostUnregister (address));
  peer_leave ();
  g_assert_cmpint (munmap (address, 3 * PAGE), ==, 0);
}

static const Foreign foreign[] = {
  { "/CudaMemory/handle/gpu", MTL_STORAGE_MODE_PRIVATE, allocate_of_gpu, peer_free },
  { "/CudaMemory/handle/pool", MTL_STORAGE_MODE_PRIVATE, allocate_of_pool, free_to_pool },
  { "/CudaMemory/handle/pinned", MTL_STORAGE_MODE_SHARED, peer_pinned, peer_free_pinned },
  { "/CudaMemory/handle/pinned-of-another", MTL_STORAGE_MODE_SHARED, allocate_elsewhere,
    peer_free_pinned },
  { "/CudaMemory/handle/registered", MTL_STORAGE_MODE_SHARED, allocate_registered,
    free_registered },
  { "/CudaMemory/handle/managed", MTL_STORAGE_MODE_MANAGED, peer_managed, peer_free },
};

static MtlBuffer *
wrap (gpointer   handle,
      gsize      size,
      MtlDevice *device,
      int       *n_ended)
{
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer = mtl_buffer_new_for_handle (handle, size, device, count_call, n_ended, &error);

  g_assert_no_error (error);
  return buffer;
}

static void
test_handle (Living        *living,
             gconstpointer  data)
{
  const Foreign *kind = data;
  const gsize size = 3 * PAGE;
  guint8 *handle = kind->allocate (size);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdef", 6);
  g_autoptr (GError) local_error = NULL;
  int n_ended = 0;
  MtlBuffer *buffer = wrap (handle, size, get_cuda (0), &n_ended);
  MtlBuffer *part = wrap (handle + 100, size - 100, get_cuda (0), &n_ended);
  gsize end = bytes_to_end (handle);
  g_autofree char *whole = g_strdup_printf ("%" G_GSIZE_FORMAT, end);
  g_autofree char *too_large = g_strdup_printf ("%" G_GSIZE_FORMAT " & %s", end + 1, whole);
  guint8 read[6];

  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, kind->mode);
  g_assert_true (mtl_buffer_get_device (buffer) == get_cuda (0));
  g_assert_true (mtl_buffer_get_handle (buffer) == handle);
  g_assert_true (mtl_buffer_get_contents (part)
                 == (kind->mode == MTL_STORAGE_MODE_PRIVATE ? NULL : handle + 100));
  g_assert_true (mtl_buffer_set_bytes (part, 1, bytes, NULL, &local_error));
  g_assert_no_error (local_error);
  assert_buffer_bytes (buffer, 101, "abcdef", 6);
  read_gpu (0, handle + 101, read, 6);
  g_assert_cmpmem (read, 6, "abcdef", 6);

  /* The range is checked if the driver knows it. */
  assert_fails (mtl_buffer_new_for_handle (handle, end + 1, get_cuda (0), count_call, &n_ended,
                                           &error),
                MTL_ERROR_OUT_OF_BOUNDS, too_large);
  assert_fails (mtl_buffer_new_for_handle (handle + 1, end, get_cuda (0), count_call, &n_ended,
                                           &error),
                MTL_ERROR_OUT_OF_BOUNDS, whole);
  assert_fails (mtl_buffer_new_for_handle (handle + 1, G_MAXSSIZE, get_cuda (0), count_call,
                                           &n_ended, &error),
                MTL_ERROR_OUT_OF_BOUNDS, whole);
  assert_fails (mtl_buffer_new_for_handle (handle, G_MAXSIZE, get_cuda (0), count_call, &n_ended,
                                           &error),
                MTL_ERROR_OVERFLOW, "18446744073709551615");
  g_assert_cmpint (g_atomic_int_get (&n_ended), ==, 4);

  g_assert_finalize_object (part);
  await_count (&n_ended, 5);
  g_assert_finalize_object (buffer);
  await_count (&n_ended, 6);
  kind->free (handle);
}

/* The owner may free the memory once the work on it is over, for which the caller does not wait. */
static void
test_owner_ends_after_work (void)
{
  CuStream own = own_stream (0);
  gpointer memory = peer_memory (0, 100);
  g_autoptr (GBytes) pattern = g_bytes_new_static ("xy", 2);
  g_autoptr (GError) error = NULL;
  int n_ended = 0;
  MtlBuffer *buffer = wrap (memory, 100, get_cuda (0), &n_ended);

  dbl.pause ();
  assert_does_not_wait (g_assert_true (mtl_buffer_fill (buffer, 0, 100, pattern, NULL, &error));
                        g_assert_finalize_object (buffer));
  g_assert_no_error (error);
  g_usleep (20000);
  g_assert_cmpint (g_atomic_int_get (&n_ended), ==, 0);
  g_assert_cmpuint (dbl.pending (own), >, 0);
  dbl.resume ();
  await_count (&n_ended, 1);
  g_assert_cmpuint (dbl.pending (own), ==, 0);
  peer_free (memory);
}

/* Nobody has to be asked for memory that was never used. */
static void
test_owner_ends_at_once (void)
{
  gpointer memory = peer_memory (0, 100);
  int n_ended = 0;
  MtlBuffer *buffer = wrap (memory, 100, get_cuda (0), &n_ended);
  unsigned n_calls = dbl.calls (NULL);

  g_assert_finalize_object (buffer);
  g_assert_cmpint (g_atomic_int_get (&n_ended), ==, 1);
  g_assert_cmpuint (dbl.calls (NULL), ==, n_calls);
  peer_free (memory);
}

static void
assert_handle_is_refused (gpointer    handle,
                          MtlDevice  *device,
                          const char *values)
{
  int n_ended = 0;

  assert_fails (mtl_buffer_new_for_handle (handle, 8, device, count_call, &n_ended, &error),
                MTL_ERROR_INVALID_ARGUMENT, values);
  g_assert_cmpint (n_ended, ==, 1);
}

static void
test_handles_of_others (void)
{
  g_autofree guint8 *host = g_malloc (8);
  gpointer elsewhere = peer_memory (n_gpus - 1, 8);
  gpointer freed = peer_memory (0, 8);

  assert_handle_is_refused (host, get_cuda (0), "");
  assert_handle_is_refused (POINTER (8), get_cuda (0), "0x8");
  if (n_gpus > 1)
    assert_handle_is_refused (elsewhere, get_cuda (0), "(2, 1) & (2, 0)");
  peer_free (elsewhere);
  peer_free (freed);
  assert_handle_is_refused (freed, get_cuda (0), "");
}

/* The devices for pinned and managed memory have no other. */
/* Places in an allocation of more than 4 GiB */
static void
test_far_handles (void)
{
  const gsize far = (gsize) 1 << 32;
  guint8 *handle = peer_memory (0, far + 100);
  int n_ended = 0;
  MtlBuffer *buffer = wrap (handle + far, 100, get_cuda (0), &n_ended);
  g_autofree char *size = NULL;
  gsize end;

  g_assert_true (mtl_buffer_get_handle (buffer) == handle + far);
  g_assert_finalize_object (buffer);
  end = bytes_to_end (handle);
  size = g_strdup_printf ("%" G_GSIZE_FORMAT, end);
  assert_fails (mtl_buffer_new_for_handle (handle + far, end - far + 1, get_cuda (0), NULL, NULL,
                                           &error),
                MTL_ERROR_OUT_OF_BOUNDS, size);
  g_assert_cmpint (n_ended, ==, 1);
  peer_free (handle);
}

static void
test_handles_of_identities (void)
{
  MtlDevice *pinned_device = mtl_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0, NULL);
  MtlDevice *managed_device = mtl_device_get (MTL_DEVICE_TYPE_CUDA_MANAGED, 0, NULL);
  gpointer private = peer_memory (0, 8), pinned = peer_pinned (8), managed = peer_managed (8);
  int n_ended = 0;

  assert_handle_is_refused (private, pinned_device, "(3, 0)");
  assert_handle_is_refused (managed, pinned_device, "(3, 0)");
  assert_handle_is_refused (private, managed_device, "(13, 0)");
  assert_handle_is_refused (pinned, managed_device, "(13, 0)");
  g_clear_object (&(MtlBuffer *) { wrap (pinned, 8, pinned_device, &n_ended) });
  g_clear_object (&(MtlBuffer *) { wrap (managed, 8, managed_device, &n_ended) });
  g_assert_cmpint (n_ended, ==, 2);

  peer_free (private);
  peer_free (managed);
  peer_free_pinned (pinned);
}

/* The host's memory is copied: only mapped files can be used in place. */
static void
test_data (void)
{
  g_autofree char *data = g_strdup ("abcdefgh");
  g_autoptr (GError) local_error = NULL;
  g_autoptr (MtlBuffer) buffer = NULL;
  g_autofree char *said = g_strdup_printf ("8 & “%s”", mtl_device_get_name (get_cuda (0)));
  int n_ended = 0;

  buffer = mtl_buffer_new_for_data (data, 8, get_cuda (0), MTL_BUFFER_FLAGS_NONE, count_call,
                                    &n_ended, &local_error);
  g_assert_no_error (local_error);
  g_assert_cmpint (n_ended, ==, 1);
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_PRIVATE);
  memset (data, 'x', 8);
  assert_buffer_bytes (buffer, 0, "abcdefgh", 8);

  assert_fails (mtl_buffer_new_for_data (data, 8, get_cuda (0), MTL_BUFFER_FLAGS_NEVER_COPY,
                                         count_call, &n_ended, &error),
                MTL_ERROR_NEEDS_COPY, said);
  g_assert_cmpint (n_ended, ==, 2);
}

/* Files */

static void
assert_copies_to_gpu (MtlBuffer *source,
                      gsize      position)
{
  gsize size = mtl_buffer_get_size (source);
  g_autoptr (MtlBuffer) private = new_uninitialized (size, MTL_STORAGE_MODE_PRIVATE);
  g_autofree guint8 *bytes = g_malloc (size);
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_buffer_copy_from (private, 0, source, 0, size, NULL, &error));
  g_assert_no_error (error);
  read_gpu (0, mtl_buffer_get_handle (private), bytes, size);
  assert_pattern (bytes, position, size);
}

static gboolean
is_mapped (GFile *file)
{
  g_autofree char *maps = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  return strstr (maps, g_file_peek_path (file)) != NULL;
}

static void
test_mapped (void)
{
  static const gsize ranges[][2] = { { 0, 50000 }, { 0, 1 }, { 4096, 4096 }, { 5000, 30001 } };
  TestFolder folder;
  g_autoptr (GFile) file = NULL;

  set_up_folder (&folder, NULL);
  file = write_pattern (&folder, "data", 50000);
  for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
    {
      gsize offset = ranges[i][0], size = ranges[i][1];
      g_autoptr (GError) error = NULL;
      MtlBuffer *buffer = mtl_buffer_new_mapped (file, get_cuda (0), offset, size, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_SHARED);
      g_assert_true (mtl_buffer_is_read_only (buffer));
      assert_pattern (mtl_buffer_get_contents (buffer), offset, size);
      if (over_double)
        g_assert_cmpuint (dbl.live ("registered"), ==, 1);
      assert_copies_to_gpu (buffer, offset);

      /* It is unregistered in the background, which waits for all work of the context. */
      if (over_double)
        assert_does_not_wait (g_assert_finalize_object (buffer));
      else
        g_assert_finalize_object (buffer);
      for (int j = 0; j < 5000 && is_mapped (file); j++)
        g_usleep (1000);
      g_assert_false (is_mapped (file));
    }
  tear_down_folder (&folder, NULL);
}

/* The mapping stays until the copy is done. */
static void
test_mapped_is_in_use (void)
{
  g_autoptr (MtlBuffer) private = new_buffer (get_cuda (0), 50000, MTL_STORAGE_MODE_PRIVATE);
  CuStream stream = peer_stream (0);
  TestFolder folder;
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = mtl_strided_layout_new (DIMS (50000), DIMS (1), 8, NULL);
  MtlStridedView *view;
  MtlBuffer *buffer;
  DLManagedTensorVersioned *tensor;
  guint8 *bytes = g_malloc (50000);

  set_up_folder (&folder, NULL);
  file = write_pattern (&folder, "data", 50000);
  buffer = mtl_buffer_new_mapped (file, get_cuda (0), 0, 50000, NULL, &error);
  g_assert_no_error (error);
  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error);
  g_assert_no_error (error);
  g_clear_object (&buffer);
  tensor = export_for (view, stream, MTL_DLPACK_FLAGS_NEVER_COPY);
  g_assert_cmphex (tensor->flags & DL_READ_ONLY, !=, 0);

  dbl.pause ();
  peer_order (0, own_stream (0), stream);
  MUST (cu.cuMemcpyAsync (ADDRESS (mtl_buffer_get_handle (private)),
                          ADDRESS (tensor->dl_tensor.data), 50000, stream));
  assert_does_not_wait (tensor->deleter (tensor); g_assert_finalize_object (view));
  g_usleep (20000);
  g_assert_cmpuint (dbl.live ("registered"), ==, 1);
  dbl.resume ();
  MUST (cu.cuStreamSynchronize (stream));
  MUST (cu.cuStreamDestroy_v2 (stream));
  read_gpu (0, mtl_buffer_get_handle (private), bytes, 50000);
  assert_pattern (bytes, 0, 50000);
  g_free (bytes);
  tear_down_folder (&folder, NULL);
}

/* DATA is what the device lacks. */
static void
test_mapped_is_not_supported (gconstpointer data)
{
  TestFolder folder;
  g_autoptr (GFile) file = NULL;

  run_alone ();
  g_assert_true (dbl.set_attribute (-1, data, 0));
  set_up_folder (&folder, NULL);
  file = write_pattern (&folder, "data", 5000);
  assert_fails (mtl_buffer_new_mapped (file, get_cuda (0), 0, 5000, NULL, &error),
                MTL_ERROR_NEEDS_COPY, "“CUDA double 0”");
  tear_down_folder (&folder, NULL);
}

static void
test_tensor_file (void)
{
  static const MtlTensorFileMode modes[] = { MTL_TENSOR_FILE_MODE_MAP, MTL_TENSOR_FILE_MODE_READ };
  const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                       "\"b\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[4,8]}}";
  guint64 size = GUINT64_TO_LE (strlen (header));
  g_autoptr (GByteArray) content = g_byte_array_new ();
  TestFolder folder;
  g_autoptr (GFile) file = NULL;

  g_byte_array_append (content, (const guint8 *) &size, 8);
  g_byte_array_append (content, (const guint8 *) header, strlen (header));
  g_byte_array_append (content, (const guint8 *) "\1\2\3\4\5\0\xfe\xff", 8);
  set_up_folder (&folder, NULL);
  file = write_file (&folder, "tensors", content->data, content->len);

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (MtlTensorFile) tensors = open_on_device (file, modes[i], get_cuda (0));
      g_autoptr (MtlStridedView) a = get_view (tensors, "a");
      g_autoptr (MtlStridedView) b = get_view (tensors, "b");
      g_autoptr (MtlStridedView) copy = NULL;
      gboolean is_mapped = modes[i] == MTL_TENSOR_FILE_MODE_MAP;

      g_assert_true (mtl_strided_view_get_device (a) == get_cuda (0));
      g_assert_cmpint (mtl_strided_view_is_read_only (a), ==, is_mapped);
      g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (a)), ==,
                       MTL_STORAGE_MODE_SHARED);
      copy = to_gpu (b);
      assert_elements (a, 1, 2, 3, 4);
      assert_elements (b, 5, -2);
      assert_gpu_has (0, mtl_buffer_get_handle (mtl_strided_view_get_buffer (copy)),
                      "\5\0\xfe\xff", 4);
    }
  tear_down_folder (&folder, NULL);
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

  add_cuda_test ("/CudaMemory/zeroed", test_zeroed);
  add_cuda_test ("/CudaMemory/zeroed-large", test_zeroed_large);
  add_double_test ("/CudaMemory/uninitialized", test_uninitialized);
  add_cuda_test ("/CudaMemory/description", test_description);
  add_cuda_test ("/CudaMemory/private-has-no-bytes", test_private_has_no_bytes);
  add_cuda_test ("/CudaMemory/slice", test_slice);
  add_double_test ("/CudaMemory/too-large", test_too_large);
  g_test_add_func ("/CudaMemory/out-of-memory",
                   over_double ? test_out_of_memory : skip_without_double);
  g_test_add_func ("/CudaMemory/out-of-memory-until-freed",
                   over_double ? test_out_of_memory_until_freed : skip_without_double);
  add_double_test ("/CudaMemory/pool-is-kept", test_pool_is_kept);
  add_double_test ("/CudaMemory/blocks/are-kept", test_blocks_are_kept);
  add_cuda_test ("/CudaMemory/blocks/of-others", test_other_blocks_are_not_used);
  add_double_test ("/CudaMemory/blocks/large", test_large_blocks_are_freed);
  add_double_test ("/CudaMemory/blocks/are-kept-again", test_block_is_kept_again);
  add_double_test ("/CudaMemory/blocks/are-all-kept", test_all_blocks_are_kept);
  add_double_test ("/CudaMemory/blocks/after-their-work", test_block_is_free_after_its_work);
  add_double_test ("/CudaMemory/free-with-work", test_free_with_work);
  for (gsize i = 0; i < G_N_ELEMENTS (foreign); i++)
    add_cuda_data_test (foreign[i].path, &foreign[i], test_handle);
  add_double_test ("/CudaMemory/owner/after-work", test_owner_ends_after_work);
  add_double_test ("/CudaMemory/owner/at-once", test_owner_ends_at_once);
  add_cuda_test ("/CudaMemory/handles/of-others", test_handles_of_others);
  add_cuda_test ("/CudaMemory/handles/far", test_far_handles);
  add_cuda_test ("/CudaMemory/handles/of-identities", test_handles_of_identities);
  add_cuda_test ("/CudaMemory/data", test_data);
  add_cuda_test ("/CudaMemory/mapped/ranges", test_mapped);
  add_double_test ("/CudaMemory/mapped/in-use", test_mapped_is_in_use);
  if (over_double)
    {
      g_test_add_data_func ("/CudaMemory/mapped/for-writing-alone", "register-read-only",
                            test_mapped_is_not_supported);
      g_test_add_data_func ("/CudaMemory/mapped/at-other-addresses", "registered-same-address",
                            test_mapped_is_not_supported);
    }
  add_cuda_test ("/CudaMemory/tensor-file", test_tensor_file);

  return g_test_run ();
}
