/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The layouts that a tensor of Metal can have: against a search for a tensor that satisfies each
 * rule of Metal's headers as it is written there, and has each element where the layout has it. */

#include "mtl-metal-tensor-private.h"

#include "mtl-error.h"
#include "metal-tensor-types.h"
#include "test-utils.h"

#define NEWEST MTL_MACOS (27, 0)
#define MAX_CANDIDATES 512
#define ML MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING

/* The arguments of a call. */
typedef struct
{
  const MtlLayout *layout;
  MtlDType dtype;
  gsize byte_offset;
  MtlMetalTensorUsage usage;
} Question;

static gboolean
is_strict (MtlDType dtype)
{
  return mtl_dtype_get_bits (dtype) < 8 || dtype == MTL_DTYPE_FLOAT8_E4M3FN
         || dtype == MTL_DTYPE_FLOAT8_E5M2;
}

/* The rules for one dimension, given those within. */
static gboolean
obeys_rules (const Question *question,
             guint           dim,
             const gint64   *dims,
             const gint64   *strides)
{
  __int128 stride = strides[dim];
  __int128 stride_bits = stride * mtl_dtype_get_bits (question->dtype);
  gboolean machine_learning = (question->usage & ML) != 0;

  if (dims[dim] <= 0)
    return FALSE;
  if (dim == 0)
    return stride == 1 && (!is_strict (question->dtype) || dims[0] % 32 == 0);
  if (stride < (__int128) strides[dim - 1] * dims[dim - 1])
    return FALSE;
  if (is_strict (question->dtype) && stride_bits % (128 * 8) != 0)
    return FALSE;
  if (machine_learning && dim == 1 && stride_bits % (64 * 8) != 0)
    return FALSE;

  return !machine_learning || dim < 2 || stride == (__int128) strides[dim - 1] * dims[dim - 1];
}

static gboolean
obeys_offset_rules (const Question *question,
                    guint           rank,
                    gint64          bit_offset)
{
  gint64 bits = mtl_dtype_get_bits (question->dtype);

  if (rank > 16 || (is_strict (question->dtype) && rank == 0))
    return FALSE;
  if ((question->usage & ML) != 0 && bit_offset != 0)
    return FALSE;

  return bit_offset % (is_strict (question->dtype) ? 128 * 8 : bits) == 0;
}

typedef enum
{
  SORTED, /* the dimensions are the axes as they lie in memory */
  ANY_ORDER,
  COPY,   /* in any order, with any strides */
} Freedom;

typedef struct
{
  const Question *question;
  Freedom freedom;
  guint n_dims;
  gboolean used[64];
  gint64 dims[64], strides[64];
  gint64 candidates[MAX_CANDIDATES];
  guint n_candidates;
} Search;

static void
add_candidate (Search *search,
               gint64  candidate)
{
  for (guint i = 0; i < search->n_candidates; i++)
    if (search->candidates[i] == candidate)
      return;

  if (search->n_candidates < MAX_CANDIDATES && candidate > 0)
    search->candidates[search->n_candidates++] = candidate;
}

/* Adds all strides of a dimension of one that could make a difference: the view's, the place where
 * the next dimension begins, and those rounded up. */
static void
add_candidates (Search *search)
{
  const MtlLayout *layout = search->question->layout;

  add_candidate (search, 1);
  for (guint i = 0; i < layout->n_dims; i++)
    add_candidate (search, mtl_layout_strides (layout)[i]);
  for (guint i = 0, n = search->n_candidates; i < n; i++)
    for (guint j = 0; j < layout->n_dims; j++)
      add_candidate (search, search->candidates[i] * mtl_layout_shape (layout)[j]);
  for (guint i = 0, n = search->n_candidates; i < n; i++)
    for (gint64 unit = 16; unit <= 512; unit *= 2)
      add_candidate (search, (search->candidates[i] + unit - 1) / unit * unit);
}

static gboolean search_from (Search *search,
                             guint   dim);

static gboolean
try_stride (Search *search,
            guint   dim,
            gint64  stride)
{
  search->strides[dim] = stride;
  return obeys_rules (search->question, dim, search->dims, search->strides)
         && search_from (search, dim + 1);
}

