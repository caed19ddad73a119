/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Comes before every file that is compiled against the SDK of macOS 26: what is newer than the
 * oldest system must be looked for at run time. The headers are those of a later SDK, so that
 * what came with macOS 27 is there if it is looked for. */

#pragma once

#include <Availability.h>
#include <os/availability.h>

#undef __MAC_OS_X_VERSION_MAX_ALLOWED
#define __MAC_OS_X_VERSION_MAX_ALLOWED 260000
