/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints how tensors differ, as text and as JSON. */

#include "mtldl-diff.h"
#include "mtldl-show.h"

void
tool_comparison_clear (ToolComparison *self)
{
  g_clear_object (&self->a);
  g_clear_object (&self->b);
}

static char *
dup_index (const ToolComparison *self)
{
  return mtl_dims_to_json (self->difference.index, mtl_strided_view_get_n_dims (self->a));
}

static char *
dup_element (MtlStridedView *view,
             const gint64   *index)
{
  g_autoptr (MtlStridedView) element = g_object_ref (view);

  while (mtl_strided_view_get_n_dims (element) > 0)
    {
      MtlStridedView *part = mtl_strided_view_select (element, 0, *index++, NULL);

      g_object_unref (element);
      element = part;
    }

  return mtl_strided_view_to_string (element);
}

static char *
number_to_string (double value)
{
  g_autoptr (MtlStridedView) number =
    mtl_strided_view_new_from_doubles (&value, 1, MTL_DTYPE_FLOAT64, NULL, 0, NULL);

  return mtl_strided_view_to_string (number);
}

static void
print_values (const ToolComparison *self,
              const char           *name)
{
  const ToolDifference *difference = &self->difference;

  tool_print ("%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " elements differ", name,
              difference->n_different, difference->n_elements);
  if (difference->n_nan > 0)
    tool_print (", %" G_GUINT64_FORMAT " of them NaN in one file only", difference->n_nan);
  if (difference->is_known && difference->greatest > 0)
    {
      g_autofree char *greatest = number_to_string (difference->greatest);
      g_autofree char *index = dup_index (self);
      g_autofree char *a = dup_element (self->a, difference->index);
      g_autofree char *b = dup_element (self->b, difference->index);

      tool_print (", at most by %s, at %s: %s and %s", greatest, index, a, b);
    }
  tool_print_text ("\n");
}

void
tool_comparison_print (const ToolComparison *self)
{
  g_autofree char *name = tool_escape (self->pair->name);
  g_autofree char *a_shape = tool_dup_shape (self->pair->a);
  g_autofree char *b_shape = tool_dup_shape (self->pair->b);

  if (self->dtype_differs)
    tool_print ("%s: %s and %s\n", name, mtl_tensor_file_entry_get_type_name (self->pair->a),
                mtl_tensor_file_entry_get_type_name (self->pair->b));
  if (self->shape_differs)
    tool_print ("%s: shapes %s and %s\n", name, a_shape, b_shape);
  if (self->is_compared && self->difference.n_different > 0)
    print_values (self, name);
}

static void
print_json_values (const ToolComparison *self)
{
  const ToolDifference *difference = &self->difference;
  const guint n_dims = mtl_strided_view_get_n_dims (self->a);
  g_autofree char *index = dup_index (self);

  tool_print (", \"elements\": %" G_GUINT64_FORMAT ", \"different\": %" G_GUINT64_FORMAT
              ", \"nan\": %" G_GUINT64_FORMAT, difference->n_elements, difference->n_different,
              difference->n_nan);
  if (!difference->is_known)
    return;

  tool_print_text (", \"greatest\": ");
  tool_print_json_float (difference->greatest, FALSE);
  tool_print (", \"index\": %s, \"values\": [", index);
  tool_print_json_element (self->a, difference->index, n_dims, NULL);
  tool_print_text (", ");
  tool_print_json_element (self->b, difference->index, n_dims, NULL);
  tool_print_text ("]");
}

void
tool_comparison_print_json (const ToolComparison *self)
{
  g_autofree char *a_shape = tool_dup_shape (self->pair->a);
  g_autofree char *b_shape = tool_dup_shape (self->pair->b);

  tool_print_text ("{\"name\": ");
  tool_print_json_text (self->pair->name);
  tool_print_text (", \"dtype\": [");
  tool_print_json_text (mtl_tensor_file_entry_get_type_name (self->pair->a));
  tool_print_text (", ");
  tool_print_json_text (mtl_tensor_file_entry_get_type_name (self->pair->b));
  tool_print ("], \"shape\": [%s, %s]", a_shape != NULL ? a_shape : "null",
              b_shape != NULL ? b_shape : "null");
  if (self->is_compared)
    print_json_values (self);
  tool_print_text ("}");
}