/* The least stride that obeys is as good as any. */
static gboolean
try_least_stride (Search *search,
                  guint   dim)
{
  gint64 least = dim == 0 ? 1 : search->strides[dim - 1] * search->dims[dim - 1];

  for (gint64 stride = least; stride <= least + 1024; stride++)
    {
      search->strides[dim] = stride;
      if (obeys_rules (search->question, dim, search->dims, search->strides))
        return search_from (search, dim + 1);
    }

  return FALSE;
}

static gboolean
try_axis (Search *search,
          guint   dim,
          guint   axis)
{
  const MtlLayout *layout = search->question->layout;
  gboolean found = FALSE;

  search->used[axis] = TRUE;
  search->dims[dim] = mtl_layout_shape (layout)[axis];
  if (search->freedom == COPY)
    found = try_least_stride (search, dim);
  else if (search->dims[dim] != 1)
    found = try_stride (search, dim, mtl_layout_strides (layout)[axis]);
  else
    for (guint i = 0; i < search->n_candidates && !found; i++)
      found = try_stride (search, dim, search->candidates[i]);

  search->used[axis] = FALSE;
  return found;
}

/* The axis with the smallest stride that is left, of equal ones the last. */
static guint
next_sorted_axis (Search *search)
{
  const gint64 *strides = mtl_layout_strides (search->question->layout);
  guint best = 64;

  for (guint axis = 0; axis < search->n_dims; axis++)
    if (!search->used[axis] && (best == 64 || ABS (strides[axis]) <= ABS (strides[best])))
      best = axis;

  return best;
}

static gboolean
search_from (Search *search,
             guint   dim)
{
  if (dim == search->n_dims)
    return TRUE;

  if (search->freedom == SORTED)
    return try_axis (search, dim, next_sorted_axis (search));

  for (guint axis = 0; axis < search->n_dims; axis++)
    if (!search->used[axis] && try_axis (search, dim, axis))
      return TRUE;

  return FALSE;
}

static gboolean
has_tensor (const Question *question,
            Freedom         freedom)
{
  const MtlLayout *layout = question->layout;
  g_autofree Search *search = g_new0 (Search, 1);
  gint64 bits = mtl_dtype_get_bits (question->dtype);
  gint64 bit_offset = freedom == COPY ? 0 : question->byte_offset * 8 + layout->offset * bits;

  for (guint i = 0; i < layout->n_dims; i++)
    if (mtl_layout_shape (layout)[i] == 0)
      return FALSE;
  if (!obeys_offset_rules (question, layout->n_dims, bit_offset))
    return FALSE;

  search->question = question;
  search->freedom = freedom;
  search->n_dims = layout->n_dims;
  add_candidates (search);
  return search_from (search, 0);
}

/* Returns the place of an element, in bits. */
static gint64
locate_in_tensor (const MtlMetalTensor *tensor,
                  MtlDType              dtype,
                  const gint64         *indices)
{
  gint64 offset = 0;

  for (guint i = 0; i < tensor->n_dims; i++)
    offset += indices[i] * tensor->strides[i];

  return tensor->byte_offset * 8 + offset * mtl_dtype_get_bits (dtype);
}

/* Checks the first element, the second along each axis, and the last one: those between follow. */
static void
check_places (const Question       *question,
              const MtlMetalTensor *tensor)
{
  const MtlLayout *layout = question->layout;
  int axes[64];

  mtl_layout_get_stride_order (layout, axes);
  for (int walked = -2; walked < (int) layout->n_dims; walked++)
    {
      gint64 indices[64] = { 0 }, tensor_indices[64] = { 0 }, offset;

      for (int axis = 0; axis < (int) layout->n_dims; axis++)
        if (walked == -1 || (walked == axis && mtl_layout_shape (layout)[axis] > 1))
          indices[axis] = walked == -1 ? mtl_layout_shape (layout)[axis] - 1 : 1;
      for (guint i = 0; i < layout->n_dims; i++)
        tensor_indices[i] = indices[axes[layout->n_dims - 1 - i]];

      offset = layout->offset;
      for (guint i = 0; i < layout->n_dims; i++)
        offset += indices[i] * mtl_layout_strides (layout)[i];
      g_assert_cmpint (locate_in_tensor (tensor, question->dtype, tensor_indices), ==,
                       question->byte_offset * 8 + offset * mtl_dtype_get_bits (question->dtype));
    }
}

