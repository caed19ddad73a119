/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dlpack-structs.h"
#include "drawn-layouts.h"
#include "hostile-producer.h"
#include "test-utils.h"

/* Random tensors of peers that follow DLPack, go to its limits or break its rules, imported
 * and passed on. What is right is derived from DLPack's words with __int128. The memory of the
 * elements ends where they do: at a page that traps, or in a block of its own. */

#define N_CASES 100000
#define MAX_DIMS 64
#define MAX_MEMORY 4096
#define MAX_BITS (8 * MAX_MEMORY)

typedef __int128 Wide;

#define WIDE_POW2(n) ((Wide) 1 << (n))

typedef struct
{
  HostileProducer peer;
  gboolean has_shape;
  gboolean has_strides;
  gsize shape_shift; /* bytes beyond an aligned place */
  gsize strides_shift;
  int n_there; /* entries of both */
  int64_t shape[MAX_DIMS + 1];
  int64_t strides[MAX_DIMS + 1];

  /* The memory of the elements. */
  guint8 *memory; /* or NULL if they lie nowhere */
  gboolean is_block;
} Case;

/* The outcomes that follow from a case. */
typedef struct
{
  gboolean may_succeed;
  guint may_fail; /* bits of MtlError */
  Wide item_bits;
  Wide volume;
  Wide first_bit; /* that the elements touch, from the first one */
  Wide end_bit;
  int64_t strides[MAX_DIMS];
} Verdict;

static guint8 *guarded; /* MAX_MEMORY bytes up to a page that traps */
static guint8 pattern[3 * MAX_MEMORY];

static guint64
draw_bits (void)
{
  return (guint64) (guint32) g_test_rand_int () << 32 | (guint32) g_test_rand_int ();
}

/* Near the limits of the type. */
static gint64
draw_extreme (void)
{
  gint64 number;

  switch (pick (0, 5))
    {
    case 0:
      return G_MININT64 + pick (0, 2);
    case 1:
      return G_MAXINT64 - pick (0, 2);
    case 2:
      return (gint64) draw_bits ();
    default:
      number = POW2 (pick (28, 62)) + pick (-2, 2);
      return happens (50) ? -number : number;
    }
}

/* --- What is right */

static Wide
get_item_bits (const Case *self)
{
  const DLDataType *dtype = &self->peer.tensor.dtype;
  gboolean is_padded = !self->peer.is_legacy && (self->peer.flags & DL_PADDED) != 0
                       && dtype->bits < 8;

  return (Wide) (is_padded ? 8 : dtype->bits) * dtype->lanes;
}

static gboolean
is_host (gint32 device_type)
{
  return device_type == 1 || device_type == 3 || device_type == 11 || device_type == 13;
}

/* TRUE if an offset can be added to the device's handles. */
static gboolean
has_addresses (gint32 device_type)
{
  return is_host (device_type) || device_type == 2 || device_type == 10 || device_type == 14;
}

static gboolean
is_empty (const Case *self)
{
  for (int i = 0; i < self->peer.tensor.ndim; i++)
    if (self->shape[i] == 0)
      return TRUE;

  return FALSE;
}

/* The product of numbers that are not negative, or 2^63 if that is less. */
static Wide
multiply (Wide   product,
          gint64 number)
{
  return MIN (product * number, WIDE_POW2 (63));
}

/* Strides in C order count an extent of 0 as 1. */
static void
derive_strides (const Case *self,
                Verdict    *verdict)
{
  Wide stride = 1;

  for (int i = self->peer.tensor.ndim - 1; i >= 0; i--)
    {
      verdict->strides[i] = self->has_strides ? self->strides[i] : (gint64) stride;
      stride = multiply (stride, MAX (self->shape[i], 1));
    }
}

