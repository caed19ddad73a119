/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables whose last column are names, fitted to the terminal. */

#include "mtldl-table.h"

#include <string.h>
#include <unistd.h>

/* Columns are left out of a narrow terminal until the name has this width. */
#define LEAST_NAME 16

static void
row_free (ToolTableRow *self)
{
  for (gsize i = 0; i < G_N_ELEMENTS (self->cells); i++)
    g_free (self->cells[i]);
  g_free (self->name);
  g_free (self);
}

void
tool_table_init (ToolTable        *self,
                 const ToolColumn *columns,
                 guint             n_columns)
{
  *self = (ToolTable) {
    .columns = columns,
    .n_columns = n_columns,
    .rows = g_ptr_array_new_with_free_func ((GDestroyNotify) row_free),
  };
}

void
tool_table_clear (ToolTable *self)
{
  g_clear_pointer (&self->rows, g_ptr_array_unref);
}

/* The caller sets all cells. */
ToolTableRow *
tool_table_add (ToolTable  *self,
                const char *name)
{
  ToolTableRow *row = g_new0 (ToolTableRow, 1);

  row->name = g_strdup (name);
  g_ptr_array_add (self->rows, row);
  return row;
}

/* The columns of the terminal for each cell. */
typedef struct
{
  guint columns[TOOL_MAX_COLUMNS]; /* 0: it is left out */
  guint name;
} Widths;

static void
pad (guint n)
{
  tool_print ("%*s", (int) n, "");
}

static void
print_cell (const char *text,
            gboolean    is_number,
            guint       width)
{
  guint n = width - tool_get_width (text);

  if (is_number)
    pad (n);
  tool_print_text (text);
  if (!is_number)
    pad (n);
  tool_print_text ("  ");
}

static void
print_name (const char   *name,
            const Widths *widths)
{
  g_autofree char *shortened = widths->name < G_MAXUINT ? tool_shorten (name, widths->name) : NULL;

  tool_print_text (shortened != NULL ? shortened : name);
}

/* Prints no colours that do not matter, as a line that is empty begins with none. */
static void
print_row (const ToolTable *self,
           char *const     *cells,
           const char      *name,
           const char      *style,
           const Widths    *widths)
{
  tool_print_text (style);
  for (guint i = 0; i < self->n_columns; i++)
    if (widths->columns[i] > 0)
      print_cell (cells != NULL ? cells[i] : self->columns[i].title, self->columns[i].is_number,
                  widths->columns[i]);
  print_name (name, widths);
  tool_print ("%s\n", *style != '\0' ? tool_plain () : "");
}

static guint
measure (const ToolTable *self,
         Widths          *widths)
{
  guint widest_name = strlen ("NAME");

  for (guint i = 0; i < self->n_columns; i++)
    widths->columns[i] = strlen (self->columns[i].title);
  for (guint i = 0; i < self->rows->len; i++)
    {
      const ToolTableRow *row = self->rows->pdata[i];

      widest_name = MAX (widest_name, tool_get_width (row->name));
      for (guint j = 0; j < self->n_columns; j++)
        widths->columns[j] = MAX (widths->columns[j], tool_get_width (row->cells[j]));
    }

  return widest_name;
}

static guint
find_rank (const ToolTable *self,
           guint            rank)
{
  guint i = 0;

  while (i < self->n_columns && self->columns[i].rank != rank)
    i++;
  return i;
}

/* Leaves out columns until the names fit, or most of their ends. */
static void
fit (const ToolTable *self,
     Widths          *widths,
     guint            widest_name)
{
  const guint columns = tool_get_columns (STDOUT_FILENO);
  guint used = 0;

  widths->name = G_MAXUINT;
  if (columns == G_MAXUINT)
    return;

  for (guint i = 0; i < self->n_columns; i++)
    used += widths->columns[i] + 2;
  for (guint rank = 0; rank < TOOL_MAX_COLUMNS; rank++)
    {
      const guint column = find_rank (self, rank);

      if (used + MIN (widest_name, LEAST_NAME) <= columns)
        break;
      if (column >= self->n_columns)
        continue;
      used -= widths->columns[column] + 2;
      widths->columns[column] = 0;
    }
  widths->name = columns - MIN (used, columns);
}

void
tool_table_print (const ToolTable *self)
{
  Widths widths = { 0 };
  const guint widest_name = measure (self, &widths);

  fit (self, &widths, widest_name);
  if (self->rows->len == 0)
    return;

  print_row (self, NULL, "NAME", tool_strong (), &widths);
  for (guint i = 0; i < self->rows->len; i++)
    {
      const ToolTableRow *row = self->rows->pdata[i];

      print_row (self, row->cells, row->name, row->is_dimmed ? tool_dim () : "", &widths);
    }
}
