/* test_capture.c: what a CUDA graph can hold of a stretch of the program, and what stays outside.
 */
#include "analyze/simulate/undistort.h"
#include "kit.h"

struct sim {
    struct trace *t;
    struct arena mem;
    struct calls calls;
    struct sim_model m;
    struct sim_plan plan;
};

static struct sim sim_begin(struct kit *k)
{
    struct sim s = {.t = kit_end(k)};
    arena_init(&s.mem);
    CHECK_EQ_INT(calls_init(&s.calls, s.t, &s.mem, NULL), 0);
    CHECK_EQ_INT(sim_model_run(s.t, &s.calls, &s.mem, &s.m, NULL), 0);
    return s;
}

static void sim_end(struct sim *s)
{
    arena_done(&s->mem);
    trace_free(s->t);
}

static double wall_us(struct sim *s, struct sim_edit *edits, uint32_t n)
{
    int64_t wall = -1;
    struct sim_edits all = {edits, n, NULL};
    CHECK_EQ_INT(sim_plan_build(&s->m, all, &s->mem, &s->plan, NULL), 0);
    CHECK_EQ_INT(sim_wall(&s->m, &s->plan, &s->mem, &wall, NULL), 0);
    return (double)wall / 1000;
}

static uint32_t count_mode(const struct sim *s, enum sim_mode mode)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < s->m.n_calls; c++) n += s->plan.mode[c] == mode;
    return n;
}

/* Launches 20 us apart from `at` on, kernels of 2 us. */
static void launches(struct kit *k, double at, int n)
{
    for (int i = 0; i < n; i++) kit_launch(k, at + i * 20, "tiny", at + i * 20 + 8, 2);
}

static struct sim_cut stretch(double begin_us, double end_us)
{
    return (struct sim_cut){.begin_ns = kit_ns(begin_us), .end_ns = kit_ns(end_us)};
}

static struct sim_edit graph_of(const struct sim_cut *spans, uint32_t n)
{
    return (struct sim_edit){.kind = EDIT_CUDA_GRAPH, .spans = spans, .n_spans = n};
}

/* 100 us of Python, 20 launches, 100 us of Python: what is around the launches stays. */
TEST(a_loop_body_is_captured_from_its_first_launch_to_its_last)
{
    struct kit k = kit_begin();
    kit_op(&k, "before", 0, 100);
    launches(&k, 100, 20);
    kit_op(&k, "after", 500, 100);
    struct sim s = sim_begin(&k);
    struct sim_cut body = stretch(0, 600);
    struct sim_edit ed = graph_of(&body, 1);
    double after = wall_us(&s, &ed, 1);
    CHECK_EQ_UINT(count_mode(&s, SIM_HEAD), 1);
    CHECK_EQ_UINT(count_mode(&s, SIM_CAPTURED), 19);
    CHECK_EQ_UINT(ed.n_captured, 20);
    CHECK(!ed.crosses_sync);
    CHECK(after > 200 && after < 200 + 60);
    sim_end(&s);
}

/* An allocation cannot be captured: its time stays, and there are two graphs. */
static struct sim with_allocation(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "forward", 0, 600);
    launches(&k, 0, 10);
    kit_call(&k, "cudaMalloc", 200, 150);
    launches(&k, 360, 10);
    return sim_begin(&k);
}

TEST(an_allocation_ends_a_graph)
{
    struct sim s = with_allocation();
    struct sim_edit ed = {.kind = EDIT_CUDA_GRAPH, .pattern = "forward"};
    double after = wall_us(&s, &ed, 1);
    CHECK_EQ_UINT(count_mode(&s, SIM_HEAD), 2);
    CHECK_EQ_UINT(count_mode(&s, SIM_CAPTURED), 18);
    CHECK(ed.crosses_sync);
    CHECK(after > 150 && after < 150 + 90);
    sim_end(&s);
}

