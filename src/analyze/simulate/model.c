/* model.c: turning a trace into the replay graph. Three steps: collect nodes (threads, calls,
 * device work), measure what is typical, then give every node its constants. */
#include "analyze/simulate/model.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/simulate/clock_power.h"
#include "analyze/simulate/recording_weight.h"
#include "base/mem.h"

/* A wait counts as having waited when what it waited for ended this shortly before it returned. */
#define RETURN_WINDOW_NS 60000
/* Launch latency where the trace shows none, and the most that is believed: beyond it the median is
 * made of launches that waited for something that was not recorded. */
#define DEFAULT_LATENCY_NS 8000
#define MOST_LATENCY_NS    30000
/* Work that starts this long after it could have must have waited for something else. */
#define UNEXPLAINED_NS 20000
/* A launch this many times the usual, and at least this long, was held up. */
#define HELD_UP_FACTOR 4
#define HELD_UP_NS     20000
/* Silence of a thread this long may be a wait for another thread. */
#define JOIN_NS        100000
#define JOIN_WINDOW_NS 300000

struct build {
    const struct trace *t;
    const struct calls *calls;
    struct arena *mem;
    struct sim_model *m;
    uint32_t *thread_of_lane; /* SIM_NONE where the lane is no replayed thread */
    uint32_t *stream_of_lane;
    uint32_t *call_of_aux; /* node of a call by its side-table index */
    int64_t *stream_end;   /* running latest end by stream, original times */
    uint32_t *stream_last; /* work that ends it */
};

/* Rows that are part of the run itself, not of the recording of it. */
static bool counts(const struct trace *t, row_t r)
{
    if (t->flags[r] & ROW_PROFILER) return false;
    switch (t->kind[r]) {
    case KIND_OP:
    case KIND_ANNOTATION:
    case KIND_RUNTIME:
    case KIND_DRIVER: return true;
    default: return trace_is_work(t, r) && t->ts_ns[r] != 0; /* zero: no time was recorded */
    }
}

static void find_window(struct build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    m->begin_ns = INT64_MAX;
    m->end_ns = INT64_MIN;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!counts(t, r) || t->phase[r] != 'X') continue;
        if (t->ts_ns[r] < m->begin_ns) m->begin_ns = t->ts_ns[r];
        if (trace_end_ns(t, r) > m->end_ns) m->end_ns = trace_end_ns(t, r);
    }
    if (m->begin_ns > m->end_ns) m->begin_ns = m->end_ns = 0;
}

/* Which calls are nodes: those with device work, and those that wait or may wait. */
static bool is_node(const struct build *b, row_t r)
{
    const struct call_info *c = trace_call(b->t, r);
    if (!c || (b->t->flags[r] & ROW_PROFILER)) return false;
    if (c->n_gpu) return true;
    enum call_kind k = calls_kind(b->calls, b->t, r);
    return call_waits(k) || call_launches(k) || call_allocates(k);
}

