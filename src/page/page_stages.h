/* page_stages.h: when each call of a stage ran, on the CPU and on the device, for the bands of a
 * page. */
#ifndef STRATA_PAGE_PAGE_STAGES_H
#define STRATA_PAGE_PAGE_STAGES_H

#include "analyze/rules/rule.h"
#include "page/page_cols.h"

enum { PAGE_STAGE_CALLS = 50000 };

/* The columns of the calls, by start, into the block; at most PAGE_STAGE_CALLS, the first ones.
 * Scratch memory from `mem`. */
int page_stages_run(const struct context *cx, struct page_block *block, struct arena *mem,
                    struct err *e) MUST_USE;

#endif
