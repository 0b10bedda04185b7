/* diff.c: matching two analyses. Everything is matched by text, since ids differ between traces. */
#include "analyze/compare/diff.h"

#include "analyze/compare/compare_constants.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct work {
    const struct context *side[2];
    struct arena *mem;
    struct diff *out;
    size_t cap_parts, cap_stages, cap_syncs;
    struct map at; /* key_of() an entry -> its index in the list it is in */
};

static int diff_nomem(struct err *e)
{
    return err_nomem(e);
}

static uint64_t diff_key_of(const char *kind, struct str name)
{
    return intern_hash(name) ^ map_mix(intern_hash(str_c(kind)));
}

/* ---- parts of the wall clock ---- */

static struct diff_change *diff_part_of(struct work *w, const char *kind, struct str name)
{
    struct diff *d = w->out;
    uint32_t *slot = map_at(&w->at, diff_key_of(kind, name));
    if (!slot) return NULL;
    if (*slot != MAP_NONE) return &d->parts[*slot];
    if (VEC_RESERVE(d->parts, d->n_parts, w->cap_parts, 1)) return NULL;
    const char *copy = arena_strdup(w->mem, name);
    if (!copy) return NULL;
    *slot = d->n_parts;
    d->parts[d->n_parts] = (struct diff_change){.kind = kind, .name = copy};
    return &d->parts[d->n_parts++];
}

static int diff_add_part(struct work *w, enum diff_side s, const char *kind, struct str name,
                         int64_t ns)
{
    struct diff_change *p = diff_part_of(w, kind, name);
    if (!p) return ERR_NOMEM;
    p->ns[s] += ns;
    return 0;
}

/* Kernel time is a union; families are sums. What they overlap is a part of its own. */
static int diff_add_kernels(struct work *w, enum diff_side s)
{
    const struct context *cx = w->side[s];
    const struct device_line *d = timeline_device(timeline_of(cx), wall_of(cx)->parts.device);
    int64_t sums[FAMILY_COUNT] = {0}, total = 0;
    for (uint32_t i = 0; d && i < d->n_work; i++) {
        row_t r = d->work[i];
        if (cx->t->kind[r] == KIND_MEMCPY) continue;
        sums[kernel_family(cx->t->kind[r], trace_name(cx->t, r))] += cx->t->dur_ns[r];
        total += cx->t->dur_ns[r];
    }
    for (int f = 0; f < FAMILY_COUNT; f++)
        if (sums[f])
            TRY(diff_add_part(w, s, "kernels", str_c(kernel_family_name((enum kernel_family)f)),
                              sums[f]));
    if (total != wall_of(cx)->parts.kernel_ns)
        TRY(diff_add_part(w, s, "overlap", str_c(""), wall_of(cx)->parts.kernel_ns - total));
    return diff_add_part(w, s, "copies", str_c(""), wall_of(cx)->parts.copy_ns);
}

/* Idle time is named by the user's function where there is one: names of inner frames differ too
 * easily from run to run. */
static struct str cause_name(const struct context *cx, const struct gap_cause *c)
{
    struct frame f;
    if (c->frame != ROW_NONE && frame_parse(trace_name(cx->t, c->frame), &f)) return f.function;
    return c->name;
}

static int diff_add_idle(struct work *w, enum diff_side s)
{
    const struct context *cx = w->side[s];
    for (uint32_t i = 0; i < gaps_of(cx)->n_causes; i++) {
        const struct gap_cause *c = &gaps_of(cx)->causes[i];
        if (gaps_of(cx)->devices[c->device].device != wall_of(cx)->parts.device) continue;
        TRY(diff_add_part(w, s, gap_cause_kind_name(c->kind), cause_name(cx, c), c->idle_ns));
    }
    return diff_add_part(w, s, "outside", str_c(""), wall_of(cx)->parts.outside_ns);
}

/* Outermost stages, and what is left of the wall clock: less than nothing where they overlap. */
static int add_outermost(struct work *w, enum diff_side s)
{
    const struct stages *st = stages_of(w->side[s]);
    int64_t rest = wall_of(w->side[s])->wall_ns;
    for (uint32_t i = 0; i < st->n; i++) {
        if (st->list[i].depth || !stage_is_part(&st->list[i])) continue;
        TRY(diff_add_part(w, s, "stage", st->list[i].name, st->list[i].cpu_ns));
        rest -= st->list[i].cpu_ns;
    }
    return diff_add_part(w, s, "between", str_c(""), rest);
}

static int by_change(const void *a, const void *b)
{
    const struct diff_change *x = a, *y = b;
    int64_t cx = llabs(x->ns[1] - x->ns[0]), cy = llabs(y->ns[1] - y->ns[0]);
    return cx > cy ? -1 : cx < cy;
}

