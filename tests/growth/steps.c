/* steps.c: how much a command did, counted instead of timed. Linked into the program of build-steps
 * (meson option `steps`), whose code calls __sanitizer_cov_trace_pc at every basic block.
 *
 * What the C library does in one call without coming back to our code is counted by its bytes, so
 * that moving an array by one place for every element shows as what it is. Memory is the most that
 * was allocated at one time. Both are written to the file that STRATA_STEPS names, at exit; they
 * are the same in every run, as long as there is one thread (STRATA_TEST_THREADS=1). */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { BYTES_PER_STEP = 32 };

static uint64_t steps;
static uint64_t held_bytes, peak_bytes;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

static void count_bytes(size_t n)
{
    steps += n / BYTES_PER_STEP;
}

static void *hold(void *p)
{
    held_bytes += p ? malloc_usable_size(p) : 0;
    if (held_bytes > peak_bytes) peak_bytes = held_bytes;
    return p;
}

static void let_go(void *p)
{
    held_bytes -= p ? malloc_usable_size(p) : 0;
}

/* `ld --wrap=NAME` sends calls of NAME to __wrap_NAME, and __real_NAME to the library. */
#define WRAPPED(result, name, params) \
    result __real_##name params;      \
    result __wrap_##name params;      \
    result __wrap_##name params

WRAPPED(void *, memcpy, (void *to, const void *from, size_t n))
{
    count_bytes(n);
    return __real_memcpy(to, from, n);
}

WRAPPED(void *, memmove, (void *to, const void *from, size_t n))
{
    count_bytes(n);
    return __real_memmove(to, from, n);
}

WRAPPED(void *, memset, (void *to, int byte, size_t n))
{
    count_bytes(n);
    return __real_memset(to, byte, n);
}

WRAPPED(int, memcmp, (const void *a, const void *b, size_t n))
{
    count_bytes(n);
    return __real_memcmp(a, b, n);
}

WRAPPED(void *, memchr, (const void *in, int byte, size_t n))
{
    void *at = __real_memchr(in, byte, n);
    count_bytes(at ? (size_t)((char *)at - (const char *)in) : n);
    return at;
}

WRAPPED(size_t, strlen, (const char *s))
{
    size_t n = __real_strlen(s);
    count_bytes(n);
    return n;
}

WRAPPED(void *, malloc, (size_t n))
{
    return hold(__real_malloc(n));
}

WRAPPED(void *, calloc, (size_t n, size_t size))
{
    count_bytes(n * size);
    return hold(__real_calloc(n, size));
}

WRAPPED(void *, realloc, (void *p, size_t n))
{
    let_go(p);
    return hold(__real_realloc(p, n));
}

WRAPPED(void, free, (void *p))
{
    let_go(p);
    __real_free(p);
}

/* No random bytes: hash tables look the same in every run. */
WRAPPED(unsigned long, getauxval, (unsigned long type))
{
    return type == AT_RANDOM ? 0 : __real_getauxval(type);
}

static void __attribute__((destructor)) write_counts(void)
{
    const char *path = getenv("STRATA_STEPS");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%llu %llu\n", (unsigned long long)steps, (unsigned long long)peak_bytes);
    fclose(f);
}
