/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-allocated-size-private.h"

/* Atomic. */
static gsize allocated_size;

void
mtl_allocated_size_add (gsize size)
{
  g_atomic_pointer_add (&allocated_size, (gssize) size);
}

void
mtl_allocated_size_subtract (gsize size)
{
  g_atomic_pointer_add (&allocated_size, -(gssize) size);
}

/**
 * mtl_get_allocated_size:
 *
 * Gets how many bytes of memory the library has allocated for buffers and views
 * and not yet released, on all devices.
 *
 * Memory that belongs to others does not count: neither that of mapped files
 * nor that of imported tensors, wrapped data and handles. Memory counts as long
 * as anything keeps it alive, such as a view, [struct@GLib.Bytes] or an exported
 * tensor.
 *
 * A program can show it, or look for what it keeps alive. The bindings of
 * JavaScript, whose garbage collector does not see this memory, decide by it
 * when to collect. The function takes a few nanoseconds and can be called from
 * any thread.
 *
 * Returns: the size in bytes
 *
 * Since: 1.0
 */
gsize
mtl_get_allocated_size (void)
{
  return (gsize) g_atomic_pointer_get ((gpointer *) &allocated_size);
}
