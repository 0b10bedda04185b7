/* test_verdict.c: each limiter where it is one, and where it almost is. Figures are those of real
 * kernels on an H200 unless a test bends one. */
#include "dive/verdict.h"
#include "test.h"

static struct ceilings h200(void)
{
    struct ceilings c;
    ceilings_init(&c, str_c("NVIDIA H200"));
    c.memory = (struct ceiling){4.3e12, CEILING_MEASURED};
    c.compute[HALF] = (struct ceiling){790e12, CEILING_MEASURED};
    c.compute[FP32] = (struct ceiling){52e12, CEILING_MEASURED};
    return c;
}

static struct profile blank(void)
{
    struct profile p;
    profile_init(&p);
    p.time_ns = 1e5;
    return p;
}

static void set_rates(struct profile *p, double tflops, double tb, enum precision main)
{
    p->flop_per_s = tflops * 1e12;
    p->bytes_per_s = tb * 1e12;
    p->flop_per_byte = tb > 0 ? tflops / tb : NAN;
    p->main = main;
}

static struct verdict judge(const struct profile *p, enum kernel_family family)
{
    struct ceilings c = h200();
    struct verdict_in in = {p, &c, family, str_c("k")};
    struct verdict v;
    verdict_of(&in, &v);
    return v;
}

static void check(struct verdict v, enum limiter want, enum confidence sure, int line)
{
    if (v.limiter != want || v.confidence != sure)
        test_fail(__FILE__, line, "limited by %s (%s), expected %s (%s)", limiter_key(v.limiter),
                  confidence_name(v.confidence), limiter_key(want), confidence_name(sure));
}

#define CHECK_VERDICT(v, want, sure) check((v), (want), (sure), __LINE__)

/* x + y over 64 M numbers. */
static struct profile streaming_add(void)
{
    struct profile p = blank();
    set_rates(&p, 1.48, 4.26, FP32);
    p.busy_pct[UNIT_DRAM] = 88.6;
    p.busy_pct[UNIT_TENSOR] = 0;
    p.busy_pct[UNIT_ISSUE] = 17.1;
    p.memory_stall_pct = 93;
    return p;
}

TEST(memory)
{
    struct profile p = streaming_add();
    struct verdict v = judge(&p, FAMILY_ELEMENTWISE);
    CHECK_VERDICT(v, LIMITER_MEMORY, CONFIDENCE_HIGH);
    CHECK_EQ_INT(v.unit, UNIT_DRAM);
    CHECK(v.advice && strstr(v.advice, "fuse"));
}

/* Half the bandwidth, and warps that wait for other things: nothing is said. */
TEST(not_quite_memory)
{
    struct profile p = streaming_add();
    set_rates(&p, 1.48, 2.2, FP32);
    p.busy_pct[UNIT_DRAM] = 51;
    p.memory_stall_pct = 20;
    struct verdict v = judge(&p, FAMILY_ELEMENTWISE);
    CHECK_VERDICT(v, LIMITER_NONE, CONFIDENCE_NONE);
    CHECK(v.nearest != LIMITER_NONE);
    CHECK(v.advice == NULL);
}

/* One high percentage alone is no verdict. */
TEST(one_number_is_no_verdict)
{
    struct profile p = blank();
    p.busy_pct[UNIT_DRAM] = 95;
    CHECK_VERDICT(judge(&p, FAMILY_OTHER), LIMITER_NONE, CONFIDENCE_NONE);
}

/* A transpose: 9 bytes through L2 for each one of DRAM. */
TEST(memory_at_l2)
{
    struct profile p = blank();
    p.busy_pct[UNIT_L2] = 94.5;
    p.busy_pct[UNIT_DRAM] = 11.5;
    p.busy_pct[UNIT_ISSUE] = 19.9;
    p.bytes = 120e6;
    p.l2_bytes = 1117e6;
    p.memory_stall_pct = 93;
    struct verdict v = judge(&p, FAMILY_COPY);
    CHECK_VERDICT(v, LIMITER_MEMORY, CONFIDENCE_HIGH);
    CHECK_EQ_INT(v.unit, UNIT_L2);
    p.busy_pct[UNIT_DRAM] = 88; /* then L2 is only on the way */
    v = judge(&p, FAMILY_COPY);
    CHECK_EQ_INT(v.unit, UNIT_DRAM);
}

