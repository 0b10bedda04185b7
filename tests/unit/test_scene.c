/* test_scene.c: from a trace to a plan, and the plan as a page gets it. */
#include "base/jdoc.h"
#include "base/jout.h"
#include "offload/scene.h"
#include "offload_kit.h"
#include "report/offload/views_offload.h"

static const int64_t model[] = {20000, 2000000, 8000000, 4000000};
static const struct stream_spec spec = {.steps = 3,
                                        .passes = 1,
                                        .bytes = model,
                                        .n_modules = 4,
                                        .bytes_per_ns = 10,
                                        .compute_us = 50,
                                        .pageable = true,
                                        .labels = true};

struct shown {
    struct trace *t;
    struct context cx;
    struct scene sc;
    struct arena mem;
};

static bool show(struct shown *s, struct trace *t)
{
    *s = (struct shown){.t = t};
    arena_init(&s->mem);
    context_init(&s->cx, t, &s->mem);
    return CHECK_EQ_INT(scene_run(&s->cx, &s->mem, &s->sc, NULL), 0);
}

static void done(struct shown *s)
{
    context_done(&s->cx);
    arena_done(&s->mem);
    trace_free(s->t);
}

TEST(a_streamed_trace_has_a_plan)
{
    struct shown s;
    REQUIRE(show(&s, stream_trace(&spec)));
    const struct plan *p = &s.sc.plan;
    CHECK_EQ_INT(p->facts.model_bytes, 14020000);
    REQUIRE(p->n_rows > 0);
    CHECK_EQ_STR(p->rows[p->base].policy, "stream_all");
    CHECK_EQ_INT(p->wish.resident_bytes, 7010000); /* half, where nobody asks */
    done(&s);
}

TEST(other_traces_have_none)
{
    struct kit k = kit_begin();
    kit_launch(&k, 10, "gemm", 20, 50);
    struct shown s;
    REQUIRE(show(&s, kit_end(&k)));
    CHECK_EQ_UINT(s.sc.plan.n_rows, 0);
    done(&s);
}

static void check_series(const struct jdoc *series, const struct plan *p, enum offload_host h)
{
    const struct jdoc *points = jdoc_get(series, "points");
    CHECK_EQ_STR(jdoc_text(series, "host_memory", ""), host_name(h));
    REQUIRE(points && CHECK_EQ_UINT(points->n, PLAN_CURVE));
    double before = -1;
    for (uint32_t i = 0; i < points->n; i++) {
        const struct jdoc *at = &points->items[i];
        double bytes = jdoc_number(at, "resident_bytes", -1);
        double total = jdoc_number(at, "total_ms", -1);
        CHECK(bytes > before);
        CHECK(jdoc_number(at, "low_ms", 0) <= total && total <= jdoc_number(at, "high_ms", 0));
        before = bytes;
    }
    CHECK_NEAR(before, (double)p->facts.model_bytes, 0.5);
}

TEST(a_page_gets_series_and_marks)
{
    struct shown s;
    struct buf out;
    struct jout j;
    struct jdoc d;
    REQUIRE(show(&s, stream_trace(&spec)));
    buf_init(&out);
    jout_init(&j, &out, false);
    jout_obj(&j, NULL);
    view_offload_page(&j, "offload", &s.sc.plan);
    jout_end_obj(&j);
    REQUIRE(CHECK_EQ_INT(jdoc_parse(str_from(out.p, out.n), &s.mem, &d, NULL), 0));
    const struct jdoc *o = jdoc_get(&d, "offload"), *series = jdoc_get(o, "series");
    CHECK_EQ_STR(jdoc_text(jdoc_get(o, "now"), "policy", ""), "stream_all");
    CHECK_NEAR(jdoc_number(o, "steps", 0), 3, 0);
    REQUIRE(series && CHECK_EQ_UINT(series->n, HOST_KINDS));
    for (int h = 0; h < HOST_KINDS; h++)
        check_series(&series->items[h], &s.sc.plan, (enum offload_host)h);
    const struct jdoc *marks = jdoc_get(o, "marks");
    REQUIRE(marks && CHECK_EQ_UINT(marks->n, s.sc.plan.n_rows - 1));
    CHECK(jdoc_text(&marks->items[0], "verdict", NULL) != NULL);
    buf_done(&out);
    done(&s);
}

TEST_MAIN
