/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-crc-private.h"

#define POLYNOMIAL 0xedb88320
#define N_AT_ONCE 8

/* What a byte that is followed by n zero bytes contributes. */
static guint32 tables[N_AT_ONCE][256];

static void
fill_tables (void)
{
  for (guint byte = 0; byte < 256; byte++)
    {
      guint32 crc = byte;

      for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
      tables[0][byte] = crc;
    }

  for (guint n = 1; n < N_AT_ONCE; n++)
    for (guint byte = 0; byte < 256; byte++)
      tables[n][byte] = tables[n - 1][byte] >> 8 ^ tables[0][tables[n - 1][byte] & 0xff];
}

static guint32
add_eight (guint32       crc,
           const guint8 *bytes)
{
  return tables[7][(crc ^ bytes[0]) & 0xff]
         ^ tables[6][(crc >> 8 ^ bytes[1]) & 0xff]
         ^ tables[5][(crc >> 16 ^ bytes[2]) & 0xff]
         ^ tables[4][crc >> 24 ^ bytes[3]]
         ^ tables[3][bytes[4]]
         ^ tables[2][bytes[5]]
         ^ tables[1][bytes[6]]
         ^ tables[0][bytes[7]];
}

guint32
mtl_crc_add (guint32       self,
             gconstpointer bytes,
             gsize         size)
{
  static gsize filled;
  const guint8 *at = bytes;
  guint32 crc = ~self;

  if (g_once_init_enter (&filled))
    {
      fill_tables ();
      g_once_init_leave (&filled, 1);
    }

  for (; size >= N_AT_ONCE; size -= N_AT_ONCE, at += N_AT_ONCE)
    crc = add_eight (crc, at);
  for (; size > 0; size--)
    crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 0xff];

  return ~crc;
}
