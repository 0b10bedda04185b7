/* view_lint.h: damage and contradictions of a recording, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_LINT_H
#define STRATA_REPORT_VIEW_LINT_H

#include "analyze/context.h"
#include "analyze/quality/lint_oddities.h"
#include "report/screen.h"

void view_lint_text(const struct screen *s, const struct trace *t, const struct lint_results *c);
void view_lint_json(struct buf *out, const struct context *cx, const struct lint_results *c);

#endif
