/* view_stages.h: the stages of the pipeline, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_STAGES_H
#define STRATA_REPORT_VIEW_STAGES_H

#include "analyze/quality/integrity.h"
#include "analyze/stages/stages.h"
#include "report/screen.h"

struct view_stages {
    const struct trace *t;
    const struct integrity *integrity;
    const struct stages *stages;
};

void view_stages_text(const struct screen *s, const struct view_stages *v);
void view_stages_json(struct buf *out, const struct view_stages *v);

#endif
