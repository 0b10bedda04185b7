/* gap_split.c: cuts a gap at its launch, takes the recorder's cost out of both halves, and asks of
 * the first what the thread was doing, of the second what the launched work was waiting for. */
#include "analyze/gaps/gap_split.h"

#include <stdlib.h>

#include "analyze/device/host_stalls.h"
#include "analyze/device/thread_slices.h"
#include "analyze/gaps/gaps_constants.h"
#include "analyze/names/copy.h"
#include "analyze/names/overhead.h"
#include "analyze/names/torch_words.h"
#include "base/mem.h"
#include "base/vec.h"

/* The gap at hand. */
struct gap_at {
    uint32_t device;
    const struct idle_gap *g;
    lane_id thread, other; /* who launched, and who handed over to it or LANE_NONE */
};

/* Splits one piece of time that has no overhead in it. */
typedef int split_fn(struct gap_split *s, const struct gap_at *at, struct span time);

static int gap_split_by_start(const void *a, const void *b, void *trace)
{
    const struct trace *t = trace;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    if (t->ts_ns[x] != t->ts_ns[y]) return t->ts_ns[x] < t->ts_ns[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Rows that explain idle time on their own: a full queue does not. */
static bool is_overhead(const struct trace *t, row_t r)
{
    if (t->kind[r] != KIND_OVERHEAD || t->dur_ns[r] <= 0) return false;
    return overhead_kind(trace_name(t, r)) != OVERHEAD_QUEUE_FULL;
}

static bool list_overheads(struct gap_split *s)
{
    const struct trace *t = s->t;
    size_t cap = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (!is_overhead(t, r)) continue;
            if (VEC_RESERVE(s->overheads, s->n_overheads, cap, 1)) return false;
            s->overheads[s->n_overheads++] = r;
        }
    }
    if (s->n_overheads)
        qsort_r(s->overheads, s->n_overheads, sizeof *s->overheads, gap_split_by_start,
                (void *)(uintptr_t)t);
    return true;
}

int gap_split_init(struct gap_split *s, const struct context *cx, struct err *e)
{
    const struct trace *t = cx->t;
    *s = (struct gap_split){.cx = cx, .t = t, .syncs = syncs_of(cx), .where = places_of(cx)};
    s->memo_row = s->memo_frame = ROW_NONE;
    s->memo.cause = CAUSE_NONE;
    s->first_correlation = INT64_MAX;
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].correlation > 0 && t->calls[i].correlation < s->first_correlation)
            s->first_correlation = t->calls[i].correlation;
    gap_causes_init(&s->causes, t);
    if (list_overheads(s)) return 0;
    gap_split_done(s);
    return err_nomem(e);
}

void gap_split_done(struct gap_split *s)
{
    gap_causes_done(&s->causes);
    mem_free(s->overheads);
    *s = (struct gap_split){0};
}

/* The user's function around a row; most rows asked for in turn have the same parent. */
static row_t user_frame(struct gap_split *s, row_t r)
{
    const struct trace *t = s->t;
    if (t->kind[r] == KIND_PYTHON && source_places_class(s->where, r) == FRAME_USER) return r;
    if (s->memo_row != t->parent[r]) {
        s->memo_row = t->parent[r];
        s->memo_frame = source_places_frame(s->where, t->parent[r], true);
    }
    return s->memo_frame;
}

static struct gap_cause gap_split_plain(const struct gap_at *at, enum gap_cause_kind kind,
                                        const char *name)
{
    return (struct gap_cause){.kind = kind,
                              .device = at->device,
                              .name = str_c(name),
                              .row = ROW_NONE,
                              .frame = ROW_NONE,
                              .site = CAUSE_NO_SITE};
}

static struct str gap_split_function_of(const struct trace *t, row_t frame)
{
    struct frame f;
    struct str name = trace_name(t, frame);
    return frame_parse(name, &f) ? f.function : name;
}

static int gap_split_add(struct gap_split *s, const struct gap_cause *like, int64_t ns)
{
    if (ns <= 0) return 0;
    uint32_t cause = gap_causes_find(&s->causes, like);
    return cause == CAUSE_NONE ? ERR_NOMEM : gap_causes_add(&s->causes, cause, ns);
}

/* Python is the doing of the user's function, whatever library functions it called for it: those
 * are noted as what is inside. */
