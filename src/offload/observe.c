/* observe.c: see planner.h. */
#include "offload/planner.h"

#include "analyze/names/overhead.h"
#include "base/stats.h"

/* Copies from here on are long enough for their rate to be that of the bus. */
#define LARGE_BYTES 1000000
/* Memory given back in at least this share of the loads of a later step is a habit. */
#define STORM_SHARE 4

static bool observe_in_loop(const struct trial *tr, row_t r)
{
    const struct streamed *s = tr->s;
    row_t call = trace_launch_of(tr->t, r);
    int64_t at = call == ROW_NONE ? tr->t->ts_ns[r] : tr->t->ts_ns[call];
    return at >= s->steps[0].cpu.begin_ns && at < s->steps[s->n_steps - 1].cpu.end_ns;
}

/* ---- copies ---- */

/* Adds up the copies that `want`s; rates are collected in millionths of a byte a nanosecond. */
static void sum_copies(const struct trial *tr, int kind, int64_t *rates,
                       struct observed_copies *ret)
{
    const struct trace *t = tr->t;
    uint32_t n = 0;
    for (uint32_t w = 0; w < tr->m->n_works; w++) {
        row_t r = tr->m->works[w].row;
        int64_t bytes = trace_gpu(t, r)->bytes;
        bool wanted = kind == HOST_KINDS ? streamed_is_download(t, r) && bytes >= LARGE_BYTES
                                         : streamed_is_upload(t, r) && streamed_is_pageable(t, r) ==
                                                                           (kind == HOST_PAGEABLE);
        if (!wanted || bytes <= 0 || !observe_in_loop(tr, r)) continue;
        ret->n++;
        ret->bytes += bytes;
        ret->ns += t->dur_ns[r];
        if (bytes >= LARGE_BYTES && t->dur_ns[r] > 0)
            rates[n++] = (int64_t)((double)bytes / (double)t->dur_ns[r] * 1e6);
    }
    if (!n) return;
    stats_sort(rates, n);
    ret->rate = (struct facts_rate){.bytes_per_ns = (double)stats_median(rates, n) / 1e6,
                                    .low = (double)stats_percentile(rates, n, 10) / 1e6,
                                    .high = (double)stats_percentile(rates, n, 90) / 1e6,
                                    .from = FACT_MEASURED};
}

/* ---- overlap ---- */

static bool observe_is_kernel(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_KERNEL;
}

/* The time at least one wanted work of the device ran, as spans apart. Work is sorted by start. */
static uint32_t observe_unite(const struct trial *tr, const struct device_line *d,
                              bool (*want)(const struct trace *, row_t), struct span *ret)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (!want(tr->t, r) || !observe_in_loop(tr, r)) continue;
        n = span_join(ret, n, trace_span(tr->t, r));
    }
    return n;
}

static int64_t observe_length(const struct span *s, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += span_ns(s[i]);
    return sum;
}

static int64_t observe_common(const struct span *a, uint32_t n_a, const struct span *b,
                              uint32_t n_b)
{
    int64_t sum = 0;
    for (uint32_t i = 0, k = 0; i < n_a && k < n_b;) {
        sum += span_ns(span_both(a[i], b[k]));
        if (a[i].end_ns < b[k].end_ns) i++;
        else k++;
    }
    return sum;
}

static int measure_overlap(const struct trial *tr, struct arena *mem, struct observed *ret)
{
    for (uint32_t i = 0; i < timeline_of(tr->cx)->n_devices; i++) {
        const struct device_line *d = &timeline_of(tr->cx)->devices[i];
        struct span *copies = arena_alloc(mem, (d->n_work + (size_t)1) * sizeof *copies);
        struct span *kernels = arena_alloc(mem, (d->n_work + (size_t)1) * sizeof *kernels);
        if (!copies || !kernels) return ERR_NOMEM;
        uint32_t n_copies = observe_unite(tr, d, streamed_is_upload, copies);
        uint32_t n_kernels = observe_unite(tr, d, observe_is_kernel, kernels);
        ret->copying_ns += observe_length(copies, n_copies);
        ret->compute_ns += observe_length(kernels, n_kernels);
        ret->overlapped_ns += observe_common(copies, n_copies, kernels, n_kernels);
    }
    return 0;
}

/* ---- the allocator ---- */

static void count_churn(const struct trial *tr, struct observed *ret)
{
    const struct trace *t = tr->t;
    const struct streamed *s = tr->s;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        for (row_t r = trace_lower_bound(t, l, s->steps[0].cpu.begin_ns); r < t->lanes[l].end;
             r++) {
            if (t->ts_ns[r] >= s->steps[s->n_steps - 1].cpu.end_ns) break;
            enum call_kind k = calls_kind(calls_of(tr->cx), t, r);
            if (!call_allocates(k)) continue;
            bool first = t->ts_ns[r] < s->steps[0].cpu.end_ns;
            struct observed_churn *c = first ? &ret->first : &ret->later;
            c->allocs += k == CALL_ALLOC;
            c->frees += k == CALL_FREE;
            c->host_allocs += k == CALL_HOST_ALLOC;
            c->ns += t->dur_ns[r];
        }
    }
    uint32_t loads = s->n_loads - s->steps[0].n_loads;
    ret->empties_cache = loads && ret->later.frees * STORM_SHARE >= loads;
}

