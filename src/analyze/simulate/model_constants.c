/* model_constants.c: what is typical of the trace, and from it the constants of every node. */
#include "analyze/names/copy.h"
#include "analyze/simulate/model.h"

#include <stdlib.h>

#include "analyze/simulate/simulate_constants.h"
#include "analyze/simulate/simulate_private.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/stats.h"

static int64_t model_constants_median(int64_t *v, uint32_t n, int64_t otherwise)
{
    if (n == 0) return otherwise;
    stats_sort(v, n);
    return stats_median(v, n);
}

/* Links every work to the one before it on its stream and measures typical latency (launches onto
 * an idle stream) and gap (work that was queued well before the stream got free). */
static int measure_typical(struct model_build *b)
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
            else if (c->end_ns + model_queued_ns < free_ns && k->begin_ns >= free_ns)
                gap[n_gap++] = k->begin_ns - free_ns;
        }
        if (k->before == SIM_NONE || k->end_ns >= free_ns) {
            b->stream_end[k->stream] = k->end_ns;
            b->stream_last[k->stream] = w;
        }
    }
    m->typical_latency_ns = model_constants_median(latency, n_latency, model_latency_default_ns);
    if (m->typical_latency_ns > model_latency_most_ns)
        m->typical_latency_ns = model_latency_most_ns;
    m->typical_gap_ns = model_constants_median(gap, n_gap, 1000);
    arena_reset_to(b->mem, mark);
    return 0;
}

/* What a launch call costs when nothing holds it up: the median over the run is robust as long as
 * most launches are not held up; where most are (a queue that is always full) the lower quartile
 * still is what the call itself costs. */
static int measure_launch(struct model_build *b)
{
    struct sim_model *m = b->m;
    struct arena_mark mark = arena_mark(b->mem);
    int64_t *cost = arena_alloc(b->mem, (m->n_calls + 1) * sizeof *cost);
    if (!cost) return ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->n_calls; c++)
        if (calls_kind(b->calls, b->t, m->calls[c].row) == CALL_LAUNCH)
            cost[n++] = m->calls[c].end_ns - m->calls[c].begin_ns;
    int64_t middle = model_constants_median(cost, n, model_launch_default_ns);
    int64_t low = n ? cost[n / 4] : middle;
    m->typical_launch_ns = middle > model_launch_spread_times * low ? low : middle;
    if (m->typical_launch_ns < model_launch_least_ns) m->typical_launch_ns = model_launch_least_ns;
    arena_reset_to(b->mem, mark);
    return 0;
}

/* How many of `by_end` (works by end time) ended by `to`. */
static uint32_t model_constants_ended_by(const struct sim_model *m, const uint32_t *by_end,
                                         int64_t to)
{
    uint32_t i = 0;
    SEARCH_PAST(i, m->n_works, m->works[by_end[i]].end_ns <= to);
    return i;
}

/* The work of another stream whose end explains why `k` started when it did: the latest to end
 * before its start, close to it, launched before it. */
static uint32_t find_dependency(const struct sim_model *m, const uint32_t *by_end, uint32_t w,
                                int64_t ready_ns)
{
    const struct sim_work *k = &m->works[w];
    int64_t least = k->begin_ns - model_unexplained_ns;
    if (least < ready_ns) least = ready_ns;
    for (uint32_t i = model_constants_ended_by(m, by_end, k->begin_ns); i-- > 0;) {
        const struct sim_work *j = &m->works[by_end[i]];
        if (j->end_ns < least) break;
        bool earlier = j->call == SIM_NONE || j->call < k->call;
        if (j->stream != k->stream && earlier) return by_end[i];
    }
    return SIM_NONE;
}

/* Latency and gap of one work; see the header of model.h. `free_ns` is when its stream got free. */
static void model_constants_set_work(struct sim_model *m, const uint32_t *by_end, uint32_t w,
                                     int64_t free_ns)
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
        if (measured < model_unexplained_ns + m->typical_latency_ns) return;
    } else {
        k->latency_ns = small_latency;
        k->gap_ns = after_free;
        if (after_free < model_unexplained_ns) return;
    }
    int64_t ready = first || begin > free_ns ? begin : free_ns;
    k->waits_for = find_dependency(m, by_end, w, ready);
    if (k->waits_for == SIM_NONE) return;
    k->wait_delay_ns = k->begin_ns - m->works[k->waits_for].end_ns;
    k->latency_ns = small_latency;
    k->gap_ns = small_gap;
}

