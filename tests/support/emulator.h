/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>
#include <sys/mman.h>

/* An emulator of another processor accepts advice on memory that is not there. */
static inline gboolean
is_emulated (void)
{
  gpointer page = mmap (NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);

  g_assert_true (page != MAP_FAILED);
  g_assert_cmpint (munmap (page, 1), ==, 0);
  return madvise (page, 1, MADV_WILLNEED) == 0;
}
