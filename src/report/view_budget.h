/* view_budget.h: which limits a trace breaks. */
#ifndef STRATA_REPORT_VIEW_BUDGET_H
#define STRATA_REPORT_VIEW_BUDGET_H

#include "analyze/compare/budget.h"
#include "report/screen.h"

void view_budget_text(const struct screen *s, const struct budget *b, const struct context *cx);
void view_budget_json(struct buf *out, const struct budget *b, const struct context *cx);

#endif