static void
check_back (const Question       *question,
            const MtlMetalTensor *tensor)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  g_autoptr (GError) error = NULL;
  MtlElementType type;

  g_assert_true (mtl_metal_tensor_get_layout (tensor, &type, &layout, &error));
  g_assert_no_error (error);
  g_assert_cmpint (mtl_element_type_get_dtype (type), ==, question->dtype);
  g_assert_cmpuint (layout.n_dims, ==, tensor->n_dims);
  g_assert_cmpuint (layout.item_bits, ==, mtl_dtype_get_bits (question->dtype));
  g_assert_cmpint (layout.offset, ==, 0);
  for (guint i = 0; i < layout.n_dims; i++)
    {
      g_assert_cmpint (mtl_layout_shape (&layout)[layout.n_dims - 1 - i], ==, tensor->dims[i]);
      g_assert_cmpint (mtl_layout_strides (&layout)[layout.n_dims - 1 - i], ==,
                       tensor->strides[i]);
    }
}

static gboolean
describe (const Question  *question,
          gsize            length,
          MtlMetalTensor  *tensor,
          GError         **error)
{
  return mtl_metal_tensor_describe (question->layout, mtl_element_type_new (question->dtype),
                                    question->byte_offset, length, question->usage, NEWEST,
                                    tensor, error);
}

/* It ends with the byte of its last element. */
static void
check_length (const Question       *question,
              const MtlMetalTensor *tensor)
{
  gint64 bits = mtl_dtype_get_bits (question->dtype);
  gint64 n = 1;
  gsize end;
  MtlMetalTensor again;

  for (guint i = 0; i < tensor->n_dims; i++)
    n += (tensor->dims[i] - 1) * tensor->strides[i];
  end = tensor->byte_offset + (n * bits + 7) / 8;
  g_assert_true (describe (question, end, &again, NULL));
  assert_refuses (describe (question, end - 1, &again, &error), MTL_ERROR_OUT_OF_BOUNDS, "");
}

/* The layout that is proposed fits, and is the view's own if that fits. */
static void
check_copy (const Question *question)
{
  g_auto (MtlLayout) copy = MTL_LAYOUT_INIT;
  g_autoptr (GError) error = NULL;
  Question of_copy = *question, at_start = *question;
  MtlMetalTensor tensor;

  g_assert_true (mtl_metal_tensor_fit (question->layout, mtl_element_type_new (question->dtype),
                                       question->usage, NEWEST, &copy, &error));
  g_assert_no_error (error);
  g_assert_true (mtl_layout_same_shape (&copy, question->layout));
  of_copy.layout = &copy;
  of_copy.byte_offset = at_start.byte_offset = 0;
  g_assert_true (describe (&of_copy, G_MAXSIZE, &tensor, &error));
  g_assert_no_error (error);
  g_assert_true (has_tensor (&of_copy, SORTED));
  check_places (&of_copy, &tensor);
  g_assert_cmpint (mtl_layout_equal (&copy, question->layout), ==,
                   has_tensor (&at_start, SORTED));
}

static gboolean
has_axis_of_one (const MtlLayout *layout)
{
  for (guint i = 0; i < layout->n_dims; i++)
    if (mtl_layout_shape (layout)[i] == 1)
      return TRUE;

  return FALSE;
}

/* Returns whether it fits. */
static gboolean
check (const Question *question)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = mtl_layout_to_string (question->layout);
  MtlMetalTensor tensor;
  gboolean fits = describe (question, G_MAXSIZE, &tensor, &error);
  gboolean copy_fits = has_tensor (question, COPY);

  if (fits != has_tensor (question, SORTED))
    g_error ("%s, type 0x%x, usage %u, byte %zu: %s", text, question->dtype, question->usage,
             question->byte_offset, fits ? "fits" : error->message);
  if (!fits && !has_axis_of_one (question->layout))
    g_assert_false (has_tensor (question, ANY_ORDER));

  if (copy_fits)
    check_copy (question);
  if (!fits)
    {
      g_assert_true (error->domain == MTL_ERROR);
      g_assert_cmpint (error->code, ==,
                       copy_fits ? MTL_ERROR_NEEDS_COPY : MTL_ERROR_NOT_SUPPORTED);
      return FALSE;
    }

  g_assert_true (copy_fits);
  for (guint i = 0; i < tensor.n_dims; i++)
    g_assert_true (obeys_rules (question, i, tensor.dims, tensor.strides));
  g_assert_true (obeys_offset_rules (question, tensor.n_dims, tensor.byte_offset * 8));
  check_places (question, &tensor);
  check_back (question, &tensor);
  check_length (question, &tensor);
  return TRUE;
}

