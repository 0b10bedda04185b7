/* loop_launches.c: writes down what is launched, in order, as a sequence of tokens, and takes its
 * period. A compiled region and a graph launch are one token each, an eager launch is the name of
 * its kernel, a call that waits is its own name (it often ends a step, and then it is all that
 * tells steps of equal layers apart). Where the trace has no launches, the device's own order
 * stands in. */
#include "analyze/steps/loop.h"
#include "analyze/steps/steps_private.h"

#include <stdlib.h>

#include "analyze/device/timeline.h"
#include "analyze/names/label.h"
#include "analyze/steps/period.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum {
    SLACK_PCT = 3,    /* tokens that may differ between rounds: kernels chosen by shape */
    COVER_PCT = 50,   /* share of the device time that rounds must cover */
    SHORT_PERIOD = 8, /* tokens: shorter rounds must come */
    SHORT_REPEATS = 4 /* at least that often */
};

struct token {
    int64_t begin_ns, end_ns;
    int64_t weight; /* device time it caused */
    uint32_t id;
    lane_id lane;
    bool compiled; /* a region or graph */
};

struct tokens {
    const struct trace *t;
    struct token *list;
    size_t n, cap;
    uint8_t *is_region; /* by str_id: 0 unknown, 1 no, 2 yes */
    uint32_t n_linked, n_work;
};

static bool is_region(struct tokens *ts, row_t r)
{
    uint8_t kind = ts->t->kind[r];
    if (kind != KIND_OP && kind != KIND_ANNOTATION) return false;
    uint8_t *known = &ts->is_region[ts->t->name[r]];
    if (!*known) *known = label_is_compiled(trace_name(ts->t, r)) ? 2 : 1;
    return *known == 2;
}

static int64_t device_time(const struct trace *t, const row_t *rows, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; rows && i < n; i++) sum += t->dur_ns[rows[i]];
    return sum;
}

static int push(struct tokens *ts, struct token tok, struct err *e)
{
    if (VEC_RESERVE(ts->list, ts->n, ts->cap, 1)) return err_nomem(e);
    ts->list[ts->n++] = tok;
    return 0;
}

/* The outermost op around a call: that is where the CPU's work for it begins. */
static row_t outer_op(const struct trace *t, row_t r)
{
    row_t best = r;
    for (row_t up = t->parent[r]; up != ROW_NONE && t->kind[up] == KIND_OP; up = t->parent[up])
        best = up;
    return best;
}

/* The token of a call outside compiled regions; false if it is not one. */
static bool call_token(const struct tokens *ts, row_t r, const struct calls *calls,
                       struct token *ret)
{
    const struct trace *t = ts->t;
    uint32_t n;
    const row_t *work = trace_launched(t, r, &n);
    enum call_kind kind = calls_kind(calls, t, r);
    if (!n && !call_waits(kind)) return false;
    row_t op = outer_op(t, r);
    bool graph = kind == CALL_GRAPH_LAUNCH;
    uint32_t id = t->name[work ? work[0] : r] + (graph ? n * 0x9e3779b1u : 0);
    *ret = (struct token){t->ts_ns[op], trace_end_ns(t, op), device_time(t, work, n),
                          id,           t->lane[r],          graph};
    return true;
}

static int read_thread(struct tokens *ts, lane_id lane, const struct calls *calls, struct err *e)
{
    const struct trace *t = ts->t;
    int64_t region_end = INT64_MIN;
    size_t region = 0;
    for (row_t r = t->lanes[lane].begin; r < t->lanes[lane].end; r++) {
        struct token tok;
        uint32_t n;
        const row_t *work = trace_launched(t, r, &n);
        ts->n_linked += n;
        if (ts->list && t->ts_ns[r] < region_end) {
            ts->list[region].weight += device_time(t, work, n);
        } else if (is_region(ts, r)) {
            region = ts->n;
            region_end = trace_end_ns(t, r);
            TRY(push(ts, (struct token){t->ts_ns[r], region_end, 0, t->name[r], lane, true}, e));
        } else if (call_token(ts, r, calls, &tok)) {
            TRY(push(ts, tok, e));
        }
    }
    return 0;
}

