/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Many threads at once. */

#include "test-double.h"

#include <pthread.h>

#define N_THREADS 4
#define N_ROUNDS 100

static CuPool pool;
static CuAddress shared;

/* A thread's own stream, memory from a common pool, and a word to which each adds nothing. */
static void *
work (void *data)
{
  uint32_t own = (uint32_t) (uintptr_t) data;
  CuStream stream;
  CuEvent event;
  uint32_t *word;

  MUST (cu.cuCtxPushCurrent_v2 (context));
  stream = new_stream ();
  event = new_event ();
  word = new_pinned (4);
  for (uint32_t i = 0; i < N_ROUNDS; i++)
    {
      CuAddress address;

      MUST (cu.cuMemAllocFromPoolAsync (&address, 256, pool, stream));
      MUST (cu.cuMemsetD32Async (address, own * N_ROUNDS + i, 64, stream));
      MUST (cu.cuMemcpyAsync (shared + 4 * own, address + 252, 4, stream));
      MUST (cu.cuMemcpyAsync (ADDRESS (word), shared + 4 * own, 4, stream));
      MUST (cu.cuMemFreeAsync (address, stream));
      MUST (cu.cuEventRecord (event, stream));
      if (i % 3 == 0)
        MUST (cu.cuEventSynchronize (event));
      else if (i % 3 == 1)
        while (cu.cuEventQuery (event) == CU_NOT_READY)
          ;
      else
        MUST (cu.cuStreamSynchronize (stream));
      EXPECT (own * N_ROUNDS + i, *word);
    }
  MUST (cu.cuMemFreeHost (word));
  MUST (cu.cuEventDestroy_v2 (event));
  MUST (cu.cuStreamDestroy_v2 (stream));
  MUST (cu.cuCtxPopCurrent_v2 (NULL));
  return NULL;
}

static void
test_many (void)
{
  pthread_t threads[N_THREADS];

  begin ();
  pool = new_pool (0);
  shared = new_memory (4 * N_THREADS);
  for (uintptr_t i = 0; i < N_THREADS; i++)
    CHECK (pthread_create (&threads[i], NULL, work, (void *) i) == 0);
  for (unsigned i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  MUST (cu.cuMemFree_v2 (shared));
  MUST (cu.cuMemPoolDestroy (pool));
  end ();
}

/* Each thread has a stack of contexts. */
static void *
look_for_context (void *data)
{
  CuContext found = (CuContext) 1;

  MUST (cu.cuCtxGetCurrent (&found));
  CHECK (found == NULL);
  return data;
}

static void
test_contexts (void)
{
  pthread_t thread;

  begin ();
  CHECK (pthread_create (&thread, NULL, look_for_context, NULL) == 0);
  pthread_join (thread, NULL);
  end ();
}

/* A process with work that never ends still exits. */
static void
test_exit (void)
{
  int status;
  pid_t child = fork ();

  if (child == 0)
    {
      CuStream stream;
      uint64_t *value;

      begin ();
      stream = new_stream ();
      value = new_pinned (8);
      *value = 0;
      MUST (cu.cuStreamWaitValue64_v2 (stream, ADDRESS (value), 1, 0));
      EXPECT (CU_NOT_READY, cu.cuStreamQuery (stream));
      exit (3);
    }
  waitpid (child, &status, 0);
  CHECK (WIFEXITED (status) && WEXITSTATUS (status) == 3);
}

static const Case cases[] = {
  { "many", test_many, true },
  { "contexts", test_contexts, true },
  { "exit", test_exit },
};

RUN_CASES (cases)
