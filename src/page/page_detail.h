/* page_detail.h: which spans a page holds one by one. All of them, up to PAGE_SPANS; above, those
 * around what the reader is led to (findings, one steady step), long ones everywhere, and whatever
 * is pointed at by name. The rest is in the levels of page_levels.h. */
#ifndef STRATA_PAGE_PAGE_DETAIL_H
#define STRATA_PAGE_PAGE_DETAIL_H

#include "page/page_tracks.h"

#define PAGE_SPANS 1000000

/* A time the reader is led to. Where there is no room for all of it, as much as there is around
 * `at_ns`. */
struct page_wish {
    int64_t begin_ns, end_ns, at_ns;
    const char *why;
};

struct page_range {
    int64_t begin_ns, end_ns;
    const char *why;
};

struct page_detail {
    bool complete;
    uint32_t n_spans; /* of the trace */
    uint32_t n_kept;
    int64_t long_ns;           /* spans of at least this length are kept everywhere */
    struct page_range *ranges; /* by start, apart: here every span is kept */
    uint32_t n_ranges;
    uint32_t *span_of; /* by row of the trace: its number in the page, or PAGE_NO_SPAN */
};

#define PAGE_NO_SPAN UINT32_MAX

struct page_detail_in {
    const struct trace *t;
    const struct page_tracks *tracks;
    const struct page_wish *wishes; /* the most wanted first */
    uint32_t n_wishes;
    const row_t *rows; /* kept whatever it costs, with what encloses and launches them */
    uint32_t n_rows;
    uint32_t budget; /* spans; PAGE_SPANS but in tests */
};

/* Memory from `mem`. */
int page_detail_run(const struct page_detail_in *in, struct arena *mem, struct page_detail *ret,
                    struct err *e) MUST_USE;

/* The number of a row in the page; PAGE_NO_SPAN also for ROW_NONE. */
static inline uint32_t page_detail_span(const struct page_detail *d, row_t r)
{
    return r == ROW_NONE ? PAGE_NO_SPAN : d->span_of[r];
}

#endif
