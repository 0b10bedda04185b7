/* work_sum.h: what a set of device records adds up to. A sum and a union are different things, and
 * a span is a third: they are kept apart here and named in every view. */
#ifndef STRATA_ANALYZE_DEVICE_WORK_SUM_H
#define STRATA_ANALYZE_DEVICE_WORK_SUM_H

#include "analyze/device/timeline.h"

/* Union, span and idle are taken per device and then added, so that two devices working at the
 * same time count twice and a span never covers a device that was not used. */
struct work_sum {
    int64_t sum_ns;     /* durations added: overlapping work counts twice */
    int64_t union_ns;   /* time at least one of them ran */
    int64_t span_ns;    /* first start to last end */
    int64_t idle_ns;    /* time inside the span when the device did nothing at all */
    struct span extent; /* over all devices; begin == end when there is no work */
    uint32_t kernels, copies, sets;
    int64_t copy_bytes;
};

static inline uint32_t work_sum_count(const struct work_sum *w)
{
    return w->kernels + w->copies + w->sets;
}

/* `rows` are device work of the trace in any order; they are sorted in place. */
struct work_sum work_sum_run(const struct trace *t, const struct timeline *tl, row_t *rows,
                             uint32_t n_rows);

/* Adds `more` to `into`, for calls of one stage after another: extents are joined. */
void work_sum_add(struct work_sum *into, const struct work_sum *more);

#endif
