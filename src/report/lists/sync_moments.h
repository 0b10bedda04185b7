/* sync_moments.h: the story of a sync site as moments: what happens, when, and which rows show it.
 * The text view prints them, the page shows them on its timeline. */
#ifndef STRATA_REPORT_LISTS_SYNC_MOMENTS_H
#define STRATA_REPORT_LISTS_SYNC_MOMENTS_H

#include "report/lists/views_waits.h"

enum moment_mark {
    MARK_NONE,
    MARK_BLOCKED, /* the CPU waits, the device works */
    MARK_EXPOSED, /* the device is idle because of it */
};

struct moment {
    int64_t ts_ns;     /* ID_NONE: a remark without a time */
    struct span about; /* the time it is about; empty when it is about that moment only */
    row_t rows[2];     /* that show it, or ROW_NONE */
    enum moment_mark mark;
    const char *text;
};

enum { MOMENTS_MOST = 8 };

struct moments {
    struct moment list[MOMENTS_MOST];
    uint32_t n;
};

/* The name of device work for people: kernels in their short form, at most `width` columns. */
const char *sync_moments_work(const struct trace *t, row_t work, int width, char *out, size_t cap);

/* Of v->story; texts in `mem`. */
int sync_moments_run(const struct view_syncs *v, struct arena *mem, struct moments *ret) MUST_USE;

#endif