static const MtlMetalTensorUsage all_usages[] = { 1, 2, 3, 4, 5, 6, 7 };
static guint n_checked, n_fitting;

static void
check_layout (const gint64        *shape,
              const gint64        *strides,
              gsize                n_dims,
              gint64               offset,
              MtlDType             dtype,
              gsize                byte_offset,
              MtlMetalTensorUsage  usage)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  Question question = { &layout, dtype, byte_offset, usage };

  if (!mtl_layout_new (shape, strides, n_dims, offset, mtl_dtype_get_bits (dtype), &layout, NULL))
    return;

  n_checked++;
  n_fitting += check (&question);
}

/* The numbers that the strides and extents of a test are drawn from. */
typedef struct
{
  MtlDType dtype;
  gint64 extents[5];
  gint64 strides[9];
} Choices;

static const Choices choices[] = {
  { MTL_DTYPE_FLOAT32, { 0, 1, 2, 3, 16 }, { -1, 0, 1, 2, 3, 16, 32, 48, 256 } },
  { MTL_DTYPE_BFLOAT16, { 1, 2, 5, 32, 64 }, { 0, 1, 5, 16, 32, 33, 64, 160, 320 } },
  { MTL_DTYPE_UINT8, { 1, 2, 3, 7, 64 }, { -64, 1, 2, 3, 7, 64, 128, 192, 448 } },
  { MTL_DTYPE_FLOAT8_E5M2, { 0, 1, 2, 32, 64 }, { 0, 1, 2, 32, 64, 128, 256, 4096, 8192 } },
  { MTL_DTYPE_INT4, { 1, 2, 3, 31, 32 }, { 1, 2, 32, 64, 128, 256, 512, 768, 8192 } },
  { MTL_DTYPE_UINT2, { 1, 2, 32, 33, 64 }, { -512, 1, 2, 32, 256, 512, 1024, 1536, 16384 } },
};

/* Checks every layout of that many dimensions, at one of the places in turn. */
static void
enumerate (const Choices *choice,
           gsize          n_dims)
{
  static const struct { gint64 offset; gsize byte_offset; } places[] = {
    { 0, 0 }, { 0, 0 }, { 1, 0 }, { 0, 128 }, { 0, 0 }, { 0, 2 }, { 32, 64 }, { 0, 1 },
  };
  guint n = 0, total = 1;

  for (gsize i = 0; i < n_dims; i++)
    total *= 5 * 9;
  for (guint number = 0; number < total; number++)
    {
      gint64 shape[3], strides[3];
      guint rest = number;

      for (gsize i = 0; i < n_dims; i++)
        {
          shape[i] = choice->extents[rest % 5];
          strides[i] = choice->strides[rest / 5 % 9];
          rest /= 5 * 9;
        }
      /* As there are many layouts of three dimensions, each has one place and one usage, in
       * turn. */
      for (gsize i = 0; i < (n_dims < 3 ? G_N_ELEMENTS (all_usages) : 1); i++)
        for (gsize j = 0; j < (n_dims < 2 ? G_N_ELEMENTS (places) : 1); j++, n++)
          {
            gsize place = n_dims < 2 ? j : n % G_N_ELEMENTS (places);
            gsize usage = n_dims < 3 ? i : n % G_N_ELEMENTS (all_usages);

            check_layout (shape, strides, n_dims, places[place].offset, choice->dtype,
                          places[place].byte_offset, all_usages[usage]);
          }
    }
}

static void
test_enumerated (void)
{
  n_checked = n_fitting = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (choices); i++)
    for (gsize n_dims = 0; n_dims <= 3; n_dims++)
      enumerate (&choices[i], n_dims);

  g_test_message ("%u layouts, of which %u fit", n_checked, n_fitting);
  g_assert_cmpuint (n_fitting, >, n_checked / 200);
}

