/* view_syncs.h: where the CPU waits, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_SYNCS_H
#define STRATA_REPORT_VIEW_SYNCS_H

#include "analyze/passes/syncs.h"

struct view_syncs {
    const struct trace *t;
    const struct basics *basics;
    const struct syncs *syncs;
    struct where *where;
    uint32_t limit; /* sites shown; 0 = all */
    bool color;
    int width;
};

void view_syncs_text(const struct view_syncs *v, struct buf *out);
void view_syncs_json(const struct view_syncs *v, struct buf *out);

#endif
