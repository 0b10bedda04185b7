/* ring_index.h: what stands in a ring, block by block, so that a reader finds a moment of a long
 * recording without reading what came before it.
 *
 *     HOST-PID-START.N.index   | head | summary of block | summary | ...
 *
 * The summary of a block stands at the place that the block has in the log of the ring (ring.h),
 * and is written after it. Whatever is missing, damaged or of another block can be computed from
 * the ring again: an index saves time, and nothing is in it alone.
 *
 * Records are of two sorts. Most stand in the order in which the thread made them: `begin_ticks` to
 * `end_ticks`. Those that have two times (calls, work on devices, stacks) were written when they
 * were over, work of devices long after: `spans_begin_ticks` to `spans_end_ticks`. */
#ifndef STRATA_FORMAT_RING_INDEX_H
#define STRATA_FORMAT_RING_INDEX_H

#include <stdbool.h>

#include "format/ring.h"

#define RING_INDEX_MAGIC   "STRINDX1"
#define RING_INDEX_VERSION 1u
#define RING_INDEX_OPEN    15u /* ranges whose begin a summary names */

struct ring_index_head {
    char magic[8];
    uint32_t version;
    uint32_t entry_bytes;
    uint32_t pid;
    uint32_t pad[11];
};

struct ring_summary {
    uint64_t number; /* of the block, from 0 */

    /* How things stood at its begin. */
    uint64_t thread;                /* who wrote, 0 when it had not been said */
    uint64_t step;                  /* number of the RING_STEP that was open, plus 1; 0 for none */
    uint64_t open[RING_INDEX_OPEN]; /* numbers of the records that began ranges, outermost first */
    uint32_t n_open;                /* ranges open, of which that many are in `open` at most */
    uint32_t thread_name;           /* string id */

    /* What is in it. Times begin at UINT64_MAX and end at 0 where there is none. */
    uint64_t begin_ticks, end_ticks;
    uint64_t spans_begin_ticks, spans_end_ticks;
    uint64_t clock_ticks, clock_mono_ns; /* its last RING_CLOCK, or 0 */
    uint64_t work_ticks;                 /* the times of its RING_WORK together */
    uint64_t n_dropped;                  /* by its RING_DROPPED */
    uint32_t n_work, n_calls, n_ranges, n_stacks, n_steps, n_marks, n_pauses;
    uint32_t n_missing; /* slots that do not hold what the head says they do */
    uint64_t check;     /* xxh64 of everything before it */
};

static_assert(sizeof(struct ring_index_head) == 64, "index head layout");
static_assert(sizeof(struct ring_summary) == 256, "summary layout");

/* Where the summary of block `slot` of the log stands. */
static inline uint64_t ring_index_offset(uint64_t slot)
{
    return sizeof(struct ring_index_head) + slot * sizeof(struct ring_summary);
}

/* How things stand between two blocks. */
#define RING_STATE_OPEN 64u
struct ring_state {
    uint64_t thread, step;
    uint32_t thread_name;
    uint32_t n_open, n_deeper; /* known, and further in */
    struct ring_state_open {
        uint64_t number;
        uint64_t task; /* 0: of the thread itself */
    } open[RING_STATE_OPEN];
};

/* Sums up block `number`, whose `n` slots these are; `s` moves on behind it. */
void ring_summarize(struct ring_state *s, const struct ring_record *slots, uint32_t n,
                    uint64_t number, struct ring_summary *ret);

/* The state at the begin of a block. What is deeper than a summary tells is not known any more. */
void ring_state_from(struct ring_state *s, const struct ring_summary *from);

/* Whether it is the whole summary of block `number`. */
bool ring_summary_is(const struct ring_summary *s, uint64_t number);

#endif
