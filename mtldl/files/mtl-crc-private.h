/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Adds the bytes to the CRC-32 of zip archives. The CRC of no bytes is 0. */
guint32 mtl_crc_add (guint32       self,
                     gconstpointer bytes,
                     gsize         size);

/* Moves the CRC of some bytes before n others: the CRC of all of them is the result XOR
 * the CRC of the n bytes. */
guint32 mtl_crc_move (guint32       self,
                      guint64       n);

G_END_DECLS