/* Mostly ones that fit but for one number: rows with gaps, in any order of the axes. */
static void
check_random (void)
{
  const MetalTensorType *type =
    &metal_tensor_types[g_test_rand_int_range (0, G_N_ELEMENTS (metal_tensor_types))];
  gint64 unit = 1024 / mtl_dtype_get_bits (type->dtype);
  gint64 sorted_shape[18], sorted_strides[18], shape[18], strides[18];
  gint64 next = 1;
  int n_dims = g_test_rand_int_range (0, 10) == 0 ? g_test_rand_int_range (15, 19)
                                                  : g_test_rand_int_range (0, 7);
  gboolean gaps = g_test_rand_bit ();

  for (int i = 0; i < n_dims; i++)
    {
      static const gint64 extents[] = { 1, 1, 2, 2, 3, 4, 32, 96 };

      sorted_shape[i] = i > 5 ? g_test_rand_int_range (1, 3)
                              : extents[g_test_rand_int_range (0, G_N_ELEMENTS (extents))];
      if (i == 0 && g_test_rand_bit ())
        sorted_shape[i] = 32 * g_test_rand_int_range (1, 5);
      if (i == 1 || (gaps && i > 0 && g_test_rand_int_range (0, 3) == 0))
        next = (next + unit - 1) / unit * unit;
      sorted_strides[i] = next;
      next *= sorted_shape[i];
    }
  if (n_dims > 0 && g_test_rand_int_range (0, 3) == 0)
    sorted_strides[g_test_rand_int_range (0, n_dims)] += g_test_rand_int_range (-2, 3);

  for (int i = 0, shift = n_dims > 0 ? g_test_rand_int_range (0, n_dims) : 0; i < n_dims; i++)
    {
      int axis = (i + shift) % n_dims;

      shape[axis] = sorted_shape[n_dims - 1 - i];
      strides[axis] = sorted_strides[n_dims - 1 - i];
    }

  check_layout (shape, strides, n_dims, g_test_rand_int_range (0, 8) == 0 ? 3 : 0, type->dtype,
                g_test_rand_int_range (0, 4) == 0 ? g_test_rand_int_range (0, 300) : 0,
                all_usages[g_test_rand_int_range (0, G_N_ELEMENTS (all_usages))]);
}

static void
test_random (void)
{
  n_checked = n_fitting = 0;
  for (int i = 0; i < 30000; i++)
    check_random ();

  g_test_message ("%u layouts, of which %u fit", n_checked, n_fitting);
  g_assert_cmpuint (n_fitting, >, n_checked / 20);
}

static void
test_types (void)
{
  g_autoptr (GEnumClass) dtypes = g_type_class_ref (MTL_TYPE_DTYPE);

  for (guint i = 0; i < dtypes->n_values; i++)
    {
      MtlDType dtype = dtypes->values[i].value;
      g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
      const MetalTensorType *known = NULL;
      MtlMetalTensor tensor;
      MtlElementType type = mtl_element_type_new (dtype), vector = type;

      if (dtype == MTL_DTYPE_OTHER)
        continue;
      for (gsize j = 0; j < G_N_ELEMENTS (metal_tensor_types); j++)
        if (metal_tensor_types[j].dtype == dtype)
          known = &metal_tensor_types[j];

      g_assert_true (mtl_layout_new_dense (DIMS (32), MTL_ORDER_C, type.bits, &layout, NULL));
      vector.lanes = 4;
      assert_refuses (mtl_metal_tensor_describe (&layout, vector, 0, 1000, 1, NEWEST, &tensor,
                                                 &error), MTL_ERROR_NOT_SUPPORTED, "4");
      if (known == NULL)
        {
          assert_refuses (mtl_metal_tensor_describe (&layout, type, 0, 1000, 1, MTL_MACOS_UNKNOWN,
                                                     &tensor, &error),
                          MTL_ERROR_NOT_SUPPORTED, dtypes->values[i].value_nick);
          continue;
        }

      g_assert_true (mtl_metal_tensor_describe (&layout, type, 0, 1000, 1,
                                                MTL_MACOS (known->major, known->minor), &tensor,
                                                NULL));
      g_assert_cmpuint (tensor.data_type, ==, known->value);
      if (known->major > 26 || known->minor > 0)
        {
          g_autofree char *text = g_strdup_printf ("macOS %u.%u", known->major, known->minor);

          assert_refuses (mtl_metal_tensor_describe (&layout, type, 0, 1000, 1,
                                                     MTL_MACOS (26, 3), &tensor, &error),
                          MTL_ERROR_NOT_SUPPORTED, text);
          assert_refuses (mtl_metal_tensor_fit (&layout, type, 1, MTL_MACOS (26, 3), &layout,
                                                &error), MTL_ERROR_NOT_SUPPORTED, "macOS & 26.3");
        }
    }
}

