/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The losses of elements that mtldl cp converts. */

#include "mtldl-cp.h"

#include <math.h>
#include <string.h>

#define MAX_REPORTED 10 /* tensors with a line of their own */

typedef struct
{
  MtlDType dtype;
  gboolean is_complex;
  gboolean is_integer;
  double least;   /* the limits of integers, and of floats that have neither infinity nor NaN */
  double largest;
  double smallest; /* the magnitude, of a type without 0; 0 for others */
  ToolLosses *losses;
} Target;

/* Numbers that are too large, or 0, have this value in the type. */
static double
convert (double   value,
         MtlDType dtype)
{
  g_autoptr (MtlStridedView) number =
    mtl_strided_view_new_from_doubles (&value, 1, MTL_DTYPE_FLOAT64, NULL, 0, NULL);
  g_autoptr (MtlStridedView) converted = mtl_strided_view_to_dtype (number, dtype, MTL_ORDER_C,
                                                                    NULL, NULL);
  double real = NAN, imaginary;

  if (converted != NULL)
    mtl_strided_view_get_complex (converted, NULL, 0, &real, &imaginary, NULL);
  return real;
}

static void
target_init (Target     *self,
             MtlDType    dtype,
             ToolLosses *losses)
{
  const guint bits = mtl_dtype_get_bits (dtype);

  *self = (Target) {
    .dtype = dtype,
    .is_complex = tool_dtype_is_complex (dtype),
    .is_integer = tool_dtype_is_integer (dtype),
    .losses = losses,
  };
  if (!self->is_integer)
    {
      self->largest = convert (G_MAXDOUBLE, dtype);
      self->least = convert (-G_MAXDOUBLE, dtype);
      self->smallest = convert (0, dtype);
    }
  else if (tool_dtype_is_signed (dtype))
    {
      self->largest = ldexp (1, bits - 1);
      self->least = -self->largest;
    }
  else
    self->largest = ldexp (1, bits);
}

/* The largest is the one after the range, which a double can hold for all types. */
static void
count_to_integer (const Target      *self,
                  const ToolNumbers *from,
                  const ToolNumbers *to,
                  gint64             i)
{
  const double value = tool_numbers_get_double (from, i);

  if (tool_numbers_are_integers (from))
    self->losses->n_wrapped += tool_numbers_get_distance (from, to, i) != 0;
  else if (isnan (value))
    self->losses->n_no_nan++;
  else
    self->losses->n_clamped += trunc (value) < self->least || trunc (value) >= self->largest;
}

/* Each is a part of a number if that is complex, and 0 or 1 is set. */
static void
compare_floats (const Target *self,
                double        from,
                double        to,
                ToolLosses   *found)
{
  const double magnitude = fabs (from);

  if (isnan (from))
    found->n_no_nan |= !isnan (to);
  else if (isnan (to))
    found->n_nan = 1;
  else if (isinf (to))
    found->n_infinite |= !isinf (from);
  else if (from > self->largest || from < self->least || magnitude < self->smallest)
    found->n_clamped = 1;
  else
    found->n_zero |= from != 0 && to == 0;
}

static void
add (ToolLosses       *self,
     const ToolLosses *other)
{
  self->n_infinite += other->n_infinite;
  self->n_nan += other->n_nan;
  self->n_no_nan += other->n_no_nan;
  self->n_clamped += other->n_clamped;
  self->n_wrapped += other->n_wrapped;
  self->n_zero += other->n_zero;
  self->n_imaginary += other->n_imaginary;
}

static void
count_to_float (const Target      *self,
                const ToolNumbers *from,
                const ToolNumbers *to,
                gint64             i)
{
  ToolLosses found = { 0 };

  compare_floats (self, tool_numbers_get_double (from, i), tool_numbers_get_double (to, i),
                  &found);
  if (self->is_complex)
    compare_floats (self, tool_numbers_get_imaginary (from, i),
                    tool_numbers_get_imaginary (to, i), &found);
  add (self->losses, &found);
}

static gboolean
count_piece (MtlStridedView  *view,
             MtlStridedView  *other,
             const gint64    *position,
             gpointer         user_data,
             GError         **error)
{
  const Target *self = user_data;
  g_autoptr (MtlStridedView) converted = mtl_strided_view_to_dtype (view, self->dtype, MTL_ORDER_C,
                                                                    NULL, error);
  g_auto (ToolNumbers) from = { NULL };
  g_auto (ToolNumbers) to = { NULL };

  if (converted == NULL || !tool_numbers_init (&from, view, error)
      || !tool_numbers_init (&to, converted, error))
    return FALSE;

  for (gint64 i = 0; i < from.n; i++)
    {
      if (self->is_integer)
        count_to_integer (self, &from, &to, i);
      else
        count_to_float (self, &from, &to, i);
      if (!self->is_complex)
        self->losses->n_imaginary += tool_numbers_get_imaginary (&from, i) != 0;
    }

  return TRUE;
}

