// kernels: kernels.s
// Load: the round trip of an empty kernel, a million dispatches, ten thousand queues, sixty-four queues at once; memory
// must not grow.
#include "common.h"
#include <pthread.h>

static hsa_executable_t executable;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void round_trip(void) {
  hsa_queue_t *queue = queue_of(1024);
  uint64_t empty = kernel(executable, "empty");
  hsa_signal_t done;
  HSA(hsa_signal_create(0, 0, NULL, &done));
  // The median of the best of many batches: what else the machine does must not count.
  enum { N = 250, BATCHES = 20 };
  double times[N], best = 1e9, all = 0;
  for (int batch = 0; batch < BATCHES; batch++) {
    for (int i = 0; i < N; i++) {
      double t = seconds();
      hsa_signal_store_relaxed(done, 1);
      dispatch(queue, empty, 64, 64, NULL, done);
      while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) >= 1) {}
      times[i] = (seconds() - t) * 1e6;
      all += times[i];
    }
    qsort(times, N, sizeof *times, by_value);
    if (times[N / 2] < best) best = times[N / 2];
  }
  // Noted, not judged: on a machine that others use, a limit fails for reasons that are not ours.
  printf("note: empty dispatch, round trip: %.1f µs (mean of all %.1f µs)\n", best, all / (N * BATCHES));
  HSA(hsa_signal_destroy(done));
  HSA(hsa_queue_destroy(queue));
}

static void million(void) {
  hsa_queue_t *queue = queue_of(4096);
  uint64_t count = kernel(executable, "count");
  uint32_t *counter = allocate(host_pool, 4096);
  *counter = 0;
  void **arguments = allocate(host_pool, 64);
  *arguments = counter;
  hsa_signal_t done;
  HSA(hsa_signal_create(1, 0, NULL, &done));
  const int n = 1000000;
  hsa_signal_t none = {0};
  long before = 0;
  double t = seconds();
  for (int i = 0; i < n; i++) {
    if (i == n / 10) before = resident();
    dispatch(queue, count, 1, 1, arguments, i == n - 1 ? done : none);
  }
  wait_for(done);
  // The packets have no barrier bit: the last one may have ended before others.
  while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < (uint32_t)n) sched_yield();
  t = seconds() - t;
  long growth = resident() - before;
  printf("note: 1,000,000 dispatches: %.2f s, %.2f µs each, memory %+ld kB\n", t, t * 1e6 / n, growth);
  CHECK(*counter == (uint32_t)n, "%u dispatches ran", *counter);
  CHECK(growth < 4096, "memory grew by %ld kB", growth);
  HSA(hsa_signal_destroy(done));
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_amd_memory_pool_free(counter));
  HSA(hsa_amd_memory_pool_free(arguments));
}

static void ten_thousand_queues(void) {
  uint64_t empty = kernel(executable, "empty");
  hsa_signal_t done;
  HSA(hsa_signal_create(1, 0, NULL, &done));
  const int n = 10000;
  long before = 0;
  double t = seconds();
  for (int i = 0; i < n; i++) {
    if (i == n / 10) before = resident();
    hsa_queue_t *queue = queue_of(128);
    if (i % 100 == 0) {
      hsa_signal_store_relaxed(done, 1);
      dispatch(queue, empty, 64, 64, NULL, done);
      wait_for(done);
    }
    HSA(hsa_queue_destroy(queue));
  }
  t = seconds() - t;
  long growth = resident() - before;
  printf("note: 10,000 queues created and destroyed: %.2f s, %.1f µs each, memory %+ld kB\n", t, t * 1e6 / n, growth);
  CHECK(growth < 4096, "memory grew by %ld kB", growth);
  HSA(hsa_signal_destroy(done));
}

enum { QUEUES = 64, EACH = 2000 };
static uint32_t *counters;

static void *producer(void *data) {
  long k = (long)data;
  hsa_queue_t *queue = queue_of(256);
  uint64_t count = kernel(executable, "count");
  void **arguments = allocate(host_pool, 64);
  *arguments = counters + k;
  hsa_signal_t done;
  HSA(hsa_signal_create(EACH, 0, NULL, &done));
  for (int i = 0; i < EACH; i++) dispatch(queue, count, 64, 64, arguments, done);
  wait_for(done);
  HSA(hsa_signal_destroy(done));
  HSA(hsa_queue_destroy(queue));
  HSA(hsa_amd_memory_pool_free(arguments));
  return NULL;
}

static void many_at_once(void) {
  counters = allocate(host_pool, QUEUES * sizeof *counters);
  memset(counters, 0, QUEUES * sizeof *counters);
  pthread_t threads[QUEUES];
  double t = seconds();
  for (long k = 0; k < QUEUES; k++) CHECK(pthread_create(&threads[k], NULL, producer, (void *)k) == 0, "thread %ld", k);
  for (int k = 0; k < QUEUES; k++) pthread_join(threads[k], NULL);
  t = seconds() - t;
  for (int k = 0; k < QUEUES; k++) CHECK(counters[k] == EACH * 64, "queue %d counted %u", k, counters[k]);
  printf("note: 64 queues with 2,000 dispatches each: %.2f s\n", t);
  HSA(hsa_amd_memory_pool_free(counters));
}

int main(int count, char **argument) {
  CHECK(count == 2, "usage: %s CODE-OBJECT", argument[0]);
  start();
  executable = load(argument[1]);
  round_trip();
  million();
  ten_thousand_queues();
  many_at_once();
  HSA(hsa_executable_destroy(executable));
  HSA(hsa_shut_down());
  printf("PASS\n");
  return 0;
}
