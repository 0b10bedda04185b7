/* view_gaps.h: when and why devices were idle, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_GAPS_H
#define STRATA_REPORT_VIEW_GAPS_H

#include "analyze/gaps/gaps.h"
#include "report/screen.h"

struct view_gaps {
    const struct trace *t;
    const struct context *cx;
    const struct syncs *syncs;
    const struct gaps *gaps;
};

void view_gaps_text(const struct screen *s, const struct view_gaps *v);
void view_gaps_json(struct buf *out, const struct view_gaps *v);

#endif
