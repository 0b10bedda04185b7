/* views_offload.h: a plan for streamed weights. */
#ifndef STRATA_REPORT_OFFLOAD_VIEWS_OFFLOAD_H
#define STRATA_REPORT_OFFLOAD_VIEWS_OFFLOAD_H

#include "base/buf.h"
#include "offload/calibrate.h"
#include "offload/planner.h"
#include "report/lists/views_file.h"

/* view_offload.c: an offload plan, for people and for programs. */

/* `quality` is the verdict on the trace; NULL without one. */
void view_offload_text(const struct screen *s, const struct plan *p,
                       const struct integrity *quality);
void view_offload_json(struct jout *j, const struct plan *p, const struct integrity *quality);

/* The value of "offload" in a page that shows the trace: time by resident bytes as series of points
 * with their range, and the other ways to run it as marks. */
struct jout;
void view_offload_page(struct jout *j, const char *key, const struct plan *p);

void view_calibration_text(const struct screen *s, const struct calibration *c);
void view_calibration_json(struct buf *out, const struct calibration *c);

/* chart_offload.c: total time by resident bytes, as a self-contained SVG: opened by itself, or put
 * into a page. */

void chart_offload_svg(struct buf *out, const struct plan *p);

#endif
