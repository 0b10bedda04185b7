/* op_memory.h: bytes allocated minus bytes freed between two moments of a process, in O(log n).
 *
 * torch charges an operator with every allocator event between its start and its end, on whatever
 * thread it happened, both ends included. Running sums over the events in time order answer that
 * with two searches. */
#ifndef STRATA_ANALYZE_OP_MEMORY_H
#define STRATA_ANALYZE_OP_MEMORY_H

#include "trace/trace.h"

struct op_bytes {
    int64_t cpu, device;
};

/* The allocator events of one process, by time. */
struct op_memory_line {
    uint32_t n;
    int64_t *ts_ns;
    row_t *row;
    struct op_bytes *before; /* sums of the events before i; n + 1 entries */
    int32_t *cover;          /* differences of the number of spans over event i; n + 1 entries */
};

struct op_memory {
    struct op_memory_line *lines; /* by process */
    uint32_t n_lines;
    uint64_t n_events;
};

/* Memory from `mem`. ERR_NOMEM is the only failure. */
int op_memory_run(const struct trace *t, struct arena *mem, struct op_memory *ret,
                  struct err *e) MUST_USE;

/* Index of the first event at or after `ts_ns`, searched from `from` on (cheap when near). */
uint32_t op_memory_at(const struct op_memory_line *m, uint32_t from, int64_t ts_ns);

/* Bytes of the events first .. end-1. */
struct op_bytes op_memory_between(const struct op_memory_line *m, uint32_t first, uint32_t end);

/* Notes that a span lies over the events first .. end-1. Threads may call it at the same time. */
void op_memory_cover(struct op_memory_line *m, uint32_t first, uint32_t end);

/* The bytes of one allocator event. */
struct op_bytes op_memory_of(const struct trace *t, row_t r);

#endif
