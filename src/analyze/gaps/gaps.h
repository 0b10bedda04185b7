/* gaps.h: the idle time of each device between its first and its last work, and its causes, which
 * add up to it to the nanosecond. */
#ifndef STRATA_ANALYZE_GAPS_GAPS_H
#define STRATA_ANALYZE_GAPS_GAPS_H

#include "analyze/gaps/gap_cause.h"
#include "analyze/gaps/gaps_constants.h"
#include "analyze/waits/syncs.h"

struct gap {
    uint32_t device;               /* index in devices */
    const struct idle_gap *at;     /* when, and what ended it */
    const struct gap_share *parts; /* most first; they add up to the gap */
    uint32_t n_parts;
    uint32_t step; /* of the loop, or UINT32_MAX */
    uint32_t site; /* the sync that left the device without work, or CAUSE_NO_SITE */
};

struct gaps_device {
    int32_t device;
    struct span window; /* first start to last end of its work */
    int64_t busy_ns, idle_ns;
    int64_t before_ns, after_ns; /* recorded time before and after the window */
    uint32_t n_gaps;             /* of any length */
    uint32_t n_listed;           /* not shorter than the threshold */
    int64_t median_ns, p95_ns;   /* of the listed ones */
    int64_t kernel_ns;           /* mean length of its work */
    int64_t interval_ns;         /* mean time between launches, without waits */
    bool small_shapes; /* work is shorter than a launch and no cause stands out: unavoidable as
                          long as every kernel is launched by itself */
};

struct gaps {
    struct gaps_device *devices;
    uint32_t n_devices;
    struct gap_cause *causes; /* most idle time first */
    uint32_t n_causes;
    struct gap_cause_inner *inner; /* by cause, then most idle time first */
    uint32_t n_inner;
    struct gap *all; /* not shorter than the threshold, longest first */
    uint32_t n_all;
    int64_t min_ns; /* the threshold */
};

extern const struct pass gaps_pass; /* gaps shorter than the threshold gap_us are summed */

static inline const struct gaps *gaps_of(const struct context *cx)
{
    return context_kept(cx, PASS_GAPS);
}

/* The functions inside a Python cause, most idle time first; *ret_n of them. */
const struct gap_cause_inner *gaps_inner(const struct gaps *g, uint32_t cause, uint32_t *ret_n);

/* The noise of the machine: idle time of devices because a thread that launches had no core or was
 * throttled by its cgroup. Whose threads had the cores is not known. 0 in traces of others. */
int64_t gaps_host_late_ns(const struct gaps *g);

/* Whether a cause comes back in the loop, rather than once: warm-up, a buffer of the recorder. */
bool gaps_recurs(const struct gap_cause *c, const struct steps *s);

#endif
