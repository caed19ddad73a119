/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors as GVariants, with descriptors beside them. */

#include "processes.h"

#define MAX_INLINE 65536

typedef __int128 Wide;

static GVariant *
to_variant (MtlStridedView *view,
            GUnixFDList    *fds)
{
  g_autoptr (GError) error = NULL;
  GVariant *variant = mtl_strided_view_to_variant (view, fds, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (g_variant_is_of_type (variant, G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING)));
  g_assert_false (g_variant_is_floating (variant));
  return variant;
}

static MtlStridedView *
from_variant (GVariant    *variant,
              GUnixFDList *fds)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view = mtl_strided_view_new_from_variant_fds (variant, fds, &error);

  g_assert_no_error (error);
  g_assert_true (mtl_strided_view_is_read_only (view));
  return view;
}

/* A bus passes descriptions serialized. */
static GVariant *
pass (GVariant *variant)
{
  gsize size = g_variant_get_size (variant);
  guint8 *data = g_malloc (size);

  g_variant_store (variant, data);
  return g_variant_ref_sink (
      g_variant_new_from_data (G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING), data, size, FALSE,
                               g_free, data));
}

static void
test_drawn_layouts (void)
{
  guint n_fds = count_fds ();

  for (int i = 0; i < 2000; i++)
    {
      gboolean is_shared = i % 2 == 0;
      g_autoptr (MtlStridedView) view =
        draw_view (is_shared ? MTL_STORAGE_MODE_INTERPROCESS : MTL_STORAGE_MODE_HOST);
      g_autoptr (GUnixFDList) fds = happens (80) ? g_unix_fd_list_new () : NULL;
      gboolean by_fd = is_shared && fds != NULL;
      int n_before = fds != NULL && happens (30) ? pick (1, 3) : 0;
      g_autoptr (GVariant) variant = NULL;
      g_autoptr (GVariant) passed = NULL;
      g_autoptr (MtlStridedView) received = NULL;

      for (int k = 0; k < n_before; k++)
        g_assert_cmpint (g_unix_fd_list_append (fds, 0, NULL), ==, k);
      variant = to_variant (view, fds);
      if (fds != NULL)
        g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, n_before + by_fd);
      passed = pass (variant);
      received = from_variant (passed, fds);
      g_clear_pointer (&variant, g_variant_unref);
      g_clear_pointer (&passed, g_variant_unref);
      g_clear_object (&fds);
      assert_same_elements (view, received);
      if (by_fd && mtl_strided_view_get_volume (view) > 0)
        {
          g_assert_true (mtl_buffer_is_interprocess (mtl_strided_view_get_buffer (received)));
          g_assert_cmpmem (mtl_strided_view_get_strides (view, NULL),
                           mtl_strided_view_get_n_dims (view) * sizeof (gint64),
                           mtl_strided_view_get_strides (received, NULL),
                           mtl_strided_view_get_n_dims (received) * sizeof (gint64));
        }
    }

  g_assert_cmpuint (count_fds (), ==, n_fds);
  g_assert_cmpuint (count_mappings (), ==, 0);
}

/* The most dimensions that a layout has, which need memory of their own, and one more. */
static void
test_many_dims (void)
{
  g_autoptr (GString) text = g_string_new ("(<@ay [1]>, uint64 0, byte 1, byte 8, uint16 1, [");
  g_autoptr (GVariant) variant = NULL;
  gint64 shape[64];

  for (int i = 0; i < 64; i++)
    shape[i] = i % 8 == 0 ? 2 : 1;
  for (int is_shared = 0; is_shared < 2; is_shared++)
    {
      g_autoptr (MtlStridedView) view =
        is_shared ? zeros_for_others (MTL_DTYPE_INT16, shape, 64) : host_zeros (MTL_DTYPE_INT16,
                                                                                shape, 64);
      g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
      g_autoptr (GVariant) described = to_variant (view, fds);
      g_autoptr (MtlStridedView) received = from_variant (described, fds);

      assert_same_elements (view, received);
    }

  for (int k = 0; k < 2; k++)
    {
      for (int i = 0; i < 65; i++)
        g_string_append (text, i == 0 ? "int64 1" : ", 1");
      g_string_append (text, k == 0 ? "], [" : "], @a{sv} {})");
    }
  variant = g_variant_ref_sink (g_variant_new_parsed (text->str));
  assert_fails (mtl_strided_view_new_from_variant_fds (variant, NULL, &error),
                MTL_ERROR_INVALID_DATA, "65 & 64");
}

