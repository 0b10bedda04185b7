/* op_work.c: see op_work.h. Sizes are doubles: shapes come from a file, and a product of them may
 * be anything. */
#include "analyze/ops/op_work.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/names/shapes.h"
#include "analyze/ops/ops_constants.h"

enum { MOST_INPUTS = 24 };

struct input {
    struct shape shape;
    enum number_type type;
    double n, bytes;
    int arg;
};

struct inputs {
    struct str name, dims, types, concrete;
    struct input all[MOST_INPUTS]; /* tensors only, in order */
    int n;
};

/* The tensor at place `arg` of the operator's signature, or NULL. */
static const struct input *op_work_at(const struct inputs *in, int arg)
{
    for (int i = 0; i < in->n; i++)
        if (in->all[i].arg == arg) return &in->all[i];
    return NULL;
}

static void read_inputs(struct str name, const struct str inputs[3], struct inputs *in)
{
    in->name = name;
    in->dims = inputs[0];
    in->types = inputs[1];
    in->concrete = inputs[2];
    in->n = 0;
    for (int i = 0; i < MOST_INPUTS; i++) {
        struct input *x = &in->all[in->n];
        if (!shape_is_tensor(in->types, in->dims, i) || !shape_read(in->dims, i, &x->shape))
            continue;
        struct str type = shape_text(in->types, i);
        x->type = type.p ? number_type_of(type) : NUMBER_UNKNOWN;
        x->n = shape_elements(&x->shape);
        x->bytes = x->n * number_bytes(x->type);
        x->arg = i;
        in->n++;
    }
}

static double last_dim(const struct shape *s, int from_end)
{
    int64_t d = s->rank >= from_end ? s->dim[s->rank - from_end] : 1;
    return d > 0 ? (double)d : 0;
}

/* a x b with a[.., m, k] and b[.., k, n], or b[n, k] as nn.Linear has it. */
static void op_work_product(const struct inputs *in, struct op_work *w)
{
    int first = w->kind.arity == 3 ? 1 : 0;
    const struct input *a = op_work_at(in, first), *b = op_work_at(in, first + 1);
    if (!a || !b || !a->shape.rank || !b->shape.rank) return;
    bool linear = str_is(in->name, "aten::linear");
    w->k = last_dim(&a->shape, 1);
    w->n = b->shape.rank == 1 ? 1 : last_dim(&b->shape, linear ? 2 : 1);
    double rows = w->k > 0 ? a->n / w->k : 0;
    w->batch = b->shape.rank > 2 && last_dim(&b->shape, 3) > 0 ? b->n / (w->k * w->n) : 1;
    if (!(w->batch >= 1)) w->batch = 1;
    w->m = rows / w->batch;
    w->flops = 2 * rows * w->n * w->k;
    w->elements = rows * w->n;
    w->type = a->type;
    w->read = a->bytes + b->bytes;
    if (first && op_work_at(in, 0)) w->read += op_work_at(in, 0)->bytes;
    w->written = w->elements * number_bytes(w->type);
}

/* Up to three whole numbers of a list such as "[1, 1]"; how many there are. */
static int whole_numbers(struct str text, int64_t ret[3])
{
    char copy[64];
    int n = 0;
    if (!text.p || text.n < 2 || text.n >= sizeof copy || text.p[0] != '[') return 0;
    memcpy(copy, text.p + 1, text.n - 2);
    copy[text.n - 2] = '\0';
    for (char *p = copy, *end; n < 3 && *p; p = end) {
        while (*p == ' ' || *p == ',') p++;
        ret[n] = strtoll(p, &end, 10);
        if (end == p) return 0;
        n++;
    }
    return n;
}

/* Where the arguments of a convolution stand. */
struct conv_args {
    const char *name;
    int stride, padding, dilation, transposed; /* -1: it has none */
};

static const struct conv_args conv_args[] = {
    {"aten::conv1d", 3, 4, 5, -1},
    {"aten::conv2d", 3, 4, 5, -1},
    {"aten::conv3d", 3, 4, 5, -1},
    {"aten::convolution", 3, 4, 5, 6},
    {"aten::_convolution", 3, 4, 5, 6},
    {"aten::cudnn_convolution", 3, 2, 4, -1},
    {"aten::miopen_convolution", 4, 3, 5, -1},
    {"aten::_conv_depthwise2d", 4, 5, 6, -1},
    {"aten::cudnn_convolution_relu", 3, 4, 5, -1},
    {"aten::cudnn_convolution_add_relu", 5, 6, 7, -1},
};

