/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which devices the library finds, and processes that fork or end while it uses them. Each test is
 * a process of its own, as CUDA is looked for once. */

#include "cuda-fixture.h"

#define MEMORY ((guint64) 8 << 30)

/* The error says why. */
static void
assert_no_cuda (const char *reason)
{
  g_autofree char *values = g_strconcat ("(2, & ", reason, NULL);
  g_autoptr (GList) devices = NULL;

  for (int i = 0; i < 3; i++)
    assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, i, &error), MTL_ERROR_NOT_SUPPORTED,
                  values);
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, -1, &error), MTL_ERROR_NOT_SUPPORTED,
                "(2, -1)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                "(3, 0)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA_MANAGED, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                "(13, 0)");

  devices = mtl_device_list ();
  g_assert_cmpuint (g_list_length (devices), ==, 1);
  g_assert_true (devices->data == mtl_device_get_host ());
  g_assert_true (mtl_device_get_default () == mtl_device_get_host ());
}

/* Drivers that are not usable; the rest of the program works as ever. */

static void
delete_nothing (DLManagedTensorVersioned *managed)
{
}

static void
assert_works_without (const char *reason)
{
  PeerTensor tensor;
  guint8 bytes[4] = "abcd";
  g_autoptr (MtlStridedView) foreign = NULL;
  g_autoptr (MtlBuffer) host = NULL;

  assert_no_cuda (reason);
  host = new_buffer (NULL, 8, MTL_STORAGE_MODE_DEFAULT);
  g_assert_true (mtl_buffer_is_host_accessible (host));

  /* Tensors of CUDA are passed on. */
  peer_tensor_init (&tensor, bytes, 4, 2, 1);
  tensor.managed.deleter = delete_nothing;
  foreign = import (&tensor);
  g_assert_cmpint (mtl_buffer_get_storage_mode (mtl_strided_view_get_buffer (foreign)), ==,
                   MTL_STORAGE_MODE_FOREIGN);
  g_assert_cmpint (mtl_device_get_ordinal (mtl_strided_view_get_device (foreign)), ==, 1);
}

typedef struct
{
  const char *path;
  const char *library; /* a part of its path, NULL: the double */
  const char *reason;
  unsigned init_result;
  const char *attribute; /* that devices lack */
} Machine;

static const Machine machines[] = {
  { "/CudaDevices/without/library", "nowhere/libcuda.so.1", "nowhere/libcuda.so.1" },
  { "/CudaDevices/without/any-library", "", "MTL_CUDA_LIBRARY" },
  { "/CudaDevices/without/functions", "libm.so.6", "cuInit()" },
  { "/CudaDevices/without/one-function", "libincomplete-driver.so", "cuLaunchKernel()" },
  { "/CudaDevices/without/one-struct-function", "libincomplete-struct-driver.so",
    "cuMemcpy3DAsync_v2()" },
  { "/CudaDevices/without/stub", NULL, "34 & CUDA_ERROR_STUB_LIBRARY", CU_STUB_LIBRARY },
  { "/CudaDevices/without/device", NULL, "100 & CUDA_ERROR_NO_DEVICE", CU_NO_DEVICE },
  { "/CudaDevices/without/fabric-manager", NULL, "802", CU_SYSTEM_NOT_READY },
  { "/CudaDevices/without/matching-driver", NULL, "803", CU_DRIVER_MISMATCH },
  { "/CudaDevices/without/compatibility", NULL, "804", CU_COMPAT_NOT_SUPPORTED },
  { "/CudaDevices/without/reason", NULL, "999", CU_UNKNOWN },
  { "/CudaDevices/without/memory", NULL, "2", CU_OUT_OF_MEMORY },
  { "/CudaDevices/without/pools", NULL, "(2,", 0, "memory-pools" },
  { "/CudaDevices/without/unified-addressing", NULL, "(2,", 0, "unified-addressing" },
};

static void
set_library (const char *name)
{
  g_autofree char *path = NULL;

  if (g_str_has_prefix (name, "libincomplete"))
    path = g_build_filename (g_getenv ("G_TEST_BUILDDIR"), "cuda", name, NULL);
  g_setenv ("MTL_CUDA_LIBRARY", path != NULL ? path : name, TRUE);
}

