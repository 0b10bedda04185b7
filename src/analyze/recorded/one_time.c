/* one_time.c: rows that are one-time by their name, and runtime calls that are by their length:
 * the first calls of a name, or the first launch of a kernel, take milliseconds while the device
 * is idle, and later ones do not. */
#include "analyze/recorded/recorded.h"

#include "analyze/names/host_cause.h"
#include "analyze/names/overhead.h"
#include "analyze/recorded/recorded_constants.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct spans {
    struct span *list;
    size_t n, cap;
};

/* Calls of one name. */
struct named_call {
    uint32_t n;         /* so far */
    uint32_t late_long; /* long ones that are not among the first: they come back */
};

/* Whether a name is of the profiler itself: a name is examined once, not with every row. */
enum profiler_name { PROFILER_NAME_NEW, PROFILER_NAME_YES, PROFILER_NAME_NO };

struct search {
    const struct context *cx;
    const struct trace *t;
    struct spans found[LEFT_OUT_KINDS];
    struct named_call *calls; /* by str_id */
    uint8_t *seen;            /* by str_id of kernels: launched before */
    uint8_t *profiler;        /* by str_id: a word of enum profiler_name */
    uint8_t *drives;          /* by lane: it launches. Others hold nothing up before... */
    int64_t last_work_ns;     /* ... the device has done its last work */
    bool replays;             /* graphs are launched */
    bool failed;
};

static void one_time_add(struct search *s, enum left_out kind, struct span at)
{
    struct spans *f = &s->found[kind];
    if (at.end_ns <= at.begin_ns) return;
    if (VEC_RESERVE(f->list, f->n, f->cap, 1)) s->failed = true;
    else f->list[f->n++] = at;
}

static bool one_time_is_profiler(const struct search *s, row_t r)
{
    uint8_t *known = &s->profiler[s->t->name[r]];
    if (*known == PROFILER_NAME_NEW)
        *known = host_cause_is_profiler(trace_name(s->t, r)) ? PROFILER_NAME_YES : PROFILER_NAME_NO;
    return *known == PROFILER_NAME_YES;
}

/* How long no device works in the span. */
static int64_t one_time_idle(const struct search *s, struct span at)
{
    const struct timeline *tl = timeline_of(s->cx);
    int64_t idle = span_ns(at);
    for (uint32_t i = 0; i < tl->n_devices; i++) {
        int64_t ns = timeline_idle_ns(&tl->devices[i], at.begin_ns, at.end_ns);
        if (ns < idle) idle = ns;
    }
    return idle;
}

/* Whether a call of this kind may take long because the process is new. One that waits, copies or
 * replays may do so every time. */
static bool one_time_may_set_up(enum call_kind k)
{
    return k == CALL_LAUNCH || k == CALL_ALLOC || k == CALL_FREE || k == CALL_HOST_ALLOC ||
           k == CALL_LOAD || k == CALL_EVENT_RECORD || k == CALL_OTHER;
}

static bool one_time_is_long(const struct search *s, row_t r)
{
    return s->t->dur_ns[r] >= one_time_call_ns &&
           2 * one_time_idle(s, trace_span(s->t, r)) > s->t->dur_ns[r];
}

/* The first launch of a kernel, or of the call for a launch without a record. */
static bool one_time_is_first(struct search *s, row_t r, bool launch)
{
    uint32_t n = 0;
    const row_t *work = launch ? trace_launched(s->t, r, &n) : NULL;
    if (!n) return s->calls[s->t->name[r]].n <= one_time_first_calls;
    uint8_t *seen = &s->seen[s->t->name[work[0]]];
    bool first = !*seen;
    *seen = 1;
    return first;
}

