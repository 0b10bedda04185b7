/* rank_clocks.c: the clocks of all hosts against that of the first rank's, from the ends of
 * collectives, which are the same moment on all of them. Ranks of one host share its clock, and all
 * their collectives count for it; where hosts are not known, each rank has its own. An offset is
 * the median difference; a drift is believed only if it stands out of the scatter. Ranks that share
 * no collective with the first one are reached through others. */
#include <math.h>
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "base/mem.h"
#include "base/stats.h"

/* More than this do not make a clock any better. */
#define MOST_SAMPLES 4096

struct sample {
    int64_t at_ns;     /* by the clock of the rank */
    int64_t differ_ns; /* of the common clock from it */
};

struct fitting {
    struct rank_set *s;
    struct sample *samples; /* room for MOST_SAMPLES */
    int64_t *sorted;
    uint32_t n;
};

/* Ends are the same moment only where every rank needs the data of all. */
static bool ends_together(enum collective c)
{
    return c == COLLECTIVE_ALL_REDUCE || c == COLLECTIVE_ALL_GATHER ||
           c == COLLECTIVE_REDUCE_SCATTER || c == COLLECTIVE_ALL_TO_ALL || c == COLLECTIVE_BARRIER;
}

static int64_t rank_clocks_common(const struct rank_clock *c, int64_t ts_ns)
{
    return ts_ns + llround(c->offset_ns + c->drift * (double)(ts_ns - c->at_ns));
}

static int64_t rank_clocks_end_of(const struct rank_set *s, const struct rank_member *m)
{
    return s->ranks[m->rank].events[m->event].end_ns;
}

/* The end by the common clock, from a rank that has it already; false when none has. */
static bool known_end(const struct rank_set *s, const struct rank_collective *c, int64_t *ret)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_clock *k = &s->clocks[c->members[i].rank];
        if (!k->aligned) continue;
        *ret = rank_clocks_common(k, rank_clocks_end_of(s, &c->members[i]));
        return true;
    }
    return false;
}

static int64_t rank_clocks_median_of(struct fitting *f, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) f->sorted[i] = f->samples[from + i].differ_ns;
    stats_sort(f->sorted, n);
    return stats_median(f->sorted, n);
}

/* The time in the middle of samples sorted by time, as the median has it. */
static int64_t middle_of(const struct fitting *f, uint32_t from, uint32_t n)
{
    const struct sample *s = f->samples + from;
    return n ? s[(n - 1) / 2].at_ns + (s[n / 2].at_ns - s[(n - 1) / 2].at_ns) / 2 : 0;
}

static int rank_clocks_by_time(const void *a, const void *b)
{
    int64_t x = ((const struct sample *)a)->at_ns, y = ((const struct sample *)b)->at_ns;
    return (x > y) - (x < y);
}

/* Sorted distances of the samples from a clock. */
static void rank_clocks_scatter(struct fitting *f, const struct rank_clock *c)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->sorted[i] = llabs(f->samples[i].at_ns + f->samples[i].differ_ns -
                             rank_clocks_common(c, f->samples[i].at_ns));
    stats_sort(f->sorted, f->n);
}

/* The slope between the medians of the first and the last third. */
static void fit_drift(struct fitting *f, struct rank_clock *c)
{
    uint32_t third = f->n / 3;
    int64_t a = middle_of(f, 0, third), b = middle_of(f, f->n - third, third);
    if (f->n < rank_clocks_ends || b <= a) return;
    int64_t low = rank_clocks_median_of(f, 0, third),
            high = rank_clocks_median_of(f, f->n - third, third);
    struct rank_clock with = *c;
    with.drift = (double)(high - low) / (double)(b - a);
    if (fabs(with.drift) > rank_clocks_drift) return;
    for (uint32_t i = 0; i < f->n; i++)
        f->sorted[i] = f->samples[i].differ_ns -
                       llround(with.drift * (double)(f->samples[i].at_ns - with.at_ns));
    stats_sort(f->sorted, f->n);
    with.offset_ns = (double)stats_median(f->sorted, f->n);
    rank_clocks_scatter(f, &with);
    double noise = (double)stats_median(f->sorted, f->n) + 1;
    if (fabs((double)(high - low)) > rank_clocks_stands_out_times * noise) *c = with;
}

static void rank_clocks_fit(struct fitting *f, struct rank_clock *c)
{
    qsort(f->samples, f->n, sizeof *f->samples, rank_clocks_by_time);
    *c = (struct rank_clock){.aligned = true, .at_ns = f->samples[0].at_ns};
    c->offset_ns = (double)rank_clocks_median_of(f, 0, f->n);
    fit_drift(f, c);
    rank_clocks_scatter(f, c);
    c->error_ns = (double)stats_percentile(f->sorted, f->n, 90);
}

/* The collectives of each rank, one after the other: index[first[r] .. first[r + 1]). */
struct shared {
    uint32_t *first;
    uint64_t *index; /* collective << 32 | member */
};

