/* launch_wait.h: for every piece of device work, what it waited for between its launch and its
 * start.
 *
 * A kernel that starts milliseconds after its launch is not a sign of trouble when the stream was
 * busy all that time: the CPU is ahead, as it should be. Only a launch onto an idle stream shows
 * what a launch costs. */
#ifndef STRATA_ANALYZE_LAUNCHES_LAUNCH_WAIT_H
#define STRATA_ANALYZE_LAUNCHES_LAUNCH_WAIT_H

#include "analyze/device/queue.h"
#include "analyze/steps/steps.h"

enum launch_wait_how {
    LAUNCH_WAIT_IDLE,   /* the stream had nothing to do when the launch returned: pure latency */
    LAUNCH_WAIT_QUEUED, /* the stream was busy: the wait is the queue's */
    LAUNCH_WAIT_BEHIND, /* the stream was idle, but work of other streams held it back to the end */
    LAUNCH_WAIT_IN_GRAPH, /* a later node of a graph: launched together with the first */
    LAUNCH_WAIT_OVERHEAD, /* the profiler's buffers or loading of code came in between */
    LAUNCH_WAIT_SKEWED,   /* seems to start before its launch: the clocks disagree */
    LAUNCH_WAIT_UNKNOWN,  /* its launch is not in the trace */
    LAUNCH_WAIT_HOWS
};

struct launch_wait {
    row_t work, call;      /* call is ROW_NONE when LAUNCH_WAIT_UNKNOWN */
    int64_t from_start_ns; /* start of the work after the start of the call */
    int64_t from_end_ns;   /* after its end: negative when the work starts before it returns */
    int64_t after_prev_ns; /* after the end of the stream's previous work; -1 for the first */
    uint32_t depth;        /* work waiting on the device when the call began */
    uint8_t how;           /* enum launch_wait_how */
};

/* One per work record, device by device, in the order of their work; *ret_n is how many. Memory
 * from `mem`. */
int launch_waits_run(const struct context *cx, struct arena *mem, struct launch_wait **ret,
                     uint32_t *ret_n, struct err *e) MUST_USE;

const char *launch_wait_how_name(
    enum launch_wait_how how); /* "idle_stream", "queued" ...: for JSON */

#endif