static int find_python(struct gap_split *s, const struct gap_at *at, row_t user, row_t deepest)
{
    const struct trace *t = s->t;
    struct gap_cause like = gap_split_plain(at, CAUSE_PYTHON, "");
    like.row = user != ROW_NONE ? user : deepest;
    like.frame = user;
    like.name = gap_split_function_of(t, like.row);
    s->memo.device = at->device;
    s->memo.user = t->name[like.row];
    s->memo.deepest = t->name[deepest];
    s->memo.inner = CAUSE_NONE;
    s->memo.cause = gap_causes_find(&s->causes, &like);
    if (s->memo.cause == CAUSE_NONE) return ERR_NOMEM;
    if (s->memo.user == s->memo.deepest) return 0;
    struct gap_cause_inner inner = {s->memo.cause, gap_split_function_of(t, deepest), deepest, 0};
    s->memo.inner = gap_causes_find_inner(&s->causes, &inner);
    return s->memo.inner == CAUSE_NONE ? ERR_NOMEM : 0;
}

/* Whether the row is of strata's own and holds nothing else of Python: its wrappers stand around
 * the user's functions, whose time is not its cost. */
static bool gap_split_is_recording(struct gap_split *s, row_t r)
{
    enum { MOST_ROWS = 64 };
    const struct trace *t = s->t;
    if (!source_places_is_recorder(s->where, r)) return false;
    row_t end = t->lanes[t->lane[r]].end;
    for (row_t i = r + 1; i < end && t->ts_ns[i] < trace_end_ns(t, r); i++)
        if (i - r > MOST_ROWS ||
            (t->kind[i] == KIND_PYTHON && !source_places_is_recorder(s->where, i)))
            return false;
    return true;
}

static int gap_split_add_python(struct gap_split *s, const struct gap_at *at,
                                const struct thread_slice *p)
{
    const struct trace *t = s->t;
    row_t user = user_frame(s, p->row), deepest = source_places_frame(s->where, p->row, false);
    int64_t ns = p->end_ns - p->begin_ns;
    if (gap_split_is_recording(s, p->row)) {
        struct gap_cause own = gap_split_plain(at, CAUSE_PROFILER, "strata in the program");
        return gap_split_add(s, &own, ns);
    }
    if (deepest == ROW_NONE) deepest = p->row;
    bool same = s->memo.cause != CAUSE_NONE && s->memo.device == at->device &&
                s->memo.user == t->name[user != ROW_NONE ? user : deepest] &&
                s->memo.deepest == t->name[deepest];
    if (!same) TRY(find_python(s, at, user, deepest));
    if (s->memo.inner != CAUSE_NONE) s->causes.inner[s->memo.inner].idle_ns += ns;
    return gap_causes_add(&s->causes, s->memo.cause, ns);
}

static struct gap_cause of_call(struct gap_split *s, struct gap_cause like)
{
    enum call_kind k = calls_kind(calls_of(s->cx), s->t, like.row);
    like.kind = call_allocates(k) ? CAUSE_ALLOCATION : CAUSE_CALL;
    if (call_allocates(k)) return like;
    size_t wait = syncs_wait_of(s->syncs, s->t, like.row);
    if (wait != SIZE_MAX) like.site = s->syncs->site_of[wait];
    if (wait != SIZE_MAX || call_waits(k)) like.kind = CAUSE_SYNC;
    return like;
}

/* What a thread was doing, as a cause. */
static struct gap_cause of_row(struct gap_split *s, const struct gap_at *at, row_t r)
{
    struct gap_cause like = gap_split_plain(at, CAUSE_UNTRACED, "CPU work not recorded");
    if (r == ROW_NONE) return like;
    like.row = r;
    like.name = trace_name(s->t, r);
    like.frame = user_frame(s, r);
    switch ((enum row_kind)s->t->kind[r]) {
    case KIND_RUNTIME:
    case KIND_DRIVER: return of_call(s, like);
    case KIND_ANNOTATION:
        like.kind = CAUSE_LABEL;
        like.name = label_groups_name(&s->syncs->stems, s->t->name[r]);
        return like;
    default: break;
    }
    bool lookup = torch_is_guard_check(like.name);
    like.kind = lookup ? CAUSE_DYNAMO : CAUSE_OP;
    return like;
}

static int gap_split_add_piece(struct gap_split *s, const struct gap_at *at,
                               const struct thread_slice *p)
{
    if (p->row != ROW_NONE && s->t->kind[p->row] == KIND_PYTHON)
        return gap_split_add_python(s, at, p);
    struct gap_cause like = of_row(s, at, p->row);
    return gap_split_add(s, &like, p->end_ns - p->begin_ns);
}

/* What the machine took of a piece has its own cause; how it lies in the piece is not known, so
 * pieces of a stall have equal shares of it. */
