/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "test-utils.h"

#include <stdlib.h>

#include "mtl-device-private.h"

/* A device that counts what it is asked to do. The host reaches its private memory through the
 * device only, and memory of other modes at the device's own address. */
#define TEST_TYPE_DEVICE (test_device_get_type ())
G_DECLARE_FINAL_TYPE (TestDevice, test_device, TEST, DEVICE, MtlDevice)

struct _TestDevice
{
  MtlDevice parent_instance;

  guint modes; /* bits by the number of the mode */
  int n_allocated;
  int n_freed;
  int n_fills;
  int n_copies;
  int n_synchronized;
  guint64 n_streams;
  gsize modified_offset; /* as last told */
  gsize modified_size;
  gboolean out_of_memory;
  gboolean is_broken;
  void (* meanwhile) (gpointer); /* called while it copies and fills, unless NULL */
  gpointer meanwhile_data;
};

G_DEFINE_FINAL_TYPE (TestDevice, test_device, MTL_TYPE_DEVICE)

static gboolean
test_device_supports_storage_mode (MtlDevice      *device,
                                   MtlStorageMode  mode)
{
  g_assert_cmpint (mode, !=, MTL_STORAGE_MODE_DEFAULT);
  return (TEST_DEVICE (device)->modes >> mode) & 1;
}

static gpointer
test_device_allocate (MtlDevice       *device,
                      gsize            size,
                      MtlStorageMode   mode,
                      gboolean         zeroed,
                      GError         **error)
{
  TestDevice *self = TEST_DEVICE (device);
  gpointer block = NULL;

  g_assert_cmpuint (size, >, 0);
  g_assert_true (test_device_supports_storage_mode (device, mode));
  if (!self->out_of_memory)
    block = mode != MTL_STORAGE_MODE_PRIVATE ? g_aligned_alloc0 (1, size, 64)
            : zeroed                         ? calloc (1, size)
                                             : malloc (size);
  if (block != NULL)
    self->n_allocated++;
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT, size);
  return block;
}

static MtlStorageMode
test_device_get_default_storage_mode (MtlDevice *device)
{
  for (MtlStorageMode mode = MTL_STORAGE_MODE_HOST; mode < MTL_STORAGE_MODE_FOREIGN; mode++)
    if (test_device_supports_storage_mode (device, mode))
      return mode;

  return MTL_STORAGE_MODE_DEFAULT;
}

static void
test_device_free (MtlDevice           *device,
                  gpointer             handle,
                  MtlStorageMode       mode,
                  const MtlDeviceUses *uses)
{
  g_assert_true (test_device_supports_storage_mode (device, mode));
  TEST_DEVICE (device)->n_freed++;
  if (mode == MTL_STORAGE_MODE_PRIVATE)
    free (handle);
  else
    g_aligned_free (handle);
}

static gpointer
test_device_contents (MtlDevice      *device,
                      gpointer        handle,
                      MtlStorageMode  mode)
{
  return mode == MTL_STORAGE_MODE_PRIVATE ? NULL : handle;
}

static void
do_meanwhile (TestDevice *self)
{
  if (self->meanwhile != NULL)
    self->meanwhile (self->meanwhile_data);
}

static gboolean
test_device_copy (MtlDevice       *device,
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

  TEST_DEVICE (device)->n_copies++;
  do_meanwhile (TEST_DEVICE (device));
  memmove ((guint8 *) dest + dest_offset, (guint8 *) source + source_offset, size);
  return TRUE;
}

static gboolean
test_device_fill (MtlDevice      *device,
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

  TEST_DEVICE (device)->n_fills++;
  do_meanwhile (TEST_DEVICE (device));
  for (gsize i = 0; i < size; i += pattern_size)
    memcpy ((guint8 *) handle + offset + i, pattern, pattern_size);
  return TRUE;
}

static gboolean
test_device_synchronize (MtlDevice     *device,
                         GCancellable  *cancellable,
                         GError       **error)
{
  TEST_DEVICE (device)->n_synchronized++;
  return TRUE;
}

static gboolean
test_device_synchronize_memory (MtlDevice       *device,
                                gpointer         handle,
                                MtlStorageMode   mode,
                                GError         **error)
{
  if (TEST_DEVICE (device)->is_broken)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_DEVICE, "The device is broken");
      return FALSE;
    }

  return MTL_DEVICE_CLASS (test_device_parent_class)->synchronize_memory (device, handle, mode,
                                                                          error);
}

static void
test_device_did_modify (MtlDevice      *device,
                        gpointer        handle,
                        MtlStorageMode  mode,
                        gsize           offset,
                        gsize           size)
{
  TestDevice *self = TEST_DEVICE (device);

  self->modified_offset = offset;
  self->modified_size = size;
}

/* Streams are numbers, and their work is over at once. */

static gboolean
test_device_new_stream (MtlDevice  *device,
                        guint64    *stream,
                        GError    **error)
{
  *stream = ++TEST_DEVICE (device)->n_streams;
  return TRUE;
}

static gboolean
test_device_wrap_stream (MtlDevice  *device,
                         guint64     stream,
                         GError    **error)
{
  return TRUE;
}

static void
test_device_free_stream (MtlDevice *device,
                         guint64    stream,
                         gboolean   is_own)
{
  g_assert_cmpuint (stream, <=, TEST_DEVICE (device)->n_streams);
}

static gboolean
test_device_get_stream (MtlDevice  *device,
                        guint64    *stream,
                        GError    **error)
{
  *stream = 0;
  return TRUE;
}

static gboolean
test_device_order_streams (MtlDevice  *device,
                           guint64     before,
                           MtlDevice  *other,
                           guint64     after,
                           GError    **error)
{
  return TRUE;
}

static gboolean
test_device_synchronize_stream (MtlDevice     *device,
                                guint64        stream,
                                GCancellable  *cancellable,
                                GError       **error)
{
  return test_device_synchronize (device, cancellable, error);
}

static void
test_device_class_init (TestDeviceClass *klass)
{
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  device_class->supports_storage_mode = test_device_supports_storage_mode;
  device_class->get_default_storage_mode = test_device_get_default_storage_mode;
  device_class->allocate = test_device_allocate;
  device_class->free = test_device_free;
  device_class->contents = test_device_contents;
  device_class->copy = test_device_copy;
  device_class->fill = test_device_fill;
  device_class->synchronize = test_device_synchronize;
  device_class->synchronize_memory = test_device_synchronize_memory;
  device_class->did_modify = test_device_did_modify;
  device_class->new_stream = test_device_new_stream;
  device_class->wrap_stream = test_device_wrap_stream;
  device_class->free_stream = test_device_free_stream;
  device_class->get_stream = test_device_get_stream;
  device_class->order_streams = test_device_order_streams;
  device_class->synchronize_stream = test_device_synchronize_stream;
}

static void
test_device_init (TestDevice *self)
{
  self->modes = 1u << MTL_STORAGE_MODE_PRIVATE;
}

static inline TestDevice *
test_device_new (MtlStorageMode mode)
{
  TestDevice *self = g_object_new (TEST_TYPE_DEVICE,
                                   "device-type", MTL_DEVICE_TYPE_EXT_DEV,
                                   "ordinal", 3,
                                   "name", "Test",
                                   "max-buffer-size", (guint64) 4096,
                                   "page-size", (guint64) 256,
                                   NULL);

  self->modes = 1u << mode;
  return self;
}