static void
test_without (gconstpointer data)
{
  const Machine *machine = data;

  run_alone ();
  if (machine->library != NULL)
    set_library (machine->library);
  if (machine->init_result != 0)
    dbl.set_init_result (machine->init_result);
  if (machine->attribute != NULL)
    g_assert_true (dbl.set_attribute (-1, machine->attribute, 0));

  assert_works_without (machine->reason);
  g_assert_true (machine->library != NULL || dbl.calls ("cuInit") > 0);
}

/* The control of those above: the library that has all functions is one of CUDA. */
static void
test_complete (void)
{
  run_alone ();
  set_library ("libincomplete-not-driver.so");
  g_assert_nonnull (get_cuda (0));
  g_assert_nonnull (mtl_device_get_uuid (get_cuda (0)));
}

/* The optional functions may be missing. */
static void
test_without_stream_values (void)
{
  run_alone ();
  set_library ("libincomplete-optional-driver.so");
  g_assert_nonnull (get_cuda (0));
}

static void
test_no_devices (void)
{
  run_alone ();
  dbl.set_devices (0);
  assert_works_without ("100");
}

/* The devices keep the numbers that other libraries have for them. */
static void
test_gaps (void)
{
  g_autoptr (GList) devices = NULL;

  run_alone ();
  dbl.set_devices (4);
  dbl.set_attribute (0, "memory-pools", 0);
  dbl.set_attribute (2, "unified-addressing", 0);

  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                "(2, 0)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, 2, &error), MTL_ERROR_NOT_SUPPORTED,
                "(2, 2)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, 4, &error), MTL_ERROR_NOT_SUPPORTED,
                "(2, 4)");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, -1, &error), MTL_ERROR_NOT_SUPPORTED,
                "(2, -1)");
  g_assert_cmpint (mtl_device_get_ordinal (get_cuda (1)), ==, 1);
  g_assert_cmpint (mtl_device_get_ordinal (get_cuda (3)), ==, 3);

  devices = mtl_device_list ();
  g_assert_cmpuint (g_list_length (devices), ==, 3);
  g_assert_true (g_list_nth_data (devices, 1) == get_cuda (1));
  g_assert_true (g_list_nth_data (devices, 2) == get_cuda (3));

  /* Pinned memory is allocated in the first context that there is. */
  g_clear_object (&(MtlBuffer *) { new_buffer (mtl_device_get (MTL_DEVICE_TYPE_CUDA_HOST, 0, NULL),
                                               8, MTL_STORAGE_MODE_DEFAULT) });
  g_assert_cmpuint (dbl.live ("stream"), ==, 2);
}

/* A child of a process that uses CUDA cannot, so that nobody uses it unasked. */
static void
test_list_does_not_initialize (void)
{
  g_autoptr (GList) devices = NULL;
  g_autoptr (GList) after = NULL;

  run_alone ();
  devices = mtl_device_list ();
  g_assert_cmpuint (g_list_length (devices), ==, 1);
  g_clear_object (&(MtlBuffer *) { new_buffer (NULL, 8, MTL_STORAGE_MODE_DEFAULT) });
  g_assert_cmpuint (dbl.calls (NULL), ==, 0);

  dbl.set_devices (2);
  get_cuda (1);
  after = mtl_device_list ();
  g_assert_cmpuint (g_list_length (after), ==, 3);
  g_assert_true (g_list_nth_data (after, 1) == get_cuda (0));
  g_assert_true (g_list_nth_data (after, 2) == get_cuda (1));
  g_assert_cmpuint (dbl.calls ("cuInit"), ==, 1);
  /* Each has hundreds of megabytes of the device's memory. */
  g_assert_cmpuint (dbl.calls ("cuDevicePrimaryCtxRetain"), ==, 0);
  g_assert_true (mtl_device_get_default () == mtl_device_get_host ());
}