static int gap_split_add_slice(struct gap_split *s, const struct gap_at *at, lane_id thread,
                               struct thread_slice p)
{
    static const enum gap_cause_kind kinds[HOST_STALL_KINDS] = {
        [HOST_STALL_CORE] = CAUSE_CORE,
        [HOST_STALL_CGROUP] = CAUSE_CGROUP,
        [HOST_STALL_FAULTS] = CAUSE_FAULTS,
        [HOST_STALL_GIL] = CAUSE_GIL,
    };
    const struct host_stalls *stalls = host_stalls_of(s->cx);
    struct span piece = {p.begin_ns, p.end_ns};
    for (uint32_t i = host_stalls_first(stalls, thread, piece); i < stalls->n; i++) {
        const struct host_stall *x = &stalls->list[i];
        if (x->thread != thread || x->time.begin_ns >= piece.end_ns) break;
        int64_t both = span_ns(span_both(piece, x->time));
        if (both <= 0) continue;
        struct gap_cause like = gap_split_plain(at, kinds[x->kind], stalls->words[x->kind]);
        like.row = p.row;
        if (p.row != ROW_NONE) like.frame = user_frame(s, p.row);
        int64_t ns = (int64_t)((double)both * x->share);
        if (ns > p.end_ns - p.begin_ns) ns = p.end_ns - p.begin_ns;
        TRY(gap_split_add(s, &like, ns));
        p.end_ns -= ns;
    }
    return p.end_ns > p.begin_ns ? gap_split_add_piece(s, at, &p) : 0;
}

static int split_thread(struct gap_split *s, const struct gap_at *at, lane_id thread,
                        struct span time)
{
    bool stalled = host_stalls_of(s->cx)->n > 0;
    struct thread_slices d;
    struct thread_slice p;
    thread_slices_init(&d, s->t, thread, time.begin_ns, time.end_ns);
    while (thread_slices_next(&d, &p)) {
        while (stalled && p.row != ROW_NONE && host_stalls_is(s->cx->t, p.row))
            p.row = s->cx->t->parent[p.row];
        bool passed_on = p.row == ROW_NONE && thread == at->thread && at->other != LANE_NONE;
        if (passed_on) TRY(split_thread(s, at, at->other, (struct span){p.begin_ns, p.end_ns}));
        else TRY(gap_split_add_slice(s, at, thread, p));
    }
    return 0;
}

/* Before the launch. */
static int split_late(struct gap_split *s, const struct gap_at *at, struct span time)
{
    return split_thread(s, at, at->thread, time);
}

static struct gap_cause of_launch(const struct gap_split *s, const struct gap_at *at)
{
    struct gap_cause like = gap_split_plain(at, CAUSE_LAUNCH, "");
    like.name = trace_name(s->t, at->g->launch);
    like.row = at->g->launch;
    return like;
}

static bool is_staged(const struct trace *t, row_t work)
{
    return copy_of(t, work).memory == MEMORY_PAGEABLE;
}

/* Launched, but not started: what it waits for. */
static struct gap_cause of_way(const struct gap_split *s, const struct gap_at *at)
{
    const struct trace *t = s->t;
    const struct idle_gap *g = at->g;
    if (trace_launch_of(t, g->prev) == g->launch)
        return gap_split_plain(at, CAUSE_GRAPH, "between the nodes of a graph");
    if (is_staged(t, g->next)) return gap_split_plain(at, CAUSE_COPY, "staging of pageable memory");
    if (g->end_ns - t->ts_ns[g->launch] <= gap_latency_ns) return of_launch(s, at);
    if (t->lane[g->prev] != t->lane[g->next])
        return gap_split_plain(at, CAUSE_DEPENDENCY, "waits for another stream");
    bool copies = t->kind[g->prev] == KIND_MEMCPY || t->kind[g->next] == KIND_MEMCPY;
    return gap_split_plain(at, CAUSE_DEVICE,
                           copies ? "between a copy and other work"
                                  : "launched in time, started late");
}

/* After the launch: the call and a usual latency are its own, what exceeds them is not. A call that
 * had begun before the gap may still be at it: launching a graph takes long. */
