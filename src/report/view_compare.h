/* view_compare.h: two runs side by side, stage by stage. */
#ifndef STRATA_REPORT_VIEW_COMPARE_H
#define STRATA_REPORT_VIEW_COMPARE_H

#include "analyze/compare/timing_diff.h"
#include "report/screen.h"

void view_compare_text(const struct screen *s, const struct timing_diff *d);
void view_compare_json(struct buf *out, const struct timing_diff *d);

#endif
