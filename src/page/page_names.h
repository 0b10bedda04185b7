/* page_names.h: the strings a page needs, each once, numbered in the order of first use, with a
 * shorter form of those that are hard to read in a narrow box. */
#ifndef STRATA_PAGE_PAGE_NAMES_H
#define STRATA_PAGE_PAGE_NAMES_H

#include "page/page_cols.h"
#include "trace/trace.h"

enum {
    PAGE_NAME_BYTES = 4000,     /* longer ones are cut */
    PAGE_TEXT_BYTES = 16 << 20, /* of all strings; beyond, they are cut to PAGE_CUT_BYTES */
    PAGE_CUT_BYTES = 40
};

struct page_names {
    const struct trace *t;
    uint32_t *of;   /* by str_id: number + 1, or 0 */
    str_id *list;   /* by number */
    uint8_t *kinds; /* by number: enum row_kind of the first row that asked */
    uint32_t n;
    size_t cap, cap_kinds;
    bool failed; /* memory ran out: page_names_put says so */
};

int page_names_init(struct page_names *n, const struct trace *t, struct err *e) MUST_USE;
void page_names_done(struct page_names *n);

/* The number of the string, and of a row's name. */
uint32_t page_names_of(struct page_names *n, str_id id);
uint32_t page_names_row(struct page_names *n, row_t r);

/* Writes the strings into the block. Nothing can be requested afterwards. */
int page_names_put(struct page_names *n, struct page_block *b, struct err *e) MUST_USE;

#endif
