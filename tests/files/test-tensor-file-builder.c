/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Views written to files of tensors, and read again. */

#include "test-tensor-file-builders.h"

#include "dlpack-producer.h"

static void
add_converted (MtlTensorFileBuilder *builder,
               const char           *name,
               MtlStridedView       *view,
               MtlDType              dtype)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (mtl_tensor_file_builder_add_converted (builder, name, view, dtype, &error));
  g_assert_no_error (error);
}

#define assert_not_written(builder, file, code, value) \
  assert_refuses (mtl_tensor_file_builder_write ((builder), (file), NULL, NULL, NULL, &error), \
                  (code), (value))

/* Makes a matrix of bytes that tell where they stand, whatever they mean. */
static MtlStridedView *
new_matrix (MtlDType dtype,
            gint64   n_rows,
            gint64   n_columns)
{
  g_autoptr (GError) error = NULL;
  gsize size = (n_rows * n_columns * mtl_dtype_get_bits (dtype) + 7) / 8;
  guint8 *data = g_malloc (size);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);
  MtlStridedView *view;

  for (gsize i = 0; i < size; i++)
    data[i] = get_pattern_byte (i);
  view = mtl_strided_view_new_from_bytes (bytes, dtype, DIMS (n_rows, n_columns), &error);
  g_assert_no_error (error);
#ifdef TEST_DEVICE_MEMORY
  view = test_move (view, &error);
  g_assert_no_error (error);
#endif
  return view;
}

static GBytes *
dup_bytes (MtlStridedView *view)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = mtl_strided_view_dup_bytes (view, NULL, &error);

  g_assert_no_error (error);
  return bytes;
}

/* Elements in C order, byte for byte, and where they came to be on the disk. */
static void
assert_same_bytes (MtlTensorFile  *tensors,
                   const char     *name,
                   MtlStridedView *expected)
{
  g_autoptr (MtlStridedView) view = get_view (tensors, name);
  g_autoptr (GBytes) actual_bytes = dup_bytes (view);
  g_autoptr (GBytes) expected_bytes = dup_bytes (expected);

  g_assert_cmpint (mtl_strided_view_get_dtype (view), ==, mtl_strided_view_get_dtype (expected));
  g_assert_true (g_bytes_equal (actual_bytes, expected_bytes));
}

static void
test_strided (TestFolder    *folder,
              gconstpointer  data)
{
  static const char *const slices[] = {
    "...", "::2", "::-1", ":,::3", ":,::-1", "1:,2:7", "3", ":,4", "::-2,::-2", "2:2",
    "None,:,None",
  };
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) matrix = new_matrix (MTL_DTYPE_INT16, 13, 11);
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (matrix);
  g_autoptr (MtlTensorFile) tensors = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      g_autoptr (MtlStridedView) part = slice (matrix, slices[i]);

      add (builder, slices[i], part);
    }
  add (builder, "turned", turned);
  write_tensors (builder, file);

  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  for (guint i = 0; i < G_N_ELEMENTS (slices); i++)
    {
      g_autoptr (MtlStridedView) part = slice (matrix, slices[i]);

      assert_same_bytes (tensors, slices[i], part);
    }
  assert_same_bytes (tensors, "turned", turned);
}

static gboolean
fills_bytes (MtlStridedView *view)
{
  guint bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));

  return mtl_strided_view_get_volume (view) * bits % 8 == 0;
}

/* More than a piece, in all ways of taking one from them: by rows, within rows, and
 * with the rest in the midst of a byte. */
