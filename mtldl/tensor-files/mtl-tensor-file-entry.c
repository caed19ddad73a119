/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-tensor-file-private.h"

#include "mtl-element-type-private.h"
#include "mtl-enum-types.h"

/**
 * MtlTensorFileEntry:
 *
 * The description of one tensor in a [class@Mtl.TensorFile].
 *
 * Not each tensor can be loaded: it may be text, for example, or damaged. If it
 * cannot, [method@Mtl.TensorFileEntry.get_error] returns the reason, and its name,
 * its type, its shape and its place are those that the file gives, as far as they
 * are known.
 *
 * An entry holds a reference to its file. As long as an entry is in use, the
 * file returns the same object again, so that a selection in a list finds its
 * row.
 *
 * ```c
 * g_autoptr (GFile) file = g_file_new_for_path ("model.safetensors");
 * g_autoptr (MtlTensorFile) tensors =
 *   mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_AUTO, NULL, error);
 *
 * if (tensors == NULL)
 *   return FALSE;
 *
 * for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (tensors)); i++)
 *   {
 *     g_autoptr (MtlTensorFileEntry) entry = g_list_model_get_item (G_LIST_MODEL (tensors), i);
 *
 *     g_print ("%s: %" G_GUINT64_FORMAT " bytes\n", mtl_tensor_file_entry_get_name (entry),
 *              mtl_tensor_file_entry_get_n_bytes (entry));
 *   }
 * ```
 *
 * Since: 1.0
 */

struct _MtlTensorFileEntry
{
  GObject parent_instance;

  MtlTensorFile *file;
  const MtlTensorEntry *entry; /* owned by the file */
};

enum
{
  PROP_0,
  PROP_NAME,
  PROP_DTYPE,
  PROP_TYPE_NAME,
  PROP_ERROR,
  PROP_BYTE_OFFSET,
  PROP_N_BYTES,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlTensorFileEntry, mtl_tensor_file_entry, G_TYPE_OBJECT)

static void
mtl_tensor_file_entry_finalize (GObject *object)
{
  MtlTensorFileEntry *self = MTL_TENSOR_FILE_ENTRY (object);

  g_clear_object (&self->file);

  G_OBJECT_CLASS (mtl_tensor_file_entry_parent_class)->finalize (object);
}

