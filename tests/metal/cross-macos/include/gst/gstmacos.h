/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* On macOS <gst/gst.h> includes this file, which GStreamer does not install on Linux. It is for
 * main(), and none of our code uses it. */

#pragma once
