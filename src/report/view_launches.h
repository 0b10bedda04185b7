/* view_launches.h: launch latency, queue depth and whether the CPU runs ahead, for people and for
 * programs. */
#ifndef STRATA_REPORT_VIEW_LAUNCHES_H
#define STRATA_REPORT_VIEW_LAUNCHES_H

#include "analyze/launches/launches.h"
#include "analyze/quality/integrity.h"
#include "report/screen.h"

struct view_launches {
    const struct trace *t;
    const struct integrity *integrity;
    const struct stages *stages;
    const struct launches *launches;
};

void view_launches_text(const struct screen *s, const struct view_launches *v);
void view_launches_json(struct buf *out, const struct view_launches *v);

#endif