static void set_works(struct model_build *b, const uint32_t *by_end)
{
    struct sim_model *m = b->m;
    for (uint32_t s = 0; s < m->n_streams; s++) b->stream_last[s] = SIM_NONE;
    for (uint32_t w = 0; w < m->n_works; w++) {
        struct sim_work *k = &m->works[w];
        model_constants_set_work(m, by_end, w, b->stream_end[k->stream] * (k->before != SIM_NONE));
        if (k->before == SIM_NONE || k->end_ns >= b->stream_end[k->stream])
            b->stream_end[k->stream] = k->end_ns;
    }
}

/* Sweep over calls in time with the works launched so far, so that each wait knows what it waited
 * for. `ended` walks the works by end time. */
struct sweep {
    const uint32_t *by_end; /* works by end time */
    uint32_t *last_stream;  /* stream last launched to, by thread */
    int64_t launched_end;   /* when the device was done with all that was launched so far */
    int64_t *stream_end;    /* ... the same by stream, and with what was queued before the window */
};

/* The latest work to end in (from, to], or SIM_NONE. */
static uint32_t last_ended(const struct sim_model *m, const uint32_t *by_end, int64_t from,
                           int64_t to)
{
    uint32_t i = model_constants_ended_by(m, by_end, to);
    return i && m->works[by_end[i - 1]].end_ns > from ? by_end[i - 1] : SIM_NONE;
}

static void wait_on(struct sim_call *c, enum sim_wait wait, uint32_t target)
{
    c->wait = wait;
    c->target = target;
}

/* Whether a wait for this stream may have been over when the call returned: nothing that was queued
 * there is still to come. */
static bool sweep_is_done(const struct sweep *s, uint32_t stream, const struct sim_call *c)
{
    return s->stream_end[stream] <= c->end_ns + model_return_window_ns;
}

/* Whether the call came back because work had ended: shortly after it, for a wait of its length. */
static bool model_constants_returned(const struct sim_call *c, int64_t ended_ns)
{
    int64_t rest = c->end_ns - ended_ns, dur = c->end_ns - c->begin_ns;
    return rest < model_return_window_ns || rest <= dur / model_skew_part;
}

/* The work whose end the call waited for, or SIM_NONE. */
static uint32_t sweep_waited_for(const struct sim_model *m, const struct sweep *s,
                                 const struct sim_call *c, enum call_kind kind)
{
    uint32_t w = last_ended(m, s->by_end, c->begin_ns, c->end_ns);
    if (w == SIM_NONE || !model_constants_returned(c, m->works[w].end_ns)) return SIM_NONE;
    bool one_stream = kind == CALL_SYNC_STREAM;
    return one_stream && !sweep_is_done(s, m->works[w].stream, c) ? SIM_NONE : w;
}

/* A device-wide wait that comes back just before the last work ends has waited for it: the clocks
 * of host and device differ by so much. */
static int64_t model_constants_skew(const struct sweep *s, const struct sim_call *c)
{
    int64_t over = s->launched_end - c->end_ns, dur = c->end_ns - c->begin_ns;
    return over > 0 && dur >= model_held_up_ns && over <= dur / model_skew_part ? over : 0;
}

static void set_sync(struct model_build *b, const struct sweep *s, struct sim_call *c)
{
    const struct sim_model *m = b->m;
    enum call_kind kind = calls_kind(b->calls, b->t, c->row);
    int64_t dur = c->end_ns - c->begin_ns;
    uint32_t ended = sweep_waited_for(m, s, c, kind), last = s->last_stream[c->thread];
    bool waited = ended != SIM_NONE;
    int64_t rest = waited ? c->end_ns - m->works[ended].end_ns : m->typical_return_ns;
    c->floor_ns = waited && dur > rest ? rest : dur;
    c->return_ns = rest;
    if (kind == CALL_SYNC_DEVICE || kind == CALL_SYNC_LIBRARY) {
        wait_on(c, SIM_WAIT_DEVICE, SIM_NONE);
        int64_t skew = model_constants_skew(s, c);
        if (!skew) return;
        c->floor_ns = dur < m->typical_return_ns ? dur : m->typical_return_ns;
        c->return_ns = -skew;
    } else if (waited && kind == CALL_SYNC_EVENT) wait_on(c, SIM_WAIT_WORK, ended);
    else if (waited) wait_on(c, SIM_WAIT_STREAM, m->works[ended].stream);
    else if (kind == CALL_SYNC_STREAM && last != SIM_NONE && sweep_is_done(s, last, c))
        wait_on(c, SIM_WAIT_STREAM, last);
}

