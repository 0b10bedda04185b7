/* test_sampler.c: starting and stopping from anywhere; what is sampled: tests/python. */
#include "backend/program/python_side.h"

#include <pthread.h>
#include <stdatomic.h>

#include "test.h"

enum { N_THREADS = 4, ROUNDS = 60 };

static atomic_int n_chores;

static void chore(void)
{
    atomic_fetch_add(&n_chores, 1);
}

static void *start_and_stop(void *unused)
{
    struct sampler_options o = {.chore = chore};
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ_INT(sampler_start(&o, NULL), 0);
        sampler_stop();
    }
    return unused;
}

TEST(several_threads_start_and_stop)
{
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) pthread_create(&threads[i], NULL, start_and_stop, NULL);
    for (int i = 0; i < N_THREADS; i++) pthread_join(threads[i], NULL);
    sampler_stop();
}

TEST(it_works_after_that)
{
    struct sampler_options o = {.chore = chore};
    atomic_store(&n_chores, 0);
    CHECK_EQ_INT(sampler_start(&o, NULL), 0);
    while (!atomic_load(&n_chores)) sched_yield();
    sampler_stop();
}

TEST_MAIN