/* Elements in a description are read-only, wherever they lie there. */
static void
test_places (void)
{
  for (guint64 offset = 0; offset <= 16; offset++)
    {
      g_autoptr (GVariant) variant = g_variant_ref_sink (g_variant_new_parsed (
          "(<@ay [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]>, %t, byte 1, "
          "byte 8, uint16 1, [int64 3], [int64 1], @a{sv} {})", offset));
      g_autoptr (GVariant) passed = pass (variant);
      g_autoptr (MtlStridedView) view = from_variant (passed, NULL);

      assert_elements (view, offset, offset + 1, offset + 2);
    }
}

/* Text that is none is not taken for another one. */
static void
test_not_normal (void)
{
  g_autoptr (GVariant) whole = g_variant_ref_sink (g_variant_new_parsed (
      "(<@ay [1]>, uint64 0, byte 1, byte 8, uint16 1, [int64 1], [int64 1], "
      "{'name': <'frame'>})"));
  gsize size = g_variant_get_size (whole);
  g_autofree guint8 *data = g_malloc (size);
  g_autofree char *value = g_strdup_printf ("%" G_GSIZE_FORMAT, size);
  g_autoptr (GVariant) variant = NULL;
  guint8 *text;

  g_variant_store (whole, data);
  text = memmem (data, size, "frame", 5);
  g_assert_nonnull (text);
  text[0] = 0xff;
  variant = g_variant_ref_sink (
      g_variant_new_from_data (G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING), data, size, FALSE,
                               NULL, NULL));
  assert_fails (mtl_strided_view_new_from_variant_fds (variant, NULL, &error),
                MTL_ERROR_INVALID_DATA, value);
}

/* Elements that are repeated travel once. */
static void
test_repeated (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) row = new_bytes (100);
  g_autoptr (MtlStridedView) wide =
    mtl_strided_view_broadcast_to (row, DIMS (1000000, 1000, 100), &error);
  g_autoptr (GVariant) variant = to_variant (wide, NULL);
  g_autoptr (MtlStridedView) received = from_variant (variant, NULL);
  g_autoptr (MtlStridedView) last = slice (received, "-1, -1");

  g_assert_cmpuint (g_variant_get_size (variant), <, 400);
  assert_view_shape (received, 1000000, 1000, 100);
  assert_view_strides (received, 0, 0, 1);
  assert_same_elements (row, last);
}

static void
test_lanes_and_padding (void)
{
  GVariant *bytes = g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "\1\2\3\4\5\6\7\10\11\12\13\14",
                                               12, 1);
  g_autoptr (GVariant) parsed = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GVariant) again = NULL;
  g_autoptr (MtlStridedView) received = NULL;
  GVariantBuilder extras;

  /* 2 vectors of 3 unsigned numbers of 16 bits. */
  parsed = g_variant_ref_sink (
      g_variant_new ("(vtyyq@ax@axa{sv})", bytes, (guint64) 0, 1, 16, 3,
                     g_variant_new_parsed ("[int64 2]"), g_variant_new_parsed ("[int64 1]"), NULL));
  view = from_variant (parsed, NULL);
  g_assert_cmpuint (mtl_strided_view_get_lanes (view), ==, 3);
  again = to_variant (view, NULL);
  received = from_variant (again, NULL);
  assert_same_elements (view, received);
  g_clear_object (&view);
  g_clear_object (&received);
  g_clear_pointer (&again, g_variant_unref);

  /* 3 numbers of 4 bits, each in a byte. */
  g_variant_builder_init (&extras, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&extras, "{sv}", "padded", g_variant_new_boolean (TRUE));
  g_clear_pointer (&parsed, g_variant_unref);
  parsed = g_variant_ref_sink (
      g_variant_new ("(vtyyq@ax@axa{sv})",
                     g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "\1\2\3", 3, 1), (guint64) 0,
                     1, 4, 1, g_variant_new_parsed ("[int64 3]"),
                     g_variant_new_parsed ("[int64 1]"), &extras));
  view = from_variant (parsed, NULL);
  g_assert_true (mtl_strided_view_is_padded (view));
  again = to_variant (view, NULL);
  received = from_variant (again, NULL);
  assert_same_elements (view, received);
}