static void
judge_elements (const Case *self,
                Verdict    *verdict)
{
  const DLTensor *tensor = &self->peer.tensor;
  Wide low = 0, high = 0, start, first, end;
  gboolean are_addresses = has_addresses (tensor->device.device_type), is_far;

  verdict->volume = 1;
  for (int i = 0; i < tensor->ndim; i++)
    {
      Wide reach = (Wide) verdict->strides[i] * (self->shape[i] - 1);

      verdict->volume = multiply (verdict->volume, self->shape[i]);
      reach = CLAMP (reach, -WIDE_POW2 (64), WIDE_POW2 (64));
      *(reach < 0 ? &low : &high) += reach;
    }

  verdict->first_bit = low * verdict->item_bits;
  verdict->end_bit = (high + 1) * verdict->item_bits;
  first = verdict->first_bit >> 3;
  end = (verdict->end_bit + 7) >> 3;
  start = (are_addresses ? (Wide) (guintptr) tensor->data : 0) + tensor->byte_offset;

  if (tensor->data == NULL)
    verdict->may_fail |= 1 << MTL_ERROR_INVALID_DATA;
  if (verdict->volume >= WIDE_POW2 (63) || low < -WIDE_POW2 (63) || high >= WIDE_POW2 (63)
      || high - low >= WIDE_POW2 (63) || first < -WIDE_POW2 (63) || end >= WIDE_POW2 (63)
      || start + first < (are_addresses ? 1 : 0) || start + end > WIDE_POW2 (64))
    {
      verdict->may_fail |= 1 << MTL_ERROR_OVERFLOW;
      return;
    }

  /* Here the library may have limits of its own. */
  is_far = first < -WIDE_POW2 (59) || end > WIDE_POW2 (59) || start + end >= WIDE_POW2 (63)
           || tensor->byte_offset >= POW2 (62);
  if (is_far)
    verdict->may_fail |= 1 << MTL_ERROR_OVERFLOW;
  verdict->may_succeed = tensor->data != NULL;
}

static Verdict
judge (const Case *self)
{
  const DLTensor *tensor = &self->peer.tensor;
  Verdict verdict = { .item_bits = get_item_bits (self) };
  gboolean is_malformed;

  if (!self->peer.is_legacy && self->peer.version.major != 1)
    return (Verdict) { .may_fail = 1 << MTL_ERROR_NOT_SUPPORTED };

  if (tensor->ndim < 0 || tensor->ndim > MAX_DIMS
      || (tensor->ndim > 0 && (!self->has_shape || self->shape_shift % 8 != 0
                               || (self->has_strides && self->strides_shift % 8 != 0))))
    return (Verdict) { .may_fail = 1 << MTL_ERROR_INVALID_DATA };

  is_malformed = tensor->dtype.bits == 0 || tensor->dtype.lanes == 0;
  for (int i = 0; i < tensor->ndim; i++)
    is_malformed |= self->shape[i] < 0;
  if (is_malformed)
    return (Verdict) { .may_fail = 1 << MTL_ERROR_INVALID_DATA };

  derive_strides (self, &verdict);
  if (is_empty (self))
    verdict.may_succeed = TRUE;
  else
    judge_elements (self, &verdict);

  return verdict;
}

/* --- What peers say */

static const DLDataType dtypes[] = {
  { 0, 8, 1 }, { 1, 8, 1 }, { 0, 16, 1 }, { 1, 32, 1 }, { 0, 64, 1 }, { 2, 16, 1 },
  { 2, 32, 1 }, { 2, 64, 1 }, { 4, 16, 1 }, { 5, 64, 1 }, { 5, 128, 1 }, { 6, 8, 1 },
  { 10, 8, 1 }, { 14, 8, 1 }, { 17, 4, 1 }, { 17, 4, 2 }, { 15, 6, 1 }, { 16, 6, 3 },
  { 0, 4, 1 }, { 1, 2, 1 }, { 1, 4, 2 }, { 0, 3, 1 }, { 2, 32, 4 }, { 3, 64, 1 }, { 2, 80, 1 },
  { 1, 1, 1 }, { 99, 12, 5 },
};

static const gint32 device_types[] = {
  0, -1, 2, 3, 4, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 99,
  G_MAXINT32, G_MININT32,
};

static void
draw_layout (Case *self,
             int   n_dims)
{
  const DrawnAxes axes = {
    .stepped = 20, .max_step = 3, .apart = 10, .max_gap = 3, .backwards = 15, .repeated = 9,
  };

  self->peer.tensor.ndim = self->n_there = n_dims;
  for (int i = 0; i < n_dims; i++)
    {
      gboolean is_small = n_dims > 6;

      self->shape[i] = happens (4) ? 0 : is_small && i > 4 ? 1 : pick (1, is_small ? 2 : 5);
    }
  draw_strides (&axes, n_dims, (gint64 *) self->shape, (gint64 *) self->strides);
}

