/* vec.c: the one growth policy: 1.5 times, at least 16. */
#include "base/vec.h"

#include <stdint.h>

#include "base/mem.h"

void *vec_grow(void *items, size_t n, size_t *cap, size_t more, size_t size)
{
    if (more > SIZE_MAX - n) return NULL;
    size_t want = *cap + *cap / 2;
    if (want < n + more) want = n + more;
    if (want < 16) want = 16;
    void *grown = mem_grow(items, want, size);
    if (grown) *cap = want;
    return grown;
}
