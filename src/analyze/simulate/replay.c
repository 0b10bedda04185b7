/* replay.c: one pass over the calls in their original order. Dependencies always point back in that
 * order, so every time needed is known when it is needed. */
#include "analyze/simulate/edits.h"

#include <string.h>

#include "analyze/simulate/clock_power.h"
#include "analyze/simulate/simulate_constants.h"
#include "base/search.h"

/* Copies that a program which prefetches keeps in flight. */
#define PREFETCH 2

struct thread_state {
    int64_t now_ns;     /* new time, from the start of the window */
    int64_t mark_ns;    /* original time that `now_ns` stands for */
    double weight_rate; /* recording weight a nanosecond, up to the next node */
    uint32_t first_cut, end_cut;
    uint32_t join;                   /* next join of this thread */
    int64_t handed_ns, handed_at_ns; /* last hand-over by another process: original and new time */
    bool started;
    bool kept, freed; /* memory was given back since the last launch: no longer, still */
};

/* Copies that run ahead: one after the other, at most PREFETCH of them before they are
 * requested. */
struct bus {
    int64_t end_ns;
    int64_t asked_ns[PREFETCH]; /* when the last ones were requested */
    uint64_t n;
};

struct run {
    const struct sim_model *m;
    const struct sim_plan *plan;
    struct thread_state *threads;
    int64_t *begin_ns, *end_ns; /* by work */
    int64_t *stream_end;        /* by stream */
    bool *stream_used;
    int64_t *queue;   /* start times of launched work by stream, a ring of replay_queue_launches */
    uint64_t *queued; /* works launched so far by stream */
    uint32_t *orphan; /* by stream: the next work launched before the window, or SIM_NONE */
    uint32_t *later;  /* by such work: the next one of its stream */
    struct bus *bus;  /* SIM_BUSES of them; NULL when no copy runs ahead */
    uint32_t main_thread;
    int64_t wait_ns, device_end_ns;
};

/* What cuts take out of a stretch of a thread. */
struct cut_out {
    double ns;
    double unrecorded_ns, weight; /* of it: where recording goes with it, and how much of that */
};

/* What the cuts take out of [from, to) of a thread, in original time. */
static struct cut_out cut_out(const struct run *r, const struct thread_state *th, int64_t from,
                              int64_t to)
{
    const struct sim_cut *cuts = r->plan->cuts;
    uint32_t i = th->first_cut;
    SEARCH_PAST(i, th->end_cut, cuts[i].end_ns <= from);
    struct span piece = {from, to};
    struct cut_out gone = {0};
    for (; i < th->end_cut && cuts[i].begin_ns < to; i++) {
        const struct sim_cut *c = &cuts[i];
        double ns = (double)span_ns(span_both((struct span){c->begin_ns, c->end_ns}, piece));
        gone.ns += ns * (1 - c->keep);
        if (!c->unrecorded) continue;
        gone.unrecorded_ns += ns;
        gone.weight += c->weight * ns / (double)(c->end_ns - c->begin_ns);
    }
    return gone;
}

/* CPU time that [from, to) of the thread takes in the replay; `weight` is what was recorded in it.
 */
static int64_t cpu_time(const struct run *r, uint32_t thread, int64_t from, int64_t to,
                        double weight)
{
    if (to <= from) return 0;
    struct cut_out gone = cut_out(r, &r->threads[thread], from, to);
    double left = (double)(to - from) - gone.ns;
    double recorded = (double)(to - from) - gone.unrecorded_ns;
    weight = weight > gone.weight ? weight - gone.weight : 0;
    double cost = recorded > 0 ? weight * r->plan->cost_ns * left / recorded : 0;
    double least = left * replay_cpu_kept_share;
    left = left - cost > least ? left - cost : least;
    if (r->plan->cpu_scale > 0) left *= r->plan->cpu_scale;
    return (int64_t)(left + 0.5);
}

static int64_t time_at(struct run *r, uint32_t thread, int64_t at_ns);

static void step_to(struct run *r, uint32_t thread, int64_t to)
{
    struct thread_state *th = &r->threads[thread];
    if (to <= th->mark_ns) return;
    th->now_ns +=
        cpu_time(r, thread, th->mark_ns, to, th->weight_rate * (double)(to - th->mark_ns));
    th->mark_ns = to;
}

