/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of tensors: their order, patterns, and suggestions. */

#include "mtldl-tool.h"

#include <string.h>

#define MAX_MEANT 3
#define MAX_COMPARED 256 /* bytes of a name whose spelling is compared */

/* The array of a .npy file has no name, and gets that of the file. */
char *
tool_dup_only_name (MtlTensorFile *file)
{
  g_autofree char *base = g_file_get_basename (mtl_tensor_file_get_file (file));
  gsize length = strlen (base);

  if (length > 4 && g_ascii_strcasecmp (base + length - 4, ".npy") == 0)
    base[length - 4] = '\0';
  return g_steal_pointer (&base);
}

char *
tool_dup_name (MtlTensorFile      *file,
               MtlTensorFileEntry *entry)
{
  return mtl_tensor_file_get_format (file) == MTL_TENSOR_FILE_FORMAT_NPY
         ? tool_dup_only_name (file)
         : g_strdup (mtl_tensor_file_entry_get_name (entry));
}

char **
tool_list_names (MtlTensorFile *file)
{
  g_autofree const char **names = NULL;
  char **copy;

  if (mtl_tensor_file_get_format (file) == MTL_TENSOR_FILE_FORMAT_NPY)
    {
      copy = g_new0 (char *, 2);
      copy[0] = tool_dup_only_name (file);
      return copy;
    }

  names = mtl_tensor_file_list_names (file);
  return g_strdupv ((char **) names);
}

static gsize
skip_zeros (const char **at)
{
  gsize n = strspn (*at, "0");

  if (!g_ascii_isdigit ((*at)[n]) && n > 0)
    n--;
  *at += n;
  return strspn (*at, "0123456789");
}

/* Numbers in names are compared by their value. */
int
tool_compare_names (const char *a,
                    const char *b)
{
  const char *first = a, *second = b;

  while (*first != '\0' && *second != '\0')
    {
      gsize length, other_length;
      int order;

      if (!g_ascii_isdigit (*first) || !g_ascii_isdigit (*second))
        {
          if (*first != *second)
            return (guchar) *first < (guchar) *second ? -1 : 1;
          first++;
          second++;
          continue;
        }

      length = skip_zeros (&first);
      other_length = skip_zeros (&second);
      if (length != other_length)
        return length < other_length ? -1 : 1;
      order = memcmp (first, second, length);
      if (order != 0)
        return order;
      first += length;
      second += length;
    }

  if (*first != '\0' || *second != '\0')
    return *first == '\0' ? -1 : 1;

  return strcmp (a, b); /* 01 and 1 */
}

gboolean
tool_parse_sort (const char *text,
                 ToolSort   *sort)
{
  static const char *const words[] = { "name", "file", "size" };

  *sort = TOOL_SORT_NAME;
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (text == NULL || g_str_equal (text, words[i]))
      {
        *sort = i;
        return TRUE;
      }

  return FALSE;
}

/* Marks each name that matches any of the patterns, or all if there are no patterns.
 * Marks the patterns that match, too. */
gboolean *
tool_match_names (char     **names,
                  char     **patterns,
                  gboolean  *used)
{
  gsize n_names = g_strv_length (names);
  gboolean *matches = g_new0 (gboolean, n_names + 1);

  for (gsize i = 0; patterns != NULL && patterns[i] != NULL; i++)
    for (gsize j = 0; j < n_names; j++)
      if (tool_pattern_matches (patterns[i], names[j]))
        matches[j] = used[i] = TRUE;

  for (gsize j = 0; (patterns == NULL || patterns[0] == NULL) && j < n_names; j++)
    matches[j] = TRUE;

  return matches;
}

/* The least number of characters to change, insert, remove or swap; limit + 1 if it is
 * more than the limit. */
