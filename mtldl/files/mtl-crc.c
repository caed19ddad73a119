/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lengths of 64 bits on every system. */
#define _LARGEFILE64_SOURCE

#include "config.h"

#include "mtl-crc-private.h"

#include <zlib.h>

#ifdef MTL_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

guint32
mtl_crc_add (guint32       self,
             gconstpointer bytes,
             gsize         size)
{
#ifdef MTL_HAS_LIBDEFLATE
  return libdeflate_crc32 (self, bytes, size);
#else
  return crc32_z (self, bytes, size);
#endif
}

guint32
mtl_crc_move (guint32 self,
              guint64 n)
{
#ifdef Z_LARGE64
  return crc32_combine64 (self, 0, n);
#else
  return crc32_combine (self, 0, n);
#endif
}
