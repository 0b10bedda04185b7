/* views_waits.h: where the host waits and devices are idle, for people and programs. */
#ifndef STRATA_REPORT_LISTS_VIEWS_WAITS_H
#define STRATA_REPORT_LISTS_VIEWS_WAITS_H

#include "analyze/gaps/gaps.h"
#include "analyze/gaps/sync_story.h"
#include "analyze/launches/launches.h"
#include "analyze/quality/integrity.h"
#include "analyze/simulate/undistort.h"
#include "base/jout.h"
#include "report/screen.h"

/* view_gaps.c: when and why devices were idle, for people and for programs. */

struct view_gaps {
    const struct trace *t;
    const struct context *cx;
    const struct syncs *syncs;
    const struct gaps *gaps;
};

void view_gaps_text(const struct screen *s, const struct view_gaps *v);
void view_gaps_json(struct jout *j, const char *key, const struct view_gaps *v);

/* view_launches.c: launch latency, queue depth and whether the CPU runs ahead, for people and for
 * programs. */

void view_launches_text(const struct screen *s, const struct context *cx);
void view_launches_json(struct jout *j, const char *key, const struct context *cx);

/* view_syncs.c: where the CPU waits, for people and for programs. */

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
void view_syncs_json(struct jout *j, const char *key, const struct view_syncs *v);

#endif