static void
test_description (void)
{
  run_alone ();
  dbl.set_devices (2);
  dbl.set_attribute (1, "memory", 5000);
  dbl.set_attribute (1, "integrated", 1);

  for (int i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("CUDA double %d", i);
      g_autofree char *uuid = g_strdup_printf ("GPU-c0c1c2c3-c4c5-c6c7-c8c9-cacbcccdce0%d", i);
      MtlDevice *device = get_cuda (i);

      g_assert_cmpint (mtl_device_get_device_type (device), ==, MTL_DEVICE_TYPE_CUDA);
      g_assert_cmpint (mtl_device_get_ordinal (device), ==, i);
      g_assert_cmpstr (mtl_device_get_name (device), ==, name);
      g_assert_cmpstr (mtl_device_get_uuid (device), ==, uuid);
      g_assert_cmpuint (mtl_device_get_memory_size (device), ==, i == 0 ? MEMORY : 5000);
      g_assert_cmpint (mtl_device_has_unified_memory (device), ==, i == 1);
      g_assert_false (mtl_device_is_host_accessible (device));
      g_assert_cmpuint (mtl_device_get_max_buffer_size (device), ==, G_MAXSSIZE);
      g_assert_true (device == get_cuda (i));
    }
}

static const MtlStorageMode all_modes[] = {
  MTL_STORAGE_MODE_DEFAULT, MTL_STORAGE_MODE_HOST,    MTL_STORAGE_MODE_SHARED,
  MTL_STORAGE_MODE_MANAGED, MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_FOREIGN,
};

static void
check_modes (MtlDeviceType         type,
             const MtlStorageMode *supported,
             gsize                 n_supported)
{
  MtlDevice *device = mtl_device_get (type, 0, NULL);
  g_autoptr (MtlBuffer) buffer = NULL;

  g_assert_nonnull (device);
  for (gsize i = 0; i < G_N_ELEMENTS (all_modes); i++)
    {
      gboolean is_expected = all_modes[i] == MTL_STORAGE_MODE_DEFAULT;

      for (gsize j = 0; j < n_supported; j++)
        is_expected = is_expected || all_modes[i] == supported[j];
      g_assert_cmpint (mtl_device_supports_storage_mode (device, all_modes[i]), ==, is_expected);
      if (!is_expected)
        assert_fails (mtl_buffer_new (device, 8, all_modes[i], &error), MTL_ERROR_NOT_SUPPORTED,
                      mtl_device_get_name (device));
    }

  buffer = new_buffer (device, 8, MTL_STORAGE_MODE_DEFAULT);
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, supported[0]);
}

#define MODES(...) \
  ((const MtlStorageMode[]) { __VA_ARGS__ }), \
    G_N_ELEMENTS (((const MtlStorageMode[]) { __VA_ARGS__ }))

static void
test_storage_modes (void)
{
  run_alone ();
  check_modes (MTL_DEVICE_TYPE_CUDA, MODES (MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED,
                                            MTL_STORAGE_MODE_MANAGED));
  check_modes (MTL_DEVICE_TYPE_CUDA_HOST, MODES (MTL_STORAGE_MODE_SHARED));
  check_modes (MTL_DEVICE_TYPE_CUDA_MANAGED, MODES (MTL_STORAGE_MODE_MANAGED));

  for (int i = 0; i < 2; i++)
    {
      MtlDevice *device = mtl_device_get (i == 0 ? MTL_DEVICE_TYPE_CUDA_HOST
                                                 : MTL_DEVICE_TYPE_CUDA_MANAGED, 0, NULL);

      g_assert_true (mtl_device_is_host_accessible (device));
      g_assert_null (mtl_device_get_uuid (device));
      g_assert_cmpuint (mtl_device_get_memory_size (device), ==, 0);
      assert_fails (mtl_device_get (mtl_device_get_device_type (device), 1, &error),
                    MTL_ERROR_NOT_SUPPORTED, i == 0 ? "(3, 1)" : "(13, 1)");
    }
}

