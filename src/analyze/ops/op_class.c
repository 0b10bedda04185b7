/* op_class.c: see op_work.h. Names are read without their namespace, a leading _foreach_ and the
 * trailing _ of operators in place. */
#include "analyze/ops/op_work.h"

#include "analyze/names/torch_words.h"

enum { CHEAP = 2, ROOT = 8, EXPONENT = 12, SPECIAL = 16 };

static const struct {
    const char *name;
    struct op_kind kind;
} known[] = {
    {"mm", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"addmm", {OP_PRODUCT, 3, 0, 0, 0, 0, 0}},
    {"_addmm_activation", {OP_PRODUCT, 3, 0, 0, 0, 0, 0}},
    {"bmm", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"baddbmm", {OP_PRODUCT, 3, 0, 0, 0, 0, 0}},
    {"matmul", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"linear", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"_scaled_mm", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"_grouped_mm", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"_scaled_grouped_mm", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"mv", {OP_PRODUCT, 2, 0, 0, 0, 0, 0}},
    {"conv1d", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"conv2d", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"conv3d", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"convolution", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"_convolution", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"cudnn_convolution", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"miopen_convolution", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"_conv_depthwise2d", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"cudnn_convolution_relu", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"cudnn_convolution_add_relu", {OP_CONVOLUTION, 2, 0, 0, 0, 0, 0}},
    {"convolution_backward", {OP_CONVOLUTION, 3, 0, 0, 0, 1, 0}},
    {"scaled_dot_product_attention", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_scaled_dot_product_flash_attention", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_scaled_dot_product_efficient_attention", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_scaled_dot_product_cudnn_attention", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_scaled_dot_product_attention_math", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_flash_attention_forward", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_efficient_attention_forward", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_cudnn_attention_forward", {OP_ATTENTION, 3, 0, 0, 0, 0, 0}},
    {"_scaled_dot_product_flash_attention_backward", {OP_ATTENTION, 4, 0, 0, 0, 1, 0}},
    {"_scaled_dot_product_efficient_attention_backward", {OP_ATTENTION, 4, 0, 0, 0, 1, 0}},
    {"_scaled_dot_product_cudnn_attention_backward", {OP_ATTENTION, 4, 0, 0, 0, 1, 0}},
    {"_flash_attention_backward", {OP_ATTENTION, 4, 0, 0, 0, 1, 0}},
    {"_efficient_attention_backward", {OP_ATTENTION, 4, 0, 0, 0, 1, 0}},
    {"_cudnn_attention_backward", {OP_ATTENTION, 4, 0, 0, 0, 1, 0}},
    {"sum", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"mean", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"var", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"std", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"var_mean", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"max", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"min", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"amax", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"amin", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"argmax", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"argmin", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"all", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"any", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"norm", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"linalg_vector_norm", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"logsumexp", {OP_REDUCTION, 1, 0, 0, 0, 0, 0}},
    {"_softmax", {OP_SOFTMAX, 1, 0, 0, 0, 0, 0}},
    {"softmax", {OP_SOFTMAX, 1, 0, 0, 0, 0, 0}},
    {"_safe_softmax", {OP_SOFTMAX, 1, 0, 0, 0, 0, 0}},
    {"_log_softmax", {OP_SOFTMAX, 1, 0, 0, 0, 0, 0}},
    {"_softmax_backward_data", {OP_SOFTMAX, 2, 0, 0, 0, 1, 0}},
    {"_log_softmax_backward_data", {OP_SOFTMAX, 2, 0, 0, 0, 1, 0}},
    {"native_layer_norm", {OP_NORM, 1, 0, 0, 0, 0, 0}},
    {"_fused_rms_norm", {OP_NORM, 1, 0, 0, 0, 0, 0}},
    {"native_group_norm", {OP_NORM, 1, 0, 0, 0, 0, 0}},
    {"native_batch_norm", {OP_NORM, 1, 0, 0, 0, 0, 0}},
    {"cudnn_batch_norm", {OP_NORM, 1, 0, 0, 0, 0, 0}},
    {"miopen_batch_norm", {OP_NORM, 1, 0, 0, 0, 0, 0}},
    {"native_layer_norm_backward", {OP_NORM, 2, 0, 0, 0, 1, 0}},
    {"_fused_rms_norm_backward", {OP_NORM, 2, 0, 0, 0, 1, 0}},
    {"native_group_norm_backward", {OP_NORM, 2, 0, 0, 0, 1, 0}},
    {"native_batch_norm_backward", {OP_NORM, 2, 0, 0, 0, 1, 0}},
    {"cudnn_batch_norm_backward", {OP_NORM, 2, 0, 0, 0, 1, 0}},
    {"miopen_batch_norm_backward", {OP_NORM, 2, 0, 0, 0, 1, 0}},
    {"copy", {OP_COPY, 1, 0, 0, 0, 0, 0}},
    {"clone", {OP_COPY, 1, 0, 0, 0, 0, 0}},
    {"contiguous", {OP_COPY, 1, 0, 0, 0, 0, 0}},
    {"_to_copy", {OP_COPY, 1, 0, 0, 0, 0, 0}},
    {"to", {OP_COPY, 1, 0, 0, 0, 0, 0}},
    {"fill", {OP_FILL, 0, 0, 0, 0, 0, 0}},
    {"zero", {OP_FILL, 0, 0, 0, 0, 0, 0}},
    {"cat", {OP_CAT, 1, 0, 0, 0, 0, 0}},
    {"stack", {OP_CAT, 1, 0, 0, 0, 0, 0}},
};

/* Pointwise operators, which are many: how many tensors they read, how long they compute. */
static const struct {
    const char *name;
    int arity, instructions;
    bool to_bool;
} pointwise[] = {
    {"add", 2, CHEAP, 0},
    {"sub", 2, CHEAP, 0},
    {"mul", 2, CHEAP, 0},
    {"rsub", 2, CHEAP, 0},
    {"div", 2, ROOT, 0},
    {"neg", 1, CHEAP, 0},
    {"abs", 1, CHEAP, 0},
    {"clamp", 1, CHEAP, 0},
    {"clamp_min", 1, CHEAP, 0},
    {"clamp_max", 1, CHEAP, 0},
    {"relu", 1, CHEAP, 0},
    {"threshold", 1, CHEAP, 0},
    {"leaky_relu", 1, CHEAP, 0},
    {"hardtanh", 1, CHEAP, 0},
    {"hardswish", 1, CHEAP, 0},
    {"hardsigmoid", 1, CHEAP, 0},
    {"where", 3, CHEAP, 0},
    {"masked_fill", 2, CHEAP, 0},
    {"maximum", 2, CHEAP, 0},
    {"minimum", 2, CHEAP, 0},
    {"addcmul", 3, CHEAP, 0},
    {"addcdiv", 3, ROOT, 0},
    {"lerp", 2, CHEAP, 0},
    {"square", 1, CHEAP, 0},
    {"sign", 1, CHEAP, 0},
    {"floor", 1, CHEAP, 0},
    {"ceil", 1, CHEAP, 0},
    {"round", 1, CHEAP, 0},
    {"trunc", 1, CHEAP, 0},
    {"triu", 1, CHEAP, 0},
    {"tril", 1, CHEAP, 0},
    {"pow", 1, ROOT, 0},
    {"sqrt", 1, ROOT, 0},
    {"rsqrt", 1, ROOT, 0},
    {"reciprocal", 1, ROOT, 0},
    {"exp", 1, EXPONENT, 0},
    {"exp2", 1, EXPONENT, 0},
    {"log", 1, EXPONENT, 0},
    {"log2", 1, EXPONENT, 0},
    {"log1p", 1, EXPONENT, 0},
    {"expm1", 1, EXPONENT, 0},
    {"sigmoid", 1, EXPONENT, 0},
    {"silu", 1, EXPONENT, 0},
    {"softplus", 1, SPECIAL, 0},
    {"elu", 1, EXPONENT, 0},
    {"mish", 1, SPECIAL, 0},
    {"tanh", 1, SPECIAL, 0},
    {"gelu", 1, SPECIAL, 0},
    {"erf", 1, SPECIAL, 0},
    {"sin", 1, SPECIAL, 0},
    {"cos", 1, SPECIAL, 0},
    {"tan", 1, SPECIAL, 0},
    {"atan2", 2, SPECIAL, 0},
    {"native_dropout", 1, SPECIAL, 0},
    {"bernoulli", 1, SPECIAL, 0},
    {"eq", 2, CHEAP, 1},
    {"ne", 2, CHEAP, 1},
    {"lt", 2, CHEAP, 1},
    {"le", 2, CHEAP, 1},
    {"gt", 2, CHEAP, 1},
    {"ge", 2, CHEAP, 1},
    {"isnan", 1, CHEAP, 1},
    {"isinf", 1, CHEAP, 1},
    {"isneginf", 1, CHEAP, 1},
    {"isposinf", 1, CHEAP, 1},
    {"isfinite", 1, CHEAP, 1},
    {"logical_not", 1, CHEAP, 1},
    {"logical_and", 2, CHEAP, 1},
    {"logical_or", 2, CHEAP, 1},
    {"logical_xor", 2, CHEAP, 1},
    {"bitwise_not", 1, CHEAP, 0},
    {"bitwise_and", 2, CHEAP, 0},
    {"bitwise_or", 2, CHEAP, 0},
    {"bitwise_xor", 2, CHEAP, 0},
    {"gelu_backward", 2, 24, 0},
    {"silu_backward", 2, SPECIAL, 0},
    {"tanh_backward", 2, CHEAP, 0},
    {"sigmoid_backward", 2, CHEAP, 0},
    {"mse_loss", 2, CHEAP, 0},
    {"mse_loss_backward", 3, CHEAP, 0},
    {"sgn", 1, CHEAP, 0},
    {"threshold_backward", 2, CHEAP, 0},
    {"mul_add", 3, CHEAP, 0},
    {"native_dropout_backward", 2, CHEAP, 0},
};

static struct op_kind look_up(struct str name)
{
    for (size_t i = 0; i < sizeof pointwise / sizeof *pointwise; i++)
        if (str_is(name, pointwise[i].name))
            return (struct op_kind){.class = OP_POINTWISE,
                                    .arity = pointwise[i].arity,
                                    .instructions = pointwise[i].instructions,
                                    .to_bool = pointwise[i].to_bool,
                                    .backward = str_ends(name, "_backward")};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(name, known[i].name)) return known[i].kind;
    return (struct op_kind){.class = OP_OTHER};
}

static struct str without_head(struct str s, size_t n)
{
    return str_from(s.p + n, s.n - n);
}

struct op_kind op_kind_of(struct str name)
{
    if (torch_is_triton(name)) return (struct op_kind){.class = OP_COMPILED};
    if (!str_starts(name, "aten::")) return (struct op_kind){.class = OP_OTHER};
    name = without_head(name, strlen("aten::"));
    bool lists = str_starts(name, "_foreach_");
    if (lists) name = without_head(name, strlen("_foreach_"));
    struct op_kind k = look_up(name);
    bool in_place = name.n > 1 && name.p[name.n - 1] == '_';
    if (in_place && k.class == OP_OTHER) k = look_up(str_from(name.p, name.n - 1));
    k.in_place = in_place;
    k.lists = lists;
    return k;
}
