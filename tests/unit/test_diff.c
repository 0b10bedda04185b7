/* test_diff.c: the change of the wall clock is the sum of its parts, to the nanosecond. */
#include "analyze/compare/diff.h"
#include "base/file.h"
#include "base/jdoc.h"

#include "import/import.h"
#include "kit.h"
#include "report/compare/views_compare.h"

struct pair {
    struct trace *t[2];
    struct arena mem;
    struct context cx[2];
    struct diff d;
};

static void compare(struct pair *p, struct trace *before, struct trace *after)
{
    *p = (struct pair){.t = {before, after}};
    arena_init(&p->mem);
    for (int i = 0; i < 2; i++) {
        context_init(&p->cx[i], p->t[i], &p->mem);
        CHECK_EQ_INT(context_need(&p->cx[i], &findings_pass, NULL), 0);
    }
    CHECK_EQ_INT(diff_run(&p->cx[0], &p->cx[1], &p->mem, &p->d, NULL), 0);
}

static void done(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        context_done(&p->cx[i]);
        trace_free(p->t[i]);
    }
    arena_done(&p->mem);
}

static void check_sum(const struct pair *p)
{
    int64_t sum[2] = {0, 0};
    for (uint32_t i = 0; i < p->d.n_parts; i++)
        for (int s = 0; s < 2; s++) sum[s] += p->d.parts[i].ns[s];
    CHECK_EQ_INT(sum[0], wall_of(&p->cx[0])->wall_ns);
    CHECK_EQ_INT(sum[1], wall_of(&p->cx[1])->wall_ns);
}

static struct trace *load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    struct trace *t = NULL;
    CHECK_EQ_INT(import_open(path, NULL, &t, NULL), 0);
    return t;
}

/* Stages and nothing else: `slow_us` of two in a row, some time between them. */
static struct trace *only_stages(double slow_us)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        double at = i * 10000;
        kit_label(&k, "encode", at, 2000);
        kit_label(&k, "decode", at + 2500, slow_us);
    }
    return kit_end(&k);
}

TEST(stages_alone_explain_the_change_and_prove_nothing)
{
    struct pair p;
    compare(&p, only_stages(1000), only_stages(3000));
    check_sum(&p);
    REQUIRE(p.d.n_parts > 0);
    CHECK_EQ_STR(p.d.parts[0].kind, "stage");
    CHECK_EQ_STR(p.d.parts[0].name, "decode");
    CHECK_EQ_INT(p.d.parts[0].ns[1] - p.d.parts[0].ns[0], kit_ns(6000));
    CHECK(!p.d.device && !p.d.calls);
    struct buf out;
    buf_init(&out);
    struct screen s = {&out, "x", 100, false, 8};
    struct diff_stats stats = {0};
    struct view_diff v = {&p.d, &stats, {"a", "b"}};
    view_diff_text(&s, &v);
    CHECK(strstr(buf_c(&out), "proved") == NULL);
    CHECK(strstr(buf_c(&out), "sync") == NULL);
    CHECK(strstr(buf_c(&out), "stage: decode") != NULL);
    buf_done(&out);
    done(&p);
}

TEST(parts_add_up_and_the_drain_is_gone)
{
    struct pair p;
    compare(&p, load("flux2/flux2_before_compile.json.gz"),
            load("flux2/flux2_after_compile.json.gz"));
    check_sum(&p);
    bool drain_gone = false, new_drain = false;
    for (uint32_t i = 0; i < p.d.n_syncs; i++) {
        const struct diff_sync *y = &p.d.syncs[i];
        if (y->side[0] && !y->side[1] && y->side[0]->blocked_ns > 200000000)
            drain_gone = strstr(y->key, "_unpack_latents_with_ids") != NULL;
        if (!y->side[0] && y->side[1] && y->side[1]->in_loop) new_drain = true;
    }
    CHECK(drain_gone);
    CHECK(!new_drain);
    CHECK_EQ_INT(p.d.mechanism, MECHANISM_NONE);
    bool walk = false;
    for (uint32_t i = 0; i < p.d.n_parts && i < 4; i++)
        walk = walk || strcmp(p.d.parts[i].name, "_set_context") == 0;
    CHECK(walk);
    done(&p);
}

