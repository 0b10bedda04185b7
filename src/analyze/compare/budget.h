/* budget.h: limits a trace must keep, for CI. A budget file is one limit a line:
 *
 *     # nothing may wait in the loop
 *     syncs_per_step        <= 0
 *     gpu_idle_pct          <= 10
 *     stage vae decode gpu_ms <= 400
 *     stage "## forward ##" gpu_ms <= 100
 *     step_ms               <= 105 %
 *
 * The left side is a metric (budget_metrics lists them), for stages after `stage NAME`; then <= or
 * >= and a number, or a share of what a baseline trace has. A name may have blanks; one with # or
 * with blanks at its ends is quoted. */
#ifndef STRATA_ANALYZE_COMPARE_BUDGET_H
#define STRATA_ANALYZE_COMPARE_BUDGET_H

#include "analyze/findings/rule.h"

struct budget_line {
    int number;       /* in the file, from 1 */
    const char *text; /* as written, trimmed */
    const char *metric;
    const char *stage; /* NULL unless it is a stage's */
    bool at_least;     /* >= instead of <= */
    double limit;      /* of a share: set by budget_measure */
    double share;      /* of the baseline; 0 where the limit is a number */
    double base;       /* what the baseline has; set by budget_measure_baseline */

    double value; /* set by budget_measure */
    bool known;   /* false: unknown in this trace */
    bool broken;
};

struct budget {
    struct budget_line *lines;
    uint32_t n, n_broken, n_unknown;
    bool untrusted; /* the trace is doubtful or worse: every limit is unknown */
};

/* Parses the text of a budget file; errors name the line. Memory from `mem`. */
int budget_parse(struct budget *b, struct str text, struct arena *mem, struct err *e) MUST_USE;

/* The first limit that is a share of a baseline; NULL when there is none. */
const struct budget_line *budget_relative(const struct budget *b);

/* What the baseline has of everything that is limited: to be called before budget_measure. */
void budget_measure_baseline(struct budget *b, const struct context *cx);

/* With `anyhow`, a trace that cannot be trusted is measured too. */
void budget_measure(struct budget *b, const struct context *cx, bool anyhow);

/* What has to be in a trace for the figure to mean something: a trace without device work does not
 * show that there are no kernels. */
enum budget_needs {
    BUDGET_NEEDS_NOTHING,
    BUDGET_NEEDS_CALLS,  /* runtime calls */
    BUDGET_NEEDS_DEVICE, /* device work */
    BUDGET_NEEDS_IDLE,   /* device work that is complete enough to say when there was none */
};

/* What can be limited. The value is not finite if the trace does not show it. */
struct budget_metric {
    const char *name; /* with its unit: "step_ms" */
    const char *help; /* one line */
    enum budget_needs needs;
    double (*value)(const struct context *cx);    /* of the trace, or */
    double (*stage_value)(const struct stage *s); /* of a stage */
};
extern const struct budget_metric budget_metrics[];       /* of a trace; no name after the last */
extern const struct budget_metric budget_stage_metrics[]; /* of a stage */

#endif
