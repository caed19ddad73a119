/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included several times, each time with other macros: a call of each public function that
 * can fail or allocates, which tests/bindings/test_reached.py checks. An OBJECT is a call that
 * returns one, and so on. DONE returns whether it succeeded, NUMBER only sets the error. What is
 * LASTING does without the memory, and REFUSED fails for other reasons. */

/* Buffers */
OBJECT (buffer_new, mtl_buffer_new (f->device, 64, f->mode, error))
OBJECT (buffer_new_uninitialized, mtl_buffer_new_uninitialized (f->device, 64, f->mode, error))
OBJECT (buffer_new_from_bytes,
        mtl_buffer_new_from_bytes (f->bytes, f->device, MTL_BUFFER_FLAGS_NONE, error))
OBJECT (buffer_new_for_data,
        mtl_buffer_new_for_data (f->data, sizeof f->data, f->device, MTL_BUFFER_FLAGS_NONE, NULL,
                                 NULL, error))
OBJECT (buffer_new_for_handle,
        mtl_buffer_new_for_handle (f->data, sizeof f->data, f->device, NULL, NULL, error))
OBJECT (buffer_new_mapped, mtl_buffer_new_mapped (f->file, NULL, 0, 8, NULL, error))
OBJECT (
    buffer_new_mapped_async,
    (mtl_buffer_new_mapped_async (f->file, NULL, 0, 8, G_PRIORITY_DEFAULT, NULL, take_result, f),
     mtl_buffer_new_mapped_finish (wait_for_result (f), error)))
OBJECT (buffer_dup_mapped_file, dup_mapped_file (f, error))
OBJECT (buffer_slice, mtl_buffer_slice (f->buffer, 8, 16, error))
OBJECT (buffer_copy, mtl_buffer_copy (f->buffer, NULL, error))
OBJECT (buffer_copy_async,
        (mtl_buffer_copy_async (f->buffer, NULL, take_result, f),
         mtl_buffer_copy_finish (f->buffer, wait_for_result (f), error)))
DONE (buffer_copy_from, mtl_buffer_copy_from (f->buffer, 0, f->source, 0, 32, NULL, error))
DONE (buffer_copy_from_async,
      (mtl_buffer_copy_from_async (f->buffer, 0, f->source, 0, 32, NULL, take_result, f),
       mtl_buffer_copy_from_finish (f->buffer, wait_for_result (f), error)))
DONE (buffer_fill, mtl_buffer_fill (f->buffer, 4, 8, f->pattern, NULL, error))
DONE (buffer_fill_async,
      (mtl_buffer_fill_async (f->buffer, 4, 8, f->pattern, NULL, take_result, f),
       mtl_buffer_fill_finish (f->buffer, wait_for_result (f), error)))
DONE (buffer_set_bytes, mtl_buffer_set_bytes (f->buffer, 3, f->bytes, NULL, error))
DONE (buffer_set_bytes_async,
      (mtl_buffer_set_bytes_async (f->buffer, 3, f->bytes, NULL, take_result, f),
       mtl_buffer_set_bytes_finish (f->buffer, wait_for_result (f), error)))
DONE (buffer_did_modify, mtl_buffer_did_modify (f->buffer, 4, 8, error))
DONE (buffer_synchronize, mtl_buffer_synchronize (f->buffer, NULL, error))
DONE (buffer_synchronize_async,
      (mtl_buffer_synchronize_async (f->buffer, NULL, take_result, f),
       mtl_buffer_synchronize_finish (f->buffer, wait_for_result (f), error)))
BYTES (buffer_dup_bytes, mtl_buffer_dup_bytes (f->buffer, 1, 20, NULL, error))
BYTES (buffer_dup_bytes_async,
       (mtl_buffer_dup_bytes_async (f->buffer, 1, 20, NULL, take_result, f),
        mtl_buffer_dup_bytes_finish (f->buffer, wait_for_result (f), error)))
BYTES (buffer_get_bytes, mtl_buffer_get_bytes (f->buffer, 1, 20, error))
DONE (buffer_dup_fd,
      close_fd (mtl_buffer_dup_fd (mtl_strided_view_get_buffer (f->shared), NULL, error)))