/* A wait in the function f of each file, on a busy device: places differ, what they are called does
 * not. */
static struct trace *waits_in(const char *const *files)
{
    struct kit k = kit_begin();
    double at = 0;
    for (; *files; files++, at += 1000) {
        char frame[64];
        snprintf(frame, sizeof frame, "%s(1): f", *files);
        kit_python(&k, frame, at, 900);
        kit_launch(&k, at + 10, "gemm", at + 20, 500);
        kit_call(&k, "cudaStreamSynchronize", at + 100, 430);
    }
    return kit_end(&k);
}

TEST(the_nth_wait_of_a_name_belongs_to_the_nth_of_the_other_side)
{
    const char *const before[] = {"a.py", "b.py", NULL};
    const char *const after[] = {"a.py", "b.py", "c.py", NULL};
    struct pair p;
    compare(&p, waits_in(before), waits_in(after));
    REQUIRE(CHECK_EQ_UINT(p.d.n_syncs, 3));
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ_STR(p.d.syncs[i].key, "cudaStreamSynchronize in f");
        CHECK(p.d.syncs[i].side[1] == &syncs_of(&p.cx[1])->sites[i]);
    }
    for (uint32_t i = 0; i < 2; i++) CHECK(p.d.syncs[i].side[0] == &syncs_of(&p.cx[0])->sites[i]);
    CHECK(p.d.syncs[2].side[0] == NULL);
    done(&p);
}

/* Eager against compiled: 30 kernels a step become 10, of which 6 are fused. */
static struct trace *steps(int n, const char *kernel, bool graph)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 4; s++) {
        double at = s * 1000;
        kit_label(&k, "step", at, 900);
        if (graph) kit_call(&k, "cudaGraphLaunch", at + 5, 8);
        for (int i = 0; i < n; i++) {
            if (!graph) kit_call(&k, "cudaLaunchKernel", at + 5 + i * 10, 5);
            kit_work(&k, KIND_KERNEL, kernel, at + 20 + i * 20, 15);
        }
    }
    return kit_end(&k);
}

TEST(fusion_and_graphs_are_told_apart)
{
    struct pair p;
    compare(&p, steps(30, "elementwise_kernel", false), steps(10, "triton_poi_fused_add_0", false));
    check_sum(&p);
    CHECK_EQ_INT(p.d.mechanism, MECHANISM_FUSION);
    CHECK_EQ_UINT(p.d.kernels.kernels[0], 120);
    CHECK_EQ_UINT(p.d.kernels.kernels[1], 40);
    CHECK_EQ_UINT(p.d.kernels.new_names, 1);
    done(&p);
    compare(&p, steps(30, "elementwise_kernel", false), steps(30, "elementwise_kernel", true));
    check_sum(&p);
    CHECK_EQ_INT(p.d.mechanism, MECHANISM_GRAPHS);
    CHECK(p.d.kernels.same_names);
    done(&p);
    compare(&p, steps(30, "elementwise_kernel", false), steps(30, "elementwise_kernel", false));
    check_sum(&p);
    CHECK_EQ_INT(p.d.mechanism, MECHANISM_NONE);
    done(&p);
}

/* Five rounds of a block: with labels inside and one kernel an operator, or as one compiled region
 * that has swallowed the labels, its kernels launched through the driver. */
