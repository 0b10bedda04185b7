/* test_recorded.c: what kind of recording a trace is, and which part of it is judged. */
#include "analyze/recorded/recorded.h"

#include "analyze/names/host_cause.h"

#include "kit.h"

struct seen {
    struct trace *t;
    struct arena mem;
    struct context cx;
    const struct recorded *r;
};

static struct seen look(struct kit *k)
{
    struct seen s = {.t = kit_end(k)};
    arena_init(&s.mem);
    context_init(&s.cx, s.t, &s.mem);
    CHECK_EQ_INT(recorded_cut(&s.t, &s.cx, NULL), 0);
    CHECK(s.cx.t == s.t);
    CHECK_EQ_INT(context_need(&s.cx, &recorded_pass, NULL), 0);
    s.r = recorded_of(&s.cx);
    return s;
}

static void done(struct seen *s)
{
    context_done(&s->cx);
    arena_done(&s->mem);
    trace_free(s->t);
}

/* A labelled step of `us`, in which the device works for `busy_us`. */
static void step(struct kit *k, int number, double at, double us, double busy_us)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    kit_label(k, name, at, us);
    kit_launch(k, at + 10, "gemm", at + 30, busy_us);
}

TEST(a_warm_recording_is_judged_as_it_is)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) step(&k, i, 1000 * i, 990, 800);
    struct seen s = look(&k);
    CHECK_EQ_INT(s.r->kind, RECORDED_WARM);
    CHECK(!s.t->part.judged);
    CHECK_EQ_STR(s.r->sentence, "");
    CHECK(s.r->idle_judged);
    done(&s);
}

TEST(a_cold_first_step_is_left_out)
{
    struct kit k = kit_begin();
    step(&k, 0, 0, 9000, 900);
    for (int i = 1; i < 4; i++) step(&k, i, 9000 + 1000 * i, 990, 800);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_COLD);
    CHECK_EQ_UINT(s.t->part.n_cold, 1);
    CHECK_EQ_INT(s.t->begin_ns, 10000000); /* times of what is left stay as they are */
    CHECK(s.r->idle_judged);
    CHECK_EQ_INT(s.t->part.left_out_ns[LEFT_OUT_START_UP], 10000000);
    done(&s);
}

/* Near miss: the first step is long because the device has more to do, as a prefill has. */
TEST(a_healthy_slow_first_step_stays)
{
    struct kit k = kit_begin();
    step(&k, 0, 0, 9000, 8900);
    for (int i = 1; i < 4; i++) step(&k, i, 9000 + 1000 * i, 990, 800);
    struct seen s = look(&k);
    CHECK(!s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_WARM);
    done(&s);
}

/* One call of a process that has just started: contexts and code take 30 of 35 ms. */
static void cold_call(struct kit *k)
{
    kit_op(k, "aten::mm", 0, 35000);
    kit_call(k, "cudaFree", 100, 12000);
    kit_call(k, "cudaLaunchKernel", 13000, 18000);
    kit_work(k, KIND_KERNEL, "gemm", 31100, 500);
    kit_launch(k, 34000, "gemm", 34020, 900);
}

TEST(a_cold_call_is_not_advised_on)
{
    struct kit k = kit_begin();
    cold_call(&k);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_COLD);
    CHECK(!s.r->idle_judged);
    CHECK_EQ_INT(s.t->part.left_out_ns[LEFT_OUT_START_UP], 29980000); /* all but two usual calls */
    CHECK(strstr(s.r->sentence, "86 % of this recording is one-time start-up") != NULL);
    CHECK_EQ_INT(s.t->end_ns, 35000000);
    done(&s);
}

/* A second step without device work does not make the first one warm. */
TEST(an_empty_step_is_not_warm)
{
    struct kit k = kit_begin();
    kit_label(&k, "ProfilerStep#1", 0, 35100);
    cold_call(&k);
    kit_label(&k, "ProfilerStep#2", 35200, 50);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK(!s.r->idle_judged);
    done(&s);
}

/* Near miss: a program that frees memory in each of its steps pays for it again and again. */
TEST(calls_that_come_back_are_no_start_up)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 12; i++) {
        step(&k, i, 4000 * i, 3990, 500);
        kit_call(&k, "cudaFree", 4000 * i + 1000, 2500);
    }
    struct seen s = look(&k);
    CHECK(!s.t->part.judged);
    done(&s);
}

static void capture(struct kit *k, double at, double us)
{
    kit_call(k, "cudaStreamBeginCapture", at, 5);
    for (int i = 0; i < 20; i++) kit_call(k, "cudaLaunchKernel", at + 10 + i * us / 25, 5);
    kit_call(k, "cudaStreamEndCapture", at + us - 5, 5);
}

TEST(a_capture_is_left_out)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 20, 100);
    capture(&k, 200, 5000);
    kit_launch(&k, 5300, "gemm", 5320, 100);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_CAPTURE);
    CHECK_EQ_INT(s.t->part.left_out_ns[LEFT_OUT_CAPTURE], 5000000);
    CHECK(!s.r->idle_judged);
    CHECK_EQ_UINT(s.t->n_calls, 2); /* what was captured did not run */
    done(&s);
}