static void one_time_look_at_call(struct search *s, row_t r, bool count)
{
    enum call_kind kind = calls_kind(calls_of(s->cx), s->t, r);
    struct named_call *c = &s->calls[s->t->name[r]];
    if (!one_time_may_set_up(kind) || s->t->flags[r] & ROW_PROFILER) return;
    c->n++;
    bool first = one_time_is_first(s, r, kind == CALL_LAUNCH);
    if (!one_time_is_long(s, r)) return;
    if (count) c->late_long += !first && kind != CALL_LAUNCH;
    else if (first && !c->late_long)
        one_time_add(s, LEFT_OUT_START_UP,
                     (struct span){s->t->ts_ns[r], trace_end_ns(s->t, r) - one_time_call_left_ns});
}

static void one_time_walk_calls(struct search *s, bool count)
{
    for (uint32_t i = 0; i < s->t->strings.n; i++) s->calls[i].n = 0;
    memset(s->seen, 0, s->t->strings.n);
    for (row_t r = 0; r < s->t->n_rows; r++)
        if (trace_call(s->t, r)) one_time_look_at_call(s, r, count);
}

/* From the begin of a capture to its end, by thread. */
static void one_time_find_captures(struct search *s)
{
    const struct trace *t = s->t;
    row_t begun = ROW_NONE;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (begun != ROW_NONE && t->lane[begun] != t->lane[r]) begun = ROW_NONE;
        if (!trace_call(t, r)) continue;
        struct str name = trace_name(t, r);
        if (str_has(name, "StreamBeginCapture")) begun = r;
        if (begun == ROW_NONE || !str_has(name, "StreamEndCapture")) continue;
        one_time_add(s, LEFT_OUT_CAPTURE, (struct span){t->ts_ns[begun], trace_end_ns(t, r)});
        begun = ROW_NONE;
    }
}

static int one_time_find_drivers(struct search *s)
{
    const struct trace *t = s->t;
    const struct timeline *tl = timeline_of(s->cx);
    s->drives = arena_zalloc(s->cx->mem, (size_t)t->n_lanes + 1, 1);
    if (!s->drives) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++) {
        enum call_kind kind = calls_kind(calls_of(s->cx), t, r);
        if (call_launches(kind)) s->drives[t->lane[r]] = 1;
        s->replays |= kind == CALL_GRAPH_LAUNCH;
    }
    s->last_work_ns = INT64_MIN;
    for (uint32_t i = 0; i < tl->n_devices; i++)
        if (tl->devices[i].extent.end_ns > s->last_work_ns)
            s->last_work_ns = tl->devices[i].extent.end_ns;
    return 0;
}

static void one_time_find_named(struct search *s)
{
    const struct trace *t = s->t;
    const struct host_causes *h = host_causes_of(s->cx);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->lanes[t->lane[r]].kind != LANE_THREAD || t->dur_ns[r] < one_time_part_ns) continue;
        struct str name = trace_name(t, r);
        if (!s->drives[t->lane[r]] && t->ts_ns[r] < s->last_work_ns) continue;
        if (one_time_is_profiler(s, r)) one_time_add(s, LEFT_OUT_PROFILER, trace_span(t, r));
        else if (host_causes_row(h, r) == HOST_COMPILE || host_cause_is_autotuning(name))
            one_time_add(s, LEFT_OUT_START_UP, trace_span(t, r));
    }
    const struct span_set *loading = &overheads_of(s->cx)->of[OVERHEAD_LOADING];
    for (uint32_t i = 0; i < loading->n; i++)
        one_time_add(s, LEFT_OUT_START_UP,
                     (struct span){loading->list[i].begin_ns,
                                   loading->list[i].end_ns - one_time_call_left_ns});
}

/* Where the program is seen: from the first row that is not the profiler's own to the end of the
 * last one. What a row of the profiler encloses is its own as well. */
static struct span one_time_program(const struct search *s)
{
    const struct trace *t = s->t;
    struct span all = {INT64_MAX, INT64_MIN};
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        enum lane_kind kind = t->lanes[l].kind;
        if (kind != LANE_THREAD && kind != LANE_STREAM) continue;
        int64_t until = INT64_MIN;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            int64_t end = trace_end_ns(t, r);
            if (kind == LANE_THREAD && one_time_is_profiler(s, r))
                until = end > until ? end : until;
            if (t->ts_ns[r] < until) continue;
            if (t->ts_ns[r] < all.begin_ns) all.begin_ns = t->ts_ns[r];
            if (end > all.end_ns) all.end_ns = end;
        }
    }
    return all;
}

