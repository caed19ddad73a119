/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of the tests of the double of CUDA's driver. They need nothing but the C library, so that
 * they also run on a machine that has only a GPU. Without MTL_CUDA_LIBRARY it is the driver's test.
 * Each case is a process of its own. */

#pragma once

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda-double-more.h"
#include "cuda-double.h"
#include "mtl-cuda-abi-private.h"

#define SKIPPED 77
#define SECONDS_OF_A_CASE 60

static struct
{
#define MEMBER(name, parameters) CuResult (*name) parameters;
  CU_FUNCTIONS (MEMBER)
  CU_STRUCT_FUNCTIONS (MEMBER)
  CU_OPTIONAL_FUNCTIONS (MEMBER)
  CU_MORE_FUNCTIONS (MEMBER)
} cu;

#define CONTROLS(X) \
  X (set_devices) X (set_attribute) X (set_version) X (set_init_result) X (set_jit_result) \
  X (add_kernel) X (set_abort) X (violations) X (last_violation) X (set_strict_streams) \
  X (dead_streams_used) X (set_eager) X (set_delay) X (pause) X (resume) X (quiesce) X (pending) \
  X (waits) X (waits_of_all_threads) X (calls) X (context_depth) X (capture_mode) X (fail_at) \
  X (points) X (fail_function) X (fail_work) X (set_error) X (set_reuse) X (pool_cached) \
  X (pool_threshold) X (live) X (live_bytes) X (list_live) X (peek) X (poke)

/* The controls of the double, NULL over the driver */
static struct
{
#define CONTROL(name) __typeof__ (&cuda_double_##name) name;
  CONTROLS (CONTROL)
} dbl;
static bool is_double;

static void *library;
static CuContext context;

typedef struct
{
  const char *name;
  void (*run) (void);
  bool any_driver; /* else for the double alone */
} Case;

static void __attribute__ ((noreturn)) failed (const char *file, int line, const char *what,
                                               unsigned long long a, unsigned long long b)
{
  printf ("# %s:%d: %s (%llu, %llu)\n", file, line, what, a, b);
  fflush (stdout);
  _exit (1);
}

