/* test_odd_step.c: a snapshot of the last seconds: which step it was taken for, and what is odd. */
#include "analyze/steps/odd_step.h"

#include "analyze/focus.h"
#include "format/ring.h"

#include "kit.h"

enum { N = 12, STEP_US = 10000 };

/* Steps of 10 ms; the last but one takes 15 ms more, in a function that the others do not call. */
static struct kit program(const char *mark)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int i = 0; i < N; i++) {
        bool odd = i == N - 2;
        double us = STEP_US + (odd ? 15000 : 0);
        kit_label(&k, "request", at, us - 500);
        kit_label(&k, "prefill", at + 100, 3000);
        kit_launch(&k, at + 200, "gemm", at + 300, 2000);
        if (odd) kit_python(&k, "server.py(31): read_prompt", at + 5000, 15000);
        at += us;
        if (odd) kit_row(&k, KIND_INSTANT, mark, at + 50, 0, NULL);
    }
    kit_meta(&k, TRACE_META_RECORDED, "1");
    return k;
}

struct seen {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static const struct odd_step *look(struct seen *x, const char *mark)
{
    struct kit k = program(mark);
    x->t = kit_end(&k);
    arena_init(&x->mem);
    context_init(&x->cx, x->t, &x->mem);
    CHECK_EQ_INT(context_need(&x->cx, &odd_step_pass, NULL), 0);
    return odd_step_of(&x->cx);
}

static void done(struct seen *x)
{
    context_done(&x->cx);
    arena_done(&x->mem);
    trace_free(x->t);
}

TEST(the_step_before_the_mark_against_the_others)
{
    struct seen x;
    const struct odd_step *o = look(&x, RING_SNAPSHOT "20000: slow: request took 25 ms");
    REQUIRE(o->is_snapshot && o->found);
    CHECK(str_is(o->shot.why, "request took 25 ms"));
    CHECK_EQ_INT(o->step, N - 2);
    CHECK_EQ_INT(o->n_others, N - 1);
    CHECK_EQ_INT(o->wall_ns.here, 25000000);
    CHECK_EQ_INT(o->wall_ns.usual, 10000000);
    CHECK_EQ_INT(o->gpu_ns.here, o->gpu_ns.usual);
    REQUIRE(o->n_parts >= 1);
    CHECK(str_is(trace_str(x.t, o->parts[0].name), "server.py(31): read_prompt"));
    CHECK_EQ_INT(o->parts[0].own_ns.here, 15000000);
    CHECK_EQ_INT(o->parts[0].own_ns.usual, 0);
    done(&x);
}

/* One that somebody asked for says so and accuses no step. */
TEST(a_snapshot_by_hand_has_no_odd_step)
{
    struct seen x;
    const struct odd_step *o = look(&x, RING_SNAPSHOT "20000: SIGUSR2");
    CHECK(o->is_snapshot && !o->found);
    CHECK(str_is(o->shot.why, "SIGUSR2"));
    done(&x);
}

TEST(other_marks_are_no_snapshots)
{
    static const char *const marks[] = {"strata.snapshot", "strata.snapshot 5",
                                        "strata.snapshot 5:", "snapshot 5: x"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        struct seen x;
        CHECK(!look(&x, marks[i])->is_snapshot);
        done(&x);
    }
}

/* Only what was kept is shown. */
TEST(a_snapshot_is_cut_to_what_is_kept)
{
    struct kit k = program(RING_SNAPSHOT "50: slow: request took 25 ms");
    struct trace *t = kit_end(&k);
    int64_t end = t->end_ns;
    CHECK_EQ_INT(focus_cut(&t, NULL), 0);
    CHECK(t->part.snapshot);
    CHECK(t->begin_ns >= 125050000 - 50000000 && t->end_ns == end);
    trace_free(t);
}

TEST_MAIN
