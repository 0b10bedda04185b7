/* host_rows.h: what a rule about the host looks at: all rows of one kind of work, on the threads of
 * the program, and what the device misses meanwhile. */
#ifndef STRATA_ANALYZE_RULES_HOST_ROWS_H
#define STRATA_ANALYZE_RULES_HOST_ROWS_H

#include "analyze/names/host_cause.h"
#include "analyze/rules/rule.h"

struct host_rows {
    row_t *rows; /* outermost ones, by thread and time */
    uint32_t n;
    row_t longest;    /* ROW_NONE when there are none */
    int64_t cpu_ns;   /* their durations */
    int64_t idle_ns;  /* of devices, meanwhile */
    uint32_t n_steps; /* steps they lie in */
};

/* Which rows: those with a cause for which `is` is true, if they last that long. */
struct host_rows_wanted {
    bool (*is)(enum host_cause c);
    int64_t least_ns;
};

int host_rows_find(const struct context *cx, struct host_rows_wanted wanted, struct host_rows *ret,
                   struct err *e) MUST_USE;

/* Whether it is worth a finding: it costs the device time, and again and again. */
bool host_rows_matter(const struct context *cx, const struct host_rows *h);

/* A finding about them: where, both costs, the edit that takes them out, and how often they come.
 * The words are the caller's. */
struct finding *host_rows_finding(const struct context *cx, const struct host_rows *h,
                                  struct findings *out, const struct rule *rule, struct err *e);

#endif
