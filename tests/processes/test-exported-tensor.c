/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors over D-Bus: an exporter in another thread, over a bus and without one. */

#include "dbus-peers.h"
#include "test-device.h"

#define MAX_INLINE 65536
#define INTERFACE "org.mtldl.Tensor1"

static MtlStridedView *
draw_bytes (gint64 n)
{
  MtlStridedView *view = host_zeros (MTL_DTYPE_UINT8, &n, 1);

  fill_at_random (mtl_strided_view_get_data (view), n);
  return view;
}

/* --- Getting the view */

static void
test_layouts (Peers         *peers,
              gconstpointer  way)
{
  g_autoptr (MtlStridedView) first = new_bytes (1);
  MtlExportedTensor *tensor = export_view (peers, first, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  guint n_fds = 0;

  for (int i = 0; i < 500; i++)
    {
      gboolean is_shared = i % 2 == 0;
      g_autoptr (MtlStridedView) view =
        draw_view (is_shared ? MTL_STORAGE_MODE_INTERPROCESS : MTL_STORAGE_MODE_HOST);
      g_autoptr (MtlStridedView) fetched = NULL;

      mtl_exported_tensor_set_view (tensor, view);
      g_assert_true (mtl_exported_tensor_get_view (tensor) == view);
      fetched = fetch (proxy);
      assert_same_elements (view, fetched);
      if (is_shared && mtl_strided_view_get_volume (view) > 0)
        g_assert_cmpmem (mtl_strided_view_get_strides (view, NULL),
                         mtl_strided_view_get_n_dims (view) * sizeof (gint64),
                         mtl_strided_view_get_strides (fetched, NULL),
                         mtl_strided_view_get_n_dims (fetched) * sizeof (gint64));
      if (i == 0)
        n_fds = count_fds ();
    }

  g_assert_cmpuint (count_fds (), <=, n_fds);
  end_export (tensor);
}

static gboolean
is_mapped (MtlStridedView *view)
{
  return mtl_buffer_is_interprocess (mtl_strided_view_get_buffer (view));
}

static void
set_first (MtlStridedView *view,
           guint8          value)
{
  *(guint8 *) mtl_strided_view_get_data (view) = value;
}

static guint8
get_first (MtlStridedView *view)
{
  return *(const guint8 *) mtl_strided_view_get_data (view);
}

/* Few elements are in each message, more are copied once. */
static void
test_ordinary_memory (Peers         *peers,
                      gconstpointer  way)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) few = host_zeros (MTL_DTYPE_UINT8, DIMS (MAX_INLINE));
  g_autoptr (MtlStridedView) many = host_zeros (MTL_DTYPE_UINT8, DIMS (MAX_INLINE + 1));
  MtlExportedTensor *tensor = export_view (peers, few, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) old = NULL;
  guint n_mappings;

  for (guint8 i = 0; i < 3; i++)
    {
      g_autoptr (MtlStridedView) fetched = NULL;

      set_first (few, i);
      fetched = fetch (proxy);
      g_assert_false (is_mapped (fetched));
      assert_same_elements (few, fetched);
    }

  set_first (many, 5);
  mtl_exported_tensor_set_view (tensor, many);
  n_mappings = count_mappings ();
  for (guint8 i = 0; i < 3; i++)
    {
      g_autoptr (MtlStridedView) fetched = fetch (proxy);

      g_assert_true (is_mapped (fetched));
      g_assert_cmpuint (count_mappings (), ==, n_mappings + 2);
      g_assert_cmpuint (get_first (fetched), ==, 5); /* the copy is kept */
      set_first (many, 6 + i);
    }

  old = fetch (proxy);
  mtl_exported_tensor_announce_change (tensor, "0", &error);
  g_assert_no_error (error);
  g_autoptr (MtlStridedView) fetched = fetch (proxy);
  assert_same_elements (many, fetched);
  g_assert_cmpuint (get_first (old), ==, 5);
  end_export (tensor);
}

/* Memory for other processes is never copied, and shows later writes. */
static void
test_shared_memory (Peers         *peers,
                    gconstpointer  way)
{
  g_autoptr (MtlStridedView) whole = zeros_for_others (MTL_DTYPE_UINT8, DIMS (1000, 1000));
  g_autoptr (MtlStridedView) view = slice (whole, "::-1, 5:900:5");
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) fetched = fetch (proxy);

  g_assert_true (is_mapped (fetched));
  for (guint8 i = 1; i < 4; i++)
    {
      set_first (view, i);
      assert_same_elements (view, fetched);
      g_assert_cmpuint (get_first (fetched), ==, i);
    }

  /* It outlives the exporter's use of it. */
  end_export (tensor);
  g_clear_object (&view);
  g_clear_object (&whole);
  g_assert_cmpuint (get_first (fetched), ==, 3);
}

/* A copy has one element for all that are repeated. */
static void
test_repeated (Peers         *peers,
               gconstpointer  way)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) row = host_zeros (MTL_DTYPE_UINT8, DIMS (100000));
  g_autoptr (MtlStridedView) wide =
    mtl_strided_view_broadcast_to (row, DIMS (1000000, 100000), &error);
  MtlExportedTensor *tensor = export_view (peers, wide, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) fetched = fetch (proxy);

  assert_view_shape (fetched, 1000000, 100000);
  assert_view_strides (fetched, 0, 1);
  end_export (tensor);
}

/* --- Offering a view */

typedef struct
{
  gboolean takes;
  int n_calls;
  MtlStridedView *taken;
  GVariant *extras;
} Taker;

static gboolean
on_put (MtlExportedTensor *tensor,
        MtlStridedView    *view,
        GVariant          *extras,
        gpointer           data)
{
  Taker *self = data;

  self->n_calls++;
  g_assert_true (mtl_strided_view_is_read_only (view));
  g_assert_true (g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT));
  if (!self->takes)
    return FALSE;

  g_set_object (&self->taken, view);
  g_clear_pointer (&self->extras, g_variant_unref);
  self->extras = g_variant_ref (extras);
  return TRUE;
}

static GVariant *
make_extras (const char *name)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", name);
  return g_variant_dict_end (&dict);
}

