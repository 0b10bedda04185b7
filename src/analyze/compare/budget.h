/* budget.h: limits a trace must keep, for CI. A budget file is one limit a line:
 *
 *     # nothing may wait in the loop
 *     syncs_per_step        <= 0
 *     gpu_idle_pct          <= 10
 *     stage vae_decode gpu_ms <= 400
 *
 * The left side is a metric (budget_metrics lists them), for stages after `stage NAME`; then <= or
 * >= and a number. */
#ifndef STRATA_ANALYZE_COMPARE_BUDGET_H
#define STRATA_ANALYZE_COMPARE_BUDGET_H

#include "analyze/rules/rule.h"

struct budget_line {
    int number;       /* in the file, from 1 */
    const char *text; /* as written, trimmed */
    const char *metric;
    const char *stage; /* NULL unless it is a stage's */
    bool at_least;     /* >= instead of <= */
    double limit;

    double value; /* set by budget_measure */
    bool known;   /* false: unknown in this trace */
    bool broken;
};

struct budget {
    struct budget_line *lines;
    uint32_t n, n_broken, n_unknown;
};

/* Parses the text of a budget file; errors name the line. Memory from `mem`. */
int budget_parse(struct budget *b, struct str text, struct arena *mem, struct err *e) MUST_USE;

void budget_measure(struct budget *b, const struct context *cx);

/* What can be limited. The value is not finite if the trace does not show it. */
struct budget_metric {
    const char *name;                             /* with its unit: "step_ms" */
    const char *help;                             /* one line */
    double (*value)(const struct context *cx);    /* of the trace, or */
    double (*stage_value)(const struct stage *s); /* of a stage */
};
extern const struct budget_metric budget_metrics[];       /* of a trace; no name after the last */
extern const struct budget_metric budget_stage_metrics[]; /* of a stage */

#endif
