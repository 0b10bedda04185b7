/* view_info.h: what is in a trace, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_INFO_H
#define STRATA_REPORT_VIEW_INFO_H

#include "analyze/quality/census.h"
#include "report/screen.h"

/* `file_bytes` is the size on disk, -1 when it is not a file. */
void view_info_text(const struct screen *s, const struct trace *t, const struct census *c,
                    int64_t file_bytes);
void view_info_json(struct buf *out, const struct trace *t, const struct census *c,
                    int64_t file_bytes);

#endif
