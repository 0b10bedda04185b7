/* clock.c: see clock.h. */
#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static uint64_t read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

/* The kernel watches the counter against other clocks and leaves it when it drifts or stops, so
 * its choice is the one test worth making. */
enum clock_source clock_best(void)
{
#if defined(__aarch64__)
    return CLOCK_CNTVCT;
#elif defined(__x86_64__)
    char name[8] = "";
    int fd = fd_open(CLOCKSOURCE, O_RDONLY, 0);
    if (fd < 0) return CLOCK_OS;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n >= 4 && memcmp(name, "tsc\n", 4) == 0 ? CLOCK_TSC : CLOCK_OS;
#else
    return CLOCK_OS;
#endif
}

struct clock_pair clock_pair(enum clock_source source)
{
    struct clock_pair best = {0};
    uint64_t narrowest = UINT64_MAX;
    if (source == CLOCK_OS) {
        best.ticks = best.mono_ns = clock_mono_ns();
        return best;
    }
    for (int i = 0; i < 5; i++) {
        uint64_t before = clock_ticks(source);
        uint64_t ns = clock_mono_ns();
        uint64_t width = clock_ticks(source) - before;
        if (width >= narrowest) continue;
        narrowest = width;
        best = (struct clock_pair){before + width / 2, ns};
    }
    return best;
}

double clock_measure_hz(enum clock_source source, uint64_t span_ns)
{
    if (source == CLOCK_OS) return 1e9;
    struct clock_pair a = clock_pair(source), b;
    while (clock_mono_ns() - a.mono_ns < span_ns) {}
    b = clock_pair(source);
    return (double)(b.ticks - a.ticks) * 1e9 / (double)(b.mono_ns - a.mono_ns);
}
