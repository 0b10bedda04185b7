/* test_rules_uploads.c: what is uploaded and how it came about: computed on the CPU, or there
 * already. The device is an H200. */
#include "diagnosis.h"
#include "kernel_kit.h"

#define GEMM "nvjet_sm90_tst_256x128_64x4"

/* A copy to the device that lasts as long as its call. */
static void upload(struct kernel_kit *g, double us, int64_t bytes)
{
    kit_call(&g->k, "cudaMemcpyAsync", g->cpu_us, us);
    struct gpu_info info = {.correlation = g->k.correlation,
                            .external_id = ID_NONE,
                            .bytes = bytes,
                            .graph_id = ID_NONE,
                            .graph_node = ID_NONE,
                            .stream = 7,
                            .occupancy_pct = -1,
                            .launch = ROW_NONE};
    kit_row(&g->k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", g->cpu_us + 5, us - 6, &info);
    g->cpu_us += us;
    kit_call(&g->k, "cudaStreamSynchronize", g->cpu_us, 5);
    g->cpu_us += 5;
    g->gpu_us = g->cpu_us;
}

static void compute(struct kernel_kit *g, const char *op, const char *dims, const char *types,
                    double us)
{
    double begin = g->cpu_us;
    kernel_kit_op_around(g, op, dims, types, us);
    g->cpu_us = begin + us + 1;
}

struct looking_up {
    const char *op, *inputs, *reshaped; /* `reshaped`: a view of the result; has to be uploaded */
    double op_us, other_us;             /* something that is no operator comes after it */
    bool loads;                         /* in a DataLoader */
};

/* Rows are looked up on the CPU, converted while they are uploaded, and worked on for 1 ms. */
static struct kernel_kit looked_up(const struct looking_up *x)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        if (x->loads)
            kit_label(&g.k, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", g.cpu_us,
                      x->op_us + 20);
        g.cpu_us += x->loads;
        compute(&g, x->op, x->inputs, "[\"float\", \"long int\"]", x->op_us);
        compute(&g, "aten::view", x->reshaped, NULL, 3);
        g.cpu_us += x->other_us;
        double begin = g.cpu_us;
        kernel_kit_op_around(&g, "aten::to", "[[64, 512, 512], []]", NULL, 3012);
        kernel_kit_op_around(&g, "aten::copy_", "[[64, 512, 512], [64, 512, 512], []]",
                             "[\"c10::BFloat16\", \"c10::BFloat16\"]", 3010);
        upload(&g, 3000, 33554432);
        g.cpu_us = begin + 3020;
        for (int k = 0; k < 10; k++)
            kernel_kit_call(&g, "aten::mm", "[[512, 1024], [1024, 1024]]", BF16_2, GEMM, 100);
        g.cpu_us = g.gpu_us + 10;
    }
    return g;
}

#define TABLE "[[500000, 512], [64, 512]]"
#define ROWS  "[[64, 512, 512], []]"

/* Of 8.1 ms, 4 go with the operator, and 3 with an upload of 262 kB instead of 34 MB. */
TEST(rows_looked_up_on_the_cpu_are_uploaded)
{
    struct looking_up x = {"aten::embedding", TABLE, ROWS, 4000, 0, false};
    struct diagnosis d;
    struct kernel_kit g = looked_up(&x);
    diagnose(&d, kernel_kit_end(&g));
    const struct finding *f = found(&d, "made_on_cpu");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 85, 3);
        CHECK(strstr(f->subject, "aten::embedding") != NULL);
    }
    CHECK(found(&d, "late_launch") == NULL && found(&d, "pageable_copy") == NULL);
    done(&d);
}

