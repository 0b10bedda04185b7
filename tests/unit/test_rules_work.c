/* test_rules_work.c: rules about copies, allocations, kernels and warm-up: one trace on which each
 * fires, one near miss on which it must not. */
#include "diagnosis.h"

/* A copy of `bytes` from `us` on, under the last call. */
static void copy(struct kit *k, const char *name, double us, double dur_us, int64_t bytes)
{
    struct gpu_info g = {.correlation = k->correlation,
                         .external_id = ID_NONE,
                         .bytes = bytes,
                         .graph_id = ID_NONE,
                         .graph_node = ID_NONE,
                         .stream = k->stream,
                         .occupancy_pct = -1,
                         .launch = ROW_NONE};
    kit_row(k, KIND_MEMCPY, name, us, dur_us, &g);
}

/* ---- pageable_copy, exposed_copy ---- */

/* Eight uploads of 8 MB, each used by a kernel. Pageable: 1000 us, the CPU held. Pinned: 160 us. */
static struct trace *uploads_named(const char *name, bool pinned, double kernel_us, bool aside)
{
    struct kit k = kit_begin();
    double at = 0, copy_us = pinned ? 160 : 1000, gpu = 0;
    for (int i = 0; i < 8; i++) {
        double begin = pinned && gpu + 1 > at + 12 ? gpu + 1 : at + 12;
        if (aside) begin = at + 12;
        kit_label(&k, "batch", at, (pinned ? 40 : copy_us + 60));
        kit_call(&k, "cudaMemcpyAsync", at + 2, pinned ? 6 : copy_us + 10);
        k.stream = aside ? 13 : 7;
        copy(&k, name, begin, copy_us, 8000000);
        k.stream = 7;
        double call = at + (pinned ? 15 : copy_us + 20);
        gpu = begin + copy_us > gpu ? begin + copy_us : gpu;
        if (call + 10 > gpu) gpu = call + 10;
        kit_launch(&k, call, "gemm", gpu + 1, kernel_us);
        gpu += 1 + kernel_us;
        at += pinned                     ? (aside ? kernel_us + 1 : 60)
              : copy_us + 80 > kernel_us ? copy_us + 80
                                         : kernel_us;
    }
    return kit_end(&k);
}

static struct trace *uploads(bool pinned, double kernel_us, bool aside)
{
    return uploads_named(pinned ? "Memcpy HtoD (Pinned -> Device)"
                                : "Memcpy HtoD (Pageable -> Device)",
                         pinned, kernel_us, aside);
}

TEST(pageable_copy_fires_on_slow_blocking_uploads)
{
    struct diagnosis d;
    diagnose(&d, uploads(false, 100, false));
    CHECK(found(&d, "pageable_copy") || found(&d, "exposed_copy"));
    CHECK(severe(&d, SEVERITY_HIGH) >= 1);
    CHECK_EQ_INT(wall_of(&d.cx)->bound, BOUND_TRANSFER);
    done(&d);
}

/* The same copies, but they are next to nothing of the time. */
TEST(pageable_copy_near_miss_little_time)
{
    struct diagnosis d;
    diagnose(&d, uploads(false, 400000, false));
    CHECK(found(&d, "pageable_copy") == NULL);
    done(&d);
}

TEST(pageable_copy_near_miss_pinned)
{
    struct diagnosis d;
    diagnose(&d, uploads(true, 5000, false));
    CHECK(found(&d, "pageable_copy") == NULL);
    done(&d);
}

TEST(exposed_copy_fires_when_nothing_hides_the_copies)
{
    struct diagnosis d;
    diagnose(&d, uploads(true, 300, false));
    const struct finding *f = found(&d, "exposed_copy");
    REQUIRE(f != NULL);
    CHECK_NEAR(f->gain_pct, 100.0 * 7 * 160 / (8 * 462), 6);
    CHECK(strstr(f->fix, "Prefetch: ") == f->fix);
    done(&d);
}

/* Copies beside the kernels are in nobody's way. Where a share of 0 is enough, that of nothing is
 * not: there is no copy to show. */
TEST(exposed_copy_near_miss_no_copy_in_the_way)
{
    struct diagnosis d = {.t = uploads(true, 300, true)};
    struct err e;
    err_init(&e);
    arena_init(&d.mem);
    context_init(&d.cx, d.t, &d.mem);
    for (int i = 0; i < TH_COUNT; i++) d.cx.th.value[i] = 0;
    CHECK_EQ_INT(context_need(&d.cx, &checklist_pass, &e), 0);
    CHECK(found(&d, "exposed_copy") == NULL);
    done(&d);
}

/* Kernels of 20 us between copies of 160 us: overlap hides next to nothing. What is priced comes
 * first all the same. */
TEST(exposed_copy_says_to_copy_less_after_what_it_prices)
{
    struct diagnosis d;
    diagnose(&d, uploads(true, 20, false));
    const struct finding *f = found(&d, "exposed_copy");
    REQUIRE(f != NULL);
    CHECK(strstr(f->fix, "Prefetch: ") == f->fix);
    CHECK(strstr(f->fix, "copying less gains further") != NULL);
    CHECK(strstr(f->why, "take turns") != NULL);
    CHECK(f->gain_pct < 15);
    done(&d);
}

