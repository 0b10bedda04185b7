/* view_report.h: the diagnosis on one screen, as JSON, and as markdown small enough to paste. */
#ifndef STRATA_REPORT_VIEW_REPORT_H
#define STRATA_REPORT_VIEW_REPORT_H

#include "analyze/rules/checklist.h"
#include "analyze/rules/ladder.h"
#include "analyze/rules/no_gain.h"
#include "analyze/rules/rule.h"
#include "report/screen.h"

/* Computes what the views of a report read; before any of them. */
int view_report_need(struct context *cx, struct err *e) MUST_USE;

void view_report_text(const struct screen *s, const struct context *cx);
void view_report_json(struct buf *out, const struct context *cx);

/* Under 8 KB whatever the trace holds. */
void view_report_md(struct buf *out, const struct context *cx, const char *path);

/* The checklist alone. */
void view_checklist_text(const struct screen *s, const struct context *cx);
void view_checklist_json(struct buf *out, const struct context *cx);

/* The first line of every report: file, versions, device, steps, events. */
void view_report_title(struct buf *out, const struct context *cx, const char *path);

/* One sentence: wall clock, what bounds it, what follows from that. */
void view_report_verdict(struct buf *out, const struct context *cx);

#endif