OBJECT (buffer_new_for_fd,
        mtl_buffer_new_for_fd (f->fd, 4, 8, MTL_BUFFER_FLAGS_READ_ONLY, error))
OBJECT (buffer_new_for_fd_writable,
        mtl_buffer_new_for_fd (f->fd, 4, 8, MTL_BUFFER_FLAGS_NONE, error))

/* Types, devices, events, streams */
NUMBER (dtype_from_string, mtl_dtype_from_string ("float32", error))
MEMORY (dtype_to_string, mtl_dtype_to_string (MTL_DTYPE_FLOAT32))
NUMBER (device_get, mtl_device_get (MTL_DEVICE_TYPE_CPU, 0, error))
NUMBER (device_get_by_name, mtl_device_get_by_name ("cpu:0", error))
DONE (device_list, free_list (mtl_device_list ()))
DONE (device_synchronize, mtl_device_synchronize (f->device, NULL, error))
DONE (device_synchronize_async,
      (mtl_device_synchronize_async (f->device, NULL, take_result, f),
       mtl_device_synchronize_finish (f->device, wait_for_result (f), error)))
OBJECT (event_new, mtl_event_new (mtl_device_get_host (), error))
REFUSED (event_new_for_handle, mtl_event_new_for_handle (f->data, mtl_device_get_host (), error))
DONE (event_wait, mtl_event_wait (f->event, 1, 0, NULL, error))
DONE (event_wait_async,
      (mtl_event_wait_async (f->event, 1, 0, NULL, take_result, f),
       mtl_event_wait_finish (f->event, wait_for_result (f), error)))
OBJECT (stream_new, mtl_stream_new (f->stream_device, error))
OBJECT (stream_new_for_device, mtl_stream_new_for_device (f->stream_device, error))
OBJECT (stream_new_for_handle, mtl_stream_new_for_handle (1, f->stream_device, error))
DONE (stream_wait_stream, mtl_stream_wait_stream (f->stream, f->stream, error))
DONE (stream_wait_event, refuses_event (f, mtl_stream_wait_event, error))
DONE (stream_signal_event, refuses_event (f, mtl_stream_signal_event, error))
DONE (stream_synchronize, mtl_stream_synchronize (f->stream, NULL, error))
DONE (stream_synchronize_async,
      (mtl_stream_synchronize_async (f->stream, NULL, take_result, f),
       mtl_stream_synchronize_finish (f->stream, wait_for_result (f), error)))

/* Layouts */
OBJECT (layout_new, mtl_strided_layout_new (DIMS (4, 6), DIMS (1, 4), 8, error))
OBJECT (layout_new_with_byte_strides,
        mtl_strided_layout_new_with_byte_strides (DIMS (4, 6), DIMS (2, 8), 16, error))
OBJECT (layout_new_dense, mtl_strided_layout_new_dense (DIMS (4, 6), MTL_ORDER_F, 8, error))
OBJECT (layout_new_dense_for_axes,
        mtl_strided_layout_new_dense_for_axes (DIMS (4, 6), AXES (1, 0), 8, error))
OBJECT (layout_broadcast_to, mtl_strided_layout_broadcast_to (f->layout, DIMS (2, 4, 6), error))
MEMORY (layout_dup_byte_strides,
        mtl_strided_layout_dup_byte_strides (f->layout, &f->n, error))
MEMORY (layout_dup_stride_order, mtl_strided_layout_dup_stride_order (f->layout, &f->n))
OBJECT (layout_flatten, mtl_strided_layout_flatten (f->layout, 0, 1, error))
OBJECT (layout_flatten_mask,
        mtl_strided_layout_flatten_mask (f->layout, mtl_strided_layout_get_flatten_mask (f->layout),
                                         error))
OBJECT (layout_fit_metal_tensor,
        mtl_strided_layout_fit_metal_tensor (f->layout, MTL_DTYPE_UINT8,
                                               MTL_METAL_TENSOR_USAGE_MACHINE_LEARNING, error))