static void
test_limit (void)
{
  g_autoptr (MtlStridedView) fits = host_zeros (MTL_DTYPE_UINT8, DIMS (MAX_INLINE));
  g_autoptr (MtlStridedView) large = host_zeros (MTL_DTYPE_UINT8, DIMS (MAX_INLINE + 1));
  g_autoptr (MtlStridedView) shared = zeros_for_others (MTL_DTYPE_UINT8, DIMS (MAX_INLINE + 1));
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();

  g_variant_unref (to_variant (fits, fds));
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 0);
  g_variant_unref (to_variant (shared, fds));
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 1);
  assert_fails (mtl_strided_view_to_variant (large, fds, NULL, &error), MTL_ERROR_NEEDS_COPY,
                "65537 & 65536 & interprocess");
  assert_fails (mtl_strided_view_to_variant (shared, NULL, NULL, &error), MTL_ERROR_NEEDS_COPY,
                "65537 & 65536");
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 1);
}

static void
test_bit_offset (void)
{
  g_autoptr (MtlStridedView) packed = zeros_for_others (MTL_DTYPE_UINT4, DIMS (8));
  g_autoptr (MtlStridedView) odd = slice (packed, "3:");
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();

  assert_fails (mtl_strided_view_to_variant (odd, fds, NULL, &error), MTL_ERROR_NEEDS_COPY,
                "4 & 0");
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 0);
}

static void
test_extras (void)
{
  g_autoptr (MtlStridedView) view = new_bytes (3);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) variant =
    mtl_strided_view_to_variant (view, NULL, g_variant_new_parsed ("{'name': <'frame'>, 'n': <7>}"),
                                 &error);
  g_autoptr (GVariant) extras = NULL;
  g_autoptr (MtlStridedView) received = NULL;
  const char *name;
  int n;

  g_assert_no_error (error);
  extras = g_variant_get_child_value (variant, 7);
  g_assert_true (g_variant_lookup (extras, "name", "&s", &name));
  g_assert_cmpstr (name, ==, "frame");
  g_assert_true (g_variant_lookup (extras, "n", "i", &n));
  g_assert_cmpint (n, ==, 7);
  received = from_variant (variant, NULL);
  assert_same_elements (view, received);
}

static void
test_keys_of_messages (void)
{
  const char *const keys[] = { "version", "needs", "padded", "byte-order", "device", "release",
                               "fence" };
  g_autoptr (MtlStridedView) view = new_bytes (3);

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    assert_fails (mtl_strided_view_to_variant (
                      view, NULL, g_variant_new_parsed ("{'name': <'x'>, %s: <1>}", keys[i]),
                      &error),
                  MTL_ERROR_INVALID_ARGUMENT, keys[i]);
}

/* The peer may send more. */
static void
test_large_extras_of_a_peer (void)
{
  g_autofree char *name = g_strnfill (131100, 'x');
  g_autoptr (GVariant) variant = g_variant_ref_sink (
      g_variant_new_parsed ("(<@ay [1]>, uint64 0, byte 1, byte 8, uint16 1, @ax [], @ax [], "
                            "{'name': <%s>})", name));
  g_autoptr (GVariant) extras = g_variant_get_child_value (variant, 7);
  g_autofree char *values = g_strdup_printf ("%" G_GSIZE_FORMAT " & 131072",
                                             g_variant_get_size (extras));

  assert_fails (mtl_strided_view_new_from_variant_fds (variant, NULL, &error),
                MTL_ERROR_INVALID_DATA, values);
}

