/* estimate.c: the pipeline of copies and compute, one group after the other.
 *
 *     depth 0    copy 0, compute 0, copy 1, compute 1 ...
 *     depth d    copy i starts when copy i-1 is done and compute i-d-1 has given its memory back;
 *                compute i starts when compute i-1 and copy i are done */
#include "offload/scheme.h"

/* Modules below this size share allocations. */
#define OWN_SEGMENT_BYTES 1000000

struct weight_group {
    double copy_ns, compute_ns;
};

static bool estimate_stays(const struct scheme *sc, uint32_t module)
{
    return sc->resident && sc->resident[module];
}

/* Whether the scheme copies blocks ahead and this module lies outside of all of them. */
static bool in_turn_from_pageable(const struct facts *f, const struct scheme *sc, uint32_t i)
{
    return sc->depth && sc->by_block && f->modules[i].loose && !estimate_stays(sc, i);
}

static double copy_ns(const struct facts *f, const struct scheme *sc, uint32_t i)
{
    const struct facts_module *m = &f->modules[i];
    if (estimate_stays(sc, i) || in_turn_from_pageable(f, sc, i)) return 0;
    bool churns = f->empties_cache && !sc->depth && m->bytes >= OWN_SEGMENT_BYTES;
    double alloc = churns ? (double)f->alloc_ns : 0;
    return (double)m->bytes * sc->weight_scale / f->rate[sc->host].bytes_per_ns +
           (double)m->n_tensors * (double)f->call_ns + alloc;
}

/* Modules, or blocks of them, as parts of the pipeline. */
static uint32_t make_parts(const struct facts *f, const struct scheme *sc,
                           struct weight_group *parts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        bool joins = i && sc->by_block && f->modules[i].block == f->modules[i - 1].block;
        if (!joins) parts[n++] = (struct weight_group){0, 0};
        parts[n - 1].copy_ns += copy_ns(f, sc, i);
        parts[n - 1].compute_ns += (double)f->modules[i].compute_ns;
    }
    for (uint32_t i = 0; i < n && !sc->by_event; i++)
        if (parts[i].copy_ns > 0) parts[i].compute_ns += (double)f->hooks_ns;
    return n;
}

/* What lies outside of all blocks: there and back, and nothing else meanwhile. */
static double loose_ns(const struct facts *f, const struct scheme *sc)
{
    double bytes = 0, calls = 0;
    for (uint32_t i = 0; i < f->n_modules; i++) {
        if (!in_turn_from_pageable(f, sc, i)) continue;
        const struct facts_module *m = &f->modules[i];
        bytes += (double)(m->moved_bytes ? m->moved_bytes : m->bytes) * sc->weight_scale;
        calls += 2.0 * f->modules[i].n_tensors;
    }
    if (bytes <= 0) return 0;
    double there = bytes / f->rate[HOST_PAGEABLE].bytes_per_ns;
    return there + bytes / f->back.bytes_per_ns + calls * (double)f->call_ns;
}

static double in_turn(const struct weight_group *parts, uint32_t n)
{
    double t = 0;
    for (uint32_t i = 0; i < n; i++) t += parts[i].copy_ns + parts[i].compute_ns;
    return t;
}

static double estimate_ahead(const struct weight_group *parts, uint32_t n, uint32_t depth,
                             double *computed)
{
    double copied = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        double room = i > depth ? computed[i - depth - 1] : 0;
        copied = (copied > room ? copied : room) + parts[i].copy_ns;
        last = (last > copied ? last : copied) + parts[i].compute_ns;
        computed[i] = last;
    }
    return last;
}

static int estimate_step_time(const struct facts *f, const struct scheme *sc, struct arena *mem,
                              int64_t *ret)
{
    struct arena_mark mark = arena_mark(mem);
    struct weight_group *parts = arena_alloc(mem, (f->n_modules + (size_t)1) * sizeof *parts);
    double *computed = arena_alloc(mem, (f->n_modules + (size_t)1) * sizeof *computed);
    if (!parts || !computed) return ERR_NOMEM;
    uint32_t n = make_parts(f, sc, parts);
    double t = sc->depth ? estimate_ahead(parts, n, sc->depth, computed) : in_turn(parts, n);
    t += loose_ns(f, sc);
    *ret = (int64_t)(t * f->passes + 0.5);
    arena_reset_to(mem, mark);
    return 0;
}

/* Everything is brought over once, from a cold source where there is one; the compute of the step
 * comes on top of it. */
static int estimate_first_time(const struct facts *f, const struct scheme *sc, struct arena *mem,
                               int64_t *ret)
{
    if (f->first_ns) {
        /* read from a disk, it is as long as the weights are large */
        bool disk = (double)f->model_bytes / (double)f->first_ns < FACTS_DISK_BYTES_PER_NS;
        double reading = disk ? (double)(f->first_ns - f->compute_ns) : 0;
        *ret = f->first_ns - (int64_t)(reading * (1 - sc->weight_scale));
        return 0;
    }
    struct scheme none = {.host = sc->host, .weight_scale = sc->weight_scale};
    TRY(estimate_step_time(f, &none, mem, ret));
    double bytes = (double)f->model_bytes * sc->weight_scale, rate = f->rate[sc->host].bytes_per_ns;
    if (f->cold.from != FACT_UNKNOWN && f->cold.bytes_per_ns < rate)
        *ret += (int64_t)(bytes / f->cold.bytes_per_ns - bytes / rate);
    for (uint32_t i = 0; !f->modules_are_pieces && i < f->n_modules; i++)
        if (estimate_stays(sc, i)) *ret += f->alloc_ns;
    return 0;
}

int estimate_run(const struct facts *f, const struct scheme *sc, struct arena *mem,
                 struct scheme_times *ret)
{
    int64_t step, first;
    TRY(estimate_step_time(f, sc, mem, &step));
    TRY(estimate_first_time(f, sc, mem, &first));
    *ret = (struct scheme_times){.first_ns = sc->preloaded ? step : first,
                                 .step_ns = step,
                                 .fastest_ns = step,
                                 .slowest_ns = step};
    return 0;
}

void estimate_worth(const struct facts *f, const struct scheme *sc, double *ret)
{
    for (uint32_t i = 0; i < f->n_modules; i++) {
        double hidden = 0;
        for (uint32_t k = 1; k <= sc->depth && k <= i; k++)
            hidden += (double)f->modules[i - k].compute_ns;
        double copy = copy_ns(f, sc, i);
        ret[i] = copy > hidden ? copy - hidden : 0;
    }
}