static const struct conv_args *args_of_conv(struct str name)
{
    for (size_t i = 0; i < sizeof conv_args / sizeof *conv_args; i++)
        if (str_is(name, conv_args[i].name)) return &conv_args[i];
    return NULL;
}

static int64_t nth_or(const int64_t v[3], int n, int i, int64_t other)
{
    return n == 0 ? other : v[i < n ? i : n - 1];
}

/* Positions of the result in space, for one channel of one image. */
static double conv_positions(const struct inputs *in, const struct conv_args *args,
                             const struct shape *x, const struct shape *w)
{
    int64_t stride[3], padding[3], dilation[3];
    int n_stride = whole_numbers(shape_text(in->concrete, args->stride), stride);
    int n_padding = whole_numbers(shape_text(in->concrete, args->padding), padding);
    int n_dilation = whole_numbers(shape_text(in->concrete, args->dilation), dilation);
    double all = 1;
    for (int i = 2; i < x->rank && i < w->rank; i++) {
        double s = (double)nth_or(stride, n_stride, i - 2, 1);
        double p = (double)nth_or(padding, n_padding, i - 2, 0);
        double d = (double)nth_or(dilation, n_dilation, i - 2, 1);
        double room = (double)x->dim[i] + 2 * p - d * ((double)w->dim[i] - 1) - 1;
        if (!(s > 0) || room < 0) return 0;
        all *= floor(room / s) + 1;
    }
    return all;
}

static void conv_forward(const struct inputs *in, struct op_work *w)
{
    const struct input *x = op_work_at(in, 0), *f = op_work_at(in, 1);
    const struct conv_args *args = args_of_conv(in->name);
    if (!x || !f || !args || x->shape.rank < 3 || f->shape.rank != x->shape.rank) return;
    bool transposed =
        args->transposed >= 0 && str_is(shape_text(in->concrete, args->transposed), "True");
    double filters = (double)f->shape.dim[0];
    if (!(filters > 0)) return;
    w->elements = transposed ? x->n
                             : (double)x->shape.dim[0] * filters *
                                   conv_positions(in, args, &x->shape, &f->shape);
    w->flops = 2 * w->elements * f->n / filters;
    w->type = x->type;
    w->read = x->bytes + f->bytes;
    w->written = w->elements * number_bytes(x->type);
}

static void conv_backward(const struct inputs *in, struct op_work *w)
{
    const struct input *g = op_work_at(in, 0), *x = op_work_at(in, 1), *f = op_work_at(in, 2);
    if (!g || !x || !f || !f->shape.rank || f->shape.dim[0] <= 0) return;
    enum { TRANSPOSED = 7 };
    bool first_layer = str_has(in->concrete, "\"[False, True");
    bool transposed = str_is(shape_text(in->concrete, TRANSPOSED), "True");
    double gradients = first_layer ? 1 : 2; /* of the filters, and of the input */
    w->elements = x->n;
    w->flops = gradients * 2 * (transposed ? x->n : g->n) * f->n / (double)f->shape.dim[0];
    w->type = g->type;
    w->read = gradients * g->bytes + x->bytes + f->bytes;
    w->written = f->bytes + (first_layer ? 0 : x->bytes);
}

/* Layouts and places of the operators of fused attention. */
static const struct attention_args {
    const char *name;
    int q, mask, causal; /* -1: it has none */
    bool heads_last;
} attention_args[] = {
    {"aten::scaled_dot_product_attention", 0, 3, 5, false},
    {"aten::_scaled_dot_product_attention_math", 0, 3, 5, false},
    {"aten::_scaled_dot_product_flash_attention", 0, -1, 4, false},
    {"aten::_scaled_dot_product_efficient_attention", 0, 3, 6, false},
    {"aten::_scaled_dot_product_cudnn_attention", 0, 3, 6, false},
    {"aten::_flash_attention_forward", 0, -1, 8, true},
    {"aten::_efficient_attention_forward", 0, 3, 9, true},
    {"aten::_cudnn_attention_forward", 0, 3, 10, false},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, -1, 11, false},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, 4, 11, false},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, 8, 14, false},
    {"aten::_flash_attention_backward", 1, -1, 11, true},
    {"aten::_efficient_attention_backward", 1, 4, 13, true},
    {"aten::_cudnn_attention_backward", 1, 8, 14, false},
};

