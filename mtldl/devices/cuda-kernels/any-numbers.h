/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Conversions whose types are only known at run time */

#include "numbers.h"

/* A number, without loss: an integer of 64 bits, or a float of 32 or 64 */
struct Value
{
  u64 bits;
  enum { INT, UINT, FLOAT32, FLOAT64 } kind;
};

/* Rounds magnitudes to n_bits fewer bits, ties to even. */
DEVICE u32
round_off (u32 magnitude,
           u32 n_bits)
{
  return (magnitude + (1u << (n_bits - 1)) - 1 + (magnitude >> n_bits & 1)) >> n_bits;
}

DEVICE float
get_power (int biased)
{
  return bits<float> ((u32) biased << 23);
}

/* A subnormal result is rounded by adding a power of two whose last bit has the value of the
 * smallest number. */
DEVICE u32
narrow_magnitude (const MtlCudaFloat &kind,
                  u32                 magnitude)
{
  const int bias = kind.bias, n_bits = kind.mantissa_bits;
  const float power = get_power (151 - bias - n_bits);

  if (magnitude < (u32) (128 - bias) << 23)
    return bits<u32> (bits<float> (magnitude) + power) - bits<u32> (power);

  return round_off (magnitude - ((u32) (127 - bias) << 23), 23 - n_bits);
}

DEVICE u32
small_from_float32 (const MtlCudaFloat &kind,
                    u32                 x)
{
  u32 magnitude = x & 0x7fffffff, narrow;
  u32 sign = x >> 31 << (kind.exponent_bits + kind.mantissa_bits);

  if (magnitude > FLOAT32_INFINITY)
    narrow = kind.nan;
  else
    {
      narrow = narrow_magnitude (kind, magnitude);
      narrow = narrow > kind.largest ? kind.too_large : narrow;
    }
  if (kind.has_no_negative_zero)
    return (narrow & 0x7f) != 0 ? narrow | sign : narrow;

  return narrow ^ sign;
}

DEVICE u32
small_to_float32 (const MtlCudaFloat &kind,
                  u32                 pattern)
{
  u32 n_bits = kind.exponent_bits + kind.mantissa_bits;
  u32 magnitude = pattern & ((1u << n_bits) - 1), sign = pattern >> n_bits << 31, wide;
  bool has_infinity = kind.too_large > kind.largest && kind.too_large < kind.nan;

  wide = magnitude << (23 - kind.mantissa_bits);
  if (magnitude >> kind.mantissa_bits == 0)
    {
      u32 power = (u32) (128 - kind.bias) << 23;

      wide = bits<u32> (bits<float> (wide + power) - bits<float> (power));
    }
  else
    wide += (u32) (127 - kind.bias) << 23;

  if (kind.has_no_negative_zero)
    return sign | (pattern == kind.nan ? 0x7fc00000 : wide);

  wide = magnitude > kind.largest ? 0x7fc00000 : wide;
  wide = has_infinity && magnitude == kind.too_large ? FLOAT32_INFINITY : wide;
  return sign | wide;
}

/* A type that only has an exponent. Ties round to the larger value. */
DEVICE u32
power_from_float32 (u32 x)
{
  u32 power = x < 0x800000 ? (x >= 0x600000 ? 1 : 0) : (x + 0x400000) >> 23;

  /* Negative numbers have the sign bit and so are above NaN. */
  return x == 0 || x > FLOAT32_INFINITY || power > 0xfe ? 0xff : power;
}

DEVICE u32
power_to_float32 (u32 pattern)
{
  return pattern == 0xff ? 0x7fc00000 : pattern == 0 ? 0x400000 : pattern << 23;
}

DEVICE Value
load_integer (u64  pattern,
              u32  n_bits,
              bool is_signed)
{
  u32 shift = 64 - n_bits;

  pattern <<= shift;
  return is_signed ? Value { (u64) ((s64) pattern >> shift), Value::INT }
                   : Value { pattern >> shift, Value::UINT };
}

