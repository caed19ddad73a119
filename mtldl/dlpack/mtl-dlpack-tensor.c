/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-dlpack-private.h"

#include "mtl-device-private.h"
#include "mtl-enum-types.h"
#include "mtl-error.h"

/**
 * MtlDlpackTensor:
 *
 * A DLPack tensor on its way from one library to another.
 *
 * A tensor can be consumed once: by [ctor@Mtl.StridedView.new_from_dlpack], or
 * by stealing its struct. If it is never consumed, it frees the struct when it
 * is finalized.
 *
 * ```c
 * const gint64 shape[] = { 2, 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, shape, 2, error);
 * g_autoptr (MtlDlpackTensor) tensor = NULL;
 * g_autoptr (MtlStridedView) shared = NULL;
 *
 * // What goes to another library …
 * tensor = view != NULL ? mtl_strided_view_export_dlpack (view, error) : NULL;
 *
 * // … and what comes from one: a view of the same memory.
 * shared = tensor != NULL ? mtl_strided_view_new_from_dlpack (tensor, error) : NULL;
 * if (shared == NULL)
 *   return FALSE;
 *
 * g_assert_cmpuint (mtl_strided_view_get_address (shared), ==, mtl_strided_view_get_address (view));
 * ```
 *
 * Since: 1.0
 */
struct _MtlDlpackTensor
{
  GObject parent_instance;

  gpointer managed; /* atomic; NULL once consumed */
  gboolean is_legacy;
  DLDevice device;
  DLPackVersion version;
  guint64 flags;
};

enum
{
  PROP_0,
  PROP_DEVICE_TYPE,
  PROP_DEVICE_ORDINAL,
  PROP_FLAGS,
  PROP_CONSUMED,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlDlpackTensor, mtl_dlpack_tensor, G_TYPE_OBJECT)

static MtlManaged
wrap (MtlDlpackTensor *self,
      gpointer         managed)
{
  return self->is_legacy ? (MtlManaged) { .legacy = managed }
                         : (MtlManaged) { .versioned = managed };
}

void
mtl_managed_free (MtlManaged managed)
{
  mtl_dl_managed_tensor_free (managed.legacy);
  mtl_dl_managed_tensor_versioned_free (managed.versioned);
}

static void
mtl_dlpack_tensor_finalize (GObject *object)
{
  MtlDlpackTensor *self = MTL_DLPACK_TENSOR (object);

  mtl_managed_free (wrap (self, self->managed));

  G_OBJECT_CLASS (mtl_dlpack_tensor_parent_class)->finalize (object);
}

