/* seed.c: see seed.h. */
#include "base/seed.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

static _Atomic uint64_t seed_value;

/* The kernel gives every process 16 random bytes. Two threads that come first compute the same. */
static uint64_t seed_make(void)
{
    uint64_t random[2] = {0, 0};
    const void *at = (const void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
    if (at) memcpy(random, at, sizeof random);
    uint64_t seed = (random[0] ^ random[1] * 0x9e3779b97f4a7c15u) | 1;
    atomic_store_explicit(&seed_value, seed, memory_order_relaxed);
    return seed;
}

uint64_t seed_of_process(void)
{
    uint64_t seed = atomic_load_explicit(&seed_value, memory_order_relaxed);
    return seed ? seed : seed_make();
}
