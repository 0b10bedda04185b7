/* page_tracks.h: which lanes of a trace a page draws, in which order, and on which row of its track
 * each span lies. Nesting opens a row, and so does a span that crosses its neighbour: on a row
 * starts and ends ascend, and what hangs over into the next span takes at most a 64th of it. */
#ifndef STRATA_PAGE_PAGE_TRACKS_H
#define STRATA_PAGE_PAGE_TRACKS_H

#include "trace/trace.h"

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

#endif
