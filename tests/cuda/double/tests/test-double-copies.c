/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies and fills: which read memory late, and which wait. */

#include "test-double.h"

#define MIB ((size_t) 1 << 20)

static CuStream stream;
static CuAddress device;

static void
begin_copies (size_t size)
{
  begin ();
  stream = new_stream ();
  device = new_memory (size);
}

static void
end_copies (void)
{
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuMemFree_v2 (device));
  end ();
}

static void
test_fills (void)
{
  unsigned char *bytes;

  begin_copies (64);
  bytes = new_pinned (64);
  MUST (cu.cuMemsetD8Async (device, 1, 64, stream));
  MUST (cu.cuMemsetD8Async (device + 1, 0xfe, 1, stream));
  MUST (cu.cuMemsetD16Async (device + 2, 0x0302, 3, stream));
  MUST (cu.cuMemsetD32Async (device + 8, 0x07060504, 2, stream));
  MUST (cu.cuMemcpyAsync (ADDRESS (bytes), device, 64, stream));
  MUST (cu.cuStreamSynchronize (stream));
  CHECK (memcmp (bytes, "\1\xfe\2\3\2\3\2\3\4\5\6\7\4\5\6\7\1", 17) == 0 && bytes[63] == 1);

  EXPECT (CU_INVALID_VALUE, cu.cuMemsetD16Async (device + 1, 0, 1, stream));
  EXPECT (CU_INVALID_VALUE, cu.cuMemsetD32Async (device + 2, 0, 1, stream));
  MUST (cu.cuMemsetD8Async (device, 0, 0, stream));
  MUST (cu.cuMemcpyAsync (device, ADDRESS (bytes), 0, stream));
  if (is_double)
    {
      EXPECT (CU_INVALID_VALUE, cu.cuMemsetD32Async (device, 0, SIZE_MAX / 2, stream));
      EXPECT (0, dbl.pending (stream));
    }
  MUST (cu.cuMemFreeHost (bytes));
  end_copies ();
}

/* Up to 1 MiB of pageable memory is read at once, more before the call returns. */
static void
test_from_pageable (void)
{
  unsigned char *bytes = malloc (MIB + 1);

  begin_copies (2 * MIB);
  memset (bytes, 1, MIB);
  MUST (cu.cuMemcpyAsync (device, ADDRESS (bytes), MIB, stream));
  if (is_double)
    {
      EXPECT (1, dbl.pending (stream));
      EXPECT (0, dbl.waits (NULL));
    }
  memset (bytes, 2, MIB);
  EXPECT (0x01010101, read_word (device + MIB - 4, stream));

  if (is_double)
    {
      MUST (cu.cuMemsetD8Async (device, 0, 4, stream));
      MUST (cu.cuMemcpyAsync (device, ADDRESS (bytes), MIB + 1, stream));
      EXPECT (0, dbl.pending (stream));
      EXPECT (1, dbl.waits ("cuMemcpyAsync"));
    }
  free (bytes);
  end_copies ();
}

static void
test_to_pageable (void)
{
  uint32_t word = 0;

  begin_copies (4);
  MUST (cu.cuMemsetD32Async (device, 42, 1, stream));
  MUST (cu.cuMemcpyAsync (ADDRESS (&word), device, 4, stream));
  EXPECT (42, word);
  if (is_double)
    {
      EXPECT (1, dbl.waits ("cuMemcpyAsync"));
      EXPECT (0, dbl.pending (stream));
    }
  end_copies ();
}

/* Memory that the driver knows is read when the stream comes to it. */
static void
test_late (void)
{
  uint32_t *pinned, *managed;
  CuAddress address;

  begin_copies (8);
  pinned = new_pinned (4);
  MUST (cu.cuMemAllocManaged (&address, 4, CU_ATTACH_GLOBAL));
  managed = POINTER (address);
  *pinned = 1;
  *managed = 2;
  MUST (cu.cuMemcpyAsync (device, ADDRESS (pinned), 4, stream));
  MUST (cu.cuMemcpyAsync (device + 4, address, 4, stream));
  *pinned = 3;
  *managed = 4;
  EXPECT (3, read_word (device, stream));
  EXPECT (4, read_word (device + 4, stream));
  EXPECT (0, dbl.waits ("cuMemcpyAsync"));
  MUST (cu.cuMemFreeHost (pinned));
  MUST (cu.cuMemFree_v2 (address));
  end_copies ();
}

static void
test_on_host (void)
{
  uint32_t from = 7, to = 0;

  begin_copies (4);
  MUST (cu.cuMemcpyAsync (ADDRESS (&to), ADDRESS (&from), 4, stream));
  MUST (cu.cuStreamSynchronize (stream));
  EXPECT (7, to);
  end_copies ();
}

static void
test_overlap (void)
{
  begin_copies (64);
  VIOLATES (CU_SUCCESS, cu.cuMemcpyAsync (device, device + 4, 8, stream));
  MUST (cu.cuMemcpyAsync (device, device + 8, 8, stream));
  MUST (cu.cuStreamSynchronize (stream));
}