static void
test_pieces (TestFolder    *folder,
             gconstpointer  data)
{
  static const char *const slices[] = { "...", "::-1", ":,:-5", ":,::2", ":,5:" };
  static const struct
  {
    MtlDType dtype;
    gint64 n_rows;
    gint64 n_columns;
  } cases[] = {
    { MTL_DTYPE_FLOAT32, 1100, 1111 },
    { MTL_DTYPE_UINT8, 3, 4200000 },
    { MTL_DTYPE_FLOAT64, 700001, 1 },
    { MTL_DTYPE_FLOAT4_E2M1FN, 2, 8500001 },
    { MTL_DTYPE_FLOAT6_E2M3FN, 4, 5600001 },
    { MTL_DTYPE_FLOAT4_E2M1FN, 3002, 3003 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GFile) file = get_file (folder, "file");
      g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
      g_autoptr (MtlStridedView) matrix = new_matrix (cases[i].dtype, cases[i].n_rows,
                                                      cases[i].n_columns);
      g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (matrix);
      g_autoptr (MtlTensorFile) tensors = NULL;

      for (guint j = 0; j < G_N_ELEMENTS (slices); j++)
        {
          g_autoptr (MtlStridedView) part = slice (matrix, slices[j]);

          if (fills_bytes (part))
            add (builder, slices[j], part);
        }
      add (builder, "turned", turned);
      write_tensors (builder, file);

      tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
      assert_same_bytes (tensors, "turned", turned);
      for (guint j = 0; j < G_N_ELEMENTS (slices); j++)
        {
          g_autoptr (MtlStridedView) part = slice (matrix, slices[j]);

          if (fills_bytes (part))
            assert_same_bytes (tensors, slices[j], part);
        }
    }
}

static void
test_converted (TestFolder    *folder,
                gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) numbers =
    mtl_strided_view_new_from_doubles (DOUBLES (1.5, -2, 300, 0.1), MTL_DTYPE_FLOAT64, DIMS (2, 2),
                                       NULL);
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (numbers);
  g_autoptr (MtlStridedView) opaque = new_zeros (MTL_DTYPE_OPAQUE_HANDLE16, DIMS (2));
  g_autoptr (MtlTensorFile) tensors = NULL;

  add_converted (builder, "int", numbers, MTL_DTYPE_INT16);
  add_converted (builder, "half", turned, MTL_DTYPE_BFLOAT16);
  add_converted (builder, "same", turned, MTL_DTYPE_FLOAT64);
  assert_refuses (mtl_tensor_file_builder_add_converted (builder, "int", numbers, MTL_DTYPE_INT8,
                                                         &error),
                  MTL_ERROR_INVALID_ARGUMENT, "“int”");
  assert_refuses (mtl_tensor_file_builder_add_converted (builder, "x", numbers, (MtlDType) 77,
                                                         &error),
                  MTL_ERROR_INVALID_ARGUMENT, "0x4d");
  assert_refuses (mtl_tensor_file_builder_add_converted (builder, "x", opaque, MTL_DTYPE_INT8,
                                                         &error),
                  MTL_ERROR_NOT_SUPPORTED, "opaque_handle16");
  write_tensors (builder, file);

  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  assert_tensor (tensors, "int", 1, -2, 300, 0);
  assert_tensor (tensors, "half", 1.5, 300, -2, 0.10009765625);
  assert_same_bytes (tensors, "same", turned);
}

/* Imports a tensor of a type that only other libraries have. */
static MtlStridedView *
import (Producer   *producer,
        DLDataType  type)
{
  g_autoptr (GError) error = NULL;
  MtlStridedView *view;

  producer->versioned.dl_tensor.dtype = type;
  view = mtl_strided_view_new_take_dlpack (&producer->versioned, &error);
  g_assert_no_error (error);
  return view;
}

static void
test_lanes (TestFolder    *folder,
            gconstpointer  data)
{
  Producer producer;
  gint64 ones[64];
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) pairs = NULL;
  g_autoptr (MtlStridedView) turned = NULL;
  g_autoptr (MtlStridedView) deep = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;

  producer_init (&producer);
  pairs = import (&producer, (DLDataType) { 2, 32, 2 });
  turned = mtl_strided_view_transpose (pairs);
  add (builder, "pairs", pairs);
  add (builder, "turned", turned);
  add_converted (builder, "bytes", turned, MTL_DTYPE_UINT8);
  write_tensors (builder, file);

  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  assert_tensor (tensors, "pairs", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  assert_tensor (tensors, "turned", 0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11);
  assert_tensor (tensors, "bytes", 0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11);

  for (guint i = 0; i < 64; i++)
    ones[i] = i < 2 ? i + 2 : 1;
  deep = mtl_strided_view_reshape (pairs, ones, 64, NULL);
  add (builder, "deep", deep);
  assert_not_written (builder, file, MTL_ERROR_NOT_SUPPORTED, "“deep” & 2 & 64");
}

