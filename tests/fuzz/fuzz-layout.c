/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sequences of operations on layouts, checked against lists of all offsets. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DIMS 64
#define MAX_OPERATIONS 12
#define MEMORY_SIZE 4096

/* The effect of an operation on the elements. */
typedef enum
{
  SAME_ORDER,  /* nothing */
  SAME_ONES,   /* puts them into another order */
  REPEATED,    /* names some more than once, but leaves none out */
  FEWER,       /* leaves some out */
  ELSEWHERE,   /* puts them somewhere else */
  REPACKED,    /* makes others of their bits */
} Effect;

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  g_type_ensure (MTL_TYPE_STRIDED_LAYOUT);
  g_type_ensure (MTL_TYPE_STRIDED_VIEW);
  g_type_ensure (MTL_TYPE_BUFFER);
  mtl_device_get_default ();
  return 0;
}

static gsize
read_dims (Input  *input,
           gint64 *dims,
           gint64 (* read) (Input *input))
{
  gsize n = input_byte (input) % 16;

  if (n == 15)
    n = input_byte (input) % (MAX_DIMS + 2);
  for (gsize i = 0; i < n; i++)
    dims[i] = read (input);

  return n;
}

static gsize
read_axes (Input *input,
           int   *axes)
{
  gsize n = input_byte (input) % 8;

  for (gsize i = 0; i < n; i++)
    axes[i] = input_axis (input);

  return n;
}

static MtlStridedLayout *
read_layout (Input   *input,
             GError **error)
{
  static const guint item_bits[] = { 8, 4, 6, 1, 12, 16, 32, 64, 128, 0, 24, 255 * 65535 };
  gint64 shape[MAX_DIMS + 2], strides[MAX_DIMS + 2];
  guint kind = input_byte (input);
  guint bits = item_bits[kind / 8 % G_N_ELEMENTS (item_bits)];
  gsize n_dims = read_dims (input, shape, input_extent);

  if (kind % 4 == 0)
    return mtl_strided_layout_new (shape, n_dims, NULL, 0, bits, error);
  if (kind % 4 == 1)
    return mtl_strided_layout_new_dense (shape, n_dims, input_byte (input) % 4, bits, error);

  for (gsize i = 0; i < n_dims; i++)
    strides[i] = input_int64 (input);
  if (kind % 4 == 2)
    return mtl_strided_layout_new (shape, n_dims, strides, n_dims, bits, error);

  return mtl_strided_layout_new_with_byte_strides (shape, n_dims, strides, n_dims, bits, error);
}

static MtlStridedLayout *
slice (MtlStridedLayout  *layout,
       Input             *input,
       GError           **error)
{
  MtlSlice slices[8];
  gsize n = input_byte (input) % G_N_ELEMENTS (slices);

  for (gsize i = 0; i < n; i++)
    {
      guint8 flags = input_byte (input);

      slices[i] = (MtlSlice) {
        .kind = flags % 4,
        .has_start = flags >> 2 & 1,
        .has_stop = flags >> 3 & 1,
        .start = input_int64 (input),
        .stop = input_int64 (input),
        .step = flags >> 4 & 1 ? input_int64 (input) : 1,
      };
    }

  return mtl_strided_layout_slice (layout, slices, n, error);
}

static MtlStridedLayout *
slice_string (MtlStridedLayout  *layout,
              Input             *input,
              GError           **error)
{
  static const char letters[] = "0123456789-:,. newaxis;\xff";
  char string[24];
  gsize n = input_byte (input) % sizeof string;

  for (gsize i = 0; i < n; i++)
    string[i] = letters[input_byte (input) % (sizeof letters - 1)];
  string[n] = '\0';

  return mtl_strided_layout_slice_string (layout, string, error);
}

