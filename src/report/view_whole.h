/* view_whole.h: a long recording, added up from its parts. */
#ifndef STRATA_REPORT_VIEW_WHOLE_H
#define STRATA_REPORT_VIEW_WHOLE_H

#include "analyze/compare/whole.h"
#include "report/screen.h"

/* What was added up decides what is shown. */
void view_whole_text(const struct screen *s, const struct whole *w);
void view_whole_json(struct buf *out, const struct whole *w);

#endif