static void
test_put (Peers         *peers,
          gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) none = new_bytes (1);
  MtlExportedTensor *tensor = export_view (peers, none, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) first = draw_view (MTL_STORAGE_MODE_HOST);
  Taker taker = { FALSE };

  /* Nobody takes it. */
  g_assert_false (mtl_tensor_proxy_put (proxy, first, NULL, NULL, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, OBJECT_PATH);
  g_signal_connect (tensor, "put", G_CALLBACK (on_put), &taker);
  g_assert_false (mtl_tensor_proxy_put (proxy, first, NULL, NULL, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, OBJECT_PATH);
  g_assert_cmpint (taker.n_calls, ==, 1);

  taker.takes = TRUE;
  for (int i = 0; i < 200; i++)
    {
      g_autoptr (MtlStridedView) view =
        draw_view (i % 2 == 0 ? MTL_STORAGE_MODE_INTERPROCESS : MTL_STORAGE_MODE_HOST);
      g_autofree char *name = g_strdup_printf ("view %d", i);
      const char *received_name;

      g_assert_true (mtl_tensor_proxy_put (proxy, view, make_extras (name), NULL, &error));
      g_assert_no_error (error);
      assert_same_elements (view, taker.taken);
      g_assert_true (g_variant_lookup (taker.extras, "name", "&s", &received_name));
      g_assert_cmpstr (received_name, ==, name);
      g_assert_cmpuint (g_variant_n_children (taker.extras), ==, 1);
    }

  g_autoptr (MtlStridedView) many = draw_bytes (3 * MAX_INLINE);
  g_assert_true (mtl_tensor_proxy_put (proxy, many, NULL, NULL, &error));
  g_assert_no_error (error);
  assert_same_elements (many, taker.taken);
  g_assert_true (is_mapped (taker.taken));
  g_assert_cmpuint (g_variant_n_children (taker.extras), ==, 0);

  g_clear_object (&taker.taken);
  g_clear_pointer (&taker.extras, g_variant_unref);
  end_export (tensor);
}

/* --- Writing elements */

typedef struct
{
  int n_changes;
  guint64 serial;
  char *region;
} Changes;

static void
on_changed (MtlTensorProxy *proxy,
            guint64         serial,
            const char     *region,
            Changes        *self)
{
  g_assert_cmpuint (serial, >, self->serial);
  self->n_changes++;
  self->serial = serial;
  g_free (self->region);
  self->region = g_strdup (region);
}

static void
await_changes (Changes *self,
               int      n)
{
  while (self->n_changes < n)
    g_main_context_iteration (NULL, TRUE);
  iterate_all ();
  g_assert_cmpint (self->n_changes, ==, n);
}

typedef struct
{
  char *region;
  int n_calls;
} Written;

static void
on_written (MtlExportedTensor *tensor,
            const char        *region,
            Written           *self)
{
  g_free (self->region);
  self->region = g_strdup (region);
  g_atomic_int_inc (&self->n_calls);
}

typedef struct
{
  const char *region;
  gsize n_dims; /* the source's */
  gint64 shape[3];
} Region;

/* The expected result is that of the same copy in this process. */
static void
test_copy (Peers         *peers,
           gconstpointer  way)
{
  static const Region regions[] = {
    { NULL, 2, { 60, 80 } },
    { "", 1, { 80 } },
    { "...", 1, { 1 } },
    { "::-1", 2, { 60, 80 } },
    { "2:50:7, ::-3", 2, { 7, 27 } },
    { "-1", 1, { 80 } },
    { "..., 5", 1, { 60 } },
    { "59:2:-4, 1:3", 2, { 15, 1 } },
    { "10:20, newaxis, 3:6", 3, { 10, 1, 3 } },
    { "7, 7", 0, { 0 } },
    { "5:5", 2, { 1, 80 } },
  };
  static const MtlDType dtypes[] = { MTL_DTYPE_FLOAT32, MTL_DTYPE_INT16, MTL_DTYPE_FLOAT64 };
  const MtlStorageMode modes[] = { MTL_STORAGE_MODE_INTERPROCESS, MTL_STORAGE_MODE_HOST };
  Changes changes = { 0 };
  Written written = { .n_calls = 0 };

  /* The second exported view has so many elements that they are copied in another thread. */
  for (gsize i = 0; i < 2 * G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 repeats = i < 2 ? 1 : 300;
      g_autoptr (MtlStridedView) view =
        mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, DIMS (repeats, 60, 80), modes[i % 2],
                                    &error);
      g_autoptr (MtlStridedView) same = NULL;
      MtlExportedTensor *tensor;
      g_autoptr (MtlTensorProxy) proxy = NULL;

      g_assert_no_error (error);
      same = host_zeros (MTL_DTYPE_FLOAT32, DIMS (repeats, 60, 80));
      tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
      g_signal_connect (tensor, "written", G_CALLBACK (on_written), &written);
      mtl_exported_tensor_set_writable (tensor, TRUE);
      g_assert_true (mtl_exported_tensor_get_writable (tensor));
      proxy = make_proxy (peers);
      changes.serial = changes.n_changes = written.n_calls = 0;
      g_signal_connect (proxy, "changed", G_CALLBACK (on_changed), &changes);

      for (gsize k = 0; k < G_N_ELEMENTS (regions); k++)
        {
          const Region *region = &regions[k];
          g_autofree char *text =
            region->region != NULL ? g_strconcat (":, ", region->region, NULL) : NULL;
          g_autoptr (MtlStridedView) source =
            mtl_strided_view_new_zeros (NULL, dtypes[k % 3], region->shape, region->n_dims,
                                        modes[k % 2], &error);
          g_autoptr (MtlStridedView) target = NULL;
          g_autoptr (MtlStridedView) fetched = NULL;
          gint64 n = mtl_strided_view_get_volume (source);

          for (gint64 e = 0; e < n; e++)
            {
              g_autoptr (MtlStridedView) flat = mtl_strided_view_reshape (source, DIMS (n), &error);

              mtl_strided_view_set_double (flat, &e, 1, 1 + (e * 31 + k) % 1000, &error);
              g_assert_no_error (error);
            }
          target = slice (same, text != NULL ? text : "");
          mtl_strided_view_copy_from (target, source, NULL, &error);
          g_assert_no_error (error);
          g_assert_true (mtl_tensor_proxy_copy_from (proxy, source, text, NULL, &error));
          g_assert_no_error (error);

          await_changes (&changes, k + 1);
          g_assert_cmpstr (changes.region, ==, text != NULL ? text : "");
          assert_same_elements (view, same);
          fetched = fetch (proxy);
          assert_same_elements (fetched, same);
          while (g_atomic_int_get (&written.n_calls) < (int) k + 1)
            g_usleep (100);
          g_assert_cmpstr (written.region, ==, changes.region);
        }
      end_export (tensor);
    }

  g_free (changes.region);
  g_free (written.region);
}

static void
assert_not_copied (MtlTensorProxy *proxy,
                   MtlStridedView *source,
                   const char     *region,
                   MtlError        code,
                   const char     *values)
{
  GError *error = NULL;

  g_assert_false (mtl_tensor_proxy_copy_from (proxy, source, region, NULL, &error));
  assert_failed (error, code, values);
}

