/* page_docs.h: the documents of the commands, as --json prints them, cut to what a page needs. */
#ifndef STRATA_PAGE_PAGE_DOCS_H
#define STRATA_PAGE_PAGE_DOCS_H

#include "base/jout.h"
#include "page/page_set.h"

/* Puts report, stages, steps ... into the open object. */
int page_docs_put(const struct page_set *s, struct jout *j, struct err *e) MUST_USE;

/* "cut": which of them hold fewer rows than there are. */
void page_docs_cut(const struct page_set *s, struct jout *j);

/* Steps, sites and gaps that the documents hold. */
uint32_t page_docs_steps(const struct page_set *s);
uint32_t page_docs_sites(const struct page_set *s);
uint32_t page_docs_gaps(const struct page_set *s);

#endif
