/* views_run.h: the stages of a run from its timing files. */
#ifndef STRATA_REPORT_RUN_VIEWS_RUN_H
#define STRATA_REPORT_RUN_VIEWS_RUN_H

#include "analyze/compare/timings.h"
#include "base/jout.h"
#include "format/timing.h"
#include "report/ranks/view_ranks.h"

/* view_run.c: the stages of a run from its timing files: one process, or ranks side by side. */

/* `traced`: what the timelines of the ranks say, where they were recorded; else NULL. */
void view_run_text(const struct screen *s, const struct ranks *r, const struct view_ranks *traced,
                   bool recorded);
void view_run_json(struct jout *j, const struct ranks *r);

/* view_metrics.c: the stages of a run as Prometheus reads them (text format 0.0.4), for the
 * textfile collector of its node exporter or any other reader. */

/* One process per element of `list`. */
void view_metrics(struct buf *out, const struct timing *list, uint32_t n);

#endif
