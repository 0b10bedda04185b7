/* test_fuse.c: what a compiler makes of kernels in a row. */
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

/* Wall clock with [0, end) compiled. */
static double compiled_us(struct sim *s, double end_us, uint32_t *ret_fused)
{
    struct sim_cut all = {.end_ns = kit_ns(end_us)};
    struct sim_edit ed = {.kind = EDIT_COMPILE, .spans = &all, .n_spans = 1};
    int64_t wall = -1;
    CHECK_EQ_INT(sim_plan_build(&s->m, (struct sim_edits){&ed, 1, NULL}, &s->mem, &s->plan, NULL),
                 0);
    CHECK_EQ_INT(sim_wall(&s->m, &s->plan, &s->mem, &wall, NULL), 0);
    *ret_fused = ed.n_captured;
    return (double)wall / 1000;
}

/* Eight times: three elementwise kernels of 40, 60 and 50 us and a matrix product of 100, all of
 * them queued: the device is never idle. */
TEST(kernels_in_a_row_become_one_as_long_as_the_longest)
{
    static const char *const names[] = {"elementwise_kernel<mul>", "layer_norm_kernel",
                                        "elementwise_kernel<add>", "ampere_sgemm_128x64"};
    static const double us[] = {40, 60, 50, 100};
    struct kit k = kit_begin();
    double gpu = 20;
    for (int i = 0; i < 32; i++) {
        kit_launch(&k, i * 10, names[i % 4], gpu, us[i % 4]);
        gpu += us[i % 4] + 1;
    }
    struct sim s = sim_begin(&k);
    uint32_t fused;
    double after = compiled_us(&s, 320, &fused);
    CHECK_EQ_UINT(fused, 16);
    CHECK_NEAR(after, 20 + 8 * (60 + 1 + 100 + 1), 20);
    sim_end(&s);
}

/* Launches that take longer than kernels: half of them go, and half of the CPU time with them. */
TEST(fewer_launches_take_less_cpu_time)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 40; i++)
        kit_launch(&k, i * 20, i % 2 ? "elementwise_kernel<a>" : "elementwise_kernel<b>",
                   i * 20 + 9, 2);
    kit_launch(&k, 800, "ampere_sgemm_128x64", 809, 2);
    struct sim s = sim_begin(&k);
    uint32_t fused;
    double after = compiled_us(&s, 820, &fused);
    CHECK_EQ_UINT(fused, 39);
    CHECK(after < 100);
    sim_end(&s);
}

/* None goes, and the code around them is Python as before. */
TEST(matrix_products_stay)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 20; i++) kit_launch(&k, i * 40, "ampere_sgemm_128x64", i * 40 + 9, 2);
    struct sim s = sim_begin(&k);
    uint32_t fused;
    double after = compiled_us(&s, 800, &fused);
    CHECK_EQ_UINT(fused, 0);
    CHECK_NEAR(after, 19 * 40 + 11, 5);
    sim_end(&s);
}

/* `n` elementwise kernels, each of another size than the one before. */
static uint32_t fused_of_sizes(int n)
{
    struct kit k = kit_begin();
    for (int i = 0; i < n; i++) {
        k.grid = i % 2 ? 8 : 64;
        kit_launch(&k, i * 20, "elementwise_kernel<add>", i * 20 + 9, 2);
    }
    struct sim s = sim_begin(&k);
    uint32_t fused;
    compiled_us(&s, n * 20, &fused);
    sim_end(&s);
    return fused;
}

/* A scale is computed where it is read; but of a hundred tensors each has its own kernel. */
TEST(sizes_may_differ_unless_it_is_a_loop_over_tensors)
{
    CHECK_EQ_UINT(fused_of_sizes(10), 9);
    CHECK_EQ_UINT(fused_of_sizes(16), 15);
    CHECK_EQ_UINT(fused_of_sizes(100), 15);
}

/* Each kind beside an elementwise kernel, eight times: a compiler makes one of two where both only
 * go through their elements. */
TEST(what_is_fused_with_elementwise_kernels)
{
    static const struct {
        const char *name;
        uint32_t fused;
    } cases[] = {
        {"elementwise_kernel<mul>", 15},
        {"reduce_kernel<512, 1>", 15},
        {"layer_norm_kernel", 15},
        {"ampere_sgemm_128x64", 0},
        {"cudnn_convolution_fwd", 0},
        {"flash_fwd_kernel", 0},
        {"triton_poi_fused_add_0", 0},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0},
        {"a kernel that nobody has heard of", 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct kit k = kit_begin();
        for (int i = 0; i < 16; i++)
            kit_launch(&k, i * 20, i % 2 ? cases[c].name : "elementwise_kernel<add>", i * 20 + 9,
                       2);
        struct sim s = sim_begin(&k);
        uint32_t fused;
        compiled_us(&s, 320, &fused);
        if (!CHECK_EQ_UINT(fused, cases[c].fused)) printf("%s\n", cases[c].name);
        sim_end(&s);
    }
}

/* A wait between two kernels: they are two. */
TEST(nothing_is_fused_over_a_wait)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "elementwise_kernel<a>", 9, 2);
    kit_call(&k, "cudaStreamSynchronize", 10, 6);
    kit_launch(&k, 20, "elementwise_kernel<b>", 29, 2);
    struct sim s = sim_begin(&k);
    uint32_t fused;
    compiled_us(&s, 40, &fused);
    CHECK_EQ_UINT(fused, 0);
    sim_end(&s);
}

TEST_MAIN
