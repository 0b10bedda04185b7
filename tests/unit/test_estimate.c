/* test_estimate.c: the pipeline of copies and compute by hand, and what follows from few numbers.
 */
#include "offload/offload_private.h"
#include "offload/scheme.h"
#include "test.h"

/* Four modules at 1 byte a ns: copies of 10, 40, 10, 40 us; computes of 20, 5, 20, 5 us. */
static struct facts_module modules[] = {
    {.name = "a", .bytes = 10000, .compute_ns = 20000, .block = 0},
    {.name = "b", .bytes = 40000, .compute_ns = 5000, .block = 0},
    {.name = "a", .bytes = 10000, .compute_ns = 20000, .block = 1},
    {.name = "b", .bytes = 40000, .compute_ns = 5000, .block = 1},
};

static struct facts four(void)
{
    return (struct facts){.modules = modules,
                          .n_modules = 4,
                          .model_bytes = 100000,
                          .passes = 1,
                          .steps = 4,
                          .host = HOST_PINNED,
                          .rate = {[HOST_PAGEABLE] = {.bytes_per_ns = 0.5, .from = FACT_GIVEN},
                                   [HOST_PINNED] = {.bytes_per_ns = 1, .from = FACT_GIVEN}}};
}

static struct scheme_times run(const struct facts *f, struct scheme sc)
{
    struct arena mem;
    struct scheme_times t = {0};
    arena_init(&mem);
    if (sc.weight_scale == 0) sc.weight_scale = 1;
    CHECK_EQ_INT(estimate_run(f, &sc, &mem, &t), 0);
    arena_done(&mem);
    return t;
}

TEST(one_after_the_other)
{
    struct facts f = four();
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED}).step_ns, 150000);
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PAGEABLE}).step_ns, 250000);
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED, .weight_scale = 0.5}).step_ns,
                 100000);
    f.passes = 2;
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED}).step_ns, 300000);
}

TEST(each_tensor_costs_a_call)
{
    struct facts f = four();
    struct facts_module with_tensors[4];
    for (int i = 0; i < 4; i++) {
        with_tensors[i] = modules[i];
        with_tensors[i].n_tensors = 2;
    }
    f.modules = with_tensors;
    f.call_ns = 1000;
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED}).step_ns, 158000);
}

TEST(one_ahead)
{
    /* copies end at 10, 50, 60, 100 (the third waits for the first compute, at 30: it has room);
     * computes end at 30, 55, 80, 105. The fourth copy may start at 60: the second compute is done
     * at 55. */
    struct facts f = four();
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED, .depth = 1}).step_ns, 105000);
}

TEST(memory_of_two_groups_holds_up_the_third_copy)
{
    struct facts f = four();
    struct facts_module slow[4];
    memcpy(slow, modules, sizeof slow);
    slow[0].compute_ns = 100000; /* ends at 110: only then may the third copy start */
    f.modules = slow;
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED, .depth = 1}).step_ns, 160000 + 5000);
    CHECK_EQ_INT(run(&f, (struct scheme){.host = HOST_PINNED, .depth = 2}).step_ns, 155000);
}

TEST(blocks_ahead)
{
    /* blocks of 50 us copy and 25 us compute: 50, 100 and 75, 125 */
    struct facts f = four();
    struct scheme sc = {.host = HOST_PINNED, .depth = 1, .by_block = true};
    CHECK_EQ_INT(run(&f, sc).step_ns, 125000);
}

TEST(what_stays_is_brought_over_once)
{
    struct facts f = four();
    static const bool stays[] = {false, true, false, true};
    f.alloc_ns = 3000;
    struct scheme_times t = run(&f, (struct scheme){.host = HOST_PINNED, .resident = stays});
    CHECK_EQ_INT(t.step_ns, 70000);
    CHECK_EQ_INT(t.first_ns, 150000 + 2 * 3000);
    t = run(&f, (struct scheme){.host = HOST_PINNED, .resident = stays, .preloaded = true});
    CHECK_EQ_INT(t.first_ns, 70000);
    f.cold = (struct facts_rate){.bytes_per_ns = 0.1, .from = FACT_GIVEN};
    t = run(&f, (struct scheme){.host = HOST_PINNED, .resident = stays});
    CHECK_EQ_INT(t.first_ns, 150000 + 2 * 3000 + 900000);
}

TEST(worth_is_what_compute_does_not_hide)
{
    struct facts f = four();
    double worth[4];
    estimate_worth(&f, &(struct scheme){.host = HOST_PINNED, .weight_scale = 1}, worth);
    CHECK_NEAR(worth[1], 40000, 1e-6);
    estimate_worth(&f, &(struct scheme){.host = HOST_PINNED, .weight_scale = 1, .depth = 1}, worth);
    CHECK_NEAR(worth[0], 10000, 1e-6);
    CHECK_NEAR(worth[1], 20000, 1e-6);
    CHECK_NEAR(worth[2], 5000, 1e-6);
}

/* ---- facts ---- */

static int complete(struct facts *f, int major, struct err *e)
{
    static struct arena mem;
    arena_done(&mem);
    arena_init(&mem);
    return facts_complete(f, major, &mem, e);
}

TEST(a_step_gives_the_rate)
{
    struct facts f = {.model_bytes = 22000000000, .step_ns = 4000000000};
    CHECK_EQ_INT(complete(&f, 0, NULL), 0);
    CHECK_NEAR(f.rate[HOST_PAGEABLE].bytes_per_ns, 5.5, 1e-9);
    CHECK_EQ_INT(f.rate[HOST_PAGEABLE].from, FACT_GIVEN);
    CHECK_EQ_INT(f.rate[HOST_PINNED].from, FACT_ASSUMED);
    CHECK_NEAR(f.rate[HOST_PINNED].bytes_per_ns, 25, 1e-9);
    CHECK(f.modules_are_pieces);
    int64_t sum = 0;
    for (uint32_t i = 0; i < f.n_modules; i++) sum += f.modules[i].bytes;
    CHECK_EQ_INT(sum, f.model_bytes);
}

