/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Part of the double of Metal: with -fblocks GNUstep's headers ask for this
 * file, which GCC's libobjc does not have. */

#pragma once

#include <Block.h>
