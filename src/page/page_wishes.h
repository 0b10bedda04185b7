/* page_wishes.h: which times and rows a page should hold in full, for page_detail_run: where the
 * stories of findings lead, one steady step, then the sync sites. */
#ifndef STRATA_PAGE_PAGE_WISHES_H
#define STRATA_PAGE_PAGE_WISHES_H

#include "page/page_detail.h"
#include "page/page_story.h"

/* Fills wishes and rows of `ret`. Memory from `mem`. */
int page_wishes_run(const struct page_stories *s, const struct context *cx, struct arena *mem,
                    struct page_detail_in *ret, struct err *e) MUST_USE;

#endif
