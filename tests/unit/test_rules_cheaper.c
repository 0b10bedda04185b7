/* test_rules_cheaper.c: cheaper ways to the same result: one trace on which each row of the table
 * fires, with the gain, and near misses. The device is an H200. */
#include "diagnosis.h"
#include "kernel_kit.h"

#define GEMM "nvjet_sm90_tst_256x128_64x4"
#define MUL \
    "void at::native::vectorized_elementwise_kernel<8, at::native::AUnaryFunctor<MulFunctor>"
#define ADD  "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>"
#define NORM "void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>"
#define SORT "void cub::detail::radix_sort::DeviceSegmentedRadixSortKernel<policy>"
#define SOFTMAX \
    "void at::native::cunn_SoftMaxForward<4, float, float, float, SoftMaxForwardEpilogue>"
#define COPY "void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>"
#define SCAN "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >"

static void run(struct kernel_kit *g, bool ops, const char *op, const char *dims,
                const char *kernel, double us)
{
    double begin = g->cpu_us;
    if (ops) kernel_kit_op(g, op, dims, F32_2);
    else g->cpu_us += 1;
    kernel_kit_run(g, kernel, us);
    g->cpu_us = begin + 11;
}

static void check_gain(struct kernel_kit *g, double pct, double off, const char *says)
{
    struct diagnosis d;
    diagnose(&d, kernel_kit_end(g));
    const struct finding *f = found(&d, "cheaper_way");
    if (CHECK(f != NULL)) {
        CHECK_NEAR(f->gain_pct, pct, off);
        CHECK(strstr(f->fix, says) != NULL);
    }
    done(&d);
}

static void check_silent(struct kernel_kit *g)
{
    struct diagnosis d;
    diagnose(&d, kernel_kit_end(g));
    const struct finding *f = found(&d, "cheaper_way");
    if (!CHECK(f == NULL)) fprintf(stderr, "%s\n", f->title);
    done(&d);
}

/* ---- adapters ---- */

static void layer_with_adapter(struct kernel_kit *g, bool ops, const char *rank, double thin_us)
{
    char a[64], b[64];
    snprintf(a, sizeof a, "[[4096, 3072], [3072, %s]]", rank);
    snprintf(b, sizeof b, "[[4096, %s], [%s, 3072]]", rank, rank);
    run(g, ops, "aten::mm", "[[4096, 3072], [3072, 3072]]", GEMM, 100);
    run(g, ops, "aten::mm", a, "nvjet_sm90_tst_32x64_64x16_splitK", thin_us);
    run(g, ops, "aten::mm", b, GEMM, thin_us);
    run(g, ops, "aten::mul", "[[4096, 3072], []]", MUL, 10);
    run(g, ops, "aten::add", "[[4096, 3072], [4096, 3072]]", ADD, 20);
    run(g, ops, "aten::native_layer_norm", "[[4096, 3072]]", NORM, 10);
}

TEST(adapters_beside_layers)
{
    for (int ops = 0; ops < 2; ops++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int i = 0; i < 16; i++) layer_with_adapter(&g, ops, "16", 10);
        check_gain(&g, 100 * 54.0 / 166, 3, "merge_and_unload");
    }
}

/* A bottleneck, not an adapter: its rank is as large as the layer; without shapes, it takes as
 * long. */
TEST(adapters_near_miss_products_that_are_not_thin)
{
    for (int ops = 0; ops < 2; ops++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int i = 0; i < 16; i++) layer_with_adapter(&g, ops, "1024", 60);
        check_silent(&g);
    }
}

/* While it is trained, an adapter has to stay apart. */
TEST(adapters_near_miss_training)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 16; i++) layer_with_adapter(&g, true, "16", 10);
    kernel_kit_op_around(&g, "autograd::engine::evaluate_function: MmBackward0", NULL, NULL, 12);
    run(&g, true, "aten::mm", "[[4096, 3072], [3072, 16]]", GEMM, 10);
    check_silent(&g);
}

/* ---- sorting ---- */

#define LOGITS "[[256, 128256], []]"

