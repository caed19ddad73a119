/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Comes before every file that is compiled against the SDK of macOS 12: what is newer is not there,
 * so that a use of it is an error, also where it is looked for at run time. */

#pragma once

#include <Availability.h>
#include <os/availability.h>

#undef __MAC_OS_X_VERSION_MAX_ALLOWED
#define __MAC_OS_X_VERSION_MAX_ALLOWED 120300

#undef __API_AVAILABLE_PLATFORM_macos
#define __API_AVAILABLE_PLATFORM_macos(version) macos, strict, introduced = version