/* A GEMM of 4096 x 4096 x 4096. */
static struct profile large_gemm(void)
{
    struct profile p = blank();
    set_rates(&p, 785, 1.01, HALF);
    p.busy_pct[UNIT_TENSOR] = 94.9;
    p.busy_pct[UNIT_L1] = 70.1;
    p.busy_pct[UNIT_DRAM] = 20.9;
    p.busy_pct[UNIT_ISSUE] = 11.9;
    p.tensor_known = p.tensor_used = true;
    p.occupancy_most_pct = 18.75;
    p.occupancy_limit = "registers";
    p.waves = 1;
    return p;
}

TEST(tensor_cores)
{
    struct profile p = large_gemm();
    struct verdict v = judge(&p, FAMILY_GEMM);
    CHECK_VERDICT(v, LIMITER_TENSOR, CONFIDENCE_HIGH);
    CHECK(strstr(v.advice, "fp8") != NULL);
}

/* The same kernel at a third of the rate: few warps by registers, nothing busy. */
TEST(not_tensor_but_occupancy)
{
    struct profile p = large_gemm();
    set_rates(&p, 250, 0.3, HALF);
    p.busy_pct[UNIT_TENSOR] = 30;
    p.busy_pct[UNIT_L1] = 25;
    p.eligible_warps = 0.13;
    p.occupancy_pct = 14.6;
    struct verdict v = judge(&p, FAMILY_GEMM);
    CHECK_VERDICT(v, LIMITER_OCCUPANCY, CONFIDENCE_HIGH);
    CHECK_EQ_STR(v.factor, "registers");
    CHECK(strstr(v.advice, "Registers") != NULL);
}

/* A GEMM of 1920 x 1024 x 2304: 120 blocks, over after 18 us. Two signs for, two against. */
TEST(a_short_gemm_is_left_open)
{
    struct profile p = large_gemm();
    set_rates(&p, 515, 0.49, HALF);
    p.busy_pct[UNIT_TENSOR] = 54;
    p.busy_pct[UNIT_L1] = 48;
    p.eligible_warps = 0.14;
    p.occupancy_pct = 14.2;
    p.waves = 0.91;
    p.grid_blocks = 120;
    p.sms = 132;
    struct verdict v = judge(&p, FAMILY_GEMM);
    CHECK_VERDICT(v, LIMITER_NONE, CONFIDENCE_NONE);
    CHECK_EQ_INT(v.nearest, LIMITER_TENSOR);
}

TEST(latency_when_warps_are_there)
{
    struct profile p = blank();
    for (int i = 0; i < UNITS; i++) p.busy_pct[i] = 20;
    p.eligible_warps = 0.3;
    p.occupancy_pct = 80;
    p.occupancy_most_pct = 100;
    p.stalls[0] = (struct stall_share){7, 70};
    p.n_stalls = 1;
    CHECK_VERDICT(judge(&p, FAMILY_OTHER), LIMITER_LATENCY, CONFIDENCE_HIGH);
    p.busy_pct[UNIT_ISSUE] = 75; /* then it does not wait */
    p.eligible_warps = 3;
    CHECK(judge(&p, FAMILY_OTHER).limiter != LIMITER_LATENCY);
}

