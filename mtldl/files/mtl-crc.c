/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-crc-private.h"

#include "mtl-fork-private.h"

#define POLYNOMIAL 0xedb88320
#define N_AT_ONCE 8

/* Two runs at once take less time than one after the other, which waits for the tables. */
#define RUN_SIZE 4096

/* What a byte that is followed by n zero bytes contributes. */
static guint32 tables[N_AT_ONCE][256];
/* x to the power of 8 * 2 ** n, for polynomials modulo that of the CRC. */
static guint32 powers[64];

/* The highest bit is the lowest coefficient. */
static guint32
multiply (guint32 a,
          guint32 b)
{
  guint32 product = 0;

  for (; a != 0; a <<= 1)
    {
      product ^= a >> 31 ? b : 0;
      b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
    }

  return product;
}

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

  powers[0] = G_GUINT64_CONSTANT (1) << (31 - 8);
  for (guint n = 1; n < G_N_ELEMENTS (powers); n++)
    powers[n] = multiply (powers[n - 1], powers[n - 1]);
}

static void
ensure_tables (void)
{
  static MtlForkOnce once;

  if (mtl_fork_once_enter (&once))
    {
      fill_tables ();
      mtl_fork_once_leave (&once);
    }
}

static inline guint32
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

static guint32
move (guint32 crc,
      guint64 n)
{
  for (guint i = 0; n > 0; i++, n >>= 1)
    if (n & 1)
      crc = multiply (powers[i], crc);

  return crc;
}

static guint32
add_two_runs (guint32       crc,
              const guint8 *bytes)
{
  guint32 second = 0;

  for (gsize i = 0; i < RUN_SIZE; i += N_AT_ONCE)
    {
      crc = add_eight (crc, bytes + i);
      second = add_eight (second, bytes + RUN_SIZE + i);
    }

  return move (crc, RUN_SIZE) ^ second;
}

guint32
mtl_crc_add (guint32       self,
             gconstpointer bytes,
             gsize         size)
{
  const guint8 *at = bytes;
  guint32 crc = ~self;

  ensure_tables ();
  for (; size >= 2 * RUN_SIZE; size -= 2 * RUN_SIZE, at += 2 * RUN_SIZE)
    crc = add_two_runs (crc, at);
  for (; size >= N_AT_ONCE; size -= N_AT_ONCE, at += N_AT_ONCE)
    crc = add_eight (crc, at);
  for (; size > 0; size--)
    crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 0xff];

  return ~crc;
}

guint32
mtl_crc_move (guint32 self,
              guint64 n)
{
  ensure_tables ();
  return move (self, n);
}
