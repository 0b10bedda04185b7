/* driving_calls.c: one list of calls, searched by row. */
#include "analyze/device/driving_calls.h"

#include "base/arena.h"
#include "base/search.h"

static bool is_loud(const struct trace *t, const struct calls *c, row_t r)
{
    const struct call_info *call = trace_call(t, r);
    if (!call || (t->flags[r] & ROW_PROFILER)) return false;
    return call->n_gpu > 0 || call_waits(calls_kind(c, t, r));
}

static void list_threads(struct driving_calls *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        lane_id lane = l->t->lane[l->calls[i]];
        bool new = !l->n_threads || l->threads[l->n_threads - 1].lane != lane;
        if (new && l->n_threads == DRIVING_THREADS) return;
        if (new) {
            l->threads[l->n_threads].lane = lane;
            l->threads[l->n_threads++].first = i;
        }
        l->threads[l->n_threads - 1].end = i + 1;
    }
}

int driving_calls_init(struct driving_calls *l, const struct trace *t, const struct calls *c,
                       struct arena *mem)
{
    *l = (struct driving_calls){.t = t};
    l->calls = arena_alloc(mem, (t->n_calls + (size_t)1) * sizeof *l->calls);
    l->from = arena_alloc(mem, (t->n_rows + (size_t)1) * sizeof *l->from);
    if (!l->calls || !l->from) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++) {
        l->from[r] = l->n;
        if (is_loud(t, c, r)) l->calls[l->n++] = r;
    }
    list_threads(l);
    return 0;
}

/* Index of the first loud call at or after row `r`. */
static uint32_t first_from(const struct driving_calls *l, row_t r)
{
    return l->from[r];
}

bool driving_calls_has(const struct driving_calls *l, row_t r)
{
    uint32_t i = first_from(l, r);
    if (i == l->n) return false;
    row_t call = l->calls[i];
    return l->t->lane[call] == l->t->lane[r] && l->t->ts_ns[call] < trace_end_ns(l->t, r);
}

/* From the first call of the thread that begins in the row's time to the last. */
static int64_t driven_ns(const struct driving_calls *l, uint32_t thread, row_t r)
{
    const struct trace *t = l->t;
    uint32_t first = l->threads[thread].first, last = first, end = l->threads[thread].end;
    SEARCH_PAST(first, end, t->ts_ns[l->calls[first]] < t->ts_ns[r]);
    SEARCH_PAST(last, end, t->ts_ns[l->calls[last]] < trace_end_ns(t, r));
    return last > first ? t->ts_ns[l->calls[last - 1]] - t->ts_ns[l->calls[first]] : 0;
}

bool driving_calls_elsewhere(const struct driving_calls *l, row_t r)
{
    const struct trace *t = l->t;
    uint32_t process = t->lanes[t->lane[r]].process;
    for (uint32_t i = 0; i < l->n_threads; i++) {
        lane_id lane = l->threads[i].lane;
        if (lane == t->lane[r] || t->lanes[lane].process != process) continue;
        if (2 * driven_ns(l, i, r) > t->dur_ns[r]) return true;
    }
    return false;
}

row_t driving_calls_before(const struct driving_calls *l, row_t call)
{
    uint32_t i = first_from(l, call);
    if (i == 0 || l->t->lane[l->calls[i - 1]] != l->t->lane[call]) return ROW_NONE;
    return l->calls[i - 1];
}

static int driving_calls_run_pass(struct context *cx, void *ret, struct err *e)
{
    int rc = driving_calls_init(ret, cx->t, calls_of(cx), cx->mem);
    return err_grow(e, rc);
}

static const struct pass *const needs[] = {&calls_pass, NULL};

const struct pass driving_pass = {
    .id = PASS_DRIVING,
    .size = sizeof(struct driving_calls),
    .needs = needs,
    .run = driving_calls_run_pass,
};
