/* test_focus.c: which part of a recording is worth looking at. */
#include "analyze/focus.h"

#include "trace/cut.h"

#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct focus f;
};

static struct found look_at(struct trace *t)
{
    struct found x = {.t = t};
    arena_init(&x.mem);
    CHECK_EQ_INT(focus_find(t, &x.mem, &x.f, NULL), 0);
    return x;
}

static struct found look(struct kit *k)
{
    kit_meta(k, TRACE_META_RECORDED, "1");
    return look_at(kit_end(k));
}

static void done(struct found *x)
{
    arena_done(&x->mem);
    trace_free(x->t);
}

/* A call with stages inside: `us` on the CPU, the device finishes `lag_us` after it. */
static void call(struct kit *k, const char *name, double at, double us, double lag_us)
{
    kit_label(k, name, at, us);
    kit_label(k, "forward", at + us * 0.1, us * 0.5);
    kit_launch(k, at + us * 0.2, "gemm", at + us * 0.3, us * 0.7 + lag_us);
}

/* Imports, loading, one call that compiles, four that do not, leaving. */
static struct kit program(void)
{
    struct kit k = kit_begin();
    kit_python(&k, "pipe.py(1): <module>", 0, 100000);
    kit_launch(&k, 5000, "fill", 5010, 2000);
    call(&k, "pipeline_call", 10000, 50000, 0);
    for (int i = 0; i < 4; i++) call(&k, "pipeline_call", 61000 + 5000 * i, 4000, i == 3 ? 700 : 0);
    return k;
}

TEST(calls_that_are_warmed_up)
{
    struct kit k = program();
    struct found x = look(&k);
    REQUIRE(x.f.found);
    CHECK_EQ_INT(x.f.begin_ns, 61000000);
    CHECK_EQ_INT(x.f.end_ns, 80700000); /* when the device is done with the last one */
    CHECK(str_eq(trace_str(x.t, x.f.name), str_c("pipeline_call")));
    CHECK_EQ_UINT(x.f.n_calls, 4);
    CHECK_EQ_UINT(x.f.n_cold, 1);
    CHECK_EQ_INT(x.f.cold_ns, 50000000);
    done(&x);
}

TEST(a_trace_of_another_profiler_is_shown_as_it_is)
{
    struct kit k = program();
    struct found x = look_at(kit_end(&k));
    CHECK(!x.f.found);
    done(&x);
}

TEST(the_only_call_is_shown_cold_or_not)
{
    struct kit k = kit_begin();
    kit_python(&k, "pipe.py(1): <module>", 0, 100000);
    call(&k, "pipeline_call", 60000, 30000, 0);
    struct found x = look(&k);
    REQUIRE(x.f.found);
    CHECK_EQ_INT(x.f.begin_ns, 60000000);
    CHECK_EQ_INT(x.f.end_ns, 90000000);
    CHECK_EQ_UINT(x.f.n_calls, 1);
    CHECK_EQ_UINT(x.f.n_cold, 0);
    done(&x);
}

/* encode, forward..., decode beside each other are one run: none of them may be lost. */
TEST(stages_side_by_side_are_shown_from_the_first_to_the_last)
{
    struct kit k = kit_begin();
    kit_python(&k, "pipe.py(1): <module>", 0, 100000);
    kit_label(&k, "encode", 50000, 1000);
    kit_launch(&k, 50100, "gemm", 50200, 500);
    for (int i = 0; i < 5; i++) {
        double at = 52000 + 1000 * i + (i ? 6000 : 0);
        kit_label(&k, "forward", at, i ? 900 : 6900);
        kit_launch(&k, at + 100, "gemm", at + 200, 600);
    }
    kit_label(&k, "decode", 63000, 1000);
    kit_launch(&k, 63100, "conv", 63200, 500);
    struct found x = look(&k);
    REQUIRE(x.f.found);
    CHECK_EQ_INT(x.f.begin_ns, 50000000);
    CHECK_EQ_INT(x.f.end_ns, 64000000);
    CHECK_EQ_UINT(x.f.n_calls, 0);
    CHECK_EQ_UINT(x.f.n_cold, 0);
    done(&x);
}

/* A module is called in every round, with the loss and the optimizer behind it: its calls are not
 * the program. Whole calls are, although nobody named them. */