/* Elements of 4 bits that have a byte each are packed. */
static void
test_padded (TestFolder    *folder,
             gconstpointer  data)
{
  static guint8 bytes[] = { 1, 2, 3, 4, 5, 6 };
  Producer producer;
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) padded = NULL;
  g_autoptr (MtlStridedView) integers = NULL;
  g_autoptr (MtlTensorFile) tensors = NULL;

  producer_init (&producer);
  producer.versioned.dl_tensor.data = bytes;
  producer.versioned.flags = DL_PADDED;
  padded = import (&producer, (DLDataType) { 17, 4, 1 });
  add (builder, "padded", padded);
  write_tensors (builder, file);

  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  assert_tensor (tensors, "padded", 0.5, 1, 1.5, 2, 3, 4);

  integers = import (&producer, (DLDataType) { 0, 4, 1 });
  add (builder, "integers", integers);
  assert_not_written (builder, file, MTL_ERROR_NOT_SUPPORTED, "“integers” & safetensors & int4");
}

static void
test_names (TestFolder    *folder,
            gconstpointer  data)
{
  static const char *const names[] = { "", "a", "A", "\"\\/\b\f\n\r\t\x01\x1f\x7f", "é€𝄞",
                                       "../../x", "model.layers.0.weight" };
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) view = new_bytes (3);
  g_autoptr (MtlTensorFile) tensors = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    add (builder, names[i], view);
  assert_refuses (mtl_tensor_file_builder_add (builder, "a", view, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "“a” & 7");
  assert_refuses (mtl_tensor_file_builder_add (builder, "__metadata__", view, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "“__metadata__”");
  assert_refuses (mtl_tensor_file_builder_add (builder, "\xff", view, &error),
                  MTL_ERROR_INVALID_ARGUMENT, "“\\xff” & UTF-8");
  write_tensors (builder, file);

  tensors = open_file (file, MTL_TENSOR_FILE_MODE_READ);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    assert_tensor (tensors, names[i], 0, 1, 2);
}

static void
test_metadata (TestFolder    *folder,
               gconstpointer  data)
{
  static const char *const expected[] = { "", "a\n", "format", NULL };
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autofree const char **keys = NULL;

  set_metadata (builder, "format", "np");
  set_metadata (builder, "gone", "x");
  set_metadata (builder, "a\n", "\"\\");
  set_metadata (builder, "", "");
  set_metadata (builder, "format", "pt");
  set_metadata (builder, "gone", NULL);
  set_metadata (builder, "never", NULL);
  assert_refuses (mtl_tensor_file_builder_set_metadata (builder, "\xff", "x", &error),
                  MTL_ERROR_INVALID_ARGUMENT, "“\\xff” & UTF-8");
  assert_refuses (mtl_tensor_file_builder_set_metadata (builder, "x", "\xfe", &error),
                  MTL_ERROR_INVALID_ARGUMENT, "“\\xfe” & UTF-8");
  write_tensors (builder, file);

  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  keys = mtl_tensor_file_list_metadata_keys (tensors);
  g_assert_cmpstrv ((char **) keys, (char **) expected);
  g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "format"), ==, "pt");
  g_assert_cmpstr (mtl_tensor_file_lookup_metadata (tensors, "a\n"), ==, "\"\\");
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (tensors)), ==, 0);
}

/* 7 bytes, 3, 16 KiB, none, 48, 32 KiB. */
static MtlTensorFileBuilder *
new_odd_sizes (void)
{
  static const gint64 sizes[] = { 7, 3, 16384, 0, 48, 32768 };
  MtlTensorFileBuilder *builder = mtl_tensor_file_builder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *name = g_strdup_printf ("%" G_GINT64_FORMAT, sizes[i]);
      g_autoptr (MtlStridedView) view = new_matrix (MTL_DTYPE_UINT8, 1, sizes[i]);

      add (builder, name, view);
    }
  return builder;
}

