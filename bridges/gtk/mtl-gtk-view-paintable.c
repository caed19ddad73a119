/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-gtk-view-paintable.h"

#include "mtl-gtk-colorize-private.h"
#include "mtl-gtk-enum-types.h"
#include "mtl-gtk-pixels-private.h"
#include "mtl-gtk-texture-private.h"

#include <math.h>
#include <string.h>

/* Beyond this many rectangles, copying all between them is cheaper. */
#define MAX_RECTANGLES 32

/* The properties, and the state that follows from them. */
typedef struct
{
  MtlStridedView *view;
  MtlGtkChannels channels;
  MtlGtkTextureFlags flags;
  MtlGtkColorMap color_map;
  MtlStridedView *colors;
  double low;
  double high;
  MtlGtkPalette palette;
  gboolean is_shared;      /* the texture has the memory of the view */
  MtlGtkPixel pixel;       /* describes the view, or its colors in the map */
  MtlGtkPixel frame_pixel; /* describes a copy */
} Source;

/* A copy of the pixels that are shown. The paintable has a reference, and so have the
 * textures over the pixels; without any of these the pixels may be written. */
typedef struct
{
  gatomicrefcount ref_count;
  MtlStridedView *pixels;
  cairo_region_t *stale;
} Frame;

/**
 * MtlGtkViewPaintable:
 *
 * A paintable that shows a view, for example in a [class@Gtk.Picture], and that
 * you tell what changed.
 *
 * A writable view is copied, and you can write to it at any time, also while
 * the picture is drawn: the changes are shown once
 * [method@MtlGtk.ViewPaintable.invalidate] is called. That copies only what
 * changed. With GTK 4.16 and later, renderers also draw and upload only that.
 *
 * A read-only view is shown where it is, without a copy. Its memory must not
 * change while it is shown or may still be drawn. This suits frames of a video,
 * each of which is another view, and pictures that are never written again. If
 * GTK cannot use the memory as it is, pass %MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY.
 *
 * Each state of the picture is another [class@Gdk.Texture], which never
 * changes. A copy is used for another state once its texture is gone, so there
 * is only one copy more than there are textures in use.
 *
 * The properties can be set in any order, also in GtkBuilder files and by
 * bindings. As a property cannot fail, one that makes the picture impossible,
 * such as a view with 5 channels, is kept: the paintable is then empty, and
 * [property@MtlGtk.ViewPaintable:error] tells why, until the properties fit
 * together again. [method@MtlGtk.ViewPaintable.set_view] and the other methods
 * return the error instead, and change nothing.
 *
 * Use this object on the main thread only. The views can be written from other
 * threads, but not during [method@MtlGtk.ViewPaintable.set_view] and
 * [method@MtlGtk.ViewPaintable.invalidate].
 *
 * ```c
 * // Draws into the pixels, [height, width, 4] of uint8, and shows that.
 * static gboolean
 * paint (MtlGtkViewPaintable  *paintable,
 *        MtlStridedView       *pixels,
 *        const GdkRectangle   *where,
 *        GError              **error)
 * {
 *   g_autoptr (MtlStridedView) rows = NULL;
 *   g_autoptr (MtlStridedView) part = NULL;
 *
 *   rows = mtl_strided_view_narrow (pixels, 0, where->y, where->y + where->height, 1, error);
 *   if (rows == NULL)
 *     return FALSE;
 *
 *   part = mtl_strided_view_narrow (rows, 1, where->x, where->x + where->width, 1, error);
 *   return part != NULL
 *          && mtl_strided_view_fill_double (part, 255, NULL, error)
 *          && mtl_gtk_view_paintable_invalidate (paintable, where, error);
 * }
 *
 * static GtkWidget *
 * create_picture (MtlStridedView  *pixels,
 *                 GError         **error)
 * {
 *   g_autoptr (MtlGtkViewPaintable) paintable = mtl_gtk_view_paintable_new ();
 *   const GdkRectangle square = { 10, 20, 30, 30 };
 *
 *   if (!mtl_gtk_view_paintable_set_view (paintable, pixels, MTL_GTK_CHANNELS_RGBA,
 *                                         MTL_GTK_TEXTURE_FLAGS_NONE, error)
 *       || !paint (paintable, pixels, &square, error))
 *     return NULL;
 *
 *   return gtk_picture_new_for_paintable (GDK_PAINTABLE (paintable));
 * }
 * ```
 *
 * Since: 1.0
 */
struct _MtlGtkViewPaintable
{
  GObject parent_instance;

  Source source;
  GError *error;
  GdkTexture *texture; /* NULL without a view, and if there is an error */
  GPtrArray *frames;
  cairo_region_t *changed; /* changes since the texture was made */
  gboolean is_constructed;
};

