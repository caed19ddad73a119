/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Copies and fills by the GPU, for memory that the host cannot access.
 *
 * On a GPU that is not made by Apple, a blit moves whole words of 4 bytes at
 * offsets of whole words. Other ranges go through a staging buffer that the
 * host can access, together with the rest of the first and the last word. */

#include "mtl-metal-copy-private.h"

#include <string.h>

#include "mtl-device-private.h"
#include "mtl-error.h"
#include "mtl-metal-bridge-private.h"

#define WORD_SIZE MTL_METAL_WORD_SIZE
#define STAGING_SIZE ((gsize) 16 << 20)

/* Bytes of an id<MTLBuffer>, or at an address in storage mode HOST. */
typedef struct
{
  gpointer handle;
  MtlStorageMode mode;
  gsize offset;
  gsize size;
} Range;

typedef struct
{
  const MtlMetalBlitter *blitter;
  gpointer handle;  /* the staging buffer */
  guint8 *contents;
  gsize chunk_size; /* the maximum size of a piece */
} Staging;

static void
staging_clear (Staging *self)
{
  const MtlDeviceUses no_uses = { 0 };

  if (self->handle == NULL)
    return;

  MTL_DEVICE_GET_CLASS (self->blitter->device)->free (self->blitter->device, self->handle,
                                                      MTL_STORAGE_MODE_SHARED, &no_uses);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Staging, staging_clear)

/* The whole words that contain a range. */
static Range
staging_widen (const Staging *self,
               const Range   *range)
{
  gsize word_size = self->blitter->word_size;
  gsize n_before = range->offset % word_size;
  gsize n_words = (n_before + range->size + word_size - 1) / word_size;

  return (Range) { range->handle, range->mode, range->offset - n_before,
                   n_words * word_size };
}

/* Called before anything is written, as an MTLBuffer may end within a word. */
static gboolean
staging_check (const Staging  *self,
               const Range    *range,
               GError        **error)
{
  gsize length = mtl_metal_bridge_get_size (range->handle);
  Range words = staging_widen (self, range);

  if (words.size <= length - words.offset)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The last %" G_GSIZE_FORMAT " of the %" G_GSIZE_FORMAT " bytes of an MTLBuffer"
               " cannot be reached: “%s” copies whole words of %" G_GSIZE_FORMAT " bytes",
               length % self->blitter->word_size, length,
               mtl_device_get_name (self->blitter->device), self->blitter->word_size);
  return FALSE;
}

/* The range is copied in pieces. */
static gboolean
staging_init (Staging                *self,
              const MtlMetalBlitter  *blitter,
              const Range            *range,
              GError                **error)
{
  MtlDevice *device = blitter->device;
  gsize chunk_size = MIN (range->size, STAGING_SIZE);

  *self = (Staging) { .blitter = blitter, .chunk_size = chunk_size };
  if (!staging_check (self, range, error))
    return FALSE;

  self->handle = MTL_DEVICE_GET_CLASS (device)->allocate (device, chunk_size + 2 * WORD_SIZE,
                                                          MTL_STORAGE_MODE_SHARED, FALSE, error);
  if (self->handle == NULL)
    return FALSE;

  self->contents = mtl_metal_bridge_get_contents (self->handle);
  return TRUE;
}

/* Copies a range to memory that the host can read. */
static const guint8 *
staging_download (const Staging  *self,
                  const Range    *source,
                  GError        **error)
{
  MtlMetalCommand copy = { MTL_METAL_COPY, .dest = self->handle };
  Range words = staging_widen (self, source);

  copy.source = words.handle;
  copy.source_offset = words.offset;
  copy.size = words.size;
  if (!mtl_metal_bridge_run (self->blitter->queue, &copy, 1, error))
    return NULL;

  return self->contents + (source->offset - words.offset);
}

/* Fetches the words that are only partly overwritten. */
static gboolean
staging_fetch_ends (const Staging  *self,
                    const Range    *dest,
                    const Range    *words,
                    GError        **error)
{
  gsize word_size = self->blitter->word_size;
  gsize last = words->size - word_size;
  MtlMetalCommand ends[2];
  gsize n = 0;

  if (words->offset < dest->offset)
    ends[n++] = (MtlMetalCommand) { MTL_METAL_COPY, self->handle, 0, words->handle, words->offset,
                                    word_size };
  if (words->offset + words->size > dest->offset + dest->size && (n == 0 || last > 0))
    ends[n++] = (MtlMetalCommand) { MTL_METAL_COPY, self->handle, last, words->handle,
                                    words->offset + last, word_size };

  return n == 0 || mtl_metal_bridge_run (self->blitter->queue, ends, n, error);
}