OBJECT (layout_flip, mtl_strided_layout_flip (f->layout, 0, error))
NUMBER (layout_get_extent, mtl_strided_layout_get_extent (f->layout, 0, error))
NUMBER (layout_get_stride, mtl_strided_layout_get_stride (f->layout, 0, error))
NUMBER (layout_get_required_size, mtl_strided_layout_get_required_size (f->layout, error))
NUMBER (layout_get_max_compatible_item_bits,
        mtl_strided_layout_get_max_compatible_item_bits (f->layout, 64, 0, -1, error))
OBJECT (layout_narrow, mtl_strided_layout_narrow (f->layout, 0, 1, 3, 1, error))
OBJECT (layout_permute, mtl_strided_layout_permute (f->layout, AXES (1, 0), error))
OBJECT (layout_repack, mtl_strided_layout_repack (f->layout, 16, -1, error))
OBJECT (layout_reshape, mtl_strided_layout_reshape (f->layout, DIMS (24), error))
OBJECT (layout_select, mtl_strided_layout_select (f->layout, 0, 1, error))
OBJECT (layout_slice, mtl_strided_layout_slice (f->layout, &f->slice, 1, error))
OBJECT (layout_slice_string, mtl_strided_layout_slice_string (f->layout, "1:3", error))
OBJECT (layout_squeeze, mtl_strided_layout_squeeze (f->layout))
OBJECT (layout_squeeze_axes, mtl_strided_layout_squeeze_axes (f->layout, NULL, 0, error))
OBJECT (layout_swap_axes, mtl_strided_layout_swap_axes (f->layout, 0, 1, error))
OBJECT (layout_to_dense, mtl_strided_layout_to_dense (f->layout, MTL_ORDER_F, error))
MEMORY (layout_to_string, mtl_strided_layout_to_string (f->layout))
OBJECT (layout_transpose, mtl_strided_layout_transpose (f->layout))
OBJECT (layout_unsqueeze, mtl_strided_layout_unsqueeze (f->layout, AXES (0), error))

/* New views */
OBJECT (view_new, mtl_strided_view_new (f->buffer, f->layout, MTL_DTYPE_UINT8, 0, error))
OBJECT (view_new_uninitialized,
        mtl_strided_view_new_uninitialized (mtl_device_get_host (), f->dtype, DIMS (4, 6),
                                            MTL_STORAGE_MODE_DEFAULT, error))
OBJECT (view_new_zeros,
        mtl_strided_view_new_zeros (mtl_device_get_host (), f->dtype, DIMS (4, 6),
                                    MTL_STORAGE_MODE_DEFAULT, error))
OBJECT (view_new_filled,
        mtl_strided_view_new_filled (mtl_device_get_host (), f->dtype, DIMS (4, 6), 1,
                                     MTL_STORAGE_MODE_DEFAULT, error))
OBJECT (view_new_arange,
        mtl_strided_view_new_arange (mtl_device_get_host (), f->dtype, 0, 4, 0.5,
                                     MTL_STORAGE_MODE_DEFAULT, error))
OBJECT (view_new_arange_int64,
        mtl_strided_view_new_arange_int64 (mtl_device_get_host (), f->dtype, 3, 0, -1,
                                           MTL_STORAGE_MODE_DEFAULT, error))
OBJECT (view_new_for_data,
        mtl_strided_view_new_for_data (f->data, sizeof f->data, MTL_DTYPE_UINT8, DIMS (2, 3),
                                       NULL, 0, 0, MTL_BUFFER_FLAGS_NONE, NULL, NULL, error))
OBJECT (view_new_from_bytes_with_byte_strides,
        mtl_strided_view_new_from_bytes_with_byte_strides (f->bytes, MTL_DTYPE_UINT8, DIMS (2),
                                                           DIMS (2), error))
OBJECT (view_new_from_bytes,
        mtl_strided_view_new_from_bytes (f->bytes, MTL_DTYPE_UINT8, DIMS (2, 3), error))