static int list_shared(const struct rank_set *s, struct arena *mem, struct shared *ret)
{
    size_t n = 0;
    ret->first = arena_zalloc(mem, (size_t)s->n + 2, sizeof *ret->first);
    if (!ret->first) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++, n++)
            ret->first[s->list[i].members[k].rank + 2]++;
    for (uint32_t r = 2; r < s->n + 2; r++) ret->first[r] += ret->first[r - 1];
    ret->index = mem_zalloc(n + 1, sizeof *ret->index);
    if (!ret->index) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++)
        for (uint32_t k = 0; k < s->list[i].n; k++)
            ret->index[ret->first[s->list[i].members[k].rank + 1]++] = (uint64_t)i << 32 | k;
    return 0;
}

/* Adds samples of a rank against those that are aligned, of every `stride`-th collective. */
static void rank_clocks_take_samples(struct fitting *f, const struct shared *sh, uint32_t rank,
                                     uint32_t stride)
{
    for (uint32_t i = sh->first[rank]; i < sh->first[rank + 1] && f->n < MOST_SAMPLES;
         i += stride) {
        const struct rank_collective *c = &f->s->list[sh->index[i] >> 32];
        int64_t end, own = rank_clocks_end_of(f->s, &c->members[sh->index[i] & UINT32_MAX]);
        if (!ends_together(c->what) || !known_end(f->s, c, &end)) continue;
        f->samples[f->n++] = (struct sample){own, end - own};
    }
}

/* Ranks by host: host << 32 | rank, where ranks without one are a host each. */
static int list_hosts(const struct rank_set *s, struct arena *mem, int64_t **ret)
{
    struct intern names;
    int64_t *list = arena_zalloc(mem, (size_t)s->n + 1, sizeof *list);
    bool failed = !list || intern_init(&names);
    if (failed) return ERR_NOMEM;
    for (uint32_t r = 0; r < s->n && !failed; r++) {
        const char *host = s->ranks[r].host;
        str_id id = host ? intern_add(&names, str_c(host)) : s->n + 1 + r;
        failed = id == STR_NONE;
        if (!failed) list[r] = (int64_t)id << 32 | r;
    }
    intern_done(&names);
    stats_sort(list, s->n);
    *ret = list;
    return failed ? ERR_NOMEM : 0;
}

/* Fits the clock of the host of list[0 .. n); false when it shares no collective with those that
 * are known. */
static bool align_host(struct fitting *f, const struct shared *sh, const int64_t *list, uint32_t n)
{
    struct rank_clock clock;
    size_t all = 0;
    f->n = 0;
    for (uint32_t i = 0; i < n; i++) all += f->s->ranks[list[i] & UINT32_MAX].n_events;
    uint32_t stride = (uint32_t)(all / MOST_SAMPLES) + 1;
    for (uint32_t i = 0; i < n; i++)
        rank_clocks_take_samples(f, sh, (uint32_t)(list[i] & UINT32_MAX), stride);
    if (!f->n) return false;
    rank_clocks_fit(f, &clock);
    for (uint32_t i = 0; i < n; i++) f->s->clocks[list[i] & UINT32_MAX] = clock;
    return true;
}

static void rank_clocks_align(struct fitting *f, const struct shared *sh, const int64_t *list)
{
    struct rank_set *s = f->s;
    for (uint32_t i = 0, k; i < s->n; i++)
        for (k = 0; (list[i] & UINT32_MAX) == 0 && k < s->n; k++) /* the host of the first rank */
            if (list[k] >> 32 == list[i] >> 32) s->clocks[list[k] & UINT32_MAX].aligned = true;
    for (bool more = true; more;) { /* each round reaches at least one host more */
        more = false;
        for (uint32_t i = 0, n; i < s->n; i += n) {
            for (n = 1; i + n < s->n && list[i + n] >> 32 == list[i] >> 32;) n++;
            if (s->clocks[list[i] & UINT32_MAX].aligned) continue;
            more = align_host(f, sh, list + i, n) || more;
        }
    }
}

int rank_clocks(struct rank_set *s, struct arena *mem)
{
    struct shared sh;
    int64_t *hosts;
    struct fitting f = {s, arena_zalloc(mem, MOST_SAMPLES, sizeof *f.samples),
                        arena_zalloc(mem, MOST_SAMPLES, sizeof *f.sorted), 0};
    s->clocks = arena_zalloc(mem, (size_t)s->n + 1, sizeof *s->clocks);
    if (!s->clocks || !f.samples || !f.sorted) return ERR_NOMEM;
    TRY(list_hosts(s, mem, &hosts));
    TRY(list_shared(s, mem, &sh));
    rank_clocks_align(&f, &sh, hosts);
    mem_free(sh.index);
    return 0;
}

int64_t rank_set_time(const struct rank_set *s, uint32_t rank, int64_t ts_ns)
{
    return rank_clocks_common(&s->clocks[rank], ts_ns) - s->begin_ns;
}
