/* checks.h: is the recording consistent with itself? Each check looks for one contradiction or
 * oddity, counts it and keeps a few rows as examples. All checks stand in one table.
 *
 * Many oddities are normal at the edges of a window or on new hardware: severity says whether to
 * worry, the explanation says why not. */
#ifndef STRATA_ANALYZE_CHECKS_H
#define STRATA_ANALYZE_CHECKS_H

#include "analyze/calls.h"
#include "trace/trace.h"

enum check_severity {
    CHECK_INFO,    /* normal, but good to know */
    CHECK_WARNING, /* some figures will be off */
};

#define CHECK_EXAMPLES 8

struct check_result {
    uint64_t count;
    uint64_t of;                    /* out of how many; 0 when that says nothing */
    int64_t worst_ns;               /* the largest amount by which it is off; 0 when not a time */
    row_t examples[CHECK_EXAMPLES]; /* the first ones; ROW_NONE where they are no rows */
    uint32_t n_examples;
};

/* What checks read. */
struct check_input {
    const struct trace *t;
    struct calls calls;
    struct arena *scratch;
};

struct check {
    const char *id; /* "kernel_before_launch" */
    enum check_severity severity;
    const char *title;   /* what was found, plural */
    const char *explain; /* what it means and what to do, one or two sentences */

    /* Returns true when memory is out. */
    bool (*run)(const struct check_input *in, struct check_result *r);
};

extern const struct check *const checks[]; /* NULL-terminated, in the order they are reported */
#define CHECKS_MAX 32

struct checked {
    struct check_result results[CHECKS_MAX]; /* in the order of `checks` */
    int n;
};

/* Runs them all. Scratch memory from `mem`. */
int checks_run(const struct trace *t, struct arena *mem, struct checked *ret,
               struct err *e) MUST_USE;

const char *check_severity_name(enum check_severity s); /* "info", "warning" */

#endif
