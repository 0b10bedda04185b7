/* view_snapshot.h: a memory snapshot for people and for programs: who holds the memory, when it ran
 * out, what lies unused, what grows. */
#ifndef STRATA_REPORT_VIEW_SNAPSHOT_H
#define STRATA_REPORT_VIEW_SNAPSHOT_H

#include "analyze/memory/held.h"
#include "report/screen.h"

void view_snapshot_text(const struct screen *s, const struct held *h);
void view_snapshot_json(struct buf *out, const struct held *h, uint32_t most);

/* What the file is, on a few lines. */
void view_snapshot_info_text(const struct screen *s, const struct held *h);
void view_snapshot_info_json(struct buf *out, const struct held *h);

#endif
