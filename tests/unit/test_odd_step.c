/* test_odd_step.c: a snapshot of the last seconds: which step it was taken for, and what is odd. */
#include "analyze/stages/stages.h"

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
    CHECK(str_is(o->unit, "request"));
    CHECK_EQ_INT(o->n_others, N - 1);
    CHECK_EQ_INT(o->n_longer, 0);
    CHECK_EQ_INT(o->longest_ns, 9500000);
    CHECK_EQ_INT(o->begin_ns, (N - 2) * STEP_US * 1000);
    CHECK_EQ_INT(o->wall_ns.here, 24500000);
    CHECK_EQ_INT(o->wall_ns.usual, 9500000);
    CHECK_EQ_INT(o->launches.here, 1);
    CHECK_EQ_INT(o->gpu_ns.here, o->gpu_ns.usual);
    REQUIRE(o->n_parts >= 1);
    CHECK(str_is(trace_name(x.t, o->parts[0].row), "server.py(31): read_prompt"));
    CHECK_EQ_INT(o->parts[0].own_ns.here, 15000000);
    CHECK_EQ_INT(o->parts[0].own_ns.usual, 0);
    done(&x);
}

/* What was slow is a part: the request around it is what a user waited for. */
TEST(a_part_that_was_slow)
{
    struct seen x;
    const struct odd_step *o = look(&x, RING_SNAPSHOT "20000: slow: prefill took 9 ms");
    REQUIRE(o->found);
    CHECK(str_is(o->unit, "request"));
    CHECK_EQ_INT(o->step, N - 2);
    done(&x);
}

/* Something that is no stage: a step. */
TEST(a_step_where_nothing_is_named)
{
    struct seen x;
    const struct odd_step *o = look(&x, RING_SNAPSHOT "20000: slow: step took 25 ms");
    REQUIRE(o->found);
    CHECK(str_is(o->unit, "step"));
    CHECK_EQ_INT(o->step, N - 2);
    CHECK_EQ_INT(o->wall_ns.here, 25000000);
    CHECK_EQ_INT(o->wall_ns.usual, 10000000);
    done(&x);
}

/* Requests beside one another, on threads: the one that ended just before the mark, not the one
 * that began last. */
TEST(requests_on_threads)
{
    struct kit k = kit_begin();
    for (int i = 0; i < N; i++)
        for (int thread = 0; thread < 2; thread++) {
            bool odd = i == 6 && thread == 1;
            k.tid = 1 + thread;
            kit_label(&k, "request", i * 100000, odd ? 90000 : 10000 + thread);
            kit_launch(&k, i * 100000 + 200, "gemm", i * 100000 + 300, odd ? 500 : 200);
            if (odd) kit_python(&k, "/srv/server.py(31): read_prompt", i * 100000 + 5000, 80000);
        }
    k.tid = 3;
    kit_row(&k, KIND_INSTANT, RING_SNAPSHOT "20000: slow: request took 90 ms", 690050, 0, NULL);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    struct seen x = {.t = kit_end(&k)};
    arena_init(&x.mem);
    context_init(&x.cx, x.t, &x.mem);
    CHECK_EQ_INT(context_need(&x.cx, &odd_step_pass, NULL), 0);
    const struct odd_step *o = odd_step_of(&x.cx);
    REQUIRE(o->found);
    CHECK_EQ_INT(o->n_others, 2 * N - 1);
    CHECK_EQ_INT(o->step, 2 * 6 + 1);
    CHECK_EQ_INT(o->wall_ns.here, 90000000);
    CHECK_EQ_INT(o->gpu_ns.here, 500000);
    CHECK_EQ_INT(o->gpu_ns.usual, 200000);
    REQUIRE(o->n_parts > 0);
    CHECK(str_has(trace_name(x.t, o->parts[0].row), "read_prompt"));
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

/* What was launched while the files were written has no records: it is left out, and what is left
 * is as good as any other trace. Where that reaches back beyond the mark it is a loss. */
TEST(a_tail_without_records_is_left_out)
{
    struct kit k = program(RING_SNAPSHOT "20000: slow: request took 25 ms");
    for (int i = 0; i < 60; i++) kit_call(&k, "cudaLaunchKernel", 200000 + i * 10, 5);
    struct trace *t = kit_end(&k);
    CHECK_EQ_INT(focus_cut(&t, NULL), 0);
    CHECK(t->part.snapshot && !t->part.lost_end);
    CHECK(t->end_ns <= 200000000);
    trace_free(t);

    k = program("other");
    for (int i = 0; i < 60; i++) kit_call(&k, "cudaLaunchKernel", 200000 + i * 1000, 5);
    kit_row(&k, KIND_INSTANT, RING_SNAPSHOT "20000: slow: request took 25 ms", 250000, 0, NULL);
    t = kit_end(&k);
    CHECK_EQ_INT(focus_cut(&t, NULL), 0);
    CHECK(t->part.snapshot && t->part.lost_end);
    struct snapshot_mark mark;
    CHECK(snapshot_mark_find(t, &mark) && str_is(mark.why, "request took 25 ms"));
    trace_free(t);
}

TEST_MAIN
