/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Tensors as GVariants: docs/processes.md specifies them. */

#include "mtl-tensor-variant-private.h"

#include "mtl-error.h"

#define VERSION 1

/* The byte order of elements, with D-Bus's letters. */
#define BYTE_ORDER_LETTER (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 'l' : 'B')

/* The keys with a meaning here. */
static const char *const known_keys[] = {
  "version", "needs", "padded", "byte-order", "device", "release", NULL
};

/* GVariant's functions abort if there is no memory for extras. */
static gboolean
check_extras_size (GVariant  *extras,
                   GError   **error)
{
  gsize size = g_variant_get_size (extras);

  if (size <= MTL_TENSOR_VARIANT_MAX_SIZE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "The extras have %" G_GSIZE_FORMAT " bytes, and may have %d: pass fewer", size,
               MTL_TENSOR_VARIANT_MAX_SIZE);
  return FALSE;
}

/* Reading */

static gboolean
refuse (GError     **error,
        const char  *format,
        ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError     **error,
        const char  *format,
        ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error != NULL)
    *error = g_error_new_valist (MTL_ERROR, MTL_ERROR_INVALID_DATA, format, arguments);
  va_end (arguments);
  return FALSE;
}

void
mtl_error_blame_peer (GError **error)
{
  if (error == NULL || *error == NULL || (*error)->domain != MTL_ERROR)
    return;

  switch ((*error)->code)
    {
    case MTL_ERROR_INVALID_ARGUMENT:
    case MTL_ERROR_OUT_OF_BOUNDS:
    case MTL_ERROR_OVERFLOW:
    case MTL_ERROR_NEEDS_COPY:
      (*error)->code = MTL_ERROR_INVALID_DATA;
      break;
    default:
      break;
    }
}

/* The value is NULL if there is no such key. */
static gboolean
find_extra (GVariant            *extras,
            const char          *key,
            const GVariantType  *type,
            GVariant           **value,
            GError             **error)
{
  *value = g_variant_lookup_value (extras, key, NULL);
  if (*value == NULL || g_variant_is_of_type (*value, type))
    return TRUE;

  refuse (error, "“%s” of a tensor has the type “%.80s”, and has to have “%.*s”", key,
          g_variant_get_type_string (*value), (int) g_variant_type_get_string_length (type),
          g_variant_type_peek_string (type));
  g_clear_pointer (value, g_variant_unref);
  return FALSE;
}

static gboolean
find_byte (GVariant    *extras,
           const char  *key,
           guint8      *byte,
           GError     **error)
{
  g_autoptr (GVariant) value = NULL;

  if (!find_extra (extras, key, G_VARIANT_TYPE_BYTE, &value, error))
    return FALSE;

  if (value != NULL)
    *byte = g_variant_get_byte (value);
  return TRUE;
}

static gboolean
check_version (GVariant  *extras,
               GError   **error)
{
  guint8 version = VERSION;

  if (!find_byte (extras, "version", &version, error))
    return FALSE;

  if (version == VERSION)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A tensor is described in version %u: only version %u is supported", version,
               VERSION);
  return FALSE;
}

static gboolean
check_key (const char  *key,
           GError     **error)
{
  g_autofree char *quoted = NULL;

  if (g_strv_contains (known_keys, key) || strcmp (key, "name") == 0)
    return TRUE;

  quoted = mtl_quote_text (key, strlen (key));
  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A tensor needs %s, which is not supported", quoted);
  return FALSE;
}

