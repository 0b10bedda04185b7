/* thresholds.h: the numbers that a user may want to set, in one table. Printed with the findings
 * that used them, set with `--set name=value`. All other numbers that decide are in the table of
 * their subject, see constants.h. */
#ifndef STRATA_ANALYZE_THRESHOLDS_H
#define STRATA_ANALYZE_THRESHOLDS_H

#include "base/err.h"

enum threshold {
    TH_REPORT_GAIN_PCT, /* findings that gain less are only counted */
    TH_HIGH_GAIN_PCT,
    TH_MEDIUM_GAIN_PCT,
    TH_GAP_US,            /* shorter gaps are not examined one by one */
    TH_IDLE_PCT,          /* device idle below this is healthy */
    TH_STAGE_SHARE_PCT,   /* a bookkeeping stage above this share of a step is out of proportion */
    TH_LAUNCH_LATENCY_US, /* launch latency with an idle stream above this is slow */
    TH_FIRST_STEP_RATIO,  /* first step over the median of the others */
    TH_GROWTH_PCT,        /* memory growth per step, of the level at the first step's end */
    TH_KERNEL_OUTLIER_RATIO, /* slowest over median of the same kernel and shape */
    TH_COPY_SHARE_PCT,       /* exposed copies, of the wall clock */
    TH_COMM_SHARE_PCT,       /* exposed communication, of the wall clock */
    TH_REPLAY_ERROR_PCT,     /* a replay that misses the trace by more prices nothing */
    TH_COUNT
};

struct thresholds {
    double value[TH_COUNT];
};

void thresholds_init(struct thresholds *th);

/* "name=value"; unknown names and values out of range are ERR_USAGE. */
int thresholds_set(struct thresholds *th, const char *text, struct err *e) MUST_USE;

const char *threshold_name(enum threshold t); /* "report_gain_pct" */
const char *threshold_help(enum threshold t);
double threshold_default(enum threshold t);

#endif