static void
mtl_tensor_file_entry_get_property (GObject    *object,
                                    guint       prop_id,
                                    GValue     *value,
                                    GParamSpec *pspec)
{
  MtlTensorFileEntry *self = MTL_TENSOR_FILE_ENTRY (object);

  switch (prop_id)
    {
    case PROP_NAME:
      g_value_set_string (value, self->entry->name);
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, self->entry->dtype);
      break;
    case PROP_TYPE_NAME:
      g_value_set_string (value, mtl_tensor_file_entry_get_type_name (self));
      break;
    case PROP_ERROR:
      g_value_set_boxed (value, mtl_tensor_file_entry_get_error (self));
      break;
    case PROP_BYTE_OFFSET:
      g_value_set_uint64 (value, mtl_tensor_file_entry_get_byte_offset (self));
      break;
    case PROP_N_BYTES:
      g_value_set_uint64 (value, mtl_tensor_file_entry_get_n_bytes (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_tensor_file_entry_class_init (MtlTensorFileEntryClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_tensor_file_entry_finalize;
  object_class->get_property = mtl_tensor_file_entry_get_property;

  /**
   * MtlTensorFileEntry:name: (getter get_name)
   *
   * The tensor's name.
   *
   * Since: 1.0
   */
  props[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, "", flags);

  /**
   * MtlTensorFileEntry:dtype: (getter get_dtype)
   *
   * The type of the tensor's elements, %MTL_DTYPE_OTHER if it cannot be loaded.
   *
   * Since: 1.0
   */
  props[PROP_DTYPE] = g_param_spec_enum ("dtype", NULL, NULL, MTL_TYPE_DTYPE, MTL_DTYPE_OTHER,
                                         flags);

  /**
   * MtlTensorFileEntry:type-name: (getter get_type_name)
   *
   * The name of the type of the tensor's elements, as far as it is known.
   *
   * Since: 1.0
   */
  props[PROP_TYPE_NAME] = g_param_spec_string ("type-name", NULL, NULL, "", flags);

  /**
   * MtlTensorFileEntry:error: (getter get_error)
   *
   * The reason for which the tensor cannot be loaded.
   *
   * Since: 1.0
   */
  props[PROP_ERROR] = g_param_spec_boxed ("error", NULL, NULL, G_TYPE_ERROR, flags);

  /**
   * MtlTensorFileEntry:byte-offset: (getter get_byte_offset)
   *
   * Where the tensor's bytes begin in their file, in bytes.
   *
   * Since: 1.0
   */
  props[PROP_BYTE_OFFSET] = g_param_spec_uint64 ("byte-offset", NULL, NULL, 0, G_MAXUINT64, 0,
                                                 flags);

  /**
   * MtlTensorFileEntry:n-bytes: (getter get_n_bytes)
   *
   * The size of the tensor in bytes.
   *
   * Since: 1.0
   */
  props[PROP_N_BYTES] = g_param_spec_uint64 ("n-bytes", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

/* A bare g_object_new() makes an entry that does not come from a file. */
static void
mtl_tensor_file_entry_init (MtlTensorFileEntry *self)
{
  static const gint64 no_shape[1];
  static const MtlTensorEntry nothing = { .name = "", .shape = no_shape };

  self->entry = &nothing;
}

static MtlTensorFileEntry *
entry_new (MtlTensorFile        *file,
           const MtlTensorEntry *entry)
{
  MtlTensorFileEntry *self = g_object_new (MTL_TYPE_TENSOR_FILE_ENTRY, NULL);

  self->file = g_object_ref (file);
  self->entry = entry;
  return self;
}

MtlTensorFileEntry *
mtl_tensor_file_give_entry (MtlTensorFile        *self,
                            const MtlTensorEntry *entry)
{
  const gsize position = entry - self->table->entries;
  MtlTensorFileEntry *given;

  /* Another thread may be dropping the last reference right now. Only GObject's own
   * weak references know whether it is too late. */
  mtl_fork_lock (&self->lock);
  if (self->given == NULL)
    self->given = g_try_new0 (GWeakRef, self->table->n_entries);
  /* A list has no errors. Without memory, entries are merely created again. */
  if (self->given == NULL)
    {
      mtl_fork_unlock (&self->lock);
      return entry_new (self, entry);
    }
  given = g_weak_ref_get (&self->given[position]);
  if (given == NULL)
    {
      given = entry_new (self, entry);
      g_weak_ref_set (&self->given[position], given);
    }
  mtl_fork_unlock (&self->lock);

  return given;
}

/**
 * mtl_tensor_file_entry_get_name: (get-property name)
 * @self: an entry
 *
 * Gets the tensor's name. Do not trust it: it can be any text, and is not a
 * path.
 *
 * Returns: (transfer none): the name
 *
 * Since: 1.0
 */
const char *
mtl_tensor_file_entry_get_name (MtlTensorFileEntry *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), NULL);

  return self->entry->name;
}

/**
 * mtl_tensor_file_entry_get_dtype: (get-property dtype)
 * @self: an entry
 *
 * Gets the type of the tensor's elements.
 *
 * Returns: the element type, %MTL_DTYPE_OTHER if the tensor cannot be loaded
 *
 * Since: 1.0
 */
MtlDType
mtl_tensor_file_entry_get_dtype (MtlTensorFileEntry *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), MTL_DTYPE_OTHER);

  return self->entry->dtype;
}

/**
 * mtl_tensor_file_entry_get_type_name: (get-property type-name)
 * @self: an entry
 *
 * Gets the name of the type of the tensor's elements, for people.
 *
 * For a tensor that can be loaded, that is the name of its dtype, such as
 * `float32`. If the tensor cannot be loaded, it is one of these:
 *
 * - the name of the dtype, if it is known, but something else is wrong
 * - what the file calls the type: NumPy's type string, such as `<U3`, `|S5`,
 *   `<M8[ns]`, `<f16` or `|V16`, or the name in a safetensors file. What cannot
 *   be printed is escaped, and a long name is cut
 * - `object` for Python objects, and `record` for records
 * - `file` or `folder` for a member of an archive that is no array
 * - `unknown`, if the description cannot be read
 *
 * Returns: (transfer none): the name
 *
 * Since: 1.0
 */
const char *
mtl_tensor_file_entry_get_type_name (MtlTensorFileEntry *self)
{
  const char *name;

  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), NULL);

  if (self->entry->is_refused)
    return self->entry->refusal->type_name;

  name = mtl_dtype_get_name (self->entry->dtype);
  return name != NULL ? name : MTL_TYPE_NAME_UNKNOWN;
}

/**
 * mtl_tensor_file_entry_get_error: (get-property error)
 * @self: an entry
 *
 * Gets the reason for which the tensor cannot be loaded. It is known since the
 * file was opened: the type is not supported, or something is wrong with the
 * tensor alone. That loading succeeds is not certain without an error either, see
 * [method@Mtl.TensorFile.load_view].
 *
 * The error is %MTL_ERROR_NOT_SUPPORTED, %MTL_ERROR_INVALID_DATA,
 * %MTL_ERROR_OVERFLOW, or one of [error@Gio.IOErrorEnum] if the tensor is in a
 * file that an index names and that cannot be opened.
 *
 * Returns: (transfer none) (nullable): the reason, owned by @self, %NULL if
 *   there is none
 *
 * Since: 1.0
 */
