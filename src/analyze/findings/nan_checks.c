/* nan_checks.c: what torch.autograd.set_detect_anomaly(True) does. The result of every node of the
 * backward pass is compared with itself, the outcome is reduced to one value, and that is read
 * back; in the forward pass the stack of the program is written down for every node.
 *
 *     backward   mm  [ne any copy wait]  mul  [ne any copy wait] [ne any copy wait]  sum  [ne ...
 *
 * A program that looks for NaN itself does so here and there, or in a row, for its parameters: not
 * after nearly everything that the backward pass launches. */
#include <stdio.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/names/copy.h"
#include "analyze/names/torch_words.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/stats.h"

struct nan_checking {
    const struct context *cx;
    const struct sequence *s;
    struct work_words *w;
    struct spare *spare;
    uint32_t n, n_units;      /* checks in backward passes, and units that have any */
    int64_t check_ns;         /* CPU time of the checks */
    int64_t stack_ns;         /* ... of writing stacks down, in forward passes */
    uint32_t n_runs, n_short; /* stretches between checks, and those that are short */
    int64_t *leads;           /* scratch */
    uint32_t n_leads;         /* of kept launches of backward passes, so far */
};

/* ---- the checks ---- */

static bool nan_checks_reads_back(const struct trace *t, const struct launched *x)
{
    const struct gpu_info *g = trace_gpu(t, x->work);
    return t->kind[x->work] == KIND_MEMCPY && copy_of(t, x->work).way == COPY_TO_HOST && g &&
           g->bytes <= nan_checks_bytes;
}

/* The end of a check that begins with item `i`; `i` where none does. */
static uint32_t nan_checks_at(const struct nan_checking *c, uint32_t i, uint32_t end)
{
    const struct launched *x = c->s->items;
    uint32_t k = i;
    if (!(x[i].flags & LAUNCHED_BACKWARD) || !work_words_has(c->w, &x[i], WORD_COMPARE)) return i;
    for (k++; k < end && c->cx->t->kind[x[k].work] == KIND_MEMSET;) k++;
    if (k >= end || !work_words_has(c->w, &x[k], WORD_ANY)) return i;
    for (k++; k < end && work_words_has(c->w, &x[k], WORD_ANY) &&
              c->cx->t->kind[x[k].work] != KIND_MEMCPY;)
        k++;
    if (k >= end || x[k].thread != x[i].thread || !nan_checks_reads_back(c->cx->t, &x[k])) return i;
    return k + 1;
}

/* The outermost operator around a call, below the node of autograd; the call where none is. */
static row_t nan_checks_op(const struct trace *t, row_t call)
{
    row_t op = call;
    for (row_t r = t->parent[call];
         r != ROW_NONE && t->kind[r] == KIND_OP && !outline_is_node(trace_name(t, r));
         r = t->parent[r])
        op = r;
    return op;
}

/* The CPU's side of a check: from its first operator to the end of its wait. Without operators, the
 * first launch takes as long to prepare as the next one. */
static struct span nan_checks_span(const struct nan_checking *c, uint32_t begin, uint32_t end)
{
    const struct trace *t = c->cx->t;
    const struct launched *x = c->s->items;
    row_t first = nan_checks_op(t, x[begin].call), last = nan_checks_op(t, x[end - 1].call);
    struct span s = {t->ts_ns[first], trace_end_ns(t, last)};
    if (first == x[begin].call && end - begin > 1) {
        int64_t lead = t->ts_ns[x[begin + 1].call] - trace_end_ns(t, x[begin].call);
        s.begin_ns -= lead > 0 ? lead : 0;
    }
    const struct sim_model *m = model_of(c->cx);
    uint32_t copy = sim_find_call(m, x[end - 1].call);
    uint32_t wait = copy == SIM_NONE ? SIM_NONE : m->calls[copy].next;
    if (wait != SIM_NONE && call_syncs(m->calls[wait].kind) && m->calls[wait].end_ns > s.end_ns)
        s.end_ns = m->calls[wait].end_ns;
    return s;
}

/* The checks in a row from item `i` on; the first item behind them. */
static int nan_checks_take(struct nan_checking *c, uint32_t i, uint32_t end, uint32_t *ret,
                           struct err *e)
{
    struct span all = {0, 0};
    lane_id thread = c->s->items[i].thread;
    for (uint32_t to; i < end && (to = nan_checks_at(c, i, end)) > i; i = to) {
        struct span s = nan_checks_span(c, i, to);
        if (!all.end_ns) all.begin_ns = s.begin_ns;
        all.end_ns = s.end_ns;
        for (uint32_t k = i; k < to; k++) TRY(spare_drop(c->spare, c->cx, c->s->items[k].work, e));
        c->n++;
    }
    c->check_ns += span_ns(all);
    *ret = i;
    return spare_cut(c->spare, c->cx, thread, all, e);
}