static void
test_refused_copies (Peers         *peers,
                     gconstpointer  way)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_INT32, DIMS (4, 6));
  g_autoptr (MtlStridedView) zeros = host_zeros (MTL_DTYPE_INT32, DIMS (4, 6));
  g_autoptr (MtlStridedView) constant = mtl_strided_view_as_read_only (view);
  g_autoptr (MtlStridedView) source = new_bytes (6);
  g_autoptr (MtlStridedView) five = new_bytes (5);
  g_autofree char *long_region = g_strnfill (9000, ' ');
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);

  assert_not_copied (proxy, source, NULL, MTL_ERROR_READ_ONLY, OBJECT_PATH);
  mtl_exported_tensor_set_writable (tensor, TRUE);
  assert_not_copied (proxy, source, "4", MTL_ERROR_OUT_OF_BOUNDS, "4");
  assert_not_copied (proxy, source, ":, :, 0", MTL_ERROR_OUT_OF_BOUNDS, "2");
  assert_not_copied (proxy, source, "one", MTL_ERROR_INVALID_ARGUMENT, "one");
  assert_not_copied (proxy, source, "\xff", MTL_ERROR_INVALID_ARGUMENT, "");
  assert_not_copied (proxy, source, "::0", MTL_ERROR_INVALID_ARGUMENT, "0");
  assert_not_copied (proxy, source, long_region, MTL_ERROR_INVALID_ARGUMENT, "9000 & 8192");
  assert_not_copied (proxy, five, NULL, MTL_ERROR_INVALID_ARGUMENT, "5 & 6");
  mtl_exported_tensor_set_view (tensor, constant);
  assert_not_copied (proxy, source, NULL, MTL_ERROR_READ_ONLY, "");
  mtl_exported_tensor_set_view (tensor, view);
  mtl_exported_tensor_set_writable (tensor, FALSE);
  assert_not_copied (proxy, source, NULL, MTL_ERROR_READ_ONLY, OBJECT_PATH);
  assert_same_elements (view, zeros);
  end_export (tensor);
}

/* --- Changes and properties */

static void
test_changes (Peers         *peers,
              gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_INT32, DIMS (4, 6));
  g_autoptr (MtlStridedView) other = host_zeros (MTL_DTYPE_INT32, DIMS (3));
  g_autofree char *long_region = g_strnfill (9000, ' ');
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  /* Afterwards, the bus knows of the subscription. */
  g_autoptr (MtlStridedView) fetched G_GNUC_UNUSED = fetch (proxy);
  Changes changes = { 0 };

  g_signal_connect (proxy, "changed", G_CALLBACK (on_changed), &changes);
  g_assert_true (mtl_exported_tensor_announce_change (tensor, NULL, &error));
  await_changes (&changes, 1);
  g_assert_cmpstr (changes.region, ==, "");
  g_assert_true (mtl_exported_tensor_announce_change (tensor, "1:3, ::-1", &error));
  await_changes (&changes, 2);
  g_assert_cmpstr (changes.region, ==, "1:3, ::-1");
  g_assert_no_error (error);

  g_assert_false (mtl_exported_tensor_announce_change (tensor, "4", &error));
  assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, "4");
  g_assert_false (mtl_exported_tensor_announce_change (tensor, "\xff", &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "");
  g_assert_false (mtl_exported_tensor_announce_change (tensor, long_region, &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "9000 & 8192");

  mtl_exported_tensor_set_view (tensor, other);
  await_changes (&changes, 3);
  g_assert_cmpstr (changes.region, ==, "");
  mtl_exported_tensor_set_view (tensor, other); /* the same */
  g_assert_true (mtl_exported_tensor_announce_change (tensor, "2", &error));
  await_changes (&changes, 4);
  g_assert_cmpstr (changes.region, ==, "2");

  for (int i = 0; i < 1000; i++)
    g_assert_true (mtl_exported_tensor_announce_change (tensor, "1", &error));
  await_changes (&changes, 1004);
  g_free (changes.region);
  end_export (tensor);
}

/* GLib's own proxy shows what programs without this library see. */
static GVariant *
get_cached (GDBusProxy *proxy,
            const char *name)
{
  GVariant *value = g_dbus_proxy_get_cached_property (proxy, name);

  g_assert_nonnull (value);
  return value;
}

static void
assert_remote (GDBusProxy *proxy,
               const char *name,
               const char *expected)
{
  g_autoptr (GVariant) value = get_cached (proxy, name);
  g_autofree char *text = g_variant_print (value, FALSE);

  g_assert_cmpstr (text, ==, expected);
}

static void
on_properties_changed (GDBusProxy *proxy,
                       GVariant   *changed,
                       GStrv       invalidated,
                       int        *n_signals)
{
  ++*n_signals;
}

static void
test_properties (Peers         *peers,
                 gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_BFLOAT16, DIMS (4, 6));
  g_autoptr (MtlStridedView) flipped = slice (view, "::-1, ::2");
  g_autoptr (MtlStridedView) scalar = host_zeros (MTL_DTYPE_INT4, NO_DIMS);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (GDBusProxy) plain = g_dbus_proxy_new_sync (
      peers->caller, G_DBUS_PROXY_FLAGS_NONE, NULL, get_bus_name (peers), OBJECT_PATH, INTERFACE,
      NULL, &error);
  g_autoptr (GVariant) one = NULL;
  MtlStridedLayout *layout;
  gboolean read_only;
  MtlDType dtype;
  int n_signals = 0;

  g_assert_no_error (error);
  g_signal_connect (plain, "g-properties-changed", G_CALLBACK (on_properties_changed), &n_signals);
  assert_remote (plain, "Shape", "[4, 6]");
  assert_remote (plain, "Strides", "[6, 1]");
  assert_remote (plain, "Dtype", "'bfloat16'");
  assert_remote (plain, "ReadOnly", "true");
  layout = mtl_tensor_proxy_fetch_layout (proxy, &dtype, &read_only, NULL, &error);
  g_assert_no_error (error);
  assert_shape (layout, 4, 6);
  assert_strides (layout, 6, 1);
  g_assert_cmpint (dtype, ==, MTL_DTYPE_BFLOAT16);
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (layout), ==, 16);
  g_assert_true (read_only);
  g_object_unref (layout);

  mtl_exported_tensor_set_writable (tensor, TRUE);
  mtl_exported_tensor_set_writable (tensor, TRUE);
  mtl_exported_tensor_set_view (tensor, flipped);
  while (n_signals < 2)
    g_main_context_iteration (NULL, TRUE);
  assert_remote (plain, "Shape", "[4, 3]");
  assert_remote (plain, "Strides", "[-6, 2]");
  assert_remote (plain, "ReadOnly", "false");
  layout = mtl_tensor_proxy_fetch_layout (proxy, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_strides (layout, -6, 2);
  g_object_unref (layout);

  mtl_exported_tensor_set_view (tensor, scalar);
  while (n_signals < 3)
    g_main_context_iteration (NULL, TRUE);
  assert_remote (plain, "Shape", "[]");
  assert_remote (plain, "Strides", "[]");
  assert_remote (plain, "Dtype", "'int4'");
  one = g_dbus_connection_call_sync (peers->caller, get_bus_name (peers), OBJECT_PATH,
                                     "org.freedesktop.DBus.Properties", "Get",
                                     g_variant_new ("(ss)", INTERFACE, "Dtype"),
                                     G_VARIANT_TYPE ("(v)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL,
                                     &error);
  g_assert_no_error (error);
  g_autofree char *text = g_variant_print (one, FALSE);
  g_assert_cmpstr (text, ==, "(<'int4'>,)");

  /* Nothing can be set. */
  g_assert_null (g_dbus_connection_call_sync (peers->caller, get_bus_name (peers), OBJECT_PATH,
                                              "org.freedesktop.DBus.Properties", "Set",
                                              g_variant_new ("(ssv)", INTERFACE, "ReadOnly",
                                                             g_variant_new_boolean (FALSE)),
                                              NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error));
  g_assert_error (error, G_DBUS_ERROR, G_DBUS_ERROR_INVALID_ARGS);
  g_clear_error (&error);
  end_export (tensor);
}

/* Vectors, and padded elements, have no value of the enumeration. */
static void
test_vectors (Peers         *peers,
              gconstpointer  way)
{
  static const gint64 shape[] = { 5 }, strides[] = { 1 };
  GError *error = NULL;
  g_autofree guint8 *bytes = g_malloc0 (64);
  g_autoptr (GBytes) elements = g_bytes_new (bytes, 60);
  g_autoptr (GVariant) description = g_variant_ref_sink (
      g_variant_new ("(vtyyq@ax@axa{sv})",
                     g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, elements, TRUE),
                     G_GUINT64_CONSTANT (0), 2, 32, 3,
                     g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, shape, 1, 8),
                     g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, strides, 1, 8), NULL));
  g_autoptr (MtlStridedView) vectors =
    mtl_strided_view_new_from_variant_fds (description, NULL, &error);
  MtlExportedTensor *tensor;
  g_autoptr (MtlTensorProxy) proxy = NULL;
  g_autoptr (MtlStridedView) fetched = NULL;
  gboolean read_only = FALSE;
  MtlDType dtype = MTL_DTYPE_BOOL;

  g_assert_no_error (error);
  tensor = export_view (peers, vectors, MTL_TENSOR_PEER_FLAGS_NONE);
  proxy = make_proxy (peers);
  fetched = fetch (proxy);
  assert_same_elements (fetched, vectors);
  g_assert_null (mtl_tensor_proxy_fetch_layout (proxy, &dtype, &read_only, NULL, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "float32×3");
  g_assert_cmpint (dtype, ==, MTL_DTYPE_OTHER);
  g_assert_true (read_only);
  end_export (tensor);
}