static void
draw_valid (Case *self)
{
  int kind = pick (0, 99);

  *self = (Case) {
    .peer.is_legacy = happens (40),
    .peer.has_deleter = !happens (5),
    .peer.version = { 1, pick (0, 4) },
    .peer.flags = pick (0, 7),
    .has_shape = TRUE,
    .has_strides = happens (80),
    .peer.tensor.device = { 1, 0 },
    .peer.tensor.dtype = dtypes[pick (0, G_N_ELEMENTS (dtypes) - 1)],
  };
  draw_layout (self, kind < 90 ? pick (0, 4) : kind < 98 ? pick (5, 8) : MAX_DIMS);
  if (self->peer.tensor.ndim == 0)
    self->has_shape = happens (50);
}

/* Limits of valid tensors. */
static void
draw_limit (Case *self)
{
  DLTensor *tensor = &self->peer.tensor;
  int axis = tensor->ndim > 0 ? pick (0, tensor->ndim - 1) : -1;

  switch (pick (0, 8))
    {
    case 0:
      self->peer.flags = draw_bits ();
      break;
    case 1:
      self->peer.version.minor = (guint32) draw_bits ();
      break;
    case 2:
      tensor->device.device_type = device_types[pick (0, G_N_ELEMENTS (device_types) - 1)];
      tensor->device.device_id = happens (50) ? pick (0, 3) : g_test_rand_int ();
      break;
    case 3:
      tensor->dtype = (DLDataType) { pick (0, 255), happens (50) ? 255 : pick (1, 255),
                                     happens (20) ? 65535 : pick (1, 20) };
      break;
    case 4: /* a stride that leads nowhere */
      if (axis >= 0)
        {
          self->shape[axis] = 1;
          self->strides[axis] = draw_extreme ();
        }
      break;
    case 5: /* no elements, and whatever there is */
      if (axis >= 0)
        {
          self->shape[axis] = 0;
          self->shape[pick (0, axis)] = happens (50) ? 0 : G_MAXINT64;
          self->shape[axis] = 0;
          self->strides[pick (0, axis)] = draw_extreme ();
          tensor->byte_offset = draw_bits ();
        }
      break;
    case 6:
      tensor->byte_offset = happens (50) ? pick (1, 4096) : POW2 (pick (20, 46));
      break;
    case 7: /* far, but there */
      if (axis >= 0)
        self->strides[axis] = (happens (50) ? 1 : -1) * POW2 (pick (13, 40));
      break;
    default:
      self->peer.tensor.device.device_id = g_test_rand_int ();
      break;
    }
}

static void
draw_fault (Case *self)
{
  DLTensor *tensor = &self->peer.tensor;
  int axis = tensor->ndim > 0 ? pick (0, MIN (tensor->ndim, MAX_DIMS) - 1) : -1;

  switch (pick (0, 10))
    {
    case 0:
      tensor->ndim = happens (50) ? pick (-3, -1)
                                  : happens (50) ? G_MININT32 : (gint32) draw_bits () | G_MININT32;
      break;
    case 1:
      tensor->ndim = happens (50) ? 65 : happens (50) ? G_MAXINT32 : pick (66, 1 << 20);
      break;
    case 2:
      self->has_shape = FALSE;
      break;
    case 3:
      *(happens (50) ? &self->shape_shift : &self->strides_shift) = pick (1, 7);
      break;
    case 4:
      if (axis >= 0)
        self->shape[axis] = happens (50) ? -pick (1, 5) : MIN (draw_extreme (), -1);
      break;
    case 5: /* more elements than there can be, or not quite */
      if (axis >= 0)
        {
          self->shape[axis] = MAX (draw_extreme (), 1);
          if (axis > 0 && happens (50))
            self->shape[axis - 1] = MAX (draw_extreme (), 1);
        }
      break;
    case 6: /* too far, or not quite */
      if (axis >= 0)
        {
          self->shape[axis] = pick (2, 5);
          self->strides[axis] = draw_extreme ();
          self->has_strides = TRUE;
        }
      break;
    case 7:
      *(happens (50) ? &tensor->dtype.bits : (guint8 *) &tensor->dtype.code) = 0;
      break;
    case 8:
      tensor->dtype.lanes = 0;
      break;
    case 9:
      tensor->byte_offset = happens (50) ? G_MAXUINT64 - pick (0, 99) : draw_bits ();
      break;
    default:
      self->peer.version.major = happens (50) ? 0 : happens (50) ? 2 : (guint32) draw_bits () | 2;
      break;
    }
}

