/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-layout-private.h"

#include "mtl-error-private.h"

void
mtl_layout_transpose (const MtlLayout *self,
                      MtlLayout       *result)
{
  guint32 n = self->n_dims;

  mtl_layout_init (result, n, self->item_bits, self->offset);
  for (guint32 i = 0; i < n; i++)
    {
      mtl_layout_shape (result)[i] = mtl_layout_shape (self)[n - 1 - i];
      mtl_layout_strides (result)[i] = mtl_layout_strides (self)[n - 1 - i];
    }
}

gboolean
mtl_layout_swap_axes (const MtlLayout  *self,
                      int               axis_a,
                      int               axis_b,
                      MtlLayout        *result,
                      GError          **error)
{
  guint a, b;

  if (!mtl_axis_resolve (axis_a, self->n_dims, &a, error)
      || !mtl_axis_resolve (axis_b, self->n_dims, &b, error))
    return FALSE;

  mtl_layout_copy (self, result);
  mtl_layout_shape (result)[a] = mtl_layout_shape (self)[b];
  mtl_layout_shape (result)[b] = mtl_layout_shape (self)[a];
  mtl_layout_strides (result)[a] = mtl_layout_strides (self)[b];
  mtl_layout_strides (result)[b] = mtl_layout_strides (self)[a];
  return TRUE;
}

/* Drops the axes whose bits are set. */
static void
drop_axes (const MtlLayout *self,
           guint64          dropped,
           MtlLayout       *result)
{
  guint32 kept = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    kept += !(dropped >> i & 1);

  mtl_layout_init (result, kept, self->item_bits, self->offset);
  kept = 0;
  for (guint32 i = 0; i < self->n_dims; i++)
    {
      if (dropped >> i & 1)
        continue;
      mtl_layout_shape (result)[kept] = mtl_layout_shape (self)[i];
      mtl_layout_strides (result)[kept] = mtl_layout_strides (self)[i];
      kept++;
    }
}

void
mtl_layout_squeeze (const MtlLayout *self,
                    MtlLayout       *result)
{
  guint64 dropped = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    if (mtl_layout_shape (self)[i] == 1)
      dropped |= G_GUINT64_CONSTANT (1) << i;

  drop_axes (self, dropped, result);
}

gboolean
mtl_layout_squeeze_axes (const MtlLayout  *self,
                         const int        *axes,
                         gsize             n_axes,
                         MtlLayout        *result,
                         GError          **error)
{
  guint64 dropped;

  if (!mtl_axes_resolve (axes, n_axes, self->n_dims, NULL, &dropped, error))
    return FALSE;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (self)[i];

      if ((dropped >> i & 1) && extent != 1)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "Axis %u has extent %" G_GINT64_FORMAT ": only an extent of 1 can be"
                       " squeezed", i, extent);
          return FALSE;
        }
    }

  drop_axes (self, dropped, result);
  return TRUE;
}

gboolean
mtl_layout_unsqueeze (const MtlLayout  *self,
                      const int        *axes,
                      gsize             n_axes,
                      MtlLayout        *result,
                      GError          **error)
{
  gsize n_dims = self->n_dims + n_axes;
  guint64 added;
  guint32 source = self->n_dims;

  if (n_axes > MTL_LAYOUT_MAX_DIMS - self->n_dims)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GSIZE_FORMAT " new axes beside %u exceed the limit of %d dimensions",
                   n_axes, self->n_dims, MTL_LAYOUT_MAX_DIMS);
      return FALSE;
    }

  if (!mtl_axes_resolve (axes, n_axes, n_dims, NULL, &added, error))
    return FALSE;

  mtl_layout_init (result, n_dims, self->item_bits, self->offset);
  for (guint32 i = n_dims; i > 0; i--)
    {
      guint32 axis = i - 1;

      if (added >> axis & 1)
        {
          mtl_layout_shape (result)[axis] = 1;
          mtl_layout_strides (result)[axis] = mtl_layout_stride_before (result, axis);
        }
      else
        {
          source--;
          mtl_layout_shape (result)[axis] = mtl_layout_shape (self)[source];
          mtl_layout_strides (result)[axis] = mtl_layout_strides (self)[source];
        }
    }

  return TRUE;
}

static gboolean
set_cannot_broadcast (const MtlLayout  *self,
                      const gint64     *shape,
                      gsize             n_dims,
                      GError          **error)
{
  g_autofree char *from = mtl_dims_to_string (mtl_layout_shape (self), self->n_dims);
  g_autofree char *to = mtl_dims_to_string (shape, n_dims);

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The shape %s cannot be broadcast to %s", from, to);
  return FALSE;
}

