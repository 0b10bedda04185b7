/* unfused_chain.c: runs of elementwise kernels, norms, reductions and copies on the same tensors,
 * each of which reads what the one before has written. One fused kernel reads the inputs and writes
 * the result once.
 *
 * Which tensors they are is not recorded. Everything among what a run reads that it writes but its
 * last result is its own; what remains are its inputs, each of them read a few times. */
#include <math.h>
#include <stdio.h>

#include "analyze/findings/claims.h"
#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/torch_words.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

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

static bool unfused_chain_reduces(const struct roof_kind *k)
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
    return k->family != FAMILY_TRITON && !across_batch(cx->t, r) && !torch_in_optimizer(cx->t, r);
}

static bool moves_only(const struct roof_kind *k)
{
    enum op_class c = k->work.kind.class;
    return c == OP_COPY || c == OP_FILL || c == OP_CAT;
}

static double unfused_chain_instructions(const struct roof_kind *k)
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
    if (!g || !unfused_chain_reduces(k)) return false;
    double blocks = (double)g->grid[0] * g->grid[1] * g->grid[2];
    return blocks > 0 && k->bytes / blocks > unfused_chain_block_bytes;
}

static void unfused_chain_split(const struct context *cx, row_t r, const struct roof_kind *k,
                                struct run_of *x)
{
    row_t op = work_op_of(cx, r).op;
    if (!splits_run(cx, r, k) || (op != ROW_NONE && op == x->last_split)) return;
    double tensor = k->work.read > 0 ? k->work.read : k->bytes / 2;
    x->again += x->again > 0 ? tensor : 2 * tensor;
    x->last_split = op;
}

/* No compiler fuses one step with the next. */
static uint32_t unfused_chain_step_of(const struct context *cx, row_t r)
{
    row_t call = trace_launch_of(cx->t, r);
    return call == ROW_NONE ? UINT32_MAX : steps_at(steps_of(cx), cx->t->ts_ns[call]);
}

static void unfused_chain_add(const struct context *cx, row_t r, struct run_of *x)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    int64_t ns = cx->t->dur_ns[r];
    x->step = unfused_chain_step_of(cx, r);
    x->end = r + 1;
    x->ns += ns;
    if (!(k->work.elements * unfused_chain_small_times >= x->elements) || k->from == ROOF_UNKNOWN)
        return;
    if (k->work.elements > x->elements) x->elements = k->work.elements;
    double each = number_bytes(k->work.type ? k->work.type : k->traits.type);
    double share = roofline_row_bytes(roofline_of(cx), cx->t, r) / (k->bytes > 0 ? k->bytes : 1);
    double lists = k->work.untyped / 2 * each;
    x->n++;
    x->n_compute += !moves_only(k);
    x->read += (k->work.read + lists) * share;
    x->last_written = (k->work.written + lists) * share;
    x->written += x->last_written;
    x->instructions += unfused_chain_instructions(k) * k->work.elements * share;
    x->reduces |= unfused_chain_reduces(k);
    unfused_chain_split(cx, r, k, x);
    x->joins |= k->work.kind.class == OP_NORM || k->work.kind.class == OP_CAT ||
                k->work.kind.class == OP_SOFTMAX;
    if (ns <= x->longest_ns) return;
    x->longest_ns = ns;
    x->longest = r;
}

/* Whether the run goes on with this kernel: it works on tensors of about the same size. */
static bool unfused_chain_goes_on(const struct context *cx, const struct run_of *x, row_t r)
{
    const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
    if (x->end > x->begin && unfused_chain_step_of(cx, r) != x->step) return false;
    return x->n == 0 || k->from == ROOF_UNKNOWN ||
           k->work.elements <= x->elements * unfused_chain_grows_times;
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

static double unfused_chain_fused_ns(const struct context *cx, const struct run_of *x)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    double inputs = (x->read - (x->written - x->last_written)) / unfused_chain_reads_times;
    double one = x->read / (x->n + 1);
    double results = x->last_written > 0 ? x->last_written : x->written / x->n;
    uint32_t more = x->n / (x->joins ? unfused_chain_joined_kernels : unfused_chain_result_kernels);
    results *= 1 + more;
    double bytes = (inputs > one ? inputs : one) + results + x->again;
    double reaches = x->reduces ? unfused_chain_reducing_share : unfused_chain_pointwise_share;
    double memory = roofline_ns(c, PRECISIONS, 0, bytes) / reaches;
    double arithmetic = 2 * x->instructions / c->compute[FP32].per_s * 1e9;
    return memory > arithmetic || isnan(arithmetic) ? memory : arithmetic;
}

/* Whether it is one kernel again and again: a loop that times an operator, not a formula. */
static bool unfused_chain_is_one_kernel(const struct trace *t, const struct run_of *x)
{
    for (row_t r = x->begin; r < x->end; r++)
        if (t->name[r] != t->name[x->begin]) return false;
    return true;
}

