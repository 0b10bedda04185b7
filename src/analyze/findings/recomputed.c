/* recomputed.c: parts of the forward pass that run a second time in the backward pass, because
 * their results were not kept: activation checkpointing.
 *
 *     main thread    [ layer 1 ][ layer 2 ][ loss ]
 *     autograd                              [ loss' ][ layer 2 ][ layer 2' ][ layer 1 ][ layer 1' ]
 *                                                     ^ again                ^ again
 *
 * With operators: autograd takes note of them below one of its nodes, and the same is launched in
 * the forward pass. Without: the thread that runs backward passes launches a stretch of the forward
 * pass of the same unit again. */
#include <math.h>
#include <stdio.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/memory/memory.h"
#include "analyze/sequence/automaton.h"
#include "analyze/sequence/sequence.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/stats.h"

/* What a launch of a unit usually takes: the median time from one to the next, on either side. */
struct recomputed_pace {
    int64_t forward_ns, backward_ns;
};

struct recomputing {
    const struct context *cx;
    const struct sequence *s;
    struct spare *spare;
    uint32_t n_runs, n_units; /* stretches, and units that have any */
    double kept_bytes;        /* what a unit would keep instead, at most; NaN when not known */
    struct automaton forward; /* what the forward passes of this unit and the one before launch */
    uint8_t *is_forward;      /* by token: launched in a forward pass */
    uint8_t *starts;          /* by token: a stretch begins with it */
    int64_t *gaps;            /* scratch */
    struct recomputed_pace pace;
    double unit_bytes; /* written by what runs again in the unit */
};

/* A stretch of items that run again. */
struct recomputed_run {
    uint32_t begin, end;
};

static bool recomputed_is_backward(const struct launched *x)
{
    return x->flags & LAUNCHED_BACKWARD;
}

/* ---- finding ---- */

static bool recomputed_multiplies(const struct context *cx, row_t work)
{
    enum kernel_family f = roofline_kind(roofline_of(cx), cx->t, work)->family;
    return f == FAMILY_GEMM || f == FAMILY_CONV || f == FAMILY_ATTENTION;
}

/* Operators that autograd takes note of, in a row. A second derivative is noted as well, but it is
 * nothing that ran before. */
static struct recomputed_run recomputed_noted(const struct recomputing *r, uint32_t i, uint32_t end)
{
    const struct launched *x = r->s->items;
    struct recomputed_run run = {i, i};
    int64_t all = 0, known = 0;
    for (; run.end < end && (x[run.end].flags & LAUNCHED_AGAIN) && x[run.end].thread == x[i].thread;
         run.end++) {
        int64_t ns = r->cx->t->dur_ns[x[run.end].work];
        all += ns;
        if (r->is_forward[x[run.end].token]) known += ns;
    }
    if ((double)known < recomputed_known_share * (double)all) run.begin = run.end;
    return run;
}

/* The longest stretch from here on that a forward pass launches, too: long enough that it is not by
 * chance. */
static struct recomputed_run recomputed_launched(const struct recomputing *r, uint32_t i,
                                                 uint32_t end)
{
    const struct launched *x = r->s->items;
    struct recomputed_run run = {i, i};
    bool multiplies = false;
    for (uint32_t state = 0; run.end < end && x[run.end].thread == x[i].thread; run.end++) {
        state = automaton_follow(&r->forward, state, x[run.end].token);
        if (state == AUTOMATON_NONE) break;
        multiplies |= recomputed_multiplies(r->cx, x[run.end].work);
    }
    if (run.end - i < recomputed_launches || !multiplies) run.end = i;
    return run;
}

/* The stretch that begins with item `i`; empty where none does. */
static struct recomputed_run recomputed_at(const struct recomputing *r, uint32_t i, uint32_t end)
{
    const struct launched *x = &r->s->items[i];
    if (!recomputed_is_backward(x)) return (struct recomputed_run){i, i};
    if (x->op != ROW_NONE) return recomputed_noted(r, i, end);
    return recomputed_launched(r, i, end);
}

/* ---- the CPU's side ---- */