/* A copy whose call came back only when the copy was (nearly) done: the CPU was held until then.
 * The last piece of a staged copy may still be on its way when the call returns. */
static bool blocks_on_own(const struct model_build *b, const struct sim_call *c)
{
    if (!c->n_work) return false;
    const struct sim_work *k = &b->m->works[b->m->works_by_call[c->first_work + c->n_work - 1]];
    if (b->t->kind[k->row] != KIND_MEMCPY || k->end_ns - c->end_ns > model_return_window_ns)
        return false;
    if (c->end_ns - k->begin_ns < (k->end_ns - k->begin_ns) / 2) return false;
    return copy_of(b->t, k->row).memory == MEMORY_PAGEABLE ||
           calls_kind(b->calls, b->t, c->row) == CALL_COPY_SYNC;
}

static void set_own(struct model_build *b, struct sim_call *c)
{
    const struct sim_work *k = &b->m->works[b->m->works_by_call[c->first_work + c->n_work - 1]];
    int64_t dur = c->end_ns - c->begin_ns;
    wait_on(c, SIM_WAIT_OWN, SIM_NONE);
    c->return_ns = c->end_ns - k->end_ns;
    /* Behind what was launched before; the gap after that is its own: pageable memory is staged. */
    int64_t queued = k->begin_ns - k->gap_ns - c->begin_ns - k->latency_ns;
    int64_t held = k->end_ns - k->begin_ns + (queued > 0 ? queued : 0);
    c->floor_ns = dur > held ? dur - held : dur;
}

/* Launches and allocations that took far longer than they do and came back just after the device
 * finished something were held up by it: a full queue. */
static void set_held_up(struct model_build *b, const struct sweep *s, struct sim_call *c)
{
    const struct sim_model *m = b->m;
    int64_t dur = c->end_ns - c->begin_ns;
    c->floor_ns = dur;
    if (dur < model_held_up_ns || dur < model_held_up_times * m->typical_launch_ns) return;
    uint32_t ended = last_ended(m, s->by_end, c->begin_ns, c->end_ns);
    if (ended == SIM_NONE || c->end_ns - m->works[ended].end_ns > model_return_window_ns / 2)
        return;
    if (m->works[ended].call == (uint32_t)(c - m->calls))
        return; /* its own: a graph's first nodes */
    wait_on(c, SIM_WAIT_WORK, ended);
    c->return_ns = c->end_ns - m->works[ended].end_ns;
    int64_t usual = m->typical_launch_ns > c->return_ns ? m->typical_launch_ns : c->return_ns;
    c->floor_ns = usual < dur ? usual : dur;
}

/* cudaFree waits for the device before it gives memory back, also if there is nothing to wait for
 * in this run; an allocation that takes up to the end of all work, and little more, does as well.
 * What it takes after that is its own cost. One that comes back while the device still works on
 * what was launched before it has not waited. */
static bool set_drain(struct model_build *b, const struct sweep *s, struct sim_call *c)
{
    int64_t dur = c->end_ns - c->begin_ns;
    int64_t waited = s->launched_end - c->begin_ns;
    bool frees = c->kind == CALL_FREE && str_has(trace_name(b->t, c->row), "Free");
    if (waited > dur || (!frees && (dur < model_held_up_ns || 2 * waited < dur))) return false;
    wait_on(c, SIM_WAIT_DEVICE, SIM_NONE);
    c->return_ns = c->floor_ns = waited > 0 ? dur - waited : dur;
    return true;
}

static int by_end_of(const void *a, const void *b, void *ctx)
{
    const struct sim_work *works = ctx;
    int64_t x = works[*(const uint32_t *)a].end_ns, y = works[*(const uint32_t *)b].end_ns;
    return x < y ? -1 : x > y;
}

