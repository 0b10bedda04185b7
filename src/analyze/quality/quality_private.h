/* quality_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_QUALITY_QUALITY_PRIVATE_H
#define STRATA_ANALYZE_QUALITY_QUALITY_PRIVATE_H

#include "analyze/quality/problems.h"
#include "base/err.h"

struct context;
struct arena;
struct integrity;
struct coverage;

/* What the functions that look for problems share. They are listed once, in integrity.c; each adds
 * a problem at most once. */
struct looking {
    const struct trace *t;
    const struct context *cx;
    struct arena *mem;
    struct integrity *i;
    bool failed;            /* memory ran out */
    bool waits_shared;      /* waits without work, while another process used the device */
    struct problem nowhere; /* receives what there is no memory for */
};

/* Adds a problem of this severity; `what` is formatted, the other words are those of its kind. The
 * caller adds counts and examples. */
struct problem *problem_add(struct looking *c, enum problem_id id, enum quality level,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A row to look at, unless there are enough or it is ROW_NONE. */
void problem_example(struct problem *p, row_t r);

/* By how much the clocks of CPU and device may differ before it is reported. */
int64_t problem_skew_small_ns(const struct context *cx);

typedef void problem_look(struct looking *c);

/* problem_records.c: what is missing */
problem_look problem_look_empty, problem_look_dropped, problem_look_edges, problem_look_graphs,
    problem_look_waits, problem_look_shared, problem_look_links, problem_look_steps;

/* problem_times.c: what is impossible, and what recording did to the run */
problem_look problem_look_file, problem_look_untimed, problem_look_impossible, problem_look_clocks,
    problem_look_collectives, problem_look_recording, problem_look_overheads,
    problem_look_graph_nodes, problem_look_depth;

/* problem_order.c: what contradicts itself */
problem_look problem_look_syncs, problem_look_overlap, problem_look_spans, problem_look_op_ids,
    problem_look_call_ids, problem_look_copied_ids, problem_look_thread_names;

/* graph_replays.c: counts the replays (calls, in time order) that have fewer records than their
 * graph has work. ERR_NOMEM is the only failure. */
int graph_replays_count(const struct trace *t, const row_t *replays, uint32_t n,
                        struct coverage *ret);

#endif
