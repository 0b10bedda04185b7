/* views_compare.h: traces and runs against each other, against limits and against what could be. */
#ifndef STRATA_REPORT_COMPARE_VIEWS_COMPARE_H
#define STRATA_REPORT_COMPARE_VIEWS_COMPARE_H

#include "analyze/compare/budget.h"
#include "analyze/compare/diff.h"
#include "analyze/compare/long_recording_sum.h"
#include "analyze/compare/timings.h"
#include "analyze/context.h"
#include "analyze/simulate/undistort.h"
#include "base/jout.h"
#include "report/screen.h"

/* view_budget.c: which limits a trace breaks. */

void view_budget_text(const struct screen *s, const struct budget *b, const struct context *cx);
void view_budget_json(struct jout *j, const struct budget *b, const struct context *cx);

/* view_compare.c: two runs side by side, stage by stage. */

void view_compare_text(const struct screen *s, const struct timing_diff *d);
void view_compare_json(struct jout *j, const struct timing_diff *d);

/* view_diff.c: what changed between two traces, for people and for programs. */

struct view_diff {
    const struct diff *d;
    const struct diff_stats *stats; /* of the runs on each side */
    const char *path[2];
};

void view_diff_text(const struct screen *s, const struct view_diff *v);
void view_diff_json(struct jout *j, const struct view_diff *v);
double view_diff_change_pct(double before, double after); /* 0 where there was nothing before */

/* view_whatif.c: a forecast, for people and for programs. */

struct view_whatif {
    const struct context *cx;
    const struct undistort *u;
    const struct forecast *f; /* NULL when nothing is changed: replay only */
    const struct sim_edit *edits;
    const char *const *words; /* one description per edit, as given */
    uint32_t n_edits;
    double clock_drop_pct; /* of the model: above 0 the device is at its power limit */
};

void view_whatif_text(struct buf *out, const struct view_whatif *v, bool color);
void view_whatif_json(struct jout *j, const struct view_whatif *v);

/* view_long_recording.c: a long recording, added up from its parts. */

/* What was added up decides what is shown. */
void view_long_recording_text(const struct screen *s, const struct whole *w);
void view_long_recording_json(struct jout *j, const struct whole *w);

#endif
