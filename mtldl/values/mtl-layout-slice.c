/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-layout-private.h"

#include "mtl-error-private.h"

/* Python's rules: negative values count from the end, and all are clamped to the
 * extent. */
static gint64
clamp (gint64   value,
       gboolean given,
       gint64   fallback,
       gint64   extent,
       gint64   step)
{
  gint64 low = step < 0 ? -1 : 0;
  gint64 high = step < 0 ? extent - 1 : extent;

  if (!given)
    return fallback;

  if (value < 0)
    value += extent;

  return CLAMP (value, low, high);
}

static gboolean
resolve_range (const MtlSlice  *slice,
               gint64           extent,
               gint64          *start,
               gint64          *length,
               GError         **error)
{
  gint64 step = MAX (slice->step, -G_MAXINT64);
  gint64 stop;

  if (step == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A step of 0 is not allowed: it has to be at least 1, or at most −1");
      return FALSE;
    }

  *start = clamp (slice->start, slice->has_start, step < 0 ? extent - 1 : 0, extent, step);
  stop = clamp (slice->stop, slice->has_stop, step < 0 ? -1 : extent, extent, step);

  if (step > 0)
    *length = *start < stop ? (stop - *start - 1) / step + 1 : 0;
  else
    *length = stop < *start ? (*start - stop - 1) / -step + 1 : 0;

  return TRUE;
}

/* If there are elements, all these products are within the bounds of self. If there
 * are none, the offset is not changed. */
static void
move (MtlLayout *result,
      gboolean   empty,
      gint64     steps,
      gint64     stride)
{
  if (!empty)
    result->offset += steps * stride;
}

static gint64
stretch (gint64 stride,
         gint64 step)
{
  gint64 stretched;

  /* Can only overflow if the axis has fewer than two elements. */
  return __builtin_mul_overflow (stride, step, &stretched) ? stride : stretched;
}

static gboolean
check_parts (const MtlLayout  *self,
             const MtlSlice   *slices,
             gsize             n_slices,
             guint32          *ellipsis_axes,
             guint32          *n_dims,
             GError          **error)
{
  gsize consumed = 0, dropped = 0, added = 0, ellipses = 0;

  for (gsize i = 0; i < n_slices; i++)
    switch (slices[i].kind)
      {
      case MTL_SLICE_KIND_INDEX:
        consumed++;
        dropped++;
        break;
      case MTL_SLICE_KIND_RANGE:
        consumed++;
        break;
      case MTL_SLICE_KIND_ELLIPSIS:
        ellipses++;
        break;
      case MTL_SLICE_KIND_NEW_AXIS:
        added++;
        break;
      default:
        g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                     "%d is not a kind of slice", slices[i].kind);
        return FALSE;
      }

  if (ellipses > 1)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " ellipses given: an index has at most one", ellipses);
      return FALSE;
    }

  if (consumed > self->n_dims)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "%" G_GSIZE_FORMAT " ind%s given for %u dimension%s", consumed,
                   MTL_ICES (consumed), self->n_dims, MTL_S (self->n_dims));
      return FALSE;
    }

  if (self->n_dims - dropped + added > MTL_LAYOUT_MAX_DIMS)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " dimensions exceed the limit of %d",
                   self->n_dims - dropped + added, MTL_LAYOUT_MAX_DIMS);
      return FALSE;
    }

  *ellipsis_axes = self->n_dims - consumed;
  *n_dims = self->n_dims - dropped + added;
  return TRUE;
}

/* New axes get their strides last, once the strides after them are known. */
static void
set_new_strides (MtlLayout *self,
                 guint64    added)
{
  for (guint32 axis = self->n_dims; axis-- > 0;)
    if (added >> axis & 1)
      mtl_layout_strides (self)[axis] = mtl_layout_stride_before (self, axis);
}

gboolean
mtl_layout_slice (const MtlLayout  *self,
                  const MtlSlice   *slices,
                  gsize             n_slices,
                  MtlLayout        *result,
                  GError          **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  gboolean empty = mtl_layout_is_empty (self);
  guint64 added = 0;
  guint32 ellipsis_axes, n_dims, source = 0, target = 0;
  gint64 *shape, *strides;

  if (!check_parts (self, slices, n_slices, &ellipsis_axes, &n_dims, error))
    return FALSE;

  mtl_layout_init (&layout, n_dims, self->item_bits, self->offset);
  shape = mtl_layout_shape (&layout);
  strides = mtl_layout_strides (&layout);

  /* Axes that no part names are at the ellipsis, or otherwise at the end. */
  for (gsize i = 0; i <= n_slices; i++)
    {
      const MtlSlice *slice = i < n_slices ? &slices[i] : NULL;
      gint64 extent, stride, start, length;

      if (slice == NULL || slice->kind == MTL_SLICE_KIND_ELLIPSIS)
        {
          for (; ellipsis_axes > 0; ellipsis_axes--, source++, target++)
            {
              shape[target] = mtl_layout_shape (self)[source];
              strides[target] = mtl_layout_strides (self)[source];
            }
          continue;
        }

      if (slice->kind == MTL_SLICE_KIND_NEW_AXIS)
        {
          added |= G_GUINT64_CONSTANT (1) << target;
          shape[target++] = 1;
          continue;
        }

      extent = mtl_layout_shape (self)[source];
      stride = mtl_layout_strides (self)[source];
      if (slice->kind == MTL_SLICE_KIND_INDEX)
        {
          if (!mtl_index_resolve (slice->start, extent, source, &start, error))
            return FALSE;
          move (&layout, empty, start, stride);
        }
      else
        {
          if (!resolve_range (slice, extent, &start, &length, error))
            return FALSE;
          move (&layout, empty || length == 0, start, stride);
          shape[target] = length;
          strides[target++] = stretch (stride, slice->step);
        }
      source++;
    }

  set_new_strides (&layout, added);
  *result = layout;
  layout.n_dims = 0;
  return TRUE;
}

