/* mem.c: malloc with a countdown in front. The countdown is atomic: worker threads allocate too. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static atomic_long n_allocs;
static atomic_long fail_at;
static atomic_bool blocks;

static int must_fail(void)
{
    long k = atomic_fetch_add_explicit(&n_allocs, 1, memory_order_relaxed) + 1;
    long at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    bool alone = atomic_load_explicit(&blocks, memory_order_relaxed);
    return at && (alone ? k == at : k >= at);
}

void *mem_alloc(size_t size)
{
    return must_fail() ? NULL : malloc(size ? size : 1);
}

void *mem_zalloc(size_t n, size_t size)
{
    return must_fail() ? NULL : calloc(n ? n : 1, size ? size : 1);
}

void *mem_grow(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    size_t total = n * size;
    return must_fail() ? NULL : realloc(p, total ? total : 1);
}

char *mem_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = mem_alloc(n);
    if (copy) memcpy(copy, s, n);
    return copy;
}

void mem_free(void *p)
{
    free(p);
}

static void mem_arm(long k, bool each_block)
{
    atomic_store(&n_allocs, 0);
    atomic_store(&fail_at, k);
    atomic_store(&blocks, each_block);
}

void mem_fail_at(long k)
{
    mem_arm(k, false);
}

void mem_fail_at_block(long k)
{
    mem_arm(k, true);
}

bool mem_refuses_block(void)
{
    return atomic_load_explicit(&blocks, memory_order_relaxed) && must_fail();
}

long mem_count(void)
{
    return atomic_load(&n_allocs);
}

void mem_return_large(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

void mem_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
