/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows names that differ only in numbers as one: model.layers.{0..31}.weight. */

#include "mtldl-ls.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NUMBERS 4 /* per name */
#define MAX_DIGITS 9
#define MARK '\1'     /* stands for a number: escaped names do not contain it */

typedef struct
{
  MtlTensorFileEntry *entry;
  const char *pattern; /* the escaped name with marks */
  gsize position;      /* the position in the list */
  gsize n_tensors;
  guint group;         /* same element type, shape and pattern */
  guint n_numbers;
  guint32 numbers[MAX_NUMBERS];
  const char *texts[MAX_NUMBERS]; /* the text for each number */
} Item;

void
tool_row_free (ToolRow *self)
{
  g_free (self->name);
  g_free (self);
}

/* The length of the number at that position, or 0. A number that is part of a word,
 * or not in its normal form, does not count. */
static gsize
measure_number (const char *name,
                const char *at)
{
  gsize length = strspn (at, "0123456789");

  if (length == 0 || length > MAX_DIGITS || (length > 1 && *at == '0')
      || (at > name && g_ascii_isalnum (at[-1])) || g_ascii_isalpha (at[length]))
    return 0;

  return length;
}

static void
read_name (Item         *self,
           const char   *name,
           GStringChunk *texts)
{
  g_autoptr (GString) pattern = g_string_new (NULL);
  guint max_numbers = strpbrk (name, "{}") == NULL ? MAX_NUMBERS : 0; /* would be ambiguous */

  for (const char *at = name; *at != '\0';)
    {
      gsize length = self->n_numbers < max_numbers ? measure_number (name, at) : 0;

      if (length == 0)
        {
          g_string_append_c (pattern, *at++);
          continue;
        }
      self->numbers[self->n_numbers++] = strtoul (at, NULL, 10);
      g_string_append_c (pattern, MARK);
      at += length;
    }

  self->pattern = g_string_chunk_insert_len (texts, pattern->str, pattern->len);
}

static GArray *
make_items (MtlTensorFile *file,
            GPtrArray     *entries,
            GStringChunk  *texts)
{
  GArray *items = g_array_sized_new (FALSE, TRUE, sizeof (Item), entries->len);

  for (guint i = 0; i < entries->len; i++)
    {
      g_autofree char *own_name = tool_dup_name (file, entries->pdata[i]);
      g_autofree char *name = tool_escape (own_name);
      Item item = { .entry = entries->pdata[i], .position = i, .n_tensors = 1 };

      read_name (&item, name, texts);
      g_array_append_val (items, item);
    }

  return items;
}

static int
compare_kinds (gconstpointer a,
               gconstpointer b)
{
  const Item *first = a, *second = b;
  MtlDType first_dtype = mtl_tensor_file_entry_get_dtype (first->entry);
  MtlDType second_dtype = mtl_tensor_file_entry_get_dtype (second->entry);
  gsize first_dims, second_dims;
  const gint64 *first_shape = mtl_tensor_file_entry_get_shape (first->entry, &first_dims);
  const gint64 *second_shape = mtl_tensor_file_entry_get_shape (second->entry, &second_dims);
  int order;

  if (first_dtype != second_dtype)
    return first_dtype < second_dtype ? -1 : 1;
  if (tool_is_refused (first->entry) != tool_is_refused (second->entry))
    return tool_is_refused (first->entry) ? 1 : -1;
  order = strcmp (mtl_tensor_file_entry_get_type_name (first->entry),
                  mtl_tensor_file_entry_get_type_name (second->entry));
  if (order != 0)
    return order;
  if ((first_shape == NULL) != (second_shape == NULL))
    return first_shape == NULL ? 1 : -1;
  if (first_dims != second_dims)
    return first_dims < second_dims ? -1 : 1;
  for (gsize i = 0; i < first_dims; i++)
    if (first_shape[i] != second_shape[i])
      return first_shape[i] < second_shape[i] ? -1 : 1;

  return strcmp (first->pattern, second->pattern);
}

static void
set_groups (GArray *items)
{
  guint group = 0;

  g_array_sort (items, compare_kinds);
  for (guint i = 0; i < items->len; i++)
    {
      Item *item = &g_array_index (items, Item, i);

      if (i > 0 && compare_kinds (item - 1, item) != 0)
        group++;
      item->group = group;
    }
}