/* The host would fault on managed memory while there is queued work. */
static void
test_without_concurrent_access (gconstpointer attribute)
{
  run_alone ();
  g_assert_true (dbl.set_attribute (-1, attribute, 0));
  check_modes (MTL_DEVICE_TYPE_CUDA, MODES (MTL_STORAGE_MODE_PRIVATE, MTL_STORAGE_MODE_SHARED));
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA_MANAGED, 0, &error), MTL_ERROR_NOT_SUPPORTED,
                "(13, 0)");
}

/* The double takes managed memory from the host while there is work. */
static void
test_imported_without_concurrent_access (void)
{
  static const guint8 bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) copy = NULL;
  g_autoptr (MtlStridedView) working = NULL;
  g_autoptr (GBytes) read = NULL;
  DLManagedTensorVersioned *exported;
  gpointer memory;
  PeerTensor tensor;

  run_alone ();
  g_assert_true (dbl.set_attribute (-1, "concurrent-managed", 0));
  MUST (cu.cuInit (0));
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  memory = peer_managed (sizeof bytes);
  memcpy (memory, bytes, sizeof bytes);
  peer_tensor_init (&tensor, memory, sizeof bytes, MTL_DEVICE_TYPE_CUDA_MANAGED, 0);
  view = import (&tensor);
  g_assert_false (mtl_strided_view_is_host_accessible (view));
  g_assert_null (mtl_strided_view_get_data (view));
  exported = mtl_strided_view_to_dlpack (view, MTL_DLPACK_FLAGS_NEVER_COPY, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (exported->dl_tensor.data == memory);
  exported->deleter (exported);

  working = mtl_strided_view_new_zeros (get_cuda (0), MTL_DTYPE_UINT8, DIMS (8),
                                        MTL_STORAGE_MODE_DEFAULT, &error);
  g_assert_no_error (error);
  read = mtl_strided_view_dup_bytes (view, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (read, NULL), g_bytes_get_size (read), bytes, sizeof bytes);
  copy = mtl_strided_view_copy (view, MTL_ORDER_C, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mtl_strided_view_get_double (copy, (gint64[]) { 5 }, 1, &error), ==, 6);
  g_assert_true (mtl_strided_view_fill_double (view, 9, NULL, &error));
  g_assert_true (mtl_strided_view_copy_from (working, view, NULL, &error));
  g_assert_no_error (error);
  g_clear_object (&view);
  await_count (&tensor.n_deleted, 1);
  peer_free (memory);
}

static void
test_default (void)
{
  g_autoptr (MtlBuffer) buffer = NULL;

  run_alone ();
  dbl.set_devices (2);
  g_setenv ("MTL_DEVICE", "cuda:1", TRUE);
  g_assert_true (mtl_device_get_default () == get_cuda (1));
  buffer = new_buffer (NULL, 8, MTL_STORAGE_MODE_DEFAULT);
  g_assert_true (mtl_buffer_get_device (buffer) == get_cuda (1));
  g_assert_cmpint (mtl_buffer_get_storage_mode (buffer), ==, MTL_STORAGE_MODE_PRIVATE);
}

typedef struct
{
  const char *path;
  const char *name;
  MtlDeviceType type;
} Default;

static const Default defaults[] = {
  { "/CudaDevices/default/without-number", "cuda", MTL_DEVICE_TYPE_CUDA },
  { "/CudaDevices/default/pinned", "cuda-host:0", MTL_DEVICE_TYPE_CUDA_HOST },
  { "/CudaDevices/default/cpu", "cpu", MTL_DEVICE_TYPE_CPU },
  { "/CudaDevices/default/host", "host:0", MTL_DEVICE_TYPE_CPU },
};

static void
test_default_by_name (gconstpointer data)
{
  const Default *named = data;

  run_alone ();
  g_setenv ("MTL_DEVICE", named->name, TRUE);
  g_assert_true (mtl_device_get_default () == mtl_device_get (named->type, 0, NULL));
  g_assert_true (mtl_device_get_default () == mtl_device_get_by_name (named->name, NULL));
}

