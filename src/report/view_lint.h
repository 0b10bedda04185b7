/* view_lint.h: damage and contradictions of a recording, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_LINT_H
#define STRATA_REPORT_VIEW_LINT_H

#include "analyze/passes/checks.h"
#include "report/screen.h"

void view_lint_text(const struct screen *s, const struct trace *t, const struct checked *c);
void view_lint_json(struct buf *out, const struct trace *t, const struct checked *c);

#endif
