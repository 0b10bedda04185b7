/* replay.c: one pass over the calls in their original order. Dependencies always point back in that
 * order, so every time needed is known when it is needed. */
#include "analyze/simulate/replay.h"

#include <string.h>

/* What launching a captured graph costs the CPU, in launch calls: one large call instead of many.
 */
#define GRAPH_LAUNCH_CALLS 2
/* Kernels of a graph follow each other a little closer than queued ones. */
#define GRAPH_GAP_NS 1000
/* The hardware queue: launches beyond it make the CPU wait. */
#define QUEUE_LIMIT 1024
/* Taking out the profiler's cost never shrinks a stretch of CPU time below this share of it. */
#define LEAST_SHARE 0.1

struct thread_state {
    int64_t now_ns;  /* new time, from the start of the window */
    int64_t mark_ns; /* original time that `now_ns` stands for */
    row_t cursor;    /* next row whose recording cost has not been charged */
    uint32_t first_cut, end_cut;
    uint32_t join; /* next join of this thread */
    bool started;
};

struct run {
    const struct sim_model *m;
    const struct sim_plan *plan;
    struct thread_state *threads;
    int64_t *begin_ns, *end_ns; /* by work */
    int64_t *stream_end;        /* by stream */
    bool *stream_used;
    int64_t *queue;   /* start times of launched work by stream, a ring of QUEUE_LIMIT */
    uint64_t *queued; /* works launched so far by stream */
    uint32_t main_thread;
    int64_t wait_ns, device_end_ns;
};

/* Original time that the cuts take out of [from, to) of a thread. */
static double cut_time(const struct run *r, const struct thread_state *th, int64_t from, int64_t to)
{
    const struct sim_cut *cuts = r->plan->cuts;
    uint32_t lo = th->first_cut, hi = th->end_cut;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (cuts[mid].end_ns <= from) lo = mid + 1;
        else hi = mid;
    }
    double gone = 0;
    for (; lo < th->end_cut && cuts[lo].begin_ns < to; lo++) {
        int64_t b = cuts[lo].begin_ns > from ? cuts[lo].begin_ns : from;
        int64_t e = cuts[lo].end_ns < to ? cuts[lo].end_ns : to;
        gone += (double)(e - b) * (1 - cuts[lo].keep);
    }
    return gone;
}

static double row_cost(const struct trace *t, const struct sim_cost *c, row_t r)
{
    switch (t->kind[r]) {
    case KIND_OP: return c->op_ns;
    case KIND_ANNOTATION: return c->annotation_ns;
    case KIND_PYTHON: return c->python_ns;
    case KIND_MEMORY: return c->memory_ns;
    case KIND_RUNTIME:
    case KIND_DRIVER: return trace_call(t, r)->n_gpu ? c->launch_ns : c->call_ns;
    default: return 0;
    }
}

/* Recording cost of the rows that start before `to` and have not been charged yet. Rows inside a
 * cut are gone already. */
static double recording_cost(struct run *r, struct thread_state *th, lane_id lane, int64_t to)
{
    const struct trace *t = r->m->t;
    const struct sim_cost *c = &r->plan->cost;
    if (c->op_ns <= 0 && c->launch_ns <= 0 && c->python_ns <= 0) return 0;
    double cost = 0;
    row_t end = t->lanes[lane].end;
    for (; th->cursor < end && t->ts_ns[th->cursor] < to; th->cursor++) {
        int64_t at = t->ts_ns[th->cursor];
        double one = row_cost(t, c, th->cursor);
        if (one > 0 && (th->first_cut == th->end_cut || cut_time(r, th, at, at + 1) < 0.5))
            cost += one;
    }
    return cost;
}

/* CPU time that [from, to) of the thread takes in the replay. */
static int64_t cpu_time(struct run *r, uint32_t thread, int64_t from, int64_t to)
{
    struct thread_state *th = &r->threads[thread];
    if (to <= from) return 0;
    double left = (double)(to - from) - cut_time(r, th, from, to);
    double cost = recording_cost(r, th, r->m->threads[thread].lane, to);
    double least = left * LEAST_SHARE;
    left = left - cost > least ? left - cost : least;
    if (r->plan->cpu_scale > 0) left *= r->plan->cpu_scale;
    return (int64_t)(left + 0.5);
}