static void op_work_attention(const struct inputs *in, struct op_work *w)
{
    const struct attention_args *a = attention_args, *end = a + sizeof attention_args / sizeof *a;
    while (a < end && !str_is(in->name, a->name)) a++;
    const struct input *q = a < end ? op_work_at(in, a->q) : NULL,
                       *k = q ? op_work_at(in, a->q + 1) : NULL;
    const struct input *v = k ? op_work_at(in, a->q + 2) : NULL;
    if (!v || q->shape.rank != 4 || k->shape.rank != 4) return;
    struct str causal = shape_text(in->concrete, a->causal);
    double keys = (double)k->shape.dim[a->heads_last ? 1 : 2];
    w->causal = causal.p && (str_is(causal, "True") || str_is(causal, "1"));
    w->masked = a->mask >= 0 && op_work_at(in, a->mask);
    w->flops = 4 * q->n * keys * (w->causal ? 0.5 : 1) *
               (w->kind.backward ? op_work_attention_backward_times : 1);
    w->type = q->type;
    w->elements = q->n;
    w->k = last_dim(&q->shape, 1);
    w->n = keys;
    w->read = (q->bytes + k->bytes + v->bytes) * (w->kind.backward ? 2 : 1);
    w->written = q->bytes + (w->kind.backward ? k->bytes + v->bytes : 0);
    if (w->masked) w->read += op_work_at(in, a->mask)->bytes;
}

/* Elements of what comes out when tensors of these shapes are joined element by element. */
static double op_work_broadcast(const struct inputs *in, int n)
{
    double all = 1;
    for (int back = 1; back <= SHAPE_RANK; back++) {
        double most = 1;
        bool any = false;
        for (int i = 0; i < n; i++) {
            const struct shape *s = &in->all[i].shape;
            if (s->rank < back) continue;
            any = true;
            double d = last_dim(s, back);
            if (d > most || d == 0) most = d;
        }
        if (!any) break;
        all *= most;
    }
    return all;
}

/* Reads `arity` tensors and writes one, which stands after them, in the place of the first, or
 * nowhere. */
static void op_work_joined(const struct inputs *in, struct op_work *w)
{
    int reads = w->kind.arity < in->n ? w->kind.arity : in->n;
    if (!reads) return;
    const struct input *out = in->n > reads ? &in->all[in->n - 1] : NULL;
    if (out && out->shape.rank == 0) out = NULL;
    w->type = in->all[0].type;
    for (int i = 0; i < reads; i++) {
        w->read += in->all[i].bytes;
        bool wider = number_bytes(in->all[i].type) > number_bytes(w->type);
        if (w->type == NUMBER_BOOL || (wider && in->all[i].n > 1)) w->type = in->all[i].type;
    }
    w->elements = out ? out->n : w->kind.in_place ? in->all[0].n : op_work_broadcast(in, reads);
    enum number_type to = out                ? out->type
                          : w->kind.to_bool  ? NUMBER_BOOL
                          : w->kind.in_place ? in->all[0].type
                                             : w->type;
    w->written = w->elements * number_bytes(to);
}

static void op_work_reduction(const struct inputs *in, struct op_work *w)
{
    if (!in->n) return;
    w->type = in->all[0].type;
    w->elements = in->all[0].n;
    w->read = in->all[0].bytes;
}

/* Batch norms that train first read everything for its mean, then again. */
static bool goes_twice(const struct inputs *in, const struct op_work *w)
{
    enum { TRAINING = 5 };
    if (!str_has(in->name, "batch_norm")) return false;
    return w->kind.backward || str_is(shape_text(in->concrete, TRAINING), "True");
}

/* Norms and softmax: as large out as in. */
static void op_work_same_size(const struct inputs *in, struct op_work *w)
{
    int reads = w->kind.arity < in->n ? w->kind.arity : in->n;
    for (int i = 0; i < reads; i++) w->read += in->all[i].bytes;
    if (!reads) return;
    w->type = in->all[0].type;
    w->elements = in->all[0].n;
    w->written = in->all[0].bytes;
    if (goes_twice(in, w)) w->read *= 2;
}

