/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks and counts that all of the driver's functions have in common: initialization, forks, exit,
 * failures. */

#include "cuda-double-private.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CD_NAME(name, parameters) #name,
static const char *const names[CD_N_FUNCTIONS] = { CU_FUNCTIONS (CD_NAME)
                                                     CU_STRUCT_FUNCTIONS (CD_NAME)
                                                       CU_OPTIONAL_FUNCTIONS (CD_NAME)
                                                         CU_MORE_FUNCTIONS (CD_NAME) };

CuResult cd_error;
bool cd_ended;
bool cd_list_leaks;

static atomic_int owner; /* the process that called cuInit(), or 0 */
static unsigned calls[CD_N_FUNCTIONS];
static unsigned waits[CD_N_FUNCTIONS];
static __thread unsigned own_waits[CD_N_FUNCTIONS];
static __thread CdFunction current;
static __thread CuResult late_failure; /* for calls that do their work all the same */

static unsigned fail_at, n_points, fail_work_at;
static CuResult fail_code, fail_work_code;
static unsigned function_fails_at[CD_N_FUNCTIONS];
static CuResult function_fail_codes[CD_N_FUNCTIONS];

CdFunction
cd_function_named (const char *name)
{
  for (unsigned i = 0; i < CD_N_FUNCTIONS; i++)
    if (strcmp (names[i], name) == 0)
      return i;

  return CD_N_FUNCTIONS;
}

static bool
is_forked_child (void)
{
  int pid = atomic_load (&owner);

  return pid != 0 && pid != getpid ();
}

static CuResult
result_in_child (unsigned flags)
{
  if (flags & CD_FREES)
    cd_violation (CU_NOT_INITIALIZED, "in a forked child");

  return flags & CD_IN_CHILD ? CU_SUCCESS : CU_NOT_INITIALIZED;
}

static CuResult
injected_failure (CdFunction function,
                  unsigned   flags)
{
  if (flags & CD_INFALLIBLE)
    return CU_SUCCESS;

  n_points++;
  if (function_fails_at[function] > 0 && --function_fails_at[function] == 0)
    return function_fail_codes[function];
  if (fail_at > 0 && --fail_at == 0)
    return fail_code;

  return CU_SUCCESS;
}

static CuResult
check (CdFunction function,
       unsigned   flags)
{
  CuResult failure;

  if (cd_ended)
    return CU_DEINITIALIZED;
  if (atomic_load (&owner) == 0 && !(flags & CD_BEFORE_INIT))
    return CU_NOT_INITIALIZED;

  failure = injected_failure (function, flags);
  if (failure == CU_SUCCESS && !(flags & CD_AFTER_ERROR))
    failure = cd_error;
  if (failure != CU_SUCCESS && !(flags & CD_RELEASES))
    return failure;
  late_failure = failure;

  if ((flags & CD_CONTEXT) && cd_current_context () == NULL)
    return cd_violation (CU_INVALID_CONTEXT, "no current context");
  if (flags & CD_UNSAFE)
    return cd_capture_forbids ();

  return CU_SUCCESS;
}

bool
cd_enter (CdFunction function,
          unsigned   flags,
          CuResult  *result)
{
  cd_function = names[function];
  current = function;
  late_failure = CU_SUCCESS;
  if (is_forked_child ())
    {
      *result = result_in_child (flags);
      return false;
    }

  pthread_mutex_lock (&cd_lock);
  calls[function]++;
  *result = check (function, flags);
  if (*result != CU_SUCCESS)
    pthread_mutex_unlock (&cd_lock);

  return *result == CU_SUCCESS;
}

CuResult
cd_leave (CuResult result)
{
  if (result == CU_SUCCESS)
    result = late_failure;
  pthread_mutex_unlock (&cd_lock);

  return result;
}

void
cd_count_wait (void)
{
  waits[current]++;
  own_waits[current]++;
}

void
cd_set_error (CuResult code)
{
  if (cd_error == CU_SUCCESS)
    cd_error = code;
}

CuResult
cd_work_failure (void)
{
  return fail_work_at > 0 && --fail_work_at == 0 ? fail_work_code : CU_SUCCESS;
}

/* Work that is still queued is nobody's mistake. */
static void
end (void)
{
  if (is_forked_child ())
    return;

  if (cd_list_leaks)
    cuda_double_list_live ();
  pthread_mutex_lock (&cd_lock);
  cd_ended = true;
  pthread_cond_broadcast (&cd_changed);
  pthread_mutex_unlock (&cd_lock);
}

bool
cd_first_init (void)
{
  return atomic_load (&owner) == 0;
}

/* The handler runs before those that the program registered earlier, and before destructors. */
void
cd_become_owner (void)
{
  atomic_store (&owner, getpid ());
  atexit (end);
  cd_violation_atfork ();
  cd_start_worker ();
}

static unsigned
sum (const unsigned *counts,
     const char     *function)
{
  unsigned n = 0;

  for (unsigned i = 0; i < CD_N_FUNCTIONS; i++)
    if (function == NULL || strcmp (names[i], function) == 0)
      n += counts[i];

  return n;
}

unsigned
cuda_double_calls (const char *function)
{
  unsigned n;

  pthread_mutex_lock (&cd_lock);
  n = sum (calls, function);
  pthread_mutex_unlock (&cd_lock);

  return n;
}

unsigned
cuda_double_waits (const char *function)
{
  return sum (own_waits, function);
}

unsigned
cuda_double_waits_of_all_threads (const char *function)
{
  unsigned n;

  pthread_mutex_lock (&cd_lock);
  n = sum (waits, function);
  pthread_mutex_unlock (&cd_lock);

  return n;
}

void
cuda_double_fail_at (unsigned nth,
                     unsigned code)
{
  pthread_mutex_lock (&cd_lock);
  fail_at = nth;
  fail_code = code;
  n_points = 0;
  pthread_mutex_unlock (&cd_lock);
}

unsigned
cuda_double_points (void)
{
  unsigned n;

  pthread_mutex_lock (&cd_lock);
  n = n_points;
  pthread_mutex_unlock (&cd_lock);

  return n;
}

void
cuda_double_fail_function (const char *function,
                           unsigned    kth,
                           unsigned    code)
{
  CdFunction i = cd_function_named (function);

  if (i == CD_N_FUNCTIONS)
    {
      fprintf (stderr, "cuda-double: there is no function %s\n", function);
      abort ();
    }

  pthread_mutex_lock (&cd_lock);
  function_fails_at[i] = kth;
  function_fail_codes[i] = code;
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_fail_work (unsigned nth,
                       unsigned code)
{
  pthread_mutex_lock (&cd_lock);
  fail_work_at = nth;
  fail_work_code = code;
  pthread_mutex_unlock (&cd_lock);
}

void
cuda_double_set_error (unsigned code)
{
  pthread_mutex_lock (&cd_lock);
  cd_error = code;
  pthread_mutex_unlock (&cd_lock);
}
