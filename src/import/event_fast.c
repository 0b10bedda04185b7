/* event_fast.c: which version of event_fast this processor can run, best first. */
#include "import/event_fast.h"

#include <string.h>

extern event_fast_fn event_fast_basic;

#if defined(__x86_64__)
extern event_fast_fn event_fast_avx2, event_fast_avx512;

static bool have_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("bmi2");
}

static bool have_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

static bool always(void)
{
    return true;
}

static const struct version {
    const char *name;
    event_fast_fn *fn;
    bool (*works)(void);
} versions[] = {
#if defined(__x86_64__)
    {"avx512", event_fast_avx512, have_avx512},
    {"avx2", event_fast_avx2, have_avx2},
#endif
    {"basic", event_fast_basic, always},
};

enum { N_VERSIONS = sizeof versions / sizeof *versions };

event_fast_fn *event_fast(void)
{
    int i = 0;
    while (!versions[i].works()) i++;
    return versions[i].fn;
}

event_fast_fn *event_fast_named(const char *name)
{
    for (int i = 0; i < N_VERSIONS; i++)
        if (strcmp(versions[i].name, name) == 0) return versions[i].works() ? versions[i].fn : NULL;
    return NULL;
}
