/* lint_oddities.h: is the recording consistent with itself? Each oddity is one kind of
 * contradiction: it is counted, with a few rows as examples. All are in one table.
 *
 * Many oddities are normal at the edges of a window or on new hardware: severity says whether to
 * worry, the explanation says why not. */
#ifndef STRATA_ANALYZE_QUALITY_LINT_ODDITIES_H
#define STRATA_ANALYZE_QUALITY_LINT_ODDITIES_H

#include "analyze/names/calls.h"
#include "trace/trace.h"

enum lint_severity {
    LINT_INFO,    /* normal, but good to know */
    LINT_WARNING, /* some figures will be wrong */
};

#define LINT_EXAMPLES 8

struct lint_result {
    uint64_t count;
    uint64_t of;                   /* out of how many; 0 when that says nothing */
    int64_t worst_ns;              /* the largest error; 0 if it is not a time */
    row_t examples[LINT_EXAMPLES]; /* the first ones; ROW_NONE if they are not rows */
    uint32_t n_examples;
};

/* What they read. */
struct lint_input {
    const struct trace *t;
    struct calls calls;
    struct arena *scratch;
};

struct lint_oddity {
    const char *id; /* "kernel_before_launch" */
    enum lint_severity severity;
    const char *title;   /* what was found, plural */
    const char *explain; /* what it means and what to do, one or two sentences */

    /* Returns true when out of memory. */
    bool (*run)(const struct lint_input *in, struct lint_result *r);
};

extern const struct lint_oddity
    *const lint_oddities[]; /* NULL-terminated, in the order they are reported */
#define LINT_ODDITIES_MAX 32

struct lint_results {
    struct lint_result results[LINT_ODDITIES_MAX]; /* in the order of `lint_oddities` */
    int n;
};

/* Runs them all. Scratch memory from `mem`. */
int lint_oddities_run(const struct trace *t, struct arena *mem, struct lint_results *ret,
                      struct err *e) MUST_USE;

const char *lint_severity_name(enum lint_severity s); /* "info", "warning" */

#endif