/* Of pageable memory the rate is the larger part of the gain: the words say both. */
TEST(exposed_copy_says_what_pinned_memory_is_good_for)
{
    struct diagnosis d;
    diagnose(&d, uploads(false, 400, false));
    const struct finding *f = found(&d, "exposed_copy");
    REQUIRE(f != NULL);
    CHECK(strstr(f->why, "pinned") != NULL);
    CHECK(strstr(f->fix, "pinned memory") != NULL);
    CHECK(strstr(f->fix, "copying less") == NULL);
    done(&d);
}

/* Results go the other way: there is nothing to prefetch. */
TEST(exposed_copy_of_results_prefetches_nothing)
{
    struct diagnosis d;
    diagnose(&d, uploads_named("Memcpy DtoH (Device -> Pinned)", true, 300, false));
    const struct finding *f = found(&d, "exposed_copy");
    REQUIRE(f != NULL);
    CHECK(strstr(f->fix, "Copy results to pinned memory") == f->fix);
    done(&d);
}

/* ---- small_copies ---- */

/* Six steps of `n` uploads of 256 bytes, each waited for, and then a kernel; with `apart` there is
 * a kernel after each of them. */
static struct trace *small_uploads(int n, bool apart, double kernel_us)
{
    struct kit k = kit_begin();
    double at = 0, gpu = 0;
    for (int s = 0; s < 6; s++) {
        double begin = at;
        for (int i = 0; i < n; i++, at += 25) {
            kit_op(&k, "aten::to", at, 22);
            kit_call(&k, "cudaMemcpyAsync", at + 4, 6);
            gpu = gpu > at + 8 ? gpu : at + 8;
            copy(&k, "Memcpy HtoD (Pageable -> Device)", gpu, 1, 256);
            kit_call(&k, "cudaStreamSynchronize", at + 12, gpu + 8 > at + 18 ? gpu - at - 4 : 6);
            at = gpu > at ? gpu : at;
            if (apart) kit_launch(&k, at + 28, "add", at + 36, 2);
            if (apart) at += 20;
        }
        kit_launch(&k, at + 5, "gemm", at + 12, kernel_us);
        gpu = at + 12 + kernel_us;
        at += 30;
        kit_label(&k, "request", begin, at - begin);
        at += 5;
    }
    return kit_end(&k);
}

TEST(small_copies_in_a_row_could_be_one)
{
    struct diagnosis d;
    diagnose(&d, small_uploads(64, false, 20));
    const struct finding *f = found(&d, "small_copies");
    REQUIRE(f != NULL);
    CHECK(f->alone.gain_pct > 80);
    CHECK(strstr(f->why, "384 copies of 256 B") && strstr(f->why, "up to 64 in a row"));
    CHECK(found(&d, "sync_in_loop") == NULL); /* the same time */
    done(&d);
}

TEST(small_copies_near_miss_a_few_or_apart)
{
    for (int i = 0; i < 2; i++) {
        struct diagnosis d;
        diagnose(&d, i ? small_uploads(20, true, 20) : small_uploads(4, false, 20));
        CHECK(found(&d, "small_copies") == NULL);
        done(&d);
    }
}

TEST(exposed_copy_fires_in_the_words_of_every_vendor)
{
    static const char *const names[] = {"H2D",
                                        "MemcpyH2D",
                                        "Memcpy HtoD (Host -> Device)",
                                        "CopyHostToDevice",
                                        "hipMemcpyHtoD",
                                        "MEMORY_COPY_HOST_TO_DEVICE",
                                        "[CUDA memcpy Host-to-Device]",
                                        "zeCommandListAppendMemoryCopy(H2D)",
                                        "Memcpy M2D (Memory -> Device)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct diagnosis d;
        diagnose(&d, uploads_named(names[i], true, 300, false));
        const struct finding *f = found(&d, "exposed_copy");
        if (!CHECK(f != NULL)) printf("  %s\n", names[i]);
        else CHECK_NEAR(f->gain_pct, 100.0 * 7 * 160 / (8 * 462), 6);
        done(&d);
    }
}

TEST(exposed_copy_is_not_about_copies_inside_the_device)
{
    struct diagnosis d;
    diagnose(&d, uploads_named("Memcpy DtoD (Device -> Device)", true, 300, false));
    CHECK(found(&d, "exposed_copy") == NULL);
    done(&d);
}

TEST(pageable_copy_knows_the_memory_of_level_zero)
{
    struct diagnosis d;
    diagnose(&d, uploads_named("Memcpy M2D (Memory -> Device)", false, 100, false));
    CHECK(found(&d, "pageable_copy") || found(&d, "exposed_copy"));
    CHECK_EQ_INT(wall_of(&d.cx)->bound, BOUND_TRANSFER);
    done(&d);
}

