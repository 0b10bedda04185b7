/* allocation_in_loop.c: memory is taken from or given back to the driver inside the loop. The
 * caching allocator makes that rare; where it happens every step, something empties or fragments
 * the cache. */
#include "analyze/findings/claims.h"
#include "analyze/findings/host_side.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

struct allocations {
    row_t *rows;
    uint32_t n;
    int64_t ns;
    row_t longest;
};

static int allocation_in_loop_collect(const struct context *cx, const struct findings *others,
                                      struct allocations *ret, struct err *e)
{
    const struct trace *t = cx->t;
    *ret = (struct allocations){
        .rows = arena_alloc(cx->mem, (t->n_calls + (size_t)1) * sizeof *ret->rows),
        .longest = ROW_NONE};
    if (!ret->rows) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) {
        enum call_kind k = calls_kind(calls_of(cx), t, r);
        if (!call_allocates(k) || steps_at(steps_of(cx), t->ts_ns[r]) == UINT32_MAX) continue;
        if (claims_call(others, cx, r)) continue;
        ret->rows[ret->n++] = r;
        ret->ns += t->dur_ns[r];
        if (ret->longest == ROW_NONE || t->dur_ns[r] > t->dur_ns[ret->longest]) ret->longest = r;
    }
    return 0;
}

/* Steps that allocate, and the last of them. Rows of one thread are in time order, so changes of
 * the step count them. */
static uint32_t steps_with(const struct context *cx, const struct allocations *al,
                           uint32_t *ret_last)
{
    uint32_t n = 0, last = UINT32_MAX;
    *ret_last = 0;
    for (uint32_t i = 0; i < al->n; i++) {
        uint32_t s = steps_at(steps_of(cx), cx->t->ts_ns[al->rows[i]]);
        n += s != last;
        last = s;
        if (s > *ret_last) *ret_last = s;
    }
    return n;
}

/* In most steps; or again and again to the end, which is not a cache that fills up, and long. */
static bool comes_back(const struct context *cx, const struct allocations *al)
{
    uint32_t steps = steps_of(cx)->n_steps, last;
    uint32_t with = steps_with(cx, al, &last);
    if (with * 2 > steps) return true;
    return with > 2 && last >= steps - steps / 3 &&
           (double)al->ns > allocation_share * (double)wall_of(cx)->wall_ns;
}

static int allocation_in_loop_report(const struct context *cx, const struct allocations *al,
                                     struct findings *out, struct err *e);

static int allocation_in_loop_run(const struct context *cx, struct findings *out, struct err *e)
{
    uint32_t steps = steps_of(cx)->n_steps;
    struct allocations al;
    if (steps < 2) return 0;
    TRY(allocation_in_loop_collect(cx, out, &al, e));
    return al.n && comes_back(cx, &al) ? allocation_in_loop_report(cx, &al, out, e) : 0;
}

const struct rule rule_allocation_in_loop = {
    .id = "allocation_in_loop",
    .summary = "device memory is allocated or freed in every step",
    .limit = LIMIT_CPU,
    .cost = COST_WAIT,
    .tries = "alloc:expandable",
    .yields_to = RULE_LIST(&rule_settings),
    .run = allocation_in_loop_run,
};

static int allocation_in_loop_report(const struct context *cx, const struct allocations *al,
                                     struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_allocation_in_loop, e);
    struct sim_cut *spans = arena_alloc(cx->mem, (al->n + (size_t)1) * sizeof *spans);
    struct span_set calls;
    if (!f || !spans || exposure_begin(&calls, al->n, cx->mem) < 0) return err_nomem(e);
    uint32_t n = 0;
    for (uint32_t i = 0; i < al->n; i++) {
        calls.list[calls.n++] = trace_span(cx->t, al->rows[i]);
        uint32_t c = sim_find_call(model_of(cx), al->rows[i]);
        if (c == SIM_NONE) continue;
        spans[n++] =
            (struct sim_cut){model_of(cx)->calls[c].thread, model_of(cx)->calls[c].begin_ns,
                             model_of(cx)->calls[c].end_ns, 0};
    }
    struct source_places *w = places_of(cx);
    struct place p;
    source_places_find(w, al->longest, &p);
    rule_place(cx, f, &p);
    f->title = "device memory is allocated inside the loop";
    f->why = rule_text(
        cx, "%s allocation calls to the driver in %s steps take %s; each may wait for the device.",
        human_count(al->n).s, human_count(steps_of(cx)->n_steps).s, human_time(al->ns).s);
    f->fix = "Do not call empty_cache() in the loop, and reuse buffers. If shapes vary, set "
             "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
    f->show = "memory %s";
    f->effort = EFFORT_ONE_LINE;
    f->blocked_ns = al->ns;
    f->exposed_ns = exposure_idle(cx, &calls);
    finding_note(f, cx->mem, cx->t->ts_ns[al->longest], al->longest,
                 "the longest call, %s, takes %s", rule_row_name(cx, al->longest, 40),
                 human_time(cx->t->dur_ns[al->longest]).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