static gboolean
check_needs (GVariant  *extras,
             GError   **error)
{
  g_autoptr (GVariant) value = NULL;
  gsize n_keys;

  if (!find_extra (extras, "needs", G_VARIANT_TYPE_STRING_ARRAY, &value, error))
    return FALSE;

  n_keys = value != NULL ? g_variant_n_children (value) : 0;
  for (gsize i = 0; i < n_keys; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      if (!check_key (g_variant_get_string (child, NULL), error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
check_byte_order (GVariant  *extras,
                  GError   **error)
{
  guint8 letter = 'l';

  if (!find_byte (extras, "byte-order", &letter, error))
    return FALSE;

  if (letter == BYTE_ORDER_LETTER)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "The byte order of a tensor is 0x%02x: only 0x%02x, that of this machine, is"
               " supported", letter, BYTE_ORDER_LETTER);
  return FALSE;
}

static gboolean
check_device (GVariant  *extras,
              GError   **error)
{
  g_autoptr (GVariant) value = NULL;
  gint32 device_type = MTL_DEVICE_TYPE_CPU, ordinal = 0;

  if (!find_extra (extras, "device", G_VARIANT_TYPE ("(ii)"), &value, error))
    return FALSE;

  if (value != NULL)
    g_variant_get (value, "(ii)", &device_type, &ordinal);
  if (device_type == MTL_DEVICE_TYPE_CPU)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A tensor is in memory of device (%d, %d): only memory of the host, (1, 0), is"
               " supported", device_type, ordinal);
  return FALSE;
}

static gboolean
read_extras (GVariant       *extras,
             gboolean       *is_padded,
             MtlSentTensor  *result,
             GError        **error)
{
  g_autoptr (GVariant) padded = NULL;
  g_autoptr (GVariant) release = NULL;

  if (!check_version (extras, error) || !check_needs (extras, error)
      || !check_byte_order (extras, error) || !check_device (extras, error)
      || !find_extra (extras, "padded", G_VARIANT_TYPE_BOOLEAN, &padded, error)
      || !find_extra (extras, "release", G_VARIANT_TYPE_HANDLE, &release, error))
    return FALSE;

  *is_padded = padded != NULL && g_variant_get_boolean (padded);
  result->release = release != NULL ? g_variant_get_handle (release) : -1;
  return TRUE;
}

static gboolean
read_memory (GVariant       *memory,
             MtlSentTensor  *result,
             GError        **error)
{
  result->handle = -1;
  if (g_variant_is_of_type (memory, G_VARIANT_TYPE_HANDLE))
    {
      result->handle = g_variant_get_handle (memory);
      return result->handle >= 0
             || refuse (error, "A tensor has the descriptor %d: the minimum is 0", result->handle);
    }

  if (!g_variant_is_of_type (memory, G_VARIANT_TYPE_BYTESTRING))
    return refuse (error, "The memory of a tensor has the type “%.80s”, and has to have “h” or"
                   " “ay”", g_variant_get_type_string (memory));

  result->elements = g_variant_get_data_as_bytes (memory);
  return TRUE;
}

/* The memory is like that of a device: an offset, not an address, leads to the elements. */
gboolean
mtl_sent_tensor_describe (MtlSentTensor  *self,
                          DLTensor       *tensor,
                          gsize           n_dims,
                          gsize           n_strides,
                          gboolean        is_padded,
                          GError        **error)
{
  MtlTensorDescription *description = &self->description;

  if (n_dims > MTL_LAYOUT_MAX_DIMS || n_strides != n_dims)
    return refuse (error, "A tensor has %" G_GSIZE_FORMAT " extents and %" G_GSIZE_FORMAT
                   " strides: there have to be as many, at most %d", n_dims, n_strides,
                   MTL_LAYOUT_MAX_DIMS);

  tensor->data = self; /* anything but NULL */
  tensor->ndim = n_dims;
  if (!mtl_dl_tensor_describe (tensor, is_padded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0,
                               description, error))
    {
      mtl_error_blame_peer (error);
      return FALSE;
    }

  if ((guint64) (description->end - description->first) > G_MAXSSIZE)
    return refuse (error, "The elements of a tensor are in %" G_GINT64_FORMAT " bytes: the maximum"
                   " is %" G_GSSIZE_FORMAT, description->end - description->first, G_MAXSSIZE);

  self->size = description->end - description->first;
  self->begin = self->size > 0 ? tensor->byte_offset + description->first : 0;
  return TRUE;
}

static gboolean
read_tensor (GVariant       *variant,
             MtlSentTensor  *result,
             GError        **error)
{
  g_autoptr (GVariant) memory = NULL;
  g_autoptr (GVariant) shape = NULL;
  g_autoptr (GVariant) strides = NULL;
  g_autoptr (GVariant) extras = NULL;
  DLTensor tensor = { NULL };
  gsize n_dims, n_strides;
  gboolean is_padded;

  g_variant_get (variant, "(vtyyq@ax@ax@a{sv})", &memory, &tensor.byte_offset, &tensor.dtype.code,
                 &tensor.dtype.bits, &tensor.dtype.lanes, &shape, &strides, &extras);
  tensor.shape = (gint64 *) g_variant_get_fixed_array (shape, &n_dims, sizeof (gint64));
  tensor.strides = (gint64 *) g_variant_get_fixed_array (strides, &n_strides, sizeof (gint64));
  return read_extras (extras, &is_padded, result, error)
         && read_memory (memory, result, error)
         && mtl_sent_tensor_describe (result, &tensor, n_dims, n_strides, is_padded, error);
}

/* Each byte of the elements would be checked, too, if this looked at the whole description. They
 * are the first child, and can be any bytes. */
static gboolean
is_normal (GVariant *variant)
{
  for (gsize i = 1; i < g_variant_n_children (variant); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (variant, i);

      if (!g_variant_is_normal_form (child))
        return FALSE;
    }

  return TRUE;
}

gboolean
mtl_sent_tensor_read (GVariant       *variant,
                      MtlSentTensor  *result,
                      GError        **error)
{
  g_auto (MtlSentTensor) tensor = { .release = -1 };
  g_autoptr (GVariant) extras = NULL;

  if (!g_variant_is_of_type (variant, G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING)))
    return refuse (error, "A tensor has the type “%.80s”, and has to have “%s”",
                   g_variant_get_type_string (variant), MTL_TENSOR_VARIANT_TYPE_STRING);

  extras = g_variant_get_child_value (variant, 7);
  if (!check_extras_size (extras, error))
    {
      mtl_error_blame_peer (error);
      return FALSE;
    }

  if (!is_normal (variant))
    return refuse (error, "The %" G_GSIZE_FORMAT " bytes of a tensor's description are malformed",
                   g_variant_get_size (variant));

  if (!read_tensor (variant, &tensor, error))
    return FALSE;

  *result = tensor;
  tensor = (MtlSentTensor) { .release = -1 };
  return TRUE;
}

GVariant *
mtl_tensor_variant_dup_extras (GVariant *variant)
{
  g_autoptr (GVariant) extras = g_variant_get_child_value (variant, 7);
  GVariantBuilder builder;
  GVariantIter iter;
  GVariant *entry;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_iter_init (&iter, extras);
  while ((entry = g_variant_iter_next_value (&iter)) != NULL)
    {
      g_autoptr (GVariant) key = g_variant_get_child_value (entry, 0);

      if (!g_strv_contains (known_keys, g_variant_get_string (key, NULL)))
        g_variant_builder_add_value (&builder, entry);
      g_variant_unref (entry);
    }

  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

void
mtl_sent_tensor_clear (MtlSentTensor *self)
{
  mtl_layout_clear (&self->description.layout);
  g_clear_pointer (&self->elements, g_bytes_unref);
}

/* Elements are where the description has them, if they are aligned there. */
static MtlMemory *
get_inline_memory (MtlSentTensor  *self,
                   GError        **error)
{
  gsize n_bytes = self->elements != NULL ? g_bytes_get_size (self->elements) : 0;
  MtlMemory *memory;
  guint8 *data;

  if (self->begin > n_bytes || self->size > n_bytes - self->begin)
    {
      refuse (error, "%" G_GSIZE_FORMAT " bytes of elements at offset %" G_GUINT64_FORMAT " exceed"
              " the %" G_GSIZE_FORMAT " bytes of a tensor", self->size, self->begin, n_bytes);
      return NULL;
    }

  if (self->size == 0)
    return mtl_memory_new_imported (MTL_DEVICE_TYPE_CPU, 0, NULL, 0, TRUE, TRUE, NULL, NULL);

  data = (guint8 *) g_bytes_get_data (self->elements, NULL) + self->begin;
  if ((guintptr) data % sizeof (gdouble) == 0)
    return mtl_memory_new_imported (MTL_DEVICE_TYPE_CPU, 0, data, self->size, TRUE, TRUE,
                                    g_steal_pointer (&self->elements),
                                    (GDestroyNotify) g_bytes_unref);

  memory = mtl_memory_new (NULL, self->size, MTL_STORAGE_MODE_HOST, FALSE, error);
  if (memory != NULL)
    {
      memcpy (memory->contents, data, self->size);
      memory->read_only = TRUE;
    }
  return memory;
}

MtlStridedView *
mtl_sent_tensor_to_view (MtlSentTensor  *self,
                         MtlMemory      *memory,
                         GError        **error)
{
  MtlLayout layout = self->description.layout;

  if (memory == NULL)
    memory = get_inline_memory (self, error);
  if (memory == NULL)
    return NULL;

  self->description.layout.n_dims = 0; /* taken */
  return mtl_strided_view_new_take (memory, -(guint64) self->description.first,
                                    self->description.type, &layout);
}

static int
dup_listed_fd (GUnixFDList  *fd_list,
               int           index,
               GError      **error)
{
  int n_fds = 0;
  const int *fds = fd_list != NULL ? g_unix_fd_list_peek_fds (fd_list, &n_fds) : NULL;

  if (index < n_fds)
    return mtl_dup_fd (fds[index], error);

  refuse (error, "A tensor has the descriptor %d: there are %d", index, n_fds);
  return -1;
}

static MtlMemory *
map_memory (const MtlSentTensor  *self,
            GUnixFDList          *fd_list,
            GError              **error)
{
  g_autoptr (MtlSharedPages) pages = NULL;
  int fd = dup_listed_fd (fd_list, self->handle, error);
  int release = -1;

  if (fd < 0)
    return NULL;

  pages = mtl_shared_pages_new_take_fd (fd, self->begin, self->size, FALSE, error);
  if (pages == NULL)
    return NULL;

  if (self->release >= 0)
    {
      release = dup_listed_fd (fd_list, self->release, error);
      if (release < 0)
        return NULL;
    }

  if (release >= 0 && !mtl_fd_is_pipe (release))
    {
      mtl_clear_fd (&release);
      refuse (error, "The descriptor %d of a tensor is not a pipe", self->release);
      return NULL;
    }

  return mtl_memory_new_for_pages (pages, self->begin, self->size, TRUE, release, NULL, NULL);
}

/**
 * mtl_strided_view_new_from_variant_fds: (constructor)
 * @variant: the description of a tensor, of the type
 *   %MTL_TENSOR_VARIANT_TYPE_STRING
 * @fd_list: (nullable): the descriptors that came with @variant
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Creates a view of a tensor that another process describes, without a copy.
 *
 * The view is read-only. If it is in memory of the other process, that process
 * may go on writing to it. Do not rely on a value that was read before: copy what
 * has to stay the same.
 *
 * The other process is not trusted: a tensor whose memory could vanish, or whose
 * elements are not within it, is an error. See
 * [Between processes](processes.html) for the form.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_DATA: @variant has another type or is malformed, the elements are
 *   not within the memory, a descriptor is missing or stands for something else, or
 *   its file is not sealed against truncation
 * - %MTL_ERROR_NOT_SUPPORTED: the tensor has a later version, needs an extra that this
 *   library does not know, has another byte order, or is in memory of a device
 * - %MTL_ERROR_NO_MEMORY: there is no memory
 * - a [error@Gio.IOErrorEnum]: the descriptor cannot be duplicated or mapped
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_variant_fds (GVariant     *variant,
                                       GUnixFDList  *fd_list,
                                       GError      **error)
{
  g_autoptr (GVariant) sunk = NULL;
  g_auto (MtlSentTensor) tensor = { .release = -1 };
  MtlMemory *memory = NULL;

  g_return_val_if_fail (variant != NULL, NULL);
  g_return_val_if_fail (fd_list == NULL || G_IS_UNIX_FD_LIST (fd_list), NULL);

  sunk = g_variant_ref_sink (variant);
  if (!mtl_sent_tensor_read (variant, &tensor, error))
    return NULL;

  if (tensor.handle >= 0 && tensor.size > 0)
    {
      memory = map_memory (&tensor, fd_list, error);
      mtl_error_blame_peer (error);
      if (memory == NULL)
        return NULL;
    }

  return mtl_sent_tensor_to_view (&tensor, memory, error);
}

/* Writing */

/* Elements that lie in the same place are stored once. */
static gboolean
is_repeated (const MtlLayout *layout,
             guint32          axis)
{
  return mtl_layout_strides (layout)[axis] == 0 && mtl_layout_shape (layout)[axis] > 1;
}

static void
drop_repeated (const MtlLayout *layout,
               MtlLayout       *result)
{
  mtl_layout_copy (layout, result);
  for (guint32 i = 0; i < layout->n_dims; i++)
    if (is_repeated (layout, i))
      mtl_layout_shape (result)[i] = 1;
}

MtlStridedView *
mtl_tensor_drop_repeated (MtlStridedView *view)
{
  MtlLayout stored;

  drop_repeated (&view->layout, &stored);
  return mtl_strided_view_derive (view, &stored);
}

MtlStridedView *
mtl_tensor_repeat_like (MtlStridedView *dense,
                        MtlStridedView *view)
{
  g_autoptr (MtlStridedView) taken = dense;
  MtlLayout layout;

  mtl_layout_copy (&taken->layout, &layout);
  for (guint32 i = 0; i < layout.n_dims; i++)
    if (is_repeated (&view->layout, i))
      {
        mtl_layout_shape (&layout)[i] = mtl_layout_shape (&view->layout)[i];
        mtl_layout_strides (&layout)[i] = 0;
      }

  return mtl_strided_view_derive (taken, &layout);
}

gboolean
mtl_tensor_is_sent_in_place (MtlStridedView *view)
{
  gint64 byte;
  guint bit;

  mtl_layout_get_first_byte (&view->layout, &byte, &bit);
  return mtl_memory_get_shared_pages (view->memory) != NULL && bit == 0;
}

gboolean
mtl_tensor_fits_inline (MtlStridedView *view)
{
  g_auto (MtlLayout) stored;

  drop_repeated (&view->layout, &stored);
  return mtl_layout_count_bytes (&stored) <= MTL_TENSOR_VARIANT_MAX_INLINE;
}

MtlStridedView *
mtl_tensor_copy_for_message (MtlStridedView    *view,
                             const MtlMonitor  *monitor,
                             GError           **error)
{
  MTL_USE_VIEW (view);
  g_autoptr (MtlStridedView) stored = mtl_tensor_drop_repeated (view);
  MtlStorageMode mode = mtl_tensor_fits_inline (view) ? MTL_STORAGE_MODE_HOST
                                                      : MTL_STORAGE_MODE_INTERPROCESS;
  MtlStridedView *copy = mtl_strided_view_copy_to (stored, mtl_device_get_host (), mode,
                                                   stored->type, MTL_ORDER_K, monitor, error);

  return copy != NULL ? mtl_tensor_repeat_like (copy, view) : NULL;
}

/* Receivers would take an entry with a known key for one of this library. */
gboolean
mtl_tensor_check_extras (GVariant  *extras,
                         GError   **error)
{
  gsize n_entries;

  if (extras == NULL)
    return TRUE;

  if (!check_extras_size (extras, error))
    return FALSE;

  n_entries = g_variant_n_children (extras);
  for (gsize i = 0; i < n_entries; i++)
    {
      const char *key;

      g_variant_get_child (extras, i, "{&sv}", &key, NULL);
      if (g_strv_contains (known_keys, key) || strcmp (key, "fence") == 0)
        {
          g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                       "The key “%s” of an extra has a meaning in messages: use another one", key);
          return FALSE;
        }
    }

  return TRUE;
}

static void
add_extras (GVariantBuilder *builder,
            MtlStridedView  *view,
            int              release,
            GVariant        *extras)
{
  GVariantIter iter;
  GVariant *entry;

  g_variant_builder_init (builder, G_VARIANT_TYPE_VARDICT);
  if (view->type.padded)
    g_variant_builder_add (builder, "{sv}", "padded", g_variant_new_boolean (TRUE));
  if (BYTE_ORDER_LETTER != 'l')
    g_variant_builder_add (builder, "{sv}", "byte-order", g_variant_new_byte (BYTE_ORDER_LETTER));
  if (release >= 0)
    g_variant_builder_add (builder, "{sv}", "release", g_variant_new_handle (release));
  if (extras == NULL)
    return;

  g_variant_iter_init (&iter, extras);
  while ((entry = g_variant_iter_next_value (&iter)) != NULL)
    {
      g_variant_builder_add_value (builder, entry);
      g_variant_unref (entry);
    }
}

static GVariant *
new_dims (const gint64 *dims,
          guint32       n_dims)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, dims, n_dims, sizeof (gint64));
}

