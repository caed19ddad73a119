/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tensors over buffers. */

#include "test-double.h"

#include <objc/runtime.h>

#include "metal-fixture.h"

#define FLOAT32 MTLTensorDataTypeFloat32
#define UINT8 MTLTensorDataTypeUInt8
#define INT4 MTLTensorDataTypeInt4
#define ML MTLTensorUsageMachineLearning

typedef struct
{
  bool fits;
  MetalFixtureTensor form; /* for a buffer of 512 bytes */
} Case;

/* A line on each rule of the headers, kept and broken. */
static const Case cases[] = {
  { true, { .rank = 2, .dims = { 3, 2 }, .strides = { 1, 3 }, .data_type = FLOAT32, .usage = 1 } },
  { true, { .rank = 0, .data_type = FLOAT32, .usage = 7 } },
  { true, { .rank = 2, .dims = { 3, 2 }, .strides = { 1, 4 }, .data_type = UINT8, .usage = 2 } },
  { false, { .rank = 2, .dims = { 3, 2 }, .strides = { 1, 2 }, .data_type = UINT8, .usage = 1 } },
  { false, { .rank = 2, .dims = { 3, 2 }, .strides = { 2, 8 }, .data_type = UINT8, .usage = 1 } },
  { false, { .rank = 2, .dims = { 3, 0 }, .strides = { 1, 3 }, .data_type = UINT8, .usage = 1 } },
  { false, { .rank = 1, .dims = { 3 }, .strides = { 1 }, .data_type = UINT8, .usage = 0 } },
  { false, { .rank = 1, .dims = { 3 }, .strides = { 1 }, .data_type = UINT8, .usage = 8 } },
  { false, { .rank = 1, .dims = { 3 }, .strides = { 1 }, .data_type = 4, .usage = 1 } },
  { false, { .rank = 1, .dims = { 32 }, .strides = { 1 }, .data_type = 145, .usage = 1 } },
  { true, { .rank = 1, .dims = { 128 }, .strides = { 1 }, .data_type = FLOAT32, .usage = 1 } },
  { false, { .rank = 1, .dims = { 129 }, .strides = { 1 }, .data_type = FLOAT32, .usage = 1 } },
  { true, { .rank = 1, .dims = { 2 }, .strides = { 1 }, .data_type = FLOAT32, .usage = 1,
            .offset = 504 } },
  { false, { .rank = 1, .dims = { 2 }, .strides = { 1 }, .data_type = FLOAT32, .usage = 1,
             .offset = 508 } },
  { false, { .rank = 1, .dims = { 2 }, .strides = { 1 }, .data_type = FLOAT32, .usage = 1,
             .offset = 2 } },
  { true, { .rank = 2, .dims = { 3, 2 }, .strides = { 1, 16 }, .data_type = FLOAT32,
            .usage = ML } },
  { false, { .rank = 2, .dims = { 3, 2 }, .strides = { 1, 8 }, .data_type = FLOAT32,
             .usage = ML } },
  { false, { .rank = 2, .dims = { 3, 2 }, .strides = { 1, 16 }, .data_type = FLOAT32, .usage = ML,
             .offset = 64 } },
  { true, { .rank = 3, .dims = { 3, 2, 2 }, .strides = { 1, 16, 32 }, .data_type = FLOAT32,
            .usage = ML } },
  { false, { .rank = 3, .dims = { 3, 2, 2 }, .strides = { 1, 16, 48 }, .data_type = FLOAT32,
             .usage = ML } },
  { true, { .rank = 2, .dims = { 32, 2 }, .strides = { 1, 256 }, .data_type = INT4, .usage = 1,
            .offset = 128 } },
  { false, { .rank = 2, .dims = { 32, 2 }, .strides = { 1, 256 }, .data_type = INT4, .usage = 1,
             .offset = 64 } },
  { false, { .rank = 2, .dims = { 32, 2 }, .strides = { 1, 128 }, .data_type = INT4,
             .usage = 1 } },
  { false, { .rank = 2, .dims = { 16, 2 }, .strides = { 1, 256 }, .data_type = INT4,
             .usage = 1 } },
  { false, { .rank = 0, .data_type = INT4, .usage = 1 } },
};

