/* pool.c: threads that take item numbers from one counter. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

struct job {
    void (*fn)(void *ctx, int item, int worker);
    void *ctx;
    int n_items;
    atomic_int next;
};

struct worker {
    struct job *job;
    int index;
    pthread_t thread;
};

int pool_size(void)
{
    const char *text = getenv("STRATA_TEST_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    if (n >= 1) return n > MOST_THREADS ? MOST_THREADS : (int)n;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
    else n = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than the set can hold */
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}

static void *pool_work(void *arg)
{
    struct worker *w = arg;
    struct job *job = w->job;
    for (;;) {
        int item = atomic_fetch_add(&job->next, 1);
        if (item >= job->n_items) return NULL;
        job->fn(job->ctx, item, w->index);
    }
}

void pool_run(int n_threads, int n_items, void (*fn)(void *ctx, int item, int worker), void *ctx)
{
    struct job job = {.fn = fn, .ctx = ctx, .n_items = n_items};
    struct worker workers[MOST_THREADS];
    if (n_threads > MOST_THREADS) n_threads = MOST_THREADS;
    if (n_threads > n_items) n_threads = n_items;
    int started = 1;
    workers[0] = (struct worker){.job = &job, .index = 0};
    for (int i = 1; i < n_threads; i++) {
        workers[started] = (struct worker){.job = &job, .index = started};
        if (pthread_create(&workers[started].thread, NULL, pool_work, &workers[started]) == 0)
            started++;
    }
    pool_work(&workers[0]);
    for (int i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}