/* The values of an example, by hand. */
typedef struct
{
  gint64 shape[4];
  gint64 strides[4];
  MtlDType dtype;
  gsize byte_offset;
  gsize length;
  MtlMetalTensorUsage usage;
  guint item_bits; /* 0: those of the type */
  MtlError code;
  const char *values; /* NULL if it fits */
} Example;

static const Example examples[] = {
  { { 2, 3 }, { 3, 1 }, MTL_DTYPE_FLOAT32, 0, 24, 3, 0, 0, NULL },
  { { 2, 3 }, { 3, 1 }, MTL_DTYPE_FLOAT32, 0, 23, 3, 0, MTL_ERROR_OUT_OF_BOUNDS, "23" },
  { { 2, 3 }, { 8, 1 }, MTL_DTYPE_FLOAT32, 4, 48, 3, 0, 0, NULL },
  { { 2, 3 }, { 8, 1 }, MTL_DTYPE_FLOAT32, 2, 64, 3, 0, MTL_ERROR_NEEDS_COPY, "2 & 4 & (3, 1)" },
  { { 3, 2 }, { 1, 3 }, MTL_DTYPE_FLOAT32, 0, 24, 3, 0, 0, NULL },
  { { 2, 3 }, { 0, 1 }, MTL_DTYPE_FLOAT32, 0, 24, 3, 0, MTL_ERROR_NEEDS_COPY, "0 & 1" },
  { { 2, 3 }, { 6, 2 }, MTL_DTYPE_FLOAT32, 0, 48, 3, 0, MTL_ERROR_NEEDS_COPY, "2 & 1" },
  { { 4, 4 }, { 2, 1 }, MTL_DTYPE_UINT8, 0, 64, 3, 0, MTL_ERROR_NEEDS_COPY, "2 & 4 & 1" },
  { { 3, 2, 4 }, { 4, 12, 1 }, MTL_DTYPE_FLOAT32, 0, 96, 3, 0, 0, NULL },
  { { 2, 3 }, { 3, 1 }, MTL_DTYPE_INT64, 0, 48, 3, 0, MTL_ERROR_NOT_SUPPORTED, "int64" },
  { { 2, 32 }, { 32, 1 }, MTL_DTYPE_INT4, 0, 64, 3, 0, MTL_ERROR_NEEDS_COPY,
    "32 & 256 & 128 & (256, 1)" },
  { { 2, 32 }, { 256, 1 }, MTL_DTYPE_INT4, 128, 272, 3, 0, 0, NULL },
  { { 2, 32 }, { 256, 1 }, MTL_DTYPE_INT4, 64, 272, 3, 0, MTL_ERROR_NEEDS_COPY, "64 & 128" },
  { { 2, 31 }, { 256, 1 }, MTL_DTYPE_INT4, 0, 272, 3, 0, MTL_ERROR_NOT_SUPPORTED, "(2, 31) & 32" },
  { { 32, 31 }, { 256, 1 }, MTL_DTYPE_INT4, 0, 9999, 3, 0, MTL_ERROR_NEEDS_COPY,
    "31 & 32 & (1, 256)" },
  { { 1, 32 }, { 32, 1 }, MTL_DTYPE_INT4, 0, 16, 3, 0, 0, NULL },
  { { 2, 32 }, { 32, 1 }, MTL_DTYPE_INT4, 0, 64, 3, 8, MTL_ERROR_NEEDS_COPY, "4 & 8" },
  { { 2, 3 }, { 16, 1 }, MTL_DTYPE_FLOAT32, 0, 76, ML, 0, 0, NULL },
  { { 2, 3 }, { 3, 1 }, MTL_DTYPE_FLOAT32, 0, 24, ML, 0, MTL_ERROR_NEEDS_COPY,
    "3 & 16 & 64 & (16, 1)" },
  { { 2, 3 }, { 16, 1 }, MTL_DTYPE_FLOAT32, 64, 200, ML, 0, MTL_ERROR_NEEDS_COPY, "64 & 0" },
  { { 2, 2, 3 }, { 64, 16, 1 }, MTL_DTYPE_FLOAT32, 0, 999, ML, 0, MTL_ERROR_NEEDS_COPY,
    "64 & 2 & 16" },
  { { 2, 2, 3 }, { 32, 16, 1 }, MTL_DTYPE_FLOAT32, 0, 999, ML, 0, 0, NULL },
  { { 2, 1, 3 }, { 48, 7, 1 }, MTL_DTYPE_FLOAT32, 0, 999, ML, 0, 0, NULL },
  { { 2, 3 }, { -3, 1 }, MTL_DTYPE_FLOAT32, 12, 24, 3, 0, MTL_ERROR_NEEDS_COPY, "-3" },
  { { 2, 2 }, { 2, 1 }, MTL_DTYPE_FLOAT8_E8M0FNU, 0, 4, 3, 0, MTL_ERROR_NOT_SUPPORTED,
    "float8_e8m0fnu" },
};

