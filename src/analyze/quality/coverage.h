/* coverage.h: how many launches have device records. Profilers drop records when their buffers are
 * full, and then a saturated device looks idle. No conclusion may be drawn from missing records
 * before it is known how much of what was launched has been recorded. */
#ifndef STRATA_ANALYZE_QUALITY_COVERAGE_H
#define STRATA_ANALYZE_QUALITY_COVERAGE_H

#include "analyze/steps/steps.h"

struct share {
    uint32_t expected; /* launches that must leave a device record */
    uint32_t recorded; /* of those, the ones that did */
};

static inline double share_pct(struct share s)
{
    return s.expected ? 100.0 * s.recorded / s.expected : 100;
}

struct device_share {
    int32_t device;
    struct share launches; /* those without a record go to the device used last on the thread */
};

struct coverage {
    struct share all;
    struct share *steps; /* by step */
    struct device_share *devices;
    uint32_t n_devices;

    /* launches without records, in launch order: before the first with one, after the last with
     * one, and in between */
    uint32_t missing_head, missing_tail, missing_mid;
    row_t first_missing_mid;            /* example, or ROW_NONE */
    int64_t head_end_ns, tail_begin_ns; /* first and last launch that has a record */
    int64_t lost_ns;                    /* valid when missing_tail: the first launch after that */

    uint32_t work;        /* device records */
    uint32_t orphans;     /* device records without a launch in the trace */
    uint32_t orphans_mid; /* of those, after the first one that has a launch */

    uint32_t graph_launches;
    uint32_t graphs_short; /* replays with far fewer records than the fullest of the same graph */
    uint32_t graphs_empty; /* replays with none at all */
    row_t first_short;     /* example, or ROW_NONE */
};

/* Whether so few launches at one end of the window have no record that nothing is wrong: their work
 * lies outside of it. */
bool coverage_edge_is_normal(const struct coverage *c, uint32_t missing);

int coverage_run(const struct context *cx, struct arena *mem, struct coverage *ret,
                 struct err *e) MUST_USE;

#endif
