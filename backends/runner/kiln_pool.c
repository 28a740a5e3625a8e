/* The threads of functions that Kiln made: compile this file and link it into the program, once.
 *
 * kiln_parallel_for calls body(begin, end, args) for disjoint ranges that together are 0 .. total, on the
 * calling thread and on up to threads - 1 others, and returns when all calls have returned. Ranges shrink as
 * the end comes near, but not below `chunk`. Any thread may call it; while one call is under way, others (and
 * those that a body makes) run on their own thread alone. Threads are started when they are first needed and
 * never end; without work they spin for a fraction of a millisecond and then sleep. If one cannot be started,
 * or in a child made by fork, the threads that are there do everything.
 *
 * It needs Linux, C11 and libc. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void (*body_function)(int64_t begin, int64_t end, void** args);

enum { kMostThreads = 1024, kSpins = 10000, kStackBytes = 8 << 20 };

static struct {
  /* What a worker reads of a job. Written while the gate is closed and nobody is inside. */
  _Alignas(64) atomic_uint ticket; /* one more with each job */
  int threads;
  int64_t total, chunk;
  body_function body;
  void** args;
  _Alignas(64) atomic_uint gate; /* 1: workers may enter; and 2 for each that is inside */
  _Atomic int64_t next;          /* the first iteration that nobody has taken */
  _Alignas(64) atomic_int asleep;
  atomic_flag busy; /* its holder may make jobs and start workers */
  int workers, most;
} pool = {.busy = ATOMIC_FLAG_INIT, .most = kMostThreads - 1};

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static void take_ranges(void) {
  const int64_t total = pool.total;
  int64_t begin = atomic_load_explicit(&pool.next, memory_order_relaxed);
  while (begin < total) {
    int64_t count = (total - begin) / (2 * pool.threads);
    if (count < pool.chunk) count = pool.chunk;
    if (count > total - begin) count = total - begin;
    if (!atomic_compare_exchange_weak_explicit(&pool.next, &begin, begin + count, memory_order_relaxed,
                                               memory_order_relaxed))
      continue;
    pool.body(begin, begin + count, pool.args);
    begin = atomic_load_explicit(&pool.next, memory_order_relaxed);
  }
}

static unsigned wait_for_ticket(unsigned seen) {
  unsigned now;
  for (int spin = 0; spin < kSpins; ++spin) {
    now = atomic_load_explicit(&pool.ticket, memory_order_acquire);
    if (now != seen) return now;
    relax();
  }
  atomic_fetch_add(&pool.asleep, 1);
  while ((now = atomic_load(&pool.ticket)) == seen)
    syscall(SYS_futex, &pool.ticket, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
  atomic_fetch_sub(&pool.asleep, 1);
  return now;
}

/* Who comes too late finds the gate closed, so a job never waits for a thread that has not begun. */
static int enter(void) {
  unsigned gate = atomic_load_explicit(&pool.gate, memory_order_relaxed);
  while (gate & 1) {
    if (atomic_compare_exchange_weak_explicit(&pool.gate, &gate, gate + 2, memory_order_acquire,
                                              memory_order_relaxed))
      return 1;
  }
  return 0;
}

static void* work(void* number) {
  unsigned seen = 0;
  for (;;) {
    seen = wait_for_ticket(seen);
    if (!enter()) continue;
    if ((intptr_t)number < pool.threads) take_ranges();
    atomic_fetch_sub_explicit(&pool.gate, 2, memory_order_release);
  }
  return NULL;
}

static void start_workers(int wanted) {
  pthread_attr_t attributes;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigfillset(&all);
  sigdelset(&all, SIGSEGV), sigdelset(&all, SIGBUS), sigdelset(&all, SIGFPE), sigdelset(&all, SIGILL);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool.workers < wanted && pool.workers < pool.most) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, work, (void*)(intptr_t)(pool.workers + 1)) != 0) {
      pool.most = pool.workers;
    } else {
      ++pool.workers;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

void kiln_parallel_for(int threads, int64_t total, int64_t chunk, body_function body, void** args) {
  if (total <= 0) return;
  if (threads < 2 || total <= chunk || atomic_flag_test_and_set_explicit(&pool.busy, memory_order_acquire)) {
    body(0, total, args);
    return;
  }
  if (threads > kMostThreads) threads = kMostThreads;
  if (pool.workers < threads - 1) start_workers(threads - 1);
  pool.threads = threads;
  pool.total = total;
  pool.chunk = chunk < 1 ? 1 : chunk;
  pool.body = body;
  pool.args = args;
  atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
  atomic_store_explicit(&pool.gate, 1, memory_order_release);
  atomic_fetch_add(&pool.ticket, 1);
  if (atomic_load(&pool.asleep) > 0)
    syscall(SYS_futex, &pool.ticket, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  take_ranges();
  atomic_fetch_and_explicit(&pool.gate, ~1u, memory_order_relaxed);
  for (int spin = 0; atomic_load_explicit(&pool.gate, memory_order_acquire) != 0; ++spin) {
    if (spin < kSpins) {
      relax();
    } else {
      spin = kSpins;
      sched_yield();
    }
  }
  atomic_flag_clear_explicit(&pool.busy, memory_order_release);
}
