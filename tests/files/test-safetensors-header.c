/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rules one by one; tests/files/corpus has all kinds of odd files, and another reader's
 * verdicts. */

#include "test-utils.h"

#include "mtl-element-type-private.h"
#include "mtl-safetensors-header-private.h"

#define FIELDS(dtype, shape, offsets) \
  "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define F32 FIELDS ("F32", "[2]", "[0,8]")

static MtlTensorTable *
parse (const char  *header,
       guint64      data_size,
       GError     **error)
{
  gsize size = strlen (header);

  return mtl_safetensors_header_parse (header, size, 8 + size + data_size, error);
}

static void
test_entries (void)
{
  static const char header[] =
    "{\"second\":" FIELDS ("BF16", "[2,3]", "[8,20]") ",\"__metadata__\":{\"format\":\"pt\","
    "\"\\u00e9\":\"\"},\"first\":" F32 ",\"empty\":" FIELDS ("I64", "[4,0]", "[8,8]")
    ",\"scalar\":{\"data_offsets\":[20,21],\"x\":[{}],\"dtype\":\"BOOL\",\"shape\":[]}}  ";
  static const char *const names[] = { "first", "empty", "second", "scalar" };
  GError *error = NULL;
  g_autoptr (MtlTensorTable) table = parse (header, 21, &error);
  guint64 begin = 8 + strlen (header);
  const MtlTensorEntry *entry;

  g_assert_no_error (error);
  g_assert_cmpuint (table->n_entries, ==, 4);
  for (gsize i = 0; i < 4; i++)
    g_assert_cmpstr (table->entries[i].name, ==, names[i]);

  entry = mtl_tensor_table_lookup (table, "second");
  g_assert_cmpint (entry->dtype, ==, MTL_DTYPE_BFLOAT16);
  assert_dims (entry->shape, entry->n_dims, 2, 3);
  g_assert_cmpuint (entry->begin, ==, begin + 8);
  g_assert_cmpuint (entry->end, ==, begin + 20);
  g_assert_cmpint (entry->order, ==, MTL_ORDER_C);

  entry = mtl_tensor_table_lookup (table, "scalar");
  g_assert_cmpint (entry->dtype, ==, MTL_DTYPE_BOOL);
  g_assert_cmpuint (entry->n_dims, ==, 0);
  g_assert_cmpuint (entry->end, ==, begin + 21);

  g_assert_null (mtl_tensor_table_lookup (table, "third"));
  g_assert_null (mtl_tensor_table_lookup (table, ""));
  g_assert_cmpuint (table->n_metadata, ==, 2);
  g_assert_cmpstr (mtl_tensor_table_lookup_metadata (table, "format"), ==, "pt");
  g_assert_cmpstr (mtl_tensor_table_lookup_metadata (table, "\303\251"), ==, "");
  g_assert_null (mtl_tensor_table_lookup_metadata (table, "first"));
}

