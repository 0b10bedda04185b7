/* test_hot_spots.c: which operators and lines hold the time of a GPU that is the limit. */
#include "analyze/answer/hot_spots.h"

#include "diagnosis.h"

/* Launches of 10 us; the kernels of each call come one after another and never end in time. */
struct queue {
    struct kit k;
    double cpu_us, gpu_us;
};

static void queue_call(struct queue *q, const char *line, const char *op, double us)
{
    if (line) kit_python(&q->k, line, q->cpu_us, 10);
    if (op) kit_op(&q->k, op, q->cpu_us + 1, 8);
    kit_launch(&q->k, q->cpu_us + 2, "kernel", q->gpu_us, us);
    q->cpu_us += 10;
    q->gpu_us += us;
}

/* Per step 600 us of a sort, and of a product 100 and 300 us at two lines. */
static struct trace *sorting(const char *sort_line)
{
    struct queue q = {kit_begin(), 0, 20};
    for (int s = 0; s < 6; s++) {
        queue_call(&q, sort_line, "aten::sort", 300);
        queue_call(&q, "app/cases.py(12): forward", "aten::mm", 100);
        queue_call(&q, sort_line, "aten::sort", 300);
        queue_call(&q, "app/cases.py(20): forward", "aten::mm", 300);
    }
    return kit_end(&q.k);
}

static const struct hot_spots *spots_of(struct diagnosis *d, struct trace *t)
{
    diagnose(d, t);
    CHECK_EQ_INT(context_need(&d->cx, &hot_spots_pass, NULL), 0);
    return hot_spots_of(&d->cx);
}

TEST(operators_are_kept_apart_by_their_lines)
{
    struct diagnosis d;
    const struct hot_spots *h = spots_of(&d, sorting("app/cases.py(130): sample"));
    REQUIRE(h->n == 3);
    CHECK_EQ_STR(h->list[0].what, "aten::sort");
    CHECK_NEAR(h->list[0].share_pct, 60, 0.1);
    CHECK_EQ_UINT(h->list[0].kernels, 12);
    CHECK_EQ_INT(h->list[0].gpu_ns, 3600000);
    REQUIRE(h->list[0].where != NULL);
    CHECK(strstr(h->list[0].where, "cases.py:130 in sample") != NULL);
    CHECK_EQ_STR(h->list[1].what, "aten::mm");
    CHECK_NEAR(h->list[1].share_pct, 30, 0.1);
    CHECK(strstr(h->list[1].where, "cases.py:20") != NULL);
    CHECK_NEAR(h->list[2].share_pct, 10, 0.1);
    done(&d);
}

/* Without the sort the GPU is still the limit: all of its time goes. */
TEST(what_a_spot_could_gain_is_replayed)
{
    struct diagnosis d;
    const struct hot_spots *h = spots_of(&d, sorting("app/cases.py(130): sample"));
    REQUIRE(h->n >= 1);
    CHECK_NEAR(h->list[0].gain_pct, 60, 1);
    CHECK(h->list[0].gain_ns <= h->list[0].gpu_ns);
    done(&d);
}

/* An operator of somebody's own launches kernels of several families. */
TEST(the_kind_is_that_of_most_of_the_time)
{
    struct diagnosis d;
    struct queue q = {kit_begin(), 0, 20};
    for (int i = 0; i < 30; i++) {
        kit_op(&q.k, "RopeAttention", q.cpu_us, 10);
        kit_launch(&q.k, q.cpu_us + 1, "rope_kernel", q.gpu_us, 40);
        kit_launch(&q.k, q.cpu_us + 5, "flash_fwd_kernel", q.gpu_us + 40, 200);
        q.cpu_us += 10;
        q.gpu_us += 240;
    }
    const struct hot_spots *h = spots_of(&d, kit_end(&q.k));
    REQUIRE(h->n == 1);
    CHECK_EQ_STR(h->list[0].what, "RopeAttention");
    CHECK_EQ_STR(h->list[0].kind, "attention");
    done(&d);
}

/* One operator with kernels of 12 us, launched every 10 us, is nearly all of both sides. */
TEST(the_operators_go_with_their_kernels)
{
    struct diagnosis d;
    struct queue q = {kit_begin(), 0, 20};
    for (int i = 0; i < 60; i++) queue_call(&q, NULL, "aten::sort", 12);
    const struct hot_spots *h = spots_of(&d, kit_end(&q.k));
    REQUIRE(h->n == 1);
    CHECK(h->list[0].gain_pct > 75); /* 20 % where the launches stay */
    done(&d);
}

TEST(a_spot_without_stacks_has_no_line)
{
    struct diagnosis d;
    struct queue q = {kit_begin(), 0, 20};
    for (int i = 0; i < 20; i++) queue_call(&q, NULL, NULL, 200);
    const struct hot_spots *h = spots_of(&d, kit_end(&q.k));
    REQUIRE(h->n == 1);
    CHECK_EQ_STR(h->list[0].what, "kernel");
    CHECK(h->list[0].where == NULL);
    CHECK_NEAR(h->list[0].share_pct, 100, 0.1);
    done(&d);
}

/* Twenty operators of 5 % each: no line holds much. */
TEST(small_parts_are_no_spots)
{
    struct diagnosis d;
    struct queue q = {kit_begin(), 0, 20};
    char op[32];
    for (int i = 0; i < 100; i++) {
        snprintf(op, sizeof op, "aten::op%d", i % 20);
        queue_call(&q, NULL, op, 200);
    }
    CHECK_EQ_UINT(spots_of(&d, kit_end(&q.k))->n, 0);
    done(&d);
}

/* Kernels of 1 us every 10 us: the CPU is the limit, and removing kernels gains nothing. */
TEST(a_gpu_that_waits_has_none)
{
    struct diagnosis d;
    struct kit k = kit_begin();
    for (int i = 0; i < 50; i++) kit_launch(&k, i * 10, "kernel", i * 10 + 8, 1);
    CHECK_EQ_UINT(spots_of(&d, kit_end(&k))->n, 0);
    done(&d);
}

static int everything(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &hot_spots_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct trace *t = sorting("app/cases.py(130): sample");
    CHECK_EVERY_ALLOC(everything, t);
    trace_free(t);
}

TEST_MAIN
