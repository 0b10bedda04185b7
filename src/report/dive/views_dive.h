/* views_dive.h: single kernels and the counters of a GPU. */
#ifndef STRATA_REPORT_DIVE_VIEWS_DIVE_H
#define STRATA_REPORT_DIVE_VIEWS_DIVE_H

#include "base/jout.h"
#include "dive/dive.h"
#include "dive/pm_sampler.h"
#include "report/screen.h"

/* view_dive.c: what limits each kernel: a table, then each kernel with its evidence. */

void view_dive_text(const struct screen *s, const struct dive *d);
/* `cx` is that of the trace, or NULL. */
void view_dive_json(struct jout *j, const struct dive *d, const struct context *cx);

/* view_counters.c: how busy the parts of a GPU were while a program ran. */

void view_counters_text(const struct screen *s, const struct pm_result *r);
void view_counters_json(struct buf *out, const struct pm_result *r);

#endif
