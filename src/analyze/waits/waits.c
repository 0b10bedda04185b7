/* waits.c: one walk over the calls of each thread, joining copies with the synchronize that follows
 * them, then what stood in the queue at each wait. */
#include "analyze/waits/waits.h"

#include "analyze/device/queue.h"
#include "analyze/names/copy.h"
#include "analyze/names/overhead.h"
#include "analyze/names/readback.h"
#include "analyze/names/source_place.h"
#include "analyze/waits/waits_constants.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* Streams looked at for what a wait waited for: thousands of them are not a pipeline. */
#define MOST_STREAMS 512

struct finder {
    const struct trace *t;
    const struct timeline *tl;
    const struct calls *calls;
    const struct queues *queues;
    struct source_places *where;
    const struct overheads *overheads;
    lane_id *streams;
    uint32_t n_streams;
    struct waits *out;
    size_t cap;        /* of out->all, which lives on the heap until it is complete */
    row_t copy;        /* last copy call on this thread that nothing was joined to, or ROW_NONE */
    row_t last_launch; /* last call on this thread that launched something, or ROW_NONE */
    bool copy_listed;  /* `copy` waits itself and is the last entry of `out` */
};

const char *wait_kind_name(enum wait_kind k)
{
    static const char *const names[WAIT_KINDS] = {
        [WAIT_READBACK] = "readback",     [WAIT_UPLOAD] = "constant_upload", [WAIT_COPY] = "copy",
        [WAIT_ALLOCATION] = "allocation", [WAIT_EXPLICIT] = "explicit",
    };
    return names[k];
}

static row_t copied_by(const struct trace *t, row_t call)
{
    uint32_t n;
    const row_t *rows = trace_launched(t, call, &n);
    return n && t->kind[rows[0]] == KIND_MEMCPY ? rows[0] : ROW_NONE;
}

static int64_t waits_bytes_of(const struct trace *t, row_t copy)
{
    const struct gpu_info *g = copy == ROW_NONE ? NULL : trace_gpu(t, copy);
    return g ? g->bytes : -1;
}

/* An asynchronous copy call waits after all when the driver has to stage pageable memory: always
 * on the way to the CPU, piece by piece on the way to the device. */
static bool copy_waits(const struct trace *t, row_t copy)
{
    struct copy c = copy_of(t, copy);
    if (c.memory != MEMORY_PAGEABLE) return false;
    return c.way == COPY_TO_HOST ||
           (c.way == COPY_TO_DEVICE && waits_bytes_of(t, copy) > waits_few_bytes);
}

/* The operator around it does, or the call itself: a library's. */
static bool reads_back(const struct trace *t, row_t call)
{
    row_t op = trace_up(t, call, KIND_OP);
    if (readback_of(trace_name(t, call)) != READBACK_NONE) return true;
    return op != ROW_NONE && readback_of(trace_name(t, op)) != READBACK_NONE;
}

/* A copy of unknown size is one of a few bytes if the device is done with it as soon. */
static bool waits_is_few(const struct trace *t, const struct wait *w)
{
    if (w->bytes > 0 || w->copy == ROW_NONE) return w->bytes <= waits_few_bytes;
    return t->dur_ns[w->copy] <= waits_few_ns;
}

static enum wait_kind waits_kind_of(const struct trace *t, const struct wait *w,
                                    enum call_kind call)
{
    if (call_allocates(call)) return WAIT_ALLOCATION;
    struct copy c = copy_of(t, w->copy);
    bool few = waits_is_few(t, w);
    if (c.way == COPY_TO_HOST) return few ? WAIT_READBACK : WAIT_COPY;
    if (c.way == COPY_TO_DEVICE) return few ? WAIT_UPLOAD : WAIT_COPY;
    if (reads_back(t, w->call)) return WAIT_READBACK;
    return call == CALL_COPY_SYNC ? WAIT_COPY : WAIT_EXPLICIT;
}

static void note_call(const struct trace *t, struct wait *w, row_t call, bool waits)
{
    if (w->call == ROW_NONE) w->begin_ns = t->ts_ns[call];
    w->call = call;
    w->end_ns = trace_end_ns(t, call);
    w->cost_ns += t->dur_ns[call];
    if (!waits) return;
    w->blocked_ns += t->dur_ns[call];
}

