/* problem_order.c: looks for what contradicts itself: syncs that return early, spans that overlap
 * or never end, ids and names that are used twice. */
#include "analyze/quality/integrity.h"
#include "analyze/quality/quality_constants.h"
#include "analyze/quality/quality_private.h"

#include <stdlib.h>

#include "base/human.h"
#include "base/map.h"
#include "base/search.h"
#include "base/wrap.h"

/* What was counted before it is known whether there is a problem. */
struct tally {
    uint64_t count, of;
    int64_t worst_ns;
    row_t examples[PROBLEM_EXAMPLES];
    uint32_t n_examples;
};

static void problem_order_note(struct tally *n, row_t r, int64_t off_by_ns)
{
    n->count++;
    if (off_by_ns > n->worst_ns) n->worst_ns = off_by_ns;
    if (n->n_examples < PROBLEM_EXAMPLES && r != ROW_NONE) n->examples[n->n_examples++] = r;
}

/* "12 of 40 THINGS, by up to 3.00 us" if there are any. */
static void problem_order_add(struct looking *c, enum problem_id id, enum quality level,
                              const char *things, const struct tally *n)
{
    if (!n->count) return;
    struct problem *p = problem_add(c, id, level, "%s of %s %s%s%s", human_count(n->count).s,
                                    human_count(n->of).s, things, n->worst_ns ? ", by up to " : "",
                                    n->worst_ns ? human_time(n->worst_ns).s : "");
    p->count = n->count;
    p->of = n->of;
    p->worst_ns = n->worst_ns;
    for (uint32_t i = 0; i < n->n_examples; i++) problem_example(p, n->examples[i]);
}

/* Work with its launch; `end_ns` is the latest of all work launched up to it. */
struct launched_work {
    int64_t launch_ns, end_ns;
};

static int problem_order_by_launch(const void *a, const void *b)
{
    const struct launched_work *x = a, *y = b;
    return (x->launch_ns > y->launch_ns) - (x->launch_ns < y->launch_ns);
}

/* Work with a launch, by launch time. NULL without memory; none where several processes launch,
 * since a call waits for its own process only. */
static struct launched_work *problem_order_launched(struct looking *c, uint32_t *ret_n)
{
    const struct trace *t = c->t;
    struct launched_work *w = arena_alloc(c->mem, (t->n_gpu + 1u) * sizeof *w);
    uint32_t n = 0, process = UINT32_MAX;
    if (!w) c->failed = true;
    for (row_t i = 0; w && i < t->n_rows; i++) {
        row_t call = trace_is_work(t, i) ? trace_launch_of(t, i) : ROW_NONE;
        if (call == ROW_NONE || n == t->n_gpu) continue;
        uint32_t of = t->lanes[t->lane[call]].process;
        if (process != UINT32_MAX && of != process) return NULL;
        process = of;
        w[n++] = (struct launched_work){t->ts_ns[call], trace_end_ns(t, i)};
    }
    if (!n) return NULL;
    qsort(w, n, sizeof *w, problem_order_by_launch);
    for (uint32_t i = 1; i < n; i++)
        if (w[i].end_ns < w[i - 1].end_ns) w[i].end_ns = w[i - 1].end_ns;
    *ret_n = n;
    return w;
}

/* Number of entries launched before `ts_ns`. */
static uint32_t problem_order_before(const struct launched_work *w, uint32_t n, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, n, w[i].launch_ns < ts_ns);
    return i;
}

/* Device-wide syncs that return before the work has ended that was launched before them. */
void problem_look_syncs(struct looking *c)
{
    const struct trace *t = c->t;
    const struct calls *calls = calls_of(c->cx);
    struct launched_work *w = NULL;
    struct tally early = {0};
    uint32_t n = 0;
    if (t->n_devices > 1) return; /* which device a call waits for is not recorded */
    for (row_t i = 0; i < t->n_rows; i++) {
        if (calls_kind(calls, t, i) != CALL_SYNC_DEVICE) continue;
        if (!w && !(w = problem_order_launched(c, &n))) return;
        early.of++;
        uint32_t k = problem_order_before(w, n, t->ts_ns[i]);
        int64_t late = k ? wrap_sub(w[k - 1].end_ns, trace_end_ns(t, i)) : 0;
        if (late > integrity_sync_early_ns) problem_order_note(&early, i, late);
    }
    problem_order_add(c, PROBLEM_SYNC_RETURNED_EARLY,
                      early.worst_ns > problem_skew_small_ns(c->cx) ? QUALITY_USABLE : QUALITY_GOOD,
                      "device-wide syncs return while work launched before them still runs",
                      &early);
}

void problem_look_overlap(struct looking *c)
{
    const struct trace *t = c->t;
    struct tally n = {0};
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        int64_t end = INT64_MIN;
        for (row_t i = t->lanes[l].begin; i < t->lanes[l].end; i++) {
            if (!trace_is_work(t, i)) continue;
            int64_t own = trace_end_ns(t, i);
            n.of++;
            if (t->ts_ns[i] < end) problem_order_note(&n, i, (own < end ? own : end) - t->ts_ns[i]);
            if (own > end) end = own;
        }
    }
    problem_order_add(c, PROBLEM_OVERLAP_ON_STREAM, QUALITY_GOOD,
                      "device records start before the previous one on their stream has ended", &n);
}

