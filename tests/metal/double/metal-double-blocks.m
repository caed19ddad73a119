/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A Blocks runtime over GCC's libobjc, by the published ABI
 * (https://clang.llvm.org/docs/Block-ABI-Apple.html). Debian's libBlocksRuntime
 * neither retains the objects that a block captures nor lets one send messages
 * to a block; Apple's does.
 *
 * libgnustep-base exports half of such a runtime under the same names. So that
 * no order of libraries brings that one in, each program and library with
 * blocks has a copy of this file to itself. */

#import <Foundation/Foundation.h>

#include <Block.h>
#include <objc/runtime.h>
#include <stdlib.h>
#include <string.h>

#include "metal-double-blocks-private.h"

/* Flags of blocks and of __block variables; the low bits count references. */
enum
{
  REFERENCES = 0xffff,
  IS_ON_HEAP = 1 << 24,
  HAS_HELPERS = 1 << 25,
  IS_GLOBAL = 1 << 28,
};

/* The kinds of captured variables. */
enum
{
  IS_BLOCK = 7,
  IS_BYREF = 8,
  IN_BYREF = 128,
};

typedef struct
{
  unsigned long reserved, size;
  void (*copy) (void *dest, const void *source);
  void (*dispose) (const void *block);
} BlockDescriptor;

typedef struct
{
  void *isa;
  int flags;
  int reserved;
  void (*invoke) (void);
  BlockDescriptor *descriptor;
} BlockLayout;

typedef struct _ByrefLayout ByrefLayout;
struct _ByrefLayout
{
  void *isa;
  ByrefLayout *forwarding;
  int flags;
  int size;
  void (*keep) (void *dest, const void *source);
  void (*destroy) (const void *byref);
};

#pragma GCC visibility push(hidden)
/* The compiler refers to these as the classes of blocks. */
void *_NSConcreteStackBlock[32];
void *_NSConcreteMallocBlock[32];
void *_NSConcreteGlobalBlock[32];

void _Block_object_assign (void *dest, const void *object, int flags);
void _Block_object_dispose (const void *object, int flags);
#pragma GCC visibility pop

static int
load_flags (int *flags)
{
  return __atomic_load_n (flags, __ATOMIC_ACQUIRE);
}

static void
add_reference (int *flags)
{
  __atomic_fetch_add (flags, 1, __ATOMIC_RELAXED);
}

static bool
drop_reference (int *flags)
{
  return (__atomic_fetch_sub (flags, 1, __ATOMIC_ACQ_REL) & REFERENCES) == 1;
}

void *
_Block_copy (const void *argument)
{
  BlockLayout *source = (BlockLayout *) argument;
  BlockLayout *copy;

  if (source == NULL || (load_flags (&source->flags) & IS_GLOBAL) != 0)
    return source;
  if ((load_flags (&source->flags) & IS_ON_HEAP) != 0)
    {
      add_reference (&source->flags);
      return source;
    }

  copy = malloc (source->descriptor->size);
  memcpy (copy, source, source->descriptor->size);
  copy->isa = _NSConcreteMallocBlock;
  copy->flags = (source->flags & ~REFERENCES) | IS_ON_HEAP | 1;
  if ((copy->flags & HAS_HELPERS) != 0)
    copy->descriptor->copy (copy, source);
  md_add_blocks (1);
  return copy;
}

void
_Block_release (const void *argument)
{
  BlockLayout *block = (BlockLayout *) argument;

  if (block == NULL || (load_flags (&block->flags) & IS_ON_HEAP) == 0
      || !drop_reference (&block->flags))
    return;

  if ((block->flags & HAS_HELPERS) != 0)
    block->descriptor->dispose (block);
  md_add_blocks (-1);
  free (block);
}

static ByrefLayout *
copy_byref (ByrefLayout *source)
{
  ByrefLayout *copy = source->forwarding;

  if ((load_flags (&copy->flags) & IS_ON_HEAP) != 0)
    {
      add_reference (&copy->flags);
      return copy;
    }

  copy = malloc ((size_t) source->size);
  memcpy (copy, source, (size_t) source->size);
  /* One reference is the block's, one the stack frame's. */
  copy->flags = (source->flags & ~REFERENCES) | IS_ON_HEAP | 2;
  copy->forwarding = source->forwarding = copy;
  if ((copy->flags & HAS_HELPERS) != 0)
    copy->keep (copy, source);
  return copy;
}

static void
release_byref (ByrefLayout *byref)
{
  byref = byref->forwarding;
  if ((load_flags (&byref->flags) & IS_ON_HEAP) == 0 || !drop_reference (&byref->flags))
    return;

  if ((byref->flags & HAS_HELPERS) != 0)
    byref->destroy (byref);
  free (byref);
}

void
_Block_object_assign (void       *dest,
                      const void *object,
                      int         flags)
{
  const void **slot = dest;

  if ((flags & IN_BYREF) != 0)
    *slot = object; /* a __block variable retains nothing without ARC */
  else if ((flags & IS_BYREF) != 0)
    *slot = copy_byref ((ByrefLayout *) object);
  else if ((flags & IS_BLOCK) == IS_BLOCK)
    *slot = _Block_copy (object);
  else
    *slot = [(id) object retain];
}

void
_Block_object_dispose (const void *object,
                       int         flags)
{
  if ((flags & IN_BYREF) != 0)
    return;

  if ((flags & IS_BYREF) != 0)
    release_byref ((ByrefLayout *) object);
  else if ((flags & IS_BLOCK) == IS_BLOCK)
    _Block_release (object);
  else
    [(id) object release];
}

/* Makes blocks objects. Within the double the class may not be there yet when constructors run: its
 * own +load comes here again. */
__attribute__ ((constructor)) void
md_prepare_blocks (void)
{
  /* The size from class_pointer to gc_object_type of GCC's struct objc_class. */
  const size_t class_size = 13 * sizeof (void *);
  Class class = objc_getClass ("MDBlock");

  if (class == Nil)
    return;

  memcpy (_NSConcreteStackBlock, (void *) class, class_size);
  memcpy (_NSConcreteMallocBlock, (void *) class, class_size);
  memcpy (_NSConcreteGlobalBlock, (void *) class, class_size);
}
