/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The grammar; tests/files/corpus compares with what NumPy writes. */

#include "test-utils.h"

#include "mtl-npy-header-private.h"

#define DICT(descr, order, shape) \
  "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static gint64 shape[MTL_LAYOUT_MAX_DIMS];

/* Parses a file with that dict and @n_after bytes after it. */
static gboolean
parse_type (guint            version,
            const char      *dict,
            guint64          n_after,
            MtlTensorEntry  *entry,
            char           **type_name,
            GError         **error)
{
  gsize dict_size = strlen (dict), prefix_size = version > 1 ? 12 : 10, size;
  g_autofree guint8 *header = g_malloc0 (prefix_size + dict_size);
  guint64 file_size = prefix_size + dict_size + n_after;

  memcpy (header, "\x93NUMPY", 6);
  header[6] = version;
  header[8] = dict_size & 0xff;
  header[9] = dict_size >> 8;
  memcpy (header + prefix_size, dict, dict_size);

  if (!mtl_npy_header_get_size (header, MIN (prefix_size + dict_size, MTL_NPY_MAX_PREFIX_SIZE),
                                file_size, &size, error))
    return FALSE;

  g_assert_cmpuint (size, ==, prefix_size + dict_size);
  return mtl_npy_header_parse (header, size, file_size, shape, entry, type_name, error);
}

static gboolean
parse (guint            version,
       const char      *dict,
       guint64          n_after,
       MtlTensorEntry  *entry,
       GError         **error)
{
  g_autofree char *type_name = NULL;

  return parse_type (version, dict, n_after, entry, &type_name, error);
}

static void
test_layouts (void)
{
  static const struct
  {
    const char *dict;
    guint n_dims;
    gint64 extents[3];
    MtlOrder order;
  } cases[] = {
    { DICT ("'<f4'", "False", "(2, 3)"), 2, { 2, 3 }, MTL_ORDER_C },
    { DICT ("'<f4'", "True", "(2, 3, 4)"), 3, { 2, 3, 4 }, MTL_ORDER_F },
    { DICT ("'<f4'", "False", "()"), 0, { 0 }, MTL_ORDER_C },
    { DICT ("'<f4'", "False", "(5,)") "      \n", 1, { 5 }, MTL_ORDER_C },
    { DICT ("'<f4'", "False", "(0, 9223372036854775807)"), 2, { 0, G_MAXINT64 }, MTL_ORDER_C },
    { DICT ("'<f4'", "False", "(3L, 2L)"), 2, { 3, 2 }, MTL_ORDER_C },
    { "{\"shape\":(2,3,),\"fortran_order\":True,\"descr\":\"<f4\"}", 2, { 2, 3 }, MTL_ORDER_F },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint version = 1; version <= 3; version++)
      {
        gsize header_size = (version > 1 ? 12 : 10) + strlen (cases[i].dict);
        GError *error = NULL;
        MtlTensorEntry entry;
        gint64 volume = 1;

        /* More may follow. */
        parse (version, cases[i].dict, 100, &entry, &error);
        g_assert_no_error (error);
        g_assert_cmpmem (entry.shape, entry.n_dims * sizeof (gint64), cases[i].extents,
                         cases[i].n_dims * sizeof (gint64));
        for (guint axis = 0; axis < entry.n_dims; axis++)
          volume *= entry.shape[axis];
        g_assert_cmpint (entry.order, ==, cases[i].order);
        g_assert_cmpint (entry.dtype, ==, MTL_DTYPE_FLOAT32);
        g_assert_cmpuint (entry.begin, ==, header_size);
        g_assert_cmpuint (entry.end, ==, header_size + 4 * volume);
      }
}

