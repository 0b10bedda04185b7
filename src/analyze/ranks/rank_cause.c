/* rank_cause.c: why a rank is late: what it does between two collectives, and what its kernels, its
 * idle time and its functions cost, compared with the median of the other ranks. */
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "base/stats.h"

typedef const struct rank_costs *costs_fn(const struct rank_summary *r);

static const struct rank_costs *idle_of(const struct rank_summary *r)
{
    return &r->idle;
}

static const struct rank_costs *functions_of(const struct rank_summary *r)
{
    return &r->functions;
}

static bool rank_cause_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const struct rank_cost *find_cost(const struct rank_costs *list, const struct rank_cost *x)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (rank_cause_same_text(list->list[i].name, x->name) &&
            rank_cause_same_text(list->list[i].place.stage, x->place.stage))
            return &list->list[i];
    return NULL;
}

/* ---- since the collective before */

static int64_t done_since(const struct rank_set *s, const struct rank_member *m, int counter)
{
    return rank_event_since(&s->ranks[m->rank].events[m->event], counter);
}

static void add_excess(struct rank_scratch *w, const struct rank_collective *c, uint32_t late,
                       double *excess)
{
    for (int k = 0; k < RANK_TIMES; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < c->n; i++)
            if (i != late) w->a[n++] = done_since(w->s, &c->members[i], k);
        stats_sort(w->a, n);
        excess[k] += (double)(done_since(w->s, &c->members[late], k) - stats_median(w->a, n));
    }
}

static void sum_excess(struct rank_scratch *w, uint32_t rank, double *ret)
{
    for (int k = 0; k < RANK_TIMES; k++) ret[k] = 0;
    for (uint32_t i = 0; i < w->s->n_list; i++) {
        const struct rank_collective *c = &w->s->list[i];
        for (uint32_t k = 0; k < c->n; k++)
            if (c->members[k].rank == rank && c->members[k].late_ns) add_excess(w, c, k, ret);
    }
}

/* ---- kernels */

/* What a kernel is elsewhere: medians over the other ranks, 0 when they have none. */
struct usual {
    double ns, blocks; /* of one call */
    double calls;
};

static struct usual usual_kernel(struct rank_scratch *w, uint32_t rank, const struct rank_cost *x)
{
    struct usual ret = {0};
    uint32_t n = 0, all = 0;
    for (uint32_t r = 0; r < w->s->n; r++) {
        const struct rank_cost *k = r == rank ? NULL : find_cost(&w->s->ranks[r].kernels, x);
        all += r != rank;
        if (!k || !k->calls) continue;
        w->b[n] = (int64_t)k->blocks;
        w->a[n++] = k->total_ns / k->calls;
    }
    if (2 * n <= all) return ret;
    stats_sort(w->a, n);
    stats_sort(w->b, n);
    ret.ns = (double)stats_median(w->a, n);
    ret.blocks = (double)stats_median(w->b, n);
    n = 0;
    for (uint32_t r = 0; r < w->s->n; r++) {
        const struct rank_cost *k = r == rank ? NULL : find_cost(&w->s->ranks[r].kernels, x);
        if (k) w->a[n++] = k->calls;
    }
    stats_sort(w->a, n);
    ret.calls = (double)stats_median(w->a, n);
    return ret;
}

struct slowness {
    double own_ns, usual_ns;   /* kernels that other ranks have too; what they take there */
    double slower_ns, more_ns; /* by how much they take longer; what larger and more of them take */
    double most_ns;            /* by how much the worst one takes longer, for either reason */
    const struct rank_cost *worst;
    double ratio;
};