static void sample(struct kernel_kit *g, bool ops, bool softmax, bool scan)
{
    run(g, ops, "aten::mm", "[[256, 1024], [1024, 1024]]", GEMM, 50);
    g->grid[0] = 32064;
    run(g, ops, "aten::div", LOGITS,
        "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>, "
        "std::array<char*, 2ul> >",
        70);
    g->grid[0] = 256;
    for (int i = 0; i < 4; i++) run(g, ops, "aten::sort", LOGITS, SORT, 400);
    if (softmax) run(g, ops, "aten::_softmax", LOGITS, SOFTMAX, 130);
    if (scan) run(g, ops, "aten::cumsum", LOGITS, SCAN, 260);
    run(g, ops, "aten::scatter", LOGITS, "void at::native::_scatter_gather_elementwise_kernel", 90);
}

TEST(top_p_by_a_full_sort)
{
    for (int ops = 0; ops < 2; ops++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int i = 0; i < 6; i++) sample(&g, ops, true, true);
        /* of 2,200 us per token: 120 stay, and topk on 131 MB takes about 500 */
        check_gain(&g, 70, 5, "topk(");
    }
}

/* Tokens in the order of their experts, a ranking: nothing is summed up of it. */
TEST(top_p_near_miss_a_sort_that_is_needed)
{
    for (int i = 0; i < 3; i++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int k = 0; k < 6; k++) sample(&g, true, i == 1, i == 2);
        check_silent(&g);
    }
}

/* An operator with the values of its numbers, which launches nothing. */
static void view(struct kernel_kit *g, const char *name, const char *dims, const char *values)
{
    str_id shapes = kernel_kit_text(g, dims);
    struct op_info op = {ID_NONE, ID_NONE, 0, shapes, STR_NONE, kernel_kit_text(g, values)};
    kit_row(&g->k, KIND_OP, name, g->cpu_us, 4, &op);
    g->cpu_us += 5;
}

#define DISTANCES "[[2048, 65536], []]"

/* Distances are computed, sorted, and read by `use`. */
static struct kernel_kit nearest(const char *use, const char *values, const char *last)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 8; i++) {
        run(&g, true, "aten::mm", "[[2048, 64], [64, 65536]]", GEMM, 600);
        kernel_kit_op_around(&g, "aten::sort", "[[2048, 65536], [], []]", NULL, 75);
        view(&g, "aten::sort", "[[2048, 65536], [], []]", "[\"\", \"1\", \"False\"]");
        for (int k = 0; k < 6; k++) run(&g, false, NULL, NULL, SORT, 1500);
        g.cpu_us += 10;
        view(&g, use, DISTANCES, values);
        run(&g, true, last, DISTANCES, "void at::native::_scatter_gather_elementwise_kernel", 10);
    }
    return g;
}

TEST(sorts_of_which_few_places_are_read)
{
    static const struct {
        const char *use, *dim, *from, *to, *step, *last;
        bool fires;
    } cases[] = {
        {"slice", "1", "0", "32", "1", "aten::gather", true},
        {"slice", "-1", "-32", "9223372036854775807", "1", "aten::index", true},
        {"select", "1", "0", "", "", "aten::gather", true},
        {"narrow", "1", "0", "32", "", "aten::gather", true},
        /* half of them, every 64th, of another dimension, from the middle, and all by the next */
        {"slice", "1", "0", "32768", "1", "aten::gather", false},
        {"slice", "1", "0", "9223372036854775807", "64", "aten::gather", false},
        {"slice", "0", "0", "32", "1", "aten::gather", false},
        {"slice", "1", "32000", "32032", "1", "aten::gather", false},
        {"slice", "1", "0", "32", "1", "aten::mul", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char use[32], values[96];
        snprintf(use, sizeof use, "aten::%s", cases[i].use);
        snprintf(values, sizeof values, "[\"\", \"%s\", \"%s\", \"%s\", \"%s\"]", cases[i].dim,
                 cases[i].from, cases[i].to, cases[i].step);
        struct kernel_kit g = nearest(use, values, cases[i].last);
        /* topk reads 537 MB 16 times: about 2 of 9 ms */
        if (cases[i].fires) check_gain(&g, 73, 3, "topk(k, dim");
        else check_silent(&g);
    }
}

/* ---- additions of rows ---- */

struct addition {
    const char *op, *dims, *values;
    bool expands;
    double us;
};

static struct kernel_kit adding(const struct addition *a)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 12; i++) {
        double begin = g.cpu_us;
        kernel_kit_op(&g, "aten::copy_", "[[1048576, 256], [1048576, 256], []]",
                      "[\"float\", \"c10::BFloat16\", \"Scalar\"]");
        kernel_kit_run(&g, COPY, 770);
        g.cpu_us = begin + 11;
        if (a->expands) view(&g, "aten::expand_as", "[[1048576, 1], [1048576, 256]]", "[]");
        begin = g.cpu_us;
        view(&g, a->op, a->dims, a->values);
        g.cpu_us = begin + 1;
        kernel_kit_run(&g, "void at::native::indexFuncLargeIndex<float, long>", a->us);
        g.cpu_us = begin + 11;
    }
    return g;
}

