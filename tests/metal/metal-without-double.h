/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Metal itself has nothing to switch and nothing that counts. A test that needs that is added with
 * add_double_test(), so that it is skipped: here it fails. */

#pragma once

#include <glib.h>

#include "metal-double.h"

static inline guint64
need_double (const char *function)
{
  g_error ("%s() is the double's: add this test with add_double_test()", function);
  return 0;
}

#define metal_double_setup(devices, n, flags) \
  ((void) (devices), (void) need_double ("metal_double_setup"))
#define metal_double_violations() ((unsigned) need_double ("metal_double_violations"))
#define metal_double_pause() ((void) need_double ("metal_double_pause"))
#define metal_double_resume() ((void) need_double ("metal_double_resume"))
#define metal_double_quiesce() ((void) need_double ("metal_double_quiesce"))
#define metal_double_fail_at(nth) ((void) need_double ("metal_double_fail_at"))
#define metal_double_fail_next_command_buffer(code) \
  ((void) need_double ("metal_double_fail_next_command_buffer"))
#define metal_double_set_blit_limit(bytes) ((void) need_double ("metal_double_set_blit_limit"))
#define metal_double_dealloc_on_failure(yes) \
  ((void) need_double ("metal_double_dealloc_on_failure"))
#define metal_double_forget_deallocators(yes) \
  ((void) need_double ("metal_double_forget_deallocators"))
#define metal_double_meet(selector, n, milliseconds) ((void) need_double ("metal_double_meet"))
#define metal_double_calls(selector) ((unsigned) need_double ("metal_double_calls"))
#define metal_double_live(class_name) ((size_t) need_double ("metal_double_live"))
#define metal_double_live_of_class(class_name) \
  ((size_t) need_double ("metal_double_live_of_class"))
