/* view_quality.h: the verdict on the trace itself, as other views begin with it. */
#ifndef STRATA_REPORT_VIEW_QUALITY_H
#define STRATA_REPORT_VIEW_QUALITY_H

#include "analyze/quality/integrity.h"
#include "base/jout.h"
#include "report/screen.h"

/* "trace quality: good (recorded with stacks, shapes: CPU side about 9 % slower)" */
void view_quality_line(const struct screen *s, const struct integrity *i);

/* The line, then every doubt of at least `least`: what, what it means, what to record instead. */
void view_quality_text(const struct screen *s, const struct integrity *i, enum quality least);

/* The same for a view about something else: prints nothing for a trace of good quality. */
void view_quality_warn(const struct screen *s, const struct integrity *i);

/* An object with all doubts and the coverage. */
void view_quality_json(struct jout *j, const char *key, const struct trace *t,
                       const struct integrity *i);

#endif
