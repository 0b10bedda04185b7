/* recording_weight.c: what recording costs, and where that falls. */
#include "analyze/names/recording_prices.h"
#include "analyze/simulate/model.h"
#include "analyze/simulate/simulate_constants.h"
#include "analyze/simulate/simulate_private.h"
#include "base/stats.h"

/* More need not be sorted to know what is usual. */
#define MOST_FUNCTIONS 65536

static bool recording_weight_is_function(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_PYTHON && t->phase[r] == 'X';
}

/* From the start of a function to that of the next one, where nothing is recorded inside: every
 * `each`-th into `ns`, or none with NULL. Returns how many there are. */
static uint32_t function_distances(const struct sim_model *m, uint32_t each, int64_t *ns)
{
    const struct trace *t = m->t;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        const struct lane *lane = &t->lanes[m->threads[i].lane];
        for (row_t r = lane->begin; r + 1 < lane->end; r++) {
            if (!recording_weight_is_function(t, r) || !recording_weight_is_function(t, r + 1) ||
                t->parent[r + 1] == r)
                continue;
            if (ns && n % each == 0) ns[n / each] = t->ts_ns[r + 1] - t->ts_ns[r];
            n++;
        }
    }
    return n;
}

/* The shortest functions do next to nothing but being recorded: where most are short, that is the
 * price of recording one; a launch call says only what it is at most. */
static int measure_python(const struct sim_model *m, struct arena *mem, float *price)
{
    struct arena_mark mark = arena_mark(mem);
    uint32_t n = *price > 0 ? function_distances(m, 1, NULL) : 0, each = n / MOST_FUNCTIONS + 1;
    if (n < recording_functions) return 0;
    int64_t *ns = arena_alloc(mem, (n / each + (size_t)1) * sizeof *ns);
    if (!ns) return ERR_NOMEM;
    function_distances(m, each, ns);
    n /= each;
    stats_sort(ns, n);
    uint32_t quarter = n / 4;
    float measured = (float)ns[quarter] / (float)m->typical_launch_ns;
    if (measured < *price) *price = measured;
    arena_reset_to(mem, mark);
    return 0;
}

/* As they are in this trace. */
static struct recording_prices prices_in(const struct sim_model *m)
{
    struct recording_prices p = recording_prices_of(m->t);
    p.python = m->python_weight;
    return p;
}

static int set_prices(struct sim_model *m, struct arena *mem)
{
    struct recording_prices usual = recording_prices_of(m->t);
    m->launch_weight = usual.launch;
    m->op_weight = usual.op;
    m->python_weight = usual.python;
    return measure_python(m, mem, &m->python_weight);
}

int recording_weight_set(struct sim_model *m, struct arena *mem)
{
    const struct trace *t = m->t;
    TRY(set_prices(m, mem));
    struct recording_prices price = prices_in(m);
    for (uint32_t i = 0; i < m->n_threads; i++) {
        struct sim_thread *th = &m->threads[i];
        const struct lane *lane = &t->lanes[th->lane];
        uint32_t next = th->first_call, inside = SIM_NONE;
        for (row_t r = lane->begin; r < lane->end; r++) {
            for (; next != SIM_NONE && t->ts_ns[r] >= m->calls[next].begin_ns;
                 next = m->calls[next].next)
                inside = next;
            if (inside != SIM_NONE && t->ts_ns[r] >= m->calls[inside].end_ns) inside = SIM_NONE;
            float *to = inside != SIM_NONE ? &m->calls[inside].own_weight
                        : next != SIM_NONE ? &m->calls[next].lead_weight
                                           : &th->tail_weight;
            *to += recording_price(t, r, &price);
        }
    }
    return 0;
}

double recording_weight_of(const struct sim_model *m, uint32_t thread, int64_t begin_ns,
                           int64_t end_ns)
{
    const struct trace *t = m->t;
    lane_id l = m->threads[thread].lane;
    struct recording_prices price = prices_in(m);
    double sum = 0;
    uint32_t next = sim_call_at(m, begin_ns);
    int64_t inside_until = begin_ns;
    for (row_t r = trace_lower_bound(t, l, begin_ns); r < t->lanes[l].end; r++) {
        if (t->ts_ns[r] >= end_ns) break;
        for (; next < m->n_calls && m->calls[next].begin_ns <= t->ts_ns[r]; next++)
            if (m->calls[next].thread == thread) inside_until = m->calls[next].end_ns;
        if (t->ts_ns[r] >= inside_until) sum += recording_price(t, r, &price);
    }
    return sum;
}
