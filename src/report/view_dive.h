/* view_dive.h: what limits each kernel: a table, then each kernel with its evidence. */
#ifndef STRATA_REPORT_VIEW_DIVE_H
#define STRATA_REPORT_VIEW_DIVE_H

#include "dive/dive.h"
#include "report/screen.h"

void view_dive_text(const struct screen *s, const struct dive *d);
/* `cx` is that of the trace, or NULL. */
void view_dive_json(struct buf *out, const struct dive *d, const struct context *cx);

#endif