static guint
measure_distance (const char *a,
                  const char *b,
                  guint       limit)
{
  const guint n = strlen (a), m = strlen (b);
  guint rows[3][MAX_COMPARED + 1];
  guint *before = rows[0], *last = rows[1], *now = rows[2];

  if (n > MAX_COMPARED || m > MAX_COMPARED || (n > m ? n - m : m - n) > limit)
    return limit + 1;

  for (guint j = 0; j <= m; j++)
    last[j] = j;
  for (guint i = 1; i <= n; i++)
    {
      guint *spare = before;
      guint least = now[0] = i;

      for (guint j = 1; j <= m; j++)
        {
          gboolean same = g_ascii_tolower (a[i - 1]) == g_ascii_tolower (b[j - 1]);

          now[j] = MIN (MIN (last[j], now[j - 1]) + 1, last[j - 1] + !same);
          if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            now[j] = MIN (now[j], before[j - 2] + 1);
          least = MIN (least, now[j]);
        }
      if (least > limit)
        return limit + 1;
      before = last;
      last = now;
      now = spare;
    }

  return last[m];
}

/* Rates how far a name is from the typed one; G_MAXUINT if it was hardly meant. A part
 * of a name stands for it. */
static guint
rate (const char *typed,
      const char *name)
{
  guint limit = MIN (strlen (typed) / 4 + 1, 4);
  guint distance = measure_distance (typed, name, limit);

  if (distance <= limit)
    return distance;

  return strlen (typed) >= 2 && strstr (name, typed) != NULL ? limit + 1 : G_MAXUINT;
}

/* “; did you mean “a” or “b”?”, or "" if there is nothing like it. */
char *
tool_guess (const char         *typed,
            const char *const  *names)
{
  const char *meant[MAX_MEANT] = { NULL };
  guint ratings[MAX_MEANT] = { 0 };
  guint n = 0;
  GString *text = g_string_new (NULL);

  for (gsize i = 0; names[i] != NULL; i++)
    {
      guint rating = rate (typed, names[i]), at = n;

      if (rating == G_MAXUINT)
        continue;
      while (at > 0 && (ratings[at - 1] > rating
                        || (ratings[at - 1] == rating
                            && tool_compare_names (meant[at - 1], names[i]) > 0)))
        at--;
      if (at == MAX_MEANT)
        continue;
      n = MIN (n + 1, MAX_MEANT);
      for (guint j = n - 1; j > at; j--)
        {
          meant[j] = meant[j - 1];
          ratings[j] = ratings[j - 1];
        }
      meant[at] = names[i];
      ratings[at] = rating;
    }

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *shortened = tool_shorten_name (meant[i]);
      g_autofree char *escaped = tool_escape (shortened);

      g_string_append (text, i == 0 ? _("; did you mean ") : i + 1 < n ? ", " : _(" or "));
      g_string_append_printf (text, _("“%s”"), escaped);
    }
  if (n > 0)
    g_string_append_c (text, '?');
  return g_string_free (text, FALSE);
}

static void
complain_of_pattern (const char         *pattern,
                     const char *const  *names)
{
  g_autofree char *escaped = tool_escape_typed (pattern);
  g_autofree char *wider = g_strconcat ("*", pattern, "*", NULL);
  g_autofree char *guess = NULL;

  for (gsize i = 0; names[i] != NULL; i++)
    if (tool_pattern_matches (wider, names[i]))
      {
        g_autofree char *escaped_wider = tool_escape_typed (wider);

        tool_complain (_("no tensor matches “%s”; did you mean “%s”?"), escaped, escaped_wider);
        return;
      }

  guess = tool_guess (pattern, names);
  tool_complain (_("no tensor matches “%s”%s"), escaped, guess);
}

/* Complains about patterns that match nothing. */
gboolean
tool_check_patterns (char               **patterns,
                     const gboolean      *used,
                     const char *const   *names)
{
  gboolean all = TRUE;

  for (gsize i = 0; patterns != NULL && patterns[i] != NULL; i++)
    if (!used[i])
      {
        complain_of_pattern (patterns[i], names);
        all = FALSE;
      }

  return all;
}

GPtrArray *
tool_select_entries (MtlTensorFile  *file,
                     char          **patterns)
{
  g_auto (GStrv) names = tool_list_names (file);
  g_autofree gboolean *used = g_new0 (gboolean, patterns != NULL ? g_strv_length (patterns) : 0);
  g_autofree gboolean *matches = tool_match_names (names, patterns, used);
  GPtrArray *entries;

  if (!tool_check_patterns (patterns, used, (const char *const *) names))
    return NULL;

  entries = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; names[i] != NULL; i++)
    if (matches[i])
      g_ptr_array_add (entries, g_list_model_get_item (G_LIST_MODEL (file), i));
  return entries;
}
