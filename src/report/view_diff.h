/* view_diff.h: what changed between two traces, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_DIFF_H
#define STRATA_REPORT_VIEW_DIFF_H

#include "analyze/compare/diff.h"
#include "report/screen.h"

struct view_diff {
    const struct diff *d;
    const struct diff_stats *stats; /* of the runs on each side */
    const char *path[2];
};

void view_diff_text(const struct screen *s, const struct view_diff *v);
void view_diff_json(struct buf *out, const struct view_diff *v);

#endif