static void
test_examples (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (examples); i++)
    {
      const Example *example = &examples[i];
      MtlElementType type = mtl_element_type_new (example->dtype);
      g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
      g_autoptr (GError) error = NULL;
      MtlMetalTensor tensor;
      gsize n_dims = 0;

      while (n_dims < 4 && example->shape[n_dims] != 0)
        n_dims++;
      type.padded = example->item_bits != 0;
      g_assert_true (mtl_layout_new (example->shape, example->strides, n_dims, 0,
                                     type.padded ? example->item_bits : type.bits, &layout, NULL));
      if (mtl_metal_tensor_describe (&layout, type, example->byte_offset, example->length,
                                     example->usage, NEWEST, &tensor, &error))
        g_assert_null (example->values);
      else if (example->values == NULL)
        g_assert_no_error (error);
      else
        assert_failed (error, example->code, example->values);
    }
}

static void
test_ranks (void)
{
  gint64 ones[18];
  MtlMetalTensor tensor;
  MtlElementType type = mtl_element_type_new (MTL_DTYPE_INT32);

  for (gsize i = 0; i < G_N_ELEMENTS (ones); i++)
    ones[i] = 1;
  for (gsize n_dims = 0; n_dims <= 18; n_dims++)
    {
      g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;

      g_assert_true (mtl_layout_new (ones, NULL, n_dims, 2, 32, &layout, NULL));
      if (n_dims > 16)
        {
          assert_refuses (mtl_metal_tensor_describe (&layout, type, 0, 12, 1, NEWEST, &tensor,
                                                     &error), MTL_ERROR_NOT_SUPPORTED, "16");
          continue;
        }
      g_assert_true (mtl_metal_tensor_describe (&layout, type, 4, 16, 1, NEWEST, &tensor, NULL));
      g_assert_cmpuint (tensor.n_dims, ==, n_dims);
      g_assert_cmpuint (tensor.byte_offset, ==, 12);
    }
}

static void
new_layout (const gint64 *shape,
            gsize         n_dims,
            const gint64 *strides,
            guint         item_bits,
            MtlLayout    *layout)
{
  g_autoptr (GError) error = NULL;

  mtl_layout_new (shape, strides, n_dims, 0, item_bits, layout, &error);
  g_assert_no_error (error);
}

