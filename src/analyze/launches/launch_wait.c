/* launch_wait.c: per stream, the end of the work before says whether a launch found it idle. */
#include "analyze/launches/launch_wait.h"

#include "analyze/launches/launches_constants.h"
#include "analyze/names/overhead.h"

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
    const struct overheads *overheads;
};

/* Whether the profiler's own work or the loading of code came in between. */
static bool overhead_between(const struct judge *j, int64_t begin, int64_t end)
{
    return overhead_ns(j->overheads, OVERHEAD_PROFILER, begin, end) > 0 ||
           overhead_ns(j->overheads, OVERHEAD_LOADING, begin, end) > 0;
}

/* Other streams kept the device busy from the return of the call until shortly before `start`. */
static bool held_back(const struct judge *j, int64_t returned, int64_t start)
{
    if (start - returned < launch_behind_ns) return false;
    uint32_t i = timeline_busy_at(j->d, returned);
    return i < j->d->n_busy && j->d->busy[i].begin_ns <= returned &&
           j->d->busy[i].end_ns >= start - launch_let_go_ns;
}

static enum launch_wait_how launch_wait_judge(const struct judge *j, const struct launch_wait *s,
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

/* `prev_end` is by lane: where the work before ends, INT64_MIN when there is none. */
static struct launch_wait launch_wait_start_of(const struct judge *j, row_t work,
                                               const struct queue *queue, int64_t *prev_end)
{
    const struct trace *t = j->t;
    int64_t *prev = &prev_end[t->lane[work]], start = t->ts_ns[work];
    struct launch_wait s = {work, trace_launch_of(t, work), 0, 0, -1, 0, 0};
    if (*prev != INT64_MIN) s.after_prev_ns = start > *prev ? start - *prev : 0;
    if (s.call != ROW_NONE) {
        s.from_start_ns = start - t->ts_ns[s.call];
        s.from_end_ns = start - trace_end_ns(t, s.call);
        s.depth = queue_depth_at(queue, t->ts_ns[s.call] - 1);
    }
    s.how = (uint8_t)launch_wait_judge(j, &s, *prev);
    if (trace_end_ns(t, work) > *prev) *prev = trace_end_ns(t, work);
    return s;
}

int launch_waits_run(const struct context *cx, struct arena *mem, struct launch_wait **ret,
                     uint32_t *ret_n, struct err *e)
{
    const struct timeline *tl = timeline_of(cx);
    uint32_t n = 0;
    for (uint32_t d = 0; d < tl->n_devices; d++) n += tl->devices[d].n_work;
    struct launch_wait *all = arena_zalloc(mem, (size_t)n + 1, sizeof *all);
    int64_t *prev_end = arena_alloc(mem, ((size_t)cx->t->n_lanes + 1) * sizeof *prev_end);
    if (!all || !prev_end) return err_nomem(e);
    for (uint32_t l = 0; l < cx->t->n_lanes; l++) prev_end[l] = INT64_MIN;
    *ret = all;
    *ret_n = n;
    for (uint32_t d = 0; d < tl->n_devices; d++) {
        struct judge j = {cx->t, calls_of(cx), &tl->devices[d], overheads_of(cx)};
        for (uint32_t i = 0; i < j.d->n_work; i++)
            *all++ = launch_wait_start_of(&j, j.d->work[i], &queues_of(cx)->of[d], prev_end);
    }
    return 0;
}