static int split_way(struct gap_split *s, const struct gap_at *at, struct span time)
{
    struct gap_cause way = of_way(s, at), launch = of_launch(s, at);
    bool late = at->g->late_ns > at->g->begin_ns && way.kind != CAUSE_COPY;
    if (way.kind == CAUSE_DEVICE) late = trace_end_ns(s->t, at->g->launch) > at->g->begin_ns;
    int64_t until = late ? trace_end_ns(s->t, at->g->launch) + gap_latency_ns : time.begin_ns;
    if (until > time.end_ns) until = time.end_ns;
    if (until < time.begin_ns) until = time.begin_ns;
    bool kernel = calls_kind(calls_of(s->cx), s->t, at->g->launch) == CALL_LAUNCH;
    if (kernel && until - time.begin_ns >= gap_loading_ns) launch.kind = CAUSE_LOADING;
    TRY(gap_split_add(s, &launch, until - time.begin_ns));
    return gap_split_add(s, &way, time.end_ns - until);
}

static struct gap_cause of_overhead(const struct gap_split *s, const struct gap_at *at, row_t r)
{
    struct gap_cause like = gap_split_plain(at, CAUSE_PROFILER, "");
    like.name = trace_name(s->t, r);
    like.row = r;
    if (overhead_kind(like.name) == OVERHEAD_LOADING) like.kind = CAUSE_LOADING;
    return like;
}

/* Gives the recorder's own cost inside `time` to itself and the rest to `rest`. */
static int without_overhead(struct gap_split *s, const struct gap_at *at, struct span time,
                            split_fn *rest)
{
    const struct trace *t = s->t;
    for (size_t i = s->at_overhead; i < s->n_overheads; i++) {
        row_t r = s->overheads[i];
        int64_t begin = t->ts_ns[r], end = trace_end_ns(t, r);
        if (begin >= time.end_ns) break;
        if (end <= time.begin_ns) continue;
        if (begin < time.begin_ns) begin = time.begin_ns;
        if (end > time.end_ns) end = time.end_ns;
        if (begin > time.begin_ns) TRY(rest(s, at, (struct span){time.begin_ns, begin}));
        struct gap_cause like = of_overhead(s, at, r);
        TRY(gap_split_add(s, &like, end - begin));
        time.begin_ns = end;
    }
    return time.begin_ns < time.end_ns ? rest(s, at, time) : 0;
}

/* Overheads that ended before the gap did not touch it nor will they touch later ones. */
static void skip_overheads(struct gap_split *s, int64_t begin_ns)
{
    if (s->at_overhead && begin_ns < trace_end_ns(s->t, s->overheads[s->at_overhead - 1]))
        s->at_overhead = 0; /* another device: from the start again */
    while (s->at_overhead < s->n_overheads &&
           trace_end_ns(s->t, s->overheads[s->at_overhead]) <= begin_ns)
        s->at_overhead++;
}

static struct gap_cause of_orphan(const struct gap_split *s, const struct gap_at *at)
{
    const struct gpu_info *g = trace_gpu(s->t, at->g->next);
    bool before = g && g->correlation > 0 && g->correlation < s->first_correlation;
    return gap_split_plain(at, CAUSE_UNKNOWN,
                           before ? "launched before the recording began" : "launch not recorded");
}

static int split_whole(struct gap_split *s, const struct gap_at *at, struct gap_cause like)
{
    return gap_split_add(s, &like, idle_gap_ns(at->g));
}

static int gap_split_split(struct gap_split *s, struct gap_at at, bool whole)
{
    const struct idle_gap *g = at.g;
    bool late = g->late_ns > g->begin_ns;
    if (whole)
        return split_whole(
            s, &at, gap_split_plain(&at, CAUSE_SHORT, late ? "launch-bound" : "back-to-back"));
    if (g->launch == ROW_NONE) return split_whole(s, &at, of_orphan(s, &at));
    at.thread = s->t->lane[g->launch];
    at.other = idle_gap_handed_over(s->t, g);
    skip_overheads(s, g->begin_ns);
    TRY(without_overhead(s, &at, (struct span){g->begin_ns, g->late_ns}, split_late));
    return without_overhead(s, &at, (struct span){g->late_ns, g->end_ns}, split_way);
}

uint32_t gap_split_step(const struct gap_split *s, const struct idle_gap *g)
{
    int64_t at_ns = g->launch == ROW_NONE ? g->begin_ns : s->t->ts_ns[g->launch];
    return steps_at(steps_of(s->cx), at_ns);
}

int gap_split_run(struct gap_split *s, uint32_t device, const struct idle_gap *g, bool whole,
                  struct err *e)
{
    gap_causes_begin(&s->causes);
    if (gap_split_split(s, (struct gap_at){device, g, LANE_NONE, LANE_NONE}, whole))
        return err_nomem(e);
    gap_causes_end(&s->causes, gap_split_step(s, g));
    return 0;
}
