/* view_odd_step.h: why a snapshot was taken, and how that step differs from the usual ones. */
#ifndef STRATA_REPORT_VIEW_ODD_STEP_H
#define STRATA_REPORT_VIEW_ODD_STEP_H

#include "analyze/steps/odd_step.h"
#include "base/jout.h"
#include "report/screen.h"

/* Nothing where the trace is not a snapshot. */
void view_odd_step_text(const struct screen *s, const struct context *cx);

/* Null where it is not a snapshot. */
void view_odd_step_json(struct jout *j, const char *key, const struct context *cx);

#endif