static int unfused_chain_finish(const struct context *cx, const struct run_of *x, struct found *out,
                                struct err *e)
{
    if (x->n < unfused_chain_kernels || !x->n_compute || x->longest_ns < unfused_chain_kernel_ns ||
        x->ns < unfused_chain_run_ns || unfused_chain_is_one_kernel(cx->t, x))
        return 0;
    double ns = unfused_chain_fused_ns(cx, x);
    if (ns < (double)x->ns)
        ns += unfused_chain_give_back_share * out->tensor_share * ((double)x->ns - ns);
    if (!(ns < unfused_chain_cut_share * (double)x->ns)) return 0;
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

static int unfused_chain_collect_lane(const struct context *cx, const struct lane *l,
                                      struct found *out, struct err *e)
{
    struct run_of x = {.begin = l->begin, .end = l->begin, .last_split = ROW_NONE};
    for (row_t r = l->begin; r < l->end; r++) {
        bool fusible =
            trace_is_work(cx->t, r) && is_fusible(cx, r) && !claims_kernel(out->fix.others, cx, r);
        if (fusible && unfused_chain_goes_on(cx, &x, r)) {
            unfused_chain_add(cx, r, &x);
            continue;
        }
        TRY(unfused_chain_finish(cx, &x, out, e));
        row_t begin = fusible ? r : r + 1;
        x = (struct run_of){.begin = begin, .end = begin, .last_split = ROW_NONE};
        if (fusible) unfused_chain_add(cx, r, &x);
    }
    return unfused_chain_finish(cx, &x, out, e);
}

static int unfused_chain_report(const struct context *cx, const struct found *x,
                                struct findings *out, struct err *e);

static int unfused_chain_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}, .tensor_share = tensor_share(cx)};
    int rc = 0;
    for (lane_id l = 0; l < cx->t->n_lanes && rc == 0; l++)
        if (cx->t->lanes[l].kind == LANE_STREAM)
            rc = unfused_chain_collect_lane(cx, &cx->t->lanes[l], &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = unfused_chain_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_unfused_chain = {
    .id = "unfused_chain",
    .summary = "chains of memory-bound kernels that read and write the same tensors again",
    .limit = LIMIT_GPU,
    .tries = "compile:%s",
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_tensor_loop),
    .run = unfused_chain_run,
};

static uint32_t unfused_chain_count_kernels(const struct trace *t, const struct run_of *x)
{
    uint32_t n = 0;
    for (row_t r = x->begin; r < x->end; r++) n += t->kind[r] == KIND_KERNEL;
    return n;
}

/* "mul, add, tanh ..." of the run that would save most. */
static const char *unfused_chain_operators(const struct context *cx, const struct run_of *x)
{
    char text[160] = "";
    size_t n = 0;
    for (row_t r = x->begin; r < x->end && n < 90; r++) {
        if (cx->t->kind[r] != KIND_KERNEL) continue;
        struct str name = work_op_name(work_op_of(cx, r));
        if (!name.n) continue;
        if (str_starts(name, "aten::")) name = str_from(name.p + 6, name.n - 6);
        char cut[40];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "",
                              human_cut(name, 24, cut, sizeof cut));
    }
    return n ? rule_text(cx, " (%s%s)", text, n >= 90 ? " ..." : "") : "";
}

static int unfused_chain_report(const struct context *cx, const struct found *x,
                                struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_unfused_chain, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    f->title = "memory-bound kernels could be fused";
    f->effort = EFFORT_ONE_LINE;
    f->why = rule_text(
        cx,
        "%s kernels in %s chain%s read and write the same tensors one after the other "
        "(%s). The largest chain has %s kernels%s and takes %s; one kernel would take about %s.",
        human_count(x->fix.n).s, human_count(x->n_runs).s, x->n_runs == 1 ? "" : "s",
        human_time(x->fix.before_ns).s, human_count(unfused_chain_count_kernels(cx->t, &x->best)).s,
        unfused_chain_operators(cx, &x->best), human_time(x->best.ns).s,
        human_time(kernel_whole(x->best_ns)).s);
    bool cupy = str_starts(trace_name(cx->t, x->best.longest), "cupy_");
    f->fix = cupy ? "Fuse them into one kernel: use @cupy.fuse() on the function, or write a "
                    "cupy.ElementwiseKernel."
                  : "Use torch.compile on the module or function they are in, which fuses each "
                    "chain into one kernel, or use a fused operator (F.rms_norm, F.gelu, "
                    "F.cross_entropy).";
    /* What is subtracted already may be all of it. */
    if (x->tensor_share >= unfused_chain_power_share)
        f->doubt = x->tensor_share * (1 - unfused_chain_give_back_share) /
                   (1 - x->tensor_share * unfused_chain_give_back_share);
    f->not_fixed =
        "The prediction assumes one kernel per chain at the bandwidth this GPU reaches; compiling "
        "takes time once, and again for every new shape.";
    f->show = "kernels %s --by op";
    finding_note(f, cx->mem, cx->t->ts_ns[x->best.begin], x->best.begin,
                 "the largest chain starts here");
    return 0;
}