OBJECT (view_new_from_doubles,
        mtl_strided_view_new_from_doubles (DOUBLES (1, 2, 3), f->dtype, DIMS (3), error))
DONE (view_new_from_metal_tensor, refuses_tensor (f, error))
OBJECT (view_new_from_variant,
        mtl_strided_view_new_from_variant (f->variant, f->dtype, DIMS (3), error))
OBJECT (view_new_like, mtl_strided_view_new_zeros_like (f->view, error))

OBJECT (view_new_from_variant_fds,
        mtl_strided_view_new_from_variant_fds (f->description, f->fds, error))

/* Other processes */
VARIANT (view_to_variant, mtl_strided_view_to_variant (f->view, NULL, f->extras, error))
OBJECT (connection_new, connect_peers (NULL))
OBJECT (connection_allocate_view, allocate_view (f, error))
DONE (connection_send, send_view (f, f->view, FALSE, error))
DONE (connection_send_shared, send_view (f, f->shared, FALSE, error))
DONE (connection_send_copied, send_view (f, f->large, FALSE, error))
DONE (connection_send_async, send_view (f, f->view, TRUE, error))
OBJECT (connection_receive, receive_view (f, FALSE, error))
OBJECT (connection_receive_async, receive_view (f, TRUE, error))
OBJECT (exported_tensor_new, mtl_exported_tensor_new (f->view, MTL_TENSOR_PEER_FLAGS_NONE))
DONE (exported_tensor_export, export_another (f, error))
DONE (exported_tensor_announce_change,
      mtl_exported_tensor_announce_change (f->exported, "1:3", error))
OBJECT (proxy_new, mtl_tensor_proxy_new (f->peers.caller, NULL, OBJECT_PATH))
DONE (proxy_copy_from,
      settle (f, mtl_tensor_proxy_copy_from (f->proxy, f->view, "...", NULL, error)))
DONE (proxy_copy_from_async,
      (mtl_tensor_proxy_copy_from_async (f->proxy, f->view, "...", NULL, take_result, f),
       settle (f, mtl_tensor_proxy_copy_from_finish (f->proxy, wait_for_result (f), error))))
OBJECT (proxy_fetch_layout,
        settle_object (f, mtl_tensor_proxy_fetch_layout (f->proxy, NULL, NULL, NULL, error)))
OBJECT (proxy_fetch_layout_async,
        (mtl_tensor_proxy_fetch_layout_async (f->proxy, NULL, take_result, f),
         settle_object (f, mtl_tensor_proxy_fetch_layout_finish (f->proxy, wait_for_result (f),
                                                                 NULL, NULL, error))))
OBJECT (proxy_fetch_view,
        settle_object (f, mtl_tensor_proxy_fetch_view (f->proxy, NULL, error)))
OBJECT (proxy_fetch_view_async,
        (mtl_tensor_proxy_fetch_view_async (f->proxy, NULL, take_result, f),
         settle_object (f, mtl_tensor_proxy_fetch_view_finish (f->proxy, wait_for_result (f),
                                                               error))))
DONE (proxy_put, settle (f, mtl_tensor_proxy_put (f->proxy, f->view, f->extras, NULL, error)))
DONE (proxy_put_async,
      (mtl_tensor_proxy_put_async (f->proxy, f->view, f->extras, NULL, take_result, f),
       settle (f, mtl_tensor_proxy_put_finish (f->proxy, wait_for_result (f), error))))

