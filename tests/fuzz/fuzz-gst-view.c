/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Buffers of GStreamer whose metas, infos and caps may say anything: viewed by each function, in
 * use by others as well, and given back as they were. */

#include "fuzz.h"

#include <mtldl-gst/mtldl-gst.h>

#define MAX_MEMORIES 4
#define MAX_VIEWS 4
#define MAX_OPERATIONS 12
#define MAX_DIMS 66
#define MAX_PIXELS 20 /* along a row or column, unless that is changed */
#define MAX_TOUCHED 64
#define MANY_CHANNELS 70 /* more than GStreamer has positions of */

/* Bytes that are the buffer's. Those around them, in the same memory, are not. */
typedef struct
{
  guint8 *begin;
  gsize size;
} Range;

typedef struct
{
  GstBuffer *buffer;
  Range ranges[MAX_MEMORIES];
  guint n_memories;
  GstVideoFormat format; /* the meta's at first */
  gboolean has_video_info;
  gboolean has_audio_info;
  GstVideoInfo video;
  GstAudioInfo audio;
  GstCaps *caps;
  MtlStridedView *views[MAX_VIEWS];

  /* Other users. */
  GstBuffer *other;
  GstMemory *mapped;
  GstMapInfo map;
} Case;

static const GstVideoFormat *formats;
static guint n_formats;

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  /* No plugin is needed. */
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  formats = gst_video_formats_raw (&n_formats);
  g_type_ensure (MTL_TYPE_STRIDED_VIEW);
  g_type_ensure (MTL_TYPE_BUFFER);
  mtl_device_get_default ();
  return 0;
}

/* --- What the input says */

/* A number as it is mostly, or another one. */
static guint64
change_number (Input   *input,
               guint64  value)
{
  switch (input_byte (input) % 16)
    {
    case 0:
      return input_int64 (input);
    case 1:
      return -value;
    case 2:
      return value + input_int64 (input);
    default:
      return value;
    }
}

/* Reads the index of a plane, a component or a channel. */
static guint
read_index (Input *input)
{
  guint8 byte = input_byte (input);

  return byte < 240 ? byte % 5 : input_int64 (input);
}

static GstVideoFormat
read_video_format (Input *input)
{
  guint8 index = input_byte (input);

  return index < n_formats ? formats[index] : GST_VIDEO_FORMAT_ENCODED;
}

static void
append_memory (Case  *self,
               Input *input)
{
  guint8 flags = input_byte (input);
  gsize before = flags & 1 ? input_byte (input) : 0, after = flags & 2 ? input_byte (input) : 0;
  gsize size = (input_byte (input) << 8 | input_byte (input)) % 1500;
  gsize max_size = before + size + after;
  guint8 *bytes = g_malloc0 (MAX (max_size, 1));
  GstMemory *memory = gst_memory_new_wrapped (flags & 4 && flags & 8 ? GST_MEMORY_FLAG_READONLY : 0,
                                              bytes, max_size, before, size, bytes, g_free);

  if (flags & 16 && flags & 32)
    {
      gsize skip = input_byte (input) % (size + 1);
      GstMemory *part = gst_memory_share (memory, skip, size - skip);

      gst_memory_unref (memory);
      memory = part;
      before += skip;
      size -= skip;
    }

  gst_buffer_append_memory (self->buffer, memory);
  self->ranges[self->n_memories++] = (Range) { bytes + before, size };
}

static gboolean
map_otherwise (GstVideoMeta *meta,
               guint         plane,
               GstMapInfo   *info,
               gpointer     *data,
               int          *stride,
               GstMapFlags   flags)
{
  g_assert_not_reached ();
}

/* The rows of a plane from bottom to top. */
static void
turn_over (GstVideoMeta *meta,
           guint         plane,
           guint         rows)
{
  meta->offset[plane] += (gsize) meta->stride[plane] * (rows - 1);
  meta->stride[plane] = -meta->stride[plane];
}

