/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include "mtl-safetensors-index-private.h"

static MtlTensorTable *
parse (const char  *text,
       GError     **error)
{
  return mtl_safetensors_index_parse (text, strlen (text), error);
}

static void
test_entries (void)
{
  static const char text[] =
    "\n{ \"metadata\": {\"total_size\": 1.5e9, \"other\": [null, {}]},"
    " \"weight_map\": {\"c\": \"model-2.safetensors\", \"a\": \"model-1.safetensors\","
    " \"b\": \"model-1.safetensors\", \"d\": \"model-\\u0032.safetensors\"} }\n";
  static const struct
  {
    const char *name;
    const char *file;
  } expected[] = {
    { "c", "model-2.safetensors" }, { "a", "model-1.safetensors" },
    { "b", "model-1.safetensors" }, { "d", "model-2.safetensors" },
  };
  GError *error = NULL;
  g_autoptr (MtlTensorTable) table = parse (text, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (table->n_entries, ==, 4);
  g_assert_cmpuint (table->n_files, ==, 2);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      const MtlTensorEntry *entry = mtl_tensor_table_lookup (table, expected[i].name);

      g_assert_true (entry == &table->entries[i]);
      g_assert_cmpstr (table->files[entry->file], ==, expected[i].file);
    }
  g_assert_null (mtl_tensor_table_lookup (table, "e"));
}

static void
test_no_tensors (void)
{
  GError *error = NULL;
  g_autoptr (MtlTensorTable) table = parse ("{\"weight_map\":{}}", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (table->n_entries, ==, 0);
  g_assert_cmpuint (table->n_files, ==, 0);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *text;
    const char *values;
  } cases[] = {
    { "", "“{” & 0" },
    { "[]", "“{” & “[”" },
    { "{}", "weight_map" },
    { "{\"metadata\":{}}", "weight_map" },
    { "{\"weight_map\":{}} 1", "“1”" },
    { "{\"weight_map\":[]}", "“{” & “[”" },
    { "{\"weight_map\":{},\"weight_map\":{}}", "weight_map" },
    { "{\"metadata\":{\"a\":01}}", "“01”" },
    { "{\"weight_map\":{\"a\":1}}", "“a” & “1”" },
    { "{\"weight_map\":{\"a\":\"f\",\"a\":\"g\"}}", "“a”" },
    { "{\"weight_map\":{\"a\":\"\"}}", "“a” & “”" },
    { "{\"weight_map\":{\"a\":\".\"}}", "“a” & “.”" },
    { "{\"weight_map\":{\"a\":\"..\"}}", "“a” & “..”" },
    { "{\"weight_map\":{\"a\":\"f\",\"b\":\"../x\"}}", "“b” & “../x”" },
    { "{\"weight_map\":{\"a\":\"/etc/x\"}}", "“a” & “/etc/x”" },
    { "{\"weight_map\":{\"a\":\"\\u002fx\"}}", "“a” & “/x”" },
    { "{\"weight_map\":{\"a\":\"b\\\\c\"}}", "“a” & “b\\\\c”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (parse (cases[i].text, &error), MTL_ERROR_INVALID_DATA, cases[i].values);

  for (int size = 1024; size <= 1025; size++)
    {
      g_autofree char *text = g_strdup_printf ("{\"weight_map\":{\"a\":\"%0*d\"}}", size, 0);
      g_autoptr (GError) error = NULL;
      g_autoptr (MtlTensorTable) table = parse (text, &error);

      g_assert_cmpint (table != NULL, ==, size == 1024);
      if (table == NULL)
        assert_failed (error, MTL_ERROR_INVALID_DATA, "…”");
    }

  assert_fails (parse ("{\"weight_map\":{\"a\":\"f\\u0000\"}}", &error), MTL_ERROR_NOT_SUPPORTED,
                "“a” & U+0000");
  /* The size alone is refused, before anything is read. */
  assert_fails (mtl_safetensors_index_parse ("", 100000001, &error), MTL_ERROR_NOT_SUPPORTED,
                "100000001 & 100000000");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/SafetensorsIndex/entries", test_entries);
  g_test_add_func ("/SafetensorsIndex/no-tensors", test_no_tensors);
  g_test_add_func ("/SafetensorsIndex/refused", test_refused);

  return g_test_run ();
}
