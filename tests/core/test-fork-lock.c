/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Locks that other threads hold when the process forks. */

#include "base/mtl-fork-private.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANGS_AFTER 20 /* seconds */
#define N_THREADS 4
#define N_ROUNDS 1000

typedef void (* ChildFunc) (void);

static void
run_child (ChildFunc func)
{
  pid_t child = fork ();
  int status;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      alarm (HANGS_AFTER);
      func ();
      _exit (0);
    }

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

static MtlForkLock lock;
static MtlForkOnce once;
static int value;   /* protected by the lock, or made once */
static gint n_made; /* atomic */

/* The other thread holds it until the fork is over. */
static gint is_held, may_end; /* atomic */

static void
hold (void)
{
  g_atomic_int_set (&is_held, TRUE);
  while (!g_atomic_int_get (&may_end))
    g_usleep (1000);
}

static void
fork_while_held (GThreadFunc holder,
                 ChildFunc   func)
{
  GThread *thread;

  is_held = may_end = FALSE;
  thread = g_thread_new ("holder", holder, NULL);
  while (!g_atomic_int_get (&is_held))
    g_usleep (1000);
  run_child (func);
  g_atomic_int_set (&may_end, TRUE);
  g_thread_join (thread);
}

static gpointer
hold_lock (gpointer unused)
{
  g_assert_false (mtl_fork_lock (&lock));
  hold ();
  mtl_fork_unlock (&lock);
  return NULL;
}

static void
lock_twice (void)
{
  g_assert_true (mtl_fork_lock (&lock));
  mtl_fork_unlock (&lock);
  g_assert_false (mtl_fork_lock (&lock));
  mtl_fork_unlock (&lock);
}

static void
lock_in_both (void)
{
  lock_twice ();
  run_child (lock_twice);
}

static void
clear_lock (void)
{
  mtl_fork_lock_clear (&lock);
}

static void
test_held (void)
{
  fork_while_held (hold_lock, lock_twice);
  fork_while_held (hold_lock, lock_in_both);
  fork_while_held (hold_lock, clear_lock);
  g_assert_false (mtl_fork_lock (&lock));
  mtl_fork_unlock (&lock);
}

/* One of them makes it new, before all others. */
static gpointer
add_often (gpointer unused)
{
  for (int i = 0; i < N_ROUNDS; i++)
    {
      if (mtl_fork_lock (&lock))
        {
          g_atomic_int_inc (&n_made);
          value = 0;
        }
      value++;
      mtl_fork_unlock (&lock);
    }
  return NULL;
}

static void
add_in_threads (void)
{
  GThread *threads[N_THREADS];

  for (int i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("add", add_often, NULL);
  for (int i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (g_atomic_int_get (&n_made), ==, 1);
  g_assert_cmpint (value, ==, N_THREADS * N_ROUNDS);
}

static void
test_threads_of_child (void)
{
  value = 77;
  for (int i = 0; i < 20; i++)
    fork_while_held (hold_lock, add_in_threads);
  g_assert_cmpint (n_made, ==, 0);
}

static gpointer
make (gpointer hold_in_between)
{
  if (mtl_fork_once_enter (&once))
    {
      if (hold_in_between)
        hold ();
      value = 42;
      g_atomic_int_inc (&n_made);
      mtl_fork_once_leave (&once);
    }
  g_assert_cmpint (value, ==, 42);
  return NULL;
}

static gpointer
make_slowly (gpointer unused)
{
  return make (GINT_TO_POINTER (TRUE));
}

static void
make_in_threads (void)
{
  GThread *threads[N_THREADS];

  for (int i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("make", make, NULL);
  for (int i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (n_made, ==, 1);
}

static void
find_it_made (void)
{
  make (NULL);
  g_assert_cmpint (n_made, ==, 1);
}

static void
test_once (void)
{
  value = 0;
  fork_while_held (make_slowly, make_in_threads);
  g_assert_cmpint (n_made, ==, 1);
  run_child (find_it_made);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ForkLock/held", test_held);
  g_test_add_func ("/ForkLock/threads-of-child", test_threads_of_child);
  g_test_add_func ("/ForkLock/once", test_once);

  return g_test_run ();
}
