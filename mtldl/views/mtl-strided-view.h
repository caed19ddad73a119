/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#if !defined (MTLDL_INSIDE) && !defined (MTLDL_COMPILATION)
#error "Only <mtldl/mtldl.h> can be included directly."
#endif

#include "mtl-buffer.h"
#include "mtl-dtype.h"
#include "mtl-statistics.h"
#include "mtl-strided-layout.h"

G_BEGIN_DECLS

#define MTL_TYPE_STRIDED_VIEW (mtl_strided_view_get_type ())

MTL_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (MtlStridedView, mtl_strided_view, MTL, STRIDED_VIEW, GObject)

MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new              (MtlBuffer         *buffer,
                                                   MtlStridedLayout  *layout,
                                                   MtlDType           dtype,
                                                   gsize              byte_offset,
                                                   GError           **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_zeros        (MtlDevice       *device,
                                                   MtlDType         dtype,
                                                   const gint64    *shape,
                                                   gsize            n_dims,
                                                   MtlStorageMode   storage_mode,
                                                   GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_uninitialized (MtlDevice       *device,
                                                    MtlDType         dtype,
                                                    const gint64    *shape,
                                                    gsize            n_dims,
                                                    MtlStorageMode   storage_mode,
                                                    GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_filled (MtlDevice       *device,
                                             MtlDType         dtype,
                                             const gint64    *shape,
                                             gsize            n_dims,
                                             double           value,
                                             MtlStorageMode   storage_mode,
                                             GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_arange (MtlDevice       *device,
                                             MtlDType         dtype,
                                             double           start,
                                             double           stop,
                                             double           step,
                                             MtlStorageMode   storage_mode,
                                             GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_arange_int64 (MtlDevice       *device,
                                                   MtlDType         dtype,
                                                   gint64           start,
                                                   gint64           stop,
                                                   gint64           step,
                                                   MtlStorageMode   storage_mode,
                                                   GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_from_doubles (const double  *values,
                                                   gsize          n_values,
                                                   MtlDType       dtype,
                                                   const gint64  *shape,
                                                   gsize          n_dims,
                                                   GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_from_bytes   (GBytes        *bytes,
                                                   MtlDType       dtype,
                                                   const gint64  *shape,
                                                   gsize          n_dims,
                                                   GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_from_bytes_with_byte_strides (GBytes        *bytes,
                                                                   MtlDType       dtype,
                                                                   const gint64  *shape,
                                                                   gsize          n_dims,
                                                                   const gint64  *byte_strides,
                                                                   gsize          n_strides,
                                                                   GError       **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_for_data     (gpointer         data,
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
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_from_variant (GVariant      *values,
                                                   MtlDType       dtype,
                                                   const gint64  *shape,
                                                   gsize          n_dims,
                                                   GError       **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_from_metal_tensor (gpointer   tensor,
                                                        GError   **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_new_zeros_like         (MtlStridedView  *other,
                                                         GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;

MTL_AVAILABLE_IN_1_0
MtlStridedLayout *mtl_strided_view_get_layout           (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
MtlBuffer        *mtl_strided_view_get_buffer           (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gsize             mtl_strided_view_get_byte_offset      (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
MtlDType          mtl_strided_view_get_dtype            (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
guint             mtl_strided_view_get_lanes            (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_strided_view_is_padded            (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
MtlDevice        *mtl_strided_view_get_device           (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_strided_view_is_host_accessible   (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_strided_view_is_read_only         (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_strided_view_equal                (MtlStridedView *self,
                                                         MtlStridedView *other);
MTL_AVAILABLE_IN_1_0
gboolean          mtl_strided_view_overlaps             (MtlStridedView *self,
                                                         MtlStridedView *other);
MTL_AVAILABLE_IN_1_0
guint             mtl_strided_view_hash                 (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gpointer          mtl_strided_view_get_data             (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
guint64           mtl_strided_view_get_address          (MtlStridedView *self);

MTL_AVAILABLE_IN_1_0
guint         mtl_strided_view_get_n_dims        (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_view_get_volume        (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
gboolean      mtl_strided_view_is_empty          (MtlStridedView *self);
MTL_AVAILABLE_IN_1_0
const gint64 *mtl_strided_view_get_shape         (MtlStridedView *self,
                                                  gsize          *n_dims);
MTL_AVAILABLE_IN_1_0
const gint64 *mtl_strided_view_get_strides       (MtlStridedView *self,
                                                  gsize          *n_dims);
MTL_AVAILABLE_IN_1_0
gint64        mtl_strided_view_get_extent        (MtlStridedView  *self,
                                                  int              axis,
                                                  GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean      mtl_strided_view_is_contiguous     (MtlStridedView *self,
                                                  MtlOrder        order);

MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_reshape      (MtlStridedView  *self,
                                               const gint64    *shape,
                                               gsize            n_dims,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_flatten      (MtlStridedView  *self,
                                               int              first,
                                               int              last,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_permute      (MtlStridedView  *self,
                                               const int       *axes,
                                               gsize            n_axes,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_transpose    (MtlStridedView *self) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_swap_axes    (MtlStridedView  *self,
                                               int              axis_a,
                                               int              axis_b,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_squeeze      (MtlStridedView *self) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_squeeze_axes (MtlStridedView  *self,
                                               const int       *axes,
                                               gsize            n_axes,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_unsqueeze    (MtlStridedView  *self,
                                               const int       *axes,
                                               gsize            n_axes,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_broadcast_to (MtlStridedView  *self,
                                               const gint64    *shape,
                                               gsize            n_dims,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_narrow       (MtlStridedView  *self,
                                               int              axis,
                                               gint64           start,
                                               gint64           stop,
                                               gint64           step,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_select       (MtlStridedView  *self,
                                               int              axis,
                                               gint64           index,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_flip         (MtlStridedView  *self,
                                               int              axis,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_slice        (MtlStridedView  *self,
                                               const MtlSlice  *slices,
                                               gsize            n_slices,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_slice_string (MtlStridedView  *self,
                                               const char      *string,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_reinterpret  (MtlStridedView  *self,
                                               MtlDType         dtype,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_select_real  (MtlStridedView  *self,
                                               GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_select_imaginary (MtlStridedView  *self,
                                                   GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_as_read_only (MtlStridedView *self) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_close        (MtlStridedView  *self,
                                               GError         **error);

MTL_AVAILABLE_IN_1_0
gpointer        mtl_strided_view_to_metal_tensor (MtlStridedView       *self,
                                                  MtlMetalTensorUsage   usage,
                                                  GError              **error);

MTL_AVAILABLE_IN_1_0
double    mtl_strided_view_get_double  (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gint64    mtl_strided_view_get_int64   (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
guint64   mtl_strided_view_get_uint64  (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_get_complex (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        double          *re,
                                        double          *im,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_set_double  (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        double           value,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_set_int64   (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        gint64           value,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_set_uint64  (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        guint64          value,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_set_complex (MtlStridedView  *self,
                                        const gint64    *indices,
                                        gsize            n_indices,
                                        double           re,
                                        double           im,
                                        GError         **error);

MTL_AVAILABLE_IN_1_0
double   *mtl_strided_view_get_doubles (MtlStridedView  *self,
                                        gsize           *n_values,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gint64   *mtl_strided_view_get_int64s  (MtlStridedView  *self,
                                        gsize           *n_values,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_set_doubles (MtlStridedView  *self,
                                        const double    *values,
                                        gsize            n_values,
                                        GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean  mtl_strided_view_set_int64s  (MtlStridedView  *self,
                                        const gint64    *values,
                                        gsize            n_values,
                                        GError         **error);

MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_fill          (MtlStridedView  *self,
                                                GBytes          *element,
                                                GCancellable    *cancellable,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_fill_double   (MtlStridedView  *self,
                                                double           value,
                                                GCancellable    *cancellable,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_copy_from     (MtlStridedView  *self,
                                                MtlStridedView  *source,
                                                GCancellable    *cancellable,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_copy_scaled_from (MtlStridedView  *self,
                                                   MtlStridedView  *source,
                                                   double           scale,
                                                   double           offset,
                                                   GCancellable    *cancellable,
                                                   GError         **error);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_copy          (MtlStridedView  *self,
                                                MtlOrder         order,
                                                GCancellable    *cancellable,
                                                GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_to_contiguous (MtlStridedView  *self,
                                                GCancellable    *cancellable,
                                                GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_to_dtype      (MtlStridedView  *self,
                                                MtlDType         dtype,
                                                MtlOrder         order,
                                                GCancellable    *cancellable,
                                                GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_to_device     (MtlStridedView  *self,
                                                MtlDevice       *device,
                                                MtlStorageMode   storage_mode,
                                                GCancellable    *cancellable,
                                                GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_array_equal   (MtlStridedView  *self,
                                                MtlStridedView  *other,
                                                MtlCompareFlags  flags,
                                                GCancellable    *cancellable,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_all_close     (MtlStridedView  *self,
                                                MtlStridedView  *other,
                                                double           rtol,
                                                double           atol,
                                                MtlCompareFlags  flags,
                                                GCancellable    *cancellable,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
MtlStatistics  *mtl_strided_view_compute_statistics      (MtlStridedView         *self,
                                                          GCancellable           *cancellable,
                                                          GFileProgressCallback   progress,
                                                          gpointer                progress_data,
                                                          GError                **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
guint64        *mtl_strided_view_compute_histogram   (MtlStridedView  *self,
                                                      double           low,
                                                      double           high,
                                                      gsize            n_bins,
                                                      gsize           *n_counts,
                                                      GCancellable    *cancellable,
                                                      GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_reduce   (MtlStridedView  *self,
                                           MtlReduction     reduction,
                                           const int       *axes,
                                           gsize            n_axes,
                                           GCancellable    *cancellable,
                                           GError         **error)
  G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
GBytes         *mtl_strided_view_get_bytes     (MtlStridedView  *self,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
GBytes         *mtl_strided_view_dup_bytes     (MtlStridedView  *self,
                                                GCancellable    *cancellable,
                                                GError         **error);
MTL_AVAILABLE_IN_1_0
char           *mtl_strided_view_format        (MtlStridedView *self,
                                                gsize           max_items);
MTL_AVAILABLE_IN_1_0
char           *mtl_strided_view_to_string     (MtlStridedView *self);

/* Asynchronous operations with progress. */
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_fill_async           (MtlStridedView        *self,
                                                       GBytes                *element,
                                                       GCancellable          *cancellable,
                                                       GFileProgressCallback  progress,
                                                       gpointer               progress_data,
                                                       GDestroyNotify         progress_destroy,
                                                       GAsyncReadyCallback    callback,
                                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_fill_finish          (MtlStridedView  *self,
                                                       GAsyncResult    *result,
                                                       GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_fill_double_async    (MtlStridedView        *self,
                                                       double                 value,
                                                       GCancellable          *cancellable,
                                                       GFileProgressCallback  progress,
                                                       gpointer               progress_data,
                                                       GDestroyNotify         progress_destroy,
                                                       GAsyncReadyCallback    callback,
                                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_fill_double_finish   (MtlStridedView  *self,
                                                       GAsyncResult    *result,
                                                       GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_copy_from_async      (MtlStridedView        *self,
                                                       MtlStridedView        *source,
                                                       GCancellable          *cancellable,
                                                       GFileProgressCallback  progress,
                                                       gpointer               progress_data,
                                                       GDestroyNotify         progress_destroy,
                                                       GAsyncReadyCallback    callback,
                                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_copy_from_finish     (MtlStridedView  *self,
                                                       GAsyncResult    *result,
                                                       GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_copy_scaled_from_async (MtlStridedView        *self,
                                                         MtlStridedView        *source,
                                                         double                 scale,
                                                         double                 offset,
                                                         GCancellable          *cancellable,
                                                         GFileProgressCallback  progress,
                                                         gpointer               progress_data,
                                                         GDestroyNotify         progress_destroy,
                                                         GAsyncReadyCallback    callback,
                                                         gpointer               user_data);
MTL_AVAILABLE_IN_1_0
gboolean        mtl_strided_view_copy_scaled_from_finish (MtlStridedView  *self,
                                                          GAsyncResult    *result,
                                                          GError         **error);
MTL_AVAILABLE_IN_1_0
void mtl_strided_view_compute_statistics_async (MtlStridedView        *self,
                                                GCancellable          *cancellable,
                                                GFileProgressCallback  progress,
                                                gpointer               progress_data,
                                                GDestroyNotify         progress_destroy,
                                                GAsyncReadyCallback    callback,
                                                gpointer               user_data);
MTL_AVAILABLE_IN_1_0
MtlStatistics  *mtl_strided_view_compute_statistics_finish (MtlStridedView  *self,
                                                            GAsyncResult    *result,
                                                            GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_compute_histogram_async  (MtlStridedView        *self,
                                                           double                 low,
                                                           double                 high,
                                                           gsize                  n_bins,
                                                           GCancellable          *cancellable,
                                                           GFileProgressCallback  progress,
                                                           gpointer               progress_data,
                                                           GDestroyNotify         progress_destroy,
                                                           GAsyncReadyCallback    callback,
                                                           gpointer               user_data);
MTL_AVAILABLE_IN_1_0
guint64        *mtl_strided_view_compute_histogram_finish (MtlStridedView  *self,
                                                           GAsyncResult    *result,
                                                           gsize           *n_counts,
                                                           GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_to_contiguous_async  (MtlStridedView        *self,
                                                       GCancellable          *cancellable,
                                                       GFileProgressCallback  progress,
                                                       gpointer               progress_data,
                                                       GDestroyNotify         progress_destroy,
                                                       GAsyncReadyCallback    callback,
                                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_to_contiguous_finish (MtlStridedView  *self,
                                                       GAsyncResult    *result,
                                                       GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_to_dtype_async       (MtlStridedView        *self,
                                                       MtlDType               dtype,
                                                       MtlOrder               order,
                                                       GCancellable          *cancellable,
                                                       GFileProgressCallback  progress,
                                                       gpointer               progress_data,
                                                       GDestroyNotify         progress_destroy,
                                                       GAsyncReadyCallback    callback,
                                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_to_dtype_finish      (MtlStridedView  *self,
                                                       GAsyncResult    *result,
                                                       GError         **error);
MTL_AVAILABLE_IN_1_0
void            mtl_strided_view_to_device_async      (MtlStridedView        *self,
                                                       MtlDevice             *device,
                                                       MtlStorageMode         storage_mode,
                                                       GCancellable          *cancellable,
                                                       GFileProgressCallback  progress,
                                                       gpointer               progress_data,
                                                       GDestroyNotify         progress_destroy,
                                                       GAsyncReadyCallback    callback,
                                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_to_device_finish     (MtlStridedView  *self,
                                                       GAsyncResult    *result,
                                                       GError         **error);

MTL_AVAILABLE_IN_1_0
void mtl_strided_view_copy_async (MtlStridedView        *self,
                                  MtlOrder               order,
                                  GCancellable          *cancellable,
                                  GFileProgressCallback  progress,
                                  gpointer               progress_data,
                                  GDestroyNotify         progress_destroy,
                                  GAsyncReadyCallback    callback,
                                  gpointer               user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_copy_finish (MtlStridedView  *self,
                                              GAsyncResult    *result,
                                              GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void mtl_strided_view_dup_bytes_async (MtlStridedView        *self,
                                       GCancellable          *cancellable,
                                       GFileProgressCallback  progress,
                                       gpointer               progress_data,
                                       GDestroyNotify         progress_destroy,
                                       GAsyncReadyCallback    callback,
                                       gpointer               user_data);
MTL_AVAILABLE_IN_1_0
GBytes *mtl_strided_view_dup_bytes_finish (MtlStridedView  *self,
                                           GAsyncResult    *result,
                                           GError         **error) G_GNUC_WARN_UNUSED_RESULT;
MTL_AVAILABLE_IN_1_0
void mtl_strided_view_array_equal_async (MtlStridedView      *self,
                                         MtlStridedView      *other,
                                         MtlCompareFlags      flags,
                                         GCancellable        *cancellable,
                                         GAsyncReadyCallback  callback,
                                         gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_strided_view_array_equal_finish (MtlStridedView  *self,
                                              GAsyncResult    *result,
                                              GError         **error);
MTL_AVAILABLE_IN_1_0
void mtl_strided_view_all_close_async (MtlStridedView      *self,
                                       MtlStridedView      *other,
                                       double               rtol,
                                       double               atol,
                                       MtlCompareFlags      flags,
                                       GCancellable        *cancellable,
                                       GAsyncReadyCallback  callback,
                                       gpointer             user_data);
MTL_AVAILABLE_IN_1_0
gboolean mtl_strided_view_all_close_finish (MtlStridedView  *self,
                                            GAsyncResult    *result,
                                            GError         **error);
MTL_AVAILABLE_IN_1_0
void mtl_strided_view_reduce_async (MtlStridedView      *self,
                                    MtlReduction         reduction,
                                    const int           *axes,
                                    gsize                n_axes,
                                    GCancellable        *cancellable,
                                    GAsyncReadyCallback  callback,
                                    gpointer             user_data);
MTL_AVAILABLE_IN_1_0
MtlStridedView *mtl_strided_view_reduce_finish (
    MtlStridedView *self, GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