static int64_t time_at(struct run *r, uint32_t thread, int64_t at_ns);

/* Moves a thread on to original time `to`, through the joins that lie on the way. */
static void advance(struct run *r, uint32_t thread, int64_t to)
{
    struct thread_state *th = &r->threads[thread];
    const struct sim_model *m = r->m;
    while (th->join < m->n_joins &&
           (m->joins[th->join].thread != thread || m->joins[th->join].end_ns <= th->mark_ns))
        th->join++;
    while (th->join < m->n_joins && m->joins[th->join].end_ns <= to) {
        const struct sim_join *j = &m->joins[th->join++];
        if (j->thread != thread || j->begin_ns < th->mark_ns) continue;
        th->now_ns += cpu_time(r, thread, th->mark_ns, j->begin_ns);
        th->mark_ns = j->end_ns;
        int64_t resumed = time_at(r, j->other, j->done_ns) + (j->end_ns - j->done_ns);
        if (resumed > th->now_ns) th->now_ns = resumed;
        while (th->cursor < m->t->lanes[m->threads[thread].lane].end &&
               m->t->ts_ns[th->cursor] < j->end_ns)
            th->cursor++;
    }
    if (to <= th->mark_ns) return;
    th->now_ns += cpu_time(r, thread, th->mark_ns, to);
    th->mark_ns = to;
}

/* New time of the thread at original time `at_ns`; it starts when the main thread gets there. */
static int64_t time_at(struct run *r, uint32_t thread, int64_t at_ns)
{
    struct thread_state *th = &r->threads[thread];
    if (!th->started) {
        th->started = true;
        th->mark_ns = r->m->threads[thread].begin_ns;
        th->now_ns = thread == r->main_thread ? th->mark_ns - r->m->begin_ns
                                              : time_at(r, r->main_thread, th->mark_ns);
    }
    if (at_ns >= th->mark_ns) advance(r, thread, at_ns);
    return th->now_ns - (th->mark_ns > at_ns ? th->mark_ns - at_ns : 0);
}

/* A thread with nothing open that comes back to life was woken by the main thread. */
static void wake(struct run *r, uint32_t thread, row_t call, int64_t at_ns)
{
    const struct trace *t = r->m->t;
    struct thread_state *th = &r->threads[thread];
    if (thread == r->main_thread || !th->started) return;
    row_t top = call;
    while (t->parent[top] != ROW_NONE) top = t->parent[top];
    int64_t begin = t->ts_ns[top];
    if (begin <= th->mark_ns || begin - th->mark_ns < 50000 || begin > at_ns) return;
    int64_t woken = time_at(r, r->main_thread, begin);
    while (th->cursor < t->n_rows && t->ts_ns[th->cursor] < begin && th->cursor < top) th->cursor++;
    th->now_ns = woken > th->now_ns ? woken : th->now_ns;
    th->mark_ns = begin;
}

static int64_t duration(const struct run *r, uint32_t w)
{
    const int64_t *ns = r->plan->work_ns;
    if (ns && ns[w] >= 0) return ns[w];
    return r->m->works[w].end_ns - r->m->works[w].begin_ns;
}

static void place(struct run *r, uint32_t w, int64_t begin_ns)
{
    const struct sim_work *k = &r->m->works[w];
    int64_t end = begin_ns + duration(r, w);
    r->begin_ns[w] = begin_ns;
    r->end_ns[w] = end;
    if (!r->stream_used[k->stream] || end > r->stream_end[k->stream])
        r->stream_end[k->stream] = end;
    r->stream_used[k->stream] = true;
    if (end > r->device_end_ns) r->device_end_ns = end;
    r->queue[(size_t)k->stream * QUEUE_LIMIT + r->queued[k->stream]++ % QUEUE_LIMIT] = begin_ns;
}

