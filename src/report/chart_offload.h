/* chart_offload.h: time against resident bytes, as an SVG picture that needs nothing else: opened
 * by itself, or put into a page. */
#ifndef STRATA_REPORT_CHART_OFFLOAD_H
#define STRATA_REPORT_CHART_OFFLOAD_H

#include "base/buf.h"
#include "offload/planner.h"

void chart_offload_svg(struct buf *out, const struct plan *p);

#endif
