/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Comparisons of numbers of any two types, by the rules of mtl_number_is_close(). Addresses and
 * steps are in bits; the first operand is in the place of the destination. */

#include "any-numbers.h"

struct Complex
{
  Value re;
  double im;
};

DEVICE double
get_double (Value x)
{
  return bits<double> (get_float64 (x));
}

DEVICE Value
load_part (const MtlCudaNumber &type,
           u64                  address,
           bool                 is_unaligned)
{
  if (type.bits < 8)
    return load_number (type, load_bits (address, type.bits));

  return load_number (type, load_pattern (address >> 3, type.size, is_unaligned));
}

DEVICE Complex
load_complex (const MtlCudaCompare &p,
              const MtlCudaNumber  &type,
              u32                   n_parts,
              u64                   address)
{
  Complex number = { load_part (type, address, p.is_unaligned), 0 };

  if (n_parts > 1)
    number.im = get_double (load_part (type, address + type.bits, p.is_unaligned));
  return number;
}

DEVICE bool
is_integer (Value x)
{
  return x.kind == Value::INT || x.kind == Value::UINT;
}

/* Is exact, although neither type holds all numbers of the other. */
DEVICE bool
integer_equals (Value  integer,
                double x)
{
  if (get_double (integer) != x)
    return false;
  if (integer.kind == Value::INT)
    return x < 0x1p63 && cut<s64> (x) == (s64) integer.bits;

  return x < 0x1p64 && cut<u64> (x) == integer.bits;
}

DEVICE bool
are_equal (const Complex &a,
           const Complex &b)
{
  if (is_integer (a.re) && is_integer (b.re))
    return a.re.bits == b.re.bits && (a.re.kind == b.re.kind || (s64) a.re.bits >= 0);
  if (a.im != b.im)
    return false;
  if (is_integer (a.re))
    return integer_equals (a.re, get_double (b.re));
  if (is_integer (b.re))
    return integer_equals (b.re, get_double (a.re));

  return get_double (a.re) == get_double (b.re);
}

DEVICE bool
has_nan (const Complex &x)
{
  double re = get_double (x.re);

  return re != re || x.im != x.im;
}

/* Complex numbers are only compared without a tolerance. */
DEVICE bool
are_close (const MtlCudaCompare &p,
           const Complex        &a,
           const Complex        &b)
{
  double x = get_double (a.re), y = get_double (b.re);

  if (are_equal (a, b) || (p.nans_are_equal && has_nan (a) && has_nan (b)))
    return true;

  return !p.is_exact && y - y == 0
         && __builtin_fabs (x - y) <= p.atol + p.rtol * __builtin_fabs (y);
}

DEVICE void
compare_elements (const MtlCudaCompare &p,
                  u64                   a,
                  u64                   b,
                  u32                   block,
                  u32                   tid)
{
  const u32 first = block * (N_THREADS * N_EACH) + tid;

  /* The result is known. */
  if (peek<u32> (p.result) != 0)
    return;

  ROLLED
  for (u32 i = first, j = 0; j < N_EACH && i < p.n; i += N_THREADS, j++)
    {
      s64 a_offset, b_offset;

      locate<ANY> (p.axes, p.n_axes, i, &a_offset, &b_offset);
      if (!are_close (p, load_complex (p, p.a, p.n_a_parts, a + a_offset),
                      load_complex (p, p.b, p.n_b_parts, b + b_offset)))
        poke<u32> (p.result, 1);
    }
}

KERNEL (compare, MtlCudaCompare, 4,
        EACH_THREAD (tid)
          compare_elements (p, dest, source, block, tid))
