/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* More of the fixture over Metal as it is, where a test names devices by the role that they play:
 * those of the double, by ordinal. A device may play several. */

#pragma once

#include "metal-fixture.h"

unsigned metal_fixture_n_devices (void);
/* The place in the list of the device that is like the double's, or of one that is not. */
unsigned metal_fixture_ordinal (unsigned role);
/* True if METAL_FIXTURE_ADD can run, except for 0. */
bool metal_fixture_has_kernels (void);