/* Spans that cross another or are still open (on the CPU: overlapping device work is a problem of
 * its own), or start outside the profiler's window. */
void problem_look_spans(struct looking *c)
{
    const struct trace *t = c->t;
    struct tally crossing = {0}, open = {0}, outside = {0};
    bool window = t->window_begin_ns != ID_NONE && t->window_end_ns != ID_NONE;
    for (row_t i = 0; i < t->n_rows; i++) {
        if (!kind_is_device(t->kind[i])) {
            crossing.of++;
            if (t->flags[i] & ROW_CROSSES) problem_order_note(&crossing, i, 0);
            if (t->flags[i] & ROW_UNFINISHED) problem_order_note(&open, i, 0);
        }
        if (!window || t->phase[i] != 'X' || t->kind[i] == KIND_WINDOW) continue;
        outside.of++;
        int64_t early = wrap_sub(t->window_begin_ns, t->ts_ns[i]);
        int64_t late = wrap_sub(t->ts_ns[i], t->window_end_ns);
        if (early > 0 || late > 0) problem_order_note(&outside, i, early > late ? early : late);
    }
    open.of = crossing.of;
    problem_order_add(c, PROBLEM_CROSSING, QUALITY_GOOD,
                      "CPU spans overlap their neighbour on a thread without nesting", &crossing);
    problem_order_add(c, PROBLEM_UNFINISHED, QUALITY_GOOD,
                      "CPU spans were still open when the profiler stopped", &open);
    problem_order_add(c, PROBLEM_OUTSIDE_WINDOW, QUALITY_GOOD,
                      "spans start outside the profiler's own window", &outside);
}

/* Whether another owner has had this id before. */
static bool problem_order_had(struct looking *c, struct map *seen, uint64_t id, uint32_t owner)
{
    uint32_t *slot = map_at(seen, id);
    if (!slot) c->failed = true;
    if (!slot) return false;
    if (*slot == MAP_NONE) *slot = owner;
    return *slot != owner;
}

void problem_look_op_ids(struct looking *c)
{
    const struct trace *t = c->t;
    struct tally n = {0};
    struct map seen;
    map_init(&seen);
    for (row_t i = 0; i < t->n_rows && !c->failed; i++) {
        const struct op_info *op = t->kind[i] == KIND_OP ? trace_op(t, i) : NULL;
        if (!op || op->external_id == ID_NONE || op->external_id <= 0) continue;
        uint64_t process = t->lanes[t->lane[i]].process;
        n.of++;
        if (problem_order_had(c, &seen, map_mix((uint64_t)op->external_id) ^ process, i))
            problem_order_note(&n, i, 0);
    }
    map_done(&seen);
    problem_order_add(c, PROBLEM_IDS_TWICE, t->external_ids_usable ? QUALITY_USABLE : QUALITY_GOOD,
                      "operators share their id with another operator of the process", &n);
}

void problem_look_call_ids(struct looking *c)
{
    const struct trace *t = c->t;
    struct tally n = {0};
    struct map seen;
    if (t->n_processes < 2) return;
    map_init(&seen);
    for (row_t i = 0; i < t->n_rows && !c->failed; i++) {
        const struct call_info *call = trace_call(t, i);
        if (!call || call->correlation == ID_NONE) continue;
        n.of++;
        if (problem_order_had(c, &seen, (uint64_t)call->correlation, t->lanes[t->lane[i]].process))
            problem_order_note(&n, i, 0);
    }
    map_done(&seen);
    problem_order_add(c, PROBLEM_IDS_REUSED, QUALITY_GOOD,
                      "calls have a correlation id that another process also uses", &n);
}

void problem_look_copied_ids(struct looking *c)
{
    if (c->t->external_ids_usable || !c->t->n_gpu) return;
    problem_add(c, PROBLEM_IDS_ARE_COPIES, QUALITY_GOOD,
                "the External ids only repeat the correlation ids")
        ->count = 1;
}

void problem_look_thread_names(struct looking *c)
{
    const struct trace *t = c->t;
    struct tally n = {0};
    struct map seen;
    map_init(&seen);
    for (lane_id l = 0; l < t->n_lanes && !c->failed; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_THREAD || !lane->name || lane->name == STR_NONE) continue;
        n.of++;
        if (problem_order_had(c, &seen, (uint64_t)lane->process << 32 | lane->name, l))
            problem_order_note(&n, lane->begin < lane->end ? lane->begin : ROW_NONE, 0);
    }
    map_done(&seen);
    problem_order_add(c, PROBLEM_SAME_THREAD_NAMES, QUALITY_GOOD,
                      "threads share their name with another thread of the process", &n);
}
