/* rank_blame.c: which ranks keep the others waiting, and why: what they did between two collectives
 * compared with what the others did meanwhile. */
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_private.h"
#include "base/stats.h"

/* A rank is a straggler when its lateness is this share of its wall clock. */
#define LEAST_SHARE_PCT 1.0
/* ... and this part of the worst one's. */
#define LEAST_OF_WORST 0.2
/* The worst is late by this many times the median of the others. */
#define TIMES_OTHERS 2
/* More or larger kernels than elsewhere by this share: more work, not slower work. */
#define MORE_WORK 0.02
/* All kernels are slower, not some: this share of the time lies in kernels that are slower by at
 * least half of what all are on average. */
#define CLOCK_SHARE 0.8
#define CLOCK_NAMES 3
/* Causes are looked for on this many, the worst: where more are late, they have one in common. */
#define MOST_EXPLAINED 16

struct blame {
    struct rank_set *s;
    int64_t *sorted, *blocks;     /* room for a figure of every rank */
    double excess[RANK_COUNTERS]; /* of the rank at hand over the median of the others */
};

static int64_t done_since(const struct rank_set *s, const struct rank_member *m, int counter)
{
    return (int64_t)s->ranks[m->rank].events[m->event].since[counter];
}

static void add_excess(struct blame *b, const struct rank_collective *c, uint32_t late)
{
    for (int k = 0; k < RANK_COUNTERS; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < c->n; i++)
            if (i != late) b->sorted[n++] = done_since(b->s, &c->members[i], k);
        stats_sort(b->sorted, n);
        int64_t usual = stats_median(b->sorted, n);
        b->excess[k] += (double)(done_since(b->s, &c->members[late], k) - usual);
    }
}

static void sum_excess(struct blame *b, struct rank_straggler *x)
{
    memset(b->excess, 0, sizeof b->excess);
    for (uint32_t i = 0; i < b->s->n_list; i++) {
        const struct rank_collective *c = &b->s->list[i];
        for (uint32_t k = 0; k < c->n; k++)
            if (c->members[k].rank == x->rank && c->members[k].late_ns) add_excess(b, c, k);
    }
}

static const struct rank_kernel *find_name(const struct rank_kernel *list, uint32_t n,
                                           const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}

static const struct rank_kernel *find_kernel(const struct rank_summary *r, const char *name)
{
    return find_name(r->kernels, r->n_kernels, name);
}

/* What one call of a kernel is elsewhere: the median over the other ranks. */
struct usual {
    double ns, blocks; /* 0 when they have no such kernel */
};

static struct usual usual_call(struct blame *b, uint32_t rank, const char *name)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < b->s->n; r++) {
        const struct rank_kernel *k = r == rank ? NULL : find_kernel(&b->s->ranks[r], name);
        if (!k || !k->calls) continue;
        b->blocks[n] = (int64_t)k->blocks;
        b->sorted[n++] = k->total_ns / k->calls;
    }
    stats_sort(b->sorted, n);
    stats_sort(b->blocks, n);
    return (struct usual){(double)stats_median(b->sorted, n), (double)stats_median(b->blocks, n)};
}

struct slowness {
    double all_ns, expected_ns;  /* kernels that other ranks have too, and what they take there */
    double most_ns;              /* by how much the worst one takes longer */
    double blocks, usual_blocks; /* of that */
};

/* The kernel that loses most. */
static void find_worst(struct blame *b, struct rank_straggler *x, struct slowness *ret)
{
    const struct rank_summary *r = &b->s->ranks[x->rank];
    for (uint32_t i = 0; i < r->n_kernels; i++) {
        const struct rank_kernel *k = &r->kernels[i];
        struct usual one = usual_call(b, x->rank, k->name);
        double usual = one.ns * k->calls, own = (double)k->total_ns;
        if (usual <= 0) continue;
        ret->all_ns += own;
        ret->expected_ns += usual;
        if (own - usual <= ret->most_ns) continue;
        ret->most_ns = own - usual;
        ret->blocks = k->blocks;
        ret->usual_blocks = one.blocks;
        x->place = k->place;
        x->ratio = own / usual;
    }
}