static void start_work(struct run *r, uint32_t w, int64_t launched_ns, int64_t latency_ns,
                       bool captured)
{
    const struct sim_work *k = &r->m->works[w];
    int64_t gap = captured && k->gap_ns > GRAPH_GAP_NS ? GRAPH_GAP_NS : k->gap_ns;
    int64_t begin = launched_ns + latency_ns;
    if (r->stream_used[k->stream] && r->stream_end[k->stream] + gap > begin)
        begin = r->stream_end[k->stream] + gap;
    if (k->waits_for != SIM_NONE && r->end_ns[k->waits_for] + k->wait_delay_ns > begin)
        begin = r->end_ns[k->waits_for] + k->wait_delay_ns;
    place(r, w, begin);
}

/* Work launched before the window: follows its stream, or stands where it stood. */
static void start_orphan(struct run *r, uint32_t w)
{
    const struct sim_work *k = &r->m->works[w];
    if (r->stream_used[k->stream]) start_work(r, w, INT64_MIN / 2, 0, false);
    else place(r, w, k->begin_ns - r->m->begin_ns);
}

static void start_works(struct run *r, const struct sim_call *c, int64_t now_ns, enum sim_mode mode)
{
    const struct sim_model *m = r->m;
    const struct thread_state *th = &r->threads[c->thread];
    bool captured = mode == SIM_HEAD || mode == SIM_CAPTURED;
    for (uint32_t i = 0; i < c->n_work; i++) {
        uint32_t w = m->works_by_call[c->first_work + i];
        int64_t latency = m->works[w].latency_ns;
        int64_t in_call = c->begin_ns + latency < c->end_ns ? c->begin_ns + latency : c->end_ns;
        latency -= (int64_t)cut_time(r, th, c->begin_ns, in_call);
        if (captured && latency > m->typical_latency_ns) latency = m->typical_latency_ns;
        start_work(r, w, now_ns, latency > 0 ? latency : 0, captured);
    }
}

/* When the launch may go through: the queue takes QUEUE_LIMIT launches that have not started. */
static int64_t queue_room_at(const struct run *r, const struct sim_call *c)
{
    if (!c->n_work || r->m->deepest_queue > QUEUE_LIMIT) return INT64_MIN;
    uint32_t s = r->m->works[r->m->works_by_call[c->first_work]].stream;
    if (r->queued[s] < QUEUE_LIMIT) return INT64_MIN;
    return r->queue[(size_t)s * QUEUE_LIMIT + r->queued[s] % QUEUE_LIMIT];
}

/* End of what the call waits for, in new time; INT64_MIN when there is nothing. */
static int64_t awaited(const struct run *r, const struct sim_call *c)
{
    switch (c->wait) {
    case SIM_WAIT_STREAM: return r->stream_used[c->target] ? r->stream_end[c->target] : INT64_MIN;
    case SIM_WAIT_DEVICE: return r->device_end_ns;
    case SIM_WAIT_WORK: return r->end_ns[c->target];
    case SIM_WAIT_OWN: return r->end_ns[r->m->works_by_call[c->first_work + c->n_work - 1]];
    case SIM_WAIT_NOTHING: break;
    }
    return INT64_MIN;
}

static int64_t call_cost(struct run *r, const struct sim_call *c, enum sim_mode mode)
{
    if (mode == SIM_CAPTURED) return 0;
    if (mode == SIM_HEAD) return GRAPH_LAUNCH_CALLS * r->m->typical_launch_ns;
    int64_t dur = c->end_ns - c->begin_ns;
    if (c->wait == SIM_WAIT_NOTHING) return cpu_time(r, c->thread, c->begin_ns, c->end_ns);
    int64_t whole = cpu_time(r, c->thread, c->begin_ns, c->end_ns);
    int64_t floor = c->floor_ns - (dur - whole < c->floor_ns / 2 ? dur - whole : c->floor_ns / 2);
    if (mode == SIM_NO_WAIT && c->wait == SIM_WAIT_OWN && floor > r->m->typical_launch_ns)
        return r->m->typical_launch_ns;
    return floor;
}