/* Other views of the same memory */
OBJECT (view_as_read_only, mtl_strided_view_as_read_only (f->view))
DONE (view_close, close_another (f, error))
OBJECT (view_broadcast_to, mtl_strided_view_broadcast_to (f->view, DIMS (2, 4, 6), error))
OBJECT (view_get_layout, g_object_ref (mtl_strided_view_get_layout (f->view)))
OBJECT (view_flatten, mtl_strided_view_flatten (f->view, 0, 0, error))
OBJECT (view_flip, mtl_strided_view_flip (f->view, 0, error))
NUMBER (view_get_extent, mtl_strided_view_get_extent (f->view, 0, error))
OBJECT (view_narrow, mtl_strided_view_narrow (f->view, 0, 1, 3, 1, error))
OBJECT (view_permute, mtl_strided_view_permute (f->view, AXES (1, 0), error))
OBJECT (view_reinterpret, mtl_strided_view_reinterpret (f->view, f->same_size, error))
OBJECT (view_reshape, mtl_strided_view_reshape (f->view, DIMS (4, 1, 6), error))
OBJECT (view_select, mtl_strided_view_select (f->view, 0, 1, error))
OBJECT (view_slice, mtl_strided_view_slice (f->view, &f->slice, 1, error))
OBJECT (view_slice_string, mtl_strided_view_slice_string (f->view, "1:3", error))
OBJECT (view_select_real, mtl_strided_view_select_real (f->complex, error))
OBJECT (view_select_imaginary, mtl_strided_view_select_imaginary (f->complex, error))
OBJECT (view_squeeze, mtl_strided_view_squeeze (f->view))
OBJECT (view_squeeze_axes, mtl_strided_view_squeeze_axes (f->view, NULL, 0, error))
OBJECT (view_swap_axes, mtl_strided_view_swap_axes (f->view, 0, 1, error))
OBJECT (view_transpose, mtl_strided_view_transpose (f->view))
OBJECT (view_unsqueeze, mtl_strided_view_unsqueeze (f->view, AXES (0), error))

/* Elements */
NUMBER (get_double, mtl_strided_view_get_double (f->view, DIMS (1, 2), error))
NUMBER (get_int64, mtl_strided_view_get_int64 (f->view, DIMS (1, 2), error))
NUMBER (get_uint64, mtl_strided_view_get_uint64 (f->view, DIMS (1, 2), error))
DONE (get_complex, mtl_strided_view_get_complex (f->view, DIMS (1, 2), &f->re, &f->im, error))
DONE (set_double, mtl_strided_view_set_double (f->view, DIMS (1, 2), 3, error))
MEMORY (get_doubles, mtl_strided_view_get_doubles (f->view, &f->n, error))
MEMORY (get_int64s, mtl_strided_view_get_int64s (f->view, &f->n, error))
DONE (set_doubles, mtl_strided_view_set_doubles (f->dense, DOUBLES (1, 2, 3, 4, 5, 6), error))
DONE (set_int64s, mtl_strided_view_set_int64s (f->dense, DIMS (1, 2, 3, 4, 5, 6), error))
DONE (set_int64, mtl_strided_view_set_int64 (f->view, DIMS (1, 2), 3, error))
DONE (set_uint64, mtl_strided_view_set_uint64 (f->view, DIMS (1, 2), 3, error))
DONE (set_complex, mtl_strided_view_set_complex (f->view, DIMS (1, 2), 3, 0, error))
NUMBER (array_equal, mtl_strided_view_array_equal (f->view, f->other, MTL_COMPARE_FLAGS_NONE, NULL,
                                                   error))
NUMBER (array_equal_async,
        (mtl_strided_view_array_equal_async (f->view, f->other, MTL_COMPARE_FLAGS_NONE, NULL,
                                             take_result, f),
         mtl_strided_view_array_equal_finish (f->view, wait_for_result (f), error)))
NUMBER (all_close, mtl_strided_view_all_close (f->view, f->other, 0, 0, MTL_COMPARE_FLAGS_NONE,
                                               NULL, error))
NUMBER (all_close_async,
        (mtl_strided_view_all_close_async (f->view, f->other, 0, 0, MTL_COMPARE_FLAGS_NONE, NULL,
                                           take_result, f),
         mtl_strided_view_all_close_finish (f->view, wait_for_result (f), error)))
LASTING (format, mtl_strided_view_format (f->view, 1000))
LASTING (to_string, mtl_strided_view_to_string (f->view))

/* Copies */
DONE (fill, mtl_strided_view_fill (f->view, f->element, NULL, error))
DONE (fill_async,
      (mtl_strided_view_fill_async (f->view, f->element, NULL, NULL, NULL, NULL, take_result, f),
       mtl_strided_view_fill_finish (f->view, wait_for_result (f), error)))
