/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _DEFAULT_SOURCE /* declares F_DUPFD_CLOEXEC */

#include "config.h"

#include "mtl-gtk-dmabuf.h"

#include "mtl-gtk-texture-private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct
{
  int fd;
  gpointer data;
  gsize size;
  guint64 access; /* DMA_BUF_SYNC_READ or DMA_BUF_SYNC_RW; 0: it has not begun */
} Dmabuf;

/* Returns 0 or an errno. */
static int
synchronize (int     fd,
             guint64 flags)
{
  struct dma_buf_sync sync = { .flags = flags };
  int result;

  do
    result = ioctl (fd, DMA_BUF_IOCTL_SYNC, &sync);
  while (result < 0 && (errno == EINTR || errno == EAGAIN));

  return result < 0 ? errno : 0;
}

static void
dmabuf_free (gpointer data)
{
  Dmabuf *self = data;

  if (self->access != 0)
    synchronize (self->fd, DMA_BUF_SYNC_END | self->access);
  if (self->data != MAP_FAILED)
    munmap (self->data, self->size);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self);
}

static Dmabuf *
dmabuf_new (int      fd,
            GError **error)
{
  Dmabuf *self = g_new (Dmabuf, 1);

  /* GTK takes 0 for none. */
  *self = (Dmabuf) { fcntl (fd, F_DUPFD_CLOEXEC, 1), MAP_FAILED, 0, 0 };
  if (self->fd >= 0)
    return self;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The file descriptor %d cannot be duplicated: %s", fd, g_strerror (errno));
  dmabuf_free (self);
  return NULL;
}

/* The caller's file descriptor shares the position, of which a DMA-BUF has none. */
static off_t
get_file_size (int fd)
{
  const off_t position = lseek (fd, 0, SEEK_CUR);
  const off_t size = lseek (fd, 0, SEEK_END);

  if (position >= 0)
    lseek (fd, position, SEEK_SET);
  return size;
}

static gboolean
find_size (Dmabuf            *self,
           gsize              offset,
           MtlStridedLayout  *layout,
           GError           **error)
{
  const gint64 needed = mtl_strided_layout_get_required_size (layout, error);
  const off_t size = get_file_size (self->fd);

  if (needed < 0)
    return FALSE;

  if (size < 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "The file descriptor is not a DMA-BUF: %s", g_strerror (errno));
      return FALSE;
    }

  if (needed == 0)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The layout has no elements; a DMA-BUF needs at least 1");
      return FALSE;
    }

  if (offset > (guint64) size || (guint64) needed > size - offset)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
                   "The layout needs %" G_GINT64_FORMAT " bytes from byte %" G_GSIZE_FORMAT " on;"
                   " the DMA-BUF has %" G_GINT64_FORMAT, needed, offset, (gint64) size);
      return FALSE;
    }

  self->size = offset + needed;
  return TRUE;
}

static gboolean
map (Dmabuf    *self,
     gboolean   writable,
     GError   **error)
{
  const guint64 access = writable ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ;
  int problem;

  self->data = mmap (NULL, self->size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                     self->fd, 0);
  if (self->data == MAP_FAILED)
    {
      const gboolean is_read_only = writable && (errno == EACCES || errno == EPERM);

      g_set_error (error, MTL_ERROR, is_read_only ? MTL_ERROR_READ_ONLY : MTL_ERROR_DEVICE,
                   "The DMA-BUF cannot be mapped for %s: %s", writable ? "writing" : "reading",
                   g_strerror (errno));
      return FALSE;
    }

  problem = synchronize (self->fd, DMA_BUF_SYNC_START | access);
  if (problem == 0)
    {
      self->access = access;
      return TRUE;
    }

  if (problem == ENOTTY || problem == EINVAL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                 "The file descriptor is not a DMA-BUF: %s", g_strerror (problem));
  else
    g_set_error (error, MTL_ERROR, MTL_ERROR_DEVICE,
                 "The DMA-BUF cannot be accessed: %s", g_strerror (problem));
  return FALSE;
}