#define FEW     "[[16, 256], [], [1048576], [1048576, 256], []]"
#define EACH    "[[16, 256], [], [1048576, 256], [1048576, 256]]"
#define BY_ROWS "[\"\", \"0\", \"\", \"\", \"1\"]"

TEST(rows_added_to_a_few_others)
{
    static const struct addition fires[] = {
        {"aten::index_add_", FEW, BY_ROWS, false, 1850},
        {"aten::scatter_add_", EACH, BY_ROWS, true, 1850},
        {"aten::_index_put_impl_", "[[16, 256], [], [1048576, 256], [], []]",
         "[\"\", \"\", \"\", \"True\", \"True\"]", false, 1850},
    };
    for (size_t i = 0; i < sizeof fires / sizeof *fires; i++) {
        struct kernel_kit g = adding(&fires[i]);
        /* 537 MB and one-hot rows of 336 MB are moved instead, in 210 of 2,620 us */
        check_gain(&g, 92, 2, "one_hot(index, groups)");
    }
    static const struct addition silent[] = {
        /* many rows, another dimension, an index for each number, at the memory's rate, written */
        {"aten::index_add_", "[[65536, 256], [], [1048576], [1048576, 256], []]", BY_ROWS, false,
         1850},
        {"aten::index_add_", FEW, "[\"\", \"1\", \"\", \"\", \"1\"]", false, 1850},
        {"aten::scatter_add_", EACH, BY_ROWS, false, 1850},
        {"aten::index_add_", FEW, BY_ROWS, false, 500},
        {"aten::_index_put_impl_", "[[16, 256], [], [1048576, 256], [], []]",
         "[\"\", \"\", \"\", \"False\", \"True\"]", false, 1850},
    };
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        struct kernel_kit g = adding(&silent[i]);
        check_silent(&g);
    }
}

/* ---- what words alone show ---- */

static struct trace *worded(const char *op, const char *kernel, bool trains)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 20; i++) {
        run(&g, true, op, "[[1024, 1024], []]", kernel, 20);
        run(&g, true, "aten::mm", "[[256, 1024], [1024, 1024]]", GEMM, 60);
        if (trains)
            kernel_kit_op_around(&g, "autograd::engine::evaluate_function: MmBackward0", NULL, NULL,
                                 12);
        run(&g, true, "aten::mm", "[[256, 1024], [1024, 1024]]", GEMM, 20);
    }
    return kernel_kit_end(&g);
}

struct worded_case {
    const char *op, *kernel, *says;
    bool trains, silent;
};

