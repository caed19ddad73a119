/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-body-private.h"

/* In the serialized form, the memory comes first, as a variant: the bytes, a zero, and their type.
 * After that, at a multiple of 8, are the numbers of this struct, the shape, the strides, and the
 * extras. The ends of the memory, of the shape and of the strides are at the end, last one first,
 * each in the fewest bytes that can count all of them. */
typedef struct
{
  guint64 byte_offset;
  guint8 code;
  guint8 bits;
  guint16 lanes;
  guint32 padding; /* zero, as the next part begins at a multiple of 8 */
} Numbers;

#define NUMBERS_SIZE sizeof (Numbers)

static const char inline_type[] = { 0, 'a', 'y' };
static const char handle_type[] = { 0, 'h' };

static gsize
align (gsize position)
{
  return (position + 7) & ~(gsize) 7;
}

/* The bytes of the ends, in a body whose other bytes are so many. */
static gsize
get_end_size (gsize size)
{
  return size + 3 <= G_MAXUINT8 ? 1 : size + 3 * 2 <= G_MAXUINT16 ? 2 : 4;
}

static void
write_end (guint8 *at,
           gsize   end,
           gsize   end_size)
{
  guint32 number = GUINT32_TO_LE (end);

  memcpy (at, &number, end_size);
}

static gsize
read_end (const guint8 *at,
          gsize         end_size)
{
  guint32 number = 0;

  memcpy (&number, at, end_size);
  return GUINT32_FROM_LE (number);
}

gboolean
mtl_tensor_body_is_plain (MtlStridedView *view)
{
  return G_BYTE_ORDER == G_LITTLE_ENDIAN && !view->type.padded
         && mtl_layout_is_contiguous (&view->layout, MTL_ORDER_C)
         && view->layout.item_bits % 8 == 0;
}

MtlMemory *
mtl_tensor_body_new (MtlStridedView  *view,
                     gsize           *size,
                     GError         **error)
{
  const gsize dims_size = view->layout.n_dims * sizeof (gint64);
  gsize n_bytes, memory_end, shape_end, end_size;
  const Numbers numbers = { 0, view->type.code, view->type.bits, view->type.lanes, 0 };
  MtlMemory *memory;
  gint64 first;
  guint bit;
  guint8 *at;

  n_bytes = mtl_layout_count_bytes (&view->layout);
  memory_end = n_bytes + sizeof inline_type;
  shape_end = align (memory_end) + NUMBERS_SIZE + dims_size;
  end_size = get_end_size (shape_end + dims_size);
  *size = shape_end + dims_size + 3 * end_size;
  memory = mtl_memory_new (NULL, *size, MTL_STORAGE_MODE_HOST, FALSE, error);
  if (memory == NULL)
    return NULL;

  if (!mtl_memory_begin_access (view->memory, error))
    {
      mtl_memory_unref (memory);
      return NULL;
    }

  at = memory->contents;
  mtl_layout_get_first_byte (&view->layout, &first, &bit);
  if (n_bytes > 0)
    memcpy (at, view->memory->contents + view->byte_offset + first, n_bytes);
  memcpy (at + n_bytes, inline_type, sizeof inline_type);
  memset (at + memory_end, 0, align (memory_end) - memory_end);
  memcpy (at + align (memory_end), &numbers, NUMBERS_SIZE);
  memcpy (at + shape_end - dims_size, mtl_layout_shape (&view->layout), dims_size);
  memcpy (at + shape_end, mtl_layout_strides (&view->layout), dims_size);
  at += shape_end + dims_size;
  write_end (at, shape_end + dims_size, end_size);
  write_end (at + end_size, shape_end, end_size);
  write_end (at + 2 * end_size, memory_end, end_size);
  return memory;
}

/* The places of the parts in a body. */
typedef struct
{
  gsize memory_end;
  gsize shape;
  gsize shape_end;
  gsize strides_end;
} Places;

/* Checks that nothing is missing, nothing overlaps, and there are no extras. */
static gboolean
find_places (const guint8 *bytes,
             gsize         size,
             Places       *places)
{
  const gsize end_size = size <= G_MAXUINT8 ? 1 : size <= G_MAXUINT16 ? 2 : 4;

  if (G_BYTE_ORDER != G_LITTLE_ENDIAN || size < 3 * end_size)
    return FALSE;

  places->memory_end = read_end (bytes + size - end_size, end_size);
  places->shape_end = read_end (bytes + size - 2 * end_size, end_size);
  places->strides_end = read_end (bytes + size - 3 * end_size, end_size);
  if (places->memory_end > size || places->strides_end != size - 3 * end_size)
    return FALSE;

  places->shape = align (places->memory_end) + NUMBERS_SIZE;
  return places->shape <= places->shape_end && places->shape_end <= places->strides_end
         && places->shape_end % sizeof (gint64) == 0
         && places->strides_end % sizeof (gint64) == 0;
}

static gboolean
ends_in (const guint8 *bytes,
         gsize         end,
         const char   *type,
         gsize         type_size)
{
  return end >= type_size && memcmp (bytes + end - type_size, type, type_size) == 0;
}

/* The memory may be a handle, or bytes, which stay where they are. */
static gboolean
read_memory (MtlMemory     *memory,
             gsize          end,
             MtlSentTensor *result)
{
  const guint8 *bytes = memory->contents;

  if (ends_in (bytes, end, inline_type, sizeof inline_type))
    {
      result->handle = -1;
      result->elements = g_bytes_new_with_free_func (bytes, end - sizeof inline_type,
                                                     (GDestroyNotify) mtl_memory_unref,
                                                     mtl_memory_ref (memory));
      return TRUE;
    }

  if (end != sizeof (gint32) + sizeof handle_type
      || !ends_in (bytes, end, handle_type, sizeof handle_type))
    return FALSE;

  memcpy (&result->handle, bytes, sizeof (gint32));
  return result->handle >= 0;
}

gboolean
mtl_tensor_body_read (MtlMemory      *memory,
                      gsize           size,
                      MtlSentTensor  *result,
                      GError        **error)
{
  g_auto (MtlSentTensor) sent = { .release = -1 };
  guint8 *bytes = memory->contents;
  DLTensor tensor = { NULL };
  Numbers numbers;
  Places places;

  if (!find_places (bytes, size, &places)
      || !read_memory (memory, places.memory_end, &sent))
    return FALSE;

  memcpy (&numbers, bytes + places.shape - NUMBERS_SIZE, NUMBERS_SIZE);
  tensor.byte_offset = numbers.byte_offset;
  tensor.dtype = (DLDataType) { numbers.code, numbers.bits, numbers.lanes };
  tensor.shape = (gint64 *) (gpointer) (bytes + places.shape);
  tensor.strides = (gint64 *) (gpointer) (bytes + places.shape_end);
  if (!mtl_sent_tensor_describe (&sent, &tensor,
                                 (places.shape_end - places.shape) / sizeof (gint64),
                                 (places.strides_end - places.shape_end) / sizeof (gint64), FALSE,
                                 error))
    return FALSE;

  *result = sent;
  sent = (MtlSentTensor) { .release = -1 };
  return TRUE;
}