/**
 * mtl_gtk_view_from_dmabuf:
 * @fd: the file descriptor of a DMA-BUF, which the function duplicates
 * @offset: where the elements begin, in bytes
 * @layout: how the elements lie from there on
 * @dtype: the element type
 * @flags: %MTL_BUFFER_FLAGS_READ_ONLY, or %MTL_BUFFER_FLAGS_NONE to write to the
 *   elements; they are never copied
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a DMA-BUF of Linux, as cameras and video decoders have them,
 * without a copy.
 *
 * The memory is mapped, and the access of the CPU begins. It ends with the last
 * user of the view's memory: end the view before a device uses the DMA-BUF
 * again, and create a new view afterwards.
 *
 * The layout is for linear memory only. DMA-BUFs of GPUs are often tiled, which
 * their format modifier tells.
 *
 * ```c
 * g_autoptr (MtlStridedLayout) layout =
 *   mtl_strided_layout_new_with_byte_strides (shape, 3, byte_strides, 3, 8, &error);
 * g_autoptr (MtlStridedView) view =
 *   mtl_gtk_view_from_dmabuf (fd, 0, layout, MTL_DTYPE_UINT8,
 *                             MTL_BUFFER_FLAGS_READ_ONLY, &error);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @fd is not that of a DMA-BUF, or @layout is
 *   empty or not for elements of @dtype
 * - %MTL_ERROR_OUT_OF_BOUNDS: the DMA-BUF is smaller than needed
 * - %MTL_ERROR_READ_ONLY: writing is not allowed
 * - %MTL_ERROR_DEVICE: the driver cannot map the memory or make it accessible
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_view_from_dmabuf (int                fd,
                          gsize              offset,
                          MtlStridedLayout  *layout,
                          MtlDType           dtype,
                          MtlBufferFlags     flags,
                          GError           **error)
{
  const gboolean writable = (flags & MTL_BUFFER_FLAGS_READ_ONLY) == 0;
  g_autoptr (MtlBuffer) buffer = NULL;
  Dmabuf *self;

  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (layout), NULL);

  self = dmabuf_new (fd, error);
  if (self == NULL)
    return NULL;

  if (!find_size (self, offset, layout, error) || !map (self, writable, error))
    {
      dmabuf_free (self);
      return NULL;
    }

  buffer = mtl_buffer_new_for_data (self->data, self->size, NULL, flags, dmabuf_free, self, error);
  return buffer != NULL ? mtl_strided_view_new (buffer, layout, dtype, offset, error) : NULL;
}

#if GTK_CHECK_VERSION (4, 14, 0)

/* Memory whose rows are one after the other, DRM_FORMAT_MOD_LINEAR. */
#define LINEAR 0

#define FOURCC(a, b, c, d) ((guint32) (a) | (b) << 8 | (c) << 16 | (guint32) (d) << 24)

static gboolean
check_shape (MtlStridedLayout  *layout,
             GError           **error)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_layout_get_shape (layout, &n_dims);

  if (n_dims != 2 && n_dims != 3)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A picture needs 3 dimensions, height, width and channels, or 2 with one"
                   " channel; the layout has %" G_GSIZE_FORMAT " dimension%s", n_dims,
                   n_dims == 1 ? "" : "s");
      return FALSE;
    }

  return mtl_gtk_check_extents (shape, error);
}

typedef struct
{
  int pixel_size; /* bytes */
  int block_width; /* 2 if two pixels share their chroma */
  const char *fourccs;
} Format;

/* Formats with one plane. GTK guesses the place of the other planes of others, and reads
 * there. */
static const Format formats[] = {
  { 1, 1, "C8  R8  RGB8BGR8" },
  { 2, 1, "R10 R12 R16 RG88GR88XR12XB12RX12BX12AR12AB12RA12BA12XR15XB15RX15BX15AR15AB15RA15BA15"
          "RG16BG16" },
  { 2, 2, "YUYVYVYUUYVYVYUY" },
  { 3, 1, "RG24BG24VU24" },
  { 4, 1, "RG32GR32XR24XB24RX24BX24AR24AB24RA24BA24XR30XB30RX30BX30AR30AB30RA30BA30"
          "AYUVAVUYXYUVXVUYY410XV30" },
  { 4, 2, "Y210Y212Y216" },
  { 6, 1, "RG48BG48" },
  { 8, 1, "XR48XB48AR48AB48XR4HXB4HAR4HAB4HAB10Y412Y416XV36XV48" },
};

