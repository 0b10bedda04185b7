/* unfused_chain.c: runs of elementwise kernels, norms, reductions and copies on the same tensors,
 * each of which reads what the one before has written. One fused kernel reads the inputs and writes
 * the result once.
 *
 * Which tensors they are is not recorded. Of what a run reads, everything that it writes but its
 * last result is its own; what remains are its inputs, each of them read a few times. */
#include <math.h>
#include <stdio.h>

#include "analyze/rules/kernel_fix.h"
#include "base/human.h"

/* Shorter kernels wait for launches, not for memory. */
#define LEAST_KERNEL_NS 8000
#define LEAST_RUN_NS    20000
/* Two in a row are how eager code is: a residual and its norm. What a compiler gains there it may
 * lose elsewhere. */
#define LEAST_RUN_KERNELS 3
/* What a fused kernel must save. */
#define LEAST_CUT 0.8
/* How often a run reads each of its inputs, and after how many kernels it has another result. */
#define READS_EACH  3.0
#define RESULT_EACH 12
/* ... where it holds norms or moves data around: those join tensors of their own. */
#define JOINED_EACH 4
/* What fused kernels reach of the memory's rate: alone, and with a reduction inside. */
#define POINTWISE_REACHES 0.85
#define REDUCING_REACHES  0.6
/* A thread block keeps this much on the chip. Where what it reduces is larger, one kernel cannot
 * reduce it and go on: the tensor is written, and read again after every such reduction. */
#define BLOCK_KEEPS (256 << 10)
/* A GPU at its power limit rests in memory-bound kernels: without them tensor cores, where they do
 * all the work, give back this share of the time as a lower clock. */
#define GIVE_BACK 0.3
/* Kernels on much less than the run's largest tensor do not count for its traffic. */
#define SMALL 8.0
/* A tensor this many times as large begins another run. */
#define GROWS 2.1

struct run_of {
    row_t begin, end;   /* rows of the stream, end not included */
    uint32_t n;         /* kernels that count */
    uint32_t n_compute; /* of them, more than copies and fills */
    double elements;    /* of the largest tensor */
    double read, written, last_written;
    double instructions; /* of all elements */
    double again;        /* bytes that a fused run moves between its kernels */
    row_t last_split;    /* the operator of the last reduction that splits the run */
    int64_t ns, longest_ns;
    row_t longest;
    bool reduces, joins;
    uint32_t step; /* in which it was launched */
};

struct found {
    struct kernel_fix fix;
    double tensor_share;
    uint32_t n_runs;
    int64_t best_saved_ns;
    struct run_of best;
    double best_ns;
};

static bool in_optimizer(const struct trace *t, row_t r)
{
    row_t call = trace_launch_of(t, r);
    for (row_t at = call == ROW_NONE ? ROW_NONE : t->parent[call]; at != ROW_NONE;
         at = t->parent[at])
        if (t->kind[at] == KIND_ANNOTATION && str_starts(trace_name(t, at), "Optimizer."))
            return true;
    return false;
}

static bool reduces(const struct roof_kind *k)
{
    enum op_class c = k->work.kind.class;
    return c == OP_REDUCTION || c == OP_SOFTMAX || c == OP_NORM || k->family == FAMILY_NORM ||
           k->family == FAMILY_REDUCTION;
}

/* Norms over a whole batch need all of it before they can go on. */
static bool across_batch(const struct trace *t, row_t r)
{
    struct str name = trace_name(t, r);
    return str_has(name, "batch_norm") || str_has(name, "bn_fw") || str_has(name, "bn_bw");
}

/* Work that a compiler fuses, done by a kernel of its own. */
static bool is_fusible(const struct context *cx, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (cx->t->kind[r] == KIND_MEMSET) return true;
    if (cx->t->kind[r] != KIND_KERNEL || k->traits.many_tensors || k->helper) return false;
    switch (k->work.kind.class) {
    case OP_POINTWISE:
    case OP_REDUCTION:
    case OP_SOFTMAX:
    case OP_NORM:
    case OP_COPY:
    case OP_FILL:
    case OP_CAT: break;
    case OP_OTHER:
        if (k->traits.library || k->family == FAMILY_NORM || k->traits.softmax ||
            str_has(trace_name(cx->t, r), "reduce_kernel"))
            break;
        return false;
    default: return false;
    }
    return k->family != FAMILY_TRITON && !across_batch(cx->t, r) && !in_optimizer(cx->t, r);
}

static bool moves_only(const struct roof_kind *k)
{
    enum op_class c = k->work.kind.class;
    return c == OP_COPY || c == OP_FILL || c == OP_CAT;
}