static void
test_large_extras (void)
{
  g_autoptr (MtlStridedView) shared = zeros_for_others (MTL_DTYPE_UINT8, DIMS (10));
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autofree char *name = g_strnfill (131100, 'x');
  g_autoptr (GVariant) extras = g_variant_ref_sink (g_variant_new_parsed ("{'name': <%s>}", name));
  g_autofree char *values = g_strdup_printf ("%" G_GSIZE_FORMAT " & 131072",
                                             g_variant_get_size (extras));

  for (int i = 0; i < 2; i++)
    assert_fails (mtl_strided_view_to_variant (shared, i == 0 ? NULL : fds, extras, &error),
                  MTL_ERROR_OUT_OF_BOUNDS, values);
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 0);
}

/* A message is the header, and what GVariant makes of the description, whatever the size. */
static void
test_messages (void)
{
  int fds[2];
  g_autoptr (GSocket) socket_object = NULL;
  g_autoptr (MtlTensorConnection) connection = NULL;
  guint8 *message = g_malloc (70000);

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  socket_object = g_socket_new_from_fd (fds[0], NULL);
  connection = mtl_tensor_connection_new (socket_object, MTL_TENSOR_PEER_FLAGS_NONE);
  for (gint64 n = 0; n <= MAX_INLINE; n += n < 300 || (n > 65300 && n < 65500) ? 1 : 1000)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlStridedView) flat = host_zeros (MTL_DTYPE_UINT8, DIMS (n));
      g_autoptr (MtlStridedView) view =
        n % 2 == 0 ? g_object_ref (flat) : mtl_strided_view_unsqueeze (flat, AXES (0, 2), NULL);
      g_autoptr (GVariant) variant = NULL;
      g_autoptr (GVariant) parsed = NULL;
      gsize size = 0, expected;

      fill_at_random (mtl_strided_view_get_data (flat), n);
      variant = to_variant (view, NULL);
      expected = 16 + g_variant_get_size (variant);
      g_assert_true (mtl_tensor_connection_send (connection, view, NULL, NULL, &error));
      g_assert_no_error (error);
      while (size < expected)
        size += read (fds[1], message + size, expected - size);
      g_assert_cmpmem (message + 16, expected - 16, g_variant_get_data (variant),
                       g_variant_get_size (variant));
      parsed = g_variant_ref_sink (
          g_variant_new_from_data (G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING), message + 16,
                                   expected - 16, FALSE, NULL, NULL));
      g_assert_true (g_variant_is_normal_form (parsed));
    }

  close (fds[1]);
  g_free (message);
}

/* A description as GVariant's text has it. Descriptors: 0 is sealed and has 10,000 bytes, 1 is a
 * pipe, 2 is not sealed. */