static void
test_default_is_listed (void)
{
  g_autoptr (GList) devices = NULL;

  run_alone ();
  g_setenv ("MTL_DEVICE", "cuda:0", TRUE);
  devices = mtl_device_list ();
  g_assert_nonnull (g_list_find (devices, mtl_device_get_default ()));
  g_assert_true (mtl_device_get_default () == get_cuda (0));
}

static void
test_missing_default (gconstpointer name)
{
  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stderr ("*WARNING*MTL_DEVICE*");
      return;
    }

  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  g_setenv ("MTL_DEVICE", name, TRUE);
  g_assert_true (mtl_device_get_default () == mtl_device_get_host ());
}

static gpointer
get_first (gpointer data)
{
  return get_cuda (0);
}

/* All threads that ask first get the same device, whose context is created once. */
static gpointer
use_first (gpointer data)
{
  synchronize (get_first (NULL));
  return get_first (NULL);
}

static void
test_first_use_by_threads (void)
{
  GThread *threads[8];

  run_alone ();
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("first", use_first, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (g_thread_join (threads[i]) == get_cuda (0));
  if (!over_double)
    return;

  g_assert_cmpuint (dbl.calls ("cuInit"), ==, 1);
  g_assert_cmpuint (dbl.calls ("cuDevicePrimaryCtxRetain"), ==, 1);
  g_assert_cmpuint (dbl.live ("stream"), ==, 2);
  g_assert_cmpuint (dbl.live ("pool"), ==, 1);
}

/* A device that could not be used at first can be later. */
static void
test_first_use_fails (void)
{
  static const char *const functions[] = {
    "cuThreadExchangeStreamCaptureMode", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2",
    "cuStreamCreate", "cuMemPoolCreate", "cuMemPoolSetAttribute",
  };

  run_alone ();
  for (gsize i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      MtlDevice *device = get_cuda (0);

      dbl.fail_function (functions[i], 1, CU_UNKNOWN);
      assert_refuses (mtl_device_synchronize (device, NULL, &error), MTL_ERROR_DEVICE,
                      "“CUDA double 0” & CUDA_ERROR_UNKNOWN & 999");
      g_assert_cmpuint (dbl.context_depth (), ==, 0);
      g_assert_cmpuint (dbl.capture_mode (), ==, CU_CAPTURE_MODE_GLOBAL);
    }
  synchronize (get_cuda (0));
  g_assert_cmpuint (dbl.calls ("cuDevicePrimaryCtxRetain"), ==, 2);
  g_assert_cmpuint (dbl.live ("stream"), ==, 2);
  g_assert_cmpuint (dbl.live ("pool"), ==, 1);
}

/* Forks */

typedef struct
{
  MtlBuffer *private;
  MtlBuffer *shared;
  MtlBuffer *managed;
  MtlStream *stream;
  MtlEvent *event;
  MtlStridedView *view;
  gpointer address;
} World;

static void
world_init (World *self)
{
  g_autoptr (GError) error = NULL;

  *self = (World) {
    .private = new_buffer (get_cuda (0), 64, MTL_STORAGE_MODE_PRIVATE),
    .shared = new_buffer (get_cuda (0), 64, MTL_STORAGE_MODE_SHARED),
    .managed = new_buffer (get_cuda (0), 64, MTL_STORAGE_MODE_MANAGED),
    .stream = mtl_stream_new (get_cuda (0), &error),
    .event = mtl_event_new (get_cuda (0), &error),
    .view = zeros_on (get_cuda (0), MTL_DTYPE_INT32, DIMS (6)),
  };
  g_assert_no_error (error);
  self->address = mtl_buffer_get_handle (self->private);
}

static void
world_clear (World *self)
{
  g_assert_finalize_object (self->private);
  g_assert_finalize_object (self->shared);
  g_assert_finalize_object (self->managed);
  g_assert_finalize_object (self->stream);
  g_assert_finalize_object (self->event);
  g_assert_finalize_object (self->view);
}

static void
assert_import_is_refused (gpointer address,
                          int      device_type)
{
  PeerTensor tensor;

  peer_tensor_init (&tensor, address, 4, device_type, 0);
  assert_fails (mtl_strided_view_new_take_dlpack (&tensor.managed, &error), MTL_ERROR_NOT_SUPPORTED,
                "");
  g_assert_cmpint (tensor.n_deleted, ==, 1);
}

static void
assert_is_refused_in_child (gpointer data)
{
  World *self = data;
  MtlDevice *device = mtl_buffer_get_device (self->private);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GList) devices = mtl_device_list ();

  g_assert_cmpuint (g_list_length (devices), ==, 1);
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_CUDA, 0, &error), MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_buffer_new (device, 8, MTL_STORAGE_MODE_PRIVATE, &error),
                MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_buffer_new (device, 8, MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_buffer_new (device, 8, MTL_STORAGE_MODE_MANAGED, &error),
                MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_buffer_new_for_handle (self->address, 8, device, NULL, NULL, &error),
                MTL_ERROR_NOT_SUPPORTED, "");
  assert_refuses (mtl_buffer_set_bytes (self->private, 0, bytes, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_buffer_dup_bytes (self->private, 0, 4, NULL, &error), MTL_ERROR_NOT_SUPPORTED,
                "");
  assert_refuses (mtl_buffer_fill (self->private, 0, 4, bytes, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "");
  assert_refuses (mtl_strided_view_fill_double (self->view, 1, NULL, &error),
                  MTL_ERROR_NOT_SUPPORTED, "");
  assert_refuses (mtl_device_synchronize (device, NULL, &error), MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_stream_new (device, &error), MTL_ERROR_NOT_SUPPORTED, "");
  assert_refuses (mtl_stream_synchronize (self->stream, NULL, &error), MTL_ERROR_NOT_SUPPORTED, "");
  assert_refuses (mtl_stream_wait_event (self->stream, self->event, 1, &error),
                  MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_event_new (device, &error), MTL_ERROR_NOT_SUPPORTED, "");
  assert_fails (mtl_strided_view_to_dlpack (self->view, MTL_DLPACK_FLAGS_NONE, NULL, &error),
                MTL_ERROR_NOT_SUPPORTED, "");
  assert_import_is_refused (self->address, 2);
  assert_import_is_refused (mtl_buffer_get_handle (self->shared), 3);
  assert_import_is_refused (mtl_buffer_get_handle (self->managed), 13);
  g_clear_object (&(MtlBuffer *) { new_buffer (mtl_device_get_host (), 8,
                                               MTL_STORAGE_MODE_DEFAULT) });

  /* The double ends a child that frees something. */
  world_clear (self);
}

static void
test_fork_after (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GError) error = NULL;
  World world;

  run_alone ();
  world_init (&world);
  g_assert_true (mtl_buffer_set_bytes (world.private, 0, bytes, NULL, &error));
  g_assert_no_error (error);

  run_in_child (assert_is_refused_in_child, &world);

  assert_buffer_bytes (world.private, 0, "abcd", 4);
  assert_buffer_bytes (world.shared, 0, "\0\0\0\0", 4);
  world_clear (&world);
  world_init (&world);
  world_clear (&world);
}

