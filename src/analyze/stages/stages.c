/* stages.c: adds up rows, device work and allocator events along the tree of stages.
 *
 * Device work is laid out once, a slice a call, the slices of a stage side by side, so that sums
 * over a call and over a stage are walks over one array. */
#include "analyze/stages/stages.h"

#include "analyze/device/memory_levels.h"
#include "analyze/names/source_place.h"
#include "analyze/stages/stages_constants.h"
#include "analyze/stages/stages_private.h"
#include "base/search.h"
#include "base/stats.h"

struct measure {
    const struct trace *t;
    const struct context *cx;
    struct stages *s;
    struct arena *mem;
    uint32_t *by_node; /* calls, grouped by node, in time order */
    size_t *slice;     /* by call: where its device work begins in `work`, once laid out */
    uint32_t *n_slice; /* by call: how much it has */
    row_t *work;
    int64_t *self_cpu, *idle, *self_idle, *self_gpu; /* by call */
};

static int fill_stages(struct measure *m, struct err *e)
{
    const struct stage_tree *tree = &m->s->tree;
    m->s->n = tree->n_nodes;
    m->s->list = arena_zalloc(m->mem, (size_t)tree->n_nodes + 1, sizeof *m->s->list);
    if (!m->s->list) return err_nomem(e);
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
        const struct stage_node *n = &tree->nodes[i];
        m->s->list[i] = (struct stage){.name = n->name,
                                       .path = stage_tree_path(tree, i, m->mem),
                                       .parent = n->parent,
                                       .depth = n->depth,
                                       .backward = n->backward,
                                       .user = n->user,
                                       .derived = n->derived,
                                       .from = n->from,
                                       .peak_bytes = -1};
        if (!m->s->list[i].path) return err_nomem(e);
    }
    return 0;
}

static int group_calls(struct measure *m, struct err *e)
{
    const struct stage_tree *tree = &m->s->tree;
    uint32_t *at = arena_zalloc(m->mem, (size_t)tree->n_nodes + 1, sizeof *at);
    m->by_node = arena_zalloc(m->mem, (size_t)tree->n_calls + 1, sizeof *m->by_node);
    if (!at || !m->by_node) return err_nomem(e);
    for (uint32_t c = 0; c < tree->n_calls; c++) m->s->list[tree->calls[c].node].calls++;
    for (uint32_t i = 0; i < tree->n_nodes; i++) at[i + 1] = at[i] + m->s->list[i].calls;
    for (uint32_t c = 0; c < tree->n_calls; c++) m->by_node[at[tree->calls[c].node]++] = c;
    return 0;
}

static int64_t stages_duration(const struct stage_call *c)
{
    return c->end_ns - c->begin_ns;
}

static struct stage *stage_of(const struct measure *m, uint32_t call)
{
    return &m->s->list[m->s->tree.calls[call].node];
}

static uint32_t stages_parent_of(const struct measure *m, uint32_t call)
{
    return m->s->tree.calls[call].parent;
}

/* Counts what a runtime call or allocator event is, for every stage around it. */
static void stages_count_row(const struct measure *m, row_t r)
{
    const struct trace *t = m->t;
    enum call_kind kind = calls_kind(calls_of(m->cx), t, r);
    const struct mem_info *mem = trace_mem(t, r);
    bool alloc = mem && mem->device_type != 0 && mem->bytes > 0;
    bool waits = call_waits(kind) && !(t->flags[r] & ROW_PROFILER);
    if (kind == CALL_OTHER && !alloc) return;
    for (uint32_t c = m->s->tree.owner[r]; c != STAGE_NONE; c = stages_parent_of(m, c)) {
        struct stage *s = stage_of(m, c);
        s->launches += call_launches(kind);
        s->graph_launches += kind == CALL_GRAPH_LAUNCH;
        s->device_allocs += kind == CALL_ALLOC || kind == CALL_FREE;
        s->syncs += waits;
        s->blocked_ns += waits ? t->dur_ns[r] : 0;
        s->allocations += alloc;
        s->alloc_bytes += alloc ? mem->bytes : 0;
    }
}

/* With `fill`, writes the device work of a call to the slices of all calls around it. */
static void take_work(struct measure *m, row_t r, bool fill)
{
    uint32_t n, owner = m->s->tree.owner[r];
    const row_t *rows = trace_launched(m->t, r, &n);
    for (uint32_t i = 0; owner != STAGE_NONE && i < n; i++) {
        if (!timeline_has(m->t, rows[i])) continue;
        if (!fill) m->self_gpu[owner] += m->t->dur_ns[rows[i]];
        for (uint32_t c = owner; c != STAGE_NONE; c = stages_parent_of(m, c)) {
            if (fill) m->work[m->slice[c] + m->n_slice[c]] = rows[i];
            m->n_slice[c]++;
        }
    }
}