gboolean
mtl_layout_broadcast_to (const MtlLayout  *self,
                         const gint64     *shape,
                         gsize             n_dims,
                         MtlLayout        *result,
                         GError          **error)
{
  gint64 strides[MTL_LAYOUT_MAX_DIMS];
  gsize added;

  if (n_dims > MTL_LAYOUT_MAX_DIMS)
    return mtl_layout_new (shape, NULL, n_dims, 0, self->item_bits, result, error);

  if (n_dims < self->n_dims)
    return set_cannot_broadcast (self, shape, n_dims, error);

  added = n_dims - self->n_dims;
  for (gsize i = 0; i < n_dims; i++)
    {
      gint64 extent = i < added ? 1 : mtl_layout_shape (self)[i - added];

      if (shape[i] == extent && i >= added)
        strides[i] = mtl_layout_strides (self)[i - added];
      else if (extent == 1)
        strides[i] = 0;
      else
        return set_cannot_broadcast (self, shape, n_dims, error);
    }

  return mtl_layout_new (shape, strides, n_dims, self->offset, self->item_bits, result, error);
}

gboolean
mtl_layout_flip (const MtlLayout  *self,
                 int               axis,
                 MtlLayout        *result,
                 GError          **error)
{
  guint resolved;
  gint64 stride, extent;

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  /* If the stride cannot be negated, the axis has fewer than two elements. */
  extent = mtl_layout_shape (self)[resolved];
  mtl_layout_copy (self, result);
  if (__builtin_sub_overflow (0, mtl_layout_strides (self)[resolved], &stride))
    return TRUE;

  mtl_layout_strides (result)[resolved] = stride;
  if (extent > 1 && !mtl_layout_is_empty (self))
    result->offset -= stride * (extent - 1);

  return TRUE;
}

/* Replaces a single -1 by the extent that preserves the volume. */
gboolean
mtl_layout_resolve_shape (const MtlLayout  *self,
                          const gint64     *shape,
                          gsize             n_dims,
                          gint64           *resolved,
                          GError          **error)
{
  g_autofree char *string = NULL;
  gint64 volume = mtl_layout_get_volume (self);
  gint64 product = 1;
  int unknown = -1;
  gboolean empty = FALSE, overflow = FALSE;

  if (!mtl_layout_check_n_dims (n_dims, error))
    return FALSE;

  for (gsize i = 0; i < n_dims; i++)
    {
      if (shape[i] < -1 || (shape[i] == -1 && unknown >= 0))
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The extent %" G_GINT64_FORMAT " of axis %" G_GSIZE_FORMAT " is negative:"
                       " only one may be −1, which stands for the rest",
                       shape[i], i);
          return FALSE;
        }

      resolved[i] = shape[i];
      empty |= shape[i] == 0;
      if (shape[i] == -1)
        unknown = i;
      else
        overflow |= __builtin_mul_overflow (product, shape[i], &product);
    }

  if (empty)
    product = 0;
  else if (overflow)
    product = -1; /* no volume is this large */

  if (unknown >= 0 && product > 0 && volume % product == 0)
    resolved[unknown] = volume / product;
  else if (unknown >= 0 || product != volume)
    {
      string = mtl_dims_to_string (shape, n_dims);
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "%" G_GINT64_FORMAT " elements cannot take the shape %s", volume, string);
      return FALSE;
    }

  return TRUE;
}

static gboolean
refuse_shape (const MtlLayout  *self,
              const gint64     *shape,
              gsize             n_dims,
              GError          **error)
{
  g_autofree char *from = mtl_layout_to_string (self);
  g_autofree char *to = mtl_dims_to_string (shape, n_dims);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "A layout of %s can only take the shape %s after a copy", from, to);
  return FALSE;
}

/* Merges axes that have equal steps through memory, and drops those of extent 1. */
static guint32
merge_axes (const MtlLayout *self,
            gint64          *extents,
            gint64          *strides)
{
  guint32 n = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (self)[i];
      gint64 stride = mtl_layout_strides (self)[i];
      gint64 step;

      if (extent == 1)
        continue;

      if (n > 0 && !__builtin_mul_overflow (stride, extent, &step) && strides[n - 1] == step)
        {
          extents[n - 1] *= extent;
          strides[n - 1] = stride;
        }
      else
        {
          extents[n] = extent;
          strides[n] = stride;
          n++;
        }
    }

  return n;
}

