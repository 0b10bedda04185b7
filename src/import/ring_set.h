/* ring_set.h: all recordings of a run, opened: processes with their strings and clocks, and their
 * rings. */
#ifndef STRATA_IMPORT_RING_SET_H
#define STRATA_IMPORT_RING_SET_H

#include "import/ring_rows.h"

struct ring_set {
    struct args_source args; /* first: a set is one, once it belongs to a trace (ring_args.h) */
    struct arena mem;
    struct ring_process *processes;
    size_t n_processes, cap_processes;
    struct ring_file *rings; /* by ring number */
    uint32_t *owner;         /* index of the ring's process */
    const char **index;      /* paths of the rings' indexes, which may not be there */
    size_t n_rings, cap_rings, cap_owner, cap_index;
    struct ring_blocks *blocks; /* by ring number, once only a part of them is read; else NULL */
    struct stack_rows stacks;   /* while they become rows */
    uint32_t n_bad;             /* files that cannot be used: counted, not fatal */
    const char *folder;         /* while it is being opened */
};

#define RING_SET_PATH 4096

/* Whether `folder` holds recordings, itself or in rings/; `ret` gets that folder. */
bool ring_set_locate(const char *folder, char ret[RING_SET_PATH]);

/* ERR_USAGE when there are none. Reads no records: clocks are due before any time is asked for. */
int ring_set_open(const char *folder, struct ring_set **ret, struct err *e) MUST_USE;
void ring_set_free(struct ring_set *s);

/* What the rings know about the clocks of their processes: from all of their records, or from the
 * summaries of their blocks, which are looked up or made. */
int ring_set_clocks(struct ring_set *s, struct err *e) MUST_USE;
int ring_set_blocks(struct ring_set *s, struct err *e) MUST_USE;
int ring_set_block_clocks(struct ring_set *s, struct err *e) MUST_USE; /* again, after a change */

uint64_t ring_set_records(const struct ring_set *s);

#endif