static int lay_out_work(struct measure *m, struct err *e)
{
    uint32_t n_calls = m->s->tree.n_calls;
    for (row_t r = 0; r < m->t->n_rows; r++) take_work(m, r, false);
    size_t total = 0;
    for (uint32_t i = 0; i < n_calls; i++) {
        uint32_t c = m->by_node[i];
        m->slice[c] = total;
        total += m->n_slice[c];
        m->n_slice[c] = 0;
    }
    m->work = arena_zalloc(m->mem, total + 1, sizeof *m->work);
    if (!m->work) return err_nomem(e);
    for (row_t r = 0; r < m->t->n_rows; r++) take_work(m, r, true);
    return 0;
}

/* Time inside the call when devices that work at all had nothing to do. */
static int64_t idle_in(const struct measure *m, const struct stage_call *c)
{
    int64_t sum = 0;
    for (uint32_t d = 0; d < timeline_of(m->cx)->n_devices; d++) {
        const struct device_line *line = &timeline_of(m->cx)->devices[d];
        struct span working = span_both((struct span){c->begin_ns, c->end_ns}, line->extent);
        sum += timeline_idle_ns(line, working.begin_ns, working.end_ns);
    }
    return sum;
}

/* CPU time and idle time of calls, with and without the calls inside them. */
static void measure_calls(struct measure *m)
{
    const struct stage_tree *tree = &m->s->tree;
    for (uint32_t c = 0; c < tree->n_calls; c++) {
        if (stage_of(m, c)->backward) continue;
        int64_t dur = stages_duration(&tree->calls[c]), idle = idle_in(m, &tree->calls[c]);
        m->idle[c] = idle;
        m->self_cpu[c] += dur;
        m->self_idle[c] += idle;
        uint32_t up = stages_parent_of(m, c);
        if (up == STAGE_NONE) continue;
        m->self_cpu[up] -= dur;
        m->self_idle[up] -= idle;
    }
}

/* A call that goes on after the last step belongs to no step, though it may begin in one. */
static bool in_steps(const struct measure *m, uint32_t call)
{
    const struct steps *steps = steps_of(m->cx);
    const struct stage_call *c = &m->s->tree.calls[call];
    if (!steps->n_steps || c->end_ns > steps->steps[steps->n_steps - 1].cpu.end_ns) return false;
    return steps_at(steps, c->begin_ns) != UINT32_MAX;
}

/* Per-call sums of one stage; `cpu` and `gpu` are scratch for one value per call. */
static void stages_sum_stage(struct measure *m, struct stage *s, const uint32_t *calls,
                             int64_t *cpu, int64_t *gpu)
{
    uint32_t first = 0; /* by time: calls of one thread come before those of the next */
    for (uint32_t i = 0; i < s->calls; i++) {
        uint32_t c = calls[i];
        if (m->s->tree.calls[c].begin_ns < m->s->tree.calls[calls[first]].begin_ns) first = i;
        struct work_sum w =
            work_sum_run(m->t, timeline_of(m->cx), m->work + m->slice[c], m->n_slice[c]);
        work_sum_add(&s->gpu, &w);
        cpu[i] = s->backward ? 0 : stages_duration(&m->s->tree.calls[c]);
        gpu[i] = w.sum_ns;
        s->cpu_ns += cpu[i];
        s->self_cpu_ns += m->self_cpu[c];
        s->self_gpu_ns += m->self_gpu[c];
        s->idle_meanwhile_ns += m->idle[c];
        s->self_idle_meanwhile_ns += m->self_idle[c];
        if (!in_steps(m, c)) continue;
        s->step_cpu_ns += cpu[i];
        s->step_gpu_ns += w.sum_ns;
    }
    s->first_ns = s->calls ? cpu[first] : 0;
    s->gpu_first_ns = s->calls ? gpu[first] : 0;
    stats_sort(cpu, s->calls);
    stats_sort(gpu, s->calls);
    s->median_ns = stats_median(cpu, s->calls);
    s->p95_ns = stats_percentile(cpu, s->calls, 95);
    s->gpu_median_ns = stats_median(gpu, s->calls);
    s->gpu_p95_ns = stats_percentile(gpu, s->calls, 95);
}

static int sum_stages(struct measure *m, struct err *e)
{
    uint32_t n_calls = m->s->tree.n_calls;
    int64_t *cpu = arena_zalloc(m->mem, (size_t)n_calls + 1, sizeof *cpu);
    int64_t *gpu = arena_zalloc(m->mem, (size_t)n_calls + 1, sizeof *gpu);
    if (!cpu || !gpu) return err_nomem(e);
    const uint32_t *calls = m->by_node;
    for (uint32_t i = 0; i < m->s->n; calls += m->s->list[i++].calls) {
        struct stage *s = &m->s->list[i];
        if (!s->calls) continue;
        stages_sum_stage(m, s, calls, cpu, gpu);
        /* calls of one stage may overlap on the device: its union is taken over all of them */
        s->gpu.union_ns = work_sum_run(m->t, timeline_of(m->cx), m->work + m->slice[calls[0]],
                                       work_sum_count(&s->gpu))
                              .union_ns;
    }
    return 0;
}

