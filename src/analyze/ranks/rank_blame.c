/* rank_blame.c: which ranks keep the others waiting. */
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "base/stats.h"

/* Causes are searched for on this many, the worst: where more are late, they have one in common. */
#define MOST_EXPLAINED 16

static int by_late(const void *a, const void *b)
{
    const struct rank_straggler *x = a, *y = b;
    if (x->late_ns != y->late_ns) return x->late_ns > y->late_ns ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* Whether the first of the list stands out: where all ranks come late alternately, it is the
 * machine or the network, and no rank in particular. */
static bool rank_blame_stands_out(const struct rank_straggler *list, uint32_t n, int64_t *sorted)
{
    for (uint32_t i = 1; i < n; i++) sorted[i - 1] = list[i].late_ns;
    if (n > 1) stats_sort(sorted, n - 1);
    return n &&
           (double)list[0].late_ns >= rank_straggler_times * (double)stats_median(sorted, n - 1);
}

static struct rank_straggler *sum_late(const struct rank_set *s, struct arena *mem)
{
    struct rank_straggler *all = arena_zalloc(mem, (size_t)s->n + 1, sizeof *all);
    if (!all) return NULL;
    for (uint32_t r = 0; r < s->n; r++) all[r].rank = r;
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++) {
            const struct rank_member *m = &s->list[i].members[k];
            all[m->rank].late_ns += (int64_t)m->late_ns;
            all[m->rank].collectives += m->late_ns > 0;
        }
    if (s->n) qsort(all, s->n, sizeof *all, by_late);
    return all;
}

static bool is_late(const struct rank_set *s, const struct rank_straggler *x)
{
    const struct rank_summary *r = &s->ranks[x->rank];
    double share = stats_pct((double)x->late_ns, (double)r->wall_ns);
    return share >= rank_straggler_pct &&
           (double)x->late_ns >= rank_straggler_of_worst_share * (double)s->stragglers[0].late_ns;
}

/* Where links are slow, ranks that wait for each other in turn are late by about as much: the one
 * with the slow link is in all groups that are slow. */
static void put_link_first(struct rank_set *s, struct rank_scratch *w)
{
    if (!s->n_stragglers || s->stragglers[0].cause != RANK_CAUSE_SLOW_LINK) return;
    uint32_t worst = rank_link_worst(s, w->a);
    for (uint32_t i = 1; i < s->n_stragglers && i < MOST_EXPLAINED; i++) {
        if (s->stragglers[i].rank != worst) continue;
        struct rank_straggler x = s->stragglers[i];
        s->stragglers[i] = s->stragglers[0];
        s->stragglers[0] = x;
    }
}

/* Those that a slow link of the worst one holds up are not stragglers themselves. */
static void drop_held_up(struct rank_set *s)
{
    uint32_t n = s->n_stragglers < 1 ? 0 : 1;
    if (!n || s->stragglers[0].cause != RANK_CAUSE_SLOW_LINK) return;
    for (uint32_t i = 1; i < s->n_stragglers; i++) {
        struct rank_straggler *x = &s->stragglers[i];
        struct rank_link k = rank_link_of(s, x->rank, s->stragglers[0].rank);
        bool own = x->cause != RANK_CAUSE_SLOW_LINK || 2 * (k.own_ns - k.usual_ns) > x->late_ns;
        if (own) s->stragglers[n++] = *x;
    }
    s->n_stragglers = n;
}

int rank_blame(struct rank_set *s, struct arena *mem)
{
    struct rank_scratch w = {s, arena_zalloc(mem, (size_t)s->n + 1, sizeof *w.a),
                             arena_zalloc(mem, (size_t)s->n + 1, sizeof *w.b)};
    s->stragglers = sum_late(s, mem);
    if (!w.a || !w.b || !s->stragglers) return ERR_NOMEM;
    TRY(rank_links(s, mem));
    if (s->n && !rank_blame_stands_out(s->stragglers, s->n, w.a)) return 0;
    for (uint32_t i = 0; i < s->n && is_late(s, &s->stragglers[i]); i++)
        if (s->n_stragglers++ < MOST_EXPLAINED) rank_find_cause(&w, &s->stragglers[i]);
    put_link_first(s, &w);
    drop_held_up(s);
    return 0;
}

static const struct {
    const char *name, *words;
} texts[] = {
    [RANK_CAUSE_UNKNOWN] = {"unknown", "the trace does not show why"},
    [RANK_CAUSE_SLOW_KERNEL] = {"slow_kernel", "the same kernels take longer"},
    [RANK_CAUSE_SLOW_CLOCK] = {"slow_clock", "all kernels take longer: a slower clock"},
    [RANK_CAUSE_MORE_WORK] = {"more_work", "it has more work than the others"},
    [RANK_CAUSE_COPIES] = {"copies", "copies"},
    [RANK_CAUSE_SYNC] = {"sync", "the CPU waits for the GPU"},
    [RANK_CAUSE_DATA] = {"data_loader", "it waits for its DataLoader"},
    [RANK_CAUSE_GC] = {"gc", "Python's garbage collector"},
    [RANK_CAUSE_HOST] = {"host", "work on its CPU"},
    [RANK_CAUSE_LAUNCH] = {"launch", "its CPU launches too slowly"},
    [RANK_CAUSE_IDLE] = {"idle", "its GPU is idle"},
    [RANK_CAUSE_SLOW_LINK] = {"slow_link", "its transfers take longer: a slow link"},
};

const char *rank_cause_name(enum rank_cause c)
{
    return texts[c].name;
}

const char *rank_cause_words(enum rank_cause c)
{
    return texts[c].words;
}
