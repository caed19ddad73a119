/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The class of blocks, and how many there are. */

#import "metal-double-private.h"

#include <Block.h>

#include "metal-double-blocks-private.h"

static int n_blocks, n_forgotten;

void
md_add_blocks (int n)
{
  __atomic_fetch_add (&n_blocks, n, __ATOMIC_SEQ_CST);
}

size_t
md_count_blocks (void)
{
  return (size_t) (__atomic_load_n (&n_blocks, __ATOMIC_SEQ_CST)
                   - __atomic_load_n (&n_forgotten, __ATOMIC_SEQ_CST));
}

void
md_forget_blocks (void)
{
  __atomic_store_n (&n_forgotten, __atomic_load_n (&n_blocks, __ATOMIC_SEQ_CST),
                    __ATOMIC_SEQ_CST);
}

@interface MDBlock : NSObject
@end

@implementation MDBlock
+ (void) load
{
  md_prepare_blocks ();
}

- (id) copy
{
  return (id) _Block_copy (self);
}

- (id) copyWithZone: (NSZone *) zone
{
  (void) zone;
  return (id) _Block_copy (self);
}

- (id) retain
{
  return (id) _Block_copy (self);
}

- (oneway void) release
{
  _Block_release (self);
}
@end
