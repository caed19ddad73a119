/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

/* The checksum of archives by its definition, bit by bit. */
static inline guint32
get_crc (const guint8 *bytes,
         gsize         size)
{
  guint32 crc = 0xffffffff;

  for (gsize i = 0; i < size; i++)
    {
      crc ^= bytes[i];
      for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }

  return ~crc;
}