TEST(assumed_rates_follow_the_card_and_each_other)
{
    struct facts f = {.model_bytes = 1000000};
    CHECK_EQ_INT(complete(&f, 9, NULL), 0);
    CHECK_NEAR(f.rate[HOST_PINNED].bytes_per_ns, 55, 1e-9);
    f = (struct facts){.model_bytes = 1000000,
                       .rate = {[HOST_PINNED] = {.bytes_per_ns = 3, .from = FACT_GIVEN}}};
    CHECK_EQ_INT(complete(&f, 9, NULL), 0);
    CHECK_NEAR(f.rate[HOST_PAGEABLE].bytes_per_ns, 3, 1e-9);
}

TEST(compute_is_spread_over_the_bytes)
{
    struct facts_module m[] = {{.name = "a", .bytes = 100}, {.name = "b", .bytes = 300}};
    struct facts f = {.modules = m, .n_modules = 2, .compute_ns = 8000, .passes = 2};
    CHECK_EQ_INT(complete(&f, 0, NULL), 0);
    CHECK_EQ_INT(f.model_bytes, 400);
    CHECK_EQ_INT(m[0].compute_ns, 1000);
    CHECK_EQ_INT(m[1].compute_ns, 3000);
}

TEST(nothing_known_is_an_error)
{
    struct facts f = {.steps = 4};
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(complete(&f, 0, &e), ERR_USAGE);
    CHECK(strstr(e.msg, "--model-bytes") != NULL);
}

/* An embedding of 1 kB and two blocks of two modules: the embedding comes in turn, from pageable
 * memory, and goes back; blocks of 50 us to copy hide 25 us of compute each. */
TEST(what_lies_outside_of_blocks_comes_in_turn_and_goes_back)
{
    struct facts_module five[5] = {{.name = "embed", .bytes = 1000, .loose = true}};
    for (int i = 0; i < 4; i++) five[i + 1] = modules[i];
    for (int i = 1; i < 5; i++) five[i].block++;
    struct facts f = four();
    f.modules = five;
    f.n_modules = 5;
    f.back = (struct facts_rate){.bytes_per_ns = 0.25, .from = FACT_GIVEN};
    struct scheme ahead = {.host = HOST_PINNED, .depth = 1, .by_block = true};
    CHECK_EQ_INT(run(&f, ahead).step_ns, 2 * 50000 + 25000 + 1000 * 2 + 1000 * 4);
    ahead.by_block = false;
    CHECK(run(&f, ahead).step_ns < 120000);
}

/* At 10 FLOPs a ns and 2 bytes a ns of device memory. */
TEST(compute_from_arithmetic_or_bytes)
{
    struct facts f = four();
    struct facts_module unknown[4];
    for (int i = 0; i < 4; i++) {
        unknown[i] = modules[i];
        unknown[i].compute_ns = 0;
    }
    unknown[1].flops = 2e6;
    f.modules = unknown;
    f.flops_per_ns = 10;
    f.flops_from = FACT_GIVEN;
    f.device_memory = (struct facts_rate){.bytes_per_ns = 2, .from = FACT_GIVEN};
    f.tokens = 3;
    assumed_compute(&f);
    CHECK_EQ_INT(unknown[0].compute_ns, 5000);   /* 10 kB are read at 2 bytes a ns */
    CHECK_EQ_INT(unknown[1].compute_ns, 200000); /* its own FLOPs */
    CHECK_EQ_INT(f.compute_ns, 5000 + 200000 + 5000 + 20000);
    CHECK_EQ_INT(f.compute_from, FACT_ASSUMED);
    f.tokens = 100; /* now arithmetic takes longer, but what is known stays */
    assumed_compute(&f);
    CHECK_EQ_INT(unknown[0].compute_ns, 5000);
    unknown[0].compute_ns = unknown[1].compute_ns = unknown[2].compute_ns = unknown[3].compute_ns =
        f.compute_ns = 0;
    assumed_compute(&f);
    CHECK_EQ_INT(unknown[0].compute_ns, 5000 * 2 * 100 / 10);
}

TEST(assumed_rates_follow_the_generation)
{
    struct facts old = {0}, new = {0}, given = {.flops_per_ns = 7, .flops_from = FACT_GIVEN};
    assumed_rates(&old, 7);
    assumed_rates(&new, 9);
    assumed_rates(&given, 9);
    CHECK(new.flops_per_ns > old.flops_per_ns);
    CHECK(new.device_memory.bytes_per_ns > old.device_memory.bytes_per_ns);
    CHECK_EQ_INT(new.flops_from, FACT_ASSUMED);
    CHECK_NEAR(given.flops_per_ns, 7, 1e-9);
}

/* What a trace says of its device is not believed to be a generation there is. */
TEST(a_generation_that_cannot_be_is_not_known)
{
    struct facts unknown = {0}, negative = {0}, huge = {0}, newest = {0};
    assumed_rates(&unknown, 0);
    assumed_rates(&negative, INT32_MIN);
    assumed_rates(&huge, INT32_MAX);
    assumed_rates(&newest, 10);
    CHECK_NEAR(negative.flops_per_ns, unknown.flops_per_ns, 1e-9);
    CHECK_NEAR(huge.flops_per_ns, newest.flops_per_ns, 1e-9);
}

TEST_MAIN
