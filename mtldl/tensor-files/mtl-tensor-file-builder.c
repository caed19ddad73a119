/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-builder-private.h"

#include <string.h>

#include "mtl-arena-private.h"
#include "mtl-enum-types.h"
#include "mtl-error-private.h"
#include "mtl-message-text-private.h"
#include "mtl-number-private.h"
#include "mtl-shared-text-private.h"

/**
 * MtlTensorFileBuilder:
 *
 * Writes views into a file of tensors.
 *
 * Add views by name, then call [method@Mtl.TensorFileBuilder.write], which can
 * be called several times. The views can have any memory, strides and types.
 * Elements that do not lie in memory in the order of the file go through a few
 * MiB of memory, never through a copy of a whole tensor. The builder keeps the
 * views and their memory alive, and reads the elements when it writes them.
 *
 * A builder may only be used by one thread at a time.
 *
 * ```c
 * g_autoptr (GFile) file = g_file_new_for_path ("model.safetensors");
 * g_autoptr (MtlTensorFileBuilder) builder = mtl_tensor_file_builder_new ();
 * g_autoptr (MtlStridedView) weights =
 *   mtl_strided_view_new_filled (NULL, MTL_DTYPE_BFLOAT16, (gint64[]) { 4, 4 }, 2, 0.5,
 *                               MTL_STORAGE_MODE_DEFAULT, error);
 *
 * if (weights == NULL
 *     || !mtl_tensor_file_builder_add (builder, "weights", weights, error)
 *     || !mtl_tensor_file_builder_set_metadata (builder, "format", "pt", error))
 *   return FALSE;
 *
 * // Readers see the old file or the new one, never half of it.
 * if (!mtl_tensor_file_builder_write (builder, file, NULL, NULL, NULL, error))
 *   return FALSE;
 * ```
 *
 * Since: 1.0
 */

#define METADATA_NAME "__metadata__"

/* The format allows headers of 100 MB. */
#define MAX_ALIGNMENT (1 << 26)

enum
{
  PROP_0,
  PROP_FORMAT,
  PROP_ORDER,
  PROP_ALIGNMENT,
  PROP_SYNC,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlTensorFileBuilder, mtl_tensor_file_builder, G_TYPE_OBJECT)

static void
mtl_tensor_file_builder_finalize (GObject *object)
{
  MtlTensorFileBuilder *self = MTL_TENSOR_FILE_BUILDER (object);

  g_tree_unref (self->names);
  g_tree_unref (self->metadata);
  for (gsize i = 0; i < self->n_tensors; i++)
    {
      mtl_shared_text_unref (self->tensors[i].name);
      g_object_unref (self->tensors[i].view);
    }
  g_free (self->tensors);

  G_OBJECT_CLASS (mtl_tensor_file_builder_parent_class)->finalize (object);
}

