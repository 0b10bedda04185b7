/* repeated_conversion.c: a tensor that does not change is cast to another type, or copied into
 * another layout, in every step again: float32 weights under autocast, a table, a transposed
 * constant.
 *
 * Whose data a copy reads is not recorded. It cannot be data of the step when nothing since the
 * same copy before has made or brought a tensor of its type that is as large; weights are
 * recognized by their place in a layer. */
#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/shapes.h"
#include "analyze/names/torch_words.h"
#include "analyze/ops/op_strides.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* Shapes whose strides are read from the file, which takes a while. */
#define MOST_ASKED 64

/* What was made on the device, of one type: of two, the later one hides an earlier one that is not
 * larger. So elements fall from the bottom of the stack to its top. */
struct maker {
    uint32_t at; /* index into the work of the device */
    double elements;
};

struct makers {
    struct maker *stack;
    uint32_t n;
    size_t cap;
};

struct state {
    const struct context *cx;
    const struct device_line *d;
    struct makers of[NUMBER_TYPES];
    struct map last;   /* what -> index of the last such copy */
    uint8_t *settled;  /* by index: the copy is of something constant; 2: of a weight */
    uint8_t *expanded; /* by kind of kernel: 1 it is not, 2 it is, or may be */
    uint32_t n_asked;
    bool trained;
};

struct found {
    struct kernel_fix fix;
    uint32_t n_weights, n_casts;
    double bytes; /* read and written by all */
    enum number_type from, to;
    int64_t longest_ns;
};

static void makers_done(struct state *s)
{
    for (int i = 0; i < NUMBER_TYPES; i++) mem_free(s->of[i].stack);
    map_done(&s->last);
    mem_free(s->settled);
    mem_free(s->expanded);
}

static bool makers_init(struct state *s)
{
    map_init(&s->last);
    s->settled = mem_zalloc(s->d->n_work + (size_t)1, 1);
    s->expanded = mem_zalloc(roofline_of(s->cx)->n_kinds + (size_t)1, 1);
    return !s->settled || !s->expanded;
}

/* True when out of memory. */
static bool repeated_conversion_push(struct makers *m, uint32_t at, double elements)
{
    while (m->n && m->stack[m->n - 1].elements <= elements) m->n--;
    if (VEC_RESERVE(m->stack, m->n, m->cap, 1)) return true;
    m->stack[m->n++] = (struct maker){at, elements};
    return false;
}

/* The last one that made at least so many elements; UINT32_MAX when none did. */
static uint32_t last_maker(const struct makers *m, double elements)
{
    uint32_t i = 0;
    SEARCH_PAST(i, m->n, m->stack[i].elements >= elements);
    return i ? m->stack[i - 1].at : UINT32_MAX;
}

/* Remembers what the work may have made; of what is not known, as much as fits into its time. */
static bool note_made(struct state *s, uint32_t at)
{
    const struct trace *t = s->cx->t;
    row_t r = s->d->work[at];
    const struct roof_kind *k = roofline_kind(roofline_of(s->cx), t, r);
    double bytes = roofline_of(s->cx)->ceilings.memory.per_s / 1e9 * (double)t->dur_ns[r];
    bool known = k->from != ROOF_UNKNOWN && t->kind[r] == KIND_KERNEL;
    enum number_type type = k->work.type ? k->work.type : k->traits.type;
    bool typed = t->kind[r] == KIND_KERNEL && type && (known || k->family == FAMILY_GEMM);
    if (t->kind[r] == KIND_MEMCPY) bytes = kernel_copied_bytes(t, r);
    if (t->kind[r] == KIND_MEMSET || k->work.kind.class == OP_REDUCTION) return false;
    for (int i = 0; i < NUMBER_TYPES; i++) {
        if (typed && (int)type != i) continue;
        double each = number_bytes((enum number_type)i);
        if (repeated_conversion_push(&s->of[i], at,
                                     known      ? k->work.elements
                                     : each > 0 ? bytes / each
                                                : bytes))
            return true;
    }
    return false;
}

/* A cast, or a copy into another layout. */
static bool is_conversion(const struct context *cx, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (cx->t->kind[r] != KIND_KERNEL || cx->t->dur_ns[r] < repeated_conversion_ns) return false;
    if (k->work.kind.class == OP_COPY && k->from == ROOF_SHAPES)
        return k->work.from != k->work.type || k->traits.strided;
    struct str name = trace_name(cx->t, r);
    bool cast = str_has(name, "bfloat16_copy_kernel") || str_has(name, "float16_copy_kernel");
    return k->from == ROOF_NAME && k->work.kind.class == OP_OTHER && cast;
}

