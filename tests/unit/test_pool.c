/* test_pool.c: every item once, workers numbered, more threads than items and the other way. */
#include "base/pool.h"

#include <stdatomic.h>

#include "test.h"

enum { ITEMS = 1000, WORKERS = 8 };

struct tally {
    atomic_int seen[ITEMS];
    atomic_int bad_worker;
    int n_threads;
    long per_worker[WORKERS]; /* written by its worker only */
};

static void count(void *ctx, int item, int worker)
{
    struct tally *t = ctx;
    atomic_fetch_add(&t->seen[item], 1);
    if (worker < 0 || worker >= t->n_threads) atomic_fetch_add(&t->bad_worker, 1);
    else t->per_worker[worker]++;
}

static void check_run(int n_threads, int n_items)
{
    struct tally t = {.n_threads = n_threads > 0 ? n_threads : 1};
    pool_run(n_threads, n_items, count, &t);
    long total = 0;
    for (int i = 0; i < WORKERS; i++) total += t.per_worker[i];
    CHECK_EQ_INT(total, n_items);
    CHECK_EQ_INT(t.bad_worker, 0);
    for (int i = 0; i < ITEMS; i++) CHECK_EQ_INT(t.seen[i], i < n_items);
}

TEST(each_item_once)
{
    check_run(1, ITEMS);
    check_run(2, ITEMS);
    check_run(WORKERS, ITEMS);
}

TEST(few_items)
{
    check_run(WORKERS, 0);
    check_run(WORKERS, 1);
    check_run(WORKERS, 3);
    check_run(0, 5);
}

TEST(size_from_the_environment)
{
    setenv("STRATA_TEST_THREADS", "3", 1);
    CHECK_EQ_INT(pool_size(), 3);
    setenv("STRATA_TEST_THREADS", "100000", 1);
    CHECK_EQ_INT(pool_size(), 64);
    setenv("STRATA_TEST_THREADS", "none", 1);
    CHECK(pool_size() >= 1 && pool_size() <= 64);
    unsetenv("STRATA_TEST_THREADS");
    CHECK(pool_size() >= 1 && pool_size() <= 64);
}

TEST_MAIN
