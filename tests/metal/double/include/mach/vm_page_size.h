/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Part of the double of Metal: pages of 16 KiB, as on Apple silicon, whatever
 * those of the machine. */

#pragma once

#include <stdint.h>

typedef uintptr_t vm_size_t;

extern vm_size_t vm_page_size;