/* Distributes the merged axes over the new ones, from the right. */
gboolean
mtl_layout_reshape (const MtlLayout  *self,
                    const gint64     *shape,
                    gsize             n_dims,
                    MtlLayout        *result,
                    GError          **error)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  gint64 resolved[MTL_LAYOUT_MAX_DIMS];
  gint64 extents[MTL_LAYOUT_MAX_DIMS], strides[MTL_LAYOUT_MAX_DIMS];
  gint64 left = 1, stride = 1;
  guint32 n;

  if (!mtl_layout_resolve_shape (self, shape, n_dims, resolved, error))
    return FALSE;

  if (mtl_layout_is_empty (self))
    return mtl_layout_new (resolved, NULL, n_dims, self->offset, self->item_bits, result, error);

  n = merge_axes (self, extents, strides);
  mtl_layout_init (&layout, n_dims, self->item_bits, self->offset);
  if (n_dims > 0)
    memcpy (mtl_layout_shape (&layout), resolved, n_dims * sizeof (gint64));

  for (gsize axis = n_dims; axis-- > 0;)
    {
      gint64 extent = resolved[axis];

      if (extent == 1)
        {
          mtl_layout_strides (&layout)[axis] = mtl_layout_stride_before (&layout, axis);
          continue;
        }

      if (left == 1)
        {
          n--;
          left = extents[n];
          stride = strides[n];
        }

      if (left % extent != 0)
        return refuse_shape (self, resolved, n_dims, error);

      mtl_layout_strides (&layout)[axis] = stride;
      left /= extent;
      if (left > 1)
        stride *= extent;
    }

  *result = layout;
  layout.n_dims = 0;
  return TRUE;
}

static gboolean
can_merge (const MtlLayout *self,
           gint64           stride,
           gint64           extent,
           guint32          axis)
{
  gint64 next = mtl_layout_shape (self)[axis];
  gint64 step;

  return next == 1 || extent == 1
         || (!__builtin_mul_overflow (mtl_layout_strides (self)[axis], next, &step)
             && stride == step);
}

/* Bit i is set if axis i continues in memory where axis i - 1 ends. */
guint64
mtl_layout_get_flatten_mask (const MtlLayout *self)
{
  gboolean empty = mtl_layout_is_empty (self);
  guint64 mask = 0;
  gint64 extent = 1, stride = 0;

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 next = mtl_layout_shape (self)[i];

      if (i > 0 && (empty || can_merge (self, stride, extent, i)))
        mask |= G_GUINT64_CONSTANT (1) << i;
      else
        extent = 1;

      if (next != 1)
        {
          extent = next;
          stride = mtl_layout_strides (self)[i];
        }
    }

  return mask;
}

/* No product matters if the group of axes that this one is merged into has an extent of
 * 0. */
static gboolean
merges_with_zero (const MtlLayout *self,
                  guint64          mask,
                  guint32          axis)
{
  const gint64 *shape = mtl_layout_shape (self);
  guint32 first = axis, last = axis;

  while (mask >> first & 1)
    first--;
  while (last + 1 < self->n_dims && (mask >> (last + 1) & 1))
    last++;

  for (guint32 i = first; i <= last; i++)
    if (shape[i] == 0)
      return TRUE;

  return FALSE;
}

gboolean
mtl_layout_flatten_mask (const MtlLayout  *self,
                         guint64           mask,
                         MtlLayout        *result,
                         GError          **error)
{
  gint64 shape[MTL_LAYOUT_MAX_DIMS];
  guint64 axes = self->n_dims == MTL_LAYOUT_MAX_DIMS
                   ? G_MAXUINT64
                   : (G_GUINT64_CONSTANT (1) << self->n_dims) - 1;
  guint32 n = 0;

  if (mask & (~axes | 1))
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The mask 0x%" G_GINT64_MODIFIER "x names axes that cannot be merged into"
                   " the one before: there are %u", mask, self->n_dims);
      return FALSE;
    }

  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 extent = mtl_layout_shape (self)[i];

      if (!(mask >> i & 1))
        shape[n++] = extent;
      else if (merges_with_zero (self, mask, i))
        shape[n - 1] = 0;
      else if (__builtin_mul_overflow (shape[n - 1], extent, &shape[n - 1]))
        {
          g_autofree char *string = mtl_layout_to_string (self);

          g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
                       "The merged extent of a layout of %s is beyond the limit of 2^63 − 1",
                       string);
          return FALSE;
        }
    }

  return mtl_layout_reshape (self, shape, n, result, error);
}

