/* view_excerpt.h: which part of a recording is shown, stated by every view of a recording. */
#ifndef STRATA_REPORT_DIAGNOSIS_VIEW_EXCERPT_H
#define STRATA_REPORT_DIAGNOSIS_VIEW_EXCERPT_H

#include "base/jout.h"
#include "trace/trace.h"

/* Whether the trace is a part of a longer one. */
bool view_excerpt_is(const struct trace *t);

/* "shown: 7 calls of pipeline_call, 3.64 s of the 31.4 s recorded"; nothing where all is shown. */
void view_excerpt_shown(struct buf *out, const struct trace *t);

/* One line of it, for a screen with little room: what is shown, or what is left out. */
void view_excerpt_brief(struct buf *out, const struct trace *t);

/* Two lines: what is shown, and what is left out. Nothing where all is shown. */
void view_excerpt_text(struct buf *out, const struct trace *t);

#endif