DEVICE Value
load_number (const MtlCudaNumber &type,
             u64                  pattern)
{
  switch (type.kind)
    {
    case MTL_CUDA_NUMBER_BOOL:
      return { (pattern & 0xff) != 0, Value::UINT };
    case MTL_CUDA_NUMBER_INT:
    case MTL_CUDA_NUMBER_UINT:
      return load_integer (pattern, type.bits, type.kind == MTL_CUDA_NUMBER_INT);
    case MTL_CUDA_NUMBER_FLOAT64:
      return { pattern, Value::FLOAT64 };
    case MTL_CUDA_NUMBER_FLOAT32:
      return { (u32) pattern, Value::FLOAT32 };
    case MTL_CUDA_NUMBER_FLOAT16:
      return { float32_from_float16 (pattern), Value::FLOAT32 };
    case MTL_CUDA_NUMBER_BFLOAT16:
      return { float32_from_bfloat16 (pattern), Value::FLOAT32 };
    case MTL_CUDA_NUMBER_POWER:
      return { power_to_float32 (pattern & 0xff), Value::FLOAT32 };
    default:
      return { small_to_float32 (type.format, pattern & ((1u << type.bits) - 1)),
               Value::FLOAT32 };
    }
}

DEVICE u64
get_float64 (Value x)
{
  switch (x.kind)
    {
    case Value::INT:
      return bits<u64> ((double) (s64) x.bits);
    case Value::UINT:
      return bits<u64> ((double) x.bits);
    case Value::FLOAT32:
      return float64_from_float32 (x.bits);
    default:
      return x.bits;
    }
}

DEVICE u32
get_float32 (Value x)
{
  switch (x.kind)
    {
    case Value::INT:
      return bits<u32> ((float) (s64) x.bits);
    case Value::UINT:
      return bits<u32> ((float) x.bits);
    case Value::FLOAT32:
      return x.bits;
    default:
      return float32_from_float64 (x.bits);
    }
}

DEVICE u32
get_odd_float32 (Value x)
{
  switch (x.kind)
    {
    case Value::INT:
      return odd_from_int64 (x.bits);
    case Value::UINT:
      return odd_from_magnitude (x.bits, false);
    case Value::FLOAT32:
      return x.bits;
    default:
      return odd_from_float64 (x.bits);
    }
}

DEVICE u64
get_integer (Value x,
             u32   n_bits,
             bool  is_signed)
{
  if (x.kind == Value::INT || x.kind == Value::UINT)
    return x.bits;

  if (is_signed)
    {
      s64 most = (s64) (~0ull >> (65 - n_bits));
      s64 integer = cut<s64> (bits<double> (get_float64 (x)));

      integer = integer > most ? most : integer;
      return integer < -most - 1 ? -most - 1 : integer;
    }

  u64 most = ~0ull >> (64 - n_bits), integer = cut<u64> (bits<double> (get_float64 (x)));

  return integer > most ? most : integer;
}

DEVICE bool
is_nonzero_value (Value x)
{
  switch (x.kind)
    {
    case Value::FLOAT32:
      return (u32) x.bits << 1 != 0;
    case Value::FLOAT64:
      return x.bits << 1 != 0;
    default:
      return x.bits != 0;
    }
}

/* The pattern in the low bits */
DEVICE u64
store_number (const MtlCudaNumber &type,
              Value                x)
{
  switch (type.kind)
    {
    case MTL_CUDA_NUMBER_BOOL:
      return is_nonzero_value (x);
    case MTL_CUDA_NUMBER_INT:
    case MTL_CUDA_NUMBER_UINT:
      return get_integer (x, type.bits, type.kind == MTL_CUDA_NUMBER_INT)
             & ~0ull >> (64 - type.bits);
    case MTL_CUDA_NUMBER_FLOAT64:
      return get_float64 (x);
    case MTL_CUDA_NUMBER_FLOAT32:
      return get_float32 (x);
    case MTL_CUDA_NUMBER_FLOAT16:
      return float16_from_float32 (get_odd_float32 (x));
    case MTL_CUDA_NUMBER_BFLOAT16:
      return bfloat16_from_float32 (get_odd_float32 (x));
    case MTL_CUDA_NUMBER_POWER:
      return power_from_float32 (get_odd_float32 (x));
    default:
      return small_from_float32 (type.format, get_odd_float32 (x));
    }
}

