/* test_op_work.c: operations and bytes of operators from their shapes. */
#include "analyze/ops/op_work.h"

#include "analyze/ops/op_groups.h"

#include "kernel_kit.h"

static struct op_work work_of(const char *name, const char *dims, const char *types,
                              const char *concrete)
{
    struct kit k = kit_begin();
    struct intern *s = batch_strings(k.p);
    struct op_info op = {ID_NONE,
                         ID_NONE,
                         0,
                         intern_add(s, str_c(dims)),
                         intern_add(s, str_c(types)),
                         intern_add(s, str_c(concrete))};
    kit_row(&k, KIND_OP, name, 0, 10, &op);
    struct trace *t = kit_end(&k);
    struct op_work w;
    CHECK(op_work_of(t, 0, &w));
    trace_free(t);
    return w;
}

TEST(products)
{
    struct op_work w = work_of("aten::mm", "[[64, 128], [128, 32]]", BF16_2, "[]");
    CHECK_EQ_INT(w.kind.class, OP_PRODUCT);
    CHECK_NEAR(w.flops, 2.0 * 64 * 128 * 32, 0);
    CHECK_NEAR(w.read + w.written, 2.0 * (64 * 128 + 128 * 32 + 64 * 32), 0);
    w = work_of("aten::bmm", "[[8, 64, 128], [8, 128, 32]]", F32_2, "[]");
    CHECK_NEAR(w.flops, 8 * 2.0 * 64 * 128 * 32, 0);
    CHECK_NEAR(w.batch, 8, 0);
    CHECK_NEAR(w.m, 64, 0);
    w = work_of("aten::addmm", "[[32], [64, 128], [128, 32], [], []]",
                "[\"float\", \"float\", \"float\", \"Scalar\", \"Scalar\"]", "[]");
    CHECK_NEAR(w.flops, 2.0 * 64 * 128 * 32, 0);
    CHECK_NEAR(w.n, 32, 0);
    w = work_of("aten::linear", "[[2, 16, 128], [32, 128], []]", BF16_2, "[]");
    CHECK_NEAR(w.flops, 2.0 * 32 * 128 * 32, 0);
}

TEST(convolutions)
{
    const char *concrete = "[\"\", \"\", \"\", \"[2, 2]\", \"[3, 3]\", \"[1, 1]\", \"1\"]";
    struct op_work w = work_of(
        "aten::conv2d", "[[8, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]", BF16_2, concrete);
    CHECK_NEAR(w.elements, 8.0 * 64 * 112 * 112, 0);
    CHECK_NEAR(w.flops, 2.0 * 8 * 64 * 112 * 112 * 3 * 7 * 7, 0);
    w = work_of("aten::convolution_backward",
                "[[8, 64, 112, 112], [8, 3, 224, 224], [64, 3, 7, 7]]",
                "[\"float\", \"float\", \"float\"]", "[]");
    CHECK_NEAR(w.flops, 2 * 2.0 * 8 * 64 * 112 * 112 * 3 * 7 * 7, 0);
}