/* --- Asynchronous calls */

static void
test_async (Peers         *peers,
            gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = draw_bytes (2 * MAX_INLINE);
  g_autoptr (MtlStridedView) ones = NULL;
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  GAsyncResult *results[4] = { NULL };
  g_autoptr (MtlStridedView) fetched = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  Taker taker = { TRUE };
  gboolean read_only;
  MtlDType dtype;

  ones = mtl_strided_view_new_filled (NULL, MTL_DTYPE_UINT8, DIMS (2 * MAX_INLINE), 1,
                                      MTL_STORAGE_MODE_HOST, &error);
  g_assert_no_error (error);
  mtl_exported_tensor_set_writable (tensor, TRUE);
  g_signal_connect (tensor, "put", G_CALLBACK (on_put), &taker);
  mtl_tensor_proxy_fetch_view_async (proxy, NULL, keep_result, &results[0]);
  mtl_tensor_proxy_fetch_layout_async (proxy, NULL, keep_result, &results[1]);
  mtl_tensor_proxy_put_async (proxy, view, make_extras ("bytes"), NULL, keep_result, &results[2]);
  fetched = mtl_tensor_proxy_fetch_view_finish (proxy, wait_for_kept (&results[0]), &error);
  g_assert_no_error (error);
  assert_same_elements (fetched, view);
  layout = mtl_tensor_proxy_fetch_layout_finish (proxy, wait_for_kept (&results[1]), &dtype,
                                                 &read_only, &error);
  g_assert_no_error (error);
  assert_shape (layout, 2 * MAX_INLINE);
  g_assert_cmpint (dtype, ==, MTL_DTYPE_UINT8);
  g_assert_false (read_only);
  g_assert_true (mtl_tensor_proxy_put_finish (proxy, wait_for_kept (&results[2]), &error));
  g_assert_no_error (error);
  assert_same_elements (taker.taken, view);
  mtl_tensor_proxy_copy_from_async (proxy, ones, NULL, NULL, keep_result, &results[3]);
  g_assert_true (mtl_tensor_proxy_copy_from_finish (proxy, wait_for_kept (&results[3]), &error));
  g_assert_no_error (error);
  assert_same_elements (view, ones);

  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    g_clear_object (&results[i]);

  /* Errors */
  mtl_exported_tensor_set_writable (tensor, FALSE);
  taker.takes = FALSE;
  mtl_tensor_proxy_put_async (proxy, view, NULL, NULL, keep_result, &results[0]);
  g_assert_false (mtl_tensor_proxy_put_finish (proxy, wait_for_kept (&results[0]), &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, OBJECT_PATH);
  mtl_tensor_proxy_copy_from_async (proxy, ones, "1", NULL, keep_result, &results[1]);
  g_assert_false (mtl_tensor_proxy_copy_from_finish (proxy, wait_for_kept (&results[1]), &error));
  assert_failed (error, MTL_ERROR_READ_ONLY, OBJECT_PATH);
  g_clear_object (&results[0]);
  g_clear_object (&results[1]);
  g_clear_object (&taker.taken);
  g_clear_pointer (&taker.extras, g_variant_unref);
  end_export (tensor);
}

static void
assert_cancelled (GError **error)
{
  g_assert_error (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (error);
}

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

/* The exporter answers when nobody listens any more. */
static void
test_cancelled (Peers         *peers,
                gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = draw_bytes (2 * MAX_INLINE);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) fetched = NULL;
  GAsyncResult *results[4] = { NULL };
  GThread *thread;

  stop_exporter (peers);
  mtl_tensor_proxy_fetch_view_async (proxy, cancellable, keep_result, &results[0]);
  mtl_tensor_proxy_fetch_layout_async (proxy, cancellable, keep_result, &results[1]);
  mtl_tensor_proxy_put_async (proxy, view, NULL, cancellable, keep_result, &results[2]);
  mtl_tensor_proxy_copy_from_async (proxy, view, NULL, cancellable, keep_result, &results[3]);
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_null (mtl_tensor_proxy_fetch_view (proxy, cancellable, &error));
  assert_cancelled (&error);
  g_thread_join (thread);
  g_assert_null (mtl_tensor_proxy_fetch_view_finish (proxy, wait_for_kept (&results[0]), &error));
  assert_cancelled (&error);
  g_assert_null (mtl_tensor_proxy_fetch_layout_finish (proxy, wait_for_kept (&results[1]), NULL,
                                                       NULL, &error));
  assert_cancelled (&error);
  g_assert_false (mtl_tensor_proxy_put_finish (proxy, wait_for_kept (&results[2]), &error));
  assert_cancelled (&error);
  g_assert_false (mtl_tensor_proxy_copy_from_finish (proxy, wait_for_kept (&results[3]), &error));
  assert_cancelled (&error);

  /* Before the call. */
  g_assert_null (mtl_tensor_proxy_fetch_layout (proxy, NULL, NULL, cancellable, &error));
  assert_cancelled (&error);
  g_assert_false (mtl_tensor_proxy_put (proxy, view, NULL, cancellable, &error));
  assert_cancelled (&error);
  g_assert_false (mtl_tensor_proxy_copy_from (proxy, view, NULL, cancellable, &error));
  assert_cancelled (&error);

  continue_exporter (peers);
  fetched = fetch (proxy);
  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    g_clear_object (&results[i]);
  end_export (tensor);
}

/* The calls of one caller are answered in their order, whether they are long or short. */
static void
test_order (Peers         *peers,
            gconstpointer  way)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (8, MAX_INLINE));
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  GAsyncResult *results[40] = { NULL };
  GError *error = NULL;

  mtl_exported_tensor_set_writable (tensor, TRUE);
  for (int round = 0; round < 5; round++)
    {
      g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);

      for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
        {
          g_autoptr (MtlStridedView) value =
            mtl_strided_view_new_filled (NULL, MTL_DTYPE_UINT8, DIMS (1), i,
                                         MTL_STORAGE_MODE_HOST, &error);

          mtl_tensor_proxy_copy_from_async (proxy, value, i % 3 == 0 ? NULL : "1:3, :7", NULL,
                                            keep_result, &results[i]);
        }
      for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
        {
          g_assert_true (mtl_tensor_proxy_copy_from_finish (proxy, wait_for_kept (&results[i]),
                                                            &error));
          g_assert_no_error (error);
          g_clear_object (&results[i]);
        }
      g_assert_cmpint (get_number_at (view, 1, 0, 0), ==, 39);
      g_assert_cmpint (get_number_at (view, 7, 0, 0), ==, 39);
    }
  end_export (tensor);
}

