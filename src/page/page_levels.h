/* page_levels.h: what a track looks like from afar: for each row of it, how much of every bucket
 * of time is covered and by what mostly, in levels each four times as coarse as the one before.
 *
 *     spans     [gemm   ][a][b]      [gemm]          [a]
 *     finest    255 255 128 0 64 192 0 0 40 0 0 0 ...
 *     coarser       160       64       10  ...                (docs/format/page.md) */
#ifndef STRATA_PAGE_PAGE_LEVELS_H
#define STRATA_PAGE_PAGE_LEVELS_H

#include "page/page_cols.h"
#include "page/page_detail.h"
#include "page/page_names.h"

enum {
    PAGE_BUCKETS_MOST = 65536, /* powers of four */
    PAGE_BUCKETS_LEAST = 1024
};

struct page_level {
    uint32_t row;
    uint32_t n; /* buckets */
    int64_t width_ns;
    uint64_t busy, name; /* offsets in the block */
};

/* The levels of one track. */
struct page_levels {
    struct page_level *list; /* by row, fine to coarse */
    uint32_t n;
    size_t cap;
};

struct page_levels_in {
    const struct trace *t;
    const struct page_tracks *tracks;
    const struct page_detail *detail;
    struct page_names *names;
    struct page_block *block;
};

/* Width of a bucket when the window is cut into `n`. */
int64_t page_levels_width(const struct trace *t, uint32_t n);

/* Number of buckets on the finest level that `n` things are worth; 0 when none is. */
uint32_t page_levels_finest(uint64_t n);

/* Levels of the track at index `track`, into the block. page_levels_done is due either way. */
int page_levels_run(const struct page_levels_in *in, uint32_t track, struct page_levels *ret,
                    struct err *e) MUST_USE;
void page_levels_done(struct page_levels *l);

#endif