static struct trace *rounds(bool compiled)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 5; s++) {
        double at = s * 1000;
        if (compiled) {
            kit_op(&k, "Torch-Compiled Region: 0/0", at, 300);
            for (int i = 0; i < 4; i++) {
                kit_call(&k, "cuLaunchKernel", at + 10 + i * 30, 5);
                kit_work(&k, KIND_KERNEL, "triton_poi_fused_add_mul_0", at + 25 + i * 60, 50);
            }
            continue;
        }
        kit_label(&k, "block", at, 900);
        kit_label(&k, "attention", at + 5, 400);
        for (int i = 0; i < 12; i++) {
            kit_op(&k, "aten::mul", at + 10 + i * 30, 25);
            kit_launch(&k, at + 15 + i * 30, "elementwise_kernel", at + 30 + i * 60, 50);
        }
    }
    return kit_end(&k);
}

/* Full compile swallows the labels: the steps still line up, and it is said what is missing. */
TEST(a_fully_compiled_trace_lines_up_with_the_eager_one)
{
    struct pair p;
    compare(&p, rounds(false), rounds(true));
    check_sum(&p);
    CHECK_EQ_UINT(steps_of(&p.cx[0])->n_steps, 5);
    CHECK_EQ_UINT(steps_of(&p.cx[1])->n_steps, 5);
    CHECK_NEAR((double)p.d.kernels.kernels[0] / p.d.per_step[0], 12, 0);
    CHECK_NEAR((double)p.d.kernels.kernels[1] / p.d.per_step[1], 4, 0);
    CHECK_EQ_INT(p.d.mechanism, MECHANISM_FUSION);
    CHECK_EQ_UINT(p.d.kernels.in_graphs[1], 0);
    CHECK(p.d.labels_lost);
    done(&p);
}

TEST(noise_is_called_noise)
{
    int64_t a[] = {100, 104, 98, 101, 97}, b[] = {99, 103, 100, 98, 102},
            c[] = {90, 91, 89, 92, 90};
    struct diff_stats s;
    diff_stats(a, 5, b, 5, &s);
    CHECK(s.known && s.verdict == DIFF_NO_DIFFERENCE);
    diff_stats(a, 5, c, 5, &s);
    CHECK(s.known && s.verdict == DIFF_FASTER);
    CHECK(s.high_pct < 0 && s.low_pct <= s.change_pct && s.change_pct <= s.high_pct);
    diff_stats(a, 2, c, 5, &s);
    CHECK(!s.known);
}

static int whole(void *ctx)
{
    struct context *cx = ctx;
    struct arena mem;
    arena_init(&mem);
    struct diff d;
    int rc = diff_run(&cx[0], &cx[1], &mem, &d, NULL);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct pair p;
    compare(&p, steps(30, "elementwise_kernel", false), steps(10, "triton_poi_fused_add_0", false));
    CHECK_EVERY_ALLOC(whole, p.cx);
    done(&p);
}

/* Python's side (tests/python/test_bench_stats.py) reads the same file. */
static const struct jdoc *difference_vectors(const char *key, struct arena *mem)
{
    static struct jdoc all;
    struct file_map f;
    if (!CHECK_EQ_INT(file_map(&f, TEST_DATA "/../difference_vectors.json", NULL), 0)) return NULL;
    CHECK_EQ_INT(jdoc_parse(str_from(f.p, f.n), mem, &all, NULL), 0);
    file_unmap(&f);
    const struct jdoc *found = jdoc_get(&all, key);
    CHECK(found && found->n > 5);
    return found;
}

TEST(a_difference_is_judged_as_everywhere)
{
    struct arena mem;
    arena_init(&mem);
    const struct jdoc *rows = difference_vectors("student", &mem);
    for (uint32_t i = 0; rows && i < rows->n; i++) {
        const struct jdoc *row = rows->items[i].items;
        double limit = diff_stats_student(row[0].number, row[1].number);
        CHECK_NEAR(limit / row[2].number, 1, 1e-5);
    }
    rows = difference_vectors("verdict", &mem);
    for (uint32_t i = 0; rows && i < rows->n; i++) {
        const struct jdoc *row = rows->items[i].items;
        enum diff_verdict v = diff_verdict(row[0].number, row[1].number, row[2].number);
        CHECK_EQ_STR(diff_verdict_name(v), row[3].text.p);
    }
    arena_done(&mem);
}

TEST_MAIN
