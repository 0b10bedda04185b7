/* page_spans.h: the spans of a page as columns: times, names, rows, what launched what. */
#ifndef STRATA_PAGE_PAGE_SPANS_H
#define STRATA_PAGE_PAGE_SPANS_H

#include "analyze/launches/launch_wait.h"
#include "analyze/rules/rule.h"
#include "page/page_detail.h"
#include "page/page_names.h"

struct page_spans_in {
    const struct context *cx;
    const struct page_tracks *tracks;
    const struct page_detail *detail;
    const struct launch_wait *const
        *starts; /* by index into trace->gpu; NULL where there is none */
    struct page_names *names;
    struct page_block *block;
};

/* How kernels are launched, each way once, for the head. */
struct page_configs {
    struct page_config {
        uint32_t grid[3], block[3];
        uint32_t shared_bytes;
        uint16_t registers;
        int16_t occupancy_pct; /* -1 when not known */
    } * list;
    uint32_t n;
};

/* Memory from `mem`. */
int page_spans_run(const struct page_spans_in *in, struct arena *mem, struct page_configs *ret,
                   struct err *e) MUST_USE;

#endif
