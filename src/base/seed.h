/* seed.h: where keys go in hash tables. Where they come from a file, the one who wrote the
 * file must not know which of them share a slot, so it differs from process to process: nothing
 * that is printed or kept may depend on it. intern_hash is made of the same seed. */
#ifndef STRATA_BASE_SEED_H
#define STRATA_BASE_SEED_H

#include <stdint.h>

uint64_t seed_of_process(void);

/* Both halves of a product. */
static inline uint64_t seed_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two rounds: after one, keys at equal distances share slots under some of the seeds. */
static inline uint64_t seed_mix(uint64_t x, uint64_t seed)
{
    return seed_fold(seed_fold(x ^ seed, 0x9fb21c651e98df25u), 0xd6e8feb86659fd93u);
}

static inline uint64_t seed_hash(uint64_t x)
{
    return seed_mix(x, seed_of_process());
}

#endif