/* Its four letters, or its number. */
static void
write_fourcc (guint32  fourcc,
              char    *text,
              gsize    size)
{
  const char letters[] = { fourcc, fourcc >> 8, fourcc >> 16, fourcc >> 24, '\0' };
  gboolean is_text = TRUE;

  for (int i = 0; i < 4; i++)
    is_text = is_text && g_ascii_isprint (letters[i]);
  if (is_text)
    g_strlcpy (text, letters, size);
  else
    g_snprintf (text, size, "0x%08x", fourcc);
}

static const Format *
find_format (guint32 fourcc)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++)
    for (const char *c = formats[i].fourccs; *c != '\0'; c += 4)
      if (fourcc == FOURCC (c[0], c[1], c[2], c[3]))
        return &formats[i];

  return NULL;
}

static gboolean
check_format (guint32            fourcc,
              MtlStridedLayout  *layout,
              GError           **error)
{
  const gint64 *shape = mtl_strided_layout_get_shape (layout, NULL);
  const gint64 n_elements = mtl_strided_layout_get_n_dims (layout) == 3 ? shape[2] : 1;
  const Format *format = find_format (fourcc);
  char name[16];
  gint64 bits;

  write_fourcc (fourcc, name, sizeof name);
  if (format == NULL)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
                   "%s is not one of the supported formats, which have one plane: use"
                   " GdkDmabufTextureBuilder", name);
      return FALSE;
    }

  if (__builtin_mul_overflow (n_elements, mtl_strided_layout_get_item_bits (layout), &bits))
    bits = G_MAXINT64;
  if (bits != 8 * format->pixel_size)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "A pixel of %s has %d bits, not the %" G_GINT64_FORMAT " of the layout", name,
                   8 * format->pixel_size, bits);
      return FALSE;
    }

  if (shape[1] % format->block_width == 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Two pixels of %s share their chroma: the width has to be even, not %"
               G_GINT64_FORMAT, name, shape[1]);
  return FALSE;
}

/* Finds the distance of rows in bytes, or returns 0. */
static guint
find_row_stride (MtlStridedLayout  *layout,
                 GError           **error)
{
  gsize n_dims;
  g_autofree gint64 *strides = mtl_strided_layout_dup_byte_strides (layout, &n_dims, error);
  const gint64 *shape = mtl_strided_layout_get_shape (layout, &n_dims);
  gint64 row_size = mtl_strided_layout_get_item_bits (layout) / 8, row_stride;
  gboolean has_gaps = FALSE;
  g_autofree char *text = NULL;

  if (strides == NULL)
    return 0;

  /* The stride of an axis of extent 1 is never used. */
  for (gsize axis = n_dims - 1; axis > 0 && !has_gaps; axis--)
    {
      has_gaps = shape[axis] > 1 && strides[axis] != row_size;
      if (!has_gaps)
        row_size *= shape[axis];
    }

  row_stride = shape[0] > 1 ? strides[0] : row_size;
  if (!has_gaps && row_stride > 0 && row_stride >= row_size && row_stride <= G_MAXINT)
    return row_stride;

  text = mtl_strided_layout_to_string (layout);
  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The layout %s cannot be a texture, whose rows run from top to bottom, at most %d"
               " bytes apart, without gaps between pixels or channels", text, G_MAXINT);
  return 0;
}

/* The position is that in the DMA-BUF. FALSE if it does not fit. */
static gboolean
find_start (gsize              offset,
            MtlStridedLayout  *layout,
            guint             *start,
            GError           **error)
{
  const guint64 position = offset + (guint64) mtl_strided_layout_get_offset (layout)
                                    * mtl_strided_layout_get_item_bits (layout) / 8;

  *start = position;
  if (position <= G_MAXUINT)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OVERFLOW,
               "The pixels begin at byte %" G_GUINT64_FORMAT "; the limit is %u", position,
               G_MAXUINT);
  return FALSE;
}

#endif

