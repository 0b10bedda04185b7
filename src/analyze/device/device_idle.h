/* device_idle.h: the times a device had nothing to do between its first and its last work, each
 * with the work that ended it and the call that launched that work.
 *
 *     device   ##prev##...................##next##
 *     thread             python [launch]
 *     gap             |----late-|-------|
 *                     begin     late    end
 *
 * Up to `late` nothing had been launched: the CPU was late. From there on it is the way from the
 * launch to the device. When the launch came before the gap, late == begin: not the CPU's doing. */
#ifndef STRATA_ANALYZE_DEVICE_DEVICE_IDLE_H
#define STRATA_ANALYZE_DEVICE_DEVICE_IDLE_H

#include "analyze/device/timeline.h"

struct idle_gap {
    int64_t begin_ns, late_ns, end_ns; /* begin <= late <= end, begin < end */
    row_t prev, next;                  /* the work that ended last before it, the first after it */
    row_t launch;                      /* of `next`; ROW_NONE when it is not in the trace */
};

struct device_idle {
    struct idle_gap *gaps; /* in time order */
    uint32_t n_gaps;
    int64_t total_ns;
};

/* The idle times of all devices, by index in the timeline. */
struct idle_times {
    struct device_idle *of;
    uint32_t n;
};

extern const struct pass idle_pass;

static inline const struct idle_times *idle_of(const struct context *cx)
{
    return context_kept(cx, PASS_IDLE);
}

int device_idle_run(const struct trace *t, const struct device_line *d, struct arena *mem,
                    struct device_idle *ret, struct err *e) MUST_USE;

static inline int64_t idle_gap_ns(const struct idle_gap *g)
{
    return g->end_ns - g->begin_ns;
}

/* The thread that launched the work before the gap, when another one of its process launched what
 * ended it (forward to autograd's thread), or LANE_NONE. */
lane_id idle_gap_handed_over(const struct trace *t, const struct idle_gap *g);

/* The thread that launched what ended the gap, or LANE_NONE. */
static inline lane_id idle_gap_thread(const struct trace *t, const struct idle_gap *g)
{
    return g->launch == ROW_NONE ? LANE_NONE : t->lane[g->launch];
}

#endif