static int by_begin_call(const void *a, const void *b)
{
    const struct sim_call *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_begin_work(const void *a, const void *b)
{
    const struct sim_work *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Driver calls made inside a runtime call are the same launch seen twice: the outer one counts. */
static bool inside_call(const struct trace *t, row_t r)
{
    row_t p = t->parent[r];
    return p != ROW_NONE && (t->kind[p] == KIND_RUNTIME || t->kind[p] == KIND_DRIVER);
}

static int collect_calls(struct build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    m->threads = arena_zalloc(b->mem, t->n_lanes, sizeof *m->threads);
    m->calls = arena_zalloc(b->mem, t->n_calls, sizeof *m->calls);
    if (!m->threads || !m->calls) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_THREAD) continue;
        uint32_t first = m->n_calls;
        struct sim_thread th = {.lane = l, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
        for (row_t r = lane->begin; r < lane->end; r++) {
            if (!counts(t, r) || t->phase[r] != 'X') continue;
            if (t->ts_ns[r] < th.begin_ns) th.begin_ns = t->ts_ns[r];
            if (trace_end_ns(t, r) > th.end_ns) th.end_ns = trace_end_ns(t, r);
            if (!is_node(b, r) || (inside_call(t, r) && !trace_call(t, r)->n_gpu)) continue;
            m->calls[m->n_calls++] = (struct sim_call){.row = r,
                                                       .thread = m->n_threads,
                                                       .target = SIM_NONE,
                                                       .begin_ns = t->ts_ns[r],
                                                       .end_ns = trace_end_ns(t, r)};
        }
        if (m->n_calls == first && th.begin_ns > th.end_ns) continue;
        b->thread_of_lane[l] = m->n_threads;
        m->threads[m->n_threads++] = th;
    }
    qsort(m->calls, m->n_calls, sizeof *m->calls, by_begin_call);
    for (uint32_t i = 0; i < m->n_calls; i++) b->call_of_aux[t->aux[m->calls[i].row]] = i;
    return 0;
}

static int collect_works(struct build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    m->works = arena_zalloc(b->mem, t->n_gpu, sizeof *m->works);
    m->works_by_call = arena_zalloc(b->mem, t->n_gpu, sizeof *m->works_by_call);
    if (!m->works || !m->works_by_call) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        uint32_t stream = SIM_NONE;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (!trace_is_work(t, r) || t->ts_ns[r] == 0) continue;
            if (stream == SIM_NONE) stream = b->stream_of_lane[l] = m->n_streams++;
            row_t launch = trace_launch_of(t, r);
            uint32_t call = launch == ROW_NONE ? SIM_NONE : b->call_of_aux[t->aux[launch]];
            m->works[m->n_works++] = (struct sim_work){.row = r,
                                                       .stream = stream,
                                                       .call = call,
                                                       .before = SIM_NONE,
                                                       .waits_for = SIM_NONE,
                                                       .begin_ns = t->ts_ns[r],
                                                       .end_ns = trace_end_ns(t, r)};
        }
    }
    qsort(m->works, m->n_works, sizeof *m->works, by_begin_work);
    return 0;
}