static double instructions(const struct roof_kind *k)
{
    enum op_class c = k->work.kind.class;
    if (k->work.kind.instructions) return k->work.kind.instructions;
    return c == OP_SOFTMAX          ? 20
           : c == OP_NORM           ? 16
           : c == OP_REDUCTION      ? 4
           : k->traits.instructions ? k->traits.instructions
                                    : 2;
}

/* Whether a block of this kernel reduces more than it can keep. */
static bool splits_run(const struct context *cx, row_t r, const struct roof_kind *k)
{
    const struct gpu_info *g = trace_gpu(cx->t, r);
    if (!g || !reduces(k)) return false;
    double blocks = (double)g->grid[0] * g->grid[1] * g->grid[2];
    return blocks > 0 && k->bytes / blocks > BLOCK_KEEPS;
}

static void split(const struct context *cx, row_t r, const struct roof_kind *k, struct run_of *x)
{
    row_t op = roofline_owner(roofline_of(cx), cx->t, r);
    if (!splits_run(cx, r, k) || (op != ROW_NONE && op == x->last_split)) return;
    double tensor = k->work.read > 0 ? k->work.read : k->bytes / 2;
    x->again += x->again > 0 ? tensor : 2 * tensor;
    x->last_split = op;
}

/* No compiler fuses one step with the next. */
static uint32_t step_of(const struct context *cx, row_t r)
{
    row_t call = trace_launch_of(cx->t, r);
    return call == ROW_NONE ? UINT32_MAX : steps_at(steps_of(cx), cx->t->ts_ns[call]);
}

static void add(const struct context *cx, row_t r, struct run_of *x)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    int64_t ns = cx->t->dur_ns[r];
    x->step = step_of(cx, r);
    x->end = r + 1;
    x->ns += ns;
    if (!(k->work.elements * SMALL >= x->elements) || k->from == ROOF_UNKNOWN) return;
    if (k->work.elements > x->elements) x->elements = k->work.elements;
    double each = number_bytes(k->work.type ? k->work.type : k->traits.type);
    double share = roofline_row_bytes(roofline_of(cx), cx->t, r) / (k->bytes > 0 ? k->bytes : 1);
    double lists = k->work.untyped / 2 * each;
    x->n++;
    x->n_compute += !moves_only(k);
    x->read += (k->work.read + lists) * share;
    x->last_written = (k->work.written + lists) * share;
    x->written += x->last_written;
    x->instructions += instructions(k) * k->work.elements * share;
    x->reduces |= reduces(k);
    split(cx, r, k, x);
    x->joins |= k->work.kind.class == OP_NORM || k->work.kind.class == OP_CAT ||
                k->work.kind.class == OP_SOFTMAX;
    if (ns <= x->longest_ns) return;
    x->longest_ns = ns;
    x->longest = r;
}

/* Whether the run goes on with this kernel: it works on tensors of about the same size. */
static bool goes_on(const struct context *cx, const struct run_of *x, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (x->end > x->begin && step_of(cx, r) != x->step) return false;
    return x->n == 0 || k->from == ROOF_UNKNOWN || k->work.elements <= x->elements * GROWS;
}

/* Share of the kernels' time in which tensor cores work. */
static double tensor_share(const struct context *cx)
{
    const struct roofline *f = roofline_of(cx);
    double all = 0, tensor = 0;
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (cx->t->kind[r] != KIND_KERNEL) continue;
        const struct roof_kind *k = roofline_kind(f, cx->t, r);
        bool multiplies =
            k->family == FAMILY_GEMM || k->family == FAMILY_CONV || k->family == FAMILY_ATTENTION;
        all += (double)cx->t->dur_ns[r];
        if (multiplies && !k->traits.plain_float) tensor += (double)cx->t->dur_ns[r];
    }
    return all > 0 ? tensor / all : 0;
}

static double fused_ns(const struct context *cx, const struct run_of *x)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    double inputs = (x->read - (x->written - x->last_written)) / READS_EACH;
    double one = x->read / (x->n + 1);
    double results = x->last_written > 0 ? x->last_written : x->written / x->n;
    uint32_t more = x->n / (x->joins ? JOINED_EACH : RESULT_EACH);
    results *= 1 + more;
    double bytes = (inputs > one ? inputs : one) + results + x->again;
    double reaches = x->reduces ? REDUCING_REACHES : POINTWISE_REACHES;
    double memory = roofline_ns(c, PRECISIONS, 0, bytes) / reaches;
    double arithmetic = 2 * x->instructions / c->compute[FP32].per_s * 1e9;
    return memory > arithmetic || isnan(arithmetic) ? memory : arithmetic;
}

