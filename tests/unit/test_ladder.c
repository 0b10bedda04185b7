/* test_ladder.c: the rungs from the wall clock as it is down to the GPU alone. */
#include "analyze/answer/ladder.h"

#include "diagnosis.h"

static const struct ladder *climb(struct diagnosis *d, struct trace *t)
{
    diagnose(d, t);
    CHECK_EQ_INT(context_need(&d->cx, &ladder_pass, NULL), 0);
    return ladder_of(&d->cx);
}

/* 20 launches per call, 20 us apart, kernels of 2 us; then a readback. */
static struct trace *launches_and_a_readback(void)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 6; s++) {
        double at = s * 700;
        kit_label(&k, "forward", at, 410);
        for (int i = 0; i < 20; i++) kit_launch(&k, at + i * 20, "tiny", at + i * 20 + 9, 2);
        kit_item(&k, at + 420, at + 431, 5);
    }
    return kit_end(&k);
}

TEST(every_rung_is_below_the_one_above)
{
    struct diagnosis d;
    const struct ladder *l = climb(&d, launches_and_a_readback());
    REQUIRE(l->n >= 3);
    CHECK_EQ_INT(l->rungs[0].kind, RUNG_NOW);
    CHECK_EQ_INT(l->rungs[0].wall_ns, undistort_of(&d.cx)->plain_ns);
    CHECK_EQ_INT(l->rungs[1].kind, RUNG_FIX);
    CHECK_EQ_UINT(l->rungs[1].finding, 1);
    CHECK_EQ_STR(l->rungs[1].name, findings_of(&d.cx)->items[0]->title);
    CHECK_NEAR(l->rungs[1].gain_pct, findings_of(&d.cx)->items[0]->gain_pct, 0.01);
    double gains = 0;
    for (uint32_t i = 1; i < l->n; i++) {
        CHECK(l->rungs[i].wall_ns <= l->rungs[i - 1].wall_ns);
        gains += l->rungs[i].gain_pct;
    }
    const struct rung *last = &l->rungs[l->n - 1];
    CHECK_EQ_INT(last->kind, RUNG_GPU);
    CHECK_NEAR(gains, 100 - 100.0 * (double)last->wall_ns / (double)l->rungs[0].wall_ns, 0.01);
    done(&d);
}

/* 6 times 20 kernels of 2 us, and 6 copies of 1 us that the fix of the readback takes away. */
TEST(the_gpu_alone_is_its_work_back_to_back)
{
    struct diagnosis d;
    const struct ladder *l = climb(&d, launches_and_a_readback());
    bool read = found(&d, "sync_in_loop") != NULL;
    CHECK_NEAR((double)l->gpu_ns / 1000, 6 * 20 * 2 + (read ? 0 : 6), 1);
    CHECK_EQ_INT(l->roofline_ns, -1);
    done(&d);
}

/* Two kernels at once count once. */
TEST(work_side_by_side_counts_once)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 4; s++) {
        double at = s * 120;
        k.stream = 7;
        kit_launch(&k, at, "left", at + 10, 100);
        k.stream = 8;
        kit_launch(&k, at + 6, "right", at + 16, 50);
    }
    struct diagnosis d;
    const struct ladder *l = climb(&d, kit_end(&k));
    CHECK_EQ_UINT(l->n, 2);
    CHECK_NEAR((double)l->gpu_ns / 1000, 400, 1);
    done(&d);
}

TEST(without_device_work_there_is_no_ladder)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 0, 100);
    struct diagnosis d;
    const struct ladder *l = climb(&d, kit_end(&k));
    CHECK_EQ_UINT(l->n, 0);
    done(&d);
}

static int everything(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &ladder_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct trace *t = launches_and_a_readback();
    CHECK_EVERY_ALLOC(everything, t);
    trace_free(t);
}

TEST_MAIN