static void
test_order (TestFolder    *folder,
            gconstpointer  data)
{
  static const char *const added[] = { "7", "3", "16384", "48", "32768" };
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = new_odd_sizes ();
  g_autoptr (MtlTensorFile) tensors = NULL;
  guint64 place;

  g_assert_cmpint (mtl_tensor_file_builder_get_order (builder), ==, MTL_TENSOR_FILE_ORDER_ALIGNED);
  write_tensors (builder, file);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  place = get_place (tensors, "16384");
  g_assert_cmpuint (place % 64, ==, 0);
  g_assert_cmpuint (get_place (tensors, "32768"), ==, place + 16384);
  g_assert_cmpuint (get_place (tensors, "48"), ==, place + 49152);
  g_assert_cmpuint (get_place (tensors, "7"), ==, place + 49200);
  g_assert_cmpuint (get_place (tensors, "3"), ==, place + 49207);
  g_clear_object (&tensors);

  mtl_tensor_file_builder_set_order (builder, MTL_TENSOR_FILE_ORDER_ADDED);
  write_tensors (builder, file);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  place = get_place (tensors, "7");
  for (guint i = 0; i < G_N_ELEMENTS (added); i++)
    {
      g_assert_cmpuint (get_place (tensors, added[i]), ==, place);
      place += g_ascii_strtoull (added[i], NULL, 10);
    }
}

static void
test_alignment (TestFolder    *folder,
                gconstpointer  data)
{
  static const guint alignments[] = { 1, 2, 64, 4096, 16384, 1 << 20 };
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = new_odd_sizes ();
  g_autoptr (MtlStridedView) large = new_matrix (MTL_DTYPE_UINT8, 1, 1 << 20);

  g_assert_cmpuint (mtl_tensor_file_builder_get_alignment (builder), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (alignments); i++)
    {
      g_autoptr (MtlTensorFile) tensors = NULL;

      mtl_tensor_file_builder_set_alignment (builder, alignments[i]);
      g_assert_cmpuint (mtl_tensor_file_builder_get_alignment (builder), ==, alignments[i]);
      write_tensors (builder, file);
      tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
      g_assert_cmpuint (get_place (tensors, "16384") % alignments[i], ==, 0);
    }

  /* Tensors of a page or more are aligned to pages, for GPUs. */
  mtl_tensor_file_builder_set_alignment (builder, 0);
  add (builder, "large", large);
  write_tensors (builder, file);
  for (guint i = 0; i < 3; i++)
    {
      static const char *const names[] = { "large", "16384", "32768" };
      g_autoptr (MtlTensorFile) tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);

      g_assert_cmpuint (get_place (tensors, names[i]) % 16384, ==, 0);
    }
}

static void
on_notify (GObject    *object,
           GParamSpec *pspec,
           gpointer    names)
{
  g_string_append_printf (names, "%s ", pspec->name);
}

static void
assert_format (TestFolder          *folder,
               const char          *name,
               MtlTensorFileFormat  expected)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) view = new_matrix (MTL_DTYPE_INT32, 3, 5);
  g_autoptr (GFile) file = get_file (folder, name);
  g_autoptr (MtlTensorFile) tensors = NULL;

  add (builder, "x", view);
  write_tensors (builder, file);
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_assert_cmpint (mtl_tensor_file_get_format (tensors), ==, expected);
}

static void
assert_ending_is_refused (TestFolder *folder,
                          const char *name,
                          const char *told)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) view = new_matrix (MTL_DTYPE_INT32, 3, 5);
  g_autoptr (GFile) file = get_file (folder, name);

  add (builder, "x", view);
  assert_not_written (builder, file, MTL_ERROR_INVALID_ARGUMENT, told);
  g_assert_false (g_file_query_exists (file, NULL));

  /* A format that was set counts, whatever the name. */
  mtl_tensor_file_builder_set_format (builder, MTL_TENSOR_FILE_FORMAT_SAFETENSORS);
  write_tensors (builder, file);
}

