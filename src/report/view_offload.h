/* view_offload.h: an offload plan, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_OFFLOAD_H
#define STRATA_REPORT_VIEW_OFFLOAD_H

#include "offload/planner.h"
#include "report/screen.h"

void view_offload_text(const struct screen *s, const struct plan *p);
void view_offload_json(struct buf *out, const struct plan *p);

#endif