/* What it reads; a cast whose source is not recorded reads float32. */
static enum number_type source_type(const struct roof_kind *k)
{
    return k->work.kind.class == OP_COPY ? k->work.from : NUMBER_F32;
}

/* Whether a copy makes a small tensor large (expand and then contiguous): what it reads is not as
 * large as it looks. Strides stay in the file; where they cannot be read nothing is said. */
static bool is_expanded(struct state *s, row_t r)
{
    const struct roofline *f = roofline_of(s->cx);
    struct work_op by = work_op_of(s->cx, r);
    uint32_t kind = f->kind_of[roofline_slot(s->cx->t, r)];
    uint8_t *known = &s->expanded[kind];
    const struct roof_kind *k = &f->kinds[kind];
    if (k->from != ROOF_SHAPES) return false;
    if (!*known && s->n_asked++ < MOST_ASKED)
        *known = op_is_expanded(by.t, work_op_info(by) ? by.op : ROW_NONE) ? 2 : 1;
    return *known != 1;
}

/* Whether the tensor is the weight of the layer: its second input, as large. */
static bool is_weight_of(const struct trace *t, row_t op, double elements)
{
    const struct op_info *info = trace_op(t, op);
    struct str name = trace_name(t, op);
    struct shape w;
    bool conv = str_starts(name, "aten::conv"), linear = str_is(name, "aten::linear");
    if ((!conv && !linear && !str_is(name, "aten::matmul")) || !info || info->dims == STR_NONE)
        return false;
    struct str dims = trace_str(t, info->dims);
    if (shape_read(dims, 0, &w) && shape_elements(&w) == elements) return false;
    if (!shape_read(dims, 1, &w) || (!conv && w.rank != 2)) return false;
    bool bias = !str_is(name, "aten::matmul");
    if (shape_elements(&w) == elements) return true;
    return bias && shape_read(dims, 2, &w) && w.rank == 1 && shape_elements(&w) == elements;
}

static bool is_weight(const struct context *cx, row_t r)
{
    struct work_op by = work_op_of(cx, r);
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (k->from != ROOF_SHAPES || !by.same) return false;
    for (row_t op = by.op; op != ROW_NONE; op = by.t->parent[op])
        if (by.t->kind[op] == KIND_OP && is_weight_of(by.t, op, k->work.elements)) return true;
    return false;
}

/* Weights change from step to step where they are trained. */
static bool is_trained_in(const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_OP && t->kind[r] != KIND_ANNOTATION) continue;
        struct str name = trace_name(t, r);
        if (torch_is_optimizer_step(name) || str_starts(name, "autograd::engine")) return true;
    }
    return false;
}

static bool is_trained(const struct trace *t)
{
    return is_trained_in(t) || (t->deep && is_trained_in(t->deep));
}

/* A copy whose result is used by elementwise work right away is a part of that: fused with it, it
 * is for free. */
static bool is_part_of_run(const struct state *s, uint32_t at)
{
    const struct trace *t = s->cx->t;
    if (at + 1 >= s->d->n_work) return false;
    const struct roof_kind *k = roofline_kind(roofline_of(s->cx), t, s->d->work[at]);
    const struct roof_kind *next = roofline_kind(roofline_of(s->cx), t, s->d->work[at + 1]);
    enum op_class c = next->work.kind.class;
    bool memory = c == OP_POINTWISE || c == OP_REDUCTION || c == OP_NORM || c == OP_SOFTMAX ||
                  next->traits.library;
    return memory && next->work.elements == k->work.elements;
}

/* Constant since the same copy before: so it and that one read the same. */
static bool repeated_conversion_settle(struct state *s, uint32_t at)
{
    const struct trace *t = s->cx->t;
    const struct roofline *f = roofline_of(s->cx);
    row_t r = s->d->work[at];
    const struct roof_kind *k = roofline_kind(f, t, r);
    if (!s->trained && is_weight(s->cx, r)) s->settled[at] = 2;
    if (s->settled[at] != 2 && (is_part_of_run(s, at) || is_expanded(s, r))) return false;
    uint32_t *last = map_at(&s->last, (uint64_t)f->kind_of[roofline_slot(t, r)]);
    if (!last) return true;
    uint32_t made = last_maker(&s->of[source_type(k)], k->work.elements);
    if (*last != MAP_NONE && (made == UINT32_MAX || made <= *last)) {
        if (!s->settled[*last]) s->settled[*last] = 1;
        if (!s->settled[at]) s->settled[at] = 1;
    }
    *last = at;
    return false;
}