static MtlStridedLayout *
operate (MtlStridedLayout  *layout,
         Input             *input,
         Effect            *effect,
         GError           **error)
{
  gint64 dims[MAX_DIMS + 2];
  int axes[8];
  gsize n;

  *effect = SAME_ORDER;
  switch (input_byte (input) % 18)
    {
    case 0:
      n = read_dims (input, dims, input_int64);
      return mtl_strided_layout_reshape (layout, dims, n, error);
    case 1:
      axes[0] = input_axis (input);
      return mtl_strided_layout_flatten (layout, axes[0], input_axis (input), error);
    case 2:
      return mtl_strided_layout_flatten_mask (layout, mtl_strided_layout_get_flatten_mask (layout),
                                              error);
    case 3:
      return mtl_strided_layout_flatten_mask (layout, input_word (input), error);
    case 4:
      return mtl_strided_layout_squeeze (layout);
    case 5:
      n = read_axes (input, axes);
      return mtl_strided_layout_squeeze_axes (layout, axes, n, error);
    case 6:
      n = read_axes (input, axes);
      return mtl_strided_layout_unsqueeze (layout, axes, n, error);
    case 7:
      *effect = SAME_ONES;
      n = read_axes (input, axes);
      return mtl_strided_layout_permute (layout, axes, n, error);
    case 8:
      *effect = SAME_ONES;
      return mtl_strided_layout_transpose (layout);
    case 9:
      *effect = SAME_ONES;
      axes[0] = input_axis (input);
      return mtl_strided_layout_swap_axes (layout, axes[0], input_axis (input), error);
    case 10:
      *effect = SAME_ONES;
      return mtl_strided_layout_flip (layout, input_axis (input), error);
    case 11:
      *effect = REPEATED;
      n = read_dims (input, dims, input_extent);
      return mtl_strided_layout_broadcast_to (layout, dims, n, error);
    case 12:
      *effect = FEWER;
      axes[0] = input_axis (input);
      for (int i = 0; i < 3; i++)
        dims[i] = input_int64 (input);
      return mtl_strided_layout_narrow (layout, axes[0], dims[0], dims[1], dims[2], error);
    case 13:
      *effect = FEWER;
      axes[0] = input_axis (input);
      return mtl_strided_layout_select (layout, axes[0], input_int64 (input), error);
    case 14:
      *effect = FEWER;
      return input_byte (input) % 2 == 0 ? slice (layout, input, error)
                                         : slice_string (layout, input, error);
    case 15:
    case 16:
      *effect = REPACKED;
      axes[0] = input_axis (input);
      n = input_byte (input);
      return mtl_strided_layout_repack (layout, n % 4 == 3 ? n : 1u << n % 8, axes[0],
                                        error);
    default:
      *effect = ELSEWHERE;
      return mtl_strided_layout_to_dense (layout, input_byte (input) % 4, error);
    }
}

