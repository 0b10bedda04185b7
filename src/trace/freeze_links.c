/* freeze_links.c: device work to the call that launched it, by correlation id.
 *
 * One id may stand for many kernels (a graph launch) and, where the files of several processes
 * were merged, for several calls. Those of another process group are not meant, even where the own
 * one is not there; of the others the call of the same group wins, then the latest one that does
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

static bool is_id(int64_t correlation)
{
    return correlation != 0 && correlation != -1 && correlation != ID_NONE;
}

/* "[TP00] 1213" and "[TP00] 0" come from one rank: the text before the number tells. */
static str_id group_of(struct trace *t, const struct process *p)
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
        if (!is_id(correlation)) continue;
        uint32_t *last = map_at(&k->by_id, (uint64_t)correlation);
        uint32_t *calls = map_at(&k->calls, k->group[t->lanes[t->lane[r]].process]);
        if (!last || !calls) return ERR_NOMEM;
        *calls = 1;
        k->earlier[t->aux[r]] = *last;
        *last = r;
    }
    return 0;
}

static bool better(const struct linking *k, row_t candidate, row_t best, row_t gpu)
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
    if (!is_id(correlation)) return best;
    row_t at = map_find(&k->by_id, (uint64_t)correlation);
    for (int i = 0; at != ROW_NONE && i < 4096; i++, at = k->earlier[k->t->aux[at]])
        if (!is_foreign(k, at, gpu) && better(k, at, best, gpu)) best = at;
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

static int by_start(const void *a, const void *b, void *ctx)
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
                    by_start, t);
    return 0;
}

/* From early 2022 to early 2024 the recorder wrote the correlation id where the external id
 * belongs; nothing can be joined by it then. */
static void judge_external_ids(struct trace *t)
{
    uint64_t n = 0, copies = 0;
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct gpu_info *g = &t->gpu[i];
        if (g->external_id == ID_NONE || g->external_id == 0 || !is_id(g->correlation)) continue;
        n++;
        copies += g->external_id == g->correlation;
    }
    t->external_ids_usable = n == 0 || copies * 100 < n * 95;
}

static int link_with(struct linking *k)
{
    struct trace *t = k->t;
    for (uint32_t i = 0; i < t->n_processes; i++) {
        k->group[i] = group_of(t, &t->processes[i]);
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
