/* event_fast.c: which version of event_fast this processor can run, best first. */
#include "import/json/event_fast.h"

#include <string.h>

#include "base/cpu.h"

extern event_fast_fn event_fast_basic;

#if defined(__x86_64__)
extern event_fast_fn event_fast_avx2, event_fast_avx512;
#endif

static bool event_fast_always(void)
{
    return true;
}

static const struct version {
    const char *name;
    event_fast_fn *fn;
    bool (*works)(void);
} versions[] = {
#if defined(__x86_64__)
    {"avx512", event_fast_avx512, cpu_has_avx512},
    {"avx2", event_fast_avx2, cpu_has_avx2},
#endif
    {"basic", event_fast_basic, event_fast_always},
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
