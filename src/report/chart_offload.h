/* chart_offload.h: total time by resident bytes, as a self-contained SVG: opened by itself, or put
 * into a page. */
#ifndef STRATA_REPORT_CHART_OFFLOAD_H
#define STRATA_REPORT_CHART_OFFLOAD_H

#include "base/buf.h"
#include "offload/planner.h"

void chart_offload_svg(struct buf *out, const struct plan *p);

#endif