/* Every box in a small block, against a loop */
static void
test_boxes (void)
{
  enum { PITCH = 9, HEIGHT = 5, DEPTH = 4, SIZE = PITCH * HEIGHT * DEPTH };
  unsigned char *from, *to;
  unsigned n = 0;

  begin_copies (SIZE);
  from = new_pinned (SIZE);
  to = new_pinned (SIZE);
  for (int i = 0; i < SIZE; i++)
    from[i] = (unsigned char) (i * 7);
  MUST (cu.cuMemcpyAsync (device, ADDRESS (from), SIZE, stream));

  for (size_t x = 0; x < 4; x++)
    for (size_t y = 0; y < 3; y++)
      for (size_t z = 0; z < 2; z++)
        for (size_t width = 1; width <= PITCH - x; width += 2)
          {
            size_t height = HEIGHT - y, depth = DEPTH - z, pitch = width + 3;
            CuCopy3D copy = { .src_type = CU_MEMORY_DEVICE, .src_device = device, .src_x = x,
                              .src_y = y, .src_z = z, .src_pitch = PITCH, .src_height = HEIGHT,
                              .dst_type = CU_MEMORY_HOST, .dst_host = to, .dst_x = 1,
                              .dst_pitch = pitch, .dst_height = height, .width = width,
                              .height = height, .depth = depth };

            if (pitch * height * depth > SIZE)
              continue;
            memset (to, 0xee, SIZE);
            MUST (cu.cuMemcpy3DAsync_v2 (&copy, stream));
            MUST (cu.cuStreamSynchronize (stream));
            for (size_t i = 0; i < pitch * height * depth; i++)
              {
                size_t k = i / pitch / height, j = i / pitch % height, c = i % pitch;

                if (c == 0 || c > width)
                  EXPECT (0xee, to[i]);
                else
                  EXPECT (from[((k + z) * HEIGHT + j + y) * PITCH + c - 1 + x], to[i]);
              }
            n++;
          }
  CHECK (n >= 60);
  MUST (cu.cuMemFreeHost (from));
  MUST (cu.cuMemFreeHost (to));
  end_copies ();
}

/* Rows of pageable memory are staged, too. */
static void
test_box_of_pageable (void)
{
  char own[100];
  CuCopy3D copy = { .src_type = CU_MEMORY_UNIFIED, .src_device = ADDRESS (own), .src_x = 2,
                    .src_pitch = 10, .src_height = 2, .dst_type = CU_MEMORY_UNIFIED,
                    .dst_pitch = 4, .dst_height = 2, .width = 4, .height = 2, .depth = 2 };

  begin_copies (16);
  copy.dst_device = device;
  for (int i = 0; i < 100; i++)
    own[i] = (char) i;
  MUST (cu.cuMemcpy3DAsync_v2 (&copy, stream));
  memset (own, 0, sizeof own);
  EXPECT (0x05040302, read_word (device, stream));
  EXPECT (0x0f0e0d0c, read_word (device + 4, stream));
  EXPECT (0x19181716, read_word (device + 8, stream));
  EXPECT (0x23222120, read_word (device + 12, stream));
  end_copies ();
}

static void
test_wrong_boxes (void)
{
  static char own[100];
  CuCopy3D right = { .src_type = CU_MEMORY_DEVICE, .src_pitch = 8, .src_height = 2,
                     .dst_type = CU_MEMORY_HOST, .dst_host = own, .dst_pitch = 8, .dst_height = 2,
                     .width = 8, .height = 2, .depth = 2 };

  begin_copies (64);
  right.src_device = device;
  MUST (cu.cuMemcpy3DAsync_v2 (&right, stream));
#define WRONG(field, value) \
  do \
    { \
      CuCopy3D wrong_ = right; \
      wrong_.field = value; \
      EXPECT (CU_INVALID_VALUE, cu.cuMemcpy3DAsync_v2 (&wrong_, stream)); \
    } \
  while (0)
  WRONG (src_type, 0);
  WRONG (dst_type, 3);
  WRONG (src_pitch, 7);
  WRONG (dst_pitch, 7);
  WRONG (src_pitch, (size_t) 1 << 31);
  WRONG (src_x, 1);
  WRONG (src_x, SIZE_MAX);
  WRONG (src_height, 1);
  WRONG (dst_y, 1);
  WRONG (dst_y, SIZE_MAX);
  WRONG (src_z, SIZE_MAX / 8);
  WRONG (depth, SIZE_MAX / 8);
  WRONG (src_lod, 1);
  WRONG (src_array, own);
  WRONG (reserved0, own);
  WRONG (reserved1, own);
  right.depth = 0;
  MUST (cu.cuMemcpy3DAsync_v2 (&right, stream));
  EXPECT (0, dbl.pending (stream));
  right.depth = 2;
  right.dst_type = CU_MEMORY_DEVICE;
  right.dst_device = ADDRESS (own);
  VIOLATES (CU_INVALID_VALUE, cu.cuMemcpy3DAsync_v2 (&right, stream));
  right.dst_type = CU_MEMORY_HOST;
  right.dst_host = POINTER (device);
  VIOLATES (CU_INVALID_VALUE, cu.cuMemcpy3DAsync_v2 (&right, stream));
  right.dst_type = CU_MEMORY_UNIFIED;
  right.dst_device = device + 40; /* the last rows are beyond the end */
  MUST (cu.cuMemcpy3DAsync_v2 (&right, stream));
  VIOLATES (CU_ILLEGAL_ADDRESS, cu.cuStreamSynchronize (stream));
}

static const Case cases[] = {
  { "fills", test_fills, true },
  { "from-pageable", test_from_pageable, true },
  { "to-pageable", test_to_pageable, true },
  { "late", test_late },
  { "on-host", test_on_host, true },
  { "overlap", test_overlap },
  { "boxes", test_boxes, true },
  { "box-of-pageable", test_box_of_pageable, true },
  { "wrong-boxes", test_wrong_boxes },
};

RUN_CASES (cases)