static void group_works_by_call(struct sim_model *m)
{
    for (uint32_t c = 0; c < m->n_calls; c++) m->calls[c].n_work = 0;
    for (uint32_t w = 0; w < m->n_works; w++)
        if (m->works[w].call != SIM_NONE) m->calls[m->works[w].call].n_work++;
    uint32_t at = 0;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        m->calls[c].first_work = at;
        at += m->calls[c].n_work;
        m->calls[c].n_work = 0;
    }
    for (uint32_t w = 0; w < m->n_works; w++) {
        if (m->works[w].call == SIM_NONE) continue;
        struct sim_call *c = &m->calls[m->works[w].call];
        m->works_by_call[c->first_work + c->n_work++] = w;
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t median(int64_t *v, uint32_t n, int64_t otherwise)
{
    if (n == 0) return otherwise;
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

/* Links every work to the one before it on its stream and measures typical latency (launches onto
 * an idle stream) and gap (work that was queued well before the stream got free). */
static int measure_typical(struct build *b)
{
    struct sim_model *m = b->m;
    struct arena_mark mark = arena_mark(b->mem);
    int64_t *latency = arena_alloc(b->mem, (m->n_works + 1) * sizeof *latency);
    int64_t *gap = arena_alloc(b->mem, (m->n_works + 1) * sizeof *gap);
    if (!latency || !gap) return ERR_NOMEM;
    uint32_t n_latency = 0, n_gap = 0;
    for (uint32_t w = 0; w < m->n_works; w++) {
        struct sim_work *k = &m->works[w];
        int64_t free_ns =
            b->stream_last[k->stream] == SIM_NONE ? INT64_MIN : b->stream_end[k->stream];
        k->before = b->stream_last[k->stream];
        if (k->call != SIM_NONE) {
            const struct sim_call *c = &m->calls[k->call];
            if (free_ns <= c->begin_ns && k->begin_ns >= c->begin_ns)
                latency[n_latency++] = k->begin_ns - c->begin_ns;
            else if (c->end_ns + 3000 < free_ns && k->begin_ns >= free_ns)
                gap[n_gap++] = k->begin_ns - free_ns;
        }
        if (k->before == SIM_NONE || k->end_ns >= free_ns) {
            b->stream_end[k->stream] = k->end_ns;
            b->stream_last[k->stream] = w;
        }
    }
    m->typical_latency_ns = median(latency, n_latency, DEFAULT_LATENCY_NS);
    if (m->typical_latency_ns > MOST_LATENCY_NS) m->typical_latency_ns = MOST_LATENCY_NS;
    m->typical_gap_ns = median(gap, n_gap, 1000);
    arena_reset_to(b->mem, mark);
    return 0;
}

/* What a launch call costs when nothing holds it up: the median over the run is robust as long as
 * most launches are not held up; where most are (a queue that is always full) the lower quartile
 * still is what the call itself costs. */
static int measure_launch(struct build *b)
{
    struct sim_model *m = b->m;
    struct arena_mark mark = arena_mark(b->mem);
    int64_t *cost = arena_alloc(b->mem, (m->n_calls + 1) * sizeof *cost);
    if (!cost) return ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->n_calls; c++)
        if (calls_kind(b->calls, b->t, m->calls[c].row) == CALL_LAUNCH)
            cost[n++] = m->calls[c].end_ns - m->calls[c].begin_ns;
    int64_t middle = median(cost, n, 5000);
    int64_t low = n ? cost[n / 4] : middle;
    m->typical_launch_ns = middle > 3 * low ? low : middle;
    if (m->typical_launch_ns < 500) m->typical_launch_ns = 500;
    arena_reset_to(b->mem, mark);
    return 0;
}

/* The work of another stream whose end explains why `k` started when it did: the latest to end
 * before its start, close to it, launched before it. */
static uint32_t find_dependency(const struct sim_model *m, uint32_t w, int64_t ready_ns)
{
    const struct sim_work *k = &m->works[w];
    uint32_t best = SIM_NONE;
    for (uint32_t i = w, seen = 0; i-- > 0 && seen < 64; seen++) {
        const struct sim_work *j = &m->works[i];
        if (j->stream == k->stream || j->end_ns > k->begin_ns || j->end_ns < ready_ns) continue;
        if (k->begin_ns - j->end_ns > UNEXPLAINED_NS) continue;
        if (best == SIM_NONE || j->end_ns > m->works[best].end_ns) best = i;
    }
    return best;
}

/* Latency and gap of one work; see the header of model.h. `free_ns` is when its stream got free. */
static void set_work(struct sim_model *m, uint32_t w, int64_t free_ns)
{
    struct sim_work *k = &m->works[w];
    bool first = k->before == SIM_NONE;
    int64_t after_free = first ? 0 : k->begin_ns - free_ns;
    if (k->call == SIM_NONE) {
        k->gap_ns = after_free;
        return;
    }
    int64_t begin = m->calls[k->call].begin_ns;
    int64_t measured = k->begin_ns - begin;
    int64_t small_gap = after_free < m->typical_gap_ns ? after_free : m->typical_gap_ns;
    int64_t small_latency = measured < m->typical_latency_ns ? measured : m->typical_latency_ns;
    if (first || free_ns < begin + m->typical_latency_ns) {
        k->latency_ns = measured;
        k->gap_ns = small_gap;
        if (measured < UNEXPLAINED_NS + m->typical_latency_ns) return;
    } else {
        k->latency_ns = small_latency;
        k->gap_ns = after_free;
        if (after_free < UNEXPLAINED_NS) return;
    }
    int64_t ready = first || begin > free_ns ? begin : free_ns;
    k->waits_for = find_dependency(m, w, ready);
    if (k->waits_for == SIM_NONE) return;
    k->wait_delay_ns = k->begin_ns - m->works[k->waits_for].end_ns;
    k->latency_ns = small_latency;
    k->gap_ns = small_gap;
}

static void set_works(struct build *b)
{
    struct sim_model *m = b->m;
    for (uint32_t s = 0; s < m->n_streams; s++) b->stream_last[s] = SIM_NONE;
    for (uint32_t w = 0; w < m->n_works; w++) {
        struct sim_work *k = &m->works[w];
        set_work(m, w, b->stream_end[k->stream] * (k->before != SIM_NONE));
        if (k->before == SIM_NONE || k->end_ns >= b->stream_end[k->stream])
            b->stream_end[k->stream] = k->end_ns;
    }
}

/* Sweep over calls in time with the works launched so far, so that each wait can be told what it
 * waited for. `ended` walks the works by end time. */
struct sweep {
    uint32_t *by_end;      /* works by end time */
    uint32_t *last_stream; /* stream last launched to, by thread */
};

/* The latest work to end in (from, to], or SIM_NONE. */
static uint32_t last_ended(const struct sim_model *m, const uint32_t *by_end, int64_t from,
                           int64_t to)
{
    uint32_t lo = 0, hi = m->n_works;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->works[by_end[mid]].end_ns <= to) lo = mid + 1;
        else hi = mid;
    }
    return lo && m->works[by_end[lo - 1]].end_ns > from ? by_end[lo - 1] : SIM_NONE;
}

