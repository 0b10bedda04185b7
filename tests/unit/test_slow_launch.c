/* test_slow_launch.c: launches that take long to come: when the rule tells of them, and of what;
 * and all that looks alike but is somebody else's business. */
#include "diagnosis.h"

#define SDPA   "cudnn_generated_fort_native_sdpa_flash_fprop"
#define STEPS  8
#define USUAL  30.0
#define N_MM   10
#define LINE   "decode.py(12): forward"
#define CALLER "decode.py(25): generate"

/* What the attention of each step does before its launch. */
enum before { NOTHING, PLANS, ALLOCATES, WAITS, IS_QUIET, IS_FLUSHED };

struct decode {
    double plan_us;
    enum before before;
    int from, to;     /* steps in which it does */
    double kernel_us; /* of the product before it */
    bool ops, sampled;
    bool twice;   /* per step */
    bool uploads; /* instead of attention */
};

/* `at` is when attention begins; returns when its launch is made. */
static double attention_lead(struct kit *k, const struct decode *d, double at)
{
    double ready = at + d->plan_us;
    switch (d->before) {
    case NOTHING: return at + USUAL;
    case PLANS: break;
    case ALLOCATES: kit_call(k, "cudaMalloc", at + 5, d->plan_us - 10); break;
    case WAITS: kit_call(k, "cudaEventSynchronize", at + 5, d->plan_us - 10); break;
    case IS_QUIET: kit_python(k, "decode.py(40): pick_mask", at + 2, d->plan_us - 4); break;
    case IS_FLUSHED: kit_row(k, KIND_OVERHEAD, "Buffer Flush", at + 2, d->plan_us - 4, NULL); break;
    }
    return ready;
}

/* Steps of ten products, 30 us apart, and an attention that launches late. */
static struct trace *decode(struct decode d)
{
    struct kit k = kit_begin();
    double at = 0, gpu = 0;
    if (d.sampled) kit_meta(&k, TRACE_META_SAMPLED, "1000");
    for (int s = 0; s < STEPS; s++) {
        bool slow = s >= d.from && s < d.to;
        struct decode now = d;
        if (!slow) now.before = NOTHING;
        double begin = at;
        for (int i = 0; i < N_MM; i++, at += USUAL) {
            double busy = i == N_MM - 1 ? d.kernel_us : 3;
            gpu = at + 10 > gpu ? at + 10 : gpu;
            if (d.ops) kit_op(&k, "aten::mm", at, 20);
            kit_launch(&k, at + 2, "gemm", gpu, busy);
            gpu += busy;
        }
        for (int n = 0; n <= d.twice; n++) {
            double launch = attention_lead(&k, &now, at);
            if (d.ops)
                kit_op(&k, "aten::_scaled_dot_product_cudnn_attention", at, launch + 10 - at);
            kit_python(&k, LINE, at - 1, launch + 12 - at);
            gpu = launch + 8 > gpu ? launch + 8 : gpu;
            k.bytes = 1 << 20;
            kit_call(&k, "cudaLaunchKernel", launch, 5);
            if (d.uploads) kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", gpu, 5);
            else kit_work(&k, KIND_KERNEL, SDPA, gpu, 5);
            gpu += 5;
            at = launch + USUAL;
        }
        kit_python(&k, CALLER, begin, at - begin);
        kit_label(&k, "step", begin, at - begin - 1);
    }
    return kit_end(&k);
}

static const struct decode every_step = {
    .plan_us = 6000, .before = PLANS, .from = 0, .to = STEPS, .kernel_us = 3, .ops = true};

static bool is_told(struct decode d)
{
    struct diagnosis g;
    diagnose(&g, decode(d));
    bool told = found(&g, "slow_launch") != NULL;
    done(&g);
    return told;
}

static bool says(const struct finding *f, const char *text)
{
    for (uint32_t i = 0; i < f->n_evidence; i++)
        if (strstr(f->evidence[i].text, text)) return true;
    return false;
}

TEST(planning_in_every_step_is_told_with_operator_line_kernel_and_gain)
{
    struct diagnosis d;
    diagnose(&d, decode(every_step));
    const struct finding *f = found(&d, "slow_launch");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->subject, "aten::_scaled_dot_product_cudnn_attention");
    CHECK_EQ_STR(f->file, "decode.py");
    CHECK_EQ_INT(f->line, 12);
    CHECK_NEAR((double)f->blocked_ns, 6e6 * STEPS, 1e5);
    CHECK_NEAR((double)f->exposed_ns, 6e6 * STEPS, 1e6);
    CHECK_NEAR(f->gain_pct, 100 * (6000 - USUAL) / (6000 + (N_MM + 1) * USUAL), 2);
    CHECK_EQ_INT(f->severity, SEVERITY_HIGH);
    CHECK(says(f, "cudnn_sdpa_flash_fprop"));
    CHECK(says(f, "the usual interval is 30.0 us"));
    CHECK(says(f, "7 of 8 steps"));
    REQUIRE(f->n_evidence > 0);
    CHECK_EQ_BYTES(trace_name(d.t, f->evidence[0].row), "cudaLaunchKernel");
    CHECK_EQ_INT(f->evidence[0].ts_ns, d.t->ts_ns[f->evidence[0].row]);
    row_t late = trace_up(d.t, f->evidence[0].row, KIND_OP);
    REQUIRE(late != ROW_NONE);
    CHECK_EQ_BYTES(trace_name(d.t, late), "aten::_scaled_dot_product_cudnn_attention");
    CHECK(strstr(f->fix, "enable_cudnn_sdp(False)") != NULL);
    CHECK(strstr(f->fix, "--ops all") == NULL);
    done(&d);
}

