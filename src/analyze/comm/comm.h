/* comm.h: communication as a class of its own: when devices talk to each other, and when they do
 * nothing else meanwhile.
 *
 *     stream 7   ####....####..      compute: kernels that are not communication, and fills
 *     stream 13  ..######....cc      nccl, then a copy
 *     exposed    ....xxxx            communication runs and nothing else does
 *
 * Exposed communication, copies without a kernel, and the rest of the busy time add up to the
 * latter. What a device does while it communicates is the union over its streams. */
#ifndef STRATA_ANALYZE_COMM_COMM_H
#define STRATA_ANALYZE_COMM_COMM_H

#include "analyze/device/timeline.h"

struct comm_device {
    int32_t device;
    int64_t busy_ns;            /* any work */
    int64_t compute_ns;         /* kernels that are not communication, or fills */
    int64_t copy_ns;            /* copies, and no compute */
    int64_t comm_ns;            /* communication kernels */
    int64_t exposed_ns;         /* of comm_ns: nothing else runs */
    struct device_line exposed; /* the same as times: `busy` and its sums only */
    struct device_line compute; /* and compute_ns */
    struct device_line comm;    /* and comm_ns */
};

/* One communication kernel. */
struct comm_work {
    row_t row;
    uint32_t device;    /* index in devices */
    uint32_t step;      /* of the loop, or UINT32_MAX */
    int64_t exposed_ns; /* each exposed moment counts for one of them: the first to start */
};

struct comm_step {
    int64_t comm_ns; /* durations added */
    int64_t exposed_ns;
};

struct comm {
    struct comm_device *devices; /* as in the timeline */
    uint32_t n_devices;
    uint32_t busiest;        /* index of the device with most work, UINT32_MAX when there is none */
    int64_t wall_ns;         /* from the first row to the last */
    struct comm_work *works; /* by device, then start */
    uint32_t n_works;
    struct comm_step *steps; /* of the loop, all devices */
};

extern const struct pass comm_pass;

static inline const struct comm *comm_of(const struct context *cx)
{
    return context_kept(cx, PASS_COMM);
}

/* The busiest device; all zero when there is none. */
struct comm_device comm_main(const struct comm *c);

/* Exposed communication of the busiest device, in per cent of the wall clock. */
double comm_exposed_pct(const struct comm *c);

#endif