static void rank_cause_add_kernel(struct rank_scratch *w, uint32_t rank, const struct rank_cost *k,
                                  struct slowness *ret)
{
    struct usual u = usual_kernel(w, rank, k);
    double own = (double)k->total_ns, expected = u.ns * k->calls;
    double slower = expected > 0 ? own - expected : 0;
    double more = expected > 0 ? u.ns * (k->calls - u.calls) : own;
    if (k->blocks > (1 + rank_more_work_share) * u.blocks && slower > 0) more += slower, slower = 0;
    if (expected > 0) ret->own_ns += own, ret->usual_ns += expected;
    ret->slower_ns += slower;
    ret->more_ns += more > 0 ? more : 0;
    if (slower + more <= ret->most_ns) return;
    ret->most_ns = slower + more;
    ret->worst = k;
    ret->ratio = expected > 0 ? own / expected : 0;
}

static struct slowness kernels_excess(struct rank_scratch *w, uint32_t rank)
{
    struct slowness ret = {0};
    const struct rank_costs *k = &w->s->ranks[rank].kernels;
    for (uint32_t i = 0; i < k->n; i++) rank_cause_add_kernel(w, rank, &k->list[i], &ret);
    return ret;
}

/* Whether nearly all kernels are slower by about as much. */
static bool all_slower(struct rank_scratch *w, uint32_t rank, const struct slowness *s)
{
    const struct rank_costs *k = &w->s->ranks[rank].kernels;
    double mean = s->usual_ns > 0 ? s->own_ns / s->usual_ns : 1, slow = 0;
    uint32_t names = 0;
    for (uint32_t i = 0; i < k->n && mean > 1; i++) {
        double usual = usual_kernel(w, rank, &k->list[i]).ns * k->list[i].calls;
        if (usual <= 0 || (double)k->list[i].total_ns < usual * (1 + (mean - 1) / 2)) continue;
        slow += (double)k->list[i].total_ns;
        names++;
    }
    return slow >= rank_clock_share * s->own_ns && names >= rank_clock_kernels;
}

/* Slower kernels, or more of them, or larger ones. */
static void blame_kernels(struct rank_scratch *w, struct rank_straggler *x,
                          const struct slowness *s)
{
    x->cause_ns = x->extra_ns = (int64_t)(s->slower_ns + s->more_ns);
    x->cause = RANK_CAUSE_SLOW_KERNEL;
    x->ratio = s->ratio;
    if (s->worst) x->place = s->worst->place;
    if (s->more_ns > s->slower_ns) {
        x->cause = RANK_CAUSE_MORE_WORK;
    } else if (all_slower(w, x->rank, s)) {
        x->cause = RANK_CAUSE_SLOW_CLOCK;
        x->ratio = s->own_ns / s->usual_ns;
    }
}

/* ---- idle time and functions */

/* The cost of one rank that is most above what it is elsewhere. */
struct extra {
    const struct rank_cost *cost;
    int64_t ns, usual_ns;
};

/* Who waits for another thread takes as much longer as what runs there: of two that take about as
 * much longer, the one that takes less elsewhere is what happened. */
static bool explains_more(const struct extra *x, const struct extra *y)
{
    bool alike = (double)x->ns >= rank_alike_share * (double)y->ns &&
                 (double)y->ns >= rank_alike_share * (double)x->ns;
    return alike ? x->usual_ns < y->usual_ns : x->ns > y->ns;
}

/* Medians of a cost over the other ranks, 0 for those that have none. */
static void usual_cost(struct rank_scratch *w, uint32_t rank, costs_fn *of,
                       const struct rank_cost *x, int64_t *ret_ns, int64_t *ret_calls)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < w->s->n; r++) {
        const struct rank_cost *k = r == rank ? NULL : find_cost(of(&w->s->ranks[r]), x);
        if (r == rank) continue;
        w->b[n] = k ? k->calls : 0;
        w->a[n++] = k ? k->total_ns : 0;
    }
    stats_sort(w->a, n);
    stats_sort(w->b, n);
    *ret_ns = stats_median(w->a, n);
    *ret_calls = stats_median(w->b, n);
}

/* Of the costs for one of the reasons (a set of bits). A rank that is slow for another reason waits
 * longer in the same calls: only more calls that wait are a reason themselves. */