TEST(what_another_edit_drops_is_not_in_the_way)
{
    struct sim s = with_allocation();
    struct sim_cut call = stretch(200, 350);
    struct sim_edit both[] = {{.kind = EDIT_CUDA_GRAPH, .pattern = "forward"},
                              {.kind = EDIT_DROP_SPANS, .spans = &call, .n_spans = 1}};
    double after = wall_us(&s, both, 2);
    CHECK_EQ_UINT(count_mode(&s, SIM_HEAD), 1);
    CHECK_EQ_UINT(count_mode(&s, SIM_CAPTURED), 19);
    CHECK(!both[0].crosses_sync);
    CHECK(after < 90);
    sim_end(&s);
}

TEST(a_copy_of_pageable_memory_ends_a_graph_and_a_pinned_one_does_not)
{
    static const char *const names[] = {"Memcpy HtoD (Pageable -> Device)",
                                        "Memcpy HtoD (Pinned -> Device)"};
    for (int pinned = 0; pinned < 2; pinned++) {
        struct kit k = kit_begin();
        kit_label(&k, "forward", 0, 500);
        launches(&k, 0, 10);
        kit_call(&k, "cudaMemcpyAsync", 200, 10);
        kit_work(&k, KIND_MEMCPY, names[pinned], 208, 2);
        launches(&k, 220, 10);
        struct sim s = sim_begin(&k);
        struct sim_edit ed = {.kind = EDIT_CUDA_GRAPH, .pattern = "forward"};
        wall_us(&s, &ed, 1);
        CHECK_EQ_UINT(count_mode(&s, SIM_HEAD), pinned ? 1 : 2);
        CHECK_EQ_INT(ed.crosses_sync, !pinned);
        sim_end(&s);
    }
}

/* A graph that is launched already stays as it is; two launches are no graph. */
TEST(graphs_and_single_launches_are_left_alone)
{
    struct kit k = kit_begin();
    launches(&k, 0, 2);
    kit_call(&k, "cudaGraphLaunch", 40, 10);
    for (int i = 0; i < 8; i++) kit_work(&k, KIND_KERNEL, "node", 55 + i * 3, 2);
    launches(&k, 80, 2);
    struct sim s = sim_begin(&k);
    struct sim_cut body = stretch(0, 130);
    struct sim_edit ed = graph_of(&body, 1);
    double before = wall_us(&s, NULL, 0);
    CHECK_NEAR(wall_us(&s, &ed, 1), before, 0);
    CHECK_EQ_UINT(ed.n_captured, 0);
    sim_end(&s);
}

/* backward(): the main thread is silent while autograd's launches; both are one graph. */
static struct sim forward_and_backward(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "step", 0, 1000);
    launches(&k, 0, 20);
    k.tid = 2;
    kit_op(&k, "autograd::engine::evaluate_function: MmBackward0", 420, 400);
    launches(&k, 420, 20);
    k.tid = 1;
    kit_op(&k, "aten::add", 840, 20);
    kit_op(&k, "aten::add", 990, 10);
    return sim_begin(&k);
}

TEST(the_backward_pass_is_part_of_the_graph)
{
    struct sim s = forward_and_backward();
    CHECK_NEAR(wall_us(&s, NULL, 0), 1000, 1);
    CHECK_EQ_UINT(s.m.n_joins, 1);
    struct sim_cut body = stretch(0, 1000);
    struct sim_edit ed = graph_of(&body, 1);
    double after = wall_us(&s, &ed, 1);
    CHECK_EQ_UINT(ed.n_captured, 40);
    CHECK_EQ_UINT(count_mode(&s, SIM_HEAD), 1);
    CHECK(after > 160 && after < 160 + 140); /* what comes after backward(), and the kernels */
    sim_end(&s);
}

static int everything(void *ctx)
{
    struct sim *s = ctx;
    struct arena mem;
    arena_init(&mem);
    struct sim_cut body = stretch(0, 1000);
    struct sim_edit ed[2] = {graph_of(&body, 1), {.kind = EDIT_CUDA_GRAPH, .pattern = "step"}};
    struct sim_plan plan;
    int rc = sim_plan_build(&s->m, (struct sim_edits){ed, 2, NULL}, &mem, &plan, NULL);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct sim s = forward_and_backward();
    CHECK_EVERY_ALLOC(everything, &s);
    sim_end(&s);
}

TEST_MAIN
