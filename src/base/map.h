/* map.h: a hash map from 64-bit keys to 32-bit values, for joining ids to rows.
 *
 * Open addressing, linear probing, no deletion. Values of MAP_NONE are not allowed. */
#ifndef STRATA_BASE_MAP_H
#define STRATA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_slot {
    uint64_t key;
    uint32_t value; /* MAP_NONE marks an empty slot */
};

struct map {
    struct map_slot *slots;
    size_t mask; /* capacity - 1, or 0 before the first insertion */
    size_t n;
};

void map_init(struct map *m);
void map_done(struct map *m);

/* Room for `n` keys without growing on the way; true on failure. */
bool map_reserve(struct map *m, size_t n);

uint32_t map_find(const struct map *m, uint64_t key);

/* The value slot of `key`, made with MAP_NONE if new; NULL when out of memory. The pointer holds
 * until the next insertion. A slot left at MAP_NONE counts as absent. */
uint32_t *map_at(struct map *m, uint64_t key);

/* A good 64-bit mixer, for callers that combine keys. */
static inline uint64_t map_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

#endif