/* Neither a sum nor a product wraps around. */
static void
test_limits (void)
{
  const gint64 row_strides[] = { 33, 1 }, pair_strides[] = { 2, 1 };
  const gint64 far_strides[] = { G_MAXINT64, POW2 (62) - 1, 1 }, one_strides[] = { 0, 33, 1 };
  MtlElementType byte = mtl_element_type_new (MTL_DTYPE_UINT8);
  MtlElementType word = mtl_element_type_new (MTL_DTYPE_UINT32);
  g_auto (MtlLayout) rows = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) words = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) far = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) rows_of_one = MTL_LAYOUT_INIT;
  g_auto (MtlLayout) copy = MTL_LAYOUT_INIT;
  MtlMetalTensor tensor;

  /* A copy's rows would be longer than there are numbers for. */
  new_layout (DIMS (POW2 (57) + 2, 33), row_strides, 8, &rows);
  g_assert_true (mtl_metal_tensor_describe (&rows, byte, 0, G_MAXSIZE, 1, NEWEST, &tensor, NULL));
  assert_refuses (mtl_metal_tensor_describe (&rows, byte, 0, G_MAXSIZE, ML, NEWEST, &tensor,
                                             &error),
                  MTL_ERROR_OVERFLOW, "2^63");
  assert_refuses (mtl_metal_tensor_fit (&rows, byte, ML, NEWEST, &copy, &error),
                  MTL_ERROR_OVERFLOW, "2^63");

  /* The elements can be counted, but not their bytes. */
  new_layout (DIMS (POW2 (61) + 1, 2), pair_strides, 32, &words);
  assert_refuses (mtl_metal_tensor_describe (&words, word, 0, G_MAXSIZE, 1, NEWEST, &tensor,
                                             &error),
                  MTL_ERROR_OVERFLOW, "2^63");
  new_layout (DIMS (2, 2), pair_strides, 8, &copy);
  assert_refuses (mtl_metal_tensor_describe (&copy, byte, G_MAXSIZE - 2, G_MAXSIZE, 1, NEWEST,
                                             &tensor, &error), MTL_ERROR_OUT_OF_BOUNDS, "");

  /* The place where a dimension of one would begin, in place and in a copy. */
  new_layout (DIMS (1, 3, 2), far_strides, 8, &far);
  assert_refuses (mtl_metal_tensor_describe (&far, byte, 0, G_MAXSIZE, 1, NEWEST, &tensor,
                                             &error), MTL_ERROR_NEEDS_COPY, "1 & 2");
  new_layout (DIMS (1, POW2 (57) + 2, 33), one_strides, 8, &rows_of_one);
  assert_refuses (mtl_metal_tensor_fit (&rows_of_one, byte, ML, NEWEST, &copy, &error),
                  MTL_ERROR_OVERFLOW, "MTLTensor & (1, 144115188075855874, 33)");
}

static void
test_back_refused (void)
{
  g_auto (MtlLayout) layout = MTL_LAYOUT_INIT;
  MtlElementType type;
  MtlMetalTensor tensor = { .n_dims = 2, .dims = { 3, 2 }, .strides = { 1, 3 }, .data_type = 7 };

  assert_refuses (mtl_metal_tensor_get_layout (&tensor, &type, &layout, &error),
                  MTL_ERROR_NOT_SUPPORTED, "MTLTensorDataType & 7");
  tensor.data_type = 145;
  assert_refuses (mtl_metal_tensor_get_layout (&tensor, &type, &layout, &error),
                  MTL_ERROR_NOT_SUPPORTED, "MTLTensorDataType & 145");
  tensor.data_type = 3;
  tensor.dims[1] = 0;
  assert_refuses (mtl_metal_tensor_get_layout (&tensor, &type, &layout, &error),
                  MTL_ERROR_INVALID_DATA, "0 & 3");
  tensor.dims[1] = 2;
  tensor.strides[1] = -3;
  assert_refuses (mtl_metal_tensor_get_layout (&tensor, &type, &layout, &error),
                  MTL_ERROR_INVALID_DATA, "2 & -3");
  tensor.strides[1] = G_MAXINT64;
  tensor.dims[1] = 3;
  assert_refuses (mtl_metal_tensor_get_layout (&tensor, &type, &layout, &error),
                  MTL_ERROR_OVERFLOW, "2^63");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/metal-tensor-brute-force/types", test_types);
  g_test_add_func ("/metal-tensor-brute-force/examples", test_examples);
  g_test_add_func ("/metal-tensor-brute-force/ranks", test_ranks);
  g_test_add_func ("/metal-tensor-brute-force/limits", test_limits);
  g_test_add_func ("/metal-tensor-brute-force/back/refused", test_back_refused);
  g_test_add_func ("/metal-tensor-brute-force/enumerated", test_enumerated);
  g_test_add_func ("/metal-tensor-brute-force/random", test_random);

  return g_test_run ();
}
