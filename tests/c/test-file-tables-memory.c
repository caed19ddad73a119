/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each of the allocations that a file's content decides fails, one after another. */

#include "test-utils.h"

#include <stdlib.h>

#include "mtl-safetensors-header-private.h"
#include "mtl-safetensors-index-private.h"
#include "mtl-zip-directory-private.h"

/* How many are granted before one fails. */
static int n_granted;

static gboolean
is_granted (void)
{
  return n_granted-- > 0;
}

/* In the place of GLib's for what is linked into this program. */
gpointer
g_try_malloc (gsize size)
{
  return is_granted () ? malloc (size) : NULL;
}

gpointer
g_try_malloc_n (gsize n,
                gsize size)
{
  return is_granted () ? calloc (n, size) : NULL;
}

gpointer
g_try_malloc0 (gsize size)
{
  return g_try_malloc_n (1, size);
}

gpointer
g_try_malloc0_n (gsize n,
                 gsize size)
{
  return g_try_malloc_n (n, size);
}

gpointer
g_try_realloc (gpointer memory,
               gsize    size)
{
  return is_granted () ? realloc (memory, size) : NULL;
}

gpointer
g_try_realloc_n (gpointer memory,
                 gsize    n,
                 gsize    size)
{
  return g_try_realloc (memory, n * size);
}

/* Whether a file was read; FALSE with an error that there is no memory. */
typedef gboolean (* ReadFile) (GError **error);

/* A failure is an error, and the last run has none: so many were tried. */
static void
fail_each (ReadFile read,
           int      least)
{
  int n = 0;

  for (gboolean was_read = FALSE; !was_read; n++)
    {
      GError *error = NULL;

      n_granted = n;
      was_read = read (&error);
      if (was_read)
        g_assert_no_error (error);
      else
        assert_failed (error, MTL_ERROR_NO_MEMORY, "bytes of memory");
    }

  g_assert_cmpint (n, >, least);
}

static gboolean
read_header (GError **error)
{
  g_autoptr (GString) header = g_string_new ("{\"__metadata__\":{");
  g_autoptr (MtlTensorTable) table = NULL;

  for (int i = 0; i < 40; i++)
    g_string_append_printf (header, "%s\"key \\n %d\":\"%0300d\"", i > 0 ? "," : "", i, i);
  g_string_append (header, "}");
  for (int i = 0; i < 40; i++)
    g_string_append_printf (header, ",\"name \\n %0900d\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1],"
                                    "\"data_offsets\":[%d,%d]}", i, i, i + 1);
  g_string_append (header, "}");

  table = mtl_safetensors_header_parse (header->str, header->len, 8 + header->len + 40, error);
  return table != NULL;
}

static gboolean
read_index (GError **error)
{
  g_autoptr (GString) text = g_string_new ("{\"weight_map\":{");
  g_autoptr (MtlTensorTable) table = NULL;

  for (int i = 0; i < 40; i++)
    g_string_append_printf (text, "%s\"name \\n %0200d\":\"file %0300d\"", i > 0 ? "," : "", i, i);
  g_string_append (text, "}}");

  table = mtl_safetensors_index_parse (text->str, text->len, error);
  return table != NULL;
}

/* Two empty members. */
static gboolean
read_directory (GError **error)
{
  guint8 bytes[2 * 47] = { 0 };
  MtlZipEnd end = { .begin = 62, .size = sizeof bytes, .n_members = 2 };
  g_autoptr (MtlZipDirectory) directory = NULL;

  for (int i = 0; i < 2; i++)
    {
      memcpy (bytes + 47 * i, "PK\1\2", 4);
      bytes[47 * i + 28] = 1;
      bytes[47 * i + 42] = 31 * i;
      bytes[47 * i + 46] = 'a' + i;
    }

  directory = mtl_zip_directory_parse (bytes, &end, error);
  return directory != NULL;
}

static void
test_header (void)
{
  fail_each (read_header, 10);
}

static void
test_index (void)
{
  fail_each (read_index, 10);
}

static void
test_directory (void)
{
  fail_each (read_directory, 3);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/FileTables/no-memory-for-a-header", test_header);
  g_test_add_func ("/FileTables/no-memory-for-an-index", test_index);
  g_test_add_func ("/FileTables/no-memory-for-a-directory", test_directory);

  return g_test_run ();
}
