/* test_streamed.c: which modules a run streams, told from copies, labels and order. */
#include "offload_kit.h"

/* An embedding, then two blocks of three. */
static const int64_t model[] = {20000, 10000, 4000000, 2000000, 10000, 4000000, 2000000};
enum { MODEL_BYTES = 12040000 };

static struct stream_spec spec(void)
{
    return (struct stream_spec){.steps = 3,
                                .passes = 1,
                                .bytes = model,
                                .n_modules = 7,
                                .bytes_per_ns = 10,
                                .compute_us = 50,
                                .pageable = true,
                                .labels = true};
}

static void open_spec(struct stream_lab *l, const struct stream_spec *s)
{
    CHECK_EQ_INT(stream_lab_open(l, stream_trace(s), false, NULL), 0);
}

TEST(modules_in_order_with_their_bytes)
{
    struct stream_spec s = spec();
    struct stream_lab l;
    open_spec(&l, &s);
    REQUIRE(CHECK_EQ_UINT(l.s.n_steps, 3));
    REQUIRE(CHECK_EQ_UINT(l.s.n_modules, 7));
    CHECK_EQ_UINT(l.s.n_loads, 21);
    CHECK_EQ_UINT(l.s.passes, 1);
    CHECK_EQ_INT(l.s.model_bytes, MODEL_BYTES);
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_EQ_INT(l.s.modules[i].bytes, model[i]);
        CHECK_EQ_UINT(l.s.modules[i].n_loads, 3);
        CHECK_EQ_INT(l.s.modules[i].compute_ns, 50000);
        CHECK_EQ_UINT(l.s.modules[i].block, (i + 2) / 3);
    }
    CHECK_EQ_INT(l.s.modules[2].copy_ns, 400000);
    CHECK_EQ_UINT(l.s.n_blocks, 3);
    CHECK(l.s.loads[0].pageable);
    CHECK(!l.s.loads[6].again);
    CHECK(l.s.loads[7].again);
    stream_lab_close(&l);
}

TEST(the_label_around_the_copies_is_the_load)
{
    struct stream_spec s = spec();
    s.in_two = true;
    s.compute_us = 5;
    struct stream_lab l;
    open_spec(&l, &s);
    REQUIRE(CHECK_EQ_UINT(l.s.n_modules, 7));
    const struct streamed_load *one = &l.s.loads[2];
    CHECK_EQ_UINT(one->n_copies, 2);
    CHECK_EQ_INT(one->bytes, 4000000);
    /* 3 us of label, then two copies of 5 + copy + 6 */
    CHECK_EQ_INT(one->end_ns - one->begin_ns, 3000 + 400000 + 2 * 11000);
    stream_lab_close(&l);
}

TEST(without_labels_copies_up_to_the_next_kernel_are_one_module)
{
    struct stream_spec s = spec();
    s.in_two = true;
    s.labels = false;
    struct stream_lab l;
    open_spec(&l, &s);
    REQUIRE(CHECK_EQ_UINT(l.s.n_modules, 7));
    CHECK_EQ_INT(l.s.modules[2].bytes, 4000000);
    CHECK_EQ_UINT(l.s.modules[2].n_copies, 2);
    stream_lab_close(&l);
}

TEST(modules_that_stay_are_recognised_by_the_others)
{
    static const bool kept[] = {false, false, true, false, true, false, false};
    struct stream_spec s = spec();
    s.kept = kept;
    struct stream_lab l;
    open_spec(&l, &s);
    REQUIRE(CHECK_EQ_UINT(l.s.n_modules, 7));
    CHECK_EQ_UINT(l.s.n_loads, 7 + 5 + 5);
    CHECK(l.s.steps[0].whole);
    CHECK(!l.s.steps[1].whole);
    static const uint32_t later[] = {0, 1, 3, 5, 6};
    for (int i = 0; i < 5; i++) CHECK_EQ_UINT(l.s.loads[7 + i].module, later[i]);
    CHECK_EQ_INT(l.o.first_bytes, MODEL_BYTES);
    CHECK_EQ_INT(l.o.step_bytes, MODEL_BYTES - 4010000);
    stream_lab_close(&l);
}

