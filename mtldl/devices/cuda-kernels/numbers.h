/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Conversions of numbers by the rules of copies on the host, to the bit. Floats are their bits, so
 * that NaN keeps its payload. */

#include "machine.h"

struct Bool { u8 bits; };
struct Float16 { u16 bits; };
struct BFloat16 { u16 bits; };
struct Float32 { u32 bits; };
struct Float64 { u64 bits; };

/* The names in those of kernels */
typedef Bool number_bool;
typedef u8 number_u8;
typedef s8 number_i8;
typedef u16 number_u16;
typedef s16 number_i16;
typedef u32 number_u32;
typedef s32 number_i32;
typedef u64 number_u64;
typedef s64 number_i64;
typedef Float16 number_f16;
typedef BFloat16 number_bf16;
typedef Float32 number_f32;
typedef Float64 number_f64;

static const u32 FLOAT32_INFINITY = 0x7f800000;
static const u64 FLOAT64_INFINITY = 0x7ff0000000000000;

DEVICE u32
float32_from_float16 (u16 x)
{
  u32 magnitude = x & 0x7fff, wide = bits<u32> (widen_half (x));

  return magnitude > 0x7c00 ? (x & 0x8000u) << 16 | magnitude << 13 | 0x7fc00000 : wide;
}

DEVICE u32
float32_from_bfloat16 (u16 x)
{
  return (u32) x << 16;
}

DEVICE u16
float16_from_float32 (u32 x)
{
  u32 magnitude = x & 0x7fffffff, nearest = round_to_half (bits<float> (x));

  return magnitude > FLOAT32_INFINITY
           ? (x >> 16 & 0x8000) | 0x7e00 | (magnitude >> 13 & 0x3ff) : nearest;
}

DEVICE u16
bfloat16_from_float32 (u32 x)
{
  u32 nearest = (x + 0x7fff + (x >> 16 & 1)) >> 16;

  return (x & 0x7fffffff) > FLOAT32_INFINITY ? x >> 16 | 0x40 : nearest;
}

DEVICE u64
float64_from_float32 (u32 x)
{
  u64 wide = bits<u64> ((double) bits<float> (x));
  u64 nan = (u64) (x >> 31) << 63 | 0x7ff8000000000000 | (u64) (x & 0x3fffff) << 29;

  return (x & 0x7fffffff) > FLOAT32_INFINITY ? nan : wide;
}

DEVICE bool
is_nan (u64 x)
{
  return (x & 0x7fffffffffffffff) > FLOAT64_INFINITY;
}

DEVICE u32
float32_from_float64 (u64 x)
{
  u32 nearest = bits<u32> ((float) bits<double> (x));
  u32 nan = (u32) (x >> 63) << 31 | 0x7fc00000 | ((u32) (x >> 29) & 0x3fffff);

  return is_nan (x) ? nan : nearest;
}

/* Rounds towards 0, and makes the magnitude odd if bits are lost, so that a second rounding, to
 * fewer bits, does no harm. Infinity counts as the largest magnitude plus one. */
DEVICE u32
odd_from_float64 (u64 x)
{
  u32 nearest = float32_from_float64 (x);
  u64 back = bits<u64> ((double) bits<float> (nearest));
  u32 is_above = (back & 0x7fffffffffffffff) > (x & 0x7fffffffffffffff) ? 1 : 0;
  u32 odd = (nearest - is_above) | (back != x ? 1 : 0);

  return is_nan (x) ? nearest : odd;
}

/* The same for an integer of the given sign */
DEVICE u32
odd_from_magnitude (u64  magnitude,
                    bool is_negative)
{
  u32 n_lost = 40 - __builtin_clzll (magnitude | 0xffffff);
  u64 lost = magnitude & ((1ull << n_lost) - 1);
  u32 kept = (u32) (magnitude >> n_lost) | (lost != 0 ? 1 : 0);

  return (bits<u32> ((float) kept) + (n_lost << 23)) | (is_negative ? 0x80000000 : 0);
}

DEVICE u32
odd_from_int64 (s64 x)
{
  return odd_from_magnitude (x < 0 ? 0 - (u64) x : x, x < 0);
}

/* Cuts floats to integers. Those that do not fit become the nearest, and NaN becomes 0. */
template <typename Integer, typename Real>
DEVICE Integer
cut (Real x)
{
  const int n_bits = 8 * sizeof (Integer);
  const bool is_signed = (Integer) -1 < (Integer) 1;
  const u64 top = 1ull << (n_bits - 1);
  const Integer most = is_signed ? (Integer) (top - 1) : (Integer) ~0ull;
  const Integer lowest = is_signed ? (Integer) top : (Integer) 0;
  const Real above = (Real) top * (is_signed ? 1 : 2), below = is_signed ? -(Real) top : (Real) 0;

  /* The conversion is one that is always defined. */
  const Integer near = (Integer) (x > below && x < above ? x : (Real) 0);
  const Integer end = x >= above ? most : x <= below ? lowest : (Integer) 0;

  return near | end;
}