static void wait_on(struct sim_call *c, enum sim_wait wait, uint32_t target)
{
    c->wait = wait;
    c->target = target;
}

static void set_sync(struct build *b, const struct sweep *s, struct sim_call *c)
{
    const struct sim_model *m = b->m;
    int64_t dur = c->end_ns - c->begin_ns;
    uint32_t ended = last_ended(m, s->by_end, c->begin_ns, c->end_ns);
    bool waited = ended != SIM_NONE && c->end_ns - m->works[ended].end_ns < RETURN_WINDOW_NS;
    int64_t rest = waited ? c->end_ns - m->works[ended].end_ns : m->typical_return_ns;
    c->floor_ns = waited && dur > rest ? rest : dur;
    c->return_ns = rest;
    enum call_kind kind = calls_kind(b->calls, b->t, c->row);
    if (kind == CALL_SYNC_DEVICE) wait_on(c, SIM_WAIT_DEVICE, SIM_NONE);
    else if (waited && kind == CALL_SYNC_EVENT) wait_on(c, SIM_WAIT_WORK, ended);
    else if (waited) wait_on(c, SIM_WAIT_STREAM, m->works[ended].stream);
    else if (kind == CALL_SYNC_STREAM) wait_on(c, SIM_WAIT_STREAM, s->last_stream[c->thread]);
    if (c->wait == SIM_WAIT_STREAM && c->target == SIM_NONE) c->wait = SIM_WAIT_NOTHING;
}

/* A copy whose call came back only when the copy was (nearly) done: the CPU was held until then.
 * The last piece of a staged copy may still be on its way when the call returns. */
static bool blocks_on_own(const struct build *b, const struct sim_call *c)
{
    if (!c->n_work) return false;
    const struct sim_work *k = &b->m->works[b->m->works_by_call[c->first_work + c->n_work - 1]];
    if (b->t->kind[k->row] != KIND_MEMCPY || k->end_ns - c->end_ns > RETURN_WINDOW_NS) return false;
    if (c->end_ns - k->begin_ns < (k->end_ns - k->begin_ns) / 2) return false;
    return str_has(trace_name(b->t, k->row), "Pageable") ||
           calls_kind(b->calls, b->t, c->row) == CALL_COPY_SYNC;
}

static void set_own(struct build *b, struct sim_call *c)
{
    const struct sim_work *k = &b->m->works[b->m->works_by_call[c->first_work + c->n_work - 1]];
    int64_t dur = c->end_ns - c->begin_ns;
    wait_on(c, SIM_WAIT_OWN, SIM_NONE);
    c->return_ns = c->end_ns - k->end_ns;
    int64_t held = k->end_ns - k->begin_ns;
    c->floor_ns = dur > held ? dur - held : dur;
}

/* Launches and allocations that took far longer than they do and came back just after the device
 * finished something were held up by it: a full queue, or an allocation that drains the device. */
static void set_held_up(struct build *b, const struct sweep *s, struct sim_call *c)
{
    const struct sim_model *m = b->m;
    int64_t dur = c->end_ns - c->begin_ns;
    c->floor_ns = dur;
    if (dur < HELD_UP_NS || dur < HELD_UP_FACTOR * m->typical_launch_ns) return;
    uint32_t ended = last_ended(m, s->by_end, c->begin_ns, c->end_ns);
    if (ended == SIM_NONE || c->end_ns - m->works[ended].end_ns > RETURN_WINDOW_NS / 2) return;
    uint32_t own = c->n_work ? m->works_by_call[c->first_work] : SIM_NONE;
    if (own == ended) return;
    wait_on(c, SIM_WAIT_WORK, ended);
    c->return_ns = c->end_ns - m->works[ended].end_ns;
    int64_t usual = m->typical_launch_ns > c->return_ns ? m->typical_launch_ns : c->return_ns;
    c->floor_ns = usual < dur ? usual : dur;
}