static GVariant *
describe (MtlStridedView *view,
          GVariant       *memory,
          guint64         offset,
          int             release,
          GVariant       *extras)
{
  const MtlLayout *layout = &view->layout;
  GVariantBuilder builder;

  add_extras (&builder, view, release, extras);
  return g_variant_new ("(vtyyq@ax@axa{sv})", memory, offset, view->type.code, view->type.bits,
                        view->type.lanes, new_dims (mtl_layout_shape (layout), layout->n_dims),
                        new_dims (mtl_layout_strides (layout), layout->n_dims), &builder);
}

static gboolean
check_fits_inline (gsize    size,
                   GError **error)
{
  if (size <= MTL_TENSOR_VARIANT_MAX_INLINE)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "%" G_GSIZE_FORMAT " bytes of elements exceed the limit of %d inside a description:"
               " copy them to memory with the storage mode “interprocess”, and pass a list of"
               " descriptors", size, MTL_TENSOR_VARIANT_MAX_INLINE);
  return FALSE;
}

GVariant *
mtl_tensor_variant_new_inline (MtlStridedView  *view,
                               GVariant        *extras,
                               GError         **error)
{
  g_autoptr (MtlStridedView) stored = mtl_tensor_drop_repeated (view);
  g_autoptr (MtlStridedView) whole = NULL;
  MtlStridedView *copy;
  GBytes *bytes;
  GVariant *memory;

  if (!check_fits_inline (mtl_layout_count_bytes (&stored->layout), error)
      || !mtl_memory_check_host_accessible (view->memory, error))
    return NULL;

  copy = mtl_strided_view_copy (stored, MTL_ORDER_C, NULL, error);
  if (copy == NULL)
    return NULL;

  bytes = mtl_buffer_get_bytes (mtl_strided_view_get_buffer (copy), 0,
                                mtl_buffer_get_size (mtl_strided_view_get_buffer (copy)), NULL);
  memory = g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
  g_bytes_unref (bytes);
  whole = mtl_tensor_repeat_like (copy, view);
  return describe (whole, memory, 0, -1, extras);
}