/* NaN of an operation is the first operand that is NaN, or the host's own. */
DEVICE double
choose_nan (double result,
            double a,
            double b,
            u64    own)
{
  if (result == result)
    return result;
  if (a != a)
    return bits<double> (bits<u64> (a) | 1ull << 51);
  if (b != b)
    return bits<double> (bits<u64> (b) | 1ull << 51);
  return bits<double> (own);
}

DEVICE double
round_to_even (double x)
{
  u64 magnitude = bits<u64> (x) & 0x7fffffffffffffff;
  double power = bits<double> (0x4330000000000000 | (bits<u64> (x) ^ magnitude)); /* 2^52 */

  return magnitude < 0x4330000000000000 ? (x + power) - power : x;
}

/* Only the real part gets the offset. */
DEVICE Value
scale_number (const MtlCudaConversion &p,
              Value                    value,
              bool                     is_real)
{
  double x = bits<double> (get_float64 (value));
  double result = choose_nan (x * p.factors[0], x, p.factors[0], p.own_nan);

  if (is_real)
    result = choose_nan (result + p.factors[1], result, p.factors[1], p.own_nan);
  if (p.dest.kind == MTL_CUDA_NUMBER_INT || p.dest.kind == MTL_CUDA_NUMBER_UINT)
    result = round_to_even (result);
  return { bits<u64> (result), Value::FLOAT64 };
}

DEVICE u64
convert_number (const MtlCudaConversion &p,
                u64                      pattern,
                bool                     is_real)
{
  Value value;

  /* Integers of the same size, and those of a type that differs in its padding only */
  if (p.copies)
    return pattern;

  value = load_number (p.source, pattern);
  if (p.is_scaled)
    value = scale_number (p, value, is_real);
  return store_number (p.dest, value);
}

/* Patterns of 1, 2, 4 or 8 bytes */

DEVICE u64
load_pattern (u64  address,
              u32  size,
              bool is_unaligned)
{
  u64 pattern = 0;

  if (is_unaligned)
    {
      ROLLED
      for (u32 k = 0; k < size; k++)
        pattern |= (u64) peek<u8> (address + k) << 8 * k;
      return pattern;
    }

  switch (size)
    {
    case 1:
      return peek<u8> (address);
    case 2:
      return peek<u16> (address);
    case 4:
      return peek<u32> (address);
    default:
      return peek<u64> (address);
    }
}

DEVICE void
store_pattern (u64  address,
               u64  pattern,
               u32  size,
               bool is_unaligned)
{
  if (is_unaligned)
    {
      ROLLED
      for (u32 k = 0; k < size; k++)
        poke<u8> (address + k, pattern >> 8 * k);
      return;
    }

  switch (size)
    {
    case 1:
      poke<u8> (address, pattern);
      break;
    case 2:
      poke<u16> (address, pattern);
      break;
    case 4:
      poke<u32> (address, pattern);
      break;
    default:
      poke<u64> (address, pattern);
    }
}

/* Up to 8 bits. Only the bytes that contain them are read. */
DEVICE u32
load_bits (u64 address,
           u32 n)
{
  const u32 bit = (u32) address & 7;
  u32 window = peek<u8> (address >> 3);

  if (bit + n > 8)
    window |= (u32) peek<u8> ((address >> 3) + 1) << 8;

  return window >> bit & ((1u << n) - 1);
}