TEST(exposed_copy_near_miss_copies_beside_the_kernels)
{
    struct diagnosis d;
    diagnose(&d, uploads(true, 2000, true));
    CHECK(found(&d, "exposed_copy") == NULL);
    CHECK_EQ_UINT(severe(&d, SEVERITY_MEDIUM), 0);
    done(&d);
}

/* Long copies on a stream of their own, from pinned memory: the bus is full, and a side stream is
 * what they have. */
TEST(exposed_copy_near_miss_a_full_bus)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 8; i++) {
        double at = i * 1000;
        kit_label(&k, "batch", at, 40);
        kit_call(&k, "cudaMemcpyAsync", at + 2, 6);
        k.stream = 13;
        copy(&k, "Memcpy HtoD (Pinned -> Device)", at + 12, 980, 8000000);
        k.stream = 7;
        kit_launch(&k, at + 15, "gemm", at + 30, 800);
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    CHECK(wall_of(&d.cx)->parts.copy_ns * 10 > wall_of(&d.cx)->wall_ns); /* they do show */
    CHECK(found(&d, "exposed_copy") == NULL);
    done(&d);
}

/* ---- allocation_in_loop ---- */

static struct trace *allocations(int in_steps)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 6; s++) {
        double at = s * 1000;
        kit_label(&k, "step", at, 950);
        if (s < in_steps) {
            kit_op(&k, "aten::empty", at + 5, 310);
            kit_call(&k, "cudaMalloc", at + 10, 300);
        }
        kit_launch(&k, at + 400, "gemm", at + 410, 500);
    }
    return kit_end(&k);
}

TEST(allocation_in_loop_fires_when_every_step_allocates)
{
    struct diagnosis d;
    diagnose(&d, allocations(6));
    const struct finding *f = found(&d, "allocation_in_loop");
    REQUIRE(f != NULL);
    CHECK(f->gain_pct > 10);
    done(&d);
}

TEST(allocation_in_loop_near_miss_only_the_first_step_does)
{
    struct diagnosis d;
    diagnose(&d, allocations(1));
    CHECK(found(&d, "allocation_in_loop") == NULL);
    done(&d);
}

/* ---- copy_before_gemm ---- */

static struct trace *products(const char *kernel, const char *types, bool copy_first)
{
    struct kit k = kit_begin();
    struct op_info op = {ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    op.types = intern_add(batch_strings(k.p), str_c(types));
    double gpu = 20;
    for (int i = 0; i < 10; i++) {
        double at = i * 40;
        kit_row(&k, KIND_OP, "aten::addmm", at, 30, &op);
        if (copy_first) {
            kit_call(&k, "cudaMemcpyAsync", at + 2, 5);
            copy(&k, "Memcpy DtoD (Device -> Device)", gpu, 30, 33554432);
            gpu += 31;
        }
        kit_launch(&k, at + 10, kernel, gpu, 200);
        gpu += 201;
    }
    return kit_end(&k);
}

TEST(copy_before_gemm_fires_on_a_copied_bias)
{
    struct diagnosis d;
    diagnose(&d, products("ampere_bf16_s16816gemm_bf16_128x256_nn", "[]", true));
    const struct finding *f = found(&d, "copy_before_gemm");
    REQUIRE(f != NULL);
    CHECK_NEAR(f->gain_pct, 100.0 * 31 / 232, 3);
    done(&d);
}

TEST(copy_before_gemm_near_miss_another_operator)
{
    struct kit k = kit_begin();
    double gpu = 20;
    for (int i = 0; i < 10; i++) {
        double at = i * 60;
        kit_op(&k, "aten::copy_", at, 20);
        kit_call(&k, "cudaMemcpyAsync", at + 2, 5);
        copy(&k, "Memcpy DtoD (Device -> Device)", gpu, 30, 33554432);
        kit_op(&k, "aten::mm", at + 25, 20);
        kit_launch(&k, at + 30, "ampere_bf16_s16816gemm_bf16", gpu + 31, 200);
        gpu += 232;
    }
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    CHECK(found(&d, "copy_before_gemm") == NULL);
    done(&d);
}

/* ---- warm_up ---- */

static struct trace *first_step(double first_us)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int s = 0; s < 6; s++) {
        double extra = s ? 0 : first_us;
        kit_label(&k, "step", at, 200 + extra);
        kit_op(&k, "aten::mm", at + extra + 10, 40);
        kit_launch(&k, at + extra + 20, "gemm", at + extra + 30, 150);
        at += 210 + extra;
    }
    return kit_end(&k);
}

TEST(warm_up_tells_a_cold_first_step_and_predicts_nothing)
{
    struct diagnosis d;
    diagnose(&d, first_step(2000));
    const struct finding *f = found(&d, "warm_up");
    REQUIRE(f != NULL);
    CHECK(f->advice);
    CHECK_EQ_INT(f->gain_ns, 0);
    CHECK_EQ_INT(f->severity, SEVERITY_LOW);
    done(&d);
}

TEST(warm_up_near_miss_even_steps)
{
    struct diagnosis d;
    diagnose(&d, first_step(20));
    CHECK(found(&d, "warm_up") == NULL);
    done(&d);
}

TEST_MAIN