static int64_t peak_allocated(const struct trace *t)
{
    int64_t peak = -1;
    for (uint32_t i = 0; i < t->n_mem; i++)
        if (t->mem[i].device_type != 0 && t->mem[i].total_allocated > peak)
            peak = t->mem[i].total_allocated;
    return peak;
}

static void measure_bytes(const struct streamed *s, struct observed *ret)
{
    ret->first_bytes = s->steps[0].bytes;
    ret->step_bytes = s->steps[s->n_steps > 1].bytes;
}

static int observe(const struct trial *tr, struct arena *mem, struct observed *ret)
{
    int64_t *rates = arena_alloc(mem, (tr->m->n_works + (size_t)1) * sizeof *rates);
    if (!rates) return ERR_NOMEM;
    for (int h = 0; h < HOST_KINDS; h++) sum_copies(tr, h, rates, &ret->to_device[h]);
    sum_copies(tr, HOST_KINDS, rates, &ret->to_host);
    TRY(measure_overlap(tr, mem, ret));
    count_churn(tr, ret);
    measure_bytes(tr->s, ret);
    ret->peak_allocated = peak_allocated(tr->t);
    return trial_traced(tr, mem, &ret->times);
}

int observe_run(const struct trial *tr, struct arena *mem, struct observed *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    *ret = (struct observed){0};
    int rc = observe(tr, mem, ret);
    arena_reset_to(mem, mark);
    return err_grow(e, rc);
}

/* ---- facts ---- */

/* CPU time of a load besides its copies, for each of them: the median. */
static int64_t observe_call_cost(const struct streamed *s, int64_t *scratch)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        const struct streamed_load *l = &s->loads[i];
        int64_t own = l->end_ns - l->begin_ns - (l->pageable ? l->copy_ns : 0);
        if (own > 0) scratch[n++] = own / l->n_copies;
    }
    stats_sort(scratch, n);
    return stats_median(scratch, n);
}

static int64_t largest_module(const struct streamed *s)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < s->n_modules; i++)
        if (s->modules[i].bytes > most) most = s->modules[i].bytes;
    return most;
}

static int64_t outside_loop(const struct trial *tr)
{
    const struct streamed *s = tr->s;
    int64_t before = s->steps[0].cpu.begin_ns - tr->m->begin_ns, loop_end = 0;
    for (uint32_t w = 0; w < tr->m->n_works; w++)
        if (tr->step_of_work[w] != STREAMED_NONE && tr->m->works[w].end_ns > loop_end)
            loop_end = tr->m->works[w].end_ns;
    if (loop_end < s->steps[s->n_steps - 1].cpu.end_ns)
        loop_end = s->steps[s->n_steps - 1].cpu.end_ns;
    int64_t after = tr->m->end_ns > loop_end ? tr->m->end_ns - loop_end : 0;
    before -= overhead_ns(overheads_of(tr->cx), OVERHEAD_PROFILER, tr->m->begin_ns,
                          s->steps[0].cpu.begin_ns);
    if (before < 0) before = 0;
    return s->steps_are_guess ? 0 : before + after;
}

static int copy_modules(const struct streamed *s, struct arena *mem, struct facts *f)
{
    f->n_modules = s->n_modules;
    f->modules = arena_zalloc(mem, s->n_modules + (size_t)1, sizeof *f->modules);
    if (!f->modules) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_modules; i++) {
        f->modules[i] = (struct facts_module){.bytes = s->modules[i].bytes,
                                              .compute_ns = s->modules[i].compute_ns,
                                              .n_tensors = s->modules[i].n_copies};
        f->compute_ns += s->modules[i].compute_ns * s->passes;
    }
    return 0;
}

int observe_facts(const struct trial *tr, const struct observed *o, struct arena *mem,
                  struct facts *ret, struct err *e)
{
    const struct streamed *s = tr->s;
    *ret = (struct facts){.host = tr->traced_host, .passes = s->passes, .steps = s->n_steps};
    int64_t *scratch = arena_alloc(mem, (s->n_loads + (size_t)1) * sizeof *scratch);
    if (!scratch || copy_modules(s, mem, ret) < 0) return err_nomem(e);
    for (int h = 0; h < HOST_KINDS; h++) ret->rate[h] = o->to_device[h].rate;
    ret->back = o->to_host.rate;
    ret->compute_from = FACT_MEASURED;
    ret->call_ns = observe_call_cost(s, scratch);
    uint32_t allocs = o->first.allocs + o->later.allocs;
    uint32_t calls = allocs + o->first.frees + o->later.frees;
    if (allocs) ret->alloc_ns = (o->first.ns + o->later.ns) / calls;
    ret->first_ns = o->times.first_ns;
    ret->step_ns = o->times.step_ns;
    ret->fixed_ns = outside_loop(tr);
    ret->activation_bytes =
        o->peak_allocated < 0 ? -1 : o->peak_allocated - largest_module(s) * (1 + (s->n_loads > 1));
    if (ret->activation_bytes < 0) ret->activation_bytes = -1;
    if (tr->t->n_devices) ret->vram_bytes = tr->t->devices[0].memory_bytes;
    return 0;
}