TEST(words_show_what_is_spare)
{
    static const struct worded_case cases[] = {
        {"bitsandbytes::dequantize_4bit", "void kDequantizeBlockwise<__nv_bfloat16>",
         "model.dequantize()", false, false},
        {"bitsandbytes::dequantize_4bit", "void kDequantizeBlockwise<__nv_bfloat16>", "", true,
         true},
        {"torch.distributed.ddp.reducer::copy_bucket_to_grad", "void at::native::copy_kernel",
         "gradient_as_bucket_view", true, false},
        {"aten::slow_conv_dilated3d", "void at::native::vol2col_kernel<float>", "channels_last_3d",
         false, false},
        {"aten::cudnn_convolution", "sm90_xmma_fprop_implicit_gemm", "", false, true},
        {"aten::copy_", "void at::native::copy_kernel", "", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct worded_case *c = &cases[i];
        struct diagnosis d;
        diagnose(&d, worded(c->op, c->kernel, c->trains));
        const struct finding *f = found(&d, "cheaper_way");
        CHECK_EQ_INT(f == NULL, c->silent);
        if (f && CHECK(strstr(f->fix, c->says) != NULL)) CHECK_NEAR(f->gain_pct, 20, 3);
        done(&d);
    }
}

/* ---- gradients of embeddings ---- */

#define FILL "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >"

static void embedding_step(struct kernel_kit *g, bool inside, double fill_us)
{
    run(g, true, "aten::mm", "[[256, 1024], [1024, 1024]]", GEMM, 60);
    if (!inside) run(g, true, "aten::fill_", "[[2000000, 64], []]", FILL, fill_us);
    kernel_kit_op_around(g, "aten::embedding_dense_backward", NULL, NULL, 24);
    if (inside) run(g, true, "aten::fill_", "[[2000000, 64], []]", FILL, fill_us);
    run(g, false, NULL, NULL, "void at::native::embedding_backward_feature_kernel<float>", 10);
}

static struct kernel_kit embedding_steps(bool inside, double fill_us)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 20; i++) embedding_step(&g, inside, fill_us);
    return g;
}

/* Of 60 + 30 + 10 us the filling goes. */
TEST(embedding_gradients_that_are_mostly_zeros)
{
    struct kernel_kit g = embedding_steps(true, 30);
    check_gain(&g, 30, 3, "sparse=True");
}

TEST(embedding_gradients_near_miss_a_small_table_or_a_fill_of_the_program)
{
    struct kernel_kit g = embedding_steps(true, 8);
    check_silent(&g);
    g = embedding_steps(false, 30);
    check_silent(&g);
}

/* Rows of optimizers go with the table: of 60 + 30 + 10 + 100 us, 30 and four fifths of 100. */
TEST(embedding_gradients_that_the_optimizer_goes_through)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 20; i++) {
        embedding_step(&g, true, 30);
        double begin = g.cpu_us;
        kernel_kit_op(&g, "aten::_foreach_add_",
                      "[[[2000000, 64], [32000000]], [[2000000, 64], [32000000]], []]",
                      "[\"TensorList\", \"TensorList\", \"Scalar\"]");
        kernel_kit_run(&g, "void at::native::multi_tensor_apply_kernel<TensorListMetadata>", 100);
        g.cpu_us = begin + 11;
    }
    check_gain(&g, 100 * (30 + 80.0) / 200, 4, "sparse=True");
}

/* ---- products ---- */

struct product_case {
    const char *first, *second, *third; /* shapes of what is launched one after the other */
    const char *says;                   /* NULL: nothing is found */
};

