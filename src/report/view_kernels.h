/* view_kernels.h: kernels for people and for programs. */
#ifndef STRATA_REPORT_VIEW_KERNELS_H
#define STRATA_REPORT_VIEW_KERNELS_H

#include "analyze/kernels/kernel_stats.h"
#include "report/screen.h"

struct kernels_how {
    enum kernel_by by;
    bool wide;
    const struct roofline
        *roof; /* with it: rates, roofs and headroom instead of order statistics */
};

void view_kernels_text(const struct screen *s, const struct kernel_stats *k,
                       const struct kernels_how *how);

/* At most `limit` rows; communication too, from the passes of `cx`. */
void view_kernels_json(struct buf *out, const struct context *cx, const struct kernel_stats *k,
                       uint32_t limit);

#endif