/* ---- stages ---- */

static int diff_add_stages(struct work *w, enum diff_side s)
{
    struct diff *d = w->out;
    for (uint32_t i = 0; i < stages_of(w->side[s])->n; i++) {
        const struct stage *st = &stages_of(w->side[s])->list[i];
        if (!stage_is_part(st)) continue;
        uint32_t *slot = map_at(&w->at, diff_key_of("path of a stage", str_c(st->path)));
        if (!slot) return ERR_NOMEM;
        if (*slot == MAP_NONE) {
            if (VEC_RESERVE(d->stages, d->n_stages, w->cap_stages, 1)) return ERR_NOMEM;
            d->stages[d->n_stages] = (struct diff_stage){.path = st->path};
            *slot = d->n_stages++;
        }
        d->stages[*slot].side[s] = st;
    }
    return 0;
}

/* ---- syncs ---- */

static const char *sync_key(struct work *w, const struct context *cx, const struct sync_site *site)
{
    struct str function = site->place.source.function;
    struct str op = site->place.op == ROW_NONE ? str_c("") : trace_name(cx->t, site->place.op);
    struct str label =
        site->place.annotation == ROW_NONE ? str_c("") : trace_name(cx->t, site->place.annotation);
    struct str call = trace_str(cx->t, site->call);
    struct str where = function.n ? function : label;
    return arena_printf(w->mem, STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(call),
                        op.n ? " under " : "", STR_ARG(op), where.n ? " in " : "", STR_ARG(where));
}

/* Several sites may have one key; the n-th of one side belongs to the n-th of the other. */
static struct diff_sync *sync_of(struct work *w, enum diff_side s, const char *key)
{
    struct diff *d = w->out;
    uint32_t *count =
        map_at(&w->at, diff_key_of(s == DIFF_BEFORE ? "before" : "after", str_c(key)));
    if (!count) return NULL;
    uint32_t n = *count == MAP_NONE ? 0 : *count + 1;
    *count = n;
    uint32_t *slot = map_at(&w->at, map_mix(diff_key_of("sync", str_c(key)) + n));
    if (!slot) return NULL;
    if (*slot != MAP_NONE) return &d->syncs[*slot];
    if (VEC_RESERVE(d->syncs, d->n_syncs, w->cap_syncs, 1)) return NULL;
    *slot = d->n_syncs;
    d->syncs[d->n_syncs] = (struct diff_sync){.key = key};
    return &d->syncs[d->n_syncs++];
}

static int add_syncs(struct work *w, enum diff_side s)
{
    for (uint32_t i = 0; i < syncs_of(w->side[s])->n_sites; i++) {
        const struct sync_site *site = &syncs_of(w->side[s])->sites[i];
        const char *key = sync_key(w, w->side[s], site);
        struct diff_sync *found = key ? sync_of(w, s, key) : NULL;
        if (!found) return ERR_NOMEM;
        found->side[s] = site;
    }
    return 0;
}

/* ---- kernels ---- */

static void diff_count_kernels(struct work *w, enum diff_side s)
{
    const struct context *cx = w->side[s];
    const struct trace *t = cx->t;
    struct diff_kernels *k = &w->out->kernels;
    for (row_t r = 0; r < t->n_rows; r++) {
        enum call_kind call = calls_kind(calls_of(cx), t, r);
        k->launches[s] += call_launches(call);
        k->graph_launches[s] += call == CALL_GRAPH_LAUNCH;
        if (t->kind[r] != KIND_KERNEL) continue;
        enum kernel_family f = kernel_family(KIND_KERNEL, trace_name(t, r));
        row_t launch = trace_launch_of(t, r);
        k->kernels[s]++;
        k->family[f][s]++;
        k->family_ns[f][s] += t->dur_ns[r];
        k->fused[s] += f == FAMILY_TRITON;
        k->in_graphs[s] +=
            launch != ROW_NONE && calls_kind(calls_of(cx), t, launch) == CALL_GRAPH_LAUNCH;
    }
}

/* Kernel names of side `s`, each once, by hash of the text. */
static int collect_names(const struct trace *t, struct map *names)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL) continue;
        uint32_t *slot = map_at(names, intern_hash(trace_name(t, r)));
        if (!slot) return ERR_NOMEM;
        *slot = 0;
    }
    return 0;
}

static uint32_t diff_missing(const struct map *from, const struct map *in)
{
    uint32_t n = 0;
    for (size_t i = 0; from->slots && i <= from->mask; i++)
        if (from->slots[i].value != MAP_NONE && map_find(in, from->slots[i].key) == MAP_NONE) n++;
    return n;
}

