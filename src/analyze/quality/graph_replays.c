/* graph_replays.c: replays of CUDA graphs whose records are incomplete.
 *
 * The recorder names the graph of a replay at best by an id. Without one, replays that begin with
 * the same kernel are candidates for one graph; but many graphs of a program begin alike. A replay
 * is short of another only if its records are the other's less one run of them, as a full buffer
 * loses them, and if launching it took about as long: what a launch costs grows with its graph. */
#include "analyze/quality/coverage.h"
#include "analyze/quality/quality_constants.h"
#include "analyze/quality/quality_private.h"
#include "base/map.h"

struct replay {
    row_t call;
    const row_t *work;
    uint32_t n;
};

static struct replay replay_of(const struct trace *t, row_t call)
{
    struct replay r = {.call = call};
    r.work = trace_launched(t, call, &r.n);
    return r;
}

static int64_t graph_id(const struct trace *t, const struct replay *r)
{
    const struct gpu_info *g = trace_gpu(t, r->work[0]);
    return g && g->graph_id > 0 && g->graph_id != ID_NONE ? g->graph_id : 0;
}

static uint64_t graph_key(const struct trace *t, const struct replay *r)
{
    int64_t id = graph_id(t, r);
    return id ? (uint64_t)id << 1 | 1 : (uint64_t)t->name[r->work[0]] << 1;
}

/* Whether `part` is what is left of `whole` without one run of records. */
static bool lost_a_run(const struct trace *t, const struct replay *part, const struct replay *whole)
{
    uint32_t head = 0, tail = 0;
    while (head < part->n && t->name[part->work[head]] == t->name[whole->work[head]]) head++;
    while (tail < part->n &&
           t->name[part->work[part->n - 1 - tail]] == t->name[whole->work[whole->n - 1 - tail]])
        tail++;
    return head + tail >= part->n;
}

static bool as_long(int64_t a_ns, int64_t b_ns)
{
    return a_ns / 2 <= b_ns && b_ns / 2 <= a_ns;
}

static bool graph_replays_is_short(const struct trace *t, const struct replay *r,
                                   const struct replay *fullest)
{
    if ((uint64_t)r->n * 100 >= (uint64_t)fullest->n * graph_replay_short_pct) return false;
    if (graph_id(t, r)) return true;
    return as_long(t->dur_ns[r->call], t->dur_ns[fullest->call]) && lost_a_run(t, r, fullest);
}

/* By graph: the index of its fullest replay. */
static int find_fullest(const struct trace *t, const row_t *replays, uint32_t n, struct map *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        struct replay r = replay_of(t, replays[i]);
        uint32_t *at = r.n ? map_at(ret, graph_key(t, &r)) : NULL;
        if (r.n && !at) return ERR_NOMEM;
        if (at && (*at == MAP_NONE || replay_of(t, replays[*at]).n < r.n)) *at = i;
    }
    return 0;
}

static void count_short(const struct trace *t, const row_t *replays, const struct map *fullest,
                        struct coverage *ret)
{
    for (uint32_t i = 0; i < ret->graph_launches; i++) {
        struct replay r = replay_of(t, replays[i]), full = r;
        if (r.n) full = replay_of(t, replays[map_find(fullest, graph_key(t, &r))]);
        bool cut = r.n && graph_replays_is_short(t, &r, &full);
        ret->graphs_empty += r.n == 0;
        ret->graphs_short += cut;
        if ((!r.n || cut) && ret->first_short == ROW_NONE) ret->first_short = r.call;
    }
}

int graph_replays_count(const struct trace *t, const row_t *replays, uint32_t n,
                        struct coverage *ret)
{
    struct map fullest;
    map_init(&fullest);
    ret->graph_launches = n;
    int rc = find_fullest(t, replays, n, &fullest);
    if (rc == 0) count_short(t, replays, &fullest, ret);
    map_done(&fullest);
    return rc;
}