DONE (fill_double, mtl_strided_view_fill_double (f->view, 2, NULL, error))
DONE (fill_double_async,
      (mtl_strided_view_fill_double_async (f->view, 2, NULL, NULL, NULL, NULL, take_result, f),
       mtl_strided_view_fill_double_finish (f->view, wait_for_result (f), error)))
DONE (copy_from, mtl_strided_view_copy_from (f->view, f->other, NULL, error))
DONE (copy_from_overlapping, mtl_strided_view_copy_from (f->flipped, f->view, NULL, error))
DONE (copy_from_converted, mtl_strided_view_copy_from (f->view, f->doubles, NULL, error))
DONE (copy_from_async,
      (mtl_strided_view_copy_from_async (f->view, f->other, NULL, NULL, NULL, NULL, take_result, f),
       mtl_strided_view_copy_from_finish (f->view, wait_for_result (f), error)))
DONE (copy_scaled_from, mtl_strided_view_copy_scaled_from (f->view, f->other, 2, 1, NULL, error))
DONE (copy_scaled_from_overlapping,
      mtl_strided_view_copy_scaled_from (f->flipped, f->view, 2, 1, NULL, error))
DONE (copy_scaled_from_async,
      (mtl_strided_view_copy_scaled_from_async (f->view, f->other, 2, 1, NULL, NULL, NULL, NULL,
                                                take_result, f),
       mtl_strided_view_copy_scaled_from_finish (f->view, wait_for_result (f), error)))
OBJECT (copy, mtl_strided_view_copy (f->view, MTL_ORDER_C, NULL, error))
OBJECT (copy_async,
        (mtl_strided_view_copy_async (f->view, MTL_ORDER_F, NULL, NULL, NULL, NULL, take_result, f),
         mtl_strided_view_copy_finish (f->view, wait_for_result (f), error)))
REFUSED (to_metal_tensor,
         mtl_strided_view_to_metal_tensor (f->view, MTL_METAL_TENSOR_USAGE_COMPUTE, error))
OBJECT (to_contiguous, mtl_strided_view_to_contiguous (f->view, NULL, error))
OBJECT (to_contiguous_async,
        (mtl_strided_view_to_contiguous_async (f->view, NULL, NULL, NULL, NULL, take_result, f),
         mtl_strided_view_to_contiguous_finish (f->view, wait_for_result (f), error)))
OBJECT (to_dtype, mtl_strided_view_to_dtype (f->view, MTL_DTYPE_FLOAT64, MTL_ORDER_C, NULL, error))
OBJECT (to_dtype_async,
        (mtl_strided_view_to_dtype_async (f->view, MTL_DTYPE_FLOAT64, MTL_ORDER_C,
                                          NULL, NULL, NULL, NULL, take_result, f),
         mtl_strided_view_to_dtype_finish (f->view, wait_for_result (f), error)))
OBJECT (to_device,
        mtl_strided_view_to_device (f->view, f->other_device, f->other_mode, NULL, error))
OBJECT (to_device_async,
        (mtl_strided_view_to_device_async (f->view, f->other_device, f->other_mode, NULL, NULL,
                                           NULL, NULL, take_result, f),
         mtl_strided_view_to_device_finish (f->view, wait_for_result (f), error)))
BYTES (view_dup_bytes, mtl_strided_view_dup_bytes (f->view, NULL, error))
BYTES (view_dup_bytes_async,
       (mtl_strided_view_dup_bytes_async (f->view, NULL, NULL, NULL, NULL, take_result, f),
        mtl_strided_view_dup_bytes_finish (f->view, wait_for_result (f), error)))
BYTES (view_get_bytes, mtl_strided_view_get_bytes (f->dense, error))

/* Statistics */
OBJECT (compute_statistics, mtl_strided_view_compute_statistics (f->view, NULL, NULL, NULL, error))
MEMORY (compute_histogram,
        mtl_strided_view_compute_histogram (f->view, 0, 4, 8, &f->n, NULL, error))