static void
test_endings (TestFolder    *folder,
              gconstpointer  data)
{
  static const char *const safetensors[] = {
    "a.safetensors", "A.SAFETENSORS", "b.npy.safetensors", "c.pt.SafeTensors", "plain",
    "model-v1.5", "qwen2.5-0.5b", "a. b", "dot.", ".hidden", ".safetensors", "npy", "xnpy",
    "a.long_word", "a.abcdefghijklmnop", "x.\303\274",
  };
  static const char *const npy[] = { "a.npy", "A.NPY", "b.safetensors.npy", ".npy", "..nPy" };
  static const char *const foreign[] = {
    "o.pt", "o.PT", "o.pth", "o.bin", "o.gguf", "o.h5", "o.onnx", "o.ckpt", "o.pkl", "o.json",
    "o.tmp", "o.safetensors.gz", "o.npy.zip", "o.x", "o.abcdefghijklmno", ".a.pt",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (safetensors); i++)
    assert_format (folder, safetensors[i], MTL_TENSOR_FILE_FORMAT_SAFETENSORS);
  for (gsize i = 0; i < G_N_ELEMENTS (npy); i++)
    assert_format (folder, npy[i], MTL_TENSOR_FILE_FORMAT_NPY);
  for (gsize i = 0; i < G_N_ELEMENTS (foreign); i++)
    {
      g_autofree char *told = g_strdup_printf ("%s” & %s & .safetensors & .npy", foreign[i],
                                               strrchr (foreign[i], '.'));

      assert_ending_is_refused (folder, foreign[i], told);
    }
  assert_ending_is_refused (folder, "o.npz", "o.npz” & .npz");
  assert_ending_is_refused (folder, "m.safetensors.index.json",
                            "m.safetensors.index.json” & write_shards() & .safetensors & .npy");
  assert_ending_is_refused (folder, "M.Safetensors.Index.JSON",
                            "M.Safetensors.Index.JSON” & write_shards() & .safetensors & .npy");
}

/* Files with and without sync do not differ in anything else that can be seen. */
static void
test_sync (TestFolder    *folder,
           gconstpointer  data)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) view = new_matrix (MTL_DTYPE_INT32, 3000, 5000);
  g_autoptr (GFile) synced = get_file (folder, "synced");
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (GFile) index = get_file (folder, "m.safetensors.index.json");
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autoptr (GBytes) expected = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  add (builder, "x", view);
  g_assert_true (mtl_tensor_file_builder_get_sync (builder));
  write_tensors (builder, synced);
  mtl_tensor_file_builder_set_sync (builder, FALSE);
  g_assert_false (mtl_tensor_file_builder_get_sync (builder));
  write_tensors (builder, file);
  write_tensors (builder, file);

  expected = g_file_load_bytes (synced, NULL, NULL, &error);
  g_assert_no_error (error);
  bytes = g_file_load_bytes (file, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, expected));

  g_assert_true (mtl_tensor_file_builder_write_shards (builder, index, 100, NULL, NULL, NULL,
                                                       &error));
  g_assert_no_error (error);
  tensors = open_file (index, MTL_TENSOR_FILE_MODE_MAP);
  assert_same_bytes (tensors, "x", view);
}

