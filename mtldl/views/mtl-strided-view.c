/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-strided-view-private.h"

#include "mtl-bindings-private.h"
#include "mtl-device-private.h"
#include "mtl-enum-types.h"
#include "mtl-error-private.h"
#include "mtl-placed-elements-private.h"
#include "mtl-number-private.h"
#include "mtl-spare-objects-private.h"
#include "mtl-strided-format-private.h"
#include "mtl-strided-layout-private.h"

/**
 * MtlStridedView:
 *
 * A tensor: memory, the layout of its elements, and their type.
 *
 * A view describes memory and is immutable until it is closed; the contents of
 * the memory may change. Operations that return another view share the memory and keep it
 * alive. Only functions that say so copy elements, such as
 * [method@Mtl.StridedView.copy].
 *
 * Views of the same memory may be used from any thread. If one thread writes
 * while another reads, the program must synchronize them, as with any memory.
 * Elements smaller than a byte share it with their neighbors, so writing one of
 * them rewrites the others.
 *
 * ```c
 * const gint64 shape[] = { 2, 3 };
 * const double values[] = { 1, 2, 3, 4, 5, 6 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_from_doubles (values, 6, MTL_DTYPE_FLOAT32, shape, 2, error);
 * g_autoptr (MtlStridedView) column = NULL;
 *
 * if (view == NULL)
 *   return FALSE;
 *
 * // The last column, in the same memory.
 * column = mtl_strided_view_slice_string (view, ":, -1", error);
 * if (column == NULL || !mtl_strided_view_fill_double (column, 0, NULL, error))
 *   return FALSE;
 *
 * g_assert_cmpfloat (mtl_strided_view_get_double (view, (gint64[]) { 1, 2 }, 2, NULL), ==, 0);
 * ```
 *
 * Since: 1.0
 */