/* The row below the node of autograd that the call is in. */
static row_t recomputed_top(const struct trace *t, row_t call)
{
    row_t at = call;
    while (t->parent[at] != ROW_NONE &&
           !(t->kind[t->parent[at]] == KIND_OP && outline_is_node(trace_name(t, t->parent[at]))))
        at = t->parent[at];
    return at;
}

static bool recomputed_is_noted(const struct trace *t, row_t r)
{
    const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
    return op && op->sequence != ID_NONE && op->fwd_thread == 0 &&
           !outline_is_node(trace_name(t, r));
}

/* Where the thread goes on with the node: at the next operator inside it that is not noted.
 * Operators that launch nothing run again, too, as does the Python around them. */
static int64_t recomputed_end(const struct trace *t, row_t top)
{
    row_t node = t->parent[top];
    const struct lane *l = &t->lanes[t->lane[top]];
    int64_t end = trace_end_ns(t, node), at = trace_end_ns(t, top);
    for (row_t r = trace_lower_bound(t, t->lane[top], at); r < l->end && t->ts_ns[r] < end; r++) {
        if (t->ts_ns[r] < at || t->kind[r] != KIND_OP) continue;
        if (!recomputed_is_noted(t, r)) return t->ts_ns[r];
        at = trace_end_ns(t, r);
    }
    return end;
}

/* Where the thread left off: the end of what stands before in the node, or the node's begin. */
static int64_t recomputed_begin(const struct trace *t, row_t top)
{
    row_t node = t->parent[top], r = top;
    if (top <= t->lanes[t->lane[top]].begin || top - 1 == node) return t->ts_ns[node];
    for (r = top - 1; t->parent[r] != ROW_NONE && t->parent[r] != node;) r = t->parent[r];
    return t->parent[r] == node ? trace_end_ns(t, r) : t->ts_ns[node];
}

static struct span recomputed_span_by_ops(const struct recomputing *r, struct recomputed_run run)
{
    const struct trace *t = r->cx->t;
    row_t first = recomputed_top(t, r->s->items[run.begin].call);
    row_t last = recomputed_top(t, r->s->items[run.end - 1].call);
    if (t->parent[first] == ROW_NONE || t->parent[last] != t->parent[first])
        return spare_launching(r->cx, r->s->items[run.begin].call, r->s->items[run.end - 1].call);
    return (struct span){recomputed_begin(t, first), recomputed_end(t, last)};
}

/* Whether the item before was launched by the same thread in the same unit. */
static bool recomputed_follows(const struct recomputing *r, uint32_t i)
{
    const struct launched *x = r->s->items;
    return i > r->s->unit_begin[x[i].unit] && i < r->s->unit_begin[x[i].unit + 1] &&
           x[i - 1].thread == x[i].thread;
}

/* CPU time from the launch before an item to its own. */
static struct span recomputed_lead(const struct recomputing *r, uint32_t i)
{
    const struct launched *x = r->s->items;
    return (struct span){trace_end_ns(r->cx->t, x[i - 1].call), r->cx->t->ts_ns[x[i].call]};
}

/* From the launch before it to the one after it, but for what a launch usually takes. */
static struct span recomputed_span(const struct recomputing *r, struct recomputed_run run)
{
    const struct trace *t = r->cx->t;
    const struct launched *x = r->s->items;
    if (x[run.begin].op != ROW_NONE) return recomputed_span_by_ops(r, run);
    struct span s = {t->ts_ns[x[run.begin].call], trace_end_ns(t, x[run.end - 1].call)};
    if (recomputed_follows(r, run.begin)) s.begin_ns = recomputed_lead(r, run.begin).begin_ns;
    if (run.end < r->s->unit_begin[x[run.begin].unit + 1] && recomputed_follows(r, run.end)) {
        int64_t next = t->ts_ns[x[run.end].call] - r->pace.backward_ns;
        if (next > s.end_ns) s.end_ns = next;
    }
    return s;
}

/* In the forward pass the same stretch begins with what puts its inputs aside: a longer pause than
 * other launches have before them. */