enum
{
  PROP_0,
  PROP_VIEW,
  PROP_CHANNELS,
  PROP_FLAGS,
  PROP_COLOR_MAP,
  PROP_COLORS,
  PROP_LOW,
  PROP_HIGH,
  PROP_ERROR,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void paintable_init (GdkPaintableInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (MtlGtkViewPaintable, mtl_gtk_view_paintable, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GDK_TYPE_PAINTABLE, paintable_init))

/* Only [height, width] leaves the meaning of the numbers open. */
static gboolean
source_is_mapped (const Source *self)
{
  const gboolean has_colors = self->colors != NULL || self->color_map != MTL_GTK_COLOR_MAP_NONE;

  return has_colors && self->channels == MTL_GTK_CHANNELS_AUTO
         && mtl_strided_view_get_n_dims (self->view) == 2;
}

static gboolean
source_init_palette (Source  *self,
                     GError **error)
{
  return self->colors != NULL
         ? mtl_gtk_palette_init_for_view (&self->palette, self->colors, error)
         : mtl_gtk_palette_init_for_color_map (&self->palette, self->color_map, error);
}

static cairo_rectangle_int_t
source_get_extents (const Source *self)
{
  const gint64 *shape = mtl_strided_view_get_shape (self->view, NULL);

  return (cairo_rectangle_int_t) { 0, 0, (int) shape[1], (int) shape[0] };
}

static MtlStridedView *
narrow_to_rectangle (MtlStridedView               *view,
                     const cairo_rectangle_int_t  *rectangle,
                     GError                      **error)
{
  g_autoptr (MtlStridedView) rows = NULL;

  rows = mtl_strided_view_narrow (view, 0, rectangle->y,
                                  (gint64) rectangle->y + rectangle->height, 1, error);
  if (rows == NULL)
    return NULL;

  return mtl_strided_view_narrow (rows, 1, rectangle->x,
                                  (gint64) rectangle->x + rectangle->width, 1, error);
}

/* The pixels that are shown there, [height, width, channels]. */
static MtlStridedView *
source_get_part (const Source                 *self,
                 const cairo_rectangle_int_t  *rectangle,
                 GError                      **error)
{
  g_autoptr (MtlStridedView) part = narrow_to_rectangle (self->view, rectangle, error);

  if (part == NULL)
    return NULL;

  if (source_is_mapped (self))
    return mtl_gtk_palette_colorize (&self->palette, part, self->low, self->high, NULL, error);

  return mtl_gtk_with_channel_axis (part);
}

static Frame *
frame_new (const Source  *source,
           GError       **error)
{
  const cairo_rectangle_int_t extents = source_get_extents (source);
  MtlStridedView *pixels;
  Frame *self;

  pixels = mtl_gtk_pixels_new (&source->frame_pixel, extents.height, extents.width, error);
  if (pixels == NULL)
    return NULL;

  self = g_new0 (Frame, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->pixels = pixels;
  self->stale = cairo_region_create_rectangle (&extents);
  return self;
}

static Frame *
frame_ref (Frame *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

/* Any thread may end a texture. */
static void
frame_unref (gpointer data)
{
  Frame *self = data;

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_object_unref (self->pixels);
  cairo_region_destroy (self->stale);
  g_free (self);
}

static gboolean
frame_is_spare (Frame *self)
{
  return g_atomic_ref_count_compare (&self->ref_count, 1);
}

static gboolean
frame_fits (Frame        *self,
            const Source *source)
{
  const cairo_rectangle_int_t extents = source_get_extents (source);
  const char *letters = mtl_gtk_channels_get_letters (source->frame_pixel.channels);
  const gint64 *shape = mtl_strided_view_get_shape (self->pixels, NULL);

  return shape[0] == extents.height && shape[1] == extents.width
         && shape[2] == (gint64) strlen (letters)
         && mtl_strided_view_get_dtype (self->pixels) == source->frame_pixel.dtype;
}

static void
frame_add_stale (Frame                *self,
                 const cairo_region_t *changed)
{
  cairo_region_union (self->stale, changed);
  if (cairo_region_num_rectangles (self->stale) > MAX_RECTANGLES)
    {
      cairo_rectangle_int_t extents;

      cairo_region_get_extents (self->stale, &extents);
      cairo_region_union_rectangle (self->stale, &extents);
    }
}

static gboolean
frame_update (Frame         *self,
              const Source  *source,
              GError       **error)
{
  for (int i = 0; i < cairo_region_num_rectangles (self->stale); i++)
    {
      g_autoptr (MtlStridedView) part = NULL;
      g_autoptr (MtlStridedView) target = NULL;
      cairo_rectangle_int_t rectangle;

      cairo_region_get_rectangle (self->stale, i, &rectangle);
      part = source_get_part (source, &rectangle, error);
      if (part == NULL)
        return FALSE;

      target = narrow_to_rectangle (self->pixels, &rectangle, error);
      if (target == NULL
          || !mtl_gtk_pixels_convert (target, &source->frame_pixel, part, &source->pixel, NULL,
                                      error))
        return FALSE;
    }

  cairo_region_subtract (self->stale, self->stale);
  return TRUE;
}

/* Once the texture no longer uses the pixels, the frame is spare again. */
static GdkTexture *
frame_create_texture (Frame         *self,
                      const Source  *source,
                      GError       **error)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (self->pixels);
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (self->pixels, &n_dims);
  g_autoptr (MtlStridedView) view =
    mtl_strided_view_new_for_data (mtl_strided_view_get_data (self->pixels),
                                   mtl_strided_layout_get_required_size (layout, NULL),
                                   mtl_strided_view_get_dtype (self->pixels), shape, n_dims,
                                   NULL, 0, 0, MTL_BUFFER_FLAGS_READ_ONLY, frame_unref,
                                   frame_ref (self), error);

  if (view == NULL)
    return NULL;

  return mtl_gtk_texture_from_view (view, source->frame_pixel.channels,
                                    source->frame_pixel.premultiplied
                                    ? MTL_GTK_TEXTURE_FLAGS_PREMULTIPLIED
                                    : MTL_GTK_TEXTURE_FLAGS_NONE,
                                    error);
}

/* Tells renderers the difference from the texture before, so that they draw and upload
 * no more than that. */
static GdkTexture *
describe_update (GdkTexture     *texture,
                 GdkTexture     *before,
                 cairo_region_t *changed)
{
#if GTK_CHECK_VERSION (4, 16, 0)
  if (before != NULL && gdk_texture_get_width (before) == gdk_texture_get_width (texture)
      && gdk_texture_get_height (before) == gdk_texture_get_height (texture))
    {
      g_autoptr (GdkTextureDownloader) downloader = gdk_texture_downloader_new (texture);
      g_autoptr (GdkMemoryTextureBuilder) builder = gdk_memory_texture_builder_new ();
      g_autoptr (GBytes) bytes = NULL;
      gsize stride;

      /* The bytes are the memory of the texture itself, if they are in its own format. */
      gdk_texture_downloader_set_format (downloader, gdk_texture_get_format (texture));
      gdk_texture_downloader_set_color_state (downloader, gdk_texture_get_color_state (texture));
      bytes = gdk_texture_downloader_download_bytes (downloader, &stride);

      gdk_memory_texture_builder_set_bytes (builder, bytes);
      gdk_memory_texture_builder_set_stride (builder, stride);
      gdk_memory_texture_builder_set_format (builder, gdk_texture_get_format (texture));
      gdk_memory_texture_builder_set_color_state (builder, gdk_texture_get_color_state (texture));
      gdk_memory_texture_builder_set_width (builder, gdk_texture_get_width (texture));
      gdk_memory_texture_builder_set_height (builder, gdk_texture_get_height (texture));
      gdk_memory_texture_builder_set_update_texture (builder, before);
      gdk_memory_texture_builder_set_update_region (builder, changed);
      g_object_unref (texture);
      return gdk_memory_texture_builder_build (builder);
    }
#else
  (void) before;
  (void) changed;
#endif

  return texture;
}

/* A frame that is not in use, or else a new one. */
static Frame *
get_spare_frame (MtlGtkViewPaintable  *self,
                 const Source         *source,
                 GError              **error)
{
  Frame *frame;

  for (guint i = 0; i < self->frames->len; i++)
    {
      frame = g_ptr_array_index (self->frames, i);
      if (frame_is_spare (frame) && frame_fits (frame, source))
        return frame;
    }

  frame = frame_new (source, error);
  if (frame != NULL)
    g_ptr_array_add (self->frames, frame);

  return frame;
}

/* Keeps one spare frame, so that two can take turns. */
static void
drop_frames (MtlGtkViewPaintable *self)
{
  guint n_spare = 0;

  for (guint i = self->frames->len; i-- > 0;)
    {
      Frame *frame = g_ptr_array_index (self->frames, i);

      if (self->texture == NULL || self->source.is_shared
          || !frame_fits (frame, &self->source) || (frame_is_spare (frame) && n_spare++ > 0))
        g_ptr_array_remove_index_fast (self->frames, i);
    }
}

static GdkTexture *
copy_to_texture (MtlGtkViewPaintable   *self,
                 const Source          *source,
                 const cairo_region_t  *changed,
                 GError               **error)
{
  Frame *frame = get_spare_frame (self, source, error);
  GdkTexture *texture = NULL;

  if (frame == NULL)
    return NULL;

  frame_add_stale (frame, changed);
  if (frame_update (frame, source, error))
    texture = frame_create_texture (frame, source, error);

  if (texture == NULL)
    {
      /* It may have parts of another view now. */
      frame_add_stale (frame, changed);
      return NULL;
    }

  for (guint i = 0; i < self->frames->len; i++)
    if (g_ptr_array_index (self->frames, i) != frame)
      frame_add_stale (g_ptr_array_index (self->frames, i), changed);

  return texture;
}

static GdkTexture *
share_texture (const Source  *source,
               GError       **error)
{
  return mtl_gtk_texture_from_view (source->view, source->channels,
                                    source->flags & ~MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY, error);
}

#if !GTK_CHECK_VERSION (4, 14, 0)

/* If not, GTK draws with Cairo, or is newer than that of the build. */
static gboolean
draws_with_old_gl (void)
{
  GdkDisplay *display = gtk_is_initialized () ? gdk_display_get_default () : NULL;

  if (gtk_check_version (4, 14, 0) == NULL)
    return FALSE;

  return display != NULL && gdk_display_prepare_gl (display, NULL);
}

#endif

/* A format that GTK has, and draws without a slow conversion. */
static MtlGtkPixel
choose_frame_pixel (const MtlGtkPixel *pixel)
{
  MtlGtkPixel chosen = *pixel;
  GdkMemoryFormat format;

#if !GTK_CHECK_VERSION (4, 14, 0)
  /* GTK before 4.14 multiplies the colors by the opacity on the processor for OpenGL, several times
   * slower than the library. For Cairo it does so fast, and takes longer for colors that are
   * multiplied. */
  if (chosen.dtype == MTL_DTYPE_UINT8 && draws_with_old_gl ())
    chosen.premultiplied = mtl_gtk_channels_can_be_premultiplied (chosen.channels);
#endif

  return mtl_gtk_pixel_find_nearest (&chosen, &format);
}

/* Tries to share the memory even if it will be copied, as that finds errors of the view
 * at once. */
static gboolean
prepare_source (Source  *source,
                GError **error)
{
  const gboolean is_read_only = mtl_strided_view_is_read_only (source->view);
  const gboolean may_copy = !is_read_only
                            || (source->flags & MTL_GTK_TEXTURE_FLAGS_ALLOW_COPY) != 0;
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (GError) local_error = NULL;

  source->is_shared = FALSE;
  if (source_is_mapped (source))
    {
      source->pixel = (MtlGtkPixel) {
        MTL_DTYPE_UINT8,
        source->palette.n_channels == 4 ? MTL_GTK_CHANNELS_RGBA : MTL_GTK_CHANNELS_RGB,
        FALSE,
      };
      source->frame_pixel = choose_frame_pixel (&source->pixel);
      return mtl_gtk_check_extents (mtl_strided_view_get_shape (source->view, NULL), error);
    }

  texture = share_texture (source, &local_error);
  source->is_shared = texture != NULL && is_read_only;
  if (source->is_shared)
    return TRUE;

  if (texture == NULL
      && (!may_copy || !g_error_matches (local_error, MTL_ERROR, MTL_ERROR_NEEDS_COPY)))
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  if (!mtl_gtk_pixel_init_for_view (&source->pixel, source->view, source->channels, source->flags,
                                    error))
    return FALSE;

  source->frame_pixel = choose_frame_pixel (&source->pixel);
  return TRUE;
}

static GdkTexture *
create_next_texture (MtlGtkViewPaintable   *self,
                     const Source          *source,
                     const cairo_region_t  *changed,
                     GError               **error)
{
  return source->is_shared ? share_texture (source, error)
                           : copy_to_texture (self, source, changed, error);
}

static void
set_texture (MtlGtkViewPaintable *self,
             GdkTexture          *texture)
{
  g_autoptr (GdkTexture) before = g_steal_pointer (&self->texture);
  GdkPaintable *paintable = GDK_PAINTABLE (self);
  gboolean is_resized;

  self->texture = texture;
  g_clear_pointer (&self->changed, cairo_region_destroy);
  self->changed = cairo_region_create ();

  is_resized = before == NULL || texture == NULL
               || gdk_texture_get_width (before) != gdk_texture_get_width (texture)
               || gdk_texture_get_height (before) != gdk_texture_get_height (texture);
  g_clear_object (&before);
  drop_frames (self);

  if (is_resized)
    gdk_paintable_invalidate_size (paintable);
  gdk_paintable_invalidate_contents (paintable);
}

static gboolean
show_changes (MtlGtkViewPaintable  *self,
              GError              **error)
{
  GdkTexture *texture = create_next_texture (self, &self->source, self->changed, error);

  if (texture == NULL)
    return FALSE;

  set_texture (self, describe_update (texture, self->texture, self->changed));
  return TRUE;
}

/* Makes a texture of all of another source; NULL without a view. */
static gboolean
create_first_texture (MtlGtkViewPaintable  *self,
                      Source               *source,
                      GdkTexture          **texture,
                      GError              **error)
{
  cairo_rectangle_int_t extents;
  cairo_region_t *all;

  *texture = NULL;
  if (!source_init_palette (source, error))
    return FALSE;

  if (source->view == NULL)
    return TRUE;

  if (!prepare_source (source, error))
    return FALSE;

  extents = source_get_extents (source);
  all = cairo_region_create_rectangle (&extents);
  *texture = create_next_texture (self, source, all, error);
  cairo_region_destroy (all);
  return *texture != NULL;
}

static void
notify_changes (MtlGtkViewPaintable *self,
                const Source        *before,
                const GError        *error_before)
{
  const Source *source = &self->source;
  const gboolean changed[N_PROPS] = {
    [PROP_VIEW] = source->view != before->view,
    [PROP_CHANNELS] = source->channels != before->channels,
    [PROP_FLAGS] = source->flags != before->flags,
    [PROP_COLOR_MAP] = source->color_map != before->color_map,
    [PROP_COLORS] = source->colors != before->colors,
    [PROP_LOW] = source->low != before->low,
    [PROP_HIGH] = source->high != before->high,
    [PROP_ERROR] = self->error != error_before,
  };

  for (int id = PROP_0 + 1; id < N_PROPS; id++)
    if (changed[id])
      g_object_notify_by_pspec (G_OBJECT (self), properties[id]);
}

/* Takes over the texture and the error. */
static void
adopt_source (MtlGtkViewPaintable *self,
              const Source        *source,
              GdkTexture          *texture,
              GError              *error)
{
  const Source before = self->source;
  g_autoptr (MtlStridedView) view_before G_GNUC_UNUSED = before.view;
  g_autoptr (MtlStridedView) colors_before G_GNUC_UNUSED = before.colors;
  g_autoptr (GError) error_before = self->error;

  self->source = *source;
  if (source->view != NULL)
    g_object_ref (source->view);
  if (source->colors != NULL)
    g_object_ref (source->colors);
  self->error = error;

  g_object_freeze_notify (G_OBJECT (self));
  set_texture (self, texture);
  notify_changes (self, &before, error_before);
  g_object_thaw_notify (G_OBJECT (self));
}

/* The old source stays on failure. */
static gboolean
show_source (MtlGtkViewPaintable  *self,
             Source               *source,
             GError              **error)
{
  GdkTexture *texture;

  if (!create_first_texture (self, source, &texture, error))
    {
      drop_frames (self);
      return FALSE;
    }

  adopt_source (self, source, texture, NULL);
  return TRUE;
}

/* Leaves the paintable empty on failure. */
static void
show_source_or_error (MtlGtkViewPaintable *self,
                      Source              *source)
{
  GdkTexture *texture = NULL;
  GError *error = NULL;

  if (self->is_constructed)
    create_first_texture (self, source, &texture, &error);
  adopt_source (self, source, texture, error);
}

static void
mtl_gtk_view_paintable_snapshot (GdkPaintable *paintable,
                                 GdkSnapshot  *snapshot,
                                 double        width,
                                 double        height)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (paintable);

  if (self->texture != NULL)
    gdk_paintable_snapshot (GDK_PAINTABLE (self->texture), snapshot, width, height);
}

static GdkPaintable *
mtl_gtk_view_paintable_get_current_image (GdkPaintable *paintable)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (paintable);

