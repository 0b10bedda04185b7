/* fused_ops.c: see fused_ops.h. */
#include "analyze/names/fused_ops.h"

#include <ctype.h>
#include <string.h>

#include "analyze/names/torch_words.h"

/* In the order they are shown where that in which they run is not known. */
enum fused_kind { OP_LARGE, OP_REDUCES, OP_PLAIN, OP_COPIES, OP_CASTS, OP_VIEWS, FUSED_KINDS };

struct fused_op {
    const char *name, *word; /* NULL: the name itself */
    enum fused_kind kind;
};

/* Operators with the sign in their names, and single words that do not simply stand for themselves.
 * Sorted. */
static const struct fused_op known[] = {
    {"T", NULL, OP_VIEWS},
    {"_adaptive_avg_pool2d", "adaptive_avg_pool2d", OP_LARGE},
    {"_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d backward", OP_LARGE},
    {"_assert_async", "assert", OP_PLAIN},
    {"_cast_Float", "cast", OP_CASTS},
    {"_cast_Half", "cast", OP_CASTS},
    {"_convolution", "convolution", OP_LARGE},
    {"_embedding_bag", "embedding_bag", OP_LARGE},
    {"_foreach_abs", "abs", OP_PLAIN},
    {"_foreach_add", "add", OP_PLAIN},
    {"_foreach_addcdiv", "addcdiv", OP_PLAIN},
    {"_foreach_addcmul", "addcmul", OP_PLAIN},
    {"_foreach_clamp_max", "clamp_max", OP_PLAIN},
    {"_foreach_clamp_min", "clamp_min", OP_PLAIN},
    {"_foreach_copy", "copy", OP_PLAIN},
    {"_foreach_div", "div", OP_PLAIN},
    {"_foreach_lerp", "lerp", OP_PLAIN},
    {"_foreach_maximum", "maximum", OP_PLAIN},
    {"_foreach_mul", "mul", OP_PLAIN},
    {"_foreach_neg", "neg", OP_PLAIN},
    {"_foreach_pow", "pow", OP_PLAIN},
    {"_foreach_reciprocal", "reciprocal", OP_PLAIN},
    {"_foreach_rsqrt", "rsqrt", OP_PLAIN},
    {"_foreach_sign", "sign", OP_PLAIN},
    {"_foreach_sqrt", "sqrt", OP_PLAIN},
    {"_foreach_sub", "sub", OP_PLAIN},
    {"_fused_rms_norm", "rms_norm", OP_LARGE},
    {"_fused_rms_norm_backward", "rms_norm backward", OP_LARGE},
    {"_grouped_mm", "grouped_mm", OP_LARGE},
    {"_int_mm", "int_mm", OP_LARGE},
    {"_log_softmax", "log_softmax", OP_LARGE},
    {"_log_softmax_backward_data", "log_softmax backward", OP_LARGE},
    {"_low_memory_max_pool_offsets_to_indices", "max_pool", OP_LARGE},
    {"_low_memory_max_pool_with_offsets", "max_pool", OP_LARGE},
    {"_native_batch_norm_legit", "batch_norm", OP_LARGE},
    {"_native_batch_norm_legit_functional", "batch_norm", OP_LARGE},
    {"_native_batch_norm_legit_no_training", "batch_norm", OP_LARGE},
    {"_reshape_alias", NULL, OP_VIEWS},
    {"_safe_softmax", "softmax", OP_LARGE},
    {"_scaled_dot_product_attention_math", "attention", OP_LARGE},
    {"_scaled_dot_product_cudnn_attention", "attention", OP_LARGE},
    {"_scaled_dot_product_cudnn_attention_backward", "attention backward", OP_LARGE},
    {"_scaled_dot_product_efficient_attention", "attention", OP_LARGE},
    {"_scaled_dot_product_efficient_attention_backward", "attention backward", OP_LARGE},
    {"_scaled_dot_product_flash_attention", "attention", OP_LARGE},
    {"_scaled_dot_product_flash_attention_backward", "attention backward", OP_LARGE},
    {"_scaled_dot_product_fused_attention_overrideable", "attention", OP_LARGE},
    {"_scaled_dot_product_fused_attention_overrideable_backward", "attention backward", OP_LARGE},
    {"_scaled_mm", "scaled_mm", OP_LARGE},
    {"_softmax", "softmax", OP_LARGE},
    {"_softmax_backward_data", "softmax backward", OP_LARGE},
    {"_to_copy", "cast", OP_CASTS},
    {"_unsafe_index", "index", OP_LARGE},
    {"_unsafe_index_put", "index_put", OP_LARGE},
    {"_unsafe_masked_index", "index", OP_LARGE},
    {"_unsafe_view", NULL, OP_VIEWS},
    {"_upsample_bilinear2d_aa", "upsample_bilinear2d", OP_LARGE},
    {"_upsample_nearest_exact2d", "upsample_nearest2d", OP_LARGE},
    {"_weight_norm", "weight_norm", OP_LARGE},
    {"_weight_norm_interface", "weight_norm", OP_LARGE},
    {"_weight_norm_interface_backward", "weight_norm backward", OP_LARGE},
    {"addcdiv", NULL, OP_PLAIN},
    {"addcmul", NULL, OP_PLAIN},
    {"alias", NULL, OP_VIEWS},
    {"all", NULL, OP_REDUCES},
    {"amax", NULL, OP_REDUCES},
    {"amin", NULL, OP_REDUCES},
    {"any", NULL, OP_REDUCES},
    {"argmax", NULL, OP_REDUCES},
    {"argmin", NULL, OP_REDUCES},
    {"as_strided", NULL, OP_VIEWS},
    {"avg_pool2d", NULL, OP_LARGE},
    {"avg_pool2d_backward", "avg_pool2d backward", OP_LARGE},
    {"batch_norm", NULL, OP_LARGE},
    {"batch_norm_backward", "batch_norm backward", OP_LARGE},
    {"binary_cross_entropy", NULL, OP_PLAIN},
    {"binary_cross_entropy_backward", "binary_cross_entropy backward", OP_PLAIN},
    {"binary_cross_entropy_with_logits", NULL, OP_PLAIN},
    {"binary_cross_entropy_with_logits_backward", "binary_cross_entropy_with_logits backward",
     OP_PLAIN},
    {"bitwise_and", NULL, OP_PLAIN},
    {"bitwise_left_shift", NULL, OP_PLAIN},
    {"bitwise_not", NULL, OP_PLAIN},
    {"bitwise_or", NULL, OP_PLAIN},
    {"bitwise_right_shift", NULL, OP_PLAIN},
    {"bitwise_xor", NULL, OP_PLAIN},
    {"broadcast_in_dim", NULL, OP_VIEWS},
    {"cat", NULL, OP_COPIES},
    {"chunk", NULL, OP_VIEWS},
    {"clamp_max", NULL, OP_PLAIN},
    {"clamp_min", NULL, OP_PLAIN},
    {"clone", "copy", OP_COPIES},
    {"constant_pad_nd", NULL, OP_PLAIN},
    {"contiguous", "copy", OP_COPIES},
    {"convert_element_type", "cast", OP_CASTS},
    {"convolution_backward", "convolution backward", OP_LARGE},
    {"copy", NULL, OP_COPIES},
    {"cross_entropy_loss", "cross_entropy", OP_LARGE},
    {"cudnn_batch_norm", "batch_norm", OP_LARGE},
    {"cudnn_batch_norm_backward", "batch_norm backward", OP_LARGE},
    {"cumprod", NULL, OP_REDUCES},
    {"cumsum", NULL, OP_REDUCES},
    {"dequantize_per_channel", NULL, OP_PLAIN},
    {"dequantize_per_tensor", NULL, OP_PLAIN},
    {"detach", NULL, OP_VIEWS},
    {"diagonal", NULL, OP_VIEWS},
    {"elu_backward", "elu backward", OP_PLAIN},
    {"embedding_backward", "embedding backward", OP_LARGE},
    {"embedding_bag", NULL, OP_LARGE},
    {"embedding_dense_backward", "embedding backward", OP_LARGE},
    {"empty_like", NULL, OP_PLAIN},
    {"expand", NULL, OP_VIEWS},
    {"expand_as", NULL, OP_VIEWS},
    {"fft_fft", NULL, OP_PLAIN},
    {"fill", NULL, OP_PLAIN},
    {"flatten", NULL, OP_VIEWS},
    {"flex_attention", NULL, OP_LARGE},
    {"flex_attention_backward", "flex_attention backward", OP_LARGE},
    {"float_power", NULL, OP_PLAIN},
    {"floor_divide", NULL, OP_PLAIN},
    {"foreach_map", NULL, OP_PLAIN},
    {"full_like", NULL, OP_PLAIN},
    {"gelu_backward", "gelu backward", OP_PLAIN},
    {"glu_backward", "glu backward", OP_PLAIN},
    {"greater_equal", NULL, OP_PLAIN},
    {"grid_sampler", NULL, OP_LARGE},
    {"grid_sampler_2d", NULL, OP_LARGE},
    {"group_norm", NULL, OP_LARGE},
    {"hardsigmoid_backward", "hardsigmoid backward", OP_PLAIN},
    {"hardswish_backward", "hardswish backward", OP_PLAIN},
    {"hardtanh_backward", "hardtanh backward", OP_PLAIN},
    {"huber_loss", NULL, OP_PLAIN},
    {"huber_loss_backward", "huber_loss backward", OP_PLAIN},
    {"index_add", NULL, OP_LARGE},
    {"index_copy", NULL, OP_LARGE},
    {"index_put", NULL, OP_LARGE},
    {"index_select", NULL, OP_LARGE},
    {"inductor_lookup_seed", "random", OP_PLAIN},
    {"inductor_randint", "random", OP_PLAIN},
    {"inductor_random", "random", OP_PLAIN},
    {"inductor_seeds", "random", OP_PLAIN},
    {"instance_norm", NULL, OP_LARGE},
    {"kl_div", NULL, OP_PLAIN},
    {"l1_loss", NULL, OP_PLAIN},
    {"layer_norm", NULL, OP_LARGE},
    {"leaky_relu", NULL, OP_PLAIN},
    {"leaky_relu_backward", "leaky_relu backward", OP_PLAIN},
    {"less_equal", NULL, OP_PLAIN},
    {"lift_fresh", NULL, OP_VIEWS},
    {"lift_fresh_copy", "copy", OP_COPIES},
    {"linalg_vector_norm", "vector_norm", OP_LARGE},
    {"log_sigmoid_backward", "log_sigmoid backward", OP_PLAIN},
    {"log_sigmoid_forward", "log_sigmoid", OP_PLAIN},
    {"log_softmax", NULL, OP_LARGE},
    {"logcumsumexp", NULL, OP_REDUCES},
    {"logical_and", NULL, OP_PLAIN},
    {"logical_not", NULL, OP_PLAIN},
    {"logical_or", NULL, OP_PLAIN},
    {"logical_xor", NULL, OP_PLAIN},
    {"logsumexp", NULL, OP_REDUCES},
    {"masked_fill", NULL, OP_PLAIN},
    {"masked_scatter", NULL, OP_LARGE},
    {"max", NULL, OP_REDUCES},
    {"max_pool2d_with_indices", "max_pool2d", OP_LARGE},
    {"max_pool2d_with_indices_backward", "max_pool2d backward", OP_LARGE},
    {"mean", NULL, OP_REDUCES},
    {"min", NULL, OP_REDUCES},
    {"mish_backward", "mish backward", OP_PLAIN},
    {"movedim", NULL, OP_VIEWS},
    {"mse_loss", NULL, OP_PLAIN},
    {"mse_loss_backward", "mse_loss backward", OP_PLAIN},
    {"nan_to_num", NULL, OP_PLAIN},
    {"narrow", NULL, OP_VIEWS},
    {"native_batch_norm", "batch_norm", OP_LARGE},
    {"native_batch_norm_backward", "batch_norm backward", OP_LARGE},
    {"native_dropout", "dropout", OP_PLAIN},
    {"native_dropout_backward", "native_dropout backward", OP_PLAIN},
    {"native_group_norm", "group_norm", OP_LARGE},
    {"native_group_norm_backward", "group_norm backward", OP_LARGE},
    {"native_layer_norm", "layer_norm", OP_LARGE},
    {"native_layer_norm_backward", "layer_norm backward", OP_LARGE},
    {"new_full", NULL, OP_PLAIN},
    {"new_ones", NULL, OP_PLAIN},
    {"new_zeros", NULL, OP_PLAIN},
    {"nll_loss2d_forward", "nll_loss", OP_LARGE},
    {"nll_loss_backward", "nll_loss backward", OP_LARGE},
    {"nll_loss_forward", "nll_loss", OP_LARGE},
    {"not_equal", NULL, OP_PLAIN},
    {"numpy_T", NULL, OP_VIEWS},
    {"one_hot", NULL, OP_PLAIN},
    {"ones_like", NULL, OP_PLAIN},
    {"permute", NULL, OP_VIEWS},
    {"pixel_shuffle", NULL, OP_PLAIN},
    {"pixel_unshuffle", NULL, OP_PLAIN},
    {"prepare_softmax_online", "softmax", OP_LARGE},
    {"prod", NULL, OP_REDUCES},
    {"quantize_per_channel", NULL, OP_PLAIN},
    {"quantize_per_tensor", NULL, OP_PLAIN},
    {"rand_like", NULL, OP_PLAIN},
    {"randn_like", NULL, OP_PLAIN},
    {"reflection_pad1d", NULL, OP_PLAIN},
    {"reflection_pad2d", NULL, OP_PLAIN},
    {"repeat_interleave", NULL, OP_PLAIN},
    {"replication_pad2d", NULL, OP_PLAIN},
    {"replication_pad3d", NULL, OP_PLAIN},
    {"reshape", NULL, OP_VIEWS},
    {"rms_norm", NULL, OP_LARGE},
    {"scalar_tensor", NULL, OP_PLAIN},
    {"scaled_dot_product_attention", "attention", OP_LARGE},
    {"scatter_add", NULL, OP_LARGE},
    {"scatter_reduce", NULL, OP_LARGE},
    {"select", NULL, OP_VIEWS},
    {"select_backward", "select backward", OP_PLAIN},
    {"select_scatter", NULL, OP_PLAIN},
    {"sigmoid_backward", "sigmoid backward", OP_PLAIN},
    {"silu_backward", "silu backward", OP_PLAIN},
    {"slice", NULL, OP_VIEWS},
    {"slice_backward", "slice backward", OP_PLAIN},
    {"slice_scatter", NULL, OP_PLAIN},
    {"smooth_l1_loss", NULL, OP_PLAIN},
    {"smooth_l1_loss_backward", "smooth_l1_loss backward", OP_PLAIN},
    {"softplus_backward", "softplus backward", OP_PLAIN},
    {"sort", NULL, OP_REDUCES},
    {"split", NULL, OP_VIEWS},
    {"split_with_sizes", NULL, OP_VIEWS},
    {"squeeze", NULL, OP_VIEWS},
    {"stack", NULL, OP_COPIES},
    {"std", NULL, OP_REDUCES},
    {"std_mean", NULL, OP_REDUCES},
    {"sum", NULL, OP_REDUCES},
    {"sum_to_size", "sum", OP_REDUCES},
    {"swapaxes", NULL, OP_VIEWS},
    {"t", NULL, OP_VIEWS},
    {"take_along_dim", NULL, OP_PLAIN},
    {"tanh_backward", "tanh backward", OP_PLAIN},
    {"threshold_backward", "threshold backward", OP_PLAIN},
    {"to", "cast", OP_CASTS},
    {"topk", NULL, OP_REDUCES},
    {"transpose", NULL, OP_VIEWS},
    {"tril_indices", NULL, OP_PLAIN},
    {"triu_indices", NULL, OP_PLAIN},
    {"true_divide", NULL, OP_PLAIN},
    {"type_as", "cast", OP_CASTS},
    {"unbind", NULL, OP_VIEWS},
    {"unflatten", NULL, OP_VIEWS},
    {"unfold", NULL, OP_VIEWS},
    {"unsafe_split", NULL, OP_VIEWS},
    {"unsqueeze", NULL, OP_VIEWS},
    {"upsample_bicubic2d", NULL, OP_LARGE},
    {"upsample_bilinear2d", NULL, OP_LARGE},
    {"upsample_bilinear2d_backward", "upsample_bilinear2d backward", OP_LARGE},
    {"upsample_linear1d", NULL, OP_LARGE},
    {"upsample_nearest1d", NULL, OP_LARGE},
    {"upsample_nearest2d", NULL, OP_LARGE},
    {"upsample_nearest2d_backward", "upsample_nearest2d backward", OP_LARGE},
    {"upsample_nearest3d", NULL, OP_LARGE},
    {"upsample_trilinear3d", NULL, OP_LARGE},
    {"var", NULL, OP_REDUCES},
    {"var_mean", NULL, OP_REDUCES},
    {"view", NULL, OP_VIEWS},
    {"view_as_complex", NULL, OP_VIEWS},
    {"view_as_real", NULL, OP_VIEWS},
    {"zeros_like", NULL, OP_PLAIN},
};

