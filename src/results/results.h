/* results.h: every list there is. A file result_<name>.c declares each: its fields, and how its
 * rows are taken from the passes. */
#ifndef STRATA_RESULTS_RESULTS_H
#define STRATA_RESULTS_RESULTS_H

#include "analyze/ops/op_by.h"
#include "results/result.h"

extern const struct result result_stages, result_between, result_syncs, result_quality;
extern const struct result result_steps, result_levels, result_dead;
extern const struct result result_causes, result_gaps, result_gap_devices, result_gap_parts;
extern const struct result result_kernels, result_top_kernels, result_family_sums, result_findings;
extern const struct result result_hot_spots, result_mfu, result_energy;
extern const struct result result_stage_sides, result_stage_memory;
extern const struct result results_ops[]; /* by enum op_by */
extern const struct result result_launches, result_queues, result_launch_stages,
    result_launch_calls;
extern const struct result result_memory, result_memory_steps, result_alloc_sites,
    result_driver_calls;
extern const struct result result_comm, result_messages;
extern const struct result result_ranks, result_stragglers, result_collectives;

struct device_queue;
struct gaps;
struct kernel_stats;
struct memory;
struct memory_line;
struct op_table;
struct rank_set;
struct stages;
struct steps;
struct syncs;

/* Rows of what the passes computed; those of `cx` must be there. `text` is for getters. */
struct rows rows_stages(const struct context *cx, const struct stages *s, struct buf *text);
struct rows rows_between(const struct context *cx, const struct stages *s, struct buf *text);
struct rows rows_between_top(const struct rows *between);
struct rows rows_syncs(const struct context *cx, const struct syncs *s, struct buf *text);
struct rows rows_steps(const struct context *cx, uint32_t most, struct buf *text);
struct rows rows_causes(const struct context *cx, const struct gaps *g);
struct rows rows_gaps(const struct context *cx, const struct gaps *g);
struct rows rows_gap_devices(const struct context *cx, const struct gaps *g);
struct rows rows_kernels(const struct context *cx, const struct kernel_stats *k, uint32_t most);
struct rows rows_family_sums(const struct context *cx);
struct rows rows_hot_spots(const struct context *cx);
struct rows rows_ops(const struct context *cx, const struct op_table *t, enum op_by by,
                     uint32_t most);
struct rows rows_findings(const struct context *cx);
struct rows rows_launch_stages(const struct context *cx);
struct rows rows_memory_steps(const struct context *cx, const struct memory_line *l);
struct rows rows_alloc_sites(const struct context *cx, const struct memory *m);
struct rows rows_driver_calls(const struct context *cx, const struct memory *m);
struct rows rows_ranks(const struct rank_set *s);
struct rows rows_stragglers(const struct rank_set *s);
struct rows rows_collectives(const struct rank_set *s);
struct rows rows_quality(const struct context *cx);
rows_fn rows_in_comm;   /* of the trace, or none */
rows_fn rows_in_energy; /* of the trace, or none */
rows_fn rows_in_mfu;    /* of the trace, or none */
struct rows rows_messages(const struct context *cx);
rows_fn rows_in_quality; /* of the trace, for documents */

/* Of every list that the page shows: the columns it can have, by the name of the list. */
void results_json_columns(struct jout *j, const char *key);

/* "call", "step", "part" or "layer": what level `i` of the loop is. */
const char *level_role(const struct steps *s, uint32_t i);

#endif