static void
test_dtypes (void)
{
  static const struct
  {
    const char *descr;
    MtlDType dtype;
    gboolean is_big_endian;
  } cases[] = {
    { "|b1", MTL_DTYPE_BOOL }, { "|i1", MTL_DTYPE_INT8 }, { "<i2", MTL_DTYPE_INT16 },
    { "<i4", MTL_DTYPE_INT32 }, { "<i8", MTL_DTYPE_INT64 }, { "|u1", MTL_DTYPE_UINT8 },
    { "<u2", MTL_DTYPE_UINT16 }, { "<u4", MTL_DTYPE_UINT32 }, { "<u8", MTL_DTYPE_UINT64 },
    { "<f2", MTL_DTYPE_FLOAT16 }, { "<f4", MTL_DTYPE_FLOAT32 }, { "<f8", MTL_DTYPE_FLOAT64 },
    { "<c8", MTL_DTYPE_COMPLEX64 }, { "<c16", MTL_DTYPE_COMPLEX128 },
    { ">f4", MTL_DTYPE_FLOAT32, TRUE }, { ">c16", MTL_DTYPE_COMPLEX128, TRUE },
    { ">u1", MTL_DTYPE_UINT8, FALSE },
    /* the types of ml_dtypes */
    { "<f1", MTL_DTYPE_FLOAT8_E5M2 }, { "<V1", MTL_DTYPE_OPAQUE_HANDLE8 }, { "|V2", MTL_DTYPE_OPAQUE_HANDLE16 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *dict = g_strdup_printf (DICT ("'%s'", "False", "(1,)"), cases[i].descr);
      GError *error = NULL;
      MtlTensorEntry entry;

      parse (1, dict, 16, &entry, &error);
      g_assert_no_error (error);
      g_assert_cmpint (entry.dtype, ==, cases[i].dtype);
      g_assert_true (entry.is_big_endian == cases[i].is_big_endian);
    }
}

static void
test_refused_dtypes (void)
{
  static const char *const descrs[] = {
    "<f16", "<f3", "<i16", "<c4", "<S3", "|S3", "<U2", "<M8[ns]", "<m8", "|V3", "|V0", "<f", "f4",
    "=f4", "<f04", "<f4x", "<f444444444444444444444", "", "<", "?", "float32", "<e2", "<b2", "<f0",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (descrs); i++)
    {
      g_autofree char *dict = g_strdup_printf (DICT ("'%s'", "False", "(1,)"), descrs[i]);
      g_autofree char *quoted = g_strdup_printf ("“%s” & .npy", descrs[i]);
      MtlTensorEntry entry;

      assert_refuses (parse (1, dict, 16, &entry, &error), MTL_ERROR_NOT_SUPPORTED, quoted);
    }
}

/* The rest of a header is read, too. */
static void
test_types (void)
{
  static const struct
  {
    const char *descr;
    const char *type_name;
    const char *values;
  } cases[] = {
    { "'<U3'", "<U3", "“<U3”" },
    { "'|S5'", "|S5", "“|S5”" },
    { "'<M8[ns]'", "<M8[ns]", "“<M8[ns]”" },
    { "'<f16'", "<f16", "“<f16”" },
    { "'|V16'", "|V16", "“|V16”" },
    { "'|O'", "object", "“|O”" },
    { "'\\x1b[2J'", NULL, "escapes" },
    { "'\x1b[2J'", "\\u001b[2J", "“\\u001b[2J”" },
    { "('<f4', (3,))", "('<f4', (3,))", "“('<f4', (3,))”" },
    { "[]", "record", "0 fields" },
    { "[('a', '<f4')]", "record", "1 field," },
    { "[('a', '<f4'), ('b', '|S3')]", "record", "2 fields" },
    { "[('a', '<f4', (2, (3)))]", "record", "1 field," },
    { "[(('title', 'a'), '<f4'), ('b', [('c', '<f4'), ('d', '<i4')])]", "record", "2 fields" },
    { "[('),(', '<f4'), (\"it's\", '<f4'), ('\\')', '<f4')]", "record", "3 fields" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *dict = g_strdup_printf (DICT ("%s", "True", "(2, 3)"), cases[i].descr);
      g_autofree char *type_name = NULL;
      MtlTensorEntry entry;

      assert_refuses (parse_type (1, dict, 99, &entry, &type_name, &error),
                      MTL_ERROR_NOT_SUPPORTED, cases[i].values);
      g_assert_cmpstr (type_name, ==, cases[i].type_name);
      g_assert_cmpint (entry.dtype, ==, MTL_DTYPE_OTHER);
      g_assert_cmpuint (entry.end - entry.begin, ==, 99);
      if (type_name == NULL)
        continue;

      assert_dims (entry.shape, entry.n_dims, 2, 3);
      g_assert_cmpint (entry.order, ==, MTL_ORDER_F);
    }
}

/* The fields that are set although a header is wrong elsewhere. */
static void
test_types_of_wrong (void)
{
  g_autofree char *unsupported = NULL, *broken = NULL, *short_one = NULL;
  MtlTensorEntry entry;

  assert_refuses (parse_type (1, "{'descr': '<U3', 'shape': (3)}", 9, &entry, &unsupported, &error),
                  MTL_ERROR_NOT_SUPPORTED, "“<U3”");
  g_assert_cmpstr (unsupported, ==, "<U3");
  g_assert_null (entry.shape);
  g_assert_cmpuint (entry.n_dims, ==, 0);

  assert_refuses (parse_type (1, "{'descr': '<f4', 'shape': (3)}", 9, &entry, &broken, &error),
                  MTL_ERROR_INVALID_DATA, "shape & 39");
  g_assert_null (broken);
  g_assert_cmpint (entry.dtype, ==, MTL_DTYPE_FLOAT32);
  g_assert_null (entry.shape);

  assert_refuses (parse_type (1, DICT ("'<f4'", "False", "(3, )"), 9, &entry, &short_one, &error),
                  MTL_ERROR_INVALID_DATA, "12 & 9");
  g_assert_null (short_one);
  g_assert_cmpint (entry.dtype, ==, MTL_DTYPE_FLOAT32);
  assert_dims (entry.shape, entry.n_dims, 3);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *dict;
    MtlError code;
    const char *values;
  } cases[] = {
    { "", MTL_ERROR_INVALID_DATA, "“{” & 10 & .npy" },
    { "{}", MTL_ERROR_INVALID_DATA, "descr & 12" },
    { DICT ("'<f4'", "False", "(2,)") "x", MTL_ERROR_INVALID_DATA, "67" },
    { "{'descr': '<f4', 'descr': '<f4'}", MTL_ERROR_INVALID_DATA, "“descr”" },
    { "{'other': 1}", MTL_ERROR_INVALID_DATA, "“other”" },
    { "{'descr': '<f4', 'shape': ()}", MTL_ERROR_INVALID_DATA, "fortran_order" },
    { "{'descr': '<f4', 'fortran_order': False}", MTL_ERROR_INVALID_DATA, "shape" },
    { "{descr: '<f4'}", MTL_ERROR_INVALID_DATA, "11" },
    { "{'descr", MTL_ERROR_INVALID_DATA, "12" },
    { "{'d\\x65scr': '<f4'}", MTL_ERROR_NOT_SUPPORTED, "12" },
    { "{'descr': 4}", MTL_ERROR_INVALID_DATA, "20" },
    { "{'descr' '<f4'}", MTL_ERROR_INVALID_DATA, "“:”" },
    { "{'descr': '<f4' 'shape': ()}", MTL_ERROR_INVALID_DATA, "“,” & “}”" },
    { "{'descr': '<f4',, 'shape': ()}", MTL_ERROR_INVALID_DATA, "26" },
    { DICT ("'|f4'", "False", "()"), MTL_ERROR_INVALID_DATA, "“|f4” & .npy" },
    { DICT ("'|O'", "False", "()"), MTL_ERROR_NOT_SUPPORTED, "“|O” & .npy" },
    { DICT ("[('a', '<f4')]", "False", "()"), MTL_ERROR_NOT_SUPPORTED, "1 & 20" },
    { DICT ("[('a', '<f4')", "False", "()"), MTL_ERROR_INVALID_DATA, "73" },
    { DICT ("'<f4'", "0", "()"), MTL_ERROR_INVALID_DATA, "fortran_order" },
    { DICT ("'<f4'", "False", "3"), MTL_ERROR_INVALID_DATA, "shape & “(”" },
    { DICT ("'<f4'", "False", "(3)"), MTL_ERROR_INVALID_DATA, "shape" },
    { DICT ("'<f4'", "False", "(3 4)"), MTL_ERROR_INVALID_DATA, "shape & “,” & “)”" },
    { DICT ("'<f4'", "False", "(,)"), MTL_ERROR_INVALID_DATA, "shape & 0" },
    { DICT ("'<f4'", "False", "(-1,)"), MTL_ERROR_INVALID_DATA, "shape & 0" },
    { DICT ("'<f4'", "False", "(1.5,)"), MTL_ERROR_INVALID_DATA, "shape & “,” & “)”" },
    { DICT ("'<f4'", "False", "(0x3,)"), MTL_ERROR_INVALID_DATA, "shape & “,” & “)”" },
    { DICT ("'<f4'", "False", "(03,)"), MTL_ERROR_INVALID_DATA, "shape & 0" },
    { DICT ("'<f4'", "False", "(9223372036854775808,)"), MTL_ERROR_OVERFLOW,
      "shape & 9223372036854775807" },
    { DICT ("'<f4'", "False", "(4294967296, 4294967296)"), MTL_ERROR_OVERFLOW,
      "(4294967296, 4294967296) & 32" },
    { DICT ("'<f4'", "False", "(2, 3)"), MTL_ERROR_INVALID_DATA,
      "(2, 3) & float32 & 24 & 23 & .npy" },
  };
  MtlTensorEntry entry;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refuses (parse (1, cases[i].dict, 23, &entry, &error), cases[i].code,
                    cases[i].values);
}

static void
test_dimensions (void)
{
  GString *ones = g_string_new (NULL);
  g_autofree char *fits = NULL, *exceeds = NULL;
  g_autoptr (GError) no_error = NULL;
  MtlTensorEntry entry;

  for (int i = 0; i < 64; i++)
    g_string_append (ones, "1,");
  fits = g_strdup_printf (DICT ("'|u1'", "False", "(%s)"), ones->str);
  exceeds = g_strdup_printf (DICT ("'|u1'", "False", "(%s1)"), ones->str);
  g_string_free (ones, TRUE);

  parse (1, fits, 1, &entry, &no_error);
  g_assert_no_error (no_error);
  g_assert_cmpuint (entry.n_dims, ==, 64);
  assert_refuses (parse (1, exceeds, 1, &entry, &error), MTL_ERROR_NOT_SUPPORTED, "shape & 64");
}

static void
test_prefix (void)
{
  static const struct
  {
    const char *prefix;
    gsize n_available;
    guint64 file_size;
    MtlError code;
    const char *values;
  } cases[] = {
    { "", 0, 0, MTL_ERROR_INVALID_DATA, ".npy" },
    { "\x93NUMPY\1\0\2", 9, 9, MTL_ERROR_INVALID_DATA, ".npy" },
    { "\x93NUMPY\2\0\2\0\0", 11, 11, MTL_ERROR_INVALID_DATA, ".npy" },
    { "\x93NUMPX\1\0\2\0{}", 12, 12, MTL_ERROR_INVALID_DATA, ".npy" },
    { "\x93NUMPY\0\0\2\0{}", 12, 12, MTL_ERROR_NOT_SUPPORTED, "0.0 & .npy" },
    { "\x93NUMPY\4\0\2\0\0\0", 12, 12, MTL_ERROR_NOT_SUPPORTED, "4.0 & .npy" },
    { "\x93NUMPY\1\1\2\0{}", 12, 12, MTL_ERROR_NOT_SUPPORTED, "1.1 & .npy" },
    { "\x93NUMPY\1\0\3\0{}", 12, 12, MTL_ERROR_INVALID_DATA, ".npy & 3 & 2" },
    { "\x93NUMPY\2\0\1\0\0\0", 12, 12, MTL_ERROR_INVALID_DATA, ".npy & 1 & 0" },
    { "\x93NUMPY\2\0\1\0\x10\0", 12, 1 << 30, MTL_ERROR_NOT_SUPPORTED, ".npy & 1048577 & 1048576" },
  };
  gsize size;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refuses (mtl_npy_header_get_size ((const guint8 *) cases[i].prefix,
                                             cases[i].n_available, cases[i].file_size, &size,
                                             &error),
                    cases[i].code, cases[i].values);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/NpyHeader/layouts", test_layouts);
  g_test_add_func ("/NpyHeader/dtypes", test_dtypes);
  g_test_add_func ("/NpyHeader/refused-dtypes", test_refused_dtypes);
  g_test_add_func ("/NpyHeader/types", test_types);
  g_test_add_func ("/NpyHeader/types-of-wrong", test_types_of_wrong);
  g_test_add_func ("/NpyHeader/refused", test_refused);
  g_test_add_func ("/NpyHeader/dimensions", test_dimensions);
  g_test_add_func ("/NpyHeader/prefix", test_prefix);

  return g_test_run ();
}