/* Whether nearly all kernels are slower by about as much. */
static bool all_slower(struct blame *b, const struct rank_straggler *x, const struct slowness *s)
{
    const struct rank_summary *r = &b->s->ranks[x->rank];
    double mean = s->expected_ns > 0 ? s->all_ns / s->expected_ns : 1, slow = 0;
    uint32_t names = 0;
    for (uint32_t i = 0; i < r->n_kernels && mean > 1; i++) {
        const struct rank_kernel *k = &r->kernels[i];
        double usual = usual_call(b, x->rank, k->name).ns * k->calls;
        if (usual <= 0 || (double)k->total_ns < usual * (1 + (mean - 1) / 2)) continue;
        slow += (double)k->total_ns;
        names++;
    }
    return slow >= CLOCK_SHARE * s->all_ns && names >= CLOCK_NAMES;
}

/* Kernels of other ranks so far: the median at their last collective. */
static bool has_more_kernels(struct blame *b, uint32_t rank)
{
    uint32_t n = 0;
    int64_t own = 0;
    for (uint32_t r = 0; r < b->s->n; r++) {
        const struct rank_summary *x = &b->s->ranks[r];
        if (r == rank) own = x->n_work;
        else if (x->n_events) b->sorted[n++] = x->n_work;
    }
    stats_sort(b->sorted, n);
    return (double)own > (1 + MORE_WORK) * (double)stats_median(b->sorted, n);
}

/* Slower kernels, or more of them, or larger ones. */
static void blame_kernels(struct blame *b, struct rank_straggler *x)
{
    struct slowness s = {0};
    find_worst(b, x, &s);
    if (has_more_kernels(b, x->rank) || s.blocks > (1 + MORE_WORK) * s.usual_blocks) {
        x->cause = RANK_CAUSE_MORE_WORK;
    } else if (all_slower(b, x, &s)) {
        x->cause = RANK_CAUSE_SLOW_CLOCK;
        x->ratio = s.all_ns / s.expected_ns;
    }
}

/* By how much a function of the rank takes longer than on the median of the others. */
static int64_t longer_by(struct blame *b, uint32_t rank, const struct rank_kernel *f)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < b->s->n; r++) {
        const struct rank_summary *x = &b->s->ranks[r];
        const struct rank_kernel *k =
            r == rank ? NULL : find_name(x->functions, x->n_functions, f->name);
        if (r != rank) b->sorted[n++] = k ? k->total_ns : 0;
    }
    stats_sort(b->sorted, n);
    return f->total_ns - stats_median(b->sorted, n);
}

static enum rank_cause cause_of(enum rank_counter c)
{
    static const enum rank_cause causes[RANK_TIMES] = {
        RANK_CAUSE_SLOW_KERNEL, RANK_CAUSE_COPIES, RANK_CAUSE_SYNC,   RANK_CAUSE_DATA,
        RANK_CAUSE_GC,          RANK_CAUSE_HOST,   RANK_CAUSE_LAUNCH, RANK_CAUSE_IDLE};
    return causes[c];
}

/* The function on the CPU that takes most time more than elsewhere. */
static void blame_functions(struct blame *b, struct rank_straggler *x)
{
    const struct rank_summary *own = &b->s->ranks[x->rank];
    for (uint32_t i = 0; i < own->n_functions; i++) {
        int64_t more = longer_by(b, x->rank, &own->functions[i]);
        if (more <= x->cause_ns) continue;
        x->cause_ns = more;
        x->place = own->functions[i].place;
        x->cause = cause_of(own->functions[i].reason);
    }
}

/* Idle time whose reason the gaps do not show, or only as late launches: a function or kernels that
 * explain half of it are the cause. */