gboolean
mtl_layout_flatten (const MtlLayout  *self,
                    int               first,
                    int               last,
                    MtlLayout        *result,
                    GError          **error)
{
  const gint64 one = 1;
  guint64 mask = 0;
  guint from, to;

  if (self->n_dims == 0 && (first == 0 || first == -1) && (last == 0 || last == -1))
    return mtl_layout_reshape (self, &one, 1, result, error);

  if (!mtl_axis_resolve (first, self->n_dims, &from, error)
      || !mtl_axis_resolve (last, self->n_dims, &to, error))
    return FALSE;

  if (from > to)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The first axis, %d, comes after the last, %d", first, last);
      return FALSE;
    }

  for (guint axis = from + 1; axis <= to; axis++)
    mask |= G_GUINT64_CONSTANT (1) << axis;

  return mtl_layout_flatten_mask (self, mask, result, error);
}

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

  if (!mtl_layout_check_n_dims (self->n_dims - dropped + added, error))
    return FALSE;

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

/* Reinterprets the memory as smaller or larger items. */

static gboolean
is_dense_axis (const MtlLayout *self,
               guint32          axis)
{
  return mtl_layout_strides (self)[axis] == 1 || !mtl_layout_is_walked (self, axis);
}

static gboolean
refuse_items (const MtlLayout  *self,
              guint32           item_bits,
              const char       *why,
              GError          **error)
{
  g_autofree char *string = mtl_layout_to_string (self);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "A layout of %s can only have items of %u bits after a copy: %s",
               string, item_bits, why);
  return FALSE;
}

static gboolean
set_overflow (const MtlLayout  *self,
              guint32           item_bits,
              GError          **error)
{
  g_autofree char *string = mtl_layout_to_string (self);

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "A layout of %s in items of %u bits goes beyond the limit of 2^63 − 1",
               string, item_bits);
  return FALSE;
}

/* Merges each `factor` contiguous items into one. */
static gboolean
pack (const MtlLayout  *self,
      guint             axis,
      gint64            factor,
      guint32           item_bits,
      MtlLayout        *result,
      GError          **error)
{
  gint64 extent = mtl_layout_shape (self)[axis];

  if (extent % factor != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The extent %" G_GINT64_FORMAT " of axis %u is not a multiple of %"
                   G_GINT64_FORMAT ": that many items of %u bits make one of %u",
                   extent, axis, factor, self->item_bits, item_bits);
      return FALSE;
    }

  if (self->offset % factor != 0 && !mtl_layout_is_empty (self))
    return refuse_items (self, item_bits, "the offset lies within such an item", error);

  for (guint i = 0; i < self->n_dims; i++)
    if (i != axis && mtl_layout_is_walked (self, i) && mtl_layout_strides (self)[i] % factor != 0)
      return refuse_items (self, item_bits, "a stride is not a whole number of such items", error);

  mtl_layout_init (result, self->n_dims, item_bits, self->offset / factor);
  for (guint i = self->n_dims; i-- > 0;)
    {
      gint64 stride = mtl_layout_strides (self)[i];

      mtl_layout_shape (result)[i] = i == axis ? extent / factor : mtl_layout_shape (self)[i];
      if (i == axis)
        mtl_layout_strides (result)[i] = 1;
      else if (stride % factor == 0)
        mtl_layout_strides (result)[i] = stride / factor;
      else
        mtl_layout_strides (result)[i] = mtl_layout_stride_before (result, i);
    }

  return TRUE;
}

/* Splits each item into `factor` items. */
static gboolean
unpack (const MtlLayout  *self,
        guint             axis,
        gint64            factor,
        guint32           item_bits,
        MtlLayout        *result,
        GError          **error)
{
  gint64 shape[MTL_LAYOUT_MAX_DIMS], strides[MTL_LAYOUT_MAX_DIMS];
  gint64 offset;

  if (mtl_layout_is_empty (self))
    offset = 0;
  else if (__builtin_mul_overflow (self->offset, factor, &offset))
    return set_overflow (self, item_bits, error);

  for (guint i = 0; i < self->n_dims; i++)
    {
      shape[i] = mtl_layout_shape (self)[i];
      if (!__builtin_mul_overflow (mtl_layout_strides (self)[i], factor, &strides[i]))
        continue;
      if (mtl_layout_is_walked (self, i))
        return set_overflow (self, item_bits, error);
      strides[i] = 1;
    }

  strides[axis] = 1;
  if (__builtin_mul_overflow (shape[axis], factor, &shape[axis]))
    return set_overflow (self, item_bits, error);

  return mtl_layout_new (shape, strides, self->n_dims, offset, item_bits, result, error);
}

