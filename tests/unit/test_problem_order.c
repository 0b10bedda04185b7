/* test_problem_order.c: every contradiction is found where it was planted, and none in a healthy
 * trace. */
#include "analyze/quality/integrity.h"
#include "kit.h"

struct outcome {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static struct outcome check_all(struct kit *k)
{
    struct outcome o = {.t = kit_end(k)};
    arena_init(&o.mem);
    context_init(&o.cx, o.t, &o.mem);
    if (o.t) CHECK_EQ_INT(context_need(&o.cx, &integrity_pass, NULL), 0);
    return o;
}

static void done(struct outcome *o)
{
    context_done(&o->cx);
    arena_done(&o->mem);
    trace_free(o->t);
}

/* The problem with this id, or one that was never seen. */
static const struct problem *result(const struct outcome *o, const char *id)
{
    static const struct problem none;
    const struct integrity *i = integrity_of(&o->cx);
    for (uint32_t k = 0; k < i->n_problems; k++)
        if (strcmp(i->problems[k].kind->id, id) == 0) return &i->problems[k];
    return &none;
}

/* Exactly the named problem is found. */
static void check_only(const struct outcome *o, const char *id)
{
    const struct integrity *i = integrity_of(&o->cx);
    CHECK_EQ_UINT(i->n_problems, strcmp(id, "none") != 0);
    for (uint32_t k = 0; k < i->n_problems; k++) CHECK_EQ_STR(i->problems[k].kind->id, id);
}

static struct kit healthy(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 20; i++) {
        kit_op(&k, "aten::add", i * 100, 50);
        kit_launch(&k, i * 100 + 10, "k", i * 100 + 30, 20);
    }
    kit_call(&k, "cudaDeviceSynchronize", 2100, 10);
    return k;
}

TEST(a_healthy_trace_is_silent)
{
    struct kit k = healthy();
    struct outcome o = check_all(&k);
    check_only(&o, "none");
    done(&o);
}

TEST(clock_skew)
{
    struct kit k = healthy();
    kit_launch(&k, 2200, "early", 2193, 3);
    struct outcome o = check_all(&k);
    check_only(&o, "clock_skew");
    CHECK_EQ_INT(result(&o, "clock_skew")->worst_ns, 7000);
    CHECK_EQ_UINT(result(&o, "clock_skew")->of, 21);
    CHECK_EQ_BYTES(trace_name(o.t, result(&o, "clock_skew")->examples[0]), "early");
    done(&o);
}

TEST(sync_returned_early)
{
    struct kit k = healthy();
    kit_launch(&k, 2200, "long", 2210, 500);
    kit_call(&k, "cudaDeviceSynchronize", 2300, 10);
    struct outcome o = check_all(&k);
    check_only(&o, "sync_returned_early");
    CHECK_EQ_INT(result(&o, "sync_returned_early")->worst_ns, 400000);
    done(&o);
}

/* Clocks of the CPU and of the device agree to a microsecond. */
TEST(a_sync_that_returns_within_a_microsecond_is_in_time)
{
    struct kit k = healthy();
    kit_launch(&k, 2200, "long", 2210, 90.9);
    kit_call(&k, "cudaDeviceSynchronize", 2250, 50);
    struct outcome o = check_all(&k);
    CHECK_EQ_UINT(result(&o, "sync_returned_early")->count, 0);
    done(&o);
    k = healthy();
    kit_launch(&k, 2200, "long", 2210, 91.1);
    kit_call(&k, "cudaDeviceSynchronize", 2250, 50);
    o = check_all(&k);
    check_only(&o, "sync_returned_early");
    done(&o);
}

TEST(orphans_on_both_sides)
{
    struct kit k = healthy();
    kit_orphan(&k, "lost", 2500, 5);
    struct outcome o = check_all(&k);
    check_only(&o, "work_without_launch");
    done(&o);
    k = healthy();
    kit_call(&k, "cudaLaunchKernel", 50, 5);
    o = check_all(&k);
    CHECK_EQ_UINT(result(&o, "records_dropped")->count, 1);
    CHECK_EQ_UINT(result(&o, "records_stop_early")->count, 0);
    done(&o);
}

TEST(records_stop_early)
{
    struct kit k = healthy();
    for (int i = 0; i < 15; i++) kit_call(&k, "cudaLaunchKernel", 2200 + i * 10, 5);
    struct outcome o = check_all(&k);
    CHECK_EQ_UINT(result(&o, "records_stop_early")->count, 15);
    CHECK_EQ_UINT(result(&o, "records_dropped")->count, 0);
    done(&o);
}

TEST(overlap_on_stream)
{
    struct kit k = healthy();
    kit_launch(&k, 2200, "a", 2300, 20);
    kit_launch(&k, 2210, "b", 2318, 20);
    k.stream = 8; /* another stream may well overlap */
    kit_launch(&k, 2220, "c", 2300, 20);
    struct outcome o = check_all(&k);
    check_only(&o, "overlap_on_stream");
    CHECK_EQ_INT(result(&o, "overlap_on_stream")->worst_ns, 2000);
    CHECK_EQ_UINT(result(&o, "overlap_on_stream")->count, 1);
    done(&o);
}

TEST(spans_that_cross)
{
    struct kit k = healthy();
    kit_op(&k, "a", 3000, 50);
    kit_op(&k, "b", 3040, 50);
    struct outcome o = check_all(&k);
    check_only(&o, "crossing");
    done(&o);
}

TEST(work_that_took_no_time)
{
    struct kit k = healthy();
    kit_launch(&k, 2200, "nothing", 2300, 0);
    struct outcome o = check_all(&k);
    check_only(&o, "zero_times");
    done(&o);
}

TEST(ids_used_twice)
{
    struct kit k = healthy();
    struct op_info op = {5, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    kit_row(&k, KIND_OP, "a", 3000, 5, &op);
    kit_row(&k, KIND_OP, "b", 3010, 5, &op);
    struct outcome o = check_all(&k);
    check_only(&o, "ids_twice");
    done(&o);
}

/* A sync waits for its own process only. */
TEST(a_sync_does_not_wait_for_another_process)
{
    for (int others = 0; others < 2; others++) {
        struct kit k = healthy();
        kit_call(&k, "cudaDeviceSynchronize", 2300, 10);
        k.pid += others;
        kit_launch(&k, 2200, "long", 2210, 500);
        struct outcome o = check_all(&k);
        for (row_t r = 0; r < o.t->n_rows; r++)
            if (trace_is_work(o.t, r)) CHECK(trace_launch_of(o.t, r) != ROW_NONE);
        CHECK_EQ_UINT(result(&o, "sync_returned_early")->count, others ? 0 : 1);
        done(&o);
    }
}

TEST(every_problem_is_named_and_explained)
{
    for (int i = 0; i < N_PROBLEMS; i++) {
        const struct problem_kind *p = &problem_kinds[i];
        CHECK(p->id && p->id[0] && p->title[0] && (p->note[0] || p->means[0]));
        CHECK(!p->instead[0] || p->means[0]);
        CHECK(!p->takes || (p->takes_from > QUALITY_GOOD && p->means[0]));
        CHECK(!p->handled || (!p->takes && !p->means[0]));
        for (int k = 0; k < i; k++) CHECK(strcmp(p->id, problem_kinds[k].id) != 0);
    }
}

TEST_MAIN