static const struct
{
  const char *text;
  MtlError code;
  const char *values;
} refused[] = {
  { "'text'", MTL_ERROR_INVALID_DATA, "s" },
  { "(<handle 3>, uint64 0, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "3" },
  { "(<handle -1>, uint64 0, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "-1 & 0" },
  { "(<handle 1>, uint64 0, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "0x0" },
  { "(<handle 2>, uint64 0, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "0x0 & 0x2" },
  { "(<'memory'>, uint64 0, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "s" },
  { "(<handle 0>, uint64 10000, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "1 & 10000" },
  { "(<handle 0>, uint64 9999, byte 1, byte 8, uint16 1, [int64 2], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "2 & 9999 & 10000" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 -1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "-1" },
  { "(<handle 0>, uint64 18446744073709551615, byte 1, byte 8, uint16 1, [int64 2], [int64 1], "
    "@a{sv} {})", MTL_ERROR_INVALID_DATA, "18446744073709551615" },
  { "(<handle 0>, uint64 0, byte 1, byte 64, uint16 1, [int64 2], [int64 9223372036854775807], "
    "@a{sv} {})", MTL_ERROR_INVALID_DATA, "" },
  { "(<handle 0>, uint64 0, byte 1, byte 0, uint16 1, [int64 2], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "0 & 1" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 0, [int64 2], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "8 & 0" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 -2], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "-2" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], @ax [], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "1 & 0 & 64" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], {'version': <byte 2>})",
    MTL_ERROR_NOT_SUPPORTED, "2 & 1" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], {'version': <1>})",
    MTL_ERROR_INVALID_DATA, "i & y" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], "
    "{'needs': <['padded', 'fence']>})", MTL_ERROR_NOT_SUPPORTED, "fence" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], "
    "{'device': <(2, 1)>})", MTL_ERROR_NOT_SUPPORTED, "(2, 1) & (1, 0)" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], "
    "{'byte-order': <byte 0x42>})", MTL_ERROR_NOT_SUPPORTED, "0x42 & 0x6c" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], "
    "{'release': <handle 5>})", MTL_ERROR_INVALID_DATA, "5 & 3" },
  { "(<handle 0>, uint64 0, byte 1, byte 8, uint16 1, [int64 2], [int64 1], "
    "{'release': <handle 2>})", MTL_ERROR_INVALID_DATA, "2" },
  { "(<@ay [1, 2]>, uint64 0, byte 1, byte 8, uint16 1, [int64 3], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "3 & 0 & 2" },
  { "(<@ay [1, 2]>, uint64 3, byte 1, byte 8, uint16 1, [int64 1], [int64 1], @a{sv} {})",
    MTL_ERROR_INVALID_DATA, "1 & 3 & 2" },
};

static GUnixFDList *
make_fd_list (void)
{
  GUnixFDList *list;
  int pipe_ends[2];

  g_assert_cmpint (pipe (pipe_ends), ==, 0);
  close (pipe_ends[0]);
  list = g_unix_fd_list_new_from_array (
      (int[]) { make_memfd (10000, F_SEAL_SHRINK), pipe_ends[1], make_memfd (10000, 0) }, 3);
  return list;
}

static void
test_refused (void)
{
  guint n_fds = count_fds ();
  g_autoptr (GUnixFDList) fds = make_fd_list ();

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) parsing = NULL;
      g_autoptr (GVariant) variant = g_variant_parse (NULL, refused[i].text, NULL, NULL, &parsing);
      GError *error = NULL;

      g_assert_no_error (parsing);
      g_test_message ("%s", refused[i].text);
      if (G_BYTE_ORDER != G_LITTLE_ENDIAN && strstr (refused[i].text, "byte-order") != NULL)
        continue;
      g_assert_null (mtl_strided_view_new_from_variant_fds (variant, fds, &error));
      assert_failed (error, refused[i].code, refused[i].values);
    }

  g_clear_object (&fds);
  g_assert_cmpuint (count_fds (), ==, n_fds);
}

/* The peer learns from the pipe when the memory is no longer used. */
static void
test_release (void)
{
  int ends[2];
  char byte;
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (GVariant) variant = NULL;
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) part = NULL;

  g_assert_cmpint (pipe (ends), ==, 0);
  fcntl (ends[0], F_SETFL, O_NONBLOCK);
  fds = g_unix_fd_list_new_from_array ((int[]) { make_memfd (100, F_SEAL_SHRINK), ends[1] }, 2);
  variant = g_variant_ref_sink (g_variant_new_parsed (
      "(<handle 0>, uint64 90, byte 1, byte 8, uint16 1, [int64 10], [int64 1], "
      "{'release': <handle 1>})"));
  view = from_variant (variant, fds);
  g_clear_object (&fds);
  part = slice (view, "9");
  g_clear_object (&view);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, -1); /* the end is still open */
  g_clear_object (&part);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 0);
  close (ends[0]);
}

/* Elements of the memory, or an end that a peer may choose. */
static gint64
draw_number (void)
{
  static const gint64 few[] = { 0, 1, -1, 2, 3, -3, 8, 100, 9999, 10000, 10001, -10000 };
  gint64 number;

  if (happens (70))
    return few[pick (0, G_N_ELEMENTS (few) - 1)];

  number = POW2 (pick (20, 62)) + pick (-2, 2);
  return happens (50) ? number : happens (50) ? -number : G_MAXINT64 - pick (0, 2);
}