/* The child may be forked in the middle of all. */
static void
test_fork_with_queued_work (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GError) error = NULL;
  World world;

  run_alone ();
  world_init (&world);
  dbl.pause ();
  g_assert_true (mtl_buffer_fill (world.private, 0, 64, bytes, NULL, &error));
  g_assert_no_error (error);
  run_in_child (assert_is_refused_in_child, &world);
  dbl.resume ();
  assert_buffer_bytes (world.private, 60, "abcd", 4);
  world_clear (&world);
}

static void
use_in_child (gpointer data)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GError) error = NULL;
  World world;

  world_init (&world);
  g_assert_true (mtl_buffer_set_bytes (world.private, 0, bytes, NULL, &error));
  g_assert_no_error (error);
  assert_buffer_bytes (world.private, 0, "abcd", 4);
  world_clear (&world);
}

/* Before anybody asks for CUDA, forks are harmless: for the child, and for the parent. */
static void
test_fork_before (void)
{
  run_alone ();
  g_list_free (mtl_device_list ());
  g_clear_object (&(MtlBuffer *) { new_buffer (NULL, 8, MTL_STORAGE_MODE_DEFAULT) });

  run_in_child (use_in_child, NULL);
  use_in_child (NULL);
}

/* Ends of the process */

static void
test_exit_with_views (void)
{
  static World world;

  run_alone ();
  world_init (&world);
}

