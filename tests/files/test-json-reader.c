/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include "mtl-json-reader-private.h"
#include "mtl-message-text-private.h"

/* Returns the string that is read, or the message of its failure. */
static char *
read_string (const char *text,
             gsize       size)
{
  g_auto (MtlJsonReader) reader = { 0 };
  g_autoptr (GError) error = NULL;
  MtlJsonString string;

  mtl_json_reader_init (&reader, "text", text, size);
  if (mtl_json_reader_read_string (&reader, &string) && mtl_json_reader_check_end (&reader))
    return g_strndup (string.text, string.size);

  g_assert_false (mtl_json_reader_finish (&reader, &error));
  return g_strdup (error->message);
}

static void
test_strings (void)
{
  static const struct
  {
    const char *text;
    const char *expected;
  } cases[] = {
    { "\"\"", "" },
    { " \t\r\n\"plain\" ", "plain" },
    { "\"a long one without escapes: \303\251 \346\274\242 \360\237\230\200\"",
      "a long one without escapes: \303\251 \346\274\242 \360\237\230\200" },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
    { "\"before \\u0041\\u00e9\\u6F22 between \\ud83d\\ude00 after\"",
      "before A\303\251\346\274\242 between \360\237\230\200 after" },
    { "\"\177\357\277\277\"", "\177\357\277\277" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *read = read_string (cases[i].text, strlen (cases[i].text));

      g_assert_cmpstr (read, ==, cases[i].expected);
    }
}

static void
test_bad_strings (void)
{
  static const struct
  {
    const char *text;
    const char *values;
  } cases[] = {
    { "", "0" },
    { "'a'", "“'” & 0" },
    { " word-1.5, b", "“word-1.5” & 1" },
    { "\"a", "2" },
    { "\"a\\", "3" },
    { "\"a\\n", "4" },
    { "\"a\nb\"", "0x0a & 2" },
    { "\"\\na\37\"", "0x1f & 4" },
    { "\"\\x41\"", "“x41” & 2" },
    { "\"\\u00g0\"", "5" },
    { "\"\\u00", "5" },
    { "\"\\ud83d\\u00g0\"", "11" },
    { "\"\\u0000\"", "U+0000 & 7" },
    { "\"\\ud800\"", "U+D800 & 7" },
    { "\"\\ud800\\u0041\"", "U+D800 & 13" },
    { "\"\\ud800\\ud800\"", "U+D800 & 13" },
    { "\"\\udc00\\ud800\"", "U+DC00 & 7" },
    { "\"abcdefghijkl\377\"", "UTF-8 & 13" },
    { "\"\300\257\"", "UTF-8 & 1" },
    { "\"\355\240\200\"", "UTF-8 & 1" },
    { "\"\\n\346\274\"", "UTF-8 & 3" },
    { "\"a\" b", "“b” & 4" },
    { "\"a\"\346\274\242b", "“\346\274\242” & 3" },
  };
  g_autofree char *nothing = read_string (NULL, 0);
  g_autofree char *nul = read_string ("\"a\0b\"", 5);

  assert_says (nothing, "0");
  assert_says (nul, "0x00 & 2");
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *message = read_string (cases[i].text, strlen (cases[i].text));

      assert_says (message, cases[i].values);
    }
}

