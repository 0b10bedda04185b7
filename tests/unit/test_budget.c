/* test_budget.c: budget files are read strictly and compared exactly. */
#include "analyze/answer/checklist.h"
#include "analyze/compare/budget.h"

#include "kit.h"

static int parse(const char *text, struct budget *b, struct arena *mem, struct err *e)
{
    err_init(e);
    return budget_parse(b, str_c(text), mem, e);
}

TEST(limits_are_read)
{
    struct arena mem;
    arena_init(&mem);
    struct err e;
    struct budget b;
    CHECK_EQ_INT(
        parse("# a comment\n\n gpu_idle_pct <= 12.5 # why\nstage vae gpu_ms >= 3\n", &b, &mem, &e),
        0);
    REQUIRE(CHECK_EQ_UINT(b.n, 2));
    CHECK_EQ_STR(b.lines[0].metric, "gpu_idle_pct");
    CHECK_EQ_INT(b.lines[0].number, 3);
    CHECK_NEAR(b.lines[0].limit, 12.5, 0);
    CHECK(!b.lines[0].at_least);
    CHECK_EQ_STR(b.lines[1].stage, "vae");
    CHECK(b.lines[1].at_least);
    arena_done(&mem);
}

TEST(mistakes_name_their_line)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "no limit"},
        {"gpu_idle_pct < 1", "line 1: expected"},
        {"\nsync_per_step <= 1",
         "line 2: unknown metric 'sync_per_step'. Did you mean 'syncs_per_step'?"},
        {"wall_ms <= much", "'much' is not a number"},
        {"wall_ms <= nan", "'nan' is not a number"},
        {"stage vae gpu <= 1", "unknown metric 'gpu'"},
        {"stage vae gpu_ms <= 1 2", "expected 'stage NAME METRIC <= NUMBER'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena mem;
        arena_init(&mem);
        struct err e;
        struct budget b;
        CHECK_EQ_INT(parse(cases[i].text, &b, &mem, &e), ERR_USAGE);
        if (!CHECK(strstr(e.msg, cases[i].says) != NULL)) fprintf(stderr, "%s\n", e.msg);
        arena_done(&mem);
    }
}

TEST(stage_names_may_have_blanks)
{
    struct arena mem;
    arena_init(&mem);
    struct err e;
    struct budget b;
    CHECK_EQ_INT(parse("stage vae decode gpu_ms <= 3\n"
                       "stage \"## forward ##\" cpu_ms <= 4 # why\n",
                       &b, &mem, &e),
                 0);
    REQUIRE(CHECK_EQ_UINT(b.n, 2));
    CHECK_EQ_STR(b.lines[0].stage, "vae decode");
    CHECK_EQ_STR(b.lines[0].metric, "gpu_ms");
    CHECK_EQ_STR(b.lines[1].stage, "## forward ##");
    CHECK_NEAR(b.lines[1].limit, 4, 0);
    arena_done(&mem);
}

/* The limits of `text` on a trace; returns how many are kept. */
static uint32_t kept(struct trace *t, const char *text, bool anyhow, bool *untrusted)
{
    struct arena mem;
    arena_init(&mem);
    struct context cx;
    context_init(&cx, t, &mem);
    CHECK_EQ_INT(context_need(&cx, &checklist_pass, NULL), 0);
    struct err e;
    struct budget b;
    CHECK_EQ_INT(parse(text, &b, &mem, &e), 0);
    budget_measure(&b, &cx, anyhow);
    *untrusted = b.untrusted;
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
    return b.n - b.n_broken - b.n_unknown;
}

TEST(what_was_not_recorded_is_not_kept)
{
    static const char limits[] = "syncs_per_step <= 0\npageable_copies_mb <= 1\n"
                                 "high_findings <= 0\nkernels_per_step <= 5\n"
                                 "sync_exposed_pct <= 5\nstage step syncs <= 0\n"
                                 "stage step gpu_ms <= 5\nstage step idle_ms <= 5\n";
    struct kit k = kit_begin();
    for (int s = 0; s < 4; s++) {
        kit_label(&k, "step", s * 100, 90);
        kit_op(&k, "aten::mm", s * 100 + 10, 50);
    }
    bool untrusted;
    CHECK_EQ_UINT(kept(kit_end(&k), limits, false, &untrusted), 0);
    CHECK(!untrusted);
}