static void
add_video_meta (Case  *self,
                Input *input)
{
  GstVideoFormat format = read_video_format (input);
  guint width = input_byte (input) % MAX_PIXELS + 1, height = input_byte (input) % MAX_PIXELS + 1;
  guint8 flags = input_byte (input);
  GstVideoMeta *meta = gst_buffer_add_video_meta (self->buffer, GST_VIDEO_FRAME_FLAG_NONE, format,
                                                  width, height);

  g_assert_nonnull (meta);
  for (guint plane = 0; plane < meta->n_planes; plane++)
    {
      if (flags & 1)
        turn_over (meta, plane, plane > 0 && flags & 2 ? (height + 1) / 2 : height);
      meta->offset[plane] = change_number (input, meta->offset[plane]);
      meta->stride[plane] = change_number (input, meta->stride[plane]);
    }

  meta->width = change_number (input, width);
  meta->height = change_number (input, height);
  self->format = format;
  if ((flags & 12) == 4)
    meta->n_planes = input_int64 (input);
  else if ((flags & 12) == 8)
    meta->format = input_int64 (input);
  if (flags >> 4 == 15)
    meta->map = map_otherwise;
}

static void
read_video_info (Case  *self,
                 Input *input)
{
  guint8 flags = input_byte (input);
  GstVideoFormat format = read_video_format (input);
  guint width = input_byte (input) % MAX_PIXELS + 1, height = input_byte (input) % MAX_PIXELS + 1;
  GstVideoInfo *info = &self->video;

  if (flags & 8 && self->format != GST_VIDEO_FORMAT_UNKNOWN)
    format = self->format;
  g_assert_true (gst_video_info_set_format (info, format, width, height));
  info->width = change_number (input, info->width);
  info->height = change_number (input, info->height);
  if (flags & 1)
    info->interlace_mode = flags & 2 ? GST_VIDEO_INTERLACE_MODE_ALTERNATE
                                     : GST_VIDEO_INTERLACE_MODE_MIXED;
  for (guint plane = 0; plane < GST_VIDEO_MAX_PLANES && flags & 4; plane++)
    {
      info->offset[plane] = change_number (input, info->offset[plane]);
      info->stride[plane] = change_number (input, info->stride[plane]);
    }
  if (flags >> 4 == 15)
    info->finfo = NULL;
  else if (flags >> 4 == 14)
    gst_video_info_init (info);
}

static GstAudioInfo
read_valid_audio_info (Input *input)
{
  GstAudioFormat format = GST_AUDIO_FORMAT_S8 + input_byte (input)
                          % (GST_AUDIO_FORMAT_F64BE - GST_AUDIO_FORMAT_S8 + 1);
  guint8 flags = input_byte (input);
  guint8 n_channels = flags >> 1;
  GstAudioInfo info;

  gst_audio_info_set_format (&info, format, 8000,
                             n_channels < 120 ? n_channels % 10 + 1 : MANY_CHANNELS, NULL);
  info.layout = flags & 1 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED : GST_AUDIO_LAYOUT_INTERLEAVED;
  return info;
}

/* The meta has an offset for each channel that it was created with, and not more. GStreamer frees
 * those of more than 8 channels by their number. */
static void
add_audio_meta (Case  *self,
                Input *input)
{
  GstAudioInfo info = read_valid_audio_info (input);
  GstAudioMeta *meta = gst_buffer_add_audio_meta (self->buffer, &info, 0, NULL);
  guint8 flags = input_byte (input);
  gsize n_frames = input_byte (input);
  gsize distance = n_frames * info.finfo->width / 8;

  g_assert_nonnull (meta);
  meta->samples = change_number (input, n_frames);
  if (flags & 1)
    distance += input_byte (input);
  for (int i = 0; i < info.channels && meta->offsets != NULL; i++)
    {
      guint position = flags & 2 ? info.channels - 1 - i : i;

      meta->offsets[i] = position * distance;
      if (flags & 4)
        meta->offsets[i] = change_number (input, meta->offsets[i]);
    }

  if (flags & 8 && info.channels <= 8)
    meta->info.channels -= input_byte (input);
  if (flags >> 4 == 15)
    meta->info.finfo = NULL;
  else if (flags >> 4 == 14)
    meta->info.layout ^= 1;
}

