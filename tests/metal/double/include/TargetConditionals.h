/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Part of the double of Metal, which plays macOS. */

#pragma once

#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS 0