static int32_t waits_device_of(const struct finder *f, row_t copy)
{
    const struct trace *t = f->t;
    uint32_t n = 0;
    const row_t *rows = NULL;
    if (copy == ROW_NONE && f->last_launch != ROW_NONE)
        rows = trace_launched(t, f->last_launch, &n);
    if (n) copy = rows[0];
    if (copy != ROW_NONE) return t->lanes[t->lane[copy]].device;
    return f->tl->n_devices == 1 ? f->tl->devices[0].device : -1;
}

static int waits_add_wait(struct finder *f, row_t call, row_t copy_call)
{
    const struct trace *t = f->t;
    struct waits *out = f->out;
    struct wait w = {.call = ROW_NONE, .copy_call = copy_call, .copy = ROW_NONE};
    if (copy_call != ROW_NONE) {
        w.copy = copied_by(t, copy_call);
        note_call(t, &w, copy_call, copy_call == call || copy_waits(t, w.copy));
    }
    if (call != copy_call) note_call(t, &w, call, true);
    w.bytes = waits_bytes_of(t, w.copy);
    w.kind = waits_kind_of(t, &w, calls_kind(f->calls, t, call));
    w.device = waits_device_of(f, w.copy);
    if (VEC_RESERVE(out->all, out->n, f->cap, 1)) return ERR_NOMEM;
    out->all[out->n++] = w;
    return 0;
}

/* In the same operator or function. Functions known by moments only may be several rows. */
static bool waits_same_place(const struct trace *t, row_t a, row_t b)
{
    row_t in_a = t->parent[a], in_b = t->parent[b];
    if (in_a == in_b) return true;
    return in_a != ROW_NONE && in_b != ROW_NONE && t->flags[in_a] & t->flags[in_b] & ROW_LINE &&
           t->name[in_a] == t->name[in_b];
}

/* A synchronize waits for the copy before it when both stand in the same place, or directly follow
 * each other where no operators were recorded. */
static bool waits_joins(const struct finder *f, row_t sync)
{
    const struct trace *t = f->t;
    if (f->copy == ROW_NONE || !waits_same_place(t, f->copy, sync)) return false;
    return t->ts_ns[sync] - trace_end_ns(t, f->copy) < waits_join_ns;
}

static int waits_add_sync(struct finder *f, row_t r)
{
    row_t copy = waits_joins(f, r) ? f->copy : ROW_NONE;
    if (copy != ROW_NONE && f->copy_listed) f->out->n--; /* listed again, together */
    f->copy = ROW_NONE;
    return waits_add_wait(f, r, copy);
}

static int waits_add_copy(struct finder *f, row_t r, bool waits)
{
    f->copy = r;
    f->copy_listed = waits;
    return waits ? waits_add_wait(f, r, r) : 0;
}

static int add_allocation(struct finder *f, row_t r)
{
    if (f->t->dur_ns[r] < waits_alloc_ns) return 0;
    f->copy = ROW_NONE;
    return waits_add_wait(f, r, ROW_NONE);
}

/* A launch that stands before a full queue: the CPU is far ahead then, which is healthy and not a
 * wait that a change to the program should remove. */
static void note_pressure(struct finder *f, row_t r)
{
    if (f->t->dur_ns[r] < waits_pressure_ns) return;
    int64_t ns =
        overhead_ns(f->overheads, OVERHEAD_QUEUE_FULL, f->t->ts_ns[r], trace_end_ns(f->t, r));
    if (!ns) return;
    f->out->pressed++;
    f->out->pressed_ns += ns;
}

static int waits_visit(struct finder *f, row_t r)
{
    const struct trace *t = f->t;
    enum call_kind k = calls_kind(f->calls, t, r);
    if (k == CALL_OTHER) return 0;
    row_t up = t->parent[r];
    if (up != ROW_NONE && call_waits(calls_kind(f->calls, t, up))) return 0; /* inside a wait */
    if (call_syncs(k)) return waits_add_sync(f, r);
    if (k == CALL_COPY_SYNC)
        return waits_add_copy(f, r, copy_of(t, copied_by(t, r)).way != COPY_INSIDE);
    if (call_allocates(k)) return add_allocation(f, r);
    if (!call_launches(k)) return 0;
    f->last_launch = r;
    if (k == CALL_COPY && copy_waits(t, copied_by(t, r))) return waits_add_copy(f, r, true);
    note_pressure(f, r);
    f->copy = ROW_NONE;
    return k == CALL_COPY ? waits_add_copy(f, r, false) : 0;
}

static int visit_threads(struct finder *f)
{
    const struct trace *t = f->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        f->copy = f->last_launch = ROW_NONE;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
            if (t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER) TRY(waits_visit(f, r));
    }
    return 0;
}

