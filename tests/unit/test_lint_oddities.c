/* test_checks.c: every check fires on its own fault, and none on a healthy trace. */
#include "analyze/quality/lint_oddities.h"
#include "kit.h"

struct outcome {
    struct trace *t;
    struct arena mem;
    struct lint_results c;
};

static struct outcome check_all(struct kit *k)
{
    struct outcome o = {.t = kit_end(k)};
    arena_init(&o.mem);
    if (o.t) CHECK_EQ_INT(lint_oddities_run(o.t, &o.mem, &o.c, NULL), 0);
    return o;
}

static void done(struct outcome *o)
{
    arena_done(&o->mem);
    trace_free(o->t);
}

static const struct lint_result *result(const struct outcome *o, const char *id)
{
    static const struct lint_result none;
    for (int i = 0; i < o->c.n; i++)
        if (strcmp(lint_oddities[i]->id, id) == 0) return &o->c.results[i];
    test_fail(__FILE__, __LINE__, "no check %s", id);
    return &none;
}

/* Exactly the named check finds something. */
static void check_only(const struct outcome *o, const char *id)
{
    for (int i = 0; i < o->c.n; i++) {
        bool found = o->c.results[i].count > 0, expected = strcmp(lint_oddities[i]->id, id) == 0;
        if (found != expected)
            test_fail(__FILE__, __LINE__, "%s %s", lint_oddities[i]->id,
                      found ? "fires" : "is silent");
    }
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

TEST(kernel_before_launch)
{
    struct kit k = healthy();
    kit_launch(&k, 2200, "early", 2193, 3);
    struct outcome o = check_all(&k);
    check_only(&o, "kernel_before_launch");
    CHECK_EQ_INT(result(&o, "kernel_before_launch")->worst_ns, 7000);
    CHECK_EQ_UINT(result(&o, "kernel_before_launch")->of, 21);
    CHECK_EQ_BYTES(trace_name(o.t, result(&o, "kernel_before_launch")->examples[0]), "early");
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
    CHECK_EQ_UINT(result(&o, "launch_without_work")->count, 1);
    CHECK_EQ_UINT(result(&o, "records_stop_early")->count, 0);
    done(&o);
}

TEST(records_stop_early)
{
    struct kit k = healthy();
    for (int i = 0; i < 15; i++) kit_call(&k, "cudaLaunchKernel", 2200 + i * 10, 5);
    struct outcome o = check_all(&k);
    CHECK_EQ_UINT(result(&o, "records_stop_early")->count, 15);
    CHECK_EQ_UINT(result(&o, "launch_without_work")->count, 15);
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
    check_only(&o, "no_time");
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

TEST(every_check_is_named_and_explained)
{
    for (int i = 0; lint_oddities[i]; i++) {
        CHECK(lint_oddities[i]->id[0] && lint_oddities[i]->title[0] &&
              lint_oddities[i]->explain[0]);
        for (int k = 0; k < i; k++) CHECK(strcmp(lint_oddities[i]->id, lint_oddities[k]->id) != 0);
        CHECK(i < LINT_ODDITIES_MAX);
    }
}

TEST_MAIN