static void
read_audio_info (Case  *self,
                 Input *input)
{
  guint8 flags = input_byte (input);

  self->audio = read_valid_audio_info (input);
  if (flags & 1)
    self->audio.channels = change_number (input, self->audio.channels);
  if (flags >> 1 == 127)
    gst_audio_info_init (&self->audio);
  else if (flags >> 1 == 126)
    self->audio.finfo = NULL;
}

static int
read_int (Input *input)
{
  return input_extent (input);
}

static GstStructure *
read_video_structure (Input *input)
{
  return gst_structure_new ("video/x-raw", "format", G_TYPE_STRING,
                            gst_video_format_to_string (read_video_format (input)),
                            "width", G_TYPE_INT, read_int (input),
                            "height", G_TYPE_INT, read_int (input),
                            "interlace-mode", G_TYPE_STRING,
                            input_byte (input) % 4 == 3 ? "alternate" : "progressive", NULL);
}

static GstStructure *
read_audio_structure (Input *input)
{
  GstAudioInfo info = read_valid_audio_info (input);

  return gst_structure_new ("audio/x-raw", "format", G_TYPE_STRING, info.finfo->name,
                            "rate", G_TYPE_INT, 8000,
                            "channels", G_TYPE_INT, read_int (input),
                            "channel-mask", GST_TYPE_BITMASK, G_GUINT64_CONSTANT (0),
                            "layout", G_TYPE_STRING,
                            info.layout == GST_AUDIO_LAYOUT_INTERLEAVED ? "interleaved"
                                                                        : "non-interleaved", NULL);
}

static GstStructure *
read_tensor_structure (Input *input)
{
  static const char *const types[] = { "uint8", "int16", "float32", "float64", "bfloat16", "" };
  GstStructure *structure = gst_structure_new ("tensor/strided", "type", G_TYPE_STRING,
                                               types[input_byte (input) % G_N_ELEMENTS (types)],
                                               "dims-order", G_TYPE_STRING,
                                               input_byte (input) % 2 ? "col-major" : "row-major",
                                               NULL);
  gsize n_dims = input_byte (input) % 8;
  GValue dims = G_VALUE_INIT;

  if (n_dims == 7)
    n_dims = input_byte (input) % MAX_DIMS;
  gst_value_array_init (&dims, n_dims);
  for (gsize i = 0; i < n_dims; i++)
    {
      GValue dim = G_VALUE_INIT;

      g_value_init (&dim, G_TYPE_INT);
      g_value_set_int (&dim, read_int (input));
      gst_value_array_append_and_take_value (&dims, &dim);
    }
  gst_structure_take_value (structure, "dims", &dims);
  return structure;
}

/* Replaces a field of caps by another value. */
static void
spoil_field (GstStructure *structure,
             Input        *input)
{
  static const char *const names[] = {
    "format", "width", "channels", "type", "dims", "dims-order", "layout", "framerate", "rate",
  };
  const char *name = names[input_byte (input) % G_N_ELEMENTS (names)];

  switch (input_byte (input) % 4)
    {
    case 0:
      gst_structure_remove_field (structure, name);
      break;
    case 1:
      gst_structure_set (structure, name, GST_TYPE_INT_RANGE, 1, 20, NULL);
      break;
    case 2:
      gst_structure_set (structure, name, G_TYPE_STRING, "nothing", NULL);
      break;
    default:
      gst_structure_set (structure, name, G_TYPE_INT, read_int (input), NULL);
      break;
    }
}