static void find_peaks(struct measure *m)
{
    const struct memory_levels *ls = levels_of(m->cx);
    const struct stage_tree *tree = &m->s->tree;
    for (uint32_t i = 0; i < ls->n; i++) {
        if (memory_level_line_is_cpu(&ls->lines[i])) continue;
        for (uint32_t c = 0; c < tree->n_calls; c++) {
            const struct stage_call *call = &tree->calls[c];
            int64_t peak = memory_levels_peak(&ls->lines[i], call->begin_ns, call->end_ns);
            struct stage *s = stage_of(m, c);
            if (!s->backward && peak > s->peak_bytes) s->peak_bytes = peak;
        }
    }
}

static bool holds_steps(const struct measure *m, uint32_t call)
{
    const struct steps *s = steps_of(m->cx);
    const struct stage_call *c = &m->s->tree.calls[call];
    uint32_t i = 0;
    SEARCH_PAST(i, s->n_steps, s->steps[i].cpu.begin_ns < c->begin_ns);
    return i + 1 < s->n_steps && s->steps[i + 1].cpu.end_ns <= c->end_ns;
}

/* A stage that holds the loop, or whose time is mostly that of two or more stages inside it; of
 * derived ones only the former: what a module does between its parts is its own. */
static void find_containers(struct measure *m, uint8_t *n_inside)
{
    const struct stage_tree *tree = &m->s->tree;
    for (uint32_t i = 0; i < m->s->n; i++) {
        const struct stage *s = &m->s->list[i];
        if (s->parent != STAGE_NONE && !s->backward && n_inside[s->parent] < 2)
            n_inside[s->parent]++;
    }
    for (uint32_t i = 0; i < m->s->n; i++) {
        struct stage *s = &m->s->list[i];
        int64_t inside = s->cpu_ns - s->self_cpu_ns;
        s->container =
            !s->derived && n_inside[i] >= 2 && inside * 100 >= s->cpu_ns * stages_container_pct;
    }
    for (uint32_t c = 0; c < tree->n_calls; c++) {
        struct stage *s = stage_of(m, c);
        if (!s->container && n_inside[tree->calls[c].node]) s->container = holds_steps(m, c);
    }
}

static int stages_prepare(struct measure *m, struct err *e)
{
    size_t n = (size_t)m->s->tree.n_calls + 1;
    m->slice = arena_zalloc(m->mem, n, sizeof *m->slice);
    m->n_slice = arena_zalloc(m->mem, n, sizeof *m->n_slice);
    m->self_cpu = arena_zalloc(m->mem, n, sizeof *m->self_cpu);
    m->self_gpu = arena_zalloc(m->mem, n, sizeof *m->self_gpu);
    m->idle = arena_zalloc(m->mem, n, sizeof *m->idle);
    m->self_idle = arena_zalloc(m->mem, n, sizeof *m->self_idle);
    if (!m->slice || !m->n_slice || !m->self_cpu || !m->self_gpu || !m->idle || !m->self_idle)
        return err_nomem(e);
    return 0;
}

static int stages_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct trace *t = cx->t;
    const struct steps *steps = steps_of(cx);
    struct stages *s = ret;
    struct measure m = {.t = t, .cx = cx, .s = s, .mem = cx->mem};
    struct stage_parts parts;
    TRY(stage_parts_find(cx, &parts, e));
    struct stage_tree_in in = {t, cx->all_stages, &parts};
    TRY(stage_tree_run(&in, cx->mem, &s->tree, e));
    TRY(fill_stages(&m, e));
    TRY(group_calls(&m, e));
    TRY(stages_prepare(&m, e));
    for (row_t r = 0; r < t->n_rows; r++) stages_count_row(&m, r);
    TRY(lay_out_work(&m, e));
    measure_calls(&m);
    TRY(sum_stages(&m, e));
    find_peaks(&m);
    uint8_t *n_inside = arena_zalloc(cx->mem, (size_t)s->n + 1, 1);
    if (!n_inside) return err_nomem(e);
    find_containers(&m, n_inside);
    for (uint32_t i = 0; i < steps->n_steps; i++) {
        s->steps_cpu_ns += steps->steps[i].cpu.end_ns - steps->steps[i].cpu.begin_ns;
        s->steps_gpu_ns += steps->steps[i].gpu.sum_ns;
    }
    return unlabelled_run(cx, s, e);
}

static const struct pass *const needs[] = {
    &calls_pass, &timeline_pass, &levels_pass, &places_pass, &outline_pass, &steps_pass, NULL};

const struct pass stages_pass = {
    .id = PASS_STAGES,
    .size = sizeof(struct stages),
    .needs = needs,
    .run = stages_run_pass,
};