static int recomputed_cut_forward(struct recomputing *r, uint32_t unit, struct err *e)
{
    const struct launched *x = r->s->items;
    for (uint32_t i = r->s->unit_begin[unit] + 1; i < r->s->unit_begin[unit + 1]; i++) {
        if (!r->starts[x[i].token] || recomputed_is_backward(&x[i]) || !recomputed_follows(r, i))
            continue;
        struct span lead = recomputed_lead(r, i);
        lead.end_ns -= r->pace.forward_ns;
        if (span_ns(lead) < recomputed_pause_times * r->pace.forward_ns) continue;
        TRY(spare_cut(r->spare, r->cx, x[i].thread, lead, e));
    }
    return 0;
}

static int64_t recomputed_usual(struct recomputing *r, uint32_t unit, bool backward)
{
    uint32_t n = 0;
    for (uint32_t i = r->s->unit_begin[unit]; i < r->s->unit_begin[unit + 1]; i++)
        if (recomputed_is_backward(&r->s->items[i]) == backward && recomputed_follows(r, i))
            r->gaps[n++] = span_ns(recomputed_lead(r, i));
    stats_sort(r->gaps, n);
    return stats_median(r->gaps, n);
}

/* ---- collecting ---- */

/* What the operator of an item writes, at its first item. */
static double recomputed_written(const struct recomputing *r, uint32_t i)
{
    const struct launched *x = r->s->items;
    const struct roof_kind *k = roofline_kind(roofline_of(r->cx), r->cx->t, x[i].work);
    bool first = i == 0 || x[i - 1].op != x[i].op;
    return first && k->from == ROOF_SHAPES ? k->work.written : 0;
}

static int recomputed_add(struct recomputing *r, struct recomputed_run run, struct err *e)
{
    const struct context *cx = r->cx;
    for (uint32_t i = run.begin; i < run.end; i++) {
        row_t work = r->s->items[i].work;
        r->unit_bytes += recomputed_written(r, i);
        TRY(spare_drop(r->spare, cx, work, e));
    }
    r->starts[r->s->items[run.begin].token] = 1;
    r->n_runs++;
    return spare_cut(r->spare, cx, r->s->items[run.begin].thread, recomputed_span(r, run), e);
}

/* A step may begin anywhere, with the backward pass as well: its forward pass is then in the step
 * before. */
static int recomputed_learn_forward(struct recomputing *r, uint32_t unit, struct err *e)
{
    automaton_clear(&r->forward);
    uint32_t first = r->s->unit_begin[unit > 0 ? unit - 1 : 0];
    for (uint32_t i = first; i < r->s->unit_begin[unit + 1]; i++)
        if (!recomputed_is_backward(&r->s->items[i]) &&
            automaton_append(&r->forward, r->s->items[i].token))
            return err_nomem(e);
    return 0;
}

static int recomputed_read_unit(struct recomputing *r, uint32_t unit, struct err *e)
{
    uint32_t end = r->s->unit_begin[unit + 1], runs = r->n_runs;
    r->pace =
        (struct recomputed_pace){recomputed_usual(r, unit, false), recomputed_usual(r, unit, true)};
    r->unit_bytes = 0;
    TRY(recomputed_learn_forward(r, unit, e));
    for (uint32_t i = r->s->unit_begin[unit]; i < end;) {
        struct recomputed_run run = recomputed_at(r, i, end);
        if (run.end > run.begin) TRY(recomputed_add(r, run, e));
        i = run.end > i ? run.end : i + 1;
    }
    if (r->n_runs == runs) return 0;
    r->n_units++;
    if (!(r->unit_bytes <= r->kept_bytes)) r->kept_bytes = r->unit_bytes;
    return 0;
}

static int recomputed_read(struct recomputing *r, struct err *e)
{
    const struct sequence *s = r->s;
    for (uint32_t i = 0; i < s->n; i++)
        if (!recomputed_is_backward(&s->items[i])) r->is_forward[s->items[i].token] = 1;
    for (uint32_t u = 0; u < s->n_units; u++) TRY(recomputed_read_unit(r, u, e));
    for (uint32_t u = 0; u < s->n_units && r->n_runs; u++) {
        r->pace.forward_ns = recomputed_usual(r, u, false);
        TRY(recomputed_cut_forward(r, u, e));
    }
    return 0;
}