/* Before and after the program only the profiler is at work: what it writes, and its pauses. */
static void one_time_find_edges(struct search *s)
{
    struct span program = one_time_program(s);
    if (program.end_ns <= program.begin_ns) return;
    one_time_add(s, LEFT_OUT_PROFILER, (struct span){s->t->begin_ns, program.begin_ns});
    one_time_add(s, LEFT_OUT_PROFILER, (struct span){program.end_ns, s->t->end_ns});
}

/* The first wait of a thread, if it ends although nothing that is recorded ran meanwhile: what it
 * waited for was launched before. Whatever waits later waits for what is in the recording. */
static void one_time_find_earlier(struct search *s, const struct lane *l)
{
    const struct trace *t = s->t;
    for (row_t r = l->begin; r < l->end; r++) {
        if (!call_waits(calls_kind(calls_of(s->cx), t, r)) || t->flags[r] & ROW_PROFILER) continue;
        struct span at = {t->ts_ns[r], trace_end_ns(t, r) - one_time_call_left_ns};
        if (t->dur_ns[r] >= one_time_call_ns && one_time_idle(s, at) > span_ns(at) / 10 * 9)
            one_time_add(s, LEFT_OUT_EARLIER, at);
        return;
    }
}

/* The first recorded work, if it starts long after its launch has returned: until then the device
 * does what was launched before. */
static void one_time_find_queue(struct search *s)
{
    const struct trace *t = s->t;
    row_t first = ROW_NONE;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        row_t r = t->lanes[l].begin;
        if (t->lanes[l].kind != LANE_STREAM || r == t->lanes[l].end) continue;
        if (first == ROW_NONE || t->ts_ns[r] < t->ts_ns[first]) first = r;
    }
    row_t call = first == ROW_NONE ? ROW_NONE : trace_launch_of(t, first);
    if (call == ROW_NONE) return;
    struct span at = {trace_end_ns(t, call), t->ts_ns[first]};
    if (span_ns(at) >= one_time_call_ns) one_time_add(s, LEFT_OUT_EARLIER, at);
}

/* Whether one-time work of a kind comes back: it lies in more than one step, or in one that others
 * came before. Captures that come back are the program's work only if it launches what it captures:
 * a server captures a graph for each size before it serves. */
static bool one_time_recurs(const struct search *s, const struct span_set *of)
{
    const struct steps *st = steps_of(s->cx);
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->n_steps; i++) n += span_set_ns(of, st->steps[i].cpu) > 0;
    return n > 1 && 2 * n > st->n_steps;
}

static int one_time_settle(struct span_set *to, const struct span *list, size_t n,
                           struct arena *mem)
{
    to->list = arena_alloc(mem, (n + 1) * sizeof *to->list);
    to->before_ns = arena_alloc(mem, (n + 1) * sizeof *to->before_ns);
    if (!to->list || !to->before_ns) return ERR_NOMEM;
    if (n) memcpy(to->list, list, n * sizeof *list);
    to->n = (uint32_t)n;
    span_set_settle(to);
    return 0;
}

/* Adds what lies in `at`, in no busy time of device `d` or of those after it. */
static void one_time_add_idle(struct search *s, struct span at, uint32_t d, struct spans *to)
{
    const struct timeline *tl = timeline_of(s->cx);
    if (at.end_ns <= at.begin_ns) return;
    if (d == tl->n_devices) {
        if (VEC_RESERVE(to->list, to->n, to->cap, 1)) s->failed = true;
        else to->list[to->n++] = at;
        return;
    }
    const struct device_line *l = &tl->devices[d];
    for (uint32_t i = timeline_busy_at(l, at.begin_ns); i < l->n_busy; i++) {
        if (l->busy[i].begin_ns >= at.end_ns) break;
        one_time_add_idle(s, (struct span){at.begin_ns, l->busy[i].begin_ns}, d + 1, to);
        at.begin_ns = l->busy[i].end_ns;
    }
    one_time_add_idle(s, at, d + 1, to);
}