static void
test_properties (TestFolder    *folder,
                 gconstpointer  data)
{
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (GString) names = g_string_new (NULL);
  MtlTensorFileFormat format;
  MtlTensorFileOrder order;
  guint alignment;
  gboolean sync;

  g_object_get (builder, "format", &format, "sync", &sync, NULL);
  g_assert_cmpint (format, ==, MTL_TENSOR_FILE_FORMAT_AUTO);
  g_assert_true (sync);
  g_signal_connect (builder, "notify", G_CALLBACK (on_notify), names);
  for (guint i = 0; i < 2; i++)
    {
      g_object_set (builder, "format", MTL_TENSOR_FILE_FORMAT_NPY, NULL);
      g_object_set (builder, "order", MTL_TENSOR_FILE_ORDER_ADDED, NULL);
      g_object_set (builder, "alignment", 128, NULL);
      g_object_set (builder, "sync", FALSE, NULL);
    }
  g_assert_cmpstr (names->str, ==, "format order alignment sync ");
  g_object_get (builder, "format", &format, "order", &order, "alignment", &alignment,
                "sync", &sync, NULL);
  g_assert_false (sync);
  g_assert_cmpint (format, ==, MTL_TENSOR_FILE_FORMAT_NPY);
  g_assert_cmpint (order, ==, MTL_TENSOR_FILE_ORDER_ADDED);
  g_assert_cmpuint (alignment, ==, 128);
}

static void
test_refused (TestFolder    *folder,
              gconstpointer  data)
{
  Producer producer;
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFileBuilder) odd = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFileBuilder) huge = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFileBuilder) elsewhere = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFileBuilder) narrow = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) integers = new_zeros (MTL_DTYPE_INT4, DIMS (2));
  g_autoptr (MtlStridedView) complex = new_zeros (MTL_DTYPE_COMPLEX128, DIMS (2));
  g_autoptr (MtlStridedView) packed = new_zeros (MTL_DTYPE_FLOAT4_E2M1FN, DIMS (3));
  g_autoptr (MtlStridedView) one = new_zeros (MTL_DTYPE_FLOAT64, DIMS (1));
  g_autoptr (MtlStridedView) repeated =
    mtl_strided_view_broadcast_to (one, DIMS (POW2 (30), POW2 (27)), NULL);
  g_autoptr (MtlStridedView) foreign = NULL;

  add (builder, "a complex one\n", complex);
  assert_not_written (builder, file, MTL_ERROR_NOT_SUPPORTED,
                      "“a complex one\\n” & safetensors & complex128");
  add (narrow, "narrow", integers);
  assert_not_written (narrow, file, MTL_ERROR_NOT_SUPPORTED, "“narrow” & safetensors & int4");
  mtl_tensor_file_builder_set_format (narrow, MTL_TENSOR_FILE_FORMAT_NPY);
  assert_not_written (narrow, file, MTL_ERROR_NOT_SUPPORTED, "“narrow” & .npy & int4");
  add (odd, "odd", packed);
  assert_not_written (odd, file, MTL_ERROR_INVALID_DATA, "“odd” & (3,) & 4 & 12");
  for (guint i = 0; i < 4; i++)
    add (huge, (const char *[]) { "a", "b", "c", "d" }[i], repeated);
  assert_not_written (huge, file, MTL_ERROR_OVERFLOW,
                      "“d” & 1152921504606846976 & 4611686018427387903");
  producer_init (&producer);
  producer.versioned.dl_tensor.device = (DLDevice) { 7, 1 };
  foreign = import (&producer, (DLDataType) { 2, 32, 1 });
  add (elsewhere, "elsewhere", foreign);
  assert_not_written (elsewhere, file, MTL_ERROR_NOT_HOST_ACCESSIBLE, "“elsewhere”");
  mtl_tensor_file_builder_set_format (odd, MTL_TENSOR_FILE_FORMAT_NPZ);
  assert_not_written (odd, file, MTL_ERROR_NOT_SUPPORTED, ".npz");
  g_assert_false (g_file_query_exists (file, NULL));
}

static void
test_header_limit (TestFolder    *folder,
                   gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autofree char *value = g_malloc (100000001);

  memset (value, 'x', 100000000);
  value[100000000 - 1000] = '\0';
  set_metadata (builder, "a", value);
  write_tensors (builder, file);
  value[100000000 - 1000] = 'x';
  value[100000000] = '\0';
  set_metadata (builder, "a", value);
  assert_not_written (builder, file, MTL_ERROR_NOT_SUPPORTED, "100000000");
}

