/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "metal-tests.h"

static void
test_list (void)
{
  g_autoptr (GList) devices = mtl_device_list ();
  int ordinal = 0;

  g_assert_cmpuint (g_list_length (devices), ==, 1 + count_metal ());
  g_assert_true (devices->data == mtl_device_get_host ());
  for (GList *l = devices->next; l != NULL; l = l->next, ordinal++)
    {
      g_assert_cmpint (mtl_device_get_device_type (l->data), ==, MTL_DEVICE_TYPE_METAL);
      g_assert_cmpint (mtl_device_get_ordinal (l->data), ==, ordinal);
      g_assert_true (!over_double || l->data == get_metal (ordinal));
    }
}

static void
test_description (void)
{
  static const char *const names[] = { "Test Unified", "Test Discrete", "Test Discrete",
                                       "Test Integrated" };

  for (int i = 0; i < N_METAL_DEVICES; i++)
    {
      MtlDevice *device = get_metal (i);

      g_assert_cmpstr (mtl_device_get_name (device), ==, names[i]);
      g_assert_cmpint (mtl_device_has_unified_memory (device), ==, i == UNIFIED || i == INTEGRATED);
      g_assert_cmpuint (mtl_device_get_max_buffer_size (device), ==, MAX_BUFFER_SIZE);
      g_assert_cmpuint (mtl_device_get_page_size (device), ==, metal_fixture_page_size ());
      g_assert_false (mtl_device_is_host_accessible (device));
    }
}

static void
test_properties (void)
{
  g_autofree char *name = NULL;
  gboolean unified_memory;

  g_object_get (get_metal (DISCRETE),
                "name", &name,
                "unified-memory", &unified_memory,
                NULL);

  g_assert_cmpstr (name, ==, "Test Discrete");
  g_assert_false (unified_memory);
}

static void
test_storage_modes (void)
{
  for (int i = 0; i < N_METAL_DEVICES; i++)
    {
      MtlDevice *device = get_metal (i);

      g_assert_false (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_HOST));
      g_assert_true (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_DEFAULT));
      g_assert_true (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_SHARED));
      g_assert_true (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_MANAGED));
      g_assert_true (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_PRIVATE));
      g_assert_false (mtl_device_supports_storage_mode (device, MTL_STORAGE_MODE_FOREIGN));
    }

  assert_fails (mtl_buffer_new (get_metal (UNIFIED), 8, MTL_STORAGE_MODE_HOST, &error),
                MTL_ERROR_NOT_SUPPORTED,
                over_double ? "“Test Unified” & “host”"
                            : "“host”");
}

static void
test_default (void)
{
  MtlDevice *device = mtl_device_get_default ();
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) host = NULL;
  g_autoptr (MtlBuffer) shared = NULL;
  g_autoptr (MtlStridedView) zeros = NULL;

  g_assert_cmpint (mtl_device_get_device_type (device), ==, MTL_DEVICE_TYPE_METAL);
  g_assert_true (!over_double || device == get_metal (UNIFIED));

  host = mtl_buffer_new (NULL, 4, MTL_STORAGE_MODE_HOST, &error);
  shared = mtl_buffer_new (NULL, 4, MTL_STORAGE_MODE_SHARED, &error);
  zeros = mtl_strided_view_new_zeros (NULL, MTL_DTYPE_INT16, DIMS (3), MTL_STORAGE_MODE_DEFAULT,
                                      &error);
  g_assert_no_error (error);
  g_assert_true (mtl_buffer_get_device (host) == mtl_device_get_host ());
  g_assert_true (mtl_buffer_get_device (shared) == device);
  g_assert_true (mtl_strided_view_get_device (zeros) == device);
  g_assert_true (mtl_strided_view_is_host_accessible (zeros));
}

static void
test_missing (void)
{
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_METAL, count_metal (), &error),
                MTL_ERROR_NOT_SUPPORTED, "(8,");
  assert_fails (mtl_device_get (MTL_DEVICE_TYPE_METAL, -1, &error),
                MTL_ERROR_NOT_SUPPORTED, "(8, -1)");
}

/* Metal may name its default device once only. */
static void
test_asked_once (void)
{
  unsigned n_lists, n_defaults;

  g_list_free (mtl_device_list ());
  n_lists = metal_double_calls ("MTLCopyAllDevices");
  n_defaults = metal_double_calls ("MTLCreateSystemDefaultDevice");
  g_assert_cmpuint (n_lists, ==, 1);
  g_assert_cmpuint (n_defaults, ==, 1);
}

