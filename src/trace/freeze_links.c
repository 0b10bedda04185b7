/* freeze_links.c: device work to the call that launched it, by correlation id, or by external id
 * where the recorder wrote no others, or by an arrow where it wrote neither.
 *
 * One id may stand for many kernels (a graph launch) and, where the files of several processes
 * were merged, for several calls. Those of another process group are not meant, even where the own
 * one is not there; among the others the call of the same group wins, then the latest one that does
 * not start after the device work. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/freeze.h"

#define CLOCK_SKEW_NS 20000 /* how far device work may seem to precede its launch */

struct linking {
    struct trace *t;
    struct map by_id; /* correlation -> last call row with it */
    row_t *earlier;   /* by call: the previous call row with the same id */
    str_id *group;    /* by process: what merged files put before the pid, 0 when nothing */
    struct map calls; /* groups that have calls */
};

static bool freeze_links_is_id(int64_t correlation)
{
    return correlation != 0 && correlation != -1 && correlation != ID_NONE;
}

/* "[TP00] 1213" and "[TP00] 0" come from one rank: the text before the number tells. */
static str_id freeze_links_group_of(struct trace *t, const struct process *p)
{
    if (p->pid != ID_NONE) return 0;
    struct str s = trace_str(t, p->pid_text);
    while (s.n && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9') s.n--;
    return intern_add(&t->strings, s);
}

static int index_calls(struct linking *k)
{
    struct trace *t = k->t;
    if (map_reserve(&k->by_id, t->n_calls)) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (kind_table(t->kind[r]) != TABLE_CALL || t->aux[r] == UINT32_MAX) continue;
        int64_t correlation = t->calls[t->aux[r]].correlation;
        if (!freeze_links_is_id(correlation)) continue;
        uint32_t *last = map_at(&k->by_id, (uint64_t)correlation);
        uint32_t *calls = map_at(&k->calls, k->group[t->lanes[t->lane[r]].process]);
        if (!last || !calls) return ERR_NOMEM;
        *calls = 1;
        k->earlier[t->aux[r]] = *last;
        *last = r;
    }
    return 0;
}

static bool freeze_links_better(const struct linking *k, row_t candidate, row_t best, row_t gpu)
{
    const struct trace *t = k->t;
    if (best == ROW_NONE) return true;
    const str_id want = k->group[t->lanes[t->lane[gpu]].process];
    bool same = k->group[t->lanes[t->lane[candidate]].process] == want;
    bool best_same = k->group[t->lanes[t->lane[best]].process] == want;
    if (same != best_same) return same;
    int64_t limit = t->ts_ns[gpu] + CLOCK_SKEW_NS;
    bool before = t->ts_ns[candidate] <= limit, best_before = t->ts_ns[best] <= limit;
    if (before != best_before) return before;
    return before == (t->ts_ns[candidate] > t->ts_ns[best]);
}

/* The group of the work has calls of its own, and this is one of another: ids of one process say
 * nothing in another. */
static bool is_foreign(const struct linking *k, row_t call, row_t gpu)
{
    const struct trace *t = k->t;
    str_id want = k->group[t->lanes[t->lane[gpu]].process];
    str_id has = k->group[t->lanes[t->lane[call]].process];
    return want && has && want != has && map_find(&k->calls, want) != MAP_NONE;
}

static row_t find_launch(const struct linking *k, row_t gpu, int64_t correlation)
{
    row_t best = ROW_NONE;
    if (!freeze_links_is_id(correlation)) return best;
    row_t at = map_find(&k->by_id, (uint64_t)correlation);
    for (int i = 0; at != ROW_NONE && i < 4096; i++, at = k->earlier[k->t->aux[at]])
        if (!is_foreign(k, at, gpu) && freeze_links_better(k, at, best, gpu)) best = at;
    return best;
}

/* Calls fn for every row with device details; they are on device lanes only. */
static void each_device_row(struct linking *k, void (*fn)(struct linking *k, row_t r))
{
    struct trace *t = k->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM && t->lanes[l].kind != LANE_GPU_NOTE) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
            if (trace_gpu(t, r)) fn(k, r);
    }
}

static void link_row(struct linking *k, row_t r)
{
    struct trace *t = k->t;
    struct gpu_info *g = &t->gpu[t->aux[r]];
    g->launch = find_launch(k, r, g->correlation);
    if (g->launch == ROW_NONE || !trace_is_work(t, r)) return;
    t->calls[t->aux[g->launch]].n_gpu++;
    t->n_launched++;
}

static void group_row(struct linking *k, row_t r)
{
    struct trace *t = k->t;
    row_t launch = trace_is_work(t, r) ? trace_launch_of(t, r) : ROW_NONE;
    if (launch == ROW_NONE) return;
    struct call_info *c = &t->calls[t->aux[launch]];
    t->launched[c->first_gpu + c->n_gpu++] = r;
}

static int freeze_links_by_start(const void *a, const void *b, void *ctx)
{
    const struct trace *t = ctx;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    if (t->ts_ns[x] != t->ts_ns[y]) return t->ts_ns[x] < t->ts_ns[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int group_launched(struct linking *k)
{
    struct trace *t = k->t;
    t->launched = mem_alloc(t->n_launched * sizeof *t->launched);
    if (!t->launched) return ERR_NOMEM;
    uint32_t at = 0;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        t->calls[i].first_gpu = at;
        at += t->calls[i].n_gpu;
        t->calls[i].n_gpu = 0;
    }
    each_device_row(k, group_row);
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].n_gpu > 1)
            qsort_r(t->launched + t->calls[i].first_gpu, t->calls[i].n_gpu, sizeof *t->launched,
                    freeze_links_by_start, t);
    return 0;
}

