/* tick_map.c: see ring_process.h. Between two pairs time runs evenly; outside them as it does
 * between the nearest two. */
#include "import/ring/ring_process.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* Reading both clocks is off by some tens of ns; pairs closer than this would turn that into a
 * wrong rate. */
#define APART_NS    10000000u
#define FARTHEST_NS 1000000000000000000ll /* thirty years */

void tick_map_init(struct tick_map *m, double ticks_per_second)
{
    *m = (struct tick_map){0};
    m->ns_per_tick = ticks_per_second > 1 ? 1e9 / ticks_per_second : 1;
}

void tick_map_done(struct tick_map *m)
{
    mem_free(m->pairs);
    *m = (struct tick_map){0};
}

bool tick_map_add(struct tick_map *m, struct clock_pair pair)
{
    if (pair.mono_ns > FARTHEST_NS) return false; /* no clock runs that long */
    if (VEC_RESERVE(m->pairs, m->n, m->cap, 1)) return true;
    m->pairs[m->n++] = pair;
    return false;
}

static int by_ticks(const void *a, const void *b)
{
    uint64_t x = ((const struct clock_pair *)a)->ticks, y = ((const struct clock_pair *)b)->ticks;
    return (x > y) - (x < y);
}

void tick_map_sort(struct tick_map *m)
{
    if (!m->n) return;
    qsort(m->pairs, m->n, sizeof *m->pairs, by_ticks);
    size_t kept = 1;
    for (size_t i = 1; i < m->n; i++) {
        struct clock_pair last = m->pairs[kept - 1], p = m->pairs[i];
        if (p.ticks == last.ticks || p.mono_ns < last.mono_ns) continue;
        if (p.mono_ns - last.mono_ns < APART_NS) continue;
        m->pairs[kept++] = p;
    }
    m->n = kept;
}

/* The pair to start from: the last one not after `ticks`, but never the very last when there is
 * another before it. */
static size_t tick_map_find_pair(const struct tick_map *m, uint64_t ticks)
{
    size_t i = 1;
    SEARCH_PAST(i, m->n > 1 ? m->n - 1 : 1, m->pairs[i].ticks <= ticks);
    return i - 1;
}

uint64_t tick_map_ns(const struct tick_map *m, uint64_t ticks)
{
    if (!m->n) return 0;
    size_t i = tick_map_find_pair(m, ticks);
    struct clock_pair a = m->pairs[i];
    double rate = m->ns_per_tick;
    if (i + 1 < m->n) {
        struct clock_pair b = m->pairs[i + 1];
        rate = (double)(b.mono_ns - a.mono_ns) / (double)(b.ticks - a.ticks);
    }
    double ns = (double)(int64_t)(ticks - a.ticks) * rate;
    if (!(ns > -(double)FARTHEST_NS && ns < (double)FARTHEST_NS))
        return a.mono_ns; /* not a time of this process */
    return a.mono_ns + (uint64_t)(int64_t)ns;
}
