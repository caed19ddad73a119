/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of items of N_BYTES that are not in rows */

#include "box.h"
#include "gather.h"
#include "pixels.h"
#include "tile.h"

#if N_BYTES == 1

GATHER (gather_1, Same<u8>)
BOX (box_1, Same<u8>)
TILE (tile_1, u8, 128, 128, 3)
PIXELS (pixels_1, u8)

#elif N_BYTES == 2

GATHER (gather_2, Same<u16>)
BOX (box_2, Same<u16>)
TILE (tile_2, u16, 128, 64, 3)
PIXELS (pixels_2, u16)

#elif N_BYTES == 4

GATHER (gather_4, Same<u32>)
BOX (box_4, Same<u32>)
TILE (tile_4, u32, 64, 64, 4)
PIXELS (pixels_4, u32)

#elif N_BYTES == 8

GATHER (gather_8, Same<u64>)
BOX (box_8, Same<u64>)
TILE (tile_8, u64, 64, 32, 4)
PIXELS (pixels_8, u64)

#elif N_BYTES == 16

GATHER (gather_16, Same<u128>)
BOX (box_16, Same<u128>)

#endif