static void
mtl_tensor_file_builder_get_property (GObject    *object,
                                      guint       prop_id,
                                      GValue     *value,
                                      GParamSpec *pspec)
{
  MtlTensorFileBuilder *self = MTL_TENSOR_FILE_BUILDER (object);

  switch (prop_id)
    {
    case PROP_FORMAT:
      g_value_set_enum (value, self->format);
      break;
    case PROP_ORDER:
      g_value_set_enum (value, self->order);
      break;
    case PROP_ALIGNMENT:
      g_value_set_uint (value, self->alignment);
      break;
    case PROP_SYNC:
      g_value_set_boolean (value, self->sync);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_file_builder_set_property (GObject      *object,
                                      guint         prop_id,
                                      const GValue *value,
                                      GParamSpec   *pspec)
{
  MtlTensorFileBuilder *self = MTL_TENSOR_FILE_BUILDER (object);

  switch (prop_id)
    {
    case PROP_FORMAT:
      mtl_tensor_file_builder_set_format (self, g_value_get_enum (value));
      break;
    case PROP_ORDER:
      mtl_tensor_file_builder_set_order (self, g_value_get_enum (value));
      break;
    case PROP_ALIGNMENT:
      mtl_tensor_file_builder_set_alignment (self, g_value_get_uint (value));
      break;
    case PROP_SYNC:
      mtl_tensor_file_builder_set_sync (self, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_file_builder_class_init (MtlTensorFileBuilderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_tensor_file_builder_finalize;
  object_class->get_property = mtl_tensor_file_builder_get_property;
  object_class->set_property = mtl_tensor_file_builder_set_property;

  /**
   * MtlTensorFileBuilder:format: (getter get_format) (setter set_format)
   *
   * The format of the file. With %MTL_TENSOR_FILE_FORMAT_AUTO, the default, the
   * ending of the file's name decides, as
   * [method@Mtl.TensorFileBuilder.set_format] describes.
   *
   * Since: 1.0
   */
  props[PROP_FORMAT] = g_param_spec_enum ("format", NULL, NULL, MTL_TYPE_TENSOR_FILE_FORMAT,
                                          MTL_TENSOR_FILE_FORMAT_AUTO, flags);

  /**
   * MtlTensorFileBuilder:order: (getter get_order) (setter set_order)
   *
   * The order of the tensors in the file.
   *
   * Since: 1.0
   */
  props[PROP_ORDER] = g_param_spec_enum ("order", NULL, NULL, MTL_TYPE_TENSOR_FILE_ORDER,
                                         MTL_TENSOR_FILE_ORDER_ALIGNED, flags);

  /**
   * MtlTensorFileBuilder:alignment: (getter get_alignment) (setter set_alignment)
   *
   * The alignment of the first tensor in the file, in bytes; 0 to choose one by
   * the size of the data.
   *
   * Since: 1.0
   */
  props[PROP_ALIGNMENT] = g_param_spec_uint ("alignment", NULL, NULL, 0, MAX_ALIGNMENT, 0, flags);

  /**
   * MtlTensorFileBuilder:sync: (getter get_sync) (setter set_sync)
   *
   * Whether writing waits until the file is on the disk.
   *
   * Since: 1.0
   */
  props[PROP_SYNC] = g_param_spec_boolean ("sync", NULL, NULL, TRUE, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static int
compare_texts (gconstpointer a,
               gconstpointer b,
               gpointer      user_data)
{
  return strcmp (a, b);
}

static void
mtl_tensor_file_builder_init (MtlTensorFileBuilder *self)
{
  self->names = g_tree_new_full (compare_texts, NULL, NULL, NULL);
  self->metadata = g_tree_new_full (compare_texts, NULL, (GDestroyNotify) mtl_shared_text_unref,
                                    (GDestroyNotify) mtl_shared_text_unref);
  self->format = MTL_TENSOR_FILE_FORMAT_AUTO;
  self->sync = TRUE;
}

/**
 * mtl_tensor_file_builder_new:
 *
 * Creates a builder without tensors.
 *
 * Returns: (transfer full): the builder
 *
 * Since: 1.0
 */
MtlTensorFileBuilder *
mtl_tensor_file_builder_new (void)
{
  return g_object_new (MTL_TYPE_TENSOR_FILE_BUILDER, NULL);
}

/* Makes room for one more tensor. */
static gboolean
reserve (MtlTensorFileBuilder  *self,
         GError               **error)
{
  return mtl_array_reserve ((gpointer *) &self->tensors, self->n_tensors, &self->capacity,
                            sizeof (MtlAddedTensor), error);
}

/* Takes ownership of the name. There must be room. */
static void
add_tensor (MtlTensorFileBuilder *self,
            char                 *name,
            MtlStridedView       *view,
            MtlDType              dtype)
{
  self->tensors[self->n_tensors++] = (MtlAddedTensor) { name, g_object_ref (view), dtype };
  g_tree_insert (self->names, name, NULL);
}

static gboolean
copy_pair (gpointer key,
           gpointer value,
           gpointer metadata)
{
  g_tree_insert (metadata, mtl_shared_text_ref (key), mtl_shared_text_ref (value));
  return FALSE;
}

MtlTensorFileBuilder *
mtl_tensor_file_builder_copy (MtlTensorFileBuilder  *self,
                              GError               **error)
{
  g_autoptr (MtlTensorFileBuilder) copy = mtl_tensor_file_builder_new ();

  copy->format = self->format;
  copy->order = self->order;
  copy->alignment = self->alignment;
  copy->sync = self->sync;
  g_tree_foreach (self->metadata, copy_pair, copy->metadata);
  for (gsize i = 0; i < self->n_tensors; i++)
    {
      const MtlAddedTensor *tensor = &self->tensors[i];

      if (!reserve (copy, error))
        return NULL;
      add_tensor (copy, mtl_shared_text_ref (tensor->name), tensor->view, tensor->dtype);
    }

  return g_steal_pointer (&copy);
}

static gboolean
check_text (const char  *what,
            const char  *text,
            GError     **error)
{
  g_autofree char *quoted = NULL;

  if (g_utf8_validate (text, -1, NULL))
    return TRUE;

  quoted = mtl_quote_text (text, strlen (text));
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT, "%s %s is not UTF-8", what, quoted);
  return FALSE;
}

static gboolean
check_name (MtlTensorFileBuilder  *self,
            const char            *name,
            GError               **error)
{
  g_autofree char *quoted = NULL;

  if (!check_text ("The name", name, error))
    return FALSE;

  if (strcmp (name, METADATA_NAME) == 0)
    {
      g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
                   "No tensor can have the name “" METADATA_NAME "”: safetensors keeps the "
                   "metadata there");
      return FALSE;
    }
  if (!g_tree_lookup_extended (self->names, name, NULL, NULL))
    return TRUE;

  quoted = mtl_quote_text (name, strlen (name));
  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "Tensor %s is already among the %" G_GSIZE_FORMAT " that were added",
               quoted, self->n_tensors);
  return FALSE;
}

static gboolean
add (MtlTensorFileBuilder  *self,
     const char            *name,
     MtlStridedView        *view,
     MtlDType               dtype,
     GError               **error)
{
  char *own_name;

  if (!check_name (self, name, error) || !reserve (self, error))
    return FALSE;

  own_name = mtl_shared_text_new (name, error);
  if (own_name == NULL)
    return FALSE;

  add_tensor (self, own_name, view, dtype);
  return TRUE;
}

/**
 * mtl_tensor_file_builder_add:
 * @self: a builder
 * @name: the tensor's name, any text in UTF-8
 * @view: the view whose elements to write
 * @error: return location for a [error@Mtl.Error]
 *
 * Adds a tensor with the shape and the element type of @view. The strides and
 * the device of @view do not matter. If the elements have several lanes, the
 * lanes become an additional last axis. Elements of less than a byte are
 * packed.
 *
 * If the format does not support the element type,
 * [method@Mtl.TensorFileBuilder.write] fails, not this function.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: there is already a tensor with that name, or
 *   @name is not UTF-8, or is `__metadata__`, which safetensors reserves
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_add (MtlTensorFileBuilder  *self,
                             const char            *name,
                             MtlStridedView        *view,
                             GError               **error)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  return add (self, name, view, MTL_DTYPE_OTHER, error);
}

/**
 * mtl_tensor_file_builder_add_converted:
 * @self: a builder
 * @name: the tensor's name, any text in UTF-8
 * @view: the view whose elements to write
 * @dtype: the element type in the file
 * @error: return location for a [error@Mtl.Error]
 *
 * Adds a tensor, like [method@Mtl.TensorFileBuilder.add]. Its elements are
 * converted while they are written, by the rules of
 * [method@Mtl.StridedView.copy_from].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFileBuilder.add]
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a named element type
 * - %MTL_ERROR_NOT_SUPPORTED: the element types cannot be converted
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_add_converted (MtlTensorFileBuilder  *self,
                                       const char            *name,
                                       MtlStridedView        *view,
                                       MtlDType               dtype,
                                       GError               **error)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (view), FALSE);

  if (!mtl_dtype_check (dtype, error))
    return FALSE;
  if (mtl_element_type_get_dtype (view->type) != dtype
      && (!mtl_element_type_check_numeric (mtl_element_type_new (dtype), error)
          || !mtl_element_type_check_numeric (view->type, error)))
    return FALSE;

  return add (self, name, view, dtype, error);
}

static gboolean
replace_metadata (MtlTensorFileBuilder  *self,
                  const char            *key,
                  const char            *value,
                  GError               **error)
{
  char *own_key = mtl_shared_text_new (key, error);
  char *own_value = own_key != NULL ? mtl_shared_text_new (value, error) : NULL;

  if (own_value == NULL)
    {
      g_clear_pointer (&own_key, mtl_shared_text_unref);
      return FALSE;
    }

  g_tree_replace (self->metadata, own_key, own_value);
  return TRUE;
}

/**
 * mtl_tensor_file_builder_set_metadata:
 * @self: a builder
 * @key: a key, any text in UTF-8
 * @value: (nullable): its value, any text in UTF-8; %NULL removes the key
 * @error: return location for a [error@Mtl.Error]
 *
 * Sets the value of a key in the file's metadata. The metadata are written in
 * the order of the keys. Only safetensors files have metadata, and some readers
 * require the key `format` with the value `pt`.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @key or @value is not UTF-8
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_set_metadata (MtlTensorFileBuilder  *self,
                                      const char            *key,
                                      const char            *value,
                                      GError               **error)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), FALSE);
  g_return_val_if_fail (key != NULL, FALSE);

  if (!check_text ("The key", key, error)
      || (value != NULL && !check_text ("The metadata's value", value, error)))
    return FALSE;

  if (value != NULL)
    return replace_metadata (self, key, value, error);

  g_tree_remove (self->metadata, key);
  return TRUE;
}

/**
 * mtl_tensor_file_builder_set_format: (set-property format)
 * @self: a builder
 * @format: the format, %MTL_TENSOR_FILE_FORMAT_SAFETENSORS,
 *   %MTL_TENSOR_FILE_FORMAT_NPY or %MTL_TENSOR_FILE_FORMAT_AUTO
 *
 * Sets the format of the file, whatever its name. With
 * %MTL_TENSOR_FILE_FORMAT_AUTO, the default, the ending of the name decides, in
 * upper or lower case:
 *
 * - `.safetensors`: %MTL_TENSOR_FILE_FORMAT_SAFETENSORS
 * - `.npy`: %MTL_TENSOR_FILE_FORMAT_NPY
 * - no ending: %MTL_TENSOR_FILE_FORMAT_SAFETENSORS
 * - any other ending, such as `.npz`, `.pt`, `.gguf` or `.json`: writing is an
 *   error, because readers expect such a file to have another format
 *
 * An ending is a dot and up to 15 letters and digits, of which a letter is the
 * first; a name that begins with its only dot has none, unless it is `.npy`. So
 * `model-v1.5` has no ending, and is written as safetensors.
 *
 * A `.npy` file has exactly one tensor, whose name it does not store, and no
 * metadata.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_set_format (MtlTensorFileBuilder *self,
                                    MtlTensorFileFormat   format)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));

  if (self->format == format)
    return;

  self->format = format;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_FORMAT]);
}

/**
 * mtl_tensor_file_builder_get_format: (get-property format)
 * @self: a builder
 *
 * Gets the format of the file.
 *
 * Returns: the format; %MTL_TENSOR_FILE_FORMAT_AUTO if none was set
 *
 * Since: 1.0
 */
MtlTensorFileFormat
mtl_tensor_file_builder_get_format (MtlTensorFileBuilder *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), MTL_TENSOR_FILE_FORMAT_AUTO);

  return self->format;
}

/**
 * mtl_tensor_file_builder_set_order: (set-property order)
 * @self: a builder
 * @order: the order
 *
 * Sets the order of the tensors in the file.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_set_order (MtlTensorFileBuilder *self,
                                   MtlTensorFileOrder    order)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));

  if (self->order == order)
    return;

  self->order = order;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_ORDER]);
}

/**
 * mtl_tensor_file_builder_get_order: (get-property order)
 * @self: a builder
 *
 * Gets the order of the tensors in the file.
 *
 * Returns: the order; %MTL_TENSOR_FILE_ORDER_ALIGNED if none was set
 *
 * Since: 1.0
 */
MtlTensorFileOrder
mtl_tensor_file_builder_get_order (MtlTensorFileBuilder *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), MTL_TENSOR_FILE_ORDER_ALIGNED);

  return self->order;
}