TEST(two_passes_a_step_are_one_model)
{
    struct stream_spec s = spec();
    s.passes = 2;
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK_EQ_UINT(l.s.passes, 2);
    CHECK_EQ_UINT(l.s.n_modules, 7);
    CHECK_EQ_INT(l.s.model_bytes, MODEL_BYTES);
    CHECK_EQ_UINT(l.s.n_loads, 42);
    CHECK(l.s.loads[7].again);
    stream_lab_close(&l);
}

/* A model of two equal halves looks like two passes, unless the user says otherwise. */
TEST(the_user_knows_how_many_passes)
{
    struct stream_spec s = spec();
    s.bytes = model + 1;
    s.n_modules = 6;
    struct trace *t = stream_trace(&s);
    struct stream_lab l;
    CHECK_EQ_INT(stream_lab_open(&l, t, false, NULL), 0);
    CHECK_EQ_UINT(l.s.n_modules, 3);
    l.s.asked_passes = 1;
    CHECK_EQ_INT(streamed_run(t, &l.cx, &l.mem, &l.s, NULL), 0);
    CHECK_EQ_UINT(l.s.n_modules, 6);
    stream_lab_close(&l);
}

TEST(the_user_knows_how_many_steps)
{
    struct stream_spec s = spec();
    struct stream_lab l;
    open_spec(&l, &s);
    l.s.asked_steps = 7;
    CHECK_EQ_INT(streamed_run(l.t, &l.cx, &l.mem, &l.s, NULL), 0);
    CHECK_EQ_UINT(l.s.n_steps, 7);
    CHECK_EQ_UINT(l.s.steps[3].n_loads, 3);
    struct err e;
    err_init(&e);
    l.s.asked_steps = 4;
    CHECK_EQ_INT(streamed_run(l.t, &l.cx, &l.mem, &l.s, &e), ERR_USAGE);
    CHECK_EQ_STR(e.msg, "21 loads of weights cannot be divided into 4 equal steps");
    stream_lab_close(&l);
}

/* Labels around nothing but the loads repeat, but are no steps. */
TEST(load_labels_are_no_steps)
{
    struct stream_spec s = spec();
    s.no_steps = true;
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK(l.s.steps_are_guess);
    CHECK_EQ_UINT(l.s.n_steps, 1);
    CHECK_EQ_UINT(l.s.n_loads, 21);
    CHECK_EQ_UINT(l.s.passes, 3);
    stream_lab_close(&l);
}

TEST(a_step_counter_is_no_weight)
{
    struct stream_spec s = spec();
    s.constant = true;
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK_EQ_UINT(l.s.n_modules, 7);
    CHECK_EQ_INT(l.s.model_bytes, MODEL_BYTES);
    stream_lab_close(&l);
}

TEST(what_was_copied_and_how_fast)
{
    struct stream_spec s = spec();
    struct stream_lab l;
    open_spec(&l, &s);
    CHECK_EQ_UINT(l.o.to_device[HOST_PAGEABLE].n, 21);
    CHECK_EQ_UINT(l.o.to_device[HOST_PINNED].n, 0);
    CHECK_EQ_INT(l.o.to_device[HOST_PAGEABLE].bytes, 3 * (int64_t)MODEL_BYTES);
    CHECK_NEAR(l.o.to_device[HOST_PAGEABLE].rate.bytes_per_ns, 10, 0.01);
    CHECK_EQ_INT(l.o.copying_ns, 3 * 1204000);
    CHECK_EQ_INT(l.o.compute_ns, 21 * 50000);
    CHECK_EQ_INT(l.o.overlapped_ns, 0);
    CHECK(!l.o.empties_cache);
    stream_lab_close(&l);
}

TEST(nothing_streamed)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        kit_label(&k, "denoise", i * 100, 90);
        kit_launch(&k, i * 100 + 10, "gemm", i * 100 + 20, 50);
    }
    struct stream_lab l;
    CHECK_EQ_INT(stream_lab_open(&l, kit_end(&k), false, NULL), 0);
    CHECK_EQ_UINT(l.s.n_loads, 0);
    CHECK_EQ_UINT(l.s.n_modules, 0);
    stream_lab_close(&l);
}

static int open_and_close(void *ctx)
{
    struct stream_lab l;
    struct trace *t = ctx;
    int rc = stream_lab_open(&l, t, false, NULL);
    context_done(&l.cx);
    arena_done(&l.mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct stream_spec s = spec();
    struct trace *t = stream_trace(&s);
    CHECK_EVERY_ALLOC(open_and_close, t);
    trace_free(t);
}

TEST_MAIN
