/* test_rules_advice.c: rules that predict no time: they must be rare, and true. */
#include "diagnosis.h"

/* ---- kernel_outlier ---- */

static struct trace *gemms(double slow_us, const char *slow_dims)
{
    struct kit k = kit_begin();
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    double gpu = 20;
    for (int i = 0; i < 20; i++) {
        bool slow = i == 7 || i == 12;
        op.dims = intern_add(batch_strings(k.p), str_c(slow ? slow_dims : "[[64, 64]]"));
        kit_row(&k, KIND_OP, "aten::mm", i * 40, 30, &op);
        kit_launch(&k, i * 40 + 5, "gemm", gpu, slow ? slow_us : 580);
        gpu += (slow ? slow_us : 580) + 1;
    }
    return kit_end(&k);
}

TEST(kernel_outlier_tells_runs_far_above_the_median)
{
    struct diagnosis d;
    diagnose(&d, gemms(1084, "[[64, 64]]"));
    const struct finding *f = found(&d, "kernel_outlier");
    REQUIRE(f != NULL);
    CHECK(f->advice);
    CHECK_EQ_INT(f->exposed_ns, 2 * 504000);
    CHECK_EQ_INT(f->device_ns, 2 * 1084000); /* of kernels, not of an idle device */
    CHECK_EQ_UINT(severe(&d, SEVERITY_MEDIUM), 0);
    done(&d);
}

TEST(kernel_outlier_near_miss_another_shape)
{
    struct diagnosis d;
    diagnose(&d, gemms(1084, "[[64, 128]]"));
    CHECK_EQ_UINT(findings_of(&d.cx)->n, 0);
    done(&d);
}

/* ---- memory_growth ---- */

static struct trace *steps_of_memory(int64_t kept)
{
    struct kit k = kit_begin();
    int64_t level = 1000000000;
    for (int s = 0; s < 8; s++) {
        double at = s * 1000;
        kit_label(&k, "step", at, 950);
        kit_op(&k, "aten::empty", at + 10, 20);
        level += 50000000;
        kit_memory(&k, at + 15, 50000000, level, 2000000000);
        kit_launch(&k, at + 40, "gemm", at + 50, 940);
        level -= 50000000 - kept;
        kit_memory(&k, at + 900, -(50000000 - kept), level, 2000000000);
    }
    return kit_end(&k);
}

TEST(memory_growth_tells_what_stays_behind)
{
    struct diagnosis d;
    diagnose(&d, steps_of_memory(20000000));
    const struct finding *f = found(&d, "memory_growth");
    REQUIRE(f != NULL);
    CHECK(f->advice && f->gain_ns == 0);
    done(&d);
}

TEST(memory_growth_near_miss_what_is_freed_again)
{
    struct diagnosis d;
    diagnose(&d, steps_of_memory(0));
    CHECK(found(&d, "memory_growth") == NULL);
    done(&d);
}

/* ---- eager_island ---- */

static struct trace *compiled(int eager)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 5; s++) {
        double at = s * 2000;
        kit_label(&k, "forward", at, 1900);
        for (int region = 0; region < 2; region++) {
            double from = at + region * 300;
            kit_op(&k, "Torch-Compiled Region: 0/0", from, 200);
            for (int i = 0; i < 4; i++)
                kit_launch(&k, from + 10 + i * 40, "triton_poi_fused_add_0", from + 20 + i * 40, 8);
        }
        for (int i = 0; i < eager; i++) {
            kit_op(&k, "aten::mul", at + 650 + i * 80, 60);
            kit_launch(&k, at + 660 + i * 80, "elementwise_kernel", at + 670 + i * 80, 8);
        }
    }
    return kit_end(&k);
}

TEST(eager_island_tells_a_stage_cut_into_pieces)
{
    struct diagnosis d;
    diagnose(&d, compiled(12));
    CHECK(found(&d, "eager_island") != NULL);
    done(&d);
}

TEST(eager_island_near_miss_one_op_outside)
{
    struct diagnosis d;
    diagnose(&d, compiled(1));
    CHECK(found(&d, "eager_island") == NULL);
    done(&d);
}

/* ---- recompile ---- */

/* Five steps of a compiled region; in one of them it begins `late_us` after the cache lookup. */
static struct trace *guarded(int step, double late_us)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < 5; s++) {
        double late = s == step ? late_us : 10;
        kit_label(&k, "forward", at, late + 400);
        kit_op(&k, "TorchDynamo Cache Lookup", at + 5, 20);
        kit_op(&k, s == step ? "Torch-Compiled Region: 0/1" : "Torch-Compiled Region: 0/0",
               at + 25 + late, 300);
        for (int i = 0; i < 4; i++)
            kit_launch(&k, at + 30 + late + i * 40, "triton_poi_fused_add_0",
                       at + 45 + late + i * 40, 30);
        at += late + 410;
    }
    return kit_end(&k);
}

TEST(recompile_tells_a_step_that_waits_for_the_compiler)
{
    struct diagnosis d;
    diagnose(&d, guarded(3, 800000));
    const struct finding *f = found(&d, "recompile");
    REQUIRE(f != NULL);
    CHECK(f->advice && f->gain_ns == 0);
    CHECK_EQ_INT(f->blocked_ns, 800000000);
    CHECK_EQ_STR(f->subject, "Torch-Compiled Region: 0/1");
    done(&d);
}

/* Another graph, but it was there already. */
TEST(recompile_near_miss_another_graph_from_the_cache)
{
    struct diagnosis d;
    diagnose(&d, guarded(3, 15));
    CHECK(found(&d, "recompile") == NULL);
    done(&d);
}

/* The first step compiles. */
TEST(recompile_near_miss_the_first_step)
{
    struct diagnosis d;
    diagnose(&d, guarded(0, 800000));
    CHECK(found(&d, "recompile") == NULL);
    done(&d);
}

TEST_MAIN
