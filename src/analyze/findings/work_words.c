/* work_words.c: the table; each distinct name is examined once. */
#include "analyze/findings/work_words.h"

#include "analyze/kernels/work_op.h"

#define WORK_WORDS_READ (1u << 31)
#define WORK_WORDS_EACH 5

/* Names of operators and labels as they are, parts of the names of kernels. */
static const struct {
    const char *ops[WORK_WORDS_EACH], *kernels[WORK_WORDS_EACH];
} words[WORDS] = {
    [WORD_SORT] = {{"aten::sort", "aten::argsort", "aten::msort"},
                   {"RadixSort", "radixSort", "bitonicSort", "fill_reverse_indices"}},
    [WORD_SOFTMAX] = {{"aten::softmax", "aten::_softmax"},
                      {"SoftMaxForward", "softmax_warp_forward"}},
    [WORD_SCAN] = {{"aten::cumsum", "aten::_cumsum"}, {"kernel_scan_", "DeviceScan"}},
    [WORD_WEIGHT_NORM] = {{"aten::_weight_norm", "aten::_weight_norm_interface"},
                          {"weight_norm_fwd"}},
    [WORD_DEQUANTIZE] = {{"aten::dequantize", "bitsandbytes::dequantize_4bit",
                          "bitsandbytes::dequantize_blockwise"},
                         {"kDequantize", "dequantize_block", "awq_dequantize", "dequant_kernel"}},
    [WORD_VOLUME_COLUMN] = {{"aten::vol2col"}, {"vol2col"}},
    [WORD_IMAGE_COLUMN] = {{NULL}, {"im2col_kernel", "col2im_kernel"}},
    [WORD_BUCKET_COPY] = {{"torch.distributed.ddp.reducer::copy_bucket_to_grad"}, {NULL}},
    [WORD_EMBEDDING_GRADIENT] = {{"aten::embedding_dense_backward"},
                                 {"embedding_backward_", "compute_grad_weight"}},
    [WORD_ONE_HOT] = {{"aten::one_hot"}, {NULL}},
    [WORD_INVERSE] = {{"aten::linalg_inv", "aten::linalg_inv_ex", "aten::inverse"}, {NULL}},
    [WORD_LU_SOLVE] = {{"aten::linalg_lu_solve"}, {NULL}},
    [WORD_SCALE] = {{"aten::mul", "aten::mul_"}, {"AUnaryFunctor", "MulFunctor"}},
    [WORD_ADD] = {{"aten::add", "aten::add_"}, {"CUDAFunctor_add"}},
    [WORD_COMPARE] = {{"aten::isnan", "aten::ne"}, {"CompareEqFunctor"}},
    [WORD_ANY] = {{"aten::any", "aten::_is_any_true"}, {"or_kernel"}},
};

static uint32_t *work_words_table(const struct context *cx, const struct trace *t)
{
    return arena_zalloc(cx->mem, (t ? t->strings.n : 0) + (size_t)1, sizeof(uint32_t));
}

static uint32_t work_words_read(struct work_words *w, const struct trace *t, str_id id, bool kernel)
{
    uint32_t *known = t == w->cx->t ? &w->of_name[id] : &w->of_deep[id];
    if (*known & WORK_WORDS_READ) return *known;
    *known = WORK_WORDS_READ;
    struct str name = trace_str(t, id);
    for (int i = 0; i < WORDS; i++) {
        const char *const *of = kernel ? words[i].kernels : words[i].ops;
        for (int k = 0; k < WORK_WORDS_EACH && of[k]; k++)
            if (kernel ? str_has(name, of[k]) : str_is(name, of[k])) *known |= 1u << i;
    }
    return *known;
}

/* A parent precedes its children, so one pass is enough however deep they are nested. */
static uint32_t *work_words_rows(struct work_words *w, const struct trace *t)
{
    uint32_t *around = arena_zalloc(w->cx->mem, (t ? t->n_rows : 0) + (size_t)1, sizeof *around);
    for (row_t r = 0; around && t && r < t->n_rows; r++) {
        if (t->parent[r] != ROW_NONE) around[r] = around[t->parent[r]];
        if (t->kind[r] == KIND_OP || t->kind[r] == KIND_ANNOTATION)
            around[r] |= work_words_read(w, t, t->name[r], false);
    }
    return around;
}

int work_words_init(struct work_words *w, const struct context *cx, struct err *e)
{
    w->cx = cx;
    w->of_name = work_words_table(cx, cx->t);
    w->of_deep = work_words_table(cx, cx->t->deep);
    if (!w->of_name || !w->of_deep) return err_nomem(e);
    w->around = work_words_rows(w, cx->t);
    w->around_deep = work_words_rows(w, cx->t->deep);
    return w->around && w->around_deep ? 0 : err_nomem(e);
}

static uint32_t work_words_around(const struct work_words *w, const struct trace *t, row_t call)
{
    row_t outer = t->parent[call];
    if (outer == ROW_NONE) return 0;
    return t == w->cx->t ? w->around[outer] : w->around_deep[outer];
}

uint32_t work_words_of(struct work_words *w, const struct launched *x)
{
    const struct trace *t = w->cx->t;
    uint32_t mask = work_words_read(w, t, t->name[x->work], true);
    struct work_op by = work_op_of(w->cx, x->work);
    mask |= work_words_around(w, t, x->call);
    if (by.t != t) mask |= work_words_around(w, by.t, by.call);
    return mask & ~WORK_WORDS_READ;
}