/* Time of kernels, and of those whose names the other side has as well. */
static void diff_count_common(const struct trace *t, const struct map *other, int64_t *ret_ns,
                              int64_t *ret_common_ns)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_KERNEL) continue;
        *ret_ns += t->dur_ns[r];
        if (map_find(other, intern_hash(trace_name(t, r))) != MAP_NONE)
            *ret_common_ns += t->dur_ns[r];
    }
}

static int diff_compare_names(struct work *w)
{
    struct map names[2];
    map_init(&names[0]);
    map_init(&names[1]);
    int rc = collect_names(w->side[0]->t, &names[0]);
    if (rc == 0) rc = collect_names(w->side[1]->t, &names[1]);
    struct diff_kernels *k = &w->out->kernels;
    k->gone_names = diff_missing(&names[0], &names[1]);
    k->new_names = diff_missing(&names[1], &names[0]);
    k->same_names = k->gone_names + k->new_names == 0;
    for (int s = 0; s < 2 && rc == 0; s++)
        diff_count_common(w->side[s]->t, &names[!s], &k->ns[s], &k->common_ns[s]);
    map_done(&names[0]);
    map_done(&names[1]);
    return rc;
}

static enum diff_mechanism diff_do_mechanism(const struct diff *d)
{
    const struct diff_kernels *k = &d->kernels;
    double kernels[2], launches[2];
    for (int s = 0; s < 2; s++) {
        kernels[s] = diff_kernels_per_step(d, (enum diff_side)s);
        launches[s] = (double)k->launches[s] / d->per_step[s];
    }
    bool fused = kernels[1] < diff_fewer_share * kernels[0] && k->fused[1] > k->fused[0];
    bool graphs = k->in_graphs[1] > k->in_graphs[0] && launches[1] < diff_fewer_share * launches[0];
    if (fused && graphs) return MECHANISM_BOTH;
    if (fused) return MECHANISM_FUSION;
    if (graphs) return MECHANISM_GRAPHS;
    return kernels[1] < diff_fewer_share * kernels[0] ||
                   launches[1] < diff_fewer_share * launches[0]
               ? MECHANISM_OTHER
               : MECHANISM_NONE;
}

/* ---- all of it ---- */

static int run_side(struct work *w, enum diff_side s)
{
    uint32_t steps = steps_of(w->side[s])->n_steps;
    w->out->per_step[s] = steps ? steps : 1;
    if (w->out->device) TRY(diff_add_kernels(w, s));
    if (w->out->device) TRY(diff_add_idle(w, s));
    if (!w->out->device) TRY(add_outermost(w, s));
    TRY(diff_add_stages(w, s));
    TRY(add_syncs(w, s));
    diff_count_kernels(w, s);
    return 0;
}

/* Lists grew on the heap; they live in the arena from here on. */
static void *diff_keep(struct work *w, void *items, size_t n, size_t size)
{
    void *copy = arena_alloc(w->mem, n * size + 1);
    if (copy && n) memcpy(copy, items, n * size);
    mem_free(items);
    return copy;
}

static int diff_finish(struct work *w)
{
    struct diff *d = w->out;
    if (d->n_parts) qsort(d->parts, d->n_parts, sizeof *d->parts, by_change);
    d->parts = diff_keep(w, d->parts, d->n_parts, sizeof *d->parts);
    d->stages = diff_keep(w, d->stages, d->n_stages, sizeof *d->stages);
    d->syncs = diff_keep(w, d->syncs, d->n_syncs, sizeof *d->syncs);
    if (!d->parts || !d->stages || !d->syncs) return ERR_NOMEM;
    for (uint32_t i = 0; i < d->n_stages; i++)
        if (d->stages[i].side[0] && !d->stages[i].side[1] && d->kernels.fused[1])
            d->labels_lost = true;
    d->mechanism = diff_do_mechanism(d);
    TRY(diff_alike_find(d));
    return diff_changed_find(d, w->mem);
}

int diff_run(const struct context *before, const struct context *after, struct arena *mem,
             struct diff *ret, struct err *e)
{
    *ret = (struct diff){
        .side = {before, after},
        .device = timeline_of(before)->n_devices && timeline_of(after)->n_devices,
        .calls = before->t->n_calls && after->t->n_calls,
    };
    struct work w = {.side = {before, after}, .mem = mem, .out = ret};
    map_init(&w.at);
    int rc = run_side(&w, DIFF_BEFORE);
    if (rc == 0) rc = run_side(&w, DIFF_AFTER);
    map_done(&w.at);
    if (rc == 0) rc = diff_compare_names(&w);
    int kept = diff_finish(&w);
    return rc < 0 || kept < 0 ? diff_nomem(e) : 0;
}