/* Items of a unit and the one before it, at most. */
static uint32_t recomputed_most(const struct sequence *s)
{
    uint32_t most = 0;
    for (uint32_t u = 0; u < s->n_units; u++) {
        uint32_t n = s->unit_begin[u + 1] - s->unit_begin[u > 0 ? u - 1 : 0];
        if (n > most) most = n;
    }
    return most;
}

/* ---- memory ---- */

/* Memory of the device and what of it is used at most; 0 where that is not known. */
struct recomputed_memory {
    int64_t total_bytes, peak_bytes;
};

static struct recomputed_memory recomputed_memory_of(const struct context *cx)
{
    struct recomputed_memory m = {0, 0};
    if (cx->t->n_devices) m.total_bytes = cx->t->devices[0].memory_bytes;
    const struct memory *mem = memory_of(cx);
    for (uint32_t i = 0; i < mem->n_lines; i++) {
        const struct memory_line *l = &mem->lines[i];
        if (l->device_id < 0 || l->relative) continue;
        int64_t bytes = l->peak_bytes > l->reserved_bytes ? l->peak_bytes : l->reserved_bytes;
        if (bytes > m.peak_bytes) m.peak_bytes = bytes;
    }
    return m;
}

/* Whether what is computed again could be kept instead. Where nothing is known it may be. */
static bool recomputed_fits(struct recomputed_memory m, double more_bytes)
{
    if (m.total_bytes <= 0 || isnan(more_bytes)) return true;
    return (double)m.peak_bytes + more_bytes <= recomputed_memory_share * (double)m.total_bytes;
}

static const char *recomputed_memory_text(const struct context *cx, struct recomputed_memory m,
                                          double more_bytes)
{
    char more[32] = "", total[32] = "";
    snprintf(more, sizeof more, "%s", human_bytes(kernel_whole(more_bytes)).s);
    snprintf(total, sizeof total, "%s", human_bytes(m.total_bytes).s);
    if (m.total_bytes <= 0 || isnan(more_bytes))
        return " Whether the memory suffices without it is not known from this trace "
               "(profile_memory=True records it).";
    if (m.peak_bytes <= 0)
        return rule_text(cx,
                         " Keeping the results instead takes at most %s of the GPU's %s; how much "
                         "is free was not recorded (profile_memory=True does).",
                         more, total);
    return rule_text(cx, " It fits: keeping the results takes at most %s, the peak is %s of %s.",
                     more, human_bytes(m.peak_bytes).s, total);
}

static int recomputed_search(struct recomputing *r, struct err *e)
{
    const struct sequence *s = r->s;
    r->is_forward = mem_zalloc(s->n_tokens + (size_t)1, 1);
    r->starts = mem_zalloc(s->n_tokens + (size_t)1, 1);
    r->gaps = mem_alloc((s->n + (size_t)1) * sizeof *r->gaps);
    int rc = automaton_init(&r->forward, recomputed_most(s));
    if (rc || !r->is_forward || !r->starts || !r->gaps) rc = err_nomem(e);
    if (rc == 0) rc = recomputed_read(r, e);
    automaton_done(&r->forward);
    mem_free(r->is_forward);
    mem_free(r->starts);
    mem_free(r->gaps);
    return rc;
}

int recomputed_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    struct recomputing r = {.cx = x->cx, .s = s, .spare = &x->spare, .kept_bytes = NAN};
    if (!s->trains) return 0;
    TRY(recomputed_search(&r, e));
    if (!(r.kept_bytes > 0)) r.kept_bytes = NAN;
    struct recomputed_memory m = recomputed_memory_of(x->cx);
    if (!r.n_runs || !recomputed_fits(m, r.kept_bytes)) {
        spare_search_drop(x);
        return 0;
    }
    bool known = m.total_bytes > 0 && m.peak_bytes > 0 && !isnan(r.kept_bytes);
    x->doubt = known ? 0 : 1;
    x->why = rule_text(x->cx,
                       "Parts of the forward pass run a second time in the backward pass (%s times "
                       "per step, %s of GPU time), because their results were not kept.%s",
                       human_count(r.n_runs / r.n_units).s, human_time(x->spare.fix.before_ns).s,
                       recomputed_memory_text(x->cx, m, r.kept_bytes));
    return 0;
}
