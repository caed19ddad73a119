/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-copy-kernels-private.h"

#include <string.h>
#include <unistd.h>

#include "mtl-fork-private.h"

#ifdef MTL_COPY_HAS_X86_SETS
#include <cpuid.h>

/* Compilers assume this with -march=x86-64-v2. */
static gboolean
has_sse4 (void)
{
  guint a, b, c, d;

  return __builtin_cpu_supports ("ssse3") && __builtin_cpu_supports ("sse4.1")
         && __builtin_cpu_supports ("sse4.2") && __builtin_cpu_supports ("popcnt")
         && __get_cpuid (1, &a, &b, &c, &d) != 0 && (c & bit_CMPXCHG16B) != 0
         && __get_cpuid (0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LAHF_LM) != 0;
}

/* They assume this with -march=x86-64-v3. Parts of that cannot be queried by name.
 * Support for AVX2 includes that the system saves the registers. */
static gboolean
has_avx2 (void)
{
  guint a, b, c, d;

  return has_sse4 () && __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma")
         && __builtin_cpu_supports ("bmi") && __builtin_cpu_supports ("bmi2")
         && __get_cpuid (1, &a, &b, &c, &d) != 0
         && (c & bit_MOVBE) != 0 && (c & bit_F16C) != 0
         && __get_cpuid (0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}

/* They assume this with -march=x86-64-v4, and permutations of single bytes, which the
 * first processors with AVX-512 lack. */
static gboolean
has_avx512 (void)
{
  return has_avx2 () && __builtin_cpu_supports ("avx512vbmi")
         && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw")
         && __builtin_cpu_supports ("avx512cd") && __builtin_cpu_supports ("avx512dq")
         && __builtin_cpu_supports ("avx512vl");
}
#endif

/* The best comes last. */
static guint
list_supported (const MtlCopyKernels **kernels)
{
  guint n = 0;

  kernels[n++] = &mtl_copy_kernels_plain;
#ifdef MTL_COPY_HAS_VECTORS
  kernels[n++] = &mtl_copy_kernels_baseline;
#endif
#ifdef MTL_COPY_HAS_X86_SETS
  if (has_sse4 ())
    kernels[n++] = &mtl_copy_kernels_sse4;
  if (has_avx2 ())
    kernels[n++] = &mtl_copy_kernels_avx2;
  if (has_avx512 ())
    kernels[n++] = &mtl_copy_kernels_avx512;
#endif

  return n;
}

static const MtlCopyKernels *
choose (void)
{
  const MtlCopyKernels *supported[5];
  guint n = list_supported (supported);
  const char *wanted = g_getenv ("MTL_KERNELS");

  for (guint i = 0; i < n && wanted != NULL; i++)
    if (strcmp (supported[i]->name, wanted) == 0)
      return supported[i];

  return supported[n - 1];
}

#ifdef MTL_COPY_HAS_X86_SETS
/* The size of the L3 cache that a group of cores shares, in bytes, or 0. The size
 * that the system reports may be the sum of all groups. */
static gsize
get_amd_shared_cache_size (void)
{
  enum { CACHE_PROPERTIES = 0x8000001d, THIRD = 3 };
  guint a, b, c, d;

  if (!__builtin_cpu_is ("amd") || !__get_cpuid_count (CACHE_PROPERTIES, THIRD, &a, &b, &c, &d)
      || (a >> 5 & 7) != 3)
    return 0;

  /* Bytes of a line, partitions, ways and sets, each minus one. */
  return (gsize) ((b & 0xfff) + 1) * ((b >> 12 & 0x3ff) + 1) * ((b >> 22) + 1) * ((gsize) c + 1);
}
#endif

/* About a core's own cache: a cache that other cores share is mostly no faster than
 * streaming to memory, but AMD's is. The source must have room beside the destination. */
static gsize
get_streaming_threshold (void)
{
  gsize threshold = 2 * 1024 * 1024;

#ifdef MTL_COPY_HAS_X86_SETS
  threshold = MAX (threshold, get_amd_shared_cache_size () / 8 * 5);
#endif

  return threshold;
}

/* AMD's processors are slow at some things if both sides are at nearly the same place of a
 * page: at streaming several pages in turn, five times, and at the instruction for strings,
 * 20 times. While they stream, they read little of what was prefetched. */
static gboolean
is_amd (void)
{
#ifdef MTL_COPY_HAS_X86_SETS
  return __builtin_cpu_is ("amd");
#else
  return FALSE;
#endif
}

/* The size that the system tells, or a usual one. */
static gsize
get_cache_size (int   name,
                gsize usual)
{
  long size = name >= 0 ? sysconf (name) : -1;

  return size > 0 ? (gsize) size : usual;
}

#ifdef _SC_LEVEL2_CACHE_SIZE
#define FIRST_CACHE _SC_LEVEL1_DCACHE_SIZE
#define SECOND_CACHE _SC_LEVEL2_CACHE_SIZE
#else
#define FIRST_CACHE -1
#define SECOND_CACHE -1
#endif

const MtlCopyMachine *
mtl_copy_machine_get (void)
{
  static const GDebugKey keys[] = { { "copy", 1 } };
  static MtlCopyMachine machine;
  static MtlForkOnce once;

  if (mtl_fork_once_enter (&once))
    {
      machine.kernels = choose ();
      machine.near_size = get_cache_size (FIRST_CACHE, 32 * 1024) / 4 * 3;
      machine.own_size = get_cache_size (SECOND_CACHE, 512 * 1024) / 4 * 3;
      machine.streaming_threshold = get_streaming_threshold ();
      mtl_copy_streams_pages_in_turn = !is_amd ();
      mtl_copy_avoids_strings = is_amd ();
      mtl_copy_reads_while_streaming = !is_amd ();
      machine.is_verbose = g_parse_debug_string (g_getenv ("MTL_DEBUG"), keys, G_N_ELEMENTS (keys))
                           != 0;
      mtl_fork_once_leave (&once);
    }

  return &machine;
}
