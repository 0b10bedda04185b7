/* test_planner.c: plans from a few numbers, and plans from real traces against runs that were
 * measured: 38 transformer blocks, 8.61 GB, streamed leaf by leaf on an H200, 4 steps. */
#include "import/import.h"
#include "offload_kit.h"

/* ---- numbers alone ---- */

/* The published case: 22 GB streamed to a 12 GB card in 4 s a step, the first part 110 s. */
static struct facts flux(uint32_t steps)
{
    return (struct facts){.model_bytes = 22000000000,
                          .step_ns = 4000000000,
                          .first_ns = 110000000000,
                          .steps = steps,
                          .activation_bytes = -1};
}

static void plan_numbers(struct plan *p, struct facts f, struct arena *mem)
{
    p->facts = f;
    p->wish = (struct wish){.resident_bytes = 8000000000, .depth = 1, .target_pct = 10};
    CHECK_EQ_INT(facts_complete(&p->facts, 0, mem, NULL), 0);
    CHECK_EQ_INT(plan_run(p, mem, NULL), 0);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

TEST(four_steps_are_within_noise)
{
    struct arena mem;
    struct plan p = {0};
    arena_init(&mem);
    plan_numbers(&p, flux(4), &mem);
    const struct prediction *now = &p.rows[p.base];
    const struct prediction *r = plan_find(&p, "largest", HOST_PAGEABLE);
    REQUIRE(r != NULL);
    CHECK_EQ_STR(now->policy, "stream_all");
    CHECK_EQ_STR(now->verdict, "as it is");
    CHECK_NEAR(seconds(now->total_ns), 122, 0.01);
    CHECK_NEAR(seconds(r->times.step_ns), 4.0 * 14 / 22, 0.01);
    CHECK_NEAR(seconds(r->total_ns), 110 + 3 * 4.0 * 14 / 22, 0.01);
    CHECK_NEAR(r->gain_pct, 3.6, 0.1);
    CHECK_EQ_STR(r->verdict, "within noise");
    CHECK_EQ_UINT(r->break_even, 12);
    CHECK(r->low_ns < r->total_ns && r->total_ns < r->high_ns);
    /* order cannot matter: every byte costs the same */
    CHECK_EQ_INT(plan_find(&p, "smallest", HOST_PAGEABLE)->total_ns, r->total_ns);
    arena_done(&mem);
}

TEST(ten_steps_gain)
{
    struct arena mem;
    struct plan p = {0};
    arena_init(&mem);
    plan_numbers(&p, flux(10), &mem);
    const struct prediction *r = plan_find(&p, "largest", HOST_PAGEABLE);
    CHECK_NEAR(seconds(p.rows[p.base].total_ns - r->total_ns), 9 * 4.0 * 8 / 22, 0.01);
    CHECK_EQ_STR(r->verdict, "worth it");
    CHECK_NEAR(p.ceiling_pct, 100 * 36.0 / 146, 0.01);
    CHECK_NEAR(p.ceiling_many_pct, 100, 0.01);
    arena_done(&mem);
}

TEST(totals_that_do_not_fit_the_step_are_told)
{
    struct arena mem;
    struct measured_run runs[] = {
        {.steps = 4, .total_ns = 122000000000},
        {.steps = 4, .total_ns = 124000000000, .resident_bytes = 8000000000},
        {.steps = 10, .total_ns = 180000000000},
        {.steps = 10, .total_ns = 160000000000, .resident_bytes = 8000000000},
    };
    struct plan p = {.runs = runs, .n_runs = 4};
    arena_init(&mem);
    plan_numbers(&p, flux(4), &mem);
    CHECK_NEAR(runs[0].off_pct, 0, 0.1);
    CHECK_NEAR(seconds(runs[2].predicted_ns), 146, 0.1);
    CHECK_EQ_UINT(p.n_inconsistent, 4);
    bool told = false;
    for (uint32_t i = 0; i < p.n_inconsistent; i++)
        told |= strstr(p.inconsistent[i], "give 9.67 s per step, not 4.00 s") != NULL;
    CHECK(told);
    arena_done(&mem);
}

TEST(runs_that_fit_are_not_flagged)
{
    struct arena mem;
    struct measured_run runs[] = {
        {.steps = 4, .total_ns = 122000000000},
        {.steps = 10, .total_ns = 147000000000},
        {.steps = 10, .total_ns = 133000000000, .resident_bytes = 8000000000},
    };
    struct plan p = {.runs = runs, .n_runs = 3};
    arena_init(&mem);
    plan_numbers(&p, flux(4), &mem);
    CHECK_EQ_UINT(p.n_inconsistent, 0);
    arena_done(&mem);
}

TEST(what_the_card_cannot_hold_does_not_fit)
{
    struct arena mem;
    struct plan p = {0};
    struct facts f = flux(10);
    f.vram_bytes = 12000000000;
    arena_init(&mem);
    plan_numbers(&p, f, &mem);
    CHECK_EQ_STR(plan_find(&p, "all_resident", HOST_PAGEABLE)->verdict, "does not fit");
    CHECK_EQ_STR(plan_find(&p, "largest", HOST_PAGEABLE)->verdict, "worth it");
    arena_done(&mem);
}

/* 22 GB come in 4 s; at 11 GB/s they go back in 2 s, at 44 GB/s half of them is unpacked. */
TEST(what_goes_back_and_what_is_unpacked_takes_time)
{
    struct arena mem;
    struct plan p = {0};
    struct facts f = flux(10);
    f.back = (struct facts_rate){.bytes_per_ns = 11, .from = FACT_GIVEN};
    f.device_memory = (struct facts_rate){.bytes_per_ns = 44, .from = FACT_GIVEN};
    arena_init(&mem);
    plan_numbers(&p, f, &mem);
    CHECK_NEAR(seconds(plan_find(&p, "group_offload", HOST_PAGEABLE)->times.step_ns), 4 + 2, 0.01);
    CHECK_EQ_STR(plan_find(&p, "group_offload", HOST_PAGEABLE)->verdict, "worse");
    CHECK(!plan_find(&p, "group_offload", HOST_PINNED));
    CHECK_NEAR(seconds(plan_find(&p, "model_offload", HOST_PAGEABLE)->times.first_ns), 110 + 2,
               0.01);
    CHECK_NEAR(seconds(plan_find(&p, "int8", HOST_PAGEABLE)->times.step_ns), 2 + 33.0 / 44, 0.01);
    arena_done(&mem);
}

/* Groups copied ahead lie in memory twice, once pinned. */
TEST(host_memory_is_checked)
{
    struct arena mem;
    struct plan p = {0};
    struct facts f = flux(10);
    f.ram_bytes = 32000000000;
    arena_init(&mem);
    plan_numbers(&p, f, &mem);
    CHECK_EQ_STR(plan_find(&p, "prefetch_block", HOST_PINNED)->verdict, "needs host RAM");
    CHECK_EQ_STR(plan_find(&p, "stream_all", HOST_PINNED)->verdict, "worth it");
    CHECK(!plan_find(&p, "prefetch_deep", HOST_PINNED));
    p = (struct plan){0};
    f.ram_bytes = 16000000000;
    plan_numbers(&p, f, &mem);
    CHECK_EQ_STR(plan_find(&p, "largest", HOST_PAGEABLE)->verdict, "needs host RAM");
    CHECK(p.n_advice > 0);
    bool said = false;
    for (uint32_t i = 0; i < p.n_advice; i++) said |= strstr(p.advice[i], "weights alone") != NULL;
    CHECK(said);
    arena_done(&mem);
}

static int plan_again(void *ctx)
{
    struct arena mem;
    struct plan p = {.facts = flux(4)};
    p.wish = (struct wish){.resident_bytes = -1, .depth = 1, .target_pct = 10};
    arena_init(&mem);
    int rc = facts_complete(&p.facts, 0, &mem, NULL);
    if (rc == 0) rc = plan_run(&p, &mem, NULL);
    arena_done(&mem);
    (void)ctx;
    return rc;
}

TEST(survives_every_failed_allocation)
{
    CHECK_EVERY_ALLOC(plan_again, NULL);
}

/* ---- traces ---- */

struct traced_plan {
    struct stream_lab lab;
    struct plan p;
};

static bool plan_trace(struct traced_plan *tp, const char *path, int64_t resident, double other)
{
    struct trace *t;
    struct err e;
    err_init(&e);
    if (!CHECK_EQ_INT(import_open(path, NULL, &t, &e), 0)) return false;
    if (!CHECK_EQ_INT(stream_lab_open(&tp->lab, t, true, &e), 0)) return false;
    struct plan *p = &tp->p;
    *p = (struct plan){.trial = &tp->lab.tr,
                       .observed = tp->lab.o,
                       .wish = {.resident_bytes = resident, .depth = 1, .target_pct = 10}};
    CHECK_EQ_INT(observe_facts(&tp->lab.tr, &tp->lab.o, &tp->lab.mem, &p->facts, &e), 0);
    for (int h = 0; h < HOST_KINDS; h++)
        if (p->facts.rate[h].from == FACT_UNKNOWN)
            p->facts.rate[h] = (struct facts_rate){.bytes_per_ns = other, .from = FACT_GIVEN};
    CHECK_EQ_INT(facts_complete(&p->facts, 9, &tp->lab.mem, &e), 0);
    for (int h = 0; h < HOST_KINDS; h++) tp->lab.tr.bytes_per_ns[h] = p->facts.rate[h].bytes_per_ns;
    tp->lab.tr.alloc_ns = p->facts.alloc_ns;
    return CHECK_EQ_INT(plan_run(p, &tp->lab.mem, &e), 0);
}

static double total_ms(const struct traced_plan *tp, const char *policy, enum offload_host host)
{
    const struct prediction *r = plan_find(&tp->p, policy, host);
    return r ? (double)r->total_ns / 1e6 : -1;
}

static double step_ms(const struct traced_plan *tp, const char *policy, enum offload_host host)
{
    const struct prediction *r = plan_find(&tp->p, policy, host);
    return r ? (double)r->times.step_ns / 1e6 : -1;
}

TEST(pageable_trace_against_measured_runs)
{
    struct traced_plan tp;
    if (!plan_trace(&tp, TEST_DATA "/offload/pageable_stream_all.json.gz", 3100000000, 55.3))
        return;
    CHECK_EQ_UINT(tp.lab.s.n_modules, 228);
    CHECK_EQ_UINT(tp.lab.s.n_blocks, 38);
    CHECK_EQ_INT(tp.lab.s.model_bytes, 8609746944);
    CHECK_EQ_INT(plan_find(&tp.p, "largest", HOST_PAGEABLE)->resident_bytes, 3097282560);
    /* medians of three runs without a profiler */
    CHECK_NEAR(total_ms(&tp, "stream_all", HOST_PAGEABLE), 4446, 0.08 * 4446);
    CHECK_NEAR(total_ms(&tp, "largest", HOST_PAGEABLE), 3087, 0.05 * 3087);
    CHECK_NEAR(step_ms(&tp, "largest", HOST_PAGEABLE), 685, 0.05 * 685);
    /* the other memory, with its rate given */
    CHECK_NEAR(total_ms(&tp, "stream_all", HOST_PINNED), 727, 0.03 * 727);
    stream_lab_close(&tp.lab);
}

TEST(pinned_trace_against_measured_runs)
{
    struct traced_plan tp;
    if (!plan_trace(&tp, TEST_DATA "/offload/pinned_stream_all.json.gz", 3100000000, 8.6)) return;
    CHECK_NEAR(total_ms(&tp, "stream_all", HOST_PINNED), 727, 0.03 * 727);
    /* 3.10 GB fewer at the same rate in each of the later steps */
    CHECK_NEAR(total_ms(&tp, "largest", HOST_PINNED), 727 - 3 * 3097.3 / 55.3, 0.03 * 560);
    CHECK_NEAR(total_ms(&tp, "largest", HOST_PAGEABLE), 3087, 0.08 * 3087);
    CHECK_NEAR(total_ms(&tp, "stream_all", HOST_PAGEABLE), 4446, 0.08 * 4446);
    stream_lab_close(&tp.lab);
}

/* Without copies both traces tell the same story: 22.1 ms of kernels a step and a little more. */
TEST(everything_resident_is_the_same_from_either_trace)
{
    static const char *const paths[] = {TEST_DATA "/offload/pageable_stream_all.json.gz",
                                        TEST_DATA "/offload/pinned_stream_all.json.gz"};
    for (int i = 0; i < 2; i++) {
        struct traced_plan tp;
        if (!plan_trace(&tp, paths[i], 3100000000, i ? 8.6 : 55.3)) return;
        CHECK_NEAR(step_ms(&tp, "preloaded", (enum offload_host)i), 23.6, 0.06 * 23.6);
        CHECK_NEAR(total_ms(&tp, "all_resident", HOST_PINNED), 183 + 3 * 23.6, 0.05 * 254);
        stream_lab_close(&tp.lab);
    }
}

TEST_MAIN
