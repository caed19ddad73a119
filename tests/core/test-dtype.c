/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

/* DLPack's table: name, type code, bits. */
static const struct
{
  const char *name;
  MtlDType dtype;
  guint code;
  guint bits;
} named[] = {
  { "bool", MTL_DTYPE_BOOL, 6, 8 },
  { "int8", MTL_DTYPE_INT8, 0, 8 },
  { "int16", MTL_DTYPE_INT16, 0, 16 },
  { "int32", MTL_DTYPE_INT32, 0, 32 },
  { "int64", MTL_DTYPE_INT64, 0, 64 },
  { "uint8", MTL_DTYPE_UINT8, 1, 8 },
  { "uint16", MTL_DTYPE_UINT16, 1, 16 },
  { "uint32", MTL_DTYPE_UINT32, 1, 32 },
  { "uint64", MTL_DTYPE_UINT64, 1, 64 },
  { "int2", MTL_DTYPE_INT2, 0, 2 },
  { "int4", MTL_DTYPE_INT4, 0, 4 },
  { "uint2", MTL_DTYPE_UINT2, 1, 2 },
  { "uint4", MTL_DTYPE_UINT4, 1, 4 },
  { "float16", MTL_DTYPE_FLOAT16, 2, 16 },
  { "float32", MTL_DTYPE_FLOAT32, 2, 32 },
  { "float64", MTL_DTYPE_FLOAT64, 2, 64 },
  { "bfloat16", MTL_DTYPE_BFLOAT16, 4, 16 },
  { "complex32", MTL_DTYPE_COMPLEX32, 5, 32 },
  { "complex64", MTL_DTYPE_COMPLEX64, 5, 64 },
  { "complex128", MTL_DTYPE_COMPLEX128, 5, 128 },
  { "float8_e3m4", MTL_DTYPE_FLOAT8_E3M4, 7, 8 },
  { "float8_e4m3", MTL_DTYPE_FLOAT8_E4M3, 8, 8 },
  { "float8_e4m3b11fnuz", MTL_DTYPE_FLOAT8_E4M3B11FNUZ, 9, 8 },
  { "float8_e4m3fn", MTL_DTYPE_FLOAT8_E4M3FN, 10, 8 },
  { "float8_e4m3fnuz", MTL_DTYPE_FLOAT8_E4M3FNUZ, 11, 8 },
  { "float8_e5m2", MTL_DTYPE_FLOAT8_E5M2, 12, 8 },
  { "float8_e5m2fnuz", MTL_DTYPE_FLOAT8_E5M2FNUZ, 13, 8 },
  { "float8_e8m0fnu", MTL_DTYPE_FLOAT8_E8M0FNU, 14, 8 },
  { "float6_e2m3fn", MTL_DTYPE_FLOAT6_E2M3FN, 15, 6 },
  { "float6_e3m2fn", MTL_DTYPE_FLOAT6_E3M2FN, 16, 6 },
  { "float4_e2m1fn", MTL_DTYPE_FLOAT4_E2M1FN, 17, 4 },
  { "opaque_handle8", MTL_DTYPE_OPAQUE_HANDLE8, 3, 8 },
  { "opaque_handle16", MTL_DTYPE_OPAQUE_HANDLE16, 3, 16 },
  { "opaque_handle32", MTL_DTYPE_OPAQUE_HANDLE32, 3, 32 },
  { "opaque_handle64", MTL_DTYPE_OPAQUE_HANDLE64, 3, 64 },
};

static void
test_value (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    {
      g_assert_cmpuint (named[i].dtype, ==, named[i].code << 8 | named[i].bits);
      g_assert_cmpuint (mtl_dtype_get_bits (named[i].dtype), ==, named[i].bits);
    }

  g_assert_cmpuint (mtl_dtype_get_bits (MTL_DTYPE_OTHER), ==, 0);
}

