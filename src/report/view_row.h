/* view_row.h: one event with what is around it, for programs. */
#ifndef STRATA_REPORT_VIEW_ROW_H
#define STRATA_REPORT_VIEW_ROW_H

#include "analyze/context.h"

/* Needs places_pass. `r` is a row of the trace. Of what it holds the longest are shown. */
int view_row_json(struct buf *out, const struct context *cx, row_t r, struct err *e) MUST_USE;

#endif