GVariant *
mtl_tensor_variant_new_shared (MtlStridedView *view,
                               int             handle,
                               int             release,
                               GVariant       *extras)
{
  gint64 byte;
  guint bit;

  mtl_layout_get_first_byte (&view->layout, &byte, &bit);
  return describe (view, g_variant_new_handle (handle),
                   mtl_memory_get_offset_in_file (view->memory) + view->byte_offset + byte,
                   release, extras);
}

static gboolean
check_first_bit (const MtlLayout  *layout,
                 GError          **error)
{
  gint64 byte;
  guint bit;

  mtl_layout_get_first_byte (layout, &byte, &bit);
  if (bit == 0)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY,
               "The first element begins at bit %u of a byte, and has to begin at bit 0: copy the"
               " view", bit);
  return FALSE;
}

/* Appends the memory's descriptor, and its release if it has one, or nothing. */
static gboolean
append_fds (GUnixFDList  *fd_list,
            MtlMemory    *memory,
            GError      **error)
{
  const MtlSharedUse *use = memory->owner;
  int release = use->release;
  int spare = release >= 0 ? mtl_dup_fd (release, error) : -1;
  gboolean is_appended;

  if (spare < 0 && release >= 0)
    return FALSE;

  g_atomic_int_set (&use->pages->was_given, TRUE);
  is_appended = g_unix_fd_list_append (fd_list, use->pages->fd, error) >= 0;
  mtl_clear_fd (&spare); /* leaves room for the other one */
  return is_appended
         && (release < 0 || g_unix_fd_list_append (fd_list, release, error) >= 0);
}