/* The pieces of `set` that are not in `all` yet and in which no device works. */
static int one_time_take(struct search *s, const struct span_set *set, struct span_set *ret,
                         struct spans *all)
{
    struct spans mine = {0};
    struct span_set before;
    int rc = one_time_settle(&before, all->list, all->n, s->cx->mem);
    for (uint32_t i = 0, k = 0; rc == 0 && i < set->n; i++) {
        struct span at = set->list[i];
        while (k < before.n && before.list[k].end_ns <= at.begin_ns) k++;
        for (uint32_t m = k; m < before.n && before.list[m].begin_ns < at.end_ns; m++) {
            one_time_add_idle(s, (struct span){at.begin_ns, before.list[m].begin_ns}, 0, &mine);
            at.begin_ns = before.list[m].end_ns;
        }
        one_time_add_idle(s, at, 0, &mine);
    }
    if (rc == 0) rc = one_time_settle(ret, mine.list, mine.n, s->cx->mem);
    if (rc == 0 && mine.n && VEC_RESERVE(all->list, all->n, all->cap, mine.n)) rc = ERR_NOMEM;
    if (rc == 0 && mine.n) memcpy(all->list + all->n, mine.list, mine.n * sizeof *mine.list);
    if (rc == 0) all->n += mine.n;
    mem_free(mine.list);
    return rc;
}

/* Which kind keeps a moment that several have: the one that explains most. */
static const enum left_out one_time_order[] = {LEFT_OUT_CAPTURE, LEFT_OUT_PROFILER,
                                               LEFT_OUT_START_UP, LEFT_OUT_EARLIER};

static int one_time_sort_out(struct search *s, struct one_time *ret)
{
    struct spans all = {0};
    int rc = 0;
    for (int i = 0; rc == 0 && i < LEFT_OUT_KINDS; i++) {
        enum left_out k = one_time_order[i];
        struct span_set set;
        rc = one_time_settle(&set, s->found[k].list, s->found[k].n, s->cx->mem);
        bool recurs = rc == 0 && one_time_recurs(s, &set);
        if (k == LEFT_OUT_CAPTURE) ret->only_captured = recurs && !s->replays;
        if (recurs && !(k == LEFT_OUT_CAPTURE && ret->only_captured)) set.n = 0;
        if (rc == 0) rc = one_time_take(s, &set, &ret->of[k], &all);
    }
    if (rc == 0) rc = one_time_settle(&ret->all, all.list, all.n, s->cx->mem);
    mem_free(all.list);
    return rc;
}

int one_time_find(const struct context *cx, struct one_time *ret, struct err *e)
{
    const struct trace *t = cx->t;
    struct search s = {.cx = cx, .t = t};
    s.calls = arena_zalloc(cx->mem, (size_t)t->strings.n + 1, sizeof *s.calls);
    s.seen = arena_zalloc(cx->mem, (size_t)t->strings.n + 1, 1);
    s.profiler = arena_zalloc(cx->mem, (size_t)t->strings.n + 1, 1);
    if (!s.calls || !s.seen || !s.profiler || one_time_find_drivers(&s) < 0) return err_nomem(e);
    one_time_walk_calls(&s, true);
    one_time_walk_calls(&s, false);
    one_time_find_captures(&s);
    one_time_find_named(&s);
    one_time_find_edges(&s);
    one_time_find_queue(&s);
    for (uint32_t l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_THREAD) one_time_find_earlier(&s, &t->lanes[l]);
    int rc = s.failed ? ERR_NOMEM : one_time_sort_out(&s, ret);
    for (int k = 0; k < LEFT_OUT_KINDS; k++) mem_free(s.found[k].list);
    return err_grow(e, s.failed ? ERR_NOMEM : rc);
}