static void run_call(struct run *r, const struct sim_call *c, enum sim_mode mode)
{
    struct thread_state *th = &r->threads[c->thread];
    time_at(r, c->thread, th->started ? th->mark_ns : c->begin_ns);
    wake(r, c->thread, c->row, c->begin_ns);
    advance(r, c->thread, c->begin_ns);
    if (mode == SIM_DROP) {
        recording_cost(r, th, r->m->threads[c->thread].lane, c->end_ns);
        if (c->end_ns > th->mark_ns) th->mark_ns = c->end_ns;
        return;
    }
    int64_t room = queue_room_at(r, c);
    if (room > th->now_ns) th->now_ns = room;
    start_works(r, c, th->now_ns, mode);
    int64_t done = th->now_ns + call_cost(r, c, mode);
    int64_t until = mode == SIM_KEEP ? awaited(r, c) : INT64_MIN;
    if (until != INT64_MIN && until + c->return_ns > done) {
        r->wait_ns += until + c->return_ns - done;
        done = until + c->return_ns;
    }
    th->now_ns = done;
    if (c->end_ns > th->mark_ns) th->mark_ns = c->end_ns;
}

static bool init_run(struct run *r, struct arena *mem)
{
    const struct sim_model *m = r->m;
    size_t streams = m->n_streams + (size_t)1, works = m->n_works + (size_t)1;
    r->threads = arena_zalloc(mem, m->n_threads + (size_t)1, sizeof *r->threads);
    r->begin_ns = arena_zalloc(mem, works, sizeof *r->begin_ns);
    r->end_ns = arena_zalloc(mem, works, sizeof *r->end_ns);
    r->stream_end = arena_zalloc(mem, streams, sizeof *r->stream_end);
    r->stream_used = arena_zalloc(mem, streams, sizeof *r->stream_used);
    r->queue = arena_alloc(mem, streams * QUEUE_LIMIT * sizeof *r->queue);
    r->queued = arena_zalloc(mem, streams, sizeof *r->queued);
    if (!r->threads || !r->begin_ns || !r->end_ns || !r->stream_end || !r->stream_used ||
        !r->queue || !r->queued)
        return false;
    uint32_t *n_calls = arena_zalloc(mem, m->n_threads + (size_t)1, sizeof *n_calls);
    if (!n_calls) return false;
    for (uint32_t i = 0; i < m->n_calls; i++) n_calls[m->calls[i].thread]++;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        if (n_calls[i] > n_calls[r->main_thread]) r->main_thread = i;
        struct thread_state *th = &r->threads[i];
        th->cursor = m->t->lanes[m->threads[i].lane].begin;
        th->first_cut = cut;
        while (cut < r->plan->n_cuts && r->plan->cuts[cut].thread == i) cut++;
        th->end_cut = cut;
    }
    return true;
}

static int64_t finish(struct run *r)
{
    int64_t wall = r->device_end_ns;
    for (uint32_t i = 0; i < r->m->n_threads; i++) {
        int64_t end = time_at(r, i, r->m->threads[i].end_ns);
        if (end > wall) wall = end;
    }
    return wall;
}

int sim_replay(const struct sim_model *m, const struct sim_plan *plan, struct arena *mem,
               struct sim_result *ret, struct err *e)
{
    struct run r = {.m = m, .plan = plan};
    if (!init_run(&r, mem)) return FAIL(e, ERR_NOMEM, "out of memory while replaying the trace");
    uint32_t orphan = 0;
    for (uint32_t i = 0; i < m->n_calls; i++) {
        for (; orphan < m->n_works && m->works[orphan].begin_ns <= m->calls[i].begin_ns; orphan++)
            if (m->works[orphan].call == SIM_NONE) start_orphan(&r, orphan);
        run_call(&r, &m->calls[i], plan->mode ? plan->mode[i] : SIM_KEEP);
    }
    for (; orphan < m->n_works; orphan++)
        if (m->works[orphan].call == SIM_NONE) start_orphan(&r, orphan);
    *ret = (struct sim_result){.wall_ns = finish(&r),
                               .cpu_wait_ns = r.wait_ns,
                               .gpu_end_ns = r.device_end_ns,
                               .work_begin_ns = r.begin_ns,
                               .work_end_ns = r.end_ns};
    return 0;
}

int sim_wall(const struct sim_model *m, const struct sim_plan *plan, struct arena *mem,
             int64_t *ret_wall_ns, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    struct sim_result result;
    int rc = sim_replay(m, plan, mem, &result, e);
    if (rc == 0) *ret_wall_ns = result.wall_ns;
    arena_reset_to(mem, mark);
    return rc;
}