/* The kinds of types */

template <typename T> struct Kind { enum { IS_INTEGER = 1, IS_DOUBLE = 0 }; };
template <> struct Kind<Bool> { enum { IS_INTEGER = 0, IS_DOUBLE = 0 }; };
template <> struct Kind<Float16> { enum { IS_INTEGER = 0, IS_DOUBLE = 0 }; };
template <> struct Kind<BFloat16> { enum { IS_INTEGER = 0, IS_DOUBLE = 0 }; };
template <> struct Kind<Float32> { enum { IS_INTEGER = 0, IS_DOUBLE = 0 }; };
template <> struct Kind<Float64> { enum { IS_INTEGER = 0, IS_DOUBLE = 1 }; };

template <typename A, typename B> struct IsSame { enum { VALUE = 0 }; };
template <typename A> struct IsSame<A, A> { enum { VALUE = 1 }; };

/* Floats of up to 32 bits, which float32 holds */
DEVICE u32 widen (Float16 x) { return float32_from_float16 (x.bits); }
DEVICE u32 widen (BFloat16 x) { return float32_from_bfloat16 (x.bits); }
DEVICE u32 widen (Float32 x) { return x.bits; }

template <typename T>
DEVICE bool
is_nonzero (T x)
{
  if constexpr (Kind<T>::IS_INTEGER)
    return x != 0;
  else if constexpr (IsSame<T, Bool>::VALUE)
    return x.bits != 0;
  else
    return (x.bits & (decltype (x.bits)) ~(1ull << (8 * sizeof (T) - 1))) != 0;
}

template <typename In, typename Out>
DEVICE Out
to_integer (In x)
{
  if constexpr (Kind<In>::IS_INTEGER)
    return (Out) x;
  else if constexpr (IsSame<In, Bool>::VALUE)
    return x.bits != 0;
  else if constexpr (Kind<In>::IS_DOUBLE)
    return cut<Out> (bits<double> (x.bits));
  else
    return cut<Out> (bits<float> (widen (x)));
}

template <typename In>
DEVICE u64
to_float64 (In x)
{
  if constexpr (Kind<In>::IS_INTEGER)
    return bits<u64> ((double) x);
  else if constexpr (IsSame<In, Bool>::VALUE)
    return bits<u64> ((double) (x.bits != 0));
  else if constexpr (Kind<In>::IS_DOUBLE)
    return x.bits;
  else
    return float64_from_float32 (widen (x));
}

template <typename In>
DEVICE u32
to_float32 (In x)
{
  if constexpr (Kind<In>::IS_INTEGER)
    return bits<u32> ((float) x);
  else if constexpr (IsSame<In, Bool>::VALUE)
    return bits<u32> ((float) (x.bits != 0));
  else if constexpr (Kind<In>::IS_DOUBLE)
    return float32_from_float64 (x.bits);
  else
    return widen (x);
}

/* Small integers are exact. */
template <typename In>
DEVICE u32
to_odd_float32 (In x)
{
  if constexpr (Kind<In>::IS_INTEGER && sizeof (In) >= 4)
    return (In) -1 < (In) 1 ? odd_from_int64 ((s64) x) : odd_from_magnitude (x, false);
  else if constexpr (Kind<In>::IS_DOUBLE)
    return odd_from_float64 (x.bits);
  else
    return to_float32 (x);
}

/* Integers that float32 rounds are infinite as float16. */
template <typename In>
DEVICE u16
to_float16 (In x)
{
  if constexpr (Kind<In>::IS_DOUBLE)
    return float16_from_float32 (odd_from_float64 (x.bits));
  else
    return float16_from_float32 (to_float32 (x));
}

template <typename In, typename Out>
struct Convert
{
  typedef In Source;
  typedef Out Dest;

  enum { HAS_WORDS = 0 };

  MEMBER Out
  of (In x)
  {
    if constexpr (Kind<Out>::IS_INTEGER)
      return to_integer<In, Out> (x);
    else if constexpr (IsSame<Out, Bool>::VALUE)
      return Out { (u8) is_nonzero (x) };
    else if constexpr (IsSame<Out, Float64>::VALUE)
      return Out { to_float64 (x) };
    else if constexpr (IsSame<Out, Float32>::VALUE)
      return Out { to_float32 (x) };
    else if constexpr (IsSame<Out, Float16>::VALUE)
      return Out { to_float16 (x) };
    else
      return Out { bfloat16_from_float32 (to_odd_float32 (x)) };
  }
};