/* Slices one axis and keeps all the others. */
static gboolean
slice_axis (const MtlLayout  *self,
            int               axis,
            MtlSlice          slice,
            MtlLayout        *result,
            GError          **error)
{
  MtlSlice slices[MTL_LAYOUT_MAX_DIMS];
  guint resolved;

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  for (guint i = 0; i < resolved; i++)
    slices[i] = MTL_SLICE_ALL;
  slices[resolved] = slice;

  return mtl_layout_slice (self, slices, resolved + 1, result, error);
}

gboolean
mtl_layout_narrow (const MtlLayout  *self,
                   int               axis,
                   gint64            start,
                   gint64            stop,
                   gint64            step,
                   MtlLayout        *result,
                   GError          **error)
{
  return slice_axis (self, axis, MTL_SLICE_STEP (start, stop, step), result, error);
}

gboolean
mtl_layout_select (const MtlLayout  *self,
                   int               axis,
                   gint64            index,
                   MtlLayout        *result,
                   GError          **error)
{
  return slice_axis (self, axis, MTL_SLICE_AT (index), result, error);
}

/* A part of a longer string. */
typedef struct
{
  const char *begin;
  const char *end;
} Text;

/* The text before the separator, without spaces around it. The rest begins after the
 * separator. It is NULL if there is no separator. */
static Text
take_until (Text *rest,
            char  separator)
{
  const char *found = memchr (rest->begin, separator, rest->end - rest->begin);
  Text taken = { rest->begin, found != NULL ? found : rest->end };

  rest->begin = found != NULL ? found + 1 : NULL;
  while (taken.begin < taken.end && g_ascii_isspace (*taken.begin))
    taken.begin++;
  while (taken.begin < taken.end && g_ascii_isspace (taken.end[-1]))
    taken.end--;

  return taken;
}

static gboolean
text_is (Text        text,
         const char *word)
{
  gsize length = strlen (word);

  return (gsize) (text.end - text.begin) == length && memcmp (text.begin, word, length) == 0;
}

static gboolean
set_bad_part (Text         part,
              const char  *string,
              GError     **error)
{
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "“%.*s” in “%s” is neither a number, a range like 1:8:2, … nor newaxis",
               (int) (part.end - part.begin), part.begin, string);
  return FALSE;
}

/* An empty text is valid and leaves `given` FALSE. Numbers beyond 63 bits are beyond
 * every extent, and are clamped. */
static gboolean
parse_number (Text      text,
              gint64   *value,
              gboolean *given)
{
  char *end;

  *given = text.begin < text.end;
  if (!*given)
    return TRUE;

  if (!g_ascii_isdigit (text.begin[*text.begin == '-' || *text.begin == '+']))
    return FALSE;

  *value = g_ascii_strtoll (text.begin, &end, 10); /* the character after the text is not a digit */
  return end == text.end;
}

static gboolean
parse_range (Text      rest,
             MtlSlice *slice)
{
  gboolean has_step;

  slice->kind = MTL_SLICE_KIND_RANGE;
  if (!parse_number (take_until (&rest, ':'), &slice->stop, &slice->has_stop))
    return FALSE;

  return rest.begin == NULL
         || (parse_number (take_until (&rest, ':'), &slice->step, &has_step)
             && rest.begin == NULL);
}

static gboolean
parse_part (Text      text,
            MtlSlice *slice)
{
  Text rest = text;

  *slice = (MtlSlice) { .kind = MTL_SLICE_KIND_INDEX, .step = 1 };

  if (text_is (text, "...") || text_is (text, "…"))
    {
      slice->kind = MTL_SLICE_KIND_ELLIPSIS;
      return TRUE;
    }

  if (text_is (text, "newaxis") || text_is (text, "None"))
    {
      slice->kind = MTL_SLICE_KIND_NEW_AXIS;
      return TRUE;
    }

  if (!parse_number (take_until (&rest, ':'), &slice->start, &slice->has_start))
    return FALSE;

  return rest.begin != NULL ? parse_range (rest, slice) : slice->has_start;
}

gboolean
mtl_layout_slice_string (const MtlLayout  *self,
                         const char       *string,
                         MtlLayout        *result,
                         GError          **error)
{
  MtlSlice slices[2 * MTL_LAYOUT_MAX_DIMS + 1];
  Text rest = { string, string + strlen (string) };
  gsize n = 0;

  while (rest.begin != NULL)
    {
      Text part = take_until (&rest, ',');

      if (rest.begin == NULL && part.begin == part.end) /* a trailing comma, or an empty string */
        break;

      if (n == G_N_ELEMENTS (slices))
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The index has more than the limit of %" G_GSIZE_FORMAT " parts", n);
          return FALSE;
        }

      if (!parse_part (part, &slices[n++]))
        return set_bad_part (part, string, error);
    }

  return mtl_layout_slice (self, slices, n, result, error);
}