TEST(products_in_the_dearer_order)
{
    static const struct product_case cases[] = {
        {"[[4096, 512], [512, 6144]]", "[[4096, 6144], [6144, 16]]", "[[8, 8], [8, 8]]",
         "multi_dot"},
        /* queries and keys of the same input */
        {"[[8192, 4096], [4096, 4096]]", "[[8192, 4096], [4096, 1024]]", "[[8, 8], [8, 8]]", NULL},
        /* a layer, and the adapter beside it */
        {"[[4096, 4096], [4096, 4096]]", "[[4096, 4096], [4096, 16]]", "[[4096, 16], [16, 4096]]",
         NULL},
        /* the same, if something else comes between the adapter's products; and as many tokens as a
         * layer is wide */
        {"[[4096, 4096], [4096, 4096]]", "[[4096, 4096], [4096, 16]]", "[[8, 8], [8, 8]]", NULL},
        {"[[4096, 4096], [4096, 4096]]", "[[4096, 4096], [4096, 1024]]", "[[8, 8], [8, 8]]", NULL},
        /* few rows: the order is right */
        {"[[16, 6144], [6144, 6144]]", "[[16, 6144], [6144, 512]]", "[[8, 8], [8, 8]]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_kit g = kernel_kit_begin();
        for (int k = 0; k < 12; k++) {
            run(&g, true, "aten::mm", cases[i].first, GEMM, 600);
            run(&g, true, "aten::mm", cases[i].second, GEMM, 50);
            run(&g, true, "aten::mm", cases[i].third, GEMM, 50);
            run(&g, true, "aten::native_layer_norm", "[[4096, 3072]]", NORM, 10);
        }
        if (cases[i].says) check_gain(&g, 82, 10, cases[i].says);
        else check_silent(&g);
    }
}

static void one_hot_step(struct kernel_kit *g, const char *weight)
{
    double begin = g->cpu_us;
    kernel_kit_op_around(g, "aten::one_hot", NULL, NULL, 10);
    run(g, true, "aten::fill_", "[[4096, 32000], []]", FILL, 225);
    g->cpu_us = begin + 12;
    run(g, true, "aten::copy_", "[[4096, 32000], [4096, 32000], []]", COPY, 400);
    run(g, true, "aten::mm", weight, GEMM, 290);
    run(g, true, "aten::native_layer_norm", "[[4096, 3072]]", NORM, 100);
}

TEST(rows_that_are_looked_up_by_one_hot_vectors)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 12; i++) one_hot_step(&g, "[[4096, 32000], [32000, 1024]]");
    check_gain(&g, 90, 3, "embedding(ids, weight)");
    g = kernel_kit_begin();
    for (int i = 0; i < 12; i++) one_hot_step(&g, "[[512, 1024], [1024, 1024]]"); /* of a loss */
    check_silent(&g);
}

static struct kernel_kit scored(const char *read)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 12; i++) {
        run(&g, true, "aten::mm", "[[4096, 1024], [1024, 131072]]", GEMM, 1600);
        run(&g, true, "aten::copy_", "[[4096, 131072], [4096, 131072], []]", COPY, 800);
        run(&g, true, "aten::_log_softmax", read, SOFTMAX, 40);
    }
    return g;
}

TEST(logits_of_rows_that_are_not_read)
{
    struct kernel_kit g = scored("[[4, 131072], [], []]");
    check_gain(&g, 93, 5, "logits_to_keep");
    g = scored("[[4096, 131072], [], []]"); /* all are read */
    check_silent(&g);
    g = scored("[[4096, 64], [], []]"); /* something else */
    check_silent(&g);
}

static struct kernel_kit packed(const char *scaled)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 30; i++) {
        double begin = g.cpu_us;
        kernel_kit_op(&g, "aten::copy_", "[[4096, 4096], [4096, 4096], []]",
                      "[\"c10::BFloat16\", \"signed char\", \"Scalar\"]");
        kernel_kit_run(&g, COPY, 45);
        g.cpu_us = begin + 11;
        run(&g, true, "aten::mul", scaled, MUL, 45);
        run(&g, true, "aten::mm", "[[64, 4096], [4096, 4096]]", GEMM, 10);
    }
    return g;
}

TEST(weights_that_are_unpacked_before_every_product)
{
    struct kernel_kit g = packed("[[4096, 4096], [4096, 1]]");
    check_gain(&g, 88, 5, "torchao");
    g = packed("[[64, 4096], [64, 1]]"); /* something else is scaled */
    check_silent(&g);
}

/* ---- gradients ---- */

static void accumulate(struct kernel_kit *g, const char *dims)
{
    kernel_kit_op_around(g, "autograd::engine::evaluate_function: MmBackward0", NULL, NULL, 12);
    run(g, true, "aten::mm", "[[512, 1024], [1024, 1024]]", GEMM, 60);
    kernel_kit_op(g, "torch::autograd::AccumulateGrad", dims, "[\"float\"]");
    g->cpu_us += 12;
}

