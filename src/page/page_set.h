/* page_set.h: everything a page holds of one trace, ready to be written: the documents of the
 * commands, and the timeline as columns, levels, curves and stories. */
#ifndef STRATA_PAGE_PAGE_SET_H
#define STRATA_PAGE_PAGE_SET_H

#include "analyze/kernels/kernel_stats.h"
#include "analyze/ops/op_table.h"
#include "analyze/rules/checklist.h"
#include "offload/scene.h"
#include "page/page_curves.h"
#include "page/page_levels.h"
#include "page/page_spans.h"
#include "page/page_story.h"

/* Rows of the documents that a page holds; the commands print all of them. */
enum { PAGE_DOC_ROWS = 400, PAGE_DOC_STEPS = 5000 };

struct page_set {
    struct context *cx;
    const char *path; /* as the user named it */
    struct arena *mem;

    /* what the analysis leaves to others */
    struct kernel_stats kernels;
    struct op_table table;
    struct scene *scene; /* what streaming its weights costs; NULL when it was not looked at */

    struct page_tracks tracks;
    struct page_stories stories;
    struct page_detail detail;
    struct page_names names;
    struct page_block block;
    struct page_configs configs;
    struct page_levels *levels; /* by track */
    struct page_curves curves;
};

/* `cx`, `path` and `mem` must outlive the set. page_set_done is due also after a failure. */
int page_set_run(struct page_set *s, struct context *cx, const char *path, struct arena *mem,
                 struct err *e) MUST_USE;
void page_set_done(struct page_set *s);

#endif
