/* view_report.h: the diagnosis on one screen, as JSON, and as markdown small enough to paste. */
#ifndef STRATA_REPORT_DIAGNOSIS_VIEW_REPORT_H
#define STRATA_REPORT_DIAGNOSIS_VIEW_REPORT_H

#include "analyze/answer/answer.h"
#include "analyze/answer/checklist.h"
#include "analyze/answer/ladder.h"
#include "analyze/answer/no_gain.h"
#include "analyze/findings/rule.h"
#include "base/jout.h"
#include "report/screen.h"

/* Computes what the views of a report read; before any of them. */
int view_report_need(struct context *cx, struct err *e) MUST_USE;

void view_report_text(const struct screen *s, const struct context *cx);      /* one screen */
void view_report_full_text(const struct screen *s, const struct context *cx); /* all of it */
void view_report_json(struct jout *j, const char *key, const struct context *cx);

/* Under 8 KB whatever the trace holds. */
void view_report_md(struct buf *out, const struct context *cx, const char *path);

/* The checklist alone. */
void view_checklist_text(const struct screen *s, const struct context *cx);
void view_checklist_json(struct jout *j, const char *key, const struct context *cx);

/* The first line of every report: file, device, versions, steps, wall time. */
void view_report_title(struct buf *out, const struct context *cx, const char *path);

/* Which processes use the device, where there are several. */
void view_report_put_sharing(const struct screen *s, const struct context *cx);

/* What kind of recording it is, where that matters. */
void view_report_put_recorded(const struct screen *s, const struct context *cx);

/* Both clocks of a run, where the trace's differs from the program's. */
void view_report_put_clocks(struct buf *out, const struct context *cx);

/* The table of the stages, at most `most` rows; nothing without stages. */
void view_report_put_stages(const struct screen *s, const struct context *cx, uint32_t most);

/* Columns of the place of a finding. */
#define VIEW_REPORT_PLACE 60

/* "advice.py:37 in f", or what the finding is about, in at most `width` columns, written to `out`.
 */
const char *view_report_place(const struct finding *f, int width, struct buf *out);

/* Whether a finding has a line on the screen: it gains enough, or no gain is known. */
bool view_report_lists(const struct context *cx, const struct finding *f);

/* The findings in at most `lines` lines; returns how many of those to list have none. */
uint32_t view_report_put_findings(const struct screen *s, const struct context *cx, int lines);

/* What the list of findings is, and what a gain in it means: "findings by gain: ..." */
void view_report_findings_head(struct buf *out, const struct context *cx);

int view_report_lines(const struct buf *b); /* newlines in it */

/* The headline and the detail of the answer. */
void view_report_verdict(struct buf *out, const struct context *cx);

#endif
