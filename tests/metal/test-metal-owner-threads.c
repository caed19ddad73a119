/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owners of memory whose last reference is dropped by other code, such as Metal: on which thread
 * they end, and in which order. */

#ifndef METAL_IS_REAL
#define _GNU_SOURCE
#include <dlfcn.h>
#endif

#include "metal-tests.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITHOUT_THREADS_IN_CHILDREN
#endif
#endif

#define N_OWNERS 50

typedef struct
{
  GMutex *mutex; /* or NULL */
  int number;
  int n_ended; /* atomic */
  GThread *thread;
  gpointer memory;
} Owner;

static int ended[N_OWNERS + 1];
static int n_ended; /* atomic */

static void
end_owner (gpointer data)
{
  Owner *self = data;
  int place;

  if (self->mutex != NULL)
    {
      g_mutex_lock (self->mutex);
      g_mutex_unlock (self->mutex);
    }
  self->thread = g_thread_self ();
  place = g_atomic_int_add (&n_ended, 1);
  if (place < (int) G_N_ELEMENTS (ended))
    ended[place] = self->number;
  g_atomic_int_inc (&self->n_ended);
}

/* Makes an MTLBuffer of the owner's memory, with one reference, which other code holds. */
static gpointer
lend (Owner  *self,
      int     number,
      GMutex *mutex)
{
  const gsize page_size = metal_fixture_page_size ();
  g_autoptr (GError) error = NULL;
  MtlBuffer *buffer;
  gpointer handle;

  *self = (Owner) { mutex, number };
  g_assert_cmpint (posix_memalign (&self->memory, page_size, page_size), ==, 0);
  buffer = mtl_buffer_new_for_data (self->memory, page_size, get_metal (UNIFIED),
                                    MTL_BUFFER_FLAGS_NEVER_COPY, end_owner, self, &error);
  g_assert_no_error (error);
  handle = mtl_buffer_get_handle (buffer);
  metal_fixture_retain (handle);
  g_assert_finalize_object (buffer);
  g_assert_cmpint (self->n_ended, ==, 0);
  return handle;
}

/* All on one thread, which is not the one that drops them, and each in its turn. */
static void
check_in_order (void)
{
  static Owner owners[N_OWNERS];
  gpointer handles[N_OWNERS];
  GMutex mutex;

  g_mutex_init (&mutex);
  g_atomic_int_set (&n_ended, 0);
  for (int i = 0; i < N_OWNERS; i++)
    handles[i] = lend (&owners[i], i, &mutex);

  g_mutex_lock (&mutex);
  for (int i = 0; i < N_OWNERS; i++)
    metal_fixture_release (handles[i]);
  g_usleep (20000);
  g_assert_cmpint (g_atomic_int_get (&n_ended), ==, 0);
  g_mutex_unlock (&mutex);

  await_count (&n_ended, N_OWNERS);
  await_count (&owners[N_OWNERS - 1].n_ended, 1);
  for (int i = 0; i < N_OWNERS; i++)
    {
      g_assert_cmpint (ended[i], ==, i);
      g_assert_cmpint (owners[i].n_ended, ==, 1);
      g_assert_true (owners[i].thread == owners[0].thread);
      g_assert_true (owners[i].thread != g_thread_self ());
      free (owners[i].memory);
    }
  g_mutex_clear (&mutex);
}

static void
test_in_order (void)
{
  check_in_order ();
  check_in_order ();
}

/* Metal may release the block that it was given without a call of it. */
static void
test_without_deallocator (void)
{
  Owner first, second;
  GMutex mutex;
  gpointer handles[2];

  g_mutex_init (&mutex);
  handles[0] = lend (&first, 0, &mutex);
  handles[1] = lend (&second, 1, NULL);
  metal_double_forget_deallocators (true);
  g_mutex_lock (&mutex);
  metal_fixture_release (handles[0]);
  metal_fixture_release (handles[1]);
  metal_double_forget_deallocators (false);
  g_assert_cmpint (g_atomic_int_get (&second.n_ended), ==, 0);
  g_mutex_unlock (&mutex);

  await_count (&first.n_ended, 1);
  await_count (&second.n_ended, 1);
  g_assert_true (first.thread == second.thread && first.thread != g_thread_self ());
  free (first.memory);
  free (second.memory);
  g_mutex_clear (&mutex);
}

#ifndef METAL_IS_REAL

static int no_threads; /* atomic */

/* A sanitizer must know of each thread. Clang's are linked into the program, under one of these
 * names. */
extern int __interceptor_pthread_create (pthread_t *, const pthread_attr_t *, void *(*) (void *),
                                         void *) __attribute__ ((weak));
extern int ___interceptor_pthread_create (pthread_t *, const pthread_attr_t *, void *(*) (void *),
                                          void *) __attribute__ ((weak));

/* GLib makes its threads with this. */
int
pthread_create (pthread_t            *thread,
                const pthread_attr_t *attributes,
                void               *(*run) (void *),
                void                 *data)
{
  int (* create) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);

  if (g_atomic_int_get (&no_threads))
    return EAGAIN;

  if (__interceptor_pthread_create != NULL)
    create = __interceptor_pthread_create;
  else if (___interceptor_pthread_create != NULL)
    create = ___interceptor_pthread_create;
  else
    *(void **) &create = dlsym (RTLD_NEXT, "pthread_create");

  return create (thread, attributes, run, data);
}