enum { MOST_OPS = 32, PREFIX_END = 7 /* of "_fused_" */ };

/* The operators of one kernel, each once. */
struct fused_list {
    struct str words[MOST_OPS];
    enum fused_kind kinds[MOST_OPS];
    int n;
};

static void fused_ops_add(struct fused_list *l, struct str word, enum fused_kind kind)
{
    for (int i = 0; i < l->n; i++)
        if (str_cmp(l->words[i], word) == 0) return;
    if (l->n == MOST_OPS || !word.n) return;
    l->words[l->n] = word;
    l->kinds[l->n++] = kind;
}

/* The longest known operator that `text` begins with, up to a border; NULL for none. */
static const struct fused_op *fused_ops_known(struct str text)
{
    const struct fused_op *best = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].name);
        if (!str_starts(text, known[i].name) || (text.n > n && text.p[n] != '_')) continue;
        if (!best || n > strlen(best->name)) best = &known[i];
    }
    return best;
}

static void fused_ops_add_known(struct fused_list *l, const struct fused_op *op)
{
    fused_ops_add(l, str_c(op->word ? op->word : op->name), op->kind);
}

/* "to_copy_add": takes one operator and the sign behind it; one that begins with the sign has two
 * of them before it. */
static size_t fused_ops_take(struct fused_list *l, struct str text)
{
    const struct fused_op *op = fused_ops_known(text);
    size_t n = op ? strlen(op->name) : 0;
    if (op) {
        fused_ops_add_known(l, op);
    } else {
        while (n < text.n && (n == 0 || text.p[n] != '_')) n++;
        if (text.p[0] != '_') fused_ops_add(l, str_from(text.p, n), OP_PLAIN);
        else n = 1; /* a sign too many */
    }
    return n < text.n && text.p[n] == '_' ? n + 1 : n;
}

