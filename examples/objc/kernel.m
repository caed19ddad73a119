/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a compute kernel of its own on a view that it imports through DLPack, and
 * exports the result when the GPU is done. */

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <mtldl/mtldl-dlpack.h>
#include <mtldl/mtldl.h>

#define FACTOR 10.0f

/* The event has this value when the kernel is done. */
#define KERNEL_DONE 1

static const char kernel_source[] =
  "#include <metal_stdlib>\n"
  "using namespace metal;\n"
  "kernel void\n"
  "scale (device float *first [[buffer (0)]],\n"
  "       constant int2 &strides [[buffer (1)]],\n"
  "       constant float &factor [[buffer (2)]],\n"
  "       uint2 index [[thread_position_in_grid]])\n"
  "{\n"
  "  first[int (index.y) * strides.x + int (index.x) * strides.y] *= factor;\n"
  "}\n";

static void
print_view (const char     *name,
            MtlStridedView *view)
{
  g_autofree char *text = mtl_strided_view_to_string (view);

  g_print ("%s\n%s\n", name, text);
}

/* Stands for another library that exports a tensor in Metal memory. */
static struct DLManagedTensorVersioned *
produce (MtlDevice  *device,
         GError    **error)
{
  const gint64 shape[] = { 3, 4 };
  const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) shared = NULL;

  view = mtl_strided_view_new_from_doubles (values, 12, MTL_DTYPE_FLOAT32, shape, 2, error);
  if (view == NULL)
    return NULL;

  shared = mtl_strided_view_to_device (view, device, MTL_STORAGE_MODE_SHARED, NULL, error);
  if (shared == NULL)
    return NULL;

  return mtl_strided_view_to_dlpack (shared, MTL_DLPACK_FLAGS_NONE, NULL, error);
}

/* Returns nil if this Metal cannot compile kernels, like the tests' double. */
static id<MTLComputePipelineState>
new_pipeline (id<MTLDevice> device)
{
  NSError *failure = nil;
  id<MTLComputePipelineState> pipeline = nil;
  id<MTLLibrary> library =
    [device newLibraryWithSource: [NSString stringWithUTF8String: kernel_source]
                         options: nil
                           error: &failure];
  id<MTLFunction> function = [library newFunctionWithName: @"scale"];

  if (function != nil)
    pipeline = [device newComputePipelineStateWithFunction: function error: &failure];
  if (pipeline == nil)
    g_print ("the kernel does not run here: %s\n", [[failure localizedDescription] UTF8String]);

  [function release];
  [library release];
  return pipeline;
}

/* Returns the position of the first element in the MTLBuffer, in bytes. */
static gsize
get_first_byte (MtlStridedView *view)
{
  return mtl_buffer_get_byte_offset (mtl_strided_view_get_buffer (view))
         + mtl_strided_view_get_byte_offset (view)
         + mtl_strided_layout_get_offset (mtl_strided_view_get_layout (view)) * sizeof (float);
}

static void
encode_kernel (id<MTLCommandBuffer>         commands,
               id<MTLComputePipelineState>  pipeline,
               MtlStridedView              *view)
{
  const gint64 *shape = mtl_strided_view_get_shape (view, NULL);
  const gint64 *strides = mtl_strided_view_get_strides (view, NULL);
  const gint32 kernel_strides[] = { strides[0], strides[1] };
  const float factor = FACTOR;
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];

  [encoder setComputePipelineState: pipeline];
  [encoder setBuffer: mtl_buffer_get_handle (mtl_strided_view_get_buffer (view))
              offset: get_first_byte (view)
             atIndex: 0];
  [encoder setBytes: kernel_strides length: sizeof kernel_strides atIndex: 1];
  [encoder setBytes: &factor length: sizeof factor atIndex: 2];
  [encoder dispatchThreads: MTLSizeMake (shape[1], shape[0], 1)
     threadsPerThreadgroup: MTLSizeMake ([pipeline threadExecutionWidth], 1, 1)];
  [encoder endEncoding];
}

/* Does not wait: the GPU signals the event when it is done. If the GPU fails it
 * may never do so, so this cancels the wait. Returns the command buffer,
 * retained. */