static void
test_no_tensors (void)
{
  static const char *const headers[] = {
    "{}", "{} \n\t", "{\"__metadata__\":{}}", "{\"__metadata__\":null}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (headers); i++)
    {
      GError *error = NULL;
      g_autoptr (MtlTensorTable) table = parse (headers[i], 0, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (table->n_entries, ==, 0);
      g_assert_cmpuint (table->n_metadata, ==, 0);
      g_assert_null (mtl_tensor_table_lookup (table, "a"));
    }
}

/* The format's names, both ways, and the bytes of 4 elements. */
static void
test_dtypes (void)
{
  static const struct
  {
    const char *name;
    MtlDType dtype;
  } dtypes[] = {
    { "BOOL", MTL_DTYPE_BOOL }, { "F4", MTL_DTYPE_FLOAT4_E2M1FN },
    { "F6_E2M3", MTL_DTYPE_FLOAT6_E2M3FN }, { "F6_E3M2", MTL_DTYPE_FLOAT6_E3M2FN },
    { "U8", MTL_DTYPE_UINT8 }, { "I8", MTL_DTYPE_INT8 }, { "F8_E5M2", MTL_DTYPE_FLOAT8_E5M2 },
    { "F8_E4M3", MTL_DTYPE_FLOAT8_E4M3FN }, { "F8_E8M0", MTL_DTYPE_FLOAT8_E8M0FNU },
    { "F8_E4M3FNUZ", MTL_DTYPE_FLOAT8_E4M3FNUZ }, { "F8_E5M2FNUZ", MTL_DTYPE_FLOAT8_E5M2FNUZ },
    { "I16", MTL_DTYPE_INT16 }, { "U16", MTL_DTYPE_UINT16 }, { "F16", MTL_DTYPE_FLOAT16 },
    { "BF16", MTL_DTYPE_BFLOAT16 }, { "I32", MTL_DTYPE_INT32 }, { "U32", MTL_DTYPE_UINT32 },
    { "F32", MTL_DTYPE_FLOAT32 }, { "C64", MTL_DTYPE_COMPLEX64 }, { "F64", MTL_DTYPE_FLOAT64 },
    { "I64", MTL_DTYPE_INT64 }, { "U64", MTL_DTYPE_UINT64 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      guint size = mtl_dtype_get_bits (dtypes[i].dtype) / 2;
      g_autofree char *header = g_strdup_printf ("{\"a\":" FIELDS ("%s", "[4]", "[0,%u]") "}",
                                                 dtypes[i].name, size);
      GError *error = NULL;
      g_autoptr (MtlTensorTable) table = parse (header, size, &error);

      g_assert_no_error (error);
      g_assert_cmpint (table->entries[0].dtype, ==, dtypes[i].dtype);
      g_assert_cmpstr (mtl_dtype_get_safetensors_name (dtypes[i].dtype), ==, dtypes[i].name);
    }

  g_assert_null (mtl_dtype_get_safetensors_name (MTL_DTYPE_COMPLEX128));
  g_assert_cmpint (mtl_dtype_from_safetensors_name ("F32", 2), ==, MTL_DTYPE_OTHER);
}

static void
test_size_of_the_header (void)
{
  static const struct
  {
    guint64 size;
    guint64 file_size;
    const char *values; /* NULL for valid ones */
  } cases[] = {
    { 2, 10, NULL },
    { 0, 8, NULL },
    { 100000000, 100000008, NULL },
    { 3, 10, "3 & 2" },
    { 100000001, 200000000, "100000001" },
    { G_MAXUINT64, 10, "18446744073709551615" },
  };
  gsize size;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *failure = NULL;
      guint64 prefix = GUINT64_TO_LE (cases[i].size);
      gboolean is_right = mtl_safetensors_header_get_size ((const guint8 *) &prefix, 8,
                                                           cases[i].file_size, &size, &failure);

      g_assert_true (is_right == (cases[i].values == NULL));
      if (is_right)
        g_assert_cmpuint (size, ==, cases[i].size);
      else
        assert_failed (failure, MTL_ERROR_INVALID_DATA, cases[i].values);
    }

  assert_refuses (mtl_safetensors_header_get_size ((const guint8 *) "\2\0\0", 3, 3, &size, &error),
                  MTL_ERROR_INVALID_DATA, "3");
}

static void
test_refused (void)
{
  static const struct
  {
    const char *header;
    guint64 data_size;
    MtlError code;
    const char *values;
  } cases[] = {
    /* The frame. */
    { "", 0, MTL_ERROR_INVALID_DATA, "“{”" },
    { " {}", 0, MTL_ERROR_INVALID_DATA, "“{”" },
    { "{}x", 0, MTL_ERROR_INVALID_DATA, "“x” & 2" },
    { "{}", 8, MTL_ERROR_INVALID_DATA, "0 & 8" },

    /* The places of the bytes. */
    { "{\"a\":" F32 "}", 7, MTL_ERROR_INVALID_DATA, "8 & 7" },
    { "{\"a\":" FIELDS ("F32", "[2]", "[4,12]") "}", 12, MTL_ERROR_INVALID_DATA, "“a” & 4" },
    { "{\"a\":" F32 ",\"b\":" FIELDS ("U8", "[1]", "[9,10]") "}", 10, MTL_ERROR_INVALID_DATA,
      "“b” & 9 & “a” & 8" },
    { "{\"b\":" FIELDS ("U8", "[8]", "[7,15]") ",\"a\":" F32 "}", 15, MTL_ERROR_INVALID_DATA,
      "“b” & 7 & “a” & 8" },
    { "{\"a\":" F32 ",\"b\":" F32 "}", 8, MTL_ERROR_INVALID_DATA, "“b” & 0 & “a” & 8" },
    { "{\"a\":" FIELDS ("F32", "[2]", "[8,0]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & (2,) & F32 & 8 & data_offsets & [8, 0]" },
    { "{\"a\":" FIELDS ("F32", "[3]", "[0,8]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & (3,) & F32 & 12 & data_offsets & [0, 8]" },
    { "{\"a\":" FIELDS ("F4", "[3]", "[0,2]") "}", 2, MTL_ERROR_INVALID_DATA,
      "“a” & (3,) & 4 & 12" },

    /* Numbers. */
    { "{\"a\":" FIELDS ("F32", "[4294967296,4294967296]", "[0,0]") "}", 0, MTL_ERROR_OVERFLOW,
      "“a” & (4294967296, 4294967296) & 32" },
    { "{\"a\":" FIELDS ("F32", "[2,-1]", "[0,8]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & shape & 0 & 18446744073709551615 & “-1”" },
    { "{\"a\":" FIELDS ("F32", "[0,18446744073709551616]", "[0,0]") "}", 0, MTL_ERROR_OVERFLOW,
      "“a” & shape & “18446744073709551616”" },
    { "{\"a\":" FIELDS ("F32", "[0,9223372036854775808]", "[0,4]") "}", 4, MTL_ERROR_INVALID_DATA,
      "“a” & 2 & F32 & data_offsets & [0, 4]" },
    { "{\"a\":" FIELDS ("F4", "[9223372036854775808]", "[0,0]") "}", 0, MTL_ERROR_INVALID_DATA,
      "1" },
    { "{\"a\":" FIELDS ("F32", "[2]", "[0,9223372036854775808]") "}", 0, MTL_ERROR_OVERFLOW,
      "“a” & data_offsets & “9223372036854775808”" },
    { "{\"a\":" FIELDS ("F32", "null", "[0,8]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & shape & “[” & “null”" },
    { "{\"a\":" FIELDS ("F32", "[2]", "8") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & data_offsets & “[” & “8”" },
    { "{\"a\":" FIELDS ("F32", "[2]", "[-8,0]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & data_offsets" },
    { "{\"a\":" FIELDS ("F32", "[2]", "[0]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & data_offsets & 1" },
    { "{\"a\":" FIELDS ("F32", "[2]", "[0,8,8]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & data_offsets" },

    /* Fields. */
    { "{\"a\":[\"F32\",[2],[0,8]]}", 8, MTL_ERROR_INVALID_DATA, "“a” & “{” & “[”" },
    { "{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, MTL_ERROR_INVALID_DATA, "“a” & dtype" },
    { "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & shape" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & data_offsets" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"shape\":[2]}}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & shape" },
    { "{\"a\":" FIELDS ("F7", "[2]", "[8,0]") "}", 8, MTL_ERROR_INVALID_DATA,
      "“a” & data_offsets & [8, 0]" },
    { "{\"a\":" FIELDS ("F7", "[2]", "[0,8]") "}", 9, MTL_ERROR_INVALID_DATA, "8 & 9" },
    { "{\"a\":" FIELDS ("F7", "[2]", "[0,8]") ",\"b\":" FIELDS ("U8", "[8]", "[7,15]") "}", 15,
      MTL_ERROR_INVALID_DATA, "“a” & 8" },
    { "{\"a\":{\"dtype\":{\"F32\":null}}}", 8, MTL_ERROR_INVALID_DATA, "“a” & dtype & “{”" },

    /* Names. */
    { "{\"a\":" F32 ",\"\\u0061\":" F32 "}", 8, MTL_ERROR_INVALID_DATA, "“a”" },
    { "{\"a\\n\\u001b\":1}", 8, MTL_ERROR_INVALID_DATA, "“a\\n\\u001b” & “{”" },
    { "{\"a\\u0000\":" F32 "}", 8, MTL_ERROR_NOT_SUPPORTED, "U+0000" },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, MTL_ERROR_INVALID_DATA, "__metadata__" },
    { "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, MTL_ERROR_INVALID_DATA, "“k”" },
    { "{\"__metadata__\":{\"k\":1}}", 0, MTL_ERROR_INVALID_DATA, "__metadata__ & “1”" },
    { "{\"__metadata__\":{\"k\":\"v\",}}", 0, MTL_ERROR_INVALID_DATA, "__metadata__ & “}”" },
    { "{\"__metadata__\":[]}", 0, MTL_ERROR_INVALID_DATA, "__metadata__ & “{” & “[”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (parse (cases[i].header, cases[i].data_size, &error), cases[i].code,
                  cases[i].values);
}

/* An extent of 0 makes the size 0 without an overflow, wherever it stands. */
static void
test_empty (void)
{
  static const char *const shapes[] = {
    "[0]", "[3,0,2]", "[0,4294967296,4294967296]", "[4294967296,4294967296,0]",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autofree char *header = g_strdup_printf ("{\"a\":" FIELDS ("F32", "%s", "[0,0]") "}",
                                                 shapes[i]);
      GError *error = NULL;
      g_autoptr (MtlTensorTable) table = parse (header, 0, &error);
      g_autoptr (MtlStridedLayout) layout = NULL;

      g_assert_no_error (error);
      layout = mtl_strided_layout_new (table->entries[0].shape, table->entries[0].n_dims, NULL, 0,
                                       32, &error);
      g_assert_no_error (error);
      g_assert_true (mtl_strided_layout_is_empty (layout));
    }
}

static void
check_refused (const MtlTensorEntry *entry,
               const char           *type_name,
               const char           *values)
{
  g_assert_true (entry->is_refused);
  g_assert_cmpstr (entry->refusal->type_name, ==, type_name);
  g_assert_error (&entry->refusal->error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED);
  assert_says (entry->refusal->error.message, values);
  g_assert_cmpint (entry->dtype, ==, MTL_DTYPE_OTHER);
}

static void
test_dimensions (void)
{
  GString *shape = g_string_new ("[1");
  g_autofree char *fits = NULL, *exceeds = NULL, *too_long = NULL;
  g_autoptr (GError) no_error = NULL;
  g_autoptr (MtlTensorTable) table = NULL, exceeding = NULL;

  for (int i = 1; i < 64; i++)
    g_string_append (shape, ",1");
  fits = g_strdup_printf ("{\"a\":" FIELDS ("U8", "%s]", "[0,1]") "}", shape->str);
  exceeds = g_strdup_printf ("{\"a\":" FIELDS ("U8", "%s,3]", "[0,3]") "}", shape->str);
  too_long = g_strdup_printf ("{\"a\":" FIELDS ("U8", "%s,3]", "[0,4]") "}", shape->str);
  g_string_free (shape, TRUE);

  table = parse (fits, 1, &no_error);
  g_assert_no_error (no_error);
  g_assert_cmpuint (table->entries[0].n_dims, ==, 64);

  exceeding = parse (exceeds, 3, &no_error);
  g_assert_no_error (no_error);
  check_refused (&exceeding->entries[0], "uint8", "65 & 64");
  g_assert_null (exceeding->entries[0].shape);
  assert_fails (parse (too_long, 4, &error), MTL_ERROR_INVALID_DATA, "“a” & 65 & U8");
}

/* Other tensors can be loaded. */
static void
test_refused_entries (void)
{
  static const struct
  {
    const char *dtype;
    const char *shape;
    const char *type_name;
    const char *values;
  } cases[] = {
    { "F7", "[2]", "F7", "“F7”" },
    { "f32", "[2]", "f32", "“f32”" },
    { "", "[2]", "", "“”" },
    { "\\u001b\\n", "[2]", "\\u001b\\n", "“\\u001b\\n”" },
    { "F7", "[9223372036854775808]", "F7", "“F7”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *header = g_strdup_printf ("{\"b\":" FIELDS ("U8", "[1]", "[7,8]") ",\"a\":"
                                                 FIELDS ("%s", "%s", "[1,7]") ",\"c\":"
                                                 FIELDS ("U8", "[1]", "[0,1]") "}",
                                                 cases[i].dtype, cases[i].shape);
      GError *error = NULL;
      g_autoptr (MtlTensorTable) table = parse (header, 8, &error);
      const MtlTensorEntry *entry;

      g_assert_no_error (error);
      g_assert_cmpuint (table->n_entries, ==, 3);
      g_assert_false (table->entries[0].is_refused);
      g_assert_false (table->entries[2].is_refused);
      entry = mtl_tensor_table_lookup (table, "a");
      g_assert_true (entry == &table->entries[1]);
      check_refused (entry, cases[i].type_name, cases[i].values);
      g_assert_cmpuint (entry->end - entry->begin, ==, 6);
      if (g_str_equal (cases[i].shape, "[2]"))
        assert_dims (entry->shape, entry->n_dims, 2);
      else
        g_assert_null (entry->shape);
    }
}

/* An extent that fits no other one than the format's own. */
static void
test_refused_extent (void)
{
  GError *error = NULL;
  g_autoptr (MtlTensorTable) table = parse ("{\"a\":" FIELDS ("F32", "[0,9223372036854775808]",
                                                              "[0,0]") "}", 0, &error);

  g_assert_no_error (error);
  check_refused (&table->entries[0], "float32", "9223372036854775808");
}

/* Names that GLib's own hash takes for one: each pair of letters may be either. */
static void
test_names_of_one_hash (void)
{
  GString *header = g_string_new ("{");
  const int n_pairs = 15;
  GError *error = NULL;
  g_autoptr (MtlTensorTable) table = NULL;
  guint hash = 0;
  gint64 start;

  for (int i = 0; i < 1 << n_pairs; i++)
    {
      char name[2 * 15 + 1] = "";

      for (int bit = 0; bit < n_pairs; bit++)
        memcpy (name + 2 * bit, i >> bit & 1 ? "bA" : "ab", 2);
      g_assert_true (i == 0 || g_str_hash (name) == hash);
      hash = g_str_hash (name);
      g_string_append_printf (header, "%s\"%s\":" FIELDS ("U8", "[0]", "[0,0]"), i > 0 ? "," : "",
                              name);
    }
  g_string_append_c (header, '}');

  start = g_get_monotonic_time ();
  table = parse (header->str, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (table->n_entries, ==, 1 << n_pairs);
  /* Compared with each other it is minutes. */
  g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_USEC_PER_SEC);
  for (gsize i = 0; i < table->n_entries; i++)
    g_assert_true (mtl_tensor_table_lookup (table, table->entries[i].name) == &table->entries[i]);
  g_string_free (header, TRUE);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/SafetensorsHeader/entries", test_entries);
  g_test_add_func ("/SafetensorsHeader/no-tensors", test_no_tensors);
  g_test_add_func ("/SafetensorsHeader/dtypes", test_dtypes);
  g_test_add_func ("/SafetensorsHeader/size", test_size_of_the_header);
  g_test_add_func ("/SafetensorsHeader/refused", test_refused);
  g_test_add_func ("/SafetensorsHeader/refused-entries", test_refused_entries);
  g_test_add_func ("/SafetensorsHeader/refused-extent", test_refused_extent);
  g_test_add_func ("/SafetensorsHeader/empty", test_empty);
  g_test_add_func ("/SafetensorsHeader/dimensions", test_dimensions);
  g_test_add_func ("/SafetensorsHeader/names-of-one-hash", test_names_of_one_hash);

  return g_test_run ();
}