  return self->texture != NULL ? g_object_ref (GDK_PAINTABLE (self->texture))
                               : gdk_paintable_new_empty (0, 0);
}

static int
mtl_gtk_view_paintable_get_intrinsic_width (GdkPaintable *paintable)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (paintable);

  return self->texture != NULL ? gdk_texture_get_width (self->texture) : 0;
}

static int
mtl_gtk_view_paintable_get_intrinsic_height (GdkPaintable *paintable)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (paintable);

  return self->texture != NULL ? gdk_texture_get_height (self->texture) : 0;
}

static void
paintable_init (GdkPaintableInterface *interface)
{
  interface->snapshot = mtl_gtk_view_paintable_snapshot;
  interface->get_current_image = mtl_gtk_view_paintable_get_current_image;
  interface->get_intrinsic_width = mtl_gtk_view_paintable_get_intrinsic_width;
  interface->get_intrinsic_height = mtl_gtk_view_paintable_get_intrinsic_height;
}

static void
mtl_gtk_view_paintable_get_property (GObject    *object,
                                     guint       id,
                                     GValue     *value,
                                     GParamSpec *pspec)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (object);

  switch (id)
    {
    case PROP_VIEW:
      g_value_set_object (value, self->source.view);
      break;
    case PROP_CHANNELS:
      g_value_set_enum (value, self->source.channels);
      break;
    case PROP_FLAGS:
      g_value_set_flags (value, self->source.flags);
      break;
    case PROP_COLOR_MAP:
      g_value_set_enum (value, self->source.color_map);
      break;
    case PROP_COLORS:
      g_value_set_object (value, self->source.colors);
      break;
    case PROP_LOW:
      g_value_set_double (value, self->source.low);
      break;
    case PROP_HIGH:
      g_value_set_double (value, self->source.high);
      break;
    case PROP_ERROR:
      g_value_set_boxed (value, self->error);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
mtl_gtk_view_paintable_set_property (GObject      *object,
                                     guint         id,
                                     const GValue *value,
                                     GParamSpec   *pspec)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (object);
  Source source = self->source;

  switch (id)
    {
    case PROP_VIEW:
      source.view = g_value_get_object (value);
      break;
    case PROP_CHANNELS:
      source.channels = g_value_get_enum (value);
      break;
    case PROP_FLAGS:
      source.flags = g_value_get_flags (value);
      break;
    case PROP_COLOR_MAP:
      source.color_map = g_value_get_enum (value);
      break;
    case PROP_COLORS:
      source.colors = g_value_get_object (value);
      break;
    case PROP_LOW:
      source.low = g_value_get_double (value);
      break;
    case PROP_HIGH:
      source.high = g_value_get_double (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }

  show_source_or_error (self, &source);
}

static void
mtl_gtk_view_paintable_constructed (GObject *object)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (object);
  Source source = self->source;

  G_OBJECT_CLASS (mtl_gtk_view_paintable_parent_class)->constructed (object);

  self->is_constructed = TRUE;
  show_source_or_error (self, &source);
}