static struct focus derived(const char *name)
{
    struct kit k = kit_begin();
    kit_python(&k, "train.py(1): <module>", 0, 100000);
    for (int i = 0; i < 6; i++) {
        double at = 50000 + 5000 * i;
        kit_derived(&k, name, at, 2000);
        kit_derived(&k, "Linear", at + 100, 1000);
        kit_launch(&k, at + 200, "gemm", at + 300, 1500);
        kit_launch(&k, at + 3000, "loss", at + 3010, 500);
    }
    struct found x = look(&k);
    struct focus f = x.f;
    done(&x);
    return f;
}

TEST(modules_are_parts_and_not_the_program)
{
    struct focus f = derived("ResNet");
    CHECK_EQ_UINT(f.name, STR_NONE); /* rounds of the loop */
    f = derived("generate");
    CHECK(f.name != STR_NONE && f.begin_ns == 50000000 && f.end_ns == 77000000);
    CHECK_EQ_UINT(f.n_calls, 6);
}

/* Without stages the loop is told from what is launched. */
static void rounds(struct kit *k, double at, int n, double us)
{
    static const char *const kernels[] = {"norm", "gemm", "attention", "gemm", "add"};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 5; j++) {
            double us_at = at + i * us + j * us / 5;
            kit_launch(k, us_at, kernels[j], us_at + 10, us / 5 - 15);
        }
}

TEST(rounds_of_a_loop_where_there_are_no_stages)
{
    struct kit k = kit_begin();
    kit_python(&k, "train.py(1): <module>", 0, 100000);
    kit_launch(&k, 1000, "fill", 1010, 100);
    rounds(&k, 50000, 20, 1000);
    struct found x = look(&k);
    REQUIRE(x.f.found);
    CHECK(x.f.begin_ns >= 50000000 && x.f.begin_ns <= 53000000);
    CHECK(x.f.end_ns >= 67000000 && x.f.end_ns <= 71000000);
    CHECK_EQ_UINT(x.f.name, STR_NONE);
    CHECK(x.f.n_calls >= 15);
    done(&x);
}

/* Each round begins with work on the CPU, which lies before its first launch: so the last round, up
 * to its last launch, is far shorter than the others. They are not cold for that. */
TEST(the_last_round_says_nothing_about_the_others)
{
    struct kit k = kit_begin();
    kit_python(&k, "resize.py(1): <module>", 0, 350000);
    kit_launch(&k, 1000, "fill", 1010, 100);
    for (int i = 0; i < 4; i++) rounds(&k, 65000 + i * 80000, 1, 4000);
    struct found x = look(&k);
    REQUIRE(x.f.found);
    CHECK_EQ_UINT(x.f.n_cold, 0);
    CHECK(x.f.begin_ns >= 60000000 && x.f.begin_ns <= 66000000);
    CHECK(x.f.end_ns >= 300000000);
    done(&x);
}

TEST(a_loop_that_holds_little_of_the_work_is_not_the_program)
{
    struct kit k = kit_begin();
    kit_python(&k, "batch.py(1): <module>", 0, 200000);
    kit_launch(&k, 1000, "one long kernel", 1010, 100000);
    rounds(&k, 150000, 20, 1000);
    struct found x = look(&k);
    CHECK(!x.f.found);
    done(&x);
}

/* Without a device: weights are filled for longer than the calls take. */
static struct focus on_the_cpu(double other_us)
{
    struct kit k = kit_begin();
    kit_python(&k, "pipe.py(1): <module>", 0, 300000);
    kit_op(&k, "aten::normal_", 1000, 90000);
    for (int i = 0; i < 3; i++) {
        kit_label(&k, "pipeline_call", 150000 + 10000 * i, 9000);
        kit_op(&k, "aten::convolution", 150100 + 10000 * i, 8000);
    }
    if (other_us > 0) kit_op(&k, "aten::sort", 190000, other_us);
    struct found x = look(&k);
    struct focus f = x.f;
    done(&x);
    return f;
}

TEST(filling_weights_on_the_cpu_is_start_up)
{
    struct focus f = on_the_cpu(0);
    REQUIRE(f.found);
    CHECK_EQ_INT(f.begin_ns, 150000000);
    CHECK_EQ_INT(f.end_ns, 179000000);
    CHECK_EQ_UINT(f.n_calls, 3);
}

TEST(work_after_the_calls_that_no_stage_names_is_not_start_up)
{
    CHECK(!on_the_cpu(60000).found);
}

