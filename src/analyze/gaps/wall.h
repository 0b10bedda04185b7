/* wall.h: what the wall clock is made of, and so what limits it. */
#ifndef STRATA_ANALYZE_GAPS_WALL_H
#define STRATA_ANALYZE_GAPS_WALL_H

#include "analyze/comm/comm.h"
#include "analyze/gaps/gaps.h"
#include "analyze/quality/integrity.h"
#include "analyze/simulate/undistort.h"

enum bound {
    BOUND_GPU,      /* kernels */
    BOUND_CPU,      /* Python and the program's own work between launches */
    BOUND_LAUNCH,   /* ops and launches: the CPU cannot feed the device fast enough */
    BOUND_TRANSFER, /* copies between host and device */
    BOUND_SYNC,     /* waits: CPU and device take turns */
    BOUND_COMM,     /* exposed communication between devices */
    BOUND_MIXED,
    BOUND_UNKNOWN, /* no device work recorded */
};

/* The parts of the wall clock, on the busiest device; they add up to it. */
struct bound_shares {
    int32_t device;
    int64_t wall_ns;
    int64_t kernel_ns; /* kernels or fills run */
    int64_t comm_ns;   /* of kernel_ns: nothing but communication runs */
    int64_t copy_ns;   /* only copies run */
    int64_t idle_ns[CAUSE_KINDS];
    int64_t outside_ns; /* before the first and after the last work */
};

/* The busiest device in a replay without the profiler's cost. As traced where the replay misses the
 * trace by more than the threshold. */
struct plain_wall {
    int64_t wall_ns;
    int64_t busy_ns;   /* it works */
    int64_t window_ns; /* from its first to its last work */
    double busy_pct;   /* of wall_ns */
};

struct wall {
    int64_t wall_ns;  /* of the trace */
    int64_t begin_ns; /* when that begins: Python functions may run before, imports for one */
    double busy_pct;  /* of the busiest device, of the wall clock */
    struct bound_shares parts;
    struct plain_wall plain; /* the same without the profiler */
    enum bound bound;        /* without the profiler */
    bool abstains;           /* the records do not support a diagnosis: no findings, no bound */
};

extern const struct pass wall_pass;

static inline const struct wall *wall_of(const struct context *cx)
{
    return context_kept(cx, PASS_WALL);
}

const char *bound_name(enum bound b); /* "gpu", "cpu" ...: the JSON value */

#endif
