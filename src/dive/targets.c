/* targets.c: see targets.h. Launches are added up by name and size, sizes by short name. */
#include "dive/targets.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "base/stats.h"
#include "base/vec.h"
#include "base/wrap.h"

/* ---- time alone on the device ---- */

struct edge {
    int64_t ns;
    uint32_t work; /* index into the device's work */
    bool begins;
};

/* Ends before beginnings, so that neighbours do not overlap. */
static int targets_by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->begins - y->begins;
}

/* While exactly one record runs, the sum of what runs is that record. */
static void targets_sweep(const struct device_line *d, const struct edge *edges, size_t n,
                          int64_t *alone)
{
    uint64_t running = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && running == 1) alone[d->work[sum]] += edges[i].ns - edges[i - 1].ns;
        running += edges[i].begins ? 1 : -UINT64_C(1);
        sum += edges[i].begins ? edges[i].work : -(uint64_t)edges[i].work;
    }
}

/* Adds the time alone of the device's work to `alone`, by row. True when out of memory. */
static bool add_alone(const struct trace *t, const struct device_line *d, int64_t *alone)
{
    struct edge *edges = mem_zalloc(2 * (size_t)d->n_work + 1, sizeof *edges);
    if (!edges) return true;
    size_t n = 0;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (t->dur_ns[r] <= 0) continue;
        edges[n++] = (struct edge){t->ts_ns[r], i, true};
        edges[n++] = (struct edge){trace_end_ns(t, r), i, false};
    }
    qsort(edges, n, sizeof *edges, targets_by_time);
    targets_sweep(d, edges, n, alone);
    mem_free(edges);
    return false;
}

/* ---- adding up ---- */

/* Launches of one kernel in one size. */
struct size_group {
    str_id name;
    struct kernel_config config;
    uint64_t calls, graph_calls;
    int64_t ns, exposed_ns;
    uint32_t seen; /* launches, when looking for the one to measure */
    row_t row;     /* that one, as far as it is found; ROW_NONE */
    uint32_t ordinal;
    int fit; /* how well it stands for the others */
};

struct selector {
    const struct context *cx;
    int64_t *alone; /* by row */
    int64_t steady_ns;
    struct size_group *sizes;
    size_t n_sizes, cap_sizes;
    struct map index;      /* (name, config) -> sizes */
    struct intern configs; /* byte for byte */
    struct target *kernels;
    size_t n_kernels, cap_kernels;
    struct intern shorts;
    struct map by_short; /* of shorts -> kernels */
    int64_t exposed_ns;
};

/* Launches before this moment belong to the warm-up. */
static int64_t steady_from(const struct context *cx)
{
    return steps_of(cx)->n_steps > 1 ? steps_of(cx)->steps[1].cpu.begin_ns : INT64_MIN;
}

static int64_t launched_at(const struct trace *t, row_t r)
{
    row_t call = trace_launch_of(t, r);
    return t->ts_ns[call == ROW_NONE ? r : call];
}

static struct size_group *targets_size_of(struct selector *s, row_t r)
{
    const struct trace *t = s->cx->t;
    const struct gpu_info *g = &t->gpu[t->aux[r]];
    struct kernel_config c;
    memset(&c, 0, sizeof c);
    memcpy(c.grid, g->grid, sizeof c.grid);
    memcpy(c.block, g->block, sizeof c.block);
    c.shared_bytes = g->shared_bytes;
    c.registers = g->registers;
    str_id config = intern_add(&s->configs, str_from((const char *)&c, sizeof c));
    uint32_t *slot =
        config == STR_NONE ? NULL : map_at(&s->index, (uint64_t)t->name[r] << 32 | config);
    if (!slot) return NULL;
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(s->sizes, s->n_sizes, s->cap_sizes, 1)) return NULL;
        s->sizes[s->n_sizes] =
            (struct size_group){.name = t->name[r], .config = c, .row = ROW_NONE};
        *slot = (uint32_t)s->n_sizes++;
    }
    return &s->sizes[*slot];
}

static bool targets_add_launch(struct selector *s, row_t r)
{
    const struct trace *t = s->cx->t;
    struct size_group *g = targets_size_of(s, r);
    if (!g) return true;
    g->calls++;
    g->graph_calls += t->gpu[t->aux[r]].graph_id > 0;
    g->ns = wrap_add(g->ns, t->dur_ns[r]);
    g->exposed_ns = wrap_add(g->exposed_ns, s->alone[r]);
    s->exposed_ns = wrap_add(s->exposed_ns, s->alone[r]);
    return false;
}

/* The first steady launch is measured, but none of the short ones: kernels that spread their work
 * over a fixed grid are launched alike for a small matrix and for a large one. */
static bool targets_consider(struct selector *s, row_t r)
{
    const struct trace *t = s->cx->t;
    struct size_group *g = targets_size_of(s, r);
    if (!g) return true;
    bool steady = launched_at(t, r) >= s->steady_ns;
    bool typical = (double)t->dur_ns[r] * (double)g->calls >= 0.9 * (double)g->ns;
    int fit = 1 + 2 * steady + typical;
    if (fit > g->fit) g->fit = fit, g->row = r, g->ordinal = g->seen;
    g->seen++;
    return false;
}

