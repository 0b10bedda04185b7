/* view_ranks.h: many ranks side by side: who is late, why, and what it costs. */
#ifndef STRATA_REPORT_RANKS_VIEW_RANKS_H
#define STRATA_REPORT_RANKS_VIEW_RANKS_H

#include "analyze/ranks/rank_chart.h"
#include "analyze/ranks/rank_set.h"
#include "base/jout.h"
#include "report/screen.h"

/* What the replay of one rank says; 0 where nothing was replayed. */
struct view_ranks {
    const struct rank_set *set;
    int64_t step_without_ns; /* mean step if no rank came late */
};

/* Only who is late, why, and what it costs. */
void view_ranks_verdict(const struct screen *s, const struct view_ranks *v);

void view_ranks_text(const struct screen *s, const struct view_ranks *v);
void view_ranks_json(struct jout *j, const struct view_ranks *v);

/* Parts of that document: "ranks", "stragglers". */
void view_ranks_json_ranks(struct jout *j, const struct rank_set *s);
void view_ranks_json_stragglers(struct jout *j, const struct rank_set *s);

/* The document that the page draws; `c` is NULL where there is nothing to draw. */
void view_ranks_page(struct buf *out, const struct view_ranks *v, const struct rank_chart *c);

/* Under 8 kB, whatever the ranks are called. */
void view_ranks_md(struct buf *out, const struct view_ranks *v, const char *path);

#endif
