/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Adds the bytes to the CRC-32 of zip archives. The CRC of no bytes is 0. */
guint32 mtl_crc_add (guint32       self,
                     gconstpointer bytes,
                     gsize         size);

G_END_DECLS
