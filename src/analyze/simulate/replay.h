/* replay.h: running the model again with something changed.
 *
 * A plan says what is different: CPU time cut out or scaled, calls that no longer happen or no
 * longer wait, work with another duration, stages captured as one graph, and the profiler's own
 * cost taken out. An empty plan gives the trace back; the difference is the replay error. */
#ifndef STRATA_ANALYZE_SIMULATE_REPLAY_H
#define STRATA_ANALYZE_SIMULATE_REPLAY_H

#include "analyze/simulate/model.h"

enum sim_mode {
    SIM_KEEP,
    SIM_DROP,     /* the call and its work never happen */
    SIM_NO_WAIT,  /* the call returns at once */
    SIM_HEAD,     /* launches a captured graph: costs one graph launch */
    SIM_CAPTURED, /* its work is part of the graph launched before: costs nothing */
    SIM_BLOCK,    /* the call returns when the work it launched has ended */
};

/* CPU time of a thread that shrinks: [begin, end) takes `keep` times as long as it did. */
struct sim_cut {
    uint32_t thread;
    int64_t begin_ns, end_ns;
    double keep;
    bool unrecorded; /* what was recorded in it goes too: `weight`, outside of calls; else the
                        recording shrinks as the time around it does */
    double weight;
};

struct sim_plan {
    uint8_t *mode;    /* by call: enum sim_mode; NULL when no call changes */
    int64_t *work_ns; /* by work: duration, -1 = as measured; NULL when none changes */
    uint8_t *bus;     /* by work: 1 + direction of copies that run ahead on a stream of their own;
                         NULL when none do */
    struct sim_cut *cuts; /* by (thread, begin), not overlapping */
    uint32_t n_cuts;
    double cost_ns;    /* of recording, per weight in the model; 0: the trace as it is */
    bool no_buffers;   /* also without the recorder's buffer requests */
    double cpu_scale;  /* on top of all that; 0 means 1 */
    double time_scale; /* of the wall clock that results, device included; 0 means 1 */
};

struct sim_result {
    int64_t wall_ns;
    int64_t cpu_wait_ns;                  /* time threads spent waiting for the device */
    int64_t gpu_end_ns;                   /* end of the last work, from the start of the window */
    int64_t *work_begin_ns, *work_end_ns; /* by work, from the start of the window; in `mem` */
};

int sim_replay(const struct sim_model *m, const struct sim_plan *plan, struct arena *mem,
               struct sim_result *ret, struct err *e) MUST_USE;

/* Only the wall clock; scratch memory is given back. -1 never: failure is negative err codes. */
int sim_wall(const struct sim_model *m, const struct sim_plan *plan, struct arena *mem,
             int64_t *ret_wall_ns, struct err *e) MUST_USE;

#endif