static void
test_rules (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 512 options: 0];

      for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        {
          MetalFixtureTensor form = cases[i].form, found;
          void *tensor;

          form.buffer = buffer;
          tensor = metal_fixture_tensor_try (&form);
          if ((tensor != NULL) != cases[i].fits)
            g_error ("case %zu: %s", i, tensor != NULL ? "fits" : "is refused");
          if (tensor == NULL)
            continue;
          metal_fixture_tensor_describe (tensor, &found);
          g_assert_cmpmem (&found, sizeof found, &form, sizeof form);
          g_assert_true ([(id<MTLTensor>) tensor device] == unified);
          metal_fixture_release (tensor);
        }
      g_assert_cmpuint ([buffer retainCount], ==, 1);
      [buffer release];
    }
  end ();
}

static void
test_errors (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [discrete newBufferWithLength: 4
                                                   options: MTLResourceStorageModePrivate];
      MTLTensorDescriptor *descriptor = [[[MTLTensorDescriptor alloc] init] autorelease];
      const NSInteger one = 1;
      MTLTensorExtents *strides = [[[MTLTensorExtents alloc] initWithRank: 1
                                                                   values: &one] autorelease];
      NSError *error = nil;

      g_assert_cmpuint ([descriptor usage], ==, 3);
      g_assert_null ([buffer newTensorWithDescriptor: descriptor offset: 0 error: &error]);
      g_assert_true ([[error domain] isEqualToString: MTLTensorDomain]);
      g_assert_cmpint ([error code], ==, MTLTensorErrorInvalidDescriptor);
      [descriptor setStrides: strides];
      g_assert_null ([buffer newTensorWithDescriptor: descriptor offset: 0 error: NULL]);
      [descriptor setResourceOptions: MTLResourceStorageModePrivate];

      metal_double_fail_at (1);
      g_assert_null ([buffer newTensorWithDescriptor: descriptor offset: 0 error: &error]);
      g_assert_cmpint ([error code], ==, MTLTensorErrorInternalError);
      [[buffer newTensorWithDescriptor: descriptor offset: 0 error: &error] release];
      [buffer release];
    }
  end ();
}

static void
test_extents (void)
{
  NSInteger values[17] = { 5, 6 };

  begin ();
  @autoreleasepool
    {
      MTLTensorExtents *two = [[[MTLTensorExtents alloc] initWithRank: 2 values: values]
        autorelease];

      g_assert_cmpuint ([two rank], ==, 2);
      g_assert_cmpint ([two extentAtDimensionIndex: 1], ==, 6);
      g_assert_cmpint ([two extentAtDimensionIndex: 2], ==, -1);
      g_assert_null ([[MTLTensorExtents alloc] initWithRank: 17 values: values]);
      g_assert_null ([[MTLTensorExtents alloc] initWithRank: 1 values: NULL]);
    }
  end ();
}

static void
test_systems (void)
{
  begin ();
  @autoreleasepool
    {
      id<MTLBuffer> buffer = [unified newBufferWithLength: 512 options: 0];
      MetalFixtureTensor form = { .buffer = buffer, .rank = 1, .dims = { 32 }, .strides = { 1 },
                                  .data_type = INT4, .usage = 1 };
      void *tensor = metal_fixture_tensor_new (&form);

      g_assert_nonnull (objc_getClass ("MTLTensorExtents"));
      g_assert_true ([(id) tensor respondsToSelector: @selector (auxiliaryPlanes)]);
      metal_double_set_macos (26, 3);
      g_assert_false ([(id) tensor respondsToSelector: @selector (auxiliaryPlanes)]);
      assert_violates ([(id<MTLTensor>) tensor auxiliaryPlanes], "before macOS 27");
      g_assert_null (metal_fixture_tensor_try (&form));
      metal_double_set_macos (26, 4);
      metal_fixture_release (metal_fixture_tensor_try (&form));

      metal_double_set_macos (15, 9);
      g_assert_null (objc_getClass ("MTLTensorExtents"));
      g_assert_null (objc_getClass ("MTLTensorDescriptor"));
      g_assert_false ([(id) buffer respondsToSelector:
        @selector (newTensorWithDescriptor:offset:error:)]);
      metal_double_set_macos (27, 0);
      metal_fixture_release (tensor);
      [buffer release];
    }
  end ();
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/double/tensors/rules", test_rules);
  g_test_add_func ("/double/tensors/errors", test_errors);
  g_test_add_func ("/double/tensors/extents", test_extents);
  g_test_add_func ("/double/tensors/systems", test_systems);

  return g_test_run ();
}
