/* view_syncs.h: where the CPU waits, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_SYNCS_H
#define STRATA_REPORT_VIEW_SYNCS_H

#include "analyze/gaps/sync_story.h"
#include "analyze/simulate/undistort.h"
#include "report/screen.h"

struct view_syncs {
    const struct trace *t;
    const struct context *cx;
    const struct syncs *syncs;
    struct source_places *where;
    const struct sync_story *story; /* of one site, or NULL: all of them */
    const struct forecast *alone;   /* without that site, or NULL */
    const struct forecast *all;     /* without any, or NULL */
};

/* All sites, or the story of one. */
void view_syncs_text(const struct screen *s, const struct view_syncs *v);
void view_syncs_json(struct buf *out, const struct view_syncs *v);

#endif