/* A layout without dimensions can only keep its item size. */
gboolean
mtl_layout_repack (const MtlLayout  *self,
                   guint32           item_bits,
                   int               axis,
                   MtlLayout        *result,
                   GError          **error)
{
  g_auto (MtlLayout) repacked = MTL_LAYOUT_INIT;
  guint32 larger = MAX (item_bits, self->item_bits);
  guint32 smaller = MIN (item_bits, self->item_bits);
  guint resolved;

  if (item_bits == self->item_bits && self->n_dims == 0)
    {
      mtl_layout_copy (self, result);
      return TRUE;
    }

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  if (smaller == 0 || larger % smaller != 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "Items of %u bits cannot become items of %u bits: one size has to be a multiple"
                   " of the other", self->item_bits, item_bits);
      return FALSE;
    }

  if (item_bits == self->item_bits)
    mtl_layout_copy (self, &repacked);
  else if (!is_dense_axis (self, resolved))
    return refuse_items (self, item_bits, "the items are not contiguous", error);
  else if (!(item_bits > self->item_bits ? pack : unpack) (self, resolved, larger / smaller,
                                                           item_bits, &repacked, error))
    return FALSE;

  *result = repacked;
  repacked.n_dims = 0;
  return TRUE;
}

/* The innermost axis, judged by the strides alone. Axes of extent 1 count, too, so
 * the result does not depend on the extents. If no stride is 1, it is the last axis,
 * as -1. */
int
mtl_layout_find_dense_axis (const MtlLayout *self)
{
  const gint64 *shape = mtl_layout_shape (self);
  int found = -1;

  for (guint32 axis = 0; axis < self->n_dims; axis++)
    if (mtl_layout_strides (self)[axis] == 1
        && (found < 0 || shape[found] != 1 || shape[axis] == 1))
      found = axis;

  return found;
}

gboolean
mtl_layout_spread_lanes (const MtlLayout  *self,
                         guint             lanes,
                         MtlLayout        *result,
                         GError          **error)
{
  g_auto (MtlLayout) spread = MTL_LAYOUT_INIT;
  gboolean empty = mtl_layout_is_empty (self);
  guint32 lane_bits = self->item_bits / lanes;
  gint64 volume, min, max;

  mtl_layout_init (&spread, self->n_dims + 1, lane_bits, 0);
  for (guint32 i = 0; i < self->n_dims; i++)
    {
      gint64 *stride = &mtl_layout_strides (&spread)[i];

      mtl_layout_shape (&spread)[i] = mtl_layout_shape (self)[i];
      *stride = 0;
      if (mtl_layout_is_walked (self, i)
          && __builtin_mul_overflow (mtl_layout_strides (self)[i], lanes, stride))
        return set_overflow (self, lane_bits, error);
    }
  mtl_layout_shape (&spread)[self->n_dims] = lanes;
  mtl_layout_strides (&spread)[self->n_dims] = 1;

  if (__builtin_mul_overflow (mtl_layout_get_volume (self), lanes, &volume)
      || (!empty && __builtin_mul_overflow (self->offset, lanes, &spread.offset))
      || !mtl_layout_add_up_bounds (&spread, &min, &max))
    return set_overflow (self, lane_bits, error);

  *result = spread;
  spread.n_dims = 0;
  return TRUE;
}

/* The largest items that divide max_item_bits, that mtl_layout_repack() can produce
 * along the axis, and that are aligned if element offset 0 is at the address. */
gboolean
mtl_layout_get_max_compatible_item_bits (const MtlLayout  *self,
                                         guint32           max_item_bits,
                                         guint64           address,
                                         int               axis,
                                         guint32          *item_bits,
                                         GError          **error)
{
  guint64 factor, most, alignment;
  guint resolved;

  if (!mtl_axis_resolve (axis, self->n_dims, &resolved, error))
    return FALSE;

  *item_bits = self->item_bits;
  if (max_item_bits == 0 || max_item_bits % self->item_bits != 0
      || !is_dense_axis (self, resolved))
    return TRUE;

  factor = max_item_bits / self->item_bits;
  factor = mtl_gcd (factor, mtl_layout_shape (self)[resolved]);
  if (!mtl_layout_is_empty (self))
    factor = mtl_gcd (factor, mtl_magnitude (self->offset));
  for (guint i = 0; i < self->n_dims; i++)
    if (i != resolved && mtl_layout_is_walked (self, i))
      factor = mtl_gcd (factor, mtl_magnitude (mtl_layout_strides (self)[i]));

  /* Modulo the item size, so that the address in bits does not overflow. */
  most = factor * self->item_bits;
  alignment = mtl_gcd (address % most * 8, most);
  if (alignment % self->item_bits == 0)
    *item_bits = alignment;

  return TRUE;
}