static int by_end_of(const void *a, const void *b, void *ctx)
{
    const struct sim_work *works = ctx;
    int64_t x = works[*(const uint32_t *)a].end_ns, y = works[*(const uint32_t *)b].end_ns;
    return x < y ? -1 : x > y;
}

static int set_calls(struct build *b)
{
    struct sim_model *m = b->m;
    struct arena_mark mark = arena_mark(b->mem);
    struct sweep s = {.by_end = arena_alloc(b->mem, (m->n_works + 1) * sizeof *s.by_end),
                      .last_stream =
                          arena_alloc(b->mem, (m->n_threads + 1) * sizeof *s.last_stream)};
    if (!s.by_end || !s.last_stream) return ERR_NOMEM;
    for (uint32_t i = 0; i < m->n_works; i++) s.by_end[i] = i;
    qsort_r(s.by_end, m->n_works, sizeof *s.by_end, by_end_of, m->works);
    for (uint32_t i = 0; i < m->n_threads; i++) s.last_stream[i] = SIM_NONE;
    m->typical_return_ns = 3000;
    for (uint32_t i = 0; i < m->n_calls; i++) {
        struct sim_call *c = &m->calls[i];
        if (call_syncs(calls_kind(b->calls, b->t, c->row))) set_sync(b, &s, c);
        else if (blocks_on_own(b, c)) set_own(b, c);
        else set_held_up(b, &s, c);
        if (c->n_work) s.last_stream[c->thread] = m->works[m->works_by_call[c->first_work]].stream;
    }
    arena_reset_to(b->mem, mark);
    return 0;
}

/* Queue depth at its deepest, for the limit a replay must not run past. */
static void measure_queue(struct sim_model *m)
{
    uint32_t launched = 0, started = 0;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        launched += m->calls[c].n_work > 0;
        while (started < m->n_works && m->works[started].begin_ns <= m->calls[c].begin_ns)
            started++;
        uint32_t depth = launched > started ? launched - started : 0;
        if (depth > m->deepest_queue) m->deepest_queue = depth;
    }
}

/* A thread that is silent while another one works, and goes on shortly after that one is done,
 * waits for it: backward() for the autograd thread, join() for a worker. */
static void add_join(struct build *b, uint32_t thread, row_t quiet, int64_t begin, int64_t end)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    (void)quiet;
    for (uint32_t o = 0; o < m->n_threads; o++) {
        if (o == thread) continue;
        const struct lane *lane = &t->lanes[m->threads[o].lane];
        row_t r = trace_lower_bound(t, m->threads[o].lane, begin);
        int64_t done = INT64_MIN;
        for (; r < lane->end && t->ts_ns[r] < end; r++)
            if (counts(t, r) && trace_end_ns(t, r) <= end && trace_end_ns(t, r) > done)
                done = trace_end_ns(t, r);
        if (done == INT64_MIN || end - done > JOIN_WINDOW_NS || done - begin < JOIN_NS / 2)
            continue;
        m->joins[m->n_joins++] = (struct sim_join){thread, o, begin, end, done};
        return;
    }
}