/* From early 2022 to early 2024 the recorder wrote the correlation id where the external id
 * belongs; nothing can be joined by it then. */
static void judge_external_ids(struct trace *t)
{
    uint64_t n = 0, copies = 0;
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct gpu_info *g = &t->gpu[i];
        if (g->external_id == ID_NONE || g->external_id == 0 || !freeze_links_is_id(g->correlation))
            continue;
        n++;
        copies += g->external_id == g->correlation;
    }
    t->external_ids_usable = n == 0 || copies * 100 < n * 95;
}

static bool freeze_links_has_correlation(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (freeze_links_is_id(t->gpu[i].correlation)) return true;
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (freeze_links_is_id(t->calls[i].correlation)) return true;
    return false;
}

/* Device rows of which the external id is that of exactly one call. */
static int freeze_links_count_by_external_id(const struct trace *t, uint32_t *ret_n)
{
    struct map calls; /* external id -> how many calls have it */
    map_init(&calls);
    int rc = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_calls && !rc; i++) {
        if (!freeze_links_is_id(t->calls[i].external_id)) continue;
        uint32_t *found = map_at(&calls, (uint64_t)t->calls[i].external_id);
        if (found) *found = *found == MAP_NONE ? 1 : *found + 1;
        else rc = ERR_NOMEM;
    }
    for (uint32_t i = 0; i < t->n_gpu && !rc; i++)
        n += freeze_links_is_id(t->gpu[i].external_id) &&
             map_find(&calls, (uint64_t)t->gpu[i].external_id) == 1;
    map_done(&calls);
    *ret_n = n;
    return rc;
}

/* Some builds for AMD write no correlation: a call and the work that it launches have an external
 * id of their own, which differs from those of operators. */
static int freeze_links_by_external_id(struct trace *t)
{
    uint32_t n = 0;
    if (!t->n_gpu || freeze_links_has_correlation(t)) return 0;
    TRY(freeze_links_count_by_external_id(t, &n));
    if (2 * (uint64_t)n <= t->n_gpu) return 0;
    for (uint32_t i = 0; i < t->n_gpu; i++) t->gpu[i].correlation = t->gpu[i].external_id;
    for (uint32_t i = 0; i < t->n_calls; i++) t->calls[i].correlation = t->calls[i].external_id;
    return 0;
}

/* Where a flow starts or ends: the row of the lane that begins last before it and has not ended.
 * Rows of a lane are in the order of their starts. */
static row_t freeze_links_row_of(const struct trace *t, const struct flow *f)
{
    enum { DEEPEST = 64 }; /* calls that have ended by then, and lie between */
    const struct lane *l = &t->lanes[f->lane];
    row_t begin = l->begin, end = l->end;
    while (begin < end) {
        row_t middle = begin + (end - begin) / 2;
        if (t->ts_ns[middle] <= f->ts_ns) begin = middle + 1;
        else end = middle;
    }
    for (int i = 0; i < DEEPEST && begin > l->begin; i++) {
        begin--;
        if (trace_end_ns(t, begin) >= f->ts_ns) return begin;
    }
    return ROW_NONE;
}

/* The number by which calls and work find each other, or NULL. */
static int64_t *freeze_links_key(struct trace *t, row_t r)
{
    if (r == ROW_NONE || t->aux[r] == UINT32_MAX) return NULL;
    if (kind_table(t->kind[r]) == TABLE_CALL) return &t->calls[t->aux[r]].correlation;
    return trace_is_work(t, r) ? &t->gpu[t->aux[r]].correlation : NULL;
}

/* Older recorders of AMD write neither: only arrows from a call to its work. */
static void freeze_links_by_flow(struct trace *t)
{
    if (!t->n_gpu || !t->n_calls || !t->n_flows || freeze_links_has_correlation(t)) return;
    for (uint32_t i = 0; i < t->n_flows; i++) {
        int64_t *key = freeze_links_key(t, freeze_links_row_of(t, &t->flows[i]));
        if (key) *key = t->flows[i].id;
    }
}

static int link_with(struct linking *k)
{
    struct trace *t = k->t;
    TRY(freeze_links_by_external_id(t));
    freeze_links_by_flow(t);
    for (uint32_t i = 0; i < t->n_processes; i++) {
        k->group[i] = freeze_links_group_of(t, &t->processes[i]);
        if (k->group[i] == STR_NONE) return ERR_NOMEM;
    }
    TRY(index_calls(k));
    each_device_row(k, link_row);
    return group_launched(k);
}

int freeze_links(struct trace *t)
{
    struct linking k = {.t = t};
    map_init(&k.by_id);
    map_init(&k.calls);
    k.earlier = mem_alloc(t->n_calls * sizeof *k.earlier);
    k.group = mem_alloc(t->n_processes * sizeof *k.group);
    int rc = k.earlier && k.group ? link_with(&k) : ERR_NOMEM;
    map_done(&k.by_id);
    map_done(&k.calls);
    mem_free(k.earlier);
    mem_free(k.group);
    if (rc == 0) judge_external_ids(t);
    return rc;
}
