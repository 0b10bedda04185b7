/* edits.h: what-if changes in the user's words, turned into a replay plan.
 *
 * Edits combine: cuts are merged, a call dropped by one edit stays dropped, work whose duration one
 * edit sets keeps it unless another drops it. Each edit learns how
 * much it matched, so that a pattern that matches nothing can be reported instead of "no gain". */
#ifndef STRATA_ANALYZE_SIMULATE_EDITS_H
#define STRATA_ANALYZE_SIMULATE_EDITS_H

#include "analyze/simulate/replay.h"

enum sim_edit_kind {
    EDIT_DROP_SYNC,    /* `rows`: the waiting calls; what only served the wait goes with them */
    EDIT_DROP_CPU,     /* CPU time of annotations, functions and ops matching `pattern` */
    EDIT_DROP_ROWS,    /* CPU time of `rows`, which lie on threads */
    EDIT_SCALE_CPU,    /* the same, times `factor` */
    EDIT_SCALE_KERNEL, /* device work matching `pattern`, or `rows`, takes `factor` times as long */
    EDIT_DROP_KERNEL, /* device work matching `pattern`, or `rows`, and its launches never happen */
    EDIT_SET_WORK, /* device work `rows` takes `row_ns` each; 0: it never happens, nor its launch */
    EDIT_CUDA_GRAPH, /* stages matching `pattern`, or what is launched in `spans`, become graphs;
                        see capture.c */
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