TEST(without_operators_the_line_is_told_and_how_to_get_the_operator)
{
    struct decode plain = every_step;
    plain.ops = false;
    struct diagnosis d;
    diagnose(&d, decode(plain));
    const struct finding *f = found(&d, "slow_launch");
    REQUIRE(f != NULL);
    CHECK_EQ_STR(f->subject, "forward");
    CHECK_EQ_INT(f->line, 12);
    CHECK(strstr(f->fix, "--ops all") != NULL);
    done(&d);
}

TEST(before_an_upload_its_data_is_made)
{
    struct decode d = every_step;
    d.uploads = true;
    struct diagnosis g;
    diagnose(&g, decode(d));
    const struct finding *f = found(&g, "slow_launch");
    if (CHECK(f != NULL)) CHECK(strstr(f->fix, "Make on the GPU what is uploaded") != NULL);
    done(&g);
}

/* A step counts once, however often it happens in it. */
TEST(steps_are_counted_not_launches)
{
    struct decode d = every_step;
    d.twice = true;
    struct diagnosis g;
    diagnose(&g, decode(d));
    const struct finding *f = found(&g, "slow_launch");
    REQUIRE(f != NULL);
    CHECK(says(f, "7 of 8 steps"));
    done(&g);
}

TEST(what_happens_once_is_warm_up)
{
    struct decode d = every_step;
    d.to = 2;
    CHECK(!is_told(d)); /* the first step and one more */
    d.to = 3;
    CHECK(is_told(d));
}

TEST(a_launch_that_is_late_by_less_is_usual)
{
    struct decode d = every_step;
    d.plan_us = 450;
    CHECK(!is_told(d));
    d.plan_us = 650;
    CHECK(is_told(d));
}

TEST(planning_while_the_device_has_work_costs_nothing)
{
    struct decode d = every_step;
    d.kernel_us = 6500;
    CHECK(!is_told(d));
}

/* A line that one sample was seen in may have had any part of the time. */
TEST(samples_have_to_be_two)
{
    struct decode d = every_step;
    d.ops = false;
    d.sampled = true;
    d.plan_us = 1500;
    CHECK(!is_told(d));
    d.plan_us = 2500;
    CHECK(is_told(d));
}

/* ---- where in the step ---- */

/* Steps of ten products; in each of them one of `wanders ? another : the same` product comes late.
 * With `tail` its operator has already launched and takes long to end. */
static struct trace *stalls(bool wanders, bool tail)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < STEPS; s++) {
        double begin = at;
        int late = wanders ? s * 7 % N_MM : 4;
        for (int i = 0; i < N_MM; i++) {
            double extra = i == late ? 6000 : 0, launch = at + (tail ? 2 : 2 + extra);
            kit_op(&k, "aten::mm", at, 20 + extra);
            kit_launch(&k, launch, "gemm", launch + 8, 3);
            at += USUAL + extra;
        }
        kit_label(&k, "step", begin, at - begin - 1);
    }
    return kit_end(&k);
}

static bool stall_is_told(bool wanders, bool tail)
{
    struct diagnosis g;
    diagnose(&g, stalls(wanders, tail));
    bool told = found(&g, "slow_launch") != NULL;
    done(&g);
    return told;
}

/* A thread that does not get the CPU, now here, now there: not the operator's doing. */
TEST(near_miss_delays_that_wander_through_the_step)
{
    CHECK(stall_is_told(false, false));
    CHECK(!stall_is_told(true, false));
}

/* The next launch is not late because of what makes it: the operator before takes long to return.
 */
TEST(near_miss_what_has_launched_already_and_takes_long_to_return)
{
    CHECK(!stall_is_told(false, true));
}

/* Not even looked at: the gain of another rule must not be what hides them. */
TEST(allocations_waits_quiet_calls_and_the_recorder_are_no_slow_launch)
{
    static const enum before others[] = {NOTHING, ALLOCATES, WAITS, IS_QUIET, IS_FLUSHED};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct decode what = every_step;
        what.before = others[i];
        struct diagnosis d;
        diagnose(&d, decode(what));
        if (!CHECK_EQ_UINT(launch_delays_of(&d.cx)->n_groups, 0)) fprintf(stderr, "case %zu\n", i);
        done(&d);
    }
}

/* On what is computed already, so that no more than the delays runs out of memory. */
static int find_delays(void *ctx)
{
    struct context cx = *(struct context *)ctx;
    struct arena mem;
    arena_init(&mem);
    cx.mem = &mem;
    cx.kept[PASS_LAUNCH_DELAYS] = NULL;
    int rc = context_need(&cx, &launch_delays_pass, NULL);
    if (rc == 0) CHECK_EQ_UINT(launch_delays_of(&cx)->n_groups, 1);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct diagnosis d;
    diagnose(&d, decode(every_step));
    CHECK_EVERY_ALLOC(find_delays, &d.cx);
    done(&d);
}

TEST_MAIN
