/* launches.h: what launching costs, and whether the CPU runs ahead of the device.
 *
 * Two numbers are often taken for one: the latency of a launch onto an idle stream (microseconds,
 * the price of a launch) and the wait in the queue of a busy stream (as long as the CPU is ahead,
 * which is good). They are kept apart here. A graph launch is one launch with many kernels. */
#ifndef STRATA_ANALYZE_LAUNCHES_LAUNCHES_H
#define STRATA_ANALYZE_LAUNCHES_LAUNCHES_H

#include "analyze/launches/launch_wait.h"
#include "analyze/stages/stages.h"

/* A distribution of times. */
struct spread {
    uint32_t n;
    int64_t total_ns, median_ns, p95_ns, max_ns;
};

enum ahead {
    AHEAD_CPU,      /* work waits in the queue nearly always: the device is never starved */
    AHEAD_DEVICE,   /* the device is often idle with an empty queue: it waits for launches */
    AHEAD_LOCKSTEP, /* nothing waits, yet the device is busy: the CPU waits for it each time */
    AHEAD_NEITHER,  /* sometimes the one, sometimes the other */
    AHEAD_UNKNOWN,  /* no launches in the trace */
};

#define LAUNCH_BINS 60

struct device_queue {
    int32_t device;
    struct span window; /* first to last work of the device */
    struct queue queue;
    double mean; /* over time, as all that follow */
    uint32_t median, p95;
    double zero_pct;    /* of the window: nothing waits */
    double few_pct;     /* at most two wait */
    double starved_pct; /* nothing waits and the device is idle */
    enum ahead ahead;
    double bins[LAUNCH_BINS]; /* mean depth in equal parts of the window */
};

/* Launches of one call name. */
struct call_cost {
    str_id name;
    enum call_kind kind;
    struct spread cost; /* time the CPU spends in the call */
    uint32_t n_work;    /* device records they caused */
};

/* Launches of kernels under a stage, or of all. Copies and fills are not in it. */
struct launch_group {
    uint32_t launches, graph_launches, kernels;
    uint32_t how[LAUNCH_WAIT_HOWS]; /* kernels by what they waited for */
    struct spread from_start; /* of LAUNCH_WAIT_IDLE: start of the call to start of the kernel */
    struct spread from_end;   /* of LAUNCH_WAIT_IDLE: return of the call to start of the kernel */
    struct spread queued;     /* of LAUNCH_WAIT_QUEUED: start of the call to start of the kernel */
    struct spread back_to_back; /* of LAUNCH_WAIT_QUEUED: end of the kernel before to start */
    struct spread kernel;       /* duration of kernels */
    struct spread interval;     /* start of a launch to start of the next, same thread */
    uint32_t median_depth;      /* work waiting when a launch began */
    int64_t waiting_ns; /* CPU time in copies and in calls that wait, which are not launch cost */
    bool launch_bound;  /* kernels are shorter than the time between launches, and wait for them */
};

struct launches {
    struct device_queue *devices;
    uint32_t n_devices;
    struct call_cost *calls; /* by total cost */
    uint32_t n_calls;
    struct launch_group all;
    struct launch_group *stages; /* by index of stages.list; inclusive */
    uint32_t n_stages;
};

extern const struct pass launches_pass;

static inline const struct launches *launches_of(const struct context *cx)
{
    return context_kept(cx, PASS_LAUNCHES);
}

const char *ahead_words(enum ahead a); /* a sentence for people */
const char *ahead_name(enum ahead a);  /* "cpu", "device", "lockstep", "neither", "unknown" */

#endif