MEMORY (compute_histogram_large,
        mtl_strided_view_compute_histogram (f->large, 0, 4, 1000, &f->n, NULL, error))
MEMORY (compute_histogram_async,
        (mtl_strided_view_compute_histogram_async (f->view, 0, 4, 8, NULL, NULL, NULL, NULL,
                                                   take_result, f),
         mtl_strided_view_compute_histogram_finish (f->view, wait_for_result (f), &f->n, error)))
OBJECT (reduce,
        mtl_strided_view_reduce (f->view, MTL_REDUCTION_MEAN, NULL, 0, NULL, error))
OBJECT (reduce_async,
        (mtl_strided_view_reduce_async (f->view, MTL_REDUCTION_MEAN, AXES (0), NULL,
                                                   take_result, f),
         mtl_strided_view_reduce_finish (f->view, wait_for_result (f), error)))
OBJECT (compute_statistics_large, mtl_strided_view_compute_statistics (f->large, NULL, NULL, NULL,
                                                                       error))
OBJECT (
    compute_statistics_async,
    (mtl_strided_view_compute_statistics_async (f->view, NULL, NULL, NULL, NULL, take_result, f),
     mtl_strided_view_compute_statistics_finish (f->view, wait_for_result (f), error)))
NUMBER (get_minimum_int64, mtl_statistics_get_minimum_int64 (f->statistics, error))
NUMBER (get_maximum_int64, mtl_statistics_get_maximum_int64 (f->statistics, error))
NUMBER (get_minimum_uint64, mtl_statistics_get_minimum_uint64 (f->statistics, error))
NUMBER (get_maximum_uint64, mtl_statistics_get_maximum_uint64 (f->statistics, error))
LASTING (format_minimum, mtl_statistics_format_minimum (f->statistics))
LASTING (format_maximum, mtl_statistics_format_maximum (f->statistics))
LASTING (statistics_to_string, mtl_statistics_to_string (f->statistics))

/* DLPack */
OBJECT (new_from_dlpack, import (f, error))
OBJECT (new_take_dlpack, mtl_strided_view_new_take_dlpack (&f->producer.versioned, error))
OBJECT (new_take_dlpack_legacy,
        mtl_strided_view_new_take_dlpack_legacy (&f->producer.legacy, error))
DONE (dlpack_validate, mtl_dlpack_validate (&f->producer.versioned.dl_tensor, error))
MANAGED (to_dlpack, mtl_strided_view_to_dlpack (f->view, MTL_DLPACK_FLAGS_NONE, NULL, error))
MANAGED (to_dlpack_copy,
         mtl_strided_view_to_dlpack (f->view, MTL_DLPACK_FLAGS_COPY, mtl_device_get_host (), error))
MANAGED (to_dlpack_legacy, mtl_strided_view_to_dlpack_legacy (f->view, MTL_DLPACK_FLAGS_NONE, NULL,
                                                              error))
MANAGED (to_dlpack_legacy_copy,
         mtl_strided_view_to_dlpack_legacy (f->view, MTL_DLPACK_FLAGS_COPY, mtl_device_get_host (),
                                            error))
OBJECT (export_dlpack, mtl_strided_view_export_dlpack (f->view, MTL_DLPACK_FLAGS_NONE, NULL, error))
OBJECT (export_dlpack_copy,
        mtl_strided_view_export_dlpack (f->view, MTL_DLPACK_FLAGS_COPY, mtl_device_get_host (),
                                        error))

/* Tensor files */
OBJECT (file_open, mtl_tensor_file_open (f->file, NULL, f->file_mode, NULL, error))
OBJECT (file_open_async,
        (mtl_tensor_file_open_async (f->file, NULL, f->file_mode, G_PRIORITY_DEFAULT, NULL,
                                     take_result, f),
         mtl_tensor_file_open_finish (wait_for_result (f), error)))
DONE (file_check,
      mtl_tensor_file_check (f->tensors, MTL_TENSOR_FILE_CHECKS_NONE, NULL, NULL, NULL, error))
