/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* The parameters of the kernels, which the planner fills in. Read as C by the planner and as C++ by
 * the kernels, without any other header. Each kernel takes the address of the destination, that of
 * the source, and one of these structs. */

enum
{
  MTL_CUDA_THREADS = 256, /* for each block */
  MTL_CUDA_MAX_AXES = 32,
  MTL_CUDA_SECTOR = 32, /* bytes that memory reads and writes at least */
  MTL_CUDA_EACH = 4,    /* items of a thread in the kernels for rows and items */
  MTL_CUDA_CONVERTED = 2, /* items of a thread, or fours of them, that are converted */
  MTL_CUDA_BOX_AXES = 6,
  MTL_CUDA_PATTERN = 1024, /* bytes of a fill's item */
  MTL_CUDA_PACKED_PATTERN = 128,
};

/* An axis, which has `parts` parts. Part i begins at element i * step, or at `last` if that is
 * less: the last part overlaps the one before, so that all have the same size. Unless a struct says
 * otherwise, each element is a part. To divide by `parts`, multiply with `magic`, and shift. */
typedef struct
{
  unsigned int parts;
  unsigned int magic;
  unsigned int shift;
  unsigned int step;
  unsigned int last;
  unsigned int unused;
  long long dest; /* the bytes between two elements */
  long long source;
} MtlCudaAxis;

