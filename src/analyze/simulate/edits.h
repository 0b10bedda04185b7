/* edits.h: what-if changes in the user's words, turned into a replay plan.
 *
 * Edits combine: cuts are merged, a call dropped by one edit stays dropped, work whose duration one
 * edit sets keeps it unless another drops it. Each edit learns how
 * much it matched, so that a pattern that matches nothing can be reported instead of "no gain". */
#ifndef STRATA_ANALYZE_SIMULATE_EDITS_H
#define STRATA_ANALYZE_SIMULATE_EDITS_H

#include "analyze/simulate/model.h"

/* replay.c: running the model again with something changed.
 *
 * A plan says what is different: CPU time cut out or scaled, calls that no longer happen or no
 * longer wait, work with another duration, stages captured as one graph, and the profiler's own
 * cost taken out. An empty plan gives the trace back; the difference is the replay error. */

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

/* Devices further apart share a bus in the replay; a machine has fewer. */
#define SIM_BUS_DEVICES 64
#define SIM_BUSES       (2 * SIM_BUS_DEVICES)

struct sim_plan {
    uint8_t *mode;        /* by call: enum sim_mode; NULL when no call changes */
    int64_t *work_ns;     /* by work: duration, -1 = as measured; NULL when none changes */
    uint8_t *bus;         /* by work: 1 + the bus of copies that run ahead on a stream of their own:
                             each device has one per direction; NULL when none do */
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

enum sim_edit_kind {
    EDIT_DROP_SYNC,    /* `rows`: the waiting calls; what only served the wait goes with them */
    EDIT_DROP_CPU,     /* CPU time of annotations, functions and ops matching `pattern` */
    EDIT_DROP_ROWS,    /* CPU time of `rows`, which lie on threads */
    EDIT_SCALE_CPU,    /* the same, times `factor` */
    EDIT_SCALE_KERNEL, /* device work matching `pattern`, or `rows`, takes `factor` times as long */
    EDIT_DROP_KERNEL, /* device work matching `pattern`, or `rows`, and its launches never happen */
    EDIT_SET_WORK, /* device work `rows` takes `row_ns` each; 0: it never happens, nor its launch */
    EDIT_CUDA_GRAPH, /* stages matching `pattern`, or what is launched in `spans`, become graphs;
                        see edit_graph.c */
    EDIT_COMPILE,    /* what is launched in `spans` is compiled; see fuse.c */
    EDIT_PIN_COPIES, /* pageable copies run from pinned memory at `factor` bytes per nanosecond */
    EDIT_OVERLAP_COPIES, /* host-device copies run ahead beside the kernels, one after the other,
                            pageable ones at `factor` bytes per nanosecond */
    EDIT_DROP_SPANS,     /* `spans`: their CPU time and every call in them never happen */
    EDIT_SCALE_SPANS,    /* `spans`: CPU time takes `keep` times as long, which may be above 1 */
};

struct sim_edit {
    enum sim_edit_kind kind;
    const char *pattern; /* extended regular expression; NULL where the kind has none */
    double factor;
    const row_t *rows;
    const int64_t *row_ns; /* EDIT_SET_WORK: by index into rows */
    uint32_t n_rows;
    const struct sim_cut *spans;
    uint32_t n_spans;
    bool whole; /* EDIT_CUDA_GRAPH: `spans` are replaced with what is around their launches */

    uint32_t n_matched;  /* out: rows, calls or instances that matched */
    uint32_t n_captured; /* out, EDIT_CUDA_GRAPH, EDIT_COMPILE: calls that went into another */
    bool crosses_sync;   /* out, EDIT_CUDA_GRAPH: a wait or an allocation cuts a graph in two */
    bool has_graphs;     /* out, EDIT_CUDA_GRAPH: graphs are launched in it already */
};

/* What is changed, all at once. */
struct sim_edits {
    struct sim_edit *list;
    uint32_t n;
    const struct sim_plan *base; /* gives the recording cost and scale to start from; may be NULL */
};

/* Memory from `mem`. A bad pattern is ERR_USAGE. */
int sim_plan_build(const struct sim_model *m, struct sim_edits edits, struct arena *mem,
                   struct sim_plan *ret, struct err *e) MUST_USE;

#endif
