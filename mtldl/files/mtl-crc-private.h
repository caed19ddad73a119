/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The CRC-32 that zip archives have, of what was before and these bytes; of nothing it
 * is 0. */
guint32 mtl_crc_add (guint32       self,
                     gconstpointer bytes,
                     gsize         size);

G_END_DECLS