static void
mtl_gtk_view_paintable_finalize (GObject *object)
{
  MtlGtkViewPaintable *self = MTL_GTK_VIEW_PAINTABLE (object);

  g_clear_object (&self->texture);
  g_clear_object (&self->source.view);
  g_clear_object (&self->source.colors);
  g_clear_error (&self->error);
  g_ptr_array_unref (self->frames);
  cairo_region_destroy (self->changed);

  G_OBJECT_CLASS (mtl_gtk_view_paintable_parent_class)->finalize (object);
}

static void
mtl_gtk_view_paintable_class_init (MtlGtkViewPaintableClass *class)
{
  const GParamFlags flags =
    G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = mtl_gtk_view_paintable_get_property;
  object_class->set_property = mtl_gtk_view_paintable_set_property;
  object_class->constructed = mtl_gtk_view_paintable_constructed;
  object_class->finalize = mtl_gtk_view_paintable_finalize;

  /**
   * MtlGtkViewPaintable:view: (getter get_view)
   *
   * The view that is shown, [height, width] or [height, width, channels].
   *
   * Since: 1.0
   */
  properties[PROP_VIEW] =
    g_param_spec_object ("view", NULL, NULL, MTL_TYPE_STRIDED_VIEW, flags);

  /**
   * MtlGtkViewPaintable:channels:
   *
   * The channels of the view.
   *
   * Since: 1.0
   */
  properties[PROP_CHANNELS] =
    g_param_spec_enum ("channels", NULL, NULL, MTL_GTK_TYPE_CHANNELS, MTL_GTK_CHANNELS_AUTO, flags);

  /**
   * MtlGtkViewPaintable:flags:
   *
   * Flags for premultiplied colors, and for a copy of a read-only view if GTK
   * cannot use its memory as it is.
   *
   * Since: 1.0
   */
  properties[PROP_FLAGS] =
    g_param_spec_flags ("flags", NULL, NULL, MTL_GTK_TYPE_TEXTURE_FLAGS,
                        MTL_GTK_TEXTURE_FLAGS_NONE, flags);

  /**
   * MtlGtkViewPaintable:color-map:
   *
   * The colors of views [height, width] whose channels are
   * %MTL_GTK_CHANNELS_AUTO, unless there are
   * [property@MtlGtk.ViewPaintable:colors].
   *
   * Since: 1.0
   */
  properties[PROP_COLOR_MAP] =
    g_param_spec_enum ("color-map", NULL, NULL, MTL_GTK_TYPE_COLOR_MAP, MTL_GTK_COLOR_MAP_NONE,
                       flags);

  /**
   * MtlGtkViewPaintable:colors:
   *
   * Colors of your own, [n, 3] or [n, 4], which take the place of
   * [property@MtlGtk.ViewPaintable:color-map].
   *
   * They are read when a property or a view is set; later writes to them have no
   * effect until then.
   *
   * Since: 1.0
   */
  properties[PROP_COLORS] =
    g_param_spec_object ("colors", NULL, NULL, MTL_TYPE_STRIDED_VIEW, flags);

  /**
   * MtlGtkViewPaintable:low:
   *
   * The number of the first color.
   *
   * Since: 1.0
   */
  properties[PROP_LOW] = g_param_spec_double ("low", NULL, NULL, -INFINITY, INFINITY, 0, flags);

  /**
   * MtlGtkViewPaintable:high:
   *
   * The number of the last color.
   *
   * Since: 1.0
   */
  properties[PROP_HIGH] = g_param_spec_double ("high", NULL, NULL, -INFINITY, INFINITY, 1, flags);

  /**
   * MtlGtkViewPaintable:error:
   *
   * The reason why the view cannot be shown with these properties: one of the
   * errors of [method@MtlGtk.ViewPaintable.set_view] or
   * [method@MtlGtk.ViewPaintable.set_colors].
   *
   * Since: 1.0
   */
  properties[PROP_ERROR] =
    g_param_spec_boxed ("error", NULL, NULL, G_TYPE_ERROR,
                        G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
mtl_gtk_view_paintable_init (MtlGtkViewPaintable *self)
{
  self->frames = g_ptr_array_new_with_free_func (frame_unref);
  self->changed = cairo_region_create ();
  self->source.high = 1;
}

/**
 * mtl_gtk_view_paintable_new:
 *
 * Creates a paintable that shows nothing yet.
 *
 * Returns: (transfer full): the paintable
 *
 * Since: 1.0
 */
MtlGtkViewPaintable *
mtl_gtk_view_paintable_new (void)
{
  return g_object_new (MTL_GTK_TYPE_VIEW_PAINTABLE, NULL);
}

/**
 * mtl_gtk_view_paintable_set_view:
 * @self: a paintable
 * @view: (nullable): the view, [height, width] or [height, width, channels], or
 *   %NULL to show nothing
 * @channels: the channels
 * @flags: whether the colors are premultiplied, and whether a read-only view is
 *   copied if GTK cannot use its memory as it is; others always are
 * @error: return location for a [error@Mtl.Error]
 *
 * Shows a view, of the element types and channels that
 * [func@MtlGtk.texture_from_view] takes, or of those that [func@MtlGtk.colorize]
 * takes once there is a color map: see
 * [method@MtlGtk.ViewPaintable.set_color_map].
 *
 * On failure the old view is still shown.
 *
 * Errors:
 *
 * - the errors of [func@MtlGtk.texture_from_view]; %MTL_ERROR_NEEDS_COPY only if
 *   @view is read-only
 * - the errors of [func@MtlGtk.colorize], if there is a color map
 * - %MTL_ERROR_INVALID_ARGUMENT: @channels is none of the values, also without
 *   a view
 * - %MTL_ERROR_INVALID_ARGUMENT, %MTL_ERROR_OVERFLOW: there is a color map, and
 *   @view is empty, or GTK cannot count its rows or pixels
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_view_paintable_set_view (MtlGtkViewPaintable  *self,
                                 MtlStridedView       *view,
                                 MtlGtkChannels        channels,
                                 MtlGtkTextureFlags    flags,
                                 GError              **error)
{
  Source source;

  g_return_val_if_fail (MTL_GTK_IS_VIEW_PAINTABLE (self), FALSE);
  g_return_val_if_fail (view == NULL || MTL_IS_STRIDED_VIEW (view), FALSE);

  if (!mtl_gtk_check_channels (channels, error))
    return FALSE;

  source = self->source;
  source.view = view;
  source.channels = channels;
  source.flags = flags;
  return show_source (self, &source, error);
}

/**
 * mtl_gtk_view_paintable_get_view:
 * @self: a paintable
 *
 * Gets the view that is shown.
 *
 * Returns: (transfer none) (nullable): the view, or %NULL for none
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_gtk_view_paintable_get_view (MtlGtkViewPaintable *self)
{
  g_return_val_if_fail (MTL_GTK_IS_VIEW_PAINTABLE (self), NULL);

  return self->source.view;
}

/**
 * mtl_gtk_view_paintable_set_color_map:
 * @self: a paintable
 * @color_map: the colors
 * @low: the number of the first color
 * @high: the number of the last color
 * @error: return location for a [error@Mtl.Error]
 *
 * Shows views [height, width] in colors, as [func@MtlGtk.colorize] does: the
 * one that is shown now, and those that are set later, if their channels are
 * %MTL_GTK_CHANNELS_AUTO. Other views are shown as they are. Colors of
 * [method@MtlGtk.ViewPaintable.set_colors] are removed.
 *
 * On failure nothing is changed.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @color_map is none of the values, also without
 *   a view
 * - the errors of [method@MtlGtk.ViewPaintable.set_view]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_view_paintable_set_color_map (MtlGtkViewPaintable  *self,
                                      MtlGtkColorMap        color_map,
                                      double                low,
                                      double                high,
                                      GError              **error)
{
  Source source;

  g_return_val_if_fail (MTL_GTK_IS_VIEW_PAINTABLE (self), FALSE);

  source = self->source;
  source.color_map = color_map;
  source.colors = NULL;
  source.low = low;
  source.high = high;
  return show_source (self, &source, error);
}

/**
 * mtl_gtk_view_paintable_set_colors:
 * @self: a paintable
 * @colors: the colors, of shape [n, 3] or [n, 4]
 * @low: the number of the first color
 * @high: the number of the last color
 * @error: return location for a [error@Mtl.Error]
 *
 * Shows views [height, width] in colors of your own, as
 * [func@MtlGtk.colorize_with_colors] does: like
 * [method@MtlGtk.ViewPaintable.set_color_map], whose colors these replace.
 * @colors are read now and when a property or a view is set.
 *
 * On failure nothing is changed.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @colors has another shape, another kind of
 *   elements, or one that is out of range, also without a view
 * - the errors of [method@MtlGtk.ViewPaintable.set_view]
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_view_paintable_set_colors (MtlGtkViewPaintable  *self,
                                   MtlStridedView       *colors,
                                   double                low,
                                   double                high,
                                   GError              **error)
{
  Source source;

  g_return_val_if_fail (MTL_GTK_IS_VIEW_PAINTABLE (self), FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (colors), FALSE);

  source = self->source;
  source.colors = colors;
  source.low = low;
  source.high = high;
  return show_source (self, &source, error);
}

/* The part of the rectangle that is in the picture; none if there is none. */
static cairo_rectangle_int_t
clip_to_picture (const GdkRectangle           *rectangle,
                 const cairo_rectangle_int_t  *extents)
{
  gint64 left = MAX (rectangle->x, 0);
  gint64 top = MAX (rectangle->y, 0);
  gint64 right = MIN ((gint64) rectangle->x + rectangle->width, extents->width);
  gint64 bottom = MIN ((gint64) rectangle->y + rectangle->height, extents->height);

  if (left >= right || top >= bottom)
    return (cairo_rectangle_int_t) { 0 };

  return (cairo_rectangle_int_t) { (int) left, (int) top, (int) (right - left),
                                   (int) (bottom - top) };
}

/**
 * mtl_gtk_view_paintable_invalidate:
 * @self: a paintable
 * @rectangle: (nullable): where the view was changed, in pixels, or %NULL for
 *   everywhere
 * @error: return location for a [error@Mtl.Error]
 *
 * Shows what was written to the view since it was set, or since the last call.
 *
 * The part of @rectangle outside of the picture is ignored. Without anything
 * changed, or without a view, nothing happens. If
 * [property@MtlGtk.ViewPaintable:error] is set, the view is tried again.
 *
 * On failure the picture stays as it was, and the next call also shows what is
 * in @rectangle.
 *
 * Errors:
 *
 * - %MTL_ERROR_NO_MEMORY: all copies are in use, and another one cannot be
 *   allocated
 * - the errors of [method@MtlGtk.ViewPaintable.set_view], if
 *   [property@MtlGtk.ViewPaintable:error] is set
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_gtk_view_paintable_invalidate (MtlGtkViewPaintable  *self,
                                   const GdkRectangle   *rectangle,
                                   GError              **error)
{
  cairo_rectangle_int_t extents, changed;

  g_return_val_if_fail (MTL_GTK_IS_VIEW_PAINTABLE (self), FALSE);

  if (self->error != NULL)
    {
      Source source = self->source;

      return show_source (self, &source, error);
    }

  if (self->source.view == NULL)
    return TRUE;

  extents = source_get_extents (&self->source);
  changed = rectangle == NULL ? extents : clip_to_picture (rectangle, &extents);
  if (changed.width == 0)
    return TRUE;

  cairo_region_union_rectangle (self->changed, &changed);
  return show_changes (self, error);
}

/**
 * mtl_gtk_view_paintable_get_texture:
 * @self: a paintable
 *
 * Gets the picture as it is now. The texture never changes, unless the memory
 * of a read-only view does.
 *
 * A copy may have another format than the view: one that GTK has, and where
 * GTK before 4.14 draws with OpenGL, one with premultiplied colors. It shows
 * the same.
 *
 * Returns: (transfer none) (nullable): the texture, or %NULL without a view or if
 *   [property@MtlGtk.ViewPaintable:error] is set
 *
 * Since: 1.0
 */
GdkTexture *
mtl_gtk_view_paintable_get_texture (MtlGtkViewPaintable *self)
{
  g_return_val_if_fail (MTL_GTK_IS_VIEW_PAINTABLE (self), NULL);

  return self->texture;
}