static void
test_integers (void)
{
  static const struct
  {
    const char *text;
    gint64 value; /* -1 for an error */
  } cases[] = {
    { "0", 0 }, { " 7 ", 7 }, { "9223372036854775807", G_MAXINT64 }, { "9223372036854775808", -1 },
    { "18446744073709551616", -1 }, { "-0", -1 }, { "-1", -1 }, { "+1", -1 }, { "01", -1 },
    { "1.0", -1 }, { "1e0", -1 }, { "1E0", -1 }, { "0x1", -1 }, { "\"1\"", -1 }, { "true", -1 },
    { "null", -1 }, { "NaN", -1 }, { "", -1 }, { "[1]", -1 }, { ".5", -1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (MtlJsonReader) reader = { 0 };
      gint64 value = -1;

      mtl_json_reader_init (&reader, "text", cases[i].text, strlen (cases[i].text));
      if (!mtl_json_reader_read_integer (&reader, &value) || !mtl_json_reader_check_end (&reader))
        value = -1;
      g_assert_cmpint (value, ==, cases[i].value);
      g_assert_true ((value < 0) == (reader.error != NULL));
    }
}

static gboolean
skips (const char *text,
       gsize       size)
{
  g_auto (MtlJsonReader) reader = { 0 };

  mtl_json_reader_init (&reader, "text", text, size);
  return mtl_json_reader_skip_value (&reader) && mtl_json_reader_check_end (&reader);
}

static void
test_skipped_values (void)
{
  static const char *const valid[] = {
    "0", "-0", "1.5", "-10.25e+3", "1E-2", "2e9", "true", "false", "null", "\"a\\n\"", "[]", "{}",
    " [ 1 , [ ] , { \"a\" : [ null ] } ] ", "{\"a\":1,\"a\":{\"b\":[[],[]]}}",
    "123456789012345678901234567890",
  };
  static const char *const invalid[] = {
    "", "-", "01", "1.", ".1", "1e", "1e+", "+1", "0x1", "NaN", "Infinity", "True", "nul", "tru",
    "'a'", "[", "]", "[1,]", "[,1]", "[1 2]", "[1}", "{", "{]", "{\"a\"}", "{\"a\":}", "{\"a\" 1}",
    "{\"a\":1,}", "{,}", "{a:1}", "{1:1}", "[1]]", "{}{}", "/* */ 1", "1 // x", "[\"a\nb\"]",
    "\f1", "1\v", "\302\2401",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (valid); i++)
    if (!skips (valid[i], strlen (valid[i])))
      g_error ("%s is refused", valid[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (invalid); i++)
    if (skips (invalid[i], strlen (invalid[i])))
      g_error ("%s is taken", invalid[i]);
}

/* Brackets in each other: all of them opened, and the first n_closed of them closed. */
static gboolean
skips_nested (gsize n_opened,
              gsize n_closed)
{
  g_autofree char *text = g_malloc (n_opened + n_closed);

  memset (text, '[', n_opened);
  memset (text + n_opened, ']', n_closed);
  return skips (text, n_opened + n_closed);
}

static void
test_depth (void)
{
  g_assert_true (skips_nested (127, 127));
  g_assert_false (skips_nested (127, 126));
  g_assert_false (skips_nested (128, 128));
  g_assert_false (skips_nested (1000000, 1000000));
  g_assert_false (skips_nested (10000000, 0));
}

static void
test_members_and_items (void)
{
  static const char text[] = "{ \"a\" : [ 1, 2 ], \"skipped\": {\"x\": [[]]}, \"\\u0062\": null}";
  g_auto (MtlJsonReader) reader = { 0 };
  MtlJsonString key;
  gint64 value;

  mtl_json_reader_init (&reader, "text", text, strlen (text));
  g_assert_true (mtl_json_reader_enter_object (&reader));
  g_assert_true (mtl_json_reader_next_member (&reader, &key));
  g_assert_true (mtl_json_string_equal (key, "a"));
  g_assert_true (mtl_json_reader_enter_array (&reader));
  for (gint64 i = 1; i <= 2; i++)
    {
      g_assert_true (mtl_json_reader_next_item (&reader));
      g_assert_true (mtl_json_reader_read_integer (&reader, &value));
      g_assert_cmpint (value, ==, i);
    }
  g_assert_false (mtl_json_reader_next_item (&reader));
  g_assert_true (mtl_json_reader_next_member (&reader, &key));
  g_assert_true (mtl_json_string_equal (key, "skipped"));
  g_assert_true (mtl_json_reader_skip_value (&reader));
  g_assert_true (mtl_json_reader_next_member (&reader, &key));
  g_assert_true (mtl_json_string_equal (key, "b"));
  g_assert_false (mtl_json_string_equal (key, "bb"));
  g_assert_true (mtl_json_reader_read_null (&reader));
  g_assert_false (mtl_json_reader_next_member (&reader, &key));
  g_assert_true (mtl_json_reader_check_end (&reader));
  g_assert_true (mtl_json_reader_finish (&reader, NULL));
}

/* After a failure nothing is read, and the first reason stays. */
static void
test_first_failure (void)
{
  g_auto (MtlJsonReader) reader = { 0 };
  GError *error = NULL;
  MtlJsonString string;
  gint64 value;

  mtl_json_reader_init (&reader, "text", "[1, \"a\"]", 8);
  g_assert_false (mtl_json_reader_enter_object (&reader));
  g_assert_false (mtl_json_reader_enter_array (&reader));
  g_assert_false (mtl_json_reader_next_item (&reader));
  g_assert_false (mtl_json_reader_next_member (&reader, &string));
  g_assert_false (mtl_json_reader_read_integer (&reader, &value));
  g_assert_false (mtl_json_reader_read_string (&reader, &string));
  g_assert_false (mtl_json_reader_read_null (&reader));
  g_assert_false (mtl_json_reader_skip_value (&reader));
  g_assert_false (mtl_json_reader_check_end (&reader));
  g_assert_false (mtl_json_reader_fail (&reader, MTL_ERROR_OVERFLOW, "another reason"));
  g_assert_false (mtl_json_reader_finish (&reader, &error));
  assert_failed (error, MTL_ERROR_INVALID_DATA, "“{” & “[” & 0");
}

/* The tests themselves would pass for other values if this did not hold. */
static void
test_values_in_messages (void)
{
  static const char message[] = "12 of 128 bytes, (3, -4), 0.5 and uint8 at “a b”: 2^63, x-7";
  static const char *const said[] = {
    "12", "128", "(3, -4)", "-4", "0.5", "uint8", "“a b”", "2^63", "7", "3"
  };
  static const char *const not_said[] = { "1", "28", "4", "5", "0", "int8", "b”:2", "-12", "uint" };

  for (gsize i = 0; i < G_N_ELEMENTS (said); i++)
    g_assert_true (says_value (message, said[i]));
  for (gsize i = 0; i < G_N_ELEMENTS (not_said); i++)
    g_assert_false (says_value (message, not_said[i]));
}

static void
test_quoted_text (void)
{
  static const struct
  {
    const char *text;
    gsize size;
    const char *quoted;
  } cases[] = {
    { "plain", 5, "“plain”" },
    { "a\nb\tc\\d", 7, "“a\\nb\\tc\\\\d”" },
    { "\033[31mred", 8, "“\\u001b[31mred”" },
    { "a\0b", 3, "“a\\x00b”" },
    { "\377\303", 2, "“\\xff\\xc3”" },
    { "\303\251\360\237\230\200", 6, "“\303\251\360\237\230\200”" },
    /* Marks that turn the direction of writing, and a line break of Unicode. */
    { "\342\200\256abc\342\200\250", 9, "“\\u202eabc\\u2028”" },
    { "\363\240\200\201", 4, "“\\U000e0001”" },
  };
  g_autofree char *many = g_strnfill (1000, 'x');
  g_autofree char *cut = mtl_quote_text (many, 1000);
  g_autofree char *whole = mtl_escape_text (many, 1000, MTL_ESCAPE_FLAGS_NONE);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *quoted = mtl_quote_text (cases[i].text, cases[i].size);

      g_assert_cmpstr (quoted, ==, cases[i].quoted);
    }
  g_assert_cmpstr (whole, ==, many);
  g_assert_cmpint (g_utf8_strlen (cut, -1), ==, 83);
  g_assert_true (g_str_has_suffix (cut, "xx…”"));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/JsonReader/strings", test_strings);
  g_test_add_func ("/JsonReader/bad-strings", test_bad_strings);
  g_test_add_func ("/JsonReader/integers", test_integers);
  g_test_add_func ("/JsonReader/skipped-values", test_skipped_values);
  g_test_add_func ("/JsonReader/depth", test_depth);
  g_test_add_func ("/JsonReader/members-and-items", test_members_and_items);
  g_test_add_func ("/JsonReader/first-failure", test_first_failure);
  g_test_add_func ("/QuotedText/escapes", test_quoted_text);
  g_test_add_func ("/JsonReader/values-in-messages", test_values_in_messages);

  return g_test_run ();
}