/* Something is handed over by another process. One that is cut out is there at once. */
static void take_over(struct run *r, uint32_t thread, const struct sim_join *j)
{
    struct thread_state *th = &r->threads[thread];
    step_to(r, thread, j->begin_ns);
    bool gone = 2 * cut_out(r, th, j->begin_ns, j->end_ns).ns > (double)(j->end_ns - j->begin_ns);
    if (gone || j->done_ns == j->begin_ns) {
        step_to(r, thread, j->end_ns);
    } else {
        int64_t ready = th->handed_at_ns + (j->done_ns - th->handed_ns);
        if (ready > th->now_ns) th->now_ns = ready;
        th->mark_ns = j->end_ns;
    }
    th->handed_ns = j->end_ns;
    th->handed_at_ns = th->now_ns;
}

/* Moves a thread on to original time `to`, through the joins that lie on the way. */
static void replay_advance(struct run *r, uint32_t thread, int64_t to)
{
    struct thread_state *th = &r->threads[thread];
    const struct sim_model *m = r->m;
    uint32_t end = m->threads[thread].end_join;
    for (; th->join < end && m->joins[th->join].end_ns <= to; th->join++) {
        const struct sim_join *j = &m->joins[th->join];
        if (j->end_ns <= th->mark_ns) continue;
        if (j->other == SIM_NONE) {
            take_over(r, thread, j);
            continue;
        }
        step_to(r, thread, j->begin_ns);
        double handed_over =
            (double)(j->end_ns - j->done_ns) - cut_out(r, th, j->done_ns, j->end_ns).ns;
        int64_t resumed = time_at(r, j->other, j->done_ns) + (int64_t)handed_over;
        th->mark_ns = j->end_ns;
        if (resumed > th->now_ns) th->now_ns = resumed;
    }
    step_to(r, thread, to);
}

/* The stretch up to the next node begins: how densely it was recorded. */
static void set_rate(struct run *r, uint32_t thread, uint32_t next)
{
    struct thread_state *th = &r->threads[thread];
    const struct sim_thread *st = &r->m->threads[thread];
    int64_t until = next == SIM_NONE ? st->end_ns : r->m->calls[next].begin_ns;
    double weight = next == SIM_NONE ? st->tail_weight : r->m->calls[next].lead_weight;
    th->weight_rate = until > th->mark_ns ? weight / (double)(until - th->mark_ns) : 0;
}

/* New time of the thread at original time `at_ns`; it starts when the main thread gets there, or
 * the one that it comes after. */
static int64_t time_at(struct run *r, uint32_t thread, int64_t at_ns)
{
    struct thread_state *th = &r->threads[thread];
    if (!th->started) {
        th->started = true;
        th->mark_ns = r->m->threads[thread].begin_ns;
        th->join = r->m->threads[thread].first_join;
        uint32_t after = r->m->threads[thread].after;
        if (after == SIM_NONE) after = r->main_thread;
        th->now_ns = thread == r->main_thread ? th->mark_ns - r->m->begin_ns
                                              : time_at(r, after, th->mark_ns);
        th->handed_ns = th->mark_ns;
        th->handed_at_ns = th->now_ns;
        set_rate(r, thread, r->m->threads[thread].first_call);
    }
    if (at_ns >= th->mark_ns) replay_advance(r, thread, at_ns);
    return th->now_ns - (th->mark_ns > at_ns ? th->mark_ns - at_ns : 0);
}

/* Whether the main thread began anything in that time; functions may only be samples. */
static bool main_is_active(const struct run *r, int64_t from, int64_t to)
{
    const struct trace *t = r->m->t;
    lane_id lane = r->m->threads[r->main_thread].lane;
    row_t i = trace_lower_bound(t, lane, from);
    while (i < t->lanes[lane].end && t->ts_ns[i] < to && t->kind[i] == KIND_PYTHON) i++;
    return i < t->lanes[lane].end && t->ts_ns[i] < to;
}

/* A thread with nothing open that comes back to life was woken by the main thread, unless that one
 * was idle as well: then it was busy with something that was not recorded. */
static void replay_wake(struct run *r, uint32_t thread, row_t call, int64_t at_ns)
{
    const struct trace *t = r->m->t;
    struct thread_state *th = &r->threads[thread];
    if (thread == r->main_thread || !th->started) return;
    row_t top = call;
    while (t->parent[top] != ROW_NONE) top = t->parent[top];
    int64_t begin = t->ts_ns[top];
    if (begin <= th->mark_ns || begin - th->mark_ns < 50000 || begin > at_ns) return;
    if (!main_is_active(r, th->mark_ns, begin)) return;
    int64_t woken = time_at(r, r->main_thread, begin);
    th->now_ns = woken > th->now_ns ? woken : th->now_ns;
    th->mark_ns = begin;
}

