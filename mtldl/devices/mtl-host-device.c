/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-host-device-private.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mtl-error.h"
#include "mtl-shared-pages-private.h"

/* Wide enough for a cache line and for every vector register. */
#define ALIGNMENT 64

#define MIN_HUGE_SIZE (4 * 1024 * 1024)

struct _MtlHostDevice
{
  MtlDevice parent_instance;
};

G_DEFINE_FINAL_TYPE (MtlHostDevice, mtl_host_device, MTL_TYPE_DEVICE)

static gboolean
mtl_host_device_supports_storage_mode (MtlDevice      *device,
                                       MtlStorageMode  mode)
{
  return mode == MTL_STORAGE_MODE_HOST
         || (mode == MTL_STORAGE_MODE_INTERPROCESS && mtl_shared_pages_are_supported ());
}

static MtlStorageMode
mtl_host_device_get_default_storage_mode (MtlDevice *device)
{
  return MTL_STORAGE_MODE_HOST;
}

/* Asks for pages of 2 MiB for large memory that will be overwritten completely.
 * Otherwise a copy to new memory spends most of its time on page faults. */
static void
prefer_huge_pages (gpointer block,
                   gsize    size)
{
#ifdef MADV_HUGEPAGE
  gsize page_size = sysconf (_SC_PAGESIZE);
  gsize before = -(guintptr) block % page_size;

  /* A failure does no harm. */
  if (size >= MIN_HUGE_SIZE)
    madvise ((guint8 *) block + before, (size - before) / page_size * page_size, MADV_HUGEPAGE);
#endif
}

/* calloc() returns new pages without touching them, but only aligns to 16
 * bytes. The address that it returned is stored before the aligned block. */
static gpointer
mtl_host_device_allocate (MtlDevice       *device,
                          gsize            size,
                          MtlStorageMode   mode,
                          gboolean         zeroed,
                          GError         **error)
{
  gpointer block = NULL;
  gpointer *aligned;
  gsize total;

  if (!__builtin_add_overflow (size, ALIGNMENT + sizeof (gpointer), &total)
      && total <= G_MAXSSIZE)
    block = zeroed ? calloc (1, total) : malloc (total);

  if (block == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
                   "%" G_GSIZE_FORMAT " bytes of host memory cannot be allocated", size);
      return NULL;
    }

  if (!zeroed)
    prefer_huge_pages (block, total);

  aligned = (gpointer *) (((guintptr) block + sizeof (gpointer) + ALIGNMENT - 1)
                          & ~(guintptr) (ALIGNMENT - 1));
  aligned[-1] = block;
  return aligned;
}

static void
mtl_host_device_free (MtlDevice           *device,
                      gpointer             handle,
                      MtlStorageMode       mode,
                      const MtlDeviceUses *uses)
{
  free (((gpointer *) handle)[-1]);
}

static gpointer
mtl_host_device_contents (MtlDevice      *device,
                          gpointer        handle,
                          MtlStorageMode  mode)
{
  return handle;
}

static void
mtl_host_device_class_init (MtlHostDeviceClass *klass)
{
  MtlDeviceClass *device_class = MTL_DEVICE_CLASS (klass);

  device_class->supports_storage_mode = mtl_host_device_supports_storage_mode;
  device_class->get_default_storage_mode = mtl_host_device_get_default_storage_mode;
  device_class->allocate = mtl_host_device_allocate;
  device_class->free = mtl_host_device_free;
  device_class->contents = mtl_host_device_contents;
}

static void
mtl_host_device_init (MtlHostDevice *self)
{
}

static guint64
get_memory_size (void)
{
  glong n_pages = sysconf (_SC_PHYS_PAGES);

  return n_pages > 0 ? (guint64) n_pages * sysconf (_SC_PAGESIZE) : 0;
}

MtlDevice *
mtl_host_device_new (void)
{
  return g_object_new (MTL_TYPE_HOST_DEVICE,
                       "device-type", MTL_DEVICE_TYPE_CPU,
                       "name", "Host",
                       "host-accessible", TRUE,
                       "unified-memory", TRUE,
                       "max-buffer-size", (guint64) G_MAXSSIZE,
                       "memory-size", get_memory_size (),
                       "page-size", (guint64) sysconf (_SC_PAGESIZE),
                       NULL);
}
