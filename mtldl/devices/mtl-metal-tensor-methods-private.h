/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#import <Foundation/Foundation.h>

/* The methods of MTLTensor.h, which SDKs before 26 lack, and of the process, for its version.
 * Classes and protocols of macOS 26 are looked up by name, as a reference to one would keep the
 * library from being loaded on older systems. metal-abi-check.m compares the types. */

typedef struct
{
  NSInteger major;
  NSInteger minor;
  NSInteger patch;
} MtlMetalSystemVersion;

@protocol MtlMetalProcessInfo
+ (id<MtlMetalProcessInfo>) processInfo;
- (MtlMetalSystemVersion) operatingSystemVersion;
@end

@protocol MtlMetalTensorExtents
- (id) initWithRank: (NSUInteger) rank values: (const NSInteger *) values;
- (NSUInteger) rank;
- (NSInteger) extentAtDimensionIndex: (NSUInteger) dimensionIndex;
@end

@protocol MtlMetalTensorDescriptor
- (void) setDimensions: (id) dimensions;
- (void) setStrides: (id) strides;
- (void) setDataType: (NSInteger) dataType;
- (void) setUsage: (NSUInteger) usage;
- (void) setResourceOptions: (NSUInteger) resourceOptions;
@end

@protocol MtlMetalTensorSource
- (id) newTensorWithDescriptor: (id) descriptor
                        offset: (NSUInteger) offset
                         error: (NSError **) error;
@end

@protocol MtlMetalTensorResource
- (id) buffer;
- (NSUInteger) bufferOffset;
- (id<MtlMetalTensorExtents>) dimensions;
- (id<MtlMetalTensorExtents>) strides;
- (NSInteger) dataType;
- (NSArray *) auxiliaryPlanes; /* macOS 27 */
@end