/**
 * mtl_tensor_file_builder_set_alignment: (set-property alignment)
 * @self: a builder
 * @alignment: a power of two up to 64 MiB, in bytes, or 0
 *
 * Sets the alignment of the first tensor in the file. The tensors after it
 * follow without gaps, so their alignment depends on
 * [property@Mtl.TensorFileBuilder:order].
 *
 * With 0, the alignment is 64 bytes, or 16 KiB in safetensors files with 1 MiB
 * of data or more. 16 KiB is the largest page size, so a GPU can use each
 * tensor of the mapped file in place. The largest alignment of a `.npy` file is
 * 64 KiB. By default, NumPy refuses headers of more than 10,000 bytes.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_set_alignment (MtlTensorFileBuilder *self,
                                       guint                 alignment)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));
  g_return_if_fail (alignment <= MAX_ALIGNMENT && (alignment & (alignment - 1)) == 0);

  if (self->alignment == alignment)
    return;

  self->alignment = alignment;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_ALIGNMENT]);
}

/**
 * mtl_tensor_file_builder_get_alignment: (get-property alignment)
 * @self: a builder
 *
 * Gets the alignment of the first tensor in the file.
 *
 * Returns: the alignment in bytes; 0 if none was set
 *
 * Since: 1.0
 */
guint
mtl_tensor_file_builder_get_alignment (MtlTensorFileBuilder *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), 0);

  return self->alignment;
}

/**
 * mtl_tensor_file_builder_set_sync: (set-property sync)
 * @self: a builder
 * @sync: whether to wait for the disk
 *
 * Sets whether writing waits until the file is on the disk, which it does by
 * default. Most of the time of writing a large file is spent on this.
 *
 * Without it, the file is in its place as soon as the system has its bytes, and
 * all programs see it; the system writes it to the disk when it likes. A crash
 * of the program loses nothing. If the whole system crashes or the power fails
 * within the next minute or so, both the new file and the old one that it has
 * replaced may be lost: the file may be empty, or have zeros in it. Errors of
 * the disk after that are not reported either.
 *
 * Since: 1.0
 */
void
mtl_tensor_file_builder_set_sync (MtlTensorFileBuilder *self,
                                  gboolean              sync)
{
  g_return_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self));

  sync = sync != FALSE;
  if (self->sync == sync)
    return;

  self->sync = sync;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_SYNC]);
}

/**
 * mtl_tensor_file_builder_get_sync: (get-property sync)
 * @self: a builder
 *
 * Gets whether writing waits until the file is on the disk.
 *
 * Returns: %TRUE if it does, as by default
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_builder_get_sync (MtlTensorFileBuilder *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_BUILDER (self), TRUE);

  return self->sync;
}