static int read_stream(struct tokens *ts, lane_id lane, struct err *e)
{
    const struct trace *t = ts->t;
    for (row_t r = t->lanes[lane].begin; r < t->lanes[lane].end; r++) {
        if (!timeline_has(t, r)) continue;
        struct token tok = {t->ts_ns[r], trace_end_ns(t, r), t->dur_ns[r],
                            t->name[r],  LANE_NONE,          false};
        TRY(push(ts, tok, e));
    }
    return 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Launch order over all threads; the order on the device when most launches are missing. */
static int read_tokens(struct tokens *ts, const struct calls *calls, bool *ret_on_device,
                       struct err *e)
{
    const struct trace *t = ts->t;
    for (row_t r = 0; r < t->n_rows; r++) ts->n_work += trace_is_work(t, r);
    for (lane_id l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_THREAD) TRY(read_thread(ts, l, calls, e));
    *ret_on_device = ts->n_linked < ts->n_work / 2;
    if (*ret_on_device) {
        ts->n = 0;
        for (lane_id l = 0; l < t->n_lanes; l++)
            if (t->lanes[l].kind == LANE_STREAM) TRY(read_stream(ts, l, e));
    }
    if (ts->n) qsort(ts->list, ts->n, sizeof *ts->list, by_begin);
    return 0;
}

static int find_repeat(const struct tokens *ts, struct arena *mem, struct repeat *ret,
                       struct err *e)
{
    uint32_t *items = arena_zalloc(mem, ts->n + 1, sizeof *items);
    int64_t *weights = arena_zalloc(mem, ts->n + 1, sizeof *weights);
    if (!items || !weights) return err_nomem(e);
    int64_t total = 0;
    for (size_t i = 0; i < ts->n; i++) {
        items[i] = ts->list[i].id;
        weights[i] = ts->list[i].weight;
        total += weights[i];
    }
    struct repeat r;
    struct period_seq seq = {items, weights, (uint32_t)ts->n, SLACK_PCT};
    TRY(period_find(&seq, mem, &r, e));
    bool often = r.period >= SHORT_PERIOD || r.count >= SHORT_REPEATS;
    /* one kernel over and over is not a loop of steps; one graph or compiled region is */
    if (r.period == 1 && ts->list && !ts->list[r.begin].compiled) often = false;
    if (!often || r.weight == 0 || r.weight < total / 100 * COVER_PCT) r.count = 0;
    *ret = r;
    return 0;
}

static int add_rounds(const struct tokens *ts, const struct repeat *r, struct arena *mem,
                      struct loop *ret, struct err *e)
{
    struct loop_round *rounds = arena_zalloc(mem, r->count, sizeof *rounds);
    if (!rounds) return err_nomem(e);
    bool compiled = false;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct token *first = &ts->list[r->begin + i * r->period];
        uint32_t end = r->begin + (i + 1) * r->period;
        const struct token *last = &ts->list[(end < r->end ? end : r->end) - 1];
        rounds[i] = (struct loop_round){first->begin_ns, last->end_ns, last->end_ns, STR_NONE, -1};
        if (i) rounds[i - 1].end_ns = rounds[i].begin_ns;
        for (const struct token *tok = first; tok <= last; tok++) compiled |= tok->compiled;
    }
    ret->rounds = rounds;
    ret->n_rounds = r->count;
    ret->period = r->period;
    ret->lane = ts->list[r->begin].lane;
    ret->found = compiled ? LOOP_COMPILED : LOOP_KERNELS;
    return 0;
}

int loop_launches_find(const struct trace *t, const struct calls *calls, struct arena *mem,
                       struct loop *ret, struct err *e)
{
    struct tokens ts = {.t = t};
    struct repeat r = {0};
    bool on_device = false;
    ts.is_region = arena_zalloc(mem, (size_t)t->strings.n + 1, 1);
    int rc = ts.is_region ? 0 : err_nomem(e);
    if (rc == 0) rc = read_tokens(&ts, calls, &on_device, e);
    if (rc == 0) rc = find_repeat(&ts, mem, &r, e);
    if (rc == 0 && r.count && ts.list) {
        rc = add_rounds(&ts, &r, mem, ret, e);
        ret->on_device = on_device;
    }
    mem_free(ts.list);
    return rc;
}
