/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Patterns of names, beside GLib's, which take time without end where a name wants it. */

#include "test-utils.h"

#include "mtl-text-pattern-private.h"

static void
test_characters (void)
{
  g_assert_true (mtl_text_matches ("", NULL));
  g_assert_true (mtl_text_matches ("any", NULL));
  g_assert_true (mtl_text_matches ("é", "?"));
  g_assert_true (mtl_text_matches ("héh", "h?h"));
  g_assert_false (mtl_text_matches ("hé", "???"));
  g_assert_true (mtl_text_matches ("a[b]\\*", "a[b]\\?"));
}

/* All patterns of up to six characters, and all such texts. */
static void
test_like_glib (void)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) patterns = g_ptr_array_new_with_free_func (g_free);

  for (guint length = 0; length <= 6; length++)
    for (guint i = 0; i < 1u << 2 * length; i++)
      {
        char text[7] = { 0 };

        for (guint j = 0; j < length; j++)
          text[j] = "ab*?"[i >> 2 * j & 3];
        g_ptr_array_add (patterns, g_strdup (text));
        if (strpbrk (text, "*?") == NULL)
          g_ptr_array_add (texts, g_strdup (text));
      }

  for (guint i = 0; i < patterns->len; i++)
    {
      g_autoptr (GPatternSpec) spec = g_pattern_spec_new (patterns->pdata[i]);

      for (guint j = 0; j < texts->len; j++)
        if (mtl_text_matches (texts->pdata[j], patterns->pdata[i])
            != g_pattern_spec_match_string (spec, texts->pdata[j]))
          g_error ("“%s” beside “%s”", (char *) texts->pdata[j], (char *) patterns->pdata[i]);
    }
}

/* It would not end in years if each star tried all places. */
static void
test_hostile (void)
{
  g_autofree char *text = g_strnfill (1000000, 'a');

  g_assert_false (mtl_text_matches (text, "*a*a*a*a*a*a*a*b"));
  g_assert_true (mtl_text_matches (text, "*a*a*a*a*a*a*a*"));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/TextPattern/characters", test_characters);
  g_test_add_func ("/TextPattern/like-glib", test_like_glib);
  g_test_add_func ("/TextPattern/hostile", test_hostile);

  return g_test_run ();
}