static void
read_caps (Case  *self,
           Input *input)
{
  guint8 kind = input_byte (input);
  GstStructure *structure;

  self->caps = gst_caps_new_empty ();
  if (kind == 255)
    return;

  if (kind % 4 == 0)
    structure = read_video_structure (input);
  else if (kind % 4 == 1)
    structure = read_audio_structure (input);
  else if (kind % 4 == 2)
    structure = read_tensor_structure (input);
  else
    structure = gst_structure_new_empty ("image/png");

  if (kind & 16 && kind & 32)
    spoil_field (structure, input);
  if (kind >> 6 == 3)
    gst_caps_append_structure (self->caps, gst_structure_copy (structure));
  gst_caps_append_structure (self->caps, structure);
}

static void
case_init (Case  *self,
           Input *input)
{
  guint8 flags = input_byte (input);
  guint n_memories = flags % (MAX_MEMORIES + 1);

  self->buffer = gst_buffer_new ();
  for (guint i = 0; i < n_memories; i++)
    append_memory (self, input);

  if (flags & 32)
    add_video_meta (self, input);
  if (flags & 64)
    add_audio_meta (self, input);

  flags = input_byte (input);
  self->has_video_info = flags & 1;
  self->has_audio_info = flags & 2;
  if (self->has_video_info)
    read_video_info (self, input);
  if (self->has_audio_info)
    read_audio_info (self, input);
  if (flags & 4)
    read_caps (self, input);
}

/* --- What the views may do */

/* The use of a buffer or its memory, which a failure leaves alone. */
typedef struct
{
  int n_refs;
  int lock;
  gpointer object;
} Use;

typedef struct
{
  Use uses[MAX_MEMORIES + 1];
} Uses;

static Use
get_use (gpointer object)
{
  return (Use) { GST_MINI_OBJECT_REFCOUNT_VALUE (object), GST_MINI_OBJECT_CAST (object)->lockstate,
                 object };
}

static Uses
get_uses (Case *self)
{
  Uses uses = { { get_use (self->buffer) } };

  g_assert_cmpuint (gst_buffer_n_memory (self->buffer), ==, self->n_memories);
  for (guint i = 0; i < self->n_memories; i++)
    uses.uses[i + 1] = get_use (gst_buffer_peek_memory (self->buffer, i));

  return uses;
}

static void
check_unused (Case *self,
              Uses  before)
{
  Uses after = get_uses (self);

  g_assert_cmpmem (&before, sizeof before, &after, sizeof after);
}

/* The number of the memory that has the bytes, or -1. */
static int
find_memory (Case         *self,
             const guint8 *bytes,
             gsize         size)
{
  for (guint i = 0; i < self->n_memories; i++)
    {
      const Range *range = &self->ranges[i];

      if (bytes >= range->begin && size <= range->size
          && (gsize) (bytes - range->begin) <= range->size - size)
        return i;
    }

  return -1;
}

/* The offset is in elements, from the first one. */
static void
touch_element (Case           *self,
               MtlStridedView *view,
               gint64          offset)
{
  guint bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));
  gint64 begin = offset * bits >> 3, end = (offset * bits + bits + 7) >> 3;
  guint8 *data = mtl_strided_view_get_data (view);
  gboolean writes = !mtl_strided_view_is_read_only (view);

  g_assert_cmpint (find_memory (self, data + begin, end - begin), >=, 0);
  for (gint64 i = begin; i < end; i++)
    {
      volatile guint8 *byte = data + i;
      guint8 value = *byte;

      if (writes)
        *byte = ~value;
    }
}

/* All elements of a view, or if these are many those at the ends of its memory. */
static void
touch (Case           *self,
       MtlStridedView *view)
{
  MtlStridedLayout *layout = mtl_strided_view_get_layout (view);
  gint64 first = mtl_strided_layout_get_offset (layout);
  gint64 n = mtl_strided_layout_get_volume (layout), min, max;

  if (n <= MAX_TOUCHED)
    {
      g_autofree gint64 *offsets = list_offsets (layout);

      for (gint64 i = 0; i < n; i++)
        touch_element (self, view, offsets[i] - first);
    }

  mtl_strided_layout_get_offset_bounds (layout, &min, &max);
  touch_element (self, view, min - first);
  touch_element (self, view, max - first);
}