/* gather, dense: a thread for each item. The first axis is the innermost of the destination. */
typedef struct
{
  unsigned int n;
  unsigned int n_axes;
  unsigned int is_unaligned; /* elements are at addresses that their types do not allow */
  unsigned int unused;
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaGather;

/* A float of 8 bits or fewer, as MtlFloatKind has it */
typedef struct
{
  int exponent_bits;
  int mantissa_bits;
  int bias;
  unsigned int has_no_negative_zero;
  unsigned int largest;
  unsigned int too_large;
  unsigned int nan;
} MtlCudaFloat;

enum
{
  MTL_CUDA_NUMBER_BOOL,
  MTL_CUDA_NUMBER_INT,
  MTL_CUDA_NUMBER_UINT,
  MTL_CUDA_NUMBER_FLOAT16,
  MTL_CUDA_NUMBER_BFLOAT16,
  MTL_CUDA_NUMBER_FLOAT32,
  MTL_CUDA_NUMBER_FLOAT64,
  MTL_CUDA_NUMBER_POWER, /* E8M0FNU, which only has an exponent */
  MTL_CUDA_NUMBER_SMALL,
};

/* The type of a number, or of a part of a complex number */
typedef struct
{
  unsigned int kind;
  unsigned int bits;
  unsigned int size; /* bytes, at least 1 */
  MtlCudaFloat format; /* a bound for SMALL */
} MtlCudaNumber;

typedef struct
{
  MtlCudaNumber dest;
  MtlCudaNumber source;
  unsigned int n_dest;      /* numbers of an element */
  unsigned int n_converted; /* numbers that are taken of the source's */
  unsigned int is_scaled;
  unsigned int copies; /* patterns stay as they are */
  unsigned int is_unaligned;
  unsigned int unused;
  double factors[2];
  unsigned long long own_nan; /* the pattern of the host's NaN of an invalid operation */
} MtlCudaConversion;

/* gather_any: conversions between any types of whole bytes */
typedef struct
{
  unsigned int n;
  unsigned int n_axes;
  MtlCudaConversion conversion;
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaAnyGather;

/* packed, packed_rows: elements of which some have fewer than 8 bits. All addresses and steps are
 * in bits; those of a fill's source are in the pattern. In packed_rows, an item is 8 elements of a
 * row. */
typedef struct
{
  unsigned int n;
  unsigned int n_axes;
  unsigned int dest_bits; /* an element takes this */
  unsigned int source_bits;
  unsigned int is_fill;
  unsigned int converts;
  unsigned int row_length;
  unsigned int unused;
  long long source_step; /* along a row */
  MtlCudaConversion conversion;
  unsigned char pattern[MTL_CUDA_PACKED_PATTERN];
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaPacked;

/* compare: sets the word at `result` to 1 if any two numbers differ. All other addresses and steps
 * are in bits; a is in the place of the destination. */
typedef struct
{
  unsigned int n;
  unsigned int n_axes;
  unsigned int n_a_parts;
  unsigned int n_b_parts;
  unsigned int is_unaligned;
  unsigned int is_exact;
  unsigned int nans_are_equal;
  unsigned int unused;
  double rtol;
  double atol;
  unsigned long long result;
  MtlCudaNumber a;
  MtlCudaNumber b;
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaCompare;

/* tally: writes the statistics of tiles to the destination, an MtlCudaTally for each, as
 * mtl-tally-kernels-private.h defines them. Of complex numbers it takes one part. The source's
 * address and all steps are in bits, and axes in the order of MtlTiles. */

enum
{
  MTL_CUDA_TALLY_LANES = 16,
  MTL_CUDA_TALLY_SHARED = 24 * 1024,
};

typedef struct
{
  long long least;
  long long most;
  unsigned long long n_zeros;
  unsigned long long n_nans;
  unsigned long long n_infinities;
  unsigned long long n; /* finite numbers */
  double mean;
  double rest;
  double squares;
} MtlCudaTally;

enum
{
  MTL_CUDA_TALLY_BOOL,
  MTL_CUDA_TALLY_SMALL, /* integers of up to 16 bits */
  MTL_CUDA_TALLY_LARGE,
  MTL_CUDA_TALLY_REAL,
};

typedef struct
{
  unsigned long long extent;
  long long step;
  unsigned long long n_parts;
  unsigned int part; /* elements of a tile */
  unsigned int unused;
} MtlCudaTallyAxis;

typedef struct
{
  unsigned long long first_tile;
  unsigned int n_tiles;
  unsigned int n_axes;
  unsigned int kind;
  unsigned int is_signed;
  unsigned int has_large; /* numbers may be too large to be squared */
  unsigned int is_unaligned;
  unsigned long long bias; /* between an integer and its key */
  long long other_part;    /* the distance to the other part of a complex number, or 0 */
  MtlCudaNumber number;    /* as it is in memory */
  MtlCudaTallyAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaTallies;

/* rows, reverse, repeat, fill: rows of row_bytes, in pieces at aligned addresses of the
 * destination. All addresses and lengths are multiples of `grain`. */
typedef struct
{
  unsigned int n; /* pieces */
  unsigned int n_axes;
  unsigned int slots; /* pieces of a row */
  unsigned int magic;
  unsigned int shift;
  unsigned int grain;
  unsigned int is_shifted; /* pieces of the source may not be aligned */
  unsigned int item;       /* the size of the item that is repeated */
  long long row_bytes;
  unsigned long long source_begin; /* the bytes that may be read */
  unsigned long long source_end;
  unsigned int pattern[4]; /* for a fill: the bytes at multiples of 16 */
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaRows;

/* fill_pattern: runs of pattern_bytes along the first axis, whose steps are in bytes. */
typedef struct
{
  unsigned int n; /* pieces of `grain` bytes */
  unsigned int n_axes;
  unsigned int grain;
  unsigned int unused;
  unsigned char pattern[MTL_CUDA_PATTERN];
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaPattern;

/* tile: the first two axes are contiguous in the destination and in the source. Tiles that are
 * skewed reach a sector farther along the first axis, so that each of their rows can begin with
 * one. */
typedef struct
{
  unsigned int n_tiles;
  unsigned int tiles_per_block;
  unsigned int n_axes;
  unsigned int is_skewed;
  unsigned int is_shifted; /* words of the source may not be aligned */
  unsigned int unused;
  unsigned long long source_begin;
  unsigned long long source_end;
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaTile;

/* pixels: n_channels elements, which are the second axis, are next to each other in the source or
 * in the destination, and apart on the other side, where the first axis is contiguous. The second
 * axis is no part of the decoding of a tile's number. */
typedef struct
{
  unsigned int n_tiles;
  unsigned int tiles_per_block;
  unsigned int n_axes;
  unsigned int n_channels;
  unsigned int n_pixels; /* for a tile */
  unsigned int pitch;    /* bytes of a channel in shared memory */
  unsigned int splits;   /* the source is interleaved */
  unsigned int unused;
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaPixels;

/* One side of a box: its axes from the innermost, with their steps in memory, in bytes, and in
 * shared memory, in elements. Columns are whole axes, and `split` elements of the next one; the
 * rest are rows. In units of words, the first axis has as many units as it takes. */
typedef struct
{
  unsigned int n_axes;
  unsigned int table; /* where the rows are in shared memory */
  unsigned int n_whole;
  unsigned int split;
  unsigned int split_parts;
  unsigned int n_columns;
  unsigned int n_rows;
  unsigned int n_lanes; /* rows at the same time */
  unsigned int unit;     /* elements of a column: those of a word, or 1 */
  unsigned int length;   /* elements of the first axis */
  unsigned int position; /* that of the first element */
  unsigned int extents[MTL_CUDA_BOX_AXES];
  unsigned int column_extents[MTL_CUDA_BOX_AXES]; /* those of whole axes, and `split` */
  int offsets[MTL_CUDA_BOX_AXES];
  unsigned int positions[MTL_CUDA_BOX_AXES];
} MtlCudaBoxSide;

/* box: tiles of up to MTL_CUDA_BOX_AXES axes, read in the order of the source's addresses and
 * written in the order of the destination's. */
typedef struct
{
  unsigned int n_tiles;
  unsigned int tiles_per_block;
  unsigned int n_axes;
  unsigned int data; /* where the elements are in shared memory */
  unsigned long long source_begin;
  unsigned long long source_end;
  MtlCudaBoxSide sides[2]; /* the destination's, and the source's */
  MtlCudaAxis axes[MTL_CUDA_MAX_AXES];
} MtlCudaBox;

/* The conversions between common types, each a module of its own: X (source, destination). Integers
 * that become narrower or change their sign are copied, and those that become wider are so by the
 * sign of the source. */
#define MTL_CUDA_PAIRS_OF(X, real) \
  X (bool, real) \
  X (real, bool) \
  X (u8, real) \
  X (real, u8) \
  X (i8, real) \
  X (real, i8) \
  X (u16, real) \
  X (real, u16) \
  X (i16, real) \
  X (real, i16) \
  X (u32, real) \
  X (real, u32) \
  X (i32, real) \
  X (real, i32) \
  X (u64, real) \
  X (real, u64) \
  X (i64, real) \
  X (real, i64)

#define MTL_CUDA_PAIRS(X) \
  X (u8, u16) \
  X (u8, u32) \
  X (u8, u64) \
  X (u16, u32) \
  X (u16, u64) \
  X (u32, u64) \
  X (i8, i16) \
  X (i8, i32) \
  X (i8, i64) \
  X (i16, i32) \
  X (i16, i64) \
  X (i32, i64) \
  X (bool, u8) \
  X (bool, u16) \
  X (bool, u32) \
  X (bool, u64) \
  X (u8, bool) \
  X (u16, bool) \
  X (u32, bool) \
  X (u64, bool) \
  X (f16, bf16) \
  X (f16, f32) \
  X (f16, f64) \
  X (bf16, f16) \
  X (bf16, f32) \
  X (bf16, f64) \
  X (f32, f16) \
  X (f32, bf16) \
  X (f32, f64) \
  X (f64, f16) \
  X (f64, bf16) \
  X (f64, f32) \
  MTL_CUDA_PAIRS_OF (X, f16) \
  MTL_CUDA_PAIRS_OF (X, bf16) \
  MTL_CUDA_PAIRS_OF (X, f32) \
  MTL_CUDA_PAIRS_OF (X, f64)