/* What is computed goes up as it is, in float32 instead of half precision: 3 ms more. */
TEST(inputs_larger_than_the_result_are_uploaded_instead)
{
    struct looking_up x = {"aten::mul", "[[64, 512, 512], [512]]", ROWS, 9000, 0, false};
    struct diagnosis d;
    struct kernel_kit g = looked_up(&x);
    diagnose(&d, kernel_kit_end(&g));
    const struct finding *f = found(&d, "made_on_cpu");
    if (CHECK(f != NULL)) CHECK_NEAR(f->gain_pct, 100 * 6.0 / 13.1, 4);
    done(&d);
    x.op_us = 4000; /* that is most of it */
    g = looked_up(&x);
    diagnose(&d, kernel_kit_end(&g));
    CHECK(found(&d, "made_on_cpu") == NULL);
    done(&d);
}

TEST(uploads_near_miss_something_else_was_done_before)
{
    static const struct looking_up cases[] = {
        /* another tensor, little time, Python all the while, a loader */
        {"aten::embedding", TABLE, "[[32, 100], []]", 4000, 0, false},
        {"aten::embedding", TABLE, ROWS, 200, 0, false},
        {"aten::embedding", TABLE, ROWS, 400, 4000, false},
        {"aten::embedding", TABLE, ROWS, 4000, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d;
        struct kernel_kit g = looked_up(&cases[i]);
        diagnose(&d, kernel_kit_end(&g));
        CHECK(found(&d, "made_on_cpu") == NULL);
        done(&d);
    }
}

/* ---- lists ---- */

static void named(struct kernel_kit *g, const char *op, const char *dims, const char *values,
                  double us)
{
    str_id shapes = kernel_kit_text(g, dims);
    struct op_info info = {ID_NONE, ID_NONE, 0, shapes, STR_NONE, kernel_kit_text(g, values)};
    kit_row(&g->k, KIND_OP, op, g->cpu_us, us, &info);
    g->cpu_us += us + 1;
}

struct listing {
    const char *taken, *done; /* concrete sizes of the memory, dimensions of the tensor */
    double look_us, fill_us;
};

static struct kernel_kit listed(const struct listing *x)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 10; k++)
            kernel_kit_call(&g, "aten::mm", "[[512, 1024], [1024, 1024]]", BF16_2, GEMM, 10);
        g.cpu_us += x->look_us;
        named(&g, "aten::empty", "[[]]", x->taken, 3);
        g.cpu_us += x->fill_us;
        double begin = g.cpu_us;
        kernel_kit_op_around(&g, "aten::to", "[[16000], []]", NULL, 60);
        upload(&g, 40, 128000);
        g.cpu_us = begin + 61;
        named(&g, "aten::lift_fresh", x->done, "[\"\"]", 1);
    }
    return g;
}

/* A round takes 2.6 ms, and 2.4 ms of that go: reading the list and filling the tensor take 1.2 ms
 * each. */
TEST(tensors_made_of_lists)
{
    struct listing x = {"[\"[16000]\"]", "[[16000]]", 1200, 1200};
    struct diagnosis d;
    struct kernel_kit g = listed(&x);
    diagnose(&d, kernel_kit_end(&g));
    const struct finding *f = found(&d, "made_on_cpu");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, 95, 3);
        CHECK(strstr(f->fix, "torch.from_numpy") != NULL);
    }
    done(&d);
    x.look_us = 12000; /* something else, for most of that time */
    g = listed(&x);
    diagnose(&d, kernel_kit_end(&g));
    f = found(&d, "made_on_cpu");
    if (CHECK(f != NULL)) CHECK_NEAR(f->gain_pct, 100 * 2400.0 / 13370, 3);
    done(&d);
}

TEST(lists_near_miss_small_quick_or_another_tensor)
{
    static const struct listing cases[] = {
        {"[\"[16]\"]", "[[16]]", 1200, 1200},
        {"[\"[16000]\"]", "[[16000]]", 1200, 0},
        {"[\"[32000]\"]", "[[16000]]", 1200, 1200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d;
        struct kernel_kit g = listed(&cases[i]);
        diagnose(&d, kernel_kit_end(&g));
        CHECK(found(&d, "made_on_cpu") == NULL);
        done(&d);
    }
}

TEST_MAIN
