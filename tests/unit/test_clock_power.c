/* test_clock_power.c: a falling clock is distinguished from kernels that do more work, and costs a
 * part of what removing idle time gains. */
#include "analyze/simulate/clock_power.h"
#include "analyze/simulate/undistort.h"
#include "kit.h"

/* Ten rounds of three kernels, 5 us apart, then a wait and 60 us of idle time; from the sixth round
 * on each kernel takes `late[i]` times as long. */
static struct trace *rounds(const double late[3])
{
    static const char *const names[] = {"gemm", "attention", "norm"};
    struct kit k = kit_begin();
    double at = 0;
    for (int round = 0; round < 10; round++) {
        kit_label(&k, "step", at, 60);
        double gpu = at + 20;
        for (int i = 0; i < 3; i++) {
            double us = round < 5 ? 100 : 100 * late[i];
            kit_launch(&k, at + i * 10, names[i], gpu, us);
            gpu += us + 2;
        }
        kit_call(&k, "cudaStreamSynchronize", at + 40, gpu - at - 35);
        at = gpu + 40;
    }
    return kit_end(&k);
}

static double drop_of(const double late[3])
{
    struct trace *t = rounds(late);
    struct arena mem;
    arena_init(&mem);
    double pct = -1;
    CHECK_EQ_INT(clock_power_drop(t, &mem, &pct, NULL), 0);
    arena_done(&mem);
    trace_free(t);
    return pct;
}

TEST(all_kernels_a_little_slower_is_the_clock)
{
    CHECK_NEAR(drop_of((double[]){1.08, 1.08, 1.08}), 8, 0.1);
}

TEST(one_kernel_that_does_more_is_not)
{
    CHECK_NEAR(drop_of((double[]){1, 1.2, 1}), 0, 0);
}

TEST(twice_as_slow_is_not)
{
    CHECK_NEAR(drop_of((double[]){2, 2, 2}), 0, 0);
}

TEST(an_even_clock_does_not_sink)
{
    CHECK_NEAR(drop_of((double[]){1, 1, 1}), 0, 0);
}

/* Share of the wall clock that dropping the waits gains. */
static double gain_of_dropping_waits(const double late[3])
{
    struct trace *t = rounds(late);
    struct arena mem;
    arena_init(&mem);
    struct calls calls;
    struct sim_model m;
    CHECK_EQ_INT(calls_init(&calls, t, &mem, NULL), 0);
    CHECK_EQ_INT(sim_model_run(t, &calls, &mem, &m, NULL), 0);
    row_t rows[16];
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), "cudaStreamSynchronize")) rows[n++] = r;
    struct sim_edit ed = {.kind = EDIT_DROP_SYNC, .rows = rows, .n_rows = n};
    struct sim_plan plan, none = {0};
    int64_t before, after;
    CHECK_EQ_INT(sim_wall(&m, &none, &mem, &before, NULL), 0);
    CHECK_EQ_INT(before, m.end_ns - m.begin_ns);
    CHECK_EQ_INT(sim_plan_build(&m, (struct sim_edits){&ed, 1, NULL}, &mem, &plan, NULL), 0);
    CHECK_EQ_INT(sim_wall(&m, &plan, &mem, &after, NULL), 0);
    arena_done(&mem);
    trace_free(t);
    return (double)(before - after) / (double)before;
}

TEST(at_the_power_limit_a_part_of_the_idle_time_comes_back)
{
    double free = gain_of_dropping_waits((double[]){1, 1, 1});
    double limited = gain_of_dropping_waits((double[]){1.05, 1.05, 1.05});
    CHECK(free > 0.10);
    CHECK_NEAR(limited / free, 0.72 / 1.025, 0.02);
}

static int drop_again(void *ctx)
{
    struct arena mem;
    arena_init(&mem);
    double pct;
    int rc = clock_power_drop(ctx, &mem, &pct, NULL);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct trace *t = rounds((double[]){1.08, 1.08, 1.08});
    CHECK_EVERY_ALLOC(drop_again, t);
    trace_free(t);
}

TEST_MAIN