static int64_t replay_duration(const struct run *r, uint32_t w)
{
    const int64_t *ns = r->plan->work_ns;
    if (ns && ns[w] >= 0) return ns[w];
    return r->m->works[w].end_ns - r->m->works[w].begin_ns;
}

static void replay_place(struct run *r, uint32_t w, int64_t begin_ns)
{
    const struct sim_work *k = &r->m->works[w];
    int64_t end = begin_ns + replay_duration(r, w);
    r->begin_ns[w] = begin_ns;
    r->end_ns[w] = end;
    if (!r->stream_used[k->stream] || end > r->stream_end[k->stream])
        r->stream_end[k->stream] = end;
    r->stream_used[k->stream] = true;
    if (end > r->device_end_ns) r->device_end_ns = end;
    if (!sim_is_first(r->m, w)) return; /* a graph takes one place in the queue */
    r->queue[(size_t)k->stream * replay_queue_launches +
             r->queued[k->stream]++ % replay_queue_launches] = begin_ns;
}

/* A copy that runs ahead waits for the bus and for room, not for the stream that uses its data. */
static void start_ahead(struct run *r, uint32_t w, int64_t asked_ns)
{
    struct bus *b = &r->bus[r->plan->bus[w] - 1];
    int64_t begin = b->n ? b->end_ns : 0;
    int64_t *room = &b->asked_ns[b->n % PREFETCH];
    if (b->n >= PREFETCH && *room > begin) begin = *room;
    *room = asked_ns;
    b->n++;
    replay_place(r, w, begin);
    b->end_ns = r->end_ns[w];
}

static void start_work(struct run *r, uint32_t w, int64_t launched_ns, int64_t latency_ns,
                       bool captured)
{
    if (r->plan->bus && r->plan->bus[w]) {
        start_ahead(r, w, launched_ns);
        return;
    }
    const struct sim_work *k = &r->m->works[w];
    int64_t gap = captured && k->gap_ns > replay_graph_gap_ns ? replay_graph_gap_ns : k->gap_ns;
    int64_t begin = launched_ns + latency_ns;
    if (r->stream_used[k->stream] && r->stream_end[k->stream] + gap > begin)
        begin = r->stream_end[k->stream] + gap;
    if (k->waits_for != SIM_NONE && r->end_ns[k->waits_for] + k->wait_delay_ns > begin)
        begin = r->end_ns[k->waits_for] + k->wait_delay_ns;
    replay_place(r, w, begin);
}

/* Work launched before the window: follows its stream, or stands where it stood. */
static void start_orphan(struct run *r, uint32_t w)
{
    const struct sim_work *k = &r->m->works[w];
    if (r->stream_used[k->stream]) start_work(r, w, INT64_MIN / 2, 0, false);
    else replay_place(r, w, k->begin_ns - r->m->begin_ns);
}

/* What was launched before the window and began on this stream by then, in original time: it is
 * ahead of all that is launched in the window, however much later it began. */
static void start_orphans(struct run *r, uint32_t stream, int64_t by_ns)
{
    uint32_t w = r->orphan[stream];
    for (; w != SIM_NONE && r->m->works[w].begin_ns <= by_ns; w = r->later[w]) start_orphan(r, w);
    r->orphan[stream] = w;
}

static void list_orphans(struct run *r)
{
    const struct sim_model *m = r->m;
    for (uint32_t s = 0; s < m->n_streams; s++) r->orphan[s] = SIM_NONE;
    for (uint32_t w = m->n_works; w-- > 0;) {
        if (m->works[w].call != SIM_NONE) continue;
        r->later[w] = r->orphan[m->works[w].stream];
        r->orphan[m->works[w].stream] = w;
    }
}

/* Work that is launched after memory was given back begins late, up to 0.6 ms on an H200: not so if
 * all of the memory is kept. */