static void nan_checks_note_lead(struct nan_checking *c, uint32_t i, uint32_t begin)
{
    const struct trace *t = c->cx->t;
    const struct launched *x = c->s->items;
    if (i > begin && x[i - 1].thread == x[i].thread && i > 0)
        c->leads[c->n_leads++] = t->ts_ns[x[i].call] - trace_end_ns(t, x[i - 1].call);
}

static int nan_checks_read_unit(struct nan_checking *c, uint32_t unit, struct err *e)
{
    const struct launched *x = c->s->items;
    uint32_t begin = c->s->unit_begin[unit], end = c->s->unit_begin[unit + 1], run = 0;
    uint32_t before = c->n;
    for (uint32_t i = begin; i < end;) {
        uint32_t to = i;
        if (nan_checks_at(c, i, end) > i) TRY(nan_checks_take(c, i, end, &to, e));
        if (to > i) {
            c->n_runs += run > 0;
            c->n_short += run > 0 && run <= nan_checks_run_launches;
            run = 0;
        } else if (x[i].flags & LAUNCHED_BACKWARD) {
            if (run) nan_checks_note_lead(c, i, begin);
            run++;
        }
        i = to > i ? to : i + 1;
    }
    c->n_runs += run > nan_checks_run_launches;
    c->n_units += c->n > before;
    return 0;
}

/* ---- stacks in the forward pass ---- */

/* What operators of one name take before they do anything else. */
struct nan_checks_usual {
    int64_t ns;
    uint32_t n;
};

static int64_t nan_checks_op_lead(const struct trace *t, row_t op)
{
    bool has_child = op + 1 < t->lanes[t->lane[op]].end && t->parent[op + 1] == op;
    return has_child ? t->ts_ns[op + 1] - t->ts_ns[op] : t->dur_ns[op];
}

static bool nan_checks_is_noted(const struct trace *t, row_t r)
{
    const struct op_info *op = trace_op(t, r);
    return op && op->sequence != ID_NONE && op->fwd_thread == 0;
}

/* What an operator takes before it does anything, where its stack is not written down: as long as
 * those of its name in the backward pass; where that has none, as long as most of all. */
static int64_t nan_checks_usual_ns(const struct nan_checks_usual *u, int64_t most_ns)
{
    return u->n ? u->ns / u->n : most_ns;
}

static bool nan_checks_has_stack(const struct nan_checking *c, row_t r)
{
    return c->cx->t->kind[r] == KIND_OP && !c->s->autograd[c->cx->t->lane[r]] &&
           nan_checks_is_noted(c->cx->t, r);
}

/* Operators of the backward pass, of which nothing is written down. */
static bool nan_checks_is_plain(const struct nan_checking *c, row_t r)
{
    const struct trace *t = c->cx->t;
    return t->kind[r] == KIND_OP && c->s->autograd[t->lane[r]] && !nan_checks_is_noted(t, r);
}

/* Three of four operators of the backward pass take at most this before they do anything. */
static int64_t nan_checks_most_ns(const struct nan_checking *c, int64_t *scratch)
{
    const struct trace *t = c->cx->t;
    size_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (nan_checks_is_plain(c, r)) scratch[n++] = nan_checks_op_lead(t, r);
    stats_sort(scratch, n);
    return n ? scratch[n * 3 / 4] : 0;
}

/* What a stack takes: half of the operators whose stacks are written down take at least this much
 * longer than they would. */
static int64_t nan_checks_stack_ns(const struct nan_checking *c,
                                   const struct nan_checks_usual *usual, int64_t most_ns,
                                   int64_t *scratch)
{
    const struct trace *t = c->cx->t;
    size_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (nan_checks_has_stack(c, r))
            scratch[n++] =
                nan_checks_op_lead(t, r) - nan_checks_usual_ns(&usual[t->name[r]], most_ns);
    stats_sort(scratch, n);
    return n ? scratch[n / 2] : 0;
}

