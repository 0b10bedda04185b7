/* page_head.h: the head of a page: one JSON document, described in docs/format/page.md. */
#ifndef STRATA_PAGE_PAGE_HEAD_H
#define STRATA_PAGE_PAGE_HEAD_H

#include "base/jout.h"
#include "page/page_set.h"

/* Where the columns of the set lie among the packed ones of all sets. */
struct page_place {
    uint64_t offset, packed_bytes;
};

/* One trace as an object. */
int page_head_set(const struct page_set *s, const struct page_place *place, struct jout *j,
                  struct err *e) MUST_USE;

#endif