/* fp32 matrices without tensor cores. */
TEST(arithmetic)
{
    struct profile p = blank();
    set_rates(&p, 50.3, 0.11, FP32);
    p.busy_pct[UNIT_FP32] = 79.3;
    p.busy_pct[UNIT_ALU] = 6.7;
    p.busy_pct[UNIT_FP64] = 0;
    p.busy_pct[UNIT_ISSUE] = 88.5;
    p.busy_pct[UNIT_DRAM] = 2.2;
    p.busy_pct[UNIT_L2] = 11;
    p.eligible_warps = 1.6;
    p.tensor_known = true;
    struct verdict v = judge(&p, FAMILY_GEMM);
    CHECK_VERDICT(v, LIMITER_COMPUTE, CONFIDENCE_HIGH);
    CHECK(strstr(v.advice, "tf32") != NULL);
}

/* GELU over 64 M numbers. */
static struct profile gelu(void)
{
    struct profile p = blank();
    set_rates(&p, 14.7, 2.84, FP32);
    p.busy_pct[UNIT_ISSUE] = 71.6;
    p.busy_pct[UNIT_ALU] = 62.1;
    p.busy_pct[UNIT_FP32] = 35.8;
    p.busy_pct[UNIT_FP64] = 0;
    p.busy_pct[UNIT_DRAM] = 59;
    p.busy_pct[UNIT_L2] = 72;
    p.eligible_warps = 5.3;
    p.issuing_pct = 39;
    p.memory_stall_pct = 26;
    return p;
}

TEST(issue_slots)
{
    struct profile p = gelu();
    CHECK_VERDICT(judge(&p, FAMILY_ELEMENTWISE), LIMITER_ISSUE, CONFIDENCE_HIGH);
    p.busy_pct[UNIT_ISSUE] = 61; /* near, and few warps ready: not said */
    p.eligible_warps = 0.8;
    p.issuing_pct = 10;
    CHECK(judge(&p, FAMILY_ELEMENTWISE).limiter != LIMITER_ISSUE);
}

TEST(a_grid_too_small)
{
    struct profile p = blank();
    p.busy_pct[UNIT_ISSUE] = 6.4;
    p.waves = 0.0005;
    p.grid_blocks = 1;
    p.sms = 132;
    p.active_share = 0.003;
    struct verdict v = judge(&p, FAMILY_ELEMENTWISE);
    CHECK_VERDICT(v, LIMITER_TAIL, CONFIDENCE_HIGH);
    CHECK_EQ_STR(v.signs[0].text, "1 block for 132 SMs");
}

TEST(the_last_wave)
{
    struct profile p = blank();
    for (int i = 0; i < UNITS; i++) p.busy_pct[i] = 45;
    p.waves = 1.1;
    p.active_share = 0.6;
    p.sms = 132;
    p.grid_blocks = 145;
    CHECK_VERDICT(judge(&p, FAMILY_GEMM), LIMITER_TAIL, CONFIDENCE_HIGH);
    p.waves = 1.95; /* almost two full waves */
    CHECK(judge(&p, FAMILY_GEMM).limiter != LIMITER_TAIL);
    p.waves = 41.1; /* many: the last one matters little */
    CHECK(judge(&p, FAMILY_GEMM).limiter != LIMITER_TAIL);
}

/* The details page has no single pipes: 90 % of the SMs and little issued is some pipe, and not
 * shared memory with its 73 %. */
TEST(a_page_without_pipes)
{
    struct profile p = blank();
    p.sm_pct = 90.4;
    p.memory_pct = 69.9;
    p.busy_pct[UNIT_L1] = 73.4;
    p.busy_pct[UNIT_L2] = 47.3;
    p.busy_pct[UNIT_DRAM] = 20.8;
    p.busy_pct[UNIT_ISSUE] = 11.9;
    p.occupancy_most_pct = 18.75;
    CHECK_VERDICT(judge(&p, FAMILY_GEMM), LIMITER_COMPUTE, CONFIDENCE_HIGH);
}

TEST(every_name)
{
    for (int i = 0; i < LIMITERS; i++)
        CHECK(limiter_key((enum limiter)i) && limiter_name((enum limiter)i));
    for (int i = 0; i < UNITS; i++) CHECK(unit_key((enum unit)i) && unit_name((enum unit)i));
}

TEST_MAIN