static int finish(const struct context *cx, const struct run_of *x, struct found *out,
                  struct err *e)
{
    if (x->n < LEAST_RUN_KERNELS || !x->n_compute || x->longest_ns < LEAST_KERNEL_NS ||
        x->ns < LEAST_RUN_NS)
        return 0;
    double ns = fused_ns(cx, x);
    if (ns < (double)x->ns) ns += GIVE_BACK * out->tensor_share * ((double)x->ns - ns);
    if (!(ns < LEAST_CUT * (double)x->ns)) return 0;
    for (row_t r = x->begin; r < x->end; r++)
        if (cx->t->kind[r] == KIND_KERNEL)
            TRY(kernel_fix_add(&out->fix, cx, r, r == x->longest ? ns : 0, e));
    out->n_runs++;
    int64_t saved = x->ns - kernel_whole(ns);
    if (saved <= out->best_saved_ns) return 0;
    out->best_saved_ns = saved;
    out->best = *x;
    out->best_ns = ns;
    return 0;
}

static int collect_lane(const struct context *cx, const struct lane *l, struct found *out,
                        struct err *e)
{
    struct run_of x = {.begin = l->begin, .end = l->begin, .last_split = ROW_NONE};
    for (row_t r = l->begin; r < l->end; r++) {
        bool fusible = trace_is_work(cx->t, r) && is_fusible(cx, r) &&
                       !kernel_is_claimed(out->fix.others, cx, r);
        if (fusible && goes_on(cx, &x, r)) {
            add(cx, r, &x);
            continue;
        }
        TRY(finish(cx, &x, out, e));
        row_t begin = fusible ? r : r + 1;
        x = (struct run_of){.begin = begin, .end = begin, .last_split = ROW_NONE};
        if (fusible) add(cx, r, &x);
    }
    return finish(cx, &x, out, e);
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}, .tensor_share = tensor_share(cx)};
    int rc = 0;
    for (lane_id l = 0; l < cx->t->n_lanes && rc == 0; l++)
        if (cx->t->lanes[l].kind == LANE_STREAM) rc = collect_lane(cx, &cx->t->lanes[l], &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_unfused_chain = {
    .id = "unfused_chain",
    .summary = "runs of memory-bound kernels that read and write the same tensors again",
    .run = run,
};

static uint32_t count_kernels(const struct trace *t, const struct run_of *x)
{
    uint32_t n = 0;
    for (row_t r = x->begin; r < x->end; r++) n += t->kind[r] == KIND_KERNEL;
    return n;
}

/* "mul, add, tanh ..." of the run that would save most. */
static const char *operators(const struct context *cx, const struct run_of *x)
{
    char text[160] = "";
    size_t n = 0;
    for (row_t r = x->begin; r < x->end && n < 90; r++) {
        row_t op =
            cx->t->kind[r] == KIND_KERNEL ? roofline_owner(roofline_of(cx), cx->t, r) : ROW_NONE;
        if (op == ROW_NONE) continue;
        struct str name = trace_name(cx->t, op);
        if (str_starts(name, "aten::")) name = str_from(name.p + 6, name.n - 6);
        char cut[40];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "",
                              human_cut(name, 24, cut, sizeof cut));
    }
    return n ? rule_text(cx, " (%s%s)", text, n >= 90 ? " ..." : "") : "";
}

static int report(const struct context *cx, const struct found *x, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_unfused_chain, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, out, f, e));
    f->title = "memory-bound kernels could be fused";
    f->effort = EFFORT_ONE_LINE;
    f->why = rule_text(
        cx,
        "%u kernels in %u runs read and write the same tensors one after the other "
        "(%s). The largest run has %u kernels%s and takes %s; one kernel would take about %s.",
        x->fix.n, x->n_runs, human_time(x->fix.before_ns).s, count_kernels(cx->t, &x->best),
        operators(cx, &x->best), human_time(x->best.ns).s, human_time(kernel_whole(x->best_ns)).s);
    bool cupy = str_starts(trace_name(cx->t, x->best.longest), "cupy_");
    f->fix = cupy ? "Fuse them into one kernel: use @cupy.fuse() on the function, or write a "
                    "cupy.ElementwiseKernel."
                  : "Use torch.compile on the module or function they are in, which fuses each run "
                    "into one kernel, "
                    "or use a fused operator (F.rms_norm, F.gelu, F.cross_entropy).";
    f->not_fixed =
        "The prediction assumes one kernel per run at the bandwidth this GPU reaches; compiling "
        "takes time once, and again for every new shape.";
    f->show = "kernels %s --by op";
    finding_note(f, cx->mem, cx->t->ts_ns[x->best.begin], x->best.begin,
                 "the largest run begins here");
    return 0;
}
