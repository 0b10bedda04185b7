/* test_guess.c: what is guessed from a trace, against what ncu counted of the same kernels. */
#include "base/file.h"
#include "dive/dive.h"
#include "import/import.h"
#include "test.h"

static struct {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct targets targets;
    struct ncu_report report;
    struct dive guessed, measured;
} all;

static bool read_report(void)
{
    struct file_map f;
    if (file_map(&f, TEST_DATA "/dive/h200_raw.csv", NULL) < 0) return false;
    char *copy = arena_strdup(&all.mem, str_from(f.p, f.n));
    bool ok = ncu_csv_read(str_from(copy, f.n), &all.mem, &all.report, NULL) == 0;
    file_unmap(&f);
    return ok;
}

/* All kernels of the trace twice: from the trace alone, and joined with the report. */
static bool look(void)
{
    struct import_options o = {.n_threads = 1};
    struct dive_in in = {.cx = &all.cx, .targets = &all.targets};
    arena_init(&all.mem);
    if (import_open(TEST_DATA "/dive/kernels.json.gz", &o, &all.t, NULL) < 0) return false;
    ceilings_init(&in.ceilings, str_c("NVIDIA H200"));
    ceilings_from_table(&in.ceilings);
    context_init(&all.cx, all.t, &all.mem);
    if (context_need(&all.cx, &steps_pass, NULL) < 0 || !read_report()) return false;
    if (targets_select(&all.cx, (struct targets_wish){50, NULL}, &all.mem, &all.targets, NULL) < 0)
        return false;
    if (dive_run(&in, &all.mem, &all.guessed, NULL) < 0) return false;
    in.report = &all.report;
    return dive_run(&in, &all.mem, &all.measured, NULL) == 0;
}

static void done(void)
{
    context_done(&all.cx);
    arena_done(&all.mem);
    trace_free(all.t);
}

static uint32_t find(const char *part)
{
    for (uint32_t i = 0; i < all.targets.n; i++)
        if (str_has(all.targets.all[i].name, part)) return i;
    test_fail(__FILE__, __LINE__, "no kernel %s", part);
    return 0;
}

TEST(every_kernel_is_matched)
{
    REQUIRE(look());
    CHECK_EQ_UINT(all.measured.n, 13);
    CHECK_EQ_UINT(all.measured.n_measured, 13);
    for (uint32_t i = 0; i < all.measured.n; i++) {
        CHECK_EQ_INT(all.measured.kernels[i].pairing, PAIRING_SAME);
        CHECK(all.guessed.kernels[i].estimated);
        CHECK(all.guessed.kernels[i].verdict.confidence <= CONFIDENCE_LOW);
    }
    done();
}

/* ncu counts the operations of tensor cores one by one. */
TEST(work_is_what_ncu_counted)
{
    static const char *const kernels[] = {"nvjet_sm90_tst_256x128", "nvjet_sm90_tst_64x32", "sdpa"};
    REQUIRE(look());
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        uint32_t i = find(kernels[k]);
        double counted = all.measured.kernels[i].profile.tensor_flops;
        CHECK(counted > 1e9);
        CHECK_NEAR(all.guessed.kernels[i].profile.flops / counted, 1, 1e-12);
        CHECK_EQ_INT(all.guessed.kernels[i].profile.main, HALF);
    }
    done();
}

/* x + y, each 64 M numbers of two bytes: ncu sees what misses the cache. */
TEST(bytes_are_the_fewest_possible)
{
    REQUIRE(look());
    uint32_t i = find("CUDAFunctor_add");
    CHECK_NEAR(all.guessed.kernels[i].profile.bytes, 3.0 * 2 * (64 << 20), 0);
    CHECK_NEAR(all.measured.kernels[i].profile.bytes / all.guessed.kernels[i].profile.bytes, 1,
               0.05);
    uint32_t gemm = find("nvjet_sm90_tst_256x128");
    CHECK_NEAR(all.guessed.kernels[gemm].profile.bytes, 3.0 * 2 * 4096 * 4096, 0);
    done();
}

TEST(occupancy_is_what_ncu_says)
{
    REQUIRE(look());
    for (uint32_t i = 0; i < all.targets.n; i++) {
        const struct profile *g = &all.guessed.kernels[i].profile;
        const struct profile *m = &all.measured.kernels[i].profile;
        CHECK_NEAR(g->occupancy_most_pct, m->occupancy_most_pct, 0.1);
        if (m->waves >= 0.01) CHECK_NEAR(g->waves / m->waves, 1, 0.02);
    }
    done();
}

TEST_MAIN