/* The names begin with the kind. */
static void
test_kind (void)
{
  static const struct
  {
    const char *prefix;
    MtlDTypeKind kind;
  } kinds[] = {
    { "bool", MTL_DTYPE_KIND_BOOL },       { "int", MTL_DTYPE_KIND_INT },
    { "uint", MTL_DTYPE_KIND_UINT },       { "float", MTL_DTYPE_KIND_FLOAT },
    { "bfloat", MTL_DTYPE_KIND_FLOAT },    { "complex", MTL_DTYPE_KIND_COMPLEX },
    { "opaque", MTL_DTYPE_KIND_OPAQUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    {
      gsize k = 0;

      while (!g_str_has_prefix (named[i].name, kinds[k].prefix))
        k++;
      g_assert_cmpint (mtl_dtype_get_kind (named[i].dtype), ==, kinds[k].kind);
    }

  g_assert_cmpint (mtl_dtype_get_kind (MTL_DTYPE_OTHER), ==, MTL_DTYPE_KIND_OTHER);
  g_assert_cmpint (mtl_dtype_get_kind ((MtlDType) 0x4020), ==, MTL_DTYPE_KIND_OTHER);
}

static void
test_name (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *name = mtl_dtype_to_string (named[i].dtype);

      g_assert_cmpstr (name, ==, named[i].name);
      g_assert_cmpuint (mtl_dtype_from_string (name, &error), ==, named[i].dtype);
      g_assert_no_error (error);
    }
}

/* One or more of each kind; tests/core/test_dtype.py compares them with those who made them. */
static void
test_spellings (void)
{
  static const struct
  {
    const char *name;
    MtlDType dtype;
  } spellings[] = {
    { "FLOAT32", MTL_DTYPE_FLOAT32 },
    { "BFLOAT16", MTL_DTYPE_BFLOAT16 },
    { "FLOAT8_E4M3FN", MTL_DTYPE_FLOAT8_E4M3FN },
    { "float", MTL_DTYPE_FLOAT64 },
    { "half", MTL_DTYPE_FLOAT16 },
    { "intc", MTL_DTYPE_INT32 },
    { "u1", MTL_DTYPE_UINT8 },
    { "i8", MTL_DTYPE_INT64 },
    { "I8", MTL_DTYPE_INT8 },
    { "u8", MTL_DTYPE_UINT64 },
    { "U8", MTL_DTYPE_UINT8 },
    { "F16", MTL_DTYPE_FLOAT16 },
    { "f16", MTL_DTYPE_FLOAT16 },
    { "fp16", MTL_DTYPE_FLOAT16 },
    { "bf16", MTL_DTYPE_BFLOAT16 },
    { "BF16", MTL_DTYPE_BFLOAT16 },
    { "F8_E4M3", MTL_DTYPE_FLOAT8_E4M3FN },
    { "f", MTL_DTYPE_FLOAT32 },
    { "F", MTL_DTYPE_COMPLEX64 },
    { "?", MTL_DTYPE_BOOL },
    { "=f4", MTL_DTYPE_FLOAT32 },
    { "|u1", MTL_DTYPE_UINT8 },
    { ">u1", MTL_DTYPE_UINT8 },
    { "<i1", MTL_DTYPE_INT8 },
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    { "<f4", MTL_DTYPE_FLOAT32 },
    { "<c16", MTL_DTYPE_COMPLEX128 },
#else
    { ">f4", MTL_DTYPE_FLOAT32 },
    { ">c16", MTL_DTYPE_COMPLEX128 },
#endif
    { "torch.float32", MTL_DTYPE_FLOAT32 },
    { "torch.float", MTL_DTYPE_FLOAT32 },
    { "torch.int", MTL_DTYPE_INT32 },
    { "torch.int4", MTL_DTYPE_INT4 },
    { "UINT4", MTL_DTYPE_UINT4 },
    { "i4", MTL_DTYPE_INT32 },
    { "u2", MTL_DTYPE_UINT16 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (spellings); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_cmphex (mtl_dtype_from_string (spellings[i].name, &error), ==, spellings[i].dtype);
      g_assert_no_error (error);
    }
}

static void
assert_unknown (const char *name,
                gint        code,
                const char *suggestion)
{
  GError *error = NULL;
  g_autofree char *quoted = g_strdup_printf ("“%s”", name);

  g_assert_cmpuint (mtl_dtype_from_string (name, &error), ==, MTL_DTYPE_OTHER);
  assert_says (error->message, suggestion);
  assert_failed (error, code, quoted);
  g_assert_cmpuint (mtl_dtype_from_string (name, NULL), ==, MTL_DTYPE_OTHER);
}

static void
test_unknown_name (void)
{
  const char *unknown[] = {
    "", "other", "2/32", "Bool_", "f1", "F2", "f3", "i3", "u0", "I4", "U2", "4", "V4", "S1", "g",
    "float8_e4m3_", "float_16", "cfloat", "longdouble", "string", "object", "datetime64",
    "torch.", "torch.f4", "torch.F32", "<", "<float32", "<F32", "<bf16",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (unknown); i++)
    assert_unknown (unknown[i], MTL_ERROR_INVALID_ARGUMENT, "");
}

static void
test_near_names (void)
{
  assert_unknown ("flaot32", MTL_ERROR_INVALID_ARGUMENT, "“float32”");
  assert_unknown ("float23", MTL_ERROR_INVALID_ARGUMENT, "“float32”");
  assert_unknown ("unit8", MTL_ERROR_INVALID_ARGUMENT, "“uint8”");
  assert_unknown ("int7", MTL_ERROR_INVALID_ARGUMENT, "“int8”");
  assert_unknown ("Float32", MTL_ERROR_INVALID_ARGUMENT, "“float32”");
  assert_unknown ("float32 ", MTL_ERROR_INVALID_ARGUMENT, "“float32”");
  assert_unknown ("bfloat", MTL_ERROR_INVALID_ARGUMENT, "“bfloat16”");
  assert_unknown ("float8_e4m3fm", MTL_ERROR_INVALID_ARGUMENT, "“float8_e4m3fn”");
  assert_unknown ("elements of a hundred characters and more", MTL_ERROR_INVALID_ARGUMENT,
                  "“float32”");
  assert_unknown ("xyz", MTL_ERROR_INVALID_ARGUMENT, "“float32”");
}

static void
test_foreign_byte_order (void)
{
  const char *names[] = { "f4", "i8", "c16", "h", "D" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name =
        g_strconcat (G_BYTE_ORDER == G_LITTLE_ENDIAN ? ">" : "<", names[i], NULL);

      assert_unknown (name, MTL_ERROR_NOT_SUPPORTED, names[i]);
    }
}

static void
test_unnamed (void)
{
  g_autofree char *other = mtl_dtype_to_string (MTL_DTYPE_OTHER);
  g_autofree char *long_double = mtl_dtype_to_string (2 << 8 | 80);
  g_autofree char *int3 = mtl_dtype_to_string (0 << 8 | 3);

  g_assert_cmpstr (other, ==, "other");
  g_assert_cmpstr (long_double, ==, "2/80");
  g_assert_cmpstr (int3, ==, "0/3");
}

/* Bindings see the nicks: every registered value has its own name, and every
 * name of the table is registered. */
static void
test_enum (void)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (MTL_TYPE_DTYPE);

  g_assert_cmpuint (klass->n_values, ==, G_N_ELEMENTS (named) + 1);

  for (guint i = 0; i < klass->n_values; i++)
    {
      g_autofree char *name = mtl_dtype_to_string (klass->values[i].value);

      g_assert_cmpstr (klass->values[i].value_nick, ==, name);
    }

  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    {
      GEnumValue *value = g_enum_get_value_by_nick (klass, named[i].name);

      g_assert_nonnull (value);
      g_assert_cmpuint (value->value, ==, named[i].dtype);
    }
}

static void
test_errors_are_an_enum (void)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (MTL_TYPE_ERROR);

  g_assert_cmpstr (g_quark_to_string (MTL_ERROR), ==, "mtl-error-quark");
  g_assert_nonnull (g_enum_get_value_by_nick (klass, "out-of-bounds"));
  g_assert_nonnull (g_enum_get_value_by_nick (klass, "consumed"));
}

static void
test_version (void)
{
  g_assert_cmpuint (MTL_MAJOR_VERSION, >=, 1);
  g_assert_true (MTL_CHECK_VERSION (1, 0, 0));
  g_assert_false (MTL_CHECK_VERSION (MTL_MAJOR_VERSION + 1, 0, 0));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/DType/value", test_value);
  g_test_add_func ("/DType/kind", test_kind);
  g_test_add_func ("/DType/name", test_name);
  g_test_add_func ("/DType/spellings", test_spellings);
  g_test_add_func ("/DType/unknown-name", test_unknown_name);
  g_test_add_func ("/DType/near-names", test_near_names);
  g_test_add_func ("/DType/foreign-byte-order", test_foreign_byte_order);
  g_test_add_func ("/DType/unnamed", test_unnamed);
  g_test_add_func ("/DType/enum", test_enum);
  g_test_add_func ("/Error/enum", test_errors_are_an_enum);
  g_test_add_func ("/Version/check", test_version);

  return g_test_run ();
}
