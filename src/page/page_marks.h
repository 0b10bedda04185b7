/* page_marks.h: what the reader of a page is led to: stories of findings, sync sites, gaps. */
#ifndef STRATA_PAGE_PAGE_MARKS_H
#define STRATA_PAGE_PAGE_MARKS_H

#include "base/jout.h"
#include "page/page_set.h"

/* "stories", "sites" and "gaps" into the open object. */
void page_marks_put(const struct page_set *s, struct jout *j);

#endif