enum
{
  PROP_0,
  PROP_BUFFER,
  PROP_BYTE_OFFSET,
  PROP_LAYOUT,
  PROP_DTYPE,
  PROP_LANES,
  PROP_PADDED,
  PROP_DEVICE,
  PROP_HOST_ACCESSIBLE,
  PROP_READ_ONLY,
  PROP_N_DIMS,
  PROP_VOLUME,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (MtlStridedView, mtl_strided_view, G_TYPE_OBJECT)

static void
mtl_strided_view_finalize (GObject *object)
{
  MtlStridedView *self = MTL_STRIDED_VIEW (object);

  mtl_layout_clear (&self->layout);
  g_clear_object (&self->layout_object);
  g_clear_object (&self->buffer);
  g_clear_pointer (&self->memory, mtl_memory_unref);

  G_OBJECT_CLASS (mtl_strided_view_parent_class)->finalize (object);
}

/* Gets the buffer of the view, or creates one for all the memory. */
MtlBuffer *
mtl_strided_view_ensure_buffer (MtlStridedView *self)
{
  MtlBuffer *buffer = g_atomic_pointer_get (&self->buffer);
  MtlBuffer *made;

  if (buffer != NULL)
    return buffer;

  made = mtl_buffer_new_for_memory (mtl_memory_ref (self->memory));
  if (g_atomic_pointer_compare_and_exchange (&self->buffer, NULL, made))
    return made;

  g_object_unref (made);
  return g_atomic_pointer_get (&self->buffer);
}

gsize
mtl_strided_view_get_offset_in_buffer (MtlStridedView *self)
{
  MtlBuffer *buffer = g_atomic_pointer_get (&self->buffer);

  return self->byte_offset - (buffer != NULL ? buffer->offset : 0);
}

/* Gets the layout's object, or creates it. */
MtlStridedLayout *
mtl_strided_view_ensure_layout (MtlStridedView *self)
{
  MtlStridedLayout *object = g_atomic_pointer_get (&self->layout_object);
  MtlStridedLayout *made;
  MtlLayout layout;

  if (object != NULL)
    return object;

  mtl_layout_copy (&self->layout, &layout);
  made = mtl_strided_layout_new_take (&layout);
  if (g_atomic_pointer_compare_and_exchange (&self->layout_object, NULL, made))
    return made;

  g_object_unref (made);
  return g_atomic_pointer_get (&self->layout_object);
}

static void
mtl_strided_view_get_property (GObject    *object,
                               guint       prop_id,
                               GValue     *value,
                               GParamSpec *pspec)
{
  MtlStridedView *self = MTL_STRIDED_VIEW (object);

  switch (prop_id)
    {
    case PROP_BUFFER:
      g_value_set_object (value, mtl_strided_view_ensure_buffer (self));
      break;
    case PROP_BYTE_OFFSET:
      g_value_set_uint64 (value, mtl_strided_view_get_offset_in_buffer (self));
      break;
    case PROP_LAYOUT:
      g_value_set_object (value, mtl_strided_view_ensure_layout (self));
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, mtl_element_type_get_dtype (self->type));
      break;
    case PROP_LANES:
      g_value_set_uint (value, self->type.lanes);
      break;
    case PROP_PADDED:
      g_value_set_boolean (value, self->type.padded);
      break;
    case PROP_DEVICE:
      g_value_set_object (value, mtl_memory_get_device (self->memory));
      break;
    case PROP_HOST_ACCESSIBLE:
      g_value_set_boolean (value, mtl_memory_is_host_accessible (self->memory));
      break;
    case PROP_READ_ONLY:
      g_value_set_boolean (value, self->read_only);
      break;
    case PROP_N_DIMS:
      g_value_set_uint (value, self->layout.n_dims);
      break;
    case PROP_VOLUME:
      g_value_set_int64 (value, mtl_layout_get_volume (&self->layout));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
mtl_strided_view_class_init (MtlStridedViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = mtl_strided_view_finalize;
  object_class->get_property = mtl_strided_view_get_property;

  /**
   * MtlStridedView:buffer: (getter get_buffer)
   *
   * The buffer that holds the elements.
   *
   * Since: 1.0
   */
  props[PROP_BUFFER] = g_param_spec_object ("buffer", NULL, NULL, MTL_TYPE_BUFFER, flags);

  /**
   * MtlStridedView:byte-offset: (getter get_byte_offset)
   *
   * The position of element offset 0 in the buffer, in bytes.
   *
   * Since: 1.0
   */
  props[PROP_BYTE_OFFSET] =
    g_param_spec_uint64 ("byte-offset", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * MtlStridedView:layout: (getter get_layout)
   *
   * The layout of the elements.
   *
   * Since: 1.0
   */
  props[PROP_LAYOUT] =
    g_param_spec_object ("layout", NULL, NULL, MTL_TYPE_STRIDED_LAYOUT, flags);

  /**
   * MtlStridedView:dtype: (getter get_dtype)
   *
   * The element type, or %MTL_DTYPE_OTHER if the library has no name for it.
   *
   * Since: 1.0
   */
  props[PROP_DTYPE] =
    g_param_spec_enum ("dtype", NULL, NULL, MTL_TYPE_DTYPE, MTL_DTYPE_OTHER, flags);

  /**
   * MtlStridedView:lanes: (getter get_lanes)
   *
   * The number of lanes in an element, which is 1 unless it is a vector.
   *
   * Since: 1.0
   */
  props[PROP_LANES] = g_param_spec_uint ("lanes", NULL, NULL, 0, G_MAXUINT, 0, flags);

  /**
   * MtlStridedView:padded: (getter is_padded)
   *
   * Whether each element of fewer than 8 bits takes a whole byte.
   *
   * Since: 1.0
   */
  props[PROP_PADDED] = g_param_spec_boolean ("padded", NULL, NULL, FALSE, flags);

  /**
   * MtlStridedView:device: (getter get_device)
   *
   * The device that the memory belongs to.
   *
   * Since: 1.0
   */
  props[PROP_DEVICE] = g_param_spec_object ("device", NULL, NULL, MTL_TYPE_DEVICE, flags);

  /**
   * MtlStridedView:host-accessible: (getter is_host_accessible)
   *
   * Whether the host can access the memory.
   *
   * Since: 1.0
   */
  props[PROP_HOST_ACCESSIBLE] =
    g_param_spec_boolean ("host-accessible", NULL, NULL, FALSE, flags);

  /**
   * MtlStridedView:read-only: (getter is_read_only)
   *
   * Whether writes through this view are refused.
   *
   * Since: 1.0
   */
  props[PROP_READ_ONLY] = g_param_spec_boolean ("read-only", NULL, NULL, FALSE, flags);

  /**
   * MtlStridedView:n-dims: (getter get_n_dims)
   *
   * The number of dimensions, 0 to 64.
   *
   * Since: 1.0
   */
  props[PROP_N_DIMS] = g_param_spec_uint ("n-dims", NULL, NULL, 0, G_MAXUINT, 0, flags);

  /**
   * MtlStridedView:volume: (getter get_volume)
   *
   * The number of elements.
   *
   * Since: 1.0
   */
  props[PROP_VOLUME] =
    g_param_spec_int64 ("volume", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

/* The shape is (0,). */
static void
become_empty (MtlStridedView *self)
{
  self->byte_offset = 0;
  self->read_only = FALSE;
  self->memory = mtl_memory_get_empty ();
  self->type = mtl_element_type_new (MTL_DTYPE_UINT8);
  mtl_layout_init (&self->layout, 1, self->type.bits, 0);
  mtl_layout_shape (&self->layout)[0] = 0;
  mtl_layout_strides (&self->layout)[0] = 1;
}

static void
mtl_strided_view_init (MtlStridedView *self)
{
  become_empty (self);
}

static MtlSpareObjects spare_views;

gboolean
mtl_strided_view_release (MtlStridedView *self,
                          gboolean        may_run_others)
{
  MtlMemory *memory;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);

  if (!mtl_object_is_unattached (self))
    {
      if (may_run_others)
        g_object_unref (self);
      return may_run_others;
    }

  if (!may_run_others
      && (self->buffer != NULL || self->layout_object != NULL
          || !mtl_memory_unref_unless_last (self->memory)))
    return FALSE;

  memory = self->memory;
  self->memory = mtl_memory_get_empty ();
  if (may_run_others)
    {
      g_clear_object (&self->layout_object);
      g_clear_object (&self->buffer);
      mtl_memory_unref (memory);
    }

  mtl_layout_clear (&self->layout);
  mtl_spare_objects_give (&spare_views, self);
  return TRUE;
}

/* Yields instead of waiting, as closing a view takes a few instructions. */
void
mtl_strided_view_wait_for_close (MtlStridedView *self)
{
  while (g_atomic_int_get (&self->n_users) & MTL_VIEW_CLOSING)
    g_thread_yield ();
}

static gboolean
refuse_to_close (MtlStridedView  *self,
                 int              n_users,
                 GError         **error)
{
  guint n_references = g_atomic_int_get (&G_OBJECT (self)->ref_count);

  g_set_error (error, MTL_ERROR, MTL_ERROR_BUSY,
               "The view is in use: %d use%s by operations (at most 0), %u reference%s (at most 1);"
               " end these first, then close it",
               n_users, MTL_S (n_users), n_references, MTL_S (n_references));
  return FALSE;
}

static gboolean
begin_close (MtlStridedView  *self,
             GError         **error)
{
  while (!g_atomic_int_compare_and_exchange (&self->n_users, 0, MTL_VIEW_CLOSING))
    {
      int n_users = g_atomic_int_get (&self->n_users);

      if (n_users & MTL_VIEW_CLOSING)
        mtl_strided_view_wait_for_close (self);
      else if (n_users > 0)
        return refuse_to_close (self, n_users, error);
    }

  if (g_atomic_int_get (&G_OBJECT (self)->ref_count) == 1)
    return TRUE;

  g_atomic_int_add (&self->n_users, -MTL_VIEW_CLOSING);
  return refuse_to_close (self, 0, error);
}

/* Moves all that a view describes to a new one, and leaves the view empty. */
static MtlStridedView *
detach (MtlStridedView  *self,
        GError         **error)
{
  MtlStridedView *moved = mtl_spare_objects_take (&spare_views, MTL_TYPE_STRIDED_VIEW);

  if (!begin_close (self, error))
    {
      g_object_unref (moved);
      return NULL;
    }

  moved->memory = self->memory;
  moved->buffer = g_steal_pointer (&self->buffer);
  moved->layout_object = g_steal_pointer (&self->layout_object);
  moved->byte_offset = self->byte_offset;
  moved->type = self->type;
  moved->read_only = self->read_only;
  moved->layout = self->layout;
  become_empty (self);
  g_atomic_int_add (&self->n_users, -MTL_VIEW_CLOSING);
  return moved;
}

static gboolean
is_closed (MtlStridedView *self)
{
  MTL_USE_VIEW (self);
  return self->memory == mtl_memory_get_empty ()
         && mtl_element_type_equal (self->type, mtl_element_type_new (MTL_DTYPE_UINT8))
         && self->layout.n_dims == 1 && mtl_layout_shape (&self->layout)[0] == 0;
}

/**
 * mtl_strided_view_close:
 * @self: a view
 * @error: return location for an error, or %NULL
 *
 * Ends the view's use of its memory now, instead of when the view is no longer
 * referenced, which garbage-collected languages do some time later.
 *
 * The view is empty from then on: its shape is [0]. Other views of the memory,
 * and exports, keep the memory. Closing a closed view does nothing, and returns
 * %TRUE.
 *
 * This may be called from any thread. It fails if there is another reference to
 * the view; an asynchronous operation has one until its callback has returned
 * and its result is freed. It also fails while the elements are copied, filled,
 * compared, printed, summarized or exported, in another thread or when it is
 * called from a callback for their progress. A failed call leaves everything as
 * it was.
 *
 * Getters and functions that derive views do not keep a view open: in C, a
 * thread that uses a view while another may close it needs a reference to it.
 *
 * Errors:
 *
 * - %MTL_ERROR_BUSY: an operation uses the view, or others have references to
 *   it; the message has the number of both
 *
 * Returns: %TRUE if the memory is no longer in use, so that its owner has it
 *   back; %FALSE without an error if other views or exports keep it; %FALSE with
 *   @error set if the view was not closed
 *
 * Since: 1.0
 */
gboolean
mtl_strided_view_close (MtlStridedView  *self,
                        GError         **error)
{
  MtlStridedView *moved;
  MtlMemory *memory;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  moved = detach (self, error);
  if (moved == NULL)
    {
      if (!is_closed (self))
        return FALSE;

      g_clear_error (error);
      return TRUE;
    }

  memory = moved->memory;
  moved->memory = mtl_memory_get_empty ();
  g_object_unref (moved);
  if (memory == mtl_memory_get_empty ())
    return TRUE;

  if (mtl_memory_unref_unless_last (memory))
    return FALSE;

  mtl_memory_unref (memory);
  return TRUE;
}

MtlStridedView *
mtl_strided_view_new_take (MtlMemory      *memory,
                           gsize           byte_offset,
                           MtlElementType  type,
                           MtlLayout      *layout)
{
  MtlStridedView *self = mtl_spare_objects_take (&spare_views, MTL_TYPE_STRIDED_VIEW);

  self->memory = memory;
  self->byte_offset = byte_offset;
  self->type = type;
  self->read_only = memory->read_only;
  self->layout = *layout;
  return self;
}

MtlStridedView *
mtl_strided_view_derive (MtlStridedView *self,
                         MtlLayout      *layout)
{
  return mtl_strided_view_derive_as (self, self->byte_offset, self->type, layout);
}

MtlStridedView *
mtl_strided_view_derive_as (MtlStridedView *self,
                            gsize           byte_offset,
                            MtlElementType  type,
                            MtlLayout      *layout)
{
  MtlStridedView *derived = mtl_strided_view_new_take (mtl_memory_ref (self->memory), byte_offset,
                                                       type, layout);
  MtlBuffer *buffer = g_atomic_pointer_get (&self->buffer);

  derived->read_only = self->read_only;
  if (buffer != NULL)
    derived->buffer = g_object_ref (buffer);

  return derived;
}

gboolean
mtl_strided_view_check_writable (MtlStridedView  *self,
                                 GError         **error)
{
  g_autofree char *shape = NULL;

  if (!self->read_only)
    return TRUE;

  shape = mtl_dims_to_string (mtl_layout_shape (&self->layout), self->layout.n_dims);
  g_set_error (error, MTL_ERROR, MTL_ERROR_READ_ONLY,
               "The view of shape %s is read-only", shape);
  return FALSE;
}

/* The elements touch the bytes from first to end, counted from the byte offset. */
static gboolean
check_bounds (const MtlLayout  *layout,
              gint64            first,
              gint64            end,
              gsize             byte_offset,
              gsize             size,
              GError          **error)
{
  g_autofree char *string = NULL;
  gsize begin, stop;

  if (!__builtin_add_overflow (byte_offset, first, &begin)
      && !__builtin_add_overflow (byte_offset, end, &stop)
      && byte_offset <= size && stop <= size)
    return TRUE;

  string = mtl_layout_to_string (layout);
  g_set_error (error, MTL_ERROR, MTL_ERROR_OUT_OF_BOUNDS,
               "A layout of %s at byte offset %" G_GSIZE_FORMAT " reaches bytes %" G_GINT64_FORMAT
               " to %" G_GINT64_FORMAT " from there, outside the memory of %" G_GSIZE_FORMAT
               " bytes", string, byte_offset, first, end, size);
  return FALSE;
}

/* Items have the size of an element, or are bytes with one padded element. */
static gboolean
find_element_type (const MtlLayout  *layout,
                   MtlDType          dtype,
                   MtlElementType   *type,
                   GError          **error)
{
  if (!mtl_dtype_check (dtype, error))
    return FALSE;

  *type = mtl_element_type_new (dtype);
  type->padded = type->bits < 8 && layout->item_bits == 8;
  if (layout->item_bits == mtl_element_type_get_item_bits (*type))
    return TRUE;

  g_set_error (error, MTL_ERROR, MTL_ERROR_INVALID_ARGUMENT,
               "The layout has items of %u bits, but elements of type %s have %u bits",
               layout->item_bits, mtl_dtype_get_name (dtype), mtl_dtype_get_bits (dtype));
  return FALSE;
}

/**
 * mtl_strided_view_new: (constructor)
 * @buffer: the memory
 * @layout: the layout
 * @dtype: the element type
 * @byte_offset: the position of element offset 0 of @layout in @buffer, in
 *   bytes
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of a buffer and keeps the buffer alive.
 *
 * Elements of fewer than 8 bits are packed if the items of @layout have the
 * same number of bits, and padded if the items have 8 bits: see
 * [method@Mtl.StridedView.is_padded].
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, or the
 *   items of @layout are not of its size
 * - %MTL_ERROR_OUT_OF_BOUNDS: an element is not within @buffer
 * - %MTL_ERROR_OVERFLOW: the byte positions of the elements do not fit in 63
 *   bits
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new (MtlBuffer         *buffer,
                      MtlStridedLayout  *layout,
                      MtlDType           dtype,
                      gsize              byte_offset,
                      GError           **error)
{
  MtlElementType type;
  MtlStridedView *self;
  gint64 first, end;
  MtlLayout copy;
  gsize size;

  g_return_val_if_fail (MTL_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (MTL_IS_STRIDED_LAYOUT (layout), NULL);

  if (!find_element_type (&layout->layout, dtype, &type, error))
    return NULL;

  /* If the size is unknown, addresses still must not wrap around. */
  size = mtl_buffer_is_size_known (buffer) ? buffer->size : G_MAXSSIZE - buffer->offset;
  if (!mtl_layout_get_byte_bounds (&layout->layout, &first, &end, error)
      || !check_bounds (&layout->layout, first, end, byte_offset, size, error))
    return NULL;

  mtl_layout_copy (&layout->layout, &copy);
  self = mtl_strided_view_new_take (mtl_memory_ref (buffer->memory), buffer->offset + byte_offset,
                                    type, &copy);
  self->buffer = g_object_ref (buffer);
  return self;
}

/* Takes the layout, even on failure. */
MtlStridedView *
mtl_strided_view_new_dense (MtlDevice       *device,
                            MtlStorageMode   mode,
                            MtlElementType   type,
                            MtlLayout       *layout,
                            gboolean         zeroed,
                            GError         **error)
{
  g_auto (MtlLayout) taken = *layout;
  MtlMemory *memory;
  MtlStridedView *self;
  gint64 size;

  if (!mtl_layout_get_required_size (&taken, &size, error))
    return NULL;

  /* Writing an element smaller than a byte reads its neighbors first, so they
   * must be initialized. */
  memory = mtl_memory_new (device, size, mode, zeroed || taken.item_bits % 8 != 0, error);
  if (memory == NULL)
    return NULL;

  self = mtl_strided_view_new_take (memory, 0, type, &taken);
  taken.n_dims = 0;
  return self;
}

static MtlStridedView *
view_new_for_shape (MtlDevice       *device,
                    MtlDType         dtype,
                    const gint64    *shape,
                    gsize            n_dims,
                    MtlStorageMode   storage_mode,
                    gboolean         zeroed,
                    GError         **error)
{
  MtlLayout layout;

  if (!mtl_dtype_check (dtype, error)
      || !mtl_layout_new_dense (shape, n_dims, MTL_ORDER_C, mtl_dtype_get_bits (dtype),
                                &layout, error))
    return NULL;

  return mtl_strided_view_new_dense (device, storage_mode, mtl_element_type_new (dtype), &layout,
                                     zeroed, error);
}

/**
 * mtl_strided_view_new_zeros: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor of zeros, in C order.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type, an extent
 *   is negative, or there are more than 64 dimensions
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_NOT_SUPPORTED: the device does not support @storage_mode, or the
 *   library has no backend for it
 * - %MTL_ERROR_DEVICE: the device failed to clear the memory
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_zeros (MtlDevice       *device,
                            MtlDType         dtype,
                            const gint64    *shape,
                            gsize            n_dims,
                            MtlStorageMode   storage_mode,
                            GError         **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  return view_new_for_shape (device, dtype, shape, n_dims, storage_mode, TRUE, error);
}

/**
 * mtl_strided_view_new_uninitialized: (constructor)
 * @device: (nullable): a device, or %NULL for the default device, or for the
 *   host if @storage_mode is %MTL_STORAGE_MODE_HOST
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @storage_mode: the storage mode of the memory, may be
 *   %MTL_STORAGE_MODE_DEFAULT
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor like [ctor@Mtl.StridedView.new_zeros], but does not
 * initialize the elements. Write all of them before you read any.
 *
 * Errors:
 *
 * - the errors of [ctor@Mtl.StridedView.new_zeros]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_uninitialized (MtlDevice       *device,
                                    MtlDType         dtype,
                                    const gint64    *shape,
                                    gsize            n_dims,
                                    MtlStorageMode   storage_mode,
                                    GError         **error)
{
  g_return_val_if_fail (device == NULL || MTL_IS_DEVICE (device), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  return view_new_for_shape (device, dtype, shape, n_dims, storage_mode, FALSE, error);
}

static gboolean
describe_data (gsize          size,
               MtlDType       dtype,
               const gint64  *shape,
               gsize          n_dims,
               const gint64  *byte_strides,
               gsize          n_strides,
               gsize          byte_offset,
               MtlLayout     *layout,
               GError       **error)
{
  gint64 min, max, first, end;

  if (!mtl_dtype_check (dtype, error)
      || !mtl_layout_check_n_strides (byte_strides, n_strides, n_dims, error)
      || !mtl_layout_new_with_byte_strides (shape, byte_strides, n_dims,
                                            mtl_dtype_get_bits (dtype), layout, &min, &max, error))
    return FALSE;

  if (mtl_layout_bounds_to_bytes (min, max, layout->item_bits, &first, &end, error)
      && check_bounds (layout, first, end, byte_offset, size, error))
    return TRUE;

  mtl_layout_clear (layout);
  return FALSE;
}

/**
 * mtl_strided_view_new_for_data: (skip)
 * @data: (nullable): host memory; may only be %NULL if @size is 0
 * @size: the size of the memory in bytes
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @byte_strides: (array length=n_strides) (nullable): the strides in bytes, or
 *   %NULL for C order
 * @n_strides: the number of @byte_strides, which is @n_dims or 0
 * @byte_offset: the position in @data of the element whose indices are all 0,
 *   in bytes
 * @flags: whether the view is read-only; as nothing is ever copied,
 *   %MTL_BUFFER_FLAGS_NEVER_COPY makes no difference
 * @destroy: (nullable): called when the memory is no longer used, on any thread
 * @user_data: (nullable): data to pass to @destroy
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view of existing host memory, without a copy.
 *
 * If a stride is negative, elements lie before that with the indices 0, so
 * @byte_offset is not 0:
 *
 * ```c
 * // The bytes in reverse order.
 * guint8 bytes[] = { 1, 2, 3 };
 * g_autoptr (MtlStridedView) view =
 *   mtl_strided_view_new_for_data (bytes, 3, MTL_DTYPE_UINT8, (gint64[]) { 3 }, 1,
 *                                  (gint64[]) { -1 }, 1, 2, MTL_BUFFER_FLAGS_NONE, NULL, NULL,
 *                                  error);
 *
 * if (view == NULL)
 *   return FALSE;
 *
 * g_assert_cmpint (mtl_strided_view_get_int64 (view, (gint64[]) { 0 }, 1, NULL), ==, 3);
 * ```
 *
 * Elements of fewer than 8 bits are packed. @destroy is called exactly once,
 * even on failure, as with [ctor@Mtl.Buffer.new_for_data].
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type
 * - %MTL_ERROR_OUT_OF_BOUNDS: an element is not within the memory
 * - %MTL_ERROR_OVERFLOW: @size does not fit in 63 bits, or the memory would leave
 *   the address space, as at the `MAP_FAILED` of a failed `mmap()`
 * - the errors of [ctor@Mtl.StridedLayout.new_with_byte_strides]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_for_data (gpointer         data,
                               gsize            size,
                               MtlDType         dtype,
                               const gint64    *shape,
                               gsize            n_dims,
                               const gint64    *byte_strides,
                               gsize            n_strides,
                               gsize            byte_offset,
                               MtlBufferFlags   flags,
                               GDestroyNotify   destroy,
                               gpointer         user_data,
                               GError         **error)
{
  MtlMemory *memory;
  MtlLayout layout;

  g_return_val_if_fail (data != NULL || size == 0, NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (byte_strides != NULL || n_strides == 0, NULL);

  if (describe_data (size, dtype, shape, n_dims, byte_strides, n_strides, byte_offset, &layout,
                     error))
    {
      memory = mtl_memory_new_for_host (data, size, (flags & MTL_BUFFER_FLAGS_READ_ONLY) != 0,
                                        user_data, destroy, error);
      if (memory != NULL)
        return mtl_strided_view_new_take (memory, byte_offset, mtl_element_type_new (dtype),
                                          &layout);

      mtl_layout_clear (&layout);
    }

  if (destroy != NULL)
    destroy (user_data);
  return NULL;
}

static MtlStridedView *
view_new_for_bytes (GBytes        *bytes,
                    MtlDType       dtype,
                    const gint64  *shape,
                    gsize          n_dims,
                    const gint64  *byte_strides,
                    gsize          n_strides,
                    GError       **error)
{
  gsize size;
  gpointer data = (gpointer) g_bytes_get_data (bytes, &size);

  return mtl_strided_view_new_for_data (data, size, dtype, shape, n_dims, byte_strides, n_strides,
                                        0, MTL_BUFFER_FLAGS_READ_ONLY,
                                        (GDestroyNotify) g_bytes_unref, g_bytes_ref (bytes),
                                        error);
}

/**
 * mtl_strided_view_new_from_bytes: (constructor)
 * @bytes: the memory of the elements
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a read-only view of @bytes in host memory, in C order and without a
 * copy.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type
 * - %MTL_ERROR_OUT_OF_BOUNDS: an element is not within @bytes
 * - the errors of [ctor@Mtl.StridedLayout.new_dense]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_bytes (GBytes        *bytes,
                                 MtlDType       dtype,
                                 const gint64  *shape,
                                 gsize          n_dims,
                                 GError       **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);

  return view_new_for_bytes (bytes, dtype, shape, n_dims, NULL, 0, error);
}

/**
 * mtl_strided_view_new_from_bytes_with_byte_strides: (constructor)
 * @bytes: the memory of the elements
 * @dtype: the element type
 * @shape: (array length=n_dims): the extents
 * @n_dims: the number of dimensions
 * @byte_strides: (array length=n_strides): the strides, in bytes
 * @n_strides: the number of @byte_strides, which is @n_dims
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a view like [ctor@Mtl.StridedView.new_from_bytes], with other strides
 * than those of C order. For the pixels of an image, the first stride is the
 * length of a row in bytes.
 *
 * Errors:
 *
 * - %MTL_ERROR_INVALID_ARGUMENT: @dtype is not a known element type
 * - %MTL_ERROR_OUT_OF_BOUNDS: an element is not within @bytes
 * - the errors of [ctor@Mtl.StridedLayout.new_with_byte_strides]
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_from_bytes_with_byte_strides (GBytes        *bytes,
                                                   MtlDType       dtype,
                                                   const gint64  *shape,
                                                   gsize          n_dims,
                                                   const gint64  *byte_strides,
                                                   gsize          n_strides,
                                                   GError       **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (byte_strides != NULL || n_strides == 0, NULL);

  return view_new_for_bytes (bytes, dtype, shape, n_dims, byte_strides, n_strides, error);
}

/**
 * mtl_strided_view_new_zeros_like: (constructor)
 * @other: a view
 * @error: return location for a [error@Mtl.Error]
 *
 * Creates a tensor of zeros with the shape, element type, device, storage mode
 * and order of axes of @other.
 *
 * Errors:
 *
 * - %MTL_ERROR_OVERFLOW: the size does not fit in 63 bits
 * - %MTL_ERROR_NO_MEMORY: the memory cannot be allocated
 * - %MTL_ERROR_NOT_SUPPORTED: the library has no backend for the device
 *
 * Returns: (transfer full): the new view
 *
 * Since: 1.0
 */
MtlStridedView *
mtl_strided_view_new_zeros_like (MtlStridedView  *other,
                                 GError         **error)
{
  MtlLayout layout;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (other), NULL);

  if (!mtl_layout_new_dense_like (&other->layout, MTL_ORDER_K, &layout, error))
    return NULL;

  return mtl_strided_view_new_dense (mtl_memory_get_device (other->memory),
                                     other->memory->storage_mode, other->type, &layout, TRUE,
                                     error);
}

/* Text */

/* Device memory is copied to the host only if there are few elements. */
static gboolean
is_worth_showing (MtlStridedView *self,
                  gsize           max_items)
{
  return mtl_element_type_is_numeric (self->type)
         && (mtl_memory_is_host_accessible (self->memory)
             || (guint64) mtl_layout_get_volume (&self->layout) <= max_items);
}

/**
 * mtl_strided_view_format:
 * @self: a view
 * @max_items: the number of elements to show, at most 100,000; if there are
 *   more, only the first and last three along each axis are shown
 *
 * Formats the elements like NumPy prints an array, with the lanes of vectors as
 * one more axis. Numbers have as many digits as tell them from others of their
 * type. Those of bfloat16 and of floats of 8 bits or fewer have up to six, like
 * ml_dtypes prints each of them: 0.875, not 0.9. The result is only a description if the elements cannot be
 * read, if there are more than @max_items and the host cannot access them, or if
 * there is not enough memory for the text.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_strided_view_format (MtlStridedView *self,
                         gsize           max_items)
{
  g_autoptr (MtlViewUse) use G_GNUC_UNUSED = NULL;
  g_auto (MtlPlacedElements) elements = { .layout = NULL };
  g_autofree char *text = NULL;
  g_autofree char *shape = NULL;
  g_autofree char *type = NULL;

  g_return_val_if_fail (MTL_IS_STRIDED_VIEW (self), NULL);

  use = mtl_view_use_begin (self);
  if (is_worth_showing (self, max_items) && mtl_placed_elements_init_read (&elements, self, NULL)
      && mtl_placed_elements_spread_lanes (&elements, NULL))
    text = mtl_strided_format (&elements.strided, max_items);
  if (text != NULL)
    return g_steal_pointer (&text);

  shape = mtl_dims_to_string (mtl_layout_shape (&self->layout), self->layout.n_dims);
  type = mtl_element_type_to_string (self->type);
  return g_strdup_printf ("<%s %s on device (%d, %d)>", type, shape,
                          self->memory->device_type, self->memory->device_ordinal);
}

/**
 * mtl_strided_view_to_string:
 * @self: a view
 *
 * Formats the elements like [method@Mtl.StridedView.format], with at most 1000
 * of them.
 *
 * Returns: (transfer full): the text
 *
 * Since: 1.0
 */
char *
mtl_strided_view_to_string (MtlStridedView *self)
{
  return mtl_strided_view_format (self, 1000);
}