/* A graph for each size that may come, with a little work of its own: nothing is replayed. */
TEST(captures_one_by_one_are_left_out)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 8; i++) {
        step(&k, i, 2500 * i, 2490, 40);
        capture(&k, 2500 * i + 100, 2000);
        kit_call(&k, "hipGraphInstantiateWithFlags", 2500 * i + 2150, 50);
    }
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_CAPTURE);
    CHECK(!s.r->idle_judged);
    CHECK(strstr(s.r->sentence, "Record replays of the graphs.") != NULL);
    done(&s);
}

/* Two rounds somewhere inside the one call that is recorded show nothing warm. */
TEST(a_loop_inside_a_capture_is_not_the_recording)
{
    struct kit k = kit_begin();
    step(&k, 0, 0, 90, 4);
    step(&k, 1, 90, 20, 4);
    capture(&k, 1400, 50000);
    kit_launch(&k, 52000, "gather", 53000, 4);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_UINT(s.t->part.n_cold, 0);
    CHECK(!s.r->idle_judged);
    done(&s);
}

/* Near miss: a program that captures in its loop launches what it captures. */
TEST(captures_in_a_loop_are_its_work)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        step(&k, i, 6000 * i, 5990, 500);
        capture(&k, 6000 * i + 600, 5000);
        kit_call(&k, "cudaGraphLaunch", 6000 * i + 5700, 10);
        kit_work(&k, KIND_KERNEL, "gemm", 6000 * i + 5720, 200);
    }
    struct seen s = look(&k);
    CHECK(!s.t->part.judged);
    done(&s);
}

TEST(the_profiler_is_left_out)
{
    struct kit k = kit_begin();
    kit_python(&k, "jax/_src/profiler.py(101): start_trace", 0, 90000);
    for (int i = 0; i < 4; i++) step(&k, i, 90100 + 1000 * i, 990, 800);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_PROFILER);
    CHECK(s.r->idle_judged);
    CHECK_EQ_INT(s.t->part.left_out_ns[LEFT_OUT_PROFILER], 90100000); /* to the first step */
    done(&s);
}

/* Between what a profiler writes at the end there are pauses, which are its own as well. */
TEST(pauses_of_the_profiler_at_the_edges_are_left_out)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) step(&k, i, 1000 * i, 990, 800);
    kit_python(&k, "rpdflush", 4000, 3000);
    kit_python(&k, "MonitorTable::writeRows", 16000, 70);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_PROFILER);
    CHECK_EQ_INT(s.t->end_ns - s.t->begin_ns, 3990000);
    done(&s);
}

/* Near miss: after the profiler the program goes on. */
TEST(a_program_that_goes_on_after_a_flush_is_judged)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 2; i++) step(&k, i, 1000 * i, 990, 800);
    kit_python(&k, "MonitorTable::writeRows", 2100, 70);
    for (int i = 3; i < 6; i++) step(&k, i, 1000 * i, 990, 800);
    struct seen s = look(&k);
    CHECK(!s.t->part.judged);
    done(&s);
}

TEST(a_wait_for_what_was_launched_before_is_left_out)
{
    struct kit k = kit_begin();
    kit_label(&k, "decode", 0, 60000);
    kit_call(&k, "hipMemcpyWithStream", 100, 50000);
    kit_launch(&k, 50200, "gemm", 50220, 9000);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_CUT);
    CHECK(s.r->idle_judged);
    CHECK_EQ_INT(s.t->part.left_out_ns[LEFT_OUT_EARLIER], 49990000);
    done(&s);
}

/* The queue still holds what was launched before: nothing that is recorded starts. */
TEST(a_queue_from_before_is_left_out)
{
    struct kit k = kit_begin();
    kit_label(&k, "execute", 0, 2400);
    kit_launch(&k, 500, "gemm", 8400, 9000);
    kit_launch(&k, 600, "norm", 17400, 1000);
    struct seen s = look(&k);
    REQUIRE(s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_CUT);
    CHECK(s.t->part.left_out_ns[LEFT_OUT_EARLIER] > 7800000);
    CHECK(s.t->end_ns - s.t->begin_ns < 10700000);
    done(&s);
}

/* Near miss: a launch that takes its usual time to arrive. */
TEST(a_usual_launch_latency_stays)
{
    struct kit k = kit_begin();
    kit_label(&k, "execute", 0, 2400);
    kit_launch(&k, 500, "gemm", 1300, 9000);
    struct seen s = look(&k);
    CHECK(!s.t->part.judged);
    done(&s);
}

/* Near miss: the same wait for work that the recording shows. */
TEST(a_wait_for_recorded_work_stays)
{
    struct kit k = kit_begin();
    kit_label(&k, "decode", 0, 60000);
    kit_launch(&k, 50, "gemm", 80, 50000);
    kit_call(&k, "hipMemcpyWithStream", 100, 50000);
    struct seen s = look(&k);
    CHECK(!s.t->part.judged);
    CHECK_EQ_INT(s.r->kind, RECORDED_LITTLE);
    done(&s);
}

TEST_MAIN
