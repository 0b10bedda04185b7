/* host_stalls.h: when a thread that launches was kept from its work by the machine, and by what: as
 * our recorder counted it (backend/program/host_stall.h). Empty in traces of others. */
#ifndef STRATA_ANALYZE_DEVICE_HOST_STALLS_H
#define STRATA_ANALYZE_DEVICE_HOST_STALLS_H

#include "analyze/context.h"
#include "base/span.h"

enum host_stall_kind {
    HOST_STALL_CORE,
    HOST_STALL_CGROUP,
    HOST_STALL_FAULTS,
    HOST_STALL_GIL,
    HOST_STALL_KINDS
};

struct host_stall {
    lane_id thread;
    enum host_stall_kind kind;
    struct span time;
    double share; /* of that time, lost */
};

struct host_stalls {
    struct host_stall *list; /* by thread and begin */
    uint32_t n;
    int64_t longest_ns;                  /* of their times */
    int64_t lost_ns[HOST_STALL_KINDS];   /* in total */
    const char *words[HOST_STALL_KINDS]; /* "18 runnable threads on 2 cores" */
};

extern const struct pass host_stalls_pass;

static inline const struct host_stalls *host_stalls_of(const struct context *cx)
{
    return context_kept(cx, PASS_HOST_STALLS);
}

/* Whether the row is such a stall, which is nothing that the thread did. */
bool host_stalls_is(const struct trace *t, row_t r);

/* The first of the thread that may reach into `time`. */
uint32_t host_stalls_first(const struct host_stalls *s, lane_id thread, struct span time);

#endif