static int64_t waits_launched_ns(const struct trace *t, row_t work)
{
    row_t call = trace_launch_of(t, work);
    return call == ROW_NONE ? INT64_MIN : t->ts_ns[call];
}

/* When the work launched on a stream before `ts_ns` was done; `ts_ns` when there was none. A
 * stream starts its work in the order of the launches, so the last one tells. */
static int64_t stream_done(const struct trace *t, const struct lane *l, int64_t ts_ns)
{
    row_t i = l->begin;
    SEARCH_PAST(i, l->end, waits_launched_ns(t, i) < ts_ns);
    if (i == l->begin) return ts_ns;
    int64_t end = trace_end_ns(t, i - 1);
    return end > ts_ns ? end : ts_ns;
}

/* The queued work it waited for: on the stream of its copy, else on all streams of the device that
 * were done when the call returned. */
static int64_t done_ns(const struct finder *f, const struct wait *w)
{
    const struct trace *t = f->t;
    int64_t done = w->begin_ns;
    for (uint32_t i = 0; i < f->n_streams; i++) {
        const struct lane *l = &t->lanes[f->streams[i]];
        if (l->device != w->device) continue;
        if (w->copy != ROW_NONE && t->lane[w->copy] != f->streams[i]) continue;
        int64_t end = stream_done(t, l, w->begin_ns);
        if (end > done && end <= w->end_ns + waits_return_ns) done = end;
    }
    return done < w->end_ns ? done : w->end_ns;
}

static void waits_measure(const struct finder *f, struct wait *w)
{
    for (uint32_t i = 0; i < f->tl->n_devices; i++)
        if (f->tl->devices[i].device == w->device)
            w->depth = queue_depth_at(&f->queues->of[i], w->begin_ns - 1);
    w->waited_ns = done_ns(f, w) - w->begin_ns;
    w->drains = w->waited_ns >= waits_drain_ns;
}

static bool has_profiler_frame(struct source_places *where, row_t r)
{
    const struct trace *t = where->t;
    for (; r != ROW_NONE; r = t->parent[r])
        if (t->kind[r] == KIND_PYTHON && source_places_class(where, r) == FRAME_PROFILER)
            return true;
    return false;
}

/* The last wait of the recording is marked by the reader; stepping and stopping may wait too. */
static void mark_profiler(const struct finder *f)
{
    for (size_t i = 0; i < f->out->n; i++) {
        struct wait *w = &f->out->all[i];
        w->profiler = f->t->flags[w->call] & ROW_PROFILER || has_profiler_frame(f->where, w->call);
    }
}

static int waits_prepare(struct finder *f, struct arena *mem, struct err *e)
{
    f->streams = arena_zalloc(mem, MOST_STREAMS, sizeof *f->streams);
    if (!f->streams) return err_nomem(e);
    for (lane_id l = 0; l < f->t->n_lanes && f->n_streams < MOST_STREAMS; l++)
        if (f->t->lanes[l].kind == LANE_STREAM) f->streams[f->n_streams++] = l;
    return 0;
}

static int waits_find(struct finder *f, struct arena *mem, struct err *e)
{
    TRY(waits_prepare(f, mem, e));
    if (visit_threads(f)) return err_nomem(e);
    for (size_t i = 0; i < f->out->n; i++) waits_measure(f, &f->out->all[i]);
    mark_profiler(f);
    return 0;
}

static int waits_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct waits out = {0};
    struct finder f = {.t = cx->t,
                       .tl = timeline_of(cx),
                       .calls = calls_of(cx),
                       .queues = queues_of(cx),
                       .overheads = overheads_of(cx),
                       .where = places_of(cx),
                       .out = &out};
    struct arena_mark m = arena_mark(cx->mem);
    int rc = waits_find(&f, cx->mem, e);
    arena_reset_to(cx->mem, m);
    struct wait *all = rc == 0 ? arena_zalloc(cx->mem, out.n + 1, sizeof *all) : NULL;
    if (all && out.n) memcpy(all, out.all, out.n * sizeof *all);
    mem_free(out.all);
    if (rc < 0) return rc;
    if (!all) return err_nomem(e);
    out.all = all;
    *(struct waits *)ret = out;
    return 0;
}

static const struct pass *const needs[] = {&calls_pass,  &overheads_pass, &timeline_pass,
                                           &queues_pass, &places_pass,    NULL};

const struct pass waits_pass = {
    .id = PASS_WAITS,
    .size = sizeof(struct waits),
    .needs = needs,
    .run = waits_run_pass,
};