static int nan_checks_cut_ops(struct nan_checking *c, const struct nan_checks_usual *usual,
                              int64_t *scratch, struct err *e)
{
    const struct trace *t = c->cx->t;
    int64_t slowest = nan_checks_most_ns(c, scratch);
    int64_t most = nan_checks_stack_times * nan_checks_stack_ns(c, usual, slowest, scratch);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!nan_checks_has_stack(c, r)) continue;
        int64_t more = nan_checks_op_lead(t, r) - nan_checks_usual_ns(&usual[t->name[r]], slowest);
        if (more > most) more = most;
        if (more <= 0) continue;
        c->stack_ns += more;
        /* behind its begin: the operator stays, and is recorded as before */
        TRY(spare_cut(c->spare, c->cx, t->lane[r],
                      (struct span){t->ts_ns[r] + 1, t->ts_ns[r] + 1 + more}, e));
    }
    return 0;
}

static int nan_checks_by_ops(struct nan_checking *c, struct err *e)
{
    const struct trace *t = c->cx->t;
    struct nan_checks_usual *usual = mem_zalloc(t->strings.n + (size_t)1, sizeof *usual);
    int64_t *scratch = mem_alloc((t->n_rows + (size_t)1) * sizeof *scratch);
    int rc = usual && scratch ? 0 : err_nomem(e);
    for (row_t r = 0; rc == 0 && r < t->n_rows; r++) {
        if (!nan_checks_is_plain(c, r)) continue;
        usual[t->name[r]].ns += nan_checks_op_lead(t, r);
        usual[t->name[r]].n++;
    }
    if (rc == 0) rc = nan_checks_cut_ops(c, usual, scratch, e);
    mem_free(usual);
    mem_free(scratch);
    return rc;
}

/* Without operators: a launch of the forward pass takes longer to prepare than one of the backward
 * pass, if it is the first of its operator. What far exceeds that is something else. */
static int nan_checks_by_launches(struct nan_checking *c, struct err *e)
{
    const struct trace *t = c->cx->t;
    const struct launched *x = c->s->items;
    stats_sort(c->leads, c->n_leads);
    int64_t usual = stats_median(c->leads, c->n_leads);
    uint32_t n = 0;
    for (int round = 0; round < 2; round++) {
        int64_t most = 0;
        if (round == 1 && n > 0) {
            stats_sort(c->leads, n);
            most = nan_checks_stack_times *
                   (c->leads[(size_t)((double)n * nan_checks_stack_quantile)] - usual);
        }
        for (uint32_t i = 1; i < c->s->n && (round == 0 || most > 0); i++) {
            if (x[i].flags & LAUNCHED_BACKWARD || x[i - 1].thread != x[i].thread ||
                x[i - 1].unit != x[i].unit || torch_in_optimizer(t, x[i].work))
                continue;
            struct span lead = {trace_end_ns(t, x[i - 1].call), t->ts_ns[x[i].call]};
            if (round == 0) {
                c->leads[n++] = span_ns(lead);
                continue;
            }
            int64_t more = span_ns(lead) - usual;
            if (more > most) more = most;
            if (more <= 0) continue;
            lead.end_ns = lead.begin_ns + more;
            c->stack_ns += more;
            TRY(spare_cut(c->spare, c->cx, x[i].thread, lead, e));
        }
    }
    return 0;
}

/* Whether nearly everything is checked. */
static bool nan_checks_everywhere(const struct nan_checking *c)
{
    return c->n_units && c->n / c->n_units >= nan_checks_least &&
           (double)c->n_short >= nan_checks_share * (double)c->n_runs;
}

static void nan_checks_explain(struct spare_search *x, const struct nan_checking *c)
{
    char stacks[64];
    snprintf(stacks, sizeof stacks, "%s", human_time(c->stack_ns).s);
    x->why = rule_text(x->cx,
                       "The result of nearly every operator of the backward pass is checked for "
                       "NaN and read back (%s times per step, %s of CPU time), and in the forward "
                       "pass the Python stack is written down for every operator (%s): this is "
                       "what torch.autograd.set_detect_anomaly(True) does.",
                       human_count(c->n / c->n_units).s, human_time(c->check_ns).s, stacks);
}

int nan_checks_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    struct nan_checking c = {.cx = x->cx, .s = s, .w = x->words, .spare = &x->spare};
    int rc = 0;
    if (!s->trains) return 0;
    c.leads = mem_alloc((s->n + (size_t)1) * sizeof *c.leads);
    if (!c.leads) return err_nomem(e);
    for (uint32_t u = 0; u < s->n_units && rc == 0; u++) rc = nan_checks_read_unit(&c, u, e);
    bool everywhere = nan_checks_everywhere(&c);
    if (rc == 0 && everywhere)
        rc = s->has_ops ? nan_checks_by_ops(&c, e) : nan_checks_by_launches(&c, e);
    if (everywhere) nan_checks_explain(x, &c);
    else spare_search_drop(x);
    mem_free(c.leads);
    return rc;
}
