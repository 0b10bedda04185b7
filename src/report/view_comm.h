/* view_comm.h: communication between devices, as part of a report. */
#ifndef STRATA_REPORT_VIEW_COMM_H
#define STRATA_REPORT_VIEW_COMM_H

#include "analyze/comm/messages.h"
#include "base/jout.h"
#include "report/screen.h"

/* How much there is, how much of it is exposed, and which collectives; nothing where the trace
 * has no communication. */
void view_comm_text(const struct screen *s, const struct context *cx);

/* The member `communication`, null where there is none. */
void view_comm_json(struct jout *j, const struct context *cx);

#endif
