/* stack_span.h: what is known of a thread before its functions are made rows: stacks that were
 * seen, and what else it did. */
#ifndef STRATA_IMPORT_STACK_SPAN_H
#define STRATA_IMPORT_STACK_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct stack_seen {
    int64_t begin_ns, end_ns;
    uint64_t src; /* of the record */
    int64_t tid;
    uint32_t process;
    uint32_t stack; /* DEF_FRAME of the process it was seen by, `defs` */
    uint32_t defs;
    bool exact; /* a call that waited, and then the thread went on; else a sample */
};

static inline bool stack_seen_same_thread(const struct stack_seen *a, const struct stack_seen *b)
{
    return a->process == b->process && a->tid == b->tid;
}

struct stack_span {
    int64_t begin_ns, end_ns;
    int64_t tid;
    uint32_t process;
    bool
        called; /* an operator or a call, which functions make; else a range, which may hold some */
    uint64_t module; /* module_token() of the module whose call the range is; 0: of none */
};

#endif
