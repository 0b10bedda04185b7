/* page_curves.h: the curves under the tracks of a page: memory, queue depth, how much of the time a
 * device works. Exact steps where there are few, least and most by bucket of time for the rest. */
#ifndef STRATA_PAGE_PAGE_CURVES_H
#define STRATA_PAGE_PAGE_CURVES_H

#include "analyze/comm/comm.h"
#include "analyze/launches/launches.h"
#include "analyze/rules/rule.h"
#include "page/page_cols.h"

enum { PAGE_CURVE_LEVELS = 4, PAGE_CURVE_POINTS = 200000, PAGE_CURVE_EXACT = 19000 };

#define PAGE_NO_OFFSET UINT64_MAX

struct page_curve {
    const char *id;    /* "memory", "reserved", "queue", "busy", "exposed", "comm" */
    const char *label; /* for people */
    const char *unit;  /* "bytes", "pieces", "pct" */
    int32_t device;
    int64_t max;
    struct page_curve_level {
        int64_t width_ns;
        uint32_t n;
        uint64_t min, max; /* offsets in the block; min may be PAGE_NO_OFFSET */
    } levels[PAGE_CURVE_LEVELS];
    uint32_t n_levels;
    uint32_t n_points; /* 0: too many to be listed, or none */
    uint64_t points_t, points_v;
};

struct page_curves {
    struct page_curve *list;
    uint32_t n;
};

/* Into the block. Memory from `mem`. */
int page_curves_run(const struct context *cx, struct page_block *block, struct arena *mem,
                    struct page_curves *ret, struct err *e) MUST_USE;

#endif