/* If there are few elements, they are all that there is of the memory. */
static void
place (Case *self)
{
  DLTensor *tensor = &self->peer.tensor;
  Verdict verdict;
  gsize size;

  tensor->data = (gpointer) (guintptr) (POW2 (40) + pick (0, 64)); /* nothing is there */
  verdict = judge (self);
  if (verdict.may_succeed && !is_empty (self) && is_host (tensor->device.device_type)
      && verdict.end_bit - verdict.first_bit <= MAX_BITS
      && verdict.volume * verdict.item_bits <= MAX_BITS
      && tensor->byte_offset < (guint64) POW2 (40))
    {
      gint64 first = verdict.first_bit >> 3;

      size = (gint64) ((verdict.end_bit + 7) >> 3) - first;
      self->is_block = happens (50);
      self->memory = self->is_block ? malloc (size)
                                    : happens (70) ? guarded + MAX_MEMORY - size : guarded;
      memcpy (self->memory, pattern + pick (0, MAX_MEMORY), size);
      tensor->data = (gpointer) ((guintptr) self->memory - first - tensor->byte_offset);
    }
  else if (happens (30))
    tensor->data = NULL;
  else if (happens (20))
    tensor->data = (gpointer) (guintptr) (G_MAXUINT64 - pick (0, 5000));
}

/* --- Comparing */

/* Adds an item to those that lie without gaps. */
static void
append (guint8       *packed,
        gint64        n_bits,
        const guint8 *origin,
        gint64        bit,
        gint64        item_bits)
{
  if (item_bits % 8 == 0)
    {
      memcpy (packed + n_bits / 8, origin + bit / 8, item_bits / 8);
      return;
    }

  for (gint64 i = n_bits; i < n_bits + item_bits; i++, bit++)
    packed[i >> 3] |= (origin[bit >> 3] >> (bit & 7) & 1) << (i & 7);
}

/* The elements in C order. */
static void
gather (const guint8  *origin,
        const int64_t *shape,
        const int64_t *strides,
        int            n_dims,
        gint64         item_bits,
        guint8        *packed)
{
  gint64 position[MAX_DIMS] = { 0 };
  Wide offset = 0; /* strides that lead nowhere are added and taken away again */
  gint64 n_bits = 0;
  int axis;

  memset (packed, 0, MAX_MEMORY);
  do
    {
      append (packed, n_bits, origin, (gint64) (offset * item_bits), item_bits);
      n_bits += item_bits;
      for (axis = n_dims - 1; axis >= 0; axis--)
        {
          offset += strides[axis];
          if (++position[axis] < shape[axis])
            break;

          offset -= (Wide) strides[axis] * shape[axis];
          position[axis] = 0;
        }
    }
  while (axis >= 0);
}

/* The address of the first element. */
static gpointer
get_origin (const Case *self)
{
  return (gpointer) ((guintptr) self->peer.tensor.data + self->peer.tensor.byte_offset);
}

static void
gather_case (const Case    *self,
             const Verdict *verdict,
             guint8        *packed)
{
  gather (get_origin (self), self->shape, verdict->strides, self->peer.tensor.ndim,
          verdict->item_bits, packed);
}

static void
check_values (MtlStridedView *view,
              const Case     *self,
              const Verdict  *verdict)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);
  guint8 expected[MAX_MEMORY];

  g_assert_no_error (error);
  gather_case (self, verdict, expected);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                   expected, (gsize) ((verdict->volume * verdict->item_bits + 7) >> 3));
}

