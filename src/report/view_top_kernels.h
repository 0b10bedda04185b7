/* view_top_kernels.h: what fills the GPU's time, as part of a report. */
#ifndef STRATA_REPORT_VIEW_TOP_KERNELS_H
#define STRATA_REPORT_VIEW_TOP_KERNELS_H

#include "analyze/context.h"
#include "base/jout.h"
#include "report/screen.h"

/* The table and, where the kernels run at their roof, what is left to do; only where the GPU is
 * what the run waits for. */
void view_top_kernels_text(const struct screen *s, const struct context *cx);
void view_top_kernels_md(struct buf *out, const struct context *cx);

/* The members `roofline` and `kernels`, in any case. */
void view_top_kernels_json(struct jout *j, const struct context *cx);

#endif