static int
compare_offsets (gconstpointer a,
                 gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
check_elements (const gint64 *before,
                gint64        n_before,
                const gint64 *after,
                gint64        n_after,
                Effect        effect)
{
  g_autofree gint64 *sorted_before = g_memdup2 (before, n_before * sizeof (gint64));
  g_autofree gint64 *sorted_after = g_memdup2 (after, n_after * sizeof (gint64));

  if (effect == ELSEWHERE || effect == SAME_ORDER || effect == SAME_ONES)
    g_assert_cmpint (n_before, ==, n_after);
  if (effect == SAME_ORDER)
    g_assert_cmpmem (before, n_before * sizeof (gint64), after, n_after * sizeof (gint64));
  if (effect == ELSEWHERE || n_after == 0 || n_before == 0)
    return;

  qsort (sorted_before, n_before, sizeof (gint64), compare_offsets);
  qsort (sorted_after, n_after, sizeof (gint64), compare_offsets);
  if (effect == SAME_ONES)
    g_assert_cmpmem (sorted_before, n_before * sizeof (gint64),
                     sorted_after, n_after * sizeof (gint64));

  /* None is new, and where none is left out, all are there. */
  for (gint64 i = 0; i < n_after; i++)
    g_assert_nonnull (bsearch (&after[i], sorted_before, n_before, sizeof (gint64),
                               compare_offsets));
  for (gint64 i = 0; i < n_before && effect == REPEATED; i++)
    g_assert_nonnull (bsearch (&before[i], sorted_after, n_after, sizeof (gint64),
                               compare_offsets));
}

/* Each query, against the list. */
static void
check_queries (MtlStridedLayout *layout,
               const gint64     *offsets)
{
  gint64 volume = mtl_strided_layout_get_volume (layout);
  g_autofree gint64 *sorted = g_memdup2 (offsets, volume * sizeof (gint64));
  gboolean is_run = TRUE, is_sorted_run = TRUE, repeats = FALSE;
  gint64 min, max;

  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  if (volume == 0)
    {
      g_assert_cmpint (min, ==, 0);
      g_assert_cmpint (max, ==, -1);
      return;
    }

  qsort (sorted, volume, sizeof (gint64), compare_offsets);
  g_assert_cmpint (min, ==, sorted[0]);
  g_assert_cmpint (max, ==, sorted[volume - 1]);
  for (gint64 i = 1; i < volume; i++)
    {
      is_run &= offsets[i] - offsets[0] == i;
      is_sorted_run &= sorted[i] - sorted[0] == i;
      repeats |= sorted[i] == sorted[i - 1];
    }

  g_assert_true (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_C) == is_run);
  if (mtl_strided_layout_is_contiguous (layout, MTL_ORDER_F)
      || mtl_strided_layout_is_contiguous (layout, MTL_ORDER_ANY)
      || mtl_strided_layout_is_dense (layout))
    g_assert_true (is_sorted_run);
  if (mtl_strided_layout_is_dense (layout))
    g_assert_cmpint (min, ==, 0);
  g_assert_true (mtl_strided_layout_is_unique (layout) == !repeats);
}

/* Checks the properties of every layout, however large. */
static void
check_layout (MtlStridedLayout *layout)
{
  g_autofree char *string = mtl_strided_layout_to_string (layout);
  g_autoptr (GError) error = NULL;
  g_autofree gint64 *byte_strides = NULL;
  g_autofree int *order = NULL;
  gsize n_dims, n_strides, n_axes;
  const gint64 *shape = mtl_strided_layout_get_shape (layout, &n_dims);
  gint64 volume = 1, min, max;
  guint64 seen = 0;
  gboolean is_empty = FALSE;

  g_assert_nonnull (string);
  g_assert_cmpuint (n_dims, <=, MAX_DIMS);
  for (gsize i = 0; i < n_dims; i++)
    {
      g_assert_cmpint (shape[i], >=, 0);
      is_empty |= shape[i] == 0;
    }
  for (gsize i = 0; i < n_dims && !is_empty; i++)
    g_assert_false (__builtin_mul_overflow (volume, shape[i], &volume));
  g_assert_cmpint (mtl_strided_layout_get_volume (layout), ==, is_empty ? 0 : volume);
  g_assert_true (mtl_strided_layout_is_empty (layout) == is_empty);

  order = mtl_strided_layout_dup_stride_order (layout, &n_axes);
  g_assert_cmpuint (n_axes, ==, n_dims);
  for (gsize i = 0; i < n_axes; i++)
    {
      g_assert_cmpint (order[i], <, n_dims);
      seen |= G_GUINT64_CONSTANT (1) << order[i];
    }
  g_assert_cmpuint (seen, ==, n_dims == 0 ? 0 : G_MAXUINT64 >> (64 - n_dims));

  byte_strides = mtl_strided_layout_dup_byte_strides (layout, &n_strides, &error);
  check_result (byte_strides != NULL || n_dims == 0, &error);
  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  mtl_strided_layout_get_required_size (layout, &error);
  if (min < 0)
    g_assert_nonnull (error);
  g_clear_error (&error);

  mtl_strided_layout_is_unique (layout);
  g_assert_true (mtl_strided_layout_equal (layout, layout));
}