static struct extra most_extra(struct rank_scratch *w, uint32_t rank, costs_fn *of,
                               unsigned reasons)
{
    struct extra ret = {NULL, 0, 0};
    const struct rank_costs *own = of(&w->s->ranks[rank]);
    for (uint32_t i = 0; i < own->n; i++) {
        const struct rank_cost *x = &own->list[i];
        int64_t usual, calls;
        if (!(reasons >> x->reason & 1) || (double)x->total_ns < rank_alike_share * (double)ret.ns)
            continue;
        usual_cost(w, rank, of, x, &usual, &calls);
        if (of == functions_of && x->reason == RANK_IDLE_SYNC && x->calls <= calls) continue;
        struct extra found = {x, x->total_ns - usual, usual};
        if (found.ns > 0 && explains_more(&found, &ret)) ret = found;
    }
    return ret;
}

static enum rank_cause cause_of(enum rank_counter c)
{
    static const enum rank_cause causes[RANK_TIMES] = {
        RANK_CAUSE_SLOW_KERNEL, RANK_CAUSE_COPIES, RANK_CAUSE_SYNC,   RANK_CAUSE_DATA,
        RANK_CAUSE_GC,          RANK_CAUSE_HOST,   RANK_CAUSE_LAUNCH, RANK_CAUSE_IDLE};
    return causes[c];
}

/* To how many collectives it comes late by at least `ns`. */
static uint32_t count_late(const struct rank_set *s, uint32_t rank, int64_t ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++)
            n += s->list[i].members[k].rank == rank && s->list[i].members[k].after_ns >= (float)ns;
    return n;
}

/* Ranks that run ahead of a late one wait for it again and again: no more can be gained than what
 * it does longer. What its CPU does after it has launched the last collective delays no other rank,
 * unless every call is seen to make it late. */
static int64_t rank_cause_most_gain(const struct rank_set *s, uint32_t rank, const struct extra *e)
{
    const struct rank_cost *x = e->cost;
    if (x->reason == RANK_IDLE_SYNC) return 0; /* what it waits for is not its own time */
    int64_t each = x->calls ? x->total_ns / x->calls : x->total_ns;
    int64_t tail = count_late(s, rank, each / 2) < x->calls ? x->tail_ns : 0;
    return e->ns - (tail < e->ns ? tail : e->ns);
}

static void blame_cost(const struct rank_set *s, struct rank_straggler *x, const struct extra *e)
{
    x->cause = cause_of(e->cost->reason);
    x->cause_ns = e->ns;
    x->extra_ns = rank_cause_most_gain(s, x->rank, e);
    x->place = e->cost->place;
}

/* Sets of reasons. */
#define NAMED (1u << RANK_IDLE_DATA | 1u << RANK_IDLE_GC)
#define ANY   (~0u)

/* The most it comes late to a single collective. Ranks that run ahead of it wait for it again in
 * each of the next ones: then its lateness adds up to more than the delay behind it. */
static int64_t latest_ns(const struct rank_set *s, uint32_t rank)
{
    float most = 0;
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++) {
            const struct rank_member *m = &s->list[i].members[k];
            if (m->rank == rank && m->after_ns > most) most = m->after_ns;
        }
    return (int64_t)most;
}

/* Idle time, by its reason; where the gaps do not show it, or only as late launches, by the
 * function that explains half of it. */
static void blame_idle(struct rank_scratch *w, struct rank_straggler *x, int reason, double ns)
{
    int64_t once = latest_ns(w->s, x->rank);
    struct extra at = most_extra(w, x->rank, idle_of, 1u << reason);
    x->cause = cause_of((enum rank_counter)reason);
    x->cause_ns = (int64_t)ns;
    if (at.cost) x->place = at.cost->place;
    if (reason == RANK_IDLE_SYNC || reason == RANK_IDLE_DATA || reason == RANK_IDLE_GC) return;
    struct extra f = most_extra(w, x->rank, functions_of, ANY);
    bool known = reason == RANK_IDLE_HOST && at.cost && f.cost && f.cost->reason == RANK_IDLE_HOST;
    bool clear = f.ns >= at.ns || reason == RANK_IDLE_OTHER || reason == RANK_COPIES;
    int64_t enough = once < x->cause_ns ? once : x->cause_ns;
    if (f.cost && 2 * f.ns >= enough && clear && !known) blame_cost(w->s, x, &f);
}

