/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test-utils.h"

#include "mtl-copy-kernels-private.h"

#if defined (__has_include)
#if __has_include (<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

/* The kernels that MTL_KERNELS chooses on this machine: those that it names, or the best ones if it
 * names none that exist. The C library tells the machine's features. */

#if defined (CPU_FEATURE_ACTIVE) && defined (MTL_COPY_HAS_X86_SETS)
/* Does the same as x86_cpu_active(), which shifts into the sign. */
static gboolean
is_active (guint feature)
{
  const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf (feature / 128);

  return (leaf->active_array[feature % 128 / 32] & 1u << feature % 32) != 0;
}

static gboolean
machine_has_sse4 (void)
{
  return is_active (x86_cpu_SSSE3) && is_active (x86_cpu_SSE4_1) && is_active (x86_cpu_SSE4_2)
         && is_active (x86_cpu_POPCNT) && is_active (x86_cpu_CMPXCHG16B)
         && is_active (x86_cpu_LAHF64_SAHF64);
}

static gboolean
machine_has_avx2 (void)
{
  return machine_has_sse4 ()
         && is_active (x86_cpu_AVX2) && is_active (x86_cpu_FMA)
         && is_active (x86_cpu_BMI1) && is_active (x86_cpu_BMI2) && is_active (x86_cpu_MOVBE)
         && is_active (x86_cpu_F16C) && is_active (x86_cpu_LZCNT);
}

static gboolean
machine_has_avx512 (void)
{
  return machine_has_avx2 ()
         && is_active (x86_cpu_AVX512F) && is_active (x86_cpu_AVX512BW)
         && is_active (x86_cpu_AVX512CD) && is_active (x86_cpu_AVX512DQ)
         && is_active (x86_cpu_AVX512VL);
}
#endif

/* Ends with the best. */
static GStrv
list_expected (void)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

  g_strv_builder_add (names, "plain");
#ifdef MTL_COPY_HAS_VECTORS
  g_strv_builder_add (names, "baseline");
#endif
#if defined (CPU_FEATURE_ACTIVE) && defined (MTL_COPY_HAS_X86_SETS)
  if (machine_has_sse4 ())
    g_strv_builder_add (names, "sse4");
  if (machine_has_avx2 ())
    g_strv_builder_add (names, "avx2");
  if (machine_has_avx512 ())
    g_strv_builder_add (names, "avx512");
#endif

  return g_strv_builder_end (names);
}

static void
test_choice (void)
{
  g_auto (GStrv) expected = list_expected ();
  const char *wanted = g_getenv ("MTL_KERNELS");
  const char *best = expected[g_strv_length (expected) - 1];
  const char *name = mtl_copy_machine_get ()->kernels->name;

#if defined (MTL_COPY_HAS_X86_SETS) && !defined (CPU_FEATURE_ACTIVE)
  g_test_skip ("This C library does not say what the machine has");
  return;
#endif

  g_test_message ("The best kernels here are %s; MTL_KERNELS=%s chooses %s", best,
                  wanted != NULL ? wanted : "", name);
  if (wanted != NULL && g_strv_contains ((const char *const *) expected, wanted))
    g_assert_cmpstr (name, ==, wanted);
  else
    g_assert_cmpstr (name, ==, best);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels/choice", test_choice);

  return g_test_run ();
}