static MtlStridedView *
view_bytes (Case         *self,
            Input        *input,
            GstMapFlags   flags,
            GError      **error)
{
  static const MtlDType dtypes[] = {
    MTL_DTYPE_UINT8, MTL_DTYPE_FLOAT32, MTL_DTYPE_INT16, MTL_DTYPE_COMPLEX128, MTL_DTYPE_INT4,
    MTL_DTYPE_FLOAT6_E2M3FN, MTL_DTYPE_BOOL, MTL_DTYPE_UINT2, MTL_DTYPE_OTHER,
  };
  guint8 kind = input_byte (input);
  MtlDType dtype = kind < 250 ? dtypes[kind % G_N_ELEMENTS (dtypes)] : input_int64 (input);
  gsize n_dims = input_byte (input) % 8;
  gint64 shape[MAX_DIMS];

  if (n_dims == 7)
    n_dims = input_byte (input) % MAX_DIMS;
  for (gsize i = 0; i < n_dims; i++)
    shape[i] = input_extent (input);

  return mtl_gst_view_from_buffer (self->buffer, dtype, shape, n_dims, flags, error);
}

/* Caps that describe a view have its layout without the buffer as well. */
static MtlStridedView *
view_by_caps (Case         *self,
              Input        *input,
              GstMapFlags   flags,
              GError      **error)
{
  guint plane = read_index (input);
  MtlStridedView *view =
    mtl_gst_view_from_buffer_with_caps (self->buffer, self->caps, plane, flags, error);
  g_autoptr (GError) layout_error = NULL;
  g_autoptr (MtlStridedLayout) layout = NULL;
  MtlDType dtype;

  layout = mtl_gst_layout_from_caps (self->caps, plane, &dtype, &layout_error);
  if (check_result (layout != NULL, &layout_error) && view != NULL)
    g_assert_cmpint (dtype, ==, mtl_strided_view_get_dtype (view));

  return view;
}

static MtlStridedView *
view_new (Case         *self,
          Input        *input,
          GstMapFlags   flags,
          GError      **error)
{
  const GstVideoInfo *video = self->has_video_info ? &self->video : NULL;
  const GstAudioInfo *audio = self->has_audio_info ? &self->audio : NULL;

  switch (input_byte (input) % 6)
    {
    case 0:
      return mtl_gst_view_from_video_buffer (self->buffer, video, read_index (input), flags, error);
    case 1:
      return mtl_gst_view_from_video_buffer_component (self->buffer, video, read_index (input),
                                                       flags, error);
    case 2:
      return mtl_gst_view_from_audio_buffer (self->buffer, audio, flags, error);
    case 3:
      return mtl_gst_view_from_audio_buffer_channel (self->buffer, audio, read_index (input), flags,
                                              error);
    case 4:
      return self->caps != NULL ? view_by_caps (self, input, flags, error)
                                : view_bytes (self, input, flags, error);
    default:
      return view_bytes (self, input, flags, error);
    }
}

/* A buffer is written to by views alone, and has its memory for itself. */
static void
check_sole_user (Case           *self,
                 MtlStridedView *view)
{
  int index = find_memory (self, mtl_strided_view_get_data (view), 1);
  GstMemory *memory = gst_buffer_peek_memory (self->buffer, index);
  int n_writers = 0;

  for (guint i = 0; i < MAX_VIEWS; i++)
    n_writers += self->views[i] != NULL && !mtl_strided_view_is_read_only (self->views[i]);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (self->buffer), ==, 1 + n_writers);

  for (guint i = 0; self->other != NULL && i < gst_buffer_n_memory (self->other); i++)
    g_assert_true (gst_buffer_peek_memory (self->other, i) != memory);
}