/* The bytes that the elements touch, by numbers that cannot overflow. */
static gboolean
lie_within (guint64       offset,
            guint         item_bits,
            const gint64 *shape,
            const gint64 *strides,
            gsize         n_dims,
            gsize         size)
{
  Wide low = 0, high = 0;

  for (gsize i = 0; i < n_dims; i++)
    if (shape[i] == 0)
      return TRUE;
  for (gsize i = 0; i < n_dims; i++)
    {
      Wide end = (Wide) strides[i] * (shape[i] - 1);

      /* Far outside is far enough. */
      *(end < 0 ? &low : &high) += CLAMP (end, -((Wide) 1 << 80), (Wide) 1 << 80);
    }

  low = low * item_bits;
  high = (high + 1) * item_bits;
  return (Wide) offset * 8 + low >= 0 && (Wide) offset * 8 + high <= (Wide) size * 8;
}

/* A layout refuses extents and steps that would overflow, even if there is no element. */
static gboolean
is_beyond_layouts (const gint64 *shape,
                   const gint64 *strides,
                   gsize         n_dims)
{
  for (gsize i = 0; i < n_dims; i++)
    if (ABS (shape[i]) > 1 << 18 || ABS (strides[i]) > 1 << 18)
      return TRUE;

  return FALSE;
}

/* Touches what the elements lie in. */
static guint
add_up (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  gint64 first[64], last[64];
  guint sum;

  if (mtl_strided_view_get_volume (view) == 0)
    return 0;

  for (gsize i = 0; i < n_dims; i++)
    {
      gint64 stride = mtl_strided_view_get_strides (view, NULL)[i];

      first[i] = stride < 0 ? shape[i] - 1 : 0;
      last[i] = stride < 0 ? 0 : shape[i] - 1;
    }
  sum = mtl_strided_view_get_uint64 (view, first, n_dims, &error);
  g_assert_no_error (error);
  sum += mtl_strided_view_get_uint64 (view, last, n_dims, &error);
  g_assert_no_error (error);
  return sum;
}

/* Random descriptions, extremes included. Those whose elements are all within the file are views,
 * and no others. */
static void
test_random_descriptions (void)
{
  static const guint bits[] = { 8, 16, 32, 64 };
  guint n_fds = count_fds ();
  g_autoptr (GUnixFDList) fds = make_fd_list ();
  guint8 inline_bytes[100] = { 0 };
  gint64 end = get_end ();
  guint n_views = 0, n = 0, sum = 0;

  for (; g_get_monotonic_time () < end || n < 10000; n++)
    {
      gsize n_dims = pick (0, 4);
      gint64 shape[4], strides[4];
      guint64 offset = happens (50) ? (guint64) pick (0, 10010) : (guint64) draw_number ();
      guint item_bits = bits[pick (0, 3)];
      gboolean is_inline = happens (20), is_negative = FALSE;
      GVariant *memory;
      g_autoptr (GVariant) variant = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      g_autoptr (GError) error = NULL;
      gboolean is_right;

      for (gsize k = 0; k < n_dims; k++)
        {
          shape[k] = happens (80) ? pick (0, 20) : draw_number ();
          strides[k] = draw_number ();
          is_negative |= shape[k] < 0;
        }
      memory = is_inline ? g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, inline_bytes, 100, 1)
                         : g_variant_new_handle (0);
      variant = g_variant_ref_sink (
          g_variant_new ("(vtyyq@ax@axa{sv})", memory, offset, 1, item_bits, 1,
                         g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, shape, n_dims, 8),
                         g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, strides, n_dims, 8),
                         NULL));
      is_right = !is_negative
                 && lie_within (offset, item_bits, shape, strides, n_dims,
                                is_inline ? 100 : 10000);
      view = mtl_strided_view_new_from_variant_fds (variant, fds, &error);
      if (view == NULL)
        {
          g_assert_error (error, MTL_ERROR, MTL_ERROR_INVALID_DATA);
          /* Where no memory is touched, or the same again, numbers may still exceed a layout's. */
          g_assert_true (!is_right || is_beyond_layouts (shape, strides, n_dims));
          continue;
        }
      g_assert_true (is_right);
      sum += add_up (view);
      n_views++;
    }

  g_test_message ("%u of %u are views, %u", n_views, n, sum);
  g_assert_cmpuint (n_views, >, n / 100);
  g_clear_object (&fds);
  g_assert_cmpuint (count_fds (), ==, n_fds);
  g_assert_cmpuint (count_mappings (), ==, 0);
}