static gpointer
get_default (gpointer data)
{
  return mtl_device_get_default ();
}

/* All threads that ask first get the same devices. */
static void
test_first_use_by_threads (void)
{
  GThread *threads[8];

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  set_up_metal ();
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("default", get_default, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (g_thread_join (threads[i]) == get_metal (UNIFIED));
  g_assert_cmpuint (metal_double_calls ("MTLCreateSystemDefaultDevice"), ==, 1);
}

/* Machines that the library finds otherwise, each in a process of its own. */
typedef struct
{
  const char *path;
  gsize n_devices;
  unsigned flags;
  gsize n_expected;
  int default_ordinal; /* one of Metal's, or -1 */
} Machine;

static const Machine machines[] = {
  { "/MetalDevices/machine/without", 0, 0, 0, -1 },
  { "/MetalDevices/machine/one", 1, 0, 1, 0 },
  { "/MetalDevices/machine/empty-list", 2, METAL_DOUBLE_NO_LIST, 1, 0 },
  { "/MetalDevices/machine/no-default", 2, METAL_DOUBLE_NO_DEFAULT, 2, 0 },
  { "/MetalDevices/machine/neither", 1, METAL_DOUBLE_NO_LIST | METAL_DOUBLE_NO_DEFAULT, 0, -1 },
  { "/MetalDevices/machine/default-once", 2, METAL_DOUBLE_NO_LIST | METAL_DOUBLE_DEFAULT_ONCE, 1,
    0 },
  { "/MetalDevices/machine/default-last", 2, METAL_DOUBLE_DEFAULT_LAST, 2, 1 },
};

/* They differ above bit 31 only. */
#define SAME_ID(i) (((guint64) (i) << 32) + 21)

static void
check_machine (const Machine *machine)
{
  const MetalDoubleDevice devices[] = {
    { "Same", SAME_ID (0), false },
    { "Same", SAME_ID (1), true },
  };
  g_autoptr (GList) list = NULL;
  g_autoptr (GList) again = NULL;

  metal_double_setup (devices, machine->n_devices, machine->flags);
  list = mtl_device_list ();
  g_assert_cmpuint (g_list_length (list), ==, 1 + machine->n_expected);
  g_assert_true (mtl_device_get_default ()
                 == g_list_nth_data (list, 1 + machine->default_ordinal));

  for (gsize i = 0; i < machine->n_expected; i++)
    {
      g_assert_cmpint (mtl_device_has_unified_memory (g_list_nth_data (list, i + 1)), ==,
                       devices[i].unified);
      /* The double, the device and the list hold a reference each. */
      assert_references (metal_fixture_device (i), 3);
    }

  again = mtl_device_list ();
  g_assert_cmpuint (g_list_length (again), ==, g_list_length (list));
  g_assert_true (g_list_nth_data (again, 1) == g_list_nth_data (list, 1));
  if (machine->n_expected == 0)
    assert_fails (mtl_device_get (MTL_DEVICE_TYPE_METAL, 0, &error),
                  MTL_ERROR_NOT_SUPPORTED, "(8, 0)");
}

static void
check_host_alone (void)
{
  g_autoptr (MtlBuffer) buffer = new_buffer (NULL, 8, MTL_STORAGE_MODE_HOST);

  g_assert_true (mtl_buffer_is_host_accessible (buffer));
  assert_fails (mtl_buffer_new (NULL, 8, MTL_STORAGE_MODE_SHARED, &error),
                MTL_ERROR_NOT_SUPPORTED, "“Host” & “shared”");
}

static void
test_machine (gconstpointer data)
{
  const Machine *machine = data;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  check_machine (machine);
  if (machine->n_expected == 0)
    check_host_alone ();
  g_assert_cmpuint (metal_double_violations (), ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (!g_test_subprocess ())
    set_up_metal ();

  add_metal_test ("/MetalDevices/list", test_list);
  add_double_test ("/MetalDevices/description", test_description);
  add_double_test ("/MetalDevices/properties", test_properties);
  add_metal_test ("/MetalDevices/storage-modes", test_storage_modes);
  add_metal_test ("/MetalDevices/default", test_default);
  add_metal_test ("/MetalDevices/missing", test_missing);
  add_double_test ("/MetalDevices/asked-once", test_asked_once);
  add_double_func ("/MetalDevices/first-use-by-threads", test_first_use_by_threads);
  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++)
    add_double_data_func (machines[i].path, &machines[i], test_machine);

  return g_test_run ();
}