DONE (file_check_async,
      (mtl_tensor_file_check_async (f->tensors,
                                    MTL_TENSOR_FILE_CHECKS_NONE,
                                    G_PRIORITY_DEFAULT,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    take_result,
                                    f),
       mtl_tensor_file_check_finish (f->tensors, wait_for_result (f), error)))
MEMORY (file_list_names, mtl_tensor_file_list_names (f->tensors))
MEMORY (file_match_names, mtl_tensor_file_match_loadable_names (f->tensors, "*"))
MEMORY (file_match_refused_names, mtl_tensor_file_match_refused_names (f->tensors, "*"))
MEMORY (file_list_metadata_keys, mtl_tensor_file_list_metadata_keys (f->tensors))
OBJECT (file_load_view, load_new_view (f, error))
OBJECT (file_load_view_async,
        (mtl_tensor_file_load_view_async (f->tensors, f->name, G_PRIORITY_DEFAULT, NULL,
                                          take_result, f),
         mtl_tensor_file_load_view_finish (f->tensors, wait_for_result (f), error)))
OBJECT (file_load_view_again, mtl_tensor_file_load_view (f->tensors, f->name, NULL, error))
DONE (file_load_views,
      free_loaded (f, mtl_tensor_file_load_views (f->tensors, NULL, NULL, NULL, NULL, &f->n,
                                                  error)))
DONE (file_load_views_async,
      (mtl_tensor_file_load_views_async (f->tensors, NULL, G_PRIORITY_DEFAULT, NULL, NULL, NULL,
                                         NULL, take_result, f),
       free_loaded (f, mtl_tensor_file_load_views_finish (f->tensors, wait_for_result (f), &f->n,
                                                          error))))
DONE (file_prefetch, mtl_tensor_file_prefetch (f->tensors, &f->loaded, 1, error))
LASTING_OBJECT (file_lookup_entry, look_up_new_entry (f))
DONE (entry_check,
      mtl_tensor_file_entry_check (f->entry, MTL_TENSOR_FILE_CHECKS_NONE, NULL, error))
DONE (entry_check_async,
      (mtl_tensor_file_entry_check_async (f->entry, MTL_TENSOR_FILE_CHECKS_NONE, G_PRIORITY_DEFAULT,
                                          NULL, take_result, f),
       mtl_tensor_file_entry_check_finish (f->entry, wait_for_result (f), error)))
OBJECT (entry_load_view_async,
        (mtl_tensor_file_entry_load_view_async (f->entry, G_PRIORITY_DEFAULT, NULL, take_result,
                                                f),
         mtl_tensor_file_entry_load_view_finish (f->entry, wait_for_result (f), error)))
OBJECT (entry_load_view, mtl_tensor_file_entry_load_view (f->entry, NULL, error))

/* Writing */
OBJECT (builder_new, mtl_tensor_file_builder_new ())
DONE (builder_add, add_many (f, MTL_DTYPE_OTHER, error))
DONE (builder_add_converted, add_many (f, MTL_DTYPE_FLOAT32, error))
DONE (builder_set_metadata, set_metadata (f, error))
DONE (builder_write,
      mtl_tensor_file_builder_write (f->builder, f->target, NULL, NULL, NULL, error))
DONE (builder_write_async,
      (mtl_tensor_file_builder_write_async (f->builder, f->target, G_PRIORITY_DEFAULT, NULL, NULL,
                                            NULL, NULL, take_result, f),
       mtl_tensor_file_builder_write_finish (f->builder, wait_for_result (f), error)))
DONE (builder_write_shards,
      mtl_tensor_file_builder_write_shards (f->builder, f->index, 120, NULL, NULL, NULL, error))
DONE (builder_write_shards_async,
      (mtl_tensor_file_builder_write_shards_async (f->builder, f->index, 120, G_PRIORITY_DEFAULT,
                                                   NULL, NULL, NULL, NULL, take_result, f),
       mtl_tensor_file_builder_write_shards_finish (f->builder, wait_for_result (f), error)))