/* "triton_red" and "0" of triton_red_fused_..._0, and what stands between them. */
static bool fused_ops_split(struct str kernel, struct str *ret_kind, struct str *ret_ops,
                            struct str *ret_number)
{
    long at = str_find(kernel, "_fused_");
    bool made = torch_is_inductor(kernel) || str_starts(kernel, "cpp_fused_");
    if (at <= 0 || !made) return false;
    *ret_kind = str_from(kernel.p, (size_t)at);
    size_t begin = (size_t)at + PREFIX_END, end = kernel.n;
    while (end > begin && isdigit((unsigned char)kernel.p[end - 1])) end--;
    *ret_number = str_from(kernel.p + end, kernel.n - end);
    if (!ret_number->n || end <= begin || kernel.p[end - 1] != '_') return false;
    *ret_ops = str_from(kernel.p + begin, end - 1 - begin);
    return ret_ops->n > 0;
}

static void fused_ops_print_kind(const struct fused_list *l, int kind, bool views, bool *any,
                                 struct buf *out)
{
    for (int i = 0; i < l->n; i++) {
        if (kind >= 0 && l->kinds[i] != (enum fused_kind)kind) continue;
        if (l->kinds[i] == OP_VIEWS && !views) continue;
        if (*any) buf_adds(out, " + ");
        buf_add_str(out, l->words[i]);
        *any = true;
    }
}