static void
test_npy (TestFolder    *folder,
          gconstpointer  data)
{
  g_autoptr (GFile) file = get_file (folder, "file");
  g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
  g_autoptr (MtlStridedView) matrix = new_matrix (MTL_DTYPE_INT32, 3, 5);
  g_autoptr (MtlStridedView) turned = mtl_strided_view_transpose (matrix);
  g_autoptr (MtlStridedView) half = new_zeros (MTL_DTYPE_BFLOAT16, DIMS (2));
  g_autoptr (MtlTensorFileBuilder) other = mtl_tensor_file_builder_new ();
  g_autoptr (MtlTensorFile) tensors = NULL;
  g_autoptr (MtlStridedView) view = NULL;

  mtl_tensor_file_builder_set_format (builder, MTL_TENSOR_FILE_FORMAT_NPY);
  g_assert_cmpint (mtl_tensor_file_builder_get_format (builder), ==, MTL_TENSOR_FILE_FORMAT_NPY);
  assert_not_written (builder, file, MTL_ERROR_INVALID_ARGUMENT, "0");
  add (builder, "any name", turned);
  write_tensors (builder, file);

  /* The elements have the order that they had in memory. */
  tensors = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
  g_assert_cmpint (mtl_tensor_file_get_format (tensors), ==, MTL_TENSOR_FILE_FORMAT_NPY);
  g_assert_cmpuint (get_place (tensors, "") % 64, ==, 0);
  view = get_view (tensors, "");
  assert_same_bytes (tensors, "", turned);
  assert_view_strides (view, 1, 5);

  for (guint alignment = 64; alignment <= 65536; alignment *= 2)
    {
      g_autoptr (MtlTensorFile) aligned = NULL;

      mtl_tensor_file_builder_set_alignment (builder, alignment);
      write_tensors (builder, file);
      aligned = open_file (file, MTL_TENSOR_FILE_MODE_MAP);
      g_assert_cmpuint (get_place (aligned, "") % alignment, ==, 0);
      assert_same_bytes (aligned, "", turned);
    }
  mtl_tensor_file_builder_set_alignment (builder, 131072);
  assert_not_written (builder, file, MTL_ERROR_NOT_SUPPORTED, "131072");
  mtl_tensor_file_builder_set_alignment (builder, 0);
  set_metadata (builder, "format", "pt");
  assert_not_written (builder, file, MTL_ERROR_NOT_SUPPORTED, "1");
  set_metadata (builder, "format", NULL);
  add (builder, "two", matrix);
  assert_not_written (builder, file, MTL_ERROR_INVALID_ARGUMENT, "2");

  mtl_tensor_file_builder_set_format (other, MTL_TENSOR_FILE_FORMAT_NPY);
  add (other, "half", half);
  assert_not_written (other, file, MTL_ERROR_NOT_SUPPORTED, "“half” & .npy & bfloat16");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_folder_test ("/TensorFileBuilder/endings", test_endings);
  add_folder_test ("/TensorFileBuilder/sync", test_sync);
  add_folder_test ("/TensorFileBuilder/strided", test_strided);
  add_folder_test ("/TensorFileBuilder/pieces", test_pieces);
  add_folder_test ("/TensorFileBuilder/converted", test_converted);
  add_folder_test ("/TensorFileBuilder/lanes", test_lanes);
  add_folder_test ("/TensorFileBuilder/padded", test_padded);
  add_host_folder_test ("/TensorFileBuilder/names", test_names);
  add_host_folder_test ("/TensorFileBuilder/metadata", test_metadata);
  add_host_folder_test ("/TensorFileBuilder/order", test_order);
  add_host_folder_test ("/TensorFileBuilder/alignment", test_alignment);
  add_host_folder_test ("/TensorFileBuilder/properties", test_properties);
  add_folder_test ("/TensorFileBuilder/refused", test_refused);
  add_host_folder_test ("/TensorFileBuilder/header-limit", test_header_limit);
  add_folder_test ("/TensorFileBuilder/npy", test_npy);

  return g_test_run ();
}
