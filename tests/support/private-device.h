/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "test-utils.h"

#include <stdlib.h>

#include "mtl-device-private.h"

/* A device whose memory is its own: the host reaches it through the device only. */
#define TEST_TYPE_PRIVATE_DEVICE (test_private_device_get_type ())
G_DECLARE_FINAL_TYPE (TestPrivateDevice, test_private_device, TEST, PRIVATE_DEVICE, MtlDevice)

struct _TestPrivateDevice
{
  MtlDevice parent_instance;

  int n_allocated;
  int n_freed;
  int n_fills;
  int n_copies;
  int n_synchronized;
  gboolean out_of_memory;
  void (* meanwhile) (gpointer); /* called while it copies and fills, unless NULL */
  gpointer meanwhile_data;
};

G_DEFINE_FINAL_TYPE (TestPrivateDevice, test_private_device, MTL_TYPE_DEVICE)

static gboolean
test_private_device_supports_storage_mode (MtlDevice      *device,
                                           MtlStorageMode  mode)
{
  return mode == MTL_STORAGE_MODE_PRIVATE;
}

static gpointer
test_private_device_allocate (MtlDevice       *device,
                              gsize            size,
                              MtlStorageMode   mode,
                              gboolean         zeroed,
                              GError         **error)
{
  TestPrivateDevice *self = TEST_PRIVATE_DEVICE (device);
  gpointer block = NULL;

  g_assert_cmpuint (size, >, 0);
  if (!self->out_of_memory)
    block = zeroed ? calloc (1, size) : malloc (size);
  if (block != NULL)
    self->n_allocated++;
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT, size);
  return block;
}

static void
test_private_device_free (MtlDevice      *device,
                          gpointer        handle,
                          MtlStorageMode  mode)
{
  g_assert_cmpint (mode, ==, MTL_STORAGE_MODE_PRIVATE);
  TEST_PRIVATE_DEVICE (device)->n_freed++;
  free (handle);
}

static gpointer
test_private_device_contents (MtlDevice      *device,
                              gpointer        handle,
                              MtlStorageMode  mode)
{
  return NULL;
}

static void
do_meanwhile (TestPrivateDevice *self)
{
  if (self->meanwhile != NULL)
    self->meanwhile (self->meanwhile_data);
}

static gboolean
test_private_device_copy (MtlDevice       *device,
                          gpointer         dest,
                          MtlStorageMode   dest_mode,
                          gsize            dest_offset,
                          gpointer         source,
                          MtlStorageMode   source_mode,
                          gsize            source_offset,
                          gsize            size,
                          GCancellable    *cancellable,
                          GError         **error)
{
  g_assert_true (dest_mode == MTL_STORAGE_MODE_PRIVATE || source_mode == MTL_STORAGE_MODE_PRIVATE);
  g_assert_true (dest_mode == MTL_STORAGE_MODE_PRIVATE || dest_mode == MTL_STORAGE_MODE_HOST);
  g_assert_true (source_mode == MTL_STORAGE_MODE_PRIVATE || source_mode == MTL_STORAGE_MODE_HOST);
  g_assert_cmpuint (size, >, 0);

  TEST_PRIVATE_DEVICE (device)->n_copies++;
  do_meanwhile (TEST_PRIVATE_DEVICE (device));
  memmove ((guint8 *) dest + dest_offset, (guint8 *) source + source_offset, size);
  return TRUE;
}

static gboolean
test_private_device_fill (MtlDevice      *device,
                          gpointer        handle,
                          MtlStorageMode  mode,
                          gsize           offset,
                          gsize           size,
                          gconstpointer   pattern,
                          gsize           pattern_size,
                          GError        **error)
{
  g_assert_cmpint (mode, ==, MTL_STORAGE_MODE_PRIVATE);
  g_assert_cmpuint (size % pattern_size, ==, 0);

  TEST_PRIVATE_DEVICE (device)->n_fills++;
  do_meanwhile (TEST_PRIVATE_DEVICE (device));
  for (gsize i = 0; i < size; i += pattern_size)
    memcpy ((guint8 *) handle + offset + i, pattern, pattern_size);
  return TRUE;
}

static gboolean
test_private_device_synchronize (MtlDevice     *device,
                                 GCancellable  *cancellable,
                                 GError       **error)
{
  TEST_PRIVATE_DEVICE (device)->n_synchronized++;
  return TRUE;
}

static void
test_private_device_class_init (TestPrivateDeviceClass *klass)
{
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  device_class->supports_storage_mode = test_private_device_supports_storage_mode;
  device_class->allocate = test_private_device_allocate;
  device_class->free = test_private_device_free;
  device_class->contents = test_private_device_contents;
  device_class->copy = test_private_device_copy;
  device_class->fill = test_private_device_fill;
  device_class->synchronize = test_private_device_synchronize;
}

static void
test_private_device_init (TestPrivateDevice *self)
{
}

static inline TestPrivateDevice *
test_private_device_new (void)
{
  return g_object_new (TEST_TYPE_PRIVATE_DEVICE,
                       "device-type", MTL_DEVICE_TYPE_EXT_DEV,
                       "ordinal", 3,
                       "name", "Test",
                       "max-buffer-size", (guint64) 4096,
                       "page-size", (guint64) 256,
                       NULL);
}