static void op_work_copied(const struct inputs *in, struct op_work *w)
{
    const struct input *to = w->kind.in_place ? op_work_at(in, 0) : NULL;
    const struct input *from = op_work_at(in, w->kind.in_place ? 1 : 0);
    if (!from) return;
    w->from = from->type;
    w->type = to ? to->type : from->type;
    w->elements = to ? to->n : from->n;
    w->read = from->bytes;
    w->written = w->elements * number_bytes(w->type);
}

static void op_work_filled(const struct inputs *in, struct op_work *w)
{
    if (!in->n) return;
    w->type = in->all[0].type;
    w->elements = in->all[0].n;
    w->written = in->all[0].bytes;
}

/* Lists of tensors have no types. */
static void op_work_listed(const struct inputs *in, struct op_work *w)
{
    double all, largest, sum = 0;
    for (int i = 0; i < MOST_INPUTS; i++) {
        if (!shape_list(in->dims, i, &all, &largest)) continue;
        sum += all;
        if (all > w->elements) w->elements = all;
        if (largest > w->largest_in_list) w->largest_in_list = largest;
    }
    w->untyped = sum + w->elements;
    w->type = in->n ? in->all[0].type : NUMBER_UNKNOWN;
}

/* Operators that touch a part of their inputs, which only their indices know. */
static bool op_work_picks(struct str name)
{
    static const char *const words[] = {"index",  "gather", "scatter", "embedding",
                                        "select", "topk",   "sort"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) found |= str_has(name, words[i]);
    return found && str_starts(name, "aten::");
}

/* Without a formula: what goes in is read, and as much as its largest input is written. A compiled
 * kernel is given what it writes as well. */
static void op_work_guessed(const struct inputs *in, struct op_work *w)
{
    double each = 0;
    if (op_work_picks(in->name)) return;
    for (int i = 0; i < in->n; i++) {
        if (in->all[i].type == NUMBER_UNKNOWN) continue;
        w->read += in->all[i].bytes;
        if (w->type == NUMBER_UNKNOWN) w->type = in->all[i].type;
        if (in->all[i].n > w->elements) w->elements = in->all[i].n, each = in->all[i].bytes;
    }
    w->loose = w->kind.class != OP_COMPILED;
    if (w->loose) w->written = each;
}

static void op_work_fill(const struct inputs *in, struct op_work *w)
{
    if (w->kind.lists || w->kind.class == OP_CAT) {
        op_work_listed(in, w);
        return;
    }
    switch (w->kind.class) {
    case OP_PRODUCT: op_work_product(in, w); break;
    case OP_CONVOLUTION:
        if (w->kind.backward) conv_backward(in, w);
        else conv_forward(in, w);
        break;
    case OP_ATTENTION: op_work_attention(in, w); break;
    case OP_POINTWISE: op_work_joined(in, w); break;
    case OP_REDUCTION: op_work_reduction(in, w); break;
    case OP_SOFTMAX:
    case OP_NORM: op_work_same_size(in, w); break;
    case OP_COPY: op_work_copied(in, w); break;
    case OP_FILL: op_work_filled(in, w); break;
    case OP_CAT:
    case OP_COMPILED:
    case OP_OTHER: op_work_guessed(in, w); break;
    }
}

void op_work_named(struct str name, const struct str inputs[3], struct op_work *ret)
{
    struct inputs in;
    *ret = (struct op_work){.kind = op_kind_of(name)};
    read_inputs(name, inputs, &in);
    op_work_fill(&in, ret);
}

bool op_work_of(const struct trace *t, row_t op, struct op_work *ret)
{
    const struct op_info *info = trace_op(t, op);
    *ret = (struct op_work){.kind = op_kind_of(trace_name(t, op))};
    if (!info || info->dims == STR_NONE) return false;
    struct str none = str_c("");
    struct str inputs[3] = {trace_str(t, info->dims),
                            info->types == STR_NONE ? none : trace_str(t, info->types),
                            info->concrete == STR_NONE ? none : trace_str(t, info->concrete)};
    op_work_named(trace_name(t, op), inputs, ret);
    return true;
}
