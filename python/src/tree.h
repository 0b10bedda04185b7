/* tree.h: what is known about every stage, by its path (denoise/transformer_forward): how
 * often, how long, how it ended. Lives in memory; the caller holds the interpreter lock.
 *
 * A stage inside itself, however deep, is the same node: its inner calls are counted apart and
 * their time, which the outermost call contains, is not added again. */
#ifndef STRATA_PYTHON_TREE_H
#define STRATA_PYTHON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT       0u
#define TREE_MOST_NODES 65536u
#define TREE_SAMPLES    8192u /* durations kept a node; beyond that a random choice of all */

struct stage_node {
    uint32_t name; /* id of names.h */
    uint32_t parent;
    uint32_t last_child; /* the one entered last, or 0 */
    uint32_t unheard;    /* calls to come that the hooks do not want to hear of */
    uint64_t n_calls, n_errors, n_recursions;
    uint64_t total, inner; /* ticks of whole calls, and of the stages inside them */
    uint64_t error_total;
    uint64_t first, least, most;
    uint64_t active, awaited; /* tasks only */
    double square_sum;        /* of ticks, for the spread */
    uint64_t *samples;
    uint32_t n_samples, cap_samples;
    int64_t rss_bytes, rss_peak_bytes;
};

/* One call that has ended. */
struct stage_call {
    uint64_t ticks, inner;
    uint64_t active, awaited;
    bool failed, recursion;
};

bool tree_init(void); /* true on failure */

/* The node of stage `name` inside `parent`; TREE_ROOT when there are too many or out of memory,
 * which counts for no stage. */
uint32_t tree_child(uint32_t parent, uint32_t name);

struct stage_node *tree_node(uint32_t node); /* holds until the next tree_child */
uint32_t tree_size(void);

void tree_add_call(uint32_t node, const struct stage_call *c);

/* Forgets all numbers; nodes stay, for calls still open. */
void tree_reset(void);

#endif
