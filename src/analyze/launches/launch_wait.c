/* launch_wait.c: per stream, the end of the work before says whether a launch found it idle. */
#include "analyze/launches/launch_wait.h"

#include "analyze/names/overhead.h"
#include "base/search.h"

/* Held back by other streams: at least this long, and let go this soon after they end. */
#define BEHIND_NS 20000
#define LET_GO_NS 15000

const char *launch_wait_how_name(enum launch_wait_how how)
{
    static const char *const names[LAUNCH_WAIT_HOWS] = {
        [LAUNCH_WAIT_IDLE] = "idle_stream",
        [LAUNCH_WAIT_QUEUED] = "queued",
        [LAUNCH_WAIT_BEHIND] = "behind_other_streams",
        [LAUNCH_WAIT_IN_GRAPH] = "in_graph",
        [LAUNCH_WAIT_OVERHEAD] = "overhead",
        [LAUNCH_WAIT_SKEWED] = "before_launch",
        [LAUNCH_WAIT_UNKNOWN] = "no_launch",
    };
    return names[how];
}

struct judge {
    const struct trace *t;
    const struct calls *calls;
    const struct device_line *d;
    struct span *overheads; /* disjoint or not, by begin */
    int64_t *latest_end;    /* of overheads up to and with this one */
    uint32_t n_overheads;
};

/* The profiler's own time and the loading of code, as spans to look up. */
static int collect_overheads(struct judge *j, struct arena *mem)
{
    const struct trace *t = j->t;
    uint32_t n = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_OVERHEAD) n += t->lanes[l].end - t->lanes[l].begin;
    j->overheads = arena_zalloc(mem, (size_t)n + 1, sizeof *j->overheads);
    j->latest_end = arena_zalloc(mem, (size_t)n + 1, sizeof *j->latest_end);
    if (!j->overheads || !j->latest_end) return ERR_NOMEM;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            enum overhead_kind kind = overhead_kind(trace_name(t, r));
            if (kind != OVERHEAD_PROFILER && kind != OVERHEAD_LOADING) continue;
            struct span s = trace_span(t, r);
            uint32_t at = j->n_overheads++;
            for (; at && j->overheads[at - 1].begin_ns > s.begin_ns; at--)
                j->overheads[at] = j->overheads[at - 1];
            j->overheads[at] = s;
        }
    }
    for (uint32_t i = 0; i < j->n_overheads; i++) {
        int64_t before = i ? j->latest_end[i - 1] : INT64_MIN;
        j->latest_end[i] = j->overheads[i].end_ns > before ? j->overheads[i].end_ns : before;
    }
    return 0;
}

static bool overhead_between(const struct judge *j, int64_t begin, int64_t end)
{
    uint32_t i = 0;
    SEARCH_PAST(i, j->n_overheads, j->overheads[i].begin_ns < end);
    return i && j->latest_end[i - 1] > begin;
}

/* Other streams kept the device busy from the return of the call until shortly before `start`. */
static bool held_back(const struct judge *j, int64_t returned, int64_t start)
{
    if (start - returned < BEHIND_NS) return false;
    uint32_t i = timeline_busy_at(j->d, returned);
    return i < j->d->n_busy && j->d->busy[i].begin_ns <= returned &&
           j->d->busy[i].end_ns >= start - LET_GO_NS;
}

static enum launch_wait_how judge(const struct judge *j, const struct launch_wait *s,
                                  int64_t prev_end)
{
    const struct trace *t = j->t;
    if (s->call == ROW_NONE) return LAUNCH_WAIT_UNKNOWN;
    uint32_t n;
    const row_t *launched = trace_launched(t, s->call, &n);
    if (n > 1 && launched[0] != s->work && calls_kind(j->calls, t, s->call) == CALL_GRAPH_LAUNCH)
        return LAUNCH_WAIT_IN_GRAPH;
    if (s->from_start_ns < 0) return LAUNCH_WAIT_SKEWED;
    int64_t start = t->ts_ns[s->work], returned = trace_end_ns(t, s->call);
    if (prev_end > returned) return LAUNCH_WAIT_QUEUED;
    if (overhead_between(j, t->ts_ns[s->call], start)) return LAUNCH_WAIT_OVERHEAD;
    return held_back(j, returned, start) ? LAUNCH_WAIT_BEHIND : LAUNCH_WAIT_IDLE;
}

int launch_waits_run(const struct context *cx, const struct device_line *d,
                     const struct queue *queue, struct arena *mem, struct launch_wait **ret)
{
    const struct trace *t = cx->t;
    struct judge j = {.t = t, .calls = calls_of(cx), .d = d};
    struct launch_wait *starts = arena_zalloc(mem, (size_t)d->n_work + 1, sizeof *starts);
    int64_t *prev_end = arena_alloc(mem, ((size_t)t->n_lanes + 1) * sizeof *prev_end);
    if (!starts || !prev_end) return ERR_NOMEM;
    TRY(collect_overheads(&j, mem));
    for (uint32_t l = 0; l < t->n_lanes; l++) prev_end[l] = INT64_MIN;
    for (uint32_t i = 0; i < d->n_work; i++) {
        struct launch_wait *s = &starts[i];
        row_t work = d->work[i], call = trace_launch_of(t, work);
        int64_t *prev = &prev_end[t->lane[work]], start = t->ts_ns[work];
        *s = (struct launch_wait){work, call, 0, 0, -1, 0, 0};
        if (*prev != INT64_MIN) s->after_prev_ns = start > *prev ? start - *prev : 0;
        if (call != ROW_NONE) {
            s->from_start_ns = start - t->ts_ns[call];
            s->from_end_ns = start - trace_end_ns(t, call);
            s->depth = queue_depth_at(queue, t->ts_ns[call] - 1);
        }
        s->how = (uint8_t)judge(&j, s, *prev);
        if (trace_end_ns(t, work) > *prev) *prev = trace_end_ns(t, work);
    }
    *ret = starts;
    return 0;
}
