/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

int LLVMFuzzerInitialize   (int          *argc,
                            char       ***argv);
int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);

/* The rest of the bytes that say what to do; zeros after their end. */
typedef struct
{
  const guint8 *data;
  gsize size;
} Input;

static inline guint8
input_byte (Input *self)
{
  if (self->size == 0)
    return 0;

  self->size--;
  return *self->data++;
}

static inline guint64
input_word (Input *self)
{
  guint64 word = 0;

  for (int i = 0; i < 8; i++)
    word = word << 8 | input_byte (self);

  return word;
}

/* Small numbers mostly, else any, or one near an end. */
static inline gint64
input_int64 (Input *self)
{
  gint8 byte = input_byte (self);

  if (byte == 127)
    return input_word (self);
  if (byte >= 124)
    return G_MAXINT64 - input_byte (self);
  if (byte <= -125)
    return G_MININT64 + input_byte (self);
  if (byte >= 116)
    return G_GINT64_CONSTANT (1) << (input_byte (self) % 63);

  return byte / 4;
}

static inline gint64
input_extent (Input *self)
{
  gint64 value = input_int64 (self);

  return value < 0 && value >= -32 ? -value : value;
}

static inline int
input_axis (Input *self)
{
  return (gint8) input_byte (self) / 8;
}

/* A failure has a reason, and a success none. */
static inline gboolean
check_result (gboolean  success,
              GError  **error)
{
  g_assert_true (success == (*error == NULL));
  if (*error != NULL)
    {
      g_assert_true ((*error)->domain == MTL_ERROR);
      g_assert_true ((*error)->message[0] != '\0');
    }
  g_clear_error (error);
  return success;
}

/* The offset of each element in C order, from nothing but the numbers of the
 * layout; NULL where there are too many to look at. */
#define MAX_LISTED 2048

static inline gint64 *
list_offsets (MtlStridedLayout *layout)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_layout_get_shape (layout, &n_dims);
  const gint64 *strides = mtl_strided_layout_get_strides (layout, &n_dims);
  gint64 volume = mtl_strided_layout_get_volume (layout);
  gint64 *offsets;

  if (volume > MAX_LISTED)
    return NULL;

  offsets = g_new (gint64, volume + 1);
  for (gint64 i = 0; i < volume; i++)
    {
      gint64 rest = i;

      offsets[i] = mtl_strided_layout_get_offset (layout);
      for (gsize axis = n_dims; axis > 0; axis--)
        {
          if (shape[axis - 1] > 1)
            offsets[i] += rest % shape[axis - 1] * strides[axis - 1];
          rest /= shape[axis - 1];
        }
    }

  return offsets;
}