static bool each_kernel(struct selector *s, const struct device_line *d,
                        bool (*fn)(struct selector *, row_t))
{
    for (uint32_t i = 0; i < d->n_work; i++)
        if (s->cx->t->kind[d->work[i]] == KIND_KERNEL && fn(s, d->work[i])) return true;
    return false;
}

static bool targets_add_device(struct selector *s, const struct device_line *d)
{
    return add_alone(s->cx->t, d, s->alone) || each_kernel(s, d, targets_add_launch) ||
           each_kernel(s, d, targets_consider);
}

/* ---- sizes to kernels ---- */

static bool name_target(struct target *k, struct demangler *d, struct arena *mem)
{
    bool failed = kernel_name_read(d, &k->name, &k->short_name, mem);
    k->family = kernel_family(KIND_KERNEL, k->name);
    return failed;
}

static void targets_represent(struct target *k, const struct size_group *g, const struct trace *t)
{
    k->config = g->config;
    k->row = g->row;
    k->ordinal = g->ordinal;
    k->row_ns = t->dur_ns[g->row];
    k->config_calls = g->calls;
    k->config_ns = g->ns;
}

/* Sizes come most exposed first: the first one of a kernel represents it. */
static bool targets_add_size(struct selector *s, const struct size_group *g, struct demangler *d,
                             struct arena *mem)
{
    struct target k = {.name = trace_str(s->cx->t, g->name)};
    if (name_target(&k, d, mem)) return true;
    str_id id = intern_add(&s->shorts, k.short_name);
    uint32_t *slot = id == STR_NONE ? NULL : map_at(&s->by_short, id);
    if (!slot || VEC_RESERVE(s->kernels, s->n_kernels, s->cap_kernels, 1)) return true;
    if (*slot == MAP_NONE) {
        targets_represent(&k, g, s->cx->t);
        *slot = (uint32_t)s->n_kernels;
        s->kernels[s->n_kernels++] = k;
    }
    struct target *at = &s->kernels[*slot];
    at->n_configs++;
    at->calls += g->calls;
    at->graph_calls += g->graph_calls;
    at->exposed_ns = wrap_add(at->exposed_ns, g->exposed_ns);
    return false;
}

static int by_size_exposed(const void *a, const void *b)
{
    const struct size_group *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int by_kernel_exposed(const void *a, const void *b)
{
    const struct target *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static bool targets_add_kernels(struct selector *s, struct arena *mem)
{
    struct demangler d;
    demangler_init(&d);
    if (s->n_sizes) qsort(s->sizes, s->n_sizes, sizeof *s->sizes, by_size_exposed);
    bool failed = false;
    for (size_t i = 0; i < s->n_sizes && !failed; i++)
        failed = targets_add_size(s, &s->sizes[i], &d, mem);
    demangler_done(&d);
    if (s->n_kernels) qsort(s->kernels, s->n_kernels, sizeof *s->kernels, by_kernel_exposed);
    return failed;
}

/* ---- the choice ---- */

static bool targets_choose(const struct selector *s, uint32_t top, const struct pattern *filter,
                           struct arena *mem, struct targets *ret)
{
    ret->all = arena_zalloc(mem, s->n_kernels + 1, sizeof *ret->all);
    ret->n_kernels = (uint32_t)s->n_kernels;
    if (!ret->all) return true;
    for (size_t i = 0; i < s->n_kernels && ret->n < top; i++) {
        struct target *k = &s->kernels[i];
        if (filter && !pattern_matches(filter, k->name)) continue;
        if (k->family == FAMILY_COMMUNICATION) {
            ret->n_unmeasured++;
            continue;
        }
        k->share_pct = stats_pct(k->exposed_ns, s->exposed_ns);
        ret->covered_pct += k->share_pct;
        ret->all[ret->n++] = *k;
    }
    return false;
}

static bool select_all(struct selector *s, struct arena *mem)
{
    const struct timeline *tl = timeline_of(s->cx);
    s->alone = arena_zalloc(mem, s->cx->t->n_rows + 1u, sizeof *s->alone);
    if (!s->alone || intern_init(&s->configs) || intern_init(&s->shorts)) return true;
    for (uint32_t i = 0; i < tl->n_devices; i++)
        if (targets_add_device(s, &tl->devices[i])) return true;
    return targets_add_kernels(s, mem);
}

int targets_select(const struct context *cx, struct targets_wish wish, struct arena *mem,
                   struct targets *ret, struct err *e)
{
    struct pattern filter;
    *ret = (struct targets){0};
    if (wish.filter) TRY(pattern_init(&filter, wish.filter, e));
    struct selector s = {.cx = cx, .steady_ns = steady_from(cx)};
    map_init(&s.index);
    map_init(&s.by_short);
    bool failed =
        select_all(&s, mem) || targets_choose(&s, wish.top, wish.filter ? &filter : NULL, mem, ret);
    map_done(&s.index);
    map_done(&s.by_short);
    intern_done(&s.configs);
    intern_done(&s.shorts);
    mem_free(s.sizes);
    mem_free(s.kernels);
    if (wish.filter) pattern_done(&filter);
    return failed ? err_nomem(e) : 0;
}