/* ---- all of them */

static bool blame_link(struct rank_scratch *w, struct rank_straggler *x, double other_ns)
{
    struct rank_link k = rank_link_of(w->s, x->rank, UINT32_MAX);
    double excess = (double)(k.own_ns - k.usual_ns);
    if (excess < (double)x->late_ns / 2 || excess < other_ns) return false;
    if ((double)k.own_ns < rank_slow_link_times * (double)k.usual_ns) return false;
    x->cause = RANK_CAUSE_SLOW_LINK;
    x->cause_ns = k.own_ns - k.usual_ns;
    x->ratio = k.usual_ns > 0 ? (double)k.own_ns / (double)k.usual_ns : 0;
    return true;
}

/* What there is to choose from, in nanoseconds. */
struct evidence {
    double excess[RANK_TIMES];
    int idle;          /* the largest of them but RANK_COMPUTE */
    double most, half; /* the largest; half of the lateness */
    double enough;     /* what explains it: half of that, or of the worst single one */
    struct slowness k;
    double kernels;     /* by how much they take longer */
    struct extra named; /* a function that says of itself what it is */
};

static struct evidence rank_cause_gather(struct rank_scratch *w, const struct rank_straggler *x)
{
    struct evidence v = {.k = kernels_excess(w, x->rank),
                         .named = most_extra(w, x->rank, functions_of, NAMED),
                         .idle = RANK_COPIES,
                         .half = (double)x->late_ns / 2};
    sum_excess(w, x->rank, v.excess);
    for (int c = RANK_COPIES; c < RANK_TIMES; c++)
        if (v.excess[c] > v.excess[v.idle]) v.idle = c;
    double compute = v.excess[RANK_COMPUTE], idle = v.excess[v.idle];
    v.most = idle > compute ? idle : compute;
    v.kernels = v.k.slower_ns + v.k.more_ns;
    double once = (double)latest_ns(w->s, x->rank) / 2;
    v.enough = once < v.half ? once : v.half;
    return v;
}

/* Kernels are to blame when most of the extra time is theirs, or when they account for the lateness
 * and nothing else that is known does. */
static bool kernels_explain(const struct evidence *v)
{
    if (v->kernels <= 0 || v->kernels < rank_kernels_share * v->enough) return false;
    bool other = v->most >= v->half && v->idle != RANK_IDLE_OTHER && v->idle != RANK_COPIES;
    return v->most <= v->excess[RANK_COMPUTE] || (v->kernels >= v->half && !other);
}

static void blame_device(struct rank_scratch *w, struct rank_straggler *x)
{
    struct evidence v = rank_cause_gather(w, x);
    if (v.named.cost && (double)v.named.ns >= v.enough && (double)v.named.ns > v.kernels) {
        blame_cost(w->s, x, &v.named);
        return;
    }
    if (blame_link(w, x, v.most)) return;
    if (kernels_explain(&v)) {
        blame_kernels(w, x, &v.k);
        return;
    }
    if (v.most > 0) blame_idle(w, x, v.idle, v.excess[v.idle]);
    struct extra f = most_extra(w, x->rank, functions_of, ANY);
    if (v.most < v.half && f.cost && (double)f.ns >= v.half) blame_cost(w->s, x, &f);
}

void rank_find_cause(struct rank_scratch *w, struct rank_straggler *x)
{
    if (!w->s->ranks[x->rank].host_only) {
        blame_device(w, x);
        int64_t once = latest_ns(w->s, x->rank);
        if (x->extra_ns && x->extra_ns < once) x->extra_ns = once;
        return;
    }
    struct extra f = most_extra(w, x->rank, functions_of, ANY);
    if (f.cost) blame_cost(w->s, x, &f);
}