static void start_works(struct run *r, const struct sim_call *c, int64_t now_ns, enum sim_mode mode)
{
    const struct sim_model *m = r->m;
    const struct thread_state *th = &r->threads[c->thread];
    bool captured = mode == SIM_HEAD || mode == SIM_CAPTURED;
    for (uint32_t i = 0; i < c->n_work; i++) {
        uint32_t w = m->works_by_call[c->first_work + i];
        start_orphans(r, m->works[w].stream, m->works[w].begin_ns);
        int64_t latency = m->works[w].latency_ns;
        int64_t in_call = c->begin_ns + latency < c->end_ns ? c->begin_ns + latency : c->end_ns;
        latency -= (int64_t)cut_out(r, th, c->begin_ns, in_call).ns;
        if ((captured || (th->kept && !th->freed)) && latency > m->typical_latency_ns)
            latency = m->typical_latency_ns;
        start_work(r, w, now_ns, latency > 0 ? latency : 0, captured);
    }
}

/* When the launch may go through: the queue takes replay_queue_launches launches that have not
 * started. */
static int64_t queue_room_at(const struct run *r, const struct sim_call *c)
{
    if (!c->n_work || r->m->deepest_queue > replay_queue_launches) return INT64_MIN;
    uint32_t s = r->m->works[r->m->works_by_call[c->first_work]].stream;
    if (r->queued[s] < replay_queue_launches) return INT64_MIN;
    return r->queue[(size_t)s * replay_queue_launches + r->queued[s] % replay_queue_launches];
}

static int64_t own_end(const struct run *r, const struct sim_call *c)
{
    if (!c->n_work) return INT64_MIN;
    return r->end_ns[r->m->works_by_call[c->first_work + c->n_work - 1]];
}

/* End of what the call waits for, in new time; INT64_MIN when there is nothing. */
static int64_t replay_awaited(const struct run *r, const struct sim_call *c, enum sim_mode mode)
{
    if (mode == SIM_BLOCK) return own_end(r, c);
    if (mode != SIM_KEEP) return INT64_MIN;
    switch (c->wait) {
    case SIM_WAIT_STREAM: return r->stream_used[c->target] ? r->stream_end[c->target] : INT64_MIN;
    case SIM_WAIT_DEVICE: return r->device_end_ns;
    case SIM_WAIT_WORK: return r->end_ns[c->target];
    case SIM_WAIT_OWN: return own_end(r, c);
    case SIM_WAIT_NOTHING: break;
    }
    return INT64_MIN;
}

static int64_t replay_call_cost(struct run *r, const struct sim_call *c, enum sim_mode mode)
{
    if (mode == SIM_CAPTURED) return 0;
    if (mode == SIM_HEAD) return replay_graph_launch_calls * r->m->typical_launch_ns;
    int64_t dur = c->end_ns - c->begin_ns;
    int64_t whole = cpu_time(r, c->thread, c->begin_ns, c->end_ns, c->own_weight);
    if (c->wait == SIM_WAIT_NOTHING) return whole;
    int64_t floor = c->floor_ns - (dur - whole < c->floor_ns / 2 ? dur - whole : c->floor_ns / 2);
    if (mode == SIM_NO_WAIT && c->wait == SIM_WAIT_OWN && floor > r->m->typical_launch_ns)
        return r->m->typical_launch_ns;
    return floor;
}

static void run_call(struct run *r, const struct sim_call *c, enum sim_mode mode)
{
    struct thread_state *th = &r->threads[c->thread];
    time_at(r, c->thread, th->started ? th->mark_ns : c->begin_ns);
    replay_wake(r, c->thread, c->row, c->begin_ns);
    replay_advance(r, c->thread, c->begin_ns);
    if (mode == SIM_DROP) {
        th->kept |= c->kind == CALL_FREE;
        if (c->end_ns > th->mark_ns) th->mark_ns = c->end_ns;
        set_rate(r, c->thread, c->next);
        return;
    }
    int64_t room = queue_room_at(r, c);
    if (room > th->now_ns) th->now_ns = room;
    start_works(r, c, th->now_ns, mode);
    th->freed |= c->kind == CALL_FREE;
    if (c->n_work) th->kept = th->freed = false;
    int64_t done = th->now_ns + replay_call_cost(r, c, mode);
    int64_t until = replay_awaited(r, c, mode);
    if (until != INT64_MIN && until + c->return_ns > done) {
        r->wait_ns += until + c->return_ns - done;
        done = until + c->return_ns;
    }
    th->now_ns = done;
    if (c->end_ns > th->mark_ns) th->mark_ns = c->end_ns;
    set_rate(r, c->thread, c->next);
}

/* Whether a thread waits for another one again and again: it hands work over, as the one that calls
 * backward() does. */