TEST(where_little_would_be_left_out_all_is_shown)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 6; i++) call(&k, "pipeline_call", 100 + 5000 * i, 4900, 0);
    struct found x = look(&k);
    CHECK(!x.f.found);
    done(&x);
}

TEST(nothing_at_all)
{
    struct kit k = kit_begin();
    struct found x = look(&k);
    CHECK(!x.f.found);
    done(&x);
}

/* Killed in its last call: the device has no record of what that launched. */
TEST(calls_without_device_records_at_the_end)
{
    for (int lost = 1; lost <= 2; lost++) {
        struct kit k = program();
        for (int i = 0; i < lost; i++) {
            kit_label(&k, "pipeline_call", 81000 + 5000 * i, 4000);
            kit_call(&k, "cudaLaunchKernel", 82000 + 5000 * i, 10);
        }
        struct found x = look(&k);
        REQUIRE(x.f.found);
        CHECK_EQ_INT(x.f.lost_end, lost == 1);
        CHECK_EQ_UINT(x.f.n_calls, lost == 1 ? 4 : 6); /* two of seven are too many to keep quiet */
        done(&x);
    }
}

TEST(cutting_says_what_is_left)
{
    struct kit k = program();
    kit_meta(&k, TRACE_META_RECORDED, "1");
    struct trace *t = kit_end(&k);
    REQUIRE(focus_cut(&t, NULL) == 0);
    CHECK_EQ_INT(t->begin_ns, 61000000);
    CHECK_EQ_INT(t->part.whole_end_ns - t->part.whole_begin_ns, 100000000);
    CHECK(str_eq(trace_str(t, t->part.name), str_c("pipeline_call")));
    CHECK_EQ_UINT(t->part.n_calls, 4);
    CHECK_EQ_UINT(t->part.n_cold, 1);
    CHECK_EQ_INT(t->part.cold_ns, 50000000);
    trace_free(t);
}

/* Two parts that the program recorded of itself, with nothing in between. */
static struct kit two_parts(void)
{
    struct kit k = kit_begin();
    kit_row(&k, KIND_INSTANT, RECORDED_PART_BEGINS, 0, 0, NULL);
    call(&k, "first", 10, 1000, 0);
    kit_row(&k, KIND_INSTANT, RECORDED_PART_ENDS, 1100, 0, NULL);
    k.tid = 2; /* on another thread */
    kit_row(&k, KIND_INSTANT, RECORDED_PART_BEGINS, 50000, 0, NULL);
    call(&k, "second", 50010, 1000, 700);
    kit_row(&k, KIND_INSTANT, RECORDED_PART_ENDS, 51100, 0, NULL);
    k.tid = 1;
    kit_label(&k, "later", 90000, 10);
    kit_meta(&k, TRACE_META_RECORDED, "1");
    return k;
}

TEST(parts_that_the_program_recorded)
{
    struct kit k = two_parts();
    struct trace *t = kit_end(&k);
    REQUIRE(focus_cut(&t, NULL) == 0); /* the last */
    CHECK_EQ_UINT(t->part.number, 2);
    CHECK_EQ_UINT(t->part.n_parts, 2);
    CHECK_EQ_INT(t->begin_ns, 50010000);
    CHECK_EQ_INT(t->end_ns, 51710000); /* when the device is done */
    trace_free(t);
    k = two_parts();
    t = kit_end(&k);
    REQUIRE(focus_cut_part(&t, 1, NULL) == 0);
    CHECK_EQ_UINT(t->part.number, 1);
    CHECK_EQ_INT(t->begin_ns, 10000);
    CHECK_EQ_INT(t->end_ns, 1010000);
    trace_free(t);
}

TEST(parts_that_are_not_there)
{
    struct kit k = two_parts();
    struct trace *t = kit_end(&k);
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(focus_cut_part(&t, 3, &e), ERR_USAGE);
    CHECK_EQ_UINT(t->part.number, 0);
    trace_free(t);
    k = kit_begin();
    kit_row(&k, KIND_INSTANT, RECORDED_PART_ENDS, 5, 0, NULL); /* cut off: it has no begin */
    kit_row(&k, KIND_INSTANT, RECORDED_PART_BEGINS, 10, 0, NULL);
    kit_label(&k, "open", 20, 30);
    t = kit_end(&k);
    REQUIRE(focus_cut_part(&t, 1, NULL) == 0); /* one without an end lasts to the end */
    CHECK_EQ_INT(t->end_ns, 50000);
    trace_free(t);
}

TEST_MAIN