const GError *
mtl_tensor_file_entry_get_error (MtlTensorFileEntry *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), NULL);

  return self->entry->is_refused ? &self->entry->refusal->error : NULL;
}

/**
 * mtl_tensor_file_entry_get_shape:
 * @self: an entry
 * @n_dims: (out) (optional): return location for the number of dimensions
 *
 * Gets the extents, outermost axis first.
 *
 * Returns: (array length=n_dims) (transfer none) (nullable): the shape, owned by
 *   @self, %NULL if it is not known, as the tensor cannot be loaded
 *
 * Since: 1.0
 */
const gint64 *
mtl_tensor_file_entry_get_shape (MtlTensorFileEntry *self,
                                 gsize              *n_dims)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), NULL);

  if (n_dims != NULL)
    *n_dims = self->entry->n_dims;
  return self->entry->shape;
}

/**
 * mtl_tensor_file_entry_get_byte_offset: (get-property byte-offset)
 * @self: an entry
 *
 * Gets where the tensor's bytes begin, counted from the beginning of their
 * file. For a compressed array, this is where the compressed data begin, which
 * include the array's header. If the tensor cannot be loaded, the offset may be
 * that of its member in the archive, or 0 if nothing is known.
 *
 * Returns: the offset in bytes
 *
 * Since: 1.0
 */
guint64
mtl_tensor_file_entry_get_byte_offset (MtlTensorFileEntry *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), 0);

  return self->entry->begin;
}

/**
 * mtl_tensor_file_entry_get_n_bytes: (get-property n-bytes)
 * @self: an entry
 *
 * Gets the size of the tensor in bytes. A compressed array takes up fewer bytes
 * in the file. If the tensor cannot be loaded, the size is that of what the file
 * has for it, as far as it is known.
 *
 * Returns: the number of bytes
 *
 * Since: 1.0
 */
guint64
mtl_tensor_file_entry_get_n_bytes (MtlTensorFileEntry *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), 0);

  return self->entry->end - self->entry->begin;
}

/**
 * mtl_tensor_file_entry_get_file:
 * @self: an entry
 *
 * Gets the file that contains the tensor's bytes: the file that was opened, or
 * one that its index names.
 *
 * Returns: (transfer none) (nullable): the file, %NULL if none was opened
 *
 * Since: 1.0
 */
GFile *
mtl_tensor_file_entry_get_file (MtlTensorFileEntry *self)
{
  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), NULL);

  return self->file != NULL ? self->file->parts[self->entry->file].file : NULL;
}

/* A bare object has none. */
static gboolean
check_has_file (MtlTensorFileEntry  *self,
                GError             **error)
{
  if (self->file != NULL)
    return TRUE;

  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "The entry does not belong to a file");
  return FALSE;
}

/**
 * mtl_tensor_file_entry_load_view:
 * @self: an entry
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Gets a view of the tensor, like [method@Mtl.TensorFile.load_view].
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFile.load_view]
 *
 * Returns: (transfer full): the view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_tensor_file_entry_load_view (MtlTensorFileEntry  *self,
                                 GCancellable        *cancellable,
                                 GError             **error)
{
  const MtlMonitor monitor = { .cancellable = cancellable };

  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  return check_has_file (self, error)
           ? mtl_tensor_file_view_of (self->file, self->entry, &monitor, error)
           : NULL;
}

/**
 * mtl_tensor_file_entry_check:
 * @self: an entry
 * @checks: additional checks
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [error@Mtl.Error] or a [error@Gio.IOErrorEnum]
 *
 * Checks this one tensor; see [method@Mtl.TensorFile.check], which checks all
 * of them. One that cannot be loaded is only a fault with
 * %MTL_TENSOR_FILE_CHECKS_LOADABLE.
 *
 * Errors:
 *
 * - the errors of [method@Mtl.TensorFile.check]
 *
 * Returns: %TRUE if no fault was found
 *
 * Since: 1.0
 */
gboolean
mtl_tensor_file_entry_check (MtlTensorFileEntry   *self,
                             MtlTensorFileChecks   checks,
                             GCancellable         *cancellable,
                             GError              **error)
{
  const MtlMonitor monitor = { .cancellable = cancellable };

  g_return_val_if_fail (MTL_IS_TENSOR_FILE_ENTRY (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);

  return check_has_file (self, error)
         && mtl_tensor_file_check_entry (self->file, self->entry, checks, &monitor, error);
}