/* --- The end of an export */

static void
test_unexport (Peers         *peers,
               gconstpointer  way)
{
  g_autoptr (MtlStridedView) view = host_zeros (MTL_DTYPE_UINT8, DIMS (1 << 24));
  g_autoptr (MtlStridedView) small = new_bytes (3);
  int n_done = 0, n_refused = 0;

  for (int round = 0; round < 60; round++)
    {
      MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
      g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
      GAsyncResult *results[6] = { NULL };

      mtl_exported_tensor_set_writable (tensor, TRUE);
      for (int i = 0; i < 3; i++)
        mtl_tensor_proxy_fetch_view_async (proxy, NULL, keep_result, &results[i]);
      mtl_tensor_proxy_copy_from_async (proxy, view, NULL, NULL, keep_result, &results[3]);
      mtl_tensor_proxy_put_async (proxy, small, NULL, NULL, keep_result, &results[4]);
      mtl_tensor_proxy_fetch_layout_async (proxy, NULL, keep_result, &results[5]);
      for (int i = pick (0, 3); i > 0; i--)
        g_usleep (1000 << i);
      if (round == 0)
        wait_for_kept (&results[5]);
      mtl_exported_tensor_unexport (tensor, round % 2 == 0 ? peers->exporter : NULL);
      mtl_exported_tensor_unexport (tensor, NULL); /* nothing is left */

      for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
        {
          g_autoptr (GAsyncResult) result = wait_for_kept (&results[i]);
          g_autoptr (GError) error = NULL;
          g_autoptr (GObject) object = NULL;

          if (i < 3)
            object = (GObject *) mtl_tensor_proxy_fetch_view_finish (proxy, result, &error);
          else if (i == 3)
            mtl_tensor_proxy_copy_from_finish (proxy, result, &error);
          else if (i == 4)
            mtl_tensor_proxy_put_finish (proxy, result, &error);
          else
            object = (GObject *) mtl_tensor_proxy_fetch_layout_finish (proxy, result, NULL, NULL,
                                                                       &error);
          if (g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_OBJECT)
              || g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_METHOD))
            n_refused++;
          else if (i == 4 && error != NULL)
            g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
          else
            {
              g_assert_no_error (error);
              n_done++;
            }
        }
      await_finalized (tensor);
    }

  g_test_message ("%d calls were answered, and %d were too late", n_done, n_refused);
  g_assert_cmpint (n_done, >, 0);
  g_assert_cmpint (n_refused, >, 0);
}

