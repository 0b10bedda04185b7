/* page_story.h: findings and sync sites as steps, each of which is a view of the timeline with
 * the rows that show it: first all of it from afar, then what happens, the gap it leaves and the
 * launch that ends it. */
#ifndef STRATA_PAGE_PAGE_STORY_H
#define STRATA_PAGE_PAGE_STORY_H

#include "analyze/findings/rule.h"
#include "trace/trace.h"

enum {
    PAGE_STEP_ROWS = 4,
    PAGE_STEP_GAPS = 40,
    PAGE_STORY_STEPS = 24,
    PAGE_STORY_FRAMES = 12,
    PAGE_SITES_TOLD = 12
};

struct page_step {
    const char *text;
    const char *mark; /* "blocked", "exposed" or NULL */
    struct span view;
    row_t rows[PAGE_STEP_ROWS];
    uint32_t n_rows;
    row_t from, to;    /* an arrow from the launch to its work; ROW_NONE without one */
    struct span *gaps; /* idle times of the device it is about, the longest first */
    uint32_t n_gaps;
};

struct page_story {
    struct span all;
    struct page_step *steps;
    uint32_t n;
    row_t frames[PAGE_STORY_FRAMES]; /* innermost first */
    uint32_t n_frames;
};

struct page_stories {
    struct page_story *findings; /* as in analysis.findings */
    uint32_t n_findings;
    struct page_story *sites; /* the first of analysis.syncs.sites */
    uint32_t n_sites;
};

/* Memory from `mem`. */
int page_stories_run(const struct context *cx, struct arena *mem, struct page_stories *ret,
                     struct err *e) MUST_USE;

#endif
