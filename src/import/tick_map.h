/* tick_map.h: from the ticks of a process to nanoseconds of its monotonic clock, by the moments at
 * which it read both. */
#ifndef STRATA_IMPORT_TICK_MAP_H
#define STRATA_IMPORT_TICK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct tick_map {
    struct clock_pair *pairs; /* sorted, well apart */
    size_t n, cap;
    double ns_per_tick; /* where there is but one pair */
};

void tick_map_init(struct tick_map *m, double ticks_per_second);
void tick_map_done(struct tick_map *m);

/* In any order; true when out of memory. A pair that cannot be is left out. Then tick_map_sort
 * once, before the first question. */
bool tick_map_add(struct tick_map *m, struct clock_pair pair);
void tick_map_sort(struct tick_map *m);

/* Within thirty years of one of the pairs; 0 when there are none. */
uint64_t tick_map_ns(const struct tick_map *m, uint64_t ticks);

#endif