static int by_end_join(const void *a, const void *b)
{
    const struct sim_join *x = a, *y = b;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static int find_joins(struct build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    uint32_t room = 0;
    for (uint32_t i = 0; i < m->n_threads; i++)
        room += (uint32_t)((m->threads[i].end_ns - m->threads[i].begin_ns) / JOIN_NS < 1 << 20
                               ? (m->threads[i].end_ns - m->threads[i].begin_ns) / JOIN_NS + 1
                               : 1 << 20);
    if (m->n_threads < 2) room = 0;
    m->joins = arena_zalloc(b->mem, room + 1, sizeof *m->joins);
    if (!m->joins) return ERR_NOMEM;
    for (uint32_t i = 0; i < m->n_threads && m->n_threads > 1; i++) {
        const struct lane *lane = &t->lanes[m->threads[i].lane];
        int64_t mark = INT64_MIN;
        for (row_t r = lane->begin; r < lane->end && m->n_joins < room; r++) {
            if (!counts(t, r) || t->phase[r] != 'X') continue;
            if (mark != INT64_MIN && t->ts_ns[r] - mark > JOIN_NS)
                add_join(b, i, r, mark, t->ts_ns[r]);
            bool leaf = r + 1 >= lane->end || t->parent[r + 1] != r;
            int64_t seen = leaf ? trace_end_ns(t, r) : t->ts_ns[r];
            if (seen > mark) mark = seen;
        }
    }
    qsort(m->joins, m->n_joins, sizeof *m->joins, by_end_join);
    return 0;
}

/* Chains the nodes of each thread. */
static void chain_calls(struct sim_model *m)
{
    for (uint32_t i = 0; i < m->n_threads; i++) m->threads[i].first_call = SIM_NONE;
    for (uint32_t c = m->n_calls; c-- > 0;) {
        uint32_t *first = &m->threads[m->calls[c].thread].first_call;
        m->calls[c].next = *first;
        *first = c;
    }
}

void sim_model_link(struct sim_model *m)
{
    group_works_by_call(m);
    chain_calls(m);
}

static int build_all(struct build *b)
{
    const struct trace *t = b->t;
    size_t n = t->n_lanes + 1;
    b->thread_of_lane = arena_alloc(b->mem, n * sizeof *b->thread_of_lane);
    b->stream_of_lane = arena_alloc(b->mem, n * sizeof *b->stream_of_lane);
    b->stream_end = arena_zalloc(b->mem, n, sizeof *b->stream_end);
    b->stream_last = arena_alloc(b->mem, n * sizeof *b->stream_last);
    b->call_of_aux = arena_alloc(b->mem, (t->n_calls + (size_t)1) * sizeof *b->call_of_aux);
    if (!b->thread_of_lane || !b->stream_of_lane || !b->stream_end || !b->stream_last ||
        !b->call_of_aux)
        return ERR_NOMEM;
    memset(b->thread_of_lane, 0xff, n * sizeof *b->thread_of_lane);
    memset(b->stream_of_lane, 0xff, n * sizeof *b->stream_of_lane);
    memset(b->stream_last, 0xff, n * sizeof *b->stream_last);
    memset(b->call_of_aux, 0xff, (t->n_calls + (size_t)1) * sizeof *b->call_of_aux);
    find_window(b);
    TRY(collect_calls(b));
    TRY(collect_works(b));
    sim_model_link(b->m);
    recording_weight_set(b->m);
    TRY(measure_typical(b));
    TRY(measure_launch(b));
    set_works(b);
    TRY(set_calls(b));
    measure_queue(b->m);
    return find_joins(b);
}

int sim_model_run(const struct trace *t, const struct calls *calls, struct arena *mem,
                  struct sim_model *ret, struct err *e)
{
    *ret = (struct sim_model){.t = t};
    struct build b = {.t = t, .calls = calls, .mem = mem, .m = ret};
    int rc = build_all(&b);
    if (rc < 0) return FAIL(e, rc, "out of memory while building the replay model");
    return clock_power_drop(t, mem, &ret->clock_drop_pct, e);
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    return sim_model_run(cx->t, calls_of(cx), cx->mem, ret, e);
}

static const struct pass *const needs[] = {&calls_pass, NULL};

const struct pass model_pass = {
    .id = PASS_MODEL,
    .size = sizeof(struct sim_model),
    .needs = needs,
    .run = run_pass,
};

uint32_t sim_call_at(const struct sim_model *m, int64_t ts_ns)
{
    uint32_t lo = 0, hi = m->n_calls;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->calls[mid].begin_ns < ts_ns) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

uint32_t sim_find_call(const struct sim_model *m, row_t row)
{
    int64_t begin = m->t->ts_ns[row];
    uint32_t lo = 0, hi = m->n_calls;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct sim_call *c = &m->calls[mid];
        if (c->begin_ns < begin || (c->begin_ns == begin && c->row < row)) lo = mid + 1;
        else hi = mid;
    }
    return lo < m->n_calls && m->calls[lo].row == row ? lo : SIM_NONE;
}