#define CHECK(condition) \
  do \
    if (!(condition)) \
      failed (__FILE__, __LINE__, #condition, 0, 0); \
  while (0)

#define EXPECT(expected, call) \
  do \
    { \
      unsigned long long e_ = (unsigned long long) (expected), c_ = (unsigned long long) (call); \
      if (e_ != c_) \
        failed (__FILE__, __LINE__, #call, e_, c_); \
    } \
  while (0)

#define MUST(call) EXPECT (CU_SUCCESS, call)

/* Exactly one violation */
#define VIOLATES(expected, call) \
  do \
    { \
      unsigned before_ = dbl.violations (); \
      dbl.set_abort (false); \
      EXPECT (expected, call); \
      EXPECT (before_ + 1, dbl.violations ()); \
      dbl.set_abort (true); \
    } \
  while (0)

#define ADDRESS(pointer) ((CuAddress) (uintptr_t) (pointer))
#define POINTER(address) ((void *) (uintptr_t) (address))

static void __attribute__ ((unused))
open_library (void)
{
  const char *path = getenv ("MTL_CUDA_LIBRARY");

  library = dlopen (path != NULL ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    {
      printf ("# %s\n", dlerror ());
      exit (path != NULL ? 1 : SKIPPED);
    }
  is_double = dlsym (library, "cuda_double_violations") != NULL;
#define LOAD(name, parameters) \
  cu.name = (CuResult (*) parameters) dlsym (library, #name); \
  CHECK (!is_double || cu.name != NULL);
  CU_FUNCTIONS (LOAD)
  CU_STRUCT_FUNCTIONS (LOAD)
  CU_OPTIONAL_FUNCTIONS (LOAD)
  CU_MORE_FUNCTIONS (LOAD)
#define LOAD_CONTROL(name) \
  dbl.name = (__typeof__ (dbl.name)) dlsym (library, "cuda_double_" #name); \
  CHECK (!is_double || dbl.name != NULL);
  CONTROLS (LOAD_CONTROL)
}

static void __attribute__ ((unused))
begin (void)
{
  MUST (cu.cuInit (0));
  MUST (cu.cuDevicePrimaryCtxRetain (&context, 0));
  MUST (cu.cuCtxPushCurrent_v2 (context));
}

/* Nothing is left, and nothing was wrong. */
static void __attribute__ ((unused))
end (void)
{
  if (is_double)
    {
      EXPECT (1, dbl.context_depth ());
      EXPECT (0, dbl.violations ());
      if (dbl.live (NULL) != 0)
        dbl.list_live ();
      EXPECT (0, dbl.live (NULL));
    }
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
}

static CuStream __attribute__ ((unused))
new_stream (void)
{
  CuStream stream;

  MUST (cu.cuStreamCreate (&stream, CU_STREAM_NONBLOCKING));
  return stream;
}

static CuEvent __attribute__ ((unused))
new_event (void)
{
  CuEvent event;

  MUST (cu.cuEventCreate (&event, CU_EVENT_NO_TIMING));
  return event;
}

static CuPool __attribute__ ((unused))
new_pool (int device)
{
  CuPoolProps props = { .alloc_type = CU_ALLOCATION_PINNED, .location_type = CU_LOCATION_DEVICE,
                        .location_id = device };
  CuPool pool;

  MUST (cu.cuMemPoolCreate (&pool, &props));
  return pool;
}

static CuAddress __attribute__ ((unused))
new_memory (size_t size)
{
  CuAddress address;

  MUST (cu.cuMemAlloc_v2 (&address, size));
  return address;
}

static void * __attribute__ ((unused))
new_pinned (size_t size)
{
  void *address;

  MUST (cu.cuMemHostAlloc (&address, size, 0));
  return address;
}

/* The first four bytes of memory, after all that is in the stream */
static uint32_t __attribute__ ((unused))
read_word (CuAddress address,
           CuStream  stream)
{
  uint32_t *word = new_pinned (4), value;

  MUST (cu.cuMemcpyAsync (ADDRESS (word), address, 4, stream));
  MUST (cu.cuStreamSynchronize (stream));
  value = *word;
  MUST (cu.cuMemFreeHost (word));
  return value;
}

static bool __attribute__ ((unused))
is_filled (const void *bytes,
           size_t      n,
           int         value)
{
  for (size_t i = 0; i < n; i++)
    if (((const unsigned char *) bytes)[i] != value)
      return false;
  return true;
}

/* Looks an address up in the mappings of the process. */
static bool __attribute__ ((unused))
is_accessible (const volatile void *address,
               bool                 to_write)
{
  unsigned long long start, end, at = (uintptr_t) address;
  char line[1024], access[5];
  FILE *file = fopen ("/proc/self/maps", "r");
  bool found = false;

  while (!found && fgets (line, sizeof line, file) != NULL)
    found = sscanf (line, "%llx-%llx %4s", &start, &end, access) == 3 && at >= start && at < end
            && access[to_write ? 1 : 0] != '-';
  fclose (file);
  return found;
}

static void __attribute__ ((unused, noreturn))
run_here (const Case *tested)
{
  alarm (SECONDS_OF_A_CASE);
  open_library ();
  if (!is_double && !tested->any_driver)
    exit (SKIPPED);
  tested->run ();
  exit (0);
}

/* Runs a case in a child, and shows its output as comments. */
static int __attribute__ ((unused))
run_in_child (const Case *tested)
{
  char line[1024];
  int pipes[2], status;
  pid_t child;
  FILE *lines;

  fflush (stdout);
  if (pipe (pipes) != 0 || (child = fork ()) < 0)
    return 1;
  if (child == 0)
    {
      dup2 (pipes[1], 1);
      dup2 (pipes[1], 2);
      close (pipes[0]);
      close (pipes[1]);
      run_here (tested);
    }
  close (pipes[1]);
  lines = fdopen (pipes[0], "r");
  while (fgets (line, sizeof line, lines) != NULL)
    printf ("%s%s", line[0] == '#' ? "" : "# ", line);
  fclose (lines);
  waitpid (child, &status, 0);
  if (WIFSIGNALED (status))
    printf ("# signal %d\n", WTERMSIG (status));
  return WIFEXITED (status) ? WEXITSTATUS (status) : 1;
}

static int __attribute__ ((unused))
run_cases (int         argc,
           char      **argv,
           const Case *cases,
           size_t      n)
{
  int n_failed = 0;

  for (size_t i = 0; argc > 1 && i < n; i++)
    if (strcmp (cases[i].name, argv[1]) == 0)
      run_here (&cases[i]);
  if (argc > 1)
    return 1;

  printf ("1..%zu\n", n);
  for (size_t i = 0; i < n; i++)
    {
      int status = run_in_child (&cases[i]);
      bool passed = status == 0 || status == SKIPPED;

      printf ("%s %zu %s%s\n", passed ? "ok" : "not ok", i + 1, cases[i].name,
              status == SKIPPED ? " # SKIP this needs the double of CUDA's driver" : "");
      n_failed += !passed;
    }

  return n_failed > 0;
}

#define RUN_CASES(cases) \
  int \
  main (int    argc, \
        char **argv) \
  { \
    return run_cases (argc, argv, cases, sizeof (cases) / sizeof *(cases)); \
  }
