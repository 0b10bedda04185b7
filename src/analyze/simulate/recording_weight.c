/* recording_weight.c: what recording costs, per event, and where that falls. */
#include "analyze/simulate/model.h"
#include "analyze/simulate/simulate_private.h"
#include "base/stats.h"

/* What recording one event costs the CPU, in (recorded) launch calls of the same trace. From runs
 * with and without recording on one machine, CPU-bound loops of 400 to 3,000 launches. */
struct prices {
    float launch, call, op, shapes, annotation, python, memory;
    float node; /* of a graph that is recorded node by node, at each launch of it */
};
static const struct prices of_torch = {1.28F, 0.48F, 0.43F, 0.10F, 0.43F, 0.25F, 0.16F, 0.20F};
/* Our own: Python functions are samples, which cost the program next to nothing. */
static const struct prices of_ours = {0.80F, 0.20F, 0.15F, 0, 0.15F, 0, 0.05F, 0.20F};

static const struct prices *prices_of(const struct trace *t)
{
    return trace_meta(t, TRACE_META_RECORDED).p ? &of_ours : &of_torch;
}

/* Fewer calls of functions in a row say nothing. */
#define LEAST_FUNCTIONS 64
/* More need not be sorted to know what is usual. */
#define MOST_FUNCTIONS 65536

static bool is_function(const struct trace *t, row_t r)
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
            if (!is_function(t, r) || !is_function(t, r + 1) || t->parent[r + 1] == r) continue;
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
    if (n < LEAST_FUNCTIONS) return 0;
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

static float call_weight(const struct call_info *c, const struct prices *p)
{
    return c->n_gpu ? p->launch + p->node * (float)(c->n_gpu - 1) : p->call;
}

static float event_weight(const struct trace *t, row_t r, const struct prices *p)
{
    switch (t->kind[r]) {
    case KIND_OP: return p->op;
    case KIND_ANNOTATION: return p->annotation;
    case KIND_PYTHON: return p->python;
    case KIND_MEMORY: return p->memory;
    case KIND_RUNTIME:
    case KIND_DRIVER: return call_weight(trace_call(t, r), p);
    default: return 0;
    }
}

static bool has_flag(const struct trace *t, const char *key)
{
    struct str v = trace_meta(t, key);
    return v.p && !str_is(v, "0") && !str_is(v, "false");
}

/* As they are in this trace. */
static struct prices prices_in(const struct sim_model *m)
{
    struct prices p = *prices_of(m->t);
    p.op = m->op_weight;
    p.python = m->python_weight;
    return p;
}

static int set_prices(struct sim_model *m, struct arena *mem)
{
    const struct prices *usual = prices_of(m->t);
    m->launch_weight = usual->launch;
    m->op_weight = usual->op + (has_flag(m->t, "record_shapes") ? usual->shapes : 0);
    m->python_weight = usual->python;
    return measure_python(m, mem, &m->python_weight);
}

int recording_weight_set(struct sim_model *m, struct arena *mem)
{
    const struct trace *t = m->t;
    TRY(set_prices(m, mem));
    struct prices price = prices_in(m);
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
            *to += event_weight(t, r, &price);
        }
    }
    return 0;
}

double recording_weight_of(const struct sim_model *m, uint32_t thread, int64_t begin_ns,
                           int64_t end_ns)
{
    const struct trace *t = m->t;
    lane_id l = m->threads[thread].lane;
    struct prices price = prices_in(m);
    double sum = 0;
    uint32_t next = sim_call_at(m, begin_ns);
    int64_t inside_until = begin_ns;
    for (row_t r = trace_lower_bound(t, l, begin_ns); r < t->lanes[l].end; r++) {
        if (t->ts_ns[r] >= end_ns) break;
        for (; next < m->n_calls && m->calls[next].begin_ns <= t->ts_ns[r]; next++)
            if (m->calls[next].thread == thread) inside_until = m->calls[next].end_ns;
        if (t->ts_ns[r] >= inside_until) sum += event_weight(t, r, &price);
    }
    return sum;
}