/* Everything but 0 is true. Many pairs of types need no look at the elements. */
static gboolean
never_loses (MtlDType from,
             MtlDType to)
{
  const gboolean keeps_parts = tool_dtype_is_complex (to) || !tool_dtype_is_complex (from);

  switch (to)
    {
    case MTL_DTYPE_BOOL:
      return TRUE;
    case MTL_DTYPE_FLOAT64:
    case MTL_DTYPE_COMPLEX128:
      return keeps_parts;
    case MTL_DTYPE_FLOAT32:
    case MTL_DTYPE_COMPLEX64:
      return keeps_parts && from != MTL_DTYPE_FLOAT64 && from != MTL_DTYPE_COMPLEX128;
    default:
      return FALSE;
    }
}

gboolean
tool_count_losses (MtlStridedView  *view,
                   MtlDType         dtype,
                   ToolLosses      *losses,
                   GError         **error)
{
  Target target;

  *losses = (ToolLosses) { 0 };
  if (never_loses (mtl_strided_view_get_dtype (view), dtype))
    return TRUE;

  target_init (&target, dtype, losses);
  return tool_visit_pieces (view, NULL, count_piece, &target, error);
}

/* Takes the part over. */
static void
append_loss (GString *text,
             guint64  n,
             char    *part)
{
  if (n > 0)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", part);
  g_free (part);
}

static char *
losses_to_string (const ToolLosses *self)
{
  GString *text = g_string_new (NULL);
  gulong n;

  n = self->n_infinite;
  append_loss (text, n, g_strdup_printf (ngettext ("%lu element became infinite",
                                                   "%lu elements became infinite", n), n));
  n = self->n_nan;
  append_loss (text, n, g_strdup_printf (ngettext ("%lu element became NaN",
                                                   "%lu elements became NaN", n), n));
  n = self->n_no_nan;
  append_loss (text, n, g_strdup_printf (ngettext ("%lu NaN became 0", "%lu NaNs became 0", n),
                                         n));
  n = self->n_clamped;
  append_loss (text, n,
               g_strdup_printf (ngettext ("%lu element out of range became the nearest number",
                                          "%lu elements out of range became the nearest number",
                                          n), n));
  n = self->n_wrapped;
  append_loss (text, n, g_strdup_printf (ngettext ("%lu element out of range wrapped around",
                                                   "%lu elements out of range wrapped around", n),
                                         n));
  n = self->n_zero;
  append_loss (text, n, g_strdup_printf (ngettext ("%lu element too small became 0",
                                                   "%lu elements too small became 0", n), n));
  n = self->n_imaginary;
  append_loss (text, n, g_strdup_printf (ngettext ("%lu element lost its imaginary part",
                                                   "%lu elements lost their imaginary part", n),
                                         n));
  return g_string_free (text, FALSE);
}

static void
report (const ToolCopyItem *item,
        const ToolLosses   *losses)
{
  g_autofree char *shortened = tool_shorten_name (item->new_name);
  g_autofree char *escaped = tool_escape (shortened);
  g_autofree char *dtype = mtl_dtype_to_string (item->dtype);
  g_autofree char *text = losses_to_string (losses);

  tool_complain (_("“%s”, converted to %s: %s"), escaped, dtype, text);
}

static gboolean
is_converted (const ToolCopyItem *item)
{
  return item->dtype != mtl_tensor_file_entry_get_dtype (item->entry);
}

static guint64
count_bytes (GPtrArray *items)
{
  guint64 n = 0;

  for (guint i = 0; i < items->len; i++)
    if (is_converted (items->pdata[i]))
      n += mtl_tensor_file_entry_get_n_bytes (((ToolCopyItem *) items->pdata[i])->entry);
  return n;
}

/* Many tensors share one line at the end. */
gboolean
tool_report_losses (GPtrArray     *items,
                    ToolProgress  *progress,
                    GError       **error)
{
  const ToolLosses none = { 0 };
  ToolLosses others = { 0 };
  guint n_reported = 0, n_others = 0;
  guint64 n_done = 0, n_all = count_bytes (items);

  for (guint i = 0; i < items->len; i++)
    {
      const ToolCopyItem *item = items->pdata[i];
      ToolLosses losses;

      if (!is_converted (item))
        continue;
      if (!tool_count_losses (item->view, item->dtype, &losses, error))
        return FALSE;

      n_done += mtl_tensor_file_entry_get_n_bytes (item->entry);
      tool_progress_update (n_done, n_all, progress);
      if (memcmp (&losses, &none, sizeof losses) == 0)
        continue;

      tool_progress_clear (progress);
      if (n_reported < MAX_REPORTED)
        {
          report (item, &losses);
          n_reported++;
        }
      else
        {
          add (&others, &losses);
          n_others++;
        }
    }

  if (n_others > 0)
    {
      g_autofree char *text = losses_to_string (&others);

      tool_complain (ngettext ("%u other tensor: %s", "%u other tensors: %s", n_others), n_others,
                     text);
    }
  return TRUE;
}