static gboolean
staging_upload (const Staging  *self,
                const Range    *dest,
                const guint8   *data,
                GError        **error)
{
  MtlMetalCommand copy = { MTL_METAL_COPY, .source = self->handle };
  Range words = staging_widen (self, dest);
  gboolean uploaded = FALSE;

  /* Another thread may write to the rest of a word. */
  mtl_device_begin_update (self->blitter->device);
  if (staging_fetch_ends (self, dest, &words, error))
    {
      memcpy (self->contents + (dest->offset - words.offset), data, dest->size);
      copy.dest = words.handle;
      copy.dest_offset = words.offset;
      copy.size = words.size;
      uploaded = mtl_metal_bridge_run (self->blitter->queue, &copy, 1, error);
    }
  mtl_device_end_update (self->blitter->device);

  return uploaded;
}

static gboolean
is_private (const Range *range)
{
  return range->mode == MTL_STORAGE_MODE_PRIVATE;
}

/* The host address of a range. */
static guint8 *
get_contents (const Range *range)
{
  guint8 *contents = range->mode == MTL_STORAGE_MODE_HOST
                       ? range->handle
                       : mtl_metal_bridge_get_contents (range->handle);

  return contents + range->offset;
}

static Range
get_part (const Range *range,
          gsize        offset,
          gsize        size)
{
  return (Range) {
    .handle = range->handle,
    .mode = range->mode,
    .offset = range->offset + offset,
    .size = size,
  };
}

static gboolean
overlap (const Range *a,
         const Range *b)
{
  return a->handle == b->handle && a->offset < b->offset + b->size
         && b->offset < a->offset + a->size;
}

/* The part of a range that a blit can move: its whole words. */
static Range
blittable (const MtlMetalBlitter *self,
           const Range           *range)
{
  gsize word_size = self->word_size;
  gsize n_before = (word_size - range->offset % word_size) % word_size;

  if (n_before > range->size)
    return get_part (range, 0, 0);

  return get_part (range, n_before, (range->size - n_before) / word_size * word_size);
}

/* A blit between two buffers of the device. If the destination is managed, it
 * also updates the host's copy. */
static gboolean
blit (const MtlMetalBlitter  *self,
      const Range            *dest,
      const Range            *source,
      GError                **error)
{
  const MtlMetalCommand commands[] = {
    { MTL_METAL_COPY, dest->handle, dest->offset, source->handle, source->offset, dest->size },
    { MTL_METAL_SYNCHRONIZE, .dest = dest->handle },
  };
  gboolean two_copies = dest->mode == MTL_STORAGE_MODE_MANAGED
                        && !mtl_device_has_unified_memory (self->device);

  return mtl_metal_bridge_run (self->queue, commands, two_copies ? 2 : 1, error);
}

/* Copies in pieces through memory that the host can access, backwards if the
 * source would otherwise be overwritten before it is read. */
static gboolean
copy_through_host (const MtlMetalBlitter  *self,
                   const Range            *dest,
                   const Range            *source,
                   GCancellable           *cancellable,
                   GError                **error)
{
  g_auto (Staging) from = { NULL };
  g_auto (Staging) to = { NULL };
  gboolean backwards = dest->handle == source->handle && dest->offset > source->offset;
  gsize size = dest->size;

  if (size == 0)
    return TRUE;

  if ((is_private (source) && !staging_init (&from, self, source, error))
      || (is_private (dest) && !staging_init (&to, self, dest, error)))
    return FALSE;

  for (gsize done = 0; done < size;)
    {
      gsize chunk = MIN (size - done, STAGING_SIZE);
      gsize start = backwards ? size - done - chunk : done;
      Range read = get_part (source, start, chunk);
      Range written = get_part (dest, start, chunk);
      const guint8 *data;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      data = is_private (source) ? staging_download (&from, &read, error) : get_contents (&read);
      if (data == NULL)
        return FALSE;

      if (!is_private (dest))
        memcpy (get_contents (&written), data, chunk);
      else if (!staging_upload (&to, &written, data, error))
        return FALSE;

      done += chunk;
    }

  if (dest->mode != MTL_STORAGE_MODE_HOST)
    MTL_DEVICE_GET_CLASS (self->device)->did_modify (self->device, dest->handle, dest->mode,
                                                     dest->offset, size);

  return TRUE;
}