/* Compares all but the number at the axis. The items may be in different groups. */
static int
compare_others (const Item *a,
                const Item *b,
                guint       axis)
{
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;

  for (guint i = 0; i < a->n_numbers; i++)
    {
      int order;

      if (i == axis)
        continue;
      if (i < axis && a->numbers[i] != b->numbers[i])
        return a->numbers[i] < b->numbers[i] ? -1 : 1;
      order = i > axis ? strcmp (a->texts[i], b->texts[i]) : 0;
      if (order != 0)
        return order;
    }

  return 0;
}

static int
compare_at_axis (gconstpointer a,
                 gconstpointer b,
                 gpointer      user_data)
{
  guint axis = GPOINTER_TO_UINT (user_data);
  const Item *first = a, *second = b;
  int order = compare_others (first, second, axis);

  if (order != 0 || axis >= first->n_numbers)
    return order;

  return first->numbers[axis] < second->numbers[axis] ? -1
         : first->numbers[axis] > second->numbers[axis];
}

/* 7, {0..31}, {0,1,4..9}. */
static char *
describe_numbers (const Item *items,
                  guint       n,
                  guint       axis)
{
  GString *text = g_string_new (n > 1 ? "{" : NULL);

  for (guint i = 0, end; i < n; i = end)
    {
      guint32 first = items[i].numbers[axis], last = first;

      for (end = i + 1; end < n && items[end].numbers[axis] == last + 1; end++)
        last++;

      if (i > 0)
        g_string_append_c (text, ',');
      g_string_append_printf (text, "%u", first);
      if (last > first)
        g_string_append_printf (text, "%s%u", last == first + 1 && end - i < n ? "," : "..", last);
    }

  if (n > 1)
    g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

/* Merges items that only differ in the number at the axis. */
static void
merge (Item         *merged,
       const Item   *items,
       guint         n,
       guint         axis,
       GStringChunk *texts)
{
  g_autofree char *text = describe_numbers (items, n, axis);
  Item result = items[0];

  for (guint i = 1; i < n; i++)
    {
      result.n_tensors += items[i].n_tensors;
      if (items[i].position < result.position)
        {
          result.position = items[i].position;
          result.entry = items[i].entry;
        }
    }
  result.texts[axis] = g_string_chunk_insert (texts, text);
  *merged = result;
}

static void
merge_axis (GArray       *items,
            guint         axis,
            GStringChunk *texts)
{
  Item *all = (Item *) (gpointer) items->data;
  guint n_left = 0;

  g_array_sort_with_data (items, compare_at_axis, GUINT_TO_POINTER (axis));
  for (guint i = 0, end; i < items->len; i = end)
    {
      for (end = i + 1; end < items->len && compare_others (&all[i], &all[end], axis) == 0; end++)
        ;
      if (axis < all[i].n_numbers)
        merge (&all[n_left++], &all[i], end - i, axis, texts);
      else
        all[n_left++] = all[i];
    }
  g_array_set_size (items, n_left);
}

static int
compare_positions (gconstpointer a,
                   gconstpointer b)
{
  const Item *first = a, *second = b;

  return first->position < second->position ? -1 : first->position > second->position;
}

static char *
fill_in (const Item *self)
{
  GString *name = g_string_new (NULL);
  guint n = 0;

  for (const char *at = self->pattern; *at != '\0'; at++)
    {
      if (*at != MARK)
        g_string_append_c (name, *at);
      else if (self->texts[n][0] == '{')
        g_string_append_printf (name, "%s%s%s", tool_accent (), self->texts[n++], tool_plain ());
      else
        g_string_append (name, self->texts[n++]);
    }

  return g_string_free (name, FALSE);
}

GPtrArray *
tool_fold (MtlTensorFile *file,
           GPtrArray     *entries)
{
  g_autoptr (GStringChunk) texts = g_string_chunk_new (65536);
  g_autoptr (GArray) items = make_items (file, entries, texts);
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) tool_row_free);

  set_groups (items);
  for (guint axis = MAX_NUMBERS; axis-- > 0;)
    merge_axis (items, axis, texts);
  g_array_sort (items, compare_positions);

  for (guint i = 0; i < items->len; i++)
    {
      const Item *item = &g_array_index (items, Item, i);
      ToolRow *row = g_new (ToolRow, 1);

      *row = (ToolRow) { item->entry, fill_in (item), item->n_tensors };
      g_ptr_array_add (rows, row);
    }

  return rows;
}
