/* view_part.h: which part of a recording is shown, stated by every view of a recording. */
#ifndef STRATA_REPORT_VIEW_PART_H
#define STRATA_REPORT_VIEW_PART_H

#include "base/jout.h"
#include "trace/trace.h"

/* Whether the trace is a part of a longer one. */
bool view_part_is(const struct trace *t);

/* "shown: 7 calls of pipeline_call, 3.64 s of the 31.4 s recorded"; nothing where all is shown. */
void view_part_shown(struct buf *out, const struct trace *t);

/* Two lines: what is shown, and what is left out. Nothing where all is shown. */
void view_part_text(struct buf *out, const struct trace *t);

/* The same as an object `key`, null where all is shown. */
void view_part_json(struct jout *j, const char *key, const struct trace *t);

#endif
