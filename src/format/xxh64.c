/* xxh64.c: four lanes of eight bytes at a time, then the tail, then a final mix. Reads words as
 * they lie in memory: little-endian machines only, like the files it guards. */
#include "format/xxh64.h"

#include <string.h>

#define PRIME_1 0x9e3779b185ebca87u
#define PRIME_2 0xc2b2ae3d27d4eb4fu
#define PRIME_3 0x165667b19e3779f9u
#define PRIME_4 0x85ebca77c2b2ae63u
#define PRIME_5 0x27d4eb2f165667c5u

static uint64_t xxh64_rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t xxh64_word64(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static uint64_t xxh64_word32(const unsigned char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static uint64_t xxh64_mix(uint64_t lane, uint64_t word)
{
    return xxh64_rotate(lane + word * PRIME_2, 31) * PRIME_1;
}

/* Consumes whole stripes of 32 bytes and folds the four lanes into one. */
static uint64_t xxh64_stripes(const unsigned char **p, size_t *n)
{
    uint64_t lane[4] = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1};
    for (; *n >= 32; *p += 32, *n -= 32)
        for (int i = 0; i < 4; i++) lane[i] = xxh64_mix(lane[i], xxh64_word64(*p + 8 * i));
    uint64_t h = xxh64_rotate(lane[0], 1) + xxh64_rotate(lane[1], 7) + xxh64_rotate(lane[2], 12) +
                 xxh64_rotate(lane[3], 18);
    for (int i = 0; i < 4; i++) h = (h ^ xxh64_mix(0, lane[i])) * PRIME_1 + PRIME_4;
    return h;
}

static uint64_t xxh64_tail(uint64_t h, const unsigned char *p, size_t n)
{
    for (; n >= 8; p += 8, n -= 8)
        h = xxh64_rotate(h ^ xxh64_mix(0, xxh64_word64(p)), 27) * PRIME_1 + PRIME_4;
    for (; n >= 4; p += 4, n -= 4)
        h = xxh64_rotate(h ^ xxh64_word32(p) * PRIME_1, 23) * PRIME_2 + PRIME_3;
    for (; n; p++, n--) h = xxh64_rotate(h ^ *p * PRIME_5, 11) * PRIME_1;
    return h;
}

uint64_t xxh64(const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t left = n;
    uint64_t h = n >= 32 ? xxh64_stripes(&p, &left) : PRIME_5;
    h = xxh64_tail(h + n, p, left);
    h = (h ^ h >> 33) * PRIME_2;
    h = (h ^ h >> 29) * PRIME_3;
    return h ^ h >> 32;
}
