/* page_detail.h: which spans a page holds one by one. All of them, up to PAGE_SPANS; above, those
 * around what the reader is led to (findings, one steady step), long ones everywhere, and whatever
 * is pointed at by name. The rest is in the levels of page_levels.h. */
#ifndef STRATA_PAGE_PAGE_DETAIL_H
#define STRATA_PAGE_PAGE_DETAIL_H

#include "trace/trace.h"

/* page_tracks.c: which lanes of a trace a page draws, in which order, and on which row of its track
 * each span lies. Nesting opens a row, and so does a span that crosses its neighbour: on a row
 * starts and ends ascend, and what hangs over into the next span takes at most a 64th of it. */

enum {
    PAGE_TRACKS = 1000, /* of a page; the least busy threads are left out */
    PAGE_ROWS = 255,    /* rows of a track; what lies deeper is drawn on the last */
    PAGE_OVERHANG = 64
};

struct page_track {
    lane_id lane;
    uint32_t n_spans; /* that can be drawn */
    uint32_t n_rows;
    uint32_t n_launches;
    bool main; /* the thread that launches most */
};

struct page_tracks {
    struct page_track *list; /* devices, then threads by process, then the rest; those that launch,
                                then the busiest, first */
    uint32_t n;
    uint32_t n_left_out; /* tracks */
    uint8_t *row_of;     /* by row of the trace: the row of its track it is drawn on */
    uint32_t n_spans;
    uint32_t n_processes; /* with threads; 2 when there are more */
};

/* Whether the row is drawn as a span. What has no time, counters and the allocator's instants are
 * not. */
bool page_tracks_draws(const struct trace *t, row_t r);

/* Memory from `mem`. */
int page_tracks_run(const struct trace *t, struct arena *mem, struct page_tracks *ret,
                    struct err *e) MUST_USE;

/* "GPU 0", "CPU", "process 12 (python3)": what a viewer puts under one heading. */
void page_track_group(const struct trace *t, const struct page_tracks *k, const struct lane *l,
                      struct buf *out);
void page_track_label(const struct trace *t, const struct lane *l, struct buf *out);
const char *page_track_kind(enum lane_kind k);

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
