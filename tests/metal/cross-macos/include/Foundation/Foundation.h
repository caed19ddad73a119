/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The part of Foundation's interface that the bridge and the double's header of Metal
 * use, with the types of macOS, to compile for it on Linux. */

#pragma once

#include <TargetConditionals.h>
#include <objc/NSObject.h>
#include <objc/NSObjCRuntime.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_BEGIN _Pragma ("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma ("clang assume_nonnull end")
#endif
#define NS_RETURNS_INNER_POINTER __attribute__ ((objc_returns_inner_pointer))
#define NS_RETURNS_RETAINED __attribute__ ((ns_returns_retained))
#ifndef NS_ENUM
#define NS_ENUM(type, name) \
  enum __attribute__ ((enum_extensibility (open))) name : type name; \
  enum name : type
#endif
#ifndef NS_OPTIONS
#define NS_OPTIONS(type, name) \
  enum __attribute__ ((flag_enum, enum_extensibility (open))) name : type name; \
  enum name : type
#endif

typedef struct _NSRange
{
  NSUInteger location;
  NSUInteger length;
} NSRange;

static inline NSRange
NSMakeRange (NSUInteger location,
             NSUInteger length)
{
  return (NSRange) { location, length };
}

NS_ASSUME_NONNULL_BEGIN

struct _NSZone;

@protocol NSCopying
- (id) copyWithZone: (nullable struct _NSZone *) zone;
@end

/* Compilers know the names of its members. */
typedef struct
{
  unsigned long state;
  id __unsafe_unretained _Nullable *_Nullable itemsPtr;
  unsigned long *_Nullable mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@protocol NSFastEnumeration
- (NSUInteger) countByEnumeratingWithState: (NSFastEnumerationState *) state
                                   objects: (id __unsafe_unretained _Nullable[_Nonnull]) buffer
                                     count: (NSUInteger) len;
@end

@interface NSString : NSObject <NSCopying>
@property (readonly) NSUInteger length;
@property (nullable, readonly) const char *UTF8String NS_RETURNS_INNER_POINTER;
+ (nullable instancetype) stringWithUTF8String: (const char *) nullTerminatedCString;
- (BOOL) isEqualToString: (NSString *) aString;
@end

@interface NSArray : NSObject <NSCopying, NSFastEnumeration>
@property (readonly) NSUInteger count;
- (id) objectAtIndex: (NSUInteger) index;
@end

@interface NSAutoreleasePool : NSObject
- (void) drain;
@end

@interface NSError : NSObject <NSCopying>
@property (readonly, copy) NSString *domain;
@property (readonly) NSInteger code;
@property (readonly, copy) NSString *localizedDescription;
@end

NS_ASSUME_NONNULL_END
