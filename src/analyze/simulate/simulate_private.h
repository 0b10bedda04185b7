/* simulate_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_SIMULATE_SIMULATE_PRIVATE_H
#define STRATA_ANALYZE_SIMULATE_SIMULATE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/trace.h"

struct arena;
struct calls;
struct trace;
struct sim_model;
struct sim_plan;
struct sim_cut;
struct sim_edit;

/* The model while it is being built: model_collect, then model_constants, then model_joins. */
struct model_build {
    const struct trace *t;
    const struct calls *calls;
    struct arena *mem;
    struct sim_model *m;
    uint32_t *thread_of_lane; /* SIM_NONE where the lane is not a replayed thread */
    uint32_t *stream_of_lane;
    uint32_t *call_of_aux; /* node of a call by its side-table index */
    int64_t *stream_end;   /* running latest end by stream, original times */
    uint32_t *stream_last; /* work that ends it */
};

/* Whether a row is part of the run itself, not of the recording of it. */
bool model_counts(const struct trace *t, uint32_t row);

int model_collect(struct model_build *b) MUST_USE;
int model_constants(struct model_build *b) MUST_USE;
int model_joins(struct model_build *b) MUST_USE;

/* recording_weight.c: the cost of recording each event, in launch calls of the same trace.
 * undistort.h turns it into time. */

/* Charges every recorded event to the node it happens in, or to the stretch that leads to the next
 * one, so that a replay only has to look at nodes. For a model whose nodes are chained and whose
 * constants are known. ERR_NOMEM is the only failure. */
int recording_weight_set(struct sim_model *m, struct arena *mem) MUST_USE;

/* Of the events that begin in [begin, end) of the thread, outside of its nodes. O(their number). */
double recording_weight_of(const struct sim_model *m, uint32_t thread, int64_t begin_ns,
                           int64_t end_ns);

/* A plan while edits are put into it. */
struct plan_build {
    const struct sim_model *m;
    struct arena *mem;
    struct sim_plan *plan;
    struct sim_cut *cuts; /* growing, unsorted */
    size_t n_cuts, cap_cuts;
};

/* Takes CPU time out; an empty stretch is none. ERR_NOMEM is the only failure. */
int plan_cut(struct plan_build *b, struct sim_cut c) MUST_USE;

/* The same, but leaves the calls that launch work or wait: those have their own edits. */
int plan_cut_around_calls(struct plan_build *b, struct sim_cut c) MUST_USE;

/* A stretch of a thread, and the waits of that thread that end in it. */
struct stretch {
    uint32_t thread;
    int64_t begin_ns, end_ns;
    uint32_t first_join, end_join;
};
struct stretch stretch_of(const struct sim_model *m, const struct sim_cut *at);

/* The calls of a stretch in order: its own, and those of threads that it waits for. A copy of the
 * walk goes on from the same place. */
struct stretch_walk {
    const struct sim_model *m;
    const struct stretch *s;
    uint32_t own, other; /* the next call of each thread, or SIM_NONE */
    int64_t done_ns;     /* up to here `other` is made during a wait of the stretch */
    uint32_t join;       /* the wait that comes next */
};
struct stretch_walk stretch_walk_of(const struct sim_model *m, const struct stretch *s);
uint32_t stretch_next(struct stretch_walk *w); /* SIM_NONE at the end */

/* Cuts a part of the stretch, on its thread and where others work for it; or only what lies
 * `around` the calls in it. */
int stretch_cut(struct plan_build *b, const struct stretch *s, struct sim_cut part,
                bool around) MUST_USE;

/* edit_graph.c: makes graphs of a stretch of a thread: of all of it, or (not `whole`) from the
 * first launch of each graph to its last. After all other edits. */
int capture_run(struct plan_build *b, struct sim_edit *ed, const struct sim_cut *at,
                bool whole) MUST_USE;

/* fuse.c: compiles the spans of an edit: short kernels in a row become one, and the time between
 * launches shrinks. */
int fuse_run(struct plan_build *b, struct sim_edit *ed) MUST_USE;

/* cache_warm.c: what code costs when something else has just run.
 *
 * A long stretch of other code (a walk over all modules, say) leaves cold caches behind: the ops
 * after it take longer than the same ops do elsewhere. Removing the stretch gives that back too. */

struct cache_warm {
    const struct trace *t;
    int64_t *usual_ns; /* by str_id: usual duration of an op of this name, 0 = not looked at */
    struct arena *mem;
};

int cache_warm_init(struct cache_warm *w, const struct trace *t, struct arena *mem,
                    struct err *e) MUST_USE;

/* Share of its time that op `r` would take if it were as warm as usual: 1 when it is not slower. */
double cache_warm_share(struct cache_warm *w, row_t r);

/* Whether the row is an op that no other op contains: what the program calls. */
bool cache_warm_is_op(const struct trace *t, row_t r);

#endif