static void
check_view (MtlStridedView *view,
            const Case     *self,
            const Verdict  *verdict)
{
  const DLTensor *tensor = &self->peer.tensor;
  gint32 device_type = tensor->device.device_type;
  gsize n_dims = tensor->ndim;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  const gint64 *strides = mtl_strided_view_get_strides (view, NULL);
  gboolean is_readable = is_host (device_type);

  g_assert_cmpint (n_dims, ==, tensor->ndim);
  g_assert_cmpmem (shape, n_dims * sizeof *shape, self->shape, n_dims * sizeof *shape);
  if (self->has_strides || !is_empty (self))
    g_assert_cmpmem (strides, n_dims * sizeof *strides, verdict->strides,
                     n_dims * sizeof *strides);
  g_assert_cmpuint (mtl_strided_view_get_lanes (view), ==, tensor->dtype.lanes);
  g_assert_cmpuint (mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)), ==,
                    (guint) verdict->item_bits);
  g_assert_cmpint (mtl_device_get_ordinal (mtl_strided_view_get_device (view)), ==,
                   device_type == 1 ? 0 : tensor->device.device_id);
  g_assert_true (mtl_strided_view_is_read_only (view)
                 == (!self->peer.is_legacy && (self->peer.flags & DL_READ_ONLY) != 0));
  g_assert_true (mtl_strided_view_is_host_accessible (view) == is_readable);
  g_assert_true (mtl_strided_view_is_empty (view) == is_empty (self));
  if (!is_empty (self))
    g_assert_true (mtl_strided_view_get_volume (view) == (gint64) verdict->volume);
  if (is_readable && !is_empty (self))
    g_assert_cmpuint (mtl_strided_view_get_address (view), ==, (guintptr) get_origin (self));
  if (self->memory != NULL)
    check_values (view, self, verdict);
}

/* --- Consumers */

typedef struct
{
  MtlDlpackFlags flags;
  gboolean is_legacy;
  gint32 device_type;
  gint32 device_id;
} Request;

static gboolean
has_flag (const Request  *self,
          MtlDlpackFlags  flag)
{
  return (self->flags & flag) != 0;
}

static gboolean
has_obstacle (const Case    *self,
              const Verdict *verdict,
              const Request *request)
{
  if (has_flag (request, MTL_DLPACK_FLAGS_NEGATIVE_STRIDES) || is_empty (self))
    return FALSE;

  for (int i = 0; i < self->peer.tensor.ndim; i++)
    if (verdict->strides[i] < 0 && self->shape[i] > 1)
      return TRUE;

  return FALSE;
}

/* Follows docs/dlpack.md's rules for host memory, for a device that there is. Returns the error, or
 * -1; and TRUE in @is_copy for a copy. */
static int
expect_export (const Case    *self,
               const Verdict *verdict,
               const Request *request,
               gboolean      *is_copy)
{
  gboolean is_read_only = !self->peer.is_legacy && (self->peer.flags & DL_READ_ONLY) != 0;
  gboolean is_padded = !self->peer.is_legacy && (self->peer.flags & DL_PADDED) != 0
                       && self->peer.tensor.dtype.bits < 8;
  gboolean is_here = request->device_type == MTL_DEVICE_TYPE_UNKNOWN
                     || (request->device_type == MTL_DEVICE_TYPE_CPU && request->device_id == 0);
  gboolean wants_copy = has_flag (request, MTL_DLPACK_FLAGS_COPY);

  *is_copy = wants_copy || !is_here || has_obstacle (self, verdict, request);
  if (wants_copy && has_flag (request, MTL_DLPACK_FLAGS_NEVER_COPY))
    return MTL_ERROR_INVALID_ARGUMENT;
  if (*is_copy && has_flag (request, MTL_DLPACK_FLAGS_NEVER_COPY))
    return MTL_ERROR_NEEDS_COPY;
  if (request->is_legacy && is_read_only && !wants_copy)
    return MTL_ERROR_READ_ONLY;
  if (request->is_legacy && is_padded)
    return MTL_ERROR_NOT_SUPPORTED;

  return -1;
}

static void
check_strides (const DLTensor *tensor,
               const Case     *self,
               const Verdict  *verdict,
               gboolean        is_copy)
{
  Wide dense = 1;

  for (int i = tensor->ndim - 1; i >= 0; i--)
    {
      gint64 stride = tensor->strides[i];

      if (is_empty (self) || is_copy)
g_assert_true (stride == (gint64) dense || dense == WIDE_POW2 (63));
      else if (self->shape[i] > 1 || verdict->strides[i] >= 0)
        g_assert_cmpint (stride, ==, verdict->strides[i]);
      else
        g_assert_cmpint (stride, >, 0);
      dense = multiply (dense, MAX (self->shape[i], 1));
    }
}