static int repeated_conversion_add(struct state *s, uint32_t at, struct found *x, struct err *e)
{
    row_t r = s->d->work[at];
    const struct roof_kind *k = roofline_kind(roofline_of(s->cx), s->cx->t, r);
    TRY(kernel_fix_add(&x->fix, s->cx, r, 0, e));
    x->n_weights += s->settled[at] == 2;
    x->n_casts += source_type(k) != k->work.type;
    x->bytes += roofline_row_bytes(roofline_of(s->cx), s->cx->t, r);
    if (s->cx->t->dur_ns[r] <= x->longest_ns) return 0;
    x->longest_ns = s->cx->t->dur_ns[r];
    x->from = source_type(k);
    x->to = k->work.type;
    return 0;
}

static int repeated_conversion_collect(struct state *s, struct found *x, struct err *e)
{
    if (makers_init(s)) return err_nomem(e);
    for (uint32_t i = 0; i < s->d->n_work; i++) {
        if (is_conversion(s->cx, s->d->work[i]) && repeated_conversion_settle(s, i))
            return err_nomem(e);
        if (note_made(s, i)) return err_nomem(e);
    }
    for (uint32_t i = 0; i < s->d->n_work; i++)
        if (s->settled[i]) TRY(repeated_conversion_add(s, i, x, e));
    return 0;
}

static int repeated_conversion_report(const struct context *cx, const struct found *x,
                                      struct findings *out, struct err *e);

static int repeated_conversion_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    bool trained = is_trained(cx->t);
    int rc = 0;
    for (uint32_t i = 0; i < timeline_of(cx)->n_devices && rc == 0; i++) {
        struct state s = {.cx = cx, .d = &timeline_of(cx)->devices[i], .trained = trained};
        rc = repeated_conversion_collect(&s, &x, e);
        makers_done(&s);
    }
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = repeated_conversion_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_repeated_conversion = {
    .id = "repeated_conversion",
    .summary = "a tensor that does not change is cast or copied in every step",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_conv_layout),
    .run = repeated_conversion_run,
};

static int repeated_conversion_report(const struct context *cx, const struct found *x,
                                      struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_repeated_conversion, e);
    if (!f) return ERR_NOMEM;
    static const char *const wrappers[] = {"aten::to",    "aten::_to_copy", "aten::contiguous",
                                           "aten::clone", "aten::copy_",    NULL};
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    TRY(kernel_fix_drop_ops(&x->fix, cx, wrappers, f, e));
    bool weights = 2 * x->n_weights > x->fix.n, casts = 2 * x->n_casts > x->fix.n;
    f->effort = weights ? EFFORT_ONE_LINE : EFFORT_LOCAL;
    f->title = weights ? "weights are cast again in every call"
               : casts ? "the same tensor is cast in every step"
                       : "a tensor changes its layout in every step";
    f->why =
        weights
            ? rule_text(cx,
                        "%s casts turn weights from %s into %s before the layers use them (%s, "
                        "%s moved): the weights do not change between calls.",
                        human_count(x->fix.n).s, number_type_name(x->from), number_type_name(x->to),
                        human_time(x->fix.before_ns).s, human_bytes(kernel_whole(x->bytes)).s)
            : rule_text(
                  cx,
                  "A tensor is %s %s times although nothing has written it since the last time "
                  "(%s, %s moved).",
                  casts ? "cast" : "made contiguous", human_count(x->fix.n).s,
                  human_time(x->fix.before_ns).s, human_bytes(kernel_whole(x->bytes)).s);
    f->fix =
        weights ? rule_text(cx,
                            "Keep the weights in %s: model.to(torch.bfloat16) (or half()) once, "
                            "instead of float32 weights under autocast.",
                            number_type_name(x->to))
        : casts ? "Do the cast once, before the loop, and keep the result."
                : "Make the copy (contiguous, transpose, permute) once, before the loop, and keep "
                  "the result.";
    f->not_fixed = "The result has to stay in memory between steps.";
    f->show = "kernels %s --filter copy";
    return 0;
}
