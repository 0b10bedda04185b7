/* memory.c: levels at the ends of steps, and whether they rise. */
#include "analyze/memory/memory.h"

#include <stdlib.h>

#include "analyze/memory/memory_constants.h"
#include "analyze/memory/memory_private.h"
#include "base/stats.h"

struct watch {
    const struct trace *t;
    const struct context *cx;
    const struct stages *stages;
    struct arena *mem;
};

/* `begin_bytes` is what was there before the first event. */
static int64_t level_at(const struct memory_level_line *l, int64_t ts_ns, int64_t begin_bytes)
{
    uint32_t i = memory_levels_at(l, ts_ns);
    return i == UINT32_MAX ? begin_bytes : l->levels[i].allocated;
}

static void memory_measure_steps(const struct watch *w, const struct memory_level_line *l,
                                 struct memory_line *m)
{
    const struct steps *steps = steps_of(w->cx);
    for (uint32_t i = 0; i < steps->n_steps; i++) {
        struct span s = steps->steps[i].cpu;
        m->steps[i].end_bytes = level_at(l, s.end_ns - 1, m->begin_bytes);
        int64_t peak = memory_levels_peak(l, s.begin_ns, s.end_ns - 1);
        m->steps[i].peak_bytes = peak < 0 ? m->begin_bytes : peak;
    }
    for (uint32_t k = 0; k < l->n; k++) {
        const struct mem_info *info = trace_mem(w->t, l->levels[k].row);
        uint32_t i = steps_at(steps, l->levels[k].ts_ns);
        if (i == UINT32_MAX || info->bytes <= 0) continue;
        m->steps[i].allocations++;
        m->steps[i].alloc_bytes += info->bytes;
    }
}

/* The first step fills caches; with enough others it is left out. `change` is scratch. */
static void judge_growth(uint32_t n_steps, struct memory_line *m, int64_t *change)
{
    struct memory_growth *g = &m->growth;
    uint32_t first = n_steps > memory_growth_steps ? 1 : 0, n = 0;
    if (n_steps < memory_growth_steps) return;
    for (uint32_t i = first; i + 1 < n_steps; i++) {
        change[n] = m->steps[i + 1].end_bytes - m->steps[i].end_bytes;
        g->n_rises += change[n++] > 0;
    }
    stats_sort(change, n);
    g->judged = true;
    g->n_steps = n_steps - first;
    g->per_step = stats_median(change, n);
    g->total_bytes = m->steps[n_steps - 1].end_bytes - m->steps[first].end_bytes;
    g->grows =
        g->n_rises * 100 >= n * memory_growth_rises_pct && g->per_step >= memory_growth_bytes;
}

static void find_peak(const struct watch *w, const struct memory_level_line *l,
                      struct memory_line *m)
{
    m->peak = l->levels[0].row;
    m->peak_bytes = l->levels[0].allocated;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct memory_level *v = &l->levels[i];
        if (v->allocated > m->peak_bytes) m->peak_bytes = v->allocated, m->peak = v->row;
        if (v->reserved < 0) continue;
        if (v->reserved > m->reserved_bytes) m->reserved_bytes = v->reserved;
        if (v->reserved - v->allocated > m->unused_bytes)
            m->unused_bytes = v->reserved - v->allocated;
    }
    uint32_t call = w->stages->tree.owner[m->peak];
    m->peak_stage = call == STAGE_NONE ? STAGE_NONE : w->stages->tree.calls[call].node;
}

static int measure_line(const struct watch *w, const struct memory_level_line *l,
                        struct memory_line *m, struct err *e)
{
    uint32_t n_steps = steps_of(w->cx)->n_steps;
    *m = (struct memory_line){.device_type = l->device_type,
                              .device_id = l->device_id,
                              .relative = l->relative,
                              .end_bytes = l->levels[l->n - 1].allocated,
                              .reserved_bytes = -1,
                              .unused_bytes = -1};
    /* what was there before the first event changed it */
    m->begin_bytes = l->levels[0].allocated - trace_mem(w->t, l->levels[0].row)->bytes;
    m->steps = arena_zalloc(w->mem, (size_t)n_steps + 1, sizeof *m->steps);
    int64_t *change = arena_zalloc(w->mem, (size_t)n_steps + 1, sizeof *change);
    if (!m->steps || !change) return err_nomem(e);
    find_peak(w, l, m);
    memory_measure_steps(w, l, m);
    judge_growth(n_steps, m, change);
    return 0;
}

static int memory_by_time(const void *a, const void *b)
{
    const struct driver_alloc *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static void count_driver_call(const struct watch *w, row_t r, struct driver_alloc *d)
{
    bool in_step = steps_at(steps_of(w->cx), w->t->ts_ns[r]) != UINT32_MAX;
    bool better = (in_step && !d->in_steps) ||
                  (in_step == (d->in_steps > 0) && w->t->dur_ns[r] > w->t->dur_ns[d->example]);
    if (!d->count || better) d->example = r;
    d->count++;
    d->total_ns += w->t->dur_ns[r];
    d->in_steps += in_step;
    d->in_steps_ns += in_step ? w->t->dur_ns[r] : 0;
}

static int count_driver_calls(const struct watch *w, struct memory *m, struct err *e)
{
    enum { MOST = 64 };
    m->calls = arena_zalloc(w->mem, MOST, sizeof *m->calls);
    if (!m->calls) return err_nomem(e);
    for (row_t r = 0; r < w->t->n_rows; r++) {
        if (!call_allocates(calls_kind(calls_of(w->cx), w->t, r))) continue;
        uint32_t i = 0;
        while (i < m->n_calls && m->calls[i].name != w->t->name[r]) i++;
        if (i == MOST) continue;
        if (i == m->n_calls) m->calls[m->n_calls++] = (struct driver_alloc){.name = w->t->name[r]};
        count_driver_call(w, r, &m->calls[i]);
    }
    for (uint32_t i = 0; i < m->n_calls; i++) m->calls_in_steps += m->calls[i].in_steps;
    qsort(m->calls, m->n_calls, sizeof *m->calls, memory_by_time);
    return 0;
}

static int memory_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct memory_levels *levels = levels_of(cx);
    struct memory *m = ret;
    struct watch w = {cx->t, cx, stages_of(cx), cx->mem};
    m->recorded = levels->n > 0;
    m->lines = arena_zalloc(cx->mem, (size_t)levels->n + 1, sizeof *m->lines);
    if (!m->lines) return err_nomem(e);
    for (uint32_t i = 0; i < levels->n; i++)
        TRY(measure_line(&w, &levels->lines[i], &m->lines[m->n_lines++], e));
    TRY(alloc_sites_run(cx, m, e));
    return count_driver_calls(&w, m, e);
}

static const struct pass *const needs[] = {&calls_pass, &places_pass, &levels_pass,
                                           &steps_pass, &stages_pass, NULL};

const struct pass memory_pass = {
    .id = PASS_MEMORY,
    .size = sizeof(struct memory),
    .needs = needs,
    .run = memory_run_pass,
};