static void
check_tensor (const DLTensor *tensor,
              const Case     *self,
              const Verdict  *verdict,
              gint32          device_type,
              gboolean        is_copy)
{
  guint8 expected[MAX_MEMORY], packed[MAX_MEMORY];
  gsize size = self->peer.tensor.ndim * sizeof *self->shape;

  g_assert_cmpint (tensor->ndim, ==, self->peer.tensor.ndim);
  g_assert_cmpmem (tensor->shape, size, self->shape, size);
  g_assert_cmpmem (&tensor->dtype, sizeof tensor->dtype, &self->peer.tensor.dtype,
                   sizeof tensor->dtype);
  g_assert_cmpint (tensor->device.device_type, ==, device_type);
  g_assert_cmpint (tensor->device.device_id, ==, 0);
  g_assert_cmpuint (tensor->byte_offset, ==, 0);
  check_strides (tensor, self, verdict, is_copy);
  if (device_type != MTL_DEVICE_TYPE_CPU) /* its data has no address */
    return;

  if (is_empty (self))
    g_assert_null (tensor->data);
  else
    g_assert_true ((tensor->data == get_origin (self)) == !is_copy);

  if (self->memory == NULL)
    return;

  gather_case (self, verdict, expected);
  gather (tensor->data, tensor->shape, tensor->strides, tensor->ndim, verdict->item_bits, packed);
  g_assert_cmpmem (packed, MAX_MEMORY, expected, MAX_MEMORY);
}

static void
check_flags (const DLManagedTensorVersioned *managed,
             const Case                     *self,
             gboolean                        is_copy)
{
  guint64 kept = DL_PADDED | (is_copy ? 0 : DL_READ_ONLY);
  guint64 flags = self->peer.is_legacy ? 0 : self->peer.flags & kept;

  if (self->peer.tensor.dtype.bits >= 8)
    flags &= ~(guint64) DL_PADDED;
  g_assert_cmpuint (managed->flags, ==, flags | (is_copy ? DL_IS_COPIED : 0));
  g_assert_cmpuint (managed->version.major, ==, 1);
  g_assert_cmpuint (managed->version.minor, >=, 1);
}

static gpointer
drop (gpointer view)
{
  g_object_unref (view);
  return NULL;
}

static void
drop_anywhere (MtlStridedView *view)
{
  if (happens (98))
    g_object_unref (view);
  else
    g_thread_join (g_thread_new ("drop", drop, view));
}

/* Takes the view: what was exported outlives it. */
static void
pass_on (MtlStridedView *view,
         const Case     *self,
         const Verdict  *verdict,
         gboolean        is_readable)
{
  static const gint32 wanted[] = { 0, 0, 0, 1, 1, 2, 8, 99, -4 };
  g_autoptr (GError) error = NULL;
  Request request = {
    .flags = pick (0, 7),
    .is_legacy = happens (40),
    .device_type = wanted[pick (0, G_N_ELEMENTS (wanted) - 1)],
    .device_id = happens (90) ? 0 : g_test_rand_int (),
  };
  DLManagedTensorVersioned *versioned = NULL;
  DLManagedTensor *legacy = NULL;
  MtlDevice *device = NULL;
  gboolean is_copy;
  int code;

  if (request.device_type != 0)
    device = mtl_device_get (request.device_type, request.device_id, NULL);
  if (device == NULL)
    request.device_type = request.device_id = 0;

  if (!is_readable)
    request.flags = (request.flags & ~MTL_DLPACK_FLAGS_COPY) | MTL_DLPACK_FLAGS_NEVER_COPY;
  code = expect_export (self, verdict, &request, &is_copy);
  if (request.is_legacy)
    legacy = (gpointer) mtl_strided_view_to_dlpack_legacy (view, request.flags, device, &error);
  else
    versioned = (gpointer) mtl_strided_view_to_dlpack (view, request.flags, device, &error);

  if (code >= 0)
    {
      g_assert_error (error, MTL_ERROR, code);
      g_assert_true (versioned == NULL && legacy == NULL);
      drop_anywhere (view);
      return;
    }

  g_assert_no_error (error);
  drop_anywhere (view);
  g_assert_cmpint (self->peer.n_deleted, ==, self->peer.has_deleter && is_copy);
  check_tensor (legacy != NULL ? &legacy->dl_tensor : &versioned->dl_tensor, self, verdict,
                request.device_type != 0 ? request.device_type : MTL_DEVICE_TYPE_CPU, is_copy);
  if (legacy != NULL)
    legacy->deleter (legacy);
  else
    {
      check_flags (versioned, self, is_copy);
      versioned->deleter (versioned);
    }
}

/* --- The test */

