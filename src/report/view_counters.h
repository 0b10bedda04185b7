/* view_counters.h: how busy the parts of a GPU were while a program ran. */
#ifndef STRATA_REPORT_VIEW_COUNTERS_H
#define STRATA_REPORT_VIEW_COUNTERS_H

#include "dive/pm_sampler.h"
#include "report/screen.h"

void view_counters_text(const struct screen *s, const struct pm_result *r);
void view_counters_json(struct buf *out, const struct pm_result *r);

#endif
