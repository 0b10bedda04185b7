/* test_fused_ops.c: what kernels of Inductor compute, in words. */
#include "analyze/names/fused_ops.h"

#include "test.h"

static const char *said(bool fn(struct str, struct buf *), const char *name)
{
    static struct buf text;
    buf_done(&text);
    buf_init(&text);
    bool any = fn(str_c(name), &text);
    CHECK_EQ_INT(any, text.n > 0);
    return any ? buf_c(&text) : "-";
}

#define SAYS(name, words) CHECK_EQ_STR(said(fused_ops_of_name, name), words)
#define LIST(list, words) CHECK_EQ_STR(said(fused_ops_of_list, list), words)

/* Names of kernels of Flux.2, Wan and a small model on an H200. */
TEST(operators_are_read_from_names)
{
    SAYS("triton_red_fused_add_mul_native_layer_norm_split_unsqueeze_0", "layer_norm + add + mul");
    SAYS("triton_red_fused__to_copy_add_mul_native_layer_norm_split_view_2",
         "layer_norm + add + mul + cast");
    SAYS("triton_red_fused__fused_rms_norm_add_copy_mul_slice_sub_unbind_view_1",
         "rms_norm + add + mul + sub + copy");
    SAYS("triton_per_fused__softmax_backward_data__to_copy_add_mul_native_layer_norm_native_layer_"
         "norm_backward_sum_view_2",
         "softmax backward + layer_norm + layer_norm backward + sum + add + mul + cast");
    SAYS("triton_per_fused__softmax_add_exp_prepare_softmax_online_sub_view_5",
         "softmax + add + exp + sub");
    SAYS("triton_poi_fused_gelu_gelu_backward_view_1", "gelu + gelu backward");
    SAYS("cpp_fused__to_copy_add_mul_native_layer_norm_0", "layer_norm + add + mul + cast");
}

TEST(an_operator_counts_once)
{
    SAYS("triton_poi_fused_clone_copy_4", "copy");
    SAYS("triton_poi_fused__unsafe_index_index_mul_3", "index + mul");
}

TEST(views_are_named_where_there_is_nothing_else)
{
    SAYS("triton_poi_fused_permute_view_7", "permute + view");
    SAYS("triton_poi_fused_addmm_t_view_7", "addmm");
}

/* What nobody has heard of stands word by word. */
TEST(unknown_operators_stay_as_they_are)
{
    SAYS("triton_poi_fused_add_frobnicate_mul_12", "add + frobnicate + mul");
    SAYS("triton_poi_fused__frobnicate_12", "frobnicate");
    SAYS("triton_poi_fused_add__12", "add");
}

TEST(other_names_are_left_alone)
{
    SAYS("triton_poi_fused_", "-");
    SAYS("triton_poi_fused_0", "-");
    SAYS("triton_poi_fused_add", "-");
    SAYS("_fused_add_0", "-");
    SAYS("fused_add_rms_norm_kernel", "-");
    SAYS("void at::native::fused_dropout_kernel<0>", "-");
    SAYS("", "-");
}

TEST(what_tells_them_apart_stays)
{
    CHECK_EQ_STR(said(fused_ops_short, "triton_red_fused__to_copy_add_mul_native_layer_norm_12"),
                 "layer_norm + add + mul + cast (triton_red_12)");
    CHECK_EQ_STR(said(fused_ops_short, "nvjet_tst_128x256"), "-");
}

TEST(recorded_operators_keep_their_order)
{
    LIST("aten.native_layer_norm, aten.mul, aten.add, aten._to_copy, aten.view",
         "layer_norm + mul + add + cast");
    LIST("aten._softmax_backward_data", "softmax backward");
    LIST("prims.convert_element_type, aten.frobnicate", "cast + frobnicate");
    LIST("jit(step)/pow", "-");
    LIST("add", "-");
    LIST("", "-");
}

TEST_MAIN
