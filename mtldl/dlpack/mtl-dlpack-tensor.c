/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-dlpack-private.h"

#include "mtl-error.h"

/**
 * MtlDlpackTensor:
 *
 * A DLPack tensor on its way from one library to another.
 *
 * A tensor can be consumed once, by [ctor@Mtl.StridedView.new_from_dlpack]. If
 * it is never consumed, its memory is released when it is finalized. C libraries
 * exchange DLPack's structs instead: see [method@Mtl.StridedView.to_dlpack].
 *
 * ```c
 * const gint64 shape[] = { 2, 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_zeros (NULL, MTL_DTYPE_FLOAT32, shape, 2, MTL_STORAGE_MODE_DEFAULT,
                                 error);
 * g_autoptr (MtlDlpackTensor) tensor = NULL;
 * g_autoptr (MtlStridedView) shared = NULL;
 *
 * // What goes to another library …
 * tensor = view != NULL
 *            ? mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NONE, NULL, error) : NULL;
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

  DLManagedTensorVersioned *managed; /* atomic; NULL once consumed */
  MtlDevice *device;
  gboolean is_copied;
};

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_COPIED,
  PROP_CONSUMED,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlDlpackTensor, mtl_dlpack_tensor, G_TYPE_OBJECT)

static void
mtl_dlpack_tensor_finalize (GObject *object)
{
  MtlDlpackTensor *self = MTL_DLPACK_TENSOR (object);

  mtl_dl_managed_tensor_versioned_free (self->managed);
  g_clear_object (&self->device);

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
    case PROP_DEVICE:
      g_value_set_object (value, mtl_dlpack_tensor_get_device (self));
      break;
    case PROP_COPIED:
      g_value_set_boolean (value, mtl_dlpack_tensor_is_copied (self));
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
   * MtlDlpackTensor:device: (getter get_device)
   *
   * The device that the memory is exported for.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  /**
   * MtlDlpackTensor:copied: (getter is_copied)
   *
   * Whether the memory is a copy, made for the consumer.
   *
   * Since: 1.0
   */
  props[PROP_COPIED] = g_param_spec_boolean ("copied", NULL, NULL, FALSE, flags);

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

MtlDlpackTensor *
mtl_dlpack_tensor_new (DLManagedTensorVersioned *managed,
                       MtlDevice                *device)
{
  MtlDlpackTensor *self = g_object_new (MTL_TYPE_DLPACK_TENSOR, NULL);

  self->managed = managed;
  self->device = g_object_ref (device);
  self->is_copied = (managed->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0;
  return self;
}

DLManagedTensorVersioned *
mtl_dlpack_tensor_take (MtlDlpackTensor  *self,
                        GError          **error)
{
  DLManagedTensorVersioned *managed = g_atomic_pointer_exchange (&self->managed, NULL);

  if (managed == NULL)
    g_set_error (error, MTL_ERROR, MTL_ERROR_CONSUMED,
                 "The DLPack tensor of “%s” has already been consumed",
                 mtl_device_get_name (mtl_dlpack_tensor_get_device (self)));

  return managed;
}

/* Undoes mtl_dlpack_tensor_take() after a failure. */
void
mtl_dlpack_tensor_give_back (MtlDlpackTensor          *self,
                             DLManagedTensorVersioned *managed)
{
  g_atomic_pointer_set (&self->managed, managed);
}

/**
 * mtl_dlpack_tensor_get_device: (get-property device)
 * @self: a tensor in transit
 *
 * Gets the device that the memory is exported for.
 *
 * Returns: (transfer none): the device
 *
 * Since: 1.0
 */
MtlDevice *
mtl_dlpack_tensor_get_device (MtlDlpackTensor *self)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), NULL);

  return self->device != NULL ? self->device : mtl_device_get_host ();
}

/**
 * mtl_dlpack_tensor_is_copied: (get-property copied)
 * @self: a tensor in transit
 *
 * Checks if the memory is a copy that was made for the consumer, rather than
 * that of the view.
 *
 * Returns: %TRUE if it is a copy
 *
 * Since: 1.0
 */
gboolean
mtl_dlpack_tensor_is_copied (MtlDlpackTensor *self)
{
  g_return_val_if_fail (MTL_IS_DLPACK_TENSOR (self), FALSE);

  return self->is_copied;
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