static void refine(struct blame *b, struct rank_straggler *x)
{
    struct rank_straggler f = {.rank = x->rank}, k = {.rank = x->rank};
    struct slowness s = {0};
    if (x->cause != RANK_CAUSE_IDLE && x->cause != RANK_CAUSE_LAUNCH && x->cause != RANK_CAUSE_HOST)
        return;
    blame_functions(b, &f);
    bool named = f.cause != RANK_CAUSE_HOST;
    bool unknown = x->cause == RANK_CAUSE_IDLE;
    if (2 * f.cause_ns >= x->cause_ns && (named || unknown)) {
        x->cause = f.cause;
        x->cause_ns = f.cause_ns;
        x->place = f.place;
        return;
    }
    find_worst(b, &k, &s);
    if (!unknown || 2 * (s.all_ns - s.expected_ns) < (double)x->cause_ns) return;
    x->cause = RANK_CAUSE_SLOW_KERNEL;
    x->cause_ns = (int64_t)(s.all_ns - s.expected_ns);
    blame_kernels(b, x);
}

static void find_cause(struct blame *b, struct rank_straggler *x)
{
    int most = 0;
    for (int k = 1; k < RANK_TIMES; k++)
        if (b->excess[k] > b->excess[most]) most = k;
    if (b->excess[most] <= 0) return;
    x->cause = cause_of((enum rank_counter)most);
    x->cause_ns = (int64_t)b->excess[most];
    if (most != RANK_COMPUTE) {
        x->place = b->s->ranks[x->rank].idle[most];
        refine(b, x);
        return;
    }
    blame_kernels(b, x);
}

static int by_late(const void *a, const void *b)
{
    const struct rank_straggler *x = a, *y = b;
    if (x->late_ns != y->late_ns) return x->late_ns > y->late_ns ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* Whether the first of the list stands out: where all ranks come late in turns, it is the machine
 * or the network, and nobody in particular. */
static bool stands_out(const struct rank_straggler *list, uint32_t n, int64_t *sorted)
{
    for (uint32_t i = 1; i < n; i++) sorted[i - 1] = list[i].late_ns;
    if (n > 1) stats_sort(sorted, n - 1);
    return n && (double)list[0].late_ns >= TIMES_OTHERS * (double)stats_median(sorted, n - 1);
}

int rank_blame(struct rank_set *s, struct arena *mem)
{
    struct blame b = {.s = s,
                      .sorted = arena_zalloc(mem, (size_t)s->n + 1, sizeof *b.sorted),
                      .blocks = arena_zalloc(mem, (size_t)s->n + 1, sizeof *b.blocks)};
    struct rank_straggler *all = arena_zalloc(mem, (size_t)s->n + 1, sizeof *all);
    if (!b.sorted || !b.blocks || !all) return ERR_NOMEM;
    for (uint32_t r = 0; r < s->n; r++) all[r].rank = r;
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++) {
            const struct rank_member *m = &s->list[i].members[k];
            all[m->rank].late_ns += m->late_ns;
            all[m->rank].collectives += m->late_ns > 0;
        }
    if (s->n) qsort(all, s->n, sizeof *all, by_late);
    s->stragglers = all;
    if (s->n && !stands_out(all, s->n, b.sorted)) return 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double share = stats_pct((double)all[i].late_ns, (double)s->ranks[all[i].rank].wall_ns);
        if (share < LEAST_SHARE_PCT) break;
        if ((double)all[i].late_ns < LEAST_OF_WORST * (double)all[0].late_ns) break;
        if (s->n_stragglers++ >= MOST_EXPLAINED) continue;
        if (s->ranks[all[i].rank].host_only) {
            blame_functions(&b, &all[i]);
            continue;
        }
        sum_excess(&b, &all[i]);
        find_cause(&b, &all[i]);
    }
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
};

const char *rank_cause_name(enum rank_cause c)
{
    return texts[c].name;
}

const char *rank_cause_words(enum rank_cause c)
{
    return texts[c].words;
}