static void
mtl_dlpack_tensor_get_property (GObject    *object,
                                guint       prop_id,
                                GValue     *value,
                                GParamSpec *pspec)
{
  MtlDlpackTensor *self = MTL_DLPACK_TENSOR (object);

  switch (prop_id)
    {
    case PROP_DEVICE_TYPE:
      g_value_set_enum (value, mtl_dlpack_tensor_get_device_type (self));
      break;
    case PROP_DEVICE_ORDINAL:
      g_value_set_int (value, mtl_dlpack_tensor_get_device_ordinal (self));
      break;
    case PROP_FLAGS:
      g_value_set_uint64 (value, mtl_dlpack_tensor_get_flags (self));
      break;
    case PROP_CONSUMED:
      g_value_set_boolean (value, mtl_dlpack_tensor_is_consumed (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_dlpack_tensor_class_init (MtlDlpackTensorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_dlpack_tensor_finalize;
  object_class->get_property = mtl_dlpack_tensor_get_property;

  /**
   * MtlDlpackTensor:device-type: (getter get_device_type)
   *
   * The kind of device that the memory belongs to.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE_TYPE] =
    g_param_spec_enum ("device-type", NULL, NULL, MTL_TYPE_DEVICE_TYPE, MTL_DEVICE_TYPE_UNKNOWN,
                       flags);

  /**
   * MtlDlpackTensor:device-ordinal: (getter get_device_ordinal)
   *
   * The number of the device among those of its kind.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE_ORDINAL] =
    g_param_spec_int ("device-ordinal", NULL, NULL, G_MININT, G_MAXINT, 0, flags);

  /**
   * MtlDlpackTensor:flags: (getter get_flags)
   *
   * DLPack's flags, 0 for the legacy form.
   *
   * Since: 1.0
   */
  props[PROP_FLAGS] = g_param_spec_uint64 ("flags", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * MtlDlpackTensor:consumed: (getter is_consumed)
   *
   * Whether the tensor has been consumed.
   *
   * Since: 1.0
   */
  props[PROP_CONSUMED] = g_param_spec_boolean ("consumed", NULL, NULL, FALSE, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
mtl_dlpack_tensor_init (MtlDlpackTensor *self)
{
}

/* If the major version differs, only the deleter may be used. */
gboolean
mtl_dlpack_check_version (const DLManagedTensorVersioned  *managed,
                          GError                         **error)
{
  if (managed->version.major == DLPACK_MAJOR_VERSION)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_NOT_SUPPORTED,
               "A DLPack tensor of version %u.%u is not supported: only version %u is",
               managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
  return FALSE;
}

/**
 * mtl_dlpack_tensor_new_take: (skip)
 * @managed: (transfer full): a managed tensor, taken even on failure
 * @error: return location for a [error@Mtl.Error]
 *
 * Wraps a tensor of DLPack 1.0 or later.
 *
 * Errors:
 *
 * - %MTL_ERROR_NOT_SUPPORTED: the major version of DLPack is not 1; the deleter
 *   is called
 *
 * Returns: (transfer full): the new object
 *
 * Since: 1.0
 */
MtlDlpackTensor *
mtl_dlpack_tensor_new_take (struct DLManagedTensorVersioned  *managed,
                            GError                          **error)
{
  MtlDlpackTensor *self;

  g_return_val_if_fail (managed != NULL, NULL);

  if (!mtl_dlpack_check_version (managed, error))
    {
      mtl_dl_managed_tensor_versioned_free (managed);
      return NULL;
    }

  self = g_object_new (MTL_TYPE_DLPACK_TENSOR, NULL);
  self->managed = managed;
  self->device = managed->dl_tensor.device;
  self->version = managed->version;
  self->flags = managed->flags;
  return self;
}

/**
 * mtl_dlpack_tensor_new_take_legacy: (skip)
 * @managed: (transfer full): a managed tensor
 *
 * Wraps a tensor in the form from before DLPack 1.0.
 *
 * Returns: (transfer full): the new object
 *
 * Since: 1.0
 */
MtlDlpackTensor *
mtl_dlpack_tensor_new_take_legacy (struct DLManagedTensor *managed)
{
  MtlDlpackTensor *self;

  g_return_val_if_fail (managed != NULL, NULL);

  self = g_object_new (MTL_TYPE_DLPACK_TENSOR, NULL);
  self->managed = managed;
  self->is_legacy = TRUE;
  self->device = managed->dl_tensor.device;
  return self;
}

MtlManaged
mtl_dlpack_tensor_take (MtlDlpackTensor  *self,
                        GError          **error)
{
  gpointer managed = g_atomic_pointer_exchange (&self->managed, NULL);

  if (managed == NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_CONSUMED,
                 "The DLPack tensor of device (%d, %d) has already been consumed",
                 self->device.device_type, self->device.device_id);

  return wrap (self, managed);
}

/* Undoes mtl_dlpack_tensor_take() after a failure. */
void
mtl_dlpack_tensor_give_back (MtlDlpackTensor *self,
                             MtlManaged       managed)
{
  g_atomic_pointer_set (&self->managed,
                        self->is_legacy ? (gpointer) managed.legacy : managed.versioned);
}

static gboolean
check_form (MtlDlpackTensor  *self,
            gboolean          is_legacy,
            GError          **error)
{
  if (self->is_legacy == is_legacy)
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The DLPack tensor is in the %s form", self->is_legacy ? "legacy" : "versioned");
  return FALSE;
}

/**
 * mtl_dlpack_tensor_steal: (skip)
 * @self: a tensor of DLPack 1.0 or later
 * @error: return location for a [error@Mtl.Error]
 *
 * Consumes the tensor and returns its struct.
 *
 * Errors:
 *
 * - %MTL_ERROR_CONSUMED: the tensor has already been consumed
 * - %MTL_ERROR_INVALID_ARGUMENT: the tensor is in the legacy form
 *
 * Returns: (transfer full): the managed tensor
 *
 * Since: 1.0
 */
struct DLManagedTensorVersioned *
mtl_dlpack_tensor_steal (MtlDlpackTensor  *self,
                         GError          **error)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), NULL);

  if (!check_form (self, FALSE, error))
    return NULL;

  return mtl_dlpack_tensor_take (self, error).versioned;
}

/**
 * mtl_dlpack_tensor_steal_legacy: (skip)
 * @self: a tensor in the form from before DLPack 1.0
 * @error: return location for a [error@Mtl.Error]
 *
 * Consumes the tensor and returns its struct.
 *
 * Errors:
 *
 * - %MTL_ERROR_CONSUMED: the tensor has already been consumed
 * - %MTL_ERROR_INVALID_ARGUMENT: the tensor is in the versioned form
 *
 * Returns: (transfer full): the managed tensor
 *
 * Since: 1.0
 */
struct DLManagedTensor *
mtl_dlpack_tensor_steal_legacy (MtlDlpackTensor  *self,
                                GError          **error)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), NULL);

  if (!check_form (self, TRUE, error))
    return NULL;

  return mtl_dlpack_tensor_take (self, error).legacy;
}

/**
 * mtl_dlpack_tensor_get_device_type: (get-property device-type)
 * @self: a tensor in transit
 *
 * Gets the kind of device that the memory belongs to.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
MtlDeviceType
mtl_dlpack_tensor_get_device_type (MtlDlpackTensor *self)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), MTL_DEVICE_TYPE_UNKNOWN);

  return mtl_device_type_from_number (self->device.device_type);
}

/**
 * mtl_dlpack_tensor_get_device_ordinal: (get-property device-ordinal)
 * @self: a tensor in transit
 *
 * Gets the number of the device among those of its kind.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
int
mtl_dlpack_tensor_get_device_ordinal (MtlDlpackTensor *self)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), 0);

  return self->device.device_id;
}

/**
 * mtl_dlpack_tensor_get_version:
 * @self: a tensor in transit
 * @major: (out) (optional): return location for the major version
 * @minor: (out) (optional): return location for the minor version
 *
 * Gets the version of DLPack that the producer uses.
 *
 * For a tensor in the legacy form it is 0.0.
 *
 * Since: 1.0
 */
void
mtl_dlpack_tensor_get_version (MtlDlpackTensor *self,
                               guint           *major,
                               guint           *minor)
{
  g_return_if_fail (MTL_IS_DLPACK_TENSOR (self));

  if (major != NULL)
    *major = self->version.major;
  if (minor != NULL)
    *minor = self->version.minor;
}

/**
 * mtl_dlpack_tensor_get_flags: (get-property flags)
 * @self: a tensor in transit
 *
 * Gets DLPack's flags.
 *
 * The flags are 1 for read-only memory, 2 for a copy, and 4 for elements of
 * fewer than 8 bits that take a byte each. For a tensor in the legacy form they
 * are 0.
 *
 * Returns: the flags
 *
 * Since: 1.0
 */
guint64
mtl_dlpack_tensor_get_flags (MtlDlpackTensor *self)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), 0);

  return self->flags;
}

/**
 * mtl_dlpack_tensor_is_consumed: (get-property consumed)
 * @self: a tensor in transit
 *
 * Checks whether the tensor has been consumed.
 *
 * Returns: whether the tensor has been consumed
 *
 * Since: 1.0
 */
gboolean
mtl_dlpack_tensor_is_consumed (MtlDlpackTensor *self)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), TRUE);

  return g_atomic_pointer_get (&self->managed) == NULL;
}
