/* view_flame.h: time by stack for people, as a tree of what matters, and as the document that the
 * page draws. */
#ifndef STRATA_REPORT_VIEW_FLAME_H
#define STRATA_REPORT_VIEW_FLAME_H

#include "analyze/flame/flame.h"
#include "report/screen.h"

void view_flame_text(const struct screen *s, const struct flame *f, struct arena *mem);

/* Nodes with less than `least_ns` are left out; their time stays in the node above. */
int view_flame_json(struct buf *out, const struct flame *f, int64_t least_ns, struct arena *mem,
                    struct err *e) MUST_USE;

#endif