static MtlStridedView *
take (const Case  *self,
      gpointer     managed,
      GError     **error)
{
  if (self->peer.is_legacy)
    return mtl_strided_view_new_take_dlpack_legacy (managed, error);

  return mtl_strided_view_new_take_dlpack (managed, error);
}

static void
check_verdict (const Verdict *verdict,
               gboolean       succeeded,
               const GError  *error)
{
  if (succeeded)
    {
      g_assert_no_error (error);
      g_assert_true (verdict->may_succeed);
      return;
    }

  g_assert_nonnull (error);
  g_assert_true (error->domain == MTL_ERROR);
  if (!(verdict->may_fail >> error->code & 1))
    g_error ("“%s”, but the tensor is valid%s", error->message,
             verdict->may_fail != 0 ? ", or wrong in another way" : "");
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}

/* mtl_dlpack_validate() does not see a versioned tensor's flags. */
static void
check_alone (const Case          *self,
             const HostileExport *export,
             const Verdict       *verdict)
{
  g_autoptr (GError) error = NULL;
  gboolean is_valid;

  if (!self->peer.is_legacy && (self->peer.version.major != 1 || (self->peer.flags & DL_PADDED)))
    return;

  is_valid = mtl_dlpack_validate (self->peer.is_legacy
                                    ? (gconstpointer) export->managed
                                    : &((DLManagedTensorVersioned *) export->managed)->dl_tensor,
                                  &error);
  check_verdict (verdict, is_valid, error);
}

static HostileExport *
give_away (Case *self)
{
  return hostile_export_new (
    &self->peer,
    (HostileDims) { self->has_shape ? self->shape : NULL, self->n_there, self->shape_shift },
    (HostileDims) { self->has_strides ? self->strides : NULL, self->n_there, self->strides_shift });
}

static gboolean
run_case (void)
{
  g_autoptr (GError) error = NULL;
  guint8 before[MAX_MEMORY], after[MAX_MEMORY];
  MtlStridedView *view;
  Verdict verdict;
  HostileExport *export;
  Case self;

  draw_valid (&self);
  for (int n = happens (40) ? pick (1, 3) : 0; n > 0; n--)
    draw_limit (&self);
  for (int n = happens (40) ? pick (1, 2) : 0; n > 0; n--)
    draw_fault (&self);
  place (&self);
  verdict = judge (&self);
  if (self.memory != NULL)
    gather_case (&self, &verdict, before);

  export = give_away (&self);
  check_alone (&self, export, &verdict);
  view = take (&self, export->managed, &error);
  check_verdict (&verdict, view != NULL, error);
  if (view == NULL)
    g_assert_true (verdict.may_fail != 0);
  else
    {
      g_assert_cmpint (self.peer.n_deleted, ==, 0);
      check_view (view, &self, &verdict);
      if (self.peer.tensor.device.device_type == 1)
        pass_on (view, &self, &verdict, self.memory != NULL || is_empty (&self));
      else
        drop_anywhere (view);
    }

  g_assert_cmpint (self.peer.n_deleted, ==, self.peer.has_deleter);
  if (!self.peer.has_deleter)
    hostile_export_free (export);
  if (self.memory != NULL)
    {
      gather_case (&self, &verdict, after);
      g_assert_cmpmem (before, MAX_MEMORY, after, MAX_MEMORY);
    }
  if (self.is_block)
    free (self.memory);
  return view != NULL;
}

static void
test_random (void)
{
  guint64 n_cases = get_number ("MTL_TEST_CASES", N_CASES);
  gint64 deadline = g_get_monotonic_time ()
                    + get_number ("MTL_TEST_SECONDS", 60) * G_USEC_PER_SEC;
  guint64 n = 0, n_taken = 0;

  for (; n < n_cases && g_get_monotonic_time () < deadline; n++)
    n_taken += run_case ();

  g_test_message ("%" G_GUINT64_FORMAT " tensors of peers, %" G_GUINT64_FORMAT " of them valid",
                  n, n_taken);
  g_assert_cmpuint (n_taken, >, n / 4);
  g_assert_cmpuint (n_taken, <, n * 9 / 10);
}

static void
prepare_memory (void)
{
  guarded = hostile_guarded_new (MAX_MEMORY);
  for (gsize i = 0; i < sizeof pattern; i++)
    pattern[i] = pick (0, 255);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  prepare_memory ();

  g_test_add_func ("/Dlpack/random", test_random);

  return g_test_run ();
}