static void
create_view (Case            *self,
             Input           *input,
             MtlStridedView **view)
{
  GstMapFlags flags = input_byte (input);
  g_autoptr (GError) error = NULL;
  Uses before;

  g_clear_object (view);
  before = get_uses (self);
  *view = view_new (self, input, flags, &error);
  if (!check_result (*view != NULL, &error))
    {
      check_unused (self, before);
      return;
    }

  g_assert_true (mtl_strided_view_is_read_only (*view) == !(flags & GST_MAP_WRITE));
  if (flags & GST_MAP_WRITE)
    check_sole_user (self, *view);
  touch (self, *view);
}

/* --- Others */

static gboolean
has_views (Case *self)
{
  for (guint i = 0; i < MAX_VIEWS; i++)
    if (self->views[i] != NULL)
      return TRUE;

  return FALSE;
}

/* In GStreamer, a map of a reader that is there after that of a writer began and ended leaves the
 * memory marked. So others map it before there are views. */
static void
map_or_unmap (Case  *self,
              Input *input)
{
  static const GstMapFlags modes[] = { GST_MAP_READ, GST_MAP_WRITE, GST_MAP_READWRITE };
  GstMapFlags flags = modes[input_byte (input) % G_N_ELEMENTS (modes)];
  GstMemory *memory;

  if (self->mapped != NULL)
    {
      memory = g_steal_pointer (&self->mapped);
      gst_memory_unmap (memory, &self->map);
      gst_memory_unref (memory);
      return;
    }

  if (self->n_memories == 0 || has_views (self))
    return;

  memory = gst_buffer_get_memory (self->buffer, input_byte (input) % self->n_memories);
  if (gst_memory_map (memory, &self->map, flags))
    self->mapped = memory;
  else
    gst_memory_unref (memory);
}

/* The buffer itself, or one that shares its memories, without the metas, which GStreamer would
 * believe. */
static void
share_or_end (Case     *self,
              gboolean  whole)
{
  if (self->other != NULL)
    gst_clear_buffer (&self->other);
  else if (whole)
    self->other = gst_buffer_ref (self->buffer);
  else
    self->other = gst_buffer_copy_region (self->buffer, GST_BUFFER_COPY_MEMORY, 0, -1);
}

static void
operate (Case  *self,
         Input *input)
{
  guint8 kind = input_byte (input);

  switch (kind % 8)
    {
    case 0:
      g_clear_object (&self->views[kind / 8 % MAX_VIEWS]);
      break;
    case 1:
      map_or_unmap (self, input);
      break;
    case 2:
      share_or_end (self, kind & 128);
      break;
    default:
      create_view (self, input, &self->views[kind / 8 % MAX_VIEWS]);
      break;
    }
}

/* The buffer ends first, or last. */
static void
case_clear (Case     *self,
            gboolean  first,
            Uses      initial)
{
  if (self->mapped != NULL)
    map_or_unmap (self, &(Input) { 0 });
  gst_clear_buffer (&self->other);
  if (first)
    gst_clear_buffer (&self->buffer);

  for (guint i = 0; i < MAX_VIEWS; i++)
    if (self->views[i] != NULL)
      {
        touch (self, self->views[i]);
        g_clear_object (&self->views[i]);
      }

  if (!first)
    check_unused (self, initial);
  gst_clear_buffer (&self->buffer);
  gst_clear_caps (&self->caps);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  Input input = { data, size };
  gboolean ends_first = input_byte (&input) % 2;
  Case self = { 0 };
  Uses initial;

  case_init (&self, &input);
  initial = get_uses (&self);
  for (int i = 0; i < MAX_OPERATIONS && input.size > 0; i++)
    operate (&self, &input);
  case_clear (&self, ends_first, initial);
  return 0;
}
