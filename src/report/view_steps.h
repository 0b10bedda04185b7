/* view_steps.h: the steps of the loop, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_STEPS_H
#define STRATA_REPORT_VIEW_STEPS_H

#include "analyze/quality/integrity.h"
#include "report/screen.h"

/* Need steps_pass and integrity_pass. */
void view_steps_text(const struct screen *s, const struct context *cx);
void view_steps_json(struct buf *out, const struct context *cx, uint32_t most);

#endif