static void
test_export_errors (Peers         *peers,
                    gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = new_bytes (3);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  MtlExportedTensor *other = mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_NONE);
  MtlTensorPeerFlags flags;
  gboolean writable;

  g_assert_false (mtl_exported_tensor_export (other, peers->exporter, OBJECT_PATH, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  g_clear_error (&error);
  g_assert_false (mtl_exported_tensor_export (tensor, peers->exporter, OBJECT_PATH, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  g_clear_error (&error);
  g_assert_false (mtl_exported_tensor_export (other, peers->exporter, "no path", &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "no path");
  g_assert_false (mtl_exported_tensor_export (other, peers->exporter, "\xff", &error));
  assert_failed (error, MTL_ERROR_INVALID_ARGUMENT, "");

  g_dbus_connection_close_sync (peers->caller, NULL, &error);
  g_assert_no_error (error);
  while (!g_dbus_connection_is_closed (peers->caller))
    g_usleep (1000);
  g_assert_false (mtl_exported_tensor_export (other, peers->caller, OBJECT_PATH, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED);
  g_clear_error (&error);

  g_object_get (other, "flags", &flags, "writable", &writable, NULL);
  g_assert_cmpint (flags, ==, MTL_TENSOR_PEER_FLAGS_NONE);
  g_assert_cmpint (flags, ==, mtl_exported_tensor_get_flags (other));
  g_assert_false (writable);
  await_finalized (other);

  /* Without a bus, this was the end of the exporter's connection, and so of the export. */
  if (peers->way == BY_BUS)
    mtl_exported_tensor_unexport (tensor, NULL);
  await_finalized (tensor);
}

/* One tensor on several paths and connections. */
static void
test_many_exports (Peers         *peers,
                   gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = new_bytes (3);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = NULL;

  for (int i = 0; i < 20; i++)
    {
      g_autofree char *path = g_strdup_printf ("/more/%d", i);

      mtl_exported_tensor_export (tensor, peers->exporter, path, &error);
      g_assert_no_error (error);
    }
  mtl_exported_tensor_export (tensor, peers->caller, OBJECT_PATH, &error);
  g_assert_no_error (error);
  mtl_exported_tensor_unexport (tensor, peers->caller);
  proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) fetched G_GNUC_UNUSED = fetch (proxy);
  mtl_exported_tensor_unexport (tensor, peers->exporter);
  await_finalized (tensor);
}

/* --- Wrong addresses */

static void
assert_no_call (MtlTensorProxy *proxy,
                GQuark          domain,
                int             code,
                const char     *values)
{
  GError *error = NULL;
  GAsyncResult *result = NULL;
  g_autoptr (MtlStridedView) view = new_bytes (3);

  g_assert_null (mtl_tensor_proxy_fetch_view (proxy, NULL, &error));
  assert_failed_with (error, domain, code, values);
  g_assert_null (mtl_tensor_proxy_fetch_layout (proxy, NULL, NULL, NULL, &error));
  assert_failed_with (error, domain, code, values);
  g_assert_false (mtl_tensor_proxy_put (proxy, view, NULL, NULL, &error));
  assert_failed_with (error, domain, code, values);
  mtl_tensor_proxy_fetch_view_async (proxy, NULL, keep_result, &result);
  g_assert_null (mtl_tensor_proxy_fetch_view_finish (proxy, wait_for_kept (&result), &error));
  assert_failed_with (error, domain, code, values);
  g_object_unref (result);
}

static void
test_addresses (Peers         *peers,
                gconstpointer  way)
{
  const char *name = get_bus_name (peers);
  const char *wrong_name = peers->way == BY_BUS ? "no name" : "org.example.Name";
  g_autoptr (MtlTensorProxy) good = make_proxy (peers);
  g_autoptr (MtlTensorProxy) no_path = mtl_tensor_proxy_new (peers->caller, name, "no path");
  g_autoptr (MtlTensorProxy) no_name =
    mtl_tensor_proxy_new (peers->caller, wrong_name, OBJECT_PATH);
  g_autoptr (MtlTensorProxy) nothing = g_object_new (MTL_TYPE_TENSOR_PROXY, NULL);
  g_autoptr (MtlTensorProxy) nowhere = g_object_new (MTL_TYPE_TENSOR_PROXY, "connection",
                                                     peers->caller, "bus-name", name, NULL);
  g_autoptr (GDBusConnection) connection = NULL;
  g_autofree char *bus_name = NULL;
  g_autofree char *path = NULL;

  assert_no_call (no_path, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "no path");
  assert_no_call (no_name, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, wrong_name);
  assert_no_call (nowhere, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "");
  assert_no_call (nothing, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "");
  assert_no_call (good, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_METHOD, ""); /* not exported */
  if (peers->way == BY_BUS)
    {
      g_autoptr (MtlTensorProxy) nobody =
        mtl_tensor_proxy_new (peers->caller, "org.mtldl.Nobody", OBJECT_PATH);
      g_autoptr (MtlTensorProxy) unnamed = mtl_tensor_proxy_new (peers->caller, NULL, OBJECT_PATH);

      assert_no_call (nobody, G_DBUS_ERROR, G_DBUS_ERROR_SERVICE_UNKNOWN, "org.mtldl.Nobody");
      assert_no_call (unnamed, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "");
    }

  g_object_get (good, "connection", &connection, "bus-name", &bus_name, "object-path", &path,
                NULL);
  g_assert_true (connection == peers->caller);
  g_assert_true (connection == mtl_tensor_proxy_get_connection (good));
  g_assert_cmpstr (bus_name, ==, name);
  g_assert_cmpstr (bus_name, ==, mtl_tensor_proxy_get_bus_name (good));
  g_assert_cmpstr (path, ==, OBJECT_PATH);
  g_assert_cmpstr (path, ==, mtl_tensor_proxy_get_object_path (good));
  g_assert_null (mtl_tensor_proxy_get_connection (nothing));
  g_assert_null (mtl_tensor_proxy_get_object_path (nothing));
}

/* An object that was constructed without a view. */
static void
test_no_view (Peers         *peers,
              gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) view = new_bytes (3);
  MtlExportedTensor *tensor = g_object_new (MTL_TYPE_EXPORTED_TENSOR, "writable", TRUE, NULL);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);

  g_assert_null (mtl_exported_tensor_get_view (tensor));
  mtl_exported_tensor_export (tensor, peers->exporter, OBJECT_PATH, &error);
  g_assert_no_error (error);
  /* In the main context of this thread. */
  GAsyncResult *results[3] = { NULL };
  mtl_tensor_proxy_fetch_view_async (proxy, NULL, keep_result, &results[0]);
  mtl_tensor_proxy_copy_from_async (proxy, view, NULL, NULL, keep_result, &results[1]);
  mtl_tensor_proxy_fetch_layout_async (proxy, NULL, keep_result, &results[2]);
  g_assert_null (mtl_tensor_proxy_fetch_view_finish (proxy, wait_for_kept (&results[0]), &error));
  assert_failed (error, MTL_ERROR_NOT_FOUND, OBJECT_PATH);
  g_assert_false (mtl_tensor_proxy_copy_from_finish (proxy, wait_for_kept (&results[1]), &error));
  assert_failed (error, MTL_ERROR_NOT_FOUND, OBJECT_PATH);
  g_assert_null (mtl_tensor_proxy_fetch_layout_finish (proxy, wait_for_kept (&results[2]), NULL,
                                                       NULL, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "other");
  g_assert_true (mtl_exported_tensor_announce_change (tensor, "...", &error));
  g_assert_false (mtl_exported_tensor_announce_change (tensor, "0", &error));
  assert_failed (error, MTL_ERROR_OUT_OF_BOUNDS, "0");
  g_object_set (tensor, "view", view, NULL);
  g_assert_true (mtl_exported_tensor_get_view (tensor) == view);
  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    g_clear_object (&results[i]);
  end_export (tensor);
}

/* --- Too many calls */

/* Lets the device go on once so many calls were answered, or refused. */
typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean may_copy;
  int n_answered;
} Answers;

static void
wait_until_allowed (gpointer data)
{
  Answers *self = data;

  g_mutex_lock (&self->lock);
  while (!self->may_copy)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

static void
allow_copies (Answers *self)
{
  g_mutex_lock (&self->lock);
  self->may_copy = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static void
on_fetched (GObject      *proxy,
            GAsyncResult *result,
            gpointer      data)
{
  Answers *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view =
    mtl_tensor_proxy_fetch_view_finish (MTL_TENSOR_PROXY (proxy), result, &error);

  self->n_answered++;
  if (self->may_copy)
    g_assert_no_error (error);
  else
    {
      g_assert_error (error, MTL_ERROR, MTL_ERROR_BUSY);
      assert_says (error->message, "256");
    }
}

/* While a copy is made, the others wait. */
static void
test_too_many_calls (Peers         *peers,
                     gconstpointer  way)
{
  enum { N_CALLS = 300, MAX_CALLS = 256 };
  g_autoptr (GError) error = NULL;
  TestDevice *device = test_device_new (MTL_STORAGE_MODE_PRIVATE);
  g_autoptr (MtlStridedView) view = zeros_on (MTL_DEVICE (device), MTL_DTYPE_UINT8, DIMS (100));
  g_autoptr (MtlStridedView) zeros = host_zeros (MTL_DTYPE_UINT8, DIMS (100));
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) proxy = make_proxy (peers);
  g_autoptr (MtlStridedView) fetched = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  Answers answers = { .may_copy = FALSE };

  device->meanwhile = wait_until_allowed;
  device->meanwhile_data = &answers;
  layout = mtl_tensor_proxy_fetch_layout (proxy, NULL, NULL, NULL, &error); /* is let in */
  g_assert_no_error (error);
  for (int i = 0; i < N_CALLS; i++)
    mtl_tensor_proxy_fetch_view_async (proxy, NULL, on_fetched, &answers);
  while (answers.n_answered < N_CALLS - MAX_CALLS)
    g_main_context_iteration (NULL, TRUE);

  allow_copies (&answers);
  while (answers.n_answered < N_CALLS)
    g_main_context_iteration (NULL, TRUE);
  fetched = fetch (proxy);
  assert_same_elements (fetched, zeros);
  g_assert_cmpint (device->n_copies, ==, 1);
  end_export (tensor);
  g_clear_object (&view);
  g_object_unref (device);
}

static GDBusMessage *
count_message (GDBusConnection *connection,
               GDBusMessage    *message,
               gboolean         is_incoming,
               gpointer         n_calls)
{
  if (is_incoming && g_strcmp0 (g_dbus_message_get_member (message), "Get") == 0)
    g_atomic_int_inc ((int *) n_calls);
  return message;
}

/* The bus is not asked about any number of callers at once, and those that it is asked about do not
 * keep out a caller that is known. */
static void
test_too_many_callers (Peers         *peers,
                       gconstpointer  way)
{
  enum { N_CALLERS = 100, N_CALLS = 300 };
  g_autoptr (MtlStridedView) view = new_bytes (3);
  MtlExportedTensor *tensor = export_view (peers, view, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (MtlTensorProxy) known = make_proxy (peers);
  g_autoptr (MtlStridedView) seen = fetch (known);
  GDBusConnection *callers[N_CALLERS];
  MtlTensorProxy *proxies[N_CALLERS];
  GAsyncResult *results[N_CALLS + 1] = { NULL };
  int n_busy = 0, n_calls = 0;
  guint filter;

  for (int i = 0; i < N_CALLERS; i++)
    {
      callers[i] = connect_to_bus (peers->bus.address);
      proxies[i] = mtl_tensor_proxy_new (callers[i], get_bus_name (peers), OBJECT_PATH);
    }

  /* All calls are there before the bus has answered about the first. */
  filter = g_dbus_connection_add_filter (peers->exporter, count_message, &n_calls, NULL);
  stop_exporter (peers);
  for (int i = 0; i < N_CALLS; i++)
    mtl_tensor_proxy_fetch_view_async (proxies[i % N_CALLERS], NULL, keep_result, &results[i]);
  while (g_atomic_int_get (&n_calls) < N_CALLS)
    g_usleep (1000);
  mtl_tensor_proxy_fetch_view_async (known, NULL, keep_result, &results[N_CALLS]);
  while (g_atomic_int_get (&n_calls) < N_CALLS + 1)
    g_usleep (1000);
  g_dbus_connection_remove_filter (peers->exporter, filter);
  continue_exporter (peers);
  for (int i = 0; i <= N_CALLS; i++)
    {
      g_autoptr (GAsyncResult) result = wait_for_kept (&results[i]);
      MtlTensorProxy *proxy = i < N_CALLS ? proxies[i % N_CALLERS] : known;
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) fetched =
        mtl_tensor_proxy_fetch_view_finish (proxy, result, &error);

      if (fetched != NULL)
        continue;
      g_assert_true (proxy != known);
      g_assert_error (error, MTL_ERROR, MTL_ERROR_BUSY);
      assert_says (error->message, "64");
      n_busy++;
    }

  g_test_message ("%d calls were too many", n_busy);
  g_assert_cmpint (n_busy, >, 0);
  for (int i = 0; i < N_CALLERS; i++)
    g_object_unref (proxies[i]);
  g_clear_object (&known);

  /* Later each of them is answered. */
  for (int i = 0; i < N_CALLERS; i++)
    {
      g_autoptr (MtlTensorProxy) proxy =
        mtl_tensor_proxy_new (callers[i], get_bus_name (peers), OBJECT_PATH);
      g_autoptr (MtlStridedView) fetched G_GNUC_UNUSED = fetch (proxy);

      g_clear_object (&proxy);
      g_dbus_connection_close_sync (callers[i], NULL, NULL);
      await_finalized (callers[i]);
    }
  end_export (tensor);
}

/* --- Connections that pass no descriptors */

typedef struct
{
  GDBusConnection *connection;
} Accepted;

static gboolean
on_new_connection (GDBusServer     *server,
                   GDBusConnection *connection,
                   Accepted        *accepted)
{
  accepted->connection = g_object_ref (connection);
  return TRUE;
}

static void
on_connected (GObject      *source,
              GAsyncResult *result,
              gpointer      connection)
{
  g_autoptr (GError) error = NULL;

  *(GDBusConnection **) connection = g_dbus_connection_new_for_address_finish (result, &error);
  g_assert_no_error (error);
}

typedef MtlStridedView *(* Fetch) (MtlTensorProxy *proxy,
                                   GError        **error);

static MtlStridedView *
fetch_async (MtlTensorProxy *proxy,
             GError        **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_tensor_proxy_fetch_view_async (proxy, NULL, keep_result, &result);
  return mtl_tensor_proxy_fetch_view_finish (proxy, wait_for_kept (&result), error);
}

static gboolean
put_async (MtlTensorProxy *proxy,
           MtlStridedView *view,
           GError        **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  mtl_tensor_proxy_put_async (proxy, view, NULL, NULL, keep_result, &result);
  return mtl_tensor_proxy_put_finish (proxy, wait_for_kept (&result), error);
}

static void
test_no_descriptors (void)
{
  GError *error = NULL;
  g_autofree char *guid = g_dbus_generate_guid ();
  g_autoptr (GDBusServer) server =
    g_dbus_server_new_sync ("tcp:host=127.0.0.1",
                            G_DBUS_SERVER_FLAGS_AUTHENTICATION_ALLOW_ANONYMOUS, guid, NULL, NULL,
                            &error);
  g_autoptr (MtlStridedView) few = zeros_for_others (MTL_DTYPE_UINT8, DIMS (2, MAX_INLINE / 2));
  g_autoptr (MtlStridedView) many = zeros_for_others (MTL_DTYPE_UINT8, DIMS (MAX_INLINE + 1));
  g_autoptr (MtlStridedView) fetched = NULL;
  g_autoptr (MtlTensorProxy) proxy = NULL;
  g_autoptr (MtlTensorProxy) other_proxy = NULL;
  MtlExportedTensor *tensor =
    mtl_exported_tensor_new (few, MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS);
  MtlExportedTensor *strict = mtl_exported_tensor_new (few, MTL_TENSOR_PEER_FLAGS_NONE);
  Taker taker = { TRUE };
  Accepted accepted = { NULL };
  GDBusConnection *caller = NULL;

  g_assert_no_error (error);
  g_signal_connect (server, "new-connection", G_CALLBACK (on_new_connection), &accepted);
  g_dbus_server_start (server);
  g_dbus_connection_new_for_address (g_dbus_server_get_client_address (server),
                                     G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL, NULL,
                                     on_connected, &caller);
  while (caller == NULL || accepted.connection == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (g_dbus_connection_get_capabilities (caller)
                  & G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING);

  mtl_exported_tensor_export (tensor, accepted.connection, OBJECT_PATH, &error);
  g_assert_no_error (error);
  mtl_exported_tensor_export (strict, accepted.connection, "/strict", &error);
  g_assert_no_error (error);
  g_signal_connect (tensor, "put", G_CALLBACK (on_put), &taker);
  proxy = mtl_tensor_proxy_new (caller, NULL, OBJECT_PATH);
  fetched = fetch_async (proxy, &error);
  g_assert_no_error (error);
  assert_same_elements (few, fetched);
  g_assert_false (is_mapped (fetched));
  g_assert_true (put_async (proxy, few, &error));
  g_assert_no_error (error);
  assert_same_elements (few, taker.taken);

  mtl_exported_tensor_set_view (tensor, many);
  g_assert_null (fetch_async (proxy, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "65536");
  g_assert_false (put_async (proxy, many, &error));
  assert_failed (error, MTL_ERROR_NOT_SUPPORTED, "65536");

  /* The user of such a caller is not known. */
  other_proxy = mtl_tensor_proxy_new (caller, NULL, "/strict");
  g_assert_null (fetch_async (other_proxy, &error));
  g_assert_error (error, G_DBUS_ERROR, G_DBUS_ERROR_ACCESS_DENIED);
  g_clear_error (&error);

  g_clear_object (&taker.taken);
  g_clear_pointer (&taker.extras, g_variant_unref);
  g_dbus_connection_close_sync (caller, NULL, NULL);
  await_finalized (tensor); /* the end of the connection ends the exports */
  await_finalized (strict);
  g_dbus_server_stop (server);
  g_clear_object (&proxy);
  g_clear_object (&other_proxy);
  await_finalized (caller);
  await_finalized (accepted.connection);
}

/* A caller that asks for elements inside the message. */
static void
test_inline (Peers         *peers,
             gconstpointer  way)
{
  GError *error = NULL;
  g_autoptr (MtlStridedView) few = zeros_for_others (MTL_DTYPE_UINT8, DIMS (10));
  g_autoptr (MtlStridedView) many = zeros_for_others (MTL_DTYPE_UINT8, DIMS (MAX_INLINE + 1));
  MtlExportedTensor *tensor = export_view (peers, few, MTL_TENSOR_PEER_FLAGS_NONE);
  g_autoptr (GUnixFDList) fds = NULL;

  for (int i = 0; i < 4; i++)
    {
      g_autoptr (GVariant) arguments =
        g_variant_ref_sink (g_variant_new_parsed (
                              i == 0 ? "({'inline': <true>, 'other': <'x'>},)"
                              : i == 1 ? "({'inline': <false>},)"
                              : i == 2 ? "({'inline': <'yes'>},)" : "(@a{sv} {},)"));
      g_autoptr (GVariant) reply G_GNUC_UNUSED = g_dbus_connection_call_with_unix_fd_list_sync (
          peers->caller, get_bus_name (peers), OBJECT_PATH, INTERFACE, "Get", arguments,
          G_VARIANT_TYPE ("((vtyyqaxaxa{sv}))"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, &fds, NULL,
          &error);

      g_assert_no_error (error);
      g_assert_true ((fds == NULL) == (i == 0));
      g_clear_object (&fds);
    }

  mtl_exported_tensor_set_view (tensor, many);
  g_assert_null (g_dbus_connection_call_sync (peers->caller, get_bus_name (peers), OBJECT_PATH,
                                              INTERFACE, "Get",
                                              g_variant_new_parsed ("({'inline': <true>},)"), NULL,
                                              G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error));
  g_assert_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  g_clear_error (&error);
  end_export (tensor);
}

/* --- The names of errors */

static void
test_error_names (void)
{
  g_autoptr (GEnumClass) codes = g_type_class_ref (MTL_TYPE_ERROR);
  g_autoptr (MtlTensorProxy) proxy G_GNUC_UNUSED = g_object_new (MTL_TYPE_TENSOR_PROXY, NULL);

  for (guint i = 0; i < codes->n_values; i++)
    {
      g_autoptr (GError) error = g_error_new (MTL_ERROR, codes->values[i].value, "why");
      g_autofree char *name = g_dbus_error_encode_gerror (error);
      g_autoptr (GError) arrived = g_dbus_error_new_for_dbus_error (name, "why");
      g_autoptr (GString) expected = g_string_new ("org.mtldl.Error.");
      g_auto (GStrv) words = g_strsplit (codes->values[i].value_nick, "-", -1);

      for (gsize k = 0; words[k] != NULL; k++)
        g_string_append_printf (expected, "%c%s", g_ascii_toupper (words[k][0]), words[k] + 1);
      g_assert_cmpstr (name, ==, expected->str);
      g_assert_error (arrived, MTL_ERROR, codes->values[i].value);
    }
}

#define ADD(name, function) \
  g_test_add ("/exported-tensor/socket/" name, Peers, GINT_TO_POINTER (BY_SOCKET), set_up_peers, \
              function, tear_down_peers); \
  g_test_add ("/exported-tensor/bus/" name, Peers, GINT_TO_POINTER (BY_BUS), set_up_peers, \
              function, tear_down_peers)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exported-tensor/error-names", test_error_names);
  g_test_add_func ("/exported-tensor/no-descriptors", test_no_descriptors);
  ADD ("layouts", test_layouts);
  ADD ("ordinary-memory", test_ordinary_memory);
  ADD ("shared-memory", test_shared_memory);
  ADD ("repeated", test_repeated);
  ADD ("put", test_put);
  ADD ("copy", test_copy);
  ADD ("refused-copies", test_refused_copies);
  ADD ("changes", test_changes);
  ADD ("properties", test_properties);
  ADD ("vectors", test_vectors);
  ADD ("async", test_async);
  ADD ("cancelled", test_cancelled);
  ADD ("order", test_order);
  ADD ("unexport", test_unexport);
  ADD ("export-errors", test_export_errors);
  ADD ("many-exports", test_many_exports);
  ADD ("addresses", test_addresses);
  ADD ("no-view", test_no_view);
  ADD ("too-many-calls", test_too_many_calls);
  ADD ("inline", test_inline);
  g_test_add ("/exported-tensor/bus/too-many-callers", Peers, GINT_TO_POINTER (BY_BUS),
              set_up_peers, test_too_many_callers, tear_down_peers);

  return g_test_run ();
}