/* A head and 12 layers below it run backward; the optimizer updates what `updates` says. */
static struct kernel_kit frozen(const char *updates)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 12; k++)
            run(&g, true, "aten::mm", "[[512, 1024], [1024, 1024]]", GEMM, 30);
        accumulate(&g, "[[10, 1024]]");
        for (int k = 0; k < 12; k++) accumulate(&g, "[[1024, 1024]]");
        kit_label(&g.k, "Optimizer.step#SGD.step", g.cpu_us, 20);
        g.cpu_us += 2;
        kernel_kit_op(&g, "aten::_foreach_add_", updates, "[\"TensorList\", \"TensorList\"]");
        kernel_kit_run(&g, "void at::native::multi_tensor_apply_kernel", 5);
        g.cpu_us += 30;
    }
    return g;
}

TEST(gradients_that_no_optimizer_uses)
{
    struct kernel_kit g = frozen("[[[10, 1024]], [[10, 1024]], []]");
    check_gain(&g, 100 * 12 * 60 / (12 * 30 + 13 * 60 + 5.0), 6, "requires_grad_(False)");
    g = frozen("[[[10, 1024], [1024, 1024]], [[10, 1024], [1024, 1024]], []]");
    check_silent(&g);
}

/* A gradient is computed, and added to the one that is there. */
static void add_gradient(struct kernel_kit *g)
{
    double begin = g->cpu_us;
    kernel_kit_op_around(g, "autograd::engine::evaluate_function: MmBackward0", NULL, NULL, 12);
    run(g, true, "aten::mm", "[[1024, 1024], [1024, 1024]]", GEMM, 60);
    g->cpu_us = begin + 13;
    kernel_kit_op_around(g, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                         NULL, NULL, 20);
    kernel_kit_op_around(g, "torch::autograd::AccumulateGrad", "[[1024, 1024]]", NULL, 18);
    run(g, true, "aten::add_", "[[1024, 1024], [1024, 1024], []]", ADD, 20);
    g->cpu_us = begin + 34;
}

/* Steps of `passes` forward and backward passes; `zeroed`: gradients are filled before. */
static struct kernel_kit summed(int passes, const char *zeroed)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 6; i++) {
        kit_label(&g.k, zeroed, g.cpu_us, 20);
        g.cpu_us += 2;
        run(&g, true, "aten::zero_", "[[12, 1024, 1024]]", FILL, 120);
        g.cpu_us += 20;
        for (int pass = 0; pass < passes; pass++) {
            for (int k = 0; k < 12; k++)
                run(&g, true, "aten::mm", "[[512, 1024], [1024, 1024]]", GEMM, 30);
            for (int k = 0; k < 12; k++) add_gradient(&g);
        }
        kit_label(&g.k, "Optimizer.step#SGD.step", g.cpu_us, 20);
        g.cpu_us += 2;
        kernel_kit_op(&g, "aten::_foreach_add_", "[[[1024, 1024]], [[1024, 1024]], []]",
                      "[\"TensorList\", \"TensorList\"]");
        kernel_kit_run(&g, "void at::native::multi_tensor_apply_kernel", 5);
        g.cpu_us += 30;
    }
    return g;
}

/* The fills and what the first pass of each step adds; passes after it have to add. */
TEST(gradients_filled_with_zeros)
{
    double pass = 12 * (30 + 60 + 20), rest = 125;
    struct kernel_kit g = summed(1, "Optimizer.zero_grad#SGD.zero_grad");
    check_gain(&g, 100 * (120 + 12 * 20) / (pass + rest), 3, "set_to_none=True");
    g = summed(4, "Optimizer.zero_grad#SGD.zero_grad");
    check_gain(&g, 100 * (120 + 12 * 20) / (4 * pass + rest), 2, "set_to_none=True");
    g = summed(4, "prepare"); /* something else is filled */
    check_silent(&g);
}