/* A loop of four steps of 100 us with that many kernels each. */
static struct trace *loop_of(int kernels)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 4; s++) {
        kit_label(&k, "step", s * 100, 90);
        for (int i = 0; i < kernels; i++)
            kit_launch(&k, s * 100 + 5 * i, "gemm", s * 100 + 5 * i + 3, 2);
    }
    return kit_end(&k);
}

static void measure(struct budget *b, struct trace *t, bool baseline)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, t, &mem);
    CHECK_EQ_INT(context_need(&cx, &checklist_pass, NULL), 0);
    if (baseline) budget_measure_baseline(b, &cx);
    else budget_measure(b, &cx, false);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

TEST(a_share_of_a_baseline)
{
    struct arena mem;
    struct err e;
    struct budget b;
    arena_init(&mem);
    CHECK_EQ_INT(parse("kernels_per_step <= 110%\nkernels_per_step <= 160 %\n"
                       "stage step kernels >= 100 %\nkernels_per_step <= 5\n"
                       "stage nothing calls <= 100 %\n",
                       &b, &mem, &e),
                 0);
    REQUIRE(budget_relative(&b) == &b.lines[0]);
    measure(&b, loop_of(2), true);
    measure(&b, loop_of(3), false);
    CHECK(b.lines[0].broken && b.lines[0].base == 2);
    CHECK_NEAR(b.lines[0].limit, 2.2, 1e-9);
    CHECK(!b.lines[1].broken && !b.lines[2].broken && !b.lines[3].broken);
    CHECK(!b.lines[4].known);
    CHECK_EQ_UINT(b.n_broken, 1);
    CHECK_EQ_UINT(b.n_unknown, 1);
    CHECK_EQ_INT(parse("steps <= 3", &b, &mem, &e), 0);
    CHECK(!budget_relative(&b));
    CHECK(parse("step_ms <= %", &b, &mem, &e) < 0);
    CHECK(parse("step_ms <= 0 %", &b, &mem, &e) < 0);
    CHECK(parse("step_ms <= x%", &b, &mem, &e) < 0);
    arena_done(&mem);
}

TEST(an_empty_trace_keeps_no_limit)
{
    bool untrusted;
    struct kit k = kit_begin();
    CHECK_EQ_UINT(kept(kit_end(&k), "steps <= 3\nwall_ms <= 9\n", false, &untrusted), 0);
    CHECK(untrusted);
    k = kit_begin();
    CHECK_EQ_UINT(kept(kit_end(&k), "steps <= 3\n", true, &untrusted), 1);
    CHECK(!untrusted);
}

TEST(every_metric_has_one_value)
{
    for (const struct budget_metric *m = budget_metrics; m->name; m++)
        CHECK(m->value && !m->stage_value && m->help[0]);
    for (const struct budget_metric *m = budget_stage_metrics; m->name; m++)
        CHECK(m->stage_value && !m->value && m->help[0]);
}

TEST(limits_are_compared)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 4; s++) {
        kit_label(&k, "step", s * 100, 90);
        kit_launch(&k, s * 100 + 5, "gemm", s * 100 + 15, 50);
        kit_launch(&k, s * 100 + 15, "gemm", s * 100 + 66, 10);
    }
    struct trace *t = kit_end(&k);
    struct arena mem;
    arena_init(&mem);
    struct context cx;
    context_init(&cx, t, &mem);
    CHECK_EQ_INT(context_need(&cx, &checklist_pass, NULL), 0);
    struct err e;
    struct budget b;
    CHECK_EQ_INT(
        parse("kernels_per_step <= 2\nkernels_per_step <= 1\nsteps >= 4\nstage step calls <= 3\n"
              "stage nothing calls <= 3\nsyncs_per_step <= 0\n",
              &b, &mem, &e),
        0);
    budget_measure(&b, &cx, false);
    CHECK(!b.lines[0].broken);
    CHECK(b.lines[1].broken);
    CHECK_NEAR(b.lines[1].value, 2, 0);
    CHECK(!b.lines[2].broken);
    CHECK(b.lines[3].broken);
    CHECK(!b.lines[4].known);
    CHECK(!b.lines[5].broken && b.lines[5].known);
    CHECK_EQ_UINT(b.n_broken, 2);
    CHECK_EQ_UINT(b.n_unknown, 1);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

TEST_MAIN