TEST(convolutions_that_cannot_be_are_no_work)
{
    const char *dims = "[[8, 4, 32, 32], [4, 4, 3, 3], [], [], [], [], []]";
    static const struct {
        const char *concrete;
        double flops;
    } cases[] = {
        {"[\"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"1\"]",
         2.0 * 8 * 4 * 4 * 1024 * 9},
        {"[\"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"2\"]", 8.0 * 4 * 4 * 1024 * 9},
        {"[\"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"0\"]", 0},
        {"[\"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"x\"]", 0},
        {"[\"\", \"\", \"\", \"[0, 1]\", \"[1, 1]\", \"[1, 1]\", \"1\"]", 0},
        {"[\"\", \"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\", \"1\"]", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k = kit_begin();
        struct intern *s = batch_strings(k.p);
        struct op_info op = {ID_NONE,
                             ID_NONE,
                             0,
                             intern_add(s, str_c(dims)),
                             intern_add(s, str_c(F32_2)),
                             intern_add(s, str_c(cases[i].concrete))};
        kit_row(&k, KIND_OP, "aten::conv2d", 0, 10, &op);
        struct trace *t = kit_end(&k);
        CHECK_NEAR((double)op_flops(t, 0, FLOPS_CONV2D), cases[i].flops, 0);
        trace_free(t);
    }
}

TEST(attention_counts_both_products_and_what_is_masked)
{
    const char *dims = "[[2, 8, 256, 64], [2, 8, 512, 64], [2, 8, 512, 64], [], [], [], []]";
    const char *types = "[\"c10::Half\", \"c10::Half\", \"c10::Half\", \"\", \"\", \"\", \"\"]";
    double all = 4.0 * 2 * 8 * 256 * 512 * 64;
    struct op_work w = work_of("aten::_scaled_dot_product_flash_attention", dims, types, "[]");
    CHECK_NEAR(w.flops, all, 0);
    CHECK_NEAR(w.k, 64, 0);
    CHECK(!w.masked);
    w = work_of("aten::_scaled_dot_product_flash_attention", dims, types,
                "[\"\", \"\", \"\", \"0.\", \"True\"]");
    CHECK(w.causal);
    CHECK_NEAR(w.flops, all / 2, 0);
    w = work_of("aten::_scaled_dot_product_efficient_attention",
                "[[2, 8, 256, 64], [2, 8, 256, 64], [2, 8, 256, 64], [2, 8, 256, 256]]",
                "[\"c10::Half\", \"c10::Half\", \"c10::Half\", \"c10::Half\"]", "[]");
    CHECK(w.masked);
}

TEST(pointwise_reads_inputs_and_writes_their_broadcast)
{
    struct op_work w =
        work_of("aten::add", "[[64, 1], [1, 32], []]", "[\"float\", \"float\", \"Scalar\"]", "[]");
    CHECK_NEAR(w.elements, 64 * 32, 0);
    CHECK_NEAR(w.read, 4.0 * (64 + 32), 0);
    CHECK_NEAR(w.written, 4.0 * 64 * 32, 0);
    w = work_of("aten::mul_", "[[64, 32], []]", "[\"c10::BFloat16\", \"Scalar\"]", "[]");
    CHECK(w.kind.in_place);
    CHECK_NEAR(w.read, w.written, 0);
    w = work_of("aten::mul", "[[64, 32], [64, 32]]", "[\"c10::BFloat16\", \"float\"]", "[]");
    CHECK_EQ_INT(w.type, NUMBER_F32); /* the wider one */
    w = work_of("aten::mul", "[[64, 32], [1]]", "[\"c10::BFloat16\", \"float\"]", "[]");
    CHECK_EQ_INT(w.type, NUMBER_BF16); /* a number widens nothing */
    w = work_of("aten::mul", "[[64, 32], [64, 32]]", "[\"bool\", \"c10::BFloat16\"]", "[]");
    CHECK_EQ_INT(w.type, NUMBER_BF16);
    w = work_of("aten::eq", "[[64, 32], [64, 32]]", F32_2, "[]");
    CHECK_NEAR(w.written, 64 * 32, 0); /* a mask */
    w = work_of("aten::where", "[[64, 32], [], [64, 32], [64, 32]]",
                "[\"bool\", \"float\", \"float\", \"float\"]", "[]");
    CHECK_NEAR(w.read + w.written, 64 * 32 * (1 + 4 + 4) + 4, 0); /* the last is where it writes */
}

TEST(copies_fills_and_lists)
{
    struct op_work w = work_of("aten::copy_", "[[1024], [1024], []]",
                               "[\"c10::BFloat16\", \"float\", \"Scalar\"]", "[]");
    CHECK_EQ_INT(w.kind.class, OP_COPY);
    CHECK_EQ_INT(w.from, NUMBER_F32);
    CHECK_EQ_INT(w.type, NUMBER_BF16);
    CHECK_NEAR(w.read, 4096, 0);
    CHECK_NEAR(w.written, 2048, 0);
    w = work_of("aten::zero_", "[[1024]]", "[\"float\"]", "[]");
    CHECK_NEAR(w.read, 0, 0);
    CHECK_NEAR(w.written, 4096, 0);
    w = work_of("aten::cat", "[[[8, 100], [8, 4]], []]", "[\"TensorList\", \"Scalar\"]", "[]");
    CHECK_NEAR(w.elements, 832, 0);
    CHECK_NEAR(w.largest_in_list, 800, 0);
    CHECK_NEAR(w.untyped, 2 * 832, 0);
}

TEST(compiled_kernels_are_given_what_they_write)
{
    struct op_work w = work_of("triton_poi_fused_add_0", "[[1024], [1024], [1024], []]",
                               "[\"float\", \"float\", \"float\", \"Scalar\"]", "[]");
    CHECK_EQ_INT(w.kind.class, OP_COMPILED);
    CHECK_NEAR(w.read + w.written, 3 * 4096, 0);
}

/* Shapes come from a file. */
TEST(nonsense_is_no_work)
{
    static const char *const dims[] = {"",
                                       "[[-5, 3], [3, -7]]",
                                       "[[0, 0], [0, 0]]",
                                       "[[9223372036854775807, 9223372036854775807], [1, 1]]",
                                       "[[1], [2]",
                                       "[[[[[["};
    static const char *const ops[] = {"aten::mm",
                                      "aten::conv2d",
                                      "aten::add",
                                      "aten::cat",
                                      "aten::_softmax",
                                      "aten::_flash_attention_forward",
                                      "aten::convolution_backward",
                                      "aten::nothing"};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
            struct op_work w = work_of(ops[o], dims[i], F32_2, "[\"[\", \"]\", \"[1\"]");
            CHECK(!(w.flops < 0) && !(w.read < 0) && !(w.written < 0));
        }
}

TEST_MAIN
