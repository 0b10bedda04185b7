/* view_offload.h: an offload plan, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_OFFLOAD_H
#define STRATA_REPORT_VIEW_OFFLOAD_H

#include "offload/calibrate.h"
#include "offload/planner.h"
#include "report/view_quality.h"

/* `quality` is the verdict on the trace; NULL without one. */
void view_offload_text(const struct screen *s, const struct plan *p,
                       const struct integrity *quality);
void view_offload_json(struct buf *out, const struct plan *p, const struct integrity *quality);

/* The value of "offload" in a page that shows the trace: time by resident bytes as series of points
 * with their range, and the other ways to run it as marks. */
struct jout;
void view_offload_page(struct jout *j, const char *key, const struct plan *p);

void view_calibration_text(const struct screen *s, const struct calibration *c);
void view_calibration_json(struct buf *out, const struct calibration *c);

#endif