static bool replay_hands_over(const struct sim_model *m, uint32_t thread, uint32_t other)
{
    uint32_t n = 0;
    for (uint32_t i = m->threads[thread].first_join; i < m->threads[thread].end_join && n < 2; i++)
        n += m->joins[i].other == other;
    return n == 2;
}

/* The thread that wakes the others: the first one of its process, unless it leaves launching to
 * them, else the busiest. Autograd's thread makes more calls than the one that calls backward(). */
static uint32_t find_main(const struct sim_model *m, const uint32_t *n_calls)
{
    uint32_t busiest = 0;
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (n_calls[i] > n_calls[busiest]) busiest = i;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        const struct lane *l = &m->t->lanes[m->threads[i].lane];
        bool first = l->tid != ID_NONE && l->tid == m->t->processes[l->process].pid;
        if (first &&
            (n_calls[i] > n_calls[busiest] / replay_leads_part || replay_hands_over(m, i, busiest)))
            return i;
    }
    return busiest;
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
    r->queue = arena_alloc(mem, streams * replay_queue_launches * sizeof *r->queue);
    r->queued = arena_zalloc(mem, streams, sizeof *r->queued);
    r->orphan = arena_alloc(mem, streams * sizeof *r->orphan);
    r->later = arena_alloc(mem, works * sizeof *r->later);
    r->bus = r->plan->bus ? arena_zalloc(mem, SIM_BUSES, sizeof *r->bus) : NULL;
    if (!r->threads || !r->begin_ns || !r->end_ns || !r->stream_end || !r->stream_used ||
        !r->queue || !r->queued || !r->orphan || !r->later || (r->plan->bus && !r->bus))
        return false;
    list_orphans(r);
    uint32_t *n_calls = arena_zalloc(mem, m->n_threads + (size_t)1, sizeof *n_calls);
    if (!n_calls) return false;
    for (uint32_t i = 0; i < m->n_calls; i++) n_calls[m->calls[i].thread]++;
    r->main_thread = find_main(m, n_calls);
    uint32_t cut = 0;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        struct thread_state *th = &r->threads[i];
        th->first_cut = cut;
        while (cut < r->plan->n_cuts && r->plan->cuts[cut].thread == i) cut++;
        th->end_cut = cut;
    }
    return true;
}

/* Time the device works in the trace and not in the replay. */
static int64_t work_saved(const struct run *r)
{
    int64_t saved = 0;
    for (uint32_t w = 0; w < r->m->n_works; w++) {
        const struct sim_work *k = &r->m->works[w];
        saved += (k->end_ns - k->begin_ns) - (r->end_ns[w] - r->begin_ns[w]);
    }
    return saved;
}

static int64_t replay_finish(struct run *r)
{
    int64_t wall = r->device_end_ns;
    for (uint32_t i = 0; i < r->m->n_threads; i++) {
        int64_t end = time_at(r, i, r->m->threads[i].end_ns);
        if (end > wall) wall = end;
    }
    if (r->m->clock_drop_pct > 0)
        wall += clock_power_give_back(r->m->end_ns - r->m->begin_ns - wall - work_saved(r));
    return r->plan->time_scale > 0 ? (int64_t)((double)wall * r->plan->time_scale + 0.5) : wall;
}

/* A call that waits also waits for what was launched before the window and runs meanwhile. */
static int64_t replay_sees_until(const struct sim_call *c)
{
    return c->wait == SIM_WAIT_NOTHING || c->n_work ? c->begin_ns : c->end_ns;
}

int sim_replay(const struct sim_model *m, const struct sim_plan *plan, struct arena *mem,
               struct sim_result *ret, struct err *e)
{
    struct run r = {.m = m, .plan = plan};
    if (!init_run(&r, mem)) return err_nomem(e);
    for (uint32_t i = 0, w = 0; i < m->n_calls; i++) {
        int64_t until = replay_sees_until(&m->calls[i]);
        for (; w < m->n_works && m->works[w].begin_ns <= until; w++)
            if (r.orphan[m->works[w].stream] == w)
                start_orphans(&r, m->works[w].stream, m->works[w].begin_ns);
        run_call(&r, &m->calls[i], plan->mode ? plan->mode[i] : SIM_KEEP);
    }
    for (uint32_t s = 0; s < m->n_streams; s++) start_orphans(&r, s, INT64_MAX);
    *ret = (struct sim_result){.wall_ns = replay_finish(&r),
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