static World held;

static void
clear_at_exit (void)
{
  world_clear (&held);
}

/* Handlers and destructors run after the driver has shut down. */
static void
test_exit_then_free (void)
{
  run_alone ();
  g_assert_cmpint (atexit (clear_at_exit), ==, 0);
  world_init (&held);
}

static void
test_exit_with_queued_work (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcd", 4);
  g_autoptr (GError) error = NULL;
  CuStream stream;
  MtlStream *pushed;
  static World world;

  run_alone ();
  world_init (&world);
  MUST (cu.cuDevicePrimaryCtxRetain (&contexts[0], 0));
  stream = peer_stream (0);
  dbl.pause ();
  g_assert_true (mtl_buffer_fill (world.private, 0, 64, bytes, NULL, &error));
  pushed = push_stream (stream, 0);
  g_assert_true (mtl_strided_view_fill_double (world.view, 2, NULL, &error));
  g_assert_no_error (error);
  pop_stream (pushed);
  g_clear_object (&world.shared);
  g_clear_object (&world.private);
}

/* The machine's devices have to be those of the double. */
static void
add_alone (const char *path,
           GTestFunc   func)
{
  g_test_add_func (path, over_double ? func : skip_without_double);
}

static void
add_alone_with (const char   *path,
                gconstpointer data,
                GTestDataFunc func)
{
  if (over_double)
    g_test_add_data_func (path, data, func);
  else
    g_test_add_func (path, skip_without_double);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  open_driver ();

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++)
    add_alone_with (machines[i].path, &machines[i], test_without);
  add_alone ("/CudaDevices/complete-library", test_complete);
  add_alone ("/CudaDevices/without/stream-values", test_without_stream_values);
  add_alone ("/CudaDevices/no-devices", test_no_devices);
  add_alone ("/CudaDevices/gaps", test_gaps);
  add_alone ("/CudaDevices/list-does-not-initialize", test_list_does_not_initialize);
  add_alone ("/CudaDevices/description", test_description);
  g_test_add_func ("/CudaDevices/storage-modes/all", test_storage_modes);
  add_alone_with ("/CudaDevices/storage-modes/without-managed", "managed",
                  test_without_concurrent_access);
  add_alone_with ("/CudaDevices/storage-modes/without-concurrent-access", "concurrent-managed",
                  test_without_concurrent_access);
  add_alone ("/CudaDevices/storage-modes/imported-without-concurrent-access",
             test_imported_without_concurrent_access);
  add_alone ("/CudaDevices/default/with-number", test_default);
  for (gsize i = 0; i < G_N_ELEMENTS (defaults); i++)
    g_test_add_data_func (defaults[i].path, &defaults[i], test_default_by_name);
  g_test_add_func ("/CudaDevices/default/is-listed", test_default_is_listed);
  add_alone_with ("/CudaDevices/default/missing", "cuda:7", test_missing_default);
  add_alone_with ("/CudaDevices/default/no-number", "cuda:x", test_missing_default);
  add_alone_with ("/CudaDevices/default/negative", "cuda:-1", test_missing_default);
  g_test_add_func ("/CudaDevices/first-use/by-threads", test_first_use_by_threads);
  add_alone ("/CudaDevices/first-use/fails", test_first_use_fails);
  g_test_add_func ("/CudaDevices/fork/after", test_fork_after);
  add_alone ("/CudaDevices/fork/with-queued-work", test_fork_with_queued_work);
  g_test_add_func ("/CudaDevices/fork/before", test_fork_before);
  g_test_add_func ("/CudaDevices/exit/with-views", test_exit_with_views);
  g_test_add_func ("/CudaDevices/exit/then-free", test_exit_then_free);
  add_alone ("/CudaDevices/exit/with-queued-work", test_exit_with_queued_work);

  return g_test_run ();
}