/**
 * mtl_gtk_texture_from_dmabuf:
 * @display: where the texture will be shown
 * @fd: the file descriptor of a DMA-BUF, which the function duplicates
 * @offset: where the pixels begin, in bytes
 * @layout: how the pixels lie from there on: [height, width], or
 *   [height, width, elements of a pixel]
 * @fourcc: the format of the pixels, as in `drm_fourcc.h`
 * @flags: %MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED for colors that are multiplied
 *   by the opacity, or none
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a texture of a DMA-BUF of Linux, without a copy. This needs GTK 4.14
 * or newer.
 *
 * @fd, @offset and @layout are those of [func@view_from_dmabuf]. What was
 * written to such a view is shown if the view ended before. Do not write to the
 * memory as long as the texture can be drawn.
 *
 * The memory is linear, and the pixels are in one plane. For others use
 * `GdkDmabufTextureBuilder`. The elements of a pixel in @layout have as many
 * bytes as a pixel of the format, 2 in YUYV and the like. Which formats there
 * are depends on @display: see `gdk_display_get_dmabuf_formats()`.
 *
 * ```c
 * const guint32 fourcc = 'X' | 'R' << 8 | '2' << 16 | (guint32) '4' << 24;
 * g_autoptr (GdkTexture) texture =
 *   mtl_gtk_texture_from_dmabuf (display, fd, 0, layout, fourcc, MTL_GTK_TEXTURE_FLAGS_NONE,
 *                                &error);
 * ```
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the format is unknown or has several planes, or
 *   the library was built with a GTK before 4.14
 * - %MTL_ERROR_INVALID_ARGUMENT: @fd is not that of a DMA-BUF, or @layout is
 *   empty, not that of a picture, of pixels of another size, or of an odd width
 *   where two pixels share their chroma, or @fourcc is 0
 * - %MTL_ERROR_NEEDS_COPY: the strides are not those of rows of pixels from top
 *   to bottom, at most 2 GiB apart
 * - %MTL_ERROR_OUT_OF_BOUNDS: the DMA-BUF is smaller than needed
 * - %MTL_ERROR_OVERFLOW: GTK cannot count that many rows, pixels or bytes
 *   before them
 * - `GDK_DMABUF_ERROR_UNSUPPORTED_FORMAT` and others of `GDK_DMABUF_ERROR`: GTK
 *   or @display does not support the format
 *
 * Returns: (transfer full): the texture
 *
 * Since: 1.0
 */
GdkTexture *
mtl_gtk_texture_from_dmabuf (GdkDisplay          *display,
                             int                  fd,
                             gsize                offset,
                             MtlStridedLayout    *layout,
                             guint32              fourcc,
                             MtlGtkTextureFlags   flags,
                             GError             **error)
{
#if GTK_CHECK_VERSION (4, 14, 0)
  g_autoptr (GdkDmabufTextureBuilder) builder = NULL;
  GdkTexture *texture = NULL;
  guint row_stride = 0, start;
  Dmabuf *self;

  g_return_val_if_fail (GDK_IS_DISPLAY (display), NULL);
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (layout), NULL);

  if (fourcc == 0)
    {
      g_set_error_literal (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                           "The format needs four letters, such as XR24, not 0");
      return NULL;
    }

  self = dmabuf_new (fd, error);
  if (self == NULL)
    return NULL;

  if (check_shape (layout, error) && check_format (fourcc, layout, error)
      && find_size (self, offset, layout, error) && find_start (offset, layout, &start, error))
    row_stride = find_row_stride (layout, error);

  if (row_stride == 0)
    {
      dmabuf_free (self);
      return NULL;
    }

  builder = gdk_dmabuf_texture_builder_new ();
  gdk_dmabuf_texture_builder_set_display (builder, display);
  gdk_dmabuf_texture_builder_set_width (builder, mtl_strided_layout_get_extent (layout, 1, NULL));
  gdk_dmabuf_texture_builder_set_height (builder, mtl_strided_layout_get_extent (layout, 0, NULL));
  gdk_dmabuf_texture_builder_set_fourcc (builder, fourcc);
  gdk_dmabuf_texture_builder_set_modifier (builder, LINEAR);
  gdk_dmabuf_texture_builder_set_premultiplied (builder,
                                                (flags & MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED) != 0);
  gdk_dmabuf_texture_builder_set_fd (builder, 0, self->fd);
  gdk_dmabuf_texture_builder_set_offset (builder, 0, start);
  gdk_dmabuf_texture_builder_set_stride (builder, 0, row_stride);
  texture = gdk_dmabuf_texture_builder_build (builder, dmabuf_free, self, error);
  if (texture == NULL)
    dmabuf_free (self);

  return texture;
#else
  g_return_val_if_fail (GDK_IS_DISPLAY (display), NULL);
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (layout), NULL);

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "Textures of DMA-BUFs need GTK 4.14, not %d.%d", GTK_MAJOR_VERSION,
               GTK_MINOR_VERSION);
  return NULL;
#endif
}