/* Any bytes at all in place of a description. */
static void
test_mutated_descriptions (void)
{
  guint n_fds = count_fds ();
  g_autoptr (GUnixFDList) fds = make_fd_list ();
  gint64 end = get_end ();
  guint n_views = 0, n = 0, sum = 0;

  while (g_get_monotonic_time () < end || n < 10000)
    {
      g_autoptr (GVariant) whole = g_variant_ref_sink (g_variant_new_parsed (
          happens (50) ? "(<handle 0>, uint64 40, byte 1, byte 16, uint16 1, [int64 3, 5], "
                         "[int64 -4, 7], {'release': <handle 1>, 'name': <'x'>})"
                       : "(<@ay [1, 2, 3, 4, 5, 6, 7, 8]>, uint64 0, byte 1, byte 8, uint16 2, "
                         "[int64 2, 2], [int64 2, 1], {'needs': <['name']>, 'padded': <false>})"));
      gsize size = g_variant_get_size (whole);
      guint8 *data = g_malloc (size);
      g_autoptr (GVariant) variant = NULL;
      g_autoptr (MtlStridedView) view = NULL;
      GError *error = NULL;

      g_variant_store (whole, data);
      for (int k = pick (0, 4); k > 0; k--)
        data[pick (0, size - 1)] = happens (50) ? g_test_rand_int () : pick (0, 8);
      if (happens (20))
        size = pick (0, size);
      variant = g_variant_ref_sink (g_variant_new_from_data (
          G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING), data, size, FALSE, g_free, data));
      view = mtl_strided_view_new_from_variant_fds (variant, fds, &error);
      n++;
      if (view == NULL)
        {
          g_assert_nonnull (error);
          g_assert_true (error->domain == MTL_ERROR);
          g_clear_error (&error);
          continue;
        }
      n_views++;
      if (mtl_strided_view_get_dtype (view) == MTL_DTYPE_UINT16
          && mtl_strided_view_get_lanes (view) == 1)
        sum += add_up (view);
    }

  g_test_message ("%u of %u are views, %u", n_views, n, sum);
  g_assert_cmpuint (n_views, >, n / 100);
  g_clear_object (&fds);
  g_assert_cmpuint (count_fds (), ==, n_fds);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor-variant/drawn-layouts", test_drawn_layouts);
  g_test_add_func ("/tensor-variant/many-dims", test_many_dims);
  g_test_add_func ("/tensor-variant/places", test_places);
  g_test_add_func ("/tensor-variant/not-normal", test_not_normal);
  g_test_add_func ("/tensor-variant/repeated", test_repeated);
  g_test_add_func ("/tensor-variant/lanes-and-padding", test_lanes_and_padding);
  g_test_add_func ("/tensor-variant/limit", test_limit);
  g_test_add_func ("/tensor-variant/bit-offset", test_bit_offset);
  g_test_add_func ("/tensor-variant/extras", test_extras);
  g_test_add_func ("/tensor-variant/large-extras", test_large_extras);
  g_test_add_func ("/tensor-variant/large-extras-of-a-peer", test_large_extras_of_a_peer);
  g_test_add_func ("/tensor-variant/keys-of-messages", test_keys_of_messages);
  g_test_add_func ("/tensor-variant/messages", test_messages);
  g_test_add_func ("/tensor-variant/refused", test_refused);
  g_test_add_func ("/tensor-variant/release", test_release);
  g_test_add_func ("/tensor-variant/random-descriptions", test_random_descriptions);
  g_test_add_func ("/tensor-variant/mutated-descriptions", test_mutated_descriptions);

  return g_test_run ();
}