gboolean
mtl_metal_blitter_copy (const MtlMetalBlitter  *self,
                        gpointer                dest_handle,
                        MtlStorageMode          dest_mode,
                        gsize                   dest_offset,
                        gpointer                source_handle,
                        MtlStorageMode          source_mode,
                        gsize                   source_offset,
                        gsize                   size,
                        GCancellable           *cancellable,
                        GError                **error)
{
  Range dest = { dest_handle, dest_mode, dest_offset, size };
  Range source = { source_handle, source_mode, source_offset, size };
  Range dest_words = blittable (self, &dest);
  Range source_words = blittable (self, &source);
  gsize n_before = dest_words.offset - dest.offset;
  gsize n_until = n_before + dest_words.size;
  Range dest_start = get_part (&dest, 0, n_before);
  Range source_start = get_part (&source, 0, n_before);
  Range dest_end = get_part (&dest, n_until, size - n_until);
  Range source_end = get_part (&source, n_until, size - n_until);

  if (dest_mode == MTL_STORAGE_MODE_HOST || source_mode == MTL_STORAGE_MODE_HOST
      || overlap (&dest, &source) || dest_words.size == 0
      || source_words.offset - source.offset != n_before)
    return copy_through_host (self, &dest, &source, cancellable, error);

  /* The end comes first: if it is out of reach, nothing is written. */
  return copy_through_host (self, &dest_end, &source_end, cancellable, error)
         && copy_through_host (self, &dest_start, &source_start, cancellable, error)
         && blit (self, &dest_words, &source_words, error);
}

static gboolean
is_one_byte_repeated (const guint8 *pattern,
                      gsize         size)
{
  for (gsize i = 1; i < size; i++)
    if (pattern[i] != pattern[0])
      return FALSE;

  return TRUE;
}

/* Repeats the pattern in host memory and uploads it in pieces, each with a
 * whole number of repetitions. */
static gboolean
fill_through_host (const MtlMetalBlitter  *self,
                   const Range            *dest,
                   const guint8           *pattern,
                   gsize                   pattern_size,
                   GError                **error)
{
  g_auto (Staging) staging = { NULL };
  g_autofree guint8 *repeated = NULL;
  gsize chunk;

  if (dest->size == 0)
    return TRUE;

  if (!staging_init (&staging, self, dest, error))
    return FALSE;

  chunk = staging.chunk_size;
  repeated = g_try_malloc (chunk);
  if (repeated == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NO_MEMORY,
                   "%" G_GSIZE_FORMAT " bytes of host memory cannot be allocated", chunk);
      return FALSE;
    }

  for (gsize i = 0; i < chunk; i += pattern_size)
    memcpy (repeated + i, pattern, pattern_size);

  for (gsize done = 0; done < dest->size; done += chunk)
    {
      Range range = get_part (dest, done, MIN (dest->size - done, chunk));

      if (!staging_upload (&staging, &range, repeated, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
mtl_metal_blitter_fill (const MtlMetalBlitter  *self,
                        gpointer                handle,
                        MtlStorageMode          mode,
                        gsize                   offset,
                        gsize                   size,
                        gconstpointer           pattern,
                        gsize                   pattern_size,
                        GError                **error)
{
  Range range = { handle, mode, offset, size };
  Range words = blittable (self, &range);
  gsize n_before = words.offset - offset;
  Range before = get_part (&range, 0, n_before);
  Range after = get_part (&range, n_before + words.size, size - n_before - words.size);
  MtlMetalCommand fill = { MTL_METAL_FILL, words.handle, words.offset, .size = words.size,
                           .value = *(const guint8 *) pattern };

  if (!is_one_byte_repeated (pattern, pattern_size) || words.size == 0)
    return fill_through_host (self, &range, pattern, pattern_size, error);

  return fill_through_host (self, &after, pattern, 1, error)
         && fill_through_host (self, &before, pattern, 1, error)
         && mtl_metal_bridge_run (self->queue, &fill, 1, error);
}