/**
 * mtl_strided_view_to_variant:
 * @self: a view
 * @fd_list: (nullable): a list that the descriptor of the memory is appended to, and
 *   another one if the memory is that of a peer who uses it again
 * @extras: (nullable): further entries, of the type `a{sv}`, such as a `name`
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Describes a view for another process, which makes a view of the same memory with
 * [ctor@Mtl.StridedView.new_from_variant_fds].
 *
 * The description and @fd_list can be sent together in a message of D-Bus, for
 * example with [method@Gio.DBusConnection.call_with_unix_fd_list]. To send a view through a
 * socket, use a [class@Mtl.TensorConnection].
 *
 * Memory that other processes can map is passed as a descriptor, see
 * [method@Mtl.Buffer.dup_fd], which gives access to **all of the memory**. The elements of
 * other memory are copied into the description if they have at most 65,536
 * bytes. See [Between processes](processes.html) for the form.
 *
 * Errors:
 *
 * - %MTL_ERROR_NEEDS_COPY: the elements have more bytes, and no descriptor can be
 *   passed: copy them with [method@Mtl.StridedView.to_device] and
 *   %MTL_STORAGE_MODE_INTERPROCESS; or the first element does not begin at a byte
 * - %MTL_ERROR_NOT_HOST_ACCESSIBLE: the host cannot read the memory
 * - %MTL_ERROR_OUT_OF_BOUNDS: @extras have more than 131,072 bytes
 * - %MTL_ERROR_INVALID_ARGUMENT: @extras have a key with a meaning in messages
 * - %MTL_ERROR_NO_MEMORY: there is no memory
 * - a [error@Gio.IOErrorEnum]: the descriptor cannot be duplicated
 *
 * Returns: (transfer full): the description, of the type
 *   %MTL_TENSOR_VARIANT_TYPE_STRING
 *
 * Since: 1.0
 */
