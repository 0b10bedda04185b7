/* clock.h: time stamps cheap enough for a hot path.
 *
 * A tick is one count of the fastest clock this machine can be trusted with: the CPU's own
 * counter (about 10 ns to read), or the kernel's monotonic clock in nanoseconds (about 20 ns).
 * Ticks become nanoseconds later, by pairs of both clocks read at the same moment. */
#ifndef STRATA_BASE_CLOCK_H
#define STRATA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum clock_source {
    CLOCK_OS = 0,     /* ticks are nanoseconds of CLOCK_MONOTONIC */
    CLOCK_TSC = 1,    /* x86 time stamp counter */
    CLOCK_CNTVCT = 2, /* ARM generic timer */
};

struct clock_pair {
    uint64_t ticks;
    uint64_t mono_ns;
};

/* The counter where the kernel itself uses it as its clock, else CLOCK_OS. Reads a file: once. */
enum clock_source clock_best(void);

uint64_t clock_mono_ns(void);
uint64_t clock_real_ns(void);

/* Both clocks at one moment, as closely as a few tries allow. */
struct clock_pair clock_pair(enum clock_source source);

/* Ticks a second, estimated over `span_ns` by waiting that long. */
double clock_measure_hz(enum clock_source source, uint64_t span_ns);

static inline uint64_t clock_ticks(enum clock_source source)
{
#if defined(__x86_64__)
    if (__builtin_expect(source == CLOCK_TSC, 1)) return __rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(source == CLOCK_CNTVCT, 1)) {
        uint64_t ticks;
        __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return clock_mono_ns();
}

#endif
