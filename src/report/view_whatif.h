/* view_whatif.h: a forecast, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_WHATIF_H
#define STRATA_REPORT_VIEW_WHATIF_H

#include "analyze/quality/integrity.h"
#include "analyze/simulate/undistort.h"
#include "base/buf.h"

struct view_whatif {
    const struct trace *t;
    const struct undistort *u;
    const struct forecast *f; /* NULL when nothing is changed: replay only */
    const struct sim_edit *edits;
    const char *const *words; /* one description per edit, as given */
    uint32_t n_edits;
    bool undistorted;      /* the user asked for the figures without the profiler */
    double clock_drop_pct; /* of the model: above 0 the device is at its power limit */
    const struct integrity *integrity;
};

void view_whatif_text(struct buf *out, const struct view_whatif *v, bool color);
void view_whatif_json(struct buf *out, const struct view_whatif *v);

#endif
