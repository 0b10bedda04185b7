/* view_run.h: the stages of a run from its timing files: one process, or ranks side by side. */
#ifndef STRATA_REPORT_VIEW_RUN_H
#define STRATA_REPORT_VIEW_RUN_H

#include "analyze/compare/ranks.h"
#include "report/view_ranks.h"

/* `traced`: what the timelines of the ranks say, where they were recorded; else NULL. */
void view_run_text(const struct screen *s, const struct ranks *r, const struct view_ranks *traced);
void view_run_json(struct buf *out, const struct ranks *r);

#endif