static void note_launched(const struct sim_model *m, const struct sim_call *c, struct sweep *s)
{
    for (uint32_t i = 0; i < c->n_work; i++) {
        const struct sim_work *k = &m->works[m->works_by_call[c->first_work + i]];
        if (k->end_ns > s->launched_end) s->launched_end = k->end_ns;
        if (k->end_ns > s->stream_end[k->stream]) s->stream_end[k->stream] = k->end_ns;
    }
}

/* What the streams hold when the window begins: works without a launch, up to the first of their
 * stream that has one. Those after it were launched in between; their launch is not recorded.
 * Returns their number, and when the last one of each stream ended. */
static uint32_t model_constants_queued_before(const struct model_build *b, int64_t *ret_stream_end)
{
    const struct sim_model *m = b->m;
    uint32_t n = 0;
    for (uint32_t s = 0; s < m->n_streams; s++) {
        b->stream_last[s] = SIM_NONE;
        ret_stream_end[s] = m->begin_ns;
    }
    for (uint32_t w = 0; w < m->n_works; w++) {
        const struct sim_work *k = &m->works[w];
        if (k->call != SIM_NONE) b->stream_last[k->stream] = w;
        if (b->stream_last[k->stream] != SIM_NONE) continue;
        if (k->end_ns > ret_stream_end[k->stream]) ret_stream_end[k->stream] = k->end_ns;
        n++;
    }
    return n;
}

static int set_calls(struct model_build *b, const uint32_t *by_end)
{
    struct sim_model *m = b->m;
    struct sweep s = {.by_end = by_end,
                      .last_stream =
                          arena_alloc(b->mem, (m->n_threads + 1) * sizeof *s.last_stream),
                      .launched_end = m->begin_ns,
                      .stream_end = b->stream_end};
    if (!s.last_stream) return ERR_NOMEM;
    model_constants_queued_before(b, s.stream_end);
    for (uint32_t i = 0; i < m->n_threads; i++) s.last_stream[i] = SIM_NONE;
    m->typical_return_ns = model_return_default_ns;
    for (uint32_t i = 0; i < m->n_calls; i++) {
        struct sim_call *c = &m->calls[i];
        if (call_syncs(calls_kind(b->calls, b->t, c->row))) set_sync(b, &s, c);
        else if (blocks_on_own(b, c)) set_own(b, c);
        else if (!call_allocates(c->kind) || !set_drain(b, &s, c)) set_held_up(b, &s, c);
        if (c->n_work) s.last_stream[c->thread] = m->works[m->works_by_call[c->first_work]].stream;
        note_launched(m, c, &s);
    }
    return 0;
}

/* What works waited for, then what calls did: both by the order in which works ended. */
static int model_constants_set_waits(struct model_build *b)
{
    const struct sim_model *m = b->m;
    struct arena_mark mark = arena_mark(b->mem);
    uint32_t *by_end = arena_alloc(b->mem, (m->n_works + (size_t)1) * sizeof *by_end);
    if (!by_end) return ERR_NOMEM;
    for (uint32_t i = 0; i < m->n_works; i++) by_end[i] = i;
    qsort_r(by_end, m->n_works, sizeof *by_end, by_end_of, m->works);
    set_works(b, by_end);
    TRY(set_calls(b, by_end));
    arena_reset_to(b->mem, mark);
    return 0;
}

/* Queue depth at its deepest, for the limit a replay must not run past. */
static void measure_queue(struct model_build *b)
{
    struct sim_model *m = b->m;
    uint32_t launched = model_constants_queued_before(b, b->stream_end), started = 0, w = 0;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        launched += m->calls[c].n_work > 0;
        for (; w < m->n_works && m->works[w].begin_ns <= m->calls[c].begin_ns; w++)
            started += sim_is_first(m, w);
        uint32_t depth = launched > started ? launched - started : 0;
        if (depth > m->deepest_queue) m->deepest_queue = depth;
    }
}

int model_constants(struct model_build *b)
{
    TRY(measure_typical(b));
    TRY(measure_launch(b));
    TRY(model_constants_set_waits(b));
    measure_queue(b);
    return 0;
}
