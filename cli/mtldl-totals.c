/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Totals of the tensors of a file. */

#include "mtldl-ls.h"

/* The largest power of two that divides the offset, up to the size of a page. */
guint64
tool_get_alignment (guint64 offset)
{
  return offset == 0 ? 16384 : MIN (offset & -offset, 16384);
}

static int
compare_totals (gconstpointer a,
                gconstpointer b)
{
  const ToolTotal *first = a, *second = b;

  return first->n_bytes > second->n_bytes ? -1 : first->n_bytes < second->n_bytes;
}

static ToolTotal *
get_total (GArray   *totals,
           MtlDType  dtype)
{
  ToolTotal total = { .dtype = dtype };

  for (guint i = 0; i < totals->len; i++)
    if (g_array_index (totals, ToolTotal, i).dtype == dtype)
      return &g_array_index (totals, ToolTotal, i);

  g_array_append_val (totals, total);
  return &g_array_index (totals, ToolTotal, totals->len - 1);
}

GArray *
tool_count_totals (GPtrArray *entries,
                   ToolTotal *refused)
{
  GArray *totals = g_array_new (FALSE, FALSE, sizeof (ToolTotal));

  *refused = (ToolTotal) { .dtype = MTL_DTYPE_OTHER };
  for (guint i = 0; i < entries->len; i++)
    {
      MtlTensorFileEntry *entry = entries->pdata[i];
      ToolTotal *total = tool_is_refused (entry)
                           ? refused : get_total (totals, mtl_tensor_file_entry_get_dtype (entry));

      total->n_tensors++;
      total->n_bytes += mtl_tensor_file_entry_get_n_bytes (entry);
    }

  g_array_sort (totals, compare_totals);
  return totals;
}