#else

static int no_threads;

#endif

/* If RUN returns, the child ends with 0. It does so as another program, as it has lost what the
 * parent's thread is about to end, which valgrind would take for a leak. */
static void
run_in_child (void (* run) (void))
{
  pid_t child = fork ();
  int status;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      run ();
      execl ("/bin/sh", "sh", "-c", "exit 0", NULL);
      _exit (1);
    }

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

static Owner blocked, waiting, inherited, later;
static gpointer inherited_handle;

/* Owners that the child has inherited end, though there was no thread before. */
static void
check_child_alone (void)
{
  metal_fixture_release (inherited_handle);
  await_count (&inherited.n_ended, 1);
  g_assert_true (inherited.thread != g_thread_self ());
}

/* Owners that wait in the parent are the parent's; those that the child has inherited end here, as
 * soon as there can be a thread for them. */
static void
check_child (void)
{
  gpointer handle;

  g_atomic_int_set (&no_threads, TRUE);
  metal_fixture_release (inherited_handle);
  g_usleep (20000);
  g_assert_cmpint (g_atomic_int_get (&inherited.n_ended), ==, 0);

  g_atomic_int_set (&no_threads, FALSE);
  handle = lend (&later, 3, NULL);
  metal_fixture_release (handle);
  await_count (&later.n_ended, 1);
  g_assert_cmpint (inherited.n_ended, ==, 1);
  g_assert_true (inherited.thread == later.thread);
  g_assert_cmpint (g_atomic_int_get (&blocked.n_ended), ==, 0);
  g_assert_cmpint (g_atomic_int_get (&waiting.n_ended), ==, 0);
}

static void
test_fork (void)
{
  gpointer handles[2];
  GMutex mutex;

#ifdef WITHOUT_THREADS_IN_CHILDREN
  g_test_skip ("ThreadSanitizer allows no threads in a child");
  return;
#endif

  g_mutex_init (&mutex);
  handles[0] = lend (&blocked, 0, &mutex);
  handles[1] = lend (&waiting, 1, NULL);
  inherited_handle = lend (&inherited, 2, NULL);
  g_mutex_lock (&mutex);
  metal_fixture_release (handles[0]);
  metal_fixture_release (handles[1]);
  run_in_child (check_child_alone);
  run_in_child (check_child);

  g_assert_cmpint (g_atomic_int_get (&waiting.n_ended), ==, 0);
  g_mutex_unlock (&mutex);
  metal_fixture_release (inherited_handle);
  await_count (&inherited.n_ended, 1);
  g_assert_cmpint (blocked.n_ended, ==, 1);
  g_assert_cmpint (waiting.n_ended, ==, 1);
  free (blocked.memory);
  free (waiting.memory);
  free (inherited.memory);
  g_mutex_clear (&mutex);
}

/* Told when the buffer is made, and the memory is not copied either: who may end it elsewhere
 * needs the thread. */
static void
test_no_thread (void)
{
  const gsize page_size = metal_fixture_page_size ();
  Owner owner = { NULL };
  gpointer handle;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
      return;
    }

  get_metal (UNIFIED);
  g_assert_cmpint (posix_memalign (&owner.memory, page_size, page_size), ==, 0);
  for (int flags = 0; flags < 2; flags++)
    {
      g_atomic_int_set (&no_threads, TRUE);
      assert_fails (mtl_buffer_new_for_data (owner.memory, page_size, get_metal (UNIFIED),
                                             flags == 0 ? MTL_BUFFER_FLAGS_NONE : MTL_BUFFER_FLAGS_NEVER_COPY,
                                             end_owner, &owner, &error), MTL_ERROR_NO_MEMORY, "");
      g_assert_cmpint (owner.n_ended, ==, 1 + flags);
      g_assert_true (owner.thread == g_thread_self ());
    }
  free (owner.memory);

  g_atomic_int_set (&no_threads, FALSE);
  handle = lend (&owner, 0, NULL);
  metal_fixture_release (handle);
  await_count (&owner.n_ended, 1);
  g_assert_true (owner.thread != g_thread_self ());
  free (owner.memory);
}

/* Memory without an owner needs no thread. */
static void
test_nobody (void)
{
  const gsize page_size = metal_fixture_page_size ();
  g_autoptr (GError) error = NULL;
  gpointer memory = NULL, handle;
  MtlBuffer *buffer;

  g_assert_cmpint (posix_memalign (&memory, page_size, page_size), ==, 0);
  buffer = mtl_buffer_new_for_data (memory, page_size, get_metal (UNIFIED),
                                    MTL_BUFFER_FLAGS_NEVER_COPY, NULL, NULL, &error);
  g_assert_no_error (error);
  handle = mtl_buffer_get_handle (buffer);
  metal_fixture_retain (handle);
  g_assert_finalize_object (buffer);
  metal_fixture_release (handle);
  free (memory);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  set_up_metal ();

  add_double_func ("/MetalOwnerThreads/no-thread", test_no_thread);
  add_metal_test ("/MetalOwnerThreads/in-order", test_in_order);
  add_double_test ("/MetalOwnerThreads/without-deallocator", test_without_deallocator);
  add_double_test ("/MetalOwnerThreads/fork", test_fork);
  add_metal_test ("/MetalOwnerThreads/nobody", test_nobody);

  return g_test_run ();
}
