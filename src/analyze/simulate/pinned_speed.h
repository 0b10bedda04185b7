/* pinned_speed.h: how fast copies from and to pinned memory are, in bytes per nanosecond (GB/s). */
#ifndef STRATA_ANALYZE_SIMULATE_PINNED_SPEED_H
#define STRATA_ANALYZE_SIMULATE_PINNED_SPEED_H

#include "trace/trace.h"

struct pinned_speed {
    double bytes_per_ns;
    bool seen; /* in this trace; else a guess */
};

/* As seen in the trace, else what the first device's generation is good for, but never slower than
 * the pageable copies of the trace. */
struct pinned_speed pinned_speed(const struct trace *t);

/* What 16 lanes of PCIe reach, by the generation that cards of this compute capability have. A
 * card without one, 0 or less, is not known. */
double pinned_speed_guess(int major);

#endif