static void
check_bounds (MtlStridedLayout *before,
              MtlStridedLayout *after)
{
  gint64 min, max, new_min, new_max;

  mtl_strided_layout_get_offset_bounds (before, &min, &max);
  mtl_strided_layout_get_offset_bounds (after, &new_min, &new_max);
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (before), ==,
                    mtl_strided_layout_get_item_bits (after));
  if (new_min > new_max)
    return;

  g_assert_cmpint (new_min, >=, min);
  g_assert_cmpint (new_max, <=, max);
}

/* Checks that the bits are the same, from the first to the last. */
static void
check_repacked (MtlStridedLayout *before,
                MtlStridedLayout *after)
{
  __int128 bits = mtl_strided_layout_get_item_bits (before);
  __int128 new_bits = mtl_strided_layout_get_item_bits (after);
  gint64 min, max, new_min, new_max;

  mtl_strided_layout_get_offset_bounds (before, &min, &max);
  mtl_strided_layout_get_offset_bounds (after, &new_min, &new_max);
  g_assert_true (mtl_strided_layout_get_volume (before) * bits
                 == mtl_strided_layout_get_volume (after) * new_bits);
  if (min > max)
    return;

  g_assert_true (min * bits == new_min * new_bits);
  g_assert_true ((max + (__int128) 1) * bits == (new_max + (__int128) 1) * new_bits);
}

/* A view of it reads the element at each offset. */
static void
check_view (MtlStridedLayout *layout,
            const gint64     *offsets,
            guint8           *memory)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (memory, MEMORY_SIZE);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlBuffer) buffer = mtl_buffer_new_from_bytes (bytes, mtl_device_get_host (),
                                                            MTL_BUFFER_FLAGS_NONE, &error);
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GBytes) read = NULL;
  gint64 volume = mtl_strided_layout_get_volume (layout), min, max;
  const guint8 *elements;

  if (mtl_strided_layout_get_item_bits (layout) != 8)
    return;

  view = mtl_strided_view_new (buffer, layout, MTL_DTYPE_UINT8, 0, &error);
  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  g_assert_true ((view != NULL) == (min >= 0 && max < MEMORY_SIZE));
  if (!check_result (view != NULL, &error))
    return;

  read = mtl_strided_view_dup_bytes (view, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (read), ==, volume);
  elements = g_bytes_get_data (read, NULL);
  for (gint64 i = 0; i < volume; i++)
    g_assert_cmpuint (elements[i], ==, memory[offsets[i]]);
}

static void
run (Input  *input,
     guint8 *memory)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedLayout) layout = read_layout (input, &error);
  g_autofree gint64 *offsets = NULL;

  if (!check_result (layout != NULL, &error))
    return;

  check_layout (layout);
  offsets = list_offsets (layout);
  for (int i = 0; i < MAX_OPERATIONS && input->size > 0; i++)
    {
      Effect effect;
      g_autoptr (MtlStridedLayout) next = operate (layout, input, &effect, &error);
      g_autofree gint64 *next_offsets = NULL;

      if (!check_result (next != NULL, &error))
        continue;

      check_layout (next);
      if (effect == REPACKED)
        check_repacked (layout, next);
      else if (effect != ELSEWHERE)
        check_bounds (layout, next);
      next_offsets = list_offsets (next);
      if (next_offsets != NULL)
        {
          check_queries (next, next_offsets);
          check_view (next, next_offsets, memory);
        }
      if (offsets != NULL && next_offsets != NULL && effect != REPACKED)
        check_elements (offsets, mtl_strided_layout_get_volume (layout), next_offsets,
                        mtl_strided_layout_get_volume (next), effect);

      g_set_object (&layout, next);
      g_free (offsets);
      offsets = g_steal_pointer (&next_offsets);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  guint8 memory[MEMORY_SIZE];

  for (gsize i = 0; i < sizeof memory; i++)
    memory[i] = i ^ i >> 8 ^ i >> 4;
  run (&(Input) { data, size }, memory);
  return 0;
}