/* ---- generation (a row of repeated_work) ---- */

/* Passes over 8 x 1024 tokens, each with `more` rows more than the one before; with `jitter`, some
 * of them come back. */
static struct kernel_kit passes(int more, int jitter)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 10; i++) {
        char dims[64];
        int rows = 8192 + more * i - (i % 3 == 2 ? jitter : 0);
        snprintf(dims, sizeof dims, "[[%d, 1024], [1024, 4096]]", rows);
        for (int k = 0; k < 6; k++) run(&g, true, "aten::mm", dims, GEMM, 100);
    }
    return g;
}

TEST(generation_without_a_cache)
{
    struct diagnosis d;
    struct kernel_kit g = passes(8, 0);
    diagnose(&d, kernel_kit_end(&g));
    const struct finding *f = found(&d, "repeated_work");
    /* of 60 products those of the first pass stay, the others read 8 MB each */
    if (CHECK(f != NULL) && CHECK(strstr(f->fix, "use_cache=True") != NULL))
        CHECK_NEAR(f->gain_pct, 88, 5);
    done(&d);
    static const int silent[][2] = {
        {0, 0}, {8, 40}, {8192, 0}}; /* equal, of all lengths, far more */
    for (int i = 0; i < 3; i++) {
        g = passes(silent[i][0], silent[i][1]);
        diagnose(&d, kernel_kit_end(&g));
        CHECK(found(&d, "repeated_work") == NULL);
        done(&d);
    }
}

/* ---- inverses ---- */

static struct kernel_kit inverting(const char *product)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 12; i++) {
        kernel_kit_op_around(&g, "aten::linalg_inv_ex", NULL, NULL, 40);
        run(&g, true, "aten::linalg_lu_factor_ex", "[[256, 192, 192]]", "sgetf2_fused_batched",
            500);
        kernel_kit_op_around(&g, "aten::linalg_lu_solve", NULL, NULL, 20);
        run(&g, false, NULL, NULL, "batch_trsm_left_kernel", 400);
        g.cpu_us += 12;
        run(&g, true, "aten::bmm", product, GEMM, 100);
    }
    return g;
}

/* Of 1,000 us, the 400 for all columns become a 48th part, and the product goes. */
TEST(systems_solved_by_way_of_an_inverse)
{
    struct kernel_kit g = inverting("[[256, 192, 192], [256, 192, 4]]");
    check_gain(&g, 49, 3, "torch.linalg.solve");
    g = inverting("[[256, 192, 192], [256, 192, 512]]"); /* wider than the matrix */
    check_silent(&g);
}

/* ---- losses ---- */

#define BACKWARD_SOFTMAX "void at::native::cunn_SoftMaxBackward<4, float, float, float>"

static struct kernel_kit loss_steps(const char *after_softmax)
{
    struct kernel_kit g = kernel_kit_begin();
    for (int i = 0; i < 24; i++) {
        run(&g, false, NULL, NULL, GEMM, 1000);
        run(&g, false, NULL, NULL, COPY, 1000);
        run(&g, false, NULL, NULL, SOFTMAX, 1500);
        run(&g, false, NULL, NULL, after_softmax, 10);
        kernel_kit_op_around(&g, "autograd::engine::evaluate_function: NllLossBackward0", NULL,
                             NULL, 60);
        run(&g, false, NULL, NULL, FILL, 400);
        run(&g, false, NULL, NULL, BACKWARD_SOFTMAX, 1600);
        run(&g, false, NULL, NULL, COPY, 500);
        g.cpu_us += 30;
    }
    return g;
}

/* Three quarters of 5 of 6.01 ms. */
TEST(losses_through_float32_logits)
{
    struct kernel_kit g = loss_steps("void at::native::nll_loss_forward_reduce_cuda_kernel_2d");
    check_gain(&g, 100 * 0.75 * 5.0 / 6.01, 4, "cross entropy");
    g = loss_steps(GEMM); /* attention by hand */
    check_silent(&g);
}

TEST_MAIN