static bool fused_ops_print(const struct fused_list *l, bool sorted, struct buf *out)
{
    bool views = true, any = false;
    for (int i = 0; i < l->n; i++) views &= l->kinds[i] == OP_VIEWS;
    if (sorted)
        for (int k = 0; k < FUSED_KINDS; k++) fused_ops_print_kind(l, k, views, &any, out);
    else fused_ops_print_kind(l, -1, views, &any, out);
    return any;
}

bool fused_ops_of_name(struct str kernel, struct buf *out)
{
    struct fused_list l = {.n = 0};
    struct str kind, ops, number;
    if (!fused_ops_split(kernel, &kind, &ops, &number)) return false;
    while (ops.n) {
        size_t n = fused_ops_take(&l, ops);
        ops = str_from(ops.p + n, ops.n - n);
    }
    return fused_ops_print(&l, true, out);
}

bool fused_ops_short(struct str kernel, struct buf *out)
{
    struct str kind, ops, number;
    if (!fused_ops_split(kernel, &kind, &ops, &number) || !fused_ops_of_name(kernel, out))
        return false;
    buf_printf(out, " (" STR_FMT "_" STR_FMT ")", STR_ARG(kind), STR_ARG(number));
    return true;
}

bool fused_ops_of_list(struct str list, struct buf *out)
{
    struct fused_list l = {.n = 0};
    for (size_t i = 0, n; i < list.n; i += n) {
        while (i < list.n && (list.p[i] == ' ' || list.p[i] == ',')) i++;
        for (n = 0; i + n < list.n && list.p[i + n] != ',';) n++;
        struct str op = str_from(list.p + i, n);
        long dot = str_find(op, ".");
        if (dot <= 0) return false;
        op = str_from(op.p + dot + 1, op.n - (size_t)dot - 1);
        const struct fused_op *found = fused_ops_known(op);
        if (found && strlen(found->name) == op.n) fused_ops_add_known(&l, found);
        else fused_ops_add(&l, op, OP_PLAIN);
    }
    return fused_ops_print(&l, false, out);
}