GVariant *
mtl_strided_view_to_variant (MtlStridedView  *self,
                             GUnixFDList     *fd_list,
                             GVariant        *extras,
                             GError         **error)
{
  g_autoptr (GVariant) sunk = NULL;
  GVariant *variant;
  int handle, release;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);
  g_return_val_if_fail (fd_list == NULL || G_IS_UNIX_FD_LIST (fd_list), NULL);
  g_return_val_if_fail (extras == NULL || g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT),
                        NULL);

  MTL_USE_VIEW (self);
  sunk = extras != NULL ? g_variant_ref_sink (extras) : NULL;
  if (!mtl_tensor_check_extras (extras, error))
    return NULL;

  if (fd_list == NULL || mtl_memory_get_shared_pages (self->memory) == NULL)
    {
      variant = mtl_tensor_variant_new_inline (self, extras, error);
      return variant != NULL ? g_variant_ref_sink (variant) : NULL;
    }

  if (!check_first_bit (&self->layout, error))
    return NULL;

  handle = g_unix_fd_list_get_length (fd_list);
  release = mtl_memory_get_release (self->memory) >= 0 ? handle + 1 : -1;
  variant = g_variant_ref_sink (mtl_tensor_variant_new_shared (self, handle, release, extras));
  if (!append_fds (fd_list, self->memory, error))
    g_clear_pointer (&variant, g_variant_unref);
  return variant;
}