static id<MTLCommandBuffer>
start_kernel (MtlStridedView  *view,
              MtlEvent        *event,
              GCancellable    *cancellable,
              GError         **error)
{
  @autoreleasepool
    {
      MtlBuffer *buffer = mtl_strided_view_get_buffer (view);
      id<MTLBuffer> memory = (__bridge id<MTLBuffer>) mtl_buffer_get_handle (buffer);
      id<MTLDevice> device = [memory device];
      id<MTLCommandQueue> queue = [device newCommandQueue];
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLComputePipelineState> pipeline = nil;
      GCancellable *kept = NULL;

      if (commands == nil)
        {
          g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                               "Metal returned no command buffer");
          [queue release];
          return nil;
        }

      g_print ("an MTLBuffer of %lu bytes, the first element at byte %" G_GSIZE_FORMAT "\n",
               (unsigned long) [memory length], get_first_byte (view));
      pipeline = new_pipeline (device);
      if (pipeline != nil)
        encode_kernel (commands, pipeline, view);

      kept = g_object_ref (cancellable);
      [commands encodeSignalEvent: mtl_event_get_handle (event) value: KERNEL_DONE];
      [commands addCompletedHandler: ^(id<MTLCommandBuffer> completed) {
        if ([completed status] != MTLCommandBufferStatusCompleted)
          g_cancellable_cancel (kept);
        g_object_unref (kept);
      }];
      [commands commit];

      [commands retain];
      [pipeline release];
      [queue release];
      return commands;
    }
}

/* Returns whether the kernel worked: the event only shows when it is done.
 * Releases the command buffer. */
static gboolean
finish_kernel (id<MTLCommandBuffer>   commands,
               GError               **error)
{
  @autoreleasepool
    {
      gboolean completed;

      [commands waitUntilCompleted];
      completed = [commands status] == MTLCommandBufferStatusCompleted;
      if (!completed)
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "The GPU failed: %s",
                     [[[commands error] localizedDescription] UTF8String]);

      [commands release];
      return completed;
    }
}

/* Waits for the kernel, and returns the view in host memory. */
static MtlStridedView *
read_result (MtlStridedView  *view,
             MtlEvent        *event,
             GCancellable    *cancellable,
             GError         **error)
{
  g_autoptr (MtlDlpackTensor) tensor = NULL;

  if (!mtl_event_wait (event, KERNEL_DONE, -1, cancellable, error))
    return NULL;

  tensor = mtl_strided_view_export_dlpack (view, MTL_DLPACK_FLAGS_NEVER_COPY,
                                           mtl_device_get_host (), error);
  return tensor != NULL ? mtl_strided_view_new_from_dlpack (tensor, error) : NULL;
}

static gboolean
run (GError **error)
{
  MtlDevice *device = mtl_device_get (MTL_DEVICE_TYPE_METAL, 0, error);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (MtlStridedView) part = NULL;
  g_autoptr (MtlStridedView) result = NULL;
  g_autoptr (MtlEvent) event = NULL;
  g_autoptr (GError) wait_error = NULL;
  struct DLManagedTensorVersioned *managed;
  id<MTLCommandBuffer> commands;

  if (device == NULL)
    return FALSE;

  managed = produce (device, error);
  if (managed == NULL)
    return FALSE;

  view = mtl_strided_view_new_take_dlpack (managed, error);
  if (view == NULL)
    return FALSE;
  print_view ("before:", view);

  part = mtl_strided_view_slice_string (view, "1:, 1::2", error);
  event = part != NULL ? mtl_event_new (device, error) : NULL;
  commands = event != NULL ? start_kernel (part, event, cancellable, error) : nil;
  if (commands == nil)
    return FALSE;

  result = read_result (view, event, cancellable, &wait_error);
  if (!finish_kernel (commands, error))
    return FALSE;

  if (result == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&wait_error));
      return FALSE;
    }

  print_view ("after:", result);
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (run (&error))
    return 0;

  g_printerr ("%s\n", error->message);
  return 1;
}
